//! Pairs of shapes, as all contact methods on the device take and answer them.
//!
//! Input: which two shapes, and their relative pose.
//! Output: checked pairs as the kernels read them; contacts in the order of the pairs.
//! Cost: 48 bytes per pair.
//! Not for: finding pairs, which a broad phase does.

use bytemuck::{Pod, Zeroable};
use touchfield::{Contact, Pose};

use crate::error::{FARTHEST, GpuError};
use crate::kernel::PassTime;
use crate::upload::Shapes;

/// Two shapes and their relative pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DevicePair {
    /// Number of A in [`Shapes`].
    pub a: usize,
    /// Number of B in [`Shapes`].
    pub b: usize,
    /// Pose of B in the frame of A.
    pub a_from_b: Pose,
}

/// Contacts of many pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceContacts {
    /// All contacts, pair after pair, in the frame of A.
    pub contacts: Vec<Contact>,
    /// Index of the first contact of each pair, and the number of all contacts last.
    pub first: Vec<u32>,
    /// Times of the passes, where the device measures them.
    pub times: Vec<PassTime>,
}

impl DeviceContacts {
    /// Returns the contacts of a pair.
    pub fn of(&self, pair: usize) -> &[Contact] {
        &self.contacts[self.first[pair] as usize..self.first[pair + 1] as usize]
    }
}

/// A pair as kernels read it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PairWords {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) spare: [u32; 2],
    /// Unit quaternion of `a_from_b`, w last.
    pub(crate) rotation: [f32; 4],
    /// Translation of `a_from_b`, and 0.
    pub(crate) translation: [f32; 4],
}

/// Checks pairs and converts them to the form that kernels read.
pub(crate) fn pair_words(
    shapes: &Shapes,
    pairs: &[DevicePair],
) -> Result<Vec<PairWords>, GpuError> {
    let words = pairs.iter().enumerate().map(|(index, pair)| {
        let Pose {
            rotation,
            translation,
        } = checked_pose(shapes, index, pair)?;
        Ok(PairWords {
            a: pair.a as u32,
            b: pair.b as u32,
            spare: [0; 2],
            rotation: rotation.to_array(),
            translation: translation.extend(0.0).to_array(),
        })
    });
    words.collect()
}

/// Returns the relative pose of a pair with a rotation of unit length, or an error if it is not
/// rigid or a shape is unknown. A rotation that is off by rounding only is kept as it is, as the
/// narrow phase of the library does.
pub(crate) fn checked_pose(
    shapes: &Shapes,
    index: usize,
    pair: &DevicePair,
) -> Result<Pose, GpuError> {
    shapes.check_shape(pair.a)?;
    shapes.check_shape(pair.b)?;
    let Pose {
        rotation,
        translation,
    } = pair.a_from_b;
    let is_near = translation.is_finite() && translation.abs().max_element() <= FARTHEST;
    if !is_near || !rotation.is_finite() || !rotation.is_normalized() {
        return Err(GpuError::BadPose { pair: index });
    }
    let is_off = (rotation.length_squared() - 1.0).abs() > 8.0 * f32::EPSILON;
    let rotation = if is_off {
        rotation.normalize()
    } else {
        rotation
    };
    Ok(Pose {
        rotation,
        translation,
    })
}
