//! Trilinear interpolation in one cell, or in eight at a time.

use crate::geom::lanes::Number;

/// Interpolates between the corners at `fraction`, from 0 to 1 along each axis; bit 0 of a corner's
/// index is x, bit 1 y, bit 2 z.
#[inline(always)]
pub(crate) fn value<N: Number>(c: [N; 8], [x, y, z]: [N; 3]) -> N {
    let low = mix(mix(c[0], c[1], x), mix(c[2], c[3], x), y);
    let high = mix(mix(c[4], c[5], x), mix(c[6], c[7], x), y);
    mix(low, high, z)
}

/// Computes the interpolated [`value`] and its exact slope per cell.
#[inline(always)]
pub(crate) fn value_and_slope<N: Number>(c: [N; 8], [x, y, z]: [N; 3]) -> (N, [N; 3]) {
    let (y0z0, y1z0) = (mix(c[0], c[1], x), mix(c[2], c[3], x));
    let (y0z1, y1z1) = (mix(c[4], c[5], x), mix(c[6], c[7], x));
    let (z0, z1) = (mix(y0z0, y1z0, y), mix(y0z1, y1z1, y));
    let dx_z0 = mix(c[1].sub(c[0]), c[3].sub(c[2]), y);
    let dx_z1 = mix(c[5].sub(c[4]), c[7].sub(c[6]), y);
    let slope = [
        mix(dx_z0, dx_z1, z),
        mix(y1z0.sub(y0z0), y1z1.sub(y0z1), z),
        z1.sub(z0),
    ];
    (mix(z0, z1, z), slope)
}

/// Returns the values at the corners of a cell whose lowest corner is at index `first`, for rows
/// and planes of the given lengths.
#[inline(always)]
pub(crate) fn corners<T: Copy>(values: &[T], first: usize, row: usize, plane: usize) -> [T; 8] {
    let [[a, b], [c, d], [e, f], [g, h]] = corner_pairs(values, first, row, plane);
    [a, b, c, d, e, f, g, h]
}

/// Returns the values at the corners of a cell as in [`corners`], in pairs along x.
#[inline(always)]
pub(crate) fn corner_pairs<T: Copy>(
    values: &[T],
    first: usize,
    row: usize,
    plane: usize,
) -> [[T; 2]; 4] {
    let pair = |start: usize| {
        let pair = &values[start..start + 2];
        [pair[0], pair[1]]
    };
    [
        pair(first),
        pair(first + row),
        pair(first + plane),
        pair(first + plane + row),
    ]
}

#[inline(always)]
fn mix<N: Number>(a: N, b: N, t: N) -> N {
    a.add(b.sub(a).mul(t))
}
