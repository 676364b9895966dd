//! Every way to store a field, baked from a mesh alike: what suites, tables and plots go through.
//!
//! Input: a closed mesh and nodes along its longest side. Output: a field, the size of its finest cells, its bytes.
//! Not for: settings that only one of them has; each has tests of its own.

use std::ops::ControlFlow;

use touchfield::bake::{
    BakeSettings, Bits, Resolution, SparseGoal, SparseSettings, VoxmapSettings, bake, bake_sparse,
    bake_taylor, bake_voxmap,
};
use touchfield::field::{Encoding, Field, Sampling};
use touchfield::mesh::TriangleMesh;

/// How a field is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Representation {
    /// A value a node, `f32`.
    Dense,
    /// A value and a gradient a node, half floats.
    Taylor,
    /// Blocks within three cells of the surface.
    Band(Bits),
    /// Blocks wherever half a cell of error asks for them.
    Tolerance(Bits),
    /// A number a voxel.
    Voxmap(Encoding, Sampling),
}

/// A field, whatever it is.
pub struct StoredField {
    /// The field.
    pub field: Box<dyn Field>,
    /// Sides of its finest cells \[m\].
    pub cell_size: f64,
    /// What it keeps.
    pub bytes: usize,
}

impl StoredField {
    fn new(field: impl Field + 'static, cell_size: f32, bytes: usize) -> StoredField {
        StoredField {
            field: Box::new(field),
            cell_size: cell_size.into(),
            bytes,
        }
    }
}

/// All of them.
pub const ALL: [Representation; 11] = [
    Representation::Dense,
    Representation::Taylor,
    Representation::Band(Bits::Eight),
    Representation::Band(Bits::Sixteen),
    Representation::Band(Bits::ThirtyTwo),
    Representation::Tolerance(Bits::Eight),
    Representation::Tolerance(Bits::Sixteen),
    Representation::Tolerance(Bits::ThirtyTwo),
    Representation::Voxmap(Encoding::Layers, Sampling::LocalAndGlobal),
    Representation::Voxmap(Encoding::Scaled { precision: 4 }, Sampling::Interpolated),
    Representation::Voxmap(Encoding::Support, Sampling::Interpolated),
];

impl Representation {
    /// For tables.
    pub fn name(self) -> String {
        let bits = |bits| match bits {
            Bits::Eight => "8 bits",
            Bits::Sixteen => "16 bits",
            Bits::ThirtyTwo => "32 bits",
        };
        match self {
            Representation::Dense => "dense".to_owned(),
            Representation::Taylor => "taylor".to_owned(),
            Representation::Band(of) => format!("sparse, band, {}", bits(of)),
            Representation::Tolerance(of) => format!("sparse, tolerance, {}", bits(of)),
            Representation::Voxmap(Encoding::Layers, _) => "voxmap, layers".to_owned(),
            Representation::Voxmap(Encoding::Scaled { .. }, _) => {
                "voxmap, scaled integers".to_owned()
            }
            Representation::Voxmap(Encoding::Support, _) => "voxmap, support grid".to_owned(),
        }
    }

    /// Bakes a closed mesh with so many nodes along its longest side, or as finely as half such a cell of error asks for.
    pub fn bake(
        self,
        mesh: &TriangleMesh,
        nodes: u32,
    ) -> Result<StoredField, Box<dyn std::error::Error>> {
        let quiet = |_| ControlFlow::Continue(());
        let settings = BakeSettings {
            resolution: Resolution::Nodes(nodes),
            ..BakeSettings::default()
        };
        let sparse = |goal, bits| -> Result<StoredField, Box<dyn std::error::Error>> {
            let sparse = SparseSettings {
                goal,
                bits,
                conservative: false,
            };
            let field = bake_sparse(mesh, &settings, &sparse, &quiet)?.field;
            let (cell, bytes) = (field.finest_cell_size(), field.bytes());
            Ok(StoredField::new(field, cell, bytes))
        };
        match self {
            Representation::Dense => {
                let grid = bake(mesh, &settings, &quiet)?.grid;
                let (cell, bytes) = (grid.layout().cell_size, grid.bytes());
                Ok(StoredField::new(grid, cell, bytes))
            }
            Representation::Taylor => {
                let grid = bake_taylor(mesh, &settings, &quiet)?.grid;
                let (cell, bytes) = (grid.layout().cell_size, grid.bytes());
                Ok(StoredField::new(grid, cell, bytes))
            }
            Representation::Band(bits) => sparse(SparseGoal::Band(3.0), bits),
            Representation::Tolerance(bits) => {
                let cell = mesh.bounds().extents().max_element() / f64::from(nodes);
                sparse(SparseGoal::Tolerance(0.5 * cell), bits)
            }
            Representation::Voxmap(encoding, sampling) => {
                let settings = VoxmapSettings {
                    resolution: Resolution::Nodes(nodes),
                    encoding,
                    sampling,
                    ..VoxmapSettings::default()
                };
                let map = bake_voxmap(mesh, &settings, &quiet)?.field;
                let (cell, bytes) = (map.layout().cell_size, map.bytes());
                Ok(StoredField::new(map, cell, bytes))
            }
        }
    }
}
