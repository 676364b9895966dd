//! V-Clip compared with all pairs of features in `f64`: every kind of hull, apart, touching, deep,
//! and degenerate on purpose.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use glam::{DQuat, DVec3, Vec3};
use touchfield::geom::Pose;
use touchfield::narrow::convex::{Feature, FeaturePair, VClip, VClipOutcome, v_clip};
use touchfield::shape::ConvexHull;
use touchfield_conformance::random::Random;

/// Share of the largest coordinate by which two ways to one distance in `f64` may differ.
const ROUNDING: f64 = 1e-11;

/// A hull for the truth: corners, edges and faces with corners in order, in frame A.
struct Solid {
    corners: Vec<DVec3>,
    edges: Vec<[DVec3; 2]>,
    faces: Vec<Vec<DVec3>>,
}

impl Solid {
    fn new(hull: &ConvexHull, a_from_b: Pose) -> Solid {
        let turn = a_from_b.rotation.as_dquat().normalize();
        let at = |v: u32| {
            turn * hull.vertices()[v as usize].as_dvec3() + a_from_b.translation.as_dvec3()
        };
        let edges = hull.half_edges();
        Solid {
            corners: (0..hull.vertices().len() as u32).map(at).collect(),
            edges: edges
                .iter()
                .map(|edge| [at(edge.origin), at(edges[edge.twin as usize].origin)])
                .collect(),
            faces: hull
                .faces()
                .iter()
                .map(|face| {
                    (face.first..face.first + face.count)
                        .map(|e| at(edges[e as usize].origin))
                        .collect()
                })
                .collect(),
        }
    }

    fn size(&self) -> f64 {
        let largest = |size: f64, p: &DVec3| size.max(p.abs().max_element());
        self.corners.iter().fold(0.0, largest)
    }

    fn holds(&self, p: DVec3) -> bool {
        !self.faces.is_empty()
            && (self.faces.iter()).all(|face| normal(face).dot(p - face[0]) <= 0.0)
            // A flat hull contains only what is in its plane, which the edges decide.
            && self.faces.len() > 2
    }
}

fn normal(face: &[DVec3]) -> DVec3 {
    let mut sum = DVec3::ZERO;
    for k in 0..face.len() {
        // Newell's method, about the face's own corner for accuracy far from the origin.
        sum += (face[k] - face[0]).cross(face[(k + 1) % face.len()] - face[0]);
    }
    sum.normalize()
}

fn within(face: &[DVec3], normal: DVec3, p: DVec3) -> bool {
    (0..face.len()).all(|k| {
        let (from, to) = (face[k], face[(k + 1) % face.len()]);
        (to - from).cross(p - from).dot(normal) >= 0.0
    })
}

fn point_segment(p: DVec3, [a, b]: [DVec3; 2]) -> f64 {
    let share = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
    p.distance(a + share * (b - a))
}

fn segment_segment(s: [DVec3; 2], t: [DVec3; 2]) -> f64 {
    let (u, v, w) = (s[1] - s[0], t[1] - t[0], s[0] - t[0]);
    let (uu, uv, vv, uw, vw) = (u.dot(u), u.dot(v), v.dot(v), u.dot(w), v.dot(w));
    let mut least = point_segment(s[0], t)
        .min(point_segment(s[1], t))
        .min(point_segment(t[0], s))
        .min(point_segment(t[1], s));
    let determinant = uu * vv - uv * uv;
    let (i, j) = (
        (uv * vw - vv * uw) / determinant,
        (uu * vw - uv * uw) / determinant,
    );
    if (0.0..=1.0).contains(&i) && (0.0..=1.0).contains(&j) {
        least = least.min((s[0] + i * u).distance(t[0] + j * v));
        // Nearly parallel: once more from the place found.
        least = least.min(point_segment(s[0] + i * u, t));
    }
    least
}

fn point_face(p: DVec3, face: &[DVec3]) -> f64 {
    let normal = normal(face);
    if within(face, normal, p) {
        return normal.dot(p - face[0]).abs();
    }
    (0..face.len())
        .map(|k| point_segment(p, [face[k], face[(k + 1) % face.len()]]))
        .fold(f64::INFINITY, f64::min)
}

fn pierces([p, q]: [DVec3; 2], face: &[DVec3]) -> bool {
    let normal = normal(face);
    let (above, below) = (normal.dot(p - face[0]), normal.dot(q - face[0]));
    if above * below > 0.0 || above == below {
        return false;
    }
    within(face, normal, p + above / (above - below) * (q - p))
}

/// Returns whether a corner of one is in the other, or an edge goes through a face.
fn overlap(a: &Solid, b: &Solid) -> bool {
    let inside = |x: &Solid, y: &Solid| {
        x.corners.iter().any(|&p| y.holds(p))
            || (x.edges.iter()).any(|&e| y.faces.iter().any(|f| pierces(e, f)))
    };
    inside(a, b) || inside(b, a)
}

/// Returns the distance from all pairs of features; 0 when overlapping.
fn truth(a: &Solid, b: &Solid) -> f64 {
    if overlap(a, b) {
        return 0.0;
    }
    let mut least = f64::INFINITY;
    for (x, y) in [(a, b), (b, a)] {
        for &p in &x.corners {
            for q in &y.corners {
                least = least.min(p.distance(*q));
            }
            for &edge in &y.edges {
                least = least.min(point_segment(p, edge));
            }
            for face in &y.faces {
                least = least.min(point_face(p, face));
            }
        }
    }
    for &s in &a.edges {
        for &t in &b.edges {
            least = least.min(segment_segment(s, t));
        }
    }
    least
}

const KINDS: usize = 11;

/// Returns a hull of one of [`KINDS`] kinds, about a metre in size.
fn any_hull(random: &mut Random, kind: usize) -> ConvexHull {
    let count = 4 + random.below(24);
    let mut cloud = |squash: DVec3| -> Vec<Vec3> {
        (0..count)
            .map(|_| (squash * random.in_box(-DVec3::ONE, DVec3::ONE)).as_vec3())
            .collect()
    };
    let points = match kind {
        0 => cloud(DVec3::ONE),
        1 => cloud(DVec3::ONE)
            .iter()
            .map(|p| p.normalize_or_zero())
            .collect(),
        2 => cloud(DVec3::new(1.0, 1e-4, 1e-4)),
        3 => cloud(DVec3::new(1.0, 1.0, 1e-4)),
        4 => cloud(DVec3::new(1.0, 1.0, 0.0)),
        5 => vec![cloud(DVec3::ONE)[0], cloud(DVec3::ONE)[1]],
        6 => vec![cloud(DVec3::ONE)[0]],
        // On a lattice: many coplanar points, parallel edges, equal lengths.
        7 => cloud(DVec3::splat(2.0)).iter().map(|p| p.round()).collect(),
        8 => cuboid(Vec3::ONE),
        // A prism with many sides: long faces and faces with many corners.
        9 => (0..2 * count)
            .map(|k| {
                let angle = (k / 2) as f32 / count as f32 * std::f32::consts::TAU;
                Vec3::new(angle.cos(), angle.sin(), (k % 2) as f32 - 0.5)
            })
            .collect(),
        // Slivers: a triangle, and a corner just above it.
        _ => {
            let mut points = cloud(DVec3::new(1.0, 0.01, 0.0));
            points.truncate(3);
            points.push(cloud(DVec3::new(1.0, 0.01, 1e-5))[0]);
            points
        }
    };
    ConvexHull::new(&points).unwrap()
}

fn cuboid(half: Vec3) -> Vec<Vec3> {
    let sign = |k: u32, bit: u32| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
    (0..8)
        .map(|k| half * Vec3::new(sign(k, 0), sign(k, 1), sign(k, 2)))
        .collect()
}

fn any_pose(random: &mut Random) -> Pose {
    let rotation = match random.below(4) {
        0 => DQuat::IDENTITY,
        1 => DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2 * random.below(4) as f64),
        _ => random.quaternion(),
    };
    let direction = match random.below(3) {
        0 => DVec3::AXES[random.below(3)],
        _ => random.unit_vector(),
    };
    let far = match random.below(4) {
        0 => random.below(5) as f64,
        1 => random.log_uniform(1e-6, 1e5),
        _ => random.uniform(0.0, 4.0),
    };
    Pose {
        rotation: rotation.as_quat(),
        translation: (far * direction).as_vec3(),
    }
}

/// Statistics over many answers.
#[derive(Debug, Default)]
struct Seen {
    pairs: u32,
    apart: u32,
    overlapping: u32,
    gave_up: u32,
    circles: u32,
    steps: u64,
    most_steps: u32,
    worst: f64,
}

impl Seen {
    #[track_caller]
    fn check(&mut self, a: &Solid, b: &Solid, found: VClip, name: &str) {
        let expected = truth(a, b);
        let size = a.size().max(b.size());
        let allowed = ROUNDING * size;
        self.pairs += 1;
        self.steps += u64::from(found.steps);
        self.circles += found.circles;
        self.most_steps = self.most_steps.max(found.steps);
        match found.outcome {
            VClipOutcome::Apart {
                distance,
                point_on_a,
                point_on_b,
            } => {
                self.apart += 1;
                let error = (distance - expected).abs() / size;
                self.worst = self.worst.max(error);
                assert!(
                    error * size <= allowed,
                    "{name}: {distance:e}, truth {expected:e}"
                );
                let between = point_on_b - point_on_a;
                assert!((between.length() - distance).abs() <= allowed, "{name}");
                // The plane through each point has its hull behind it.
                let normal = between / distance;
                if distance > 1e-3 * size {
                    for &corner in &a.corners {
                        assert!(normal.dot(corner - point_on_a) <= 1e3 * allowed, "{name}");
                    }
                    for &corner in &b.corners {
                        assert!(normal.dot(corner - point_on_b) >= -1e3 * allowed, "{name}");
                    }
                }
            }
            VClipOutcome::Overlapping => {
                self.overlapping += 1;
                assert!(expected <= allowed, "{name}: overlap, truth {expected:e}");
            }
            VClipOutcome::GaveUp => self.gave_up += 1,
        }
    }
}

#[test]
fn every_kind_of_pair_agrees_with_all_pairs_of_features() {
    let pairs: usize = std::env::var("V_CLIP_PAIRS").map_or(20_000, |n| n.parse().unwrap());
    let mut random = Random::new(1);
    let mut seen = Seen::default();
    for pair in 0..pairs {
        let kinds = [pair % KINDS, pair / KINDS % KINDS];
        let a = any_hull(&mut random, kinds[0]);
        let b = any_hull(&mut random, kinds[1]);
        let pose = any_pose(&mut random);
        let found = v_clip(&a, &b, pose, &mut None);
        let name = format!("pair {pair}, kinds {kinds:?}, {found:?}");
        let solids = (Solid::new(&a, Pose::IDENTITY), Solid::new(&b, pose));
        seen.check(&solids.0, &solids.1, found, &name);
        // The answer is the same from any other start.
        let mut stale = Some(FeaturePair {
            on_a: Feature::Vertex(random.below(9) as u32),
            on_b: Feature::Face(random.below(9) as u32),
        });
        let again = v_clip(&a, &b, pose, &mut stale);
        seen.check(&solids.0, &solids.1, again, &name);
    }
    println!(
        "{seen:?}, mean {}",
        seen.steps as f64 / f64::from(seen.pairs)
    );
    assert_eq!(seen.gave_up, 0);
}

/// Hulls moved until they touch, with a gap or an overlap of 10⁻¹⁵ to 10⁻³ of their size, large,
/// small and far away.
#[test]
fn nearly_touching_pairs_agree_at_every_scale() {
    let pairs: usize = std::env::var("V_CLIP_PAIRS").map_or(6_000, |n| n.parse().unwrap());
    let mut random = Random::new(2);
    for (scale, offset) in [(1.0f32, 0.0f32), (1e-6, 0.0), (1e5, 0.0), (1.0, 1e5)] {
        let mut seen = Seen::default();
        for pair in 0..pairs / 4 {
            let kinds = [random.below(KINDS), random.below(KINDS)];
            let [a, b] = kinds.map(|kind| {
                let hull = any_hull(&mut random, kind);
                let moved = hull.vertices().iter().map(|p| *p * scale + offset);
                ConvexHull::new(&moved.collect::<Vec<_>>()).unwrap()
            });
            let mut pose = any_pose(&mut random);
            pose.translation *= scale;
            if offset > 0.0 {
                pose.rotation = glam::Quat::IDENTITY;
            }
            let still = Solid::new(&a, Pose::IDENTITY);
            let start = v_clip(&a, &b, pose, &mut None);
            if let VClipOutcome::Apart {
                point_on_a,
                point_on_b,
                distance,
            } = start.outcome
            {
                let gap = random.log_uniform(1e-15, 1e-3) * f64::from(scale);
                let gap = if random.below(2) == 0 { gap } else { -gap };
                let approach = (point_on_a - point_on_b) * (1.0 - gap / distance);
                pose.translation = (pose.translation.as_dvec3() + approach).as_vec3();
            }
            let name = format!("pair {pair}, kinds {kinds:?}, scale {scale}, {offset} away");
            let mut features = None;
            let found = v_clip(&a, &b, pose, &mut features);
            let moved = Solid::new(&b, pose);
            seen.check(&still, &moved, found, &name);
            // Warm-started from its own end, it returns the same answer at once.
            let again = v_clip(&a, &b, pose, &mut features);
            seen.check(&still, &moved, again, &name);
            if found.circles == 0 {
                assert!(again.outcome == found.outcome && again.steps == 1, "{name}");
            }
        }
        println!("{seen:?}, {scale} {offset}");
        assert_eq!(seen.gave_up, 0);
    }
}

/// Unit cubes on a lattice of half sides: corner to corner, edge along edge, face on face, sharing
/// a part, one in the other.
#[test]
fn boxes_in_every_arrangement_along_the_axes() {
    let cube = ConvexHull::new(&cuboid(Vec3::ONE)).unwrap();
    let slab = ConvexHull::new(&cuboid(Vec3::new(2.0, 1.0, 0.5))).unwrap();
    let mut seen = Seen::default();
    for (a, b, half_a, half_b) in [
        (&cube, &cube, Vec3::ONE, Vec3::ONE),
        (&cube, &slab, Vec3::ONE, Vec3::new(2.0, 1.0, 0.5)),
    ] {
        for code in 0..13i32.pow(3) {
            let place = |axis: u32| (code / 13i32.pow(axis) % 13 - 6) as f32 * 0.5;
            let translation = Vec3::new(place(0), place(1), place(2));
            let pose = Pose::from_translation(translation);
            let gap = (translation.abs() - half_a - half_b).max(Vec3::ZERO);
            let found = v_clip(a, b, pose, &mut None);
            let expected = f64::from(gap.length());
            match found.outcome {
                VClipOutcome::Apart { distance, .. } => {
                    assert!(expected > 0.0, "{translation}");
                    assert!((distance - expected).abs() < 1e-6, "{translation}");
                }
                outcome => {
                    assert_eq!(outcome, VClipOutcome::Overlapping, "{translation}");
                    assert_eq!(expected, 0.0, "{translation}");
                }
            }
            let solids = [Solid::new(a, Pose::IDENTITY), Solid::new(b, pose)];
            seen.check(&solids[0], &solids[1], found, &format!("{translation}"));
        }
    }
    println!("{seen:?}");
    assert_eq!((seen.gave_up, seen.circles), (0, 0));
}

#[test]
fn identical_hulls_overlap_until_they_are_moved_apart() {
    let mut random = Random::new(3);
    let mut seen = Seen::default();
    for trial in 0..40 * KINDS {
        let hull = any_hull(&mut random, trial % KINDS);
        let still = Solid::new(&hull, Pose::IDENTITY);
        let found = v_clip(&hull, &hull, Pose::IDENTITY, &mut None);
        assert_eq!(found.outcome, VClipOutcome::Overlapping, "{trial}");
        for far in [1e-7, 1e-3, 0.5, 5.0] {
            let pose = Pose::from_translation((far * random.unit_vector()).as_vec3());
            let found = v_clip(&hull, &hull, pose, &mut None);
            let moved = Solid::new(&hull, pose);
            seen.check(&still, &moved, found, &format!("{trial}, {far}"));
        }
    }
    println!("{seen:?}");
    assert_eq!(seen.gave_up, 0);
}

fn to_feature(p: DVec3, hull: &ConvexHull, solid: &Solid, feature: Feature) -> f64 {
    match feature {
        Feature::Vertex(v) => p.distance(solid.corners[v as usize]),
        Feature::Edge(e) => point_segment(p, solid.edges[e as usize]),
        Feature::Face(f) => {
            assert!(hull.faces().len() > f as usize);
            point_face(p, &solid.faces[f as usize])
        }
    }
}

/// The theorem itself: each of the two points lies on its feature, and no feature of its hull is
/// nearer to the other point.
#[test]
fn at_the_answer_each_point_lies_in_the_region_of_the_others_feature() {
    let mut random = Random::new(4);
    let mut kinds_seen = [[0u32; 3]; 3];
    for trial in 0..4000 {
        let kinds = [random.below(KINDS), random.below(KINDS)];
        let hulls = kinds.map(|kind| any_hull(&mut random, kind));
        let pose = any_pose(&mut random);
        let mut features = None;
        let found = v_clip(&hulls[0], &hulls[1], pose, &mut features);
        let VClipOutcome::Apart {
            distance,
            point_on_a,
            point_on_b,
        } = found.outcome
        else {
            continue;
        };
        let FeaturePair { on_a, on_b } = features.unwrap();
        let dimension = |feature| match feature {
            Feature::Vertex(_) => 0,
            Feature::Edge(_) => 1,
            Feature::Face(_) => 2,
        };
        kinds_seen[dimension(on_a)][dimension(on_b)] += 1;
        let solids = [
            Solid::new(&hulls[0], Pose::IDENTITY),
            Solid::new(&hulls[1], pose),
        ];
        let allowed = ROUNDING * solids[0].size().max(solids[1].size());
        for (own, on, at, opposite) in [
            (0, on_a, point_on_a, point_on_b),
            (1, on_b, point_on_b, point_on_a),
        ] {
            let (hull, solid) = (&hulls[own], &solids[own]);
            assert!(to_feature(at, hull, solid, on) <= allowed, "{trial}");
            let to_own = to_feature(opposite, hull, solid, on);
            assert!((to_own - distance).abs() <= allowed, "{trial}");
            let all = (0..solid.corners.len() as u32)
                .map(Feature::Vertex)
                .chain((0..solid.edges.len() as u32).map(Feature::Edge))
                .chain((0..solid.faces.len() as u32).map(Feature::Face));
            for other in all {
                let to_other = to_feature(opposite, hull, solid, other);
                assert!(to_other >= distance - allowed, "{trial}: {other:?}");
            }
        }
    }
    // Every pair of kinds that can be nearest occurred.
    println!("{kinds_seen:?}");
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0)] {
        assert!(kinds_seen[a][b] > 20, "{kinds_seen:?}");
    }
}

/// Returns the hull of points spread evenly over a sphere.
fn round_hull(count: usize) -> ConvexHull {
    let points: Vec<Vec3> = (0..count)
        .map(|k| {
            let height = 1.0 - 2.0 * (k as f64 + 0.5) / count as f64;
            let angle = k as f64 * 2.399_963_229_728_653;
            let ring = (1.0 - height * height).sqrt();
            DVec3::new(ring * angle.cos(), ring * angle.sin(), height).as_vec3()
        })
        .collect();
    ConvexHull::new(&points).unwrap()
}

#[test]
fn coherent_motion_costs_a_few_steps_at_any_number_of_corners() {
    for count in [10, 100, 1000, 10_000] {
        let hull = round_hull(count);
        let (mut warm, mut cold, mut queries) = (0u32, 0u32, 0u32);
        let mut features = None;
        for frame in 0..600 {
            let time = f64::from(frame) * 1e-3;
            let pose = Pose {
                rotation: DQuat::from_scaled_axis(DVec3::new(time, -2.0 * time, 0.5)).as_quat(),
                translation: DVec3::new(2.5 * time.cos(), 2.5 * time.sin(), 0.1).as_vec3(),
            };
            let found = v_clip(&hull, &hull, pose, &mut features);
            let anew = v_clip(&hull, &hull, pose, &mut None);
            let (VClipOutcome::Apart { distance: d, .. }, VClipOutcome::Apart { distance: e, .. }) =
                (found.outcome, anew.outcome)
            else {
                panic!("{count}, {frame}: {found:?} {anew:?}");
            };
            assert!((d - e).abs() < 1e-12, "{count}, {frame}: {d} {e}");
            if frame > 0 {
                warm += found.steps;
                cold += anew.steps;
                queries += 1;
            }
        }
        let mean = |steps: u32| f64::from(steps) / f64::from(queries);
        println!("{count}: warm {}, cold {}", mean(warm), mean(cold));
        assert!(mean(warm) < 3.0, "{count}: {}", mean(warm));
    }
}

/// From arbitrary start features, on the far side too, where local minima are: the answer is proven
/// by the plane between the points, or by a corner or an edge that is in both.
#[test]
fn large_hulls_are_crossed_from_any_start() {
    let mut random = Random::new(5);
    let (mut steps, mut most, mut apart, mut overlapping) = (0, 0, 0, 0);
    for trial in 0..300 {
        let [a, b] = [0, 1].map(|_| {
            let squash = DVec3::new(
                1.0,
                random.log_uniform(0.01, 1.0),
                random.log_uniform(0.01, 1.0),
            );
            let count = 100 + random.below(300);
            let points: Vec<Vec3> = (0..count)
                .map(|_| (squash * random.unit_vector()).as_vec3())
                .collect();
            ConvexHull::new(&points).unwrap()
        });
        let pose = any_pose(&mut random);
        let solids = [Solid::new(&a, Pose::IDENTITY), Solid::new(&b, pose)];
        let size = solids[0].size().max(solids[1].size());
        let any = |random: &mut Random, hull: &ConvexHull| match random.below(3) {
            0 => Feature::Vertex(random.below(hull.vertices().len()) as u32),
            1 => Feature::Edge(random.below(hull.half_edges().len()) as u32),
            _ => Feature::Face(random.below(hull.faces().len()) as u32),
        };
        let overlap = overlap(&solids[0], &solids[1]);
        for _ in 0..20 {
            let mut features = Some(FeaturePair {
                on_a: any(&mut random, &a),
                on_b: any(&mut random, &b),
            });
            let found = v_clip(&a, &b, pose, &mut features);
            steps += found.steps;
            most = most.max(found.steps);
            match found.outcome {
                VClipOutcome::Apart {
                    distance,
                    point_on_a,
                    point_on_b,
                } => {
                    apart += 1;
                    let normal = (point_on_b - point_on_a) / distance;
                    let ends = [(&solids[0], 1.0), (&solids[1], -1.0)].map(|(solid, sign)| {
                        let along = solid.corners.iter().map(|p| sign * normal.dot(*p));
                        along.fold(f64::NEG_INFINITY, f64::max)
                    });
                    let lower_bound = -ends[1] - ends[0];
                    assert!(
                        distance - lower_bound <= ROUNDING * size,
                        "{trial} {found:?}"
                    );
                    assert!(!overlap, "{trial} {found:?}");
                }
                VClipOutcome::Overlapping => {
                    overlapping += 1;
                    assert!(overlap, "{trial} {found:?}");
                }
                VClipOutcome::GaveUp => panic!("{trial} {found:?}"),
            }
        }
    }
    println!("{apart} apart, {overlapping} overlapping, {steps} steps, {most} at most");
    assert!(apart > 1000 && overlapping > 1000);
}

#[test]
fn features_of_other_hulls_and_of_none_are_a_start_too() {
    let cube = ConvexHull::new(&cuboid(Vec3::ONE)).unwrap();
    let point = ConvexHull::new(&[Vec3::ZERO]).unwrap();
    let pose = Pose::from_translation(Vec3::new(3.0, 0.0, 0.0));
    for on_a in [
        Feature::Vertex(7),
        Feature::Vertex(u32::MAX),
        Feature::Edge(23),
        Feature::Edge(24),
        Feature::Face(5),
        Feature::Face(6),
    ] {
        for on_b in [Feature::Vertex(0), Feature::Edge(0), Feature::Face(0)] {
            for other in [&cube, &point] {
                let mut features = Some(FeaturePair { on_a, on_b });
                let found = v_clip(&cube, other, pose, &mut features);
                let expected = if other == &point { 2.0 } else { 1.0 };
                assert!(
                    matches!(found.outcome, VClipOutcome::Apart { distance, .. } if distance == expected),
                    "{on_a:?} {on_b:?}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn a_pose_that_is_not_finite_gets_no_answer() {
    let cube = ConvexHull::new(&cuboid(Vec3::ONE)).unwrap();
    let point = ConvexHull::new(&[Vec3::ZERO]).unwrap();
    for bad in [f32::NAN, f32::INFINITY] {
        let moved = Pose::from_translation(Vec3::new(0.0, bad, 0.0));
        let turned = Pose {
            rotation: glam::Quat::from_xyzw(bad, 0.0, 0.0, 0.0),
            translation: Vec3::X,
        };
        for pose in [moved, turned] {
            for (a, b) in [(&cube, &cube), (&cube, &point), (&point, &cube)] {
                let found = v_clip(a, b, pose, &mut None);
                assert_eq!(found.outcome, VClipOutcome::GaveUp, "{pose:?}");
            }
        }
    }
}
