//! Convex pairs compared with the truth: every kind with every kind, hostile on purpose, in every
//! placement.
//!
//! Some thousands of pairs; a million with `TOUCHFIELD_LONG=1`. The truth is `convex_truth` and
//! `polytope_truth`: features of hulls by exact predicates in `f64`, and brackets for smooth
//! bodies.

#![expect(
    clippy::print_stdout,
    reason = "counts, for those who ask with --nocapture"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use glam::{DVec3, Quat, Vec3};
use parry3d_f64::math::{Pose as ParryPose, Rotation, Vector};
use parry3d_f64::query;
use parry3d_f64::shape::{self, Shape};
use rayon::prelude::*;
use touchfield::geom::Pose;
use touchfield::narrow::convex::{
    ConvexCache, ConvexPair, FeaturePair, Touch, VClipOutcome, v_clip,
};
use touchfield::shape::convex::{Convex, ConvexHull};
use touchfield_conformance::convex_accuracy::convex;
use touchfield_conformance::convex_random::{
    Hostile, KINDS, Kind, PLACEMENTS, Placement, Scale, place, posed,
};
use touchfield_conformance::convex_truth::{Body, Core, body_pair};
use touchfield_conformance::meshes::is_long;
use touchfield_conformance::polytope_truth::{PairTruth, Polytope};
use touchfield_conformance::random::Random;

const SCALES: [Scale; 3] = [Scale::Ordinary, Scale::Far, Scale::Tiny];

fn hull_of(points: &[Vec3]) -> Convex {
    Convex::hull(Arc::new(ConvexHull::new(points).expect("finite points")))
}

/// One pair in one pose, with the context for error messages.
struct Case<'a> {
    a: &'a Hostile,
    b: &'a Hostile,
    pose: Pose,
    name: String,
}

impl Case<'_> {
    fn truth(&self) -> PairTruth {
        let b = posed(self.b, self.pose.rotation, self.pose.translation);
        body_pair(&self.a.body, &b)
    }

    /// Returns the rounding error in `f64` \[m\]: a few dozen roundings of the coordinates, and a
    /// share of the size. Normals of nearly parallel edges lose 10⁻¹⁰ of it. A smooth body is
    /// touched in one of many directions that `f64` hardly distinguishes, so that a search that
    /// ends almost touching is off by 10⁻⁷ of the size.
    fn rounding(&self) -> f64 {
        let far = self.a.reach() + self.b.reach() + self.pose.translation.as_dvec3().length();
        let share = if self.has_features() { 1e-8 } else { 1e-7 };
        1e-14 * far + share * (self.a.radius + self.b.radius)
    }

    fn radii(&self) -> f64 {
        self.a.body.rounding + self.b.body.rounding
    }

    fn has_features(&self) -> bool {
        self.a.kind.has_features() && self.b.kind.has_features()
    }

    /// Returns how far A reaches past the nearest point of B along a unit direction \[m\].
    fn reach(&self, direction: DVec3) -> f64 {
        let b = posed(self.b, self.pose.rotation, self.pose.translation);
        let gap = self.a.body.support(direction) - b.support(-direction);
        gap.dot(direction) + self.radii()
    }

    /// Returns the faults of an answer.
    fn faults(&self, touch: &Touch, truth: &PairTruth) -> Vec<String> {
        let mut faults = Vec::new();
        let Touch {
            separation,
            lower_bound,
            upper_bound,
            normal,
            point_on_a,
            point_on_b,
            ..
        } = *touch;
        let numbers = [separation, lower_bound, upper_bound];
        if !numbers.iter().all(|n| n.is_finite())
            || ![normal, point_on_a, point_on_b]
                .iter()
                .all(|p| p.is_finite())
        {
            return vec!["not finite".into()];
        }
        let rounding = self.rounding();
        // For smooth bodies the truth is a bracket too. Its depth is an upper bound, and so is what
        // a direction proves for lower depths.
        let [least, most] = if self.has_features() {
            [truth.signed(); 2]
        } else if truth.upper > 0.0 {
            [truth.lower, truth.upper]
        } else {
            [-truth.depth, 0.0]
        };
        // The search runs on cores, to a relative 10⁻⁶; with radii that is more, relative to the
        // separation. A search that ran out of steps reports its bracket; with a thousand steps
        // that happens only to smooth bodies about one axis.
        let known = if touch.steps > 1000 {
            upper_bound - lower_bound
        } else {
            0.0
        };
        let tolerance = |exact: f64| 1e-5 * exact.abs() + 1e-6 * self.radii() + rounding + known;
        if separation < least - tolerance(least) || separation > most + tolerance(most) {
            let kind = if self.has_features() { "" } else { "_smooth" };
            faults.push(format!(
                "separation{kind}: {separation:e}, true {least:e} to {most:e}"
            ));
        }
        if lower_bound > separation + rounding || upper_bound < separation - rounding {
            faults.push(format!(
                "outside: separation {separation:e} of its bounds {lower_bound:e}, {upper_bound:e}"
            ));
        }
        if lower_bound > most + rounding || upper_bound < least - rounding {
            faults.push(format!(
                "bounds: {lower_bound:e}, {upper_bound:e} miss {least:e}, {most:e}"
            ));
        }
        if (normal.length() - 1.0).abs() > 1e-9 {
            faults.push(format!("normal: {normal} is not unit"));
            return faults;
        }
        // When overlapping, the reported translation must separate them, to within the tolerance.
        if separation < 0.0 {
            let reach = self.reach(normal);
            let off = (reach + separation).abs();
            // The normal of separated cores comes from their nearest points, whose error enters a
            // distance linearly and a direction by its square root.
            if off > 1e-4 * self.radii() + 1e-5 * separation.abs() + rounding {
                faults.push(format!(
                    "moved: by {:e} they still overlap by {:e}",
                    -separation,
                    reach + separation
                ));
            }
        }
        let between = point_on_b - point_on_a;
        let along = between.dot(normal);
        if (along - separation).abs() > 1e-5 * separation.abs() + 1e-6 * self.radii() + rounding {
            faults.push(format!(
                "points: {along:e} apart, separation {separation:e}"
            ));
        }
        // The points are straight across from each other, unless the search ended early.
        let aside = (between - along * normal).length();
        if touch.steps <= 1000 && aside > 1e-3 * (self.a.radius + self.b.radius) + rounding {
            faults.push(format!("aside: points by {aside:e}"));
        }
        faults
    }

    /// Returns the answer that `overlaps` must give, if the truth decides.
    fn must_overlap(&self, truth: &PairTruth) -> Option<bool> {
        let band = self.rounding();
        if truth.lower > band {
            return Some(false);
        }
        (truth.depth > band).then_some(true)
    }
}

impl std::fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Pose {
            rotation,
            translation,
        } = self.pose;
        write!(f, "{}; a_from_b {rotation:?} {translation:?}", self.name)?;
        for body in [self.a, self.b] {
            write!(f, "\n    {:?} {:?}", body.kind, body.scale)?;
            match &body.body.core {
                Core::Polytope(_) if !body.points.is_empty() => write!(f, " {:?}", body.points)?,
                core => write!(f, " {core:?}")?,
            }
            write!(f, " rounded by {:e}", body.body.rounding)?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Tally {
    pairs: usize,
    overlapping: usize,
    /// Pairs that ran out of steps.
    unfinished: usize,
    /// Pairs of hulls given to V-Clip as well, and those that it gave up on.
    clipped: usize,
    gave_up: usize,
    /// Descriptions of faults, short ones first: the smallest case is the one to look at.
    faults: Vec<String>,
}

impl Tally {
    fn join(mut self, other: Tally) -> Tally {
        self.pairs += other.pairs;
        self.overlapping += other.overlapping;
        self.unfinished += other.unfinished;
        self.clipped += other.clipped;
        self.gave_up += other.gave_up;
        self.faults.extend(other.faults);
        self
    }

    /// Fails with the smallest case of every kind of fault.
    fn check(mut self) {
        println!(
            "{} pairs, {} of them overlapping, {} out of steps, {} given up by V-Clip of {}, {} wrong",
            self.pairs,
            self.overlapping,
            self.unfinished,
            self.gave_up,
            self.clipped,
            self.faults.len()
        );
        self.faults.sort_by_key(String::len);
        let mut kinds: Vec<(&str, usize, &String)> = Vec::new();
        for fault in &self.faults {
            let kind = fault.split([':', ' ']).next().unwrap_or_default();
            match kinds.iter_mut().find(|(known, ..)| *known == kind) {
                Some((_, count, _)) => *count += 1,
                None => kinds.push((kind, 1, fault)),
            }
        }
        let shown: Vec<String> = kinds
            .iter()
            .map(|(kind, count, first)| format!("{count} of {kind}, such as\n  {first}"))
            .collect();
        assert!(self.faults.is_empty(), "{}", shown.join("\n"));
        assert!(self.unfinished * 100 <= self.pairs);
    }
}

/// State of the searches of a pair, kept for its next pose.
#[derive(Default)]
struct Memory {
    cache: ConvexCache,
    features: Option<FeaturePair>,
}

fn try_case(case: &Case<'_>, bodies: [&Convex; 2], memory: &mut Memory, tally: &mut Tally) {
    let Memory { cache, features } = memory;
    let truth = case.truth();
    let pair = ConvexPair::new(bodies[0], bodies[1], case.pose);
    let touch = pair.touch(f64::INFINITY, cache);
    tally.pairs += 1;
    tally.overlapping += usize::from(truth.depth > 0.0);
    tally.unfinished += usize::from(touch.steps > 1000);
    let mut faults = case.faults(&touch, &truth);
    let overlaps = pair.overlaps(cache);
    if let Some(expected) = case.must_overlap(&truth)
        && overlaps != expected
    {
        faults.push(format!("overlaps: {overlaps}, truly {:e}", truth.signed()));
    }
    if let [Some(a), Some(b)] = bodies.map(Convex::as_hull)
        && case.radii() == 0.0
    {
        tally.clipped += 1;
        match v_clip(a, b, case.pose, features).outcome {
            VClipOutcome::Apart { distance, .. } => {
                let expected = truth.upper;
                if (distance - expected).abs() > 1e-5 * expected + case.rounding() {
                    faults.push(format!("v_clip: {distance:e}, true {expected:e}"));
                }
            }
            VClipOutcome::Overlapping => {
                if truth.lower > case.rounding() {
                    faults.push(format!("v_clip: overlapping, truly {:e}", truth.upper));
                }
            }
            VClipOutcome::GaveUp => tally.gave_up += 1,
        }
    }
    if !faults.is_empty() {
        tally.faults.push(format!(
            "{}: {case}\n  {touch:?}\n  {truth:?}",
            faults.join("; ")
        ));
    }
}

/// Tests one body of every kind and scale with one of every kind, in every placement; each pair
/// then moves a little, with its cache.
fn round(seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    let mut pool = |scale: Scale| -> Vec<(Hostile, Convex)> {
        KINDS
            .iter()
            .map(|&kind| {
                let body = Hostile::new(kind, scale, &mut random);
                let convex = convex(&body);
                (body, convex)
            })
            .collect()
    };
    let pools = SCALES.map(|scale| [pool(scale), pool(scale)]);
    let mut memory = Memory::default();
    for (which, [left, right]) in pools.iter().enumerate() {
        for (index, (a, convex_a)) in left.iter().enumerate() {
            for (other, same) in right.iter().enumerate() {
                for placement in PLACEMENTS {
                    // Now and then something tiny against something large, and a copy against its
                    // original.
                    let (b, convex_b) = match placement {
                        Placement::Identical if index == other => &left[index],
                        Placement::Random if random.below(4) == 0 => {
                            &pools[(which + 2) % 3][1][other]
                        }
                        _ => same,
                    };
                    let (rotation, translation) = place(a, b, placement, &mut random);
                    let mut case = Case {
                        a,
                        b,
                        pose: Pose {
                            rotation,
                            translation,
                        },
                        name: format!("round {seed}, {placement:?}, cold"),
                    };
                    memory.cache.clear();
                    memory.features = None;
                    try_case(&case, [convex_a, convex_b], &mut memory, &mut tally);
                    if random.below(4) == 0 {
                        let step = random.log_uniform(1e-6, 1e-1);
                        let turn = DVec3::splat(step) * random.unit_vector();
                        case.pose.rotation = (Quat::from_scaled_axis(turn.as_vec3())
                            * case.pose.rotation)
                            .normalize();
                        let size = a.radius.min(b.radius);
                        case.pose.translation += (step * size * random.unit_vector()).as_vec3();
                        case.name = format!("round {seed}, {placement:?}, moved by {step:e}");
                        try_case(&case, [convex_a, convex_b], &mut memory, &mut tally);
                    }
                }
            }
        }
    }
    tally
}

#[test]
fn every_kind_with_every_kind_agrees_with_the_truth() {
    // A round is ten thousand pairs.
    let rounds = if is_long() { 100 } else { 2 };
    (0..rounds)
        .into_par_iter()
        .map(|seed| {
            let tally = round(seed);
            if is_long() {
                // Printed as they are found: a million pairs take long.
                let faults = tally.faults.join("\n");
                println!("round {seed}: {} pairs {faults}", tally.pairs);
            }
            tally
        })
        .reduce(Tally::default, Tally::join)
        .check();
}

/// Tests every kind with every kind in motion, warm-started from the last pose; now and then the
/// pair jumps, and the state is useless.
fn motions(seed: u64) -> Tally {
    const STEPS: usize = 12;
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    for scale in SCALES {
        for (kind_a, kind_b) in KINDS
            .iter()
            .flat_map(|a| KINDS.iter().map(move |b| (*a, *b)))
        {
            let a = Hostile::new(kind_a, scale, &mut random);
            // A copy of itself, where possible.
            let b = match kind_a == kind_b && random.below(2) == 0 {
                true => a.clone(),
                false => Hostile::new(kind_b, scale, &mut random),
            };
            let bodies = [convex(&a), convex(&b)];
            let step = random.log_uniform(1e-5, 3e-2);
            let turn = (step * random.unit_vector()).as_vec3();
            let along = (step * a.radius.min(b.radius) * random.unit_vector()).as_vec3();
            let mut memory = Memory::default();
            let mut pose = Pose::IDENTITY;
            for number in 0..STEPS {
                if number == 0 || random.below(8) == 0 {
                    let placement = PLACEMENTS[random.below(PLACEMENTS.len())];
                    (pose.rotation, pose.translation) = place(&a, &b, placement, &mut random);
                }
                let case = Case {
                    a: &a,
                    b: &b,
                    pose,
                    name: format!("motion {seed}, {number} steps of {step:e}"),
                };
                try_case(&case, [&bodies[0], &bodies[1]], &mut memory, &mut tally);
                pose.rotation = (Quat::from_scaled_axis(turn) * pose.rotation).normalize();
                // About the centre of B, which may be far from its origin.
                let center = b.center.as_vec3();
                let lever = pose.rotation * center
                    - Quat::from_scaled_axis(-turn) * (pose.rotation * center);
                pose.translation += along - lever;
            }
        }
    }
    tally
}

#[test]
fn every_kind_with_every_kind_in_motion_agrees_with_the_truth() {
    let motion_count = if is_long() { 20 } else { 1 };
    (0..motion_count)
        .into_par_iter()
        .map(motions)
        .reduce(Tally::default, Tally::join)
        .check();
}

/// Hulls too large for the truth: the separation along the normal is compared with all corners, and
/// the lower bound with many directions.
#[test]
fn large_hulls_that_stay_in_touch_have_the_depth_of_pairs_never_seen() {
    let mut random = Random::new(57);
    for (corners, scale) in [(12, 1.0), (300, 1e-6), (300, 1e5), (3000, 1.0)] {
        let axes = scale * DVec3::new(1.0, 0.8, 0.6);
        let points: Vec<Vec3> = (0..corners)
            .map(|_| (axes * random.unit_vector()).as_vec3())
            .collect();
        let hull = hull_of(&points);
        for (pace, deep) in [(0.1, 0.3), (1.0, 0.3), (1.0, 1.15), (4.0, 0.0)] {
            let mut cache = ConvexCache::default();
            let turn = (pace * 0.01 * random.unit_vector()).as_vec3();
            let way = random.unit_vector();
            let mut rotation = random.quaternion().as_quat().normalize();
            let mut steps = [0, 0];
            for step in 0..60 {
                if step % 23 == 22 {
                    rotation = random.quaternion().as_quat().normalize();
                }
                rotation = (Quat::from_scaled_axis(turn) * rotation).normalize();
                let drift = 0.005 * pace * f64::from(step);
                let translation =
                    (scale * (deep * way + drift * way.any_orthonormal_vector())).as_vec3();
                let pose = Pose {
                    rotation,
                    translation,
                };
                let pair = ConvexPair::new(&hull, &hull, pose);
                let warm = pair.touch(f64::INFINITY, &mut cache);
                let cold = pair.touch(f64::INFINITY, &mut ConvexCache::default());
                steps = [steps[0] + warm.steps, steps[1] + cold.steps];
                let context = format!(
                    "{corners} corners, scale {scale}, pace {pace}, step {step}: {warm:?} {cold:?}"
                );
                assert!(
                    warm.lower_bound <= cold.upper_bound && cold.lower_bound <= warm.upper_bound,
                    "{context}"
                );
                let rounding = 1e-13 * scale;
                assert!(
                    warm.upper_bound - warm.lower_bound
                        <= 1.01e-6 * warm.separation.abs() + rounding,
                    "{context}"
                );
                let turned = touchfield_conformance::convex_random::unit(rotation);
                let reach = |normal: DVec3| {
                    let most = |d: DVec3| {
                        points
                            .iter()
                            .fold(f64::NEG_INFINITY, |most, p| most.max(d.dot(p.as_dvec3())))
                    };
                    most(normal) + most(turned.transpose() * -normal)
                        - normal.dot(translation.as_dvec3())
                };
                assert!(
                    (reach(warm.normal) + warm.separation).abs() <= 1e-9 * scale,
                    "{context}"
                );
                for k in 0..8 {
                    let near = 10f64.powi(-k) * random.unit_vector();
                    let normal = (warm.normal + near).normalize();
                    assert!(reach(normal) >= -warm.upper_bound - rounding, "{context}");
                }
            }
            println!(
                "{corners} corners, pace {pace}, deep {deep}: {steps:?} support points, with memory and without"
            );
            if pace <= 1.0 {
                assert!(
                    3 * steps[0] < 2 * steps[1],
                    "{steps:?}: memory is of no use"
                );
            }
        }
    }
}

#[test]
fn hulls_have_the_corners_edges_and_faces_of_the_truth() {
    let mut random = Random::new(21);
    for round in 0..if is_long() { 2000 } else { 40 } {
        for kind in KINDS {
            for scale in SCALES {
                let body = Hostile::new(kind, scale, &mut random);
                let Core::Polytope(truth) = &body.body.core else {
                    continue;
                };
                if body.points.is_empty() {
                    continue;
                }
                let hull = ConvexHull::new(&body.points).expect("finite points");
                let mut vertices: Vec<[f32; 3]> =
                    hull.vertices().iter().map(|v| v.to_array()).collect();
                let mut expected: Vec<[f32; 3]> = truth
                    .points
                    .iter()
                    .map(|v| v.as_vec3().to_array())
                    .collect();
                vertices.sort_by(|p, q| p.partial_cmp(q).expect("no NaN"));
                expected.sort_by(|p, q| p.partial_cmp(q).expect("no NaN"));
                let case = format!("{round}: {kind:?} {scale:?} {:?}", body.points);
                assert_eq!(vertices, expected, "{case}");
                assert_eq!(hull.faces().len(), truth.faces.len(), "{case}");
                assert_eq!(hull.half_edges().len(), 2 * truth.edges.len(), "{case}");
            }
        }
    }
}

fn triangle_case(a: [[f32; 3]; 3], b: [[f32; 3]; 3]) -> (Touch, PairTruth) {
    let [a, b] = [a, b].map(|t| t.map(Vec3::from));
    let truth = |t: [Vec3; 3]| Body::new(Core::Polytope(Polytope::hull(&t.map(Vec3::as_dvec3))));
    let touch = ConvexPair::new(&hull_of(&a), &hull_of(&b), Pose::IDENTITY)
        .touch(f64::INFINITY, &mut ConvexCache::default());
    (touch, body_pair(&truth(a), &truth(b)))
}

/// From a report to another library, whose expanding polytope had no face left: issue 253 of parry.
#[test]
fn two_triangles_that_made_another_library_panic() {
    let (touch, truth) = triangle_case(
        [
            [-13.174434, 1.0, 8.736801],
            [3.5251038, 1.0, 12.1],
            [3.2048466, 1.0, 12.218325],
        ],
        [
            [-1.63, 0.0, 11.19],
            [-2.349647, 0.0, 11.037681],
            [-2.349647, 1.0, 11.037681],
        ],
    );
    println!("{touch:?}\n{truth:?}");
    assert!(
        (touch.separation - truth.signed()).abs() <= 1e-5 * truth.signed().abs() + 1e-13,
        "{touch:?} {truth:?}"
    );
    assert!(touch.lower_bound <= truth.upper + 1e-13 && touch.upper_bound >= -truth.depth - 1e-13);
}

/// A facet of the Minkowski difference is too thin for its normal. It was skipped, and the next
/// facet, far away, was reported as proven.
#[test]
fn a_sliver_touching_a_needle_was_called_a_hundred_times_too_deep() {
    let sliver = [
        Vec3::new(0.058198236, 0.14682032, 0.06012303),
        Vec3::new(0.09072229, 0.07833624, 0.22045346),
        Vec3::new(0.07593439, 0.108206175, 0.15024698),
    ];
    let needle = [
        Vec3::new(-0.12318238, -0.42825356, 0.24531455),
        Vec3::new(0.16949873, 0.5893774, -0.33757114),
        Vec3::new(-0.03207659, -0.11153042, 0.06390459),
        Vec3::new(-0.08331165, -0.28987944, 0.16599637),
        Vec3::new(0.13775314, 0.47932282, -0.27459443),
        Vec3::new(0.025292171, 0.08787737, -0.050389823),
    ];
    let pose = Pose {
        rotation: Quat::from_xyzw(0.7497268, 0.19329467, -0.3635718, -0.51803714),
        translation: Vec3::new(0.25366703, -0.094142996, -0.0569023),
    };
    let truth = |points: &[Vec3]| {
        let points: Vec<DVec3> = points.iter().map(|p| p.as_dvec3()).collect();
        Body::new(Core::Polytope(Polytope::hull(&points)))
    };
    let moved = Body {
        rotation: touchfield_conformance::convex_random::unit(pose.rotation),
        translation: pose.translation.as_dvec3(),
        ..truth(&needle)
    };
    let expected = body_pair(&truth(&sliver), &moved).signed();
    let touch = ConvexPair::new(&hull_of(&sliver), &hull_of(&needle), pose)
        .touch(f64::INFINITY, &mut ConvexCache::default());
    assert!(
        (touch.separation - expected).abs() <= 1e-8,
        "{touch:?}, expected {expected:e}"
    );
    assert!(touch.lower_bound <= expected && touch.upper_bound >= expected - 1e-14);
}

/// Hundreds of faces in six planes, and hundreds of points on each edge: only the box must remain.
#[test]
fn a_box_of_two_thousand_points_is_a_box() {
    let steps = 16;
    let at = |k: usize| -1.0 + 2.0 * k as f32 / steps as f32;
    let mut points = Vec::new();
    for i in 0..=steps {
        for j in 0..=steps {
            for side in [-1.0, 1.0] {
                points.push(Vec3::new(at(i), at(j), side));
                points.push(Vec3::new(at(i), side, at(j)));
                points.push(Vec3::new(side, at(i), at(j)));
            }
        }
    }
    let half = Vec3::new(1.0, 0.5, 0.25);
    let points: Vec<Vec3> = points.iter().map(|&p| p * half).collect();
    let hull = hull_of(&points);
    let truth = Body::new(Core::Polytope(Polytope::cuboid(half.as_dvec3())));
    let mut random = Random::new(31);
    for _ in 0..2000 {
        let rotation = random.quaternion().as_quat().normalize();
        let translation = (random.uniform(0.0, 2.5) * random.unit_vector()).as_vec3();
        let pose = Pose {
            rotation,
            translation,
        };
        let touch =
            ConvexPair::new(&hull, &hull, pose).touch(f64::INFINITY, &mut ConvexCache::default());
        let moved = Body {
            rotation: touchfield_conformance::convex_random::unit(rotation),
            translation: translation.as_dvec3(),
            ..truth.clone()
        };
        let expected = body_pair(&truth, &moved).signed();
        assert!(
            (touch.separation - expected).abs() <= 1e-5 * expected.abs() + 1e-13,
            "{pose:?}: {touch:?}, expected {expected:e}"
        );
    }
}

fn parry_shape(body: &Hostile) -> Option<Box<dyn Shape>> {
    let vector = |p: &DVec3| Vector::new(p.x, p.y, p.z);
    Some(match (&body.body.core, body.kind) {
        (_, Kind::Ball) => Box::new(shape::Ball::new(body.body.rounding)),
        (Core::Polytope(segment), Kind::Capsule) => Box::new(shape::Capsule::new_z(
            segment.points[1].z.abs(),
            body.body.rounding,
        )),
        (Core::Polytope(cuboid), Kind::Cuboid) => {
            Box::new(shape::Cuboid::new(vector(&cuboid.points[0].abs())))
        }
        (_, Kind::RoundedCloud | Kind::RoundedCuboid) => return None,
        (Core::Polytope(hull), _) if hull.points.len() == 3 => Box::new(shape::Triangle::new(
            vector(&hull.points[0]),
            vector(&hull.points[1]),
            vector(&hull.points[2]),
        )),
        (Core::Polytope(hull), _) if hull.faces.len() >= 4 => {
            let points: Vec<Vector> = hull.points.iter().map(vector).collect();
            Box::new(shape::ConvexPolyhedron::from_convex_hull(&points)?)
        }
        _ => return None,
    })
}

#[derive(Default, Debug)]
struct ParryTally {
    asked: usize,
    panicked: usize,
    silent: usize,
    agree: usize,
    differ: usize,
    overlap_differs: usize,
    /// Pairs that differ where the truth contradicts our answer.
    ours_wrong: usize,
}

/// Another library as a second witness, in `f64`. Where it differs, the truth decides, and the
/// tests above check us against the truth. So this asserts that it agrees on nearly all ordinary
/// bodies, and prints where it does not.
#[test]
fn parry_agrees_where_it_answers() {
    let mut random = Random::new(41);
    let mut ordinary = ParryTally::default();
    let mut hostile = ParryTally::default();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    for _ in 0..if is_long() { 200_000 } else { 6000 } {
        let [a, b] = [0, 1].map(|_| {
            Hostile::new(
                KINDS[random.below(KINDS.len())],
                Scale::Ordinary,
                &mut random,
            )
        });
        let placement = PLACEMENTS[random.below(PLACEMENTS.len())];
        let (rotation, translation) = place(&a, &b, placement, &mut random);
        let shapes = catch_unwind(AssertUnwindSafe(|| {
            Some((parry_shape(&a)?, parry_shape(&b)?))
        }));
        let easy = |kind: Kind| {
            matches!(
                kind,
                Kind::Cloud | Kind::Prism | Kind::Cuboid | Kind::Ball | Kind::Capsule
            )
        };
        let is_easy = easy(a.kind)
            && easy(b.kind)
            && matches!(
                placement,
                Placement::Random | Placement::Deep | Placement::Apart
            );
        let tally = if is_easy { &mut ordinary } else { &mut hostile };
        let shapes = match shapes {
            Ok(Some(shapes)) => shapes,
            Ok(None) => continue,
            Err(_) => {
                tally.asked += 1;
                tally.panicked += 1;
                continue;
            }
        };
        tally.asked += 1;
        let pose = Pose {
            rotation,
            translation,
        };
        let [x, y, z, w] = rotation.to_array().map(f64::from);
        let there = ParryPose::from_parts(
            translation.as_dvec3().to_array().into(),
            Rotation::from_xyzw(x, y, z, w).normalize(),
        );
        let answer = catch_unwind(AssertUnwindSafe(|| {
            let here = ParryPose::IDENTITY;
            let contact = query::contact(&here, &*shapes.0, &there, &*shapes.1, 1e9);
            let overlap = query::intersection_test(&here, &*shapes.0, &there, &*shapes.1);
            (contact, overlap)
        }));
        let Ok((contact, overlap)) = answer else {
            tally.panicked += 1;
            continue;
        };
        let (bodies, mut cache) = ([convex(&a), convex(&b)], ConvexCache::default());
        let touch = ConvexPair::new(&bodies[0], &bodies[1], pose).touch(f64::INFINITY, &mut cache);
        let size = a.radius.min(b.radius);
        if let Ok(overlap) = overlap
            && touch.separation.abs() > 1e-6 * size
            && overlap.intersecting != (touch.separation < 0.0)
        {
            tally.overlap_differs += 1;
        }
        let Ok(Some(contact)) = contact else {
            tally.silent += 1;
            continue;
        };
        let off = (contact.dist - touch.separation).abs();
        if off <= 1e-5 * touch.separation.abs() + 1e-6 * size {
            tally.agree += 1;
        } else {
            tally.differ += 1;
            let case = Case {
                a: &a,
                b: &b,
                pose,
                name: String::new(),
            };
            tally.ours_wrong += usize::from(!case.faults(&touch, &case.truth()).is_empty());
        }
    }
    std::panic::set_hook(hook);
    println!("ordinary: {ordinary:?}\nhostile: {hostile:?}");
    assert_eq!((ordinary.ours_wrong, hostile.ours_wrong), (0, 0));
    assert!(ordinary.differ * 100 <= ordinary.asked, "{ordinary:?}");
    assert!(
        ordinary.overlap_differs * 1000 <= ordinary.asked,
        "{ordinary:?}"
    );
}
