//! Runs the binary in a folder of its own.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed `unwrap` is a failed test"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A cube of 1 m about the origin.
pub(crate) const CUBE: &str = "\
v -0.5 -0.5 -0.5\nv 0.5 -0.5 -0.5\nv 0.5 0.5 -0.5\nv -0.5 0.5 -0.5
v -0.5 -0.5 0.5\nv 0.5 -0.5 0.5\nv 0.5 0.5 0.5\nv -0.5 0.5 0.5
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/// Returns a cube about the origin with sides of this length \[m\].
pub(crate) fn cube(side: f64) -> String {
    let scaled = |word: &str| match word.parse::<f64>() {
        Ok(x) if word.contains('.') => (x * side).to_string(),
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(scaled).collect::<Vec<_>>().join(" ") + "\n";
    CUBE.lines().map(line).collect()
}

/// A temporary folder to run in; removed when dropped.
pub(crate) struct Folder(TempDir);

/// The result of a run.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Returns the names in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names_in(self.0.path())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(arguments).output().unwrap();
        Run {
            code: status.code().unwrap_or(-1),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchfield"));
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// Runs with `--json`, and expects success and exactly one object on stdout.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let run = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        let value: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", run.stdout));
        assert!(value.is_object(), "{value}");
        value
    }

    /// Runs, and expects this exit code, a message with all `words`, nothing on stdout, and no new
    /// file.
    pub(crate) fn fails(&self, arguments: &[&str], code: i32, words: &[&str]) {
        let before = self.names();
        let run = self.run(arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        for word in words {
            assert!(
                run.stderr.contains(word),
                "{arguments:?}: no `{word}` in: {}",
                run.stderr
            );
        }
        assert!(
            !run.stderr.contains("panicked"),
            "{arguments:?}: {}",
            run.stderr
        );
        assert_eq!(run.stdout, "", "{arguments:?}");
        assert_eq!(self.names(), before, "{arguments:?}");
    }
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Returns a folder with a big cube of 1 m, `a`, and a small one of 0.2 m, `b`, as meshes and as
/// fields of 12 nodes.
pub(crate) fn with_cubes() -> Folder {
    let folder = Folder::new();
    for (name, side) in [("a", 1.0), ("b", 0.2)] {
        let (mesh, field) = (format!("{name}.obj"), format!("{name}.tfs"));
        folder.write(&mesh, cube(side));
        folder.json(&["bake", &mesh, "--resolution", "12", "-o", &field]);
    }
    folder
}

/// Returns columns and rows of a PNG file, from its header.
pub(crate) fn png_size(bytes: &[u8]) -> (u32, u32) {
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (side(16), side(20))
}

/// Returns the numbers of a JSON array.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|number| number.as_f64().unwrap())
        .collect()
}
