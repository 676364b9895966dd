//! Units of the numbers in a mesh file.

use clap::ValueEnum;

/// Length unit of the numbers in a mesh file.
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
    /// Returns the length of one unit \[m\].
    pub fn metres(self) -> f64 {
        match self {
            Units::M => 1.0,
            Units::Cm => 1e-2,
            Units::Mm => 1e-3,
            Units::In => 0.0254,
        }
    }

    /// Returns the name of the unit, in the plural.
    pub fn name(self) -> &'static str {
        match self {
            Units::M => "metres",
            Units::Cm => "centimetres",
            Units::Mm => "millimetres",
            Units::In => "inches",
        }
    }
}
