//! Samples points on the triangles of a mesh (at vertices, from voxels, or at random with a minimum
//! distance) and fills gaps.
//!
//! Input: a mesh of valid faces, a spacing.
//! Output: points in `f32`, each on its face up to rounding.
//! Cost: a few lookups in a hashed grid per point; one core.
//! Not for: proofs, which `cover` gives.
//!
//! Voxels after \[Sagardia2014\] §2.1.2. We differ in two things. A face is projected from the
//! voxels that it passes through, not from all surface voxels in its AABB, because the AABB of a
//! large slanted face is full of voxels of others. And a point must keep its distance from the
//! points of all faces of a similar orientation, not of neighbours only, because small faces have
//! their neighbours' neighbours near.
//!
//! Darts after \[Cook1986\]; then, instead of more darts, every face is cut into pieces until each
//! piece is covered or has a point that is not: the result does not depend on chance.

use glam::{DVec3, I64Vec3, Vec3};

use crate::bake::pointshell::settings::{ShellBakeError, ShellDensity, ShellSampling};
use crate::bake::pointshell::spread::{Spread, SurfacePoint};
use crate::bake::voxel::voxelise::overlaps;
use crate::geom::{DAabb, Random, Triangle};
use crate::mesh::TriangleMesh;

/// Number of points of a maximal random set on an area of one squared spacing: random packing of
/// discs covers 0.547 of the plane \[Feder1980\], and `0.547 · 4 / π = 0.697`.
const DENSITY: f64 = 0.7;

/// Number of darts thrown per expected point. The more, the fewer points are left to the fill,
/// which puts them in rows.
const DARTS: f64 = 4.0;

/// Size below which pieces are not cut further, as a share of the spacing: the surface is then
/// covered within the spacing and this share of it.
const SMALLEST: f64 = 1.0 / 16.0;

/// Returns the spacing that gives a density on a surface \[m\].
pub(super) fn spacing(mesh: &TriangleMesh, density: ShellDensity) -> f64 {
    match density {
        ShellDensity::Spacing(spacing) => spacing.into(),
        ShellDensity::Points(points) => {
            let points = f64::from(points);
            let by_area = (DENSITY * mesh.area() / points).sqrt();
            // A surface without area is at best a line.
            let by_length = mesh.bounds().diagonal() / points;
            let spacing = by_area.max(by_length);
            if spacing > 0.0 { spacing } else { 1.0 }
        }
    }
}

/// Samples a mesh, without filling gaps.
pub(super) fn sample(
    mesh: &TriangleMesh,
    sampling: ShellSampling,
    spacing: f64,
    max_points: usize,
) -> Result<Spread, ShellBakeError> {
    let origin = mesh.bounds().min;
    let empty = || Spread::new(Vec::new(), spacing, origin, max_points);
    match sampling {
        ShellSampling::Vertices => {
            let points = vertices(mesh);
            if points.len() > max_points {
                return Err(ShellBakeError::TooManyPoints { limit: max_points });
            }
            Ok(Spread::new(points, spacing, origin, max_points))
        }
        ShellSampling::Voxels { alpha } => {
            let mut spread = empty();
            let voxels = Voxels {
                origin,
                size: spacing / f64::from(alpha),
            };
            for triangle in mesh.triangles() {
                voxels.project(triangle, &mut spread)?;
            }
            Ok(spread)
        }
        ShellSampling::PoissonDisk => {
            let mut spread = empty();
            throw_darts(mesh, &mut spread)?;
            Ok(spread)
        }
    }
}

/// Returns one point per position of vertices that faces use, in their order.
fn vertices(mesh: &TriangleMesh) -> Vec<SurfacePoint> {
    let mut is_used = vec![false; mesh.vertices.len()];
    for &vertex in mesh.faces.iter().flatten() {
        is_used[vertex as usize] = true;
    }
    let used = (0..mesh.vertices.len()).filter(|&vertex| is_used[vertex]);
    // Adding zero makes the two zeros equal.
    let place = |vertex: usize| mesh.vertices[vertex].as_vec3() + Vec3::ZERO;
    let mut places: Vec<([u32; 3], usize)> = used
        .map(|vertex| (place(vertex).to_array().map(f32::to_bits), vertex))
        .collect();
    places.sort_unstable();
    places.dedup_by_key(|entry| entry.0);
    let mut first: Vec<usize> = places.into_iter().map(|entry| entry.1).collect();
    first.sort_unstable();
    let point = |vertex: usize| SurfacePoint {
        at: place(vertex),
        normal: Vec3::ZERO,
    };
    first.into_iter().map(point).collect()
}

fn normal(triangle: Triangle) -> Vec3 {
    triangle.normal().unwrap_or(DVec3::ZERO).as_vec3()
}

/// A grid of cubes that fills space.
struct Voxels {
    origin: DVec3,
    /// Side of a cube \[m\].
    size: f64,
}

impl Voxels {
    /// Offers the projections of all voxels that a face passes through.
    fn project(&self, triangle: Triangle, spread: &mut Spread) -> Result<(), ShellBakeError> {
        let bounds = DAabb::of_points(triangle.corners());
        let place = |point: DVec3| ((point - self.origin) / self.size).floor().as_i64vec3();
        let (first, last) = (place(bounds.min), place(bounds.max));
        self.project_range(triangle, normal(triangle), [first, last], spread)
    }

    /// Offers the projections of the voxels of a box that a face passes through, by halving the
    /// box.
    fn project_range(
        &self,
        triangle: Triangle,
        normal: Vec3,
        [first, last]: [I64Vec3; 2],
        spread: &mut Spread,
    ) -> Result<(), ShellBakeError> {
        let corner = |place: I64Vec3| self.origin + self.size * place.as_dvec3();
        let region = DAabb::new(corner(first), corner(last + I64Vec3::ONE));
        if !overlaps(triangle, region) {
            return Ok(());
        }
        if first == last {
            let at = triangle.closest_point(region.center()).point.as_vec3();
            return spread.offer(SurfacePoint { at, normal });
        }
        let sides = (last - first).to_array();
        let axis = (0..3).fold(0, |best, axis| {
            if sides[axis] > sides[best] {
                axis
            } else {
                best
            }
        });
        let (mut low, mut high) = (last, first);
        low[axis] = first[axis] + sides[axis] / 2;
        high[axis] = low[axis] + 1;
        self.project_range(triangle, normal, [first, low], spread)?;
        self.project_range(triangle, normal, [high, last], spread)
    }
}

/// Samples random points of the area, and keeps those that are far enough from all before them.
fn throw_darts(mesh: &TriangleMesh, spread: &mut Spread) -> Result<(), ShellBakeError> {
    let mut area = 0.0;
    let up_to: Vec<f64> = (mesh.triangles())
        .map(|triangle| {
            area += triangle.area();
            area
        })
        .collect();
    let expected = DENSITY * area / (spread.reach() * spread.reach());
    let limit = spread.max_points();
    if expected > 2.0 * limit as f64 {
        return Err(ShellBakeError::TooManyPoints { limit });
    }
    let darts = (DARTS * expected) as u64;
    for dart in 0..darts {
        let [share, u, v] = [0, 1, 2].map(|number| unit_random(3 * dart + number));
        let face = up_to.partition_point(|&below| below <= share * area);
        let triangle = mesh.triangle(face.min(mesh.faces.len() - 1));
        // Folded over the diagonal of the parallelogram.
        let (u, v) = if u + v > 1.0 {
            (1.0 - u, 1.0 - v)
        } else {
            (u, v)
        };
        let at = triangle.a + u * (triangle.b - triangle.a) + v * (triangle.c - triangle.a);
        let at = at.as_vec3();
        spread.offer(SurfacePoint {
            at,
            normal: normal(triangle),
        })?;
    }
    Ok(())
}

/// Returns a random value from 0 up to 1 for a number; the same on every machine.
fn unit_random(number: u64) -> f64 {
    // The state of the generator after `number` values from the seed 0.
    Random::new(number.wrapping_mul(Random::STEP)).unit()
}

/// Adds points until every point of the mesh is within the reach of one, up to [`SMALLEST`] of it.
pub(super) fn fill(mesh: &TriangleMesh, spread: &mut Spread) -> Result<(), ShellBakeError> {
    let mut pieces = Vec::new();
    for triangle in mesh.triangles() {
        let normal = normal(triangle);
        pieces.push(triangle);
        while let Some(piece) = pieces.pop() {
            let (edge, longest) = longest_edge(piece);
            let middle = piece.centroid();
            // Small enough to be covered by one point; larger pieces are cut at once.
            if longest <= 2.0 * spread.reach() {
                if spread.covers_all(middle, &piece.corners(), normal) {
                    continue;
                }
                if !spread.covers(middle, normal) {
                    let at = middle.as_vec3();
                    spread.add(SurfacePoint { at, normal })?;
                    pieces.push(piece);
                    continue;
                }
                if longest <= SMALLEST * spread.reach() {
                    continue;
                }
            }
            pieces.extend(halves(piece, edge));
        }
    }
    Ok(())
}

/// Returns the longest edge, from corner `i` to the next, and its length.
pub(super) fn longest_edge(triangle: Triangle) -> (usize, f64) {
    let [a, b, c] = triangle.corners();
    let lengths = [
        a.distance_squared(b),
        b.distance_squared(c),
        c.distance_squared(a),
    ];
    let longest = (1..3).fold(0, |best, edge| {
        if lengths[edge] > lengths[best] {
            edge
        } else {
            best
        }
    });
    (longest, lengths[longest].sqrt())
}

/// Cuts a triangle along the line from the middle of an edge to the corner opposite.
fn halves(triangle: Triangle, edge: usize) -> [Triangle; 2] {
    let corners = triangle.corners();
    let [a, b, c] = [0, 1, 2].map(|step| corners[(edge + step) % 3]);
    let middle = 0.5 * (a + b);
    [Triangle { a: middle, b, c }, Triangle { a, b: middle, c }]
}
