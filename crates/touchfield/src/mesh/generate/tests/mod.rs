//! Every model, default and random: closed, manifold, outward, free of crossings, of the right
//! volume and genus.

mod fit;
mod intersection;
mod refusal;
mod volume;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use intersection::self_crossing;

/// Asserts every guarantee that [`super`] gives for a mesh; returns its genus.
fn assert_sound(name: &str, mesh: &TriangleMesh) -> i64 {
    assert_eq!(mesh.first_invalid_face(), None, "{name}");
    let mut edges: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (face, &[a, b, c]) in mesh.faces.iter().enumerate() {
        for edge in [(a, b), (b, c), (c, a)] {
            let twice = edges.insert(edge, face);
            assert_eq!(twice, None, "{name}: {edge:?} of face {face} runs twice");
        }
    }
    for &(a, b) in edges.keys() {
        assert!(edges.contains_key(&(b, a)), "{name}: edge {a}-{b} is open");
    }
    // Around each vertex, step from face to face: one revolution must visit all its faces.
    let mut faces_at = vec![0usize; mesh.vertices.len()];
    let mut any_spoke = vec![None; mesh.vertices.len()];
    for &[a, b, c] in &mesh.faces {
        for (v, next) in [(a, b), (b, c), (c, a)] {
            faces_at[v as usize] += 1;
            any_spoke[v as usize] = Some(next);
        }
    }
    for (v, spoke) in any_spoke.iter().enumerate() {
        let first = spoke.unwrap_or_else(|| panic!("{name}: vertex {v} is unused"));
        let (mut at, mut round) = (first, 0);
        loop {
            let face = mesh.faces[edges[&(v as u32, at)]];
            let corner = face.iter().position(|&w| w == v as u32).unwrap();
            at = face[(corner + 2) % 3];
            round += 1;
            if at == first {
                break;
            }
        }
        assert_eq!(round, faces_at[v], "{name}: vertex {v} joins two fans");
    }
    for (face, triangle) in mesh.triangles().enumerate() {
        let longest = (0..3)
            .map(|k| triangle.corners()[k].distance(triangle.corners()[(k + 1) % 3]))
            .fold(0.0, f64::max);
        let height = 2.0 * triangle.area() / longest;
        assert!(height > 1e-9 * longest, "{name}: face {face} is flat");
    }
    assert!(mesh.signed_volume() > 0.0, "{name} is inside out");
    assert_eq!(self_crossing(mesh), None, "{name} crosses itself");
    let euler = mesh.vertices.len() as i64 - edges.len() as i64 / 2 + mesh.faces.len() as i64;
    (2 - euler) / 2
}

#[test]
fn every_model_of_the_catalogue_is_sound_and_has_its_genus() {
    let ringlike = [
        "torus",
        "torus_knot",
        "mug",
        "gear",
        "nut_m8",
        "nut_m16",
        "chain_link",
        "winding_pipe",
    ];
    let mut names: Vec<&str> = Vec::new();
    for model in catalogue() {
        let mesh = model.mesh().unwrap();
        let genus = assert_sound(model.name, &mesh);
        let expected = i64::from(ringlike.contains(&model.name));
        assert_eq!(genus, expected, "genus of {}", model.name);
        println!("{:14} {:6} faces", model.name, mesh.faces.len());
        names.push(model.name);
    }
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len(), "names are unique");
}

#[test]
fn the_same_parameters_give_the_same_bits() {
    for model in catalogue() {
        assert_eq!(model.mesh(), model.mesh(), "{}", model.name);
    }
    let seeded = |seed| {
        terrain(Terrain {
            seed,
            ..Default::default()
        })
        .unwrap()
    };
    assert_ne!(seeded(1), seeded(2));
}

#[test]
fn the_coarsest_models_are_sound() {
    let coarse = [
        ("box", cuboid(Cuboid::default()), 0),
        (
            "icosphere",
            icosphere(Icosphere {
                level: 0,
                ..Default::default()
            }),
            0,
        ),
        (
            "capsule",
            capsule(Capsule {
                segments: 3,
                cap_rows: 1,
                ..Default::default()
            }),
            0,
        ),
        (
            "cylinder",
            cylinder(Cylinder {
                segments: 3,
                rows: 1,
                ..Default::default()
            }),
            0,
        ),
        (
            "cone",
            cylinder(Cylinder {
                top_radius: 0.0,
                rows: 1,
                ..Default::default()
            }),
            0,
        ),
        (
            "bowl",
            bowl(Bowl {
                segments: 12,
                rows: 4,
                wall: 0.02,
                ..Default::default()
            }),
            0,
        ),
        (
            "foil bowl",
            bowl(Bowl {
                wall: 1e-6,
                segments: 9,
                rows: 3,
                ..Default::default()
            }),
            0,
        ),
        (
            "foil pipe",
            winding_pipe(WindingPipe {
                wall: 1e-6,
                segments: 25,
                sides: 7,
                ..Default::default()
            }),
            1,
        ),
        (
            "torus",
            torus(Torus {
                major_segments: 3,
                minor_segments: 3,
                ..Default::default()
            }),
            1,
        ),
        (
            "ring",
            chain_link(ChainLink {
                straight_length: 0.0,
                bend_segments: 2,
                sides: 3,
                ..Default::default()
            }),
            1,
        ),
        (
            "link",
            chain_link(ChainLink {
                straight_segments: 1,
                bend_segments: 2,
                sides: 3,
                ..Default::default()
            }),
            1,
        ),
        (
            "pipe",
            winding_pipe(WindingPipe {
                windings: 0.0,
                segments: 1,
                sides: 3,
                wall: 0.02,
                ..Default::default()
            }),
            1,
        ),
        (
            "gear",
            gear(Gear {
                teeth: 8,
                segments: 2,
                bore_radius: 0.001,
                ..Default::default()
            }),
            1,
        ),
        (
            "nut",
            nut(Nut {
                segments: 24,
                ..Default::default()
            }),
            1,
        ),
        (
            "bolt",
            bolt(Bolt {
                segments: 24,
                ..Default::default()
            }),
            0,
        ),
        (
            "mug",
            mug(Mug {
                segments: 32,
                handle_segments: 8,
                ..Default::default()
            }),
            1,
        ),
        (
            "plate",
            thin_plate(ThinPlate {
                subdivisions: [1, 1],
                ..Default::default()
            }),
            0,
        ),
        (
            "terrain",
            terrain(Terrain {
                subdivisions: [1, 2],
                ..Default::default()
            }),
            0,
        ),
    ];
    for (name, mesh, genus) in coarse {
        assert_eq!(assert_sound(name, &mesh.unwrap()), genus, "{name}");
    }
}

/// The random tests below accept errors; these parameters must succeed, or nothing would be tested.
#[test]
fn sensible_variants_are_made() {
    for (p, q) in [(1, 1), (1, 4), (3, 2), (2, 5), (3, 4), (5, 2), (4, 5)] {
        let knot = TorusKnot {
            p,
            q,
            tube_radius: 0.004,
            sides: 10,
            ..Default::default()
        };
        assert_eq!(assert_sound("knot", &torus_knot(knot).unwrap()), 1);
    }
    for (handle_radius, handle_reach, handle_height) in [
        (0.003, 0.02, 0.05),
        (0.006, 0.04, 0.06),
        (0.008, 0.03, 0.045),
    ] {
        let variant = Mug {
            handle_radius,
            handle_reach,
            handle_height,
            segments: 64,
            ..Default::default()
        };
        assert_eq!(assert_sound("mug", &mug(variant).unwrap()), 1);
    }
    for (teeth, degrees) in [(12, 20.0f64), (17, 25.0), (30, 14.5), (60, 20.0)] {
        let variant = Gear {
            teeth,
            pressure_angle: degrees.to_radians(),
            segments: 4,
            ..Default::default()
        };
        assert_eq!(assert_sound("gear", &gear(variant).unwrap()), 1);
    }
    for (windings, amplitude) in [(0.5, 0.2), (2.0, 0.04), (1.0, 0.1)] {
        let variant = WindingPipe {
            windings,
            amplitude,
            sides: 12,
            ..Default::default()
        };
        assert_eq!(assert_sound("pipe", &winding_pipe(variant).unwrap()), 1);
    }
}

#[test]
fn a_bolt_threaded_up_to_its_head_needs_no_shank() {
    let length = 0.03;
    for thread_length in [length, length - 4e-18, 0.1 * 0.3, length - 1e-7] {
        let parameters = Bolt {
            length,
            thread_length: f64::min(thread_length, length),
            segments: 24,
            ..Default::default()
        };
        assert_eq!(assert_sound("bolt", &bolt(parameters).unwrap()), 0);
    }
}

#[test]
fn all_metric_sizes_are_sound() {
    for size in MetricSize::ALL {
        let bolt = bolt(Bolt {
            segments: 36,
            ..Bolt::of_size(size)
        })
        .unwrap();
        assert_eq!(assert_sound(&format!("bolt {size:?}"), &bolt), 0);
        let nut = nut(Nut {
            segments: 36,
            ..Nut::of_size(size)
        })
        .unwrap();
        assert_eq!(assert_sound(&format!("nut {size:?}"), &nut), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..Default::default() })]

    #[test]
    fn random_solids_are_sound(x in 0.001f64..10.0, y in 0.001f64..10.0, z in 0.001f64..10.0,
                               n in 1u32..9, m in 1u32..9, k in 1u32..9, sides in 3u32..40) {
        let half_extents = glam::DVec3::new(x, y, z);
        let shape = cuboid(Cuboid { half_extents, subdivisions: [n, m, k] }).unwrap();
        prop_assert_eq!(assert_sound("box", &shape), 0);
        let exact = 8.0 * x * y * z;
        prop_assert!((shape.signed_volume() - exact).abs() < 1e-12 * exact);
        let shape = capsule(Capsule { radius: x, length: y, segments: sides, cap_rows: n }).unwrap();
        prop_assert_eq!(assert_sound("capsule", &shape), 0);
        let shape = cylinder(Cylinder { bottom_radius: x, top_radius: y, height: z, segments: sides, rows: n }).unwrap();
        prop_assert_eq!(assert_sound("cylinder", &shape), 0);
        let shape = terrain(Terrain { subdivisions: [n, m], height: x, hill_size: y, base: z, seed: sides, ..Default::default() }).unwrap();
        prop_assert_eq!(assert_sound("terrain", &shape), 0);
    }

    /// Every parameter set gives a sound mesh or an error; most of these give meshes.
    #[test]
    fn random_tubes_are_sound_or_refused(p in 1u32..5, q in 1u32..6, thin in 0.05f64..1.2, sides in 3u32..16,
                                         segments in 90u32..200, windings in 0.0f64..6.0, amplitude in 0.0f64..0.2) {
        let minor_radius = 0.04 * thin;
        if let Ok(shape) = torus(Torus { minor_radius, major_segments: segments, minor_segments: sides, ..Default::default() }) {
            prop_assert_eq!(assert_sound("torus", &shape), 1);
        }
        if let Ok(shape) = torus_knot(TorusKnot { p, q, tube_radius: 0.02 * thin, segments, sides, ..Default::default() }) {
            prop_assert_eq!(assert_sound(&format!("torus_knot {p} {q}"), &shape), 1);
        }
        if let Ok(shape) = chain_link(ChainLink { wire_radius: 0.01 * thin, bend_segments: segments / 10, sides, ..Default::default() }) {
            prop_assert_eq!(assert_sound("chain_link", &shape), 1);
        }
        if let Ok(shape) = winding_pipe(WindingPipe { windings, amplitude, radius: 0.05 * thin, wall: 0.02 * thin, segments, sides, ..Default::default() }) {
            prop_assert_eq!(assert_sound("winding_pipe", &shape), 1);
        }
    }

    #[test]
    fn random_vessels_are_sound_or_refused(wall in 0.0005f64..0.008, opening in 0.1f64..3.0, segments in 24u32..80, rows in 1u32..20,
                                           handle_radius in 0.002f64..0.012, handle_reach in 0.015f64..0.06, handle_height in 0.02f64..0.08) {
        if let Ok(shape) = bowl(Bowl { wall, opening, segments, rows, ..Default::default() }) {
            prop_assert_eq!(assert_sound("bowl", &shape), 0);
        }
        let tall = Mug { wall, handle_radius, handle_reach, handle_height, segments, handle_segments: 8 + rows, ..Default::default() };
        if let Ok(shape) = mug(tall) {
            prop_assert_eq!(assert_sound("mug", &shape), 1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..Default::default() })]

    #[test]
    fn random_machine_parts_are_sound_or_refused(teeth in 6u32..50, pressure_angle in 0.2f64..0.5, backlash in 0.0f64..0.0005,
                                                 segments in 2u32..6, size in 0usize..8, slack in 0.0f64..0.25, length in 2.0f64..4.0, part in 0.3f64..1.0) {
        if let Ok(shape) = gear(Gear { teeth, pressure_angle, backlash, segments, bore_radius: 0.001, ..Default::default() }) {
            prop_assert_eq!(assert_sound(&format!("gear {teeth} {pressure_angle}"), &shape), 1);
        }
        let size = MetricSize::ALL[size];
        let clearance = slack * size.pitch();
        let length = length * size.diameter();
        let segments = 6 * (segments + 2);
        if let Ok(shape) = bolt(Bolt { size, length, thread_length: part * length, clearance, segments }) {
            prop_assert_eq!(assert_sound("bolt", &shape), 0);
        }
        let shape = nut(Nut { size, clearance, segments }).unwrap();
        prop_assert_eq!(assert_sound("nut", &shape), 1);
    }
}
