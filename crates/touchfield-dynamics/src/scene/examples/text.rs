//! Writes scene files.
//!
//! Input: bodies as text. Output: [`ExampleFiles`]. Cost: none. Not for: reading.

use std::fmt::Write;

use glam::{DQuat, DVec3};
use touchfield::mesh::TriangleMesh;

use crate::scene::examples::ExampleFiles;

/// A scene file that is being written.
pub(super) struct SceneText(ExampleFiles);

impl SceneText {
    /// Begins a file with a comment and the lines of `[world]`.
    pub(super) fn new(comment: &str, world: &str) -> SceneText {
        let mut scene = String::new();
        for line in comment.lines() {
            let _ = writeln!(scene, "# {line}");
        }
        let _ = write!(scene, "\n[world]\n{}\n", world.trim());
        SceneText(ExampleFiles {
            scene,
            meshes: Vec::new(),
        })
    }

    pub(super) fn material(mut self, name: &str, lines: &str) -> SceneText {
        let _ = write!(self.0.scene, "\n[material.{name}]\n{}\n", lines.trim());
        self
    }

    /// Adds a half-space below the plane z = 0.
    pub(super) fn floor(self) -> SceneText {
        self.body("floor", "{ half_space = [0, 0, 1] }", "fixed = true")
    }

    pub(super) fn body(mut self, name: &str, shape: &str, lines: &str) -> SceneText {
        let lines = lines.trim();
        let _ = write!(
            self.0.scene,
            "\n[[body]]\nname = \"{name}\"\nshape = {shape}\n{lines}{}",
            if lines.is_empty() { "" } else { "\n" }
        );
        self
    }

    /// Adds a mesh file that bodies may name.
    pub(super) fn mesh(mut self, name: &str, mesh: TriangleMesh) -> SceneText {
        self.0.meshes.push((name.to_owned(), mesh));
        self
    }

    pub(super) fn files(self) -> ExampleFiles {
        self.0
    }
}

/// Returns the line `pose = […]` of a body that is moved and turned.
pub(super) fn pose(at: DVec3, turn: DQuat) -> String {
    let numbers: Vec<String> = (at.to_array().into_iter())
        .chain(turn.to_array())
        .map(short)
        .collect();
    format!("pose = [{}]", numbers.join(", "))
}

/// Returns the line of a body that is moved.
pub(super) fn at(x: f64, y: f64, z: f64) -> String {
    pose(DVec3::new(x, y, z), DQuat::IDENTITY)
}

/// Returns a vector as a list.
pub(super) fn vector(v: DVec3) -> String {
    let [x, y, z] = v.to_array().map(short);
    format!("[{x}, {y}, {z}]")
}

/// Returns a number with at most nine decimals.
fn short(number: f64) -> String {
    let rounded = (number * 1e9).round() / 1e9;
    // −0 would be printed with its sign.
    format!("{}", rounded + 0.0)
}
