//! What a step could not do: nothing is lost silently.
//!
//! Input: what the dispatcher meets. Output: [`Counts`] since they were last taken, and a `tracing` event for each kind.
//! Cost: one addition in memory when something is wrong. Not for: how long things took.

use std::sync::atomic::{AtomicU64, Ordering};

/// What could not be handled, since the last [`take`](crate::FieldDispatcher::take_counts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pairs of shapes that nobody can handle: no contact was made, or no answer given.
    pub unsupported: u64,
    /// Pairs whose time ran out: contacts are those of a coarser copy of the surface.
    pub out_of_time: u64,
    /// Contacts deeper than the field knows: the depth is a bound, the normal a guess.
    pub beyond_band: u64,
    /// Sweeps that were given up, and ended where they had come to: a body stopped earlier than it had to.
    pub sweeps_given_up: u64,
    /// Pairs that were refused for their numbers: a pose that is not finite, say.
    pub refused: u64,
}

impl Counts {
    /// Whether everything was handled.
    pub fn is_clean(self) -> bool {
        self == Counts::default()
    }
}

/// The same while it is counted, from any thread.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    unsupported: AtomicU64,
    out_of_time: AtomicU64,
    beyond_band: AtomicU64,
    sweeps_given_up: AtomicU64,
    refused: AtomicU64,
}

impl Tally {
    pub(crate) fn unsupported(&self, first: &str, second: &str) {
        tracing::warn!(
            first,
            second,
            "no contact: this pair of shapes is not supported"
        );
        self.unsupported.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn out_of_time(&self) {
        tracing::warn!("the time of a pair ran out; its contacts are coarse");
        self.out_of_time.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn beyond_band(&self) {
        tracing::warn!("a body is deeper in another than its field knows");
        self.beyond_band.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn sweep_given_up(&self) {
        tracing::warn!("a sweep was given up; the body stops where it had come to");
        self.sweeps_given_up.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self, why: &dyn std::fmt::Display) {
        tracing::warn!(%why, "a pair was refused");
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// What was counted since the last time.
    pub(crate) fn take(&self) -> Counts {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        Counts {
            unsupported: take(&self.unsupported),
            out_of_time: take(&self.out_of_time),
            beyond_band: take(&self.beyond_band),
            sweeps_given_up: take(&self.sweeps_given_up),
            refused: take(&self.refused),
        }
    }
}
