//! Scene files: bodies, materials and settings in TOML, turned into a [`World`](crate::World).
//!
//! Input: a TOML file as `docs/DYNAMICS.md` describes it, and the mesh files that it names.
//! Output: a [`Scene`], which is what the file says; then [`Built`], a world that is ready to step.
//! Cost: a parse; then the bake of every mesh that is not convex, once per distinct shape.
//! Not for: running, recording and drawing, see the command `touchfield simulate`.
//!
//! ```
//! use touchfield_dynamics::scene::{Leave, Scene};
//!
//! let text = r#"
//! [[body]]
//! name = "floor"
//! shape = { half_space = [0, 0, 1] }
//! fixed = true
//!
//! [[body]]
//! name = "ball"
//! shape = { sphere = 0.1 }
//! pose = [0, 0, 1, 0, 0, 0, 1]
//! "#;
//! let scene = Scene::parse(text, "ball.toml".as_ref(), Leave::InFolder)?;
//! let mut built = scene.build(&|_| std::ops::ControlFlow::Continue(()))?;
//! built.world.step()?;
//! assert!(built.pose(1).translation.z < 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod error;
mod examples;
mod mass;
mod read;
mod settings;
mod shapes;
mod table;

pub use build::Built;
pub use error::{Problem, SceneError};
pub use examples::{Example, ExampleFiles, examples};
pub use read::Leave;
pub use settings::{BodyShape, FieldName, MeshShape, Scene, SceneBody, Source};
pub use shapes::Drawn;
