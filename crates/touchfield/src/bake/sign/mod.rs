//! How inside is told from outside: chosen from the defects of the mesh.

pub(crate) mod mend;
pub(crate) mod patches;
pub(crate) mod plan;
