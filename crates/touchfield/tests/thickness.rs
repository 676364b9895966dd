//! Wall thickness, compared with closed forms, in random poses, from triangles and from grids.
#![cfg(feature = "bake")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use glam::{DQuat, DVec3};
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_mesh};
use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::field::StoredField;
use touchfield::geom::Random;
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate::{
    Cuboid, Cylinder, Icosphere, Torus, catalogue, cuboid, cylinder, icosphere, torus,
};
use touchfield::shape::{Shape, Surface};

fn boxed(half: DVec3) -> TriangleMesh {
    let settings = Cuboid {
        half_extents: half,
        ..Default::default()
    };
    cuboid(settings).unwrap()
}

fn ball(radius: f64) -> TriangleMesh {
    icosphere(Icosphere { radius, level: 5 }).unwrap()
}

/// Returns a body with a cavity: another body within it, turned inside out.
fn hollow(outer: TriangleMesh, inner: &TriangleMesh) -> TriangleMesh {
    let mut mesh = outer;
    let first = mesh.vertices.len() as u32;
    mesh.vertices.extend(&inner.vertices);
    let turned = |&[a, b, c]: &[u32; 3]| [a, c, b].map(|vertex| vertex + first);
    mesh.faces.extend(inner.faces.iter().map(turned));
    mesh
}

/// Returns a body of revolution about z. The outline is in the x-z plane, from bottom to top on the
/// outside and back on the inside.
fn turned_about_z(outline: &[[f64; 2]], segments: u32) -> TriangleMesh {
    let count = outline.len() as u32;
    let mut mesh = TriangleMesh::default();
    for step in 0..segments {
        let angle = std::f64::consts::TAU * f64::from(step) / f64::from(segments);
        for &[r, z] in outline {
            let at = DVec3::new(r * angle.cos(), r * angle.sin(), z);
            mesh.vertices.push(at);
        }
        for point in 0..count {
            let at = |step: u32, point: u32| (step % segments) * count + point % count;
            let (a, b) = (at(step, point), at(step + 1, point));
            let (c, d) = (at(step + 1, point + 1), at(step, point + 1));
            mesh.faces.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

/// Returns a prism over a triangle whose edge along y has this angle.
fn sharp_wedge(angle: f64) -> TriangleMesh {
    let up = 0.1 * (0.5 * angle).tan();
    let vertices = [-0.04, 0.04].into_iter().flat_map(|y| {
        let at = move |[x, z]: [f64; 2]| DVec3::new(x, y, z);
        [[0.0, 0.0], [0.1, -up], [0.1, up]].map(at)
    });
    TriangleMesh {
        vertices: vertices.collect(),
        faces: vec![
            [0, 1, 2],
            [3, 5, 4],
            [0, 3, 4],
            [0, 4, 1],
            [1, 4, 5],
            [1, 5, 2],
            [2, 5, 3],
            [2, 3, 0],
        ],
    }
}

/// Returns a prism over a triangle whose edge along y has this angle; `cut` is the distance from
/// that edge at which the prism begins.
fn wedge(angle: f64, cut: f64) -> TriangleMesh {
    let slope = (0.5 * angle).tan();
    let (near, far) = (cut, 0.1);
    let corners = [
        [near, -near * slope],
        [far, -far * slope],
        [far, far * slope],
        [near, near * slope],
    ];
    let vertices = [-0.04, 0.04].into_iter().flat_map(|y| {
        let at = move |[x, z]: [f64; 2]| DVec3::new(x, y, z);
        corners.map(at)
    });
    let quads = [
        [0, 1, 2, 3],
        [4, 7, 6, 5],
        [0, 4, 5, 1],
        [1, 5, 6, 2],
        [2, 6, 7, 3],
        [3, 7, 4, 0],
    ];
    let faces = quads
        .into_iter()
        .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
    TriangleMesh {
        vertices: vertices.collect(),
        faces: faces.collect(),
    }
}

/// Returns a cone with this half angle, its tip at the origin, 0.1 m high.
fn cone(half_angle: f64) -> TriangleMesh {
    let radius = 0.1 * half_angle.tan();
    let segments = 96u32;
    let rim = (0..segments).map(|step| {
        let angle = std::f64::consts::TAU * f64::from(step) / f64::from(segments);
        DVec3::new(radius * angle.cos(), radius * angle.sin(), -0.1)
    });
    let middle = DVec3::new(0.0, 0.0, -0.1);
    TriangleMesh {
        vertices: rim.chain([DVec3::ZERO, middle]).collect(),
        faces: (0..segments)
            .flat_map(|step| {
                let next = (step + 1) % segments;
                [[step, next, segments], [next, step, segments + 1]]
            })
            .collect(),
    }
}

fn posed(mesh: &TriangleMesh, rotation: DQuat, shift: DVec3) -> TriangleMesh {
    let mut mesh = mesh.clone();
    for vertex in &mut mesh.vertices {
        *vertex = rotation * *vertex + shift;
    }
    mesh
}

fn surface(mesh: &TriangleMesh) -> Surface {
    let vertices = mesh.vertices.iter().map(|vertex| vertex.as_vec3());
    Surface::new(vertices.collect(), &mesh.faces).unwrap()
}

/// Returns the mesh baked with this many nodes, with points on its surface.
fn baked(mesh: &TriangleMesh, nodes: u32) -> Shape {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..Default::default()
    };
    let grid = bake(mesh, &settings).unwrap();
    let field = Arc::new(StoredField::Dense(grid.field));
    let settings = ShellSettings {
        density: ShellDensity::Points(2000),
        ..Default::default()
    };
    let shell = shell_of_mesh(mesh, &*field, &settings).unwrap();
    Shape::stored(field).with_shell(Arc::new(shell))
}

/// Returns bodies of about 0.1 m with their wall thickness \[m\].
fn walls() -> Vec<(&'static str, TriangleMesh, f64)> {
    let tube = |wall: f64| {
        let outline = [
            [0.03, -0.05],
            [0.03, 0.05],
            [0.03 - wall, 0.05],
            [0.03 - wall, -0.05],
        ];
        turned_about_z(&outline, 128)
    };
    let ring = Torus {
        major_radius: 0.04,
        minor_radius: 0.01,
        major_segments: 96,
        minor_segments: 48,
    };
    let rod = Cylinder {
        bottom_radius: 0.004,
        top_radius: 0.004,
        ..Default::default()
    };
    let rod = cylinder(rod).unwrap();
    vec![
        ("plate of 6 mm", boxed(DVec3::new(0.05, 0.04, 0.003)), 0.006),
        ("box", boxed(DVec3::new(0.05, 0.04, 0.03)), 0.06),
        ("hollow ball", hollow(ball(0.05), &ball(0.045)), 0.005),
        (
            "hollow box",
            hollow(
                boxed(DVec3::splat(0.05)),
                &boxed(DVec3::new(0.042, 0.044, 0.043)),
            ),
            0.006,
        ),
        ("tube", tube(0.006), 0.006),
        ("ball", ball(0.05), 0.1),
        ("ring", torus(ring).unwrap(), 0.02),
        ("rod", rod, 0.008),
    ]
}

#[test]
fn triangles_tell_walls_to_a_hundredth_in_any_pose() {
    let mut random = Random::new(1);
    for (name, mesh, wall) in walls() {
        let shape = baked(&mesh, 32);
        for _ in 0..3 {
            let (rotation, shift) = (random.quaternion(), 0.2 * random.unit_vector());
            let posed = surface(&posed(&mesh, rotation, shift));
            let found = f64::from(shape.clone().with_surface(Arc::new(posed)).thickness().wall);
            // The largest ball of the coarse grid bounds it from above.
            let cell = f64::from(shape.cell_size());
            println!("{name}: {found} for {wall}");
            let (low, high) = (0.98 * wall, 1.01 * wall);
            assert!(
                (low..=high).contains(&found) || (found - wall).abs() < 0.5 * cell && wall > 0.05,
                "{name}: {found} for {wall}"
            );
        }
    }
}

#[test]
fn thin_plates_are_told_by_their_triangles_whatever_the_grid() {
    for half in [5e-3, 5e-4, 5e-5] {
        let mesh = boxed(DVec3::new(0.05, 0.04, half));
        let exact = Arc::new(surface(&mesh));
        for nodes in [48, 96] {
            let found = baked(&mesh, nodes)
                .with_surface(exact.clone())
                .thickness()
                .wall;
            let wall = 2.0 * half as f32;
            assert!(
                (found / wall - 1.0).abs() < 0.01,
                "{found} for {wall} at {nodes}"
            );
        }
    }
}

/// From the grid alone, in random poses.
#[test]
fn grids_tell_walls_to_within_a_cell_from_48_to_256_nodes() {
    let mut random = Random::new(2);
    for (name, mesh, wall) in walls() {
        for nodes in [48, 64, 96, 128, 192, 256] {
            if nodes > 128 && !matches!(name, "tube" | "hollow ball") {
                continue;
            }
            let mesh = posed(&mesh, random.quaternion(), DVec3::ZERO);
            let shape = baked(&mesh, nodes);
            let cell = f64::from(shape.cell_size());
            let found = f64::from(shape.thickness().wall);
            println!("{name} at {nodes}: {found} for {wall}, cells of {cell}");
            assert!(
                (found - wall).abs() <= cell,
                "{name} at {nodes}: {found} for {wall}, cells of {cell}"
            );
        }
    }
}

/// The thickness of a wedge and of a cone is that of the largest ball in them: their edges are not
/// walls.
#[test]
fn edges_and_tips_are_no_walls() {
    let mut random = Random::new(3);
    let inscribed = |half: f64| 2.0 * 0.1 * half.sin() / (1.0 + half.sin());
    for degrees in [10.0f64, 20.0, 30.0, 45.0, 60.0, 90.0] {
        let angle = degrees.to_radians();
        let wedge = sharp_wedge(angle);
        // Largest ball in a wedge that is closed by the plane x = 0.1.
        let wedge_ball = 2.0 * 0.1 * (0.5 * angle).tan() / (1.0 + 1.0 / (0.5 * angle).cos());
        let ball = inscribed(0.5 * angle).min(wedge_ball);
        for (name, mesh) in [("wedge", wedge), ("cone", cone(0.5 * angle))] {
            let mesh = posed(&mesh, random.quaternion(), DVec3::ZERO);
            let shape = baked(&mesh, 96);
            let cell = f64::from(shape.cell_size());
            let exact = shape.clone().with_surface(Arc::new(surface(&mesh)));
            let by_faces = f64::from(exact.thickness().wall);
            assert!(
                by_faces > 0.7 * ball,
                "{name} of {degrees}°: {by_faces} for {ball}"
            );
            // A grid resolves an edge from 30° on.
            let by_grid = f64::from(shape.thickness().wall);
            println!("{name} of {degrees}°: {by_faces}, {by_grid} for {ball}, cells of {cell}");
            assert!(
                degrees < 30.0 || by_grid > 0.7 * ball,
                "{name} of {degrees}°: {by_grid} for {ball}"
            );
        }
    }
}

#[test]
fn a_wedge_cut_off_is_as_thick_as_its_blunt_end() {
    for degrees in [4.0f64, 10.0, 20.0] {
        let angle = degrees.to_radians();
        let mesh = wedge(angle, 0.03);
        let end = 2.0 * 0.03 * (0.5 * angle).tan();
        let shape = baked(&mesh, 64).with_surface(Arc::new(surface(&mesh)));
        let found = f64::from(shape.thickness().wall);
        assert!(
            (0.95 * end..=1.15 * end).contains(&found),
            "{degrees}°: {found} for {end}"
        );
    }
}

/// Faces inside the solid are not walls, and a surface turned inside out has the same thickness.
#[test]
fn overlaps_and_turned_faces_do_not_count() {
    let mut two = boxed(DVec3::new(0.05, 0.02, 0.02));
    let other = posed(
        &boxed(DVec3::new(0.05, 0.02, 0.02)),
        DQuat::IDENTITY,
        DVec3::new(0.09, 0.001, 0.0005),
    );
    let first = two.vertices.len() as u32;
    two.vertices.extend(&other.vertices);
    two.faces.extend(
        other
            .faces
            .iter()
            .map(|face| face.map(|vertex| vertex + first)),
    );
    let shape = baked(&two, 96).with_surface(Arc::new(surface(&two)));
    let wall = shape.thickness().wall;
    assert!((0.038..=0.0405).contains(&wall), "{wall} for 0.04");
    let mut turned = boxed(DVec3::new(0.05, 0.04, 0.003));
    let upright = baked(&turned, 48);
    for face in &mut turned.faces {
        face.swap(1, 2);
    }
    let wall = upright
        .with_surface(Arc::new(surface(&turned)))
        .thickness()
        .wall;
    assert!((wall / 0.006 - 1.0).abs() < 0.01, "{wall} for 0.006");
}

/// Grids alone, without their triangles, agree at all resolutions.
#[test]
fn models_are_as_thick_at_every_resolution() {
    for model in catalogue() {
        let mut mesh = model.mesh().unwrap();
        let bounds = mesh.bounds();
        let factor = 0.1 / bounds.extents().max_element();
        for vertex in &mut mesh.vertices {
            *vertex = factor * (*vertex - bounds.center());
        }
        let exact = Arc::new(surface(&mesh));
        let found = [48, 96, 128].map(|nodes| {
            let shape = baked(&mesh, nodes);
            let cell = shape.cell_size();
            let by_grid = shape.thickness().wall;
            (
                nodes,
                cell,
                by_grid,
                shape.with_surface(exact.clone()).thickness().wall,
            )
        });
        println!("{}: {found:?}", model.name);
        for (nodes, cell, _, by_faces) in found {
            let (_, _, _, finest) = found[2];
            assert!(
                (by_faces - finest).abs() <= cell,
                "{} at {nodes}: {by_faces}, {finest}",
                model.name
            );
        }
    }
}
