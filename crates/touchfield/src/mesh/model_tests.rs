//! The larger models, when the folder is there: validated against its table, repaired, and timed.

use std::{path::PathBuf, time::Instant};

use super::test_meshes::{models, read_obj};
use super::*;

/// A row of the table: file, whether watertight, open edges, non-manifold edges.
fn table(folder: &std::path::Path) -> Vec<(PathBuf, bool, usize, usize)> {
    let text = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let number = |cell: &str| cell.replace(',', "").parse::<usize>().ok();
    text.lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let path = folder.join(cells.get(1)?);
            let is_obj = path.extension().is_some_and(|extension| extension == "obj");
            let (open, non_manifold) = (number(cells.get(6)?)?, number(cells.get(7)?)?);
            is_obj.then_some((path, cells[5] == "yes", open, non_manifold))
        })
        .collect()
}

#[test]
fn models_have_the_defects_their_table_says() {
    let Some(folder) = models() else { return };
    for (path, watertight, open, non_manifold) in table(&folder) {
        let mesh = read_obj(&path);
        let start = Instant::now();
        let found = validate(&mesh);
        let seconds = start.elapsed().as_secs_f64();
        let (mended, report) = repair(&mesh, &RepairSettings::default());
        let repair_seconds = start.elapsed().as_secs_f64() - seconds;
        let after = validate(&mended);
        let name = path.file_name().unwrap().to_string_lossy();
        let same = (
            found.watertight,
            found.count("open_edge"),
            found.count("non_manifold_edge"),
        ) == (watertight, open, non_manifold);
        println!(
            "{} {name}: table {:?} ours {:?}",
            if same { "  " } else { "XX" },
            (watertight, open, non_manifold),
            (
                found.watertight,
                found.count("open_edge"),
                found.count("non_manifold_edge")
            )
        );
        println!(
            "      {seconds:.3} s {:?}",
            found
                .by_kind()
                .iter()
                .map(|(k, n, _)| (k, n))
                .collect::<Vec<_>>()
        );
        println!(
            "      {repair_seconds:.3} s {:?} {} filled, left {:?}, watertight {}, weld {} {}",
            after
                .by_kind()
                .iter()
                .map(|(k, n, _)| (k, n))
                .collect::<Vec<_>>(),
            report.filled.len(),
            &report.left_open[..report.left_open.len().min(4)],
            after.watertight,
            report.welded.identical.len(),
            report.welded.near.len()
        );
    }
}

#[test]
fn timing() {
    let Some(folder) = models() else { return };
    let mut mesh = read_obj(&folder.join("bad/bunny_degenerate_and_duplicate.obj"));
    for d in validate(&mesh)
        .defects
        .iter()
        .filter(|d| matches!(d, Defect::OpenEdge { .. } | Defect::Degenerate { .. }))
    {
        println!("DBG0 {d}");
        if let Some(f) = d.first_index() {
            println!("DBG {:?}", mesh.faces[f as usize]);
        }
    }
    println!("DBG {:?}", drop_degenerate(&mut mesh));
    for d in validate(&mesh)
        .defects
        .iter()
        .filter(|d| !matches!(d, Defect::Duplicate { .. } | Defect::NonManifoldEdge { .. }))
    {
        println!("DBG1 {d}");
        if let Some(f) = d.first_index() {
            println!("DBG {:?}", mesh.faces[f as usize]);
        }
    }
    println!("DBG {:?}", drop_duplicates(&mut mesh));
    for d in validate(&mesh).defects.iter() {
        println!("DBG2 {d}");
        if let Some(f) = d.first_index() {
            println!("DBG {:?}", mesh.faces[f as usize]);
        }
    }

    for name in [
        "classic/glmark2_bunny.obj",
        "mech/factory_gear_medium.obj",
        "proc/terrain_129_closed.obj",
    ] {
        let mesh = read_obj(&folder.join(name));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        pool.install(|| {
            for _ in 0..2 {
                let t = Instant::now();
                let faces = weld::welded_faces(&mesh);
                println!("{name} weld {:?}", t.elapsed());
                let t = Instant::now();
                let topology = Topology::new(mesh.vertices.len(), &faces);
                println!("topology {:?}", t.elapsed());
                let t = Instant::now();
                topology.bow_tie_vertices();
                println!("bow ties {:?}", t.elapsed());
                let t = Instant::now();
                topology.components_by_edges();
                println!("components {:?}", t.elapsed());
                let t = Instant::now();
                let found = self_intersections(&mesh, None);
                println!("self-intersections {} {:?}", found.pairs.len(), t.elapsed());
                let t = Instant::now();
                validate(&mesh);
                println!("validate {:?}", t.elapsed());
            }
        });
    }
}
