//! Mass of closed forms.
//!
//! Input: dimensions. Output: [`MassProperties`] of unit density, exact up to rounding.
//! Cost: a few operations. Not for: meshes, whose triangles are integrated.

use std::f64::consts::PI;

use glam::{DMat3, DVec3};
use touchfield::mass::MassProperties;

use crate::scene::settings::BodyShape;

/// Returns the mass properties of a shape for unit density; `None` for half-spaces and meshes.
pub(super) fn mass_of(shape: &BodyShape) -> Option<MassProperties> {
    let (volume, moments) = match *shape {
        BodyShape::Sphere { radius: r } => (4.0 / 3.0 * PI * r.powi(3), DVec3::splat(0.4 * r * r)),
        BodyShape::Box { half } => {
            let s = half * half / 3.0;
            let moments = DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y);
            (8.0 * half.x * half.y * half.z, moments)
        }
        BodyShape::Capsule {
            radius: r,
            half_length: h,
        } => {
            let (tube, caps) = (2.0 * PI * r * r * h, 4.0 / 3.0 * PI * r.powi(3));
            // A half ball has its centre 3/8 r above its flat side; the parallel-axis theorem takes
            // it from there to the middle of the capsule.
            let across =
                tube * (0.25 * r * r + h * h / 3.0) + caps * (0.4 * r * r + h * h + 0.75 * h * r);
            let along = tube * 0.5 * r * r + caps * 0.4 * r * r;
            let volume = tube + caps;
            (volume, DVec3::new(across, across, along) / volume)
        }
        BodyShape::Cylinder {
            radius: r,
            half_height: h,
        } => {
            let across = 0.25 * r * r + h * h / 3.0;
            (
                2.0 * PI * r * r * h,
                DVec3::new(across, across, 0.5 * r * r),
            )
        }
        BodyShape::Torus { major, minor } => {
            let (ring, tube) = (major * major, minor * minor);
            let across = 0.5 * ring + 0.625 * tube;
            (
                2.0 * PI * PI * major * tube,
                DVec3::new(across, across, ring + 0.75 * tube),
            )
        }
        BodyShape::HalfSpace { .. } | BodyShape::Mesh(_) => return None,
    };
    Some(MassProperties {
        volume,
        center: DVec3::ZERO,
        inertia: DMat3::from_diagonal(volume * moments),
    })
}

#[cfg(test)]
mod tests {
    use glam::Vec3;
    use touchfield::Field;
    use touchfield::field::primitive::Torus;
    use touchfield::shape::Convex;

    use super::*;

    /// Every formula agrees with an integral over the field of the same solid.
    #[test]
    fn closed_forms_agree_with_integrals_over_fields() {
        let of = |convex: Convex| convex.field().unwrap();
        let cases: [(BodyShape, std::sync::Arc<dyn Field>); 5] = [
            (
                BodyShape::Sphere { radius: 0.3 },
                of(Convex::sphere(0.3).unwrap()),
            ),
            (
                BodyShape::Box {
                    half: DVec3::new(0.1, 0.2, 0.3),
                },
                of(Convex::cuboid(Vec3::new(0.1, 0.2, 0.3)).unwrap()),
            ),
            (
                BodyShape::Capsule {
                    radius: 0.1,
                    half_length: 0.15,
                },
                of(Convex::capsule(0.15, 0.1).unwrap()),
            ),
            (
                BodyShape::Cylinder {
                    radius: 0.1,
                    half_height: 0.25,
                },
                of(Convex::cylinder(0.25, 0.1).unwrap()),
            ),
            (
                BodyShape::Torus {
                    major: 0.3,
                    minor: 0.1,
                },
                std::sync::Arc::new(Torus::new(0.3, 0.1).unwrap()),
            ),
        ];
        for (shape, field) in cases {
            let exact = mass_of(&shape).unwrap();
            let summed = MassProperties::of_field(&*field, 128).unwrap();
            let off = (exact.volume / summed.volume - 1.0).abs();
            assert!(off < 2e-3, "{shape:?}: volume off by {off}");
            let difference = exact.inertia - summed.inertia;
            let off = difference.x_axis.length().max(difference.z_axis.length());
            let share = off / exact.inertia.z_axis.length();
            assert!(share < 5e-3, "{shape:?}: inertia off by {share}");
        }
        assert!(mass_of(&BodyShape::HalfSpace { normal: DVec3::Z }).is_none());
    }
}
