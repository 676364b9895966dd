//! Proofs that several fields share: roundings, values outside a box, witness points.

pub(crate) mod outside;
pub(crate) mod rounding;
pub(crate) mod witness;
