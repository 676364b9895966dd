//! Bodies as \[Sagardia2014\] has them, and by Touchfield's defaults.
//!
//! Input: a mesh, a number of shell points, how fine the grid is.
//! Output: a shape with its shell.
//! Cost: a bake.
//! Not for: Rapier's colliders, see `ball` and `bunny`.

use std::ops::ControlFlow;
use std::sync::Arc;

use touchfield::Shape;
use touchfield::bake::pointshell::{ShellDensity, ShellSampling, ShellSettings, TreeBuilder};
use touchfield::bake::{
    BakeSettings, ClosestPoints, FieldKind, Resolution, VoxmapSettings, bake_field,
};
use touchfield::field::{Encoding, Sampling};
use touchfield::mesh::TriangleMesh;
use touchfield::open::{MadeShape, ShapeSettings, ShellChoice};

use crate::host::Stop;

/// Field and shell of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Structure {
    /// Layers of whole voxels, Eq. 4; the shell sampled from voxels, its tree a chain.
    Layers,
    /// The support grid of distances, Eq. 5; the same shell.
    Support,
    /// A dense field, a Poisson-disk shell of as many points, a tree from the top.
    Ours,
    /// The same with the shell that Touchfield takes by default, a point for each cell, and with
    /// the faces of the mesh.
    Defaults,
}

impl Structure {
    /// Structures whose shells have the requested number of points.
    pub(super) const ALIKE: [Structure; 3] =
        [Structure::Layers, Structure::Support, Structure::Ours];

    pub(super) const ALL: [Structure; 4] = [
        Structure::Layers,
        Structure::Support,
        Structure::Ours,
        Structure::Defaults,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Structure::Layers => "paper, layers",
            Structure::Support => "paper, support grid",
            Structure::Ours => "Touchfield",
            Structure::Defaults => "Touchfield, default shell",
        }
    }

    /// Bakes a body with about `points` shell points; none for 0.
    pub(super) fn bake(
        self,
        mesh: &TriangleMesh,
        points: u32,
        resolution: Resolution,
    ) -> Result<Shape, Stop> {
        let voxmap = |encoding, sampling| {
            FieldKind::Voxmap(VoxmapSettings {
                resolution,
                closest: ClosestPoints::AlongLayers,
                encoding,
                sampling,
                ..VoxmapSettings::default()
            })
        };
        let kind = match self {
            Structure::Layers => voxmap(Encoding::Layers, Sampling::LocalAndGlobal),
            Structure::Support => voxmap(Encoding::Support, Sampling::Interpolated),
            Structure::Ours | Structure::Defaults => FieldKind::Dense,
        };
        let settings = BakeSettings {
            resolution,
            ..BakeSettings::default()
        };
        let go_on = |_| ControlFlow::Continue(());
        let baked = bake_field(mesh, &settings, &kind, &go_on).map_err(|error| bad(&error))?;
        let shell = match (points, self) {
            (0, _) => ShellChoice::None,
            (_, Structure::Defaults) => ShellChoice::OneCell,
            (_, Structure::Ours) => ShellChoice::Density(ShellDensity::Points(points)),
            _ => ShellChoice::Exactly(ShellSettings {
                sampling: ShellSampling::Voxels {
                    alpha: std::f32::consts::SQRT_2,
                },
                density: ShellDensity::Points(points),
                fill_gaps: false,
                tree: TreeBuilder::Chain,
                ..ShellSettings::default()
            }),
        };
        let made = MadeShape::of_mesh_and_field(
            mesh,
            Arc::new(baked.field),
            baked.provenance,
            &ShapeSettings {
                shell,
                faces: self == Structure::Defaults,
                ..ShapeSettings::default()
            },
        );
        Ok(made.map_err(|error| bad(&error))?.shape)
    }
}

pub(super) fn bad(error: &dyn std::fmt::Display) -> Stop {
    Stop::BadInput(error.to_string())
}
