//! Units of the numbers in a mesh file.

use clap::ValueEnum;

/// What the numbers of a mesh file are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Units {
    /// metres
    #[default]
    M,
    /// centimetres
    Cm,
    /// millimetres
    Mm,
    /// inches
    In,
}

impl Units {
    /// How many metres one is.
    pub fn metres(self) -> f64 {
        match self {
            Units::M => 1.0,
            Units::Cm => 1e-2,
            Units::Mm => 1e-3,
            Units::In => 0.0254,
        }
    }

    /// In words, plural.
    pub fn name(self) -> &'static str {
        match self {
            Units::M => "metres",
            Units::Cm => "centimetres",
            Units::Mm => "millimetres",
            Units::In => "inches",
        }
    }
}
