//! Isosurfaces: closed, manifold and clean for every field; on the level; with the volume and area
//! of closed forms.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::f64::consts::PI;

use glam::{DVec3, Vec3};
use touchfield::bake::{BakeSettings, IsosurfaceError, IsosurfaceSettings, Resolution, isosurface};
use touchfield::field::primitive::{Cuboid, HalfSpace, Sphere, Torus};
use touchfield::field::{
    Closure, Declared, Difference, Field, Meaning, Sample, Transformed, Union, Wall,
};
use touchfield::geom::{Aabb, Interval, Pose};
use touchfield::mesh::{SelfIntersectionList, TriangleMesh, validate};
use touchfield_conformance::bake_suite::bake_quietly;
use touchfield_conformance::meshes::model;
use touchfield_conformance::random::Random;

/// A field with its name, volume and area.
type Known = (&'static str, Box<dyn Field>, (f64, f64));

fn cells(cells: u32) -> IsosurfaceSettings {
    IsosurfaceSettings {
        cells,
        ..Default::default()
    }
}

/// Extracts the surface, and fails unless the mesh has the properties that the module promises.
#[track_caller]
fn clean(name: &str, field: &dyn Field, level: f32, settings: &IsosurfaceSettings) -> TriangleMesh {
    let mesh = isosurface(field, level, settings).unwrap();
    let found = validate(&mesh);
    let wrong: Vec<_> = found
        .by_kind()
        .into_iter()
        .filter(|(kind, ..)| {
            // Some solids do have cavities and separate parts.
            !["nested_shells", "disconnected_parts", "suspicious_units"].contains(kind)
        })
        .collect();
    assert!(wrong.is_empty(), "{name}: {wrong:?}");
    assert!(found.watertight && found.manifold, "{name}");
    assert_eq!(found.self_intersections, SelfIntersectionList::Complete);
    assert!(mesh.signed_volume() > 0.0, "{name}: inside out");
    mesh
}

/// Returns the largest difference between field and level at the vertices \[m\].
fn worst(field: &dyn Field, level: f32, mesh: &TriangleMesh) -> f64 {
    let off = |vertex: &DVec3| f64::from(field.distance(vertex.as_vec3()) - level).abs();
    mesh.vertices.iter().map(off).fold(0.0, f64::max)
}

fn turned(seed: u64) -> Pose {
    let mut random = Random::new(seed);
    Pose {
        rotation: random.quaternion().as_quat().normalize(),
        translation: random.in_box(DVec3::splat(-1.0), DVec3::ONE).as_vec3(),
    }
}

#[test]
fn volume_and_area_converge_to_closed_forms_at_second_order() {
    let (major, minor) = (0.5, 0.2f32);
    let sphere = |level: f64| {
        let radius = 0.5 + level;
        (4.0 / 3.0 * PI * radius.powi(3), 4.0 * PI * radius * radius)
    };
    let ring = |level: f64| {
        let radius = f64::from(minor) + level;
        (
            2.0 * PI * PI * major * radius * radius,
            4.0 * PI * PI * major * radius,
        )
    };
    for level in [0.0, 0.1, -0.1f32] {
        let fields: [Known; 2] = [
            (
                "sphere",
                Box::new(Sphere::new(0.5).unwrap()),
                sphere(level.into()),
            ),
            (
                "ring",
                Box::new(Torus::new(major as f32, minor).unwrap()),
                ring(level.into()),
            ),
        ];
        for (name, field, (volume, area)) in fields {
            let field = Transformed::new(field, turned(3), 1.0).unwrap();
            let error = |n| {
                let mesh = clean(name, &field, level, &cells(n));
                // Two thousandths of the longest edge, which is √3 cells; a cell is at most 1.8 m /
                // (n − 2.5).
                let bound = 2.0 / 1024.0 * 3.0f64.sqrt() * 1.8 / (f64::from(n) - 2.5) + 1e-6;
                let off = worst(&field, level, &mesh);
                assert!(off < bound, "{name} {level}: {off} over {bound}");
                [
                    mesh.signed_volume() / volume - 1.0,
                    mesh.area() / area - 1.0,
                ]
                .map(f64::abs)
            };
            let (coarse, fine) = (error(16), error(64));
            println!("{name} at {level}: {coarse:.5?} {fine:.5?}");
            for i in 0..2 {
                // Cells are halved twice: a factor of 16 at second order, of 4 at first.
                assert!(
                    coarse[i] > 10.0 * fine[i],
                    "{name} {level}: {coarse:?} {fine:?}"
                );
                assert!(fine[i] < 1e-2, "{name} {level}: {fine:?}");
            }
        }
    }
}

#[test]
fn joined_solids_formulas_and_grids_have_clean_surfaces() {
    let ball = Sphere::new(0.5).unwrap();
    let block = Cuboid::new(Vec3::new(0.6, 0.3, 0.4)).unwrap();
    let turned_block = Transformed::new(block, turned(1), 1.0).unwrap();
    let declared = Declared {
        bounds: Aabb::from_center(Vec3::ZERO, Vec3::splat(3.0)),
        lipschitz: 3.0f32.sqrt(),
        meaning: Meaning::Bound,
        error_bound: 1e-6,
    };
    let gyroid = |p: Vec3| p.x.sin() * p.y.cos() + p.y.sin() * p.z.cos() + p.z.sin() * p.x.cos();
    let settings = BakeSettings {
        resolution: Resolution::Nodes(40),
        ..Default::default()
    };
    let mug = bake_quietly(&model("mug"), &settings).unwrap().field;
    let fields: Vec<(&str, Box<dyn Field>)> = vec![
        (
            "union",
            Box::new(Union {
                first: ball,
                second: block,
            }),
        ),
        (
            "difference",
            Box::new(Difference {
                first: block,
                second: ball,
            }),
        ),
        (
            "turned",
            Box::new(Difference {
                first: turned_block,
                second: ball,
            }),
        ),
        ("shell", Box::new(Wall::new(ball, 0.1).unwrap())),
        ("gyroid", Box::new(Closure::new(gyroid, declared).unwrap())),
        ("mug", Box::new(mug)),
    ];
    for (name, field) in fields {
        let size = field.bounds().diagonal();
        for level in [0.0, 0.02 * size, -0.01 * size] {
            for n in [20, 37] {
                match isosurface(&*field, level, &cells(n)) {
                    // The mug's wall is thinner than twice that.
                    Err(IsosurfaceError::Empty { .. }) if level < 0.0 => {}
                    _ => drop(clean(name, &*field, level, &cells(n))),
                }
            }
        }
    }
}

/// Nodes lie exactly on faces, edges and corners of the box, and on the poles of the ball.
#[test]
fn a_level_met_at_nodes_leaves_no_flat_face_and_no_crack() {
    let block = Cuboid::new(Vec3::new(0.5, 0.25, 0.5)).unwrap();
    let settings = IsosurfaceSettings {
        cells: 16,
        bounds: Some(Aabb::from_center(Vec3::ZERO, Vec3::splat(1.0))),
        ..Default::default()
    };
    for level in [0.0, 0.125, -0.125] {
        let mesh = clean("block", &block, level, &settings);
        let off = worst(&block, level, &mesh);
        assert!(off <= 2.0 / 1024.0 * 3.0f64.sqrt() * 0.125, "{off}");
        let ball = Sphere::new(0.5).unwrap();
        clean("ball", &ball, level, &settings);
        // Many nodes exactly on the level: the plane between two cells, cut off by the border.
        clean(
            "ground",
            &HalfSpace::new(Vec3::Z, 0.0).unwrap(),
            level,
            &settings,
        );
    }
    let exact = 8.0 * 0.5 * 0.25 * 0.5;
    let volume = clean("block", &block, 0.0, &settings).signed_volume();
    assert!((volume / exact - 1.0).abs() < 0.05, "{volume} {exact}");
}

#[test]
fn what_leaves_the_box_is_closed_off_there() {
    let ball = Sphere::new(1.0).unwrap();
    let bounds = Aabb::new(Vec3::ZERO, Vec3::splat(2.0));
    let settings = IsosurfaceSettings {
        cells: 40,
        bounds: Some(bounds),
        ..Default::default()
    };
    let mesh = clean("eighth", &ball, 0.0, &settings);
    let eighth = PI / 6.0;
    assert!(
        (mesh.signed_volume() / eighth - 1.0).abs() < 1e-2,
        "{}",
        mesh.signed_volume()
    );
    assert!(mesh.vertices.iter().all(|v| bounds.contains(v.as_vec3())));
    // The whole box is inside.
    let everything = Sphere::new(9.0).unwrap();
    let mesh = clean("everything", &everything, 0.0, &settings);
    assert!(
        (mesh.signed_volume() / 8.0 - 1.0).abs() < 2e-3,
        "{}",
        mesh.signed_volume()
    );
}

/// Walls thinner than a cell in places: the part that is resolved is still closed.
#[test]
fn thin_walls_are_closed_as_far_as_they_are_seen() {
    for (seed, thickness) in [(1, 0.2), (2, 0.08), (3, 0.05), (4, 0.03)] {
        let wall = Wall::new(Sphere::new(0.5).unwrap(), thickness).unwrap();
        let wall = Transformed::new(wall, turned(seed), 1.0).unwrap();
        clean("wall", &wall, 0.0, &cells(20));
    }
}

/// A field that breaks every promise: random values, and intervals that contradict them.
struct Liar {
    seed: u64,
}

impl Liar {
    fn random(&self, point: Vec3) -> f64 {
        let [x, y, z] = point.to_array().map(|c| u64::from(c.to_bits()));
        let mixed = x.wrapping_mul(0x9E37_79B9) ^ y.rotate_left(21) ^ z.wrapping_mul(0xC2B2_AE35);
        Random::new(mixed ^ self.seed).uniform(-1.0, 1.0)
    }
}

impl Field for Liar {
    fn bounds(&self) -> Aabb {
        Aabb::from_center(Vec3::ZERO, Vec3::ONE)
    }
    fn error_bound(&self) -> f32 {
        0.0
    }
    fn distance(&self, point: Vec3) -> f32 {
        self.random(point) as f32
    }
    fn sample(&self, _: Vec3) -> Sample {
        Sample::default()
    }
    fn interval(&self, cell: Aabb) -> Interval {
        match self.random(cell.center()) {
            // If every interval lied, nothing would be left to extract.
            _ if cell.diagonal() > 2.0 => Interval::EVERYTHING,
            lie if lie < -0.5 => Interval::new(-2.0, -1.0),
            lie if lie > 0.5 => Interval::new(1.0, 2.0),
            _ => Interval::EVERYTHING,
        }
    }
}

#[test]
fn even_a_field_that_lies_has_a_closed_surface() {
    for seed in 0..6 {
        clean("liar", &Liar { seed }, 0.0, &cells(30));
    }
}

#[test]
fn the_number_of_threads_leaves_no_trace() {
    let field = Difference {
        first: Cuboid::new(Vec3::splat(0.5)).unwrap(),
        second: Sphere::new(0.55).unwrap(),
    };
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
            .install(|| isosurface(&field, 0.0, &cells(48)).unwrap())
    };
    assert_eq!(on(1), on(2));
    assert_eq!(on(1), on(5));
}

#[test]
fn what_has_no_isosurface_is_refused_with_the_reason() {
    let ball = Sphere::new(0.5).unwrap();
    let refused = |field: &dyn Field, level, settings: IsosurfaceSettings| {
        isosurface(field, level, &settings).unwrap_err()
    };
    assert_eq!(
        refused(&ball, -0.6, cells(20)),
        IsosurfaceError::Empty { level: -0.6 }
    );
    for bad in [0, 3, 4097] {
        assert_eq!(
            refused(&ball, 0.0, cells(bad)),
            IsosurfaceError::BadCells { cells: bad }
        );
    }
    let found = refused(&ball, f32::NAN, cells(20));
    assert!(matches!(found, IsosurfaceError::BadLevel { .. }), "{found}");
    let ground = HalfSpace::new(Vec3::Z, 0.0).unwrap();
    let found = refused(&ground, 0.0, cells(20));
    assert!(matches!(found, IsosurfaceError::BadBounds(_)), "{found}");
    let far = Transformed::new(ball, Pose::from_translation(Vec3::X * 1e6), 1.0).unwrap();
    let found = refused(&far, 0.0, cells(20));
    assert!(matches!(found, IsosurfaceError::TooFine { .. }), "{found}");
    for allowed in [0, 1000, 1_000_000] {
        let settings = IsosurfaceSettings {
            cells: 100,
            max_memory: allowed,
            ..Default::default()
        };
        let found = refused(&ball, 0.0, settings);
        assert_eq!(found, IsosurfaceError::TooMuchMemory { allowed });
        assert!(found.is_limit());
    }
}
