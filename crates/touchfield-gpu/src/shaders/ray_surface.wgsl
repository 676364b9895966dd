// A mesh in the units of a grid: node (i, j, k) is at (i, j, k). Shared by the kernels of ray maps.

struct Parameters {
    nodes: vec3u,
    triangles: u32,
    // Step of a flood, in nodes.
    step: u32,
    spare_1: u32,
    spare_2: u32,
    spare_3: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
// Nine numbers per triangle.
@group(1) @binding(1) var<storage, read> corners: array<f32>;

const NOTHING: u32 = 0xffffffffu;

fn corner_of(triangle: u32, corner: u32) -> vec3f {
    let first = 9u * triangle + 3u * corner;
    return vec3f(corners[first], corners[first + 1u], corners[first + 2u]);
}

// Number of rays before those along an axis. A ray along axis a goes through nodes whose other two
// coordinates are (u, v), on the axes a + 1 and a + 2.
fn rays_before(axis: u32) -> u32 {
    let n = parameters.nodes;
    if axis == 0u {
        return 0u;
    }
    if axis == 1u {
        return n.y * n.z;
    }
    return n.y * n.z + n.z * n.x;
}

fn ray_of(axis: u32, u: u32, v: u32) -> u32 {
    return rays_before(axis) + v * parameters.nodes[(axis + 1u) % 3u] + u;
}

fn to_segment(a: vec3f, b: vec3f, point: vec3f) -> f32 {
    let along = b - a;
    let length_squared = dot(along, along);
    let share = select(0.0, clamp(dot(point - a, along) / length_squared, 0.0, 1.0), length_squared > 0.0);
    let off = point - a - share * along;
    return dot(off, off);
}

// Squared distance to a triangle [cells²].
fn distance_squared(triangle: u32, point: vec3f) -> f32 {
    let a = corner_of(triangle, 0u);
    let b = corner_of(triangle, 1u);
    let c = corner_of(triangle, 2u);
    let normal = cross(b - a, c - a);
    let is_above = dot(cross(normal, b - a), point - a) > 0.0
        && dot(cross(normal, c - b), point - b) > 0.0
        && dot(cross(normal, a - c), point - c) > 0.0;
    if is_above {
        let height = dot(normal, point - a);
        return height * height / dot(normal, normal);
    }
    return min(to_segment(a, b, point), min(to_segment(b, c, point), to_segment(c, a, point)));
}
