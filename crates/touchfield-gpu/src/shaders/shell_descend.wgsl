// The list of the next level.

@group(1) @binding(3) var<storage, read> offsets: array<u32>;
@group(1) @binding(4) var<storage, read_write> next: array<vec2u>;

@compute @workgroup_size(64)
fn descend_spheres(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index == 0u {
        next[0] = vec2u(offsets[parameters.room], 0u);
    }
    if index >= present() {
        return;
    }
    let start = offsets[index];
    let count = offsets[index + 1u] - start;
    if count == 0u {
        return;
    }
    let own = spheres[index + 1u];
    let sphere = sphere_words(own.x, own.y);
    let children = word(sphere + 7u);
    for (var i = 0u; i < count; i++) {
        if start + i >= parameters.next_room {
            break;
        }
        let child = select(word(sphere + 6u) + i, own.y | LEAF, children == 0u);
        next[start + i + 1u] = vec2u(own.x, child);
    }
}
