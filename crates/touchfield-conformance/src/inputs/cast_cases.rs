//! Random pairs of simple moving bodies, for casts.
//!
//! Input: two kinds of solids, random numbers.
//! Output: bodies, motions and cast settings, both for the library and for the truth in `f64`.
//! Not for: meshes.

use glam::{DVec3, Quat};
use touchfield::geom::{Motion, PairMotion, Pose};
use touchfield::narrow::CastSettings;

use crate::cast_truth::{Moving, Path};
use crate::contact_truth::Solid;
use crate::random::Random;

/// Kind index of a ball in [`Solid::random`].
pub const BALL: usize = 0;
/// Kind index of a box.
pub const BOX: usize = 1;
/// Kind index of a capsule.
pub const CAPSULE: usize = 2;
/// Kind index of a torus.
pub const RING: usize = 3;
/// Kind index of a half-space.
pub const GROUND: usize = 4;

/// How the bodies of a case move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moves {
    /// B moves in a straight line.
    Straight,
    /// Both move and rotate, about points other than their centres.
    Freely,
}

/// Two bodies and their motions.
#[derive(Debug)]
pub struct Case {
    /// The bodies A and B.
    pub solids: [Solid; 2],
    /// Motions of A and B.
    pub motions: [Motion; 2],
    /// Target separation \[m\].
    pub target: f32,
    /// Tolerance \[m\].
    pub tolerance: f32,
}

impl Case {
    /// Returns two bodies that start apart, one aimed near the other.
    pub fn random(kinds: [usize; 2], moves: Moves, random: &mut Random) -> Case {
        let solids = kinds.map(|kind| Solid::random(kind, random));
        let size = |solid: Solid| {
            let radius = solid.outer_radius();
            if radius.is_finite() { radius } else { 0.0 }
        };
        let reach = size(solids[0]) + size(solids[1]);
        // A torus is not convex: its separation queries cannot use separating planes and cost more.
        let finest = if kinds.contains(&RING) { 1e-3 } else { 1e-5 };
        let tolerance = random.log_uniform(finest, 1e-2) as f32;
        let target = if random.below(3) == 0 {
            random.uniform(0.0, 0.2) as f32
        } else {
            0.0
        };
        let mut motions = [0; 2].map(|_| Motion::still(Pose::IDENTITY));
        let grounds = solids.map(|solid| solid == Solid::HalfSpace);
        // Above the half-space if there is one, otherwise on any side.
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
                // A half-space that rotates sweeps everything away: a small rotation is enough.
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

    /// Returns the motions for the library.
    pub fn pair(&self) -> PairMotion {
        PairMotion::new(self.motions[0], self.motions[1])
    }

    /// Returns the motions in `f64`, for the truth.
    pub fn truth(&self) -> Moving {
        let [a, b] = [0, 1].map(|k| (self.solids[k], Path::of(&self.motions[k])));
        Moving { a, b }
    }

    /// Returns the cast settings for the library.
    pub fn settings(&self) -> CastSettings {
        CastSettings {
            target: self.target,
            ..CastSettings::to_within(self.tolerance)
        }
    }

    /// Returns the length that `f32` does not resolve for bodies of this size and distance: some
    /// hundred roundings \[m\].
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
