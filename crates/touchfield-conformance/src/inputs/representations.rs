//! All field representations, baked from a mesh in the same way, for suites, tables and plots.
//!
//! Input: a closed mesh and nodes along its longest side.
//! Output: a field, the size of its finest cells, its bytes.
//! Not for: settings that only one representation has; each has tests of its own.

use std::ops::ControlFlow;

use touchfield::bake::{
    BakeSettings, Bits, Resolution, SparseGoal, SparseSettings, VoxmapSettings, bake_sparse,
    bake_taylor, bake_voxmap, bake_with,
};
use touchfield::field::{Encoding, Sampling, StoredField};
use touchfield::mesh::TriangleMesh;

/// How a field is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Representation {
    /// A value per node, `f32`.
    Dense,
    /// A value and a gradient per node, half floats.
    Taylor,
    /// Blocks within three cells of the surface.
    Band(Bits),
    /// Blocks wherever an error tolerance of half a cell requires them.
    Tolerance(Bits),
    /// A number per voxel.
    Voxmap(Encoding, Sampling),
}

/// All representations.
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
    /// Returns the name in tables.
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

    /// Bakes a closed mesh with the given nodes along its longest side, or as finely as an error
    /// tolerance of half such a cell requires.
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
            Ok(StoredField::Sparse(field))
        };
        match self {
            Representation::Dense => Ok(StoredField::Dense(
                bake_with(mesh, &settings, &quiet)?.field,
            )),
            Representation::Taylor => Ok(StoredField::Taylor(
                bake_taylor(mesh, &settings, &quiet)?.field,
            )),
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
                Ok(StoredField::Voxmap(
                    bake_voxmap(mesh, &settings, &quiet)?.field,
                ))
            }
        }
    }
}
