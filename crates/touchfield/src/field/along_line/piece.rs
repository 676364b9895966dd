//! The field along a piece of a line.

use crate::geom::Interval;

/// The field along a piece of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    /// The field stays on one side of the level.
    Clear {
        /// Whether that side is below the level; otherwise above.
        is_below: bool,
        /// Lower bound of the distance from the level \[m\].
        gap: f32,
    },
    /// The field is this polynomial, which may cross the level.
    Polynomial(Polynomial),
}

impl Piece {
    /// Makes a clear piece from a range that contains all values; `None` if the level lies in it.
    pub(crate) fn of_range(range: Interval, level: f32) -> Option<Piece> {
        if range.lower > level {
            Some(Piece::Clear {
                is_below: false,
                gap: range.lower - level,
            })
        } else if range.upper < level {
            Some(Piece::Clear {
                is_below: true,
                gap: level - range.upper,
            })
        } else {
            None
        }
    }

    /// Returns a lower bound of the distance from the level \[m\].
    pub(crate) fn gap(&self) -> f32 {
        match self {
            Piece::Clear { gap, .. } => *gap,
            Piece::Polynomial(_) => 0.0,
        }
    }
}

/// Coefficients of a polynomial in the fraction of the piece's time that has passed, the constant
/// first \[m\].
pub(crate) type Polynomial = [f64; 5];
