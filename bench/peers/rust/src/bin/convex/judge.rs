//! Decides which of two penetration depths is right, in `f64`, from all corners and all normals
//! that can matter.
//!
//! Input: a hull against a posed copy of itself, and answers.
//! Output: which answer stands; the minimum translation by brute force.
//! Cost: all corners per direction; all pairs of edges for the minimum translation, some seconds
//! with ten thousand corners.
//! Not for: separated bodies.
//!
//! Nothing here uses GJK, EPA or support-function searches: only corners, faces and edges of the
//! hull, which the hull's own tests check with exact predicates.

use glam::{DMat3, DQuat, DVec3};
use touchfield::geom::Pose;
use touchfield::shape::convex::ConvexHull;

/// A depth, and the direction in which B leaves by it.
#[derive(Clone, Copy)]
pub struct Answer {
    /// Separation \[m\]; negative when overlapping.
    pub separation: f64,
    /// Unit normal from A to B.
    pub normal: DVec3,
}

/// Verdict on two answers that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Our translation separates the bodies and is shorter: theirs is not the minimum.
    TheirsIsLonger,
    /// After their translation, the bodies still overlap.
    TheirsDoesNotPart,
    /// Their translation separates the bodies and is shorter, or ours does not separate them.
    OursIsWrong,
}

/// A hull and a posed copy of it.
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

    /// Returns how far B has to move along a unit direction to leave A \[m\].
    pub fn way_out(&self, normal: DVec3) -> f64 {
        let in_b = self.rotation.transpose() * normal;
        self.extent(normal) + self.extent(-in_b) - normal.dot(self.translation)
    }

    /// Returns the verdict on two answers that differ by more than `within` \[m\].
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

    /// Returns the minimum translation over the normals of all faces, and of all pairs of edges
    /// that make a facet of the Minkowski difference \[m\].
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
                // The normal of the facet lies between those of the faces at A's edge, and opposite
                // to those at B's edge.
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
    /// Vector perpendicular to both normals.
    pole: DVec3,
}

/// Returns whether the arc between the normals at an edge of A meets the opposite of the arc at an
/// edge of B; arcs that nearly meet count.
fn arcs_meet(a: &Edge, b: &Edge) -> bool {
    /// Generous bound on the rounding error of normals and their products.
    const MARGIN: f64 = 1e-12;
    let (on_left, on_right) = (a.pole.dot(-b.left), a.pole.dot(-b.right));
    if on_left * on_right > MARGIN {
        return false;
    }
    // Arcs on opposite sides of the sphere pass too: an additional direction is one more way out,
    // and not shorter than the minimum.
    let (of_left, of_right) = (b.pole.dot(a.left), b.pole.dot(a.right));
    of_left * of_right <= MARGIN
}
