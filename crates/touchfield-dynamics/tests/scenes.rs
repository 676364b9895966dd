//! Scene files: what they say is what is built, and what is wrong is found with its line and key.
#![cfg(feature = "scenes")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed unwrap is a failed test"
)]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use glam::{BVec3, DVec3};
use touchfield::mesh::{generate, write};
use touchfield_dynamics::scene::{BodyShape, Leave, Problem, Scene, SceneError};
use touchfield_dynamics::{
    ContactFinder, DepthSearch, Drive, Integrator, Material, Moves, Response,
};

fn parse(text: &str) -> Result<Scene, SceneError> {
    Scene::parse(text, Path::new("scene.toml"), Leave::InFolder)
}

fn build(text: &str) -> touchfield_dynamics::scene::Built {
    let scene = parse(text).unwrap_or_else(|error| panic!("{error}"));
    (scene.build(&|_| ControlFlow::Continue(()))).unwrap_or_else(|error| panic!("{error}"))
}

const BALL: &str = "[[body]]\nname = \"ball\"\nshape = { sphere = 0.1 }\n";

/// Every fault is found, at its line, under its key, with a way out.
#[test]
fn faults_have_a_line_a_key_and_a_way_out() {
    let body = |line: &str| format!("{BALL}{line}\n");
    let world = |line: &str| format!("[world]\n{line}\n{BALL}");
    let shape = |shape: &str| format!("[[body]]\nname = \"b\"\nshape = {{ {shape} }}\n");
    let cases = [
        (
            body("densty = 3"),
            4,
            "body.ball.densty",
            "did you mean `density`?",
        ),
        (
            body("density = -3"),
            4,
            "body.ball.density",
            "is -3; it must be a finite number above 0",
        ),
        (body("density = nan"), 4, "body.ball.density", "is nan"),
        (body("mass = 0"), 4, "body.ball.mass", "is 0"),
        (body("mass = inf"), 4, "body.ball.mass", "is inf"),
        (
            body("mass = 1\ndensity = 2"),
            4,
            "body.ball.mass",
            "not both",
        ),
        (
            body("pose = [0, 0, 0, 0, 0, 0, 0]"),
            4,
            "body.ball.pose",
            "length 1",
        ),
        (
            body("pose = [0, 0, 0, 0, 0, 1, 1]"),
            4,
            "body.ball.pose",
            "length 1",
        ),
        (
            body("pose = [0, 0, nan, 0, 0, 0, 1]"),
            4,
            "body.ball.pose[2]",
            "a finite number",
        ),
        (body("pose = [0, 0, 0]"), 4, "body.ball.pose", "seven"),
        (body("velocity = 3"), 4, "body.ball.velocity", "three"),
        (
            body("locked = [\"tz\", \"qz\"]"),
            4,
            "body.ball.locked[1]",
            "one of tx",
        ),
        (
            body("material = \"stel\""),
            4,
            "body.ball.material",
            "no material `stel`",
        ),
        (body("fixed = 1"), 4, "body.ball.fixed", "true or false"),
        (
            body("fixed = true\ndriven = {}"),
            5,
            "body.ball.driven",
            "does not move",
        ),
        (
            body("driven = { times = [0, 1] }"),
            4,
            "body.ball.driven.poses",
            "`times` and `poses`",
        ),
        (
            body("driven = { times = [0, 0], poses = [[0,0,0,0,0,0,1],[0,0,0,0,0,0,1]] }"),
            4,
            "body.ball.driven.times[1]",
            "above the time before it",
        ),
        (
            body("[[body]]\nname = \"ball\"\nshape = { sphere = 1 }"),
            4,
            "body[1]",
            "the body at line 1",
        ),
        (world("step = 0"), 2, "world.step", "above 0"),
        (world("step = -1e-3"), 2, "world.step", "above 0"),
        (
            world("step = 3"),
            2,
            "world.step",
            "longer than the simulation",
        ),
        (world("step = 1e-12"), 2, "world.step", "steps"),
        (world("seconds = nan"), 2, "world.seconds", "above 0"),
        (world("gravity = [0, 0]"), 2, "world.gravity", "three"),
        (
            world("integrator = \"rk5\""),
            2,
            "world.integrator",
            "did you mean `rk4`?",
        ),
        (
            world("response = \"spring\""),
            2,
            "world.response",
            "one of impulse",
        ),
        (
            world("integrator = \"rk4\"\nresponse = \"continuous-penalty\""),
            2,
            "world.integrator",
            "symplectic-euler",
        ),
        (
            world("contacts = \"swept-tree\""),
            2,
            "world.contacts",
            "continuous-penalty",
        ),
        (
            world("midpoints = 2.5"),
            2,
            "world.midpoints",
            "a whole number",
        ),
        (
            world("include = \"other.toml\""),
            2,
            "world.include",
            "no such key",
        ),
        (
            format!("include = \"self.toml\"\n{BALL}"),
            1,
            "include",
            "no such key",
        ),
        (
            format!("[material.a]\nfriction = -1\n{BALL}"),
            2,
            "material.a.friction",
            "0 or more",
        ),
        (
            format!("[material.a]\nrestitution = 1.5\n{BALL}"),
            2,
            "material.a.restitution",
            "0 to 1",
        ),
        (shape("sphere = 0"), 3, "body.b.shape.sphere", "above 0"),
        (
            shape("spere = 1"),
            3,
            "body.b.shape.spere",
            "did you mean `sphere`?",
        ),
        (
            shape("sphere = 1, box = [1, 1, 1]"),
            3,
            "body.b.shape",
            "give one of them",
        ),
        (shape(""), 3, "body.b.shape", "names no shape"),
        (
            shape("torus = [1, 2]"),
            3,
            "body.b.shape.torus",
            "above that of its tube",
        ),
        (
            shape("half_space = [0, 0, 0]"),
            3,
            "body.b.shape.half_space",
            "not all 0",
        ),
        (
            shape("half_space = [0, 0, 1]"),
            3,
            "body.b.shape",
            "fixed = true",
        ),
        (
            shape("model = \"bunny\""),
            3,
            "body.b.shape.model",
            "no model `bunny`",
        ),
        (
            shape("file = \"none.stl\""),
            3,
            "body.b.shape.file",
            "none.stl",
        ),
        (
            shape("file = \"../none.stl\""),
            3,
            "body.b.shape.file",
            "--allow-outside",
        ),
        (
            shape("model = \"mug\", scale = -1"),
            3,
            "body.b.shape.scale",
            "above 0",
        ),
        (
            shape("model = \"mug\", units = \"ft\""),
            3,
            "body.b.shape.units",
            "one of m",
        ),
        (
            shape("model = \"mug\", surface = \"sheet\""),
            3,
            "body.b.shape.surface",
            "not built yet",
        ),
        (
            shape("model = \"mug\", field = \"dense\", tolerance = 1e-3"),
            3,
            "body.b.shape.tolerance",
            "sparse",
        ),
        (
            "[[body]]\nname = \"b\"\n".to_owned(),
            1,
            "body.b.shape",
            "is missing",
        ),
        ("[world]\n".to_owned(), 1, "body", "at least one"),
        ("[world\nstep = 1\n".to_owned(), 1, "", ""),
    ];
    for (text, line, key, words) in cases {
        let error = match parse(&text) {
            Err(error) => error,
            Ok(_) => panic!("accepted: {text}"),
        };
        assert_eq!(
            (error.line, error.key.as_str()),
            (line, key),
            "{text}\n{error}"
        );
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("scene.toml:{line}: ")),
            "{message}"
        );
        assert!(message.contains(words), "no `{words}` in {message}");
    }
}

#[test]
fn too_many_bodies_are_refused_with_their_number() {
    let text = "[[body]]\nshape = { sphere = 1 }\n".repeat(Scene::MOST_BODIES + 1);
    let error = parse(&text).unwrap_err();
    assert!(error.is_limit(), "{error}");
    assert!(
        matches!(*error.problem, Problem::TooMany { count: 100_001, .. }),
        "{error}"
    );
}

#[test]
fn what_a_file_leaves_out_has_its_default() {
    let scene = parse("[[body]]\nshape = { sphere = 0.1 }\n").unwrap();
    assert_eq!(scene.world.gravity, DVec3::new(0.0, 0.0, -9.81));
    assert_eq!(
        (scene.world.step, scene.seconds, scene.record_every),
        (0.001, 2.0, 0.01)
    );
    assert_eq!(scene.world.integrator(), Integrator::Midpoint);
    assert_eq!(scene.world.response, Response::Impulse);
    assert_eq!(scene.world.contacts, ContactFinder::Auto);
    assert!(scene.measure_depth && scene.warnings.is_empty());
    assert_eq!(scene.steps(), 2000);
    let body = &scene.bodies[0];
    assert_eq!((body.name.as_str(), body.density), ("body-1", 1000.0));
    assert_eq!(body.material, Material::default());
    assert_eq!(body.moves, Moves::Freely);
    // A long step is the time between rows; penalties have their own integrator.
    let slow = parse(&format!(
        "[world]\nstep = 0.02\nresponse = \"penalty\"\n{BALL}"
    ))
    .unwrap();
    assert_eq!(slow.record_every, 0.02);
    assert_eq!(slow.world.integrator(), Integrator::SymplecticEuler);
}

#[test]
fn every_key_of_a_body_is_read() {
    let text = r#"
[material.rubber]
friction = 0.9
restitution = 0.5
stiffness = 1e6
damping = 10
slip = 1e-2

[[body]]
name = "part"
shape = { capsule = [0.1, 0.2] }
material = "rubber"
mass = 2.5
pose = [1, 2, 3, 0, 0, 0.7071, 0.7071]
velocity = [1, 0, 0]
angular_velocity = [0, 1, 0]
force = [0, 0, 1]
torque = [1, 1, 1]
locked = ["tx", "rz"]

[[body]]
name = "table"
shape = { cylinder = [1, 0.1] }
driven = { velocity = [0, 0, 1], angular_velocity = [0, 0, 2], about = [1, 0, 0] }
"#;
    let scene = parse(text).unwrap();
    let [part, table] = scene.bodies.as_slice() else {
        panic!("two bodies");
    };
    assert_eq!((part.line, table.line), (9, 21));
    assert_eq!((part.material.friction, part.material.slip), (0.9, 1e-2));
    assert_eq!(part.mass, Some(2.5));
    assert_eq!(
        part.shape,
        BodyShape::Capsule {
            radius: 0.1,
            half_length: 0.2
        }
    );
    assert!((part.pose.rotation.length() - 1.0).abs() < 1e-15);
    assert_eq!(part.pose.translation, DVec3::new(1.0, 2.0, 3.0));
    assert_eq!((part.force, part.torque), (DVec3::Z, DVec3::ONE));
    assert_eq!(part.locked.translation, BVec3::new(true, false, false));
    assert_eq!(part.locked.rotation, BVec3::new(false, false, true));
    let drive = Drive::Steady {
        velocity: DVec3::Z,
        angular_velocity: DVec3::new(0.0, 0.0, 2.0),
        about: DVec3::X,
    };
    assert_eq!(table.moves, Moves::Driven(drive));
    let built = scene.build(&|_| ControlFlow::Continue(())).unwrap();
    assert_eq!(built.world.bodies()[0].settings().mass.mass, 2.5);
    assert_eq!(built.names, ["part", "table"]);
}

/// A folder of its own, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("touchfield-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn convex_files_become_hulls_at_their_scale_and_others_fields() {
    let folder = Folder::new("scene-files");
    let cuboid = generate::cuboid(generate::Cuboid::default()).unwrap();
    write::write_file(&folder.0.join("box.obj"), &cuboid).unwrap();
    let text = r#"
[[body]]
name = "box"
shape = { file = "box.obj", units = "mm", scale = [2000, 1000, 1000] }
density = 2
[[body]]
name = "ring"
shape = { model = "torus", resolution = 32 }
pose = [0, 0, 1, 0, 0, 0, 1]
[[body]]
name = "far"
shape = { model = "torus", resolution = 32 }
pose = [0, 0, 2, 0, 0, 0, 1]
"#;
    let scene = Scene::parse(text, &folder.0.join("scene.toml"), Leave::InFolder).unwrap();
    let built = scene.build(&|_| ControlFlow::Continue(())).unwrap();
    let [cuboid, ring, far] = [0, 1, 2].map(|body| built.world.bodies()[body].settings());
    assert!(cuboid.geometry.shape().as_convex().is_some());
    // 100 × 80 × 60 mm, doubled along x.
    let mass = 2.0 * 0.2 * 0.08 * 0.06;
    assert!(
        (cuboid.mass.mass / mass - 1.0).abs() < 1e-12,
        "{}",
        cuboid.mass.mass
    );
    assert!(ring.geometry.shape().as_convex().is_none());
    assert!(ring.geometry.shape().shell().is_some());
    // One bake for both.
    let field = |settings: &touchfield_dynamics::BodySettings| {
        settings.geometry.shape().stored_pointer().unwrap()
    };
    assert!(std::sync::Arc::ptr_eq(&field(ring), &field(far)));
}

#[test]
fn a_file_outside_the_folder_needs_leave() {
    let folder = Folder::new("scene-outside");
    let inner = folder.0.join("inner");
    std::fs::create_dir_all(&inner).unwrap();
    let cuboid = generate::cuboid(generate::Cuboid::default()).unwrap();
    write::write_file(&folder.0.join("box.obj"), &cuboid).unwrap();
    let file = inner.join("scene.toml");
    for name in [
        "../box.obj".to_owned(),
        folder.0.join("box.obj").display().to_string(),
    ] {
        let text = format!("[[body]]\nshape = {{ file = '{name}' }}\n");
        let error = Scene::parse(&text, &file, Leave::InFolder).unwrap_err();
        assert!(matches!(*error.problem, Problem::Outside { .. }), "{error}");
        assert_eq!(error.line, 2);
        assert!(
            Scene::parse(&text, &file, Leave::Anywhere).is_ok(),
            "{name}"
        );
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.0.join("box.obj"), inner.join("link.obj")).unwrap();
        let text = "[[body]]\nshape = { file = 'link.obj' }\n";
        let error = Scene::parse(text, &file, Leave::InFolder).unwrap_err();
        assert!(matches!(*error.problem, Problem::Outside { .. }), "{error}");
    }
}

#[test]
fn bodies_that_overlap_at_the_start_are_named() {
    let text = r#"
[[body]]
name = "a"
shape = { sphere = 1 }
[[body]]
name = "b"
shape = { sphere = 1 }
pose = [1.5, 0, 0, 0, 0, 0, 1]
[[body]]
name = "c"
shape = { sphere = 1 }
pose = [10, 0, 0, 0, 0, 0, 1]
"#;
    let built = build(text);
    let [warning] = built.warnings.as_slice() else {
        panic!("{:?}", built.warnings);
    };
    assert!(warning.contains("`a` and `b` overlap by 5.0"), "{warning}");
}

/// Depth is the closed form, whatever the pair is made of.
#[test]
fn depths_are_those_of_closed_forms() {
    let floor = "[[body]]\nname = \"floor\"\nshape = { half_space = [0, 0, 1] }\nfixed = true\n";
    let at = |shape: &str, z: f64| {
        format!("{floor}[[body]]\nshape = {{ {shape} }}\npose = [0, 0, {z}, 0, 0, 0, 1]\n")
    };
    let pair = |shape: &str, x: f64| {
        format!(
            "[[body]]\nshape = {{ {shape} }}\n[[body]]\nshape = {{ {shape} }}\npose = [{x}, 0, 0, 0, 0, 0, 1]\n"
        )
    };
    for (text, depth, within) in [
        (at("sphere = 0.1", 0.09), 0.01, 1e-7),
        (at("box = [0.1, 0.2, 0.3]", 0.25), 0.05, 1e-7),
        (at("capsule = [0.1, 0.2]", 0.27), 0.03, 1e-7),
        (at("cylinder = [0.1, 0.2]", 0.18), 0.02, 1e-7),
        (at("torus = [0.3, 0.1]", 0.08), 0.02, 1e-3),
        (at("sphere = 0.1", 0.11), 0.0, 0.0),
        (pair("sphere = 0.1", 0.17), 0.03, 3e-4),
        (pair("box = [0.1, 0.1, 0.1]", 0.19), 0.01, 4e-4),
        (pair("sphere = 0.1", 0.21), 0.0, 0.0),
    ] {
        let built = build(&text);
        let found = DepthSearch::default().deepest(&built.world);
        let found = found.map_or(0.0, |pair| pair.depth);
        assert!(
            (found - depth).abs() <= within,
            "{text}: {found} for {depth}"
        );
    }
}

/// A world that goes on from a checkpoint is in the same states, and does the same from there.
#[test]
fn a_checkpoint_restores_states_and_time() {
    let text = format!(
        "{BALL}pose = [0, 0, 0.3, 0, 0, 0, 1]\nvelocity = [1, 0, 0]\nangular_velocity = [1, 2, 3]\n\
         [[body]]\nname = \"floor\"\nshape = {{ half_space = [0, 0, 1] }}\nfixed = true\n"
    );
    let (mut straight, mut resumed) = (build(&text).world, build(&text).world);
    for _ in 0..100 {
        straight.step().unwrap();
    }
    let checkpoint = straight.checkpoint();
    resumed.restore(&checkpoint).unwrap();
    assert_eq!(resumed.checkpoint(), checkpoint);
    assert_eq!((resumed.time(), resumed.steps()), (straight.time(), 100));
    for _ in 0..400 {
        straight.step().unwrap();
        resumed.step().unwrap();
    }
    let [a, b] = [&straight, &resumed].map(|world| world.bodies()[0].pose().translation);
    assert!(a.distance(b) < 1e-9, "{a} {b}");
    // It does not fit another world, and damage is found.
    assert!(build(BALL).world.restore(&checkpoint).is_err());
    let mut damaged = checkpoint.clone();
    damaged.bodies[0].state.position.x = f64::NAN;
    assert!(resumed.restore(&damaged).is_err());
}
