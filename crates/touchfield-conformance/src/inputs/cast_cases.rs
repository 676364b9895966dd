//! Random pairs of simple bodies that move, for casts.
//!
//! Input: two kinds of solids, random numbers. Output: bodies, motions and what is asked, as the library and the truth in `f64` take them.
//! Not for: meshes.

use glam::{DVec3, Quat};
use touchfield::geom::{Motion, PairMotion, Pose};
use touchfield::narrow::CastSettings;

use crate::cast_truth::{Moving, Path};
use crate::contact_truth::Solid;
use crate::random::Random;

/// A ball, as [`Solid::random`] counts kinds.
pub const BALL: usize = 0;
/// A box.
pub const BOX: usize = 1;
/// A capsule.
pub const CAPSULE: usize = 2;
/// A torus.
pub const RING: usize = 3;
/// A half-space.
pub const GROUND: usize = 4;

/// What moves in a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moves {
    /// B goes straight.
    Straight,
    /// Both go, turn, and turn about points that are not their middles.
    Freely,
}

/// Two bodies and how they move.
#[derive(Debug)]
pub struct Case {
    /// A and B.
    pub solids: [Solid; 2],
    /// Of A and B.
    pub motions: [Motion; 2],
    /// \[m\]
    pub target: f32,
    /// \[m\]
    pub tolerance: f32,
}

impl Case {
    /// Two bodies that start apart, one aimed near the other.
    pub fn random(kinds: [usize; 2], moves: Moves, random: &mut Random) -> Case {
        let solids = kinds.map(|kind| Solid::random(kind, random));
        let size = |solid: Solid| {
            let radius = solid.outer_radius();
            if radius.is_finite() { radius } else { 0.0 }
        };
        let reach = size(solids[0]) + size(solids[1]);
        // A ring is not convex: its separations have no planes to go by, and cost more.
        let finest = if kinds.contains(&RING) { 1e-3 } else { 1e-5 };
        let tolerance = random.log_uniform(finest, 1e-2) as f32;
        let target = if random.below(3) == 0 {
            random.uniform(0.0, 0.2) as f32
        } else {
            0.0
        };
        let mut motions = [0; 2].map(|_| Motion::still(Pose::IDENTITY));
        let grounds = solids.map(|solid| solid == Solid::HalfSpace);
        // Above the ground where there is one, on any side where there is none.
        let away = match grounds {
            [true, _] => {
                (random.unit_vector() * DVec3::new(1.0, 1.0, 0.0) + 1.2 * DVec3::Z).normalize()
            }
            [_, true] => {
                -(random.unit_vector() * DVec3::new(1.0, 1.0, 0.0) + 1.2 * DVec3::Z).normalize()
            }
            _ => random.unit_vector(),
        };
        let rotations = grounds.map(|ground| {
            if ground {
                Quat::IDENTITY
            } else {
                random.quaternion().as_quat().normalize()
            }
        });
        let start = (2.0 * reach + 0.5) * random.uniform(1.0, 1.5) * away;
        let aim = 0.7 * reach * random.unit_vector();
        let path = (aim - start) * random.uniform(0.5, 2.0);
        for (motion, rotation) in motions.iter_mut().zip(rotations) {
            motion.start.rotation = rotation;
        }
        motions[1].start.translation = start.as_vec3();
        motions[1].translation = path.as_vec3();
        if moves == Moves::Freely {
            let together = random.unit_vector() * random.uniform(0.0, 3.0);
            for (motion, ground) in motions.iter_mut().zip(grounds) {
                motion.translation += together.as_vec3();
                motion.center = (random.unit_vector() * random.uniform(0.0, 0.5)).as_vec3();
                // A ground that turns sweeps everything away: a little is enough.
                let most = if ground { 0.3 } else { 12.0 };
                motion.turn = (random.unit_vector() * random.uniform(0.0, most)).as_vec3();
            }
        }
        Case {
            solids,
            motions,
            target,
            tolerance,
        }
    }

    /// For the library.
    pub fn pair(&self) -> PairMotion {
        PairMotion::new(self.motions[0], self.motions[1])
    }

    /// In `f64`.
    pub fn truth(&self) -> Moving {
        let [a, b] = [0, 1].map(|k| (self.solids[k], Path::of(&self.motions[k])));
        Moving { a, b }
    }

    /// For the library.
    pub fn settings(&self) -> CastSettings {
        CastSettings {
            target: self.target,
            ..CastSettings::to_within(self.tolerance)
        }
    }

    /// What `f32` does not resolve of bodies so large and so far apart: some hundred roundings \[m\].
    pub fn rounding(&self) -> f64 {
        let sizes = self.solids.map(|solid| solid.outer_radius());
        let size: f64 = sizes.into_iter().filter(|size| size.is_finite()).sum();
        let truth = self.truth();
        let apart = |k: u32| {
            let time = f64::from(k) / 16.0;
            truth.a.1.at(time).1.distance(truth.b.1.at(time).1)
        };
        let far = (0..=16).map(apart).fold(0.0, f64::max);
        128.0 * f64::from(f32::EPSILON) * (2.0 * size + far)
    }
}
