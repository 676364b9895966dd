//! A direct solver of linear complementarity problems, by pivoting \[Lemke1965\].
//!
//! Input: a matrix M and a vector q.
//! Output: z ≥ 0 with w = M z + q ≥ 0 and z·w = 0.
//! Cost: cubic in the size, for what takes about as many pivots as there are unknowns.
//! Not for: more than a few dozen contacts.
//!
//! The oracle of the sequential solver: it has no rounds and no tolerance. Friction is a pyramid of
//! [`SIDES`] sides \[Stewart1996\], where the sequential solver has the cone.

use touchfield::geom::Random;

/// Number of sides of the friction pyramid.
pub(crate) const SIDES: usize = 16;

/// Pivots below this share of the largest entry are taken for zero.
const LEAST_PIVOT: f64 = 1e-11;

/// Number of times that a problem is tried with other perturbations.
const TRIES: u64 = 4;

/// Share of the largest entry that is added to the diagonal.
const REGULAR: f64 = 1e-10;

/// Share of the largest number of q by which each row is moved.
const PERTURBED: f64 = 1e-8;

/// A linear complementarity problem `w = M z + q`, `0 ≤ w ⟂ z ≥ 0`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Complementarity {
    size: usize,
    matrix: Vec<f64>,
    offset: Vec<f64>,
    tableau: Vec<f64>,
    basis: Vec<usize>,
    solution: Vec<f64>,
}

impl Complementarity {
    /// Begins a problem of this size, with all numbers zero.
    pub(crate) fn reset(&mut self, size: usize) {
        self.size = size;
        self.matrix.clear();
        self.matrix.resize(size * size, 0.0);
        self.offset.clear();
        self.offset.resize(size, 0.0);
    }

    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.matrix[row * self.size + column] += value;
    }

    pub(crate) fn set_offset(&mut self, row: usize, value: f64) {
        self.offset[row] = value;
    }

    /// Solves the problem. Returns `None` where the method ends on a ray: there may be no solution.
    pub(crate) fn solve(&mut self) -> Option<&[f64]> {
        // Where many contacts say the same, rounding may lead astray: other small numbers go
        // another way.
        let is_solved = (1..=TRIES).any(|seed| self.solve_perturbed(seed).is_some());
        is_solved.then_some(&self.solution)
    }

    fn solve_perturbed(&mut self, seed: u64) -> Option<()> {
        let size = self.size;
        self.solution.clear();
        self.solution.resize(size, 0.0);
        // The row that is violated most leaves first.
        let lowest = (0..size).min_by(|&a, &b| self.offset[a].total_cmp(&self.offset[b]))?;
        if self.offset[lowest] >= 0.0 {
            return Some(());
        }
        let width = 2 * size + 2;
        let (artificial, right) = (2 * size, 2 * size + 1);
        let largest =
            (self.matrix.iter()).fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
        let most =
            (self.offset.iter()).fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
        // Columns: w, z, the artificial variable, the right-hand side. Equal ratios lead the method
        // in circles, so each row is off by a number of its own.
        let mut random = Random::new(seed);
        self.tableau.clear();
        self.tableau.resize(size * width, 0.0);
        for row in 0..size {
            let line = &mut self.tableau[row * width..][..width];
            line[row] = 1.0;
            for column in 0..size {
                line[size + column] = -self.matrix[row * size + column];
            }
            // Contacts that others make superfluous leave the matrix singular.
            line[size + row] -= REGULAR * largest;
            line[artificial] = -1.0;
            line[right] = self.offset[row] + PERTURBED * most * (1.0 + random.unit());
        }
        self.basis.clear();
        self.basis.extend(0..size);
        let mut leaving_row = lowest;
        let mut entering = artificial;
        for _ in 0..50 * (size + 1) {
            let leaving = self.basis[leaving_row];
            self.pivot(leaving_row, entering, width);
            self.basis[leaving_row] = entering;
            if leaving == artificial {
                for (row, &variable) in self.basis.iter().enumerate() {
                    if (size..2 * size).contains(&variable) {
                        self.solution[variable - size] = self.tableau[row * width + right].max(0.0);
                    }
                }
                return self.is_solved().then_some(());
            }
            // The partner of what left enters.
            entering = if leaving < size {
                leaving + size
            } else {
                leaving - size
            };
            leaving_row = self.ratio_test(entering, width, LEAST_PIVOT * largest)?;
        }
        None
    }

    /// Returns whether the solution holds, to within the rounding of many pivots.
    fn is_solved(&self) -> bool {
        let size = self.size;
        let most =
            (self.offset.iter()).fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
        (0..size).all(|row| {
            let line = &self.matrix[row * size..][..size];
            let product: f64 = line.iter().zip(&self.solution).map(|(m, z)| m * z).sum();
            let terms: f64 = line
                .iter()
                .zip(&self.solution)
                .map(|(m, z)| (m * z).abs())
                .sum();
            let slack = product + self.offset[row];
            let rounding = 1e-6 * (most + terms);
            slack > -rounding && (self.solution[row] == 0.0 || slack < rounding)
        })
    }

    /// Returns the row that limits the entering variable most; of equal ones that of the artificial
    /// variable, else that of the largest pivot.
    fn ratio_test(&self, entering: usize, width: usize, least: f64) -> Option<usize> {
        let artificial = 2 * self.size;
        let mut best: Option<(usize, f64, f64)> = None;
        for row in 0..self.size {
            let pivot = self.tableau[row * width + entering];
            if pivot <= least {
                continue;
            }
            let ratio = self.tableau[row * width + width - 1] / pivot;
            let is_better = best.is_none_or(|(other, least_ratio, other_pivot)| {
                let slack = 1e-9 * least_ratio.abs();
                if (ratio - least_ratio).abs() > slack {
                    return ratio < least_ratio;
                }
                let is_artificial = self.basis[row] == artificial;
                self.basis[other] != artificial && (is_artificial || pivot > other_pivot)
            });
            if is_better {
                best = Some((row, ratio, pivot));
            }
        }
        best.map(|(row, ..)| row)
    }

    fn pivot(&mut self, row: usize, column: usize, width: usize) {
        let factor = 1.0 / self.tableau[row * width + column];
        for value in &mut self.tableau[row * width..][..width] {
            *value *= factor;
        }
        for other in 0..self.size {
            let factor = self.tableau[other * width + column];
            if other == row || factor == 0.0 {
                continue;
            }
            for at in 0..width {
                let value = self.tableau[row * width + at];
                self.tableau[other * width + at] -= factor * value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_problems_with_positive_definite_matrices_are_solved() {
        let mut random = Random::new(11);
        for size in 1..20 {
            let mut problem = Complementarity::default();
            problem.reset(size);
            let factor: Vec<f64> = (0..size * size)
                .map(|_| random.uniform(-1.0, 1.0))
                .collect();
            let mut matrix = vec![0.0; size * size];
            for row in 0..size {
                for column in 0..size {
                    let dot: f64 = (0..size)
                        .map(|k| factor[row * size + k] * factor[column * size + k])
                        .sum();
                    matrix[row * size + column] = dot + if row == column { 0.01 } else { 0.0 };
                    problem.add(row, column, matrix[row * size + column]);
                }
            }
            let offset: Vec<f64> = (0..size).map(|_| random.uniform(-1.0, 0.5)).collect();
            for (row, &value) in offset.iter().enumerate() {
                problem.set_offset(row, value);
            }
            let solution = problem.solve().map(<[f64]>::to_vec);
            assert!(solution.is_some(), "{size}");
            let solution = solution.unwrap_or_default();
            for row in 0..size {
                let product: f64 = (0..size)
                    .map(|column| matrix[row * size + column] * solution[column])
                    .sum();
                let slack = product + offset[row];
                assert!(slack > -1e-6, "{size}: {slack}");
                assert!(
                    (slack * solution[row]).abs() < 1e-5,
                    "{size}: {slack} {}",
                    solution[row]
                );
            }
        }
    }
}
