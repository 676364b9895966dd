//! Nearest-point search in a kd-tree.
//!
//! Input: points in `f32`.
//! Output: the nearest to a position, or those within reach, by `f64` distances.
//! Cost: 17 bytes per point; one median per level to build, on all cores.
//! Not for: points that move or are added.
//!
//! A kd-tree \[Bentley1975\]: every range of points is split at its median along the longest side
//! of its AABB. The tree is the order of the points; only the axis of each split is stored.

use std::cmp::Ordering;
use std::ops::Range;

use glam::{DVec3, Vec3};

use crate::geom::Aabb;
use crate::threads;

/// Largest range whose points are searched one by one.
const FEW: usize = 8;
/// Number of points below which a thread of its own costs more than it saves.
const MANY: usize = 4096;

/// Points in the order of a tree. A *slot* is an index in that order.
pub(super) struct PointTree {
    points: Vec<Vec3>,
    indices: Vec<u32>,
    /// Axis along which the range with this median is split.
    axes: Vec<u8>,
}

/// A point that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) slot: u32,
    /// Squared distance \[m²\].
    pub(super) distance_squared: f64,
}

impl PointTree {
    pub(super) fn new(points: &[Vec3]) -> PointTree {
        let mut items: Vec<(Vec3, u32)> = points.iter().copied().zip(0..).collect();
        let mut axes = vec![0; items.len()];
        halve(&mut items, &mut axes);
        PointTree {
            points: items.iter().map(|item| item.0).collect(),
            indices: items.iter().map(|item| item.1).collect(),
            axes,
        }
    }

    /// Returns the point at a slot.
    pub(super) fn point(&self, slot: u32) -> DVec3 {
        self.points[slot as usize].as_dvec3()
    }

    /// Returns the index of a slot's point among the given points.
    pub(super) fn index(&self, slot: u32) -> u32 {
        self.indices[slot as usize]
    }

    /// Returns all slots, in order.
    pub(super) fn slots(&self) -> Range<usize> {
        0..self.points.len()
    }

    /// Returns the nearest point; `None` without points. The search begins with those at the slots
    /// `guesses`.
    pub(super) fn nearest(&self, place: DVec3, guesses: &[u32]) -> Option<Found> {
        let mut best: Option<Found> = None;
        let mut bound = f64::INFINITY;
        for &slot in guesses {
            let distance_squared = self.point(slot).distance_squared(place);
            if distance_squared < bound {
                bound = distance_squared;
                best = Some(Found {
                    slot,
                    distance_squared,
                });
            }
        }
        self.visit(place, &mut bound, &|_| false, &mut |found, bound| {
            if found.distance_squared < *bound || best.is_none() {
                *bound = found.distance_squared;
                best = Some(found);
            }
        });
        best
    }

    /// Calls `each` with the points no farther than the square root of `bound`, roughly nearest
    /// first; `each` may reduce the bound. Ranges whose median passes `skip` are left out.
    pub(super) fn visit(
        &self,
        place: DVec3,
        bound: &mut f64,
        skip: &impl Fn(usize) -> bool,
        each: &mut impl FnMut(Found, &mut f64),
    ) {
        self.visit_range(self.slots(), place, DVec3::ZERO, bound, skip, each);
    }

    fn visit_range<Each: FnMut(Found, &mut f64)>(
        &self,
        range: Range<usize>,
        place: DVec3,
        // Distance of the range's half-spaces from `place`, along each axis.
        away: DVec3,
        bound: &mut f64,
        skip: &impl Fn(usize) -> bool,
        each: &mut Each,
    ) {
        let look = |slot: usize, bound: &mut f64, each: &mut Each| {
            let distance_squared = self.points[slot].as_dvec3().distance_squared(place);
            if distance_squared <= *bound {
                let slot = slot as u32;
                each(
                    Found {
                        slot,
                        distance_squared,
                    },
                    bound,
                );
            }
        };
        if range.len() <= FEW {
            for slot in range {
                look(slot, bound, each);
            }
            return;
        }
        let middle = middle(&range);
        if skip(middle) {
            return;
        }
        look(middle, bound, each);
        let axis = usize::from(self.axes[middle]);
        let offset = place[axis] - f64::from(self.points[middle][axis]);
        let (low, high) = (range.start..middle, middle + 1..range.end);
        let (near, far) = if offset < 0.0 {
            (low, high)
        } else {
            (high, low)
        };
        // The near side first; the far side only if it is within the bound.
        self.visit_range(near, place, away, bound, skip, each);
        let mut beyond = away;
        beyond[axis] = offset;
        if beyond.length_squared() <= *bound {
            self.visit_range(far, place, beyond, bound, skip, each);
        }
    }

    /// Returns the medians of all ranges that hold a slot, from the whole down.
    pub(super) fn ranges_of(&self, slot: u32) -> impl Iterator<Item = usize> {
        let mut range = self.slots();
        let slot = slot as usize;
        std::iter::from_fn(move || {
            if range.len() <= FEW {
                return None;
            }
            let middle = middle(&range);
            range = match slot.cmp(&middle) {
                Ordering::Less => range.start..middle,
                Ordering::Equal => middle..middle,
                Ordering::Greater => middle + 1..range.end,
            };
            Some(middle)
        })
    }

    /// Calls `each` with the median and the number of points of every range that is split.
    pub(super) fn for_ranges(&self, each: &mut impl FnMut(usize, usize)) {
        fn down(range: Range<usize>, each: &mut impl FnMut(usize, usize)) {
            if range.len() > FEW {
                let middle = middle(&range);
                each(middle, range.len());
                down(range.start..middle, each);
                down(middle + 1..range.end, each);
            }
        }
        down(self.slots(), each);
    }
}

fn middle(range: &Range<usize>) -> usize {
    range.start + range.len() / 2
}

fn halve(items: &mut [(Vec3, u32)], axes: &mut [u8]) {
    if items.len() <= FEW {
        return;
    }
    let bounds = Aabb::of_points(items.iter().map(|item| item.0));
    let axis = longest_axis(bounds.extents());
    let middle = items.len() / 2;
    // Ties are broken by index: one order, however the points come.
    items.select_nth_unstable_by(middle, |a, b| {
        (a.0[axis].total_cmp(&b.0[axis])).then(a.1.cmp(&b.1))
    });
    axes[middle] = axis as u8;
    let many = items.len() >= MANY;
    let (low, [_, high @ ..]) = items.split_at_mut(middle) else {
        return;
    };
    let (low_axes, [_, high_axes @ ..]) = axes.split_at_mut(middle) else {
        return;
    };
    if many {
        threads::both(|| halve(low, low_axes), || halve(high, high_axes));
    } else {
        halve(low, low_axes);
        halve(high, high_axes);
    }
}

/// Returns the longest axis; the first one of equals.
pub(super) fn longest_axis(extents: Vec3) -> usize {
    if extents.x >= extents.y.max(extents.z) {
        0
    } else if extents.y >= extents.z {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_nearest_is_that_of_a_search_of_all(
            places in prop::collection::vec(prop::array::uniform3(-3i32..=3), 1..300),
            at in prop::array::uniform3(-5.0f64..5.0),
            shrink in 0..2
        ) {
            // Whole coordinates: many ties, many points at one position.
            let flat = Vec3::new(1.0, 1.0, shrink as f32);
            let points: Vec<Vec3> = (places.iter())
                .map(|p| flat * Vec3::from(p.map(|c| c as f32)))
                .collect();
            let tree = PointTree::new(&points);
            let at = DVec3::from(at);
            let best = (points.iter())
                .map(|p| p.as_dvec3().distance_squared(at))
                .fold(f64::INFINITY, f64::min);
            let found = tree.nearest(at, &[]).unwrap();
            prop_assert_eq!(found.distance_squared, best);
            let point = points[tree.index(found.slot) as usize].as_dvec3();
            prop_assert_eq!(point, tree.point(found.slot));
            let guessed = tree.nearest(at, &[0, points.len() as u32 - 1]).unwrap();
            prop_assert_eq!(guessed.distance_squared, best);
            // All points within a radius are passed to the callback.
            let mut count = 0;
            tree.visit(at, &mut 9.0, &|_| false, &mut |_, _| count += 1);
            let within = points.iter().filter(|p| p.as_dvec3().distance_squared(at) <= 9.0);
            prop_assert_eq!(count, within.count());
        }
    }

    #[test]
    fn no_points_no_nearest() {
        assert!(PointTree::new(&[]).nearest(DVec3::ZERO, &[]).is_none());
    }
}
