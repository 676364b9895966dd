//! Rays through bodies backed by fields: first hit, normal, shadow, ambient occlusion.
//!
//! Input: bodies with finite boxes, rays in the scene frame.
//! Output: numbers for the shading in [`mod@super::render`].
//! Cost: some twenty distance samples per ray that crosses a body's box, none otherwise.
//! Not for: proofs. A picture may miss features thinner than a quarter of a pixel.
//!
//! Sphere tracing after \[Hart1996\]. We differ in the end of the march: a ray stops at a change of
//! sign, refined by bisection, not at a small value, so that silhouettes are exact and interpolated
//! fields need no tuned threshold. The minimum step is a fraction of a pixel and grows, so that
//! every march ends. Soft shadows after \[Quilez2010\].

use glam::Vec3;
use touchfield::{
    field::Field,
    geom::{Aabb, Pose},
};

/// Maximum number of steps, after which a ray has missed; the minimum step by then is some two
/// pixels long.
const MAX_STEPS: u32 = 256;
/// Minimum step, in pixels: thinner features may be missed.
const MIN_STEP: f32 = 0.25;
/// Number of bisections of the last step: from less than a pixel's diagonal to the precision of
/// `f32`.
const BISECTIONS: u32 = 20;
/// Tangent of half the angle that the key light subtends: how soft shadows are.
const LIGHT_SPREAD: f32 = 0.11;

/// A ray; `direction` is unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ray {
    pub(super) origin: Vec3,
    pub(super) direction: Vec3,
}

impl Ray {
    pub(super) fn at(self, t: f32) -> Vec3 {
        self.origin + t * self.direction
    }

    fn transformed(self, pose: Pose) -> Ray {
        Ray {
            origin: pose.transform_point(self.origin),
            direction: pose.transform_vector(self.direction),
        }
    }

    /// Returns the range of the ray within `bounds` and before `t_max`; `None` if it misses.
    fn clip(self, bounds: Aabb, t_max: f32) -> Option<(f32, f32)> {
        let (mut enter, mut exit) = (0.0, t_max);
        for axis in 0..3 {
            let (origin, direction) = (self.origin[axis], self.direction[axis]);
            if direction == 0.0 {
                if !(bounds.min[axis]..=bounds.max[axis]).contains(&origin) {
                    return None;
                }
                continue;
            }
            let a = (bounds.min[axis] - origin) / direction;
            let b = (bounds.max[axis] - origin) / direction;
            enter = f32::max(enter, a.min(b));
            exit = f32::min(exit, a.max(b));
        }
        (enter < exit).then_some((enter, exit))
    }
}

/// One body, ready for ray queries.
pub(super) struct Body<'a> {
    pub(super) field: &'a dyn Field,
    pub(super) bounds: Aabb,
    pub(super) field_from_scene: Pose,
    pub(super) scene_from_field: Pose,
    /// Reflected share of linear light.
    pub(super) albedo: Vec3,
    /// Minimum length over which normals are computed \[m\].
    pub(super) smoothing: f32,
}

impl Body<'_> {
    /// Returns a distance that is never more than the true one, also outside the box.
    ///
    /// For p outside the box, q the nearest point of the box and s any point of the solid, the
    /// angle at q is at least a right angle, since the box is convex and contains s:
    /// `|ps|² ≥ |pq|² + |qs|²`. Unlike a field's own bound out there, this one never decreases on
    /// the way outward, which would show as a ring in soft shadows.
    fn distance(&self, point_in_field: Vec3) -> f32 {
        let nearest = self.bounds.closest_point(point_in_field);
        let inside = self.field.distance(nearest);
        if nearest == point_in_field {
            inside
        } else {
            let inside = inside.max(0.0);
            (inside * inside + (point_in_field - nearest).length_squared()).sqrt()
        }
    }

    /// Returns where `ray` first enters the solid before `t_max`. `pixel` is the width of a pixel
    /// at t = 1.
    pub(super) fn hit(&self, ray: Ray, pixel: f32, t_max: f32) -> Option<f32> {
        let ray = ray.transformed(self.field_from_scene);
        let (enter, exit) = ray.clip(self.bounds, t_max)?;
        let error = self.field.error_bound();
        let mut outside = enter;
        let mut t = enter;
        for step in 0..MAX_STEPS {
            let distance = self.field.distance(ray.at(t));
            if distance <= 0.0 {
                return Some(self.refine(ray, outside, t));
            }
            if distance.is_nan() || t >= exit {
                return None;
            }
            outside = t;
            let least = MIN_STEP * pixel * t * (1.0 + step as f32 / 32.0);
            // Values may be too large by the error, but subtracting it near the surface would leave
            // no step at all.
            let safe = (distance - error).max(0.5 * distance);
            // Advancing by at least one ulp keeps rays moving that start at t = 0.
            t = (t + safe.max(least)).max(t.next_up()).min(exit);
        }
        None
    }

    /// Refines the change of sign between `outside` and `inside` by bisection.
    fn refine(&self, ray: Ray, mut outside: f32, mut inside: f32) -> f32 {
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (outside + inside);
            if self.field.distance(ray.at(middle)) <= 0.0 {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        outside
    }

    /// Returns the unit normal at a point near the surface, from differences over `step` \[m\];
    /// `fallback` where the field is flat.
    pub(super) fn normal(&self, point: Vec3, step: f32, fallback: Vec3) -> Vec3 {
        let point = self.field_from_scene.transform_point(point);
        let step = step.max(self.smoothing);
        let difference =
            |axis: Vec3| self.distance(point + step * axis) - self.distance(point - step * axis);
        let gradient = Vec3::new(
            difference(Vec3::X),
            difference(Vec3::Y),
            difference(Vec3::Z),
        ) / step;
        match gradient.try_normalize() {
            Some(normal) => self.scene_from_field.transform_vector(normal),
            None => fallback,
        }
    }

    /// Returns the share of the key light that arrives along `ray`, which starts on a surface and
    /// points at the light.
    fn light(&self, ray: Ray, size: f32) -> f32 {
        let ray = ray.transformed(self.field_from_scene);
        let reach = 0.5 * LIGHT_SPREAD * size;
        let Some((enter, exit)) = ray.clip(self.bounds.grown(reach), 4.0 * size) else {
            return 1.0;
        };
        let mut light: f32 = 1.0;
        let mut t = enter.max(2e-3 * size);
        for _ in 0..64 {
            let distance = self.distance(ray.at(t));
            light = light.min(0.5 + 0.5 * distance / (LIGHT_SPREAD * t));
            if light <= 0.0 || t >= exit {
                break;
            }
            t += distance.abs().clamp(4e-3 * size, 0.1 * size);
        }
        let light = light.clamp(0.0, 1.0);
        light * light * (3.0 - 2.0 * light)
    }
}

/// All bodies, and the ground if there is one.
pub(super) struct Scene<'a> {
    pub(super) bodies: Vec<Body<'a>>,
    /// Height of the ground \[m\].
    pub(super) ground: Option<f32>,
    /// Diagonal of the box around all bodies \[m\].
    pub(super) size: f32,
}

impl Scene<'_> {
    /// Returns the nearest body along `ray`, and its ray parameter.
    pub(super) fn hit(&self, ray: Ray, pixel: f32) -> Option<(usize, f32)> {
        let mut nearest = None;
        let mut t_max = f32::INFINITY;
        for (index, body) in self.bodies.iter().enumerate() {
            if let Some(t) = body.hit(ray, pixel, t_max) {
                nearest = Some((index, t));
                t_max = t;
            }
        }
        nearest
    }

    /// Returns the share of the key light that reaches `point`.
    pub(super) fn light(&self, point: Vec3, to_light: Vec3) -> f32 {
        let ray = Ray {
            origin: point,
            direction: to_light,
        };
        let lights = self.bodies.iter().map(|body| body.light(ray, self.size));
        lights.fold(1.0, f32::min)
    }

    /// Returns the share of the sky that is visible from `point`, from samples along `normal`: how
    /// much nearer to a surface each sample is than to `point`.
    pub(super) fn sky(&self, point: Vec3, normal: Vec3) -> f32 {
        const SAMPLES: usize = 5;
        let reach = 0.14 * self.size;
        let heights: [f32; SAMPLES] =
            std::array::from_fn(|i| reach * ((i + 1) as f32 / SAMPLES as f32).powi(2));
        let mut free = heights;
        for body in &self.bodies {
            let start = body.field_from_scene.transform_point(point);
            // A sample at height h is farther than h from everything farther than 2h from the
            // start.
            if body.bounds.distance_squared(start) >= 4.0 * reach * reach {
                continue;
            }
            let direction = body.field_from_scene.transform_vector(normal);
            for (free, height) in free.iter_mut().zip(heights) {
                let sample = start + height * direction;
                if body.bounds.distance_squared(sample) < *free * *free {
                    *free = free.min(body.distance(sample));
                }
            }
        }
        let (mut hidden, mut total) = (0.0, 0.0);
        let mut weight = 1.0;
        for (mut free, height) in free.into_iter().zip(heights) {
            if let Some(ground) = self.ground {
                free = free.min(point.z + height * normal.z - ground);
            }
            hidden += weight * (1.0 - free.max(0.0) / height);
            total += weight;
            weight *= 0.8;
        }
        (1.0 - 0.95 * hidden / total).clamp(0.0, 1.0)
    }

    /// Returns the height of the lowest point of all bodies, found with a grid of upward rays.
    pub(super) fn lowest(&self) -> Option<f32> {
        const COMB: u32 = 96;
        let mut lowest = f32::INFINITY;
        for body in &self.bodies {
            let corners = body.bounds.corners();
            let bounds = Aabb::of_points(corners.map(|c| body.scene_from_field.transform_point(c)));
            let sides = bounds.extents();
            let start = bounds.min.z - 0.1 * self.size;
            for i in 0..COMB * COMB {
                let x = bounds.min.x + sides.x * ((i % COMB) as f32 + 0.5) / COMB as f32;
                let y = bounds.min.y + sides.y * ((i / COMB) as f32 + 0.5) / COMB as f32;
                let ray = Ray {
                    origin: Vec3::new(x, y, start),
                    direction: Vec3::Z,
                };
                let t_max = lowest - start;
                if let Some(t) = body.hit(ray, 2e-3, t_max) {
                    lowest = lowest.min(start + t);
                }
            }
        }
        lowest.is_finite().then_some(lowest)
    }
}
