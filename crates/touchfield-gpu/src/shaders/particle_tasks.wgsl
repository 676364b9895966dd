// What all kernels of particles know about a pair. `particles/tasks.rs` writes it.

struct Task {
    // Columns of the rotation from the search frame to the second body, and its translation.
    turn_x: vec4f,
    turn_y: vec4f,
    turn_z: vec4f,
    // Least corner of the common box, and the residual (literal: the iso value).
    low: vec4f,
    // Sides of the common box, and half of `max_separation`.
    extents: vec4f,
    // Cells along each axis (Alg. 1), and the accumulated count of particles, this pair included.
    counts: vec4u,
    // First shape, second shape, whether the first is A, levels of the subdivision.
    shapes: vec4u,
    // Boxes along each axis at level 0 of the subdivision, and their accumulated count.
    boxes: vec4u,
    // Longest step sideways, square of the leash, rounding band, and spare.
    limits: vec4f,
    // Error bounds of both fields, rounding of points, and spare.
    errors: vec4f,
    // First entry of this pair in the table of cells, and spare.
    table: vec4u,
}

fn turn_of(task: Task) -> mat3x3f {
    return mat3x3f(task.turn_x.xyz, task.turn_y.xyz, task.turn_z.xyz);
}

fn to_second(task: Task, point: vec3f) -> vec3f {
    return turn_of(task) * point + vec3f(task.turn_x.w, task.turn_y.w, task.turn_z.w);
}

// Half the sides of a box after so many halvings: a side is halved while it is more than half the
// longest.
fn half_at(task: Task, level: u32) -> vec3f {
    var half = 0.5 * task.extents.xyz / vec3f(task.boxes.xyz);
    for (var i = 0u; i < level; i++) {
        half = select(half, 0.5 * half, is_halved(half));
    }
    return half;
}

fn is_halved(half: vec3f) -> vec3<bool> {
    return half > vec3f(0.5 * max(half.x, max(half.y, half.z)));
}

// The place of a number in rows along x.
fn place_of(index: u32, along: vec3u) -> vec3u {
    return vec3u(index % along.x, (index / along.x) % along.y, index / (along.x * along.y));
}
