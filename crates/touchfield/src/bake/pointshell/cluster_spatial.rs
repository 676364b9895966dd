//! Clusters from the root down: points are split into halves of equal number along the direction of
//! largest spread.
//!
//! Input: points, the size of a cluster.
//! Output: levels of clusters, all leaves equally deep and most of them nearly full.
//! Cost: a pass and a median per split, all cores.
//! Not for: the tree of \[Sagardia2014\]; see `cluster_chain`.
//!
//! Equal numbers may put points of two parts into one cluster; outliers are moved to the nearest
//! one, as in the chain.

use glam::{DMat3, DVec3, Vec3};

use crate::bake::pointshell::clusters::{Members, Outliers};
use crate::bake::pointshell::tree::Level;
use crate::threads;

/// Number of points below which a thread of its own costs more than it saves.
const MANY: usize = 4096;

/// A point, its index, and its coordinate along the current direction.
#[derive(Clone, Copy)]
struct Item {
    point: Vec3,
    index: u32,
    along: f64,
}

/// Returns the levels of clusters, the leaves first.
pub(super) fn clusters(points: &[Vec3], cluster_size: u32) -> Vec<Level> {
    let size = cluster_size as usize;
    let mut height = 0;
    let mut capacity = size;
    while capacity < points.len() {
        capacity = capacity.saturating_mul(size);
        height += 1;
    }
    let mut items: Vec<Item> = (points.iter().zip(0..))
        .map(|(&point, index)| Item {
            point,
            index,
            along: 0.0,
        })
        .collect();
    arrange(&mut items, height, size);
    // From the root down: per level, the number of points in each of its clusters.
    let mut counts = vec![vec![points.len()]];
    for height in (1..=height).rev() {
        let above = &counts[counts.len() - 1];
        let below = above.iter().flat_map(|&count| parts(count, height, size));
        counts.push(below.collect());
    }
    counts.reverse();
    // From the leaves up: group the members of each level, and move outliers.
    let mut levels: Vec<Level> = Vec::new();
    for (height, counts_here) in counts.iter().enumerate() {
        let members = Members::above(points, levels.last());
        let mut first = 0;
        // Points by their given indices, clusters in the order of the level below.
        let group = |&count: &usize| -> Vec<u32> {
            let number = match height {
                0 => count,
                _ => parts(count, height as u32, size).count(),
            };
            let numbers = first..first + number;
            first += number;
            match height {
                0 => items[numbers].iter().map(|item| item.index).collect(),
                _ => numbers.map(|number| number as u32).collect(),
            }
        };
        let clusters = members.clusters(counts_here.iter().map(group).collect());
        let regrouped = members.regrouped(clusters, Outliers::Nearest);
        levels.push(members.level(&regrouped));
    }
    levels
}

/// Returns the numbers of points in the parts of a cluster: as few parts as hold all, and of equal
/// size.
fn parts(count: usize, height: u32, size: usize) -> impl Iterator<Item = usize> {
    let number = count.div_ceil(size.saturating_pow(height)).max(1);
    (0..number).map(move |part| (part + 1) * count / number - part * count / number)
}

/// Puts the points into the order of the leaves.
fn arrange(items: &mut [Item], height: u32, size: usize) {
    if height > 0 {
        let counts: Vec<usize> = parts(items.len(), height, size).collect();
        divide(items, &counts, height - 1, size);
    }
}

/// Cuts points into parts of the given numbers, by halves, and arranges each part.
fn divide(items: &mut [Item], counts: &[usize], height: u32, size: usize) {
    if counts.len() <= 1 {
        return arrange(items, height, size);
    }
    let (low_counts, high_counts) = counts.split_at(counts.len() / 2);
    let cut: usize = low_counts.iter().sum();
    let direction = widest_direction(items);
    for item in items.iter_mut() {
        item.along = direction.dot(item.point.as_dvec3());
    }
    items.select_nth_unstable_by(cut, |a, b| {
        a.along.total_cmp(&b.along).then(a.index.cmp(&b.index))
    });
    let many = items.len() >= MANY;
    let (low, high) = items.split_at_mut(cut);
    let mut low = || divide(low, low_counts, height, size);
    let mut high = || divide(high, high_counts, height, size);
    if many {
        threads::both(low, high);
    } else {
        low();
        high();
    }
}

fn mean(items: &[Item]) -> DVec3 {
    let sum: DVec3 = items.iter().map(|item| item.point.as_dvec3()).sum();
    sum / items.len() as f64
}

/// Returns about the direction of largest variance: some steps of the power method from the axis of
/// largest variance. Any direction is valid; this one gives compact clusters.
fn widest_direction(items: &[Item]) -> DVec3 {
    let mean = mean(items);
    let mut spread = DMat3::ZERO;
    for item in items {
        let offset = item.point.as_dvec3() - mean;
        spread += DMat3::from_cols(offset * offset.x, offset * offset.y, offset * offset.z);
    }
    let variances = [spread.x_axis.x, spread.y_axis.y, spread.z_axis.z];
    let axis = (1..3).fold(0, |best, axis| {
        if variances[axis] > variances[best] {
            axis
        } else {
            best
        }
    });
    // Off the axis, so that it is not another eigenvector.
    let mut direction = DVec3::AXES[axis] + DVec3::new(0.01, 0.02, 0.03);
    for _ in 0..16 {
        let Some(next) = (spread * direction).try_normalize() else {
            // All points are at one position.
            return DVec3::AXES[axis];
        };
        direction = next;
    }
    direction
}
