//! Contact of baked meshes in random poses, compared with exact distances to their triangles in
//! `f64`.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use glam::Vec3;
use touchfield::ShapeSettings;
use touchfield::bake::pointshell::{ShellSettings, shell_of_points};
use touchfield::bake::{ExactDistance, SignChoice, surface_of_mesh};
use touchfield::contact::Contact;
use touchfield::field::primitive::{HalfSpace, Sphere};
use touchfield::geom::{DAabb, Pose};
use touchfield::mesh::TriangleMesh;
use touchfield::narrow::{
    CollideSettings, ContactMethod, Contacts, Pair, Scratch, SeparationScratch, SeparationSettings,
    collide, separation, sharpen, touching,
};
use touchfield::shape::Shape;
use touchfield_conformance::contact_truth::{Place, least};
use touchfield_conformance::mesh_truth::in_parallel;
use touchfield_conformance::meshes::{self, is_long};
use touchfield_conformance::random::Random;

/// A mesh, its shape, and the exact distance to it.
struct Body {
    name: &'static str,
    shape: Shape,
    /// The shape with its triangles.
    with_surface: Shape,
    exact: ExactDistance,
    bounds: DAabb,
    cell: f32,
}

impl Body {
    fn new(name: &'static str, mesh: TriangleMesh, nodes: u32) -> Body {
        // Centred at the origin and of size 1, so that all pairs are alike.
        let bounds = DAabb::of_points(mesh.vertices.iter().copied());
        let scale = 1.0 / bounds.diagonal();
        let moved = mesh.vertices.iter().map(|&v| (v - bounds.center()) * scale);
        let mesh = TriangleMesh {
            vertices: moved.collect(),
            faces: mesh.faces,
        };
        let settings = ShapeSettings {
            faces: false,
            ..ShapeSettings::with_nodes(nodes)
        };
        let shape = Shape::from_mesh(&mesh, &settings).unwrap();
        let cell = shape.cell_size();
        let surface = surface_of_mesh(&mesh).unwrap();
        Body {
            name,
            with_surface: shape.clone().with_exact_surface(Arc::new(surface)),
            shape,
            exact: ExactDistance::new(&mesh, SignChoice::Auto).unwrap(),
            bounds: DAabb::of_points(mesh.vertices.iter().copied()),
            cell,
        }
    }
}

fn pairs() -> Vec<[Body; 2]> {
    let nodes = 64;
    let model = |name: &'static str| Body::new(name, meshes::model(name), nodes);
    let bunny = || match meshes::bunny() {
        Some(mesh) => Body::new("bunny", mesh, nodes),
        // Without the real model, a knot, also concave.
        None => model("torus_knot"),
    };
    vec![
        [bunny(), bunny()],
        [model("bowl"), model("icosphere")],
        [model("nut_m8"), model("bolt_m8")],
        [model("torus"), model("torus_knot")],
        [model("gear"), model("gear")],
        [model("mug"), model("winding_pipe")],
    ]
}

#[test]
fn separation_and_contacts_of_meshes_agree_with_exact_distances() {
    let poses = if is_long() { 200 } else { 15 };
    in_parallel(&pairs(), |[a, b]| {
        let mut random = Random::new(17);
        let mut scratch = Scratches::default();
        let (mut touched, mut far) = (0, 0);
        for _ in 0..poses {
            let place = Place::between(0.0, 1.0, &mut random);
            let truth = truth(a, b, &place);
            let found = check_pose(a, b, &place, truth, &mut scratch);
            touched += u32::from(!scratch.contacts.contacts.is_empty());
            far += u32::from(found == Some(false));
        }
        // Both kinds of poses occurred; the walls of a bowl are too thin to be deep in.
        assert!(
            touched * 10 > poses && far * 10 > poses,
            "{touched} touch, {far} far"
        );
    });
}

/// At any depth, the other witness point of a sharpened contact lies on the other surface, and the
/// shell point stays in place.
#[test]
fn sharpened_contacts_have_both_witness_points_on_the_surfaces() {
    let poses = if is_long() { 200 } else { 10 };
    in_parallel(&pairs(), |[a, b]| {
        let mut random = Random::new(23);
        let (mut scratch, mut found) = (Scratch::default(), Contacts::default());
        let settings = CollideSettings {
            method: ContactMethod::ShellTraversal,
            ..Default::default()
        };
        let (mut checked, mut led_astray, mut led_astray_before) = (0u32, 0u32, 0u32);
        for _ in 0..poses {
            let place = Place::between(0.0, 0.4, &mut random);
            let pair = |a, b| Pair {
                a,
                b,
                a_from_b: place.pose(),
            };
            let (plain, exact) = (
                pair(&a.shape, &b.shape),
                pair(&a.with_surface, &b.with_surface),
            );
            collide(&exact, &settings, &mut scratch, &mut found).unwrap();
            let cell = f64::from(a.cell.max(b.cell));
            // Distance of the witness points of a contact from the surfaces.
            let off = |contact: Contact| {
                let on_a = a.exact.distance(contact.point_on_a().as_dvec3());
                let on_b = b
                    .exact
                    .distance(place.to_b(contact.point_on_b().as_dvec3()));
                on_a.abs().max(on_b.abs())
            };
            for &contact in found.contacts.iter().step_by(3) {
                let sharp = sharpen(&exact, contact);
                let bounds = [a, b].map(|body| body.shape.field().error_bound());
                let bound = bounds[0].max(bounds[1]);
                // A contact that is nearly on the surface according to the field is left as it is.
                let left = if sharp == contact {
                    1.3 * f64::from(bound)
                } else {
                    0.0
                };
                let names = [a.name, b.name];
                assert!(
                    off(sharp) <= left + 2e-6,
                    "{names:?}: {contact:?} became {sharp:?}"
                );
                assert!((sharp.separation - contact.separation).abs() <= 1.01 * bound);
                assert!(sharp.normal.is_normalized() && sharp.id == contact.id);
                checked += 1;
                led_astray += u32::from(off(sharpen(&plain, contact)) > cell);
                led_astray_before += u32::from(off(contact) > cell);
            }
        }
        // Without triangles the field nearly always leads to the surface, and more often than its
        // gradient.
        assert!(checked > 0, "no contacts");
        assert!(
            led_astray <= led_astray_before && led_astray * 50 <= checked + 50,
            "{} and {}: {led_astray} ({led_astray_before}) of {checked}",
            a.name,
            b.name
        );
    });
}

#[derive(Default)]
struct Scratches {
    collide: Scratch,
    separation: SeparationScratch,
    contacts: Contacts,
}

/// Tolerance of the true separation \[m\].
const TOLERANCE: f64 = 0.004;

/// Returns the true separation, or up to [`TOLERANCE`] more.
fn truth(a: &Body, b: &Body, place: &Place) -> f64 {
    // The minimiser is in the convex hull of both bodies, and in both if they overlap.
    let corners = b
        .bounds
        .corners()
        .map(|corner| place.rotation * corner + place.translation);
    let hull = DAabb::of_points(corners).union(a.bounds);
    let value = |x| {
        let of_a = a.exact.distance(x);
        of_a.max(b.exact.distance(place.to_b(x)))
    };
    2.0 * least(value, hull.center(), hull.half_extents(), 0.5 * TOLERANCE)
}

/// Checks what is certain of a pose: deeper than two cells, or farther than two cells and the
/// bound.
fn check_pose(
    a: &Body,
    b: &Body,
    place: &Place,
    truth: f64,
    scratch: &mut Scratches,
) -> Option<bool> {
    let pair = Pair {
        a: &a.shape,
        b: &b.shape,
        a_from_b: place.pose(),
    };
    let context = format!("{} {} {:?} truth {truth}", a.name, b.name, place.pose());
    let settings = SeparationSettings::to_within(2e-3);
    let found = separation(&pair, &settings, &mut scratch.separation).unwrap();
    assert!(f64::from(found.lower_bound) <= truth, "{found:?} {context}");
    assert!(
        f64::from(found.upper_bound) >= truth - TOLERANCE,
        "{found:?} {context}"
    );

    collide(
        &pair,
        &CollideSettings::default(),
        &mut scratch.collide,
        &mut scratch.contacts,
    )
    .unwrap();
    let contacts = &scratch.contacts.contacts;
    let touches = touching(&pair, 0.0, &mut scratch.collide).unwrap();
    assert_eq!(
        touches,
        !contacts.is_empty(),
        "touching says otherwise: {context}"
    );
    let cell = f64::from(a.shape.cell_size().max(b.shape.cell_size()));
    let bound = f64::from(
        a.shape
            .field()
            .error_bound()
            .max(b.shape.field().error_bound()),
    );
    for contact in contacts {
        // The shell point is exactly on its surface; the separation is off by the error of the
        // field at most.
        let from_a = contact.id.0 >> 31 == 1;
        let (point, exact) = if from_a {
            let point = contact.point_on_a().as_dvec3();
            (point, b.exact.distance(place.to_b(point)))
        } else {
            let point = contact.point_on_b().as_dvec3();
            (point, a.exact.distance(point))
        };
        let off = (exact - f64::from(contact.separation)).abs();
        assert!(off <= bound + 1e-5, "off by {off} at {point}: {context}");
        assert!((contact.normal.length() - 1.0).abs() < 1e-4);
    }
    if truth < -2.0 * cell {
        assert!(!contacts.is_empty(), "missed: {context}");
        return Some(true);
    }
    if truth - TOLERANCE > 2.0 * cell + bound {
        assert!(contacts.is_empty(), "made up: {context}");
        return Some(false);
    }
    None
}

#[test]
fn traversal_finds_what_testing_every_point_finds() {
    let mut random = Random::new(3);
    for [a, b] in &pairs()[1..4] {
        let mut scratch = Scratches::default();
        for _ in 0..20 {
            let place = Place::between(0.0, 0.6, &mut random);
            let pair = Pair {
                a: &a.shape,
                b: &b.shape,
                a_from_b: place.pose(),
            };
            let mut by = |method, max_separation| {
                let settings = CollideSettings {
                    method,
                    max_separation,
                    ..Default::default()
                };
                collide(
                    &pair,
                    &settings,
                    &mut scratch.collide,
                    &mut scratch.contacts,
                )
                .unwrap();
                scratch.contacts.contacts.clone()
            };
            for reach in [0.0, 0.02] {
                let (all, walked) = (
                    by(ContactMethod::PointSamples, reach),
                    by(ContactMethod::ShellTraversal, reach),
                );
                assert_eq!(all.len(), walked.len(), "{} {}", a.name, b.name);
                for (one, other) in all.iter().zip(&walked) {
                    assert_eq!(one.id, other.id);
                    assert!((one.separation - other.separation).abs() < 1e-6);
                }
            }
        }
    }
}

#[test]
fn less_detail_keeps_the_deepest_and_makes_nothing_up() {
    let mut random = Random::new(5);
    let (mut all_count, mut few_count) = (0, 0);
    for [a, b] in &pairs()[2..4] {
        let mut scratch = Scratches::default();
        for _ in 0..20 {
            let place = Place::between(0.0, 0.3, &mut random);
            let pair = Pair {
                a: &a.shape,
                b: &b.shape,
                a_from_b: place.pose(),
            };
            let mut by = |detail| {
                let settings = CollideSettings {
                    detail,
                    ..Default::default()
                };
                let Scratches {
                    collide: scratch,
                    contacts,
                    ..
                } = &mut scratch;
                collide(&pair, &settings, scratch, contacts).unwrap();
                contacts.contacts.clone()
            };
            let detail = 0.1;
            let (all, few) = (by(0.0), by(detail));
            assert_eq!(all.is_empty(), few.is_empty());
            if let (Some(deepest), Some(found)) = (all.first(), few.first()) {
                // Within the promised limit: an eighth of the detail, and the error of the field,
                // by which the bound of a sphere may be off.
                let off = found.separation - deepest.separation;
                let promised = detail / 8.0 + a.shape.field().error_bound();
                assert!((0.0..=promised).contains(&off), "{off}");
            }
            let ids: Vec<_> = all.iter().map(|contact| contact.id).collect();
            assert!(few.iter().all(|contact| ids.contains(&contact.id)));
            all_count += all.len();
            few_count += few.len();
        }
    }
    assert!(few_count * 4 < all_count * 3, "{few_count} of {all_count}");
}

/// Returns a ball on the floor, with points on a spiral.
fn ball_of(count: usize, radius: f32) -> Shape {
    let golden = std::f32::consts::PI * (3.0 - 5f32.sqrt());
    let normals: Vec<Vec3> = (0..count)
        .map(|i| {
            let z = 1.0 - (2.0 * i as f32 + 1.0) / count as f32;
            let angle = golden * i as f32;
            let ring = (1.0 - z * z).sqrt();
            Vec3::new(ring * angle.cos(), ring * angle.sin(), z)
        })
        .collect();
    let points: Vec<Vec3> = normals.iter().map(|&normal| radius * normal).collect();
    // Points on a spiral are about as far apart as those of a square grid.
    let spacing = radius * (4.0 * std::f32::consts::PI / count as f32).sqrt();
    let shell = shell_of_points(&points, &normals, spacing, &ShellSettings::default()).unwrap();
    Shape::new(Sphere::new(radius).unwrap()).with_shell(Arc::new(shell))
}

#[test]
fn a_shell_finer_than_the_detail_is_told_by_a_contact_for_each_ball_of_its_patch() {
    let (radius, depth) = (0.5f32, 0.01f32);
    let ball = ball_of(60_000, radius);
    let floor = Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap());
    let (mut scratch, mut contacts) = (Scratch::default(), Contacts::default());
    let mut random = Random::new(6);
    for _ in 0..20 {
        let pair = Pair {
            a: &floor,
            b: &ball,
            a_from_b: Pose {
                rotation: random.quaternion().as_quat().normalize(),
                translation: Vec3::new(0.3, -0.2, radius - depth),
            },
        };
        let mut by = |method, detail| {
            let settings = CollideSettings {
                method,
                detail,
                ..Default::default()
            };
            collide(&pair, &settings, &mut scratch, &mut contacts).unwrap();
            contacts.contacts.clone()
        };
        let all = by(ContactMethod::ShellTraversal, 0.0);
        // The patch is 0.1 m in radius and holds a hundredth of the points.
        assert!(all.len() > 500, "{}", all.len());
        let ids: Vec<_> = all.iter().map(|contact| contact.id).collect();
        let middle = pair.a_from_b.translation.with_z(0.0);
        let reach = |contacts: &[Contact]| {
            let radii = contacts
                .iter()
                .map(|c| c.point.with_z(0.0).distance(middle));
            radii.fold(0.0, f32::max)
        };
        // Points are 7 mm apart. With both shells, an eighth of the smallest detail holds a few of
        // them, an eighth of the largest about a hundred.
        let cases = [
            (ContactMethod::BothShells, 0.1, 0.9),
            (ContactMethod::BothShells, 0.3, 0.15),
            (ContactMethod::BothShells, 0.6, 0.05),
            (ContactMethod::ShellTraversal, 0.02, 0.5),
            (ContactMethod::ShellTraversal, 0.05, 0.1),
            (ContactMethod::ShellTraversal, 0.1, 0.05),
        ];
        for (method, detail, most) in cases {
            let few = by(method, detail);
            let (border, deeper) = match method {
                ContactMethod::BothShells => (detail / 8.0, 0.0),
                _ => (detail, detail / 8.0),
            };
            let off = few[0].separation - all[0].separation;
            assert!((0.0..=deeper).contains(&off), "{off} at {detail}");
            assert!(
                few.len() as f32 <= most * all.len() as f32,
                "{} of {} at {detail}",
                few.len(),
                all.len()
            );
            assert!(few.iter().all(|contact| ids.contains(&contact.id)));
            // A merged contact is within its merge radius of all contacts it replaces.
            for contact in &all {
                let near = (few.iter()).map(|kept| kept.point.distance(contact.point));
                assert!(near.fold(f32::INFINITY, f32::min) <= 2.0 * detail);
            }
            // The border is known to within the merge radius.
            let lost = reach(&all) - reach(&few);
            assert!(lost <= 2.0 * border + 0.02, "{lost} at {detail}");
        }
    }
}

#[test]
fn with_a_detail_a_touch_of_a_single_point_is_told() {
    let radius = 0.5f32;
    let ball = ball_of(20_000, radius);
    let floor = Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap());
    let points = ball.shell().unwrap().points();
    let (mut scratch, mut contacts) = (Scratch::default(), Contacts::default());
    let mut random = Random::new(7);
    for _ in 0..200 {
        let rotation = random.quaternion().as_quat().normalize();
        let mut heights: Vec<f32> = points.iter().map(|&p| (rotation * p).z).collect();
        heights.sort_by(f32::total_cmp);
        // Between the lowest point and the next, or just above the lowest.
        for (height, expected) in [
            (0.5 * (heights[0] + heights[1]), true),
            (heights[0] - 1e-5, false),
        ] {
            let pair = Pair {
                a: &floor,
                b: &ball,
                a_from_b: Pose {
                    rotation,
                    translation: -height * Vec3::Z,
                },
            };
            for (method, detail) in [
                (ContactMethod::ShellTraversal, 0.03),
                (ContactMethod::ShellTraversal, 0.3),
                (ContactMethod::BothShells, 0.3),
            ] {
                let settings = CollideSettings {
                    method,
                    detail,
                    ..Default::default()
                };
                collide(&pair, &settings, &mut scratch, &mut contacts).unwrap();
                assert_eq!(!contacts.contacts.is_empty(), expected, "{detail}");
            }
        }
    }
}

#[test]
fn a_and_b_may_change_places() {
    let mut random = Random::new(4);
    for [a, b] in &pairs()[..4] {
        let mut scratch = Scratches::default();
        for _ in 0..20 {
            let place = Place::between(0.1, 0.5, &mut random);
            let mut ask = |a: &Shape, b: &Shape, a_from_b: Pose| {
                let settings = CollideSettings::default();
                let pair = Pair { a, b, a_from_b };
                collide(
                    &pair,
                    &settings,
                    &mut scratch.collide,
                    &mut scratch.contacts,
                )
                .unwrap();
                scratch.contacts.contacts.clone()
            };
            let there = ask(&a.shape, &b.shape, place.pose());
            let back = ask(&b.shape, &a.shape, place.pose().inverse());
            // Rounding may put points at the very border on either side of it.
            assert!(there.len().abs_diff(back.len()) * 100 <= there.len() + 100);
            let mut turned = 0;
            for contact in &there {
                let same = |other: &&Contact| {
                    let point = place.pose().transform_point(shell_point(other));
                    point.distance(shell_point(contact)) < 1e-5
                        && (other.separation - contact.separation).abs() < 1e-5
                };
                let near_border = contact.separation.abs() < 1e-5;
                match back.iter().find(same) {
                    Some(other) => {
                        let normal = place.pose().transform_vector(other.normal);
                        turned += usize::from(normal.distance(-contact.normal) > 0.02);
                    }
                    None => assert!(near_border, "{contact:?}"),
                }
            }
            // Where two sides are equally near, rounding decides which of them gives the normal.
            assert!(
                turned * 50 <= there.len() + 50,
                "{turned} of {}",
                there.len()
            );
        }
    }
}

/// Returns the point of the shell that made a contact.
fn shell_point(contact: &Contact) -> Vec3 {
    if contact.id.0 >> 31 == 1 {
        contact.point_on_a()
    } else {
        contact.point_on_b()
    }
}

#[test]
fn bodies_inside_bodies_touch_with_and_without_shells() {
    let block = Body::new("cube", meshes::cube(4), 48);
    let ball = Body::new("icosphere", meshes::icosphere(1.0, 3), 48);
    // The block has diagonal 1, so its half side is 0.29; the ball is much smaller.
    let small = touchfield::field::primitive::Sphere::new(0.05).unwrap();
    let small = Shape::new(small);
    let mut scratch = Scratches::default();
    let mut random = Random::new(8);
    for _ in 0..20 {
        let place = Place::between(0.0, 0.15, &mut random);
        for (a, b) in [
            (&block.shape, &small),
            (&small, &block.shape),
            (&ball.shape, &small),
        ] {
            let pair = Pair {
                a,
                b,
                a_from_b: place.pose(),
            };
            // At any offset within 0.15, the small ball is completely inside the other body.
            collide(
                &pair,
                &CollideSettings::default(),
                &mut scratch.collide,
                &mut scratch.contacts,
            )
            .unwrap();
            let [contact] = scratch.contacts.contacts[..] else {
                panic!("{} contacts", scratch.contacts.contacts.len());
            };
            assert!((contact.separation + 0.1).abs() < 0.02, "{contact:?}");
            assert!(touching(&pair, 0.0, &mut scratch.collide).unwrap());
        }
    }
}
