//! Narrow phase: recursive subdivision of the boxes that both bodies may share, slow, fast or
//! hybrid.
//!
//! Input: a bounded [`Pair`] and a [`Subdivision`].
//! Output: one contact, the remaining boxes, and a proven lower bound of the separation.
//! Cost: two field values per box; slow O(8ᵏ) boxes at depth k, fast O(k), hybrid between.
//! Not for: several contacts at once (see `projection_particles`), or a separation proven from both
//! sides (see `separation`).
//!
//! After \[Adelman\]. We differ:
//!
//! - in what rules a box out: half its diagonal and the error of the fields, not "the size";
//! - in the start: the common part of both boxes;
//! - in "close" (hybrid): judged over all boxes of a level, so that poor branches die;
//! - in the depth: the separation is `2 min max(φA, φB)`, from a descent that starts in the best
//!   box;
//! - in the normal: gradients are averaged around the deepest point, and a body whose gradients
//!   disagree, as on a corner, counts less than the other.

use crate::narrow::method::Descent;
use crate::narrow::method::Subdivision;
use std::time::Instant;

use glam::{UVec3, Vec3};

use crate::geom::Aabb;
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Outcome, Pair};
use crate::narrow::scratch::Scratch;
use crate::narrow::search::boxes::{Boxes, Wanted};
use crate::narrow::search::overlap::{Both, Overlap};

/// Appends the contact, if there is one, and fills the region.
pub(crate) fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    subdivision: &Subdivision,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    check(subdivision)?;
    let Some(overlap) = Overlap::new(pair, settings.max_separation)? else {
        out.region.lower_bound = settings.max_separation;
        return Ok(());
    };
    let start = Instant::now();
    let boxes = &mut scratch.boxes;
    boxes.start(&overlap, UVec3::ONE);
    // Evaluate a level, keep the boxes that the descent follows, halve them, and repeat.
    for level in 0.. {
        boxes.look(&overlap, Wanted::Region, &mut scratch.overlap);
        let Some(best) = boxes.best() else { break };
        match subdivision.descent {
            Descent::Slow => {}
            Descent::Fast => boxes.keep_one(&overlap, best),
            Descent::Hybrid { tolerance } => {
                let side = 2.0 * boxes.half.max_element();
                boxes.keep_below(&overlap, boxes.values[best] + tolerance * side);
            }
        }
        if level == subdivision.depth {
            break;
        }
        let (levels, of) = (level + 1, subdivision.depth + 1);
        if boxes.count_after_split() > u64::from(subdivision.max_boxes) {
            out.outcome = Outcome::TooManyBoxes { levels, of };
            break;
        }
        if settings
            .budget
            .is_some_and(|budget| start.elapsed() > budget)
        {
            out.outcome = Outcome::OutOfTime { levels, of };
            break;
        }
        boxes.split();
    }
    // Report the boxes of the last level, the proven bound, and one contact.
    out.region.boxes = boxes.visited;
    out.region.lower_bound = 2.0 * boxes.lower_bound(&overlap);
    let points = boxes.centers.iter().map(|&center| overlap.to_a(center));
    out.region.points.extend(points);
    contact(&overlap, boxes, subdivision.descent, settings, out);
    Ok(())
}

fn check(subdivision: &Subdivision) -> Result<(), CollideError> {
    if subdivision.depth > Subdivision::DEEPEST {
        return Err(CollideError::BadSetting {
            setting: "depth of subdivision",
            value: subdivision.depth as f32,
            wanted: "at most Subdivision::DEEPEST",
        });
    }
    if let Descent::Hybrid { tolerance } = subdivision.descent
        && !(tolerance >= 0.0 && tolerance.is_finite())
    {
        return Err(CollideError::BadSetting {
            setting: "tolerance of hybrid subdivision",
            value: tolerance,
            wanted: "finite and not negative",
        });
    }
    Ok(())
}

/// Appends one contact for all remaining boxes, if it is within `max_separation`.
fn contact(
    overlap: &Overlap<'_>,
    boxes: &Boxes,
    descent: Descent,
    settings: &CollideSettings,
    out: &mut Contacts,
) {
    let Some(best) = boxes.best() else { return };
    let stride = FIRST_STRIDE * boxes.radius();
    let (mut deepest, mut both) = deepen(overlap, boxes.centers[best], stride);
    let mut point = deepest;
    if descent != Descent::Fast {
        let (middle, at_middle) = middle(overlap, boxes);
        point = midway(overlap, middle, at_middle);
        // On a plateau every point is deepest, and its mean represents it.
        if at_middle.value() <= both.value() + overlap.residual {
            (deepest, both) = (middle, at_middle);
        }
    }
    let separation = 2.0 * both.value();
    out.distance = separation;
    if separation <= settings.max_separation {
        let around = boxes.half.max_element().max(overlap.residual);
        let normal = normal_around(overlap, deepest, around);
        (out.contacts).push(overlap.contact(0, point, normal, separation));
    }
}

/// Returns the mean of all centres. Where that lies outside the region, as in the hole of a ring,
/// returns the centre nearest to it.
fn middle(overlap: &Overlap<'_>, boxes: &Boxes) -> (Vec3, Both) {
    let sum = (boxes.centers.iter()).fold(glam::DVec3::ZERO, |sum, center| sum + center.as_dvec3());
    let mean = (sum / boxes.centers.len() as f64).as_vec3();
    let at_mean = overlap.sample(mean);
    if at_mean.value() <= overlap.reach.max(0.0) + overlap.error() + boxes.radius() {
        return (mean, at_mean);
    }
    let distance = |center: &Vec3| center.distance_squared(mean);
    let nearest = (boxes.centers.iter()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let nearest = nearest.copied().unwrap_or(mean);
    (nearest, overlap.sample(nearest))
}

/// Returns `point` moved to where both bodies are equally far, if that is nearer to both; else
/// `point` itself.
fn midway(overlap: &Overlap<'_>, point: Vec3, both: Both) -> Vec3 {
    let apart = both.first.gradient - both.second.gradient;
    let Some(direction) = apart.try_normalize() else {
        return point;
    };
    let way = (both.first.distance - both.second.distance) / apart.length();
    let moved = point - way * direction;
    if overlap.sample(moved).value() < both.value() {
        moved
    } else {
        point
    }
}

/// First stride of [`deepen`], in half diagonals of the last boxes. The fast descent may have taken
/// a wrong turn at an early level, and where bodies are equally round the best point is far from
/// the best centre. Tuned: from 4 to 16 balls on balls and boxes have similar errors, at 1 five
/// times as much.
const FIRST_STRIDE: f32 = 8.0;

/// Maximum number of steps of [`deepen`]; each halves the stride or moves to a lower value.
const DEEPEN_STEPS: u32 = 40;

/// Minimises `max(φA, φB)` by descent from `point`, in strides of at most `stride` \[m\]. Returns
/// the lowest point and its samples.
fn deepen(overlap: &Overlap<'_>, point: Vec3, mut stride: f32) -> (Vec3, Both) {
    let (mut point, mut both) = (point, overlap.sample(point));
    let shortest = 0.25 * overlap.residual;
    for _ in 0..DEEPEN_STEPS {
        if stride < shortest {
            break;
        }
        let (first, second) = (both.first, both.second);
        // Go to where both bodies are equally far, then along the direction that lowers both
        // distances.
        let apart = first.gradient - second.gradient;
        let down = -(first.gradient + second.gradient);
        let way = (first.distance - second.distance) / apart.length_squared().max(f32::EPSILON);
        let level = point - (way * apart).clamp_length_max(stride);
        let candidates = [
            level + stride * down.normalize_or_zero(),
            level,
            point + (down * stride).clamp_length_max(stride),
        ];
        let found = candidates
            .map(|candidate| (candidate, overlap.sample(candidate)))
            .into_iter()
            .min_by(|a, b| a.1.value().total_cmp(&b.1.value()));
        match found {
            Some((lower, at_lower)) if at_lower.value() < both.value() => {
                // A tiny gain does not justify another stride of the same length.
                if at_lower.value() > both.value() - 0.1 * stride {
                    stride *= 0.5;
                }
                (point, both) = (lower, at_lower);
            }
            _ => stride *= 0.5,
        }
    }
    (point, both)
}

/// Returns the unit normal at `point`, from the first body to the second.
///
/// Gradients are averaged over the corners of a box around `point`, and each body is weighted by
/// how well its own gradients agree: a mean vector of length m has a spread of about 1 − m, and
/// each mean counts by the reciprocal of its spread.
fn normal_around(overlap: &Overlap<'_>, point: Vec3, half: f32) -> Vec3 {
    let mut sums = [Vec3::ZERO; 2];
    for corner in Aabb::from_center(point, Vec3::splat(half)).corners() {
        let both = overlap.sample(corner);
        sums[0] += both.first.gradient / 8.0;
        sums[1] += both.second.gradient / 8.0;
    }
    // Below this spread directions are off by less than 3°, and both bodies count equally.
    const SPREAD: f32 = 1e-3;
    let weighted = |mean: Vec3| mean / ((1.0 - mean.length()).max(0.0) + SPREAD);
    (weighted(sums[0]) - weighted(sums[1]))
        .try_normalize()
        .or_else(|| sums[0].try_normalize())
        .unwrap_or_else(|| overlap.apart())
}
