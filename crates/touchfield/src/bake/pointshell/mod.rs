//! Bakes pointshells: points on a surface, a proven covering radius, and a tree of spheres over the
//! points.
//!
//! Input: a mesh and the field of the same solid, or a field alone.
//! Output: a [`PointShell`] whose covering radius is proven.
//! Cost: 35,000 points of 70,000 triangles take less than a second of CPU; under 180 bytes per
//! point during the bake, 37 kept.
//! Not for: unbounded surfaces.
//!
//! After \[Sagardia2014\] §2.1.2 (docs/BIBLIOGRAPHY.md). We add the covering radius, which the
//! paper does not have.

mod cluster_chain;
mod cluster_spatial;
mod clusters;
mod cover;
mod cover_field;
mod enclosing_ball;
mod extremes;
mod nearest;
mod sample;
mod settings;
mod spread;
mod tree;

pub use extremes::extreme_points;
pub use settings::{ShellBakeError, ShellDensity, ShellSampling, ShellSettings, TreeBuilder};

use glam::{DVec3, Vec3};

use crate::bake::convert::isosurface::{IsosurfaceSettings, isosurface};
use crate::field::{Field, Sample};
use crate::mesh::{TriangleMesh, without_copies};
use crate::pointshell::{PointShell, ShellError};
use crate::threads;
use cover::largest_coordinate;
use nearest::PointTree;
use spread::{Spread, SurfacePoint};
use tree::rounded_up;

/// Number of points whose normals one thread computes at a time.
const RUN: usize = 1024;

/// Bakes a shell of points on the faces of a mesh, with outward normals from the gradient of a
/// field of the same solid.
///
/// Every point of every face lies within the shell's covering radius of one of its points, which
/// are themselves on faces up to the rounding of `f32`. Where the field has no gradient, the normal
/// is that of the face. The areas of the points sum to the area of the mesh.
///
/// ```
/// use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_mesh};
/// use touchfield::field::primitive::Sphere;
/// use touchfield::mesh::generate;
/// let mesh = generate::icosphere(generate::Icosphere { radius: 1.0, level: 4 })?;
/// let settings = ShellSettings { density: ShellDensity::Spacing(0.1), ..Default::default() };
/// let shell = shell_of_mesh(&mesh, &Sphere::new(1.0)?, &settings)?;
/// assert!(shell.covering_radius() < 0.11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn shell_of_mesh(
    mesh: &TriangleMesh,
    field: &dyn Field,
    settings: &ShellSettings,
) -> Result<PointShell, ShellBakeError> {
    settings.check()?;
    if mesh.faces.is_empty() {
        return Err(ShellBakeError::NoFaces);
    }
    if let Some(face) = mesh.first_invalid_face() {
        return Err(ShellBakeError::InvalidFace { face });
    }
    let few = without_copies(mesh);
    let mesh = few.as_ref().map_or(mesh, |(few, _)| few);
    // Sample the faces, and fill the gaps.
    let spacing = usable_spacing(mesh, settings)?;
    let max_points = settings.max_points as usize;
    let mut spread = sample::sample(mesh, settings.sampling, spacing, max_points)?;
    if settings.fill_gaps || settings.sampling == ShellSampling::PoissonDisk {
        sample::fill(mesh, &mut spread)?;
    }
    let points = spread.into_points();
    let places: Vec<Vec3> = points.iter().map(|point| point.at).collect();
    // There are no points only if no face passes through a voxel, which cannot happen.
    let radius = cover::covering_radius(mesh, &PointTree::new(&places)).unwrap_or(f64::INFINITY);
    let shell = shell(&points, field, radius, settings)?;
    Ok(with_areas_of_mesh(shell, mesh))
}

/// Bakes a shell of points on the surface of a field without a mesh: from its isosurface at cells
/// of this size \[m\], moved onto the field itself.
///
/// Every point of the *true* surface lies within the shell's covering radius of one of its points,
/// whatever the isosurface missed and however large the error of the field. A field with a large
/// error has a large radius. The areas of the points sum to the area of the isosurface.
///
/// ```
/// use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_field};
/// use touchfield::field::primitive::Torus;
/// let settings = ShellSettings { density: ShellDensity::Spacing(0.1), ..Default::default() };
/// let shell = shell_of_field(&Torus::new(1.0, 0.3)?, 0.05, &settings)?;
/// assert!(shell.covering_radius() < 0.13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn shell_of_field(
    field: &dyn Field,
    cell_size: f32,
    settings: &ShellSettings,
) -> Result<PointShell, ShellBakeError> {
    settings.check()?;
    if !(cell_size > 0.0 && cell_size.is_finite()) {
        return Err(ShellBakeError::BadCellSize(cell_size));
    }
    let bounds = field.bounds();
    // An empty AABB has no surface, which the isosurface reports.
    let is_bounded = bounds.is_finite();
    if !is_bounded && !bounds.is_empty() {
        return Err(ShellBakeError::Unbounded(bounds));
    }
    // Includes the cells that the isosurface adds around the AABB.
    let cells = (f64::from(bounds.extents().max_element()) / f64::from(cell_size)).ceil() + 3.0;
    let isosurface_settings = IsosurfaceSettings {
        cells: (cells as u32).max(4),
        ..Default::default()
    };
    let mesh = isosurface(field, 0.0, &isosurface_settings)?;
    // Sample the isosurface.
    let spacing = usable_spacing(&mesh, settings)?;
    let max_points = settings.max_points as usize;
    let mut spread = sample::sample(&mesh, settings.sampling, spacing, max_points)?;
    if settings.sampling == ShellSampling::PoissonDisk {
        sample::fill(&mesh, &mut spread)?;
    }
    let points = spread.into_points();
    // Move the points onto the field, and fill the gaps.
    let tolerance = cover_field::tolerance(field, cell_size.min(spacing as f32));
    let moved = threads::map(points.len(), |index| {
        let at = cover_field::project(field, points[index].at, tolerance)?;
        Some(SurfacePoint {
            at,
            ..points[index]
        })
    });
    let points = moved.into_iter().flatten().collect();
    let mut spread = Spread::new(points, spacing, bounds.min.as_dvec3(), max_points);
    if settings.fill_gaps || settings.sampling == ShellSampling::PoissonDisk {
        cover_field::fill(field, bounds, &mut spread)?;
    }
    let points = spread.into_points();
    let places: Vec<Vec3> = points.iter().map(|point| point.at).collect();
    // Points that keep a spacing, with their gaps filled, are about a spacing from the surface; to
    // prove that it is somewhat less takes most of the time.
    let fineness = match settings.sampling {
        ShellSampling::PoissonDisk => spacing,
        ShellSampling::Voxels { .. } if settings.fill_gaps => spacing,
        _ => 0.25 * spacing.min(cell_size.into()),
    };
    let radius = cover_field::covering_radius(field, bounds, &PointTree::new(&places), fineness);
    // Without points, `shell` returns the error.
    let shell = shell(&points, field, radius.unwrap_or(0.0), settings)?;
    Ok(with_areas_of_mesh(shell, &mesh))
}

/// Builds a shell from given points and outward unit normals. The caller promises that every point
/// of the surface lies within `covering_radius` of one of them \[m\]. The order of the points
/// changes. Their areas are rough estimates, as in [`PointShell::new`].
pub fn shell_of_points(
    points: &[Vec3],
    normals: &[Vec3],
    covering_radius: f32,
    settings: &ShellSettings,
) -> Result<PointShell, ShellBakeError> {
    sorted_shell(points, normals, covering_radius, settings).map(|(shell, _)| shell)
}

/// Builds a shell like [`shell_of_points`], from points whose areas are given \[m²\].
pub fn shell_of_points_with_areas(
    points: &[Vec3],
    normals: &[Vec3],
    areas: &[f32],
    covering_radius: f32,
    settings: &ShellSettings,
) -> Result<PointShell, ShellBakeError> {
    if points.len() != areas.len() {
        return Err(ShellError::WrongAreaCount {
            points: points.len(),
            areas: areas.len(),
        }
        .into());
    }
    let (shell, order) = sorted_shell(points, normals, covering_radius, settings)?;
    let areas = order.iter().map(|&old| areas[old as usize]).collect();
    Ok(shell.with_areas(areas)?)
}

/// Builds the shell of given points, and the order that its tree gives them.
fn sorted_shell(
    points: &[Vec3],
    normals: &[Vec3],
    covering_radius: f32,
    settings: &ShellSettings,
) -> Result<(PointShell, Vec<u32>), ShellBakeError> {
    settings.check()?;
    if points.is_empty() {
        return Err(ShellError::Empty.into());
    }
    if points.len() != normals.len() {
        return Err(ShellError::WrongCount {
            points: points.len(),
            normals: normals.len(),
        }
        .into());
    }
    if let Some(index) = points.iter().position(|point| !point.is_finite()) {
        return Err(ShellError::NotFinite { index }.into());
    }
    let built = build_tree(points, settings);
    let sorted = |of: &[Vec3]| built.order.iter().map(|&old| of[old as usize]).collect();
    let (points, normals) = (sorted(points), sorted(normals));
    let shell = PointShell::new(points, normals, covering_radius, built.tree)?;
    Ok((shell, built.order))
}

/// Returns the shell with the areas that its points represent of the faces of a mesh.
fn with_areas_of_mesh(shell: PointShell, mesh: &TriangleMesh) -> PointShell {
    shell.with_areas_of_each(mesh.faces.len(), |face| mesh.triangle(face))
}

/// Builds the levels of clusters by the method of the settings, and the tree over them.
fn build_tree(places: &[Vec3], settings: &ShellSettings) -> tree::Built {
    let levels = match settings.tree {
        TreeBuilder::Chain => cluster_chain::clusters(places, settings.cluster_size),
        TreeBuilder::Spatial => cluster_spatial::clusters(places, settings.cluster_size),
    };
    tree::assemble(places, &levels)
}

/// Returns the spacing, if `f32` can resolve and represent such points.
fn usable_spacing(mesh: &TriangleMesh, settings: &ShellSettings) -> Result<f64, ShellBakeError> {
    /// Largest coordinate whose differences and squares stay finite in `f32` \[m\].
    const LARGEST: f64 = 1e18;
    let largest = largest_coordinate(mesh);
    if largest > LARGEST {
        return Err(ShellBakeError::TooLarge { largest });
    }
    let spacing = sample::spacing(mesh, settings.density);
    // Eight steps of `f32`: rounded points nearly keep their distance.
    let least = 8.0 * f64::from(f32::EPSILON) * largest;
    if spacing < least {
        return Err(ShellBakeError::TooFine {
            spacing,
            largest,
            least,
        });
    }
    Ok(spacing)
}

/// Builds the shell of points whose covering radius is known.
fn shell(
    points: &[SurfacePoint],
    field: &dyn Field,
    covering_radius: f64,
    settings: &ShellSettings,
) -> Result<PointShell, ShellBakeError> {
    if points.is_empty() {
        return Err(ShellError::Empty.into());
    }
    let places: Vec<Vec3> = points.iter().map(|point| point.at).collect();
    let built = build_tree(&places, settings);
    let sorted: Vec<SurfacePoint> = (built.order.iter())
        .map(|&old| points[old as usize])
        .collect();
    let normals = normals(&sorted, field);
    let places = sorted.iter().map(|point| point.at).collect();
    let shell = PointShell::new(places, normals, rounded_up(covering_radius), built.tree)?;
    Ok(shell)
}

/// Returns outward unit normals: from the gradient, or from the face where there is none.
fn normals(points: &[SurfacePoint], field: &dyn Field) -> Vec<Vec3> {
    let runs = threads::map(points.len().div_ceil(RUN), |run| {
        let points = &points[run * RUN..((run + 1) * RUN).min(points.len())];
        let places: Vec<Vec3> = points.iter().map(|point| point.at).collect();
        let mut samples = Vec::with_capacity(places.len());
        field.sample_many(&places, &mut samples);
        let normal = |(sample, point): (&Sample, &SurfacePoint)| {
            let gradient = sample.gradient.as_dvec3().try_normalize();
            let normal = gradient.or_else(|| point.normal.as_dvec3().try_normalize());
            normal.unwrap_or(DVec3::Z).as_vec3()
        };
        samples.iter().zip(points).map(normal).collect::<Vec<_>>()
    });
    runs.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::primitive::Sphere;
    use crate::field::primitive::Torus;
    use crate::mesh::generate;

    #[cfg(feature = "parallel")]
    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let mesh = generate::torus(generate::Torus::default()).unwrap();
        let ball = Sphere::new(1.0).unwrap();
        let ring = Torus::new(0.5, 0.2).unwrap();
        for tree in [TreeBuilder::Chain, TreeBuilder::Spatial] {
            for sampling in [ShellSampling::PoissonDisk, ShellSampling::Vertices] {
                let settings = ShellSettings {
                    sampling,
                    tree,
                    density: ShellDensity::Points(6000),
                    ..Default::default()
                };
                let make = |threads| {
                    threads::with(threads, || {
                        let of_mesh = shell_of_mesh(&mesh, &ball, &settings).unwrap();
                        (of_mesh, shell_of_field(&ring, 0.05, &settings).unwrap())
                    })
                };
                let one = make(1);
                assert!(one == make(2) && one == make(7), "{tree:?} {sampling:?}");
            }
        }
    }

    /// Points all at one place, on a line, or two far apart: no tree may loop or lose one.
    #[test]
    fn trees_over_degenerate_points() {
        let on = |count: usize, at: &dyn Fn(usize) -> Vec3| -> Vec<SurfacePoint> {
            let point = |i| SurfacePoint {
                at: at(i),
                normal: Vec3::Z,
            };
            (0..count).map(point).collect()
        };
        let sets = [
            on(1, &|_| Vec3::ONE),
            on(2, &|i| Vec3::X * i as f32),
            on(1000, &|_| Vec3::ONE),
            on(1000, &|i| Vec3::X * i as f32),
            on(1000, &|i| Vec3::X * 1.5f32.powi(i as i32 / 8)),
            on(777, &|i| Vec3::new((i % 2) as f32 * 1e6, i as f32, 0.0)),
        ];
        let ball = Sphere::new(1.0).unwrap();
        for points in &sets {
            for tree in [TreeBuilder::Chain, TreeBuilder::Spatial] {
                for cluster_size in [2, 3, 4, 16] {
                    let settings = ShellSettings {
                        tree,
                        cluster_size,
                        ..Default::default()
                    };
                    // `PointShell::new` checks the tree.
                    let made = shell(points, &ball, 1.0, &settings).unwrap();
                    let sorted = |places: &mut Vec<[u32; 3]>| places.sort_unstable();
                    let bits = |p: Vec3| p.to_array().map(f32::to_bits);
                    let mut before: Vec<_> = points.iter().map(|p| bits(p.at)).collect();
                    let mut after: Vec<_> = made.points().iter().map(|&p| bits(p)).collect();
                    sorted(&mut before);
                    sorted(&mut after);
                    assert_eq!(before, after, "{tree:?} {cluster_size}");
                }
            }
        }
    }
}
