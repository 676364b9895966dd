//! Points and triangles beside a field in a `.tfs` file: they read back bit for bit, are skipped by
//! readers of fields, and are refused when they are inconsistent.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[allow(dead_code, reason = "every test uses a part of it")]
mod tfs_files;

use std::path::Path;

use glam::{UVec3, Vec3};
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_mesh};
use touchfield::bake::{BakeSettings, Resolution, bake, surface_of_mesh};
use touchfield::field::file::{self, Cause, FileError};
use touchfield::field::{DenseGrid, GridLayout, Provenance, SignMethod, StoredField};
use touchfield::geom::Aabb;
use touchfield::mesh::generate::{Icosphere, icosphere};
use touchfield::pointshell::{PointShell, SphereNode, SphereTree};
use touchfield::shape::Surface;
use touchfield::shape::file::{StoredShape, from_bytes, read_file, to_bytes, write_file};

const MEMORY: u64 = 1 << 30;

fn field() -> (StoredField, Provenance) {
    let layout = GridLayout {
        origin: Vec3::splat(-1.0),
        cell_size: 1.0,
        nodes: UVec3::splat(3),
    };
    let node = |index: u32| UVec3::new(index % 3, index / 3 % 3, index / 9);
    let values = (0..27).map(|index| (layout.node_position(node(index)).length() - 0.75) as f32);
    let solid = Aabb::from_center(Vec3::ZERO, Vec3::splat(0.75));
    let grid = DenseGrid::new(layout, values.collect(), solid, 0.875).unwrap();
    let provenance = Provenance {
        sign_method: SignMethod::Pseudonormal,
        measured_error: 0.25,
        conservative: false,
        origin: glam::DVec3::ZERO,
        doubtful_cells: Vec::new(),
        notes: Vec::new(),
    };
    (grid.into(), provenance)
}

/// Returns a shell of six points, with a root and two leaves.
fn shell() -> PointShell {
    let points = [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z].map(|p| 0.75 * p);
    let normals = points.map(|point| point / 0.75).to_vec();
    let node = |center: Vec3, radius: f32, [first, count, child, children]: [u32; 4]| SphereNode {
        center,
        radius,
        first_point: first,
        point_count: count,
        first_child: child,
        child_count: children,
        representative: first + count - 1,
    };
    let nodes = vec![
        node(Vec3::ZERO, 0.75, [0, 6, 1, 2]),
        node(Vec3::splat(0.25), 0.625, [0, 3, 0, 0]),
        node(Vec3::splat(-0.25), 0.625, [3, 3, 0, 0]),
    ];
    let tree = SphereTree::new(nodes, vec![0, 1, 3]);
    let shell = PointShell::new(points.to_vec(), normals, 0.5, tree).unwrap();
    shell
        .with_areas(vec![0.5, 0.75, 1.0, 1.25, 1.5, 0.0])
        .unwrap()
}

fn surface() -> Surface {
    let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(-0.0, 0.0, 1.0)];
    Surface::new(vertices, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]).unwrap()
}

fn golden() -> StoredShape {
    let (field, provenance) = field();
    StoredShape {
        stored: file::Stored { field, provenance },
        shell: Some(shell()),
        surface: Some(surface()),
    }
}

fn bytes_of(shape: &StoredShape) -> Vec<u8> {
    let file::Stored { field, provenance } = &shape.stored;
    to_bytes(
        field,
        provenance,
        shape.shell.as_ref(),
        shape.surface.as_ref(),
    )
}

/// Run with `TOUCHFIELD_WRITE_GOLDEN=1` to rewrite the file after the format version was raised.
#[test]
fn the_golden_shape_reads_and_writes_as_ever() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/shape_areas_v1.tfs");
    let golden = golden();
    if std::env::var_os("TOUCHFIELD_WRITE_GOLDEN").is_some() {
        let file::Stored { field, provenance } = &golden.stored;
        let (shell, surface) = (golden.shell.as_ref(), golden.surface.as_ref());
        write_file(&path, field, provenance, shell, surface).unwrap();
    }
    let bytes = std::fs::read(&path).unwrap();
    let found = read_file(&path, MEMORY).unwrap();
    assert_eq!(found, golden);
    assert_eq!(bytes_of(&found), bytes);
    // As in docs/FILE_FORMAT.md, in case reader and writer share an error.
    let at = |tag: &[u8; 4]| bytes.windows(4).position(|four| four == tag).unwrap();
    let head = at(b"SHEL");
    assert_eq!(bytes[head + 4..head + 8], [0, 0, 1, 0]);
    // One uncompressed block: length with its mark, covering radius, levels.
    assert_eq!(bytes[head + 32..head + 36], (16u32 | 1 << 31).to_le_bytes());
    assert_eq!(bytes[head + 36..head + 40], 0.5f32.to_le_bytes());
    assert_eq!(
        bytes[head + 40..head + 52],
        [0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0]
    );
    // The reader of fields sees only the field.
    assert_eq!(file::from_bytes(&bytes, MEMORY).unwrap(), golden.stored);
}

/// Files written before shells had areas get them from the faces that they keep.
#[test]
fn a_shell_without_areas_takes_them_from_the_surface() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/shape_v1.tfs");
    let bytes = std::fs::read(&path).unwrap();
    let found = from_bytes(&bytes, MEMORY).unwrap();
    let (shell, golden) = (found.shell.unwrap(), golden());
    let area = |[a, b, c]: [Vec3; 3]| 0.5 * (b - a).cross(c - a).length();
    let surface = found.surface.unwrap();
    let whole: f32 = (0..4).map(|index| area(surface.corners(index))).sum();
    let sum: f32 = shell.areas().iter().sum();
    assert!((sum - whole).abs() < 1e-6, "{sum} of {whole}");
    // All else is as in the file with areas.
    let same = shell.with_areas(golden.shell.as_ref().unwrap().areas().to_vec());
    assert_eq!(same.ok(), golden.shell);
    // Without faces the covering radius gives an estimate.
    let alone = StoredShape {
        surface: None,
        ..self::golden()
    };
    let mut bytes = bytes_of(&alone);
    let at = bytes.windows(4).rposition(|four| four == b"SHAR").unwrap();
    bytes.truncate(at);
    tfs_files::repair_length(&mut bytes);
    tfs_files::repair_checksums(&mut bytes);
    let shell = from_bytes(&bytes, MEMORY).unwrap().shell.unwrap();
    assert_eq!(shell.areas(), [0.5 * 0.5 / 0.7; 6]);
}

#[test]
fn shells_and_surfaces_of_a_mesh_come_back_to_the_bit_together_and_alone() {
    let mesh = icosphere(Icosphere {
        radius: 1.0,
        level: 3,
    })
    .unwrap();
    let settings = BakeSettings {
        resolution: Resolution::Nodes(24),
        ..Default::default()
    };
    let baked = bake(&mesh, &settings).unwrap();
    let settings = ShellSettings {
        density: ShellDensity::Points(3000),
        ..Default::default()
    };
    let shell = shell_of_mesh(&mesh, &baked.field, &settings).unwrap();
    let surface = surface_of_mesh(&mesh).unwrap();
    let field = StoredField::from(baked.field);
    for (shell, surface) in [
        (Some(&shell), Some(&surface)),
        (Some(&shell), None),
        (None, Some(&surface)),
        (None, None),
    ] {
        let bytes = to_bytes(&field, &baked.provenance, shell, surface);
        let found = from_bytes(&bytes, MEMORY).unwrap();
        assert_eq!(found.shell.as_ref(), shell);
        assert_eq!(found.surface.as_ref(), surface);
        assert_eq!(found.stored.field, field);
        assert_eq!(bytes_of(&found), bytes);
        let (shape, provenance) = found.into_shape();
        assert_eq!(provenance, baked.provenance);
        assert_eq!(shape.exact_surface().is_some(), surface.is_some());
    }
    // Nothing is allocated beyond the limit.
    let bytes = to_bytes(&field, &baked.provenance, Some(&shell), Some(&surface));
    let error = from_bytes(&bytes, 4 * 24 * 24 * 24 + 1000).unwrap_err();
    assert!(error.is_limit(), "{error}");
}

/// Returns the golden file with one chunk changed, and checksums and lengths corrected.
fn with_chunk(tag: &[u8; 4], change: impl Fn(&mut Vec<u32>)) -> Result<StoredShape, FileError> {
    from_bytes(&changed(tag, change), MEMORY)
}

fn changed(tag: &[u8; 4], change: impl Fn(&mut Vec<u32>)) -> Vec<u8> {
    let golden = golden();
    let (shell, surface) = (golden.shell.unwrap(), golden.surface.unwrap());
    let planes = |vectors: &[Vec3]| -> Vec<u32> {
        (0..3)
            .flat_map(|axis| vectors.iter().map(move |vector| vector[axis].to_bits()))
            .collect()
    };
    let head = [shell.covering_radius().to_bits()];
    let spheres = shell.tree().nodes().iter().flat_map(|node| {
        let [x, y, z] = node.center.to_array().map(f32::to_bits);
        let ranges = [
            node.first_point,
            node.point_count,
            node.first_child,
            node.child_count,
        ];
        [x, y, z, node.radius.to_bits()]
            .into_iter()
            .chain(ranges)
            .chain([node.representative])
    });
    let chunks: [(&[u8; 4], Vec<u32>); 7] = [
        (b"SHEL", [&head, shell.tree().levels()].concat()),
        (b"SHPT", planes(shell.points())),
        (b"SHNM", planes(shell.normals())),
        (b"SHSP", spheres.collect()),
        (b"SFVT", planes(surface.vertices())),
        (b"SFTR", surface.triangles().concat()),
        (
            b"SHAR",
            shell.areas().iter().map(|area| area.to_bits()).collect(),
        ),
    ];
    let file::Stored { field, provenance } = &golden.stored;
    let mut bytes = file::to_bytes(field, provenance);
    for (name, mut words) in chunks {
        if name == tag {
            change(&mut words);
        }
        // No words: the chunk is left out.
        if words.is_empty() {
            continue;
        }
        let payload: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut chunk = tfs_files::Chunk::plain(name, &payload);
        chunk.flags = 0;
        chunk.append(&mut bytes);
    }
    tfs_files::repair_length(&mut bytes);
    tfs_files::repair_checksums(&mut bytes);
    bytes
}

/// A chunk, how its words are changed, and what the error names.
type Damage<'a> = (&'a [u8; 4], &'a dyn Fn(&mut Vec<u32>), &'a str);

#[test]
fn what_is_no_shell_or_surface_is_refused_with_the_place() {
    // Plain chunks read like packed ones.
    assert_eq!(with_chunk(b"none", |_| ()).unwrap(), golden());
    let nan = f32::NAN.to_bits();
    let cases: [Damage<'_>; 20] = [
        (b"SHEL", &|words| words[0] = nan, "covering radius"),
        (
            b"SHEL",
            &|words| words[0] = (-1.0f32).to_bits(),
            "covering radius",
        ),
        (b"SHEL", &|words| words.truncate(1), "levels"),
        (b"SHEL", &|words| words[2] = u32::MAX, "levels"),
        (b"SHEL", &|words| words.push(7), "levels"),
        (b"SHPT", &|words| words[4] = nan, "within"),
        (b"SHPT", &|words| words[4] = 1e38f32.to_bits(), "within"),
        (
            b"SHPT",
            &|words| words[0] = 9f32.to_bits(),
            "outside its sphere",
        ),
        (b"SHPT", &|words| words.truncate(17), "three numbers"),
        (b"SHNM", &|words| words.truncate(15), "normals"),
        (b"SHNM", &|words| words[0] = 2f32.to_bits(), "length 1"),
        (b"SHSP", &|words| words[7] = u32::MAX, "children"),
        (b"SHSP", &|words| words[5] = u32::MAX, "root"),
        (b"SHSP", &|words| words.truncate(26), "nine words"),
        (b"SFVT", &|words| words[3] = nan, "within"),
        (b"SFTR", &|words| words[3] = 4, "vertex"),
        (b"SFTR", &|words| words.truncate(11), "three numbers"),
        (b"SHAR", &|words| words[2] = nan, "area"),
        (b"SHAR", &|words| words[2] = (-1.0f32).to_bits(), "area"),
        (b"SHAR", &|words| words.truncate(5), "areas"),
    ];
    for (tag, change, expected) in cases {
        let error = with_chunk(tag, change).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(expected), "{expected}: {text}");
        assert!(error.place.is_some(), "{text}");
        // Readers of the field alone are not affected.
        file::from_bytes(&changed(tag, change), MEMORY).unwrap();
    }
}

#[test]
fn parts_of_a_shell_or_surface_do_not_come_alone() {
    for tag in [b"SHEL", b"SHPT", b"SHNM", b"SHSP", b"SFVT", b"SFTR"] {
        let error = with_chunk(tag, Vec::clear).unwrap_err();
        assert!(
            matches!(*error.cause, Cause::MissingChunk { tag: missing } if missing.0 == *tag),
            "{error}"
        );
    }
}

#[test]
fn no_byte_can_be_changed_into_a_panic() {
    let bytes = bytes_of(&golden());
    for index in 32..bytes.len() {
        for flip in [1, 0x80, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[index] ^= flip;
            // Damaged bytes fail the checksum. With the checksum repaired, the file is refused for
            // its content, or read.
            assert!(from_bytes(&damaged, MEMORY).is_err());
            tfs_files::repair_checksums(&mut damaged);
            let _ = from_bytes(&damaged, 1 << 24);
        }
    }
}
