//! Bodies in contact with impulses, beside closed forms.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use touchfield::glam::{DQuat, DVec3, Vec3};
use touchfield::shape::Convex;
use touchfield_dynamics::{BodySettings, Frame, Geometry, Mass, Material, World, WorldSettings};

const G: f64 = 9.81;

fn material(friction: f64, restitution: f64) -> Material {
    Material {
        friction,
        restitution,
        ..Material::default()
    }
}

fn world(step: f64) -> World {
    World::new(WorldSettings {
        step,
        ..WorldSettings::default()
    })
    .unwrap()
}

/// The ground, turned about y by `angle`, so that x goes down the slope.
fn slope(angle: f64, material: Material) -> BodySettings {
    BodySettings {
        material,
        pose: Frame {
            rotation: DQuat::from_rotation_y(angle),
            translation: DVec3::ZERO,
        },
        ..BodySettings::fixed(Geometry::half_space(Vec3::Z).unwrap())
    }
}

fn ball(radius: f32, material: Material) -> BodySettings {
    let geometry = Geometry::convex(Convex::sphere(radius).unwrap()).unwrap();
    BodySettings {
        material,
        ..BodySettings::new(geometry, Mass::ball(1.0, f64::from(radius)))
    }
}

fn cuboid(half: Vec3, material: Material) -> BodySettings {
    let geometry = Geometry::convex(Convex::cuboid(half).unwrap()).unwrap();
    BodySettings {
        material,
        ..BodySettings::new(geometry, Mass::cuboid(1.0, half.as_dvec3()))
    }
}

fn run(world: &mut World, seconds: f64) {
    while world.time() < seconds - 0.5 * world.settings().step {
        world.step().unwrap();
    }
}

#[test]
fn a_ball_rolls_down_a_slope_at_five_sevenths() {
    for (angle, step) in [(0.1_f64, 1e-3), (0.3, 1e-3), (0.3, 5e-3)] {
        let rough = material(0.8, 0.0);
        let mut world = world(step);
        world.add(slope(angle, rough)).unwrap();
        let turn = DQuat::from_rotation_y(angle);
        let start = turn * DVec3::new(0.0, 0.0, 0.1);
        world
            .add(BodySettings {
                pose: Frame::at(start),
                ..ball(0.1, rough)
            })
            .unwrap();
        run(&mut world, 1.0);
        let went = turn.inverse() * (world.bodies()[1].pose().translation - start);
        let expected = 0.5 * 5.0 / 7.0 * G * angle.sin();
        assert!(
            (went.x / expected - 1.0).abs() < 2e-3,
            "{angle} {step}: {} beside {expected}",
            went.x
        );
        assert!(went.z.abs() < 1e-5 && went.y.abs() < 1e-5, "{went}");
    }
}

#[test]
fn a_sliding_ball_begins_to_roll_at_five_sevenths_of_its_speed() {
    let friction = 0.2;
    let speed = 2.0;
    let mut world = world(1e-3);
    world.add(slope(0.0, material(friction, 0.0))).unwrap();
    world
        .add(BodySettings {
            pose: Frame::at(DVec3::new(0.0, 0.0, 0.1)),
            velocity: DVec3::new(speed, 0.0, 0.0),
            ..ball(0.1, material(friction, 0.0))
        })
        .unwrap();
    let rolls_at = 2.0 * speed / (7.0 * friction * G);
    run(&mut world, 0.9 * rolls_at);
    let body = &world.bodies()[1];
    let slip = body.velocity().x - 0.1 * body.angular_velocity().y;
    let expected = speed - 3.5 * friction * G * world.time();
    assert!(
        (slip - expected).abs() < 0.01 * speed,
        "{slip} beside {expected}"
    );
    run(&mut world, 2.0 * rolls_at);
    let body = &world.bodies()[1];
    assert!(
        (body.velocity().x - 5.0 / 7.0 * speed).abs() < 2e-3,
        "{}",
        body.velocity().x
    );
}

#[test]
fn a_block_slides_above_the_friction_angle_and_rests_below() {
    let slope_of = 0.5_f64;
    let angle = slope_of.atan();
    let half = Vec3::new(0.1, 0.1, 0.05);
    for friction in [0.3, 0.49, 0.5, 0.6] {
        let mut world = world(1e-3);
        world.add(slope(angle, material(friction, 0.0))).unwrap();
        let turn = DQuat::from_rotation_y(angle);
        let start = turn * DVec3::new(0.0, 0.0, 0.05);
        world
            .add(BodySettings {
                pose: Frame {
                    rotation: turn,
                    translation: start,
                },
                ..cuboid(half, material(friction, 0.0))
            })
            .unwrap();
        run(&mut world, 1.0);
        let went = turn.inverse() * (world.bodies()[1].pose().translation - start);
        let pull = G * (angle.sin() - friction * angle.cos());
        if friction >= slope_of {
            // 5 mm/s² for a second.
            assert!(went.length() < 0.5 * 5e-3, "{friction}: {went}");
        } else {
            let ratio = went.x / (0.5 * pull);
            assert!(
                (ratio - 1.0).abs() < 0.02,
                "{friction}: {ratio} of the textbook's"
            );
        }
    }
}

#[test]
fn a_ball_bounces_to_the_height_that_its_restitution_says() {
    for restitution in [0.0, 0.2, 0.5, 0.8, 1.0] {
        for step in [1e-3, 7e-3] {
            let bouncy = material(0.3, restitution);
            let mut world = world(step);
            world.add(slope(0.0, bouncy)).unwrap();
            world
                .add(BodySettings {
                    pose: Frame::at(DVec3::new(0.0, 0.0, 1.1)),
                    ..ball(0.1, bouncy)
                })
                .unwrap();
            let fall = (2.0 / G).sqrt();
            run(&mut world, fall + 0.5 * step);
            while world.bodies()[1].velocity().z < 0.0 {
                world.step().unwrap();
            }
            let body = &world.bodies()[1];
            let height = body.pose().translation.z - 0.1;
            let top = height + 0.5 * body.velocity().z.powi(2) / G;
            let measured = top.max(0.0).sqrt();
            assert!(
                (measured - restitution).abs() < 1e-3 + if restitution == 0.0 { 0.01 } else { 0.0 },
                "restitution {restitution} at {step}: {measured}"
            );
        }
    }
}

#[test]
fn two_balls_exchange_momentum_as_the_textbook_says() {
    for (restitution, mass) in [(0.0, 1.0), (0.5, 3.0), (1.0, 1.0), (1.0, 0.2)] {
        let bouncy = material(0.0, restitution);
        let mut world = World::new(WorldSettings {
            gravity: DVec3::ZERO,
            ..WorldSettings::default()
        })
        .unwrap();
        world
            .add(BodySettings {
                velocity: DVec3::new(2.0, 0.0, 0.0),
                ..ball(0.1, bouncy)
            })
            .unwrap();
        world
            .add(BodySettings {
                pose: Frame::at(DVec3::new(0.5, 0.0, 0.0)),
                mass: Mass::ball(mass, 0.1),
                velocity: DVec3::new(-1.0, 0.0, 0.0),
                ..ball(0.1, bouncy)
            })
            .unwrap();
        run(&mut world, 0.4);
        let common = (2.0 - mass) / (1.0 + mass);
        let parting = restitution * 3.0;
        let expected = [
            common - parting * mass / (1.0 + mass),
            common + parting / (1.0 + mass),
        ];
        for (body, expected) in world.bodies().iter().zip(expected) {
            let speed = body.velocity().x;
            assert!(
                (speed - expected).abs() < 1e-3,
                "{restitution} {mass}: {speed} {expected}"
            );
        }
        let momentum: DVec3 = world
            .bodies()
            .iter()
            .map(|body| body.state().momentum)
            .sum();
        assert!((momentum.x - (2.0 - mass)).abs() < 1e-12);
    }
}

#[test]
fn a_stack_of_ten_boxes_stands_still() {
    let mut world = world(1e-3);
    world.add(slope(0.0, Material::default())).unwrap();
    for number in 0..10 {
        world
            .add(BodySettings {
                pose: Frame::at(DVec3::new(0.0, 0.0, 0.1 + 0.2 * f64::from(number))),
                ..cuboid(Vec3::splat(0.1), Material::default())
            })
            .unwrap();
    }
    run(&mut world, 3.0);
    for (number, body) in world.bodies()[1..].iter().enumerate() {
        let place = body.pose().translation - DVec3::new(0.0, 0.0, 0.1 + 0.2 * number as f64);
        assert!(place.length() < 5e-4, "{number}: {place}");
    }
    assert!(world.bodies()[1..].iter().all(|body| body.is_asleep()));
}

/// A tonne on a kilogram: sixty rounds of the solver were too few, and the bodies trembled at
/// 30 mm/s.
#[test]
fn a_heavy_box_on_a_light_one_trembled() {
    let mut world = World::new(WorldSettings {
        sleeping: false,
        ..WorldSettings::default()
    })
    .unwrap();
    world.add(slope(0.0, material(0.5, 0.0))).unwrap();
    for (number, mass) in [1.0, 1000.0].into_iter().enumerate() {
        let half = Vec3::splat(0.1);
        world
            .add(BodySettings {
                pose: Frame::at(DVec3::new(0.0, 0.0, 0.1 + 0.2 * number as f64)),
                mass: Mass::cuboid(mass, half.as_dvec3()),
                ..cuboid(half, material(0.5, 0.0))
            })
            .unwrap();
    }
    let start = world.energy().total();
    let mut fastest = 0.0_f64;
    while world.time() < 1.0 {
        world.step().unwrap();
        assert!(
            world.energy().total() < start + 0.05,
            "{}",
            world.energy().total() - start
        );
        if world.time() > 0.3 {
            fastest = fastest.max(world.bodies()[2].velocity().length());
        }
    }
    assert!(fastest < 2e-3, "{fastest} m/s");
    assert!(world.take_deepest() < 2e-5);
}

#[test]
fn a_fast_cube_between_two_near_walls_stays_between_them() {
    for restitution in [0.0, 0.5, 1.0] {
        for step in [1e-3, 1e-2] {
            let smooth = material(0.0, restitution);
            let mut world = World::new(WorldSettings {
                step,
                gravity: DVec3::ZERO,
                ..WorldSettings::default()
            })
            .unwrap();
            let wall = Vec3::new(0.05, 1.0, 1.0);
            for side in [-1.0, 1.0] {
                world
                    .add(BodySettings {
                        pose: Frame::at(DVec3::new(side * (0.5 + 0.001 + 0.05), 0.0, 0.0)),
                        moves: touchfield_dynamics::Moves::Never,
                        ..cuboid(wall, smooth)
                    })
                    .unwrap();
            }
            world
                .add(BodySettings {
                    velocity: DVec3::new(100.0, 0.0, 0.0),
                    ..cuboid(Vec3::splat(0.5), smooth)
                })
                .unwrap();
            let start = world.energy().kinetic;
            for _ in 0..200 {
                world.step().unwrap();
                let off = world.bodies()[2].pose().translation.x.abs();
                assert!(off < 0.001 + 0.01, "{restitution} {step}: {off}");
                assert!(
                    world.energy().kinetic <= start * 1.01,
                    "{restitution} {step}"
                );
            }
        }
    }
}

/// A few bodies on a slope and on each other.
fn small_heap(solver: touchfield_dynamics::Solver, friction: f64) -> World {
    let rough = material(friction, 0.0);
    let mut world = World::new(WorldSettings {
        solver,
        sleeping: false,
        ..WorldSettings::default()
    })
    .unwrap();
    world.add(slope(0.2, rough)).unwrap();
    let turn = DQuat::from_rotation_y(0.2);
    for number in 0..3 {
        let lift = 0.11 + 0.21 * f64::from(number);
        // Four corners of a box carry it in many ways, which friction tells apart: with friction,
        // balls, whose contacts leave no choice.
        let body = match friction == 0.0 {
            true => cuboid(Vec3::splat(0.1), rough),
            false => ball(0.1, rough),
        };
        world
            .add(BodySettings {
                pose: Frame {
                    rotation: turn,
                    translation: turn * DVec3::new(0.02 * f64::from(number), 0.0, lift),
                },
                velocity: DVec3::new(0.1, 0.05, -0.3),
                ..body
            })
            .unwrap();
    }
    world
}

#[test]
fn sequential_impulses_agree_with_the_pivoting_solver() {
    use touchfield_dynamics::Solver;
    for friction in [0.0, 0.1, 0.5] {
        let mut both =
            [Solver::Sequential, Solver::Pivoting].map(|solver| small_heap(solver, friction));
        for _ in 0..200 {
            for world in &mut both {
                world.step().unwrap();
            }
        }
        for (one, other) in both[0].bodies().iter().zip(both[1].bodies()) {
            let apart = (one.pose().translation - other.pose().translation).length();
            let speed = (one.velocity() - other.velocity()).length();
            // A pyramid of sixteen sides is up to 2 % inside the cone.
            assert!(apart < 5e-4, "{friction}: {apart} m apart");
            assert!(speed < 1e-2, "{friction}: {speed} m/s apart");
        }
    }
}
