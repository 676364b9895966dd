//! Shells in fields, as kernels read them: which shape provides the shell, the poses, and how much
//! rounding may matter.
//!
//! Input: uploaded shapes and pairs.
//! Output: [`ProbeWords`].
//! Cost: 128 bytes per probe.
//! Not for: the values of fields, which the device computes.
//!
//! The side is chosen, and poses are inverted and turned into matrices, by the same operations as
//! in `narrow/search/probe.rs` of the library, so that the device begins with the same bits.

use bytemuck::{Pod, Zeroable};
use glam::{Mat3, Vec3};
use touchfield::Pose;

use crate::error::GpuError;
use crate::layout::{HEADER, Kind, place};
use crate::pairs::{DevicePair, checked_pose};
use crate::upload::Shapes;

/// Half the width of the rounding band, as a share of the size of what is computed with: positions
/// and values of the device are within 1e-6 of it of the CPU's, and poses add a few roundings.
const BAND: f32 = 1.5e-6;

/// How far rounding moves a position, as a share of its size.
const NUDGE: f32 = 4.0 * f32::EPSILON;

/// A shell in a field, as kernels read it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ProbeWords {
    pub(crate) shell: u32,
    pub(crate) field: u32,
    /// 1 if the shell is that of A.
    pub(crate) side: u32,
    pub(crate) points: u32,
    field_from_shell: [[f32; 4]; 3],
    a_from_field: [[f32; 4]; 3],
    /// Four lengths \[m\]; what they are depends on the kernel.
    pub(crate) rounding: [f32; 4],
}

/// The side of a pair that provides the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShellOf {
    A,
    B,
}

/// What a kernel needs of a shape's header.
#[derive(Clone, Copy)]
pub(crate) struct Form<'a>(&'a [u32; HEADER]);

impl<'a> Form<'a> {
    pub(crate) fn of(shapes: &'a Shapes, index: usize) -> Form<'a> {
        Form(&shapes.headers()[index])
    }

    fn number(self, at: usize) -> f32 {
        f32::from_bits(self.0[at])
    }

    fn vector(self, at: usize) -> Vec3 {
        Vec3::new(self.number(at), self.number(at + 1), self.number(at + 2))
    }

    pub(crate) fn points(self) -> u32 {
        self.0[place::SHELL_COUNT]
    }

    pub(crate) fn levels(self) -> u32 {
        self.0[place::SHELL_LEVELS]
    }

    pub(crate) fn covering_radius(self) -> f32 {
        self.number(place::COVERING_RADIUS)
    }

    pub(crate) fn error_bound(self) -> f32 {
        self.number(place::ERROR_BOUND)
    }

    fn is_grid(self) -> bool {
        self.0[place::KIND] != Kind::Program as u32
    }

    /// Returns the size of the coordinates of the solid \[m\]: its diagonal, and how far it is from
    /// the origin. Without a finite box, 0: such fields round by the size of the point alone.
    fn size(self) -> f32 {
        let (low, high) = (self.vector(place::SOLID), self.vector(place::SOLID + 3));
        let size = low.distance(high) + low.abs().max(high.abs()).max_element();
        if low.cmple(high).all() && size.is_finite() {
            size
        } else {
            0.0
        }
    }

    /// Returns whether anything outside the grid may be at or below a level, as
    /// `narrow/motion/swept_points/segment.rs` decides it.
    fn may_touch_beyond(self, level: f32) -> bool {
        let (low, high) = (self.vector(place::BOUNDS), self.vector(place::BOUNDS + 3));
        let (from, to) = (self.vector(place::SOLID), self.vector(place::SOLID + 3));
        let nearest = (from - low).min(high - to).min_element();
        let largest = low.abs().max(high.abs()).max_element();
        self.is_grid() && level + 8.0 * f32::EPSILON * (largest + level.abs()) >= nearest
    }
}

impl ProbeWords {
    /// Builds the probe with the shell of one side.
    pub(crate) fn of(
        shapes: &Shapes,
        pair: &DevicePair,
        a_from_b: Pose,
        side: ShellOf,
    ) -> ProbeWords {
        let (shell, field, field_from_shell, a_from_field) = match side {
            ShellOf::B => (pair.b, pair.a, a_from_b, Pose::IDENTITY),
            ShellOf::A => (pair.a, pair.b, a_from_b.inverse(), a_from_b),
        };
        let (of_shell, of_field) = (Form::of(shapes, shell), Form::of(shapes, field));
        let reach = of_shell.number(place::SHELL_REACH) + field_from_shell.translation.length();
        let size = of_field.size() + reach;
        let band = BAND * size;
        let error = of_field.error_bound();
        // Two values on the two sides of a border are each within the error of one true distance.
        let jump = if of_field.is_grid() { 2.0 * error } else { 0.0 };
        ProbeWords {
            shell: shell as u32,
            field: field as u32,
            side: u32::from(side == ShellOf::A),
            points: of_shell.points(),
            field_from_shell: columns(field_from_shell),
            a_from_field: columns(a_from_field),
            // A sphere may be dropped if no value in it is at the threshold: values are off by the
            // error at the centre, and by twice the error at a point outside the grid.
            rounding: [band, NUDGE * size, jump, 3.0 * error + band],
        }
    }

    /// Returns the probe with the rounding that kernels of sweeps need.
    pub(crate) fn for_sweep(self, shapes: &Shapes, level: f32) -> ProbeWords {
        let field = Form::of(shapes, self.field as usize);
        let error = field.error_bound();
        let (excess, inside) = match field.may_touch_beyond(level) {
            true => (3.0 * error, error),
            false => (2.0 * error, 0.0),
        };
        let outside = if field.is_grid() { error } else { 0.0 };
        ProbeWords {
            rounding: [self.rounding[0], excess, outside, inside],
            ..self
        }
    }
}

/// Returns a rotation matrix's columns, with the translation in their fourth numbers.
fn columns(pose: Pose) -> [[f32; 4]; 3] {
    let rotation = Mat3::from_quat(pose.rotation);
    std::array::from_fn(|i| rotation.col(i).extend(pose.translation[i]).to_array())
}

/// Returns the side whose shell has the smaller covering radius, or the only one that has a shell.
pub(crate) fn finer(shapes: &Shapes, pair: &DevicePair, a_from_b: Pose) -> Option<ShellOf> {
    let (a, b) = (Form::of(shapes, pair.a), Form::of(shapes, pair.b));
    match (a.points() > 0, b.points() > 0) {
        (true, true) => {
            let by_radius = a.covering_radius().total_cmp(&b.covering_radius());
            // Equal shapes: the pose decides, so that A and B may change places.
            let (of_a, of_b) = (a_from_b.inverse().translation, a_from_b.translation);
            let by_place = (of_a.x.total_cmp(&of_b.x))
                .then(of_a.y.total_cmp(&of_b.y))
                .then(of_a.z.total_cmp(&of_b.z));
            match by_radius.then(by_place).is_lt() {
                true => Some(ShellOf::A),
                false => Some(ShellOf::B),
            }
        }
        (true, false) => Some(ShellOf::A),
        (false, true) => Some(ShellOf::B),
        (false, false) => None,
    }
}

/// Builds the probe of the finer side of each pair.
pub(crate) fn finer_probes(
    shapes: &Shapes,
    pairs: &[DevicePair],
) -> Result<Vec<ProbeWords>, GpuError> {
    let probes = pairs.iter().enumerate().map(|(index, pair)| {
        let a_from_b = checked_pose(shapes, index, pair)?;
        let side = finer(shapes, pair, a_from_b).ok_or(GpuError::NoShell { pair: index })?;
        Ok(ProbeWords::of(shapes, pair, a_from_b, side))
    });
    probes.collect()
}

/// Builds the probes of both sides of each pair, that of A's shell first. A side without a shell
/// has no points.
pub(crate) fn both_probes(
    shapes: &Shapes,
    pairs: &[DevicePair],
) -> Result<Vec<ProbeWords>, GpuError> {
    let mut probes = Vec::with_capacity(2 * pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let a_from_b = checked_pose(shapes, index, pair)?;
        if finer(shapes, pair, a_from_b).is_none() {
            return Err(GpuError::NoShell { pair: index });
        }
        let sides = [ShellOf::A, ShellOf::B];
        probes.extend(sides.map(|side| ProbeWords::of(shapes, pair, a_from_b, side)));
    }
    Ok(probes)
}
