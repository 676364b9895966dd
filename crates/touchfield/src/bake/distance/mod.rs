//! Distances at the nodes of a grid, by one of seven methods.

pub(crate) mod band;
pub(crate) mod bound_tree;
pub(crate) mod brute_force;
pub(crate) mod chamfer;
pub(crate) mod exact_bvh;
pub(crate) mod fast_marching;
pub(crate) mod fill;
pub(crate) mod kept;
pub(crate) mod marks;
pub(crate) mod nodes;
pub(crate) mod proposals;
pub(crate) mod scan_conversion;
pub(crate) mod settle_signs;
pub(crate) mod vector_distance;
