//! Penalty forces are minus the gradient of a stored energy: along any path they do as much work as
//! the energy changes, and round a closed one none. With the normals of points they have no
//! potential.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(clippy::print_stdout, reason = "the rows are for the reader")]

use std::f64::consts::TAU;
use std::ops::ControlFlow;
use std::sync::Arc;

use touchfield::Shape;
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_field, shell_of_mesh};
use touchfield::bake::{
    BakeSettings, Resolution, SparseGoal, SparseSettings, VoxmapSettings, bake, bake_sparse,
    bake_taylor, bake_voxmap,
};
use touchfield::field::StoredField;
use touchfield::field::primitive::Torus;
use touchfield::geom::Random;
use touchfield::glam::{DQuat, DVec3, Vec3};
use touchfield::mesh::generate;
use touchfield::shape::Convex;
use touchfield_dynamics::{
    BodySettings, Frame, Geometry, Mass, Material, Moves, Normals, PenaltySettings, Push, Response,
    World, WorldSettings,
};

/// Points of a shell: few, so that steps of the energy as points enter would show.
const POINTS: u32 = 2500;

fn shell_settings() -> ShellSettings {
    ShellSettings {
        density: ShellDensity::Points(POINTS),
        ..ShellSettings::default()
    }
}

/// Bodies whose fields are of every kind, with shells; a half-space without one.
fn bodies() -> Vec<(&'static str, Geometry)> {
    let mesh = generate::gear(generate::Gear::default()).unwrap();
    let settings = BakeSettings {
        resolution: Resolution::Nodes(40),
        ..Default::default()
    };
    let sparse = SparseSettings {
        goal: SparseGoal::Band(4.0),
        ..Default::default()
    };
    let voxmap = VoxmapSettings {
        resolution: Resolution::Nodes(40),
        ..VoxmapSettings::default()
    };
    let go_on = |_| ControlFlow::Continue(());
    let fields: [(&str, StoredField); 4] = [
        ("dense", bake(&mesh, &settings).unwrap().field.into()),
        (
            "sparse",
            (bake_sparse(&mesh, &settings, &sparse, &go_on).unwrap())
                .field
                .into(),
        ),
        (
            "taylor",
            (bake_taylor(&mesh, &settings, &go_on).unwrap())
                .field
                .into(),
        ),
        (
            "voxmap",
            (bake_voxmap(&mesh, &voxmap, &go_on).unwrap()).field.into(),
        ),
    ];
    let mut bodies: Vec<(&str, Geometry)> = (fields.into_iter())
        .map(|(name, field)| {
            let shell = shell_of_mesh(&mesh, &field, &shell_settings()).unwrap();
            let shape = Shape::stored(Arc::new(field)).with_shell(Arc::new(shell));
            (name, Geometry::from(shape))
        })
        .collect();
    let with_shell = |shape: Shape| {
        let cell = shape.solid().diagonal() / 100.0;
        let shell = shell_of_field(shape.field(), cell, &shell_settings()).unwrap();
        Geometry::from(shape.with_shell(Arc::new(shell)))
    };
    let ring = Torus::new(0.02, 0.008).unwrap();
    bodies.push(("ring", with_shell(Shape::new(ring))));
    let block = Convex::cuboid(Vec3::new(0.02, 0.015, 0.01)).unwrap();
    bodies.push(("block", with_shell(Shape::convex(block).unwrap())));
    bodies.push(("half-space", Geometry::half_space(Vec3::Z).unwrap()));
    bodies
}

/// Force, torque about the centre of B, and stored energy.
struct Found {
    push: Push,
    energy: f64,
    points: usize,
}

/// Returns what a world computes of B at rest beside A.
fn push_of(a: &Geometry, b: &Geometry, pose: Frame, normals: Normals, response: Response) -> Found {
    let elastic = Material {
        stiffness: 1e9,
        damping: 0.0,
        friction: 0.0,
        ..Material::default()
    };
    // So short that nothing moves.
    let step = 1e-9;
    let mut world = World::new(WorldSettings {
        gravity: DVec3::ZERO,
        response,
        step,
        penalty: PenaltySettings {
            normals,
            ..PenaltySettings::default()
        },
        ..WorldSettings::default()
    })
    .unwrap();
    world
        .add(BodySettings {
            material: elastic,
            moves: Moves::Never,
            ..BodySettings::fixed(a.clone())
        })
        .unwrap();
    world
        .add(BodySettings {
            material: elastic,
            pose,
            ..BodySettings::new(b.clone(), Mass::ball(1.0, 1.0))
        })
        .unwrap();
    world.step().unwrap();
    let state = world.bodies()[1].state();
    let push = match response {
        Response::ContinuousPenalty => world.late_push(1),
        _ => Push {
            force: state.momentum / step,
            torque: state.angular_momentum / step,
        },
    };
    Found {
        push,
        energy: world.stored_energy(),
        points: world.contact_count(),
    }
}

/// A closed path of B through the overlap.
struct Loop {
    start: Frame,
    sides: [DVec3; 2],
    turns: [DVec3; 2],
}

impl Loop {
    fn new(size: f64, place: DVec3, random: &mut Random) -> Loop {
        let mut vector = |length: f64| length * random.unit_vector();
        let sides = [vector(0.03 * size), vector(0.03 * size)];
        let turns = [vector(0.1), vector(0.1)];
        Loop {
            start: Frame {
                rotation: random.quaternion(),
                translation: place,
            },
            sides,
            turns,
        }
    }

    /// Returns the pose at a share of the way round.
    fn at(&self, share: f64) -> Frame {
        let (sin, cos) = (TAU * share).sin_cos();
        let turn = sin * self.turns[0] + cos * self.turns[1];
        Frame {
            rotation: (DQuat::from_scaled_axis(turn) * self.start.rotation).normalize(),
            translation: self.start.translation + sin * self.sides[0] + cos * self.sides[1],
        }
    }
}

/// Returns the work of the forces from the start to half round and from there back, the sum of its
/// parts without their signs, and the stored energies at both ends.
fn work(
    a: &Geometry,
    b: &Geometry,
    path: &Loop,
    normals: Normals,
    steps: usize,
) -> ([f64; 2], f64, [f64; 2]) {
    let (mut work, mut gross) = ([0.0; 2], 0.0);
    for step in 0..steps {
        let share = |offset: f64| (step as f64 + offset) / steps as f64;
        let [from, middle, to] = [0.0, 0.5, 1.0].map(|offset| path.at(share(offset)));
        let push = push_of(a, b, middle, normals, Response::Penalty).push;
        let turn = to.rotation * from.rotation.conjugate();
        let turn = if turn.w < 0.0 { -turn } else { turn };
        let part = push.force.dot(to.translation - from.translation)
            + push.torque.dot(turn.to_scaled_axis());
        work[usize::from(2 * step >= steps)] += part;
        gross += part.abs();
    }
    let energy = |share: f64| push_of(a, b, path.at(share), normals, Response::Penalty).energy;
    (work, gross, [energy(0.0), energy(0.5)])
}

fn size_of(a: &Geometry, b: &Geometry) -> f64 {
    let diagonal = |geometry: &Geometry| f64::from(geometry.shape().solid().diagonal());
    diagonal(a).min(diagonal(b))
}

#[test]
fn forces_are_minus_the_gradient_of_the_stored_energy_for_every_kind_of_field() {
    let bodies = bodies();
    let mut random = Random::new(31);
    println!("pair: work round a loop, of the sum without signs; with normals of points");
    let (mut compared, mut worst, mut worst_of_points) = (0, 0.0_f64, 0.0_f64);
    for (a_name, a) in &bodies {
        for (b_name, b) in &bodies {
            if b.as_half_space().is_some() {
                continue;
            }
            let size = size_of(a, b);
            let place = match a.as_half_space() {
                Some(_) => DVec3::new(0.0, 0.0, 0.1 * size),
                None => 0.3 * size * random.unit_vector(),
            };
            let path = Loop::new(size, place, &mut random);
            let start = push_of(a, b, path.at(0.0), Normals::Field, Response::Penalty);
            if start.points < 20 {
                continue;
            }
            let (halves, gross, energies) = work(a, b, &path, Normals::Field, 600);
            let change = energies[1] - energies[0];
            let off = [
                (halves[0] + change).abs() / gross,
                (halves[1] - change).abs() / gross,
                // The round is the sum of both halves, and so is its error.
                0.5 * (halves[0] + halves[1]).abs() / gross,
            ];
            let (point_halves, point_gross, _) = work(a, b, &path, Normals::Point, 100);
            let of_points = (point_halves[0] + point_halves[1]).abs() / point_gross;
            let most = off.into_iter().fold(0.0, f64::max);
            println!("{a_name} {b_name}: {most:.1e}; {of_points:.1e}");
            // The values of a voxmap jump from voxel to voxel, and so does the energy: its forces
            // have a potential only as far as the voxels are small.
            let allowed = match [a_name, b_name].contains(&&"voxmap") {
                true => 0.1,
                false => 2e-3,
            };
            if allowed < 0.01 {
                worst = worst.max(most);
            }
            worst_of_points = worst_of_points.max(of_points);
            compared += 1;
            assert!(most < allowed, "{a_name} {b_name}: {off:?}");
        }
    }
    println!("{compared} pairs: at most {worst:.1e}; {worst_of_points:.1e}");
    assert!(compared > 25, "{compared}");
    // The check can fail: normals of points have no potential.
    assert!(worst_of_points > 1e-2, "{worst_of_points}");
}

/// In the limit of no motion within the step the continuous force is the discrete one.
#[test]
fn continuous_forces_without_motion_are_the_discrete_ones() {
    let bodies = bodies();
    let mut random = Random::new(5);
    let mut compared = 0;
    for (a_name, a) in &bodies {
        for (b_name, b) in &bodies {
            if b.as_half_space().is_some() {
                continue;
            }
            let size = size_of(a, b);
            let place = match a.as_half_space() {
                Some(_) => DVec3::new(0.0, 0.0, 0.1 * size),
                None => 0.3 * size * random.unit_vector(),
            };
            let pose = Frame {
                rotation: random.quaternion(),
                translation: place,
            };
            let [discrete, late] = [Response::Penalty, Response::ContinuousPenalty]
                .map(|response| push_of(a, b, pose, Normals::Field, response));
            if discrete.points < 20 {
                continue;
            }
            let force = discrete.push.force;
            let off = (late.push.force - force).length() / force.length();
            let turned = (late.push.torque - discrete.push.torque).length();
            assert!(off < 2e-3, "{a_name} {b_name}: off by {off}, {force}");
            assert!(
                turned < 2e-3 * force.length() * size,
                "{a_name} {b_name}: torque off by {turned}"
            );
            compared += 1;
        }
    }
    assert!(compared > 25, "{compared}");
}
