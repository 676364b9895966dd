//! Two meshing gears: a motor turns the first, whose teeth turn the second, which is braked. After
//! many turns the angles still match the gear ratio.
//!
//! Output: turns of both gears and the greatest deviation from the ratio along the pitch circle
//! \[mm\], a picture and a chart.
//!
//! `cargo run -p touchfield-rapier --example 11_meshing_gears [-- --out FOLDER]`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::f32::consts::{PI, TAU};

use touchfield::mesh::generate::{Gear, gear};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings};

mod scene;

const TEETH: [u32; 2] = [24, 18];

fn main() -> Result<(), Box<dyn Error>> {
    // Teeth of 4.5 mm with a backlash of 0.2 mm; cells of 0.3 mm.
    let parameters = |teeth| Gear {
        teeth,
        backlash: 0.0002,
        ..Default::default()
    };
    let settings = Settings {
        resolution: 160,
        points: 8_000,
        ..Default::default()
    };
    let (mut world, fields) = scene::world(0.02);
    let mut picture = scene::Picture::new("11_meshing_gears").seen_from(-60, 50);
    let axles = world.insert_body(RigidBodyBuilder::fixed());
    let between = 0.5 * Gear::default().module as Real * (TEETH[0] + TEETH[1]) as Real;
    let mut gears = Vec::new();
    for (i, teeth) in TEETH.into_iter().enumerate() {
        let mesh = gear(parameters(teeth))?;
        let shape = FieldShape::from_mesh(&mesh, settings)?;
        let at = Vector::new(i as Real * between, 0.0, 0.0);
        // Turn the second gear so that a gap faces a tooth of the first.
        let turned = Vector::new(0.0, 0.0, i as Real * PI / teeth as Real);
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .rotation(turned)
            .can_sleep(false);
        let (body, _) = world.insert(
            body,
            ColliderBuilder::new(shape.shared())
                .density(7800.0)
                .friction(0.1),
        );
        let mut axle = RevoluteJointBuilder::new(Vector::Z)
            .local_anchor1(at)
            .motor_model(MotorModel::ForceBased);
        // The motor factor is in newton metres per rad/s of missing speed. The first gear is driven
        // at half a turn per second; the second is braked.
        axle = if i == 0 {
            axle.motor_velocity(PI, 0.1)
        } else {
            axle.motor_velocity(0.0, 0.0001)
        };
        world.insert_impulse_joint(axles, body, axle);
        picture.add(&format!("gear_{teeth}"), &shape, body);
        gears.push(body);
    }

    // Angle of a gear \[rad\]; the loop below unwraps it over full turns.
    let angle = |world: &PhysicsWorld, gear: RigidBodyHandle| {
        let [_, _, z, w] = world.bodies[gear].rotation().to_array();
        2.0 * z.atan2(w)
    };
    let mut last = [angle(&world, gears[0]), angle(&world, gears[1])];
    let (mut turned, mut worst, mut record) = ([0.0; 2], 0.0, scene::Record::default());
    let steps = scene::steps(&world, 10.0);
    let begin = std::time::Instant::now();
    for _ in 0..steps {
        world.step();
        for i in 0..2 {
            let now = angle(&world, gears[i]);
            turned[i] += (now - last[i] + PI).rem_euclid(TAU) - PI;
            last[i] = now;
        }
        // Deviation of the teeth from the gear ratio, along the pitch circle.
        let [first, second] = [0, 1].map(|i| turned[i] * TEETH[i] as Real);
        worst = Real::max(
            worst,
            (first + second).abs() * 0.5 * Gear::default().module as Real,
        );
        record.note(&world);
    }
    println!(
        "{steps} steps, {:.2} ms each: {:.3} and {:.3} turns, teeth at most {:.3} mm off (play 0.2 + 0.2), {:.3} mm deep",
        1e3 * begin.elapsed().as_secs_f64() / steps as f64,
        turned[0] / TAU,
        turned[1] / TAU,
        1e3 * worst,
        1e3 * record.deepest()
    );
    assert!(turned[0] / TAU > 4.0, "the motor turns it");
    // Both gears may be off by their backlash, plus what a cell cannot resolve.
    assert!(worst < 0.0006, "no tooth slips");
    assert!(fields.take_counts().is_clean());
    record.write("11_meshing_gears", Vec::new())?;
    picture.write(&world)
}
