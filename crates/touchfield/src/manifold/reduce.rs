//! Contact reduction: keeps few contacts that resist nearly all that the full set resists.
//!
//! Input: contacts of one pair, and limits.
//! Output: indices of the contacts kept, grouped by normal, the deepest first.
//! Cost: O(n · kept); a few microseconds for fifty contacts, no allocation once the buffers have
//! grown.
//! Not for: contacts of several pairs at once; force distribution, which is the solver's task.
//!
//! A contact at p with normal n resists the wrench w = [n, (p − c) × n / L], where c is the mean of
//! the points and L the largest distance from it. A set of contacts resists the convex hull of its
//! wrenches and 0, represented by its support function h(u) = max(0, max u·w). Contacts are chosen
//! greedily: each is the one that adds most to the sum of h over fixed directions u, the bins. That
//! sum is submodular, so the choice is within 1 − 1/e of the optimum where no limit per normal
//! applies \[Nemhauser1978\]. The gain of a contact only decreases as others are chosen, so most
//! gains need no second evaluation \[Minoux1978\]. Tests judge the result with other directions
//! than these.

use glam::{DVec3, Vec3};

use super::directions::{LINES, PerLine, Support, reaches};
use crate::contact::Contact;
use crate::geom::Tolerance;

/// Settings of [`reduce`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReduceSettings {
    /// Maximum number of contacts kept.
    pub max_contacts: usize,
    /// Maximum number of contacts kept per group of nearly equal normals.
    pub max_per_normal: usize,
    /// Largest angle between a contact's normal and the first normal of its group \[rad\].
    ///
    /// Tuned: gradients of grids are off by a few degrees, so that below 5° a flat face splits into
    /// several groups; above 30° the flanks of a thread merge into one.
    pub normal_angle: f32,
    /// Whether the deepest contact is always kept, whatever it adds. Solvers that correct overlap
    /// need it.
    pub keep_deepest: bool,
    /// Tolerance for comparing depths: contacts within its slop of the deepest one count as equally
    /// deep.
    ///
    /// On a face that rests flat, rounding decides which contact is deepest; without a slop the
    /// choice would change at every step.
    pub tolerance: Tolerance,
    /// Separation beyond that of the deepest contact at which a contact's weight is one half \[m\];
    /// the weight falls further with distance. Infinite: all contacts have equal weight. A contact
    /// that overlaps along the normal of the deepest one has at least the square of its share of
    /// that depth.
    ///
    /// Useful for solvers that receive contacts before bodies touch: for a ball above a floor, the
    /// rim of the contact patch has the largest reach but carries no load.
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

/// Why contacts cannot be reduced to a manifold.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ManifoldError {
    /// A number is NaN or infinite.
    #[error(
        "contact {index} has a point, normal or separation that is not finite; it names no place"
    )]
    NotFinite {
        /// Index of the contact.
        index: usize,
    },
    /// A limit is zero, although the deepest contact must be kept.
    #[error(
        "{max_contacts} contacts in all and {max_per_normal} of one normal; both must be at least 1"
    )]
    NothingKept {
        /// Limit on all contacts, as given.
        max_contacts: usize,
        /// Limit per normal, as given.
        max_per_normal: usize,
    },
    /// An angle or a length is NaN or negative.
    #[error("{name} is {value:?}; it must be a number and not negative")]
    BadSetting {
        /// Name of the setting.
        name: &'static str,
        /// Value, as given.
        value: f32,
    },
}

/// A group of contacts with nearly equal normals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// Normal of the group's deepest contact; unit, from A to B.
    pub normal: Vec3,
    /// Index of the group's first contact in [`Reduced::kept`].
    pub first: u32,
    /// Number of contacts in the group.
    pub count: u32,
}

/// Result of a reduction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reduced {
    /// Indices of the contacts kept, group after group, the deepest of each group first.
    pub kept: Vec<u32>,
    /// Groups; the group with the deepest contact is first.
    pub groups: Vec<Group>,
}

/// Scratch buffers, reused from call to call.
#[derive(Clone, Debug, Default)]
pub struct ReduceScratch {
    leaders: Vec<Leader>,
    group_of: Vec<u32>,
    candidates: Vec<Candidate>,
    reaches: Vec<PerLine>,
    winners: Vec<u32>,
}

/// A group under construction.
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
    /// Upper bound on the gain: the gain at its last evaluation, since gains only decrease.
    gain: f32,
    /// Number of contacts that were chosen when the gain was last evaluated.
    looked_at: u32,
    taken: bool,
    /// Factor on the gain.
    weight: f32,
}

/// Factor on the gain of a contact of the last step, so that nearly equal contacts do not
/// alternate.
///
/// A guess that passes the test of a trembling round patch, not a measured optimum: at 1 there is
/// no preference, and at 2 the last step's contacts win over ones that add twice as much.
const PREFERENCE: f32 = 1.25;

/// Share of the whole below which a gain is only rounding error: each reach is off by about 2⁻²¹ of
/// the wrench.
const ROUNDING: f32 = 1e-6;

/// Chooses the contacts to keep. `preferred` marks the contacts that were kept in the last step; it
/// may be shorter than `contacts`, or empty.
///
/// Fewer contacts than allowed are kept if no other contact adds anything, as inside a flat face.
/// The deepest contact is kept unless the settings say otherwise.
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

/// Adds every contact to the group with the nearest first normal if it is within `angle`, else
/// starts a new group.
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

/// Conversion of contacts to wrenches, scaled so that force and torque have equal weight.
struct ToWrench {
    center: DVec3,
    per_length: f64,
    deepest: f32,
    deepest_normal: Vec3,
    per_fade: f32,
}

impl ToWrench {
    fn of(contacts: &[Contact], fade: f32) -> ToWrench {
        let count = contacts.len() as f64;
        let points = || contacts.iter().map(|contact| contact.point.as_dvec3());
        let center = points().sum::<DVec3>() / count;
        let squared = points().map(|point| point.distance_squared(center));
        let length = squared.fold(0.0, f64::max).sqrt();
        // If all points coincide, torque cannot distinguish contacts.
        let per_length = if length > 0.0 { 1.0 / length } else { 0.0 };
        let none = (f32::INFINITY, Vec3::ZERO);
        let (deepest, deepest_normal) = contacts.iter().fold(none, |deepest, contact| {
            if contact.separation < deepest.0 {
                (contact.separation, contact.normal)
            } else {
                deepest
            }
        });
        ToWrench {
            center,
            per_length,
            deepest,
            deepest_normal,
            // A fade of 0 keeps only the deepest contact; the minimum avoids dividing by 0.
            per_fade: 1.0 / fade.max(f32::MIN_POSITIVE),
        }
    }

    fn wrench(&self, contact: &Contact) -> [f32; 6] {
        let arm = ((contact.point.as_dvec3() - self.center) * self.per_length).as_vec3();
        let higher = (contact.separation - self.deepest) * self.per_fade;
        let mut divisor = 1.0 + higher * higher;
        // Every overlap along the deepest normal carries load. Without this limit, a plate that
        // lies tilted and deep keeps contacts on its deepest side only. They turn it until the
        // other side is the deepest, and it rocks at that depth for ever. The square is tuned: with
        // the share itself, or along all normals, stacked boxes lock at their sides and stand a
        // millimetre too high. With no share, a gear rocks.
        let along = contact.normal.dot(self.deepest_normal);
        if contact.separation < 0.0 && along > 0.0 {
            let fewer = self.deepest / (contact.separation * along);
            divisor = divisor.min(fewer * fewer);
        }
        let force = contact.normal / divisor;
        let torque = arm.cross(force);
        [force.x, force.y, force.z, torque.x, torque.y, torque.z]
    }
}

/// Selects the candidates: all contacts if they are few, else those with the largest reach along
/// some bin, the deepest contact of every group, and the preferred ones.
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

/// Appends, for both directions of every line, the contact with the largest reach.
fn farthest_of_bins(contacts: &[Contact], to_wrench: &ToWrench, winners: &mut Vec<u32>) {
    let mut most = [f32::NEG_INFINITY; LINES];
    let mut least = [f32::INFINITY; LINES];
    let (mut most_of, mut least_of) = ([0u32; LINES], [0u32; LINES]);
    for (index, contact) in contacts.iter().enumerate() {
        let reaches = reaches(&to_wrench.wrench(contact));
        for line in 0..LINES {
            let reach = reaches[line];
            // Masks rather than branches, so that the compiler vectorises the loop.
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

/// Chooses candidates greedily, each the one with the largest gain.
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
        // The first choice is one of the deepest contacts if the settings require one.
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
        // Stop once the largest gain is only rounding error.
        if round > 0 && candidates[best].gain <= ROUNDING * support.total() {
            break;
        }
        let group = group_of(&candidates[best]);
        candidates[best].taken = true;
        leaders[group].taken += 1;
        support.add(&reaches[best]);
        out.kept.push(candidates[best].index);
        if round == 1 && !settings.keep_deepest {
            // The first contact was chosen as if alone; now that there is a second, another one may
            // be better in its place.
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
            // The gain over the empty set still bounds each gain; the one evaluated after the
            // former first contact does not.
            for (candidate, reaches) in candidates.iter_mut().zip(reaches.iter()) {
                candidate.gain = Support::NONE.gain(reaches);
            }
            support.add(&reaches[first]);
            out.kept[0] = candidates[first].index;
        }
    }
}

/// Returns the allowed candidate with the largest weighted gain; the first of equal ones.
///
/// An earlier gain bounds the current one from above, so only candidates whose bound exceeds the
/// best so far are evaluated again.
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
    // The candidate with the largest bound is most often the best; with its gain evaluated, few
    // others need it.
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
    /// Returns the weighted gain in this round, evaluating it if that was not done yet.
    fn look(&mut self, reaches: &PerLine, support: &Support, round: u32) -> f32 {
        if self.looked_at != round {
            self.gain = support.gain(reaches);
            self.looked_at = round;
        }
        self.gain * self.weight
    }
}

/// Groups the kept contacts, the deepest first within and between groups.
fn arrange(contacts: &[Contact], scratch: &ReduceScratch, out: &mut Reduced) {
    let group_of = |index: u32| scratch.group_of[index as usize];
    let by_depth = |&a: &u32, &b: &u32| {
        let depth = |index: u32| contacts[index as usize].separation;
        depth(a).total_cmp(&depth(b)).then(a.cmp(&b))
    };
    out.kept.sort_unstable_by(by_depth);
    // There are few contacts, so each group is gathered by rotation behind those already arranged.
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

    /// Generates contacts in a shallow bowl with a small random generator.
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
            // `max_by` returns the last of equal elements, so the order is reversed.
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
