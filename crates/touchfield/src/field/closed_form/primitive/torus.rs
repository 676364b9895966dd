//! The torus.

use glam::{Vec2, Vec3};

use crate::field::bounds::rounding;
use crate::field::closed_form::parameter;
use crate::field::closed_form::parameter::ParameterError;
use crate::field::closed_form::primitive::{profile, radial};
use crate::field::field::{Field, Sample};
use crate::field::recipe::Recipe;
use crate::geom::{Aabb, Interval};

/// A torus around the z axis: all points within a minor radius of a circle in the plane z = 0. On
/// that circle the gradient points away from the axis. On the axis, where a whole circle is equally
/// near, it points to the side of −x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torus {
    major_radius: f32,
    minor_radius: f32,
}

impl Torus {
    /// Builds a torus from the radius of the circle and that of the tube \[m\]. The tube may not
    /// reach beyond the axis, where it would overlap itself and the formula would only be a bound.
    pub fn new(major_radius: f32, minor_radius: f32) -> Result<Torus, ParameterError> {
        parameter::size("major_radius", major_radius)?;
        parameter::size("minor_radius", minor_radius)?;
        parameter::require(
            minor_radius <= major_radius,
            "minor_radius",
            minor_radius,
            "at most the major radius",
        )?;
        Ok(Torus {
            major_radius,
            minor_radius,
        })
    }

    /// Returns the radius of the circle \[m\].
    pub fn major_radius(self) -> f32 {
        self.major_radius
    }

    /// Returns the radius of the tube \[m\].
    pub fn minor_radius(self) -> f32 {
        self.minor_radius
    }

    fn beyond_circle(self, point: Vec3) -> Vec2 {
        profile(point) - Vec2::new(self.major_radius, 0.0)
    }
}

impl Field for Torus {
    fn bounds(&self) -> Aabb {
        // The sum rounds; one step up contains the rim.
        let rim = (self.major_radius + self.minor_radius).next_up();
        Aabb::from_center(Vec3::ZERO, Vec3::new(rim, rim, self.minor_radius))
    }

    fn error_bound(&self) -> f32 {
        rounding::error_of(self.major_radius + self.minor_radius)
    }

    fn distance(&self, point: Vec3) -> f32 {
        rounding::length2(self.beyond_circle(point)) - self.minor_radius
    }

    fn sample(&self, point: Vec3) -> Sample {
        let away = radial(point);
        let from_circle = self.beyond_circle(point);
        let gradient =
            rounding::direction(away * from_circle.x + Vec3::Z * from_circle.y).unwrap_or(away);
        Sample {
            distance: self.distance(point),
            gradient,
        }
    }

    /// Returns an interval that is exact but for rounding. Distance from the axis and height each
    /// sweep a range of their own over the cell, and the distance grows with how far either is from
    /// the circle.
    fn interval(&self, cell: Aabb) -> Interval {
        let farthest = cell.min.abs().max(cell.max.abs());
        if !farthest.is_finite() {
            return Interval::EVERYTHING;
        }
        let nearest = cell.closest_point(Vec3::ZERO).abs();
        let radii = [profile(nearest).x, profile(farthest).x];
        let inner = radii.map(|radius| radius - self.major_radius);
        let least = Vec2::new(inner[0].max(-inner[1]).max(0.0), nearest.z);
        let most = Vec2::new(inner[0].abs().max(inner[1].abs()), farthest.z);
        Interval::new(
            rounding::length2(least) - self.minor_radius,
            rounding::length2(most) - self.minor_radius,
        )
        .grown(rounding::slack(
            farthest.max_element() + self.major_radius + self.minor_radius,
        ))
    }

    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::Torus([self.major_radius, self.minor_radius]))
    }
}
