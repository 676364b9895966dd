//! The ball around the origin.

use glam::Vec3;

use crate::field::bounds::rounding;
use crate::field::closed_form::parameter;
use crate::field::closed_form::parameter::ParameterError;
use crate::field::field::{Field, LowerPlane, Sample};
use crate::field::recipe::Recipe;
use crate::geom::{Aabb, Interval};

/// A ball around the origin. At the centre the gradient is +x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    radius: f32,
}

impl Sphere {
    /// Builds a ball from its radius \[m\].
    pub fn new(radius: f32) -> Result<Sphere, ParameterError> {
        let radius = parameter::size("radius", radius)?;
        Ok(Sphere { radius })
    }

    /// Returns the radius \[m\].
    pub fn radius(self) -> f32 {
        self.radius
    }
}

impl Field for Sphere {
    fn bounds(&self) -> Aabb {
        Aabb::from_center(Vec3::ZERO, Vec3::splat(self.radius))
    }

    fn error_bound(&self) -> f32 {
        rounding::error_of(self.radius)
    }

    fn distance(&self, point: Vec3) -> f32 {
        rounding::length(point) - self.radius
    }

    fn sample(&self, point: Vec3) -> Sample {
        Sample {
            distance: self.distance(point),
            gradient: rounding::direction(point).unwrap_or(Vec3::X),
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        rounding::interval_of_even_convex(cell, self.radius, |point| self.distance(point))
    }

    fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
        let size = self.radius;
        rounding::plane_of_convex(cell, size, |point| self.sample(point))
    }

    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::Sphere(self.radius))
    }
}
