//! Depth of overlaps of bodies that keep their faces: closed forms, and a dense search in `f64`
//! with the distance to every triangle.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::f32::consts::SQRT_2;

use glam::{DVec3, Quat, Vec3};
use touchfield::ShapeSettings;
use touchfield::field::primitive::HalfSpace;
use touchfield::geom::Pose;
use touchfield::mesh::TriangleMesh;
use touchfield::narrow::{
    Pair, Separation, SeparationOutcome, SeparationScratch, SeparationSettings, separation,
};
use touchfield::open::ShellChoice;
use touchfield::shape::Shape;
use touchfield_conformance::contact_truth::Place;
use touchfield_conformance::mesh_truth::{MeshTruth, in_parallel};
use touchfield_conformance::meshes::{self, is_long};
use touchfield_conformance::random::Random;

struct Body {
    name: &'static str,
    truth: MeshTruth,
    shape: Shape,
    diagonal: f32,
}

impl Body {
    /// Returns a body of the mesh scaled to a diagonal of `size` about the origin.
    fn of_size(name: &'static str, mut mesh: TriangleMesh, size: f64) -> Body {
        let bounds = mesh.bounds();
        for vertex in &mut mesh.vertices {
            *vertex = (*vertex - bounds.center()) * (size / bounds.diagonal());
        }
        Body::of(name, mesh)
    }

    fn of(name: &'static str, mesh: TriangleMesh) -> Body {
        let settings = ShapeSettings {
            shell: ShellChoice::None,
            ..ShapeSettings::with_nodes(32)
        };
        let shape = Shape::from_mesh(&mesh, &settings).unwrap();
        assert!(shape.exact_surface().is_some(), "{name}");
        Body {
            name,
            truth: MeshTruth::of(&mesh),
            diagonal: mesh.bounds().diagonal() as f32,
            shape,
        }
    }

    /// Returns a cube with sides of 1 m about the origin.
    fn cube() -> Body {
        Body::of_size("cube", meshes::cube(3), f64::sqrt(3.0))
    }
}

fn ask(a: &Shape, b: &Shape, a_from_b: Pose, tolerance: f32) -> Separation {
    let pair = Pair { a, b, a_from_b };
    let settings = SeparationSettings::to_within(tolerance).exactly();
    separation(&pair, &settings, &mut SeparationScratch::default()).unwrap()
}

fn width(found: &Separation) -> f32 {
    found.upper_bound - found.lower_bound
}

/// Checks a separation that is known by a formula, at both tolerances and in both orders.
fn check(a: &Body, b: &Body, a_from_b: Pose, expected: f32) {
    for share in [1e-3, 1e-5] {
        let tolerance = share * a.diagonal.min(b.diagonal);
        for (a, b, pose) in [(a, b, a_from_b), (b, a, a_from_b.inverse())] {
            let found = ask(&a.shape, &b.shape, pose, tolerance);
            let context = format!("{} {} {pose:?} {found:?}", a.name, b.name);
            // Rounding of the pose and of its inverse.
            let slack = 1e-6 * a.diagonal.max(b.diagonal);
            assert!(
                found.lower_bound - slack <= expected && expected <= found.upper_bound + slack,
                "{expected} is not in it: {context}"
            );
            assert!(
                width(&found) <= tolerance,
                "{} wide: {context}",
                width(&found)
            );
            assert_eq!(found.outcome, SeparationOutcome::Converged, "{context}");
        }
    }
}

fn moved(x: f32, y: f32, z: f32) -> Pose {
    Pose::from_translation(Vec3::new(x, y, z))
}

#[test]
fn cubes_that_overlap_hold_the_ball_of_their_overlap() {
    let (a, b) = (Body::cube(), Body::cube());
    check(&a, &b, moved(0.3, 0.2, 0.1), -0.7);
    // The same body at the same pose, and faces in one plane.
    check(&a, &a, Pose::default(), -1.0);
    check(&a, &b, moved(0.25, 0.0, 0.0), -0.75);
    // A thin overlap, and none but a common face.
    check(&a, &b, moved(0.999, 0.3, 0.2), -0.001);
    check(&a, &b, moved(1.0, 0.0, 0.0), 0.0);
    // Turned about the axis, so that the caps limit the ball; moved, so that an edge does.
    let turned = Quat::from_rotation_z(std::f32::consts::FRAC_PI_4);
    let at = |x: f32| Pose {
        rotation: turned,
        translation: Vec3::new(x, 0.0, 0.0),
    };
    check(&a, &b, at(0.0), -1.0);
    // An edge enters by t through a face: a prism with a right angle, whose inner radius is
    // t (√2 − 1).
    let depth = 0.2;
    check(
        &a,
        &b,
        at(0.5 + 0.5 * SQRT_2 - depth),
        -2.0 * depth * (SQRT_2 - 1.0),
    );
}

#[test]
fn a_cube_inside_a_cube_of_any_size_is_as_deep_as_it_is_wide() {
    let large = Body::cube();
    for size in [0.5, 0.01] {
        let small = Body::of_size("small cube", meshes::cube(1), f64::sqrt(3.0) * size);
        let size = size as f32;
        let place = moved(0.1, -0.2, 0.05);
        let tolerance = 1e-3 * small.diagonal;
        let found = ask(&large.shape, &small.shape, place, tolerance);
        assert!((found.separation + size).abs() <= tolerance, "{found:?}");
        assert!(width(&found) <= tolerance, "{found:?}");
        // Half out of the large one.
        let found = ask(&large.shape, &small.shape, moved(0.5, 0.1, 0.1), tolerance);
        assert!(
            (found.separation + 0.5 * size).abs() <= tolerance,
            "{found:?}"
        );
        assert!(width(&found) <= tolerance, "{found:?}");
    }
}

#[test]
fn the_width_scales_with_the_bodies() {
    for scale in [1e-3, 1.0, 1e3] {
        let cube = |size: f64| Body::of_size("cube", meshes::cube(2), f64::sqrt(3.0) * size);
        let (a, b) = (cube(scale), cube(0.5 * scale));
        let scale = scale as f32;
        check(&a, &b, moved(0.65 * scale, 0.1 * scale, 0.0), -0.1 * scale);
    }
}

#[test]
fn a_cube_sinks_into_a_half_space_by_a_face_or_a_corner() {
    let cube = Body::cube();
    let ground = Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap());
    let sink = |rotation: Quat, height: f32, expected: f32| {
        for share in [1e-3, 1e-5] {
            let tolerance = share * cube.diagonal;
            let pose = Pose {
                rotation,
                translation: Vec3::new(0.2, -0.1, height),
            };
            let found = ask(&ground, &cube.shape, pose, tolerance);
            let slack = 1e-6;
            assert!(
                found.lower_bound - slack <= expected && expected <= found.upper_bound + slack,
                "{expected} {found:?}"
            );
            assert!(width(&found) <= tolerance, "{} {found:?}", width(&found));
        }
    };
    sink(Quat::IDENTITY, 0.3, -0.2);
    sink(Quat::IDENTITY, -2.0, -1.0);
    // A corner enters by t: the ball between three faces and the ground has the radius
    // t / (1 + √3).
    let down = Quat::from_rotation_arc(Vec3::ONE.normalize(), -Vec3::Z);
    let depth = 0.3;
    let root = 3.0f32.sqrt();
    sink(down, 0.5 * root - depth, -2.0 * depth / (1.0 + root));
}

/// Returns the least `max(φA, φB)` that a dense search finds: a grid over the overlap of both
/// boxes, then a pattern search from its lowest points.
fn dense_search(a: &Body, b: &Body, place: &Place) -> f64 {
    /// Points of the grid along each axis, and points refined.
    const POINTS: usize = 14;
    const REFINED: usize = 6;
    let value = |point: DVec3| {
        let of_a = a.truth.signed_distance(point);
        of_a.max(b.truth.signed_distance(place.to_b(point)))
    };
    let box_a = a.shape.solid().as_daabb();
    let corners = b.shape.solid().as_daabb().corners();
    let in_a = corners.map(|corner| place.rotation * corner + place.translation);
    let (mut low, mut high) = (box_a.min, box_a.max);
    low = low.max(in_a.into_iter().fold(DVec3::INFINITY, DVec3::min));
    high = high.min(in_a.into_iter().fold(DVec3::NEG_INFINITY, DVec3::max));
    let step = (high - low) / POINTS as f64;
    let mut points = Vec::new();
    for index in 0..POINTS.pow(3) {
        let cell = [
            index % POINTS,
            index / POINTS % POINTS,
            index / POINTS / POINTS,
        ];
        let point = low + step * (DVec3::from(cell.map(|i| i as f64)) + 0.5);
        points.push((value(point), point));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut random = Random::new(1);
    let mut least = f64::INFINITY;
    for &(mut best, mut point) in points.iter().take(REFINED) {
        let mut stride = step.length();
        while stride > 1e-5 {
            let tried = (0..12).map(|_| point + stride * random.unit_vector());
            let tried = tried.map(|point| (value(point), point));
            match tried.min_by(|a, b| a.0.total_cmp(&b.0)) {
                Some((lower, place)) if lower < best => (best, point) = (lower, place),
                _ => stride *= 0.6,
            }
        }
        least = least.min(best);
    }
    least
}

#[test]
fn no_point_of_a_dense_search_is_deeper_than_the_bracket() {
    let poses = if is_long() { 40 } else { 4 };
    let body = |name, mesh| Body::of_size(name, mesh, 1.0);
    let gear = || body("gear", meshes::model("gear"));
    let bowl = || body("bowl", meshes::model("bowl"));
    let pairs = [
        [
            body("ball", meshes::icosphere(1.0, 2)),
            body("ball", meshes::icosphere(1.0, 2)),
        ],
        [gear(), body("cube", meshes::cube(2))],
        [
            body("plus", meshes::plus()),
            body("random star", meshes::random_star(5)),
        ],
        [
            body("star", meshes::star(0.3)),
            body("knife", meshes::knife(0.05)),
        ],
        [
            body("fan", meshes::fan(40, 0.2)),
            body("spike", meshes::spike(3.0)),
        ],
        [
            body("spindle torus", meshes::spindle_torus()),
            body("plus", meshes::plus()),
        ],
        [body("ball", meshes::icosphere(1.0, 1)), bowl()],
    ];
    in_parallel(&pairs, |[a, b]| {
        let mut random = Random::new(29);
        for _ in 0..poses {
            let place = Place::between(0.0, 0.35, &mut random);
            let context = format!("{} {} {:?}", a.name, b.name, place.pose());
            let mut least = f64::INFINITY;
            // In a thin curved wall the depth is about equal everywhere, which takes too many boxes
            // to prove to the finer tolerance.
            let shares: &[f32] = match b.name {
                "bowl" => &[1e-3],
                _ => &[1e-3, 1e-5],
            };
            for share in shares {
                let tolerance = share * a.diagonal.min(b.diagonal);
                let found = ask(&a.shape, &b.shape, place.pose(), tolerance);
                if found.lower_bound > 0.0 {
                    continue;
                }
                if least == f64::INFINITY {
                    least = 2.0 * dense_search(a, b, &place);
                }
                assert!(
                    f64::from(found.lower_bound) <= least,
                    "a point is {least} deep: {found:?} {context}"
                );
                // The best point proves the upper bound; it is rounded to f32.
                let point = found.point.as_dvec3();
                let in_b = place.to_b(point);
                let there = a
                    .truth
                    .signed_distance(point)
                    .max(b.truth.signed_distance(in_b));
                assert!(
                    2.0 * there <= f64::from(found.upper_bound) + 1e-6,
                    "{there} at the point: {found:?} {context}"
                );
                assert!(
                    width(&found) <= tolerance,
                    "{} wide: {context}",
                    width(&found)
                );
                assert_eq!(found.outcome, SeparationOutcome::Converged, "{context}");
            }
        }
    });
}

#[test]
fn open_faces_leave_the_depth_to_the_fields() {
    let mesh = meshes::icosphere(1.0, 2);
    let open = TriangleMesh {
        faces: mesh.faces[10..].to_vec(),
        ..mesh
    };
    let settings = ShapeSettings {
        shell: ShellChoice::None,
        ..ShapeSettings::with_nodes(32)
    };
    let open = Shape::from_mesh(&open, &settings).unwrap();
    let cube = Body::cube();
    let pose = moved(0.2, 0.3, 0.4);
    let found = ask(&open, &cube.shape, pose, 1e-2);
    let by_fields = ask(&open.without_surface(), &cube.shape, pose, 1e-2);
    assert_eq!(found, by_fields);
}

#[test]
fn the_bunny_is_as_deep_in_itself_as_its_faces() {
    let Some(bunny) = meshes::bunny() else { return };
    let bunny = Body::of_size("bunny", bunny, 1.0);
    let mut random = Random::new(31);
    for _ in 0..2 {
        let place = Place::between(0.1, 0.3, &mut random);
        let found = ask(&bunny.shape, &bunny.shape, place.pose(), 1e-3);
        assert!(width(&found) <= 1e-3, "{found:?}");
        let point = found.point.as_dvec3();
        let truth = &bunny.truth;
        let there = (truth.signed_distance(point)).max(truth.signed_distance(place.to_b(point)));
        assert!(
            (2.0 * there - f64::from(found.separation)).abs() < 2e-6,
            "{there} {found:?}"
        );
        for _ in 0..100 {
            let near = point + 0.2 * random.uniform(0.0, 1.0) * random.unit_vector();
            let value = truth
                .signed_distance(near)
                .max(truth.signed_distance(place.to_b(near)));
            assert!(
                2.0 * value >= f64::from(found.lower_bound),
                "{value} {found:?}"
            );
        }
    }
}
