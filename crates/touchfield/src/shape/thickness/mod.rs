//! How thick the walls of a body are.
//!
//! Input: a field with points on its surface, or the triangles of a closed surface.
//! Output: [`Thickness`]: the least wall that a fast body could pass in a step, and the deepest inside.
//! Cost: a ray per surface point and some dozens per candidate; milliseconds, once per shape.
//! Not for: proofs, and manufacturing rules: it looks at some thousand places.
//!
//! The *chord* of a surface point goes from it straight inward to the other side. It crosses a *wall*
//! where the other side faces the other way and no place nearby is thinner: where chords have a local
//! minimum, the two normals are opposite, as across a plate, a hollow sphere or a tube. Towards the
//! edge of a wedge or the tip of a cone chords only shrink, without a least one that is not zero:
//! those are no walls. A wedge cut off before its edge has one, where it was cut.
//!
//! Chords through triangles are exact. Chords through a grid are resolved from [`RESOLVED_CELLS`] on;
//! a plate thinner than that has the thickness of a cell.

mod of_field;
mod of_surface;

use glam::DVec3;

pub(super) use of_field::FieldChords;
pub(super) use of_surface::SurfaceChords;

/// How thick a body is \[m\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thickness {
    /// Least wall; the diameter of the largest ball found inside where there is none thinner.
    pub wall: f32,
    /// Deepest place inside that was met: the radius of that ball.
    pub deepest: f32,
}

/// Cells from which on a grid tells how long a chord is. Below, values between the two sides of a wall
/// are those of neither; above 3, plates of a few cells would count as one.
pub(super) const RESOLVED_CELLS: f64 = 2.0;

/// Least cosine between a normal and the reverse of that at the other end of its chord: 45°.
/// With less, chords across the corner of a box count and cost time; with more, coarse polygons for
/// round tubes lose theirs.
const OPPOSITE: f64 = 0.7;

/// The same for places beside it: a grid's normals are off by some degrees. With more, the edge of a
/// wedge of 45° is not seen; with none, chords along the end of a tube count.
const NEARLY_OPPOSITE: f64 = 0.5;

/// How far from a place to look for thinner ones, as shares of its chord. The first sees the edge of a
/// wedge of 45° before it is reached, the last the edge of one of 2°.
const AROUND: [f64; 4] = [0.25, 0.5, 1.0, 2.0];

/// Directions in which to look.
const DIRECTIONS: usize = 8;

/// Share of a chord by which another must be shorter to be thinner. Below, facets of round bodies lead
/// astray; above 0.1, wedges of 3° count as plates.
const THINNER: f64 = 0.05;

/// A chord that leads to one this much shorter leads to an edge. Blunt ends of longer tapers are found
/// from places nearer to them.
const TO_AN_EDGE: f64 = 0.125;

/// Steps towards thinner places, at most.
const MOST_STEPS: u32 = 32;

/// Places that are tried, at most, the thinnest first. Bodies all made of edges end here.
const MOST_TRIED: usize = 512;

/// Shares between which two chords of one wall are alike.
const ALIKE: std::ops::Range<f64> = 0.7..1.5;

/// Of the directions around a chord, those with a chord like it, at least, half as far away as it is
/// long: at the edge of a plate there are more. Fewer, and single points make walls.
const WIDE: usize = 3;

/// A place of a surface with its outward unit normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) at: DVec3,
    pub(super) outward: DVec3,
}

/// From a place straight inward to the other side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chord {
    /// \[m\]
    pub(super) length: f64,
    /// Cosine between the normal here and the reverse of that there; 1 for parallel walls.
    pub(super) opposite: f64,
    /// Whether it is long enough to be told.
    pub(super) is_resolved: bool,
}

/// Whatever chords can be measured in.
pub(super) trait Chords {
    /// Returns the chord of a place; `None` where the place does not lie on the surface of the solid,
    /// or nothing lies on the other side.
    fn chord(&self, place: Place) -> Option<Chord>;

    /// Returns the place of the surface nearest to a point.
    fn nearest(&self, point: DVec3) -> Option<Place>;

    /// Returns the thickness that a wall has at least \[m\].
    fn least(&self) -> f64;

    /// Returns how far around an unresolved chord to look for resolved ones \[m\].
    fn blind_reach(&self) -> f64;

    /// Returns the thickness of an unresolved wall \[m\].
    fn unresolved(&self) -> f64;
}

/// Returns the least wall over some places of a surface; `None` where no chord crosses one.
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

/// Goes from a place to thinner ones until there are none: the length of the chord there, or `None`
/// if that way leads to an edge.
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

/// Whether a chord is one of many: a wall as wide as it is thick, and not the tip of a tooth or a
/// sliver between faces that cross.
fn is_wall(chords: &impl Chords, place: Place, chord: Chord) -> bool {
    let around = neighbours(chords, place, 0.5 * chord.length);
    let alike = around.filter(|(_, other)| {
        let is_as_long = ALIKE.contains(&(other.length / chord.length));
        is_as_long && other.opposite >= OPPOSITE
    });
    chord.length >= chords.least() && alike.count() >= WIDE
}

/// Whether all that lies around a place is as thin: a plate, not the edge of something thicker.
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
    // The edge of a wedge has no neighbours: its own normal is neither that of one face nor the other.
    count >= WIDE
}

/// Places of the same face this far from one, with their chords.
fn neighbours<'a>(
    chords: &'a impl Chords,
    place: Place,
    reach: f64,
) -> impl Iterator<Item = (Place, Chord)> + 'a {
    /// Cosine up to which a neighbour belongs to the same face.
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
