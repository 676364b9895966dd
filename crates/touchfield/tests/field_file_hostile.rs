//! Damaged and hostile `.tfs` files give an error that names the place, or with repaired checksums
//! a field; in little memory and time, and never a panic.
//!
//! One test, so that the memory of the process is that of the reader.

mod sparse_parts;
mod tfs_files;

use std::time::{Duration, Instant};

use glam::{UVec3, Vec3};
use tfs_files::{
    Chunk, file, file_of, grid_chunk, provenance_chunk, repair_checksums, repair_length,
};
use touchfield::field::file::{Cause, FileError, Stored, from_bytes, to_bytes};
use touchfield::field::{
    DenseGrid, GridLayout, LayeredVoxmap, Provenance, Sample, Sampling, SignMethod, SparseBlocks,
    TaylorGrid, VoxelValues,
};
use touchfield::geom::Aabb;

/// Time limit for a small file.
const TIME: Duration = Duration::from_millis(100);
const MEMORY: u64 = 64 << 20;
/// More memory than any of these files may claim, so that only the file's own size limits the
/// reader.
const MAX_MEMORY: u64 = 1 << 50;

/// Reads within [`TIME`] and checks that a field that comes back can be stored again.
fn attempt(name: &str, bytes: &[u8]) -> Result<Stored, FileError> {
    let start = Instant::now();
    let result = from_bytes(bytes, MAX_MEMORY);
    let mut elapsed = start.elapsed();
    if elapsed > TIME {
        // Another process may have had the core; a file that is slow will be slow again.
        let start = Instant::now();
        let _ = from_bytes(bytes, MAX_MEMORY);
        elapsed = elapsed.min(start.elapsed());
    }
    assert!(elapsed < TIME, "{name}: {elapsed:?}");
    match &result {
        Ok(stored) => {
            let again = to_bytes(&stored.field, &stored.provenance);
            assert_eq!(
                &from_bytes(&again, MAX_MEMORY).expect(name),
                stored,
                "{name}"
            );
        }
        Err(error) => {
            let is_about_all = matches!(*error.cause, Cause::MissingChunk { .. });
            assert!(
                is_about_all || error.place.is_some(),
                "{name}: no place: {error}"
            );
            if let Some(place) = error.place {
                assert!(place.byte <= bytes.len() as u64, "{name}: {error}");
            }
            assert!(!error.is_limit(), "{name}: {error}");
            assert!(error.to_string().len() < 400, "{name}: {error}");
        }
    }
    result
}

fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

/// Returns one file with compressed blocks and one without, both with every chunk, and one of each
/// other kind.
fn small_files() -> [(&'static str, Vec<u8>); 7] {
    let made = |nodes: UVec3, value: fn(usize) -> f32, notes: &[&str], doubtful_cells| {
        let layout = GridLayout {
            origin: Vec3::new(-0.5, 0.25, 1.0),
            cell_size: 0.5,
            nodes,
        };
        let values = (0..layout.node_count() as usize).map(value).collect();
        let grid = DenseGrid::new(layout, values, Aabb::new(Vec3::ZERO, Vec3::ONE), 0.125)
            .expect("a grid");
        let provenance = Provenance {
            sign_method: SignMethod::Parity,
            measured_error: 0.0625,
            conservative: false,
            origin: glam::DVec3::ZERO,
            doubtful_cells,
            notes: notes.iter().map(|&note| note.to_owned()).collect(),
        };
        to_bytes(&grid.into(), &provenance)
    };
    let repeated = "again and again and again and again and again";
    [
        (
            "packed",
            made(
                UVec3::new(4, 4, 3),
                |i| i as f32,
                &[repeated, "ü"],
                (0..18).collect(),
            ),
        ),
        (
            "plain",
            made(UVec3::splat(2), |i| (i as f32).sin(), &["é"], vec![0]),
        ),
        ("sparse", sparse_file()),
        ("taylor", taylor_file()),
        ("layers", voxmap_file(VoxelValues::Layers(vec![3, -2]))),
        ("scaled voxels", {
            let values = vec![1618, -42];
            voxmap_file(VoxelValues::Scaled {
                precision: 3,
                values,
            })
        }),
        (
            "voxels in full",
            voxmap_file(VoxelValues::Support(vec![0.5, -1e-3])),
        ),
    ]
}

/// Returns the file of a voxmap of two voxels.
fn voxmap_file(values: VoxelValues) -> Vec<u8> {
    let layout = GridLayout {
        origin: Vec3::new(-0.5, 0.25, 1.0),
        cell_size: 0.5,
        nodes: UVec3::new(3, 2, 2),
    };
    let solid = Aabb::new(Vec3::ZERO, Vec3::ONE);
    let map =
        LayeredVoxmap::new(layout, values, Sampling::Interpolated, solid, 0.75).expect("a voxmap");
    let provenance = Provenance {
        sign_method: SignMethod::Given,
        measured_error: 0.0625,
        conservative: false,
        origin: glam::DVec3::ZERO,
        doubtful_cells: vec![1],
        notes: Vec::new(),
    };
    to_bytes(&map.into(), &provenance)
}

/// Returns the file of a Taylor grid: distances from a plane, with gradients.
fn taylor_file() -> Vec<u8> {
    let layout = GridLayout {
        origin: Vec3::new(-0.5, 0.25, 1.0),
        cell_size: 0.5,
        nodes: UVec3::new(3, 2, 2),
    };
    let sample = |node: UVec3| Sample {
        distance: 0.3 * node.x as f32 - 0.2,
        gradient: Vec3::new(0.6, 0.8, 0.0),
    };
    let solid = Aabb::new(Vec3::ZERO, Vec3::ONE);
    let grid = TaylorGrid::from_nodes(layout, sample, solid, 0.125).expect("a Taylor grid");
    let provenance = Provenance {
        sign_method: SignMethod::Pseudonormal,
        measured_error: 0.0625,
        conservative: false,
        origin: glam::DVec3::ZERO,
        doubtful_cells: Vec::new(),
        notes: vec!["ü".to_owned()],
    };
    to_bytes(&grid.into(), &provenance)
}

fn sparse_file() -> Vec<u8> {
    let (layout, parts) = sparse_parts::parts();
    let field = SparseBlocks::new(layout, parts).expect("a sparse field");
    let provenance = Provenance {
        sign_method: SignMethod::Winding,
        measured_error: 0.0625,
        conservative: false,
        origin: glam::DVec3::ZERO,
        doubtful_cells: vec![1],
        notes: Vec::new(),
    };
    to_bytes(&field.into(), &provenance)
}

#[test]
fn hostile_files_give_a_field_or_a_located_error() {
    let before = peak_memory();
    for (name, bytes) in small_files() {
        attempt(name, &bytes).unwrap();
        for length in 0..bytes.len() {
            let what = format!("{name} cut at {length}");
            assert!(attempt(&what, &bytes[..length]).is_err(), "{what}");
            let mut cut = bytes[..length].to_vec();
            repair_length(&mut cut);
            repair_checksums(&mut cut);
            let _ = attempt(&format!("{what} and repaired"), &cut);
        }
        for surplus in [1, 31, 32, 33] {
            let mut long = bytes.clone();
            long.resize(bytes.len() + surplus, 0);
            assert!(attempt(name, &long).is_err(), "{name} and {surplus} bytes");
        }
        for bit in 0..8 * bytes.len() {
            let what = format!("{name} with bit {bit} flipped");
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(attempt(&what, &flipped).is_err(), "{what}");
            repair_checksums(&mut flipped);
            let _ = attempt(&format!("{what} and repaired"), &flipped);
        }
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7F, 0x80, 0xFF] {
                for count in [1, 4, 8] {
                    let mut changed = bytes.clone();
                    let end = (at + count).min(bytes.len());
                    changed[at..end].fill(value);
                    repair_checksums(&mut changed);
                    let what = format!("{name} with {value} at {at}, {count} times");
                    let _ = attempt(&what, &changed);
                }
            }
        }
    }
    for (name, word, bytes) in crafted().into_iter().chain(crafted_voxmaps()) {
        let error = attempt(name, &bytes).expect_err(name).to_string();
        assert!(error.contains(word), "{name}: {error}");
    }
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        assert!(after - before < MEMORY, "{} MiB", (after - before) >> 20);
    }
}

/// As [`crafted`], for voxmaps.
fn crafted_voxmaps() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let made = |nodes, voxels: &[u8], numbers: Chunk| {
        let voxels = Chunk::plain(b"VOXL", voxels);
        file_of(
            b"VXMP",
            &[grid_chunk(nodes), voxels, numbers, provenance_chunk()],
        )
    };
    let plain = |numbers: &[u8]| Chunk::plain(b"NUMB", numbers);
    let huge = |raw_length| Chunk {
        encoding: 1,
        raw_length,
        ..plain(&[0; 20])
    };
    let one = [2, 2, 2];
    vec![
        (
            "an unknown encoding of voxels",
            "encoding 4",
            made(one, &[4, 0, 1, 0], plain(&[0; 2])),
        ),
        (
            "an unknown sampling",
            "sampling 0",
            made(one, &[1, 0, 0, 0], plain(&[0; 2])),
        ),
        (
            "decimals of layers",
            "decimals",
            made(one, &[1, 3, 1, 0], plain(&[0; 2])),
        ),
        (
            "too many decimals",
            "16 decimals",
            made(one, &[2, 16, 1, 0], plain(&[0; 4])),
        ),
        (
            "a reserved byte of voxels",
            "reserved",
            made(one, &[1, 0, 1, 7], plain(&[0; 2])),
        ),
        (
            "half a number",
            "whole number of items",
            made(one, &[3, 0, 1, 0], plain(&[0; 4])),
        ),
        (
            "too few voxels",
            "holds 8 values, but 1",
            made([3; 3], &[1, 0, 1, 0], plain(&[0; 2])),
        ),
        (
            "more voxels than can be counted",
            "but 1 were given",
            made([1 << 20; 3], &[1, 0, 1, 0], plain(&[0; 2])),
        ),
        (
            "voxels that do not come",
            "chunk `NUMB`",
            made([1 << 10; 3], &[1, 0, 1, 0], huge(1 << 31)),
        ),
        (
            "a voxel that is no number",
            "voxel 0 is NaN",
            made(one, &[3, 0, 1, 0], plain(&f64::NAN.to_le_bytes())),
        ),
        (
            "no numbers",
            "no chunk `NUMB`",
            file_of(
                b"VXMP",
                &[grid_chunk(one), Chunk::plain(b"VOXL", &[1, 0, 1, 0])],
            ),
        ),
        (
            "values of a dense grid",
            "`VALS`",
            file_of(b"VXMP", &[grid_chunk(one), Chunk::plain(b"VALS", &[0; 32])]),
        ),
    ]
}

/// Returns crafted files: name, a word that the error must contain, and the bytes.
fn crafted() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let mut files = Vec::new();
    let chunk = |tag: &[u8; 4], encoding, raw_length, payload: &[u8]| Chunk {
        tag: *tag,
        flags: 1,
        encoding,
        raw_length,
        payload: payload.to_vec(),
    };
    let values = || chunk(b"VALS", 0, 32, &[0; 32]);
    let mut add = |name, word, chunks: Vec<Chunk>| files.push((name, word, file(&chunks)));
    add("no chunks", "no chunk `GRID`", vec![]);
    add("no values", "no chunk `VALS`", vec![grid_chunk([2; 3])]);
    add(
        "no provenance",
        "no chunk `PROV`",
        vec![grid_chunk([2; 3]), values()],
    );
    add(
        "two grids",
        "second time",
        vec![grid_chunk([2; 3]), grid_chunk([2; 3])],
    );
    add(
        "an unknown required chunk",
        "`NEW!`: the chunk is required",
        vec![Chunk::plain(b"NEW!", b"")],
    );
    add(
        "too many chunks",
        "1024",
        (0..1025)
            .map(|_| Chunk {
                flags: 0,
                ..Chunk::plain(b"none", b"")
            })
            .collect(),
    );
    for side in [2, 1 << 10, 1 << 16, 1 << 21, u32::MAX] {
        let count = u64::from(side).saturating_pow(3).saturating_mul(4);
        for encoding in 0..4 {
            for raw in [count, 1 << 62, u64::MAX] {
                let values = chunk(b"VALS", encoding, raw, &[0; 20]);
                add(
                    "huge counts",
                    "chunk `",
                    vec![grid_chunk([side; 3]), values],
                );
            }
        }
    }
    let with_values = |raw, encoding, payload: &[u8]| {
        vec![
            grid_chunk([2; 3]),
            chunk(b"VALS", encoding, raw, payload),
            provenance_chunk(),
        ]
    };
    add(
        "a side of one node",
        "at least 2",
        vec![grid_chunk([2, 1, 2]), values()],
    );
    add(
        "a side of no nodes",
        "at least 2",
        vec![grid_chunk([0, 2, 2]), values()],
    );
    add("too few values", "takes 32", with_values(28, 0, &[0; 28]));
    add("a NaN", "node 3 is NaN", {
        let mut payload = [0; 32];
        payload[12..16].copy_from_slice(&f32::NAN.to_le_bytes());
        with_values(32, 0, &payload)
    });
    add("an infinity", "node 7 is -inf", {
        let mut payload = [0; 32];
        payload[28..].copy_from_slice(&f32::NEG_INFINITY.to_le_bytes());
        with_values(32, 0, &payload)
    });
    for (name, value) in [
        ("a value whose differences overflow", 3e38f32),
        ("one just too large", -1.1e37),
    ] {
        let mut payload = [0; 32];
        payload[4..8].copy_from_slice(&value.to_le_bytes());
        add(name, "node 1 is", with_values(32, 0, &payload));
    }
    add(
        "a block without bytes",
        "block 0",
        with_values(32, 1, &[0; 4]),
    );
    add(
        "a block cut short",
        "bytes of a block",
        with_values(32, 1, &[9, 0, 0, 0, 1]),
    );
    add(
        "a block of all bits",
        "bytes of a block",
        with_values(32, 1, &[0xFF; 20]),
    );
    add(
        "a plain block too short",
        "31 bytes for 32",
        with_values(32, 1, &[&[31, 0, 0, 0x80][..], &[0; 31]].concat()),
    );
    add(
        "bytes behind the blocks",
        "2 bytes follow",
        with_values(32, 1, &[&[32, 0, 0, 0x80][..], &[0; 34]].concat()),
    );
    // A match that reaches before the beginning; one of offset 0; one that never ends.
    for lz4 in [
        &[0x1F, 0, 9, 0, 0][..],
        &[0x1F, 0, 0, 0, 0],
        &[0x1F, 0, 1, 0, 0xFF, 0xFF, 0xFF],
    ] {
        let payload = [&[lz4.len() as u8, 0, 0, 0], lz4].concat();
        add(
            "bad LZ4",
            "block 0 does not decompress",
            with_values(32, 1, &payload),
        );
    }
    let beside = |tag, payload: &[u8]| {
        vec![
            grid_chunk([2; 3]),
            values(),
            provenance_chunk(),
            Chunk::plain(tag, payload),
        ]
    };
    add(
        "a cell out of range",
        "cell 1 is doubtful",
        beside(b"DOUB", &[1]),
    );
    add(
        "a second cell out of range",
        "cell 1 is doubtful",
        beside(b"DOUB", &[0, 0]),
    );
    add(
        "a cell at 2^32",
        "cell 4294967295",
        beside(b"DOUB", &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]),
    );
    add(
        "a number too large",
        "LEB128",
        beside(b"DOUB", &[0xFF, 0xFF, 0xFF, 0xFF, 0x1F]),
    );
    add(
        "a number too long",
        "LEB128",
        beside(b"DOUB", &[0x80, 0x80, 0x80, 0x80, 0x80, 0]),
    );
    add(
        "a number with needless bytes",
        "LEB128",
        beside(b"DOUB", &[0x80, 0]),
    );
    add(
        "a number cut short",
        "rest of a number",
        beside(b"DOUB", &[0x80]),
    );
    add(
        "a note cut short",
        "rest of a note",
        beside(b"NOTE", b"\x04abc"),
    );
    add(
        "a note too long",
        "65536",
        beside(b"NOTE", &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]),
    );
    add(
        "a note that is not UTF-8",
        "note 1 is not UTF-8",
        beside(b"NOTE", b"\x01a\x02\xC3\x28"),
    );
    add("too many notes", "4096 notes", beside(b"NOTE", &[0; 4097]));
    let odd = |tag, flags, encoding| {
        let odd = Chunk {
            flags,
            encoding,
            ..Chunk::plain(tag, &[1, 0, 0, 0, 0, 0, 0, 0])
        };
        vec![grid_chunk([2; 3]), values(), odd]
    };
    add("unknown flags", "flags 0x3", odd(b"PROV", 3, 0));
    add("an unknown encoding", "encoding 3", odd(b"PROV", 1, 3));
    add(
        "a compressed head",
        "8 bytes, but a sign method",
        odd(b"PROV", 1, 1),
    );
    let odd = |payload| vec![grid_chunk([2; 3]), values(), Chunk::plain(b"PROV", payload)];
    add(
        "an unknown sign method",
        "sign method 5",
        odd(&[5, 0, 0, 0, 0, 0, 0, 0]),
    );
    add("reserved bytes", "reserved", odd(&[1, 0, 5, 0, 0, 0, 0, 0]));
    add(
        "a measured NaN",
        "NaN",
        odd(&[1, 0, 0, 0, 0, 0, 0xC0, 0x7F]),
    );
    let head = |word: usize, value: f32| {
        let mut grid = grid_chunk([2; 3]);
        grid.payload[4 * word..4 * word + 4].copy_from_slice(&value.to_le_bytes());
        vec![grid, values(), provenance_chunk()]
    };
    add(
        "an origin at infinity",
        "not usable",
        head(1, f32::INFINITY),
    );
    add("a negative cell", "not usable", head(3, -1.0));
    add("an empty box", "holds no point", head(5, 2.0));
    add("a box of NaN", "holds no point", head(8, f32::NAN));
    add(
        "a box without end",
        "must lie within 1e37 m",
        head(7, f32::INFINITY),
    );
    add(
        "a box whose corners overflow",
        "must lie within 1e37 m",
        head(4, f32::MIN),
    );
    let mut steep = head(3, 1e-37);
    steep[1].payload[..4].copy_from_slice(&2.0f32.to_le_bytes());
    add("a cell so small that slopes overflow", "1e37 cells", steep);
    add(
        "an endless error bound",
        "error bound of 3e38",
        head(10, 3e38),
    );
    add(
        "a negative error bound",
        "error bound of -1",
        head(10, -1.0),
    );
    for (name, word, at, value) in [
        ("another version", "version 2", 8, 2),
        ("another kind", "kind `\\x07ENS`", 12, 7),
        ("reserved header bytes", "reserved", 26, 1),
        ("another file", "not a .tfs", 1, b'P'),
    ] {
        let mut bytes = file(&[]);
        bytes[at] = value;
        repair_checksums(&mut bytes);
        files.push((name, word, bytes));
    }
    files.push(("nothing", "not a .tfs", vec![]));
    files
}
