//! Convex hulls: corners, edges and faces with their adjacency.
//!
//! Input: any number of points in any position.
//! Output: the corners of their hull, faces as polygons, half-edges, Voronoi planes, and the corner
//! farthest along a direction.
//! Cost: O(n log n) to build for most sets; 12 bytes per corner, 40 per half-edge, 40 per face, and
//! typically 80, at most 260, bytes per corner for a map of directions.
//! Not for: rounded bodies (see [`Convex`](super::Convex)).

use glam::{DVec3, Vec3};

use super::compass::{Cell, Compass};
use super::corner_block::{self, CornerBlock};
use super::hull_build::{HullFaces, hull_faces};
use crate::geom::Aabb;

/// Marker for no face: the face of a segment's half-edges.
pub const NO_FACE: u32 = u32::MAX;

/// A half-edge, with its face on the left as seen from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfEdge {
    /// Corner at its start.
    pub origin: u32,
    /// Half-edge in the opposite direction.
    pub twin: u32,
    /// Next half-edge around the face.
    pub next: u32,
    /// Face on its left; [`NO_FACE`] for a segment.
    pub face: u32,
    /// Unit vector in the plane of the face, perpendicular to the edge and pointing away from the
    /// face: the normal of the Voronoi plane between them. Zero for a segment.
    pub outward: DVec3,
}

/// A face of a hull.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullFace {
    /// Outward unit normal.
    pub normal: DVec3,
    /// Offset of the plane `normal · x = offset` \[m\].
    pub offset: f64,
    /// Index of its first half-edge; the others follow.
    pub first: u32,
    /// Number of corners, equal to the number of half-edges.
    pub count: u32,
}

/// The convex hull of points.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexHull {
    vertices: Vec<Vec3>,
    half_edges: Vec<HalfEdge>,
    faces: Vec<HullFace>,
    /// Start of the neighbours of vertex `v`, which extend from `first_neighbour[v]` to
    /// `first_neighbour[v + 1]`.
    first_neighbour: Vec<u32>,
    neighbours: Vec<u32>,
    /// One half-edge that leaves each vertex; empty for a single point.
    outgoing: Vec<u32>,
    /// Vertices that can be farthest, by direction; empty for small hulls.
    compass: Compass,
    /// All vertices of a small hull.
    blocks: Vec<CornerBlock<f64>>,
    /// Largest absolute coordinate \[m\].
    extent: f32,
}

/// Result of a climb.
#[derive(Clone, Copy)]
struct Climb {
    vertex: u32,
    /// Height along the direction, in units of its length \[m\].
    height: f64,
    /// Whether no neighbour is higher.
    is_top: bool,
}

/// Why points cannot form a hull.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum HullError {
    /// There are no points.
    #[error("a hull needs at least one point")]
    Empty,
    /// A point is NaN, infinite, or beyond [`ConvexHull::LARGEST`].
    #[error("point {point} is at {:?}; coordinates must be finite and within 1e15 m of 0 (`inspect` lists such vertices, mesh::repair drops them)", .value.to_array())]
    BadPoint {
        /// Index of the point.
        point: usize,
        /// Coordinates of the point.
        value: Vec3,
    },
    /// There are more points than indices can address.
    #[error("{0} points are too many; a hull takes up to 2²⁸")]
    TooMany(usize),
}

/// Maximum number of vertices of a hull that is searched linearly. Tuned: a lookup in the compass
/// costs about as much as these vertices.
const SMALL: usize = 16;
/// Average number of vertices per cell of the compass. Tuned: with fewer the compass outgrows the
/// caches, with more its cells hold more than a few vertices.
const VERTICES_A_CELL: usize = 2;
/// Maximum number of vertices in a cell. Where more meet, such as at the end of a needle, the hull
/// is climbed.
const MOST_IN_A_CELL: usize = 32;

impl ConvexHull {
    /// Maximum number of input points.
    pub const MOST: usize = 1 << 28;
    /// Largest absolute coordinate of a point \[m\].
    pub const LARGEST: f32 = 1e15;

    /// Computes the hull of points \[m\].
    pub fn new(points: &[Vec3]) -> Result<ConvexHull, HullError> {
        if points.is_empty() {
            return Err(HullError::Empty);
        }
        if points.len() > ConvexHull::MOST {
            return Err(HullError::TooMany(points.len()));
        }
        let is_good = |p: &Vec3| p.abs().max_element() <= ConvexHull::LARGEST && !p.is_nan();
        if let Some(point) = points.iter().position(|p| !is_good(p)) {
            let value = points[point];
            return Err(HullError::BadPoint { point, value });
        }
        // Adding 0 turns −0 into 0, so that equal places have equal bits.
        let exact: Vec<DVec3> = (points.iter())
            .map(|p| p.as_dvec3() + DVec3::ZERO)
            .collect();
        let faces = match hull_faces(&exact) {
            HullFaces::Point(point) => {
                return Ok(ConvexHull::flat(vec![exact[point as usize].as_vec3()]));
            }
            HullFaces::Segment(ends) => {
                return Ok(ConvexHull::flat(
                    ends.map(|end| exact[end as usize].as_vec3()).to_vec(),
                ));
            }
            HullFaces::Polygon(corners) => {
                let mirrored = corners.iter().rev().copied().collect();
                vec![corners, mirrored]
            }
            HullFaces::Solid(faces) => faces,
        };
        Ok(ConvexHull::from_faces(&exact, &faces))
    }

    /// Creates a hull that is a point or a segment.
    fn flat(vertices: Vec<Vec3>) -> ConvexHull {
        let is_segment = vertices.len() == 2;
        let half_edge = |origin: u32| HalfEdge {
            origin,
            twin: 1 - origin,
            next: 1 - origin,
            face: NO_FACE,
            outward: DVec3::ZERO,
        };
        let (half_edges, neighbours, first_neighbour, outgoing) = match is_segment {
            true => (
                vec![half_edge(0), half_edge(1)],
                vec![1, 0],
                vec![0, 1, 2],
                vec![0, 1],
            ),
            false => (vec![], vec![], vec![0, 0], vec![]),
        };
        ConvexHull {
            half_edges,
            faces: Vec::new(),
            first_neighbour,
            neighbours,
            outgoing,
            compass: Compass::default(),
            blocks: blocks_of(&vertices),
            extent: largest_coordinate(&vertices),
            vertices,
        }
    }

    fn from_faces(points: &[DVec3], polygons: &[Vec<u32>]) -> ConvexHull {
        // Corners keep the order of the points.
        let mut used: Vec<u32> = polygons.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let vertex_of = |point: u32| used.partition_point(|&u| u < point) as u32;
        let mut half_edges = Vec::new();
        let mut faces = Vec::with_capacity(polygons.len());
        // Every half-edge by its two ends, to find its twin.
        let mut sides: Vec<(u32, u32, u32)> = Vec::new();
        // Faces, and their half-edges with twins still open.
        for polygon in polygons {
            let first = half_edges.len() as u32;
            let count = polygon.len() as u32;
            let corners: Vec<DVec3> = polygon.iter().map(|&p| points[p as usize]).collect();
            let normal = polygon_normal(&corners);
            let offset = (corners.iter()).fold(f64::NEG_INFINITY, |o, c| o.max(normal.dot(*c)));
            for k in 0..count {
                let (from, to) = (k as usize, ((k + 1) % count) as usize);
                let (origin, end) = (vertex_of(polygon[from]), vertex_of(polygon[to]));
                let along = corners[to] - corners[from];
                sides.push((origin, end, first + k));
                half_edges.push(HalfEdge {
                    origin,
                    twin: first + k,
                    next: first + (k + 1) % count,
                    face: faces.len() as u32,
                    outward: along.cross(normal).normalize_or_zero(),
                });
            }
            faces.push(HullFace {
                normal,
                offset,
                first,
                count,
            });
        }
        // Twins.
        sides.sort_unstable();
        for &(origin, end, own) in &sides {
            if let Ok(other) = sides.binary_search_by(|side| (side.0, side.1).cmp(&(end, origin))) {
                half_edges[own as usize].twin = sides[other].2;
            }
        }
        let vertices: Vec<Vec3> = used.iter().map(|&p| points[p as usize].as_vec3()).collect();
        // The sides are sorted by their start, so the neighbours of each vertex are contiguous.
        let neighbours: Vec<u32> = sides.iter().map(|side| side.1).collect();
        let first_neighbour: Vec<u32> = (0..=vertices.len() as u32)
            .map(|v| sides.partition_point(|side| side.0 < v) as u32)
            .collect();
        let outgoing = first_neighbour[..vertices.len()]
            .iter()
            .map(|&first| sides[first as usize].2)
            .collect();
        let is_small = vertices.len() <= SMALL;
        let mut hull = ConvexHull {
            blocks: blocks_of(if is_small { &vertices } else { &[] }),
            extent: largest_coordinate(&vertices),
            vertices,
            half_edges,
            faces,
            first_neighbour,
            neighbours,
            outgoing,
            compass: Compass::default(),
        };
        if !is_small {
            let cells = hull.vertices.len() / VERTICES_A_CELL;
            let side = (cells / 6).isqrt().max(2);
            let blurs: Vec<f64> = (0..hull.faces.len() as u32).map(|f| hull.blur(f)).collect();
            hull.compass = Compass::new(side, &hull.vertices, |cell, before, out| {
                hull.vertices_of(cell, before, &blurs, out)
            });
        }
        hull
    }

    /// Collects all vertices that are farthest along some direction of a cell, none if they are too
    /// many. Returns the vertex for the direction of its middle.
    ///
    /// The directions in which a vertex is farthest are bounded by those of its edges, and those of
    /// an edge lie between the normals of its two faces. So a search from the vertex of the middle
    /// over every edge whose directions meet the cell reaches all of them.
    fn vertices_of(
        &self,
        cell: &Cell,
        before: Option<u32>,
        blurs: &[f64],
        out: &mut Vec<u32>,
    ) -> u32 {
        /// Generous bound on the rounding of directions at the border of a cell.
        const MARGIN: f64 = 1e-9;
        let climb = self.climbed(cell.middle, before.unwrap_or(0), u32::MAX);
        let start = self.escaped(cell.middle, climb);
        out.push(start);
        let mut looked_at = 0;
        while looked_at < out.len() {
            for own in self.outgoing(out[looked_at]) {
                let edge = self.half_edges[own as usize];
                let twin = self.half_edges[edge.twin as usize];
                let faces = [edge.face, twin.face].map(|face| face as usize);
                let [left, right] = faces.map(|face| self.faces[face].normal);
                // A direction half way between the normals, valid also for faces back to back:
                // where one of the two sums vanishes, the other is longest.
                let between = (left + right + edge.outward + twin.outward).normalize_or_zero();
                let margin = MARGIN + blurs[faces[0]] + blurs[faces[1]];
                let meets = cell.meets(left, between, margin) || cell.meets(between, right, margin);
                if !meets || out.contains(&twin.origin) {
                    continue;
                }
                if out.len() == MOST_IN_A_CELL {
                    out.clear();
                    return start;
                }
                out.push(twin.origin);
            }
            looked_at += 1;
        }
        start
    }

    /// Returns the angle by which the normal of a face may be off \[rad\]: rounding, relative to
    /// how thin the face is.
    fn blur(&self, face: u32) -> f64 {
        let corner = |edge: u32| self.vertex(self.half_edges[edge as usize].origin);
        let edges = self.around(face);
        let (first, count) = (corner(edges.start), f64::from(edges.end - edges.start));
        let (mut area, mut squared) = (DVec3::ZERO, 0f64);
        for edge in edges.start + 1..edges.end - 1 {
            let (u, v) = (corner(edge) - first, corner(edge + 1) - first);
            area += u.cross(v);
            squared = squared.max(u.length_squared()).max(v.length_squared());
        }
        let share = 16.0 * f64::EPSILON * count * squared / area.length();
        // If the area is below the resolution of squares, the normal may be anything.
        if share < 1.0 { share } else { 1.0 }
    }

    /// Returns the corners \[m\]; points inside an edge or a face are not included.
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Returns all half-edges; those of one face are contiguous.
    pub fn half_edges(&self) -> &[HalfEdge] {
        &self.half_edges
    }

    /// Returns the faces. A flat hull has two, back to back; a segment and a point have none.
    pub fn faces(&self) -> &[HullFace] {
        &self.faces
    }

    /// Returns the vertices that share an edge with `vertex`.
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        let [from, to] = [0, 1].map(|k| self.first_neighbour[vertex as usize + k] as usize);
        &self.neighbours[from..to]
    }

    /// Iterates over the half-edges that start at a vertex, in order around it.
    pub fn outgoing(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.outgoing.get(vertex as usize).copied();
        std::iter::successors(first, move |&edge| {
            let twin = self.half_edges[edge as usize].twin;
            let next = self.half_edges[twin as usize].next;
            (Some(next) != first).then_some(next)
        })
    }

    /// Returns the half-edges around a face.
    pub fn around(&self, face: u32) -> std::ops::Range<u32> {
        let HullFace { first, count, .. } = self.faces[face as usize];
        first..first + count
    }

    /// Returns the vertex at the end of a half-edge.
    pub fn end(&self, half_edge: u32) -> u32 {
        self.half_edges[self.half_edges[half_edge as usize].twin as usize].origin
    }

    /// Returns the position of a vertex in `f64` \[m\].
    #[inline]
    pub fn vertex(&self, vertex: u32) -> DVec3 {
        self.vertices[vertex as usize].as_dvec3()
    }

    /// Returns the faces as triangles of three vertices each, counter-clockwise seen from outside.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let mut triangles = Vec::new();
        for face in 0..self.faces.len() as u32 {
            let corner = |edge: u32| self.half_edges[edge as usize].origin;
            let edges = self.around(face);
            for edge in edges.start + 1..edges.end - 1 {
                triangles.push([corner(edges.start), corner(edge), corner(edge + 1)]);
            }
        }
        triangles
    }

    /// Returns the largest absolute coordinate of a corner \[m\].
    #[inline]
    pub fn extent(&self) -> f32 {
        self.extent
    }

    /// Returns the bounding box \[m\].
    pub fn bounds(&self) -> Aabb {
        Aabb::of_points(self.vertices.iter().copied())
    }

    /// Returns the memory used \[bytes\].
    pub fn bytes(&self) -> usize {
        size_of_val(self.vertices.as_slice())
            + size_of_val(self.half_edges.as_slice())
            + size_of_val(self.faces.as_slice())
            + 4 * (self.first_neighbour.len() + self.neighbours.len())
            + 4 * self.outgoing.len()
            + self.compass.bytes()
            + size_of_val(self.blocks.as_slice())
    }

    /// Returns the vertex farthest along a direction by a linear search; the first on ties.
    pub fn farthest_of_all(&self, direction: DVec3) -> u32 {
        let mut best = (0, f64::NEG_INFINITY);
        for (vertex, position) in (0..).zip(&self.vertices) {
            let along = direction.dot(position.as_dvec3());
            if along > best.1 {
                best = (vertex, along);
            }
        }
        best.0
    }

    /// Returns the vertex farthest along a direction, and its position \[m\]. Only the few vertices
    /// are tested that can be farthest in the direction's cell; where they are too many, the hull
    /// is climbed from `hint`.
    ///
    /// The cost hardly depends on the number of vertices where they spread over all directions; on
    /// rims, such as that of a disc, a climb without a hint may visit a fraction of them.
    #[inline(always)]
    pub fn farthest(&self, direction: DVec3, hint: Option<u32>) -> (u32, DVec3) {
        self.farthest_in(self.cell(direction), direction, hint)
    }

    /// Returns the cell of a direction; 0 for small hulls, which have no cells.
    #[inline(always)]
    pub(super) fn cell(&self, direction: DVec3) -> usize {
        match self.compass.is_empty() {
            true => 0,
            false => self.compass.cell(direction),
        }
    }

    /// Returns the vertex farthest along a direction of a cell, and its position \[m\].
    #[inline(always)]
    pub(super) fn farthest_in(
        &self,
        cell: usize,
        direction: DVec3,
        hint: Option<u32>,
    ) -> (u32, DVec3) {
        if self.compass.is_empty() {
            return corner_block::farthest(&self.blocks, direction);
        }
        let few = self.compass.corners(cell);
        match few.is_empty() {
            false => corner_block::farthest(few, direction),
            true => {
                let vertex = self.farthest_by_climbing(direction, hint);
                (vertex, self.vertex(vertex))
            }
        }
    }

    /// Returns the vertex farthest along a direction by climbing from a nearby vertex, or from
    /// `hint` if that is a vertex.
    ///
    /// On a convex surface a vertex without a higher neighbour is the highest. In `f64` a step may
    /// be lost to rounding where the direction is perpendicular to an edge. So at the end of a
    /// climb, the plateau of neighbours at equal height up to rounding is searched for a way up.
    pub fn farthest_by_climbing(&self, direction: DVec3, hint: Option<u32>) -> u32 {
        /// Number of steps after which a hint counts as bad, if the compass has a better one.
        const NEAR: u32 = 3;
        let hint = hint.filter(|&vertex| (vertex as usize) < self.vertices.len());
        let from_hint = hint.map(|hint| self.climbed(direction, hint, NEAR));
        let climb = match from_hint {
            Some(climb) if climb.is_top => climb,
            _ => {
                let other = match self.compass.is_empty() {
                    true => 0,
                    false => self.compass.middle(direction),
                };
                let is_higher = |climb: &Climb| climb.height >= direction.dot(self.vertex(other));
                let start = from_hint
                    .filter(is_higher)
                    .map_or(other, |climb| climb.vertex);
                self.climbed(direction, start, u32::MAX)
            }
        };
        self.escaped(direction, climb)
    }

    /// Climbs to the highest neighbour repeatedly while there is a higher one, for at most `steps`
    /// steps.
    fn climbed(&self, direction: DVec3, start: u32, steps: u32) -> Climb {
        let mut climb = Climb {
            vertex: start,
            height: direction.dot(self.vertex(start)),
            is_top: false,
        };
        for _ in 0..steps {
            let from = climb.vertex;
            for &neighbour in self.neighbours(from) {
                let height = direction.dot(self.vertex(neighbour));
                if height > climb.height {
                    (climb.vertex, climb.height) = (neighbour, height);
                }
            }
            if climb.vertex == from {
                climb.is_top = true;
                break;
            }
        }
        climb
    }

    /// Continues a climb if the plateau at its end has a way up.
    fn escaped(&self, direction: DVec3, climb: Climb) -> u32 {
        let Climb { vertex, height, .. } = climb;
        /// Maximum number of vertices of a plateau to visit. Larger plateaus are faces, where any
        /// vertex will do.
        const MOST: usize = 16;
        // Rounding error of three products and two sums.
        let rounding = |v: u32| 4.0 * f64::EPSILON * direction.abs().dot(self.vertex(v).abs());
        let is_level = |v: u32| direction.dot(self.vertex(v)) >= height - rounding(v);
        let level = |v: u32| self.neighbours(v).iter().copied().filter(|&n| is_level(n));
        if level(vertex).next().is_none() {
            return vertex;
        }
        let mut plateau = [vertex; MOST];
        let (mut count, mut looked_at) = (1, 0);
        while looked_at < count {
            for neighbour in level(plateau[looked_at]) {
                let above = direction.dot(self.vertex(neighbour));
                if above > height {
                    let climb = self.climbed(direction, neighbour, u32::MAX);
                    return self.escaped(direction, climb);
                }
                if count < MOST && !plateau[..count].contains(&neighbour) {
                    plateau[count] = neighbour;
                    count += 1;
                }
            }
            looked_at += 1;
        }
        vertex
    }
}

fn largest_coordinate(vertices: &[Vec3]) -> f32 {
    (vertices.iter()).fold(0.0, |most, vertex| most.max(vertex.abs().max_element()))
}

fn blocks_of(vertices: &[Vec3]) -> Vec<CornerBlock<f64>> {
    let numbered: Vec<(u32, Vec3)> = (0..).zip(vertices.iter().copied()).collect();
    numbered.chunks(4).map(CornerBlock::of).collect()
}

/// Returns the unit normal of a polygon: the sum of the cross products of its corners is twice the
/// area times the unit normal.
///
/// Measured from one end of the shortest edge, with consecutive edges: for corners 10⁻²⁰ m apart
/// but far from the rest, the difference of two long sides would cancel to nothing.
fn polygon_normal(corners: &[DVec3]) -> DVec3 {
    let count = corners.len();
    let at = |k: usize| corners[k % count];
    let squared = |k: usize| at(k).distance_squared(at(k + 1));
    let first = (0..count)
        .min_by(|&j, &k| squared(j).total_cmp(&squared(k)))
        .unwrap_or(0);
    let area: DVec3 = (first + 1..first + count - 1)
        .map(|k| (at(k) - at(first)).cross(at(k + 1) - at(k)))
        .sum();
    // Scaled first, because squares of the smallest areas underflow.
    (area / area.abs().max_element()).normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cube() -> Vec<Vec3> {
        (0..8u8)
            .map(|k| Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32))
            .collect()
    }

    /// Checks that half-edges and twins match, faces are flat and convex with everything below
    /// them, and Euler's formula holds.
    fn check(hull: &ConvexHull, points: &[Vec3]) {
        let size = points
            .iter()
            .fold(0f32, |s, p| s.max(p.abs().max_element()));
        let slack = 1e-6 * f64::from(size) + f64::from(f32::MIN_POSITIVE);
        for (own, edge) in (0..).zip(hull.half_edges()) {
            let twin = hull.half_edges()[edge.twin as usize];
            assert_eq!(twin.twin, own);
            assert_eq!(hull.half_edges()[edge.next as usize].origin, twin.origin);
            assert!(hull.neighbours(edge.origin).contains(&twin.origin));
            assert!(hull.outgoing(edge.origin).any(|e| e == own));
        }
        for face in hull.faces() {
            assert!((face.normal.length() - 1.0).abs() < 1e-12);
            for point in points {
                let above = face.normal.dot(point.as_dvec3()) - face.offset;
                assert!(above <= slack, "{above} above a face of {}", points.len());
            }
        }
        if !hull.faces().is_empty() {
            let edges = hull.half_edges().len() / 2;
            let expected = edges + 2;
            assert_eq!(hull.vertices().len() + hull.faces().len(), expected);
        }
        for vertex in hull.vertices() {
            assert!(points.contains(vertex));
        }
    }

    #[test]
    fn a_cube_full_of_lattice_points_has_eight_corners_and_six_faces() {
        for n in 1..6u32 {
            let lattice: Vec<Vec3> = (0..(n + 1).pow(3))
                .map(|k| {
                    let m = n + 1;
                    Vec3::new((k % m) as f32, (k / m % m) as f32, (k / m / m) as f32)
                })
                .collect();
            let hull = ConvexHull::new(&lattice).unwrap();
            check(&hull, &lattice);
            assert_eq!(hull.vertices().len(), 8);
            assert_eq!(hull.faces().len(), 6);
            assert!(hull.faces().iter().all(|face| face.count == 4));
        }
    }

    #[test]
    fn points_segments_and_polygons_are_hulls_too() {
        let point = ConvexHull::new(&[Vec3::ONE; 5]).unwrap();
        assert_eq!(
            (point.vertices(), point.faces().len()),
            (&[Vec3::ONE][..], 0)
        );
        assert_eq!(point.outgoing(0).count(), 0);
        let line: Vec<Vec3> = (0..9)
            .map(|k| Vec3::new(1.0, 2.0, 3.0) * k as f32)
            .collect();
        let segment = ConvexHull::new(&line).unwrap();
        assert_eq!(segment.vertices(), [line[0], line[8]]);
        check(&segment, &line);
        let grid: Vec<Vec3> = (0..25u8)
            .map(|k| Vec3::new((k % 5) as f32, (k / 5) as f32, 1.0))
            .collect();
        let square = ConvexHull::new(&grid).unwrap();
        assert_eq!((square.vertices().len(), square.faces().len()), (4, 2));
        assert_eq!(square.faces()[0].normal, -square.faces()[1].normal);
        check(&square, &grid);
    }

    #[test]
    fn what_makes_no_hull_is_refused() {
        assert_eq!(ConvexHull::new(&[]), Err(HullError::Empty));
        for bad in [f32::NAN, f32::INFINITY, 2e15] {
            let points = [Vec3::ZERO, Vec3::new(0.0, bad, 0.0)];
            assert!(matches!(
                ConvexHull::new(&points),
                Err(HullError::BadPoint { point: 1, .. })
            ));
        }
        assert!(ConvexHull::new(&cube()).is_ok());
    }

    #[test]
    fn faces_between_corners_that_all_but_coincide_had_no_normal() {
        let points = [
            Vec3::new(1.282771e-21, 5.788238e-20, -3.79478e-20),
            Vec3::new(0.8059126, 0.18268925, -0.23225148),
            Vec3::new(-6.606636e-20, 3.764946e-20, 1.06036574e-19),
            Vec3::new(-4.2087185e-20, 9.571852e-20, 7.1688364e-20),
        ];
        let hull = ConvexHull::new(&points).unwrap();
        assert_eq!(hull.faces().len(), 4);
        check(&hull, &points);
    }

    proptest! {
        #[test]
        fn hulls_of_anything_are_closed_and_hold_their_points(
            seeds in prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 1..60),
            squash in prop::array::uniform3(prop::sample::select(vec![0.0f32, 1e-6, 1e-3, 1.0])),
            scale in prop::sample::select(vec![1e-6f32, 1.0, 1e5]), steps in prop::option::of(1i32..4),
            offset in prop::sample::select(vec![0.0f32, 1e5]),
        ) {
            let points: Vec<Vec3> = seeds.iter().map(|&p| {
                // On a lattice many points are coplanar.
                let p = steps.map_or(Vec3::from(p), |n| (Vec3::from(p) * n as f32).round() / n as f32);
                p * Vec3::from(squash) * scale + offset
            }).collect();
            let hull = ConvexHull::new(&points).unwrap();
            check(&hull, &points);
        }

        #[test]
        fn climbing_finds_what_looking_at_all_finds(
            seed in 0u64..1000, directions in prop::collection::vec(prop::array::uniform3(-1.0f64..1.0), 20), hint in 0u32..2000,
            squash in prop::sample::select(vec![1e-5f32, 1.0]), steps in prop::option::of(2i32..5),
        ) {
            let at = |k: u64| {
                let r = |m: u64| ((seed * 7919 + k) * m % 1_000_003) as f32 / 500_001.5 - 1.0;
                let p = Vec3::new(r(48_271), r(69_621), r(16_807)).normalize_or_zero();
                steps.map_or(p, |n| (p * n as f32).round() / n as f32) * Vec3::new(1.0, squash, 1.0)
            };
            let points: Vec<Vec3> = (0..600).map(at).collect();
            let hull = ConvexHull::new(&points).unwrap();
            for direction in directions.into_iter().map(DVec3::from).chain([DVec3::X, DVec3::NEG_Y, DVec3::Z, DVec3::ZERO]) {
                let best = hull.vertex(hull.farthest_of_all(direction)).dot(direction);
                for hint in [None, Some(hint)] {
                    let (vertex, position) = hull.farthest(direction, hint);
                    prop_assert_eq!(position, hull.vertex(vertex));
                    let climbed = hull.vertex(hull.farthest_by_climbing(direction, hint));
                    for found in [position.dot(direction), climbed.dot(direction)] {
                        prop_assert!(best - found <= 1e-12, "{best} {found}");
                    }
                }
            }
        }
    }
}
