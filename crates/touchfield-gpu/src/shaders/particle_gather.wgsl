// Contacts that stay, closed up, and where those of each pair begin then.

struct Parameters {
    count: u32,
    pairs: u32,
    capacity: u32,
    spare: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
@group(1) @binding(1) var<storage, read> contacts: array<vec4f>;
@group(1) @binding(2) var<storage, read_write> first: array<u32>;
// Number of contacts that stay before each.
@group(1) @binding(3) var<storage, read> offsets: array<u32>;
@group(1) @binding(4) var<storage, read_write> kept: array<vec4f>;

@compute @workgroup_size(64)
fn gather_contacts(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index <= parameters.pairs {
        first[index] = offsets[first[index]];
    }
    if index >= parameters.count {
        return;
    }
    let slot = offsets[index];
    if offsets[index + 1u] == slot {
        return;
    }
    kept[2u * slot] = contacts[2u * index];
    kept[2u * slot + 1u] = contacts[2u * index + 1u];
    kept[2u * parameters.capacity + slot] = contacts[2u * parameters.capacity + index];
}
