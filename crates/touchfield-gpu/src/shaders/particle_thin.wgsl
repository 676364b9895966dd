// The deepest contact of each cell. Ties go to the particle of lower number, so that the order of
// threads decides nothing.

struct Parameters {
    count: u32,
    pairs: u32,
    // Contacts that there is room for.
    capacity: u32,
    // 0: the greatest depth of each cell; 1: the first particle of this depth; 2: who stays.
    phase: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
@group(1) @binding(1) var<storage, read> tasks: array<Task>;
@group(1) @binding(2) var<storage, read> contacts: array<vec4f>;
// Per cell: depth and particle of the deepest contact, both inverted, so that 0 is nothing.
@group(1) @binding(3) var<storage, read_write> table: array<atomic<u32>>;
// 1 for each contact that stays.
@group(1) @binding(4) var<storage, read_write> keep: array<u32>;

// A whole number that is greater for deeper contacts, and at least 1.
fn depth_of(index: u32) -> u32 {
    let bits = bitcast<u32>(contacts[2u * index].w);
    let ascending = select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
    return ~ascending;
}

fn particle_of(index: u32) -> u32 {
    return bitcast<u32>(contacts[2u * index + 1u].w);
}

@compute @workgroup_size(64)
fn thin_cells(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index >= parameters.count {
        return;
    }
    let at = contacts[2u * parameters.capacity + index];
    let task = tasks[bitcast<u32>(at.w)];
    let size = max(task.extents.xyz / vec3f(task.counts.xyz), vec3f(1.17549435e-38));
    // Particles may end slightly outside of the box they started in: one more cell on each side.
    let last = vec3f(task.counts.xyz) + 1.0;
    let cell = vec3u(clamp(floor((at.xyz - task.low.xyz) / size) + 1.0, vec3f(0.0), last));
    let along = task.counts.xyz + 2u;
    let entry = 2u * (task.table.x + (cell.z * along.y + cell.y) * along.x + cell.x);
    let depth = depth_of(index);
    if parameters.phase == 0u {
        atomicMax(&table[entry], depth);
        return;
    }
    let is_deepest = depth == atomicLoad(&table[entry]);
    let inverted = ~particle_of(index);
    if parameters.phase == 1u {
        if is_deepest {
            atomicMax(&table[entry + 1u], inverted);
        }
        return;
    }
    keep[index] = u32(is_deepest && inverted == atomicLoad(&table[entry + 1u]));
}
