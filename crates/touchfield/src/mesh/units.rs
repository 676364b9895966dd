//! Units of length of the coordinates in a mesh file.

/// A unit of length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Metres.
    #[default]
    Metres,
    /// Centimetres.
    Centimetres,
    /// Millimetres.
    Millimetres,
    /// Inches.
    Inches,
}

impl Units {
    /// Returns the length of one unit \[m\].
    pub fn metres(self) -> f64 {
        match self {
            Units::Metres => 1.0,
            Units::Centimetres => 1e-2,
            Units::Millimetres => 1e-3,
            Units::Inches => 0.0254,
        }
    }
}
