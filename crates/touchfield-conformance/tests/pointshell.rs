//! Point shells: on the surface, covering it to the reported radius and not much less, with trees
//! whose every level covers it too.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use glam::{DVec3, Vec3};
use touchfield::bake::pointshell::{
    ShellBakeError, ShellDensity, ShellSampling, ShellSettings, TreeBuilder, shell_of_field,
    shell_of_mesh,
};
use touchfield::bake::{BakeSettings, Resolution};
use touchfield::field::primitive::{Capsule, Cuboid, HalfSpace, Sphere, Torus};
use touchfield::field::{Difference, Field, Sample, Transformed, Union, Wall};
use touchfield::geom::{Aabb, Interval, Pose, Triangle};
use touchfield::mesh::TriangleMesh;
use touchfield::pointshell::PointShell;
use touchfield_conformance::bake_suite::bake_quietly;
use touchfield_conformance::meshes::{self, Named};
use touchfield_conformance::random::Random;

const SAMPLINGS: [ShellSampling; 3] = [
    ShellSampling::PoissonDisk,
    ShellSampling::Voxels {
        alpha: std::f32::consts::SQRT_2,
    },
    ShellSampling::Vertices,
];

/// Returns an arbitrary field, for tests that ignore normals.
fn any_field() -> Sphere {
    Sphere::new(1.0).unwrap()
}

fn turned(mesh: &TriangleMesh, random: &mut Random) -> TriangleMesh {
    let rotation = random.quaternion();
    let mut mesh = mesh.clone();
    let size = mesh.bounds().diagonal();
    let shift = size * random.unit_vector();
    for vertex in &mut mesh.vertices {
        *vertex = rotation * *vertex + shift;
    }
    mesh
}

/// Returns random places on faces, weighted by area, and the corners and edges.
fn places(mesh: &TriangleMesh, count: usize, random: &mut Random) -> Vec<DVec3> {
    let mut up_to = Vec::new();
    let mut area = 0.0;
    for triangle in mesh.triangles() {
        area += triangle.area();
        up_to.push(area);
    }
    let on = |t: Triangle, mut u: f64, mut v: f64| {
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        t.a + u * (t.b - t.a) + v * (t.c - t.a)
    };
    let mut found: Vec<DVec3> = (0..count)
        .map(|_| {
            let share = random.uniform(0.0, area);
            let face = up_to.partition_point(|&a| a <= share);
            let t = mesh.triangle(face.min(up_to.len() - 1));
            on(t, random.uniform(0.0, 1.0), random.uniform(0.0, 1.0))
        })
        .collect();
    for _ in 0..count / 4 {
        let t = mesh.triangle(random.below(mesh.faces.len()));
        let corners = t.corners();
        let corner = random.below(3);
        found.push(corners[corner].lerp(corners[(corner + 1) % 3], random.uniform(0.0, 1.0)));
        found.push(corners[corner]);
    }
    found
}

/// Returns the distance to the nearest of all points, by brute force.
fn nearest(points: &[DVec3], place: DVec3) -> f64 {
    points
        .iter()
        .map(|p| p.distance_squared(place))
        .fold(f64::INFINITY, f64::min)
        .sqrt()
}

/// Returns the largest distance from the places to the points; refined by climbing from places near
/// the worst.
fn worst(mesh: &TriangleMesh, points: &[DVec3], places: &[DVec3], random: &mut Random) -> f64 {
    let mut by_distance: Vec<(f64, DVec3)> = places
        .iter()
        .map(|&place| (nearest(points, place), place))
        .collect();
    by_distance.sort_by(|a, b| b.0.total_cmp(&a.0));
    by_distance.truncate(4);
    // A random walk uphill, on the surface by projection onto the nearest face.
    let mut best: f64 = 0.0;
    for (mut distance, mut place) in by_distance {
        let mut step = 0.3 * distance;
        for _ in 0..20 {
            let to = place + random.uniform(0.0, step) * random.unit_vector();
            let on = mesh
                .triangles()
                .map(|t| t.closest_point(to).point)
                .min_by(|a, b| a.distance_squared(to).total_cmp(&b.distance_squared(to)))
                .unwrap();
            let there = nearest(points, on);
            if there > distance {
                (distance, place) = (there, on);
            } else {
                step *= 0.85;
            }
        }
        best = best.max(distance);
    }
    best
}

fn in_f64(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}

fn settings(sampling: ShellSampling, points: u32, fill_gaps: bool) -> ShellSettings {
    ShellSettings {
        sampling,
        density: ShellDensity::Points(points),
        fill_gaps,
        ..Default::default()
    }
}

fn small_models() -> Vec<Named> {
    let mut models = meshes::models();
    models.retain(|model| model.mesh.faces.len() <= 6000);
    models.extend(meshes::degenerate());
    models
}

#[test]
fn covering_radii_hold_and_are_tight() {
    let mut random = Random::new(1);
    for model in small_models() {
        let mesh = turned(&model.mesh, &mut random);
        for sampling in SAMPLINGS {
            for fill in [true, false] {
                let what = format!("{} {sampling:?} fill {fill}", model.name);
                let shell = match shell_of_mesh(&mesh, &any_field(), &settings(sampling, 400, fill))
                {
                    Ok(shell) => shell,
                    Err(ShellBakeError::TooFine { .. }) => continue,
                    Err(error) => panic!("{what}: {error}"),
                };
                let points = in_f64(shell.points());
                let places = places(&mesh, 2000, &mut random);
                let found = worst(&mesh, &points, &places, &mut random);
                let proven = f64::from(shell.covering_radius());
                let ratio = proven / found;
                println!(
                    "{what}: {} points, {proven:.4e}, × {ratio:.3}",
                    points.len()
                );
                assert!(
                    found <= proven,
                    "{what}: a place {found} m away, {proven} m proven"
                );
                // f32 rounds points; a smaller radius is reported as that rounding.
                let floor = 4e-7
                    * mesh
                        .bounds()
                        .max
                        .abs()
                        .max(mesh.bounds().min.abs())
                        .max_element();
                assert!(
                    proven <= 1.2 * found + floor,
                    "{what}: {proven} m for {found} m"
                );
            }
        }
    }
}

#[test]
fn points_lie_on_faces_and_keep_their_distance() {
    let mut random = Random::new(2);
    for model in small_models() {
        let mesh = turned(&model.mesh, &mut random);
        for sampling in SAMPLINGS {
            let what = format!("{} {sampling:?}", model.name);
            let Ok(shell) = shell_of_mesh(&mesh, &any_field(), &settings(sampling, 300, true))
            else {
                continue;
            };
            let rounding = 1e-7
                * mesh
                    .bounds()
                    .max
                    .abs()
                    .max(mesh.bounds().min.abs())
                    .max_element();
            for point in in_f64(shell.points()).iter().step_by(7) {
                let off = mesh
                    .triangles()
                    .map(|t| t.closest_point(*point).point.distance(*point))
                    .fold(f64::INFINITY, f64::min);
                assert!(off <= rounding, "{what}: {off} m off");
            }
        }
    }
}

#[test]
fn every_level_of_every_tree_covers_the_surface() {
    let mut random = Random::new(3);
    for name in ["torus", "gear", "mug", "cuboid"] {
        let mesh = turned(&meshes::model(name), &mut random);
        if mesh.faces.is_empty() {
            continue;
        }
        for tree in [TreeBuilder::Chain, TreeBuilder::Spatial] {
            for cluster_size in [2, 4, 9] {
                let settings = ShellSettings {
                    tree,
                    cluster_size,
                    density: ShellDensity::Points(1500),
                    ..Default::default()
                };
                let shell = shell_of_mesh(&mesh, &any_field(), &settings).unwrap();
                check_levels(
                    &format!("{name} {tree:?} {cluster_size}"),
                    &mesh,
                    &shell,
                    &mut random,
                );
            }
        }
    }
}

fn check_levels(what: &str, mesh: &TriangleMesh, shell: &PointShell, random: &mut Random) {
    let tree = shell.tree();
    let places = places(mesh, 300, random);
    let mut before = f32::INFINITY;
    let mut above: Vec<u32> = Vec::new();
    for level in 0..tree.level_count() {
        let nodes = tree.level(level);
        assert_eq!(
            nodes
                .iter()
                .map(|node| node.point_count as usize)
                .sum::<usize>(),
            shell.points().len(),
            "{what}: level {level} does not hold every point once"
        );
        let standing: Vec<u32> = nodes.iter().map(|node| node.representative).collect();
        assert!(
            above.iter().all(|point| standing.contains(point)),
            "{what}: level {level} forgets a point of the level above"
        );
        let points: Vec<DVec3> = standing
            .iter()
            .map(|&point| shell.points()[point as usize].as_dvec3())
            .collect();
        let found = places
            .iter()
            .map(|&p| nearest(&points, p))
            .fold(0.0, f64::max);
        let stated = shell.level_radius(level).unwrap();
        assert!(
            found <= stated.into(),
            "{what}: level {level}: {found} > {stated}"
        );
        assert!(
            f64::from(stated) <= 4.0 * found,
            "{what}: level {level}: {stated} for {found}"
        );
        assert!(
            stated <= before,
            "{what}: level {level}: {stated} after {before}"
        );
        before = stated;
        above = standing;
    }
    assert_eq!(shell.level_radius(tree.level_count()), None);
}

/// Returns places where the field changes its sign, along random lines through its box; found by
/// bisection, without gradient or interval.
fn crossings(field: &dyn Field, count: usize, random: &mut Random) -> Vec<DVec3> {
    let bounds = field.bounds().as_daabb().grown(0.01);
    let mut found = Vec::new();
    let inside = |p: DVec3| field.distance(p.as_vec3()) < 0.0;
    while found.len() < count {
        let start = random.in_box(bounds.min, bounds.max);
        let way = bounds.diagonal() * random.unit_vector() / 400.0;
        for step in 0..400 {
            let (mut from, mut to) = (
                start + f64::from(step) * way,
                start + f64::from(step + 1) * way,
            );
            if inside(from) == inside(to) {
                continue;
            }
            for _ in 0..40 {
                let middle = 0.5 * (from + to);
                if inside(middle) == inside(from) {
                    from = middle;
                } else {
                    to = middle;
                }
            }
            found.push(to);
        }
    }
    found
}

fn posed<F: Field>(field: F, random: &mut Random) -> Transformed<F> {
    let pose = Pose {
        rotation: random.quaternion().as_quat().normalize(),
        translation: random.unit_vector().as_vec3(),
    };
    Transformed::new(field, pose, 1.0).unwrap()
}

fn closed_forms(random: &mut Random) -> Vec<(&'static str, Box<dyn Field>)> {
    let cuboid = || Cuboid::new(Vec3::new(0.5, 0.4, 0.3)).unwrap();
    let ball = |radius| Sphere::new(radius).unwrap();
    let bored = Difference {
        first: cuboid(),
        second: ball(0.45),
    };
    let joined = Union {
        first: ball(0.5),
        second: posed(ball(0.4), random),
    };
    let hollow = Wall::new(ball(0.5), 0.02).unwrap();
    vec![
        ("ball", Box::new(posed(ball(0.5), random))),
        (
            "torus",
            Box::new(posed(Torus::new(0.5, 0.2).unwrap(), random)),
        ),
        ("cuboid", Box::new(posed(cuboid(), random))),
        (
            "capsule",
            Box::new(posed(Capsule::new(0.4, 0.2).unwrap(), random)),
        ),
        ("bored cuboid", Box::new(posed(bored, random))),
        ("two balls", Box::new(posed(joined, random))),
        ("hollow ball", Box::new(hollow)),
    ]
}

#[test]
fn shells_of_fields_lie_on_the_surface_and_cover_it() {
    let mut random = Random::new(5);
    for (name, field) in closed_forms(&mut random) {
        for sampling in SAMPLINGS {
            for fill in [true, false] {
                let what = format!("{name} {sampling:?} fill {fill}");
                let settings = ShellSettings {
                    sampling,
                    density: ShellDensity::Spacing(0.1),
                    fill_gaps: fill,
                    ..Default::default()
                };
                let shell = shell_of_field(&*field, 0.07, &settings).unwrap();
                for (point, normal) in shell.points().iter().zip(shell.normals()) {
                    let off = field.distance(*point).abs();
                    assert!(off <= 0.01 * 0.07, "{what}: {off} m off the surface");
                    assert!((normal.length() - 1.0).abs() < 1e-5, "{what}");
                }
                let points = in_f64(shell.points());
                let places = crossings(&*field, 4000.max(2 * points.len()), &mut random);
                let found = places
                    .iter()
                    .map(|&p| nearest(&points, p))
                    .fold(0.0, f64::max);
                let proven = f64::from(shell.covering_radius());
                println!(
                    "{what}: {} points, {proven:.4}, × {:.3}",
                    points.len(),
                    proven / found
                );
                assert!(
                    found <= proven,
                    "{what}: a place {found} m away, {proven} m proven"
                );
                assert!(proven <= 1.3 * found, "{what}: {proven} m for {found} m");
                if fill {
                    assert!(
                        proven <= 0.13,
                        "{what}: gaps of {proven} m at a spacing of 0.1 m"
                    );
                }
            }
        }
    }
}

#[test]
fn parts_that_the_isosurface_misses_are_found() {
    // A pin thinner than a cell, and a ball that cells resolve.
    let pin = Transformed::new(
        Capsule::new(0.3, 0.004).unwrap(),
        Pose {
            rotation: glam::Quat::from_rotation_z(0.3),
            translation: Vec3::new(0.013, 1.0, 0.0177),
        },
        1.0,
    )
    .unwrap();
    let field = Union {
        first: Sphere::new(0.3).unwrap(),
        second: pin,
    };
    let make = |fill_gaps| {
        let settings = ShellSettings {
            density: ShellDensity::Spacing(0.05),
            sampling: ShellSampling::Vertices,
            fill_gaps,
            ..Default::default()
        };
        shell_of_field(&field, 0.1, &settings).unwrap()
    };
    let on_pin = |shell: &PointShell| shell.points().iter().filter(|p| p.y > 0.6).count();
    let (without, with) = (make(false), make(true));
    assert_eq!(on_pin(&without), 0, "the cells were meant to miss it");
    assert!(
        without.covering_radius() > 0.3,
        "{}",
        without.covering_radius()
    );
    assert!(on_pin(&with) > 8 && with.covering_radius() < 0.07);
}

/// A field that is zero everywhere, without a gradient.
struct Flat;

impl Field for Flat {
    fn bounds(&self) -> Aabb {
        Aabb::from_center(Vec3::ZERO, Vec3::ONE)
    }
    fn error_bound(&self) -> f32 {
        1.0
    }
    fn distance(&self, _: Vec3) -> f32 {
        0.0
    }
    fn sample(&self, _: Vec3) -> Sample {
        Sample::default()
    }
    fn interval(&self, _: Aabb) -> Interval {
        Interval::new(-1.0, 1.0)
    }
}

#[test]
fn normals_point_outward() {
    let mut random = Random::new(6);
    let ball = Sphere::new(1.0).unwrap();
    let mesh = meshes::icosphere(1.0, 4);
    for shell in [
        shell_of_mesh(
            &mesh,
            &ball,
            &settings(ShellSampling::PoissonDisk, 500, true),
        )
        .unwrap(),
        shell_of_field(&ball, 0.1, &settings(ShellSampling::PoissonDisk, 500, true)).unwrap(),
    ] {
        for (point, normal) in shell.points().iter().zip(shell.normals()) {
            assert!(normal.distance(point.normalize()) < 1e-3);
        }
    }
    // For a field without a gradient the faces give the normals.
    let mesh = turned(&mesh, &mut random);
    let center = mesh.bounds().center().as_vec3();
    let settings = settings(ShellSampling::PoissonDisk, 500, true);
    let shell = shell_of_mesh(&mesh, &Flat, &settings).unwrap();
    for (point, normal) in shell.points().iter().zip(shell.normals()) {
        assert!(normal.dot((*point - center).normalize()) > 0.99);
    }
}

#[test]
fn bad_input_is_named() {
    let ball = Sphere::new(1.0).unwrap();
    let mesh = meshes::icosphere(1.0, 2);
    let with = |change: &dyn Fn(&mut ShellSettings)| {
        let mut settings = ShellSettings::default();
        change(&mut settings);
        shell_of_mesh(&mesh, &ball, &settings).unwrap_err()
    };
    for spacing in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let density = ShellDensity::Spacing(spacing);
        assert!(matches!(
            with(&|s| s.density = density),
            ShellBakeError::BadDensity(_)
        ));
    }
    let none = ShellDensity::Points(0);
    assert!(matches!(
        with(&|s| s.density = none),
        ShellBakeError::BadDensity(_)
    ));
    for alpha in [0.0, -1.0, f32::NAN, 1e9] {
        let sampling = ShellSampling::Voxels { alpha };
        assert!(matches!(
            with(&|s| s.sampling = sampling),
            ShellBakeError::BadAlpha(_)
        ));
    }
    for size in [0, 1, 100_000] {
        assert_eq!(
            with(&|s| s.cluster_size = size),
            ShellBakeError::BadClusterSize(size)
        );
    }
    let fine = ShellDensity::Spacing(1e-9);
    assert!(matches!(
        with(&|s| s.density = fine),
        ShellBakeError::TooFine { .. }
    ));
    for sampling in SAMPLINGS {
        let error = with(&|s| {
            s.sampling = sampling;
            s.density = ShellDensity::Spacing(1e-3);
            s.max_points = 1000;
        });
        assert_eq!(error, ShellBakeError::TooManyPoints { limit: 1000 });
        assert!(error.is_limit());
    }
    let of =
        |mesh: &TriangleMesh| shell_of_mesh(mesh, &ball, &ShellSettings::default()).unwrap_err();
    assert_eq!(of(&TriangleMesh::default()), ShellBakeError::NoFaces);
    let mut broken = mesh.clone();
    broken.faces[7][1] = 1_000_000;
    assert_eq!(of(&broken), ShellBakeError::InvalidFace { face: 7 });
    let huge = meshes::squeezed(mesh.clone(), DVec3::splat(1e30));
    assert!(matches!(of(&huge), ShellBakeError::TooLarge { .. }));

    let plane = HalfSpace::new(Vec3::Z, 0.0).unwrap();
    let of = |field: &dyn Field, cell| shell_of_field(field, cell, &ShellSettings::default());
    assert!(matches!(of(&plane, 0.1), Err(ShellBakeError::Unbounded(_))));
    for cell in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(
            of(&ball, cell),
            Err(ShellBakeError::BadCellSize(_))
        ));
    }
    assert!(matches!(
        of(&ball, 1e-7),
        Err(ShellBakeError::Isosurface(_))
    ));
    let nothing = Difference {
        first: Sphere::new(0.5).unwrap(),
        second: Sphere::new(1.0).unwrap(),
    };
    assert!(matches!(
        of(&nothing, 0.1),
        Err(ShellBakeError::Isosurface(_))
    ));
}

#[test]
fn faces_without_area_and_single_places_have_shells() {
    let ball = any_field();
    let line = TriangleMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, 0.3 * DVec3::X],
        faces: vec![[0, 1, 2]],
    };
    let place = TriangleMesh {
        vertices: vec![DVec3::ONE; 3],
        faces: vec![[0, 1, 2]],
    };
    for sampling in SAMPLINGS {
        let settings = settings(sampling, 50, true);
        let shell = shell_of_mesh(&line, &ball, &settings).unwrap();
        assert!(shell.covering_radius() < 0.05 && shell.points().len() < 100);
        let shell = shell_of_mesh(&place, &ball, &settings).unwrap();
        assert_eq!(shell.points(), [Vec3::ONE]);
        assert!(shell.covering_radius() < 1e-6);
    }
}

#[test]
fn both_sides_of_a_sheet_have_points() {
    let sheet = meshes::squeezed(meshes::cube(1), DVec3::new(1.0, 1.0, 1e-3));
    for sampling in &SAMPLINGS[..2] {
        let shell = shell_of_mesh(&sheet, &any_field(), &settings(*sampling, 800, true)).unwrap();
        let above = shell.points().iter().filter(|p| p.z > 0.0).count();
        let below = shell.points().len() - above;
        assert!(
            above > 250 && below > 250,
            "{sampling:?}: {above} above, {below} below"
        );
    }
}

#[test]
fn the_number_of_points_is_about_the_one_asked_for() {
    for name in ["torus", "mug", "gear"] {
        let mesh = meshes::model(name);
        let settings = settings(ShellSampling::PoissonDisk, 5000, true);
        let shell = shell_of_mesh(&mesh, &any_field(), &settings).unwrap();
        let found = shell.points().len() as f64 / 5000.0;
        println!("{name}: {found}");
        assert!((0.9..1.3).contains(&found), "{name}: {found}");
    }
}

#[test]
fn real_models_are_covered() {
    let wanted = [
        "glmark2_bunny.obj",
        "teapot.obj",
        "factory_nut_m4_loose.obj",
        "bunny_soup_exact.obj",
        "thin_plate_t0.0001.obj",
    ];
    let mut random = Random::new(9);
    for model in meshes::real()
        .into_iter()
        .filter(|model| wanted.contains(&&*model.name))
    {
        for (sampling, tree) in [
            (SAMPLINGS[0], TreeBuilder::Spatial),
            (SAMPLINGS[1], TreeBuilder::Chain),
            (SAMPLINGS[2], TreeBuilder::Spatial),
        ] {
            let what = format!("{} {sampling:?}", model.name);
            let settings = ShellSettings {
                tree,
                ..settings(sampling, 2000, true)
            };
            let shell = shell_of_mesh(&model.mesh, &any_field(), &settings).unwrap();
            let points = in_f64(shell.points());
            let places = places(&model.mesh, 2000, &mut random);
            let found = worst(&model.mesh, &points, &places, &mut random);
            let proven = f64::from(shell.covering_radius());
            println!(
                "{what}: {} points, {proven:.4e}, × {:.3}",
                points.len(),
                proven / found
            );
            assert!(
                found <= proven,
                "{what}: a place {found} m away, {proven} m proven"
            );
            assert!(proven <= 1.3 * found, "{what}: {proven} m for {found} m");
        }
    }
}

#[test]
fn shells_of_stored_fields_cover_the_mesh_that_was_baked() {
    let mut random = Random::new(10);
    for (name, nodes) in [("torus", 64), ("torus", 12), ("mug", 40)] {
        let mesh = meshes::model(name);
        let baked = BakeSettings {
            resolution: Resolution::Nodes(nodes),
            ..Default::default()
        };
        let grid = bake_quietly(&mesh, &baked).unwrap().field;
        let cell = grid.layout().cell_size;
        for spacing in [0.5 * cell, 2.0 * cell] {
            let settings = ShellSettings {
                density: ShellDensity::Spacing(spacing),
                ..Default::default()
            };
            let shell = shell_of_field(&grid, cell, &settings).unwrap();
            let points = in_f64(shell.points());
            let places = places(&mesh, 2000, &mut random);
            let found = places
                .iter()
                .map(|&p| nearest(&points, p))
                .fold(0.0, f64::max);
            let proven = f64::from(shell.covering_radius());
            println!(
                "{name} {nodes}: {} points, {proven:.4}, × {:.3}",
                points.len(),
                proven / found
            );
            assert!(
                found <= proven,
                "{name}: a place {found} m away, {proven} m proven"
            );
            let error = f64::from(grid.error_bound());
            assert!(
                proven <= 1.5 * f64::from(spacing) + 3.0 * error,
                "{name}: {proven} m"
            );
        }
    }
}
