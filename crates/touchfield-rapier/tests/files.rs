//! Colliders from files: a mesh file gives what its mesh gives, and a baked file keeps the shell
//! and the faces that it holds.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use touchfield::ShapeSettings;
use touchfield::bake::pointshell::ShellDensity;
use touchfield::mesh::{generate, write};
use touchfield::open::{MadeShape, ShellChoice};
use touchfield::shape::file;
use touchfield_rapier::{FieldShape, Settings};

/// The first program of the README is that of docs/RAPIER.md, which is compiled.
#[test]
fn the_readme_shows_the_program_of_the_page() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let page = read("docs/RAPIER.md");
    let (_, program) = page.split_once("```rust,no_run\n").unwrap();
    let (program, _) = program.split_once("```").unwrap();
    assert!(read("README.md").contains(program));
}

fn settings() -> Settings {
    Settings {
        resolution: 40,
        points: 900,
        ..Settings::default()
    }
}

#[test]
fn a_mesh_file_gives_what_its_mesh_gives() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = generate::bowl(generate::Bowl::default()).unwrap();
    let path = folder.path().join("bowl.obj");
    write::write_file(&path, &mesh).unwrap();
    let (opened, made) = (
        FieldShape::open(&path, settings()),
        FieldShape::from_mesh(&mesh, settings()),
    );
    let (opened, made) = (opened.unwrap(), made.unwrap());
    assert_eq!(opened.shape().shell(), made.shape().shell());
    assert_eq!(
        (opened.mass(), opened.thickness()),
        (made.mass(), made.thickness())
    );
}

#[test]
fn a_baked_file_keeps_its_shell_and_is_as_thick_as_its_faces() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = generate::torus(generate::Torus::default()).unwrap();
    let of_file = ShapeSettings {
        shell: ShellChoice::Density(ShellDensity::Points(321)),
        ..ShapeSettings::with_nodes(24)
    };
    let go_on = |_| std::ops::ControlFlow::Continue(());
    let MadeShape { shape, report, .. } = MadeShape::from_mesh(&mesh, &of_file, &go_on).unwrap();
    let path = folder.path().join("ring.tfs");
    let write = |shell, faces| {
        let field = shape.as_stored().unwrap();
        file::write_file(&path, field, &report.provenance, shell, faces).unwrap();
        FieldShape::open(&path, settings()).unwrap()
    };
    let whole = write(shape.shell(), shape.surface());
    assert_eq!(whole.shape().shell(), shape.shell());
    let truth = FieldShape::from_mesh(&mesh, settings())
        .unwrap()
        .thickness();
    let found = whole.thickness();
    assert!(
        (found / truth - 1.0).abs() < 0.05,
        "{found} for {truth}: by the faces, not by 24 nodes"
    );
    // A file without a shell gets one from its surface, with about the requested number of points.
    let bare = write(None, None);
    let count = bare.shape().shell().unwrap().points().len();
    assert_ne!(bare.shape().shell(), shape.shell());
    assert!((450..3000).contains(&count), "{count}");
    let none = FieldShape::open(folder.path().join("none.tfs"), settings());
    assert!(none.unwrap_err().to_string().contains("none.tfs"));
}
