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

use super::surface::MAX_DEPTH;
use super::{Below, Surface};
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

    /// Returns a place whose distance from a point is the least, to within `slack` \[m\]. Otherwise
    /// like [`Surface::nearest_place`], and faster for points that are about equally far from many
    /// triangles: discs bound bent patches to second order, eight at a time.
    pub(crate) fn nearly_nearest_place(&self, point: DVec3, hint: u32, slack: f64) -> NearestPlace {
        /// Number of discs left open: seven per level of the tree, and a block.
        const MOST_OPEN: usize = 7 * MAX_DEPTH + 8;
        let bounds = self.nodes()[0].bounds.as_daabb();
        let size = bounds.diagonal();
        if bounds.distance(point) > 4.0 * size {
            // Too far away for f32.
            return self.nearest_place(point, hint);
        }
        let near = point.as_vec3();
        let reach = bounds.min.abs().max(bounds.max.abs()).length() + point.length();
        let margin = slack.max(0.0) - 16.0 * f64::from(f32::EPSILON) * (reach + size);
        let measure = |triangle: u32| {
            let nearest = self.triangle(triangle).closest_point(point).point;
            NearestPlace {
                point: nearest,
                distance: nearest.distance(point),
                triangle,
            }
        };
        let mut best = measure(hint);
        let mut open = [(0u32, f32::NEG_INFINITY); MOST_OPEN];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (number, lower) = open[count];
            if f64::from(lower) >= best.distance - margin {
                continue;
            }
            let block = &self.blocks()[number as usize];
            let lowers = block.at_least_away(near);
            let first = count;
            for (lane, &lower) in lowers.iter().enumerate().take(block.count()) {
                if f64::from(lower) >= best.distance - margin {
                    continue;
                }
                match block.below(lane) {
                    Below::Triangle(triangle) => {
                        let place = measure(triangle);
                        if place.distance < best.distance {
                            best = place;
                        }
                    }
                    Below::Block(below) => {
                        // The nearest last, so that it is opened first.
                        let mut at = count;
                        while at > first && open[at - 1].1 < lower {
                            open[at] = open[at - 1];
                            at -= 1;
                        }
                        open[at] = (below, lower);
                        count += 1;
                    }
                }
            }
        }
        best
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Random;
    use glam::Vec3;

    /// Returns a ball of many triangles about the origin, from a subdivided octahedron.
    fn ball(levels: u32) -> Surface {
        let mut triangles: Vec<[Vec3; 3]> = Vec::new();
        for octant in 0..8u32 {
            let side = |axis: u32| if octant >> axis & 1 == 1 { -1.0 } else { 1.0 };
            let [x, y, z] = [Vec3::X * side(0), Vec3::Y * side(1), Vec3::Z * side(2)];
            triangles.push(if octant.count_ones() % 2 == 0 {
                [x, y, z]
            } else {
                [x, z, y]
            });
        }
        for _ in 0..levels {
            triangles = (triangles.iter())
                .flat_map(|&[a, b, c]| {
                    let [d, e, f] = [a + b, b + c, c + a].map(Vec3::normalize);
                    [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
                })
                .collect();
        }
        let faces: Vec<[u32; 3]> = (0..triangles.len() as u32)
            .map(|i| [3 * i, 3 * i + 1, 3 * i + 2])
            .collect();
        Surface::new(triangles.concat(), &faces).unwrap()
    }

    #[test]
    fn both_searches_find_the_least_distance_of_all_triangles() {
        let surface = ball(4);
        let mut random = Random::new(5);
        for round in 0..300 {
            // Near the centre everything is about equally far.
            let reach = [0.01, 1.0, 3.0, 100.0][round % 4];
            let point = reach * random.unit() * random.unit_vector();
            let all = (0..surface.triangles().len() as u32).map(|triangle| {
                surface
                    .triangle(triangle)
                    .closest_point(point)
                    .point
                    .distance(point)
            });
            let truth = all.fold(f64::INFINITY, f64::min);
            let hint = random.below(surface.triangles().len()) as u32;
            let found = surface.nearest_place(point, hint);
            assert!(
                (found.distance - truth).abs() <= 1e-15 * (1.0 + reach),
                "{found:?} {truth}"
            );
            for slack in [0.0, 0.01] {
                let found = surface.nearly_nearest_place(point, hint, slack);
                assert!(
                    (-1e-15 * (1.0 + reach)..=slack + 1e-15 * (1.0 + reach))
                        .contains(&(found.distance - truth)),
                    "{found:?} {truth}"
                );
                assert!((found.point.distance(point) - found.distance).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn winding_numbers_count_what_encloses_a_point() {
        let surface = ball(3);
        let mut random = Random::new(6);
        for _ in 0..300 {
            let point = 1.5 * random.unit() * random.unit_vector();
            if (point.length() - 1.0).abs() < 0.02 {
                continue;
            }
            let inside = i32::from(point.length() < 1.0);
            assert_eq!(surface.winding_number(point), Some(inside), "{point}");
        }
        // Along axes and planes of symmetry, where rays from the centre meet edges and corners.
        for point in [DVec3::ZERO, DVec3::X * 0.5, DVec3::new(0.3, 0.3, 0.0)] {
            assert_eq!(surface.winding_number(point), Some(1), "{point}");
        }
        assert_eq!(surface.winding_number(DVec3::new(0.0, 0.0, 1.0)), None);
    }
}
