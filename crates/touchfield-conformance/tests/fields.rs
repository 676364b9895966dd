//! Every analytic field against its truth in `f64`; and broken fields, to see that the suite sees.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DQuat, DVec2, DVec3, Quat, Vec2, Vec3};
use touchfield::field::primitive::*;
use touchfield::field::*;
use touchfield::geom::{Aabb, Interval, Pose};
use touchfield_conformance::closed_forms::{self, Piece};
use touchfield_conformance::field_suite::{FieldReport, check_field};
use touchfield_conformance::random::Random;

const POINTS: usize = 4000;

#[track_caller]
fn passes(field: &dyn Field, truth: &dyn Fn(DVec3) -> f64, name: &str) -> FieldReport {
    let mut report = None;
    for seed in 1..=3 {
        match check_field(field, Some(truth), name, seed, POINTS) {
            Ok(found) => report = Some(found),
            Err(broken) => panic!("{broken}"),
        }
    }
    let report = report.unwrap();
    println!("{report}");
    report
}

#[track_caller]
fn fails(field: &dyn Field, truth: &dyn Fn(DVec3) -> f64, because: &str) {
    let broken = check_field(field, Some(truth), "broken", 1, POINTS)
        .expect_err("the suite let a broken field pass");
    assert!(broken.contains(because), "expected '{because}': {broken}");
}

/// From millimetres to a hundred metres, and the limits a reader would ask for.
const SCALES: [f32; 4] = [1e-6, 0.013, 1.0, 137.5];

fn arc(r: f64, z: f64, radius: f64, from: f64, to: f64) -> Piece {
    Piece::Arc {
        center: DVec2::new(r, z),
        radius,
        from,
        to,
    }
}

fn ball_truth(radius: f32) -> impl Fn(DVec3) -> f64 {
    let radius = f64::from(radius);
    closed_forms::revolved(
        vec![arc(0.0, 0.0, radius, -FRAC_PI_2, FRAC_PI_2)],
        move |p| p.length() < radius,
    )
}

fn polygon(corners: &[(f32, f32)]) -> Vec<DVec2> {
    corners
        .iter()
        .map(|&(x, y)| DVec2::new(x.into(), y.into()))
        .collect()
}

#[test]
fn spheres() {
    for radius in SCALES {
        passes(&Sphere::new(radius).unwrap(), &ball_truth(radius), "sphere");
    }
    passes(&Sphere::new(0.0).unwrap(), &|p| p.length(), "point");
}

#[test]
fn cuboids_sharp_and_flat() {
    for scale in SCALES {
        for shape in [
            Vec3::ONE,
            Vec3::new(1.0, 0.3, 2.7),
            Vec3::new(1.0, 1e-3, 0.5),
        ] {
            let half = scale * shape;
            passes(
                &Cuboid::new(half).unwrap(),
                &closed_forms::cuboid(half.as_dvec3()),
                "box",
            );
        }
    }
    let plate = Vec3::new(1.0, 2.0, 0.0);
    passes(
        &Cuboid::new(plate).unwrap(),
        &closed_forms::cuboid(plate.as_dvec3()),
        "plate",
    );
}

#[test]
fn rounded_cuboids() {
    for (half, radius) in [
        (Vec3::new(1.0, 0.5, 2.0), 0.2f32),
        (Vec3::new(1.0, 0.5, 2.0), 0.5),
        (Vec3::ONE, 1.0),
        (Vec3::ONE, 0.0),
    ] {
        // Truth by other means: the distance to the core box outside it, its six planes inside.
        let core = half.as_dvec3() - f64::from(radius);
        let sharp = closed_forms::cuboid(core);
        let truth = move |p: DVec3| {
            let outside = p.distance(p.clamp(-core, core));
            if outside > 0.0 {
                outside - f64::from(radius)
            } else {
                -sharp(p).abs() - f64::from(radius)
            }
        };
        passes(
            &RoundedCuboid::new(half, radius).unwrap(),
            &truth,
            "rounded box",
        );
    }
}

#[test]
fn capsules() {
    for scale in SCALES {
        for (half, radius) in [(1.0, 0.4), (0.0, 1.0), (2.0, 0.01)] {
            let (half, radius) = (scale * half, scale * radius);
            let (h, r) = (f64::from(half), f64::from(radius));
            let truth = closed_forms::revolved(
                vec![
                    arc(0.0, -h, r, -FRAC_PI_2, 0.0),
                    Piece::Segment(DVec2::new(r, -h), DVec2::new(r, h)),
                    arc(0.0, h, r, 0.0, FRAC_PI_2),
                ],
                move |p| p.distance(DVec2::new(0.0, p.y.clamp(-h, h))) < r,
            );
            passes(&Capsule::new(half, radius).unwrap(), &truth, "capsule");
        }
    }
}

#[test]
fn cylinders_with_their_rims() {
    for scale in SCALES {
        for (half, radius) in [(1.0, 0.4), (0.01, 1.0), (2.0, 0.01)] {
            let (h, r) = (scale * half, scale * radius);
            let truth =
                closed_forms::revolved_polygon(polygon(&[(0.0, -h), (r, -h), (r, h), (0.0, h)]));
            passes(&Cylinder::new(h, r).unwrap(), &truth, "cylinder");
        }
    }
}

#[test]
fn cones_and_frustums() {
    for scale in SCALES {
        for (half, base, top) in [
            (1.0, 0.7, 0.0),
            (0.5, 1.0, 0.4),
            (0.5, 0.2, 0.9),
            (1.0, 0.5, 0.5),
            (1e-4, 1.0, 0.0), // nearly flat: the sign must come from the line, not from the slant's offset
            (1e-8, 1.0, 0.0), // thinner than its rounding
            (3.0, 0.01, 0.0),
        ] {
            let (h, b, t) = (scale * half, scale * base, scale * top);
            let corners = if t > 0.0 {
                polygon(&[(0.0, -h), (b, -h), (t, h), (0.0, h)])
            } else {
                polygon(&[(0.0, -h), (b, -h), (0.0, h)])
            };
            let truth = closed_forms::revolved_polygon(corners);
            passes(&Cone::frustum(h, b, t).unwrap(), &truth, "cone");
        }
    }
}

#[test]
fn tori() {
    for scale in SCALES {
        for (major, minor) in [(1.0, 0.25), (1.0, 1.0), (1.0, 0.001)] {
            let (major, minor) = (scale * major, scale * minor);
            let (a, b) = (f64::from(major), f64::from(minor));
            let truth = closed_forms::revolved(vec![arc(a, 0.0, b, 0.0, TAU)], move |p| {
                p.distance(DVec2::new(a, 0.0)) < b
            });
            passes(&Torus::new(major, minor).unwrap(), &truth, "torus");
        }
    }
}

#[test]
fn limits_without_volume_are_discs_segments_circles_and_points() {
    let nowhere = |_: DVec2| false;
    let disc = || closed_forms::revolved(vec![Piece::Segment(DVec2::ZERO, DVec2::X)], nowhere);
    passes(&Cylinder::new(0.0, 1.0).unwrap(), &disc(), "flat cylinder");
    passes(&Cone::new(0.0, 1.0).unwrap(), &disc(), "flat cone");
    passes(
        &Cone::frustum(0.0, 0.5, 1.0).unwrap(),
        &disc(),
        "flat frustum",
    );
    passes(&Cone::frustum(0.0, 1.0, 1.0).unwrap(), &disc(), "disc");
    let segment = || closed_forms::revolved(vec![Piece::Segment(DVec2::NEG_Y, DVec2::Y)], nowhere);
    passes(&Cylinder::new(1.0, 0.0).unwrap(), &segment(), "segment");
    passes(&Capsule::new(1.0, 0.0).unwrap(), &segment(), "segment");
    passes(&Cone::new(1.0, 0.0).unwrap(), &segment(), "segment");
    let circle = closed_forms::revolved(vec![Piece::Segment(DVec2::X, DVec2::X)], nowhere);
    passes(&Torus::new(1.0, 0.0).unwrap(), &circle, "circle");
    let point = |p: DVec3| p.length();
    passes(&Torus::new(0.0, 0.0).unwrap(), &point, "point");
    passes(&Capsule::new(0.0, 0.0).unwrap(), &point, "point");
    passes(&Cone::new(0.0, 0.0).unwrap(), &point, "point");
    passes(&Cuboid::new(Vec3::ZERO).unwrap(), &point, "point");
}

#[test]
fn half_spaces() {
    for (normal, offset) in [
        (Vec3::Z, 0.0f32),
        (-Vec3::Y, 2.5),
        (Vec3::new(1.0, -2.0, 0.5), -3.0),
    ] {
        let unit = normal.as_dvec3().normalize();
        let truth = move |p: DVec3| p.dot(unit) - f64::from(offset);
        passes(
            &HalfSpace::new(normal, offset).unwrap(),
            &truth,
            "half-space",
        );
    }
}

#[test]
fn terrain() {
    let mut random = Random::new(11);
    for (columns, rows, spacing, relief) in [
        (9usize, 7usize, Vec2::new(0.5, 0.8), 0.6),
        (6, 6, Vec2::ONE, 6.0),
        (2, 2, Vec2::new(3.0, 1.0), 1.0),
    ] {
        let heights: Vec<f32> = (0..columns * rows)
            .map(|_| random.uniform(0.2, 0.2 + relief) as f32)
            .collect();
        let base = -0.5;
        let field = HeightField::new(heights.clone(), columns, spacing, base).unwrap();
        let truth = closed_forms::terrain(
            |c, r| heights[r * columns + c].into(),
            columns,
            rows,
            spacing.as_dvec2(),
            base.into(),
        );
        passes(&field, &truth, "height field");
    }
}

#[test]
fn fields_moved_turned_and_scaled() {
    let mut random = Random::new(5);
    for scale in [1e-12f32, 0.01, 1.0, 40.0, 1e12] {
        for reach in [1.0, 1e3] {
            let pose = Pose {
                rotation: random.quaternion().as_quat(),
                translation: (reach * random.unit_vector()).as_vec3(),
            };
            let half = Vec3::new(1.0, 0.4, 0.7);
            let own = closed_forms::cuboid(half.as_dvec3());
            let turned: DQuat = pose.rotation.as_dquat().normalize();
            let truth = move |p: DVec3| {
                let scale = f64::from(scale);
                scale * own(turned.inverse() * (p - pose.translation.as_dvec3()) / scale)
            };
            let field = Transformed::new(Cuboid::new(half).unwrap(), pose, scale).unwrap();
            assert_eq!(field.meaning(), Meaning::Distance);
            passes(&field, &truth, "transformed box");
        }
    }
    let tilted = Pose {
        rotation: Quat::from_rotation_x(0.3),
        translation: Vec3::new(0.0, 1.0, 2.0),
    };
    let unit = tilted.rotation.as_dquat().normalize() * DVec3::Z;
    let truth = move |p: DVec3| (p - tilted.translation.as_dvec3()).dot(unit);
    let floor = HalfSpace::new(Vec3::Z, 0.0).unwrap();
    passes(
        &Transformed::new(floor, tilted, 1.0).unwrap(),
        &truth,
        "tilted floor",
    );
}

fn moved<F: Field>(field: F, x: f32, y: f32, z: f32) -> Transformed<F> {
    Transformed::new(field, Pose::from_translation(Vec3::new(x, y, z)), 1.0).unwrap()
}

/// Two balls of the given radius around z = ±c on the z axis.
#[derive(Clone, Copy)]
struct Pair {
    c: f64,
    radius: f64,
}

impl Pair {
    /// Angle above the horizontal at which the lower circle enters the upper ball; straight up if they are apart.
    fn cut(self) -> f64 {
        (self.c / self.radius).min(1.0).asin()
    }

    fn union_arcs(self) -> Vec<Piece> {
        vec![
            arc(0.0, self.c, self.radius, -self.cut(), FRAC_PI_2),
            arc(0.0, -self.c, self.radius, -FRAC_PI_2, self.cut()),
        ]
    }

    fn lens_arcs(self) -> Vec<Piece> {
        vec![
            arc(0.0, self.c, self.radius, -FRAC_PI_2, -self.cut()),
            arc(0.0, -self.c, self.radius, self.cut(), FRAC_PI_2),
        ]
    }

    fn in_upper(self, p: DVec2) -> bool {
        p.distance(DVec2::new(0.0, self.c)) < self.radius
    }

    fn in_lower(self, p: DVec2) -> bool {
        p.distance(DVec2::new(0.0, -self.c)) < self.radius
    }

    fn union(self) -> impl Fn(DVec3) -> f64 {
        closed_forms::revolved(self.union_arcs(), move |p| {
            self.in_upper(p) || self.in_lower(p)
        })
    }

    fn lens(self) -> impl Fn(DVec3) -> f64 {
        closed_forms::revolved(self.lens_arcs(), move |p| {
            self.in_upper(p) && self.in_lower(p)
        })
    }
}

type Ball = Transformed<Sphere>;

/// Unit balls at ±c.
fn unit_balls(c: f32) -> (Ball, Ball) {
    let ball = Sphere::new(1.0).unwrap();
    (moved(ball, 0.0, 0.0, c), moved(ball, 0.0, 0.0, -c))
}

#[test]
fn unions_of_balls_overlapping_and_apart() {
    for c in [0.25f32, 0.75, 1.5] {
        let (first, second) = unit_balls(c);
        let truth = Pair {
            c: c.into(),
            radius: 1.0,
        }
        .union();
        passes(&Union { first, second }, &truth, "union of balls");
    }
}

#[test]
fn intersections_and_differences_of_balls() {
    let (first, second) = unit_balls(0.6);
    let pair = Pair {
        c: 0.6f32.into(),
        radius: 1.0,
    };
    let lens = Intersection { first, second };
    passes(&lens, &pair.lens(), "intersection of balls");
    let bitten =
        closed_forms::revolved(vec![pair.union_arcs()[0], pair.lens_arcs()[1]], move |p| {
            pair.in_upper(p) && !pair.in_lower(p)
        });
    let field = Difference { first, second };
    passes(&field, &bitten, "difference of balls");
    let (first, second) = unit_balls(1.5);
    let nothing = Intersection { first, second };
    passes(&nothing, &|_| f64::INFINITY, "nothing");
}

/// Operands that are only bounds: the solid is the level set of the operand's *values*.
#[test]
fn level_sets_of_unions_and_intersections() {
    let (first, second) = unit_balls(0.5);
    let both = Union { first, second };
    let lens = Intersection { first, second };
    let balls = |radius| Pair { c: 0.5, radius };
    for by in [0.25f32, -0.25] {
        let radius = f64::from(1.0 + by);
        let field = Offset::new(both, by).unwrap();
        passes(&field, &balls(radius).union(), "offset of a union");
        let field = Offset::new(lens, by).unwrap();
        passes(&field, &balls(radius).lens(), "offset of an intersection");
    }
    let (inner, outer) = (balls(0.875), balls(1.125));
    let wall = |pieces: [Vec<Piece>; 2], inside: fn(Pair, DVec2) -> bool| {
        closed_forms::revolved(pieces.concat(), move |p| {
            inside(outer, p) && !inside(inner, p)
        })
    };
    let truth = wall([inner.union_arcs(), outer.union_arcs()], |pair, p| {
        pair.in_upper(p) || pair.in_lower(p)
    });
    passes(&Shell::new(both, 0.25).unwrap(), &truth, "shell of a union");
    let truth = wall([inner.lens_arcs(), outer.lens_arcs()], |pair, p| {
        pair.in_upper(p) && pair.in_lower(p)
    });
    passes(
        &Shell::new(lens, 0.25).unwrap(),
        &truth,
        "shell of an intersection",
    );
}

#[test]
fn trees_of_operations_in_one_box() {
    // (ball ∪ ball) ∩ below, turned upside down and doubled, behind a pointer.
    let (first, second) = unit_balls(0.5);
    let tree = Intersection {
        first: Union { first, second },
        second: HalfSpace::new(Vec3::Z, 0.0).unwrap(),
    };
    let upside_down = Pose {
        rotation: Quat::from_xyzw(1.0, 0.0, 0.0, 0.0),
        translation: Vec3::new(1.0, 2.0, 3.0),
    };
    let field: Box<dyn Field> = Box::new(Transformed::new(tree, upside_down, 2.0).unwrap());
    let pair = Pair {
        c: 0.5,
        radius: 1.0,
    };
    let waist = 0.75f64.sqrt();
    let own = closed_forms::revolved(
        vec![
            pair.union_arcs()[1],
            Piece::Segment(DVec2::ZERO, DVec2::new(waist, 0.0)),
        ],
        move |p| p.y < 0.0 && pair.in_lower(p),
    );
    let truth = move |p: DVec3| {
        let moved = (p - DVec3::new(1.0, 2.0, 3.0)) * DVec3::new(1.0, -1.0, -1.0);
        2.0 * own(moved / 2.0)
    };
    passes(&field, &truth, "tree");
}

#[test]
fn boxes_joined_to_an_l_and_cut_to_one() {
    let slab = |x: f32, y: f32| Cuboid::new(Vec3::new(x, y, 0.5)).unwrap();
    let l = [
        (0.0, 0.0),
        (3.0, 0.0),
        (3.0, 1.0),
        (1.0, 1.0),
        (1.0, 2.0),
        (0.0, 2.0),
    ];
    let truth = closed_forms::extruded_polygon(polygon(&l), 0.5);
    let joined = Union {
        first: moved(slab(1.5, 0.5), 1.5, 0.5, 0.0),
        second: moved(slab(0.5, 1.0), 0.5, 1.0, 0.0),
    };
    passes(&joined, &truth, "L of two boxes");
    let cut = Difference {
        first: moved(slab(1.5, 1.0), 1.5, 1.0, 0.0),
        second: moved(
            Cuboid::new(Vec3::new(1.0, 0.5, 2.0)).unwrap(),
            2.0,
            1.5,
            0.0,
        ),
    };
    // The cut shares two faces with the box: there its value is the rounding of the two.
    passes(&cut, &truth, "L cut from a box");
}

#[test]
fn balls_cut_by_planes() {
    let hemisphere = Intersection {
        first: Sphere::new(1.0).unwrap(),
        second: HalfSpace::new(Vec3::Z, 0.0).unwrap(),
    };
    let truth = closed_forms::revolved(
        vec![
            arc(0.0, 0.0, 1.0, -FRAC_PI_2, 0.0),
            Piece::Segment(DVec2::ZERO, DVec2::X),
        ],
        |p| p.length() < 1.0 && p.y < 0.0,
    );
    passes(&hemisphere, &truth, "hemisphere");
    let same = Difference {
        first: Sphere::new(1.0).unwrap(),
        second: HalfSpace::new(-Vec3::Z, 0.0).unwrap(),
    };
    passes(&same, &truth, "ball without its upper half");
    let floor_with_ball = Union {
        first: Sphere::new(1.0).unwrap(),
        second: HalfSpace::new(Vec3::Z, 0.0).unwrap(),
    };
    let truth = closed_forms::revolved(
        vec![
            arc(0.0, 0.0, 1.0, 0.0, FRAC_PI_2),
            Piece::Segment(DVec2::X, DVec2::X * 1e32),
        ],
        |p| p.length() < 1.0 || p.y < 0.0,
    );
    passes(&floor_with_ball, &truth, "ball in a floor");
}

#[test]
fn offsets_of_convex_and_of_hollow_solids() {
    let (h, r) = (1.0f32, 0.5f32);
    let cylinder = Cylinder::new(h, r).unwrap();
    let g = 0.25;
    let grown = closed_forms::revolved(
        vec![
            Piece::Segment(DVec2::new(0.0, -1.25), DVec2::new(0.5, -1.25)),
            arc(0.5, -1.0, g, -FRAC_PI_2, 0.0),
            Piece::Segment(DVec2::new(0.75, -1.0), DVec2::new(0.75, 1.0)),
            arc(0.5, 1.0, g, 0.0, FRAC_PI_2),
            Piece::Segment(DVec2::new(0.0, 1.25), DVec2::new(0.5, 1.25)),
        ],
        |p| p.distance(DVec2::new(p.x.min(0.5), p.y.clamp(-1.0, 1.0))) < 0.25,
    );
    let field = Offset::new(cylinder, 0.25).unwrap();
    passes(&field, &grown, "grown cylinder");
    let shrunk = closed_forms::revolved_polygon(polygon(&[
        (0.0, -0.75),
        (0.25, -0.75),
        (0.25, 0.75),
        (0.0, 0.75),
    ]));
    let field = Offset::new(cylinder, -0.25).unwrap();
    passes(&field, &shrunk, "shrunk cylinder");
    let gone = Offset::new(cylinder, -0.75).unwrap();
    passes(&gone, &|_| f64::INFINITY, "shrunk to nothing");

    // A ring whose hole is filled: deeper in the middle than the formula says.
    let truth = closed_forms::revolved(
        vec![
            arc(1.0, 0.0, 1.25, -FRAC_PI_2, FRAC_PI_2),
            arc(1.0, 0.0, 1.25, FRAC_PI_2, PI - 0.8f64.acos()),
            arc(1.0, 0.0, 1.25, PI + 0.8f64.acos(), PI + FRAC_PI_2),
        ],
        |p| p.distance(DVec2::X) < 1.25,
    );
    let ring = Torus::new(1.0, 0.25).unwrap();
    let field = Offset::new(ring, 1.0).unwrap();
    let report = passes(&field, &truth, "filled ring");
    assert!(report.worst_shortfall > 0.1, "{report}");
    assert_eq!(Offset::new(ring, 0.0).unwrap().meaning(), Meaning::Distance);
}

#[test]
fn shells_of_balls_thin_and_filled() {
    for (radius, thickness) in [(1.0f32, 0.25f32), (1.0, 0.0), (0.5, 2.0)] {
        let field = Shell::new(Sphere::new(radius).unwrap(), thickness).unwrap();
        let (inner, outer) = (
            f64::from(radius - 0.5 * thickness),
            f64::from(radius + 0.5 * thickness),
        );
        let truth = move |p: DVec3| {
            let r = p.length();
            if inner <= 0.0 {
                return r - outer;
            }
            let nearest = (r - inner).abs().min((r - outer).abs());
            if inner < r && r < outer {
                -nearest
            } else {
                nearest
            }
        };
        passes(&field, &truth, "shell");
    }
}

#[test]
fn closures_as_distances_as_bounds_and_with_gradients() {
    let declared = Declared {
        bounds: Aabb::from_center(Vec3::ZERO, Vec3::splat(1.5)),
        lipschitz: 1.0,
        meaning: Meaning::Distance,
        error_bound: 2e-6,
    };
    let truth = ball_truth(1.0);
    let ball = |p: Vec3| p.length() - 1.0;
    let plain = Closure::new(ball, declared).unwrap();
    passes(&plain, &truth, "closure");
    let with_gradient = Closure::new(ball, declared)
        .unwrap()
        .with_gradient(|p| p.normalize_or_zero());
    passes(&with_gradient, &truth, "closure with gradient");
    let steep = Declared {
        lipschitz: 4.0,
        ..declared
    };
    let scaled = Closure::new(|p: Vec3| 3.0 * (p.length() - 1.0), steep).unwrap();
    assert_eq!(scaled.meaning(), Meaning::Bound);
    passes(&scaled, &truth, "closure as a bound");
    let endless = Declared {
        bounds: Aabb::EVERYTHING,
        error_bound: 1e-4,
        ..declared
    };
    let floor = Closure::new(|p: Vec3| p.z, endless).unwrap();
    passes(&floor, &|p| p.z, "closure without end");
    for refused in [
        Declared {
            lipschitz: 0.0,
            ..declared
        },
        Declared {
            lipschitz: f32::NAN,
            ..declared
        },
        Declared {
            error_bound: -1.0,
            ..declared
        },
        Declared {
            bounds: Aabb::EMPTY,
            ..declared
        },
    ] {
        assert!(Closure::new(ball, refused).is_err(), "{refused:?}");
    }
}

#[test]
fn a_closure_that_returns_nan_leaves_no_nan() {
    let declared = Declared {
        bounds: Aabb::from_center(Vec3::ZERO, Vec3::ONE),
        lipschitz: 1.0,
        meaning: Meaning::Bound,
        error_bound: 1e-6,
    };
    let field = Closure::new(|_: Vec3| f32::NAN, declared)
        .unwrap()
        .with_gradient(|_| Vec3::NAN);
    check_field(&field, None, "NaN", 1, POINTS).unwrap();
}

/// A unit ball with one thing wrong.
#[derive(Clone, Copy)]
struct Broken {
    value: fn(f32, Vec3) -> f32,
    gradient: fn(Vec3) -> Vec3,
    error_bound: f32,
    meaning: Meaning,
    interval: fn(Interval) -> Interval,
    batch: fn(f32) -> f32,
}

const SOUND: Broken = Broken {
    value: |d, _| d,
    gradient: |g| g,
    error_bound: 1e-6,
    meaning: Meaning::Distance,
    interval: |i| i,
    batch: |d| d,
};

impl Field for Broken {
    fn bounds(&self) -> Aabb {
        Aabb::from_center(Vec3::ZERO, Vec3::ONE)
    }
    fn error_bound(&self) -> f32 {
        self.error_bound
    }
    fn meaning(&self) -> Meaning {
        self.meaning
    }
    fn distance(&self, point: Vec3) -> f32 {
        (self.value)(Sphere::new(1.0).unwrap().distance(point), point)
    }
    fn sample(&self, point: Vec3) -> Sample {
        Sample {
            distance: self.distance(point),
            gradient: (self.gradient)(Sphere::new(1.0).unwrap().sample(point).gradient),
        }
    }
    fn distance_many(&self, points: &[Vec3], out: &mut Vec<f32>) {
        out.clear();
        out.extend(points.iter().map(|&p| (self.batch)(self.distance(p))));
    }
    fn interval(&self, cell: Aabb) -> Interval {
        (self.interval)(Sphere::new(1.0).unwrap().interval(cell))
    }
}

#[test]
fn the_suite_passes_what_is_sound_and_fails_what_is_broken() {
    let truth = ball_truth(1.0);
    passes(&SOUND, &truth, "sound");
    let bound = Broken {
        meaning: Meaning::Bound,
        value: |d, _| 0.5 * d,
        gradient: |g| 0.5 * g,
        ..SOUND
    };
    passes(&bound, &truth, "sound bound");

    fails(
        &Broken {
            value: |d, _| 1.01 * d,
            ..SOUND
        },
        &truth,
        "error",
    );
    fails(
        &Broken {
            value: |d, _| if d < 0.0 { 1.01 * d } else { d },
            ..SOUND
        },
        &truth,
        "error",
    );
    fails(
        &Broken {
            value: |d, _| -d,
            gradient: |g| -g,
            ..SOUND
        },
        &truth,
        "error",
    );
    fails(
        &Broken {
            error_bound: 1e-8,
            ..SOUND
        },
        &truth,
        "error",
    );
    fails(
        &Broken {
            error_bound: 0.0,
            ..SOUND
        },
        &truth,
        "error bound",
    );
    fails(
        &Broken {
            error_bound: f32::NAN,
            ..SOUND
        },
        &truth,
        "error bound",
    );
    fails(
        &Broken {
            gradient: |_| Vec3::NAN,
            ..SOUND
        },
        &truth,
        "not finite",
    );
    fails(
        &Broken {
            gradient: |g| 1.01 * g,
            ..SOUND
        },
        &truth,
        "unit length",
    );
    fails(
        &Broken {
            gradient: |g| Vec3::new(g.y, g.x, g.z),
            ..SOUND
        },
        &truth,
        "differences",
    );
    fails(
        &Broken {
            value: |d, p| if p.x > 1e20 { f32::NAN } else { d },
            ..SOUND
        },
        &truth,
        "not finite",
    );
    fails(
        &Broken {
            value: |d, _| if d > 1.0 { 1.001 * d } else { d },
            ..SOUND
        },
        &truth,
        "outside",
    );
    fails(
        &Broken {
            batch: |d| d + 1e-7,
            ..SOUND
        },
        &truth,
        "batch",
    );
    fails(
        &Broken {
            interval: |i| Interval::new(i.lower + 1e-3, i.upper),
            ..SOUND
        },
        &truth,
        "interval",
    );
    fails(
        &Broken {
            interval: |i| Interval::new(i.lower, i.upper - 1e-3),
            ..SOUND
        },
        &truth,
        "interval",
    );
    fails(
        &Broken {
            interval: |_| Interval::new(f32::NAN, f32::NAN),
            ..SOUND
        },
        &truth,
        "NaN",
    );
    let shaky = Broken {
        error_bound: 0.02,
        value: |d, p| d + 0.015 * (p.x * 1e4).sin(),
        ..SOUND
    };
    fails(
        &Broken {
            error_bound: 0.01,
            ..shaky
        },
        &truth,
        "error",
    );

    // As bounds: too large, or of the wrong sign, though small.
    fails(
        &Broken {
            value: |d, _| 1.01 * d,
            ..bound
        },
        &truth,
        "error",
    );
    fails(
        &Broken {
            value: |d, _| -0.5 * d,
            gradient: |g| -0.5 * g,
            ..bound
        },
        &truth,
        "error",
    );
}

#[test]
fn without_a_truth_the_suite_still_sees_jumps_and_narrow_intervals() {
    let fails = |field: &dyn Field, because: &str| {
        let broken = check_field(field, None, "broken", 1, POINTS).unwrap_err();
        assert!(broken.contains(because), "expected '{because}': {broken}");
    };
    let jump = Broken {
        meaning: Meaning::Bound,
        value: |d, p| if p.x > 0.3 { d + 0.1 } else { d },
        ..SOUND
    };
    fails(&jump, "Lipschitz");
    fails(
        &Broken {
            interval: |i| Interval::new(i.lower, i.upper - 1e-2),
            ..SOUND
        },
        "interval",
    );
}

#[test]
fn sizes_that_make_no_shape_are_refused() {
    for bad in [-1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e20] {
        assert!(Sphere::new(bad).is_err());
        assert!(Cuboid::new(Vec3::new(1.0, bad, 1.0)).is_err());
        assert!(RoundedCuboid::new(Vec3::ONE, bad).is_err());
        assert!(Capsule::new(bad, 1.0).is_err() && Capsule::new(1.0, bad).is_err());
        assert!(Cylinder::new(bad, 1.0).is_err() && Cylinder::new(1.0, bad).is_err());
        assert!(Cone::new(bad, 1.0).is_err() && Cone::frustum(1.0, 1.0, bad).is_err());
        assert!(Torus::new(bad, 0.5).is_err() && Torus::new(1.0, bad).is_err());
        assert!(Shell::new(Sphere::new(1.0).unwrap(), bad).is_err());
    }
    assert!(RoundedCuboid::new(Vec3::ONE, 1.1).is_err());
    assert!(Torus::new(1.0, 1.1).is_err());
    assert!(HalfSpace::new(Vec3::ZERO, 0.0).is_err());
    assert!(HalfSpace::new(Vec3::NAN, 0.0).is_err());
    assert!(HalfSpace::new(Vec3::Z, f32::NAN).is_err());
    assert!(Offset::new(Sphere::new(1.0).unwrap(), f32::NAN).is_err());
}
