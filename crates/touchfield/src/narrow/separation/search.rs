//! Narrow phase: the signed separation of two shapes, with a proven bracket.
//!
//! Input: a [`Pair`] and a tolerance.
//! Output: a [`Separation`], whose bounds hold the true value, field errors and rounding included.
//! Cost: grows with the inverse of the tolerance; two field values per box; no allocation once the
//! heap has grown.
//! Not for: contact patches, which the other methods find.
//!
//! `separation(A, B) = 2 · min over x of max(φA(x), φB(x))`: the distance of bodies that are apart,
//! minus the diameter of the largest ball in the overlap of bodies that are not.
//!
//! φA and φB are 1-Lipschitz, so a box of half-diagonal r whose centre has the value m holds
//! nothing below m − r. This is the subdivision of \[Adelman\] with the half-diagonal for its
//! "size", made best-first, so that the smallest bound left in the heap bounds all that is left.
//! Convex bodies that are apart are handled by `convex`, which brackets their distance in
//! microseconds, and bodies with exact surfaces by their triangles, which have no field error.

use crate::narrow::scratch::BoxPiece;
use crate::narrow::scratch::SeparationScratch;
use crate::narrow::separation::answer::Precision;
use crate::narrow::separation::answer::Separation;
use crate::narrow::separation::answer::SeparationOutcome;
use crate::narrow::separation::answer::SeparationSettings;
use crate::narrow::separation::answer::lower_value;
use crate::narrow::separation::answer::quick;
use glam::Vec3;

use crate::contact::{Contact, ContactId};
use crate::field::{Field, Meaning, Sample};
use crate::geom::{Aabb, Pose};
use crate::narrow::pair::{CollideError, Contacts, Pair};
use crate::narrow::pair::{check_tolerance, checked};
use crate::narrow::scratch::PairMemory;
use crate::narrow::search::boxes::half_diagonal;
use crate::narrow::search::least_first::{LeastFirst, Open};
use crate::narrow::search::shell_pairs::{NearestPoints, nearest_points};
use crate::narrow::separation::both::Both;
use crate::narrow::separation::by_convex;
use crate::narrow::separation::by_surfaces;
use crate::narrow::separation::by_surfaces::Told;
use crate::narrow::separation::overlap_by_surfaces;
use crate::shape::Shape;
use crate::threads;

/// Computes the separation of a pair.
pub fn separation(
    pair: &Pair<'_>,
    settings: &SeparationSettings,
    scratch: &mut SeparationScratch,
) -> Result<Separation, CollideError> {
    // The cache may belong to another pair.
    scratch.convex.clear();
    separation_above(pair, settings, Precision::of(settings), scratch)
}

/// Computes the separation of a pair, as [`separation`] does, with a warm start from `memory`.
///
/// `memory` belongs to this one pair and carries the state of convex bodies from call to call.
pub fn separation_again(
    pair: &Pair<'_>,
    settings: &SeparationSettings,
    memory: &mut PairMemory,
    scratch: &mut SeparationScratch,
) -> Result<Separation, CollideError> {
    if !by_convex::are_convex(pair) {
        return separation(pair, settings, scratch);
    }
    scratch.convex.clear();
    std::mem::swap(&mut scratch.convex.memory, memory.convex());
    let found = separation_above(pair, settings, Precision::of(settings), scratch);
    std::mem::swap(&mut scratch.convex.memory, memory.convex());
    found
}

/// Computes the separation, less precisely the farther it is above the level of `precision`.
/// `scratch.convex` must belong to this pair or be clear.
pub(crate) fn separation_above(
    pair: &Pair<'_>,
    settings: &SeparationSettings,
    precision: Precision,
    scratch: &mut SeparationScratch,
) -> Result<Separation, CollideError> {
    let pair = &checked(pair)?;
    check_tolerance(settings.tolerance)?;
    let both = Both::of(pair)?;
    // Convex bodies and exact surfaces have faster methods.
    if let Some(found) = by_convex::separation(pair, settings, &mut scratch.convex) {
        return Ok(found);
    }
    let by_surfaces =
        by_surfaces::separation(pair, settings, precision, both.rounding, &mut scratch.discs);
    if let Told::Apart(found) = by_surfaces {
        return Ok(found);
    }
    // Otherwise search for `min max(φA, φB)`, which is half the separation.
    let mut search = Search {
        both,
        tolerance: 0.5 * settings.tolerance,
        threshold: settings.threshold.map(|threshold| 0.5 * threshold),
        precision: Precision {
            level: 0.5 * precision.level,
            share: precision.share,
            enough: 0.5 * precision.enough,
            ..precision
        },
        best: Candidate::NONE,
        boxes: 0,
    };
    if let Told::AtMost(distance) = by_surfaces {
        search.best.upper = 0.5 * distance;
    }
    // With exact distances the fields only say where to look.
    if precision.exact_depth
        && let Some(exact) =
            overlap_by_surfaces::separation(pair, &search.both, settings, precision, scratch)
    {
        if exact.outcome != SeparationOutcome::GaveUp {
            return Ok(exact);
        }
        // The fields may have proven more.
        let by_fields = Precision {
            exact_depth: false,
            ..precision
        };
        let rough = separation_above(pair, settings, by_fields, scratch)?;
        let lower_bound = (exact.lower_bound.max(rough.lower_bound)).min(exact.upper_bound);
        return Ok(Separation {
            separation: exact.separation.max(lower_bound),
            lower_bound,
            ..exact
        });
    }
    let start = settings.start.filter(|start| start.is_finite());
    search.consider(start.unwrap_or_else(|| search.both.first_guess()));
    let by_shells = search
        .is_beyond_the_fields()
        .then(|| search.nearest_points(scratch));
    let Some(nearest) = by_shells
        .flatten()
        .filter(|_| search.is_beyond_the_fields())
    else {
        return Ok(search.run(settings.max_boxes, scratch));
    };
    // Outside the boxes of the fields only lower bounds are available. So the fields show that the
    // bodies are apart, which takes little work, and the shells measure how far.
    let asked = search.threshold;
    // Where the level lies within the uncertainty of the shells, the fields are more precise.
    let above = 2.0 * (search.best.low - search.precision.level);
    let shells_suffice = precision.share == 0.0
        || nearest.lower_bound - precision.level >= (1.0 - precision.share) * above;
    if shells_suffice {
        search.threshold = Some(asked.unwrap_or(0.0).max(0.0));
    }
    let mut found = search.run(settings.max_boxes, scratch);
    // Apart: the shells improve the bracket, the points and the normal.
    if found.lower_bound > 0.0 {
        found.lower_bound = (found.lower_bound.max(nearest.lower_bound)).min(found.upper_bound);
        let gap = nearest.on_b - nearest.on_a;
        found.separation = gap.length().clamp(found.lower_bound, found.upper_bound);
        found.point = nearest.on_a + 0.5 * gap;
        (found.point_on_a, found.point_on_b) = (nearest.on_a, nearest.on_b);
        found.normal = gap.try_normalize().unwrap_or(found.normal);
        if found.outcome != SeparationOutcome::GaveUp {
            let is_decided = asked.is_some_and(|threshold| {
                found.lower_bound > 2.0 * threshold || found.upper_bound <= 2.0 * threshold
            });
            found.outcome = match is_decided {
                true => SeparationOutcome::Decided,
                false => SeparationOutcome::Converged,
            };
        }
    }
    Ok(found)
}

/// Appends the contact at the minimum of the separation, if that is at most `max_separation` \[m\].
pub(crate) fn collide(
    pair: &Pair<'_>,
    max_separation: f32,
    scratch: &mut SeparationScratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    scratch.convex.clear();
    let found = separation_above(pair, &quick(pair), Precision::EVEN, scratch)?;
    out.distance = out.distance.min(found.separation);
    if found.separation <= max_separation {
        out.contacts.push(Contact {
            point: found.point,
            normal: found.normal,
            separation: found.separation,
            id: ContactId(0),
        });
    }
    Ok(())
}

/// Computes the separation at many poses of B, in parallel; results are in the order of the poses.
pub fn separation_many(
    a: &Shape,
    b: &Shape,
    a_from_b: &[Pose],
    settings: &SeparationSettings,
) -> Vec<Result<Separation, CollideError>> {
    /// Number of poses per thread task: enough for a heap to be worth growing, few enough that all
    /// threads get some.
    const PIECE: usize = 64;
    threads::map_sharing(a_from_b, PIECE, |&a_from_b, scratch| {
        separation(&Pair { a, b, a_from_b }, settings, scratch)
    })
}

/// The best points so far.
#[derive(Clone, Copy)]
struct Candidate {
    /// Point of the least `low` \[m\].
    point: Vec3,
    /// The least `max` of both values minus their errors, which lower bounds are compared with
    /// \[m\].
    low: f32,
    /// Proven upper bound of the minimum \[m\].
    upper: f32,
    /// The least `max` of both values themselves: the best estimate, which errors do not shift
    /// \[m\].
    value: f32,
    /// Point of the least `value` \[m\].
    guess: Vec3,
}

impl Candidate {
    const NONE: Candidate = Candidate {
        point: Vec3::ZERO,
        low: f32::INFINITY,
        upper: f32::INFINITY,
        value: f32::INFINITY,
        guess: Vec3::ZERO,
    };
}

struct Search<'a> {
    both: Both<'a>,
    /// Tolerance of the minimum, half that of the separation \[m\].
    tolerance: f32,
    threshold: Option<f32>,
    /// Precision of the minimum: its levels are half those of the separation.
    precision: Precision,
    best: Candidate,
    boxes: u32,
}

impl Search<'_> {
    /// Returns the lower bound from which a box is not worth opening \[m\].
    fn low_enough(&self) -> f32 {
        let above = self.best.low - self.precision.level;
        self.best.low - self.tolerance.max(self.precision.share * above)
    }

    /// Returns whether the best point so far lies outside both bodies and outside the box of a
    /// field with cells.
    fn is_beyond_the_fields(&self) -> bool {
        let Both { a, b, .. } = &self.both;
        let is_outside = |shape: &Shape, point: Vec3| {
            shape.cell_size() > 0.0 && !shape.field().bounds().contains(point)
        };
        let point = self.best.point;
        self.best.low > 0.0 && (is_outside(a, point) || is_outside(b, self.both.to_b(point)))
    }

    /// Returns the nearest points of both shells, if both bodies have one, and considers the point
    /// midway between them.
    fn nearest_points(&mut self, scratch: &mut SeparationScratch) -> Option<NearestPoints> {
        let (shell_a, shell_b) = (self.both.a.shell()?, self.both.b.shell()?);
        let nearest = nearest_points(
            shell_a,
            shell_b,
            self.both.a_from_b,
            2.0 * self.best.upper,
            self.both.rounding,
            &mut scratch.pairs,
        );
        self.consider(0.5 * (nearest.on_a + nearest.on_b));
        Some(nearest)
    }

    /// Runs the best-first branch and bound.
    fn run(mut self, max_boxes: u32, scratch: &mut SeparationScratch) -> Separation {
        let SeparationScratch {
            heap,
            centers,
            distances,
            ..
        } = scratch;
        heap.clear();
        // Outside the region where both φA and φB are below a proven upper bound there is no
        // minimum.
        let reach = self.best.upper.max(0.0) * (1.0 + 4.0 * f32::EPSILON) + self.both.error_b;
        let root = (self.both.a.solid().grown(reach)).intersection(self.both.solid_b.grown(reach));
        let (center, half) = (root.center(), root.half_extents());
        if root.is_empty() || !center.is_finite() || !half.is_finite() {
            // Coordinates overflow `f32`: nothing can be proven.
            return self.answer(f32::NEG_INFINITY, SeparationOutcome::GaveUp);
        }
        heap.push(Open {
            lower: self.both.low(center) - half_diagonal(half),
            number: 0,
            piece: BoxPiece { center, half },
        });
        // The smallest lower bound among the boxes that were left unopened.
        let mut closed = f32::INFINITY;
        let mut outcome = SeparationOutcome::Converged;
        while let Some(open) = heap.pop() {
            // Stop if the rest cannot improve the result, or if a criterion or limit is met.
            if open.lower >= self.low_enough() {
                closed = closed.min(open.lower);
                break;
            }
            if self.best.value <= self.precision.enough {
                closed = closed.min(open.lower);
                outcome = SeparationOutcome::Decided;
                break;
            }
            if let Some(threshold) = self.threshold {
                let above = open.lower.min(closed) > threshold;
                if above || self.best.upper <= threshold {
                    closed = closed.min(open.lower);
                    outcome = SeparationOutcome::Decided;
                    break;
                }
            }
            if self.boxes >= max_boxes {
                closed = closed.min(open.lower);
                outcome = SeparationOutcome::GaveUp;
                break;
            }
            // Open the box.
            let half = self.split(&open.piece, centers);
            closed = closed.min(self.visit(open.lower, half, centers, distances, heap));
        }
        // If the heap is empty, every box that remains was closed.
        let lower = closed.min(self.best.low);
        self.answer(lower, outcome)
    }

    /// Fills `centers` with the centres of the parts of a box, and returns their half-extents. Long
    /// axes are halved; short ones are kept.
    fn split(&self, piece: &BoxPiece, centers: &mut Vec<Vec3>) -> Vec3 {
        let longest = piece.half.max_element();
        let halved = piece.half.cmpgt(Vec3::splat(0.6 * longest));
        let half = Vec3::select(halved, 0.5 * piece.half, piece.half);
        let step = Vec3::select(halved, half, Vec3::ZERO);
        centers.clear();
        for corner in 0..8u32 {
            let bit = |axis: u32| corner >> axis & 1 == 1;
            let once = (0..3).all(|axis| halved.test(axis) || !bit(axis as u32));
            if once {
                let sign = Vec3::new(
                    if bit(0) { 1.0 } else { -1.0 },
                    if bit(1) { 1.0 } else { -1.0 },
                    if bit(2) { 1.0 } else { -1.0 },
                );
                centers.push(piece.center + sign * step);
            }
        }
        half
    }

    /// Bounds the parts of a box, and queues those that may hold less than the best. Returns the
    /// least bound of the others.
    fn visit(
        &mut self,
        lower_of_parent: f32,
        half: Vec3,
        centers: &mut Vec<Vec3>,
        distances: &mut Vec<f32>,
        heap: &mut LeastFirst<BoxPiece>,
    ) -> f32 {
        let radius = half_diagonal(half);
        let first = self.boxes;
        self.boxes += centers.len() as u32;
        let mut left = f32::INFINITY;
        lower_values(self.both.a.field(), self.both.error_a, centers, distances);
        let mut kept = 0;
        // Parts that A alone rules out need no value of B.
        let most = self.low_enough();
        for index in 0..centers.len() {
            let lower = distances[index] - radius;
            if lower >= most {
                left = left.min(lower.max(lower_of_parent));
            } else {
                centers[kept] = centers[index];
                distances[kept] = distances[index];
                kept += 1;
            }
        }
        centers.truncate(kept);
        for (index, &center) in centers.iter().enumerate() {
            let in_b = self.both.to_b(center);
            let low_b = lower_value(self.both.b.field(), self.both.error_b, in_b);
            let low = low_b.max(distances[index]);
            if low < self.best.low {
                self.consider(center);
            }
            let mut lower = (low - radius).max(lower_of_parent);
            if lower < self.low_enough() {
                lower = lower.max(self.both.lower_by_planes(center, half).unwrap_or(lower));
            }
            if lower >= self.low_enough() {
                left = left.min(lower);
            } else {
                heap.push(Open {
                    lower,
                    number: u64::from(first) + index as u64,
                    piece: BoxPiece { center, half },
                });
            }
        }
        left
    }

    /// Compares a point, and the point that descent from it finds, with the best so far.
    fn consider(&mut self, from: Vec3) {
        for point in [from, self.both.descend(from, self.tolerance)] {
            let in_b = self.both.to_b(point);
            let low = self.both.low(point);
            let [a, b] = [
                self.both.a.field().distance(point),
                self.both.b.field().distance(in_b),
            ];
            if a.max(b) < self.best.value {
                self.best.value = a.max(b);
                self.best.guess = point;
            }
            if low < self.best.low {
                self.best.low = low;
                self.best.point = point;
            }
            let upper_a = upper_value(self.both.a.field(), self.both.rounding, point);
            let upper_b = upper_value(self.both.b.field(), self.both.rounding, in_b);
            self.best.upper = self.best.upper.min(upper_a.max(upper_b));
        }
    }

    fn answer(self, lower: f32, outcome: SeparationOutcome) -> Separation {
        let Candidate {
            guess: point,
            upper,
            ..
        } = self.best;
        let [a, b] = self.both.sample(point);
        let lower = lower.min(upper);
        let gradient = |sample: &Sample| sample.gradient.normalize_or_zero();
        let (out_of_a, out_of_b) = (gradient(&a), gradient(&b));
        let normal = (out_of_a - out_of_b)
            .try_normalize()
            .or(out_of_a.try_normalize())
            .unwrap_or(Vec3::X);
        Separation {
            separation: 2.0 * a.distance.max(b.distance).clamp(lower, upper),
            lower_bound: 2.0 * lower,
            upper_bound: 2.0 * upper,
            point,
            point_on_a: point - a.distance * out_of_a,
            point_on_b: point - b.distance * out_of_b,
            normal,
            boxes: self.boxes,
            outcome,
        }
    }
}

/// Computes [`lower_value`] at many points.
fn lower_values(field: &dyn Field, error: f32, points: &[Vec3], out: &mut Vec<f32>) {
    match field.meaning() {
        Meaning::Distance => {
            field.distance_many(points, out);
            for value in out {
                *value -= error;
            }
        }
        Meaning::Bound => {
            out.clear();
            out.extend(points.iter().map(|&point| lower_value(field, error, point)));
        }
    }
}

/// Returns a proven upper bound of the true distance at a point \[m\].
///
/// Intervals include the field's own error; `rounding` is that of the point. Outside its box a
/// field gives lower bounds only, so the function walks towards the surface: the distance is at
/// most the path to any point plus the distance there.
fn upper_value(field: &dyn Field, rounding: f32, point: Vec3) -> f32 {
    /// Each step reaches at least the box; a few bring the walker to the surface within the field's
    /// own error.
    const STEPS: usize = 6;
    let at = |point: Vec3| field.interval(Aabb::new(point, point)).upper;
    let mut upper = at(point);
    if field.bounds().contains(point) {
        return upper + rounding;
    }
    let mut walker = point;
    for _ in 0..STEPS {
        let sample = field.sample(walker);
        if sample.distance.abs() <= rounding {
            break;
        }
        walker -= sample.distance * sample.gradient;
        upper = upper.min(point.distance(walker) + at(walker));
    }
    upper + rounding
}
