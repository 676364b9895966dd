//! Checkpoints of a simulation.
//!
//! Input: a world and the rows so far.
//! Output: `checkpoint.npz`, in the folder of the results, complete or not at all: the arrays of
//! the trajectory so far, and `state (B, 21)`: position, orientation, momentum, angular momentum,
//! time of stillness, sleep, force and torque of the next step.
//! Cost: that of writing the file.
//! Not for: other scenes; a checksum of the scene file and the step must be those of the run.

use std::path::Path;

use glam::{DQuat, DVec3};
use touchfield_dynamics::{Checkpoint, Kept, Push, State};

use crate::commands::scene::trajectory::Trajectory;
use crate::failure::Failure;
use crate::files::arrays::{self, Archive, Array};

/// Name of the file.
pub(super) const NAME: &str = "checkpoint.npz";

const WIDTH: usize = 21;

/// All that a run needs to go on.
pub(super) struct Resumed {
    pub(super) checkpoint: Checkpoint,
    pub(super) trajectory: Trajectory,
    /// Time of stepping, and of measuring depths \[s\].
    pub(super) spent: [f64; 2],
}

/// What a checkpoint must fit: the scene and its step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scene {
    pub(super) checksum: i64,
    pub(super) step: f64,
    pub(super) bodies: usize,
}

/// Returns a checksum of a text \[FNV-1a\].
pub(super) fn checksum(text: &[u8]) -> i64 {
    let hash = text.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // As many bits as `f64` counts exactly, because arrays are read as such.
    (hash >> 11) as i64
}

pub(super) fn write(
    path: &Path,
    scene: &Scene,
    checkpoint: &Checkpoint,
    trajectory: &Trajectory,
    spent: [f64; 2],
) -> Result<(), Failure> {
    let mut states = Vec::with_capacity(WIDTH * checkpoint.bodies.len());
    for kept in &checkpoint.bodies {
        states.extend(kept.state.position.to_array());
        states.extend(kept.state.orientation.to_array());
        states.extend(kept.state.momentum.to_array());
        states.extend(kept.state.angular_momentum.to_array());
        states.extend([kept.still_for, f64::from(u8::from(kept.is_asleep))]);
        states.extend(kept.late.force.to_array());
        states.extend(kept.late.torque.to_array());
    }
    let steps = [checkpoint.steps as i64];
    let checksum = [scene.checksum];
    let step = [scene.step];
    let mut all = trajectory.arrays();
    all.push(Array::floats(
        "state",
        &[checkpoint.bodies.len(), WIDTH],
        &states,
    ));
    all.push(Array::whole("steps", &[1], &steps));
    all.push(Array::whole("scene", &[1], &checksum));
    all.push(Array::floats("step", &[1], &step));
    all.push(Array::floats("spent", &[2], &spent));
    arrays::write(path, &all)
}

/// Reads the checkpoint of a run of this scene.
pub(super) fn read(path: &Path, scene: &Scene) -> Result<Resumed, Failure> {
    if !path.exists() {
        return Err(Failure::in_file(
            path,
            "there is no checkpoint to resume from; it is removed when a run is complete, so leave --resume out",
        ));
    }
    let mut archive = Archive::open(path)?;
    let mut one = |name| Ok::<f64, Failure>(archive.read(name, &[Some(1)])?[0]);
    let (steps, checksum, step) = (one("steps")?, one("scene")?, one("step")?);
    if checksum as i64 != scene.checksum {
        let why =
            "is of another scene, or the scene file was changed; leave --resume out to start anew";
        return Err(Failure::in_file(path, why));
    }
    if step != scene.step {
        let why = format!(
            "was made with a step of {step} s, and this run has {} s; resume with the same --step",
            scene.step
        );
        return Err(Failure::in_file(path, why));
    }
    let spent = archive.read("spent", &[Some(2)])?;
    let states = archive.read("state", &[Some(scene.bodies), Some(WIDTH)])?;
    let kept = states.chunks_exact(WIDTH).map(|numbers| {
        let vector = |at: usize| DVec3::new(numbers[at], numbers[at + 1], numbers[at + 2]);
        Kept {
            state: State {
                position: vector(0),
                orientation: DQuat::from_xyzw(numbers[3], numbers[4], numbers[5], numbers[6]),
                momentum: vector(7),
                angular_momentum: vector(10),
            },
            still_for: numbers[13],
            is_asleep: numbers[14] != 0.0,
            late: Push {
                force: vector(15),
                torque: vector(18),
            },
        }
    });
    Ok(Resumed {
        checkpoint: Checkpoint {
            steps: steps as u64,
            bodies: kept.collect(),
        },
        trajectory: Trajectory::read(&mut archive, scene.bodies)?,
        spent: [spent[0], spent[1]],
    })
}
