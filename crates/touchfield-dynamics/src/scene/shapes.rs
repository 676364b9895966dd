//! Geometry of the bodies of a scene.
//!
//! Input: a [`BodyShape`].
//! Output: [`Made`]: the geometry for contacts, its mass, and a mesh to draw.
//! Cost: microseconds for closed forms; a bake for a mesh that is not convex.
//! Not for: poses and materials.
//!
//! A closed mesh whose convex hull has its volume becomes that hull, because contacts between
//! convex bodies are exact.

use std::sync::Arc;

use glam::DVec3;
use touchfield::Shape;
use touchfield::bake::pointshell::{
    ShellDensity, ShellSampling, ShellSettings, shell_of_field, shell_of_mesh,
};
use touchfield::bake::{
    BakeError, BakeSettings, FieldBakeError, FieldKind, IsosurfaceSettings, Progress, Resolution,
    SparseGoal, SparseSettings, VoxmapSettings, bake_field, frame_origin, hull_of_mesh, isosurface,
};
use touchfield::field::primitive::Torus;
use touchfield::mass::MassProperties;
use touchfield::mesh::read::{Limits, read_file};
use touchfield::mesh::{TriangleMesh, Units, generate};
use touchfield::open::{MadeShape, OpenError, ShapeError, ShapeSettings, ShellChoice, is_baked};
use touchfield::pointshell::PointShell;
use touchfield::shape::{Convex, ConvexHull};

use crate::body::Geometry;
use crate::scene::error::Problem;
use crate::scene::mass::mass_of;
use crate::scene::settings::{BodyShape, FieldName, MeshShape, Source};

/// How a body is drawn.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Surface in the frame of the body's geometry \[m\].
    pub mesh: TriangleMesh,
}

/// A shape that is ready for contacts. Bodies of one shape share it.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) geometry: Geometry,
    /// For unit density; `None` for half-spaces and surfaces that enclose nothing.
    pub(super) mass: Option<MassProperties>,
    /// Why there is no mass.
    pub(super) massless: String,
    /// Origin of the geometry's frame in the frame of the shape \[m\]. Not zero for meshes far
    /// from the origin of their coordinates.
    pub(super) origin: DVec3,
    pub(super) drawn: Option<Arc<Drawn>>,
}

fn fault(message: impl std::fmt::Display) -> Problem {
    Problem::Shape {
        message: message.to_string(),
        is_limit: false,
    }
}

/// Makes a shape. `with_shell` adds points on the surface to bodies that need none for impulses.
pub(super) fn make(
    shape: &BodyShape,
    with_shell: bool,
    progress: Progress<'_>,
) -> Result<Made, Problem> {
    let mass = mass_of(shape);
    let convex = |convex: Result<Convex, _>, drawn: Drawn| {
        let shape = Shape::convex(convex.map_err(fault)?).map_err(fault)?;
        let shape = match with_shell {
            true => add_shell(shape, Some(&drawn.mesh))?,
            false => shape,
        };
        Ok::<_, Problem>((Geometry::from(shape), Some(drawn)))
    };
    let drawn = |mesh: Result<TriangleMesh, generate::GenerateError>| {
        let mesh = mesh.map_err(fault)?;
        Ok::<_, Problem>(Drawn { mesh })
    };
    let (geometry, drawn) = match *shape {
        BodyShape::Sphere { radius } => {
            let mesh = generate::icosphere(generate::Icosphere { radius, level: 4 });
            convex(Convex::sphere(radius as f32), drawn(mesh)?)?
        }
        BodyShape::Box { half } => {
            let mesh = generate::cuboid(generate::Cuboid {
                half_extents: half,
                subdivisions: [1; 3],
            });
            convex(Convex::cuboid(half.as_vec3()), drawn(mesh)?)?
        }
        BodyShape::Capsule {
            radius,
            half_length,
        } => {
            let mesh = generate::capsule(generate::Capsule {
                radius,
                length: 2.0 * half_length,
                ..generate::Capsule::default()
            });
            let mesh = mesh.map(about_its_middle);
            convex(
                Convex::capsule(half_length as f32, radius as f32),
                drawn(mesh)?,
            )?
        }
        BodyShape::Cylinder {
            radius,
            half_height,
        } => {
            let mesh = generate::cylinder(generate::Cylinder {
                bottom_radius: radius,
                top_radius: radius,
                height: 2.0 * half_height,
                segments: 128,
                rows: 1,
            });
            let mesh = mesh.map(about_its_middle);
            convex(
                Convex::cylinder(half_height as f32, radius as f32),
                drawn(mesh)?,
            )?
        }
        BodyShape::Torus { major, minor } => {
            let mesh = generate::torus(generate::Torus {
                major_radius: major,
                minor_radius: minor,
                ..generate::Torus::default()
            });
            let field = Torus::new(major as f32, minor as f32).map_err(fault)?;
            let shape = add_shell(Shape::new(field), None)?;
            (Geometry::from(shape), Some(drawn(mesh)?))
        }
        BodyShape::HalfSpace { normal } => {
            let geometry = Geometry::half_space(normal.as_vec3()).map_err(fault)?;
            (geometry, None)
        }
        BodyShape::Mesh(ref mesh) => return make_mesh(mesh, with_shell, progress),
    };
    Ok(Made {
        geometry,
        mass,
        massless: "a half-space has no end".to_owned(),
        origin: DVec3::ZERO,
        drawn: drawn.map(Arc::new),
    })
}

/// Moves a mesh so that the middle of its box is the origin.
fn about_its_middle(mut mesh: TriangleMesh) -> TriangleMesh {
    let middle = mesh.bounds().center();
    mesh.move_to_frame_at(middle);
    mesh
}

/// Shell points along the diagonal of a mesh body, at most.
const MOST_SPACINGS: f32 = 256.0;

/// Points on the surface of a body for which no density is given.
const SHELL_POINTS: u32 = 10_000;

/// Adds points on the surface: on the faces of `mesh` if there is one, else where the field is 0.
fn add_shell(shape: Shape, mesh: Option<&TriangleMesh>) -> Result<Shape, Problem> {
    let settings = ShellSettings {
        density: ShellDensity::Points(SHELL_POINTS),
        sampling: match mesh {
            // Corners touch first.
            Some(mesh) if mesh.vertices.len() <= SHELL_POINTS as usize => ShellSampling::Vertices,
            _ => ShellSampling::PoissonDisk,
        },
        ..ShellSettings::default()
    };
    let shell: Result<PointShell, _> = match mesh {
        Some(mesh) => shell_of_mesh(mesh, shape.field(), &settings),
        None => {
            let extents = shape.solid().extents();
            let longest = extents.max_element();
            // A few cells across the thinnest part, within a grid of sensible size.
            let cell = (extents.min_element() / 12.0).clamp(longest / 256.0, longest / 64.0);
            shell_of_field(shape.field(), cell, &settings)
        }
    };
    let shell = shell.map_err(|error| Problem::Shape {
        is_limit: error.is_limit(),
        message: format!("no points can be put on the surface: {error}"),
    })?;
    Ok(shape.with_shell(Arc::new(shell)))
}

fn make_mesh(shape: &MeshShape, with_shell: bool, progress: Progress<'_>) -> Result<Made, Problem> {
    if let Source::File(path) = &shape.source
        && is_baked(path)
    {
        return open_baked(shape, path);
    }
    let mut mesh = read_mesh(shape)?;
    // The frame of a bake of this many nodes; finer ones are checked again by the bake itself.
    let nodes = f64::from(shape.resolution.unwrap_or(128));
    let bounds = mesh.bounds();
    let origin = frame_origin(bounds, bounds.extents().max_element() / nodes);
    if origin != DVec3::ZERO {
        mesh.move_to_frame_at(origin);
    }
    // A field that is named is wanted.
    let hull = match shape.field {
        None => hull_of_convex(&mesh),
        Some(_) => None,
    };
    let (geometry, mass, massless) = match hull {
        Some((hull, mass)) => {
            let convex = Shape::convex(Convex::hull(Arc::new(hull))).map_err(fault)?;
            let convex = match with_shell {
                true => add_shell(convex, Some(&mesh))?,
                false => convex,
            };
            (Geometry::from(convex), Some(mass), String::new())
        }
        None => {
            let made = bake(shape, &mesh, progress)?;
            let (mass, massless) = mass_or_why(&made);
            (Geometry::from(made.shape), mass, massless)
        }
    };
    Ok(Made {
        geometry,
        mass,
        massless,
        origin,
        drawn: Some(Arc::new(Drawn { mesh })),
    })
}

fn mass_or_why(made: &MadeShape) -> (Option<MassProperties>, String) {
    match made.mass() {
        Ok(mass) if mass.volume > 0.0 => (Some(mass), String::new()),
        Ok(mass) => (None, format!("it holds {} m³", mass.volume)),
        Err(error) => (None, error.to_string()),
    }
}

fn read_mesh(shape: &MeshShape) -> Result<TriangleMesh, Problem> {
    let mut mesh = match &shape.source {
        Source::File(path) => {
            read_file(path, &Limits::default()).map_err(|error| Problem::Shape {
                is_limit: error.is_limit(),
                message: error.to_string(),
            })?
        }
        Source::Model(name) => {
            let catalogue = generate::catalogue();
            let model = catalogue.iter().find(|model| model.name == name);
            let model = model.ok_or_else(|| fault(format!("there is no model `{name}`")))?;
            model.mesh().map_err(fault)?
        }
    };
    let factor = shape.units.metres() * shape.scale;
    if factor != DVec3::ONE {
        for vertex in &mut mesh.vertices {
            *vertex *= factor;
        }
    }
    Ok(mesh)
}

fn bake(
    shape: &MeshShape,
    mesh: &TriangleMesh,
    progress: Progress<'_>,
) -> Result<MadeShape, Problem> {
    let mut settings = BakeSettings::default();
    if let Some(nodes) = shape.resolution {
        settings.resolution = Resolution::Nodes(nodes);
    }
    let sparse = |tolerance: Option<f64>| {
        FieldKind::Sparse(SparseSettings {
            goal: tolerance.map_or(SparseSettings::default().goal, SparseGoal::Tolerance),
            ..SparseSettings::default()
        })
    };
    let kind = match (shape.field, shape.tolerance) {
        (None, None) | (Some(FieldName::Dense), _) => FieldKind::Dense,
        (Some(FieldName::Taylor), _) => FieldKind::Taylor,
        (Some(FieldName::Sparse), tolerance) => sparse(tolerance),
        (None, tolerance) => sparse(tolerance),
        (Some(FieldName::Voxmap), _) => FieldKind::Voxmap(VoxmapSettings {
            resolution: settings.resolution,
            ..VoxmapSettings::default()
        }),
    };
    let baked = bake_field(mesh, &settings, &kind, progress).map_err(|error| match error {
        FieldBakeError::Bake(BakeError::Cancelled) => Problem::Cancelled,
        error => Problem::Shape {
            is_limit: error.is_limit(),
            message: error.to_string(),
        },
    })?;
    // Points a cell apart; where cells are fine for the sake of edges, no more than contacts need.
    let finest = mesh.bounds().diagonal() as f32 / MOST_SPACINGS;
    let spacing = baked.field.finest_cell_size().max(finest);
    let made = MadeShape::of_mesh_and_field(
        mesh,
        Arc::new(baked.field),
        baked.provenance,
        &ShapeSettings {
            shell: ShellChoice::Density(ShellDensity::Spacing(spacing)),
            ..ShapeSettings::default()
        },
    );
    made.map_err(|error: ShapeError| Problem::Shape {
        is_limit: error.is_limit(),
        message: error.to_string(),
    })
}

fn open_baked(shape: &MeshShape, path: &std::path::Path) -> Result<Made, Problem> {
    if shape.scale != DVec3::ONE || shape.units != Units::Metres {
        return Err(fault(
            "a baked file is in metres and cannot be scaled; bake the mesh at its true size, or name the mesh here",
        ));
    }
    if shape.field.is_some() || shape.resolution.is_some() || shape.tolerance.is_some() {
        return Err(fault(
            "`field`, `resolution` and `tolerance` are those of the bake; leave them out for a baked file",
        ));
    }
    let made = Shape::open_with(path, &ShapeSettings::default()).map_err(|error| {
        let is_limit = match &error {
            OpenError::Shape { error, .. } => error.is_limit(),
            _ => false,
        };
        Problem::Shape {
            message: error.to_string(),
            is_limit,
        }
    })?;
    let mesh = match made.shape.surface() {
        Some(surface) => TriangleMesh {
            vertices: surface.vertices().iter().map(|v| v.as_dvec3()).collect(),
            faces: surface.triangles().to_vec(),
        },
        None => {
            let settings = IsosurfaceSettings {
                cells: 96,
                ..IsosurfaceSettings::default()
            };
            isosurface(made.shape.field(), 0.0, &settings).map_err(fault)?
        }
    };
    let (mass, massless) = mass_or_why(&made);
    Ok(Made {
        mass,
        massless,
        origin: made.report.provenance.origin,
        geometry: Geometry::from(made.shape),
        drawn: Some(Arc::new(Drawn { mesh })),
    })
}

/// Returns the hull and the mass of a closed mesh that is convex.
fn hull_of_convex(mesh: &TriangleMesh) -> Option<(ConvexHull, MassProperties)> {
    /// Products of vertices and faces beyond which the proof is too slow. Such a mesh is a field.
    const MOST_WORK: usize = 1 << 30;
    /// Share of the diagonal by which corners of the hull are rounded to `f32`, with room.
    const ROUNDING: f64 = 1e-6;
    let mass = MassProperties::of_triangles(mesh.triangles()).ok()?;
    let hull = hull_of_mesh(mesh).ok()?;
    let corner = |index: u32| hull.vertex(index);
    let triangles = hull.triangles();
    let volume: f64 = (triangles.iter())
        .map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c))) / 6.0)
        .sum();
    let size = mesh.bounds().diagonal();
    // Corners that move by their rounding change the volume by as much per area.
    let slack = ROUNDING * size * mesh.area();
    if (volume - mass.volume).abs() > slack
        || mesh.vertices.len().saturating_mul(triangles.len()) > MOST_WORK
    {
        return None;
    }
    // A small dent changes the volume little, but its corners lie inside.
    let planes = triangles.iter().filter_map(|&[a, b, c]| {
        let normal = (corner(b) - corner(a))
            .cross(corner(c) - corner(a))
            .try_normalize()?;
        Some((normal, normal.dot(corner(a))))
    });
    let planes: Vec<(DVec3, f64)> = planes.collect();
    let is_inside = |point: &DVec3| {
        let above = planes
            .iter()
            .map(|(normal, level)| normal.dot(*point) - level);
        above.fold(f64::NEG_INFINITY, f64::max) < -ROUNDING * size
    };
    let mut used = mesh
        .faces
        .iter()
        .flatten()
        .map(|&index| &mesh.vertices[index as usize]);
    (!used.any(is_inside)).then_some((hull, mass))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convex_meshes_are_found_and_dented_ones_are_not() {
        let cuboid = generate::cuboid(generate::Cuboid {
            subdivisions: [4; 3],
            ..generate::Cuboid::default()
        });
        let mut mesh = cuboid.unwrap();
        assert!(hull_of_convex(&mesh).is_some());
        let ball = generate::icosphere(generate::Icosphere::default()).unwrap();
        assert!(hull_of_convex(&ball).is_some());
        // One corner inside a face, moved in by a thousandth of the size.
        let top = mesh.bounds().max.z;
        let on_top = |v: &DVec3| v.z == top && v.x.abs() < 1e-9 && v.y.abs() < 1e-9;
        let middle = mesh.vertices.iter().position(on_top).unwrap();
        mesh.vertices[middle].z -= 1e-4;
        assert!(hull_of_convex(&mesh).is_none());
        let torus = generate::torus(generate::Torus::default()).unwrap();
        assert!(hull_of_convex(&torus).is_none());
    }
}
