//! How far the interpolant of a cell can be from the true distance: proven, and far tighter than Lipschitz where the surface is smooth.
//!
//! Input: a closed surface, a cell, the exact distances of its corners and the faces nearest to them.
//! Output: a bound of |interpolated − true| over the whole cell \[m\].
//! Cost: from a few dozen products to one search of the faces near the cell.
//! Not for: surfaces with holes, beside which the field is no distance; and rounding, which the caller adds.
//!
//! With h the side of the cell, xᵢ its corners, dᵢ the distances there, wᵢ the weights of the interpolation and I = Σ wᵢ dᵢ:
//!
//! 1. *Lipschitz.* Always: half a diagonal, √3/2 h (see `check.rs`).
//! 2. *Far.* Let no corner be nearer than m > √3/2 h, so that the cell is all on one side. The squared distance to any set less |x|² is
//!    concave, so d² ≥ Σ wᵢ dᵢ² − Σ wᵢ |x − xᵢ|² ≥ I² − ¾ h²; hence I − d ≤ m − √(m² − ¾ h²). And the distance to a point y or a face
//!    is convex: d ≤ |x − y| ≤ Σ wᵢ |xᵢ − y|; hence d − I ≤ maxᵢ (|xᵢ − y| − dᵢ), for whatever y is best. With two of them, y and z, the
//!    smaller is at most any mean: d − I ≤ maxᵢ (λ |xᵢ − y| + (1 − λ) |xᵢ − z| − dᵢ). That halves the error of a cell between two walls.
//! 3. *Flat.* Let T be the faces that can be nearest somewhere in the cell, all with normals within ψ < 45° of a direction m, and none
//!    of them inside another solid. Where the nearest point of x is y on the face T, or on an edge or at a vertex of it, the way x − y makes
//!    an angle of at most ψ with ±m: else one of the faces around y would lead nearer. So the height of x over the plane of T differs from the
//!    distance by at most (1 − cos 2ψ) d; and the interpolant differs from that height, which is linear, by no more than it
//!    does at the corners.

use glam::{DVec3, UVec3};

use super::patches::Patches;
use crate::geom::corner;
use crate::mesh::Bvh;

/// Proves errors of cells over one closed surface.
pub(super) struct CellProver<'a> {
    pub(super) bvh: &'a Bvh,
    pub(super) patches: &'a Patches,
}

/// A cube to interpolate in. Corners count x in bit 0, y in bit 1, z in bit 2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// The lowest corner \[m\].
    pub(super) low: DVec3,
    /// Side \[m\].
    pub(super) size: f64,
    /// Signed distances of the corners \[m\].
    pub(super) values: [f64; 8],
    /// The face nearest to each corner.
    pub(super) faces: [u32; 8],
}

impl Cell {
    fn corner(&self, i: usize) -> DVec3 {
        self.low + self.size * corner(UVec3::ZERO, i).as_dvec3()
    }

    fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|i| self.corner(i))
    }

    /// The interpolant, at a place from 0 to 1 along each side \[m\].
    pub(super) fn interpolated(&self, place: DVec3) -> f64 {
        let along = |a: f64, b: f64, t: f64| a + t * (b - a);
        let v = &self.values;
        let row = |i: usize| along(v[i], v[i + 1], place.x);
        let plane = |i: usize| along(row(i), row(i + 2), place.y);
        along(plane(0), plane(4), place.z)
    }

    /// The least distance of a corner from the surface \[m\].
    pub(super) fn nearest(&self) -> f64 {
        (self.values.iter()).fold(f64::INFINITY, |nearest, value| nearest.min(value.abs()))
    }

    /// The largest.
    pub(super) fn farthest(&self) -> f64 {
        (self.values.iter()).fold(0.0, |farthest, value| value.abs().max(farthest))
    }

    /// From the middle to a corner \[m\].
    fn half_diagonal(&self) -> f64 {
        0.5 * 3f64.sqrt() * self.size
    }
}

impl CellProver<'_> {
    /// A bound of the error in a cell. Does not try for better once it is at most `enough`.
    pub(super) fn error(&self, cell: &Cell, enough: f64) -> f64 {
        let lipschitz = cell.half_diagonal();
        if lipschitz <= enough {
            return lipschitz;
        }
        let nearest = cell.nearest();
        let mut best = lipschitz;
        if nearest > lipschitz {
            best = best.min(self.far(cell, nearest, enough));
        }
        /// Cells away up to which the surface is looked at; farther away it looks bent more than it is near.
        const NEAR: f64 = 4.0;
        if best > enough && nearest < NEAR * cell.size {
            best = best.min(self.flat(cell).unwrap_or(f64::INFINITY));
        }
        best
    }

    /// The second bound; no corner is nearer than `nearest`, which exceeds half a diagonal.
    fn far(&self, cell: &Cell, nearest: f64, enough: f64) -> f64 {
        let above = nearest - (nearest * nearest - 0.75 * cell.size * cell.size).sqrt();
        if above > cell.half_diagonal() {
            return above;
        }
        let enough = enough.max(above);
        let corners = cell.corners();
        let triangles = self.bvh.triangles();
        // Corners mostly share their nearest faces.
        let is_first = |i: &usize| !cell.faces[..*i].contains(&cell.faces[*i]);
        let excess = |distance: &dyn Fn(DVec3) -> f64| -> [f64; 8] {
            std::array::from_fn(|i| distance(corners[i]) - cell.values[i].abs())
        };
        // Points are quicker to measure to, faces are nearer.
        let by_points = (0..8).filter(is_first).map(|i| {
            let point = triangles[cell.faces[i] as usize]
                .closest_point(corners[i])
                .point;
            excess(&|x| x.distance(point))
        });
        let mut best = least_excess(by_points, enough);
        if best > enough {
            let by_faces = (0..8).filter(is_first).map(|i| {
                let triangle = triangles[cell.faces[i] as usize];
                excess(&|x| triangle.closest_point(x).point.distance(x))
            });
            best = best.min(least_excess(by_faces, enough));
        }
        above.max(best)
    }

    /// The third bound; `None` where it does not apply.
    fn flat(&self, cell: &Cell) -> Option<f64> {
        /// More faces than this are not flat, or are far smaller than the cell.
        const MOST_FACES: usize = 48;
        let radius = cell.half_diagonal();
        let center = cell.low + DVec3::splat(0.5 * cell.size);
        let corners = cell.corners();
        // The distance to one face is convex, so nowhere in the cell is it larger than at the worst corner; and no point is farther from
        // the surface than from that face.
        let first = (0..8).min_by(|&i, &j| cell.values[i].abs().total_cmp(&cell.values[j].abs()));
        let rival = self.bvh.triangles()[cell.faces[first?] as usize];
        let farthest = (corners.iter())
            .map(|&corner| rival.closest_point(corner).point.distance(corner))
            .fold(0.0, f64::max);
        let reach = farthest + radius;
        let mut faces = Vec::with_capacity(MOST_FACES);
        if !self.bvh.faces_within(center, reach, MOST_FACES, &mut faces) {
            return None;
        }
        let mut sum = DVec3::ZERO;
        let mut off_plane: f64 = 0.0;
        for &face in &faces {
            if !self.patches.is_plain(face) {
                return None;
            }
            let triangle = self.bvh.triangles()[face as usize];
            let normal = triangle.normal()?;
            sum += normal;
            for (&corner, value) in corners.iter().zip(&cell.values) {
                off_plane = off_plane.max((normal.dot(corner - triangle.a) - value).abs());
            }
        }
        let middle = sum.try_normalize()?;
        let cosine = (faces.iter())
            .filter_map(|&face| self.bvh.triangles()[face as usize].normal())
            .map(|normal| normal.dot(middle))
            .fold(1.0, f64::min);
        // 1 − cos 2ψ, up to 45°.
        let bend = 2.0 * (1.0 - cosine * cosine);
        if cosine <= std::f64::consts::FRAC_1_SQRT_2 {
            return None;
        }
        Some(off_plane + bend * farthest)
    }
}

/// The least bound of d − I that follows from what is near, given by how much farther it is from each corner than the surface: from one
/// of them, or from a mean of two. Stops at the first that is at most `enough`.
fn least_excess(near: impl Iterator<Item = [f64; 8]>, enough: f64) -> f64 {
    let largest = |excess: &[f64; 8]| excess.iter().copied().fold(0.0, f64::max);
    let mut best = f64::INFINITY;
    let mut seen: [[f64; 8]; 8] = [[0.0; 8]; 8];
    for (count, excess) in near.enumerate().take(8) {
        best = best.min(largest(&excess));
        for other in &seen[..count] {
            // Where one of the two is right at every corner, this share makes both ends equal.
            let (a, b) = (largest(&excess), largest(other));
            let share = if a + b > 0.0 { b / (a + b) } else { 0.5 };
            let mean = std::array::from_fn(|i| share * excess[i] + (1.0 - share) * other[i]);
            best = best.min(largest(&mean));
        }
        if best <= enough {
            break;
        }
        seen[count] = excess;
    }
    best
}
