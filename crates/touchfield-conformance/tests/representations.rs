//! Every field representation passes the suite of all fields, on the same closed forms, in random
//! poses.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use glam::{DQuat, DVec3, Vec3};
use touchfield::field::{Field, Meaning, Sample};
use touchfield::geom::{Aabb, Interval};
use touchfield::mesh::{TriangleMesh, generate};
use touchfield_conformance::closed_forms;
use touchfield_conformance::field_suite::check_field;
use touchfield_conformance::meshes::*;
use touchfield_conformance::random::Random;
use touchfield_conformance::representations::ALL;

/// A field of a mesh, treated as one of the shape that the mesh represents.
struct OfShape<'a> {
    field: &'a dyn Field,
    /// Greatest distance of the mesh from the shape \[m\].
    deviation: f32,
}

impl Field for OfShape<'_> {
    fn bounds(&self) -> Aabb {
        self.field.bounds()
    }

    fn error_bound(&self) -> f32 {
        self.field.error_bound() + self.deviation
    }

    fn distance(&self, point: Vec3) -> f32 {
        self.sample(point).distance
    }

    fn sample(&self, point: Vec3) -> Sample {
        let mut sample = self.field.sample(point);
        if !self.bounds().contains(point) {
            sample.distance -= self.deviation;
        }
        sample
    }

    fn interval(&self, cell: Aabb) -> Interval {
        // Adds rounding, for deviations that are negligible beside the distance.
        let interval = self.field.interval(cell);
        let largest = interval.lower.abs().max(interval.upper.abs());
        match largest.is_finite() {
            true => interval.grown(self.deviation + f32::EPSILON * largest),
            false => interval,
        }
    }

    fn meaning(&self) -> Meaning {
        self.field.meaning()
    }
}

struct Shape {
    name: &'static str,
    mesh: TriangleMesh,
    truth: Box<dyn Fn(DVec3) -> f64>,
}

/// Returns shapes: sharp, smooth, and with a hole through it.
fn shapes() -> Vec<Shape> {
    let half = DVec3::new(1.0, 0.4, 0.7);
    let ring = generate::Torus {
        major_radius: 1.0,
        minor_radius: 0.4,
        major_segments: 128,
        minor_segments: 64,
    };
    vec![
        Shape {
            name: "box",
            mesh: squeezed(cube(2), half),
            truth: Box::new(closed_forms::cuboid(half)),
        },
        Shape {
            name: "ball",
            mesh: icosphere(1.0, 4),
            truth: Box::new(|p| p.length() - 1.0),
        },
        Shape {
            name: "ring",
            mesh: generate::torus(ring).unwrap(),
            truth: Box::new(|p: DVec3| (p.truncate().length() - 1.0).hypot(p.z) - 0.4),
        },
    ]
}

/// Returns the greatest distance from the shape over many points of each triangle, with a margin
/// for those between.
fn deviation(shape: &Shape) -> f32 {
    const STEPS: u32 = 6;
    let mut worst = 0.0f64;
    for triangle in shape.mesh.triangles() {
        let [a, b, c] = triangle.corners();
        for i in 0..=STEPS {
            for j in 0..=STEPS - i {
                let (u, v) = (
                    f64::from(i) / f64::from(STEPS),
                    f64::from(j) / f64::from(STEPS),
                );
                let point = a + u * (b - a) + v * (c - a);
                worst = worst.max((shape.truth)(point).abs());
            }
        }
    }
    1.1 * worst as f32 + 1e-6
}

#[test]
fn all_pass_the_suite_on_closed_forms_in_random_poses() {
    let mut random = Random::new(21);
    for shape in shapes() {
        let deviation = deviation(&shape);
        assert!(deviation < 3e-3, "{}: {deviation}", shape.name);
        for representation in ALL {
            let rotation: DQuat = random.quaternion();
            let offset = random.in_box(DVec3::splat(-2.0), DVec3::splat(2.0));
            let mut mesh = shape.mesh.clone();
            for vertex in &mut mesh.vertices {
                *vertex = rotation * *vertex + offset;
            }
            let truth = |p: DVec3| (shape.truth)(rotation.inverse() * (p - offset));
            let stored = representation.bake(&mesh, 40).unwrap();
            let field = OfShape {
                field: &stored,
                deviation,
            };
            let name = format!("{}, {}", shape.name, representation.name());
            match check_field(&field, Some(&truth), &name, 1, 1500) {
                Ok(report) => println!("{report}"),
                Err(broken) => panic!("{broken}"),
            }
        }
    }
}

/// The suite must be able to fail: each field with one thing made wrong.
#[test]
fn a_field_that_lies_fails_the_suite() {
    struct Lying<'a>(&'a dyn Field, usize);
    impl Field for Lying<'_> {
        fn bounds(&self) -> Aabb {
            self.0.bounds()
        }
        fn error_bound(&self) -> f32 {
            match self.1 {
                0 => 0.02 * self.0.error_bound(),
                _ => self.0.error_bound(),
            }
        }
        fn distance(&self, point: Vec3) -> f32 {
            self.sample(point).distance
        }
        fn sample(&self, point: Vec3) -> Sample {
            let mut sample = self.0.sample(point);
            let outside = !self.bounds().contains(point);
            match self.1 {
                1 if outside => sample.distance += 3.0 * self.0.error_bound(),
                2 => sample.gradient = -sample.gradient,
                3 if point.x > 0.1 => sample.distance = -sample.distance,
                _ => {}
            }
            sample
        }
        fn interval(&self, cell: Aabb) -> Interval {
            let interval = self.0.interval(cell);
            match self.1 {
                4 if interval.width().is_finite() => {
                    Interval::around(0.5 * (interval.lower + interval.upper), 1e-3)
                }
                _ => interval,
            }
        }
        fn meaning(&self) -> Meaning {
            self.0.meaning()
        }
    }
    let half = DVec3::new(1.0, 0.4, 0.7);
    let truth = closed_forms::cuboid(half);
    for representation in ALL {
        let stored = representation.bake(&squeezed(cube(2), half), 40).unwrap();
        for lie in 0..5 {
            let lying = Lying(&stored, lie);
            let verdict = check_field(&lying, Some(&truth), "lying", 1, 4000);
            let told = verdict.as_ref().err();
            println!("{}, lie {lie}: {told:?}", representation.name());
            assert!(told.is_some(), "{}: {lie}", representation.name());
        }
    }
}
