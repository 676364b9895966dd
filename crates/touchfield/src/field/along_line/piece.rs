//! What a field is along a piece of a line.

use crate::geom::Interval;

/// What a field is along a piece of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    /// On one side of the level all along.
    Clear {
        /// Which side; the other is above.
        is_below: bool,
        /// How far from the level at least \[m\].
        gap: f32,
    },
    /// This, which may cross the level.
    Polynomial(Polynomial),
}

impl Piece {
    /// Of a range that holds all values; `None` when the level lies in it.
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

    /// How far from the level it stays at least \[m\].
    pub(crate) fn gap(&self) -> f32 {
        match self {
            Piece::Clear { gap, .. } => *gap,
            Piece::Polynomial(_) => 0.0,
        }
    }
}

/// Coefficients in the share of the piece's time that has passed, the constant first \[m\].
pub(crate) type Polynomial = [f64; 5];
