//! Ray casts through the triangles of a surface, and the triangle nearest to a point.
//!
//! Input: a surface.
//! Output: every triangle that a ray crosses; the nearest triangle.
//! Cost: a traversal of the tree of boxes.
//! Not for: signs where a ray passes through an edge, which counts for both of its triangles.

use glam::DVec3;

use super::Surface;
use crate::geom::{Aabb, Triangle};

impl Surface {
    /// Calls `each` with the distance \[m\] and the index of every triangle that a ray from a point
    /// along a unit direction crosses, in the order of the tree.
    pub(crate) fn each_crossing(&self, from: DVec3, along: DVec3, mut each: impl FnMut(f64, u32)) {
        let inverse = along.recip();
        let mut open = vec![0u32];
        while let Some(index) = open.pop() {
            let node = &self.nodes()[index as usize];
            if !is_crossed(node.bounds, from, inverse) {
                continue;
            }
            if node.second != 0 {
                open.push(node.second);
                open.push(index + 1);
                continue;
            }
            for triangle in node.first..node.first + node.count {
                let corners = self.corners(triangle).map(|corner| corner.as_dvec3());
                if let Some(distance) = crossing(corners, from, along) {
                    each(distance, triangle);
                }
            }
        }
    }

    /// Returns the triangle nearest to a point, and its nearest point; ties go to the first in the
    /// tree.
    pub(crate) fn nearest_triangle(&self, point: DVec3) -> Option<(u32, DVec3)> {
        let mut best: Option<(f64, u32, DVec3)> = None;
        let mut open = vec![0u32];
        while let Some(index) = open.pop() {
            let node = &self.nodes()[index as usize];
            let away = node.bounds.as_daabb().distance_squared(point);
            if best.is_some_and(|(least, _, _)| away >= least) {
                continue;
            }
            if node.second != 0 {
                let children = [index + 1, node.second];
                let [first, second] = children.map(|child| {
                    let bounds = self.nodes()[child as usize].bounds;
                    bounds.as_daabb().distance_squared(point)
                });
                let [near, far] = match first <= second {
                    true => children,
                    false => [children[1], children[0]],
                };
                open.push(far);
                open.push(near);
                continue;
            }
            for triangle in node.first..node.first + node.count {
                let [a, b, c] = self.corners(triangle).map(|corner| corner.as_dvec3());
                let nearest = Triangle { a, b, c }.closest_point(point).point;
                let squared = nearest.distance_squared(point);
                if best.is_none_or(|(least, _, _)| squared < least) {
                    best = Some((squared, triangle, nearest));
                }
            }
        }
        best.map(|(_, triangle, nearest)| (triangle, nearest))
    }
}

/// Returns whether a ray passes through a box. A NaN from 0 · ∞ counts as inside that pair of
/// planes.
fn is_crossed(bounds: Aabb, from: DVec3, inverse: DVec3) -> bool {
    let low = (bounds.min.as_dvec3() - from) * inverse;
    let high = (bounds.max.as_dvec3() - from) * inverse;
    let (mut enter, mut leave) = (0.0f64, f64::INFINITY);
    for axis in 0..3 {
        let (a, b) = (low[axis], high[axis]);
        // `f64::min` and `f64::max` ignore NaN.
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    enter <= leave
}

/// Returns the distance along a ray at which it crosses a triangle from either side \[m\]: Möller
/// and Trumbore in `f64`.
fn crossing([a, b, c]: [DVec3; 3], from: DVec3, along: DVec3) -> Option<f64> {
    let (ab, ac) = (b - a, c - a);
    let p = along.cross(ac);
    let determinant = ab.dot(p);
    if determinant == 0.0 {
        return None;
    }
    let offset = from - a;
    let u = offset.dot(p) / determinant;
    let q = offset.cross(ab);
    let v = along.dot(q) / determinant;
    let distance = ac.dot(q) / determinant;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance >= 0.0).then_some(distance)
}
