//! `cast` and `sweep --motions`: a small cube touches a big one, compared with times computed by
//! hand.

use crate::folder::{Folder, numbers, with_cubes};
use serde_json::Value;

/// B moves along x towards the side x = 0.5 of A, farther from A's edges than the field errors. B's
/// own side is 0.1 m ahead of its middle.
const FROM: &str = "2,0.05,-0.1,0,0,0,1";
const TO: &str = "0,0.05,-0.1,0,0,0,1";
/// Time at which B's middle is at x = 0.6.
const TOUCH: f64 = 0.7;
const BESIDE: [&str; 2] = ["2,2,0,0,0,0,1", "-2,2,0,0,0,0,1"];

fn cast(folder: &Folder, [from, to]: [&str; 2], more: &[&str]) -> Value {
    let arguments = ["cast", "a.tfs", "b.tfs", "--from", from, "--to", to];
    folder.json(&[&arguments, more].concat())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

#[test]
fn a_cube_that_flies_at_another_touches_when_it_should() {
    let folder = with_cubes();
    for key in [
        "hit",
        "time",
        "lower_bound",
        "point",
        "normal",
        "microseconds",
    ] {
        assert!(!cast(&folder, [FROM, TO], &[])[key].is_null(), "{key}");
    }
    let answer = cast(&folder, [FROM, TO], &["--tolerance", "0.1mm"]);
    assert_eq!(
        (&answer["hit"], &answer["outcome"]),
        (&true.into(), &"hit".into())
    );
    assert_eq!(
        (&answer["start"], &answer["complete"]),
        (&Value::Null, &true.into())
    );
    let (time, lower) = (number(&answer["time"]), number(&answer["lower_bound"]));
    // Trilinear grids are exact along the sides of cubes; proofs end earlier by twice the fields'
    // errors.
    assert!((time - TOUCH).abs() < 2e-4, "{answer}");
    assert!(lower <= TOUCH && lower > TOUCH - 0.2, "{answer}");
    let (point, normal) = (numbers(&answer["point"]), numbers(&answer["normal"]));
    assert!((point[0] - 0.5).abs() < 1e-3, "{answer}");
    assert!(normal[0] > 0.999, "{answer}");
    // A second run is equal bit for bit, except for the timing.
    let mut again = cast(
        &folder,
        [FROM, TO],
        &["--tolerance", "0.1mm", "--threads", "1"],
    );
    again["microseconds"] = answer["microseconds"].clone();
    assert_eq!(again, answer);
    // Ten centimetres before the touch.
    let safe = cast(
        &folder,
        [FROM, TO],
        &["--target", "10cm", "--tolerance", "0.1mm"],
    );
    assert!(
        (number(&safe["time"]) - (TOUCH - 0.05)).abs() < 2e-4,
        "{safe}"
    );
}

#[test]
fn a_cube_that_passes_is_proven_free() {
    let folder = with_cubes();
    let answer = cast(&folder, BESIDE, &["--fail-on-contact"]);
    assert_eq!(
        (&answer["hit"], &answer["outcome"]),
        (&false.into(), &"free".into())
    );
    assert_eq!(
        (number(&answer["lower_bound"]), number(&answer["time"])),
        (1.0, 1.0)
    );
}

#[test]
fn a_turn_brings_the_edge_of_a_cube_to_the_other() {
    let folder = with_cubes();
    // A gap of 2 cm. The edge approaches by 0.1 (cos + sin − 1) and touches at 13 of 45 degrees;
    // the coarse field rounds edges.
    let here = "0.62,0,0,0,0,0,1";
    for (to, turn) in [
        (here, &["--turn", "0,0,0.7853982"][..]),
        ("0.62,0,0,0,0,0.3826834,0.9238795", &[]),
    ] {
        let answer = cast(&folder, [here, to], turn);
        let time = number(&answer["time"]);
        assert!(
            answer["hit"] == true && (0.2..0.7).contains(&time),
            "{answer}"
        );
        assert!(number(&answer["lower_bound"]) <= 13.06 / 45.0, "{answer}");
    }
    // Without a turn B stays where it is; turning about a point far behind it sweeps it into A.
    assert_eq!(cast(&folder, [here, here], &[])["hit"], false);
    let swept = cast(
        &folder,
        [here, here],
        &["--turn", "0,0,-1", "--center", "0,1,0"],
    );
    assert_eq!(swept["hit"], true);
    let away = cast(
        &folder,
        [here, here],
        &["--turn", "0,0,-1", "--center", "1,0,0"],
    );
    assert!(
        number(&away["lower_bound"]) <= number(&away["time"]),
        "{away}"
    );
}

#[test]
fn contact_at_the_start_is_told_apart() {
    let folder = with_cubes();
    let inside = "0.54,0.05,-0.1,0,0,0,1";
    let deeper = cast(&folder, [inside, TO], &[]);
    assert_eq!(
        (&deeper["start"], &deeper["hit"]),
        (&"deepening".into(), &true.into())
    );
    assert_eq!(
        (number(&deeper["time"]), number(&deeper["lower_bound"])),
        (0.0, 0.0)
    );
    let along = cast(&folder, [inside, "0.54,-0.1,-0.1,0,0,0,1"], &[]);
    assert_eq!(
        (&along["start"], &along["hit"]),
        (&"sliding".into(), &true.into())
    );
    let out = cast(&folder, [inside, FROM], &[]);
    assert_eq!(
        (&out["start"], &out["hit"]),
        (&"separating".into(), &false.into())
    );
    assert!(number(&out["from"]) > 0.06 / 1.46, "{out}");
}

#[test]
fn a_touch_is_exit_code_1_only_where_it_was_asked_for() {
    let folder = with_cubes();
    let run = |[from, to]: [&str; 2], more: &[&str]| {
        folder.run(
            &[
                &["cast", "a.tfs", "b.tfs", "--from", from, "--to", to],
                more,
            ]
            .concat(),
        )
    };
    assert_eq!(run([FROM, TO], &[]).code, 0);
    let touching = run([FROM, TO], &["--fail-on-contact", "--json"]);
    assert_eq!((touching.code, touching.stderr.as_str()), (1, ""));
    assert!(
        touching.stdout.contains("\"lower_bound\""),
        "{}",
        touching.stdout
    );
    let said = run([FROM, TO], &[]);
    assert!(
        said.stdout.contains("touch at 0.6") && said.stdout.contains("proven free"),
        "{}",
        said.stdout
    );
    // In contact at the start, and free from there on: this still counts as contact.
    assert_eq!(
        run(["0.54,0.05,-0.1,0,0,0,1", FROM], &["--fail-on-contact"]).code,
        1
    );
}

#[test]
fn motions_that_are_none_are_refused_with_the_way_out() {
    let folder = with_cubes();
    let fails = |from: &str, to: &str, more: &[&str], words: &[&str]| {
        let pair = ["cast", "a.tfs", "b.tfs", "--from", from, "--to", to];
        folder.fails(&[&pair, more].concat(), 2, words);
    };
    fails("0,0,nan,0,0,0,1", TO, &[], &["not a pose"]);
    fails(FROM, "0,0,0", &[], &["3 numbers instead of 7"]);
    fails(FROM, TO, &["--turn", "1,2"], &["not a vector", "X,Y,Z"]);
    fails(FROM, TO, &["--turn", "1e39,0,0"], &["f32"]);
    fails(
        FROM,
        TO,
        &["--turn", "1e30,0,0"],
        &["cut the motion into pieces"],
    );
    fails("1e30,0,0,0,0,0,1", TO, &[], &["cut the motion into pieces"]);
    fails(FROM, TO, &["--tolerance", "0"], &["more than 0"]);
    fails(FROM, TO, &["--target", "far"], &["not a length"]);
    fails(FROM, TO, &["--target", "1e39"], &["finite"]);
    folder.fails(&["cast", "a.tfs", "b.tfs", "--from", FROM], 2, &["--to"]);
}

#[test]
fn a_sweep_of_motions_says_what_single_casts_say() {
    let folder = with_cubes();
    let motions = [[FROM, TO], BESIDE, ["0.54,0.05,-0.1,0,0,0,1", TO]];
    let text: String = motions.map(|[from, to]| format!("{from},{to}\n")).concat();
    folder.write("m.csv", &text);
    let sweep = [
        "sweep",
        "a.tfs",
        "b.tfs",
        "--motions",
        "m.csv",
        "-o",
        "r.csv",
    ];
    let answer = folder.json(&sweep);
    assert_eq!(
        (&answer["motions"], &answer["hits"], &answer["free"]),
        (&3.into(), &2.into(), &1.into())
    );
    let written = String::from_utf8(folder.read("r.csv")).unwrap_or_default();
    let mut lines = written.lines();
    assert_eq!(
        lines.next(),
        Some("time,lower_bound,hit,px,py,pz,nx,ny,nz,separation,from")
    );
    let rows: Vec<Vec<f64>> = lines
        .map(|line| {
            line.split(',')
                .map(|x| x.parse().unwrap_or(f64::NAN))
                .collect()
        })
        .collect();
    for (row, motion) in rows.iter().zip(motions) {
        let single = cast(&folder, motion, &[]);
        let mut expected = vec![
            number(&single["time"]),
            number(&single["lower_bound"]),
            f64::from(u8::from(single["hit"] == true)),
        ];
        expected.extend(numbers(&single["point"]));
        expected.extend(numbers(&single["normal"]));
        expected.push(number(&single["separation"]));
        // None of these starts in contact and separates.
        expected.push(0.0);
        for (found, expected) in row.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-6, "{row:?} {single}");
        }
        assert_eq!(row.len(), expected.len());
    }
    // The same as an array, and on one thread.
    folder.json(&[
        "sweep",
        "a.tfs",
        "b.tfs",
        "--motions",
        "m.csv",
        "-o",
        "r.npy",
        "--threads",
        "1",
    ]);
    let bytes = folder.read("r.npy");
    let values: Vec<f32> = (bytes[bytes.len() - 132..].as_chunks().0.iter())
        .map(|&four| f32::from_le_bytes(four))
        .collect();
    for (found, expected) in values.iter().zip(rows.iter().flatten()) {
        assert!((f64::from(*found) - expected).abs() < 1e-6);
    }
    let target = [&sweep[..], &["--target", "10cm", "--fail-on-contact"]].concat();
    assert_eq!(folder.run(&target).code, 1);
    // Options that conflict, and rows that are not motions.
    let fails = |more: &[&str], words: &[&str]| {
        let base = ["sweep", "a.tfs", "b.tfs", "-o", "x.csv"];
        folder.fails(&[&base, more].concat(), 2, words);
    };
    fails(
        &["--motions", "m.csv", "--poses", "m.csv"],
        &["cannot be used with"],
    );
    fails(
        &["--motions", "m.csv", "--method", "separation"],
        &["cannot be used with"],
    );
    fails(
        &["--poses", "m.csv", "--target", "1mm"],
        &["cannot be used with"],
    );
    fails(&[], &["--poses"]);
    fails(&["--poses", "m.csv"], &["14 columns instead of 7"]);
    folder.write("bad.csv", "0,0,0,0,0,0,1,0,0,0,0,0,0,0\n");
    fails(
        &["--motions", "bad.csv"],
        &["line 1", "to end at", "zero quaternion"],
    );
    // The error names a motion that cannot be cast.
    folder.write("fast.csv", format!("{FROM},{TO}\n{FROM},1e9,0,0,0,0,0,1\n"));
    fails(&["--motions", "fast.csv"], &["motion 2"]);
    folder.fails(
        &[
            "sweep",
            "a.tfs",
            "b.tfs",
            "--motions",
            "m.csv",
            "-o",
            "m.csv",
        ],
        2,
        &["m.csv"],
    );
}
