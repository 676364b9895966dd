//! Narrow phase: the deepest point of every edge or face of one surface in the field of the other
//! body.
//!
//! Input: a [`Pair`], at least one of whose shapes has a surface, and a [`FaceDescent`].
//! Output: one contact for each face, edge or corner that holds a deepest point.
//! Cost: one field value per tree node that is not too far, about a hundred samples per face near
//! the other body, a thousand where its field has a ridge.
//! Not for: fields with several valleys under one triangle, of which one is found.
//!
//! After \[Macklin2020\]: edges by golden sections between bracketing ends, faces by Frank–Wolfe
//! \[Frank1956\] on barycentric coordinates. We differ in three ways. Each step is a line search,
//! not `2 / (k + 2)`, which converges sooner. A search by rows takes over where a ridge stops the
//! descent. A point on a shared edge or corner is one contact, not one for each face.
//!
//! Distances to convex bodies are convex functions: then `φ(x) − min φ` is at most the gap
//! `∇φ·(x − v)`, at which the search stops.

use crate::narrow::method::FaceDescent;
use crate::narrow::method::Features;
use crate::narrow::scratch::FaceBuffers;
use crate::narrow::scratch::FaceFound;
use glam::{Mat3, Vec3};

use crate::contact::{Contact, ContactId};
use crate::geom::{Pose, Tolerance};
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Pair};
use crate::narrow::scratch::Scratch;
use crate::narrow::search::face_search::FaceSearch;
use crate::narrow::search::overlap::a_is_smaller;
use crate::shape::Surface;

/// A surface, and the field in which its faces are searched.
struct Faces<'a> {
    surface: &'a Surface,
    search: FaceSearch<'a>,
    field_from_surface: Mat3,
    translation: Vec3,
    a_from_field: Pose,
    surface_is_a: bool,
}

/// Appends a contact for every face or edge whose deepest point is within `max_separation`.
pub(crate) fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    descent: &FaceDescent,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    let faces = Faces::of(pair)?;
    let FaceBuffers { stack, found } = &mut scratch.faces;
    found.clear();
    // Find the deepest point of each face or edge near the other body.
    faces.visit_near(settings.max_separation, stack, |triangle| {
        let corners = (faces.surface.corners(triangle)).map(|corner| faces.to_field(corner));
        let vertices = faces.surface.triangles()[triangle as usize];
        match descent.features {
            Features::Faces => {
                let (weights, point_in_field, sample) =
                    (faces.search).lowest_of_face(corners, [1.0 / 3.0; 3], descent.max_steps);
                found.push(FaceFound {
                    between: between(vertices, weights),
                    triangle,
                    point_in_field,
                    sample,
                });
            }
            Features::Edges => {
                for edge in 0..3 {
                    let (from, to) = (edge, (edge + 1) % 3);
                    // Start at the smaller vertex, so that both faces find the same point.
                    let (from, to) = if vertices[from] < vertices[to] {
                        (from, to)
                    } else {
                        (to, from)
                    };
                    let (t, point_in_field, sample) =
                        (faces.search).lowest_of_edge(corners[from], corners[to]);
                    let mut weights = [0.0; 3];
                    weights[from] = 1.0 - t;
                    weights[to] = t;
                    found.push(FaceFound {
                        between: between(vertices, weights),
                        triangle,
                        point_in_field,
                        sample,
                    });
                }
            }
        }
    });
    // Of points at one place only the deepest is kept; triangle indices break ties.
    found.sort_unstable_by(|a, b| {
        (a.between.cmp(&b.between))
            .then(a.sample.distance.total_cmp(&b.sample.distance))
            .then(a.triangle.cmp(&b.triangle))
    });
    found.dedup_by_key(|found| found.between);
    for found in found.iter() {
        out.distance = out.distance.min(found.sample.distance);
        if found.sample.distance <= settings.max_separation {
            out.contacts.push(faces.contact(found));
        }
    }
    Ok(())
}

/// Barycentric weight below which a corner does not count: the point lies on the opposite edge or
/// corner.
const NO_SHARE: f32 = 1e-3;

/// Returns the vertices that a point of a triangle lies between, sorted; `u32::MAX` for the others.
fn between(vertices: [u32; 3], weights: [f32; 3]) -> [u32; 3] {
    let mut between = [0, 1, 2].map(|corner: usize| {
        if weights[corner] < NO_SHARE {
            u32::MAX
        } else {
            vertices[corner]
        }
    });
    between.sort_unstable();
    between
}

impl<'a> Faces<'a> {
    /// Builds the search from the surface of the smaller body, or from that of the other if it has
    /// none.
    fn of(pair: &Pair<'a>) -> Result<Faces<'a>, CollideError> {
        let (surface, surface_is_a) = match (pair.a.surface(), pair.b.surface()) {
            (Some(a), Some(b)) => {
                let a_is_smaller = a_is_smaller(pair);
                (if a_is_smaller { a } else { b }, a_is_smaller)
            }
            (Some(a), None) => (a, true),
            (None, Some(b)) => (b, false),
            (None, None) => {
                return Err(CollideError::NoSurface {
                    method: "face_descent",
                });
            }
        };
        let (other, field_from_surface, a_from_field) = if surface_is_a {
            (pair.b, pair.a_from_b.inverse(), pair.a_from_b)
        } else {
            (pair.a, pair.a_from_b, Pose::IDENTITY)
        };
        let size = surface.nodes()[0].bounds.diagonal();
        Ok(Faces {
            surface,
            search: FaceSearch {
                field: other.field(),
                residual: Tolerance::for_size(size).projection_residual(other.cell_size()),
            },
            field_from_surface: Mat3::from_quat(field_from_surface.rotation),
            translation: field_from_surface.translation,
            a_from_field,
            surface_is_a,
        })
    }

    fn to_field(&self, point_in_surface: Vec3) -> Vec3 {
        self.field_from_surface * point_in_surface + self.translation
    }

    /// Calls `visit` for every triangle that may come within `reach` \[m\] of the body with the
    /// field.
    fn visit_near(&self, reach: f32, stack: &mut Vec<u32>, mut visit: impl FnMut(u32)) {
        // A few last places of the numbers that make up a point.
        let rounding = 8.0
            * f32::EPSILON
            * (self.translation.abs().max_element() + self.surface.nodes()[0].bounds.diagonal());
        let reach = reach + self.search.field.error_bound() + rounding;
        let near = |center: Vec3, radius: f32| {
            self.search.field.distance(self.to_field(center)) - radius <= reach
        };
        stack.clear();
        stack.push(0);
        while let Some(index) = stack.pop() {
            let node = &self.surface.nodes()[index as usize];
            if !near(node.bounds.center(), 0.5 * node.bounds.diagonal()) {
                continue;
            }
            if node.second != 0 {
                stack.push(node.second);
                stack.push(index + 1);
                continue;
            }
            for triangle in node.first..node.first + node.count {
                let [a, b, c] = self.surface.corners(triangle);
                let center = (a + b + c) / 3.0;
                let radius = [a, b, c].map(|corner| corner.distance(center));
                if near(center, radius[0].max(radius[1]).max(radius[2])) {
                    visit(triangle);
                }
            }
        }
    }

    fn contact(&self, found: &FaceFound) -> Contact {
        let FaceFound {
            triangle,
            point_in_field,
            sample,
            ..
        } = *found;
        // Where the gradient vanishes, as on a medial axis, use the triangle's normal instead.
        let outward = sample.gradient.try_normalize().unwrap_or_else(|| {
            let [a, b, c] = self.surface.corners(triangle);
            let normal = (b - a).cross(c - a).normalize_or(Vec3::Z);
            -(self.field_from_surface * normal)
        });
        let middle = point_in_field - 0.5 * sample.distance * outward;
        let outward_in_a = self.a_from_field.transform_vector(outward);
        Contact {
            point: self.a_from_field.transform_point(middle),
            // The gradient points out of the body with the field: from A to B if that is A.
            normal: if self.surface_is_a {
                -outward_in_a
            } else {
                outward_in_a
            },
            separation: sample.distance,
            id: self.id(found),
        }
    }

    /// Returns the contact id: the triangle, and three bits for the corners that the place lies
    /// between. Of triangles that meet at one place it is the one in which the search went deepest.
    fn id(&self, found: &FaceFound) -> ContactId {
        let vertices = self.surface.triangles()[found.triangle as usize];
        let counts = (0..3).fold(0, |bits, corner| {
            bits | u32::from(found.between.contains(&vertices[corner])) << corner
        });
        ContactId(found.triangle << 3 | counts)
    }
}
