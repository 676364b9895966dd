//! Exact distances to a surface, and the side of it that a point is on.
//!
//! Input: a surface and a point, in `f64`.
//! Output: the nearest place of the surface; the winding number at the point.
//! Cost: a traversal of the tree of boxes, about a microsecond; no allocation.
//! Not for: winding numbers of open surfaces, which are not whole.
//!
//! The winding number counts how often the surface encloses the point: a ray leaves the solid once
//! more often than it enters it. It is whole for every closed surface, also where faces cross each
//! other or parts lie inside parts, so nothing needs to be known of the mesh but that it is closed.

use glam::DVec3;

use super::Surface;
use super::surface::MAX_DEPTH;
use crate::geom::{Aabb, Triangle};

/// The place of a surface nearest to a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearestPlace {
    /// Nearest point \[m\].
    pub(crate) point: DVec3,
    /// Distance to it \[m\].
    pub(crate) distance: f64,
    /// Index of its triangle.
    pub(crate) triangle: u32,
}

impl Surface {
    /// Returns the corners of a triangle in `f64`.
    pub(crate) fn triangle(&self, triangle: u32) -> Triangle {
        let [a, b, c] = self.corners(triangle).map(|corner| corner.as_dvec3());
        Triangle { a, b, c }
    }

    /// Returns the place nearest to a point. `hint` is the index of any triangle; one that is near
    /// the point shortens the search, and changes the result at ties only.
    pub(crate) fn nearest_place(&self, point: DVec3, hint: u32) -> NearestPlace {
        let first = self.triangle(hint).closest_point(point);
        let mut best = (first.point.distance_squared(point), hint, first.point);
        // Nodes to visit, each with its squared distance.
        let mut stack = [(0u32, 0.0f64); MAX_DEPTH + 1];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (index, away) = stack[top];
            if away >= best.0 {
                continue;
            }
            let node = &self.nodes()[index as usize];
            if node.second == 0 {
                for triangle in node.first..node.first + node.count {
                    let nearest = self.triangle(triangle).closest_point(point);
                    let squared = nearest.point.distance_squared(point);
                    if squared < best.0 {
                        best = (squared, triangle, nearest.point);
                    }
                }
                continue;
            }
            let [near, far] = [index + 1, node.second].map(|child| {
                let bounds = self.nodes()[child as usize].bounds;
                (child, squared_distance(bounds, point))
            });
            let (near, far) = match near.1 <= far.1 {
                true => (near, far),
                false => (far, near),
            };
            (stack[top], stack[top + 1]) = (far, near);
            top += 2;
        }
        let (squared, triangle, point) = best;
        NearestPlace {
            point,
            distance: squared.sqrt(),
            triangle,
        }
    }

    /// Returns the winding number at a point: 0 outside, 1 inside a simple solid. `None` if the
    /// surface is not closed, or if the point is too close to it for `f64`.
    pub(crate) fn winding_number(&self, point: DVec3) -> Option<i32> {
        /// Directions with no relation to the axes. A ray through an edge or a corner is given up
        /// for the next one.
        const DIRECTIONS: [DVec3; 6] = [
            DVec3::new(0.577_215, 0.618_034, 0.533_751),
            DVec3::new(-0.662_743, 0.302_776, 0.684_951),
            DVec3::new(0.261_497, -0.915_966, 0.303_663),
            DVec3::new(0.764_224, 0.141_421, -0.629_321),
            DVec3::new(-0.303_577, -0.711_731, -0.633_487),
            DVec3::new(0.187_859, 0.567_143, -0.801_909),
        ];
        self.closed_parts()?;
        (DIRECTIONS.iter()).find_map(|&along| self.winding_along(point, along))
    }

    /// Returns the number of times that a ray leaves the solid, less the times that it enters it.
    /// `None` if it passes an edge, a corner or its own start too closely to decide.
    fn winding_along(&self, from: DVec3, along: DVec3) -> Option<i32> {
        let inverse = along.recip();
        let mut winding = 0;
        let mut stack = [0u32; MAX_DEPTH + 1];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let index = stack[top];
            let node = &self.nodes()[index as usize];
            if !is_crossed(node.bounds, from, inverse) {
                continue;
            }
            if node.second != 0 {
                (stack[top], stack[top + 1]) = (node.second, index + 1);
                top += 2;
                continue;
            }
            for triangle in node.first..node.first + node.count {
                winding += crossing(self.triangle(triangle), from, along)?;
            }
        }
        Some(winding)
    }
}

/// Returns the squared distance from a point to a box \[m²\].
#[inline(always)]
fn squared_distance(bounds: Aabb, point: DVec3) -> f64 {
    let (low, high) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
    (low - point)
        .max(point - high)
        .max(DVec3::ZERO)
        .length_squared()
}

/// Returns whether a ray may pass through a box.
fn is_crossed(bounds: Aabb, from: DVec3, inverse: DVec3) -> bool {
    // No component of the direction is 0, so nothing here is NaN.
    let low = (bounds.min.as_dvec3() - from) * inverse;
    let high = (bounds.max.as_dvec3() - from) * inverse;
    let enter = low.min(high).max_element().max(0.0);
    let leave = low.max(high).min_element();
    // Each number has a relative error of a few roundings.
    enter <= leave * (1.0 + 1e-14)
}

/// Returns 1 if a ray leaves through a triangle, −1 if it enters, 0 if it misses, and `None` where
/// rounding leaves a doubt.
///
/// Corners are taken relative to the start of the ray. Neighbours do so alike, hence rounding moves
/// the surface a little, but tears no gap into it.
fn crossing(triangle: Triangle, from: DVec3, along: DVec3) -> Option<i32> {
    /// Relative rounding error of a triple product, with a safety factor of ten.
    const ROUNDING: f64 = 1e-14;
    let [a, b, c] = triangle.corners().map(|corner| corner - from);
    let [length_a, length_b, length_c] = [a, b, c].map(DVec3::length);
    let sides = [
        (along.dot(a.cross(b)), length_a * length_b),
        (along.dot(b.cross(c)), length_b * length_c),
        (along.dot(c.cross(a)), length_c * length_a),
    ];
    let is_above = |&(side, size): &(f64, f64)| side > ROUNDING * size;
    let is_below = |&(side, size): &(f64, f64)| side < -ROUNDING * size;
    // Two edges passed on different sides: a miss, whatever the third.
    if sides.iter().any(is_above) && sides.iter().any(is_below) {
        return Some(0);
    }
    let way = match (sides.iter().all(is_above), sides.iter().all(is_below)) {
        (true, _) => 1,
        (_, true) => -1,
        // Doubtful, unless the triangle is behind the start.
        _ => {
            let is_behind = [a, b, c].iter().all(|corner| along.dot(*corner) < 0.0);
            return is_behind.then_some(0);
        }
    };
    let volume = a.dot(b.cross(c));
    if volume.abs() <= ROUNDING * length_a * length_b * length_c {
        return None;
    }
    Some(if (volume > 0.0) == (way > 0) { way } else { 0 })
}
