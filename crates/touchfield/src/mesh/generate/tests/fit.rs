//! Threads against an independent implementation of ISO 68-1, and nut and bolt against one another.

use std::f64::consts::{PI, TAU};

use glam::{DMat3, DVec3};

use super::intersection::crossing;
use super::*;

/// Returns the radius of the basic profile (flat roots) at a point of the thread: `D/2` on the
/// crest, `D₁/2` at the root.
fn basic_radius(size: MetricSize, theta: f64, z: f64) -> f64 {
    let (d, pitch) = (size.diameter(), size.pitch());
    let turns = z / pitch - theta / TAU;
    let from_crest = (turns - turns.round()).abs() * pitch;
    let down_flank = (from_crest - pitch / 16.0) * 3.0f64.sqrt();
    let minor = d - 1.082_531_754_73 * pitch;
    (d / 2.0 - down_flank.max(0.0)).max(minor / 2.0)
}

/// Returns the distances from the axis to the mesh along a horizontal ray.
fn radii_along_ray(mesh: &TriangleMesh, theta: f64, z: f64) -> Vec<f64> {
    let origin = DVec3::Z * z;
    let along = DVec3::new(theta.cos(), theta.sin(), 0.0);
    let mut radii: Vec<f64> = mesh
        .triangles()
        .filter_map(|t| {
            let (u, v) = (t.b - t.a, t.c - t.a);
            let across = along.cross(v);
            let scale = u.dot(across);
            let from = origin - t.a;
            let (s, r) = (from.dot(across) / scale, along.dot(from.cross(u)) / scale);
            let hit = v.dot(from.cross(u)) / scale;
            (s >= 0.0 && r >= 0.0 && s + r <= 1.0 && hit > 0.0).then_some(hit)
        })
        .collect();
    radii.sort_by(f64::total_cmp);
    radii
}

#[test]
fn threads_follow_the_iso_profile() {
    for size in [MetricSize::M8, MetricSize::M16] {
        let pitch = size.pitch();
        let parameters = Bolt::of_size(size);
        let gap = 0.5 * parameters.clearance;
        let (bolt, nut) = (bolt(parameters).unwrap(), nut(Nut::of_size(size)).unwrap());
        // Chords are this much inside the circle; on flanks the row heights are exact.
        let chord = 0.5 * size.diameter() * (1.0 - (PI / 96.0).cos());
        let tolerance = 1.5 * chord + 1e-9;
        let minor = 0.5 * (size.diameter() - 1.082_531_754_73 * pitch);
        for i in 0..400 {
            let theta = 0.013 + 2.399_963 * f64::from(i);
            let share = f64::from(i) / 400.0;

            let middle = parameters.length - 0.5 * parameters.thread_length;
            let z = middle + (share - 0.5) * 6.0 * pitch;
            let measured = radii_along_ray(&bolt, theta, z).pop().unwrap() + gap;
            let basic = basic_radius(size, theta, z);
            if basic > minor + 1e-9 {
                assert!(
                    (measured - basic).abs() < tolerance,
                    "bolt {size:?}: {measured:e} {basic:e}"
                );
            } else {
                // The round root goes H/12 deeper than the basic one.
                let deepest = minor - 0.75f64.sqrt() * pitch / 12.0;
                assert!(
                    (deepest - tolerance..minor + tolerance).contains(&measured),
                    "root {measured:e}"
                );
            }

            let z = (share - 0.5) * (size.nut_height() - 1.2 * pitch);
            let measured = radii_along_ray(&nut, theta, z)[0] - gap;
            let basic = basic_radius(size, theta, z);
            assert!(
                (measured - basic).abs() < tolerance,
                "nut {size:?}: {measured:e} {basic:e}"
            );
        }
    }
}

#[test]
fn root_of_the_bolt_is_round_down_to_d3() {
    let size = MetricSize::M16;
    let bolt = bolt(Bolt::of_size(size)).unwrap();
    let gap = 0.5 * Bolt::of_size(size).clearance;
    // d₃ = d − 1.22687 P, halfway between two crests.
    let expected = 0.5 * (size.diameter() - 1.226_87 * size.pitch()) - gap;
    let z = 20.5 * size.pitch();
    let measured = radii_along_ray(&bolt, 0.0, z).pop().unwrap();
    assert!(
        (measured - expected).abs() < 2e-7,
        "{measured:e} {expected:e}"
    );
}

fn screwed(nut: &TriangleMesh, turn: f64, z: f64) -> TriangleMesh {
    let rotation = DMat3::from_rotation_z(turn);
    let mut moved = nut.clone();
    for vertex in &mut moved.vertices {
        *vertex = rotation * *vertex + z * DVec3::Z;
    }
    moved
}

#[test]
fn nut_screws_along_the_bolt_without_touching_it() {
    for size in [MetricSize::M3, MetricSize::M8, MetricSize::M16] {
        let parameters = Bolt::of_size(size);
        let (bolt, nut) = (bolt(parameters).unwrap(), nut(Nut::of_size(size)).unwrap());
        let pitch = size.pitch();
        let middle = parameters.length - 0.5 * parameters.thread_length;
        let start = (middle / pitch).round() * pitch;
        // Also past the tip: the last pose is half off the bolt.
        for turns in [
            0.0,
            0.31,
            -0.77,
            1.5,
            0.5 * parameters.thread_length / pitch,
        ] {
            let engaged = screwed(&nut, TAU * turns, start + turns * pitch);
            assert_eq!(
                crossing(&engaged, &bolt),
                None,
                "{size:?} after {turns} turns"
            );
        }
        // Out of phase, or turned the wrong way, it must jam: shows that the test can fail.
        for (turn, lift) in [(0.0, 0.5), (0.5, 0.0), (-0.25, 0.25)] {
            let jammed = screwed(&nut, TAU * turn, start + lift * pitch);
            assert_ne!(crossing(&jammed, &bolt), None, "{size:?} {turn} {lift}");
        }
    }
}

#[test]
fn play_is_what_the_clearance_says() {
    let size = MetricSize::M8;
    let clearance = Nut::of_size(size).clearance;
    let (bolt, nut) = (bolt(Bolt::default()).unwrap(), nut(Nut::default()).unwrap());
    let start = 14.0 * size.pitch();
    let shifted = |x: f64, z: f64| {
        let mut moved = screwed(&nut, 0.0, start + z);
        moved.vertices.iter_mut().for_each(|v| v.x += x);
        crossing(&moved, &bolt)
    };
    // Along the axis, a flank is reached after clearance · tan 30°; chords and facets take up to a
    // tenth of it.
    let axial = clearance / 3.0f64.sqrt();
    for sign in [1.0, -1.0] {
        assert_eq!(shifted(0.0, 0.9 * sign * axial), None);
        assert_ne!(shifted(0.0, 1.1 * sign * axial), None);
        assert_eq!(shifted(0.9 * sign * clearance, 0.0), None);
        assert_ne!(shifted(1.1 * sign * clearance, 0.0), None);
    }
    // Every vertex of the nut's thread keeps its distance from the bolt's analytic profile.
    let deep_inside = |v: &&DVec3| v.z.abs() < 0.5 * size.nut_height() - 0.5 * size.pitch();
    let on_thread = |v: &&DVec3| v.truncate().length() < 0.55 * size.diameter();
    let gaps = nut
        .vertices
        .iter()
        .filter(deep_inside)
        .filter(on_thread)
        .map(|v| {
            let theta = v.y.atan2(v.x);
            v.truncate().length() - (basic_radius(size, theta, v.z) - 0.5 * clearance)
        });
    let (least, most) = gaps.fold((f64::INFINITY, 0.0f64), |(a, b), gap| {
        (a.min(gap), b.max(gap))
    });
    assert!(
        (least / clearance - 1.0).abs() < 1e-6,
        "{least:e} {clearance:e}"
    );
    assert!(
        (most / clearance - 1.0).abs() < 1e-6,
        "{most:e} {clearance:e}"
    );
}

#[test]
fn equal_gears_mesh_without_overlap() {
    let d = Gear::default();
    let gear = gear(d).unwrap();
    let distance = d.module * f64::from(d.teeth);
    let tooth = TAU / f64::from(d.teeth);
    for phase in [0.0, 0.3, 0.5, 0.85] {
        let first = screwed(&gear, phase * tooth, 0.0);
        // When this tooth faces +x, a gap of the other gear faces −x; that gear turns in the
        // opposite direction.
        let mut second = screwed(&gear, PI + (0.5 - phase) * tooth, 0.0);
        second.vertices.iter_mut().for_each(|v| v.x += distance);
        assert_eq!(crossing(&first, &second), None, "phase {phase}");
        let mut clashing = screwed(&gear, PI - phase * tooth, 0.0);
        clashing.vertices.iter_mut().for_each(|v| v.x += distance);
        assert_ne!(crossing(&first, &clashing), None, "phase {phase}");
    }
}
