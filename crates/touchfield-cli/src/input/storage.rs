//! How a field is stored: the options that `bake` and `convert` share.

use clap::ValueEnum;
use touchfield::bake::Bits;
use touchfield::field::Encoding;

/// Kinds of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// one value per node of a regular grid
    #[default]
    Dense,
    /// a value and a gradient per node, in half floats: twice the memory, smoother
    Taylor,
    /// a coarse grid, and blocks of fine cells around the surface; closed meshes only
    Sparse,
    /// one number per voxel, as used in haptics; closed meshes only
    Voxmap,
}

impl Kind {
    /// Returns the kind with this name, as [`touchfield::field::StoredField::kind`] gives it.
    pub(crate) fn named(name: &str) -> Kind {
        match name {
            "taylor" => Kind::Taylor,
            "sparse" => Kind::Sparse,
            "voxmap" => Kind::Voxmap,
            _ => Kind::Dense,
        }
    }
}

/// Bits per stored value.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum ValueBits {
    #[value(name = "8")]
    Eight,
    #[default]
    #[value(name = "16")]
    Sixteen,
    #[value(name = "32")]
    ThirtyTwo,
}

impl ValueBits {
    pub(crate) fn bits(self) -> Bits {
        match self {
            ValueBits::Eight => Bits::Eight,
            ValueBits::Sixteen => Bits::Sixteen,
            ValueBits::ThirtyTwo => Bits::ThirtyTwo,
        }
    }
}

/// Number formats of a voxmap.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum VoxelNumbers {
    /// whole voxels, 16 bits
    Layers,
    /// decimal fractions of a metre, as many digits as fit 32 bits
    Scaled,
    /// metres, 64 bits
    #[default]
    Full,
}

impl VoxelNumbers {
    /// Returns the encoding for distances up to `largest` \[m\].
    pub(crate) fn encoding(self, largest: f64) -> Encoding {
        match self {
            VoxelNumbers::Layers => Encoding::Layers,
            VoxelNumbers::Scaled => Encoding::scaled_for(largest),
            VoxelNumbers::Full => Encoding::Support,
        }
    }

    /// Returns the word for an encoding.
    pub(crate) fn word(encoding: Encoding) -> &'static str {
        match encoding {
            Encoding::Layers => "layers",
            Encoding::Scaled { .. } => "scaled",
            Encoding::Support => "full",
        }
    }
}
