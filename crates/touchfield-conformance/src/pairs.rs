//! Pairs of closed forms in random poses, and the truth about them in `f64`.
//!
//! Input: two kinds of solid, a seed. Output: shapes of the library, and functions of their own for the same solids.
//! Cost: thousands of evaluations a truth. Not for: meshes (see [`crate::mesh_truth`]).

use glam::{DQuat, DVec3, Quat, Vec3};
use touchfield::field::primitive::{Capsule, Cuboid, HalfSpace, Sphere, Torus};
use touchfield::geom::Pose;
use touchfield::shape::Shape;

use crate::random::Random;

/// A solid with a closed form, in its own frame. Capsule and torus have their axis along z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solid {
    /// Radius.
    Ball(f64),
    /// Half extents.
    Block(DVec3),
    /// Half length and radius.
    Pill(f64, f64),
    /// Major and minor radius.
    Ring(f64, f64),
    /// Everything below z = 0.
    Ground,
}

impl Solid {
    /// One of each kind, of random size between 0.3 and 1.
    pub fn random(kind: usize, random: &mut Random) -> Solid {
        let mut size = || f64::from(random.uniform(0.3, 1.0) as f32);
        match kind {
            0 => Solid::Ball(size()),
            1 => Solid::Block(DVec3::new(size(), size(), size())),
            2 => Solid::Pill(size(), 0.5 * size()),
            3 => Solid::Ring(size() + 0.3, 0.25 * size()),
            _ => Solid::Ground,
        }
    }

    /// Number of kinds.
    pub const KINDS: usize = 5;

    /// Signed distance, after Quilez's formulas, in `f64`.
    pub fn distance(self, point: DVec3) -> f64 {
        match self {
            Solid::Ball(radius) => point.length() - radius,
            Solid::Block(half) => {
                let beyond = point.abs() - half;
                beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
            }
            Solid::Pill(half, radius) => {
                let on_axis = DVec3::new(0.0, 0.0, point.z.clamp(-half, half));
                point.distance(on_axis) - radius
            }
            Solid::Ring(major, minor) => (point.truncate().length() - major).hypot(point.z) - minor,
            Solid::Ground => point.z,
        }
    }

    /// Radius of a ball about the origin that holds it; infinite for the ground.
    pub fn reach(self) -> f64 {
        match self {
            Solid::Ball(radius) => radius,
            Solid::Block(half) => half.length(),
            Solid::Pill(half, radius) => half + radius,
            Solid::Ring(major, minor) => major + minor,
            Solid::Ground => f64::INFINITY,
        }
    }

    /// The same solid in the library.
    #[expect(clippy::expect_used, reason = "sizes are made here and valid")]
    pub fn shape(self) -> Shape {
        let valid = "sizes from 0.05 to 1.3 make a solid";
        match self {
            Solid::Ball(radius) => Shape::new(Sphere::new(radius as f32).expect(valid)),
            Solid::Block(half) => Shape::new(Cuboid::new(half.as_vec3()).expect(valid)),
            Solid::Pill(half, radius) => {
                Shape::new(Capsule::new(half as f32, radius as f32).expect(valid))
            }
            Solid::Ring(major, minor) => {
                Shape::new(Torus::new(major as f32, minor as f32).expect(valid))
            }
            Solid::Ground => Shape::new(HalfSpace::new(Vec3::Z, 0.0).expect(valid)),
        }
    }
}

/// A pose in both precisions; the `f64` one is that of the rounded numbers.
#[derive(Clone, Copy, Debug)]
pub struct Posed {
    /// For the library.
    pub a_from_b: Pose,
    /// The same rotation.
    pub rotation: DQuat,
    /// The same translation.
    pub translation: DVec3,
}

impl Posed {
    /// From numbers in `f32`.
    pub fn of(a_from_b: Pose) -> Posed {
        Posed {
            a_from_b,
            rotation: a_from_b.rotation.as_dquat().normalize(),
            translation: a_from_b.translation.as_dvec3(),
        }
    }

    /// A random rotation, and a translation of random direction and of a length between the two.
    pub fn random(random: &mut Random, nearest: f64, farthest: f64) -> Posed {
        let rotation: Quat = random.quaternion().as_quat().normalize();
        let translation = random.unit_vector() * random.uniform(nearest, farthest);
        Posed::of(Pose {
            rotation,
            translation: translation.as_vec3(),
        })
    }

    /// A point of frame A, in frame B.
    pub fn to_b(&self, point_in_a: DVec3) -> DVec3 {
        self.rotation.conjugate() * (point_in_a - self.translation)
    }
}

/// `2 · min max(φA, φB)` by thousands of random starts and pattern search: never below the truth, and nearly always on it.
pub fn separation_by_search(
    a: impl Fn(DVec3) -> f64,
    b: impl Fn(DVec3) -> f64,
    [min, max]: [DVec3; 2],
    random: &mut Random,
) -> f64 {
    let value = |x: DVec3| a(x).max(b(x));
    let mut starts: Vec<(f64, DVec3)> = (0..600)
        .map(|_| random.in_box(min, max))
        .map(|x| (value(x), x))
        .collect();
    starts.sort_by(|first, second| first.0.total_cmp(&second.0));
    let mut best = f64::INFINITY;
    for &(start, at) in starts.iter().take(6) {
        let (mut low, mut x) = (start, at);
        let mut step = 0.1 * (max - min).length();
        while step > 1e-8 {
            // Random directions: the valley is a crease along no axis.
            let mut found = false;
            for _ in 0..12 {
                let next = x + step * random.unit_vector();
                let next_value = value(next);
                if next_value < low {
                    (low, x, found) = (next_value, next, true);
                }
            }
            step *= if found { 1.2 } else { 0.6 };
        }
        best = best.min(low);
    }
    2.0 * best
}
