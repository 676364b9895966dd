//! A convex polytope that grows one point at a time, exactly.
//!
//! Input: points in `f64`, the first four not coplanar.
//! Output: its triangles with their neighbours, counter-clockwise seen from outside.
//! Cost: for each point, the triangles visible from it; no allocation once the buffers have grown.
//! Not for: flat sets, which callers handle themselves.
//!
//! Exact predicates decide which triangles are visible from a point. In exact arithmetic the
//! triangles that a point is *strictly* above form one connected region with one closed border,
//! also where faces are coplanar, and no new triangle is degenerate: a point collinear with a
//! border edge would lie in the plane of the visible triangle at that edge, so that triangle would
//! not be visible. So rounding can never break the surface.

use glam::DVec3;

use crate::geom::predicates::side_of_plane;

/// A triangle of the surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet {
    /// Indices of its points, counter-clockwise seen from outside.
    pub(crate) corners: [u32; 3],
    /// Facets across the edges from each corner to the next.
    pub(crate) neighbours: [u32; 3],
    /// Whether the facet is no longer part of the surface.
    pub(crate) is_gone: bool,
}

/// An edge on the border of the visible region, with the facet on its other side, which stays.
#[derive(Clone, Copy, Debug)]
struct BorderEdge {
    from: u32,
    to: u32,
    outer: u32,
    outer_edge: u8,
}

/// The surface of a convex polytope. The caller stores the points.
#[derive(Clone, Debug, Default)]
pub(crate) struct GrowingHull {
    facets: Vec<Facet>,
    border: Vec<BorderEdge>,
    /// Stack of facets being traversed: facet, its next edge, number of edges left.
    walk: Vec<(u32, u8, u8)>,
    gone: Vec<u32>,
}

impl GrowingHull {
    /// Starts again from four points; returns `None` if they are coplanar.
    pub(crate) fn start(&mut self, points: &[DVec3], corners: [u32; 4]) -> Option<()> {
        let [a, b, c, d] = corners;
        let [pa, pb, pc, pd] = corners.map(|corner| points[corner as usize]);
        let (b, c) = match side_of_plane(pa, pb, pc, pd) {
            0 => return None,
            // d is below abc, so abc faces away from it.
            -1 => (b, c),
            _ => (c, b),
        };
        self.facets.clear();
        for (corners, neighbours) in [
            ([a, b, c], [1, 2, 3]),
            ([b, a, d], [0, 3, 2]),
            ([c, b, d], [0, 1, 3]),
            ([a, c, d], [0, 2, 1]),
        ] {
            self.facets.push(Facet {
                corners,
                neighbours,
                is_gone: false,
            });
        }
        Some(())
    }

    /// Returns all facets ever created, removed ones included, so that their indices stay valid.
    pub(crate) fn facets(&self) -> &[Facet] {
        &self.facets
    }

    /// Returns the facets that the last point removed.
    pub(crate) fn gone(&self) -> &[u32] {
        &self.gone
    }

    /// Returns whether a point is strictly above a facet.
    pub(crate) fn is_above(&self, points: &[DVec3], facet: u32, point: DVec3) -> bool {
        is_above(points, self.facets[facet as usize].corners, point)
    }

    /// Adds a point that is strictly above the facet `seen`, and returns the index of the first new
    /// facet; the others follow. `is_seen` must return, exactly, whether the point is strictly
    /// above the facet with these corners and this index.
    #[inline]
    pub(crate) fn add(
        &mut self,
        point: u32,
        seen: u32,
        is_seen: impl FnMut([u32; 3], u32) -> bool,
    ) -> u32 {
        self.find_border(seen, is_seen);
        let first = self.facets.len() as u32;
        let count = self.border.len() as u32;
        for (index, edge) in (0..).zip(&self.border) {
            let own = first + index;
            self.facets.push(Facet {
                corners: [edge.from, edge.to, point],
                neighbours: [
                    edge.outer,
                    first + (index + 1) % count,
                    first + (index + count - 1) % count,
                ],
                is_gone: false,
            });
            self.facets[edge.outer as usize].neighbours[usize::from(edge.outer_edge)] = own;
        }
        first
    }

    /// Traverses the facets visible from the point, always in the same rotational order, so that
    /// the border edges come in order.
    #[inline]
    fn find_border(&mut self, seen: u32, mut is_seen: impl FnMut([u32; 3], u32) -> bool) {
        self.border.clear();
        self.gone.clear();
        self.walk.clear();
        self.facets[seen as usize].is_gone = true;
        self.gone.push(seen);
        self.walk.push((seen, 0, 3));
        while let Some(top) = self.walk.last_mut() {
            let (facet, edge, left) = *top;
            if left == 0 {
                self.walk.pop();
                continue;
            }
            *top = (facet, (edge + 1) % 3, left - 1);
            let Facet {
                corners,
                neighbours,
                ..
            } = self.facets[facet as usize];
            let edge = usize::from(edge);
            let outer = neighbours[edge];
            if self.facets[outer as usize].is_gone {
                continue;
            }
            // Two facets of a solid share at most one edge.
            let Facet {
                corners: outer_corners,
                neighbours: back,
                ..
            } = self.facets[outer as usize];
            let outer_edge = back.iter().position(|&n| n == facet).unwrap_or(0) as u8;
            if is_seen(outer_corners, outer) {
                self.facets[outer as usize].is_gone = true;
                self.gone.push(outer);
                self.walk.push((outer, (outer_edge + 1) % 3, 2));
            } else {
                self.border.push(BorderEdge {
                    from: corners[edge],
                    to: corners[(edge + 1) % 3],
                    outer,
                    outer_edge,
                });
            }
        }
    }
}

/// Returns whether a point is strictly above the plane through three points.
pub(crate) fn is_above(points: &[DVec3], corners: [u32; 3], point: DVec3) -> bool {
    let [a, b, c] = corners.map(|corner| points[corner as usize]);
    side_of_plane(a, b, c, point) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks that every edge has its two facets, and that no point is above any facet.
    fn check(hull: &GrowingHull, points: &[DVec3]) {
        let alive = || (0..).zip(hull.facets()).filter(|(_, facet)| !facet.is_gone);
        let mut edges = 0;
        for (own, facet) in alive() {
            for edge in 0..3 {
                let other = &hull.facets()[facet.neighbours[edge] as usize];
                assert!(!other.is_gone);
                let back = (0..3).find(|&k| other.neighbours[k] == own).unwrap();
                let ends = [facet.corners[edge], facet.corners[(edge + 1) % 3]];
                assert_eq!([other.corners[(back + 1) % 3], other.corners[back]], ends);
                edges += 1;
            }
            for point in points {
                assert!(!hull.is_above(points, own, *point));
            }
        }
        // Euler's formula for a triangulated sphere.
        let mut corners: Vec<u32> = alive().flat_map(|(_, facet)| facet.corners).collect();
        corners.sort_unstable();
        corners.dedup();
        assert_eq!(corners.len() + alive().count(), edges / 2 + 2);
    }

    fn grown(points: &[DVec3]) -> Option<GrowingHull> {
        let mut hull = GrowingHull::default();
        hull.start(points, [0, 1, 2, 3])?;
        for (index, &point) in (0..).zip(points).skip(4) {
            let seen = (0..hull.facets().len() as u32)
                .find(|&f| !hull.facets()[f as usize].is_gone && hull.is_above(points, f, point));
            if let Some(seen) = seen {
                hull.add(index, seen, |corners, _| is_above(points, corners, point));
            }
        }
        Some(hull)
    }

    proptest! {
        #[test]
        fn it_stays_closed_and_convex_on_lattices_full_of_coplanar_points(
            cells in prop::collection::vec(prop::array::uniform3(-2i8..3), 4..40), scale in -20i32..20,
        ) {
            let at = |c: &[i8; 3]| DVec3::from_array(c.map(f64::from)) * 2f64.powi(scale);
            let points: Vec<DVec3> = cells.iter().map(at).collect();
            if let Some(hull) = grown(&points) {
                check(&hull, &points);
            }
        }

        #[test]
        fn it_stays_closed_and_convex_where_rounding_blurs_planes(
            seeds in prop::collection::vec(prop::array::uniform3(-1.0f64..1.0), 4..40), flatness in -18i32..1,
        ) {
            // A rotated slab, down to a thickness that `f64` hardly resolves.
            let turn = glam::DQuat::from_scaled_axis(DVec3::new(0.3, 0.5, 0.7));
            let flat = DVec3::new(1.0, 1.0, 10f64.powi(flatness));
            let points: Vec<DVec3> = seeds.iter().map(|&p| turn * (DVec3::from(p) * flat)).collect();
            if let Some(hull) = grown(&points) {
                check(&hull, &points);
            }
        }
    }

    #[test]
    fn four_points_of_a_plane_are_refused() {
        let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE.with_z(0.0)];
        assert!(
            GrowingHull::default()
                .start(&points, [0, 1, 2, 3])
                .is_none()
        );
    }
}
