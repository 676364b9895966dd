//! Convex bodies as fields, as baked fields and as themselves: both halves of the library must
//! agree.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests: a failed unwrap is a failed test, and figures are for who runs it"
)]

use std::sync::Arc;
use std::time::Instant;

use glam::{DVec3, Quat, Vec3};
use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::field::StoredField;
use touchfield::geom::{Motion, PairMotion, Pose};
use touchfield::mesh::TriangleMesh;
use touchfield::narrow::convex::{ConvexCache, ConvexPair, Touch};
use touchfield::narrow::{
    CastOutcome, CastScratch, CastSettings, CollideSettings, ContactMethod, Contacts, Pair,
    Scratch, SeparationScratch, SeparationSettings, cast, collide, separation, touching,
};
use touchfield::shape::{Convex, ConvexHull, Shape};
use touchfield_conformance::field_suite::check_field;
use touchfield_conformance::mesh_truth::MeshTruth;
use touchfield_conformance::meshes::is_long;
use touchfield_conformance::random::Random;

fn hull(points: &[Vec3]) -> Convex {
    Convex::hull(Arc::new(ConvexHull::new(points).unwrap()))
}

fn cloud(count: usize, squash: Vec3, random: &mut Random) -> Vec<Vec3> {
    let mut point = || random.unit_vector() * random.uniform(0.5, 1.0);
    (0..count).map(|_| point().as_vec3() * squash).collect()
}

fn mesh_of(hull: &ConvexHull) -> TriangleMesh {
    TriangleMesh {
        vertices: hull.vertices().iter().map(|v| v.as_dvec3()).collect(),
        faces: hull.triangles(),
    }
}

/// Returns the solid as a plain field, without its convex form.
fn as_field(convex: &Convex) -> Shape {
    Shape::new(convex.field().unwrap())
}

fn baked(hull: &ConvexHull) -> Shape {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(48),
        ..Default::default()
    };
    let baked = bake(&mesh_of(hull), &settings).unwrap();
    Shape::stored(Arc::new(StoredField::from(baked.field)))
}

fn touch(a: &Convex, b: &Convex, a_from_b: Pose) -> Touch {
    ConvexPair::new(a, b, a_from_b).touch(f64::INFINITY, &mut ConvexCache::default())
}

fn random_pose(reach: f64, random: &mut Random) -> Pose {
    Pose {
        rotation: random.quaternion().as_quat().normalize(),
        translation: (random.unit_vector() * random.uniform(0.0, reach)).as_vec3(),
    }
}

#[test]
fn hulls_are_fields_that_pass_the_suite() {
    let mut random = Random::new(61);
    for (count, squash) in [
        (4, Vec3::ONE),
        (30, Vec3::ONE),
        (200, Vec3::new(1.0, 0.5, 0.1)),
        (20, Vec3::new(1.0, 1e-3, 1.0)),
        (30, Vec3::splat(1e-6)),
    ] {
        let convex = hull(&cloud(count, squash, &mut random));
        let truth = MeshTruth::of(&mesh_of(convex.as_hull().unwrap()));
        let field = convex.field().unwrap();
        let report = check_field(&field, Some(&|p| truth.signed_distance(p)), "hull", 1, 2000);
        println!("{}", report.unwrap());
        let radius = 0.2 * squash.x;
        let rounded = convex.rounded(radius).unwrap().field().unwrap();
        let truth = |p: DVec3| truth.signed_distance(p) - f64::from(radius);
        let report = check_field(&rounded, Some(&truth), "rounded hull", 1, 2000);
        println!("{}", report.unwrap());
    }
}

/// Inside, the value is that of the face plane that the point is highest above. The time is
/// printed, not asserted.
#[test]
fn large_hulls_have_the_values_of_all_their_faces() {
    let mut random = Random::new(71);
    let counts = if is_long() {
        &[400, 2000, 10_000, 100_000][..]
    } else {
        &[400, 2000, 10_000]
    };
    for &count in counts {
        let axes = DVec3::new(1.0, 0.8, 0.6);
        let points: Vec<Vec3> = (0..count)
            .map(|_| (axes * random.unit_vector()).as_vec3())
            .collect();
        let convex = hull(&points);
        let field = convex.field().unwrap();
        let faces = convex.as_hull().unwrap().faces();
        let probes: Vec<Vec3> = (0..1000)
            .map(|_| (random.uniform(0.0, 1.2) * axes * random.unit_vector()).as_vec3())
            .collect();
        let start = Instant::now();
        let values: Vec<f32> = probes.iter().map(|&p| field.distance(p)).collect();
        let by_field = start.elapsed() / 1000;
        let start = Instant::now();
        for (&point, value) in probes.iter().zip(values) {
            let above = (faces.iter()).fold(f64::NEG_INFINITY, |most, face| {
                most.max(face.normal.dot(point.as_dvec3()) - face.offset)
            });
            match above <= 0.0 {
                true => assert_eq!(value, above as f32, "{count} corners at {point}"),
                false => assert!(f64::from(value) >= above * (1.0 - 1e-6), "{value} {above}"),
            }
        }
        let by_all = start.elapsed() / 1000;
        println!("{count} corners: a value takes {by_field:?}, a look at all faces {by_all:?}");
    }
}

#[test]
fn hulls_without_inside_are_fields_too() {
    let corners = [
        Vec3::ZERO,
        Vec3::X,
        Vec3::new(1.0, 1.0, 0.0),
        Vec3::new(0.0, 2.0, 0.0),
    ];
    let in_plane = |p: DVec3| {
        let sides = (0..4).map(|k| {
            let (a, b) = (corners[k].as_dvec3(), corners[(k + 1) % 4].as_dvec3());
            let along = b - a;
            let share = ((p - a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
            let is_left = along.cross(p - a).z >= 0.0;
            (is_left, p.distance(a + share * along))
        });
        let (inside, least) = sides.fold((true, f64::INFINITY), |(all, least), (left, d)| {
            (all && left, least.min(d))
        });
        if inside { p.z.abs() } else { least }
    };
    let flat = hull(&corners).field().unwrap();
    check_field(&flat, Some(&in_plane), "flat hull", 1, 2000).unwrap();
    let segment = hull(&corners[..2]).field().unwrap();
    let truth = |p: DVec3| p.distance(DVec3::X * p.x.clamp(0.0, 1.0));
    check_field(&segment, Some(&truth), "segment", 1, 2000).unwrap();
    let point = hull(&corners[1..2]).field().unwrap();
    check_field(&point, Some(&|p| p.distance(DVec3::X)), "point", 1, 500).unwrap();
}

/// Checks a pair: when apart, the bracket of the fields holds the distance of GJK; when
/// overlapping, minus the separation is at most the depth of EPA.
fn confirm(a: &Convex, b: &Convex, fields: [&Shape; 2], pose: Pose, tolerance: f32) {
    let exact = touch(a, b, pose);
    let pair = Pair {
        a: fields[0],
        b: fields[1],
        a_from_b: pose,
    };
    let settings = SeparationSettings::to_within(tolerance);
    let found = separation(&pair, &settings, &mut SeparationScratch::default()).unwrap();
    let (lower, upper) = (f64::from(found.lower_bound), f64::from(found.upper_bound));
    if exact.separation > 0.0 {
        assert!(
            lower <= exact.upper_bound && exact.lower_bound <= upper,
            "{exact:?} {found:?}"
        );
    } else {
        // The largest ball in the overlap is no wider than the way out of it.
        assert!(
            lower <= 1e-6 && -upper <= -exact.lower_bound + 1e-6,
            "{exact:?} {found:?}"
        );
    }
}

#[test]
fn brackets_of_closed_fields_hold_what_gjk_and_epa_say() {
    let mut random = Random::new(62);
    let bodies = [
        Convex::sphere(0.4).unwrap(),
        Convex::cuboid(Vec3::new(0.6, 0.3, 0.2)).unwrap(),
        Convex::capsule(0.5, 0.2).unwrap(),
        Convex::cylinder(0.4, 0.3).unwrap(),
        Convex::cone(0.4, 0.4).unwrap(),
        Convex::ellipsoid(Vec3::new(0.6, 0.4, 0.2)).unwrap(),
        hull(&cloud(20, Vec3::splat(0.6), &mut random)),
        hull(&cloud(12, Vec3::splat(0.5), &mut random))
            .rounded(0.1)
            .unwrap(),
    ];
    let mut checked = 0;
    for a in &bodies {
        for b in &bodies {
            let fields = [as_field(a), as_field(b)];
            for _ in 0..12 {
                let pose = random_pose(1.6, &mut random);
                confirm(a, b, [&fields[0], &fields[1]], pose, 1e-3);
                checked += 1;
            }
        }
    }
    println!("{checked} pairs");
}

#[test]
fn brackets_of_baked_fields_hold_what_gjk_and_epa_say() {
    let mut random = Random::new(63);
    for (count, squash) in [
        (10, Vec3::ONE),
        (60, Vec3::new(1.0, 0.6, 0.4)),
        (200, Vec3::ONE),
    ] {
        let [a, b] = [0, 1].map(|_| hull(&cloud(count, squash, &mut random)));
        let fields = [&a, &b].map(|convex| baked(convex.as_hull().unwrap()));
        for _ in 0..40 {
            let pose = random_pose(2.5, &mut random);
            confirm(&a, &b, [&fields[0], &fields[1]], pose, 1e-2);
        }
    }
}

/// For balls and for slabs the largest ball in the overlap is as wide as the way out.
#[test]
fn of_balls_and_slabs_both_measures_are_the_same() {
    let mut random = Random::new(64);
    let slab = Convex::cuboid(Vec3::new(4.0, 4.0, 0.3)).unwrap();
    let ball = Convex::sphere(0.5).unwrap();
    for (a, b) in [(&ball, &ball), (&slab, &ball), (&slab, &slab)] {
        let fields = [as_field(a), as_field(b)];
        for _ in 0..50 {
            let pose = Pose {
                // Slabs stay face to face.
                rotation: Quat::from_rotation_z(random.uniform(0.0, 3.0) as f32),
                translation: Vec3::new(
                    random.uniform(-0.2, 0.2) as f32,
                    random.uniform(-0.2, 0.2) as f32,
                    random.uniform(0.31, 0.55) as f32,
                ),
            };
            let exact = touch(a, b, pose);
            let pair = Pair {
                a: &fields[0],
                b: &fields[1],
                a_from_b: pose,
            };
            let settings = SeparationSettings::to_within(1e-4);
            let found = separation(&pair, &settings, &mut SeparationScratch::default()).unwrap();
            assert!(exact.separation < 0.0);
            assert!(
                f64::from(found.lower_bound) - 1e-6 <= exact.separation
                    && exact.separation <= f64::from(found.upper_bound) + 1e-6,
                "{exact:?} {found:?}"
            );
        }
    }
}

/// A convex pair in the pair table answers like the pair itself and names its method; against a
/// baked field it is a field.
#[test]
fn convex_pairs_are_picked_and_mixed_pairs_are_fields() {
    let mut random = Random::new(65);
    let [a, b] = [0, 1].map(|_| hull(&cloud(40, Vec3::ONE, &mut random)));
    let shapes = [&a, &b].map(|convex| Shape::convex(convex.clone()).unwrap());
    let field = baked(a.as_hull().unwrap());
    let (mut scratch, mut found) = (Scratch::default(), Contacts::default());
    for _ in 0..200 {
        let a_from_b = random_pose(2.2, &mut random);
        let pair = Pair {
            a: &shapes[0],
            b: &shapes[1],
            a_from_b,
        };
        let exact = touch(&a, &b, a_from_b);
        let settings = CollideSettings::default();
        collide(&pair, &settings, &mut scratch, &mut found).unwrap();
        assert_eq!(found.method, ContactMethod::Convex);
        assert_eq!(found.contacts.is_empty(), exact.separation > 0.0);
        assert_eq!(
            touching(&pair, 0.0, &mut scratch).unwrap(),
            exact.separation <= 0.0
        );
        if let Some(deepest) = found.contacts.first() {
            assert!(
                (f64::from(deepest.separation) - exact.separation).abs() < 1e-5
                    || f64::from(deepest.separation) < exact.separation
            );
        }
        let settings = SeparationSettings::to_within(1e-3);
        let alone = separation(&pair, &settings, &mut SeparationScratch::default()).unwrap();
        if exact.separation > 1e-6 {
            assert!((f64::from(alone.separation) - exact.separation).abs() < 1e-6);
            assert!(alone.upper_bound - alone.lower_bound < 1e-5 * alone.separation + 1e-6);
            assert_eq!(alone.boxes, 0);
        } else if exact.separation < 0.0 {
            assert!(alone.lower_bound <= 0.0);
        }
        // A hull against a baked body.
        let mixed = Pair { a: &field, ..pair };
        let found = separation(
            &mixed,
            &SeparationSettings::to_within(1e-2),
            &mut SeparationScratch::default(),
        )
        .unwrap();
        if exact.separation > 0.0 {
            assert!(
                f64::from(found.lower_bound) <= exact.upper_bound
                    && exact.lower_bound <= f64::from(found.upper_bound),
                "{exact:?} {found:?}"
            );
        }
    }
}

/// Conservative advancement on GJK: the proof ends at the touch, which fine steps on the exact
/// distance find as well.
#[test]
fn casts_of_convex_bodies_end_where_fine_steps_do() {
    let mut random = Random::new(66);
    let bodies = [
        hull(&cloud(30, Vec3::splat(0.5), &mut random)),
        Convex::cuboid(Vec3::new(0.5, 0.2, 0.1)).unwrap(),
        Convex::cylinder(0.3, 0.2).unwrap(),
        hull(&cloud(8, Vec3::new(0.8, 0.1, 0.1), &mut random))
            .rounded(0.05)
            .unwrap(),
    ];
    let mut scratch = CastScratch::default();
    let (mut hits, mut steps) = (0, 0);
    for a in &bodies {
        for b in &bodies {
            let shapes = [a, b].map(|convex| Shape::convex(convex.clone()).unwrap());
            for _ in 0..15 {
                let start = Pose {
                    translation: (random.unit_vector() * 2.0).as_vec3(),
                    ..random_pose(1.0, &mut random)
                };
                let motion = Motion {
                    start,
                    center: Vec3::ZERO,
                    translation: -start.translation * random.uniform(0.5, 2.0) as f32,
                    turn: (random.unit_vector() * random.uniform(0.0, 6.0)).as_vec3(),
                };
                let motion = PairMotion::of_b(motion);
                let settings = CastSettings::to_within(1e-5);
                let found = cast(&shapes[0], &shapes[1], &motion, &settings, &mut scratch).unwrap();
                steps += found.steps;
                let at = |time: f32| touch(a, b, motion.at(time)).separation;
                // Nothing touches before the proof ends.
                for k in 0..400 {
                    let time = found.impact.lower_bound * k as f32 / 400.0;
                    assert!(at(time) > 0.0, "{time} {found:?}");
                }
                match found.outcome {
                    CastOutcome::Hit => {
                        hits += 1;
                        assert!(at(found.impact.time).abs() < 2e-5, "{found:?}");
                        assert!(
                            found.impact.time - found.impact.lower_bound < 1e-4,
                            "{found:?}"
                        );
                    }
                    CastOutcome::Free => assert_eq!(found.impact.lower_bound, 1.0),
                    outcome => panic!("{outcome:?}"),
                }
            }
        }
    }
    println!("{hits} hits of 240, {} states a cast", steps / 240);
    assert!(hits > 60);
}
