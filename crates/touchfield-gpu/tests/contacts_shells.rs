//! Contacts, least distances, sweeps and reductions by shells on the device beside the CPU's.
#![allow(
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a panic is a failed test; figures are printed for people"
)]

mod common;

use common::bodies;
use glam::Vec3;
use touchfield::bake::Bits;
use touchfield::manifold::{ReduceScratch, ReduceSettings, Reduced, reduce};
use touchfield::narrow::swept_points::{
    ShellPath, SweepScratch, SweepSettings as CpuSweep, SweepWanted, SweptField, sweep_shell,
};
use touchfield::narrow::{ContactMethod, SeparationScratch, SeparationSettings};
use touchfield::shape::Shape;
use touchfield::{Contact, Pose};
use touchfield_conformance::meshes;
use touchfield_conformance::random::Random;
use touchfield_conformance::representations::Representation;
use touchfield_conformance::wrench_loss::Judge;
use touchfield_gpu::{
    DevicePair, GpuSettings, MovingPair, Shapes, ShellQuery, ShellSearch, ShellSettings,
    SweepSettings,
};

fn upload(gpu: &touchfield_gpu::Gpu, shapes: &[Shape]) -> Shapes {
    let all: Vec<&Shape> = shapes.iter().collect();
    Shapes::upload(gpu, &all).unwrap_or_else(|error| panic!("{error}"))
}

/// What a comparison found.
#[derive(Debug, Default)]
struct Found {
    contacts: usize,
    tested: usize,
    in_band: u32,
    /// Contacts that only one side has.
    only_one: u32,
    /// Largest differences, as shares of the size of the pair; of normals as they are.
    worst_point: f32,
    worst_separation: f32,
    worst_normal: f32,
    /// Contacts whose normal is another, as the gradient is ambiguous within rounding.
    elsewhere: usize,
}

/// Returns the shape with the field, and the pose in which its frame is seen from A.
fn field_of<'a>(shapes: &'a [Shape], pair: &DevicePair, contact: &Contact) -> (&'a Shape, Pose) {
    match contact.id.0 >> 31 {
        0 => (&shapes[pair.a], Pose::IDENTITY),
        _ => (&shapes[pair.b], pair.a_from_b),
    }
}

/// Compares the contacts of one pair, both in the order of their ids.
fn compare(
    shapes: &[Shape],
    pair: &DevicePair,
    on_device: &[Contact],
    on_cpu: &[Contact],
    in_band: u32,
    found: &mut Found,
) {
    let mut only_one = 0;
    let (mut i, mut j) = (0, 0);
    let size = shapes[pair.a].solid().diagonal()
        + shapes[pair.b].solid().diagonal()
        + pair.a_from_b.translation.length();
    while i < on_device.len() || j < on_cpu.len() {
        let ids = (
            on_device.get(i).map_or(u32::MAX, |contact| contact.id.0),
            on_cpu.get(j).map_or(u32::MAX, |contact| contact.id.0),
        );
        if ids.0 != ids.1 {
            only_one += 1;
            (i, j) = if ids.0 < ids.1 {
                (i + 1, j)
            } else {
                (i, j + 1)
            };
            continue;
        }
        let (a, b) = (on_device[i], on_cpu[j]);
        (i, j) = (i + 1, j + 1);
        found.contacts += 1;
        let separation = (a.separation - b.separation).abs() / size;
        let point = a.point.distance(b.point) / size;
        let normal = a.normal.distance(b.normal);
        if separation <= 1e-6 && point <= 4e-6 && normal <= 1e-5 {
            found.worst_separation = found.worst_separation.max(separation);
            found.worst_point = found.worst_point.max(point);
            found.worst_normal = found.worst_normal.max(normal);
            continue;
        }
        // Elsewhere only where the gradient is not the same all around within rounding, or so short
        // that the way out takes two more samples, which may lie at such a place.
        found.elsewhere += 1;
        let (shape, a_from_field) = field_of(shapes, pair, &b);
        let at = match b.id.0 >> 31 {
            0 => b.point_on_b(),
            _ => b.point_on_a(),
        };
        let at = a_from_field.inverse().transform_point(at);
        let nudge = 4.0 * f32::EPSILON * size;
        let here = shape.field().sample(at).gradient;
        let is_steady = (0..8).all(|corner| {
            let sign = |bit: u32| match corner >> bit & 1 {
                1 => nudge,
                _ => -nudge,
            };
            let beside = at + Vec3::new(sign(0), sign(1), sign(2));
            shape.field().sample(beside).gradient.distance(here) <= 1e-4
        });
        assert!(
            !is_steady || here.length() < 0.98,
            "{a:?} on the device, {b:?} on the CPU: {pair:?}"
        );
    }
    found.only_one += only_one;
    found.in_band += in_band;
    assert!(
        only_one <= in_band,
        "{only_one} contacts differ, {in_band} points are in the band: {pair:?}"
    );
}

fn check(name: &str, shapes: &[Shape], count: usize, max_separation: f32, settings: &GpuSettings) {
    let Some(gpu) = common::gpu_with(settings) else {
        return;
    };
    let uploaded = upload(&gpu, shapes);
    let pairs = bodies::pairs(shapes, count, 11);
    let mut query = ShellQuery::default();
    let mut found = Found::default();
    let mut of_both = Vec::new();
    for search in [ShellSearch::Points, ShellSearch::Spheres] {
        let settings = ShellSettings {
            max_separation,
            search,
            ..Default::default()
        };
        let answer = query.contacts(&uploaded, &pairs, &settings);
        let answer = answer.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(answer.total as usize, answer.found.contacts.len());
        // Once the buffers have grown, a call is one submission with the same bits.
        let again = query.contacts(&uploaded, &pairs, &settings);
        let again = again.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(again.submissions, 1, "{name}: {search:?}");
        assert_eq!(again.found, answer.found, "{name}: {search:?}");
        of_both.push(answer);
    }
    let [by_points, by_spheres] = &of_both[..] else {
        panic!("two searches");
    };
    // The proof of the spheres loses nothing: the same contacts to the bit.
    assert_eq!(
        by_points.found.contacts, by_spheres.found.contacts,
        "{name}"
    );
    assert_eq!(by_points.found.first, by_spheres.found.first, "{name}");
    for (index, pair) in pairs.iter().enumerate() {
        let cpu = bodies::on_cpu(shapes, pair, ContactMethod::PointSamples, max_separation);
        let device = by_points.found.of(index);
        compare(
            shapes,
            pair,
            device,
            &cpu,
            by_points.in_band[index],
            &mut found,
        );
        found.tested += shapes[pair.a]
            .shell()
            .map_or(0, |shell| shell.points().len());
        // The CPU's traversal finds no other contacts.
        let walked = bodies::on_cpu(shapes, pair, ContactMethod::ShellTraversal, max_separation);
        let missing = walked
            .iter()
            .filter(|contact| device.binary_search_by_key(&contact.id, |c| c.id).is_err());
        assert!(missing.count() as u32 <= by_points.in_band[index], "{name}");
    }
    println!("{name}: {found:?}");
    assert!(found.contacts > 20 * count, "{name}: {found:?}");
    assert!(found.elsewhere * 100 <= found.contacts, "{name}: {found:?}");
    assert!(
        found.in_band as usize * 500 <= found.tested,
        "{name}: {found:?}"
    );
}

fn of_kinds(representation: Representation) -> Vec<Shape> {
    ["gear", "mug", "torus"]
        .map(|name| bodies::model(name, representation, 40, 2000))
        .to_vec()
}

#[test]
fn contacts_in_dense_grids_equal_those_of_the_cpu() {
    let shapes = of_kinds(Representation::Dense);
    check("dense", &shapes, 60, 0.0, &GpuSettings::default());
    check("dense, ahead", &shapes, 30, 0.01, &GpuSettings::default());
}

#[test]
fn contacts_in_taylor_and_sparse_fields_equal_those_of_the_cpu() {
    for (name, kind) in [
        ("taylor", Representation::Taylor),
        ("band of 8 bits", Representation::Band(Bits::Eight)),
        (
            "tolerance of 16 bits",
            Representation::Tolerance(Bits::Sixteen),
        ),
    ] {
        check(name, &of_kinds(kind), 40, 0.002, &GpuSettings::default());
    }
}

#[test]
fn contacts_in_closed_forms_equal_those_of_the_cpu() {
    let shapes = bodies::closed_forms(2000);
    check("closed forms", &shapes, 60, 0.01, &GpuSettings::default());
}

#[test]
fn contacts_of_real_models_equal_those_of_the_cpu() {
    // Not those so far from the origin that `f32` cannot hold a shell of them.
    let near = |mesh: &touchfield::TriangleMesh| {
        let size = mesh.bounds().diagonal();
        mesh.bounds().center().length() < 10.0 * size
    };
    let real: Vec<Shape> = (meshes::real().into_iter())
        .filter(|real| near(&real.mesh))
        .take(4)
        .map(|real| bodies::of_mesh(&real.mesh, Representation::Dense, 40, 1500))
        .collect();
    if !real.is_empty() {
        check("real models", &real, 40, 0.0, &GpuSettings::default());
    }
}

#[test]
fn a_body_without_a_shell_is_met_by_the_shell_of_the_other() {
    let Some(gpu) = common::gpu() else { return };
    let with = bodies::model("torus", Representation::Dense, 32, 1000);
    let without = Shape::stored(with.stored_pointer().unwrap_or_else(|| panic!("stored")));
    let shapes = [with, without];
    let uploaded = upload(&gpu, &shapes);
    let mut random = Random::new(3);
    let mut query = ShellQuery::default();
    for [a, b] in [[0, 1], [1, 0]] {
        let pair = DevicePair {
            a,
            b,
            a_from_b: bodies::pose(&shapes[a], &shapes[b], &mut random),
        };
        let answer = query.contacts(&uploaded, &[pair], &ShellSettings::default());
        let answer = answer.unwrap_or_else(|error| panic!("{error}"));
        let cpu = bodies::on_cpu(&shapes, &pair, ContactMethod::PointSamples, 0.0);
        let found = &mut Found::default();
        compare(
            &shapes,
            &pair,
            answer.found.of(0),
            &cpu,
            answer.in_band[0],
            found,
        );
        let gaps = query.gaps(&uploaded, &[pair]);
        assert!(gaps.is_ok_and(|gaps| gaps[0].nearest.id.0 >> 31 == u32::from(a == 0)));
    }
}

#[test]
fn least_distances_are_those_of_all_points() {
    let Some(gpu) = common::gpu() else { return };
    let mut shapes = bodies::closed_forms(1500);
    shapes.push(bodies::model("gear", Representation::Dense, 40, 1500));
    let uploaded = upload(&gpu, &shapes);
    let pairs = bodies::pairs(&shapes, 60, 5);
    let gaps = ShellQuery::default().gaps(&uploaded, &pairs);
    let gaps = gaps.unwrap_or_else(|error| panic!("{error}"));
    let mut worst = 0.0f32;
    for (pair, gap) in pairs.iter().zip(&gaps) {
        // Every point of both shells, one by one.
        let least = |shell_of: &Shape, field_of: &Shape, field_from_shell: Pose| {
            let shell = shell_of.shell().map_or(&[][..], |shell| shell.points());
            let at = shell.iter().map(|&p| field_from_shell.transform_point(p));
            at.map(|p| field_of.field().distance(p))
                .fold(f32::INFINITY, f32::min)
        };
        let (a, b) = (&shapes[pair.a], &shapes[pair.b]);
        let expected = least(b, a, pair.a_from_b).min(least(a, b, pair.a_from_b.inverse()));
        let size = a.solid().diagonal() + b.solid().diagonal() + pair.a_from_b.translation.length();
        worst = worst.max((gap.distance() - expected).abs() / size);
        assert_eq!(gap.is_touching(), gap.distance() <= 0.0);
        // Apart, the proven separation is within the stated bounds.
        let asked = touchfield::narrow::Pair {
            a,
            b,
            a_from_b: pair.a_from_b,
        };
        let mut scratch = SeparationScratch::default();
        let settings = SeparationSettings::to_within(1e-3 * size);
        let proven = touchfield::narrow::separation(&asked, &settings, &mut scratch);
        let proven = proven.unwrap_or_else(|error| panic!("{error}"));
        if proven.lower_bound > 0.0 {
            assert!(proven.lower_bound <= gap.distance() + gap.above + 1e-6 * size);
            assert!(proven.upper_bound >= gap.distance() - gap.below - 1e-6 * size);
        }
    }
    println!("least distances: off by {worst:e} of the size");
    assert!(worst <= 1.5e-6, "{worst:e}");
}

#[test]
fn first_contacts_of_sweeps_bracket_those_of_the_cpu() {
    let Some(gpu) = common::gpu() else { return };
    let mut shapes = bodies::closed_forms(600);
    shapes.push(bodies::model("gear", Representation::Dense, 40, 600));
    shapes.push(bodies::model("mug", Representation::Dense, 40, 600));
    shapes.push(bodies::model(
        "torus",
        Representation::Band(Bits::Sixteen),
        40,
        600,
    ));
    shapes.push(bodies::model("torus", Representation::Taylor, 40, 600));
    let uploaded = upload(&gpu, &shapes);
    let mut random = Random::new(17);
    let pairs: Vec<MovingPair> = bodies::pairs(&shapes, 80, 23)
        .into_iter()
        .map(|pair| {
            let far = |random: &mut Random| {
                let pose = bodies::pose(&shapes[pair.a], &shapes[pair.b], random);
                Pose {
                    translation: 1.7 * pose.translation,
                    ..pose
                }
            };
            let start = far(&mut random);
            let turned = bodies::rotation(&mut random);
            let end = Pose {
                rotation: start.rotation.slerp(turned, 0.2),
                translation: -0.8 * start.translation + 0.1 * far(&mut random).translation,
            };
            MovingPair {
                a: pair.a,
                b: pair.b,
                start,
                end,
            }
        })
        .collect();
    let tolerance = 1e-3;
    let touches =
        ShellQuery::default().sweep(&uploaded, &pairs, &SweepSettings::to_within(tolerance));
    let touches = touches.unwrap_or_else(|error| panic!("{error}"));
    let (mut hits, mut open, mut widest) = (0, 0, 0.0f32);
    for (pair, touch) in pairs.iter().zip(&touches) {
        let (a, b) = (&shapes[pair.a], &shapes[pair.b]);
        let (shell, field, from, to) = match touch.shell_of_a {
            false => (b.shell(), a, pair.start, pair.end),
            true => (a.shell(), b, pair.start.inverse(), pair.end.inverse()),
        };
        let path = ShellPath::Straight { from, to };
        let settings = CpuSweep {
            wanted: SweepWanted::First,
            ..CpuSweep::to_within(1e-4)
        };
        let mut spans = Vec::new();
        let shell = shell.unwrap_or_else(|| panic!("a shell"));
        let swept = SweptField::of(field);
        sweep_shell(
            shell,
            &path,
            &swept,
            &settings,
            &mut SweepScratch::default(),
            &mut spans,
        )
        .unwrap_or_else(|error| panic!("{error}"));
        let on_cpu = spans.first().map(|span| span.span.enter as f32);
        // Rounding of a time: that of a position, over the way.
        let slack = 1e-4;
        match (on_cpu, touch.clear_until) {
            (Some(time), Some(clear)) => {
                assert!(clear <= time + slack, "{pair:?} {touch:?} {time}")
            }
            (Some(time), None) => panic!("missed a contact at {time}: {pair:?}"),
            (None, _) => {}
        }
        match (on_cpu, touch.touch) {
            (Some(first), Some((time, _))) => {
                hits += 1;
                assert!(first <= time + slack, "{pair:?} {touch:?} {first}");
                let clear = touch.clear_until.unwrap_or(time);
                let way = pair.start.translation.distance(pair.end.translation);
                widest = widest.max((time - clear) * way);
            }
            (None, Some((time, _))) => panic!("a contact at {time} that the CPU lacks: {pair:?}"),
            (Some(_), None) => open += 1,
            (None, None) => {}
        }
    }
    println!(
        "sweeps: {hits} of {} touch, {open} open, bracket of {widest} m at most",
        pairs.len()
    );
    assert!(hits > 30 && open <= 2, "{hits} hits, {open} open");
}

#[test]
fn few_contacts_that_are_kept_resist_most_of_what_all_resist() {
    let Some(gpu) = common::gpu() else { return };
    let mut shapes = of_kinds(Representation::Dense);
    shapes.extend(bodies::closed_forms(2000));
    let uploaded = upload(&gpu, &shapes);
    let pairs = bodies::pairs(&shapes, 60, 7);
    let mut query = ShellQuery::default();
    let settings = ShellSettings {
        max_separation: 0.005,
        ..Default::default()
    };
    let ask = |query: &mut ShellQuery, keep| {
        let settings = ShellSettings { keep, ..settings };
        let answer = query.contacts(&uploaded, &pairs, &settings);
        answer.unwrap_or_else(|error| panic!("{error}"))
    };
    let all = ask(&mut query, None);
    let kept = ask(&mut query, Some(8));
    assert_eq!(kept.total, all.total);
    assert_eq!(kept.found, ask(&mut query, Some(8)).found);
    let judge = Judge::new(2000, 0.5, 1);
    let (mut on_device, mut on_cpu, mut judged) = (0.0, 0.0, 0);
    for index in 0..pairs.len() {
        let (all, kept) = (all.found.of(index), kept.found.of(index));
        assert!(kept.len() <= 8.min(all.len()));
        assert_eq!(kept.is_empty(), all.is_empty());
        let Some(first) = kept.first() else { continue };
        let deepest = all
            .iter()
            .map(|c| c.separation)
            .fold(f32::INFINITY, f32::min);
        assert_eq!(first.separation, deepest);
        let place = |contact: &Contact| all.iter().position(|c| c == contact);
        let places: Option<Vec<u32>> = kept
            .iter()
            .map(|c| place(c).map(|place| place as u32))
            .collect();
        let places = places.unwrap_or_else(|| panic!("a kept contact is one of all"));
        if all.len() <= 8 {
            continue;
        }
        let mut reduced = Reduced::default();
        let limits = ReduceSettings {
            max_per_normal: 8,
            ..Default::default()
        };
        reduce(
            all,
            &[],
            &limits,
            &mut ReduceScratch::default(),
            &mut reduced,
        )
        .unwrap_or_else(|error| panic!("{error}"));
        let powers = judge.powers(all);
        on_device += powers.loss(&places).mean;
        on_cpu += powers.loss(&reduced.kept).mean;
        judged += 1;
    }
    let (on_device, on_cpu) = (on_device / f64::from(judged), on_cpu / f64::from(judged));
    println!("mean loss over {judged} pairs: device {on_device:.4}, CPU {on_cpu:.4}");
    assert!(judged > 30);
    assert!(on_device <= 0.15, "{on_device}");
}
