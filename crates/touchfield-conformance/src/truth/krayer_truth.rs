//! Alg. 1 to 3 of \[Krayer2020\] in plain loops, written from the paper and not from the library.
//!
//! Input: shapes, and pairs of them with their poses.
//! Output: the number of collisions of each pair, and their data, in the order of the particles.
//! Cost: two samples per particle and step, one particle after the other.
//! Not for: anything fast. Of the library it calls `Field::sample`, and nothing else.
//!
//! Known slips of the paper's text are corrected: line 3 of Alg. 3 finds the first accumulated
//! count that is *greater* than the index, and line 21 adds the pair's offset. Fields are sampled
//! in `f32`, as everywhere; Alg. 1 runs in `f64`, because its rounding to whole numbers would
//! otherwise be decided by the last place of a float.

use glam::{Mat3, Vec3};
use touchfield::geom::Pose;
use touchfield::shape::Shape;

/// A pair of shapes, by their numbers.
#[derive(Clone, Copy, Debug)]
pub struct PlainPair {
    /// Number of A.
    pub a: usize,
    /// Number of B.
    pub b: usize,
    /// Pose of B in the frame of A.
    pub a_from_b: Pose,
}

/// Line 10 of Alg. 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collision {
    /// Index of the particle within its pair.
    pub particle: u32,
    /// Where it arrived, in the frame of A \[m\].
    pub point: Vec3,
    /// Gradient of B there, in the frame of A: from B to A.
    pub normal: Vec3,
    /// Larger of the two distances \[m\].
    pub max: f32,
    /// Smaller of the two distances: the depth of Eq. 15 \[m\].
    pub min: f32,
}

/// Result of Alg. 3.
#[derive(Clone, Debug, Default)]
pub struct Collisions {
    /// Number of collisions of each pair.
    pub counts: Vec<u32>,
    /// Collisions, pair after pair.
    pub result: Vec<Collision>,
    /// Number of particles.
    pub particles: u32,
}

/// Intersection of the boxes of a pair, and its resolution.
#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    low: [f32; 3],
    high: [f32; 3],
    resolution: [u32; 3],
}

/// Alg. 1: resolutions of sides sorted by descending length.
fn sorted_resolution(b: [f64; 3], n: f64) -> [f64; 3] {
    let a2 = b[1] / b[0];
    let a3 = b[2] / b[0];
    let mut r1 = n / (a2 * a3).cbrt();
    let mut r2 = r1 * a2;
    let r3 = (r1 * a3).round().max(1.0);
    let q = (r1 * r2 * r3 / n.powi(3)).sqrt();
    r1 /= q;
    r2 = (r2 / q).round().max(1.0);
    let q = r1 * r2 * r3 / n.powi(3);
    r1 = (r1 / q).round().max(1.0);
    [r1, r2, r3]
}

/// Returns `None` where the boxes do not meet, or meet in a face only, for which Alg. 1 divides by
/// zero.
fn intersect_bounds(a: &Shape, b: &Shape, a_from_b: Pose, n: u32) -> Option<Bounds> {
    let turn = Mat3::from_quat(a_from_b.rotation);
    let mut low = [f32::INFINITY; 3];
    let mut high = [f32::NEG_INFINITY; 3];
    let box_b = b.solid();
    for corner in 0..8 {
        let x = if corner & 1 == 0 {
            box_b.min.x
        } else {
            box_b.max.x
        };
        let y = if corner & 2 == 0 {
            box_b.min.y
        } else {
            box_b.max.y
        };
        let z = if corner & 4 == 0 {
            box_b.min.z
        } else {
            box_b.max.z
        };
        let moved = turn * Vec3::new(x, y, z) + a_from_b.translation;
        for axis in 0..3 {
            low[axis] = low[axis].min(moved[axis]);
            high[axis] = high[axis].max(moved[axis]);
        }
    }
    let box_a = a.solid();
    let mut sides = [(0.0, 0); 3];
    for axis in 0..3 {
        low[axis] = low[axis].max(box_a.min[axis]);
        high[axis] = high[axis].min(box_a.max[axis]);
        if low[axis] >= high[axis] {
            return None;
        }
        sides[axis] = (f64::from(high[axis] - low[axis]), axis);
    }
    // Descending; equal sides in the order of the axes.
    sides.sort_by(|one, other| other.0.total_cmp(&one.0));
    let sorted = sorted_resolution(sides.map(|(side, _)| side), f64::from(n));
    let mut resolution = [1; 3];
    for (r, (_, axis)) in sorted.into_iter().zip(sides) {
        resolution[axis] = r as u32;
    }
    Some(Bounds {
        low,
        high,
        resolution,
    })
}

fn point_in_bound(bounds: &Bounds, relative: u32) -> Vec3 {
    let [nx, ny, _] = bounds.resolution;
    let index = [relative % nx, relative / nx % ny, relative / (nx * ny)];
    let mut point = [0.0; 3];
    for axis in 0..3 {
        let side = bounds.high[axis] - bounds.low[axis];
        let cell = side / bounds.resolution[axis] as f32;
        point[axis] = bounds.low[axis] + (index[axis] as f32 + 0.5) * cell;
    }
    Vec3::from(point)
}

/// Alg. 2.
fn iterate_proj(
    mut p: Vec3,
    a: &Shape,
    b: &Shape,
    a_from_b: Pose,
    epsilon: f32,
    max_steps: u32,
) -> Option<(Vec3, Vec3, f32, f32)> {
    let b_from_a = a_from_b.inverse();
    let turn = Mat3::from_quat(b_from_a.rotation);
    for _ in 0..max_steps {
        let sample_a = a.field().sample(p);
        let sample_b = b.field().sample(turn * p + b_from_a.translation);
        let d_a = sample_a.distance;
        let d_b = sample_b.distance;
        let gradient_b = turn.transpose() * sample_b.gradient;
        let g = if d_a >= d_b {
            sample_a.gradient
        } else {
            gradient_b
        };
        if d_a.max(d_b) < epsilon {
            return Some((p, gradient_b, d_a.max(d_b), d_a.min(d_b)));
        }
        p -= d_a.max(d_b) * g;
    }
    None
}

/// Returns the first index whose accumulated count is greater than `i`.
fn upper_bound(counts: &[u32], i: u32) -> usize {
    let (mut low, mut high) = (0, counts.len());
    while low < high {
        let middle = (low + high) / 2;
        if counts[middle] > i {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Alg. 3, with both of its passes. `epsilon` is given for every pair \[m\].
pub fn collide_all(
    shapes: &[&Shape],
    pairs: &[PlainPair],
    epsilon: &[f32],
    n: u32,
    max_steps: u32,
) -> Collisions {
    let mut bounds = Vec::new();
    let mut accumulated = Vec::new();
    let mut sum = 0;
    for pair in pairs {
        let found = intersect_bounds(shapes[pair.a], shapes[pair.b], pair.a_from_b, n);
        let own = found.unwrap_or_default();
        sum += own.resolution[0] * own.resolution[1] * own.resolution[2];
        bounds.push(own);
        accumulated.push(sum);
    }
    let projected = |i: u32| {
        let index = upper_bound(&accumulated, i);
        let before = if index == 0 {
            0
        } else {
            accumulated[index - 1]
        };
        let pair = &pairs[index];
        let p = point_in_bound(&bounds[index], i - before);
        let (a, b) = (shapes[pair.a], shapes[pair.b]);
        let hit = iterate_proj(p, a, b, pair.a_from_b, epsilon[index], max_steps);
        (index, i - before, hit)
    };
    let mut counts = vec![0; pairs.len()];
    for i in 0..sum {
        let (index, _, hit) = projected(i);
        if hit.is_some() {
            counts[index] += 1;
        }
    }
    let mut offsets = Vec::new();
    let mut total = 0;
    for count in &counts {
        offsets.push(total);
        total += count;
    }
    let nothing = Collision {
        particle: 0,
        point: Vec3::ZERO,
        normal: Vec3::ZERO,
        max: 0.0,
        min: 0.0,
    };
    let mut result = vec![nothing; total as usize];
    let mut next = offsets;
    for i in 0..sum {
        let (index, particle, hit) = projected(i);
        if let Some((point, normal, max, min)) = hit {
            result[next[index] as usize] = Collision {
                particle,
                point,
                normal,
                max,
                min,
            };
            next[index] += 1;
        }
    }
    Collisions {
        counts,
        result,
        particles: sum,
    }
}
