//! Baked files of every version of the format stay readable, and are written with the same bytes.
//!
//! The files in `golden/` are small bakes of a tetrahedron, one for each way to store a Taylor or a
//! sparse field. Each is compared with the closed form of the tetrahedron and with the description
//! in docs/FILE_FORMAT.md; [`the_golden_bakes_bake_as_ever`] bakes them again.

#![cfg(feature = "bake")]
#[allow(dead_code)]
mod tfs_files;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use glam::{DVec3, Vec3};
use touchfield::bake::{
    BakeSettings, Bits, Resolution, SparseGoal, SparseSettings, bake_sparse, bake_taylor,
};
use touchfield::field::file::{Stored, from_bytes, to_bytes};
use touchfield::field::{Field, SignMethod};
use touchfield::mesh::TriangleMesh;

const MEMORY: u64 = 1 << 28;

/// Ends of the edges that leave the corner at the origin \[m\].
const ENDS: [f64; 3] = [0.75, 0.5, 0.625];

/// Returns a tetrahedron whose coordinates need no rounding, so that every machine bakes the same
/// bits.
fn tetrahedron() -> TriangleMesh {
    let [x, y, z] = ENDS;
    TriangleMesh {
        vertices: vec![DVec3::ZERO, x * DVec3::X, y * DVec3::Y, z * DVec3::Z],
        faces: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    }
}

/// Returns the greatest signed distance from the four planes: the true distance inside the
/// tetrahedron and a lower bound outside.
fn planes(point: DVec3) -> f64 {
    let [x, y, z] = ENDS;
    let slanted = DVec3::new(1.0 / x, 1.0 / y, 1.0 / z);
    let beyond = (slanted.dot(point) - 1.0) / slanted.length();
    [-point.x, -point.y, -point.z, beyond]
        .into_iter()
        .fold(f64::NEG_INFINITY, f64::max)
}

/// A golden file: its name, its kind and the tag of the chunk that holds its values.
struct Golden {
    name: &'static str,
    kind: &'static [u8; 4],
    values: &'static [u8; 4],
    bake: fn() -> Stored,
}

/// One file for each way in which version 1 stores a Taylor or a sparse field.
const GOLDEN: [Golden; 4] = [
    Golden {
        name: "taylor_v1",
        kind: b"TAYL",
        values: b"HALF",
        bake: taylor,
    },
    Golden {
        name: "sparse_8_bits_v1",
        kind: b"SPRS",
        values: b"RES8",
        // Blocks of several levels, and a conservative solid that encloses the mesh.
        bake: || sparse(8, SparseGoal::Tolerance(0.02), Bits::Eight, true),
    },
    Golden {
        name: "sparse_16_bits_v1",
        kind: b"SPRS",
        values: b"RS16",
        bake: || sparse(20, SparseGoal::Band(1.5), Bits::Sixteen, false),
    },
    Golden {
        name: "sparse_32_bits_v1",
        kind: b"SPRS",
        values: b"VL32",
        bake: || sparse(20, SparseGoal::Band(1.0), Bits::ThirtyTwo, false),
    },
];

fn nodes(count: u32) -> BakeSettings {
    BakeSettings {
        resolution: Resolution::Nodes(count),
        ..BakeSettings::default()
    }
}

fn taylor() -> Stored {
    let go_on = |_| ControlFlow::Continue(());
    let baked = bake_taylor(&tetrahedron(), &nodes(10), &go_on).expect("a closed mesh");
    Stored {
        field: baked.field.into(),
        provenance: baked.provenance,
    }
}

fn sparse(count: u32, goal: SparseGoal, bits: Bits, conservative: bool) -> Stored {
    let go_on = |_| ControlFlow::Continue(());
    let settings = SparseSettings {
        goal,
        bits,
        conservative,
    };
    let baked = bake_sparse(&tetrahedron(), &nodes(count), &settings, &go_on).expect("closed");
    Stored {
        field: baked.field.into(),
        provenance: baked.provenance,
    }
}

fn path(name: &str) -> PathBuf {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    golden.join(name).with_extension("tfs")
}

fn bytes_of(golden: &Golden) -> Vec<u8> {
    std::fs::read(path(golden.name)).expect(golden.name)
}

/// Returns the tags of a file's chunks in order, by the description of the format.
fn tags(bytes: &[u8]) -> Vec<[u8; 4]> {
    let mut tags = Vec::new();
    let mut at = 32;
    while at < bytes.len() {
        tags.push(std::array::from_fn(|i| bytes[at + i]));
        let length = u64::from_le_bytes(std::array::from_fn(|i| bytes[at + 8 + i]));
        at += 32 + length as usize;
    }
    tags
}

#[test]
fn the_golden_bakes_read_and_write_as_ever() {
    for golden in &GOLDEN {
        let name = golden.name;
        let bytes = bytes_of(golden);
        let stored = from_bytes(&bytes, MEMORY).unwrap_or_else(|error| panic!("{name}: {error}"));
        let again = to_bytes(&stored.field, &stored.provenance);
        assert!(again == bytes, "{name}: written with other bytes");
        // As in docs/FILE_FORMAT.md, in case reader and writer share an error.
        assert_eq!(&bytes[..12], b"\x89TFS\r\n\x1a\n\x01\0\0\0", "{name}");
        assert_eq!(&bytes[12..16], golden.kind, "{name}");
        assert!(tags(&bytes).contains(golden.values), "{name}");
        let mut repaired = bytes.clone();
        tfs_files::repair_checksums(&mut repaired);
        assert_eq!(
            repaired, bytes,
            "{name}: checksums of a second implementation"
        );
    }
}

#[test]
fn the_golden_bakes_keep_their_promises() {
    for golden in &GOLDEN {
        let name = golden.name;
        let stored = from_bytes(&bytes_of(golden), MEMORY).expect("a golden file");
        assert_eq!(
            stored.provenance.sign_method,
            SignMethod::Pseudonormal,
            "{name}"
        );
        let field = stored.field;
        let bound = f64::from(field.error_bound());
        let bounds = field.bounds();
        let mut inside = 0;
        let mut worst: f64 = 0.0;
        for n in 0..20_u32.pow(3) {
            let place = Vec3::new((n % 20) as f32, (n / 20 % 20) as f32, (n / 400) as f32);
            let point = bounds.min + (place + 0.5) / 20.0 * bounds.extents();
            let found = f64::from(field.distance(point));
            let truth = planes(point.as_dvec3());
            if truth <= 0.0 {
                inside += 1;
                worst = worst.max((found - truth).abs());
                assert!(
                    (found - truth).abs() <= bound,
                    "{name} at {point}: {found}, truth {truth}, bound {bound}"
                );
            } else {
                assert!(
                    found >= truth - bound,
                    "{name} at {point}: {found}, at least {truth}, bound {bound}"
                );
            }
        }
        assert!(inside > 100, "{name}: {inside} points inside");
        // A bound beyond half the shortest edge is meaningless and would pass every check above.
        assert!(bound < 0.25, "{name}: bound {bound}, worst {worst}");
    }
}

/// Bakes the golden files again. If this fails, bakes give other values, which belongs in the
/// changelog. `TOUCHFIELD_WRITE_GOLDEN=1` writes missing files; files of an older version of the
/// format stay as they are and remain readable.
#[test]
fn the_golden_bakes_bake_as_ever() {
    for golden in &GOLDEN {
        let Stored { field, provenance } = (golden.bake)();
        let bytes = to_bytes(&field, &provenance);
        let path = path(golden.name);
        if std::env::var_os("TOUCHFIELD_WRITE_GOLDEN").is_some() && !path.exists() {
            std::fs::write(&path, &bytes).expect("the golden folder is writable");
        }
        let expected = from_bytes(&bytes_of(golden), MEMORY).expect("a golden file");
        assert_eq!(provenance, expected.provenance, "{}", golden.name);
        assert!(
            bytes == bytes_of(golden),
            "{}: the bake gives other bits; error bound {} now, {} then",
            golden.name,
            field.error_bound(),
            expected.field.error_bound()
        );
    }
}
