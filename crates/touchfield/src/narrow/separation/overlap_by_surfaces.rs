//! Narrow phase: the depth of an overlap from exact distances to the faces of the bodies.
//!
//! Input: a [`Pair`] of which one body keeps its faces, and the other does too or is a closed form.
//! Output: a [`Separation`] as narrow as the tolerance, whatever the error of the fields.
//! Cost: hundreds of exact distances, a few microseconds each; microseconds in all between bodies
//! of few flat faces, milliseconds between finely tessellated ones. No allocation once the buffers
//! have grown.
//! Not for: bodies that are apart, whose triangles answer sooner (`by_surfaces`).
//!
//! Branch and bound on `m = max(φA, φB)` over boxes, best-first, in two stages per box:
//!
//! 1. *Fields.* Both fields at the centre, less their errors and the half-diagonal, reject most
//!    boxes within nanoseconds.
//! 2. *Exact distances.* Concave functions that are nowhere above φA or φB ([`Minorants`]) bound
//!    the box by their values at its corners
//!    ([`corner_game`](crate::narrow::search::corner_game)). The point at which that bound would be
//!    attained is measured exactly. If the bound is too low there, the measurement yields minorants
//!    that raise it: the triangles nearest to a point inside, the largest balls that touch the
//!    surfaces from outside. This is the cutting-plane method of \[Kelley1960\]
//!    (docs/BIBLIOGRAPHY.md) with concave functions for planes.
//!
//! Minorants hold everywhere, so parts of a box inherit those that bounded it. They touch the
//! surfaces to second order: boxes shrink with the square root of the tolerance, and flat faces are
//! exact at any size.

use glam::{DVec3, Vec3};

use crate::geom::Pose;
use crate::narrow::pair::Pair;
use crate::narrow::scratch::{BoundedBox, SeparationScratch};
use crate::narrow::search::corner_game::{CORNERS, MOST, solve};
use crate::narrow::search::exact_body::{Exact, ExactBody, Minorants};
use crate::narrow::search::least_first::{LeastFirst, Open};
use crate::narrow::separation::answer::{
    Precision, Separation, SeparationOutcome, SeparationSettings,
};
use crate::narrow::separation::both::Both;

/// Number of boxes that one exact measurement costs, for [`SeparationSettings::max_boxes`].
const BOXES_PER_MEASUREMENT: u32 = 32;

/// Computes the separation from exact distances. Returns `None` if a body has none.
pub(crate) fn separation(
    pair: &Pair<'_>,
    both: &Both<'_>,
    settings: &SeparationSettings,
    precision: Precision,
    scratch: &mut SeparationScratch,
) -> Option<Separation> {
    if pair.a.exact_surface().is_none() && pair.b.exact_surface().is_none() {
        return None;
    }
    let sizes = [pair.a, pair.b].map(|shape| f64::from(shape.solid().diagonal()));
    let size = sizes[0].min(sizes[1]);
    if !(size.is_finite() && size > 0.0) {
        return None;
    }
    let a = ExactBody::of(pair.a, Pose::default(), size)?;
    let b = ExactBody::of(pair.b, pair.a_from_b, size)?;
    let error = a.error.max(b.error);
    let tolerance = 0.5 * f64::from(settings.tolerance);
    let search = Search {
        both,
        // The bracket gets the error on either side, and its ends are rounded to f32.
        tolerance: (tolerance - 2.0 * error - f64::from(f32::EPSILON) * size).max(0.5 * tolerance),
        error,
        threshold: settings
            .threshold
            .map(|threshold| 0.5 * f64::from(threshold)),
        level: 0.5 * f64::from(precision.level),
        share: f64::from(precision.share),
        enough: 0.5 * f64::from(precision.enough),
        max_boxes: settings.max_boxes,
        size,
        best: None,
        boxes: 0,
        a,
        b,
        heap: &mut scratch.bounded,
        minorants: &mut scratch.minorants,
    };
    search.run(settings.start.filter(|start| start.is_finite()))
}

/// The best point so far.
#[derive(Clone, Copy)]
struct Best {
    point: DVec3,
    /// `max(φA, φB)` there \[m\].
    value: f64,
    a: Exact,
    b: Exact,
}

struct Search<'a, 'b> {
    both: &'b Both<'a>,
    a: ExactBody<'a>,
    b: ExactBody<'a>,
    /// Tolerance of the minimum \[m\].
    tolerance: f64,
    /// Error of exact values \[m\].
    error: f64,
    threshold: Option<f64>,
    level: f64,
    share: f64,
    enough: f64,
    max_boxes: u32,
    /// Size of the smaller body \[m\].
    size: f64,
    best: Option<Best>,
    boxes: u32,
    heap: &'b mut LeastFirst<BoundedBox>,
    minorants: &'b mut Minorants,
}

impl Search<'_, '_> {
    fn run(mut self, start: Option<Vec3>) -> Option<Separation> {
        self.heap.clear();
        self.minorants.clear();
        // Start where the fields are least.
        let start = start.unwrap_or_else(|| self.both.first_guess());
        let start = self.both.descend(start, self.tolerance as f32);
        let reach = self.measure_start(start.as_dvec3());
        let root = self.root(reach)?;
        self.heap.push(Open {
            lower: f32::NEG_INFINITY,
            number: 0,
            piece: root,
        });
        // The smallest lower bound among the boxes that were left unopened.
        let mut closed = f64::INFINITY;
        let mut outcome = SeparationOutcome::Converged;
        while let Some(open) = self.heap.pop() {
            let lower = f64::from(open.lower);
            let best = self.value();
            let enough = self.low_enough();
            let is_decided = best <= self.enough
                || self.threshold.is_some_and(|threshold| {
                    lower.min(closed) - self.error > threshold || best + self.error <= threshold
                });
            let gives_up = self.boxes >= self.max_boxes;
            if lower >= enough || is_decided || gives_up {
                closed = closed.min(lower);
                if lower < enough {
                    outcome = match is_decided {
                        true => SeparationOutcome::Decided,
                        false => SeparationOutcome::GaveUp,
                    };
                }
                break;
            }
            closed = closed.min(self.open(&open));
        }
        self.answer(closed, outcome)
    }

    /// Returns the value of the best point \[m\].
    fn value(&self) -> f64 {
        self.best.map_or(f64::INFINITY, |best| best.value)
    }

    /// Returns the lower bound from which a box is not worth opening \[m\].
    fn low_enough(&self) -> f64 {
        let best = self.value();
        best - self.tolerance.max(self.share * (best - self.level))
    }

    /// Measures the start, and returns how far from both bodies the minimiser may be \[m\].
    fn measure_start(&mut self, start: DVec3) -> f64 {
        let (a, b) = self.measure(start);
        self.add_minorants(&a, &b, self.size);
        self.value().max(0.0)
    }

    /// Returns the box that holds the minimiser.
    fn root(&self, reach: f64) -> Option<BoundedBox> {
        if !reach.is_finite() {
            return None;
        }
        let reach = (reach + self.error) as f32 * (1.0 + 4.0 * f32::EPSILON) + self.both.rounding;
        let root = (self.both.a.solid().grown(reach)).intersection(self.both.solid_b.grown(reach));
        let (center, half) = (root.center().as_dvec3(), root.half_extents().as_dvec3());
        if root.is_empty() || !center.is_finite() || !half.is_finite() {
            return None;
        }
        let mut minorants = [0; MOST];
        let count = (self.minorants.count() as usize).min(MOST);
        for (number, minorant) in minorants.iter_mut().take(count).enumerate() {
            *minorant = number as u32;
        }
        Some(BoundedBox {
            center,
            // Rounding of the centre in f32.
            half: half * (1.0 + 1e-6) + f64::from(self.both.rounding),
            minorants,
            count,
        })
    }

    /// Splits a box, bounds its parts and queues those that may hold less than the best. Returns
    /// the least bound of the others.
    fn open(&mut self, open: &Open<BoundedBox>) -> f64 {
        let piece = &open.piece;
        // Long axes are halved; short ones are kept.
        let longest = piece.half.max_element();
        let halved = piece.half.cmpgt(DVec3::splat(0.6 * longest));
        let half = DVec3::select(halved, 0.5 * piece.half, piece.half);
        let step = DVec3::select(halved, half, DVec3::ZERO);
        let mut left = f64::INFINITY;
        for corner in 0..CORNERS {
            // Once per part: not for the second side of an axis that is kept.
            if (0..3).any(|axis| corner >> axis & 1 == 1 && !halved.test(axis)) {
                continue;
            }
            let part = BoundedBox {
                center: piece.center + sign_of(corner) * step,
                half,
                ..*piece
            };
            self.boxes += 1;
            let number = u64::from(self.boxes);
            match self.bound(part, f64::from(open.lower)) {
                Bounded::Closed(lower) => left = left.min(lower),
                Bounded::Open(lower, piece) => self.heap.push(Open {
                    lower: (lower as f32).next_down(),
                    number,
                    piece,
                }),
            }
        }
        left
    }

    /// Bounds a box from below, given the bound of the box that it is a part of.
    fn bound(&mut self, mut piece: BoundedBox, of_whole: f64) -> Bounded {
        /// Most measurements per box. Tuned: with one, boxes are split that a second would close.
        const MOST_MEASUREMENTS: usize = 2;
        /// Most games per box.
        const MOST_ROUNDS: usize = 12;
        /// Part of the lacking height that a minorant must bring to be worth a game.
        const WORTH: f64 = 0.2;
        let radius = piece.half.length();
        // First stage: the fields.
        let by_fields = f64::from(self.both.low(piece.center.as_vec3())) - radius;
        let mut lower = by_fields.max(of_whole);
        if lower >= self.low_enough() {
            return Bounded::Closed(lower);
        }
        let planes = self
            .both
            .lower_by_planes(piece.center.as_vec3(), half_in_f32(piece.half));
        lower = planes.map_or(lower, |planes| lower.max(f64::from(planes)));
        if lower >= self.low_enough() {
            return Bounded::Closed(lower);
        }
        // Second stage: exact distances.
        let corners: [DVec3; CORNERS] =
            std::array::from_fn(|corner| piece.center + sign_of(corner) * piece.half);
        let mut table = Table::default();
        for index in 0..piece.count {
            table.add(piece.minorants[index], &corners, self.minorants);
        }
        let mut measurements = 0;
        for _ in 0..MOST_ROUNDS {
            let (by_minorants, point) = table.game(piece.center, &corners);
            lower = lower.max(by_minorants);
            let lacking = self.low_enough() - lower;
            if lacking <= 0.0 {
                return Bounded::Closed(lower);
            }
            // A minorant of another box may do.
            let worth = by_minorants.max(lower - 4.0 * radius) + WORTH * lacking;
            if let Some(number) = self.minorants.highest(point, worth)
                && table.add(number, &corners, self.minorants)
            {
                continue;
            }
            if measurements == MOST_MEASUREMENTS {
                break;
            }
            measurements += 1;
            let first = self.minorants.count();
            let (a, b) = self.measure(point);
            self.add_minorants(&a, &b, radius);
            for number in first..self.minorants.count() {
                table.add(number, &corners, self.minorants);
            }
        }
        (piece.minorants, piece.count) = (table.numbers, table.count);
        Bounded::Open(lower, piece)
    }

    /// Measures both bodies at a point, and compares it with the best so far.
    fn measure(&mut self, point: DVec3) -> (Exact, Exact) {
        self.boxes += BOXES_PER_MEASUREMENT;
        let (a, b) = (self.a.exact(point), self.b.exact(point));
        let value = a.distance.max(b.distance);
        if a.is_upper && b.is_upper && value < self.value() {
            self.best = Some(Best { point, value, a, b });
        }
        (a, b)
    }

    /// Adds minorants that raise the bound at a measured point, for boxes of a radius \[m\].
    fn add_minorants(&mut self, a: &Exact, b: &Exact, radius: f64) {
        let most = a.distance.max(b.distance);
        for (body, exact) in [(&mut self.a, a), (&mut self.b, b)] {
            // The lower of the two matters where both are about equal.
            if exact.distance < most - radius {
                continue;
            }
            // A ball outside is nearly a plane where the surface is convex or flat; the nearest
            // triangle is better where it is concave, or large.
            let ball = body.ball_minorant(exact, radius, 0.2 * self.tolerance);
            if let Some((ball, _)) = ball {
                self.minorants.push(ball);
            }
            let depth = -exact.distance;
            let is_inside = depth > 0.0 || !exact.is_signed;
            let bend = 0.5 * radius * radius / depth.abs();
            if is_inside && ball.is_none_or(|(_, loss)| loss > 0.25 * bend) {
                self.minorants.push(body.triangle_minorant(exact));
            }
        }
    }

    fn answer(self, closed: f64, outcome: SeparationOutcome) -> Option<Separation> {
        let Best { point, value, a, b } = self.best?;
        let upper_bound = ((2.0 * (value + self.error)) as f32).next_up();
        let lower_bound = ((2.0 * (closed.min(value) - self.error)) as f32).next_down();
        let normal = (a.outward - b.outward)
            .try_normalize()
            .or(a.outward.try_normalize())
            .unwrap_or(DVec3::X);
        Some(Separation {
            separation: ((2.0 * value) as f32).clamp(lower_bound, upper_bound),
            lower_bound,
            upper_bound,
            point: point.as_vec3(),
            point_on_a: a.nearest.as_vec3(),
            point_on_b: b.nearest.as_vec3(),
            normal: normal.as_vec3(),
            boxes: self.boxes,
            outcome,
        })
    }
}

/// The minorants that bound a box, with their values at its corners.
#[derive(Default)]
struct Table {
    numbers: [u32; MOST],
    values: [[f64; CORNERS]; MOST],
    count: usize,
}

impl Table {
    /// Adds a minorant. Returns whether there was room, and it was not there.
    fn add(&mut self, number: u32, corners: &[DVec3; CORNERS], minorants: &Minorants) -> bool {
        let is_new = self.count < MOST && !self.numbers[..self.count].contains(&number);
        if is_new {
            self.numbers[self.count] = number;
            self.values[self.count] = corners.map(|corner| minorants.at(number, corner));
            self.count += 1;
        }
        is_new
    }

    /// Bounds a box by its minorants, and drops those that have no part in the bound. Returns the
    /// bound and the point at which it would be attained.
    fn game(&mut self, center: DVec3, corners: &[DVec3; CORNERS]) -> (f64, DVec3) {
        if self.count == 0 {
            return (f64::NEG_INFINITY, center);
        }
        let game = solve(&self.values[..self.count]);
        let mut kept = 0;
        for index in 0..self.count {
            if game.weights[index] > 0.0 {
                self.numbers[kept] = self.numbers[index];
                self.values[kept] = self.values[index];
                kept += 1;
            }
        }
        self.count = kept;
        let point = (corners.iter().zip(&game.corners)).map(|(corner, weight)| *corner * *weight);
        (game.lower, point.sum())
    }
}

/// A box after its bound was computed.
enum Bounded {
    /// It holds nothing that matters below this bound \[m\].
    Closed(f64),
    /// It may, and this is its bound \[m\].
    Open(f64, BoundedBox),
}

/// Rounds the half-extents of a box up, so that it holds the same points with its centre in `f32`.
fn half_in_f32(half: DVec3) -> Vec3 {
    half.as_vec3() * (1.0 + f32::EPSILON)
}

/// Returns the direction of a corner of a box from its centre.
fn sign_of(corner: usize) -> DVec3 {
    let along = |axis: usize| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 };
    DVec3::new(along(0), along(1), along(2))
}
