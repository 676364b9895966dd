//! Narrow phase: a shape against triangles that bound no solid, such as terrain, meshes with holes,
//! or the floor of a game.
//!
//! Input: a shape with a shell, and triangles near it, in its frame.
//! Output: contacts in that frame, with normals from the triangles to the shape.
//! Cost: a descent over each triangle near the shape, then a walk down the shell for those that
//! come near.
//! Not for: closed surfaces, whose fields carry more information, or thousands of triangles per
//! pair (pass only those near the shape).
//!
//! There are two kinds of contact:
//!
//! - A **point of the shell** that faces a triangle and lies over or under it. Its separation is
//!   along the triangle's normal. A point under the triangle counts only if the place above it on
//!   the triangle lies inside the body, which means that the triangle pierces the body. A triangle
//!   therefore has two sides and needs no thickness.
//! - The **lowest point of the triangle** in the field, where that is on an edge or a corner: it
//!   detects what pokes between the points of the shell. A point on an edge that two triangles
//!   share counts only if the field rises from there over both; otherwise bodies would stumble over
//!   the seams of a flat floor.

use glam::Vec3;

use crate::contact::{Contact, ContactId};
use crate::field::Sample;
use crate::geom::{Tolerance, Triangle};
use crate::narrow::contacts::settle::lowest_near;
use crate::narrow::method::FaceDescent;
use crate::narrow::pair::CollideError;
use crate::narrow::pair::check_max_separation;
use crate::narrow::search::face_search::FaceSearch;
use crate::shape::Shape;

/// Scratch buffers of [`collide_triangles`], reused from call to call.
#[derive(Clone, Debug, Default)]
pub struct TriangleScratch {
    lows: Vec<Low>,
    stack: Vec<u32>,
}

/// A triangle near the body, and the lowest point of the field on it.
#[derive(Clone, Copy, Debug)]
struct Low {
    triangle: u32,
    normal: Vec3,
    point: Vec3,
    sample: Sample,
    /// Whether the point lies on an edge or a corner.
    on_border: bool,
}

/// Bit set in the id of a contact that is the lowest point of a triangle; the other bits are its
/// index. Without it, the id is the index of a shell point.
const TRIANGLE: u32 = 1 << 31;

/// Barycentric weight below which a corner does not count: the point lies on the opposite edge or
/// corner.
const NO_SHARE: f32 = 1e-3;

/// Cosine from which a normal counts as parallel to that of the triangle: gradients of grids are
/// off by a few degrees.
const ALIKE: f32 = 0.9;

/// Appends the contacts of a shape with loose triangles within `max_separation` \[m\]. Triangles
/// without area are skipped.
pub fn collide_triangles(
    shape: &Shape,
    triangles: &[[Vec3; 3]],
    max_separation: f32,
    scratch: &mut TriangleScratch,
    out: &mut Vec<Contact>,
) -> Result<(), CollideError> {
    check_max_separation(max_separation)?;
    let Some(shell) = shape.shell() else {
        return Err(CollideError::NoShell {
            method: "collide_triangles",
        });
    };
    let field = shape.field();
    let size = shape.solid().diagonal();
    let tolerance = Tolerance::for_size(size);
    let search = FaceSearch {
        field,
        residual: tolerance.projection_residual(shape.cell_size()),
    };
    let TriangleScratch { lows, stack } = scratch;
    // Find the lowest point of the field on each triangle near the body.
    lows.clear();
    for (index, &corners) in triangles.iter().enumerate() {
        if let Some(low) = lowest(&search, shape, corners, max_separation) {
            lows.push(Low {
                triangle: index as u32,
                ..low
            });
        }
    }
    for low in &*lows {
        // A contact at an edge or corner counts only if no adjacent triangle goes lower.
        if low.on_border {
            let is_lowest_around = lows.iter().all(|other| {
                other.sample.distance >= low.sample.distance - tolerance.slop
                    || !touches(
                        triangles[other.triangle as usize],
                        low.point,
                        tolerance.slop,
                    )
            });
            if is_lowest_around && let Some(contact) = border_contact(low) {
                out.push(contact);
            }
        }
        // Shell points go under a triangle about as deep as it goes into the body, and half as much
        // again for bodies that end obliquely.
        let depth = 1.5 * (-low.sample.distance).max(0.0) + tolerance.slop;
        // Walk down the shell to the points over or under the triangle.
        let corners = triangles[low.triangle as usize];
        let nodes = shell.tree().nodes();
        stack.clear();
        stack.push(0);
        while let Some(index) = stack.pop() {
            let node = &nodes[index as usize];
            let height = (node.center - corners[0]).dot(low.normal);
            if height.abs() > node.radius + max_separation.max(depth)
                || !is_over(corners, low.normal, node.center, node.radius)
            {
                continue;
            }
            if node.child_count > 0 {
                stack.extend(node.children());
                continue;
            }
            for point in node.points() {
                let at = shell.points()[point as usize];
                let outward = shell.normals()[point as usize];
                let limits = [max_separation, depth];
                let slide = [shell.covering_radius(), tolerance.slop];
                let is_elsewhere = |place: Vec3| {
                    lows.iter().any(|other| {
                        let corners = triangles[other.triangle as usize];
                        other.normal.dot(low.normal).abs() > ALIKE
                            && is_over(corners, other.normal, place, tolerance.slop)
                    })
                };
                let of_point = point_contact(
                    shape,
                    corners,
                    low.normal,
                    at,
                    outward,
                    limits,
                    slide,
                    is_elsewhere,
                );
                if let Some(contact) = of_point {
                    let id = ContactId(point);
                    out.push(Contact { id, ..contact });
                }
            }
        }
    }
    Ok(())
}

/// Returns the lowest point of the field on a triangle, if it is within reach.
fn lowest(
    search: &FaceSearch<'_>,
    shape: &Shape,
    corners: [Vec3; 3],
    max_separation: f32,
) -> Option<Low> {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a).try_normalize()?;
    let double = Triangle {
        a: a.as_dvec3(),
        b: b.as_dvec3(),
        c: c.as_dvec3(),
    };
    // Start where the triangle is nearest to the centre of the body: floor triangles are far larger
    // than the body.
    let middle = shape.solid().center();
    let start = double.closest_point(middle.as_dvec3()).point.as_vec3();
    let reach = max_separation + search.field.error_bound();
    if start.distance(middle) > 0.5 * shape.solid().diagonal() + reach {
        return None;
    }
    let weights = barycentric(corners, normal, start);
    let steps = FaceDescent::default().max_steps;
    let (weights, point, sample) = search.lowest_of_face(corners, weights, steps);
    (sample.distance <= reach).then(|| Low {
        triangle: 0,
        normal,
        point,
        sample,
        on_border: weights.iter().any(|&share| share < NO_SHARE),
    })
}

/// Returns barycentric coordinates of a point of the triangle's plane, clamped to the triangle and
/// normalised to sum 1.
fn barycentric([a, b, c]: [Vec3; 3], normal: Vec3, point: Vec3) -> [f32; 3] {
    let share = |from: Vec3, to: Vec3| (to - from).cross(point - from).dot(normal).max(0.0);
    let shares = [share(b, c), share(c, a), share(a, b)];
    let sum: f32 = shares.iter().sum();
    if sum > 0.0 {
        shares.map(|share| share / sum)
    } else {
        [1.0 / 3.0; 3]
    }
}

/// Returns whether a point is within `slop` \[m\] of a triangle.
fn touches([a, b, c]: [Vec3; 3], point: Vec3, slop: f32) -> bool {
    let triangle = Triangle {
        a: a.as_dvec3(),
        b: b.as_dvec3(),
        c: c.as_dvec3(),
    };
    let nearest = triangle.closest_point(point.as_dvec3()).point.as_vec3();
    nearest.distance_squared(point) <= slop * slop
}

/// Returns whether part of a ball lies over or under a triangle, extended by the radius beyond each
/// edge.
fn is_over([a, b, c]: [Vec3; 3], normal: Vec3, center: Vec3, radius: f32) -> bool {
    [(a, b), (b, c), (c, a)].iter().all(|&(from, to)| {
        let edge = to - from;
        let inward = normal.cross(edge);
        inward.dot(center - from) >= -radius * edge.length()
    })
}

/// Returns the contact of a shell point with the triangle that it lies over or under.
///
/// `over` and `under` limit the height above and the depth below the triangle \[m\]. The point may
/// slide downhill, as in [`lowest_near`] with `reach` \[m\], and up to `slop` \[m\] beyond the
/// border: on a seam it belongs to both triangles.
#[allow(
    clippy::too_many_arguments,
    reason = "one point, one triangle, and what limits them"
)]
fn point_contact(
    shape: &Shape,
    corners: [Vec3; 3],
    normal: Vec3,
    at: Vec3,
    outward: Vec3,
    [over, under]: [f32; 2],
    [reach, slop]: [f32; 2],
    is_elsewhere: impl Fn(Vec3) -> bool,
) -> Option<Contact> {
    if !is_over(corners, normal, at, slop) {
        return None;
    }
    let height = (at - corners[0]).dot(normal);
    let foot = at - height * normal;
    let at_foot = shape.field().sample(foot);
    // The body is on the side of the triangle to which its inside leads; for a place outside the
    // body, on the side of the point.
    let side = if at_foot.distance < 0.0 {
        -at_foot.gradient.dot(normal)
    } else {
        height
    };
    let up = if side < 0.0 { -normal } else { normal };
    let height = (at - corners[0]).dot(up);
    // A surface that faces away is the far side of the body.
    let faces = outward.dot(up) < 0.0;
    let is_near = 0.0 <= height && height <= over;
    let has_pierced = -under <= height && height < 0.0 && at_foot.distance < 0.0;
    if !faces || !(is_near || has_pierced) {
        return None;
    }
    let plane = |point: Vec3| Sample {
        distance: (point - corners[0]).dot(up),
        gradient: up,
    };
    let (lowest, sample) = lowest_near(shape.field(), plane, at, reach);
    let (at, height) = if sample.distance >= height {
        (at, height)
    } else if is_over(corners, normal, lowest, slop) {
        (lowest, sample.distance)
    } else if is_elsewhere(lowest) {
        // The points over the neighbouring triangle report that place.
        return None;
    } else {
        (at, height)
    };
    Some(Contact {
        point: at - 0.5 * height * up,
        normal: up,
        separation: height,
        id: ContactId(0),
    })
}

/// Returns the contact of an edge or corner with the body. Returns `None` where the triangle faces
/// the body, because shell points describe that contact better.
fn border_contact(low: &Low) -> Option<Contact> {
    let normal = -low.sample.gradient.try_normalize()?;
    if normal.dot(low.normal).abs() > ALIKE {
        return None;
    }
    Some(Contact {
        point: low.point + 0.5 * low.sample.distance * normal,
        normal,
        separation: low.sample.distance,
        id: ContactId(TRIANGLE | low.triangle),
    })
}
