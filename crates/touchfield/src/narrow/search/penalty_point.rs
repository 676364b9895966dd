//! A shell point inside the other body, its penalty force, and the sums of such forces.
//!
//! Input: points with distance, gradient and area, in frame A.
//! Output: forces on B, energies, and a [`PenaltyWrench`].
//! Cost: O(1) per point.
//! Not for: finding the points; see `contacts::penalty`.

use glam::{DVec3, Vec3};

use crate::contact::{ContactId, PenaltyWrench, Wrench};
use crate::narrow::pair::{PenaltyNormals, WrenchSettings};
use crate::narrow::search::probe::{Side, id_of};

/// A shell point that is inside the other body. All quantities are in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltyPoint {
    /// Position of the point \[m\].
    pub point: Vec3,
    /// Signed distance of the point in the field of the other body \[m\]; negative.
    pub distance: f32,
    /// Gradient of that field at the point, turned so that it points from A to B. It is the
    /// gradient of the stored interpolant, and in general not of unit length.
    pub gradient: Vec3,
    /// Unit normal of the shell point, turned so that it points from A to B.
    pub normal: Vec3,
    /// Area that the point counts for \[m²\]: what it represents, or half of that where both bodies
    /// have shells.
    pub area: f32,
    /// Body whose shell the point belongs to.
    pub side: Side,
    /// Index of the point in its shell.
    pub index: u32,
}

impl PenaltyPoint {
    /// Returns the depth of the point inside the other body \[m\].
    pub fn depth(&self) -> f32 {
        -self.distance
    }

    /// Returns the identity of the contact at this point.
    pub fn id(&self) -> ContactId {
        id_of(self.side, self.index)
    }

    /// Returns the penalty force on B for a stiffness in Pa/m \[N\].
    pub fn force_on_b(&self, stiffness: f32, normals: PenaltyNormals) -> Vec3 {
        let along = match normals {
            PenaltyNormals::Field => self.gradient,
            PenaltyNormals::Point => self.normal,
        };
        stiffness * self.area * self.depth() * along
    }

    /// Returns the energy that the point stores for a stiffness in Pa/m \[J\].
    pub fn energy(&self, stiffness: f32) -> f64 {
        let depth = f64::from(self.depth());
        0.5 * f64::from(stiffness) * f64::from(self.area) * depth * depth
    }
}

/// Sums of penalty forces, in `f64`: a million points must not lose the last ones to rounding.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PenaltySum {
    force: DVec3,
    torque: DVec3,
    about: Vec3,
    energy: f64,
    area: f64,
    /// Depth and identity of the deepest point.
    pub(crate) deepest: Option<(f32, ContactId)>,
    points: u32,
}

impl PenaltySum {
    pub(crate) fn about(point: Vec3) -> PenaltySum {
        PenaltySum {
            about: point,
            ..PenaltySum::default()
        }
    }

    pub(crate) fn add(&mut self, point: &PenaltyPoint, settings: &WrenchSettings) {
        let force = point
            .force_on_b(settings.stiffness, settings.normals)
            .as_dvec3();
        self.force += force;
        self.torque += (point.point.as_dvec3() - self.about.as_dvec3()).cross(force);
        self.energy += point.energy(settings.stiffness);
        self.area += f64::from(point.area);
        self.points += 1;
        // Of several points of equal depth, the one with the lowest id, as for contacts.
        let (depth, id) = (point.depth(), point.id());
        let is_deeper = self
            .deepest
            .is_none_or(|(deepest, before)| depth > deepest || (depth == deepest && id < before));
        if is_deeper {
            self.deepest = Some((depth, id));
        }
    }

    pub(crate) fn total(&self) -> PenaltyWrench {
        PenaltyWrench {
            wrench: Wrench {
                force: self.force.as_vec3(),
                torque: self.torque.as_vec3(),
                about: self.about,
            },
            energy: self.energy,
            depth: self.deepest.map_or(0.0, |(depth, _)| depth),
            area: self.area as f32,
            points: self.points,
        }
    }
}
