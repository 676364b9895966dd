//! Finds the contacts of a pair for solvers: few, at the places where the surfaces are nearest, and
//! matched with those of the last search.
//!
//! Input: two bodies with their poses, how far to search, the method.
//! Output: the [`Place`]s of the pair's slot, with the impulses of those that were there before.
//! Cost: microseconds for convex bodies, a descent of both sphere trees for others; no allocation
//! once the buffers have grown.
//! Not for: depth as it is recorded, which does not believe the solver (see `depth`).

use glam::DVec3;
use touchfield::contact::Contact;
use touchfield::geom::Tolerance;
use touchfield::manifold::{
    ManifoldScratch, ManifoldSettings, ReduceScratch, ReduceSettings, Reduced, reduce,
};
use touchfield::narrow::{
    CollideSettings, ContactMethod, Contacts, Descent, Pair, Particles, Scratch, Subdivision,
    collide_again, place_of, revisit, settle,
};
use touchfield::{Pose, Shape};

use crate::body::Body;
use crate::contacts::ground::GroundBox;
use crate::contacts::slots::{Place, Slot};
use crate::frame::Frame;
use crate::response::continuous::SweptBuffers;

/// How contacts are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactFinder {
    /// Convex bodies by their faces, all others by both shells, settled onto the surfaces.
    #[default]
    Auto,
    /// Subdivision of boxes, following all that may hold a common point \[Adelman\].
    OctreeSlow,
    /// Subdivision of boxes, following the best one of each level \[Adelman\].
    OctreeFast,
    /// Subdivision of boxes, following those near the best \[Adelman\].
    OctreeHybrid,
    /// Shells alone, as for pairs of fields in [`ContactFinder::Auto`], for convex bodies too.
    Shell,
    /// Particles projected onto the surface of the intersection \[Krayer2020\].
    Particles,
    /// The deepest point of each segment of the finer shell, of which there are about this many
    /// \[Sagardia2014\]. All of them are kept. Not in scene files.
    Segments(u32),
    /// Swept points of the shell, one by one \[XuCcd2014\]. Continuous penalties only.
    SweptLinear,
    /// Swept points of the shell by its sphere tree. Continuous penalties only.
    SweptTree,
}

impl ContactFinder {
    /// All methods that a scene file can name.
    pub const ALL: [ContactFinder; 8] = [
        ContactFinder::Auto,
        ContactFinder::OctreeSlow,
        ContactFinder::OctreeFast,
        ContactFinder::OctreeHybrid,
        ContactFinder::Shell,
        ContactFinder::Particles,
        ContactFinder::SweptLinear,
        ContactFinder::SweptTree,
    ];

    /// Returns the name used in scene files.
    pub fn name(self) -> &'static str {
        match self {
            ContactFinder::Auto => "auto",
            ContactFinder::OctreeSlow => "octree-slow",
            ContactFinder::OctreeFast => "octree-fast",
            ContactFinder::OctreeHybrid => "octree-hybrid",
            ContactFinder::Shell => "shell",
            ContactFinder::Particles => "particles",
            ContactFinder::Segments(_) => "segments",
            ContactFinder::SweptLinear => "swept-linear",
            ContactFinder::SweptTree => "swept-tree",
        }
    }
}

/// Share of the smaller body's diagonal within which one shell point may represent others.
const DETAIL_SHARE: f32 = 0.02;

/// Most contacts of a pair that are settled. More would cost time and say nothing new.
const MOST_SETTLED: usize = 48;

/// Most contacts of a pair that are kept, and most with one normal.
const MOST_KEPT: usize = 12;
const MOST_OF_ONE_NORMAL: usize = 4;

/// Share of the smaller diagonal within which a contact is the one of the last search.
const SAME_SHARE: f32 = 0.03;

/// Share of the smaller diagonal within which two settled contacts are one.
const TWIN_SHARE: f32 = 0.002;
/// Cosine between the normals of two settled contacts above which they may be one.
const ALIKE: f32 = 0.99;

/// Share of the smaller diagonal by which a contact of the poses ahead may have been closed before
/// the bodies moved. Contact queries in `f32` resolve a hundredth of it.
const CLOSED_SHARE: f64 = 2e-5;

/// Cosine between two normals below which they are those of different sides of a body.
const OTHER_WAY: f64 = 0.9;

/// Share of how far a contact would close that the bodies may overlap in another direction where
/// they are going, for the contact to be none. With more, a pin that reaches the end of its slot
/// goes through it.
const GHOST_SHARE: f64 = 0.1;

/// A search for the contacts of one pair.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) a: &'a Body,
    pub(crate) b: &'a Body,
    /// Separation up to which contacts are wanted \[m\].
    pub(crate) reach: f64,
    pub(crate) method: ContactFinder,
    /// Time for which the bodies go on before contacts are searched again \[s\].
    pub(crate) ahead: f64,
}

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct Lane {
    pub(crate) scratch: Scratch,
    pub(crate) swept: SweptBuffers,
    found: Contacts,
    thinned: Vec<Contact>,
    settled: Vec<Contact>,
    reduce: ReduceScratch,
    reduced: Reduced,
    manifold: ManifoldScratch,
}

impl std::fmt::Debug for Lane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lane").finish_non_exhaustive()
    }
}

impl Search<'_> {
    /// Searches the pair and replaces the places of its slot. Places that go on keep their
    /// impulses.
    pub(crate) fn run(&self, slot: &mut Slot, lane: &mut Lane) {
        slot.fault = None;
        if let Err(error) = self.best_of_two(slot, lane) {
            slot.places.clear();
            slot.fault = Some(error);
        }
    }

    /// Takes the contacts of the present poses, unless one of them is about to be closed that the
    /// bodies, where they are going, close in another direction.
    ///
    /// A body that slides from one block to the next sees the side of that block in its way. Where
    /// it is going it lies on the block: there the least way out is the way it came.
    fn best_of_two(&self, slot: &mut Slot, lane: &mut Lane) -> Result<(), String> {
        let now = [self.a.pose(), self.b.pose()];
        let ahead = [self.a, self.b].map(|body| body.predicted(self.ahead));
        self.search(now, slot, lane)?;
        let closed = CLOSED_SHARE * self.a.size().min(self.b.size());
        let is_closing = |place: &&Place| {
            let later = place.gap(&ahead);
            later < closed && later < place.gap(&now) - closed
        };
        let Some(closing) = slot.places.iter().find(is_closing).copied() else {
            return Ok(());
        };
        // Twice as far, so that bodies which would just touch overlap, too.
        let beyond = [self.a, self.b].map(|body| body.predicted(2.0 * self.ahead));
        self.search(beyond, slot, lane)?;
        // Bodies that go past each other do not overlap there, save by a little.
        let most = closed + GHOST_SHARE * (-closing.gap(&beyond)).max(0.0);
        let is_other_way = |place: &Place| {
            place.gap(&now) >= -closed
                && place.gap(&beyond) >= -most
                && place.normal.dot(closing.normal) < OTHER_WAY
        };
        if slot.places.is_empty() || slot.places.iter().all(is_other_way) {
            return Ok(());
        }
        self.search(now, slot, lane)
    }

    fn search(&self, frames: [Frame; 2], slot: &mut Slot, lane: &mut Lane) -> Result<(), String> {
        let [frame_a, frame_b] = frames;
        let (shape_a, shape_b) = (self.a.geometry().shape(), self.b.geometry().shape());
        let size = shape_a.solid().diagonal().min(shape_b.solid().diagonal());
        let is_convex = |shape: &Shape| shape.as_convex().is_some();
        let grounds = [self.a, self.b].map(|body| body.geometry().as_half_space());
        let exactly = self.method == ContactFinder::Auto;
        // A half-space beside a convex body is a box under it.
        let other = match grounds {
            [Some(normal), None] if is_convex(shape_b) => Some((0, normal, shape_b)),
            [None, Some(normal)] if is_convex(shape_a) => Some((1, normal, shape_a)),
            _ => None,
        };
        let (mut query_a, mut query_b) = ((frame_a, shape_a), (frame_b, shape_b));
        if let Some((side, normal, convex)) = other.filter(|_| exactly) {
            if slot.ground.is_none() {
                slot.ground = GroundBox::new(normal, f64::from(convex.solid().diagonal()));
            }
            if let Some(ground) = &slot.ground {
                let center =
                    |frame: &Frame, shape: &Shape| frame.point(shape.solid().center().as_dvec3());
                if side == 0 {
                    query_a = (
                        ground.under(&frame_a, center(&frame_b, shape_b)),
                        ground.shape(),
                    );
                } else {
                    query_b = (
                        ground.under(&frame_b, center(&frame_a, shape_a)),
                        ground.shape(),
                    );
                }
            }
        }
        let pair = Pair {
            a: query_a.1,
            b: query_b.1,
            a_from_b: query_a.0.from_other(&query_b.0),
        };
        let both_convex = is_convex(pair.a) && is_convex(pair.b);
        let method = self.method(both_convex, &pair);
        slot.is_cheap = method == ContactMethod::Convex;
        let settings = CollideSettings {
            method,
            max_separation: self.reach as f32,
            detail: if method == ContactMethod::BothShells {
                DETAIL_SHARE * size
            } else {
                0.0
            },
            budget: None,
            ..CollideSettings::default()
        };
        let memory = &mut slot.memory;
        collide_again(&pair, &settings, memory, &mut lane.scratch, &mut lane.found)
            .map_err(|error| error.to_string())?;
        // Choose those that represent the rest, and move them to where the surfaces are nearest.
        lane.settled.clear();
        if lane.found.method.is_by_shell() {
            self.settle(&pair, size, lane)?;
        } else {
            lane.settled.extend_from_slice(&lane.found.contacts);
        }
        let (max_contacts, max_per_normal) = match self.method {
            ContactFinder::Segments(count) => (count as usize, count as usize),
            _ => (MOST_KEPT, MOST_OF_ONE_NORMAL),
        };
        let few = ManifoldSettings {
            reduce: ReduceSettings {
                max_contacts,
                max_per_normal,
                normal_angle: 0.05,
                tolerance: Tolerance::for_size(size),
                fade: (0.25 * self.reach as f32).max(1e-4 * size),
                ..ReduceSettings::default()
            },
            match_distance: SAME_SHARE * size,
            match_angle: 0.5,
            ids_last: false,
        };
        (slot.manifold)
            .update(&lane.settled, pair.a_from_b, &few, &mut lane.manifold)
            .map_err(|error| error.to_string())?;
        std::mem::swap(&mut slot.places, &mut slot.old);
        slot.places.clear();
        let to_a = query_a.0;
        let by_shell = lane.found.method.is_by_shell();
        for kept in slot.manifold.kept() {
            let contact = kept.contact;
            let normal = (to_a.rotation * contact.normal.as_dvec3()).normalize();
            let place = |on: glam::Vec3| to_a.point(on.as_dvec3());
            let before = kept.previous.and_then(|index| slot.old.get(index as usize));
            slot.places.push(Place {
                on_a: frame_a.to_inner(place(contact.point_on_a())),
                on_b: frame_b.to_inner(place(contact.point_on_b())),
                normal,
                of_shell: by_shell.then(|| {
                    let found = Contact {
                        id: kept.source,
                        ..contact
                    };
                    (kept.source, place_of(&pair, &found))
                }),
                moving: before.map_or([0.0; 3], |place| place.moving),
                resting: before.map_or([0.0; 3], |place| place.resting),
            });
        }
        Ok(())
    }

    fn method(&self, both_convex: bool, pair: &Pair<'_>) -> ContactMethod {
        let has_shell = pair.a.shell().is_some() || pair.b.shell().is_some();
        let octree = |descent| {
            ContactMethod::OctreeSubdivision(Subdivision {
                descent,
                ..Subdivision::default()
            })
        };
        match self.method {
            ContactFinder::Auto if both_convex => ContactMethod::Convex,
            ContactFinder::OctreeSlow => octree(Descent::Slow),
            ContactFinder::OctreeFast => octree(Descent::Fast),
            ContactFinder::OctreeHybrid => octree(Subdivision::HYBRID),
            ContactFinder::Segments(count) => ContactMethod::ShellSegments(count),
            ContactFinder::Particles => ContactMethod::ProjectionParticles(Particles {
                one_per_cell: true,
                ..Particles::default()
            }),
            _ if has_shell => ContactMethod::BothShells,
            _ => ContactMethod::Auto,
        }
    }

    /// Fills `lane.settled` with representative contacts at their lowest places.
    fn settle(&self, pair: &Pair<'_>, size: f32, lane: &mut Lane) -> Result<(), String> {
        let Lane {
            found,
            thinned,
            settled,
            reduce: scratch,
            reduced,
            ..
        } = lane;
        thinned.clear();
        if found.contacts.len() > MOST_SETTLED {
            let some = ReduceSettings {
                max_contacts: MOST_SETTLED,
                max_per_normal: MOST_SETTLED / 2,
                tolerance: Tolerance::for_size(size),
                fade: self.reach as f32,
                ..ReduceSettings::default()
            };
            reduce(&found.contacts, &[], &some, scratch, reduced).map_err(|e| e.to_string())?;
            let kept = reduced.kept.iter();
            thinned.extend(kept.map(|&index| found.contacts[index as usize]));
        } else {
            thinned.extend_from_slice(&found.contacts);
        }
        let reach = shell_reach(pair, size);
        for &contact in thinned.iter() {
            let moved = settle(pair, contact, reach);
            let twin = TWIN_SHARE * size;
            let other = settled.iter_mut().find(|other| {
                other.point.distance_squared(moved.point) <= twin * twin
                    && other.normal.dot(moved.normal) > ALIKE
            });
            match other {
                Some(other) if moved.separation < other.separation => *other = moved,
                Some(_) => {}
                None => settled.push(moved),
            }
        }
        Ok(())
    }

    /// Updates the places of a slot whose bodies moved a little since the search: those made by
    /// shells go one step down the slope, others stay where they are on their bodies.
    pub(crate) fn revisit(&self, slot: &mut Slot) {
        let (frame_a, frame_b) = (self.a.pose(), self.b.pose());
        let (shape_a, shape_b) = (self.a.geometry().shape(), self.b.geometry().shape());
        let pair = Pair {
            a: shape_a,
            b: shape_b,
            a_from_b: frame_a.from_other(&frame_b),
        };
        let size = shape_a.solid().diagonal().min(shape_b.solid().diagonal());
        let reach = shell_reach(&pair, size);
        for place in &mut slot.places {
            let Some((id, on_shell)) = place.of_shell else {
                continue;
            };
            let Some(contact) = revisit(&pair, id, on_shell, reach) else {
                continue;
            };
            place.on_a = contact.point_on_a().as_dvec3();
            place.on_b = in_b(&pair.a_from_b, contact.point_on_b());
            place.normal = (frame_a.rotation * contact.normal.as_dvec3()).normalize();
            place.of_shell = Some((id, place_of(&pair, &contact)));
        }
    }
}

fn in_b(a_from_b: &Pose, point_in_a: glam::Vec3) -> DVec3 {
    a_from_b.inverse().transform_point(point_in_a).as_dvec3()
}

/// Returns how far shells may have missed a place \[m\].
fn shell_reach(pair: &Pair<'_>, size: f32) -> f32 {
    let radii = [pair.a, pair.b].into_iter().filter_map(Shape::shell);
    let radii = radii.map(|shell| shell.covering_radius().min(3.0 * DETAIL_SHARE * size));
    radii.fold(DETAIL_SHARE * size, f32::max)
}
