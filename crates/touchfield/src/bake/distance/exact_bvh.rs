//! Exact distances of all grid nodes: a hierarchy over the triangles, searched once per block of
//! nodes.
//!
//! Input: a [`Bvh`], the grid, and the nodes to write ([`Wanted`]): all, or those near the surface.
//! Output: node values in `f64`, rounded once to `f32`. They equal those of brute force; beyond
//! [`Wanted::exact_within`] they are within the rounding of `f32` of it.
//! Cost: about a microsecond per node and core; no memory beside the output and the hierarchy.
//! Not for: approximate fields. This method has no faster mode that trades accuracy; the
//! approximate methods start from its band.

use glam::DVec3;

use crate::bake::blocks::{Piece, for_each_layer};
use crate::bake::distance::nodes::{Found, NodeWriter, Wanted};
use crate::bake::progress::{Progress, Stage};
use crate::field::GridLayout;
use crate::geom::lanes;
use crate::geom::lanes::{LANES, Lanes, Work};
use crate::mesh::{Among, Bvh, Candidates};

/// Writes the distance of every wanted node; returns `None` when cancelled.
pub(crate) fn fill(
    bvh: &Bvh,
    wanted: Wanted<'_>,
    layout: &GridLayout,
    values: &mut [f32],
    progress: Progress<'_>,
) -> Option<Found> {
    let found = for_each_layer(layout, values, Stage::Distances, progress, |piece| {
        fill_piece(bvh, wanted, piece, &mut [])
    })?;
    Some(Found::join(found))
}

/// Writes a box of nodes on the calling thread, like [`fill`]. Writes the nearest face of every
/// node into `faces`, unless it is empty.
pub(crate) fn fill_piece(
    bvh: &Bvh,
    wanted: Wanted<'_>,
    piece: Piece<'_>,
    faces: &mut [u32],
) -> Found {
    lanes::run(PieceWork {
        bvh,
        layout: piece.layout,
        writer: NodeWriter::new(wanted, piece).with_faces(faces),
    })
}

struct PieceWork<'a> {
    bvh: &'a Bvh,
    layout: &'a GridLayout,
    writer: NodeWriter<'a>,
}

impl Work for PieceWork<'_> {
    type Output = Found;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Found {
        let PieceWork {
            bvh,
            layout,
            mut writer,
        } = self;
        let mut candidates = Candidates::default();
        let mut hint = 0;
        for block in writer.blocks() {
            // One search for the centre of the block, and its candidates for all nodes.
            let together = bvh.is_within_reach(block.center, block.radius);
            let nearest = if together {
                bvh.nearest_here::<L>(block.center, hint)
            } else {
                bvh.nearest_of_all(block.center)
            };
            hint = nearest.face;
            if writer.is_beyond(nearest.distance_squared.sqrt(), block.radius) {
                block.nodes().for_each(|node| writer.leave(node));
                continue;
            }
            if together {
                bvh.gather::<L>(block.center, block.radius, &nearest, &mut candidates);
            }
            // The side and the need for exactness of the whole block, then its nodes eight at a
            // time.
            let side = writer.side_of(&block, &nearest);
            let (far, inside) = writer.far_from(&block, &nearest, side);
            for nodes in block.eights() {
                let mut points = [DVec3::ZERO; LANES];
                for (point, &node) in points.iter_mut().zip(&nodes) {
                    *point = layout.node_position(node);
                }
                let among = if together {
                    bvh.nearest_among::<L>(&mut candidates, &points, hint, far)
                } else {
                    // Cells are a million times the size of the mesh: no bound is useful there.
                    Among::Near(points.map(|point| bvh.nearest_of_all(point)))
                };
                let nearest = match among {
                    Among::Near(nearest) => nearest,
                    Among::Far(distances) => {
                        for (&node, distance) in nodes.iter().zip(distances) {
                            writer.put_far(node, distance, inside);
                        }
                        continue;
                    }
                };
                hint = nearest[LANES - 1].face;
                for ((&node, &point), nearest) in nodes.iter().zip(&points).zip(&nearest) {
                    writer.put_on(side, node, point, nearest);
                }
            }
        }
        writer.finish()
    }
}
