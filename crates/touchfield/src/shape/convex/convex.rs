//! Convex bodies: closed forms and hulls, rounded or not.
//!
//! Input: sizes \[m\], or a [`ConvexHull`]. Output: support points, support sets, and the same body as a field.
//! Cost: a few operations a support point; of a hull those of a climb from the last one. Not for: hollows.
//!
//! A body is a *core* with a rounding radius around it: a ball is a point with a radius, a capsule a segment with one. Distances and depths of rounded bodies
//! are those of the cores less the radii, exactly, apart or overlapping: so balls and capsules cost no more than points and segments.
//! Axes are along z, the middle of the height at the origin, as of the closed forms in `field::primitive`.

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

/// What is left of a body when its rounding is taken off.
#[derive(Clone, Debug, PartialEq)]
pub enum Core {
    /// The origin: the core of a ball.
    Point,
    /// From −`half_length` to `half_length` along z \[m\]: the core of a capsule.
    Segment {
        /// Half its length \[m\].
        half_length: f32,
    },
    /// A box, from half its sides \[m\].
    Cuboid {
        /// Half its sides \[m\].
        half_extents: Vec3,
    },
    /// A cylinder along z.
    Cylinder {
        /// Half its height \[m\].
        half_height: f32,
        /// \[m\].
        radius: f32,
    },
    /// A cone along z, apex up.
    Cone {
        /// Half its height \[m\].
        half_height: f32,
        /// Of its base \[m\].
        base_radius: f32,
    },
    /// An ellipsoid, from its half axes \[m\].
    Ellipsoid {
        /// Half its axes \[m\].
        half_extents: Vec3,
    },
    /// The hull of points.
    Hull(Arc<ConvexHull>),
}

impl Core {
    /// The word used in messages and JSON.
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

/// A corner of a support set, and a number that it has from call to call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetPoint {
    /// \[m\].
    pub position: DVec3,
    /// Which corner of the body it is.
    pub number: u32,
}

impl Convex {
    /// A ball.
    pub fn sphere(radius: f32) -> Result<Convex, ParameterError> {
        Convex::of(Core::Point).rounded(radius)
    }

    /// A segment from −`half_length` to `half_length` along z, with a radius \[m\].
    pub fn capsule(half_length: f32, radius: f32) -> Result<Convex, ParameterError> {
        let half_length = size("half_length", half_length)?;
        Convex::of(Core::Segment { half_length }).rounded(radius)
    }

    /// A box, from half its sides \[m\].
    pub fn cuboid(half_extents: Vec3) -> Result<Convex, ParameterError> {
        let half_extents = parameter::half_extents(half_extents)?;
        Ok(Convex::of(Core::Cuboid { half_extents }))
    }

    /// A cylinder, from half its height and its radius \[m\].
    pub fn cylinder(half_height: f32, radius: f32) -> Result<Convex, ParameterError> {
        Ok(Convex::of(Core::Cylinder {
            half_height: size("half_height", half_height)?,
            radius: size("radius", radius)?,
        }))
    }

    /// A cone with its apex up, from half its height and the radius of its base \[m\].
    pub fn cone(half_height: f32, base_radius: f32) -> Result<Convex, ParameterError> {
        Ok(Convex::of(Core::Cone {
            half_height: size("half_height", half_height)?,
            base_radius: size("base_radius", base_radius)?,
        }))
    }

    /// An ellipsoid, from its half axes \[m\].
    pub fn ellipsoid(half_extents: Vec3) -> Result<Convex, ParameterError> {
        let half_extents = parameter::half_extents(half_extents)?;
        Ok(Convex::of(Core::Ellipsoid { half_extents }))
    }

    /// The hull of points.
    pub fn hull(hull: Arc<ConvexHull>) -> Convex {
        Convex::of(Core::Hull(hull))
    }

    fn of(core: Core) -> Convex {
        Convex { core, radius: 0.0 }
    }

    /// The same body with everything within `radius` of it \[m\].
    pub fn rounded(self, radius: f32) -> Result<Convex, ParameterError> {
        let radius = size("radius", self.radius + size("radius", radius)?)?;
        Ok(Convex { radius, ..self })
    }

    /// The body without its rounding.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// How far it reaches beyond its core \[m\].
    pub fn radius(&self) -> f32 {
        self.radius
    }

    /// The hull, if it is one; rounded or not.
    pub fn as_hull(&self) -> Option<&ConvexHull> {
        match &self.core {
            Core::Hull(hull) => Some(hull),
            _ => None,
        }
    }

    /// A box around it \[m\].
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

    /// The same body as a field: true distances, inside and out.
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

    /// The corners of the set of points that lie farthest along a unit direction, those within `lean` of it included, where `lean` is the sine
    /// of the angle by which a face or an edge may be off: one point, the two ends of an edge, or the corners of a face, counter-clockwise seen against
    /// the direction. Of the core: the rounding lies `radius` farther along. Round faces are told by [`ROUND_CORNERS`] points of their rim.
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
                // By its signs: a corner keeps its number whichever way the direction leans.
                let point = |signs: DVec3| SetPoint {
                    position: signs * half_extents.as_dvec3(),
                    number: signs.is_negative_bitmask(),
                };
                let corner = direction.map(sign);
                let mut flat = (0..3).filter(|&k| direction[k].abs() <= lean);
                match (flat.next(), flat.next()) {
                    (Some(u), Some(v)) => {
                        let axis = 3 - u - v;
                        // Cyclic for an upward face of its axis.
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

/// Points that stand for the rim of a round face.
pub const ROUND_CORNERS: usize = 8;

fn push(out: &mut Vec<SetPoint>, points: &[DVec3]) {
    out.extend(
        (0..)
            .zip(points)
            .map(|(number, &position)| SetPoint { position, number }),
    );
}

/// A round face at height `z`, counter-clockwise seen from where it faces.
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

/// The face at the farthest vertex that faces the direction best, if it leans no more than allowed; else the edge that does; else the vertex.
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

/// Hints count from 1, so that 0, the default, is none.
#[inline]
fn climb_hint(hint: u32) -> Option<u32> {
    hint.checked_sub(1)
}

/// Of the core, without its rounding.
impl Support for Convex {
    /// The vertex of a hull where the last climb ended, and 1; 0: none.
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
    /// Of closed forms; the origin for a hull, which has a search of its own.
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
                // The unit ball's support, stretched there and back.
                let half = half_extents.as_dvec3();
                half * (half * direction).normalize_or_zero()
            }
        }
    }
}
