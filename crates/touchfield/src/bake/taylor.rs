//! From a mesh to a Taylor grid: distance and gradient of every node from its exact nearest point.
//!
//! Input: a mesh and settings, as for [`super::bake`].
//! Output: a [`TaylorGrid`] with a proven error bound, and the same account as for a dense grid.
//! Cost: the search of `exact_bvh`, once; 28 bytes a node at its peak, 8¼ kept.
//! Not for: dense grids that are there already; see [`TaylorGrid::from_dense`].
//!
//! After document 000, §4.3 (docs/BIBLIOGRAPHY.md): the gradient is the direction from the nearest point, turned around inside, and at a
//! node on the surface its normal. We differ at edges and corners, where the normal is the pseudonormal: the mean of the faces
//! that meet there, instead of that of any one of them.

use std::time::Instant;

use glam::UVec3;

use super::bake::{BakeError, Baked, Filled, allocate, report};
use super::check;
use super::settings::{BakeSettings, Progress};
use crate::field::{Encoded, Sample, TaylorEncoder, TaylorError, TaylorGrid};
use crate::mesh::TriangleMesh;
use crate::threads;

/// Bytes of a node while baking: distance and gradient, the distance once more for the proof, and the halves.
const NODE_BYTES: usize = size_of::<Sample>() + size_of::<f32>() + size_of::<[u16; 4]>();

/// Bakes a mesh into a Taylor grid. `progress` is called from any thread and may cancel.
pub fn bake_taylor(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    progress: Progress<'_>,
) -> Result<Baked<TaylorGrid>, BakeError> {
    let start = Instant::now();
    let filled = Filled::<Sample>::new(mesh, settings, NODE_BYTES as u64, progress)?;
    let distances: Vec<f32> = filled.nodes.iter().map(|node| node.distance).collect();
    let judgement = filled.judge(&distances);
    drop(distances);
    let layout = filled.layout;
    let sample = |node: UVec3| filled.nodes[layout.node_index(node)];
    let encoder = TaylorEncoder::new(layout, sample)?;
    let mut halves: Vec<[u16; 4]> = allocate(&layout)?;
    let plane = layout.nodes.x as usize * layout.nodes.y as usize;
    let planes = threads::map_pieces(&mut halves, plane, |z, plane| {
        encoder.encode_plane(z as u32, sample, plane)
    });
    let found = planes
        .into_iter()
        .try_fold(Encoded::default(), |found, plane| {
            Ok::<_, TaylorError>(found.max(plane?))
        })?;
    let solid = check::solid(mesh.bounds());
    let grid = encoder.finish(halves, found, solid, judgement.mean_error)?;
    Ok(report(grid, mesh, &filled.exact, judgement, start))
}
