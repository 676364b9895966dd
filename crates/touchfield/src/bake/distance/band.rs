//! The band of nodes near the surface whose distance is exact, and the bounds that it proves for
//! all other nodes.
//!
//! Input: a grid, the AABB of the mesh; node values that are exact in the band and NaN beyond it.
//! Output: bounds of the true distance beyond the band, the signs there, and both parts joined.
//! Cost: two passes over the nodes.
//! Not for: signs of open surfaces, which do not follow from neighbours.
//!
//! Let w be the width of the band, x a node beyond it, p its nearest point on the surface, and q
//! the point of the segment from p to x that is w/2 from p. Some node y lies within r of q, r being
//! half a cell's diagonal. Its distance is at most w/2 + r ≤ w, so y is in the band. Over all y
//! within r of q and all x at least w/2 beyond q, the detour by y is longest when y is beside q and
//! x as near as possible:
//!
//! ```text
//! |x − y| + d(y) ≤ |x − y| + |y − p| ≤ d(x) + δ      δ = √(w² + 4r²) − w
//! d(x) ≤ |x − y| + d(y)                              for every y
//! ```
//!
//! Hence the minimum of |x − y| + d(y) over the band is d(x) to within δ. A chamfer distance C
//! overestimates |x − y| by a factor of at most κ, and so C/κ − δ ≤ d(x) ≤ C.

use glam::DVec3;

use crate::field::GridLayout;
use crate::geom::DAabb;

/// Width of the band \[cells\]. Tuned: 2 makes δ 0.65 of a cell instead of 0.46, 5 makes it 0.29
/// for twice the band.
const WIDTH: f64 = 3.0;

/// The band of one grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Band {
    /// Width of the band: nodes within this distance are in it \[m\].
    pub(crate) width: f64,
    /// δ \[m\].
    detour: f64,
    /// Relative rounding error of a sum of steps in `f32`.
    rounding: f64,
}

impl Band {
    /// Returns the band of a grid around a mesh with these bounds.
    pub(crate) fn of(layout: &GridLayout, mesh: DAabb) -> Band {
        let cell_size = f64::from(layout.cell_size);
        // Nodes rounded to `f32` may leave a little of the surface outside the grid, and q with it.
        let last = layout.node_position(layout.nodes - glam::UVec3::ONE);
        let below = layout.node_position(glam::UVec3::ZERO) - mesh.min;
        let gap = below.max(mesh.max - last).max(DVec3::ZERO).length();
        let r = 0.5 * 3f64.sqrt() * cell_size + gap;
        let width = f64::max(WIDTH * cell_size, 2.0 * r);
        // No path has more steps than there are nodes along the sides; each rounds its weight and
        // the sum.
        let steps = layout.nodes.as_dvec3().element_sum() + 8.0;
        Band {
            width,
            detour: (width * width + 4.0 * r * r).sqrt() - width,
            rounding: steps * f64::from(f32::EPSILON),
        }
    }

    /// Returns whether a node of this magnitude may lie beyond the band.
    pub(crate) fn is_beyond(&self, magnitude: f32) -> bool {
        f64::from(magnitude) > (1.0 - self.rounding) * self.width
    }

    /// Returns the largest error that magnitudes beyond the band can have, given the chamfer
    /// distances of their nodes \[m\].
    ///
    /// Magnitudes out of bounds are clamped to the bound, because they cannot be right.
    pub(crate) fn certify(&self, magnitudes: &mut [f32], chamfer: &[f32]) -> f64 {
        let mut worst = 0.0f64;
        for (magnitude, &chamfer) in magnitudes.iter_mut().zip(chamfer) {
            if self.is_beyond(chamfer) {
                let [lower, upper] = self.bounds(chamfer);
                let value = f64::from(*magnitude).clamp(lower, upper);
                *magnitude = value as f32;
                worst = worst.max(value - lower).max(upper - value);
            }
        }
        worst
    }

    /// Returns the bounds of the true distance of a node beyond the band, given its chamfer
    /// distance \[m\].
    pub(crate) fn bounds(&self, chamfer: f32) -> [f64; 2] {
        let chamfer = f64::from(chamfer);
        let lower = chamfer * (1.0 - self.rounding) / MOST - self.detour;
        // Every node nearer than that is in the band.
        let lower = lower.max((1.0 - self.rounding) * self.width);
        [lower, (chamfer * (1.0 + self.rounding)).max(lower)]
    }
}

/// Gives every open node the sign of a neighbour. `values` are signed in the band and NaN beyond
/// it, and become ±∞ there.
///
/// Beyond the band the surface is farther than a cell, so neighbours lie on the same side. One pass
/// up along the axes and one down reach every node from every node of the band, without leaving the
/// box of the two.
pub(crate) fn flood_signs(layout: &GridLayout, values: &mut [f32]) {
    let row = layout.nodes.x as usize;
    let plane = row * layout.nodes.y as usize;
    let infinite = |sign: f32| f32::INFINITY.copysign(sign);
    for index in 0..values.len() {
        if !values[index].is_nan() {
            continue;
        }
        let [x, y] = [index % row, index / row % layout.nodes.y as usize];
        let behind = [(x > 0, 1), (y > 0, row), (index >= plane, plane)];
        let known = behind.into_iter().find_map(|(exists, step)| {
            let value = exists.then(|| values[index - step])?;
            (!value.is_nan()).then_some(value)
        });
        if let Some(sign) = known {
            values[index] = infinite(sign);
        }
    }
    for index in (0..values.len()).rev() {
        if !values[index].is_nan() {
            continue;
        }
        let [x, y] = [index % row, index / row % layout.nodes.y as usize];
        let ahead = [
            (x + 1 < row, 1),
            (y + 1 < layout.nodes.y as usize, row),
            (index + plane < values.len(), plane),
        ];
        let known = ahead.into_iter().find_map(|(exists, step)| {
            let value = exists.then(|| values[index + step])?;
            (!value.is_nan()).then_some(value)
        });
        if let Some(sign) = known {
            values[index] = infinite(sign);
        }
    }
}

/// Writes the magnitudes of the band; infinite beyond it.
pub(crate) fn write_magnitudes(values: &[f32], magnitudes: &mut [f32]) {
    for (magnitude, value) in magnitudes.iter_mut().zip(values) {
        *magnitude = if value.is_finite() {
            value.abs()
        } else {
            f32::INFINITY
        };
    }
}

/// Writes the magnitudes beyond the band into `values`, with the signs stored there.
pub(crate) fn join(values: &mut [f32], magnitudes: &[f32]) {
    for (value, &magnitude) in values.iter_mut().zip(magnitudes) {
        if value.is_nan() {
            *value = magnitude;
        } else if value.is_infinite() {
            *value = magnitude.copysign(*value);
        }
    }
}

/// κ: largest ratio of the length of a path along steps to the straight distance.
///
/// The steps cut the directions x ≥ y ≥ z ≥ 0 into four cones of three steps with determinant 1, so
/// that every node of a cone is reached by whole steps of that cone. The length of the path is g·v,
/// with g·v = |v| for the three; and g·v ≤ |g||v|. The largest |g| belongs to (1,0,0), (2,1,0),
/// (2,1,1): g = (1, √5 − 2, √6 − √5).
pub(crate) const MOST: f64 = 1.049_418;

#[cfg(test)]
mod tests {
    use glam::{UVec3, Vec3};

    use super::*;

    fn layout(nodes: UVec3) -> GridLayout {
        GridLayout {
            origin: Vec3::ZERO,
            cell_size: 1.0,
            nodes,
        }
    }

    #[test]
    fn signs_reach_every_node_from_a_single_one() {
        let layout = layout(UVec3::new(4, 5, 6));
        for seed in 0..120 {
            let mut values = vec![f32::NAN; 120];
            values[seed] = -1.0;
            flood_signs(&layout, &mut values);
            assert!(values.iter().all(|&v| v < 0.0), "from node {seed}");
        }
    }

    #[test]
    fn signs_stop_at_a_wall() {
        let layout = layout(UVec3::new(7, 3, 3));
        let mut values = vec![f32::NAN; 63];
        for index in (0..63).filter(|i| i % 7 == 3) {
            values[index] = 0.5;
        }
        for index in (0..63).filter(|i| i % 7 == 4) {
            values[index] = -0.5;
        }
        flood_signs(&layout, &mut values);
        for (index, value) in values.iter().enumerate() {
            assert_eq!(*value < 0.0, index % 7 >= 4, "node {index}: {value}");
        }
    }

    /// Tests the claim about δ with points of the surface anywhere, independently of the band's own
    /// formulas.
    #[test]
    fn some_way_round_by_the_band_is_short_enough() {
        let layout = layout(UVec3::splat(24));
        let band = Band::of(&layout, layout.bounds().as_daabb());
        let mut worst = 0.0f64;
        for turn in 0..400u32 {
            let share = |k: u32| f64::from(turn * k % 397) / 397.0;
            let p = DVec3::new(2.0, 3.0, 4.0) + DVec3::new(share(7), share(31), share(101));
            let x = DVec3::new(
                (12.0 + 10.0 * share(13)).floor(),
                (20.0 * share(57)).floor(),
                (18.0 * share(71)).floor(),
            );
            let distance = x.distance(p);
            if distance <= band.width {
                continue;
            }
            let mut least = f64::INFINITY;
            for (i, j, k) in (0..24 * 24 * 24).map(|n| (n % 24, n / 24 % 24, n / 576)) {
                let y = UVec3::new(i, j, k).as_dvec3();
                if y.distance(p) <= band.width {
                    least = least.min(x.distance(y) + y.distance(p));
                }
            }
            assert!(
                least <= distance + band.detour,
                "{least} for {distance} + {}",
                band.detour
            );
            worst = worst.max(least - distance);
        }
        assert!(worst > 0.02, "the claim was not tried: {worst}");
    }
}
