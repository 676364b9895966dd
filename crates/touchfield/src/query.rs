//! The front door for queries: [`Query`] owns all scratch buffers and the memory of pairs.
//!
//! Input: two shapes, and the pose or the motion of B relative to A.
//! Output: contacts, a manifold, whether they touch, a separation, a first touch, a clearance; all
//! in frame A.
//! Cost: that of the functions in [`crate::narrow`], within two per cent; no allocation once the
//! buffers have grown.
//! Not for: worlds of many bodies, see [`crate::pipeline`].

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use crate::contact::{Contact, PenaltyWrench};
use crate::field::Field;
use crate::geom::{PairMotion, Pose};
use crate::manifold::{Manifold, ManifoldError, ManifoldScratch, ManifoldSettings};
use crate::narrow::{
    self, Cast, CastScratch, CastSettings, Clearance, ClearanceScratch, ClearanceSettings,
    CollideError, CollideSettings, Contacts, MotionError, Pair, PairMemory, Scratch, Separation,
    SeparationScratch, SeparationSettings, WrenchSettings,
};
use crate::shape::Shape;
use crate::threads;

/// A context for queries of pairs of shapes. Use one per thread, and reuse it from call to call.
///
/// It stores data per pair: the contacts of [`Query::manifold`] keep their ids from call to call,
/// and queries of two convex bodies warm start from their last result. Results are as accurate as
/// without that memory; those of convex bodies may differ in their last bits.
#[derive(Default)]
pub struct Query {
    scratch: Scratch,
    contacts: Contacts,
    separation: SeparationScratch,
    cast: CastScratch,
    clearance: ClearanceScratch,
    manifold: ManifoldScratch,
    pairs: Pairs,
}

/// Data stored per pair. The weak pointers prevent the addresses in `key` from being reused for
/// other shapes.
struct Remembered {
    key: [usize; 2],
    shapes: [Weak<dyn Field>; 2],
    memory: PairMemory,
    manifold: Manifold,
}

impl Remembered {
    fn is_alive(&self) -> bool {
        self.shapes.iter().all(|shape| shape.strong_count() > 0)
    }
}

/// Why a manifold cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QueryManifoldError {
    /// The contacts cannot be computed.
    #[error(transparent)]
    Collide(#[from] CollideError),
    /// The contacts cannot be reduced to a manifold.
    #[error(transparent)]
    Manifold(#[from] ManifoldError),
}

/// Tolerance of separations, casts and clearances unless settings say otherwise, as a fraction of
/// the smaller body's diagonal.
pub const DEFAULT_TOLERANCE: f32 = 1e-3;

/// Number of poses that share one query in the batch functions, so that its buffers grow once for
/// all of them.
const PIECE: usize = 64;

/// Number of stored pairs from which on those whose shapes are gone are dropped.
const PAIRS_BEFORE_CLEANING: usize = 64;

/// Returns the tolerance for two shapes \[m\]: [`DEFAULT_TOLERANCE`] times the smaller diagonal.
pub fn default_tolerance(a: &Shape, b: &Shape) -> f32 {
    let smaller = a.solid().diagonal().min(b.solid().diagonal());
    match smaller.is_finite() && smaller > 0.0 {
        true => DEFAULT_TOLERANCE * smaller,
        // Two unbounded bodies: a millimetre.
        false => 1e-3,
    }
}

impl Query {
    /// Returns the contacts of two bodies that touch or overlap, deepest first.
    pub fn contacts(
        &mut self,
        a: &Shape,
        b: &Shape,
        a_from_b: Pose,
    ) -> Result<&[Contact], CollideError> {
        let contacts = self.contacts_with(a, b, a_from_b, &CollideSettings::default())?;
        Ok(&contacts.contacts)
    }

    /// Computes [`Query::contacts`] with settings; also returns the method, the wrench and the
    /// outcome.
    pub fn contacts_with(
        &mut self,
        a: &Shape,
        b: &Shape,
        a_from_b: Pose,
        settings: &CollideSettings,
    ) -> Result<&Contacts, CollideError> {
        let pair = Pair { a, b, a_from_b };
        match self.pairs.of_convex(a, b) {
            Some(pair_of) => narrow::collide_again(
                &pair,
                settings,
                &mut pair_of.memory,
                &mut self.scratch,
                &mut self.contacts,
            )?,
            None => narrow::collide(&pair, settings, &mut self.scratch, &mut self.contacts)?,
        }
        Ok(&self.contacts)
    }

    /// Returns a few contacts that resist nearly everything that all contacts do, with ids that
    /// last from call to call for the same two shapes.
    pub fn manifold(
        &mut self,
        a: &Shape,
        b: &Shape,
        a_from_b: Pose,
    ) -> Result<&Manifold, QueryManifoldError> {
        let settings = CollideSettings::default();
        self.manifold_with(a, b, a_from_b, &settings, &ManifoldSettings::default())
    }

    /// Computes [`Query::manifold`] with settings for the contacts and for their reduction.
    pub fn manifold_with(
        &mut self,
        a: &Shape,
        b: &Shape,
        a_from_b: Pose,
        settings: &CollideSettings,
        manifold: &ManifoldSettings,
    ) -> Result<&Manifold, QueryManifoldError> {
        let pair_of = self.pairs.of(a, b);
        let pair = Pair { a, b, a_from_b };
        narrow::collide_again(
            &pair,
            settings,
            &mut pair_of.memory,
            &mut self.scratch,
            &mut self.contacts,
        )?;
        let found = &self.contacts.contacts;
        (pair_of.manifold).update(found, a_from_b, manifold, &mut self.manifold)?;
        Ok(&pair_of.manifold)
    }

    /// Computes force and torque on B of a pressure that grows with depth, from all shell points
    /// inside the other body. At least one shape needs a shell.
    pub fn penalty_wrench(
        &mut self,
        a: &Shape,
        b: &Shape,
        a_from_b: Pose,
        settings: &WrenchSettings,
    ) -> Result<PenaltyWrench, CollideError> {
        narrow::penalty_wrench(&Pair { a, b, a_from_b }, settings, &mut self.scratch)
    }

    /// Returns whether two bodies touch or overlap; stops at the first proof.
    pub fn touching(&mut self, a: &Shape, b: &Shape, a_from_b: Pose) -> Result<bool, CollideError> {
        self.touching_with(a, b, a_from_b, 0.0)
    }

    /// Returns whether two bodies come within `max_separation` \[m\] of each other.
    pub fn touching_with(
        &mut self,
        a: &Shape,
        b: &Shape,
        a_from_b: Pose,
        max_separation: f32,
    ) -> Result<bool, CollideError> {
        let pair = Pair { a, b, a_from_b };
        match self.pairs.of_convex(a, b) {
            Some(pair_of) => {
                let memory = &mut pair_of.memory;
                narrow::touching_again(&pair, max_separation, memory, &mut self.scratch)
            }
            None => narrow::touching(&pair, max_separation, &mut self.scratch),
        }
    }

    /// Returns the distance between two bodies, or their penetration depth, to within
    /// [`default_tolerance`].
    pub fn separation(
        &mut self,
        a: &Shape,
        b: &Shape,
        a_from_b: Pose,
    ) -> Result<Separation, CollideError> {
        let settings = SeparationSettings::to_within(default_tolerance(a, b));
        self.separation_with(a, b, a_from_b, &settings)
    }

    /// Computes [`Query::separation`] with settings.
    pub fn separation_with(
        &mut self,
        a: &Shape,
        b: &Shape,
        a_from_b: Pose,
        settings: &SeparationSettings,
    ) -> Result<Separation, CollideError> {
        let pair = Pair { a, b, a_from_b };
        match self.pairs.of_convex(a, b) {
            Some(pair_of) => {
                let memory = &mut pair_of.memory;
                narrow::separation_again(&pair, settings, memory, &mut self.separation)
            }
            None => narrow::separation(&pair, settings, &mut self.separation),
        }
    }

    /// Returns the first touch of two bodies, one or both of which move, to within
    /// [`default_tolerance`].
    pub fn cast(
        &mut self,
        a: &Shape,
        b: &Shape,
        motion: impl Into<PairMotion>,
    ) -> Result<Cast, MotionError> {
        let settings = CastSettings::to_within(default_tolerance(a, b));
        self.cast_with(a, b, motion, &settings)
    }

    /// Computes [`Query::cast`] with settings.
    pub fn cast_with(
        &mut self,
        a: &Shape,
        b: &Shape,
        motion: impl Into<PairMotion>,
        settings: &CastSettings,
    ) -> Result<Cast, MotionError> {
        narrow::cast(a, b, &motion.into(), settings, &mut self.cast)
    }

    /// Returns the smallest distance of two bodies during a motion, to within
    /// [`default_tolerance`].
    pub fn clearance(
        &mut self,
        a: &Shape,
        b: &Shape,
        motion: impl Into<PairMotion>,
    ) -> Result<Clearance, MotionError> {
        let settings = ClearanceSettings::to_within(default_tolerance(a, b));
        self.clearance_with(a, b, motion, &settings)
    }

    /// Computes [`Query::clearance`] with settings.
    pub fn clearance_with(
        &mut self,
        a: &Shape,
        b: &Shape,
        motion: impl Into<PairMotion>,
        settings: &ClearanceSettings,
    ) -> Result<Clearance, MotionError> {
        narrow::clearance(a, b, &motion.into(), settings, &mut self.clearance)
    }

    /// Returns the contacts at many poses of B, in order, computed on all threads.
    pub fn contacts_many(
        a: &Shape,
        b: &Shape,
        a_from_b: &[Pose],
        settings: &CollideSettings,
    ) -> Vec<Result<Vec<Contact>, CollideError>> {
        threads::map_sharing(a_from_b, PIECE, |&a_from_b, query: &mut Query| {
            let found = query.contacts_with(a, b, a_from_b, settings)?;
            Ok(found.contacts.clone())
        })
    }

    /// Returns whether the bodies come within `max_separation` \[m\] at many poses of B.
    pub fn touching_many(
        a: &Shape,
        b: &Shape,
        a_from_b: &[Pose],
        max_separation: f32,
    ) -> Vec<Result<bool, CollideError>> {
        threads::map_sharing(a_from_b, PIECE, |&a_from_b, query: &mut Query| {
            query.touching_with(a, b, a_from_b, max_separation)
        })
    }

    /// Returns the separations at many poses of B.
    pub fn separation_many(
        a: &Shape,
        b: &Shape,
        a_from_b: &[Pose],
        settings: &SeparationSettings,
    ) -> Vec<Result<Separation, CollideError>> {
        narrow::separation_many(a, b, a_from_b, settings)
    }

    /// Returns the first touches of many motions.
    pub fn cast_many(
        a: &Shape,
        b: &Shape,
        motions: &[PairMotion],
        settings: &CastSettings,
    ) -> Vec<Result<Cast, MotionError>> {
        narrow::cast_many(a, b, motions, settings)
    }

    /// Returns the clearances of many motions.
    pub fn clearance_many(
        a: &Shape,
        b: &Shape,
        motions: &[PairMotion],
        settings: &ClearanceSettings,
    ) -> Vec<Result<Clearance, MotionError>> {
        narrow::clearance_many(a, b, motions, settings)
    }

    /// Removes the data of all pairs, so that manifolds start anew. Scratch buffers are kept.
    pub fn forget(&mut self) {
        self.pairs = Pairs::default();
    }
}

impl std::fmt::Debug for Query {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Query")
            .field("pairs", &self.pairs.pairs.len())
            .finish_non_exhaustive()
    }
}

/// Data of pairs, found by the addresses of their fields.
#[derive(Default)]
struct Pairs {
    pairs: Vec<Remembered>,
    by_key: HashMap<[usize; 2], usize>,
    /// Index of the last pair used: most loops query the same pair repeatedly.
    last: usize,
}

impl Pairs {
    /// Returns the data of a pair of convex bodies, whose next query it speeds up; `None` for other
    /// pairs.
    fn of_convex(&mut self, a: &Shape, b: &Shape) -> Option<&mut Remembered> {
        let is_convex = a.as_convex().is_some() && b.as_convex().is_some();
        is_convex.then(|| self.of(a, b))
    }

    /// Returns the data of a pair, adding it if it is new.
    fn of(&mut self, a: &Shape, b: &Shape) -> &mut Remembered {
        let key = [a, b].map(|shape| Arc::as_ptr(shape.field_pointer()).cast::<()>() as usize);
        if self.pairs.get(self.last).is_none_or(|pair| pair.key != key) {
            self.last = match self.by_key.get(&key) {
                Some(&index) => index,
                None => self.add(key, a, b),
            };
        }
        &mut self.pairs[self.last]
    }

    /// Adds a pair; drops those whose shapes are gone first if there are many.
    fn add(&mut self, key: [usize; 2], a: &Shape, b: &Shape) -> usize {
        if self.pairs.len() >= self.by_key.capacity().max(PAIRS_BEFORE_CLEANING) {
            self.pairs.retain(Remembered::is_alive);
            let keys = self.pairs.iter().enumerate().map(|(i, pair)| (pair.key, i));
            self.by_key = keys.collect();
        }
        self.pairs.push(Remembered {
            key,
            shapes: [a, b].map(|shape| Arc::downgrade(shape.field_pointer())),
            memory: PairMemory::default(),
            manifold: Manifold::default(),
        });
        self.by_key.insert(key, self.pairs.len() - 1);
        self.pairs.len() - 1
    }
}
