//! Signed distance fields of convex bodies.
//!
//! Input: a hull, or any field of a convex body and a radius.
//! Output: true signed distances, inside and out.
//! Cost: a search for the nearest plane, then a short walk over the surface.
//! Not for: points near the centre of balls with many thousand faces, where all planes are about
//! equally near.
//!
//! Inside, the nearest plane of a face gives the nearest surface. Outside, the nearest point of a
//! convex body is the only local minimum of the distance, so a walk from face to face that only
//! decreases the distance ends there.

use std::sync::{Arc, OnceLock};

use glam::{DVec3, Vec3};

use super::ConvexHull;
use super::plane_tree::PlaneTree;
use crate::field::bounds::rounding;
use crate::field::bounds::rounding::CellBall;
use crate::field::{Field, LowerPlane, Meaning, Sample};
use crate::geom::{Aabb, Interval};

/// The signed distance field of a hull.
#[derive(Clone, Debug)]
pub struct HullField {
    hull: Arc<ConvexHull>,
    /// Tree over the planes of a hull with many faces. It is built at the first evaluation, because
    /// queries between two hulls never need it.
    planes: OnceLock<PlaneTree>,
    bounds: Aabb,
}

/// The nearest point of the surface.
struct Nearest {
    point: DVec3,
    squared: f64,
    /// A half-edge that the point lies on or at an end of; `None` inside a face.
    on: Option<u32>,
    /// Vertex that the point coincides with.
    at: Option<u32>,
}

impl HullField {
    /// Creates the field of a hull.
    pub fn new(hull: Arc<ConvexHull>) -> HullField {
        let bounds = hull.bounds();
        HullField {
            hull,
            planes: OnceLock::new(),
            bounds,
        }
    }

    fn size(&self) -> f32 {
        rounding::largest_coordinate(self.bounds)
    }

    /// Computes the distance and the outward direction in `f64`.
    fn sample_f64(&self, point: DVec3) -> (f64, DVec3) {
        let hull = &*self.hull;
        let best = self.highest(point);
        let is_solid = hull.faces().len() > 2;
        let face = hull.faces().get(best.1 as usize);
        if let Some(face) = face.filter(|_| is_solid && best.0 <= 0.0) {
            return (best.0, face.normal);
        }
        let nearest = match face {
            Some(_) => self.nearest_from(best.1, point),
            None => self.nearest_on_line(point),
        };
        let off = point - nearest.point;
        let distance = off.length();
        let away = face.map_or(DVec3::Z, |face| face.normal);
        (distance, off.try_normalize().unwrap_or(away))
    }

    /// Returns the height of a point over the plane that it is highest above \[m\], and the index
    /// of that face; the lowest index on ties.
    fn highest(&self, point: DVec3) -> (f64, u32) {
        /// Number of faces from which on the tree is used. Tuned: at 500 both take as long.
        const MANY: usize = 1000;
        if self.hull.faces().len() >= MANY {
            let planes = self.planes.get_or_init(|| PlaneTree::new(&self.hull));
            return planes.highest(point);
        }
        let mut best = (f64::NEG_INFINITY, 0);
        for (index, face) in (0..).zip(self.hull.faces()) {
            let above = face.normal.dot(point) - face.offset;
            if above > best.0 {
                best = (above, index);
            }
        }
        best
    }

    /// Returns the nearest point of a hull that is a segment or a single point.
    fn nearest_on_line(&self, point: DVec3) -> Nearest {
        let ends = [0, self.hull.vertices().len() as u32 - 1];
        let [from, to] = ends.map(|end| self.hull.vertex(end));
        let nearest = from + share_along(from, to, point) * (to - from);
        Nearest {
            point: nearest,
            squared: nearest.distance_squared(point),
            on: None,
            at: None,
        }
    }

    /// Walks from a face to the nearest point of the surface.
    fn nearest_from(&self, face: u32, point: DVec3) -> Nearest {
        let hull = &*self.hull;
        let mut best = self.nearest_on_face(face, point);
        while let Some(edge) = best.on {
            let mut better: Option<Nearest> = None;
            let mut consider = |face: u32| {
                let found = self.nearest_on_face(face, point);
                let least = better.as_ref().map_or(best.squared, |b| b.squared);
                if found.squared < least {
                    better = Some(found);
                }
            };
            match best.at {
                Some(vertex) => {
                    for edge in hull.outgoing(vertex) {
                        consider(hull.half_edges()[edge as usize].face);
                    }
                }
                None => {
                    let twin = hull.half_edges()[edge as usize].twin;
                    consider(hull.half_edges()[twin as usize].face);
                }
            }
            match better {
                Some(better) => best = better,
                None => break,
            }
        }
        best
    }

    fn nearest_on_face(&self, face: u32, point: DVec3) -> Nearest {
        let hull = &*self.hull;
        let plane = hull.faces()[face as usize];
        let edges = || {
            hull.around(face).map(|own| {
                let edge = hull.half_edges()[own as usize];
                (own, edge, hull.vertex(edge.origin))
            })
        };
        if edges().all(|(_, edge, origin)| edge.outward.dot(point - origin) <= 0.0) {
            let above = plane.normal.dot(point) - plane.offset;
            return Nearest {
                point: point - above * plane.normal,
                squared: above * above,
                on: None,
                at: None,
            };
        }
        let mut best = Nearest {
            point: DVec3::ZERO,
            squared: f64::INFINITY,
            on: None,
            at: None,
        };
        for (own, edge, from) in edges() {
            let end = hull.end(own);
            let to = hull.vertex(end);
            let share = share_along(from, to, point);
            let nearest = from + share * (to - from);
            let squared = nearest.distance_squared(point);
            if squared < best.squared {
                let at = match share {
                    0.0 => Some(edge.origin),
                    1.0 => Some(end),
                    _ => None,
                };
                best = Nearest {
                    point: nearest,
                    squared,
                    on: Some(own),
                    at,
                };
            }
        }
        best
    }
}

/// Returns the parameter, from 0 to 1, of the point of a segment nearest to `point`.
fn share_along(from: DVec3, to: DVec3, point: DVec3) -> f64 {
    let along = to - from;
    let share = (point - from).dot(along) / along.length_squared();
    // A segment without length is represented by its start.
    if share.is_nan() {
        0.0
    } else {
        share.clamp(0.0, 1.0)
    }
}

/// Bounds a convex function over a cell: it is largest at a corner, and lies above its tangents.
fn interval_of_convex(
    cell: Aabb,
    size: f32,
    distance: impl Fn(Vec3) -> f32,
    plane: Option<LowerPlane>,
) -> Interval {
    let Some(ball) = CellBall::of(cell) else {
        return Interval::EVERYTHING;
    };
    let upper = cell
        .corners()
        .into_iter()
        .map(&distance)
        .fold(f32::NEG_INFINITY, f32::max);
    let from_center = distance(ball.center) - ball.radius;
    let from_plane = plane.map_or(f32::NEG_INFINITY, |plane| {
        plane.value - plane.gradient.abs().dot(cell.half_extents())
    });
    Interval::new(from_center.max(from_plane), upper).grown(rounding::slack(ball.magnitude + size))
}

impl Field for HullField {
    fn bounds(&self) -> Aabb {
        self.bounds
    }

    fn error_bound(&self) -> f32 {
        rounding::error_of(self.size())
    }

    fn distance(&self, point: Vec3) -> f32 {
        self.sample_f64(point.as_dvec3()).0 as f32
    }

    fn sample(&self, point: Vec3) -> Sample {
        let (distance, gradient) = self.sample_f64(point.as_dvec3());
        Sample {
            distance: distance as f32,
            gradient: gradient.as_vec3(),
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        let plane = self.lower_plane(cell);
        interval_of_convex(cell, self.size(), |point| self.distance(point), plane)
    }

    fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
        rounding::plane_of_convex(cell, self.size(), |point| self.sample(point))
    }
}

/// A convex body with everything within a radius of it: true distances minus the radius, exact
/// inside and out.
#[derive(Clone)]
pub struct RoundedField {
    field: Arc<dyn Field>,
    radius: f32,
}

impl RoundedField {
    /// Creates the rounded field of a convex body; for a concave one the depths would be too small.
    pub(super) fn new(field: Arc<dyn Field>, radius: f32) -> RoundedField {
        RoundedField { field, radius }
    }

    fn rounding(&self) -> f32 {
        rounding::error_of(rounding::largest_finite_coordinate(self.field.bounds()) + self.radius)
    }
}

impl Field for RoundedField {
    fn bounds(&self) -> Aabb {
        self.field.bounds().grown(self.radius)
    }

    fn error_bound(&self) -> f32 {
        self.field.error_bound() + self.rounding()
    }

    fn meaning(&self) -> Meaning {
        self.field.meaning()
    }

    fn distance(&self, point: Vec3) -> f32 {
        self.field.distance(point) - self.radius
    }

    fn sample(&self, point: Vec3) -> Sample {
        let sample = self.field.sample(point);
        Sample {
            distance: sample.distance - self.radius,
            ..sample
        }
    }

    fn interval(&self, cell: Aabb) -> Interval {
        let Some(ball) = CellBall::of(cell) else {
            return Interval::EVERYTHING;
        };
        let of_core = self.field.interval(cell);
        let slack = rounding::slack(ball.magnitude) + self.rounding();
        Interval::new(of_core.lower - self.radius, of_core.upper - self.radius).grown(slack)
    }

    fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
        let ball = CellBall::of(cell)?;
        let plane = self.field.lower_plane(cell)?;
        Some(LowerPlane {
            value: plane.value - self.radius - rounding::slack(ball.magnitude) - self.rounding(),
            ..plane
        })
    }
}
