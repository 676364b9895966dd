//! Exact test whether two faces meet anywhere but in the vertices and edges they share.
//!
//! Input: two triangles with area, and which corners they share by index.
//! Output: a `bool`; touching in a single point that is not a shared vertex counts as meeting.
//! Cost: about six exact orientation tests for faces that pass each other, 30 at worst.
//! Not for: triangles without area; they have no plane to test against.
//!
//! The cases, by number of shared corners, each reduced to segment–triangle tests:
//!
//! - None: an edge of one meets the other.
//! - One: the edges *opposite* the shared corner suffice, because whatever the two share beyond it
//!   starts there and ends on one of these.
//! - Two: only faces folded onto each other in one plane share more than the edge.
//! - Three: the faces are duplicates, which is another defect.

use glam::{DVec2, DVec3};

use crate::geom::predicates::{Plane, side_of_line, side_of_plane, without_axis};

/// A face with its corners' indices and its plane.
#[derive(Clone, Copy)]
pub(super) struct Face {
    vertices: [u32; 3],
    plane: Plane,
}

impl Face {
    pub(super) fn new(vertices: [u32; 3], corners: [DVec3; 3]) -> Face {
        Face {
            vertices,
            plane: Plane::new(corners),
        }
    }
}

/// Returns whether the two faces meet beyond the vertices they share by index.
pub(super) fn faces_cross(a: &Face, b: &Face) -> bool {
    let mut shared = [(0, 0); 3];
    let mut count = 0;
    for i in 0..3 {
        for j in 0..3 {
            if a.vertices[i] == b.vertices[j] && count < 3 {
                shared[count] = (i, j);
                count += 1;
            }
        }
    }
    match count {
        0 => separate_faces_meet(&a.plane, &b.plane),
        1 => faces_at_a_vertex_meet(&a.plane, &b.plane, shared[0]),
        2 => {
            let [(i0, j0), (i1, j1), _] = shared;
            faces_at_an_edge_fold(&a.plane, 3 - i0 - i1, b.plane.corners[3 - j0 - j1])
        }
        _ => false,
    }
}

fn all_on_one_side(sides: &[i8]) -> bool {
    sides.iter().all(|&side| side > 0) || sides.iter().all(|&side| side < 0)
}

fn separate_faces_meet(plane_a: &Plane, plane_b: &Plane) -> bool {
    let (a, b) = (plane_a.corners, plane_b.corners);
    // If both lie in nearly one plane, every side below would need the slow exact path, and a 2D
    // projection usually decides.
    if b.iter().all(|&point| plane_a.is_near(point)) && flat_triangles_are_apart(a, b) {
        return false;
    }
    let b_sides = b.map(|point| plane_a.side(point));
    if all_on_one_side(&b_sides) {
        return false;
    }
    if b_sides == [0; 3] {
        return !flat_triangles_are_apart(a, b);
    }
    let a_sides = a.map(|point| plane_b.side(point));
    if all_on_one_side(&a_sides) {
        return false;
    }
    (0..3).any(|i| {
        let j = (i + 1) % 3;
        segment_meets_triangle([a[i], a[j]], [a_sides[i], a_sides[j]], b)
            || segment_meets_triangle([b[i], b[j]], [b_sides[i], b_sides[j]], a)
    })
}

/// Returns whether two faces that share corner `i` of `a` and corner `j` of `b` meet beyond it.
fn faces_at_a_vertex_meet(plane_a: &Plane, plane_b: &Plane, (i, j): (usize, usize)) -> bool {
    // Rotated so that the shared corner comes first.
    let rotated = |c: [DVec3; 3], k: usize| [c[k], c[(k + 1) % 3], c[(k + 2) % 3]];
    let (a, b) = (rotated(plane_a.corners, i), rotated(plane_b.corners, j));
    let b_sides = [plane_a.side(b[1]), plane_a.side(b[2])];
    if all_on_one_side(&b_sides) {
        return false;
    }
    if b_sides == [0, 0] && flat_fans_are_apart(a, b) {
        return false;
    }
    let a_sides = [plane_b.side(a[1]), plane_b.side(a[2])];
    if all_on_one_side(&a_sides) {
        return false;
    }
    segment_meets_triangle([a[1], a[2]], a_sides, b)
        || segment_meets_triangle([b[1], b[2]], b_sides, a)
}

/// Early-out for two triangles in one plane that share their first corner, the common case in flat
/// parts. Returns whether a side at that corner has the other triangle wholly beyond it.
fn flat_fans_are_apart(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    let axis = projection_axis(a);
    let [a, b] = [a, b].map(|t| t.map(|p| without_axis(p, axis)));
    let separates = |t: [DVec2; 3], other: [DVec2; 3]| {
        [(1, 2), (2, 1)].into_iter().any(|(side, inside)| {
            let inner = side_of_line(t[0], t[side], t[inside]);
            let is_beyond = |&p: &DVec2| side_of_line(t[0], t[side], p) == -inner;
            inner != 0 && other[1..].iter().all(is_beyond)
        })
    };
    separates(a, b) || separates(b, a)
}

/// Returns whether two faces that share an edge are folded onto each other. `apex_a` is the index
/// of the corner of `a` that is not shared, `apex_b` that corner of the other face.
fn faces_at_an_edge_fold(a: &Plane, apex_a: usize, apex_b: DVec3) -> bool {
    if a.side(apex_b) != 0 {
        return false;
    }
    let [apex_a, start, end] = [0, 1, 2].map(|i| a.corners[(apex_a + i) % 3]);
    let axis = projection_axis([start, end, apex_a]);
    let flat = |p| without_axis(p, axis);
    let side = |p| side_of_line(flat(start), flat(end), flat(p));
    side(apex_a) == side(apex_b)
}

/// Returns whether a segment meets a triangle. `sides` holds the sides of its ends relative to the
/// plane of `t`.
fn segment_meets_triangle(segment: [DVec3; 2], sides: [i8; 2], t: [DVec3; 3]) -> bool {
    if all_on_one_side(&sides) {
        return false;
    }
    if sides == [0, 0] {
        let axis = projection_axis(t);
        return flat_segment_meets_triangle(
            segment.map(|p| without_axis(p, axis)),
            t.map(|p| without_axis(p, axis)),
        );
    }
    // The segment's line pierces the plane in one point. That point is in the triangle unless the
    // line passes two edges on different sides.
    let [p, q] = segment;
    let mut seen = [false; 2];
    for i in 0..3 {
        match side_of_plane(p, q, t[i], t[(i + 1) % 3]) {
            1 => seen[0] = true,
            -1 => seen[1] = true,
            _ => {}
        }
        if seen == [true, true] {
            return false;
        }
    }
    true
}

/// Returns the axis along which the projection of the triangle is largest; dropping it keeps
/// distinct points of its plane distinct.
fn projection_axis(t: [DVec3; 3]) -> usize {
    let normal = (t[1] - t[0]).cross(t[2] - t[0]).abs();
    let axis = normal.max_position();
    // The normal is rounded, the projected area is exact: a sliver may need another axis.
    let visible = |axis: &usize| {
        let [a, b, c] = t.map(|p| without_axis(p, *axis));
        side_of_line(a, b, c) != 0
    };
    [axis, (axis + 1) % 3, (axis + 2) % 3]
        .into_iter()
        .find(visible)
        .unwrap_or(axis)
}

/// Returns whether, in projection along an axis, a side of one triangle has the other wholly beyond
/// it. Then they do not meet; if both lie in one plane, the converse holds too.
fn flat_triangles_are_apart(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    let axis = projection_axis(a);
    let [a, b] = [a, b].map(|t| t.map(|p| without_axis(p, axis)));
    let separates = |t: [DVec2; 3], other: [DVec2; 3]| {
        let inner = side_of_line(t[0], t[1], t[2]);
        (0..3).any(|i| {
            let is_beyond = |&p: &DVec2| side_of_line(t[i], t[(i + 1) % 3], p) == -inner;
            inner != 0 && other.iter().all(is_beyond)
        })
    };
    separates(a, b) || separates(b, a)
}

fn flat_segment_meets_triangle(segment: [DVec2; 2], t: [DVec2; 3]) -> bool {
    let inside = |p: DVec2| {
        let sides = [0, 1, 2].map(|i| side_of_line(t[i], t[(i + 1) % 3], p));
        sides.iter().all(|&side| side >= 0) || sides.iter().all(|&side| side <= 0)
    };
    inside(segment[0]) || (0..3).any(|i| flat_segments_meet(segment, [t[i], t[(i + 1) % 3]]))
}

fn flat_segments_meet([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> bool {
    let ends_of_cd = [side_of_line(a, b, c), side_of_line(a, b, d)];
    let ends_of_ab = [side_of_line(c, d, a), side_of_line(c, d, b)];
    if ends_of_cd == [0, 0] && ends_of_ab == [0, 0] {
        // Collinear: they meet when their extents do.
        return a.min(b).cmple(c.max(d)).all() && c.min(d).cmple(a.max(b)).all();
    }
    ends_of_cd[0] * ends_of_cd[1] <= 0 && ends_of_ab[0] * ends_of_ab[1] <= 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference by another theorem, exact over integers: convex sets are disjoint if and only if
    /// some axis separates them, and for polytopes face normals and cross products of edges
    /// suffice.
    mod separating_axis {
        pub(super) type V = [i128; 3];

        pub(super) fn sub(a: V, b: V) -> V {
            [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
        }

        pub(super) fn cross(a: V, b: V) -> V {
            [
                a[1] * b[2] - a[2] * b[1],
                a[2] * b[0] - a[0] * b[2],
                a[0] * b[1] - a[1] * b[0],
            ]
        }

        fn dot(a: V, b: V) -> i128 {
            a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
        }

        fn edges(p: &[V]) -> Vec<V> {
            (0..p.len())
                .map(|i| sub(p[(i + 1) % p.len()], p[i]))
                .collect()
        }

        fn separates(axis: V, a: &[V], b: &[V]) -> bool {
            let range = |p: &[V]| {
                let along = p.iter().map(|&q| dot(axis, q));
                (along.clone().min().unwrap(), along.max().unwrap())
            };
            let ((a0, a1), (b0, b1)) = (range(a), range(b));
            a1 < b0 || b1 < a0
        }

        /// Returns whether two triangles or segments meet.
        pub(super) fn meet(a: &[V], b: &[V]) -> bool {
            let mut axes = Vec::new();
            for polygon in [a, b].into_iter().filter(|p| p.len() == 3) {
                let normal = cross(sub(polygon[1], polygon[0]), sub(polygon[2], polygon[0]));
                axes.push(normal);
                axes.extend(
                    edges(a)
                        .into_iter()
                        .chain(edges(b))
                        .map(|e| cross(normal, e)),
                );
            }
            for &e in &edges(a) {
                axes.extend(edges(b).into_iter().map(|f| cross(e, f)));
            }
            !axes.into_iter().any(|axis| separates(axis, a, b))
        }
    }
    use separating_axis::{V, cross, meet, sub};

    /// Returns the expected result for faces over small integers, by the number of shared corners.
    fn truth(a: [V; 3], b: [V; 3], shared: usize) -> bool {
        match shared {
            0 => meet(&a, &b),
            // The cone at b's shared corner, cut off far beyond everything, against the side of a
            // opposite to it.
            1 => {
                let far = |p: V| [0, 1, 2].map(|k| a[0][k] + 10_000 * (p[k] - a[0][k]));
                meet(&[a[1], a[2]], &[b[0], far(b[1]), far(b[2])])
            }
            // In one plane, both normals over the common edge point the same way when folded.
            _ => {
                let [n, m] = [a[2], b[2]].map(|apex| cross(sub(a[1], a[0]), sub(apex, a[0])));
                cross(n, m) == [0; 3] && (0..3).map(|k| n[k] * m[k]).sum::<i128>() > 0
            }
        }
    }

    #[test]
    fn agrees_with_separating_axes_on_a_small_lattice_full_of_degenerate_cases() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let mut outcomes = [[0usize; 2]; 3];
        for round in 0..120_000usize {
            let side = 2 + round as u64 % 5;
            let mut point = || [0; 3].map(|_: i128| random(side) as i128);
            let mut a = [point(), point(), point()];
            let mut b = [point(), point(), point()];
            let shared = round % 3;
            b[..shared].copy_from_slice(&a[..shared]);
            let has_area = |t: [V; 3]| cross(sub(t[1], t[0]), sub(t[2], t[0])) != [0; 3];
            let distinct = !b[shared..].iter().any(|p| a.contains(p));
            if !has_area(a) || !has_area(b) || !distinct {
                continue;
            }
            let expected = truth(a, b, shared);
            // The result must not depend on the order of the corners.
            let mut a_indices = [0, 1, 2];
            let mut b_indices = [0, 1, 2].map(|i| if (i as usize) < shared { i } else { i + 3 });
            let turn = round % 4;
            a.rotate_left(turn % 3);
            a_indices.rotate_left(turn % 3);
            if turn == 3 {
                b.swap(0, 2);
                b_indices.swap(0, 2);
            }
            let face = |vertices, corners: [V; 3]| {
                Face::new(vertices, corners.map(|p| DVec3::from(p.map(|x| x as f64))))
            };
            let (fa, fb) = (face(a_indices, a), face(b_indices, b));
            assert_eq!(
                faces_cross(&fa, &fb),
                expected,
                "{a:?} {b:?} sharing {shared}"
            );
            assert_eq!(
                faces_cross(&fb, &fa),
                expected,
                "{b:?} {a:?} sharing {shared}"
            );
            outcomes[shared][usize::from(expected)] += 1;
        }
        assert!(
            outcomes.iter().flatten().all(|&count| count > 400),
            "one-sided: {outcomes:?}"
        );
    }
}
