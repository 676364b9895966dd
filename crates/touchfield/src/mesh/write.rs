//! Writes mesh files: OBJ, binary STL and binary PLY.
//!
//! Input: a [`TriangleMesh`] whose indices are in range, and a writer or a path.
//! Output: OBJ and PLY keep every coordinate to the bit; STL has `f32` and no shared vertices.
//! Cost: one pass. [`write_file`] writes to a temporary name and renames the file when complete.
//! Not for: normals, colours, materials.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use glam::Vec3;

use super::TriangleMesh;
use super::read::Format;
use crate::atomic_file;

/// Reason why a mesh could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The operating system reported an error.
    #[error("cannot write the mesh: {0}")]
    Io(#[from] io::Error),
    /// A face refers to a vertex that does not exist.
    #[error(
        "face {face} names vertex {index}, but there are {vertices} vertices; repair the mesh first"
    )]
    IndexOutOfRange {
        /// The first such face.
        face: usize,
        /// The index in the face.
        index: u32,
        /// Number of vertices of the mesh.
        vertices: usize,
    },
    /// STL stores the number of facets as a `u32`.
    #[error("{faces} faces, and STL holds at most 4294967295; write .ply")]
    TooManyFaces {
        /// Number of faces of the mesh.
        faces: usize,
    },
    /// STL coordinates are `f32`.
    #[error("vertex {vertex} is too far out for the f32 of STL; write .ply or .obj")]
    TooLargeForStl {
        /// The first such vertex.
        vertex: usize,
    },
    /// The extension does not name a supported format.
    #[error("{}: unknown extension for a mesh; use .obj, .stl or .ply", .path.display())]
    UnknownFormat {
        /// The path as given.
        path: PathBuf,
    },
}

/// Writes a mesh in the format of `path`'s extension: `.obj`, `.stl` or `.ply`.
///
/// The file is written beside its destination under another name and renamed when complete, so that
/// readers never see a partial file.
pub fn write_file(path: &Path, mesh: &TriangleMesh) -> Result<(), WriteError> {
    let write: fn(&mut BufWriter<File>, &TriangleMesh) -> Result<(), WriteError> =
        match Format::from_path(path) {
            Some(Format::Obj) => write_obj,
            Some(Format::Stl) => write_stl,
            Some(Format::Ply) => write_ply,
            _ => {
                let path = path.to_owned();
                return Err(WriteError::UnknownFormat { path });
            }
        };
    atomic_file::write(path, |out| write(out, mesh))
}

/// Writes Wavefront OBJ, each coordinate with enough digits to read back the same value.
pub fn write_obj(out: &mut impl Write, mesh: &TriangleMesh) -> Result<(), WriteError> {
    check_indices(mesh)?;
    for vertex in &mesh.vertices {
        // `{:?}` is exact and turns to exponents where `{}` would write hundreds of zeros.
        writeln!(out, "v {:?} {:?} {:?}", vertex.x, vertex.y, vertex.z)?;
    }
    for face in &mesh.faces {
        let [a, b, c] = face.map(|v| u64::from(v) + 1);
        writeln!(out, "f {a} {b} {c}")?;
    }
    Ok(())
}

/// Writes binary STL. Normals of faces without area are zero, as the format requires.
pub fn write_stl(out: &mut impl Write, mesh: &TriangleMesh) -> Result<(), WriteError> {
    check_indices(mesh)?;
    let faces = mesh.faces.len();
    let count = u32::try_from(faces).map_err(|_| WriteError::TooManyFaces { faces })?;
    let overflows = |x: f64| x.is_finite() && !(x as f32).is_finite();
    if let Some(vertex) = mesh
        .vertices
        .iter()
        .position(|vertex| vertex.to_array().into_iter().any(overflows))
    {
        return Err(WriteError::TooLargeForStl { vertex });
    }
    // Not "solid": some readers would take the file for text.
    let mut header = [b' '; 80];
    let title = b"binary STL by touchfield";
    header[..title.len()].copy_from_slice(title);
    out.write_all(&header)?;
    out.write_all(&count.to_le_bytes())?;
    for triangle in mesh.triangles() {
        let normal = triangle
            .normal()
            .map_or(Vec3::ZERO, |normal| normal.as_vec3());
        let corners = triangle.corners().map(|corner| corner.as_vec3());
        let mut facet = [0; 50];
        for (i, vector) in [normal].into_iter().chain(corners).enumerate() {
            for (axis, value) in vector.to_array().into_iter().enumerate() {
                let at = 12 * i + 4 * axis;
                facet[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
        }
        out.write_all(&facet)?;
    }
    Ok(())
}

/// Writes binary little-endian PLY with `double` coordinates.
pub fn write_ply(out: &mut impl Write, mesh: &TriangleMesh) -> Result<(), WriteError> {
    check_indices(mesh)?;
    // More programs read `int` than `uint`.
    let index = if mesh.vertices.len() <= i32::MAX as usize {
        "int"
    } else {
        "uint"
    };
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment touchfield\nelement vertex {}\n\
         property double x\nproperty double y\nproperty double z\nelement face {}\n\
         property list uchar {index} vertex_indices\nend_header\n",
        mesh.vertices.len(),
        mesh.faces.len()
    )?;
    for vertex in &mesh.vertices {
        for value in vertex.to_array() {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    for face in &mesh.faces {
        out.write_all(&[3])?;
        for vertex in face {
            out.write_all(&vertex.to_le_bytes())?;
        }
    }
    Ok(())
}

fn check_indices(mesh: &TriangleMesh) -> Result<(), WriteError> {
    let vertices = mesh.vertices.len();
    for (face, corners) in mesh.faces.iter().enumerate() {
        if let Some(&index) = corners.iter().find(|&&v| v as usize >= vertices) {
            return Err(WriteError::IndexOutOfRange {
                face,
                index,
                vertices,
            });
        }
    }
    Ok(())
}
