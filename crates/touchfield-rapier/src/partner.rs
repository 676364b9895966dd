//! Decomposition of any collider into parts that fields can collide with.
//!
//! Input: any of Rapier's shapes. Output: its [`Part`]s: solids of Touchfield, triangle surfaces,
//! or what only Rapier can handle.
//! Cost: once per pair of colliders; solids of the same size are shared by all pairs. Not for:
//! custom shapes of other crates, which stay unknown.
//!
//! Solids: ball, cuboid, capsule, cylinder, cone, hull, segment, their rounded forms, half-space,
//! [`FieldShape`]. Triangles: triangle, mesh, height field, and the free faces of voxels. A
//! compound becomes its children. A polyline has no surface and is left to Rapier, which does not
//! support it either.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use glam::{Quat, Vec3, Vec3Swizzles};
use rapier::parry::shape::{
    AxisMask, Compound, HeightField, Shape as RapierShape, TriMesh, TypedShape, Voxels,
};
use touchfield::field::primitive::HalfSpace;
use touchfield::geom::{Aabb, Pose};
use touchfield::shape::{Convex, ConvexHull, Shape};

use crate::convert;
use crate::shape::{FieldShape, convex_shell};
use crate::tuning::partner::MOST_SOLIDS;

/// One part of a collider.
#[derive(Clone)]
pub(crate) struct Part {
    /// Index of the child of a compound; 0 for other shapes.
    pub(crate) subshape: u32,
    /// Pose of the part in the frame of the collider.
    pub(crate) collider_from_part: Pose,
    pub(crate) kind: PartKind,
}

/// The kind of a part.
#[derive(Clone)]
pub(crate) enum PartKind {
    /// A body backed by a field.
    Field(FieldShape),
    /// One of Rapier's own solids, converted to a shape of Touchfield.
    Solid(Arc<Shape>),
    /// A triangle surface, queried where it is needed.
    Triangles,
    /// A shape that fields cannot collide with.
    Unknown,
}

impl Part {
    /// Returns the solid, if the part is one.
    pub(crate) fn solid(&self) -> Option<&Shape> {
        match &self.kind {
            PartKind::Field(field) => Some(field.shape()),
            PartKind::Solid(shape) => Some(shape),
            PartKind::Triangles | PartKind::Unknown => None,
        }
    }

    /// Returns about how thin the part is \[m\]: for a field the thickness of its thinner parts,
    /// for a solid of Rapier's the smallest extent of its box. Parts without an opposite side are
    /// infinitely thick.
    pub(crate) fn thickness(&self) -> f32 {
        match &self.kind {
            PartKind::Field(field) => {
                let extents = field.shape().solid().extents();
                field.thickness().min(extents.min_element())
            }
            PartKind::Solid(shape) if shape.solid().is_finite() => {
                let bounds = shape.solid();
                bounds.extents().min_element().max(1e-6 * bounds.diagonal())
            }
            PartKind::Solid(_) | PartKind::Triangles | PartKind::Unknown => f32::MAX,
        }
    }

    pub(crate) fn is_field(&self) -> bool {
        matches!(self.kind, PartKind::Field(_))
    }
}

/// Cache of solids by their dimensions, shared by all pairs.
#[derive(Debug, Default)]
pub(crate) struct Solids(Mutex<BTreeMap<Vec<u32>, Arc<Shape>>>);

/// Returns whether a shape is a field or a compound that contains one.
pub(crate) fn holds_field(shape: &dyn RapierShape) -> bool {
    shape.as_shape::<FieldShape>().is_some()
        || (shape.as_shape::<Compound>()).is_some_and(|compound| {
            let mut children = compound.shapes().iter();
            children.any(|(_, child)| child.as_shape::<FieldShape>().is_some())
        })
}

/// Returns the child of a compound, or the shape itself.
pub(crate) fn child(shape: &dyn RapierShape, subshape: u32) -> &dyn RapierShape {
    match shape.as_shape::<Compound>() {
        Some(compound) => &*compound.shapes()[subshape as usize].1,
        None => shape,
    }
}

impl Solids {
    /// Returns the parts of a collider's shape.
    pub(crate) fn parts(&self, shape: &dyn RapierShape) -> Vec<Part> {
        match shape.as_shape::<Compound>() {
            Some(compound) => (compound.shapes().iter().enumerate())
                .map(|(index, (child_pose, child))| {
                    let part = self.part(&**child);
                    Part {
                        subshape: index as u32,
                        collider_from_part: convert::pose(child_pose) * part.collider_from_part,
                        ..part
                    }
                })
                .collect(),
            None => vec![self.part(shape)],
        }
    }

    fn part(&self, shape: &dyn RapierShape) -> Part {
        let part = |collider_from_part, kind| Part {
            subshape: 0,
            collider_from_part,
            kind,
        };
        if let Some(field) = shape.as_shape::<FieldShape>() {
            return part(Pose::IDENTITY, PartKind::Field(field.clone()));
        }
        match shape.as_typed_shape() {
            TypedShape::TriMesh(_)
            | TypedShape::HeightField(_)
            | TypedShape::Voxels(_)
            | TypedShape::Triangle(_) => part(Pose::IDENTITY, PartKind::Triangles),
            typed => match self.solid(typed) {
                Some((pose, solid)) => part(pose, PartKind::Solid(solid)),
                None => part(Pose::IDENTITY, PartKind::Unknown),
            },
        }
    }

    /// Converts one of Rapier's solids; also returns its pose in the frame of the collider.
    fn solid(&self, typed: TypedShape<'_>) -> Option<(Pose, Arc<Shape>)> {
        if let TypedShape::HalfSpace(half_space) = typed {
            let normal = convert::vec3(half_space.normal).try_normalize()?;
            let key = key_of(SolidKind::HalfSpace, &normal.to_array());
            let shape = self.made(key, || Some(Shape::new(HalfSpace::new(normal, 0.0).ok()?)))?;
            return Some((Pose::IDENTITY, shape));
        }
        let (rounding, inner) = match typed {
            TypedShape::RoundCuboid(round) => {
                (round.border_radius, TypedShape::Cuboid(&round.inner_shape))
            }
            TypedShape::RoundCylinder(round) => (
                round.border_radius,
                TypedShape::Cylinder(&round.inner_shape),
            ),
            TypedShape::RoundCone(round) => {
                (round.border_radius, TypedShape::Cone(&round.inner_shape))
            }
            TypedShape::RoundTriangle(round) => (
                round.border_radius,
                TypedShape::Triangle(&round.inner_shape),
            ),
            TypedShape::RoundConvexPolyhedron(round) => (
                round.border_radius,
                TypedShape::ConvexPolyhedron(&round.inner_shape),
            ),
            other => (0.0, other),
        };
        let rounding = convert::float(rounding);
        // Rapier's axial shapes stand along y, Touchfield's along z.
        let y_from_z = Pose {
            rotation: Quat::from_rotation_arc(Vec3::Z, Vec3::Y),
            translation: Vec3::ZERO,
        };
        let (pose, kind, measures): (Pose, SolidKind, Vec<f32>) = match inner {
            TypedShape::Ball(ball) => (
                Pose::IDENTITY,
                SolidKind::Ball,
                vec![convert::float(ball.radius)],
            ),
            TypedShape::Cuboid(cuboid) => (
                Pose::IDENTITY,
                SolidKind::Cuboid,
                convert::vec3(cuboid.half_extents).to_array().to_vec(),
            ),
            TypedShape::Capsule(capsule) => {
                let (a, b) = (
                    convert::vec3(capsule.segment.a),
                    convert::vec3(capsule.segment.b),
                );
                let pose = Pose {
                    rotation: (b - a).try_normalize().map_or(Quat::IDENTITY, |along| {
                        Quat::from_rotation_arc(Vec3::Z, along)
                    }),
                    translation: 0.5 * (a + b),
                };
                (
                    pose,
                    SolidKind::Capsule,
                    vec![0.5 * a.distance(b), convert::float(capsule.radius)],
                )
            }
            TypedShape::Cylinder(cylinder) => (
                y_from_z,
                SolidKind::Cylinder,
                vec![
                    convert::float(cylinder.half_height),
                    convert::float(cylinder.radius),
                ],
            ),
            TypedShape::Cone(cone) => (
                y_from_z,
                SolidKind::Cone,
                vec![
                    convert::float(cone.half_height),
                    convert::float(cone.radius),
                ],
            ),
            TypedShape::ConvexPolyhedron(hull) => (
                Pose::IDENTITY,
                SolidKind::Hull,
                coordinates(hull.points().iter().copied()),
            ),
            TypedShape::Triangle(triangle) => (
                Pose::IDENTITY,
                SolidKind::Hull,
                coordinates([triangle.a, triangle.b, triangle.c]),
            ),
            TypedShape::Segment(segment) => (
                Pose::IDENTITY,
                SolidKind::Hull,
                coordinates([segment.a, segment.b]),
            ),
            _ => return None,
        };
        let mut key = key_of(kind, &measures);
        key.push(rounding.to_bits());
        let shape = self.made(key, || {
            let convex = convex_of(kind, &measures)?;
            let convex = if rounding > 0.0 {
                convex.rounded(rounding).ok()?
            } else {
                convex
            };
            let shape = Shape::convex(convex).ok()?;
            let shell = convex_shell(&shape).ok()?;
            Some(shape.with_shell(Arc::new(shell)))
        })?;
        Some((pose, shape))
    }

    /// Returns the cached solid for a key, building it if it is new.
    fn made(&self, key: Vec<u32>, make: impl FnOnce() -> Option<Shape>) -> Option<Arc<Shape>> {
        let known = |solids: &Mutex<BTreeMap<Vec<u32>, Arc<Shape>>>| {
            let solids = solids.lock().unwrap_or_else(PoisonError::into_inner);
            solids.get(&key).cloned()
        };
        if let Some(shape) = known(&self.0) {
            return Some(shape);
        }
        let shape = Arc::new(make()?);
        let mut solids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if solids.len() < MOST_SOLIDS {
            solids.insert(key, Arc::clone(&shape));
        }
        Some(shape)
    }
}

/// A family of Rapier's solids; together with its dimensions it identifies a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SolidKind {
    HalfSpace,
    Ball,
    Cuboid,
    Capsule,
    Cylinder,
    Cone,
    Hull,
}

fn key_of(kind: SolidKind, measures: &[f32]) -> Vec<u32> {
    let bits = measures.iter().map(|measure| measure.to_bits());
    std::iter::once(kind as u32).chain(bits).collect()
}

fn coordinates(points: impl IntoIterator<Item = rapier::math::Vector>) -> Vec<f32> {
    let points = points.into_iter().map(convert::vec3);
    points.flat_map(|point| point.to_array()).collect()
}

fn convex_of(kind: SolidKind, measures: &[f32]) -> Option<Convex> {
    match (kind, measures) {
        (SolidKind::Ball, &[radius]) => Convex::sphere(radius).ok(),
        (SolidKind::Cuboid, &[x, y, z]) => Convex::cuboid(Vec3::new(x, y, z)).ok(),
        (SolidKind::Capsule, &[half_length, radius]) => Convex::capsule(half_length, radius).ok(),
        (SolidKind::Cylinder, &[half_height, radius]) => Convex::cylinder(half_height, radius).ok(),
        (SolidKind::Cone, &[half_height, radius]) => Convex::cone(half_height, radius).ok(),
        (SolidKind::Hull, coordinates) => {
            let points: Vec<Vec3> = coordinates.chunks_exact(3).map(Vec3::from_slice).collect();
            Some(Convex::hull(Arc::new(ConvexHull::new(&points).ok()?)))
        }
        _ => None,
    }
}

/// Finds the triangles of a surface that intersect a box given in the frame of the collider, as
/// pairs of index and corners.
pub(crate) fn triangles_in(shape: &dyn RapierShape, bounds: Aabb, out: &mut Vec<(u32, [Vec3; 3])>) {
    out.clear();
    let bounds = convert::rapier_aabb(bounds);
    let corners = |triangle: &rapier::parry::shape::Triangle| {
        [triangle.a, triangle.b, triangle.c].map(convert::vec3)
    };
    if let Some(mesh) = shape.as_shape::<TriMesh>() {
        for index in mesh.bvh().intersect_aabb(&bounds) {
            out.push((index, corners(&mesh.triangle(index))));
        }
        // The BVH returns them in the order of its construction. Sorted by index, they are the same
        // on every run.
        out.sort_unstable_by_key(|&(index, _)| index);
    } else if let Some(heights) = shape.as_shape::<HeightField>() {
        heights.map_elements_in_local_aabb(&bounds, &mut |index, triangle| {
            out.push((index, corners(triangle)));
        });
    } else if let Some(voxels) = shape.as_shape::<Voxels>() {
        free_faces(voxels, &bounds, out);
    } else if let Some(triangle) = shape.as_triangle() {
        out.push((0, corners(triangle)));
    }
}

/// Adds two triangles for each voxel face that no other voxel covers.
fn free_faces(
    voxels: &Voxels,
    bounds: &rapier::parry::bounding_volume::Aabb,
    out: &mut Vec<(u32, [Vec3; 3])>,
) {
    let half = 0.5 * convert::vec3(voxels.voxel_size());
    let faces = [
        (AxisMask::X_POS, Vec3::X),
        (AxisMask::X_NEG, Vec3::NEG_X),
        (AxisMask::Y_POS, Vec3::Y),
        (AxisMask::Y_NEG, Vec3::NEG_Y),
        (AxisMask::Z_POS, Vec3::Z),
        (AxisMask::Z_NEG, Vec3::NEG_Z),
    ];
    for voxel in voxels.voxels_intersecting_local_aabb(bounds) {
        if voxel.state.is_empty() {
            continue;
        }
        let free = voxel.state.free_faces();
        let center = convert::vec3(voxel.center);
        for (mask, normal) in faces {
            if !free.contains(mask) {
                continue;
            }
            let (u, v) = (normal.yzx(), normal.zxy());
            let corner = |su: f32, sv: f32| center + half * (normal + su * u.abs() + sv * v.abs());
            let index = out.len() as u32;
            let [a, b, c, d] = [
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
            ];
            out.push((index, [a, b, c]));
            out.push((index + 1, [a, c, d]));
        }
    }
}
