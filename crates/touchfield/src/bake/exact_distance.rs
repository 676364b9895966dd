//! Exact signed distance to a mesh at any point: the reference that fields are baked from and
//! measured against.

use glam::DVec3;

use crate::bake::error::{BakeError, MeshError};
use crate::bake::intake::Intake;
use crate::bake::settings::SignChoice;
use crate::bake::sign::plan as sign;
use crate::bake::sign::plan::SignPlan;
use crate::field::SignMethod;
use crate::geom::DAabb;
use crate::mesh::{Nearest, TriangleMesh};
use crate::threads;

/// The exact signed distance to one mesh, in `f64`.
///
/// ```
/// use glam::DVec3;
/// use touchfield::bake::{ExactDistance, SignChoice};
/// use touchfield::mesh::TriangleMesh;
/// let mut tetrahedron = TriangleMesh::default();
/// tetrahedron.vertices = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
/// tetrahedron.faces = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
/// let exact = ExactDistance::new(&tetrahedron, SignChoice::Auto)?;
/// assert_eq!(exact.distance(DVec3::new(0.1, 0.2, 0.3)), -0.1);
/// assert_eq!(exact.distance(DVec3::new(0.1, 0.2, -2.0)), 2.0);
/// # Ok::<(), touchfield::bake::BakeError>(())
/// ```
pub struct ExactDistance {
    plan: SignPlan,
}

impl ExactDistance {
    /// Builds the search structures and chooses a sign method.
    pub fn new(mesh: &TriangleMesh, sign: SignChoice) -> Result<ExactDistance, BakeError> {
        check_faces(mesh)?;
        let intake = Intake::of(mesh, None);
        ExactDistance::within(&intake.mesh, sign, intake.mesh.bounds())
    }

    /// Builds the distance for a mesh of valid faces within a box; see [`Self::new`] and
    /// [`Bvh::build_in`](crate::mesh::Bvh).
    pub(crate) fn within(
        mesh: &TriangleMesh,
        sign: SignChoice,
        around: DAabb,
    ) -> Result<ExactDistance, BakeError> {
        let mut plan = sign::plan(mesh, sign, around)?;
        if sign == SignChoice::Auto {
            sign::reconsider(&mut plan, &sign::probes(mesh));
        }
        Ok(ExactDistance { plan })
    }

    /// Returns the signed distance at `point` \[m\], negative inside.
    pub fn distance(&self, point: DVec3) -> f64 {
        self.distance_near(point, 0).0
    }

    /// Computes the signed distances at many points, in their order, on all cores. Faster than one
    /// call per point, because points near each other share their search.
    pub fn distance_many(&self, points: &[DVec3]) -> Vec<f64> {
        let mut order: Vec<(u64, u32)> = {
            let bounds = crate::geom::DAabb::of_points(points.iter().copied());
            let key = |(index, &point): (usize, &DVec3)| (morton_key(point, bounds), index as u32);
            points.iter().enumerate().map(key).collect()
        };
        order.sort_unstable();
        let run = |chunk: &[(u64, u32)]| -> Vec<(u32, f64)> {
            let mut hint = 0;
            let mut results = Vec::with_capacity(chunk.len());
            for &(_, index) in chunk {
                let (distance, face) = self.distance_near(points[index as usize], hint);
                hint = face;
                results.push((index, distance));
            }
            results
        };
        /// Long enough to share hints, short enough to spread over all cores where a point takes
        /// long.
        const CHUNK: usize = 256;
        let parts = threads::map_pieces(&mut order, CHUNK, |_, chunk| run(chunk));
        let mut distances = vec![0.0; points.len()];
        for (index, distance) in parts.into_iter().flatten() {
            distances[index as usize] = distance;
        }
        distances
    }

    /// Returns the sign method.
    pub fn sign_method(&self) -> SignMethod {
        self.plan.signs.method()
    }

    /// Returns whether the sign changes only across the surface.
    pub(crate) fn is_closed(&self) -> bool {
        self.plan.closed
    }

    /// Returns the defects of the mesh and how they were handled, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.plan.notes
    }

    pub(crate) fn plan(&self) -> &SignPlan {
        &self.plan
    }

    /// Returns the nearest point on the mesh. `hint` is any face, ideally one that is near.
    pub(crate) fn nearest(&self, point: DVec3, hint: u32) -> Nearest {
        self.plan
            .bvh
            .nearest(point, hint)
            .expect("a mesh without faces was refused at construction")
    }

    fn distance_near(&self, point: DVec3, hint: u32) -> (f64, u32) {
        let nearest = self.nearest(point, hint);
        let distance = nearest.distance_squared.sqrt();
        let inside = self.plan.at(point, &nearest).inside;
        (if inside { -distance } else { distance }, nearest.face)
    }
}

/// Refuses meshes that have no distance: no faces, missing vertices, or vertices that are not
/// finite.
pub(crate) fn check_faces(mesh: &TriangleMesh) -> Result<(), BakeError> {
    if mesh.faces.is_empty() {
        return Err(MeshError::NoFaces.into());
    }
    let Some(face) = mesh.first_invalid_face() else {
        return Ok(());
    };
    let corners = mesh.faces[face];
    let bad = corners
        .into_iter()
        .find(|&v| mesh.vertices.get(v as usize).is_none_or(|p| !p.is_finite()))
        .unwrap_or(corners[0]);
    let error = match mesh.vertices.get(bad as usize) {
        Some(&position) => MeshError::NonFiniteVertex {
            face,
            vertex: bad,
            position,
        },
        None => MeshError::MissingVertex {
            face,
            vertex: bad,
            vertices: mesh.vertices.len(),
        },
    };
    Err(error.into())
}

/// Returns the Morton code of a point, which is similar for points near each other: 21 bits per
/// axis, interleaved.
fn morton_key(point: DVec3, bounds: crate::geom::DAabb) -> u64 {
    let extent = bounds.extents().max_element();
    let scaled = (point - bounds.min) / extent * f64::from((1 << 21) - 1);
    let spread = |coordinate: f64| {
        // The cast turns NaN into 0 and clamps.
        let mut v = coordinate as u64 & 0x1f_ffff;
        v = (v | v << 32) & 0x001f_0000_0000_ffff;
        v = (v | v << 16) & 0x001f_0000_ff00_00ff;
        v = (v | v << 8) & 0x100f_00f0_0f00_f00f;
        v = (v | v << 4) & 0x10c3_0c30_c30c_30c3;
        (v | v << 2) & 0x1249_2492_4924_9249
    };
    spread(scaled.x) | spread(scaled.y) << 1 | spread(scaled.z) << 2
}
