//! The diverging colour map of signed distances: blue inside, near-white at the surface, orange to
//! rust outside.
//!
//! Input: a value in −1..1. Output: an sRGB colour. Cost: a lookup in a table of 1,024 colours.
//! Not for: sequential data.
//!
//! Blue against orange is the pair that remains distinguishable under every common form of colour
//! blindness. Stops are interpolated in Oklab (\[Ottosson2020\]), in which equal steps look equally
//! large, and lightness falls evenly to both ends.

use glam::{Mat3, Vec3};

use super::canvas::{Rgb, linear_from_srgb, srgb_from_linear};

/// Colour stops from the deepest inside to the surface.
const INSIDE: [Rgb; 4] = [
    [8, 44, 92],
    [38, 106, 178],
    [138, 188, 228],
    [250, 250, 247],
];
/// Colour stops from the surface to the farthest outside.
const OUTSIDE: [Rgb; 4] = [
    [250, 250, 247],
    [250, 205, 148],
    [226, 130, 46],
    [128, 48, 6],
];
/// Number of table entries on each side of zero.
const HALF: usize = 512;

/// A colour table over −1..1.
pub(super) struct DivergingMap {
    colours: Vec<Rgb>,
}

impl DivergingMap {
    pub(super) fn new() -> DivergingMap {
        let side = |stops: [Rgb; 4]| {
            (0..HALF).map(move |i| {
                let at = (i as f32 + 0.5) / HALF as f32 * 3.0;
                let stop = (at as usize).min(2);
                let (a, b) = (
                    oklab_from_srgb(stops[stop]),
                    oklab_from_srgb(stops[stop + 1]),
                );
                srgb_from_oklab(a.lerp(b, at - stop as f32))
            })
        };
        DivergingMap {
            colours: side(INSIDE).chain(side(OUTSIDE)).collect(),
        }
    }

    /// Returns the colour of `value`; beyond ±1 the colour of that end.
    pub(super) fn colour(&self, value: f32) -> Rgb {
        // The cast saturates: −∞ is the first entry, +∞ the last, NaN the first (callers mark NaN
        // themselves).
        let index = ((value + 1.0) * HALF as f32) as usize;
        self.colours[index.min(2 * HALF - 1)]
    }
}

/// Cone responses from linear sRGB \[Ottosson2020\].
const LMS_FROM_RGB: Mat3 = Mat3::from_cols_array(&[
    0.412_221_46,
    0.211_903_5,
    0.088_302_46, //
    0.536_332_55,
    0.680_699_5,
    0.281_718_85, //
    0.051_445_995,
    0.107_396_96,
    0.629_978_7,
]);
/// Oklab from the cube roots of the cone responses \[Ottosson2020\].
const OKLAB_FROM_ROOTS: Mat3 = Mat3::from_cols_array(&[
    0.210_454_26,
    1.977_998_5,
    0.025_904_037, //
    0.793_617_8,
    -2.428_592_2,
    0.782_771_77, //
    -0.004_072_047,
    0.450_593_7,
    -0.808_675_77,
]);

fn oklab_from_srgb(colour: Rgb) -> Vec3 {
    let roots = (LMS_FROM_RGB * Vec3::from(colour.map(linear_from_srgb))).map(f32::cbrt);
    OKLAB_FROM_ROOTS * roots
}

fn srgb_from_oklab(colour: Vec3) -> Rgb {
    let roots = OKLAB_FROM_ROOTS.inverse() * colour;
    let light = LMS_FROM_RGB.inverse() * (roots * roots * roots);
    light.to_array().map(srgb_from_linear)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oklab_round_trips() {
        for colour in INSIDE
            .into_iter()
            .chain(OUTSIDE)
            .chain([[0; 3], [255, 0, 9]])
        {
            assert_eq!(srgb_from_oklab(oklab_from_srgb(colour)), colour);
        }
    }

    #[test]
    fn lightness_falls_from_zero_to_both_ends() {
        let map = DivergingMap::new();
        for sign in [-1.0, 1.0] {
            let lightness: Vec<f32> = (0..=40)
                .map(|i| oklab_from_srgb(map.colour(sign * i as f32 / 40.0)).x)
                .collect();
            for pair in lightness.windows(2) {
                assert!(pair[1] < pair[0] + 2e-3, "{sign} {pair:?}");
            }
            assert!(lightness[0] > 0.96 && lightness[40] < 0.45, "{lightness:?}");
        }
    }

    /// Compares the sides as a dichromat sees them, in linear sRGB (Viénot, Brettel and Mollon
    /// 1999).
    #[test]
    fn sides_stay_apart_for_the_colour_blind() {
        let protanope =
            Mat3::from_cols_array(&[0.112, 0.112, 0.004, 0.888, 0.888, -0.004, 0.0, 0.0, 1.0]);
        let deuteranope =
            Mat3::from_cols_array(&[0.293, 0.293, -0.022, 0.707, 0.707, 0.022, 0.0, 0.0, 1.0]);
        let map = DivergingMap::new();
        for seen_from_shown in [protanope, deuteranope] {
            let seen = |value: f32| {
                let light = Vec3::from(map.colour(value).map(linear_from_srgb));
                oklab_from_srgb((seen_from_shown * light).to_array().map(srgb_from_linear))
            };
            for i in 4..=20 {
                let value = i as f32 / 20.0;
                let difference = (seen(value) - seen(-value)).length();
                assert!(difference > 0.08, "{value}: {difference}");
            }
        }
    }

    #[test]
    fn beyond_the_ends_the_end_colour_stays() {
        let map = DivergingMap::new();
        assert_eq!(map.colour(f32::INFINITY), map.colour(1.0));
        assert_eq!(map.colour(f32::NEG_INFINITY), map.colour(-1.0));
        let _ = map.colour(f32::NAN);
    }
}
