//! Chords through a field, for bodies without triangles.
//!
//! Input: a field and its cell size.
//! Output: chords.
//! Cost: some dozens of field values per chord.
//! Not for: walls thinner than two cells, which a grid does not resolve.

use glam::{DVec3, Vec3};

use super::{Chord, Chords, Place, RESOLVED_CELLS};
use crate::field::Field;

/// Fraction of the size that replaces the cell size for a closed form. A smaller one costs steps; a
/// larger one misses plates of a thousandth of the size.
const FINEST: f64 = 1e-4;

/// Fraction of the depth by which a step advances: less than 1, because grids are off by a fraction
/// of a cell.
const STEP: f64 = 0.9;

/// Maximum number of steps along a chord.
const MOST_STEPS: u32 = 1024;

/// Number of cells around an unresolved chord within which an edge of 30° becomes thick enough to
/// be resolved.
const BLIND_CELLS: f64 = 6.0;

/// A field in which chords are measured.
pub(in crate::shape) struct FieldChords<'a> {
    field: &'a dyn Field,
    cell: f64,
    size: f64,
}

impl<'a> FieldChords<'a> {
    /// Creates the measurement; `cell_size` is 0 for a closed form.
    pub(in crate::shape) fn new(field: &'a dyn Field, size: f32, cell_size: f32) -> Self {
        let size = f64::from(size);
        FieldChords {
            field,
            cell: f64::from(cell_size).max(FINEST * size),
            size,
        }
    }

    /// Projects a point near the surface onto the field's zero set.
    pub(in crate::shape) fn onto(&self, point: DVec3) -> Option<Place> {
        /// Number of corrections; one is enough where the field is a distance, edges need more.
        const CORRECTIONS: u32 = 4;
        let mut at = point.as_vec3();
        let mut outward = Vec3::ZERO;
        for _ in 0..CORRECTIONS {
            let sample = self.field.sample(at);
            outward = sample.gradient.try_normalize()?;
            at -= sample.distance * outward;
        }
        Some(Place {
            at: at.as_dvec3(),
            outward: outward.as_dvec3(),
        })
    }

    /// Returns the largest depth found along a chord of this length \[m\].
    pub(in crate::shape) fn deepest(&self, place: Place, length: f64) -> f64 {
        /// Number of intervals along the chord.
        const LOOKS: u32 = 16;
        let depths = (1..LOOKS).map(|look| {
            let gone = length * f64::from(look) / f64::from(LOOKS);
            self.depth(place.at - gone * place.outward)
        });
        depths.fold(0.0, f64::max)
    }

    fn depth(&self, point: DVec3) -> f64 {
        -f64::from(self.field.distance(point.as_vec3()))
    }
}

impl Chords for FieldChords<'_> {
    fn chord(&self, Place { at, outward }: Place) -> Option<Chord> {
        let least = 0.5 * self.cell;
        let mut gone = least;
        let mut before = [0.0, 0.0];
        for _ in 0..MOST_STEPS {
            let depth = self.depth(at - gone * outward);
            if depth <= 0.0 {
                // Interpolate linearly between the last two values.
                let [gone_before, depth_before] = before;
                let share = depth_before / (depth_before - depth).max(f64::MIN_POSITIVE);
                let length = gone_before + share.clamp(0.0, 1.0) * (gone - gone_before);
                let there = (at - length * outward).as_vec3();
                let far = self.field.sample(there).gradient.normalize_or_zero();
                return Some(Chord {
                    length,
                    opposite: -far.as_dvec3().dot(outward),
                    is_resolved: length >= RESOLVED_CELLS * self.cell,
                });
            }
            if gone > self.size {
                return None;
            }
            before = [gone, depth];
            gone += (STEP * depth).max(least);
        }
        None
    }

    fn nearest(&self, point: DVec3) -> Option<Place> {
        self.onto(point)
    }

    fn least(&self) -> f64 {
        0.0
    }

    fn blind_reach(&self) -> f64 {
        BLIND_CELLS * self.cell
    }

    fn unresolved(&self) -> f64 {
        self.cell
    }
}
