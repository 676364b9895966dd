// How many points each leaf has.

@group(1) @binding(3) var<storage, read_write> totals: array<u32>;

@compute @workgroup_size(64)
fn measure_leaves(
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
        count = word(sphere_words(own.x, own.y) + 5u);
    }
    totals[index] = count;
}
