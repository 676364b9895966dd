//! Nearest triangle of one point: depth first, nearest child first; `f32` rejects, `f64` decides.

use glam::{DVec3, Vec3};

use crate::geom::lanes::{self, Lanes, Work, set_lanes, splat3};
use crate::geom::{ClosestPoint, Feature, Triangle};
use crate::mesh::bvh::Bvh;
use crate::mesh::bvh::answer::Nearest;
use crate::mesh::bvh::node::{LEAF_FLAG, ROUNDING, STACK};

impl Bvh {
    /// Returns the nearest point of the mesh; `None` when it has no faces. `hint` is any face,
    /// preferably a near one: it shortens the search.
    pub fn nearest(&self, point: DVec3, hint: u32) -> Option<Nearest> {
        if self.triangles.is_empty() {
            return None;
        }
        // So far away that squares overflow f32, or NaN: nothing can be pruned.
        if !self.is_within_reach(point, 0.0) {
            return Some(self.nearest_of_all(point));
        }
        let nearest = lanes::run(NearestWork {
            bvh: self,
            point,
            hint,
        });
        // With coordinates beyond f32 everything was pruned.
        Some(if nearest.face == u32::MAX {
            self.nearest_of_all(point)
        } else {
            nearest
        })
    }

    /// Returns whether `f32` bounds are valid for all points within `radius` of `center`. False for
    /// NaN.
    pub(crate) fn is_within_reach(&self, center: DVec3, radius: f64) -> bool {
        self.to_local(center).length() < FARTHEST && radius * self.scale < f64::from(FARTHEST)
    }

    /// Tests every triangle in turn. NaN in, NaN out.
    pub(crate) fn nearest_of_all(&self, point: DVec3) -> Nearest {
        let mut best = Best::new(point);
        for face in 0..self.triangles.len() as u32 {
            best.measure(&self.triangles, face);
        }
        if best.nearest.face == u32::MAX {
            // Distances overflow f64: any face will do.
            best.nearest.face = 0;
            best.nearest.distance_squared = point.length_squared();
            best.nearest.closest.point = self.triangles[0].a;
        }
        best.nearest
    }

    /// Computes [`Self::nearest`] inside a [`Work`]; the mesh must have faces and the point be
    /// within [`FARTHEST`].
    #[inline(always)]
    pub(crate) fn nearest_here<L: Lanes>(&self, point: DVec3, hint: u32) -> Nearest {
        let local = self.to_local(point);
        let mut search = Search {
            best: Best::new(point),
            threshold: f32::INFINITY,
            margin: 2.0 * ROUNDING * (1.0 + local.length()),
            postponed: [(0.0, 0); POSTPONED],
            count: 0,
        };
        let hint = (hint as usize).min(self.leaf_of.len() - 1);
        self.descend::<L>(self.leaf_of[hint], local, &mut search);
        search.decide(&self.triangles);
        search.best.nearest
    }

    #[inline(always)]
    fn descend<L: Lanes>(&self, first: u32, local: Vec3, search: &mut Search) {
        let point = splat3::<L>(local);
        self.visit_leaf(first, point, search);
        let mut stack = [(0.0f32, 0u32); STACK];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (lower, child) = stack[top];
            if lower > search.threshold {
                continue;
            }
            if child & LEAF_FLAG != 0 {
                if child & !LEAF_FLAG != first {
                    self.visit_leaf(child & !LEAF_FLAG, point, search);
                }
                continue;
            }
            let node = &self.nodes[child as usize];
            let lower = node.bounds.distance_squared(point);
            let mask = lower.mask_at_most(L::splat(search.threshold));
            let lower = lower.store();
            let base = top;
            for lane in set_lanes(mask) {
                // Insertion sort of the new entries, the nearest on top.
                let entry = (lower.0[lane], node.children[lane]);
                let mut slot = top;
                while slot > base && stack[slot - 1].0 < entry.0 {
                    stack[slot] = stack[slot - 1];
                    slot -= 1;
                }
                stack[slot] = entry;
                top += 1;
            }
        }
    }

    #[inline(always)]
    fn visit_leaf<L: Lanes>(&self, leaf: u32, point: [L; 3], search: &mut Search) {
        let leaf = &self.leaves[leaf as usize];
        let estimate = leaf.distance_squared(point);
        let mask = estimate.mask_at_most(L::splat(search.threshold));
        if mask == 0 {
            return;
        }
        let estimate = estimate.store();
        for lane in set_lanes(mask) {
            let (estimate, face) = (estimate.0[lane], leaf.faces[lane]);
            if estimate <= search.threshold {
                search.tighten(estimate.sqrt());
                if search.count == POSTPONED {
                    search.decide(&self.triangles);
                }
                search.postponed[search.count] = (estimate, face);
                search.count += 1;
            }
        }
    }
}

/// Distance from the mesh, in multiples of its size, up to which `f32` bounds are valid.
const FARTHEST: f32 = 1e6;

/// Square of the relative magnitude above which rounding cannot change the sign of a dot product.
/// Smaller ones are measured, so that the result does not depend on the visiting order.
const CLEARLY: f64 = 1e-24;

/// Number of triangles kept for the `f64` decision; when full, they are decided early.
const POSTPONED: usize = 32;

/// Search state of one point.
struct Search {
    best: Best,
    /// `f32` distance² above which nothing can be nearer than the triangles measured so far.
    threshold: f32,
    /// Twice the rounding margin at this point, local units.
    margin: f32,
    /// Triangles that may be the nearest, with their `f32` distance²; `f64` decides at the end.
    postponed: [(f32, u32); POSTPONED],
    count: usize,
}

impl Search {
    #[inline(always)]
    fn tighten(&mut self, distance: f32) {
        let reach = distance + self.margin;
        self.threshold = (reach * reach * (1.0 + ROUNDING)).min(self.threshold);
    }

    /// Measures all postponed triangles that can still be nearest.
    #[inline(always)]
    fn decide(&mut self, triangles: &[Triangle]) {
        for &(estimate, face) in &self.postponed[..self.count] {
            if estimate <= self.threshold {
                self.best.measure(triangles, face);
            }
        }
        self.count = 0;
    }
}

/// Nearest point so far, in `f64`.
#[derive(Clone, Copy)]
pub(super) struct Best {
    pub(super) point: DVec3,
    pub(super) nearest: Nearest,
}

impl Best {
    #[inline(always)]
    pub(super) fn new(point: DVec3) -> Best {
        Best {
            point,
            nearest: Nearest {
                distance_squared: f64::INFINITY,
                face: u32::MAX,
                closest: ClosestPoint {
                    point: DVec3::ZERO,
                    feature: Feature::Face,
                },
            },
        }
    }

    /// Measures a face; returns whether it is nearer than all before.
    #[inline(always)]
    pub(super) fn measure(&mut self, triangles: &[Triangle], face: u32) -> bool {
        let triangle = &triangles[face as usize];
        if let Some(feature) = self.same_point(triangles, triangle) {
            // Equal distances go to the smaller face, so that the answer does not depend on the
            // visiting order.
            if face < self.nearest.face {
                self.nearest.face = face;
                self.nearest.closest.feature = feature;
            }
            return false;
        }
        let closest = triangle.closest_point(self.point);
        let distance_squared = closest.point.distance_squared(self.point);
        let nearer = distance_squared < self.nearest.distance_squared
            || (distance_squared == self.nearest.distance_squared && face < self.nearest.face);
        if nearer {
            self.nearest = Nearest {
                distance_squared,
                face,
                closest,
            };
        }
        nearer
    }

    /// Returns the corner or edge of `triangle` that holds the nearest point so far, if that is
    /// also the triangle's own nearest point.
    ///
    /// Outside a convex part the nearest point is mostly on a vertex or an edge, and all faces
    /// around it tie. This test is much cheaper than measuring each of them.
    #[inline(always)]
    fn same_point(&self, triangles: &[Triangle], triangle: &Triangle) -> Option<Feature> {
        let corners = [triangle.a, triangle.b, triangle.c];
        match self.nearest.closest.feature {
            Feature::Face => None,
            Feature::Vertex(_) => {
                let vertex = self.nearest.closest.point;
                let corner = index_of(corners, vertex)?;
                let off = self.point - vertex;
                let behind = |other: DVec3| {
                    let along = other - vertex;
                    let dot = off.dot(along);
                    dot < 0.0 && dot * dot > CLEARLY * off.length_squared() * along.length_squared()
                };
                (behind(corners[(corner + 1) % 3]) && behind(corners[(corner + 2) % 3]))
                    .then_some(Feature::Vertex(corner as u8))
            }
            Feature::Edge(edge) => {
                let best = &triangles[self.nearest.face as usize];
                let best = [best.a, best.b, best.c];
                // Neighbours run along a shared edge in opposite directions.
                let start = best[(edge as usize + 1) % 3];
                let end = best[edge as usize];
                let corner = index_of(corners, start)?;
                if corners[(corner + 1) % 3] != end {
                    return None;
                }
                let (along, inward) = (end - start, corners[(corner + 2) % 3] - start);
                let off = self.point - start;
                let along_squared = along.length_squared();
                let outside = off.dot(along) * inward.dot(along) - off.dot(inward) * along_squared;
                let scale =
                    off.length_squared() * inward.length_squared() * along_squared * along_squared;
                (outside > 0.0 && outside * outside > CLEARLY * scale)
                    .then_some(Feature::Edge(corner as u8))
            }
        }
    }
}

#[inline(always)]
fn index_of(corners: [DVec3; 3], point: DVec3) -> Option<usize> {
    if corners[0] == point {
        Some(0)
    } else if corners[1] == point {
        Some(1)
    } else if corners[2] == point {
        Some(2)
    } else {
        None
    }
}

/// Runs [`Bvh::nearest`] with the widest instructions of the CPU.
struct NearestWork<'a> {
    bvh: &'a Bvh,
    point: DVec3,
    hint: u32,
}

impl Work for NearestWork<'_> {
    type Output = Nearest;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Nearest {
        self.bvh.nearest_here::<L>(self.point, self.hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::TriangleMesh;
    use crate::mesh::generate::{catalogue, icosphere};

    fn brute_force(mesh: &TriangleMesh, point: DVec3) -> f64 {
        mesh.triangles()
            .map(|triangle| triangle.closest_point(point).point.distance_squared(point))
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn nothing_is_nearer_than_the_nearest() {
        for model in catalogue() {
            let mesh = model.mesh().unwrap();
            let bvh = Bvh::build(&mesh);
            let bounds = mesh.bounds();
            for i in 0..60u32 {
                let share = DVec3::from(
                    [0.754_877, 0.569_840, 0.430_159].map(|step| (f64::from(i) * step).fract()),
                );
                // From the middle of the model to a hundred times its size away.
                let reach = [1.0, 1.3, 3.0, 100.0][i as usize % 4];
                let point = bounds.center() + bounds.extents() * (share - 0.5) * reach;
                let found = bvh.nearest(point, i * 977).unwrap();
                let exact = brute_force(&mesh, point);
                assert_eq!(found.distance_squared, exact, "{}: {found:?}", model.name);
                let on_face = mesh.triangle(found.face as usize).closest_point(point);
                assert!((on_face.point.distance_squared(point) - exact).abs() <= 1e-14 * exact);
            }
        }
    }

    #[test]
    fn the_centre_of_a_sphere_is_as_far_from_every_face() {
        let mesh = icosphere(Default::default()).unwrap();
        let bvh = Bvh::build(&mesh);
        let found = bvh.nearest(DVec3::ZERO, 0).unwrap();
        assert_eq!(found.distance_squared, brute_force(&mesh, DVec3::ZERO));
    }

    #[test]
    fn a_single_triangle_and_a_pile_of_equal_ones_have_a_nearest_point() {
        let one = TriangleMesh {
            vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
            faces: vec![[0, 1, 2]],
        };
        let pile = TriangleMesh {
            faces: vec![[0, 1, 2]; 1000],
            ..one.clone()
        };
        for mesh in [one, pile] {
            let bvh = Bvh::build(&mesh);
            let found = bvh.nearest(DVec3::new(0.2, 0.2, 3.0), 7).unwrap();
            assert_eq!((found.distance_squared, found.face), (9.0, 0));
        }
        assert!(
            Bvh::build(&TriangleMesh::default())
                .nearest(DVec3::ZERO, 0)
                .is_none()
        );
    }
}
