//! Voxelisation: finds the voxels that a mesh passes through or touches.
//!
//! Input: a mesh and a grid, whose cells are the voxels.
//! Output: indices of the surface voxels, ascending.
//! Cost: a few separating-axis tests per voxel found. The box of voxels around a triangle is halved
//! until nothing or one voxel is left.
//! Not for: inside or outside; see `voxmap`.
//!
//! A triangle and a box overlap unless one of 13 axes separates them \[AkenineMoller2001\]. Both
//! are closed: touching is overlap. The margin of each axis covers the rounding of its test, so
//! that no voxel is missed; a voxel that is off by less than that may be added.

use glam::{DVec3, UVec3};

use crate::bake::error::BakeError;
use crate::bake::exact_distance::check_faces;
use crate::field::{Cells, GridLayout};
use crate::geom::{DAabb, Triangle, place_index};
use crate::mesh::TriangleMesh;
use crate::threads;

/// Returns the indices of all voxels that some face overlaps or touches, x fastest, ascending. The
/// voxels are the cells of `layout`.
pub fn surface_voxels(mesh: &TriangleMesh, layout: &GridLayout) -> Result<Vec<usize>, BakeError> {
    check_faces(mesh)?;
    layout.check()?;
    let cells = layout.cells();
    /// Enough to keep all cores busy.
    const MOST_SLABS: u32 = 256;
    let thickness = cells.z.div_ceil(MOST_SLABS).max(4);
    let slabs = cells.z.div_ceil(thickness);
    let mut faces_of = vec![Vec::new(); slabs as usize];
    for face in 0..mesh.faces.len() {
        if let Some(around) = voxels_around(layout, mesh.triangle(face)) {
            for slab in around.first.z / thickness..=around.last.z / thickness {
                faces_of[slab as usize].push(face);
            }
        }
    }
    let parts = threads::map(faces_of.len(), |slab| {
        let first = slab as u32 * thickness;
        let last = (first + thickness).min(cells.z) - 1;
        let mut found = Vec::new();
        for &face in &faces_of[slab] {
            let triangle = mesh.triangle(face);
            if let Some(mut around) = voxels_around(layout, triangle) {
                around.first.z = around.first.z.max(first);
                around.last.z = around.last.z.min(last);
                collect(layout, triangle, around, &mut found);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    });
    Ok(parts.concat())
}

/// Returns all voxels that may touch the triangle's AABB, and one more each way for rounding;
/// `None` when it misses the grid.
fn voxels_around(layout: &GridLayout, triangle: Triangle) -> Option<Cells> {
    let bounds = DAabb::of_points(triangle.corners());
    let size = f64::from(layout.cell_size);
    let place = |point: DVec3| ((point - layout.origin.as_dvec3()) / size).floor();
    let last = layout.cells() - UVec3::ONE;
    let (low, high) = (place(bounds.min) - 1.0, place(bounds.max) + 1.0);
    let misses = high.cmplt(DVec3::ZERO).any() || low.cmpgt(last.as_dvec3()).any();
    (!misses).then(|| Cells {
        first: low.max(DVec3::ZERO).as_uvec3(),
        last: high.min(last.as_dvec3()).as_uvec3(),
    })
}

/// Appends the voxels of a box that the triangle overlaps, by recursive halving.
fn collect(layout: &GridLayout, triangle: Triangle, voxels: Cells, found: &mut Vec<usize>) {
    let Cells { first, last } = voxels;
    let region = DAabb::new(
        layout.node_position(first),
        layout.node_position(last + UVec3::ONE),
    );
    if !overlaps(triangle, region) {
        return;
    }
    if first == last {
        found.push(place_index(layout.cells(), first));
        return;
    }
    let sides = (last - first).to_array();
    let axis = if sides[0] >= sides[1].max(sides[2]) {
        0
    } else if sides[1] >= sides[2] {
        1
    } else {
        2
    };
    let (mut low, mut high) = (voxels, voxels);
    low.last[axis] = first[axis] + sides[axis] / 2;
    high.first[axis] = low.last[axis] + 1;
    collect(layout, triangle, low, found);
    collect(layout, triangle, high, found);
}

/// Returns whether a triangle and a box, both with their borders, share a point; never `false` when
/// they do.
pub(crate) fn overlaps(triangle: Triangle, region: DAabb) -> bool {
    let (center, half) = (region.center(), region.half_extents());
    let corners = triangle.corners().map(|corner| corner - center);
    let edges = [
        corners[1] - corners[0],
        corners[2] - corners[1],
        corners[0] - corners[2],
    ];
    // Differences of coordinates up to `far` round by ε `far`; the values then multiplied are
    // lengths up to `size`.
    let far = (triangle.corners().into_iter())
        .chain([region.min, region.max])
        .fold(0.0, |far: f64, p| far.max(p.abs().max_element()));
    let size = corners
        .into_iter()
        .chain(edges)
        .chain([half])
        .fold(0.0, |size: f64, p| size.max(p.abs().max_element()));
    let unit = 16.0 * f64::EPSILON * far;
    let apart = |axis: DVec3, margin: f64| {
        let [a, b, c] = corners.map(|corner| axis.dot(corner));
        let reach = axis.abs().dot(half) + margin;
        a.min(b).min(c) > reach || a.max(b).max(c) < -reach
    };
    // Face normals of the box, then cross products of edges, then the normal of the triangle.
    if DVec3::AXES.into_iter().any(|axis| apart(axis, unit)) {
        return false;
    }
    let across = |edge: DVec3| DVec3::AXES.map(|axis| axis.cross(edge));
    let sides = edges.into_iter().flat_map(across);
    if sides.into_iter().any(|axis| apart(axis, unit * size)) {
        return false;
    }
    !apart(edges[0].cross(edges[1]), 4.0 * unit * size * size)
}
