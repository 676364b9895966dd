//! Runs the tests of touchfield-rapier in double precision.

extern crate touchfield_rapier_f64 as touchfield_rapier;

#[path = "../../touchfield-rapier/tests/persistence.rs"]
mod persistence;
