// Sphere tracing of pictures, after `trace.rs` and `render.rs` of the picture crate: the light
// through a position on the picture, and the body that it comes from.

struct View {
    // Position, and the width of a pixel at distance 1.
    origin: vec4f,
    // Each with one more number: the centre of the picture, and its height [px].
    right: vec4f,
    up: vec4f,
    forward: vec4f,
    // Direction to the light, and the diagonal of the box around all bodies.
    to_light: vec4f,
    // Position of the world's origin in the scene, and the step of the ground's grid.
    scene_from_world: vec4f,
    // Height of the ground; its second number is 1 if there is one.
    ground: vec2f,
    bodies: u32,
    places: u32,
}

struct Body {
    low: vec3f,
    smoothing: f32,
    high: vec3f,
    error: f32,
    albedo: vec3f,
    shape: u32,
    // Unit quaternion and translation of `field_from_scene`.
    rotation: vec4f,
    translation: vec3f,
    spare: u32,
}

@group(1) @binding(0) var<uniform> view: View;
@group(1) @binding(1) var<storage, read> bodies: array<Body>;
@group(1) @binding(2) var<storage, read> places: array<vec2f>;
// Light, and the bits of the body's index.
@group(1) @binding(3) var<storage, read_write> lit: array<vec4f>;

const BACKDROP: u32 = 0xffffu;
const LIGHT_SPREAD: f32 = 0.11;

struct Ray {
    origin: vec3f,
    direction: vec3f,
}

struct Range {
    enter: f32,
    leave: f32,
}

struct Hit {
    body: u32,
    t: f32,
}

fn turned(q: vec4f, v: vec3f) -> vec3f {
    let t = 2.0 * cross(q.xyz, v);
    return v + q.w * t + cross(q.xyz, t);
}

fn turned_back(q: vec4f, v: vec3f) -> vec3f {
    return turned(vec4f(-q.xyz, q.w), v);
}

fn into_field(body: Body, point: vec3f) -> vec3f {
    return turned(body.rotation, point) + body.translation;
}

fn ray_into_field(body: Body, ray: Ray) -> Ray {
    return Ray(into_field(body, ray.origin), turned(body.rotation, ray.direction));
}

fn ray_at(ray: Ray, t: f32) -> vec3f {
    return ray.origin + t * ray.direction;
}

// The part of a ray in a box; empty if `enter >= leave`.
fn clip(ray: Ray, low: vec3f, high: vec3f, t_max: f32) -> Range {
    var range = Range(0.0, t_max);
    for (var axis = 0u; axis < 3u; axis++) {
        let direction = ray.direction[axis];
        let origin = ray.origin[axis];
        if direction == 0.0 {
            if origin < low[axis] || origin > high[axis] {
                return Range(1.0, 0.0);
            }
            continue;
        }
        let a = (low[axis] - origin) / direction;
        let b = (high[axis] - origin) / direction;
        range.enter = max(range.enter, min(a, b));
        range.leave = min(range.leave, max(a, b));
    }
    return range;
}

fn field_distance(body: Body, point: vec3f) -> f32 {
    return sample_shape(body.shape, point).distance;
}

// A distance that is never more than the true one, also outside the box.
fn safe_distance(body: Body, point: vec3f) -> f32 {
    let nearest = clamp(point, body.low, body.high);
    let inside = field_distance(body, nearest);
    if all(nearest == point) {
        return inside;
    }
    let way = point - nearest;
    let at_box = max(inside, 0.0);
    return sqrt(at_box * at_box + dot(way, way));
}

// Where a ray first enters a body before `t_max`; -1 if it does not.
fn hit_body(body: Body, scene_ray: Ray, t_max: f32) -> f32 {
    let ray = ray_into_field(body, scene_ray);
    let range = clip(ray, body.low, body.high, t_max);
    if range.enter >= range.leave {
        return -1.0;
    }
    var outside = range.enter;
    var t = range.enter;
    for (var step = 0u; step < 256u; step++) {
        let distance = field_distance(body, ray_at(ray, t));
        if distance <= 0.0 {
            var inside = t;
            for (var i = 0u; i < 20u; i++) {
                let middle = 0.5 * (outside + inside);
                if field_distance(body, ray_at(ray, middle)) <= 0.0 {
                    inside = middle;
                } else {
                    outside = middle;
                }
            }
            return outside;
        }
        if t >= range.leave {
            return -1.0;
        }
        outside = t;
        let least = 0.25 * view.origin.w * t * (1.0 + f32(step) / 32.0);
        let safe = max(distance - body.error, 0.5 * distance);
        t = min(max(t + max(safe, least), t * 1.0000002), range.leave);
    }
    return -1.0;
}

fn hit_scene(ray: Ray) -> Hit {
    var nearest = Hit(BACKDROP, 1e30);
    for (var index = 0u; index < view.bodies; index++) {
        let t = hit_body(bodies[index], ray, nearest.t);
        if t >= 0.0 {
            nearest = Hit(index, t);
        }
    }
    return nearest;
}

fn normal_at(body: Body, scene_point: vec3f, footprint: f32, otherwise: vec3f) -> vec3f {
    let point = into_field(body, scene_point);
    let step = max(footprint, body.smoothing);
    let x = vec3f(step, 0.0, 0.0);
    let y = vec3f(0.0, step, 0.0);
    let z = vec3f(0.0, 0.0, step);
    let gradient = vec3f(
        safe_distance(body, point + x) - safe_distance(body, point - x),
        safe_distance(body, point + y) - safe_distance(body, point - y),
        safe_distance(body, point + z) - safe_distance(body, point - z),
    ) / step;
    if dot(gradient, gradient) == 0.0 {
        return otherwise;
    }
    return turned_back(body.rotation, direction(gradient, otherwise));
}

// The share of the key light that one body lets through.
fn light_past(body: Body, scene_ray: Ray) -> f32 {
    let size = view.to_light.w;
    let ray = ray_into_field(body, scene_ray);
    let reach = 0.5 * LIGHT_SPREAD * size;
    let range = clip(ray, body.low - reach, body.high + reach, 4.0 * size);
    if range.enter >= range.leave {
        return 1.0;
    }
    var light = 1.0;
    var t = max(range.enter, 2e-3 * size);
    for (var step = 0u; step < 64u; step++) {
        let distance = safe_distance(body, ray_at(ray, t));
        light = min(light, 0.5 + 0.5 * distance / (LIGHT_SPREAD * t));
        if light <= 0.0 || t >= range.leave {
            break;
        }
        t += clamp(abs(distance), 4e-3 * size, 0.1 * size);
    }
    light = clamp(light, 0.0, 1.0);
    return light * light * (3.0 - 2.0 * light);
}

fn light_at(point: vec3f) -> f32 {
    var light = 1.0;
    for (var index = 0u; index < view.bodies; index++) {
        light = min(light, light_past(bodies[index], Ray(point, view.to_light.xyz)));
    }
    return light;
}

// The share of the sky that is visible from a point.
fn sky_at(point: vec3f, normal: vec3f) -> f32 {
    let reach = 0.14 * view.to_light.w;
    var heights: array<f32, 5>;
    var free: array<f32, 5>;
    for (var i = 0u; i < 5u; i++) {
        let share = f32(i + 1u) / 5.0;
        heights[i] = reach * share * share;
        free[i] = heights[i];
    }
    for (var index = 0u; index < view.bodies; index++) {
        let body = bodies[index];
        let start = into_field(body, point);
        let away = start - clamp(start, body.low, body.high);
        if dot(away, away) >= 4.0 * reach * reach {
            continue;
        }
        let along = turned(body.rotation, normal);
        for (var i = 0u; i < 5u; i++) {
            let at = start + heights[i] * along;
            let way = at - clamp(at, body.low, body.high);
            if dot(way, way) < free[i] * free[i] {
                free[i] = min(free[i], safe_distance(body, at));
            }
        }
    }
    var hidden = 0.0;
    var total = 0.0;
    var weight = 1.0;
    for (var i = 0u; i < 5u; i++) {
        if view.ground.y == 1.0 {
            free[i] = min(free[i], point.z + heights[i] * normal.z - view.ground.x);
        }
        hidden += weight * (1.0 - max(free[i], 0.0) / heights[i]);
        total += weight;
        weight *= 0.8;
    }
    return clamp(1.0 - 0.95 * hidden / total, 0.0, 1.0);
}

fn ray_through(place: vec2f) -> Ray {
    let offset = (place - vec2f(view.right.w, view.up.w)) * view.origin.w;
    let towards = view.forward.xyz + offset.x * view.right.xyz - offset.y * view.up.xyz;
    return Ray(view.origin.xyz, direction(towards, view.forward.xyz));
}

fn smooth_step(low: f32, high: f32, value: f32) -> f32 {
    let t = clamp((value - low) / (high - low), 0.0, 1.0);
    return t * t * (3.0 - 2.0 * t);
}

fn backdrop(height: f32) -> vec3f {
    let top = vec3f(0.70, 0.775, 0.86);
    let bottom = vec3f(0.955, 0.96, 0.965);
    return top + (bottom - top) * smooth_step(0.0, 0.85, height);
}

// Where a ray from above hits the ground; -1 if it does not.
fn ground_hit(ray: Ray) -> f32 {
    let height = ray.origin.z - view.ground.x;
    if view.ground.y != 1.0 || height <= 0.0 || ray.direction.z >= 0.0 {
        return -1.0;
    }
    let t = -height / ray.direction.z;
    return select(-1.0, t, t < 1e30);
}

fn grid_line(point: vec3f, place: vec2f) -> f32 {
    let ray_x = ray_through(place + vec2f(1.0, 0.0));
    let ray_y = ray_through(place + vec2f(0.0, 1.0));
    let t_x = ground_hit(ray_x);
    let t_y = ground_hit(ray_y);
    if t_x < 0.0 || t_y < 0.0 {
        return 0.0;
    }
    let dx = (ray_at(ray_x, t_x) - point).xy;
    let dy = (ray_at(ray_y, t_y) - point).xy;
    let footprint = sqrt(dx * dx + dy * dy);
    let step = view.scene_from_world.w;
    let at = (point - view.scene_from_world.xyz).xy / step;
    let from_line = abs(at - round(at)) * step;
    let coverage = clamp(vec2f(1.0) - from_line / footprint, vec2f(0.0), vec2f(1.0));
    let room = clamp((step / footprint - 4.0) / 8.0, vec2f(0.0), vec2f(1.0));
    return max(coverage.x * room.x, coverage.y * room.y);
}

fn shade_backdrop(ray: Ray, place: vec2f) -> vec3f {
    let behind = backdrop(place.y / view.forward.w);
    let t = ground_hit(ray);
    if t < 0.0 {
        return behind;
    }
    let point = ray_at(ray, t);
    let size = view.to_light.w;
    let fade = 1.0 - smooth_step(0.55 * size, 1.7 * size, length(point.xy));
    if fade <= 0.0 {
        return behind;
    }
    let key = light_at(point + vec3f(0.0, 0.0, 1e-3 * size));
    let sky = sky_at(point, vec3f(0.0, 0.0, 1.0));
    let shadow = (1.0 - 0.50 * (1.0 - key)) * (1.0 - 0.55 * (1.0 - sky));
    let lines = 1.0 - 0.13 * grid_line(point, place);
    return behind * (1.0 + (shadow * lines - 1.0) * fade);
}

fn shade_body(ray: Ray, hit: Hit) -> vec3f {
    let body = bodies[hit.body];
    let point = ray_at(ray, hit.t);
    let footprint = hit.t * view.origin.w;
    let normal = normal_at(body, point, 0.75 * footprint, -ray.direction);
    let lifted = point + (footprint + 0.3 * body.smoothing) * normal;
    let facing = max(dot(normal, view.to_light.xyz), 0.0);
    var key = 0.0;
    if facing > 0.0 {
        key = light_at(lifted);
    }
    let sky = sky_at(point, normal);
    let upward = 0.5 + 0.5 * normal.z;
    let key_light = 0.98 * key * facing * vec3f(1.0, 0.965, 0.90);
    let sky_light = 0.42 * sky * upward * vec3f(0.86, 0.94, 1.06);
    let ground_light = 0.26 * sky * (1.0 - upward) * vec3f(1.0, 0.96, 0.92);
    let diffuse = body.albedo * (key_light + sky_light + ground_light);
    let half_way = direction(view.to_light.xyz - ray.direction, vec3f(0.0));
    let gloss = 0.16 * key * pow(max(dot(normal, half_way), 0.0), 48.0);
    let grazing = pow(clamp(1.0 + dot(ray.direction, normal), 0.0, 1.0), 4.0);
    return diffuse + vec3f(gloss + 0.10 * sky * grazing * upward);
}

@compute @workgroup_size(64)
fn shade(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index >= view.places {
        return;
    }
    let place = places[index];
    let ray = ray_through(place);
    let hit = hit_scene(ray);
    var light: vec3f;
    if hit.body == BACKDROP {
        light = shade_backdrop(ray, place);
    } else {
        light = shade_body(ray, hit);
    }
    lit[index] = vec4f(light, bitcast<f32>(hit.body));
}
