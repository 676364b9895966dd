//! The shell of one shape in the field of the other, shared by all shell methods.
//!
//! Input: a [`Pair`].
//! Output: which shape provides the shell, the poses, and contacts in frame A.
//! Cost: O(1).
//! Not for: choosing a method.

use glam::{Mat3, Vec3};

use crate::contact::{Contact, ContactId};
use crate::field::{Field, Sample};
use crate::geom::{Aabb, Pose};
use crate::narrow::pair::{CollideError, Pair};
use crate::narrow::search::exchange::lexicographic;
use crate::pointshell::{PointShell, SphereNode};

/// One of the two bodies of a pair: the one that provides the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Body A.
    A,
    /// Body B.
    B,
}

impl Side {
    /// Returns the side whose shell made a contact.
    pub(crate) fn of(id: ContactId) -> Side {
        if id.0 & SIDE_A == 0 { Side::B } else { Side::A }
    }

    /// Returns the opposite side.
    pub(crate) fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
}

/// A shell and the field in which its points are sampled.
pub(crate) struct Probe<'a> {
    pub(crate) shell: &'a PointShell,
    pub(crate) field: &'a dyn Field,
    pub(crate) side: Side,
    /// Bounds of the body with the field, in its frame.
    solid: Aabb,
    /// Pose of the shell in the frame of the field.
    rotation: Mat3,
    translation: Vec3,
    /// Pose of the field in frame A.
    rotation_to_a: Mat3,
    translation_to_a: Vec3,
}

impl<'a> Probe<'a> {
    /// Builds a probe with the shell of one side, or returns `None` if that side has none.
    pub(crate) fn of(pair: &Pair<'a>, side: Side) -> Option<Probe<'a>> {
        let (shell, body, field_from_shell, a_from_field) = match side {
            Side::B => (pair.b.shell()?, pair.a, pair.a_from_b, Pose::IDENTITY),
            Side::A => (
                pair.a.shell()?,
                pair.b,
                pair.a_from_b.inverse(),
                pair.a_from_b,
            ),
        };
        Some(Probe {
            shell,
            field: body.field(),
            side,
            solid: body.solid(),
            rotation: Mat3::from_quat(field_from_shell.rotation),
            translation: field_from_shell.translation,
            rotation_to_a: Mat3::from_quat(a_from_field.rotation),
            translation_to_a: a_from_field.translation,
        })
    }

    /// Builds a probe with the shell of the smaller covering radius, or with the only one there is.
    pub(crate) fn finer(pair: &Pair<'a>, method: &'static str) -> Result<Probe<'a>, CollideError> {
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

    /// Transforms a point from the frame of the shell to the frame of the field.
    pub(crate) fn to_field(&self, point_in_shell: Vec3) -> Vec3 {
        self.rotation * point_in_shell + self.translation
    }

    /// Rotates a direction from the frame of the shell to the frame of the field.
    pub(crate) fn vector_to_field(&self, vector_in_shell: Vec3) -> Vec3 {
        self.rotation * vector_in_shell
    }

    /// Rotates a direction from the frame of the field to frame A.
    pub(crate) fn vector_to_a(&self, vector_in_field: Vec3) -> Vec3 {
        self.rotation_to_a * vector_in_field
    }

    /// Rotates a direction from the frame of the field to the frame of the shell.
    pub(crate) fn to_shell(&self, vector_in_field: Vec3) -> Vec3 {
        self.rotation.transpose() * vector_in_field
    }

    /// Returns the inward normal of a shell point, in the frame of the field.
    fn inward(&self, index: u32) -> Vec3 {
        -self.vector_to_field(self.shell.normals()[index as usize])
    }

    /// Returns the inward normal of a shell point, in frame A.
    pub(crate) fn inward_in_a(&self, index: u32) -> Vec3 {
        self.rotation_to_a * self.inward(index)
    }

    /// Computes the distances at the centres of a sphere's children, in their order.
    pub(crate) fn child_distances(
        &self,
        node: &SphereNode,
        centers: &mut Vec<Vec3>,
        distances: &mut Vec<f32>,
    ) {
        let nodes = self.shell.tree().nodes();
        let children = node.children();
        centers.clear();
        centers.extend(children.map(|child| self.to_field(nodes[child as usize].center)));
        self.field.distance_many(centers, distances);
    }

    /// Returns a lower bound of the distance from the points of a sphere to the body with the field
    /// \[m\], from its box alone. It costs a fraction of a field value.
    pub(crate) fn box_distance(&self, node: &SphereNode) -> f32 {
        self.solid.distance(self.to_field(node.center)) - node.radius
    }

    /// Builds the contact of a shell point at `point_in_field`, where the field gives `sample`.
    pub(crate) fn contact(&self, index: u32, point_in_field: Vec3, sample: Sample) -> Contact {
        /// Gradients of a grid are shorter near a medial axis, where it has averaged two
        /// directions. Tuned: above, smooth parts of coarse grids pay for nothing; below, witness
        /// points of deep contacts lie cells away from the surface.
        const STRAIGHT: f32 = 0.98;
        let Sample { distance, gradient } = sample;
        // Where the gradient vanishes, use the direction of the shell instead.
        let mut outward = gradient
            .try_normalize()
            .unwrap_or_else(|| self.inward(index));
        if gradient.length_squared() < STRAIGHT * STRAIGHT {
            outward = self.way_out(point_in_field, distance, outward);
        }
        self.contact_along(index, point_in_field, distance, outward)
    }

    /// Builds the contact of a shell point at `point_in_field`, at the given distance from the
    /// other surface, whose normal there is `outward`.
    pub(crate) fn contact_along(
        &self,
        index: u32,
        point_in_field: Vec3,
        distance: f32,
        outward: Vec3,
    ) -> Contact {
        let outward_in_a = self.rotation_to_a * outward;
        // The gradient points out of the body with the field: from A to B if that is A.
        let normal = match self.side {
            Side::B => outward_in_a,
            Side::A => -outward_in_a,
        };
        // Midway along the normal, so that the point of the shell is exactly a witness point.
        let middle = point_in_field - 0.5 * distance * outward;
        Contact {
            point: self.rotation_to_a * middle + self.translation_to_a,
            normal,
            separation: distance,
            id: id_of(self.side, index),
        }
    }

    /// Returns the outward normal, in the frame of the field, of a contact that this probe made.
    pub(crate) fn outward(&self, contact: &Contact) -> Vec3 {
        let outward_in_a = match self.side {
            Side::B => contact.normal,
            Side::A => -contact.normal,
        };
        self.rotation_to_a.transpose() * outward_in_a
    }

    /// Returns the direction out of the body at a point whose gradient mixes several directions.
    /// Half the way along it, the gradient is that of one side, which leads to the surface.
    fn way_out(&self, point: Vec3, distance: f32, outward: Vec3) -> Vec3 {
        let mut at = point - 0.5 * distance * outward;
        for _ in 0..2 {
            let Sample { distance, gradient } = self.field.sample(at);
            at -= distance * gradient.normalize_or_zero();
        }
        let way = (point - at) * distance.signum();
        way.try_normalize().unwrap_or(outward)
    }
}

/// Returns the identity of the contact that a shell point makes.
pub(crate) fn id_of(side: Side, index: u32) -> ContactId {
    match side {
        Side::B => ContactId(index),
        Side::A => ContactId(index | SIDE_A),
    }
}

/// Returns the index of the shell point that made a contact.
pub(crate) fn index_of(id: ContactId) -> u32 {
    id.0 & !SIDE_A
}

/// Bit set in the id of a contact whose point belongs to the shell of A. The other bits are the
/// index.
const SIDE_A: u32 = 1 << 31;
