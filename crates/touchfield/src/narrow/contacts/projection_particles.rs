//! Narrow phase: particles projected onto the surface of the intersection of both bodies.
//!
//! Input: a bounded [`Pair`] and [`Particles`].
//! Output: a contact for every particle that arrives, and its place in the region.
//! Cost: two samples per particle and step.
//! Not for: bodies more than `max_separation` apart, where nothing can arrive.
//!
//! After \[Krayer2020\], Alg. 1 and 2, and its future work: quasi-random starts, over-relaxation,
//! one contact per cell, the k deepest. We differ:
//!
//! - in the starts: [`Starts::Seeded`] begins only in cells that the half diagonal does not rule
//!   out, so that nothing is missed down to the cell and no work is spent elsewhere;
//! - in the steps: between nearly parallel sides both tangent planes are used at once;
//! - in what arrives: points inside both bodies move on to the surface, whereas Alg. 2 leaves them
//!   where they start;
//! - in the normal: the gradient of the body in which the particle lies deeper, not always that of
//!   B, so that exchanging A and B only reverses it.
//!
//! `literal_particles` has the algorithms as the paper writes them.
//!
//! A particle lies on the surface of one body, at depth d in the other: `separation = φA + φB`.
//! This is the paper's `min(φA, φB)` when the bodies overlap, and the gap when bodies grown by half
//! of `max_separation` overlap. The deepest is the textbook depth of spheres.

use crate::narrow::method::Particles;
use crate::narrow::method::Starts;
use crate::narrow::scratch::ParticleBuffers;
use std::time::Instant;

use glam::{UVec3, Vec3};

use crate::contact::Contact;
use crate::geom::Aabb;
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Outcome, Pair};
use crate::narrow::scratch::Scratch;
use crate::narrow::search::boxes::{Boxes, Wanted};
use crate::narrow::search::overlap::{Both, Overlap, OverlapBuffers};
use crate::narrow::search::particle_region::resolution;

/// Appends a contact for every particle that arrives, and adds its place to the region.
pub(crate) fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    particles: &Particles,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    check(particles)?;
    let Some(overlap) = Overlap::new(pair, settings.max_separation)? else {
        out.region.lower_bound = settings.max_separation;
        return Ok(());
    };
    let start = Instant::now();
    // Place the particles.
    let counts = resolution(overlap.bounds, particles.resolution);
    let under_way = &mut scratch.particles;
    under_way.places.clear();
    match particles.starts {
        Starts::Uniform => uniform(overlap.bounds, counts, &mut under_way.places),
        Starts::QuasiRandom => quasi_random(overlap.bounds, counts, &mut under_way.places),
        Starts::Seeded => {
            seeded(&overlap, counts, &mut scratch.boxes, &mut scratch.overlap);
            (under_way.places).extend_from_slice(&scratch.boxes.centers);
            out.region.boxes = scratch.boxes.visited;
            out.region.lower_bound = 2.0 * scratch.boxes.lower_bound(&overlap);
        }
    }
    under_way.ids.clear();
    under_way.ids.extend(0..under_way.places.len() as u32);
    let leash = (particles.starts == Starts::Seeded).then(|| Leash {
        starts: &scratch.boxes.centers,
        length: LEASH * scratch.boxes.radius(),
    });
    let motion = Motion { particles, leash };
    // Project all particles until they arrive, the steps are used up, or the budget runs out.
    for step in 0..particles.max_steps {
        if under_way.places.is_empty() {
            break;
        }
        let (levels, of) = (step, particles.max_steps);
        if settings
            .budget
            .is_some_and(|budget| start.elapsed() > budget)
        {
            out.outcome = Outcome::OutOfTime { levels, of };
            break;
        }
        project(&overlap, motion, under_way, &mut scratch.overlap, out);
    }
    // Reduce the contacts, and transform their places to frame A.
    if particles.one_per_cell {
        thin(&overlap, counts, under_way, out);
    }
    if let Some(count) = particles.deepest {
        keep_deepest(count as usize, out);
    }
    let points = out.region.points.iter_mut();
    points.for_each(|point| *point = overlap.to_a(*point));
    Ok(())
}

fn check(particles: &Particles) -> Result<(), CollideError> {
    let Particles {
        resolution,
        relaxation,
        ..
    } = *particles;
    if !(1..=Particles::FINEST).contains(&resolution) {
        return Err(CollideError::BadSetting {
            setting: "resolution of particles",
            value: resolution as f32,
            wanted: "from 1 to Particles::FINEST",
        });
    }
    if !(1.0..2.0).contains(&relaxation) {
        return Err(CollideError::BadSetting {
            setting: "relaxation of particles",
            value: relaxation,
            wanted: "from 1 to less than 2",
        });
    }
    Ok(())
}

fn uniform(bounds: Aabb, counts: UVec3, starts: &mut Vec<Vec3>) {
    let cell = bounds.extents() / counts.as_vec3();
    for z in 0..counts.z {
        for y in 0..counts.y {
            for x in 0..counts.x {
                let place = UVec3::new(x, y, z).as_vec3() + 0.5;
                starts.push(bounds.min + place * cell);
            }
        }
    }
}

/// Appends quasi-random starts: the n-th point is the fractional part of ½ + n/g, n/g², n/g³, where
/// g⁴ = g + 1 \[Roberts2018\]. It is computed in 64-bit fixed point, so that it is the same on
/// every machine.
fn quasi_random(bounds: Aabb, counts: UVec3, starts: &mut Vec<Vec3>) {
    // 2⁶⁴ / g, / g², / g³ with g = 1.22074408460575947536.
    const STEPS: [u64; 3] = [
        15_111_065_706_836_454_659,
        12_378_569_675_163_806_722,
        10_140_184_033_053_478_359,
    ];
    let count = u64::from(counts.x) * u64::from(counts.y) * u64::from(counts.z);
    let extents = bounds.extents();
    for n in 0..count {
        let share = STEPS.map(|step| {
            let fraction = (1u64 << 63).wrapping_add(n.wrapping_mul(step));
            (fraction >> 40) as f32 / (1u32 << 24) as f32
        });
        starts.push(bounds.min + Vec3::from(share) * extents);
    }
}

/// Fills `boxes` with the cells that may hold a piece of the intersection's surface; they are no
/// wider than those of `counts`.
fn seeded(overlap: &Overlap<'_>, counts: UVec3, boxes: &mut Boxes, buffers: &mut OverlapBuffers) {
    // Begin with two to four boxes along the longest axis: a single one would be halved anyway.
    let levels = counts.max_element().ilog2().saturating_sub(1);
    let first = counts.map(|count| count.div_ceil(1 << levels));
    boxes.start(overlap, first);
    boxes.look(overlap, Wanted::Border, buffers);
    for _ in 0..levels {
        boxes.split();
        boxes.look(overlap, Wanted::Border, buffers);
    }
}

/// Maximum distance of seeded particles from their start, in half diagonals of a cell. The surface
/// in a cell is within one half diagonal of its start, so three or four are enough for the path to
/// it. Without a limit, particles of cells that were kept in doubt wander until their steps are
/// used up, which takes longer than all others together.
const LEASH: f32 = 4.0;

/// Settings of the particle motion.
#[derive(Clone, Copy)]
struct Motion<'a> {
    particles: &'a Particles,
    leash: Option<Leash<'a>>,
}

/// Starts of the particles, and how far they may move away from them.
#[derive(Clone, Copy)]
struct Leash<'a> {
    starts: &'a [Vec3],
    length: f32,
}

impl Leash<'_> {
    fn holds(self, place: Vec3, id: u32) -> bool {
        place.distance_squared(self.starts[id as usize]) <= self.length * self.length
    }
}

/// Slopes of a grid below this are those of a kink, not of a distance.
const FLATTEST_SLOPE: f32 = 0.7;

/// Projects every particle once (Alg. 2, lines 3 to 12). Those that have arrived become contacts.
fn project(
    overlap: &Overlap<'_>,
    Motion { particles, leash }: Motion<'_>,
    under_way: &mut ParticleBuffers,
    buffers: &mut OverlapBuffers,
    out: &mut Contacts,
) {
    overlap.sample_many(&under_way.places, buffers);
    // The intersection of nearly parallel planes is badly conditioned; it is trusted up to this
    // distance.
    let longest = leash.map_or(0.25 * overlap.bounds.diagonal(), |leash| leash.length);
    let mut kept = 0;
    for index in 0..under_way.places.len() {
        let place = under_way.places[index];
        let first = buffers.first_samples[index].distance;
        let second = buffers.second_samples[index].distance;
        let outside = first.max(second) - overlap.reach;
        out.distance = out.distance.min(2.0 * first.max(second));
        if outside.abs() <= overlap.residual {
            let both = overlap.both(index, buffers);
            let id = under_way.ids[index];
            out.contacts.push(contact(overlap, id, place, both));
            out.region.points.push(place);
            continue;
        }
        let both = overlap.both(index, buffers);
        let (from, other) = if first >= second {
            (both.first, both.second)
        } else {
            (both.second, both.first)
        };
        // Where the gradient vanishes there is no direction to go, and the particle is dropped.
        let slope = from.gradient.length();
        let Some(direction) = from.gradient.try_normalize() else {
            continue;
        };
        // Grids are slightly flatter than distances, and dividing by the slope arrives sooner. A
        // slope below the limit is that of a kink.
        let outside = outside / slope.max(FLATTEST_SLOPE);
        let way = if outside <= 0.0 {
            -outside * direction
        } else if particles.both_at_once {
            to_both(
                outside,
                direction,
                other.distance - overlap.reach,
                other.gradient,
                longest,
            )
        } else {
            -particles.relaxation * outside * direction
        };
        let (next, id) = (place + way, under_way.ids[index]);
        // Anything farther away belongs to another cell, which has a particle of its own.
        if leash.is_some_and(|leash| !leash.holds(next, id)) {
            continue;
        }
        under_way.places[kept] = next;
        under_way.ids[kept] = id;
        kept += 1;
    }
    under_way.places.truncate(kept);
    under_way.ids.truncate(kept);
}

/// Returns the step into the tangent half-spaces of both bodies, given `distance` and unit
/// `direction` of the body that is farther, and value and gradient of the other.
fn to_both(
    distance: f32,
    direction: Vec3,
    other_distance: f32,
    other_gradient: Vec3,
    longest: f32,
) -> Vec3 {
    let cosine = direction.dot(other_gradient);
    let straight = -distance * direction;
    if other_distance - distance * cosine <= 0.0 {
        return straight;
    }
    // α and β of the step −(α nA + β nB) that ends on both planes.
    let sine_squared = other_gradient.length_squared() - cosine * cosine;
    if sine_squared <= f32::EPSILON {
        return straight;
    }
    let beta = (other_distance - distance * cosine) / sine_squared;
    let sideways = other_gradient - cosine * direction;
    // Twice as far sideways as the planes meet. This leads into the region, not only to its rim.
    // Where round bodies hardly touch, which makes the crossing a double root, it arrives at once
    // instead of by halves.
    straight - (2.0 * beta * sideways).clamp_length_max(longest)
}

/// Returns the contact of a particle on the surface of one body, with the normal along the shortest
/// way out of the other.
fn contact(overlap: &Overlap<'_>, id: u32, place: Vec3, both: Both) -> Contact {
    let (first, second) = (both.first, both.second);
    let difference = first.distance - second.distance;
    // On the rim both ways out are equally long, and the mean direction is used.
    let away = if difference.abs() <= 2.0 * overlap.residual {
        first.gradient - second.gradient
    } else if difference < 0.0 {
        first.gradient
    } else {
        -second.gradient
    };
    let normal = (away.try_normalize())
        .or_else(|| (first.gradient - second.gradient).try_normalize())
        .unwrap_or_else(|| overlap.apart());
    let point = place - 0.5 * difference * normal;
    overlap.contact(id, point, normal, first.distance + second.distance)
}

/// Keeps the deepest contact per cell.
fn thin(overlap: &Overlap<'_>, counts: UVec3, under_way: &mut ParticleBuffers, out: &mut Contacts) {
    let cell = (overlap.bounds.extents() / counts.as_vec3()).max(Vec3::splat(f32::MIN_POSITIVE));
    under_way.cells.clear();
    for (index, &point) in out.region.points.iter().enumerate() {
        let place = ((point - overlap.bounds.min) / cell).floor();
        // Particles may end slightly outside of the box they started in.
        let [x, y, z] = place
            .to_array()
            .map(|c| (c + 1024.0).max(0.0) as u64 & 0x1f_ffff);
        under_way.cells.push((x | y << 21 | z << 42, index as u32));
    }
    let contacts = &out.contacts;
    let depth = |index: u32| {
        let contact = &contacts[index as usize];
        (contact.separation, contact.id)
    };
    under_way.cells.sort_unstable_by(|&(a, i), &(b, j)| {
        let ((s, first), (t, second)) = (depth(i), depth(j));
        a.cmp(&b).then(s.total_cmp(&t)).then(first.cmp(&second))
    });
    under_way.cells.dedup_by_key(|&mut (cell, _)| cell);
    under_way.kept.clear();
    under_way.kept.resize(contacts.len(), false);
    for &(_, index) in &under_way.cells {
        under_way.kept[index as usize] = true;
    }
    let mut kept = under_way.kept.iter();
    out.contacts.retain(|_| kept.next() == Some(&true));
    let mut kept = under_way.kept.iter();
    out.region.points.retain(|_| kept.next() == Some(&true));
}

/// Keeps the `count` deepest contacts.
fn keep_deepest(count: usize, out: &mut Contacts) {
    if count >= out.contacts.len() {
        return;
    }
    if count > 0 {
        (out.contacts).select_nth_unstable_by(count - 1, |a, b| {
            a.separation.total_cmp(&b.separation).then(a.id.cmp(&b.id))
        });
    }
    out.contacts.truncate(count);
}
