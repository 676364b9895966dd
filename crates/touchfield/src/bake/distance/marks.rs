//! A mark for each of many things, a bit each.

/// Which of many are marked.
pub(crate) struct Marks(Vec<u64>);

impl Marks {
    /// None of so many.
    pub(crate) fn new(count: usize) -> Marks {
        Marks(vec![0; count.div_ceil(64)])
    }

    pub(crate) fn has(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 != 0
    }

    /// Sets a mark; whether it is new.
    pub(crate) fn set(&mut self, index: usize) -> bool {
        let is_new = !self.has(index);
        self.0[index / 64] |= 1 << (index % 64);
        is_new
    }

    /// Takes a mark away; whether it was there.
    pub(crate) fn clear(&mut self, index: usize) -> bool {
        let was_set = self.has(index);
        self.0[index / 64] &= !(1 << (index % 64));
        was_set
    }
}
