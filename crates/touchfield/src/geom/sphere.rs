//! Spheres as centre and radius.

use glam::Vec3;

/// A ball, including its surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Centre \[m\].
    pub center: Vec3,
    /// Radius \[m\], not negative.
    pub radius: f32,
}

impl Sphere {
    /// Returns the signed distance from `point` to the surface \[m\]; negative inside.
    pub fn signed_distance(self, point: Vec3) -> f32 {
        point.distance(self.center) - self.radius
    }

    /// Returns whether the two balls share a point; touching counts.
    pub fn overlaps(self, other: Sphere) -> bool {
        let reach = self.radius + other.radius;
        self.center.distance_squared(other.center) <= reach * reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_spheres_overlap() {
        let a = Sphere {
            center: Vec3::ZERO,
            radius: 1.0,
        };
        let at = |x| Sphere {
            center: Vec3::X * x,
            radius: 2.0,
        };
        assert!(a.overlaps(at(3.0)));
        assert!(!a.overlaps(at(3.001)));
        assert_eq!(a.signed_distance(Vec3::Y * 3.0), 2.0);
    }
}
