//! Mass, centre of mass and inertia of a body, and how locked directions change its response.
//!
//! Input: closed forms, or the [`MassProperties`] of a shape and a density.
//! Output: [`Mass`]; inverse inertia in the world.
//! Cost: a few dozen operations.
//! Not for: integration over meshes and fields, see [`touchfield::mass`].

use glam::{BVec3, DMat3, DVec3};
use touchfield::mass::MassProperties;

/// Mass, centre of mass and inertia of a body, in the frame of its shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mass {
    /// Mass \[kg\].
    pub mass: f64,
    /// Centre of mass in the body's frame \[m\].
    pub center: DVec3,
    /// Inertia about the centre of mass, along the axes of the body's frame \[kg·m²\].
    pub inertia: DMat3,
}

impl Mass {
    /// Returns the mass of a solid of uniform density \[kg/m³\].
    pub fn of(properties: &MassProperties, density: f64) -> Mass {
        Mass {
            mass: density * properties.volume,
            center: properties.center,
            inertia: properties.inertia * density,
        }
    }

    /// Returns a solid ball.
    pub fn ball(mass: f64, radius: f64) -> Mass {
        Mass::about_origin(mass, DVec3::splat(0.4 * radius * radius))
    }

    /// Returns a solid box with these half extents \[m\].
    pub fn cuboid(mass: f64, half: DVec3) -> Mass {
        let s = half * half / 3.0;
        Mass::about_origin(mass, DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y))
    }

    /// Returns a solid cylinder along z.
    pub fn cylinder(mass: f64, radius: f64, half_height: f64) -> Mass {
        let (round, high) = (radius * radius, half_height * half_height);
        let across = 0.25 * round + high / 3.0;
        Mass::about_origin(mass, DVec3::new(across, across, 0.5 * round))
    }

    /// Returns a body whose centre is its origin, with these principal moments per mass \[m²\]
    /// along its axes.
    pub fn about_origin(mass: f64, moments_per_mass: DVec3) -> Mass {
        Mass {
            mass,
            center: DVec3::ZERO,
            inertia: DMat3::from_diagonal(mass * moments_per_mass),
        }
    }

    /// Returns the same body with another mass; the inertia grows with it.
    pub fn with_mass(&self, mass: f64) -> Mass {
        Mass {
            mass,
            center: self.center,
            inertia: self.inertia * (mass / self.mass),
        }
    }

    /// Returns whether mass and inertia are those of a possible body: positive, finite, and no
    /// principal moment larger than the sum of the other two by more than rounding.
    pub fn is_possible(&self) -> bool {
        let m = self.inertia;
        let is_symmetric = (m - m.transpose()).abs_diff_eq(DMat3::ZERO, 1e-9 * trace(m).abs());
        let minors = [
            m.x_axis.x,
            m.x_axis.x * m.y_axis.y - m.x_axis.y * m.y_axis.x,
            m.determinant(),
        ];
        self.mass > 0.0
            && self.mass.is_finite()
            && self.center.is_finite()
            && m.is_finite()
            && is_symmetric
            && minors.iter().all(|&minor| minor > 0.0)
    }
}

fn trace(m: DMat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// Directions in which a body is held, along the world's axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locked {
    /// Held translations of the centre of mass.
    pub translation: BVec3,
    /// Held rotations about the centre of mass.
    pub rotation: BVec3,
}

impl Locked {
    /// Returns 1 for every free translation and 0 for every held one.
    pub(crate) fn free_translation(&self) -> DVec3 {
        DVec3::select(self.translation, DVec3::ZERO, DVec3::ONE)
    }

    /// Returns 1 for every free rotation and 0 for every held one.
    pub(crate) fn free_rotation(&self) -> DVec3 {
        DVec3::select(self.rotation, DVec3::ZERO, DVec3::ONE)
    }

    /// Returns the matrix that takes a world torque impulse to the change of angular velocity, for
    /// a body with this world inertia: the inverse of the inertia's free part, and zero elsewhere.
    pub(crate) fn inverse_inertia(&self, world_inertia: DMat3) -> DMat3 {
        if self.rotation == BVec3::FALSE {
            return world_inertia.inverse();
        }
        if self.rotation == BVec3::TRUE {
            return DMat3::ZERO;
        }
        // Rows and columns of held axes become those of the identity, so that the inverse of the
        // rest is untouched by them; then they are cleared.
        let free = self.free_rotation();
        let mut part = world_inertia;
        for row in 0..3 {
            for column in 0..3 {
                if free[row] * free[column] == 0.0 {
                    part.col_mut(column)[row] = if row == column { 1.0 } else { 0.0 };
                }
            }
        }
        let mut inverse = part.inverse();
        for row in 0..3 {
            for column in 0..3 {
                inverse.col_mut(column)[row] *= free[row] * free[column];
            }
        }
        inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_axis_does_not_turn_and_the_free_ones_respond_by_their_own_part() {
        let inertia = DMat3::from_cols(
            DVec3::new(3.0, 0.4, 0.2),
            DVec3::new(0.4, 2.0, 0.1),
            DVec3::new(0.2, 0.1, 4.0),
        );
        let locked = Locked {
            rotation: BVec3::new(true, true, false),
            ..Locked::default()
        };
        let inverse = locked.inverse_inertia(inertia);
        let spin = inverse * DVec3::new(5.0, -2.0, 8.0);
        assert!(
            (spin - DVec3::new(0.0, 0.0, 2.0)).length() < 1e-14,
            "{spin}"
        );
        let free = Locked::default().inverse_inertia(inertia) * inertia;
        assert!(free.abs_diff_eq(DMat3::IDENTITY, 1e-13));
    }
}
