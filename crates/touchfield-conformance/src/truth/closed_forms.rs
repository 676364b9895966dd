//! True signed distances in `f64`, by other means than the library's formulas.
//!
//! Input: shapes as boundaries: curves of a half-plane revolved around z, polygons extruded along
//! z, triangles.
//! Output: the signed distance to the nearest piece of the boundary, negative where a separate test
//! finds the point inside.
//! Cost: all pieces for every point.
//! Not for: anything fast.
//!
//! A body of revolution is as far from a point as its profile is from the point's (radius, height):
//! so spheres, capsules, cones, tori and CSG of them on one axis are exact sets of segments and
//! arcs.

use glam::{DVec2, DVec3};

/// A piece of a boundary curve in the plane.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    /// Line segment between two ends.
    Segment(DVec2, DVec2),
    /// Arc, counter-clockwise from the first angle to the second \[rad\].
    Arc {
        /// Centre of the circle.
        center: DVec2,
        /// Radius of the circle.
        radius: f64,
        /// First angle \[rad\].
        from: f64,
        /// Second angle, larger by at most 2π \[rad\].
        to: f64,
    },
}

impl Piece {
    /// Returns the distance from `point` \[m\].
    pub fn distance(self, point: DVec2) -> f64 {
        match self {
            Piece::Segment(a, b) => {
                let along = b - a;
                let t = (point - a).dot(along) / along.length_squared();
                // A segment of length zero is its end.
                let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) };
                point.distance(a + t * along)
            }
            Piece::Arc {
                center,
                radius,
                from,
                to,
            } => {
                let offset = point - center;
                let turn = (offset.y.atan2(offset.x) - from).rem_euclid(std::f64::consts::TAU);
                if turn <= to - from || offset == DVec2::ZERO {
                    return (offset.length() - radius).abs();
                }
                let end = |angle: f64| center + radius * DVec2::from_angle(angle);
                point.distance(end(from)).min(point.distance(end(to)))
            }
        }
    }
}

fn nearest(pieces: &[Piece], point: DVec2) -> f64 {
    pieces
        .iter()
        .map(|piece| piece.distance(point))
        .fold(f64::INFINITY, f64::min)
}

/// Returns the signed distance of a body of revolution around z. `pieces` bound its profile in
/// (radius, height), and `inside` returns whether a point of the profile plane lies in it.
pub fn revolved(pieces: Vec<Piece>, inside: impl Fn(DVec2) -> bool) -> impl Fn(DVec3) -> f64 {
    move |point| {
        let profile = DVec2::new(point.truncate().length(), point.z);
        let distance = nearest(&pieces, profile);
        if inside(profile) { -distance } else { distance }
    }
}

/// Returns [`revolved`] for a profile that is a polygon touching or off the axis; sides on the axis
/// are not part of the boundary.
pub fn revolved_polygon(corners: Vec<DVec2>) -> impl Fn(DVec3) -> f64 {
    let pieces = sides(&corners)
        .filter(|(a, b)| a.x != 0.0 || b.x != 0.0)
        .map(|(a, b)| Piece::Segment(a, b))
        .collect();
    revolved(pieces, move |point| polygon_contains(&corners, point))
}

/// Returns the signed distance of a simple polygon in x and y, extruded from z = `−half_height` to
/// `half_height`.
pub fn extruded_polygon(corners: Vec<DVec2>, half_height: f64) -> impl Fn(DVec3) -> f64 {
    move |point| {
        let in_plane = point.truncate();
        let distance = sides(&corners)
            .map(|(a, b)| Piece::Segment(a, b).distance(in_plane))
            .fold(f64::INFINITY, f64::min);
        let side = if polygon_contains(&corners, in_plane) {
            -distance
        } else {
            distance
        };
        let end = point.z.abs() - half_height;
        if side <= 0.0 && end <= 0.0 {
            side.max(end)
        } else {
            DVec2::new(side.max(0.0), end.max(0.0)).length()
        }
    }
}

fn sides(corners: &[DVec2]) -> impl Iterator<Item = (DVec2, DVec2)> {
    let next = corners.iter().cycle().skip(1);
    corners.iter().copied().zip(next.copied())
}

/// Tests a point by the parity of crossings of a ray along +x.
fn polygon_contains(corners: &[DVec2], point: DVec2) -> bool {
    sides(corners)
        .filter(|(a, b)| (a.y > point.y) != (b.y > point.y))
        .filter(|(a, b)| point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x))
        .count()
        % 2
        == 1
}

/// Returns the signed distance of a box: six faces as rectangles, each by clamping.
pub fn cuboid(half_extents: DVec3) -> impl Fn(DVec3) -> f64 {
    move |point| {
        let mut distance = f64::INFINITY;
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let mut on_face = point.clamp(-half_extents, half_extents);
                on_face[axis] = side * half_extents[axis];
                distance = distance.min(on_face.distance(point));
            }
        }
        if point.abs().cmplt(half_extents).all() {
            -distance
        } else {
            distance
        }
    }
}

/// Returns the signed distance of an ellipsoid by search: the nearest longitude for every latitude,
/// and of those the nearest latitude. Within the octant of the point each of the two searches has
/// one minimum.
pub fn ellipsoid(half_extents: DVec3) -> impl Fn(DVec3) -> f64 {
    move |point| {
        let at = point.abs();
        let nearest = least_of_valley(|polar| {
            let (ring, height) = polar.sin_cos();
            least_of_valley(|azimuth| {
                let (y, x) = azimuth.sin_cos();
                at.distance(half_extents * DVec3::new(ring * x, ring * y, height))
            })
        });
        let inside = (at / half_extents).length_squared() < 1.0;
        if inside { -nearest } else { nearest }
    }
}

/// Returns the minimum over a quarter turn of a function that falls, then rises, by golden-section
/// search: to 10⁻⁹ rad.
fn least_of_valley(value: impl Fn(f64) -> f64) -> f64 {
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    let mut best = value(low).min(value(high));
    let place = |low: f64, high: f64, share: f64| low + share * (high - low);
    let (mut left, mut right) = (place(low, high, 1.0 - golden), place(low, high, golden));
    let (mut at_left, mut at_right) = (value(left), value(right));
    for _ in 0..44 {
        best = best.min(at_left).min(at_right);
        if at_left <= at_right {
            high = right;
            (right, at_right) = (left, at_left);
            left = place(low, high, 1.0 - golden);
            at_left = value(left);
        } else {
            low = left;
            (left, at_left) = (right, at_right);
            right = place(low, high, golden);
            at_right = value(right);
        }
    }
    best
}

/// Returns the signed distance of a terrain block over `[0, columns − 1] × [0, rows − 1]` in units
/// of `spacing`: every triangle of ground, walls and base, with the sign from a vertical line
/// through the point.
pub fn terrain(
    height: impl Fn(usize, usize) -> f64,
    columns: usize,
    rows: usize,
    spacing: DVec2,
    base: f64,
) -> impl Fn(DVec3) -> f64 {
    let node =
        |c: usize, r: usize, z: f64| DVec3::new(c as f64 * spacing.x, r as f64 * spacing.y, z);
    let mut ground = Vec::new();
    for r in 0..rows - 1 {
        for c in 0..columns - 1 {
            let at = |c, r| node(c, r, height(c, r));
            ground.push([at(c, r), at(c + 1, r), at(c + 1, r + 1)]);
            ground.push([at(c, r), at(c + 1, r + 1), at(c, r + 1)]);
        }
    }
    let mut closed = ground.clone();
    let low = |p: DVec3| p.with_z(base);
    for triangle in &ground {
        closed.push(triangle.map(low));
    }
    let mut wall = |from: [usize; 2], to: [usize; 2]| {
        let (a, b) = (
            node(from[0], from[1], height(from[0], from[1])),
            node(to[0], to[1], height(to[0], to[1])),
        );
        closed.push([a, b, low(a)]);
        closed.push([b, low(a), low(b)]);
    };
    for c in 0..columns - 1 {
        wall([c, 0], [c + 1, 0]);
        wall([c, rows - 1], [c + 1, rows - 1]);
    }
    for r in 0..rows - 1 {
        wall([0, r], [0, r + 1]);
        wall([columns - 1, r], [columns - 1, r + 1]);
    }
    move |point| {
        let distance = closed
            .iter()
            .map(|&[a, b, c]| triangle_distance(a, b, c, point))
            .fold(f64::INFINITY, f64::min);
        let inside = point.z > base
            && ground
                .iter()
                .any(|&[a, b, c]| plumb(a, b, c, point).is_some_and(|height| point.z < height));
        if inside { -distance } else { distance }
    }
}

/// Returns the height of a triangle at the x and y of `point`, if it lies over or under it.
fn plumb(a: DVec3, b: DVec3, c: DVec3, point: DVec3) -> Option<f64> {
    let (u, v, p) = (
        (b - a).truncate(),
        (c - a).truncate(),
        (point - a).truncate(),
    );
    let area = u.perp_dot(v);
    let (s, t) = (p.perp_dot(v) / area, u.perp_dot(p) / area);
    (s >= 0.0 && t >= 0.0 && s + t <= 1.0).then_some(a.z + s * (b.z - a.z) + t * (c.z - a.z))
}

/// Returns the distance to a triangle: to its plane where the foot falls inside, else to its three
/// sides.
fn triangle_distance(a: DVec3, b: DVec3, c: DVec3, point: DVec3) -> f64 {
    let segment = |a: DVec3, b: DVec3| {
        let along = b - a;
        let t = ((point - a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        point.distance(a + t * along)
    };
    let border = segment(a, b).min(segment(b, c)).min(segment(c, a));
    let (u, v, p) = (b - a, c - a, point - a);
    let normal = u.cross(v);
    let area = normal.length_squared();
    let (s, t) = (p.cross(v).dot(normal) / area, u.cross(p).dot(normal) / area);
    if s >= 0.0 && t >= 0.0 && s + t <= 1.0 {
        border.min(p.dot(normal).abs() / area.sqrt())
    } else {
        border
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{PI, TAU};

    #[test]
    fn an_arc_is_the_nearest_of_many_of_its_points() {
        let arc = Piece::Arc {
            center: DVec2::new(1.0, -2.0),
            radius: 3.0,
            from: 0.5,
            to: 2.0 + PI,
        };
        let mut random = crate::random::Random::new(3);
        for _ in 0..200 {
            let point = random
                .in_box(DVec3::splat(-6.0), DVec3::splat(6.0))
                .truncate();
            let searched = (0..=20_000)
                .map(|i| 0.5 + (1.5 + PI) * f64::from(i) / 20_000.0)
                .map(|angle| point.distance(DVec2::new(1.0, -2.0) + 3.0 * DVec2::from_angle(angle)))
                .fold(f64::INFINITY, f64::min);
            assert!((arc.distance(point) - searched).abs() < 1e-3);
        }
        let circle = Piece::Arc {
            center: DVec2::ZERO,
            radius: 1.0,
            from: 0.0,
            to: TAU,
        };
        assert_eq!(circle.distance(DVec2::ZERO), 1.0);
    }

    #[test]
    fn a_revolved_rectangle_and_an_extruded_square_agree_with_what_is_known() {
        let cylinder = revolved_polygon(
            [(0.0, -1.0), (2.0, -1.0), (2.0, 1.0), (0.0, 1.0)]
                .map(DVec2::from)
                .to_vec(),
        );
        assert_eq!(cylinder(DVec3::ZERO), -1.0);
        assert_eq!(cylinder(DVec3::new(0.0, 5.0, 5.0)), 5.0);
        let square = extruded_polygon(
            [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
                .map(DVec2::from)
                .to_vec(),
            2.0,
        );
        let faces = cuboid(DVec3::new(1.0, 1.0, 2.0));
        let mut random = crate::random::Random::new(4);
        for _ in 0..1000 {
            let point = random.in_box(DVec3::splat(-4.0), DVec3::splat(4.0));
            assert!((square(point) - faces(point)).abs() < 1e-12, "{point}");
        }
    }
}
