// The index of a thread among all threads of a dispatch, which may have two dimensions.
fn thread_index(group: vec3u, groups: vec3u, local: u32) -> u32 {
    return (group.y * groups.x + group.x) * 64u + local;
}
