// The nearest triangle of a mesh, through a hierarchy of oriented boxes. Local units: the mesh
// fills the unit ball. Written by `bake/surface.rs`.
//
// Every distance is off by at most `ROUNDING (1 + |p|)`. So a triangle whose distance is above
// that of another by more than twice as much is not the nearest, and all others are looked at.
// Where they disagree about the side of the point, the result is not sure.

struct Parameters {
    // First node, and distance between nodes.
    origin: vec3f,
    step: f32,
    // The boxes of the root.
    root: u32,
    bricks: u32,
    // Whether nearest features determine sides.
    has_sides: u32,
    // Whether nearest points matter, and not only distances.
    wants_points: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
// Four rows per box: axes with the centre along each, half extents with the content.
@group(1) @binding(1) var<storage, read> boxes: array<vec4u>;
// Five rows per triangle: axes with the shift along each; length, apex, face; inverse squared
// lengths, and how the face determines sides.
@group(1) @binding(2) var<storage, read> triangles: array<vec4u>;
// Seven normals per triangle, in its own frame: face, three edges, three corners.
@group(1) @binding(3) var<storage, read> normals: array<vec4f>;
// First node of each brick of up to 4 x 4 x 4 nodes, and the nodes along each axis, a byte each.
@group(1) @binding(4) var<storage, read> bricks: array<vec4u>;

const FAR: f32 = 1e18;
const NO_SIDES: u32 = 0x80000000u;

struct Off {
    // From the nearest point of the triangle, in its frame.
    way: vec3f,
    distance_squared: f32,
    // Number of the feature's normal.
    feature: u32,
}

struct Found {
    // Triangle in the order of leaves.
    slot: u32,
    distance: f32,
    inside: bool,
    is_sure: bool,
    // Whether a triangle that may be as near has its nearest point elsewhere.
    is_tied: bool,
}

fn row_point(row: vec4u, point: vec3f) -> f32 {
    return dot(bitcast<vec3f>(row.xyz), point);
}

fn box_distance_squared(index: u32, point: vec3f) -> f32 {
    let first = 4u * index;
    let x = boxes[first];
    let y = boxes[first + 1u];
    let z = boxes[first + 2u];
    let along = vec3f(row_point(x, point), row_point(y, point), row_point(z, point));
    let center = bitcast<vec3f>(vec3u(x.w, y.w, z.w));
    let half = bitcast<vec3f>(boxes[first + 3u].xyz);
    let outside = max(abs(along - center) - half, vec3f(0.0));
    return dot(outside, outside);
}

// Offset of a point of the plane from the edge from the origin to `end`, with the share of the
// edge at the nearest point; and a number that is positive to the left of the edge.
struct FromEdge {
    way: vec2f,
    share: f32,
    left: f32,
}

fn from_edge(point: vec2f, end: vec2f, inverse_length_squared: f32) -> FromEdge {
    let share = clamp(dot(point, end) * inverse_length_squared, 0.0, 1.0);
    return FromEdge(point - share * end, share, end.x * point.y - end.y * point.x);
}

// The edge, or the corner at one of its ends: normals 1 to 3 are edges, 4 to 6 corners. Edge i
// goes from corner i to i + 1.
fn feature_of(edge: u32, share: f32) -> u32 {
    if share <= 0.0 {
        return 4u + edge;
    }
    if share >= 1.0 {
        return 4u + (edge + 1u) % 3u;
    }
    return 1u + edge;
}

// The triangle lies in its frame's plane z = 0: corner 0 at the origin, corner 1 at `length` along
// x, corner 2 at the apex, above.
fn off_triangle(slot: u32, point: vec3f) -> Off {
    let first = 5u * slot;
    let x = triangles[first];
    let y = triangles[first + 1u];
    let z = triangles[first + 2u];
    let sizes = bitcast<vec3f>(triangles[first + 3u].xyz);
    let inverse = bitcast<vec2f>(triangles[first + 4u].xy);
    let shift = bitcast<vec3f>(vec3u(x.w, y.w, z.w));
    let at = vec3f(row_point(x, point), row_point(y, point), row_point(z, point)) + shift;
    let base_length = sizes.x;
    let apex = sizes.yz;
    let on_base = clamp(at.x, 0.0, base_length);
    let base = vec2f(at.x - on_base, at.y);
    // From the origin to the apex: edge 2 backwards.
    let left = from_edge(at.xy, apex, inverse.x);
    // From the end of the base to the apex: edge 1.
    let right = from_edge(at.xy - vec2f(base_length, 0.0), apex - vec2f(base_length, 0.0), inverse.y);
    if at.y > 0.0 && left.left < 0.0 && right.left > 0.0 {
        return Off(vec3f(0.0, 0.0, at.z), at.z * at.z, 0u);
    }
    var way = base;
    var squared = dot(base, base);
    var feature = 1u;
    if on_base <= 0.0 {
        feature = 4u;
    } else if on_base >= base_length {
        feature = 5u;
    }
    let by_right = dot(right.way, right.way);
    if by_right < squared {
        squared = by_right;
        way = right.way;
        feature = feature_of(1u, right.share);
    }
    let by_left = dot(left.way, left.way);
    if by_left < squared {
        squared = by_left;
        way = left.way;
        feature = feature_of(2u, 1.0 - left.share);
    }
    return Off(vec3f(way, at.z), squared + at.z * at.z, feature);
}

// A vector of a triangle's frame, along the axes of the mesh.
fn turned(slot: u32, way: vec3f) -> vec3f {
    let first = 5u * slot;
    return way.x * bitcast<vec3f>(triangles[first].xyz)
        + way.y * bitcast<vec3f>(triangles[first + 1u].xyz)
        + way.z * bitcast<vec3f>(triangles[first + 2u].xyz);
}

// Whether two vectors to a point from the nearest points of two triangles may be different. So
// close to the surface that rounding turns them, they are.
fn are_apart(a: vec3f, b: vec3f, margin: f32) -> bool {
    const LIKE: f32 = 1e-4;
    const NEAR: f32 = 64.0;
    let reach = length(a);
    return reach < NEAR * margin || distance(a, b) > LIKE * reach;
}

// Finds the nearest triangle; `seed` is one that is near, by its slot.
fn nearest(point: vec3f, seed: u32) -> Found {
    let rounding = ROUNDING * (1.0 + length(point));
    let margin = 2.0 * rounding;
    var best = FAR;
    var best_slot = seed;
    var best_inside = false;
    // Least distances of triangles that see the point outside and inside.
    var outside = FAR;
    // The way from the nearest point, and the least distance of a triangle with another one.
    var best_way = vec3f(0.0);
    var rival = FAR;
    var inside = FAR;
    var threshold = FAR * FAR;
    // The seed first, then boxes, the nearest first.
    var stack: array<vec2u, STACK>;
    stack[0] = vec2u(0u, parameters.root);
    stack[1] = vec2u(0u, LEAF | seed);
    var top = 2u;
    while top > 0u {
        top -= 1u;
        let entry = stack[top];
        if bitcast<f32>(entry.x) > threshold {
            continue;
        }
        let first = entry.y & FIRST;
        let count = ((entry.y >> COUNT_SHIFT) & 7u) + 1u;
        if (entry.y & LEAF) != 0u {
            for (var slot = first; slot < first + count; slot++) {
                let off = off_triangle(slot, point);
                if off.distance_squared > threshold {
                    continue;
                }
                let distance = sqrt(off.distance_squared);
                var is_inside = false;
                var is_sure = true;
                if parameters.has_sides != 0u {
                    let sides = triangles[5u * slot + 4u].z;
                    let along = dot(normals[7u * slot + off.feature].xyz, off.way);
                    // The winding number in front of the face, and on this side of it.
                    let winding = bitcast<i32>(sides);
                    is_inside = winding + select(0, 1, along < 0.0) > 0;
                    is_sure = sides != NO_SIDES && (winding != 0 || abs(along) > margin);
                }
                if is_inside || !is_sure {
                    inside = min(inside, distance);
                }
                if !is_inside || !is_sure {
                    outside = min(outside, distance);
                }
                if parameters.wants_points != 0u && slot != best_slot {
                    let way = turned(slot, off.way);
                    if best < FAR && are_apart(best_way, way, margin) {
                        rival = min(rival, max(best, distance));
                    }
                    best_way = select(best_way, way, distance < best);
                } else if best == FAR {
                    best_way = turned(slot, off.way);
                }
                if distance < best {
                    best = distance;
                    best_slot = slot;
                    best_inside = is_inside;
                    let reach = best + margin;
                    threshold = reach * reach * (1.0 + ROUNDING);
                }
            }
            continue;
        }
        let base = top;
        for (var child = first; child < first + count; child++) {
            let lower = box_distance_squared(child, point);
            if lower > threshold {
                continue;
            }
            // Insertion sort of the new entries, the nearest on top.
            var place = top;
            while place > base && bitcast<f32>(stack[place - 1u].x) < lower {
                stack[place] = stack[place - 1u];
                place -= 1u;
            }
            stack[place] = vec2u(bitcast<u32>(lower), boxes[4u * child + 3u].w);
            top += 1u;
        }
    }
    let is_sure = max(inside, outside) > best + margin;
    // Roundings seldom add up to a sixteenth of the margin. What is missed here is within it.
    let is_tied = rival <= best + margin / 16.0;
    return Found(best_slot, best, best_inside, is_sure, is_tied);
}

fn brick_size(brick: vec4u) -> vec3u {
    return vec3u(brick.w & 0xffu, (brick.w >> 8u) & 0xffu, (brick.w >> 16u) & 0xffu);
}

fn node_point(node: vec3f) -> vec3f {
    return parameters.origin + node * parameters.step;
}
