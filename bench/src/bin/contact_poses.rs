//! Writes the poses in which contact is measured, and their ground truth:
//! `contact_poses FOLDER [--poses N] [MESH]`.
//!
//! Input: a mesh file, or the reference mesh of [`models`].
//! Output: files in the folder, and one line of JSON on stdout. The mesh is in `vertices.f64`,
//! `faces.u32` and `mesh.obj`. Every regime has `REGIME.poses.csv` (`TX,TY,TZ,QX,QY,QZ,QW`, B in
//! A), `REGIME.truth.csv` and `REGIME.inside.f64` (pose, 1 for B or 0 for A, point in A, depth).
//! Not for: interactive use.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use rayon::prelude::*;
use touchfield_bench::contact_poses::{Regime, Scene, Truth, poses_to_csv};
use touchfield_bench::models;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut folder, mut path, mut count) = (None, None, 1000);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--poses" => count = arguments.next().ok_or("--poses needs a number")?.parse()?,
            _ if folder.is_none() => folder = Some(PathBuf::from(argument)),
            _ => path = Some(PathBuf::from(argument)),
        }
    }
    let folder = folder.ok_or("contact_poses FOLDER [--poses N] [MESH]")?;
    let models::Reference { mesh, name } = models::reference(path.as_deref())?;
    fs::create_dir_all(&folder)?;
    // The mesh, in two formats.
    let write = |file: String, bytes: Vec<u8>| fs::write(folder.join(file), bytes);
    let coordinates = mesh.vertices.iter().flat_map(|v| v.to_array());
    write(
        "vertices.f64".into(),
        coordinates.flat_map(f64::to_le_bytes).collect(),
    )?;
    let corners = mesh.faces.iter().flatten();
    write(
        "faces.u32".into(),
        corners.flat_map(|v| v.to_le_bytes()).collect(),
    )?;
    let mut object = String::new();
    for v in &mesh.vertices {
        writeln!(object, "v {} {} {}", v.x, v.y, v.z)?;
    }
    for face in &mesh.faces {
        let [a, b, c] = face.map(|vertex| vertex + 1);
        writeln!(object, "f {a} {b} {c}")?;
    }
    write("mesh.obj".into(), object.into())?;

    // Poses and truth of each regime.
    let scene = Scene::new(&mesh)?;
    let mut counts = String::new();
    for regime in Regime::ALL {
        let name = regime.name();
        let poses: Vec<_> = (0..count)
            .into_par_iter()
            .map(|i| scene.pose(regime, i))
            .collect();
        let truths: Vec<Truth> = poses.par_iter().map(|&pose| scene.truth(pose)).collect();
        write(format!("{name}.poses.csv"), poses_to_csv(&poses).into())?;
        let mut rows = "touching,distance,depth_of_b,depth_of_a\n".to_owned();
        let mut inside = Vec::new();
        for (index, truth) in truths.iter().enumerate() {
            let Truth {
                touching,
                distance,
                depth_of_b,
                depth_of_a,
                ..
            } = truth;
            writeln!(
                rows,
                "{},{distance},{depth_of_b},{depth_of_a}",
                u8::from(*touching)
            )?;
            for point in &truth.inside {
                let [x, y, z] = point.point.to_array();
                let side = f64::from(u8::from(point.of_b));
                let row = [index as f64, side, x, y, z, point.depth];
                inside.extend(row.into_iter().flat_map(f64::to_le_bytes));
            }
        }
        write(format!("{name}.truth.csv"), rows.into())?;
        write(format!("{name}.inside.f64"), inside)?;
        let touching = truths.iter().filter(|truth| truth.touching).count();
        write!(counts, r#", "{name}": {touching}"#)?;
    }
    let (faces, diagonal) = (mesh.faces.len(), mesh.bounds().diagonal());
    println!(
        r#"{{"mesh": "{name}", "faces": {faces}, "diagonal": {diagonal}, "poses": {count}{counts}}}"#
    );
    Ok(())
}
