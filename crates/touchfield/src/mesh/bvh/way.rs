//! Segment clearance: whether a mesh blocks the straight segment between two points. `f32` finds
//! the leaves near the segment, `f64` tests their triangles.

use glam::DVec3;

use crate::geom::lanes::{self, Lanes, Work, set_lanes, splat3};
use crate::mesh::bvh::Bvh;
use crate::mesh::bvh::node::{LEAF_FLAG, ROUNDING, STACK};

impl Bvh {
    /// Returns whether certainly no face touches the segment between two points. Meant for short
    /// segments: it visits every leaf within half the segment's length of its midpoint.
    ///
    /// The sign of the distance to a closed surface is constant off the surface, so two points with
    /// a clear segment between them have the same sign.
    pub(crate) fn is_clear(&self, from: DVec3, to: DVec3) -> bool {
        let (center, radius) = (0.5 * (from + to), 0.5 * from.distance(to));
        if self.nodes.is_empty() || !self.is_within_reach(center, radius) {
            return false;
        }
        lanes::run(Way {
            bvh: self,
            ends: [from, to],
            center,
            radius,
        })
    }
}

struct Way<'a> {
    bvh: &'a Bvh,
    ends: [DVec3; 2],
    center: DVec3,
    radius: f64,
}

impl Work for Way<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes>(self) -> bool {
        let bvh = self.bvh;
        let local = bvh.to_local(self.center);
        let reach = (self.radius * bvh.scale) as f32 + 2.0 * ROUNDING * (1.0 + local.length());
        let (center, reach_squared) = (splat3(local), L::splat(reach * reach * (1.0 + ROUNDING)));
        let mut stack = [0u32; STACK];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let node = &bvh.nodes[stack[top] as usize];
            let near: L = node.bounds.distance_squared(center);
            for lane in set_lanes(near.mask_at_most(reach_squared)) {
                let child = node.children[lane];
                if child & LEAF_FLAG == 0 {
                    stack[top] = child;
                    top += 1;
                    continue;
                }
                let mut faces = bvh.leaf_faces(child & !LEAF_FLAG);
                if !faces.all(|face| bvh.triangles[face as usize].is_clear_of(self.ends)) {
                    return false;
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::catalogue;

    #[test]
    fn ways_are_clear_if_they_are_of_every_triangle() {
        for model in catalogue() {
            let mesh = model.mesh().unwrap();
            let bvh = Bvh::build(&mesh);
            let bounds = mesh.bounds();
            let mut clear = 0;
            for i in 0..200u32 {
                let share = |steps: [f64; 3]| {
                    DVec3::from(steps.map(|step| (f64::from(i) * step).fract() - 0.5))
                };
                // Around face centroids, at a thousandth of the model's size up to all of it.
                let length = bounds.diagonal() * [1e-3, 1e-2, 1e-1, 1.0][i as usize % 4];
                let face = i as usize * 977 % mesh.faces.len();
                let middle = mesh.triangle(face).centroid();
                let from = middle + length * share([0.754_877, 0.569_840, 0.430_159]);
                let to = from + length * share([0.618_034, 0.414_214, 0.732_051]);
                let expected = mesh
                    .triangles()
                    .all(|triangle| triangle.is_clear_of([from, to]));
                assert_eq!(bvh.is_clear(from, to), expected, "{}, {i}", model.name);
                clear += u32::from(expected);
            }
            assert!(
                (20..=180).contains(&clear),
                "{}: {clear} of 200",
                model.name
            );
        }
    }
}
