//! Volumes against closed forms. Inscribed facets lose volume with the square of their size, so
//! halving them must reduce the error by a factor of about four.

use std::f64::consts::PI;

use super::*;

/// Checks that the volume approaches `exact` at second order and is within `tolerance` (relative)
/// when fine.
fn assert_converges(name: &str, exact: f64, tolerance: f64, mesh: impl Fn(u32) -> TriangleMesh) {
    let error = |scale| (mesh(scale).signed_volume() / exact - 1.0).abs();
    let (coarse, fine) = (error(1), error(2));
    assert!(fine < tolerance, "{name}: {fine:e} off");
    let ratio = coarse / fine;
    assert!(
        (3.5..4.5).contains(&ratio),
        "{name}: {coarse:e} to {fine:e}"
    );
}

#[test]
fn round_models_approach_their_closed_forms() {
    let d = Icosphere::default();
    assert_converges(
        "icosphere",
        4.0 / 3.0 * PI * d.radius.powi(3),
        1e-3,
        |scale| {
            icosphere(Icosphere {
                level: 3 + scale,
                ..d
            })
            .unwrap()
        },
    );
    let d = Torus::default();
    let exact = 2.0 * PI * PI * d.major_radius * d.minor_radius.powi(2);
    assert_converges("torus", exact, 2e-3, |scale| {
        torus(Torus {
            major_segments: 48 * scale,
            minor_segments: 36 * scale,
            ..d
        })
        .unwrap()
    });
    let d = Capsule::default();
    let exact = PI * d.radius.powi(2) * (d.length + 4.0 / 3.0 * d.radius);
    assert_converges("capsule", exact, 2e-3, |scale| {
        capsule(Capsule {
            segments: 48 * scale,
            cap_rows: 12 * scale,
            ..d
        })
        .unwrap()
    });
    let d = Cylinder {
        top_radius: 0.01,
        ..Default::default()
    };
    let (r, s) = (d.bottom_radius, d.top_radius);
    let exact = PI / 3.0 * d.height * (r * r + r * s + s * s);
    assert_converges("frustum", exact, 1e-3, |scale| {
        cylinder(Cylinder {
            segments: 64 * scale,
            ..d
        })
        .unwrap()
    });
    let d = Bowl {
        opening: 1.2,
        wall: 0.02,
        ..Default::default()
    };
    let inner = d.radius - d.wall;
    let exact = 2.0 / 3.0 * PI * (d.radius.powi(3) - inner.powi(3)) * (1.0 - d.opening.cos());
    assert_converges("bowl", exact, 1e-3, |scale| {
        bowl(Bowl {
            segments: 64 * scale,
            rows: 20 * scale,
            ..d
        })
        .unwrap()
    });
}

/// Pappus: cross-section times the length of the centre line.
#[test]
fn tubes_have_the_volume_that_pappus_gives_them() {
    let d = ChainLink::default();
    let path = 2.0 * d.straight_length + 2.0 * PI * d.bend_radius;
    assert_converges(
        "chain_link",
        PI * d.wire_radius.powi(2) * path,
        4e-3,
        |scale| {
            chain_link(ChainLink {
                bend_segments: 24 * scale,
                sides: 24 * scale,
                ..d
            })
            .unwrap()
        },
    );

    let d = TorusKnot::default();
    let knot = |t: f64| {
        let (p, q) = (f64::from(d.p) * t, f64::from(d.q) * t);
        let out = d.radius + d.winding_radius * q.cos();
        glam::DVec3::new(out * p.cos(), out * p.sin(), d.winding_radius * q.sin())
    };
    let exact = PI * d.tube_radius.powi(2) * arc_length(|t| knot(2.0 * PI * t));
    assert_converges("torus_knot", exact, 5e-3, |scale| {
        torus_knot(TorusKnot {
            segments: 200 * scale,
            sides: 20 * scale,
            ..d
        })
        .unwrap()
    });

    let d = WindingPipe::default();
    let pipe = |t: f64| {
        let phase = 2.0 * PI * d.windings * t;
        let (y, z) = (phase.sin(), 0.5 * (2.0 * phase).sin());
        glam::DVec3::new(d.length * t, d.amplitude * y, d.amplitude * z)
    };
    let inner = d.radius - d.wall;
    let exact = PI * (d.radius.powi(2) - inner.powi(2)) * arc_length(pipe);
    assert_converges("winding_pipe", exact, 5e-3, |scale| {
        winding_pipe(WindingPipe {
            segments: 100 * scale,
            sides: 24 * scale,
            ..d
        })
        .unwrap()
    });
}

fn arc_length(curve: impl Fn(f64) -> glam::DVec3) -> f64 {
    let steps = 20_000;
    let at = |i: i32| curve(f64::from(i) / f64::from(steps));
    (0..steps).map(|i| at(i).distance(at(i + 1))).sum()
}

#[test]
fn flat_models_are_exact() {
    let d = ThinPlate::default();
    let exact = d.size.x * d.size.y * d.thickness;
    let volume = thin_plate(d).unwrap().signed_volume();
    assert!((volume / exact - 1.0).abs() < 1e-12, "{volume} {exact}");
    let d = Cuboid {
        subdivisions: [3, 4, 5],
        ..Default::default()
    };
    let exact = 8.0 * d.half_extents.element_product();
    let volume = cuboid(d).unwrap().signed_volume();
    assert!((volume / exact - 1.0).abs() < 1e-12, "{volume} {exact}");
    assert!(
        (cuboid(d).unwrap().area() - 4.0 * (0.05 * 0.04 + 0.04 * 0.03 + 0.03 * 0.05) * 2.0).abs()
            < 1e-12
    );
}

#[test]
fn the_gear_has_the_area_of_its_profile() {
    // Half a tooth as an integral of ψ(ρ) ρ dρ above the base circle (48 teeth: the root lies above
    // it).
    let d = Gear {
        teeth: 48,
        segments: 32,
        ..Default::default()
    };
    let teeth = f64::from(d.teeth);
    let pitch = 0.5 * d.module * teeth;
    let (root, tip) = (pitch - 1.25 * d.module, pitch + d.module);
    let base = pitch * d.pressure_angle.cos();
    assert!(root > base);
    let inv = |a: f64| a.tan() - a;
    let half_tooth = |rho: f64| {
        0.5 * (PI / teeth - d.backlash / pitch) + inv(d.pressure_angle) - inv((base / rho).acos())
    };
    let steps = 10_000;
    let step = (tip - root) / f64::from(steps);
    let tooth: f64 = (0..steps)
        .map(|i| root + step * (f64::from(i) + 0.5))
        .map(|rho| 2.0 * half_tooth(rho) * rho * step)
        .sum();
    let exact = d.width * (PI * (root * root - d.bore_radius.powi(2)) + teeth * tooth);
    let volume = gear(d).unwrap().signed_volume();
    assert!((volume / exact - 1.0).abs() < 1e-4, "{volume:e} {exact:e}");
}

#[test]
fn the_mug_holds_its_wall_and_its_handle() {
    let d = Mug {
        segments: 240,
        handle_segments: 120,
        ..Default::default()
    };
    let volume = mug(d).unwrap().signed_volume();
    let (r, w, h) = (d.radius, d.wall, d.height);
    let shell = PI * (r * r * h - (r - w).powi(2) * (h - w));
    let path = arc_length(|t| {
        let (sin, cos) = (PI * t).sin_cos();
        glam::DVec3::new(d.handle_reach * sin, 0.0, 0.5 * d.handle_height * cos)
    });
    let handle = PI * d.handle_radius.powi(2) * path;
    // The flare adds at most a quarter of the tube at each joint; chamfers and the round rim take a
    // little off.
    let (least, most) = (0.97 * shell + handle, 1.03 * shell + 1.3 * handle);
    assert!(
        least < volume && volume < most,
        "{least:e} {volume:e} {most:e}"
    );
}
