//! Who is right about a depth: all corners, and all normals that can matter, in `f64`.
//!
//! Input: a hull against a posed copy of itself, and answers. Output: which answer stands; the least translation by brute force. Cost: all corners for a
//! direction; all pairs of edges for the least translation, some seconds with ten thousand corners. Not for: bodies apart.
//!
//! Nothing here is of GJK, EPA or supports by search: only corners, faces and edges of the hull, which tests of its own hold against exact predicates.

use glam::{DMat3, DQuat, DVec3};
use touchfield::geom::Pose;
use touchfield::shape::convex::ConvexHull;

/// A depth, and the way in which B leaves by it.
#[derive(Clone, Copy)]
pub struct Answer {
    /// Negative when overlapping \[m\].
    pub separation: f64,
    /// Unit, from A to B.
    pub normal: DVec3,
}

/// What two answers that differ have come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Ours parts the bodies and is shorter: theirs is not the least.
    TheirsIsLonger,
    /// Moved by theirs, the bodies still overlap.
    TheirsDoesNotPart,
    /// Theirs parts the bodies and is shorter, or ours does not part them.
    OursIsWrong,
}

/// Two copies of a hull.
pub struct Judge<'a> {
    hull: &'a ConvexHull,
    corners: Vec<DVec3>,
    rotation: DMat3,
    translation: DVec3,
}

impl<'a> Judge<'a> {
    pub fn new(hull: &'a ConvexHull, pose: Pose) -> Judge<'a> {
        let [x, y, z, w] = pose.rotation.to_array().map(f64::from);
        Judge {
            hull,
            corners: hull.vertices().iter().map(|v| v.as_dvec3()).collect(),
            rotation: DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize()),
            translation: pose.translation.as_dvec3(),
        }
    }

    fn extent(&self, direction: DVec3) -> f64 {
        (self.corners.iter()).fold(f64::NEG_INFINITY, |most, c| most.max(direction.dot(*c)))
    }

    /// How far B has to go along a unit direction until it has left A \[m\].
    pub fn way_out(&self, normal: DVec3) -> f64 {
        let in_b = self.rotation.transpose() * normal;
        self.extent(normal) + self.extent(-in_b) - normal.dot(self.translation)
    }

    /// Of two answers that differ by more than `within` \[m\].
    pub fn verdict(&self, ours: Answer, theirs: Answer, within: f64) -> Verdict {
        let (our_way, their_way) = (
            self.way_out(ours.normal),
            self.way_out(theirs.normal.normalize_or_zero()),
        );
        if (our_way + ours.separation).abs() > 1e-6 {
            Verdict::OursIsWrong
        } else if -theirs.separation > our_way {
            Verdict::TheirsIsLonger
        } else if their_way + theirs.separation > 0.5 * within {
            Verdict::TheirsDoesNotPart
        } else {
            Verdict::OursIsWrong
        }
    }

    /// The least translation over the normals of all faces, and of all pairs of edges that make a facet of the difference \[m\].
    pub fn least_translation(&self) -> f64 {
        let of_faces = self
            .hull
            .faces()
            .iter()
            .flat_map(|face| [face.normal, -(self.rotation * face.normal)]);
        let mut least = of_faces.fold(f64::INFINITY, |least, n| least.min(self.way_out(n)));
        let [a, b] = [DMat3::IDENTITY, self.rotation].map(|turn| self.edges(turn));
        for p in &a {
            for q in &b {
                // The facet's normal lies between those of the faces at A's edge, and against those at B's.
                if !arcs_meet(p, q) {
                    continue;
                }
                let across = p.along.cross(q.along);
                if let Some(normal) = across.try_normalize() {
                    let outward = normal.dot(p.left + p.right);
                    let normal = if outward < 0.0 { -normal } else { normal };
                    least = least.min(self.way_out(normal));
                }
            }
        }
        least
    }

    fn edges(&self, turn: DMat3) -> Vec<Edge> {
        let half_edges = self.hull.half_edges();
        let once = (0u32..)
            .zip(half_edges)
            .filter(|(own, edge)| *own < edge.twin);
        once.map(|(own, edge)| {
            let twin = half_edges[edge.twin as usize];
            let [left, right] =
                [edge.face, twin.face].map(|face| turn * self.hull.faces()[face as usize].normal);
            let along = self.hull.vertex(self.hull.end(own)) - self.hull.vertex(edge.origin);
            Edge {
                along: turn * along,
                left,
                right,
                pole: left.cross(right),
            }
        })
        .collect()
    }
}

/// An edge, and the normals of its two faces.
struct Edge {
    along: DVec3,
    left: DVec3,
    right: DVec3,
    /// At right angles to both.
    pole: DVec3,
}

/// Whether the arc between the normals at an edge of A meets that against the normals at an edge of B; arcs that all but meet do.
fn arcs_meet(a: &Edge, b: &Edge) -> bool {
    /// What normals and their products may be off, by far.
    const MARGIN: f64 = 1e-12;
    let (on_left, on_right) = (a.pole.dot(-b.left), a.pole.dot(-b.right));
    if on_left * on_right > MARGIN {
        return false;
    }
    // Arcs on opposite sides of the sphere pass, too: a direction too many is one more way out, and no shorter than the least.
    let (of_left, of_right) = (b.pole.dot(a.left), b.pole.dot(a.right));
    of_left * of_right <= MARGIN
}
