//! Random convex bodies that are hard on purpose, and hard poses.
//!
//! Input: a kind, a scale, a source of random numbers.
//! Output: a body for the truth, with the numbers given to the library.
//! Not for: typical bodies; needles, flat sets and duplicates are as frequent as balls.

use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

use crate::convex_truth::{Body, Core, body_pair};
use crate::polytope_truth::{Polytope, corner_signs};
use crate::random::Random;

/// Kind of a random body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Hull of 4 to 30 points in a ball or on a sphere.
    Cloud,
    /// Hull of a cloud squeezed to a line: 10⁻⁴ as thick as long.
    Needle,
    /// Hull of a cloud squeezed to nearly a plane: 10⁻⁴ as thick as wide.
    Plate,
    /// Points exactly in a coordinate plane.
    Flat,
    /// Points exactly in a plane oblique to all axes.
    FlatAskew,
    /// Points exactly on a line.
    Straight,
    /// One point.
    Single,
    /// A cloud with each point two or three times.
    Doubled,
    /// Corners of a box, and points on its faces and edges.
    Box,
    /// A prism of 3 to 12 sides: two faces with many corners.
    Prism,
    /// A triangle.
    Triangle,
    /// A triangle with one angle of nearly half a turn.
    Sliver,
    /// A ball.
    Ball,
    /// A capsule.
    Capsule,
    /// A box as a closed form.
    Cuboid,
    /// A rounded box.
    RoundedCuboid,
    /// A cloud, rounded.
    RoundedCloud,
    /// A cylinder, from coin to stick.
    Cylinder,
    /// A cone, from plate to needle.
    Cone,
    /// An ellipsoid, from coin to stick.
    Ellipsoid,
}

/// All kinds.
pub const KINDS: [Kind; 20] = [
    Kind::Cloud,
    Kind::Needle,
    Kind::Plate,
    Kind::Flat,
    Kind::FlatAskew,
    Kind::Straight,
    Kind::Single,
    Kind::Doubled,
    Kind::Box,
    Kind::Prism,
    Kind::Triangle,
    Kind::Sliver,
    Kind::Ball,
    Kind::Capsule,
    Kind::Cuboid,
    Kind::RoundedCuboid,
    Kind::RoundedCloud,
    Kind::Cylinder,
    Kind::Cone,
    Kind::Ellipsoid,
];

impl Kind {
    /// Returns whether the body is a polytope, rounded or not: its truth is exact.
    pub fn has_features(self) -> bool {
        !matches!(self, Kind::Cylinder | Kind::Cone | Kind::Ellipsoid)
    }
}

/// Size of a body and its position in its own frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// About a metre, near the origin.
    Ordinary,
    /// About a metre, 10⁵ m from the origin of its own frame; hulls only.
    Far,
    /// About a micrometre.
    Tiny,
}

/// A random body: its truth, and the numbers it is made of.
#[derive(Clone, Debug)]
pub struct Hostile {
    /// Kind of the body.
    pub kind: Kind,
    /// Scale of the body.
    pub scale: Scale,
    /// The body for the truth, in its own frame.
    pub body: Body,
    /// Points of a hull \[m\], including interior ones; empty for other kinds.
    pub points: Vec<Vec3>,
    /// Centre of its box, in its own frame \[m\].
    pub center: DVec3,
    /// Radius of a ball about the centre that contains the body \[m\].
    pub radius: f64,
}

impl Hostile {
    /// Returns a random body of a kind.
    pub fn new(kind: Kind, scale: Scale, random: &mut Random) -> Hostile {
        let unit = match scale {
            Scale::Ordinary | Scale::Far => 1.0,
            Scale::Tiny => 1e-6,
        };
        let points = hull_points(kind, random);
        let far = match scale {
            Scale::Far => 1e5 * random.unit_vector(),
            _ => DVec3::ZERO,
        };
        let points: Vec<Vec3> = points.iter().map(|&p| (unit * p + far).as_vec3()).collect();
        // All sizes are representable in `f32`.
        let mut length =
            |low: f64, high: f64| f64::from((unit * random.log_uniform(low, high)) as f32);
        let (core, rounding) = match kind {
            Kind::Ball => (
                Core::Polytope(Polytope::hull(&[DVec3::ZERO])),
                length(0.1, 1.0),
            ),
            Kind::Capsule => {
                let end = DVec3::Z * length(0.01, 1.0);
                (
                    Core::Polytope(Polytope::hull(&[-end, end])),
                    length(0.001, 1.0),
                )
            }
            Kind::Cuboid | Kind::RoundedCuboid => {
                let half = DVec3::new(length(0.01, 1.0), length(0.01, 1.0), length(0.01, 1.0));
                let rounding = if kind == Kind::Cuboid {
                    0.0
                } else {
                    length(0.001, 0.5)
                };
                (Core::Polytope(Polytope::cuboid(half)), rounding)
            }
            Kind::Cylinder => {
                let (radius, half_height) = (length(0.01, 1.0), length(0.01, 1.0));
                (
                    Core::Cylinder {
                        radius,
                        half_height,
                    },
                    0.0,
                )
            }
            Kind::Cone => {
                let (radius, half_height) = (length(0.01, 1.0), length(0.01, 1.0));
                (
                    Core::Cone {
                        radius,
                        half_height,
                    },
                    0.0,
                )
            }
            Kind::Ellipsoid => {
                let radii = DVec3::new(length(0.01, 1.0), length(0.01, 1.0), length(0.01, 1.0));
                (Core::Ellipsoid { radii }, 0.0)
            }
            _ => {
                let points: Vec<DVec3> = points.iter().map(|p| p.as_dvec3()).collect();
                let rounding = if kind == Kind::RoundedCloud {
                    length(0.001, 0.5)
                } else {
                    0.0
                };
                (Core::Polytope(Polytope::hull(&points)), rounding)
            }
        };
        let body = Body {
            rounding,
            ..Body::new(core)
        };
        let corner = |sign: f64| {
            DVec3::from_array(
                DVec3::AXES.map(|axis| (axis * body.support(sign * axis)).element_sum()),
            )
        };
        let (low, high) = (corner(-1.0), corner(1.0));
        Hostile {
            kind,
            scale,
            points,
            center: 0.5 * (low + high),
            radius: 0.5 * low.distance(high) + rounding,
            body,
        }
    }

    /// Returns a bound on the coordinates of the body in its own frame \[m\].
    pub fn reach(&self) -> f64 {
        self.center.length() + self.radius
    }
}

/// Returns points of a hull, about a metre large; empty for kinds that are not hulls.
fn hull_points(kind: Kind, random: &mut Random) -> Vec<DVec3> {
    let mut cloud = |least: usize, most: usize| -> Vec<DVec3> {
        let count = least + random.below(most - least + 1);
        let inner = random.uniform(0.0, 1.0);
        (0..count)
            .map(|_| random.uniform(inner, 1.0) * random.unit_vector())
            .collect()
    };
    match kind {
        Kind::Cloud | Kind::RoundedCloud => cloud(4, 30),
        Kind::Needle | Kind::Plate => {
            let points = cloud(4, 20);
            let axis = random.unit_vector();
            let press = |p: &DVec3| {
                let along = p.dot(axis) * axis;
                if kind == Kind::Needle {
                    along + 1e-4 * (*p - along)
                } else {
                    *p - along + 1e-4 * along
                }
            };
            points.iter().map(press).collect()
        }
        Kind::Flat => {
            let points = cloud(3, 20);
            let axis = random.below(3);
            let height = random.uniform(-1.0, 1.0);
            let press = |p: &DVec3| {
                let mut p = *p;
                p[axis] = height;
                p
            };
            points.iter().map(press).collect()
        }
        Kind::FlatAskew => {
            // Multiples of 1/64 add without rounding: z = x + y or x − y.
            let points = cloud(3, 20);
            let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
            let press = |p: &DVec3| {
                let p = (*p * 64.0).round() / 64.0;
                DVec3::new(p.x, p.y, p.x + sign * p.y)
            };
            points.iter().map(press).collect()
        }
        Kind::Straight => {
            let along = (random.unit_vector() * 8.0).round() / 8.0;
            let count = 2 + random.below(6);
            (0..count)
                .map(|_| (random.uniform(-1.0, 1.0) * 64.0).round() / 64.0 * along)
                .collect()
        }
        Kind::Single => vec![random.unit_vector()],
        Kind::Doubled => {
            let points = cloud(1, 10);
            points
                .iter()
                .flat_map(|&p| std::iter::repeat_n(p, 2 + random.below(2)))
                .collect()
        }
        Kind::Box => {
            let half = random
                .in_box(DVec3::splat(0.05), DVec3::ONE)
                .as_vec3()
                .as_dvec3();
            let mut points: Vec<DVec3> = (0..8).map(|k| half * corner_signs(k)).collect();
            for _ in 0..random.below(16) {
                let mut p = random.in_box(-half, half).as_vec3().as_dvec3();
                // On a face, on an edge or at a corner.
                for _ in 0..1 + random.below(3) {
                    let axis = random.below(3);
                    p[axis] = half[axis].copysign(p[axis]);
                }
                points.push(p);
            }
            points
        }
        Kind::Prism => {
            let corners = 3 + random.below(10);
            let (radius, half) = (random.log_uniform(0.05, 1.0), random.log_uniform(0.02, 1.0));
            (0..2 * corners)
                .map(|k| {
                    let angle = (k / 2) as f64 / corners as f64 * std::f64::consts::TAU;
                    let height = if k % 2 == 0 { half } else { -half };
                    (radius * DVec3::new(angle.cos(), angle.sin(), 0.0)).with_z(height)
                })
                .collect()
        }
        Kind::Triangle => cloud(3, 3),
        Kind::Sliver => {
            let ends = cloud(2, 2);
            let off = random.log_uniform(1e-7, 1e-3) * random.unit_vector();
            let between = ends[0].lerp(ends[1], random.uniform(0.0, 1.0)) + off;
            vec![ends[0], ends[1], between]
        }
        _ => Vec::new(),
    }
}

/// How B is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Somewhere near, in a random attitude.
    Random,
    /// Somewhere near, with axes aligned.
    Aligned,
    /// Frames coincide.
    Identical,
    /// Moved until the distance is 0, up to rounding.
    Touching,
    /// Nearly touching: off by 10⁻⁷ to 10⁻² of the size.
    Close,
    /// Centres near each other.
    Deep,
    /// Apart by up to a hundred sizes.
    Apart,
}

/// All placements.
pub const PLACEMENTS: [Placement; 7] = [
    Placement::Random,
    Placement::Aligned,
    Placement::Identical,
    Placement::Touching,
    Placement::Close,
    Placement::Deep,
    Placement::Apart,
];

/// Returns a pose of B in A: rotation and translation \[m\] as given to the library.
pub fn place(a: &Hostile, b: &Hostile, placement: Placement, random: &mut Random) -> (Quat, Vec3) {
    let size = a.radius + b.radius;
    let turned = random.quaternion().as_quat().normalize();
    let quarter = Quat::from_axis_angle(
        [Vec3::X, Vec3::Y, Vec3::Z][random.below(3)],
        std::f32::consts::FRAC_PI_2 * random.below(4) as f32,
    );
    let at = |rotation: Quat, offset: DVec3| {
        let origin = a.center - unit(rotation) * b.center + offset;
        (rotation, origin.as_vec3())
    };
    let direction = random.unit_vector();
    let near = at(turned, random.uniform(0.0, 1.2) * size * direction);
    match placement {
        Placement::Random => near,
        Placement::Aligned => {
            let steps = (4.0 * direction).round() / 4.0;
            at(quarter, random.uniform(0.0, 1.2) * size * steps)
        }
        Placement::Identical => (Quat::IDENTITY, Vec3::ZERO),
        Placement::Deep => at(turned, random.uniform(0.0, 0.2) * size * direction),
        Placement::Apart => at(turned, random.log_uniform(1.0, 100.0) * size * direction),
        Placement::Touching | Placement::Close => {
            let (rotation, start) = at(
                if random.below(3) == 0 {
                    quarter
                } else {
                    turned
                },
                1.5 * size * direction,
            );
            let truth = body_pair(&a.body, &posed(b, rotation, start));
            let off = if placement == Placement::Close {
                random
                    .log_uniform(1e-7, 1e-2)
                    .copysign(random.uniform(-1.0, 1.0))
                    * size
            } else {
                0.0
            };
            let end = start.as_dvec3() - (truth.upper + off) * truth.direction;
            (rotation, end.as_vec3())
        }
    }
}

/// Returns the rotation of a quaternion, normalised in `f64`.
pub fn unit(rotation: Quat) -> DMat3 {
    let [x, y, z, w] = rotation.to_array().map(f64::from);
    DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize())
}

/// Returns B in the frame of A.
pub fn posed(b: &Hostile, rotation: Quat, translation: Vec3) -> Body {
    Body {
        rotation: unit(rotation),
        translation: translation.as_dvec3(),
        ..b.body.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_sets_are_flat_and_straight_ones_straight() {
        let mut random = Random::new(1);
        for kind in KINDS {
            for scale in [Scale::Ordinary, Scale::Tiny] {
                for _ in 0..20 {
                    let body = Hostile::new(kind, scale, &mut random);
                    let Core::Polytope(polytope) = &body.body.core else {
                        continue;
                    };
                    let faces = polytope.faces.len();
                    let expected = match kind {
                        Kind::Flat | Kind::Triangle | Kind::Sliver => faces == 2,
                        // Scaling by 10⁻⁶ rounds.
                        Kind::FlatAskew if scale == Scale::Ordinary => faces <= 2,
                        Kind::Straight if scale == Scale::Ordinary => faces == 0,
                        Kind::Single | Kind::Ball | Kind::Capsule => faces == 0,
                        Kind::Box if scale == Scale::Ordinary => faces == 6,
                        Kind::Cloud | Kind::Needle | Kind::Plate => faces >= 4,
                        _ => true,
                    };
                    assert!(expected, "{kind:?} {scale:?}: {faces} faces");
                }
            }
        }
    }

    #[test]
    fn touching_pairs_touch() {
        let mut random = Random::new(2);
        for kind in KINDS {
            for other in KINDS {
                let a = Hostile::new(kind, Scale::Ordinary, &mut random);
                let b = Hostile::new(other, Scale::Ordinary, &mut random);
                let (rotation, translation) = place(&a, &b, Placement::Touching, &mut random);
                let truth = body_pair(&a.body, &posed(&b, rotation, translation));
                let size = a.reach() + b.reach();
                assert!(
                    truth.signed().abs() < 1e-6 * size,
                    "{kind:?} {other:?} {truth:?}"
                );
            }
        }
    }

    /// The result does not depend on the order of the pair or the direction of measurement.
    #[test]
    fn the_truth_is_the_same_from_both_sides() {
        let mut random = Random::new(3);
        for _ in 0..3000 {
            let [a, b] = [0, 1].map(|_| {
                let kind = KINDS[random.below(KINDS.len())];
                let scale = [Scale::Ordinary, Scale::Far][random.below(2)];
                Hostile::new(kind, scale, &mut random)
            });
            let placement = PLACEMENTS[random.below(PLACEMENTS.len())];
            let (rotation, translation) = place(&a, &b, placement, &mut random);
            let posed = posed(&b, rotation, translation);
            let (there, back) = (body_pair(&a.body, &posed), body_pair(&posed, &a.body));
            let features = a.kind.has_features() && b.kind.has_features();
            let size = a.reach() + b.reach() + translation.as_dvec3().length();
            let bodies = a.radius + b.radius;
            let tolerance = if features {
                1e-14 * size
            } else {
                1e-6 * bodies
            };
            let case = format!("{:?} {:?} {placement:?}", a.kind, b.kind);
            assert!(
                (there.signed() - back.signed()).abs() <= tolerance,
                "{case}: {there:?} {back:?}"
            );
            // A plane is tilted by the rounding of points over their distance.
            let leaning = 1e-14 * bodies / there.upper.max(1e-14 * bodies);
            assert!(
                there.upper - there.lower <= tolerance + leaning * bodies,
                "{case}: {there:?}"
            );
        }
    }
}
