//! Isosurface extraction: the surface where a field has a given value, as a closed mesh.
//!
//! Input: any field, a level, and the number of cells along the longest side of its AABB.
//! Output: a mesh that is watertight, manifold, free of crossings and turned outward, whatever the
//! values of the field.
//! Cost: one value per node of the blocks that the surface may cut, and a few per vertex; all
//! cores. Memory grows with the surface.
//! Not for: solids thinner than a cell, which may be missed between two nodes; few or well-shaped
//! triangles.
//!
//! Marching tetrahedra \[Doi1991\] over the six of each cell \[Kuhn1960\] (docs/BIBLIOGRAPHY.md).
//! Chosen for what holds by construction: a tetrahedron has no ambiguous case; its piece of surface
//! lies inside it; two neighbours cut their common side along the same segment. So every edge has
//! two faces and every vertex one fan, and nothing crosses. A dual method would give rounder
//! triangles, and no such proof. We differ in where the vertices lie: not where the linear
//! interpolant crosses the level but where the field itself does, found along the edge by regula
//! falsi \[Dowell1971\]; and never within [`NEAR`] of a node, so that a level that is met at a node
//! leaves small faces rather than flat ones.

use std::sync::atomic::{AtomicU64, Ordering};

use glam::{DVec3, UVec3, Vec3};

use crate::field::lattice::{
    BLOCK_SIDE, Lattice, NodeRange, NotFinite, Side, TETRAHEDRA, inside_first,
};
use crate::field::{Field, Meaning};
use crate::geom::{Aabb, corner};
use crate::mesh::TriangleMesh;
use crate::threads;

/// Minimum distance of vertices from the ends of their edge, as a share of the edge. Also the
/// tolerance of the field at a vertex, in lengths of the edge. Far above rounding, so that small
/// faces have an area; far below the resolution of the cells.
const NEAR: f64 = 1.0 / 1024.0;

/// Padding between the field's AABB and the border \[cells\]. Not a whole number, because a solid
/// that fills its AABB would then end at nodes.
const PADDING: f64 = 1.25;

/// Settings of an isosurface. Written as `IsosurfaceSettings { cells: …, ..Default::default() }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IsosurfaceSettings {
    /// Number of cells along the longest side.
    pub cells: u32,
    /// Box to march over; everything beyond counts as outside, and the mesh is closed at its
    /// border. `None`: the field's own AABB, grown by the level.
    pub bounds: Option<Aabb>,
    /// Memory limit \[bytes\]. A mesh that takes more during the extraction is given up.
    pub max_memory: u64,
}

impl Default for IsosurfaceSettings {
    fn default() -> IsosurfaceSettings {
        IsosurfaceSettings {
            cells: 128,
            bounds: None,
            max_memory: 4 << 30,
        }
    }
}

/// Why there is no isosurface.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum IsosurfaceError {
    /// No node is inside.
    #[error(
        "no point of the lattice is below the level {level} m; choose a larger level, or more cells if the solid is thin"
    )]
    Empty {
        /// Requested level \[m\].
        level: f32,
    },
    /// The level is NaN or infinite.
    #[error("a level of {level} m is not usable; it must be finite")]
    BadLevel {
        /// Requested level \[m\].
        level: f32,
    },
    /// There are too few cells for a border around the solid, or too many to count.
    #[error("{cells} cells along the longest side; take from 4 to 4096")]
    BadCells {
        /// Requested number of cells.
        cells: u32,
    },
    /// The box is infinite or has no extent.
    #[error(
        "the box to look in goes from {:?} to {:?}; it must be finite and have an extent (set `bounds`)",
        .0.min.to_array(), .0.max.to_array()
    )]
    BadBounds(Aabb),
    /// The cells are too small for `f32` to resolve.
    #[error(
        "cells of {cell_size:e} m in a box from {:?} to {:?} are too small for f32; use fewer, or move the field towards the origin",
        .bounds.min.to_array(), .bounds.max.to_array()
    )]
    TooFine {
        /// Size of a cell \[m\].
        cell_size: f64,
        /// Box to march over \[m\].
        bounds: Aabb,
    },
    /// The field is NaN or infinite at a point.
    #[error("the field is {value} at {:?}; its distances must be finite", .point.to_array())]
    NotFinite {
        /// Position \[m\].
        point: Vec3,
        /// Value of the field there.
        value: f32,
    },
    /// The mesh takes more memory than the limit allows.
    #[error(
        "the isosurface takes more than the {allowed} bytes allowed; use fewer cells or raise the limit"
    )]
    TooMuchMemory {
        /// The limit \[bytes\].
        allowed: u64,
    },
}

impl IsosurfaceError {
    /// Returns whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        matches!(self, IsosurfaceError::TooMuchMemory { .. })
    }
}

impl From<NotFinite> for IsosurfaceError {
    fn from(NotFinite { point, value }: NotFinite) -> IsosurfaceError {
        IsosurfaceError::NotFinite { point, value }
    }
}

/// Extracts the surface around all points where the field is at most `level` \[m\], closed at the
/// border.
///
/// At every vertex the field is within two thousandths of a cell's diagonal (and twice its own
/// error) of the level, unless it jumps or the border cuts it off. Between vertices the mesh is off
/// by the square of the cell size where the surface is smooth.
///
/// ```
/// use touchfield::bake::{IsosurfaceSettings, isosurface};
/// use touchfield::field::primitive::Torus;
/// use touchfield::mesh::validate;
/// let ring = Torus::new(0.5, 0.2)?;
/// let settings = IsosurfaceSettings { cells: 32, ..Default::default() };
/// let mesh = isosurface(&ring, 0.05, &settings)?;
/// assert!(validate(&mesh).watertight);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn isosurface(
    field: &(impl Field + ?Sized),
    level: f32,
    settings: &IsosurfaceSettings,
) -> Result<TriangleMesh, IsosurfaceError> {
    if !level.is_finite() {
        return Err(IsosurfaceError::BadLevel { level });
    }
    let lattice = lattice(field, level, settings)?;
    let allowed = settings.max_memory;
    let [x, y, z] = lattice.blocks().to_array().map(u64::from);
    // Sides are stored twice while they are settled.
    if 2 * x * y * z > allowed {
        return Err(IsosurfaceError::TooMuchMemory { allowed });
    }
    // Classify the blocks, then march over those that the surface may cut.
    let sides = settle(&lattice, lattice.sides(|cell| side_of(field, level, cell)));
    let cut: Vec<usize> = (0..sides.len())
        .filter(|&block| sides[block] == Side::Cut)
        .collect();
    let march = March {
        field,
        level,
        lattice: &lattice,
        sides: &sides,
    };
    let taken = AtomicU64::new(2 * x * y * z);
    let pieces = threads::map(cut.len(), |index| {
        if taken.load(Ordering::Relaxed) > allowed {
            return Err(IsosurfaceError::TooMuchMemory { allowed });
        }
        let piece = march.piece(lattice.block(cut[index]))?;
        taken.fetch_add(piece.bytes(), Ordering::Relaxed);
        Ok(piece)
    });
    if taken.into_inner() > allowed {
        return Err(IsosurfaceError::TooMuchMemory { allowed });
    }
    // Join the pieces of all blocks.
    let pieces = pieces.into_iter().collect::<Result<Vec<Piece>, _>>()?;
    let mesh = join(&lattice, &cut, pieces).ok_or(IsosurfaceError::TooMuchMemory { allowed })?;
    if mesh.faces.is_empty() {
        return Err(IsosurfaceError::Empty { level });
    }
    Ok(mesh)
}

/// Returns the lattice to march over.
fn lattice(
    field: &(impl Field + ?Sized),
    level: f32,
    settings: &IsosurfaceSettings,
) -> Result<Lattice, IsosurfaceError> {
    let cells = settings.cells;
    if !(4..=4096).contains(&cells) {
        return Err(IsosurfaceError::BadCells { cells });
    }
    let own = field.bounds();
    if settings.bounds.is_none() && own.is_empty() {
        return Err(IsosurfaceError::Empty { level });
    }
    let (bounds, padding) = match settings.bounds {
        Some(bounds) => (bounds, 0.0),
        None => (own.grown(level.max(0.0)), PADDING),
    };
    let (min, max) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
    let extents = max - min;
    let longest = extents.max_element();
    let usable = extents.is_finite() && extents.min_element() >= 0.0 && longest > 0.0;
    if !usable {
        return Err(IsosurfaceError::BadBounds(bounds));
    }
    let cell_size = longest / (f64::from(cells) - 2.0 * padding);
    // Slightly less, so that a side that is a whole number of cells does not get one more by
    // rounding.
    let counts = (extents / cell_size + 2.0 * padding - 1e-6).ceil();
    let counts = counts.clamp(DVec3::ONE, DVec3::splat(cells.into()));
    let (center, half) = (0.5 * (min + max), 0.5 * cell_size * counts);
    let padded = match settings.bounds {
        Some(bounds) => bounds,
        None => Aabb::new((center - half).as_vec3(), (center + half).as_vec3()),
    };
    let thinnest = (padded.extents().as_dvec3() / counts).min_element();
    let largest = padded.min.abs().max(padded.max.abs()).max_element();
    // At least eight steps of `f32` per cell: nodes rounded to `f32` keep their order and their
    // distance.
    if thinnest.is_nan() || thinnest < 8.0 * f64::from(f32::EPSILON) * f64::from(largest) {
        return Err(IsosurfaceError::TooFine {
            cell_size: thinnest,
            bounds: padded,
        });
    }
    Ok(Lattice::new(padded, counts.as_uvec3()))
}

/// Returns the side of the level on which all values in a box are.
fn side_of(field: &(impl Field + ?Sized), level: f32, cell: Aabb) -> Side {
    let error = field.error_bound();
    let (lower, upper) = if field.meaning() == Meaning::Distance || level == 0.0 {
        // The interval holds the true distance, from which values are off by the error.
        let truth = field.interval(cell);
        (truth.lower - error, truth.upper + error)
    } else {
        // If the field is only a bound, only its values are known: Lipschitz, up to twice the
        // error.
        let value = field.distance(cell.center());
        let slack = 1e-5 * (cell.diagonal() + value.abs() + cell.center().abs().max_element());
        let reach = 0.5 * cell.diagonal() + 2.0 * error + slack;
        (value - reach, value + reach)
    };
    if lower > level {
        Side::Outside
    } else if upper < level {
        Side::Inside
    } else {
        Side::Cut
    }
}

/// Returns the existing blocks around a block, itself among them.
fn neighbours(lattice: &Lattice, block: UVec3) -> impl Iterator<Item = usize> + '_ {
    let first = block.saturating_sub(UVec3::ONE);
    let last = (block + UVec3::ONE).min(lattice.blocks() - UVec3::ONE);
    NodeRange { first, last }
        .iter()
        .map(|block| lattice.block_index(block))
}

/// Marks as cut the blocks whose side cannot stay: blocks inside at the border, which must be
/// closed there, and blocks inside beside blocks outside, which a field within its error bound does
/// not have. Then no node is on both sides.
fn settle(lattice: &Lattice, sides: Vec<Side>) -> Vec<Side> {
    let last = lattice.blocks() - UVec3::ONE;
    (0..sides.len())
        .map(|index| {
            let place = lattice.block_place(index);
            let opposite = match sides[index] {
                Side::Cut => return Side::Cut,
                Side::Inside if place.cmpeq(UVec3::ZERO).any() || place.cmpeq(last).any() => {
                    return Side::Cut;
                }
                Side::Inside => Side::Outside,
                Side::Outside => Side::Inside,
            };
            if neighbours(lattice, place).any(|other| sides[other] == opposite) {
                Side::Cut
            } else {
                sides[index]
            }
        })
        .collect()
}

/// An edge of the lattice that the surface crosses: its lower node and which of the seven
/// directions it has. Ordered like the nodes.
type EdgeKey = u64;

/// The part of the mesh that one block adds.
#[derive(Default)]
struct Piece {
    /// Edges that begin in this block and are crossed, in order.
    keys: Vec<EdgeKey>,
    /// Vertex of each key \[m\].
    vertices: Vec<DVec3>,
    /// Faces in the cells of this block; their edges may begin in a neighbour.
    faces: Vec<[EdgeKey; 3]>,
}

impl Piece {
    /// Returns the memory of this piece, here and in the mesh \[bytes\].
    fn bytes(&self) -> u64 {
        let vertex = size_of::<EdgeKey>() + 2 * size_of::<DVec3>();
        let face = size_of::<[EdgeKey; 3]>() + 2 * size_of::<[u32; 3]>();
        (self.vertices.len() * vertex + self.faces.len() * face) as u64
    }
}

/// Nodes of a block with their values and sides, in the order of the range.
struct Nodes {
    range: NodeRange,
    values: Vec<f32>,
    inside: Vec<bool>,
}

struct March<'a, F: ?Sized> {
    field: &'a F,
    level: f32,
    lattice: &'a Lattice,
    sides: &'a [Side],
}

impl<F: Field + ?Sized> March<'_, F> {
    fn piece(&self, range: NodeRange) -> Result<Piece, IsosurfaceError> {
        let values = self.lattice.values(self.field, range)?;
        let inside = range.iter().zip(&values);
        let inside = inside.map(|(node, &value)| self.is_inside(node, value));
        let nodes = Nodes {
            range,
            inside: inside.collect(),
            values,
        };
        let mut piece = Piece::default();
        if nodes.inside.iter().all(|&inside| inside == nodes.inside[0]) {
            return Ok(piece);
        }
        for cell in range.cells() {
            self.vertices_of_node(&nodes, cell, &mut piece)?;
            self.faces_of_cell(&nodes, cell, &mut piece);
        }
        Ok(piece)
    }

    /// Returns whether a node counts as inside: not at the border; the same as the decided blocks
    /// around it; else by its value. Every block that holds the node finds the same.
    fn is_inside(&self, node: UVec3, value: f32) -> bool {
        let last = self.lattice.all().last;
        if node.cmpeq(UVec3::ZERO).any() || node.cmpeq(last).any() {
            return false;
        }
        let high = node / BLOCK_SIDE;
        let low = (node - UVec3::ONE) / BLOCK_SIDE;
        let around = NodeRange {
            first: low,
            last: high,
        };
        around
            .iter()
            .find_map(|block| match self.sides[self.lattice.block_index(block)] {
                Side::Inside => Some(true),
                Side::Outside => Some(false),
                Side::Cut => None,
            })
            .unwrap_or(value <= self.level)
    }

    fn key(&self, [a, b]: [UVec3; 2]) -> EdgeKey {
        // One of the two nodes is the lower one along every axis, by the construction of Kuhn's
        // edges.
        let low = a.min(b);
        let way = a.max(b) - low;
        let slot = self.lattice.all().slot(low) as EdgeKey;
        8 * slot + EdgeKey::from(way.x + 2 * way.y + 4 * way.z)
    }

    /// Adds the vertices on the seven edges that begin at a node.
    fn vertices_of_node(
        &self,
        nodes: &Nodes,
        node: UVec3,
        piece: &mut Piece,
    ) -> Result<(), IsosurfaceError> {
        let from = nodes.range.slot(node);
        for way in 1..8 {
            let other = corner(node, way);
            let to = nodes.range.slot(other);
            if nodes.inside[from] == nodes.inside[to] {
                continue;
            }
            let (inner, outer) = if nodes.inside[from] {
                ((node, from), (other, to))
            } else {
                ((other, to), (node, from))
            };
            let ends = [inner.0, outer.0].map(|node| self.lattice.node(node).as_dvec3());
            let values = [inner.1, outer.1].map(|slot| nodes.values[slot]);
            piece.keys.push(self.key([node, other]));
            piece.vertices.push(self.crossing(ends, values)?);
        }
        Ok(())
    }

    /// Returns the point where the field crosses the level between a node inside and one outside.
    fn crossing(&self, ends: [DVec3; 2], values: [f32; 2]) -> Result<DVec3, IsosurfaceError> {
        let [inner, outer] = ends;
        let at = |share: f64| inner + share * (outer - inner);
        let above = |value: f32| f64::from(value) - f64::from(self.level);
        let [mut f_low, mut f_high] = values.map(above);
        // A node at the border or beside a decided block may count as another side than that of its
        // value; the vertex is then close to it.
        if f_low > 0.0 {
            return Ok(at(NEAR));
        }
        if f_high <= 0.0 {
            return Ok(at(1.0 - NEAR));
        }
        // Every third step halves the interval: ten times in all, down to `NEAR`.
        const STEPS: usize = 30;
        let close = NEAR * inner.distance(outer);
        let (mut low, mut high) = (0.0, 1.0);
        let mut share = 0.0;
        let mut last_moved = 0;
        for step in 1..=STEPS {
            let fraction = if step % 3 == 0 {
                0.5
            } else {
                f_low / (f_low - f_high)
            };
            share = low + (high - low) * fraction;
            let point = at(share).as_vec3();
            let value = self.field.distance(point);
            if !value.is_finite() {
                return Err(IsosurfaceError::NotFinite { point, value });
            }
            let f = above(value);
            if f.abs() <= close || high - low < NEAR {
                break;
            }
            // An end that stays twice counts half, so the next step goes beyond the crossing
            // [Dowell1971].
            if f <= 0.0 {
                (low, f_low) = (share, f);
                f_high *= if last_moved == -1 { 0.5 } else { 1.0 };
                last_moved = -1;
            } else {
                (high, f_high) = (share, f);
                f_low *= if last_moved == 1 { 0.5 } else { 1.0 };
                last_moved = 1;
            }
        }
        Ok(at(share.clamp(NEAR, 1.0 - NEAR)))
    }

    /// Adds the faces in the six tetrahedra of a cell, turned outward.
    fn faces_of_cell(&self, nodes: &Nodes, cell: UVec3, piece: &mut Piece) {
        let corners: [UVec3; 8] = std::array::from_fn(|index| corner(cell, index));
        let inside = corners.map(|node| nodes.inside[nodes.range.slot(node)]);
        if inside.iter().all(|&corner| corner == inside[0]) {
            return;
        }
        for tetrahedron in TETRAHEDRA {
            let (order, count) = inside_first(tetrahedron.map(|index| inside[index]));
            let ends = order.map(|index| corners[tetrahedron[index]]);
            let edge = |i: usize, o: usize| self.key([ends[i], ends[o]]);
            match count {
                1 => piece.faces.push([edge(0, 1), edge(0, 2), edge(0, 3)]),
                2 => {
                    let [a, b, c, d] = [edge(0, 2), edge(0, 3), edge(1, 3), edge(1, 2)];
                    piece.faces.extend([[a, b, c], [a, c, d]]);
                }
                3 => piece.faces.push([edge(0, 3), edge(1, 3), edge(2, 3)]),
                _ => {}
            }
        }
    }
}

/// Joins all pieces into one mesh, in the order of their blocks; `None` if its vertices cannot be
/// numbered.
fn join(lattice: &Lattice, cut: &[usize], pieces: Vec<Piece>) -> Option<TriangleMesh> {
    let mut offsets = Vec::with_capacity(pieces.len());
    let mut count = 0u32;
    for piece in &pieces {
        offsets.push(count);
        count = count.checked_add(u32::try_from(piece.vertices.len()).ok()?)?;
    }
    let [nx, ny, _] = lattice.all().nodes().to_array().map(EdgeKey::from);
    let number = |key: EdgeKey| {
        let slot = key / 8;
        let node = [slot % nx, slot / nx % ny, slot / nx / ny].map(|n| n as u32);
        let block = lattice.block_index(UVec3::from_array(node) / BLOCK_SIDE);
        let owner = cut
            .binary_search(&block)
            .expect("an edge that begins in a decided block has both ends on its side");
        let place = pieces[owner].keys.binary_search(&key);
        offsets[owner] + place.expect("every edge that is crossed has its vertex") as u32
    };
    let faces = threads::map(pieces.len(), |index| {
        let faces = pieces[index].faces.iter();
        faces.map(|face| face.map(number)).collect::<Vec<_>>()
    });
    Some(TriangleMesh {
        vertices: pieces
            .iter()
            .flat_map(|piece| piece.vertices.iter().copied())
            .collect(),
        faces: faces.into_iter().flatten().collect(),
    })
}
