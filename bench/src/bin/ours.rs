//! Touchfield's side of `bench/peers`: writes the tasks that every library gets, and runs them.
//!
//! Input: `prepare FOLDER [MESH]`, or `run FOLDER TASK`.
//! Output: files of bare little-endian numbers in the folder, and one line of JSON on stdout, as
//! described in `bench/README.md`.
//! Not for: interactive use (see `touchfield bake`).

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cpu_time::ProcessTime;
use glam::{DVec3, UVec3};
use touchfield::bake::{BakeSettings, ExactDistance, Resolution, SignChoice, Stage, bake_with};
use touchfield::field::{GridLayout, SignMethod};
use touchfield::mesh::TriangleMesh;
use touchfield_bench::{clock, models, points};
use touchfield_conformance::random::Random;

/// Resolutions at which grids are baked: nodes along the longest side.
const RESOLUTIONS: [u32; 2] = [128, 256];

/// Only fast peers are measured on the whole of the finer grid; the others get one in this many
/// blocks of nodes.
const BLOCKS_LEFT_OUT: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["prepare", folder] => prepare(Path::new(folder), None),
        ["prepare", folder, mesh] => prepare(Path::new(folder), Some(Path::new(mesh))),
        ["run", folder, "points"] => run_points(Path::new(folder)),
        ["run", folder, "grid128"] => run_grid(Path::new(folder), 128),
        ["run", folder, "grid256"] => run_grid(Path::new(folder), 256),
        _ => Err("ours prepare FOLDER [MESH] | ours run FOLDER points|grid128|grid256".into()),
    }
}

/// Writes the mesh and the points of every task.
fn prepare(folder: &Path, mesh: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let models::Reference { mesh, name } = models::reference(mesh)?;
    fs::create_dir_all(folder)?;
    let write = |file: &str, bytes: Vec<u8>| fs::write(folder.join(file), bytes);
    write("vertices.f64", point_bytes(mesh.vertices.iter().copied()))?;
    let faces = mesh.faces.iter().flatten().flat_map(|v| v.to_le_bytes());
    write("faces.u32", faces.collect())?;
    let random = points::in_box(mesh.bounds(), 1_000_000, 3);
    write("points.f64", point_bytes(random))?;
    for nodes in RESOLUTIONS {
        let layout = settings(nodes).layout(mesh.bounds())?;
        let task = format!("grid{nodes}");
        let numbers = [
            layout.origin.as_dvec3(),
            layout.nodes.as_dvec3(),
            DVec3::splat(layout.cell_size.into()),
        ];
        write(&format!("{task}.layout"), point_bytes(numbers))?;
        write(&format!("{task}.f64"), point_bytes(all_nodes(&layout)))?;
        let part: Vec<UVec3> = part_of(&layout);
        let position = |&node: &UVec3| layout.node_position(node);
        write(
            &format!("{task}-part.f64"),
            point_bytes(part.iter().map(position)),
        )?;
        let index = |&node: &UVec3| (layout.node_index(node) as u32).to_le_bytes();
        write(
            &format!("{task}-part.u32"),
            part.iter().flat_map(index).collect(),
        )?;
    }
    let diagonal = mesh.bounds().diagonal();
    let faces = mesh.faces.len();
    println!(r#"{{"mesh": "{name}", "faces": {faces}, "diagonal": {diagonal}}}"#);
    Ok(())
}

fn settings(nodes: u32) -> BakeSettings {
    BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..Default::default()
    }
}

fn all_nodes(layout: &GridLayout) -> impl Iterator<Item = DVec3> + '_ {
    nodes_between(UVec3::ZERO, layout.nodes).map(|node| layout.node_position(node))
}

/// Returns all nodes from `first` up to, not including, `end`, with x fastest.
fn nodes_between(first: UVec3, end: UVec3) -> impl Iterator<Item = UVec3> {
    (first.z..end.z).flat_map(move |z| {
        (first.y..end.y).flat_map(move |y| (first.x..end.x).map(move |x| UVec3::new(x, y, z)))
    })
}

/// Returns whole blocks of nodes, chosen at random: near and far from the surface in the right
/// proportion, and with neighbours in sequence as in the grid, which caches profit from.
fn part_of(layout: &GridLayout) -> Vec<UVec3> {
    /// Nodes along the side of a block.
    const SIDE: u32 = 16;
    let mut random = Random::new(5);
    nodes_between(UVec3::ZERO, (layout.nodes + SIDE - 1) / SIDE)
        .filter(|_| random.below(BLOCKS_LEFT_OUT) == 0)
        .flat_map(|block| {
            let first = SIDE * block;
            nodes_between(first, (first + SIDE).min(layout.nodes))
        })
        .collect()
}

fn run_points(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mesh = read_mesh(folder)?;
    let points = read_points(folder.join("points.f64"))?;
    let (exact, prepare) = clock::least(|| ExactDistance::new(&mesh, SignChoice::Auto));
    let exact = exact?;
    let (distances, query) = clock::least(|| exact.distance_many(&points));
    let sign = (exact.sign_method(), exact.notes());
    report(folder, "points", sign, [prepare.cpu, query.cpu], &distances)
}

fn run_grid(folder: &Path, nodes: u32) -> Result<(), Box<dyn Error>> {
    let mesh = read_mesh(folder)?;
    let ((baked, prepare), whole) = clock::least(|| {
        // Everything up to the first distance counts as preparation; checks after the last one
        // count as part of the query.
        let (start, prepared) = (ProcessTime::now(), OnceLock::new());
        let baked = bake_with(&mesh, &settings(nodes), &|step| {
            if step.stage != Stage::Preparing {
                prepared.get_or_init(|| start.elapsed().as_secs_f64());
            }
            ControlFlow::Continue(())
        });
        (baked, prepared.get().copied().unwrap_or_default())
    });
    let baked = baked?;
    let values: Vec<f64> = baked
        .field
        .values()
        .iter()
        .map(|&value| value.into())
        .collect();
    let sign = (baked.provenance.sign_method, &baked.provenance.notes[..]);
    report(
        folder,
        &format!("grid{nodes}"),
        sign,
        [prepare, whole.cpu - prepare],
        &values,
    )
}

/// Writes the values for the comparison, and prints the time and memory they took.
fn report(
    folder: &Path,
    task: &str,
    (sign, notes): (SignMethod, &[String]),
    [prepare, query]: [f64; 2],
    values: &[f64],
) -> Result<(), Box<dyn Error>> {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    fs::write(folder.join(format!("{task}.touchfield.out")), bytes)?;
    let version = env!("CARGO_PKG_VERSION");
    let count = values.len();
    println!(
        r#"{{"peer": "touchfield", "task": "{task}", "version": "{version}", "sign": "{}", "notes": {notes:?}, "prepare": {prepare}, "query": {query}, "count": {count}}}"#,
        sign.name()
    );
    Ok(())
}

fn point_bytes(points: impl IntoIterator<Item = DVec3>) -> Vec<u8> {
    let numbers = points.into_iter().flat_map(|point| point.to_array());
    numbers.flat_map(|number| number.to_le_bytes()).collect()
}

fn read_points(path: PathBuf) -> Result<Vec<DVec3>, Box<dyn Error>> {
    let bytes = fs::read(path)?;
    let (numbers, _) = bytes.as_chunks();
    let numbers: Vec<f64> = numbers
        .iter()
        .map(|&bytes| f64::from_le_bytes(bytes))
        .collect();
    let (points, _) = numbers.as_chunks();
    Ok(points.iter().copied().map(DVec3::from_array).collect())
}

fn read_mesh(folder: &Path) -> Result<TriangleMesh, Box<dyn Error>> {
    let bytes = fs::read(folder.join("faces.u32"))?;
    let (indices, _) = bytes.as_chunks();
    let indices: Vec<u32> = indices
        .iter()
        .map(|&bytes| u32::from_le_bytes(bytes))
        .collect();
    let (faces, _) = indices.as_chunks();
    Ok(TriangleMesh {
        vertices: read_points(folder.join("vertices.f64"))?,
        faces: faces.to_vec(),
    })
}
