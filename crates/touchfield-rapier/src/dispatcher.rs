//! The query dispatcher for pairs that contain a field; it passes all other pairs on to Rapier's
//! own.
//!
//! Input: two shapes and the pose of the second. Output: manifolds, distances, times of impact.
//! Cost: that of the parts. Not for: pairs of shapes that are neither Rapier's nor Touchfield's,
//! which are counted.
//!
//! It owns its fallback: with parry's `chain` the children of a compound would be passed to the
//! default dispatcher alone, and a field among them would touch nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rapier::math::{Pose as RapierPose, Real, Vector};
use rapier::parry::query::details::NormalConstraints;
use rapier::parry::query::details::ShapeCastOptions;
use rapier::parry::query::{
    ClosestPoints, Contact as RapierContact, ContactManifold, ContactManifoldsWorkspace,
    DefaultQueryDispatcher, NonlinearRigidMotion, PersistentQueryDispatcher, QueryDispatcher,
    ShapeCastHit, ShapeDistance, ShapeIntersection, Unsupported,
};
use rapier::parry::shape::Shape as RapierShape;
use touchfield::contact::Contact;
use touchfield::geom::Pose;

use crate::convert;
use crate::counts::{Counts, Tally};
use crate::manifolds::{self, Buffers, PairFrame};
use crate::meet::{self, Colliders, Found, Going};
use crate::memory::{PairMemory, Place, Plan, Told};
use crate::partner::{Part, PartKind, Solids, child, holds_field};
use crate::query;
use crate::sweep::{self, Asker};
use crate::tuning::memory::FASTER;

/// Settings of how contacts are found and kept.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DispatcherSettings {
    /// Maximum number of contacts kept per pair; at most four per normal.
    pub max_contacts: usize,
    /// Time budget per pair, after which its contacts come from a coarser surface; `None`:
    /// unlimited. With a budget, results depend on the clock.
    pub budget: Option<Duration>,
}

impl Default for DispatcherSettings {
    fn default() -> DispatcherSettings {
        DispatcherSettings {
            // Enough to hold the helix of a thread or the rim of a bowl; a flat face needs four.
            max_contacts: 12,
            budget: None,
        }
    }
}

/// Rapier query dispatcher that handles fields and passes everything else on to Rapier. Clones
/// share their counts.
#[derive(Clone, Default)]
pub struct FieldDispatcher {
    settings: DispatcherSettings,
    solids: Arc<Solids>,
    tally: Arc<Tally>,
    epoch: Arc<AtomicU64>,
}

impl FieldDispatcher {
    /// Creates a dispatcher with the given settings.
    pub fn new(settings: DispatcherSettings) -> FieldDispatcher {
        FieldDispatcher {
            settings,
            ..Default::default()
        }
    }

    /// Returns what could not be handled since the last call, over all clones, and resets the
    /// counts.
    pub fn take_counts(&self) -> Counts {
        self.tally.take()
    }

    /// Makes all pairs search their contacts from scratch in the next step, rather than continue
    /// from those of the last one. The contact memory of pairs is not part of a saved world: a
    /// world that is to continue to the same bits as its copy must forget it when it is saved.
    pub fn forget(&self) {
        self.epoch.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the settings of this dispatcher.
    pub fn settings(&self) -> DispatcherSettings {
        self.settings
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    pub(crate) fn solids(&self) -> &Solids {
        &self.solids
    }

    fn count_unsupported<T>(&self, result: Result<T, Unsupported>) -> Result<T, Unsupported> {
        if result.is_err() {
            self.tally.unsupported("a shape of Rapier's", "another");
        }
        result
    }
}

/// Scratch buffers of one call.
#[derive(Default)]
struct Gather {
    found: Vec<Found>,
    manifolds: Buffers,
}

thread_local! {
    static GATHER: std::cell::RefCell<Gather> = std::cell::RefCell::default();
}

impl<M, C> PersistentQueryDispatcher<M, C> for FieldDispatcher
where
    M: Default + Clone + Send + Sync,
    C: Default + Copy + Send + Sync,
{
    fn contact_manifolds(
        &self,
        pos12: &RapierPose,
        g1: &dyn RapierShape,
        g2: &dyn RapierShape,
        prediction: Real,
        manifolds: &mut Vec<ContactManifold<M, C>>,
        workspace: &mut Option<ContactManifoldsWorkspace>,
    ) -> Result<(), Unsupported> {
        if !holds_field(g1) && !holds_field(g2) {
            let answer = DefaultQueryDispatcher
                .contact_manifolds(pos12, g1, g2, prediction, manifolds, workspace);
            return self.count_unsupported(answer);
        }
        // A pair that may have two normals must have a workspace, or Rapier loses track of its
        // manifolds.
        let epoch = self.epoch.load(Ordering::Relaxed);
        let is_ours = |workspace: &ContactManifoldsWorkspace| {
            let memory = workspace.0.downcast_ref::<PairMemory>();
            memory.is_some_and(|memory| memory.epoch == epoch)
        };
        if !workspace.as_ref().is_some_and(is_ours) {
            let memory = PairMemory::new(&self.solids, [g1, g2], epoch);
            *workspace = Some(ContactManifoldsWorkspace(Box::new(memory)));
        }
        let Some(memory) = workspace
            .as_mut()
            .and_then(|workspace| workspace.0.downcast_mut::<PairMemory>())
        else {
            return Err(Unsupported);
        };
        GATHER.with(|gather| match gather.try_borrow_mut() {
            Ok(mut gather) => {
                self.manifolds(pos12, [g1, g2], prediction, memory, manifolds, &mut gather)
            }
            Err(_) => {
                let mut gather = Gather::default();
                self.manifolds(pos12, [g1, g2], prediction, memory, manifolds, &mut gather)
            }
        })
    }

    fn contact_manifold_convex_convex(
        &self,
        pos12: &RapierPose,
        g1: &dyn RapierShape,
        g2: &dyn RapierShape,
        normal_constraints1: Option<&dyn NormalConstraints>,
        normal_constraints2: Option<&dyn NormalConstraints>,
        prediction: Real,
        manifold: &mut ContactManifold<M, C>,
    ) -> Result<(), Unsupported> {
        if !holds_field(g1) && !holds_field(g2) {
            return DefaultQueryDispatcher.contact_manifold_convex_convex(
                pos12,
                g1,
                g2,
                normal_constraints1,
                normal_constraints2,
                prediction,
                manifold,
            );
        }
        // Only one manifold can be returned: that of the deepest contact.
        let mut all = vec![manifold.take()];
        self.contact_manifolds(pos12, g1, g2, prediction, &mut all, &mut None)?;
        if let Some(deepest) = all.into_iter().next() {
            *manifold = deepest;
        }
        Ok(())
    }
}

impl FieldDispatcher {
    fn manifolds<M, C>(
        &self,
        pos12: &RapierPose,
        [g1, g2]: [&dyn RapierShape; 2],
        prediction: Real,
        memory: &mut PairMemory,
        manifolds: &mut Vec<ContactManifold<M, C>>,
        gather: &mut Gather,
    ) -> Result<(), Unsupported>
    where
        M: Default + Clone + Send + Sync,
        C: Default + Copy + Send + Sync,
    {
        // Decide whether to keep the last contacts, revisit them, or search for new ones.
        let first_from_second = convert::pose(pos12);
        let wanted = convert::float(prediction).max(0.0);
        let (plan, before) = memory.plan(first_from_second, wanted);
        let frame = PairFrame {
            first_from_second,
            size: memory.size,
            max_contacts: self.settings.max_contacts,
            reach: wanted,
        };
        let reach = match plan {
            Plan::Keep => {
                manifolds::measure_again(manifolds, first_from_second);
                return Ok(());
            }
            Plan::Revisit => {
                self.revisit(memory, &frame, manifolds, gather);
                return Ok(());
            }
            Plan::Look(reach) => reach,
        };
        // Find the contacts of all pairs of parts.
        let missed = memory.missed();
        let colliders = Colliders {
            first: g1,
            second: g2,
            first_from_second,
            reach,
            going: before.filter(|_| reach > wanted).map(|before| Going {
                first_from_second_before: before,
                wanted,
                missed,
            }),
            budget: self.settings.budget,
            tally: &self.tally,
        };
        let parts = &*memory;
        gather.found.clear();
        let mut plain = Vec::new();
        let mut clear = f32::INFINITY;
        meet::with_work(|work| {
            for (i, a) in parts.first.iter().enumerate() {
                for (j, b) in parts.second.iter().enumerate() {
                    let numbers = [i as u32, j as u32];
                    let found = &mut gather.found;
                    let answer = match (a.solid(), b.solid()) {
                        _ if !a.is_field() && !b.is_field() => {
                            plain.push(numbers);
                            Ok(f32::NEG_INFINITY)
                        }
                        (Some(shape_a), Some(shape_b)) => meet::solids(
                            [a, b],
                            [shape_a, shape_b],
                            numbers,
                            &colliders,
                            work,
                            found,
                        ),
                        (Some(shape), None) if matches!(b.kind, PartKind::Triangles) => {
                            meet::triangles((a, shape), b, numbers, true, &colliders, work, found)
                        }
                        (None, Some(shape)) if matches!(a.kind, PartKind::Triangles) => {
                            meet::triangles((b, shape), a, numbers, false, &colliders, work, found)
                        }
                        _ => {
                            self.tally.unsupported(meet::name_of(a), meet::name_of(b));
                            Ok(f32::NEG_INFINITY)
                        }
                    };
                    match answer {
                        Ok(apart) => clear = clear.min(apart),
                        Err(error) => {
                            clear = f32::NEG_INFINITY;
                            self.tally.refused(&error);
                        }
                    }
                }
            }
        });
        // Count contacts deeper than a field's narrow band.
        for found in &gather.found {
            for part in parts.pair(found.parts) {
                self.look_for_depth(part, found);
            }
        }
        // Drop contacts that are neither near now nor closed soon, given the last motion.
        let mut foresight = before.filter(|_| reach > wanted).map(|before| Foresight {
            wanted,
            before_from_now: before * first_from_second.inverse(),
            may_turn: parts.is_thin(),
            until: 1.0,
        });
        let is_first_touch = parts.is_apart() && !parts.is_thin();
        if let Some(foresight) = &mut foresight {
            if is_first_touch {
                foresight.look_until_first(&gather.found);
            }
            (gather.found).retain(|found| foresight.holds(&found.contact, missed));
        }
        // Settle the contacts that represent the rest, and drop those that settled too far away.
        let mut pairs = parts.shell_pairs(first_from_second);
        let settle = |found: &Found| match pairs.of(found.parts) {
            Some(pair) => Found {
                contact: pair.settled(found.contact),
                ..*found
            },
            None => *found,
        };
        let subshape = |numbers| parts.pair(numbers).map(|part| part.subshape);
        let plain_before = take_plain(manifolds);
        let settled = manifolds::settle_feet(&gather.found, &frame, settle, &mut gather.manifolds);
        if let Some(foresight) = &mut foresight {
            if is_first_touch {
                foresight.look_until_first(gather.manifolds.settled());
            }
            (gather.manifolds).retain_settled(|contact| foresight.holds(contact, 0.0));
        }
        // Reduce them to manifolds, and append those of children that Rapier handles itself.
        let told = settled
            .and_then(|()| manifolds::tell(&frame, subshape, manifolds, &mut gather.manifolds));
        let is_told = told.is_ok();
        if let Err(error) = told {
            self.tally.refused(&error);
            manifolds.clear();
        }
        let is_ours_alone = plain.is_empty();
        for numbers in plain {
            self.plain_manifold(
                memory,
                numbers,
                [g1, g2],
                pos12,
                prediction,
                &plain_before,
                manifolds,
            );
        }
        // Contacts between Rapier's own children must be computed at every step, so nothing is
        // remembered then.
        if is_told && is_ours_alone {
            remember(memory, &frame, gather.manifolds.settled(), clear);
        } else {
            memory.forget();
        }
        Ok(())
    }

    /// Reports the contacts at the places that were in contact at the last full search.
    fn revisit<M, C>(
        &self,
        memory: &mut PairMemory,
        frame: &PairFrame,
        manifolds: &mut Vec<ContactManifold<M, C>>,
        gather: &mut Gather,
    ) where
        M: Default + Clone + Send + Sync,
        C: Default + Copy + Send + Sync,
    {
        let mut pairs = memory.shell_pairs(frame.first_from_second);
        let contacts = memory.places.iter().filter_map(|place| {
            let contact = (pairs.of(place.parts)?).revisited(place.id, place.point)?;
            // The search may have reached farther than is wanted now.
            (contact.separation <= frame.reach).then_some(Found {
                contact,
                parts: place.parts,
            })
        });
        gather.manifolds.set_settled(contacts, frame);
        let subshape = |parts| memory.pair(parts).map(|part| part.subshape);
        let told = manifolds::tell(frame, subshape, manifolds, &mut gather.manifolds);
        match told {
            Ok(()) => memory.revisited(frame.first_from_second),
            Err(error) => {
                self.tally.refused(&error);
                manifolds.clear();
                memory.forget();
            }
        }
    }

    /// Counts a contact that is deeper than a field's narrow band.
    fn look_for_depth(&self, part: &Part, found: &Found) {
        if let PartKind::Field(field) = &part.kind
            && let Some(band) = field.band()
            && -found.contact.separation >= band
        {
            self.tally.beyond_band();
        }
    }

    /// Appends the manifolds of two children that Rapier handles itself.
    #[allow(
        clippy::too_many_arguments,
        reason = "two children, and what Rapier asks of each"
    )]
    fn plain_manifold<M, C>(
        &self,
        parts: &PairMemory,
        numbers: [u32; 2],
        [g1, g2]: [&dyn RapierShape; 2],
        pos12: &RapierPose,
        prediction: Real,
        before: &[ContactManifold<M, C>],
        manifolds: &mut Vec<ContactManifold<M, C>>,
    ) where
        M: Default + Clone + Send + Sync,
        C: Default + Copy + Send + Sync,
    {
        let [a, b] = parts.pair(numbers);
        let (shape1, shape2) = (child(g1, a.subshape), child(g2, b.subshape));
        let (pose1, pose2) = (child_pose(g1, a.subshape), child_pose(g2, b.subshape));
        let known = before
            .iter()
            .find(|old| old.subshape1 == a.subshape && old.subshape2 == b.subshape);
        let mut all: Vec<ContactManifold<M, C>> = known.cloned().into_iter().collect();
        let relative = pose1.inverse() * *pos12 * pose2;
        let answer = DefaultQueryDispatcher
            .contact_manifolds(&relative, shape1, shape2, prediction, &mut all, &mut None);
        if answer.is_err() {
            self.tally.unsupported(meet::name_of(a), meet::name_of(b));
            return;
        }
        for mut manifold in all {
            manifold.subshape1 = a.subshape;
            manifold.subshape2 = b.subshape;
            manifold.set_subshape_pos1(Some(pose1));
            manifold.set_subshape_pos2(Some(pose2));
            manifolds.push(manifold);
        }
    }
}

/// Prediction of how a pair moves on.
struct Foresight {
    /// Separation up to which contacts are always wanted \[m\].
    wanted: f32,
    /// Maps a point of the second collider from where it is now to where it was one step ago, both
    /// in the frame of the first.
    before_from_now: Pose,
    /// Whether the next step may go another way than the last. A hit turns a body, and what slid
    /// past a thin wall may then be through it.
    may_turn: bool,
    /// The share of the next step that is considered.
    until: f32,
}

impl Foresight {
    /// Returns by how much a contact closes in another step like the last \[m\].
    fn nearer(&self, contact: &Contact) -> f32 {
        let moved = contact.point - self.before_from_now.transform_point(contact.point);
        let nearer = if self.may_turn {
            moved.length()
        } else {
            -moved.dot(contact.normal)
        };
        FASTER * nearer
    }

    /// Limits the prediction to the time at which the first of these contacts closes: contacts that
    /// would close later do not, because the body is thrown back. A box whose corner lands first
    /// would be given its speed back at its edges as well, and gain energy.
    fn look_until_first(&mut self, found: &[Found]) {
        let shares = found.iter().map(|Found { contact, .. }| {
            let nearer = self.nearer(contact);
            if contact.separation <= 0.0 {
                0.0
            } else if nearer > 0.0 {
                contact.separation / nearer
            } else {
                1.0
            }
        });
        self.until = shares.fold(1.0, f32::min);
    }

    /// Returns whether a contact is as near as wanted, or will be closed after another step like
    /// the last, to within a margin \[m\].
    fn holds(&self, contact: &Contact, margin: f32) -> bool {
        let nearer = self.nearer(contact);
        contact.separation <= self.wanted.max(nearer) + margin
            && contact.separation <= self.wanted + self.until * nearer.max(0.0) + margin
    }
}

/// Stores where a pair touches, and that no point of a shell is nearer to the other body than
/// `clear` \[m\].
fn remember(memory: &mut PairMemory, frame: &PairFrame, settled: &[Found], clear: f32) {
    let now = frame.first_from_second;
    let mut places = std::mem::take(&mut memory.places);
    places.clear();
    let mut pairs = memory.shell_pairs(now);
    for found in settled {
        if let Some(pair) = pairs.of(found.parts) {
            places.push(Place {
                id: found.contact.id,
                point: pair.place(found.contact),
                parts: found.parts,
            });
        }
    }
    let can_revisit = places.len() == settled.len();
    memory.places = places;
    let nearest = settled.iter().map(|found| found.contact.separation);
    memory.looked(Told {
        at: now,
        looked_at: now,
        reach: frame.reach,
        can_revisit,
        nearest: nearest.fold(f32::INFINITY, f32::min),
        clear,
    });
}

/// Removes and returns the manifolds that Rapier made for its own children; those of fields have no
/// subshape poses.
fn take_plain<M, C>(manifolds: &mut Vec<ContactManifold<M, C>>) -> Vec<ContactManifold<M, C>> {
    if manifolds
        .iter()
        .all(|manifold| manifold.subshape_poses.is_none())
    {
        return Vec::new();
    }
    let (plain, ours) = std::mem::take(manifolds)
        .into_iter()
        .partition(|manifold| manifold.subshape_poses.is_some());
    *manifolds = ours;
    plain
}

/// Returns the pose of a child of a compound; the identity if the shape is not a compound.
pub(crate) fn child_pose(shape: &dyn RapierShape, subshape: u32) -> RapierPose {
    match shape.as_shape::<rapier::parry::shape::Compound>() {
        Some(compound) => compound.shapes()[subshape as usize].0,
        None => RapierPose::IDENTITY,
    }
}

impl QueryDispatcher for FieldDispatcher {
    fn intersection_test(
        &self,
        pos12: &RapierPose,
        g1: &dyn RapierShape,
        g2: &dyn RapierShape,
    ) -> Result<ShapeIntersection, Unsupported> {
        if !holds_field(g1) && !holds_field(g2) {
            return DefaultQueryDispatcher.intersection_test(pos12, g1, g2);
        }
        query::intersection(self, pos12, g1, g2)
    }

    fn distance(
        &self,
        pos12: &RapierPose,
        g1: &dyn RapierShape,
        g2: &dyn RapierShape,
    ) -> Result<ShapeDistance, Unsupported> {
        if !holds_field(g1) && !holds_field(g2) {
            return DefaultQueryDispatcher.distance(pos12, g1, g2);
        }
        query::distance(self, pos12, g1, g2)
    }

    fn contact(
        &self,
        pos12: &RapierPose,
        g1: &dyn RapierShape,
        g2: &dyn RapierShape,
        prediction: Real,
    ) -> Result<Option<RapierContact>, Unsupported> {
        if !holds_field(g1) && !holds_field(g2) {
            return DefaultQueryDispatcher.contact(pos12, g1, g2, prediction);
        }
        query::contact(self, pos12, g1, g2, prediction)
    }

    fn closest_points(
        &self,
        pos12: &RapierPose,
        g1: &dyn RapierShape,
        g2: &dyn RapierShape,
        max_dist: Real,
    ) -> Result<ClosestPoints, Unsupported> {
        if !holds_field(g1) && !holds_field(g2) {
            return DefaultQueryDispatcher.closest_points(pos12, g1, g2, max_dist);
        }
        query::closest_points(self, pos12, g1, g2, max_dist)
    }

    fn cast_shapes(
        &self,
        pos12: &RapierPose,
        local_vel12: Vector,
        g1: &dyn RapierShape,
        g2: &dyn RapierShape,
        options: ShapeCastOptions,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        if !holds_field(g1) && !holds_field(g2) {
            return DefaultQueryDispatcher.cast_shapes(pos12, local_vel12, g1, g2, options);
        }
        sweep::straight(self, pos12, local_vel12, g1, g2, options)
    }

    fn cast_shapes_nonlinear(
        &self,
        motion1: &NonlinearRigidMotion,
        g1: &dyn RapierShape,
        motion2: &NonlinearRigidMotion,
        g2: &dyn RapierShape,
        start_time: Real,
        end_time: Real,
        stop_at_penetration: bool,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        if !holds_field(g1) && !holds_field(g2) {
            return DefaultQueryDispatcher.cast_shapes_nonlinear(
                motion1,
                g1,
                motion2,
                g2,
                start_time,
                end_time,
                stop_at_penetration,
            );
        }
        let times = [start_time, end_time];
        sweep::turning(
            self,
            [motion1, motion2],
            [g1, g2],
            times,
            stop_at_penetration,
            Asker::Rapier,
        )
    }
}
