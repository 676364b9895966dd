//! True separations of simple bodies in `f64`: closed forms, and a search that relies only on
//! Lipschitz continuity.
//!
//! Input: two [`Solid`]s and a pose.
//! Output: `2 min max(φA, φB)`; for a ball against any solid also normal and point.
//! Cost: closed forms O(1), the search milliseconds.
//! Not for: anything fast.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::{DQuat, DVec2, DVec3, Vec3};
use touchfield::field::primitive;
use touchfield::geom::Pose;
use touchfield::shape::Shape;

use crate::closed_forms;
use crate::random::Random;

/// A body with a closed form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solid {
    /// Ball about the origin.
    Ball {
        /// Radius \[m\].
        radius: f64,
    },
    /// Axis-aligned box about the origin.
    Box {
        /// Half the sides \[m\].
        half: DVec3,
    },
    /// Capsule about the origin, along z.
    Capsule {
        /// Half the segment \[m\].
        half_length: f64,
        /// Radius \[m\].
        radius: f64,
    },
    /// Torus about the origin, around z.
    Ring {
        /// Radius of the circle \[m\].
        major: f64,
        /// Radius of the tube \[m\].
        minor: f64,
    },
    /// Everything below z = 0.
    HalfSpace,
}

/// One of each kind, with sizes representable in `f32`.
pub const SOLIDS: [Solid; 5] = [
    Solid::Ball { radius: 0.5 },
    Solid::Box {
        half: DVec3::new(0.5, 0.375, 0.25),
    },
    Solid::Capsule {
        half_length: 0.375,
        radius: 0.25,
    },
    Solid::Ring {
        major: 0.5,
        minor: 0.1875,
    },
    Solid::HalfSpace,
];

impl Solid {
    /// Returns a solid of one of the kinds of [`SOLIDS`], of random size between 0.3 and 1 m.
    pub fn random(kind: usize, random: &mut Random) -> Solid {
        // Representable in `f32`.
        let mut size = || f64::from(random.uniform(0.3, 1.0) as f32);
        match kind {
            0 => Solid::Ball { radius: size() },
            1 => Solid::Box {
                half: DVec3::new(size(), size(), size()),
            },
            2 => Solid::Capsule {
                half_length: size(),
                radius: 0.5 * size(),
            },
            3 => Solid::Ring {
                major: f64::from((size() + 0.3) as f32),
                minor: 0.25 * size(),
            },
            _ => Solid::HalfSpace,
        }
    }

    /// Returns the signed distance \[m\].
    pub fn distance(self, point: DVec3) -> f64 {
        match self {
            Solid::Ball { radius } => point.length() - radius,
            Solid::Box { half } => closed_forms::cuboid(half)(point),
            Solid::Capsule {
                half_length,
                radius,
            } => {
                let on_axis = DVec3::new(0.0, 0.0, point.z.clamp(-half_length, half_length));
                point.distance(on_axis) - radius
            }
            Solid::Ring { major, minor } => {
                DVec2::new(point.truncate().length() - major, point.z).length() - minor
            }
            Solid::HalfSpace => point.z,
        }
    }

    /// Returns the outward unit normal of the level set through `point`, by differences.
    pub fn outward(self, point: DVec3) -> DVec3 {
        let step = 1e-6;
        let slope =
            |axis: DVec3| self.distance(point + step * axis) - self.distance(point - step * axis);
        DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z)).normalize_or_zero()
    }

    /// Returns the radius of the largest ball inside \[m\].
    pub fn inner_radius(self) -> f64 {
        match self {
            Solid::Ball { radius } | Solid::Capsule { radius, .. } => radius,
            Solid::Box { half } => half.min_element(),
            Solid::Ring { minor, .. } => minor,
            Solid::HalfSpace => f64::INFINITY,
        }
    }

    /// Returns the radius of a ball about the origin that contains the solid \[m\]; infinite for a
    /// half-space.
    pub fn outer_radius(self) -> f64 {
        match self {
            Solid::Ball { radius } => radius,
            Solid::Box { half } => half.length(),
            Solid::Capsule {
                half_length,
                radius,
            } => half_length + radius,
            Solid::Ring { major, minor } => major + minor,
            Solid::HalfSpace => f64::INFINITY,
        }
    }

    /// Returns the library's shape of the same solid.
    #[expect(
        clippy::panic,
        reason = "sizes that make no shape are a mistake in a test"
    )]
    pub fn shape(self) -> Shape {
        let shape = match self {
            Solid::Ball { radius } => primitive::Sphere::new(radius as f32).map(Shape::new),
            Solid::Box { half } => primitive::Cuboid::new(half.as_vec3()).map(Shape::new),
            Solid::Capsule {
                half_length,
                radius,
            } => primitive::Capsule::new(half_length as f32, radius as f32).map(Shape::new),
            Solid::Ring { major, minor } => {
                primitive::Torus::new(major as f32, minor as f32).map(Shape::new)
            }
            Solid::HalfSpace => primitive::HalfSpace::new(Vec3::Z, 0.0).map(Shape::new),
        };
        shape.unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }
}

/// Pose of B in A, with exactly the numbers of the library's pose.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Rotation of B.
    pub rotation: DQuat,
    /// Origin of B in A \[m\].
    pub translation: DVec3,
}

impl Place {
    /// Returns a random rotation, and a translation that brings two bodies near each other.
    pub fn random(a: Solid, b: Solid, random: &mut Random) -> Place {
        let rotation = random.quaternion().normalize();
        let translation = match (a, b) {
            (Solid::HalfSpace, other) => {
                random.in_box(DVec3::new(-3.0, -3.0, -0.5), DVec3::new(3.0, 3.0, 1.0))
                    * DVec3::new(1.0, 1.0, other.outer_radius())
            }
            (other, Solid::HalfSpace) => {
                // Above the centre of A, or not far below.
                let up = rotation * DVec3::Z;
                random.uniform(-1.0, 0.5) * other.outer_radius() * up
                    + random.uniform(-2.0, 2.0) * up.any_orthonormal_vector()
            }
            _ => {
                let reach = a.outer_radius() + b.outer_radius();
                random.uniform(0.3, 1.05) * reach * random.unit_vector()
            }
        };
        // Representable in `f32`, so that the library gets the same numbers.
        let rotation = rotation.as_quat().normalize();
        Place {
            rotation: DQuat::from_xyzw(
                rotation.x.into(),
                rotation.y.into(),
                rotation.z.into(),
                rotation.w.into(),
            )
            .normalize(),
            translation: translation.as_vec3().as_dvec3(),
        }
    }

    /// Returns a random rotation, and a translation of random direction and of a length between the
    /// two \[m\].
    pub fn between(nearest: f64, farthest: f64, random: &mut Random) -> Place {
        let rotation = random.quaternion().as_quat().normalize();
        let translation = random.unit_vector() * random.uniform(nearest, farthest);
        Place {
            rotation: rotation.as_dquat().normalize(),
            translation: translation.as_vec3().as_dvec3(),
        }
    }

    /// Returns the pose for the library.
    pub fn pose(self) -> Pose {
        Pose {
            rotation: self.rotation.as_quat(),
            translation: self.translation.as_vec3(),
        }
    }

    /// Returns a point of A in the frame of B.
    pub fn to_b(self, point_in_a: DVec3) -> DVec3 {
        self.rotation.inverse() * (point_in_a - self.translation)
    }
}

/// Contact of a ball, A, with any solid, B.
#[derive(Clone, Copy, Debug)]
pub struct BallContact {
    /// Separation \[m\]; negative when overlapping.
    pub separation: f64,
    /// Unit normal from A to B.
    pub normal: DVec3,
    /// Point midway between the surfaces, in A \[m\].
    pub point: DVec3,
}

/// Returns the textbook contact of a ball about the origin of A with B. `None` where the way out is
/// not unique, or where the ball is so deep inside that the depth is limited by its diameter.
pub fn ball_contact(radius: f64, b: Solid, place: Place) -> Option<BallContact> {
    let center = place.to_b(DVec3::ZERO);
    let distance = b.distance(center);
    let separation = distance - radius;
    let outward = b.outward(center);
    let middle = center - 0.5 * (radius + distance) * outward;
    // `max ≥ (φB(c) − r) / 2` holds everywhere; equality holds at this point if φB falls at unit
    // rate all the way there.
    let met = (b.distance(middle) - 0.5 * separation).abs() < 1e-9 && distance > -0.9 * radius;
    met.then(|| BallContact {
        separation,
        normal: -(place.rotation * outward),
        point: place.rotation * middle + place.translation,
    })
}

struct Open {
    lower: f64,
    center: DVec3,
    half: DVec3,
}

impl PartialEq for Open {
    fn eq(&self, other: &Open) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Open {}
impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Open) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Open {
    fn cmp(&self, other: &Open) -> Ordering {
        other.lower.total_cmp(&self.lower)
    }
}

/// Returns `2 min max(φA, φB)` of two bodies with closed forms, or up to `tolerance` more \[m\].
pub fn separation(a: Solid, b: Solid, place: Place, tolerance: f64) -> f64 {
    let (middle, size) = if a.outer_radius() < b.outer_radius() {
        (DVec3::ZERO, a.outer_radius())
    } else {
        (place.translation, b.outer_radius())
    };
    let value = |point: DVec3| a.distance(point).max(b.distance(place.to_b(point)));
    // For separated bodies the best point lies halfway to the other body.
    let size = 2.0 * size + 0.5 * value(middle).abs();
    2.0 * least(value, middle, DVec3::splat(size), 0.5 * tolerance)
}

/// Returns the minimum of a 1-Lipschitz function in a box, or up to `tolerance` more, by best-first
/// bisection.
pub fn least(value: impl Fn(DVec3) -> f64, middle: DVec3, half: DVec3, tolerance: f64) -> f64 {
    let mut best = value(middle);
    let mut open = BinaryHeap::from([Open {
        lower: best - half.length(),
        center: middle,
        half,
    }]);
    while let Some(parent) = open.pop() {
        if best - parent.lower < tolerance {
            break;
        }
        let half = 0.5 * parent.half;
        for index in 0..8 {
            let sign = |bit: usize| if index >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let center = parent.center + DVec3::new(sign(0), sign(1), sign(2)) * half;
            let found = value(center);
            best = best.min(found);
            let lower = found - half.length();
            if lower < best {
                open.push(Open {
                    lower,
                    center,
                    half,
                });
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_finds_what_closed_forms_say() {
        let mut random = Random::new(11);
        let radius = 0.5;
        for b in SOLIDS {
            let mut compared = 0;
            for _ in 0..60 {
                let place = Place::random(Solid::Ball { radius }, b, &mut random);
                let Some(contact) = ball_contact(radius, b, place) else {
                    continue;
                };
                let searched = separation(Solid::Ball { radius }, b, place, 2e-3);
                assert!(
                    (searched - contact.separation).abs() < 2e-3,
                    "{b:?}, {place:?}: {searched} {contact:?}"
                );
                compared += 1;
            }
            assert!(compared > 10, "{b:?}: {compared}");
        }
    }
}
