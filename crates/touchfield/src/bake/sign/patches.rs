//! Signs from the nearest feature for every closed surface, also one that crosses or contains
//! itself.
//!
//! Input: a mesh whose edges all balance (as many faces run along an edge one way as the other),
//! and its crossing faces.
//! Output: the sign at a point from its nearest point alone, or `None` near a defect, where the
//! caller computes the winding number.
//! Cost: a few winding numbers per patch, once; then one dot product per point.
//! Not for: surfaces with holes, whose winding number changes without crossing a face.
//!
//! A closed surface changes the winding number only where it is crossed, by one. So along a patch
//! of faces that nothing crosses, the number just outside is one integer; and the segment from a
//! point to its nearest point crosses nothing. Pseudonormals determine which side of the patch the
//! point is on. Both together give its winding number, exactly. Faces that are crossed, that have
//! no area or touch a non-manifold place are left to the winding number itself.

use glam::DVec3;

use crate::bake::sign::mend::Mended;
use crate::mesh::{Bvh, Nearest, Pseudonormals, Topology, TriangleMesh, WindingNumber};
use crate::threads;

/// Sign queries by the nearest feature.
pub(crate) struct Patches {
    normals: Pseudonormals,
    /// Winding number just outside each face; [`ASK`] where it is not a single number.
    outside: Vec<i8>,
    /// See [`Patches::change_at_surface`].
    change_at_surface: bool,
}

/// Marks faces that do not determine the sign; the caller has to compute the winding number.
const ASK: i8 = i8::MIN;

/// Returns whether an even number of faces meets at every edge. Then the parity of crossings is the
/// same for every ray from a point off the surface.
pub(crate) fn is_even(topology: &Topology) -> bool {
    topology
        .edges()
        .all(|edge| edge.uses.len().is_multiple_of(2))
}

impl Patches {
    /// Builds patches for a mesh treated as one without crossings, holes or nested solids, whether
    /// or not it `is_clean`: the winding number in front of every face is 0.
    pub(crate) fn of_clean(mended: &Mended, is_clean: bool) -> Patches {
        Patches {
            normals: Pseudonormals::of(&mended.mesh, &mended.topology),
            outside: vec![0; mended.mesh.faces.len()],
            change_at_surface: is_clean,
        }
    }

    /// Builds patches for any mesh whose edges balance. `crossing` lists the faces that others
    /// cross.
    pub(crate) fn of(
        mended: &Mended,
        crossing: impl IntoIterator<Item = u32> + Send,
        bvh: &Bvh,
        winding: &WindingNumber,
    ) -> Patches {
        let (normals, outside) = threads::both(
            || Pseudonormals::of(&mended.mesh, &mended.topology),
            || winding_outside_faces(mended, crossing, bvh, winding),
        );
        Patches {
            normals,
            outside,
            change_at_surface: true,
        }
    }

    /// Returns whether the computed sign changes only across the surface, as the true sign does.
    pub(crate) fn change_at_surface(&self) -> bool {
        self.change_at_surface
    }

    /// Returns whether a face is a regular piece of surface with winding number 0 in front of it,
    /// so that the sign changes there.
    pub(crate) fn is_plain(&self, face: u32) -> bool {
        self.outside[face as usize] == 0
    }

    /// Returns the outward normal at a point of the surface, of any length.
    pub(crate) fn normal(&self, nearest: &Nearest) -> DVec3 {
        self.normals.at(nearest)
    }

    /// Returns the winding number just outside a face; `None` where the face does not determine it.
    pub(crate) fn outside(&self, face: u32) -> Option<i8> {
        let outside = self.outside[face as usize];
        (outside != ASK).then_some(outside)
    }

    /// Returns the outward normal of a face, of any length; 0 where the face does not count for the
    /// sign.
    pub(crate) fn face_normal(&self, face: u32) -> DVec3 {
        self.normals.of_face(face)
    }

    /// Returns whether `point` is inside; `None` when only the winding number determines it.
    #[inline]
    pub(crate) fn inside(&self, point: DVec3, nearest: &Nearest) -> Option<bool> {
        let outside = self.outside[nearest.face as usize];
        if outside == ASK {
            return None;
        }
        let inner = self.normals.is_inside(point, nearest)?;
        Some(outside + i8::from(inner) > 0)
    }
}

/// Returns the winding number just outside every face; [`ASK`] for faces that are not a regular
/// piece of surface.
fn winding_outside_faces(
    mended: &Mended,
    crossing: impl IntoIterator<Item = u32>,
    bvh: &Bvh,
    winding: &WindingNumber,
) -> Vec<i8> {
    let mesh = &mended.mesh;
    let unreliable = unreliable_faces(mended, crossing);
    let patches = (mended.topology).components_where(|face| !unreliable[face as usize]);
    // The largest face of each patch is the easiest to place a point in front of.
    let mut largest: Vec<(f64, u32)> = vec![(-1.0, 0); patches.count];
    for (face, &patch) in patches.of_face.iter().enumerate() {
        if let Some(best) = largest.get_mut(patch as usize) {
            let area = mesh.triangle(face).area();
            if area > best.0 {
                *best = (area, face as u32);
            }
        }
    }
    let outside_of_patch: Vec<i8> = largest
        .into_iter()
        .map(|(_, face)| winding_outside(mesh, face, bvh, winding).unwrap_or(ASK))
        .collect();
    (patches.of_face.iter())
        .map(|&patch| outside_of_patch.get(patch as usize).copied().unwrap_or(ASK))
        .collect()
}

/// Marks faces whose neighbourhood is not a regular piece of surface: crossed, without area, or at
/// a non-manifold edge or vertex. Also marks faces that share a vertex with one, because its
/// pseudonormal is spoilt.
fn unreliable_faces(mended: &Mended, crossing: impl IntoIterator<Item = u32>) -> Vec<bool> {
    let mesh = &mended.mesh;
    let mut spoilt_vertex = vec![false; mesh.vertices.len()];
    let mut spoil = |face: u32| {
        for vertex in mesh.faces[face as usize] {
            spoilt_vertex[vertex as usize] = true;
        }
    };
    crossing.into_iter().for_each(&mut spoil);
    for (face, _) in mended
        .with_area
        .iter()
        .enumerate()
        .filter(|(_, area)| !**area)
    {
        spoil(face as u32);
    }
    for edge in mended.topology.edges().filter(|edge| !edge.is_consistent()) {
        for vertex in edge.vertices {
            spoilt_vertex[vertex as usize] = true;
        }
    }
    for &vertex in &mended.bow_ties {
        spoilt_vertex[vertex as usize] = true;
    }
    mesh.faces
        .iter()
        .map(|face| face.iter().any(|&vertex| spoilt_vertex[vertex as usize]))
        .collect()
}

/// Returns the winding number just outside a face, computed at a point so close in front of it that
/// the face is nearer than anything else.
fn winding_outside(
    mesh: &TriangleMesh,
    face: u32,
    bvh: &Bvh,
    winding: &WindingNumber,
) -> Option<i8> {
    let triangle = mesh.triangle(face as usize);
    let normal = triangle.normal()?;
    let size = triangle.area().sqrt();
    // From a tenth of the face's size down to where rounding begins.
    (1..=8).find_map(|exponent| {
        let point = triangle.centroid() + size * 0.1f64.powi(exponent) * normal;
        let nearest = bvh.nearest(point, face)?;
        let number = winding.at(point);
        let whole = (number - number.round()).abs() < 0.1 && number.abs() < 100.0;
        (nearest.face == face && whole).then_some(number.round() as i8)
    })
}
