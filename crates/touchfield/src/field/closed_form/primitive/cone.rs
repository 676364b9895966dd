//! Cones and frustums with flat ends.

use glam::{DVec2, Vec2, Vec3};

use crate::field::bounds::rounding;
use crate::field::bounds::rounding::CellBall;
use crate::field::closed_form::parameter;
use crate::field::closed_form::parameter::ParameterError;
use crate::field::closed_form::primitive::{profile, radial};
use crate::field::field::{Field, LowerPlane, Sample};
use crate::field::recipe::Recipe;
use crate::geom::{Aabb, Interval};

/// A cone around the z axis, base below, apex or a smaller (or larger) flat end above, middle
/// height at z = 0.
///
/// Where the side and an end are equally near, the gradient points to the side. On the axis the
/// side is that of +x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    half_height: f32,
    base_radius: f32,
    top_radius: f32,
    /// Outward unit normal of the side, as (away from the axis, up).
    side_normal: Vec2,
}

impl Cone {
    /// Builds a cone with its apex up, from half its height and the radius of its base \[m\].
    pub fn new(half_height: f32, base_radius: f32) -> Result<Cone, ParameterError> {
        Cone::frustum(half_height, base_radius, 0.0)
    }

    /// Builds a frustum from half its height and its lower and upper radius \[m\].
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

    /// Returns half the height \[m\].
    pub fn half_height(self) -> f32 {
        self.half_height
    }

    /// Returns the radius at the bottom \[m\].
    pub fn base_radius(self) -> f32 {
        self.base_radius
    }

    /// Returns the radius at the top \[m\]; 0 for an apex.
    pub fn top_radius(self) -> f32 {
        self.top_radius
    }

    fn size(self) -> f32 {
        self.half_height + self.base_radius.max(self.top_radius)
    }

    /// Returns the signed distance to the line that carries the side \[m\], measured from the wider
    /// end, where the line's error is least.
    fn beyond_side(self, profile: Vec2) -> f32 {
        let wide = if self.base_radius >= self.top_radius {
            Vec2::new(self.base_radius, -self.half_height)
        } else {
            Vec2::new(self.top_radius, self.half_height)
        };
        self.side_normal.dot(profile - wide)
    }

    /// Returns the distance from a point of the profile plane to the surface, and the outward
    /// direction, as (away from the axis, up).
    ///
    /// The profile is convex: inside, the nearest of its lines is the nearest surface. Outside, the
    /// plane is divided into a strip before each side, where the side's line is nearest, and a
    /// wedge at each corner. Lines give the sign and the direction without a difference of nearly
    /// equal points, so both stay right at the surface and for flat cones.
    fn distance_and_direction(self, profile: Vec2) -> (f32, Vec2) {
        let (end_radius, to_end) = if profile.y < 0.0 {
            (self.base_radius, Vec2::NEG_Y)
        } else {
            (self.top_radius, Vec2::Y)
        };
        let side = self.beyond_side(profile);
        let end = profile.y.abs() - self.half_height;
        let nearest_line = if side >= end {
            (side, self.side_normal)
        } else {
            (end, to_end)
        };
        // Beyond the wide end's radius a point is outside, even if the cone is too flat for the
        // line of its side to show it.
        let within_radius = profile.x <= self.base_radius.max(self.top_radius);
        if nearest_line.0 <= 0.0 && within_radius {
            return nearest_line;
        }
        let base = Vec2::new(self.base_radius, -self.half_height);
        let top = Vec2::new(self.top_radius, self.half_height);
        let slant = rounding::length2(top - base);
        // NaN for a disc, which has no side.
        let along = (profile - base).dot((top - base) / slant) / slant;
        if side > 0.0 && (0.0..=1.0).contains(&along) {
            (side, self.side_normal)
        } else if end > 0.0 && profile.x <= end_radius {
            (end, to_end)
        } else {
            let from_corner = profile - if along < 0.5 { base } else { top };
            let direction = rounding::direction(from_corner.extend(0.0));
            (
                rounding::length2(from_corner),
                direction.map_or(nearest_line.1, Vec3::truncate),
            )
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
        self.distance_and_direction(profile(point)).0
    }

    fn sample(&self, point: Vec3) -> Sample {
        let (distance, outward) = self.distance_and_direction(profile(point));
        Sample {
            distance,
            gradient: radial(point) * outward.x + Vec3::Z * outward.y,
        }
    }

    /// Returns an interval. Upper end: the distance is convex and grows away from the axis, so it
    /// is largest at the farthest radius of the lowest or the highest plane of the cell. Lower end:
    /// the larger of the bounds from the lines and from the centre of the cell.
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

    fn lower_plane(&self, cell: Aabb) -> Option<LowerPlane> {
        rounding::plane_of_convex(cell, self.size(), |point| self.sample(point))
    }

    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::Cone([
            self.half_height,
            self.base_radius,
            self.top_radius,
        ]))
    }
}
