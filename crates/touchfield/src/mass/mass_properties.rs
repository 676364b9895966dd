//! Volume, centre of mass and inertia of a solid, in `f64`.
//!
//! Input: a closed surface as triangles, integrated exactly; or any field, integrated by cells
//! (`of_field.rs`).
//! Output: [`MassProperties`] for unit density; mass and inertia of a real body are these times its
//! density.
//! Cost: linear in the number of triangles.
//! Not for: open surfaces, which enclose no volume.
//!
//! The solid in a closed surface is a sum of signed tetrahedra from any point to its triangles, and
//! the moments of a tetrahedron are polynomials in its corners: the divergence theorem, written out
//! \[Mirtich1996\] (docs/BIBLIOGRAPHY.md).

use glam::{DMat3, DQuat, DVec3, Vec3};

use super::moments::{Moments, square};
use crate::geom::{Aabb, Pose, Triangle};

/// Volume, centre of mass and inertia of a solid of unit density, in the frame of the solid.
///
/// ```
/// use glam::Vec3;
/// use touchfield::field::primitive::Sphere;
/// use touchfield::mass::MassProperties;
/// let ball = MassProperties::of_field(&Sphere::new(0.5)?, 64)?;
/// let exact = std::f64::consts::PI / 6.0;
/// assert!((ball.volume / exact - 1.0).abs() < 1e-3);
/// let steel = 7850.0;
/// let (mass, inertia) = (steel * ball.volume, ball.inertia * steel);
/// assert!((inertia.x_axis.x / (0.4 * mass * 0.25) - 1.0).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume \[m³\]; multiply by the density for the mass.
    pub volume: f64,
    /// Centre of mass \[m\].
    pub center: DVec3,
    /// Inertia about the centre of mass, per density \[m⁵\]: `∫ |x|² 1 − x xᵀ dV` with `x` from the
    /// centre. Symmetric.
    pub inertia: DMat3,
}

/// Why mass properties cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MassError {
    /// No volume was found.
    #[error(
        "the solid has no volume; look whether the field has an inside, and use more cells if it is thin"
    )]
    Empty,
    /// The solid is unbounded.
    #[error(
        "the field's solid lies in a box from {:?} to {:?}, which is not finite; intersect it with a finite one",
        .0.min.to_array(), .0.max.to_array()
    )]
    Unbounded(Aabb),
    /// A field value is NaN or infinite.
    #[error("the field is {value} at {:?}; its distances must be finite", .point.to_array())]
    NotFinite {
        /// Point of evaluation \[m\].
        point: Vec3,
        /// Value of the field there.
        value: f32,
    },
    /// The number of cells is zero or too large.
    #[error("{cells} cells along the longest side; take from 1 to {most}", most = MassProperties::MOST_CELLS)]
    BadCells {
        /// Number of cells given.
        cells: u32,
    },
    /// A triangle has a corner that is NaN, infinite or out of range.
    #[error(
        "triangle {triangle} has a corner whose coordinates are not finite and below 1e50 m; repair the mesh first"
    )]
    BadTriangle {
        /// Index of the triangle.
        triangle: usize,
    },
    /// The surface is not closed.
    #[error(
        "the surface is open: its faces add up to {:?} m² and should to nothing, and it holds {:?} m³ along x, y and z, \
         which should be one number; fill its holes first",
        .area.to_array(), .volumes.to_array()
    )]
    OpenSurface {
        /// Sum of the area vectors of all triangles \[m²\].
        area: DVec3,
        /// Volumes from the fluxes of `(x, 0, 0)`, `(0, y, 0)` and `(0, 0, z)`, measured from the
        /// first corner \[m³\].
        volumes: DVec3,
    },
    /// The normals point inward.
    #[error("the surface holds {volume} m³: it is inside out; turn its faces around")]
    InsideOut {
        /// Signed volume, which is negative \[m³\].
        volume: f64,
    },
}

impl MassProperties {
    /// Maximum number of cells along the longest side of a field's box.
    pub const MOST_CELLS: u32 = 512;

    /// Computes the mass properties of the solid enclosed by closed surfaces, whose triangles are
    /// counter-clockwise seen from outside; cavities have the opposite orientation.
    ///
    /// Exact up to rounding. Where surfaces cross each other, their common part counts twice. The
    /// area vectors and the fluxes are checked to detect open surfaces; they miss only holes that
    /// cancel in all six sums.
    pub fn of_triangles(
        triangles: impl IntoIterator<Item = Triangle>,
    ) -> Result<MassProperties, MassError> {
        // Measure from the first corner, to avoid cancellation for a body far from the origin.
        let mut reference = None;
        let mut moments = Moments::ZERO;
        let (mut fluxes, mut gross_fluxes) = (DVec3::ZERO, DVec3::ZERO);
        let (mut area, mut gross_area) = (DVec3::ZERO, 0.0);
        for (index, triangle) in triangles.into_iter().enumerate() {
            // Products of five coordinates, and sums of many of them, must stay finite.
            if !triangle
                .corners()
                .iter()
                .all(|p| p.abs().cmplt(DVec3::splat(1e50)).all())
            {
                return Err(MassError::BadTriangle { triangle: index });
            }
            let origin = *reference.get_or_insert(triangle.a);
            let [a, b, c] = triangle.corners().map(|p| p - origin);
            moments += Moments::of_tetrahedron([DVec3::ZERO, a, b, c]);
            let facing = 0.5 * triangle.area_vector();
            area += facing;
            gross_area += facing.length();
            // Flux of (x, 0, 0) through a triangle: its mean x times the area that faces along x.
            let flux = facing * (a + b + c) / 3.0;
            fluxes += flux;
            gross_fluxes += flux.abs();
        }
        // Files are rounded to six or seven digits; a crack of that width does not count as a hole.
        const CRACK: f64 = 1e-6;
        let tolerance = CRACK * gross_fluxes.max_element();
        let disagreement = fluxes.max_element() - fluxes.min_element();
        if disagreement > tolerance || area.length() > CRACK * gross_area {
            let volumes = fluxes;
            return Err(MassError::OpenSurface { area, volumes });
        }
        if moments.volume < -tolerance {
            return Err(MassError::InsideOut {
                volume: moments.volume,
            });
        }
        MassProperties::from_moments(moments, reference.unwrap_or_default())
    }

    /// Computes the mass properties from moments about `reference`.
    pub(super) fn from_moments(
        moments: Moments,
        reference: DVec3,
    ) -> Result<MassProperties, MassError> {
        // The test also rejects NaN; a subnormal volume has no meaningful centre.
        if !moments.volume.is_normal() || moments.volume < 0.0 {
            return Err(MassError::Empty);
        }
        let center = moments.first / moments.volume;
        let about_center = moments.second - square(center) * moments.volume;
        Ok(MassProperties {
            volume: moments.volume,
            center: reference + center,
            inertia: trace_minus(about_center),
        })
    }

    /// Returns the inertia about another point than the centre of mass, per density \[m⁵\]:
    /// Steiner's theorem.
    pub fn inertia_about(&self, point: DVec3) -> DMat3 {
        self.inertia + trace_minus(square(self.center - point) * self.volume)
    }

    /// Transforms the mass properties of a solid from frame B to frame A.
    pub fn transformed(&self, a_from_b: Pose) -> MassProperties {
        let rotation: DQuat = a_from_b.rotation.as_dquat().normalize();
        let turn = DMat3::from_quat(rotation);
        MassProperties {
            volume: self.volume,
            center: rotation * self.center + a_from_b.translation.as_dvec3(),
            inertia: turn * self.inertia * turn.transpose(),
        }
    }
}

/// Computes `tr(C) 1 − C`: the inertia from the second moments.
fn trace_minus(second: DMat3) -> DMat3 {
    let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
    DMat3::from_diagonal(DVec3::splat(trace)) - second
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron(scale: f64, offset: DVec3) -> Vec<Triangle> {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|p| scale * p + offset);
        [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
            .map(|face| face.map(|i: usize| corners[i]))
            .map(|[a, b, c]| Triangle { a, b, c })
            .to_vec()
    }

    #[test]
    fn a_right_tetrahedron_has_its_textbook_inertia_wherever_it_stands() {
        for offset in [DVec3::ZERO, DVec3::new(1e4, -2e4, 3e4)] {
            let found = MassProperties::of_triangles(tetrahedron(1.0, offset)).unwrap();
            assert!((found.volume - 1.0 / 6.0).abs() < 1e-12);
            assert!((found.center - offset - DVec3::splat(0.25)).length() < 1e-11);
            // About the centre of mass: ∫ x² = 1/60 − 1/96 and ∫ x y = 1/120 − 1/96.
            let (own, mixed) = (1.0 / 60.0 - 1.0 / 96.0, 1.0 / 120.0 - 1.0 / 96.0);
            assert!((found.inertia.x_axis.x - 2.0 * own).abs() < 1e-12);
            assert!((found.inertia.y_axis.z + mixed).abs() < 1e-12);
            let corner = found.inertia_about(offset);
            assert!((corner.z_axis.z - 1.0 / 30.0).abs() < 1e-11);
        }
    }

    #[test]
    fn what_holds_no_volume_is_refused_with_the_reason() {
        let good = tetrahedron(1.0, DVec3::ZERO);
        let open = MassProperties::of_triangles(good[1..].to_vec());
        assert!(
            matches!(open, Err(MassError::OpenSurface { .. })),
            "{open:?}"
        );
        let turned = good.iter().map(|t| Triangle {
            b: t.c,
            c: t.b,
            ..*t
        });
        let turned = MassProperties::of_triangles(turned);
        assert!(
            matches!(turned, Err(MassError::InsideOut { .. })),
            "{turned:?}"
        );
        assert_eq!(MassProperties::of_triangles([]), Err(MassError::Empty));
        let flat = tetrahedron(0.0, DVec3::ONE);
        assert_eq!(MassProperties::of_triangles(flat), Err(MassError::Empty));
        for bad in [f64::NAN, f64::INFINITY, 1e60] {
            let mut broken = good.clone();
            broken[2].b.y = bad;
            let found = MassProperties::of_triangles(broken);
            assert_eq!(found, Err(MassError::BadTriangle { triangle: 2 }));
        }
    }

    /// The area vectors cancel, so a check of these alone would take the tube for closed.
    #[test]
    fn a_tube_without_ends_is_open() {
        let ring = |i: usize, z: f64| {
            let angle = std::f64::consts::TAU * (i % 16) as f64 / 16.0;
            DVec3::new(angle.cos(), angle.sin(), z)
        };
        let tube = (0..16).flat_map(|i| {
            let [a, b, c, d] = [
                ring(i, 0.0),
                ring(i + 1, 0.0),
                ring(i + 1, 1.0),
                ring(i, 1.0),
            ];
            [Triangle { a, b, c }, Triangle { a, b: c, c: d }]
        });
        let found = MassProperties::of_triangles(tube);
        assert!(
            matches!(found, Err(MassError::OpenSurface { .. })),
            "{found:?}"
        );
    }
}
