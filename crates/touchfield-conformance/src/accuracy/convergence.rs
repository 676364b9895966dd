//! Convergence of the error of a field over its cell size and its memory: figures, a section of
//! docs/ACCURACY.md, a plot.
//!
//! Input: shapes in closed form, or a mesh.
//! Output: the largest and the mean error for each representation and size.
//! Cost: a second for the closed forms; minutes for a mesh of 256 nodes.
//! Not for: promised bounds (`accuracy`).
//!
//! Errors are measured within a cell of the surface, which is away from the medial axis of the
//! closed forms. Fields of closed forms, sparse ones too, are stored directly from their formula,
//! so that no mesh adds error.

use std::error::Error;
use std::fmt::Write;

use glam::{DVec3, UVec3, Vec3};
use touchfield::bake::{Bits, ExactDistance, SignChoice};
use touchfield::field::{
    DenseGrid, Field, GridLayout, PLAIN, Sample, SparseBlock, SparseBlocks, SparseParts,
    SparseValues, TaylorGrid,
};
use touchfield::geom::Aabb;
use touchfield::mesh::TriangleMesh;

use crate::plot::{Panel, Series, svg};
use crate::random::Random;
use crate::representations::Representation;

/// Representations to compare, in the order of the plot.
pub const KINDS: [Representation; 5] = [
    Representation::Dense,
    Representation::Taylor,
    Representation::Band(Bits::Eight),
    Representation::Band(Bits::Sixteen),
    Representation::Band(Bits::ThirtyTwo),
];

/// Cells along a side of the grids around closed forms; multiples of eight, the size of a block.
pub const CELLS: [u32; 7] = [16, 24, 32, 48, 64, 96, 128];

/// Half the side of the grids around closed forms \[m\].
const REACH: f64 = 1.6;
/// Random points per field.
const POINTS: usize = 10_000;
/// Greatest distance of the points from the surface \[cells\].
const NEAR: f64 = 1.0;

/// A shape about the origin, in closed form.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Name in tables.
    pub name: &'static str,
    /// Signed distance \[m\].
    pub distance: fn(DVec3) -> f64,
    /// Unit gradient.
    pub gradient: fn(DVec3) -> DVec3,
}

/// A ball of 1 m radius, and a torus around the z axis with radii of 1 m and 0.4 m.
pub const SHAPES: [Shape; 2] = [
    Shape {
        name: "sphere",
        distance: |p| p.length() - 1.0,
        gradient: |p| p.normalize_or(DVec3::X),
    },
    Shape {
        name: "torus",
        distance: |p| (p.truncate().length() - 1.0).hypot(p.z) - 0.4,
        gradient: |p| {
            let ring = p.with_z(0.0).normalize_or(DVec3::X);
            (p - ring).normalize_or(DVec3::Z)
        },
    },
];

/// Measurements of one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Size of the finest cells \[m\].
    pub cell_size: f64,
    /// Memory of the field \[bytes\].
    pub bytes: usize,
    /// Largest error \[m\].
    pub largest_error: f64,
    /// Mean error \[m\].
    pub mean_error: f64,
}

/// Measurements of one representation, from coarse to fine.
pub struct Curve {
    /// The representation.
    pub kind: Representation,
    /// One measurement per size.
    pub measured: Vec<Measured>,
}

/// Measures all representations of a closed form.
pub fn of_shape(shape: Shape, cells: &[u32]) -> Result<Vec<Curve>, Box<dyn Error>> {
    let measured = |kind: Representation| {
        let sizes = cells.iter().map(|&cells| measure_shape(shape, kind, cells));
        sizes.collect::<Result<Vec<_>, _>>()
    };
    let curve = |kind| -> Result<Curve, Box<dyn Error>> {
        let measured = measured(kind)?;
        Ok(Curve { kind, measured })
    };
    KINDS.into_iter().map(curve).collect()
}

/// Measures one representation of a closed form with `cells` cells along a side, a multiple of
/// eight.
pub fn measure_shape(
    shape: Shape,
    kind: Representation,
    cells: u32,
) -> Result<Measured, Box<dyn Error>> {
    let layout = layout(cells);
    let (field, bytes): (Box<dyn Field>, usize) = match kind {
        Representation::Dense => {
            let grid = dense(shape, layout)?;
            let bytes = grid.bytes();
            (Box::new(grid), bytes)
        }
        Representation::Taylor => {
            let grid = taylor(shape, layout)?;
            let bytes = grid.bytes();
            (Box::new(grid), bytes)
        }
        Representation::Band(bits) => {
            let field = sparse(shape, layout, bits)?;
            let bytes = field.bytes();
            (Box::new(field), bytes)
        }
        _ => return Err(format!("{} is not compared", kind.name()).into()),
    };
    let mut random = Random::new(5);
    let cell_size = f64::from(layout.cell_size);
    let place = |random: &mut Random| {
        // Project a random point to the surface, then move it up or down.
        let point = random.in_box(DVec3::splat(-REACH), DVec3::splat(REACH));
        let normal = (shape.gradient)(point);
        let on = point - (shape.distance)(point) * normal;
        (on + random.uniform(-NEAR, NEAR) * cell_size * normal).as_vec3()
    };
    let points: Vec<Vec3> = (0..POINTS).map(|_| place(&mut random)).collect();
    let truths = points.iter().map(|p| (shape.distance)(p.as_dvec3()));
    Ok(measure(&*field, bytes, cell_size, &points, truths))
}

/// Measures all representations of a mesh with the given nodes along its longest side, against its
/// exact distance.
pub fn of_mesh(mesh: &TriangleMesh, nodes: &[u32]) -> Result<Vec<Curve>, Box<dyn Error>> {
    let curve = |kind: Representation| -> Result<Curve, Box<dyn Error>> {
        let sizes = nodes.iter().map(|&nodes| of_mesh_as(mesh, kind, nodes));
        let measured = sizes.collect::<Result<_, _>>()?;
        Ok(Curve { kind, measured })
    };
    KINDS.into_iter().map(curve).collect()
}

/// Measures one representation of a mesh.
pub fn of_mesh_as(
    mesh: &TriangleMesh,
    kind: Representation,
    nodes: u32,
) -> Result<Measured, Box<dyn Error>> {
    let exact = ExactDistance::new(mesh, SignChoice::Auto)?;
    let stored = kind.bake(mesh, nodes)?;
    let cell_size = f64::from(stored.finest_cell_size());
    let mut random = Random::new(6);
    let mut place = || {
        let triangle = mesh.triangle(random.below(mesh.faces.len()));
        let weights = random.in_box(DVec3::ZERO, DVec3::ONE);
        let [a, b, c] = triangle.corners();
        let on = (weights.x * a + weights.y * b + weights.z * c) / weights.element_sum();
        let off = random.uniform(0.0, NEAR) * cell_size * random.unit_vector();
        (on + off).as_vec3()
    };
    let points: Vec<Vec3> = (0..POINTS).map(|_| place()).collect();
    let exactly: Vec<DVec3> = points.iter().map(|p| p.as_dvec3()).collect();
    let truths = exact.distance_many(&exactly).into_iter();
    let bytes = stored.bytes();
    Ok(measure(&stored, bytes, cell_size, &points, truths))
}

fn measure(
    field: &dyn Field,
    bytes: usize,
    cell_size: f64,
    points: &[Vec3],
    truths: impl Iterator<Item = f64>,
) -> Measured {
    let (mut largest_error, mut sum, mut count) = (0.0f64, 0.0, 0.0);
    for (&point, truth) in points.iter().zip(truths) {
        if !field.bounds().contains(point) {
            continue;
        }
        count += 1.0;
        let error = (f64::from(field.distance(point)) - truth).abs();
        largest_error = largest_error.max(error);
        sum += error;
    }
    Measured {
        cell_size,
        bytes,
        largest_error,
        mean_error: sum / count,
    }
}

/// Returns the order of convergence between two sizes: `error` as a power of the cell size.
pub fn slope(coarse: &Measured, fine: &Measured, error: impl Fn(&Measured) -> f64) -> f64 {
    (error(coarse) / error(fine)).ln() / (coarse.cell_size / fine.cell_size).ln()
}

fn layout(cells: u32) -> GridLayout {
    GridLayout {
        origin: Vec3::splat(-REACH as f32),
        cell_size: (2.0 * REACH / f64::from(cells)) as f32,
        nodes: UVec3::splat(cells + 1),
    }
}

/// Returns an error bound that is valid for every representation at this cell size \[m\]. No
/// measurement depends on it.
fn declared(cell_size: f32) -> f32 {
    2.0 * cell_size
}

fn dense(shape: Shape, layout: GridLayout) -> Result<DenseGrid, Box<dyn Error>> {
    let values =
        nodes(layout.nodes).map(|node| (shape.distance)(layout.node_position(node)) as f32);
    let bound = declared(layout.cell_size);
    let grid = DenseGrid::new(layout, values.collect(), Aabb::EMPTY, bound)?;
    Ok(grid)
}

fn taylor(shape: Shape, layout: GridLayout) -> Result<TaylorGrid, Box<dyn Error>> {
    let sample = |node: UVec3| {
        let point = layout.node_position(node);
        Sample {
            distance: (shape.distance)(point) as f32,
            gradient: (shape.gradient)(point).as_vec3(),
        }
    };
    let bound = declared(layout.cell_size);
    let grid = TaylorGrid::from_nodes(layout, sample, Aabb::EMPTY, bound)?;
    Ok(grid)
}

/// Builds blocks of 8³ cells wherever points are measured, and coarse cells elsewhere.
fn sparse(shape: Shape, fine: GridLayout, bits: Bits) -> Result<SparseBlocks, Box<dyn Error>> {
    const SIDE: u32 = 8;
    let coarse = GridLayout {
        origin: fine.origin,
        cell_size: fine.cell_size * SIDE as f32,
        nodes: fine.cells() / SIDE + 1,
    };
    let at = |node: UVec3| (shape.distance)(fine.node_position(node));
    let half_diagonal = 0.5 * 3f64.sqrt() * f64::from(coarse.cell_size);
    let near = half_diagonal + 3.0 * NEAR * f64::from(fine.cell_size);
    let (mut cells, mut blocks, mut all) = (Vec::new(), Vec::new(), Vec::new());
    let mut stored: Vec<f64> = Vec::new();
    // Coarse cells that may be near the surface become blocks.
    for cell in nodes(coarse.cells()) {
        if at(SIDE * cell + SIDE / 2).abs() > near {
            cells.push(PLAIN);
            continue;
        }
        cells.push(blocks.len() as u32);
        let values: Vec<f64> = nodes(UVec3::splat(SIDE + 1))
            .map(|node| at(SIDE * cell + node))
            .collect();
        // Quantise the values of the block over their own range.
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min) as f32;
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let steps = match bits {
            Bits::Eight => 255.0,
            Bits::Sixteen => 65_535.0,
            Bits::ThirtyTwo => 0.0,
        };
        let (lowest, step) = match bits {
            Bits::ThirtyTwo => (0.0, 1.0),
            _ => (lowest, ((highest - f64::from(lowest)) / steps) as f32),
        };
        blocks.push(SparseBlock {
            cells_log2: 3,
            children: PLAIN,
            first_value: all.len(),
            lowest,
            step,
            error: declared(fine.cell_size),
        });
        stored.extend(values.iter().map(|value| {
            let counted = (value - f64::from(lowest)) / f64::from(step);
            counted.round().clamp(0.0, steps)
        }));
        all.extend(values);
    }
    let values = match bits {
        Bits::Eight => SparseValues::Bits8(stored.iter().map(|&value| value as u8).collect()),
        Bits::Sixteen => SparseValues::Bits16(stored.iter().map(|&value| value as u16).collect()),
        Bits::ThirtyTwo => SparseValues::Bits32(all.iter().map(|&value| value as f32).collect()),
    };
    let coarse_value = |node: UVec3| (shape.distance)(coarse.node_position(node)) as f32;
    let parts = SparseParts {
        nodes: nodes(coarse.nodes).map(coarse_value).collect(),
        cells,
        plain_error: declared(coarse.cell_size),
        blocks,
        children: Vec::new(),
        values,
        solid: coarse.bounds(),
    };
    Ok(SparseBlocks::new(coarse, parts)?)
}

/// Returns all places below `size`, with x fastest.
fn nodes(size: UVec3) -> impl Iterator<Item = UVec3> {
    (0..size.z).flat_map(move |z| {
        (0..size.y).flat_map(move |y| (0..size.x).map(move |x| UVec3::new(x, y, z)))
    })
}

const SECTION: &str = "
## How the error falls

Errors within a cell of the surface, where the distance to a sphere of 1 m and to a torus of 1 m and
0.4 m has no kink. The slope is the exponent with which the error falls with the cell size, from 32
to 64 cells along a side of 3.2 m. With 8 bits, values are quantised over the range of a block of
eight cells, so their rounding falls only linearly with the cell size.

![Mean error over the size of cells, and over memory](images/convergence.svg)

The picture is made by `cargo run --release -p touchfield-conformance --example convergence >
docs/images/convergence.svg`. It includes the bunny when `TOUCHFIELD_MESHES` names its folder.
Around a mesh the distance has kinks at every edge, so no kind of field converges with second order
there.
";

const EQUAL_MEMORY: &str = "
At the same memory a dense grid has 1.26 times as many nodes along a side as a Taylor grid:
";

/// Returns the section of docs/ACCURACY.md.
pub fn section() -> Result<String, Box<dyn Error>> {
    let mut text = String::from(SECTION);
    text += "\n| field | shape | largest error [m], 32 cells | largest error [m], 64 cells | slope of the largest error | slope of the mean error |\n|---|---|---|---|---|---|\n";
    for shape in SHAPES {
        for Curve { kind, measured } in of_shape(shape, &[32, 64])? {
            let [coarse, fine] = [&measured[0], &measured[1]];
            writeln!(
                text,
                "| {} | {} | {:.1e} | {:.1e} | {:.1} | {:.1} |",
                kind.name(),
                shape.name,
                coarse.largest_error,
                fine.largest_error,
                slope(coarse, fine, |m| m.largest_error),
                slope(coarse, fine, |m| m.mean_error),
            )?;
        }
    }
    text += EQUAL_MEMORY;
    text += "\n| model | cells, taylor | bytes, taylor | mean error, taylor [m] | cells, dense | bytes, dense | mean error, dense [m] |\n|---|---|---|---|---|---|---|\n";
    for shape in SHAPES {
        for cells in [32, 64] {
            let [taylor, dense] = at_equal_memory(shape, cells)?;
            let side = |found: &Measured| (2.0 * REACH / found.cell_size).round();
            writeln!(
                text,
                "| {} | {} | {} | {:.1e} | {} | {} | {:.1e} |",
                shape.name,
                side(&taylor),
                taylor.bytes,
                taylor.mean_error,
                side(&dense),
                dense.bytes,
                dense.mean_error,
            )?;
        }
    }
    Ok(text)
}

/// Measures a Taylor grid with `cells` cells along a side, and the smallest dense grid that takes
/// no less memory.
pub fn at_equal_memory(shape: Shape, cells: u32) -> Result<[Measured; 2], Box<dyn Error>> {
    let taylor = measure_shape(shape, Representation::Taylor, cells)?;
    let nodes = (taylor.bytes as f64 / 4.0).cbrt().ceil() as u32;
    let dense = measure_shape(shape, Representation::Dense, nodes - 1)?;
    Ok([taylor, dense])
}

/// Plots error over cell size above error over memory, one column per shape, and one for the mesh
/// if given.
pub fn picture(mesh: Option<(&str, &TriangleMesh)>) -> Result<String, Box<dyn Error>> {
    let mut columns = Vec::new();
    for shape in SHAPES {
        columns.push((shape.name.to_owned(), of_shape(shape, &CELLS)?));
    }
    if let Some((name, mesh)) = mesh {
        columns.push((name.to_owned(), of_mesh(mesh, &[32, 48, 64, 96, 128, 192])?));
    }
    let panels = |x: &str, slope: Option<f64>, of: &dyn Fn(&Measured) -> f64| -> Vec<Panel> {
        let panel = |(name, curves): &(String, Vec<Curve>)| Panel {
            title: name.clone(),
            x: x.to_owned(),
            y: "mean error [m]".to_owned(),
            series: curves
                .iter()
                .map(|curve| Series {
                    name: curve.kind.name(),
                    points: (curve.measured.iter())
                        .map(|found| [of(found), found.mean_error])
                        .collect(),
                })
                .collect(),
            slope,
        };
        columns.iter().map(panel).collect()
    };
    Ok(svg(&[
        panels("cell [m]", Some(2.0), &|found| found.cell_size),
        panels("memory [MB]", None, &|found| found.bytes as f64 / 1e6),
    ]))
}
