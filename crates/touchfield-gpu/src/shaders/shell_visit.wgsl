// How many spheres replace each sphere in the next list: none if no point of it can be a contact,
// itself if it is a leaf, else its children.

@group(1) @binding(3) var<storage, read_write> totals: array<u32>;

@compute @workgroup_size(64)
fn visit_spheres(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index >= parameters.room {
        return;
    }
    var count = 0u;
    if index < present() {
        let own = spheres[index + 1u];
        if (own.y & LEAF) != 0u {
            count = 1u;
        } else {
            let sphere = sphere_words(own.x, own.y);
            let probe = probes[own.x];
            let center = placed(probe.field_from_shell, vector(sphere));
            let distance = sample_shape(probe.field, center).distance;
            let nearest = distance - number(sphere + 3u) - probe.rounding.w;
            if nearest <= parameters.max_separation {
                count = max(word(sphere + 7u), 1u);
            }
        }
    }
    totals[index] = count;
}
