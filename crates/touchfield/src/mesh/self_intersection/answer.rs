//! Result of a search for self-intersections.

/// Pairs of intersecting faces found by [`self_intersections`](super::self_intersections).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelfIntersections {
    /// Pairs of face numbers, the lower first; sorted.
    pub pairs: Vec<[u32; 2]>,
    /// Whether all pairs were found; `false` when the search stopped at a limit, of pairs or of
    /// work.
    pub complete: bool,
}
