//! Distance of two hulls by their nearest features: V-Clip.
//!
//! Input: two hulls, B posed in frame A, and the features that were nearest the last time.
//! Output: the two nearest points and the features they lie on; or that the hulls overlap.
//! Cost: one step for a pair that hardly moved, else about as many as there are features on the
//! way; no allocation.
//! Not for: depths (see `epa`), rounded bodies (see `gjk`).
//!
//! After \[Mirtich1998\] and \[Lecture06\] (docs/BIBLIOGRAPHY.md). Two points x of feature X and y
//! of feature Y, nearest to each other, are the nearest points of the hulls if x lies in the
//! Voronoi region of Y and y in that of X. Where one does not, the plane between X and a neighbour
//! is crossed, and the neighbour takes its place. Every change makes the features' distance
//! smaller, or keeps it and makes a feature smaller; so the search ends.
//!
//! We differ in three ways. Edges are clipped by the planes at the ends first, then by those of the
//! faces: what remains lies between the ends, so the step to a face cannot lead away. From a face,
//! the search goes to the nearest edge on its rim, not to the one whose plane is crossed farthest.
//! Where rounding makes features alternate, which \[Brent1980\] detects, a separating plane decides
//! whether the best is good enough; if not, the outcome reports it.
//!
//! Ties: a point *on* a plane between two regions is in both, so it stays. Touching counts as
//! overlapping.

use glam::DVec3;

use crate::geom::Pose;
use crate::shape::convex::{ConvexHull, NO_FACE, Posed};

/// A feature of a hull's surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// A vertex, by its index.
    Vertex(u32),
    /// An edge, by the lower index of its two half-edges.
    Edge(u32),
    /// A face, by its index.
    Face(u32),
}

/// One feature of each of two hulls: the result of a search, and a warm start for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeaturePair {
    /// Feature of A.
    pub on_a: Feature,
    /// Feature of B.
    pub on_b: Feature,
}

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VClip {
    /// Distance or overlap of the hulls.
    pub outcome: VClipOutcome,
    /// Number of feature pairs visited.
    pub steps: u32,
    /// Number of cycles of features, caused by rounding.
    pub circles: u32,
}

/// Outcome of a search. Points are in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VClipOutcome {
    /// The hulls are apart.
    Apart {
        /// Distance \[m\]; more than 0.
        distance: f64,
        /// Point of A nearest to B \[m\].
        point_on_a: DVec3,
        /// Point of B nearest to A \[m\].
        point_on_b: DVec3,
    },
    /// The hulls have a point in common.
    Overlapping,
    /// Rounding led to cycles, and the result could not be proven; use another method. Also
    /// returned for a pose that is not finite.
    GaveUp,
}

/// Maximum excess of a distance found in a cycle over the distance that a separating plane proves,
/// as a fraction of the largest coordinate. It is above some hundred roundings of `f64`, the
/// possible error of a plane through points of nearly parallel edges, and far below the `f32`
/// resolution of vertices.
const PROVEN: f64 = 1e-12;
/// Maximum number of restarts before giving up. Each starts at the vertices farthest along the line
/// between the best points.
const RESTARTS: u32 = 2;

/// Finds the nearest features of two hulls.
///
/// `features` are those of the last call for this pair, or `None` the first time. Any other
/// features give the same result, but take longer.
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

/// Returns the vertices of both hulls that are farthest towards each other.
fn facing(pair: &[Body<'_>; 2], towards_b: DVec3) -> [Feature; 2] {
    [
        Feature::Vertex(pair[0].farthest(towards_b)),
        Feature::Vertex(pair[1].farthest(-towards_b)),
    ]
}

/// Returns the outcome for the nearest points of two features, if a separating plane proves it.
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
    // If the points are close to each other, the direction between them is inexact. Then try the
    // normal across two edges, or the normals of faces.
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

/// Steps until the features are the nearest. Returns `None` if they cycle, or if there were more
/// steps than half-edges.
fn walk(pair: &[Body<'_>; 2], state: &mut [Feature; 2], steps: &mut u32) -> Option<Step> {
    let mut seen = *state;
    let (mut since, mut period) = (0u32, 8u32);
    // A usual walk is far shorter; a hull of four vertices needs some slack.
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

/// Result of one step at a pair of features.
enum Step {
    /// Another pair is nearer, or equally near and simpler.
    To([Feature; 2]),
    /// The nearest points of the hulls.
    Nearest([DVec3; 2]),
    /// The hulls have a point in common.
    Overlapping,
}

impl Step {
    /// Returns the step with the roles of the hulls exchanged.
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
        // For any two nearest faces there is an edge or a vertex that is equally near.
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
    // If the point is over two faces, take the one it is higher above: from the side that sees it
    // no step leads to the far side.
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
    // Clip the edge by the planes of the vertex.
    let mut span = Span::WHOLE;
    for half_edge in a.0.set.outgoing(x) {
        let far = a.vertex(a.0.set.end(half_edge));
        let beyond = edge.map(|end| beyond_end(p, far, end));
        if span.cut(beyond, half_edge) {
            return Step::To([a.edge_of(half_edge), Feature::Edge(y)]);
        }
    }
    // The distance to p along the edge is convex: if it grows from the first cut on, the minimum
    // lies before it.
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
    // Below the face, yet within its planes: a local minimum, if p is above another face. The face
    // that p is highest above is one that p sees.
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

/// Returns the neighbour of edge `y` that is nearer to a segment, if there is one.
fn clip_by_edge(segment: [DVec3; 2], b: &Body<'_>, y: u32) -> Option<Feature> {
    let (ends, [tail, head]) = b.edge(y);
    let along = segment[1] - segment[0];
    let at = |share: f64| segment[0] + share * along;
    // First the planes at the ends of y. The distance to y along the segment is convex: see
    // `vertex_edge`.
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
    // The nearest point lies between the ends. Now the planes of the two faces, by the same numbers
    // as in `edge_face`.
    let mut over: Option<(u32, f64)> = None;
    for side in b.sides(y) {
        let [first, last] = segment.map(|p| b.beyond_side(side.half_edge, p));
        let share = first / (first - last);
        let slope = || b.height(side.face, at(share)) * b.normal(side.face).dot(along);
        let is_over = match [first > 0.0, last > 0.0] {
            [false, false] => first < 0.0 || last < 0.0,
            [true, true] => false,
            // Over the face from the cut on: if the distance decreases there, or nothing remains
            // before it.
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
    // Written so that a height of 0 counts as touching; a product would underflow for tiny ones.
    if (heights[0] > 0.0 && heights[1] <= 0.0)
        || (heights[0] < 0.0 && heights[1] >= 0.0)
        || heights[0] == 0.0
    {
        return Step::Overlapping;
    }
    // The slope is not taken from the heights: rounding could make them decrease where the step at
    // the vertex or at the rim finds that they grow.
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

/// The part of a segment that clipping planes leave, as fractions of its length, and what cut it.
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

    /// Clips off the part beyond a plane, given how far both ends are beyond it. Returns whether
    /// both are.
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

/// Returns the signed distance of `p` from the plane through `end` perpendicular to the edge to
/// `other`, times the edge's length: positive on the side of the edge.
///
/// The steps at the vertex and at the edge use the same numbers, so that rounding cannot make each
/// decide that the other is nearer.
fn beyond_end(end: DVec3, other: DVec3, p: DVec3) -> f64 {
    (p - end).dot(other - end)
}

fn nearest_on_segment([tail, head]: [DVec3; 2], p: DVec3) -> DVec3 {
    let along = head - tail;
    let share = (p - tail).dot(along) / along.length_squared();
    // Computed from the nearer end, whose rounding error is smaller.
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

/// Returns the nearest points of two segments: the nearest of the pair inside both and the four
/// pairs with an endpoint. Parallel segments therefore need no special case.
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
        // One more iteration, to restore what the cross product of nearly parallel segments lost.
        let p = nearest_on_segment(a, q);
        consider(p, nearest_on_segment(b, p));
    }
    best
}

/// Returns the nearest points of two features themselves, regardless of Voronoi regions.
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

/// A half-edge that has a face.
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

    /// Returns the feature with an edge replaced by the half-edge that names it.
    fn named(&self, feature: Feature) -> Feature {
        match feature {
            Feature::Edge(half_edge) => self.edge_of(half_edge),
            other => other,
        }
    }

    /// Returns the mean of some eight vertices: a starting point near enough to the centre,
    /// whatever their number.
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

    /// Returns the signed distance from the plane of a face \[m\].
    fn height(&self, face: u32, p: DVec3) -> f64 {
        let first = self.0.set.faces()[face as usize].first;
        let corner = self.vertex(self.0.set.half_edges()[first as usize].origin);
        self.normal(face).dot(p - corner)
    }

    /// Returns the signed distance from the plane between a face and one of its edges, positive
    /// outside the face \[m\].
    fn beyond_side(&self, half_edge: u32, p: DVec3) -> f64 {
        let side = self.0.set.half_edges()[half_edge as usize];
        (self.0.direction_to_a(side.outward)).dot(p - self.vertex(side.origin))
    }

    fn edge_of(&self, half_edge: u32) -> Feature {
        let twin = self.0.set.half_edges()[half_edge as usize].twin;
        Feature::Edge(half_edge.min(twin))
    }

    /// Returns the ends of an edge, as vertex indices and as points.
    fn edge(&self, half_edge: u32) -> ([u32; 2], [DVec3; 2]) {
        let origin = self.0.set.half_edges()[half_edge as usize].origin;
        let ends = [origin, self.0.set.end(half_edge)];
        (ends, ends.map(|end| self.vertex(end)))
    }

    /// Returns the sides of an edge that have a face: two, or none for a segment.
    fn sides(&self, half_edge: u32) -> impl Iterator<Item = Side> + '_ {
        let twin = self.0.set.half_edges()[half_edge as usize].twin;
        [half_edge, twin].into_iter().filter_map(|half_edge| {
            let face = self.0.set.half_edges()[half_edge as usize].face;
            (face != NO_FACE).then_some(Side { half_edge, face })
        })
    }

    /// Returns the normal of a face, or of the faces on both sides of an edge.
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

    /// Returns the edge at a vertex that is steepest along a direction, if any rises along it.
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

    /// Returns the edge of a face nearest to a point outside its side planes; `None` for a point
    /// inside all of them.
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

    /// Returns the edge of a face nearest to a segment.
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
