//! Inside or outside: methods chosen from the defects of the mesh.

pub(crate) mod mend;
pub(crate) mod patches;
pub(crate) mod plan;
