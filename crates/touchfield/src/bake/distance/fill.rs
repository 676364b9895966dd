//! Distances of all nodes of a grid, by any of the methods.

use crate::bake::distance::band;
use crate::bake::distance::band::Band;
use crate::bake::distance::nodes::{Found, Wanted};
use crate::bake::distance::{
    bound_tree, chamfer, exact_bvh, fast_marching, scan_conversion, vector_distance,
};
use crate::bake::error::BakeError;
use crate::bake::error::MemoryError;
use crate::bake::progress::Progress;
use crate::bake::settings::DistanceMethod;
use crate::bake::sign::patches::Patches;
use crate::field::GridLayout;
use crate::geom::DAabb;
use crate::geom::lanes::room_for;
use crate::mesh::Bvh;
use glam::UVec3;

/// Allocates one value per node. Fails if the machine has less memory than the limit allows.
pub(crate) fn allocate<T: Clone>(count: usize, value: T) -> Result<Vec<T>, BakeError> {
    let mut values = room_for(count).map_err(|_| MemoryError::OutOfMemory {
        bytes: (size_of::<T>() as u64).saturating_mul(count as u64),
    })?;
    values.resize(count, value);
    Ok(values)
}

/// Input of the computation of the distances of all nodes.
pub(crate) struct Distances<'a> {
    pub(crate) bvh: &'a Bvh,
    /// Source of the signs; without it all values are positive.
    pub(crate) patches: Option<&'a Patches>,
    pub(crate) layout: &'a GridLayout,
    /// AABB of the mesh.
    pub(crate) bounds: DAabb,
    pub(crate) progress: Progress<'a>,
}

impl Distances<'_> {
    /// Writes the distances of all nodes and returns the largest error \[m\]. `settle` sets the
    /// signs of nodes whose nearest feature does not determine them.
    pub(crate) fn fill(
        &self,
        method: DistanceMethod,
        values: &mut [f32],
        settle: impl FnOnce(&mut [f32], &[UVec3]),
    ) -> Result<f64, BakeError> {
        if !method.is_exact() {
            return self.fill_from_band(method, values, settle);
        }
        let (layout, progress) = (self.layout, self.progress);
        let (found, error) = match method {
            DistanceMethod::BoundTree => {
                let wanted = Wanted::all(self.patches);
                let found = bound_tree::fill(self.bvh, wanted, layout, values, progress);
                (found, 0.0)
            }
            _ => {
                let found = exact_bvh::fill(self.bvh, self.wanted(), layout, values, progress);
                (found, self.far_error())
            }
        };
        settle(values, &found.ok_or(BakeError::Cancelled)?.unclear);
        Ok(error)
    }

    /// Returns what the exact method writes: bit-identical to brute force near the surface, and
    /// within [`Self::far_error`] of it beyond.
    pub(crate) fn wanted(&self) -> Wanted<'_> {
        /// Distance beyond which `f32` chooses the nearest face \[cells\]. Choosing in `f64` among
        /// tied faces takes a fifth of the time, everywhere.
        const EXACT_CELLS: f64 = 2.0;
        let exact_cells = match self.patches {
            Some(_) => EXACT_CELLS,
            None => f64::INFINITY,
        };
        Wanted {
            exact_within: exact_cells * f64::from(self.layout.cell_size),
            far_error: self.far_error(),
            ..Wanted::all(self.patches)
        }
    }

    /// Returns the error of nodes whose nearest face is chosen in `f32` \[m\]. Zero without
    /// patches, because then every node is exact.
    pub(crate) fn far_error(&self) -> f64 {
        if self.patches.is_none() {
            return 0.0;
        }
        let radius = 0.5 * self.layout.bounds().as_daabb().diagonal();
        self.bvh.far_error(radius)
    }

    /// Computes exact distances in a band, and those beyond it by `method`.
    fn fill_from_band(
        &self,
        method: DistanceMethod,
        values: &mut [f32],
        settle: impl FnOnce(&mut [f32], &[UVec3]),
    ) -> Result<f64, BakeError> {
        let layout = self.layout;
        let band = Band::of(layout, self.bounds);
        let wanted = Wanted {
            within: band.width,
            seeds: matches!(
                method,
                DistanceMethod::ScanConversion | DistanceMethod::VectorDistance
            ),
            ..Wanted::all(self.patches)
        };
        let fill = match method {
            DistanceMethod::ScanConversion => scan_conversion::fill,
            _ => exact_bvh::fill,
        };
        let found =
            fill(self.bvh, wanted, layout, values, self.progress).ok_or(BakeError::Cancelled)?;
        settle(values, &found.unclear);
        if self.patches.is_some() {
            band::flood_signs(layout, values);
        }
        let mut magnitudes = allocate(values.len(), 0.0f32)?;
        band::write_magnitudes(values, &mut magnitudes);
        let error = fill_beyond(
            method,
            layout,
            &band,
            &found,
            &mut magnitudes,
            self.progress,
        )?;
        band::join(values, &magnitudes);
        Ok(error)
    }
}

/// Computes the magnitudes beyond the band, and returns their largest error \[m\].
pub(crate) fn fill_beyond(
    method: DistanceMethod,
    layout: &GridLayout,
    band: &Band,
    found: &Found,
    magnitudes: &mut [f32],
    progress: Progress<'_>,
) -> Result<f64, BakeError> {
    let count = magnitudes.len();
    let error = match method {
        DistanceMethod::Chamfer => chamfer::fill(layout, band, magnitudes, progress),
        DistanceMethod::FastMarching => {
            let mut scratch = fast_marching::Scratch {
                done: allocate(count, false)?,
                chamfer: allocate(count, 0.0)?,
            };
            fast_marching::fill(layout, band, magnitudes, &mut scratch, progress)
        }
        _ => {
            let mut scratch = vector_distance::Scratch {
                labels: allocate(count, 0)?,
                chamfer: allocate(count, 0.0)?,
            };
            let seeds = &found.seeds;
            vector_distance::fill(layout, band, seeds, magnitudes, &mut scratch, progress)
        }
    };
    error.ok_or(BakeError::Cancelled)
}
