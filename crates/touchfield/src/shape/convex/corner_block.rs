//! Corners in blocks of four, tested four at a time.
//!
//! Input: some numbered corners; a direction.
//! Output: the farthest of them along the direction.
//! Cost: a few operations per corner, without data-dependent branches.
//! Not for: all corners of a large hull (see `compass`).

use glam::{DVec3, Vec3};

/// Four corners \[m\], stored coordinate by coordinate, with their numbers. In `f32` a block fills
/// one cache line, for maps with many blocks; in `f64` no conversion is needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CornerBlock<T = f32> {
    x: [T; 4],
    y: [T; 4],
    z: [T; 4],
    numbers: [u32; 4],
}

impl<T: Copy + From<f32> + Into<f64>> CornerBlock<T> {
    /// Creates a block of up to four corners; missing ones repeat the last.
    pub(super) fn of(corners: &[(u32, Vec3)]) -> CornerBlock<T> {
        let four = [0, 1, 2, 3].map(|k: usize| corners[k.min(corners.len() - 1)]);
        CornerBlock {
            x: four.map(|(_, corner)| corner.x.into()),
            y: four.map(|(_, corner)| corner.y.into()),
            z: four.map(|(_, corner)| corner.z.into()),
            numbers: four.map(|(number, _)| number),
        }
    }

    /// Returns how far each corner lies along a direction.
    #[inline(always)]
    fn along(&self, direction: DVec3) -> [f64; 4] {
        let at = |lane: usize| {
            direction.x * self.x[lane].into()
                + direction.y * self.y[lane].into()
                + direction.z * self.z[lane].into()
        };
        [at(0), at(1), at(2), at(3)]
    }

    #[inline(always)]
    fn corner(&self, lane: usize) -> (u32, DVec3) {
        let position = DVec3::new(
            self.x[lane].into(),
            self.y[lane].into(),
            self.z[lane].into(),
        );
        (self.numbers[lane], position)
    }
}

/// Returns the corner farthest along a direction, and its position; the lowest number on ties, if
/// numbers are ascending. There must be at least one block.
#[inline(always)]
pub(super) fn farthest<T: Copy + From<f32> + Into<f64>>(
    blocks: &[CornerBlock<T>],
    direction: DVec3,
) -> (u32, DVec3) {
    let mut most = [f64::NEG_INFINITY; 4];
    let mut found = [0u64; 4];
    for (number, block) in (0..).zip(blocks) {
        let along = block.along(direction);
        for lane in 0..4 {
            let is_higher = along[lane] > most[lane];
            most[lane] = if is_higher { along[lane] } else { most[lane] };
            found[lane] = if is_higher { number } else { found[lane] };
        }
    }
    let larger = |p: f64, q: f64| if p > q { p } else { q };
    let highest = larger(larger(most[0], most[1]), larger(most[2], most[3]));
    let place = |lane: usize| match most[lane] == highest {
        true => 4 * found[lane] + lane as u64,
        false => u64::MAX,
    };
    let first = (place(0).min(place(1))).min(place(2).min(place(3))) as usize;
    blocks[first / 4].corner(first % 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_farthest_is_the_first_that_none_exceeds(
            cells in prop::collection::vec(prop::array::uniform3(-2i8..3), 1..40), direction in prop::array::uniform3(-2i8..3),
        ) {
            // On a lattice many corners are equally far.
            let at = |c: &[i8; 3]| Vec3::from_array(c.map(f32::from));
            let corners: Vec<(u32, Vec3)> = (0..).zip(cells.iter().map(at)).collect();
            let blocks: Vec<CornerBlock> = corners.chunks(4).map(CornerBlock::of).collect();
            let wide: Vec<CornerBlock<f64>> = corners.chunks(4).map(CornerBlock::of).collect();
            let direction = DVec3::from_array(direction.map(f64::from));
            let along = |n: u32| direction.dot(corners[n as usize].1.as_dvec3());
            let (number, position) = farthest(&blocks, direction);
            let expected = (0..corners.len() as u32).fold(0, |best, n| if along(n) > along(best) { n } else { best });
            prop_assert_eq!(number, expected);
            prop_assert_eq!(farthest(&wide, direction), (number, position));
            prop_assert_eq!(position, corners[number as usize].1.as_dvec3());
        }
    }

    #[test]
    fn directions_without_a_direction_have_a_farthest_too() {
        let blocks: [CornerBlock; 1] = [CornerBlock::of(&[(7, Vec3::X), (9, Vec3::Y)])];
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0] {
            assert!([7, 9].contains(&farthest(&blocks, DVec3::splat(bad)).0));
        }
    }
}
