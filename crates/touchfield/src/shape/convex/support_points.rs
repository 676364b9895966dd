//! Points of a convex body that tend to touch other bodies first: corners, straight edges, round
//! parts.
//!
//! Input: a convex body.
//! Output: points with outward directions.
//! Cost: some hundred support points.
//! Not for: flat faces; the points of a body that lies on such a face represent the contact.

use glam::Vec3;

use super::{Convex, Core, Support};
use crate::geom::fibonacci_directions;

/// Number of directions in which support points are computed.
const DIRECTIONS: usize = 128;

/// Number of points along a straight edge, without its ends.
const ALONG_EDGE: usize = 3;

/// Returns points of a convex body at its corners, along its straight edges and over its round
/// parts, each with an outward direction. `center` is the centre of its bounding box \[m\].
pub fn support_points(convex: &Convex, center: Vec3) -> (Vec<Vec3>, Vec<Vec3>) {
    let (mut points, mut normals) = (Vec::new(), Vec::new());
    let mut push = |point: Vec3, normal: Vec3| {
        points.push(point);
        normals.push(normal);
    };
    for direction in fibonacci_directions(DIRECTIONS) {
        let mut hint = 0;
        let core = convex.support(direction.as_dvec3(), &mut hint).as_vec3();
        push(core + convex.radius() * direction, direction);
    }
    for [from, to] in straight_edges(convex) {
        for step in 0..=ALONG_EDGE + 1 {
            let at = from.lerp(to, step as f32 / (ALONG_EDGE + 1) as f32);
            let outward = (at - center).normalize_or(Vec3::Z);
            push(at + convex.radius() * outward, outward);
        }
    }
    (points, normals)
}

/// Returns the straight edges of the core.
fn straight_edges(convex: &Convex) -> Vec<[Vec3; 2]> {
    /// Maximum number of edges used; hulls with more have enough corners.
    const MOST_EDGES: usize = 512;
    match convex.core() {
        Core::Cuboid { half_extents } => {
            let corner = |bits: usize| {
                let sign = |bit: usize| if bits >> bit & 1 == 0 { -1.0 } else { 1.0 };
                *half_extents * Vec3::new(sign(0), sign(1), sign(2))
            };
            let edges =
                (0..8).flat_map(|bits: usize| (0..3).map(move |bit| (bits, bits | 1 << bit)));
            let edges = edges.filter(|(from, to)| from != to);
            edges.map(|(from, to)| [corner(from), corner(to)]).collect()
        }
        Core::Hull(hull) => {
            let vertices = hull.vertices();
            let edges = (0..vertices.len() as u32).flat_map(|from| {
                let above = hull.neighbours(from).iter().filter(move |&&to| to > from);
                above.map(move |&to| [vertices[from as usize], vertices[to as usize]])
            });
            edges.take(MOST_EDGES).collect()
        }
        Core::Segment { half_length } => {
            let end = *half_length * Vec3::Z;
            vec![[-end, end]]
        }
        _ => Vec::new(),
    }
}
