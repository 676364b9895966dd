//! Distances, closest points and intersection tests for pairs that contain a field.
//!
//! Input: two shapes and the pose of the second. Output: what Rapier's query returns. Cost: one
//! separation query per pair of solid parts.
//! Not for: the contacts of a step, which are manifolds.
//!
//! Distances are those of `touchfield::narrow::separation`, to within [`PRECISION`] of the smaller
//! body's diagonal and the accuracy of the fields.

use std::sync::Arc;

use glam::{Mat3, Vec3};
use rapier::math::{Pose as RapierPose, Real};
use rapier::parry::query::{
    ClosestPoints, Contact as RapierContact, DefaultQueryDispatcher, QueryDispatcher,
    ShapeDistance, ShapeIntersection, Unsupported,
};
use rapier::parry::shape::Shape as RapierShape;
use touchfield::geom::{Aabb, Pose, turned_half_extents};
use touchfield::narrow::{
    Pair, Scratch, SeparationScratch, SeparationSettings, separation, touching,
};
use touchfield::shape::{Convex, ConvexHull, Shape};

use crate::convert;
use crate::dispatcher::FieldDispatcher;
use crate::meet::{a_from_b, name_of};
use crate::partner::{Part, PartKind, child, triangles_in};
use crate::tuning::query::PRECISION;

/// The closest points of two parts, in the frame of the first collider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    separation: f32,
    on_first: Vec3,
    on_second: Vec3,
    normal: Vec3,
    subshapes: [u32; 2],
}

/// Calls `visit` for every pair of parts that contains a field, and `plain` for pairs that Rapier
/// handles itself.
pub(crate) fn each_pair(
    dispatcher: &FieldDispatcher,
    [g1, g2]: [&dyn RapierShape; 2],
    mut visit: impl FnMut(&Part, &Part),
    mut plain: impl FnMut(u32, u32),
) {
    let (first, second) = (dispatcher.solids().parts(g1), dispatcher.solids().parts(g2));
    for a in &first {
        for b in &second {
            if a.is_field() || b.is_field() {
                visit(a, b);
            } else {
                plain(a.subshape, b.subshape);
            }
        }
    }
}

/// Returns the triangles of a surface within a box, as thin convex bodies in the frame of the
/// surface's collider.
pub(crate) fn thin_bodies(surface: &dyn RapierShape, within: Aabb) -> Vec<Shape> {
    let mut triangles = Vec::new();
    triangles_in(surface, within, &mut triangles);
    let bodies = triangles.iter().filter_map(|(_, corners)| {
        let hull = ConvexHull::new(corners).ok()?;
        Shape::convex(Convex::hull(Arc::new(hull))).ok()
    });
    bodies.collect()
}

/// Returns the triangles of a surface within a box, each extruded by a thickness away from the
/// point `seen_from`. A sweep can then decide on which side a body is, and how deep.
pub(crate) fn thick_bodies(
    surface: &dyn RapierShape,
    within: Aabb,
    seen_from: Vec3,
    thickness: f32,
) -> Vec<Shape> {
    let mut triangles = Vec::new();
    triangles_in(surface, within, &mut triangles);
    let bodies = triangles.iter().filter_map(|(_, corners)| {
        let [a, b, c] = *corners;
        let normal = (b - a).cross(c - a).try_normalize()?;
        let side = (seen_from - a).dot(normal).signum();
        let behind = corners.map(|corner| corner - side * thickness * normal);
        let hull = ConvexHull::new(&[corners.as_slice(), &behind].concat()).ok()?;
        Shape::convex(Convex::hull(Arc::new(hull))).ok()
    });
    bodies.collect()
}

/// Computes the closest points of two solids.
fn nearest_of_solids(
    [a, b]: [&Part; 2],
    [shape_a, shape_b]: [&Shape; 2],
    pos12: &RapierPose,
    dispatcher: &FieldDispatcher,
) -> Option<Nearest> {
    let pair = Pair {
        a: shape_a,
        b: shape_b,
        a_from_b: a_from_b(a, b, convert::pose(pos12)),
    };
    let size = f32::min(shape_a.solid().diagonal(), shape_b.solid().diagonal());
    let settings = SeparationSettings::to_within(PRECISION * size);
    let found = separation(&pair, &settings, &mut SeparationScratch::default());
    let found = found
        .inspect_err(|error| dispatcher.tally().refused(error))
        .ok()?;
    let place = |point: Vec3| a.collider_from_part.transform_point(point);
    Some(Nearest {
        separation: found.separation,
        on_first: place(found.point_on_a),
        on_second: place(found.point_on_b),
        normal: a.collider_from_part.transform_vector(found.normal),
        subshapes: [a.subshape, b.subshape],
    })
}

/// Computes the closest points of two shapes; `Err` if no pair of parts is supported. Triangle
/// surfaces are searched within `reach` of the solid.
fn nearest(
    dispatcher: &FieldDispatcher,
    pos12: &RapierPose,
    [g1, g2]: [&dyn RapierShape; 2],
    reach: f32,
) -> Result<Option<Nearest>, Unsupported> {
    let mut best: Option<Nearest> = None;
    let mut unknown = false;
    let mut take = |found: Option<Nearest>| {
        let Some(found) = found else { return };
        if best.is_none_or(|best| found.separation < best.separation) {
            best = Some(found);
        }
    };
    let mut plain = Vec::new();
    each_pair(
        dispatcher,
        [g1, g2],
        |a, b| match (a.solid(), b.solid()) {
            (Some(shape_a), Some(shape_b)) => {
                take(nearest_of_solids(
                    [a, b],
                    [shape_a, shape_b],
                    pos12,
                    dispatcher,
                ));
            }
            (Some(shape), None) if matches!(b.kind, PartKind::Triangles) => {
                let from_solid = a_from_b(a, b, convert::pose(pos12)).inverse();
                let near = moved_box(from_solid, shape.solid().grown(reach));
                for body in thin_bodies(child(g2, b.subshape), near) {
                    take(nearest_of_solids([a, b], [shape, &body], pos12, dispatcher));
                }
            }
            (None, Some(shape)) if matches!(a.kind, PartKind::Triangles) => {
                let from_solid = a_from_b(a, b, convert::pose(pos12));
                let near = moved_box(from_solid, shape.solid().grown(reach));
                for body in thin_bodies(child(g1, a.subshape), near) {
                    take(nearest_of_solids([a, b], [&body, shape], pos12, dispatcher));
                }
            }
            _ => {
                dispatcher.tally().unsupported(name_of(a), name_of(b));
                unknown = true;
            }
        },
        |i, j| plain.push((i, j)),
    );
    // Children that Rapier handles itself, in a compound that also contains a field.
    for (i, j) in plain {
        let (shape1, shape2) = (child(g1, i), child(g2, j));
        let (pose1, pose2) = (
            crate::dispatcher::child_pose(g1, i),
            crate::dispatcher::child_pose(g2, j),
        );
        let relative = pose1.inverse() * *pos12 * pose2;
        let far = convert::real(reach.min(1e30));
        if let Ok(Some(contact)) = DefaultQueryDispatcher.contact(&relative, shape1, shape2, far) {
            let pose = convert::pose(&pose1);
            let second = convert::pose(&relative);
            let point2 = second.transform_point(convert::vec3(contact.point2));
            take(Some(Nearest {
                separation: convert::float(contact.dist),
                on_first: pose.transform_point(convert::vec3(contact.point1)),
                on_second: pose.transform_point(point2),
                normal: pose.transform_vector(convert::vec3(contact.normal1)),
                subshapes: [i, j],
            }));
        }
    }
    if best.is_none() && unknown {
        return Err(Unsupported);
    }
    Ok(best)
}

/// Returns an AABB around a box that is rotated and moved.
pub(crate) fn moved_box(a_from_b: Pose, bounds: Aabb) -> Aabb {
    if !bounds.is_finite() {
        return Aabb::EVERYTHING;
    }
    let rotation = Mat3::from_quat(a_from_b.rotation);
    let half = turned_half_extents(rotation, bounds.half_extents());
    Aabb::from_center(a_from_b.transform_point(bounds.center()), half)
}

/// Returns whether two shapes intersect.
pub(crate) fn intersection(
    dispatcher: &FieldDispatcher,
    pos12: &RapierPose,
    g1: &dyn RapierShape,
    g2: &dyn RapierShape,
) -> Result<ShapeIntersection, Unsupported> {
    let mut hit = None;
    let mut unknown = false;
    let mut scratch = Scratch::default();
    let mut plain = Vec::new();
    each_pair(
        dispatcher,
        [g1, g2],
        |a, b| {
            if hit.is_some() {
                return;
            }
            let mut meet = |shape_a: &Shape, shape_b: &Shape| {
                let pair = Pair {
                    a: shape_a,
                    b: shape_b,
                    a_from_b: a_from_b(a, b, convert::pose(pos12)),
                };
                let answer = touching(&pair, 0.0, &mut scratch);
                let answer = answer.inspect_err(|error| dispatcher.tally().refused(error));
                if answer == Ok(true) {
                    hit = Some([a.subshape, b.subshape]);
                }
            };
            match (a.solid(), b.solid()) {
                (Some(shape_a), Some(shape_b)) => meet(shape_a, shape_b),
                (Some(shape), None) if matches!(b.kind, PartKind::Triangles) => {
                    let from_solid = a_from_b(a, b, convert::pose(pos12)).inverse();
                    let near = moved_box(from_solid, shape.solid());
                    for body in thin_bodies(child(g2, b.subshape), near) {
                        meet(shape, &body);
                    }
                }
                (None, Some(shape)) if matches!(a.kind, PartKind::Triangles) => {
                    let from_solid = a_from_b(a, b, convert::pose(pos12));
                    let near = moved_box(from_solid, shape.solid());
                    for body in thin_bodies(child(g1, a.subshape), near) {
                        meet(&body, shape);
                    }
                }
                _ => {
                    dispatcher.tally().unsupported(name_of(a), name_of(b));
                    unknown = true;
                }
            }
        },
        |i, j| plain.push((i, j)),
    );
    for (i, j) in plain {
        let (pose1, pose2) = (
            crate::dispatcher::child_pose(g1, i),
            crate::dispatcher::child_pose(g2, j),
        );
        let relative = pose1.inverse() * *pos12 * pose2;
        let answer =
            DefaultQueryDispatcher.intersection_test(&relative, child(g1, i), child(g2, j));
        if answer.is_ok_and(|answer| answer.intersecting) {
            hit = hit.or(Some([i, j]));
        }
    }
    if hit.is_none() && unknown {
        return Err(Unsupported);
    }
    let [subshape1, subshape2] = hit.unwrap_or_default();
    Ok(ShapeIntersection {
        intersecting: hit.is_some(),
        subshape1,
        subshape2,
    })
}

/// Returns the distance between two shapes; 0 where they touch or overlap.
pub(crate) fn distance(
    dispatcher: &FieldDispatcher,
    pos12: &RapierPose,
    g1: &dyn RapierShape,
    g2: &dyn RapierShape,
) -> Result<ShapeDistance, Unsupported> {
    let found = nearest(dispatcher, pos12, [g1, g2], f32::INFINITY)?.ok_or(Unsupported)?;
    let [subshape1, subshape2] = found.subshapes;
    Ok(ShapeDistance {
        distance: convert::real(found.separation.max(0.0)),
        subshape1,
        subshape2,
    })
}

/// Returns the closest or deepest points of two shapes, if they are within `prediction`.
pub(crate) fn contact(
    dispatcher: &FieldDispatcher,
    pos12: &RapierPose,
    g1: &dyn RapierShape,
    g2: &dyn RapierShape,
    prediction: Real,
) -> Result<Option<RapierContact>, Unsupported> {
    let reach = convert::float(prediction).max(0.0);
    let Some(found) = nearest(dispatcher, pos12, [g1, g2], reach)? else {
        return Ok(None);
    };
    if found.separation > reach {
        return Ok(None);
    }
    let second_from_first = convert::pose(pos12).inverse();
    let contact = RapierContact::new(
        convert::vector(found.on_first),
        convert::vector(second_from_first.transform_point(found.on_second)),
        convert::vector(found.normal),
        convert::vector(second_from_first.transform_vector(-found.normal)),
        convert::real(found.separation),
    );
    Ok(Some(
        contact.with_subshapes(found.subshapes[0], found.subshapes[1]),
    ))
}

/// Returns the closest points of two shapes if they are at most `max_dist` apart.
pub(crate) fn closest_points(
    dispatcher: &FieldDispatcher,
    pos12: &RapierPose,
    g1: &dyn RapierShape,
    g2: &dyn RapierShape,
    max_dist: Real,
) -> Result<ClosestPoints, Unsupported> {
    let reach = convert::float(max_dist).max(0.0);
    let Some(found) = nearest(dispatcher, pos12, [g1, g2], reach)? else {
        return Ok(ClosestPoints::Disjoint);
    };
    if found.separation <= 0.0 {
        return Ok(ClosestPoints::Intersecting);
    }
    if found.separation > reach {
        return Ok(ClosestPoints::Disjoint);
    }
    let second_from_first = convert::pose(pos12).inverse();
    Ok(ClosestPoints::WithinMargin(
        convert::vector(found.on_first),
        convert::vector(second_from_first.transform_point(found.on_second)),
    ))
}
