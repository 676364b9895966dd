//! Meshes with a given number of faces.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use glam::{DVec3, UVec3, Vec3};
use touchfield::bake::{Bits, ConvertSettings, Keep, Target, convert};
use touchfield::field::{DenseGrid, GridError, GridLayout, SparseBlocks, StoredField};
use touchfield::geom::Aabb;
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate::{
    GenerateError, Icosphere, Torus, TorusKnot, icosphere, torus, torus_knot,
};
use touchfield::mesh::read::{Limits, read_file};

/// The mesh for which speeds are quoted, with its name.
pub struct Reference {
    /// The mesh.
    pub mesh: TriangleMesh,
    /// Name in tables.
    pub name: String,
}

/// Reads the mesh file at `path`; without one the bunny of `TOUCHFIELD_MESHES`; without that,
/// generates a knot with as many faces.
pub fn reference(path: Option<&Path>) -> Result<Reference, Box<dyn Error>> {
    let bunny = || -> Option<PathBuf> {
        let folder = std::env::var_os("TOUCHFIELD_MESHES")?;
        let path = Path::new(&folder).join("classic/glmark2_bunny.obj");
        path.is_file().then_some(path)
    };
    let (mesh, name) = match path.map(Path::to_path_buf).or_else(bunny) {
        Some(path) => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            (read_file(&path, &Limits::default())?, stem.into_owned())
        }
        None => (knot(69_666)?, "generated torus knot".to_owned()),
    };
    Ok(Reference { mesh, name })
}

/// Generates a torus knot of about `faces` faces: concave, with parts near each other.
pub fn knot(faces: u32) -> Result<TriangleMesh, GenerateError> {
    // Ten times as many segments along the knot as around it make triangles about as long as wide.
    let sides = (f64::from(faces) / 20.0).sqrt().round() as u32;
    torus_knot(TorusKnot {
        segments: faces / (2 * sides),
        sides,
        ..Default::default()
    })
}

/// Generates a torus of about `faces` faces.
pub fn ring(faces: u32) -> Result<TriangleMesh, GenerateError> {
    let minor_segments = (f64::from(faces) / 5.0).sqrt().round() as u32;
    torus(Torus {
        major_segments: faces / (2 * minor_segments),
        minor_segments,
        ..Default::default()
    })
}

/// Generates a sphere of `20 · 4^level` faces. All faces are equally near to the centre, where a
/// search cannot prune any.
pub fn sphere(level: u32) -> Result<TriangleMesh, GenerateError> {
    icosphere(Icosphere {
        level,
        ..Default::default()
    })
}

/// Generates a double cone of `faces` slivers that all reach from one tip or the other to a rim:
/// every box of a hierarchy overlaps its neighbours, so that boxes prune little.
pub fn slivers(faces: u32) -> TriangleMesh {
    let around = faces / 2;
    let rim = |i: u32| {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(around);
        DVec3::new(0.05 * angle.cos(), 0.05 * angle.sin(), 0.0)
    };
    let mut mesh = TriangleMesh {
        vertices: (0..around).map(rim).collect(),
        faces: Vec::with_capacity(faces as usize),
    };
    let (top, bottom) = (around, around + 1);
    mesh.vertices.extend([0.02, -0.02].map(|z| z * DVec3::Z));
    for i in 0..around {
        let next = (i + 1) % around;
        mesh.faces.extend([[i, next, top], [next, i, bottom]]);
    }
    mesh
}

/// Builds a grid with `nodes` nodes per side that holds the distance to a sphere, for sampling
/// benches, where only its size matters.
pub fn sphere_grid(nodes: u32) -> Result<DenseGrid, GridError> {
    /// Radius of the sphere \[m\].
    const RADIUS: f32 = 0.05;
    /// Half the side of the grid \[m\].
    const HALF: f32 = 0.06;
    let layout = GridLayout {
        origin: Vec3::splat(-HALF),
        cell_size: 2.0 * HALF / (nodes - 1) as f32,
        nodes: UVec3::splat(nodes),
    };
    let row = |y: u32, z: u32| {
        (0..nodes).map(move |x| layout.node_position(UVec3::new(x, y, z)).length() as f32 - RADIUS)
    };
    let values = (0..nodes)
        .flat_map(|z| (0..nodes).flat_map(move |y| row(y, z)))
        .collect();
    let solid = Aabb::from_center(Vec3::ZERO, Vec3::splat(RADIUS));
    DenseGrid::new(layout, values, solid, layout.cell_size)
}

/// Converts a grid to 16-bit sparse blocks of the same cells, in a narrow band of three cells.
pub fn sphere_blocks(grid: &DenseGrid) -> Result<SparseBlocks, Box<dyn Error>> {
    let settings = ConvertSettings {
        target: Target::Sparse {
            keep: Keep::Band(3.0),
            bits: Bits::Sixteen,
        },
        ..Default::default()
    };
    let field = StoredField::from(grid.clone());
    match convert(&field, &settings, &|_| ControlFlow::Continue(()))? {
        StoredField::Sparse(blocks) => Ok(blocks),
        _ => Err("a conversion to blocks gives blocks".into()),
    }
}

#[cfg(test)]
mod tests {
    use touchfield::mesh::validate;

    use super::*;

    #[test]
    fn models_are_clean_and_of_the_size_they_say() {
        let check = |mesh: TriangleMesh, faces: u32| {
            let (found, wanted) = (mesh.faces.len() as f64, f64::from(faces));
            assert!((found / wanted - 1.0).abs() < 0.05, "{found} for {wanted}");
            assert!(mesh.signed_volume() > 0.0);
            assert!(validate(&mesh).watertight);
        };
        for faces in [1_000, 16_384, 69_666] {
            check(knot(faces).unwrap(), faces);
            check(ring(faces).unwrap(), faces);
        }
        // Every pair of slivers is a candidate for self-intersection, so use few of them.
        check(slivers(1_000), 1_000);
    }
}
