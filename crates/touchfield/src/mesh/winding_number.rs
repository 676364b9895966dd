//! Generalised winding numbers: how many times a mesh, however broken, wraps around a point.
//!
//! Input: a [`Bvh`] over the mesh; faces may be missing, duplicated or intersecting, but most
//! should be oriented consistently.
//! Output: about 1 inside, 0 outside, in between near holes; and bounds of its change within a
//! ball.
//! Cost: a few dozen multipole terms and some exact triangles per query; ~220 bytes per child of
//! the hierarchy.
//! Not for: meshes whose orientation is random (see [`super::Parity`]).
//!
//! After \[Barill2018\] (docs/BIBLIOGRAPHY.md): the solid angle of a far cluster of triangles is
//! evaluated in `f64` from its moments up to second order, that of near triangles exactly
//! \[VanOosterom1983\]. We differ in two ways. Near solid angles are added up as a product of
//! complex numbers, with one arctangent per eight triangles. And proven bounds of the change within
//! a ball settle whole blocks of a grid at once.
//!
//! The gradient of a solid angle depends on the border of the surface alone: it is the field of a
//! current along the border, by the law of Biot and Savart. So a surface with a small hole has a
//! winding number that is nearly an integer everywhere except near the hole, and it jumps by an
//! integer across the surface. A bound from the border ([`Winding::drift`]) shows where the number
//! can pass one half without a jump.

use std::f64::consts::PI;
use std::sync::Arc;

use glam::DVec3;

use super::{Bvh, Topology, TriangleMesh};
use crate::geom::Triangle;
use crate::geom::lanes::{self, LANES, Lanes, Work};
use crate::mesh::bvh::node::{LEAF_FLAG, NO_CHILD};

/// A cluster counts as far beyond this many of its radii. \[Barill2018\] uses 2; this larger value
/// keeps the error below [`WindingNumber::ACCURACY`] in the tests.
const FAR: f64 = 2.3;

/// Winding number of a mesh: the moments of every cluster of a [`Bvh`], and the border of the
/// surface.
pub struct WindingNumber {
    bvh: Arc<Bvh>,
    clusters: Vec<[Cluster; LANES]>,
    /// Triangles of every leaf, in structure-of-arrays layout.
    leaves: Vec<LeafTriangles>,
    border: Border,
}

/// Border edges, with an index by face.
struct Border {
    /// Edges, in the order of their faces.
    edges: Vec<BorderEdge>,
    /// First edge of each face, then the number of edges; empty if there are none.
    first_of: Vec<u32>,
}

impl Border {
    fn new(edges: Vec<BorderEdge>, faces: usize) -> Border {
        let mut first_of = Vec::new();
        if !edges.is_empty() {
            first_of.resize(faces + 1, 0);
            for edge in &edges {
                first_of[edge.face as usize + 1] += 1;
            }
            for face in 0..faces {
                first_of[face + 1] += first_of[face];
            }
        }
        Border { edges, first_of }
    }

    /// Returns the border edges that are assigned to a face.
    fn of_face(&self, face: u32) -> &[BorderEdge] {
        let face = face as usize;
        match self.first_of.get(face..face + 2) {
            Some(&[first, end]) => &self.edges[first as usize..end as usize],
            _ => &[],
        }
    }
}

/// Coordinates of [`LANES`] triangles: x, y and z of the corners a, b and c. Empty lanes hold a
/// triangle without area.
type LeafTriangles = [[f64; LANES]; 9];

/// An edge used by more faces in one direction than in the other: a piece of the border of the
/// surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BorderEdge {
    /// One of the faces that use the edge.
    pub face: u32,
    /// End points \[m\].
    pub ends: [DVec3; 2],
    /// Number of uses in the more frequent direction minus those in the other.
    pub surplus: u32,
}

/// Returns the border of a surface, in the order of its faces. It is empty if every edge is used
/// equally often in both directions: then the winding number is an integer everywhere off the
/// surface.
pub fn border(mesh: &TriangleMesh, topology: &Topology) -> Vec<BorderEdge> {
    let mut border: Vec<BorderEdge> = (topology.edges())
        .filter_map(|edge| {
            let forward = edge.uses.iter().filter(|side| side.forward).count();
            let surplus = forward.abs_diff(edge.uses.len() - forward);
            (surplus > 0).then(|| BorderEdge {
                face: edge.uses[0].face,
                ends: edge.vertices.map(|v| mesh.vertices[v as usize]),
                surplus: surplus as u32,
            })
        })
        .collect();
    border.sort_by_key(|edge| edge.face);
    border
}

impl BorderEdge {
    /// Returns the length times the surplus \[m\].
    fn weight(&self) -> f64 {
        f64::from(self.surplus) * self.ends[0].distance(self.ends[1])
    }

    fn distance(&self, point: DVec3) -> f64 {
        let [start, end] = self.ends;
        let along = end - start;
        let share = (point - start).dot(along) / along.length_squared();
        // NaN for an edge of zero length; then either end will do.
        let share = if share > 0.0 { share.min(1.0) } else { 0.0 };
        point.distance(start + share * along)
    }
}

/// Moments of a surface patch about its area centre.
#[derive(Clone, Copy, Default)]
struct Cluster {
    center: DVec3,
    /// Largest distance of any part from the centre \[m\].
    radius: f64,
    area: f64,
    /// Length of the border along its faces \[m\].
    border: f64,
    /// N = Σ n a.
    normal: DVec3,
    /// Symmetric part of Σ n a ⊗ m, as xx, yy, zz, xy, xz, yz, with m from the centre.
    first: [f64; 6],
    /// Sum of the three contractions of Σ n a ⊗ m ⊗ m over one index pair.
    second_trace: DVec3,
    /// Fully symmetric part of Σ n a ⊗ m ⊗ m, as xxx, yyy, zzz, xxy, xxz, xyy, yyz, xzz, yzz, xyz
    /// with multiplicities folded in.
    second: [f64; 10],
}

/// A winding number and bounds of its change within a ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Winding {
    /// Winding number at the centre of the ball.
    pub number: f64,
    /// Largest difference from `number` within the ball. Infinite when the ball may touch the mesh.
    pub change: f64,
    /// Largest difference from `number` within the ball, up to an integer; the integer changes only
    /// across the surface. Infinite when the ball may touch the border.
    pub drift: f64,
}

impl WindingNumber {
    /// Largest observed error of the approximation, rounded up; the tests enforce it.
    pub const ACCURACY: f64 = 0.01;

    /// Computes the moments of the clusters of `bvh`. `border` is the border of the faces, as
    /// returned by [`border`].
    pub fn of(bvh: Arc<Bvh>, border: Vec<BorderEdge>) -> WindingNumber {
        let border = Border::new(border, bvh.triangles().len());
        let mut clusters = vec![[Cluster::default(); LANES]; bvh.node_count()];
        let triangles = |leaf: u32| {
            let faces = bvh.leaf_faces(leaf);
            faces.map(|face| bvh.triangles()[face as usize])
        };
        // The leaves below a node have consecutive numbers.
        let mut leaves_below = vec![0..0; bvh.node_count()];
        // Compute the moments bottom-up: children come after their parents, so going backwards
        // visits every child first.
        for node in (0..bvh.node_count()).rev() {
            let (mut first, mut last) = (u32::MAX, 0);
            for lane in 0..LANES {
                let child = bvh.child(node, lane);
                if child == NO_CHILD {
                    continue;
                }
                let below;
                let mut cluster;
                if child & LEAF_FLAG != 0 {
                    let leaf = child & !LEAF_FLAG;
                    below = leaf..leaf + 1;
                    cluster = Cluster::of_triangles(|| triangles(leaf));
                    cluster.border = (bvh.leaf_faces(leaf))
                        .flat_map(|face| border.of_face(face))
                        .map(BorderEdge::weight)
                        .sum();
                } else {
                    below = leaves_below[child as usize].clone();
                    cluster = Cluster::of_clusters(&clusters[child as usize]);
                }
                cluster.radius = (below.clone().flat_map(triangles))
                    .flat_map(|triangle| triangle.corners())
                    .map(|corner| corner.distance_squared(cluster.center))
                    .fold(0.0, f64::max)
                    .sqrt();
                clusters[node][lane] = cluster;
                (first, last) = (first.min(below.start), last.max(below.end));
            }
            leaves_below[node] = first..last;
        }
        // Transpose the triangles of every leaf.
        let leaves = (0..bvh.leaf_count() as u32).map(|leaf| {
            let mut together = [[0.0; LANES]; 9];
            for (lane, triangle) in triangles(leaf).enumerate() {
                let coordinates = triangle.corners().map(|corner| corner.to_array());
                for (slot, &coordinate) in together.iter_mut().zip(coordinates.as_flattened()) {
                    slot[lane] = coordinate;
                }
            }
            together
        });
        WindingNumber {
            leaves: leaves.collect(),
            bvh,
            clusters,
            border,
        }
    }

    /// Returns the winding number of `point`.
    pub fn at(&self, point: DVec3) -> f64 {
        self.within(point, 0.0).number
    }

    /// Returns the winding number of `center` and bounds of its change within `radius` \[m\] of it.
    pub fn within(&self, center: DVec3, radius: f64) -> Winding {
        let mut sum = Winding {
            number: 0.0,
            change: 0.0,
            drift: 0.0,
        };
        if self.clusters.is_empty() {
            return sum;
        }
        let mut stack = vec![0u32];
        while let Some(node) = stack.pop() {
            for (lane, cluster) in self.clusters[node as usize].iter().enumerate() {
                let child = self.bvh.child(node as usize, lane);
                if child == NO_CHILD {
                    continue;
                }
                // Far clusters contribute their moments, near leaves their exact triangles; open
                // near nodes.
                let off = cluster.center - center;
                let distance = off.length();
                let clear = distance - cluster.radius - radius;
                if distance > FAR * cluster.radius && (radius == 0.0 || clear > 0.0) {
                    sum.number += cluster.solid_angle(off, distance);
                    sum.change += largest_slope(cluster.area, clear) * radius;
                    sum.drift += border_slope(cluster.border, clear) * radius;
                } else if child & LEAF_FLAG != 0 {
                    self.add_leaf(child & !LEAF_FLAG, center, radius, &mut sum);
                } else {
                    stack.push(child);
                }
            }
        }
        let change = if sum.change.is_finite() {
            // The ball does not touch the surface, so the number cannot jump.
            sum.change.min(sum.drift)
        } else {
            sum.change
        };
        Winding {
            number: sum.number / (4.0 * PI),
            change: change / (4.0 * PI),
            drift: sum.drift / (4.0 * PI),
        }
    }

    /// Returns the number of triangles that [`Self::at`] adds up one by one because no cluster of
    /// them is far: a measure of its cost.
    pub(crate) fn triangles_at(&self, point: DVec3) -> u64 {
        let mut count = 0;
        let mut stack = vec![0u32];
        while let Some(node) = stack.pop() {
            let clusters = self.clusters.get(node as usize).into_iter().flatten();
            for (lane, cluster) in clusters.enumerate() {
                let child = self.bvh.child(node as usize, lane);
                if child == NO_CHILD || cluster.center.distance(point) > FAR * cluster.radius {
                    continue;
                }
                if child & LEAF_FLAG != 0 {
                    count += self.bvh.leaf_faces(child & !LEAF_FLAG).count() as u64;
                } else {
                    stack.push(child);
                }
            }
        }
        count
    }

    fn add_leaf(&self, leaf: u32, center: DVec3, radius: f64, sum: &mut Winding) {
        let angles = lanes::run(HalfSolidAngles {
            triangles: &self.leaves[leaf as usize],
            from: center,
        });
        sum.number += 2.0 * angles.total();
        if radius == 0.0 {
            return;
        }
        for face in self.bvh.leaf_faces(leaf) {
            // An infinite bound stays infinite. Near the surface that happens after a few faces.
            if sum.change.is_finite() {
                let triangle = self.bvh.triangles()[face as usize];
                let clear = triangle.closest_point(center).point.distance(center) - radius;
                sum.change += largest_slope(triangle.area(), clear) * radius;
            }
            if sum.drift.is_finite() {
                for edge in self.border.of_face(face) {
                    let clear = edge.distance(center) - radius;
                    sum.drift += border_slope(edge.weight(), clear) * radius;
                }
            }
        }
    }
}

/// Returns the largest gradient of the solid angle of a surface of this area, no part of it nearer
/// than `distance`: a dipole field falls with the cube of the distance, and its gradient matrix has
/// norm 2/r³.
fn largest_slope(area: f64, distance: f64) -> f64 {
    if distance > 0.0 {
        2.0 * area / distance.powi(3)
    } else {
        f64::INFINITY
    }
}

/// Returns the largest gradient of the solid angle of a surface whose border has this length, no
/// part of it nearer than `distance`.
fn border_slope(length: f64, distance: f64) -> f64 {
    if length == 0.0 {
        0.0
    } else if distance > 0.0 {
        length / (distance * distance)
    } else {
        f64::INFINITY
    }
}

impl Cluster {
    /// Computes the moments of a few triangles; does not set the radius.
    fn of_triangles<I: Iterator<Item = Triangle>>(triangles: impl Fn() -> I) -> Cluster {
        let mut cluster = Cluster::about(|| triangles().map(|t| (t.area(), t.centroid())));
        for triangle in triangles() {
            cluster.add(triangle);
        }
        cluster
    }

    /// Merges clusters, some of which may be empty; does not set the radius.
    fn of_clusters(parts: &[Cluster]) -> Cluster {
        // Skips parts without faces, and parts that are a single point, which have no moments: both
        // have radius zero.
        let parts = || parts.iter().filter(|part| part.radius > 0.0);
        let mut cluster = Cluster::about(|| parts().map(|part| (part.area, part.center)));
        for part in parts() {
            cluster.add_cluster(part);
        }
        cluster
    }

    /// Returns a cluster without moments, centred at the area-weighted mean of `places`.
    fn about<I: Iterator<Item = (f64, DVec3)>>(places: impl Fn() -> I) -> Cluster {
        let area: f64 = places().map(|(area, _)| area).sum();
        let center = if area > 0.0 {
            places().map(|(area, place)| area * place).sum::<DVec3>() / area
        } else {
            places().map(|(_, place)| place).sum::<DVec3>() / places().count().max(1) as f64
        };
        Cluster {
            center,
            area,
            ..Cluster::default()
        }
    }

    /// Adds the moments of `part`, shifted by d from its centre to this one: with m + d for m in
    /// the sums, every moment gains products of d with the moments of lower order.
    fn add_cluster(&mut self, part: &Cluster) {
        self.border += part.border;
        let d = part.center - self.center;
        let n = part.normal;
        let f = &part.first;
        // Σ n ⊗ m plus its transpose.
        let both = [
            [2.0 * f[0], f[3], f[4]],
            [f[3], 2.0 * f[1], f[5]],
            [f[4], f[5], 2.0 * f[2]],
        ];
        self.normal += n;
        for (slot, (own, (i, j))) in self.first.iter_mut().zip(f.iter().zip(PAIRS)) {
            let moved = if i == j {
                n[i] * d[i]
            } else {
                n[i] * d[j] + n[j] * d[i]
            };
            *slot += own + moved;
        }
        let trace = f[0] + f[1] + f[2];
        for k in 0..3 {
            self.second_trace[k] += part.second_trace[k]
                + 2.0 * (trace + n.dot(d)) * d[k]
                + 2.0 * DVec3::from(both[k]).dot(d)
                + n[k] * d.length_squared();
        }
        let moved = symmetric_triples(|i, j, k| {
            both[i][j] * d[k]
                + both[i][k] * d[j]
                + both[j][k] * d[i]
                + n[i] * d[j] * d[k]
                + n[j] * d[i] * d[k]
                + n[k] * d[i] * d[j]
        });
        for (slot, (own, moved)) in self.second.iter_mut().zip(part.second.iter().zip(moved)) {
            *slot += own + moved;
        }
    }

    fn add(&mut self, triangle: Triangle) {
        let n = 0.5 * triangle.area_vector();
        let m = triangle.centroid() - self.center;
        // Mean of x ⊗ x over the triangle, with x from the cluster's centre: m ⊗ m plus the spread
        // about the centroid.
        let mut mm = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                mm[i][j] = m[i] * m[j];
            }
        }
        for corner in triangle.corners() {
            let d = corner - triangle.centroid();
            for i in 0..3 {
                for j in 0..3 {
                    mm[i][j] += d[i] * d[j] / 12.0;
                }
            }
        }
        self.normal += n;
        for (slot, (i, j)) in self.first.iter_mut().zip(PAIRS) {
            *slot += if i == j {
                n[i] * m[i]
            } else {
                n[i] * m[j] + n[j] * m[i]
            };
        }
        for k in 0..3 {
            let contracted: f64 = (0..3)
                .map(|i| 2.0 * n[i] * mm[i][k] + n[k] * mm[i][i])
                .sum();
            self.second_trace[k] += contracted;
        }
        let symmetric =
            symmetric_triples(|i, j, k| n[i] * mm[j][k] + n[j] * mm[i][k] + n[k] * mm[i][j]);
        for (slot, value) in self.second.iter_mut().zip(symmetric) {
            *slot += value;
        }
    }

    /// Returns the solid angle as seen from a point; `off` points from there to the centre.
    /// \[Barill2018\] Eq. 11–15.
    #[inline]
    fn solid_angle(&self, off: DVec3, distance: f64) -> f64 {
        let DVec3 { x, y, z } = off;
        let per = 1.0 / distance;
        let per_2 = per * per;
        let per_3 = per * per_2;
        let per_5 = per_3 * per_2;
        let per_7 = per_5 * per_2;
        let f = &self.first;
        let trace = f[0] + f[1] + f[2];
        let first =
            f[0] * x * x + f[1] * y * y + f[2] * z * z + f[3] * x * y + f[4] * x * z + f[5] * y * z;
        let s = &self.second;
        let second = x
            * (x * (s[0] * x + s[3] * y + s[4] * z) + s[5] * y * y + s[7] * z * z + s[9] * y * z)
            + y * (y * (s[1] * y + s[6] * z) + s[8] * z * z)
            + s[2] * z * z * z;
        self.normal.dot(off) * per_3 + trace * per_3 - 3.0 * first * per_5
            + 0.5 * (15.0 * second * per_7 - 3.0 * self.second_trace.dot(off) * per_5)
    }
}

/// Index pairs of the moments in [`Cluster::first`].
const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];

/// Returns the second moments in the order of [`Cluster::second`]. `s` sums three index
/// arrangements, so a moment with multiplicity μ among the 6 permutations has the weight μ/3.
#[inline(always)]
fn symmetric_triples(s: impl Fn(usize, usize, usize) -> f64) -> [f64; 10] {
    [
        s(0, 0, 0) / 3.0,
        s(1, 1, 1) / 3.0,
        s(2, 2, 2) / 3.0,
        s(0, 0, 1),
        s(0, 0, 2),
        s(0, 1, 1),
        s(1, 1, 2),
        s(0, 2, 2),
        s(1, 2, 2),
        2.0 * s(0, 1, 2),
    ]
}

/// A sum of angles in (−π, π], kept as the product of their unit complex numbers and a count of
/// full turns.
struct AngleSum {
    re: f64,
    im: f64,
    turns: f64,
}

impl Default for AngleSum {
    fn default() -> AngleSum {
        AngleSum {
            re: 1.0,
            im: 0.0,
            turns: 0.0,
        }
    }
}

impl AngleSum {
    /// Adds an angle given as a complex number of length `size`.
    #[inline(always)]
    fn add(&mut self, re: f64, im: f64, size: f64) {
        // In the plane of the triangle the side is undecided; 0 is the mean of both.
        if im == 0.0 || size == 0.0 {
            return;
        }
        let (re, im) = (re / size, im / size);
        let product = (self.re * re - self.im * im, self.re * im + self.im * re);
        if self.im >= 0.0 && im > 0.0 && product.1 < 0.0 {
            self.turns += 1.0;
        } else if self.im < 0.0 && im < 0.0 && product.1 >= 0.0 {
            self.turns -= 1.0;
        }
        (self.re, self.im) = product;
    }

    fn total(&self) -> f64 {
        self.im.atan2(self.re) + 2.0 * PI * self.turns
    }
}

/// Sum of half the solid angles of the triangles of a leaf. `f64` throughout: the instruction set
/// is chosen for its width alone, and every one gives the same bits.
struct HalfSolidAngles<'a> {
    triangles: &'a LeafTriangles,
    from: DVec3,
}

impl Work for HalfSolidAngles<'_> {
    type Output = AngleSum;

    /// `tan(Ω/2) = det(a,b,c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|)`  \[VanOosterom1983\]
    #[inline(always)]
    fn run<L: Lanes>(self) -> AngleSum {
        let [x, y, z] = self.from.to_array();
        let t = self.triangles;
        let (mut re, mut im, mut size) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        // Branch-free arithmetic, which the compiler vectorises over several triangles.
        for i in 0..LANES {
            let (ax, ay, az) = (t[0][i] - x, t[1][i] - y, t[2][i] - z);
            let (bx, by, bz) = (t[3][i] - x, t[4][i] - y, t[5][i] - z);
            let (cx, cy, cz) = (t[6][i] - x, t[7][i] - y, t[8][i] - z);
            let la = (ax * ax + ay * ay + az * az).sqrt();
            let lb = (bx * bx + by * by + bz * bz).sqrt();
            let lc = (cx * cx + cy * cy + cz * cz).sqrt();
            let ab = ax * bx + ay * by + az * bz;
            let bc = bx * cx + by * cy + bz * cz;
            let ca = cx * ax + cy * ay + cz * az;
            let det =
                ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
            im[i] = det;
            re[i] = la * lb * lc + ab * lc + bc * la + ca * lb;
            size[i] = (re[i] * re[i] + det * det).sqrt();
        }
        let mut sum = AngleSum::default();
        for i in 0..LANES {
            sum.add(re[i], im[i], size[i]);
        }
        sum
    }
}

/// Computes the exact winding number by summing over every triangle; the reference for tests.
pub fn winding_number_brute_force(
    triangles: impl IntoIterator<Item = Triangle>,
    point: DVec3,
) -> f64 {
    let half_angles: f64 = triangles
        .into_iter()
        .map(|triangle| {
            let (a, b, c) = (triangle.a - point, triangle.b - point, triangle.c - point);
            let (la, lb, lc) = (a.length(), b.length(), c.length());
            // `atan2`, not `atan`: the denominator turns negative once Ω exceeds π.
            (a.dot(b.cross(c))).atan2(la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb)
        })
        .sum();
    half_angles / (2.0 * PI)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::TriangleMesh;
    use crate::mesh::generate::{Torus, TorusKnot, torus, torus_knot};

    fn knot_with_holes() -> TriangleMesh {
        let mut mesh = torus_knot(TorusKnot::default()).unwrap();
        mesh.faces.retain({
            let mut count = 0;
            move |_| {
                count += 1;
                count % 7 != 0
            }
        });
        mesh
    }

    fn winding_of(mesh: &TriangleMesh) -> WindingNumber {
        let topology = Topology::new(mesh.vertices.len(), &mesh.faces);
        WindingNumber::of(Arc::new(Bvh::build(mesh)), border(mesh, &topology))
    }

    /// Returns a lattice of points through and around the mesh.
    fn lattice(mesh: &TriangleMesh, side: u32) -> impl Iterator<Item = DVec3> {
        let bounds = mesh.bounds();
        let bounds = bounds.grown(0.3 * bounds.diagonal());
        (0..side * side * side).map(move |i| {
            let share = DVec3::new(
                f64::from(i % side) + 0.31,
                f64::from(i / side % side) + 0.47,
                f64::from(i / side / side) + 0.59,
            ) / f64::from(side);
            bounds.min + bounds.extents() * share
        })
    }

    #[test]
    fn moments_agree_with_the_sum_over_all_triangles() {
        for mesh in [torus(Torus::default()).unwrap(), knot_with_holes()] {
            let winding = winding_of(&mesh);
            for point in lattice(&mesh, 9) {
                let exact = winding_number_brute_force(mesh.triangles(), point);
                let found = winding.at(point);
                assert!(
                    (found - exact).abs() < WindingNumber::ACCURACY,
                    "{found} is not {exact} at {point}"
                );
            }
        }
    }

    #[test]
    fn the_number_changes_within_a_ball_by_no_more_than_said() {
        let mesh = knot_with_holes();
        let winding = winding_of(&mesh);
        let mut settled = 0;
        for center in lattice(&mesh, 7) {
            for radius in [0.002, 0.01, 0.05].map(|share| share * mesh.bounds().diagonal()) {
                let within = winding.within(center, radius);
                settled += u32::from(within.change < 0.2);
                for direction in [DVec3::X, DVec3::NEG_Y, DVec3::ONE.normalize()] {
                    let exact =
                        winding_number_brute_force(mesh.triangles(), center + radius * direction);
                    let off = (exact - within.number).abs();
                    assert!(
                        off <= within.change + WindingNumber::ACCURACY,
                        "{off} > {within:?}"
                    );
                }
            }
        }
        assert!(
            settled > 300,
            "bounds that settle nothing are no use: {settled}"
        );
    }

    /// Returns a torus with a few adjacent faces missing.
    fn torus_with_a_hole() -> TriangleMesh {
        let mut mesh = torus(Torus::default()).unwrap();
        mesh.faces.drain(..6);
        mesh
    }

    #[test]
    fn off_the_border_the_number_drifts_by_no_more_than_said_and_jumps_by_whole_ones() {
        for (mesh, least) in [(knot_with_holes(), 5), (torus_with_a_hole(), 300)] {
            let winding = winding_of(&mesh);
            let size = mesh.bounds().diagonal();
            let (mut settled, mut jumps) = (0, 0);
            for center in lattice(&mesh, 5) {
                for radius in [0.002, 0.01, 0.05, 0.2].map(|share| share * size) {
                    let within = winding.within(center, radius);
                    settled += u32::from(within.drift < 0.2);
                    for direction in [DVec3::X, DVec3::NEG_Y, DVec3::ONE.normalize()] {
                        let point = center + radius * direction;
                        let exact = winding_number_brute_force(mesh.triangles(), point);
                        let off = exact - within.number;
                        jumps += u32::from(within.drift < 0.2 && off.abs() > 0.5);
                        assert!(
                            (off - off.round()).abs() <= within.drift + WindingNumber::ACCURACY,
                            "{off} at {point}: {within:?}"
                        );
                    }
                }
            }
            assert!(settled > least, "settles {settled} of 500");
            assert!(least < 100 || jumps > 10, "{jumps} balls with a jump");
        }
    }

    #[test]
    fn a_closed_surface_has_no_border_and_a_missing_face_has_three_edges() {
        let mut mesh = torus(Torus::default()).unwrap();
        let border_of = |mesh: &TriangleMesh| {
            border(mesh, &Topology::new(mesh.vertices.len(), &mesh.faces)).len()
        };
        assert_eq!(border_of(&mesh), 0);
        mesh.faces.swap_remove(11);
        assert_eq!(border_of(&mesh), 3);
        // After flipping this face, its edges are used twice in the same direction.
        mesh.faces[5].swap(0, 1);
        assert_eq!(border_of(&mesh), 6);
    }

    #[test]
    fn full_turns_are_counted_when_angles_add_up() {
        // Ten thin wedges around an edge, seen from beside it: half solid angles near π each.
        let mut angles = AngleSum::default();
        let mut expected = 0.0;
        for i in 0..10 {
            let tilt = 0.02 * f64::from(i);
            let triangle = Triangle {
                a: DVec3::new(-9.0, -9.0, 1e-3 + tilt * 1e-3),
                b: DVec3::new(9.0, -9.0, 1e-3),
                c: DVec3::new(0.0, 9.0, 1e-3),
            };
            let mut leaf = [[0.0; LANES]; 9];
            let coordinates = triangle.corners().map(|corner| corner.to_array());
            for (slot, &coordinate) in leaf.iter_mut().zip(coordinates.as_flattened()) {
                slot[0] = coordinate;
            }
            // Scalar, from the same formula.
            let one = lanes::run(HalfSolidAngles {
                triangles: &leaf,
                from: DVec3::ZERO,
            });
            angles.add(one.re, one.im, 1.0);
            expected += winding_number_brute_force([triangle], DVec3::ZERO) * 2.0 * PI;
        }
        assert!(expected.abs() > 3.0 * PI, "the sum must wrap: {expected}");
        assert!((angles.total() - expected).abs() < 1e-9);
    }
}
