//! Boxes, sharp and rounded.

use glam::Vec3;

use crate::field::bounds::rounding;
use crate::field::closed_form::parameter;
use crate::field::closed_form::parameter::ParameterError;
use crate::field::field::{Field, LowerPlane, Sample};
use crate::field::recipe::Recipe;
use crate::geom::{Aabb, Interval};

/// A box around the origin. Inside, the gradient points to the nearest face: of equally near ones,
/// x before y before z, and the positive side on a middle plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    half_extents: Vec3,
}

impl Cuboid {
    /// Builds a box from half its sides \[m\].
    pub fn new(half_extents: Vec3) -> Result<Cuboid, ParameterError> {
        let half_extents = parameter::half_extents(half_extents)?;
        Ok(Cuboid { half_extents })
    }

    /// Returns half the sides \[m\].
    pub fn half_extents(self) -> Vec3 {
        self.half_extents
    }
}

impl Field for Cuboid {
    fn bounds(&self) -> Aabb {
        Aabb::from_center(Vec3::ZERO, self.half_extents)
    }

    fn error_bound(&self) -> f32 {
        rounding::error_of(self.half_extents.max_element())
    }

    fn distance(&self, point: Vec3) -> f32 {
        let beyond = point.abs() - self.half_extents;
        rounding::length(beyond.max(Vec3::ZERO)) + beyond.max_element().min(0.0)
    }

    fn sample(&self, point: Vec3) -> Sample {
        let beyond = point.abs() - self.half_extents;
        let outward = rounding::direction(beyond.max(Vec3::ZERO)).unwrap_or_else(|| {
            let deepest = beyond.max_element();
            if beyond.x == deepest {
                Vec3::X
            } else if beyond.y == deepest {
                Vec3::Y
            } else {
                Vec3::Z
            }
        });
        Sample {
            distance: self.distance(point),
            gradient: Vec3::select(point.cmplt(Vec3::ZERO), -outward, outward),
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        let size = self.half_extents.max_element();
        rounding::interval_of_even_convex(cell, size, |point| self.distance(point))
    }

    fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
        let size = self.half_extents.max_element();
        rounding::plane_of_convex(cell, size, |point| self.sample(point))
    }

    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::Cuboid(self.half_extents.to_array()))
    }
}

/// A box whose edges and corners are rounded by a ball. Its gradient follows the rules of
/// [`Cuboid`].
///
/// It is a smaller box grown by the radius. Both are convex, and growing a convex body subtracts
/// the radius from the signed distance inside as well as outside: in
/// `max over unit n of (n·x − h(n))` the support function `h` becomes `h + radius`. So it stays a
/// true distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundedCuboid {
    core: Cuboid,
    half_extents: Vec3,
    radius: f32,
}

impl RoundedCuboid {
    /// Builds a box from half its outer sides and the radius of its edges \[m\], at most the
    /// smallest half side.
    pub fn new(half_extents: Vec3, radius: f32) -> Result<RoundedCuboid, ParameterError> {
        Cuboid::new(half_extents)?;
        parameter::size("radius", radius)?;
        parameter::require(
            radius <= half_extents.min_element(),
            "radius",
            radius,
            "at most the smallest half extent",
        )?;
        Ok(RoundedCuboid {
            core: Cuboid {
                half_extents: half_extents - Vec3::splat(radius),
            },
            half_extents,
            radius,
        })
    }

    /// Returns half the outer sides \[m\].
    pub fn half_extents(self) -> Vec3 {
        self.half_extents
    }

    /// Returns the radius of edges and corners \[m\].
    pub fn radius(self) -> f32 {
        self.radius
    }
}

impl Field for RoundedCuboid {
    fn bounds(&self) -> Aabb {
        Aabb::from_center(Vec3::ZERO, self.half_extents)
    }

    fn error_bound(&self) -> f32 {
        rounding::error_of(self.half_extents.max_element())
    }

    fn distance(&self, point: Vec3) -> f32 {
        self.core.distance(point) - self.radius
    }

    fn sample(&self, point: Vec3) -> Sample {
        Sample {
            distance: self.distance(point),
            gradient: self.core.sample(point).gradient,
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        let size = self.half_extents.max_element();
        rounding::interval_of_even_convex(cell, size, |point| self.distance(point))
    }

    fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
        let size = self.half_extents.max_element();
        rounding::plane_of_convex(cell, size, |point| self.sample(point))
    }

    fn recipe(&self) -> Option<Recipe> {
        let half_extents = self.half_extents.to_array();
        Some(Recipe::RoundedCuboid(half_extents, self.radius))
    }
}
