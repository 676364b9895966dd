// Second pass: the contacts, each at its own place.

@group(1) @binding(3) var<storage, read> probes: array<Probe>;
@group(1) @binding(4) var<storage, read_write> contacts: array<ShellContact>;

@compute @workgroup_size(64)
fn fill_contacts(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index >= min(ranges[0].y, parameters.points) {
        return;
    }
    let bit = index & 63u;
    let is_contact = (marks[2u * (index / 64u) + (bit >> 5u)] >> (bit & 31u)) & 1u;
    let place = rank(index);
    if is_contact == 0u || place < parameters.first || place - parameters.first >= parameters.room {
        return;
    }
    let own = range_of(index);
    contacts[place - parameters.first] = contact_of(probes[own.x], own.y + index - own.z);
}
