//! The suite itself: it must pass a correct field, and fail one with a single thing wrong.

use glam::{DVec3, Vec3};
use touchfield::field::primitive::Sphere;
use touchfield::field::{Field, Meaning, Sample};
use touchfield::geom::{Aabb, Interval};
use touchfield_conformance::field_suite::check_field;

use crate::balls::ball_truth;
use crate::{POINTS, passes};

#[track_caller]
fn fails(field: &dyn Field, truth: &dyn Fn(DVec3) -> f64, because: &str) {
    let broken = check_field(field, Some(truth), "broken", 1, POINTS)
        .expect_err("the suite let a broken field pass");
    assert!(broken.contains(because), "expected '{because}': {broken}");
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
