//! `touchfield simulate`: what it writes, what it refuses, and how it goes on.
#![expect(clippy::unwrap_used, reason = "a failed `unwrap` is a failed test")]

use std::io::Read;

use serde_json::Value;

use crate::folder::{Folder, png_size};

const FALL: &str = r#"
[world]
seconds = 0.1
record_every = 0.02

[[body]]
name = "floor"
shape = { half_space = [0, 0, 1] }
fixed = true

[[body]]
name = "ball"
shape = { sphere = 0.1 }
pose = [0, 0, 0.5, 0, 0, 0, 1]

[[body]]
name = "ring"
shape = { torus = [0.1, 0.03] }
pose = [1, 0, 0.5, 0, 0, 0, 1]
"#;

/// Returns type, shape and numbers of an array in an archive.
fn array(archive: &[u8], name: &str) -> (String, String, Vec<f64>) {
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
    let mut bytes = Vec::new();
    let mut file = zip.by_name(&format!("{name}.npy")).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    let length = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let header = String::from_utf8(bytes[10..10 + length].to_vec()).unwrap();
    let after = |key: &str| header.split_once(key).unwrap().1.to_owned();
    let kind = after("'descr': '")[..3].to_owned();
    let shape = after("'shape': (").split(')').next().unwrap().to_owned();
    let numbers = bytes[10 + length..].chunks_exact(8).map(|raw| {
        let raw = raw.try_into().unwrap();
        match kind.as_str() {
            "<f8" => f64::from_le_bytes(raw),
            _ => i64::from_le_bytes(raw) as f64,
        }
    });
    let numbers = numbers.collect();
    (kind, shape, numbers)
}

/// Returns the JSON and the binary chunk of a binary glTF file.
fn glb(bytes: &[u8]) -> (Value, &[u8]) {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(
        (&bytes[..4], word(4), word(8)),
        (&b"glTF"[..], 2, bytes.len())
    );
    assert_eq!(&bytes[16..20], b"JSON");
    let text = &bytes[20..20 + word(12)];
    let binary = 20 + text.len();
    assert_eq!(&bytes[binary + 4..binary + 8], b"BIN\0");
    assert_eq!(binary + 8 + word(binary), bytes.len());
    (serde_json::from_slice(text).unwrap(), &bytes[binary + 8..])
}

#[test]
fn a_simulation_writes_what_the_contract_says() {
    let folder = Folder::new();
    folder.write("fall.toml", FALL);
    let json = folder.json(&["simulate", "fall.toml", "-o", "run"]);
    let report: Value = serde_json::from_slice(&folder.read("run/report.json")).unwrap();
    assert_eq!(json, report);
    assert_eq!((&json["steps"], &json["rows"]), (&100.into(), &6.into()));
    assert!((json["seconds"].as_f64().unwrap() - 0.1).abs() < 1e-12);
    for key in ["wall_seconds", "measure_seconds", "deepest"] {
        assert!(json[key].is_number(), "{key}: {json}");
    }
    assert_eq!(json["bodies"][1]["name"], "ball");
    assert_eq!(json["warnings"].as_array().unwrap().len(), 0, "{json}");

    let file = folder.read("run/trajectory.npz");
    let shapes = [
        ("time", "<f8", "6,"),
        ("pose", "<f8", "6, 3, 7"),
        ("velocity", "<f8", "6, 3, 3"),
        ("angular_velocity", "<f8", "6, 3, 3"),
        ("energy", "<f8", "6, 3"),
        ("contacts", "<i8", "6,"),
        ("depth", "<f8", "6,"),
    ];
    for (name, kind, shape) in shapes {
        let (found, sides, _) = array(&file, name);
        assert_eq!((found.as_str(), sides.as_str()), (kind, shape), "{name}");
    }
    // Free fall, to the last row.
    let (times, poses) = (array(&file, "time").2, array(&file, "pose").2);
    for (row, time) in times.iter().enumerate() {
        assert!((time - 0.02 * row as f64).abs() < 1e-12, "{times:?}");
        let height = poses[21 * row + 7 + 2];
        let expected = 0.5 - 0.5 * 9.81 * time * time;
        assert!((height - expected).abs() < 1e-9, "{height} {expected}");
    }
    let energy = array(&file, "energy").2;
    for row in energy.chunks_exact(3) {
        assert!((row[0] + row[1] - row[2]).abs() < 1e-12);
        assert!((row[2] - energy[2]).abs() < 1e-9 * energy[2], "{energy:?}");
    }

    for name in ["energy.svg", "penetration.svg", "contacts.svg"] {
        let svg = String::from_utf8(folder.read(&format!("run/{name}"))).unwrap();
        assert!(
            svg.starts_with("<svg ") && svg.contains("time [s]"),
            "{name}"
        );
    }
    assert!(png_size(&folder.read("run/strip.png")).0 > 1000);
    assert!(!folder.path("run/checkpoint.npz").exists());
}

#[test]
fn the_animation_is_a_gltf_file_that_our_reader_takes() {
    let folder = Folder::new();
    folder.write("fall.toml", FALL);
    folder.json(&["simulate", "fall.toml", "-o", "run", "--no-strip"]);
    assert!(!folder.path("run/strip.png").exists());
    let bytes = folder.read("run/scene.glb");
    let (json, binary) = glb(&bytes);
    // Every view lies in the buffer, every accessor in its view.
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value}"));
    assert!(number(&json["buffers"][0]["byteLength"]) <= binary.len() as u64);
    for accessor in json["accessors"].as_array().unwrap() {
        let view = &json["bufferViews"][number(&accessor["bufferView"]) as usize];
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC3" => 3,
            _ => 4,
        };
        assert_eq!(
            number(&view["byteLength"]),
            4 * width * number(&accessor["count"])
        );
        let end = number(&view["byteOffset"]) + number(&view["byteLength"]);
        assert!(end <= binary.len() as u64);
    }
    // Two bodies move, each by a translation and a rotation over six rows.
    let animation = &json["animations"][0];
    let channels = animation["channels"].as_array().unwrap();
    assert_eq!(channels.len(), 4);
    for channel in channels {
        let sampler = &animation["samplers"][number(&channel["sampler"]) as usize];
        let output = &json["accessors"][number(&sampler["output"]) as usize];
        assert_eq!(number(&output["count"]), 6);
        assert_eq!(sampler["interpolation"], "LINEAR");
        assert!(number(&channel["target"]["node"]) >= 1);
    }
    // z is up in the scene and y in glTF: the ball's top is at y = 0.6.
    let read = folder.json(&["inspect", "run/scene.glb"]);
    let top = read["bounds"]["max"][1].as_f64().unwrap();
    assert!((top - 0.6).abs() < 1e-3, "{read}");
    assert!(read["faces"].as_u64().unwrap() > 5000);
}

#[test]
fn bad_scenes_are_refused_with_their_line_and_leave_nothing() {
    let folder = Folder::new();
    let ball = "[[body]]\nname = \"ball\"\nshape = { sphere = 0.1 }\n";
    for (text, words) in [
        (
            format!("{ball}densty = 1\n"),
            ["bad.toml:4", "body.ball.densty"],
        ),
        (
            format!("{ball}density = -1\n"),
            ["bad.toml:4", "body.ball.density"],
        ),
        (
            format!("[world]\nstep = 0\n{ball}"),
            ["bad.toml:2", "world.step"],
        ),
        (
            ball.replace("sphere = 0.1", "file = 'no.stl'"),
            ["bad.toml:3", "no.stl"],
        ),
        ("[world".to_owned(), ["bad.toml:1", ""]),
    ] {
        folder.write("bad.toml", text);
        folder.fails(&["simulate", "bad.toml", "-o", "run"], 2, &words);
    }
    folder.fails(&["simulate", "none.toml", "-o", "run"], 2, &["none.toml"]);
    folder.fails(&["simulate", "bad.toml"], 2, &["--output"]);
    folder.fails(&["simulate", "--example", "stak"], 2, &["stak", "stack"]);
    folder.write("ball.toml", ball);
    let tiny = ["simulate", "ball.toml", "-o", "run", "--step", "1e-12"];
    folder.fails(&tiny, 2, &["--step"]);
    let many = "[[body]]\nshape = { sphere = 1 }\n".repeat(100_001);
    folder.write("many.toml", many);
    folder.fails(
        &["simulate", "many.toml", "-o", "run"],
        3,
        &["100001 bodies"],
    );
}

#[test]
fn overlaps_at_the_start_are_warnings_in_the_report() {
    let folder = Folder::new();
    folder.write("in.toml", FALL.replace("0, 0, 0.5", "0, 0, 0.05"));
    let json = folder.json(&["simulate", "in.toml", "-o", "run", "--no-strip"]);
    let warning = json["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains("`floor` and `ball` overlap by 5.000e-2"),
        "{warning}"
    );
    assert!(json["deepest"].as_f64().unwrap() >= 0.0499, "{json}");
}

#[test]
fn ready_scenes_are_listed_written_and_run() {
    let folder = Folder::new();
    let list = folder.json(&["simulate", "--list"]);
    let names: Vec<&str> = (list["examples"].as_array().unwrap().iter())
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    for name in ["ball", "stack", "arch", "spike-in-hole", "nut-on-bolt"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for name in ["stack", "spike-in-hole"] {
        folder.json(&["simulate", "--example", name, "-o", "scenes"]);
        let scene = format!("scenes/{name}.toml");
        let json = folder.json(&[
            "simulate",
            &scene,
            "-o",
            name,
            "--seconds",
            "0.05",
            "--no-strip",
        ]);
        assert_eq!(json["steps"], 50, "{json}");
        assert!(json["deepest"].as_f64().unwrap() < 1e-4, "{json}");
    }
    assert!(folder.path("scenes/spike.obj").exists());
}

/// A run that is interrupted keeps its rows, and goes on where it was.
#[cfg(unix)]
#[test]
fn an_interrupted_simulation_is_resumed() {
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    // A closed form takes no time to build.
    let simple = FALL.replace("torus = [0.1, 0.03]", "sphere = 0.1");
    folder.write("fall.toml", simple);
    let long = [
        "simulate",
        "fall.toml",
        "-o",
        "run",
        "--no-strip",
        "--seconds",
        "4000",
    ];
    let mut command = folder.command(&long);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(
        stderr.contains("--resume") && stderr.ends_with("cancelled\n"),
        "{stderr}"
    );
    let saved = folder.read("run/checkpoint.npz");
    let steps = array(&saved, "steps").2[0];
    assert!(steps > 0.0);
    let names = crate::folder::names_in(&folder.path("run"));
    assert_eq!(names, ["checkpoint.npz"], "no unfinished file stays");

    // On to a hundred steps more.
    let seconds = format!("{}", 0.001 * (steps + 100.0));
    let resume = [
        "simulate",
        "fall.toml",
        "-o",
        "run",
        "--no-strip",
        "--resume",
    ];
    let json = folder.json(&[&resume[..], &["--seconds", &seconds]].concat());
    assert_eq!(json["steps"].as_f64().unwrap(), steps + 100.0, "{json}");
    let file = folder.read("run/trajectory.npz");
    let times = array(&file, "time").2;
    assert_eq!(times[0], 0.0);
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(array(&file, "depth").2.len(), times.len());
    // It is complete, so there is nothing to resume; and no other scene may go on from it.
    folder.fails(&resume, 2, &["no checkpoint", "--resume"]);
    folder.write("run/checkpoint.npz", &saved);
    folder.write("fall.toml", FALL);
    folder.fails(&resume, 2, &["another scene"]);
}

/// A run that is killed at any time leaves a checkpoint that can be read: complete, never half.
#[cfg(unix)]
#[test]
fn a_killed_simulation_leaves_a_readable_checkpoint() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};
    let folder = Folder::new();
    folder.write(
        "fall.toml",
        FALL.replace("torus = [0.1, 0.03]", "sphere = 0.1"),
    );
    let run = ["simulate", "fall.toml", "-o", "run", "--no-strip"];
    let mut command = folder.command(&[&run[..], &["--seconds", "4000"]].concat());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    while !folder.path("run/checkpoint.npz").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "no checkpoint");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let steps = array(&folder.read("run/checkpoint.npz"), "steps").2[0];
    assert!(steps >= 1.0);
    let seconds = format!("{}", 0.001 * (steps + 100.0));
    let json = folder.json(&[&run[..], &["--resume", "--seconds", &seconds]].concat());
    assert_eq!(json["steps"].as_f64().unwrap(), steps + 100.0, "{json}");
}

/// A step that the stiffness does not allow is named in the report.
#[test]
fn energy_from_nowhere_is_a_warning_in_the_report() {
    let folder = Folder::new();
    for (step, words) in [("0.002", "too long for the stiffness"), ("0.0001", "")] {
        let text = format!(
            "[world]\nresponse = \"penalty\"\nstep = {step}\nseconds = 0.5\n\
             [[body]]\nname = \"floor\"\nshape = {{ half_space = [0, 0, 1] }}\nfixed = true\n\
             [[body]]\nname = \"box\"\nshape = {{ box = [0.1, 0.1, 0.1] }}\n\
             pose = [0, 0, 0.11, 0, 0, 0, 1]\n"
        );
        folder.write("box.toml", text);
        let json = folder.json(&["simulate", "box.toml", "-o", "run", "--no-strip"]);
        let warnings = json["warnings"].as_array().unwrap();
        assert_eq!(
            warnings.is_empty(),
            words.is_empty(),
            "{step}: {warnings:?}"
        );
        if let Some(warning) = warnings.first() {
            assert!(warning.as_str().unwrap().contains(words), "{warning}");
        }
    }
}
