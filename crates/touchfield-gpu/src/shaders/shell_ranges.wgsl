// The points of leaves as ranges, for the kernels that test points.

@group(1) @binding(3) var<storage, read> offsets: array<u32>;
@group(1) @binding(4) var<storage, read_write> ranges: array<vec4u>;

@compute @workgroup_size(64)
fn list_ranges(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index == 0u {
        ranges[0] = vec4u(present(), offsets[parameters.room], 0u, 0u);
    }
    if index >= present() {
        return;
    }
    let own = spheres[index + 1u];
    let sphere = sphere_words(own.x, own.y);
    ranges[index + 1u] = vec4u(own.x, word(sphere + 4u), offsets[index], word(sphere + 5u));
}
