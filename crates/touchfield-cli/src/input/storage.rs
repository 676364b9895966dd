//! How a field is to be stored: the options that `bake` and `convert` share.

use clap::ValueEnum;
use touchfield::bake::Bits;
use touchfield::field::Encoding;

/// How a field is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// a value at every node of a regular grid
    #[default]
    Dense,
    /// a value and a gradient at every node, in half floats: twice the memory, smoother
    Taylor,
    /// a coarse grid, and blocks of fine cells around the surface; closed meshes only
    Sparse,
    /// a number for every voxel, as haptics use it; closed meshes only
    Voxmap,
}

impl Kind {
    /// The kind of this name, as [`touchfield::field::StoredField::kind`] gives it.
    pub(crate) fn named(name: &str) -> Kind {
        match name {
            "taylor" => Kind::Taylor,
            "sparse" => Kind::Sparse,
            "voxmap" => Kind::Voxmap,
            _ => Kind::Dense,
        }
    }
}

/// Bits of a stored value.
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

/// The numbers of a voxmap.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum VoxelNumbers {
    /// whole voxels, 16 bits
    Layers,
    /// decimals of a metre, as many as fit 32 bits
    Scaled,
    /// metres, 64 bits
    #[default]
    Full,
}

impl VoxelNumbers {
    /// For distances up to `largest` \[m\].
    pub(crate) fn encoding(self, largest: f64) -> Encoding {
        match self {
            VoxelNumbers::Layers => Encoding::Layers,
            VoxelNumbers::Scaled => Encoding::scaled_for(largest),
            VoxelNumbers::Full => Encoding::Support,
        }
    }

    /// The word for an encoding.
    pub(crate) fn word(encoding: Encoding) -> &'static str {
        match encoding {
            Encoding::Layers => "layers",
            Encoding::Scaled { .. } => "scaled",
            Encoding::Support => "full",
        }
    }
}
