//! Closed forms: sphere, cuboid, rounded cuboid, capsule, cylinder, cone, torus, ellipsoid,
//! half-space.
//!
//! Input: sizes \[m\], checked once.
//! Output: true signed distances in the shape's own frame: centre at the origin, axis along z
//! (place them with [`Transformed`](crate::field::closed_form::transform::Transformed)).
//! Cost: one or two square roots per value; the ellipsoid searches a root, about eight times as
//! much.
//! Not for: anisotropic scale, which no closed form survives.
//!
//! All are [`Meaning::Distance`](crate::field::field::Meaning::Distance), inside and out, and
//! beyond their bounds too; [`Field::error_bound`](crate::field::field::Field::error_bound) is the
//! rounding analysed in `rounding.rs`. Where several surface points are equally near (centre, axis,
//! medial planes) the gradient is the unit vector of one of them, as documented on each shape. Size
//! 0 is allowed and means the limit: a ball of radius 0 is a point.
//!
//! After \[Quilez2008\] (docs/BIBLIOGRAPHY.md). We differ inside, where every formula here is
//! exact, and in deciding inside and outside by signed distances to lines, which stays right for
//! flat cones.

mod capsule;
mod cone;
mod cuboid;
mod cylinder;
mod ellipsoid;
mod half_space;
mod sphere;
mod torus;

pub use capsule::Capsule;
pub use cone::Cone;
pub use cuboid::{Cuboid, RoundedCuboid};
pub use cylinder::Cylinder;
pub use ellipsoid::Ellipsoid;
pub use half_space::HalfSpace;
pub use sphere::Sphere;
pub use torus::Torus;

use glam::{Vec2, Vec3};

/// Returns the unit vector away from the z axis; +x on the axis itself.
fn radial(point: Vec3) -> Vec3 {
    crate::field::bounds::rounding::direction(point.with_z(0.0)).unwrap_or(Vec3::X)
}

/// Returns the distance from the z axis, and the height \[m\].
fn profile(point: Vec3) -> Vec2 {
    Vec2::new(
        crate::field::bounds::rounding::length(point.with_z(0.0)),
        point.z,
    )
}
