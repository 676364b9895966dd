//! Reads mesh files: OBJ, STL, PLY, OFF, glTF and GLB into one [`TriangleMesh`].
//!
//! Input: a file or its bytes, and [`Limits`].
//! Output: one [`TriangleMesh`] with every index in range and at least one face, or a [`ReadError`]
//! with the location. NaN, infinite and degenerate geometry passes; `validate` reports it.
//! Cost: one or two passes over the bytes; memory proportional to the bytes that exist, never to a
//! count that the file declares.
//! Not for: normals, colours, materials, animation and skinning, which are skipped.
//!
//! Polygons are triangulated. STL and glTF cannot share a vertex between facets, or between faces
//! that differ in normal or texture, so there vertices at bit-identical positions are merged; the
//! other formats keep the vertices of the file.

mod builder;
mod error;
mod gltf;
mod limits;
pub use limits::Limits;
mod obj;
mod off;
mod ply;
mod polygon;
mod stl;
mod text;
mod weld;

use crate::mesh::read::limits::byte_limit;
use crate::mesh::read::limits::file_bytes;
use std::path::Path;

pub use error::{Cause, Element, LimitKind, Place, ReadError};

use super::TriangleMesh;

/// A mesh file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Wavefront OBJ.
    Obj,
    /// Stereolithography, text or binary.
    Stl,
    /// Stanford polygon file, text or binary.
    Ply,
    /// Object file format of Geomview.
    Off,
    /// glTF 2.0, JSON.
    Gltf,
    /// glTF 2.0, binary container.
    Glb,
}

impl Format {
    /// Returns the format that corresponds to the extension of `path`, in upper or lower case.
    pub fn from_path(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "obj" => Format::Obj,
            "stl" => Format::Stl,
            "ply" => Format::Ply,
            "off" => Format::Off,
            "gltf" => Format::Gltf,
            "glb" => Format::Glb,
            _ => return None,
        })
    }

    /// Guesses the format from the content, for files without a known extension.
    pub fn from_content(bytes: &[u8]) -> Option<Format> {
        // OBJ comes last: it has no signature, only lines of a typical form.
        if bytes.starts_with(gltf::GLB_MAGIC) {
            Some(Format::Glb)
        } else if bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r") {
            Some(Format::Ply)
        } else if stl::looks_like(bytes) {
            Some(Format::Stl)
        } else if bytes.trim_ascii_start().starts_with(b"{") {
            Some(Format::Gltf)
        } else if off::looks_like(bytes) {
            Some(Format::Off)
        } else if obj::looks_like(bytes) {
            Some(Format::Obj)
        } else {
            None
        }
    }
}

/// Reads a mesh file. The format follows from its extension, or from its content when the extension
/// is unknown.
///
/// Buffers of a glTF file are read only from the file's folder and the folders inside it.
pub fn read_file(path: &Path, limits: &Limits) -> Result<TriangleMesh, ReadError> {
    let read = || {
        let bytes = file_bytes(path, limits.bytes).map_err(|cause| cause.at(Place::WholeFile))?;
        let format = Format::from_path(path)
            .or_else(|| Format::from_content(&bytes))
            .ok_or_else(|| Cause::UnknownFormat.at(Place::WholeFile))?;
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        read_in_folder(&bytes, format, Some(folder), limits)
    };
    read().map_err(|error| error.in_file(path))
}

/// Reads a mesh from the bytes of a file. A glTF file must embed its buffers.
pub fn read_bytes(
    bytes: &[u8],
    format: Format,
    limits: &Limits,
) -> Result<TriangleMesh, ReadError> {
    read_in_folder(bytes, format, None, limits)
}

fn read_in_folder(
    bytes: &[u8],
    format: Format,
    folder: Option<&Path>,
    limits: &Limits,
) -> Result<TriangleMesh, ReadError> {
    if bytes.len() as u64 > limits.bytes {
        return Err(byte_limit(bytes.len() as u64, limits.bytes).at(Place::WholeFile));
    }
    let mesh = match format {
        Format::Obj => obj::read(bytes, limits),
        Format::Stl => stl::read(bytes, limits),
        Format::Ply => ply::read(bytes, limits),
        Format::Off => off::read(bytes, limits),
        Format::Gltf | Format::Glb => gltf::read(bytes, folder, limits),
    }?;
    if mesh.faces.is_empty() {
        let points = mesh.vertices.len();
        return Err(Cause::NoFaces { points }.at(Place::WholeFile));
    }
    Ok(mesh)
}
