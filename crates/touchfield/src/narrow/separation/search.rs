//! Narrow phase: the signed separation of two shapes, with a proven bracket.
//!
//! Input: a [`Pair`], a tolerance. Output: [`Separation`], whose bounds hold the true value, field errors and rounding included.
//! Cost: grows with the inverse of the tolerance; two field values a box; no allocation once the heap has grown.
//! Not for: contact patches, which the other methods find.
//!
//! `separation(A, B) = 2 · min over x of max(φA(x), φB(x))`: the distance of bodies that are apart, minus the diameter of the
//! largest ball in the overlap of bodies that are not. φA and φB are 1-Lipschitz, so a box of half-diagonal r whose
//! centre has the value m holds nothing below m − r: the subdivision of document 001, with the half-diagonal for its "size", made
//! best-first, which makes the smallest bound left in the heap a bound of everything. Convex bodies that are apart are told by `convex`, which brackets their
//! distance in microseconds, and bodies with exact surfaces by their triangles, which no field's error shifts.

use crate::narrow::scratch::BoxPiece;
use crate::narrow::scratch::SeparationScratch;
use crate::narrow::separation::answer::Precision;
use crate::narrow::separation::answer::Separation;
use crate::narrow::separation::answer::SeparationOutcome;
use crate::narrow::separation::answer::SeparationSettings;
use crate::narrow::separation::answer::lower_value;
use crate::narrow::separation::answer::quick;
use crate::narrow::separation::answer::rounding;
use crate::narrow::separation::answer::turned_box;
use glam::{Mat3, Vec3};

use crate::contact::{Contact, ContactId};
use crate::field::{Field, Meaning, Sample};
use crate::geom::{Aabb, Pose, turned_half_extents};
use crate::narrow::pair::{CollideError, Contacts, Pair};
use crate::narrow::pair::{check_tolerance, checked};
use crate::narrow::scratch::PairMemory;
use crate::narrow::search::boxes::half_diagonal;
use crate::narrow::search::least_first::{LeastFirst, Open};
use crate::narrow::search::shell_pairs::{NearestPoints, nearest_points};
use crate::narrow::separation::by_convex;
use crate::narrow::separation::by_surfaces;
use crate::narrow::separation::by_surfaces::Told;
use crate::shape::Shape;
use crate::threads;

/// Finds the separation of a pair.
pub fn separation(
    pair: &Pair<'_>,
    settings: &SeparationSettings,
    scratch: &mut SeparationScratch,
) -> Result<Separation, CollideError> {
    // Of another pair.
    scratch.convex.clear();
    separation_above(pair, settings, Precision::EVEN, scratch)
}

/// [`separation`] of a pair that was asked before, or will be again: `memory` is its own, and lets convex bodies begin where they ended.
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
    let found = separation_above(pair, settings, Precision::EVEN, scratch);
    std::mem::swap(&mut scratch.convex.memory, memory.convex());
    found
}

/// [`separation`], less precise the farther it is above a level. `scratch.convex` is of this pair or clear.
pub(crate) fn separation_above(
    pair: &Pair<'_>,
    settings: &SeparationSettings,
    precision: Precision,
    scratch: &mut SeparationScratch,
) -> Result<Separation, CollideError> {
    let pair = &checked(pair)?;
    check_tolerance(settings.tolerance)?;
    let both = Both::of(pair)?;
    if let Some(found) = by_convex::separation(pair, settings, &mut scratch.convex) {
        return Ok(found);
    }
    let by_surfaces =
        by_surfaces::separation(pair, settings, precision, both.rounding, &mut scratch.discs);
    if let Told::Apart(found) = by_surfaces {
        return Ok(found);
    }
    let mut search = Search {
        both,
        tolerance: 0.5 * settings.tolerance,
        threshold: settings.threshold.map(|threshold| 0.5 * threshold),
        precision: Precision {
            level: 0.5 * precision.level,
            share: precision.share,
            enough: 0.5 * precision.enough,
        },
        best: Candidate::NONE,
        boxes: 0,
    };
    if let Told::AtMost(distance) = by_surfaces {
        search.best.upper = 0.5 * distance;
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
    // Between the boxes of the fields only lower bounds are known. So the fields show that the bodies are apart, which takes
    // little, and the shells how far.
    let asked = search.threshold;
    // Where the level lies within what the shells leave open, the fields know better.
    let above = 2.0 * (search.best.low - search.precision.level);
    let shells_suffice = precision.share == 0.0
        || nearest.lower_bound - precision.level >= (1.0 - precision.share) * above;
    if shells_suffice {
        search.threshold = Some(asked.unwrap_or(0.0).max(0.0));
    }
    let mut found = search.run(settings.max_boxes, scratch);
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

/// Appends the one contact that the separation is, if it is at most `max_separation`.
pub(crate) fn collide(
    pair: &Pair<'_>,
    max_separation: f32,
    scratch: &mut SeparationScratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    let found = separation(pair, &quick(pair), scratch)?;
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

/// The separation at many poses of B, in order.
pub fn separation_many(
    a: &Shape,
    b: &Shape,
    a_from_b: &[Pose],
    settings: &SeparationSettings,
) -> Vec<Result<Separation, CollideError>> {
    /// Long enough that a heap is worth growing, short enough that all threads get some.
    const PIECE: usize = 64;
    threads::map_sharing(a_from_b, PIECE, |&a_from_b, scratch| {
        separation(&Pair { a, b, a_from_b }, settings, scratch)
    })
}

/// Both fields as functions of a point in frame A.
struct Both<'a> {
    a: &'a Shape,
    b: &'a Shape,
    a_from_b: Pose,
    b_from_a: (Mat3, Vec3),
    /// What is to be taken off a value to bound the true distance from below \[m\].
    error_a: f32,
    error_b: f32,
    /// Of a point that is taken from A to B, and of the few sums made with it \[m\].
    rounding: f32,
    /// The solid of B, in frame A.
    solid_b: Aabb,
}

impl<'a> Both<'a> {
    fn of(pair: &Pair<'a>) -> Result<Both<'a>, CollideError> {
        let Pair { a, b, a_from_b } = *pair;
        let b_from_a = a_from_b.inverse();
        let solid_b = turned_box(b.solid(), a_from_b);
        if a.solid().is_empty() || b.solid().is_empty() {
            return Err(CollideError::Empty);
        }
        if !a.solid().is_finite() && !b.solid().is_finite() {
            return Err(CollideError::Unbounded);
        }
        let rounding = rounding(pair);
        Ok(Both {
            a,
            b,
            a_from_b,
            b_from_a: (Mat3::from_quat(b_from_a.rotation), b_from_a.translation),
            error_a: a.field().error_bound() + rounding,
            error_b: b.field().error_bound() + rounding,
            rounding,
            solid_b,
        })
    }

    fn to_b(&self, point_in_a: Vec3) -> Vec3 {
        self.b_from_a.0 * point_in_a + self.b_from_a.1
    }

    /// A proven lower bound of `max(φA, φB)` at a point \[m\].
    fn low(&self, point: Vec3) -> f32 {
        let low_a = lower_value(self.a.field(), self.error_a, point);
        low_a.max(lower_value(self.b.field(), self.error_b, self.to_b(point)))
    }

    /// Values and gradients of both, in frame A.
    fn sample(&self, point: Vec3) -> [Sample; 2] {
        let in_b = self.b.field().sample(self.to_b(point));
        let gradient = self.a_from_b.transform_vector(in_b.gradient);
        [self.a.field().sample(point), Sample { gradient, ..in_b }]
    }

    /// Nothing in the box has less than this, by planes below both fields: to second order in its size, where gradients cancel.
    ///
    /// For every share `λ` from 0 to 1, `max(φA, φB) ≥ λ φA + (1 − λ) φB`, and a linear function is least at a corner of the box. The
    /// best share lies at an end or where a component of the joint gradient changes its sign.
    fn lower_by_planes(&self, center: Vec3, half: Vec3) -> Option<f32> {
        let plane_a = self
            .a
            .field()
            .lower_plane(Aabb::from_center(center, half))?;
        let half_b = turned_half_extents(self.b_from_a.0, half);
        // Grown by what turning it may have rounded away.
        let cell_b = Aabb::from_center(self.to_b(center), half_b).grown(self.rounding);
        let plane_b = self.b.field().lower_plane(cell_b)?;
        let (slope_a, slope_b) = (
            plane_a.gradient,
            self.a_from_b.transform_vector(plane_b.gradient),
        );
        let at = |share: f32| {
            let slope = share * slope_a + (1.0 - share) * slope_b;
            share * plane_a.value + (1.0 - share) * plane_b.value - slope.abs().dot(half)
        };
        let crossings = slope_b / (slope_b - slope_a);
        let mut lower = at(0.0).max(at(1.0));
        for share in crossings.to_array() {
            // NaN where the components are equal: then no share is special.
            if share > 0.0 && share < 1.0 {
                lower = lower.max(at(share));
            }
        }
        Some(lower - self.rounding)
    }

    /// Halfway between the boxes where they are apart, in the middle of their overlap where they are not.
    fn first_guess(&self) -> Vec3 {
        let (a, b) = (self.a.solid(), self.solid_b);
        let overlap = a.intersection(b);
        // Apart along an axis, min and max have changed places, and the middle is that of the gap.
        let middle = overlap.center();
        if middle.is_finite() {
            return middle;
        }
        // One side is endless along some axis: the middle of the other, as near as that goes.
        let finite = if a.is_finite() { a } else { b };
        let center = finite.center();
        if center.is_finite() {
            center
        } else {
            Vec3::ZERO
        }
    }
}

/// The best point so far.
#[derive(Clone, Copy)]
struct Candidate {
    point: Vec3,
    /// `max` of both values less their errors: what bounds are compared with \[m\].
    low: f32,
    /// Proven upper bound of the minimum \[m\].
    upper: f32,
    /// The least `max` of both values as they are: the best guess, which errors do not shift \[m\].
    value: f32,
    /// Where that is \[m\].
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
    /// Of the minimum, half that of the separation \[m\].
    tolerance: f32,
    threshold: Option<f32>,
    /// Its levels are of the minimum, too.
    precision: Precision,
    best: Candidate,
    boxes: u32,
}

impl Search<'_> {
    /// Boxes that hold nothing below this are not worth opening \[m\].
    fn low_enough(&self) -> f32 {
        let above = self.best.low - self.precision.level;
        self.best.low - self.tolerance.max(self.precision.share * above)
    }

    /// Whether the best point so far lies apart from both bodies and outside the box of a field with cells.
    fn is_beyond_the_fields(&self) -> bool {
        let Both { a, b, .. } = &self.both;
        let is_outside = |shape: &Shape, point: Vec3| {
            shape.cell_size() > 0.0 && !shape.field().bounds().contains(point)
        };
        let point = self.best.point;
        self.best.low > 0.0 && (is_outside(a, point) || is_outside(b, self.both.to_b(point)))
    }

    /// The nearest points of both shells, if there are two; the best point goes midway between them if that is better.
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

    /// Best-first branch and bound.
    fn run(mut self, max_boxes: u32, scratch: &mut SeparationScratch) -> Separation {
        let SeparationScratch {
            heap,
            centers,
            distances,
            ..
        } = scratch;
        heap.clear();
        // Where φA or φB exceeds a proven upper bound, the minimum is not.
        let reach = self.best.upper.max(0.0) * (1.0 + 4.0 * f32::EPSILON) + self.both.error_b;
        let root = (self.both.a.solid().grown(reach)).intersection(self.both.solid_b.grown(reach));
        let (center, half) = (root.center(), root.half_extents());
        if root.is_empty() || !center.is_finite() || !half.is_finite() {
            // Coordinates beyond f32: nothing is known.
            return self.answer(f32::NEG_INFINITY, SeparationOutcome::GaveUp);
        }
        heap.push(Open {
            lower: self.both.low(center) - half_diagonal(half),
            number: 0,
            piece: BoxPiece { center, half },
        });
        // The smallest bound among boxes that were left unopened.
        let mut closed = f32::INFINITY;
        let mut outcome = SeparationOutcome::Converged;
        while let Some(open) = heap.pop() {
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
            let half = self.split(&open.piece, centers);
            closed = closed.min(self.visit(open.lower, half, centers, distances, heap));
        }
        // An empty heap means that all that is left was closed.
        let lower = closed.min(self.best.low);
        self.answer(lower, outcome)
    }

    /// The middles of the parts of a box, and half their sides: long axes are halved, short ones wait.
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

    /// Bounds the parts of a box and keeps those that may hold less than the best. Returns the least bound of the others.
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
        // Those that A alone rules out need no value of B.
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

    /// Takes a point, and what descent from it finds, for the best if they are.
    fn consider(&mut self, from: Vec3) {
        for point in [from, self.descend(from)] {
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

    /// Goes down `max(φA, φB)` from a point: first to where both are equal, then along their common slope.
    ///
    /// Only a guess for the search to begin with: it proves nothing, and may stop anywhere.
    fn descend(&self, from: Vec3) -> Vec3 {
        /// Tuned: fewer leave the search with a poor start, more cost as much as the boxes they save.
        const STEPS: usize = 24;
        let larger = |[a, b]: &[Sample; 2]| a.distance.max(b.distance);
        let mut best = (from, self.both.sample(from));
        // As far as the slope would have to go if the bodies had the curvature of the distance itself.
        let mut stride = 0.5 * larger(&best.1).abs();
        let mut point = downhill(from, &best.1, stride);
        for _ in 1..STEPS {
            let samples = self.both.sample(point);
            if larger(&samples) < larger(&best.1) {
                best = (point, samples);
                stride *= 1.5;
            } else {
                // Back to the best, and less far.
                stride *= 0.4;
                if stride < 0.1 * self.tolerance {
                    break;
                }
            }
            point = downhill(best.0, &best.1, stride);
        }
        best.0
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

/// One step of descent: to where both values would be equal, and `stride` down their common slope.
fn downhill(point: Vec3, [a, b]: &[Sample; 2], stride: f32) -> Vec3 {
    // Moving by s along −∇φ of the larger lowers it by s and the other by s·cos.
    let cosine = a.gradient.dot(b.gradient).clamp(-1.0, 1.0);
    let difference = a.distance - b.distance;
    // Parallel gradients never meet; half the way down the larger is as good as any.
    let length = (difference.abs() / (1.0 - cosine).max(0.25)).min(difference.abs() * 2.0);
    let down = if difference > 0.0 {
        -a.gradient
    } else {
        -b.gradient
    };
    point + length * down - stride * 0.5 * (a.gradient + b.gradient)
}

/// [`lower_value`] of many points.
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

/// A proven upper bound of the true distance at a point \[m\].
///
/// Intervals hold the field's own error; `rounding` is that of the point. Outside its box a field gives lower bounds only, so we walk towards the surface: the distance is at most the way to any
/// point plus the distance there.
fn upper_value(field: &dyn Field, rounding: f32, point: Vec3) -> f32 {
    /// Each step leaves at least the box; a few bring the surface within the field's own error.
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
