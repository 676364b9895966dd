//! The upright cylinder with its two flat ends.

use glam::{Vec2, Vec3};

use crate::field::bounds::rounding;
use crate::field::closed_form::parameter;
use crate::field::closed_form::parameter::ParameterError;
use crate::field::closed_form::primitive::{profile, radial};
use crate::field::field::{Field, LowerPlane, Sample};
use crate::field::recipe::Recipe;
use crate::geom::{Aabb, Interval};

/// A cylinder around the z axis, closed by flat ends. Where an end and the side are equally near,
/// the gradient points to the side. On the axis the side is +x, on the middle plane the end is +z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    half_height: f32,
    radius: f32,
}

impl Cylinder {
    /// Builds a cylinder from half its height and its radius \[m\].
    pub fn new(half_height: f32, radius: f32) -> Result<Cylinder, ParameterError> {
        Ok(Cylinder {
            half_height: parameter::size("half_height", half_height)?,
            radius: parameter::size("radius", radius)?,
        })
    }

    /// Returns half the height \[m\].
    pub fn half_height(self) -> f32 {
        self.half_height
    }

    /// Returns the radius \[m\].
    pub fn radius(self) -> f32 {
        self.radius
    }

    /// Returns how far a point lies beyond the side, and beyond the nearer end; negative inside
    /// \[m\].
    fn beyond(self, point: Vec3) -> Vec2 {
        profile(point).abs() - Vec2::new(self.radius, self.half_height)
    }
}

impl Field for Cylinder {
    fn bounds(&self) -> Aabb {
        Aabb::from_center(
            Vec3::ZERO,
            Vec3::new(self.radius, self.radius, self.half_height),
        )
    }

    fn error_bound(&self) -> f32 {
        rounding::error_of(self.half_height.max(self.radius))
    }

    fn distance(&self, point: Vec3) -> f32 {
        let beyond = self.beyond(point);
        rounding::length2(beyond.max(Vec2::ZERO)) + beyond.max_element().min(0.0)
    }

    fn sample(&self, point: Vec3) -> Sample {
        let beyond = self.beyond(point);
        let side = radial(point);
        let end = if point.z < 0.0 { -Vec3::Z } else { Vec3::Z };
        let outward = side * beyond.x.max(0.0) + end * beyond.y.max(0.0);
        let gradient =
            rounding::direction(outward).unwrap_or(if beyond.x >= beyond.y { side } else { end });
        Sample {
            distance: self.distance(point),
            gradient,
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        let size = self.half_height.max(self.radius);
        rounding::interval_of_even_convex(cell, size, |point| self.distance(point))
    }

    fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
        let size = self.half_height.max(self.radius);
        rounding::plane_of_convex(cell, size, |point| self.sample(point))
    }

    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::Cylinder([self.half_height, self.radius]))
    }
}
