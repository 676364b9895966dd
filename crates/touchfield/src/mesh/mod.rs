//! Triangle meshes: read, validate, repair, generate and write them.
//!
//! Input: mesh files ([`read`]) or shape parameters ([`generate`]).
//! Output: a [`TriangleMesh`], its defects ([`validate()`]), a repaired copy ([`repair()`]), and
//! the structures for signed distances: [`Bvh`], [`Pseudonormals`], [`WindingNumber`], [`Parity`].
//! Cost: stated per module; mostly linear in the faces.
//! Not for: run time. All of this is offline code, which the run-time code never imports.

mod box_tree;
mod bvh;
pub mod generate;
#[cfg(test)]
mod model_tests;
mod parity;
mod pseudonormal;
pub mod read;
mod repair;
mod self_intersection;
mod shells;
#[cfg(test)]
mod test_meshes;
mod topology;
mod triangle_mesh;
mod units;
mod validate;
mod weld;
mod winding_number;
pub mod write;

pub(crate) use bvh::{Among, Candidates};
pub use bvh::{Bvh, FlatBox, FlatBvh, Nearest};
pub use parity::{Parity, Votes};
pub use pseudonormal::Pseudonormals;
pub(crate) use repair::without_copies;
pub use repair::{
    DegenerateReport, DuplicateReport, FilledHole, HoleReport, HoleSettings, LeftOpen,
    OrientReport, RepairReport, RepairSettings, drop_degenerate, drop_duplicates, drop_invalid,
    fill_holes, orient, remove_unreferenced, repair,
};
pub(crate) use self_intersection::crossing_faces;
pub use self_intersection::{SelfIntersections, self_intersections};
pub(crate) use topology::is_degenerate;
pub use topology::{Components, Edge, FacesAroundVertices, HalfEdge, Topology};
pub use triangle_mesh::TriangleMesh;
pub use units::Units;
pub use validate::{
    Defect, SelfIntersectionCheck, SelfIntersectionList, UnitGuess, ValidateSettings, Validation,
    validate, validate_with,
};
pub(crate) use validate::{Examination, examine};
pub(crate) use weld::first_at_same_position;
pub use weld::{WeldReport, weld};
pub use winding_number::{BorderEdge, Winding, WindingNumber, border, winding_number_brute_force};
