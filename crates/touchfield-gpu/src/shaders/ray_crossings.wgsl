// Where the rays through the nodes of a grid cross a mesh: a workgroup per triangle.

@group(1) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
@group(1) @binding(3) var<storage, read> offsets: array<u32>;
// Coordinate along the ray, and triangle.
@group(1) @binding(4) var<storage, read_write> crossings: array<vec2u>;

// On which side of a directed edge a point is, never on it: the point counts as moved by an
// infinitesimal along u, and a smaller one along v. The ends are sorted, so that both triangles at
// an edge compute the same numbers, and a ray between them crosses exactly one.
fn is_left(begin: vec2f, end: vec2f, point: vec2f) -> bool {
    let is_sorted = begin.x < end.x || (begin.x == end.x && begin.y < end.y);
    let low = select(end, begin, is_sorted);
    let high = select(begin, end, is_sorted);
    let way = high - low;
    let off = point - low;
    var side = way.x * off.y - way.y * off.x;
    if side == 0.0 {
        side = select(-way.y, way.x, way.y == 0.0);
    }
    return (side > 0.0) == is_sorted;
}

fn swizzle(point: vec3f, axis: u32) -> vec3f {
    return vec3f(point[(axis + 1u) % 3u], point[(axis + 2u) % 3u], point[axis]);
}

struct Crossing {
    ray: u32,
    at: f32,
    is_one: bool,
}

struct Area {
    a: vec3f,
    b: vec3f,
    c: vec3f,
    low: vec2f,
    width: u32,
    count: u32,
}

// The rays that may cross a triangle.
fn area_of(triangle: u32, axis: u32) -> Area {
    let a = swizzle(corner_of(triangle, 0u), axis);
    let b = swizzle(corner_of(triangle, 1u), axis);
    let c = swizzle(corner_of(triangle, 2u), axis);
    let last = vec2f(f32(parameters.nodes[(axis + 1u) % 3u] - 1u), f32(parameters.nodes[(axis + 2u) % 3u] - 1u));
    let low = clamp(ceil(min(min(a.xy, b.xy), c.xy)), vec2f(0.0), last);
    let high = clamp(floor(max(max(a.xy, b.xy), c.xy)), vec2f(0.0), last);
    let size = vec2u(max(high - low + 1.0, vec2f(0.0)));
    return Area(a, b, c, low, size.x, size.x * size.y);
}

fn crossing_of(area: Area, axis: u32, index: u32) -> Crossing {
    let point = area.low + vec2f(vec2u(index % area.width, index / area.width));
    let left = is_left(area.a.xy, area.b.xy, point);
    let is_one = is_left(area.b.xy, area.c.xy, point) == left && is_left(area.c.xy, area.a.xy, point) == left;
    let normal = cross(area.b - area.a, area.c - area.a);
    let low = min(min(area.a.z, area.b.z), area.c.z);
    let high = max(max(area.a.z, area.b.z), area.c.z);
    var at = low;
    if normal.z != 0.0 {
        at = clamp(area.a.z - dot(normal.xy, point - area.a.xy) / normal.z, low, high);
    }
    return Crossing(ray_of(axis, u32(point.x), u32(point.y)), at, is_one);
}

@compute @workgroup_size(64)
fn count_crossings(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let triangle = group.y * groups.x + group.x;
    if triangle >= parameters.triangles {
        return;
    }
    for (var axis = 0u; axis < 3u; axis++) {
        let area = area_of(triangle, axis);
        for (var index = local; index < area.count; index += 64u) {
            let crossing = crossing_of(area, axis, index);
            if crossing.is_one {
                atomicAdd(&counts[crossing.ray], 1u);
            }
        }
    }
}

@compute @workgroup_size(64)
fn fill_crossings(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let triangle = group.y * groups.x + group.x;
    if triangle >= parameters.triangles {
        return;
    }
    for (var axis = 0u; axis < 3u; axis++) {
        let area = area_of(triangle, axis);
        for (var index = local; index < area.count; index += 64u) {
            let crossing = crossing_of(area, axis, index);
            if crossing.is_one {
                let slot = offsets[crossing.ray] + atomicAdd(&counts[crossing.ray], 1u);
                crossings[slot] = vec2u(bitcast<u32>(crossing.at), triangle);
            }
        }
    }
}
