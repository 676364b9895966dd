//! A shell of one shape held against the field of the other: what all shell methods share.
//!
//! Input: a [`Pair`]. Output: which shape lends its shell, poses, and contacts in frame A.
//! Cost: nothing to speak of. Not for: choosing a method.

use glam::{Mat3, Vec3};

use super::{CollideError, Pair};
use crate::contact::{Contact, ContactId};
use crate::field::{Field, Sample};
use crate::geom::Pose;
use crate::pointshell::PointShell;

/// Which shape lends its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

impl Side {
    /// The other one.
    pub(super) fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
}

/// A shell and the field it is held against.
pub(super) struct Probe<'a> {
    pub(super) shell: &'a PointShell,
    pub(super) field: &'a dyn Field,
    pub(super) side: Side,
    rotation: Mat3,
    translation: Vec3,
    /// Takes the frame of the field to frame A.
    a_from_field: Pose,
}

impl<'a> Probe<'a> {
    /// With the shell of one side; `None` if it has none.
    pub(super) fn of(pair: &Pair<'a>, side: Side) -> Option<Probe<'a>> {
        let (shell, field, field_from_shell, a_from_field) = match side {
            Side::B => (
                pair.b.shell()?,
                pair.a.field(),
                pair.a_from_b,
                Pose::IDENTITY,
            ),
            Side::A => (
                pair.a.shell()?,
                pair.b.field(),
                pair.a_from_b.inverse(),
                pair.a_from_b,
            ),
        };
        Some(Probe {
            shell,
            field,
            side,
            rotation: Mat3::from_quat(field_from_shell.rotation),
            translation: field_from_shell.translation,
            a_from_field,
        })
    }

    /// With the shell that covers its surface more finely; the first that there is, if there is one only.
    pub(super) fn finer(pair: &Pair<'a>, method: &'static str) -> Result<Probe<'a>, CollideError> {
        let (first, second) = (Probe::of(pair, Side::A), Probe::of(pair, Side::B));
        let finer = match (first, second) {
            (Some(a), Some(b)) => {
                let by_radius = (a.shell.covering_radius()).total_cmp(&b.shell.covering_radius());
                // Equal shapes: the pose decides, so that A and B may change places.
                let by_place = || lexicographic(a.translation, b.translation);
                if by_radius.then_with(by_place).is_lt() {
                    a
                } else {
                    b
                }
            }
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return Err(CollideError::NoShell { method }),
        };
        Ok(finer)
    }

    /// A point of the shell's frame, in the frame of the field.
    pub(super) fn to_field(&self, point_in_shell: Vec3) -> Vec3 {
        self.rotation * point_in_shell + self.translation
    }

    /// The inward normal of a shell point, in frame A.
    pub(super) fn inward_in_a(&self, index: u32) -> Vec3 {
        let inward = -(self.rotation * self.shell.normals()[index as usize]);
        self.a_from_field.transform_vector(inward)
    }

    /// The contact of a shell point that lies at `point_in_field`, where the field gives `sample`.
    pub(super) fn contact(&self, index: u32, point_in_field: Vec3, sample: Sample) -> Contact {
        // Where the gradient vanishes, as on a medial axis, the shell knows a direction too.
        let outward = sample
            .gradient
            .try_normalize()
            .unwrap_or_else(|| -(self.rotation * self.shell.normals()[index as usize]));
        let point_in_field = point_in_field - 0.5 * sample.distance * outward;
        let outward_in_a = self.a_from_field.transform_vector(outward);
        // The gradient points out of the body with the field: from A to B if that is A.
        let (normal, side_bit) = match self.side {
            Side::B => (outward_in_a, 0),
            Side::A => (-outward_in_a, SIDE_A),
        };
        Contact {
            point: self.a_from_field.transform_point(point_in_field),
            normal,
            separation: sample.distance,
            id: ContactId(index | side_bit),
        }
    }
}

/// Index of the shell point that made a contact.
pub(super) fn index_of(id: ContactId) -> u32 {
    id.0 & !SIDE_A
}

/// Set in the id of a contact whose point belongs to the shell of A; the other bits are its index.
const SIDE_A: u32 = 1 << 31;

fn lexicographic(a: Vec3, b: Vec3) -> std::cmp::Ordering {
    (a.x.total_cmp(&b.x))
        .then(a.y.total_cmp(&b.y))
        .then(a.z.total_cmp(&b.z))
}
