//! Fuzzes the `.tfs` reader: any bytes give a field that stores and reads back the same and has
//! finite values, or an error that can be printed.
//!
//! Every input is read as it is, and again with its length and checksums repaired, which the fuzzer
//! could not get past otherwise.
#![no_main]

#[path = "../../crates/touchfield/tests/tfs_files/mod.rs"]
#[allow(dead_code)]
mod tfs_files;

use libfuzzer_sys::fuzz_target;
use touchfield::field::Field;
use touchfield::field::file::{from_bytes, to_bytes};

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    let mut repaired = bytes.to_vec();
    tfs_files::repair_length(&mut repaired);
    tfs_files::repair_checksums(&mut repaired);
    read(&repaired);
});

fn read(bytes: &[u8]) {
    match from_bytes(bytes, 64 << 20) {
        Ok(stored) => {
            let bounds = stored.field.bounds();
            for point in [bounds.center(), bounds.max, bounds.grown(1.0).max] {
                let sample = stored.field.sample(point);
                assert!(sample.distance.is_finite() && sample.gradient.is_finite());
            }
            let again = to_bytes(&stored.field, &stored.provenance);
            assert_eq!(from_bytes(&again, u64::MAX).expect("own file"), stored);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
