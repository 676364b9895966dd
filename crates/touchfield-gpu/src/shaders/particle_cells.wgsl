// Which boxes of a level may hold a piece of the intersection's surface: no value of max(φA, φB)
// in a box is farther than half its diagonal from the value at its centre.

struct Parameters {
    count: u32,
    pairs: u32,
    level: u32,
    spare: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
@group(1) @binding(1) var<storage, read> tasks: array<Task>;
// Pair, and the place of the box among those of its level.
@group(1) @binding(2) var<storage, read> cells: array<vec4u>;
// Number of parts of each box; 0 drops it.
@group(1) @binding(3) var<storage, read_write> parts: array<u32>;

fn may_hold(task: Task, center: vec3f, half: vec3f) -> bool {
    let radius = length(half) * (1.0 + 4.0 * 1.1920929e-7);
    let reach = task.extents.w;
    let in_second = to_second(task, center);
    var lower = -1e38;
    var upper = -1e38;
    // One call of the field in a loop, because drivers copy a function to every place that calls
    // it, and this one is long.
    for (var body = 0u; body < 2u; body++) {
        let shape = select(task.shapes.x, task.shapes.y, body == 1u);
        let found = sample_shape(shape, select(center, in_second, body == 1u)).distance;
        let error = select(task.errors.x, task.errors.y, body == 1u);
        lower = max(lower, found - error - radius);
        upper = max(upper, found + error + radius);
        if lower > reach {
            return false;
        }
        if body == 0u {
            // The distance to a box is more than a field knows beyond its border.
            let header = task.shapes.y * HEADER;
            let low = vector(header + SOLID) - task.errors.z;
            let high = vector(header + SOLID + 3u) + task.errors.z;
            if length(in_second - clamp(in_second, low, high)) - radius > reach {
                return false;
            }
        }
    }
    return upper >= reach;
}

@compute @workgroup_size(64)
fn look_at_cells(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index >= parameters.count {
        return;
    }
    let cell = cells[index];
    let task = tasks[cell.x];
    let levels = task.shapes.w;
    // Cells of a pair with fewer levels wait for the others.
    var count = 1u;
    if parameters.level <= levels {
        let half = half_at(task, parameters.level);
        let center = task.low.xyz + (2.0 * vec3f(cell.yzw) + 1.0) * half;
        let halved = vec3u(is_halved(half));
        if !may_hold(task, center, half) {
            count = 0u;
        } else if parameters.level < levels {
            count = 1u << (halved.x + halved.y + halved.z);
        }
    }
    parts[index] = count;
}
