//! Computes the largest distance of a mesh from a set of points: proven, and tight to [`SLACK`].
//!
//! Input: a mesh of valid faces, points.
//! Output: a radius within which every point of every face has one of the points.
//! Cost: a nearest-point search per vertex, and per cut of a face; all cores.
//! Not for: fields; see `cover_field`.
//!
//! The distance to one point is convex, so on a triangle it is largest at a corner. A piece of a
//! face is therefore covered within r as soon as one point lies within r of its three corners.
//! Branch and bound: the largest distance found at any corner is a lower bound of the result;
//! pieces whose upper bound is more than that by [`SLACK`] are cut at their longest edge.

use glam::DVec3;

use crate::bake::pointshell::nearest::PointTree;
use crate::bake::pointshell::sample::longest_edge;
use crate::geom::Triangle;
use crate::mesh::TriangleMesh;
use crate::threads;

/// Share by which the radius may be larger than the true one. Each halving costs a few pieces where
/// the surface is farthest.
pub(super) const SLACK: f64 = 0.01;

/// Number of faces that start with the bound found by all blocks before. Fixed, so that the result
/// does not depend on the number of threads.
const BLOCK: usize = 8192;
/// Number of faces that one thread takes at a time.
const RUN: usize = 64;

/// A corner of a piece, and the point nearest to it.
#[derive(Clone, Copy)]
struct Corner {
    at: DVec3,
    /// Distance to that point \[m\].
    distance: f64,
    /// Slot of that point in the tree.
    slot: u32,
}

/// Returns a radius within which every point of the mesh has one of the points \[m\]; `None`
/// without points.
pub(super) fn covering_radius(mesh: &TriangleMesh, tree: &PointTree) -> Option<f64> {
    let largest = largest_coordinate(mesh);
    let corner = |at: DVec3, guesses: &[u32]| {
        tree.nearest(at, guesses).map(|found| Corner {
            at,
            distance: found.distance_squared.sqrt(),
            slot: found.slot,
        })
    };
    // The nearest point of every vertex; the largest distance is the first lower bound.
    let vertices = threads::map(mesh.vertices.len().div_ceil(RUN), |run| {
        let run = run * RUN..((run + 1) * RUN).min(mesh.vertices.len());
        // A vertex without a face may be anything, and its result is not used.
        run.map(|vertex| {
            let at = mesh.vertices[vertex];
            corner(if at.is_finite() { at } else { DVec3::ZERO }, &[])
        })
        .collect::<Option<Vec<Corner>>>()
    });
    let vertices = vertices
        .into_iter()
        .collect::<Option<Vec<Vec<Corner>>>>()?
        .concat();
    // Points are rounded to `f32`, so a smaller radius is not worth a cut.
    let mut lower = f64::from(f32::EPSILON) * largest;
    for &vertex in mesh.faces.iter().flatten() {
        lower = lower.max(vertices[vertex as usize].distance);
    }
    // Branch and bound over the faces, block by block.
    let face_corners = |face: usize| mesh.faces[face].map(|vertex| vertices[vertex as usize]);
    let mut first = 0;
    while first < mesh.faces.len() {
        let end = (first + BLOCK).min(mesh.faces.len());
        let runs = threads::map((end - first).div_ceil(RUN), |run| {
            let start = first + run * RUN;
            let mut lower = lower;
            let mut pieces = Vec::new();
            for face in start..(start + RUN).min(end) {
                pieces.push(face_corners(face));
                while let Some(piece) = pieces.pop() {
                    if upper(tree, &piece) <= (1.0 + SLACK) * lower {
                        continue;
                    }
                    let [a, b, c] = from_longest_edge(piece);
                    let middle = corner(0.5 * (a.at + b.at), &[a.slot, b.slot, c.slot])?;
                    lower = lower.max(middle.distance);
                    pieces.push([a, middle, c]);
                    pieces.push([middle, b, c]);
                }
            }
            Some(lower)
        });
        for found in runs {
            lower = lower.max(found?);
        }
        first = end;
    }
    // Midpoints are rounded, at most some forty times one after the other, and so are distances.
    Some((1.0 + SLACK) * lower + 64.0 * f64::EPSILON * largest)
}

/// Returns the largest magnitude of a coordinate among the vertices that faces use.
pub(super) fn largest_coordinate(mesh: &TriangleMesh) -> f64 {
    let bounds = mesh.bounds();
    bounds.min.abs().max(bounds.max.abs()).max_element()
}

/// Returns a distance within which every point of the piece has one of the points.
fn upper(tree: &PointTree, piece: &[Corner; 3]) -> f64 {
    let reach = |slot: u32| {
        let point = tree.point(slot);
        let farthest = |far: f64, corner: &Corner| far.max(point.distance_squared(corner.at));
        piece.iter().fold(0.0, farthest)
    };
    let [a, b, c] = piece.map(|corner| reach(corner.slot));
    a.min(b).min(c).sqrt()
}

/// Returns the corners in their order, the longest edge first.
fn from_longest_edge(piece: [Corner; 3]) -> [Corner; 3] {
    let [a, b, c] = piece.map(|corner| corner.at);
    let (edge, _) = longest_edge(Triangle { a, b, c });
    [0, 1, 2].map(|step| piece[(edge + step) % 3])
}
