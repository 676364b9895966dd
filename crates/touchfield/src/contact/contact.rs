//! A contact: one place where two bodies touch, nearly touch or overlap.

use glam::Vec3;

/// Identifies a contact across steps, so that a solver can reuse its impulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactId(pub u32);

/// One contact between bodies A and B. All quantities are in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Point midway between the two surfaces \[m\].
    pub point: Vec3,
    /// Unit normal from A to B.
    pub normal: Vec3,
    /// Distance between the surfaces along `normal` \[m\]; negative when they overlap.
    pub separation: f32,
    /// Identity of the contact across steps.
    pub id: ContactId,
}

impl AsRef<Contact> for Contact {
    fn as_ref(&self) -> &Contact {
        self
    }
}

impl Contact {
    /// Returns the contact with A and B exchanged; the frame stays the same.
    pub fn flipped(self) -> Contact {
        Contact {
            normal: -self.normal,
            ..self
        }
    }

    /// Returns the point where the normal line through `point` crosses the surface of A \[m\].
    pub fn point_on_a(self) -> Vec3 {
        self.point - 0.5 * self.separation * self.normal
    }

    /// Returns the point where the normal line through `point` crosses the surface of B \[m\].
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
        // After flipping, the point on B comes first.
        assert_eq!(contact.flipped().point_on_a(), contact.point_on_b());
    }
}
