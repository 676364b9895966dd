//! Boxes that are halved level by level; those that the half diagonal rules out are dropped.
//!
//! Input: an [`Overlap`].
//! Output: the boxes of one size that may hold a point near both bodies, and a proven lower bound
//! of the separation.
//! Cost: at most two field values per box; the second body is sampled only where the first does not
//! rule out the box.
//! Not for: choosing contacts, which the methods do.
//!
//! A box with centre c and half diagonal r holds no value of `max(φA, φB)` below
//! `max(φA(c) − eA, φB(c) − eB) − r`, because true distances are 1-Lipschitz and fields are off by
//! at most e. \[Adelman\] compares with "the size of the box". A side is halved only while it is
//! more than half the longest: boxes become cubes, and the longest side halves each level.

use glam::{UVec3, Vec3};

use crate::narrow::search::overlap::{Overlap, OverlapBuffers};

/// The boxes of one level, all of one size.
#[derive(Debug, Default)]
pub(crate) struct Boxes {
    pub(crate) centers: Vec<Vec3>,
    /// Values of `max(φA, φB)` at the centres \[m\].
    pub(crate) values: Vec<f32>,
    /// Half-extents of every box \[m\].
    pub(crate) half: Vec3,
    /// Number of boxes visited, over all levels.
    pub(crate) visited: u64,
    /// Proven lower bound of `max(φA, φB)` over all boxes that were dropped \[m\].
    pub(crate) left_out: f32,
    next: Vec<Vec3>,
    first: Vec<f32>,
}

/// Which boxes [`Boxes::look`] keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All boxes that may hold a point near both bodies.
    Region,
    /// Only boxes that may hold a point of the border of that region.
    Border,
}

/// Returns half the diagonal of a box \[m\], rounded up: a bound computed from it must not be too
/// high.
pub(crate) fn half_diagonal(half_extents: Vec3) -> f32 {
    half_extents.length() * (1.0 + 4.0 * f32::EPSILON)
}

impl Boxes {
    /// Fills the common box of the overlap with `counts` boxes per axis. They are not yet
    /// evaluated.
    pub(crate) fn start(&mut self, overlap: &Overlap<'_>, counts: UVec3) {
        self.half = overlap.bounds.half_extents() / counts.as_vec3();
        self.visited = 0;
        self.left_out = f32::INFINITY;
        self.centers.clear();
        for z in 0..counts.z {
            for y in 0..counts.y {
                for x in 0..counts.x {
                    let place = 2.0 * UVec3::new(x, y, z).as_vec3() + 1.0;
                    self.centers.push(overlap.bounds.min + place * self.half);
                }
            }
        }
    }

    /// Returns half the diagonal of a box \[m\], rounded up.
    pub(crate) fn radius(&self) -> f32 {
        half_diagonal(self.half)
    }

    /// Evaluates both fields at the centres and keeps the boxes that are wanted.
    pub(crate) fn look(
        &mut self,
        overlap: &Overlap<'_>,
        wanted: Wanted,
        buffers: &mut OverlapBuffers,
    ) {
        self.visited += self.centers.len() as u64;
        let radius = self.radius();
        let [error, second_error] = overlap.errors;
        overlap.first_many(&self.centers, buffers);
        self.first.clear();
        let mut kept = 0;
        for index in 0..self.centers.len() {
            let mut lower = buffers.first[index] - error - radius;
            if lower <= overlap.reach {
                // The distance to a box costs less than a field value, most of all beyond the
                // border of a grid.
                lower = lower.max(overlap.second_at_least(self.centers[index]) - radius);
            }
            if lower > overlap.reach {
                self.left_out = self.left_out.min(lower);
                continue;
            }
            self.centers[kept] = self.centers[index];
            self.first.push(buffers.first[index]);
            kept += 1;
        }
        self.centers.truncate(kept);
        overlap.second_many(&self.centers, buffers);
        self.values.clear();
        kept = 0;
        for index in 0..self.centers.len() {
            let (first, second) = (self.first[index], buffers.second[index]);
            let lower = (first - error).max(second - second_error) - radius;
            let upper = (first + error).max(second + second_error) + radius;
            if lower > overlap.reach || (wanted == Wanted::Border && upper < overlap.reach) {
                self.left_out = self.left_out.min(lower);
                continue;
            }
            self.centers[kept] = self.centers[index];
            self.values.push(first.max(second));
            kept += 1;
        }
        self.centers.truncate(kept);
    }

    /// Keeps the boxes whose value is at most `limit`, all of them if several are equal.
    pub(crate) fn keep_below(&mut self, overlap: &Overlap<'_>, limit: f32) {
        let radius = self.radius();
        let mut kept = 0;
        for index in 0..self.centers.len() {
            let value = self.values[index];
            if value > limit {
                self.left_out = self.left_out.min(value - overlap.error() - radius);
                continue;
            }
            self.centers[kept] = self.centers[index];
            self.values[kept] = value;
            kept += 1;
        }
        self.centers.truncate(kept);
        self.values.truncate(kept);
    }

    /// Keeps only the box at `index`.
    pub(crate) fn keep_one(&mut self, overlap: &Overlap<'_>, index: usize) {
        let radius = self.radius();
        let (center, value) = (self.centers[index], self.values[index]);
        for (other, &left) in self.values.iter().enumerate() {
            if other != index {
                self.left_out = self.left_out.min(left - overlap.error() - radius);
            }
        }
        self.centers.clear();
        self.centers.push(center);
        self.values.clear();
        self.values.push(value);
    }

    /// Returns the index of the box of least value, the first if several are equal.
    pub(crate) fn best(&self) -> Option<usize> {
        (0..self.values.len()).min_by(|&a, &b| self.values[a].total_cmp(&self.values[b]))
    }

    /// Returns whether each axis is to be halved.
    fn halved(&self) -> [bool; 3] {
        let longest = self.half.max_element();
        self.half.to_array().map(|side| side > 0.5 * longest)
    }

    /// Returns the number of boxes that [`Self::split`] would make.
    pub(crate) fn count_after_split(&self) -> u64 {
        let axes = self.halved().iter().filter(|&&halved| halved).count();
        (self.centers.len() as u64) << axes
    }

    /// Halves every box. The parts are not yet evaluated.
    pub(crate) fn split(&mut self) {
        let halved = self.halved();
        let quarter = 0.5 * self.half;
        self.next.clear();
        let signs = |axis: usize| {
            if halved[axis] {
                &[-1.0, 1.0][..]
            } else {
                &[0.0]
            }
        };
        for &center in &self.centers {
            for &z in signs(2) {
                for &y in signs(1) {
                    for &x in signs(0) {
                        self.next.push(center + Vec3::new(x, y, z) * quarter);
                    }
                }
            }
        }
        std::mem::swap(&mut self.centers, &mut self.next);
        self.half = Vec3::from(std::array::from_fn::<f32, 3, _>(|axis| {
            if halved[axis] {
                quarter[axis]
            } else {
                self.half[axis]
            }
        }));
    }

    /// Returns a proven lower bound of `max(φA, φB)` \[m\].
    pub(crate) fn lower_bound(&self, overlap: &Overlap<'_>) -> f32 {
        let radius = self.radius();
        let kept = self.values.iter().fold(f32::INFINITY, |least, &value| {
            least.min(value - overlap.error() - radius)
        });
        // Outside the common box at least one body is out of reach.
        let least = kept.min(self.left_out).min(overlap.reach);
        // A field that is only a bound gives no limit to the depth inside.
        if least < 0.0 && overlap.is_bound() {
            f32::NEG_INFINITY
        } else {
            least
        }
    }
}
