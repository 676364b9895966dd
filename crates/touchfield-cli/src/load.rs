//! Files in: a mesh or a baked field, told apart by content first and by extension second.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use touchfield::bake::{BakeSettings, Baked, bake};
use touchfield::field::file::{self, Stored};
use touchfield::field::{DenseGrid, Provenance};
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::read::{self, Limits};

use crate::args::{Common, Units};
use crate::failure::Failure;
use crate::progress::BakeProgress;
use crate::report;

/// How a `.tfs` file begins, whatever its name (docs/FILE_FORMAT.md).
const SIGNATURE: [u8; 8] = *b"\x89TFS\r\n\x1a\n";

/// A field and its name for titles.
pub(crate) struct Body {
    pub(crate) name: String,
    pub(crate) grid: DenseGrid,
    pub(crate) provenance: Provenance,
}

/// Whether a file holds a baked field, or at least claims to by its extension.
pub(crate) fn is_baked(path: &Path) -> bool {
    let mut start = [0; SIGNATURE.len()];
    let magic = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    (magic.is_ok() && start == SIGNATURE)
        || path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("tfs"))
}

/// Reads a baked file.
pub(crate) fn baked(path: &Path, common: &Common) -> Result<Stored, Failure> {
    file::read_file(path, common.max_memory.0).map_err(|error| Failure::of_baked_file(&error))
}

/// Reads a mesh and scales it to metres.
pub(crate) fn mesh(path: &Path, units: Units, common: &Common) -> Result<TriangleMesh, Failure> {
    let most = |bytes_each: usize, limit: usize| {
        let fitting = common.max_memory.0 / bytes_each as u64;
        limit.min(usize::try_from(fitting).unwrap_or(usize::MAX))
    };
    let default = Limits::default();
    let limits = Limits {
        vertices: most(size_of::<glam::DVec3>(), default.vertices),
        faces: most(size_of::<[u32; 3]>(), default.faces),
        bytes: default.bytes.min(common.max_memory.0),
    };
    let mut mesh = read::read_file(path, &limits).map_err(|error| Failure::of_reading(&error))?;
    if units != Units::M {
        for vertex in &mut mesh.vertices {
            *vertex *= units.metres();
        }
    }
    Ok(mesh)
}

/// Bakes the mesh that `path` holds, with a progress bar.
pub(crate) fn bake_mesh(
    path: &Path,
    mesh: &TriangleMesh,
    settings: &BakeSettings,
) -> Result<Baked, Failure> {
    let progress = BakeProgress::new(&name_of(path));
    bake(mesh, settings, &|step| progress.show(step))
        .map_err(|error| Failure::of_bake(path, &error))
}

/// The field of a baked file, or of a mesh that is baked here and now with default settings.
pub(crate) fn field(path: &Path, common: &Common) -> Result<Body, Failure> {
    let name = name_of(path);
    if is_baked(path) {
        let Stored {
            grid, provenance, ..
        } = baked(path, common)?;
        return Ok(Body {
            name,
            grid,
            provenance,
        });
    }
    let mesh = mesh(path, Units::M, common)?;
    let settings = BakeSettings {
        max_memory: common.max_memory.0,
        ..BakeSettings::default()
    };
    let Baked {
        grid, provenance, ..
    } = bake_mesh(path, &mesh, &settings)?;
    note(&format!(
        "{}: a mesh, baked in memory to {} nodes; `touchfield bake` keeps the result and chooses how fine",
        path.display(),
        report::nodes(&grid)
    ));
    Ok(Body {
        name,
        grid,
        provenance,
    })
}

/// The last part of a path.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// A remark on stderr; if nobody takes it, it is not worth failing for.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "note: {text}");
}
