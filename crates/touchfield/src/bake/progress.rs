//! How far a bake is, and how it is cancelled.

use std::ops::ControlFlow;

use crate::bake::error::BakeError;

/// What a bake is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Looking for defects and building the search structures.
    Preparing,
    /// Distances of all nodes.
    Distances,
    /// Inside or outside, where distances do not tell.
    Signs,
    /// Cross-checks and sampled error.
    Checking,
}

/// Progress of a bake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is being done.
    pub stage: Stage,
    /// Parts of the stage that are done.
    pub done: u64,
    /// Parts of the stage in all.
    pub total: u64,
}

/// Called from any thread; [`ControlFlow::Break`] cancels.
pub type Progress<'a> = &'a (dyn Fn(Step) -> ControlFlow<()> + Sync);

/// Tells how far a stage is, and stops if that is asked for.
pub(crate) fn tell(
    progress: Progress<'_>,
    stage: Stage,
    done: u64,
    total: u64,
) -> Result<(), BakeError> {
    match progress(Step { stage, done, total }) {
        ControlFlow::Break(()) => Err(BakeError::Cancelled),
        ControlFlow::Continue(()) => Ok(()),
    }
}
