//! Bodies with shells, pairs of them in random poses, and their contacts on the CPU.

use std::sync::Arc;

use glam::{Quat, Vec3};
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_field, shell_of_mesh};
use touchfield::field::primitive::{Cuboid, Sphere, Torus};
use touchfield::field::{Difference, Field, Transformed};
use touchfield::narrow::{CollideSettings, ContactMethod, Contacts, Pair, Scratch, collide};
use touchfield::shape::Shape;
use touchfield::{Contact, Pose, TriangleMesh};
use touchfield_conformance::meshes;
use touchfield_conformance::random::Random;
use touchfield_conformance::representations::Representation;
use touchfield_gpu::DevicePair;

/// Shell settings with so many points.
pub fn points(count: u32) -> ShellSettings {
    ShellSettings {
        density: ShellDensity::Points(count),
        ..Default::default()
    }
}

/// A mesh as a field of a kind, with a shell of so many points.
pub fn of_mesh(
    mesh: &TriangleMesh,
    representation: Representation,
    nodes: u32,
    shell_points: u32,
) -> Shape {
    let field = representation.bake(mesh, nodes);
    let field = field.unwrap_or_else(|error| panic!("{error}"));
    let shell = shell_of_mesh(mesh, &field, &points(shell_points));
    let shell = shell.unwrap_or_else(|error| panic!("{error}"));
    Shape::stored(Arc::new(field)).with_shell(Arc::new(shell))
}

/// A model of the catalogue.
pub fn model(name: &str, representation: Representation, nodes: u32, shell_points: u32) -> Shape {
    of_mesh(&meshes::model(name), representation, nodes, shell_points)
}

/// A closed form with a shell.
pub fn closed_form(field: impl Field + 'static, shell_points: u32) -> Shape {
    let size = field.bounds().diagonal();
    let shell = shell_of_field(&field, 0.02 * size, &points(shell_points));
    let shell = shell.unwrap_or_else(|error| panic!("{error}"));
    Shape::new(field).with_shell(Arc::new(shell))
}

/// A sphere, a torus, and a cuboid with a ball cut out of it.
pub fn closed_forms(shell_points: u32) -> Vec<Shape> {
    let fine = |error: touchfield::field::ParameterError| -> ! { panic!("{error}") };
    let cuboid = Cuboid::new(Vec3::new(0.5, 0.4, 0.3)).unwrap_or_else(|e| fine(e));
    let sphere = Sphere::new(0.4).unwrap_or_else(|e| fine(e));
    let at = Pose {
        rotation: Quat::from_rotation_x(0.4),
        translation: Vec3::new(0.45, 0.1, 0.2),
    };
    let cut = Difference {
        first: cuboid,
        second: Transformed::new(sphere, at, 1.0).unwrap_or_else(|e| fine(e)),
    };
    vec![
        closed_form(sphere, shell_points),
        closed_form(
            Torus::new(0.4, 0.15).unwrap_or_else(|e| fine(e)),
            shell_points,
        ),
        closed_form(cut, shell_points),
    ]
}

/// A random rotation.
pub fn rotation(random: &mut Random) -> Quat {
    let mut unit = || 2.0 * random.unit() as f32 - 1.0;
    Quat::from_xyzw(unit(), unit(), unit(), unit() + 1e-3).normalize()
}

/// A pose of B in A in which the two probably touch.
pub fn pose(a: &Shape, b: &Shape, random: &mut Random) -> Pose {
    let rotation = rotation(random);
    let mut unit = || 2.0 * random.unit() as f32 - 1.0;
    let way = Vec3::new(unit(), unit(), unit()).normalize_or(Vec3::X);
    let reach = 0.25 * (a.solid().diagonal() + b.solid().diagonal());
    let apart = reach * (0.6 + 0.6 * random.unit() as f32);
    Pose {
        rotation,
        translation: a.solid().center() + apart * way - rotation * b.solid().center(),
    }
}

/// So many pairs of the shapes in random poses.
pub fn pairs(shapes: &[Shape], count: usize, seed: u64) -> Vec<DevicePair> {
    let mut random = Random::new(seed);
    let pick = |random: &mut Random| (random.unit() * shapes.len() as f64) as usize;
    (0..count)
        .map(|_| {
            let (a, b) = (pick(&mut random), pick(&mut random));
            DevicePair {
                a,
                b,
                a_from_b: pose(&shapes[a], &shapes[b], &mut random),
            }
        })
        .collect()
}

/// The contacts of a pair on the CPU, in the order of their points.
pub fn on_cpu(
    shapes: &[Shape],
    pair: &DevicePair,
    method: ContactMethod,
    max_separation: f32,
) -> Vec<Contact> {
    let asked = Pair {
        a: &shapes[pair.a],
        b: &shapes[pair.b],
        a_from_b: pair.a_from_b,
    };
    let settings = CollideSettings {
        method,
        max_separation,
        ..Default::default()
    };
    let mut out = Contacts::default();
    collide(&asked, &settings, &mut Scratch::default(), &mut out)
        .unwrap_or_else(|error| panic!("{error}"));
    out.contacts.sort_by_key(|contact| contact.id);
    out.contacts
}
