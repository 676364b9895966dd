//! The half-space: everything below a plane.

use glam::{DVec3, Vec3};

use crate::field::bounds::rounding;
use crate::field::closed_form::parameter;
use crate::field::closed_form::parameter::ParameterError;
use crate::field::field::{Field, LowerPlane, Sample};
use crate::field::recipe::Recipe;
use crate::geom::{Aabb, Interval};

/// A half-space: everything on the inner side of a plane, `normal · x ≤ offset`.
///
/// The normal is stored, and the product computed, in `f64`, so a value errs by no more than its
/// own rounding, however far along the plane the point lies. The bounds end at the plane if it
/// faces along an axis; otherwise they are infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    normal: DVec3,
    offset: f64,
}

impl HalfSpace {
    /// Largest value with the stated [`Field::error_bound`] \[m\]; beyond, values round by their
    /// own last place as every `f32` does. This is far enough for bodies that touch the plane. A
    /// larger one would only weaken the error bound of every solid that is cut by a plane.
    pub const REACH: f32 = 10.0;

    /// Builds a half-space from its outward normal, of any length but zero, and the distance of the
    /// plane from the origin along it \[m\].
    pub fn new(normal: Vec3, offset: f32) -> Result<HalfSpace, ParameterError> {
        parameter::coordinate("offset", offset)?;
        let Some(unit) = normal
            .is_finite()
            .then(|| normal.as_dvec3().try_normalize())
            .flatten()
        else {
            return Err(ParameterError {
                parameter: "length of normal",
                value: normal.length(),
                requirement: "finite and more than 0",
            });
        };
        Ok(HalfSpace {
            normal: unit,
            offset: f64::from(offset),
        })
    }

    /// Builds a half-space from a normal that was normalised before: normalising it again could
    /// change its last bits.
    pub(in crate::field) fn again(normal: DVec3, offset: f64) -> Result<HalfSpace, ParameterError> {
        parameter::coordinate("offset", offset as f32)?;
        parameter::require(
            normal.is_normalized(),
            "length of normal",
            normal.length() as f32,
            "1",
        )?;
        Ok(HalfSpace { normal, offset })
    }

    /// Returns the outward unit normal of the plane.
    pub fn normal(self) -> Vec3 {
        self.normal.as_vec3()
    }

    /// Returns the distance of the plane from the origin, along the normal \[m\].
    pub fn offset(self) -> f32 {
        self.offset as f32
    }
}

impl Field for HalfSpace {
    fn bounds(&self) -> Aabb {
        let mut bounds = Aabb::EVERYTHING;
        for axis in 0..3 {
            if self.normal[axis] == 1.0 {
                bounds.max[axis] = self.offset();
            } else if self.normal[axis] == -1.0 {
                bounds.min[axis] = -self.offset();
            }
        }
        bounds
    }

    fn error_bound(&self) -> f32 {
        // One rounding to `f32`; the rounding of `f64` is 2⁻⁵⁰ of coordinates as large as the
        // offset.
        f32::EPSILON * HalfSpace::REACH + (self.offset.abs() * f64::EPSILON * 4.0) as f32
    }

    fn distance(&self, point: Vec3) -> f32 {
        let distance = (self.normal.dot(point.as_dvec3()) - self.offset) as f32;
        distance.clamp(f32::MIN, f32::MAX)
    }

    fn sample(&self, point: Vec3) -> Sample {
        Sample {
            distance: self.distance(point),
            gradient: self.normal(),
        }
    }

    /// Returns an interval that is exact but for rounding: the value is linear, so its ends lie at
    /// corners of the cell.
    fn interval(&self, cell: Aabb) -> Interval {
        let cell = cell.as_daabb();
        if !cell.is_finite() {
            return Interval::EVERYTHING;
        }
        let positive = self.normal.cmpgt(DVec3::ZERO);
        let value = |corner: DVec3| self.normal.dot(corner) - self.offset;
        let lower = value(DVec3::select(positive, cell.min, cell.max)) as f32;
        let upper = value(DVec3::select(positive, cell.max, cell.min)) as f32;
        // Rounding to `f32` is the last place of the ends; that of `f64` is 2⁻⁵⁰ of the
        // coordinates.
        let magnitude = cell.min.abs().max(cell.max.abs()).max_element() + self.offset.abs();
        let slack = |end: f32| f32::EPSILON * end.abs() + (magnitude * f64::EPSILON * 8.0) as f32;
        Interval::new(
            (lower - slack(lower)).next_down(),
            (upper + slack(upper)).next_up(),
        )
    }

    fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
        rounding::plane_of_convex(cell, self.offset().abs(), |point| self.sample(point))
    }

    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::HalfSpace(self.normal.to_array(), self.offset))
    }
}
