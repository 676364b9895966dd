//! Fields that a program defines by closures, with the properties it declares.

use glam::Vec3;
use touchfield::field::{Closure, Declared, Field, Meaning};
use touchfield::geom::Aabb;
use touchfield_conformance::field_suite::check_field;

use crate::balls::ball_truth;
use crate::{POINTS, passes};

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
