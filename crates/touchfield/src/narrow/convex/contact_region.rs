//! Where two convex bodies touch: the corners of the region in which a face, an edge or a corner of one lies over one of the other.
//!
//! Input: a pair, and its [`Touch`]. Output: contacts at the corners of the region; at least one.
//! Cost: the corners of one face times those of the other; no allocation once the buffers have grown.
//! Not for: choosing few of many, which is `manifold::reduce`'s.
//!
//! The contact region of document 004: the support sets of both bodies along the touching direction, projected on the plane between them
//! and intersected. Faces that lean a little are taken too, or a box on a floor would touch at one corner, then at another; the gap at each corner
//! of the region is measured between the faces as they lean.

use glam::{DVec2, DVec3};

use super::pair::{ConvexPair, Touch};
use crate::contact::{Contact, ContactId};
use crate::shape::convex::SetPoint;

/// Sine of the angle between a face and the plane of contact up to which it counts as lying on it: three degrees. More, and contacts far from the
/// touch are told that never will be; less, and a resting body that rocks by rounding of its solver loses its base.
const LEAN: f64 = 0.05;

/// Buffers that are reused from call to call.
#[derive(Debug, Default)]
pub struct RegionScratch {
    set_a: Vec<SetPoint>,
    set_b: Vec<SetPoint>,
    corners_a: Vec<Corner>,
    corners_b: Vec<Corner>,
}

/// A corner of a support set: in the plane of contact, and along its normal.
#[derive(Clone, Copy, Debug)]
struct Corner {
    place: DVec2,
    height: f64,
    number: u32,
}

/// Appends the contacts of a pair that are at most `max_separation` apart \[m\].
pub fn contact_region(
    pair: &ConvexPair<'_>,
    touch: &Touch,
    max_separation: f64,
    scratch: &mut RegionScratch,
    out: &mut Vec<Contact>,
) {
    let normal = touch.normal;
    let middle = 0.5 * (touch.point_on_a + touch.point_on_b);
    let (u, v) = normal.any_orthonormal_pair();
    let (a, b) = (pair.a(), pair.b());
    let RegionScratch {
        set_a,
        set_b,
        corners_a,
        corners_b,
    } = scratch;
    a.support_set(normal, LEAN, &mut 0, set_a);
    b.set
        .support_set(-b.direction_to_b(normal), LEAN, &mut 0, set_b);
    let flat = |point: DVec3, rounding: f64, number: u32| {
        let off = point - middle;
        Corner {
            place: DVec2::new(off.dot(u), off.dot(v)),
            height: off.dot(normal) + rounding,
            number,
        }
    };
    let (radius_a, radius_b) = (f64::from(a.radius()), f64::from(b.set.radius()));
    corners_a.clear();
    corners_a.extend((set_a.iter()).map(|p| flat(p.position, radius_a, p.number)));
    corners_b.clear();
    // Seen from A's side its corners go clockwise: turned around, both go counter-clockwise about the normal.
    corners_b.extend((set_b.iter().rev()).map(|p| flat(b.to_a(p.position), -radius_b, p.number)));
    let sizes = [&*corners_a, &*corners_b].map(|corners| size(corners));
    // Corners this near a border are on it: a share of the larger figure, far above rounding.
    let slack = 1e-9 * sizes[0].max(sizes[1]);
    tidy(corners_a, slack);
    tidy(corners_b, slack);
    let before = out.len();
    let (slope_a, slope_b) = (Slope::of(corners_a), Slope::of(corners_b));
    let mut add = |place: DVec2, id: [u32; 3]| {
        let (low, high) = (slope_a.at(place), slope_b.at(place));
        let separation = high - low;
        if separation <= max_separation {
            let point = middle + place.x * u + place.y * v + 0.5 * (low + high) * normal;
            out.push(Contact {
                point: point.as_vec3(),
                normal: normal.as_vec3(),
                separation: separation as f32,
                id: contact_id(id),
            });
        }
    };
    intersect(corners_a, corners_b, slack, &mut add);
    // A touch at a point, or a region that rounding lost.
    if out.len() == before && touch.separation <= max_separation {
        let numbers = [set_a[0].number, set_b[0].number];
        out.push(Contact {
            point: middle.as_vec3(),
            normal: normal.as_vec3(),
            separation: touch.separation as f32,
            id: contact_id([0, numbers[0], numbers[1]]),
        });
    }
}

/// A height over the plane of contact that is linear in the place.
struct Slope {
    origin: DVec2,
    height: f64,
    gradient: DVec2,
}

impl Slope {
    /// Of a face by its normal, of an edge along it, of a point level.
    fn of(corners: &[Corner]) -> Slope {
        let origin = corners[0];
        let off =
            |corner: &Corner| (corner.place - origin.place).extend(corner.height - origin.height);
        let gradient = match corners.len() {
            1 => DVec2::ZERO,
            2 => {
                let along = off(&corners[1]);
                let run = along.truncate();
                run * (along.z / run.length_squared())
            }
            _ => {
                let normal: DVec3 = (corners[1..].windows(2))
                    .map(|pair| off(&pair[0]).cross(off(&pair[1])))
                    .sum();
                -normal.truncate() / normal.z
            }
        };
        Slope {
            origin: origin.place,
            height: origin.height,
            // Upright or without size: level.
            gradient: if gradient.is_finite() {
                gradient
            } else {
                DVec2::ZERO
            },
        }
    }

    fn at(&self, place: DVec2) -> f64 {
        self.height + self.gradient.dot(place - self.origin)
    }
}

/// Largest coordinate of a figure \[m\].
fn size(corners: &[Corner]) -> f64 {
    let largest = |corner: &Corner| corner.place.abs().max_element();
    corners.iter().map(largest).fold(0.0, f64::max)
}

/// Faces without width become edges, edges without length points.
fn tidy(corners: &mut Vec<Corner>, slack: f64) {
    let first = corners[0];
    let farthest = |from: Corner| {
        let distance = |corner: &&Corner| corner.place.distance_squared(from.place);
        let far = (corners.iter()).max_by(|p, q| distance(p).total_cmp(&distance(q)));
        far.copied().unwrap_or(from)
    };
    let one = farthest(first);
    let other = farthest(one);
    let along = other.place - one.place;
    let is_in_line =
        |corner: &Corner| along.perp_dot(corner.place - one.place).abs() <= slack * along.length();
    if along.length() <= slack {
        corners.truncate(1);
    } else if corners.iter().all(is_in_line) {
        corners.clear();
        corners.extend([one, other]);
    } else {
        corners.dedup_by(|p, q| p.place.distance(q.place) <= slack);
    }
}

/// The corners of what two convex figures of the plane share, each with what makes it: corners of one in the other, and crossings.
fn intersect(a: &[Corner], b: &[Corner], slack: f64, add: &mut impl FnMut(DVec2, [u32; 3])) {
    if a.len() < 2 || b.len() < 2 {
        return;
    }
    for corner in b {
        if holds(a, corner.place, slack) {
            add(corner.place, [1, corner.number, 0]);
        }
    }
    let is_of_b = |place: DVec2| b.iter().any(|corner| corner.place.distance(place) <= slack);
    for corner in a {
        if holds(b, corner.place, slack) && !is_of_b(corner.place) {
            add(corner.place, [2, corner.number, 0]);
        }
    }
    for (from, to) in sides(a) {
        for (low, high) in sides(b) {
            if let Some(place) = crossing([from.place, to.place], [low.place, high.place], slack) {
                add(place, [3, from.number, low.number]);
            }
        }
    }
}

/// The sides of a figure; an edge has one.
fn sides(corners: &[Corner]) -> impl Iterator<Item = (Corner, Corner)> + '_ {
    let count = if corners.len() == 2 { 1 } else { corners.len() };
    (0..count).map(|k| (corners[k], corners[(k + 1) % corners.len()]))
}

/// Whether a place is in a figure, its border included.
fn holds(corners: &[Corner], place: DVec2, slack: f64) -> bool {
    if let [from, to] = corners {
        let along = to.place - from.place;
        let share = (place - from.place).dot(along) / along.length_squared();
        let foot = from.place + share.clamp(0.0, 1.0) * along;
        return foot.distance(place) <= slack;
    }
    sides(corners).all(|(from, to)| {
        let along = to.place - from.place;
        along.perp_dot(place - from.place) >= -slack * along.length()
    })
}

/// Where two sides cross inside both; ends are corners, told by themselves.
fn crossing([from, to]: [DVec2; 2], [low, high]: [DVec2; 2], slack: f64) -> Option<DVec2> {
    let (along, other) = (to - from, high - low);
    let turn = along.perp_dot(other);
    let (share, other_share) = (
        (low - from).perp_dot(other) / turn,
        (low - from).perp_dot(along) / turn,
    );
    let inner = |share: f64, length: f64| share * length > slack && (1.0 - share) * length > slack;
    // NaN and infinity of parallel sides are no crossing.
    (inner(share, along.length()) && inner(other_share, other.length()))
        .then(|| from + share * along)
}

/// One number of three, the same for the same three. [Steele2014]'s finaliser.
fn contact_id([kind, first, second]: [u32; 3]) -> ContactId {
    let mut z = u64::from(kind) << 62 ^ u64::from(first) << 31 ^ u64::from(second);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ContactId((z ^ (z >> 31)) as u32)
}
