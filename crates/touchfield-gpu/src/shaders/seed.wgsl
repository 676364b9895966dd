// The nearest triangle of the middle of each brick: a start for all its nodes.

@group(1) @binding(5) var<storage, read_write> seeds: array<u32>;

@compute @workgroup_size(64)
fn seed_bricks(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index >= parameters.bricks {
        return;
    }
    let brick = bricks[index];
    let middle = vec3f(brick.xyz) + 0.5 * vec3f(brick_size(brick) - 1u);
    seeds[index] = nearest(node_point(middle), 0u).slot;
}
