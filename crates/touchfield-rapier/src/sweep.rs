//! Times of impact for pairs with a field in them: what Rapier's continuous collision detection asks.
//!
//! Input: how two shapes move. Output: a time until which they do not overlap deeper than their fields can tell, turning included.
//! Cost: some separations for each pair of parts. Not for: bodies that are at rest on each other, which the solver holds.
//!
//! Rapier takes a time of 0 for no hit: bodies that touch at the start would be free to pass through each other within the step, with any corner that does not touch yet.
//! For them the time is that at which they have gone deeper by a share of the thinner one's thickness, and in all by no more than half of it: less than it takes to come
//! out on the wrong side.

use glam::Vec3;
use rapier::math::{Pose as RapierPose, Real, Vector};
use rapier::parry::query::details::ShapeCastOptions;
use rapier::parry::query::{NonlinearRigidMotion, ShapeCastHit, ShapeCastStatus, Unsupported};
use rapier::parry::shape::Shape as RapierShape;
use touchfield::geom::{Aabb, Motion, PairMotion, Pose};
use touchfield::narrow::{Cast, CastOutcome, CastScratch, CastSettings, StartingContact, cast};
use touchfield::pointshell::PointShell;
use touchfield::shape::Shape;

use crate::convert;
use crate::dispatcher::FieldDispatcher;
use crate::meet::name_of;
use crate::partner::{Part, PartKind, child};
use crate::query::{each_pair, moved_box, thick_bodies};

/// Share of the smaller body to which a touch is found: finer costs steps, coarser leaves bodies hovering.
const PRECISION: f32 = 2e-3;

/// Share of the thinner body's thickness to which it is found at least.
const THIN_SHARE: f32 = 0.05;

/// Share of the thinner body's thickness by which bodies in contact may go deeper within a step.
const DEEPER_SHARE: f32 = 0.25;

/// Share of it beyond which they stop where they are.
const DEEPEST_SHARE: f32 = 0.5;

/// Share of the motion that is as good as none, and more than the nothing that Rapier takes for no hit.
const AT_ONCE: f32 = 1e-4;

/// States and boxes that a sweep may look at: some milliseconds.
const MAX_STEPS: u32 = 1_000;
const MAX_BOXES: u64 = 1 << 18;

/// What a sweep is asked.
#[derive(Clone, Copy)]
struct Question {
    target: f32,
    /// Whether a touch at the start is the answer.
    stops_at_start: bool,
}

/// A first touch, as a share of the motion.
#[derive(Clone, Copy)]
struct Hit {
    time: f32,
    point: Vec3,
    normal: Vec3,
    separation: f32,
    is_at_start: bool,
    subshapes: [u32; 2],
    /// Of the first collider at the start and of the part that the point is told in.
    collider_from_a: Pose,
}

/// A sweep of shapes that turn.
pub(crate) fn turning(
    dispatcher: &FieldDispatcher,
    motions: [&NonlinearRigidMotion; 2],
    shapes: [&dyn RapierShape; 2],
    [start, end]: [Real; 2],
    stop_at_penetration: bool,
) -> Result<Option<ShapeCastHit>, Unsupported> {
    if end <= start {
        return Ok(None);
    }
    let origin = motions[0].position_at_time(start).translation;
    let colliders = motions.map(|motion| convert::motion(motion, [start, end], origin));
    let question = Question {
        target: 0.0,
        stops_at_start: stop_at_penetration,
    };
    let hit = first_hit(dispatcher, colliders, shapes, question)?;
    Ok(hit.map(|hit| told(&hit, colliders, start, end - start)))
}

/// A sweep along a straight line.
pub(crate) fn straight(
    dispatcher: &FieldDispatcher,
    pos12: &RapierPose,
    local_vel12: Vector,
    g1: &dyn RapierShape,
    g2: &dyn RapierShape,
    options: ShapeCastOptions,
) -> Result<Option<ShapeCastHit>, Unsupported> {
    // Without an end: as far as the boxes can be apart, and across both.
    let speed = local_vel12.length();
    if speed == 0.0 {
        return Ok(None);
    }
    let boxes = [g1.compute_local_aabb(), g2.compute_aabb(pos12)];
    let reach = boxes[0].extents().length()
        + boxes[1].extents().length()
        + (boxes[0].center() - boxes[1].center()).length();
    let most = reach / speed;
    let duration = if most.is_finite() {
        options.max_time_of_impact.min(most)
    } else {
        options.max_time_of_impact
    };
    if !(duration.is_finite() && duration > 0.0) {
        return Ok(None);
    }
    let second = Motion::straight(convert::pose(pos12), convert::vec3(local_vel12 * duration));
    let colliders = [Motion::still(Pose::IDENTITY), second];
    let question = Question {
        target: convert::float(options.target_distance),
        stops_at_start: options.stop_at_penetration,
    };
    let hit = first_hit(dispatcher, colliders, [g1, g2], question)?;
    Ok(hit.map(|hit| told(&hit, colliders, 0.0, duration)))
}

/// A hit in Rapier's words.
fn told(hit: &Hit, colliders: [Motion; 2], start: Real, duration: Real) -> ShapeCastHit {
    let first_from_second = PairMotion::new(colliders[0], colliders[1]).at(hit.time);
    let second_from_first = first_from_second.inverse();
    let point = hit.collider_from_a.transform_point(hit.point);
    let normal = hit.collider_from_a.transform_vector(hit.normal);
    let half_gap = 0.5 * hit.separation * normal;
    let on_second = second_from_first.transform_point(point + half_gap);
    ShapeCastHit {
        time_of_impact: start + convert::real(hit.time) * duration,
        witness1: convert::vector(point - half_gap),
        witness2: convert::vector(on_second),
        normal1: convert::vector(normal),
        normal2: convert::vector(second_from_first.transform_vector(-normal)),
        status: if hit.is_at_start {
            ShapeCastStatus::PenetratingOrWithinTargetDist
        } else {
            ShapeCastStatus::Converged
        },
        subshape1: hit.subshapes[0],
        subshape2: hit.subshapes[1],
    }
}

/// The first touch over all pairs of parts.
fn first_hit(
    dispatcher: &FieldDispatcher,
    colliders: [Motion; 2],
    [g1, g2]: [&dyn RapierShape; 2],
    question: Question,
) -> Result<Option<Hit>, Unsupported> {
    let mut first: Option<Hit> = None;
    let is_answered = std::cell::Cell::new(false);
    let mut sweep = Sweep {
        dispatcher,
        question,
        scratch: CastScratch::default(),
    };
    each_pair(
        dispatcher,
        [g1, g2],
        |a, b| {
            let motions = [part_motion(colliders[0], a), part_motion(colliders[1], b)];
            let thickness = [thickness_of(a), thickness_of(b)];
            // Triangles are as thick as what meets them.
            let thinner = thickness[0].min(thickness[1]);
            let mut take = |shapes: [&Shape; 2], sweep: &mut Sweep<'_>| {
                let Some(hit) = sweep.of_solids(shapes, motions, thinner) else {
                    return;
                };
                if first.is_none_or(|first| hit.time < first.time) {
                    first = Some(Hit {
                        subshapes: [a.subshape, b.subshape],
                        collider_from_a: a.collider_from_part,
                        ..hit
                    });
                }
            };
            match (a.solid(), b.solid()) {
                (Some(shape_a), Some(shape_b)) => {
                    is_answered.set(true);
                    take([shape_a, shape_b], &mut sweep);
                }
                (Some(shape), None) if matches!(b.kind, PartKind::Triangles) => {
                    is_answered.set(true);
                    let seen = [motions[1], motions[0]];
                    for body in surface_near(child(g2, b.subshape), shape, seen) {
                        take([shape, &body], &mut sweep);
                    }
                }
                (None, Some(shape)) if matches!(a.kind, PartKind::Triangles) => {
                    is_answered.set(true);
                    for body in surface_near(child(g1, a.subshape), shape, motions) {
                        take([&body, shape], &mut sweep);
                    }
                }
                _ => dispatcher.tally().unsupported(name_of(a), name_of(b)),
            }
        },
        // Of a compound with a field in it, the children that Rapier knows are left to its own sweeps.
        |_, _| is_answered.set(true),
    );
    if !is_answered.get() {
        return Err(Unsupported);
    }
    Ok(first)
}

/// The motion of a part of a collider.
fn part_motion(collider: Motion, part: &Part) -> Motion {
    Motion {
        start: collider.start * part.collider_from_part,
        center: (part.collider_from_part.inverse()).transform_point(collider.center),
        ..collider
    }
}

/// The triangles that a moving solid may meet, as thick as the solid is behind.
fn surface_near(surface: &dyn RapierShape, solid: &Shape, motions: [Motion; 2]) -> Vec<Shape> {
    let near = swept_box(motions, solid.solid());
    let surface_from_solid = PairMotion::new(motions[0], motions[1]).at(0.0);
    let middle = surface_from_solid.transform_point(solid.solid().center());
    let thickness = solid.solid().extents().min_element();
    thick_bodies(surface, near, middle, thickness)
}

/// A box, in the frame of a surface, around all that a moving solid may reach.
fn swept_box([surface, solid]: [Motion; 2], bounds: Aabb) -> Aabb {
    /// Poses between which a body that turns is boxed; between two of them it bulges by less than its size times the turn.
    const POSES: u32 = 8;
    let motion = PairMotion::new(surface, solid);
    let turn = (solid.turn - surface.turn).length();
    let bulge = bounds.diagonal() * (turn / POSES as f32).min(1.0);
    let poses = (0..=POSES).map(|step| motion.at(step as f32 / POSES as f32));
    let boxes = poses.map(|surface_from_solid| moved_box(surface_from_solid, bounds));
    boxes.fold(Aabb::EMPTY, Aabb::union).grown(bulge)
}

/// Sweeps of one call.
struct Sweep<'a> {
    dispatcher: &'a FieldDispatcher,
    question: Question,
    scratch: CastScratch,
}

impl Sweep<'_> {
    /// The first touch of two solids.
    fn of_solids(
        &mut self,
        [a, b]: [&Shape; 2],
        motions: [Motion; 2],
        thinner: f32,
    ) -> Option<Hit> {
        let motion = PairMotion::new(motions[0], motions[1]);
        let back = motion.flipped();
        let stays =
            |target: f32| stays_beyond(a, b, &motion, target) || stays_beyond(b, a, &back, target);
        // Those that touch may go deeper by a share: from where the points of their shells are, which the surfaces are no higher than.
        let lowest = f32::min(lowest_at_start(a, b, &motion), lowest_at_start(b, a, &back));
        let target = self.question.target;
        if stays(target)
            || (lowest < 0.0 && !self.question.stops_at_start)
                // In a thin body no point is deeper than half of it, before or behind: deeper than half of that, depth tells nothing.
                && lowest > -0.5 * DEEPEST_SHARE * thinner
                && stays((lowest - DEEPER_SHARE * thinner).max(-0.5 * DEEPEST_SHARE * thinner))
        {
            return None;
        }
        let size = f32::min(size_of(a), size_of(b));
        let mut settings = CastSettings {
            target: self.question.target,
            tolerance: (PRECISION * size).min(THIN_SHARE * thinner),
            max_steps: MAX_STEPS,
            max_boxes: MAX_BOXES,
            start: None,
        };
        let found = self.cast(a, b, &motion, &settings)?;
        let Some(start) = found.start else {
            return self.hit(found);
        };
        let is_parting = start == StartingContact::Separating;
        if self.question.stops_at_start && !is_parting {
            return Some(Hit {
                time: 0.0,
                is_at_start: true,
                ..hit_of(&found)
            });
        }
        // A thin body holds no overlap deeper than itself: beyond half of it, depth tells nothing, and the body goes no farther before it is pushed out.
        let deepest = -DEEPEST_SHARE * thinner;
        if found.separation <= deepest && !is_parting {
            return Some(Hit {
                time: AT_ONCE,
                ..hit_of(&found)
            });
        }
        let deeper = found.separation.min(0.0) - DEEPER_SHARE * thinner;
        settings.target = deeper.max(deepest.min(found.separation - settings.tolerance));
        let deeper = self.cast(a, b, &motion, &settings)?;
        // As deep already, to within tolerance: no farther.
        let deeper = self.hit(deeper).map(|hit| Hit {
            time: hit.time.max(AT_ONCE),
            ..hit
        });
        // What parts at one corner may come down with another, before or after it is free.
        let again = if is_parting && found.outcome == CastOutcome::Hit {
            Some(hit_of(&found))
        } else {
            None
        };
        match (deeper, again) {
            (Some(deeper), Some(again)) if again.time < deeper.time => Some(again),
            (Some(deeper), _) => Some(deeper),
            (None, again) => again,
        }
    }

    fn cast(
        &mut self,
        a: &Shape,
        b: &Shape,
        motion: &PairMotion,
        settings: &CastSettings,
    ) -> Option<Cast> {
        let found = cast(a, b, motion, settings, &mut self.scratch);
        found
            .inspect_err(|error| self.dispatcher.tally().refused(error))
            .ok()
    }

    /// A touch, or the place where the search was given up: a body stops too early rather than too late.
    fn hit(&self, found: Cast) -> Option<Hit> {
        match found.outcome {
            CastOutcome::Hit => Some(hit_of(&found)),
            CastOutcome::GaveUp => {
                self.dispatcher.tally().sweep_given_up();
                Some(hit_of(&found))
            }
            CastOutcome::Free | CastOutcome::Unproven => None,
        }
    }
}

/// Whether B provably stays farther from A than `target` all the time: Rapier sweeps every fast body against every floor, however high above it that is, and
/// most of those that lie on it go nowhere.
///
/// No surface of B is farther from a point of its shell than the covering radius, and no point is farther from where it is at one of some times than it
/// goes in half of the time between two. Without a shell, B is a ball.
fn stays_beyond(a: &Shape, b: &Shape, motion: &PairMotion, target: f32) -> bool {
    /// Times that are looked at: a guess, not tuned. With fewer, bodies that slide are swept; more cost more than the sweeps that they save.
    const TIMES: u32 = 4;
    let bounds = b.solid();
    if !bounds.is_finite() {
        return false;
    }
    let (center, radius) = (bounds.center(), 0.5 * bounds.diagonal());
    let travel = motion.speed_bound(center, radius, [0.0, 1.0]);
    let least = target + a.field().error_bound() + b.field().error_bound();
    let at_start = motion.at(0.0).transform_point(center);
    if a.field().distance(at_start) - radius > least + travel {
        return true;
    }
    let Some(shell) = b.shell() else {
        return false;
    };
    let part = 0.5 / TIMES as f32;
    let least = least + part * travel + shell.covering_radius();
    (0..TIMES).all(|step| {
        let a_from_b = motion.at((2 * step + 1) as f32 * part);
        lowest_of_shell(a, shell, a_from_b, least) > least
    })
}

/// How far the nearest point of B's shell begins from A, infinite without one.
fn lowest_at_start(a: &Shape, b: &Shape, motion: &PairMotion) -> f32 {
    (b.shell()).map_or(f32::INFINITY, |shell| {
        lowest_of_shell(a, shell, motion.at(0.0), f32::NEG_INFINITY)
    })
}

/// The least distance of a shell's points from A, or any that is no more than `enough`.
fn lowest_of_shell(a: &Shape, shell: &PointShell, a_from_shell: Pose, enough: f32) -> f32 {
    let distance = |point: Vec3| a.field().distance(a_from_shell.transform_point(point));
    let nodes = shell.tree().nodes();
    let mut lowest = f32::INFINITY;
    let mut open = vec![0u32];
    while let Some(index) = open.pop() {
        let node = &nodes[index as usize];
        if lowest <= enough {
            break;
        }
        if distance(node.center) - node.radius - a.field().error_bound() >= lowest {
            continue;
        }
        if node.child_count > 0 {
            open.extend(node.children());
            continue;
        }
        let points = node.points().map(|point| shell.points()[point as usize]);
        lowest = points.map(distance).fold(lowest, f32::min);
    }
    lowest
}

fn hit_of(found: &Cast) -> Hit {
    Hit {
        time: found.impact.time,
        point: found.impact.point,
        normal: found.impact.normal,
        separation: found.separation,
        is_at_start: false,
        subshapes: [0; 2],
        collider_from_a: Pose::IDENTITY,
    }
}

fn size_of(shape: &Shape) -> f32 {
    let size = shape.solid().diagonal();
    if size.is_finite() { size } else { f32::MAX }
}

/// About how thin a part is: a field by its thinner parts, a solid of Rapier's by the least side of its box.
fn thickness_of(part: &Part) -> f32 {
    match &part.kind {
        PartKind::Field(field) => {
            let extents = field.shape().solid().extents();
            field.thickness().min(extents.min_element())
        }
        PartKind::Solid(shape) if shape.solid().is_finite() => {
            let extents = shape.solid().extents();
            extents.min_element().max(1e-6 * size_of(shape))
        }
        PartKind::Solid(_) | PartKind::Triangles | PartKind::Unknown => f32::MAX,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;
    use crate::shape::{FieldShape, Settings};
    use proptest::prelude::*;
    use std::sync::LazyLock;
    use touchfield::field::primitive::{HalfSpace, Torus};

    static RING: LazyLock<FieldShape> = LazyLock::new(|| {
        FieldShape::from_field(Torus::new(0.4, 0.1).unwrap(), Settings::default()).unwrap()
    });

    /// How far a ring about z is above the floor z = 0: a closed form.
    fn height(pose: Pose) -> f32 {
        let axis = pose.transform_vector(Vec3::Z);
        pose.translation.z - 0.4 * (1.0 - axis.z * axis.z).max(0.0).sqrt() - 0.1
    }

    proptest! {
        /// What is said to stay above a height does, at every time.
        #[test]
        fn what_stays_beyond_does(
            turned in prop::array::uniform3(-3.0f32..3.0),
            turn in prop::array::uniform3(-2.0f32..2.0),
            moved in prop::array::uniform3(-0.4f32..0.4),
            above in 0.0f32..0.7,
            target in -0.2f32..0.2,
        ) {
            let floor = Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap());
            let motion = Motion {
                start: Pose {
                    rotation: glam::Quat::from_scaled_axis(turned.into()),
                    translation: Vec3::new(0.0, 0.0, above),
                },
                center: Vec3::ZERO,
                translation: moved.into(),
                turn: turn.into(),
            };
            let motion = PairMotion::new(Motion::still(Pose::IDENTITY), motion);
            let lowest = (0..=200u8)
                .map(|step| height(motion.at(f32::from(step) / 200.0)))
                .fold(f32::INFINITY, f32::min);
            if stays_beyond(&floor, RING.shape(), &motion, target) {
                prop_assert!(lowest >= target, "{lowest} is below {target}");
            } else {
                let travel = motion.speed_bound(Vec3::ZERO, 0.8, [0.0, 1.0]);
                // Not for nothing: it is near what the times between and the covering radius leave open.
                prop_assert!(lowest < target + 0.3 * travel + 0.1, "{lowest} is far above {target}");
            }
        }
    }
}
