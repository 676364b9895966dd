//! The one root tolerance. Every other tolerance is derived from it, with a unit and a reason.

/// The one root tolerance: a single length from which all others are derived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Smallest length that matters to the user \[m\].
    pub slop: f32,
}

impl Tolerance {
    /// Tolerance for bodies about a metre in size: a tenth of a millimetre.
    pub const METRE_SCALE: Tolerance = Tolerance { slop: 1e-4 };

    /// Returns the tolerance for a body of the given diagonal \[m\]: the same fraction of it as
    /// [`Self::METRE_SCALE`] is of a metre.
    pub fn for_size(diagonal: f32) -> Tolerance {
        Tolerance {
            slop: Tolerance::METRE_SCALE.slop * diagonal,
        }
    }

    /// Returns the distance below which [`crate::mesh`] repair merges two vertices \[m\].
    ///
    /// A hundredth of the slop: exporters write six or seven digits, so copies of one vertex differ
    /// by about 1e-6 of the model; real features are two orders of magnitude larger.
    pub fn weld_distance(self) -> f64 {
        0.01 * f64::from(self.slop)
    }

    /// Returns the residual at which a projection onto a surface may stop \[m\].
    pub fn projection_residual(self, cell_size: f32) -> f32 {
        // A grid cannot resolve its surface better than a small part of a cell,
        // so going further only chases interpolation noise.
        f32::max(0.1 * self.slop, 1e-3 * cell_size)
    }
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance::METRE_SCALE
    }
}
