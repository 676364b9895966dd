//! Least value over a box of the largest of several concave functions, bounded from below by their
//! values at the corners.
//!
//! Input: up to [`MOST`] functions, each by its values at the eight corners.
//! Output: a lower bound, the weights that prove it, and the point at which it would be attained.
//! Cost: about a microsecond; no allocation.
//! Not for: functions that are not concave, which corners do not bound.
//!
//! For weights `w ≥ 0` of sum 1, `max fᵢ ≥ Σ wᵢ fᵢ`. The sum is concave, hence least at a corner
//! `k`. So `max over w of min over k of Σ wᵢ fᵢ(k)` is a lower bound. It is the value of a matrix
//! game; its solution for the other player is a mixture of corners, a point of the box. Linear
//! functions are bounded exactly. The simplex method solves the game; any weights give a true
//! bound, so its rounding does not matter.

/// Maximum number of functions.
pub(crate) const MOST: usize = 12;

/// Number of corners of a box.
pub(crate) const CORNERS: usize = 8;

/// Solution of a game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Game {
    /// Lower bound over the box.
    pub(crate) lower: f64,
    /// Weight of each function.
    pub(crate) weights: [f64; MOST],
    /// Weight of each corner, in the point at which the bound would be attained.
    pub(crate) corners: [f64; CORNERS],
}

/// Solves the game of at least one and at most [`MOST`] functions.
pub(crate) fn solve(values: &[[f64; CORNERS]]) -> Game {
    let count = values.len().min(MOST);
    let all = || values[..count].iter().flatten().copied();
    let least = all().fold(f64::INFINITY, f64::min);
    let range = all().fold(f64::NEG_INFINITY, f64::max) - least;
    let mut game = Game {
        lower: least,
        weights: [0.0; MOST],
        corners: [1.0 / CORNERS as f64; CORNERS],
    };
    game.weights[0] = 1.0;
    if range > 0.0 && range.is_finite() {
        let mut tableau = Tableau::of(&values[..count], least, range);
        tableau.solve();
        tableau.read(&mut game);
    }
    // The bound that the weights prove.
    let at = |corner: usize| -> f64 {
        let each = values[..count].iter().zip(&game.weights);
        each.map(|(value, weight)| weight * value[corner]).sum()
    };
    game.lower = (0..CORNERS).map(at).fold(f64::INFINITY, f64::min);
    game
}

/// Simplex tableau of `maximise Σ yₖ, where Σₖ Pᵢₖ yₖ ≤ 1 for all i, y ≥ 0`, with the payoffs P
/// scaled to between 1 and 2.
struct Tableau {
    entries: [[f64; CORNERS]; MOST],
    right: [f64; MOST],
    objective: [f64; CORNERS],
    /// Variable of each row, and of each column: corners are 0 to 7, functions follow.
    of_row: [usize; MOST],
    of_column: [usize; CORNERS],
    rows: usize,
}

impl Tableau {
    fn of(values: &[[f64; CORNERS]], least: f64, range: f64) -> Tableau {
        let mut entries = [[0.0; CORNERS]; MOST];
        for (row, value) in entries.iter_mut().zip(values) {
            *row = value.map(|value| 1.0 + (value - least) / range);
        }
        Tableau {
            entries,
            right: [1.0; MOST],
            objective: [1.0; CORNERS],
            of_row: std::array::from_fn(|row| CORNERS + row),
            of_column: std::array::from_fn(|column| column),
            rows: values.len(),
        }
    }

    fn solve(&mut self) {
        /// Improvement of the objective below which a pivot is not worth it.
        const LEAST: f64 = 1e-10;
        /// Far more pivots than games of this size take.
        const MOST_PIVOTS: usize = 40;
        for _ in 0..MOST_PIVOTS {
            let mut column = 0;
            for other in 1..CORNERS {
                if self.objective[other] > self.objective[column] {
                    column = other;
                }
            }
            if self.objective[column] <= LEAST {
                break;
            }
            let mut pivot: Option<(f64, usize)> = None;
            for row in 0..self.rows {
                let entry = self.entries[row][column];
                if entry > LEAST {
                    let ratio = self.right[row] / entry;
                    if pivot.is_none_or(|(least, _)| ratio < least) {
                        pivot = Some((ratio, row));
                    }
                }
            }
            let Some((_, row)) = pivot else { break };
            self.exchange(row, column);
        }
    }

    /// Exchanges the variables of a row and a column.
    fn exchange(&mut self, row: usize, column: usize) {
        let inverse = 1.0 / self.entries[row][column];
        let mut pivot_row = self.entries[row].map(|entry| entry * inverse);
        let pivot_right = self.right[row] * inverse;
        pivot_row[column] = inverse;
        for other in (0..self.rows).filter(|&other| other != row) {
            let factor = self.entries[other][column];
            self.entries[other][column] = 0.0;
            for (entry, pivot) in self.entries[other].iter_mut().zip(&pivot_row) {
                *entry -= factor * pivot;
            }
            self.right[other] -= factor * pivot_right;
        }
        let factor = self.objective[column];
        self.objective[column] = 0.0;
        for (entry, pivot) in self.objective.iter_mut().zip(&pivot_row) {
            *entry -= factor * pivot;
        }
        self.entries[row] = pivot_row;
        self.right[row] = pivot_right;
        std::mem::swap(&mut self.of_row[row], &mut self.of_column[column]);
    }

    /// Reads the strategies of both players.
    fn read(&self, game: &mut Game) {
        let mut weights = [0.0; MOST];
        let mut corners = [0.0; CORNERS];
        for (&variable, &value) in self.of_column.iter().zip(&self.objective) {
            if variable >= CORNERS {
                weights[variable - CORNERS] = (-value).max(0.0);
            }
        }
        for (&variable, &value) in self.of_row[..self.rows].iter().zip(&self.right) {
            if variable < CORNERS {
                corners[variable] = value.max(0.0);
            }
        }
        let of_weights: f64 = weights.iter().sum();
        let of_corners: f64 = corners.iter().sum();
        if of_weights > 0.0 && of_weights.is_finite() {
            game.weights = weights.map(|weight| weight / of_weights);
        }
        if of_corners > 0.0 && of_corners.is_finite() {
            game.corners = corners.map(|weight| weight / of_corners);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Random;

    #[test]
    fn the_bound_is_the_least_value_of_linear_functions_found_by_search() {
        let mut random = Random::new(3);
        for round in 0..200 {
            let count = 1 + round % MOST;
            let slopes: Vec<([f64; 3], f64)> = (0..count)
                .map(|_| {
                    let mut number = || random.uniform(-1.0, 1.0);
                    ([number(), number(), number()], number())
                })
                .collect();
            let value = |(slope, offset): &([f64; 3], f64), at: [f64; 3]| {
                offset + (0..3).map(|axis| slope[axis] * at[axis]).sum::<f64>()
            };
            let corner =
                |k: usize| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { 1.0 } else { -1.0 });
            let table: Vec<[f64; CORNERS]> = (slopes.iter())
                .map(|function| std::array::from_fn(|k| value(function, corner(k))))
                .collect();
            let game = solve(&table);
            // The bound is attained at the mixture of corners.
            let at: [f64; 3] = std::array::from_fn(|axis| {
                let weighted = (0..CORNERS).map(|k| game.corners[k] * corner(k)[axis]);
                weighted.sum()
            });
            let attained = slopes
                .iter()
                .map(|f| value(f, at))
                .fold(f64::NEG_INFINITY, f64::max);
            assert!(
                (attained - game.lower).abs() < 1e-9,
                "{attained} {}",
                game.lower
            );
            // And nowhere undercut.
            for _ in 0..200 {
                let at = [0; 3].map(|_| random.uniform(-1.0, 1.0));
                let here = slopes
                    .iter()
                    .map(|f| value(f, at))
                    .fold(f64::NEG_INFINITY, f64::max);
                assert!(here >= game.lower - 1e-12);
            }
        }
    }

    #[test]
    fn equal_and_single_functions_are_games_too() {
        let game = solve(&[[2.0; CORNERS]; 3]);
        assert!((game.lower - 2.0).abs() < 1e-12);
        let game = solve(&[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]);
        assert!((game.lower - 1.0).abs() < 1e-12);
    }
}
