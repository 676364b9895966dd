//! Wall thickness of a body.
//!
//! Input: a field with points on its surface, or the triangles of a closed surface.
//! Output: [`Thickness`]: the thinnest wall, which a fast body could pass through in one step, and
//! the greatest depth inside.
//! Cost: a ray per surface point and some dozens per candidate; milliseconds, once per shape.
//! Not for: proofs, or manufacturing rules: it samples a few thousand places.
//!
//! The *chord* of a surface point goes from it along the inward normal to the opposite side. It
//! crosses a *wall* if the opposite side faces the other way and no place nearby is thinner: where
//! the chord length has a local minimum, the two normals are opposite, as across a plate, a hollow
//! sphere or a tube. Towards the edge of a wedge or the tip of a cone chords shrink to zero without
//! a positive minimum, so these are not walls. A truncated wedge has a wall where it is cut.
//!
//! Chords through triangles are exact. Chords through a grid are resolved from [`RESOLVED_CELLS`]
//! cells on; a plate thinner than that is reported with the thickness of a cell.

mod of_field;
mod of_surface;

use glam::DVec3;

pub(super) use of_field::FieldChords;
pub(super) use of_surface::SurfaceChords;

/// Thickness of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thickness {
    /// Thickness of the thinnest wall \[m\]; if no wall is thinner, the diameter of the largest
    /// ball found inside.
    pub wall: f32,
    /// Largest depth found inside \[m\]: the radius of that ball.
    pub deepest: f32,
}

/// Number of cells from which on a grid resolves the length of a chord. With fewer, values between
/// the two sides of a wall belong to neither side; above 3, plates of a few cells would count as
/// unresolved.
pub(super) const RESOLVED_CELLS: f64 = 2.0;

/// Minimum cosine between a normal and the reversed normal at the other end of its chord: 45°. With
/// a smaller minimum, chords across the corner of a box count and cost time; with a larger one,
/// coarse polygons that approximate round tubes have no walls.
const OPPOSITE: f64 = 0.7;

/// Minimum cosine, as in [`OPPOSITE`], for neighbouring places: a grid's normals are off by some
/// degrees. With a larger value, the edge of a wedge of 45° is missed; with no minimum, chords
/// along the end of a tube count.
const NEARLY_OPPOSITE: f64 = 0.5;

/// Distances from a place at which to search for thinner ones, as fractions of its chord. The first
/// detects the edge of a wedge of 45° before it is reached, the last the edge of one of 2°.
const AROUND: [f64; 4] = [0.25, 0.5, 1.0, 2.0];

/// Number of directions in which to search.
const DIRECTIONS: usize = 8;

/// Fraction by which a chord must be shorter to count as thinner. With less, facets of round bodies
/// mislead the search; above 0.1, wedges of 3° count as plates.
const THINNER: f64 = 0.05;

/// Fraction of its first chord below which a search has run into an edge. Blunt ends of longer
/// tapers are found from places nearer to them.
const TO_AN_EDGE: f64 = 0.125;

/// Maximum number of steps towards thinner places.
const MOST_STEPS: u32 = 32;

/// Maximum number of places tried, the thinnest first. Bodies that consist only of edges reach it.
const MOST_TRIED: usize = 512;

/// Range of length ratios in which two chords belong to one wall.
const ALIKE: std::ops::Range<f64> = 0.7..1.5;

/// Minimum number of directions around a chord that have a similar chord at a distance of half its
/// length; at the edge of a plate there are more. With fewer, single points count as walls.
const WIDE: usize = 3;

/// A place on a surface with its outward unit normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) at: DVec3,
    pub(super) outward: DVec3,
}

/// A line segment from a place along the inward normal to the opposite side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chord {
    /// Length \[m\].
    pub(super) length: f64,
    /// Cosine between the normal here and the reversed normal at the other end; 1 for parallel
    /// walls.
    pub(super) opposite: f64,
    /// Whether the chord is long enough to be resolved.
    pub(super) is_resolved: bool,
}

/// A representation of a body in which chords can be measured.
pub(super) trait Chords {
    /// Returns the chord of a place; `None` if the place does not lie on the surface of the solid,
    /// or there is no opposite side.
    fn chord(&self, place: Place) -> Option<Chord>;

    /// Returns the place of the surface nearest to a point.
    fn nearest(&self, point: DVec3) -> Option<Place>;

    /// Returns the smallest thickness that counts as a wall \[m\].
    fn least(&self) -> f64;

    /// Returns the distance around an unresolved chord within which to search for resolved ones
    /// \[m\].
    fn blind_reach(&self) -> f64;

    /// Returns the thickness of an unresolved wall \[m\].
    fn unresolved(&self) -> f64;
}

/// Returns the thickness of the thinnest wall over some places of a surface; `None` if no chord
/// crosses a wall.
pub(super) fn least_wall(
    chords: &impl Chords,
    places: impl IntoIterator<Item = Place>,
) -> Option<f64> {
    let measured = places.into_iter().filter_map(|place| {
        let chord = chords.chord(place)?;
        (!chord.is_resolved || chord.opposite >= OPPOSITE).then_some((place, chord))
    });
    let mut candidates: Vec<(Place, Chord)> = measured.collect();
    candidates.sort_by(|(_, a), (_, b)| a.length.total_cmp(&b.length));
    let mut tried = candidates.into_iter().take(MOST_TRIED);
    tried.find_map(|(place, chord)| descend(chords, place, chord))
}

/// Moves from a place to thinner ones until there are none. Returns the length of the chord there,
/// or `None` if the search leads to an edge.
fn descend(chords: &impl Chords, mut place: Place, mut chord: Chord) -> Option<f64> {
    let longest = chord.length;
    for _ in 0..MOST_STEPS {
        if !chord.is_resolved {
            return is_plate(chords, place).then(|| chords.unresolved());
        }
        let limit = (1.0 - THINNER) * chord.length;
        let around = AROUND.iter().flat_map(|share| {
            let reach = share * chord.length;
            neighbours(chords, place, reach)
        });
        let thinner = around
            .filter(|(_, other)| other.length < limit)
            .filter(|(_, other)| !other.is_resolved || other.opposite >= NEARLY_OPPOSITE)
            .min_by(|(_, a), (_, b)| a.length.total_cmp(&b.length));
        let Some((next, shorter)) = thinner else {
            return is_wall(chords, place, chord).then_some(chord.length);
        };
        if shorter.length < TO_AN_EDGE * longest {
            return None;
        }
        (place, chord) = (next, shorter);
    }
    None
}

/// Returns whether a chord is one of many similar ones: part of a wall at least as wide as it is
/// thick, and not the tip of a tooth or a sliver between faces that cross.
fn is_wall(chords: &impl Chords, place: Place, chord: Chord) -> bool {
    let around = neighbours(chords, place, 0.5 * chord.length);
    let alike = around.filter(|(_, other)| {
        let is_as_long = ALIKE.contains(&(other.length / chord.length));
        is_as_long && other.opposite >= OPPOSITE
    });
    chord.length >= chords.least() && alike.count() >= WIDE
}

/// Returns whether everything around a place is as thin: a plate, not the edge of something
/// thicker.
fn is_plate(chords: &impl Chords, place: Place) -> bool {
    let reach = chords.blind_reach();
    let around = [0.5, 1.0].into_iter().flat_map(|share| {
        let reach = share * reach;
        neighbours(chords, place, reach)
    });
    let mut count = 0;
    for (_, other) in around {
        if other.is_resolved {
            return false;
        }
        count += 1;
    }
    // The edge of a wedge has no neighbours: its own normal is not that of either face.
    count >= WIDE
}

/// Iterates over the places of the same face at this distance from one, with their chords.
fn neighbours<'a>(
    chords: &'a impl Chords,
    place: Place,
    reach: f64,
) -> impl Iterator<Item = (Place, Chord)> + 'a {
    /// Minimum cosine between the normals of places of the same face.
    const SAME_FACE: f64 = 0.5;
    let along = place.outward.any_orthonormal_pair();
    (0..DIRECTIONS).filter_map(move |index| {
        let angle = std::f64::consts::TAU * index as f64 / DIRECTIONS as f64;
        let wanted = place.at + reach * (angle.cos() * along.0 + angle.sin() * along.1);
        let found = chords.nearest(wanted)?;
        // Beyond the border of the face there is nothing to compare with.
        let is_near = found.at.distance(wanted) <= 0.5 * reach;
        if !is_near || found.outward.dot(place.outward) < SAME_FACE {
            return None;
        }
        Some((found, chords.chord(found)?))
    })
}
