//! Counts of what a step could not handle: no failure is silent.
//!
//! Input: what the dispatcher encounters. Output: [`Counts`] since they were last taken, and a
//! `tracing` event for each kind.
//! Cost: one addition in memory when something is wrong. Not for: timings.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of cases that could not be handled since the last
/// [`take`](crate::FieldDispatcher::take_counts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pairs of shapes that are not supported: no contact was made, or no answer given.
    pub unsupported: u64,
    /// Pairs whose time budget ran out: their contacts come from a coarser copy of the surface.
    pub out_of_time: u64,
    /// Contacts deeper than the field's narrow band: the depth is a bound, the normal a guess.
    pub beyond_band: u64,
    /// Sweeps that gave up and ended early: a body stopped sooner than necessary.
    pub sweeps_given_up: u64,
    /// Pairs that were refused because of their numbers, for example a pose that is not finite.
    pub refused: u64,
}

impl Counts {
    /// Returns whether everything was handled.
    pub fn is_clean(self) -> bool {
        self == Counts::default()
    }
}

/// Thread-safe counters behind [`Counts`].
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

    /// Returns the counts since the last call and resets them.
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
