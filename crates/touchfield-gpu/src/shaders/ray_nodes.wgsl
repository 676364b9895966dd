// Signs of nodes by the vote of three rays in both directions, and the nearest of the triangles
// that the rays cross first.

@group(1) @binding(2) var<storage, read> offsets: array<u32>;
@group(1) @binding(3) var<storage, read> crossings: array<vec2u>;
// Triangle, and votes for the inside.
@group(1) @binding(4) var<storage, read_write> found: array<vec2u>;

@compute @workgroup_size(64)
fn sign_nodes(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    let n = parameters.nodes;
    if index >= n.x * n.y * n.z {
        return;
    }
    let node = vec3u(index % n.x, (index / n.x) % n.y, index / (n.x * n.y));
    let point = vec3f(node);
    var votes = 0u;
    var best = NOTHING;
    var best_squared = 1e30;
    for (var axis = 0u; axis < 3u; axis++) {
        let ray = ray_of(axis, node[(axis + 1u) % 3u], node[(axis + 2u) % 3u]);
        let first = offsets[ray];
        let end = offsets[ray + 1u];
        // The first crossing beyond the node.
        var low = first;
        var high = end;
        while low < high {
            let middle = (low + high) / 2u;
            if bitcast<f32>(crossings[middle].x) <= point[axis] {
                low = middle + 1u;
            } else {
                high = middle;
            }
        }
        votes += ((low - first) & 1u) + ((end - low) & 1u);
        for (var side = 0u; side < 2u; side++) {
            let place = low - 1u + side;
            if (side == 0u && low == first) || (side == 1u && low == end) {
                continue;
            }
            let triangle = crossings[place].y;
            let squared = distance_squared(triangle, point);
            if squared < best_squared || (squared == best_squared && triangle < best) {
                best_squared = squared;
                best = triangle;
            }
        }
    }
    found[index] = vec2u(best, votes);
}
