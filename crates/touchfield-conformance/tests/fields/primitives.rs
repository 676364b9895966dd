//! Closed forms: from a micrometre up, flat, pointed and without volume.

use std::f64::consts::{FRAC_PI_2, TAU};

use glam::{DVec2, DVec3, Vec3};
use touchfield::field::primitive::*;
use touchfield::field::{Field, Offset, Wall};
use touchfield_conformance::closed_forms::{self, Piece};
use touchfield_conformance::field_suite::check_field;

use crate::balls::{arc, ball_truth};
use crate::{passes, polygon};

/// Sizes from a micrometre to beyond a hundred metres.
const SCALES: [f32; 4] = [1e-6, 0.013, 1.0, 137.5];

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
fn ellipsoids_from_needles_to_discs() {
    for scale in SCALES {
        for shape in [
            Vec3::ONE,
            Vec3::new(1.0, 0.3, 2.7),
            Vec3::new(0.5, 0.5, 1.0),
            Vec3::new(1.0, 1.0 + 1e-6, 1.0 - 1e-6),
            Vec3::new(1.0, 1e-4, 0.5),
            Vec3::new(1e-4, 1.0, 1e-4),
            Vec3::new(1.0, 1e-2, 1e-4),
        ] {
            let half = scale * shape;
            let truth = closed_forms::ellipsoid(half.as_dvec3());
            // Fewer points than elsewhere: each truth is a search of thousands of steps.
            let body = Ellipsoid::new(half).unwrap();
            let report = check_field(&body, Some(&truth), "ellipsoid", 1, 600);
            println!("{}", report.unwrap());
        }
    }
}

/// Compared with revolved arcs and segments, which are exact: the searched truth above has limited
/// accuracy.
#[test]
fn ellipsoids_that_are_balls_discs_segments_and_points() {
    for radius in SCALES {
        let ball = Ellipsoid::new(Vec3::splat(radius)).unwrap();
        passes(&ball, &ball_truth(radius), "ellipsoid, a ball");
    }
    let flat = |half: Vec3, to: DVec2| {
        let pieces = vec![Piece::Segment(-to * DVec2::Y, to)];
        let truth = closed_forms::revolved(pieces, |_| false);
        passes(&Ellipsoid::new(half).unwrap(), &truth, "flat ellipsoid");
    };
    flat(Vec3::new(2.0, 2.0, 0.0), DVec2::new(2.0, 0.0));
    flat(Vec3::new(0.0, 0.0, 3.0), DVec2::new(0.0, 3.0));
    flat(Vec3::ZERO, DVec2::ZERO);
}

#[test]
fn ellipsoids_are_right_on_axes_and_about_their_middle_planes() {
    let half = Vec3::new(2.0, 1.0, 0.5);
    let body = Ellipsoid::new(half).unwrap();
    for (point, distance, gradient) in [
        (Vec3::ZERO, -0.5, Vec3::Z),
        (Vec3::new(3.0, 0.0, 0.0), 1.0, Vec3::X),
        (Vec3::new(0.0, -3.0, 0.0), 2.0, -Vec3::Y),
        (Vec3::new(0.0, 0.0, -0.25), -0.25, -Vec3::Z),
        (Vec3::new(0.0, 0.75, 0.0), -0.25, Vec3::Y),
        (Vec3::new(-2.0, 0.0, 0.0), 0.0, -Vec3::X),
    ] {
        let sample = body.sample(point);
        assert!((sample.distance - distance).abs() < 1e-7, "{point}");
        assert!(sample.gradient.distance(gradient) < 1e-6, "{point}");
    }
    // Just off the middle plane, at its rim and within, where the root is very close to its pole.
    let truth = closed_forms::ellipsoid(half.as_dvec3());
    for off in [0.0, 1e-40, 1e-20, 1e-12, 1e-7, 1e-4] {
        for x in [0.0, 1.0, 1.8, 1.874_999_9, 1.875, 1.875_000_1, 1.9] {
            let point = Vec3::new(x, 0.0, off);
            let (found, expected) = (f64::from(body.distance(point)), truth(point.as_dvec3()));
            assert!(
                (found - expected).abs() < 1e-7,
                "{point}: {found} {expected}"
            );
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
fn sizes_that_make_no_shape_are_refused() {
    for bad in [-1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e20] {
        assert!(Sphere::new(bad).is_err());
        assert!(Cuboid::new(Vec3::new(1.0, bad, 1.0)).is_err());
        assert!(RoundedCuboid::new(Vec3::ONE, bad).is_err());
        assert!(Capsule::new(bad, 1.0).is_err() && Capsule::new(1.0, bad).is_err());
        assert!(Cylinder::new(bad, 1.0).is_err() && Cylinder::new(1.0, bad).is_err());
        assert!(Cone::new(bad, 1.0).is_err() && Cone::frustum(1.0, 1.0, bad).is_err());
        assert!(Ellipsoid::new(Vec3::new(1.0, 1.0, bad)).is_err());
        assert!(Torus::new(bad, 0.5).is_err() && Torus::new(1.0, bad).is_err());
        assert!(Wall::new(Sphere::new(1.0).unwrap(), bad).is_err());
    }
    assert!(RoundedCuboid::new(Vec3::ONE, 1.1).is_err());
    assert!(Torus::new(1.0, 1.1).is_err());
    assert!(HalfSpace::new(Vec3::ZERO, 0.0).is_err());
    assert!(HalfSpace::new(Vec3::NAN, 0.0).is_err());
    assert!(HalfSpace::new(Vec3::Z, f32::NAN).is_err());
    assert!(Offset::new(Sphere::new(1.0).unwrap(), f32::NAN).is_err());
}
