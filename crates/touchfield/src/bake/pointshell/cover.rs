//! How far a mesh is from a set of points at most: proven, and tight to [`SLACK`].
//!
//! Input: a mesh of valid faces, points. Output: a radius within which every place of every face has a point.
//! Cost: a nearest point for each vertex, and for each cut of a face; all cores. Not for: fields; see `cover_field`.
//!
//! The distance to one point is convex, so on a triangle it is largest at a corner. A piece of a face is therefore covered within r as soon as
//! one point lies within r of its three corners. Branch and bound: the largest distance found at any corner is a lower bound of the
//! answer; pieces whose upper bound is more than that by [`SLACK`] are cut at their longest edge.

use glam::DVec3;

use crate::bake::pointshell::nearest::PointTree;
use crate::bake::pointshell::sample::longest_edge;
use crate::geom::Triangle;
use crate::mesh::TriangleMesh;
use crate::threads;

/// The radius may be larger than the true one by this share. Each halving costs a few pieces where the surface is farthest.
pub(super) const SLACK: f64 = 0.01;

/// Faces whose work begins with the bound that those before them found. Fixed, so that the answer does not depend on threads.
const BLOCK: usize = 8192;
/// Faces that one thread takes at a time.
const RUN: usize = 64;

/// A corner of a piece, and the point nearest to it.
#[derive(Clone, Copy)]
struct Corner {
    at: DVec3,
    /// \[m\]
    distance: f64,
    /// Of that point, in the tree.
    slot: u32,
}

/// A radius within which every place of the mesh has one of the points \[m\]; `None` without points.
pub(super) fn covering_radius(mesh: &TriangleMesh, tree: &PointTree) -> Option<f64> {
    let largest = largest_coordinate(mesh);
    let corner = |at: DVec3, guesses: &[u32]| {
        tree.nearest(at, guesses).map(|found| Corner {
            at,
            distance: found.distance_squared.sqrt(),
            slot: found.slot,
        })
    };
    let vertices = threads::map(mesh.vertices.len().div_ceil(RUN), |run| {
        let run = run * RUN..((run + 1) * RUN).min(mesh.vertices.len());
        // A vertex that no face uses may be anything; it is not looked at.
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
    // Points are rounded to f32; nothing below that is worth a cut.
    let mut lower = f64::from(f32::EPSILON) * largest;
    for &vertex in mesh.faces.iter().flatten() {
        lower = lower.max(vertices[vertex as usize].distance);
    }
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
    // Midpoints are rounded, some forty times one after the other at most, and so are distances.
    Some((1.0 + SLACK) * lower + 64.0 * f64::EPSILON * largest)
}

/// The largest coordinate of a vertex that a face uses, without its sign.
pub(super) fn largest_coordinate(mesh: &TriangleMesh) -> f64 {
    let bounds = mesh.bounds();
    bounds.min.abs().max(bounds.max.abs()).max_element()
}

/// Every place of the piece lies within this of a point.
fn upper(tree: &PointTree, piece: &[Corner; 3]) -> f64 {
    let reach = |slot: u32| {
        let point = tree.point(slot);
        let farthest = |far: f64, corner: &Corner| far.max(point.distance_squared(corner.at));
        piece.iter().fold(0.0, farthest)
    };
    let [a, b, c] = piece.map(|corner| reach(corner.slot));
    a.min(b).min(c).sqrt()
}

/// The corners in their order, the longest edge first.
fn from_longest_edge(piece: [Corner; 3]) -> [Corner; 3] {
    let [a, b, c] = piece.map(|corner| corner.at);
    let (edge, _) = longest_edge(Triangle { a, b, c });
    [0, 1, 2].map(|step| piece[(edge + step) % 3])
}
