//! Computes the faces of the convex hull of points.
//!
//! Input: finite points in any number and position.
//! Output: its faces as polygons of corners, with coplanar ones merged; for coplanar points one
//! polygon, which serves both sides; for collinear points the two ends; for a single position one
//! corner.
//! Cost: O(n log n) for most sets; O(n²) in the worst case.
//! Not for: points that are meant to be coplanar but only nearly are: each of them makes a face of
//! its own.
//!
//! Quickhull \[Barber1996\] with exact predicates in place of its thick facets, so that coplanar
//! means exactly coplanar.

use glam::{DVec2, DVec3};

use super::growing_hull::{GrowingHull, is_above};
use crate::geom::predicates::{are_in_line, side_of_line, side_of_plane, without_axis};

/// The combinatorial type and the corners of a hull. Numbers are indices of the points.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum HullFaces {
    /// All points coincide.
    Point(u32),
    /// All points are collinear, between these two.
    Segment([u32; 2]),
    /// All points are coplanar; the corners are counter-clockwise seen from one side.
    Polygon(Vec<u32>),
    /// Faces of a solid, each counter-clockwise seen from outside.
    Solid(Vec<Vec<u32>>),
}

/// Marker for no index.
const NONE: u32 = u32::MAX;

/// Computes the faces of the hull of `points`, of which there must be at least one.
pub(super) fn hull_faces(points: &[DVec3]) -> HullFaces {
    let numbers = || 0..points.len() as u32;
    let at = |number: u32| points[number as usize];
    // The first point in lexicographic order is a corner, and so is the farthest from it.
    let first = least_by(numbers(), |&a, &b| lexicographic(at(a), at(b)));
    let second = farthest(numbers(), |n| at(n).distance_squared(at(first)));
    if at(first) == at(second) {
        return HullFaces::Point(first);
    }
    let along = at(second) - at(first);
    let is_off_line = |n: u32| !are_in_line(at(first), at(second), at(n));
    let from_line = |n: u32| along.cross(at(n) - at(first)).length_squared();
    let Some(third) = some(farthest(numbers(), from_line), numbers(), is_off_line) else {
        return HullFaces::Segment([first, second]);
    };
    let normal = along.cross(at(third) - at(first));
    let mut hull = GrowingHull::default();
    let mut is_off_plane = |n: u32| hull.start(points, [first, second, third, n]).is_some();
    let from_plane = |n: u32| normal.dot(at(n) - at(first)).abs();
    if some(
        farthest(numbers(), from_plane),
        numbers(),
        &mut is_off_plane,
    )
    .is_none()
    {
        return HullFaces::Polygon(polygon(points, [first, second, third]));
    }
    grow(&mut hull, points);
    HullFaces::Solid(merged(&hull, points))
}

/// Returns the likely candidate if it passes the test, else any that does.
fn some(
    likely: u32,
    mut all: impl Iterator<Item = u32>,
    mut will_do: impl FnMut(u32) -> bool,
) -> Option<u32> {
    if will_do(likely) {
        return Some(likely);
    }
    all.find(|&n| will_do(n))
}

fn least_by(
    numbers: impl Iterator<Item = u32>,
    compare: impl Fn(&u32, &u32) -> std::cmp::Ordering,
) -> u32 {
    numbers.min_by(compare).unwrap_or(0)
}

/// Returns the index with the largest measure; the first on ties.
fn farthest(numbers: impl Iterator<Item = u32>, measure: impl Fn(u32) -> f64) -> u32 {
    let mut best = (0, f64::NEG_INFINITY);
    for n in numbers {
        let value = measure(n);
        if value > best.1 {
            best = (n, value);
        }
    }
    best.0
}

fn lexicographic(a: DVec3, b: DVec3) -> std::cmp::Ordering {
    (a.x.total_cmp(&b.x))
        .then(a.y.total_cmp(&b.y))
        .then(a.z.total_cmp(&b.z))
}

/// Computes the corners of a coplanar set, projected along an axis that does not lie in its plane:
/// Andrew's monotone chain \[Andrew1979\].
fn polygon(points: &[DVec3], plane: [u32; 3]) -> Vec<u32> {
    let [a, b, c] = plane.map(|n| points[n as usize]);
    let normal = (b - a).cross(c - a).abs();
    // The axis of the largest normal component first, the best conditioned projection. The
    // projection must not be exactly collinear.
    let mut axes = [0, 1, 2];
    axes.sort_by(|&i, &j| normal[j].total_cmp(&normal[i]));
    let seen_along = |axis: usize| {
        let [a, b, c] = [a, b, c].map(|p| without_axis(p, axis));
        side_of_line(a, b, c) != 0
    };
    let axis = axes.into_iter().find(|&k| seen_along(k)).unwrap_or(axes[0]);
    let at = |n: u32| without_axis(points[n as usize], axis);
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_by(|&i, &j| {
        let (p, q) = (at(i), at(j));
        p.x.total_cmp(&q.x)
            .then(p.y.total_cmp(&q.y))
            .then(i.cmp(&j))
    });
    order.dedup_by(|i, j| at(*i) == at(*j));
    let mut corners = half_chain(order.iter().copied(), at);
    corners.pop();
    let mut back = half_chain(order.iter().rev().copied(), at);
    back.pop();
    corners.extend(back);
    corners
}

/// Computes one side of a polygon, from the first to the last point in order, turning left.
fn half_chain(order: impl Iterator<Item = u32>, at: impl Fn(u32) -> DVec2) -> Vec<u32> {
    let mut chain: Vec<u32> = Vec::new();
    for n in order {
        while let [.., a, b] = chain[..] {
            if side_of_line(at(a), at(b), at(n)) > 0 {
                break;
            }
            chain.pop();
        }
        chain.push(n);
    }
    chain
}

/// Adds all points to a tetrahedron, always the farthest point above a facet first.
fn grow(hull: &mut GrowingHull, points: &[DVec3]) {
    // Each point outside is listed with one facet that it is above: `first[facet]`, then
    // `next[point]`.
    let mut first: Vec<u32> = vec![NONE; 4];
    let mut next: Vec<u32> = vec![NONE; points.len()];
    for n in 0..points.len() as u32 {
        keep(hull, points, n, 0..4, &mut first, &mut next);
    }
    let mut facet = 0;
    let mut waiting: Vec<u32> = Vec::new();
    // New facets are appended, so one pass visits them all.
    while facet < first.len() as u32 {
        let is_done = hull.facets()[facet as usize].is_gone || first[facet as usize] == NONE;
        if is_done {
            facet += 1;
            continue;
        }
        let [a, b, c] = hull.facets()[facet as usize]
            .corners
            .map(|corner| points[corner as usize]);
        let normal = (b - a).cross(c - a);
        let kept = std::iter::successors(Some(first[facet as usize]), |&n| {
            (next[n as usize] != NONE).then_some(next[n as usize])
        });
        waiting.clear();
        waiting.extend(kept);
        let height = |n: u32| normal.dot(points[n as usize] - a);
        let apex = farthest(waiting.iter().copied(), height);
        let from = hull.add(apex, facet, |corners, _| {
            is_above(points, corners, points[apex as usize])
        });
        for &gone in hull.gone() {
            if gone == facet {
                continue;
            }
            let mut n = first[gone as usize];
            while n != NONE {
                waiting.push(n);
                n = next[n as usize];
            }
        }
        let to = hull.facets().len() as u32;
        first.resize(to as usize, NONE);
        // Every point that is still outside is above a new facet: if it was above a removed facet
        // and is above one that stays, it is also above the new one between them.
        for &n in waiting.iter().filter(|&&n| n != apex) {
            keep(hull, points, n, from..to, &mut first, &mut next);
        }
        facet += 1;
    }
}

/// Adds a point to the list of the first facet that it is above, or to none if it is inside.
fn keep(
    hull: &GrowingHull,
    points: &[DVec3],
    point: u32,
    mut facets: std::ops::Range<u32>,
    first: &mut [u32],
    next: &mut [u32],
) {
    let above = facets.find(|&facet| hull.is_above(points, facet, points[point as usize]));
    if let Some(facet) = above {
        next[point as usize] = first[facet as usize];
        first[facet as usize] = point;
    }
}

/// Merges coplanar facets to polygons, and keeps only corners where at least three polygons meet.
fn merged(hull: &GrowingHull, points: &[DVec3]) -> Vec<Vec<u32>> {
    let facets = hull.facets();
    // Group coplanar facets by flood fill over neighbours.
    let mut group_of: Vec<u32> = vec![NONE; facets.len()];
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (start, facet) in (0..).zip(facets) {
        if facet.is_gone || group_of[start as usize] != NONE {
            continue;
        }
        let group = groups.len() as u32;
        group_of[start as usize] = group;
        let mut members = vec![start];
        let mut looked_at = 0;
        while let Some(&member) = members.get(looked_at) {
            looked_at += 1;
            for other in facets[member as usize].neighbours {
                if group_of[other as usize] == NONE && is_coplanar(hull, points, member, other) {
                    group_of[other as usize] = group;
                    members.push(other);
                }
            }
        }
        groups.push(members);
    }
    // Trace the border of every group.
    let mut borders: Vec<Vec<u32>> = Vec::with_capacity(groups.len());
    let mut after: Vec<u32> = vec![NONE; points.len()];
    let mut faces_at: Vec<u32> = vec![0; points.len()];
    for (group, members) in (0..).zip(&groups) {
        let mut start = NONE;
        for facet in members.iter().map(|&member| facets[member as usize]) {
            for edge in 0..3 {
                if group_of[facet.neighbours[edge] as usize] != group {
                    start = facet.corners[edge];
                    after[start as usize] = facet.corners[(edge + 1) % 3];
                }
            }
        }
        let mut border = Vec::new();
        let mut corner = start;
        loop {
            faces_at[corner as usize] += 1;
            border.push(corner);
            corner = after[corner as usize];
            if corner == start {
                break;
            }
        }
        borders.push(border);
    }
    for border in &mut borders {
        // Where only two faces meet, the corner lies inside an edge.
        border.retain(|&corner| faces_at[corner as usize] >= 3);
    }
    borders
}

fn is_coplanar(hull: &GrowingHull, points: &[DVec3], facet: u32, other: u32) -> bool {
    // Nothing is above a facet of a convex surface, so a point that is not below it is in its
    // plane.
    let corners = hull.facets()[facet as usize].corners;
    let [a, b, c] = corners.map(|corner| points[corner as usize]);
    let theirs = hull.facets()[other as usize].corners;
    theirs
        .iter()
        .filter(|corner| !corners.contains(corner))
        .all(|&corner| side_of_plane(a, b, c, points[corner as usize]) == 0)
}
