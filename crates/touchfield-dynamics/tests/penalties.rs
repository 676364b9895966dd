//! Bodies in contact with penalty forces, beside closed forms.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use touchfield::Shape;
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_field};
use touchfield::field::primitive::Torus;
use touchfield::glam::{BVec3, DQuat, DVec3, Vec3};
use touchfield::shape::Convex;
use touchfield_dynamics::{
    BodySettings, Drive, Frame, Geometry, Locked, Mass, Material, Moves, PenaltySettings, Response,
    World, WorldSettings,
};

const G: f64 = 9.81;

fn with_shell(convex: Convex, points: u32) -> Geometry {
    let shape = Shape::convex(convex).unwrap();
    let settings = ShellSettings {
        density: ShellDensity::Points(points),
        ..ShellSettings::default()
    };
    let cell = shape.solid().diagonal() / 100.0;
    let shell = shell_of_field(shape.field(), cell, &settings).unwrap();
    Geometry::from(shape.with_shell(Arc::new(shell)))
}

fn material(stiffness: f64, damping: f64) -> Material {
    Material {
        stiffness,
        damping,
        friction: 0.0,
        ..Material::default()
    }
}

fn ball(radius: f32, points: u32, material: Material) -> BodySettings {
    BodySettings {
        material,
        ..BodySettings::new(
            with_shell(Convex::sphere(radius).unwrap(), points),
            Mass::ball(1.0, f64::from(radius)),
        )
    }
}

fn cuboid(half: Vec3, points: u32, material: Material) -> BodySettings {
    BodySettings {
        material,
        ..BodySettings::new(
            with_shell(Convex::cuboid(half).unwrap(), points),
            Mass::cuboid(1.0, half.as_dvec3()),
        )
    }
}

fn ground(material: Material) -> BodySettings {
    BodySettings {
        material,
        ..BodySettings::fixed(Geometry::half_space(Vec3::Z).unwrap())
    }
}

fn at(body: BodySettings, z: f64) -> BodySettings {
    BodySettings {
        pose: Frame::at(DVec3::new(0.0, 0.0, z)),
        ..body
    }
}

/// Only the height of the body is free.
fn upright(body: BodySettings) -> BodySettings {
    BodySettings {
        locked: Locked {
            translation: BVec3::new(true, true, false),
            rotation: BVec3::TRUE,
        },
        ..body
    }
}

fn world(response: Response, step: f64, bodies: Vec<BodySettings>) -> World {
    let mut world = World::new(WorldSettings {
        response,
        step,
        ..WorldSettings::default()
    })
    .unwrap();
    for body in bodies {
        world.add(body).unwrap();
    }
    world
}

fn height(world: &World) -> f64 {
    world.bodies()[1].pose().translation.z
}

#[test]
fn a_ball_rests_at_the_sag_of_its_stiffness_and_oscillates_at_its_frequency() {
    // A ball of radius R pressed in by d: force π R k d², so stiffness 2 π R k d about the sag.
    let (radius, stiffness) = (0.1_f64, 1e7);
    let sag = (G / (PI * radius * stiffness)).sqrt();
    let omega = (TAU * radius * stiffness * sag).sqrt();
    // Points are farther apart than the contact is wide if there are few: take many.
    for (response, damping) in [(Response::Penalty, 0.0), (Response::ContinuousPenalty, 1e4)] {
        let elastic = material(stiffness, damping);
        let start = radius - sag - 0.02 * sag;
        let bodies = vec![
            ground(elastic),
            upright(at(ball(0.1, 100_000, elastic), start)),
        ];
        let mut world = world(response, 2e-4, bodies);
        let mut crossings = Vec::new();
        let mut last = height(&world);
        let middle = radius - sag;
        let (mut sum, mut count) = (0.0, 0);
        while world.time() < 4.0 * TAU / omega {
            world.step().unwrap();
            let now = height(&world);
            if last < middle && now >= middle {
                crossings.push(world.time());
            }
            last = now;
            sum += now;
            count += 1;
        }
        let mean = radius - sum / f64::from(count);
        assert!(
            (mean / sag - 1.0).abs() < 0.02,
            "{response:?}: sag {mean:e} beside {sag:e}"
        );
        if response == Response::Penalty {
            let periods = crossings.len() - 1;
            let period = (crossings[periods] - crossings[0]) / periods as f64;
            let ratio = period * omega / TAU;
            assert!(
                (ratio - 1.0).abs() < 0.03,
                "{response:?}: period {ratio} of the closed form"
            );
        }
    }
}

/// A box flat on the ground: k A d, with the sides below a thousandth of that.
fn flat_box(response: Response, step: f64, damping: f64) -> (World, f64, f64) {
    let stiffness = 1e6;
    let pad = material(stiffness, damping);
    let half = Vec3::splat(0.1);
    let area = 0.04;
    let omega = (stiffness * area).sqrt();
    let sag = G / (stiffness * area);
    let body = upright(at(cuboid(half, 600, pad), 0.1 - sag));
    let world = world(response, step, vec![ground(pad), body]);
    (world, omega, sag)
}

/// Returns whether a small disturbance of a lasting contact dies out or stays as it is.
fn is_stable(response: Response, step: f64, damping: f64) -> bool {
    let (mut world, _, sag) = flat_box(response, step, damping);
    let rest = height(&world);
    let mut worst = [0.0_f64; 2];
    for number in 0..600 {
        world.step().unwrap();
        let off = (height(&world) - rest).abs();
        // The start is off its equilibrium by the sampling of the area: disturbance enough.
        worst[number / 300] = worst[number / 300].max(off);
        if off > 0.9 * sag {
            return false;
        }
    }
    worst[1] <= 1.02 * worst[0]
}

/// Returns the limit of a parameter between stable and unstable, by bisection.
fn limit(mut stable: f64, mut unstable: f64, is_stable: impl Fn(f64) -> bool) -> f64 {
    assert!(is_stable(stable), "{stable} is stable");
    assert!(!is_stable(unstable), "{unstable} is not");
    for _ in 0..8 {
        let middle = 0.5 * (stable + unstable);
        if is_stable(middle) {
            stable = middle;
        } else {
            unstable = middle;
        }
    }
    0.5 * (stable + unstable)
}

#[test]
fn lasting_contacts_are_stable_within_the_derived_limits() {
    let omega = 200.0_f64;
    let area = 0.04;
    // Discrete: a + 2 h γ < 4 with a = (h ω)² and γ the damping per mass.
    let undamped = limit(1.5 / omega, 2.5 / omega, |step| {
        is_stable(Response::Penalty, step, 0.0)
    });
    assert!(
        (undamped * omega / 2.0 - 1.0).abs() < 0.05,
        "{}",
        undamped * omega
    );
    let gamma = 100.0;
    let expected = (-gamma + (gamma * gamma + 4.0 * omega * omega).sqrt()) / (omega * omega);
    let damped = limit(0.8 * expected, 1.3 * expected, |step| {
        is_stable(Response::Penalty, step, gamma / area)
    });
    assert!(
        (damped / expected - 1.0).abs() < 0.05,
        "{damped} beside {expected}"
    );
    // Late: a / 2 < h γ < 2; without damping never.
    let step = 1e-3;
    assert!(!is_stable(Response::ContinuousPenalty, step, 0.0));
    let least = 0.5 * step * omega * omega;
    let low = limit(1.4 * least, 0.6 * least, |gamma| {
        is_stable(Response::ContinuousPenalty, step, gamma / area)
    });
    assert!((low / least - 1.0).abs() < 0.05, "{low} beside {least}");
}

#[test]
fn an_elastic_bounce_gives_back_its_energy() {
    for points in [3000, 30_000] {
        let elastic = material(1e8, 0.0);
        let bodies = vec![ground(elastic), at(ball(0.1, points, elastic), 0.2)];
        let mut world = world(Response::Penalty, 2e-5, bodies);
        let start = world.energy().total();
        let mut worst = 0.0_f64;
        while world.time() < 0.5 {
            world.step().unwrap();
            let total = world.energy().total() + world.stored_energy();
            worst = worst.max((total - start).abs());
        }
        let fall = G * 0.1;
        assert!(
            worst < 0.02 * fall,
            "{points} points: off by {worst} J of {fall}"
        );
    }
}

/// Returns by how much two bodies that hit each other off centre change their linear and their
/// angular momentum.
fn change_of_momenta(response: Response, step: f64) -> [f64; 2] {
    let elastic = Material {
        friction: 0.4,
        damping: 100.0,
        ..material(1e7, 0.0)
    };
    let mut world = World::new(WorldSettings {
        response,
        step,
        gravity: DVec3::ZERO,
        ..WorldSettings::default()
    })
    .unwrap();
    world
        .add(BodySettings {
            velocity: DVec3::new(1.0, 0.0, 0.0),
            angular_velocity: DVec3::new(0.0, 3.0, 5.0),
            ..ball(0.1, 5000, elastic)
        })
        .unwrap();
    world
        .add(BodySettings {
            pose: Frame::at(DVec3::new(0.25, 0.05, 0.02)),
            ..cuboid(Vec3::splat(0.08), 5000, elastic)
        })
        .unwrap();
    let momenta = |world: &World| {
        let bodies = world.bodies().iter().map(|body| body.state());
        bodies.fold((DVec3::ZERO, DVec3::ZERO), |(linear, angular), state| {
            let spin = state.position.cross(state.momentum) + state.angular_momentum;
            (linear + state.momentum, angular + spin)
        })
    };
    let start = momenta(&world);
    let mut touched = false;
    while world.time() < 0.4 {
        world.step().unwrap();
        touched |= world.contact_count() > 0;
    }
    assert!(touched);
    let end = momenta(&world);
    [(end.0 - start.0).length(), (end.1 - start.1).length()]
}

#[test]
fn two_free_bodies_keep_their_momenta() {
    let [linear, angular] = change_of_momenta(Response::Penalty, 1e-4);
    assert!(linear < 1e-12, "{linear}");
    assert!(angular < 1e-12, "{angular}");
}

/// The late force keeps linear momentum to rounding; its torque is about centres that have moved
/// on, so angular momentum is kept to first order in the step.
#[test]
fn late_forces_keep_angular_momentum_to_first_order() {
    let steps = [4e-4, 2e-4, 1e-4];
    let changes = steps.map(|step| change_of_momenta(Response::ContinuousPenalty, step));
    for [linear, _] in changes {
        assert!(linear < 1e-12, "{linear}");
    }
    for pair in changes.windows(2) {
        let order = (pair[0][1] / pair[1][1]).log2();
        assert!((order - 1.0).abs() < 0.35, "order {order}: {changes:?}");
    }
}

#[test]
fn a_block_on_a_slope_slides_above_the_friction_angle_and_creeps_no_faster_than_slip_below() {
    let angle = 0.5_f64.atan();
    for response in [Response::Penalty, Response::ContinuousPenalty] {
        for friction in [0.3, 0.6] {
            let rough = Material {
                friction,
                slip: 1e-3,
                damping: 2e4,
                ..material(1e7, 0.0)
            };
            let turn = DQuat::from_rotation_y(angle);
            let slope = BodySettings {
                pose: Frame {
                    rotation: turn,
                    translation: DVec3::ZERO,
                },
                ..ground(rough)
            };
            let start = turn * DVec3::new(0.0, 0.0, 0.05);
            let block = BodySettings {
                pose: Frame {
                    rotation: turn,
                    translation: start,
                },
                ..cuboid(Vec3::new(0.1, 0.1, 0.05), 1000, rough)
            };
            let mut world = world(response, 2e-4, vec![slope, block]);
            while world.time() < 0.5 {
                world.step().unwrap();
            }
            let body = &world.bodies()[1];
            let speed = (turn.inverse() * body.velocity()).x;
            let pull = 0.5 * G * (angle.sin() - friction * angle.cos());
            if friction > 0.5 {
                assert!(speed <= 1e-3, "{response:?}: creeps at {speed} m/s");
            } else {
                let ratio = speed / pull;
                assert!(
                    (ratio - 1.0).abs() < 0.02,
                    "{response:?}: {ratio} of the textbook's"
                );
            }
        }
    }
}

/// At long steps friction that is taken at their start turns the sliding around: the block rattled,
/// and crept at four times the slip speed.
#[test]
fn a_block_on_a_slope_rattled_at_long_steps_and_crept_faster_than_slip() {
    let angle = 0.5_f64.atan();
    let turn = DQuat::from_rotation_y(angle);
    for response in [Response::Penalty, Response::ContinuousPenalty] {
        for (friction, step) in [(0.6, 1e-3), (0.6, 5e-4), (2.0, 1e-3), (0.3, 1e-3)] {
            let rough = Material {
                friction,
                slip: 1e-3,
                damping: 2e4,
                ..material(1e7, 0.0)
            };
            let tilted = |body: BodySettings, high: f64| BodySettings {
                pose: Frame {
                    rotation: turn,
                    translation: turn * DVec3::new(0.0, 0.0, high),
                },
                ..body
            };
            let block = cuboid(Vec3::new(0.1, 0.1, 0.05), 1000, rough);
            let mut world = world(
                response,
                step,
                vec![tilted(ground(rough), 0.0), tilted(block, 0.05)],
            );
            let (mut fastest, mut turned) = (0.0_f64, 0.0_f64);
            while world.time() < 1.0 {
                world.step().unwrap();
                // It lands first.
                if world.time() > 0.5 {
                    let body = &world.bodies()[1];
                    fastest = fastest.max(body.velocity().length());
                    turned = turned.max(body.angular_velocity().length());
                }
            }
            let name = format!("{response:?}, friction {friction}, step {step}");
            // Two steps of the acceleration that a step of half the start may be off.
            let expected = G * (angle.sin() - friction * angle.cos()) * world.time();
            match friction > 0.5 {
                true => assert!(fastest <= 1e-3, "{name}: creeps at {fastest} m/s"),
                false => {
                    let ratio = fastest / expected;
                    assert!(
                        (ratio - 1.0).abs() < 0.02,
                        "{name}: {ratio} of the textbook's"
                    );
                }
            }
            assert!(turned < 1e-2, "{name}: turns at {turned} rad/s");
        }
    }
}

/// A spinning disc on a plane comes to rest at once all over, and not before the textbook's time:
/// the friction of a uniform pressure on a ring of radius r is μ m g r.
#[test]
fn a_spinning_ring_comes_to_rest_when_its_friction_says() {
    let (friction, radius) = (0.3, 0.1_f64);
    for response in [Response::Penalty, Response::ContinuousPenalty] {
        let rough = Material {
            friction,
            damping: 1e5,
            ..material(1e8, 0.0)
        };
        let shape = Shape::new(Torus::new(0.1, 0.005).unwrap());
        let settings = ShellSettings {
            density: ShellDensity::Points(20_000),
            ..ShellSettings::default()
        };
        let shell = shell_of_field(shape.field(), 5e-4, &settings).unwrap();
        let mass = Mass::about_origin(1.0, DVec3::new(0.5, 0.5, 1.0) * radius * radius);
        let ring = BodySettings {
            material: rough,
            angular_velocity: DVec3::new(0.0, 0.0, 10.0),
            ..BodySettings::new(Geometry::from(shape.with_shell(Arc::new(shell))), mass)
        };
        let mut world = world(response, 2e-4, vec![ground(rough), at(ring, 0.005 - 5e-6)]);
        // ω − μ g t / r.
        let stops = 10.0 * radius / (friction * G);
        while world.time() < 0.5 * stops {
            world.step().unwrap();
        }
        let spin = world.bodies()[1].angular_velocity().z;
        assert!(
            (spin / 5.0 - 1.0).abs() < 0.03,
            "{response:?}: {spin} rad/s"
        );
        while world.time() < 1.1 * stops {
            world.step().unwrap();
        }
        let spin = world.bodies()[1].angular_velocity().z;
        assert!(spin.abs() < 0.05, "{response:?}: {spin} rad/s");
    }
}

/// A block held between two clamps rubs on both; each must not stop it alone.
#[test]
fn a_block_between_two_driven_belts_goes_with_their_mean_speed() {
    for response in [Response::Penalty, Response::ContinuousPenalty] {
        let rough = Material {
            friction: 0.5,
            damping: 2e4,
            ..material(1e7, 0.0)
        };
        let belt = |side: f64, speed: f64| BodySettings {
            pose: Frame {
                rotation: DQuat::from_rotation_x(if side > 0.0 { PI } else { 0.0 }),
                translation: DVec3::new(0.0, 0.0, side * (0.05 - 1e-4)),
            },
            moves: Moves::Driven(Drive::Steady {
                velocity: DVec3::new(speed, 0.0, 0.0),
                angular_velocity: DVec3::ZERO,
                about: DVec3::ZERO,
            }),
            ..ground(rough)
        };
        let block = BodySettings {
            locked: Locked {
                translation: BVec3::new(false, true, true),
                rotation: BVec3::TRUE,
            },
            ..cuboid(Vec3::splat(0.05), 1000, rough)
        };
        let mut world = World::new(WorldSettings {
            response,
            gravity: DVec3::ZERO,
            ..WorldSettings::default()
        })
        .unwrap();
        for body in [belt(-1.0, 0.0), block, belt(1.0, 4e-4)] {
            world.add(body).unwrap();
        }
        // Slower than slip: both are dampers of equal strength.
        while world.time() < 0.2 {
            world.step().unwrap();
        }
        let speed = world.bodies()[1].velocity().x;
        assert!((speed / 2e-4 - 1.0).abs() < 0.02, "{response:?}: {speed}");
    }
}

#[test]
fn a_ball_rolls_down_a_slope_at_five_sevenths() {
    let angle = 0.2_f64;
    for response in [Response::Penalty, Response::ContinuousPenalty] {
        let rough = Material {
            friction: 0.8,
            damping: 2e4,
            ..material(1e8, 0.0)
        };
        let turn = DQuat::from_rotation_y(angle);
        let slope = BodySettings {
            pose: Frame {
                rotation: turn,
                translation: DVec3::ZERO,
            },
            ..ground(rough)
        };
        let start = turn * DVec3::new(0.0, 0.0, 0.0994);
        let rolling = BodySettings {
            pose: Frame::at(start),
            ..ball(0.1, 50_000, rough)
        };
        let mut world = world(response, 2e-4, vec![slope, rolling]);
        while world.time() < 0.3 {
            world.step().unwrap();
        }
        let speed = (turn.inverse() * world.bodies()[1].velocity()).x;
        let expected = 5.0 / 7.0 * G * angle.sin() * world.time();
        let ratio = speed / expected;
        assert!((ratio - 1.0).abs() < 0.03, "{response:?}: {ratio}");
    }
}

#[test]
fn the_impulse_of_a_step_is_the_integral_of_the_force_and_converges_at_second_order() {
    // A ball that falls into the ground within a step, and out of it in another one.
    let (radius, stiffness, step) = (0.1_f64, 1e6, 1e-2);
    let elastic = material(stiffness, 0.0);
    let falling = ball(0.1, 10_000, elastic);
    let impulse = |midpoints: u32, velocity: f64, start: f64| {
        let mut world = World::new(WorldSettings {
            response: Response::ContinuousPenalty,
            step,
            gravity: DVec3::ZERO,
            penalty: PenaltySettings {
                midpoints,
                ..PenaltySettings::default()
            },
            ..WorldSettings::default()
        })
        .unwrap();
        world.add(ground(elastic)).unwrap();
        world
            .add(BodySettings {
                velocity: DVec3::new(0.0, 0.0, velocity),
                ..at(falling.clone(), start)
            })
            .unwrap();
        world.step().unwrap();
        (world.late_push(1).force * step).z
    };
    for (velocity, start) in [(-4.0, 0.11), (3.0, 0.08), (-1.0, 0.09)] {
        // The integral of π R k d² over the time in contact, with d linear in time.
        let depth = |time: f64| (radius - start - velocity * time).max(0.0);
        let cubed = (depth(step).powi(3) - depth(0.0).powi(3)) / (-3.0 * velocity);
        let exact = PI * radius * stiffness * cubed;
        let found = impulse(20, velocity, start);
        assert!(
            (found / exact - 1.0).abs() < 0.02,
            "{velocity}: {found} beside {exact}"
        );
        // The points are the same, so their error cancels.
        let fine = impulse(1280, velocity, start);
        let errors = [5, 10].map(|midpoints| (impulse(midpoints, velocity, start) - fine).abs());
        let order = (errors[0] / errors[1]).log2();
        let is_exact = errors[0] < 1e-6 * exact.abs();
        assert!(
            is_exact || (order - 2.0).abs() < 0.3,
            "{velocity}: order {order}, {errors:?}"
        );
    }
}

/// The numbers of `docs/DYNAMICS.md`, *Stiffness and step*.
#[test]
fn the_worked_example_of_the_page_holds() {
    for response in [Response::Penalty, Response::ContinuousPenalty] {
        let material = material(1e8, 8.4e4);
        let cube = BodySettings {
            mass: Mass::cuboid(8.0, DVec3::splat(0.1)),
            ..cuboid(Vec3::splat(0.1), 2000, material)
        };
        let mut world = world(response, 2.5e-4, vec![ground(material), at(cube, 0.2)]);
        let start = world.energy().total();
        let mut deepest = 0.0_f64;
        while world.time() < 1.0 {
            world.step().unwrap();
            deepest = deepest.max(0.1 - height(&world));
            assert!(
                world.energy().total() <= start * (1.0 + 1e-9),
                "{response:?}"
            );
        }
        let sag = 0.1 - height(&world);
        assert!((sag / 2e-5 - 1.0).abs() < 0.05, "{response:?}: sag {sag}");
        assert!(deepest < 2e-3, "{response:?}: {deepest} m deep");
        assert!(world.bodies()[1].velocity().length() < 1e-4, "{response:?}");
    }
}
