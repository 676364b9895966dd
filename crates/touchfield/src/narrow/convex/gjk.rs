//! Distance of two convex sets by the algorithm of Gilbert, Johnson and Keerthi.
//!
//! Input: two sets as support functions, B posed in frame A; a tolerance; the state of the last
//! search of this pair.
//! Output: the two nearest points, and a bracket around their distance; or that the sets overlap,
//! and a simplex that shows it.
//! Cost: some four to seven support points per set, fewer for a pair that moved a little; no
//! allocation.
//! Not for: depths (see `epa`).
//!
//! Proximity GJK of \[Lecture06\], \[Gilbert1988\] and \[VanDenBergen1999\]. `v`, the point of the
//! simplex nearest the origin, bounds the distance from above; the plane through the support point
//! along `−v` bounds it from below. The search ends where the two bounds meet, and the result
//! includes both. All is in `f64`: shapes and poses are `f32`, so rounding stays nine digits below
//! their resolution, far from the origin too.

use glam::DVec3;

use crate::narrow::convex::simplex::{Origin, Simplex, Vertex};
use crate::shape::convex::{Posed, Support};

/// Settings of a distance query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GjkSettings {
    /// Maximum width of the bracket, as a fraction of the distance.
    pub relative: f64,
    /// Sum of the radii around the sets \[m\]. It will be subtracted from the distance, so
    /// `relative` refers to the difference.
    pub radii: f64,
    /// Width of the bracket that is always sufficient \[m\].
    pub absolute: f64,
    /// Distance above which the search stops as soon as it is proven \[m\].
    pub threshold: f64,
    /// Maximum number of support points. Beyond it the search ends with the bracket it has.
    pub max_steps: u32,
}

impl Default for GjkSettings {
    fn default() -> GjkSettings {
        GjkSettings {
            relative: 1e-6,
            radii: 0.0,
            absolute: 0.0,
            threshold: f64::INFINITY,
            max_steps: 256,
        }
    }
}

impl GjkSettings {
    /// Returns the width of a bracket that is narrow enough at a distance \[m\].
    fn width(&self, length: f64) -> f64 {
        /// Fraction of the distance of the sets that is always sufficient. Where subtracting the
        /// radii leaves little, the remainder need not be resolved exactly.
        const FLOOR: f64 = 1e-9;
        let share = self.relative * (length - self.radii).abs();
        share.max(self.absolute).max(FLOOR * length)
    }
}

/// State of the last search of a pair, for a warm start. It must not be used for another pair,
/// whose shapes make other simplices.
#[derive(Clone, Copy, Debug, Default)]
pub struct GjkCache<HintA = u32, HintB = u32> {
    pub(super) simplex: Simplex,
    pub(super) hints: (HintA, HintB),
}

impl<HintA: Default, HintB: Default> GjkCache<HintA, HintB> {
    /// Discards the state of the pair.
    pub(super) fn clear(&mut self) {
        self.simplex.clear();
        self.hints = Default::default();
    }
}

/// Result of a search, in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proximity {
    /// Distance of the two points \[m\]: an upper bound of the distance of the sets; 0 when
    /// overlapping.
    pub distance: f64,
    /// Proven lower bound of the distance, with rounding included \[m\].
    pub lower_bound: f64,
    /// Point of A \[m\].
    pub point_on_a: DVec3,
    /// Point of B \[m\].
    pub point_on_b: DVec3,
    /// Unit normal from A to B; zero when overlapping.
    pub normal: DVec3,
    /// Whether the sets have a point in common, to within rounding.
    pub is_overlapping: bool,
    /// Number of support points computed per set.
    pub steps: u32,
}

/// The difference of two sets, point by point.
pub(super) struct Difference<'a, A, B> {
    pub(super) a: &'a A,
    pub(super) b: &'a Posed<B>,
}

impl<A: Support, B: Support> Difference<'_, A, B> {
    /// Returns the point of A ⊖ B farthest along a direction.
    #[inline(always)]
    pub(super) fn support(&self, direction: DVec3, hints: &mut (A::Hint, B::Hint)) -> Vertex {
        let direction_in_b = -self.b.direction_to_b(direction);
        let places = (
            self.a.look_up(direction),
            self.b.set.look_up(direction_in_b),
        );
        let on_a = (self.a).support_from(direction, places.0, &mut hints.0);
        let on_b = (self.b.set).support_from(direction_in_b, places.1, &mut hints.1);
        self.vertex(on_a, on_b)
    }

    /// Returns the difference of a point of A and a point of B, each in its own frame.
    #[inline(always)]
    pub(super) fn vertex(&self, on_a: DVec3, on_b: DVec3) -> Vertex {
        Vertex {
            difference: on_a - self.b.to_a(on_b),
            on_a,
            on_b,
        }
    }

    /// Returns the rounding error of a point of the difference \[m\].
    pub(super) fn rounding(&self) -> f64 {
        // For `on_a` the subtraction; for `on_b` three products and sums, and the rotation's own
        // roundings.
        8.0 * f64::EPSILON * (self.a.extent() + self.b.extent() + self.b.set.extent())
    }

    /// Moves the simplex of a cache to the current pose, or starts with one point, and refines it.
    pub(super) fn restart(&self, cache: &mut GjkCache<A::Hint, B::Hint>) -> Origin {
        let GjkCache { simplex, hints } = cache;
        for vertex in simplex.vertices_mut() {
            *vertex = self.vertex(vertex.on_a, vertex.on_b);
        }
        if simplex.vertices().is_empty() {
            // The direction between the centres of B and A would be better; this one costs nothing,
            // and one more step.
            let towards = self.b.to_a(DVec3::ZERO);
            simplex.push(self.support(towards, hints));
        }
        simplex.refine()
    }
}

/// Computes the distance of two convex sets.
pub fn distance<A: Support, B: Support>(
    a: &A,
    b: &Posed<B>,
    settings: &GjkSettings,
    cache: &mut GjkCache<A::Hint, B::Hint>,
) -> Proximity {
    /// Angle by which a direction is turned to choose between points that are equally far: more
    /// than rounding, less than the tolerance of a distance.
    const NUDGE: f64 = 1e-8;
    let sets = Difference { a, b };
    let mut origin = sets.restart(cache);
    let rounding = sets.rounding();
    let mut lower_bound = 0f64;
    let mut steps = 0;
    loop {
        let Origin::Outside(v) = origin else {
            return overlapping(&sets, cache, steps);
        };
        let length = v.length();
        if length <= rounding {
            return overlapping(&sets, cache, steps);
        }
        if steps >= settings.max_steps {
            return apart(&sets, cache, v, lower_bound, rounding, steps);
        }
        // The support point along −v gives a lower bound; stop if the bracket is narrow enough.
        let vertex = sets.support(-v, &mut cache.hints);
        steps += 1;
        lower_bound = lower_bound.max(v.dot(vertex.difference) / length);
        // Without a separating plane the sets may overlap, however close to 0 the bracket is.
        let is_close = lower_bound > rounding && length - lower_bound <= settings.width(length);
        let is_enough = lower_bound > settings.threshold;
        if is_close || is_enough {
            return apart(&sets, cache, v, lower_bound, rounding, steps);
        }
        // Advance the simplex.
        let GjkCache { simplex, hints } = &mut *cache;
        let mut advanced = |vertex: Vertex| match simplex.holds(vertex.difference) {
            true => None,
            false => simplex.advance(vertex, v),
        };
        let next = advanced(vertex).or_else(|| {
            // Several points may be equally far along −v, such as the ends of an edge across it.
            // Try the one on the other side, which may lead on where this one does not.
            let beside = vertex.difference.reject_from(v).normalize_or_zero();
            steps += 1;
            advanced(sets.support(-v - NUDGE * length * beside, hints))
        });
        match next {
            Some(next) => origin = next,
            // Converged to within rounding. If no separating plane was found by then, there is
            // none.
            None if lower_bound > rounding => {
                return apart(&sets, cache, v, lower_bound, rounding, steps);
            }
            None => return overlapping(&sets, cache, steps),
        }
    }
}

fn apart<A: Support, B: Support>(
    sets: &Difference<'_, A, B>,
    cache: &GjkCache<A::Hint, B::Hint>,
    v: DVec3,
    lower_bound: f64,
    rounding: f64,
    steps: u32,
) -> Proximity {
    let (on_a, on_b) = cache.simplex.witnesses();
    let distance = v.length();
    Proximity {
        distance: distance + rounding,
        lower_bound: (lower_bound - rounding).clamp(0.0, distance),
        point_on_a: on_a,
        point_on_b: sets.b.to_a(on_b),
        normal: -v / distance,
        is_overlapping: false,
        steps,
    }
}

fn overlapping<A: Support, B: Support>(
    sets: &Difference<'_, A, B>,
    cache: &GjkCache<A::Hint, B::Hint>,
    steps: u32,
) -> Proximity {
    let (on_a, on_b) = cache.simplex.witnesses();
    Proximity {
        distance: 0.0,
        lower_bound: 0.0,
        point_on_a: on_a,
        point_on_b: sets.b.to_a(on_b),
        normal: DVec3::ZERO,
        is_overlapping: true,
        steps,
    }
}
