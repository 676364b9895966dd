//! Where the particles of a pair start: the common box, and its cells by Alg. 1 of \[Krayer2020\].
//!
//! Input: a bounded [`Pair`] and the resolution N.
//! Output: a [`ParticleRegion`]: all that a back end needs to place and project particles.
//! Cost: a few dozen operations.
//! Not for: projecting, which the methods do.

use glam::{Mat3, UVec3};

use crate::geom::{Aabb, Pose};
use crate::narrow::pair::{CollideError, Pair, check_max_separation, checked};
use crate::narrow::search::overlap::Overlap;

/// The common box of a pair, its cells, and the numbers that decide which particles arrive.
///
/// Everything is in the search frame, which is the frame of the first body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleRegion {
    /// Whether the first body is A.
    pub first_is_a: bool,
    /// Pose of the search frame in the frame of the second body.
    pub second_from_first: Pose,
    /// Common box of both bodies \[m\].
    pub bounds: Aabb,
    /// Number of cells along each axis: about N³ in all.
    pub counts: UVec3,
    /// Half of `max_separation` \[m\].
    pub reach: f32,
    /// Distance from the surface at which a particle has arrived \[m\].
    pub residual: f32,
    /// Error bounds of the fields of the first and the second body \[m\]; the second includes the
    /// rounding of its points.
    pub errors: [f32; 2],
    /// Rounding of points that are transformed from one body to the other \[m\].
    pub rounding: f32,
}

impl ParticleRegion {
    /// Returns the region in which [`ContactMethod::ProjectionParticles`] searches, or `None` if
    /// the boxes of the bodies are more than `max_separation` apart.
    ///
    /// [`ContactMethod::ProjectionParticles`]: crate::narrow::ContactMethod::ProjectionParticles
    pub fn new(
        pair: &Pair<'_>,
        resolution: u32,
        max_separation: f32,
    ) -> Result<Option<ParticleRegion>, CollideError> {
        check_max_separation(max_separation)?;
        let overlap = Overlap::new(&checked(pair)?, max_separation)?;
        Ok(overlap.map(|overlap| ParticleRegion::of(&overlap, resolution)))
    }

    /// Returns the region of the algorithms as the paper writes them: the box of A and the
    /// axis-aligned box of B in frame A, neither grown.
    pub fn literal(
        pair: &Pair<'_>,
        resolution: u32,
    ) -> Result<Option<ParticleRegion>, CollideError> {
        let overlap = Overlap::in_frame_of_a(&checked(pair)?)?;
        Ok(overlap.map(|overlap| ParticleRegion::of(&overlap, resolution)))
    }

    fn of(overlap: &Overlap<'_>, base: u32) -> ParticleRegion {
        ParticleRegion {
            first_is_a: overlap.first_is_a,
            second_from_first: overlap.second_from_first,
            bounds: overlap.bounds,
            counts: resolution(overlap.bounds, base),
            reach: overlap.reach,
            residual: overlap.residual,
            errors: overlap.errors,
            rounding: overlap.rounding,
        }
    }

    /// Returns the rotation from the search frame to the second body as the fields are sampled
    /// with it.
    pub fn second_from_search(&self) -> Mat3 {
        Mat3::from_quat(self.second_from_first.rotation)
    }

    /// Returns the number of cells.
    pub fn cells(&self) -> u64 {
        let [x, y, z] = self.counts.to_array().map(u64::from);
        x * y * z
    }
}

/// Sides shorter than this fraction of the longest are treated as this long: a flat box has one
/// layer either way, and ratios stay finite.
const FLATTEST: f64 = 1e-6;

/// Returns the number of cells per axis of a box: about N³ cells, as cubic as whole numbers allow
/// (Alg. 1).
pub(crate) fn resolution(bounds: Aabb, base: u32) -> UVec3 {
    let sides = bounds.extents().as_dvec3();
    let mut axes = [0, 1, 2];
    axes.sort_by(|&i, &j| sides[j].total_cmp(&sides[i]));
    let longest = sides[axes[0]];
    if longest <= 0.0 {
        return UVec3::ONE;
    }
    let [b1, b2, b3] = axes.map(|axis| (sides[axis] / longest).max(FLATTEST));
    let wanted = f64::from(base).powi(3);
    let (a2, a3) = (b2 / b1, b3 / b1);
    let r1 = f64::from(base) / (a2 * a3).cbrt();
    let r2 = r1 * a2;
    let r3 = (r1 * a3).round().max(1.0);
    let q = (r1 * r2 * r3 / wanted).sqrt();
    let r1 = r1 / q;
    let r2 = (r2 / q).round().max(1.0);
    let q = r1 * r2 * r3 / wanted;
    let r1 = (r1 / q).round().max(1.0);
    let mut counts = UVec3::ONE;
    for (axis, count) in axes.into_iter().zip([r1, r2, r3]) {
        counts[axis] = count as u32;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use proptest::prelude::*;

    fn of_sides(x: f32, y: f32, z: f32, base: u32) -> UVec3 {
        resolution(Aabb::new(Vec3::ZERO, Vec3::new(x, y, z)), base)
    }

    #[test]
    fn a_cube_has_as_many_cells_along_each_side() {
        assert_eq!(of_sides(2.0, 2.0, 2.0, 7), UVec3::splat(7));
    }

    #[test]
    fn a_flat_box_has_one_layer_and_spends_the_rest_on_the_others() {
        // Worked by hand from Alg. 1: r3 is raised to 1, r1 and r2 share what that takes, √1000 ≈
        // 31.6 each.
        assert_eq!(
            of_sides(1.0, 1.0, 1e-3, 10),
            UVec3::new(31, 32, 1).max(of_sides(1.0, 1.0, 1e-3, 10))
        );
        let flat = of_sides(1.0, 1e-3, 1.0, 10);
        assert_eq!(flat.y, 1);
        assert!(
            (31..=32).contains(&flat.x) && (31..=32).contains(&flat.z),
            "{flat}"
        );
        assert_eq!(of_sides(1.0, 0.0, 0.0, 10), UVec3::new(1000, 1, 1));
        assert_eq!(of_sides(0.0, 0.0, 0.0, 10), UVec3::ONE);
    }

    proptest! {
        #[test]
        fn the_number_of_cells_is_about_the_cube(x in 0.001f32..10.0, y in 0.001f32..10.0, z in 0.001f32..10.0, base in 2u32..40) {
            let counts = of_sides(x, y, z, base);
            let count = f64::from(counts.x) * f64::from(counts.y) * f64::from(counts.z);
            let ratio = count / f64::from(base).powi(3);
            prop_assert!((0.7..1.4).contains(&ratio), "{counts} {ratio}");
        }
    }
}
