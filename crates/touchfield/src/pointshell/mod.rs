//! Points on a surface, and a tree of spheres over them.

#[expect(clippy::module_inception, reason = "the type is the module's subject")]
mod pointshell;
mod sphere_tree;

pub use pointshell::{PointShell, ShellError};
pub use sphere_tree::{SphereNode, SphereTree};
