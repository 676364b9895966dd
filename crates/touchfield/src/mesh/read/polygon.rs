//! Triangulates polygons: a fan where the polygon is convex, ear clipping where it is not.
//!
//! Input: vertices and the corners of one polygon, counter-clockwise seen from outside.
//! Output: always `corners − 2` triangles with the polygon's orientation.
//! Cost: linear when convex, corners × reflex corners otherwise; no allocation once the scratch
//! buffers have grown.
//! Not for: polygons that cross themselves or contain NaN; they get some triangles over the same
//! corners.
//!
//! Ear clipping after \[Meisters1975\]. The polygon is projected along the largest component of its
//! area vector, which copies two coordinates of each corner without rounding, so that the exact
//! predicate of `robust` decides on the input itself.

use glam::DVec3;
use robust::{Coord, orient2d};

use super::Cause;

/// Largest number of corners of a concave polygon. Tuned: here clipping takes a fraction of a
/// second, and the time grows with the square; real models stay under a few thousand.
const MAX_CONCAVE_CORNERS: usize = 16_384;

/// Triangulator with reusable scratch buffers.
#[derive(Default)]
pub(super) struct Triangulator {
    /// Corners projected to the plane, counter-clockwise.
    points: Vec<Coord<f64>>,
    /// Ring of the corners that are not yet cut off.
    next: Vec<u32>,
    previous: Vec<u32>,
    is_ear: Vec<bool>,
    /// Corners that turn right or go straight on; only these can lie in an ear.
    reflex: Vec<u32>,
}

impl Triangulator {
    /// Appends the triangles of a polygon of at least three corners, all in range.
    pub(super) fn triangulate(
        &mut self,
        vertices: &[DVec3],
        corners: &[u32],
        faces: &mut Vec<[u32; 3]>,
    ) -> Result<(), Cause> {
        self.project(vertices, corners);
        let count = corners.len();
        let is_plain = (0..count).all(|i| {
            let turn = self.turn((i + count - 1) % count, i, (i + 1) % count);
            // NaN counts as convex: no triangulation is better than another.
            turn > 0.0 || turn.is_nan()
        });
        if is_plain {
            faces.extend((1..count - 1).map(|i| [corners[0], corners[i], corners[i + 1]]));
            return Ok(());
        }
        if count > MAX_CONCAVE_CORNERS {
            return Err(Cause::PolygonTooLarge {
                corners: count,
                limit: MAX_CONCAVE_CORNERS,
            });
        }
        self.clip_ears(corners, faces);
        Ok(())
    }

    /// Projects the polygon along the axis that shows most of its area, keeping it
    /// counter-clockwise.
    fn project(&mut self, vertices: &[DVec3], corners: &[u32]) {
        let origin = vertices[corners[0] as usize];
        let mut area_vector = DVec3::ZERO;
        for pair in corners[1..].windows(2) {
            let [b, c] = [pair[0], pair[1]].map(|v| vertices[v as usize] - origin);
            area_vector += b.cross(c);
        }
        let size = area_vector.abs();
        self.points.clear();
        self.points.extend(corners.iter().map(|&v| {
            let p = vertices[v as usize];
            let (x, y, along) = if size.x >= size.y && size.x >= size.z {
                (p.y, p.z, area_vector.x)
            } else if size.y >= size.z {
                (p.z, p.x, area_vector.y)
            } else {
                (p.x, p.y, area_vector.z)
            };
            if along < 0.0 {
                Coord { x: y, y: x }
            } else {
                Coord { x, y }
            }
        }));
    }

    /// Returns a positive value when the path through three corners turns left. NaN when a
    /// coordinate is not finite.
    fn turn(&self, a: usize, b: usize, c: usize) -> f64 {
        let corners = [a, b, c].map(|i| self.points[i]);
        if corners.iter().any(|p| !(p.x + p.y).is_finite()) {
            return f64::NAN;
        }
        orient2d(corners[0], corners[1], corners[2])
    }

    fn clip_ears(&mut self, corners: &[u32], faces: &mut Vec<[u32; 3]>) {
        let count = corners.len();
        // Link all corners to a ring, and mark the reflex corners and the ears.
        let ring = count as u32;
        self.next.clear();
        self.next.extend((0..ring).map(|i| (i + 1) % ring));
        self.previous.clear();
        self.previous
            .extend((0..ring).map(|i| (i + ring - 1) % ring));
        self.reflex.clear();
        for i in 0..count {
            let turn = self.turn((i + count - 1) % count, i, (i + 1) % count);
            if turn <= 0.0 {
                self.reflex.push(i as u32);
            }
        }
        self.is_ear.clear();
        for i in 0..count {
            let is_ear = self.ear_at(i);
            self.is_ear.push(is_ear);
        }
        // Cut off ears until a triangle is left.
        let (mut left, mut at, mut tries) = (count, 0, 0);
        while left > 3 {
            if !self.is_ear[at] {
                at = self.next[at] as usize;
                tries += 1;
                if tries > left {
                    break; // no ear: the polygon crosses itself, or is flat
                }
                continue;
            }
            let (before, after) = (self.previous[at] as usize, self.next[at] as usize);
            faces.push([corners[before], corners[at], corners[after]]);
            self.next[before] = after as u32;
            self.previous[after] = before as u32;
            left -= 1;
            tries = 0;
            // A reflex corner may have become convex; the reverse cannot happen.
            self.reflex.retain(|&i| i as usize != at);
            for neighbour in [before, after] {
                self.is_ear[neighbour] = self.ear_at(neighbour);
            }
            // Skipping a corner spreads the ears instead of cutting a fan of slivers.
            at = self.next[after] as usize;
        }
        // Fan over what is left: the last triangle, or all corners if no ear was found.
        let start = at;
        let mut b = self.next[start] as usize;
        for _ in 2..left {
            let c = self.next[b] as usize;
            faces.push([corners[start], corners[b], corners[c]]);
            b = c;
        }
    }

    /// Returns whether the corner is an ear: it turns left and no other corner lies in or on its
    /// triangle.
    fn ear_at(&self, at: usize) -> bool {
        let (before, after) = (self.previous[at] as usize, self.next[at] as usize);
        if self.turn(before, at, after).partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            return false;
        }
        let ear = [before, at, after].map(|i| self.points[i]);
        let bounds = |axis: fn(&Coord<f64>) -> f64| {
            let [a, b, c] = [axis(&ear[0]), axis(&ear[1]), axis(&ear[2])];
            a.min(b).min(c)..=a.max(b).max(c)
        };
        let (width, height) = (bounds(|p| p.x), bounds(|p| p.y));
        !self.reflex.iter().any(|&i| {
            let i = i as usize;
            let point = self.points[i];
            // A box test first: most corners are far away and need no exact predicate.
            width.contains(&point.x)
                && height.contains(&point.y)
                // A bridge to a hole visits a point twice: the point must not block its own ear.
                && !ear.contains(&point)
                && self.turn(before, at, i) >= 0.0
                && self.turn(at, after, i) >= 0.0
                && self.turn(after, before, i) >= 0.0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(vertices: &[DVec3], corners: &[u32]) -> Vec<[u32; 3]> {
        let mut faces = Vec::new();
        Triangulator::default()
            .triangulate(vertices, corners, &mut faces)
            .unwrap();
        faces
    }

    fn area_vector(vertices: &[DVec3], face: [u32; 3]) -> DVec3 {
        let [a, b, c] = face.map(|v| vertices[v as usize]);
        0.5 * (b - a).cross(c - a)
    }

    /// Asserts that the triangles cover the polygon exactly once: all have its orientation, and
    /// their areas add up to its area.
    fn assert_covers(
        vertices: &[DVec3],
        faces: &[[u32; 3]],
        area: DVec3,
    ) -> Result<(), TestCaseError> {
        prop_assert_eq!(faces.len(), vertices.len() - 2);
        let normal = area.normalize();
        let mut sum = 0.0;
        for &face in faces {
            let part = area_vector(vertices, face).dot(normal);
            prop_assert!(
                part > -1e-12 * area.length(),
                "{face:?} is turned over: {part}"
            );
            sum += part;
        }
        prop_assert!(
            (sum - area.length()).abs() < 1e-9 * area.length(),
            "{sum} is not {}",
            area.length()
        );
        Ok(())
    }

    fn newell(vertices: &[DVec3]) -> DVec3 {
        let next = vertices.iter().cycle().skip(1);
        0.5 * vertices
            .iter()
            .zip(next)
            .map(|(a, b)| a.cross(*b))
            .sum::<DVec3>()
    }

    proptest! {
        #[test]
        fn star_shaped_polygons_are_covered_once(
            radii in prop::collection::vec(0.1f64..1.0, 4..60),
            axis in prop::array::uniform3(-1.0f64..1.0),
            angle in 0.0f64..6.0,
        ) {
            let axis = DVec3::from(axis).try_normalize().unwrap_or(DVec3::X);
            let turned = glam::DQuat::from_axis_angle(axis, angle);
            let step = std::f64::consts::TAU / radii.len() as f64;
            let vertices: Vec<DVec3> = radii.iter().enumerate()
                .map(|(i, r)| turned * (*r * DVec3::new((i as f64 * step).cos(), (i as f64 * step).sin(), 0.0)))
                .collect();
            let corners: Vec<u32> = (0..vertices.len() as u32).collect();
            assert_covers(&vertices, &cut(&vertices, &corners), newell(&vertices))?;
        }

        #[test]
        fn combs_on_a_grid_are_covered_once(depths in prop::collection::vec(0u8..5, 2..40)) {
            // Teeth of equal depth put corners exactly on each other's lines.
            let mut vertices = Vec::new();
            for (i, depth) in depths.iter().enumerate() {
                vertices.push(DVec3::new(2.0 * i as f64, 10.0, 0.0));
                vertices.push(DVec3::new(2.0 * i as f64 + 1.0, f64::from(*depth), 0.0));
            }
            vertices.push(DVec3::new(2.0 * depths.len() as f64, 10.0, 0.0));
            vertices.push(DVec3::new(2.0 * depths.len() as f64, -1.0, 0.0));
            vertices.push(DVec3::new(0.0, -1.0, 0.0));
            let corners: Vec<u32> = (0..vertices.len() as u32).collect();
            assert_covers(&vertices, &cut(&vertices, &corners), newell(&vertices))?;
        }

        #[test]
        fn any_polygon_gives_two_triangles_less_than_corners(
            points in prop::collection::vec(prop::array::uniform3(prop::sample::select(vec![
                0.0, 1.0, 2.0, -0.0, 1e308, -1e308, 5e-324, f64::NAN, f64::INFINITY,
            ])), 3..30),
        ) {
            let vertices: Vec<DVec3> = points.into_iter().map(DVec3::from).collect();
            let corners: Vec<u32> = (0..vertices.len() as u32).collect();
            prop_assert_eq!(cut(&vertices, &corners).len(), vertices.len() - 2);
        }
    }

    #[test]
    fn a_dart_is_cut_at_its_reflex_corner() {
        let vertices =
            [(0.0, 0.0), (4.0, 0.0), (1.0, 1.0), (0.0, 4.0)].map(|(x, y)| DVec3::new(x, y, 0.0));
        for turned in 0..4 {
            let corners: Vec<u32> = (0..4).map(|i| (i + turned) % 4).collect();
            for face in cut(&vertices, &corners) {
                assert!(
                    face.contains(&2) && area_vector(&vertices, face).z > 0.0,
                    "{face:?}"
                );
            }
        }
    }

    #[test]
    fn corners_along_a_side_make_no_flat_triangle() {
        let vertices = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 1.0)]
            .map(|(x, y)| DVec3::new(x, y, 0.0));
        for face in cut(&vertices, &[0, 1, 2, 3, 4]) {
            assert!(area_vector(&vertices, face).z > 0.0, "{face:?}");
        }
    }

    #[test]
    fn a_hole_reached_by_a_bridge_stays_a_hole() {
        let outer = [(0.0, 0.0), (3.0, 0.0), (3.0, 3.0), (0.0, 3.0)];
        let inner = [(1.0, 1.0), (1.0, 2.0), (2.0, 2.0), (2.0, 1.0)];
        let vertices: Vec<DVec3> = outer
            .into_iter()
            .chain(inner)
            .map(|(x, y)| DVec3::new(x, y, 0.0))
            .collect();
        let faces = cut(&vertices, &[0, 1, 2, 3, 0, 4, 5, 6, 7, 4]);
        assert_eq!(faces.len(), 8);
        let areas: Vec<f64> = faces
            .iter()
            .map(|&face| area_vector(&vertices, face).z)
            .collect();
        assert!(areas.iter().all(|&area| area > 0.0), "{areas:?}");
        assert_eq!(areas.iter().sum::<f64>(), 8.0);
    }

    #[test]
    fn a_large_concave_polygon_is_refused_with_its_size() {
        let vertices: Vec<DVec3> = (0..20_000)
            .map(|i| {
                let angle = f64::from(i) * std::f64::consts::TAU / 20_000.0;
                let radius = if i % 2 == 0 { 1.0 } else { 0.5 };
                DVec3::new(radius * angle.cos(), radius * angle.sin(), 0.0)
            })
            .collect();
        let corners: Vec<u32> = (0..20_000).collect();
        let refused = Triangulator::default().triangulate(&vertices, &corners, &mut Vec::new());
        assert!(matches!(
            refused,
            Err(Cause::PolygonTooLarge {
                corners: 20_000,
                ..
            })
        ));
    }
}
