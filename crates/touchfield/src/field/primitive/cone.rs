//! Cones and frustums with flat ends.

use glam::{DVec2, Vec2, Vec3};

use super::{profile, radial};
use crate::field::parameter::{self, ParameterError};
use crate::field::rounding::{self, CellBall};
use crate::field::{Field, Sample};
use crate::geom::{Aabb, Interval};

/// A cone around the z axis, base below, apex or a smaller (or larger) flat end above, middle height at z = 0.
///
/// Of side and ends equally near the gradient points to the side; on the axis the side is that of +x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    half_height: f32,
    base_radius: f32,
    top_radius: f32,
    /// Outward unit normal of the side, as (away from the axis, up).
    side_normal: Vec2,
}

impl Cone {
    /// A cone with its apex up, from half its height and the radius of its base \[m\].
    pub fn new(half_height: f32, base_radius: f32) -> Result<Cone, ParameterError> {
        Cone::frustum(half_height, base_radius, 0.0)
    }

    /// A cone cut off flat, from half its height and the radii below and above \[m\].
    pub fn frustum(
        half_height: f32,
        base_radius: f32,
        top_radius: f32,
    ) -> Result<Cone, ParameterError> {
        parameter::size("half_height", half_height)?;
        parameter::size("base_radius", base_radius)?;
        parameter::size("top_radius", top_radius)?;
        let rise = 2.0 * f64::from(half_height);
        let narrowing = f64::from(base_radius) - f64::from(top_radius);
        let side_normal = DVec2::new(rise, narrowing)
            .try_normalize()
            .unwrap_or(DVec2::X); // a flat disc has a rim, no side
        Ok(Cone {
            half_height,
            base_radius,
            top_radius,
            side_normal: side_normal.as_vec2(),
        })
    }

    /// Half the height \[m\].
    pub fn half_height(self) -> f32 {
        self.half_height
    }

    /// Radius at the bottom \[m\].
    pub fn base_radius(self) -> f32 {
        self.base_radius
    }

    /// Radius at the top \[m\]; 0 for an apex.
    pub fn top_radius(self) -> f32 {
        self.top_radius
    }

    fn size(self) -> f32 {
        self.half_height + self.base_radius.max(self.top_radius)
    }

    /// Signed distance to the line that carries the side \[m\]. From the wider end, where the line's error is least.
    fn beyond_side(self, profile: Vec2) -> f32 {
        let wide = if self.base_radius >= self.top_radius {
            Vec2::new(self.base_radius, -self.half_height)
        } else {
            Vec2::new(self.top_radius, self.half_height)
        };
        self.side_normal.dot(profile - wide)
    }

    /// From the nearest point of the surface to a point outside, as (away from the axis, up).
    fn beyond_surface(self, profile: Vec2) -> Vec2 {
        let (end_radius, end_height) = if profile.y < 0.0 {
            (self.base_radius, -self.half_height)
        } else {
            (self.top_radius, self.half_height)
        };
        let from_end = profile - Vec2::new(profile.x.min(end_radius), end_height);

        let base = Vec2::new(self.base_radius, -self.half_height);
        let slant = Vec2::new(self.top_radius, self.half_height) - base;
        let length = rounding::length2(slant);
        let along = if length > 0.0 {
            ((profile - base).dot(slant / length) / length).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let from_side = profile - (base + slant * along);
        if rounding::length2(from_side) <= rounding::length2(from_end) {
            from_side
        } else {
            from_end
        }
    }
}

impl Field for Cone {
    fn bounds(&self) -> Aabb {
        let radius = self.base_radius.max(self.top_radius);
        Aabb::from_center(Vec3::ZERO, Vec3::new(radius, radius, self.half_height))
    }

    fn error_bound(&self) -> f32 {
        rounding::error_of(self.size())
    }

    fn distance(&self, point: Vec3) -> f32 {
        let profile = profile(point);
        // Convex: inside, the nearest line is the nearest surface; outside, at least one line is in front.
        let line = f32::max(
            self.beyond_side(profile),
            profile.y.abs() - self.half_height,
        );
        if line <= 0.0 {
            line
        } else {
            rounding::length2(self.beyond_surface(profile))
        }
    }

    fn sample(&self, point: Vec3) -> Sample {
        let profile = profile(point);
        let side = self.beyond_side(profile);
        let end = profile.y.abs() - self.half_height;
        let to_end = Vec2::new(0.0, if profile.y < 0.0 { -1.0 } else { 1.0 });
        let to_surface = if side >= end {
            self.side_normal
        } else {
            to_end
        };
        let away = radial(point);
        let gradient = if f32::max(side, end) <= 0.0 {
            None
        } else {
            let from_surface = self.beyond_surface(profile);
            rounding::direction(from_surface.extend(0.0))
        };
        let outward = gradient.map_or(to_surface, Vec3::truncate);
        Sample {
            distance: self.distance(point),
            gradient: away * outward.x + Vec3::Z * outward.y,
        }
    }

    /// Upper end: convex, and growing away from the axis, so it is largest at the farthest radius of the lowest or the
    /// highest plane of the cell. Lower end: the larger of what the lines and what the centre of the cell promise.
    fn interval(&self, cell: Aabb) -> Interval {
        let Some(ball) = CellBall::of(cell) else {
            return Interval::EVERYTHING;
        };
        let nearest = cell.closest_point(Vec3::ZERO);
        let farthest = cell.min.abs().max(cell.max.abs());
        let upper = f32::max(
            self.distance(farthest.with_z(cell.min.z)),
            self.distance(farthest.with_z(cell.max.z)),
        );
        let lowest_on_side = if self.side_normal.y >= 0.0 {
            cell.min.z
        } else {
            cell.max.z
        };
        let side = self.beyond_side(Vec2::new(profile(nearest).x, lowest_on_side));
        let end = nearest.z.abs() - self.half_height;
        let from_center = self.distance(ball.center) - ball.radius;
        Interval::new(side.max(end).max(from_center), upper)
            .grown(rounding::slack(ball.magnitude + self.size()))
    }
}
