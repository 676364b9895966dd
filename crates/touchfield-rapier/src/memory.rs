//! Contact memory of a pair of colliders, so that contacts need not be searched from scratch while
//! the pair hardly moves.
//!
//! Input: the current pose of the second collider. Output: whether the last contacts are kept,
//! revisited, or searched again, and how far.
//! Cost: a few dozen operations. Not for: saved worlds, whose copies have no memory: see
//! [`crate::FieldDispatcher::forget`].
//!
//! Rapier itself keeps the contacts of pairs that hardly move, but never those with a half-space,
//! whose box is infinite. Between the pairs whose contacts may be kept and those that must be
//! searched are pairs that creep: where they touched is stored, and a descent step leads to where
//! they touch now.

use std::sync::LazyLock;

use glam::Vec3;
use rapier::parry::query::details::VoxelsShapeContactManifoldsWorkspace;
use rapier::parry::query::{TypedWorkspaceData, WorkspaceData};
use rapier::parry::shape::Shape as RapierShape;
use touchfield::contact::ContactId;
use touchfield::geom::Pose;

use crate::meet::ShellPair;
use crate::partner::{Part, Solids};
use crate::sweep::near;
use crate::tuning::memory::{
    FARTHEST_SHARE, FASTER, FORESEEN_SHARE, KEEP_SHARE, NEARER_SHARE, REVISIT_SHARE, THIN_SHARE,
};

/// A place that was in contact at the last full search.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) id: ContactId,
    /// Point on the body whose shell made the contact, in the frame of its part.
    pub(crate) point: Vec3,
    pub(crate) parts: [u32; 2],
}

/// How the contacts of a pair are updated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Plan {
    /// Keep the contact points; only their separations have changed.
    Keep,
    /// Move the stored contact points along with the surfaces.
    Revisit,
    /// Search all contacts up to this separation \[m\].
    Look(f32),
}

/// The parts of both colliders of a pair, and how the pair last touched.
#[derive(Clone)]
pub(crate) struct PairMemory {
    pub(crate) first: Vec<Part>,
    pub(crate) second: Vec<Part>,
    /// Diagonal of the smaller body \[m\].
    pub(crate) size: f32,
    /// Places of the last contacts, except contacts that cannot be revisited.
    pub(crate) places: Vec<Place>,
    /// Value of the dispatcher's counter of [`forget`](crate::FieldDispatcher::forget) calls when
    /// this was created.
    pub(crate) epoch: u64,
    /// Thickness of the thinner body \[m\].
    thinner: f32,
    /// By how much the shells may overestimate the distance between the bodies \[m\].
    missed: f32,
    /// Separation below which the bodies count as in contact \[m\].
    near: f32,
    ball: Ball,
    /// Pose of the second collider at the last query.
    seen_at: Option<Pose>,
    told: Option<Told>,
}

/// State of a pair when its contacts were last reported.
#[derive(Clone, Copy)]
pub(crate) struct Told {
    pub(crate) at: Pose,
    pub(crate) looked_at: Pose,
    /// Separation up to which contacts were requested \[m\].
    pub(crate) reach: f32,
    /// Whether [`PairMemory::places`] holds all of them.
    pub(crate) can_revisit: bool,
    /// Separation of the nearest contact \[m\]; infinite if there was none.
    pub(crate) nearest: f32,
    /// Lower bound on the distance from every shell point to the other body \[m\].
    pub(crate) clear: f32,
}

/// Bounding sphere of the smaller collider, in its frame.
#[derive(Clone, Copy)]
struct Ball {
    center: Vec3,
    radius: f32,
    is_second: bool,
}

impl PairMemory {
    pub(crate) fn new(
        solids: &Solids,
        [first, second]: [&dyn RapierShape; 2],
        epoch: u64,
    ) -> PairMemory {
        let (first, second) = (solids.parts(first), solids.parts(second));
        let parts = || first.iter().chain(&second);
        let sizes = parts().filter_map(Part::solid);
        let sizes = sizes.map(|shape| shape.solid().diagonal());
        let sizes = sizes.filter(|size| size.is_finite());
        let thinner = parts().map(Part::thickness).fold(f32::INFINITY, f32::min);
        PairMemory {
            size: sizes.fold(f32::INFINITY, f32::min),
            thinner,
            near: near(parts().filter_map(Part::solid), thinner),
            missed: missed(&first, &second),
            ball: Ball::of(&first, &second),
            first,
            second,
            places: Vec::new(),
            epoch,
            seen_at: None,
            told: None,
        }
    }

    /// Returns whether the thinner body is thin for its size.
    pub(crate) fn is_thin(&self) -> bool {
        self.thinner < THIN_SHARE * self.size
    }

    /// Returns two parts by their numbers.
    pub(crate) fn pair(&self, [i, j]: [u32; 2]) -> [&Part; 2] {
        [&self.first[i as usize], &self.second[j as usize]]
    }

    /// Returns the pairs of parts whose contacts are made by shells, for a pose of the second
    /// collider.
    pub(crate) fn shell_pairs(&self, first_from_second: Pose) -> ShellPairs<'_> {
        ShellPairs {
            memory: self,
            first_from_second,
            last: None,
        }
    }

    /// Decides how to update the contacts for the current pose of the second collider, if contacts
    /// up to a separation of `prediction` are wanted. Stores the pose and returns the previous one.
    pub(crate) fn plan(&mut self, now: Pose, prediction: f32) -> (Plan, Option<Pose>) {
        let before = self.seen_at.replace(now);
        // How far contacts are predicted.
        let step = before.map(|before| self.ball.drift(before, now));
        let is_apart = self.is_apart();
        let foreseen = match step {
            // The motion of a new pair is not known yet. Sweeps stop a pair that comes from afar at
            // this distance and leave the rest to its contacts.
            None if self.is_thin() => self.near.max(prediction + self.thinner),
            None => self.near,
            // Anything farther away does not close in the next step.
            Some(step) if is_apart => prediction.max(FASTER * step) + self.missed,
            Some(step) if step > FORESEEN_SHARE * self.thinner => FASTER * step,
            Some(_) => 0.0,
        };
        let farthest = prediction + FARTHEST_SHARE * self.size;
        let reach = foreseen.clamp(prediction, farthest);
        let look = Plan::Look(reach);
        let Some(told) = self.told.filter(|told| prediction <= told.reach) else {
            return (look, before);
        };
        let nearer = self.ball.drift(told.looked_at, now);
        // No point can have come within reach since then: there are no contacts, and no search is
        // needed.
        if told.nearest == f32::INFINITY && told.clear - nearer > reach {
            return (Plan::Keep, before);
        }
        // Otherwise the plan depends on how far the pair has moved since the last search and since
        // the last report.
        let plan = if !(nearer <= REVISIT_SHARE * self.size && nearer <= NEARER_SHARE * told.reach)
        {
            look
        } else if self.ball.drift(told.at, now) <= KEEP_SHARE * self.size {
            Plan::Keep
        } else if told.can_revisit {
            Plan::Revisit
        } else {
            look
        };
        (plan, before)
    }

    /// Returns whether no contact was within reach when contacts were last reported, or nothing is
    /// known.
    pub(crate) fn is_apart(&self) -> bool {
        self.told.is_none_or(|told| told.nearest > told.reach)
    }

    /// Returns by how much the shells may overestimate the distance between the bodies \[m\]; 0
    /// once they touch, because the contact points are known then.
    pub(crate) fn missed(&self) -> f32 {
        if self.is_apart() { self.missed } else { 0.0 }
    }

    /// Stores the result of a full search.
    pub(crate) fn looked(&mut self, told: Told) {
        self.told = Some(told);
    }

    /// Stores that the contacts were revisited at this pose.
    pub(crate) fn revisited(&mut self, now: Pose) {
        if let Some(told) = &mut self.told {
            told.at = now;
        }
    }

    /// Makes the next update search all contacts again.
    pub(crate) fn forget(&mut self) {
        self.told = None;
    }
}

/// Pairs of parts at one pose, with the last pair cached: most contacts belong to the same pair as
/// the one before.
pub(crate) struct ShellPairs<'a> {
    memory: &'a PairMemory,
    first_from_second: Pose,
    last: Option<([u32; 2], Option<ShellPair<'a>>)>,
}

impl<'a> ShellPairs<'a> {
    /// Returns the pair of parts with these numbers; `None` if its contacts are not made by a
    /// shell.
    pub(crate) fn of(&mut self, parts: [u32; 2]) -> Option<ShellPair<'a>> {
        match self.last {
            Some((last, pair)) if last == parts => pair,
            _ => {
                let pair = ShellPair::of(self.memory.pair(parts), self.first_from_second);
                self.last = Some((parts, pair));
                pair
            }
        }
    }
}

/// Returns by how much the nearest shell point may be farther from the other body than the surface
/// is \[m\]. Where round bodies touch this is `c² / 2R` for a point at a distance `c` beside the
/// foot. A body of thickness `t` is treated as a ball of that diameter, `R = t / 2`; of two shells
/// the finer counts.
fn missed(first: &[Part], second: &[Part]) -> f32 {
    let covered = |parts: &[Part]| {
        let shells = parts.iter().filter_map(|part| part.solid()?.shell());
        let radii = shells.map(|shell| shell.covering_radius());
        radii.fold(0.0, f32::max)
    };
    let bend = |parts: &[Part]| {
        let thinnest = parts.iter().map(Part::thickness);
        1.0 / thinnest.fold(f32::INFINITY, f32::min)
    };
    let finer = [covered(first), covered(second)].into_iter();
    let finer = finer
        .filter(|&radius| radius > 0.0)
        .fold(f32::INFINITY, f32::min);
    if !finer.is_finite() {
        return 0.0;
    }
    (finer * finer * (bend(first) + bend(second))).min(finer)
}

/// Empty workspace that is serialised in place of [`PairMemory`].
static STAND_IN: LazyLock<VoxelsShapeContactManifoldsWorkspace<2>> =
    LazyLock::new(Default::default);

impl WorkspaceData for PairMemory {
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        // Rapier refuses to deserialise custom workspaces. On restoring, the stand-in is recognised
        // as not being a `PairMemory`, and contacts are searched again.
        TypedWorkspaceData::VoxelsShapeContactManifoldsWorkspace(&STAND_IN)
    }

    fn clone_dyn(&self) -> Box<dyn WorkspaceData> {
        Box::new(self.clone())
    }
}

impl Ball {
    fn of(first: &[Part], second: &[Part]) -> Ball {
        let about = |parts: &[Part]| {
            // A triangle surface counts as infinite.
            let spheres = parts.iter().map(|part| {
                let bounds = part.solid().map(|shape| shape.solid());
                let bounds = bounds.filter(|bounds| bounds.is_finite())?;
                let center = part.collider_from_part.transform_point(bounds.center());
                Some((center, 0.5 * bounds.diagonal()))
            });
            let spheres: Option<Vec<(Vec3, f32)>> = spheres.collect();
            let spheres = spheres.filter(|spheres| !spheres.is_empty())?;
            let centers = spheres.iter().map(|(center, _)| *center);
            let center = centers.sum::<Vec3>() / spheres.len() as f32;
            let reaches = spheres
                .iter()
                .map(|(at, radius)| at.distance(center) + radius);
            Some((center, reaches.fold(0.0, f32::max)))
        };
        let ball = |(center, radius), is_second| Ball {
            center,
            radius,
            is_second,
        };
        match (about(first), about(second)) {
            (Some(first), Some(second)) if first.1 < second.1 => ball(first, false),
            (_, Some(second)) => ball(second, true),
            (Some(first), None) => ball(first, false),
            (None, None) => ball((Vec3::ZERO, f32::INFINITY), true),
        }
    }

    /// Returns how far points of the ball move at most, as seen from the other collider, between
    /// two poses of the second collider in the frame of the first \[m\].
    fn drift(&self, from: Pose, to: Pose) -> f32 {
        let (from, to) = if self.is_second {
            (from, to)
        } else {
            (from.inverse(), to.inverse())
        };
        let moved = from
            .transform_point(self.center)
            .distance(to.transform_point(self.center));
        let turn = to.rotation * from.rotation.conjugate();
        moved + 2.0 * turn.xyz().length() * self.radius
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;
    use crate::shape::{FieldShape, Settings};
    use rapier::parry::shape::SharedShape;
    use touchfield::field::primitive::Torus;

    fn at(height: f32) -> Pose {
        Pose {
            rotation: glam::Quat::IDENTITY,
            translation: Vec3::new(0.0, height, 0.0),
        }
    }

    fn told(at: Pose, nearest: f32, clear: f32) -> Told {
        Told {
            at,
            looked_at: at,
            reach: 0.02,
            can_revisit: true,
            nearest,
            clear,
        }
    }

    #[test]
    fn a_thin_body_that_is_met_for_the_first_time_is_seen_from_afar() {
        let ring = FieldShape::from_field(Torus::new(0.4, 0.02).unwrap(), Settings::default());
        let ring = ring.unwrap().shared();
        let mut memory = PairMemory::new(&Solids::default(), [&*ring, &*ring], 0);
        let (plan, _) = memory.plan(at(0.5), 0.02);
        assert!(
            matches!(plan, Plan::Look(reach) if (0.055..0.065).contains(&reach)),
            "as far as it is thick: {plan:?}"
        );
    }

    #[test]
    fn a_pair_that_is_too_far_apart_to_meet_is_not_looked_at() {
        let ring = FieldShape::from_field(Torus::new(0.4, 0.1).unwrap(), Settings::default());
        let ring = ring.unwrap().shared();
        let mut memory = PairMemory::new(&Solids::default(), [&*ring, &*ring], 0);
        memory.plan(at(0.5), 0.02);
        memory.looked(told(at(0.5), f32::INFINITY, 0.3));
        assert_eq!(memory.plan(at(0.4), 0.02).0, Plan::Keep, "0.2 m are left");
        let (plan, _) = memory.plan(at(0.3), 0.02);
        assert!(
            matches!(plan, Plan::Look(reach) if (0.125..0.13).contains(&reach)),
            "0.1 m are left, and the next step may take as many: {plan:?}"
        );
    }

    #[test]
    fn contacts_are_kept_then_visited_then_looked_for() {
        let ring = FieldShape::from_field(Torus::new(0.4, 0.1).unwrap(), Settings::default());
        let (floor, ring) = (
            SharedShape::halfspace(rapier::math::Vector::Y),
            ring.unwrap().shared(),
        );
        let mut memory = PairMemory::new(&Solids::default(), [&*floor, &*ring], 0);
        let size = memory.size;
        let (plan, before) = memory.plan(at(0.1), 0.02);
        assert!(before.is_none());
        assert_eq!(plan, Plan::Look(memory.near.max(0.02)));
        memory.looked(told(at(0.1), 0.01, 0.01));
        assert_eq!(memory.plan(at(0.1 + 0.001 * size), 0.02).0, Plan::Keep);
        assert_eq!(memory.plan(at(0.1 + 0.005 * size), 0.02).0, Plan::Revisit);
        memory.revisited(at(0.1 + 0.005 * size));
        assert_eq!(memory.plan(at(0.1 + 0.006 * size), 0.02).0, Plan::Keep);
        let farther = memory.plan(at(0.1 + 0.006 * size), 0.03).0;
        assert_eq!(
            farther,
            Plan::Look(0.03),
            "contacts farther away are wanted"
        );
        assert_eq!(memory.plan(at(0.1 + 0.02 * size), 0.02).0, Plan::Look(0.02));
        let (plan, _) = memory.plan(at(0.2 + 0.02 * size), 0.02);
        assert!(
            matches!(plan, Plan::Look(reach) if (reach - 0.125).abs() < 1e-4),
            "as far as it moves: {plan:?}"
        );
        memory.looked(told(at(0.2), 0.01, 0.01));
        memory.forget();
        let (plan, _) = memory.plan(at(0.2 + 0.02 * size), 0.02);
        let missed = memory.missed();
        assert!((0.0..0.005).contains(&missed), "{missed}");
        assert_eq!(
            plan,
            Plan::Look(0.02 + missed),
            "nothing is known, not where it touches either"
        );
    }
}
