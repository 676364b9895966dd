//! Points on the surface of a field: projects them, fills gaps, and bounds the distance of the
//! surface from them.
//!
//! Input: any field of bounded extent, points.
//! Output: points on its surface; a radius within which every point of the true surface has one.
//! Cost: an interval per cell near the surface, down to a fraction of the spacing; the proof on all
//! cores.
//! Not for: meshes; see `cover`.
//!
//! The proof does not rely on a mesh of the surface. Cells of space are halved along each axis
//! until their interval shows that the surface does not pass through them, or until one point lies
//! within reach of all their corners. Intervals hold the true distance, the field's error included,
//! so the radius does too, and parts that the isosurface missed are found.

use glam::Vec3;

use crate::bake::pointshell::cover::SLACK;
use crate::bake::pointshell::nearest::PointTree;
use crate::bake::pointshell::settings::ShellBakeError;
use crate::bake::pointshell::spread::{Spread, SurfacePoint};
use crate::field::Field;
use crate::geom::Aabb;
use crate::threads;

/// Largest number of steps of a projection. A true distance needs one or two; a bound of one, as
/// CSG gives, some more.
const STEPS: usize = 12;

/// Number of cells that start with the bound found by all blocks before. Fixed, so that the result
/// does not depend on the number of threads.
const BLOCK: usize = 256;
/// Number of cells that keeps all cores busy.
const MANY: usize = 1024;

/// Returns the point of the surface that the gradient leads to, if the field is within `tolerance`
/// \[m\] of zero there.
pub(super) fn project(field: &dyn Field, point: Vec3, tolerance: f32) -> Option<Vec3> {
    let mut at = point;
    let mut best = (f32::INFINITY, point);
    for _ in 0..STEPS {
        let sample = field.sample(at);
        let off = sample.distance.abs();
        if off < best.0 {
            best = (off, at);
        }
        // The rounding of a coordinate.
        if off <= f32::EPSILON * at.abs().max_element() {
            break;
        }
        let Some(outward) = sample.gradient.try_normalize() else {
            break;
        };
        let next = at - sample.distance * outward;
        if !next.is_finite() || next == at {
            break;
        }
        at = next;
    }
    (best.0 <= tolerance).then_some(best.1)
}

/// Returns whether the surface may pass through a cell.
fn may_cross(field: &dyn Field, cell: Aabb) -> bool {
    let truth = field.interval(cell);
    // Also `true` where the interval is NaN, because nothing is known then.
    !(truth.lower > 0.0 || truth.upper < 0.0)
}

/// Returns the eight parts of a cell.
fn octants(cell: Aabb) -> [Aabb; 8] {
    let center = cell.center();
    cell.corners()
        .map(|corner| Aabb::new(corner.min(center), corner.max(center)))
}

/// Adds points where a point of the surface is farther than the reach from all others.
pub(super) fn fill(
    field: &dyn Field,
    bounds: Aabb,
    spread: &mut Spread,
) -> Result<(), ShellBakeError> {
    let reach = spread.reach() as f32;
    // Small enough to miss few points, large enough for few cells: the proof includes what is left.
    let smallest = 0.25 * reach;
    let mut cells = vec![bounds];
    while let Some(cell) = cells.pop() {
        if !may_cross(field, cell) {
            continue;
        }
        let (diagonal, center) = (cell.diagonal(), cell.center());
        // Points go where the field is zero, not wherever its error allows the surface; that would
        // fill space.
        if field.distance(center).abs() > diagonal {
            continue;
        }
        let middle = center.as_dvec3();
        let corners = cell.corners().map(|corner| corner.as_dvec3());
        if diagonal <= 2.0 * reach && spread.covers_all(middle, &corners, Vec3::ZERO) {
            continue;
        }
        if diagonal > smallest {
            cells.extend(octants(cell));
            continue;
        }
        let Some(at) = project(field, center, tolerance(field, smallest)) else {
            continue;
        };
        if at.distance(center) <= diagonal {
            spread.offer(SurfacePoint {
                at,
                normal: Vec3::ZERO,
            })?;
        }
    }
    Ok(())
}

/// Returns the largest distance from zero at which a point counts as on the surface of a field, for
/// the relevant length \[m\].
pub(super) fn tolerance(field: &dyn Field, length: f32) -> f32 {
    // A hundredth does not make a covering radius noticeably worse. The stored surface is off the
    // true one by the error anyway.
    f32::max(0.01 * length, field.error_bound())
}

/// Returns a radius within which every point of the true surface has one of the points \[m\];
/// `None` without points. Radii below `fineness` are not distinguished \[m\].
pub(super) fn covering_radius(
    field: &dyn Field,
    bounds: Aabb,
    tree: &PointTree,
    fineness: f64,
) -> Option<f64> {
    tree.slots().next()?;
    let search = Search {
        field,
        tree,
        // An error leaves the surface unknown in a band of that width, so smaller cells resolve no
        // more. Nor do they matter beside the radius itself.
        smallest: f64::max(0.25 * f64::from(field.error_bound()), 0.05 * fineness),
    };
    // Split the bounds into enough cells for all cores.
    let mut cells = vec![bounds];
    while cells.len() < MANY {
        let parts: Vec<Aabb> = (cells.iter().flat_map(|&cell| octants(cell)))
            .filter(|&cell| may_cross(field, cell))
            .collect();
        // No cell is left, or cells are too small to be halved.
        if parts.is_empty() || cells[0].diagonal() <= f32::MIN_POSITIVE {
            break;
        }
        if f64::from(parts[0].diagonal()) <= fineness {
            cells = parts;
            break;
        }
        cells = parts;
    }
    // Search the cells, block by block.
    let (mut lower, mut proven) = (fineness, fineness);
    for block in cells.chunks(BLOCK) {
        let found = threads::map(block.len(), |index| {
            search.within(block[index], lower, proven)
        });
        for (own_lower, own_proven) in found {
            lower = lower.max(own_lower);
            proven = proven.max(own_proven);
        }
    }
    let largest = bounds.min.abs().max(bounds.max.abs()).max_element();
    Some(proven.max((1.0 + SLACK) * lower) + 16.0 * f64::EPSILON * f64::from(largest))
}

/// Search for the point of the surface that is farthest from the points.
struct Search<'a> {
    field: &'a dyn Field,
    tree: &'a PointTree,
    /// Diagonal of cells that are not halved again \[m\].
    smallest: f64,
}

impl Search<'_> {
    /// Returns the largest distance of the surface in a cell from the points, both found (a lower
    /// bound) and proven (an upper bound) \[m\].
    ///
    /// `lower` and `proven` are those of other cells, and the results are at least these. The
    /// proven distance counts only where it exceeds `lower` with its slack.
    fn within(&self, cell: Aabb, mut lower: f64, mut proven: f64) -> (f64, f64) {
        let mut cells = vec![(cell, 0)];
        while let Some((cell, guess)) = cells.pop() {
            if !may_cross(self.field, cell) {
                continue;
            }
            let center = cell.center();
            let Some(near) = self.tree.nearest(center.as_dvec3(), &[guess]) else {
                continue;
            };
            let point = self.tree.point(near.slot);
            let farthest = |far: f64, corner: Vec3| far.max(point.distance(corner.as_dvec3()));
            let upper = cell.corners().into_iter().fold(0.0, farthest);
            if upper <= proven.max((1.0 + SLACK) * lower) {
                continue;
            }
            let diagonal = f64::from(cell.diagonal());
            let distance = near.distance_squared.sqrt();
            let is_fine = diagonal <= 2.0 * SLACK * distance || diagonal <= self.smallest;
            // Halving the interval between adjacent `f32` values makes it no smaller.
            let extents = cell.extents().max_element();
            let is_last = extents <= 4.0 * f32::EPSILON * center.abs().max_element();
            if is_fine || is_last {
                proven = f64::max(proven, upper);
                continue;
            }
            if diagonal <= distance {
                let on = project(self.field, center, tolerance(self.field, cell.diagonal()));
                if let Some(on) = on.filter(|on| on.distance(center) <= cell.diagonal()) {
                    let on = self.tree.nearest(on.as_dvec3(), &[near.slot]);
                    let found = on.map_or(0.0, |found| found.distance_squared.sqrt());
                    lower = lower.max(found);
                }
            }
            cells.extend(octants(cell).map(|part| (part, near.slot)));
        }
        (lower, proven)
    }
}
