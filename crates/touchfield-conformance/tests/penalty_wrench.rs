//! The areas of shell points and the penalty wrench: compared with closed forms, with pressure that
//! is integrated finely over the exact surfaces, and with the gradient of the energy.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::f64::consts::PI;
use std::sync::Arc;

use glam::{DVec3, Quat, Vec3};
use touchfield::bake::pointshell::{
    ShellDensity, ShellSampling, ShellSettings, TreeBuilder, shell_of_field, shell_of_mesh,
    shell_of_points, shell_of_points_with_areas,
};
use touchfield::bake::{
    BakeSettings, Resolution, SparseGoal, SparseSettings, bake, bake_sparse, bake_taylor,
};
use touchfield::contact::PenaltyWrench;
use touchfield::field::primitive::{Cuboid, HalfSpace, Sphere, Torus};
use touchfield::field::{Field, StoredField};
use touchfield::geom::{Pose, Triangle};
use touchfield::mesh::{TriangleMesh, generate};
use touchfield::narrow::{
    CollideError, CollideSettings, ContactMethod, Contacts, Pair, PenaltyNormals, Scratch, Side,
    WrenchSettings, collide, penalty_points, penalty_wrench,
};
use touchfield::pointshell::PointShell;
use touchfield::shape::Shape;
use touchfield_conformance::meshes;
use touchfield_conformance::random::Random;

/// Sizes of the bodies \[m\].
const RADIUS: f64 = 0.05;
const HALF: DVec3 = DVec3::new(0.05, 0.04, 0.03);
const MAJOR: f64 = 0.04;
const MINOR: f64 = 0.015;

/// A body with a closed form, in `f64` and independent of the library.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Solid {
    Ball,
    Block,
    Ring,
    /// Everything below z = 0.
    Floor,
}

impl Solid {
    /// Returns signed distance and unit gradient.
    fn sample(self, at: DVec3) -> (f64, DVec3) {
        match self {
            Solid::Ball => (at.length() - RADIUS, at.normalize_or_zero()),
            Solid::Floor => (at.z, DVec3::Z),
            Solid::Ring => {
                let across = at.truncate();
                let ring = (across.normalize_or_zero() * MAJOR).extend(0.0);
                let from = at - ring;
                (from.length() - MINOR, from.normalize_or_zero())
            }
            Solid::Block => {
                let beyond = at.abs() - HALF;
                if beyond.max_element() > 0.0 {
                    let out = beyond.max(DVec3::ZERO);
                    return (out.length(), out.normalize() * at.signum());
                }
                let axis = (0..3)
                    .max_by(|&i, &j| beyond[i].total_cmp(&beyond[j]))
                    .unwrap();
                let mut gradient = DVec3::ZERO;
                gradient[axis] = at[axis].signum();
                (beyond[axis], gradient)
            }
        }
    }

    /// Returns points of the exact surface with their areas: about `count` of them.
    fn surface(self, count: usize) -> Vec<(DVec3, f64)> {
        let mut points = Vec::new();
        match self {
            Solid::Floor => {}
            Solid::Ball => {
                // Equal areas: rows of equal height.
                let rows = ((count / 2) as f64).sqrt() as usize;
                let columns = 2 * rows;
                let area = 4.0 * PI * RADIUS * RADIUS / (rows * columns) as f64;
                for row in 0..rows {
                    let z = 1.0 - (2 * row + 1) as f64 / rows as f64;
                    for column in 0..columns {
                        let angle = 2.0 * PI * (column as f64 + 0.5) / columns as f64;
                        let across = (1.0 - z * z).sqrt();
                        let unit = DVec3::new(across * angle.cos(), across * angle.sin(), z);
                        points.push((RADIUS * unit, area));
                    }
                }
            }
            Solid::Ring => {
                let sides = ((count / 3) as f64).sqrt() as usize;
                let around = 3 * sides;
                let step = 2.0 * PI / sides as f64;
                let turn = 2.0 * PI / around as f64;
                for side in 0..sides {
                    let (sin, cos) = ((side as f64 + 0.5) * step).sin_cos();
                    let out = MAJOR + MINOR * cos;
                    for place in 0..around {
                        let (y, x) = ((place as f64 + 0.5) * turn).sin_cos();
                        let at = DVec3::new(out * x, out * y, MINOR * sin);
                        points.push((at, MINOR * step * out * turn));
                    }
                }
            }
            Solid::Block => {
                let sides = ((count / 6) as f64).sqrt() as usize;
                for axis in 0..3 {
                    let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
                    let area = 4.0 * HALF[u] * HALF[v] / (sides * sides) as f64;
                    for index in 0..2 * sides * sides {
                        let place = |i: usize| (2 * i + 1) as f64 / sides as f64 - 1.0;
                        let mut at = HALF;
                        at[axis] *= if index % 2 == 0 { 1.0 } else { -1.0 };
                        at[u] *= place(index / 2 % sides);
                        at[v] *= place(index / 2 / sides);
                        points.push((at, area));
                    }
                }
            }
        }
        points
    }

    fn mesh(self) -> Option<TriangleMesh> {
        match self {
            Solid::Floor => None,
            Solid::Ball => generate::icosphere(generate::Icosphere {
                radius: RADIUS,
                level: 6,
            })
            .ok(),
            Solid::Block => generate::cuboid(generate::Cuboid {
                half_extents: HALF,
                subdivisions: [1; 3],
            })
            .ok(),
            Solid::Ring => generate::torus(generate::Torus {
                major_radius: MAJOR,
                minor_radius: MINOR,
                major_segments: 384,
                minor_segments: 192,
            })
            .ok(),
        }
    }

    /// Returns the shape with a shell of about `points` points.
    fn shape(self, points: u32) -> Shape {
        let settings = ShellSettings {
            density: ShellDensity::Points(points),
            // Clusters of a million points take seconds rather than a minute.
            tree: TreeBuilder::Spatial,
            ..Default::default()
        };
        let of = |field: &dyn Field| {
            let mesh = self.mesh().unwrap();
            Arc::new(shell_of_mesh(&mesh, field, &settings).unwrap())
        };
        match self {
            Solid::Floor => Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap()),
            Solid::Ball => {
                let field = Sphere::new(RADIUS as f32).unwrap();
                let shell = of(&field);
                Shape::new(field).with_shell(shell)
            }
            Solid::Block => {
                let field = Cuboid::new(HALF.as_vec3()).unwrap();
                let shell = of(&field);
                Shape::new(field).with_shell(shell)
            }
            Solid::Ring => {
                let field = Torus::new(MAJOR as f32, MINOR as f32).unwrap();
                let shell = of(&field);
                Shape::new(field).with_shell(shell)
            }
        }
    }
}

/// Force, torque and energy for a stiffness of 1 Pa/m, with torques about B's origin.
#[derive(Clone, Copy, Debug, Default)]
struct Truth {
    force: DVec3,
    torque: DVec3,
    energy: f64,
}

/// Integrates the pressure over both exact surfaces; each counts half where both are bounded.
fn integrate(a: Solid, b: Solid, surfaces: [&[(DVec3, f64)]; 2], a_from_b: Pose) -> Truth {
    let rotation = a_from_b.rotation.as_dquat().normalize();
    let translation = a_from_b.translation.as_dvec3();
    let share = if a == Solid::Floor { 1.0 } else { 0.5 };
    let mut truth = Truth::default();
    let mut push = |at_in_a: DVec3, force: DVec3, distance: f64, area: f64| {
        truth.force += force;
        truth.torque += (at_in_a - translation).cross(force);
        truth.energy += 0.5 * area * distance * distance;
    };
    for &(at, area) in surfaces[1] {
        let at = rotation * at + translation;
        let (distance, gradient) = a.sample(at);
        if distance < 0.0 {
            push(
                at,
                -distance * share * area * gradient,
                distance,
                share * area,
            );
        }
    }
    for &(at, area) in surfaces[0] {
        let (distance, gradient) = b.sample(rotation.inverse() * (at - translation));
        if distance < 0.0 {
            let outward = rotation * gradient;
            push(
                at,
                distance * share * area * outward,
                distance,
                share * area,
            );
        }
    }
    truth
}

/// Returns a pose in which B overlaps A by up to a third of a body's thickness.
fn overlapping(a: Solid, b: Solid, random: &mut Random) -> Pose {
    let rotation = random.quaternion().as_quat().normalize();
    let away = match a {
        Solid::Floor => DVec3::Z,
        // Onto the tube, rather than through the hole.
        _ => random.unit_vector(),
    };
    let thickness = if a == Solid::Ring || b == Solid::Ring {
        MINOR
    } else {
        HALF.z
    };
    let wanted = -thickness * random.uniform(0.1, 0.6);
    let surface = b.surface(2000);
    let deepest = |translation: DVec3| {
        let places = surface
            .iter()
            .map(|&(at, _)| rotation.as_dquat() * at + translation);
        places
            .map(|at| a.sample(at).0)
            .fold(f64::INFINITY, f64::min)
    };
    // B comes in from outside until its deepest point is as deep as wanted.
    let (mut far, mut near) = (0.25, 0.0);
    for step in 0..200 {
        let at = 0.25 - 0.25 * f64::from(step) / 200.0;
        if deepest(at * away) <= wanted {
            near = at;
            break;
        }
        far = at;
    }
    for _ in 0..30 {
        let middle = 0.5 * (near + far);
        if deepest(middle * away) <= wanted {
            near = middle;
        } else {
            far = middle;
        }
    }
    Pose {
        rotation,
        translation: (near * away).as_vec3(),
    }
}

fn wrench_of(a: &Shape, b: &Shape, a_from_b: Pose, settings: &WrenchSettings) -> PenaltyWrench {
    let pair = Pair { a, b, a_from_b };
    penalty_wrench(&pair, settings, &mut Scratch::default()).unwrap()
}

/// Pairs of bodies, and the poses in which they are compared.
const PAIRS: [(Solid, Solid); 9] = [
    (Solid::Floor, Solid::Ball),
    (Solid::Floor, Solid::Block),
    (Solid::Floor, Solid::Ring),
    (Solid::Ball, Solid::Ball),
    (Solid::Ball, Solid::Block),
    (Solid::Ball, Solid::Ring),
    (Solid::Block, Solid::Block),
    (Solid::Block, Solid::Ring),
    (Solid::Ring, Solid::Ring),
];

/// Errors of force, torque and energy, relative to the force, to the force at an arm of the size of
/// the body, and to the energy.
#[derive(Clone, Copy, Debug, Default)]
struct Errors {
    points: u32,
    force: f64,
    torque: f64,
    energy: f64,
}

fn errors(a: Solid, b: Solid, shapes: [&Shape; 2], pose: Pose, truth: &Truth) -> Errors {
    let settings = WrenchSettings {
        about: Some(pose.translation),
        ..Default::default()
    };
    let found = wrench_of(shapes[0], shapes[1], pose, &settings);
    let force = found.wrench.force.as_dvec3().distance(truth.force) / truth.force.length();
    let torque = found.wrench.torque.as_dvec3().distance(truth.torque);
    // A torque that is small beside the force at this arm, half the diagonal of the block, is the
    // difference of larger ones; any other is compared with itself.
    let arm = HALF.length() * truth.force.length();
    assert!(found.wrench.about == pose.translation, "{a:?} {b:?}");
    Errors {
        points: found.points,
        force,
        torque: torque / truth.torque.length().max(arm),
        energy: (found.energy - truth.energy).abs() / truth.energy,
    }
}

/// Compares shells of several sizes with the integral; returns the mean force error per size.
fn compare(sizes: &[u32], poses: usize) -> Vec<f64> {
    const FINE: usize = 600_000;
    let mut random = Random::new(31);
    let solids = [Solid::Floor, Solid::Ball, Solid::Block, Solid::Ring];
    let place = |solid: Solid| solids.iter().position(|&other| other == solid).unwrap();
    let fine = solids.map(|solid| solid.surface(FINE));
    let shapes: Vec<[Shape; 4]> = (sizes.iter())
        .map(|&size| solids.map(|solid| solid.shape(size)))
        .collect();
    println!("shell       pair            points inside   force: mean, worst   torque   energy");
    let mut means = vec![0.0; sizes.len()];
    let mut failures = Vec::new();
    for (a, b) in PAIRS {
        let (in_a, in_b) = (place(a), place(b));
        let cases: Vec<(Pose, Truth)> = (0..poses)
            .map(|_| {
                let pose = overlapping(a, b, &mut random);
                (pose, integrate(a, b, [&fine[in_a], &fine[in_b]], pose))
            })
            .collect();
        for ((shapes, &size), mean) in shapes.iter().zip(sizes).zip(&mut means) {
            let found: Vec<Errors> = (cases.iter())
                .map(|(pose, truth)| errors(a, b, [&shapes[in_a], &shapes[in_b]], *pose, truth))
                .collect();
            let count = found.len() as f64;
            let average = |of: fn(&Errors) -> f64| found.iter().map(of).sum::<f64>() / count;
            let worst = |of: fn(&Errors) -> f64| found.iter().map(of).fold(0.0, f64::max);
            *mean += average(|e| e.force) / PAIRS.len() as f64;
            let least = found.iter().map(|e| e.points).min().unwrap();
            let most = found.iter().map(|e| e.points).max().unwrap();
            println!(
                "{size:8}    {:14}  {least:6} – {most:6}   {:.4} % {:.4} %   {:.4} %   {:.4} %",
                format!("{a:?} {b:?}"),
                100.0 * average(|e| e.force),
                100.0 * worst(|e| e.force),
                100.0 * worst(|e| e.torque),
                100.0 * worst(|e| e.energy),
            );
            for e in found {
                if e.points >= 1000 && e.force.max(e.torque).max(e.energy) > 0.02 {
                    failures.push(format!("{a:?} {b:?}, shell of {size}: {e:?}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    means
}

#[test]
fn wrenches_are_within_two_per_cent_of_the_integral_and_converge() {
    let sizes = [500, 5000, 50_000];
    let means = compare(&sizes, 12);
    println!("mean force errors {means:?}");
    // First order: an error proportional to the spacing shrinks by √10; a half of that is left for
    // scatter.
    for pair in means.windows(2) {
        assert!(pair[1] < pair[0] / (0.5 * 10f64.sqrt()), "{means:?}");
    }
}

#[test]
#[ignore = "takes minutes: run with --run-ignored only"]
fn shells_of_a_million_points_are_within_two_per_cent_of_the_integral() {
    let means = compare(&[50_000, 1_000_000], 8);
    println!("mean force errors {means:?}");
}

/// The same 20 mm overlap gave a force that grew with the number of points: 0.067 with 304 of them,
/// 15.1 with 76,908.
#[test]
fn a_wrench_does_not_grow_with_the_number_of_points() {
    let floor = Solid::Floor.shape(0);
    // Depth d of a ball of radius R: the integral of the pressure is π R k d².
    let (depth, stiffness) = (0.02, 1e9);
    let exact = PI * RADIUS * stiffness * depth * depth;
    let pose = Pose::from_translation(Vec3::new(0.01, -0.02, (RADIUS - depth) as f32));
    let settings = WrenchSettings {
        stiffness: stiffness as f32,
        ..Default::default()
    };
    for points in [300, 5000, 80_000] {
        let ball = Solid::Ball.shape(points);
        let found = wrench_of(&floor, &ball, pose, &settings);
        let force = f64::from(found.wrench.force.z);
        println!("{points} points: {force:e} N for {exact:e} N, {found:?}");
        let tolerance = if points < 1000 { 0.05 } else { 0.01 };
        assert!((force / exact - 1.0).abs() < tolerance, "{points}: {force}");
        // Its centre of mass is unknown: the centre of its box stands in.
        assert_eq!(found.wrench.about, pose.translation);
        let torque = f64::from(found.wrench.torque.length());
        assert!(torque < tolerance * exact * RADIUS, "{points}: {torque}");
        assert!((f64::from(found.depth) - depth).abs() < 5e-4, "{found:?}");
        let cap = 2.0 * PI * RADIUS * depth;
        assert!(
            (f64::from(found.area) / cap - 1.0).abs() < 2.0 * tolerance,
            "{found:?}"
        );
    }
}

/// Bodies whose fields are stored in different ways, with shells.
fn stored_bodies() -> Vec<(&'static str, Shape)> {
    let mesh = meshes::model("gear");
    let settings = BakeSettings {
        resolution: Resolution::Nodes(40),
        ..Default::default()
    };
    let sparse = SparseSettings {
        goal: SparseGoal::Band(4.0),
        ..Default::default()
    };
    let shell_settings = ShellSettings {
        density: ShellDensity::Points(2500),
        ..Default::default()
    };
    let quietly = |_| std::ops::ControlFlow::Continue(());
    let fields: [(&str, StoredField); 3] = [
        ("dense", bake(&mesh, &settings).unwrap().field.into()),
        (
            "sparse",
            bake_sparse(&mesh, &settings, &sparse, &quietly)
                .unwrap()
                .field
                .into(),
        ),
        (
            "taylor",
            bake_taylor(&mesh, &settings, &quietly)
                .unwrap()
                .field
                .into(),
        ),
    ];
    let mut bodies: Vec<(&str, Shape)> = (fields.into_iter())
        .map(|(name, field)| {
            let shell = shell_of_mesh(&mesh, &field, &shell_settings).unwrap();
            let shape = Shape::stored(Arc::new(field)).with_shell(Arc::new(shell));
            (name, shape)
        })
        .collect();
    bodies.push(("ring", Solid::Ring.shape(2500)));
    bodies.push(("block", Solid::Block.shape(2500)));
    bodies
}

/// A path of B that turns about a point that moves with it.
struct Path {
    start: Pose,
    about: Vec3,
    translation: DVec3,
    turn: DVec3,
}

impl Path {
    /// Returns pose and point at a part of the path.
    fn at(&self, part: f64) -> (Pose, Vec3) {
        let turn = glam::DQuat::from_scaled_axis(part * self.turn);
        let about = self.about.as_dvec3() + part * self.translation;
        let arm = self.start.translation.as_dvec3() - self.about.as_dvec3();
        let pose = Pose {
            rotation: (turn * self.start.rotation.as_dquat())
                .as_quat()
                .normalize(),
            translation: (about + turn * arm).as_vec3(),
        };
        (pose, about.as_vec3())
    }
}

/// Along any path the forces do exactly as much work as the energy changes, for the interpolant as
/// it is stored: the force is minus the gradient of the energy.
#[test]
fn the_force_is_minus_the_gradient_of_the_energy() {
    const STEPS: usize = 1000;
    let bodies = stored_bodies();
    let mut random = Random::new(7);
    let mut scratch = Scratch::default();
    let (mut compared, mut worst) = (0, 0.0f64);
    for (a_name, a) in &bodies {
        for (b_name, b) in &bodies {
            for detail in [0.0, 0.004] {
                let size = f64::from(a.solid().diagonal().min(b.solid().diagonal()));
                let start = Pose {
                    rotation: random.quaternion().as_quat().normalize(),
                    translation: (0.3 * size * random.unit_vector()).as_vec3(),
                };
                let path = Path {
                    start,
                    about: start.translation + (0.2 * size * random.unit_vector()).as_vec3(),
                    translation: 0.03 * size * random.unit_vector(),
                    turn: 0.1 * random.unit_vector(),
                };
                let mut wrench_at = |part: f64| {
                    let (a_from_b, about) = path.at(part);
                    let settings = WrenchSettings {
                        stiffness: 1e6,
                        about: Some(about),
                        detail,
                        ..Default::default()
                    };
                    penalty_wrench(&Pair { a, b, a_from_b }, &settings, &mut scratch).unwrap()
                };
                let (before, after) = (wrench_at(0.0), wrench_at(1.0));
                if before.points < 20 {
                    continue;
                }
                let (mut work, mut gross) = (0.0, 0.0);
                for step in 0..STEPS {
                    let found = wrench_at((step as f64 + 0.5) / STEPS as f64).wrench;
                    let power = found.force.as_dvec3().dot(path.translation)
                        + found.torque.as_dvec3().dot(path.turn);
                    work += power / STEPS as f64;
                    gross += power.abs() / STEPS as f64;
                }
                let change = after.energy - before.energy;
                let error = (change + work).abs() / gross.max(change.abs());
                println!("{a_name} {b_name}, detail {detail}: {change:e} J, off by {error:e}");
                worst = worst.max(error);
                compared += 1;
                assert!(
                    error < 2e-3,
                    "{a_name} {b_name} {detail}: {change:e} and {work:e}"
                );
            }
        }
    }
    println!("{compared} paths, worst {worst:e}");
    assert!(compared > 30, "{compared}");
}

/// The tree rejects only what is outside, the points are those of the sum, and exchanging the
/// bodies turns the wrench around.
#[test]
fn the_wrench_is_the_sum_over_all_points_inside_and_both_bodies_feel_the_same() {
    let bodies = stored_bodies();
    let mut random = Random::new(5);
    let mut scratch = Scratch::default();
    let mut inside = 0;
    for (a_name, a) in &bodies {
        for (b_name, b) in &bodies {
            let size = f64::from(a.solid().diagonal().min(b.solid().diagonal()));
            let a_from_b = Pose {
                rotation: random.quaternion().as_quat().normalize(),
                translation: (random.uniform(0.0, 0.6) * size * random.unit_vector()).as_vec3(),
            };
            let pair = Pair { a, b, a_from_b };
            let settings = WrenchSettings::default();
            let found = penalty_wrench(&pair, &settings, &mut scratch).unwrap();
            // Every point, without the tree.
            let mut all = [0, 0];
            let mut energy = 0.0;
            for (side, shell, field, field_from_shell) in [
                (0, a.shell().unwrap(), b.field(), a_from_b.inverse()),
                (1, b.shell().unwrap(), a.field(), a_from_b),
            ] {
                for (&point, &area) in shell.points().iter().zip(shell.areas()) {
                    let distance = field.distance(field_from_shell.transform_point(point));
                    if distance < 0.0 {
                        all[side] += 1;
                        energy += 0.25 * f64::from(area) * f64::from(distance).powi(2);
                    }
                }
            }
            let (mut counted, mut force) = ([0, 0], DVec3::ZERO);
            penalty_points(&pair, 0.0, &mut scratch, |point| {
                counted[usize::from(point.side == Side::B)] += 1;
                force += point.force_on_b(1.0, PenaltyNormals::Field).as_dvec3();
                assert!(point.depth() > 0.0 && (point.normal.length() - 1.0).abs() < 1e-5);
            })
            .unwrap();
            let name = format!("{a_name} {b_name}");
            // Points on the surface up to rounding may count or not.
            let off = |i: usize| i32::abs(counted[i] - all[i]);
            assert!(off(0) + off(1) <= 2, "{name}: {counted:?} of {all:?}");
            assert_eq!(found.points as i32, counted[0] + counted[1]);
            assert!((found.energy - energy).abs() <= 1e-5 * energy, "{name}");
            assert_eq!(found.wrench.force, force.as_vec3(), "{name}");
            inside += counted[0] + counted[1];
            // The other way round.
            let other = Pair {
                a: b,
                b: a,
                a_from_b: a_from_b.inverse(),
            };
            let about = a_from_b.inverse().transform_point(found.wrench.about);
            let settings = WrenchSettings {
                about: Some(about),
                ..settings
            };
            let back = penalty_wrench(&other, &settings, &mut scratch).unwrap();
            let turn = |v: Vec3| a_from_b.rotation * v;
            let scale = found.wrench.force.length().max(1e-12);
            let force = turn(back.wrench.force) + found.wrench.force;
            let torque = turn(back.wrench.torque) + found.wrench.torque;
            assert!(force.length() <= 1e-3 * scale, "{name}: {force} of {scale}");
            assert!(
                torque.length() <= 1e-3 * scale * size as f32,
                "{name}: {torque}"
            );
        }
    }
    assert!(inside > 1000, "{inside}");
}

#[test]
fn segments_add_up_to_the_wrench_and_name_their_contacts() {
    let bodies = stored_bodies();
    let (a, b) = (&bodies[0].1, &bodies[1].1);
    let mut random = Random::new(19);
    let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
    let mut compared = 0;
    for _ in 0..40 {
        let size = f64::from(a.solid().diagonal());
        let a_from_b = Pose {
            rotation: random.quaternion().as_quat().normalize(),
            translation: (0.5 * size * random.unit_vector()).as_vec3(),
        };
        let pair = Pair { a, b, a_from_b };
        let wrench = WrenchSettings {
            stiffness: 1e6,
            ..Default::default()
        };
        let settings = CollideSettings {
            method: ContactMethod::ShellSegments(16),
            wrench: Some(wrench),
            ..Default::default()
        };
        collide(&pair, &settings, &mut scratch, &mut out).unwrap();
        let whole = out.wrench.unwrap();
        assert_eq!(whole, penalty_wrench(&pair, &wrench, &mut scratch).unwrap());
        let force: Vec3 = out.segments.iter().map(|s| s.penalty.wrench.force).sum();
        let torque: Vec3 = out.segments.iter().map(|s| s.penalty.wrench.torque).sum();
        let points: u32 = out.segments.iter().map(|s| s.penalty.points).sum();
        let scale = out
            .segments
            .iter()
            .map(|s| s.penalty.wrench.force.length())
            .sum::<f32>();
        assert_eq!(points, whole.points);
        assert!(force.distance(whole.wrench.force) <= 1e-5 * scale);
        assert!(torque.distance(whole.wrench.torque) <= 1e-5 * scale * size as f32);
        // Every contact that overlaps is the deepest point of a segment, in the same order.
        let contacts = out
            .contacts
            .iter()
            .filter(|contact| contact.separation < 0.0);
        for (contact, segment) in contacts.zip(&out.segments) {
            assert_eq!(contact.id, segment.deepest);
            assert_eq!(-contact.separation, segment.penalty.depth);
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

/// Returns the areas that each point represents of a mesh: brute force, by pieces far smaller than
/// the spacing of the points.
fn areas_by_brute_force(shell: &PointShell, mesh: &TriangleMesh, spacing: f64) -> Vec<f64> {
    let mut areas = vec![0.0; shell.points().len()];
    for triangle in mesh.triangles() {
        let [a, b, c] = triangle.corners();
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        let along = (16.0 * longest / spacing).ceil() as usize;
        for i in 0..along {
            for j in 0..along - i {
                for part in 0..if i + j + 1 < along { 2 } else { 1 } {
                    let third = f64::from(1 + part) / 3.0;
                    let u = (i as f64 + third) / along as f64;
                    let v = (j as f64 + third) / along as f64;
                    let at = (a + u * (b - a) + v * (c - a)).as_vec3();
                    let distance = |index: &usize| shell.points()[*index].distance_squared(at);
                    let nearest = (0..areas.len())
                        .min_by(|i, j| distance(i).total_cmp(&distance(j)))
                        .unwrap();
                    areas[nearest] += triangle.area() / (along * along) as f64;
                }
            }
        }
    }
    areas
}

#[test]
fn areas_of_points_sum_to_the_mesh_and_are_those_of_their_cells() {
    let settings = |sampling, points| ShellSettings {
        sampling,
        density: ShellDensity::Points(points),
        ..Default::default()
    };
    let samplings = [
        ShellSampling::PoissonDisk,
        ShellSampling::Vertices,
        ShellSampling::Voxels { alpha: 1.0 },
    ];
    let field = Sphere::new(1.0).unwrap();
    for name in ["gear", "bolt_m8", "torus", "thin_plate"] {
        let mesh = meshes::model(name);
        for sampling in samplings {
            for points in [400, 6000] {
                let shell = shell_of_mesh(&mesh, &field, &settings(sampling, points)).unwrap();
                let sum: f64 = shell.areas().iter().map(|&area| f64::from(area)).sum();
                let error = (sum / mesh.area() - 1.0).abs();
                assert!(error < 1e-6, "{name} {sampling:?} {points}: {error:e}");
                let root = f64::from(shell.node_areas()[0]);
                assert!((root / sum - 1.0).abs() < 1e-6, "{name}: {root} {sum}");
            }
        }
    }
    // Cells, on bodies that are thick beside the spacing.
    for solid in [Solid::Ring, Solid::Block, Solid::Ball] {
        let coarse = match solid {
            Solid::Ball => generate::icosphere(generate::Icosphere {
                radius: RADIUS,
                level: 3,
            })
            .unwrap(),
            Solid::Ring => generate::torus(generate::Torus {
                major_segments: 48,
                minor_segments: 24,
                ..Default::default()
            })
            .unwrap(),
            _ => solid.mesh().unwrap(),
        };
        let shape = solid.shape(10);
        let shell = shell_of_mesh(
            &coarse,
            shape.field(),
            &settings(ShellSampling::PoissonDisk, 400),
        );
        let shell = shell.unwrap();
        let count = shell.points().len() as f64;
        let mean = coarse.area() / count;
        let truth = areas_by_brute_force(&shell, &coarse, mean.sqrt());
        let off = |(&area, &truth): (&f32, &f64)| (f64::from(area) - truth) / mean;
        let errors: Vec<f64> = shell.areas().iter().zip(&truth).map(off).collect();
        let rms = (errors.iter().map(|e| e * e).sum::<f64>() / count).sqrt();
        let worst = errors.iter().fold(0.0, |worst: f64, e| worst.max(e.abs()));
        println!("{solid:?}: areas off by {rms:.4} rms, {worst:.4} at worst, of the mean");
        assert!(rms < 0.03 && worst < 0.25, "{solid:?}: {rms} {worst}");
    }
}

#[test]
fn areas_survive_sorting_scaling_and_fields_without_a_mesh() {
    // Of the field alone: the isosurface has nearly the area of the surface.
    let field = Torus::new(MAJOR as f32, MINOR as f32).unwrap();
    let settings = ShellSettings {
        density: ShellDensity::Points(3000),
        ..Default::default()
    };
    let shell = shell_of_field(&field, 0.001, &settings).unwrap();
    let sum: f64 = shell.areas().iter().map(|&area| f64::from(area)).sum();
    let exact = 4.0 * PI * PI * MAJOR * MINOR;
    assert!((sum / exact - 1.0).abs() < 0.005, "{sum} of {exact}");
    // The tree sorts points; areas go with them, here those of a body scaled by 3.
    let points: Vec<Vec3> = shell
        .points()
        .iter()
        .rev()
        .map(|&point| 3.0 * point)
        .collect();
    let normals: Vec<Vec3> = shell.normals().iter().rev().copied().collect();
    let areas: Vec<f32> = shell.areas().iter().rev().map(|&area| 9.0 * area).collect();
    let radius = 3.0 * shell.covering_radius();
    let scaled = shell_of_points_with_areas(&points, &normals, &areas, radius, &settings).unwrap();
    for (point, area) in scaled.points().iter().zip(scaled.areas()) {
        let before = points.iter().position(|other| other == point).unwrap();
        assert_eq!(*area, areas[before]);
    }
    // Without areas there is an estimate, to a factor.
    let estimated = shell_of_points(&points, &normals, radius, &settings).unwrap();
    let estimate: f64 = estimated.areas().iter().map(|&area| f64::from(area)).sum();
    assert!(
        (0.5..2.0).contains(&(estimate / (9.0 * sum))),
        "{estimate} of {sum}"
    );
    // Triangles give them exactly.
    let mesh = Solid::Ring.mesh().unwrap();
    let triangles: Vec<Triangle> = mesh.triangles().collect();
    let exactly = shell.with_areas_of(&triangles);
    let sum: f64 = exactly.areas().iter().map(|&area| f64::from(area)).sum();
    assert!((sum / mesh.area() - 1.0).abs() < 1e-6);
    assert!(exactly.clone().with_areas(vec![1.0]).is_err());
    let count = exactly.points().len();
    assert!(exactly.with_areas(vec![f32::NAN; count]).is_err());
}

#[test]
fn settings_out_of_range_and_bodies_without_points_are_refused() {
    let (floor, ball) = (Solid::Floor.shape(0), Solid::Ball.shape(100));
    let pose = Pose {
        rotation: Quat::IDENTITY,
        translation: 0.04 * Vec3::Z,
    };
    let mut scratch = Scratch::default();
    let mut of = |a: &Shape, b: &Shape, settings: WrenchSettings| {
        let pair = Pair {
            a,
            b,
            a_from_b: pose,
        };
        penalty_wrench(&pair, &settings, &mut scratch)
    };
    let good = WrenchSettings::default();
    assert!(of(&floor, &ball, good).is_ok());
    let no_shell = of(&floor, &floor, good);
    assert!(
        matches!(no_shell, Err(CollideError::NoShell { .. })),
        "{no_shell:?}"
    );
    for settings in [
        WrenchSettings {
            stiffness: f32::NAN,
            ..good
        },
        WrenchSettings {
            stiffness: -1.0,
            ..good
        },
        WrenchSettings {
            detail: f32::INFINITY,
            ..good
        },
        WrenchSettings {
            about: Some(Vec3::new(0.0, f32::NAN, 0.0)),
            ..good
        },
    ] {
        let refused = of(&floor, &ball, settings);
        assert!(
            matches!(refused, Err(CollideError::BadSetting { .. })),
            "{settings:?}"
        );
    }
    // The normals of points push straight in, whatever the field.
    let by_points = of(
        &floor,
        &ball,
        WrenchSettings {
            normals: PenaltyNormals::Point,
            ..good
        },
    );
    let (by_points, by_field) = (by_points.unwrap(), of(&floor, &ball, good).unwrap());
    assert!(by_points.wrench.force.z < by_field.wrench.force.z);
    assert_eq!(by_points.energy, by_field.energy);
}
