//! Progress reports and cancellation of a bake.

use std::ops::ControlFlow;

use crate::bake::error::BakeError;

/// Stage of a bake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Search for defects and construction of the search structures.
    Preparing,
    /// Distances of all nodes.
    Distances,
    /// Signs of nodes, where the nearest feature does not determine them.
    Signs,
    /// Cross-checks and sampled error.
    Checking,
}

/// Progress of a bake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Current stage.
    pub stage: Stage,
    /// Number of finished parts of the stage.
    pub done: u64,
    /// Number of parts of the stage.
    pub total: u64,
}

/// Progress callback, called from any thread; [`ControlFlow::Break`] cancels the bake.
pub type Progress<'a> = &'a (dyn Fn(Step) -> ControlFlow<()> + Sync);

/// Reports the progress of a stage. Returns [`BakeError::Cancelled`] if the callback cancels.
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
