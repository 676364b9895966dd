//! Priority queue that pops the piece of work with the least lower bound, shared by the best-first
//! searches.
//!
//! Input: pieces with their lower bounds.
//! Output: the pieces in order of increasing bound.
//! Cost: that of a binary heap.
//! Not for: orders that depend on how the heap was filled. Numbers break ties, so the order is the
//! same on every run.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Heap of pieces of work, the one with the least bound on top.
pub(crate) type LeastFirst<T> = BinaryHeap<Open<T>>;

/// A piece of work that has not been opened yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open<T> {
    /// Lower bound of the values inside the piece \[m\].
    pub(crate) lower: f32,
    /// Unique number of the piece; the smaller one comes first if bounds are equal.
    pub(crate) number: u64,
    pub(crate) piece: T,
}

impl<T> PartialEq for Open<T> {
    fn eq(&self, other: &Open<T>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Open<T> {}

impl<T> PartialOrd for Open<T> {
    fn partial_cmp(&self, other: &Open<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Open<T> {
    /// Compares in reverse, because `BinaryHeap` pops the largest element first.
    fn cmp(&self, other: &Open<T>) -> Ordering {
        (other.lower.total_cmp(&self.lower)).then(other.number.cmp(&self.number))
    }
}
