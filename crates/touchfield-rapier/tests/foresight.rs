//! Prediction of first contacts. The first contact of two bodies is reported before they overlap,
//! however coarse the points on their surfaces are, and points are searched as far ahead as they
//! move.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::LazyLock;

use glam::{Quat, Vec3};
use proptest::prelude::*;
use touchfield::field::primitive::{Cuboid, Torus};
use touchfield::geom::Pose;
use touchfield::mesh::generate::{Icosphere, icosphere};
use touchfield::narrow::{
    Ahead, CollideSettings, ContactMethod, Contacts, Pair, Scratch, find_contacts_ahead,
};
use touchfield::shape::Shape;
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, install};

/// Returns how deep a ball of radius 0.5 m lands after a fall of a little over a metre at 200 steps
/// per second, which is 22 mm per step \[m\].
fn depth_of_landing(ball: &FieldShape, floor: &FieldShape, higher: Real) -> Real {
    let mut world = PhysicsWorld::new();
    install(&mut world, 1.0);
    world.gravity = Vector::new(0.0, 0.0, -10.0);
    world.integration_parameters.dt = 1.0 / 200.0;
    world.insert(
        RigidBodyBuilder::fixed().translation(Vector::new(0.0, 0.0, -0.25)),
        ColliderBuilder::new(floor.shared()).restitution(0.9),
    );
    let (body, _) = world.insert(
        RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, 1.5 + higher)),
        ColliderBuilder::new(ball.shared())
            .mass(1.0)
            .restitution(0.9),
    );
    let mut lowest = Real::INFINITY;
    for _ in 0..120 {
        world.step();
        lowest = lowest.min(world.bodies[body].translation().z);
    }
    0.5 - lowest
}

/// A ball with few points landed in the floor. With 275 points, the shell points are up to 0.1 m
/// apart, and the lowest lies millimetres higher than the foot of the ball. Rapier requests
/// contacts within 20 mm. The points alone reported none at 17.7 mm, and a step of 19.9 mm ended in
/// the floor, depending on where the step before had ended.
#[test]
fn a_ball_of_few_points_is_seen_coming_as_late_as_its_points() {
    let mesh = icosphere(Icosphere {
        radius: 0.5,
        level: 5,
    });
    let settings = Settings {
        resolution: 64,
        points: 275,
        ..Default::default()
    };
    let ball = FieldShape::from_mesh(&mesh.unwrap(), settings).unwrap();
    let floor = Cuboid::new(Vec3::new(2.0, 2.0, 0.25)).unwrap();
    let floor = FieldShape::from_field(floor, Settings::default()).unwrap();
    // For every place at which the step before the floor may end.
    let depths = (0..24u8).map(|k| (k, depth_of_landing(&ball, &floor, 1e-3 * Real::from(k))));
    for (k, depth) in depths {
        assert!(depth < 5e-4, "dropped {k} mm higher it is {depth} m deep");
    }
}

static RING: LazyLock<FieldShape> = LazyLock::new(|| {
    FieldShape::from_field(Torus::new(0.4, 0.1).unwrap(), Settings::default()).unwrap()
});

/// Returns the distances of the shell points that must be reported, by checking all of them: nearer
/// than `wanted`, or nearer than the point may move in the next step.
fn told_by_all_points(
    field: &Shape,
    shell: &Shape,
    [now, before]: [Pose; 2],
    wanted: f32,
    ahead: &Ahead,
) -> Vec<f32> {
    let points = shell.shell().unwrap().points().iter();
    let told = points.filter_map(|&point| {
        let place = now.transform_point(point);
        let way = place.distance(before.transform_point(point));
        let reach = (ahead.faster * way + ahead.margin).min(ahead.farthest);
        let distance = field.field().distance(place);
        (distance <= wanted.max(reach)).then_some(distance)
    });
    told.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The descent of the sphere trees loses no point, and reports none that moves less far.
    #[test]
    fn points_are_told_as_far_ahead_as_they_go(
        turned in prop::array::uniform3(-3.0f32..3.0),
        turn in prop::array::uniform3(-0.2f32..0.2),
        at in prop::array::uniform3(-0.6f32..0.6),
        moved in prop::array::uniform3(-0.1f32..0.1),
    ) {
        let pose = |turned: Vec3, at: Vec3| Pose { rotation: Quat::from_scaled_axis(turned), translation: at };
        let now = pose(turned.into(), at.into());
        let before = pose(Vec3::from(turned) + Vec3::from(turn), Vec3::from(at) + Vec3::from(moved));
        let shape = RING.shape();
        let pair = Pair { a: shape, b: shape, a_from_b: now };
        let wanted = 0.02;
        let settings = CollideSettings { method: ContactMethod::BothShells, max_separation: wanted, ..Default::default() };
        let ahead = Ahead { a_from_b_before: before, faster: 1.25, margin: 0.005, farthest: 0.2 };
        let mut found = Contacts::default();
        find_contacts_ahead(&pair, &settings, &ahead, &mut Scratch::default(), &mut found).unwrap();
        let mut told: Vec<f32> = found.contacts.iter().map(|contact| contact.separation).collect();
        let mut truth = told_by_all_points(shape, shape, [now, before], wanted, &ahead);
        let back = [now.inverse(), before.inverse()];
        truth.extend(told_by_all_points(shape, shape, back, wanted, &ahead));
        told.sort_unstable_by(f32::total_cmp);
        truth.sort_unstable_by(f32::total_cmp);
        // A point within rounding of its limit may be reported or not.
        for (some, others) in [(&told, &truth), (&truth, &told)] {
            let is_alone = |one: &&f32| {
                let next = others.partition_point(|other| *other < **one - 1e-5);
                others.get(next).is_none_or(|other| *other > **one + 1e-5)
            };
            let alone = some.iter().filter(is_alone).count();
            prop_assert!(alone <= 2, "{alone} of {} are not among {}", some.len(), others.len());
        }
        // No point is nearer than the distance that decides whether a pair is too far apart to
        // meet.
        let nearest = [now, now.inverse()].map(|pose| {
            let points = shape.shell().unwrap().points().iter();
            let distances = points.map(|&point| shape.field().distance(pose.transform_point(point)));
            distances.fold(f32::INFINITY, f32::min)
        });
        let nearest = nearest[0].min(nearest[1]);
        prop_assert!(found.distance <= nearest + 1e-5, "{} for {nearest}", found.distance);
    }
}
