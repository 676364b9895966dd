//! What a pair of colliders remembers from step to step, so that contacts need not be found anew while it hardly moves.
//!
//! Input: where the second collider is now. Output: whether the last contacts are kept, visited again, or looked for, and how far.
//! Cost: a few dozen operations. Not for: worlds that are saved, whose copies remember nothing: see [`crate::FieldDispatcher::forget`].
//!
//! Rapier keeps the contacts of pairs that hardly move itself, but never those with a half-space, whose box has no end. And between what may be kept and what must be looked for
//! lie pairs that creep: where they touched is known, and a step down the slope leads to where they touch now.

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

/// A place that touched when contacts were last looked for.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) id: ContactId,
    /// On the body whose shell made the contact, in the frame of its part.
    pub(crate) point: Vec3,
    pub(crate) parts: [u32; 2],
}

/// What is to be done about a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Plan {
    /// Where it touches is where it touched; only how far apart that is has changed.
    Keep,
    /// The places that it touched at are moved after it.
    Revisit,
    /// All contacts up to this far apart are looked for \[m\].
    Look(f32),
}

/// The parts of both colliders of a pair, and how it last touched.
#[derive(Clone)]
pub(crate) struct PairMemory {
    pub(crate) first: Vec<Part>,
    pub(crate) second: Vec<Part>,
    /// Diagonal of the smaller body \[m\].
    pub(crate) size: f32,
    /// Places of the last contacts; none where they cannot be visited.
    pub(crate) places: Vec<Place>,
    /// Counts worlds that were saved.
    pub(crate) epoch: u64,
    /// Thickness of the thinner body \[m\].
    thinner: f32,
    /// By how much the shells may miss how near the bodies are \[m\].
    missed: f32,
    /// How near they count as in contact \[m\].
    near: f32,
    ball: Ball,
    /// Where the second collider was when it was last asked for.
    seen_at: Option<Pose>,
    told: Option<Told>,
}

/// When contacts were last told.
#[derive(Clone, Copy)]
pub(crate) struct Told {
    pub(crate) at: Pose,
    pub(crate) looked_at: Pose,
    /// How far apart they were wanted \[m\].
    pub(crate) reach: f32,
    /// Whether [`PairMemory::places`] are all of them.
    pub(crate) can_revisit: bool,
    /// How far apart the nearest was \[m\]; infinite if there was none.
    pub(crate) nearest: f32,
    /// No point of a shell was nearer to the other body \[m\].
    pub(crate) clear: f32,
}

/// A ball about the smaller collider, in its frame.
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

    /// Whether the thinner body is thin for its size.
    pub(crate) fn is_thin(&self) -> bool {
        self.thinner < THIN_SHARE * self.size
    }

    /// Two parts by their numbers.
    pub(crate) fn pair(&self, [i, j]: [u32; 2]) -> [&Part; 2] {
        [&self.first[i as usize], &self.second[j as usize]]
    }

    /// Pairs of parts whose contacts shells make, with the second collider there.
    pub(crate) fn shell_pairs(&self, first_from_second: Pose) -> ShellPairs<'_> {
        ShellPairs {
            memory: self,
            first_from_second,
            last: None,
        }
    }

    /// What to do now that the second collider is there, and contacts as far as `prediction` apart are wanted. Remembers the place; returns where it was before.
    pub(crate) fn plan(&mut self, now: Pose, prediction: f32) -> (Plan, Option<Pose>) {
        let before = self.seen_at.replace(now);
        let step = before.map(|before| self.ball.drift(before, now));
        let is_apart = self.is_apart();
        let foreseen = match step {
            // How it moves is not known yet. Sweeps stop a pair that comes from afar as near as that, and leave the rest to its contacts.
            None if self.is_thin() => self.near.max(prediction + self.thinner),
            None => self.near,
            // What is farther away than that is not closed after the next step.
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
        // No point can have come within reach since: there are no contacts, and none are looked for.
        if told.nearest == f32::INFINITY && told.clear - nearer > reach {
            return (Plan::Keep, before);
        }
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

    /// Whether nothing touched when it was last told, or nothing is known.
    pub(crate) fn is_apart(&self) -> bool {
        self.told.is_none_or(|told| told.nearest > told.reach)
    }

    /// By how much the shells may miss how near the bodies are \[m\]. Once they touch, the places are known.
    pub(crate) fn missed(&self) -> f32 {
        if self.is_apart() { self.missed } else { 0.0 }
    }

    /// Contacts were looked for and told.
    pub(crate) fn looked(&mut self, told: Told) {
        self.told = Some(told);
    }

    /// They were visited and told.
    pub(crate) fn revisited(&mut self, now: Pose) {
        if let Some(told) = &mut self.told {
            told.at = now;
        }
    }

    /// Next time they are looked for.
    pub(crate) fn forget(&mut self) {
        self.told = None;
    }
}

/// Pairs of parts at one time. Most contacts are of the same pair as the one before.
pub(crate) struct ShellPairs<'a> {
    memory: &'a PairMemory,
    first_from_second: Pose,
    last: Option<([u32; 2], Option<ShellPair<'a>>)>,
}

impl<'a> ShellPairs<'a> {
    /// The pair of parts of these numbers; none if no shell makes its contacts.
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

/// By how much the nearest point of a shell may be farther from the other body than its surface is \[m\]: where round bodies touch, `c² / 2R` of a place that is
/// `c` beside the foot. A body that is `t` thick is taken for one that is as round as it is thick, `R = t / 2`; of two shells the finer counts.
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

/// Written in place of [`PairMemory`]; empty.
static STAND_IN: LazyLock<VoxelsShapeContactManifoldsWorkspace<2>> =
    LazyLock::new(Default::default);

impl WorkspaceData for PairMemory {
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        // Rapier refuses to read custom ones back. What stands for it is found not to be ours, and contacts are looked for again.
        TypedWorkspaceData::VoxelsShapeContactManifoldsWorkspace(&STAND_IN)
    }

    fn clone_dyn(&self) -> Box<dyn WorkspaceData> {
        Box::new(self.clone())
    }
}

impl Ball {
    fn of(first: &[Part], second: &[Part]) -> Ball {
        let about = |parts: &[Part]| {
            // A surface of triangles counts as endless.
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

    /// How far its points move, as seen from the other collider, between two places of the second as seen from the first \[m\].
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
