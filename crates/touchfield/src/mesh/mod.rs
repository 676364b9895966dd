//! Triangle meshes: reading, judging, mending and making them. Offline; the run time never imports it.

mod triangle_mesh;

pub use triangle_mesh::TriangleMesh;
