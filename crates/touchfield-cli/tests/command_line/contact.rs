//! `collide`, `separation` and the contacts of `render`: their JSON against closed forms for cubes.

use crate::folder::{Folder, Run, numbers, with_cubes};
use serde_json::Value;

/// Pose in which B stands 0.06 m deep in the side x = 0.5 of A, away from its edges.
const OVERLAPPING: &str = "0.54,0.05,-0.1,0,0,0,1";
const DEPTH: f64 = 0.06;
/// Pose in which B is 0.05 m away from the same side.
const NEAR: &str = "0.65,0.05,-0.1,0,0,0,1";
const GAP: f64 = 0.05;
/// Tolerance: trilinear grids are exact along the sides of cubes, up to the rounding of `f32` and
/// the residual of the methods' searches.
const EXACT: f64 = 1e-4;
/// Names of methods, without `auto`, `both-shells` and `convex`.
const METHODS: [&str; 7] = [
    "point-samples",
    "shell-traversal",
    "shell-segments",
    "separation",
    "octree-subdivision",
    "projection-particles",
    "face-descent",
];

fn collide(folder: &Folder, pose: &str, more: &[&str]) -> Value {
    folder.json(&[&["collide", "a.tfs", "b.tfs", "--b-in-a", pose], more].concat())
}

fn separation(folder: &Folder, pose: &str, more: &[&str]) -> Value {
    folder.json(&[&["separation", "a.tfs", "b.tfs", "--b-in-a", pose], more].concat())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn contacts(answer: &Value) -> Vec<Value> {
    answer["contacts"].as_array().cloned().unwrap_or_default()
}

fn keys(object: &Value) -> Vec<&str> {
    let object = object.as_object().into_iter().flatten();
    let mut keys: Vec<&str> = object.map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
}

fn json_of(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or(Value::Null)
}

#[test]
fn collide_answers_with_the_keys_that_scripts_read() {
    let folder = with_cubes();
    let answer = collide(&folder, OVERLAPPING, &[]);
    assert_eq!(
        keys(&answer),
        [
            "complete",
            "contacts",
            "energy",
            "method",
            "microseconds",
            "stiffness",
            "wrench"
        ]
    );
    assert!(number(&answer["microseconds"]) > 0.0, "{answer}");
    assert!(METHODS.contains(&answer["method"].as_str().unwrap_or_default()));
    assert_eq!(answer["complete"], true);
    let found = contacts(&answer);
    assert!(!found.is_empty(), "{answer}");
    for contact in &found {
        assert_eq!(keys(contact), ["id", "normal", "point", "separation"]);
        assert!(contact["id"].is_u64(), "{contact}");
        let (point, normal) = (numbers(&contact["point"]), numbers(&contact["normal"]));
        assert_eq!((point.len(), normal.len()), (3, 3));
        assert!((dot(&normal, &normal) - 1.0).abs() < 1e-5, "{contact}");
        assert!(number(&contact["separation"]) <= 0.0, "{contact}");
    }
}

#[test]
fn contacts_of_cubes_are_as_deep_as_the_cubes_and_deepest_first() {
    let folder = with_cubes();
    let found = contacts(&collide(&folder, OVERLAPPING, &[]));
    let depths: Vec<f64> = found.iter().map(|c| number(&c["separation"])).collect();
    assert!(depths.is_sorted(), "{depths:?}");
    assert!((depths[0] + DEPTH).abs() < EXACT, "{depths:?}");
    // The normal points from A to B. The point is midway between x = 0.5, where A ends, and x =
    // 0.44, where B begins, on the face of B that is inside.
    let point = numbers(&found[0]["point"]);
    assert!(
        near(&numbers(&found[0]["normal"]), &[1.0, 0.0, 0.0], 1e-3),
        "{}",
        found[0]
    );
    assert!((point[0] - 0.47).abs() < EXACT, "{point:?}");
    assert!(
        (point[1] - 0.05).abs() < 0.11 && (point[2] + 0.1).abs() < 0.11,
        "{point:?}"
    );
    // A second run is equal bit for bit.
    assert_eq!(found, contacts(&collide(&folder, OVERLAPPING, &[])));
    let one_thread = collide(&folder, OVERLAPPING, &["--threads", "1"]);
    assert_eq!(found, contacts(&one_thread));
}

/// The face of B at x = 0.44 is inside A, and so are strips of its four sides, all with the
/// gradient of A's side x = 0.5. Of A, the square of that side is inside B: its middle is nearest
/// to B's face at x = 0.44, the rest nearer to the four sides, whose pushes cancel. Each surface
/// counts half.
#[test]
fn the_wrench_of_a_face_pressed_in_is_pressure_times_area() {
    const SIDE: f64 = 0.2;
    let folder = with_cubes();
    let answer = collide(&folder, OVERLAPPING, &["--stiffness", "1e6"]);
    let wrench = &answer["wrench"];
    assert_eq!(keys(wrench), ["about", "force", "torque"]);
    assert_eq!(answer["stiffness"], 1e6);
    let (force, torque) = (numbers(&wrench["force"]), numbers(&wrench["torque"]));
    assert!(
        near(&numbers(&wrench["about"]), &[0.54, 0.05, -0.1], 1e-4),
        "{wrench}"
    );
    let face = DEPTH * SIDE * SIDE;
    let strips = 0.5 * DEPTH * 4.0 * SIDE * DEPTH;
    let middle = DEPTH * (SIDE - 2.0 * DEPTH).powi(2);
    let exact = 1e6 * 0.5 * (face + strips + middle);
    // A's shell has only a few points in the square.
    assert!(
        (force[0] / exact - 1.0).abs() < 0.1,
        "{force:?} for {exact}"
    );
    assert!(force[1].hypot(force[2]) < 0.2 * exact, "{force:?}");
    let largest = 0.2 * exact * SIDE;
    assert!(torque.iter().all(|t| t.abs() < largest), "{torque:?}");
    // A force is proportional to the stiffness, and is 0 apart.
    let soft = collide(&folder, OVERLAPPING, &[]);
    let ratio = force[0] / numbers(&soft["wrench"]["force"])[0];
    assert!((ratio / 1e6 - 1.0).abs() < 1e-4, "{ratio}");
    let apart = collide(&folder, NEAR, &[]);
    assert_eq!(numbers(&apart["wrench"]["force"]), [0.0; 3], "{apart}");
    // Segments add up to the whole.
    let segments = collide(&folder, OVERLAPPING, &["--method", "shell-segments"]);
    let parts = segments["segments"].as_array().cloned().unwrap_or_default();
    assert!(parts.len() > 1, "{segments}");
    let sum: f64 = parts.iter().map(|part| numbers(&part["force"])[0]).sum();
    let whole = numbers(&segments["wrench"]["force"])[0];
    assert!((sum / whole - 1.0).abs() < 1e-4, "{sum} for {whole}");
    for text in ["-1", "nan", "stiff"] {
        let pose = ["collide", "a.tfs", "b.tfs", "--b-in-a", OVERLAPPING];
        let run = folder.run(&[&pose[..], &["--stiffness", text]].concat());
        assert_eq!(run.code, 2, "{text}: {}", run.stderr);
    }
}

#[test]
fn people_are_shown_a_few_contacts_and_told_of_the_others() {
    let folder = with_cubes();
    let all = contacts(&collide(&folder, OVERLAPPING, &[])).len();
    assert!(all > 10, "{all}");
    let arguments = ["collide", "a.tfs", "b.tfs", "--b-in-a", OVERLAPPING];
    let run = folder.run(&arguments);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for words in ["contacts", "deepest", "-60 mm", "method", "normal"] {
        assert!(run.stdout.contains(words), "no `{words}`: {}", run.stdout);
    }
    let rest = format!("and {} more", all - 10);
    assert!(run.stdout.contains(&rest), "{}", run.stdout);
}

#[test]
fn bodies_apart_have_no_contacts_unless_nearness_is_asked_for() {
    let folder = with_cubes();
    let apart = collide(&folder, NEAR, &[]);
    assert_eq!(contacts(&apart), Vec::<Value>::new(), "{apart}");
    assert!(contacts(&collide(&folder, NEAR, &["--max-separation", "4.9cm"])).is_empty());
    let found = contacts(&collide(&folder, NEAR, &["--max-separation", "60mm"]));
    let gaps: Vec<f64> = found.iter().map(|c| number(&c["separation"])).collect();
    assert!(!gaps.is_empty() && gaps.is_sorted(), "{gaps:?}");
    assert!((gaps[0] - GAP).abs() < EXACT, "{gaps:?}");
    assert!(gaps.iter().all(|&gap| gap <= 0.06), "{gaps:?}");
    // Far beyond both grids.
    let far = collide(&folder, "1e6,0,0,0,0,0,1", &["--max-separation", "1m"]);
    assert!(contacts(&far).is_empty(), "{far}");
    let run = folder.run(&["collide", "a.tfs", "b.tfs", "--b-in-a", NEAR]);
    assert!(
        run.stdout.contains("contacts  0") && !run.stdout.contains("deepest"),
        "{}",
        run.stdout
    );
}

#[test]
fn every_method_finds_the_depth_and_says_its_name() {
    let folder = with_cubes();
    for method in METHODS.into_iter().filter(|&name| name != "separation") {
        let answer = collide(&folder, OVERLAPPING, &["--method", method]);
        assert_eq!(answer["method"], method);
        let found = contacts(&answer);
        assert!(!found.is_empty(), "{method}: {answer}");
        let normal = numbers(&found[0]["normal"]);
        assert!(normal[0] > 0.9, "{method}: {normal:?}");
        let deepest = number(&found[0]["separation"]);
        // The boxes of subdivision end at a fraction of a cell, which is 0.13 m here.
        let tolerance = match method {
            "octree-subdivision" | "projection-particles" => 0.03,
            _ => EXACT,
        };
        assert!((deepest + DEPTH).abs() < tolerance, "{method}: {deepest}");
        let apart = collide(&folder, NEAR, &["--method", method]);
        assert!(contacts(&apart).is_empty(), "{method}: {apart}");
    }
    let automatic = collide(&folder, OVERLAPPING, &["--method", "auto"]);
    assert!(METHODS.contains(&automatic["method"].as_str().unwrap_or_default()));
}

/// The contact of a coarse and a fine field was lost. The search minimises `max(φA − εA, φB − εB)`.
/// With errors of 91 and 18 mm its point was not where the fields are deepest: the estimate leaned
/// towards the finer field.
#[test]
fn the_separation_of_a_coarse_and_a_fine_field_is_a_contact() {
    let folder = with_cubes();
    let answer = collide(&folder, OVERLAPPING, &["--method", "separation"]);
    let found = contacts(&answer);
    assert!(!found.is_empty(), "{answer}");
    assert!(
        (number(&found[0]["separation"]) + DEPTH).abs() < 0.01,
        "{answer}"
    );
}

#[test]
fn few_contacts_are_kept_and_the_deepest_among_them() {
    let folder = with_cubes();
    let all = contacts(&collide(&folder, OVERLAPPING, &[]));
    for keep in [1, 4, 8] {
        let kept = contacts(&collide(
            &folder,
            OVERLAPPING,
            &["--keep", &keep.to_string()],
        ));
        assert!(!kept.is_empty() && kept.len() <= keep, "{}", kept.len());
        assert!(kept.iter().all(|contact| all.contains(contact)));
        let (first, deepest) = (
            number(&kept[0]["separation"]),
            number(&all[0]["separation"]),
        );
        assert!((first - deepest).abs() < EXACT, "{first} of {deepest}");
    }
    let most = contacts(&collide(&folder, OVERLAPPING, &["--keep", "65535"]));
    assert!(most.len() <= all.len());
    let none = collide(&folder, NEAR, &["--keep", "4"]);
    assert!(contacts(&none).is_empty(), "{none}");
}

#[test]
fn a_budget_that_suffices_changes_nothing_and_one_that_does_not_is_told() {
    let folder = with_cubes();
    let all = collide(&folder, OVERLAPPING, &[]);
    let ample = collide(&folder, OVERLAPPING, &["--budget", "60000000"]);
    assert_eq!(
        (contacts(&ample), &ample["complete"]),
        (contacts(&all), &true.into())
    );
    let hasty = collide(&folder, OVERLAPPING, &["--budget", "1"]);
    // The budget of a microsecond runs out before the first level, unless the machine is fast
    // enough to finish.
    if hasty["complete"] == false {
        let run = folder.run(&[
            "collide",
            "a.tfs",
            "b.tfs",
            "--b-in-a",
            OVERLAPPING,
            "--budget",
            "1",
        ]);
        assert!(
            run.code == 0 && run.stdout.contains("out of time"),
            "{}",
            run.stdout
        );
    } else {
        assert_eq!(contacts(&hasty), contacts(&all));
    }
}

#[test]
fn contact_is_exit_code_1_only_where_it_was_asked_for() {
    let folder = with_cubes();
    for command in ["collide", "separation"] {
        let run = |pose: &str, more: &[&str]| {
            folder.run(&[&[command, "a.tfs", "b.tfs", "--b-in-a", pose], more].concat())
        };
        assert_eq!(run(OVERLAPPING, &[]).code, 0, "{command}");
        // Far enough apart for coarse fields to prove it.
        assert_eq!(
            run("0.9,0,0,0,0,0,1", &["--fail-on-contact"]).code,
            0,
            "{command}"
        );
        // The answer is still printed on stdout.
        let touching = run(OVERLAPPING, &["--fail-on-contact", "--json"]);
        assert_eq!((touching.code, touching.stderr.as_str()), (1, ""));
        assert!(json_of(&touching)["microseconds"].is_number(), "{command}");
        let said = run(OVERLAPPING, &["--fail-on-contact"]);
        assert!(
            said.code == 1 && said.stdout.contains("normal"),
            "{}",
            said.stdout
        );
    }
}

/// The same two bodies with B named first: everything is in the frame of the other body, and the
/// normals are reversed.
#[test]
fn bodies_that_change_places_flip_the_normals() {
    let folder = with_cubes();
    // B is turned by a quarter about z, with a quaternion that is not of unit length; then the
    // inverse of that pose.
    let (b_in_a, a_in_b) = ("0.54,0.05,-0.1,0,0,3,3", "-0.05,0.54,0.1,0,0,-3,3");
    let there = contacts(&collide(&folder, b_in_a, &[]));
    let back = contacts(&folder.json(&["collide", "b.tfs", "a.tfs", "--b-in-a", a_in_b]));
    assert_eq!(there.len(), back.len());
    assert!(!there.is_empty());
    let turned = |v: &[f64]| vec![-v[1], v[0], v[2]];
    let (first, last) = (&there[0], &back[0]);
    assert!(
        (number(&first["separation"]) - number(&last["separation"])).abs() < EXACT,
        "{first} {last}"
    );
    for contact in &back {
        let normal: Vec<f64> = turned(&numbers(&contact["normal"]))
            .iter()
            .map(|x| -x)
            .collect();
        let mut point = turned(&numbers(&contact["point"]));
        for (x, t) in point.iter_mut().zip([0.54, 0.05, -0.1]) {
            *x += t;
        }
        let found = there.iter().any(|other| {
            near(&numbers(&other["normal"]), &normal, 1e-3)
                && near(&numbers(&other["point"]), &point, EXACT)
        });
        assert!(found, "{contact}: no contact at {point:?} along {normal:?}");
    }
    // The separation must agree as well.
    let there = separation(&folder, b_in_a, &[]);
    let back = folder.json(&["separation", "b.tfs", "a.tfs", "--b-in-a", a_in_b]);
    assert!(numbers(&there["normal"])[0] > 0.9, "{there}");
    assert!(numbers(&back["normal"])[1] > 0.9, "{back}");
    assert!(number(&there["lower_bound"]) <= number(&back["upper_bound"]));
    assert!(number(&back["lower_bound"]) <= number(&there["upper_bound"]));
}

#[test]
fn separation_brackets_the_distance_of_cubes() {
    let folder = with_cubes();
    for (pose, truth) in [(NEAR, GAP), (OVERLAPPING, -DEPTH)] {
        let answer = separation(&folder, pose, &[]);
        for key in [
            "separation",
            "lower_bound",
            "upper_bound",
            "point_on_a",
            "point_on_b",
            "normal",
            "microseconds",
        ] {
            assert!(keys(&answer).contains(&key), "no `{key}` in {answer}");
        }
        let [lower, value, upper] =
            ["lower_bound", "separation", "upper_bound"].map(|key| number(&answer[key]));
        assert!(lower <= truth && truth <= upper, "{truth}: {answer}");
        assert!(lower <= value && value <= upper, "{answer}");
        let normal = numbers(&answer["normal"]);
        assert!(normal[0] > 0.9, "{answer}");
        // The proven bracket is as wide as the errors of such coarse fields, and so is the
        // estimate. The vector between the witness points has the sign of the separation.
        let way = minus(
            &numbers(&answer["point_on_b"]),
            &numbers(&answer["point_on_a"]),
        );
        assert!(dot(&way, &normal) * truth > 0.0, "{answer}");
        assert!(
            (numbers(&answer["point_on_a"])[0] - 0.5).abs() < 2e-3,
            "{answer}"
        );
    }
    let said = |pose| {
        folder
            .run(&["separation", "a.tfs", "b.tfs", "--b-in-a", pose])
            .stdout
    };
    let far = said("2,0,0,0,0,0,1");
    assert!(far.contains("apart") && far.contains("proven"), "{far}");
}

#[test]
fn a_finer_tolerance_narrows_the_bracket_and_takes_more_boxes() {
    let folder = with_cubes();
    let width = |answer: &Value| number(&answer["upper_bound"]) - number(&answer["lower_bound"]);
    let wide = separation(&folder, OVERLAPPING, &["--tolerance", "10cm"]);
    let narrow = separation(&folder, OVERLAPPING, &["--tolerance", "0.1mm"]);
    assert!(width(&narrow) < width(&wide), "{wide} {narrow}");
    assert!(
        number(&narrow["boxes"]) > number(&wide["boxes"]),
        "{wide} {narrow}"
    );
    for answer in [&wide, &narrow] {
        assert!(
            number(&answer["lower_bound"]) <= -DEPTH && -DEPTH <= number(&answer["upper_bound"])
        );
    }
    // A tolerance below rounding still terminates, and the bounds still hold.
    let hopeless = separation(&folder, OVERLAPPING, &["--tolerance", "1e-30"]);
    assert!(number(&hopeless["lower_bound"]) <= -DEPTH, "{hopeless}");
}

/// The fields here prove 91 and 18 mm; the faces prove the requested tolerance.
#[test]
fn bodies_apart_are_bracketed_as_narrowly_as_asked_with_meshes_and_with_files_that_hold_their_faces()
 {
    let folder = with_cubes();
    for (a, b) in [("a.obj", "b.obj"), ("a.tfs", "b.tfs"), ("a.tfs", "b.obj")] {
        let arguments = ["separation", a, b, "--b-in-a", NEAR];
        let answer = folder.json(&arguments);
        let [lower, upper] = ["lower_bound", "upper_bound"].map(|key| number(&answer[key]));
        assert!(lower <= GAP && GAP <= upper, "{answer}");
        assert!(upper - lower <= number(&answer["tolerance"]), "{answer}");
        let answer = folder.json(&[&arguments[..], &["--tolerance", "0.1mm"]].concat());
        let [lower, upper] = ["lower_bound", "upper_bound"].map(|key| number(&answer[key]));
        assert!(lower <= GAP && GAP <= upper, "{answer}");
        assert!(upper - lower <= 1.001e-4, "{answer}");
    }
}

#[test]
fn a_field_alone_is_a_smaller_file_and_finds_the_same_contact() {
    let folder = with_cubes();
    let bake = ["bake", "a.obj", "-o", "alone.tfs", "--resolution", "16"];
    folder.json(&[&bake[..], &["--field-only"]].concat());
    folder.json(&["bake", "a.obj", "-o", "whole.tfs", "--resolution", "16"]);
    assert!(folder.read("alone.tfs").len() < folder.read("whole.tfs").len());
    for name in ["alone.tfs", "whole.tfs"] {
        let answer = folder.json(&["collide", name, "b.tfs", "--b-in-a", OVERLAPPING]);
        let found = contacts(&answer);
        let deepest = number(&found[0]["separation"]);
        assert!((deepest + DEPTH).abs() < EXACT, "{name}: {answer}");
    }
    let run = folder.run(&[
        "collide",
        "alone.tfs",
        "alone.tfs",
        "--b-in-a",
        OVERLAPPING,
        "--method",
        "face-descent",
    ]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("needs a surface"), "{}", run.stderr);
}

#[test]
fn meshes_and_fields_are_asked_alike() {
    let folder = with_cubes();
    for (a, b) in [("a.obj", "b.tfs"), ("a.tfs", "b.obj"), ("a.obj", "b.obj")] {
        let run = folder.run(&["collide", a, b, "--b-in-a", OVERLAPPING, "--json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let baked = [a, b].iter().filter(|name| name.ends_with("obj")).count();
        assert_eq!(
            run.stderr.matches("baked in memory").count(),
            baked,
            "{}",
            run.stderr
        );
        let found = contacts(&json_of(&run));
        let deepest = number(&found[0]["separation"]);
        assert!((deepest + DEPTH).abs() < EXACT, "{a} {b}: {deepest}");
    }
}

#[test]
fn a_body_against_itself_is_deep_inside() {
    let folder = with_cubes();
    let identity = "0,0,0,0,0,0,1";
    // The largest ball in the overlap is that of the cube itself.
    let answer = folder.json(&["separation", "a.tfs", "a.tfs", "--b-in-a", identity]);
    assert!(
        number(&answer["lower_bound"]) <= -1.0 && -1.0 <= number(&answer["upper_bound"]),
        "{answer}"
    );
    let mesh = folder.run(&["collide", "b.obj", "b.obj", "--b-in-a", identity, "--json"]);
    assert_eq!(mesh.code, 0, "{}", mesh.stderr);
    assert_eq!(
        mesh.stderr.matches("baked in memory").count(),
        1,
        "read once: {}",
        mesh.stderr
    );
    for contact in contacts(&json_of(&mesh)) {
        let normal = numbers(&contact["normal"]);
        assert!((dot(&normal, &normal) - 1.0).abs() < 1e-5, "{contact}");
        assert!(numbers(&contact["point"]).iter().all(|x| x.is_finite()));
    }
}

#[test]
fn a_body_wholly_inside_another_is_in_contact_whichever_comes_first() {
    let folder = with_cubes();
    // B's near side is 0.3 m inside the side z = 0.5 of A, its far side 0.5 m.
    for (a, b, pose) in [
        ("a.tfs", "b.tfs", "0,0,0.1,0,0,0,1"),
        ("b.tfs", "a.tfs", "0,0,-0.1,0,0,0,1"),
    ] {
        for method in ["auto", "separation", "octree-subdivision"] {
            let arguments = ["collide", a, b, "--b-in-a", pose, "--method", method];
            let found = contacts(&folder.json(&arguments));
            assert!(!found.is_empty(), "{method} {a} {b}");
            assert!(
                number(&found[0]["separation"]) < 0.0,
                "{method}: {}",
                found[0]
            );
        }
        // The largest ball in the overlap is the one in B.
        let answer = folder.json(&["separation", a, b, "--b-in-a", pose]);
        assert!(
            number(&answer["lower_bound"]) <= -0.2 && -0.2 <= number(&answer["upper_bound"]),
            "{answer}"
        );
    }
}

#[test]
fn a_picture_of_two_bodies_tells_how_many_contacts_are_drawn() {
    let folder = with_cubes();
    let render = |files: &[&str]| {
        folder.json(&[&["render"], files, &["--size", "80x60", "-o", "r.png"]].concat())
    };
    let b = |pose: &str| format!("b.tfs@{pose}");
    let touching = render(&["a.tfs", &b(OVERLAPPING)]);
    let drawn = touching["contacts"].as_u64().unwrap_or_default();
    assert!((1..=12).contains(&drawn), "{touching}");
    let with_contacts = folder.read("r.png");
    assert_eq!(render(&["a.tfs", &b(NEAR)])["contacts"], 0);
    assert_eq!(render(&["a.tfs"])["contacts"], 0);
    // Both bodies moved alike, so the contacts are the same.
    let (a, b) = ("a.tfs@5,0,0,0,0,0,1", b("5.54,0.05,-0.1,0,0,0,1"));
    assert_eq!(render(&[a, &b])["contacts"], drawn);
    assert!(!with_contacts.is_empty());
}

/// Files were read again to find contacts: from a pipe nothing was left to read, and meshes were
/// baked twice.
#[test]
fn the_bodies_of_a_picture_are_read_once() {
    let folder = with_cubes();
    let b = format!("b.obj@{OVERLAPPING}");
    let arguments = ["render", "a.tfs", &b, "--size", "40x30", "-o", "r.png"];
    let run = folder.run(&arguments);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(
        run.stderr.matches("baked in memory").count(),
        1,
        "{}",
        run.stderr
    );
    assert!(run.stdout.contains("contacts drawn"), "{}", run.stdout);
}

#[test]
fn poses_that_are_none_are_refused_with_the_way_out() {
    let folder = with_cubes();
    for command in ["collide", "separation"] {
        let fails = |pose: &str, words: &[&str]| {
            folder.fails(&[command, "a.tfs", "b.tfs", "--b-in-a", pose], 2, words);
        };
        let example = "0,0,0.1,0,0,0,1";
        fails("0,0,0,0,0,0,0", &["zero quaternion", example]);
        fails("0,0,0,0,0,1", &["6 numbers instead of 7", example]);
        fails("0,0,0,0,0,0,1,1", &["8 numbers instead of 7"]);
        fails("nan,0,0,0,0,0,1", &["nan", "finite"]);
        fails("0,0,0,inf,0,0,1", &["inf", "finite"]);
        fails("1e39,0,0,0,0,0,1", &["f32"]);
        // These numbers fit `f32`, but the distances between them do not: the separation was
        // infinite.
        fails("3e38,-3e38,3e38,0,0,0,1", &["1e37 m"]);
        fails("", &["not a pose"]);
        fails("here", &["`here`"]);
        folder.fails(&[command, "a.tfs", "b.tfs"], 2, &["--b-in-a"]);
        folder.fails(&[command, "a.tfs", "--b-in-a", example], 2, &["<B>"]);
    }
}

#[test]
fn nonsense_of_every_option_is_refused() {
    let folder = with_cubes();
    let fails = |command: &str, more: &[&str], words: &[&str]| {
        let pair = [command, "a.tfs", "b.tfs", "--b-in-a", NEAR];
        folder.fails(&[&pair, more].concat(), 2, words);
    };
    fails(
        "collide",
        &["--max-separation", "-1mm"],
        &["-0.001", "not negative"],
    );
    fails("collide", &["--max-separation", "nan"], &["not a length"]);
    fails("collide", &["--max-separation", "1e39"], &["finite"]);
    fails(
        "collide",
        &["--max-separation", "far"],
        &["not a length", "0.05mm"],
    );
    fails("collide", &["--keep", "0"], &["--keep"]);
    fails("collide", &["--keep", "-1"], &["-1"]);
    fails("collide", &["--keep", "65536"], &["--keep"]);
    fails("collide", &["--budget", "0"], &["--budget"]);
    fails("collide", &["--budget", "soon"], &["--budget"]);
    fails("collide", &["--method", "guess"], &METHODS);
    fails("separation", &["--tolerance", "0"], &["more than 0"]);
    fails(
        "separation",
        &["--tolerance", "-1mm"],
        &["-0.001", "more than 0"],
    );
    fails("separation", &["--tolerance", "inf"], &["not a length"]);
    fails("separation", &["--tolerance", "1e39"], &["finite"]);
}

#[test]
fn absurd_but_finite_poses_are_answered() {
    let folder = with_cubes();
    for pose in [
        "1e30,0,0,0,0,0,1",
        "0,0,0,1e300,0,0,1e300",
        "0,0,0,0,0,0,1e-300",
        "-0,1e-40,0,-0,0,0,-1",
    ] {
        let found = contacts(&collide(&folder, pose, &[]));
        for contact in &found {
            assert!(contact["separation"].is_number(), "{pose}: {contact}");
        }
        let far = pose.contains("e30,");
        assert_eq!(found.is_empty(), far, "{pose}");
        // What proves nothing must not count as a proof that the bodies are apart.
        let arguments = ["separation", "a.tfs", "b.tfs", "--b-in-a", pose];
        let run = folder.run(&[&arguments[..], &["--fail-on-contact", "--json"]].concat());
        let proven = number(&json_of(&run)["lower_bound"]) > 0.0;
        assert_eq!(run.code, i32::from(!proven), "{pose}: {}", run.stdout);
        assert!(far || !proven, "{pose}: {}", run.stdout);
    }
}

#[test]
fn bad_files_are_named_whichever_body_they_are() {
    let folder = with_cubes();
    folder.write("empty.stl", "");
    folder.write("text.obj", "hello\n");
    folder.write("cut.tfs", &folder.read("a.tfs")[..200]);
    for command in ["collide", "separation"] {
        for bad in [
            "none.tfs",
            "none.obj",
            "empty.stl",
            "text.obj",
            "cut.tfs",
            ".",
        ] {
            for (a, b) in [(bad, "b.tfs"), ("a.tfs", bad)] {
                folder.fails(&[command, a, b, "--b-in-a", NEAR], 2, &[bad]);
            }
        }
        folder.fails(
            &[
                command,
                "a.tfs",
                "b.tfs",
                "--b-in-a",
                NEAR,
                "--max-memory",
                "1K",
            ],
            3,
            &["a.tfs", "--max-memory"],
        );
    }
    // With `--json`, a script gets an object too.
    let run = folder.run(&["collide", "none.tfs", "b.tfs", "--b-in-a", NEAR, "--json"]);
    assert_eq!((run.code, &json_of(&run)["exit_code"]), (2, &2.into()));
}
