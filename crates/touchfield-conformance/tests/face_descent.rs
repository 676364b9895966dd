//! Face descent compared with closed forms and a search over the triangles in `f64`, in random
//! poses.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::sync::Arc;

use glam::{DVec3, Vec3};
use touchfield::bake::surface_of_mesh;
use touchfield::field::primitive::Sphere;
use touchfield::geom::Pose;
use touchfield::mesh::{TriangleMesh, generate};
use touchfield::narrow::{
    CollideError, CollideSettings, ContactMethod, Contacts, FaceDescent, Features, Pair, Scratch,
    collide,
};
use touchfield::shape::{Shape, Surface};
use touchfield_conformance::contact_truth::{Place, SOLIDS, Solid, ball_contact};
use touchfield_conformance::random::Random;

const HALF: DVec3 = DVec3::new(0.5, 0.375, 0.25);
const BOX: Solid = Solid::Box { half: HALF };

/// Returns a box of twelve triangles.
fn box_mesh() -> TriangleMesh {
    let corner = |i: u32| {
        let sign = |bit: u32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
        HALF * DVec3::new(sign(0), sign(1), sign(2))
    };
    let sides = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    TriangleMesh {
        vertices: (0..8).map(corner).collect(),
        faces: (sides.into_iter())
            .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect(),
    }
}

fn box_shape() -> Shape {
    let mesh = box_mesh();
    assert!(mesh.signed_volume() > 0.0);
    BOX.shape()
        .with_surface(Arc::new(surface_of_mesh(&mesh).unwrap()))
}

fn settings(features: Features, max_separation: f32) -> CollideSettings {
    CollideSettings {
        method: ContactMethod::FaceDescent(FaceDescent {
            features,
            ..Default::default()
        }),
        max_separation,
        ..Default::default()
    }
}

fn found(a: &Shape, b: &Shape, a_from_b: Pose, settings: &CollideSettings) -> Contacts {
    let mut out = Contacts::default();
    let pair = Pair { a, b, a_from_b };
    collide(&pair, settings, &mut Scratch::default(), &mut out).unwrap();
    out
}

/// Ten thousand poses: a ball outside a box of twelve triangles touches a face, an edge or a
/// corner.
#[test]
fn a_ball_meets_the_faces_of_a_box_as_the_textbook_says() {
    let radius = 0.25;
    let ball = Solid::Ball { radius };
    let (a, b) = (ball.shape(), box_shape());
    let settings = settings(Features::Faces, 0.1);
    let mut random = Random::new(41);
    let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
    let mut worst = [0.0f64; 3];
    let mut compared = 0;
    for _ in 0..10_000 {
        let place = Place::random(ball, BOX, &mut random);
        // With the centre inside, the nearest face is the deepest only in the textbook: all points
        // of the box are outside the ball's centre.
        if BOX.distance(place.to_b(DVec3::ZERO)) < 1e-3 {
            continue;
        }
        let Some(truth) = ball_contact(radius, BOX, place) else {
            continue;
        };
        let pair = Pair {
            a: &a,
            b: &b,
            a_from_b: place.pose(),
        };
        collide(&pair, &settings, &mut scratch, &mut out).unwrap();
        if truth.separation > 0.1001 {
            assert!(out.contacts.is_empty());
            continue;
        }
        if truth.separation > 0.0999 {
            continue;
        }
        let contact = out
            .contacts
            .first()
            .unwrap_or_else(|| panic!("{place:?} lost {truth:?}"));
        compared += 1;
        let errors = [
            (f64::from(contact.separation) - truth.separation).abs(),
            contact.normal.as_dvec3().angle_between(truth.normal),
            contact.point.as_dvec3().distance(truth.point),
        ];
        for (worst, error) in worst.iter_mut().zip(errors) {
            *worst = worst.max(error);
        }
    }
    println!("{compared} compared; separation, normal, point off by {worst:.6?}");
    assert!(compared > 3000, "{compared}");
    // The residual of the search, and the position error it leaves where the ball is flat against
    // the face.
    assert!(
        worst[0] < 5e-5 && worst[1] < 0.02 && worst[2] < 0.002,
        "{worst:?}"
    );
}

/// Returns the minimum of a distance over all triangles: a lattice on each, then finer ones around
/// its best node.
fn least_over_faces(mesh: &TriangleMesh, distance: impl Fn(DVec3) -> f64) -> f64 {
    let mut least = f64::INFINITY;
    for triangle in mesh.triangles() {
        let at = |u: f64, v: f64| {
            triangle.a + u * (triangle.b - triangle.a) + v * (triangle.c - triangle.a)
        };
        let (mut center, mut size) = ([1.0 / 3.0, 1.0 / 3.0], 1.0);
        for _ in 0..12 {
            let mut best = (f64::INFINITY, center);
            for i in -12..=12 {
                for j in -12..=12 {
                    let u = (center[0] + size * f64::from(i) / 12.0).clamp(0.0, 1.0);
                    let v = (center[1] + size * f64::from(j) / 12.0).clamp(0.0, 1.0 - u);
                    let value = distance(at(u, v));
                    if value < best.0 {
                        best = (value, [u, v]);
                    }
                }
            }
            least = least.min(best.0);
            center = best.1;
            size *= 0.4;
        }
    }
    least
}

#[test]
fn the_deepest_face_of_a_box_in_any_solid_is_that_of_a_search_in_f64() {
    let mesh = box_mesh();
    let shape = box_shape();
    for solid in SOLIDS {
        let other = solid.shape();
        let mut random = Random::new(51);
        let (mut worst, mut compared, mut off) = (0.0f64, 0, 0);
        for _ in 0..80 {
            let place = Place::random(BOX, solid, &mut random);
            let truth = least_over_faces(&mesh, |point| solid.distance(place.to_b(point)));
            // The faces are those of the box, whichever body is smaller.
            let out = found(
                &shape,
                &other,
                place.pose(),
                &settings(Features::Faces, 0.05),
            );
            if truth > 0.0501 {
                assert!(out.contacts.is_empty(), "{solid:?}");
            } else if truth < 0.0499 {
                compared += 1;
                let error = f64::from(out.contacts[0].separation) - truth;
                assert!(error > -1e-4, "{solid:?}: deeper than the truth by {error}");
                worst = worst.max(error);
                off += u32::from(error > 1e-3);
            }
        }
        println!("{solid:?}: off by {worst:.5}, {off} of {compared} by more than a millimetre");
        assert!(compared > 10, "{solid:?}: {compared}");
        match solid {
            // Not convex: a face may cover two minima, and a descent ends in one.
            Solid::Ring { .. } => assert!(4 * off < compared, "{solid:?}"),
            _ => assert!(worst < 2e-4, "{solid:?}: {worst}"),
        }
    }
}

/// Why edges and faces are needed: corners alone miss these contacts.
#[test]
fn a_ball_on_the_middle_of_a_face_or_an_edge_is_found() {
    let ball = Shape::new(Sphere::new(0.1).unwrap());
    let shape = box_shape();
    let on_face = Pose::from_translation(Vec3::new(0.1, 0.05, 0.34));
    let out = found(&shape, &ball, on_face, &settings(Features::Faces, 0.0));
    let contact = out.contacts[0];
    // The other half of the side is deepest where it meets this one.
    assert!(
        out.contacts[1..]
            .iter()
            .all(|other| other.separation > contact.separation)
    );
    assert!(out.contacts.len() <= 2);
    assert!((contact.separation + 0.01).abs() < 1e-5, "{contact:?}");
    assert!(
        (contact.normal - Vec3::Z).length() < 1e-3
            && (contact.point - Vec3::new(0.1, 0.05, 0.245)).length() < 1e-3
    );
    // On an edge: edges find it, and faces find it once although two meet there.
    let on_edge = Pose::from_translation(Vec3::new(0.57, 0.1, 0.31));
    for features in [Features::Edges, Features::Faces] {
        let out = found(&shape, &ball, on_edge, &settings(features, 0.0));
        assert_eq!(out.contacts.len(), 1, "{features:?}: {out:?}");
        let truth = 0.07f32.hypot(0.06) - 0.1;
        assert!((out.contacts[0].separation - truth).abs() < 1e-5, "{out:?}");
    }
    // A corner belongs to many faces, and is one contact.
    let on_corner = Pose::from_translation(Vec3::new(0.55, 0.425, 0.3));
    for features in [Features::Edges, Features::Faces] {
        let out = found(&shape, &ball, on_corner, &settings(features, 0.0));
        assert_eq!(out.contacts.len(), 1, "{features:?}: {out:?}");
    }
}

#[test]
fn every_contact_has_an_id_of_its_own_and_exchanging_bodies_turns_the_normal() {
    let knot = generate::torus_knot(generate::TorusKnot {
        radius: 0.5,
        winding_radius: 0.22,
        tube_radius: 0.1,
        segments: 78,
        sides: 10,
        ..Default::default()
    })
    .unwrap();
    let knot_surface = Arc::new(surface_of_mesh(&knot).unwrap());
    let capsule = Solid::Capsule {
        half_length: 0.375,
        radius: 0.25,
    };
    let a = capsule.shape();
    // Only its triangles count, so the field may be any.
    let b = Shape::new(Sphere::new(1.0).unwrap()).with_surface(knot_surface);
    let mut random = Random::new(61);
    let mut compared = 0;
    for features in [Features::Edges, Features::Faces] {
        for _ in 0..40 {
            let mut pose = Place::random(capsule, BOX, &mut random).pose();
            for _ in 0..20 {
                pose = pose.inverse().inverse();
            }
            if pose != pose.inverse().inverse() {
                continue;
            }
            let mut one = found(&a, &b, pose, &settings(features, 0.0)).contacts;
            let mut other = found(&b, &a, pose.inverse(), &settings(features, 0.0)).contacts;
            one.sort_by_key(|contact| contact.id);
            other.sort_by_key(|contact| contact.id);
            assert_eq!(one.len(), other.len());
            assert!(one.windows(2).all(|pair| pair[0].id != pair[1].id));
            for (one, other) in one.iter().zip(&other) {
                compared += 1;
                assert_eq!((one.id, one.separation), (other.id, other.separation));
                assert!((one.normal + pose.transform_vector(other.normal)).length() < 1e-5);
                assert!((one.point - pose.transform_point(other.point)).length() < 1e-5);
                // Each contact is on a face, as deep as reported.
                let end = one.point_on_b().as_dvec3();
                assert!((capsule.distance(end) - f64::from(one.separation)).abs() < 1e-4);
            }
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn without_triangles_it_says_so_and_flat_ones_do_no_harm() {
    let ball = Shape::new(Sphere::new(0.5).unwrap());
    let pair = Pair {
        a: &ball,
        b: &ball,
        a_from_b: Pose::IDENTITY,
    };
    let error = collide(
        &pair,
        &settings(Features::Faces, 0.0),
        &mut Scratch::default(),
        &mut Contacts::default(),
    )
    .unwrap_err();
    assert!(matches!(error, CollideError::NoSurface { .. }));
    assert!(error.to_string().contains("surface_of_mesh"), "{error}");
    // A point, a needle, and a triangle through the centre of the ball, where the gradient is
    // arbitrary.
    let points = vec![
        Vec3::ZERO,
        Vec3::X,
        Vec3::new(-1.0, 1.0, 0.0),
        Vec3::new(-1.0, -1.0, 0.0),
    ];
    let flat = Surface::new(points, &[[0, 0, 0], [0, 1, 0], [1, 2, 3]]).unwrap();
    let other = ball.clone().with_surface(Arc::new(flat));
    for features in [Features::Edges, Features::Faces] {
        let out = found(&ball, &other, Pose::IDENTITY, &settings(features, 0.0));
        assert!(!out.contacts.is_empty());
        for contact in out.contacts {
            assert!(contact.point.is_finite() && (contact.normal.length() - 1.0).abs() < 1e-5);
            assert!(
                contact.separation >= -0.5 && contact.separation <= 0.0,
                "{contact:?}"
            );
        }
    }
}
