//! Contact data stored beside a field in the same `.tfs` file: a point shell with its spheres and
//! areas, and the triangles of the surface.
//!
//! Input: a stored field, its provenance, a [`PointShell`] and a [`Surface`]; or a file and a
//! memory limit.
//! Output: the same data to the bit, or a [`FileError`] that locates the defect.
//! Cost: one pass over the numbers; the boxes and discs of a surface are rebuilt.
//! Not for: fields alone; see [`crate::field::file`], whose readers skip these chunks.
//!
//! docs/FILE_FORMAT.md describes the chunks. Nothing in a file is trusted: a shell is checked point
//! by point against its spheres, a surface triangle by triangle.

use std::path::Path;
use std::sync::Arc;

use glam::Vec3;

use super::{Shape, Surface};
use crate::field::file::{self, FileError, Stored, Tag, Words};
use crate::field::{Provenance, StoredField};
use crate::geom::Triangle;
use crate::pointshell::{PointShell, SphereNode, SphereTree};

const LEVELS: Tag = Tag(*b"SHEL");
const POINTS: Tag = Tag(*b"SHPT");
const NORMALS: Tag = Tag(*b"SHNM");
const SPHERES: Tag = Tag(*b"SHSP");
const AREAS: Tag = Tag(*b"SHAR");
const VERTICES: Tag = Tag(*b"SFVT");
const TRIANGLES: Tag = Tag(*b"SFTR");
const TAGS: [Tag; 7] = [LEVELS, POINTS, NORMALS, SPHERES, VERTICES, TRIANGLES, AREAS];
/// Number of words per sphere.
const SPHERE: usize = 9;

/// Content of a `.tfs` file for contact queries.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredShape {
    /// Field with its provenance.
    pub stored: Stored,
    /// Points on the surface, if stored.
    pub shell: Option<PointShell>,
    /// Triangles from which the field's distances were computed, if stored.
    pub surface: Option<Surface>,
}

impl StoredShape {
    /// Converts the content to a shape and the provenance of its field.
    pub fn into_shape(self) -> (Shape, Provenance) {
        let mut shape = Shape::stored(Arc::new(self.stored.field));
        if let Some(shell) = self.shell {
            shape = shape.with_shell(Arc::new(shell));
        }
        if let Some(surface) = self.surface {
            shape = shape.with_exact_surface(Arc::new(surface));
        }
        (shape, self.stored.provenance)
    }
}

/// Writes a field with points and triangles of its surface, and returns the number of bytes.
/// Otherwise like [`file::write_file`].
pub fn write_file(
    path: &Path,
    field: &StoredField,
    provenance: &Provenance,
    shell: Option<&PointShell>,
    surface: Option<&Surface>,
) -> Result<u64, FileError> {
    file::write_file_with(path, field, provenance, &chunks(shell, surface))
}

/// Reads a file written by [`write_file`], or by [`file::write_file`] with a field alone. Uses at
/// most `max_memory` bytes, plus the tree over the triangles: about 200 bytes per triangle.
pub fn read_file(path: &Path, max_memory: u64) -> Result<StoredShape, FileError> {
    let (stored, more) = file::read_file_with(path, max_memory, &TAGS)?;
    whole(stored, &more).map_err(|error| error.in_file(path))
}

/// Returns the bytes of the file that [`write_file`] writes.
pub fn to_bytes(
    field: &StoredField,
    provenance: &Provenance,
    shell: Option<&PointShell>,
    surface: Option<&Surface>,
) -> Vec<u8> {
    file::to_bytes_with(field, provenance, &chunks(shell, surface))
}

/// Parses the bytes of a file. For memory limits see [`file::from_bytes`] and [`read_file`].
pub fn from_bytes(bytes: &[u8], max_memory: u64) -> Result<StoredShape, FileError> {
    let (stored, more) = file::from_bytes_with(bytes, max_memory, &TAGS)?;
    whole(stored, &more)
}

fn chunks(shell: Option<&PointShell>, surface: Option<&Surface>) -> Vec<Words> {
    let mut chunks = Vec::new();
    if let Some(shell) = shell {
        let tree = shell.tree();
        let head = [shell.covering_radius().to_bits()];
        let levels = head.into_iter().chain(tree.levels().iter().copied());
        chunks.push(Words::of_numbers(LEVELS, levels.collect()));
        chunks.push(Words::of_floats(POINTS, planes(shell.points())));
        chunks.push(Words::of_floats(NORMALS, planes(shell.normals())));
        let spheres = tree.nodes().iter().flat_map(words_of_sphere).collect();
        chunks.push(Words::of_numbers(SPHERES, spheres));
        chunks.push(Words::of_floats(AREAS, shell.areas().iter().copied()));
    }
    if let Some(surface) = surface {
        chunks.push(Words::of_floats(VERTICES, planes(surface.vertices())));
        let corners = surface.triangles().iter().flatten().copied().collect();
        chunks.push(Words::of_numbers(TRIANGLES, corners));
    }
    chunks
}

fn whole(stored: Stored, chunks: &[Words]) -> Result<StoredShape, FileError> {
    let find = |tag: Tag| chunks.iter().find(|chunk| chunk.tag == tag);
    // Chunks of a group must be present together.
    let together = |tags: &[Tag]| -> Result<bool, FileError> {
        let present = tags.iter().filter_map(|&tag| find(tag)).count();
        match tags.iter().find(|&&tag| find(tag).is_none()) {
            Some(&tag) if present > 0 => Err(FileError::missing(tag)),
            missing => Ok(missing.is_none()),
        }
    };
    let get = |tag: Tag| find(tag).ok_or_else(|| FileError::missing(tag));
    let shell = match together(&TAGS[..4])? {
        true => Some(shell(
            get(LEVELS)?,
            get(POINTS)?,
            get(NORMALS)?,
            get(SPHERES)?,
        )?),
        false => None,
    };
    let surface = match together(&TAGS[4..6])? {
        true => {
            let (vertices, triangles) = (get(VERTICES)?, get(TRIANGLES)?);
            let (corners, []) = triangles.words.as_chunks() else {
                return Err(triangles.error("triangles are not three numbers each".to_owned()));
            };
            let surface = Surface::new(points(vertices)?, corners);
            Some(surface.map_err(|error| triangles.error(error.to_string()))?)
        }
        false => None,
    };
    let shell = match (shell, find(AREAS)) {
        (Some(shell), Some(chunk)) => {
            let areas = chunk
                .words
                .iter()
                .map(|&bits| f32::from_bits(bits))
                .collect();
            Some((shell.with_areas(areas)).map_err(|error| chunk.error(error.to_string()))?)
        }
        // Files of before have no areas.
        (Some(shell), None) => Some(match &surface {
            Some(surface) => with_areas_of_surface(shell, surface),
            None => shell,
        }),
        (None, Some(_)) => return Err(FileError::missing(LEVELS)),
        (None, None) => None,
    };
    Ok(StoredShape {
        stored,
        shell,
        surface,
    })
}

/// Returns the shell with the areas that its points represent of the triangles of a surface.
fn with_areas_of_surface(shell: PointShell, surface: &Surface) -> PointShell {
    shell.with_areas_of_each(surface.triangles().len(), |index| {
        let [a, b, c] = surface.corners(index as u32).map(Vec3::as_dvec3);
        Triangle { a, b, c }
    })
}

/// Largest coordinate accepted \[m\]: larger ones may overflow `f32` when rotated and added up.
const MOST: f32 = 1e37;

/// Decodes points, and checks that queries can add up their coordinates.
fn points(chunk: &Words) -> Result<Vec<Vec3>, FileError> {
    let points = vectors(chunk)?;
    let is_within = |point: &Vec3| point.to_array().iter().all(|x| x.abs() <= MOST);
    match points.iter().find(|&point| !is_within(point)) {
        Some(point) => Err(chunk.error(format!(
            "({}, {}, {}) is not within 10³⁷ m of 0",
            point.x, point.y, point.z
        ))),
        None => Ok(points),
    }
}

/// Decodes normals, and checks that they are of unit length.
fn normals(chunk: &Words) -> Result<Vec<Vec3>, FileError> {
    let normals = vectors(chunk)?;
    match normals.iter().find(|normal| !normal.is_normalized()) {
        Some(normal) => Err(chunk.error(format!(
            "({}, {}, {}) is not of length 1",
            normal.x, normal.y, normal.z
        ))),
        None => Ok(normals),
    }
}

fn shell(
    levels: &Words,
    places: &Words,
    directions: &Words,
    spheres: &Words,
) -> Result<PointShell, FileError> {
    let Some((&covering_radius, levels_words)) = levels.words.split_first() else {
        return Err(levels.error("a shell without a covering radius".to_owned()));
    };
    let (words, []) = spheres.words.as_chunks() else {
        return Err(spheres.error("spheres are not nine words each".to_owned()));
    };
    let tree = SphereTree::new(
        words.iter().map(sphere_of_words).collect(),
        levels_words.to_vec(),
    );
    let points = points(places)?;
    // Checked before decoding: if a coordinate plane is too short, all numbers behind it are
    // shifted.
    if directions.words.len() != 3 * points.len() {
        let (found, wanted) = (directions.words.len() / 3, points.len());
        return Err(directions.error(format!("{found} normals for {wanted} points")));
    }
    PointShell::new(
        points,
        normals(directions)?,
        f32::from_bits(covering_radius),
        tree,
    )
    .map_err(|error| levels.error(error.to_string()))
}

/// Returns all x, then all y, then all z, so that similar numbers follow one another.
fn planes(vectors: &[Vec3]) -> impl Iterator<Item = f32> {
    (0..3).flat_map(|axis| vectors.iter().map(move |vector| vector[axis]))
}

fn vectors(chunk: &Words) -> Result<Vec<Vec3>, FileError> {
    if !chunk.words.len().is_multiple_of(3) {
        return Err(chunk.error("points are not three numbers each".to_owned()));
    }
    let count = chunk.words.len() / 3;
    let number = |axis: usize, index: usize| f32::from_bits(chunk.words[axis * count + index]);
    Ok((0..count)
        .map(|index| Vec3::new(number(0, index), number(1, index), number(2, index)))
        .collect())
}

fn words_of_sphere(node: &SphereNode) -> [u32; SPHERE] {
    let [x, y, z] = node.center.to_array().map(f32::to_bits);
    [
        x,
        y,
        z,
        node.radius.to_bits(),
        node.first_point,
        node.point_count,
        node.first_child,
        node.child_count,
        node.representative,
    ]
}

fn sphere_of_words(&words: &[u32; SPHERE]) -> SphereNode {
    let [
        x,
        y,
        z,
        radius,
        first_point,
        point_count,
        first_child,
        child_count,
        representative,
    ] = words;
    SphereNode {
        center: Vec3::from_array([x, y, z].map(f32::from_bits)),
        radius: f32::from_bits(radius),
        first_point,
        point_count,
        first_child,
        child_count,
        representative,
    }
}
