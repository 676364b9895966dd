//! Baking on the device: fields from meshes.
//!
//! Input: a mesh, settings and a kind of field, as for [`touchfield::bake::bake_field`].
//! Output: the same field as there, with a proven error bound, its provenance, and a
//! [`GpuBakeReport`].
//! Cost: the device searches the nearest triangle of every node; the CPU examines the mesh, and
//! measures one triangle per node.
//! Not for: voxmaps, blocks within a tolerance, signs by an offset and the approximate methods,
//! which are errors that name the CPU.
//!
//! After \[Krayer2020\], §4.3 (docs/BIBLIOGRAPHY.md): distance, sign and gradient from the nearest
//! triangle. We differ in how that triangle is found: exactly, through a hierarchy of oriented
//! boxes.
//!
//! What the proof of the error bound rests on (see [`touchfield::bake::FaceSearch`]):
//!
//! - A value is the distance to the triangle that the device chose, measured by the CPU in `f64`.
//!   So it is never too small.
//! - It is too large by at most twice the rounding of a distance on the device. The device looks at
//!   every triangle whose box might hold a nearer one: it rejects only where computed bounds differ
//!   by more than all roundings that WGSL's accuracy rules allow. This margin is part of the error
//!   bound: a hundred-thousandth of the diagonal of the grid.
//! - The device reports where triangles that are equally near, within the margin, disagree about
//!   the side. There, and where measured distance or side differ from the device's, the CPU
//!   searches again. It does so for every 61st node in any case, and for all nodes if one of these
//!   had a nearer triangle.
//!
//! Signs of meshes with holes are the CPU's, by winding numbers or rays; distances still come from
//! the device.

mod ray_maps;
mod search;
mod surface;

pub use ray_maps::{RayMaps, ray_maps};

use std::time::Duration;

use touchfield::TriangleMesh;
use touchfield::bake::{
    BakeError, BakeSettings, Baked, FieldBakeError, FieldKind, Progress, ProposalReport,
    bake_field_elsewhere,
};
use touchfield::field::StoredField;

use crate::bake::search::DeviceSearch;
use crate::device::Gpu;
use crate::error::GpuError;
use crate::kernel::PassTime;

/// Why a bake on a device fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GpuBakeError {
    /// The device fails.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The mesh cannot be baked, on a device or not.
    #[error(transparent)]
    Bake(#[from] FieldBakeError),
    /// A face of the mesh is not a triangle.
    #[error(
        "face {face} has a vertex that is missing or not finite (`mesh::repair` drops such faces)"
    )]
    InvalidFace {
        /// Index of the face.
        face: usize,
    },
    /// Only the CPU bakes this kind of field.
    #[error(
        "voxmaps, sparse fields within a tolerance, signs by an offset and approximate distances are baked by the CPU \
         only (`touchfield::bake::bake_field`)"
    )]
    OnlyOnCpu,
}

/// What device and CPU did in a bake.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuBakeReport {
    /// Nodes that the device searched, and what the CPU made of them.
    pub nodes: ProposalReport,
    /// Number of dispatches.
    pub passes: u64,
    /// Time of each dispatch, where the device measures it.
    pub pass_times: Vec<PassTime>,
    /// Time of uploads, dispatches and reading back, as seen by the CPU.
    pub device_time: Duration,
}

/// Bakes a mesh into a field of the given kind on a device. `progress` is called from any thread
/// and may cancel.
pub fn bake(
    gpu: &Gpu,
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    kind: &FieldKind,
    progress: Progress<'_>,
) -> Result<(Baked<StoredField>, GpuBakeReport), GpuBakeError> {
    gpu.check()?;
    let search = DeviceSearch::new(gpu);
    let baked = bake_field_elsewhere(mesh, settings, kind, &search, progress);
    let state = search.into_state();
    match (baked, state.failure) {
        (Err(FieldBakeError::Bake(BakeError::Cancelled)), Some(failure)) => Err(failure.into()),
        (Err(error), _) => Err(error.into()),
        (Ok(None), _) => Err(GpuBakeError::OnlyOnCpu),
        (Ok(Some((baked, nodes))), _) => Ok((
            baked,
            GpuBakeReport {
                nodes,
                passes: state.pass_count,
                pass_times: state.passes,
                device_time: state.time,
            },
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks WGSL without a device.
    fn validate(source: &str) {
        let module = naga::front::wgsl::parse_str(source);
        let module = module.unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
        let flags = naga::valid::ValidationFlags::all();
        let mut validator = naga::valid::Validator::new(flags, naga::valid::Capabilities::empty());
        if let Err(error) = validator.validate(&module) {
            panic!("{}", error.emit_to_string(source));
        }
        let storage = module
            .global_variables
            .iter()
            .filter(|(_, variable)| matches!(variable.space, naga::AddressSpace::Storage { .. }));
        assert!(
            storage.count() <= 8,
            "more storage buffers than WebGPU's floor"
        );
    }

    #[test]
    fn kernels_are_valid_within_the_floor_of_webgpu() {
        for kernel in [
            include_str!("../shaders/seed.wgsl"),
            include_str!("../shaders/propose.wgsl"),
        ] {
            validate(&surface::source(64, kernel));
        }
        ray_maps::sources()
            .iter()
            .for_each(|source| validate(source));
        validate(&crate::filtered::source());
    }
}
