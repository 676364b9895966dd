// Particles projected onto the surface of the intersection of both bodies: Alg. 2 and 3 of
// [Krayer2020], and the library's own steps. One thread per particle. The same kernel counts and
// fills, so that no particle arrives in one pass and not in the other.

struct Parameters {
    // First particle of this launch, and how many there are.
    begin: u32,
    count: u32,
    pairs: u32,
    // Contacts that there is room for.
    capacity: u32,
    starts: u32,
    max_steps: u32,
    flags: u32,
    relaxation: f32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
@group(1) @binding(1) var<storage, read> tasks: array<Task>;
// Counting: one flag per particle; then per pair the particles that arrived, those in the rounding
// band, the steps of all, and those that were listed. Filling: the prefix sum of the flags.
@group(1) @binding(2) var<storage, read_write> marks: array<atomic<u32>>;
// Two per contact: point and separation, normal and particle; behind them one per contact: the
// place in the search frame, and the pair.
@group(1) @binding(3) var<storage, read_write> contacts: array<vec4f>;
// Listed starts: pair, and the cell or the bits of the place.
@group(1) @binding(4) var<storage, read> listed: array<vec4u>;

const UNIFORM: u32 = 0u;
const QUASI_RANDOM: u32 = 1u;
const CELLS: u32 = 2u;
const PLACES: u32 = 3u;

const FILL: u32 = 1u;
const LITERAL: u32 = 2u;
const BOTH_AT_ONCE: u32 = 4u;
const STEPS: u32 = 8u;

// Slopes of a grid below this are those of a kink, not of a distance.
const FLATTEST_SLOPE: f32 = 0.7;

fn has(flag: u32) -> bool {
    return (parameters.flags & flag) != 0u;
}

struct Both {
    first: Sample,
    second: Sample,
}

// One call of the field in a loop, because drivers copy a function to every place that calls it,
// and this one is long.
fn sample_both(task: Task, point: vec3f) -> Both {
    var found: array<Sample, 2>;
    for (var body = 0u; body < 2u; body++) {
        found[body] = sample_of(task, body, point);
    }
    let second = found[1];
    return Both(found[0], Sample(second.distance, transpose(turn_of(task)) * second.gradient));
}

// A sample of the first or second body, with the gradient in its own frame.
fn sample_of(task: Task, body: u32, point: vec3f) -> Sample {
    let shape = select(task.shapes.x, task.shapes.y, body == 1u);
    return sample_shape(shape, in_frame_of(task, body, point));
}

fn in_frame_of(task: Task, body: u32, point: vec3f) -> vec3f {
    if body == 0u {
        return point;
    }
    return to_second(task, point);
}

// The first pair whose accumulated count of particles is greater than the index (an upper bound).
fn pair_of(index: u32) -> u32 {
    var low = 0u;
    var high = parameters.pairs;
    while low < high {
        let middle = (low + high) / 2u;
        if tasks[middle].counts.w > index {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return min(low, parameters.pairs - 1u);
}

// The first listed start of a pair.
fn first_listed(pair: u32) -> u32 {
    var low = 0u;
    var high = parameters.count;
    while low < high {
        let middle = (low + high) / 2u;
        if listed[middle].x >= pair {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return low;
}

// The upper word of a product.
fn upper_product(a: u32, b: u32) -> u32 {
    let a_low = a & 0xffffu;
    let a_high = a >> 16u;
    let b_low = b & 0xffffu;
    let b_high = b >> 16u;
    let low = a_low * b_low;
    let middle = a_high * b_low + (low >> 16u);
    let carried = a_low * b_high + (middle & 0xffffu);
    return a_high * b_high + (middle >> 16u) + (carried >> 16u);
}

// The fraction ½ + n·step of the additive recurrence, in 64-bit fixed point; 24 bits of it.
fn recurrence(n: u32, step_low: u32, step_high: u32) -> f32 {
    let upper = upper_product(n, step_low) + n * step_high + 0x80000000u;
    return f32(upper >> 8u) / 16777216.0;
}

fn start_of(task: Task, relative: u32, cell: vec3u) -> vec3f {
    if parameters.starts == QUASI_RANDOM {
        // 2⁶⁴ / g, / g², / g³ with g = 1.22074408460575947536 [Roberts2018].
        let share = vec3f(
            recurrence(relative, 0xd192ed03u, 0xd1b54a32u),
            recurrence(relative, 0xfb8fac02u, 0xabc98388u),
            recurrence(relative, 0x2f3d8dd7u, 0x8cb92ba7u),
        );
        return task.low.xyz + share * task.extents.xyz;
    }
    if parameters.starts == CELLS {
        return task.low.xyz + (2.0 * vec3f(cell) + 1.0) * half_at(task, task.shapes.w);
    }
    if parameters.starts == PLACES {
        return bitcast<vec3f>(cell);
    }
    let place = place_of(relative, task.counts.xyz);
    return task.low.xyz + (vec3f(place) + 0.5) * (task.extents.xyz / vec3f(task.counts.xyz));
}

// Whether the gradient of the first or second body jumps within the band about a point: at the
// border of a cell, or where the nearest side of a closed form changes.
fn is_at_kink(task: Task, body: u32, place: vec3f, band: f32) -> bool {
    let shape = select(task.shapes.x, task.shapes.y, body == 1u);
    let header = shape * HEADER;
    if HAS_PROGRAM && (!HAS_STORED || word(header + KIND) > SPARSE) {
        // A plane near a point has corners of a tetrahedron about it on both sides.
        var here = vec3f(0.0);
        for (var corner = 0u; corner < 5u; corner++) {
            var offset = vec3f(0.0);
            if corner > 0u {
                let signs = vec3<bool>(corner == 3u || corner == 4u, corner == 2u || corner == 4u,
                    corner == 2u || corner == 3u);
                offset = 4.0 * band * select(vec3f(1.0), vec3f(-1.0), signs);
            }
            let gradient = sample_of(task, body, place + offset).gradient;
            if corner == 0u {
                here = gradient;
            } else if length(gradient - here) > 1e-3 {
                return true;
            }
        }
        return false;
    }
    let point = in_frame_of(task, body, place);
    let low = vector(header + BOUNDS);
    let high = vector(header + BOUNDS + 3u);
    let at_border = (abs(point - low) < vec3f(band)) | (abs(point - high) < vec3f(band));
    let finest = number(header + FINEST);
    let scaled = (point - vector(header + ORIGIN)) / finest;
    let inside = (point > low) & (point < high);
    let at_cell = abs(scaled - round(scaled)) < vec3f(band / finest);
    return any(at_border) || any(inside & at_cell);
}

// What became of a particle.
struct Path {
    arrived: bool,
    in_band: bool,
    steps: u32,
    place: vec3f,
    both: Both,
}

// The step into the tangent half-spaces of both bodies; see `projection_particles.rs`.
fn to_both(distance: f32, direction: vec3f, other: Sample, reach: f32, longest: f32) -> vec3f {
    let other_distance = other.distance - reach;
    let cosine = dot(direction, other.gradient);
    let straight = -distance * direction;
    let beyond = other_distance - distance * cosine;
    let sine_squared = dot(other.gradient, other.gradient) - cosine * cosine;
    if beyond <= 0.0 || sine_squared <= 1.1920929e-7 {
        return straight;
    }
    let sideways = 2.0 * (beyond / sine_squared) * (other.gradient - cosine * direction);
    let far = length(sideways);
    return straight - sideways * select(1.0, longest / far, far > longest);
}

fn projected(task: Task, start: vec3f) -> Path {
    let nothing = Sample(0.0, vec3f(0.0));
    var path = Path(false, false, 0u, start, Both(nothing, nothing));
    let residual = task.low.w;
    let reach = task.extents.w;
    let band = task.limits.z;
    // The last stride outside, if it was longer than the distance; the place it began at, and the
    // distance and the direction there.
    var is_long = false;
    var before = start;
    var before_distance = 0.0;
    var before_direction = vec3f(0.0);
    var relaxation = parameters.relaxation;
    for (var step = 0u; step < parameters.max_steps; step++) {
        let both = sample_both(task, path.place);
        path.steps = step + 1u;
        path.both = both;
        let most = max(both.first.distance, both.second.distance);
        let first_is_farther = both.first.distance >= both.second.distance;
        if COUNTS_BAND {
            var decided = abs(most - residual);
            if !has(LITERAL) {
                decided = abs(abs(most - reach) - residual);
            }
            path.in_band = path.in_band || decided < band;
        }
        if has(LITERAL) {
            if most < residual {
                path.arrived = true;
                return path;
            }
        } else if abs(most - reach) <= residual {
            path.arrived = true;
            return path;
        }
        if COUNTS_BAND && !path.in_band {
            path.in_band = abs(both.first.distance - both.second.distance) < band;
            for (var body = 0u; body < 2u && !path.in_band; body++) {
                path.in_band = is_at_kink(task, body, path.place, band);
            }
        }
        if has(LITERAL) {
            var gradient = both.second.gradient;
            if first_is_farther {
                gradient = both.first.gradient;
            }
            path.place -= most * gradient;
            continue;
        }
        var farther = both.second;
        var other = both.first;
        if first_is_farther {
            farther = both.first;
            other = both.second;
        }
        let slope = length(farther.gradient);
        // Where the gradient vanishes there is no direction to go.
        if !(slope > 0.0) {
            return path;
        }
        let direction = farther.gradient / slope;
        let outside = (most - reach) / max(slope, FLATTEST_SLOPE);
        // A stride that is longer than both distances together may have passed something: back to
        // the end of the plain step, and plain steps from there [Keinert2014].
        if is_long && relaxation * before_distance > before_distance + abs(outside) {
            path.place = before - before_distance * before_direction;
            is_long = false;
            relaxation = 1.0;
            continue;
        }
        var way = -outside * direction;
        is_long = false;
        if outside > 0.0 {
            if has(BOTH_AT_ONCE) {
                way = to_both(outside, direction, other, reach, task.limits.x);
            } else {
                is_long = relaxation > 1.0;
                before = path.place;
                before_distance = outside;
                before_direction = direction;
                way *= relaxation;
            }
        }
        let next = path.place + way;
        if parameters.starts == CELLS {
            let away = next - start;
            if dot(away, away) > task.limits.y {
                return path;
            }
        }
        path.place = next;
    }
    return path;
}

// From the middle of the first field's box to that of the common box: the normal where both
// gradients vanish.
fn apart(task: Task) -> vec3f {
    let header = task.shapes.x * HEADER;
    let middle = 0.5 * (vector(header + BOUNDS) + vector(header + BOUNDS + 3u));
    let towards = task.low.xyz + 0.5 * task.extents.xyz - middle;
    let far = length(towards);
    if far > 0.0 && far < 1e30 {
        return towards / far;
    }
    return vec3f(0.0, 0.0, 1.0);
}

fn unit(v: vec3f, otherwise: vec3f) -> vec3f {
    let far = length(v);
    if far > 0.0 {
        return v / far;
    }
    return otherwise;
}

fn write_contact(slot: u32, task: Task, pair: u32, id: u32, path: Path) {
    let first = path.both.first;
    let second = path.both.second;
    var point = path.place;
    var normal = vec3f(0.0);
    var separation = 0.0;
    if has(LITERAL) {
        normal = unit(-second.gradient, apart(task));
        separation = min(first.distance, second.distance);
    } else {
        let difference = first.distance - second.distance;
        let between = first.gradient - second.gradient;
        var away = between;
        if abs(difference) > 2.0 * task.low.w {
            away = -second.gradient;
            if difference < 0.0 {
                away = first.gradient;
            }
        }
        normal = unit(away, unit(between, apart(task)));
        point -= 0.5 * difference * normal;
        separation = first.distance + second.distance;
    }
    if task.shapes.z == 0u {
        // The search frame is that of B, and the second body is A.
        point = to_second(task, point);
        normal = -(turn_of(task) * normal);
    }
    contacts[2u * slot] = vec4f(point, separation);
    contacts[2u * slot + 1u] = vec4f(normal, bitcast<f32>(id));
    contacts[2u * parameters.capacity + slot] = vec4f(path.place, bitcast<f32>(pair));
}

@compute @workgroup_size(64)
fn project_particles(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index >= parameters.count {
        return;
    }
    var slot = 0u;
    if has(FILL) {
        slot = atomicLoad(&marks[index]);
        let arrives = atomicLoad(&marks[index + 1u]) != slot;
        // Alg. 3 projects every particle again; only those that arrive are needed.
        if !arrives || slot >= parameters.capacity {
            return;
        }
    }
    let particle = parameters.begin + index;
    var pair = 0u;
    var cell = vec3u(0u);
    if parameters.starts >= CELLS {
        pair = listed[index].x;
        cell = listed[index].yzw;
    } else {
        pair = pair_of(particle);
    }
    let task = tasks[pair];
    var relative = particle;
    if parameters.starts < CELLS && pair > 0u {
        relative = particle - tasks[pair - 1u].counts.w;
    }
    let path = projected(task, start_of(task, relative, cell));
    if has(FILL) {
        if parameters.starts >= CELLS {
            relative = index - first_listed(pair);
        }
        write_contact(slot, task, pair, relative, path);
        return;
    }
    let of_pairs = parameters.count + pair;
    atomicStore(&marks[index], u32(path.arrived));
    if path.arrived {
        atomicAdd(&marks[of_pairs], 1u);
    }
    if path.in_band {
        atomicAdd(&marks[of_pairs + parameters.pairs], 1u);
    }
    if has(STEPS) {
        atomicAdd(&marks[of_pairs + 2u * parameters.pairs], path.steps);
    }
    if parameters.starts >= CELLS {
        atomicAdd(&marks[of_pairs + 3u * parameters.pairs], 1u);
    }
}
