//! Scan conversion of characteristics: for every face, edge and vertex, computes distances at the
//! nodes that it can be nearest to, and at no others.
//!
//! Input: the triangles of any mesh, the grid, and the width of the band ([`Wanted`]).
//! Output: exact distances of the nodes in that band; the rest is left open, for the vector
//! distance transform.
//! Cost: the rows of nodes through each polyhedron; grows with the triangles and the band, not with
//! the grid. All cores.
//! Not for: nodes far away, where the polyhedra of all features overlap.
//!
//! After \[Mauch2000\]. The points nearest to a feature lie in a convex polyhedron, its
//! characteristic:
//!
//! ```text
//! face     the prism over it:        beyond no side      (x − a)·m ≤ 0    m outward in the plane,
//!                                                                         for each side
//! edge     the wedge between faces:  beyond each face    (x − a)·m ≥ 0    and between the ends
//! vertex   the cone between edges:   behind each edge    (x − v)·e ≤ 0    e along the edge
//! ```
//!
//! all cut off where the band ends. We store a polyhedron as its half-spaces, slightly too wide:
//! each cuts a row of nodes to an interval, so corners and slices are never computed. Edges and
//! vertices of any number of faces are treated alike, also at a border. For the nodes within, the
//! distance to the triangle is computed in `f64`, so that extra nodes do no harm.

use glam::{DVec3, UVec3};

use crate::bake::blocks::{Piece, SIDE, for_each_layer};
use crate::bake::distance::nodes::{Found, NodeWriter, Wanted};
use crate::bake::progress::{Progress, Stage};
use crate::field::GridLayout;
use crate::geom::{DAabb, Triangle};
use crate::mesh::{Bvh, FacesAroundVertices, Nearest, Topology, first_at_same_position};

/// Flatness limit: triangles below it, as twice the area over the square of the longest side, have
/// no usable normal.
const FLAT: f64 = 1e-6;

/// Writes the distance of every node within `wanted.within` of the surface; returns `None` when
/// cancelled.
pub(crate) fn fill(
    bvh: &Bvh,
    wanted: Wanted<'_>,
    layout: &GridLayout,
    values: &mut [f32],
    progress: Progress<'_>,
) -> Option<Found> {
    let features = Features::of(bvh.triangles());
    let grid = Rows::of(layout);
    let spans: Vec<Span> = features
        .iter()
        .map(|feature| grid.span(features.reach(feature, wanted.within)))
        .collect();
    let found = for_each_layer(layout, values, Stage::Distances, progress, |layer| {
        let mut nearest = LayerNearest::new(layout, layer.first.z);
        let mut characteristic = Vec::new();
        for (feature, span) in features.iter().zip(&spans) {
            if nearest.holds(span) {
                let face = features.characteristic(feature, wanted.within, &mut characteristic);
                let reach = features.reach(feature, wanted.within);
                nearest.convert(&grid, &characteristic, reach, face, bvh.triangles());
            }
        }
        nearest.write(wanted, layer, bvh.triangles())
    })?;
    Some(Found::join(found))
}

/// Feature of a mesh that a point can be nearest to.
#[derive(Clone, Copy)]
enum FeatureOf {
    /// Index of the face.
    Face(u32),
    /// Index of the edge.
    Edge(u32),
    /// First corner at this position, numbered `3 · face + corner`.
    Vertex(u32),
}

/// All faces, edges and vertices of the triangles; vertices at one position count as one.
struct Features<'a> {
    triangles: &'a [Triangle],
    topology: Topology,
    around: FacesAroundVertices,
    /// Unit normals; `None` for triangles that are too flat.
    normals: Vec<Option<DVec3>>,
}

/// Half-space `normal · x ≤ offset`.
#[derive(Clone, Copy)]
struct HalfSpace {
    normal: DVec3,
    offset: f64,
}

impl HalfSpace {
    /// Returns the half-space of points at most `beyond` past `point` along `normal`.
    fn up_to(normal: DVec3, point: DVec3, beyond: f64) -> HalfSpace {
        HalfSpace {
            normal,
            offset: normal.dot(point) + beyond,
        }
    }
}

impl<'a> Features<'a> {
    fn of(triangles: &'a [Triangle]) -> Features<'a> {
        let corners: Vec<DVec3> = triangles.iter().flat_map(|t| t.corners()).collect();
        let first = first_at_same_position(&corners);
        let faces: Vec<[u32; 3]> = (first.chunks_exact(3))
            .map(|f| [f[0], f[1], f[2]])
            .collect();
        let topology = Topology::new(corners.len(), &faces);
        Features {
            normals: triangles.iter().map(|&t| usable_normal(t)).collect(),
            around: topology.faces_around_vertices(),
            triangles,
            topology,
        }
    }

    fn iter(&self) -> impl Iterator<Item = FeatureOf> + '_ {
        let faces = (0..self.triangles.len() as u32).map(FeatureOf::Face);
        let edges = (0..self.topology.edge_count() as u32).map(FeatureOf::Edge);
        let vertices = (0..3 * self.triangles.len() as u32)
            .filter(|&vertex| !self.around.of(vertex).is_empty())
            .map(FeatureOf::Vertex);
        faces.chain(edges).chain(vertices)
    }

    fn position(&self, vertex: u32) -> DVec3 {
        self.triangles[vertex as usize / 3].corners()[vertex as usize % 3]
    }

    /// Returns a box around the characteristic.
    fn reach(&self, feature: FeatureOf, within: f64) -> DAabb {
        let bounds = match feature {
            FeatureOf::Face(face) => DAabb::of_points(self.triangles[face as usize].corners()),
            FeatureOf::Edge(edge) => {
                let ends = self.topology.edge(edge as usize).vertices;
                DAabb::of_points(ends.map(|v| self.position(v)))
            }
            FeatureOf::Vertex(vertex) => DAabb::of_points([self.position(vertex)]),
        };
        bounds.grown(within + widening(within, bounds.diagonal()))
    }

    /// Writes the half-spaces of the characteristic, and returns a face that has the feature.
    fn characteristic(&self, feature: FeatureOf, within: f64, out: &mut Vec<HalfSpace>) -> u32 {
        out.clear();
        match feature {
            FeatureOf::Face(face) => {
                // A face without a normal covers all nodes in its box: no half-spaces.
                if let Some(normal) = self.normals[face as usize] {
                    prism(self.triangles[face as usize], normal, within, out);
                }
                face
            }
            FeatureOf::Edge(edge) => {
                self.wedge(edge, within, out);
                self.topology.edge(edge as usize).uses[0].face
            }
            FeatureOf::Vertex(vertex) => {
                self.cone(vertex, within, out);
                self.around.of(vertex)[0]
            }
        }
    }

    fn wedge(&self, edge: u32, within: f64, out: &mut Vec<HalfSpace>) {
        let edge = self.topology.edge(edge as usize);
        let [start, end] = edge.vertices.map(|v| self.position(v));
        let wide = widening(within, start.distance(end));
        let Some(along) = (end - start).try_normalize() else {
            return;
        };
        out.push(HalfSpace::up_to(along, end, wide));
        out.push(HalfSpace::up_to(-along, start, wide));
        let (u, v) = along.any_orthonormal_pair();
        for side in [u, -u, v, -v] {
            out.push(HalfSpace::up_to(side, start, within + wide));
        }
        for side in edge.uses {
            let Some(normal) = self.normals[side.face as usize] else {
                continue;
            };
            let along_face = if side.forward { along } else { -along };
            // The sides of a face run counter-clockwise, so this vector points into the face.
            out.push(HalfSpace::up_to(normal.cross(along_face), start, wide));
        }
    }

    fn cone(&self, vertex: u32, within: f64, out: &mut Vec<HalfSpace>) {
        let point = self.position(vertex);
        for &face in self.around.of(vertex) {
            for corner in self.triangles[face as usize].corners() {
                if let Some(along) = (corner - point).try_normalize() {
                    out.push(HalfSpace::up_to(along, point, widening(within, 0.0)));
                }
            }
        }
    }
}

fn usable_normal(triangle: Triangle) -> Option<DVec3> {
    let Triangle { a, b, c } = triangle;
    let longest = [b - a, c - b, a - c]
        .map(|side| side.length_squared())
        .into_iter()
        .fold(0.0, f64::max);
    let area = triangle.area_vector();
    (area.length() > FLAT * longest).then(|| area.try_normalize())?
}

fn prism(triangle: Triangle, normal: DVec3, within: f64, out: &mut Vec<HalfSpace>) {
    let Triangle { a, b, c } = triangle;
    let wide = widening(within, (b - a).length().max((c - a).length()));
    for (start, end) in [(a, b), (b, c), (c, a)] {
        if let Some(along) = (end - start).try_normalize() {
            out.push(HalfSpace::up_to(along.cross(normal), start, wide));
        }
    }
    out.push(HalfSpace::up_to(normal, a, within + wide));
    out.push(HalfSpace::up_to(-normal, a, within + wide));
}

/// Returns the margin by which polyhedra are too wide \[m\]: more than the error of the directions
/// of a triangle that is not [`FLAT`] over its length and the band, 1e-10, and far less than a
/// cell.
fn widening(within: f64, length: f64) -> f64 {
    1e-6 * within + 1e-9 * length
}

/// The grid as rows of nodes.
struct Rows {
    origin: DVec3,
    cell_size: f64,
    nodes: UVec3,
}

/// Planes of nodes that a polyhedron reaches, from `first` to `last`; empty if `last` is below
/// `first`.
struct Span {
    first: u32,
    last: u32,
}

impl Rows {
    fn of(layout: &GridLayout) -> Rows {
        Rows {
            origin: layout.origin.as_dvec3(),
            cell_size: f64::from(layout.cell_size),
            nodes: layout.nodes,
        }
    }

    /// Returns the nodes from `low` to `high` along an axis, with a small margin for rounding, as a
    /// range; empty beyond the grid.
    fn range(&self, axis: usize, low: f64, high: f64) -> std::ops::Range<u32> {
        /// Margin \[cells\].
        const ROOM: f64 = 1e-6;
        let count = self.nodes[axis];
        let first = ((low - self.origin[axis]) / self.cell_size - ROOM).ceil();
        let past = ((high - self.origin[axis]) / self.cell_size + ROOM).floor() + 1.0;
        // The casts turn values below 0, and NaN, into 0.
        (first as u32).min(count)..(past as u32).min(count)
    }

    fn span(&self, reach: DAabb) -> Span {
        let range = self.range(2, reach.min.z, reach.max.z);
        match range.end.checked_sub(1) {
            Some(last) => Span {
                first: range.start,
                last,
            },
            None => Span { first: 1, last: 0 },
        }
    }

    fn position(&self, axis: usize, node: u32) -> f64 {
        self.origin[axis] + self.cell_size * f64::from(node)
    }
}

/// Nearest faces found so far for the nodes of one layer.
struct LayerNearest {
    first: u32,
    last: u32,
    /// Number of nodes in a row, and in a plane.
    strides: [usize; 2],
    /// Squared distance \[m²\] and face; infinite where nothing was near.
    best: Vec<(f64, u32)>,
}

impl LayerNearest {
    fn new(layout: &GridLayout, first: u32) -> LayerNearest {
        let last = (first + SIDE).min(layout.nodes.z) - 1;
        let row = layout.nodes.x as usize;
        let plane = row * layout.nodes.y as usize;
        LayerNearest {
            first,
            last,
            strides: [row, plane],
            best: vec![(f64::INFINITY, u32::MAX); plane * (last + 1 - first) as usize],
        }
    }

    fn holds(&self, span: &Span) -> bool {
        span.first <= span.last && span.first <= self.last && span.last >= self.first
    }

    fn slot(&self, node: UVec3) -> usize {
        (node.z - self.first) as usize * self.strides[1]
            + node.y as usize * self.strides[0]
            + node.x as usize
    }

    /// Computes the distances from the nodes in a polyhedron to a face.
    fn convert(
        &mut self,
        grid: &Rows,
        characteristic: &[HalfSpace],
        reach: DAabb,
        face: u32,
        triangles: &[Triangle],
    ) {
        let triangle = triangles[face as usize];
        let planes = grid.range(2, reach.min.z, reach.max.z);
        for z in planes.start.max(self.first)..planes.end.min(self.last + 1) {
            for y in grid.range(1, reach.min.y, reach.max.y) {
                let row = DVec3::new(0.0, grid.position(1, y), grid.position(2, z));
                let Some([low, high]) = cut(characteristic, row, [reach.min.x, reach.max.x]) else {
                    continue;
                };
                let start = self.slot(UVec3::new(0, y, z));
                for x in grid.range(0, low, high) {
                    let point = row.with_x(grid.position(0, x));
                    let closest = triangle.closest_point(point).point;
                    let found = (closest.distance_squared(point), face);
                    let best = &mut self.best[start + x as usize];
                    // Ties go to the smaller index.
                    if found < *best {
                        *best = found;
                    }
                }
            }
        }
    }

    /// Writes the nearest points that were found, with their feature and sign.
    fn write(self, wanted: Wanted<'_>, layer: Piece<'_>, triangles: &[Triangle]) -> Found {
        let layout = layer.layout;
        let mut writer = NodeWriter::new(wanted, layer);
        for block in writer.blocks() {
            for node in block.nodes() {
                let (distance_squared, face) = self.best[self.slot(node)];
                if face == u32::MAX {
                    writer.leave(node);
                    continue;
                }
                let point = layout.node_position(node);
                let nearest = Nearest {
                    distance_squared,
                    face,
                    closest: triangles[face as usize].closest_point(point),
                };
                writer.put(node, point, &nearest);
            }
        }
        writer.finish()
    }
}

/// Returns the part of the row through `row` along x that lies in all half-spaces and between `low`
/// and `high`.
fn cut(half_spaces: &[HalfSpace], row: DVec3, [mut low, mut high]: [f64; 2]) -> Option<[f64; 2]> {
    for half_space in half_spaces {
        let slope = half_space.normal.x;
        let left = half_space.offset - half_space.normal.dot(row);
        if slope > 0.0 {
            high = high.min(left / slope);
        } else if slope < 0.0 {
            low = low.max(left / slope);
        } else if left < 0.0 {
            return None;
        }
        if low > high {
            return None;
        }
    }
    Some([low, high])
}
