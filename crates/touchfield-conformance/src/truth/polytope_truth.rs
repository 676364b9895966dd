//! True distances and minimum translations of polytopes in `f64`, from hulls and their features.
//!
//! Input: points in the frame of a pair.
//! Output: corners, edges and faces; the distance with its two points; the depth, and the direction
//! of the shortest way out.
//! Cost: O(n⁴) for a hull, all pairs of features for a pair.
//! Not for: anything fast.
//!
//! Hulls use exact orientation predicates, so flat, thin and duplicated sets are safe. No method of
//! the library is used: polytopes are measured feature by feature, and a pair is reported as
//! separated only with a separating plane.

use glam::{DMat3, DVec3};
use robust::{Coord, Coord3D, orient2d, orient3d};

/// A convex body as its corners, edges and faces; flat, straight and single-point ones included.
#[derive(Clone, Debug, Default)]
pub struct Polytope {
    /// Corners \[m\]: extreme points only, none twice.
    pub points: Vec<DVec3>,
    /// Corners of each face, counter-clockwise seen from outside. A flat body has its one face
    /// twice, from both sides.
    pub faces: Vec<Vec<usize>>,
    /// Unit normal of each face.
    pub normals: Vec<DVec3>,
    /// Edges of the faces, each once; a straight body is one edge.
    pub edges: Vec<[usize; 2]>,
}

impl Polytope {
    /// Computes the hull of a set of points: every plane through three of them that has all others
    /// on one side.
    ///
    /// Exact for coordinates representable in `f32`.
    pub fn hull(points: &[DVec3]) -> Polytope {
        let mut points = points.to_vec();
        points.sort_by(|p, q| p.to_array().partial_cmp(&q.to_array()).expect("no NaN"));
        points.dedup();
        let (Some(&first), Some(&last)) = (points.first(), points.last()) else {
            return Polytope::default();
        };
        let straight = points.iter().all(|&p| collinear(first, last, p));
        if straight {
            // Sorted by coordinates, the ends come first and last.
            return if points.len() == 1 {
                Polytope {
                    points,
                    ..Polytope::default()
                }
            } else {
                Polytope {
                    points: vec![first, last],
                    edges: vec![[0, 1]],
                    ..Polytope::default()
                }
            };
        }
        // Test every plane through three points that is not known yet: it is a face if all points
        // are on one side.
        let mut planes: Vec<Vec<usize>> = Vec::new();
        let mut faces = Vec::new();
        let count = points.len();
        for i in 0..count {
            for j in i + 1..count {
                for k in j + 1..count {
                    let known = |plane: &Vec<usize>| [i, j, k].iter().all(|c| plane.contains(c));
                    if planes.iter().any(known) || collinear(points[i], points[j], points[k]) {
                        continue;
                    }
                    let sides: Vec<f64> = points
                        .iter()
                        .map(|&p| above(points[i], points[j], points[k], p))
                        .collect();
                    let (some_above, some_below) = (
                        sides.iter().any(|&s| s > 0.0),
                        sides.iter().any(|&s| s < 0.0),
                    );
                    if some_above && some_below {
                        continue;
                    }
                    let plane: Vec<usize> = (0..count).filter(|&p| sides[p] == 0.0).collect();
                    // The cross product, each component with its true sign.
                    let normal = DVec3::from_array(
                        [0, 1, 2].map(|axis| turn(points[i], points[j], points[k], axis)),
                    );
                    // A flat body gets both sides.
                    if !some_above {
                        faces.push(polygon(&points, &plane, normal));
                    }
                    if !some_below {
                        faces.push(polygon(&points, &plane, -normal));
                    }
                    planes.push(plane);
                }
            }
        }
        Polytope::of_faces(&points, &faces)
    }

    fn of_faces(points: &[DVec3], faces: &[Vec<usize>]) -> Polytope {
        let mut used: Vec<usize> = faces.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let place = |old: usize| used.binary_search(&old).expect("all were gathered");
        let points: Vec<DVec3> = used.iter().map(|&old| points[old]).collect();
        let faces: Vec<Vec<usize>> = faces
            .iter()
            .map(|face| face.iter().map(|&old| place(old)).collect())
            .collect();
        let normals = faces.iter().map(|face| normal_of(&points, face)).collect();
        let mut edges: Vec<[usize; 2]> = faces
            .iter()
            .flat_map(|face| sides(face))
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        Polytope {
            points,
            faces,
            normals,
            edges,
        }
    }

    /// Returns an axis-aligned box about the origin.
    pub fn cuboid(half: DVec3) -> Polytope {
        let corners: Vec<DVec3> = (0..8).map(|corner| half * corner_signs(corner)).collect();
        Polytope::hull(&corners)
    }

    /// Returns the polytope rotated, then translated.
    pub fn posed(&self, rotation: DMat3, translation: DVec3) -> Polytope {
        Polytope {
            points: self
                .points
                .iter()
                .map(|&p| rotation * p + translation)
                .collect(),
            normals: self.normals.iter().map(|&n| rotation * n).collect(),
            ..self.clone()
        }
    }

    /// Returns the farthest corner along a direction.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        let mut best = self.points[0];
        for &point in &self.points[1..] {
            if direction.dot(point) > direction.dot(best) {
                best = point;
            }
        }
        best
    }

    /// Returns the largest distance of a corner from the first \[m\].
    pub fn size(&self) -> f64 {
        let first = self.points[0];
        self.points
            .iter()
            .fold(0.0, |size, p| f64::max(size, p.distance(first)))
    }

    fn extent(&self, direction: DVec3) -> [f64; 2] {
        let mut range = [f64::INFINITY, f64::NEG_INFINITY];
        for point in &self.points {
            let along = direction.dot(*point);
            range = [range[0].min(along), range[1].max(along)];
        }
        range
    }

    /// Returns the directions of the edges, and for a straight body of two perpendiculars. Together
    /// with the faces they give the normals of the facets of a Minkowski difference.
    fn edge_directions(&self) -> Vec<DVec3> {
        let along = |&[a, b]: &[usize; 2]| (self.points[b] - self.points[a]).normalize_or_zero();
        self.edges.iter().map(along).collect()
    }
}

/// Returns the signs of corner `0..8` of a box.
pub fn corner_signs(corner: usize) -> DVec3 {
    let sign = |bit: usize| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
    DVec3::new(sign(0), sign(1), sign(2))
}

fn sides(face: &[usize]) -> impl Iterator<Item = [usize; 2]> + '_ {
    (0..face.len()).map(|k| [face[k], face[(k + 1) % face.len()]])
}

fn normal_of(points: &[DVec3], face: &[usize]) -> DVec3 {
    // Differences of `f32` numbers of similar size have 25 bits and their products 50: each term is
    // exact.
    let origin = points[face[0]];
    let area: DVec3 = face[1..]
        .windows(2)
        .map(|pair| (points[pair[0]] - origin).cross(points[pair[1]] - origin))
        .sum();
    // Divide by the largest component first, so that the squares of areas of tiny bodies do not
    // underflow.
    (area / area.abs().max_element()).normalize()
}

/// Returns a positive value if `p` lies on the side from which `a`, `b`, `c` turn
/// counter-clockwise; the sign is exact.
pub(crate) fn above(a: DVec3, b: DVec3, c: DVec3, p: DVec3) -> f64 {
    let coord = |p: DVec3| Coord3D {
        x: p.x,
        y: p.y,
        z: p.z,
    };
    // Shewchuk's predicate is positive for a point below.
    -orient3d(coord(a), coord(b), coord(c), coord(p))
}

fn turn(a: DVec3, b: DVec3, c: DVec3, axis: usize) -> f64 {
    let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    let coord = |p: DVec3| Coord { x: p[u], y: p[v] };
    orient2d(coord(a), coord(b), coord(c))
}

/// Returns whether three points are collinear; exact, because their projections to all coordinate
/// planes are.
fn collinear(a: DVec3, b: DVec3, c: DVec3) -> bool {
    (0..3).all(|axis| turn(a, b, c, axis) == 0.0)
}

/// Returns the extreme points of a flat set, counter-clockwise seen from where `normal` points;
/// points on sides are dropped.
fn polygon(points: &[DVec3], plane: &[usize], normal: DVec3) -> Vec<usize> {
    // The projection along the normal's largest component keeps every corner. Points are already
    // sorted by coordinates, so the first of the plane is extreme.
    let axis = (0..3).fold(0, |best, axis| {
        if normal[axis].abs() > normal[best].abs() {
            axis
        } else {
            best
        }
    });
    let sign = normal[axis].signum();
    let mut corners = vec![plane[0]];
    loop {
        let current = corners[corners.len() - 1];
        let mut next = plane[usize::from(current == plane[0])];
        for &other in plane {
            if other == current || other == next {
                continue;
            }
            let side = sign * turn(points[current], points[next], points[other], axis);
            let farther = beyond(points[current], points[next], points[other]);
            // Nothing may lie to the right of a side; of points on it the last is the corner.
            if side < 0.0 || side == 0.0 && farther {
                next = other;
            }
        }
        if next == plane[0] {
            return corners;
        }
        corners.push(next);
        assert!(
            corners.len() <= plane.len(),
            "a polygon that does not close: {plane:?}"
        );
    }
}

/// Returns whether, on the line from one point through another, a third comes later; exact for
/// points of a line.
fn beyond(from: DVec3, through: DVec3, point: DVec3) -> bool {
    let axis = (through - from).abs().max_position();
    if through[axis] > from[axis] {
        point[axis] > through[axis]
    } else {
        point[axis] < through[axis]
    }
}

/// Ground truth of a pair.
#[derive(Clone, Copy, Debug)]
pub struct PairTruth {
    /// Lower bound of the distance \[m\]: a plane perpendicular to [`Self::direction`] separates
    /// the bodies by this much. 0 in contact.
    pub lower: f64,
    /// Upper bound of the distance \[m\]: two points of the bodies are this close. 0 in contact.
    pub upper: f64,
    /// Length of the shortest translation that separates the bodies \[m\]; 0 when apart.
    pub depth: f64,
    /// Unit direction from A to B: between the nearest points when apart; the way B leaves by
    /// `depth` when overlapping.
    pub direction: DVec3,
    /// Nearest point of A, when apart.
    pub on_a: DVec3,
    /// Nearest point of B, when apart.
    pub on_b: DVec3,
}

impl PairTruth {
    /// Returns the distance when apart, minus the depth otherwise \[m\].
    pub fn signed(&self) -> f64 {
        // Two points are as exact as their coordinates; a plane is tilted by their rounding over
        // their distance.
        if self.upper > 0.0 {
            self.upper
        } else {
            -self.depth
        }
    }

    /// Returns the truth of the same bodies rounded with balls of radii `radius_a` and `radius_b`.
    pub fn rounded(&self, radius_a: f64, radius_b: f64) -> PairTruth {
        let radius = radius_a + radius_b;
        let truth = PairTruth {
            on_a: self.on_a + radius_a * self.direction,
            on_b: self.on_b - radius_b * self.direction,
            ..*self
        };
        if self.upper > radius {
            return PairTruth {
                lower: (self.lower - radius).max(0.0),
                upper: self.upper - radius,
                ..truth
            };
        }
        PairTruth {
            lower: 0.0,
            upper: 0.0,
            depth: (self.depth + radius - self.upper).max(0.0),
            ..truth
        }
    }
}

/// Returns how far A reaches past the nearest point of B along a unit direction \[m\]: the support
/// of A ⊖ B. If negative, a plane separates them.
pub fn reach(a: &Polytope, b: &Polytope, direction: DVec3) -> f64 {
    a.extent(direction)[1] - b.extent(direction)[0]
}

/// Computes the distance or minimum translation of two polytopes by all pairs of features.
pub fn polytope_pair(a: &Polytope, b: &Polytope) -> PairTruth {
    let [on_a, on_b] = nearest_features(a, b);
    let upper = on_a.distance(on_b);
    let apart = PairTruth {
        lower: 0.0,
        upper,
        depth: 0.0,
        direction: scaled_unit(on_b - on_a),
        on_a,
        on_b,
    };
    // Bodies apart: the plane perpendicular to the nearest two points separates them by exactly
    // that distance. Without a plane there is no distance.
    let lower = -reach(a, b, apart.direction);
    if lower > (1.0 - 1e-12) * upper {
        return PairTruth {
            lower: lower.min(upper),
            ..apart
        };
    }
    let (direction, depth) = least_reach(a, b);
    if lower.max(-depth) > 0.0 {
        // Apart by so little that rounding spoils the direction: use the plane that separates them
        // best.
        return PairTruth {
            lower: lower.max(-depth).min(upper),
            direction: if lower > -depth {
                apart.direction
            } else {
                direction
            },
            ..apart
        };
    }
    PairTruth {
        lower: 0.0,
        upper: 0.0,
        depth,
        direction,
        ..apart
    }
}

/// Returns the unit vector, also for very small lengths; the x axis for a vector without direction.
pub(crate) fn scaled_unit(vector: DVec3) -> DVec3 {
    let scale = vector.abs().max_element();
    (vector / scale).try_normalize().unwrap_or(DVec3::X)
}

/// Returns the direction of least [`reach`], over all normals that a facet of A ⊖ B can have.
///
/// A facet is made by a face of A, a face of B, or an edge of each. Where the difference is flat or
/// straight, its plane is among these, or the perpendiculars of an edge added here. Additional
/// directions do no harm: no reach is below the least.
fn least_reach(a: &Polytope, b: &Polytope) -> (DVec3, f64) {
    let mut best = (DVec3::X, f64::INFINITY);
    let mut consider = |direction: DVec3| {
        let (in_a, in_b) = (a.extent(direction), b.extent(direction));
        for (direction, reach) in [
            (direction, in_a[1] - in_b[0]),
            (-direction, in_b[1] - in_a[0]),
        ] {
            if reach < best.1 {
                best = (direction, reach);
            }
        }
    };
    for &normal in a.normals.iter().chain(&b.normals) {
        consider(normal);
    }
    for axis in DVec3::AXES {
        consider(axis);
    }
    let (edges_a, edges_b) = (a.edge_directions(), b.edge_directions());
    for &along in edges_a.iter().chain(&edges_b) {
        let (u, v) = along.any_orthonormal_pair();
        consider(u);
        consider(v);
    }
    for &along_a in &edges_a {
        for &along_b in &edges_b {
            if let Some(direction) = along_a.cross(along_b).try_normalize() {
                consider(direction);
            }
        }
    }
    best
}

/// Returns two nearest points of the surfaces. They are meaningless for bodies in contact.
fn nearest_features(a: &Polytope, b: &Polytope) -> [DVec3; 2] {
    let mut best = [a.points[0], b.points[0]];
    let mut least = best[0].distance_squared(best[1]);
    let mut consider = |p: DVec3, q: DVec3| {
        let distance = p.distance_squared(q);
        if distance < least {
            (best, least) = ([p, q], distance);
        }
    };
    for &p in &a.points {
        for &q in &b.points {
            consider(p, q);
        }
        for &[c, d] in &b.edges {
            consider(p, nearest_on_segment(b.points[c], b.points[d], p));
        }
        for face in 0..b.faces.len() {
            if let Some(q) = shadow(b, face, p) {
                consider(p, q);
            }
        }
    }
    for &q in &b.points {
        for &[c, d] in &a.edges {
            consider(nearest_on_segment(a.points[c], a.points[d], q), q);
        }
        for face in 0..a.faces.len() {
            if let Some(p) = shadow(a, face, q) {
                consider(p, q);
            }
        }
    }
    for &[a0, a1] in &a.edges {
        for &[b0, b1] in &b.edges {
            let [p, q] =
                nearest_of_segments([a.points[a0], a.points[a1]], [b.points[b0], b.points[b1]]);
            consider(p, q);
        }
    }
    best
}

/// Returns the nearest point of a segment.
pub fn nearest_on_segment(start: DVec3, end: DVec3, point: DVec3) -> DVec3 {
    let along = end - start;
    let share = (point - start).dot(along) / along.length_squared();
    // A segment of length zero is its start.
    if share.is_nan() {
        start
    } else {
        start + share.clamp(0.0, 1.0) * along
    }
}

/// Returns the nearest points of two segments if they are inside both, else near ones.
///
/// The ends are covered by other pairs of features.
fn nearest_of_segments(a: [DVec3; 2], b: [DVec3; 2]) -> [DVec3; 2] {
    let (u, v, w) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let normal = u.cross(v);
    // (w + s u − t v) · (u × v's two perpendiculars) = 0.
    let share = w.cross(v).dot(-normal) / normal.length_squared();
    let share = if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.5
    };
    let mut on_a = a[0] + share * u;
    let mut on_b = nearest_on_segment(b[0], b[1], on_a);
    // Nearly parallel lines: each step corrects rounding.
    for _ in 0..2 {
        on_a = nearest_on_segment(a[0], a[1], on_b);
        on_b = nearest_on_segment(b[0], b[1], on_a);
    }
    [on_a, on_b]
}

/// Returns the nearest point of the plane of a face, if it lies in the face.
fn shadow(body: &Polytope, face: usize, point: DVec3) -> Option<DVec3> {
    let normal = body.normals[face];
    let corners = &body.faces[face];
    let inside = sides(corners).all(|[c, d]| {
        let (c, d) = (body.points[c], body.points[d]);
        normal.cross(d - c).dot(point - c) >= 0.0
    });
    inside.then(|| point - normal.dot(point - body.points[corners[0]]) * normal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn close(actual: f64, expected: f64, size: f64) {
        assert!(
            (actual - expected).abs() <= 1e-12 * size,
            "{actual:e}, expected {expected:e}"
        );
    }

    fn random_rotation(random: &mut Random) -> DMat3 {
        DMat3::from_quat(random.quaternion())
    }

    #[test]
    fn hulls_have_the_features_that_euler_counts() {
        let cuboid = Polytope::cuboid(DVec3::new(1.0, 2.0, 3.0));
        assert_eq!(
            (cuboid.points.len(), cuboid.faces.len(), cuboid.edges.len()),
            (8, 6, 12)
        );
        assert!(cuboid.faces.iter().all(|face| face.len() == 4));
        let mut random = Random::new(1);
        for count in [4, 5, 8, 13, 25] {
            let points: Vec<DVec3> = (0..count).map(|_| random.unit_vector()).collect();
            let hull = Polytope::hull(&points);
            assert_eq!(hull.points.len(), count);
            assert_eq!(hull.points.len() + hull.faces.len(), hull.edges.len() + 2);
            for (face, normal) in hull.faces.iter().zip(&hull.normals) {
                let height = normal.dot(hull.points[face[0]]);
                assert!(hull.points.iter().all(|p| normal.dot(*p) <= height + 1e-15));
            }
        }
    }

    #[test]
    fn hulls_of_flat_straight_and_single_sets() {
        let grid: Vec<DVec3> = (0..16)
            .map(|k| DVec3::new((k % 4) as f64, 2.0 * (k / 4) as f64, 5.0 + (k % 4) as f64))
            .collect();
        let flat = Polytope::hull(&grid);
        assert_eq!(
            (flat.points.len(), flat.faces.len(), flat.edges.len()),
            (4, 2, 4)
        );
        close(flat.normals[0].dot(flat.normals[1]), -1.0, 1.0);
        let line: Vec<DVec3> = [3.0, 1.0, 2.0, 7.0, 3.0]
            .map(|t| t * DVec3::new(1.0, -2.0, 0.5))
            .to_vec();
        let line = Polytope::hull(&line);
        assert_eq!(
            (line.points.len(), line.faces.len(), line.edges.len()),
            (2, 0, 1)
        );
        let single = Polytope::hull(&[DVec3::ONE, DVec3::ONE]);
        assert_eq!((single.points.len(), single.edges.len()), (1, 0));
    }

    #[test]
    fn boxes_along_the_axes() {
        let mut random = Random::new(2);
        for _ in 0..200 {
            let halves = [0, 1].map(|_| random.in_box(DVec3::splat(0.1), DVec3::ONE));
            let offset = random.in_box(DVec3::splat(-3.0), DVec3::splat(3.0));
            let rotation = random_rotation(&mut random);
            let a = Polytope::cuboid(halves[0]).posed(rotation, DVec3::ZERO);
            let b = Polytope::cuboid(halves[1]).posed(rotation, rotation * offset);
            let gaps = offset.abs() - halves[0] - halves[1];
            let truth = polytope_pair(&a, &b);
            if gaps.max_element() > 0.0 {
                let distance = gaps.max(DVec3::ZERO).length();
                close(truth.upper, distance, 4.0);
                close(truth.lower, distance, 4.0);
                assert_eq!(truth.depth, 0.0);
            } else {
                close(truth.depth, -gaps.max_element(), 4.0);
                assert_eq!(truth.upper, 0.0);
            }
        }
    }

    #[test]
    fn two_tetrahedra_tip_to_tip_and_edge_across_edge() {
        let tetrahedron = Polytope::hull(&[
            DVec3::new(-1.0, -1.0, 0.0),
            DVec3::new(1.0, -1.0, 0.0),
            DVec3::new(0.0, 2.0, 0.0),
            DVec3::new(0.0, 0.0, 3.0),
        ]);
        let turned = DMat3::from_rotation_x(std::f64::consts::PI);
        let other = tetrahedron.posed(turned, DVec3::new(0.3, 0.0, 7.0));
        let truth = polytope_pair(&tetrahedron, &other);
        close(truth.upper, DVec3::new(0.3, 0.0, 1.0).length(), 5.0);
        close(truth.lower, truth.upper, 5.0);
        // Wedges: an edge along x on top of A, one along y under B.
        let wedge = Polytope::hull(&[
            DVec3::new(-1.0, 0.0, 0.0),
            DVec3::new(1.0, 0.0, 0.0),
            DVec3::new(0.0, 1.0, -4.0),
            DVec3::new(0.0, -1.0, -4.0),
        ]);
        let rotation = DMat3::from_rotation_z(std::f64::consts::FRAC_PI_2) * turned;
        for height in [0.5, 1e-9, -1e-3, -0.2] {
            let truth = polytope_pair(&wedge, &wedge.posed(rotation, DVec3::Z * height));
            close(truth.signed(), height, 5.0);
            close(truth.direction.z, 1.0, 10.0);
        }
    }

    #[test]
    fn a_copy_in_place_leaves_by_its_least_width() {
        let mut random = Random::new(3);
        for _ in 0..50 {
            let half = random.in_box(DVec3::splat(0.01), DVec3::ONE);
            let body =
                Polytope::cuboid(half).posed(random_rotation(&mut random), DVec3::splat(9.0));
            close(
                polytope_pair(&body, &body).depth,
                2.0 * half.min_element(),
                20.0,
            );
        }
        // A regular tetrahedron of side √8 is thinnest between two opposite edges, 2 apart.
        let corners = [0, 3, 5, 6].map(corner_signs);
        let body = Polytope::hull(&corners);
        close(polytope_pair(&body, &body).depth, 2.0, 2.0);
    }

    #[test]
    fn flat_straight_and_single_bodies_against_each_other() {
        let square =
            Polytope::hull(&[0, 1, 2, 3].map(|c| corner_signs(c) * DVec3::new(1.0, 1.0, 0.0)));
        let segment = Polytope::hull(&[DVec3::NEG_X, DVec3::X]);
        let point = Polytope::hull(&[DVec3::ZERO]);
        let mut random = Random::new(4);
        for _ in 0..20 {
            let rotation = random_rotation(&mut random);
            let at = |body: &Polytope, offset: DVec3| body.posed(rotation, rotation * offset);
            let measure = |a: &Polytope, b: &Polytope, offset: DVec3| {
                let truth = polytope_pair(&at(a, DVec3::ZERO), &at(b, offset));
                assert!(
                    truth.depth < 1e-15 && truth.upper - truth.lower < 1e-14,
                    "{truth:?}"
                );
                truth.upper
            };
            // Coplanar, in overlap and apart; above each other; side by side.
            close(
                measure(&square, &square, DVec3::new(0.5, 0.5, 0.0)),
                0.0,
                2.0,
            );
            close(
                measure(&square, &square, DVec3::new(3.0, 3.0, 0.0)),
                2f64.sqrt(),
                2.0,
            );
            close(
                measure(&square, &square, DVec3::new(0.5, 0.5, 0.25)),
                0.25,
                2.0,
            );
            close(
                measure(&segment, &segment, DVec3::new(0.5, 0.0, 0.0)),
                0.0,
                2.0,
            );
            close(
                measure(&segment, &segment, DVec3::new(3.0, 0.0, 0.0)),
                1.0,
                2.0,
            );
            close(
                measure(&segment, &segment, DVec3::new(0.5, 0.0, 2.0)),
                2.0,
                2.0,
            );
            close(
                measure(&segment, &square, DVec3::new(0.5, 0.0, 0.0)),
                0.0,
                2.0,
            );
            close(
                measure(&point, &square, DVec3::new(0.5, 0.5, 0.125)),
                0.125,
                2.0,
            );
            close(measure(&point, &segment, DVec3::ZERO), 0.0, 2.0);
            close(measure(&point, &point, DVec3::Y), 1.0, 2.0);
            // A segment through a square: no feature is near, and it leaves sideways or along
            // itself.
            let upright = Polytope::hull(&[DVec3::NEG_Z * 0.25, DVec3::Z * 2.0]);
            let truth = polytope_pair(&at(&upright, DVec3::ZERO), &at(&square, DVec3::X * 0.5));
            close(truth.depth, 0.25, 2.0);
        }
    }

    #[test]
    fn a_ball_against_a_box() {
        let half = DVec3::new(1.0, 0.5, 0.25);
        let mut random = Random::new(6);
        for _ in 0..200 {
            let point = random.in_box(DVec3::splat(-1.5), DVec3::splat(1.5));
            let body = Polytope::cuboid(half);
            let truth = polytope_pair(&body, &Polytope::hull(&[point])).rounded(0.0, 0.25);
            let outside = point.abs() - half;
            let signed = outside.max(DVec3::ZERO).length() + outside.max_element().min(0.0);
            close(truth.signed(), signed - 0.25, 2.0);
        }
    }
}
