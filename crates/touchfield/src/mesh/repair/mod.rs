//! Mesh repair, with a report of every change.
//!
//! Input: any mesh, and [`RepairSettings`].
//! Output: a mesh without invalid, degenerate and duplicate faces, welded, oriented, with small
//! holes filled; a [`RepairReport`].
//! Cost: a few passes of `weld` and `topology`: two to three seconds for a million faces.
//! Not for: self-intersections, non-manifold edges and large holes, which stay. Run `validate` on
//! the result.
//!
//! The steps, in this order, are functions of their own: [`drop_invalid`], [`super::weld`],
//! [`drop_degenerate`], [`drop_duplicates`], [`orient()`], [`fill_holes`], [`remove_unreferenced`].

mod copies;
mod drop;
mod holes;
mod orient;
#[cfg(test)]
mod tests;

pub(crate) use copies::without_copies;
pub use drop::{
    DegenerateReport, DuplicateReport, drop_degenerate, drop_duplicates, drop_invalid,
    remove_unreferenced,
};
pub use holes::{FilledHole, HoleReport, HoleSettings, LeftOpen, fill_holes};
pub use orient::{OrientReport, orient};

use super::{TriangleMesh, WeldReport, weld};
use crate::geom::{DAabb, Tolerance};
use drop::remove_numbers;

/// Settings of [`repair`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RepairSettings {
    /// Distance up to which vertices on open edges are merged \[m\]; 0 for identical positions
    /// only; `None` for [`Tolerance::weld_distance`] of the mesh's size.
    pub weld_distance: Option<f64>,
    /// Limits on the holes to fill; `max_edges: 0` fills none.
    pub holes: HoleSettings,
}

/// Changes made by [`repair`]. Faces and vertices are numbered as in the input mesh, unless stated
/// otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairReport {
    /// Faces dropped because a vertex is missing or not finite.
    pub dropped_invalid: Vec<u32>,
    /// Weld distance that was used \[m\].
    pub weld_distance: f64,
    /// Vertices that were merged.
    pub welded: WeldReport,
    /// Faces dropped because they have no area.
    pub dropped_degenerate: Vec<u32>,
    /// `[face, neighbour]` pairs: faces without area that became the second half of a neighbour.
    pub split: Vec<[u32; 2]>,
    /// Redundant copies that were dropped.
    pub dropped_copies: Vec<u32>,
    /// Faces dropped together with copies facing the other way.
    pub dropped_cancelled: Vec<u32>,
    /// Faces whose orientation was reversed.
    pub flipped: Vec<u32>,
    /// Closed components that were inside out.
    pub inside_out_components: usize,
    /// Components that no choice of orientation makes consistent.
    pub unorientable: usize,
    /// Holes that were filled. Numbers are those of the *new* mesh.
    pub filled: Vec<FilledHole>,
    /// `[face, neighbour]` pairs: the two halves of a face that was cut at a vertex in a crack of
    /// zero width. Numbers are those of the *new* mesh.
    pub split_at_cracks: Vec<[u32; 2]>,
    /// Borders that stay open: a vertex of the *new* mesh, the number of edges, and the reason.
    pub left_open: Vec<(u32, u32, LeftOpen)>,
    /// Vertices that were removed because no face uses them.
    pub removed_vertices: Vec<u32>,
    /// Original face of every face of the new mesh; `None` for those that fill a hole.
    pub original_face: Vec<Option<u32>>,
    /// Original vertex of every vertex of the new mesh; `None` for those in the middle of a filled
    /// hole.
    pub original_vertex: Vec<Option<u32>>,
}

impl RepairReport {
    /// Returns whether the mesh changed at all.
    pub fn changed_anything(&self) -> bool {
        let untouched = RepairReport {
            weld_distance: self.weld_distance,
            unorientable: self.unorientable,
            left_open: self.left_open.clone(),
            original_face: self.original_face.clone(),
            original_vertex: self.original_vertex.clone(),
            ..RepairReport::default()
        };
        *self != untouched
    }
}

/// Repairs a mesh as far as the settings allow, and reports what it changed.
pub fn repair(mesh: &TriangleMesh, settings: &RepairSettings) -> (TriangleMesh, RepairReport) {
    let mut mesh = mesh.clone();
    let mut report = RepairReport::default();
    // The original number of every remaining face.
    let mut original: Vec<u32> = (0..mesh.faces.len() as u32).collect();
    let named = |numbers: &[u32], original: &[u32]| -> Vec<u32> {
        numbers
            .iter()
            .map(|&face| original[face as usize])
            .collect()
    };

    // 1. Drop invalid faces.
    report.dropped_invalid = drop_invalid(&mut mesh);
    remove_numbers(&mut original, &report.dropped_invalid);

    // 2. Weld.
    report.weld_distance = settings
        .weld_distance
        .unwrap_or_else(|| default_weld_distance(mesh.bounds()));
    report.welded = weld(&mut mesh, report.weld_distance);
    // Remove unused vertices early: the later steps visit every vertex, and a soup has six for each
    // that stays.
    report.original_vertex = (0..mesh.vertices.len() as u32).map(Some).collect();
    report.removed_vertices = remove_unreferenced(&mut mesh);
    remove_numbers(&mut report.original_vertex, &report.removed_vertices);

    // 3. Split or drop faces without area.
    let degenerate = drop_degenerate(&mut mesh);
    for &[face, neighbour] in &degenerate.split {
        report
            .split
            .push([face, neighbour].map(|face| original[face as usize]));
        original[face as usize] = original[neighbour as usize];
    }
    report.dropped_degenerate = named(&degenerate.dropped, &original);
    remove_numbers(&mut original, &degenerate.dropped);

    // 4. Drop duplicates.
    let duplicates = drop_duplicates(&mut mesh);
    report.dropped_copies = named(&duplicates.copies, &original);
    report.dropped_cancelled = named(&duplicates.cancelled, &original);
    let mut dropped = [duplicates.copies, duplicates.cancelled].concat();
    dropped.sort_unstable();
    remove_numbers(&mut original, &dropped);

    // 5. Orient.
    let oriented = orient(&mut mesh);
    report.flipped = named(&oriented.flipped_faces, &original);
    report.inside_out_components = oriented.inside_out_components;
    report.unorientable = oriented.unorientable;

    // 6. Fill holes.
    let holes = fill_holes(&mut mesh, &settings.holes);
    report.filled = holes.filled;
    report.left_open = holes.left_open;
    report.original_face = original.into_iter().map(Some).collect();
    report.original_face.resize(mesh.faces.len(), None);
    for [face, neighbour] in holes.split {
        report.original_face[face as usize] = report.original_face[neighbour as usize];
        report.split_at_cracks.push([face, neighbour]);
    }

    // 7. Remove unused vertices, and renumber the report accordingly.
    report.original_vertex.resize(mesh.vertices.len(), None);
    let removed = remove_unreferenced(&mut mesh);
    let originals = removed
        .iter()
        .filter_map(|&v| report.original_vertex[v as usize]);
    report.removed_vertices.extend(originals);
    report.removed_vertices.sort_unstable();
    remove_numbers(&mut report.original_vertex, &removed);
    let new_number = |vertex: u32| vertex - removed.partition_point(|&gone| gone < vertex) as u32;
    for hole in &mut report.filled {
        hole.vertex = new_number(hole.vertex);
        hole.new_vertex = hole.new_vertex.map(new_number);
    }
    for (vertex, _, _) in &mut report.left_open {
        *vertex = new_number(*vertex);
    }
    (mesh, report)
}

fn default_weld_distance(bounds: DAabb) -> f64 {
    let distance = Tolerance::for_size(bounds.diagonal() as f32).weld_distance();
    // A mesh beyond the range of `f32` has no sensible size; then only identical positions are
    // merged.
    if distance.is_finite() { distance } else { 0.0 }
}
