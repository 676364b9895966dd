//! Ctrl-C, and streams without an end.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed `unwrap` is a failed test")]

use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::folder::{CUBE, Folder};

/// Starts a command that takes minutes, and waits until it is working.
fn start(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = folder.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    sleep(Duration::from_millis(800));
    child
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let status = Command::new("kill").args([name, &pid]).status().unwrap();
    assert!(status.success());
}

fn ends_as_cancelled(child: Child) -> Output {
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.ends_with("cancelled\n"), "{stderr}");
    output
}

/// Brute force over a million nodes and the faces of a model, which takes far longer than the test.
const LONG: [&str; 8] = [
    "bake",
    "mug.obj",
    "-o",
    "mug.tfs",
    "--method",
    "brute-force",
    "--resolution",
    "256",
];

#[test]
fn a_bake_that_is_interrupted_says_so_and_leaves_no_file() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["models", "--out", "."]).code, 0);
    let before = folder.names();
    for name in ["-INT", "-TERM"] {
        let child = start(&folder, &LONG);
        signal(&child, name);
        let output = ends_as_cancelled(child);
        assert_eq!(output.stdout, b"");
        assert_eq!(folder.names(), before, "{name}");
    }
    let child = start(&folder, &[&LONG[..], &["--json"]].concat());
    signal(&child, "-INT");
    signal(&child, "-INT");
    let json: Value = serde_json::from_slice(&ends_as_cancelled(child).stdout).unwrap();
    assert_eq!(
        (&json["error"], &json["exit_code"]),
        (&"cancelled".into(), &130.into())
    );
    assert_eq!(folder.names(), before);
}

#[test]
fn a_sweep_that_is_interrupted_leaves_no_file() {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    folder.write("poses.csv", "0.3,0.2,0.1,0.1,0.2,0.3,0.9\n".repeat(200_000));
    let before = folder.names();
    let child = start(
        &folder,
        &[
            "sweep",
            "cube.obj",
            "cube.obj",
            "--poses",
            "poses.csv",
            "-o",
            "rows.csv",
        ],
    );
    signal(&child, "-INT");
    ends_as_cancelled(child);
    assert_eq!(folder.names(), before);
}

#[test]
fn a_stream_without_an_end_is_refused_by_what_was_read() {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    folder.write("points.csv", "0,0,0\n");
    for link in ["zeros.stl", "zeros.tfs"] {
        std::os::unix::fs::symlink("/dev/zero", folder.path(link)).unwrap();
        let words = [link, "1048576", "--max-memory"];
        folder.fails(&["inspect", link, "--max-memory", "1M"], 3, &words);
    }
    let words = ["/dev/zero", "--max-memory"];
    let points = [
        "sample",
        "cube.obj",
        "--points",
        "/dev/zero",
        "--max-memory",
        "32M",
    ];
    folder.fails(&points, 3, &words);
    // A memory limit larger than this machine's memory must not matter for an endless stream.
    folder.fails(
        &["inspect", "/dev/zero"],
        3,
        &["/dev/zero", "1073741824", "save it"],
    );
}

#[test]
fn a_file_that_hides_its_length_is_not_empty() {
    // The file system reports its length as 0.
    if std::path::Path::new("/proc/cpuinfo").exists() {
        Folder::new().fails(&["inspect", "/proc/cpuinfo"], 2, &["known format"]);
    }
}

#[test]
fn a_mesh_comes_through_a_pipe() {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    let made = Command::new("mkfifo").arg(folder.path("pipe.obj")).status();
    assert!(made.unwrap().success());
    let (from, to) = (folder.path("cube.obj"), folder.path("pipe.obj"));
    // Opening a pipe for writing blocks until there is a reader.
    let writer = std::thread::spawn(move || std::fs::write(to, std::fs::read(from).unwrap()));
    let inspected = folder.json(&["inspect", "pipe.obj"]);
    writer.join().unwrap().unwrap();
    assert_eq!(inspected["faces"], 12);
}
