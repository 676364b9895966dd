//! A heap from which the piece of work with the least lower bound comes first: what best-first searches share.
//!
//! Input: pieces with their bounds. Output: the same, the least bound first. Cost: that of a heap.
//! Not for: orders that depend on how the heap was filled: numbers break ties, so the order is the same on every run.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Pieces of work, the one with the least bound on top.
pub(crate) type LeastFirst<T> = BinaryHeap<Open<T>>;

/// A piece of work that was not yet looked into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open<T> {
    /// Nothing in it is below this \[m\].
    pub(crate) lower: f32,
    /// Which piece it is: of equal bounds the smaller number comes first.
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
    /// The largest of a heap comes first, so the order is turned around.
    fn cmp(&self, other: &Open<T>) -> Ordering {
        (other.lower.total_cmp(&self.lower)).then(other.number.cmp(&self.number))
    }
}
