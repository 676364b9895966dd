//! Saves the states of a world and restores them.
//!
//! Input: a [`World`].
//! Output: a [`Checkpoint`]: the number of steps and the state of every body, in full `f64`.
//! Cost: a copy of the states.
//! Not for: the solver's memory. Impulses of the last step, from which the next one starts, are
//! not kept, so a world that goes on from a checkpoint follows the same laws but not the same bits.

use crate::body::State;
use crate::integrate::Push;
use crate::world::World;

/// What a checkpoint keeps of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept {
    /// State.
    pub state: State,
    /// Time for which the body has hardly moved \[s\].
    pub still_for: f64,
    /// Whether the body sleeps.
    pub is_asleep: bool,
    /// Push that acts in the next step: that of a continuous penalty comes a step late.
    pub late: Push,
}

/// The states of a world at the end of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Number of steps made.
    pub steps: u64,
    /// The bodies, in their order.
    pub bodies: Vec<Kept>,
}

/// Why a checkpoint does not fit a world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckpointError {
    /// The numbers of bodies differ.
    #[error(
        "the checkpoint has {kept} bodies and the world {here}; restore it into the world that it is from"
    )]
    OtherBodies {
        /// Bodies of the checkpoint.
        kept: usize,
        /// Bodies of the world.
        here: usize,
    },
    /// A state is not finite, or its orientation is no rotation.
    #[error("the state of body {body} in the checkpoint is damaged")]
    Damaged {
        /// Index of the body.
        body: usize,
    },
}

impl World {
    /// Returns the states of all bodies.
    pub fn checkpoint(&self) -> Checkpoint {
        let bodies = self.bodies().iter().zip(self.late());
        let bodies = bodies.map(|(body, &late)| Kept {
            state: body.state,
            still_for: body.still_for,
            is_asleep: body.is_asleep,
            late,
        });
        Checkpoint {
            steps: self.steps(),
            bodies: bodies.collect(),
        }
    }

    /// Puts all bodies into the states of a checkpoint, and the time to its time.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        let (kept, here) = (checkpoint.bodies.len(), self.bodies().len());
        if kept != here {
            return Err(CheckpointError::OtherBodies { kept, here });
        }
        let is_damaged = |kept: &Kept| {
            let State {
                position,
                orientation,
                momentum,
                angular_momentum,
            } = kept.state;
            let is_finite = position.is_finite()
                && momentum.is_finite()
                && angular_momentum.is_finite()
                && kept.late.force.is_finite()
                && kept.late.torque.is_finite()
                && kept.still_for >= 0.0;
            !(is_finite && (orientation.length() - 1.0).abs() < 1e-6)
        };
        if let Some(body) = checkpoint.bodies.iter().position(is_damaged) {
            return Err(CheckpointError::Damaged { body });
        }
        for (body, kept) in self.bodies_mut().iter_mut().zip(&checkpoint.bodies) {
            body.state = kept.state;
            body.still_for = kept.still_for;
            body.is_asleep = kept.is_asleep;
        }
        for (late, kept) in self.late_mut().iter_mut().zip(&checkpoint.bodies) {
            *late = kept.late;
        }
        self.set_steps(checkpoint.steps);
        Ok(())
    }
}
