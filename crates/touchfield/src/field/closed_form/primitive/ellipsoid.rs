//! Ellipsoids, from discs and needles to balls.

use glam::{DVec3, Vec3};

use crate::field::bounds::rounding;
use crate::field::closed_form::parameter;
use crate::field::closed_form::parameter::ParameterError;
use crate::field::field::{Field, LowerPlane, Sample};
use crate::field::recipe::Recipe;
use crate::geom::{Aabb, Interval};

/// An ellipsoid around the origin, its axes along x, y and z.
///
/// Where several surface points are equally near (inside, on the middle plane across a shortest
/// axis) the gradient points along the first of the shortest axes, to its positive side.
///
/// A surface point is nearest to `p` where its normal points to `p`: `n_i ∝ p_i / (t + e_i²)`, with
/// the one root `t ≥ −min e²` of `Σ (e_i p_i / (t + e_i²))² = 1` \[Eberly2013\]. We differ in three
/// ways. The unknown is `τ = t + min e²`, so that nothing cancels where the root is near its pole.
/// Newton's steps are taken on `1 / √Σ`, which is nearly linear \[More1983\]: from the left they
/// never pass the root. And the distance is `n·p − |e ∘ n|`, how far `p` is beyond the plane that
/// touches at `n`: the true distance is its largest value over all `n`, so an error of `n` enters
/// only squared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid {
    half_extents: Vec3,
}

/// Maximum Newton steps. About eight are usual. Halfway to the rim of the middle plane a step grows
/// `τ` by at least half, and the error of `n` is below the rounding of `f64` once `τ` has grown
/// 10⁸-fold, which takes 46.
const STEPS: usize = 64;
/// Relative change of `τ` below which a step is the last: steps converge quadratically.
const LAST_STEP: f64 = 1e-9;

impl Ellipsoid {
    /// Builds an ellipsoid from its semi-axes \[m\].
    pub fn new(half_extents: Vec3) -> Result<Ellipsoid, ParameterError> {
        let half_extents = parameter::half_extents(half_extents)?;
        Ok(Ellipsoid { half_extents })
    }

    /// Returns the semi-axes \[m\].
    pub fn half_extents(self) -> Vec3 {
        self.half_extents
    }

    /// Returns the outward unit normal at the surface point nearest to `point`.
    fn normal(self, point: DVec3) -> DVec3 {
        let extents = self.half_extents.as_dvec3();
        let least = extents.min_element();
        // e² − min e², without the rounding of the squares.
        let beyond_least = (extents - least) * (extents + least);
        let numerator = extents * point.abs();
        // Where numerator and denominator are both 0, on a middle plane or for an axis of length 0,
        // the share is 0.
        let share = |numerator: f64, denominator: f64| {
            if numerator == 0.0 {
                0.0
            } else {
                numerator / denominator
            }
        };
        let shares = |tau: f64| {
            DVec3::new(
                share(numerator.x, tau + beyond_least.x),
                share(numerator.y, tau + beyond_least.y),
                share(numerator.z, tau + beyond_least.z),
            )
        };
        let at_pole = shares(0.0).length_squared();
        if at_pole <= 1.0 {
            return self.normal_at_pole(point, beyond_least, (1.0 - at_pole).sqrt());
        }
        // Start left of the root: where one share alone reaches 1, the sum of squares is 1 or more.
        let mut tau = (numerator - beyond_least).max_element().max(0.0);
        if tau == 0.0 {
            // At the pole itself there is no slope; a tiny fraction of the largest length is left
            // of the root or next to it.
            tau = f64::EPSILON * f64::EPSILON * numerator.max_element();
        }
        for _ in 0..STEPS {
            let q = shares(tau);
            let sum = q.length_squared();
            let slope = (q * q / (beyond_least + tau)).element_sum();
            let step = (sum.sqrt() - 1.0) * sum / slope;
            // Not positive: rounding has passed the root. NaN: sum and slope are both 0, far beyond
            // it.
            if step.is_nan() || step <= 0.0 {
                break;
            }
            tau += step;
            if step < LAST_STEP * tau {
                break;
            }
        }
        (point / (beyond_least + tau)).normalize_or(DVec3::X)
    }

    /// Returns the normal where the root is its pole: the nearest points lie off the middle plane
    /// across the shortest axes, by `height` of their length. For flat bodies this is the case of
    /// all their points.
    fn normal_at_pole(self, point: DVec3, beyond_least: DVec3, height: f64) -> DVec3 {
        let shortest = beyond_least.cmpeq(DVec3::ZERO);
        let first = if shortest.test(0) {
            DVec3::X
        } else if shortest.test(1) {
            DVec3::Y
        } else {
            DVec3::Z
        };
        let across = DVec3::select(shortest, point, DVec3::ZERO).normalize_or(first);
        let least = f64::from(self.half_extents.min_element());
        if least == 0.0 {
            return across;
        }
        let along = DVec3::select(shortest, DVec3::ZERO, least * point / beyond_least);
        (height * across + along).normalize_or(across)
    }

    fn distance_along(self, point: DVec3, normal: DVec3) -> f32 {
        let support = (self.half_extents.as_dvec3() * normal).length();
        let distance = normal.dot(point) - support;
        distance.min(f64::from(f32::MAX)) as f32
    }
}

impl Field for Ellipsoid {
    fn bounds(&self) -> Aabb {
        Aabb::from_center(Vec3::ZERO, self.half_extents)
    }

    fn error_bound(&self) -> f32 {
        rounding::error_of(self.half_extents.max_element())
    }

    fn distance(&self, point: Vec3) -> f32 {
        let point = point.as_dvec3();
        self.distance_along(point, self.normal(point))
    }

    fn sample(&self, point: Vec3) -> Sample {
        let point = point.as_dvec3();
        let normal = self.normal(point);
        Sample {
            distance: self.distance_along(point, normal),
            gradient: normal.as_vec3(),
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
        Some(Recipe::Ellipsoid(self.half_extents.to_array()))
    }
}
