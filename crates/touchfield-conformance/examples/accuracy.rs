//! Prints docs/ACCURACY.md.
#![allow(clippy::print_stdout, reason = "the document is the output")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    print!("{}", touchfield_conformance::accuracy::document()?);
    Ok(())
}
