//! Exact distances of all grid nodes: a hierarchy over the triangles, searched once for each block of nodes.
//!
//! Input: a [`Bvh`], the grid, optionally the [`Patches`] that tell the sign along the way.
//! Output: node values in `f64`, rounded once to `f32`; exactly what brute force finds. Gradients beside them, if asked for.
//! Cost: about a microsecond a node and core; no memory beside the output and the hierarchy.
//! Not for: approximate fields; there is nothing faster here to trade accuracy for.

use glam::{DVec3, UVec3};

use super::blocks::{Piece, for_each_layer};
use super::node_data::NodeData;
use super::patches::Patches;
use super::settings::{Progress, Stage};
use crate::field::GridLayout;
use crate::geom::lanes::{self, LANES, Lanes, Work};
use crate::mesh::{Bvh, Candidates};

/// Share of the largest coordinate within which a node lies on the surface: 2⁻⁴⁴, some hundred roundings of `f64`. The direction to a
/// nearest point farther than that is right to a percent.
const ON_SURFACE: f64 = 1.0 / (1u64 << 44) as f64;

/// How near the surface counts as on it, in a grid \[m\].
pub(super) fn on_surface(layout: &GridLayout) -> f64 {
    let bounds = layout.bounds().as_daabb();
    ON_SURFACE * bounds.min.abs().max(bounds.max.abs()).max_element()
}

/// Writes the distance of every node, negative inside when `patches` are given. Returns the nodes that those cannot tell;
/// `None` when cancelled.
pub(super) fn fill<T: NodeData>(
    bvh: &Bvh,
    patches: Option<&Patches>,
    layout: &GridLayout,
    values: &mut [T],
    progress: Progress<'_>,
) -> Option<Vec<UVec3>> {
    let unclear = for_each_layer(layout, values, Stage::Distances, progress, |piece| {
        fill_piece(bvh, patches, piece, &mut [])
    })?;
    Some(unclear.into_iter().flatten().collect())
}

/// [`fill`] for a box of nodes, on this thread. Writes the nearest face of every node beside its value, if there is room for it.
pub(super) fn fill_piece<T: NodeData>(
    bvh: &Bvh,
    patches: Option<&Patches>,
    piece: Piece<'_, T>,
    faces: &mut [u32],
) -> Vec<UVec3> {
    lanes::run(PieceWork {
        bvh,
        patches,
        piece,
        faces,
    })
}

struct PieceWork<'a, T> {
    bvh: &'a Bvh,
    patches: Option<&'a Patches>,
    piece: Piece<'a, T>,
    faces: &'a mut [u32],
}

impl<T: NodeData> Work for PieceWork<'_, T> {
    type Output = Vec<UVec3>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Vec<UVec3> {
        let PieceWork {
            bvh,
            patches,
            piece,
            faces,
        } = self;
        let layout = piece.layout;
        let on_surface = on_surface(layout);
        let mut unclear = Vec::new();
        let mut candidates = Candidates::default();
        let mut hint = 0;
        for block in piece.blocks() {
            let together = bvh.is_within_reach(block.center, block.radius);
            let nearest = if together {
                bvh.nearest_here::<L>(block.center, hint)
            } else {
                bvh.nearest_of_all(block.center)
            };
            hint = nearest.face;
            if together {
                bvh.gather::<L>(block.center, block.radius, &nearest, &mut candidates);
            }
            for cube in block.cubes() {
                // Lanes past the border repeat its last node.
                let nodes: [UVec3; LANES] = cube_nodes(cube, block.last);
                let mut points = [DVec3::ZERO; LANES];
                for (point, &node) in points.iter_mut().zip(&nodes) {
                    *point = layout.node_position(node);
                }
                let nearest = if together {
                    bvh.nearest_among::<L>(&mut candidates, &points, hint)
                } else {
                    // Cells a million times the size of the mesh: no bound means anything there.
                    points.map(|point| bvh.nearest_of_all(point))
                };
                hint = nearest[LANES - 1].face;
                for ((&node, &point), nearest) in nodes.iter().zip(&points).zip(&nearest) {
                    let distance = nearest.distance_squared.sqrt();
                    let inside = match patches.map(|patches| patches.inside(point, nearest)) {
                        Some(Some(inside)) => inside,
                        Some(None) => {
                            unclear.push(node);
                            false
                        }
                        None => false,
                    };
                    let way = point - nearest.closest.point;
                    let normal = || match patches {
                        Some(patches) => patches.normal(nearest),
                        None => bvh.triangles()[nearest.face as usize].area_vector(),
                    };
                    let slot = piece.slot(node);
                    piece.values[slot] = T::of(way, distance, inside, on_surface, normal);
                    if let Some(face) = faces.get_mut(slot) {
                        *face = nearest.face;
                    }
                }
            }
        }
        unclear
    }
}

/// The corners of a cube of nodes, bit 0 of the index being x, none beyond `last`.
#[inline(always)]
fn cube_nodes(first: UVec3, last: UVec3) -> [UVec3; LANES] {
    let mut nodes = [first; LANES];
    for (i, node) in nodes.iter_mut().enumerate() {
        let i = i as u32;
        *node = (first + UVec3::new(i & 1, i >> 1 & 1, i >> 2 & 1)).min(last);
    }
    nodes
}
