//! Solids from one solid: grown or shrunk, and hollow.
//!
//! Input: a field φ and a length.
//! Output: the field of the solid `φ* ≤ r` or `|φ*| ≤ t/2`.
//! Cost: one value of the operand and a distance to its box.
//! Not for: a constant wall inside sharp concave corners of an operand that is itself only a bound:
//! its level sets are not parallel surfaces.
//!
//! `φ*` is φ in the operand's box and `max(φ, distance to the box)` outside, where both are lower
//! bounds of the distance. Their maximum is one too, keeps the new solid inside the box grown by
//! `r`, and stays 1-Lipschitz.
//!
//! For a true distance `a`, grown by `r ≥ 0` (the solid `a ≤ r`, with true signed distance `g`):
//! - outside, `g = a − r` exactly: all points within `r` of the solid lie on the way to it;
//! - inside, `g ≤ a − r`: a ball of radius `|a|` in the solid grows to one of `|a| + r`, but where
//!   a gap narrower than `2r` was filled, a larger one fits. (None does if the solid is convex, but
//!   a field cannot know whether it is.)
//!
//! Shrinking grows the complement: `g ≥ a − r`, exact inside, perhaps farther outside; it may leave
//! nothing. A wall is its *surface* grown by half its thickness: `|a| − t/2`, exact outside the
//! wall, perhaps deeper in it. So all are [`Meaning::Bound`], unless nothing was changed. For an
//! operand that is only a bound, or outside its box, the solid is the level set of `φ*` itself:
//! then `|φ* − r|` is at most the distance to that level set because `φ*` is 1-Lipschitz, and the
//! sign is right by definition.

use glam::Vec3;

use crate::field::bounds::rounding;
use crate::field::bounds::rounding::CellBall;
use crate::field::bounds::witness;
use crate::field::closed_form::parameter;
use crate::field::closed_form::parameter::ParameterError;
use crate::field::field::{Field, Meaning, Sample};
use crate::field::recipe::Recipe;
use crate::geom::{Aabb, Interval};

/// Returns `φ*` of the [module](self): value and gradient of the field, or of its box where that
/// distance is larger.
fn sample_or_box(field: &impl Field, point: Vec3, of_field: Sample) -> Sample {
    let bounds = field.bounds();
    if bounds.is_empty() {
        return of_field;
    }
    let way_out = point - bounds.closest_point(point);
    let to_box = rounding::length(way_out);
    if to_box > 0.0 && to_box > of_field.distance {
        Sample {
            distance: to_box,
            gradient: rounding::direction(way_out).unwrap_or(of_field.gradient),
        }
    } else {
        of_field
    }
}

fn distance_or_box(field: &impl Field, point: Vec3) -> f32 {
    let distance = field.distance(point);
    sample_or_box(
        field,
        point,
        Sample {
            distance,
            gradient: Vec3::ZERO,
        },
    )
    .distance
}

fn error_after(field: &impl Field, radius: f32) -> f32 {
    let magnitude = rounding::largest_finite_coordinate(field.bounds()) + radius.abs();
    field.error_bound() + rounding::error_of(magnitude)
}

/// Returns an interval that contains every value of `φ*` over the cell, from its Lipschitz constant
/// and its error, and the margin added. `None` for an infinite cell.
fn values_in(field: &impl Field, cell: Aabb) -> Option<(Interval, f32)> {
    let ball = CellBall::of(cell)?;
    let magnitude = ball.magnitude + rounding::largest_finite_coordinate(field.bounds());
    let margin = rounding::slack(magnitude) + 2.0 * field.error_bound();
    let values = ball.values(distance_or_box(field, ball.center), margin);
    Some((values, margin))
}

/// Returns the margin for error and rounding of a value at `point` \[m\].
fn margin_at(field: &impl Field, radius: f32, point: Vec3) -> f32 {
    let magnitude = point.abs().max_element()
        + rounding::largest_finite_coordinate(field.bounds())
        + radius.abs();
    2.0 * field.error_bound() + rounding::slack(magnitude)
}

/// Returns the interval of the true distance of a solid grown from one whose true distance is
/// `truth`; `values` contains `φ* − r` over the cell.
///
/// Upper end: the level set contains all points within `r` of the solid, so nothing is farther than
/// `truth − r`. Lower end: `φ* − r` where that is positive, and never deeper than the grown box.
fn grown_interval(
    truth: Interval,
    values: Interval,
    radius: f32,
    margin: f32,
    least: f32,
) -> Interval {
    let lower = if values.lower >= 0.0 {
        values.lower
    } else {
        f32::NEG_INFINITY
    };
    Interval::new(
        lower.max(least),
        (truth.upper - radius + margin).max(f32::MIN),
    )
}

/// A solid grown by a radius, or shrunk by a negative one. See the [module](self) for what its
/// values mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offset<F> {
    field: F,
    radius: f32,
}

impl<F: Field> Offset<F> {
    /// Moves the surface of a solid outward by `radius` \[m\]; a negative radius shrinks it.
    pub fn new(field: F, radius: f32) -> Result<Offset<F>, ParameterError> {
        let radius = parameter::coordinate("radius", radius)?;
        Ok(Offset { field, radius })
    }

    /// Returns the original solid.
    pub fn field(&self) -> &F {
        &self.field
    }

    /// Returns how far the surface is moved outward \[m\].
    pub fn radius(&self) -> f32 {
        self.radius
    }
}

impl<F: Field> Field for Offset<F> {
    /// Returns the operand's box, grown by the radius. A negative radius does not shrink it,
    /// because the operand's box need not be tight.
    fn bounds(&self) -> Aabb {
        let before = self.field.bounds();
        if self.radius <= 0.0 || before.is_empty() {
            return before;
        }
        let magnitude = rounding::largest_finite_coordinate(before) + self.radius;
        before.grown(self.radius + rounding::error_of(magnitude))
    }

    fn error_bound(&self) -> f32 {
        error_after(&self.field, self.radius)
    }

    fn meaning(&self) -> Meaning {
        if self.radius == 0.0 {
            self.field.meaning()
        } else {
            Meaning::Bound
        }
    }

    fn distance(&self, point: Vec3) -> f32 {
        distance_or_box(&self.field, point) - self.radius
    }

    fn sample(&self, point: Vec3) -> Sample {
        let before = sample_or_box(&self.field, point, self.field.sample(point));
        Sample {
            distance: before.distance - self.radius,
            gradient: before.gradient,
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        let truth = self.field.interval(cell);
        let Some((values, margin)) = values_in(&self.field, cell) else {
            return Interval::EVERYTHING;
        };
        if self.radius == 0.0 {
            return truth;
        }
        let values = Interval::new(values.lower - self.radius, values.upper - self.radius)
            .grown(rounding::slack(self.radius.abs()));
        let margin = margin + rounding::slack(self.radius.abs());
        let least = rounding::box_lower(self.bounds(), cell);
        if self.radius > 0.0 {
            return grown_interval(truth, values, self.radius, margin, least);
        }
        // Shrinking, mirrored: the level set lies within the true shrunk solid, so nothing is
        // nearer or deeper than `truth − r`. Where `φ* − r` does not prove that the cell is inside,
        // the solid is no farther than a point surely inside.
        Interval::new(
            (truth.lower - self.radius - margin).max(least),
            if values.upper <= 0.0 {
                values.upper
            } else {
                witness::upper_end(
                    cell,
                    |point| self.sample(point),
                    |point| self.distance(point) + margin_at(&self.field, self.radius, point),
                )
            },
        )
    }

    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::Offset(Box::new(self.field.recipe()?), self.radius))
    }
}

/// A wall along the surface of a solid, half its thickness on either side. See the [module](self)
/// for what its values mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall<F> {
    field: F,
    thickness: f32,
}

impl<F: Field> Wall<F> {
    /// Hollows a solid into a wall of the given thickness \[m\].
    pub fn new(field: F, thickness: f32) -> Result<Wall<F>, ParameterError> {
        let thickness = parameter::size("thickness", thickness)?;
        Ok(Wall { field, thickness })
    }

    /// Returns the original solid.
    pub fn field(&self) -> &F {
        &self.field
    }

    /// Returns the thickness of the wall \[m\].
    pub fn thickness(&self) -> f32 {
        self.thickness
    }
}

impl<F: Field> Field for Wall<F> {
    fn bounds(&self) -> Aabb {
        let before = self.field.bounds();
        if before.is_empty() {
            return before;
        }
        let margin = 0.5 * self.thickness;
        let magnitude = rounding::largest_finite_coordinate(before) + margin;
        before.grown(margin + rounding::error_of(magnitude))
    }

    fn error_bound(&self) -> f32 {
        error_after(&self.field, self.thickness)
    }

    fn meaning(&self) -> Meaning {
        Meaning::Bound
    }

    fn distance(&self, point: Vec3) -> f32 {
        distance_or_box(&self.field, point).abs() - 0.5 * self.thickness
    }

    fn sample(&self, point: Vec3) -> Sample {
        let before = sample_or_box(&self.field, point, self.field.sample(point));
        Sample {
            distance: before.distance.abs() - 0.5 * self.thickness,
            gradient: if before.distance < 0.0 {
                -before.gradient
            } else {
                before.gradient
            },
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        let Some((values, margin)) = values_in(&self.field, cell) else {
            return Interval::EVERYTHING;
        };
        let radius = 0.5 * self.thickness;
        let margin = margin + rounding::slack(radius);
        let from_surface = absolute(self.field.interval(cell));
        let values = absolute(values);
        let values = Interval::new(values.lower - radius, values.upper - radius)
            .grown(rounding::slack(radius));
        let least = rounding::box_lower(self.bounds(), cell);
        grown_interval(from_surface, values, radius, margin, least)
    }

    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::Wall(Box::new(self.field.recipe()?), self.thickness))
    }
}

/// Returns an interval that contains `|v|` for every `v` of `values`.
fn absolute(values: Interval) -> Interval {
    Interval::new(
        values.lower.max(-values.upper).max(0.0),
        values.upper.max(-values.lower),
    )
}
