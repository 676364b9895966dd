//! A field that is rotated, moved and scaled.
//!
//! Input: a field, the pose of its frame in the parent's, a uniform scale.
//! Output: the same solid in the parent's frame.
//! Cost: one rotation per value, two per sample.
//! Not for: scale that differs between axes, which does not preserve distances.
//!
//! \[Krayer2020\], Eq. 4–5: `s'(x) = a · s(Rᵀ(x − t) / a)` and `∇s'(x) = R ∇s`. A similarity maps
//! balls to balls, so a distance stays a distance and a bound a bound. Its error is scaled, and the
//! rounding of the moved point is added.

use glam::{Mat3, Vec3};

use crate::field::bounds::rounding;
use crate::field::bounds::rounding::CellBall;
use crate::field::closed_form::parameter;
use crate::field::closed_form::parameter::{LARGEST_SIZE, ParameterError};
use crate::field::field::{Field, Meaning, Sample};
use crate::field::recipe::Recipe;
use crate::geom::{Aabb, Interval, Pose, turned_half_extents};

/// Largest coordinate at which a field is sampled \[m\]: a tenth of the `f32` range, so that
/// lengths do not overflow.
const FARTHEST: f32 = 1e37;

/// A field in the frame of a parent: rotated, scaled uniformly, moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transformed<F> {
    field: F,
    parent_from_field: Pose,
    scale: f32,
}

impl<F: Field> Transformed<F> {
    /// Largest deviation of a quaternion's length from 1. Up to this it is rounding noise of a long
    /// product; more is a mistake.
    const UNIT_TOLERANCE: f32 = 1e-3;

    /// Places a field in a parent frame: enlarges the solid by `scale`, then poses it.
    pub fn new(
        field: F,
        parent_from_field: Pose,
        scale: f32,
    ) -> Result<Transformed<F>, ParameterError> {
        let Pose {
            rotation,
            translation,
        } = parent_from_field;
        parameter::require(
            (1.0 / LARGEST_SIZE..=LARGEST_SIZE).contains(&scale),
            "scale",
            scale,
            "from 1e-15 to 1e15",
        )?;
        parameter::coordinate("translation.x", translation.x)?;
        parameter::coordinate("translation.y", translation.y)?;
        parameter::coordinate("translation.z", translation.z)?;
        parameter::require(
            (rotation.length() - 1.0).abs() <= Self::UNIT_TOLERANCE,
            "length of rotation",
            rotation.length(),
            "1, within 0.001",
        )?;
        let rotation = rotation.as_dquat().normalize().as_quat();
        Ok(Transformed {
            field,
            parent_from_field: Pose {
                rotation,
                translation,
            },
            scale,
        })
    }

    /// Builds the field as [`Self::new`] does from a pose that was normalised before: normalising
    /// it again could change its last bits.
    pub(crate) fn again(
        field: F,
        parent_from_field: Pose,
        scale: f32,
    ) -> Result<Self, ParameterError> {
        let checked = Transformed::new(field, parent_from_field, scale)?;
        Ok(Transformed {
            parent_from_field,
            ..checked
        })
    }

    /// Returns the field in its own frame.
    pub fn field(&self) -> &F {
        &self.field
    }

    /// Returns the pose of the field's frame.
    pub fn parent_from_field(&self) -> Pose {
        self.parent_from_field
    }

    /// Returns the factor by which the solid is enlarged.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    fn point_in_field(&self, point: Vec3) -> Vec3 {
        let Pose {
            rotation,
            translation,
        } = self.parent_from_field;
        let scaled = rotation.conjugate() * (point - translation) / self.scale;
        // A tiny scale may send a far point out of range. A nearer point is safe, because outside a
        // value may be too small.
        scaled.clamp(Vec3::splat(-FARTHEST), Vec3::splat(FARTHEST))
    }

    /// Returns the largest coordinate of the bounds in the parent's frame \[m\].
    fn magnitude(&self) -> f32 {
        self.scale * rounding::largest_finite_coordinate(self.field.bounds())
            + self.parent_from_field.translation.abs().max_element()
    }
}

impl<F: Field> Field for Transformed<F> {
    /// Returns the box around the rotated box. An infinite box is moved and scaled if the field is
    /// not rotated; otherwise the result is everything.
    fn bounds(&self) -> Aabb {
        let Pose {
            rotation,
            translation,
        } = self.parent_from_field;
        let own = self.field.bounds();
        if own.is_empty() {
            return Aabb::EMPTY;
        }
        let margin = rounding::slack(self.magnitude());
        if own.is_finite() {
            let center = self
                .parent_from_field
                .transform_point(self.scale * own.center());
            let half =
                turned_half_extents(Mat3::from_quat(rotation), self.scale * own.half_extents());
            Aabb::from_center(center, half).grown(margin)
        } else if rotation.xyz() == Vec3::ZERO {
            Aabb::new(
                self.scale * own.min + translation,
                self.scale * own.max + translation,
            )
            .grown(margin)
        } else {
            Aabb::EVERYTHING
        }
    }

    /// Returns the operand's error, scaled, plus the rounding of the moved point. Within infinite
    /// bounds it holds for points up to
    /// [`HalfSpace::REACH`](crate::field::closed_form::primitive::HalfSpace::REACH) from the
    /// origin.
    fn error_bound(&self) -> f32 {
        let own = self.field.bounds();
        let endless = !own.is_empty() && !rounding::largest_coordinate(own).is_finite();
        let reach = if endless {
            crate::field::closed_form::primitive::HalfSpace::REACH
        } else {
            0.0
        };
        // Twice: a dozen roundings rotate the point, and its coordinates are up to √3 times those
        // of the box.
        self.scale * self.field.error_bound() + 2.0 * rounding::error_of(self.magnitude() + reach)
    }

    fn meaning(&self) -> Meaning {
        self.field.meaning()
    }

    fn distance(&self, point: Vec3) -> f32 {
        let own = self.field.distance(self.point_in_field(point));
        (self.scale * own).clamp(f32::MIN, f32::MAX)
    }

    fn sample(&self, point: Vec3) -> Sample {
        let own = self.field.sample(self.point_in_field(point));
        Sample {
            distance: (self.scale * own.distance).clamp(f32::MIN, f32::MAX),
            gradient: self.parent_from_field.transform_vector(own.gradient),
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        let Some(ball) = CellBall::of(cell) else {
            return Interval::EVERYTHING;
        };
        let field_from_parent = Mat3::from_quat(self.parent_from_field.rotation.conjugate());
        let half = turned_half_extents(field_from_parent, cell.half_extents()) / self.scale;
        let magnitude = ball.magnitude + self.magnitude();
        if magnitude / self.scale > FARTHEST {
            return Interval::EVERYTHING;
        }
        let margin = rounding::slack(magnitude);
        let own_cell =
            Aabb::from_center(self.point_in_field(ball.center), half).grown(margin / self.scale);
        self.field
            .interval(own_cell)
            .scaled(self.scale)
            .grown(margin)
    }

    fn recipe(&self) -> Option<Recipe> {
        let Pose {
            rotation,
            translation,
        } = self.parent_from_field;
        Some(Recipe::Transformed {
            field: Box::new(self.field.recipe()?),
            rotation: rotation.to_array(),
            translation: translation.to_array(),
            scale: self.scale,
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::field::closed_form::primitive::HalfSpace;
    use crate::field::closed_form::primitive::Sphere;

    #[test]
    fn what_is_no_pose_is_refused() -> Result<(), ParameterError> {
        let ball = Sphere::new(1.0)?;
        let bent = Pose {
            rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 1.1),
            translation: Vec3::ZERO,
        };
        assert!(Transformed::new(ball, bent, 1.0).is_err());
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(Transformed::new(ball, Pose::IDENTITY, scale).is_err());
        }
        let nowhere = Pose::from_translation(Vec3::new(0.0, f32::NAN, 0.0));
        assert!(Transformed::new(ball, nowhere, 1.0).is_err());
        Ok(())
    }

    #[test]
    fn bounds_without_end_keep_their_plane_when_moved_and_lose_it_when_turned()
    -> Result<(), ParameterError> {
        let floor = HalfSpace::new(Vec3::Z, 0.0)?;
        let raised = Transformed::new(floor, Pose::from_translation(Vec3::Z), 2.0)?;
        assert!((raised.bounds().max.z - 1.0).abs() < 1e-4);
        assert_eq!(raised.bounds().min, Vec3::NEG_INFINITY);
        let tilted = Pose {
            rotation: Quat::from_rotation_x(0.3),
            translation: Vec3::ZERO,
        };
        let tilted = Transformed::new(floor, tilted, 1.0)?;
        assert_eq!(tilted.bounds(), Aabb::EVERYTHING);
        Ok(())
    }
}
