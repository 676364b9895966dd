//! True signed distance to a mesh: every triangle for every point, by other formulas than the
//! library's.
//!
//! Input: a mesh of valid faces.
//! Output: distance, winding number and ray parity at any point, in `f64`.
//! Cost: all triangles for every point; some ten million per second and core.
//! Not for: anything fast.
//!
//! The distance is found by the Voronoi regions of each triangle [Ericson2005, 5.1.5], where the
//! library drops perpendiculars. The result is always the distance of some point of the triangle,
//! and its sides are tested as well, so that rounding in slivers can only make it too large, by at
//! most the width of the sliver.

use std::f64::consts::TAU;

use glam::DVec3;
use touchfield::mesh::TriangleMesh;

use crate::random::Random;

/// The triangles of one mesh.
pub struct MeshTruth {
    triangles: Vec<[DVec3; 3]>,
}

impl MeshTruth {
    /// Takes all faces of `mesh`.
    pub fn of(mesh: &TriangleMesh) -> MeshTruth {
        MeshTruth {
            triangles: mesh.triangles().map(|t| t.corners()).collect(),
        }
    }

    /// Returns the number of triangles.
    pub fn faces(&self) -> usize {
        self.triangles.len()
    }

    /// Returns the unsigned distance \[m\].
    pub fn distance(&self, point: DVec3) -> f64 {
        let squared = self
            .triangles
            .iter()
            .map(|t| triangle_distance_squared(t, point));
        squared.fold(f64::INFINITY, f64::min).sqrt()
    }

    /// Returns the winding number: how many times the mesh wraps around the point.
    pub fn winding(&self, point: DVec3) -> f64 {
        self.triangles
            .iter()
            .map(|t| half_solid_angle(t, point))
            .sum::<f64>()
            / TAU
    }

    /// Returns the signed distance, negative where the winding number exceeds one half \[m\].
    pub fn signed_distance(&self, point: DVec3) -> f64 {
        let distance = self.distance(point);
        if self.winding(point) > 0.5 {
            -distance
        } else {
            distance
        }
    }

    /// Returns whether an odd number of faces lie ahead, along the first of several random rays
    /// that passes no edge closely. `None` if all of them do.
    pub fn is_odd(&self, point: DVec3, random: &mut Random) -> Option<bool> {
        (0..20).find_map(|_| {
            let direction = random.unit_vector();
            let mut count = 0u32;
            for triangle in &self.triangles {
                count += u32::from(is_ahead(triangle, point, direction)?);
            }
            Some(count % 2 == 1)
        })
    }
}

/// Returns the squared distance from a point to a triangle \[m²\].
pub fn triangle_distance_squared(&[a, b, c]: &[DVec3; 3], point: DVec3) -> f64 {
    let (ab, ac, ap) = (b - a, c - a, point - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    let bp = point - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    let cp = point - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    let mut best = segment_distance_squared(a, b, point)
        .min(segment_distance_squared(b, c, point))
        .min(segment_distance_squared(c, a, point));
    let sum = va + vb + vc;
    if va >= 0.0 && vb >= 0.0 && vc >= 0.0 && sum > 0.0 {
        let foot = a + (vb / sum) * ab + (vc / sum) * ac;
        best = best.min(foot.distance_squared(point));
    }
    best
}

/// Returns the squared distance of two segments \[Ericson2005\] §5.1.9. With the distances of
/// corners to triangles it gives that of two triangles.
pub fn edge_distance_squared([p, q]: [DVec3; 2], [r, s]: [DVec3; 2]) -> f64 {
    let (u, v, w) = (q - p, s - r, p - r);
    let (uu, vv, uv) = (u.length_squared(), v.length_squared(), u.dot(v));
    let (uw, vw) = (u.dot(w), v.dot(w));
    let share = |numerator: f64, denominator: f64| {
        // An edge of length 0 is its own end.
        if denominator > 0.0 {
            (numerator / denominator).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    // Parallel edges: any place along the first will do, because clamping the second below gives a
    // nearest pair.
    let along_u = share(uv * vw - vv * uw, uu * vv - uv * uv);
    let along_v = share(along_u * uv + vw, vv);
    let along_u = share(along_v * uv - uw, uu);
    (w + along_u * u - along_v * v).length_squared()
}

fn segment_distance_squared(a: DVec3, b: DVec3, point: DVec3) -> f64 {
    let along = b - a;
    let t = (point - a).dot(along) / along.length_squared();
    // A segment of length zero is its end.
    let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) };
    // Measure from the nearer end, so that the far one adds no rounding.
    let foot = if t <= 0.5 {
        a + t * along
    } else {
        b - (1.0 - t) * along
    };
    foot.distance_squared(point)
}

/// Returns half the solid angle of a triangle, from its unit vectors seen from the point.
fn half_solid_angle(triangle: &[DVec3; 3], point: DVec3) -> f64 {
    // `tan(Ω/2) = u·(v×w) / (1 + u·v + v·w + w·u)` for unit vectors, normalised first so that size
    // does not matter.
    let [u, v, w] = triangle.map(|corner| (corner - point).normalize_or_zero());
    let volume = u.dot(v.cross(w));
    // A point in the plane of the triangle sees it edge on, or lies on it.
    if volume == 0.0 {
        return 0.0;
    }
    volume.atan2(1.0 + u.dot(v) + v.dot(w) + w.dot(u))
}

/// Returns whether a ray passes through a triangle; `None` if it passes too near to its border to
/// decide.
fn is_ahead(&[a, b, c]: &[DVec3; 3], point: DVec3, direction: DVec3) -> Option<bool> {
    let (ab, ac) = (b - a, c - a);
    let across = direction.cross(ac);
    let determinant = ab.dot(across);
    let size = ab.length() * ac.length();
    if determinant.abs() <= 1e-12 * size {
        // Edge on, or no area: a miss if the whole triangle is clearly off the ray.
        let off = |p: DVec3| direction.cross(p - point);
        let near = segment_distance_squared(off(a), off(b), DVec3::ZERO)
            .min(segment_distance_squared(off(b), off(c), DVec3::ZERO))
            .min(segment_distance_squared(off(c), off(a), DVec3::ZERO));
        return (near > 1e-12 * size).then_some(false);
    }
    let to_point = point - a;
    let u = to_point.dot(across) / determinant;
    let turned = to_point.cross(ab);
    let v = direction.dot(turned) / determinant;
    let t = ac.dot(turned) / determinant;
    let margin = 1e-9;
    if u < -margin || v < -margin || u + v > 1.0 + margin {
        return Some(false);
    }
    if u < margin || v < margin || u + v > 1.0 - margin {
        return None;
    }
    Some(t > 0.0)
}

/// Runs `work` on every item, on two threads, with results in order.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (first, second) = items.split_at(items.len() / 2);
    let run = |part: &[T]| part.iter().map(&work).collect::<Vec<R>>();
    std::thread::scope(|scope| {
        let ahead = scope.spawn(|| run(first));
        let behind = run(second);
        let mut results = match ahead.join() {
            Ok(results) => results,
            Err(cause) => std::panic::resume_unwind(cause),
        };
        results.extend(behind);
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_to_a_triangle_is_the_least_over_many_of_its_points() {
        let mut random = Random::new(5);
        for _ in 0..200 {
            let triangle = [0; 3].map(|_| random.in_box(-DVec3::ONE, DVec3::ONE));
            let point = random.in_box(DVec3::splat(-2.0), DVec3::splat(2.0));
            let mut least = f64::INFINITY;
            for i in 0..=200 {
                for j in 0..=200 - i {
                    let (u, v) = (f64::from(i) / 200.0, f64::from(j) / 200.0);
                    let [a, b, c] = triangle;
                    least = least.min((a + u * (b - a) + v * (c - a)).distance(point));
                }
            }
            let found = triangle_distance_squared(&triangle, point).sqrt();
            assert!(
                found <= least + 1e-12 && found > least - 0.02,
                "{found} {least}"
            );
        }
    }

    #[test]
    fn winding_and_parity_agree_inside_and_outside_a_star() {
        let truth = MeshTruth::of(&crate::meshes::random_star(3));
        let mut random = Random::new(6);
        let mut inside = 0;
        for _ in 0..2000 {
            let point = random.in_box(-DVec3::ONE, DVec3::ONE);
            let winding = truth.winding(point);
            assert!((winding - winding.round()).abs() < 1e-9);
            assert_eq!(
                truth.is_odd(point, &mut random),
                Some(winding > 0.5),
                "{point}"
            );
            inside += u32::from(winding > 0.5);
        }
        assert!(inside > 100, "{inside}");
    }

    #[test]
    fn every_closed_mesh_is_closed_and_turned_outward() {
        for named in crate::meshes::closed() {
            assert!(crate::meshes::is_closed(&named.mesh), "{}", named.name);
            assert!(named.mesh.signed_volume() > 0.0, "{}", named.name);
        }
    }
}
