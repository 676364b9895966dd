//! Separation of bodies with exact surfaces, compared with every pair of triangles in `f64`.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use glam::{DVec3, Vec3};
use touchfield::ShapeSettings;
use touchfield::mesh::TriangleMesh;
use touchfield::narrow::{
    Pair, Separation, SeparationOutcome, SeparationScratch, SeparationSettings, separation,
};
use touchfield::open::ShellChoice;
use touchfield::shape::Shape;
use touchfield_conformance::contact_truth::Place;
use touchfield_conformance::mesh_truth::{
    MeshTruth, edge_distance_squared, in_parallel, triangle_distance_squared,
};
use touchfield_conformance::meshes::{self, is_long};
use touchfield_conformance::random::Random;

/// A mesh of size 1 about the origin, and its shape.
struct Body {
    name: &'static str,
    mesh: TriangleMesh,
    shape: Shape,
}

impl Body {
    fn new(name: &'static str, mesh: TriangleMesh) -> Body {
        let bounds = mesh.bounds();
        let scale = 1.0 / bounds.diagonal();
        Body::as_it_is(name, scaled(mesh, bounds.center(), scale))
    }

    fn as_it_is(name: &'static str, mesh: TriangleMesh) -> Body {
        let settings = ShapeSettings {
            shell: ShellChoice::None,
            ..ShapeSettings::with_nodes(40)
        };
        let shape = Shape::from_mesh(&mesh, &settings).unwrap();
        Body { name, mesh, shape }
    }

    fn triangles(&self) -> Vec<[DVec3; 3]> {
        let corners = |face: &[u32; 3]| face.map(|vertex| self.mesh.vertices[vertex as usize]);
        self.mesh.faces.iter().map(corners).collect()
    }
}

fn scaled(mut mesh: TriangleMesh, center: DVec3, scale: f64) -> TriangleMesh {
    for vertex in &mut mesh.vertices {
        *vertex = (*vertex - center) * scale;
    }
    mesh
}

/// Returns the least distance of any two triangles, if none cross: between corners and faces, and
/// between edges. Skips pairs whose bounding spheres are farther apart.
fn brute_force(a: &Body, b: &Body, place: &Place) -> f64 {
    let ball = |triangle: &[DVec3; 3]| {
        let center = (triangle[0] + triangle[1] + triangle[2]) / 3.0;
        let radius = triangle.iter().map(|corner| corner.distance(center));
        (center, radius.fold(0.0, f64::max))
    };
    let of_a: Vec<_> = a.triangles().iter().map(|t| (*t, ball(t))).collect();
    let placed = b
        .triangles()
        .into_iter()
        .map(|triangle| triangle.map(|corner| place.rotation * corner + place.translation));
    let of_b: Vec<_> = placed.map(|t| (t, ball(&t))).collect();
    let mut best = f64::INFINITY;
    for (s, (center_s, radius_s)) in &of_a {
        for (t, (center_t, radius_t)) in &of_b {
            if center_s.distance(*center_t) - radius_s - radius_t >= best.sqrt() {
                continue;
            }
            for corner in 0..3 {
                best = best
                    .min(triangle_distance_squared(s, t[corner]))
                    .min(triangle_distance_squared(t, s[corner]));
                for other in 0..3 {
                    let edge = [s[corner], s[(corner + 1) % 3]];
                    let other_edge = [t[other], t[(other + 1) % 3]];
                    best = best.min(edge_distance_squared(edge, other_edge));
                }
            }
        }
    }
    best.sqrt()
}

fn ask(a: &Shape, b: &Shape, place: &Place, tolerance: f32) -> Separation {
    let pair = Pair {
        a,
        b,
        a_from_b: place.pose(),
    };
    let settings = SeparationSettings::to_within(tolerance);
    separation(&pair, &settings, &mut SeparationScratch::default()).unwrap()
}

/// Rounding of `f32` for bodies of size 1 and places within a few of it.
const ROUNDING: f64 = 1e-5;

#[test]
fn bodies_apart_are_as_far_apart_as_their_triangles() {
    let poses = if is_long() { 400 } else { 24 };
    let model = |name: &'static str| Body::new(name, meshes::model(name));
    let pairs = [
        [Body::new("ball", meshes::icosphere(1.0, 3)), model("gear")],
        [
            Body::new("cube", meshes::cube(6)),
            Body::new("cube", meshes::cube(6)),
        ],
        [
            Body::new("cube", meshes::cube(1)),
            Body::new("star", meshes::star(0.3)),
        ],
        [
            Body::new("slivers", meshes::slivers(60)),
            Body::new("knife", meshes::knife(0.05)),
        ],
        [
            Body::new("fan", meshes::fan(40, 0.2)),
            Body::new("spike", meshes::spike(3.0)),
        ],
        [
            model("torus"),
            Body::new("random star", meshes::random_star(5)),
        ],
    ];
    in_parallel(&pairs, |[a, b]| {
        let mut random = Random::new(23);
        let mut apart = 0;
        for index in 0..poses {
            // Some far apart, some nearly touching.
            let place = Place::between(0.4, 1.6, &mut random);
            let tolerance = [1e-2, 1e-3, 1e-5][index % 3];
            let found = ask(&a.shape, &b.shape, &place, tolerance);
            let context = format!("{} {} {:?}", a.name, b.name, place.pose());
            if found.lower_bound <= 0.0 {
                continue;
            }
            apart += 1;
            let truth = brute_force(a, b, &place);
            assert!(
                f64::from(found.lower_bound) <= truth && truth <= f64::from(found.upper_bound),
                "{truth} is not in {found:?}: {context}"
            );
            let width = f64::from(found.upper_bound - found.lower_bound);
            assert!(
                width <= f64::from(tolerance) + ROUNDING,
                "{width} wide: {context}"
            );
            assert_eq!(found.outcome, SeparationOutcome::Converged);
            let between = f64::from(found.point_on_a.distance(found.point_on_b));
            assert!(
                (between - f64::from(found.separation)).abs() < ROUNDING,
                "{found:?}"
            );
            // Both points are on their surfaces.
            let [on_a, on_b] = [found.point_on_a, found.point_on_b].map(Vec3::as_dvec3);
            let off = [
                MeshTruth::of(&a.mesh).distance(on_a),
                MeshTruth::of(&b.mesh).distance(place.to_b(on_b)),
            ];
            assert!(
                off.iter().all(|off| off.abs() < ROUNDING),
                "{off:?} off: {context}"
            );
            // The result is the same in the other order.
            let pose = place.pose().inverse();
            let pair = Pair {
                a: &b.shape,
                b: &a.shape,
                a_from_b: pose,
            };
            let settings = SeparationSettings::to_within(tolerance);
            let other = separation(&pair, &settings, &mut SeparationScratch::default()).unwrap();
            assert!(
                f64::from(other.lower_bound) <= truth && truth <= f64::from(other.upper_bound),
                "{truth} is not in {other:?}, A and B exchanged: {context}"
            );
        }
        assert!(
            apart * 2 > poses,
            "{apart} of {poses} {} {} apart",
            a.name,
            b.name
        );
    });
}

#[test]
fn a_body_inside_the_other_is_not_apart_however_far_the_surfaces_are() {
    let large = Body::as_it_is("ball", meshes::icosphere(1.0, 3));
    let small = Body::as_it_is("ball", meshes::icosphere(0.2, 2));
    let mut random = Random::new(4);
    for _ in 0..10 {
        let place = Place::between(0.0, 0.5, &mut random);
        for (a, b) in [(&large, &small), (&small, &large)] {
            let found = ask(&a.shape, &b.shape, &place, 1e-2);
            assert!(found.upper_bound < 0.0, "{found:?}");
            // The largest ball in the overlap is nearly the small one.
            assert!((-0.4..-0.36).contains(&found.separation), "{found:?}");
        }
    }
}

#[test]
fn in_a_hollow_a_body_is_apart_from_what_is_around_it_and_one_of_two_parts_inside_is_contact() {
    // A thick shell: a ball with a cavity of radius 0.6.
    let hollow = meshes::joined(
        meshes::icosphere(1.0, 3),
        &meshes::flipped(meshes::icosphere(0.6, 3)),
    );
    let hollow = Body::as_it_is("hollow", hollow);
    let ball = Body::as_it_is("ball", meshes::icosphere(0.2, 2));
    let mut random = Random::new(5);
    for _ in 0..10 {
        let place = Place::between(0.0, 0.3, &mut random);
        let found = ask(&hollow.shape, &ball.shape, &place, 1e-3);
        let truth = brute_force(&hollow, &ball, &place);
        assert!(found.lower_bound > 0.0, "{found:?}");
        assert!(f64::from(found.lower_bound) <= truth && truth <= f64::from(found.upper_bound));
        assert!(found.upper_bound - found.lower_bound < 1.1e-3);
    }
    // Two balls: one goes into the cavity, the other into the wall.
    let wall = meshes::moved(meshes::icosphere(0.1, 2), DVec3::new(0.0, 0.0, 0.8));
    let two = Body::as_it_is(
        "two balls",
        meshes::joined(meshes::icosphere(0.1, 2), &wall),
    );
    let place = Place::between(0.0, 0.0, &mut random);
    let found = ask(&hollow.shape, &two.shape, &place, 1e-2);
    assert!(found.upper_bound < 0.0, "{found:?}");
}

#[test]
fn open_surfaces_are_left_to_the_fields() {
    let open = TriangleMesh {
        faces: meshes::icosphere(1.0, 3).faces[40..].to_vec(),
        ..meshes::icosphere(1.0, 3)
    };
    let open = Body::as_it_is("open ball", open);
    assert!(open.shape.surface().is_some() && open.shape.exact_surface().is_none());
}

#[test]
fn crossing_surfaces_are_never_told_apart() {
    let body = Body::new("gear", meshes::model("gear"));
    let mut random = Random::new(6);
    for _ in 0..20 {
        let place = Place::between(0.0, 0.2, &mut random);
        let found = ask(&body.shape, &body.shape, &place, 1e-2);
        assert!(f64::from(found.upper_bound) < ROUNDING, "{found:?}");
        assert!(found.separation <= found.upper_bound);
    }
}

#[test]
fn a_threshold_is_decided_rightly_and_with_less() {
    let (a, b) = (
        Body::new("gear", meshes::model("gear")),
        Body::new("torus", meshes::model("torus")),
    );
    let mut random = Random::new(7);
    let (mut less, mut asked) = (0, 0);
    for _ in 0..40 {
        let place = Place::between(1.0, 1.6, &mut random);
        let pair = Pair {
            a: &a.shape,
            b: &b.shape,
            a_from_b: place.pose(),
        };
        let exact = ask(&a.shape, &b.shape, &place, 1e-6);
        for threshold in [0.0, 0.1, 0.5] {
            let settings = SeparationSettings {
                threshold: Some(threshold),
                ..SeparationSettings::to_within(1e-6)
            };
            let found = separation(&pair, &settings, &mut SeparationScratch::default()).unwrap();
            if (exact.separation - threshold).abs() < 1e-4 {
                continue;
            }
            assert_eq!(found.outcome, SeparationOutcome::Decided, "{found:?}");
            let above = exact.separation > threshold;
            assert_eq!(found.lower_bound > threshold, above, "{found:?} {exact:?}");
            assert_eq!(
                found.upper_bound <= threshold,
                !above,
                "{found:?} {exact:?}"
            );
            less += u32::from(found.boxes < exact.boxes);
            asked += 1;
        }
    }
    assert!(2 * less > asked, "{less} of {asked} with fewer boxes");
}
