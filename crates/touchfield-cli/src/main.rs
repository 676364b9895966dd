//! The `touchfield` command.

fn main() {}
