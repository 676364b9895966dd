//! Point shells: points on a surface, and a tree of spheres over them.

mod areas;
mod error;
#[expect(clippy::module_inception, reason = "the type is the module's subject")]
mod pointshell;
mod sphere_tree;

pub use error::ShellError;
pub use pointshell::PointShell;
pub use sphere_tree::{SphereNode, SphereTree};
