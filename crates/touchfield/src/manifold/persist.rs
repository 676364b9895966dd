//! Persistent contacts of one pair: matches the contacts of a step with those of the step before.
//!
//! Input: all contacts of a step, in any order, with or without lasting ids; the relative pose.
//! Output: the contacts kept, each with an id that lasts as long as the contact, its age, and its
//! index in the last step, by which a solver finds the impulse for a warm start.
//! Cost: O(n · kept), and the reduction.
//! Not for: pairs whose A and B are exchanged between steps.
//!
//! Two contacts are the same if they are close to one another in frame A or in frame B: a contact
//! that slides is fixed in one of the bodies, one that rolls moves a little in both. This is the
//! third problem of \[Lecture06\], which gives no method.

use glam::Vec3;

use super::reduce::{ManifoldError, ReduceScratch, ReduceSettings, Reduced, reduce};
use crate::contact::{Contact, ContactId};
use crate::geom::Pose;

/// Settings for the reduction and matching of contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManifoldSettings {
    /// Settings of the reduction.
    pub reduce: ReduceSettings,
    /// Largest distance that a contact may move and still be the same \[m\], in the frame where it
    /// moved less.
    ///
    /// Tuned to the distance that a body rolls in a step: at 60 Hz, 5 mm corresponds to 0.3 m/s. A
    /// larger value confuses neighbours only where there is no nearer match.
    pub match_distance: f32,
    /// Largest angle that a contact's normal may turn and still be the same \[rad\], in the frame
    /// where it turned less.
    pub match_angle: f32,
    /// Whether equal ids mean the same contact, as with methods that test the points of a shell.
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

/// A contact that the reduction kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept {
    /// The contact in frame A, with the manifold's own persistent id.
    pub contact: Contact,
    /// Id of the contact in the input.
    pub source: ContactId,
    /// Number of steps since the contact was new; 0 in its first step.
    pub age: u32,
    /// Index of the same contact among those kept in the last step; `None` if it is new.
    pub previous: Option<u32>,
    /// Index of the contact's group in [`Manifold::groups`].
    pub group: u32,
}

/// The contacts of one pair of bodies over time.
#[derive(Clone, Debug, Default)]
pub struct Manifold {
    kept: Vec<Kept>,
    reduced: Reduced,
    next_id: u32,
    b_from_a: Pose,
}

/// Scratch buffers, reused from call to call and from pair to pair.
#[derive(Clone, Debug, Default)]
pub struct ManifoldScratch {
    reduce: ReduceScratch,
    links: Vec<Link>,
    /// For every contact of the input, the index of the matching contact of the last step.
    previous: Vec<Option<u32>>,
    preferred: Vec<bool>,
    chosen: Vec<Contact>,
    /// Whether a contact of the last step was matched.
    found_again: Vec<bool>,
    kept: Vec<Kept>,
}

/// A possible match of a new contact with one of the last step.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Square of the distance moved, in the frame where it is smaller \[m²\].
    moved: f32,
    old: u32,
    new: u32,
}

impl Manifold {
    /// Updates the manifold with the contacts of a step: matches them with the last step's contacts
    /// and keeps a few.
    ///
    /// After an error the manifold is empty, as if the bodies had separated.
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
        // Matched contacts are preferred, so that equally good ones do not alternate.
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
        // Match again among the kept contacts alone: the rim of a rolling patch consists of ever
        // new contacts, each next to one of the last step.
        let mut chosen = std::mem::take(&mut scratch.chosen);
        chosen.clear();
        chosen.extend(self.reduced.kept.iter().map(|&index| found[index as usize]));
        self.recognise(&chosen, b_from_a, settings, scratch);
        self.name(&chosen, scratch);
        scratch.chosen = chosen;
        self.b_from_a = b_from_a;
        Ok(())
    }

    /// Returns the contacts kept in the last step, group after group, the deepest of each group
    /// first.
    pub fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Returns the groups of contacts with nearly equal normals; their ranges index [`Self::kept`].
    pub fn groups(&self) -> &[super::Group] {
        &self.reduced.groups
    }

    /// Removes all contacts; the numbering of ids continues.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.reduced.kept.clear();
        self.reduced.groups.clear();
    }

    /// Resets the manifold to its initial state; its buffers are kept.
    pub fn reset(&mut self) {
        self.clear();
        self.next_id = 0;
        self.b_from_a = Pose::IDENTITY;
    }

    /// Replaces the kept contacts. Matched ones keep their id and grow older; the others get new
    /// ids.
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

    /// Fills `scratch.previous`: matches in order of increasing distance, each contact at most
    /// once.
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
        // Collect all candidate matches.
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
        // Accept them greedily, the nearest first; ties go to the lower indices.
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
