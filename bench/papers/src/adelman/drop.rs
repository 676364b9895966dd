//! Simulations whose contacts one of the methods finds, beside the contacts that Touchfield takes
//! by default.
//!
//! Input: simulated time and step \[s\].
//! Output: a row for each scene and method: tilt, depth, time.
//! Cost: a second for each scene of the slow method.
//! Not for: convergence; all rows have the same step, substeps, solver and friction.
//!
//! The depth is that of `DepthSearch`, which does not use the method's contacts.

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use touchfield::Shape;
use touchfield::bake::BakeSettings;
use touchfield::glam::{DVec3, Vec3};
use touchfield::mesh::generate;
use touchfield::narrow::{CollideSettings, ContactMethod, Contacts, Pair, Scratch, collide};
use touchfield::open::{MadeShape, ShapeSettings};
use touchfield::shape::Convex;
use touchfield_dynamics::{
    BodySettings, ContactFinder, DepthSearch, Frame, Geometry, Mass, World, WorldSettings,
};

use super::{FINDERS, bad, method};
use crate::host::Stop;

/// Half an edge of the cubes \[m\].
const HALF: f64 = 0.05;
/// Density of all bodies \[kg/m³\].
const DENSITY: f64 = 1000.0;
/// Every this many steps the search is timed and the depth taken.
const EVERY: u32 = 5;

pub(super) struct Row {
    scene: &'static str,
    contacts: &'static str,
    /// Angle by which the uppermost body is turned from its start, at the end \[degrees\].
    tilt: f64,
    /// Distance that its centre has moved sideways \[mm\].
    aside: f64,
    /// Greatest depth of any pair \[mm\].
    deepest: f64,
    /// Depth at the end \[mm\].
    at_end: f64,
    /// Greatest speed of any body's centre at the end \[mm/s\].
    speed: f64,
    /// CPU time of a step \[µs\].
    step_us: f64,
    /// CPU time of a search for a pair \[µs\].
    search_us: f64,
    /// Steps in which a search failed.
    faults: u32,
}

/// Bodies in the order from the ground up.
struct Scene {
    name: &'static str,
    bodies: Vec<BodySettings>,
    /// Method of `ContactFinder::Auto` for pairs of the scene.
    auto: ContactMethod,
}

fn cube(center: DVec3) -> Result<BodySettings, Stop> {
    let convex = Convex::cuboid(Vec3::splat(HALF as f32)).map_err(|error| bad(&error))?;
    let geometry = Geometry::convex(convex).map_err(|error| bad(&error))?;
    let mass = DENSITY * 8.0 * HALF.powi(3);
    Ok(BodySettings {
        pose: Frame::at(center),
        ..BodySettings::new(geometry, Mass::cuboid(mass, DVec3::splat(HALF)))
    })
}

fn fixed(body: BodySettings) -> BodySettings {
    BodySettings {
        moves: touchfield_dynamics::Moves::Never,
        ..body
    }
}

fn scenes() -> Result<Vec<Scene>, Stop> {
    let above = |shift: DVec3| cube(DVec3::new(0.0, 0.0, 2.0 * HALF + 0.01) + shift);
    let on_cube = |name, shift| {
        Ok::<_, Stop>(Scene {
            name,
            bodies: vec![fixed(cube(DVec3::ZERO)?), above(shift)?],
            auto: ContactMethod::Convex,
        })
    };
    let mut stack = vec![fixed(cube(DVec3::ZERO)?)];
    for level in 1..=5 {
        let height = f64::from(level) * (2.0 * HALF + 1e-4);
        stack.push(cube(DVec3::new(0.0, 0.0, height))?);
    }
    let mesh = generate::torus_knot(generate::TorusKnot::default()).map_err(|e| bad(&e))?;
    let bounds = mesh.bounds();
    let settings = ShapeSettings {
        bake: BakeSettings {
            resolution: touchfield::bake::Resolution::Nodes(65),
            ..BakeSettings::default()
        },
        ..ShapeSettings::default()
    };
    let go_on = |_| std::ops::ControlFlow::Continue(());
    let made = MadeShape::from_mesh(&mesh, &settings, &go_on).map_err(|e| bad(&e))?;
    let mass = made.mass().map_err(|e| bad(&e))?;
    let ground = Geometry::half_space(Vec3::Z).map_err(|error| bad(&error))?;
    let drop = 0.1 * bounds.extents().z;
    let knot = BodySettings {
        pose: Frame::at(DVec3::new(0.0, 0.0, drop - bounds.min.z)),
        ..BodySettings::new(Geometry::from(made.shape), Mass::of(&mass, DENSITY))
    };
    let plane = Scene {
        name: "knot on a plane",
        bodies: vec![BodySettings::fixed(ground), knot],
        auto: ContactMethod::BothShells,
    };
    Ok(vec![
        on_cube("cube on cube", DVec3::ZERO)?,
        on_cube("cube on cube, shifted by 30 mm", DVec3::new(0.03, 0.0, 0.0))?,
        Scene {
            name: "five cubes on a cube",
            bodies: stack,
            auto: ContactMethod::Convex,
        },
        plane,
    ])
}

pub(super) fn table(seconds: f64, step: f64) -> Result<Vec<Row>, Stop> {
    let mut rows = Vec::new();
    for scene in scenes()? {
        for finder in FINDERS {
            rows.push(run(&scene, finder, seconds, step)?);
        }
    }
    Ok(rows)
}

fn run(scene: &Scene, finder: ContactFinder, seconds: f64, step: f64) -> Result<Row, Stop> {
    let mut world = World::new(WorldSettings {
        step,
        contacts: finder,
        sleeping: false,
        ..WorldSettings::default()
    })
    .map_err(|error| bad(&error))?;
    for body in &scene.bodies {
        world.add(body.clone()).map_err(|error| bad(&error))?;
    }
    let top = world.bodies().len() - 1;
    let start = world.bodies()[top].pose();
    let center = world.bodies()[top].state().position;
    let mut search = Search::new(method(finder, scene.auto));
    let (mut depths, mut cpu, mut faults) = (DepthSearch::default(), 0.0, 0);
    let (mut deepest, mut at_end) = (0.0_f64, 0.0);
    let steps = (seconds / step).round() as u32;
    for number in 1..=steps {
        let clock = ThreadTime::now();
        world.step().map_err(|error| bad(&error))?;
        cpu += clock.elapsed().as_secs_f64();
        faults += u32::from(world.faults().next().is_some());
        if number % EVERY == 0 || number == steps {
            at_end = depths.deepest(&world).map_or(0.0, |pair| pair.depth);
            deepest = deepest.max(at_end);
            search.time(&world);
        }
    }
    let body = &world.bodies()[top];
    let turn = body.pose().rotation * start.rotation.conjugate();
    let moved = body.state().position - center;
    let speeds = world.bodies().iter().map(|body| body.velocity().length());
    let speed = speeds.fold(0.0, f64::max);
    Ok(Row {
        scene: scene.name,
        contacts: finder.name(),
        tilt: 2.0 * turn.w.abs().min(1.0).acos().to_degrees(),
        aside: 1e3 * moved.truncate().length(),
        deepest: 1e3 * deepest,
        at_end: 1e3 * at_end,
        speed: 1e3 * speed,
        step_us: 1e6 * cpu / f64::from(steps),
        search_us: search.micros(),
        faults,
    })
}

/// Times the searches of a method at the poses of a simulation.
struct Search {
    method: ContactMethod,
    scratch: Scratch,
    out: Contacts,
    seconds: f64,
    count: u32,
}

impl Search {
    fn new(method: ContactMethod) -> Search {
        Search {
            method,
            scratch: Scratch::default(),
            out: Contacts::default(),
            seconds: 0.0,
            count: 0,
        }
    }

    /// Searches every body and the next one. Searches that fail are those of the world's faults.
    fn time(&mut self, world: &World) {
        for pair in world.bodies().windows(2) {
            let [a, b]: [&Shape; 2] = [pair[0].geometry().shape(), pair[1].geometry().shape()];
            let size = a.solid().diagonal().min(b.solid().diagonal());
            let settings = CollideSettings {
                method: match (self.method, a.as_convex()) {
                    (ContactMethod::Convex, None) => ContactMethod::Auto,
                    (method, _) => method,
                },
                max_separation: 1e-3 * size,
                detail: 0.02 * size,
                ..CollideSettings::default()
            };
            let pair = Pair {
                a,
                b,
                a_from_b: pair[0].pose().from_other(&pair[1].pose()),
            };
            let clock = ThreadTime::now();
            let found = collide(&pair, &settings, &mut self.scratch, &mut self.out);
            if found.is_ok() {
                self.seconds += clock.elapsed().as_secs_f64();
                self.count += 1;
            }
        }
    }

    fn micros(&self) -> f64 {
        1e6 * self.seconds / f64::from(self.count.max(1))
    }
}

pub(super) const HEADINGS: [&str; 10] = [
    "scene",
    "contacts",
    ">tilt [°]",
    ">aside [mm]",
    ">deepest [mm]",
    ">at the end [mm]",
    ">speed [mm/s]",
    ">step [µs]",
    ">search [µs]",
    ">failed",
];

pub(super) fn cells(rows: &[Row]) -> Vec<Vec<String>> {
    let cells = |row: &Row| {
        vec![
            row.scene.to_owned(),
            row.contacts.to_owned(),
            format!("{:.2}", row.tilt),
            format!("{:.2}", row.aside),
            format!("{:.3}", row.deepest),
            format!("{:.3}", row.at_end),
            format!("{:.2}", row.speed),
            format!("{:.1}", row.step_us),
            format!("{:.1}", row.search_us),
            row.faults.to_string(),
        ]
    };
    rows.iter().map(cells).collect()
}

pub(super) fn csv(rows: &[Row]) -> String {
    super::csv(
        "scene,contacts,tilt_deg,aside_mm,deepest_mm,end_mm,speed_mm_s,step_us,search_us,failed",
        &cells(rows),
    )
}

pub(super) fn json(rows: &[Row]) -> Vec<Value> {
    let object = |row: &Row| {
        json!({
            "scene": row.scene,
            "contacts": row.contacts,
            "tilt_degrees": row.tilt,
            "aside_mm": row.aside,
            "deepest_mm": row.deepest,
            "depth_at_end_mm": row.at_end,
            "speed_mm_s": row.speed,
            "step_us": row.step_us,
            "search_us": row.search_us,
            "failed_steps": row.faults,
        })
    };
    rows.iter().map(object).collect()
}
