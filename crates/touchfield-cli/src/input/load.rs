//! Input files: meshes and baked fields, distinguished by content first and by extension second.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use glam::DVec3;
use touchfield::ShapeSettings;
use touchfield::bake::{
    BakeReport, BakeSettings, Baked, Before, FieldKind, Rebaked, SparseBefore, bake_field,
    frame_origin, hull_of_mesh, rebake, rebake_sparse,
};
use touchfield::field::file::{self, Stored};
use touchfield::field::{DenseGrid, Provenance, SparseBlocks, StoredField};
use touchfield::geom::DAabb;
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::read::{self, Limits};
pub(crate) use touchfield::open::is_baked;
use touchfield::open::{self, MadeShape, ShapeError};
use touchfield::pointshell::PointShell;
use touchfield::shape::file::{self as shape_file, StoredShape};
use touchfield::shape::{Convex, Shape, Surface};

use crate::args::Units;
use crate::device::Gpu;
use crate::failure::Failure;
use crate::report::progress::BakeProgress;
use crate::report::{self, terminal};

/// A field and its name for titles.
pub(crate) struct Body {
    pub(crate) name: String,
    pub(crate) field: Arc<StoredField>,
    pub(crate) provenance: Provenance,
    /// Data for contact queries that its file or its mesh provides.
    pub(crate) parts: Parts,
}

/// Data for contact queries beside the field.
#[derive(Clone, Default)]
pub(crate) struct Parts {
    /// Points on the surface.
    pub(crate) shell: Option<Arc<PointShell>>,
    /// The triangles that the field's distances refer to.
    pub(crate) surface: Option<Arc<Surface>>,
}

impl Parts {
    fn bytes(&self) -> usize {
        let shell = self.shell.as_ref().map_or(0, |shell| shell.bytes());
        shell + self.surface.as_ref().map_or(0, |surface| surface.bytes())
    }
}

impl Body {
    /// Returns the memory that the body occupies \[bytes\].
    pub(crate) fn bytes(&self) -> u64 {
        let notes: usize = self.provenance.notes.iter().map(String::len).sum();
        let cells = size_of_val(self.provenance.doubtful_cells.as_slice());
        (self.field.bytes() + self.parts.bytes() + cells + notes) as u64
    }

    /// Returns a note if there is nothing to see because no node lies inside.
    pub(crate) fn nothing_inside(&self) -> Option<String> {
        let cell = report::length(self.field.finest_cell_size());
        (!self.field.has_inside()).then(|| {
            format!(
                "{}: no node is inside, so there is no solid to show: the surface is open, or everywhere thinner than a \
                 cell of {cell}; `touchfield bake` with a smaller --cell-size, or with --repair, may find it",
                self.name
            )
        })
    }
}

/// Returns a clear error for a folder or an empty file, which readers would report less clearly.
pub(crate) fn check_input(path: &Path) -> Result<(), Failure> {
    match path.metadata() {
        Ok(found) if found.is_dir() => {
            Err(Failure::in_file(path, "is a folder; name a file in it"))
        }
        Ok(found) if found.is_file() && found.len() == 0 && has_no_bytes(path) => Err(
            Failure::in_file(path, "is empty; export, copy or bake it again"),
        ),
        // A file that cannot be read is reported by whoever reads it.
        _ => Ok(()),
    }
}

/// Returns whether nothing can be read from a file. Files of `/proc` have content whatever their
/// length.
fn has_no_bytes(path: &Path) -> bool {
    let read = File::open(path).and_then(|mut file| file.read(&mut [0]));
    matches!(read, Ok(0))
}

/// Reads a baked file.
pub(crate) fn baked(path: &Path, max_memory: u64) -> Result<Stored, Failure> {
    check_input(path)?;
    file::read_file(path, max_memory).map_err(|error| Failure::of_baked_file(&error))
}

/// Reads a baked file with everything that it holds for contact queries.
pub(crate) fn baked_shape(path: &Path, max_memory: u64) -> Result<StoredShape, Failure> {
    check_input(path)?;
    shape_file::read_file(path, max_memory).map_err(|error| Failure::of_baked_file(&error))
}

/// Reads a mesh and scales it to metres.
pub(crate) fn mesh(path: &Path, units: Units, max_memory: u64) -> Result<TriangleMesh, Failure> {
    check_input(path)?;
    let most = |bytes_each: usize, limit: usize| {
        let fitting = max_memory / bytes_each as u64;
        limit.min(usize::try_from(fitting).unwrap_or(usize::MAX))
    };
    let default = Limits::default();
    let limits = Limits {
        vertices: most(size_of::<glam::DVec3>(), default.vertices),
        faces: most(size_of::<[u32; 3]>(), default.faces),
        bytes: default.bytes.min(max_memory),
    };
    let mut mesh = read::read_file(path, &limits).map_err(|error| Failure::of_reading(&error))?;
    if units != Units::M {
        for vertex in &mut mesh.vertices {
            *vertex *= units.metres();
        }
    }
    Ok(mesh)
}

/// A field that was just baked.
pub(crate) struct BakedField {
    pub(crate) field: StoredField,
    pub(crate) provenance: Provenance,
    pub(crate) report: BakeReport,
    /// Number of values that were computed, if others were kept from an earlier field.
    pub(crate) recomputed: Option<usize>,
}

impl<F: Into<StoredField>> From<Baked<F>> for BakedField {
    fn from(baked: Baked<F>) -> BakedField {
        let Baked {
            field,
            provenance,
            report,
        } = baked.stored();
        BakedField {
            field,
            provenance,
            report,
            recomputed: None,
        }
    }
}

impl<F: Into<StoredField>> From<Rebaked<F>> for BakedField {
    fn from(rebaked: Rebaked<F>) -> BakedField {
        BakedField {
            recomputed: Some(rebaked.recomputed),
            ..rebaked.baked.into()
        }
    }
}

/// A field from before its mesh changed.
pub(crate) enum OldField {
    Dense(DenseGrid),
    /// A sparse field, with the width of its band in cells.
    Sparse {
        field: SparseBlocks,
        band: f64,
    },
}

/// The state from before a mesh changed.
pub(crate) struct Update {
    pub(crate) field: OldField,
    pub(crate) provenance: Provenance,
    /// The earlier mesh, if it is known.
    pub(crate) before: Option<TriangleMesh>,
    /// A box that contains all changes.
    pub(crate) changed: DAabb,
}

/// How a field is to be stored.
pub(crate) enum Storage {
    /// As a new field of some kind.
    New(FieldKind),
    /// On the same grid as an earlier field.
    Update(Box<Update>),
}

/// Bakes the mesh of the file `path`, with a progress bar.
pub(crate) fn bake_mesh(
    path: &Path,
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    storage: &Storage,
) -> Result<BakedField, Failure> {
    bake_mesh_on(path, mesh, settings, storage, None)
}

/// Bakes a mesh like [`bake_mesh`], on a GPU if one is given.
pub(crate) fn bake_mesh_on(
    path: &Path,
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    storage: &Storage,
    gpu: Option<&Gpu>,
) -> Result<BakedField, Failure> {
    let bar = BakeProgress::new(&name_of(path));
    let progress = |step| bar.show(step);
    let update = match storage {
        Storage::New(kind) => {
            if let Some(gpu) = gpu {
                return Ok(gpu.bake(path, mesh, settings, kind, &progress)?.into());
            }
            let baked = bake_field(mesh, settings, kind, &progress);
            let baked = baked.map_err(|error| Failure::of_bake(path, &error, settings))?;
            return Ok(baked.into());
        }
        Storage::Update(update) => update,
    };
    let (provenance, old_mesh) = (&update.provenance, update.before.as_ref());
    let rebaked = match &update.field {
        OldField::Dense(grid) => {
            let before = Before {
                grid,
                provenance,
                mesh: old_mesh,
            };
            rebake(&before, mesh, update.changed, settings, &progress).map(BakedField::from)
        }
        OldField::Sparse { field, band } => {
            let before = SparseBefore {
                field,
                provenance,
                mesh: old_mesh,
            };
            rebake_sparse(&before, mesh, update.changed, *band, settings, &progress)
                .map(BakedField::from)
        }
    };
    rebaked.map_err(|error| Failure::of_update(path, error, settings))
}

/// Returns the field of a baked file, or of a mesh that is baked now with default settings.
pub(crate) fn field(path: &Path, max_memory: u64) -> Result<Body, Failure> {
    if is_baked(path) {
        let stored = baked(path, max_memory)?;
        return Ok(Body {
            name: name_of(path),
            field: Arc::new(stored.field),
            provenance: stored.provenance,
            parts: Parts::default(),
        });
    }
    body(path, max_memory).map(|(body, _)| body)
}

/// Prints a note if a mesh was moved into a frame of its own.
fn note_origin(path: &Path, origin: DVec3) {
    if origin != DVec3::ZERO {
        note(&format!(
            "{}: too far from the origin for f32, so it is computed in a frame of its own, with the origin at {:?} m; points and poses \
             are in the frame of the mesh",
            path.display(),
            origin.to_array()
        ));
    }
}

/// Reads a field with its shell and faces, or bakes a mesh, which is returned as it is in the file.
pub(crate) fn body(path: &Path, max_memory: u64) -> Result<(Body, Option<TriangleMesh>), Failure> {
    let name = name_of(path);
    if is_baked(path) {
        let StoredShape {
            stored,
            shell,
            surface,
        } = baked_shape(path, max_memory)?;
        let body = Body {
            name,
            field: Arc::new(stored.field),
            provenance: stored.provenance,
            parts: Parts {
                shell: shell.map(Arc::new),
                surface: surface.map(Arc::new),
            },
        };
        return Ok((body, None));
    }
    let mesh = mesh(path, Units::M, max_memory)?;
    let settings = BakeSettings {
        max_memory,
        ..BakeSettings::default()
    };
    let BakedField {
        field, provenance, ..
    } = bake_mesh(path, &mesh, &settings, &Storage::New(FieldKind::Dense))
        .map_err(|failure| failure.of_default_bake())?;
    note_origin(path, provenance.origin);
    note(&format!(
        "{}: a mesh, baked in memory to {} nodes; `touchfield bake` keeps the result and chooses how fine",
        path.display(),
        report::nodes(&field)
    ));
    let body = Body {
        name,
        field: Arc::new(field),
        provenance,
        parts: Parts::default(),
    };
    Ok((body, Some(mesh)))
}

/// A shape that is ready for contact queries.
#[derive(Clone)]
pub(crate) struct LoadedShape {
    pub(crate) shape: Shape,
    /// Origin of its frame, in the frame of its mesh [m]; see [`Provenance::origin`].
    pub(crate) origin: DVec3,
    /// Memory that it occupies \[bytes\].
    pub(crate) bytes: u64,
}

/// Returns the shape of a file.
pub(crate) fn shape(path: &Path, max_memory: u64) -> Result<LoadedShape, Failure> {
    let (body, mesh) = body(path, max_memory)?;
    if let Some(nothing) = body.nothing_inside() {
        note(&nothing);
    }
    shape_of(path, &body, mesh.as_ref())
}

/// Returns the convex hull of the mesh in a file.
pub(crate) fn hull(path: &Path, max_memory: u64) -> Result<LoadedShape, Failure> {
    if is_baked(path) {
        return Err(Failure::in_file(
            path,
            "is a baked field, and --convex takes meshes; give the mesh it was baked from, or leave --convex out",
        ));
    }
    let mut mesh = mesh(path, Units::M, max_memory)?;
    /// Maximum memory per vertex while a hull is built \[bytes\].
    const BUILDING: u64 = 1000;
    let needed = BUILDING * mesh.vertices.len() as u64;
    if needed > max_memory {
        return Err(Failure::Limit(format!(
            "{}: the hull of {} vertices may take {}; raise --max-memory",
            path.display(),
            report::count_of(mesh.vertices.len()),
            report::bytes(needed)
        )));
    }
    let failed = |error: &dyn std::fmt::Display| Failure::in_file(path, error.to_string());
    // A hull has no cells; it should be as accurate as a grid with this many cells across.
    let bounds = mesh.bounds();
    let origin = frame_origin(bounds, bounds.diagonal() / 128.0);
    mesh.move_to_frame_at(origin);
    note_origin(path, origin);
    let hull = hull_of_mesh(&mesh).map_err(|error| failed(&error))?;
    let bytes = hull.bytes() as u64;
    let shape = Shape::convex(Convex::hull(Arc::new(hull))).map_err(|error| failed(&error))?;
    Ok(LoadedShape {
        shape,
        origin,
        bytes,
    })
}

/// Joins a field with its shell and faces: from its file, else from its mesh, else a shell of the
/// field's own surface.
pub(crate) fn shape_of(
    path: &Path,
    body: &Body,
    mesh: Option<&TriangleMesh>,
) -> Result<LoadedShape, Failure> {
    let (field, provenance) = (Arc::clone(&body.field), body.provenance.clone());
    let settings = ShapeSettings::default();
    let made = match mesh {
        Some(mesh) => MadeShape::of_mesh_and_field(mesh, field, provenance, &settings),
        None => {
            let Parts { shell, surface } = body.parts.clone();
            MadeShape::from_parts(field, provenance, shell, surface, &settings)
                .map_err(ShapeError::from)
        }
    };
    let shape = made.map_err(|error| Failure::of_shape(path, &error))?.shape;
    let shell = shape.shell().map_or(0, |shell| shell.bytes());
    let surface = shape.surface().map_or(0, |surface| surface.bytes());
    Ok(LoadedShape {
        bytes: body.bytes() - body.parts.bytes() as u64 + (shell + surface) as u64,
        shape,
        origin: body.provenance.origin,
    })
}

/// Returns the faces of a mesh that are kept beside its field.
pub(crate) fn kept_faces(
    path: &Path,
    mesh: &TriangleMesh,
    provenance: &Provenance,
) -> Result<Option<Surface>, Failure> {
    open::kept_faces(mesh, provenance).map_err(|error| Failure::in_file(path, error.to_string()))
}

/// Returns the last part of a path.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// Prints a note on stderr; an error in printing it is ignored.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "note: {}", terminal::line(text));
}
