//! The capsule: all points within a radius of a segment.

use glam::Vec3;

use crate::field::bounds::rounding;
use crate::field::closed_form::parameter;
use crate::field::closed_form::parameter::ParameterError;
use crate::field::field::{Field, LowerPlane, Sample};
use crate::field::recipe::Recipe;
use crate::geom::{Aabb, Interval};

/// A capsule: all points within a radius of a segment of the z axis. On the segment the gradient is
/// +x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    half_length: f32,
    radius: f32,
}

impl Capsule {
    /// Builds a capsule from half the length of the segment, which runs from `z = −half_length` to
    /// `half_length`, and the radius \[m\].
    pub fn new(half_length: f32, radius: f32) -> Result<Capsule, ParameterError> {
        Ok(Capsule {
            half_length: parameter::size("half_length", half_length)?,
            radius: parameter::size("radius", radius)?,
        })
    }

    /// Returns half the length of the segment \[m\].
    pub fn half_length(self) -> f32 {
        self.half_length
    }

    /// Returns the radius \[m\].
    pub fn radius(self) -> f32 {
        self.radius
    }

    /// Returns the vector from the nearest point of the segment to `point`.
    fn beyond_segment(self, point: Vec3) -> Vec3 {
        point.with_z(point.z - point.z.clamp(-self.half_length, self.half_length))
    }
}

impl Field for Capsule {
    fn bounds(&self) -> Aabb {
        // The sum rounds; one step up contains the tips.
        let top = (self.half_length + self.radius).next_up();
        Aabb::from_center(Vec3::ZERO, Vec3::new(self.radius, self.radius, top))
    }

    fn error_bound(&self) -> f32 {
        rounding::error_of(self.half_length + self.radius)
    }

    fn distance(&self, point: Vec3) -> f32 {
        rounding::length(self.beyond_segment(point)) - self.radius
    }

    fn sample(&self, point: Vec3) -> Sample {
        Sample {
            distance: self.distance(point),
            gradient: rounding::direction(self.beyond_segment(point)).unwrap_or(Vec3::X),
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        let size = self.half_length + self.radius;
        rounding::interval_of_even_convex(cell, size, |point| self.distance(point))
    }

    fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
        let size = self.half_length + self.radius;
        rounding::plane_of_convex(cell, size, |point| self.sample(point))
    }

    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::Capsule([self.half_length, self.radius]))
    }
}
