//! Building blocks shared by the searches: boxes, heaps, two fields in one frame, pairs of trees.

pub(crate) mod boxes;
pub(crate) mod corner_game;
pub(crate) mod exact_body;
pub(crate) mod exchange;
pub(crate) mod face_search;
pub(crate) mod least_first;
pub(crate) mod overlap;
pub(crate) mod particle_region;
pub(crate) mod penalty_point;
pub(crate) mod probe;
pub(crate) mod shell_pairs;
pub(crate) mod surface_pairs;
