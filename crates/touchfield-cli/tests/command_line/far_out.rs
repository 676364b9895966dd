//! Meshes far from the origin give the same answers as near it, in the frame of the mesh.
#![expect(clippy::unwrap_used, reason = "a failed `unwrap` is a failed test")]

use serde_json::Value;

use crate::folder::{CUBE, Folder};

/// Returns a cube of 1 m with its middle at a place.
fn cube_at(place: [f64; 3]) -> String {
    let line = |line: &str| match line.strip_prefix("v ") {
        Some(numbers) => {
            let moved = numbers
                .split(' ')
                .zip(place)
                .map(|(number, place)| (number.parse::<f64>().unwrap() + place).to_string());
            format!("v {}\n", moved.collect::<Vec<_>>().join(" "))
        }
        None => format!("{line}\n"),
    };
    CUBE.lines().map(line).collect()
}

const A: [f64; 3] = [3e6, -2e5, 0.0];
const B: [f64; 3] = [0.0, 5e5, 7e5];

/// Returns a folder with cubes near the origin and far from it, as meshes and baked.
fn cubes() -> Folder {
    let folder = Folder::new();
    for (name, place) in [("near", [0.0; 3]), ("a", A), ("b", B)] {
        let (mesh, field) = (format!("{name}.obj"), format!("{name}.tfs"));
        folder.write(&mesh, cube_at(place));
        folder.json(&["bake", &mesh, "-o", &field, "--resolution", "33"]);
    }
    folder
}

/// Returns an unrotated pose of B in A at which the two far cubes are relative to each other as
/// cubes at the origin are at `pose`.
fn far([x, y, z]: [f64; 3]) -> String {
    format!(
        "{},{},{},0,0,0,1",
        x + A[0] - B[0],
        y + A[1] - B[1],
        z + A[2] - B[2]
    )
}

fn near([x, y, z]: [f64; 3]) -> String {
    format!("{x},{y},{z},0,0,0,1")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Asserts that a point is `near` moved to the frame of A's mesh.
fn assert_point(far: &Value, near: &Value) {
    for axis in 0..3 {
        let expected = number(&near[axis]) + A[axis];
        let found = number(&far[axis]);
        assert!((found - expected).abs() < 1e-6, "{far} is not {near} moved");
    }
}

#[test]
fn a_mesh_that_is_moved_has_the_field_of_one_at_the_origin_and_says_so() {
    let folder = cubes();
    let json = |name: &str| folder.json(&["inspect", name]);
    let (at_origin, moved) = (json("near.tfs"), json("a.tfs"));
    assert_eq!(at_origin["origin"], serde_json::json!([0.0, 0.0, 0.0]));
    assert_eq!(moved["origin"], serde_json::json!(A));
    for key in ["error_bound", "measured_error", "cell_size", "resolution"] {
        assert_eq!(moved[key], at_origin[key], "{key}");
    }
    assert_point(&moved["bounds"]["min"], &at_origin["bounds"]["min"]);
    let text = folder.run(&["inspect", "a.tfs"]).stdout;
    assert!(
        text.contains("origin") && text.contains("3000000"),
        "{text}"
    );
    let baked = folder
        .run(&["bake", "a.obj", "-o", "again.tfs", "--resolution", "33"])
        .stdout;
    assert!(baked.contains("(3000000, -200000, 0)"), "{baked}");
    assert_eq!(folder.read("again.tfs"), folder.read("a.tfs"));
}

#[test]
fn points_are_moved_in_f64_before_they_are_rounded() {
    let folder = cubes();
    folder.write("near.csv", "0.125,0.0625,0.75\n0.4990234375,0,0\n");
    folder.write(
        "far.csv",
        "3000000.125,-199999.9375,0.75\n3000000.4990234375,-200000,0\n",
    );
    let sampled = |field: &str, points: &str| folder.run(&["sample", field, "--points", points]);
    let expected = sampled("near.tfs", "near.csv");
    assert_eq!((expected.code, expected.stdout.lines().count()), (0, 3));
    assert_eq!(sampled("a.tfs", "far.csv").stdout, expected.stdout);
    assert_eq!(sampled("a.obj", "far.csv").code, 0, "a mesh is moved, too");
}

#[test]
fn pairs_are_asked_between_the_frames_of_their_meshes() {
    let folder = cubes();
    let ask = |command: &[&str], bodies: [&str; 2]| {
        folder.json(&[&[command[0]], &bodies[..], &command[1..]].concat())
    };
    for place in [[1.25, 0.0, 0.0], [0.75, 0.125, 0.25]] {
        for command in ["separation", "collide"] {
            let found = ask(&[command, "--b-in-a", &far(place)], ["a.tfs", "b.tfs"]);
            let expected = ask(
                &[command, "--b-in-a", &near(place)],
                ["near.tfs", "near.tfs"],
            );
            assert_eq!(found["origin_a"], serde_json::json!(A));
            assert_eq!(expected.get("origin_a"), None);
            match command {
                "separation" => {
                    assert_eq!(found["separation"], expected["separation"]);
                    assert_eq!(found["normal"], expected["normal"]);
                    assert_point(&found["point_on_a"], &expected["point_on_a"]);
                }
                _ => {
                    let [found, expected] = [&found, &expected].map(|json| &json["contacts"]);
                    let count = expected.as_array().unwrap().len();
                    assert_eq!(found.as_array().unwrap().len(), count);
                    if count > 0 {
                        assert_eq!(found[0]["separation"], expected[0]["separation"]);
                        assert_point(&found[0]["point"], &expected[0]["point"]);
                    }
                }
            }
        }
    }
    let (start, end) = ([3.0, 0.0, 0.0], [0.0, 0.0, 0.0]);
    for command in ["cast", "clearance"] {
        let moving = |from, to| vec![command.to_owned(), "--from".into(), from, "--to".into(), to];
        let asked = |command: Vec<String>, bodies| {
            ask(
                &command.iter().map(String::as_str).collect::<Vec<_>>(),
                bodies,
            )
        };
        let found = asked(moving(far(start), far(end)), ["a.tfs", "b.tfs"]);
        let expected = asked(moving(near(start), near(end)), ["near.tfs", "near.tfs"]);
        assert_eq!(found["time"], expected["time"], "{command}");
        assert_eq!(found["lower_bound"], expected["lower_bound"], "{command}");
        assert_point(&found["point"], &expected["point"]);
    }
}

#[test]
fn turned_poses_are_put_together_in_f64() {
    let folder = cubes();
    // B is turned by a quarter about z: its middle, (0, 5e5, 7e5), moves to (−5e5, 0, 7e5), and is
    // then placed 1.25 m beside that of A.
    let turn = "0,0,0.7071067811865476,0.7071067811865476";
    let pose = format!("{},{},{},{turn}", A[0] + 1.25 + 5e5, A[1], A[2] - 7e5);
    let found = folder.json(&["separation", "a.tfs", "b.tfs", "--b-in-a", &pose]);
    assert!(
        (number(&found["separation"]) - 0.25).abs() < 1e-5,
        "{found}"
    );
}

#[test]
fn sweeps_and_hulls_are_asked_between_meshes_too() {
    let folder = cubes();
    let place = [1.25, 0.125, 0.0];
    folder.write("far.csv", far(place) + "\n");
    folder.write("near.csv", near(place) + "\n");
    let sweep = |bodies: [&str; 2], poses: &str| {
        folder.json(&[
            "sweep", bodies[0], bodies[1], "--poses", poses, "-o", "rows.csv",
        ]);
        String::from_utf8(folder.read("rows.csv")).unwrap()
    };
    let expected = sweep(["near.tfs", "near.tfs"], "near.csv");
    assert_eq!(sweep(["a.tfs", "b.tfs"], "far.csv"), expected);
    folder.write(
        "far.csv",
        format!("{},{}\n", far([3.0, 0.0, 0.0]), far([0.0; 3])),
    );
    let rows = ["--motions", "far.csv", "-o", "rows.csv"];
    let found = folder.json(&[&["sweep", "a.tfs", "b.tfs"], &rows[..]].concat());
    assert_eq!(found["hits"], 1);
    let convex = folder.json(&[
        "separation",
        "a.obj",
        "b.obj",
        "--convex",
        "--b-in-a",
        &far(place),
    ]);
    assert!(
        (number(&convex["separation"]) - 0.25).abs() < 1e-6,
        "{convex}"
    );
    assert!(
        (number(&convex["point_on_a"][0]) - (A[0] + 0.5)).abs() < 1e-6,
        "{convex}"
    );
}

#[test]
fn what_is_converted_is_where_the_mesh_was() {
    let folder = cubes();
    folder.json(&["convert", "a.tfs", "-o", "back.ply"]);
    let bounds = &folder.json(&["inspect", "back.ply"])["bounds"];
    assert!(
        (number(&bounds["min"][0]) - (A[0] - 0.5)).abs() < 0.05,
        "{bounds}"
    );
    folder.json(&["convert", "a.tfs", "--field", "taylor", "-o", "taylor.tfs"]);
    assert_eq!(
        folder.json(&["inspect", "taylor.tfs"])["origin"],
        serde_json::json!(A)
    );
    let slice = [
        "slice",
        "a.tfs",
        "--axis",
        "x",
        "--at",
        "3000000.25",
        "-o",
        "s.png",
    ];
    assert_eq!(number(&folder.json(&slice)["at"]), 3000000.25);
}
