//! Few contacts for many: those that resist nearly all that all of them do.
//!
//! Input: contacts of one pair, limits. Output: indices of those kept, grouped by normal, the deepest first.
//! Cost: O(n · kept); a few microseconds for fifty contacts, nothing allocated once the buffers have grown.
//! Not for: contacts of several pairs at once; force distributions, which are the solver's.
//!
//! A contact at p with normal n resists the wrench w = [n, (p − c) × n / L], c the mean of the points, L the largest
//! distance from it. A set resists the hull of its wrenches and of 0, told by its support h(u) = max(0, max u·w). Contacts are
//! taken one by one, each the one that adds most to the sum of h over fixed directions u, the bins. That sum is submodular: the
//! choice is within 1 − 1/e of the best where no limit per normal cuts in [Nemhauser1978], and what a contact would add only falls while others
//! are taken, so most need no second look [Minoux1978]. Judged in tests by other directions than those.

use glam::{DVec3, Vec3};

use super::directions::{LINES, PerLine, Support, reaches};
use crate::contact::Contact;
use crate::geom::Tolerance;

/// How many contacts to keep, and what is one normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReduceSettings {
    /// Contacts kept in all, at most.
    pub max_contacts: usize,
    /// Contacts kept of one normal, at most.
    pub max_per_normal: usize,
    /// Normals within this of the first of a group belong to it \[rad\].
    ///
    /// Tuned: gradients of grids are off by a few degrees, and below 5° a flat face falls into several groups; above 30° the sides of
    /// a thread become one.
    pub normal_angle: f32,
    /// Whether the deepest contact is kept whatever it adds. Solvers that undo overlap need it.
    pub keep_deepest: bool,
    /// Contacts no less deep than the deepest by more than its slop count as equally deep.
    ///
    /// On a face that rests flat, which one is deepest is rounding; without a slop it would change at every step.
    pub tolerance: Tolerance,
    /// A contact this much less deep than the deepest counts for half, one farther away for ever less \[m\]; infinite: all count alike.
    ///
    /// Solvers that are handed contacts before bodies touch want it: of a ball above a floor, the rim of what is near reaches farthest and holds nothing.
    pub fade: f32,
}

impl Default for ReduceSettings {
    fn default() -> ReduceSettings {
        ReduceSettings {
            max_contacts: 8,
            max_per_normal: 4,
            normal_angle: 15.0 * std::f32::consts::PI / 180.0,
            keep_deepest: true,
            tolerance: Tolerance::default(),
            fade: f32::INFINITY,
        }
    }
}

/// Why contacts make no manifold.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ManifoldError {
    /// A number is NaN or infinite.
    #[error(
        "contact {index} has a point, normal or separation that is not finite; it names no place"
    )]
    NotFinite {
        /// Which contact.
        index: usize,
    },
    /// A limit is zero, and the deepest contact must be kept.
    #[error(
        "{max_contacts} contacts in all and {max_per_normal} of one normal; both must be at least 1"
    )]
    NothingKept {
        /// As given.
        max_contacts: usize,
        /// As given.
        max_per_normal: usize,
    },
    /// An angle or a length is NaN or negative.
    #[error("{name} is {value:?}; it must be a number and not negative")]
    BadSetting {
        /// Name of the setting.
        name: &'static str,
        /// As given.
        value: f32,
    },
}

/// Contacts of nearly one normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// That of the group's deepest contact; unit, from A to B.
    pub normal: Vec3,
    /// First of its contacts in [`Reduced::kept`].
    pub first: u32,
    /// Number of its contacts.
    pub count: u32,
}

/// What is left of many contacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reduced {
    /// Indices of the contacts kept, group after group, the deepest of each group first.
    pub kept: Vec<u32>,
    /// The group with the deepest contact first.
    pub groups: Vec<Group>,
}

/// Buffers that are reused from call to call.
#[derive(Clone, Debug, Default)]
pub struct ReduceScratch {
    leaders: Vec<Leader>,
    group_of: Vec<u32>,
    candidates: Vec<Candidate>,
    reaches: Vec<PerLine>,
    winners: Vec<u32>,
}

/// A group while it is made.
#[derive(Clone, Copy, Debug)]
struct Leader {
    normal: Vec3,
    deepest: f32,
    deepest_index: u32,
    taken: usize,
}

/// A contact that may be kept.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    index: u32,
    /// What it would add, at most: true when it was last looked at, and it only falls.
    gain: f32,
    /// Number of contacts that were taken when it was last looked at.
    looked_at: u32,
    taken: bool,
    /// What its gain counts for.
    weight: f32,
}

/// How much more a contact of the last step counts, so that nearly equal ones do not take turns.
///
/// A guess that passes the test of a trembling round patch, not a measured optimum: at 1 there is no preference, and at 2 the last step's contacts win
/// over ones that add twice as much.
const PREFERENCE: f32 = 1.25;

/// What adds less than this share of the whole adds rounding: each reach is off by about 2⁻²¹ of the wrench.
const ROUNDING: f32 = 1e-6;

/// Chooses contacts to keep. `preferred` marks those that were kept in the last step; it may be shorter, or empty.
///
/// Fewer than allowed are kept where no other adds anything: the inside of a flat face. The deepest is kept
/// unless the settings say otherwise.
pub fn reduce(
    contacts: &[Contact],
    preferred: &[bool],
    settings: &ReduceSettings,
    scratch: &mut ReduceScratch,
    out: &mut Reduced,
) -> Result<(), ManifoldError> {
    out.kept.clear();
    out.groups.clear();
    check(contacts, settings)?;
    if contacts.is_empty() {
        return Ok(());
    }
    group_by_normal(contacts, settings.normal_angle, scratch);
    let to_wrench = ToWrench::of(contacts, settings.fade);
    find_candidates(contacts, preferred, &to_wrench, scratch);
    choose(contacts, settings, scratch, out);
    arrange(contacts, scratch, out);
    Ok(())
}

fn check(contacts: &[Contact], settings: &ReduceSettings) -> Result<(), ManifoldError> {
    let &ReduceSettings {
        max_contacts,
        max_per_normal,
        normal_angle,
        tolerance,
        fade,
        ..
    } = settings;
    if max_contacts == 0 || max_per_normal == 0 {
        return Err(ManifoldError::NothingKept {
            max_contacts,
            max_per_normal,
        });
    }
    for (name, value) in [
        ("normal_angle", normal_angle),
        ("tolerance.slop", tolerance.slop),
        ("fade", fade),
    ] {
        if value.is_nan() || value < 0.0 {
            return Err(ManifoldError::BadSetting { name, value });
        }
    }
    let finite = |contact: &Contact| {
        contact.point.is_finite() && contact.normal.is_finite() && contact.separation.is_finite()
    };
    match contacts.iter().position(|contact| !finite(contact)) {
        Some(index) => Err(ManifoldError::NotFinite { index }),
        None => Ok(()),
    }
}

/// Every contact joins the nearest group whose first normal is within the angle, or begins one.
fn group_by_normal(contacts: &[Contact], angle: f32, scratch: &mut ReduceScratch) {
    let least = angle.min(std::f32::consts::PI).cos();
    scratch.leaders.clear();
    scratch.group_of.clear();
    for (index, contact) in contacts.iter().enumerate() {
        let mut nearest = (least, scratch.leaders.len());
        for (group, leader) in scratch.leaders.iter().enumerate() {
            let alike = leader.normal.dot(contact.normal);
            if alike >= nearest.0 {
                nearest = (alike, group);
            }
        }
        let group = nearest.1;
        scratch.group_of.push(group as u32);
        match scratch.leaders.get_mut(group) {
            Some(leader) if contact.separation < leader.deepest => {
                leader.deepest = contact.separation;
                leader.deepest_index = index as u32;
            }
            Some(_) => {}
            None => scratch.leaders.push(Leader {
                normal: contact.normal,
                deepest: contact.separation,
                deepest_index: index as u32,
                taken: 0,
            }),
        }
    }
}

/// From a contact to its wrench, scaled so that force and torque weigh alike.
struct ToWrench {
    center: DVec3,
    per_length: f64,
    deepest: f32,
    per_fade: f32,
}

impl ToWrench {
    fn of(contacts: &[Contact], fade: f32) -> ToWrench {
        let count = contacts.len() as f64;
        let points = || contacts.iter().map(|contact| contact.point.as_dvec3());
        let center = points().sum::<DVec3>() / count;
        let squared = points().map(|point| point.distance_squared(center));
        let length = squared.fold(0.0, f64::max).sqrt();
        // All in one place: there is no torque to tell them apart.
        let per_length = if length > 0.0 { 1.0 / length } else { 0.0 };
        let deepest = contacts.iter().map(|contact| contact.separation);
        ToWrench {
            center,
            per_length,
            deepest: deepest.fold(f32::INFINITY, f32::min),
            // Of nothing at all, only the deepest would be left.
            per_fade: 1.0 / fade.max(f32::MIN_POSITIVE),
        }
    }

    fn wrench(&self, contact: &Contact) -> [f32; 6] {
        let arm = ((contact.point.as_dvec3() - self.center) * self.per_length).as_vec3();
        let higher = (contact.separation - self.deepest) * self.per_fade;
        let force = contact.normal / (1.0 + higher * higher);
        let torque = arm.cross(force);
        [force.x, force.y, force.z, torque.x, torque.y, torque.z]
    }
}

/// All contacts if they are few, else those that reach farthest along some bin, the deepest of every group and those preferred.
fn find_candidates(
    contacts: &[Contact],
    preferred: &[bool],
    to_wrench: &ToWrench,
    scratch: &mut ReduceScratch,
) {
    let winners = &mut scratch.winners;
    winners.clear();
    if contacts.len() <= 2 * LINES {
        winners.extend(0..contacts.len() as u32);
    } else {
        farthest_of_bins(contacts, to_wrench, winners);
        winners.extend(scratch.leaders.iter().map(|leader| leader.deepest_index));
        let kept_before = preferred.iter().take(contacts.len());
        let kept_before = kept_before.enumerate().filter(|(_, kept)| **kept);
        winners.extend(kept_before.map(|(index, _)| index as u32));
        winners.sort_unstable();
        winners.dedup();
    }
    scratch.candidates.clear();
    scratch.reaches.clear();
    for &index in winners.iter() {
        let reaches = reaches(&to_wrench.wrench(&contacts[index as usize]));
        let kept_before = preferred.get(index as usize) == Some(&true);
        scratch.candidates.push(Candidate {
            index,
            gain: Support::NONE.gain(&reaches),
            looked_at: 0,
            taken: false,
            weight: if kept_before { PREFERENCE } else { 1.0 },
        });
        scratch.reaches.push(reaches);
    }
}

/// Appends, for either end of every line, the contact that reaches farthest.
fn farthest_of_bins(contacts: &[Contact], to_wrench: &ToWrench, winners: &mut Vec<u32>) {
    let mut most = [f32::NEG_INFINITY; LINES];
    let mut least = [f32::INFINITY; LINES];
    let (mut most_of, mut least_of) = ([0u32; LINES], [0u32; LINES]);
    for (index, contact) in contacts.iter().enumerate() {
        let reaches = reaches(&to_wrench.wrench(contact));
        for line in 0..LINES {
            let reach = reaches[line];
            // Masks rather than branches: the compiler makes vectors of them.
            let more = u32::from(reach > most[line]).wrapping_neg();
            let less = u32::from(reach < least[line]).wrapping_neg();
            let pick = |mask: u32, new: u32, old: u32| (new & mask) | (old & !mask);
            most[line] = f32::from_bits(pick(more, reach.to_bits(), most[line].to_bits()));
            most_of[line] = pick(more, index as u32, most_of[line]);
            least[line] = f32::from_bits(pick(less, reach.to_bits(), least[line].to_bits()));
            least_of[line] = pick(less, index as u32, least_of[line]);
        }
    }
    winners.extend(most_of.iter().chain(&least_of));
}

/// Takes candidates one by one, each the one that adds most.
fn choose(
    contacts: &[Contact],
    settings: &ReduceSettings,
    scratch: &mut ReduceScratch,
    out: &mut Reduced,
) {
    let ReduceScratch {
        leaders,
        group_of,
        candidates,
        reaches,
        ..
    } = scratch;
    let group_of = |candidate: &Candidate| group_of[candidate.index as usize] as usize;
    let depth = |candidate: &Candidate| contacts[candidate.index as usize].separation;
    let deepest = contacts.iter().map(|contact| contact.separation);
    let deepest = deepest.fold(f32::INFINITY, f32::min);
    let slop = settings.tolerance.slop;
    let mut support = Support::NONE;
    while out.kept.len() < settings.max_contacts {
        let round = out.kept.len() as u32;
        let best = if round == 0 && settings.keep_deepest {
            most_adding(candidates, reaches, &support, round, |candidate| {
                depth(candidate) <= deepest + slop
            })
        } else {
            most_adding(candidates, reaches, &support, round, |candidate| {
                leaders[group_of(candidate)].taken < settings.max_per_normal
            })
        };
        let Some(best) = best else { break };
        if round > 0 && candidates[best].gain <= ROUNDING * support.total() {
            break;
        }
        let group = group_of(&candidates[best]);
        candidates[best].taken = true;
        leaders[group].taken += 1;
        support.add(&reaches[best]);
        out.kept.push(candidates[best].index);
        if round == 1 && !settings.keep_deepest {
            // The first was chosen as if it stayed alone; now that it has company, another may do better.
            let first = candidates.iter().position(|one| one.index == out.kept[0]);
            let first = first.unwrap_or(best);
            leaders[group_of(&candidates[first])].taken -= 1;
            candidates[first].taken = false;
            support = Support::NONE;
            support.add(&reaches[best]);
            let mut most = (support.gain(&reaches[first]), first);
            for (place, candidate) in candidates.iter().enumerate() {
                let gain = support.gain(&reaches[place]);
                let allowed = leaders[group_of(candidate)].taken < settings.max_per_normal;
                if gain > most.0 && !candidate.taken && allowed {
                    most = (gain, place);
                }
            }
            let first = most.1;
            leaders[group_of(&candidates[first])].taken += 1;
            candidates[first].taken = true;
            // What others add is still at most what they added to nothing, not what they added to another first.
            for (candidate, reaches) in candidates.iter_mut().zip(reaches.iter()) {
                candidate.gain = Support::NONE.gain(reaches);
            }
            support.add(&reaches[first]);
            out.kept[0] = candidates[first].index;
        }
    }
}

/// The candidate that adds most of those allowed; the first of equal ones.
///
/// What a candidate added earlier bounds what it adds now, so only those whose bound exceeds the best so far are looked at again.
fn most_adding(
    candidates: &mut [Candidate],
    reaches: &[PerLine],
    support: &Support,
    round: u32,
    allowed: impl Fn(&Candidate) -> bool,
) -> Option<usize> {
    let mut best = None;
    let mut most = f32::NEG_INFINITY;
    for (place, candidate) in candidates.iter().enumerate() {
        let worth = candidate.gain * candidate.weight;
        if worth > most && !candidate.taken && allowed(candidate) {
            (best, most) = (Some(place), worth);
        }
    }
    // The one with the largest bound is most often the best; with its worth known, few others need a look.
    let mut best = best?;
    most = candidates[best].look(&reaches[best], support, round);
    for place in 0..candidates.len() {
        let candidate = &mut candidates[place];
        let bound = candidate.gain * candidate.weight;
        let may_win = bound > most || (bound == most && place < best);
        if may_win && !candidate.taken && allowed(candidate) {
            let worth = candidate.look(&reaches[place], support, round);
            if worth > most || (worth == most && place < best) {
                (best, most) = (place, worth);
            }
        }
    }
    Some(best)
}

impl Candidate {
    /// What it would add now.
    fn look(&mut self, reaches: &PerLine, support: &Support, round: u32) -> f32 {
        if self.looked_at != round {
            self.gain = support.gain(reaches);
            self.looked_at = round;
        }
        self.gain * self.weight
    }
}

/// Groups the contacts kept; the deepest first, in and between groups.
fn arrange(contacts: &[Contact], scratch: &ReduceScratch, out: &mut Reduced) {
    let group_of = |index: u32| scratch.group_of[index as usize];
    let by_depth = |&a: &u32, &b: &u32| {
        let depth = |index: u32| contacts[index as usize].separation;
        depth(a).total_cmp(&depth(b)).then(a.cmp(&b))
    };
    out.kept.sort_unstable_by(by_depth);
    // A few contacts: each group is gathered behind those already arranged.
    let mut first = 0;
    while first < out.kept.len() {
        let group = group_of(out.kept[first]);
        let mut end = first + 1;
        let mut place = end;
        while place < out.kept.len() {
            if group_of(out.kept[place]) == group {
                out.kept[end..=place].rotate_right(1);
                end += 1;
            }
            place += 1;
        }
        out.groups.push(Group {
            normal: contacts[out.kept[first] as usize].normal,
            first: first as u32,
            count: (end - first) as u32,
        });
        first = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::ContactId;

    /// A shallow bowl of contacts, by a small generator.
    fn contacts(count: u32) -> Vec<Contact> {
        let mut state = 1u32;
        let mut uniform = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count)
            .map(|index| {
                let (x, y) = (uniform(), uniform());
                Contact {
                    point: Vec3::new(x, y, 0.3 * (x * x + y * y)),
                    normal: Vec3::new(-0.6 * x, -0.6 * y, 1.0).normalize(),
                    separation: -0.1 * uniform().abs(),
                    id: ContactId(index),
                }
            })
            .collect()
    }

    #[test]
    fn looking_again_only_at_the_best_finds_what_looking_at_all_does() {
        let contacts = contacts(100);
        let to_wrench = ToWrench::of(&contacts, f32::INFINITY);
        let all: Vec<PerLine> = contacts
            .iter()
            .map(|c| reaches(&to_wrench.wrench(c)))
            .collect();
        let settings = ReduceSettings {
            max_contacts: 12,
            max_per_normal: 100,
            tolerance: Tolerance { slop: 0.0 },
            ..Default::default()
        };
        let mut found = Reduced::default();
        reduce(
            &contacts,
            &[],
            &settings,
            &mut ReduceScratch::default(),
            &mut found,
        )
        .unwrap();

        let depth = |i: &usize| contacts[*i].separation;
        let deepest = (0..100)
            .min_by(|a, b| depth(a).total_cmp(&depth(b)))
            .unwrap();
        let mut expected = vec![deepest as u32];
        let mut support = Support::NONE;
        support.add(&all[deepest]);
        while expected.len() < 12 {
            let gain = |i: usize| support.gain(&all[i]);
            // `max_by` takes the last of equal ones, so the order is turned around.
            let next = (0..100)
                .rev()
                .max_by(|&a, &b| gain(a).total_cmp(&gain(b)))
                .unwrap();
            expected.push(next as u32);
            support.add(&all[next]);
        }
        found.kept.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found.kept, expected);
    }
}
