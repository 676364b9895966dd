//! The contract of all broad phases, and the list of boxes that they share.
//!
//! Input: boxes, under ids that the broad phase assigns.
//! Output: all pairs of boxes that overlap, sorted by id.
//! Cost: depends on the method.
//! Not for: contacts; the bodies in two overlapping boxes may be far apart.

use crate::geom::Aabb;

/// Id of a box; reused after the box is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoxId(pub u32);

/// Why a broad phase rejects a call.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BroadError {
    /// A coordinate is NaN, or a lower bound exceeds the upper one.
    #[error("no box: from {:?} to {:?}; coordinates must be numbers, the lower ones first", .0.min.to_array(), .0.max.to_array())]
    NotABox(Aabb),
    /// No box has this id, or it was removed.
    #[error("there is no box {}", .0.0)]
    Unknown(BoxId),
    /// The margin is NaN, infinite or negative.
    #[error("a margin of {0:?} m; it must be finite and not negative")]
    BadMargin(f32),
    /// All ids are in use.
    #[error("{0} boxes are there, and ids end; remove some")]
    Full(usize),
}

/// Finds the pairs of boxes that overlap. Boxes that touch count as overlapping; unbounded boxes
/// are allowed.
pub trait BroadPhase {
    /// Adds a box and returns its id.
    fn insert(&mut self, bounds: Aabb) -> Result<BoxId, BroadError>;

    /// Moves a box. After an error the box is unchanged.
    fn update(&mut self, id: BoxId, bounds: Aabb) -> Result<(), BroadError>;

    /// Removes a box.
    fn remove(&mut self, id: BoxId) -> Result<(), BroadError>;

    /// Computes all pairs of boxes that overlap, sorted, each with its smaller id first. `out` is
    /// cleared and refilled.
    fn pairs(&mut self, out: &mut Vec<[BoxId; 2]>);
}

/// Boxes indexed by id.
#[derive(Clone, Debug, Default)]
pub(super) struct Boxes {
    boxes: Vec<Option<Aabb>>,
    free: Vec<u32>,
}

impl Boxes {
    pub(super) fn insert(&mut self, bounds: Aabb) -> Result<BoxId, BroadError> {
        check(bounds)?;
        if let Some(id) = self.free.pop() {
            self.boxes[id as usize] = Some(bounds);
            return Ok(BoxId(id));
        }
        // The largest `u32` means "none" in trees.
        let count = self.boxes.len();
        let id = u32::try_from(count).ok().filter(|&id| id < u32::MAX);
        let id = id.ok_or(BroadError::Full(count))?;
        self.boxes.push(Some(bounds));
        Ok(BoxId(id))
    }

    /// Replaces a box and returns the old one.
    pub(super) fn update(&mut self, id: BoxId, bounds: Aabb) -> Result<Aabb, BroadError> {
        check(bounds)?;
        match self.boxes.get_mut(id.0 as usize) {
            Some(Some(there)) => Ok(std::mem::replace(there, bounds)),
            _ => Err(BroadError::Unknown(id)),
        }
    }

    /// Removes a box and returns it.
    pub(super) fn remove(&mut self, id: BoxId) -> Result<Aabb, BroadError> {
        let there = self.boxes.get_mut(id.0 as usize).and_then(Option::take);
        let there = there.ok_or(BroadError::Unknown(id))?;
        self.free.push(id.0);
        Ok(there)
    }

    pub(super) fn get(&self, id: BoxId) -> Option<Aabb> {
        self.boxes.get(id.0 as usize).copied().flatten()
    }

    /// Iterates over the boxes in the order of their ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = (BoxId, Aabb)> + '_ {
        let numbered = self.boxes.iter().enumerate();
        numbered.filter_map(|(id, bounds)| Some((BoxId(id as u32), (*bounds)?)))
    }

    /// Returns one more than the largest id so far.
    pub(super) fn id_count(&self) -> usize {
        self.boxes.len()
    }
}

fn check(bounds: Aabb) -> Result<(), BroadError> {
    // Comparisons with NaN are false, so a box with NaN is rejected as well.
    if bounds.is_empty() {
        return Err(BroadError::NotABox(bounds));
    }
    Ok(())
}

/// Returns whether two boxes share a point.
pub(super) fn overlap(a: Aabb, b: Aabb) -> bool {
    a.min.cmple(b.max).all() && b.min.cmple(a.max).all()
}

/// Returns the pair with the smaller id first.
pub(super) fn sorted(a: BoxId, b: BoxId) -> [BoxId; 2] {
    [a.min(b), a.max(b)]
}

/// Appends to `out` the pairs of unbounded boxes with each other and with all other boxes.
/// Unbounded boxes are few: half-spaces, terrains.
pub(super) fn endless_pairs(boxes: &Boxes, endless: &[BoxId], out: &mut Vec<[BoxId; 2]>) {
    for &id in endless {
        let Some(bounds) = boxes.get(id) else {
            continue;
        };
        for (other, other_bounds) in boxes.iter() {
            // A pair of two unbounded boxes is reported by the one with the smaller id.
            let by_other = other <= id && !other_bounds.is_finite();
            if !by_other && overlap(bounds, other_bounds) {
                out.push(sorted(id, other));
            }
        }
    }
}
