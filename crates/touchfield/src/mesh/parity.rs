//! Inside–outside test by the parity of ray crossings.
//!
//! Input: a [`Bvh`] over the mesh, in any orientation, even a random one.
//! Output: how many of several rays in fixed generic directions vote "inside" (an odd number of
//! crossings).
//! Cost: a microsecond or two per ray.
//! Not for: meshes with large holes (see [`super::WindingNumber`]); self-intersecting ones, whose
//! overlaps count as outside.
//!
//! A ray that passes within rounding of an edge, a vertex or the plane of a triangle is discarded
//! and replaced by another, so that no crossing is counted twice or missed.

use std::sync::Arc;

use glam::{DVec3, Vec3};

use super::Bvh;
use crate::mesh::bvh::node::LEAF_FLAG;

/// Even–odd inside test against one mesh.
pub struct Parity {
    bvh: Arc<Bvh>,
}

/// Votes of the rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Votes {
    /// Number of rays with an odd number of crossings.
    pub inside: u32,
    /// Number of rays that were counted.
    pub rays: u32,
}

impl Votes {
    /// Returns whether the majority votes inside; a tie, or no ray at all, counts as outside.
    pub fn says_inside(self) -> bool {
        2 * self.inside > self.rays
    }

    /// Returns whether at least a quarter of the rays disagree.
    pub fn is_split(self) -> bool {
        4 * self.inside.min(self.rays - self.inside) >= self.rays
    }
}

impl Parity {
    /// Number of rays after which voting stops if all agree. A few percent of the rays slip through
    /// cracks: with three rays, all agreed on the wrong side at a few nodes far from the surface of
    /// a cracked mug; with this many, that does not happen.
    const FEWEST: u32 = 9;
    /// Number of rays when they disagree. Directions are fixed, so the result is the same on every
    /// run.
    const MOST: u32 = 25;

    /// Builds the test over the faces of `bvh`.
    pub fn of(bvh: Arc<Bvh>) -> Parity {
        Parity { bvh }
    }

    /// Casts rays from `point` and counts their votes: a few if they agree, else many.
    pub fn votes(&self, point: DVec3) -> Votes {
        let mut votes = Votes { inside: 0, rays: 0 };
        // Twice as many attempts as rays: enough for meshes in which half of all rays graze
        // something.
        for attempt in 0..2 * Self::MOST {
            let Some(crossings) = self.crossings(point, direction(attempt)) else {
                continue;
            };
            votes.rays += 1;
            votes.inside += crossings % 2;
            let unanimous = votes.inside == 0 || votes.inside == votes.rays;
            if (unanimous && votes.rays >= Self::FEWEST) || votes.rays >= Self::MOST {
                break;
            }
        }
        votes
    }

    /// Returns the number of triangles that the ray crosses; `None` when it grazes one.
    fn crossings(&self, point: DVec3, direction: DVec3) -> Option<u32> {
        let mut count = 0;
        let mut stack = vec![0u32];
        let (local, local_direction) = (self.bvh.to_local(point), direction.as_vec3());
        if self.bvh.node_count() == 0 {
            return Some(0);
        }
        while let Some(node) = stack.pop() {
            for (child, bounds) in self.bvh.children(node as usize) {
                if !bounds.is_hit(local, local_direction) {
                    continue;
                }
                if child & LEAF_FLAG == 0 {
                    stack.push(child);
                    continue;
                }
                for face in self.bvh.leaf_faces(child & !LEAF_FLAG) {
                    count += u32::from(crosses(
                        self.bvh.triangles()[face as usize].corners(),
                        point,
                        direction,
                    )?);
                }
            }
        }
        Some(count)
    }
}

impl crate::mesh::bvh::node::BoundsLane {
    /// Returns whether a ray may hit the box: a separating-axis test for its line, then a test that
    /// the box is not behind the origin of the ray.
    fn is_hit(&self, point: Vec3, direction: Vec3) -> bool {
        /// Margin for the rounding of `f32` in local coordinates, where everything is of the order
        /// of 1.
        const MARGIN: f32 = 1e-5;
        let margin = MARGIN * (1.0 + point.length());
        let along = |v: Vec3| Vec3::from(self.axes.map(|axis| axis.dot(v)));
        let (o, d) = (along(point) - self.offset, along(direction));
        let half = self.half + margin;
        let moment = d.cross(o).abs();
        let reach = Vec3::new(
            half.y * d.z.abs() + half.z * d.y.abs(),
            half.z * d.x.abs() + half.x * d.z.abs(),
            half.x * d.y.abs() + half.y * d.x.abs(),
        );
        moment.cmple(reach + margin).all()
            && (0..3).all(|i| o[i].abs() <= half[i] || o[i] * d[i] < margin)
    }
}

/// Returns whether the ray crosses the triangle; `None` when that is within rounding of its border
/// or the ray starts on it.
fn crosses([a, b, c]: [DVec3; 3], point: DVec3, direction: DVec3) -> Option<bool> {
    /// Relative rounding of a triple product, with a safety factor of ten.
    const ROUNDING: f64 = 1e-14;
    let (a, b, c) = (a - point, b - point, c - point);
    // The side of each edge on which the line passes; the products are twice the projected areas.
    let side = |u: DVec3, v: DVec3| {
        let product = direction.dot(u.cross(v));
        // A cheap bound first: sums of absolute coordinates exceed lengths and need no roots;
        // mostly they suffice.
        let at_most = u.abs().element_sum() * v.abs().element_sum();
        if product.abs() > 1.001 * ROUNDING * at_most {
            return if product > 0.0 { 1 } else { -1 };
        }
        let unsure = ROUNDING * u.length() * v.length();
        if product > unsure {
            1
        } else if product < -unsure {
            -1
        } else {
            0
        }
    };
    let sides = [side(a, b), side(b, c), side(c, a)];
    if sides.contains(&1) && sides.contains(&-1) {
        return Some(false);
    }
    let normal = (b - a).cross(c - a);
    let toward = normal.dot(direction);
    let height = normal.dot(a);
    if sides.contains(&0) {
        // A degenerate triangle has no inside that a ray could cross.
        return if normal == DVec3::ZERO {
            Some(false)
        } else {
            None
        };
    }
    if height.abs() <= ROUNDING * normal.length() * (a.length() + b.length() + c.length()) {
        return None;
    }
    Some((height > 0.0) == (toward > 0.0))
}

/// Returns the direction of the given number; the directions are spread evenly over the sphere by
/// golden-ratio sequences, away from every axis.
fn direction(index: u32) -> DVec3 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    const SILVER: f64 = 0.754_877_666_246_692_7;
    let z = 2.0 * ((f64::from(index) + 0.37) * SILVER).fract() - 1.0;
    let angle = std::f64::consts::TAU * ((f64::from(index) + 0.21) * GOLDEN).fract();
    let radius = (1.0 - z * z).max(0.0).sqrt();
    DVec3::new(radius * angle.cos(), radius * angle.sin(), z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::{TorusKnot, torus_knot};
    use crate::mesh::{TriangleMesh, winding_number_brute_force};

    /// Reverses about every third face, in no regular pattern.
    fn shuffled(mut mesh: TriangleMesh) -> TriangleMesh {
        for (i, face) in mesh.faces.iter_mut().enumerate() {
            if (i * 2_654_435_761) % 1000 < 333 {
                face.swap(0, 1);
            }
        }
        mesh
    }

    #[test]
    fn orientation_does_not_matter() {
        let mesh = torus_knot(TorusKnot::default()).unwrap();
        let parity = Parity::of(Arc::new(Bvh::build(&shuffled(mesh.clone()))));
        let bounds = mesh.bounds();
        let mut inside = 0;
        for i in 0..2000u32 {
            let share = DVec3::from(
                [0.754_877, 0.569_840, 0.430_159].map(|step| (f64::from(i) * step).fract()),
            );
            let point = bounds.min + bounds.extents() * share;
            let expected = winding_number_brute_force(mesh.triangles(), point) > 0.5;
            let votes = parity.votes(point);
            assert_eq!(votes.says_inside(), expected, "{votes:?} at {point}");
            assert!(!votes.is_split());
            inside += u32::from(expected);
        }
        assert!(inside > 50, "the test must see the inside: {inside}");
    }

    #[test]
    fn rays_through_vertices_edges_and_faces_are_taken_again() {
        // Points on a lattice aligned with the cube's corners: many rays would graze, none may be
        // miscounted.
        let cube = crate::mesh::generate::cuboid(Default::default()).unwrap();
        let parity = Parity::of(Arc::new(Bvh::build(&cube)));
        let half = cube.bounds().half_extents();
        for i in 0..125u32 {
            let step = |n: u32| f64::from(n % 5) * 0.5 - 1.0;
            let share = DVec3::new(step(i), step(i / 5), step(i / 25));
            if share.abs().max_element() == 1.0 {
                continue; // on the surface
            }
            assert!(parity.votes(share * half).says_inside(), "{share}");
            assert!(!parity.votes(share * half * 2.5 + 4.0 * half).says_inside());
        }
    }
}
