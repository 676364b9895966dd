//! The pipeline with its narrow phase on the device, beside the pipeline on the CPU.
#![allow(
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a panic is a failed test; figures are printed for people"
)]

mod common;

use common::bodies;
use glam::Vec3;
use touchfield::Pose;
use touchfield::field::{Field, Sample};
use touchfield::geom::Aabb;
use touchfield::narrow::{CollideSettings, ContactMethod};
use touchfield::pipeline::{Answer, Body, BodyId, Pipeline, PipelineSettings};
use touchfield::shape::Shape;
use touchfield_conformance::random::Random;
use touchfield_conformance::representations::Representation;
use touchfield_gpu::{GpuBackend, GpuError};

fn settings(method: ContactMethod) -> PipelineSettings {
    PipelineSettings {
        collide: CollideSettings {
            method,
            max_separation: 0.002,
            ..Default::default()
        },
        ..Default::default()
    }
}

/// A heap of bodies, at the places of a step.
fn place(index: usize, step: usize) -> Pose {
    let mut random = Random::new(index as u64);
    let mut unit = || 2.0 * random.unit() as f32 - 1.0;
    let place = Vec3::new(unit(), unit(), unit());
    let rotation = glam::Quat::from_scaled_axis(Vec3::new(unit(), unit(), unit()) * 3.0);
    let time = 0.02 * step as f32;
    Pose {
        rotation: (rotation * glam::Quat::from_rotation_z(time)).normalize(),
        translation: (1.4 - time) * place,
    }
}

fn heap(shapes: &[Shape], count: usize, settings: PipelineSettings) -> (Pipeline, Vec<BodyId>) {
    let pipeline = Pipeline::new(settings);
    let mut pipeline = pipeline.unwrap_or_else(|error| panic!("{error}"));
    let ids = (0..count).map(|index| {
        let body = Body {
            shape: shapes[index % shapes.len()].clone(),
            world_from_body: place(index, 0),
            fixed: false,
        };
        pipeline
            .insert(body)
            .unwrap_or_else(|error| panic!("{error}"))
    });
    let ids = ids.collect();
    (pipeline, ids)
}

fn shapes() -> Vec<Shape> {
    let mut shapes = bodies::closed_forms(500);
    shapes.push(bodies::model("torus", Representation::Dense, 32, 500));
    shapes
}

#[test]
fn pairs_and_contacts_equal_those_of_the_pipeline_on_the_cpu() {
    let Some(gpu) = common::gpu() else { return };
    let shapes = shapes();
    for method in [
        ContactMethod::PointSamples,
        ContactMethod::ShellTraversal,
        ContactMethod::Auto,
    ] {
        let (mut on_cpu, ids) = heap(&shapes, 40, settings(method));
        let (mut on_device, _) = heap(&shapes, 40, settings(method));
        let mut backend = GpuBackend::new(&gpu);
        let (mut contacts, mut differ, mut in_band, mut by_device) = (0, 0, 0, 0);
        for step in 0..4 {
            for (index, &id) in ids.iter().enumerate() {
                for pipeline in [&mut on_cpu, &mut on_device] {
                    let moved = pipeline.set_pose(id, place(index, step));
                    moved.unwrap_or_else(|error| panic!("{error}"));
                }
            }
            on_cpu.step();
            on_device
                .step_with(&mut backend)
                .unwrap_or_else(|error| panic!("{error}"));
            let band: u32 = backend.last().in_band.iter().sum();
            in_band += band;
            assert_eq!(on_cpu.pairs().len(), on_device.pairs().len());
            assert_eq!(on_cpu.timings().by_backend, 0);
            by_device += on_device.timings().by_backend;
            for (cpu, device) in on_cpu.pairs().zip(on_device.pairs()) {
                assert_eq!([cpu.a, cpu.b], [device.a, device.b]);
                assert!(device.answer.is_ok(), "{:?}", device.answer);
                let sorted = device
                    .found
                    .windows(2)
                    .all(|w| w[0].separation <= w[1].separation);
                assert!(sorted, "deepest first");
                contacts += cpu.found.len();
                let found = |contact: &touchfield::Contact| {
                    device.found.iter().any(|other| other.id == contact.id)
                };
                let lacks = cpu.found.iter().filter(|contact| !found(contact)).count();
                differ += lacks;
                if method == ContactMethod::PointSamples {
                    differ += (device.found.len() + lacks).abs_diff(cpu.found.len());
                }
                assert_eq!(cpu.kept.is_empty(), device.kept.is_empty());
            }
        }
        println!(
            "{method:?}: {contacts} contacts, {differ} differ, {in_band} in the band, {by_device} pairs by the device"
        );
        assert!(contacts > 1000 && by_device > 100);
        assert!(
            differ as u32 <= in_band,
            "{method:?}: {differ} differ, {in_band} in the band"
        );
    }
}

#[test]
fn contacts_kept_on_the_device_are_matched_from_step_to_step() {
    let Some(gpu) = common::gpu() else { return };
    let (mut pipeline, _) = heap(&shapes(), 40, settings(ContactMethod::ShellTraversal));
    let mut backend = GpuBackend::new(&gpu).keeping(8);
    for _ in 0..2 {
        pipeline
            .step_with(&mut backend)
            .unwrap_or_else(|error| panic!("{error}"));
    }
    let mut kept = 0;
    for pair in pipeline.pairs() {
        assert!(pair.found.len() <= 8);
        for contact in pair.kept {
            kept += 1;
            assert_eq!(contact.age, 1, "nothing moved");
        }
    }
    assert!(kept > 50, "{kept}");
    assert!(backend.last().total > 8 * 50);
}

/// A field that no device knows.
struct OwnCode;

impl Field for OwnCode {
    fn bounds(&self) -> Aabb {
        Aabb::from_center(Vec3::ZERO, Vec3::splat(0.4))
    }

    fn error_bound(&self) -> f32 {
        1e-6
    }

    fn distance(&self, point: Vec3) -> f32 {
        point.length() - 0.4
    }

    fn sample(&self, point: Vec3) -> Sample {
        Sample {
            distance: self.distance(point),
            gradient: point.normalize_or(Vec3::X),
        }
    }

    fn interval(&self, cell: Aabb) -> touchfield::geom::Interval {
        let middle = self.distance(cell.center());
        let reach = cell.half_extents().length() + 1e-6;
        touchfield::geom::Interval::new(middle - reach, middle + reach)
    }
}

#[test]
fn pairs_without_a_form_on_the_device_are_answered_by_the_cpu() {
    let Some(gpu) = common::gpu() else { return };
    let mut shapes = bodies::closed_forms(500);
    shapes.push(Shape::new(OwnCode));
    let (mut on_cpu, _) = heap(&shapes, 40, settings(ContactMethod::PointSamples));
    let (mut on_device, _) = heap(&shapes, 40, settings(ContactMethod::PointSamples));
    let mut backend = GpuBackend::new(&gpu);
    on_cpu.step();
    on_device
        .step_with(&mut backend)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(backend.left_out().count(), 1);
    let timings = on_device.timings();
    assert!(
        timings.by_backend > 10 && timings.by_backend < timings.pairs,
        "{timings:?}"
    );
    let mut of_own_code = 0;
    for (cpu, device) in on_cpu.pairs().zip(on_device.pairs()) {
        let is_own = |id: BodyId| id.0 as usize % shapes.len() == shapes.len() - 1;
        if is_own(cpu.a) || is_own(cpu.b) {
            of_own_code += 1;
            assert_eq!(cpu.found, device.found);
            assert_eq!(cpu.answer, device.answer);
        } else {
            assert!(matches!(device.answer, Ok(Answer::Asked { .. })));
        }
    }
    assert!(of_own_code > 5, "{of_own_code}");
}

#[test]
fn a_lost_device_is_reported_and_the_cpu_answers() {
    let Some(gpu) = common::gpu() else { return };
    let shapes = shapes();
    let (mut on_cpu, _) = heap(&shapes, 30, settings(ContactMethod::PointSamples));
    let (mut on_device, _) = heap(&shapes, 30, settings(ContactMethod::PointSamples));
    let mut backend = GpuBackend::new(&gpu);
    on_device
        .step_with(&mut backend)
        .unwrap_or_else(|error| panic!("{error}"));
    gpu.destroy();
    on_cpu.step();
    let lost = on_device.step_with(&mut backend);
    assert!(matches!(lost, Err(GpuError::Lost(_))), "{lost:?}");
    assert_eq!(on_device.timings().by_backend, 0);
    assert_eq!(on_cpu.contacts(), on_device.contacts());
    assert!(
        on_cpu
            .pairs()
            .zip(on_device.pairs())
            .all(|(a, b)| a.answer == b.answer)
    );
}
