//! A set of indices, stored as a bit mask.

/// Set of marked indices.
pub(crate) struct Marks(Vec<u64>);

impl Marks {
    /// Creates a set for `count` indices, none of them marked.
    pub(crate) fn new(count: usize) -> Marks {
        Marks(vec![0; count.div_ceil(64)])
    }

    pub(crate) fn has(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 != 0
    }

    /// Sets a mark, and returns whether it is new.
    pub(crate) fn set(&mut self, index: usize) -> bool {
        let is_new = !self.has(index);
        self.0[index / 64] |= 1 << (index % 64);
        is_new
    }

    /// Clears a mark, and returns whether it was set.
    pub(crate) fn clear(&mut self, index: usize) -> bool {
        let was_set = self.has(index);
        self.0[index / 64] &= !(1 << (index % 64));
        was_set
    }
}
