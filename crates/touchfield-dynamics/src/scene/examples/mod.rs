//! Ready scenes.

use touchfield::mesh::TriangleMesh;

/// A ready scene.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub description: &'static str,
    make: fn() -> ExampleFiles,
}

/// Files of a ready scene.
#[derive(Clone, Debug, Default)]
pub struct ExampleFiles {
    /// Text of the scene file.
    pub scene: String,
    /// Meshes that it names.
    pub meshes: Vec<(String, TriangleMesh)>,
}

impl Example {
    /// Returns its files.
    pub fn files(&self) -> ExampleFiles {
        (self.make)()
    }
}

/// Returns all ready scenes.
pub fn examples() -> Vec<Example> {
    Vec::new()
}
