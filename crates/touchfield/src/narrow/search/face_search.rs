//! Finds the lowest point of a field on an edge or a face, for the methods that search triangles.
//!
//! Input: corners in the frame of the field.
//! Output: place, barycentric coordinates and sample of the lowest point.
//! Cost: about a hundred samples per face, a thousand where the field has a ridge.
//! Not for: fields with several valleys under one triangle, of which one is found.
//!
//! Edges are searched by golden sections between bracketing ends, faces by Frank–Wolfe
//! \[Frank1956\] with a line search, after \[Macklin2020\].

use glam::Vec3;

use crate::field::{Field, Sample};

/// Search over one field.
pub(crate) struct FaceSearch<'a> {
    pub(crate) field: &'a dyn Field,
    /// Residual at which a search may stop \[m\].
    pub(crate) residual: f32,
}

/// Reciprocal of the golden ratio.
const SECTION: f32 = 0.618_034;

impl FaceSearch<'_> {
    /// Finds the lowest point of a triangle by Frank–Wolfe, and returns its barycentric
    /// coordinates, place and sample. `start` gives the starting point in barycentric coordinates.
    pub(crate) fn lowest_of_face(
        &self,
        corners: [Vec3; 3],
        start: [f32; 3],
        max_steps: u32,
    ) -> ([f32; 3], Vec3, Sample) {
        let [a, b, c] = corners;
        let place = |weights: [f32; 3]| weights[0] * a + weights[1] * b + weights[2] * c;
        let mut weights = start;
        let mut point = place(weights);
        let mut sample = self.field.sample(point);
        let mut stuck = true;
        for _ in 0..max_steps {
            // The Frank–Wolfe vertex: the corner with the steepest descent of the linearised field.
            let slopes = corners.map(|corner| sample.gradient.dot(corner));
            let towards = (0..3).fold(0, |best, corner| {
                if slopes[corner] < slopes[best] {
                    corner
                } else {
                    best
                }
            });
            // The Frank–Wolfe gap bounds how much lower any point of the triangle can be.
            let gap = sample.gradient.dot(point) - slopes[towards];
            if gap <= 0.1 * self.residual {
                stuck = false;
                break;
            }
            // Move away from the worst corner if that is steeper than moving towards the best.
            // Without such away steps, iterations along an edge never converge.
            let used = (0..3).filter(|&corner| weights[corner] > 0.0);
            let from = used.fold(towards, |worst, corner| {
                if slopes[corner] > slopes[worst] {
                    corner
                } else {
                    worst
                }
            });
            let away = slopes[from] - sample.gradient.dot(point);
            let target = if away > gap && weights[from] < 1.0 {
                // Up to the point where the weight of that corner is 0.
                let rest = 1.0 - weights[from];
                let mut without = weights.map(|weight| weight / rest);
                without[from] = 0.0;
                without
            } else {
                let mut corner = [0.0; 3];
                corner[towards] = 1.0;
                corner
            };
            // Line search; stop if it gains nothing.
            let (t, moved, at_moved) = self.lowest_of_edge(point, place(target));
            if at_moved.distance >= sample.distance {
                break;
            }
            for corner in 0..3 {
                weights[corner] += t * (target[corner] - weights[corner]);
            }
            (point, sample) = (moved, at_moved);
        }
        // On a ridge of the field the gradient describes one side only, and the search gets stuck
        // there.
        if stuck {
            let nested = self.lowest_by_rows(corners);
            if nested.2.distance < sample.distance {
                return nested;
            }
        }
        (weights, point, sample)
    }

    /// Finds the lowest point of a triangle by golden sections nested in golden sections. This is
    /// slower than [`Self::lowest_of_face`], but correct wherever the distance is convex, smooth or
    /// not: the lowest value on a row parallel to a side is a convex function of the row.
    fn lowest_by_rows(&self, [a, b, c]: [Vec3; 3]) -> ([f32; 3], Vec3, Sample) {
        let row = |s: f32| {
            let (t, point, sample) = self.lowest_of_edge(a + s * (b - a), a + s * (c - a));
            ([1.0 - s, s * (1.0 - t), s * t], point, sample)
        };
        let lower = |one: ([f32; 3], Vec3, Sample), other: ([f32; 3], Vec3, Sample)| {
            if other.2.distance < one.2.distance {
                other
            } else {
                one
            }
        };
        let (mut low, mut high) = (0.0, 1.0);
        let (mut at_left, mut at_right) = (1.0 - SECTION, SECTION);
        let (mut left, mut right) = (row(at_left), row(at_right));
        let mut best = lower(lower(row(0.0), row(1.0)), lower(left, right));
        let enough = self.enough((b - a).length().max((c - a).length()));
        while high - low > enough && at_left < at_right {
            if left.2.distance <= right.2.distance {
                (high, at_right, right) = (at_right, at_left, left);
                at_left = high - SECTION * (high - low);
                left = row(at_left);
            } else {
                (low, at_left, left) = (at_left, at_right, right);
                at_right = low + SECTION * (high - low);
                right = row(at_right);
            }
            best = lower(best, lower(left, right));
        }
        best
    }

    /// Returns the fraction of a length at which golden sections stop. An error of s along the edge
    /// changes a smooth distance by s² only; at a kink it changes it by s.
    fn enough(&self, length: f32) -> f32 {
        (0.5 * self.residual / length.max(f32::MIN_POSITIVE)).max(f32::EPSILON)
    }

    /// Returns the parameter, place and sample of the lowest point between two ends: an end from
    /// which the field rises, else the result of golden sections.
    pub(crate) fn lowest_of_edge(&self, start: Vec3, end: Vec3) -> (f32, Vec3, Sample) {
        let along = end - start;
        let at = |t: f32| {
            let point = start + t * along;
            (t, point, self.field.sample(point))
        };
        let [first, last] = [at(0.0), at(1.0)];
        let lower = |a: (f32, Vec3, Sample), b: (f32, Vec3, Sample)| {
            if b.2.distance < a.2.distance { b } else { a }
        };
        let rises = |end: (f32, Vec3, Sample), along: Vec3| end.2.gradient.dot(along) >= 0.0;
        if rises(first, along) && first.2.distance <= last.2.distance {
            return first;
        }
        if rises(last, -along) && last.2.distance <= first.2.distance {
            return last;
        }
        let (mut low, mut high) = (0.0, 1.0);
        let (mut left, mut right) = (at(1.0 - SECTION), at(SECTION));
        let enough = self.enough(along.length());
        while high - low > enough {
            if left.2.distance <= right.2.distance {
                high = right.0;
                right = left;
                left = at(high - SECTION * (high - low));
            } else {
                low = left.0;
                left = right;
                right = at(low + SECTION * (high - low));
            }
            // Rounding has made the two probes coincide.
            if left.0 >= right.0 {
                break;
            }
        }
        lower(lower(left, right), lower(first, last))
    }
}
