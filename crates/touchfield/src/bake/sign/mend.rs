//! The mesh as its sign needs it: shared vertices, one orientation, no face counted twice.
//!
//! Input: a mesh of valid faces and what [`examine`] found in it.
//! Output: a copy, with what is known of it, and a note for everything that was done.
//! Cost: nothing for a mesh that is in order; else as the repairs it takes.
//! Not for: distances; those are measured to the mesh as it was given, and no vertex moves.
//!
//! [`examine`]: crate::mesh::examine

use crate::mesh::{
    Defect, Examination, Topology, TriangleMesh, Validation, drop_duplicates, is_degenerate, orient,
};

/// A mesh to tell inside from outside by.
pub(crate) struct Mended {
    pub(crate) mesh: TriangleMesh,
    pub(crate) topology: Topology,
    /// The faces whose plane can be crossed.
    pub(crate) with_area: Vec<bool>,
    /// Vertices where fans of faces touch.
    pub(crate) bow_ties: Vec<u32>,
    /// Whether faces were left out or turned around.
    pub(crate) changed: bool,
    /// Faces of opposite pairs that were left out.
    pub(crate) cancelled: usize,
}

/// Mends a mesh, and hands back what was found in it as it was.
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
