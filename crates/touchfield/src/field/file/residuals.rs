//! Residuals of a block's values after prediction from their neighbours.
//!
//! Input: the values of a cube of nodes, x fastest.
//! Output: their third-order mixed differences (along x, then y, then z), folded so that small ones
//! of either sign have high bits of zero; or the inverse.
//! Cost: three passes in place.
//! Not for: `f32`, which `blocks.rs` filters as it goes.
//!
//! Where the distance is linear, all residuals but those on the axes are zero. The bunny at 1024³,
//! 16 bits: 135 MB become 76 MB.

/// Converts values to residuals; `row` is the number of nodes along a side.
pub(super) fn of_words(values: &mut [u16], row: usize) {
    differences(values, row, u16::wrapping_sub);
    for value in values {
        *value = (*value << 1) ^ ((*value as i16 >> 15) as u16);
    }
}

/// Converts residuals to values; the inverse of [`of_words`].
pub(super) fn to_words(values: &mut [u16], row: usize) {
    for value in values.iter_mut() {
        *value = (*value >> 1) ^ (*value & 1).wrapping_neg();
    }
    sums(values, row, u16::wrapping_add);
}

/// Converts 8-bit values to residuals, as [`of_words`] does.
pub(super) fn of_bytes(values: &mut [u8], row: usize) {
    differences(values, row, u8::wrapping_sub);
    for value in values {
        *value = (*value << 1) ^ ((*value as i8 >> 7) as u8);
    }
}

/// Converts 8-bit residuals to values, as [`to_words`] does.
pub(super) fn to_bytes(values: &mut [u8], row: usize) {
    for value in values.iter_mut() {
        *value = (*value >> 1) ^ (*value & 1).wrapping_neg();
    }
    sums(values, row, u8::wrapping_add);
}

fn differences<T: Copy>(values: &mut [T], row: usize, minus: impl Fn(T, T) -> T) {
    for stride in [1, row, row * row] {
        for index in (stride..values.len()).rev() {
            if index / stride % row > 0 {
                values[index] = minus(values[index], values[index - stride]);
            }
        }
    }
}

fn sums<T: Copy>(values: &mut [T], row: usize, plus: impl Fn(T, T) -> T) {
    for stride in [row * row, row, 1] {
        for index in stride..values.len() {
            if index / stride % row > 0 {
                values[index] = plus(values[index], values[index - stride]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bit_is_lost(values in prop::collection::vec(any::<u16>(), 125)) {
            let mut words = values.clone();
            of_words(&mut words, 5);
            to_words(&mut words, 5);
            prop_assert_eq!(&words, &values);
            let values: Vec<u8> = values.iter().map(|&value| value as u8).collect();
            let mut bytes = values.clone();
            of_bytes(&mut bytes, 5);
            to_bytes(&mut bytes, 5);
            prop_assert_eq!(bytes, values);
        }
    }

    #[test]
    fn a_plane_leaves_its_slopes_only() {
        let mut values: Vec<u16> = (0..27)
            .map(|i| 1000 + 3 * (i % 3) + 5 * (i / 3 % 3) + 7 * (i / 9))
            .collect();
        of_words(&mut values, 3);
        let mut expected = [0; 27];
        (expected[0], expected[1], expected[2]) = (2000, 6, 6);
        (expected[3], expected[6], expected[9], expected[18]) = (10, 10, 14, 14);
        assert_eq!(values, expected);
    }
}
