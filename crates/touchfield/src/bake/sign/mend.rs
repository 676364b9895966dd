//! Mends a copy of the mesh for sign queries: shared vertices, one orientation, no face counted
//! twice.
//!
//! Input: a mesh of valid faces and the result of [`examine`].
//! Output: a mended copy with its topology, and a note for each change.
//! Cost: none for a mesh without these defects; else that of the repairs.
//! Not for: distances; those are measured to the mesh as it was given, and no vertex moves.
//!
//! [`examine`]: crate::mesh::examine

use crate::mesh::{
    Defect, Examination, Topology, TriangleMesh, Validation, drop_duplicates, is_degenerate, orient,
};

/// A mesh mended for sign queries.
pub(crate) struct Mended {
    pub(crate) mesh: TriangleMesh,
    pub(crate) topology: Topology,
    /// Whether each face has an area, so that its plane can be crossed.
    pub(crate) with_area: Vec<bool>,
    /// Vertices where fans of faces touch.
    pub(crate) bow_ties: Vec<u32>,
    /// Whether faces were removed or flipped.
    pub(crate) changed: bool,
    /// Number of faces removed as opposite pairs.
    pub(crate) cancelled: usize,
}

/// Mends a mesh, and returns it with the defects found in the original.
pub(crate) fn mend(
    mesh: &TriangleMesh,
    examination: Examination,
    notes: &mut Vec<String>,
) -> (Mended, Validation) {
    let Examination {
        validation,
        faces,
        topology,
        with_area,
    } = examination;
    let mut mended = TriangleMesh {
        vertices: mesh.vertices.clone(),
        faces,
    };
    // Remove faces that repeat or cancel others.
    let mut cancelled = 0;
    let mut changed = false;
    if validation.count("duplicate") > 0 {
        let report = drop_duplicates(&mut mended);
        cancelled = report.cancelled.len();
        changed = true;
        notes.push(format!(
            "for the sign, {} faces that repeat others and {cancelled} faces of opposite pairs were left out",
            report.copies.len(),
        ));
    }
    // Orient all faces consistently, outward.
    if validation.count("inconsistent_orientation") + validation.count("inside_out") > 0 {
        let report = orient(&mut mended);
        if !report.flipped_faces.is_empty() {
            changed = true;
            notes.push(format!(
                "for the sign, {} of {} faces were turned around (parts inside out: {})",
                report.flipped_faces.len(),
                mended.faces.len(),
                report.inside_out_components
            ));
        }
    }
    // The topology is computed again only if the mesh changed.
    let mended = if changed {
        let topology = Topology::new(mended.vertices.len(), &mended.faces);
        Mended {
            with_area: (0..mended.faces.len())
                .map(|face| topology.has_face(face) && !is_degenerate(&mended, face))
                .collect(),
            bow_ties: topology.bow_tie_vertices(),
            mesh: mended,
            topology,
            changed,
            cancelled,
        }
    } else {
        let bow_tie = |defect: &Defect| match *defect {
            Defect::BowTieVertex { vertex } => Some(vertex),
            _ => None,
        };
        Mended {
            mesh: mended,
            topology,
            with_area,
            bow_ties: validation.defects.iter().filter_map(bow_tie).collect(),
            changed,
            cancelled,
        }
    };
    (mended, validation)
}
