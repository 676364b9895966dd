// The nearest face of every node of each brick, its distance, and the side of the node.

@group(1) @binding(5) var<storage, read> seeds: array<u32>;
// Face with three flags, and distance.
@group(1) @binding(6) var<storage, read_write> proposals: array<vec2u>;

const TIED: u32 = 0x20000000u;
const INSIDE: u32 = 0x40000000u;
const UNSURE: u32 = 0x80000000u;

@compute @workgroup_size(64)
fn propose_faces(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    let number = index / 64u;
    if number >= parameters.bricks {
        return;
    }
    let brick = bricks[number];
    let place = vec3u(local % 4u, (local / 4u) % 4u, local / 16u);
    if any(place >= brick_size(brick)) {
        return;
    }
    let found = nearest(node_point(vec3f(brick.xyz + place)), seeds[number]);
    var face = triangles[5u * found.slot + 3u].w;
    face |= select(0u, TIED, found.is_tied);
    face |= select(0u, INSIDE, found.inside) | select(UNSURE, 0u, found.is_sure);
    proposals[index] = vec2u(face, bitcast<u32>(found.distance));
}
