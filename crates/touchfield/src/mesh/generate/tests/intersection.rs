//! Exact test for crossing triangles, slow but simple: the reference for the tests of the models.

use glam::DVec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

use crate::geom::DAabb;
use crate::mesh::TriangleMesh;

fn coord(p: DVec3) -> Coord3D<f64> {
    Coord3D {
        x: p.x,
        y: p.y,
        z: p.z,
    }
}

fn side(a: DVec3, b: DVec3, c: DVec3, p: DVec3) -> f64 {
    orient3d(coord(a), coord(b), coord(c), coord(p))
}

/// Returns the orientation of three points of one plane, seen along the coordinate axis nearest to
/// its normal.
fn turn(axis: usize, [a, b, c]: [DVec3; 3]) -> f64 {
    let flat = |p: DVec3| {
        let p = p.to_array();
        Coord {
            x: p[(axis + 1) % 3],
            y: p[(axis + 2) % 3],
        }
    };
    orient2d(flat(a), flat(b), flat(c))
}

fn dominant_axis([a, b, c]: [DVec3; 3]) -> usize {
    let normal = (b - a).cross(c - a).abs();
    (0..3)
        .max_by(|&i, &j| normal[i].total_cmp(&normal[j]))
        .unwrap()
}

/// Returns whether two segments of one plane share a point.
fn segments_meet(axis: usize, [p, q]: [DVec3; 2], [a, b]: [DVec3; 2]) -> bool {
    let (pa, pb) = (turn(axis, [p, q, a]), turn(axis, [p, q, b]));
    let (ap, aq) = (turn(axis, [a, b, p]), turn(axis, [a, b, q]));
    if [pa, pb, ap, aq] == [0.0; 4] {
        let (low, high) = (p.min(q), p.max(q));
        return (low.cmple(a.max(b)) & a.min(b).cmple(high)).all();
    }
    let apart = |x: f64, y: f64| (x > 0.0 && y > 0.0) || (x < 0.0 && y < 0.0);
    !apart(pa, pb) && !apart(ap, aq)
}

/// Returns whether a segment and a closed triangle share a point.
fn segment_meets_triangle([p, q]: [DVec3; 2], t: [DVec3; 3]) -> bool {
    let [a, b, c] = t;
    let (above, below) = (side(a, b, c, p), side(a, b, c, q));
    if above == 0.0 && below == 0.0 {
        let axis = dominant_axis(t);
        let turns = [[a, b], [b, c], [c, a]].map(|[from, to]| turn(axis, [from, to, p]));
        let inside = turns.iter().all(|&t| t >= 0.0) || turns.iter().all(|&t| t <= 0.0);
        return inside
            || [[a, b], [b, c], [c, a]]
                .into_iter()
                .any(|edge| segments_meet(axis, [p, q], edge));
    }
    if (above > 0.0 && below > 0.0) || (above < 0.0 && below < 0.0) {
        return false;
    }
    let turns = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
    turns.iter().all(|&t| t >= 0.0) || turns.iter().all(|&t| t <= 0.0)
}

/// Returns whether a plane along an edge of one triangle separates the two by far more than
/// rounding; saves most exact tests.
fn clearly_apart(ta: [DVec3; 3], tb: [DVec3; 3]) -> bool {
    let along_edge = |t: [DVec3; 3], other: [DVec3; 3]| {
        let normal = (t[1] - t[0]).cross(t[2] - t[0]);
        (0..3).any(|k| {
            let outward = (t[(k + 1) % 3] - t[k]).cross(normal);
            let reach = outward.length() * (t[k] - other[0]).length();
            other.iter().all(|&p| outward.dot(p - t[k]) > 1e-9 * reach)
        })
    };
    along_edge(ta, tb) || along_edge(tb, ta)
}

/// Returns whether two triangles share more than the vertices and edges they are meant to share.
fn faces_cross(a: &TriangleMesh, i: usize, b: &TriangleMesh, j: usize, same_mesh: bool) -> bool {
    let (fa, fb) = (a.faces[i], b.faces[j]);
    let (ta, tb) = (a.triangle(i).corners(), b.triangle(j).corners());
    if DAabb::of_points(ta)
        .intersection(DAabb::of_points(tb))
        .is_empty()
    {
        return false;
    }
    let shared: Vec<usize> = (0..3)
        .filter(|&k| same_mesh && fb.contains(&fa[k]))
        .collect();
    let other = |k: usize| fb.iter().position(|v| *v == fa[k]).unwrap();
    match shared[..] {
        [] if clearly_apart(ta, tb) => false,
        [] => (0..3).any(|k| {
            segment_meets_triangle([ta[k], ta[(k + 1) % 3]], tb)
                || segment_meets_triangle([tb[k], tb[(k + 1) % 3]], ta)
        }),
        [k] => {
            let l = other(k);
            segment_meets_triangle([ta[(k + 1) % 3], ta[(k + 2) % 3]], tb)
                || segment_meets_triangle([tb[(l + 1) % 3], tb[(l + 2) % 3]], ta)
        }
        [k, l] => {
            // Sharing an edge: they cross only if folded flat onto one another.
            let apex_a = ta[3 - k - l];
            let apex_b = tb[3 - other(k) - other(l)];
            let axis = dominant_axis(ta);
            side(ta[k], ta[l], apex_a, apex_b) == 0.0
                && turn(axis, [ta[k], ta[l], apex_a]) * turn(axis, [ta[k], ta[l], apex_b]) > 0.0
        }
        _ => true,
    }
}

/// A tree of boxes over faces; a leaf holds a handful.
enum Node {
    Leaf(DAabb, Vec<usize>),
    Split(DAabb, Box<[Node; 2]>),
}

impl Node {
    fn new(mesh: &TriangleMesh, mut faces: Vec<usize>) -> Node {
        let bounds = DAabb::of_points(faces.iter().flat_map(|&f| mesh.triangle(f).corners()));
        if faces.len() <= 8 {
            return Node::Leaf(bounds, faces);
        }
        let extents = bounds.extents();
        let axis = (0..3)
            .max_by(|&i, &j| extents[i].total_cmp(&extents[j]))
            .unwrap();
        let key = |f: &usize| mesh.triangle(*f).centroid()[axis];
        faces.sort_by(|f, g| key(f).total_cmp(&key(g)));
        let upper = faces.split_off(faces.len() / 2);
        Node::Split(
            bounds,
            Box::new([Node::new(mesh, faces), Node::new(mesh, upper)]),
        )
    }

    fn bounds(&self) -> DAabb {
        match self {
            Node::Leaf(bounds, _) | Node::Split(bounds, _) => *bounds,
        }
    }
}

fn visit(a: &Node, b: &Node, found: &mut impl FnMut(usize, usize)) {
    if a.bounds().intersection(b.bounds()).is_empty() {
        return;
    }
    match (a, b) {
        (Node::Leaf(_, fa), Node::Leaf(_, fb)) => {
            for &i in fa {
                for &j in fb {
                    found(i, j);
                }
            }
        }
        (Node::Split(_, children), _) => {
            children.iter().for_each(|child| visit(child, b, found));
        }
        (_, Node::Split(_, children)) => {
            children.iter().for_each(|child| visit(a, child, found));
        }
    }
}

/// Visits each pair of faces of one tree once.
fn visit_within(node: &Node, found: &mut impl FnMut(usize, usize)) {
    match node {
        Node::Leaf(_, faces) => {
            for (k, &i) in faces.iter().enumerate() {
                faces[..k].iter().for_each(|&j| found(i, j));
            }
        }
        Node::Split(_, children) => {
            visit_within(&children[0], found);
            visit_within(&children[1], found);
            visit(&children[0], &children[1], found);
        }
    }
}

/// Returns the first pair of faces of one mesh that cross, fold or coincide.
pub(super) fn self_crossing(mesh: &TriangleMesh) -> Option<(usize, usize)> {
    let tree = Node::new(mesh, (0..mesh.faces.len()).collect());
    let mut first = None;
    visit_within(&tree, &mut |i, j| {
        if first.is_none() && faces_cross(mesh, i, mesh, j, true) {
            first = Some((i.min(j), i.max(j)));
        }
    });
    first
}

/// Returns the first pair of faces of two meshes that touch.
pub(super) fn crossing(a: &TriangleMesh, b: &TriangleMesh) -> Option<(usize, usize)> {
    let tree_a = Node::new(a, (0..a.faces.len()).collect());
    let tree_b = Node::new(b, (0..b.faces.len()).collect());
    let mut first = None;
    visit(&tree_a, &tree_b, &mut |i, j| {
        if first.is_none() && faces_cross(a, i, b, j, false) {
            first = Some((i, j));
        }
    });
    first
}

mod tests {
    use super::*;

    fn two(a: [DVec3; 3], b: [DVec3; 3]) -> [TriangleMesh; 2] {
        [a, b].map(|corners| TriangleMesh {
            vertices: corners.to_vec(),
            faces: vec![[0, 1, 2]],
        })
    }

    #[test]
    fn pierced_touching_coplanar_and_distant_triangles_are_told_apart() {
        let v = DVec3::new;
        let base = [v(0.0, 0.0, 0.0), v(4.0, 0.0, 0.0), v(0.0, 4.0, 0.0)];
        let cases = [
            (
                [v(1.0, 1.0, -1.0), v(1.0, 1.0, 1.0), v(2.0, 2.0, 1.0)],
                true,
            ),
            ([v(1.0, 1.0, 0.0), v(1.0, 1.0, 1.0), v(2.0, 2.0, 1.0)], true),
            (
                [v(1.0, 1.0, 0.1), v(1.0, 1.0, 1.0), v(2.0, 2.0, 1.0)],
                false,
            ),
            ([v(0.5, 0.5, 0.0), v(1.0, 0.5, 0.0), v(0.5, 1.0, 0.0)], true),
            (
                [v(-9.0, -9.0, 0.0), v(30.0, -9.0, 0.0), v(-9.0, 30.0, 0.0)],
                true,
            ),
            (
                [v(3.0, 3.0, 0.0), v(4.0, 3.0, 0.0), v(3.0, 4.0, 0.0)],
                false,
            ),
            (
                [v(5.0, 0.0, 0.0), v(6.0, 0.0, 0.0), v(5.0, 1.0, 1.0)],
                false,
            ),
            (
                [v(3.0, 0.0, 0.0), v(6.0, 0.0, 0.0), v(5.0, -1.0, 1.0)],
                true,
            ),
        ];
        for (other, meet) in cases {
            let [a, b] = two(base, other);
            assert_eq!(crossing(&a, &b).is_some(), meet, "{other:?}");
            assert_eq!(crossing(&b, &a).is_some(), meet, "swapped {other:?}");
        }
    }

    #[test]
    fn folds_and_fans_within_a_mesh_are_seen() {
        let v = DVec3::new;
        let mut mesh = TriangleMesh {
            vertices: vec![
                v(0.0, 0.0, 0.0),
                v(4.0, 0.0, 0.0),
                v(0.0, 4.0, 0.0),
                v(3.0, 3.0, 0.0),
            ],
            faces: vec![[0, 1, 2], [2, 1, 3]],
        };
        assert_eq!(self_crossing(&mesh), None);
        mesh.vertices[3] = v(1.0, 1.0, 0.0);
        assert_eq!(self_crossing(&mesh), Some((0, 1)), "folded over an edge");
        mesh.vertices.push(v(1.0, 2.0, 0.0));
        mesh.faces[1] = [0, 3, 4];
        assert_eq!(self_crossing(&mesh), Some((0, 1)), "overlap at a vertex");
    }
}
