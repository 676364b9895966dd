// The parts of the boxes that a look has kept.

struct Parameters {
    count: u32,
    pairs: u32,
    level: u32,
    capacity: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
@group(1) @binding(1) var<storage, read> tasks: array<Task>;
@group(1) @binding(2) var<storage, read_write> next: array<vec4u>;
@group(1) @binding(3) var<storage, read> cells: array<vec4u>;
// Number of parts before those of each box.
@group(1) @binding(4) var<storage, read> offsets: array<u32>;

@compute @workgroup_size(64)
fn split_cells(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index >= parameters.count {
        return;
    }
    var slot = offsets[index];
    let end = offsets[index + 1u];
    if slot == end {
        return;
    }
    let cell = cells[index];
    let task = tasks[cell.x];
    if parameters.level >= task.shapes.w {
        next[slot] = cell;
        return;
    }
    let halved = vec3u(is_halved(half_at(task, parameters.level)));
    for (var z = 0u; z <= halved.z; z++) {
        for (var y = 0u; y <= halved.y; y++) {
            for (var x = 0u; x <= halved.x; x++) {
                let part = cell.yzw * (halved + 1u) + vec3u(x, y, z);
                next[slot] = vec4u(cell.x, part);
                slot++;
            }
        }
    }
}
