use glam::DVec3;

use super::super::test_meshes::*;
use super::*;

/// Returns the kinds that occur, each once.
fn kinds(mesh: &TriangleMesh) -> Vec<&'static str> {
    validate(mesh)
        .by_kind()
        .into_iter()
        .map(|(kind, _, _)| kind)
        .collect()
}

#[test]
fn clean_meshes_have_no_defect() {
    for (name, clean, volume) in [
        ("tetrahedron", tetrahedron(), 1.0 / 6.0),
        ("cube", cube([-3.0, 5.0, 1.0], 2.0), 8.0),
        ("soup of a cube", soup(&cube([0.1, 0.2, 0.3], 1.0)), 1.0),
        ("far cube", cube([1e5, 1e5, 1e5], 0.5), 0.125),
    ] {
        let found = validate(&clean);
        assert_eq!(found.defects, [], "{name}");
        assert!(found.watertight && found.manifold, "{name}");
        assert_eq!(found.components, 1, "{name}");
        assert!(
            (found.signed_volume - volume).abs() < 1e-9,
            "{name}: {}",
            found.signed_volume
        );
        assert_eq!(found.self_intersections, SelfIntersectionList::Complete);
    }
    let sphere = validate(&icosphere(5, 1.0));
    assert_eq!((sphere.defects.len(), sphere.faces), (0, 20_480));
}

#[test]
fn an_empty_mesh_is_neither_watertight_nor_defective() {
    let found = validate(&TriangleMesh::default());
    assert_eq!(found.defects, []);
    assert!(!found.watertight);
    assert!(found.bounds.is_empty());
    assert_eq!(kinds(&mesh(&[[0.0; 3]; 2], &[])), ["unreferenced"]);
}

#[test]
fn vertices_that_are_not_finite_are_named_and_their_faces_left_out() {
    let mut broken = cube([0.0; 3], 1.0);
    broken.vertices[7].y = f64::NAN;
    broken.vertices[5].z = f64::NEG_INFINITY;
    let found = validate(&broken);
    assert_eq!(
        found.defects[..2],
        [
            Defect::NonFinite { vertex: 5 },
            Defect::NonFinite { vertex: 7 }
        ]
    );
    assert!(
        !found.watertight && found.signed_volume.is_finite() && found.bounds.diagonal().is_finite()
    );
}

#[test]
fn indices_out_of_range_are_named() {
    let mut broken = tetrahedron();
    broken.faces.push([1, 4, u32::MAX]);
    assert_eq!(
        validate(&broken).defects,
        [
            Defect::IndexOutOfRange { face: 4, index: 4 },
            Defect::IndexOutOfRange {
                face: 4,
                index: u32::MAX
            },
        ]
    );
}

#[test]
fn faces_without_area_are_named_at_any_scale_and_place() {
    for scale in [1e-150, 1e-12, 1.0, 1e12, 1e150, 1e300] {
        let mut flat = tetrahedron();
        // 0.1, 0.2 and 0.3 are collinear only up to rounding.
        flat.vertices
            .extend([0.1, 0.2, 0.3].map(|t| DVec3::new(t, 3.0 * t, 7.0 * t)));
        flat.faces.extend([[0, 0, 1], [4, 5, 6]]);
        for v in &mut flat.vertices {
            *v *= scale;
        }
        let degenerate: Vec<_> = validate(&flat).of_kind("degenerate").cloned().collect();
        assert_eq!(
            degenerate,
            [
                Defect::Degenerate { face: 4 },
                Defect::Degenerate { face: 5 }
            ],
            "scale {scale}"
        );
    }
    let mut copies = tetrahedron();
    copies.vertices.push(-DVec3::ZERO);
    copies.faces.push([0, 4, 1]);
    assert_eq!(validate(&copies).defects, [Defect::Degenerate { face: 4 }]);
    // A sliver is thin but not degenerate.
    let sliver = mesh(
        &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 1e-12, 0.0]],
        &[[0, 1, 2]],
    );
    assert_eq!(kinds(&sliver), ["open_edge"]);
}

#[test]
fn duplicates_are_named_with_their_orientation() {
    let mut twice = tetrahedron();
    twice.faces.extend([[2, 1, 0], [1, 0, 3]]);
    let found = validate(&twice);
    let duplicates: Vec<_> = found.of_kind("duplicate").cloned().collect();
    assert_eq!(
        duplicates,
        [
            Defect::Duplicate {
                face: 4,
                of: 0,
                reversed: false
            },
            Defect::Duplicate {
                face: 5,
                of: 1,
                reversed: true
            },
        ]
    );
    assert_eq!(found.count("self_intersection"), 0);
}

#[test]
fn an_unreferenced_vertex_is_named_and_does_not_stretch_the_box() {
    let mut lonely = tetrahedron();
    lonely.vertices.insert(2, DVec3::splat(1e9));
    for v in lonely.faces.iter_mut().flatten() {
        *v += u32::from(*v >= 2);
    }
    let found = validate(&lonely);
    assert_eq!(found.defects, [Defect::Unreferenced { vertex: 2 }]);
    assert_eq!(found.bounds.max, DVec3::ONE);
    assert!(found.watertight);
}

#[test]
fn an_open_box_has_four_open_edges() {
    let mut open = cube([0.0; 3], 1.0);
    open.faces.truncate(10);
    let found = validate(&open);
    assert_eq!(kinds(&open), ["open_edge"]);
    assert_eq!(found.count("open_edge"), 4);
    assert!(!found.watertight && found.manifold);
    // Reported in the mesh's own direction and indices, also for a soup.
    let single = mesh(
        &[[9.0; 3], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        &[[3, 1, 2]],
    );
    let open: Vec<_> = validate(&single).of_kind("open_edge").cloned().collect();
    assert_eq!(
        open,
        [[1, 2], [3, 1], [2, 3]].map(|vertices| Defect::OpenEdge { vertices, face: 0 })
    );
}

#[test]
fn cubes_that_share_an_edge_or_a_vertex() {
    let edge = merged(&[cube([0.0; 3], 1.0), cube([1.0, 1.0, 0.0], 1.0)]);
    let found = validate(&edge);
    assert_eq!(kinds(&edge), ["non_manifold_edge"]);
    assert_eq!(found.count("non_manifold_edge"), 1);
    let Defect::NonManifoldEdge { vertices, faces } = &found.defects[0] else {
        panic!("{:?}", found.defects);
    };
    assert_eq!((faces.len(), vertices), (4, &[3, 7]));
    assert!(!found.manifold && !found.watertight);

    let corner = merged(&[cube([0.0; 3], 1.0), cube([1.0; 3], 1.0)]);
    let found = validate(&corner);
    assert_eq!(found.defects, [Defect::BowTieVertex { vertex: 7 }]);
    assert!(!found.manifold && found.watertight);
}

#[test]
fn a_fin_is_one_non_manifold_edge_and_two_open_ones() {
    let mut fin = cube([0.0; 3], 1.0);
    fin.vertices.push(DVec3::new(2.0, 2.0, 0.5));
    fin.faces.push([3, 7, 8]);
    let found = validate(&fin);
    assert_eq!(kinds(&fin), ["open_edge", "non_manifold_edge"]);
    assert_eq!(
        (found.count("open_edge"), found.count("non_manifold_edge")),
        (2, 1)
    );
}

#[test]
fn a_flipped_face_disagrees_with_three_neighbours() {
    let mut flipped = cube([0.0; 3], 1.0);
    flipped.faces[4].swap(0, 1);
    let found = validate(&flipped);
    assert_eq!(kinds(&flipped), ["inconsistent_orientation"]);
    assert_eq!(found.count("inconsistent_orientation"), 3);
    assert!(found.watertight && found.manifold);
    for defect in &found.defects {
        let Defect::InconsistentOrientation { faces, vertices } = defect else {
            panic!("{defect}");
        };
        assert!(faces.contains(&4));
        assert!(vertices.iter().all(|v| flipped.faces[4].contains(v)));
    }
}

#[test]
fn a_moebius_strip_disagrees_with_itself_once() {
    let found = validate(&moebius(12));
    assert_eq!(found.count("inconsistent_orientation"), 1);
    assert_eq!(found.count("open_edge"), 24);
    assert_eq!(found.defects.len(), 25);
    assert!(found.manifold);
}

#[test]
fn inside_out_depends_on_what_is_around() {
    let [outer, middle, inner] = [3.0, 2.0, 1.0].map(|radius| icosphere(1, radius));
    let shell = |sign: i32, sphere: &TriangleMesh| {
        if sign > 0 {
            sphere.clone()
        } else {
            inverted(sphere.clone())
        }
    };
    // Orientations from outside to inside; which shells are inside out; which nested pairs have the
    // same orientation.
    for (signs, wrong, same) in [
        (&[1][..], &[][..], &[][..]),
        (&[-1], &[0], &[]),
        (&[1, -1], &[], &[false]),
        (&[1, 1], &[], &[true]),
        (&[-1, 1], &[0, 1], &[false]),
        (&[-1, -1], &[0, 1], &[true]),
        (&[1, -1, 1], &[], &[false, false]),
        (&[-1, 1, -1], &[0, 1, 2], &[false, false]),
        (&[1, -1, -1], &[2], &[false, true]),
    ] {
        let spheres = [&outer, &middle, &inner];
        let parts: Vec<_> = signs
            .iter()
            .zip(spheres)
            .map(|(&sign, sphere)| shell(sign, sphere))
            .collect();
        let found = validate(&merged(&parts));
        let inside_out: Vec<u32> = found
            .of_kind("inside_out")
            .filter_map(|d| match d {
                Defect::InsideOut { component, .. } => Some(*component),
                _ => None,
            })
            .collect();
        assert_eq!(inside_out, wrong, "inside out of {signs:?}");
        let nested: Vec<_> = found.of_kind("nested_shells").cloned().collect();
        let expected: Vec<_> = (0u32..)
            .zip(same)
            .map(|(i, &same_orientation)| Defect::NestedShells {
                outer: i,
                inner: i + 1,
                faces: [80 * i, 80 * (i + 1)],
                same_orientation,
            })
            .collect();
        assert_eq!(nested, expected, "nested of {signs:?}");
        assert_eq!(
            found.defects.len(),
            wrong.len() + same.len(),
            "{signs:?}: {:?}",
            found.defects
        );
    }
}

#[test]
fn nesting_of_random_cubes_is_as_their_corners_tell() {
    let mut random = Random(5);
    for round in 0..40 {
        // A cube has room for eight of a quarter of its size, none of which touch: containment
        // follows from the corners.
        let mut cubes = vec![([0.0; 3], 1024.0)];
        while cubes.len() < 30 {
            let (min, size) = cubes[random.below(cubes.len())];
            let inner = size / 4.0;
            let min: [f64; 3] = min.map(|x| x + inner * (0.5 + 2.0 * random.below(2) as f64));
            if size > 2.0 && !cubes.contains(&(min, inner)) {
                cubes.push((min, inner));
            }
        }
        random.shuffle(&mut cubes);
        let signs: Vec<i32> = cubes
            .iter()
            .map(|_| if random.below(2) == 0 { 1 } else { -1 })
            .collect();
        let parts: Vec<TriangleMesh> = cubes
            .iter()
            .zip(&signs)
            .map(|(&(min, size), &sign)| {
                if sign > 0 {
                    cube(min, size)
                } else {
                    inverted(cube(min, size))
                }
            })
            .collect();
        let found = validate(&merged(&parts));
        assert_eq!(found.count("self_intersection"), 0, "round {round}");

        let holds = |&(a, wide): &([f64; 3], f64), &(b, narrow): &([f64; 3], f64)| {
            wide > narrow && (0..3).all(|k| a[k] < b[k] && b[k] + narrow < a[k] + wide)
        };
        let (mut nested, mut inside_out) = (Vec::new(), Vec::new());
        for (inner, own) in cubes.iter().enumerate() {
            let around: Vec<usize> = (0..cubes.len())
                .filter(|&outer| holds(&cubes[outer], own))
                .collect();
            let parent = around
                .iter()
                .copied()
                .min_by(|&a, &b| cubes[a].1.total_cmp(&cubes[b].1));
            nested.extend(parent.map(|outer| [outer as u32, inner as u32]));
            let winding: i32 = around.iter().map(|&outer| signs[outer]).sum();
            if signs[inner] < 0 && winding <= 0 || signs[inner] > 0 && winding < 0 {
                inside_out.push(inner as u32);
            }
        }
        let listed: Vec<[u32; 2]> = found
            .of_kind("nested_shells")
            .filter_map(|defect| match defect {
                Defect::NestedShells { outer, inner, .. } => Some([*outer, *inner]),
                _ => None,
            })
            .collect();
        assert_eq!(listed, nested, "round {round}");
        let listed: Vec<u32> = found
            .of_kind("inside_out")
            .filter_map(|defect| match defect {
                Defect::InsideOut { component, .. } => Some(*component),
                _ => None,
            })
            .collect();
        assert_eq!(listed, inside_out, "round {round}");
    }
}

/// Regression test: nesting must not cast a ray through all other shells for each shell, nor use
/// quadratic memory.
#[test]
fn twenty_thousand_shells_in_a_nest_and_in_a_row() {
    let count = 20_000;
    let quick = ValidateSettings {
        self_intersections: SelfIntersectionCheck::Skip,
        ..ValidateSettings::default()
    };
    let nest: Vec<TriangleMesh> = (0..count)
        .map(|i| {
            let mut shell = tetrahedron();
            for vertex in &mut shell.vertices {
                *vertex = (*vertex - 0.25) * (1.0 + f64::from(i));
            }
            shell
        })
        .collect();
    let found = validate_with(&merged(&nest), &quick);
    let parents = found
        .of_kind("nested_shells")
        .filter_map(|defect| match defect {
            Defect::NestedShells { outer, inner, .. } => Some([*inner, *outer]),
            _ => None,
        });
    assert!(parents.eq((0..count - 1).map(|i| [i, i + 1])));
    let row: Vec<TriangleMesh> = (0..count)
        .map(|i| moved(tetrahedron(), [3.0 * f64::from(i), 0.0, 0.0]))
        .collect();
    let found = validate_with(&merged(&row), &quick);
    assert_eq!(
        (found.components, found.count("nested_shells")),
        (count as usize, 0)
    );
}

#[test]
fn nesting_is_exact_when_rays_run_through_vertices_and_along_faces() {
    // All corners on one lattice: every ray along x hits edges, vertices or faces edge-on.
    let inner: Vec<_> = [[1.0, 1.0, 1.0], [3.0, 3.0, 3.0], [1.0, 3.0, 1.0]]
        .map(|min| inverted(cube(min, 1.0)))
        .into();
    let solid = merged(
        &[
            vec![cube([0.0; 3], 5.0)],
            inner,
            vec![cube([6.0, 1.0, 1.0], 1.0)],
        ]
        .concat(),
    );
    let found = validate(&solid);
    assert_eq!(found.count("nested_shells"), 3);
    assert_eq!(
        found.of_kind("disconnected_parts").next(),
        Some(&Defect::DisconnectedParts { components: 2 })
    );
    assert_eq!(found.defects.len(), 4, "{:?}", found.defects);
}

#[test]
fn a_ring_does_not_hold_what_lies_in_its_hole() {
    // A square ring: outer and inner walls, top and bottom.
    let corner = |x: f64, y: f64, z: f64| [x, y, z];
    let mut vertices = Vec::new();
    for z in [0.0, 1.0] {
        for r in [3.0, 1.0] {
            vertices.extend([
                corner(-r, -r, z),
                corner(r, -r, z),
                corner(r, r, z),
                corner(-r, r, z),
            ]);
        }
    }
    let mut faces = Vec::new();
    let mut quad = |a: u32, b: u32, c: u32, d: u32| faces.extend([[a, b, c], [a, c, d]]);
    for i in 0..4 {
        let j = (i + 1) % 4;
        quad(i, j, 8 + j, 8 + i);
        quad(4 + j, 4 + i, 12 + i, 12 + j);
        quad(8 + i, 8 + j, 12 + j, 12 + i);
        quad(j, i, 4 + i, 4 + j);
    }
    let ring = mesh(&vertices, &faces);
    assert_eq!(validate(&ring).defects, []);
    let both = merged(&[ring.clone(), cube([-0.5, -0.5, 0.2], 0.5)]);
    assert_eq!(kinds(&both), ["disconnected_parts"]);
    let within = merged(&[ring, cube([2.0, 2.0, 0.2], 0.5)]);
    assert_eq!(kinds(&within), ["nested_shells"]);
}

#[test]
fn crossing_tetrahedra_intersect_and_are_not_nested() {
    let crossed = merged(&[tetrahedron(), moved(tetrahedron(), [0.1, 0.1, -0.2])]);
    let found = validate(&crossed);
    assert_eq!(kinds(&crossed), ["self_intersection", "disconnected_parts"]);
    assert!(
        found
            .of_kind("self_intersection")
            .all(|d| matches!(d, Defect::SelfIntersection { faces: [a, b] } if *a < 4 && *b >= 4))
    );
    for check in [SelfIntersectionCheck::First, SelfIntersectionCheck::Skip] {
        let settings = ValidateSettings {
            self_intersections: check,
            ..Default::default()
        };
        let found = validate_with(&crossed, &settings);
        let (count, list) = match check {
            SelfIntersectionCheck::First => (1, SelfIntersectionList::Truncated),
            _ => (0, SelfIntersectionList::NotChecked),
        };
        assert_eq!(
            (found.count("self_intersection"), found.self_intersections),
            (count, list)
        );
    }
}

#[test]
fn a_vertex_on_a_foreign_face_is_a_touch() {
    let touching = merged(&[cube([0.0; 3], 1.0), moved(tetrahedron(), [1.0, 0.25, 0.25])]);
    assert_eq!(
        kinds(&touching),
        ["self_intersection", "disconnected_parts"]
    );
    let above = merged(&[
        cube([0.0; 3], 1.0),
        moved(tetrahedron(), [1.0 + 1e-15, 0.25, 0.25]),
    ]);
    assert_eq!(kinds(&above), ["disconnected_parts"]);
}

#[test]
fn sizes_that_are_no_metres_are_suspicious() {
    let of_size = |size: f64| validate(&cube([0.0; 3], size)).defects;
    let diagonal = |size: f64| size * 3.0f64.sqrt();
    assert!(
        matches!(of_size(50.0)[..], [Defect::SuspiciousUnits { guess: UnitGuess::Millimetres, diagonal: d }] if (d - diagonal(50.0)).abs() < 1e-9)
    );
    assert!(matches!(
        of_size(1e-5)[..],
        [Defect::SuspiciousUnits {
            guess: UnitGuess::ScaledTwice,
            ..
        }]
    ));
    assert_eq!(of_size(1e-3), []);
}

#[test]
fn every_kind_has_a_name_a_place_and_a_sentence() {
    let mut all = merged(&[
        cube([0.0; 3], 100.0),
        inverted(cube([10.0; 3], 10.0)),
        inverted(cube([200.0; 3], 10.0)),
    ]);
    all.append(&merged(&[
        cube([400.0; 3], 1.0),
        cube([401.0, 401.0, 400.0], 1.0),
    ]));
    all.append(&merged(&[
        cube([500.0; 3], 1.0),
        cube([501.0; 3], 1.0),
        cube([500.5; 3], 9.0),
    ]));
    all.append(&moebius(8));
    all.vertices.push(DVec3::NAN);
    let nan = all.vertices.len() as u32 - 1;
    all.faces
        .extend([[0, 1, nan], [0, 1, 9999], [0, 0, 1], all.faces[0]]);
    all.vertices.push(DVec3::ZERO);
    let found = validate(&all);
    let kinds: Vec<_> = found
        .by_kind()
        .into_iter()
        .map(|(kind, _, _)| kind)
        .collect();
    assert_eq!(kinds, Defect::KINDS);
    for (kind, count, first) in found.by_kind() {
        assert_eq!(count, found.count(kind));
        let of_the_whole = matches!(kind, "disconnected_parts" | "suspicious_units");
        assert_eq!(first.first_index().is_none(), of_the_whole, "{kind}");
        let text = first.to_string();
        assert!(
            first
                .first_index()
                .is_none_or(|index| text.contains(&index.to_string())),
            "{kind}: {text}"
        );
    }
}

#[test]
fn defects_do_not_depend_on_the_order_of_faces() {
    let mut random = Random(7);
    let mut broken = merged(&[icosphere(3, 1.0), moved(icosphere(3, 1.0), [0.7, 0.1, 0.2])]);
    broken.faces.truncate(broken.faces.len() - 100);
    let before = validate(&broken);
    random.shuffle(&mut broken.faces);
    let after = validate(&broken);
    let counts = |found: &Validation| {
        found
            .by_kind()
            .into_iter()
            .map(|(k, n, _)| (k, n))
            .collect::<Vec<_>>()
    };
    assert_eq!(counts(&before), counts(&after));
    assert!((before.signed_volume - after.signed_volume).abs() < 1e-12);
}
