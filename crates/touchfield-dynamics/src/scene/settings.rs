//! What a scene file says, as values.
//!
//! Input: none; `read` fills them. Output: [`Scene`] with its bodies.
//! Cost: none. Not for: geometry, which `build` makes.

use std::path::{Path, PathBuf};

use glam::DVec3;
use touchfield::mesh::Units;

use crate::body::{Material, Moves};
use crate::frame::Frame;
use crate::mass::Locked;
use crate::world::WorldSettings;

/// Kind of field of a mesh body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldName {
    /// A value at every node of a grid.
    Dense,
    /// A value and a gradient at every node.
    Taylor,
    /// A coarse grid with fine blocks.
    Sparse,
    /// Layers of voxels.
    Voxmap,
}

impl FieldName {
    /// All of them, with their names in scene files.
    pub const ALL: [(&'static str, FieldName); 4] = [
        ("dense", FieldName::Dense),
        ("taylor", FieldName::Taylor),
        ("sparse", FieldName::Sparse),
        ("voxmap", FieldName::Voxmap),
    ];
}

/// Where the mesh of a body comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A mesh file or a baked file.
    File(PathBuf),
    /// A built-in model, by its name in [`catalogue`](touchfield::mesh::generate::catalogue).
    Model(String),
}

/// A body whose geometry is a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshShape {
    /// Where the mesh comes from.
    pub source: Source,
    /// Unit of its numbers.
    pub units: Units,
    /// Factors along its axes.
    pub scale: DVec3,
    /// Kind of field. `None` takes the convex hull of a convex mesh, else a dense field, or a
    /// sparse one where a tolerance is given.
    pub field: Option<FieldName>,
    /// Nodes along the longest side.
    pub resolution: Option<u32>,
    /// Largest error of the field \[m\].
    pub tolerance: Option<f64>,
}

/// Geometry of a body. Axes are along z.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyShape {
    /// A ball.
    Sphere {
        /// Radius \[m\].
        radius: f64,
    },
    /// A box.
    Box {
        /// Half extents \[m\].
        half: DVec3,
    },
    /// A cylinder with round ends.
    Capsule {
        /// Radius \[m\].
        radius: f64,
        /// Half of the straight part \[m\].
        half_length: f64,
    },
    /// A cylinder.
    Cylinder {
        /// Radius \[m\].
        radius: f64,
        /// Half of the height \[m\].
        half_height: f64,
    },
    /// A ring.
    Torus {
        /// Radius of the circle that the tube follows \[m\].
        major: f64,
        /// Radius of the tube \[m\].
        minor: f64,
    },
    /// All points below a plane through the origin.
    HalfSpace {
        /// Outward normal.
        normal: DVec3,
    },
    /// A mesh.
    Mesh(MeshShape),
}

/// A body of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneBody {
    /// Name, unique in the scene.
    pub name: String,
    /// Line of the scene file where the body begins.
    pub line: usize,
    /// Geometry.
    pub shape: BodyShape,
    /// Material of the surface.
    pub material: Material,
    /// Density \[kg/m³\], if no mass is given.
    pub density: f64,
    /// Mass \[kg\].
    pub mass: Option<f64>,
    /// What makes the body move. Poses are those of the shape's own frame.
    pub moves: Moves,
    /// `world_from_body` of the shape's own frame at the start.
    pub pose: Frame,
    /// Velocity of the centre of mass \[m/s\].
    pub velocity: DVec3,
    /// Angular velocity in the world \[rad/s\].
    pub angular_velocity: DVec3,
    /// Constant external force in the world \[N\].
    pub force: DVec3,
    /// Constant external torque about the centre of mass, in the world \[N·m\].
    pub torque: DVec3,
    /// Directions in which the body is held.
    pub locked: Locked,
}

/// What a scene file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Path of the file.
    pub file: PathBuf,
    /// Settings of the world.
    pub world: WorldSettings,
    /// Length of the simulation \[s\].
    pub seconds: f64,
    /// Simulated time between two rows of the trajectory \[s\].
    pub record_every: f64,
    /// Whether the depth of every row is searched, besides that of the contacts.
    pub measure_depth: bool,
    /// The bodies, in the order of the file.
    pub bodies: Vec<SceneBody>,
    /// Remarks on what the file says.
    pub warnings: Vec<String>,
}

impl Scene {
    /// Largest number of bodies.
    pub const MOST_BODIES: usize = 100_000;
    /// Largest number of steps.
    pub const MOST_STEPS: f64 = 1e9;
    /// Density of a body for which none is given \[kg/m³\].
    pub const DENSITY: f64 = 1000.0;
    /// Simulated time of a scene that gives none \[s\].
    pub const SECONDS: f64 = 2.0;
    /// Shortest default time between two rows \[s\].
    pub const RECORD_EVERY: f64 = 0.01;
    /// Largest scene file \[bytes\].
    pub const MOST_BYTES: u64 = 256 << 20;

    /// Returns the number of steps that reach the end.
    pub fn steps(&self) -> u64 {
        // A share of a step is rounding, more is a step.
        (self.seconds / self.world.step - 1e-6).ceil().max(0.0) as u64
    }

    /// Returns the folder of the file.
    pub fn folder(&self) -> &Path {
        match self.file.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        }
    }
}
