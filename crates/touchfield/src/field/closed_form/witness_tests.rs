//! Tests of witness points of closed forms.

use glam::Vec3;

use crate::field::bounds::witness::*;
use crate::field::closed_form::csg::Intersection;
use crate::field::closed_form::parameter::ParameterError;
use crate::field::closed_form::primitive::HalfSpace;
use crate::field::closed_form::primitive::Sphere;
use crate::field::closed_form::transform::Transformed;
use crate::field::field::Field;
use crate::geom::Aabb;
use crate::geom::Pose;

/// Returns the largest number of points visited from a thousand starts within a few metres; `None`
/// if a walk found nothing.
fn longest_walk(field: &impl Field) -> Option<usize> {
    let mut longest = 0;
    for i in 0..1000 {
        let t = i as f32;
        let start = 3.0 * Vec3::new(t.sin(), (2.3 * t).cos(), (0.7 * t).sin());
        let looked_at = std::cell::Cell::new(0);
        let upper_at = |point| {
            looked_at.set(looked_at.get() + 1);
            field.distance(point) + 1e-5
        };
        let start = Aabb::new(start, start);
        let upper = upper_end(start, |point| field.sample(point), upper_at);
        longest = longest.max(looked_at.get());
        if upper == f32::INFINITY {
            return None;
        }
    }
    Some(longest)
}

#[test]
fn walks_end_in_lenses_and_wedges_but_not_in_slivers() -> Result<(), ParameterError> {
    let ball = |z| Transformed::new(Sphere::new(1.0)?, Pose::from_translation(Vec3::Z * z), 1.0);
    let lens = Intersection {
        first: ball(0.5)?,
        second: ball(-0.5)?,
    };
    assert_eq!(longest_walk(&lens), Some(3));
    for (degrees, steps) in [(90.0f32, Some(3)), (30.0, Some(9)), (10.0, None)] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let wedge = Intersection {
            first: HalfSpace::new(Vec3::Z, 0.0)?,
            second: HalfSpace::new(Vec3::new(sin, 0.0, -cos), 0.0)?,
        };
        assert_eq!(longest_walk(&wedge), steps, "{degrees}°");
    }
    Ok(())
}
