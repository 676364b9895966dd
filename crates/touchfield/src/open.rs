//! The front door for bodies: makes a [`Shape`] from a file or a mesh, by one policy.
//!
//! Input: a mesh, a mesh file or a `.tfs` file.
//! Output: a [`Shape`] with everything that queries use, and a [`ShapeReport`] of the choices made.
//! Cost: that of the bake, a second or so for a hundred thousand triangles; a `.tfs` file takes
//! milliseconds.
//! Not for: closed forms and convex bodies, see [`Shape::new`] and [`Shape::convex`].
//!
//! The policy is the same wherever a mesh becomes a body:
//!
//! - *Field*: dense, or sparse blocks if a tolerance is given.
//! - *Shell*: points one cell apart on the faces. For a mesh with few vertices these include all of
//!   its vertices, since corners touch first; for a larger one, points are sampled.
//! - *Faces*: kept, unless the sign method defines a surface of its own.
//! - *Mass*: from the triangles if the surface is closed, else from the field.
//! - *Frame*: that of the mesh. A mesh too far from the origin for `f32` gets a frame of its own,
//!   whose origin is [`Provenance::origin`] of the [`ShapeReport`]. Field, shell, faces and mass
//!   are then in that frame, and so are the poses and points of queries.

use std::path::Path;
use std::sync::Arc;

use glam::{DVec3, Vec3};

use crate::bake::pointshell::{
    ShellBakeError, ShellDensity, ShellSampling, ShellSettings, shell_of_field, shell_of_mesh,
};
use crate::bake::{
    BakeSettings, FieldBakeError, FieldKind, Progress, Resolution, SparseGoal, SparseSettings,
    bake_field, surface_of_mesh,
};
use crate::field::file::{FileError, SIGNATURE};
use crate::field::{Field, Provenance, SignMethod, StoredField};
use crate::geom::Triangle;
use crate::mass::{MassError, MassProperties};
use crate::mesh::read::{Limits, ReadError, read_file};
use crate::mesh::{TriangleMesh, Units};
use crate::pointshell::PointShell;
use crate::shape::file::{self, StoredShape};
use crate::shape::{Shape, Surface, SurfaceError};

/// Choice of the points on a shape's surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ShellChoice {
    /// Points one cell of the field apart.
    #[default]
    OneCell,
    /// Points of this density.
    Density(ShellDensity),
    /// Points generated with exactly these settings, without the policy.
    Exactly(ShellSettings),
    /// No shell: for pictures and samples, which need none.
    None,
}

impl ShellChoice {
    /// Returns the settings of the shell for a field, and for its mesh if that is known. Returns
    /// `None` for [`ShellChoice::None`].
    pub fn settings(
        self,
        field: &StoredField,
        mesh: Option<&TriangleMesh>,
    ) -> Option<ShellSettings> {
        let density = match self {
            ShellChoice::OneCell => ShellDensity::Spacing(field.finest_cell_size()),
            ShellChoice::Density(density) => density,
            ShellChoice::Exactly(settings) => return Some(settings),
            ShellChoice::None => return None,
        };
        let lends_vertices = |mesh: &TriangleMesh| mesh.vertices.len() <= most_vertices(density);
        Some(ShellSettings {
            density,
            // Vertices are included because corners and edges touch first.
            sampling: match mesh.is_some_and(lends_vertices) {
                true => ShellSampling::Vertices,
                false => ShellSampling::PoissonDisk,
            },
            max_points: ShapeSettings::MOST_POINTS,
            ..ShellSettings::default()
        })
    }
}

/// Settings for making a shape of a mesh: `ShapeSettings { tolerance: …, ..Default::default() }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeSettings {
    /// Unit of the numbers in a mesh file. A mesh in memory is in metres.
    pub units: Units,
    /// Largest permitted error of the field \[m\], which selects a sparse field. `None` selects a
    /// dense field with the settings in `bake`.
    pub tolerance: Option<f64>,
    /// Grid, signs and memory limit of the field.
    pub bake: BakeSettings,
    /// Points on the surface.
    pub shell: ShellChoice,
    /// Whether the faces are kept. The distance between separated bodies is then exactly that of
    /// their triangles.
    pub faces: bool,
}

impl Default for ShapeSettings {
    fn default() -> ShapeSettings {
        ShapeSettings {
            units: Units::Metres,
            tolerance: None,
            bake: BakeSettings::default(),
            shell: ShellChoice::OneCell,
            faces: true,
        }
    }
}

impl ShapeSettings {
    /// Maximum number of points of a shell made for queries.
    pub const MOST_POINTS: u32 = 1 << 22;

    /// Returns settings with this many grid nodes along the longest side.
    pub fn with_nodes(nodes: u32) -> ShapeSettings {
        ShapeSettings {
            bake: BakeSettings {
                resolution: Resolution::Nodes(nodes),
                ..BakeSettings::default()
            },
            ..ShapeSettings::default()
        }
    }

    fn kind(&self) -> FieldKind {
        match self.tolerance {
            Some(tolerance) => FieldKind::Sparse(SparseSettings {
                goal: SparseGoal::Tolerance(tolerance),
                ..SparseSettings::default()
            }),
            None => FieldKind::Dense,
        }
    }
}

/// Choices and findings from making a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeReport {
    /// Kind of the field, in the words of the command line.
    pub kind: &'static str,
    /// Side length of the finest cells \[m\].
    pub cell_size: f32,
    /// Proven error bound of the field \[m\].
    pub error_bound: f32,
    /// Number of shell points; 0 without a shell.
    pub shell_points: usize,
    /// Covering radius of the shell \[m\]; 0 without a shell.
    pub covering_radius: f32,
    /// Number of triangles kept; 0 if none are.
    pub faces: usize,
    /// Sign method, measured error, doubtful cells and notes on the mesh. If [`Provenance::origin`]
    /// is not zero, the shape is in a frame of its own: a point at `x` in the mesh is at
    /// `x − origin` in the shape.
    pub provenance: Provenance,
}

/// A shape with a report of how it was made.
#[derive(Clone, Debug)]
pub struct MadeShape {
    /// The shape.
    pub shape: Shape,
    /// Report of the choices made.
    pub report: ShapeReport,
    mass: Option<MassProperties>,
}

impl MadeShape {
    /// Returns the mass properties for unit density: exact if the triangles are closed, else
    /// integrated over the field.
    pub fn mass(&self) -> Result<MassProperties, MassError> {
        match self.mass {
            Some(mass) => Ok(mass),
            None => mass_of_field(self.shape.field()),
        }
    }
}

/// Why a mesh cannot become a shape.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// The mesh cannot be baked.
    #[error("{0}")]
    Bake(#[from] FieldBakeError),
    /// No points can be placed on its surface.
    #[error("no points can be put on the surface: {0}")]
    Shell(#[from] ShellBakeError),
    /// Its faces cannot be kept.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
}

impl ShapeError {
    /// Returns whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        match self {
            ShapeError::Bake(error) => error.is_limit(),
            ShapeError::Shell(error) => error.is_limit(),
            ShapeError::Surface(_) => false,
        }
    }
}

/// Why a file cannot become a shape.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The mesh file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The `.tfs` file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The mesh in the file cannot become a shape.
    #[error("{file}: {error}")]
    Shape {
        /// Path of the file.
        file: String,
        /// Reason.
        error: Box<ShapeError>,
    },
}

impl Shape {
    /// Opens a mesh file (OBJ, STL, PLY, OFF, glTF, GLB; in metres) or a baked `.tfs` file.
    pub fn open(path: impl AsRef<Path>) -> Result<Shape, OpenError> {
        Shape::open_with(path, &ShapeSettings::default()).map(|made| made.shape)
    }

    /// Opens a file like [`Shape::open`], with settings, and returns the report too. For a `.tfs`
    /// file, the stored shell and faces are used, and of the settings only the memory limit and the
    /// shell have an effect.
    pub fn open_with(
        path: impl AsRef<Path>,
        settings: &ShapeSettings,
    ) -> Result<MadeShape, OpenError> {
        let path = path.as_ref();
        let failed = |error| OpenError::Shape {
            file: path.display().to_string(),
            error: Box::new(error),
        };
        if is_baked(path) {
            let stored = file::read_file(path, settings.bake.max_memory)?;
            return MadeShape::from_stored(stored, settings).map_err(|e| failed(e.into()));
        }
        let limits = Limits::default();
        let limits = Limits {
            bytes: limits.bytes.min(settings.bake.max_memory),
            ..limits
        };
        let mut mesh = read_file(path, &limits)?;
        if settings.units != Units::Metres {
            for vertex in &mut mesh.vertices {
                *vertex *= settings.units.metres();
            }
        }
        MadeShape::from_mesh(&mesh, settings, &|_| std::ops::ControlFlow::Continue(()))
            .map_err(failed)
    }

    /// Makes a shape of a mesh \[m\].
    pub fn from_mesh(mesh: &TriangleMesh, settings: &ShapeSettings) -> Result<Shape, ShapeError> {
        let go_on = |_| std::ops::ControlFlow::Continue(());
        MadeShape::from_mesh(mesh, settings, &go_on).map(|made| made.shape)
    }
}

impl MadeShape {
    /// Makes a shape of a mesh \[m\]. `progress` is called from any thread and may cancel the bake.
    pub fn from_mesh(
        mesh: &TriangleMesh,
        settings: &ShapeSettings,
        progress: Progress<'_>,
    ) -> Result<MadeShape, ShapeError> {
        let baked = bake_field(mesh, &settings.bake, &settings.kind(), progress)?;
        MadeShape::of_mesh_and_field(mesh, Arc::new(baked.field), baked.provenance, settings)
    }

    /// Adds the shell and the faces of a mesh to the field that was baked from it. Pass the mesh in
    /// the frame in which it was baked; it is translated here if the field has a frame of its own.
    pub fn of_mesh_and_field(
        mesh: &TriangleMesh,
        field: Arc<StoredField>,
        provenance: Provenance,
        settings: &ShapeSettings,
    ) -> Result<MadeShape, ShapeError> {
        let moved = (provenance.origin != DVec3::ZERO).then(|| {
            let mut moved = mesh.clone();
            moved.move_to_frame_at(provenance.origin);
            moved
        });
        let mesh = moved.as_ref().unwrap_or(mesh);
        let shell = shell_of_faces(mesh, &field, settings.shell)?.map(Arc::new);
        let surface = match settings.faces {
            true => kept_faces(mesh, &provenance)?.map(Arc::new),
            false => None,
        };
        let mass = MassProperties::of_triangles(mesh.triangles()).ok();
        let made = MadeShape::joined(field, provenance, shell, surface);
        let shape = match &mass {
            Some(mass) => made.shape.with_center_of_mass(mass.center.as_vec3()),
            None => made.shape,
        };
        Ok(MadeShape {
            shape,
            mass,
            ..made
        })
    }

    /// Makes a shape from the content of a `.tfs` file, with its stored shell and faces. If it has
    /// no shell, one is sampled from the field's surface.
    pub fn from_stored(
        stored: StoredShape,
        settings: &ShapeSettings,
    ) -> Result<MadeShape, ShellBakeError> {
        let StoredShape {
            stored,
            shell,
            surface,
        } = stored;
        let (shell, surface) = (shell.map(Arc::new), surface.map(Arc::new));
        MadeShape::from_parts(
            Arc::new(stored.field),
            stored.provenance,
            shell,
            surface,
            settings,
        )
    }

    /// Joins a field with the shell and the faces that belong to it. Without a shell one is made of
    /// the surface of the field, as the settings say.
    pub fn from_parts(
        field: Arc<StoredField>,
        provenance: Provenance,
        shell: Option<Arc<PointShell>>,
        surface: Option<Arc<Surface>>,
        settings: &ShapeSettings,
    ) -> Result<MadeShape, ShellBakeError> {
        let shell = match shell {
            None => shell_of_surface(&field, settings.shell)?.map(Arc::new),
            shell => shell,
        };
        Ok(MadeShape::joined(field, provenance, shell, surface))
    }

    fn joined(
        field: Arc<StoredField>,
        provenance: Provenance,
        shell: Option<Arc<PointShell>>,
        surface: Option<Arc<Surface>>,
    ) -> MadeShape {
        let report = ShapeReport {
            kind: field.kind(),
            cell_size: field.finest_cell_size(),
            error_bound: field.error_bound(),
            shell_points: shell.as_ref().map_or(0, |shell| shell.points().len()),
            covering_radius: (shell.as_ref()).map_or(0.0, |shell| shell.covering_radius()),
            faces: (surface.as_ref()).map_or(0, |surface| surface.triangles().len()),
            provenance,
        };
        let mut shape = Shape::stored(field);
        if let Some(shell) = shell {
            shape = shape.with_shell(shell);
        }
        if let Some(surface) = surface {
            if let Ok(mass) = MassProperties::of_triangles(triangles_of(&surface)) {
                shape = shape.with_center_of_mass(mass.center.as_vec3());
            }
            shape = shape.with_exact_surface(surface);
        }
        MadeShape {
            shape,
            report,
            mass: None,
        }
    }
}

/// Returns the triangles of a surface in `f64`.
fn triangles_of(surface: &Surface) -> impl Iterator<Item = Triangle> + '_ {
    (0..surface.triangles().len()).map(|index| {
        let [a, b, c] = surface.corners(index as u32).map(Vec3::as_dvec3);
        Triangle { a, b, c }
    })
}

/// Returns whether a file is a baked one, by its first bytes, else by its extension.
pub fn is_baked(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; SIGNATURE.len()];
    // Only regular files are read: bytes read from a pipe would be lost to its reader.
    let is_signed = path.is_file()
        && std::fs::File::open(path)
            .is_ok_and(|mut file| file.read_exact(&mut start).is_ok() && start == SIGNATURE);
    is_signed
        || path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("tfs"))
}

/// Makes a shell of points on the faces of a mesh, unless `shell` is [`ShellChoice::None`].
fn shell_of_faces(
    mesh: &TriangleMesh,
    field: &StoredField,
    shell: ShellChoice,
) -> Result<Option<PointShell>, ShellBakeError> {
    let settings = shell.settings(field, Some(mesh));
    let shell = settings.map(|settings| shell_of_mesh(mesh, field, &settings));
    shell.transpose()
}

/// Makes a shell of points on the surface of a field whose mesh is not available, unless `shell` is
/// [`ShellChoice::None`].
fn shell_of_surface(
    field: &StoredField,
    shell: ShellChoice,
) -> Result<Option<PointShell>, ShellBakeError> {
    let settings = shell.settings(field, None);
    let shell = settings.map(|settings| shell_of_field(field, field.finest_cell_size(), &settings));
    shell.transpose()
}

/// Returns the faces of a mesh to be kept beside its field; `None` for an offset surface, which
/// differs from the faces.
pub fn kept_faces(
    mesh: &TriangleMesh,
    provenance: &Provenance,
) -> Result<Option<Surface>, SurfaceError> {
    (provenance.sign_method != SignMethod::Offset)
        .then(|| surface_of_mesh(mesh))
        .transpose()
}

/// Returns the largest number of vertices of a mesh that are all included in its shell. With a
/// larger limit, a scan of millions of vertices would make a shell of millions; with a smaller one,
/// corners of a machined part would be missed.
fn most_vertices(density: ShellDensity) -> usize {
    match density {
        ShellDensity::Points(points) => 2 * points as usize,
        ShellDensity::Spacing(_) => 50_000,
    }
}

/// Number of cells along the longest side for integrating the mass of a field: accurate to about a
/// thousandth.
const MASS_CELLS: u32 = 64;

/// Returns the mass properties of any field for unit density.
pub fn mass_of_field(field: &dyn Field) -> Result<MassProperties, MassError> {
    MassProperties::of_field(field, MASS_CELLS)
}
