//! `clearance`: how near a small cube comes to a big one, compared with distances computed by hand.

use crate::folder::{Folder, numbers, with_cubes};
use serde_json::Value;

/// B moves past A along x, its side 40 cm from that of A.
const PAST: [&str; 2] = ["1.5,1,0,0,0,0,1", "-1.5,1,0,0,0,0,1"];
const LEAST: f64 = 0.4;

fn clearance(folder: &Folder, [from, to]: [&str; 2], more: &[&str]) -> Value {
    let arguments = ["clearance", "a.obj", "b.obj", "--convex"];
    folder.json(&[&arguments, &["--from", from, "--to", to], more].concat())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

#[test]
fn a_cube_that_passes_is_as_near_as_its_side() {
    let folder = with_cubes();
    // They are equally near for a fifth of the motion, all of which must be examined: a tenth of
    // this tolerance takes more states than allowed.
    let answer = clearance(&folder, PAST, &["--tolerance", "1mm"]);
    let [lower, upper] = ["lower_bound", "upper_bound"].map(|key| number(&answer[key]));
    assert!(lower <= LEAST && LEAST <= upper, "{answer}");
    assert!(upper - lower < 1.1e-3, "{answer}");
    assert!(
        (number(&answer["separation"]) - LEAST).abs() < 2e-4,
        "{answer}"
    );
    assert_eq!(
        (&answer["outcome"], &answer["complete"]),
        (&"converged".into(), &true.into())
    );
    assert!(
        (number(&answer["tolerance"]) - 1e-3).abs() < 1e-9,
        "{answer}"
    );
    // The sides face each other while the middles are no more than 60 cm apart along x.
    let time = number(&answer["time"]);
    assert!((0.3..=0.7).contains(&time), "{answer}");
    assert!(numbers(&answer["normal"])[1] > 0.999, "{answer}");
    assert!(
        (numbers(&answer["point"])[1] - 0.7).abs() < 1e-3,
        "{answer}"
    );
    // Fields give the same answer, as accurately as they can.
    let arguments = [
        "clearance",
        "a.tfs",
        "b.tfs",
        "--from",
        PAST[0],
        "--to",
        PAST[1],
    ];
    let by_fields = folder.json(&arguments);
    let [lower, upper] = ["lower_bound", "upper_bound"].map(|key| number(&by_fields[key]));
    assert!(lower <= LEAST && LEAST <= upper, "{by_fields}");
}

#[test]
fn what_overlaps_has_no_clearance() {
    let folder = with_cubes();
    // Ten centimetres deep at the end.
    let into = ["2,0,0,0,0,0,1", "0.5,0,0,0,0,0,1"];
    let answer = clearance(&folder, into, &[]);
    assert_eq!(answer["outcome"], "below-floor");
    assert!(number(&answer["upper_bound"]) <= 0.0, "{answer}");
    let deep = clearance(&folder, into, &["--floor", "-1m"]);
    let [lower, upper] = ["lower_bound", "upper_bound"].map(|key| number(&deep[key]));
    assert!(lower <= -0.1 && -0.1 <= upper + 1e-3, "{deep}");
}

#[test]
fn exit_codes_and_refusals() {
    let folder = with_cubes();
    let run = |[from, to]: [&str; 2], more: &[&str]| {
        let base = ["clearance", "a.obj", "b.obj", "--convex", "--from", from];
        let rest = ["--to", to, "--fail-on-contact"];
        folder.run(&[&base[..], &rest[..], more].concat())
    };
    assert_eq!(run(PAST, &[]).code, 0);
    assert_eq!(run(PAST, &["--at-least", "39cm"]).code, 0);
    let near = run(PAST, &["--at-least", "41cm"]);
    assert!(
        near.code == 1 && near.stdout.contains("clearance"),
        "{}",
        near.stderr
    );
    assert_eq!(run([PAST[0], "0,0,0,0,0,0,1"], &[]).code, 1);
    let fails = |more: &[&str], words: &[&str]| {
        let base = ["clearance", "a.tfs", "b.tfs", "--from", PAST[0]];
        folder.fails(&[&base[..], more].concat(), 2, words);
    };
    fails(&[], &["--to"]);
    fails(&["--to", PAST[1], "--tolerance", "0"], &["more than 0"]);
    fails(&["--to", PAST[1], "--floor", "deep"], &["not a length"]);
    fails(
        &["--to", "1e30,0,0,0,0,0,1"],
        &["cut the motion into pieces"],
    );
}
