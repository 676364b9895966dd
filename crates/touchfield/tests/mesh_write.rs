//! Written meshes read back the same, and files appear whole or not at all.

mod whole_files;

use glam::DVec3;
use proptest::prelude::*;
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::read::{Format, Limits, read_bytes, read_file};
use touchfield::mesh::write::{WriteError, write_file, write_obj, write_ply, write_stl};
use whole_files::Survivor;

/// Generates any number except NaN, whose bits text cannot keep.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("NaN", |x| !x.is_nan()),
        -1.0f64..1.0,
        prop::sample::select(vec![
            0.0,
            -0.0,
            1e-310,
            f64::MAX,
            f64::INFINITY,
            0.1,
            1.0 / 3.0
        ]),
    ]
}

fn mesh(number: impl Strategy<Value = f64> + Clone) -> impl Strategy<Value = TriangleMesh> {
    let vertex = [number.clone(), number.clone(), number].prop_map(DVec3::from);
    prop::collection::vec(vertex, 1..20).prop_flat_map(|vertices| {
        let index = 0..vertices.len() as u32;
        let face = prop::array::uniform3(index);
        prop::collection::vec(face, 1..20).prop_map(move |faces| TriangleMesh {
            vertices: vertices.clone(),
            faces,
        })
    })
}

fn bits(mesh: &TriangleMesh) -> Vec<[u64; 3]> {
    mesh.vertices
        .iter()
        .map(|v| v.to_array().map(f64::to_bits))
        .collect()
}

proptest! {
    #[test]
    fn obj_and_ply_read_back_to_the_bit(mesh in mesh(number().boxed())) {
        let mut obj = Vec::new();
        write_obj(&mut obj, &mesh).unwrap();
        let mut ply = Vec::new();
        write_ply(&mut ply, &mesh).unwrap();
        for (format, bytes) in [(Format::Obj, obj), (Format::Ply, ply)] {
            let back = read_bytes(&bytes, format, &Limits::default()).unwrap();
            prop_assert_eq!(bits(&back), bits(&mesh), "{:?}", format);
            prop_assert_eq!(&back.faces, &mesh.faces);
        }
    }

    #[test]
    fn stl_reads_back_to_single_precision(mesh in mesh((-1e30f64..1e30).boxed())) {
        let mut bytes = Vec::new();
        write_stl(&mut bytes, &mesh).unwrap();
        prop_assert_eq!(bytes.len(), 84 + 50 * mesh.faces.len());
        let back = read_bytes(&bytes, Format::Stl, &Limits::default()).unwrap();
        prop_assert_eq!(back.faces.len(), mesh.faces.len());
        for (written, read) in mesh.triangles().zip(back.triangles()) {
            prop_assert_eq!(written.corners().map(|c| c.as_vec3().as_dvec3()), read.corners());
        }
    }
}

fn triangle() -> TriangleMesh {
    TriangleMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        faces: vec![[0, 1, 2]],
    }
}

#[test]
fn nan_and_infinity_survive() {
    let mut mesh = triangle();
    mesh.vertices[1] = DVec3::new(f64::NAN, f64::INFINITY, f64::NEG_INFINITY);
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.obj", "a.stl", "a.ply"] {
        let path = folder.path().join(name);
        write_file(&path, &mesh).unwrap();
        let vertex = read_file(&path, &Limits::default()).unwrap().vertices[1];
        assert!(vertex.x.is_nan(), "{name}: {vertex}");
        assert_eq!(
            [vertex.y, vertex.z],
            [f64::INFINITY, f64::NEG_INFINITY],
            "{name}"
        );
    }
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let survivor = Survivor::new("model.STL", "taken.obj", |path| {
        write_file(path, &triangle()).unwrap();
    });
    assert_eq!(survivor.before().len(), 84 + 50);

    let mut broken = triangle();
    broken.faces.push([0, 1, 3]);
    let error = write_file(survivor.path(), &broken).unwrap_err();
    assert!(
        matches!(
            error,
            WriteError::IndexOutOfRange {
                face: 1,
                index: 3,
                vertices: 3
            }
        ),
        "{error}"
    );
    let mut far = triangle();
    far.vertices[2].y = 1e300;
    let error = write_file(survivor.path(), &far).unwrap_err();
    assert!(
        matches!(error, WriteError::TooLargeForStl { vertex: 2 }),
        "{error}"
    );
    let error = write_file(&survivor.beside("model.glb"), &triangle()).unwrap_err();
    assert!(
        error.to_string().contains("model.glb") && error.to_string().contains(".ply"),
        "{error}"
    );
    // A folder has the name.
    assert!(matches!(
        write_file(&survivor.beside("taken.obj"), &triangle()),
        Err(WriteError::Io(_))
    ));

    survivor.assert_untouched();
}

#[test]
fn a_full_disk_is_an_error() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            Ok(taken)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    assert!(matches!(
        write_obj(&mut Full(10), &triangle()),
        Err(WriteError::Io(_))
    ));
    assert!(matches!(
        write_stl(&mut Full(100), &triangle()),
        Err(WriteError::Io(_))
    ));
    assert!(matches!(
        write_ply(&mut Full(200), &triangle()),
        Err(WriteError::Io(_))
    ));
}
