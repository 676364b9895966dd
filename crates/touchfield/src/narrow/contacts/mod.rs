//! The methods that find the contacts of two shapes, one file each, and post-processing of contacts
//! for solvers.

pub(crate) mod both_shells;
pub(crate) mod face_descent;
pub(crate) mod first_point;
pub(crate) mod literal_particles;
pub(crate) mod loose_triangles;
pub(crate) mod octree_subdivision;
pub(crate) mod penalty;
pub(crate) mod point_samples;
pub(crate) mod projection_particles;
pub(crate) mod settle;
pub(crate) mod sharpen;
pub(crate) mod shell_segments;
pub(crate) mod shell_traversal;
pub(crate) mod shell_walk;

pub use loose_triangles::{TriangleScratch, collide_triangles};
pub use penalty::{penalty_points, penalty_wrench};
pub use settle::{place_of, revisit, settle};
pub use sharpen::sharpen;
pub use shell_walk::Ahead;
