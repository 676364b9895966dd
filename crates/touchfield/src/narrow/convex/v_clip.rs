//! Distance of two hulls by their nearest features: V-Clip.
//!
//! Input: two hulls, B posed in frame A; the features that were nearest the last time. Output: the two nearest points and the features
//! they lie on; or that the hulls overlap. Cost: one step for a pair that hardly moved, else about as many as there are features on the way; no
//! allocation. Not for: depths (see `epa`), rounded bodies (see `gjk`).
//!
//! After \[Mirtich1998\] and document 004 (docs/BIBLIOGRAPHY.md). A point `x` of feature X and a point `y` of feature Y, nearest to each other, are
//! nearest of all if `x` lies in the Voronoi region of Y and `y` in that of X. Where one does not, the plane between X and a neighbour is
//! crossed, and the neighbour takes its place. Every change makes the features' distance smaller, or keeps it and makes a feature
//! smaller; so it ends. We differ in three ways. Edges are clipped by the planes at the ends first, then by those of the
//! faces: only what is left is before the edge, and the step to a face cannot lead away. From a face or an edge on its rim
//! the nearest edge is taken, not the one whose plane is crossed farthest. And where rounding makes features take turns, which
//! \[Brent1980\] finds, a separating plane decides whether the best is good enough; if not, the outcome says so.
//!
//! Ties: a point *on* a plane between two regions is in both, so it stays. Touching counts as overlapping.

use glam::DVec3;

use crate::geom::Pose;
use crate::shape::convex::{ConvexHull, NO_FACE, Posed};

/// A part of a hull's surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// A corner, by its index.
    Vertex(u32),
    /// An edge, by the lower index of its two half-edges.
    Edge(u32),
    /// A face, by its index.
    Face(u32),
}

/// A feature of each of two hulls: where a search ended, and the next may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeaturePair {
    /// Of A.
    pub on_a: Feature,
    /// Of B.
    pub on_b: Feature,
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VClip {
    /// The answer.
    pub outcome: VClipOutcome,
    /// Pairs of features looked at.
    pub steps: u32,
    /// Times that rounding made features take turns.
    pub circles: u32,
}

/// How two hulls stand to each other. Points are in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VClipOutcome {
    /// They are apart.
    Apart {
        /// How far \[m\]; more than 0.
        distance: f64,
        /// The point of A nearest B \[m\].
        point_on_a: DVec3,
        /// The point of B nearest A \[m\].
        point_on_b: DVec3,
    },
    /// They have a point in common.
    Overlapping,
    /// Rounding led in circles, and what was found could not be proven: ask another method. Also of a pose that is not finite.
    GaveUp,
}

/// Share of the largest coordinate by which a distance found in circles may be above what a separating plane proves. Above some hundred
/// roundings of `f64`, which a plane through points of nearly parallel edges may be off; far below what `f32` can tell of corners.
const PROVEN: f64 = 1e-12;
/// Searches begun anew, from the corners farthest along the way between the best points, before giving up.
const RESTARTS: u32 = 2;

/// Finds the nearest features of two hulls.
///
/// `features` are those of the last call for this pair, `None` the first time; any others will do, and take longer.
pub fn v_clip(
    a: &ConvexHull,
    b: &ConvexHull,
    a_from_b: Pose,
    features: &mut Option<FeaturePair>,
) -> VClip {
    let pair = [
        Body(Posed::new(a, Pose::IDENTITY)),
        Body(Posed::new(b, a_from_b)),
    ];
    let mut state = match *features {
        Some(FeaturePair { on_a, on_b }) if pair[0].has(on_a) && pair[1].has(on_b) => {
            [pair[0].named(on_a), pair[1].named(on_b)]
        }
        _ => facing(&pair, pair[1].middle() - pair[0].middle()),
    };
    let mut steps = 0;
    let mut circles = 0;
    let outcome = loop {
        match walk(&pair, &mut state, &mut steps) {
            Some(Step::Nearest([on_a, on_b])) => break outcome_of(on_a, on_b),
            Some(Step::Overlapping) => break VClipOutcome::Overlapping,
            Some(Step::To(_)) | None => {}
        }
        circles += 1;
        let points = nearest_points(&pair, state);
        if let Some(outcome) = proven(&pair, state, points) {
            break outcome;
        }
        if circles > RESTARTS {
            break VClipOutcome::GaveUp;
        }
        state = facing(&pair, points[1] - points[0]);
    };
    *features = Some(FeaturePair {
        on_a: state[0],
        on_b: state[1],
    });
    VClip {
        outcome,
        steps,
        circles,
    }
}

fn outcome_of(on_a: DVec3, on_b: DVec3) -> VClipOutcome {
    let distance = on_a.distance(on_b);
    if !distance.is_finite() {
        VClipOutcome::GaveUp
    } else if distance > 0.0 {
        VClipOutcome::Apart {
            distance,
            point_on_a: on_a,
            point_on_b: on_b,
        }
    } else {
        VClipOutcome::Overlapping
    }
}

/// Corners that look at each other.
fn facing(pair: &[Body<'_>; 2], towards_b: DVec3) -> [Feature; 2] {
    [
        Feature::Vertex(pair[0].farthest(towards_b)),
        Feature::Vertex(pair[1].farthest(-towards_b)),
    ]
}

/// The outcome of the nearest points of two features, if a plane between them proves it.
fn proven(
    pair: &[Body<'_>; 2],
    state: [Feature; 2],
    [on_a, on_b]: [DVec3; 2],
) -> Option<VClipOutcome> {
    let allowed = PROVEN * on_a.abs().max(on_b.abs()).max_element();
    let distance = on_a.distance(on_b);
    if distance <= allowed {
        return Some(VClipOutcome::Overlapping);
    }
    let is_proof = |normal: DVec3| {
        let end_of_a = pair[0].vertex(pair[0].farthest(normal));
        let end_of_b = pair[1].vertex(pair[1].farthest(-normal));
        distance - normal.dot(end_of_b - end_of_a) <= allowed
    };
    // Points close to each other say little about the way between them: then a face has it, or two edges.
    let across = match state {
        [Feature::Edge(x), Feature::Edge(y)] => {
            let [[p, q], [r, s]] = [pair[0].edge(x).1, pair[1].edge(y).1];
            let normal = (q - p).cross(s - r).normalize_or_zero();
            if normal.dot(on_b - on_a) < 0.0 {
                -normal
            } else {
                normal
            }
        }
        _ => DVec3::ZERO,
    };
    let is_proven = is_proof((on_b - on_a) / distance)
        || is_proof(across)
        || pair[0].normals_at(state[0]).any(is_proof)
        || pair[1].normals_at(state[1]).any(|n| is_proof(-n));
    is_proven.then(|| outcome_of(on_a, on_b))
}

/// Steps until the features are the nearest. `None`: they take turns, or there were more steps than half-edges.
fn walk(pair: &[Body<'_>; 2], state: &mut [Feature; 2], steps: &mut u32) -> Option<Step> {
    let mut seen = *state;
    let (mut since, mut period) = (0u32, 8u32);
    // A usual walk is far shorter; a hull of four corners needs some slack.
    let most = 64 + pair[0].0.set.half_edges().len() + pair[1].0.set.half_edges().len();
    for _ in 0..most {
        *steps += 1;
        match step(pair, *state) {
            Step::To(next) => *state = next,
            end => return Some(end),
        }
        if *state == seen {
            return None;
        }
        since += 1;
        if since == period {
            (seen, since, period) = (*state, 0, 2 * period);
        }
    }
    None
}

/// What one look at a pair of features says.
enum Step {
    /// Another pair is nearer, or as near and simpler.
    To([Feature; 2]),
    /// These are the nearest points.
    Nearest([DVec3; 2]),
    /// There is a point in both hulls.
    Overlapping,
}

impl Step {
    /// The same with the roles of the hulls exchanged.
    fn swapped(self) -> Step {
        match self {
            Step::To([x, y]) => Step::To([y, x]),
            Step::Nearest([x, y]) => Step::Nearest([y, x]),
            Step::Overlapping => Step::Overlapping,
        }
    }
}

fn step(pair: &[Body<'_>; 2], state: [Feature; 2]) -> Step {
    use Feature::{Edge, Face, Vertex};
    let [a, b] = pair;
    match state {
        [Vertex(x), Vertex(y)] => vertex_vertex(a, x, b, y),
        [Vertex(x), Edge(y)] => vertex_edge(a, x, b, y),
        [Edge(x), Vertex(y)] => vertex_edge(b, y, a, x).swapped(),
        [Vertex(x), Face(y)] => vertex_face(a, x, b, y),
        [Face(x), Vertex(y)] => vertex_face(b, y, a, x).swapped(),
        [Edge(x), Edge(y)] => edge_edge(a, x, b, y),
        [Edge(x), Face(y)] => edge_face(a, x, b, y),
        [Face(x), Edge(y)] => edge_face(b, y, a, x).swapped(),
        // Two faces are never nearest without an edge or a corner that is as near.
        [Face(x), Face(_)] => Step::To([a.edge_of(a.0.set.around(x).start), state[1]]),
    }
}

fn vertex_vertex(a: &Body<'_>, x: u32, b: &Body<'_>, y: u32) -> Step {
    let (p, q) = (a.vertex(x), b.vertex(y));
    if let Some(edge) = b.steepest(y, p - q) {
        return Step::To([Feature::Vertex(x), edge]);
    }
    if let Some(edge) = a.steepest(x, q - p) {
        return Step::To([edge, Feature::Vertex(y)]);
    }
    Step::Nearest([p, q])
}

fn vertex_edge(a: &Body<'_>, x: u32, b: &Body<'_>, y: u32) -> Step {
    let p = a.vertex(x);
    let (ends, edge) = b.edge(y);
    let [tail, head] = edge;
    for (end, here, there) in [(ends[0], tail, head), (ends[1], head, tail)] {
        if beyond_end(here, there, p) < 0.0 {
            return Step::To([Feature::Vertex(x), Feature::Vertex(end)]);
        }
    }
    // Of two faces the point is over, the one it is higher above: from the side that sees it no step leads to the far side.
    let mut over: Option<(u32, f64)> = None;
    for side in b.sides(y) {
        let height = b.height(side.face, p);
        if b.beyond_side(side.half_edge, p) < 0.0 && over.is_none_or(|best| height > best.1) {
            over = Some((side.face, height));
        }
    }
    if let Some((face, _)) = over {
        return Step::To([Feature::Vertex(x), Feature::Face(face)]);
    }
    // The edge, clipped by the planes of the vertex.
    let mut span = Span::WHOLE;
    for half_edge in a.0.set.outgoing(x) {
        let far = a.vertex(a.0.set.end(half_edge));
        let beyond = edge.map(|end| beyond_end(p, far, end));
        if span.cut(beyond, half_edge) {
            return Step::To([a.edge_of(half_edge), Feature::Edge(y)]);
        }
    }
    // The distance to p along the edge is convex: if it grows from the first cut on, the least lies before it.
    let along = head - tail;
    let growth = |share: f64| along.dot(tail + share * along - p);
    if let Some(half_edge) = span.low_by.filter(|_| growth(span.low) > 0.0) {
        return Step::To([a.edge_of(half_edge), Feature::Edge(y)]);
    }
    if let Some(half_edge) = span.high_by.filter(|_| growth(span.high) < 0.0) {
        return Step::To([a.edge_of(half_edge), Feature::Edge(y)]);
    }
    Step::Nearest([p, nearest_on_segment(edge, p)])
}

fn vertex_face(a: &Body<'_>, x: u32, b: &Body<'_>, y: u32) -> Step {
    let p = a.vertex(x);
    if let Some(edge) = b.nearest_side(y, p) {
        return Step::To([Feature::Vertex(x), edge]);
    }
    let height = b.height(y, p);
    let normal = b.normal(y);
    if height > 0.0 {
        // The foot of p is in the region of p unless an edge of p goes down.
        return match a.steepest(x, -normal) {
            Some(edge) => Step::To([edge, Feature::Face(y)]),
            None => Step::Nearest([p, p - height * normal]),
        };
    }
    // Below the face, yet within its planes: a local minimum, if another face has p above it. The highest is one that p sees.
    let mut highest = (y, height);
    for face in 0..b.0.set.faces().len() as u32 {
        let height = b.height(face, p);
        if height > highest.1 {
            highest = (face, height);
        }
    }
    if highest.1 > 0.0 {
        Step::To([Feature::Vertex(x), Feature::Face(highest.0)])
    } else {
        Step::Overlapping
    }
}

fn edge_edge(a: &Body<'_>, x: u32, b: &Body<'_>, y: u32) -> Step {
    let (edge_a, edge_b) = (a.edge(x).1, b.edge(y).1);
    if let Some(feature) = clip_by_edge(edge_a, b, y) {
        return Step::To([Feature::Edge(x), feature]);
    }
    if let Some(feature) = clip_by_edge(edge_b, a, x) {
        return Step::To([feature, Feature::Edge(y)]);
    }
    Step::Nearest(nearest_on_segments(edge_a, edge_b))
}

/// The neighbour of edge `y` that is nearer to a segment, if there is one.
fn clip_by_edge(segment: [DVec3; 2], b: &Body<'_>, y: u32) -> Option<Feature> {
    let (ends, [tail, head]) = b.edge(y);
    let along = segment[1] - segment[0];
    let at = |share: f64| segment[0] + share * along;
    // First the planes at the ends of y. The distance to y along the segment is convex: see `vertex_edge`.
    let mut span = Span::WHOLE;
    for (end, here, there) in [(ends[0], tail, head), (ends[1], head, tail)] {
        let beyond = segment.map(|p| -beyond_end(here, there, p));
        if span.cut(beyond, end) {
            return Some(Feature::Vertex(end));
        }
    }
    let growth = |end: u32, share: f64| along.dot(at(share) - b.vertex(end));
    if let Some(end) = span.low_by.filter(|&end| growth(end, span.low) > 0.0) {
        return Some(Feature::Vertex(end));
    }
    if let Some(end) = span.high_by.filter(|&end| growth(end, span.high) < 0.0) {
        return Some(Feature::Vertex(end));
    }
    // The nearest point lies between the ends. Now the planes of the two faces, by the numbers that `edge_face` asks.
    let mut over: Option<(u32, f64)> = None;
    for side in b.sides(y) {
        let [first, last] = segment.map(|p| b.beyond_side(side.half_edge, p));
        let share = first / (first - last);
        let slope = || b.height(side.face, at(share)) * b.normal(side.face).dot(along);
        let is_over = match [first > 0.0, last > 0.0] {
            [false, false] => first < 0.0 || last < 0.0,
            [true, true] => false,
            // Over the face from the cut on: if the distance falls there, or nothing is left before it.
            [true, false] => share < span.high && (share <= span.low || slope() < 0.0),
            [false, true] => share > span.low && (share >= span.high || slope() > 0.0),
        };
        let height = b.height(side.face, at(0.5 * (span.low + span.high)));
        if is_over && over.is_none_or(|best| height > best.1) {
            over = Some((side.face, height));
        }
    }
    over.map(|(face, _)| Feature::Face(face))
}

fn edge_face(a: &Body<'_>, x: u32, b: &Body<'_>, y: u32) -> Step {
    let (ends, edge) = a.edge(x);
    let mut span = Span::WHOLE;
    for half_edge in b.0.set.around(y) {
        let beyond = edge.map(|p| b.beyond_side(half_edge, p));
        if span.cut(beyond, half_edge) {
            return Step::To([Feature::Edge(x), b.nearest_rim(y, edge)]);
        }
    }
    if span.low > span.high {
        return Step::To([Feature::Edge(x), b.nearest_rim(y, edge)]);
    }
    let at = |share: f64| edge[0] + share * (edge[1] - edge[0]);
    let heights = [span.low, span.high].map(|share| b.height(y, at(share)));
    // Written so that a height of 0 is a touch; a product would vanish for tiny ones.
    if (heights[0] > 0.0 && heights[1] <= 0.0)
        || (heights[0] < 0.0 && heights[1] >= 0.0)
        || heights[0] == 0.0
    {
        return Step::Overlapping;
    }
    // Not from the heights: rounding could make them fall where the vertex or the edge on the rim says that they grow.
    let slope = heights[0] * b.normal(y).dot(edge[1] - edge[0]);
    let (cut_by, end) = if slope >= 0.0 {
        (span.low_by, ends[0])
    } else {
        (span.high_by, ends[1])
    };
    match cut_by {
        Some(half_edge) => Step::To([Feature::Edge(x), b.edge_of(half_edge)]),
        None => Step::To([Feature::Vertex(end), Feature::Face(y)]),
    }
}

/// What planes leave of a segment, as shares of its length, and what cut it.
struct Span {
    low: f64,
    high: f64,
    low_by: Option<u32>,
    high_by: Option<u32>,
}

impl Span {
    const WHOLE: Span = Span {
        low: 0.0,
        high: 1.0,
        low_by: None,
        high_by: None,
    };

    /// Cuts off what is beyond a plane, from how far its two ends are. Whether both are.
    fn cut(&mut self, beyond: [f64; 2], by: u32) -> bool {
        let [first, last] = beyond;
        let share = first / (first - last);
        match [first > 0.0, last > 0.0] {
            [true, true] => return true,
            [true, false] if share > self.low => (self.low, self.low_by) = (share, Some(by)),
            [false, true] if share < self.high => (self.high, self.high_by) = (share, Some(by)),
            _ => {}
        }
        false
    }
}

/// How far `p` is from the plane through `end` at right angles to the edge to `other`, times the edge's length: positive before the edge.
///
/// The vertex and the edge ask the same numbers, so that rounding cannot make each say that the other is nearer.
fn beyond_end(end: DVec3, other: DVec3, p: DVec3) -> f64 {
    (p - end).dot(other - end)
}

fn nearest_on_segment([tail, head]: [DVec3; 2], p: DVec3) -> DVec3 {
    let along = head - tail;
    let share = (p - tail).dot(along) / along.length_squared();
    // From the nearer end: its own rounding is then the smaller.
    if share <= 0.0 {
        tail
    } else if share >= 1.0 {
        head
    } else if share < 0.5 {
        tail + share * along
    } else {
        head - (1.0 - share) * along
    }
}

/// Nearest points of two segments: of the one pair within both, and of the four at an end, the nearest. So parallel ones need no care.
fn nearest_on_segments(a: [DVec3; 2], b: [DVec3; 2]) -> [DVec3; 2] {
    let (u, v, between) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let across = u.cross(v);
    let denominator = across.length_squared();
    let share = v.cross(between).dot(across) / denominator;
    let mut best = [a[0], nearest_on_segment(b, a[0])];
    let mut consider = |p: DVec3, q: DVec3| {
        if p.distance_squared(q) < best[0].distance_squared(best[1]) {
            best = [p, q];
        }
    };
    consider(a[1], nearest_on_segment(b, a[1]));
    consider(nearest_on_segment(a, b[0]), b[0]);
    consider(nearest_on_segment(a, b[1]), b[1]);
    if share > 0.0 && share < 1.0 {
        let q = nearest_on_segment(b, a[0] + share * u);
        // Once more to and fro: what the cross product lost of nearly parallel ones.
        let p = nearest_on_segment(a, q);
        consider(p, nearest_on_segment(b, p));
    }
    best
}

/// Nearest points of two features as they are, wherever the regions end.
fn nearest_points(pair: &[Body<'_>; 2], state: [Feature; 2]) -> [DVec3; 2] {
    use Feature::{Edge, Face, Vertex};
    let [a, b] = pair;
    let swap = |[x, y]: [DVec3; 2]| [y, x];
    match state {
        [Vertex(x), Vertex(y)] => [a.vertex(x), b.vertex(y)],
        [Vertex(x), Edge(y)] => {
            let p = a.vertex(x);
            [p, nearest_on_segment(b.edge(y).1, p)]
        }
        [Edge(_), Vertex(_)] | [Face(_), Vertex(_) | Edge(_)] => {
            swap(nearest_points(&[*b, *a], [state[1], state[0]]))
        }
        [Edge(x), Edge(y)] => nearest_on_segments(a.edge(x).1, b.edge(y).1),
        [Vertex(x), Face(y)] => {
            let p = a.vertex(x);
            match b.nearest_side(y, p) {
                Some(edge) => nearest_points(pair, [state[0], edge]),
                None => [p, p - b.height(y, p) * b.normal(y)],
            }
        }
        [Edge(x), Face(y)] => {
            let (ends, edge) = a.edge(x);
            let rim = nearest_points(pair, [state[0], b.nearest_rim(y, edge)]);
            ends.into_iter()
                .map(|end| nearest_points(pair, [Vertex(end), state[1]]))
                .fold(rim, nearer)
        }
        [Face(x), Face(_)] => {
            let first = a.edge_of(a.0.set.around(x).start);
            nearest_points(pair, [first, state[1]])
        }
    }
}

fn nearer(best: [DVec3; 2], other: [DVec3; 2]) -> [DVec3; 2] {
    if other[0].distance_squared(other[1]) < best[0].distance_squared(best[1]) {
        other
    } else {
        best
    }
}

/// A side of an edge that has a face.
struct Side {
    half_edge: u32,
    face: u32,
}

/// A hull in frame A.
#[derive(Clone, Copy)]
struct Body<'a>(Posed<&'a ConvexHull>);

impl Body<'_> {
    fn has(&self, feature: Feature) -> bool {
        let hull = self.0.set;
        match feature {
            Feature::Vertex(v) => (v as usize) < hull.vertices().len(),
            Feature::Edge(e) => (e as usize) < hull.half_edges().len(),
            Feature::Face(f) => (f as usize) < hull.faces().len(),
        }
    }

    /// An edge by the one of its half-edges that edges are named by.
    fn named(&self, feature: Feature) -> Feature {
        match feature {
            Feature::Edge(half_edge) => self.edge_of(half_edge),
            other => other,
        }
    }

    /// The mean of some eight corners: near enough to the middle to begin with, whatever their number.
    fn middle(&self) -> DVec3 {
        let corners = self.0.set.vertices();
        let some = corners.iter().step_by(corners.len().div_ceil(8).max(1));
        let (sum, count) = some.fold((DVec3::ZERO, 0.0), |(sum, count), corner| {
            (sum + corner.as_dvec3(), count + 1.0)
        });
        self.0.to_a(sum / count)
    }

    fn farthest(&self, direction: DVec3) -> u32 {
        (self.0.set)
            .farthest(self.0.direction_to_b(direction), None)
            .0
    }

    #[inline]
    fn vertex(&self, vertex: u32) -> DVec3 {
        self.0.to_a(self.0.set.vertex(vertex))
    }

    fn normal(&self, face: u32) -> DVec3 {
        self.0
            .direction_to_a(self.0.set.faces()[face as usize].normal)
    }

    /// Signed distance from the plane of a face \[m\].
    fn height(&self, face: u32, p: DVec3) -> f64 {
        let first = self.0.set.faces()[face as usize].first;
        let corner = self.vertex(self.0.set.half_edges()[first as usize].origin);
        self.normal(face).dot(p - corner)
    }

    /// Signed distance from the plane between a face and an edge of it, positive off the face \[m\].
    fn beyond_side(&self, half_edge: u32, p: DVec3) -> f64 {
        let side = self.0.set.half_edges()[half_edge as usize];
        (self.0.direction_to_a(side.outward)).dot(p - self.vertex(side.origin))
    }

    fn edge_of(&self, half_edge: u32) -> Feature {
        let twin = self.0.set.half_edges()[half_edge as usize].twin;
        Feature::Edge(half_edge.min(twin))
    }

    /// The ends of an edge, as corners and as points.
    fn edge(&self, half_edge: u32) -> ([u32; 2], [DVec3; 2]) {
        let origin = self.0.set.half_edges()[half_edge as usize].origin;
        let ends = [origin, self.0.set.end(half_edge)];
        (ends, ends.map(|end| self.vertex(end)))
    }

    /// The sides of an edge that have a face: two, or of a segment none.
    fn sides(&self, half_edge: u32) -> impl Iterator<Item = Side> + '_ {
        let twin = self.0.set.half_edges()[half_edge as usize].twin;
        [half_edge, twin].into_iter().filter_map(|half_edge| {
            let face = self.0.set.half_edges()[half_edge as usize].face;
            (face != NO_FACE).then_some(Side { half_edge, face })
        })
    }

    /// Normals of a face, or of the faces on both sides of an edge.
    fn normals_at(&self, feature: Feature) -> impl Iterator<Item = DVec3> + '_ {
        let (face, edge) = match feature {
            Feature::Vertex(_) => (None, None),
            Feature::Edge(edge) => (None, Some(edge)),
            Feature::Face(face) => (Some(face), None),
        };
        let beside = edge.into_iter().flat_map(|edge| self.sides(edge));
        face.into_iter()
            .chain(beside.map(|side| side.face))
            .map(|face| self.normal(face))
    }

    /// The edge of a vertex that goes most along a direction, if one goes along it at all.
    fn steepest(&self, vertex: u32, direction: DVec3) -> Option<Feature> {
        let p = self.vertex(vertex);
        let mut best = None;
        let mut steepest = 0.0;
        for half_edge in self.0.set.outgoing(vertex) {
            let along = self.vertex(self.0.set.end(half_edge)) - p;
            let rise = direction.dot(along);
            if rise > 0.0 {
                let slope = rise / along.length();
                if slope > steepest {
                    steepest = slope;
                    best = Some(self.edge_of(half_edge));
                }
            }
        }
        best
    }

    /// The edge of a face nearest to a point beyond one of its planes; `None` for a point within them.
    fn nearest_side(&self, face: u32, p: DVec3) -> Option<Feature> {
        let mut best = None;
        let mut least = f64::INFINITY;
        for half_edge in self.0.set.around(face) {
            if self.beyond_side(half_edge, p) > 0.0 {
                let distance = nearest_on_segment(self.edge(half_edge).1, p).distance_squared(p);
                if distance < least {
                    least = distance;
                    best = Some(self.edge_of(half_edge));
                }
            }
        }
        best
    }

    /// The edge of a face nearest to a segment.
    fn nearest_rim(&self, face: u32, segment: [DVec3; 2]) -> Feature {
        let around = self.0.set.around(face);
        let mut best = self.edge_of(around.start);
        let mut least = f64::INFINITY;
        for half_edge in around {
            let [p, q] = nearest_on_segments(segment, self.edge(half_edge).1);
            if p.distance_squared(q) < least {
                least = p.distance_squared(q);
                best = self.edge_of(half_edge);
            }
        }
        best
    }
}
