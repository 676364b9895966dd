//! Contact region of two convex bodies: the corners of the region in which a face, an edge or a
//! corner of one lies over one of the other.
//!
//! Input: a pair, and its [`Touch`].
//! Output: contacts at the corners of the region; at least one.
//! Cost: the corners of both faces, times their logarithm where they are many; no allocation once
//! the buffers have grown.
//! Not for: choosing few of many contacts (see `manifold::reduce`).
//!
//! The contact region of \[Lecture06\]: the support sets of both bodies along the touching
//! direction, projected onto the plane between them and intersected. Slightly tilted faces are
//! included, too; otherwise a box on a floor would touch at one corner, then at another. The gap at
//! each corner of the region is measured between the faces as they are tilted.

use glam::{DVec2, DVec3};

use crate::contact::{Contact, ContactId};
use crate::geom::mixed;
use crate::narrow::convex::pair::{ConvexPair, Touch};
use crate::shape::convex::SetPoint;

/// Sine of the angle between a face and the plane of contact up to which it counts as lying on it:
/// three degrees. A larger value reports contacts far from the touch that never occur; with a
/// smaller one, a resting body that rocks by rounding of its solver loses its base.
const LEAN: f64 = 0.05;

/// Scratch buffers of [`contact_region`], reused from call to call.
#[derive(Debug, Default)]
pub struct RegionScratch {
    set_a: Vec<SetPoint>,
    set_b: Vec<SetPoint>,
    corners_a: Vec<Corner>,
    corners_b: Vec<Corner>,
    sweep: Sweep,
}

/// A corner of a support set, by its place in the plane of contact and its height along the normal.
#[derive(Clone, Copy, Debug)]
struct Corner {
    place: DVec2,
    height: f64,
    number: u32,
}

/// Appends the contacts of a pair that are at most `max_separation` \[m\] apart.
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
        sweep,
    } = scratch;
    // Project the support sets of both bodies onto the plane of contact.
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
    // Seen from A's side the corners of B run clockwise. In reverse, both run counter-clockwise
    // about the normal.
    corners_b.extend((set_b.iter().rev()).map(|p| flat(b.to_a(p.position), -radius_b, p.number)));
    let sizes = [&*corners_a, &*corners_b].map(|corners| size(corners));
    // Corners this near a border count as on it: a fraction of the larger figure, far above
    // rounding.
    let slack = 1e-9 * sizes[0].max(sizes[1]);
    tidy(corners_a, slack);
    tidy(corners_b, slack);
    // Intersect the figures, and report a contact at each corner of the intersection.
    let before = out.len();
    let (slope_a, slope_b) = (Slope::of(corners_a), Slope::of(corners_b));
    let mut least = f64::INFINITY;
    let mut add = |[on_a, on_b]: [DVec2; 2], id: [u32; 3]| {
        let (low, high) = (slope_a.at(on_a), slope_b.at(on_b));
        // Between cores that are apart, the sideways distance is a cathetus; for overlapping ones
        // this is an upper bound.
        let between_cores = (high - low + radius_a + radius_b).max(0.0);
        let farther = between_cores.hypot(on_a.distance(on_b)) - between_cores;
        let separation = high - low + farther;
        least = least.min(separation);
        if separation <= max_separation {
            let place = 0.5 * (on_a + on_b);
            let point = middle + place.x * u + place.y * v + 0.5 * (low + high) * normal;
            out.push(Contact {
                point: point.as_vec3(),
                normal: normal.as_vec3(),
                separation: separation as f32,
                id: contact_id(id),
            });
        }
    };
    if !beside(corners_a, corners_b, slack, &mut add) {
        intersect(corners_a, corners_b, slack, sweep, &mut add);
    }
    // The touch may be at a point, or the region may miss it: on a rim between the corners that
    // approximate it, where edges cross at a small angle, or on an edge of a face other than the
    // least tilted one. A millionth is the precision of the touch itself.
    let is_missed = least > touch.separation + 1e-6 * sizes[0].max(sizes[1]);
    if (is_missed || out.len() == before) && touch.separation <= max_separation {
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
    /// Builds the height function: of a face from its normal, of an edge along it, of a point
    /// level.
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
            // Upright, or without size: level.
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

/// Returns the largest coordinate of a figure \[m\].
fn size(corners: &[Corner]) -> f64 {
    let largest = |corner: &Corner| corner.place.abs().max_element();
    corners.iter().map(largest).fold(0.0, f64::max)
}

/// Reduces faces without width to edges, and edges without length to points. Edges begin at the
/// lower number, whichever end is nearer.
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
    if corners.len() == 2 {
        corners.sort_by_key(|corner| corner.number);
    }
}

/// Adds the ends of the part that two edges share, if they are parallel to within [`LEAN`], and
/// returns whether it did.
///
/// Exactly parallel edges would share the part as figures; a rotation by rounding leaves one
/// crossing, and a log on a log would rock on it.
fn beside(
    a: &[Corner],
    b: &[Corner],
    slack: f64,
    add: &mut impl FnMut([DVec2; 2], [u32; 3]),
) -> bool {
    let ([a0, a1], [b0, b1]) = (a, b) else {
        return false;
    };
    let (along_a, along_b) = (a1.place - a0.place, b1.place - b0.place);
    let lengths = along_a.length() * along_b.length();
    if along_a.perp_dot(along_b).abs() > LEAN * lengths {
        return false;
    }
    let way = along_a.normalize_or_zero();
    let at = |[from, to]: [&Corner; 2], share: f64| {
        let [low, high] = [from, to].map(|corner| way.dot(corner.place));
        from.place + (share - low) / (high - low) * (to.place - from.place)
    };
    let end = |corner: &Corner, kind: u32| (way.dot(corner.place), [kind, corner.number, 0]);
    let in_order =
        |p: (f64, [u32; 3]), q: (f64, [u32; 3])| if p.0 <= q.0 { [p, q] } else { [q, p] };
    let [low_a, high_a] = [end(a0, 2), end(a1, 2)];
    let [low_b, high_b] = in_order(end(b0, 1), end(b1, 1));
    let low = if low_b.0 >= low_a.0 { low_b } else { low_a };
    let high = if high_b.0 <= high_a.0 { high_b } else { high_a };
    if high.0 - low.0 <= slack {
        return false;
    }
    for (share, id) in [low, high] {
        add([at([a0, a1], share), at([b0, b1], share)], id);
    }
    true
}

/// Maximum product of corner counts for which all corners are tested against all sides. Above it,
/// sorting is cheaper.
const FEW: usize = 100;

/// Adds the corners of the intersection of two convex figures, each with an id of its origin:
/// corners of one in the other, and crossings.
fn intersect(
    a: &[Corner],
    b: &[Corner],
    slack: f64,
    sweep: &mut Sweep,
    add: &mut impl FnMut([DVec2; 2], [u32; 3]),
) {
    if a.len() < 2 || b.len() < 2 {
        return;
    }
    match a.len().min(b.len()) < 3 || a.len() * b.len() <= FEW {
        true => intersect_few(a, b, slack, add),
        false => sweep.intersect(a, b, slack, add),
    }
}

/// Tests all corners against all sides.
fn intersect_few(
    a: &[Corner],
    b: &[Corner],
    slack: f64,
    add: &mut impl FnMut([DVec2; 2], [u32; 3]),
) {
    for corner in b {
        if holds(a, corner.place, slack) {
            add([corner.place; 2], [1, corner.number, 0]);
        }
    }
    let is_of_b = |place: DVec2| b.iter().any(|corner| corner.place.distance(place) <= slack);
    for corner in a {
        if holds(b, corner.place, slack) && !is_of_b(corner.place) {
            add([corner.place; 2], [2, corner.number, 0]);
        }
    }
    for (from, to) in sides(a) {
        for (low, high) in sides(b) {
            if let Some(place) = crossing([from.place, to.place], [low.place, high.place], slack) {
                add([place; 2], [3, from.number, low.number]);
            }
        }
    }
}

/// Buffers of a sweep over figures of many corners, from left to right: the sides over one place
/// are found by binary search, and sides are tested only against those that they overlap in x.
#[derive(Debug, Default)]
struct Sweep {
    chains_a: Chains,
    chains_b: Chains,
    /// Pairs of sides of A and B that overlap in x.
    pairs: Vec<[u32; 2]>,
}

/// Sides of a convex figure by the index of their first corner, from left to right: the lower chain
/// counter-clockwise, the upper chain clockwise.
#[derive(Debug, Default)]
struct Chains([Vec<u32>; 2]);

impl Chains {
    /// Fills the chains of a counter-clockwise figure.
    fn sort(&mut self, corners: &[Corner]) {
        let count = corners.len() as u32;
        let x = |k: u32| corners[k as usize].place.x;
        let left = (0..count).fold(0, |least, k| if x(k) < x(least) { k } else { least });
        let right = (0..count).fold(0, |most, k| if x(k) > x(most) { k } else { most });
        let [below, above] = &mut self.0;
        below.clear();
        above.clear();
        below.extend((0..(right + count - left) % count).map(|k| (left + k) % count));
        above.extend((1..=(left + count - right) % count).map(|k| (left + count - k) % count));
    }

    /// Returns whether a place is in the figure, its border included, and whether it is one of its
    /// corners. Only the sides over and under it and their neighbours are tested.
    fn meet(&self, corners: &[Corner], place: DVec2, slack: f64) -> (bool, bool) {
        let (mut is_in, mut is_corner) = (true, false);
        for chain in &self.0 {
            // The first side that ends to the right of the place.
            let end = |&own: &u32| {
                let [from, to] = side(corners, own);
                from.place.x.max(to.place.x)
            };
            let over = chain.partition_point(|own| end(own) < place.x);
            let near = over.saturating_sub(2)..(over + 3).min(chain.len());
            for &own in &chain[near] {
                let [from, to] = side(corners, own).map(|corner| corner.place);
                let along = to - from;
                is_in &= along.perp_dot(place - from) >= -slack * along.length();
                is_corner |= from.distance(place) <= slack || to.distance(place) <= slack;
            }
        }
        (is_in, is_corner)
    }
}

impl Sweep {
    /// Adds the same corners as [`intersect_few`], in the same order.
    fn intersect(
        &mut self,
        a: &[Corner],
        b: &[Corner],
        slack: f64,
        add: &mut impl FnMut([DVec2; 2], [u32; 3]),
    ) {
        let Sweep {
            chains_a,
            chains_b,
            pairs,
        } = self;
        chains_a.sort(a);
        chains_b.sort(b);
        for corner in b {
            if chains_a.meet(a, corner.place, slack).0 {
                add([corner.place; 2], [1, corner.number, 0]);
            }
        }
        for corner in a {
            if chains_b.meet(b, corner.place, slack) == (true, false) {
                add([corner.place; 2], [2, corner.number, 0]);
            }
        }
        pairs.clear();
        for chain_a in &chains_a.0 {
            for chain_b in &chains_b.0 {
                share_stretches(a, chain_a, b, chain_b, pairs);
            }
        }
        pairs.sort_unstable();
        for &[own, other] in &*pairs {
            let ([from, to], [low, high]) = (side(a, own), side(b, other));
            if let Some(place) = crossing([from.place, to.place], [low.place, high.place], slack) {
                add([place; 2], [3, from.number, low.number]);
            }
        }
    }
}

/// Appends all pairs of sides of two chains, from left to right, that overlap in x. Each side
/// follows where the last ends, so there are no more pairs than sides.
fn share_stretches(
    a: &[Corner],
    chain_a: &[u32],
    b: &[Corner],
    chain_b: &[u32],
    out: &mut Vec<[u32; 2]>,
) {
    let end = |corners: &[Corner], own: u32| {
        let [from, to] = side(corners, own);
        from.place.x.max(to.place.x)
    };
    let (mut i, mut j) = (0, 0);
    while let (Some(&own), Some(&other)) = (chain_a.get(i), chain_b.get(j)) {
        out.push([own, other]);
        match end(a, own) < end(b, other) {
            true => i += 1,
            false => j += 1,
        }
    }
}

/// Returns the side that begins at a corner.
fn side(corners: &[Corner], from: u32) -> [Corner; 2] {
    let from = from as usize;
    [corners[from], corners[(from + 1) % corners.len()]]
}

/// Returns the sides of a figure; an edge has one.
fn sides(corners: &[Corner]) -> impl Iterator<Item = (Corner, Corner)> + '_ {
    let count = if corners.len() == 2 { 1 } else { corners.len() };
    (0..count).map(|k| (corners[k], corners[(k + 1) % corners.len()]))
}

/// Returns whether a place is in a figure, its border included.
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

/// Returns the point where two sides cross inside both. Crossings at the ends are excluded, because
/// corners are reported separately.
fn crossing([from, to]: [DVec2; 2], [low, high]: [DVec2; 2], slack: f64) -> Option<DVec2> {
    let (along, other) = (to - from, high - low);
    let turn = along.perp_dot(other);
    let (share, other_share) = (
        (low - from).perp_dot(other) / turn,
        (low - from).perp_dot(along) / turn,
    );
    let inner = |share: f64, length: f64| share * length > slack && (1.0 - share) * length > slack;
    // NaN and infinity, from parallel sides, are not a crossing.
    (inner(share, along.length()) && inner(other_share, other.length()))
        .then(|| from + share * along)
}

/// Hashes three numbers to one id, by the finaliser of [Steele2014].
fn contact_id([kind, first, second]: [u32; 3]) -> ContactId {
    let key = u64::from(kind) << 62 ^ u64::from(first) << 31 ^ u64::from(second);
    ContactId(mixed(key) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Builds a figure of `count` corners on an ellipse, rotated and translated, counter-clockwise;
    /// some sides are upright.
    fn figure(count: usize, axes: DVec2, turn: f64, middle: DVec2) -> Vec<Corner> {
        let place = |k: usize| {
            let on_circle = DVec2::from_angle(k as f64 / count as f64 * std::f64::consts::TAU);
            middle + DVec2::from_angle(turn).rotate(axes * on_circle)
        };
        (0..count)
            .map(|k| Corner {
                place: place(k),
                height: 0.0,
                number: k as u32,
            })
            .collect()
    }

    fn told(
        intersect: impl FnOnce(&mut dyn FnMut([DVec2; 2], [u32; 3])),
    ) -> Vec<([DVec2; 2], [u32; 3])> {
        let mut told = Vec::new();
        intersect(&mut |places, id| told.push((places, id)));
        told
    }

    proptest! {
        #[test]
        fn figures_of_many_corners_share_what_all_corners_against_all_sides_say(
            count_a in 3usize..70, count_b in 3usize..70, axes in prop::array::uniform4(0.01f64..2.0),
            turns in prop::array::uniform2(prop::sample::select(vec![0.0, 1e-12, 0.3, std::f64::consts::FRAC_PI_4, 1.2])), middle in prop::array::uniform2(-1.5f64..1.5),
            is_same in any::<bool>(), is_centred in any::<bool>(),
        ) {
            let a = figure(count_a, DVec2::new(axes[0], axes[1]), turns[0], DVec2::ZERO);
            let middle = if is_centred { DVec2::ZERO } else { DVec2::from_array(middle) };
            // The same figure moved along one of its sides, or another one.
            let b = match is_same {
                true => figure(count_a, DVec2::new(axes[0], axes[1]), turns[0], if is_centred { middle } else { a[1].place - a[0].place }),
                false => figure(count_b, DVec2::new(axes[2], axes[3]), turns[1], middle),
            };
            let slack = 1e-9 * size(&a).max(size(&b));
            let expected = told(|mut add| intersect_few(&a, &b, slack, &mut add));
            let found = told(|mut add| Sweep::default().intersect(&a, &b, slack, &mut add));
            prop_assert_eq!(found, expected);
        }
    }
}
