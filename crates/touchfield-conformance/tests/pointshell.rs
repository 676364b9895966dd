//! Pointshells: on the surface, covering it as far as they say and not much less, under trees whose every level covers it too.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use glam::{DVec3, Vec3};
use touchfield::bake::pointshell::{
    ShellBakeError, ShellDensity, ShellSampling, ShellSettings, TreeBuilder, shell_of_mesh,
};
use touchfield::field::primitive::Sphere;
use touchfield::geom::Triangle;
use touchfield::mesh::TriangleMesh;
use touchfield::pointshell::PointShell;
use touchfield_conformance::meshes::{self, Named};
use touchfield_conformance::random::Random;

const SAMPLINGS: [ShellSampling; 3] = [
    ShellSampling::PoissonDisk,
    ShellSampling::Voxels {
        alpha: std::f32::consts::SQRT_2,
    },
    ShellSampling::Vertices,
];

/// Any field does where normals are not looked at.
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

/// Random places of faces, each face as often as its area asks, and its corners and edges besides.
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

/// Distance to the nearest of all points, by looking at all of them.
fn nearest(points: &[DVec3], place: DVec3) -> f64 {
    points
        .iter()
        .map(|p| p.distance_squared(place))
        .fold(f64::INFINITY, f64::min)
        .sqrt()
}

/// The largest distance from the places to the points; and from places near the worst, climbing.
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
    models.retain(|model| model.mesh.faces.len() <= 20_000);
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
                // f32 rounds points; a radius below that rounding says so.
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
            f64::from(stated) <= 8.0 * found,
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
