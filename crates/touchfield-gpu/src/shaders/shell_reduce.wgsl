// Keeps few contacts of each pair: the deepest, then again and again the one whose wrench is
// farthest from those of all that are kept. A workgroup reduces a pair; sums, minima and maxima are
// taken in a fixed tree, and of equal contacts the first counts.

struct ShellContact {
    point: vec4u,
    normal: vec4u,
}

struct Parameters {
    pairs: u32,
    // At most 16.
    keep: u32,
    spare_1: u32,
    spare_2: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
@group(1) @binding(1) var<storage, read> firsts: array<u32>;
@group(1) @binding(2) var<storage, read> contacts: array<ShellContact>;
// `keep` places for each pair; those that are not used have the identity 0xffffffff.
@group(1) @binding(3) var<storage, read_write> kept: array<ShellContact>;

const NONE: u32 = 0xffffffffu;

var<workgroup> sums: array<vec3f, 64>;
var<workgroup> best: array<f32, 64>;
var<workgroup> best_at: array<u32, 64>;
var<workgroup> forces: array<vec3f, 16>;
var<workgroup> torques: array<vec3f, 16>;

fn point_of(index: u32) -> vec3f {
    return bitcast<vec3f>(contacts[index].point.xyz);
}

fn normal_of(index: u32) -> vec3f {
    return bitcast<vec3f>(contacts[index].normal.xyz);
}

// The largest value of all threads ends up in place 0, with the least index among equals.
fn find_best(local: u32, value: f32, at: u32) {
    workgroupBarrier();
    best[local] = value;
    best_at[local] = at;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half /= 2u) {
        if local < half {
            let other = best[local + half];
            let other_at = best_at[local + half];
            if other > best[local] || (other == best[local] && other_at < best_at[local]) {
                best[local] = other;
                best_at[local] = other_at;
            }
        }
        workgroupBarrier();
    }
}

@compute @workgroup_size(64)
fn reduce_contacts(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let pair = group.y * groups.x + group.x;
    if pair >= parameters.pairs {
        return;
    }
    let first = firsts[pair];
    let end = firsts[pair + 1u];
    // The mean of the points, measured from the first, so that places far from the origin lose
    // nothing.
    var sum = vec3f(0.0);
    let origin = point_of(first);
    for (var i = first + local; i < end; i += 64u) {
        sum += point_of(i) - origin;
    }
    sums[local] = sum;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half /= 2u) {
        if local < half {
            sums[local] += sums[local + half];
        }
        workgroupBarrier();
    }
    let center = origin + sums[0] / f32(max(end - first, 1u));
    // The unit of length: the largest distance from the mean.
    var farthest = 0.0;
    for (var i = first + local; i < end; i += 64u) {
        farthest = max(farthest, distance(point_of(i), center));
    }
    find_best(local, farthest, 0u);
    let size = best[0];
    var per_length = 0.0;
    if size > 0.0 {
        per_length = 1.0 / size;
    }
    for (var round = 0u; round < parameters.keep; round++) {
        var own = -3.4e38;
        var own_at = NONE;
        for (var i = first + local; i < end; i += 64u) {
            var value = -bitcast<f32>(contacts[i].point.w);
            if round > 0u {
                let force = normal_of(i);
                let torque = cross((point_of(i) - center) * per_length, force);
                value = 3.4e38;
                for (var j = 0u; j < round; j++) {
                    let away = force - forces[j];
                    let turned = torque - torques[j];
                    value = min(value, dot(away, away) + dot(turned, turned));
                }
            }
            if value > own {
                own = value;
                own_at = i;
            }
        }
        find_best(local, own, own_at);
        // A wrench that differs from a kept one by rounding only adds nothing.
        let chosen = select(best_at[0], NONE, round > 0u && best[0] <= 1e-10);
        workgroupBarrier();
        if local == 0u {
            let place = pair * parameters.keep + round;
            if chosen == NONE {
                kept[place] = ShellContact(vec4u(0u), vec4u(0u, 0u, 0u, NONE));
                forces[round] = vec3f(0.0);
                torques[round] = vec3f(0.0);
            } else {
                kept[place] = contacts[chosen];
                forces[round] = normal_of(chosen);
                torques[round] = cross((point_of(chosen) - center) * per_length, forces[round]);
            }
        }
        workgroupBarrier();
    }
}
