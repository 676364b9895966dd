//! Triangles in `f64`, and the point of a triangle nearest to a given point, with the feature it
//! lies on.
//!
//! The feature (face, edge or vertex) selects the pseudonormal that decides the sign, so it is part
//! of the result. This is the reference that all faster code is tested against; it holds for
//! degenerate triangles too.

use glam::DVec3;

/// A triangle, counter-clockwise seen from outside; coordinates in \[m\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// First corner \[m\].
    pub a: DVec3,
    /// Second corner \[m\].
    pub b: DVec3,
    /// Third corner \[m\].
    pub c: DVec3,
}

/// The part of a triangle that a nearest point lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Interior of the face.
    Face,
    /// Edge from corner `i` to corner `(i + 1) % 3`.
    Edge(u8),
    /// Corner `i`.
    Vertex(u8),
}

/// The point of a triangle nearest to a given point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint {
    /// Nearest point \[m\].
    pub point: DVec3,
    /// Feature that the point lies on.
    pub feature: Feature,
}

impl Triangle {
    /// Returns the corners in order.
    pub fn corners(self) -> [DVec3; 3] {
        [self.a, self.b, self.c]
    }

    /// Returns `(b − a) × (c − a)`: twice the area along the outward normal \[m²\].
    pub fn area_vector(self) -> DVec3 {
        (self.b - self.a).cross(self.c - self.a)
    }

    /// Returns the area \[m²\].
    pub fn area(self) -> f64 {
        0.5 * self.area_vector().length()
    }

    /// Returns the unit normal, or `None` if the triangle has no area.
    pub fn normal(self) -> Option<DVec3> {
        self.area_vector().try_normalize()
    }

    /// Returns the mean of the corners \[m\].
    pub fn centroid(self) -> DVec3 {
        (self.a + self.b + self.c) / 3.0
    }

    /// Returns whether a line segment certainly misses the triangle. Where rounding leaves a doubt,
    /// returns `false`.
    #[cfg(feature = "bake")]
    pub(crate) fn is_clear_of(self, [from, to]: [DVec3; 2]) -> bool {
        /// Relative rounding error of a triple product, with a safety factor of ten.
        const ROUNDING: f64 = 1e-14;
        let (low, high) = (from.min(to), from.max(to));
        let (lowest, highest) = (
            self.a.min(self.b).min(self.c),
            self.a.max(self.b).max(self.c),
        );
        if (lowest.cmpgt(high) | highest.cmplt(low)).any() {
            return true;
        }
        let way = to - from;
        let [a, b, c] = self.corners().map(|corner| corner - from);
        let (ab, ac) = (b - a, c - a);
        let normal = ab.cross(ac);
        // The 1-norm is at least the Euclidean length, and cheaper.
        let length = |v: DVec3| v.abs().element_sum();
        // The segment misses if both ends lie on the same side of the plane,
        let (first, last) = (-normal.dot(a), normal.dot(way - a));
        let unsure = ROUNDING * length(ab) * length(ac) * (length(a) + length(way));
        if first.min(last) > unsure || first.max(last) < -unsure {
            return true;
        }
        // or if its line passes two edges on different sides.
        let side = |u: DVec3, v: DVec3| {
            let product = way.dot(u.cross(v));
            let unsure = ROUNDING * length(way) * length(u) * length(v);
            i8::from(product > unsure) - i8::from(product < -unsure)
        };
        let sides = [side(a, b), side(b, c), side(c, a)];
        sides.contains(&1) && sides.contains(&-1)
    }

    /// Returns the point of the triangle nearest to `point`, and the feature it lies on.
    ///
    /// Either the foot of the perpendicular falls strictly inside all three edges, or the nearest
    /// point lies on the nearest edge. Neither case divides by barycentric sums, so slivers and
    /// triangles that degenerate to a segment or a point need no special case.
    #[inline(always)]
    pub fn closest_point(self, point: DVec3) -> ClosestPoint {
        let (ab, bc, ca) = (self.b - self.a, self.c - self.b, self.a - self.c);
        let (ap, bp, cp) = (point - self.a, point - self.b, point - self.c);
        let normal = ca.cross(ab);
        // `normal × edge` points inward in the plane; all are 0 for a triangle without area.
        let inside_ab = normal.cross(ab).dot(ap) > 0.0;
        let inside_bc = normal.cross(bc).dot(bp) > 0.0;
        let inside_ca = normal.cross(ca).dot(cp) > 0.0;
        if inside_ab && inside_bc && inside_ca {
            let height = normal.dot(ap) / normal.length_squared();
            return ClosestPoint {
                point: point - height * normal,
                feature: Feature::Face,
            };
        }
        // The shortest path to a convex shape enters it through a side that faces the point, so the
        // other edges need no test.
        let mut best = ClosestPoint {
            point: self.a,
            feature: Feature::Vertex(0),
        };
        let mut best_distance = f64::INFINITY;
        let mut consider = |candidate: ClosestPoint| {
            let distance = candidate.point.distance_squared(point);
            // On ties the first edge wins: two edges that share a corner both give that corner.
            if distance < best_distance {
                best_distance = distance;
                best = candidate;
            }
        };
        if !inside_ab {
            consider(closest_on_edge([self.a, self.b], 0, point));
        }
        if !inside_bc {
            consider(closest_on_edge([self.b, self.c], 1, point));
        }
        if !inside_ca {
            consider(closest_on_edge([self.c, self.a], 2, point));
        }
        best
    }
}

/// Returns the nearest point of edge number `edge`. Edges are traversed from their
/// lexicographically smaller end, so that both faces at an edge compute the same point to the bit.
#[inline(always)]
fn closest_on_edge([start, end]: [DVec3; 2], edge: u8, point: DVec3) -> ClosestPoint {
    let next = if edge == 2 { 0 } else { edge + 1 };
    let (low, low_corner, high, high_corner) =
        if (start.x, start.y, start.z) <= (end.x, end.y, end.z) {
            (start, edge, end, next)
        } else {
            (end, next, start, edge)
        };
    let along = high - low;
    let length_squared = along.length_squared();
    let t = along.dot(point - low);
    if t <= 0.0 || length_squared == 0.0 {
        ClosestPoint {
            point: low,
            feature: Feature::Vertex(low_corner),
        }
    } else if t >= length_squared {
        ClosestPoint {
            point: high,
            feature: Feature::Vertex(high_corner),
        }
    } else {
        ClosestPoint {
            point: low + along * (t / length_squared),
            feature: Feature::Edge(edge),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the distance to the nearest of many points spread over the triangle: slow, but
    /// evidently correct.
    fn nearest_by_search(t: Triangle, p: DVec3, steps: usize) -> f64 {
        let mut best = f64::INFINITY;
        for i in 0..=steps {
            for j in 0..=steps - i {
                let (u, v) = (i as f64 / steps as f64, j as f64 / steps as f64);
                best = best.min((t.a + u * (t.b - t.a) + v * (t.c - t.a)).distance(p));
            }
        }
        best
    }

    fn point() -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-1.0f64..1.0).prop_map(DVec3::from)
    }

    proptest! {
        #[test]
        fn nothing_on_the_triangle_is_nearer(a in point(), b in point(), c in point(), p in point()) {
            let t = Triangle { a, b, c };
            let found = t.closest_point(p);
            let distance = found.point.distance(p);
            let searched = nearest_by_search(t, p, 60);
            prop_assert!(distance <= searched + 1e-12, "{distance} > {searched}");
            prop_assert!(searched - distance < 0.06, "{distance} is nearer than any point of the triangle ({searched})");
        }

        #[test]
        fn flat_triangles_answer_like_segments(a in point(), b in point(), s in 0.0f64..1.0, p in point()) {
            let t = Triangle { a, b, c: a + s * (b - a) };
            let on_segment = closest_on_edge([a, b], 0, p).point.distance(p);
            prop_assert!((t.closest_point(p).point.distance(p) - on_segment).abs() < 1e-9);
        }
    }

    /// Generates integer points among others: endpoints on the triangle, common planes, triangles
    /// without area.
    fn round_point() -> impl Strategy<Value = DVec3> {
        let number = prop_oneof![-1.0..1.0, (-2i8..=2).prop_map(f64::from)];
        [number.clone(), number.clone(), number].prop_map(DVec3::from)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]
        #[test]
        fn ways_are_clear_if_the_triangle_is_not_near(a in round_point(), b in round_point(), c in round_point(), from in round_point(), to in round_point()) {
            let t = Triangle { a, b, c };
            let distance = t.nearest_points(Triangle { a: from, b: to, c: to }).distance_squared.sqrt();
            let is_clear = t.is_clear_of([from, to]);
            prop_assert_eq!(is_clear, t.is_clear_of([to, from]));
            if is_clear {
                prop_assert!(distance > 0.0, "a way that touches is called clear");
            } else {
                // Segments that are disjoint from the triangle but in its plane or line may stay
                // undecided.
                let height = |p: DVec3| t.normal().map_or(0.0, |normal| normal.dot(p - a));
                let is_flat = height(from).abs().max(height(to).abs()) < 1e-6;
                prop_assert!(is_flat || distance < 1e-9, "a way {distance} off is not called clear");
            }
        }
    }

    #[test]
    fn features_are_named() {
        let t = Triangle {
            a: DVec3::ZERO,
            b: DVec3::X,
            c: DVec3::Y,
        };
        let feature = |x, y, z| t.closest_point(DVec3::new(x, y, z)).feature;
        assert_eq!(feature(0.2, 0.2, 1.0), Feature::Face);
        assert_eq!(feature(0.5, -1.0, 0.3), Feature::Edge(0));
        assert_eq!(feature(1.0, 1.0, 0.0), Feature::Edge(1));
        assert_eq!(feature(-1.0, 0.5, 0.0), Feature::Edge(2));
        assert_eq!(feature(-1.0, -1.0, 0.0), Feature::Vertex(0));
        assert_eq!(feature(3.0, 0.0, 0.0), Feature::Vertex(1));
        assert_eq!(feature(0.0, 3.0, 2.0), Feature::Vertex(2));
    }

    #[test]
    fn a_point_is_a_triangle_too() {
        let t = Triangle {
            a: DVec3::ONE,
            b: DVec3::ONE,
            c: DVec3::ONE,
        };
        assert_eq!(t.closest_point(DVec3::ZERO).point, DVec3::ONE);
    }
}
