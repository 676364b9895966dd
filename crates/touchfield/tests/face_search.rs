//! Bakes by a search elsewhere: what it proposes is checked, so a wrong search changes no field.
#![allow(clippy::panic, reason = "a panic is a failed test")]
#![cfg(feature = "bake")]

use std::ops::ControlFlow;
use std::sync::Mutex;

use glam::{DVec3, UVec3};
use touchfield::bake::{
    BakeError, BakeSettings, FaceSearch, FieldBakeError, FieldKind, NodeBox, Proposal,
    ProposalReport, Resolution, SparseSettings, Step, Surface, bake_field, bake_field_elsewhere,
};
use touchfield::field::{Field, GridLayout, StoredField};
use touchfield::geom::Triangle;
use touchfield::mesh::generate::{Mug, mug};

/// Ways to be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// The first face for every node, with the right distance to it.
    FarFaces,
    /// Distances that are off by a cell.
    Distances,
    /// Every seventh sign.
    Signs,
    /// Faces that are not there.
    NoSuchFace,
    /// Fewer proposals than nodes.
    TooFew,
    /// Every node is said to be unsure.
    Unsure,
    /// No answer.
    Silent,
}

/// Searches every face in turn, in `f64`.
struct BruteForce {
    fault: Fault,
    triangles: Mutex<Vec<Triangle>>,
    normals: Mutex<Vec<[DVec3; 7]>>,
}

impl FaceSearch for BruteForce {
    fn prepare(&self, surface: &Surface<'_>) -> Option<f64> {
        *self.triangles.lock().ok()? = surface.triangles().to_vec();
        let sides = |face| {
            surface.sides(face).map_or([DVec3::ZERO; 7], |sides| {
                let ([a, b, c], [d, e, f]) = (sides.edges, sides.corners);
                [sides.face, a, b, c, d, e, f]
            })
        };
        let count = surface.triangles().len() as u32;
        *self.normals.lock().ok()? = (0..count).map(sides).collect();
        Some(1e-6)
    }

    fn propose(&self, layout: &GridLayout, boxes: &[NodeBox]) -> Option<Vec<Proposal>> {
        use touchfield::geom::Feature;
        let triangles = self.triangles.lock().ok()?;
        let normals = self.normals.lock().ok()?;
        let mut proposals = Vec::new();
        for nodes in boxes {
            let [nx, ny, nz] = nodes.size.to_array();
            for index in 0..nx * ny * nz {
                let place = UVec3::new(index % nx, index / nx % ny, index / nx / ny);
                let point = layout.node_position(nodes.first + place);
                let distance = |face: usize| {
                    let closest = triangles[face].closest_point(point);
                    (closest.point.distance(point), face, closest)
                };
                let count = match self.fault {
                    Fault::FarFaces => 1,
                    _ => triangles.len(),
                };
                let (distance, face, closest) = (0..count)
                    .map(distance)
                    .min_by(|a, b| a.0.total_cmp(&b.0))?;
                let normal = normals[face][match closest.feature {
                    Feature::Face => 0,
                    Feature::Edge(i) => 1 + usize::from(i),
                    Feature::Vertex(i) => 4 + usize::from(i),
                }];
                let mut signed = distance.copysign(normal.dot(point - closest.point)) as f32;
                let mut face = face as u32;
                match self.fault {
                    Fault::Distances => signed += layout.cell_size,
                    Fault::Signs if index % 7 == 0 => signed = -signed,
                    Fault::NoSuchFace => face = u32::MAX,
                    _ => {}
                }
                proposals.push(Proposal {
                    face,
                    distance: signed,
                    is_sure: self.fault != Fault::Unsure,
                    is_tied: true,
                });
            }
        }
        match self.fault {
            Fault::TooFew => proposals.truncate(5),
            Fault::Silent => return None,
            _ => {}
        }
        Some(proposals)
    }
}

fn go(_: Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn by(fault: Fault, kind: &FieldKind) -> Result<(StoredField, ProposalReport), FieldBakeError> {
    let search = BruteForce {
        fault,
        triangles: Mutex::default(),
        normals: Mutex::default(),
    };
    let mesh = mug(Mug {
        segments: 20,
        ..Default::default()
    })
    .unwrap_or_else(|error| panic!("{error}"));
    let found = bake_field_elsewhere(&mesh, &settings(), kind, &search, &go)?;
    let (baked, report) = found.unwrap_or_else(|| panic!("{kind:?} can be searched elsewhere"));
    let own = bake_field(&mesh, &settings(), kind, &go)?.field;
    // Only the promise of the search comes on top of the bound.
    let more = baked.field.error_bound() - own.error_bound();
    assert!((0.0..=3e-6).contains(&more), "{fault:?}: {more}");
    let bounds = own.bounds();
    for i in 0..2000u32 {
        let unit = glam::Vec3::new((i % 13) as f32, (i / 13 % 13) as f32, (i / 169) as f32) / 12.0;
        let point = bounds.min + bounds.extents() * unit.min(glam::Vec3::ONE);
        let (found, expected) = (baked.field.distance(point), own.distance(point));
        assert!(
            (found - expected).abs() <= 1e-4,
            "{fault:?}, {kind:?}: {found} {expected}"
        );
    }
    Ok((baked.field, report))
}

fn settings() -> BakeSettings {
    BakeSettings {
        resolution: Resolution::Nodes(16),
        ..Default::default()
    }
}

#[test]
fn a_search_elsewhere_makes_the_same_field_however_wrong_it_is() {
    let sparse = FieldKind::Sparse(SparseSettings::default());
    for kind in [FieldKind::Dense, FieldKind::Taylor, sparse] {
        let report = |fault| match by(fault, &kind) {
            Ok((_, report)) => report,
            Err(error) => panic!("{fault:?}: {error}"),
        };
        let right = report(Fault::None);
        assert!(right.nodes > 0 && right.sampled > 0, "{right:?}");
        assert_eq!((right.refuted, right.unsure), (0, 0), "{right:?}");
        assert!(report(Fault::FarFaces).refuted > 0);
        let wrong = report(Fault::Distances);
        assert_eq!(wrong.corrected, wrong.nodes, "{wrong:?}");
        let wrong = report(Fault::Signs);
        assert!(wrong.corrected > wrong.nodes / 8, "{wrong:?}");
        assert!(report(Fault::NoSuchFace).corrected > 0);
        assert_eq!(report(Fault::TooFew).nodes, 0);
        let unsure = report(Fault::Unsure);
        assert_eq!(unsure.unsure, unsure.nodes, "{unsure:?}");
        let silent = by(Fault::Silent, &kind).map(|_| ());
        assert_eq!(silent, Err(FieldBakeError::Bake(BakeError::Cancelled)));
    }
}
