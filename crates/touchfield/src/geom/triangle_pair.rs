//! The nearest points of two triangles, in `f64`.
//!
//! Triangles that do not cross are nearest either between two edges, or between a corner of one and
//! the face of the other \[Ericson2005\] §5.1.10. If they cross, an edge of one pierces the face of
//! the other. Degenerate triangles are handled as their edges.

use glam::DVec3;

use super::Triangle;

/// A pair of nearest points, one on each of two triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestPoints {
    /// Squared distance between the points \[m²\]; 0 if the triangles touch or cross.
    pub distance_squared: f64,
    /// Point on the first triangle \[m\].
    pub on_a: DVec3,
    /// Point on the second triangle \[m\].
    pub on_b: DVec3,
}

impl NearestPoints {
    fn of(on_a: DVec3, on_b: DVec3) -> NearestPoints {
        NearestPoints {
            distance_squared: on_a.distance_squared(on_b),
            on_a,
            on_b,
        }
    }

    fn nearer(self, other: NearestPoints) -> NearestPoints {
        match other.distance_squared < self.distance_squared {
            true => other,
            false => self,
        }
    }

    /// Returns the same pair with the triangles exchanged.
    fn exchanged(self) -> NearestPoints {
        NearestPoints {
            on_a: self.on_b,
            on_b: self.on_a,
            ..self
        }
    }
}

impl Triangle {
    /// Returns a pair of nearest points of this triangle and another.
    pub fn nearest_points(self, other: Triangle) -> NearestPoints {
        let (a, b) = (Face::of(self), Face::of(other));
        // Edge against edge.
        let mut best = NearestPoints::of(a.corners[0], b.corners[0]);
        for edge_a in 0..3 {
            for edge_b in 0..3 {
                best = best.nearer(a.nearest_of_edges(edge_a, &b, edge_b));
            }
        }
        // Corners of each triangle over the face of the other.
        let (over_b, over_a) = (b.heights(&a), a.heights(&b));
        for corner in 0..3 {
            if let Some(foot) = b.foot(a.corners[corner], over_b[corner]) {
                best = best.nearer(NearestPoints::of(a.corners[corner], foot));
            }
            if let Some(foot) = a.foot(b.corners[corner], over_a[corner]) {
                best = best.nearer(NearestPoints::of(foot, b.corners[corner]));
            }
        }
        // Crossing, tested both ways round: a triangle without area has an arbitrary plane, but its
        // edges still pierce the other triangle.
        (a.pierces(over_b, &b))
            .or_else(|| b.pierces(over_a, &a).map(NearestPoints::exchanged))
            .unwrap_or(best)
    }
}

/// A triangle with its edges and its normal.
struct Face {
    corners: [DVec3; 3],
    /// Vectors from each corner to the next.
    edges: [DVec3; 3],
    /// Normal, not of unit length; 0 for a triangle without area.
    normal: DVec3,
}

impl Face {
    fn of(triangle: Triangle) -> Face {
        let corners = triangle.corners();
        let [a, b, c] = corners;
        let edges = [b - a, c - b, a - c];
        Face {
            corners,
            edges,
            normal: edges[2].cross(edges[0]),
        }
    }

    /// Returns the heights of the other triangle's corners over this plane, times the normal's
    /// length.
    fn heights(&self, other: &Face) -> [f64; 3] {
        (other.corners).map(|corner| self.normal.dot(corner - self.corners[0]))
    }

    /// Returns whether a point projects into the face. Borders are excluded, because the edge tests
    /// cover them.
    fn is_under(&self, point: DVec3) -> bool {
        (0..3).all(|edge| {
            let inward = self.normal.cross(self.edges[edge]);
            inward.dot(point - self.corners[edge]) > 0.0
        })
    }

    /// Returns the foot of the perpendicular from a point that is `height` over the plane (in units
    /// of [`Self::heights`]), if it lies in the face.
    fn foot(&self, point: DVec3, height: f64) -> Option<DVec3> {
        // A triangle without area contains no foot.
        (self.is_under(point)).then(|| point - height / self.normal.length_squared() * self.normal)
    }

    /// Returns a point where an edge of this triangle pierces the other one, given the heights of
    /// this triangle's corners over the other's plane.
    fn pierces(&self, heights: [f64; 3], other: &Face) -> Option<NearestPoints> {
        (0..3).find_map(|edge| {
            let (from, to) = (heights[edge], heights[(edge + 1) % 3]);
            if from * to >= 0.0 {
                return None;
            }
            let place = self.corners[edge] + from / (from - to) * self.edges[edge];
            (other.is_under(place)).then_some(NearestPoints {
                distance_squared: 0.0,
                on_a: place,
                on_b: place,
            })
        })
    }

    /// Returns the nearest points of two edges \[Ericson2005\] §5.1.9.
    fn nearest_of_edges(&self, edge: usize, other: &Face, other_edge: usize) -> NearestPoints {
        let (start, along) = (self.corners[edge], self.edges[edge]);
        let (other_start, other_along) = (other.corners[other_edge], other.edges[other_edge]);
        let between = start - other_start;
        let (length, other_length) = (along.length_squared(), other_along.length_squared());
        let mixed = along.dot(other_along);
        let (to_start, to_other) = (along.dot(between), other_along.dot(between));
        // For parallel edges the first share is arbitrary: projecting any point of the first edge
        // onto the second and back gives a nearest pair.
        let s = share(
            mixed * to_other - other_length * to_start,
            length * other_length - mixed * mixed,
        );
        let t = share(s * mixed + to_other, other_length);
        let s = share(t * mixed - to_start, length);
        NearestPoints::of(start + s * along, other_start + t * other_along)
    }
}

/// Returns a parameter along an edge, clamped to 0 to 1; 0 for an edge without length.
fn share(numerator: f64, denominator: f64) -> f64 {
    match denominator > 0.0 {
        true => (numerator / denominator).clamp(0.0, 1.0),
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn corner() -> impl Strategy<Value = DVec3> {
        // Integers among the coordinates: parallel edges, common planes, triangles without area.
        let number = prop_oneof![-1.0..1.0, (-2i8..=2).prop_map(f64::from)];
        [number.clone(), number.clone(), number].prop_map(DVec3::from)
    }

    fn triangle() -> impl Strategy<Value = Triangle> {
        [corner(), corner(), corner()].prop_map(|[a, b, c]| Triangle { a, b, c })
    }

    /// Projects back and forth between the triangles. For two convex bodies the distance converges
    /// to the smallest one, though slowly where they are nearly parallel or cross.
    fn by_projections(a: Triangle, b: Triangle) -> f64 {
        let mut on_b = b.centroid();
        let mut on_a = a.closest_point(on_b).point;
        for _ in 0..20_000 {
            on_b = b.closest_point(on_a).point;
            let next = a.closest_point(on_b).point;
            if next == on_a {
                break;
            }
            on_a = next;
        }
        on_a.distance(on_b)
    }

    #[test]
    fn a_triangle_without_area_crosses_another() {
        let needle = [[-2.0, 2.0, 1.0], [-2.0, 2.0, 1.0], [-0.867, 0.0, 0.0]].map(DVec3::from);
        let face = [[-2.0, 0.0, 2.0], [0.0, 0.0, 0.0], [-1.0, 0.953, -0.391]].map(DVec3::from);
        let [needle, face] = [needle, face].map(|[a, b, c]| Triangle { a, b, c });
        assert_eq!(needle.nearest_points(face).distance_squared, 0.0);
        assert_eq!(face.nearest_points(needle).distance_squared, 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn nearest_points_lie_on_both_and_are_as_near_as_projections_come(a in triangle(), b in triangle()) {
            let found = a.nearest_points(b);
            let distance = found.distance_squared.sqrt();
            prop_assert!((found.on_a.distance(found.on_b) - distance).abs() < 1e-12);
            prop_assert!(a.closest_point(found.on_a).point.distance(found.on_a) < 1e-12, "{:?} is not of A", found.on_a);
            prop_assert!(b.closest_point(found.on_b).point.distance(found.on_b) < 1e-12, "{:?} is not of B", found.on_b);
            // The distance between points of both is never smaller than that of the triangles.
            // Projections reach it, or nearly: where triangles cross at a small angle they converge
            // very slowly.
            let expected = by_projections(a, b);
            prop_assert!(distance <= expected + 1e-9, "{distance} where projections come to {expected}");
            let exchanged = b.nearest_points(a).distance_squared.sqrt();
            prop_assert!((exchanged - distance).abs() < 1e-12, "{distance} one way, {exchanged} the other");
        }
    }
}
