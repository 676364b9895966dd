//! Times of impact for pairs that contain a field, as Rapier's continuous collision detection (CCD)
//! requests them.
//!
//! Input: the motions of two shapes. Output: a time up to which they do not overlap by more than
//! their fields can resolve, rotation included.
//! Cost: microseconds for bodies that stay apart or already touch, a few separation queries for
//! those that meet. Not for: bodies at rest on each other, which the solver holds.
//!
//! Bodies that begin apart are proven to stay apart, until some time, by the sphere trees of their
//! shells. When Rapier limits how far a body may move within a step, it gets that time; the
//! contacts of the next step cover the remaining gap. A query for the touch itself, and thin bodies
//! whose shells are too coarse for their walls, get a cast.
//!
//! Rapier treats a time of 0 as no hit: bodies that touch at the start would be free to pass
//! through each other within the step, with any corner that does not touch yet. For them the
//! reported time is the first at which a point of either shell is deeper than a quarter of the
//! thickness of the body it is in. That is less than it takes to come out on the wrong side. A thin
//! body inside a thick one is stopped no sooner than a solid body of its size would be. A stop acts
//! on that body alone, and whatever follows it or rests on it would be driven into its walls, from
//! where there is no way out. This time is computed from the shell points alone, as the contacts
//! are; separation queries for bodies that touch along whole rims cost a hundred times as much.

use glam::Vec3;
use rapier::math::{Pose as RapierPose, Real, Vector};
use rapier::parry::query::details::ShapeCastOptions;
use rapier::parry::query::{NonlinearRigidMotion, ShapeCastHit, ShapeCastStatus, Unsupported};
use rapier::parry::shape::Shape as RapierShape;
use touchfield::geom::{Aabb, Motion, PairMotion, Pose};
use touchfield::narrow::{
    Below, Cast, CastOutcome, CastScratch, CastSettings, Level, MovingShell, ShellSweepScratch,
    StartingContact, ball_stays_beyond, cast,
};
use touchfield::shape::Shape;
use touchfield::shape::convex::Core;

use crate::convert;
use crate::dispatcher::FieldDispatcher;
use crate::meet::name_of;
use crate::partner::{Part, PartKind, child};
use crate::query::{each_pair, moved_box, thick_bodies};
use crate::tuning::sweep::{
    AT_ONCE, DEEPER_SHARE, DEEPEST_SHARE, ENOUGH_SHARE, FINE_SHARE, MAX_BOXES, MAX_STEPS,
    NEAR_COVERED, NEAR_SHARE, NEAR_SIZE_SHARE, PRECISION, SOLID_SHARE, SWEPT_POSES, THIN_SHARE,
    TOUCH_SHARE,
};

/// The parameters of one sweep.
#[derive(Clone, Copy)]
struct Question {
    target: f32,
    /// Whether an overlap at the start counts as a hit.
    stops_at_start: bool,
    asker: Asker,
}

/// The caller of a sweep, which decides where bodies are stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asker {
    /// Rapier, or a user through it: a body that is stopped keeps its velocity.
    Rapier,
    /// [`crate::step`], which cuts the step at the hit and lets the solver see the pair before it
    /// continues.
    Step,
}

impl Question {
    /// Returns whether this is Rapier's query for how far a body may move within a step. Any time
    /// before the touch is then acceptable if the contacts of the next step cover the rest.
    fn is_of_a_step(self) -> bool {
        self.target == 0.0 && !self.stops_at_start
    }
}

/// A time until which bodies that begin apart do not touch.
#[derive(Clone, Copy)]
struct Near {
    hit: Hit,
    /// Whether the bodies have moved by more than the remaining gap. Contacts are predicted as far
    /// ahead as a pair moves, so the next step sees this pair.
    is_on_the_way: bool,
}

/// A first touch; `time` is a share of the motion.
#[derive(Clone, Copy)]
struct Hit {
    time: f32,
    point: Vec3,
    normal: Vec3,
    separation: f32,
    is_at_start: bool,
    subshapes: [u32; 2],
    /// Pose, at the start, of the part that `point` is given in, in the frame of the first
    /// collider.
    collider_from_a: Pose,
}

/// Computes the first hit of two shapes that translate and rotate between two times.
pub(crate) fn turning(
    dispatcher: &FieldDispatcher,
    motions: [&NonlinearRigidMotion; 2],
    shapes: [&dyn RapierShape; 2],
    [start, end]: [Real; 2],
    stop_at_penetration: bool,
    asker: Asker,
) -> Result<Option<ShapeCastHit>, Unsupported> {
    if end <= start {
        return Ok(None);
    }
    let origin = motions[0].position_at_time(start).translation;
    let colliders = motions.map(|motion| convert::motion(motion, [start, end], origin));
    let question = Question {
        target: 0.0,
        stops_at_start: stop_at_penetration,
        asker,
    };
    let hit = first_hit(dispatcher, colliders, shapes, question)?;
    Ok(hit.map(|hit| told(&hit, colliders, start, end - start)))
}

/// Computes the first hit of two shapes that translate along a straight line.
pub(crate) fn straight(
    dispatcher: &FieldDispatcher,
    pos12: &RapierPose,
    local_vel12: Vector,
    g1: &dyn RapierShape,
    g2: &dyn RapierShape,
    options: ShapeCastOptions,
) -> Result<Option<ShapeCastHit>, Unsupported> {
    // Without a finite end time, sweep across the largest possible gap between the boxes and
    // across both.
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
        asker: Asker::Rapier,
    };
    let hit = first_hit(dispatcher, colliders, [g1, g2], question)?;
    Ok(hit.map(|hit| told(&hit, colliders, 0.0, duration)))
}

/// Converts a hit into Rapier's type.
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

/// Computes the first hit over all pairs of parts.
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
        shells: ShellSweepScratch::default(),
    };
    each_pair(
        dispatcher,
        [g1, g2],
        |a, b| {
            let motions = [part_motion(colliders[0], a), part_motion(colliders[1], b)];
            // Triangles are treated as being as thick as the solid that meets them.
            let thinner = a.thickness().min(b.thickness());
            let walls = Walls {
                thinner,
                of_a: wall_of(a, b).max(thinner),
                of_b: wall_of(b, a).max(thinner),
            };
            let mut take = |shapes: [&Shape; 2], sweep: &mut Sweep<'_>| {
                let Some(hit) = sweep.of_solids(shapes, motions, walls) else {
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
        // Two children that Rapier handles itself are left to Rapier's own sweeps.
        |_, _| is_answered.set(true),
    );
    if !is_answered.get() {
        return Err(Unsupported);
    }
    Ok(first)
}

/// The effective thickness of two bodies for each other \[m\].
#[derive(Clone, Copy)]
struct Walls {
    /// Thickness of the thinner body.
    thinner: f32,
    /// Effective thickness of A for points of B that enter it.
    of_a: f32,
    /// Effective thickness of B for points of A that enter it.
    of_b: f32,
}

/// Returns how thick a body is to another that enters it: no thicker than the other would be if it
/// were solid. Triangles have no inside and return 0.
fn wall_of(body: &Part, other: &Part) -> f32 {
    if matches!(body.kind, PartKind::Triangles) {
        return 0.0;
    }
    let least = |shape: &Shape| {
        let bounds = shape.solid();
        let side = bounds.extents().min_element();
        side.max(SOLID_SHARE * bounds.diagonal())
    };
    body.thickness().min(other.solid().map_or(0.0, least))
}

/// Returns the motion of one part of a collider.
fn part_motion(collider: Motion, part: &Part) -> Motion {
    Motion {
        start: collider.start * part.collider_from_part,
        center: (part.collider_from_part.inverse()).transform_point(collider.center),
        ..collider
    }
}

/// Returns the triangles that a moving solid may meet, each thickened by the solid's smallest
/// extent.
fn surface_near(surface: &dyn RapierShape, solid: &Shape, motions: [Motion; 2]) -> Vec<Shape> {
    let near = swept_box(motions, solid.solid());
    let surface_from_solid = PairMotion::new(motions[0], motions[1]).at(0.0);
    let middle = surface_from_solid.transform_point(solid.solid().center());
    let thickness = solid.solid().extents().min_element();
    thick_bodies(surface, near, middle, thickness)
}

/// Returns an AABB, in the frame of a surface, that encloses everything a moving solid can reach.
fn swept_box([surface, solid]: [Motion; 2], bounds: Aabb) -> Aabb {
    let motion = PairMotion::new(surface, solid);
    let turn = (solid.turn - surface.turn).length();
    let bulge = bounds.diagonal() * (turn / SWEPT_POSES as f32).min(1.0);
    let poses = (0..=SWEPT_POSES).map(|step| motion.at(step as f32 / SWEPT_POSES as f32));
    let boxes = poses.map(|surface_from_solid| moved_box(surface_from_solid, bounds));
    boxes.fold(Aabb::EMPTY, Aabb::union).grown(bulge)
}

/// The state of the sweeps of one call.
struct Sweep<'a> {
    dispatcher: &'a FieldDispatcher,
    question: Question,
    scratch: CastScratch,
    shells: ShellSweepScratch,
}

impl Sweep<'_> {
    /// Computes the first hit of two solids.
    fn of_solids(
        &mut self,
        [a, b]: [&Shape; 2],
        motions: [Motion; 2],
        walls: Walls,
    ) -> Option<Hit> {
        let thinner = walls.thinner;
        let motion = PairMotion::new(motions[0], motions[1]);
        // Early-out: Rapier sweeps every fast body against every floor, however high above it the
        // body is.
        if self.balls_stay_beyond([a, b], &motion) {
            return None;
        }
        // A limit for Rapier within a step has its own policy.
        if self.question.is_of_a_step() && self.question.asker == Asker::Rapier {
            return self.of_a_step([a, b], &motion, walls);
        }
        // A cut of `crate::step` for bodies that begin in contact: stop them where one goes too
        // deep.
        if self.question.is_of_a_step() && self.begins_near([a, b], &motion, walls, false) {
            let deeper = self.deeper([a, b], &motion, walls, Level::Within)?;
            return Some(Hit {
                time: deeper.time.max(AT_ONCE),
                ..deeper
            });
        }
        // Bodies that begin apart: a time until which their shells prove that they do not touch.
        let near = self.first_near([a, b], &motion)?;
        if self.question.is_of_a_step() && near.is_on_the_way {
            return Some(near.hit);
        }
        let size = f32::min(size_of(a), size_of(b));
        let mut settings = CastSettings {
            target: self.question.target,
            tolerance: (PRECISION * size).min(THIN_SHARE * thinner),
            max_steps: MAX_STEPS,
            max_boxes: MAX_BOXES,
            start: None,
            // The shells were swept above.
            by_shells: false,
        };
        let found = self.cast(a, b, &motion, &settings)?;
        // A cast that begins apart is the answer. Otherwise an overlap at the start is, if it
        // counts as a hit.
        let Some(start) = found.start else {
            return self.hit(found, thinner);
        };
        let is_parting = start == StartingContact::Separating;
        if self.question.stops_at_start && !is_parting {
            return Some(Hit {
                time: 0.0,
                is_at_start: true,
                ..hit_of(&found)
            });
        }
        // A thin body cannot hold an overlap deeper than itself: beyond half of its thickness the
        // depth is meaningless, and the body must not move on before it is pushed out.
        let deepest = -DEEPEST_SHARE * thinner;
        if found.separation <= deepest && !is_parting {
            return Some(Hit {
                time: AT_ONCE,
                ..hit_of(&found)
            });
        }
        // Cast again for a deeper overlap.
        let deeper = found.separation.min(0.0) - DEEPER_SHARE * thinner;
        settings.target = deeper.max(deepest.min(found.separation - settings.tolerance));
        let deeper = self.cast(a, b, &motion, &settings)?;
        // The overlap may already be that deep to within the tolerance: then the bodies move no
        // farther.
        let deeper = self.hit(deeper, thinner).map(|hit| Hit {
            time: hit.time.max(AT_ONCE),
            ..hit
        });
        // Bodies that separate at one corner may touch again at another, before or after the deeper
        // overlap.
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

    /// Computes how far two bodies may move within one of Rapier's steps.
    ///
    /// Rapier keeps the velocity of a body that a sweep stops. The velocity that gravity added in
    /// that step stays, but the height that should have paid for it is not lost, so a stop adds
    /// energy. Therefore bodies are not stopped where the solver can hold them: in contact, as long
    /// as no wall is entered by more than a quarter; apart, as long as they do not touch within the
    /// step.
    fn of_a_step(&mut self, [a, b]: [&Shape; 2], motion: &PairMotion, walls: Walls) -> Option<Hit> {
        // For bodies already in contact, the solver has the contact points. Only a point that would
        // come out on the wrong side stops them.
        let is_fine = is_fine([a, b], walls);
        if self.begins_near([a, b], motion, walls, is_fine) {
            let deeper = self.deeper([a, b], motion, walls, Level::Further)?;
            // Bodies that cannot move any farther are left to the solver from where they are.
            return (deeper.time > AT_ONCE).then_some(deeper);
        }
        let near = self.first_near([a, b], motion)?;
        if is_fine {
            // Coming near is no reason to stop. Touching is, where contacts did not predict it.
            if near.is_on_the_way {
                return self.touches([a, b], motion).then_some(near.hit);
            }
            return self.deeper([a, b], motion, walls, Level::Further);
        }
        // The shells are too coarse for the walls, so the surface between their points matters too.
        let size = f32::min(size_of(a), size_of(b));
        let settings = CastSettings {
            // The shells were swept above.
            by_shells: false,
            target: -DEEPER_SHARE * walls.thinner,
            tolerance: (PRECISION * size).min(THIN_SHARE * walls.thinner),
            max_steps: MAX_STEPS,
            max_boxes: MAX_BOXES,
            start: None,
        };
        let found = self.cast(a, b, motion, &settings)?;
        let hit = self.hit(found, walls.thinner)?;
        (hit.time > AT_ONCE).then_some(hit)
    }

    /// Returns whether the bounding sphere of one of two bodies stays farther from the other than
    /// the target during the whole motion.
    fn balls_stay_beyond(&self, [a, b]: [&Shape; 2], motion: &PairMotion) -> bool {
        let target = self.question.target;
        let stays = |field: &Shape, ball: &Shape, motion: &PairMotion| {
            let is_finite = ball.solid().is_finite();
            is_finite && ball_stays_beyond(field.field(), motion, ball_about(ball), target)
        };
        stays(a, b, motion) || stays(b, a, &motion.flipped())
    }

    /// Returns whether a point of either shell begins so near the other body that the pair counts
    /// as in contact.
    fn begins_near(
        &mut self,
        [a, b]: [&Shape; 2],
        motion: &PairMotion,
        walls: Walls,
        is_fine: bool,
    ) -> bool {
        let near = if is_fine {
            NEAR_COVERED * finer_radius([a, b])
        } else {
            near([a, b], walls.thinner)
        };
        let mut begins = |field: &Shape, shell: &Shape, motion: &PairMotion| {
            let moving = moving(field, shell, motion);
            moving.is_some_and(|moving| moving.begins_within(near, &mut self.shells))
        };
        begins(a, b, motion) || begins(b, a, &motion.flipped())
    }

    /// Returns whether a point of either shell enters the other body.
    fn touches(&mut self, [a, b]: [&Shape; 2], motion: &PairMotion) -> bool {
        let mut touches = |field: &Shape, shell: &Shape, motion: &PairMotion| {
            moving(field, shell, motion).is_some_and(|moving| {
                let tolerance = TOUCH_SHARE * moving.shell.covering_radius();
                let below = moving.first_below(Level::Same(0.0), tolerance, &mut self.shells);
                below.is_some()
            })
        };
        touches(a, b, motion) || touches(b, a, &motion.flipped())
    }

    /// Computes until when bodies that begin apart stay apart, as far as their shells can prove;
    /// `None` if they do for the whole motion.
    ///
    /// No surface point is farther from its shell than the covering radius. While one shell stays
    /// at least that far away, the bodies do not touch, so the result is the later of the two
    /// times.
    fn first_near(&mut self, [a, b]: [&Shape; 2], motion: &PairMotion) -> Option<Near> {
        let target = self.question.target;
        let back = motion.flipped();
        let sides = [(a, b, motion), (b, a, &back)];
        let mut latest: Option<Near> = None;
        for (is_of_b, (field, shell, motion)) in [true, false].into_iter().zip(sides) {
            let Some(moving) = moving(field, shell, motion) else {
                continue;
            };
            let covered = moving.shell.covering_radius();
            let level = Level::Same(target + covered);
            // Precision finer than the spacing of the points gains nothing.
            let below = moving.first_below(level, 0.25 * covered, &mut self.shells)?;
            if latest.is_some_and(|latest| below.time <= latest.hit.time) {
                continue;
            }
            let (center, _) = ball_about(shell);
            let gone = below.time * motion.speed_bound(center, 0.0, [0.0, below.time]);
            latest = Some(Near {
                hit: hit_below(&below, is_of_b, motion),
                is_on_the_way: gone > covered,
            });
        }
        // Without shells nothing is proven.
        latest.or(Some(Near {
            hit: AT_START,
            is_on_the_way: false,
        }))
    }

    /// Computes when bodies in contact overlap too deeply: the first time at which a point of
    /// either shell does.
    fn deeper(
        &mut self,
        [a, b]: [&Shape; 2],
        motion: &PairMotion,
        walls: Walls,
        level: fn(f32) -> Level,
    ) -> Option<Hit> {
        let mut first = |field: &Shape, shell: &Shape, motion: &PairMotion, wall: f32| {
            let moving = moving(field, shell, motion)?;
            moving.first_below(level(wall), THIN_SHARE * wall, &mut self.shells)
        };
        let back = motion.flipped();
        let of_b =
            first(a, b, motion, walls.of_a).map(|below| (below, hit_below(&below, true, motion)));
        let of_a =
            first(b, a, &back, walls.of_b).map(|below| (below, hit_below(&below, false, &back)));
        let both = of_b.into_iter().chain(of_a);
        let (below, hit) = both.min_by(|(_, one), (_, other)| one.time.total_cmp(&other.time))?;
        if !below.is_found {
            self.dispatcher.tally().sweep_given_up();
        }
        Some(hit)
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

    /// Converts a cast into a hit. Where the cast gave up, the hit is where it ended: a body stops
    /// too early rather than too late.
    fn hit(&self, found: Cast, thinner: f32) -> Option<Hit> {
        match found.outcome {
            CastOutcome::Hit => Some(hit_of(&found)),
            CastOutcome::GaveUp => {
                let left = (found.separation - self.question.target).abs();
                if self.question.is_of_a_step() && left <= ENOUGH_SHARE * thinner {
                    return Some(hit_of(&found));
                }
                self.dispatcher.tally().sweep_given_up();
                Some(hit_of(&found))
            }
            CastOutcome::Free | CastOutcome::Unproven => None,
        }
    }
}

/// Returns the separation below which bodies count as in contact \[m\]. Contacts of a new pair are
/// reported up to this separation, and a sweep leaves whatever begins within it to the solver.
pub(crate) fn near<'a>(shapes: impl IntoIterator<Item = &'a Shape>, thinner: f32) -> f32 {
    let (mut covered, mut size) = (f32::INFINITY, f32::INFINITY);
    for shape in shapes {
        covered = covered.min(radius_of(shape));
        size = size.min(size_of(shape));
    }
    if FINE_SHARE * covered <= thinner {
        NEAR_COVERED * covered
    } else {
        (NEAR_SHARE * thinner).max(NEAR_SIZE_SHARE * size)
    }
}

/// Returns whether the shell points alone resolve all that matters. Either the finer shell is fine
/// enough for the thinner wall, or the shell of one body is fine enough for the wall of a convex
/// one, whose own corners and edges are all points of its shell.
fn is_fine([a, b]: [&Shape; 2], walls: Walls) -> bool {
    let is_convex = |shape: &Shape| shape.as_convex().is_some() || !shape.solid().is_finite();
    let tells = |shell: &Shape, wall: f32| FINE_SHARE * radius_of(shell) <= wall;
    FINE_SHARE * finer_radius([a, b]) <= walls.thinner
        || is_convex(a) && tells(b, walls.of_a)
        || is_convex(b) && tells(a, walls.of_b)
}

/// Returns the covering radius of a shape's shell \[m\]; infinite without a shell.
fn radius_of(shape: &Shape) -> f32 {
    (shape.shell()).map_or(f32::INFINITY, |shell| shell.covering_radius())
}

/// Returns the smaller of two covering radii \[m\].
fn finer_radius([a, b]: [&Shape; 2]) -> f32 {
    radius_of(a).min(radius_of(b))
}

/// Returns a bounding sphere of a solid. For a ball this is the ball itself, which is smaller than
/// the sphere around its box.
fn ball_about(solid: &Shape) -> (Vec3, f32) {
    let bounds = solid.solid();
    let is_ball = solid
        .as_convex()
        .is_some_and(|convex| matches!(convex.core(), Core::Point));
    let radius = if is_ball {
        bounds.half_extents().max_element()
    } else {
        0.5 * bounds.diagonal()
    };
    (bounds.center(), radius)
}

/// Pairs the shell of one solid with the field of another; `None` without a shell.
fn moving<'a>(
    field: &'a Shape,
    shell: &'a Shape,
    motion: &'a PairMotion,
) -> Option<MovingShell<'a>> {
    Some(MovingShell {
        field: field.field(),
        shell: shell.shell()?,
        motion,
    })
}

/// Builds a hit in frame A from the place where a shell point is too low. `motion` is that of the
/// shell in the frame of the field.
fn hit_below(below: &Below, is_of_b: bool, motion: &PairMotion) -> Hit {
    let outward = below.sample.gradient.normalize_or(Vec3::Z);
    let (point, normal) = if is_of_b {
        (below.point, outward)
    } else {
        let a_from_b = motion.at(below.time).inverse();
        let point = a_from_b.transform_point(below.point);
        (point, -a_from_b.transform_vector(outward))
    };
    Hit {
        time: below.time,
        point,
        normal,
        separation: below.sample.distance,
        ..AT_START
    }
}

/// A hit with no information but the start time.
const AT_START: Hit = Hit {
    time: 0.0,
    point: Vec3::ZERO,
    normal: Vec3::Z,
    separation: 0.0,
    is_at_start: false,
    subshapes: [0; 2],
    collider_from_a: Pose::IDENTITY,
};

fn hit_of(found: &Cast) -> Hit {
    Hit {
        time: found.impact.time,
        point: found.impact.point,
        normal: found.impact.normal,
        separation: found.separation,
        ..AT_START
    }
}

fn size_of(shape: &Shape) -> f32 {
    let size = shape.solid().diagonal();
    if size.is_finite() { size } else { f32::MAX }
}
