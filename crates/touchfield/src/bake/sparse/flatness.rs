//! Flatness of faces: how far the normals of a surface turn near a point of a face.
//!
//! Input: triangles and their outward normals.
//! Output: per face and point, a bend: `1 − cos` of the largest angle to the faces around that
//! point.
//! Cost: a sort of all corners and edges.
//! Not for: faces whose neighbours are not at the very same corners; nothing is found around their
//! edges.

use glam::DVec3;

use crate::geom::Triangle;

/// Bend from which on a face does not count as flat: `1 − cos 45°`.
const STEEPEST: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;

/// Angles between a face and its neighbours.
#[derive(Clone, Copy)]
pub(crate) struct Flatness {
    /// Outward unit normal; 0 where the face has no area, which gives all its neighbours a bend of
    /// 1 there. The normal of a sliver may be anything; but where a sliver is nearest, a face of
    /// some width is as near, up to the height of the sliver.
    pub(crate) normal: DVec3,
    /// `1 − cos α` per edge, with α the angle to the face across it; the first edge from corner 0
    /// to 1.
    edges: [f64; 3],
    /// `1 − cos α` per corner, with α the largest angle to a face that shares it.
    corners: [f64; 3],
}

impl Flatness {
    /// Returns `1 − cos α`, with α the largest angle to a face around those points of this face
    /// that are within `radius` of `point`. Infinite where α is 45° or more.
    pub(crate) fn bend(&self, triangle: &Triangle, point: DVec3, radius: f64) -> f64 {
        if self.normal == DVec3::ZERO {
            return f64::INFINITY;
        }
        let mut bend: f64 = 0.0;
        let corners = [triangle.a, triangle.b, triangle.c];
        for i in 0..3 {
            let (from, along) = (corners[i], corners[(i + 1) % 3] - corners[i]);
            if self.edges[i] > bend {
                let share = (point - from).dot(along) / along.length_squared();
                let nearest = from + share.clamp(0.0, 1.0) * along;
                // An edge without length counts as near.
                if share.is_nan() || nearest.distance(point) <= radius {
                    bend = self.edges[i];
                }
            }
            if self.corners[i] > bend && from.distance(point) <= radius {
                bend = self.corners[i];
            }
        }
        if bend < STEEPEST { bend } else { f64::INFINITY }
    }
}

/// Returns the flatness of all faces. Outward normals may have any length.
pub(crate) fn flatness_of_faces(
    triangles: &[Triangle],
    normal: impl Fn(u32) -> DVec3,
) -> Vec<Flatness> {
    let mut flatness: Vec<Flatness> = (0..triangles.len() as u32)
        .map(|face| Flatness {
            normal: normal(face).normalize_or_zero(),
            edges: [0.0; 3],
            corners: [0.0; 3],
        })
        .collect();
    // Corners at one position belong together, whether or not they are one vertex; and so do edges.
    let mut corners: Vec<(Place, u32, usize)> = Vec::with_capacity(3 * triangles.len());
    let mut edges: Vec<([Place; 2], u32, usize)> = Vec::with_capacity(3 * triangles.len());
    for (face, triangle) in (0u32..).zip(triangles) {
        let places = triangle.corners().map(place_of);
        for i in 0..3 {
            corners.push((places[i], face, i));
            let mut ends = [places[i], places[(i + 1) % 3]];
            ends.sort_unstable();
            edges.push((ends, face, i));
        }
    }
    for_each_bend(&mut corners, &mut flatness, |face, i, bend| {
        face.corners[i] = bend;
    });
    for_each_bend(&mut edges, &mut flatness, |face, i, bend| {
        face.edges[i] = bend;
    });
    flatness
}

/// Passes the bend of every face at each of its corners or edges to `keep`. `parts` holds a key,
/// the face, and which of its three corners or edges it is; parts with equal keys belong together.
fn for_each_bend<K: Ord>(
    parts: &mut [(K, u32, usize)],
    faces: &mut [Flatness],
    keep: impl Fn(&mut Flatness, usize, f64),
) {
    parts.sort_unstable();
    for fan in parts.chunk_by(|a, b| a.0 == b.0) {
        let normals: Vec<DVec3> = (fan.iter())
            .map(|&(_, face, _)| faces[face as usize].normal)
            .collect();
        for (&(_, face, i), bend) in fan.iter().zip(bends(&normals)) {
            keep(&mut faces[face as usize], i, bend);
        }
    }
}

/// Returns `1 − cos` of the largest angle between each normal and any other, or more. A normal of
/// length 0 is far from all others.
fn bends(normals: &[DVec3]) -> Vec<f64> {
    /// Largest fan whose normals are compared pairwise. In larger ones they are compared with their
    /// mean, and the returned angles may be twice as large.
    const FEW: usize = 64;
    let bend = |a: DVec3, b: DVec3| (1.0 - a.dot(b)).max(0.0);
    if normals.len() <= FEW {
        let of_one = |&normal| normals.iter().map(move |&other| bend(normal, other));
        return (normals.iter())
            .map(|normal| of_one(normal).fold(0.0, f64::max))
            .collect();
    }
    let mean = normals.iter().sum::<DVec3>().normalize_or_zero();
    let widest = normals
        .iter()
        .map(|&normal| bend(normal, mean))
        .fold(0.0, f64::max);
    // 1 − cos 2β = 2 (1 − cos² β), for any β up to 45°.
    let both = 2.0 * widest * (2.0 - widest);
    let any = if widest < STEEPEST { both } else { 1.0 };
    vec![any; normals.len()]
}

/// Bits of a position, for exact comparison.
type Place = [u64; 3];

/// Returns the bits of a point. Adding 0 turns −0 into 0.
fn place_of(point: DVec3) -> Place {
    (point + DVec3::ZERO).to_array().map(f64::to_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_and_corners_count_where_they_are_near() {
        let triangle = Triangle {
            a: DVec3::ZERO,
            b: DVec3::X,
            c: DVec3::Y,
        };
        let flatness = Flatness {
            normal: DVec3::Z,
            edges: [0.1, 0.0, 1.0],
            corners: [0.2, 0.05, 1.0],
        };
        let at =
            |x: f64, y: f64, radius: f64| flatness.bend(&triangle, DVec3::new(x, y, 0.0), radius);
        assert_eq!(at(0.5, 0.1, 0.09), 0.0);
        assert_eq!(at(0.5, 0.1, 0.11), 0.1);
        assert_eq!(at(0.5, 0.1, 0.49), 0.1);
        // The edge from c to a is sharp.
        assert_eq!(at(0.5, 0.1, 0.51), f64::INFINITY);
        assert_eq!(at(0.9, 0.0, 0.11), 0.1);
        let nowhere = Flatness {
            normal: DVec3::ZERO,
            ..flatness
        };
        assert_eq!(
            nowhere.bend(&triangle, DVec3::new(0.3, 0.3, 0.0), 0.01),
            f64::INFINITY
        );
        let corner_only = Flatness {
            edges: [0.0; 3],
            ..flatness
        };
        let near_a = DVec3::new(0.1, 0.0, 0.0);
        assert_eq!(corner_only.bend(&triangle, near_a, 0.09), 0.0);
        assert_eq!(corner_only.bend(&triangle, near_a, 0.11), 0.2);
    }

    #[test]
    fn a_large_fan_bends_no_less_than_any_two_of_it() {
        let tilted = |angle: f64, around: f64| {
            DVec3::new(
                angle.sin() * around.cos(),
                angle.sin() * around.sin(),
                angle.cos(),
            )
        };
        for angle in [0.0, 0.1, 0.5, 1.2] {
            let normals: Vec<DVec3> = (0..100).map(|i| tilted(angle, f64::from(i))).collect();
            let told = bends(&normals);
            for (&normal, &told) in normals.iter().zip(&told) {
                let truth = normals.iter().map(|other| 1.0 - normal.dot(*other));
                assert!(truth.fold(0.0, f64::max).min(STEEPEST) <= told + 1e-12);
            }
            assert!(
                angle == 1.2 || angle == 0.5 || told[0] < STEEPEST,
                "{angle}"
            );
        }
        let mut normals = vec![DVec3::Z; 100];
        normals[50] = DVec3::ZERO;
        assert!(bends(&normals)[0] >= STEEPEST);
    }
}
