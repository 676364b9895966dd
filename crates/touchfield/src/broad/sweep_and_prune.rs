//! Sweep and prune: boxes are sorted along one axis, and only boxes that overlap along it are
//! compared.
//!
//! Input and output: see [`BroadPhase`].
//! Cost: per step O(n) to sort when boxes move little, and O(n times the number of boxes that
//! overlap along the axis) to sweep.
//! Not for: tens of thousands of boxes in a cube, of which too many overlap along any axis (see
//! [`super::AabbTree`]); many boxes as long as the world.
//!
//! After \[Baraff1992\], on one axis: the one along which the centres have the largest variance
//! \[Ericson2005\].

use glam::DVec3;

use super::pairs::{BoxId, Boxes, BroadError, BroadPhase, endless_pairs, overlap, sorted};
use crate::geom::Aabb;

/// A broad phase that sorts boxes along one axis.
#[derive(Clone, Debug, Default)]
pub struct SweepAndPrune {
    boxes: Boxes,
    /// Bounded boxes, sorted by their lower bound along `axis`, ties by id.
    order: Vec<Entry>,
    /// Whether `order` has an entry for the id, perhaps for a box that was removed.
    in_order: Vec<bool>,
    endless: Vec<BoxId>,
    axis: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    bounds: Aabb,
    id: BoxId,
}

/// Ratio by which the variance along another axis must exceed the current one before the boxes are
/// sorted along the other axis.
///
/// Tuned: at 1 a cube of boxes would be sorted anew at every step; at 10 a world that turned on its
/// side would compare nearly all pairs.
const AXIS_CHANGE: f64 = 2.0;

/// Average number of moves per entry above which sorting from scratch is cheaper.
const MOVES: usize = 16;

impl SweepAndPrune {
    /// Creates a broad phase without boxes.
    pub fn new() -> SweepAndPrune {
        SweepAndPrune::default()
    }

    fn file(&mut self, id: BoxId, bounds: Aabb) {
        self.in_order.resize(self.boxes.id_count(), false);
        if bounds.is_finite() {
            if !std::mem::replace(&mut self.in_order[id.0 as usize], true) {
                self.order.push(Entry { bounds, id });
            }
        } else {
            self.endless.push(id);
        }
    }

    fn unfile(&mut self, id: BoxId, bounds: Aabb) {
        if !bounds.is_finite() {
            self.endless.retain(|&endless| endless != id);
        }
        // Bounded boxes leave `order` at the next sweep.
    }

    /// Updates `order` with the current boxes, drops removed ones, and sorts along the axis of
    /// largest variance.
    fn refresh(&mut self) {
        let (boxes, in_order) = (&self.boxes, &mut self.in_order);
        self.order.retain_mut(|entry| match boxes.get(entry.id) {
            Some(bounds) if bounds.is_finite() => {
                entry.bounds = bounds;
                true
            }
            _ => {
                in_order[entry.id.0 as usize] = false;
                false
            }
        });
        let spread = spread(&self.order);
        let widest = (0..3).fold(self.axis, |widest, axis| {
            if spread[axis] > AXIS_CHANGE * spread[widest] {
                axis
            } else {
                widest
            }
        });
        let axis = std::mem::replace(&mut self.axis, widest);
        if axis != widest || !insertion_sort(&mut self.order, widest) {
            self.order.sort_unstable_by(|a, b| compare(a, b, widest));
        }
    }
}

/// Returns the sum of squared deviations of the centres along each axis.
fn spread(order: &[Entry]) -> [f64; 3] {
    let centers = || order.iter().map(|entry| entry.bounds.center().as_dvec3());
    let mean = centers().sum::<DVec3>() / order.len().max(1) as f64;
    let squares = centers().map(|center| (center - mean) * (center - mean));
    squares.sum::<DVec3>().to_array()
}

fn compare(a: &Entry, b: &Entry, axis: usize) -> std::cmp::Ordering {
    let by_place = a.bounds.min[axis].total_cmp(&b.bounds.min[axis]);
    by_place.then(a.id.cmp(&b.id))
}

/// Sorts entries that are nearly sorted. Gives up and returns `false` if they are not; the entries
/// are then in a different order, but complete.
fn insertion_sort(order: &mut [Entry], axis: usize) -> bool {
    let mut moves_left = MOVES * order.len();
    for place in 1..order.len() {
        let entry = order[place];
        let mut hole = place;
        while hole > 0 && compare(&entry, &order[hole - 1], axis).is_lt() {
            order[hole] = order[hole - 1];
            hole -= 1;
        }
        order[hole] = entry;
        match moves_left.checked_sub(place - hole) {
            Some(left) => moves_left = left,
            None => return false,
        }
    }
    true
}

impl BroadPhase for SweepAndPrune {
    fn insert(&mut self, bounds: Aabb) -> Result<BoxId, BroadError> {
        let id = self.boxes.insert(bounds)?;
        self.file(id, bounds);
        Ok(id)
    }

    fn update(&mut self, id: BoxId, bounds: Aabb) -> Result<(), BroadError> {
        let before = self.boxes.update(id, bounds)?;
        if before.is_finite() != bounds.is_finite() {
            self.unfile(id, before);
            self.file(id, bounds);
        }
        Ok(())
    }

    fn remove(&mut self, id: BoxId) -> Result<(), BroadError> {
        let before = self.boxes.remove(id)?;
        self.unfile(id, before);
        Ok(())
    }

    fn pairs(&mut self, out: &mut Vec<[BoxId; 2]>) {
        self.refresh();
        out.clear();
        for (place, entry) in self.order.iter().enumerate() {
            let end = entry.bounds.max[self.axis];
            for other in &self.order[place + 1..] {
                if other.bounds.min[self.axis] > end {
                    break;
                }
                if overlap(entry.bounds, other.bounds) {
                    out.push(sorted(entry.id, other.id));
                }
            }
        }
        endless_pairs(&self.boxes, &self.endless, out);
        out.sort_unstable();
    }
}
