// One pass of a flood: each node takes over the triangle of a neighbour if it is nearer.

@group(1) @binding(2) var<storage, read> before: array<vec2u>;
@group(1) @binding(3) var<storage, read_write> found: array<vec2u>;
@group(1) @binding(4) var<storage, read_write> distances: array<f32>;

@compute @workgroup_size(64)
fn flood_nodes(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    let n = parameters.nodes;
    if index >= n.x * n.y * n.z {
        return;
    }
    let node = vec3i(vec3u(index % n.x, (index / n.x) % n.y, index / (n.x * n.y)));
    let point = vec3f(node);
    var best = NOTHING;
    var best_squared = 1e30;
    for (var i = 0; i < 27; i++) {
        let way = vec3i(i % 3 - 1, (i / 3) % 3 - 1, i / 9 - 1);
        let other = node + way * i32(parameters.step);
        if any(other < vec3i(0)) || any(other >= vec3i(n)) {
            continue;
        }
        let at = vec3u(other);
        let triangle = before[(at.z * n.y + at.y) * n.x + at.x].x;
        if triangle == NOTHING || triangle == best {
            continue;
        }
        let squared = distance_squared(triangle, point);
        if squared < best_squared || (squared == best_squared && triangle < best) {
            best_squared = squared;
            best = triangle;
        }
    }
    found[index] = vec2u(best, before[index].y);
    distances[index] = sqrt(best_squared);
}
