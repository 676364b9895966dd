//! Signed distances by ray maps: where the rows of a grid cross the mesh.
//!
//! Input: a mesh, settings for the grid.
//! Output: [`RayMaps`]: a signed distance per node, without a proven error.
//! Cost: each triangle once per row that it may cross; then one pass over the nodes for each
//! halving of the grid's side, with 27 triangles per node.
//! Not for: fields with a proven error bound; see [`bake`](crate::bake()).
//!
//! \[Krayer2020\], §4.3 (docs/BIBLIOGRAPHY.md), generates its fields by an extension of the ray
//! maps of [KM19] there. That paper could not be obtained: only its name and that one sentence were
//! available, so this is a method of that name rather than that method. For each row of nodes along
//! x, y and z, the crossings with the mesh are counted, listed and sorted. A node is inside where
//! more than half of the six parities say so: those before and behind it in its three rows. The
//! distance begins with the triangles that the three rows cross first, and a jump flood passes the
//! nearest triangle on from node to node. It is never too small but for rounding. It is too large
//! where the nearest triangle was lost on the way, and where no row crosses it: that is most of the
//! nodes around triangles that are smaller than a cell. `tests/bake_parity.rs` measures both beside
//! the exact search.

use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};
use touchfield::TriangleMesh;
use touchfield::bake::{BakeError, BakeSettings, FieldBakeError, MeshError};
use touchfield::field::GridLayout;

use crate::bake::GpuBakeError;
use crate::device::Gpu;
use crate::error::GpuError;
use crate::kernel::{INDEX, Recorder};
use crate::memory::{Room, uniform};
use crate::scan::Scan;

/// Signed distances by ray maps.
#[derive(Clone, Debug, PartialEq)]
pub struct RayMaps {
    /// Grid of the nodes.
    pub layout: GridLayout,
    /// Signed distances, x fastest, negative inside \[m\]. Infinite if no row crosses the mesh.
    pub values: Vec<f32>,
    /// Number of nodes where the six parities are not unanimous.
    pub split_votes: u64,
    /// Number of crossings of all rows.
    pub crossings: u64,
    /// Time from the upload of the mesh to the values.
    pub time: Duration,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    nodes: [u32; 3],
    triangles: u32,
    step: u32,
    spare: [u32; 3],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SortParameters {
    rays: u32,
    spare: [u32; 3],
}

const SURFACE: &str = include_str!("../shaders/ray_surface.wgsl");

fn source(kernel: &str) -> String {
    format!("{INDEX}{SURFACE}{kernel}")
}

/// Complete WGSL of all kernels of this file, for validation.
#[cfg(test)]
pub(crate) fn sources() -> Vec<String> {
    vec![
        source(include_str!("../shaders/ray_crossings.wgsl")),
        source(include_str!("../shaders/ray_nodes.wgsl")),
        source(include_str!("../shaders/ray_flood.wgsl")),
        format!("{INDEX}{}", include_str!("../shaders/ray_sort.wgsl")),
    ]
}

/// Computes signed distances of grid nodes by ray maps on a device. Of the settings, resolution and
/// padding are used.
pub fn ray_maps(
    gpu: &Gpu,
    mesh: &TriangleMesh,
    settings: &BakeSettings,
) -> Result<RayMaps, GpuBakeError> {
    gpu.check()?;
    let refused = |error: BakeError| GpuBakeError::Bake(FieldBakeError::Bake(error));
    if mesh.faces.is_empty() {
        return Err(refused(MeshError::NoFaces.into()));
    }
    if let Some(face) = mesh.first_invalid_face() {
        return Err(GpuBakeError::InvalidFace { face });
    }
    let layout = settings.layout(mesh.bounds()).map_err(refused)?;
    let start = Instant::now();
    // The mesh in cells from the first node.
    let in_cells =
        |corner: glam::DVec3| (corner - layout.origin.as_dvec3()) / f64::from(layout.cell_size);
    let corners: Vec<f32> = mesh
        .triangles()
        .flat_map(|triangle| triangle.corners())
        .flat_map(|corner| in_cells(corner).as_vec3().to_array())
        .collect();
    let (nx, ny, nz) = (layout.nodes.x, layout.nodes.y, layout.nodes.z);
    let side = |a: u32, b: u32| u64::from(a) * u64::from(b);
    let rays = side(ny, nz) + side(nz, nx) + side(nx, ny);
    let nodes = layout.node_count();
    let too_many = |what, bytes| GpuError::TooLarge {
        what,
        bytes,
        limit: 4 * u64::from(u32::MAX),
    };
    if nodes > u64::from(u32::MAX) || rays > u64::from(u32::MAX) {
        return Err(too_many("nodes", nodes.saturating_mul(8)).into());
    }
    let triangles = mesh.faces.len() as u64;
    let parameters = |step| Parameters {
        nodes: layout.nodes.to_array(),
        triangles: triangles as u32,
        step,
        spare: [0; 3],
    };
    let (mut corner_room, mut count_room) = (Room::new("triangles"), Room::new("crossings"));
    let (mut offset_room, mut crossing_room) = (Room::new("rays"), Room::new("crossings"));
    let given = corner_room.fill(gpu, &corners)?;
    let own = uniform(gpu, &parameters(0))?;
    let counts = count_room.reserve(gpu, 4 * rays)?;
    let offsets = offset_room.reserve(gpu, 4 * (rays + 1))?;
    let crossing_source = || source(include_str!("../shaders/ray_crossings.wgsl"));
    let count = gpu.kernel("count crossings", "count_crossings", crossing_source)?;
    let fill = gpu.kernel("fill crossings", "fill_crossings", crossing_source)?;
    // How many crossings each row has, and where its list begins.
    let mut recorder = Recorder::new(gpu)?;
    recorder.clear(counts);
    recorder.run(&count, None, &[&own, given, counts], 64 * triangles);
    Scan::default().record(gpu, &mut recorder, counts, rays, offsets)?;
    recorder.read::<u32>(offsets, rays + 1)?;
    let ends: Vec<u32> = recorder.submit()?.next()?;
    let total = u64::from(ends.last().copied().unwrap_or(0));
    // The crossings, sorted along each row.
    let crossings = crossing_room.reserve(gpu, 8 * total.max(1))?;
    let sort = gpu.kernel("sort crossings", "sort_crossings", || {
        format!("{INDEX}{}", include_str!("../shaders/ray_sort.wgsl"))
    })?;
    let sorted = uniform(
        gpu,
        &SortParameters {
            rays: rays as u32,
            spare: [0; 3],
        },
    )?;
    let sign = gpu.kernel("sign nodes", "sign_nodes", || {
        source(include_str!("../shaders/ray_nodes.wgsl"))
    })?;
    let flood = gpu.kernel("flood nodes", "flood_nodes", || {
        source(include_str!("../shaders/ray_flood.wgsl"))
    })?;
    let mut rooms = [Room::new("nodes"), Room::new("nodes")];
    let mut distance_room = Room::new("distances");
    let distances = distance_room.reserve(gpu, 4 * nodes)?;
    let [even, odd] = &mut rooms;
    let mut from = even.reserve(gpu, 8 * nodes)?;
    let mut to = odd.reserve(gpu, 8 * nodes)?;
    let mut recorder = Recorder::new(gpu)?;
    recorder.clear(counts);
    let buffers = [&own, given, counts, offsets, crossings];
    recorder.run(&fill, None, &buffers, 64 * triangles);
    recorder.run(&sort, None, &[&sorted, offsets, crossings], rays);
    // Signs and first triangles of the nodes, then the flood, with a last pass to the next nodes.
    let buffers = [&own, given, offsets, crossings, from];
    recorder.run(&sign, None, &buffers, nodes);
    let widest = layout.nodes.max_element().next_power_of_two() / 2;
    let halvings = std::iter::successors(Some(widest), |step| (*step > 1).then(|| step / 2));
    for step in halvings.chain([1]) {
        let own = uniform(gpu, &parameters(step))?;
        recorder.run(&flood, None, &[&own, given, from, to, distances], nodes);
        std::mem::swap(&mut from, &mut to);
    }
    recorder.read::<[u32; 2]>(from, nodes)?;
    recorder.read::<f32>(distances, nodes)?;
    let mut done = recorder.submit()?;
    let found: Vec<[u32; 2]> = done.next()?;
    let distances: Vec<f32> = done.next()?;
    let mut split_votes = 0;
    let values = found
        .iter()
        .zip(&distances)
        .map(|(&[triangle, votes], &distance)| {
            split_votes += u64::from(votes % 6 != 0);
            match triangle {
                u32::MAX => f32::INFINITY,
                _ if votes > 3 => -distance * layout.cell_size,
                _ => distance * layout.cell_size,
            }
        });
    Ok(RayMaps {
        layout,
        values: values.collect(),
        split_votes,
        crossings: total,
        time: start.elapsed(),
    })
}
