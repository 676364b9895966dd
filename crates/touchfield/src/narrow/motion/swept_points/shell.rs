//! Contact of the points of a moving shell with a field: which points touch, and when.
//!
//! Input: a [`PointShell`], its path in the field's frame, any field.
//! Output: spans of contact of its points, or the first of all.
//! Cost: each sphere is tested before its points, by a few blocks or values of the field. No
//! allocation once the buffers have grown.
//! Not for: surface between points, which may be nearer by up to the covering radius.
//!
//! After \[XuCcd2014\], section 3.3: no point of a sphere of radius r touches while the centre
//! stays above the isosurface of r. Where the interpolant is steeper than a distance, r is
//! stretched by the slope, or by twice the field's error, whichever is less. Unlike in the paper,
//! paths may be curved. A piece of a curved path deviates from its chord by at most an eighth of
//! its second derivative times the square of its duration ([`PairMotion::bend_bound`]); the radius
//! is enlarged by that much, and pieces are halved until it is small.

use glam::Vec3;

use crate::field::along_line::line::Times;
use crate::geom::{PairMotion, Pose};
use crate::narrow::motion::swept_points::segment::SweptError;
use crate::narrow::motion::swept_points::segment::{Begin, SweptField, cross_since, may_begin};
use crate::narrow::motion::swept_points::spans::{Collector, Roots, Span, Wanted};
use crate::narrow::search::least_first::{LeastFirst, Open};
use crate::pointshell::{PointShell, SphereNode};

/// Motion of a shell in the frame of a field, from time 0 to time 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShellPath {
    /// Every point moves in a straight line from its place under one pose to its place under the
    /// other, as in \[XuCcd2014\]. Poses are `field_from_shell`.
    Straight {
        /// Pose at time 0.
        from: Pose,
        /// Pose at time 1.
        to: Pose,
    },
    /// The rigid motion of two bodies: the field is that of A, the shell that of B.
    Rigid(PairMotion),
}

/// Which contacts of a shell are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepWanted {
    /// All spans of all points, ordered by point and time.
    All,
    /// The first point to touch, and its onset: one span that starts then.
    First,
    /// Whether any point touches: a span of one that does.
    Whether,
}

/// Settings of a shell sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepSettings {
    /// Level \[m\]: a point is in contact where the field is at or below it.
    pub level: f32,
    /// Which contacts are computed.
    pub wanted: SweepWanted,
    /// Tolerance on curved paths \[m\]: a point counts as in contact from this close to the level
    /// on, never later, and earlier by no more. Motions are cut into at most 4,096 pieces; where
    /// those are too few, contact is reported even earlier.
    pub tolerance: f32,
    /// Whether spheres are tested before their points. Without it, every point is tested. On
    /// straight paths the results are bitwise the same; on curved ones both are within the
    /// tolerance.
    pub by_spheres: bool,
}

impl SweepSettings {
    /// Returns settings for all spans in contact with the surface, to within `tolerance` \[m\] on
    /// curved paths.
    pub fn to_within(tolerance: f32) -> SweepSettings {
        SweepSettings {
            level: 0.0,
            wanted: SweepWanted::All,
            tolerance,
            by_spheres: true,
        }
    }
}

/// A span of contact of one point of a shell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointSpan {
    /// Index of the point in the shell.
    pub point: u32,
    /// Span in which it is in contact.
    pub span: Span,
}

impl PointSpan {
    /// Merges a later span of the same point that starts before this one ends, and returns whether
    /// it did.
    fn joins(&mut self, next: &PointSpan) -> bool {
        let meets = next.point == self.point
            && (self.span.enter..=self.span.leave).contains(&next.span.enter);
        if meets {
            self.span.leave = self.span.leave.max(next.span.leave);
        }
        meets
    }
}

/// Scratch buffers of a shell sweep, reused from call to call.
#[derive(Debug, Default)]
pub struct SweepScratch {
    spans: Vec<Span>,
    open: Vec<Open<Work>>,
    heap: LeastFirst<Work>,
    poses: Vec<Vec<Option<Pose>>>,
}

/// A sphere during a piece of the motion.
#[derive(Clone, Copy, Debug)]
struct Work {
    node: u32,
    piece: TimePiece,
}

/// One of `2^depth` equal pieces of the motion.
#[derive(Clone, Copy, Debug)]
struct TimePiece {
    depth: u32,
    index: u32,
}

/// Maximum number of halvings of a motion.
const MOST_HALVINGS: u32 = 12;

impl TimePiece {
    const WHOLE: TimePiece = TimePiece { depth: 0, index: 0 };

    fn times(self) -> Times {
        let piece = 1.0 / f64::from(1u32 << self.depth);
        [self.index, self.index + 1].map(|end| f64::from(end) * piece)
    }

    fn halves(self) -> [TimePiece; 2] {
        [0, 1].map(|half| TimePiece {
            depth: self.depth + 1,
            index: 2 * self.index + half,
        })
    }
}

impl TimePiece {
    /// Returns a number that is unique to the piece.
    fn number(self) -> u32 {
        1 << self.depth | self.index
    }
}

/// Finds which points of a moving shell touch a field, and when. `out` is cleared and refilled.
pub fn sweep_shell(
    shell: &PointShell,
    path: &ShellPath,
    target: &SweptField<'_>,
    settings: &SweepSettings,
    scratch: &mut SweepScratch,
    out: &mut Vec<PointSpan>,
) -> Result<(), SweptError> {
    out.clear();
    if !settings.level.is_finite() {
        return Err(SweptError::BadLevel(settings.level));
    }
    let is_bent = matches!(path, ShellPath::Rigid(_));
    if is_bent && !(settings.tolerance > 0.0 && settings.tolerance.is_finite()) {
        return Err(SweptError::BadTolerance(settings.tolerance));
    }
    if !path.is_valid() {
        return Err(SweptError::BadMotion);
    }
    for poses in &mut scratch.poses {
        poses.fill(None);
    }
    let mut sweep = Sweep {
        shell,
        path,
        target,
        settings,
        slack: Slack::new(target, settings.level),
        steepest: target.steepest(),
        spans: std::mem::take(&mut scratch.spans),
        poses: std::mem::take(&mut scratch.poses),
    };
    match settings.wanted {
        SweepWanted::All => sweep.all(&mut scratch.open, out),
        SweepWanted::First | SweepWanted::Whether => sweep.first(&mut scratch.heap, out),
    }
    (scratch.spans, scratch.poses) = (sweep.spans, sweep.poses);
    Ok(())
}

impl ShellPath {
    fn is_valid(&self) -> bool {
        match self {
            ShellPath::Straight { from, to } => [from, to].into_iter().all(|pose| {
                pose.translation.is_finite() && (pose.rotation.length() - 1.0).abs() < 1e-3
            }),
            ShellPath::Rigid(motion) => motion.is_valid(),
        }
    }
}

struct Sweep<'a> {
    shell: &'a PointShell,
    path: &'a ShellPath,
    target: &'a SweptField<'a>,
    settings: &'a SweepSettings,
    slack: Slack,
    steepest: f32,
    spans: Vec<Span>,
    /// Poses by depth and index of a piece's end, computed at first use.
    poses: Vec<Vec<Option<Pose>>>,
}

/// Excess of the field's values over 1-Lipschitz behaviour, due to its error \[m\]: how much more
/// than their distance the values at two places p and c may differ, where p is at or below the
/// level and c is the centre of a sphere around it.
///
/// With e for the error, d for the true distance and s for the distance from c to p: in the grid
/// φ(c) ≤ d(c) + e ≤ d(p) + s + e ≤ φ(p) + s + 2e. Outside the grid the field is a lower bound,
/// about a value at the border less e, which is no more than d and changes no faster: for c
/// outside, the same holds. For c in the grid and p outside it is 3e: the function that is d − e in
/// the grid and continues outside as the bound does is 1-Lipschitz, φ(c) is no more than 2e above
/// it, and the bound at p no more than e below it. Where the slope is known, it is e, the step at
/// the border.
struct Slack {
    /// Excess anywhere, without a known slope \[m\].
    anywhere: f32,
    /// Excess over what the maximum slope allows \[m\].
    by_slope: f32,
}

impl Slack {
    fn new(target: &SweptField<'_>, level: f32) -> Slack {
        let error = target.field().error_bound();
        let (anywhere, by_slope) = match target.may_touch_beyond(level) {
            true => (3.0 * error, error),
            false => (2.0 * error, 0.0),
        };
        Slack { anywhere, by_slope }
    }
}

/// The chord of a point's path over a piece of time, and the maximum deviation from it \[m\].
#[derive(Clone, Copy)]
struct Chord {
    from: Vec3,
    to: Vec3,
    strays: f32,
}

impl Chord {
    /// Returns the maximum distance from the chord for points of a sphere whose centre follows it
    /// \[m\].
    fn reach(&self, radius: f32) -> f32 {
        let largest = self.from.abs().max(self.to.abs()).max_element();
        // Rounding of points and centres that are rotated, translated and interpolated.
        let rounding = 8.0 * f32::EPSILON * (largest + radius);
        radius + self.strays + rounding
    }
}

/// Returns whether a contact of this or a later point, from this time on, may precede the best.
fn is_open(time: f64, point: u32, best: Option<PointSpan>) -> bool {
    best.is_none_or(|best| (time, point) < (best.span.enter, best.point))
}

/// Returns the times of a piece that matter: not those before `not_before`, nor those after the
/// best.
fn during(piece: TimePiece, not_before: f64, best: Option<PointSpan>) -> Times {
    let [from, to] = piece.times();
    let until = best.map_or(to, |best| best.span.enter.min(to));
    [not_before.max(from).min(until), until]
}

impl Sweep<'_> {
    /// Finds all spans: spheres first, then the points of the spheres that may touch. The search is
    /// depth first, so that few of many pieces of time are open at once.
    fn all(&mut self, open: &mut Vec<Open<Work>>, out: &mut Vec<PointSpan>) {
        /// Maximum number of points in a sphere whose children are skipped. Measured on 20 motions
        /// of the dragon: 4 takes 3 % longer; other values were not measured.
        const FEW: u32 = 16;
        if !self.settings.by_spheres {
            for point in 0..self.shell.points().len() as u32 {
                self.point_spans(point, TimePiece::WHOLE, 0.0, out);
            }
            return;
        }
        let nodes = self.shell.tree().nodes();
        let root = Work {
            node: 0,
            piece: TimePiece::WHOLE,
        };
        open.clear();
        open.push(self.open(root, 0.0));
        while let Some(next) = open.pop() {
            let work = next.piece;
            let node = &nodes[work.node as usize];
            let not_before = f64::from(next.lower);
            if self.is_bent_too_much(node, work.piece) {
                for piece in work.piece.halves() {
                    open.push(self.open(Work { piece, ..work }, not_before));
                }
                continue;
            }
            let times = during(work.piece, not_before, None);
            let onset = self.may_touch(node.center, node.radius, work.piece, times);
            let Some(onset) = onset else {
                continue;
            };
            if node.child_count > 0 && node.point_count > FEW {
                let piece = work.piece;
                open.extend((node.children()).map(|node| self.open(Work { node, piece }, onset)));
                continue;
            }
            let since = f64::from(self.open(work, onset).lower);
            for point in node.points() {
                self.point_spans(point, work.piece, since, out);
            }
        }
        out.sort_unstable_by(|a, b| {
            (a.point.cmp(&b.point)).then(a.span.enter.total_cmp(&b.span.enter))
        });
        // Merge spans of one point in neighbouring pieces of time.
        out.dedup_by(|next, kept| kept.joins(next));
    }

    /// Finds the first contact, best-first by when a sphere may first hold a point in contact; at
    /// equal times the first point comes first. No point of a sphere is in contact before its
    /// parent may hold one, and none after the best found so far counts, so only the times between
    /// are searched.
    fn first(&mut self, heap: &mut LeastFirst<Work>, out: &mut Vec<PointSpan>) {
        let nodes = self.shell.tree().nodes();
        let mut best: Option<PointSpan> = None;
        heap.clear();
        let root = Work {
            node: 0,
            piece: TimePiece::WHOLE,
        };
        self.push(heap, root, 0.0, best);
        while let Some(open) = heap.pop() {
            let work = open.piece;
            let node = &nodes[work.node as usize];
            let not_before = f64::from(open.lower);
            if !is_open(not_before, node.first_point, best) {
                // Other pieces at the same time may hold an earlier point.
                if best.is_some_and(|best| not_before > best.span.enter) {
                    break;
                }
                continue;
            }
            let by_spheres = self.settings.by_spheres;
            if by_spheres && self.is_bent_too_much(node, work.piece) {
                for piece in work.piece.halves() {
                    let onset = piece.times()[0].max(not_before);
                    self.push(heap, Work { piece, ..work }, onset, best);
                }
                continue;
            }
            // Replace a sphere by its children that may touch.
            if by_spheres && node.child_count > 0 {
                for child in node.children() {
                    let work = Work {
                        node: child,
                        piece: work.piece,
                    };
                    // Tested later, once its time is halved.
                    let child = &nodes[child as usize];
                    let onset = if self.is_bent_too_much(child, work.piece) {
                        Some(work.piece.times()[0].max(not_before))
                    } else {
                        let times = during(work.piece, not_before, best);
                        self.may_touch(child.center, child.radius, work.piece, times)
                    };
                    if let Some(onset) = onset {
                        self.push(heap, work, onset, best);
                    }
                }
                continue;
            }
            // Test the points of a leaf.
            for point in node.points() {
                if by_spheres {
                    if !is_open(not_before, point, best) {
                        break;
                    }
                    let times = during(work.piece, not_before, best);
                    let place = self.shell.points()[point as usize];
                    let onset = self.may_touch(place, 0.0, work.piece, times);
                    if !onset.is_some_and(|onset| is_open(onset, point, best)) {
                        continue;
                    }
                }
                let since = if by_spheres { not_before } else { 0.0 };
                let found = self.point_onset(point, work.piece, since);
                if let Some(found) =
                    found.filter(|found| is_open(found.span.enter, found.point, best))
                {
                    best = Some(found);
                    if self.settings.wanted == SweepWanted::Whether {
                        out.push(found);
                        return;
                    }
                }
            }
        }
        out.extend(best);
    }

    fn push(&self, heap: &mut LeastFirst<Work>, work: Work, onset: f64, best: Option<PointSpan>) {
        let open = self.open(work, onset);
        if is_open(onset, (open.number >> 32) as u32, best) {
            heap.push(open);
        }
    }

    /// Builds a queue entry whose number orders by the first point if times are equal.
    fn open(&self, work: Work, onset: f64) -> Open<Work> {
        let first_point = self.shell.tree().nodes()[work.node as usize].first_point;
        Open {
            lower: (onset as f32).next_down().max(0.0),
            number: u64::from(first_point) << 32 | u64::from(work.piece.number()),
            piece: work,
        }
    }

    /// Returns a lower bound of the time at which a sphere first holds a point in contact, or
    /// `None` if it holds none between two times of the whole motion.
    fn may_touch(
        &mut self,
        center: Vec3,
        radius: f32,
        piece: TimePiece,
        times: Times,
    ) -> Option<f64> {
        /// Distance to which the time of a sphere is resolved, as a fraction of its reach: its
        /// children resolve it further. Not tuned.
        const WITHIN: f32 = 0.25;
        let [from, to] = piece.times();
        let length = to - from;
        let during = times.map(|time| ((time - from) / length).clamp(0.0, 1.0));
        let chord = self.chord(center, piece);
        let reach = chord.reach(radius);
        let [level, level_by_error] = self.levels(reach);
        let asked = Begin {
            level,
            level_by_error,
            during,
            within: WITHIN * reach,
        };
        let share = may_begin(self.target, chord.from, chord.to, &asked)?;
        Some(from + share * length)
    }

    /// Returns whether a sphere deviates so far from the chord of its centre's path that its time
    /// should be halved first.
    fn is_bent_too_much(&self, node: &SphereNode, piece: TimePiece) -> bool {
        piece.depth < MOST_HALVINGS
            && self.strays(node.center, piece) > 0.5 * node.radius + self.settings.tolerance
    }

    fn strays(&self, point: Vec3, piece: TimePiece) -> f32 {
        match self.path {
            ShellPath::Straight { .. } => 0.0,
            ShellPath::Rigid(motion) => {
                let [from, to] = piece.times();
                let bend = motion.bend_bound(point, [from as f32, to as f32]);
                let length = (to - from) as f32;
                0.125 * bend * length * length
            }
        }
    }

    fn chord(&mut self, point: Vec3, piece: TimePiece) -> Chord {
        let (from, to) = match *self.path {
            ShellPath::Straight { from, to } => (from, to),
            ShellPath::Rigid(motion) => {
                let ends = [piece.index, piece.index + 1];
                let [from, to] = ends.map(|end| self.pose(&motion, piece.depth, end));
                (from, to)
            }
        };
        Chord {
            from: from.transform_point(point),
            to: to.transform_point(point),
            strays: self.strays(point, piece),
        }
    }

    fn pose(&mut self, motion: &PairMotion, depth: u32, end: u32) -> Pose {
        let pieces = 1usize << depth;
        while self.poses.len() <= depth as usize {
            let pieces = 1usize << self.poses.len();
            self.poses.push(vec![None; pieces + 1]);
        }
        *self.poses[depth as usize][end as usize]
            .get_or_insert_with(|| motion.at(end as f32 / pieces as f32))
    }

    /// Returns the onset of a point's contact during a piece. The point is not in contact before
    /// `since`, a time of the whole motion.
    fn point_onset(&mut self, point: u32, piece: TimePiece, since: f64) -> Option<PointSpan> {
        let mut found = None;
        self.halved(point, piece, &mut |sweep, chord, [from, to]| {
            sweep.cross(chord, since, Wanted::Onset);
            found = sweep.spans.first().map(|span| PointSpan {
                point,
                span: Span {
                    enter: from + span.enter * (to - from),
                    leave: from + span.leave * (to - from),
                },
            });
            found.is_none()
        });
        found
    }

    /// Appends all spans of a point's contact during a piece. The point is not in contact before
    /// `since`, a time of the whole motion.
    fn point_spans(&mut self, point: u32, piece: TimePiece, since: f64, out: &mut Vec<PointSpan>) {
        self.halved(point, piece, &mut |sweep, chord, [from, to]| {
            sweep.cross(chord, since, Wanted::All);
            // Return exactly the end of the piece at its end, so that spans of neighbouring pieces
            // join.
            let time = |share: f64| {
                if share == 1.0 {
                    to
                } else {
                    from + share * (to - from)
                }
            };
            for span in &sweep.spans {
                let next = PointSpan {
                    point,
                    span: Span {
                        enter: time(span.enter),
                        leave: time(span.leave),
                    },
                };
                // Merge at once: otherwise a point that stays in contact would have a span for
                // every piece of time.
                if !out.last_mut().is_some_and(|last| last.joins(&next)) {
                    out.push(next);
                }
            }
            true
        });
    }

    /// Calls `visit` for the chords of a point's path in order, each close enough to the path,
    /// until `visit` returns `false`.
    fn halved(
        &mut self,
        point: u32,
        piece: TimePiece,
        visit: &mut impl FnMut(&mut Self, &Chord, Times) -> bool,
    ) -> bool {
        let place = self.shell.points()[point as usize];
        let strays = self.strays(place, piece);
        if piece.depth < MOST_HALVINGS && strays > self.settings.tolerance {
            let [first, second] = piece.halves();
            return self.halved(point, first, visit) && self.halved(point, second, visit);
        }
        let chord = self.chord(place, piece);
        visit(self, &chord, piece.times())
    }

    /// Returns upper bounds of the field's values within `reach` of a place at or below the level
    /// \[m\]: in the box of a grid, and outside of it.
    fn levels(&self, reach: f32) -> [f32; 2] {
        let level = self.settings.level;
        if reach == 0.0 {
            return [level; 2];
        }
        // Rounded up.
        let outside = (level + reach + self.slack.anywhere).next_up();
        let inside = (level + self.steepest * reach + self.slack.by_slope).next_up();
        [inside.min(outside), outside]
    }

    /// Finds the spans in which the field along a point's chord may be at or below the level, given
    /// the deviation from the path.
    fn cross(&mut self, chord: &Chord, since: f64, wanted: Wanted) {
        let [inside, outside] = self.levels(chord.strays);
        self.spans.clear();
        let mut out = Collector {
            level: inside,
            wanted,
            roots: Roots::Exact,
            spans: &mut self.spans,
        };
        // On curved paths a point's chords differ from those of its sphere, so `since` does not
        // apply to them.
        let since = match self.path {
            ShellPath::Straight { .. } => since,
            ShellPath::Rigid(_) => 0.0,
        };
        let _ = cross_since(self.target, chord.from, chord.to, outside, since, &mut out);
    }
}
