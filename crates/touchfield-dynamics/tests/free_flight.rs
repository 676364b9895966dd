//! Bodies that nothing touches, beside closed forms.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use touchfield::glam::{DMat3, DQuat, DVec3, Vec3};
use touchfield::shape::Convex;
use touchfield_dynamics::{BodySettings, Frame, Geometry, Integrator, Mass, World, WorldSettings};

fn world(integrator: Integrator, step: f64, gravity: DVec3) -> World {
    World::new(WorldSettings {
        gravity,
        step,
        integrator: Some(integrator),
        ..WorldSettings::default()
    })
    .unwrap()
}

fn brick(moments: DVec3) -> BodySettings {
    let geometry = Geometry::convex(Convex::cuboid(Vec3::splat(0.1)).unwrap()).unwrap();
    BodySettings::new(geometry, Mass::about_origin(2.0, moments))
}

fn run(world: &mut World, seconds: f64) {
    while world.time() < seconds - 0.5 * world.settings().step {
        world.step().unwrap();
    }
}

#[test]
fn a_thrown_body_follows_its_parabola() {
    let gravity = DVec3::new(0.3, -0.2, -9.81);
    let velocity = DVec3::new(3.0, 1.0, 5.0);
    for integrator in Integrator::ALL {
        let step = 1e-3;
        let mut world = world(integrator, step, gravity);
        let force = DVec3::new(1.0, 2.0, -0.5);
        world
            .add(BodySettings {
                velocity,
                force,
                ..brick(DVec3::ONE)
            })
            .unwrap();
        run(&mut world, 1.0);
        let pull = gravity + force / 2.0;
        let exact = velocity + 0.5 * pull;
        let off = world.bodies()[0].pose().translation - exact;
        // Euler's methods are off by half a step of the acceleration, the others not at all.
        let expected = match integrator {
            Integrator::ExplicitEuler => -0.5 * step / 4.0 * pull,
            Integrator::SymplecticEuler => 0.5 * step / 4.0 * pull,
            Integrator::Midpoint | Integrator::Rk4 => DVec3::ZERO,
        };
        assert!(
            (off - expected).length() < 1e-11,
            "{integrator:?}: {off} beside {expected}"
        );
        let speed = world.bodies()[0].velocity() - velocity - pull;
        assert!(speed.length() < 1e-11, "{speed}");
    }
}

/// A symmetric top: its axis goes round the angular momentum at L / I₁, and its body turns about
/// the axis meanwhile. Returns the orientation at `time`.
fn symmetric_top(spin: DVec3, across: f64, along: f64, time: f64) -> DQuat {
    // In the body, ω goes round z at Ω = (across − along) / across · ω_z, against the body's turn.
    let momentum = DVec3::new(across * spin.x, across * spin.y, along * spin.z);
    let precession = momentum / across;
    let own = (1.0 - along / across) * spin.z;
    DQuat::from_scaled_axis(precession * time) * DQuat::from_rotation_z(own * time)
}

#[test]
fn a_free_symmetric_top_turns_as_poinsot_says_and_rk4_converges_at_fourth_order() {
    let (across, along) = (0.7, 1.1);
    let spin = DVec3::new(2.0, -1.0, 4.0);
    let error = |integrator, substeps: u32, step: f64| {
        let mut world = World::new(WorldSettings {
            gravity: DVec3::ZERO,
            step,
            integrator: Some(integrator),
            substeps,
            ..WorldSettings::default()
        })
        .unwrap();
        world
            .add(BodySettings {
                angular_velocity: spin,
                ..brick(DVec3::new(across, across, along))
            })
            .unwrap();
        run(&mut world, 1.0);
        let exact = symmetric_top(spin, across, along, 1.0);
        world.bodies()[0].pose().rotation.angle_between(exact)
    };
    for (integrator, order) in [
        (Integrator::ExplicitEuler, 1.0),
        (Integrator::SymplecticEuler, 1.0),
        (Integrator::Midpoint, 2.0),
        (Integrator::Rk4, 4.0),
    ] {
        let coarse = error(integrator, 1, 0.02);
        let fine = error(integrator, 1, 0.01);
        let measured = (coarse / fine).log2();
        assert!(
            (measured - order).abs() < 0.25,
            "{integrator:?}: {coarse:e} and {fine:e}, order {measured}"
        );
    }
}

#[test]
fn an_uneven_top_keeps_its_angular_momentum_and_flips_without_gaining_energy() {
    // About the middle axis: the flip of a tennis racket.
    let moments = DVec3::new(1.0, 2.0, 3.0);
    for (integrator, most) in [
        (Integrator::ExplicitEuler, 0.3),
        (Integrator::SymplecticEuler, 0.3),
        (Integrator::Midpoint, 1e-4),
        (Integrator::Rk4, 1e-9),
    ] {
        let mut world = world(integrator, 1e-3, DVec3::ZERO);
        world
            .add(BodySettings {
                angular_velocity: DVec3::new(1e-3, 5.0, 0.0),
                ..brick(moments)
            })
            .unwrap();
        let start = world.energy().kinetic;
        let momentum = world.bodies()[0].state().angular_momentum;
        let mut flipped = false;
        let mut worst = 0.0_f64;
        while world.time() < 10.0 {
            world.step().unwrap();
            let body = &world.bodies()[0];
            flipped |= (body.pose().rotation * DVec3::Y).y < -0.9;
            worst = worst.max((world.energy().kinetic / start - 1.0).abs());
        }
        assert!(flipped, "{integrator:?}");
        assert_eq!(world.bodies()[0].state().angular_momentum, momentum);
        assert!(worst < most, "{integrator:?}: energy off by {worst:e}");
    }
}

#[test]
fn a_torque_turns_a_body_about_its_free_axis_only() {
    use touchfield::glam::BVec3;
    use touchfield_dynamics::Locked;
    let mut world = world(Integrator::Midpoint, 1e-3, DVec3::new(0.0, 0.0, -9.81));
    let mass = Mass {
        mass: 2.0,
        center: DVec3::new(0.01, 0.02, 0.0),
        inertia: DMat3::from_cols(
            DVec3::new(0.3, 0.02, 0.01),
            DVec3::new(0.02, 0.2, 0.0),
            DVec3::new(0.01, 0.0, 0.4),
        ),
    };
    world
        .add(BodySettings {
            mass,
            torque: DVec3::new(1.0, 1.0, 0.8),
            force: DVec3::new(4.0, 0.0, 0.0),
            locked: Locked {
                translation: BVec3::new(false, true, true),
                rotation: BVec3::new(true, true, false),
            },
            pose: Frame::at(DVec3::new(1.0, 2.0, 3.0)),
            ..brick(DVec3::ONE)
        })
        .unwrap();
    run(&mut world, 1.0);
    let body = &world.bodies()[0];
    // 0.8 N·m on 0.4 kg·m² for a second, and 4 N on 2 kg.
    assert!((body.angular_velocity() - DVec3::new(0.0, 0.0, 2.0)).length() < 1e-12);
    assert!((body.velocity() - DVec3::new(2.0, 0.0, 0.0)).length() < 1e-12);
    let center = body.state().position - DVec3::new(1.01, 2.02, 3.0);
    assert!(
        (center - DVec3::new(1.0, 0.0, 0.0)).length() < 1e-11,
        "{center}"
    );
    let turned = body
        .pose()
        .rotation
        .angle_between(DQuat::from_rotation_z(1.0));
    assert!(turned < 1e-7, "{turned}");
}
