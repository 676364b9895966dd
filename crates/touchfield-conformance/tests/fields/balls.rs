//! Balls and pairs of balls: solids shared by several tests, and their truth.

use std::f64::consts::FRAC_PI_2;

use glam::{DVec2, DVec3, Vec3};
use touchfield::field::primitive::Sphere;
use touchfield::field::{Field, Transformed};
use touchfield::geom::Pose;
use touchfield_conformance::closed_forms::{self, Piece};

pub(crate) fn arc(r: f64, z: f64, radius: f64, from: f64, to: f64) -> Piece {
    Piece::Arc {
        center: DVec2::new(r, z),
        radius,
        from,
        to,
    }
}

pub(crate) fn ball_truth(radius: f32) -> impl Fn(DVec3) -> f64 {
    let radius = f64::from(radius);
    closed_forms::revolved(
        vec![arc(0.0, 0.0, radius, -FRAC_PI_2, FRAC_PI_2)],
        move |p| p.length() < radius,
    )
}

pub(crate) fn moved<F: Field>(field: F, x: f32, y: f32, z: f32) -> Transformed<F> {
    Transformed::new(field, Pose::from_translation(Vec3::new(x, y, z)), 1.0).unwrap()
}

/// Two balls of the given radius at z = ±c on the z axis.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) c: f64,
    pub(crate) radius: f64,
}

impl Pair {
    /// Returns the angle above the horizontal at which the lower circle enters the upper ball;
    /// straight up if they are apart.
    pub(crate) fn cut(self) -> f64 {
        (self.c / self.radius).min(1.0).asin()
    }

    pub(crate) fn union_arcs(self) -> Vec<Piece> {
        vec![
            arc(0.0, self.c, self.radius, -self.cut(), FRAC_PI_2),
            arc(0.0, -self.c, self.radius, -FRAC_PI_2, self.cut()),
        ]
    }

    pub(crate) fn lens_arcs(self) -> Vec<Piece> {
        vec![
            arc(0.0, self.c, self.radius, -FRAC_PI_2, -self.cut()),
            arc(0.0, -self.c, self.radius, self.cut(), FRAC_PI_2),
        ]
    }

    pub(crate) fn in_upper(self, p: DVec2) -> bool {
        p.distance(DVec2::new(0.0, self.c)) < self.radius
    }

    pub(crate) fn in_lower(self, p: DVec2) -> bool {
        p.distance(DVec2::new(0.0, -self.c)) < self.radius
    }

    pub(crate) fn union(self) -> impl Fn(DVec3) -> f64 {
        closed_forms::revolved(self.union_arcs(), move |p| {
            self.in_upper(p) || self.in_lower(p)
        })
    }

    pub(crate) fn lens(self) -> impl Fn(DVec3) -> f64 {
        closed_forms::revolved(self.lens_arcs(), move |p| {
            self.in_upper(p) && self.in_lower(p)
        })
    }
}

pub(crate) type Ball = Transformed<Sphere>;

/// Returns unit balls at ±c.
pub(crate) fn unit_balls(c: f32) -> (Ball, Ball) {
    let ball = Sphere::new(1.0).unwrap();
    (moved(ball, 0.0, 0.0, c), moved(ball, 0.0, 0.0, -c))
}
