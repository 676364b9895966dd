//! One place where two bodies touch, nearly touch or overlap.

use glam::Vec3;

/// Names a contact from one step to the next, so that a solver can reuse its impulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactId(pub u32);

/// One place where bodies A and B touch. Everything is in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Midway between the two surfaces \[m\].
    pub point: Vec3,
    /// Unit, from A to B.
    pub normal: Vec3,
    /// Distance between the surfaces along `normal` \[m\]; negative when they overlap.
    pub separation: f32,
    /// Which contact this is, from step to step.
    pub id: ContactId,
}

impl Contact {
    /// The contact as body B sees it: the frame stays, A and B change places.
    pub fn flipped(self) -> Contact {
        Contact {
            normal: -self.normal,
            ..self
        }
    }

    /// Where the normal through `point` leaves the surface of A \[m\].
    pub fn point_on_a(self) -> Vec3 {
        self.point - 0.5 * self.separation * self.normal
    }

    /// Where the normal through `point` meets the surface of B \[m\].
    pub fn point_on_b(self) -> Vec3 {
        self.point + 0.5 * self.separation * self.normal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn witness_points_are_a_separation_apart() {
        let contact = Contact {
            point: Vec3::ONE,
            normal: Vec3::Z,
            separation: -0.25,
            id: ContactId(3),
        };
        let gap = (contact.point_on_b() - contact.point_on_a()).dot(contact.normal);
        assert_eq!(gap, contact.separation);
        // Seen from B, its own point comes first.
        assert_eq!(contact.flipped().point_on_a(), contact.point_on_b());
    }
}
