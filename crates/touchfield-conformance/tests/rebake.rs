//! A field updated after a local change of its mesh, compared with a new bake of the changed mesh:
//! the same bits, with only some of the nodes computed.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::ops::ControlFlow;

use glam::{DVec3, UVec3, Vec3};
use touchfield::bake::{
    BakeError, BakeSettings, Baked, Before, Bits, ConvertSettings, DistanceMethod, Keep,
    LayoutError, MeshError, OffsetWidth, Rebaked, Resolution, SignChoice, SparseBakeError,
    SparseBefore, SparseGoal, SparseSettings, Target, UpdateError, bake_on, bake_sparse,
    bake_sparse_on, changed_box, convert, converted_provenance, rebake, rebake_sparse,
};
use touchfield::field::{Field, GridLayout, SignMethod, SparseBlocks, StoredField, file};
use touchfield::geom::DAabb;
use touchfield::mesh::TriangleMesh;
use touchfield_conformance::bake_suite::bake_quietly;
use touchfield_conformance::meshes::*;
use touchfield_conformance::random::Random;

fn settings(nodes: u32) -> BakeSettings {
    BakeSettings {
        resolution: Resolution::Nodes(nodes),
        // Room for parts that stick out.
        padding: 4,
        ..BakeSettings::default()
    }
}

fn update(
    old: &Baked,
    old_mesh: Option<&TriangleMesh>,
    mesh: &TriangleMesh,
    changed: DAabb,
    settings: &BakeSettings,
) -> Result<Rebaked, UpdateError> {
    let before = Before {
        grid: &old.field,
        provenance: &old.provenance,
        mesh: old_mesh,
    };
    rebake(&before, mesh, changed, settings, &|_| {
        ControlFlow::Continue(())
    })
}

/// Returns everything except the time.
fn bits(baked: &Baked) -> (Vec<u32>, String) {
    let values = baked.field.values().iter().map(|v| v.to_bits()).collect();
    let rest = format!(
        "{:?} {:?} {:?} {:?} {} {}",
        baked.field.layout(),
        baked.field.solid(),
        baked.field.error_bound(),
        baked.provenance,
        baked.report.cross_checked,
        baked.report.disagreements
    );
    (values, rest)
}

/// Updates and bakes anew, and returns the share of nodes computed.
fn check(name: &str, old: &TriangleMesh, new: &TriangleMesh, settings: &BakeSettings) -> f64 {
    let changed = changed_box(old, new);
    assert!(!changed.is_empty(), "{name}: nothing changed");
    let before = bake_quietly(old, settings).unwrap();
    let updated = update(&before, Some(old), new, changed, settings);
    let updated = updated.unwrap_or_else(|error| panic!("{name}: {error}"));
    // The grid of a mesh far from the origin is in a frame of its own.
    let origin = before.provenance.origin;
    let mut moved = new.clone();
    moved.move_to_frame_at(origin);
    let mut anew = bake_on(&moved, *before.field.layout(), settings, &|_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    anew.provenance.origin = origin;
    let (found, expected) = (bits(&updated.baked), bits(&anew));
    let differing = found.0.iter().zip(&expected.0).filter(|(a, b)| a != b);
    assert_eq!(differing.count(), 0, "{name}: nodes");
    assert_eq!(found.1, expected.1, "{name}");
    let nodes = found.0.len();
    let moved = before
        .field
        .values()
        .iter()
        .zip(updated.baked.field.values());
    let moved = moved.filter(|(a, b)| a.to_bits() != b.to_bits()).count();
    let share = updated.recomputed as f64 / nodes as f64;
    println!(
        "{name:<40} {:>12} {:5.1} % computed, {:5.1} % changed",
        updated.baked.provenance.sign_method.name(),
        100.0 * share,
        100.0 * moved as f64 / nodes as f64,
    );
    assert!(moved > 0, "{name}: the change moved no node");
    share
}

/// Moves the vertices within `reach` of one of them by up to `by`, both in extents of the mesh.
fn dented(mesh: &TriangleMesh, reach: f64, by: f64, seed: u64) -> TriangleMesh {
    let mut random = Random::new(seed);
    let extent = mesh.bounds().extents().max_element();
    let mut mesh = mesh.clone();
    let face = mesh.faces[random.below(mesh.faces.len())];
    let center = mesh.vertices[face[0] as usize];
    // Inward, so that it stays within the grid for every seed.
    let inward = (mesh.bounds().center() - center).normalize_or_zero();
    for vertex in &mut mesh.vertices {
        let near = 1.0 - vertex.distance(center) / (reach * extent);
        if near > 0.0 {
            *vertex += by * extent * near * (inward + 0.3 * random.unit_vector());
        }
    }
    mesh
}

/// Returns the mesh without the faces near one of them.
fn cut(mesh: &TriangleMesh, reach: f64, seed: u64) -> TriangleMesh {
    let mut random = Random::new(seed);
    let extent = mesh.bounds().extents().max_element();
    let center = mesh.triangle(random.below(mesh.faces.len())).centroid();
    let mut cut = mesh.clone();
    let mut index = 0;
    cut.faces.retain(|_| {
        let far = mesh.triangle(index).centroid().distance(center) > reach * extent;
        index += 1;
        far
    });
    cut
}

/// Returns the mesh with a small ball beside it, within the padding.
fn with_pimple(mesh: &TriangleMesh, seed: u64) -> TriangleMesh {
    let mut random = Random::new(seed);
    let extent = mesh.bounds().extents().max_element();
    let face = mesh.triangle(random.below(mesh.faces.len()));
    let out = face.normal().unwrap_or(DVec3::Z);
    let ball = icosphere(0.02 * extent, 1);
    joined(
        mesh.clone(),
        &moved(ball, face.centroid() + 0.045 * extent * out),
    )
}

fn bases() -> Vec<(&'static str, TriangleMesh)> {
    vec![
        ("ball", icosphere(1.0, 4)),
        ("mug", model("mug")),
        ("gear", model("gear")),
        ("torus", model("torus")),
        ("star", random_star(3)),
        ("cross", plus()),
    ]
}

#[test]
fn moved_vertices() {
    let mut shares = Vec::new();
    for (name, mesh) in bases() {
        for seed in 1..=3 {
            for (reach, by) in [(0.05, 0.005), (0.12, 0.03)] {
                let new = dented(&mesh, reach, by, seed);
                let name = format!("{name}, {reach} moved by {by}, {seed}");
                shares.push(check(&name, &mesh, &new, &settings(40)));
            }
        }
    }
    shares.sort_by(f64::total_cmp);
    println!("median {:.3}", shares[shares.len() / 2]);
    assert!(shares[shares.len() / 2] < 0.2, "{shares:?}");
}

#[test]
fn parts_that_come_and_go() {
    for (name, mesh) in bases() {
        for seed in 1..=2 {
            let more = with_pimple(&mesh, seed);
            check(
                &format!("{name}, with a pimple, {seed}"),
                &mesh,
                &more,
                &settings(40),
            );
            check(
                &format!("{name}, without it, {seed}"),
                &more,
                &mesh,
                &settings(40),
            );
        }
    }
}

/// A hole changes the sign method everywhere, but distances are kept.
#[test]
fn holes_that_come_and_go() {
    for (name, mesh) in bases() {
        let open = cut(&mesh, 0.08, 1);
        check(&format!("{name}, cut open"), &mesh, &open, &settings(36));
        check(&format!("{name}, mended"), &open, &mesh, &settings(36));
        let more = cut(&open, 0.1, 5);
        if changed_box(&open, &more).is_empty() {
            continue;
        }
        check(
            &format!("{name}, cut open more"),
            &open,
            &more,
            &settings(36),
        );
    }
}

#[test]
fn meshes_that_are_broken_anyway() {
    let star = random_star(1);
    for (name, mesh) in [
        ("soup", random_soup(300, 5)),
        ("holes", with_holes(&star, 0.2, 2)),
        (
            "cracks, flips",
            with_flips(&cracked(&star, 1e-3, 3), 0.5, 4),
        ),
        ("spindle torus", spindle_torus()),
        ("twice", with_copies(&icosphere(1.0, 3), 0.5, true, 6)),
        (
            "cavity",
            joined(icosphere(1.0, 3), &flipped(icosphere(0.5, 2))),
        ),
        ("inside out", flipped(icosphere(1.0, 3))),
    ] {
        for seed in 1..=2 {
            let new = dented(&mesh, 0.1, 0.02, seed);
            check(&format!("{name}, {seed}"), &mesh, &new, &settings(32));
        }
    }
}

#[test]
fn every_sign_that_can_be_chosen() {
    let mesh = model("torus");
    let new = dented(&mesh, 0.1, 0.02, 1);
    for method in [
        SignMethod::Pseudonormal,
        SignMethod::Winding,
        SignMethod::Parity,
    ] {
        let settings = BakeSettings {
            sign: SignChoice::Always(method),
            method: DistanceMethod::BoundTree,
            ..settings(32)
        };
        check(method.name(), &mesh, &new, &settings);
    }
}

/// The whole mesh may change; a box that is larger than the change costs work, but the result is
/// right.
#[test]
fn boxes_of_any_size() {
    let mesh = model("mug");
    let settings = settings(32);
    let before = bake_quietly(&mesh, &settings).unwrap();
    let all = mesh.bounds().grown(1.0);
    let nothing = update(&before, Some(&mesh), &mesh, DAabb::EMPTY, &settings).unwrap();
    assert_eq!(nothing.recomputed, 0);
    assert_eq!(bits(&nothing.baked), bits(&before));
    let far = DAabb::from_center(DVec3::splat(1e9), DVec3::ONE);
    let far = update(&before, Some(&mesh), &mesh, far, &settings).unwrap();
    assert_eq!((far.recomputed, bits(&far.baked)), (0, bits(&before)));
    for changed in [all, DAabb::EVERYTHING] {
        let found = update(&before, None, &mesh, changed, &settings).unwrap();
        assert_eq!(found.recomputed, before.field.values().len(), "{changed:?}");
        assert_eq!(bits(&found.baked), bits(&before), "{changed:?}");
    }
    // A point on the surface: the smallest possible box.
    let point = mesh.vertices[0];
    let small = DAabb::new(point, point);
    let small = update(&before, Some(&mesh), &mesh, small, &settings).unwrap();
    assert!(small.recomputed > 0);
    assert_eq!(bits(&small.baked), bits(&before));
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let mesh = icosphere(1.0, 3);
    let settings = settings(24);
    let before = bake_quietly(&mesh, &settings).unwrap();
    let new = dented(&mesh, 0.2, 0.1, 1);
    let changed = changed_box(&mesh, &new);
    let too_small = DAabb::from_center(changed.center(), 0.4 * changed.extents());
    let refused = update(&before, Some(&mesh), &new, too_small, &settings);
    let Err(UpdateError::ChangedOutside { faces, at }) = refused else {
        panic!("{refused:?}");
    };
    assert!(faces > 0 && changed.contains(at), "{faces} {at}");
    let outside = joined(mesh.clone(), &moved(icosphere(0.1, 1), 2.0 * DVec3::X));
    let refused = update(&before, None, &outside, changed, &settings);
    assert!(
        matches!(
            refused,
            Err(UpdateError::Bake(BakeError::Layout(
                LayoutError::BeyondGrid { .. }
            )))
        ),
        "{refused:?}"
    );
    for method in [
        DistanceMethod::Chamfer,
        DistanceMethod::BruteForce,
        DistanceMethod::FastMarching,
    ] {
        let settings = BakeSettings { method, ..settings };
        let refused = update(&before, None, &new, changed, &settings);
        assert_eq!(refused.err(), Some(UpdateError::NeedsExact(method.name())));
    }
    let offset = BakeSettings {
        sign: SignChoice::Offset(OffsetWidth::default()),
        ..settings
    };
    let refused = update(&before, None, &new, changed, &offset);
    assert_eq!(refused.err(), Some(UpdateError::NeedsExact("offset")));
    for bad in [
        DAabb::new(DVec3::NAN, DVec3::NAN),
        DAabb::new(DVec3::ONE, DVec3::ZERO),
    ] {
        let refused = update(&before, None, &new, bad, &settings);
        assert!(
            matches!(refused, Err(UpdateError::BadChangedBox { .. })),
            "{bad:?}"
        );
    }
    let none = update(&before, None, &TriangleMesh::default(), changed, &settings);
    assert_eq!(
        none.err(),
        Some(UpdateError::Bake(BakeError::Mesh(MeshError::NoFaces)))
    );
}

/// A field of another method is exact near the surface only: none of it is kept, and its bound does
/// not become better.
#[test]
fn what_is_not_exact_is_not_kept() {
    let mesh = icosphere(1.0, 3);
    let settings = settings(32);
    let new = dented(&mesh, 0.2, 0.1, 1);
    let open = cut(&mesh, 0.2, 1);
    let chamfer = BakeSettings {
        method: DistanceMethod::Chamfer,
        ..settings
    };
    let offset = BakeSettings {
        sign: SignChoice::Offset(OffsetWidth::default()),
        ..settings
    };
    for (old, new, how) in [
        (&mesh, &new, chamfer),
        (&open, &mesh, chamfer),
        (&mesh, &open, offset),
    ] {
        let before = bake_quietly(old, &how).unwrap();
        let updated = update(&before, Some(old), new, changed_box(old, new), &settings).unwrap();
        let anew = bake_on(new, *before.field.layout(), &settings, &|_| {
            ControlFlow::Continue(())
        });
        assert_eq!(bits(&updated.baked), bits(&anew.unwrap()));
        assert_eq!(updated.recomputed, before.field.values().len());
    }
}

#[test]
fn real_models() {
    for Named { name, mesh } in real() {
        if mesh.faces.len() > 50_000 || !is_closed(&mesh) {
            continue;
        }
        check(&name, &mesh, &dented(&mesh, 0.03, 0.005, 1), &settings(64));
    }
}

const WIDTH: f64 = 3.0;

fn band(bits: Bits, conservative: bool) -> SparseSettings {
    SparseSettings {
        goal: SparseGoal::Band(WIDTH),
        bits,
        conservative,
    }
}

fn baked_band(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    sparse: &SparseSettings,
) -> Baked<SparseBlocks> {
    bake_sparse(mesh, settings, sparse, &|_| ControlFlow::Continue(())).unwrap()
}

fn update_band(
    before: &Baked<SparseBlocks>,
    old_mesh: Option<&TriangleMesh>,
    mesh: &TriangleMesh,
    changed: DAabb,
    settings: &BakeSettings,
) -> Result<Rebaked<SparseBlocks>, UpdateError> {
    let before = SparseBefore {
        field: &before.field,
        provenance: &before.provenance,
        mesh: old_mesh,
    };
    rebake_sparse(&before, mesh, changed, WIDTH, settings, &|_| {
        ControlFlow::Continue(())
    })
}

/// Returns everything except the time, as it is stored.
fn stored(baked: &Baked<SparseBlocks>) -> Vec<u8> {
    file::to_bytes(&StoredField::from(baked.field.clone()), &baked.provenance)
}

/// Updates a band and bakes it anew, and returns the share of values computed.
fn check_band(
    name: &str,
    old: &TriangleMesh,
    new: &TriangleMesh,
    settings: &BakeSettings,
    sparse: &SparseSettings,
) -> f64 {
    let before = baked_band(old, settings, sparse);
    let updated = update_band(&before, Some(old), new, changed_box(old, new), settings);
    let updated = updated.unwrap_or_else(|error| panic!("{name}: {error}"));
    let layout = *before.field.layout();
    let anew = bake_sparse_on(
        new,
        layout,
        settings,
        sparse,
        &|_| ControlFlow::Continue(()),
    );
    assert!(stored(&updated.baked) == stored(&anew.unwrap()), "{name}");
    assert!(
        stored(&updated.baked) != stored(&before),
        "{name}: nothing moved"
    );
    let share = updated.recomputed as f64 / updated.baked.field.parts().values.len() as f64;
    println!("{name:<40} {:5.1} % computed", 100.0 * share);
    share
}

#[test]
fn bands() {
    let mut shares = Vec::new();
    for (name, mesh) in bases() {
        for (seed, bits) in [(1, Bits::Eight), (2, Bits::Sixteen), (3, Bits::ThirtyTwo)] {
            for conservative in [false, true] {
                let new = dented(&mesh, 0.06, 0.01, seed);
                let name = format!("{name}, {bits:?}, {conservative}");
                let sparse = band(bits, conservative);
                shares.push(check_band(&name, &mesh, &new, &settings(160), &sparse));
            }
        }
        let more = with_pimple(&mesh, 1);
        let sparse = SparseSettings::default();
        let name = format!("{name}, pimple");
        let roomy = BakeSettings {
            padding: 12,
            ..settings(120)
        };
        check_band(&name, &mesh, &more, &roomy, &sparse);
        check_band(&name, &more, &mesh, &roomy, &sparse);
    }
    shares.sort_by(f64::total_cmp);
    println!("median {:.3}", shares[shares.len() / 2]);
    assert!(shares[shares.len() / 2] < 0.3, "{shares:?}");
}

/// Meshes that cross themselves have winding numbers, which do not change outside the box. If the
/// mesh from before is unknown, or faces were flipped for the sign, nothing is kept.
#[test]
fn meshes_that_cross_themselves() {
    let sparse = SparseSettings::default();
    let inward = flipped(icosphere(1.0, 3));
    for (name, mesh, is_kept) in [
        ("spindle torus", spindle_torus(), true),
        (
            "crossing balls",
            joined(icosphere(1.0, 3), &moved(icosphere(1.0, 3), DVec3::X)),
            true,
        ),
        (
            "one of them inside out",
            joined(icosphere(1.0, 3), &moved(inward, DVec3::X)),
            false,
        ),
        (
            "nested, alike",
            joined(icosphere(1.0, 3), &icosphere(0.6, 3)),
            true,
        ),
    ] {
        let new = dented(&mesh, 0.1, 0.02, 1);
        let shares = [
            check(name, &mesh, &new, &settings(48)),
            check_band(name, &mesh, &new, &settings(120), &sparse),
        ];
        let is_as_expected = |share: f64| if is_kept { share < 0.7 } else { share == 1.0 };
        assert!(shares.into_iter().all(is_as_expected), "{name}: {shares:?}");
        let settings = settings(60);
        let before = baked_band(&mesh, &settings, &sparse);
        let unknown = update_band(&before, None, &new, changed_box(&mesh, &new), &settings);
        let unknown = unknown.unwrap();
        let all = unknown.baked.field.parts().values.len();
        assert_eq!(unknown.recomputed, all, "{name}");
    }
}

/// A change may make a mesh cross itself, or end that.
#[test]
fn crossings_that_come_and_go() {
    for (name, mesh) in bases() {
        let extent = mesh.bounds().extents().max_element();
        let ball = icosphere(0.03 * extent, 2);
        let crossed = joined(mesh.clone(), &moved(ball, mesh.triangle(7).centroid()));
        let roomy = |nodes| BakeSettings {
            padding: 8,
            ..settings(nodes)
        };
        let sparse = SparseSettings::default();
        for (old, new) in [(&mesh, &crossed), (&crossed, &mesh)] {
            check(name, old, new, &roomy(40));
            check_band(name, old, new, &roomy(120), &sparse);
        }
    }
}

/// Every sign method that can be chosen for a band.
#[test]
fn bands_of_chosen_signs() {
    let (mesh, sparse) = (model("torus"), SparseSettings::default());
    let new = dented(&mesh, 0.1, 0.02, 1);
    for (method, is_kept) in [
        (SignMethod::Winding, true),
        (SignMethod::Pseudonormal, false),
    ] {
        let chosen = BakeSettings {
            sign: SignChoice::Always(method),
            ..settings(120)
        };
        let share = check_band(method.name(), &mesh, &new, &chosen, &sparse);
        assert_eq!(share < 1.0, is_kept, "{method:?}: {share}");
    }
}

/// The rounding of a far node depends on the group of nodes it is searched in and on the centre of
/// that group, which may be in the next block. Tiny parts beside walls change these and little
/// else.
#[test]
fn tiny_parts_beside_walls() {
    let mut random = Random::new(11);
    let wall = squeezed(cube(1), DVec3::new(1.0, 0.9, 0.5));
    for trial in 0..100 {
        let place = random.in_box(DVec3::new(-0.9, -0.8, 0.52), DVec3::new(0.9, 0.8, 0.7));
        let size = 10f64.powf(random.uniform(-4.0, -2.0));
        let part = moved(icosphere(size, 0), place);
        let more = joined(wall.clone(), &part);
        let settings = BakeSettings {
            padding: 24,
            ..settings(100 + trial % 29)
        };
        let sparse = band(Bits::ThirtyTwo, false);
        let name = format!("part of {size:.1e} at {place:.3}");
        let shares = [
            check_band(&name, &wall, &more, &settings, &sparse),
            check_band(&name, &more, &wall, &settings, &sparse),
        ];
        assert!(shares.into_iter().all(|share| share < 0.5), "{shares:?}");
    }
}

/// Nodes exactly on walls have no side. Whichever way the sign rounds, their value is the same
/// positive zero.
#[test]
fn nodes_on_walls() {
    // Walls in common planes, through nodes: cells of 1/32, from −5/8 on.
    let cube = squeezed(cube(1), DVec3::splat(0.5));
    let pair = joined(cube.clone(), &moved(cube, DVec3::new(0.25, 0.125, 0.0)));
    let ball = |radius| moved(icosphere(radius, 2), DVec3::new(1.2, 0.0, 0.0));
    let (old, new) = (joined(pair.clone(), &ball(0.1)), joined(pair, &ball(0.11)));
    let layout = GridLayout {
        origin: Vec3::new(-0.625, -0.625, -0.625),
        cell_size: 1.0 / 32.0,
        nodes: UVec3::new(65, 41, 41),
    };
    let go_on = |_| ControlFlow::Continue(());
    let plain = BakeSettings::default();
    let before = bake_on(&old, layout, &plain, &go_on).unwrap();
    let on_walls = before.field.values().iter().filter(|value| **value == 0.0);
    assert!(on_walls.clone().count() > 100);
    assert!(on_walls.clone().all(|value| value.is_sign_positive()));
    let changed = changed_box(&old, &new);
    let updated = update(&before, Some(&old), &new, changed, &plain).unwrap();
    let anew = bake_on(&new, layout, &plain, &go_on).unwrap();
    assert_eq!(bits(&updated.baked), bits(&anew));
    assert!(updated.recomputed < before.field.values().len());
    let coarse = GridLayout {
        cell_size: 0.25,
        nodes: UVec3::new(9, 6, 6),
        ..layout
    };
    let sparse = band(Bits::ThirtyTwo, false);
    let before = bake_sparse_on(&old, coarse, &plain, &sparse, &go_on).unwrap();
    let updated = update_band(&before, Some(&old), &new, changed, &plain).unwrap();
    let anew = bake_sparse_on(&new, coarse, &plain, &sparse, &go_on).unwrap();
    assert!(stored(&updated.baked) == stored(&anew));
    assert!(updated.recomputed < before.field.parts().values.len());
}

/// A band of another width has other exact nodes: none is kept.
#[test]
fn bands_of_another_width_are_computed_anew() {
    let (old, settings) = (icosphere(1.0, 4), settings(120));
    let new = dented(&old, 0.1, 0.02, 1);
    let before = SparseSettings {
        goal: SparseGoal::Band(2.8),
        ..SparseSettings::default()
    };
    let before = baked_band(&old, &settings, &before);
    let updated = update_band(
        &before,
        Some(&old),
        &new,
        changed_box(&old, &new),
        &settings,
    );
    let updated = updated.unwrap();
    let layout = *before.field.layout();
    let anew = bake_sparse_on(&new, layout, &settings, &SparseSettings::default(), &|_| {
        ControlFlow::Continue(())
    });
    assert!(stored(&updated.baked) == stored(&anew.unwrap()));
    let all = updated.baked.field.parts().values.len();
    assert_eq!(updated.recomputed, all);
}

/// Blocks of a conversion have other values than those of a bake, and a band does not keep a
/// tolerance: neither is updated.
#[test]
fn what_is_no_baked_band_is_refused() {
    let (old, settings) = (icosphere(1.0, 4), settings(80));
    let new = dented(&old, 0.1, 0.02, 1);
    let changed = changed_box(&old, &new);
    let refused = |before: &Baked<SparseBlocks>| {
        let updated = update_band(before, None, &new, changed, &settings);
        assert_eq!(updated.err(), Some(UpdateError::NeedsBand));
    };
    let baked = baked_band(&old, &settings, &SparseSettings::default());
    let wide = baked_band(&old, &settings, &band(Bits::ThirtyTwo, false));
    let dense = bake_quietly(&old, &settings).unwrap();
    for (field, provenance) in [
        (StoredField::from(dense.field), dense.provenance),
        (wide.field.into(), wide.provenance),
    ] {
        let target = ConvertSettings {
            target: Target::Sparse {
                keep: Keep::Band(WIDTH),
                bits: Bits::Sixteen,
            },
            ..ConvertSettings::default()
        };
        let converted = convert(&field, &target, &|_| ControlFlow::Continue(())).unwrap();
        let provenance = converted_provenance(&field, &provenance, &converted, &target);
        let StoredField::Sparse(field) = converted else {
            panic!("not sparse");
        };
        refused(&Baked {
            field,
            provenance,
            ..baked.clone()
        });
    }
    // For the largest tolerance coarse cells are enough.
    for share in [1e-3, 1e-2, 3e-2, 0.3] {
        let tolerance = SparseSettings {
            goal: SparseGoal::Tolerance(share * old.bounds().diagonal()),
            ..SparseSettings::default()
        };
        refused(&baked_band(&old, &settings, &tolerance));
    }
}

#[test]
fn bands_with_boxes_of_any_size_and_refusals() {
    let (mesh, settings) = (model("mug"), settings(100));
    let before = baked_band(&mesh, &settings, &SparseSettings::default());
    let all = before.field.parts().values.len();
    let far = DAabb::from_center(DVec3::splat(1e9), DVec3::ONE);
    for (changed, recomputed) in [(DAabb::EMPTY, 0), (far, 0), (DAabb::EVERYTHING, all)] {
        let found = update_band(&before, Some(&mesh), &mesh, changed, &settings).unwrap();
        assert_eq!(found.recomputed, recomputed, "{changed:?}");
        assert!(stored(&found.baked) == stored(&before), "{changed:?}");
    }
    let new = dented(&mesh, 0.1, 0.02, 1);
    let changed = changed_box(&mesh, &new);
    let too_small = DAabb::from_center(changed.center(), 0.4 * changed.extents());
    let refused = update_band(&before, Some(&mesh), &new, too_small, &settings);
    assert!(matches!(refused, Err(UpdateError::ChangedOutside { .. })));
    let bad = DAabb::new(DVec3::ONE, DVec3::ZERO);
    let refused = update_band(&before, None, &new, bad, &settings);
    assert!(matches!(refused, Err(UpdateError::BadChangedBox { .. })));
    let outside = joined(mesh.clone(), &moved(icosphere(0.1, 1), 9.0 * DVec3::X));
    let refused = update_band(&before, None, &outside, changed, &settings);
    assert!(matches!(
        refused,
        Err(UpdateError::Bake(BakeError::Layout(
            LayoutError::BeyondGrid { .. }
        )))
    ));
    let open = cut(&mesh, 0.1, 1);
    let refused = update_band(&before, None, &open, changed, &settings);
    assert_eq!(
        refused.err(),
        Some(UpdateError::Sparse(SparseBakeError::NeedsClosed))
    );
    let tolerance = SparseSettings {
        goal: SparseGoal::Tolerance(1e-2 * mesh.bounds().diagonal()),
        ..SparseSettings::default()
    };
    let by_tolerance = baked_band(&mesh, &settings, &tolerance);
    let refused = update_band(&by_tolerance, None, &new, changed, &settings);
    assert_eq!(refused.err(), Some(UpdateError::NeedsBand));
}

#[test]
fn bands_of_real_models() {
    for Named { name, mesh } in real() {
        // Far from the origin, `f32` does not resolve such cells.
        let is_far = mesh.bounds().center().length() > 1e4 * mesh.bounds().diagonal();
        if mesh.faces.len() > 50_000 || is_far {
            continue;
        }
        let new = dented(&mesh, 0.03, 0.005, 1);
        // Corners of a soup move independently, which opens it.
        let is_open = |mesh| {
            let sparse = SparseSettings::default();
            let baked = bake_sparse(mesh, &settings(16), &sparse, &|_| ControlFlow::Continue(()));
            baked.err() == Some(SparseBakeError::NeedsClosed)
        };
        if !is_open(&mesh) && !is_open(&new) {
            let sparse = SparseSettings::default();
            check_band(&name, &mesh, &new, &settings(160), &sparse);
        }
    }
}
