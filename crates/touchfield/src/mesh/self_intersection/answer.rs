//! Which faces cross, and whether all of them were found.

/// What [`self_intersections`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelfIntersections {
    /// Pairs of face numbers, the lower first; sorted.
    pub pairs: Vec<[u32; 2]>,
    /// Whether these are all; `false` when the search stopped at a limit, be it of pairs or of work.
    pub complete: bool,
}
