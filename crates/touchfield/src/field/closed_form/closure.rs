//! Fields from user-defined formulas.
//!
//! Input: a closure from point to value, and declared facts about it: box, Lipschitz constant,
//! meaning, error.
//! Output: a field that fulfils the contract of [`Field`] if the declaration is true.
//! Cost: one call per value; seven per sample without a gradient closure.
//! Not for: formulas without a known Lipschitz constant: nothing proven follows from them.
//!
//! The closure is called only with points of its box. Beyond it the value is a lower bound from the
//! border, see `outside.rs`. A value that is not finite counts as 0, which as a bound is always
//! safe.

use glam::Vec3;

use crate::field::bounds::outside::sample_beyond;
use crate::field::bounds::rounding;
use crate::field::bounds::rounding::CellBall;
use crate::field::bounds::witness;
use crate::field::closed_form::parameter;
use crate::field::closed_form::parameter::ParameterError;
use crate::field::field::{Field, Meaning, Sample};
use crate::geom::{Aabb, Interval};

/// The promises of the author of a [`Closure`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Declared {
    /// Box that contains the solid; the closure is called only inside it. May be infinite.
    pub bounds: Aabb,
    /// Lipschitz constant, positive: the closure's values differ by at most this times the distance
    /// of the points. Values are divided by it, which leaves only a bound unless it is 1.
    pub lipschitz: f32,
    /// Meaning of the value if `lipschitz` is 1; otherwise it is a [`Meaning::Bound`].
    pub meaning: Meaning,
    /// Error of the value after the division, rounding included \[m\].
    pub error_bound: f32,
}

type Gradient = Box<dyn Fn(Vec3) -> Vec3 + Send + Sync>;

/// A field whose values come from a closure.
///
/// ```
/// use glam::Vec3;
/// use touchfield::field::{Closure, Declared, Field, Meaning};
/// use touchfield::geom::Aabb;
/// let gyroid = |p: Vec3| p.x.sin() * p.y.cos() + p.y.sin() * p.z.cos() + p.z.sin() * p.x.cos();
/// let declared = Declared {
///     bounds: Aabb::from_center(Vec3::ZERO, Vec3::splat(3.0)),
///     lipschitz: 3.0f32.sqrt(),
///     meaning: Meaning::Bound,
///     error_bound: 1e-6,
/// };
/// let field = Closure::new(gyroid, declared)?;
/// assert!(field.sample(Vec3::ONE).distance.abs() < 1.0);
/// # Ok::<(), touchfield::field::ParameterError>(())
/// ```
pub struct Closure<F> {
    value: F,
    gradient: Option<Gradient>,
    declared: Declared,
}

impl<F: Fn(Vec3) -> f32 + Send + Sync> Closure<F> {
    /// Builds a field from a closure and its declaration.
    pub fn new(value: F, declared: Declared) -> Result<Closure<F>, ParameterError> {
        parameter::size("error_bound", declared.error_bound)?;
        parameter::require(
            declared.lipschitz > 0.0 && declared.lipschitz.is_finite(),
            "lipschitz",
            declared.lipschitz,
            "positive and finite",
        )?;
        parameter::require(
            !declared.bounds.is_empty(),
            "smallest extent of bounds",
            declared.bounds.extents().min_element(),
            "0 or more; infinite bounds are allowed",
        )?;
        Ok(Closure {
            value,
            gradient: None,
            declared,
        })
    }

    /// Sets a gradient of the closure's own value (before any division) in place of central
    /// differences.
    pub fn with_gradient(
        mut self,
        gradient: impl Fn(Vec3) -> Vec3 + Send + Sync + 'static,
    ) -> Closure<F> {
        self.gradient = Some(Box::new(gradient));
        self
    }

    /// Returns the declaration.
    pub fn declared(&self) -> Declared {
        self.declared
    }

    /// Returns the value at a point of the box.
    fn value_within(&self, point: Vec3) -> f32 {
        let value = (self.value)(point) / self.declared.lipschitz;
        if value.is_finite() { value } else { 0.0 }
    }

    /// Returns the step of the central differences \[m\]: the cube root of `f32`'s rounding times
    /// the half-diagonal of the box, which balances the errors of rounding (1/step) and of
    /// curvature (step²). An infinite or zero half-diagonal counts as one metre.
    fn step(&self) -> f32 {
        let size = rounding::length(self.declared.bounds.half_extents());
        let size = if size > 0.0 && size < f32::MAX {
            size
        } else {
            1.0
        };
        f32::EPSILON.cbrt() * size
    }

    /// Returns the gradient at a point of the box, normalised if the field is a distance.
    fn gradient_within(&self, point: Vec3) -> Vec3 {
        let slope = match &self.gradient {
            Some(gradient) => gradient(point) / self.declared.lipschitz,
            None => self.central_difference(point),
        };
        let slope = if slope.is_finite() { slope } else { Vec3::ZERO };
        match self.meaning() {
            Meaning::Distance => rounding::direction(slope).unwrap_or(Vec3::X),
            Meaning::Bound => slope,
        }
    }

    fn central_difference(&self, point: Vec3) -> Vec3 {
        // Far from the origin a step must still change the coordinates of the point.
        let step = self
            .step()
            .max(8.0 * f32::EPSILON * point.abs().max_element());
        Vec3::AXES.into_iter().fold(Vec3::ZERO, |slope, axis| {
            // At the border of the box the difference becomes one-sided.
            let ahead = self.declared.bounds.closest_point(point + step * axis);
            let behind = self.declared.bounds.closest_point(point - step * axis);
            let run = (ahead - behind).dot(axis);
            if run > 0.0 {
                slope + axis * ((self.value_within(ahead) - self.value_within(behind)) / run)
            } else {
                slope
            }
        })
    }

    /// Returns a lower bound outside the box. The error is subtracted, so that the value is never
    /// more than the distance.
    fn beyond(&self, point: Vec3, border: Vec3, gradient: Vec3) -> Sample {
        let at_border = self.value_within(border) - self.declared.error_bound;
        let (distance, gradient) = sample_beyond(
            point.as_dvec3() - border.as_dvec3(),
            f64::from(at_border),
            gradient.as_dvec3(),
        );
        Sample {
            distance: (distance as f32).min(f32::MAX),
            gradient: match self.meaning() {
                Meaning::Distance => gradient.try_normalize().map_or(Vec3::X, |g| g.as_vec3()),
                Meaning::Bound => gradient.as_vec3(),
            },
        }
    }
}

impl<F: Fn(Vec3) -> f32 + Send + Sync> Field for Closure<F> {
    fn bounds(&self) -> Aabb {
        self.declared.bounds
    }

    fn error_bound(&self) -> f32 {
        self.declared.error_bound
    }

    fn meaning(&self) -> Meaning {
        if self.declared.lipschitz == 1.0 {
            self.declared.meaning
        } else {
            Meaning::Bound
        }
    }

    fn distance(&self, point: Vec3) -> f32 {
        let border = self.declared.bounds.closest_point(point);
        if border == point {
            self.value_within(point)
        } else {
            self.beyond(point, border, Vec3::ZERO).distance
        }
    }

    fn sample(&self, point: Vec3) -> Sample {
        let border = self.declared.bounds.closest_point(point);
        let gradient = self.gradient_within(border);
        if border == point {
            Sample {
                distance: self.value_within(point),
                gradient,
            }
        } else {
            self.beyond(point, border, gradient)
        }
    }

    /// Returns an interval from the value at the centre of the cell and the Lipschitz constant. For
    /// a distance, outside the box, the upper end is the border's value plus the distance to the
    /// border. For a bound, where it is positive the solid is no farther than a point surely
    /// inside; where it is negative the solid is no deeper than the box.
    fn interval(&self, cell: Aabb) -> Interval {
        let least = rounding::box_lower(self.declared.bounds, cell);
        let Some(ball) = CellBall::of(cell) else {
            return Interval::new(least, f32::INFINITY);
        };
        let magnitude = ball.magnitude + rounding::largest_finite_coordinate(self.declared.bounds);
        let margin = 2.0 * self.declared.error_bound + rounding::slack(magnitude);
        let border = self.declared.bounds.closest_point(ball.center);
        let values = ball.values(self.distance(ball.center), margin);
        let (lower, upper) = match self.meaning() {
            Meaning::Distance => {
                let way_out = rounding::length(ball.center - border);
                let farthest = self.value_within(border) + way_out;
                (values.lower, ball.values(farthest, margin).upper)
            }
            Meaning::Bound => (
                if values.lower >= 0.0 {
                    values.lower
                } else {
                    f32::NEG_INFINITY
                },
                if values.upper <= 0.0 {
                    values.upper
                } else {
                    witness::upper_end(
                        cell,
                        |point| self.sample(point),
                        |point| {
                            let reach = point.abs().max_element() + magnitude;
                            self.distance(point)
                                + 2.0 * self.declared.error_bound
                                + rounding::slack(reach)
                        },
                    )
                },
            ),
        };
        Interval::new(lower.max(least), upper)
    }
}
