//! Computes the smallest ball that encloses a set of points.
//!
//! Input: points in `f32`.
//! Output: the ball in `f64`; every point lies within its radius, computed in `f64`.
//! Cost: a pass over the points per pivot, some ten in all.
//! Not for: balls of balls.
//!
//! Pivoting after \[Gaertner1999\]: the point farthest outside joins the support set, and points
//! that no longer support the ball leave it. We differ in how the support set is found: among at
//! most five points, all sets of at most four are tried, and each is judged by the radius that it
//! needs to hold the five. So a degenerate set costs nothing and decides nothing, and no tolerance
//! separates inside from outside.

use glam::{DVec3, Vec3};

/// A ball in `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ball {
    pub(super) center: DVec3,
    /// Radius \[m\].
    pub(super) radius: f64,
}

/// Share by which a ball may be larger than the smallest: some roundings of `f64`, and far below
/// one of `f32`.
const EXACT: f64 = 1e-12;

/// Largest number of pivots. The radius grows with every pivot, so that none comes twice. This many
/// are never needed; the limit ends cycles that rounding could cause.
const MOST_PIVOTS: usize = 1000;

/// Returns the smallest ball around the points; a ball of radius 0 around the origin if there are
/// none.
pub(super) fn enclosing_ball(points: &[Vec3]) -> Ball {
    let Some(first) = points.first() else {
        return Ball {
            center: DVec3::ZERO,
            radius: 0.0,
        };
    };
    // Differences are taken from the first point, so that they keep their digits.
    let origin = first.as_dvec3();
    let mut carriers = Carriers::default();
    carriers.push(DVec3::ZERO);
    let mut ball = Ball {
        center: DVec3::ZERO,
        radius: 0.0,
    };
    let mut best: Option<Ball> = None;
    for _ in 0..MOST_PIVOTS {
        let (pivot, distance) = farthest(points, origin, ball.center);
        if best.is_none_or(|best| distance < best.radius) {
            best = Some(Ball {
                center: ball.center,
                radius: distance,
            });
        }
        if distance <= ball.radius * (1.0 + EXACT) {
            break;
        }
        let (next, next_ball) = with_pivot(&carriers, pivot);
        if next_ball.radius <= ball.radius {
            break;
        }
        (carriers, ball) = (next, next_ball);
    }
    let center = origin + best.map_or(DVec3::ZERO, |best| best.center);
    let reach = |point: &Vec3| point.as_dvec3().distance(center);
    Ball {
        center,
        radius: points.iter().map(reach).fold(0.0, f64::max),
    }
}

/// Returns the point farthest from `center`, relative to `origin`, and its distance.
fn farthest(points: &[Vec3], origin: DVec3, center: DVec3) -> (DVec3, f64) {
    let from = origin + center;
    let (mut index, mut most) = (0, -1.0);
    for (candidate, point) in points.iter().enumerate() {
        let distance = point.as_dvec3().distance_squared(from);
        if distance > most {
            (index, most) = (candidate, distance);
        }
    }
    (points[index].as_dvec3() - origin, most.max(0.0).sqrt())
}

/// Support set of up to five points.
#[derive(Clone, Copy, Default)]
struct Carriers {
    points: [DVec3; 5],
    count: usize,
}

impl Carriers {
    fn push(&mut self, point: DVec3) {
        self.points[self.count] = point;
        self.count += 1;
    }

    fn all(&self) -> &[DVec3] {
        &self.points[..self.count]
    }
}

/// Returns the smallest ball around at most four points and a fifth that lies on it, with its
/// support set.
fn with_pivot(carriers: &Carriers, pivot: DVec3) -> (Carriers, Ball) {
    let mut all = *carriers;
    all.push(pivot);
    let mut best = (Carriers::default(), f64::INFINITY, DVec3::ZERO);
    // The bits choose among the old points; all four and the pivot are one too many.
    for choice in 0..1usize << carriers.count {
        if choice.count_ones() > 3 {
            continue;
        }
        let mut chosen = Carriers::default();
        chosen.push(pivot);
        for (bit, &point) in carriers.all().iter().enumerate() {
            if choice >> bit & 1 == 1 {
                chosen.push(point);
            }
        }
        let Some(center) = circumcenter(chosen.all()) else {
            continue;
        };
        let reach = (all.all().iter()).fold(0.0, |reach: f64, p| reach.max(p.distance(center)));
        // Ties go to the smaller set: a point that supports nothing would be in the way later.
        let fewer = reach == best.1 && chosen.count < best.0.count;
        if reach < best.1 || fewer {
            best = (chosen, reach, center);
        }
    }
    let (carriers, radius, center) = best;
    (carriers, Ball { center, radius })
}

/// Returns the point in the line, plane or space spanned by the points that is equally far from
/// all; `None` where it is not unique.
fn circumcenter(points: &[DVec3]) -> Option<DVec3> {
    let from = points[0];
    let offset = match *points {
        [_] => DVec3::ZERO,
        [_, b] => 0.5 * (b - from),
        [_, b, c] => {
            let (u, v) = (b - from, c - from);
            let n = u.cross(v);
            let across = v.length_squared() * n.cross(u) + u.length_squared() * v.cross(n);
            across / (2.0 * n.length_squared())
        }
        [_, b, c, d] => {
            let (u, v, w) = (b - from, c - from, d - from);
            let across = u.length_squared() * v.cross(w)
                + v.length_squared() * w.cross(u)
                + w.length_squared() * u.cross(v);
            across / (2.0 * u.dot(v.cross(w)))
        }
        _ => return None,
    };
    offset.is_finite().then_some(from + offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the radius of the smallest circumscribed ball of any up to four points that holds
    /// all, found by trying every set. Solves by Cramer's rule in the span of the differences,
    /// independently of the formulas above.
    fn by_all_sets(points: &[Vec3]) -> f64 {
        let p: Vec<DVec3> = points.iter().map(|p| p.as_dvec3()).collect();
        let mut best = f64::INFINITY;
        let mut consider = |set: &[usize]| {
            let Some(center) = center_by_gram(set.iter().map(|&i| p[i]).collect()) else {
                return;
            };
            let reach = p.iter().map(|q| q.distance(center)).fold(0.0, f64::max);
            best = best.min(reach);
        };
        let n = p.len();
        for a in 0..n {
            consider(&[a]);
            for b in a + 1..n {
                consider(&[a, b]);
                for c in b + 1..n {
                    consider(&[a, b, c]);
                    for d in c + 1..n {
                        consider(&[a, b, c, d]);
                    }
                }
            }
        }
        best
    }

    /// Solves for `Σ xᵢ (pᵢ − p₀)` with `Σⱼ 2 (pᵢ−p₀)·(pⱼ−p₀) xⱼ = |pᵢ−p₀|²`, by elimination with
    /// pivots.
    fn center_by_gram(points: Vec<DVec3>) -> Option<DVec3> {
        let edges: Vec<DVec3> = points[1..].iter().map(|&q| q - points[0]).collect();
        let n = edges.len();
        let mut rows: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let mut row: Vec<f64> = edges.iter().map(|e| 2.0 * e.dot(edges[i])).collect();
                row.push(edges[i].length_squared());
                row
            })
            .collect();
        for column in 0..n {
            let pivot = (column..n)
                .max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
            rows.swap(column, pivot);
            if rows[column][column].abs() < 1e-14 {
                return None;
            }
            for row in 0..n {
                if row != column {
                    let factor = rows[row][column] / rows[column][column];
                    let pivot_row = rows[column].clone();
                    for (entry, above) in rows[row].iter_mut().zip(pivot_row) {
                        *entry -= factor * above;
                    }
                }
            }
        }
        let offset: DVec3 = (0..n).map(|i| edges[i] * (rows[i][n] / rows[i][i])).sum();
        Some(points[0] + offset)
    }

    fn check(points: &[Vec3], what: &str) {
        let found = enclosing_ball(points);
        let best = by_all_sets(points);
        let size = points
            .iter()
            .fold(1e-30, |size, p| f64::max(size, p.length().into()));
        assert!(
            (found.radius - best).abs() <= 1e-9 * size,
            "{what}: {} for {best}; {points:?}",
            found.radius
        );
        for point in points {
            assert!(
                point.as_dvec3().distance(found.center) <= found.radius,
                "{what}"
            );
        }
    }

    proptest! {
        #[test]
        fn as_small_as_by_all_sets(
            points in prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 1..12)
        ) {
            let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
            check(&points, "random");
        }

        #[test]
        fn coincident_collinear_coplanar_and_cospherical_sets(
            places in prop::collection::vec(prop::array::uniform3(-2i32..=2), 1..10),
            kind in 0..4
        ) {
            let points: Vec<Vec3> = places
                .iter()
                .map(|&[x, y, z]| {
                    let [x, y, z] = [x, y, z].map(|c| c as f32);
                    match kind {
                        0 => Vec3::new(1.0, 2.0, 3.0) + Vec3::splat((x > 0.0) as u8 as f32),
                        1 => Vec3::new(x, 2.0 * x, -x) + Vec3::ONE,
                        2 => Vec3::new(x, y, x + y),
                        _ => Vec3::new(x.signum(), y.signum(), z.signum()),
                    }
                })
                .collect();
            check(&points, "degenerate");
        }
    }

    #[test]
    fn many_points_of_a_sphere_have_that_sphere() {
        let golden = 2.399_963_2_f64;
        let points: Vec<Vec3> = (0..20_000)
            .map(|i| {
                let z = 1.0 - (2 * i + 1) as f64 / 20_000.0;
                let (s, c) = (golden * i as f64).sin_cos();
                let r = (1.0 - z * z).sqrt();
                (DVec3::new(100.0, 0.0, 0.0) + 0.5 * DVec3::new(r * c, r * s, z)).as_vec3()
            })
            .collect();
        let ball = enclosing_ball(&points);
        assert!((ball.radius - 0.5).abs() < 1e-5, "{}", ball.radius);
        assert!(ball.center.distance(DVec3::new(100.0, 0.0, 0.0)) < 1e-5);
    }

    #[test]
    fn nearly_flat_and_nearly_straight_sets_stay_small() {
        for thin in [1e-3f32, 1e-6, 1e-9, 1e-20] {
            let points: Vec<Vec3> = (0..40)
                .map(|i| {
                    let t = i as f32 / 39.0;
                    Vec3::new(t, thin * (7.0 * t).sin(), thin * (11.0 * t).cos())
                })
                .collect();
            let radius = enclosing_ball(&points).radius;
            assert!(
                (0.5..0.5 + f64::from(thin) + 1e-9).contains(&radius),
                "{thin}: {radius}"
            );
        }
    }

    #[test]
    fn one_point_and_none() {
        assert_eq!(enclosing_ball(&[]).radius, 0.0);
        let ball = enclosing_ball(&[Vec3::new(3.0, 4.0, 5.0)]);
        assert_eq!((ball.center, ball.radius), (DVec3::new(3.0, 4.0, 5.0), 0.0));
    }
}
