//! Collects the spans of time in which a moving point is in contact.
//!
//! Input: pieces of its path in order, each above, below, or a polynomial.
//! Output: spans, joined where pieces meet.
//! Cost: that of the roots.
//! Not for: finding the pieces.

use std::ops::ControlFlow;

use crate::field::along_line::line::Times;
use crate::field::along_line::piece::Piece;
use crate::field::along_line::piece::Polynomial;
use crate::narrow::motion::swept_points::polynomial;
use crate::narrow::motion::swept_points::polynomial::Share;

/// A span of time in which a point is in contact, as fractions of its whole motion. Both ends are
/// included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// First time in contact.
    pub enter: f64,
    /// Last time in contact.
    pub leave: f64,
}

/// Which part of a motion's contact is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All spans.
    All,
    /// The first span, complete.
    First,
    /// The onset of contact: a span that starts at the first contact. It may end before the contact
    /// does.
    Onset,
    /// Whether there is any contact: a span as for [`Wanted::Onset`], but at an unspecified time.
    Whether,
}

/// How the times at which a path crosses the level in a cell are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots {
    /// Every root of the cell's polynomial, to the rounding of `f64`.
    Exact,
    /// The method of \[XuCcd2014\]: a cell is crossed once if its ends lie on different sides, and
    /// not at all otherwise. The time is found by this many steps of false position. The paper uses
    /// five.
    FalsePosition {
        /// Number of steps.
        iterations: u32,
    },
}

/// Spans no farther apart than this are joined; times are rounded by less.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Collector of the spans found so far.
pub(super) struct Collector<'a> {
    pub(super) level: f32,
    pub(super) wanted: Wanted,
    pub(super) roots: Roots,
    pub(super) spans: &'a mut Vec<Span>,
}

impl Collector<'_> {
    /// Adds the next piece of the path, and breaks if no further piece is needed.
    #[inline]
    pub(super) fn visit(&mut self, times: Times, piece: Piece) -> ControlFlow<()> {
        match piece {
            Piece::Clear {
                is_below: false, ..
            } => self.above(times),
            Piece::Clear { is_below: true, .. } => self.below(times),
            Piece::Polynomial(polynomial) => self.polynomial(times, polynomial),
        }
    }

    /// Adds a piece that is on one side of the level throughout. Its times are computed only if
    /// they are needed.
    #[inline(always)]
    pub(super) fn clear(
        &mut self,
        is_below: bool,
        times: impl FnOnce() -> Times,
    ) -> ControlFlow<()> {
        match is_below {
            true => self.below(times()),
            false if self.wanted == Wanted::First => self.above(times()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Adds a piece that ends without contact, and breaks if only the first span is wanted and it
    /// is complete.
    #[inline(always)]
    pub(super) fn above(&self, times: Times) -> ControlFlow<()> {
        let is_over = |last: &Span| times[1] > last.leave + ROUNDING;
        if self.wanted == Wanted::First && self.spans.last().is_some_and(is_over) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Adds a piece that is in contact throughout.
    #[inline(always)]
    pub(super) fn below(&mut self, [enter, leave]: Times) -> ControlFlow<()> {
        match self.spans.last_mut() {
            Some(last) if last.leave >= enter - ROUNDING => last.leave = last.leave.max(leave),
            Some(_) if self.wanted == Wanted::First => return ControlFlow::Break(()),
            _ => self.spans.push(Span { enter, leave }),
        }
        match self.wanted {
            Wanted::All | Wanted::First => ControlFlow::Continue(()),
            Wanted::Onset | Wanted::Whether => ControlFlow::Break(()),
        }
    }

    fn polynomial(&mut self, times: Times, mut polynomial: Polynomial) -> ControlFlow<()> {
        polynomial[0] -= f64::from(self.level);
        let length = times[1] - times[0];
        // Return exactly the end of the piece at its end, so that spans of neighbouring pieces
        // join.
        let time = |share: f64| {
            if share == 1.0 {
                times[1]
            } else {
                times[0] + share * length
            }
        };
        let shares = match self.roots {
            Roots::Exact => polynomial::at_or_below_zero(&polynomial),
            Roots::FalsePosition { iterations } => {
                polynomial::by_false_position(&polynomial, iterations)
            }
        };
        for &Share { from, to } in shares.as_slice() {
            self.below([time(from), time(to)])?;
        }
        match shares.as_slice().last() {
            Some(last) if last.to == 1.0 => ControlFlow::Continue(()),
            _ => self.above(times),
        }
    }
}
