//! What is kept of a node while a grid is filled: its distance, or its distance and gradient.

use glam::DVec3;

use crate::field::Sample;

/// A node's value as far as a kind of grid needs it.
pub(super) trait NodeData: Copy + Default + Send + Sync {
    /// From the way from the nearest point of the surface to the node, its length and its side. Ways up to `on_surface` long are
    /// rounding; there `normal` tells the outward normal of the surface \[m\].
    fn of(
        way: DVec3,
        distance: f64,
        inside: bool,
        on_surface: f64,
        normal: impl FnOnce() -> DVec3,
    ) -> Self;

    /// Signed distance \[m\].
    fn distance(self) -> f32;

    /// The same on the other side of the surface.
    fn flipped(self) -> Self;
}

impl NodeData for f32 {
    #[inline(always)]
    fn of(_: DVec3, distance: f64, inside: bool, _: f64, _: impl FnOnce() -> DVec3) -> f32 {
        (if inside { -distance } else { distance }) as f32
    }

    #[inline(always)]
    fn distance(self) -> f32 {
        self
    }

    #[inline(always)]
    fn flipped(self) -> f32 {
        -self
    }
}

/// The gradient of a distance is the direction from the nearest point, turned around inside; on the surface its normal (document
/// 000, §4.3).
impl NodeData for Sample {
    #[inline(always)]
    fn of(
        way: DVec3,
        distance: f64,
        inside: bool,
        on_surface: f64,
        normal: impl FnOnce() -> DVec3,
    ) -> Sample {
        if distance <= on_surface {
            return Sample {
                distance: 0.0,
                gradient: normal().normalize_or_zero().as_vec3(),
            };
        }
        let outward = way / distance;
        let sample = Sample {
            distance: distance as f32,
            gradient: outward.as_vec3(),
        };
        if inside { sample.flipped() } else { sample }
    }

    #[inline(always)]
    fn distance(self) -> f32 {
        self.distance
    }

    /// A normal of the surface stays one, whatever side its node is said to be on.
    #[inline(always)]
    fn flipped(self) -> Sample {
        if self.distance == 0.0 {
            return self;
        }
        Sample {
            distance: -self.distance,
            gradient: -self.gradient,
        }
    }
}
