//! Prints docs/images/subdivision.svg.
#![allow(clippy::print_stdout, reason = "the picture is the output")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    print!("{}", touchfield_conformance::subdivision_cost::picture()?);
    Ok(())
}
