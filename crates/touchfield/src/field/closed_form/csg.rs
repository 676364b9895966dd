//! Solids from solids: union, intersection, difference.
//!
//! Input: two fields in one frame.
//! Output: the field of the combined solid.
//! Cost: one value of each operand per value.
//! Not for: measuring depth or clearance; bake the result for that.
//!
//! Let `a`, `b` be the true signed distances of two solids.
//!
//! - Union `u`. Outside, the nearest point of the union is the nearest of one of them:
//!   `u = min(a, b)`. Inside, a ball that fits in one fits in the union, perhaps a larger one:
//!   `u ≤ min(a, b)`. So `min` has the right sign, is exact outside and never too deep inside.
//! - Intersection. Its complement is the union of the complements, whose signed distances are `−a`
//!   and `−b`: with `max` everything is mirrored. Exact inside, never too far outside. (An empty
//!   intersection is infinitely far away.)
//! - Difference: the intersection with the complement of the second, `max(a, −b)`.
//!
//! All three are therefore [`Meaning::Bound`]. A union of solids whose boxes do not meet is exact
//! inside as well, but it is not reported as a distance: outside its own box an operand promises
//! only a lower bound, and the union's box is larger than either. [`Field::interval`] still
//! profits, since intervals contain the true distance everywhere.
//!
//! Tighter intervals inside a union, from `a ∈ A = [A⁻, A⁺]` and `b ∈ B`: the point of A's surface
//! nearest to an `x` inside A is `|a|` away, and not covered by B if `b > |a|`; then `u = a`. So
//! `u = min(a, b)` over the whole cell if both lower ends are ≥ 0 or their sum is > 0. Otherwise
//! the union is nowhere deeper than its box; and an intersection is no farther than a point surely
//! inside it (`witness.rs`), if one is found.

use glam::Vec3;

use crate::field::bounds::{rounding, witness};
use crate::field::field::{Field, Meaning, Sample};
use crate::field::recipe::Recipe;
use crate::geom::{Aabb, Interval};

/// The union of two solids. See the [module](self) for what its values mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Union<F, G> {
    /// The first solid.
    pub first: F,
    /// The second solid, in the same frame.
    pub second: G,
}

/// The intersection of two solids. See the [module](self) for what its values mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intersection<F, G> {
    /// The first solid.
    pub first: F,
    /// The second solid, in the same frame.
    pub second: G,
}

/// The first solid minus the second. See the [module](self) for what its values mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference<F, G> {
    /// The solid that is cut.
    pub first: F,
    /// The solid that is cut away, in the same frame.
    pub second: G,
}

/// Returns the larger error of the two, or the rounding of an operand at points of `bounds` outside
/// its own box if that is larger.
fn joint_error(first: &impl Field, second: &impl Field, bounds: Aabb) -> f32 {
    let magnitude = rounding::largest_finite_coordinate(bounds)
        + rounding::largest_finite_coordinate(second.bounds());
    f32::max(first.error_bound(), second.error_bound()).max(rounding::error_of(magnitude))
}

/// Returns the interval of the true distance of a union that lies in `bounds`.
fn union_interval(a: Interval, b: Interval, bounds: Aabb, apart: bool, cell: Aabb) -> Interval {
    let smaller = a.min(b);
    let exact = apart || (a.lower >= 0.0 && b.lower >= 0.0) || a.lower + b.lower > 0.0;
    let lower = if exact {
        smaller.lower
    } else {
        f32::NEG_INFINITY
    };
    Interval::new(lower.max(rounding::box_lower(bounds, cell)), smaller.upper)
}

/// Returns the interval of the true distance of an intersection. It mirrors the union, but the
/// complement has no box, so where nothing is exact the upper end is infinite
/// ([`witness::upper_end`] may improve it). The lower end is no nearer than the intersection's box.
fn intersection_interval(a: Interval, b: Interval, bounds: Aabb, cell: Aabb) -> Interval {
    let mirrored = union_interval(-a, -b, Aabb::EVERYTHING, false, cell);
    let found = -mirrored;
    Interval::new(
        found.lower.max(rounding::box_lower(bounds, cell)),
        found.upper,
    )
}

/// Returns the interval that `over` computes. An infinite upper end is replaced by the bound from a
/// point surely inside, if one is found.
fn with_witness(field: &impl Field, cell: Aabb, over: impl Fn(Aabb) -> Interval) -> Interval {
    let found = over(cell);
    if found.upper < f32::INFINITY || field.bounds().is_empty() {
        return found;
    }
    let upper_at = |point| {
        let here = over(Aabb::new(point, point)).upper;
        // Not known to be inside: the value is the length of the next step.
        if here < f32::INFINITY {
            here
        } else {
            field.distance(point).max(f32::MIN_POSITIVE)
        }
    };
    let upper = witness::upper_end(cell, |point| field.sample(point), upper_at);
    Interval::new(found.lower, upper)
}

impl<F: Field, G: Field> Field for Union<F, G> {
    fn bounds(&self) -> Aabb {
        self.first.bounds().union(self.second.bounds())
    }

    fn error_bound(&self) -> f32 {
        joint_error(&self.first, &self.second, self.bounds())
    }

    fn meaning(&self) -> Meaning {
        Meaning::Bound
    }

    fn distance(&self, point: Vec3) -> f32 {
        f32::min(self.first.distance(point), self.second.distance(point))
    }

    fn sample(&self, point: Vec3) -> Sample {
        let first = self.first.sample(point);
        let second = self.second.sample(point);
        if first.distance <= second.distance {
            first
        } else {
            second
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        let apart = self
            .first
            .bounds()
            .intersection(self.second.bounds())
            .is_empty();
        union_interval(
            self.first.interval(cell),
            self.second.interval(cell),
            self.bounds(),
            apart,
            cell,
        )
    }

    fn recipe(&self) -> Option<Recipe> {
        Recipe::of_two(&self.first, &self.second).map(Recipe::Union)
    }
}

impl<F: Field, G: Field> Field for Intersection<F, G> {
    /// Returns the intersection of both boxes; [`Aabb::EMPTY`] when they do not overlap.
    fn bounds(&self) -> Aabb {
        let both = self.first.bounds().intersection(self.second.bounds());
        if both.is_empty() { Aabb::EMPTY } else { both }
    }

    fn error_bound(&self) -> f32 {
        f32::max(self.first.error_bound(), self.second.error_bound())
    }

    fn meaning(&self) -> Meaning {
        Meaning::Bound
    }

    fn distance(&self, point: Vec3) -> f32 {
        f32::max(self.first.distance(point), self.second.distance(point))
    }

    fn sample(&self, point: Vec3) -> Sample {
        let first = self.first.sample(point);
        let second = self.second.sample(point);
        if first.distance >= second.distance {
            first
        } else {
            second
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        let over = |cell| {
            let (a, b) = (self.first.interval(cell), self.second.interval(cell));
            intersection_interval(a, b, self.bounds(), cell)
        };
        with_witness(self, cell, over)
    }

    fn recipe(&self) -> Option<Recipe> {
        Recipe::of_two(&self.first, &self.second).map(Recipe::Intersection)
    }
}

impl<F: Field, G: Field> Field for Difference<F, G> {
    fn bounds(&self) -> Aabb {
        self.first.bounds()
    }

    fn error_bound(&self) -> f32 {
        joint_error(&self.first, &self.second, self.bounds())
    }

    fn meaning(&self) -> Meaning {
        Meaning::Bound
    }

    fn distance(&self, point: Vec3) -> f32 {
        f32::max(self.first.distance(point), -self.second.distance(point))
    }

    fn sample(&self, point: Vec3) -> Sample {
        let first = self.first.sample(point);
        let second = self.second.sample(point);
        if first.distance >= -second.distance {
            first
        } else {
            Sample {
                distance: -second.distance,
                gradient: -second.gradient,
            }
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        let over = |cell| {
            let (a, b) = (self.first.interval(cell), -self.second.interval(cell));
            intersection_interval(a, b, self.bounds(), cell)
        };
        with_witness(self, cell, over)
    }

    fn recipe(&self) -> Option<Recipe> {
        Recipe::of_two(&self.first, &self.second).map(Recipe::Difference)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::field::closed_form::parameter::ParameterError;
    use crate::field::closed_form::primitive::Sphere;
    use crate::field::closed_form::transform::Transformed;
    use crate::geom::Pose;

    fn ball_at(x: f32) -> Result<Transformed<Sphere>, ParameterError> {
        Transformed::new(Sphere::new(1.0)?, Pose::from_translation(Vec3::X * x), 1.0)
    }

    #[test]
    fn pointers_to_fields_are_operands() -> Result<(), ParameterError> {
        let boxed: Box<dyn Field> = Box::new(ball_at(0.0)?);
        let shared: Arc<dyn Field> = Arc::new(ball_at(1.0)?);
        let both = Union {
            first: boxed,
            second: &shared,
        };
        assert!((both.distance(Vec3::X * 3.0) - 1.0).abs() < 1e-6);
        assert_eq!(both.meaning(), Meaning::Bound);
        Ok(())
    }

    #[test]
    fn balls_apart_have_an_empty_intersection_and_a_tight_union() -> Result<(), ParameterError> {
        let (first, second) = (ball_at(0.0)?, ball_at(3.0)?);
        let nothing = Intersection { first, second };
        assert!(nothing.bounds().is_empty());
        let center = Aabb::from_center(Vec3::ZERO, Vec3::splat(0.01));
        assert_eq!(nothing.interval(center).upper, f32::INFINITY);
        let both = Union { first, second };
        assert!(both.interval(center).width() < 0.1);
        // Where the balls overlap, the middle may be deeper than either ball reports, but no deeper
        // than the box allows.
        let both = Union {
            first,
            second: ball_at(1.0)?,
        };
        let middle = Aabb::from_center(Vec3::X * 0.5, Vec3::splat(0.01));
        let interval = both.interval(middle);
        assert!(interval.contains(-(0.75f32.sqrt())) && interval.lower > -1.01);
        Ok(())
    }
}
