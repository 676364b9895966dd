//! The main entry point: a [`Query`] returns what the functions below it return, and shapes come
//! from files and meshes by one policy.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use touchfield::field::primitive::{Capsule, Cuboid, Sphere};
use touchfield::geom::PairMotion;
use touchfield::glam::{DVec3, Vec3};
use touchfield::mesh::{TriangleMesh, Units, generate, write};
use touchfield::narrow::{
    self, CastScratch, CastSettings, ClearanceScratch, ClearanceSettings, CollideSettings,
    Contacts, Pair, Scratch, SeparationScratch, SeparationSettings,
};
use touchfield::open::{MadeShape, ShellChoice, is_baked};
use touchfield::query::default_tolerance;
use touchfield::shape::{Convex, file};
use touchfield::{Motion, Pose, Query, Shape, ShapeSettings};
use touchfield_conformance::random::Random;

fn mug() -> TriangleMesh {
    generate::mug(generate::Mug::default()).unwrap()
}

fn coarse() -> ShapeSettings {
    ShapeSettings::with_nodes(40)
}

/// Returns poses of B around A, apart, touching and overlapping.
fn poses(reach: f32, count: u64) -> Vec<Pose> {
    let mut random = Random::new(11);
    let mut poses = Vec::new();
    for _ in 0..count {
        poses.push(Pose {
            rotation: random.quaternion().as_quat(),
            translation: reach * random.in_box(-DVec3::ONE, DVec3::ONE).as_vec3(),
        });
    }
    poses
}

#[test]
fn a_query_answers_as_the_functions_below_it() {
    let shape = Shape::from_mesh(&mug(), &coarse()).unwrap();
    let ball = Shape::new(Sphere::new(0.02).unwrap());
    let mut query = Query::default();
    let mut touching = 0;
    for (a, b) in [(&shape, &shape), (&shape, &ball), (&ball, &shape)] {
        let reach = a.solid().diagonal();
        let tolerance = default_tolerance(a, b);
        for a_from_b in poses(reach, 20) {
            let pair = Pair { a, b, a_from_b };
            let (mut scratch, mut found) = (Scratch::default(), Contacts::default());
            let settings = CollideSettings::default();
            narrow::collide(&pair, &settings, &mut scratch, &mut found).unwrap();
            assert_eq!(query.contacts(a, b, a_from_b).unwrap(), found.contacts);
            let is_touching = narrow::touching(&pair, 0.0, &mut scratch).unwrap();
            assert_eq!(query.touching(a, b, a_from_b).unwrap(), is_touching);
            touching += usize::from(is_touching);
            let settings = SeparationSettings::to_within(tolerance);
            let separation =
                narrow::separation(&pair, &settings, &mut SeparationScratch::default()).unwrap();
            assert_eq!(query.separation(a, b, a_from_b).unwrap(), separation);
            assert!(separation.lower_bound <= separation.upper_bound);
        }
        for a_from_b in poses(reach, 3) {
            let motion = Motion::straight(a_from_b, Vec3::new(0.0, 0.0, -reach));
            let of_pair = PairMotion::of_b(motion);
            let settings = CastSettings::to_within(tolerance);
            let cast = narrow::cast(a, b, &of_pair, &settings, &mut CastScratch::default());
            assert_eq!(query.cast(a, b, motion), cast);
            let settings = ClearanceSettings::to_within(tolerance);
            let scratch = &mut ClearanceScratch::default();
            let clearance = narrow::clearance(a, b, &of_pair, &settings, scratch);
            assert_eq!(query.clearance(a, b, motion), clearance);
        }
    }
    assert!((10..50).contains(&touching), "{touching} of 60 poses touch");
}

#[test]
fn batches_answer_as_single_questions() {
    let shape = Shape::from_mesh(&mug(), &coarse()).unwrap();
    let (a, b) = (&shape, &shape);
    let poses = poses(a.solid().diagonal(), 150);
    let settings = SeparationSettings::to_within(default_tolerance(a, b));
    let contacts = Query::contacts_many(a, b, &poses, &CollideSettings::default());
    let touching = Query::touching_many(a, b, &poses, 0.001);
    let separations = Query::separation_many(a, b, &poses, &settings);
    assert_eq!(
        [contacts.len(), touching.len(), separations.len()],
        [150; 3]
    );
    let mut query = Query::default();
    for (i, &pose) in poses.iter().enumerate() {
        assert_eq!(
            query.contacts(a, b, pose).unwrap(),
            contacts[i].as_deref().unwrap()
        );
        assert_eq!(query.touching_with(a, b, pose, 0.001), touching[i]);
        assert_eq!(query.separation_with(a, b, pose, &settings), separations[i]);
    }
    assert_eq!(Query::touching_many(a, b, &[], 0.0), []);
}

/// Convex pairs keep state: results stay within the closed form while shapes come and go.
#[test]
fn remembered_pairs_are_told_apart_though_shapes_come_and_go() {
    let mut query = Query::default();
    for round in 0..300u32 {
        let half = 0.1 + 0.001 * round as f32;
        let cuboid = Convex::cuboid(Vec3::splat(half)).unwrap();
        let block = Shape::convex(cuboid).unwrap();
        let ball = Shape::convex(Convex::sphere(0.05).unwrap()).unwrap();
        for height in [1.0, 0.5, half + 0.02] {
            let pose = Pose::from_translation(Vec3::new(0.0, 0.0, height));
            let found = query.separation(&block, &ball, pose).unwrap().separation;
            let truth = height - half - 0.05;
            assert!((found - truth).abs() < 1e-4, "{round}: {found} for {truth}");
            assert_eq!(query.touching(&block, &ball, pose).unwrap(), truth <= 0.0);
        }
    }
}

#[test]
fn contacts_of_a_manifold_keep_their_ids() {
    let floor = Shape::new(Cuboid::new(Vec3::new(1.0, 1.0, 0.1)).unwrap());
    let block = Shape::new(Cuboid::new(Vec3::splat(0.2)).unwrap());
    let shell = touchfield::bake::pointshell::shell_of_field(
        &Cuboid::new(Vec3::splat(0.2)).unwrap(),
        0.02,
        &Default::default(),
    );
    let block = block.with_shell(Arc::new(shell.unwrap()));
    let mut query = Query::default();
    let ids = |query: &mut Query, x: f32| {
        let pose = Pose::from_translation(Vec3::new(x, 0.0, 0.299));
        let manifold = query.manifold(&floor, &block, pose).unwrap();
        let kept = manifold.kept().iter();
        kept.map(|kept| (kept.contact.id, kept.age))
            .collect::<Vec<_>>()
    };
    let first = ids(&mut query, 0.0);
    let second = ids(&mut query, 0.0005);
    assert!(first.len() >= 3, "{first:?}");
    let lasting = second
        .iter()
        .filter(|(id, age)| *age == 1 && first.iter().any(|f| f.0 == *id));
    assert_eq!(lasting.count(), second.len(), "{first:?} {second:?}");
    query.forget();
    assert!(ids(&mut query, 0.0005).iter().all(|&(_, age)| age == 0));
}

#[test]
fn shapes_from_files_meshes_and_baked_files_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = generate::torus(generate::Torus::default()).unwrap();
    let path = folder.path().join("ring.obj");
    write::write_file(&path, &mesh).unwrap();
    let opened = Shape::open_with(&path, &coarse()).unwrap();
    let made = MadeShape::from_mesh(&mesh, &coarse(), &|_| std::ops::ControlFlow::Continue(()));
    let made = made.unwrap();
    assert_eq!(opened.report.shell_points, made.report.shell_points);
    assert!(opened.report.faces > 0 && opened.report.kind == "dense");
    let stored = |made: &MadeShape| {
        let shape = &made.shape;
        let field = shape.as_stored().unwrap();
        file::to_bytes(
            field,
            &made.report.provenance,
            shape.shell(),
            shape.surface(),
        )
    };
    // OBJ text holds every bit of the numbers.
    assert_eq!(stored(&opened), stored(&made));
    let baked = folder.path().join("ring.bin");
    std::fs::write(&baked, stored(&made)).unwrap();
    assert!(is_baked(&baked) && !is_baked(&path));
    let again = Shape::open_with(&baked, &ShapeSettings::default()).unwrap();
    assert_eq!(
        stored(&again),
        stored(&made),
        "shell and faces of a baked file are kept"
    );
    let mass = made.mass().unwrap();
    let of_field = again.mass().unwrap();
    assert!(
        (of_field.volume / mass.volume - 1.0).abs() < 0.1,
        "{of_field:?} {mass:?}"
    );
}

#[test]
fn settings_choose_units_field_shell_and_faces() {
    let folder = tempfile::tempdir().unwrap();
    let mut mesh = mug();
    let size = mesh.bounds().diagonal() as f32;
    for vertex in &mut mesh.vertices {
        *vertex *= 1000.0;
    }
    let path = folder.path().join("mug.stl");
    write::write_file(&path, &mesh).unwrap();
    let settings = ShapeSettings {
        units: Units::Millimetres,
        ..coarse()
    };
    let made = Shape::open_with(&path, &settings).unwrap();
    let found = made.shape.solid().diagonal();
    assert!((found / size - 1.0).abs() < 1e-3, "{found} for {size}");
    let tolerance = 0.01 * f64::from(size);
    let settings = ShapeSettings {
        tolerance: Some(tolerance),
        shell: ShellChoice::None,
        faces: false,
        ..settings
    };
    let made = Shape::open_with(&path, &settings).unwrap();
    let report = &made.report;
    assert_eq!(
        (report.kind, report.shell_points, report.faces),
        ("sparse", 0, 0)
    );
    assert!(f64::from(report.error_bound) <= tolerance);
}

#[test]
fn files_that_hold_no_shape_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let error = Shape::open(&path).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
        error
    };
    refused("empty.obj", b"");
    refused("flat.obj", b"v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n");
    refused("cut.tfs", b"\x89TFS\r\n\x1a\n");
    refused("word.xyz", b"hello");
    assert!(Shape::open(folder.path().join("none.stl")).is_err());
}

#[test]
fn poses_that_are_no_poses_are_refused() {
    let ball = Shape::new(Capsule::new(0.1, 0.05).unwrap());
    let mut query = Query::default();
    let bad = Pose::from_translation(Vec3::new(f32::NAN, 0.0, 0.0));
    assert!(query.contacts(&ball, &ball, bad).is_err());
    assert!(query.separation(&ball, &ball, bad).is_err());
    assert!(query.touching(&ball, &ball, bad).is_err());
    assert!(query.manifold(&ball, &ball, bad).is_err());
    assert!(query.cast(&ball, &ball, Motion::still(bad)).is_err());
    assert!(query.clearance(&ball, &ball, Motion::still(bad)).is_err());
}

/// The resolution of `f32` is 6 cm where these boxes are: shells and faces in the frame of the mesh
/// would be a thousand kilometres from their field.
#[test]
fn a_mesh_far_out_becomes_a_shape_in_a_frame_of_its_own() {
    let far = DVec3::new(1048576.0, -524288.0, 0.0);
    let mut mesh = generate::cuboid(generate::Cuboid {
        half_extents: DVec3::new(0.5, 0.25, 0.75),
        subdivisions: [4; 3],
    })
    .unwrap();
    let near = MadeShape::from_mesh(&mesh, &coarse(), &|_| std::ops::ControlFlow::Continue(()));
    let near = near.unwrap();
    assert_eq!(near.report.provenance.origin, DVec3::ZERO);
    for vertex in &mut mesh.vertices {
        *vertex += far;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("far.obj");
    write::write_file(&path, &mesh).unwrap();
    let opened = Shape::open_with(&path, &coarse()).unwrap();
    let origin = opened.report.provenance.origin;
    assert!(origin != DVec3::ZERO && (origin - far).length() <= 1.0);
    assert!(opened.report.shell_points > 0 && opened.report.faces == near.report.faces);
    let mass = opened.mass().unwrap();
    let expected = (far - origin).as_vec3();
    assert!((mass.volume - 0.75).abs() < 1e-5, "{mass:?}");
    assert!(
        (mass.center.as_vec3() - expected).length() < 1e-5,
        "{mass:?}"
    );
    // A pose between the meshes, converted to the frames of the shapes as `Provenance::origin`
    // describes.
    let own =
        |a_from_b: DVec3, a: DVec3, b: DVec3| Pose::from_translation((a_from_b + b - a).as_vec3());
    let mut query = Query::default();
    // The box of height 1.5, moved up by 2, is 0.5 above the other, whichever of them is far out.
    for (a, b, a_from_b) in [
        (&opened, &opened, DVec3::new(0.0, 0.0, 2.0)),
        (&opened, &near, far + DVec3::new(0.0, 0.0, 2.0)),
        (&near, &opened, DVec3::new(0.0, 0.0, 2.0) - far),
    ] {
        let frames = (a.report.provenance.origin, b.report.provenance.origin);
        let pose = own(a_from_b, frames.0, frames.1);
        let found = query.separation(&a.shape, &b.shape, pose).unwrap();
        assert!((found.separation - 0.5).abs() < 1e-3, "{found:?}");
        assert!(!query.touching(&a.shape, &b.shape, pose).unwrap());
        let into = own(a_from_b - DVec3::new(0.0, 0.0, 0.6), frames.0, frames.1);
        assert!(query.touching(&a.shape, &b.shape, into).unwrap());
        let deepest = query.contacts(&a.shape, &b.shape, into).unwrap();
        assert!(!deepest.is_empty(), "an overlap of 0.1 has contacts");
    }
}
