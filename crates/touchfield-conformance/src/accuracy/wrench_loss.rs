//! The resistance that a set of contacts loses when some are dropped; and naive ways to drop them.
//!
//! Input: contacts, and indices of those kept.
//! Output: shares of the support that is lost, between 0 and 1.
//! Cost: all contacts against thousands of directions, in `f64`.
//! Not for: choosing contacts; the directions differ from the library's.
//!
//! A contact pushes with at most a unit force, along its normal or within its friction cone.
//! Against a motion with velocity v and angular velocity ω it does so with the power f·(v + ω × p),
//! at most n·v_p + μ |v_p − (n·v_p) n|. The greatest power of any contact of the set, but at least
//! 0, is the support h(u) of the wrenches that it resists. Lengths are in units of the patch, from
//! its mean to its farthest point.

use glam::DVec3;
use touchfield::contact::Contact;
use touchfield::geom::Tolerance;
use touchfield::manifold::{ReduceScratch, ReduceSettings, Reduced, reduce};

use crate::patches::{Kind, patch};
use crate::plot::{self, Panel, Series};
use crate::random::Random;

/// Lost support, as shares of the support of all contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// Sum of the loss over the sum of the support, over all directions.
    pub mean: f64,
    /// Largest loss over the largest support.
    pub worst: f64,
    /// Share of the motions that all contacts together resist, but those kept do not.
    pub cone: f64,
}

/// Random directions of motion to judge by.
pub struct Judge {
    directions: Vec<(DVec3, DVec3)>,
    friction: f64,
}

impl Judge {
    /// Returns a judge with `count` random unit motions, and a coefficient of friction.
    pub fn new(count: usize, friction: f64, seed: u64) -> Judge {
        let mut random = Random::new(seed);
        let mut directions = Vec::with_capacity(count);
        while directions.len() < count {
            // Uniform in the ball of six dimensions, then projected to its surface.
            let low = DVec3::splat(-1.0);
            let (velocity, turn) = (random.in_box(low, -low), random.in_box(low, -low));
            let squared = velocity.length_squared() + turn.length_squared();
            if squared <= 1.0 && squared > 1e-6 {
                let scale = 1.0 / squared.sqrt();
                directions.push((scale * velocity, scale * turn));
            }
        }
        Judge {
            directions,
            friction,
        }
    }

    /// Computes the power of every contact against every direction, contact by contact.
    pub fn powers(&self, contacts: &[Contact]) -> Powers {
        let points = || contacts.iter().map(|contact| contact.point.as_dvec3());
        let center = points().sum::<DVec3>() / contacts.len() as f64;
        let size = points().map(|point| point.distance(center));
        let size = size.fold(f64::MIN_POSITIVE, f64::max);
        let of_contacts: Vec<Vec<f64>> = contacts
            .iter()
            .map(|contact| {
                let arm = (contact.point.as_dvec3() - center) / size;
                let normal = contact.normal.as_dvec3();
                let power = |&(velocity, turn): &(DVec3, DVec3)| {
                    let there = velocity + turn.cross(arm);
                    let along = normal.dot(there);
                    along + self.friction * (there - along * normal).length()
                };
                self.directions.iter().map(power).collect()
            })
            .collect();
        let all: Vec<u32> = (0..contacts.len() as u32).collect();
        let support = support(&of_contacts, &all, self.directions.len());
        Powers {
            of_contacts,
            support,
        }
    }
}

/// Power of each contact of a patch against each direction.
pub struct Powers {
    of_contacts: Vec<Vec<f64>>,
    support: Vec<f64>,
}

fn support(of_contacts: &[Vec<f64>], kept: &[u32], directions: usize) -> Vec<f64> {
    let mut support = vec![0.0f64; directions];
    for &index in kept {
        for (most, &power) in support.iter_mut().zip(&of_contacts[index as usize]) {
            *most = most.max(power);
        }
    }
    support
}

impl Powers {
    /// Returns the loss when only these contacts are kept.
    pub fn loss(&self, kept: &[u32]) -> Loss {
        let some = support(&self.of_contacts, kept, self.support.len());
        let mut loss = Loss::default();
        let (mut sum, mut largest, mut resisted) = (0.0, 0.0f64, 0.0);
        for (&all, &some) in self.support.iter().zip(&some) {
            sum += all;
            largest = largest.max(all);
            loss.mean += all - some;
            loss.worst = loss.worst.max(all - some);
            if all > 0.0 {
                resisted += 1.0;
                loss.cone += f64::from(some <= 0.0);
            }
        }
        loss.mean /= sum;
        loss.worst /= largest;
        loss.cone /= resisted;
        loss
    }
}

/// Ways to keep few contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The library's reduction, without a limit per normal.
    Wrench,
    /// The library's reduction without a limit per normal, and without always keeping the deepest.
    WrenchAlone,
    /// The library's reduction, with at most four contacts per normal.
    WrenchFourPerNormal,
    /// The deepest contacts.
    Deepest,
    /// Farthest points, starting from the deepest.
    WidestFromDeepest,
    /// Farthest points, starting from the one farthest from the mean.
    Widest,
}

impl Way {
    /// All ways.
    pub const ALL: [Way; 6] = [
        Way::Wrench,
        Way::WrenchAlone,
        Way::WrenchFourPerNormal,
        Way::Deepest,
        Way::WidestFromDeepest,
        Way::Widest,
    ];

    /// Returns the name in legends.
    pub fn name(self) -> &'static str {
        match self {
            Way::Wrench => "wrench support",
            Way::WrenchAlone => "the same, deepest or not",
            Way::WrenchFourPerNormal => "wrench support, at most four of one normal",
            Way::Deepest => "deepest",
            Way::WidestFromDeepest => "widest from the deepest on",
            Way::Widest => "widest",
        }
    }

    /// Returns the indices of at most `count` contacts. `contacts` are sorted deepest first.
    pub fn keep(self, contacts: &[Contact], count: usize) -> Vec<u32> {
        match self {
            Way::Wrench | Way::WrenchAlone | Way::WrenchFourPerNormal => {
                let settings = ReduceSettings {
                    max_contacts: count,
                    max_per_normal: if self == Way::WrenchFourPerNormal {
                        4
                    } else {
                        usize::MAX
                    },
                    keep_deepest: self != Way::WrenchAlone,
                    // Patches come in all sizes, so no slop fits all of them.
                    tolerance: Tolerance { slop: 0.0 },
                    ..ReduceSettings::default()
                };
                let mut out = Reduced::default();
                let done = reduce(
                    contacts,
                    &[],
                    &settings,
                    &mut ReduceScratch::default(),
                    &mut out,
                );
                done.expect("finite contacts and sound settings");
                out.kept
            }
            Way::Deepest => (0..contacts.len().min(count) as u32).collect(),
            Way::WidestFromDeepest => farthest_points(contacts, 0, count),
            Way::Widest => {
                let center = contacts.iter().map(|c| c.point.as_dvec3()).sum::<DVec3>()
                    / contacts.len() as f64;
                let from_center =
                    |i: &usize| contacts[*i].point.as_dvec3().distance_squared(center);
                let first =
                    (0..contacts.len()).max_by(|a, b| from_center(a).total_cmp(&from_center(b)));
                farthest_points(contacts, first.unwrap_or(0), count)
            }
        }
    }
}

/// Returns points each of which is the farthest from all before it \[Gonzalez1985\].
fn farthest_points(contacts: &[Contact], first: usize, count: usize) -> Vec<u32> {
    let mut kept = vec![first as u32];
    let point = |i: usize| contacts[i].point.as_dvec3();
    let mut nearest: Vec<f64> = (0..contacts.len())
        .map(|i| point(i).distance_squared(point(first)))
        .collect();
    while kept.len() < count.min(contacts.len()) {
        let next = (0..contacts.len()).max_by(|&a, &b| nearest[a].total_cmp(&nearest[b]));
        let next = next.unwrap_or(0);
        kept.push(next as u32);
        for (i, distance) in nearest.iter_mut().enumerate() {
            *distance = distance.min(point(i).distance_squared(point(next)));
        }
    }
    kept
}

/// Numbers of kept contacts to compare.
pub const NUMBERS: [usize; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20];

/// Losses of all ways on many patches: `[kind][way][number]`, means over the patches.
pub struct Comparison {
    /// Mean losses over the patches: `[kind][way][number]`.
    pub losses: Vec<Vec<Vec<Loss>>>,
    /// Total number of patches.
    pub patches: usize,
}

/// Compares all ways on `patches` random patches, a third of each kind.
pub fn compare(patches: usize, friction: f64) -> Comparison {
    let judge = Judge::new(512, friction, 99);
    let mut losses = vec![vec![vec![Loss::default(); NUMBERS.len()]; Way::ALL.len()]; 3];
    let mut random = Random::new(5);
    let mut counts = [0.0; 3];
    for index in 0..patches {
        let kind = index % 3;
        counts[kind] += 1.0;
        let contacts = patch(Kind::ALL[kind], &mut random);
        let powers = judge.powers(&contacts);
        for (way, losses) in Way::ALL.iter().zip(&mut losses[kind]) {
            for (&number, sum) in NUMBERS.iter().zip(losses) {
                let loss = powers.loss(&way.keep(&contacts, number));
                sum.mean += loss.mean;
                sum.worst += loss.worst;
                sum.cone += loss.cone;
            }
        }
    }
    for (of_kind, count) in losses.iter_mut().zip(counts) {
        for loss in of_kind.iter_mut().flatten() {
            loss.mean /= count;
            loss.worst /= count;
            loss.cone /= count;
        }
    }
    Comparison { losses, patches }
}

/// Draws docs/images/manifold.svg: loss over the number kept, without and with friction.
pub fn picture(patches: usize) -> String {
    let rows: Vec<Vec<Panel>> = [0.0, 0.5]
        .iter()
        .map(|&friction| {
            let comparison = compare(patches, friction);
            Kind::ALL
                .iter()
                .zip(&comparison.losses)
                .map(|(kind, of_kind)| Panel {
                    title: format!("{}, friction {friction}", kind.name()),
                    x: "contacts kept".to_owned(),
                    y: "share of the resisted wrench lost".to_owned(),
                    series: Way::ALL
                        .iter()
                        .zip(of_kind)
                        .map(|(way, losses)| Series {
                            name: way.name().to_owned(),
                            points: (NUMBERS.iter().zip(losses))
                                .map(|(&number, loss)| [number as f64, loss.mean])
                                .collect(),
                        })
                        .collect(),
                    slope: None,
                })
                .collect()
        })
        .collect();
    plot::svg(&rows)
}
