// Least distance of each pair, as a contact. Probes come in twos: the shell of A, the shell of B.
@group(1) @binding(3) var<storage, read> partials: array<vec2u>;
@group(1) @binding(4) var<storage, read_write> contacts: array<ShellContact>;

@compute @workgroup_size(64)
fn least_of_pairs(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let pair = thread_index(group, groups, local);
    if pair >= parameters.pairs {
        return;
    }
    var nearest = 3.4e38;
    var nearest_at = 0xffffffffu;
    var side = 0u;
    for (var role = 0u; role < 2u; role++) {
        let own = ranges[2u * pair + role + 1u];
        for (var block = own.z; block < own.z + own.w; block++) {
            let partial = partials[block];
            let distance = bitcast<f32>(partial.x);
            if distance < nearest {
                nearest = distance;
                nearest_at = partial.y;
                side = role;
            }
        }
    }
    if nearest_at == 0xffffffffu {
        // No value is a number that can be compared.
        contacts[pair] = ShellContact(vec4u(0u), vec4u(0u, 0u, 0u, 0xffffffffu));
        return;
    }
    contacts[pair] = contact_of(probes[2u * pair + side], nearest_at);
}
