//! Field shapes in serialisable form.
//!
//! Input: the shapes of colliders. Output: tables of fields, of shells and of the shapes made of
//! them, each stored once; restored, the same shapes to the bit.
//! Cost: the bytes of the fields. Not for: fields that are code, which are saved by name instead.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{DMat3, DVec3, Vec3};
use rapier::geometry::{ColliderHandle, SharedShape};
use rapier::math::Pose as RapierPose;
use rapier::parry::shape::{Compound, Shape as RapierShape, ShapeType};
use serde::{Deserialize, Serialize};
use touchfield::field::file::{from_bytes, to_bytes};
use touchfield::field::{FieldOctree, Provenance, Recipe, SignMethod, StoredField, Transformed};
use touchfield::geom::Pose;
use touchfield::mass::MassProperties;
use touchfield::pointshell::{PointShell, SphereNode, SphereTree};
use touchfield::shape::convex::Core;
use touchfield::shape::{Convex, ConvexHull, Shape, Thickness};

use super::{RestoreError, SaveError};
use crate::partner::holds_field;
use crate::shape::{Body, FieldShape, SharedField};

/// All field shapes of a world and the data they share.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct SavedShapes {
    /// The fields, as the bytes of `.tfs` files.
    fields: Vec<Bytes>,
    shells: Vec<SavedShell>,
    shapes: Vec<SavedShape>,
    /// Indices into the tables, by the address of the saved object.
    #[serde(skip)]
    known: Known,
}

#[derive(Default)]
struct Known {
    fields: BTreeMap<usize, u32>,
    shells: BTreeMap<usize, u32>,
    shapes: BTreeMap<usize, u32>,
}

/// The saved shape of a collider.
#[derive(Serialize, Deserialize)]
pub(super) enum Placed {
    /// Index of a field shape in the table.
    Field(u32),
    /// A compound with at least one field among its children.
    Compound(Vec<(RapierPose, Child)>),
}

/// A child of a compound.
#[derive(Serialize, Deserialize)]
pub(super) enum Child {
    /// Index of a field shape in the table.
    Field(u32),
    /// One of Rapier's own shapes.
    Rapier(SharedShape),
}

#[derive(Serialize, Deserialize)]
struct SavedShape {
    made_of: MadeOf,
    shell: u32,
    mass: SavedMass,
    thickness: [f32; 2],
}

#[derive(Serialize, Deserialize)]
enum MadeOf {
    /// Index of a field in the table, and whether an octree was built over it.
    Stored(u32, bool),
    Closed(Recipe),
    Convex(SavedConvex),
    /// Index of an earlier shape in the table, and the factor it is scaled by.
    Scaled(u32, f32),
    Named(String),
}

/// A convex body: its core, and the rounding radius around it \[m\].
#[derive(Serialize, Deserialize)]
struct SavedConvex {
    core: SavedCore,
    radius: f32,
}

#[derive(Serialize, Deserialize)]
enum SavedCore {
    Point,
    Segment(f32),
    Cuboid([f32; 3]),
    Cylinder([f32; 2]),
    Cone([f32; 2]),
    Ellipsoid([f32; 3]),
    Hull(Vec<[f32; 3]>),
}

/// Mass properties for a density of one.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
struct SavedMass {
    volume: f64,
    center: [f64; 3],
    inertia: [f64; 9],
}

/// Point shell as little-endian numbers: points and normals as 3 floats, areas as 1, sphere-tree
/// nodes as 4 floats in `spheres` and 5 integers in `ranges`.
#[derive(Serialize, Deserialize)]
struct SavedShell {
    points: Bytes,
    normals: Bytes,
    covering_radius: f32,
    spheres: Bytes,
    ranges: Bytes,
    levels: Vec<u32>,
    /// Areas of the points; empty in worlds saved before shells had areas.
    #[serde(default)]
    areas: Bytes,
}

impl SavedShapes {
    /// Returns the saved form of a collider's shape if it is a field or contains one.
    pub(super) fn place(
        &mut self,
        collider: ColliderHandle,
        shape: &dyn RapierShape,
    ) -> Result<Option<Placed>, SaveError> {
        let collider = collider.into_raw_parts().0;
        if !holds_field(shape) {
            return Ok(None);
        }
        if let Some(field) = shape.as_shape::<FieldShape>() {
            return Ok(Some(Placed::Field(self.shape(collider, field)?)));
        }
        let Some(compound) = shape.as_shape::<Compound>() else {
            return Err(SaveError::ForeignShape { collider });
        };
        let mut children = Vec::with_capacity(compound.shapes().len());
        for (pose, child) in compound.shapes() {
            let saved = match child.as_shape::<FieldShape>() {
                Some(field) => Child::Field(self.shape(collider, field)?),
                None if child.shape_type() == ShapeType::Custom => {
                    return Err(SaveError::ForeignShape { collider });
                }
                None => Child::Rapier(child.clone()),
            };
            children.push((*pose, saved));
        }
        Ok(Some(Placed::Compound(children)))
    }

    /// Returns the index of a shape in the table, adding it if it is new.
    fn shape(&mut self, collider: u32, shape: &FieldShape) -> Result<u32, SaveError> {
        let address = Arc::as_ptr(&shape.body).addr();
        if let Some(&known) = self.known.shapes.get(&address) {
            return Ok(known);
        }
        let body = &*shape.body;
        let nameless = |what| SaveError::Nameless { collider, what };
        let Some(shell) = body.shape.shell() else {
            return Err(nameless("without points on its surface"));
        };
        let shell = place_of(&mut self.known.shells, &mut self.shells, shell, |shell| {
            SavedShell::of(shell)
        });
        let made_of = match (&body.name, &body.scaled_from) {
            (Some(name), _) => {
                self.check_name(name)?;
                MadeOf::Named(name.clone())
            }
            (None, Some((original, scale))) => {
                MadeOf::Scaled(self.shape(collider, original)?, *scale)
            }
            (None, None) => self.made_of(&body.shape).map_err(nameless)?,
        };
        self.shapes.push(SavedShape {
            made_of,
            shell,
            mass: SavedMass::of(&body.mass),
            thickness: [body.thickness.wall, body.thickness.deepest],
        });
        let place = self.shapes.len() as u32 - 1;
        self.known.shapes.insert(address, place);
        Ok(place)
    }

    fn check_name(&self, name: &str) -> Result<(), SaveError> {
        let mut named = self.shapes.iter().map(|shape| &shape.made_of);
        let is_taken = named.any(|other| matches!(other, MadeOf::Named(other) if other == name));
        match is_taken {
            true => Err(SaveError::NameTaken(name.to_owned())),
            false => Ok(()),
        }
    }

    /// Returns the numbers that a shape is made of, or a description of a shape that has none.
    fn made_of(&mut self, shape: &Shape) -> Result<MadeOf, &'static str> {
        if shape.surface().is_some() {
            return Err("a shape with triangles of its own");
        }
        if let Some(stored) = shape.as_stored() {
            let place = place_of(&mut self.known.fields, &mut self.fields, stored, |stored| {
                Bytes(to_bytes(stored, &given()))
            });
            return Ok(MadeOf::Stored(place, shape.octree().is_some()));
        }
        if let Some(convex) = shape.as_convex() {
            return SavedConvex::of(convex).map(MadeOf::Convex);
        }
        match shape.field().recipe() {
            Some(recipe) => Ok(MadeOf::Closed(recipe)),
            None => Err("a closure or made of one"),
        }
    }

    /// Rebuilds the shapes, in the order of the table.
    pub(super) fn restore(
        self,
        named: &dyn Fn(&str) -> Option<FieldShape>,
    ) -> Result<Vec<FieldShape>, RestoreError> {
        let mut fields = Vec::with_capacity(self.fields.len());
        for (index, bytes) in self.fields.iter().enumerate() {
            let stored = from_bytes(&bytes.0, u64::MAX)
                .map_err(|error| invalid("field", index, &error.to_string()))?;
            fields.push(Arc::new(stored.field));
        }
        let mut shells = Vec::with_capacity(self.shells.len());
        for (index, shell) in self.shells.iter().enumerate() {
            let shell = shell
                .restore()
                .map_err(|why| invalid("shell", index, &why))?;
            shells.push(Arc::new(shell));
        }
        let mut shapes: Vec<FieldShape> = Vec::with_capacity(self.shapes.len());
        for (index, saved) in self.shapes.iter().enumerate() {
            let shape = saved.restore(index, &fields, &shells, &shapes, named)?;
            shapes.push(shape);
        }
        Ok(shapes)
    }
}

/// Returns an empty provenance: where the field of a collider came from is no longer available.
fn given() -> Provenance {
    Provenance {
        sign_method: SignMethod::Given,
        measured_error: 0.0,
        conservative: false,
        origin: glam::DVec3::ZERO,
        doubtful_cells: Vec::new(),
        notes: Vec::new(),
    }
}

/// Returns the index of a shared object in its table, adding it if it is new.
fn place_of<T, S>(
    known: &mut BTreeMap<usize, u32>,
    table: &mut Vec<S>,
    value: &T,
    save: impl FnOnce(&T) -> S,
) -> u32 {
    *known
        .entry(std::ptr::from_ref(value).addr())
        .or_insert_with(|| {
            table.push(save(value));
            table.len() as u32 - 1
        })
}

fn invalid(what: &'static str, index: usize, why: &str) -> RestoreError {
    let why = why.to_owned();
    RestoreError::Invalid { what, index, why }
}

impl SavedShape {
    fn restore(
        &self,
        index: usize,
        fields: &[Arc<StoredField>],
        shells: &[Arc<PointShell>],
        earlier: &[FieldShape],
        named: &dyn Fn(&str) -> Option<FieldShape>,
    ) -> Result<FieldShape, RestoreError> {
        let wrong = |why: &str| invalid("shape", index, why);
        let error = |error| RestoreError::Shape { index, error };
        let Some(shell) = shells.get(self.shell as usize) else {
            return Err(wrong("there is no shell of its number"));
        };
        let mut scaled_from = None;
        let shape = match &self.made_of {
            MadeOf::Named(name) => {
                let shape = named(name).ok_or_else(|| RestoreError::UnknownName(name.clone()))?;
                return match self.is(&shape, shell) {
                    true => Ok(shape.named(name.clone())),
                    false => Err(RestoreError::OtherShape(name.clone())),
                };
            }
            &MadeOf::Stored(place, with_octree) => {
                let Some(field) = fields.get(place as usize) else {
                    return Err(wrong("there is no field of its number"));
                };
                let shape = Shape::stored(Arc::clone(field));
                match with_octree {
                    true => shape.with_octree(Arc::new(FieldOctree::build(field))),
                    false => shape,
                }
            }
            MadeOf::Closed(recipe) => {
                let field = recipe
                    .build()
                    .map_err(|parameter| error(parameter.into()))?;
                Shape::new(field)
            }
            MadeOf::Convex(convex) => {
                let convex = convex.restore().map_err(|why| wrong(&why))?;
                Shape::convex(convex).map_err(|parameter| error(parameter.into()))?
            }
            &MadeOf::Scaled(place, scale) => {
                let Some(original) = earlier.get(place as usize) else {
                    return Err(wrong("the shape that it is scaled from is not before it"));
                };
                scaled_from = Some((original.clone(), scale));
                let field = SharedField(original.shape().clone());
                let field = Transformed::new(field, Pose::IDENTITY, scale)
                    .map_err(|parameter| error(parameter.into()))?;
                Shape::new(field)
            }
        };
        let mass = self.mass.restore();
        let made = FieldShape::from_parts(shape, Arc::clone(shell), mass).map_err(error)?;
        let [wall, deepest] = self.thickness;
        Ok(FieldShape {
            body: Arc::new(Body {
                shape: made.body.shape.clone(),
                mass,
                thickness: Thickness { wall, deepest },
                name: None,
                scaled_from,
            }),
        })
    }

    /// Returns whether a shape matches the saved one in all that is stored: shell, mass and
    /// thickness.
    fn is(&self, shape: &FieldShape, shell: &PointShell) -> bool {
        let Thickness { wall, deepest } = shape.body.thickness;
        shape.shape().shell() == Some(shell)
            && SavedMass::of(shape.mass()) == self.mass
            && [wall, deepest] == self.thickness
    }
}

impl Placed {
    /// Builds the shape of a collider from the table of shapes.
    pub(super) fn shape(
        self,
        shapes: &[FieldShape],
        collider: usize,
    ) -> Result<SharedShape, RestoreError> {
        let field = |place: u32| match shapes.get(place as usize) {
            Some(shape) => Ok(shape.shared()),
            None => Err(invalid("collider", collider, "no shape has its number")),
        };
        let children = match self {
            Placed::Field(place) => return field(place),
            Placed::Compound(children) => children,
        };
        let mut parts = Vec::with_capacity(children.len());
        for (pose, child) in children {
            let shape = match child {
                Child::Field(place) => field(place)?,
                Child::Rapier(shape) => shape,
            };
            if shape.as_composite_shape().is_some() {
                return Err(invalid("collider", collider, "a compound in a compound"));
            }
            parts.push((pose, shape));
        }
        if parts.is_empty() {
            return Err(invalid("collider", collider, "a compound without parts"));
        }
        Ok(SharedShape::compound(parts))
    }
}

impl SavedMass {
    fn of(mass: &MassProperties) -> SavedMass {
        SavedMass {
            volume: mass.volume,
            center: mass.center.to_array(),
            inertia: mass.inertia.to_cols_array(),
        }
    }

    fn restore(self) -> MassProperties {
        MassProperties {
            volume: self.volume,
            center: DVec3::from_array(self.center),
            inertia: DMat3::from_cols_array(&self.inertia),
        }
    }
}

impl SavedConvex {
    fn of(convex: &Convex) -> Result<SavedConvex, &'static str> {
        let core = match convex.core() {
            Core::Point => SavedCore::Point,
            Core::Segment { half_length } => SavedCore::Segment(*half_length),
            Core::Cuboid { half_extents } => SavedCore::Cuboid(half_extents.to_array()),
            Core::Cylinder {
                half_height,
                radius,
            } => SavedCore::Cylinder([*half_height, *radius]),
            Core::Cone {
                half_height,
                base_radius,
            } => SavedCore::Cone([*half_height, *base_radius]),
            Core::Ellipsoid { half_extents } => SavedCore::Ellipsoid(half_extents.to_array()),
            Core::Hull(hull) => {
                let corners = hull.vertices();
                // Corners that nearly coincide could produce another hull.
                if ConvexHull::new(corners).ok().as_ref() != Some(&**hull) {
                    return Err("a hull that its corners alone do not make again");
                }
                SavedCore::Hull(corners.iter().map(|corner| corner.to_array()).collect())
            }
        };
        let radius = convex.radius();
        Ok(SavedConvex { core, radius })
    }

    fn restore(&self) -> Result<Convex, String> {
        let convex = match &self.core {
            SavedCore::Point => return Convex::sphere(self.radius).map_err(text),
            &SavedCore::Segment(half_length) => {
                return Convex::capsule(half_length, self.radius).map_err(text);
            }
            &SavedCore::Cuboid(half) => Convex::cuboid(Vec3::from_array(half)),
            &SavedCore::Cylinder([half_height, radius]) => Convex::cylinder(half_height, radius),
            &SavedCore::Cone([half_height, radius]) => Convex::cone(half_height, radius),
            &SavedCore::Ellipsoid(half) => Convex::ellipsoid(Vec3::from_array(half)),
            SavedCore::Hull(corners) => {
                let corners: Vec<Vec3> = corners.iter().copied().map(Vec3::from_array).collect();
                Ok(Convex::hull(Arc::new(
                    ConvexHull::new(&corners).map_err(text)?,
                )))
            }
        };
        let convex = convex.map_err(text)?;
        match self.radius {
            0.0 => Ok(convex),
            radius => convex.rounded(radius).map_err(text),
        }
    }
}

fn text(error: impl std::error::Error) -> String {
    error.to_string()
}

impl SavedShell {
    fn of(shell: &PointShell) -> SavedShell {
        let tree = shell.tree();
        let coordinates = |points: &[Vec3]| {
            let numbers = points.iter().flat_map(|point| point.to_array());
            Bytes(numbers.flat_map(f32::to_le_bytes).collect())
        };
        let sphere = |node: &SphereNode| [node.center.x, node.center.y, node.center.z, node.radius];
        let range = |node: &SphereNode| {
            [
                node.first_point,
                node.point_count,
                node.first_child,
                node.child_count,
                node.representative,
            ]
        };
        let spheres = tree.nodes().iter().flat_map(sphere);
        let ranges = tree.nodes().iter().flat_map(range);
        let mut levels = vec![0];
        for level in 0..tree.level_count() {
            levels.push(levels[level] + tree.level(level).len() as u32);
        }
        SavedShell {
            points: coordinates(shell.points()),
            normals: coordinates(shell.normals()),
            covering_radius: shell.covering_radius(),
            spheres: Bytes(spheres.flat_map(f32::to_le_bytes).collect()),
            ranges: Bytes(ranges.flat_map(u32::to_le_bytes).collect()),
            levels,
            areas: Bytes(
                (shell.areas().iter())
                    .flat_map(|area| area.to_le_bytes())
                    .collect(),
            ),
        }
    }

    fn restore(&self) -> Result<PointShell, String> {
        let points = self.points.numbers(f32::from_le_bytes)?;
        let normals = self.normals.numbers(f32::from_le_bytes)?;
        let spheres: Vec<[f32; 4]> = self.spheres.numbers(f32::from_le_bytes)?;
        let ranges: Vec<[u32; 5]> = self.ranges.numbers(u32::from_le_bytes)?;
        if spheres.len() != ranges.len() {
            return Err(format!(
                "{} spheres, but {} ranges",
                spheres.len(),
                ranges.len()
            ));
        }
        let nodes = spheres.into_iter().zip(ranges).map(|(sphere, range)| {
            let [x, y, z, radius] = sphere;
            let [
                first_point,
                point_count,
                first_child,
                child_count,
                representative,
            ] = range;
            SphereNode {
                center: Vec3::new(x, y, z),
                radius,
                first_point,
                point_count,
                first_child,
                child_count,
                representative,
            }
        });
        let tree = SphereTree::new(nodes.collect(), self.levels.clone());
        let vectors = |rows: Vec<[f32; 3]>| rows.into_iter().map(Vec3::from_array).collect();
        let shell = PointShell::new(
            vectors(points),
            vectors(normals),
            self.covering_radius,
            tree,
        )
        .map_err(text)?;
        let areas: Vec<[f32; 1]> = self.areas.numbers(f32::from_le_bytes)?;
        match areas.is_empty() {
            true => Ok(shell),
            false => shell
                .with_areas(areas.into_iter().flatten().collect())
                .map_err(text),
        }
    }
}

/// Bytes that serialisation formats write as bytes rather than as a list of numbers.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    /// Splits the bytes into rows of `N` four-byte numbers.
    fn numbers<T, const N: usize>(&self, number: fn([u8; 4]) -> T) -> Result<Vec<[T; N]>, String> {
        let (words, rest) = self.0.as_chunks::<4>();
        let mut rows = Vec::with_capacity(words.len() / N);
        let mut chunks = words.chunks_exact(N);
        for row in &mut chunks {
            rows.push(std::array::from_fn(|column| number(row[column])));
        }
        match rest.is_empty() && chunks.remainder().is_empty() {
            true => Ok(rows),
            false => Err(format!("{} bytes are no rows of {N} numbers", self.0.len())),
        }
    }
}

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_byte_buf<E: serde::de::Error>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }

            /// Text formats have no byte type and deliver a list.
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<Bytes, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = list.next_element()? {
                    bytes.push(byte);
                }
                Ok(Bytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Visitor)
    }
}
