//! Convex bodies: closed forms and hulls, optionally rounded.
//!
//! Input: dimensions \[m\], or a [`ConvexHull`].
//! Output: support points, support sets, and the same body as a field.
//! Cost: a few operations per support point; for a hull, a lookup or a climb from the last result.
//! Not for: concave bodies.
//!
//! A body is a *core* with a rounding radius around it: a ball is a point with a radius, a capsule
//! a segment with one. Distances and penetration depths of rounded bodies are exactly those of
//! their cores minus the radii, whether separated or overlapping, so balls and capsules cost no
//! more than points and segments. Axes are along z, with the centre of the height at the origin, as
//! in `field::primitive`.

use std::sync::Arc;

use glam::{DVec2, DVec3, Vec3};

use super::convex_field::{HullField, RoundedField};
use super::{ConvexHull, Support};
use crate::field::Field;
use crate::field::closed_form::parameter;
use crate::field::closed_form::parameter::{ParameterError, size};
use crate::field::primitive;
use crate::geom::Aabb;

/// A convex body, in its own frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Convex {
    core: Core,
    radius: f32,
}

/// The body without its rounding.
#[derive(Clone, Debug, PartialEq)]
pub enum Core {
    /// The origin: the core of a ball.
    Point,
    /// A segment from −`half_length` to `half_length` along z: the core of a capsule.
    Segment {
        /// Half of the length \[m\].
        half_length: f32,
    },
    /// An axis-aligned box around the origin.
    Cuboid {
        /// Half of the edge lengths \[m\].
        half_extents: Vec3,
    },
    /// A cylinder along z.
    Cylinder {
        /// Half of the height \[m\].
        half_height: f32,
        /// Radius \[m\].
        radius: f32,
    },
    /// A cone along z, apex up.
    Cone {
        /// Half of the height \[m\].
        half_height: f32,
        /// Radius of the base \[m\].
        base_radius: f32,
    },
    /// An ellipsoid with axes along the coordinate axes.
    Ellipsoid {
        /// Semi-axes \[m\].
        half_extents: Vec3,
    },
    /// The convex hull of points.
    Hull(Arc<ConvexHull>),
}

impl Core {
    /// Returns the word used in messages and JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Core::Point => "point",
            Core::Segment { .. } => "segment",
            Core::Cuboid { .. } => "cuboid",
            Core::Cylinder { .. } => "cylinder",
            Core::Cone { .. } => "cone",
            Core::Ellipsoid { .. } => "ellipsoid",
            Core::Hull(_) => "hull",
        }
    }
}

/// A corner of a support set, with a number that stays the same from call to call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetPoint {
    /// Position \[m\].
    pub position: DVec3,
    /// Number of the corner in the body.
    pub number: u32,
}

impl Convex {
    /// Creates a ball with a radius \[m\].
    pub fn sphere(radius: f32) -> Result<Convex, ParameterError> {
        Convex::of(Core::Point).rounded(radius)
    }

    /// Creates a capsule: a segment from −`half_length` to `half_length` along z, with a radius
    /// \[m\].
    pub fn capsule(half_length: f32, radius: f32) -> Result<Convex, ParameterError> {
        let half_length = size("half_length", half_length)?;
        Convex::of(Core::Segment { half_length }).rounded(radius)
    }

    /// Creates a box from half of its edge lengths \[m\].
    pub fn cuboid(half_extents: Vec3) -> Result<Convex, ParameterError> {
        let half_extents = parameter::half_extents(half_extents)?;
        Ok(Convex::of(Core::Cuboid { half_extents }))
    }

    /// Creates a cylinder from half of its height and its radius \[m\].
    pub fn cylinder(half_height: f32, radius: f32) -> Result<Convex, ParameterError> {
        Ok(Convex::of(Core::Cylinder {
            half_height: size("half_height", half_height)?,
            radius: size("radius", radius)?,
        }))
    }

    /// Creates a cone with its apex up, from half of its height and the radius of its base \[m\].
    pub fn cone(half_height: f32, base_radius: f32) -> Result<Convex, ParameterError> {
        Ok(Convex::of(Core::Cone {
            half_height: size("half_height", half_height)?,
            base_radius: size("base_radius", base_radius)?,
        }))
    }

    /// Creates an ellipsoid from its semi-axes \[m\].
    pub fn ellipsoid(half_extents: Vec3) -> Result<Convex, ParameterError> {
        let half_extents = parameter::half_extents(half_extents)?;
        Ok(Convex::of(Core::Ellipsoid { half_extents }))
    }

    /// Creates a body from a convex hull.
    pub fn hull(hull: Arc<ConvexHull>) -> Convex {
        Convex::of(Core::Hull(hull))
    }

    fn of(core: Core) -> Convex {
        Convex { core, radius: 0.0 }
    }

    /// Extends the body by everything within `radius` of it \[m\].
    pub fn rounded(self, radius: f32) -> Result<Convex, ParameterError> {
        let radius = size("radius", self.radius + size("radius", radius)?)?;
        Ok(Convex { radius, ..self })
    }

    /// Returns the body without its rounding.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// Returns the rounding radius around the core \[m\].
    pub fn radius(&self) -> f32 {
        self.radius
    }

    /// Returns the hull, if the core is one; rounded or not.
    pub fn as_hull(&self) -> Option<&ConvexHull> {
        match &self.core {
            Core::Hull(hull) => Some(hull),
            _ => None,
        }
    }

    /// Returns the bounding box \[m\].
    pub fn bounds(&self) -> Aabb {
        let half = match &self.core {
            Core::Hull(hull) => return hull.bounds().grown(self.radius),
            Core::Point => Vec3::ZERO,
            Core::Segment { half_length } => Vec3::new(0.0, 0.0, *half_length),
            Core::Cuboid { half_extents } | Core::Ellipsoid { half_extents } => *half_extents,
            Core::Cylinder {
                half_height,
                radius,
            } => Vec3::new(*radius, *radius, *half_height),
            Core::Cone {
                half_height,
                base_radius,
            } => Vec3::new(*base_radius, *base_radius, *half_height),
        };
        Aabb::from_center(Vec3::ZERO, half + self.radius)
    }

    /// Converts the body to a field of true distances, inside and out.
    pub fn field(&self) -> Result<Arc<dyn Field>, ParameterError> {
        let field: Arc<dyn Field> = match &self.core {
            Core::Point => return Ok(Arc::new(primitive::Sphere::new(self.radius)?)),
            Core::Segment { half_length } => {
                return Ok(Arc::new(primitive::Capsule::new(
                    *half_length,
                    self.radius,
                )?));
            }
            Core::Cuboid { half_extents } => Arc::new(primitive::Cuboid::new(*half_extents)?),
            Core::Cylinder {
                half_height,
                radius,
            } => Arc::new(primitive::Cylinder::new(*half_height, *radius)?),
            Core::Cone {
                half_height,
                base_radius,
            } => Arc::new(primitive::Cone::new(*half_height, *base_radius)?),
            Core::Ellipsoid { half_extents } => Arc::new(primitive::Ellipsoid::new(*half_extents)?),
            Core::Hull(hull) => Arc::new(HullField::new(hull.clone())),
        };
        Ok(match self.radius {
            0.0 => field,
            radius => Arc::new(RoundedField::new(field, radius)),
        })
    }

    /// Computes the corners of the support set: the points of the core farthest along a unit
    /// direction, including those of a face or an edge that is off by an angle whose sine is at
    /// most `lean`.
    ///
    /// The result in `out` is one point, the two ends of an edge, or the corners of a face,
    /// counter-clockwise as seen against the direction. The rounding lies `radius` farther along. A
    /// round face is represented by [`ROUND_CORNERS`] points on its rim.
    pub fn support_set(
        &self,
        direction: DVec3,
        lean: f64,
        hint: &mut u32,
        out: &mut Vec<SetPoint>,
    ) {
        out.clear();
        let sign = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
        match &self.core {
            Core::Hull(hull) => hull_support_set(hull, direction, lean, hint, out),
            Core::Segment { half_length } if direction.z.abs() <= lean => {
                let end = DVec3::Z * f64::from(*half_length);
                push(out, &[-end, end]);
            }
            Core::Cuboid { half_extents } => {
                // Numbered by signs, so that a corner keeps its number however the direction leans.
                let point = |signs: DVec3| SetPoint {
                    position: signs * half_extents.as_dvec3(),
                    number: signs.is_negative_bitmask(),
                };
                let corner = direction.map(sign);
                let mut flat = (0..3).filter(|&k| direction[k].abs() <= lean);
                match (flat.next(), flat.next()) {
                    (Some(u), Some(v)) => {
                        let axis = 3 - u - v;
                        // Cyclic order, for a face in the positive direction of its axis.
                        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                        let at = |su: f64, sv: f64| {
                            let mut signs = corner;
                            (signs[u], signs[v]) = (su, sv);
                            point(signs)
                        };
                        let mut face = [at(1.0, 1.0), at(-1.0, 1.0), at(-1.0, -1.0), at(1.0, -1.0)];
                        if direction[axis] < 0.0 {
                            face.reverse();
                        }
                        out.extend(face);
                    }
                    (Some(u), None) => {
                        let mut other = corner;
                        other[u] = -corner[u];
                        out.extend([point(corner), point(other)]);
                    }
                    (None, _) => out.push(point(corner)),
                }
            }
            Core::Cylinder {
                half_height,
                radius,
            } => {
                let (height, radius) = (f64::from(*half_height), f64::from(*radius));
                let up = sign(direction.z) * height;
                let away = direction.truncate();
                if away.length() <= lean {
                    push_disc(out, radius, up, direction.z);
                } else {
                    let rim = (radius * away.normalize_or_zero()).extend(up);
                    match direction.z.abs() <= lean {
                        true => push(out, &[rim.with_z(-height), rim.with_z(height)]),
                        false => push(out, &[rim]),
                    }
                }
            }
            Core::Cone {
                half_height,
                base_radius,
            } => {
                let (height, radius) = (f64::from(*half_height), f64::from(*base_radius));
                let away = direction.truncate();
                let profile = DVec2::new(away.length(), direction.z);
                let apex = DVec3::Z * height;
                let rim = (radius * away.normalize_or_zero()).extend(-height);
                let side = DVec2::new(2.0 * height, radius).normalize_or_zero();
                if profile.x <= lean && direction.z < 0.0 {
                    push_disc(out, radius, -height, direction.z);
                } else if profile.perp_dot(side).abs() <= lean && profile.dot(side) > 0.0 {
                    push(out, &[rim, apex]);
                } else {
                    push(out, &[self.support(direction, hint)]);
                }
            }
            Core::Point | Core::Segment { .. } | Core::Ellipsoid { .. } => {
                push(out, &[self.support(direction, hint)]);
            }
        }
    }
}

/// Number of points that represent the rim of a round face.
pub const ROUND_CORNERS: usize = 8;

fn push(out: &mut Vec<SetPoint>, points: &[DVec3]) {
    out.extend(
        (0..)
            .zip(points)
            .map(|(number, &position)| SetPoint { position, number }),
    );
}

/// Adds a round face at height `z`, counter-clockwise as seen from the side that it faces.
fn push_disc(out: &mut Vec<SetPoint>, radius: f64, z: f64, facing: f64) {
    out.extend((0..ROUND_CORNERS as u32).map(|number| {
        let turn = f64::from(number) / ROUND_CORNERS as f64 * std::f64::consts::TAU;
        let turn = if facing < 0.0 { -turn } else { turn };
        SetPoint {
            position: (radius * DVec2::from_angle(turn)).extend(z),
            number,
        }
    }));
}

/// Computes the support set of a hull: the face at the farthest vertex that is most perpendicular
/// to the direction, if it leans by at most `lean`; else such an edge; else the vertex.
fn hull_support_set(
    hull: &ConvexHull,
    direction: DVec3,
    lean: f64,
    hint: &mut u32,
    out: &mut Vec<SetPoint>,
) {
    let (vertex, _) = hull.farthest(direction, climb_hint(*hint));
    *hint = vertex + 1;
    let point = |number: u32| SetPoint {
        position: hull.vertex(number),
        number,
    };
    let mut face = (lean, None);
    let mut edge = (lean, None);
    for own in hull.outgoing(vertex) {
        let half_edge = hull.half_edges()[own as usize];
        let end = hull.end(own);
        let along = (hull.vertex(end) - hull.vertex(vertex)).normalize_or_zero();
        let off = along.dot(direction).abs();
        if off <= edge.0 {
            edge = (off, Some(end));
        }
        if let Some(own) = hull.faces().get(half_edge.face as usize) {
            let off = own.normal.cross(direction).length();
            if off <= face.0 && own.normal.dot(direction) > 0.0 {
                face = (off, Some(half_edge.face));
            }
        }
    }
    match (face.1, edge.1) {
        (Some(face), _) => {
            let corners = hull.around(face);
            out.extend(corners.map(|edge| point(hull.half_edges()[edge as usize].origin)));
        }
        (None, Some(end)) => out.extend([point(vertex), point(end)]),
        (None, None) => out.push(point(vertex)),
    }
}

/// Converts a hint to a vertex. Hints count from 1, so that 0, the default, is none.
#[inline]
fn climb_hint(hint: u32) -> Option<u32> {
    hint.checked_sub(1)
}

/// Support function of the core, without its rounding.
impl Support for Convex {
    /// One more than the vertex of a hull where the last search ended; 0 for none.
    type Hint = u32;

    #[inline(always)]
    fn support(&self, direction: DVec3, hint: &mut u32) -> DVec3 {
        self.support_from(direction, self.look_up(direction), hint)
    }

    #[inline(always)]
    fn look_up(&self, direction: DVec3) -> usize {
        match &self.core {
            Core::Hull(hull) => hull.cell(direction),
            _ => 0,
        }
    }

    #[inline(always)]
    fn support_from(&self, direction: DVec3, place: usize, hint: &mut u32) -> DVec3 {
        match &self.core {
            Core::Hull(hull) => {
                let (vertex, position) = hull.farthest_in(place, direction, climb_hint(*hint));
                *hint = vertex + 1;
                position
            }
            closed => closed.support(direction),
        }
    }

    #[inline]
    fn extent(&self) -> f64 {
        let most = match &self.core {
            Core::Hull(hull) => hull.extent(),
            Core::Point => 0.0,
            Core::Segment { half_length } => *half_length,
            Core::Cuboid { half_extents } | Core::Ellipsoid { half_extents } => {
                half_extents.max_element()
            }
            Core::Cylinder {
                half_height,
                radius: wide,
            }
            | Core::Cone {
                half_height,
                base_radius: wide,
            } => half_height.max(*wide),
        };
        f64::from(most)
    }
}

impl Core {
    /// Returns the support point of a closed form; the origin for a hull, which has its own search.
    fn support(&self, direction: DVec3) -> DVec3 {
        let up = |height: f32| f64::from(height).copysign(direction.z);
        match self {
            Core::Point | Core::Hull(_) => DVec3::ZERO,
            Core::Segment { half_length } => DVec3::new(0.0, 0.0, up(*half_length)),
            Core::Cuboid { half_extents } => {
                let half = half_extents.as_dvec3();
                DVec3::new(
                    half.x.copysign(direction.x),
                    half.y.copysign(direction.y),
                    half.z.copysign(direction.z),
                )
            }
            Core::Cylinder {
                half_height,
                radius,
            } => {
                let rim = f64::from(*radius) * direction.truncate().normalize_or_zero();
                rim.extend(up(*half_height))
            }
            Core::Cone {
                half_height,
                base_radius,
            } => {
                let (height, radius) = (f64::from(*half_height), f64::from(*base_radius));
                let away = direction.truncate();
                if 2.0 * height * direction.z > radius * away.length() {
                    DVec3::new(0.0, 0.0, height)
                } else {
                    (radius * away.normalize_or_zero()).extend(-height)
                }
            }
            Core::Ellipsoid { half_extents } => {
                // The support point of the unit ball in the scaled direction, scaled back.
                let half = half_extents.as_dvec3();
                half * (half * direction).normalize_or_zero()
            }
        }
    }
}
