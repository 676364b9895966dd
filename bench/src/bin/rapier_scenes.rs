//! Compares colliders for concave bodies in Rapier: fields, convex parts and triangles in the same
//! scenes. Markdown to stdout, CSV to a file.
//!
//! ```text
//! rapier_scenes [--scene bunny|tori|bowls|pair|all] [--bodies N] [--steps N]
//!               [--only fields|parts|triangles] [--recycle SHARE] [--floor box|plane]
//!               [--seed N] [--sweeps 0|1] [--swept true|false] [--csv FILE]
//! ```
//!
//! `--seed` chooses the attitudes of the bodies of a heap, `--sweeps 0` turns off Rapier's CCD, and
//! `--swept true` steps heaps of fields with our `step` rather than Rapier's.
//!
//! Input: the bunny of `TOUCHFIELD_MESHES`, or without it a knot of as many faces; generated tori
//! and bowls.
//! Output: CPU time per step for each collider, how deep bodies are in each other at the end, how
//! many fell through the floor; the time of a pair over its triangles.
//! Cost: seconds for the bunny, minutes for heaps of 500, nearly all of it for triangles.
//! Not for: the accuracy of contacts (`bench/peers/contact_run`).
//!
//! Bodies are about a metre long, for which Rapier's defaults are made. Convex parts (V-HACD with
//! its defaults) and triangles run in a world with Rapier's defaults; fields run in one prepared by
//! `install`. Nothing sleeps. Depths are measured with the same fields, whatever the collider was.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use cpu_time::ThreadTime;
use glam::{DVec3, Quat, Vec3};
use touchfield::field::primitive::HalfSpace;
use touchfield::geom::Pose;
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate;
use touchfield::narrow::{Pair, SeparationScratch, SeparationSettings, separation};
use touchfield::shape::Shape;
use touchfield_bench::models;
use touchfield_conformance::random::Random;
use touchfield_rapier::rapier::math::Pose as RapierPose;
use touchfield_rapier::rapier::parry::query::{
    ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher,
};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldDispatcher, FieldShape, Settings, install};

type Problem = Box<dyn Error>;

/// Triangle counts of the bodies of a pair.
const TRIANGLES: [u32; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Number of poses of a pair, and of small steps from each.
const POSES: usize = 40;
const STEPS_OF_A_PAIR: usize = 8;
/// Rapier's prediction distance for bodies of a metre \[m\].
const PREDICTION: f32 = 0.02;
/// Width of the bracket within which depths are measured \[m\].
const TOLERANCE: f32 = 5e-4;

/// Depth beyond which a pair counts as stuck in each other \[m\].
const DEEP: f32 = 0.005;

struct Options {
    scene: String,
    bodies: usize,
    steps: usize,
    only: Option<String>,
    recycle: Option<f32>,
    floor: String,
    seed: u64,
    swept: bool,
    sweeps: usize,
    csv: Option<PathBuf>,
}

impl Options {
    fn read() -> Result<Options, Problem> {
        let mut options = Options {
            scene: "all".to_owned(),
            bodies: 500,
            steps: 240,
            only: None,
            recycle: None,
            floor: "box".to_owned(),
            seed: 7,
            swept: false,
            sweeps: 1,
            csv: None,
        };
        let mut words = std::env::args().skip(1);
        while let Some(option) = words.next() {
            let value = words.next().ok_or(format!("{option} needs a value"))?;
            match option.as_str() {
                "--scene" => options.scene = value,
                "--bodies" => options.bodies = value.parse()?,
                "--steps" => options.steps = value.parse()?,
                "--only" => options.only = Some(value),
                "--recycle" => options.recycle = Some(value.parse()?),
                "--floor" => options.floor = value,
                "--seed" => options.seed = value.parse()?,
                "--swept" => options.swept = value.parse()?,
                "--sweeps" => options.sweeps = value.parse()?,
                "--csv" => options.csv = Some(value.into()),
                _ => return Err(format!("unknown option {option}").into()),
            }
        }
        if !["bunny", "tori", "bowls", "pair", "all"].contains(&options.scene.as_str()) {
            return Err(format!("no scene {}", options.scene).into());
        }
        if !["box", "plane"].contains(&options.floor.as_str()) {
            return Err(format!("no floor {}", options.floor).into());
        }
        if options.bodies == 0 || options.steps == 0 {
            return Err("at least one body and one step".into());
        }
        Ok(options)
    }

    fn wants(&self, scene: &str) -> bool {
        self.scene == "all" || self.scene == scene
    }
}

/// Representation of a body.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Fields,
    Parts,
    Triangles,
}

const KINDS: [Kind; 3] = [Kind::Fields, Kind::Parts, Kind::Triangles];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Fields => "fields",
            Kind::Parts => "parts",
            Kind::Triangles => "triangles",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Kind::Fields => "field (ours)",
            Kind::Parts => "convex parts (V-HACD)",
            Kind::Triangles => "triangles",
        }
    }
}

/// A body in all representations.
struct Model {
    field: FieldShape,
    mesh: TriangleMesh,
    faces: usize,
}

impl Model {
    fn of(mesh: TriangleMesh) -> Result<Model, Problem> {
        Ok(Model {
            field: FieldShape::from_mesh(&mesh, Settings::default())?,
            faces: mesh.faces.len(),
            mesh,
        })
    }

    fn collider(&self, kind: Kind) -> Result<SharedShape, Problem> {
        let vertices = || -> Vec<Vector> {
            let vertices = self.mesh.vertices.iter();
            vertices.map(|vertex| vertex.as_vec3()).collect()
        };
        Ok(match kind {
            Kind::Fields => self.field.shared(),
            Kind::Parts => SharedShape::convex_decomposition(&vertices(), &self.mesh.faces),
            Kind::Triangles => SharedShape::trimesh(vertices(), self.mesh.faces.clone())?,
        })
    }
}

fn main() -> Result<(), Problem> {
    let options = Options::read()?;
    // The clock measures one thread, so no other thread may share the work.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    (alone.install(|| measure(&options).map_err(|problem| problem.to_string())))?;
    Ok(())
}

fn measure(options: &Options) -> Result<(), Problem> {
    let mut csv = String::from("scene,floor,collider,bodies,triangles,figure,value\n");
    let kinds = || {
        let wanted = |kind: &Kind| {
            (options.only.as_ref()).is_none_or(|only| only.split(',').any(|k| k == kind.name()))
        };
        KINDS.into_iter().filter(wanted)
    };
    if options.wants("bunny") {
        let reference = models::reference(None)?;
        let model = Model::of(scaled_to(reference.mesh, 1.0))?;
        println!(
            "{}, {} triangles, on a half-space.\n",
            reference.name, model.faces
        );
        println!(
            "| collider | landing [µs a step] | at rest [µs a step] | contacts at rest | depth at rest [mm] |\n|---|--:|--:|--:|--:|"
        );
        for kind in kinds() {
            drop_one(kind, &model, options, &mut csv)?;
        }
    }
    let ring = generate::torus(generate::Torus::default())?;
    let bowl = generate::bowl(generate::Bowl::default())?;
    for (name, mesh) in [("tori", ring), ("bowls", bowl)] {
        if !options.wants(name) {
            continue;
        }
        let model = Model::of(scaled_to(mesh, 1.0))?;
        println!(
            "\n{} {name} of {} triangles on a {}, {} steps.\n",
            options.bodies, model.faces, options.floor, options.steps
        );
        println!(
            "| collider | all steps [ms a step] | last quarter [ms a step] | steps a second | greatest depth [mm] | mean depth of touching pairs [mm] | touching pairs | deeper than 5 mm | bodies lost | deepest in floor and walls on the way [mm] |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
        );
        for kind in kinds() {
            heap(name, kind, &model, options, &mut csv)?;
        }
    }
    if options.wants("pair") {
        println!("\nTwo tori that touch, manifolds of one pair [µs].\n");
        println!(
            "| triangles | field (ours) | convex parts (V-HACD) | triangles |\n|--:|--:|--:|--:|"
        );
        let mut poses = Vec::new();
        for faces in TRIANGLES {
            let model = Model::of(scaled_to(models::ring(faces)?, 1.0))?;
            // The poses found for the first model are used for all.
            if poses.is_empty() {
                poses = touching(&model.field)?;
            }
            print!("| {} |", model.faces);
            for kind in KINDS {
                if !kinds().any(|wanted| wanted == kind) {
                    print!(" |");
                    continue;
                }
                let micros = pair_cost(kind, &model, &poses)?;
                print!(" {micros:.1} |");
                writeln!(
                    csv,
                    "pair,,{},2,{},cpu_us,{micros:.3}",
                    kind.name(),
                    model.faces
                )?;
            }
            println!();
        }
    }
    if let Some(path) = &options.csv {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, csv)?;
    }
    Ok(())
}

/// Returns the mesh centred at the origin and scaled to a longest side \[m\].
fn scaled_to(mut mesh: TriangleMesh, side: f64) -> TriangleMesh {
    let bounds = mesh.bounds();
    let (middle, factor) = (bounds.center(), side / bounds.extents().max_element());
    for vertex in &mut mesh.vertices {
        *vertex = factor * (*vertex - middle);
    }
    mesh
}

/// Returns a world for bodies of one kind.
fn world_for(kind: Kind, options: &Options) -> (PhysicsWorld, Option<FieldDispatcher>) {
    let mut world = PhysicsWorld::new();
    let mut fields = None;
    if kind == Kind::Fields {
        fields = Some(install(&mut world, 1.0));
        if let Some(share) = options.recycle {
            world.integration_parameters.contact_recycling = share > 0.0;
            world
                .integration_parameters
                .normalized_contact_recycle_distance = share;
        }
    }
    world.integration_parameters.max_ccd_substeps = options.sweeps;
    (world, fields)
}

/// Takes a step and returns its CPU time \[µs\].
fn step(world: &mut PhysicsWorld, fields: Option<&FieldDispatcher>) -> f64 {
    let start = ThreadTime::now();
    match fields {
        Some(fields) => touchfield_rapier::step(world, fields),
        None => world.step(),
    }
    1e6 * start.elapsed().as_secs_f64()
}

fn drop_one(kind: Kind, model: &Model, options: &Options, csv: &mut String) -> Result<(), Problem> {
    let (mut world, _) = world_for(kind, options);
    world.insert(
        RigidBodyBuilder::fixed(),
        ColliderBuilder::new(SharedShape::halfspace(Vector::Y)),
    );
    let (body, _) = world.insert(
        RigidBodyBuilder::dynamic()
            .translation(Vector::new(0.0, 1.0, 0.0))
            .rotation(Vector::new(0.3, 0.2, 0.4))
            .can_sleep(false),
        ColliderBuilder::new(model.collider(kind)?).density(1000.0),
    );
    let touches = |world: &PhysicsWorld| {
        world
            .contact_pairs()
            .any(|pair| pair.has_any_active_contact())
    };
    let mut waited = 0;
    while !touches(&world) && waited < 120 {
        world.step();
        waited += 1;
    }
    let mean = |world: &mut PhysicsWorld, steps: u32| {
        (0..steps).map(|_| step(world, None)).sum::<f64>() / f64::from(steps)
    };
    let landing = mean(&mut world, 60);
    // Five seconds to come to rest.
    for _ in 0..300 {
        world.step();
    }
    let rest = mean(&mut world, 120);
    let contacts: usize = (world.contact_pairs())
        .flat_map(|pair| pair.manifolds())
        .map(|manifold| manifold.points.len())
        .sum();
    let depth = -depth_in_floor(
        model,
        pose_of(&world, body),
        &Shape::new(HalfSpace::new(Vec3::Y, 0.0)?),
    )?;
    println!(
        "| {} | {landing:.0} | {rest:.0} | {contacts} | {:.2} |",
        kind.title(),
        1e3 * depth
    );
    let figures = [
        ("landing_us", landing),
        ("rest_us", rest),
        ("contacts", contacts as f64),
        ("depth_m", f64::from(depth)),
    ];
    for (figure, value) in figures {
        writeln!(
            csv,
            "bunny,plane,{},1,{},{figure},{value:.6}",
            kind.name(),
            model.faces
        )?;
    }
    Ok(())
}

fn pose_of(world: &PhysicsWorld, body: RigidBodyHandle) -> Pose {
    let place = world.bodies[body].position();
    Pose {
        rotation: Quat::from_array(place.rotation.to_array()),
        translation: place.translation,
    }
}

fn depth_in_floor(model: &Model, pose: Pose, floor: &Shape) -> Result<f32, Problem> {
    let pair = Pair {
        a: floor,
        b: model.field.shape(),
        a_from_b: pose,
    };
    let settings = SeparationSettings::to_within(TOLERANCE);
    Ok(separation(&pair, &settings, &mut SeparationScratch::default())?.separation)
}

/// Returns the least distance of the points of a body from the floor and the walls of a pit \[m\];
/// negative within them.
fn above_pit(model: &Model, pose: Pose, half: f32) -> f32 {
    let points = (model.field.shape().shell()).map_or(&[][..], |shell| shell.points());
    let places = points.iter().map(|&point| pose.transform_point(point));
    let above = places.map(|at| at.y.min(half - at.x.abs().max(at.z.abs())));
    above.fold(f32::INFINITY, f32::min)
}

/// Returns half the side of the pit in which a number of metre-sized bodies are heaped \[m\].
fn half_side(bodies: usize) -> f32 {
    0.45 * (bodies as f32).sqrt().max(4.0)
}

fn heap(
    name: &str,
    kind: Kind,
    model: &Model,
    options: &Options,
    csv: &mut String,
) -> Result<(), Problem> {
    let half = half_side(options.bodies);
    let (mut world, fields) = world_for(kind, options);
    // Rapier recycles contacts with a box, but never those with a half-space, whose AABB is
    // unbounded.
    if options.floor == "plane" {
        let plane = SharedShape::halfspace(Vector::Y);
        world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::new(plane));
    } else {
        world.insert(
            RigidBodyBuilder::fixed().translation(-Vector::Y),
            ColliderBuilder::cuboid(half + 1.0, 1.0, half + 1.0),
        );
    }
    // Four walls around the pit.
    for (along, out) in [(Vector::X, Vector::Z), (Vector::Z, Vector::X)] {
        for side in [-1.0, 1.0] {
            let wall = half * (along + Vector::Y * 8.0) + 0.5 * out + along;
            world.insert(
                RigidBodyBuilder::fixed().translation(side * (half + 0.5) * out),
                ColliderBuilder::cuboid(wall.x, wall.y, wall.z),
            );
        }
    }
    let shape = model.collider(kind)?;
    let mut random = Random::new(options.seed);
    // Layers of bodies turned at random, spaced so that no two can touch at the start.
    let spacing = 1.5f32;
    let row = ((2.0 * half - 1.4) / spacing).floor().max(1.0) as usize + 1;
    let mut bodies = Vec::new();
    for index in 0..options.bodies {
        let (layer, place) = (index / (row * row), index % (row * row));
        let at = |number: usize| spacing * (number as f32 - 0.5 * (row - 1) as f32);
        let axis = random.unit_vector() * random.uniform(0.0, 3.0);
        let (body, _) = world.insert(
            RigidBodyBuilder::dynamic()
                .translation(Vector::new(
                    at(place / row),
                    1.0 + spacing * layer as f32,
                    at(place % row),
                ))
                .rotation(axis.as_vec3())
                .can_sleep(false),
            ColliderBuilder::new(shape.clone()).density(1000.0),
        );
        bodies.push(body);
    }
    // Simulate, and record step times and the lowest point below floor and walls.
    let mut times = Vec::new();
    let mut lowest = 0.0f32;
    for _ in 0..options.steps {
        times.push(1e-3 * step(&mut world, fields.as_ref().filter(|_| options.swept)));
        let poses = bodies.iter().map(|&body| pose_of(&world, body));
        lowest = poses.fold(lowest, |lowest, pose| {
            lowest.min(above_pit(model, pose, half))
        });
    }
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let (all, last) = (
        mean(&times),
        mean(&times[options.steps - options.steps.div_ceil(4)..]),
    );
    // Judge the final state: bodies lost, and depths of those that remain.
    let poses: Vec<Pose> = bodies.iter().map(|&body| pose_of(&world, body)).collect();
    let is_lost = |pose: &Pose| !pose.translation.is_finite() || pose.translation.y < 0.0;
    let lost = poses.iter().filter(|pose| is_lost(pose)).count();
    let kept: Vec<Pose> = poses.into_iter().filter(|pose| !is_lost(pose)).collect();
    let depths = depths(model, &kept)?;
    let deepest = depths.iter().copied().fold(0.0, f32::max);
    let mean_depth = depths.iter().sum::<f32>() / depths.len().max(1) as f32;
    let deep = depths.iter().filter(|&&depth| depth > DEEP).count();
    println!(
        "| {} | {all:.2} | {last:.2} | {:.0} | {:.1} | {:.2} | {} | {deep} | {lost} | {:.1} |",
        kind.title(),
        1e3 / all,
        1e3 * deepest,
        1e3 * mean_depth,
        depths.len(),
        -1e3 * lowest
    );
    let figures = [
        ("all_ms", all),
        ("last_quarter_ms", last),
        ("greatest_depth_m", f64::from(deepest)),
        ("mean_depth_m", f64::from(mean_depth)),
        ("touching_pairs", depths.len() as f64),
        ("deep_pairs", deep as f64),
        ("lost", lost as f64),
        ("in_pit_m", f64::from(-lowest)),
    ];
    for (figure, value) in figures {
        writeln!(
            csv,
            "{name},{},{},{},{},{figure},{value:.6}",
            options.floor,
            kind.name(),
            options.bodies,
            model.faces
        )?;
    }
    Ok(())
}

/// Returns the penetration depths of all bodies that are in each other or in the floor \[m\].
fn depths(model: &Model, poses: &[Pose]) -> Result<Vec<f32>, Problem> {
    let mut scratch = SeparationScratch::default();
    let settings = SeparationSettings {
        // Pairs that are apart need no value.
        threshold: None,
        ..SeparationSettings::to_within(TOLERANCE)
    };
    let floor = Shape::new(HalfSpace::new(Vec3::Y, 0.0)?);
    let shape = model.field.shape();
    let reach = shape.solid().diagonal();
    let mut depths = Vec::new();
    for (index, &first) in poses.iter().enumerate() {
        if first.translation.y < reach {
            depths.push(-depth_in_floor(model, first, &floor)?);
        }
        for &second in &poses[index + 1..] {
            if first.translation.distance(second.translation) > reach {
                continue;
            }
            let pair = Pair {
                a: shape,
                b: shape,
                a_from_b: first.inverse() * second,
            };
            let apart = SeparationSettings {
                threshold: Some(0.0),
                ..settings
            };
            if separation(&pair, &apart, &mut scratch)?.separation < 0.0 {
                depths.push(-separation(&pair, &settings, &mut scratch)?.separation);
            }
        }
    }
    depths.retain(|&depth| depth > 0.0);
    Ok(depths)
}

/// Returns poses in which a body just touches another of its kind, approached from random
/// directions.
fn touching(field: &FieldShape) -> Result<Vec<Pose>, Problem> {
    let mut random = Random::new(11);
    let mut scratch = SeparationScratch::default();
    let settings = SeparationSettings::to_within(TOLERANCE);
    let mut poses = Vec::new();
    for _ in 0..POSES {
        let rotation = random.quaternion().as_quat().normalize();
        let direction = random.unit_vector().as_vec3();
        let at = |distance: f32| Pose {
            rotation,
            translation: distance * direction,
        };
        let (mut inside, mut free) = (0.0, 2.0 * field.shape().solid().diagonal());
        for _ in 0..16 {
            let between = 0.5 * (inside + free);
            let pair = Pair {
                a: field.shape(),
                b: field.shape(),
                a_from_b: at(between),
            };
            // A few millimetres deep, like bodies at rest.
            if separation(&pair, &settings, &mut scratch)?.separation < -0.002 {
                inside = between;
            } else {
                free = between;
            }
        }
        poses.push(at(free));
    }
    Ok(poses)
}

/// Returns the mean CPU time for the manifolds of a pair, the least of three rounds \[µs\].
fn pair_cost(kind: Kind, model: &Model, poses: &[Pose]) -> Result<f64, Problem> {
    let shape = model.collider(kind)?;
    let (ours, rapiers) = (FieldDispatcher::default(), DefaultQueryDispatcher);
    let dispatcher: &dyn PersistentQueryDispatcher<(), ()> = match kind {
        Kind::Fields => &ours,
        _ => &rapiers,
    };
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = ThreadTime::now();
        for pose in poses {
            let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
            let mut workspace = None;
            for step in 0..STEPS_OF_A_PAIR {
                // Small motions, like those of bodies at rest.
                let aside = 2e-4 * (step as f32) * DVec3::ONE.normalize().as_vec3();
                let place = RapierPose::from_parts(pose.translation + aside, pose.rotation);
                // Measure the search for contacts, not their reuse.
                ours.forget();
                dispatcher
                    .contact_manifolds(
                        &place,
                        &*shape,
                        &*shape,
                        PREDICTION,
                        &mut manifolds,
                        &mut workspace,
                    )
                    .map_err(|_| "a pair that is not supported")?;
            }
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(1e6 * best / (poses.len() * STEPS_OF_A_PAIR) as f64)
}
