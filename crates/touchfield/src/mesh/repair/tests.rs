use glam::DVec3;

use super::super::test_meshes::*;
use super::*;
use crate::mesh::{Defect, validate};

fn mend(mesh: &TriangleMesh) -> (TriangleMesh, RepairReport) {
    let (mended, report) = repair(mesh, &RepairSettings::default());
    assert_eq!(report.original_face.len(), mended.faces.len());
    assert_eq!(report.original_vertex.len(), mended.vertices.len());
    for (vertex, original) in report.original_vertex.iter().enumerate() {
        if let Some(original) = original {
            assert_eq!(mended.vertices[vertex], mesh.vertices[*original as usize]);
        }
    }
    (mended, report)
}

#[test]
fn a_clean_mesh_is_returned_as_it_is() {
    for clean in [tetrahedron(), cube([5.0; 3], 1.0), icosphere(3, 0.1)] {
        let (mended, report) = mend(&clean);
        assert_eq!(mended, clean);
        assert!(!report.changed_anything(), "{report:?}");
    }
}

#[test]
fn random_flips_are_undone() {
    for seed in 0..5 {
        let mut random = Random(seed);
        let mut sphere = icosphere(4, 1.0);
        random.shuffle(&mut sphere.faces);
        let truth = sphere.clone();
        let mut flipped = Vec::new();
        for face in 0..sphere.faces.len() {
            if random.below(100) < 30 {
                sphere.faces[face].swap(1, 2);
                flipped.push(face as u32);
            }
        }
        let report = orient(&mut sphere);
        assert_eq!(sphere, truth);
        assert_eq!(report.flipped_faces, flipped);
        assert_eq!(
            (
                report.components,
                report.unorientable,
                report.inside_out_components
            ),
            (1, 0, 0)
        );
    }
}

#[test]
fn most_faces_flipped_is_inside_out_and_turned() {
    let mut random = Random(3);
    let mut sphere = soup(&icosphere(3, 1.0));
    let volume = sphere.signed_volume();
    for face in &mut sphere.faces {
        if random.below(100) < 80 {
            face.swap(1, 2);
        }
    }
    let report = orient(&mut sphere);
    assert!((sphere.signed_volume() - volume).abs() < 1e-12);
    assert_eq!(report.inside_out_components, 1);
}

#[test]
fn orientation_keeps_cavities() {
    let hollow = merged(&[icosphere(2, 2.0), inverted(icosphere(2, 1.0))]);
    let mut kept = hollow.clone();
    assert!(orient(&mut kept).flipped_faces.is_empty());
    let mut turned = inverted(hollow.clone());
    assert_eq!(orient(&mut turned).inside_out_components, 2);
    assert_eq!(turned, hollow);
    let mut random = Random(11);
    let mut noisy = hollow.clone();
    for face in &mut noisy.faces {
        if random.below(100) < 30 {
            face.swap(1, 2);
        }
    }
    orient(&mut noisy);
    assert!((noisy.signed_volume() - hollow.signed_volume()).abs() < 1e-12);
}

#[test]
fn a_moebius_strip_stays_unorientable_and_an_open_sheet_keeps_its_majority() {
    let mut strip = moebius(10);
    let report = orient(&mut strip);
    assert_eq!((report.unorientable, report.components), (1, 1));
    assert_eq!(validate(&strip).count("inconsistent_orientation"), 1);

    let mut sheet = cube([0.0; 3], 1.0);
    sheet.faces.truncate(10);
    sheet.flip();
    let truth = sheet.clone();
    sheet.faces[2].swap(0, 1);
    assert_eq!(orient(&mut sheet).flipped_faces, [2]);
    assert_eq!(validate(&sheet).count("inconsistent_orientation"), 0);
    assert!((sheet.signed_volume() - truth.signed_volume()).abs() < 1e-15);
}

#[test]
fn holes_in_a_sphere_are_filled() {
    let mut random = Random(5);
    let sphere = icosphere(5, 1.0);
    let volume = sphere.signed_volume();
    for share in [1, 5, 20] {
        let mut holed = sphere.clone();
        holed.faces.retain(|_| random.below(100) >= share);
        let (mended, report) = mend(&holed);
        let found = validate(&mended);
        assert!(
            found.watertight,
            "{share} %: {:?}, left {:?}",
            found.by_kind(),
            report.left_open
        );
        assert_eq!(found.count("inconsistent_orientation"), 0);
        let error = (mended.signed_volume() / volume - 1.0).abs();
        assert!(error < 0.02, "{share} %: volume off by {error}");
        assert!(
            report
                .original_face
                .iter()
                .filter(|face| face.is_none())
                .count()
                > 0
        );
        assert_eq!(
            report.original_face.iter().flatten().count(),
            holed.faces.len()
        );
    }
}

#[test]
fn a_flat_hole_is_filled_flat_without_needles() {
    // A box without its top, whose rim has extra collinear points.
    let mut open = cube([0.0; 3], 1.0);
    open.faces.truncate(10);
    let mut fine = TriangleMesh {
        vertices: open.vertices.clone(),
        faces: Vec::new(),
    };
    for &face in &open.faces {
        // Rim edges at z = 1 are split at their midpoint.
        let at_rim = |v: u32| v >= 4;
        match (0..3).find(|&i| at_rim(face[i]) && at_rim(face[(i + 1) % 3])) {
            Some(i) => {
                let [a, b, c] = [face[i], face[(i + 1) % 3], face[(i + 2) % 3]];
                fine.vertices
                    .push(0.5 * (open.vertices[a as usize] + open.vertices[b as usize]));
                let middle = fine.vertices.len() as u32 - 1;
                fine.faces.extend([[a, middle, c], [middle, b, c]]);
            }
            None => fine.faces.push(face),
        }
    }
    assert_eq!(fine.vertices.len(), 12);
    let (mended, report) = mend(&fine);
    assert_eq!(validate(&mended).defects, []);
    assert!((mended.signed_volume() - 1.0).abs() < 1e-12);
    assert_eq!(
        (
            report.filled.len(),
            report.filled[0].edges,
            report.filled[0].faces
        ),
        (1, 8, 6)
    );
    assert_eq!(report.filled[0].new_vertex, None);
}

#[test]
fn sheets_stay_sheets_and_long_borders_stay_open() {
    let (_, report) = mend(&mesh(
        &[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        &[[0, 1, 2]],
    ));
    assert_eq!(report.left_open, [(0, 3, LeftOpen::TooWide)]);
    let mut half = icosphere(4, 1.0);
    half.faces = half
        .faces
        .iter()
        .copied()
        .filter(|f| f.iter().all(|&v| half.vertices[v as usize].z > 0.2))
        .collect();
    let (_, report) = mend(&half);
    assert!(matches!(report.left_open[..], [(_, edges, LeftOpen::TooLong)] if edges > 64));
    let settings = RepairSettings {
        holes: HoleSettings {
            max_edges: 1000,
            max_area_share: 2.0,
        },
        ..Default::default()
    };
    let (capped, report) = repair(&half, &settings);
    assert!(validate(&capped).watertight);
    assert!(
        report.filled[0]
            .new_vertex
            .is_some_and(|v| v as usize == capped.vertices.len() - 1)
    );
}

#[test]
fn invalid_faces_are_dropped_and_the_gap_closed() {
    let mut broken = icosphere(3, 1.0);
    let faces = broken.faces.len() as u32;
    broken.faces[17][1] = 1_000_000;
    broken.vertices[40] = DVec3::NAN;
    let (mended, report) = mend(&broken);
    let found = validate(&mended);
    assert_eq!(found.count("inconsistent_orientation"), 0);
    assert!(found.watertight && found.manifold, "{:?}", found.by_kind());
    assert!(report.dropped_invalid.contains(&17) && report.dropped_invalid.len() >= 6);
    assert_eq!(report.removed_vertices, [40]);
    assert_eq!(
        mended.faces.len() as u32,
        faces - report.dropped_invalid.len() as u32
            + report.filled.iter().map(|h| h.faces).sum::<u32>()
    );
}

#[test]
fn a_soup_with_rounding_cracks_becomes_one_surface() {
    let mut random = Random(9);
    let mut cracked = soup(&icosphere(3, 1.0));
    for v in &mut cracked.vertices {
        *v += 1e-7 * DVec3::new(random.unit(), random.unit(), random.unit());
    }
    assert!(!validate(&cracked).watertight);
    let (mended, report) = mend(&cracked);
    assert_eq!(validate(&mended).defects, []);
    assert_eq!((mended.vertices.len(), mended.faces.len()), (642, 1280));
    assert_eq!(report.welded.near.len(), 3 * 1280 - 642);
}

#[test]
fn a_face_without_area_goes_without_opening_the_surface() {
    // A face of the cube is split at vertex 8 on its edge; the other side of the edge gets a flat
    // face instead.
    let mut t_junction = cube([0.0; 3], 1.0);
    t_junction.vertices.push(DVec3::new(0.5, 0.0, 0.0));
    let split = t_junction
        .faces
        .iter()
        .position(|f| f.contains(&0) && f.contains(&1))
        .unwrap();
    let face = t_junction.faces[split];
    let with = |old: u32| face.map(|v| if v == old { 8 } else { v });
    t_junction.faces[split] = with(0);
    t_junction.faces.push(with(1));
    let forward = (0..3).any(|i| face[i] == 0 && face[(i + 1) % 3] == 1);
    t_junction
        .faces
        .push(if forward { [0, 1, 8] } else { [1, 0, 8] });
    let found = validate(&t_junction);
    assert!(found.watertight);
    assert_eq!(found.count("degenerate"), 1);
    let (mended, report) = mend(&t_junction);
    assert_eq!(validate(&mended).defects, []);
    assert!((mended.signed_volume() - 1.0).abs() < 1e-15);
    assert_eq!(
        (report.split.len(), report.dropped_degenerate.len()),
        (1, 0)
    );

    let mut pinched = tetrahedron();
    pinched.faces.insert(1, [0, 0, 1]);
    let (mended, report) = mend(&pinched);
    assert_eq!(mended, tetrahedron());
    assert_eq!(report.dropped_degenerate, [1]);
}

#[test]
fn a_crack_of_no_width_is_closed_by_cutting_the_face_beside_it() {
    for points in [1u32, 2, 5, 13] {
        // One side of the edge from 0 to 1 is cut into short edges, the other is not.
        let mut cracked = cube([0.0; 3], 1.0);
        let beside = cracked
            .faces
            .iter()
            .position(|f| f.contains(&0) && f.contains(&1))
            .unwrap();
        let face = cracked.faces.remove(beside);
        let apex = face.into_iter().find(|v| *v > 1).unwrap();
        let forward = (0..3).any(|i| face[i] == 0 && face[(i + 1) % 3] == 1);
        let mut chain = vec![0];
        for k in 1..=points {
            cracked
                .vertices
                .push(DVec3::X * f64::from(k) / f64::from(points + 1));
            chain.push(cracked.vertices.len() as u32 - 1);
        }
        chain.push(1);
        for pair in chain.windows(2) {
            cracked.faces.push(if forward {
                [pair[0], pair[1], apex]
            } else {
                [pair[1], pair[0], apex]
            });
        }
        assert_eq!(validate(&cracked).count("open_edge"), points as usize + 2);
        let (mended, report) = mend(&cracked);
        assert_eq!(validate(&mended).defects, [], "{points} points");
        assert!((mended.signed_volume() - 1.0).abs() < 1e-12);
        assert_eq!(report.split_at_cracks.len(), points as usize);
        assert!(report.original_face.iter().all(Option::is_some));
    }
}

#[test]
fn copies_go_and_reversed_pairs_are_judged_by_what_is_around() {
    // A copy, and a reversed copy of a surface face: the surface stays.
    let mut twice = icosphere(2, 1.0);
    let clean = twice.clone();
    let reversed = |f: [u32; 3]| [f[0], f[2], f[1]];
    twice.faces.extend([
        clean.faces[3],
        reversed(clean.faces[9]),
        reversed(clean.faces[10]),
        reversed(clean.faces[11]),
    ]);
    let (mended, report) = mend(&twice);
    assert_eq!(mended, clean);
    assert_eq!(
        (report.dropped_copies.len(), report.dropped_cancelled.len()),
        (4, 0)
    );

    // A wall between two glued cubes is dropped.
    let glued = merged(&[cube([0.0; 3], 1.0), cube([1.0, 0.0, 0.0], 1.0)]);
    let (mended, report) = mend(&glued);
    assert_eq!(report.dropped_cancelled.len(), 4);
    assert_eq!(validate(&mended).defects, []);
    assert!((mended.signed_volume() - 2.0).abs() < 1e-15);

    // A sheet of zero thickness stays, once.
    let sheet = mesh(
        &[[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
        &[[0, 1, 2], [0, 2, 3]],
    );
    let mut double = sheet.clone();
    double.append(&inverted(sheet.clone()));
    let (mended, report) = mend(&double);
    assert_eq!(mended, sheet);
    assert_eq!(report.dropped_copies, [2, 3]);
}

#[test]
fn nothing_panics_on_noise() {
    let mut random = Random(1);
    for round in 0..300 {
        let vertex_count = 1 + random.below(12);
        let odd = [f64::NAN, f64::INFINITY, 1e308, -1e308, 1e-308, 0.0, -0.0];
        let vertices = (0..vertex_count)
            .map(|_| {
                DVec3::from([0; 3].map(|_| match random.below(12) {
                    k if k < 7 && round % 3 == 0 => odd[k],
                    k => k as f64 * 0.25,
                }))
            })
            .collect();
        let faces = (0..random.below(40))
            .map(|_| {
                [0; 3].map(|_| random.below(vertex_count + usize::from(round % 4 == 0)) as u32)
            })
            .collect();
        let noise = TriangleMesh { vertices, faces };
        let before = validate(&noise);
        let (mended, report) = mend(&noise);
        let after = validate(&mended);
        // Beyond the range of `f64` products, areas cannot be distinguished from zero.
        if round % 3 != 0 {
            for kind in [
                "non_finite",
                "index_out_of_range",
                "duplicate",
                "unreferenced",
            ] {
                assert_eq!(after.count(kind), 0, "round {round}: {before:?} {report:?}");
            }
            // Only patches of zero-width cracks may have no area.
            let is_patch = |d: &Defect| {
                d.first_index()
                    .is_some_and(|face| report.original_face[face as usize].is_none())
            };
            assert!(
                after.of_kind("degenerate").all(is_patch),
                "round {round}: {before:?} {report:?}"
            );
        }
        assert_eq!(repair(&noise, &RepairSettings::default()), (mended, report));
    }
}
