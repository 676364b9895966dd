//! Validates the larger models against the table in their folder, if that exists, and repairs them.

use std::{collections::HashMap, path::PathBuf};

use super::test_meshes::{models, read_obj};
use super::*;

/// One row of the table.
struct Row {
    path: PathBuf,
    watertight: bool,
    open_edges: usize,
    non_manifold_edges: usize,
}

fn table() -> Vec<Row> {
    let Some(folder) = models() else {
        return Vec::new();
    };
    let text = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let number = |cell: &str| cell.replace(',', "").parse::<usize>().ok();
    text.lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let row = Row {
                path: folder.join(cells.get(1)?),
                watertight: *cells.get(5)? == "yes",
                open_edges: number(cells.get(6)?)?,
                non_manifold_edges: number(cells.get(7)?)?,
            };
            let is_obj = row.path.extension().is_some_and(|end| end == "obj");
            is_obj.then_some(row)
        })
        .collect()
}

/// Counts the edges with one face, and those with more than two, in the most direct way.
/// `with_pinched` includes the edges of faces with two coincident corners, which the program that
/// made the table counts too.
fn plain_count(mesh: &TriangleMesh, with_pinched: bool) -> (usize, usize) {
    let first = first_at_same_position(&mesh.vertices);
    let mut uses: HashMap<[u32; 2], usize> = HashMap::new();
    for face in &mesh.faces {
        let [a, b, c] = face.map(|v| first.get(v as usize).copied().unwrap_or(v));
        if with_pinched || a != b && b != c && c != a {
            for (p, q) in [(a, b), (b, c), (c, a)] {
                *uses.entry([p.min(q), p.max(q)]).or_default() += 1;
            }
        }
    }
    let count = |wanted: fn(usize) -> bool| uses.values().filter(|&&n| wanted(n)).count();
    (count(|n| n == 1), count(|n| n > 2))
}

#[test]
fn models_have_the_defects_their_table_says() {
    for row in table() {
        let mesh = read_obj(&row.path);
        let name = row.path.file_name().unwrap().to_string_lossy().into_owned();
        let settings = ValidateSettings {
            self_intersections: SelfIntersectionCheck::Skip,
            ..Default::default()
        };
        let found = validate_with(&mesh, &settings);
        let ours = (found.count("open_edge"), found.count("non_manifold_edge"));
        // The table counts NaN as a position and index 0 as the last vertex; we leave such faces
        // out.
        if mesh.first_invalid_face().is_some() {
            let unusable = found.count("non_finite") + found.count("index_out_of_range");
            assert!(unusable > 0 && !found.watertight, "{name}");
            continue;
        }
        assert_eq!(
            plain_count(&mesh, true),
            (row.open_edges, row.non_manifold_edges),
            "the table on {name}"
        );
        assert_eq!(ours, plain_count(&mesh, false), "{name}");
        // The table's counts differ from ours only where faces are pinched.
        let pinched = plain_count(&mesh, true) != plain_count(&mesh, false);
        assert!(found.watertight == row.watertight || pinched, "{name}");
        assert!(!pinched || found.count("degenerate") > 0, "{name}");
    }
}

#[test]
fn models_are_better_after_repair_and_once_is_enough() {
    for row in table() {
        let mesh = read_obj(&row.path);
        let name = row.path.file_name().unwrap().to_string_lossy().into_owned();
        let before = validate(&mesh);
        let (mended, report) = repair(&mesh, &RepairSettings::default());
        let after = validate(&mended);
        for kind in [
            "non_finite",
            "index_out_of_range",
            "degenerate",
            "duplicate",
            "unreferenced",
            "inside_out",
        ] {
            assert_eq!(after.count(kind), 0, "{name}: {kind}");
        }
        // A doubled sheet trades its non-manifold edges for an open outline; nothing else opens.
        let bad_edges =
            |found: &Validation| found.count("open_edge") + found.count("non_manifold_edge");
        assert!(
            bad_edges(&after) <= bad_edges(&before),
            "{name}: more bad edges than before"
        );
        assert_eq!(
            after.count("inconsistent_orientation") == 0,
            report.unorientable == 0,
            "{name}"
        );
        let border: u32 = report.left_open.iter().map(|(_, edges, _)| edges).sum();
        assert!(
            after.count("open_edge") <= border as usize,
            "{name}: a border that no one reported"
        );
        assert_eq!(
            after.watertight,
            after.count("open_edge") + after.count("non_manifold_edge") == 0 && after.faces > 0,
            "{name}"
        );
        let clean = [
            "nested_shells",
            "self_intersection",
            "disconnected_parts",
            "suspicious_units",
        ];
        if before
            .defects
            .iter()
            .all(|defect| clean.contains(&defect.kind()))
        {
            let only_welded = WeldReport {
                near: vec![],
                ..report.welded.clone()
            };
            let kept = report
                .original_face
                .iter()
                .copied()
                .eq((0..mesh.faces.len() as u32).map(Some));
            assert!(
                report.welded == only_welded && report.flipped.is_empty() && kept,
                "{name} was changed for nothing"
            );
        }
        let (again, second) = repair(&mended, &RepairSettings::default());
        assert!(
            !second.changed_anything() && again == mended,
            "{name}: {:?}",
            RepairReport {
                original_face: vec![],
                original_vertex: vec![],
                ..second
            }
        );
    }
}
