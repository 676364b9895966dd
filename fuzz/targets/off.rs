//! Fuzzes the OFF reader: any bytes give a mesh with indices in range, or an error that can be
//! printed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchfield::mesh::read::{Format, Limits, read_bytes};

fuzz_target!(|bytes: &[u8]| {
    match read_bytes(bytes, Format::Off, &Limits::default()) {
        Ok(mesh) => {
            let vertices = mesh.vertices.len();
            assert!(mesh.faces.iter().flatten().all(|&v| (v as usize) < vertices));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
