//! Prints docs/images/convergence.svg, including the bunny if the folder of models has it.
#![allow(clippy::print_stdout, reason = "the picture is the output")]

use touchfield_conformance::{convergence, meshes};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bunny = meshes::bunny();
    let named = bunny.as_ref().map(|mesh| ("bunny", mesh));
    print!("{}", convergence::picture(named)?);
    Ok(())
}
