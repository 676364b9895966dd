//! Many bodies at once: broad phase, narrow phase and manifolds of a heap, checked against testing
//! all pairs one by one.
//!
//! Output: pairs, contacts and time per stage for each step.
//!
//! `cargo run -p touchfield --example 20_pipeline`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use glam::{Quat, Vec3};
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_field};
use touchfield::field::Field;
use touchfield::field::primitive::{Cuboid, Sphere, Torus};
use touchfield::geom::Pose;
use touchfield::narrow::{CollideSettings, Contacts, Pair, Scratch, collide};
use touchfield::pipeline::{Body, BodyId, Pipeline, PipelineSettings, relative_pose};
use touchfield::shape::Shape;

/// Number of bodies in the heap.
const BODIES: u32 = 300;
/// Number of steps; the bodies move as in a twentieth of a second per step.
const STEPS: u32 = 10;

/// Returns a shape from an analytic field, with shell points on its surface.
fn shape(field: impl Field + 'static) -> Result<Shape, Box<dyn Error>> {
    let settings = ShellSettings {
        density: ShellDensity::Points(800),
        ..Default::default()
    };
    let shell = shell_of_field(&field, 0.01, &settings)?;
    Ok(Shape::new(field).with_shell(Arc::new(shell)))
}

/// Returns evenly spread numbers between 0 and 1 from an additive recurrence.
fn spread(index: u32, axis: u32) -> f32 {
    let ratio = [0.8191725, 0.6710436, 0.5497004][axis as usize % 3];
    (f64::from(index + 1) * ratio).fract() as f32
}

/// Returns the pose of a body at a step: it falls slowly and turns.
fn pose(index: u32, step: u32) -> Pose {
    let place = Vec3::new(spread(index, 0), spread(index, 1), spread(index, 2));
    let time = 0.05 * step as f32;
    let axis = (place - Vec3::splat(0.5)).normalize_or(Vec3::Z);
    Pose {
        rotation: Quat::from_axis_angle(axis, time + index as f32),
        translation: 1.6 * place - Vec3::new(0.0, 0.0, 0.2 * time * spread(index, 1)),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Three kinds of shapes, shared by all bodies.
    let kinds = [
        shape(Sphere::new(0.09)?)?,
        shape(Cuboid::new(Vec3::new(0.1, 0.06, 0.05))?)?,
        shape(Torus::new(0.09, 0.03)?)?,
    ];
    // The pipeline owns the bodies and the buffers of all stages.
    let collide_settings = CollideSettings::default();
    let mut pipeline = Pipeline::new(PipelineSettings {
        collide: collide_settings,
        ..Default::default()
    })?;
    let mut ids: Vec<BodyId> = Vec::new();
    for index in 0..BODIES {
        ids.push(pipeline.insert(Body {
            shape: kinds[index as usize % kinds.len()].clone(),
            world_from_body: pose(index, 0),
            fixed: false,
        })?);
    }
    println!("step   pairs   apart  contacts   broad [µs]  narrow [µs]  manifold [µs]");
    // Each step: set the new poses, then run all stages.
    for step in 0..STEPS {
        for (index, &id) in (0..).zip(&ids) {
            pipeline.set_pose(id, pose(index, step))?;
        }
        pipeline.step();
        let timings = pipeline.timings();
        println!(
            "{step:4} {:7} {:7} {:9} {:12} {:12} {:14}",
            timings.pairs,
            timings.apart,
            timings.contacts,
            timings.broad.as_micros(),
            timings.narrow.as_micros(),
            timings.manifold.as_micros(),
        );
    }

    // Test all pairs one by one at the final poses: the same pairs touch, with the same contacts.
    let start = Instant::now();
    let (mut scratch, mut found) = (Scratch::default(), Contacts::default());
    let mut by_hand = Vec::new();
    for (k, &a) in ids.iter().enumerate() {
        for &b in &ids[k + 1..] {
            let (Some(body_a), Some(body_b)) = (pipeline.body(a), pipeline.body(b)) else {
                continue;
            };
            let pair = Pair {
                a: &body_a.shape,
                b: &body_b.shape,
                a_from_b: relative_pose(body_a.world_from_body, body_b.world_from_body),
            };
            collide(&pair, &collide_settings, &mut scratch, &mut found)?;
            if !found.contacts.is_empty() {
                by_hand.push((a, b, found.contacts.clone()));
            }
        }
    }
    println!("all pairs one by one: {} µs", start.elapsed().as_micros());
    // Compare with the pipeline, contact by contact.
    let by_pipeline: Vec<_> = (pipeline.pairs())
        .filter(|pair| !pair.found.is_empty())
        .map(|pair| (pair.a, pair.b, pair.found.to_vec()))
        .collect();
    for pair in pipeline.pairs() {
        assert!(pair.answer.is_ok(), "{:?}", pair.answer);
        assert!(pair.kept.len() <= pair.found.len());
    }
    println!("{} pairs touch, either way", by_hand.len());
    assert!(by_hand.len() > 50, "a heap");
    assert_eq!(by_hand, by_pipeline);
    Ok(())
}
