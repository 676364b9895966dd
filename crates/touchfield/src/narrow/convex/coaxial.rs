//! Penetration depth of two bodies of revolution about one common axis, found in a half-plane
//! through the axis.
//!
//! Input: two closed forms, B posed in frame A.
//! Output: the result of `epa`, to the same width; or nothing, if the bodies are not coaxial.
//! Cost: some dozen support points, a thousand where the difference is a ball about the origin; no
//! allocation once the buffers have grown.
//! Not for: any other pair.
//!
//! The difference of two bodies of revolution about one axis is a body of revolution about it, too.
//! Where B leaves sideways, all directions around the axis are equally short, and a polytope about
//! the origin would need thousands of facets to represent it. In the half-plane it is a polygon:
//! the expanding polytope of \[Lecture06\] with one dimension less. The possible effect of axes
//! that do not coincide exactly is added to the bracket.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DVec2, DVec3};

use crate::narrow::convex::penetration::{EpaSettings, Penetration, Waiting};
use crate::shape::convex::{Convex, Core, Posed, Support};

/// Scratch buffers of [`penetration`], reused from call to call.
#[derive(Debug, Default)]
pub(super) struct CoaxialScratch {
    points: Vec<ProfilePoint>,
    edges: Vec<[u32; 2]>,
    waiting: BinaryHeap<Waiting>,
}

/// A point of the difference in the half-plane: x is along the axis, y away from it.
#[derive(Clone, Copy, Debug)]
struct ProfilePoint {
    difference: DVec2,
    on_a: DVec2,
    on_b: DVec2,
}

/// Two bodies about one axis.
struct Coaxial<'a> {
    a: &'a Convex,
    b: &'a Convex,
    /// Unit vector of the common axis, in frame A.
    line: DVec3,
    /// Position of B's centre along the axis \[m\].
    along: f64,
    /// Direction of B's own axis along the common one, 1 or −1.
    sign: f64,
    /// Maximum deviation of B's points due to the offset and tilt between the two axes \[m\].
    apart: f64,
}

/// A direction that was evaluated.
#[derive(Clone, Copy)]
struct Tried {
    /// Unit normal, in the half-plane.
    normal: DVec2,
    /// Support height of the difference along the normal: an upper bound of the depth \[m\].
    height: f64,
}

/// Maximum number of steps. Beyond it the search ends with the bracket it has; a ball about the
/// origin needs a thousand for a relative width of a millionth.
const MOST_STEPS: u32 = 4096;

/// Maximum deviation between the two axes, in widths of the bracket. The bracket becomes wider by
/// twice the deviation: a relative width of a millionth stays below a hundred-thousandth.
const APART: f64 = 4.0;

/// Computes the penetration of two overlapping bodies, or returns `None` if they are not coaxial.
pub(super) fn penetration(
    a: &Convex,
    b: &Posed<&Convex>,
    rounding: f64,
    settings: &EpaSettings,
    scratch: &mut CoaxialScratch,
) -> Option<Penetration> {
    let pair = Coaxial::new(a, b)?;
    let width =
        |height: f64| f64::max(settings.relative * height, settings.absolute).max(4.0 * rounding);
    let CoaxialScratch {
        points,
        edges,
        waiting,
    } = scratch;
    points.clear();
    edges.clear();
    waiting.clear();
    let (mut best, mut steps) = (None::<Tried>, 0);
    // Start with three directions of the half-plane: along the axis, across it, and against it.
    for normal in [DVec2::X, DVec2::Y, DVec2::NEG_X] {
        let point = pair.support(normal);
        points.push(point);
        steps += 1;
        let height = normal.dot(point.difference);
        if best.is_none_or(|best| height < best.height) {
            best = Some(Tried { normal, height });
        }
    }
    let mut best = best?;
    // Reject axes that are too far apart. Half turns in `f32` separate them by some roundings of
    // `f32`, which are accepted because `epa` would not converge there.
    if !(best.height > 64.0 * rounding && pair.apart <= APART * width(best.height)) {
        return None;
    }
    wait([0, 1], points, edges, waiting);
    wait([1, 2], points, edges, waiting);
    // Expand the polygon at the edge nearest the origin.
    let mut lower_bound = 0f64;
    while let Some(&Reverse((bits, edge))) = waiting.peek() {
        let ends = edges[edge as usize];
        let [p, q] = ends.map(|end| points[end as usize].difference);
        let near = f64::from_bits(bits);
        // The polygon only grows, so the edge that is nearest now bounds the depth from below.
        lower_bound = lower_bound.max(near);
        if best.height - near <= width(best.height) || steps >= MOST_STEPS {
            break;
        }
        let normal = outward(p, q).try_normalize()?;
        let point = pair.support(normal);
        steps += 1;
        let height = normal.dot(point.difference);
        if height < best.height {
            best = Tried { normal, height };
        }
        // Converged to within rounding; further steps add no information.
        if height - near <= rounding {
            break;
        }
        waiting.pop();
        let own = points.len() as u32;
        points.push(point);
        wait([ends[0], own], points, edges, waiting);
        wait([own, ends[1]], points, edges, waiting);
    }
    // The origin is not strictly inside: the difference is flat, or the bodies hardly overlap.
    if lower_bound <= 0.0 {
        return None;
    }
    let off = pair.apart + rounding;
    let Tried { normal, height } = best;
    // The way out crosses the polygon between the inscribed circle and the supporting line of the
    // difference; find that edge.
    let (ends, share) = waiting.iter().find_map(|&Reverse((_, edge))| {
        let ends = edges[edge as usize];
        let [p, q] = ends.map(|end| points[end as usize].difference);
        let (to_p, to_q) = (normal.perp_dot(q), p.perp_dot(normal));
        (to_p >= 0.0 && to_q >= 0.0 && to_p + to_q > 0.0).then(|| (ends, to_q / (to_p + to_q)))
    })?;
    let [p, q] = ends.map(|end| points[end as usize]);
    let away = pair.line.any_orthonormal_vector();
    let in_space = |place: DVec2| place.x * pair.line + place.y * away;
    let (on_a, on_b) = (p.on_a.lerp(q.on_a, share), p.on_b.lerp(q.on_b, share));
    // Move from the edge out to the surface.
    let out = 0.5 * (height - normal.dot(on_a - on_b)) * normal;
    Some(Penetration {
        depth: height + off,
        lower_bound: (lower_bound.min(height) - off).max(0.0),
        normal: in_space(normal),
        point_on_a: in_space(on_a + out),
        point_on_b: in_space(on_b - out),
        steps,
    })
}

/// Returns the normal of an edge, as long as the edge. It points away from the origin if the
/// polygon runs from the upper end of the axis, around its side, to the lower end.
fn outward(p: DVec2, q: DVec2) -> DVec2 {
    DVec2::new(q.y - p.y, p.x - q.x)
}

/// Queues an edge by its distance from the origin; edges between identical points are skipped.
fn wait(
    ends: [u32; 2],
    points: &[ProfilePoint],
    edges: &mut Vec<[u32; 2]>,
    waiting: &mut BinaryHeap<Waiting>,
) {
    let [p, q] = ends.map(|end| points[end as usize].difference);
    let normal = outward(p, q);
    let near = normal.dot(p) / normal.length();
    // Also skips NaN.
    if p != q {
        waiting.push(Reverse((near.max(0.0).to_bits(), edges.len() as u32)));
        edges.push(ends);
    }
}

/// Axes about which a core is a body of revolution.
enum Round {
    /// Every line through its centre.
    Point,
    /// Its own z axis.
    Axis,
}

fn round(core: &Core) -> Option<Round> {
    match core {
        Core::Point => Some(Round::Point),
        Core::Segment { .. } | Core::Cylinder { .. } | Core::Cone { .. } => Some(Round::Axis),
        Core::Ellipsoid { half_extents } if half_extents.x == half_extents.y => Some(Round::Axis),
        Core::Ellipsoid { .. } | Core::Cuboid { .. } | Core::Hull(_) => None,
    }
}

impl<'a> Coaxial<'a> {
    fn new(a: &'a Convex, b: &Posed<&'a Convex>) -> Option<Coaxial<'a>> {
        let (round_a, round_b) = (round(a.core())?, round(b.set.core())?);
        let axis_of_b = b.direction_to_a(DVec3::Z);
        let middle_of_b = b.to_a(DVec3::ZERO);
        let line = match round_a {
            Round::Axis => DVec3::Z,
            Round::Point => axis_of_b,
        };
        let along = middle_of_b.dot(line);
        let sign = 1f64.copysign(axis_of_b.dot(line));
        let tilt = match round_b {
            Round::Axis => (axis_of_b - sign * line).length(),
            Round::Point => 0.0,
        };
        let reach = 3f64.sqrt() * b.set.extent();
        Some(Coaxial {
            a,
            b: b.set,
            line,
            along,
            sign,
            apart: (middle_of_b - along * line).length() + tilt * reach,
        })
    }

    /// Returns the point of the difference farthest along a direction of the half-plane.
    fn support(&self, direction: DVec2) -> ProfilePoint {
        let of = |body: &Convex, direction: DVec2| {
            let point = body.support(DVec3::new(direction.y, 0.0, direction.x), &mut 0);
            DVec2::new(point.z, point.x)
        };
        let on_a = of(self.a, direction);
        // The opposite direction is on the other side of the axis, where B looks the same.
        let mirrored = of(self.b, DVec2::new(-self.sign * direction.x, direction.y));
        let on_b = DVec2::new(self.along + self.sign * mirrored.x, -mirrored.y);
        ProfilePoint {
            difference: on_a - on_b,
            on_a,
            on_b,
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};

    use super::*;
    use crate::geom::Pose;
    use crate::narrow::convex::pair::{ConvexCache, ConvexPair};

    /// Returns closed forms that are bodies of revolution about z.
    fn bodies() -> Vec<Convex> {
        let forms = [
            Convex::sphere(0.4),
            Convex::capsule(0.7, 0.2),
            Convex::cylinder(0.5, 0.8),
            Convex::cylinder(0.9, 0.3),
            Convex::cone(0.6, 0.7),
            Convex::ellipsoid(Vec3::new(0.5, 0.5, 0.9)),
            Convex::ellipsoid(Vec3::new(0.8, 0.8, 0.8)),
            Convex::ellipsoid(Vec3::new(0.9, 0.9, 0.2)),
        ];
        forms.map(|form| form.expect("sizes")).to_vec()
    }

    /// Returns the least height over all directions of the half-plane, refined around the best one,
    /// for the bodies as they are posed.
    fn by_search(a: &Convex, b: &Convex, pose: Pose) -> f64 {
        let b = Posed::new(b, pose);
        let (line, away) = match a.core() {
            Core::Point => (b.direction_to_a(DVec3::Z), b.direction_to_a(DVec3::X)),
            _ => (DVec3::Z, DVec3::X),
        };
        let height = |angle: f64| {
            let direction = angle.cos() * line + angle.sin() * away;
            let in_b = -b.direction_to_b(direction);
            let gap = a.support(direction, &mut 0) - b.to_a(b.set.support(in_b, &mut 0));
            gap.dot(direction)
        };
        let (mut best, mut step) = ((0.0, height(0.0)), std::f64::consts::PI / 2000.0);
        for k in 1..=2000 {
            let angle = step * f64::from(k);
            if height(angle) < best.1 {
                best = (angle, height(angle));
            }
        }
        for _ in 0..60 {
            for angle in [best.0 - step, best.0 + step] {
                if height(angle) < best.1 {
                    best = (angle, height(angle));
                }
            }
            step *= 0.7;
        }
        best.1 + f64::from(a.radius() + b.set.radius())
    }

    #[test]
    fn round_pairs_about_one_line_ended_with_an_open_bracket() {
        let mut overlapping = 0;
        for a in &bodies() {
            for b in &bodies() {
                for (turn, along, size) in [
                    (Quat::IDENTITY, 0.0, 1f32),
                    (Quat::from_rotation_z(0.7), 0.3, 1.0),
                    (Quat::from_rotation_x(std::f32::consts::PI), -0.2, 1.0),
                    (Quat::IDENTITY, 0.9, 1.0),
                ] {
                    let pose = Pose {
                        rotation: turn,
                        translation: Vec3::new(0.0, 0.0, along * size),
                    };
                    let pair = ConvexPair::new(a, b, pose);
                    let touch = pair.touch(f64::INFINITY, &mut ConvexCache::default());
                    let case = format!("{:?} {:?} {pose:?} {touch:?}", a.core(), b.core());
                    let radii = f64::from(a.radius() + b.radius());
                    if touch.separation > -radii - 1e-9 {
                        continue;
                    }
                    overlapping += 1;
                    let depth = -touch.separation;
                    let truth = by_search(a, b, pose);
                    assert!((depth - truth).abs() <= 5e-6 * truth, "{truth}: {case}");
                    // The bracket is closed, and both points lie on a line along the normal.
                    let width = touch.upper_bound - touch.lower_bound;
                    assert!(width <= 1e-5 * depth, "{width:e}: {case}");
                    let gap = touch.point_on_b - touch.point_on_a;
                    assert!(
                        (gap + depth * touch.normal).length() < 2e-3 * depth,
                        "{case}"
                    );
                }
            }
        }
        assert!(overlapping > 100, "{overlapping}");
    }

    #[test]
    fn a_cylinder_in_a_cylinder_leaves_by_the_shorter_way() {
        let [wide, slim] =
            [(0.5f32, 0.8f32), (0.9, 0.3)].map(|(h, r)| Convex::cylinder(h, r).expect("sizes"));
        for along in [0.0f32, 0.2, 0.5, 0.8, 1.1] {
            let pose = Pose {
                rotation: Quat::from_rotation_z(1.0),
                translation: Vec3::new(0.0, 0.0, along),
            };
            let touch = ConvexPair::new(&wide, &slim, pose).touch(0.0, &mut ConvexCache::default());
            let expected = f64::min(1.1, 1.4 - f64::from(along));
            assert!(
                (touch.separation + expected).abs() < 2e-6,
                "{along}: {touch:?}"
            );
            assert!(touch.steps < 1000, "{touch:?}");
        }
    }

    #[test]
    fn lines_that_are_apart_are_not_one() {
        let body = Convex::cylinder(0.5, 0.8).expect("sizes");
        let mut scratch = CoaxialScratch::default();
        for pose in [
            Pose {
                rotation: Quat::IDENTITY,
                translation: Vec3::new(1e-3, 0.0, 0.1),
            },
            Pose {
                rotation: Quat::from_rotation_x(1e-3),
                translation: Vec3::ZERO,
            },
        ] {
            let posed = Posed::new(&body, pose);
            let settings = EpaSettings::default();
            assert_eq!(
                penetration(&body, &posed, 1e-15, &settings, &mut scratch),
                None
            );
        }
    }
}
