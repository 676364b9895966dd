// The boxes that the subdivision of each pair begins with.

struct Parameters {
    count: u32,
    pairs: u32,
    level: u32,
    capacity: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
@group(1) @binding(1) var<storage, read> tasks: array<Task>;
@group(1) @binding(2) var<storage, read_write> next: array<vec4u>;

@compute @workgroup_size(64)
fn begin_cells(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index >= parameters.count {
        return;
    }
    var low = 0u;
    var high = parameters.pairs;
    while low < high {
        let middle = (low + high) / 2u;
        if tasks[middle].boxes.w > index {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    var before = 0u;
    if low > 0u {
        before = tasks[low - 1u].boxes.w;
    }
    next[index] = vec4u(low, place_of(index - before, tasks[low].boxes.xyz));
}
