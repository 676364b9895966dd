//! The camera of a render, placed so that the bodies fill the frame.
//!
//! Input: points to frame, the direction to look from. Output: rays through pixels, pixels of
//! points.
//! Cost: negligible; [`Camera::visible_points`] traces a coarse raster once.
//! Not for: views from within a body.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::{
    render::{FILL, RenderSettings},
    trace::{Ray, Scene},
};

/// Tangent of half the vertical field of view: a long lens with little distortion.
const HALF_OPENING: f32 = 0.26;

/// A pinhole camera.
pub(super) struct Camera {
    pub(super) origin: Vec3,
    pub(super) right: Vec3,
    pub(super) up: Vec3,
    pub(super) forward: Vec3,
    /// Width of a pixel at distance 1 (unitless).
    pub(super) pixel: f32,
    /// Centre of the picture \[px\].
    pub(super) centre: Vec2,
}

impl Camera {
    /// Builds a camera that looks at `points` such that all of them fit into the frame.
    pub(super) fn framing(points: &[Vec3], settings: &RenderSettings) -> Camera {
        let (sin_a, cos_a) = settings.azimuth.sin_cos();
        let (sin_e, cos_e) = settings.elevation.sin_cos();
        let forward = -Vec3::new(cos_e * cos_a, cos_e * sin_a, sin_e);
        // Not derived from the world's up axis: looking straight down would leave no direction.
        let right = Vec3::new(-sin_a, cos_a, 0.0);
        let up = right.cross(forward);
        let size = Vec2::new(settings.width as f32, settings.height as f32);
        // The shorter side has the field of view, so that portrait and landscape are alike.
        let pixel = 2.0 * HALF_OPENING / size.min_element();
        let half = 0.5 * pixel * size * FILL;

        let mut target = Vec3::ZERO;
        let mut distance = 0.0;
        // Perspective enlarges the near side: centre the outline, then measure again.
        for _ in 0..4 {
            distance = points
                .iter()
                .map(|&p| {
                    let p = p - target;
                    let needed = Vec2::new(p.dot(right), p.dot(up)).abs() / half;
                    needed.max_element() - p.dot(forward)
                })
                .fold(0.0, f32::max);
            let seen = points.iter().map(|&p| {
                let p = p - target;
                Vec2::new(p.dot(right), p.dot(up))
                    / (p.dot(forward) + distance).max(1e-6 * distance)
            });
            let (min, max) = seen.fold((Vec2::INFINITY, Vec2::NEG_INFINITY), |(min, max), p| {
                (min.min(p), max.max(p))
            });
            let shift = 0.5 * (min + max) * distance;
            target += shift.x * right + shift.y * up;
        }
        Camera {
            origin: target - distance * forward,
            right,
            up,
            forward,
            pixel: pixel / settings.zoom,
            centre: 0.5 * size,
        }
    }

    /// Returns the points where a coarse raster of rays hits the bodies.
    pub(super) fn visible_points(&self, scene: &Scene, settings: &RenderSettings) -> Vec<Vec3> {
        const RASTER: u32 = 96;
        // The whole frame, whatever the zoom.
        let size = 2.0 * self.centre * settings.zoom;
        let corner = self.centre - 0.5 * size;
        let places = (0..RASTER * RASTER).into_par_iter();
        let hits = places.filter_map(|i| {
            let part =
                Vec2::new((i % RASTER) as f32 + 0.5, (i / RASTER) as f32 + 0.5) / RASTER as f32;
            let ray = self.ray(corner + size * part);
            let (_, t) = scene.hit(ray, self.pixel)?;
            Some(ray.at(t))
        });
        hits.collect()
    }

    /// Returns the ray through a position on the picture \[px\].
    pub(super) fn ray(&self, place: Vec2) -> Ray {
        let offset = (place - self.centre) * self.pixel;
        let direction = self.forward + offset.x * self.right - offset.y * self.up;
        Ray {
            origin: self.origin,
            direction: direction.normalize_or(self.forward),
        }
    }

    /// Returns the position of a point on the picture \[px\]; `None` if it is behind the camera.
    pub(super) fn place(&self, point: Vec3) -> Option<Vec2> {
        let p = point - self.origin;
        let depth = p.dot(self.forward);
        (depth > 0.0).then(|| {
            let offset = Vec2::new(p.dot(self.right), -p.dot(self.up)) / (depth * self.pixel);
            self.centre + offset
        })
    }
}
