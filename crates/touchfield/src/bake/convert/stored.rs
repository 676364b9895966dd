//! Converts a stored field to another kind of storage, with a bound of the added error.
//!
//! Input: a [`StoredField`], the target kind, and optionally another cell size.
//! Output: the same solid stored that way, with an error bound that still holds; and its
//! [`Provenance`].
//! Cost: a few lookups per node of a dense grid, which every conversion goes through (except blocks
//! that stay as they are); and its memory, which is counted before it is allocated.
//! Not for: meshes, which are better baked to the target kind; making a field more exact than it
//! was.
//!
//! With E the error of the source field, h the side of a cell and half its diagonal √3/2 h (see
//! `check.rs`):
//!
//! - *Sparse to dense.* The nodes are those of the finest cells, so that the interpolant of the
//!   sparse field is trilinear in each dense cell too. The two differ only where a neighbour of the
//!   cell gave the value of a common node; by no more than at the corners, where the difference is
//!   measured.
//! - *Any to dense with other cells.* Nodes are off by E; between them half a diagonal is added. A
//!   node beyond the field's AABB takes the value at the border, and adds the distance to it.
//! - *Dense to sparse.* Where a block is dropped, its coarse cell and the fine ones that it
//!   replaces are trilinear in each fine cell: they differ by no more than at the nodes, where the
//!   difference is measured. Blocks of eight cells reach beyond the border of a grid; the sparse
//!   field is valid [within](crate::field::SparseBlocks::within) the grid only, as that was.
//! - *Dense to Taylor, and to and from voxmaps:* see [`TaylorGrid::from_dense`] and
//!   [`LayeredVoxmap::from_dense`].

use crate::bake::convert::settings::Budget;
use crate::bake::convert::settings::CONVERTED;
use crate::bake::convert::settings::ConvertError;
use crate::bake::convert::settings::ConvertSettings;
use crate::bake::convert::settings::Keep;
use crate::bake::convert::settings::Target;
use std::borrow::Cow;
use std::ops::ControlFlow;

use glam::{DVec3, UVec3};

use crate::bake::check;
use crate::bake::convert::{to_dense as convert_to_dense, to_sparse as convert_to_sparse};
use crate::bake::packing::{lower_by_errors, lowered};
use crate::bake::progress::{Progress, Step};
use crate::field::{
    DenseGrid, Field, GridLayout, LayeredVoxmap, Provenance, SparseBlocks, StoredField, TaylorGrid,
};
use crate::geom::{place_at, places};

/// Converts a field to another kind of storage. `progress` is called from any thread and may
/// cancel.
///
/// The error bound of the result includes what the conversion adds. A field that is stored that way
/// already is returned as it is.
pub fn convert(
    field: &StoredField,
    settings: &ConvertSettings,
    progress: &(dyn Fn(Step) -> ControlFlow<()> + Sync),
) -> Result<StoredField, ConvertError> {
    let ConvertSettings {
        target, cell_size, ..
    } = *settings;
    check_settings(settings)?;
    if settings.conservative && matches!(target, Target::Voxmap { .. }) {
        return Err(ConvertError::ConservativeVoxmap);
    }
    if cell_size.is_none() && is_stored_so(field, target) {
        return Ok(field.clone());
    }
    let converted = converted(field, settings, progress)?;
    if settings.conservative {
        enclosing(converted)
    } else {
        Ok(converted)
    }
}

/// Lowers every value of a field by its error.
fn enclosing(field: StoredField) -> Result<StoredField, ConvertError> {
    let (solid, error) = (field.solid(), field.error_bound());
    let doubled = (2.0 * error).next_up().next_up();
    Ok(match field {
        StoredField::Dense(grid) => {
            let layout = *grid.layout();
            let values = grid.into_values();
            let values = values.into_iter().map(|value| lowered(value, error));
            DenseGrid::new(layout, values.collect(), solid, doubled)?.into()
        }
        StoredField::Taylor(grid) => {
            let layout = *grid.layout();
            // Fine nodes are stored relative to coarse ones, so lowering these lowers both.
            let in_cells = (error / layout.cell_size).next_up();
            let mut coarse = grid.coarse().to_vec();
            for [.., value] in &mut coarse {
                *value = lowered(*value, in_cells);
            }
            TaylorGrid::new(layout, coarse, grid.nodes().collect(), solid, doubled)?.into()
        }
        StoredField::Sparse(blocks) => {
            let mut parts = blocks.parts().clone();
            lower_by_errors(&mut parts);
            SparseBlocks::new(*blocks.layout(), parts)?
                .within(blocks.bounds())?
                .into()
        }
        StoredField::Voxmap(_) => return Err(ConvertError::ConservativeVoxmap),
    })
}

fn converted(
    field: &StoredField,
    settings: &ConvertSettings,
    progress: Progress<'_>,
) -> Result<StoredField, ConvertError> {
    let ConvertSettings {
        target, cell_size, ..
    } = *settings;
    if let (
        StoredField::Sparse(blocks),
        Target::Sparse {
            keep: Keep::All,
            bits,
        },
        None,
    ) = (field, target, cell_size)
    {
        return Ok(convert_to_sparse::with_bits(blocks, bits, settings.max_memory)?.into());
    }
    // Check memory and signs before the work starts.
    let layout = dense_layout(field, cell_size)?;
    let budget = Budget::new(field, &layout, settings)?;
    if matches!(target, Target::Sparse { .. } | Target::Voxmap { .. }) && is_torn(field) {
        return Err(ConvertError::Torn {
            kind: target.kind(),
            error_bound: field.error_bound(),
            cell_size: field.finest_cell_size(),
        });
    }
    // Convert to dense, and from there to the target.
    let dense = to_dense(field, layout, cell_size.is_some(), progress)?;
    Ok(match target {
        Target::Dense => dense.into_owned().into(),
        Target::Taylor => TaylorGrid::from_dense(&dense)?.into(),
        Target::Sparse { keep, bits } => {
            convert_to_sparse::fold(&dense, keep, bits, &budget, progress)?.into()
        }
        Target::Voxmap { encoding, sampling } => {
            LayeredVoxmap::from_whole_dense(&dense, encoding, sampling)?.into()
        }
    })
}

/// Returns the provenance of a field converted with these settings: the same doubts, mapped to its
/// own cells, and the measured difference.
pub fn converted_provenance(
    field: &StoredField,
    provenance: &Provenance,
    converted: &StoredField,
    settings: &ConvertSettings,
) -> Provenance {
    if field == converted {
        return provenance.clone();
    }
    let difference = check::largest_difference(converted, field);
    let measured = (provenance.measured_error + difference).next_up();
    let mut notes = provenance.notes.clone();
    let (from, to) = (field.kind(), converted.kind());
    notes.push(format!(
        "{CONVERTED} {from} to {to}; the measured error is that of the {from} field and the largest difference between \
         the two at random points"
    ));
    if provenance.conservative && !settings.conservative {
        notes.push(format!(
            "the {from} field was conservative; this one is not, and points of the surface may lie outside its solid"
        ));
    }
    let doubtful_cells = moved_cells(
        &provenance.doubtful_cells,
        field.layout(),
        converted.layout(),
    );
    if doubtful_cells.is_none() {
        notes.push("doubtful cells were lost: there are too many cells to number".to_owned());
    }
    Provenance {
        sign_method: provenance.sign_method,
        measured_error: measured.min(converted.error_bound()),
        conservative: settings.conservative,
        origin: provenance.origin,
        doubtful_cells: doubtful_cells.unwrap_or_default(),
        notes,
    }
}

fn check_settings(settings: &ConvertSettings) -> Result<(), ConvertError> {
    if let Some(size) = settings.cell_size
        && !(size > 0.0 && size.is_finite())
    {
        return Err(ConvertError::BadCellSize(size));
    }
    match settings.target {
        Target::Sparse {
            keep: Keep::Band(width),
            ..
        } if !(width > 0.0 && width.is_finite()) => Err(ConvertError::BadBand(width)),
        Target::Sparse {
            keep: Keep::Tolerance(tolerance),
            ..
        } if !(tolerance >= 0.0 && tolerance.is_finite()) => {
            Err(ConvertError::BadTolerance(tolerance))
        }
        _ => Ok(()),
    }
}

/// Returns whether the field is stored that way already.
fn is_stored_so(field: &StoredField, target: Target) -> bool {
    match (field, target) {
        (StoredField::Dense(_), Target::Dense) | (StoredField::Taylor(_), Target::Taylor) => true,
        (
            StoredField::Sparse(blocks),
            Target::Sparse {
                keep: Keep::All,
                bits,
            },
        ) => u64::from(blocks.parts().values.bits()) == 8 * bits.bytes(),
        (StoredField::Voxmap(map), Target::Voxmap { encoding, sampling }) => {
            map.values().encoding() == encoding && map.sampling() == sampling
        }
        _ => false,
    }
}

/// Returns whether the sign may change without a surface. Sparse fields and voxmaps are made of
/// closed surfaces only.
fn is_torn(field: &StoredField) -> bool {
    match field {
        StoredField::Dense(grid) => grid.is_torn(),
        StoredField::Taylor(grid) => grid.is_torn(),
        StoredField::Sparse(_) | StoredField::Voxmap(_) => false,
    }
}

/// Returns the layout of the intermediate dense grid: nodes of the finest cells, or cells of this
/// size over the same box.
fn dense_layout(field: &StoredField, cell_size: Option<f64>) -> Result<GridLayout, ConvertError> {
    let own = *field.layout();
    let layout = match cell_size {
        None => {
            // Blocks halve cells, so the ratio is a whole number.
            let finer = f64::from((own.cell_size / field.finest_cell_size()).round());
            // These are whole cells too, apart from rounding.
            let [low, high] = field.good_cells().map(|place| (finer * place).round());
            let cells = (high - low).max(DVec3::ONE);
            check_count(cells)?;
            let step = f64::from(field.finest_cell_size());
            GridLayout {
                origin: (own.origin.as_dvec3() + step * low).as_vec3(),
                cell_size: field.finest_cell_size(),
                nodes: cells.as_uvec3() + UVec3::ONE,
            }
        }
        Some(size) => {
            let size = size as f32;
            let step = f64::from(size);
            let [low, high] = field.good_cells();
            let extents = (high - low) * f64::from(own.cell_size);
            // Rounding must not turn a whole number of cells into one more.
            let cells = (extents / step * (1.0 - 1e-12)).ceil().max(DVec3::ONE);
            check_count(cells)?;
            let middle = own.origin.as_dvec3() + f64::from(own.cell_size) * low + 0.5 * extents;
            GridLayout {
                origin: (middle - 0.5 * step * cells).as_vec3(),
                cell_size: size,
                nodes: cells.as_uvec3() + UVec3::ONE,
            }
        }
    };
    layout.check()?;
    Ok(layout)
}

fn check_count(cells: DVec3) -> Result<(), ConvertError> {
    let cells = cells.max_element();
    if cells < f64::from(i32::MAX) {
        return Ok(());
    }
    Err(ConvertError::TooManyNodes { cells })
}

/// Returns the intermediate dense grid.
fn to_dense<'a>(
    field: &'a StoredField,
    layout: GridLayout,
    other_cells: bool,
    progress: Progress<'_>,
) -> Result<Cow<'a, DenseGrid>, ConvertError> {
    if other_cells {
        return Ok(Cow::Owned(convert_to_dense::sample(
            field, layout, progress,
        )?));
    }
    Ok(match field {
        StoredField::Dense(grid) => Cow::Borrowed(grid),
        StoredField::Taylor(grid) => Cow::Owned(grid.to_dense()?),
        StoredField::Voxmap(map) => Cow::Owned(map.to_dense()?),
        StoredField::Sparse(blocks) => {
            Cow::Owned(convert_to_dense::unfold(blocks, layout, progress)?)
        }
    })
}

/// Returns the cells of grid `to` that overlap any of these cells of grid `from`, ascending; `None`
/// if there are too many to number.
fn moved_cells(cells: &[u32], from: &GridLayout, to: &GridLayout) -> Option<Vec<u32>> {
    if from == to || cells.is_empty() {
        return Some(cells.to_vec());
    }
    let size = to.cells();
    let count = to.cells().as_dvec3().element_product();
    if count >= f64::from(u32::MAX) {
        return None;
    }
    let mut marked = vec![false; count as usize];
    let from_cells = from.cells();
    for &cell in cells {
        let first = place_at(from_cells, cell as usize);
        let among = |node: UVec3| {
            let position = from.node_position(node) - to.origin.as_dvec3();
            position / f64::from(to.cell_size)
        };
        // Sides that only touch do not count.
        let slack = 1e-3;
        let low = (among(first) + slack).floor().max(DVec3::ZERO).as_uvec3();
        let high = (among(first + 1) - slack).ceil().max(DVec3::ONE).as_uvec3();
        let last = high.min(size) - 1;
        if low.cmple(last).all() {
            for place in places(low, last) {
                let index = (place.z * size.y + place.y) * size.x + place.x;
                marked[index as usize] = true;
            }
        }
    }
    let numbered = (0u32..).zip(marked);
    Some(
        numbered
            .filter_map(|(cell, is_marked)| is_marked.then_some(cell))
            .collect(),
    )
}
