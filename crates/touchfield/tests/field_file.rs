//! A `.tfs` file reads back bit for bit, and files appear whole or not at all.

#[allow(dead_code)]
mod tfs_files;
mod whole_files;

use std::path::Path;

use glam::{UVec3, Vec3};
use proptest::prelude::*;
use touchfield::field::file::{
    Cause, FileError, MOST_NOTES, NOTE_BYTES, Stored, from_bytes, read_file, to_bytes, write_file,
};
use touchfield::field::{
    DenseGrid, Field, GridLayout, LayeredVoxmap, Provenance, Sampling, SignMethod, StoredField,
    VoxelValues,
};
use touchfield::geom::Aabb;
use whole_files::Survivor;

const MEMORY: u64 = 1 << 30;

/// Greatest value for the finest grid below \[m\]: 1e37 of its cells.
const LARGEST: f32 = 1e35;

/// Values that are easily lost, or nearly too large.
const SPECIAL: [f32; 7] = [
    -0.0,
    0.0,
    1e-45,
    -1e-40,
    f32::MIN_POSITIVE,
    LARGEST,
    -LARGEST,
];

/// Returns the grid of a file that holds one.
fn dense(stored: &Stored) -> &DenseGrid {
    stored.field.as_dense().expect("a dense grid")
}

/// Generates any number that a grid accepts.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        any::<f32>().prop_filter("small enough", |x| x.abs() <= LARGEST),
        -1.0f32..1.0,
        prop::sample::select(SPECIAL.to_vec()),
    ]
}

/// Generates grids whose values are noise, or smooth with a few outliers, over several blocks or
/// within one.
fn grid() -> impl Strategy<Value = DenseGrid> {
    let nodes = prop_oneof![
        9 => [2u32..7, 2..7, 2..7],
        1 => [20u32..40, 20..40, 20..40]
    ];
    let corner = || [-3.0f32..3.0, -3.0f32..3.0, -3.0f32..3.0].prop_map(Vec3::from);
    let surprises = prop::collection::vec((any::<prop::sample::Index>(), number()), 0..200);
    (
        nodes,
        corner(),
        0.01f32..2.0,
        [corner(), corner()],
        0.0f32..10.0,
        any::<bool>(),
        surprises,
    )
        .prop_map(
            |(nodes, origin, cell_size, solid, error_bound, is_smooth, surprises)| {
                let layout = GridLayout {
                    origin,
                    cell_size,
                    nodes: UVec3::from(nodes),
                };
                let count = layout.node_count() as usize;
                let mut values: Vec<f32> = (0..count)
                    .map(|i| {
                        if is_smooth {
                            i as f32 * 0.01 - 3.0
                        } else {
                            f32::from_bits((i as u32).wrapping_mul(2654435761) & 0xFF7F_FFFF)
                        }
                    })
                    .map(|value| if value.abs() <= LARGEST { value } else { 0.5 })
                    .collect();
                for (place, value) in surprises {
                    values[place.index(count)] = value;
                }
                let solid = Aabb::of_points(solid);
                DenseGrid::new(layout, values, solid, error_bound).expect("a grid")
            },
        )
}

fn stored() -> impl Strategy<Value = Stored> {
    grid().prop_flat_map(|grid| {
        let cells = grid.layout().cells().element_product();
        let doubtful = prop::collection::btree_set(0..cells, 0..=cells.min(300) as usize);
        let notes = prop::collection::vec(any::<String>(), 0..4);
        let method = prop::sample::select(SignMethod::ALL.to_vec());
        (Just(grid), method, 0.0f32..1.0, doubtful, notes).prop_map(
            |(grid, sign_method, measured_error, cells, notes)| Stored {
                field: grid.into(),
                provenance: Provenance {
                    sign_method,
                    measured_error,
                    conservative: false,
                    origin: glam::DVec3::ZERO,
                    doubtful_cells: cells.into_iter().collect(),
                    notes,
                },
            },
        )
    })
}

/// Asserts equality that distinguishes −0 from 0.
fn assert_same_bits(a: &Stored, b: &Stored) {
    let bits = |grid: &DenseGrid| -> Vec<u32> {
        let layout = grid.layout();
        let (origin, solid) = (layout.origin, grid.solid());
        [origin, solid.min, solid.max]
            .into_iter()
            .flat_map(|v| v.to_array())
            .chain([layout.cell_size, grid.error_bound()])
            .chain(grid.values().iter().copied())
            .map(f32::to_bits)
            .chain(layout.nodes.to_array())
            .collect()
    };
    assert_eq!(bits(dense(a)), bits(dense(b)));
    assert_eq!(a.provenance, b.provenance);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn fields_read_back_to_the_bit(stored in stored()) {
        let bytes = to_bytes(&stored.field, &stored.provenance);
        let back = from_bytes(&bytes, MEMORY).unwrap();
        assert_same_bits(&back, &stored);
        prop_assert_eq!(to_bytes(&back.field, &back.provenance), bytes);
    }
}

/// Returns a sphere of radius 0.7, off centre, with the [`SPECIAL`] values in a corner, and all
/// chunks.
fn golden() -> Stored {
    let layout = GridLayout {
        origin: Vec3::new(-1.0, -0.875, -1.25),
        cell_size: 0.25,
        nodes: UVec3::new(9, 8, 10),
    };
    let mut values = Vec::new();
    for k in 0..layout.nodes.z {
        for j in 0..layout.nodes.y {
            for i in 0..layout.nodes.x {
                let node = layout.node_position(UVec3::new(i, j, k));
                values.push((node.length() - 0.7) as f32);
            }
        }
    }
    values[..SPECIAL.len()].copy_from_slice(&SPECIAL);
    let solid = Aabb::from_center(Vec3::ZERO, Vec3::splat(0.7));
    Stored {
        field: DenseGrid::new(layout, values, solid, 0.0625)
            .expect("a grid")
            .into(),
        provenance: Provenance {
            sign_method: SignMethod::Winding,
            measured_error: 0.03125,
            conservative: false,
            origin: glam::DVec3::ZERO,
            doubtful_cells: (0..40).chain([200, 503]).collect(),
            notes: vec![
                "3 open edges: winding numbers tell the sign.".to_owned(),
                String::new(),
                "Größe ½ m".to_owned(),
            ],
        },
    }
}

/// Run with `TOUCHFIELD_WRITE_GOLDEN=1` to rewrite the file after the format version was raised.
#[test]
fn the_golden_file_reads_and_writes_as_ever() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/dense_v1.tfs");
    if std::env::var_os("TOUCHFIELD_WRITE_GOLDEN").is_some() {
        write_file(&path, &golden().field, &golden().provenance).unwrap();
    }
    let bytes = std::fs::read(&path).unwrap();
    let stored = read_file(&path, MEMORY).unwrap();
    assert_same_bits(&stored, &golden());
    assert_eq!(to_bytes(&stored.field, &stored.provenance), bytes);
    // First bytes as in docs/FILE_FORMAT.md, in case reader and writer share an error.
    assert_eq!(&bytes[..16], b"\x89TFS\r\n\x1a\n\x01\0\0\0DENS");
    assert_eq!(bytes[16..24], (bytes.len() as u64).to_le_bytes());
    assert_eq!(&bytes[32..40], b"GRID\x01\0\0\0");
    assert_eq!(bytes[64 + 12..64 + 16], 0.25f32.to_le_bytes());
    assert_eq!(bytes[64 + 44..64 + 48], 9u32.to_le_bytes());
    assert_eq!(&bytes[120..128], b"VALS\x01\0\x02\0");
    // The checksums are those of a second implementation.
    let mut repaired = bytes.clone();
    tfs_files::repair_checksums(&mut repaired);
    assert_eq!(repaired, bytes);
}

/// Returns a voxmap of 3 × 2 × 2 voxels with values that are easily lost.
fn voxmap(values: VoxelValues, sampling: Sampling) -> Stored {
    let layout = GridLayout {
        origin: Vec3::new(-1.0, -0.875, -1.25),
        cell_size: 0.25,
        nodes: UVec3::new(4, 3, 3),
    };
    let solid = Aabb::from_center(Vec3::ZERO, Vec3::splat(0.5));
    let map = LayeredVoxmap::new(layout, values, sampling, solid, 0.5).expect("a voxmap");
    Stored {
        field: map.into(),
        provenance: Provenance {
            doubtful_cells: vec![0, 11],
            ..golden().provenance
        },
    }
}

fn voxmaps() -> [Stored; 3] {
    let layers = vec![i16::MIN, -2, -1, 0, 1, 2, i16::MAX, 5, 6, 7, 8, 9];
    let values = vec![i32::MIN, -2, -1, 0, 1, 2, i32::MAX, 5, 6, 7, 8, 9];
    let support = vec![
        -0.0, 0.0, 5e-324, 1e36, -1e36, 0.1, 1.0, 2.0, 3.0, 4.0, 5.0, 6.5,
    ];
    let scaled = VoxelValues::Scaled {
        precision: 3,
        values,
    };
    [
        voxmap(VoxelValues::Layers(layers), Sampling::LocalAndGlobal),
        voxmap(scaled, Sampling::Interpolated),
        voxmap(VoxelValues::Support(support), Sampling::Interpolated),
    ]
}

/// As [`the_golden_file_reads_and_writes_as_ever`], for scaled integers.
#[test]
fn the_golden_voxmap_reads_and_writes_as_ever() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/voxmap_v1.tfs");
    let [_, golden, _] = voxmaps();
    if std::env::var_os("TOUCHFIELD_WRITE_GOLDEN").is_some() {
        write_file(&path, &golden.field, &golden.provenance).unwrap();
    }
    let bytes = std::fs::read(&path).unwrap();
    let stored = read_file(&path, MEMORY).unwrap();
    assert_eq!(stored, golden);
    assert_eq!(to_bytes(&stored.field, &stored.provenance), bytes);
    // First bytes as in docs/FILE_FORMAT.md, in case reader and writer share an error.
    assert_eq!(&bytes[..16], b"\x89TFS\r\n\x1a\n\x01\0\0\0VXMP");
    assert_eq!(&bytes[32..40], b"GRID\x01\0\0\0");
    assert_eq!(&bytes[120..128], b"VOXL\x01\0\0\0");
    assert_eq!(bytes[152..156], [2, 3, 2, 0]);
    assert_eq!(&bytes[156..164], b"NUMB\x01\0\x01\0");
}

#[test]
fn voxmaps_read_back_to_the_bit() {
    for stored in voxmaps() {
        let bytes = to_bytes(&stored.field, &stored.provenance);
        let back = from_bytes(&bytes, MEMORY).unwrap();
        assert_eq!(back, stored);
        let support = |stored: &Stored| match &stored.field {
            StoredField::Voxmap(map) => match map.values() {
                VoxelValues::Support(values) => values.iter().map(|v| v.to_bits()).collect(),
                _ => Vec::new(),
            },
            _ => panic!("{:?}", stored.field),
        };
        // Equality does not distinguish −0 from 0.
        assert_eq!(support(&back), support(&stored));
        assert_eq!(to_bytes(&back.field, &back.provenance), bytes);
    }
}

#[test]
fn a_hand_made_file_reads_as_described() {
    let mut values = Vec::new();
    for value in [1.0f32, 2.0, -0.0, 4.0, 5.0, -6.0, 7.0, 8.5] {
        values.extend(value.to_le_bytes());
    }
    // Only cell 0, because there is only one. Two notes, one empty.
    let mut doubtful = tfs_files::Chunk::plain(b"DOUB", &[0]);
    doubtful.flags = 0;
    let unknown = tfs_files::Chunk {
        tag: *b"new!",
        flags: 0x8000,
        encoding: 77,
        raw_length: u64::MAX,
        payload: vec![1, 2, 3],
    };
    let bytes = tfs_files::file(&[
        tfs_files::Chunk::plain(b"NOTE", b"\0\x03abc"),
        unknown,
        tfs_files::provenance_chunk(),
        tfs_files::Chunk::plain(b"VALS", &values),
        doubtful,
        tfs_files::grid_chunk([2, 2, 2]),
    ]);
    let stored = from_bytes(&bytes, MEMORY).unwrap();
    let (grid, provenance) = (dense(&stored), &stored.provenance);
    assert_eq!(grid.values(), [1.0, 2.0, -0.0, 4.0, 5.0, -6.0, 7.0, 8.5]);
    assert_eq!(grid.layout().nodes, UVec3::splat(2));
    assert_eq!(grid.solid(), Aabb::new(Vec3::ZERO, Vec3::ONE));
    assert_eq!(provenance.doubtful_cells, [0]);
    assert_eq!(provenance.notes, ["", "abc"]);
    assert_eq!(provenance.sign_method, SignMethod::Pseudonormal);
}

#[test]
fn smooth_fields_shrink_and_noise_does_not_grow() {
    let layout = GridLayout {
        origin: Vec3::new(-1.0123, -0.987, -1.0057),
        cell_size: 2.0 / 63.0,
        nodes: UVec3::splat(64),
    };
    let provenance = Provenance {
        doubtful_cells: (1000..9000).collect(),
        notes: vec![],
        ..golden().provenance
    };
    let size = |value: &dyn Fn(u32, u32, u32) -> f32| {
        let mut values = Vec::new();
        for k in 0..64 {
            for j in 0..64 {
                values.extend((0..64).map(|i| value(i, j, k)));
            }
        }
        let grid = DenseGrid::new(layout, values, layout.bounds(), 0.0).unwrap();
        to_bytes(&grid.into(), &provenance).len()
    };
    let plain = 4 << 18;
    let sphere = size(&|i, j, k| (layout.node_position(UVec3::new(i, j, k)).length() - 0.7) as f32);
    assert!(3 * sphere < 2 * plain, "{sphere} of {plain}");
    let mut state = 1u64;
    let state = std::cell::RefCell::new(&mut state);
    let noise = size(&|_, _, _| {
        let mut state = state.borrow_mut();
        **state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        f32::from_bits((**state >> 32) as u32 & 0xBFFF_FFFF)
    });
    assert!(noise < plain + 1024, "{noise} of {plain}");
}

#[test]
fn the_limit_is_checked_before_memory_is_taken() {
    let Stored { field, provenance } = golden();
    let bytes = to_bytes(&field, &provenance);
    // Values; gaps and cells; notes twice, and their strings.
    let gaps = provenance.doubtful_cells.len() + 2;
    let texts: usize = provenance.notes.iter().map(|note| note.len() + 1).sum();
    let needed = 4 * 720 + gaps + 4 * 42 + 2 * texts + 3 * size_of::<String>();
    from_bytes(&bytes, needed as u64).unwrap();
    for limit in 0..needed as u64 {
        let error = from_bytes(&bytes, limit).unwrap_err();
        assert!(error.is_limit(), "{limit}: {error}");
        assert!(error.place.is_some(), "{limit}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tfs");
    write_file(&path, &field, &provenance).unwrap();
    read_file(&path, (needed + bytes.len()) as u64).unwrap();
    for limit in [0, bytes.len() - 1, needed + bytes.len() - 1] {
        let error = read_file(&path, limit as u64).unwrap_err();
        assert!(error.is_limit(), "{limit}: {error}");
        assert!(error.to_string().contains("a.tfs"), "{error}");
    }
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let Stored { field, provenance } = golden();
    let bytes = to_bytes(&field, &provenance);
    let survivor = Survivor::new("model.tfs", "taken.tfs", |path| {
        let written = write_file(path, &field, &provenance).unwrap();
        assert_eq!(written, bytes.len() as u64);
    });
    assert_eq!(survivor.before(), bytes);

    let with = |change: &dyn Fn(&mut Provenance)| {
        let mut changed = provenance.clone();
        change(&mut changed);
        changed
    };
    let refused = [
        ("ascend", with(&|p| p.doubtful_cells = vec![3, 3])),
        ("ascend", with(&|p| p.doubtful_cells = vec![9, 3])),
        ("504", with(&|p| p.doubtful_cells = vec![0, 504])),
        ("NaN", with(&|p| p.measured_error = f32::NAN)),
        ("-1", with(&|p| p.measured_error = -1.0)),
        (
            "4096",
            with(&|p| p.notes = vec![String::new(); MOST_NOTES + 1]),
        ),
        (
            "note 1",
            with(&|p| p.notes = vec![String::new(), "x".repeat(NOTE_BYTES + 1)]),
        ),
    ];
    for (word, provenance) in refused {
        let error = write_file(survivor.path(), &field, &provenance).unwrap_err();
        assert!(error.to_string().contains(word), "{word}: {error}");
        // Reading refuses it for the same reason.
        let error = from_bytes(&to_bytes(&field, &provenance), MEMORY).unwrap_err();
        assert!(!error.is_limit(), "{error}");
    }
    // A folder has the name; a folder is missing.
    for name in ["taken.tfs", "missing/a.tfs"] {
        let error: FileError = write_file(&survivor.beside(name), &field, &provenance).unwrap_err();
        assert!(matches!(*error.cause, Cause::NotWritten(_)), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    survivor.assert_untouched();
}

#[test]
fn limits_of_the_format_are_reachable() {
    let Stored {
        field,
        mut provenance,
    } = golden();
    provenance.notes = vec!["x".repeat(NOTE_BYTES); 3];
    provenance.notes.resize(MOST_NOTES, String::new());
    provenance.doubtful_cells = (0..504).collect();
    let widest = Aabb::from_center(Vec3::ZERO, Vec3::splat(1e37));
    let grid = field.as_dense().unwrap();
    let grid = DenseGrid::new(*grid.layout(), grid.values().to_vec(), widest, 1e37).unwrap();
    let stored = Stored {
        field: grid.into(),
        provenance,
    };
    let back = from_bytes(&to_bytes(&stored.field, &stored.provenance), MEMORY).unwrap();
    assert_same_bits(&back, &stored);
}

/// Measures throughput, without assertions:
/// `cargo test --release --test field_file -- --ignored --nocapture throughput`.
#[test]
#[ignore = "a measurement"]
fn throughput() {
    let layout = GridLayout {
        origin: Vec3::new(-1.2123, -1.1871, -1.2057),
        cell_size: 2.4 / 255.0,
        nodes: UVec3::splat(256),
    };
    let mut values = Vec::new();
    for k in 0..256 {
        for j in 0..256 {
            values.extend(
                (0..256).map(|i| (layout.node_position(UVec3::new(i, j, k)).length() - 1.0) as f32),
            );
        }
    }
    let field = StoredField::from(DenseGrid::new(layout, values, layout.bounds(), 0.0).unwrap());
    let provenance = golden().provenance;
    let megabytes = field.bytes() as f64 / 1e6;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sphere.tfs");
    for _ in 0..3 {
        let timed = |name: &str, work: &mut dyn FnMut()| {
            let (start, cpu) = (std::time::Instant::now(), cpu_seconds());
            work();
            let wall = megabytes / start.elapsed().as_secs_f64();
            let cpu = megabytes / (cpu_seconds() - cpu);
            println!("{name}: {wall:.0} MB/s, {cpu:.0} MB per CPU second");
        };
        let mut bytes = Vec::new();
        timed("to_bytes", &mut || bytes = to_bytes(&field, &provenance));
        timed("from_bytes", &mut || {
            assert_eq!(
                from_bytes(&bytes, MEMORY).unwrap().field.layout(),
                field.layout()
            )
        });
        timed("write_file", &mut || {
            assert!(write_file(&path, &field, &provenance).is_ok())
        });
        timed("read_file", &mut || {
            assert!(read_file(&path, MEMORY).is_ok())
        });
        println!("ratio {:.3}", megabytes * 1e6 / bytes.len() as f64);
    }
}

/// Returns the CPU time of this thread \[s\]; NaN where the system does not report it.
fn cpu_seconds() -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok())
        .map_or(f64::NAN, |nanoseconds| nanoseconds * 1e-9)
}
