//! Broad phases: written below.
fn main() {}
