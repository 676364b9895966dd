// Closed forms and CSG: runs the programs that `program.rs` writes. The formulas are those of
// `field/closed_form` of the library. `OPERATIONS` has a bit for every operation that any program
// uses: what no program uses need not be compiled.

const END: u32 = 0u;
const SPHERE: u32 = 1u;
const CAPSULE: u32 = 2u;
const CONE: u32 = 3u;
const CUBOID: u32 = 4u;
const ROUNDED_CUBOID: u32 = 5u;
const CYLINDER: u32 = 6u;
const ELLIPSOID: u32 = 7u;
const HALF_SPACE: u32 = 8u;
const TORUS: u32 = 9u;
const UNION: u32 = 10u;
const INTERSECTION: u32 = 11u;
const DIFFERENCE: u32 = 12u;
const OFFSET: u32 = 13u;
const WALL: u32 = 14u;
const ENTER: u32 = 15u;
const LEAVE: u32 = 16u;

fn direction(v: vec3f, otherwise: vec3f) -> vec3f {
    // Scaled first, so that squares neither overflow nor vanish.
    let most = max(abs(v.x), max(abs(v.y), abs(v.z)));
    if most == 0.0 {
        return otherwise;
    }
    return normalize(v / most);
}

fn radial(point: vec3f) -> vec3f {
    return direction(vec3f(point.xy, 0.0), vec3f(1.0, 0.0, 0.0));
}

fn profile(point: vec3f) -> vec2f {
    return vec2f(length(point.xy), point.z);
}

fn ball(point: vec3f, radius: f32) -> Sample {
    return Sample(length(point) - radius, direction(point, vec3f(1.0, 0.0, 0.0)));
}

fn cuboid(point: vec3f, half_extents: vec3f) -> Sample {
    let beyond = abs(point) - half_extents;
    let deepest = max(beyond.x, max(beyond.y, beyond.z));
    var face = vec3f(0.0, 0.0, 1.0);
    if beyond.x == deepest {
        face = vec3f(1.0, 0.0, 0.0);
    } else if beyond.y == deepest {
        face = vec3f(0.0, 1.0, 0.0);
    }
    let outside = max(beyond, vec3f(0.0));
    let outward = direction(outside, face);
    return Sample(
        length(outside) + min(deepest, 0.0),
        select(outward, -outward, point < vec3f(0.0)),
    );
}

fn cylinder(point: vec3f, half_height: f32, radius: f32) -> Sample {
    let beyond = abs(profile(point)) - vec2f(radius, half_height);
    let side = radial(point);
    let end = vec3f(0.0, 0.0, select(1.0, -1.0, point.z < 0.0));
    let nearest = select(end, side, beyond.x >= beyond.y);
    let outside = max(beyond, vec2f(0.0));
    return Sample(
        length(outside) + min(max(beyond.x, beyond.y), 0.0),
        direction(side * outside.x + end * outside.y, nearest),
    );
}

fn cone(point: vec3f, half_height: f32, base_radius: f32, top_radius: f32) -> Sample {
    let at = profile(point);
    let rise = vec2f(2.0 * half_height, base_radius - top_radius);
    let has_side = rise.x != 0.0 || rise.y != 0.0;
    let side_normal = select(vec2f(1.0, 0.0), normalize(rise), has_side);
    let wide = select(
        vec2f(top_radius, half_height), vec2f(base_radius, -half_height), base_radius >= top_radius);
    let below = at.y < 0.0;
    let end_radius = select(top_radius, base_radius, below);
    let to_end = vec2f(0.0, select(1.0, -1.0, below));
    let side = dot(side_normal, at - wide);
    let end = abs(at.y) - half_height;
    var found = vec3f(end, to_end);
    if side >= end {
        found = vec3f(side, side_normal);
    }
    if !(found.x <= 0.0 && at.x <= max(base_radius, top_radius)) {
        let base = vec2f(base_radius, -half_height);
        let top = vec2f(top_radius, half_height);
        let slant = length(top - base);
        // A flat disc has no side to be along.
        let along = select(-1.0, dot(at - base, (top - base) / slant) / slant, slant > 0.0);
        if side > 0.0 && along >= 0.0 && along <= 1.0 {
            found = vec3f(side, side_normal);
        } else if end > 0.0 && at.x <= end_radius {
            found = vec3f(end, to_end);
        } else {
            let from_corner = at - select(top, base, along < 0.5);
            let outward = direction(vec3f(from_corner, 0.0), vec3f(found.yz, 0.0));
            found = vec3f(length(from_corner), outward.xy);
        }
    }
    return Sample(found.x, radial(point) * found.y + vec3f(0.0, 0.0, found.z));
}

fn torus(point: vec3f, major: f32, minor: f32) -> Sample {
    let from_circle = profile(point) - vec2f(major, 0.0);
    let away = radial(point);
    return Sample(
        length(from_circle) - minor,
        direction(away * from_circle.x + vec3f(0.0, 0.0, from_circle.y), away),
    );
}

fn share(numerator: vec3f, denominator: vec3f) -> vec3f {
    return select(numerator / denominator, vec3f(0.0), numerator == vec3f(0.0));
}

// The outward normal at the nearest surface point, by the root of `ellipsoid.rs`. In units of the
// longest semi-axis.
fn ellipsoid_normal(point: vec3f, extents: vec3f) -> vec3f {
    let least = min(extents.x, min(extents.y, extents.z));
    let beyond_least = (extents - least) * (extents + least);
    let numerator = extents * abs(point);
    let pole = share(numerator, beyond_least);
    let at_pole = dot(pole, pole);
    if at_pole <= 1.0 {
        let shortest = beyond_least == vec3f(0.0);
        var first = vec3f(0.0, 0.0, 1.0);
        if shortest.x {
            first = vec3f(1.0, 0.0, 0.0);
        } else if shortest.y {
            first = vec3f(0.0, 1.0, 0.0);
        }
        let across = direction(select(vec3f(0.0), point, shortest), first);
        if least == 0.0 {
            return across;
        }
        let along = select(least * point / beyond_least, vec3f(0.0), shortest);
        return direction(sqrt(1.0 - at_pole) * across + along, across);
    }
    let starts = numerator - beyond_least;
    var tau = max(max(starts.x, max(starts.y, starts.z)), 0.0);
    if tau == 0.0 {
        tau = 1e-14 * max(numerator.x, max(numerator.y, numerator.z));
    }
    for (var i = 0u; i < 64u; i++) {
        let q = share(numerator, tau + beyond_least);
        let sum = dot(q, q);
        let terms = q * q / (beyond_least + tau);
        let slope = terms.x + terms.y + terms.z;
        let step = (sqrt(sum) - 1.0) * sum / slope;
        if !(step > 0.0) {
            break;
        }
        tau += step;
        if step < 1e-7 * tau {
            break;
        }
    }
    return direction(point / (beyond_least + tau), vec3f(1.0, 0.0, 0.0));
}

fn ellipsoid(point: vec3f, extents: vec3f) -> Sample {
    let size = max(extents.x, max(extents.y, extents.z));
    if size == 0.0 {
        return ball(point, 0.0);
    }
    let scaled = point / size;
    let shape = extents / size;
    let normal = ellipsoid_normal(scaled, shape);
    return Sample(size * (dot(normal, scaled) - length(shape * normal)), normal);
}

// The field, or its box where that is farther: see `level_set.rs`.
fn or_box(point: vec3f, found: Sample, low: vec3f, high: vec3f) -> Sample {
    if low.x > high.x {
        return found;
    }
    let way_out = point - clamp(point, low, high);
    let to_box = length(way_out);
    if to_box > 0.0 && to_box > found.distance {
        return Sample(to_box, direction(way_out, found.gradient));
    }
    return found;
}

fn rotation_at(index: u32) -> mat3x3f {
    return mat3x3f(vector(index), vector(index + 3u), vector(index + 6u));
}

fn run_program(start: u32, start_point: vec3f) -> Sample {
    var points: array<vec3f, 16>;
    var samples: array<Sample, 16>;
    var frames = 0u;
    var count = 0u;
    var point = start_point;
    var at = start;
    while word(at) != END {
        let operation = word(at);
        let first = at + 1u;
        switch operation {
            case SPHERE: {
                if (OPERATIONS & (1u << SPHERE)) != 0u {
                    samples[count] = ball(point, number(first));
                    count++;
                    at = first + 1u;
                }
            }
            case CAPSULE: {
                if (OPERATIONS & (1u << CAPSULE)) != 0u {
                    let half_length = number(first);
                    let beyond = point.z - clamp(point.z, -half_length, half_length);
                    samples[count] = ball(vec3f(point.xy, beyond), number(first + 1u));
                    count++;
                    at = first + 2u;
                }
            }
            case CONE: {
                if (OPERATIONS & (1u << CONE)) != 0u {
                    samples[count] = cone(point, number(first), number(first + 1u), number(first + 2u));
                    count++;
                    at = first + 3u;
                }
            }
            case CUBOID: {
                if (OPERATIONS & (1u << CUBOID)) != 0u {
                    samples[count] = cuboid(point, vector(first));
                    count++;
                    at = first + 3u;
                }
            }
            case ROUNDED_CUBOID: {
                if (OPERATIONS & (1u << ROUNDED_CUBOID)) != 0u {
                    let core = cuboid(point, vector(first));
                    samples[count] = Sample(core.distance - number(first + 3u), core.gradient);
                    count++;
                    at = first + 4u;
                }
            }
            case CYLINDER: {
                if (OPERATIONS & (1u << CYLINDER)) != 0u {
                    samples[count] = cylinder(point, number(first), number(first + 1u));
                    count++;
                    at = first + 2u;
                }
            }
            case ELLIPSOID: {
                if (OPERATIONS & (1u << ELLIPSOID)) != 0u {
                    samples[count] = ellipsoid(point, vector(first));
                    count++;
                    at = first + 3u;
                }
            }
            case HALF_SPACE: {
                if (OPERATIONS & (1u << HALF_SPACE)) != 0u {
                    let normal = vector(first);
                    samples[count] = Sample(dot(normal, point) - number(first + 3u), normal);
                    count++;
                    at = first + 4u;
                }
            }
            case TORUS: {
                if (OPERATIONS & (1u << TORUS)) != 0u {
                    samples[count] = torus(point, number(first), number(first + 1u));
                    count++;
                    at = first + 2u;
                }
            }
            case UNION, INTERSECTION, DIFFERENCE: {
                let a = samples[count - 2u];
                var b = samples[count - 1u];
                var keeps_first = a.distance <= b.distance;
                if operation == DIFFERENCE {
                    b = Sample(-b.distance, -b.gradient);
                }
                if operation != UNION {
                    keeps_first = a.distance >= b.distance;
                }
                count--;
                if !keeps_first {
                    samples[count - 1u] = b;
                }
                at = first;
            }
            case OFFSET: {
                if (OPERATIONS & (1u << OFFSET)) != 0u {
                    let found = or_box(point, samples[count - 1u], vector(first + 1u), vector(first + 4u));
                    samples[count - 1u] = Sample(found.distance - number(first), found.gradient);
                    at = first + 7u;
                }
            }
            case WALL: {
                if (OPERATIONS & (1u << WALL)) != 0u {
                    let found = or_box(point, samples[count - 1u], vector(first + 1u), vector(first + 4u));
                    let inside = found.distance < 0.0;
                    samples[count - 1u] = Sample(
                        abs(found.distance) - 0.5 * number(first),
                        select(found.gradient, -found.gradient, inside),
                    );
                    at = first + 7u;
                }
            }
            case ENTER: {
                points[frames] = point;
                frames++;
                let turned = transpose(rotation_at(first)) * (point - vector(first + 9u));
                point = turned / number(first + 12u);
                at = first + 13u;
            }
            case LEAVE: {
                frames--;
                point = points[frames];
                let own = samples[count - 1u];
                samples[count - 1u] =
                    Sample(number(first + 9u) * own.distance, rotation_at(first) * own.gradient);
                at = first + 10u;
            }
            default: {
                return samples[0];
            }
        }
    }
    return samples[0];
}
