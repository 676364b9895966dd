//! Fields in other frames, from tiny to huge.

use glam::{DQuat, DVec3, Quat, Vec3};
use touchfield::field::primitive::{Cuboid, HalfSpace};
use touchfield::field::{Field, Meaning, Transformed};
use touchfield::geom::Pose;
use touchfield_conformance::closed_forms;
use touchfield_conformance::random::Random;

use crate::passes;

#[test]
fn fields_moved_turned_and_scaled() {
    let mut random = Random::new(5);
    for scale in [1e-12f32, 0.01, 1.0, 40.0, 1e12] {
        for reach in [1.0, 1e3] {
            let pose = Pose {
                rotation: random.quaternion().as_quat(),
                translation: (reach * random.unit_vector()).as_vec3(),
            };
            let half = Vec3::new(1.0, 0.4, 0.7);
            let own = closed_forms::cuboid(half.as_dvec3());
            let turned: DQuat = pose.rotation.as_dquat().normalize();
            let truth = move |p: DVec3| {
                let scale = f64::from(scale);
                scale * own(turned.inverse() * (p - pose.translation.as_dvec3()) / scale)
            };
            let field = Transformed::new(Cuboid::new(half).unwrap(), pose, scale).unwrap();
            assert_eq!(field.meaning(), Meaning::Distance);
            passes(&field, &truth, "transformed box");
        }
    }
    let tilted = Pose {
        rotation: Quat::from_rotation_x(0.3),
        translation: Vec3::new(0.0, 1.0, 2.0),
    };
    let unit = tilted.rotation.as_dquat().normalize() * DVec3::Z;
    let truth = move |p: DVec3| (p - tilted.translation.as_dvec3()).dot(unit);
    let floor = HalfSpace::new(Vec3::Z, 0.0).unwrap();
    passes(
        &Transformed::new(floor, tilted, 1.0).unwrap(),
        &truth,
        "tilted floor",
    );
}
