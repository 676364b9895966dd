//! Invalid parameters are refused by name, and excessive counts before memory is allocated.

use super::*;

fn refused(result: Result<TriangleMesh, GenerateError>) -> &'static str {
    match result {
        Err(GenerateError::OutOfRange { parameter, .. }) => parameter,
        Err(GenerateError::TooManyFaces { .. }) => "faces",
        Err(GenerateError::FlatFace { .. }) => "flat",
        Ok(_) => "nothing",
    }
}

#[test]
fn senseless_parameters_are_named() {
    let vec = glam::DVec3::new;
    assert_eq!(
        refused(cuboid(Cuboid {
            half_extents: vec(1.0, 0.0, 1.0),
            ..Default::default()
        })),
        "half_extents"
    );
    assert_eq!(
        refused(cuboid(Cuboid {
            half_extents: vec(1.0, f64::NAN, 1.0),
            ..Default::default()
        })),
        "half_extents"
    );
    assert_eq!(
        refused(cuboid(Cuboid {
            subdivisions: [1, 0, 1],
            ..Default::default()
        })),
        "subdivisions"
    );
    assert_eq!(
        refused(icosphere(Icosphere {
            radius: -1.0,
            ..Default::default()
        })),
        "radius"
    );
    assert_eq!(
        refused(torus(Torus {
            minor_radius: 0.04,
            ..Default::default()
        })),
        "minor_radius"
    );
    assert_eq!(
        refused(torus_knot(TorusKnot {
            p: 2,
            q: 4,
            ..Default::default()
        })),
        "q"
    );
    assert_eq!(
        refused(torus_knot(TorusKnot {
            tube_radius: 0.03,
            ..Default::default()
        })),
        "tube_radius"
    );
    assert_eq!(
        refused(torus_knot(TorusKnot {
            segments: 3,
            ..Default::default()
        })),
        "segments"
    );
    assert_eq!(
        refused(capsule(Capsule {
            length: f64::INFINITY,
            ..Default::default()
        })),
        "length"
    );
    assert_eq!(
        refused(cylinder(Cylinder {
            segments: 2,
            ..Default::default()
        })),
        "segments"
    );
    assert_eq!(
        refused(bowl(Bowl {
            wall: 0.08,
            ..Default::default()
        })),
        "wall"
    );
    assert_eq!(
        refused(mug(Mug {
            wall: 1e-5,
            ..Default::default()
        })),
        "wall"
    );
    assert_eq!(
        refused(bowl(Bowl {
            opening: 3.2,
            ..Default::default()
        })),
        "opening"
    );
    assert_eq!(
        refused(mug(Mug {
            handle_height: 0.094,
            ..Default::default()
        })),
        "handle_height"
    );
    assert_eq!(
        refused(mug(Mug {
            handle_radius: 0.02,
            ..Default::default()
        })),
        "handle_radius"
    );
    assert_eq!(
        refused(gear(Gear {
            bore_radius: 0.022,
            ..Default::default()
        })),
        "bore_radius"
    );
    assert_eq!(
        refused(gear(Gear {
            pressure_angle: 0.59,
            teeth: 8,
            bore_radius: 1e-3,
            ..Default::default()
        })),
        "pressure_angle"
    );
    assert_eq!(
        refused(nut(Nut {
            segments: 50,
            ..Default::default()
        })),
        "segments"
    );
    assert_eq!(
        refused(nut(Nut {
            clearance: -1e-5,
            ..Default::default()
        })),
        "clearance"
    );
    assert_eq!(
        refused(bolt(Bolt {
            thread_length: 1.0,
            ..Default::default()
        })),
        "thread_length"
    );
    assert_eq!(
        refused(chain_link(ChainLink {
            wire_radius: 0.01,
            ..Default::default()
        })),
        "wire_radius"
    );
    assert_eq!(
        refused(terrain(Terrain {
            octaves: 0,
            ..Default::default()
        })),
        "octaves"
    );
    assert_eq!(
        refused(terrain(Terrain {
            hill_size: 1e-6,
            ..Default::default()
        })),
        "hill_size"
    );
    assert_eq!(
        refused(winding_pipe(WindingPipe {
            windings: f64::NAN,
            ..Default::default()
        })),
        "windings"
    );
    assert_eq!(
        refused(winding_pipe(WindingPipe {
            amplitude: 0.5,
            windings: 6.0,
            ..Default::default()
        })),
        "radius"
    );
    assert_eq!(
        refused(thin_plate(ThinPlate {
            thickness: 0.0,
            ..Default::default()
        })),
        "thickness"
    );
}

#[test]
fn absurd_counts_are_refused_before_memory_is_taken() {
    let many = u32::MAX;
    let started = std::time::Instant::now();
    assert_eq!(
        refused(cuboid(Cuboid {
            subdivisions: [many; 3],
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(icosphere(Icosphere {
            level: many,
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(torus(Torus {
            major_segments: many,
            minor_segments: many,
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(torus_knot(TorusKnot {
            segments: many,
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(capsule(Capsule {
            segments: many,
            cap_rows: many,
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(cylinder(Cylinder {
            segments: many,
            rows: many,
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(bowl(Bowl {
            segments: many,
            rows: many,
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(mug(Mug {
            segments: many,
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(mug(Mug {
            handle_segments: many,
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(gear(Gear {
            segments: many,
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(gear(Gear {
            teeth: many,
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(nut(Nut {
            segments: many / 6 * 6,
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(bolt(Bolt {
            segments: many / 6 * 6,
            ..Default::default()
        })),
        "faces"
    );
    let link = ChainLink {
        bend_segments: many,
        straight_segments: many,
        sides: many,
        ..Default::default()
    };
    assert_eq!(refused(chain_link(link)), "faces");
    assert_eq!(
        refused(terrain(Terrain {
            subdivisions: [many; 2],
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(winding_pipe(WindingPipe {
            segments: many,
            ..Default::default()
        })),
        "faces"
    );
    assert_eq!(
        refused(thin_plate(ThinPlate {
            subdivisions: [many; 2],
            ..Default::default()
        })),
        "faces"
    );
    let seconds = started.elapsed().as_secs_f64();
    assert!(seconds < 1.0, "took {seconds} s");
}

#[test]
fn sizes_too_far_apart_are_an_error_and_not_a_broken_mesh() {
    let needle = Torus {
        major_radius: 1e9,
        minor_radius: 1e-9,
        ..Default::default()
    };
    assert_eq!(refused(torus(needle)), "flat");
}

#[test]
fn messages_name_the_number_and_the_way_out() {
    let error = nut(Nut {
        segments: 50,
        ..Default::default()
    })
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "nut: `segments` is 50; it must be a multiple of 6, at least 24, so that corners of the hexagon are vertices"
    );
}
