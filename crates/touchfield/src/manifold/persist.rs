//! The contacts of one pair from step to step: which is the same as before, and which is new.
//!
//! Input: all contacts of a step, in any order, with or without lasting ids; the pose. Output: those kept, each with an id that lasts
//! while the contact does, its age, and its place in the last step, so that a solver finds its impulse.
//! Cost: O(n · kept) and the reduction. Not for: pairs that change places, which makes A of B.
//!
//! Two contacts are the same if they are near one another as seen from A, or as seen from B: a contact that slides stays where it is on
//! one of the bodies, one that rolls moves a little on both. That is the third problem of document 004, which gives no method.

use glam::Vec3;

use super::reduce::{ManifoldError, ReduceScratch, ReduceSettings, Reduced, reduce};
use crate::contact::{Contact, ContactId};
use crate::geom::Pose;

/// How contacts are kept and recognised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManifoldSettings {
    /// How many are kept.
    pub reduce: ReduceSettings,
    /// A contact that moved farther than this in the frames of both bodies is another one \[m\].
    ///
    /// Tuned to be what a body rolls in a step: 5 mm is 0.3 m/s at 60 Hz. Larger confuses neighbours only where there is nothing nearer.
    pub match_distance: f32,
    /// A contact whose normal turned by more than this in the frames of both bodies is another one \[rad\].
    pub match_angle: f32,
    /// Whether equal ids mean the same contact, as with methods that look at points of a shell.
    pub ids_last: bool,
}

impl Default for ManifoldSettings {
    fn default() -> ManifoldSettings {
        ManifoldSettings {
            reduce: ReduceSettings::default(),
            match_distance: 0.005,
            match_angle: 0.5,
            ids_last: false,
        }
    }
}

/// A contact that was kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept {
    /// In frame A; its id is the manifold's, and lasts.
    pub contact: Contact,
    /// The id under which it was found.
    pub source: ContactId,
    /// Steps since it was new; 0: it is.
    pub age: u32,
    /// Its place among the contacts kept in the last step; `None` if it is new.
    pub previous: Option<u32>,
    /// Which of [`Manifold::groups`] it belongs to.
    pub group: u32,
}

/// The contacts of one pair of bodies, over time.
#[derive(Clone, Debug, Default)]
pub struct Manifold {
    kept: Vec<Kept>,
    reduced: Reduced,
    next_id: u32,
    b_from_a: Pose,
}

/// Buffers that are reused from call to call and pair to pair.
#[derive(Clone, Debug, Default)]
pub struct ManifoldScratch {
    reduce: ReduceScratch,
    links: Vec<Link>,
    /// For every contact looked at, which of the last step it is.
    previous: Vec<Option<u32>>,
    preferred: Vec<bool>,
    chosen: Vec<Contact>,
    /// Whether a contact of the last step was found again.
    found_again: Vec<bool>,
    kept: Vec<Kept>,
}

/// That a contact found may be one of the last step.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Square of the distance in the frame where it moved less \[m²\].
    moved: f32,
    old: u32,
    new: u32,
}

impl Manifold {
    /// Takes the contacts of a step: recognises those of the last one, and keeps a few.
    ///
    /// After an error the manifold is empty, as if the bodies had parted.
    pub fn update(
        &mut self,
        found: &[Contact],
        a_from_b: Pose,
        settings: &ManifoldSettings,
        scratch: &mut ManifoldScratch,
    ) -> Result<(), ManifoldError> {
        for (name, value) in [
            ("match_distance", settings.match_distance),
            ("match_angle", settings.match_angle),
        ] {
            if value.is_nan() || value < 0.0 {
                self.clear();
                return Err(ManifoldError::BadSetting { name, value });
            }
        }
        let b_from_a = a_from_b.inverse();
        // Those of the last step are preferred, so that equally good ones do not take turns.
        self.recognise(found, b_from_a, settings, scratch);
        scratch.preferred.clear();
        (scratch.preferred).extend(scratch.previous.iter().map(Option::is_some));
        let reduced = reduce(
            found,
            &scratch.preferred,
            &settings.reduce,
            &mut scratch.reduce,
            &mut self.reduced,
        );
        reduced.inspect_err(|_| self.clear())?;
        // Once more among those kept alone: the rim of a rolling patch is made of ever new contacts, each beside the last.
        let mut chosen = std::mem::take(&mut scratch.chosen);
        chosen.clear();
        chosen.extend(self.reduced.kept.iter().map(|&index| found[index as usize]));
        self.recognise(&chosen, b_from_a, settings, scratch);
        self.name(&chosen, scratch);
        scratch.chosen = chosen;
        self.b_from_a = b_from_a;
        Ok(())
    }

    /// Those kept in the last step, group after group, the deepest of each group first.
    pub fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Contacts of nearly one normal each; their ranges are of [`Self::kept`].
    pub fn groups(&self) -> &[super::Group] {
        &self.reduced.groups
    }

    /// Forgets all contacts; ids go on.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.reduced.kept.clear();
        self.reduced.groups.clear();
    }

    /// As if it were new; its buffers stay.
    pub fn reset(&mut self) {
        self.clear();
        self.next_id = 0;
        self.b_from_a = Pose::IDENTITY;
    }

    /// Replaces the contacts kept: ids and ages of those recognised, new ids for the others.
    fn name(&mut self, chosen: &[Contact], scratch: &mut ManifoldScratch) {
        scratch.kept.clear();
        for (group, range) in self.reduced.groups.iter().enumerate() {
            for place in range.first..range.first + range.count {
                let contact = chosen[place as usize];
                let previous = scratch.previous[place as usize];
                let before = previous.map(|place| &self.kept[place as usize]);
                let id = before.map_or(ContactId(self.next_id), |before| before.contact.id);
                if before.is_none() {
                    self.next_id = self.next_id.wrapping_add(1);
                }
                scratch.kept.push(Kept {
                    contact: Contact { id, ..contact },
                    source: contact.id,
                    age: before.map_or(0, |before| before.age.saturating_add(1)),
                    previous,
                    group: group as u32,
                });
            }
        }
        self.kept.clear();
        self.kept.extend_from_slice(&scratch.kept);
    }

    /// Fills `scratch.previous`: the nearest first, each contact once.
    fn recognise(
        &self,
        found: &[Contact],
        b_from_a: Pose,
        settings: &ManifoldSettings,
        scratch: &mut ManifoldScratch,
    ) {
        let ManifoldScratch {
            links,
            previous,
            found_again,
            ..
        } = scratch;
        previous.clear();
        previous.resize(found.len(), None);
        found_again.clear();
        found_again.resize(self.kept.len(), false);
        links.clear();
        let least = settings.match_angle.min(std::f32::consts::PI).cos();
        let reach = settings.match_distance * settings.match_distance;
        for (new, contact) in found.iter().enumerate() {
            let in_b = Seen::from(b_from_a, contact);
            for (old, before) in self.kept.iter().enumerate() {
                let moved_on_a = contact.point.distance_squared(before.contact.point);
                let before_in_b = Seen::from(self.b_from_a, &before.contact);
                let moved_on_b = in_b.point.distance_squared(before_in_b.point);
                let turned_on_a = contact.normal.dot(before.contact.normal);
                let turned_on_b = in_b.normal.dot(before_in_b.normal);
                let same = settings.ids_last && contact.id == before.source;
                let moved = if same {
                    0.0
                } else {
                    moved_on_a.min(moved_on_b)
                };
                if moved <= reach && turned_on_a.max(turned_on_b) >= least {
                    links.push(Link {
                        moved,
                        old: old as u32,
                        new: new as u32,
                    });
                }
            }
        }
        links.sort_unstable_by(|a, b| {
            (a.moved.total_cmp(&b.moved))
                .then(a.old.cmp(&b.old))
                .then(a.new.cmp(&b.new))
        });
        for link in links.iter() {
            let (old, new) = (link.old as usize, link.new as usize);
            if !found_again[old] && previous[new].is_none() {
                found_again[old] = true;
                previous[new] = Some(link.old);
            }
        }
    }
}

/// Point and normal of a contact in frame B.
struct Seen {
    point: Vec3,
    normal: Vec3,
}

impl Seen {
    fn from(b_from_a: Pose, contact: &Contact) -> Seen {
        Seen {
            point: b_from_a.transform_point(contact.point),
            normal: b_from_a.transform_vector(contact.normal),
        }
    }
}
