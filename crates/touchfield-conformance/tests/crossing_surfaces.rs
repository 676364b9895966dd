//! Surfaces that cross between the points of both shells, compared with every pair of triangles in
//! `f64`.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use glam::DVec3;
use touchfield::ShapeSettings;
use touchfield::bake::pointshell::{ShellDensity, ShellSettings};
use touchfield::bake::surface_of_mesh;
use touchfield::contact::Contact;
use touchfield::geom::Pose;
use touchfield::mesh::TriangleMesh;
use touchfield::narrow::{
    CollideSettings, ContactMethod, Contacts, Pair, Scratch, collide, touching,
};
use touchfield::open::ShellChoice;
use touchfield::shape::Shape;
use touchfield_conformance::contact_truth::Place;
use touchfield_conformance::mesh_truth::MeshTruth;
use touchfield_conformance::meshes;
use touchfield_conformance::random::Random;

/// A mesh with few points on it, so that much passes between them.
struct Body {
    mesh: TriangleMesh,
    truth: MeshTruth,
    by_shell: Shape,
    with_triangles: Shape,
}

impl Body {
    fn new(mesh: TriangleMesh, points: u32) -> Body {
        let bounds = mesh.bounds();
        let (center, scale) = (bounds.center(), 1.0 / bounds.diagonal());
        let mesh = TriangleMesh {
            vertices: (mesh.vertices.iter())
                // Representable in `f32`: truth and shape have the same triangles.
                .map(|&v| ((v - center) * scale).as_vec3().as_dvec3())
                .collect(),
            ..mesh
        };
        let settings = ShapeSettings {
            shell: ShellChoice::Exactly(ShellSettings {
                density: ShellDensity::Points(points),
                ..Default::default()
            }),
            faces: false,
            ..ShapeSettings::with_nodes(40)
        };
        let by_shell = Shape::from_mesh(&mesh, &settings).unwrap();
        let surface = Arc::new(surface_of_mesh(&mesh).unwrap());
        Body {
            truth: MeshTruth::of(&mesh),
            with_triangles: by_shell.clone().with_exact_surface(surface),
            by_shell,
            mesh,
        }
    }

    fn triangles(&self) -> impl Iterator<Item = [DVec3; 3]> {
        let corners = |face: &[u32; 3]| face.map(|vertex| self.mesh.vertices[vertex as usize]);
        self.mesh.faces.iter().map(corners)
    }
}

/// Returns how much two triangles cross \[m\]: an edge of one goes through the other, at least this
/// far from both of its ends and from the border. Negative if they do not cross. Computed from
/// distances to planes, whose signs are reliable unless they are near 0.
fn crossing(s: &[DVec3; 3], t: &[DVec3; 3]) -> f64 {
    let one_way = |edges: &[DVec3; 3], face: &[DVec3; 3]| {
        let normal = (face[1] - face[0]).cross(face[2] - face[0]).normalize();
        (0..3)
            .map(|edge| {
                let (from, to) = (edges[edge], edges[(edge + 1) % 3]);
                let (low, high) = (normal.dot(from - face[0]), normal.dot(to - face[0]));
                let place = from + low / (low - high) * (to - from);
                let inside = (0..3).map(|side| {
                    let along = face[(side + 1) % 3] - face[side];
                    normal.cross(along).normalize().dot(place - face[side])
                });
                // The ends are on different sides of the plane.
                let through = low.abs().min(high.abs()) * -(low * high).signum();
                inside.fold(through, f64::min)
            })
            .fold(f64::NEG_INFINITY, f64::max)
    };
    one_way(s, t).max(one_way(t, s))
}

/// Returns the largest crossing of any two triangles.
fn most_crossing(a: &Body, b: &Body, place: &Place) -> f64 {
    let placed: Vec<[DVec3; 3]> = b
        .triangles()
        .map(|triangle| triangle.map(|corner| place.rotation * corner + place.translation))
        .collect();
    let pairs = a
        .triangles()
        .flat_map(|s| placed.iter().map(move |t| crossing(&s, t)));
    pairs.fold(f64::NEG_INFINITY, f64::max)
}

struct Answer {
    contacts: Vec<Contact>,
    method: ContactMethod,
    touches: bool,
}

fn ask(a: &Shape, b: &Shape, a_from_b: Pose, scratch: &mut Scratch) -> Answer {
    let pair = Pair { a, b, a_from_b };
    let mut found = Contacts::default();
    collide(&pair, &CollideSettings::default(), scratch, &mut found).unwrap();
    Answer {
        touches: touching(&pair, 0.0, scratch).unwrap(),
        contacts: found.contacts,
        method: found.method,
    }
}

/// Crossings that `f32` may miss \[m\]: some roundings for bodies of size 1.
const ROUNDING: f64 = 1e-5;

#[test]
fn a_crossing_that_no_shell_point_sees_is_found_by_the_triangles() {
    let pairs = [
        [
            Body::new(meshes::star(0.3), 60),
            Body::new(meshes::star(0.3), 60),
        ],
        [
            Body::new(meshes::cube(2), 40),
            Body::new(meshes::spike(3.0), 40),
        ],
    ];
    let (mut by_triangles, mut missed_before, mut apart) = (0, 0, 0);
    for [a, b] in &pairs {
        let mut random = Random::new(71);
        let mut scratch = Scratch::default();
        for _ in 0..400 {
            let place = Place::between(0.4, 0.9, &mut random);
            let crossing = most_crossing(a, b, &place);
            if crossing.abs() < ROUNDING {
                continue;
            }
            let pose = place.pose();
            let found = ask(&a.with_triangles, &b.with_triangles, pose, &mut scratch);
            let before = ask(&a.by_shell, &b.by_shell, pose, &mut scratch);
            // Touching bodies cross, or were within the error of the fields.
            if crossing < 0.0 {
                assert_eq!(found.touches, before.touches);
                assert_eq!(found.contacts, before.contacts);
                apart += u32::from(!found.touches);
                continue;
            }
            assert!(found.touches && !found.contacts.is_empty(), "{place:?}");
            missed_before += u32::from(before.contacts.is_empty());
            assert_eq!(before.contacts.is_empty(), !before.touches);
            if found.method != ContactMethod::Separation {
                assert_eq!(found.contacts, before.contacts);
                continue;
            }
            by_triangles += 1;
            check_contact(a, b, &place, &found);
            check_exchanged(a, b, pose, found.contacts[0], &mut scratch);
        }
    }
    // There are crossings to find, and the shells alone do not find them.
    assert!(
        by_triangles >= 20 && missed_before == by_triangles,
        "{by_triangles} {missed_before}"
    );
    assert!(apart >= 100, "{apart}");
}

/// Checks for one contact, on both surfaces to within the errors of the fields and its own depth,
/// and no deeper than what passes between shell points. Along that depth the normal need not be
/// that of the lowest place.
fn check_contact(a: &Body, b: &Body, place: &Place, found: &Answer) {
    assert_eq!(found.contacts.len(), 1);
    let contact = found.contacts[0];
    let error = [a, b].map(|body| f64::from(body.by_shell.field().error_bound()));
    let error = error[0].max(error[1]);
    let on_a = a.truth.distance(contact.point_on_a().as_dvec3()).abs();
    let on_b = b
        .truth
        .distance(place.to_b(contact.point_on_b().as_dvec3()))
        .abs();
    let depth = -f64::from(contact.separation);
    let allowed = error + depth + ROUNDING;
    assert!(
        on_a.max(on_b) <= allowed && on_a.min(on_b) <= ROUNDING,
        "{on_a} {on_b} off, {allowed} allowed"
    );
    let covering = [a, b].map(|body| body.by_shell.shell().unwrap().covering_radius());
    let deepest = f64::from(covering[0].max(covering[1])) + error;
    assert!((0.0..=deepest).contains(&depth), "{depth} of {deepest}");
    assert!((contact.normal.length() - 1.0).abs() < 1e-5);
}

fn check_exchanged(a: &Body, b: &Body, pose: Pose, contact: Contact, scratch: &mut Scratch) {
    let other = ask(
        &b.with_triangles,
        &a.with_triangles,
        pose.inverse(),
        scratch,
    );
    assert_eq!(other.contacts.len(), 1);
    let exchanged = other.contacts[0];
    let normal = pose.transform_vector(-exchanged.normal);
    let point = pose.transform_point(exchanged.point);
    // A pose and its inverse differ by rounding, and so does the end of the search for the lowest
    // point of a face: by up to a thousandth of a cell in depth, and by more along the face where
    // the field is nearly level.
    let cell = a.by_shell.cell_size();
    let off = (exchanged.separation - contact.separation).abs();
    assert!(off < 2e-3 * cell, "{off} of {cell}");
    assert!(point.distance(contact.point) < 0.1 * cell);
    let turned = normal.distance(contact.normal);
    assert!(turned < 0.02, "{normal} {}", contact.normal);
}

#[test]
fn surfaces_apart_touch_as_far_away_as_they_are_asked_about() {
    // Two pyramids, tip to tip and 1 mm apart along z, with their few points elsewhere.
    let body = Body::new(meshes::spike(3.0), 40);
    let tip = body.mesh.vertices.iter().fold(
        DVec3::splat(-1.0),
        |tip, &v| {
            if v.z > tip.z { v } else { tip }
        },
    );
    let gap = 1e-3f32;
    let pose = Pose {
        rotation: glam::Quat::from_rotation_x(std::f32::consts::PI),
        translation: glam::Vec3::ZERO,
    };
    let turned = pose.transform_point(tip.as_vec3());
    let pose = Pose {
        translation: tip.as_vec3() - turned + gap * glam::Vec3::Z,
        ..pose
    };
    let pair = Pair {
        a: &body.with_triangles,
        b: &body.with_triangles,
        a_from_b: pose,
    };
    let mut scratch = Scratch::default();
    for (reach, expected) in [(0.0, false), (0.9 * gap, false), (1.1 * gap, true)] {
        assert_eq!(
            touching(&pair, reach, &mut scratch).unwrap(),
            expected,
            "{reach}"
        );
        let settings = CollideSettings {
            max_separation: reach,
            ..Default::default()
        };
        let mut found = Contacts::default();
        collide(&pair, &settings, &mut scratch, &mut found).unwrap();
        assert_eq!(!found.contacts.is_empty(), expected);
        for contact in found.contacts {
            assert!((contact.separation - gap).abs() < 1e-5, "{contact:?}");
            assert!(contact.normal.distance(glam::Vec3::Z) < 1e-2, "{contact:?}");
        }
    }
}
