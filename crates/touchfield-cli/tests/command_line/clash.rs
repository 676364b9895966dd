//! `clash`: which parts of an assembly touch.

use crate::folder::{Folder, with_cubes};

const HIGH: &str = "b.tfs@0,0,0.55,0,0,0,1";

#[test]
fn parts_that_touch_are_listed_deepest_first_and_others_are_not() {
    let folder = with_cubes();
    // 5 cm deep, 2 cm deep, 5 cm beside, far away.
    let parts = [
        "a.tfs",
        HIGH,
        "b.tfs@0,0.58,0,0,0,0,1",
        "b.tfs@0.65,0,0,0,0,0,1",
        "b.tfs@9,0,0,0,0,0,1",
    ];
    let answer = folder.json(&[&["clash"], &parts[..]].concat());
    let clashes = answer["clashes"].as_array().unwrap();
    let pairs: Vec<_> = (clashes.iter())
        .map(|clash| (clash["a"].as_u64().unwrap(), clash["b"].as_u64().unwrap()))
        .collect();
    assert_eq!(pairs, [(0, 1), (0, 2)], "{answer}");
    for (clash, depth) in clashes.iter().zip([0.05, 0.02]) {
        let separation = clash["separation"].as_f64().unwrap();
        assert!((separation + depth).abs() < 2e-3, "{depth}: {clash}");
    }
    // The deepest point of the first pair is where the small cube's lower side is in the world.
    let up = clashes[0]["point"][2].as_f64().unwrap();
    assert!((up - 0.475).abs() < 0.05, "{answer}");
    let near = folder.json(&[&["clash"], &parts[..], &["--clearance", "6cm"]].concat());
    assert_eq!(near["clashes"].as_array().unwrap().len(), 3, "{near}");
    // The table contains the same pairs.
    let run = folder.run(&[&["clash"], &parts[..]].concat());
    assert!(run.stdout.contains("2 pairs of 5 parts"), "{}", run.stdout);
    assert!(run.stdout.contains("1 a.tfs"), "{}", run.stdout);
}

#[test]
fn contact_may_be_a_failure_and_none_is_not() {
    let folder = with_cubes();
    let run = folder.run(&["clash", "a.tfs", HIGH, "--fail-on-contact"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let far = "b.tfs@0,0,9,0,0,0,1";
    let run = folder.run(&["clash", "a.tfs", far, "--fail-on-contact"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn what_is_no_assembly_is_refused() {
    let folder = with_cubes();
    folder.fails(&["clash", "a.tfs"], 2, &["2 values required"]);
    folder.fails(&["clash", "a.tfs", "none.tfs"], 2, &["none.tfs"]);
    folder.fails(&["clash", "a.tfs", "b.tfs@1,2,3"], 2, &["b.tfs"]);
    folder.fails(&["clash", "a.tfs", "b.tfs@NaN,0,0,0,0,0,1"], 2, &["NaN"]);
    folder.fails(
        &["clash", "a.tfs", HIGH, "--clearance", "-1mm"],
        2,
        &["clearance"],
    );
    let empty = Folder::new();
    empty.write("empty.tfs", "");
    empty.fails(&["clash", "empty.tfs", "empty.tfs"], 2, &["empty.tfs"]);
}
