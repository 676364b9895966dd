//! The grid that follows from a mesh and its bake settings.

use glam::{DVec3, UVec3};

use crate::bake::error::{BakeError, LayoutError, MeshError};
use crate::bake::settings::{BakeSettings, OffsetWidth, Resolution};
use crate::field::GridLayout;
use crate::geom::DAabb;

impl OffsetWidth {
    /// Returns this width if it is usable as the radius of a ball: positive and finite.
    pub(crate) fn checked(self) -> Result<OffsetWidth, LayoutError> {
        let (OffsetWidth::Cells(width) | OffsetWidth::Length(width)) = self;
        if width > 0.0 && width.is_finite() {
            Ok(self)
        } else {
            Err(LayoutError::BadOffsetWidth { width: self })
        }
    }
}

impl BakeSettings {
    /// Returns the padding cells around a mesh whose longest side has this length \[m\]: those of
    /// the settings, or more where an offset needs them.
    fn padding_around(&self, longest: f64) -> Result<u32, BakeError> {
        let Some(width) = self.sign.offset() else {
            return Ok(self.padding);
        };
        let cells = width.checked()?.padding(self.resolution, longest);
        if cells >= f64::from(u32::MAX) {
            return Err(LayoutError::TooManyNodes { cells }.into());
        }
        // The cast turns NaN, which comes from a cell size that is refused below, into 0.
        Ok(self.padding.max(cells as u32))
    }

    /// Returns the cell size of the grid for a mesh with these bounds, wherever they lie \[m\];
    /// `None` if there is no grid.
    pub(crate) fn cell_size(&self, bounds: DAabb) -> Option<f64> {
        let around_origin = DAabb::new(-bounds.half_extents(), bounds.half_extents());
        let layout = self.layout(around_origin).ok()?;
        Some(layout.cell_size.into())
    }

    /// Returns the grid for a mesh with these bounds: cubic cells, the mesh in the middle.
    pub fn layout(&self, bounds: DAabb) -> Result<GridLayout, BakeError> {
        let extents = bounds.extents();
        let longest = extents.max_element();
        if !(longest > 0.0 && longest.is_finite()) {
            return Err(MeshError::NoExtent { extents }.into());
        }
        let padding = self.padding_around(longest)?;
        let cell_size = match self.resolution {
            Resolution::Nodes(nodes) => {
                let cells = u64::from(nodes).saturating_sub(2 * u64::from(padding) + 1);
                if cells < 1 {
                    let error = match self.sign.offset() {
                        Some(width) if padding > self.padding => {
                            LayoutError::OffsetTooWide { width, nodes }
                        }
                        _ => LayoutError::TooCoarse { nodes, padding },
                    };
                    return Err(error.into());
                }
                longest / cells as f64
            }
            Resolution::CellSize(size) => size,
        };
        if !(cell_size > 0.0 && cell_size.is_finite()) {
            return Err(LayoutError::BadCellSize { cell_size }.into());
        }
        let cell_size = match self.resolution {
            // Rounded up, so that the requested nodes still span the mesh.
            Resolution::Nodes(_) => (cell_size as f32).next_up(),
            Resolution::CellSize(_) => cell_size as f32,
        };
        let step = f64::from(cell_size);
        let cells = (extents / step).ceil() + 2.0 * f64::from(padding);
        // At least one cell, for flat meshes without padding.
        let cells = cells.max(DVec3::ONE);
        if cells.max_element() >= f64::from(u32::MAX) {
            return Err(LayoutError::TooManyNodes {
                cells: cells.max_element(),
            }
            .into());
        }
        let origin = (bounds.center() - 0.5 * step * cells).as_vec3();
        let layout = GridLayout {
            origin,
            cell_size,
            nodes: cells.as_uvec3() + UVec3::ONE,
        };
        layout.check().map_err(LayoutError::Grid)?;
        Ok(layout)
    }
}
