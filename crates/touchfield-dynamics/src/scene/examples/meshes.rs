//! Meshes of ready scenes.
//!
//! Input: outlines and corners \[m\]. Output: closed meshes, faces counter-clockwise seen from
//! outside. Cost: O(n log n) for hulls, O(n³) for outlines of n corners.
//! Not for: user input; outlines must be simple and counter-clockwise.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};
use touchfield::mesh::TriangleMesh;
use touchfield::shape::ConvexHull;

/// Returns the convex hull of points; empty if they span no volume.
pub(super) fn hull(points: &[DVec3]) -> TriangleMesh {
    let rounded: Vec<_> = points.iter().map(|point| point.as_vec3()).collect();
    match ConvexHull::new(&rounded) {
        Ok(hull) => TriangleMesh {
            vertices: hull.vertices().iter().map(|v| v.as_dvec3()).collect(),
            faces: hull.triangles(),
        },
        Err(_) => TriangleMesh::default(),
    }
}

/// Returns a pyramid on a square, its tip at the origin and its base at this height.
pub(super) fn spike(half_width: f64, height: f64) -> TriangleMesh {
    let corner = |x: f64, y: f64| DVec3::new(x * half_width, y * half_width, height);
    hull(&[
        DVec3::ZERO,
        corner(-1.0, -1.0),
        corner(1.0, -1.0),
        corner(1.0, 1.0),
        corner(-1.0, 1.0),
    ])
}

/// Returns a prism whose lower edge is the y axis and whose base lies at this height.
pub(super) fn wedge(half_width: f64, half_length: f64, height: f64) -> TriangleMesh {
    let mut corners = Vec::new();
    for y in [-half_length, half_length] {
        corners.push(DVec3::new(0.0, y, 0.0));
        corners.push(DVec3::new(-half_width, y, height));
        corners.push(DVec3::new(half_width, y, height));
    }
    hull(&corners)
}

/// Returns a stone of a ring with this many stones to the half circle, about its own middle: x goes
/// along the ring, z outwards.
pub(super) fn voussoir(radius: f64, thickness: f64, half_depth: f64, stones: u32) -> TriangleMesh {
    let half = 0.25 * TAU / f64::from(stones);
    let mut corners = Vec::new();
    for turn in [-half, half] {
        for r in [radius - 0.5 * thickness, radius + 0.5 * thickness] {
            for y in [-half_depth, half_depth] {
                corners.push(DVec3::new(r * turn.sin(), y, r * turn.cos() - radius));
            }
        }
    }
    hull(&corners)
}

/// Returns a tube along z.
pub(super) fn tube(inner: f64, outer: f64, half_height: f64, segments: u32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for segment in 0..segments {
        let direction = DVec2::from_angle(TAU * f64::from(segment) / f64::from(segments));
        for (radius, z) in [
            (outer, -half_height),
            (outer, half_height),
            (inner, half_height),
            (inner, -half_height),
        ] {
            mesh.vertices.push((radius * direction).extend(z));
        }
    }
    for segment in 0..segments {
        let (here, next) = (4 * segment, 4 * ((segment + 1) % segments));
        for side in 0..4 {
            let other = (side + 1) % 4;
            let [a, b, c, d] = [here + side, next + side, next + other, here + other];
            mesh.faces.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

/// Returns a prism along z over an outline, from `low` to `high`.
pub(super) fn extrude(outline: &[DVec2], low: f64, high: f64) -> TriangleMesh {
    let count = outline.len() as u32;
    let level = |z: f64| outline.iter().map(move |corner| corner.extend(z));
    let mut faces = Vec::new();
    for [a, b, c] in ears(outline) {
        faces.push([a, c, b]);
        faces.push([a + count, b + count, c + count]);
    }
    for here in 0..count {
        let next = (here + 1) % count;
        faces.push([here, next, next + count]);
        faces.push([here, next + count, here + count]);
    }
    TriangleMesh {
        vertices: level(low).chain(level(high)).collect(),
        faces,
    }
}

/// Cuts a simple polygon into triangles, ear by ear.
fn ears(outline: &[DVec2]) -> Vec<[u32; 3]> {
    let mut left: Vec<usize> = (0..outline.len()).collect();
    let mut triangles = Vec::new();
    while left.len() > 3 {
        let count = left.len();
        let ear = (0..count).find(|&at| {
            let [a, b, c] = [
                left[(at + count - 1) % count],
                left[at],
                left[(at + 1) % count],
            ];
            let corners = [outline[a], outline[b], outline[c]];
            area(corners) > 0.0
                && !(left.iter())
                    .any(|&p| p != a && p != b && p != c && is_inside(outline[p], corners))
        });
        // Every simple polygon has an ear; if rounding hides it, cut anywhere.
        let at = ear.unwrap_or(0);
        let [a, b, c] = [
            left[(at + count - 1) % count],
            left[at],
            left[(at + 1) % count],
        ];
        triangles.push([a as u32, b as u32, c as u32]);
        left.remove(at);
    }
    if let &[a, b, c] = left.as_slice() {
        triangles.push([a as u32, b as u32, c as u32]);
    }
    triangles
}

fn area([a, b, c]: [DVec2; 3]) -> f64 {
    0.5 * (b - a).perp_dot(c - a)
}

fn is_inside(point: DVec2, [a, b, c]: [DVec2; 3]) -> bool {
    area([a, b, point]) >= 0.0 && area([b, c, point]) >= 0.0 && area([c, a, point]) >= 0.0
}

#[cfg(test)]
mod tests {
    use touchfield::mesh::validate;

    use super::*;

    #[test]
    fn meshes_are_closed_and_hold_their_volume() {
        let star: Vec<DVec2> = (0..10_usize)
            .map(|i| DVec2::from_angle(TAU * i as f64 / 10.0) * [1.0, 0.4][i % 2])
            .collect();
        let star_area: f64 = (0..10)
            .map(|i| 0.5 * star[i].perp_dot(star[(i + 1) % 10]))
            .sum();
        let ring = 0.5 * 96.0 * (TAU / 96.0).sin() * (1.0 - 0.25);
        for (mesh, volume) in [
            (extrude(&star, -1.0, 1.0), 2.0 * star_area),
            (tube(0.5, 1.0, 1.0, 96), 2.0 * ring),
            (spike(0.5, 3.0), 1.0),
            (wedge(0.5, 1.0, 1.0), 1.0),
        ] {
            assert!(validate(&mesh).watertight);
            let found = mesh.signed_volume();
            assert!((found - volume).abs() < 1e-6, "{found} {volume}");
        }
    }
}
