//! Vertex fans: settle all faces around a nearest vertex at once.
//!
//! Outside a convex part the nearest point is mostly a vertex, and the half dozen faces around it
//! tie. The vertex is the nearest point of all of them if every edge at the vertex leads away from
//! the query point: eight `f32` dot products at once, instead of measuring face by face.

use glam::DVec3;

use crate::geom::Feature;
use crate::geom::lanes::{Aligned, LANES, Lanes, Stored3, dot3, load3, splat3};
use crate::mesh::TriangleMesh;
use crate::mesh::bvh::answer::Nearest;

/// Marks the absence of a vertex.
pub(super) const NONE: u32 = u32::MAX;

/// Relative margin by which an edge must lead away for `f32` to be conclusive: the combined
/// rounding error of the unit vectors, the offset of the point and the sum is less than half of
/// this.
const AWAY: f32 = 1e-6;

/// Shortest offset [m]: squares of shorter ones leave the range in which `f32` has that accuracy.
const SHORTEST: f32 = 1e-15;

/// Edges and faces around each vertex.
pub(super) struct Fans {
    /// Vertices of each face.
    pub(super) corners: Vec<[u32; 3]>,
    /// First group of each vertex; the groups of a vertex end where the next one's begin.
    starts: Vec<u32>,
    /// Directions of the edges at a vertex, [`LANES`] at a time, some repeated to fill the lanes; 0
    /// for an edge without length.
    groups: Vec<Stored3>,
    /// Smallest face number at each vertex.
    first_face: Vec<u32>,
}

impl Fans {
    pub(super) fn of(mesh: &TriangleMesh) -> Fans {
        let count = mesh.vertices.len();
        // Counting sort of the neighbours by vertex; each face adds two to each of its corners.
        let mut starts = vec![0u32; count + 1];
        for &vertex in mesh.faces.as_flattened() {
            starts[vertex as usize + 1] += 2;
        }
        for vertex in 0..count {
            starts[vertex + 1] += starts[vertex];
        }
        let mut neighbours = vec![0u32; starts[count] as usize];
        let mut first_face = vec![NONE; count];
        let mut next = starts.clone();
        for (face, corners) in (0u32..).zip(&mesh.faces) {
            for i in 0..3 {
                let vertex = corners[i] as usize;
                let slot = next[vertex] as usize;
                neighbours[slot] = corners[(i + 1) % 3];
                neighbours[slot + 1] = corners[(i + 2) % 3];
                next[vertex] += 2;
                first_face[vertex] = first_face[vertex].min(face);
            }
        }
        // Replace the neighbours of each vertex by edge directions in groups of lanes.
        let mut groups = Vec::with_capacity(count);
        for vertex in 0..count {
            let range = starts[vertex] as usize..starts[vertex + 1] as usize;
            starts[vertex] = groups.len() as u32;
            let around = without_repeats(&mut neighbours[range]);
            let at = mesh.vertices[vertex];
            for chunk in around.chunks(LANES) {
                let mut group = [Aligned([0.0; LANES]); 3];
                for lane in 0..LANES {
                    let other = mesh.vertices[chunk[lane.min(chunk.len() - 1)] as usize];
                    let direction = (other - at).try_normalize().unwrap_or(DVec3::ZERO);
                    for (slot, value) in group.iter_mut().zip(direction.as_vec3().to_array()) {
                        slot.0[lane] = value;
                    }
                }
                groups.push(group);
            }
        }
        starts[count] = groups.len() as u32;
        Fans {
            corners: mesh.faces.clone(),
            starts,
            groups,
            first_face,
        }
    }

    /// Returns the vertex that is certainly the nearest point of all faces around it, if `nearest`
    /// is one; otherwise [`NONE`]. Sets `nearest` to the smallest of these faces.
    #[inline(always)]
    pub(super) fn settle<L: Lanes>(&self, point: DVec3, nearest: &mut Nearest) -> u32 {
        let Feature::Vertex(corner) = nearest.closest.feature else {
            return NONE;
        };
        let vertex = self.corners[nearest.face as usize][corner as usize];
        let off = (point - nearest.closest.point).as_vec3();
        let length = off.length();
        if !(length > SHORTEST && length < f32::INFINITY) {
            return NONE;
        }
        let off = splat3::<L>(off);
        let limit = L::splat(-AWAY * length);
        let range =
            self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize;
        for group in &self.groups[range] {
            if dot3(load3(group), off).mask_at_most(limit) != ALL {
                return NONE;
            }
        }
        let face = self.first_face[vertex as usize];
        if face < nearest.face {
            let corners = self.corners[face as usize];
            let corner = corners.iter().position(|&other| other == vertex);
            nearest.face = face;
            nearest.closest.feature = Feature::Vertex(corner.unwrap_or(0) as u8);
        }
        vertex
    }
}

/// Mask of all lanes.
const ALL: u32 = (1 << LANES) - 1;

/// Moves the distinct numbers to the front and returns them. Sorts long lists; otherwise keeps the
/// order of first occurrence.
fn without_repeats(numbers: &mut [u32]) -> &[u32] {
    /// Above this length a linear search per number is slower than sorting.
    const FEW: usize = 32;
    if numbers.len() > FEW {
        numbers.sort_unstable();
    }
    let sorted = numbers.len() > FEW;
    let mut kept = 0;
    for i in 0..numbers.len() {
        let number = numbers[i];
        let seen = if sorted {
            kept > 0 && numbers[kept - 1] == number
        } else {
            numbers[..kept].contains(&number)
        };
        if !seen {
            numbers[kept] = number;
            kept += 1;
        }
    }
    &numbers[..kept]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::lanes::{self, Work};
    use crate::geom::{ClosestPoint, Triangle};
    use crate::mesh::generate::catalogue;

    struct Settle<'a>(&'a Fans, DVec3, Nearest);

    impl Work for Settle<'_> {
        type Output = (u32, Nearest);

        fn run<L: Lanes>(mut self) -> (u32, Nearest) {
            let vertex = self.0.settle::<L>(self.1, &mut self.2);
            (vertex, self.2)
        }
    }

    fn at_corner(mesh: &TriangleMesh, face: usize, corner: u8, point: DVec3) -> Nearest {
        let vertex = mesh.vertices[mesh.faces[face][corner as usize] as usize];
        Nearest {
            distance_squared: vertex.distance_squared(point),
            face: face as u32,
            closest: ClosestPoint {
                point: vertex,
                feature: Feature::Vertex(corner),
            },
        }
    }

    #[test]
    fn a_vertex_that_is_settled_is_the_nearest_point_of_every_face_around_it() {
        let (mut settled, mut open) = (0, 0);
        for model in catalogue() {
            let mesh = model.mesh().unwrap();
            let fans = Fans::of(&mesh);
            let size = mesh.bounds().diagonal();
            for i in 0..400u32 {
                let share = [0.754_877, 0.569_840, 0.430_159, 0.327_7]
                    .map(|step| (f64::from(i) * step).fract());
                let face = (share[3] * mesh.faces.len() as f64) as usize;
                let corner = (i % 3) as u8;
                let vertex = mesh.faces[face][corner as usize];
                // In a random direction, or away from the neighbours.
                let at = mesh.vertices[vertex as usize];
                let other = mesh.triangle(face).centroid();
                let any = DVec3::new(share[0], share[1], share[2]) - 0.5;
                let normal = mesh.triangle(face).normal().unwrap_or(DVec3::X);
                let way = if i % 2 == 0 {
                    any
                } else {
                    0.3 * (at - other).normalize_or_zero() + 0.1 * any + normal
                };
                let point = at + 10f64.powi(-(i as i32 % 7)) * size * way;
                let nearest = at_corner(&mesh, face, corner, point);
                let (found, named) = lanes::run(Settle(&fans, point, nearest));
                let around = (0..mesh.faces.len()).filter(|&f| mesh.faces[f].contains(&vertex));
                if found == NONE {
                    assert_eq!(named, nearest);
                    open += 1;
                    continue;
                }
                settled += 1;
                assert_eq!(found, vertex);
                assert_eq!(named.face as usize, around.clone().next().unwrap());
                for face in around {
                    let triangle: Triangle = mesh.triangle(face);
                    let closest = triangle.closest_point(point);
                    assert_eq!(
                        closest.point, nearest.closest.point,
                        "{} {face}",
                        model.name
                    );
                }
                let Feature::Vertex(corner) = named.closest.feature else {
                    panic!("{:?}", named.closest);
                };
                assert_eq!(mesh.faces[named.face as usize][corner as usize], vertex);
            }
        }
        assert!(settled > 200 && open > 500, "{settled} {open}");
    }

    #[test]
    fn an_edge_without_length_and_a_point_on_the_vertex_settle_nothing() {
        let mesh = TriangleMesh {
            vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ZERO],
            faces: vec![[0, 1, 2], [0, 3, 1]],
        };
        let fans = Fans::of(&mesh);
        for point in [DVec3::new(-1.0, -1.0, 0.0), DVec3::ZERO] {
            let nearest = at_corner(&mesh, 0, 0, point);
            assert_eq!(lanes::run(Settle(&fans, point, nearest)).0, NONE);
        }
    }

    #[test]
    fn numbers_are_kept_once() {
        assert_eq!(without_repeats(&mut [3, 1, 3, 2, 1]), [3, 1, 2]);
        let mut many: Vec<u32> = (0..100).map(|i| i % 7).collect();
        assert_eq!(without_repeats(&mut many), [0, 1, 2, 3, 4, 5, 6]);
    }
}
