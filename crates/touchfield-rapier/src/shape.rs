//! The shape of a collider, backed by a field.
//!
//! Input: a mesh, a baked field, a closed form, CSG or a closure. Output: a [`FieldShape`], cheap
//! to clone, for `ColliderBuilder::new`.
//! Cost: a bake for a mesh, seconds at most by default; cloning shares everything. Not for:
//! infinite solids, such as half-spaces.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::tuning::shape::LEAST_THICKNESS;
use rapier::geometry::SharedShape;
use touchfield::bake::BakeSettings;
use touchfield::bake::pointshell::{
    ShellBakeError, ShellDensity, ShellSettings, extreme_points, shell_of_field, shell_of_points,
    shell_of_points_with_areas,
};
use touchfield::field::{Field, ParameterError, Provenance, StoredField, Transformed};
use touchfield::geom::Pose;
use touchfield::mass::{MassError, MassProperties};
use touchfield::mesh::TriangleMesh;
use touchfield::open::{
    MadeShape, OpenError, ShapeError, ShapeSettings, ShellChoice, is_baked, mass_of_field,
};
use touchfield::pointshell::PointShell;
use touchfield::shape::convex::support_points;
use touchfield::shape::{Convex, Shape, Thickness};

/// Resolution of a collider: `Settings { resolution: …, ..Default::default() }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Number of grid nodes along the longest side of a mesh. A cell should be no larger than the
    /// smallest gap that matters.
    pub resolution: u32,
    /// Approximate number of points on the surface, with which the body touches others.
    pub points: u32,
    /// Memory limit of a bake \[bytes\]; a bake that would exceed it is refused.
    pub max_memory: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            resolution: 96,
            points: 4_000,
            max_memory: 2 << 30,
        }
    }
}

impl Settings {
    /// Returns the library's shape settings with these numbers.
    fn of_shape(self) -> ShapeSettings {
        let settings = ShapeSettings::with_nodes(self.resolution);
        ShapeSettings {
            bake: BakeSettings {
                max_memory: self.max_memory,
                ..settings.bake
            },
            shell: ShellChoice::Density(ShellDensity::Points(self.points)),
            ..settings
        }
    }
}

/// Why a shape cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum FieldShapeError {
    /// The mesh cannot be turned into a shape.
    #[error("the mesh cannot be used: {0}")]
    Mesh(#[from] ShapeError),
    /// No points can be placed on the surface.
    #[error("no points can be put on the surface: {0}")]
    Shell(#[from] ShellBakeError),
    /// The solid has no mass.
    #[error("the solid has no mass: {0}")]
    Mass(#[from] MassError),
    /// The file cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The mesh lies where the `f32` of a world cannot resolve it.
    #[error(
        "the mesh is too far from its origin for f32; subtract {:?} from its vertices, and add as much to where the body is",
        .origin.to_array()
    )]
    FarFromOrigin {
        /// A point near the middle of the mesh \[m\].
        origin: glam::DVec3,
    },
    /// A parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The solid is infinite or has no inside.
    #[error(
        "the solid lies in a box from {:?} to {:?}; a collider needs a finite one (Rapier's half-space is a plane without end)",
        .0.min.to_array(), .0.max.to_array()
    )]
    Unbounded(touchfield::geom::Aabb),
}

/// Refuses a field in a frame of its own: the collider would be elsewhere than its mesh.
fn near_origin(provenance: &Provenance) -> Result<(), FieldShapeError> {
    match provenance.origin == glam::DVec3::ZERO {
        true => Ok(()),
        false => Err(FieldShapeError::FarFromOrigin {
            origin: provenance.origin,
        }),
    }
}

/// The shape of a collider: a signed distance field with points on its surface. Clones share all of
/// it.
///
/// ```
/// use touchfield::mesh::generate;
/// use touchfield_rapier::rapier::prelude::*;
/// use touchfield_rapier::{FieldShape, Settings};
///
/// let ring = generate::torus(generate::Torus {
///     major_radius: 0.4,
///     minor_radius: 0.1,
///     ..Default::default()
/// })?;
/// let ring = FieldShape::from_mesh(&ring, Settings { resolution: 32, ..Default::default() })?;
/// let collider = ColliderBuilder::new(ring.shared()).density(1000.0).build();
/// assert!((collider.mass() / 78.9 - 1.0).abs() < 0.05, "2 π² R r² is 0.0790 m³");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FieldShape {
    pub(crate) body: Arc<Body>,
}

/// Data shared by all clones.
pub(crate) struct Body {
    pub(crate) shape: Shape,
    /// Mass properties for a density of one.
    pub(crate) mass: MassProperties,
    pub(crate) thickness: Thickness,
    /// The name under which the shape is saved if it cannot be written as numbers.
    #[cfg_attr(
        not(feature = "serde"),
        allow(dead_code, reason = "only files want it")
    )]
    pub(crate) name: Option<String>,
    /// The original shape and the factor it was scaled by.
    #[cfg_attr(
        not(feature = "serde"),
        allow(dead_code, reason = "only files want it")
    )]
    pub(crate) scaled_from: Option<(FieldShape, f32)>,
}

impl FieldShape {
    /// Opens a mesh file in metres or a baked `.tfs` file. The shell and the faces of a baked file
    /// are used if it holds them.
    pub fn open(path: impl AsRef<Path>, settings: Settings) -> Result<Self, FieldShapeError> {
        let path = path.as_ref();
        let settings_of_file = match is_baked(path) {
            // A shell built here also has the extreme points.
            true => ShapeSettings {
                shell: ShellChoice::None,
                ..settings.of_shape()
            },
            false => settings.of_shape(),
        };
        let made = Shape::open_with(path, &settings_of_file)?;
        near_origin(&made.report.provenance)?;
        match (made.shape.shell(), made.shape.stored_pointer()) {
            (None, Some(field)) => FieldShape::from_stored(field, settings),
            _ => FieldShape::from_made(&made),
        }
    }

    /// Builds a collider's shape from a triangle mesh \[m\].
    pub fn from_mesh(mesh: &TriangleMesh, settings: Settings) -> Result<Self, FieldShapeError> {
        let go_on = |_| ControlFlow::Continue(());
        FieldShape::from_made(&MadeShape::from_mesh(mesh, &settings.of_shape(), &go_on)?)
    }

    /// Builds a collider's shape from a [`MadeShape`]. Its faces give the thickness of the walls,
    /// whatever the grid; contacts do not use them.
    fn from_made(made: &MadeShape) -> Result<Self, FieldShapeError> {
        near_origin(&made.report.provenance)?;
        let (mass, thickness) = (made.mass()?, made.shape.thickness());
        let shape = finite(made.shape.clone().without_surface())?;
        Ok(FieldShape::from_measured(shape, mass, thickness))
    }

    /// Builds a collider's shape from a baked field in memory.
    pub fn from_stored(
        field: Arc<StoredField>,
        settings: Settings,
    ) -> Result<Self, FieldShapeError> {
        let cell_size = field.finest_cell_size();
        let shell = field_shell(&*field, cell_size, &settings)?;
        let mass = mass_of_field(&*field)?;
        FieldShape::from_parts(Shape::stored(field), Arc::new(shell), mass)
    }

    /// Builds a collider's shape from a closed form, CSG, or a closure of yours.
    pub fn from_field(
        field: impl Field + 'static,
        settings: Settings,
    ) -> Result<Self, FieldShapeError> {
        let bounds = field.bounds();
        if !bounds.is_finite() || bounds.is_empty() {
            return Err(FieldShapeError::Unbounded(bounds));
        }
        let cell_size = bounds.extents().max_element() / settings.resolution.max(1) as f32;
        let shell = field_shell(&field, cell_size, &settings)?;
        let mass = mass_of_field(&field)?;
        FieldShape::from_parts(Shape::new(field), Arc::new(shell), mass)
    }

    /// Builds a collider's shape from a convex body. Its contacts with other convex bodies,
    /// including Rapier's own, are exact.
    pub fn from_convex(convex: Convex) -> Result<Self, FieldShapeError> {
        let shape = Shape::convex(convex)?;
        let mass = mass_of_field(shape.field())?;
        let shell = Arc::new(convex_shell(&shape)?);
        FieldShape::from_parts(shape, shell, mass)
    }

    /// Builds a collider's shape from a [`Shape`], points on its surface, and its mass properties
    /// for a density of one.
    pub fn from_parts(
        shape: Shape,
        shell: Arc<PointShell>,
        mass: MassProperties,
    ) -> Result<Self, FieldShapeError> {
        let solid = shape.solid();
        if !solid.is_finite() || solid.is_empty() {
            return Err(FieldShapeError::Unbounded(solid));
        }
        let shape = finite(shape)?.with_shell(shell);
        let thickness = shape.thickness();
        Ok(FieldShape::from_measured(shape, mass, thickness))
    }

    /// Builds a collider's shape from a shape with a shell, whose thickness is known.
    fn from_measured(shape: Shape, mass: MassProperties, thickness: Thickness) -> FieldShape {
        // Never zero: a body without thickness is swept at every step and never stops.
        let least = LEAST_THICKNESS * shape.solid().diagonal();
        FieldShape {
            body: Arc::new(Body {
                shape,
                mass,
                thickness: Thickness {
                    wall: thickness.wall.max(least),
                    deepest: thickness.deepest.max(0.5 * least),
                },
                name: None,
                scaled_from: None,
            }),
        }
    }

    /// Returns the same solid, scaled about the origin of its frame.
    pub fn scaled(&self, scale: f32) -> Result<Self, FieldShapeError> {
        let shape = &self.body.shape;
        let field = SharedField(shape.clone());
        let field = Transformed::new(field, Pose::IDENTITY, scale)?;
        let scaled = Shape::new(field);
        let shell = match shape.shell() {
            Some(shell) => scaled_shell(shell, scale)?,
            None => convex_shell(&scaled)?,
        };
        let factor = f64::from(scale);
        let mass = MassProperties {
            volume: self.body.mass.volume * factor.powi(3),
            center: self.body.mass.center * factor,
            inertia: self.body.mass.inertia * factor.powi(5),
        };
        let made = FieldShape::from_parts(scaled, Arc::new(shell), mass)?;
        Ok(made.changed(|body| body.scaled_from = Some((self.clone(), scale))))
    }

    /// Returns the shape with a name under which saved worlds refer to it. A shape made of a
    /// closure can be saved only by name.
    pub fn named(&self, name: impl Into<String>) -> FieldShape {
        self.changed(|body| body.name = Some(name.into()))
    }

    /// Returns the shape with one change to its data.
    fn changed(&self, change: impl FnOnce(&mut Body)) -> FieldShape {
        let body = &*self.body;
        let mut changed = Body {
            shape: body.shape.clone(),
            mass: body.mass,
            thickness: body.thickness,
            name: None,
            scaled_from: body.scaled_from.clone(),
        };
        change(&mut changed);
        FieldShape {
            body: Arc::new(changed),
        }
    }

    /// Returns the shape for `ColliderBuilder::new`.
    pub fn shared(&self) -> SharedShape {
        SharedShape::new(self.clone())
    }

    /// Returns the shape that contact queries use.
    pub fn shape(&self) -> &Shape {
        &self.body.shape
    }

    /// Returns volume, centre and inertia for a density of one.
    pub fn mass(&self) -> &MassProperties {
        &self.body.mass
    }

    /// Returns the depth up to which the field stores distances \[m\], if that is limited: sparse
    /// fields end at a narrow band.
    pub fn band(&self) -> Option<f32> {
        match self.body.shape.as_stored()? {
            StoredField::Sparse(_) => Some(self.body.thickness.deepest),
            _ => None,
        }
    }

    /// Returns the shape with another thickness \[m\]: Rapier sweeps it whenever it moves farther
    /// than that in a step. Use it for bodies that may meet others thinner than themselves.
    pub fn with_thickness(&self, thickness: f32) -> FieldShape {
        let least = 1e-6 * self.body.shape.solid().diagonal();
        self.changed(|body| body.thickness.wall = thickness.clamp(least, f32::MAX))
    }

    /// Returns the thickness of the body's thinner parts \[m\]: a body that moves farther in a step
    /// is swept.
    pub fn thickness(&self) -> f32 {
        self.body.thickness.wall
    }
}

impl std::fmt::Debug for FieldShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FieldShape")
            .field("shape", &self.body.shape)
            .field("thickness", &self.body.thickness)
            .finish()
    }
}

impl From<FieldShape> for SharedShape {
    fn from(shape: FieldShape) -> SharedShape {
        shape.shared()
    }
}

/// The field of a shape, sharing ownership of it.
pub(crate) struct SharedField(pub(crate) Shape);

impl Field for SharedField {
    fn bounds(&self) -> touchfield::geom::Aabb {
        self.0.field().bounds()
    }
    fn error_bound(&self) -> f32 {
        self.0.field().error_bound()
    }
    fn meaning(&self) -> touchfield::field::Meaning {
        self.0.field().meaning()
    }
    fn distance(&self, point: glam::Vec3) -> f32 {
        self.0.field().distance(point)
    }
    fn sample(&self, point: glam::Vec3) -> touchfield::field::Sample {
        self.0.field().sample(point)
    }
    fn distance_many(&self, points: &[glam::Vec3], out: &mut Vec<f32>) {
        self.0.field().distance_many(points, out)
    }
    fn sample_many(&self, points: &[glam::Vec3], out: &mut Vec<touchfield::field::Sample>) {
        self.0.field().sample_many(points, out)
    }
    fn interval(&self, cell: touchfield::geom::Aabb) -> touchfield::geom::Interval {
        self.0.field().interval(cell)
    }
    fn lower_plane(&self, cell: touchfield::geom::Aabb) -> Option<touchfield::field::LowerPlane> {
        self.0.field().lower_plane(cell)
    }
}

fn finite(shape: Shape) -> Result<Shape, FieldShapeError> {
    let solid = shape.solid();
    if !solid.is_finite() || solid.is_empty() {
        return Err(FieldShapeError::Unbounded(solid));
    }
    Ok(shape)
}

fn points_of(settings: &Settings) -> ShellSettings {
    ShellSettings {
        density: ShellDensity::Points(settings.points),
        ..Default::default()
    }
}

/// Builds a shell of points spread over the surface of a field, plus its extreme points.
fn field_shell(
    field: &dyn Field,
    cell_size: f32,
    settings: &Settings,
) -> Result<PointShell, ShellBakeError> {
    let spread = shell_of_field(field, cell_size, &points_of(settings))?;
    let (mut points, mut normals) = extreme_points(field, &spread);
    points.extend_from_slice(spread.points());
    normals.extend_from_slice(spread.normals());
    // The extreme points are added to a surface that the others represent.
    let mut areas = vec![0.0; points.len() - spread.points().len()];
    areas.extend_from_slice(spread.areas());
    let radius = spread.covering_radius();
    let settings = ShellSettings::default();
    shell_of_points_with_areas(&points, &normals, &areas, radius, &settings)
}

/// Builds a shell of the points of a convex body that lie farthest along many directions, plus some
/// along its straight edges: its corners, edges and round parts. Flat faces are left to the points
/// of whatever touches them.
pub(crate) fn convex_shell(shape: &Shape) -> Result<PointShell, ShellBakeError> {
    let center = shape.solid().center();
    let (points, normals) = match shape.as_convex() {
        Some(convex) => support_points(convex, center),
        // A field that is not convex here gets one placeholder point; the points of other bodies
        // sample it.
        None => (vec![center], vec![glam::Vec3::Z]),
    };
    // The covering radius is promised for the whole body: what lies between the points is left to
    // the other body's points.
    let radius = shape.solid().diagonal();
    shell_of_points(&points, &normals, radius, &ShellSettings::default())
}

/// Builds a shell scaled with its solid.
fn scaled_shell(shell: &PointShell, scale: f32) -> Result<PointShell, ShellBakeError> {
    let points: Vec<_> = shell.points().iter().map(|&point| scale * point).collect();
    let areas: Vec<_> = (shell.areas().iter())
        .map(|&area| scale * scale * area)
        .collect();
    let radius = scale * shell.covering_radius();
    let settings = ShellSettings::default();
    shell_of_points_with_areas(&points, shell.normals(), &areas, radius, &settings)
}
