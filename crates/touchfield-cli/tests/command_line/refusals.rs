//! Bad input, bad usage and limits: exit codes, messages that name file, place and way out, and no
//! files left behind.

use std::io::Read;
use std::process::Stdio;

use crate::folder::{CUBE, Folder};
use serde_json::Value;

fn with_field() -> Folder {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    folder.json(&["bake", "cube.obj", "--resolution", "12", "-o", "cube.tfs"]);
    folder
}

#[test]
fn usage_is_refused_with_what_exists() {
    let folder = with_field();
    let bake = |more: &[&'static str]| [&["bake", "cube.obj", "-o", "out.tfs"], more].concat();
    folder.fails(
        &bake(&["--tolerance", "1mm", "--resolution", "32"]),
        2,
        &["--tolerance", "--resolution"],
    );
    folder.fails(
        &bake(&["--tolerance", "1mm", "--field", "dense"]),
        2,
        &["--tolerance", "sparse"],
    );
    folder.fails(&bake(&["--conservative"]), 2, &["--field sparse"]);
    folder.fails(&bake(&["--tolerance", "-1mm"]), 2, &["positive"]);
    folder.fails(&bake(&["--field", "sparse", "--band", "nan"]), 2, &["band"]);
    folder.fails(&bake(&["--bits", "9"]), 2, &["8", "16", "32"]);
    folder.fails(&bake(&["--field", "octree"]), 2, &["dense", "sparse"]);
    folder.fails(
        &bake(&["--sign", "guess"]),
        2,
        &["auto", "pseudonormal", "winding", "parity", "offset"],
    );
    folder.fails(&bake(&["--before", "cube.obj"]), 2, &["--update"]);
    folder.fails(
        &bake(&["--update", "none.tfs", "--changed", "1,1,1,0,0,0"]),
        2,
        &["below the first"],
    );
    folder.fails(
        &bake(&["--update", "none.tfs", "--changed", "1,1,1"]),
        2,
        &["3 numbers instead of 6"],
    );
    folder.fails(
        &bake(&["--update", "none.tfs", "--changed", "0,0,0,1,1,1"]),
        2,
        &["none.tfs"],
    );
    folder.fails(
        &bake(&["--update", "none.tfs", "--field", "sparse"]),
        2,
        &["--update", "--field"],
    );
    folder.fails(
        &bake(&["--offset-width", "1mm"]),
        2,
        &["--offset-width", "--sign offset"],
    );
    folder.fails(
        &bake(&["--sign", "offset", "--offset-width", "-1mm"]),
        2,
        &["-0.001 m", "positive"],
    );
    folder.fails(
        &bake(&["--sign", "offset", "--offset-width", "1000m"]),
        2,
        &["1000.0 m", "smaller width"],
    );
    folder.fails(
        &bake(&["--sign", "offset", "--tolerance", "1mm"]),
        2,
        &["offset", "no tolerance", "resolution"],
    );
    folder.fails(
        &bake(&["--sign", "offset", "--field", "taylor"]),
        2,
        &["offset", "dense"],
    );
    folder.fails(
        &bake(&["--method", "guess"]),
        2,
        &[
            "exact",
            "brute-force",
            "bound-tree",
            "scan",
            "chamfer",
            "vector",
            "fast-marching",
        ],
    );
    folder.fails(
        &bake(&["--resolution", "8", "--cell-size", "1mm"]),
        2,
        &["cannot be used with"],
    );
    folder.fails(
        &bake(&["--cell-size", "-1mm"]),
        2,
        &["cell size", "positive"],
    );
    folder.fails(
        &bake(&["--cell-size", "thin"]),
        2,
        &["not a length", "0.05mm"],
    );
    folder.fails(
        &bake(&["--resolution", "3"]),
        2,
        &["--padding 2", "at least 6"],
    );
    folder.fails(&bake(&["--threads", "0"]), 2, &["--threads"]);
    folder.fails(&bake(&["--max-memory", "lots"]), 2, &["512M"]);
    folder.fails(&["bake", "cube.obj"], 2, &["--output"]);
    folder.fails(&["fly"], 2, &["fly"]);
    folder.fails(&["slice", "cube.tfs", "-o", "s.png"], 2, &["--axis"]);
    folder.fails(
        &["slice", "cube.tfs", "--axis", "w", "-o", "s.png"],
        2,
        &["x, y, z"],
    );
    folder.fails(
        &[
            "slice", "cube.tfs", "--axis", "z", "--at", "5", "-o", "s.png",
        ],
        2,
        &["outside"],
    );
    folder.fails(
        &[
            "slice", "cube.tfs", "--axis", "z", "--width", "9", "-o", "s.png",
        ],
        2,
        &["wide"],
    );
    folder.fails(
        &["render", "cube.tfs", "--size", "10", "-o", "r.png"],
        2,
        &["1200x900"],
    );
    folder.fails(
        &["render", "cube.tfs", "--elevation", "95", "-o", "r.png"],
        2,
        &["-90 to 90"],
    );
    folder.fails(
        &["render", "cube.tfs@0,0,0,0,0,0,0", "-o", "r.png"],
        2,
        &["zero quaternion"],
    );
    folder.fails(
        &["render", "cube.tfs@1,2,3", "-o", "r.png"],
        2,
        &["3 numbers instead of 7"],
    );
}

#[test]
fn files_that_cannot_be_read_are_named_with_place_and_way_out() {
    let folder = with_field();
    folder.write("notes.xyz", "just words\n");
    folder.write("broken.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n");
    folder.write("points.obj", "v 0 0 0\n");
    folder.fails(&["inspect", "missing.obj"], 2, &["missing.obj"]);
    folder.fails(&["inspect", "missing.tfs"], 2, &["missing.tfs"]);
    std::fs::create_dir(folder.path("box")).unwrap();
    folder.write("empty.tfs", "");
    folder.write("empty.stl", "");
    for (name, words) in [
        ("box", "is a folder"),
        ("empty.tfs", "is empty"),
        ("empty.stl", "is empty"),
    ] {
        folder.fails(&["inspect", name], 2, &[name, words]);
        folder.fails(&["bake", name, "-o", "out.tfs"], 2, &[name, words]);
        folder.fails(
            &["slice", name, "--axis", "x", "-o", "s.png"],
            2,
            &[name, words],
        );
        folder.fails(&["render", name, "-o", "r.png"], 2, &[name, words]);
    }
    folder.fails(
        &["sample", "cube.tfs", "--points", "box"],
        2,
        &["box", "is a folder"],
    );
    folder.fails(
        &["inspect", "notes.xyz"],
        2,
        &[
            "notes.xyz",
            ".obj",
            ".stl",
            ".ply",
            ".off",
            ".gltf",
            ".glb",
            ".tfs",
        ],
    );
    folder.fails(
        &["inspect", "broken.obj"],
        2,
        &["broken.obj", "line 4", "9"],
    );
    folder.fails(
        &["bake", "points.obj", "-o", "out.tfs"],
        2,
        &["points.obj", "no faces"],
    );
    folder.fails(
        &["bake", "cube.tfs", "-o", "out.tfs"],
        2,
        &["cube.tfs", "baked field already"],
    );

    let bytes = folder.read("cube.tfs");
    folder.write("cut.tfs", &bytes[..bytes.len() / 2]);
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    folder.write("flipped.tfs", flipped);
    for name in ["cut.tfs", "flipped.tfs"] {
        folder.fails(&["inspect", name], 2, &[name]);
        folder.fails(&["slice", name, "--axis", "x", "-o", "s.png"], 2, &[name]);
        folder.fails(&["render", name, "-o", "r.png"], 2, &[name]);
    }
}

#[test]
fn outputs_that_cannot_be_are_refused_before_the_work() {
    let folder = with_field();
    // A resolution that would take long if the bake began.
    let bake = |output| ["bake", "cube.obj", "--resolution", "800", "-o", output];
    folder.fails(
        &bake("no/such/folder/out.tfs"),
        2,
        &["out.tfs", "folder exists"],
    );
    folder.fails(&bake("out.obj"), 2, &["out.obj", ".tfs"]);
    std::fs::create_dir(folder.path("taken.tfs")).unwrap();
    folder.fails(&bake("taken.tfs"), 2, &["taken.tfs", "folder"]);
    folder.fails(
        &["slice", "cube.obj", "--axis", "x", "-o", "s.jpg"],
        2,
        &[".png"],
    );
    folder.fails(&["render", "cube.obj", "-o", "r"], 2, &[".png"]);
    folder.write("p.csv", "0,0,0\n");
    folder.fails(
        &["sample", "cube.obj", "--points", "p.csv", "-o", "d.txt"],
        2,
        &[".npy", ".csv"],
    );
    folder.fails(
        &["sample", "cube.tfs", "--points", "p.csv", "-o", "./p.csv"],
        2,
        &["p.csv", "another file"],
    );
    assert_eq!(folder.read("p.csv"), b"0,0,0\n");
    folder.fails(&["models", "--out", "p.csv"], 2, &["p.csv"]);
}

#[test]
fn points_that_are_none_are_named_by_row() {
    let folder = with_field();
    let sample = |points| ["sample", "cube.tfs", "--points", points, "-o", "d.csv"];
    folder.write("nan.csv", "x,y,z\n0,0,0\n0,nan,0\n");
    folder.fails(&sample("nan.csv"), 2, &["nan.csv", "line 3", "NaN"]);
    folder.write("words.csv", "1,2,3\n1,two,3\n");
    folder.fails(
        &sample("words.csv"),
        2,
        &["words.csv", "line 2", "column 2", "two"],
    );
    folder.write("binary.csv", [0xff, 0xfe, 0x00, 0x80]);
    folder.fails(&sample("binary.csv"), 2, &["line 1"]);

    let npy = |shape: &str, data: &[f32]| {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(data.iter().flat_map(|x| x.to_le_bytes()));
        bytes
    };
    folder.write(
        "nan.npy",
        npy("(2, 3)", &[0.0, 0.0, 0.0, 1.0, f32::NAN, 2.0]),
    );
    folder.fails(&sample("nan.npy"), 2, &["nan.npy", "row 1", "NaN"]);
    folder.write("bomb.npy", npy("(1000000000000000000, 3)", &[0.0; 3]));
    folder.fails(
        &sample("bomb.npy"),
        2,
        &["bomb.npy", "1000000000000000000 rows", "cut short"],
    );
    folder.write("flat.npy", npy("(3,)", &[0.0; 3]));
    folder.fails(&sample("flat.npy"), 2, &["shape (3,)", "(N, 3)"]);
    folder.fails(&sample("missing.npy"), 2, &["missing.npy"]);
}

#[test]
fn limits_end_in_exit_code_3() {
    let folder = with_field();
    folder.fails(
        &[
            "bake",
            "cube.obj",
            "--resolution",
            "500",
            "--max-memory",
            "64M",
            "-o",
            "out.tfs",
        ],
        3,
        &["cube.obj", "--max-memory"],
    );
    folder.fails(
        &["bake", "cube.obj", "--cell-size", "1um", "-o", "out.tfs"],
        3,
        &["--max-memory"],
    );
    folder.fails(
        &["inspect", "cube.obj", "--max-memory", "100"],
        3,
        &["cube.obj", "--max-memory"],
    );
    folder.fails(
        &["inspect", "cube.tfs", "--max-memory", "1K"],
        3,
        &["cube.tfs", "--max-memory"],
    );
    for size in ["90000x90000", "99999999999x1"] {
        folder.fails(
            &["render", "cube.tfs", "--size", size, "-o", "r.png"],
            3,
            &["pixels", "smaller"],
        );
    }
    folder.fails(
        &[
            "slice",
            "cube.tfs",
            "--axis",
            "z",
            "--width",
            "4000000000",
            "-o",
            "s.png",
        ],
        3,
        &["pixels", "smaller"],
    );
    folder.write("p.csv", "0,0,0\n".repeat(1000));
    folder.fails(
        &[
            "sample",
            "cube.tfs",
            "--points",
            "p.csv",
            "--max-memory",
            "20K",
        ],
        3,
        &["p.csv", "--max-memory"],
    );
}

#[test]
fn bodies_of_a_render_share_one_limit_of_memory() {
    let folder = with_field();
    let field_only = ["--resolution", "12", "--field-only", "-o", "cube.tfs"];
    folder.json(&[&["bake", "cube.obj"], field_only.as_slice()].concat());
    let nodes = folder.json(&["inspect", "cube.tfs"])["resolution"].clone();
    let values = 4.0 * crate::folder::numbers(&nodes).iter().product::<f64>();
    // One body with its file fits, and two would fit if each were counted alone.
    let limit = (folder.read("cube.tfs").len() as f64 + values + 500.0).to_string();
    let render = |files: &[&'static str]| {
        let more = ["--size", "40x30", "--max-memory", &limit, "-o", "r.png"];
        [&["render"], files, &more]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let one = render(&["cube.tfs"]);
    folder.json(&one.iter().map(String::as_str).collect::<Vec<_>>());
    std::fs::remove_file(folder.path("r.png")).unwrap();
    // A file named twice is read once; its copy is another body.
    folder.write("copy.tfs", folder.read("cube.tfs"));
    let two = render(&["cube.tfs", "copy.tfs@2,0,0,0,0,0,1"]);
    folder.fails(
        &two.iter().map(String::as_str).collect::<Vec<_>>(),
        3,
        &["copy.tfs", "--max-memory", "bodies before it"],
    );
}

#[test]
fn huge_numbers_have_exponents_and_name_their_option() {
    let folder = with_field();
    let bake = |more: &[&'static str]| [&["bake", "cube.obj", "-o", "out.tfs"], more].concat();
    folder.fails(
        &bake(&["--padding", "4000000000"]),
        2,
        &["--padding 4000000000", "at most 63"],
    );
    folder.fails(
        &bake(&["--padding", "4000000000", "--cell-size", "0.1"]),
        3,
        &["--padding 4000000000", "lower"],
    );
    folder.fails(
        &bake(&["--padding", "40000000", "--cell-size", "0.1"]),
        2,
        &["f32", "--padding", "--cell-size"],
    );
    folder.fails(
        &bake(&["--padding", "40000", "--cell-size", "0.1"]),
        3,
        &["--padding 40000", "--max-memory"],
    );
    folder.fails(
        &bake(&["--resolution", "999999999"]),
        2,
        &["f32", "--resolution"],
    );
    folder.fails(
        &bake(&["--resolution", "100000"]),
        3,
        &["100000 × ", "--resolution 1", "--max-memory", "TB"],
    );
    let huge = CUBE.replace("0.5", "1e300");
    folder.write("huge.obj", huge);
    folder.write("p.csv", "0,0,1e300\n");
    let slice = [
        "slice", "cube.tfs", "--axis", "z", "--at", "1e30", "-o", "s.png",
    ];
    for (word, arguments) in [
        ("--units", &["bake", "huge.obj", "-o", "out.tfs"][..]),
        (
            "--units",
            &["bake", "huge.obj", "--cell-size", "1e290", "-o", "out.tfs"],
        ),
        ("--cell-size", &bake(&["--cell-size", "1e300"])),
        ("1e300", &["sample", "cube.tfs", "--points", "p.csv"]),
        ("1e30", &slice),
        (
            "1e30",
            &["render", "cube.tfs", "--elevation", "1e30", "-o", "s.png"],
        ),
        ("2e297 km", &["inspect", "huge.obj"]),
    ] {
        let run = folder.run(arguments);
        let said = run.stderr + &run.stdout;
        assert!(said.contains(word), "{arguments:?}: {said}");
        let digits = said.split(|c: char| !c.is_ascii_digit());
        assert!(
            digits.map(str::len).max() < Some(20),
            "{arguments:?}: {said}"
        );
    }
}

/// Strings from files and file names reach the terminal, and JSON, only escaped.
#[test]
fn escape_sequences_are_never_obeyed() {
    use touchfield::field::file;
    const NASTY: &str = "\u{1b}]0;owned\u{7}\u{9b}31m\rforged\n\u{202e}";
    let folder = with_field();
    let stored = file::read_file(&folder.path("cube.tfs"), u64::MAX).unwrap();
    let mut provenance = stored.provenance;
    provenance.notes = vec![NASTY.to_owned()];
    file::write_file(&folder.path("nasty.tfs"), &stored.field, &provenance).unwrap();
    let uri = r#"{"asset":{"version":"2.0"},"buffers":[{"uri":"..\u001b[31m/x","byteLength":1}],
        "bufferViews":[{"buffer":0,"byteLength":1}],"accessors":[{"bufferView":0,"componentType":5126,"count":1,"type":"VEC3"}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"nodes":[{"mesh":0}],"scenes":[{"nodes":[0]}]}"#;
    folder.write("nasty.gltf", uri);
    let named = format!("{NASTY}.obj");
    folder.write(&named, CUBE);
    let missing = format!("{NASTY}.tfs");
    let is_obeyed = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    for arguments in [
        &["inspect", "nasty.tfs"][..],
        &["inspect", "nasty.gltf"],
        &["inspect", &named],
        &["inspect", &missing],
        &["bake", &named, "--resolution", "8", "-o", "out.tfs"],
        &["slice", &named, "--axis", "z", "-o", "s.png"],
        &["render", &named, "--size", "20x20", "-o", "r.png"],
        &["models", "--out", NASTY],
        &["inspect", "--units", NASTY, &named],
        &[NASTY],
    ] {
        for json in [&[][..], &["--json"]] {
            let run = folder.run(&[arguments, json].concat());
            for said in [&run.stdout, &run.stderr] {
                assert!(!said.contains(is_obeyed), "{arguments:?}: {said:?}");
                let forged = said.lines().any(|line| line.starts_with("forged"));
                assert!(!forged, "{arguments:?}: {said:?}");
            }
            if !json.is_empty() {
                assert!(
                    serde_json::from_str::<Value>(&run.stdout).is_ok(),
                    "{}",
                    run.stdout
                );
            }
        }
    }
    let notes = &folder.json(&["inspect", "nasty.tfs"])["notes"];
    assert_eq!(notes[0], NASTY, "JSON keeps the meaning");
}

#[test]
fn with_json_an_error_is_one_object_too() {
    let folder = with_field();
    for arguments in [
        &["inspect", "missing.obj", "--json"][..],
        &["--json", "bake", "cube.obj", "--field", "octree"],
        &["bake", "missing.obj", "-o", "out.tfs", "--json"],
        &["sample", "cube.tfs", "--points", "missing.csv", "--json"],
        &[
            "slice", "cube.tfs", "--axis", "z", "--at", "9", "-o", "s.png", "--json",
        ],
        &["render", "cube.tfs", "-o", "no/such/r.png", "--json"],
        &["models", "--out", "cube.obj", "--json"],
        &["demo", "--out", "cube.obj", "--json"],
        &["--json"],
    ] {
        let run = folder.run(arguments);
        assert_eq!(run.code, 2);
        let value: Value = serde_json::from_str(&run.stdout).unwrap();
        assert!(
            value["error"].is_string() && value["exit_code"] == 2,
            "{value}"
        );
        assert!(run.stderr.contains("error"), "{}", run.stderr);
    }
}

#[test]
fn help_and_version_are_answers() {
    let folder = Folder::new();
    for arguments in [
        &["--version"][..],
        &["--help"],
        &["help"],
        &["help", "bake"],
    ] {
        let run = folder.run(arguments);
        assert_eq!(run.code, 0);
        assert!(run.stdout.contains("touchfield"), "{arguments:?}");
    }
    for command in [
        "demo",
        "models",
        "inspect",
        "bake",
        "sample",
        "slice",
        "render",
        "collide",
        "separation",
        "sweep",
        "bench",
    ] {
        let help = folder.run(&[command, "--help"]).stdout;
        assert!(
            help.contains("Example") && help.contains(&format!("touchfield {command}")),
            "{help}"
        );
    }
}

/// Reading the beginning of a pipe took it away from the reader.
#[cfg(unix)]
#[test]
fn a_mesh_from_a_pipe_is_read_from_its_beginning() {
    use std::io::Write;
    let folder = Folder::new();
    let mut child = folder
        .command(&["inspect", "/dev/stdin", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let off = "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n";
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(off.as_bytes()).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["faces"], 4, "{answer}");
    assert_eq!(answer["watertight"], true, "{answer}");
}

#[test]
fn a_reader_that_leaves_early_is_no_crash() {
    let folder = with_field();
    folder.write("p.csv", "0,0,0\n".repeat(200_000));
    let mut command = folder.command(&["sample", "cube.tfs", "--points", "p.csv"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Read a little, then close the pipe.
    let mut beginning = [0; 16];
    child
        .stdout
        .take()
        .unwrap()
        .read_exact(&mut beginning)
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert_eq!(output.status.code(), Some(0), "{stderr}");
}
