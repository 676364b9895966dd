//! The three scenes of Table 1 of \[Krayer2020\], simulated in Rapier: the cost of a simulation
//! step, beside the paper's times.
//!
//! Input: numbers of bodies and steps.
//! Output: means over the steps of contacts, pairs and times, and penetration depths.
//! Cost: bakes, then the steps.
//! Not for: comparison by N, the paper's number of particles: contacts here are those given to the
//! solver, at most a dozen per pair.
//!
//! The paper's models are not available, so the models here are generated, and as many as give
//! about the same number of pairs. Every body is a field, balls included, and one thread does the
//! work.

use std::f32::consts::FRAC_PI_3;

use cpu_time::ThreadTime;
use glam::Vec3;
use serde_json::{Value, json};
use touchfield::field::primitive::Sphere;
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::generate::{self, GenerateError};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{Counts, FieldDispatcher, FieldShape, Settings, install, steps_per_second};

use super::scenes::{GROUND_NODES, MODEL_NODES, Sequence, heap_meshes, terrain};
use super::table1::{NAME, PAPER_SETUP, paper_row};
use crate::host::Stop;
use touchfield_report::{self as report, Answer};

/// The paper's resolution whose row is printed beside our results.
const PAPER_RESOLUTION: u32 = 10;

/// Typical size of the bodies \[m\].
const SIZE: Real = 0.1;

fn bad(error: impl std::fmt::Display) -> Stop {
    Stop::BadInput(error.to_string())
}

/// A world and its moving bodies.
struct Falling {
    world: PhysicsWorld,
    fields: FieldDispatcher,
    bodies: Vec<RigidBodyHandle>,
    stream: Option<Stream>,
}

/// Bodies inserted one after the other, evenly over all steps.
struct Stream {
    shape: FieldShape,
    at: Vector,
    velocity: Vector,
    left: u32,
}

impl Falling {
    fn new(size: Real) -> Falling {
        let mut world = PhysicsWorld::new();
        let fields = install(&mut world, size);
        world.gravity = Vector::new(0.0, 0.0, -9.81);
        world.integration_parameters.dt = 1.0 / steps_per_second(size);
        Falling {
            world,
            fields,
            bodies: Vec::new(),
            stream: None,
        }
    }

    /// Inserts the next body of the stream, if there is one.
    fn flow(&mut self) {
        let Some(stream) = self.stream.as_mut().filter(|stream| stream.left > 0) else {
            return;
        };
        stream.left -= 1;
        let (shape, at, velocity) = (stream.shape.clone(), stream.at, stream.velocity);
        self.let_go(&shape, at, Vector::ZERO);
        if let Some(&last) = self.bodies.last() {
            self.world.bodies[last].set_linvel(velocity, true);
        }
    }

    fn fix(&mut self, shape: &FieldShape, at: Pose) {
        let body = RigidBodyBuilder::fixed().pose(at);
        self.world
            .insert(body, ColliderBuilder::new(shape.shared()));
    }

    fn let_go(&mut self, shape: &FieldShape, at: Vector, turn: Vector) {
        let body = RigidBodyBuilder::dynamic().translation(at).rotation(turn);
        let collider = ColliderBuilder::new(shape.shared()).density(1000.0);
        self.bodies.push(self.world.insert(body, collider).0);
    }
}

fn shape(mesh: Result<TriangleMesh, GenerateError>, resolution: u32) -> Result<FieldShape, Stop> {
    let settings = Settings {
        resolution,
        ..Default::default()
    };
    FieldShape::from_mesh(&mesh.map_err(bad)?, settings).map_err(bad)
}

/// Inserts hills centred on the origin and returns their height.
fn ground(falling: &mut Falling, side: f64) -> Result<Real, Stop> {
    let ground = shape(generate::terrain(terrain(side)), GROUND_NODES)?;
    let solid = ground.shape().solid();
    let at = Vector::new(-solid.center().x, -solid.center().y, 0.0);
    falling.fix(&ground, Pose::from_translation(at));
    Ok(solid.max.z)
}

fn two_models() -> Result<Falling, Stop> {
    let mut falling = Falling::new(SIZE);
    let top = ground(&mut falling, 0.6)?;
    let knot = shape(generate::torus_knot(Default::default()), MODEL_NODES)?;
    let mug = shape(generate::mug(Default::default()), MODEL_NODES)?;
    falling.let_go(&knot, Vector::new(0.0, 0.0, top + 0.1), Vector::ZERO);
    falling.let_go(&mug, Vector::new(0.06, 0.03, top + 0.25), Vector::X * 0.4);
    Ok(falling)
}

fn many_objects(count: u32) -> Result<Falling, Stop> {
    /// Columns along a side, and the distance between columns and between the bodies in them \[m\].
    const COLUMNS: u32 = 7;
    const APART: Real = 0.14;
    let mut falling = Falling::new(SIZE);
    let top = ground(&mut falling, 1.3)?;
    let meshes = heap_meshes().into_iter();
    let kinds: Result<Vec<FieldShape>, Stop> =
        meshes.map(|mesh| shape(mesh, MODEL_NODES)).collect();
    let kinds = kinds?;
    let mut random = Sequence::default();
    for index in 0..count {
        let column = |number: u32| APART * (number as Real - 0.5 * (COLUMNS - 1) as Real);
        let (x, y) = (index % COLUMNS, index / COLUMNS % COLUMNS);
        let layer = (index / (COLUMNS * COLUMNS)) as Real;
        let at = Vector::new(column(x), column(y), top + APART * (0.5 + layer));
        let turn = 3.0 * (2.0 * random.point() - Vec3::ONE);
        falling.let_go(&kinds[index as usize % kinds.len()], at, turn);
    }
    Ok(falling)
}

fn pipe_with_balls(count: u32) -> Result<Falling, Stop> {
    const RADIUS: f32 = 0.012;
    let mut falling = Falling::new(2.0 * RADIUS);
    // Tilted by 60°, the pipe descends everywhere.
    let form = generate::WindingPipe {
        windings: 1.0,
        ..Default::default()
    };
    let pipe = shape(generate::winding_pipe(form), 2 * MODEL_NODES)?;
    let bowl = generate::Bowl {
        radius: 0.14,
        wall: 0.008,
        ..Default::default()
    };
    let bowl = shape(generate::bowl(bowl), 2 * MODEL_NODES)?;
    let ball = Sphere::new(RADIUS).map_err(bad)?;
    let ball = FieldShape::from_field(ball, Settings::default()).map_err(bad)?;
    let tilted = Pose::new(Vector::new(0.0, 0.0, 0.6), Vector::Y * FRAC_PI_3);
    falling.fix(&pipe, tilted);
    let end = tilted.transform_point(Vector::X * (0.5 * form.length as Real));
    let below = end + Vector::new(0.04, 0.0, -0.08);
    falling.fix(&bowl, Pose::from_translation(below));
    let top = tilted.transform_point(Vector::X * (-0.5 * form.length as Real));
    let into = (end - top).normalize();
    falling.stream = Some(Stream {
        shape: ball,
        at: top - RADIUS * into,
        velocity: 2.5 * into,
        left: count,
    });
    Ok(falling)
}

/// Means over the steps.
struct Row {
    scene: &'static str,
    bodies: usize,
    contacts: f64,
    pairs: f64,
    touching: f64,
    step_milliseconds: f64,
    /// Deepest contact after the last step \[mm\].
    deepest: Real,
    /// Bodies that left the scene over an edge.
    gone: usize,
    /// Pairs that could not be handled, over all steps.
    counts: Counts,
}

impl Row {
    /// Returns whether every pair got its contacts. Bodies that stop earlier than necessary do not
    /// count.
    fn is_handled(&self) -> bool {
        let counts = &self.counts;
        counts.unsupported + counts.out_of_time + counts.beyond_band + counts.refused == 0
    }
}

fn measure(scene: &'static str, falling: &mut Falling, steps: u32) -> Row {
    let every = (falling.stream.as_ref()).map_or(steps, |stream| steps / stream.left.max(1));
    let (mut contacts, mut pairs, mut touching) = (0, 0, 0);
    let mut whole = 0.0;
    let mut deepest: Real = 0.0;
    for step in 0..steps {
        if step % every.max(1) == 0 {
            falling.flow();
        }
        let world = &mut falling.world;
        let start = ThreadTime::now();
        world.step();
        whole += 1e3 * start.elapsed().as_secs_f64();
        deepest = 0.0;
        for pair in world.narrow_phase.contact_pairs() {
            pairs += 1;
            touching += usize::from(pair.has_any_active_contact());
            for point in pair
                .manifolds()
                .iter()
                .flat_map(|manifold| &manifold.points)
            {
                contacts += 1;
                deepest = deepest.max(-1e3 * point.dist);
            }
        }
    }
    let mean = |sum: usize| sum as f64 / f64::from(steps);
    let height = |body: &RigidBodyHandle| falling.world.bodies[*body].translation().z;
    let gone = falling.bodies.iter().filter(|body| height(body) < -0.5);
    Row {
        scene,
        bodies: falling.bodies.len(),
        contacts: mean(contacts),
        pairs: mean(pairs),
        touching: mean(touching),
        step_milliseconds: whole / f64::from(steps),
        deepest,
        gone: gone.count(),
        counts: falling.fields.take_counts(),
    }
}

/// Runs all three scenes.
pub(crate) fn run(heap: u32, balls: u32, steps: u32) -> Result<Answer, Stop> {
    // The clock measures one thread, so no other thread may share the work.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let rows = pool.map_err(bad)?.install(|| {
        Ok::<_, Stop>([
            measure("two models on terrain", &mut two_models()?, steps),
            measure("terrain with many objects", &mut many_objects(heap)?, steps),
            measure(
                "pipe with balls and bowl",
                &mut pipe_with_balls(balls)?,
                steps,
            ),
        ])
    })?;
    Ok(Answer {
        text: text(&rows, steps),
        json: as_json(&rows, steps),
    })
}

fn text(rows: &[Row], steps: u32) -> String {
    let lines = rows.iter().map(|row| {
        let paper = paper_row(row.scene, PAPER_RESOLUTION);
        let of_paper =
            |tell: fn(&super::table1::PaperRow) -> String| paper.map_or_else(String::new, tell);
        vec![
            row.scene.to_owned(),
            row.bodies.to_string(),
            of_paper(|paper| format!("{:.0}", paper.pairs)),
            of_paper(|paper| format!("{:.2}", paper.milliseconds)),
            format!("{:.1}", row.pairs),
            format!("{:.1}", row.touching),
            format!("{:.1}", row.contacts),
            format!("{:.3}", row.step_milliseconds),
            format!("{:.2}", row.deepest),
            row.gone.to_string(),
            row.counts.sweeps_given_up.to_string(),
            if row.is_handled() { "all" } else { "not all" }.to_owned(),
        ]
    });
    let headings = [
        "scene",
        ">bodies",
        ">000: pairs",
        ">000: ms",
        ">pairs",
        ">touching",
        ">contacts",
        ">step [CPU ms]",
        ">deepest at the end [mm]",
        ">over the edge",
        ">sweeps given up",
        ">pairs handled",
    ];
    format!(
        "Means over {steps} steps in Rapier, one thread; [Krayer2020] at N = {PAPER_RESOLUTION}: {PAPER_SETUP}\n{}",
        report::table(&headings, &lines.collect::<Vec<_>>())
    )
}

fn as_json(rows: &[Row], steps: u32) -> Value {
    let rows = rows.iter().map(|row| {
        json!({
            "scene": row.scene,
            "bodies": row.bodies,
            "pairs": row.pairs,
            "touching": row.touching,
            "contacts": row.contacts,
            "step_cpu_milliseconds": row.step_milliseconds,
            "deepest_mm": row.deepest,
            "gone": row.gone,
            "sweeps_given_up": row.counts.sweeps_given_up,
            "is_handled": row.is_handled(),
            "document": paper_row(row.scene, PAPER_RESOLUTION).map(|paper| json!({
                "resolution": paper.resolution,
                "pairs": paper.pairs,
                "milliseconds": paper.milliseconds,
            })),
        })
    });
    json!({ "bench": NAME, "physics": true, "steps": steps, "rows": rows.collect::<Vec<_>>() })
}
