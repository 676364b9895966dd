use glam::{Quat, Vec3};
use touchfield::field::primitive;
use touchfield::geom::*;
use touchfield::narrow::*;
use touchfield::shape::*;
fn main() {
    for scale in [1.0f32, 0.001] {
        let body = Shape::new(primitive::Cuboid::new(Vec3::new(0.5, 0.3, 0.4) * scale).unwrap());
        let floor = Shape::convex(Convex::cuboid(Vec3::new(4.0, 0.5, 4.0) * scale).unwrap()).unwrap();
        for tilt in [0.0f32, 0.001, 0.01, 0.1] {
            for gap in [0.1f32, 0.01, 0.001, 0.0, -0.01] {
                let pose = Pose { rotation: Quat::from_rotation_x(tilt) * Quat::from_rotation_z(0.7 * tilt), translation: Vec3::new(0.1, 0.8 + gap, 0.07) * scale };
                let pair = Pair { a: &floor, b: &body, a_from_b: pose };
                let t = std::time::Instant::now();
                let s = separation(&pair, &SeparationSettings::to_within(1e-3 * scale), &mut SeparationScratch::default()).unwrap();
                println!("scale {scale} tilt {tilt} gap {gap}: sep {} [{} {}] boxes {} {:?} {:?} us", s.separation / scale, s.lower_bound / scale, s.upper_bound / scale, s.boxes, s.outcome, t.elapsed().as_micros());
            }
        }
    }
}
