//! `--convex`: meshes as their hulls, against closed forms for cubes.

use serde_json::Value;

use crate::folder::{Folder, numbers, with_cubes};

/// Pose in which B stands 0.06 m deep in the side x = 0.5 of A, away from its edges.
const OVERLAPPING: &str = "0.54,0.05,-0.1,0,0,0,1";
const DEPTH: f64 = 0.06;
/// Pose in which B is 0.05 m away from the same side.
const NEAR: &str = "0.65,0.05,-0.1,0,0,0,1";
const GAP: f64 = 0.05;
/// Tolerance: coordinates and poses are `f32`.
const EXACT: f64 = 1e-6;

fn ask(folder: &Folder, command: &str, more: &[&str]) -> Value {
    folder.json(&[&[command, "a.obj", "b.obj", "--convex"], more].concat())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

#[test]
fn separation_tells_the_least_translation_of_hulls() {
    let folder = with_cubes();
    let deep = ask(&folder, "separation", &["--b-in-a", OVERLAPPING]);
    assert!(
        (number(&deep["penetration_depth"]) - DEPTH).abs() < EXACT,
        "{deep}"
    );
    let way = numbers(&deep["least_translation"]);
    assert!((way[0] - DEPTH).abs() < EXACT && way[1].abs() < EXACT && way[2].abs() < EXACT);
    // For slabs the minimum translation is also the separation.
    assert!(number(&deep["lower_bound"]) <= -DEPTH && -DEPTH <= number(&deep["upper_bound"]));
    let apart = ask(&folder, "separation", &["--b-in-a", NEAR]);
    assert!(
        (number(&apart["separation"]) - GAP).abs() < EXACT,
        "{apart}"
    );
    assert!(
        number(&apart["lower_bound"]) <= GAP + EXACT
            && GAP - EXACT <= number(&apart["upper_bound"])
    );
    assert_eq!(number(&apart["penetration_depth"]), 0.0);
    assert_eq!(numbers(&apart["least_translation"]), [0.0; 3]);
    // Bodies that are not hulls have no minimum translation.
    let baked = folder.json(&["separation", "a.tfs", "b.tfs", "--b-in-a", NEAR]);
    assert!(baked.get("penetration_depth").is_none());
}

#[test]
fn collide_finds_the_corners_of_the_region() {
    let folder = with_cubes();
    for more in [&["--method", "convex"][..], &[]] {
        let found = ask(
            &folder,
            "collide",
            &[&["--b-in-a", OVERLAPPING], more].concat(),
        );
        assert_eq!(found["method"], "convex");
        let contacts = found["contacts"].as_array().cloned().unwrap_or_default();
        assert_eq!(contacts.len(), 4, "{found}");
        for contact in &contacts {
            assert!((number(&contact["separation"]) + DEPTH).abs() < EXACT);
            let (point, normal) = (numbers(&contact["point"]), numbers(&contact["normal"]));
            assert!((normal[0] - 1.0).abs() < EXACT);
            // The corners of B's face, midway between the two surfaces.
            assert!((point[0] - 0.47).abs() < EXACT, "{contact}");
            assert!(((point[1] - 0.05).abs() - 0.1).abs() < EXACT, "{contact}");
            assert!(((point[2] + 0.1).abs() - 0.1).abs() < EXACT, "{contact}");
        }
    }
    let none = ask(&folder, "collide", &["--b-in-a", NEAR]);
    assert_eq!(none["contacts"].as_array().map(Vec::len), Some(0));
}

#[test]
fn cast_and_sweep_take_hulls_too() {
    let folder = with_cubes();
    let (from, to) = ("1.6,0,0,0,0,0,1", "0.6,0,0,0,0,0,1");
    let hit = ask(
        &folder,
        "cast",
        &["--from", from, "--to", to, "--tolerance", "1e-5"],
    );
    assert!((number(&hit["time"]) - 1.0).abs() < 2e-5, "{hit}");
    assert!(
        (number(&hit["time"]) - number(&hit["lower_bound"])) < 1e-4,
        "{hit}"
    );
    folder.write("poses.csv", format!("{OVERLAPPING}\n{NEAR}\n"));
    let swept = ask(
        &folder,
        "sweep",
        &["--poses", "poses.csv", "-o", "rows.csv"],
    );
    assert_eq!(swept["touching"], 1, "{swept}");
}

#[test]
fn what_is_no_hull_is_refused_before_anything_is_baked() {
    let folder = with_cubes();
    let baked = folder.run(&["collide", "a.tfs", "b.obj", "--convex", "--b-in-a", NEAR]);
    assert_eq!(baked.code, 2);
    assert!(
        baked.stderr.contains("a.tfs") && baked.stderr.contains("--convex"),
        "{}",
        baked.stderr
    );
    let method = folder.run(&[
        "collide", "a.obj", "b.obj", "--method", "convex", "--b-in-a", NEAR,
    ]);
    assert_eq!(method.code, 2);
    assert!(
        method.stderr.contains("--convex") && !method.stderr.contains("baked in memory"),
        "{}",
        method.stderr
    );
}
