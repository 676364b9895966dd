// Probes at the start and at the end of each pair's motion. Their rounding holds: half the width of
// the rounding band; the excess of a value over the true distance; what a value may jump by on the
// way from outside the grid, and from inside.
@group(1) @binding(2) var<storage, read> probes: array<Probe>;
// Bits of two times, and the index of the point that touches first.
@group(1) @binding(3) var<storage, read_write> partials: array<vec4u>;

var<workgroup> clear: array<f32, 64>;
var<workgroup> touch: array<f32, 64>;
var<workgroup> touch_at: array<u32, 64>;

// A time after the end of every motion.
const NEVER: f32 = 2.0;

// How far a point may move without reaching the level, given how far above it its value is. Two
// proofs, the better one counts: the true distance is no less than the value but for the errors,
// and the values are no steeper than the steepest cell.
fn free_way(probe: Probe, point: vec3f, above: f32) -> f32 {
    let free = above - probe.rounding.x - probe.rounding.y;
    let header = probe.field * HEADER;
    let steepest = number(header + STEEPEST);
    if steepest == 0.0 {
        return free;
    }
    let low = vector(header + BOUNDS);
    let high = vector(header + BOUNDS + 3u);
    let inside = all(point >= low) && all(point <= high);
    let jump = select(probe.rounding.z, probe.rounding.w, inside);
    return max(free, (above - probe.rounding.x - jump) / max(steepest, 1.0));
}

// The time up to which a point is proven to be above the level, and one at which it is not.
fn first_touch(start: Probe, end: Probe, index: u32) -> vec2f {
    let at = shell_point(start.shell, index);
    let origin = placed(start.field_from_shell, at);
    let way = placed(end.field_from_shell, at) - origin;
    let length_of_way = length(way);
    var time = 0.0;
    var is_proven = true;
    var clear_until = 0.0;
    for (var step = 0u; step < parameters.most_steps; step++) {
        let point = origin + time * way;
        let above = sample_shape(start.field, point).distance - parameters.level;
        if above <= 0.0 {
            return vec2f(clear_until, time);
        }
        let free = free_way(start, point, above);
        let is_free = free >= parameters.tolerance;
        if is_proven && free > 0.0 {
            // A proof reaches as far as its step, also where the next step is too short to go on.
            clear_until = NEVER;
            if free < (1.0 - time) * length_of_way {
                clear_until = time + free / length_of_way;
            }
        }
        if time >= 1.0 {
            break;
        }
        is_proven = is_proven && is_free;
        let next = max(free, parameters.tolerance);
        if next >= (1.0 - time) * length_of_way {
            if is_proven {
                break;
            }
            time = 1.0;
        } else {
            time += next / length_of_way;
        }
    }
    return vec2f(clear_until, NEVER);
}

@compute @workgroup_size(64)
fn sweep_blocks(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let block = group.y * groups.x + group.x;
    if block >= parameters.blocks {
        return;
    }
    let own = range_of(block);
    let index = 64u * (block - own.z) + local;
    var found = vec2f(NEVER);
    if index < probes[2u * own.x].points {
        found = first_touch(probes[2u * own.x], probes[2u * own.x + 1u], index);
    }
    clear[local] = found.x;
    touch[local] = found.y;
    touch_at[local] = index;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half /= 2u) {
        if local < half {
            clear[local] = min(clear[local], clear[local + half]);
            let later = touch[local + half];
            let at = touch_at[local + half];
            if later < touch[local] || (later == touch[local] && at < touch_at[local]) {
                touch[local] = later;
                touch_at[local] = at;
            }
        }
        workgroupBarrier();
    }
    if local == 0u {
        partials[block] =
            vec4u(bitcast<u32>(clear[0]), bitcast<u32>(touch[0]), touch_at[0], 0u);
    }
}
