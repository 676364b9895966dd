//! Motions of a body that falls on a fixed copy of itself: the queries of a simulation, frame by
//! frame.
//!
//! Input: a field and its shell.
//! Output: from each frame's pose to the pose at its end, contact or not.
//! Cost: one sweep per frame.
//! Not for: accurate dynamics. The inertia is that of a ball, contact is at one point per frame,
//! and the copy does not move.
//!
//! A stand-in until there are dynamics. The body is dropped above the copy, tumbling; where it
//! touches it is stopped, bounces, and is slowed by friction. It is dropped again when it has
//! fallen past the copy, and after [`DROP`] frames. Lengths are in sides of the body, and gravity
//! is that of a body 10 cm long.

use glam::{Quat, Vec3};
use touchfield::field::Field;
use touchfield::geom::{Aabb, Pose};
use touchfield::narrow::swept_points::{
    ShellPath, SweepScratch, SweepSettings, SweepWanted, sweep_shell,
};

use super::swept_shell::{Body, Motion};
use crate::host::Stop;
use crate::random::Random;

/// Duration of a frame \[s\].
const STEP: f32 = 1e-3;
/// Gravity, in sides of the body per second squared: 9.81 m/s² for 10 cm.
const GRAVITY: f32 = 98.1;
/// Share of the approach speed that is returned.
const RESTITUTION: f32 = 0.3;
/// Friction coefficient: limit of the tangential impulse, as a share of the normal impulse.
const FRICTION: f32 = 0.3;
/// Radius of gyration, in sides of the body: that of a ball about as large.
const GYRATION: f32 = 0.25;
/// Greatest initial angular velocity of a drop \[rad/s\].
const TUMBLE: f32 = 15.0;
/// Share of the way to contact that the body moves. Less than all of it, because true paths are
/// curved and swept paths are straight.
const APPROACH: f32 = 0.9;
/// Lift per frame for a body that begins in contact, in sides of it.
const LIFT: f32 = 1e-4;
/// Number of frames until the body is dropped again.
const DROP: usize = 400;

/// State of a body about its centre.
#[derive(Clone, Copy)]
struct State {
    place: Vec3,
    rotation: Quat,
    /// Velocity of the centre \[m/s\].
    velocity: Vec3,
    /// Angular velocity \[rad/s\].
    spin: Vec3,
}

impl State {
    fn pose(&self, middle: Vec3) -> Pose {
        Pose {
            rotation: self.rotation,
            translation: self.place - self.rotation * middle,
        }
    }

    fn after(&self, seconds: f32) -> State {
        let turn = Quat::from_scaled_axis(seconds * self.spin);
        State {
            place: self.place + seconds * self.velocity,
            rotation: (turn * self.rotation).normalize(),
            ..*self
        }
    }

    /// Applies a bounce at a point whose normal points to the body.
    fn bounce(&mut self, point: Vec3, normal: Vec3, gyration: f32) {
        let arm = point - self.place;
        let speed = self.velocity + self.spin.cross(arm);
        let approach = -speed.dot(normal);
        if approach <= 0.0 {
            return;
        }
        // Speed at the point per unit of impulse, for unit mass.
        let yields = |along: Vec3| 1.0 + arm.cross(along).length_squared() / (gyration * gyration);
        let push = (1.0 + RESTITUTION) * approach / yields(normal);
        let across = speed + approach * normal;
        let rub = across.try_normalize().map_or(Vec3::ZERO, |along| {
            -(FRICTION * push).min(across.length() / yields(along)) * along
        });
        let impulse = push * normal + rub;
        self.velocity += impulse;
        self.spin += arm.cross(impulse) / (gyration * gyration);
    }
}

/// Returns the motions of `frames` frames; up is y.
pub(crate) fn motions(body: &Body, frames: usize) -> Result<Vec<Motion>, Stop> {
    let solid = body.field.solid();
    let middle = solid.center();
    let side = solid.extents().max_element();
    let reach = 0.5 * solid.extents().length();
    let settings = SweepSettings {
        wanted: SweepWanted::First,
        ..SweepSettings::to_within(body.field.error_bound())
    };
    let (mut scratch, mut found) = (SweepScratch::default(), Vec::new());
    let mut random = Random::new(4);
    let mut state = drop_above(solid, reach, &mut random);
    let mut motions = Vec::with_capacity(frames);
    for frame in 0..frames {
        let has_passed = state.place.y < solid.min.y - reach;
        if has_passed || frame % DROP == 0 {
            state = drop_above(solid, reach, &mut random);
        }
        state.velocity.y -= STEP * GRAVITY * side;
        let next = state.after(STEP);
        let motion = [state, next].map(|state| state.pose(middle));
        motions.push(motion);
        let [from, to] = motion;
        let path = ShellPath::Straight { from, to };
        let target = body.target();
        sweep_shell(
            &body.shell,
            &path,
            &target,
            &settings,
            &mut scratch,
            &mut found,
        )
        .map_err(|error| Stop::BadInput(error.to_string()))?;
        let Some(touch) = found.first() else {
            state = next;
            continue;
        };
        let time = touch.span.enter as f32;
        let corner = body.shell.points()[touch.point as usize];
        let [start, end] = motion.map(|pose| pose.transform_point(corner));
        let point = start.lerp(end, time);
        let normal = target.field().sample(point).gradient.try_normalize();
        let normal = normal.unwrap_or(Vec3::Y);
        state = state.after(APPROACH * time * STEP);
        state.bounce(point, normal, GYRATION * side);
        if time == 0.0 {
            state.place += LIFT * side * normal;
        }
    }
    Ok(motions)
}

/// Returns a state high enough not to touch, whatever the rotation.
fn drop_above(solid: Aabb, reach: f32, random: &mut Random) -> State {
    let unit = Aabb::new(Vec3::NEG_ONE, Vec3::ONE);
    let aside = 0.25 * random.point(unit) * solid.extents();
    let height = solid.max.y + 1.05 * reach;
    State {
        place: (solid.center() + aside).with_y(height),
        rotation: random.rotation(),
        velocity: Vec3::ZERO,
        spin: TUMBLE * random.point(unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounce returns its share of the speed at the point and adds no energy.
    #[test]
    fn a_bounce_gives_back_its_share() {
        let mut random = Random::new(1);
        let room = Aabb::new(Vec3::NEG_ONE, Vec3::ONE);
        for _ in 0..1000 {
            let before = State {
                place: random.point(room),
                rotation: random.rotation(),
                velocity: random.point(room),
                spin: random.point(room),
            };
            let point = before.place + random.point(room);
            let normal = random.rotation() * Vec3::X;
            let mut after = before;
            after.bounce(point, normal, 0.5);
            let speed = |state: &State| state.velocity + state.spin.cross(point - state.place);
            let energy = |state: &State| {
                state.velocity.length_squared() + 0.25 * state.spin.length_squared()
            };
            if speed(&before).dot(normal) >= 0.0 {
                assert_eq!(before.velocity, after.velocity);
                continue;
            }
            assert!(speed(&after).dot(normal) > speed(&before).dot(normal));
            assert!(energy(&after) <= energy(&before) * (1.0 + 1e-4));
        }
        // Without a lever arm nothing rotates, and the share is exact.
        let mut ball = State {
            place: Vec3::Y,
            rotation: Quat::IDENTITY,
            velocity: Vec3::NEG_Y,
            spin: Vec3::ZERO,
        };
        ball.bounce(Vec3::ZERO, Vec3::Y, 0.5);
        assert!((ball.velocity - RESTITUTION * Vec3::Y).length() < 1e-6);
        assert_eq!(ball.spin, Vec3::ZERO);
    }
}
