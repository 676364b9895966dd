//! Shared by the Rapier examples: a world with z up, the deepest contact, a picture of the final
//! state and a chart of the run.
//!
//! Every example writes a picture of its final state and a chart of energy and penetration depth to
//! `target/pictures`, or to the folder given with `--out`.
#![allow(clippy::print_stdout, reason = "an example talks")]
#![allow(dead_code, reason = "no example needs all of it")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use touchfield::field::Field;
use touchfield_picture::{
    Chart, Curve, PALETTE, RenderBody, RenderSettings, chart, render, write_png,
};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldDispatcher, FieldShape, install, steps_per_second};

/// Returns the output folder: `--out`, or `pictures` in the target folder. Creates it if it is
/// missing.
fn folder() -> Result<PathBuf, Box<dyn Error>> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--out");
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/pictures");
    let folder = arguments.nth(1).unwrap_or_else(|| built.to_owned());
    std::fs::create_dir_all(&folder)?;
    Ok(PathBuf::from(folder))
}

/// Returns the value after `name` on the command line, or `usual` if there is none.
pub(crate) fn argument<T: std::str::FromStr>(name: &str, usual: T) -> T {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    let given = arguments.nth(1).and_then(|value| value.parse().ok());
    given.unwrap_or(usual)
}

/// Returns a world for bodies of about `size` \[m\]: z up like the models, at the step rate for
/// that size.
pub(crate) fn world(size: Real) -> (PhysicsWorld, FieldDispatcher) {
    let mut world = PhysicsWorld::new();
    let fields = install(&mut world, size);
    world.gravity = Vector::new(0.0, 0.0, -9.81);
    world.integration_parameters.dt = 1.0 / steps_per_second(size);
    (world, fields)
}

/// Returns the number of steps in a duration \[s\].
pub(crate) fn steps(world: &PhysicsWorld, seconds: Real) -> usize {
    (seconds / world.integration_parameters.dt).round() as usize
}

/// Returns the greatest penetration depth among the contacts given to the solver \[m\].
pub(crate) fn deepest(world: &PhysicsWorld) -> Real {
    let contacts = world
        .contact_pairs()
        .filter_map(|pair| pair.find_deepest_contact());
    contacts
        .map(|(_, contact)| -contact.dist)
        .fold(0.0, Real::max)
}

/// A body to draw, with its field and colour index.
struct Drawn {
    kind: usize,
    field: Arc<dyn Field>,
    cell_size: f32,
    body: RigidBodyHandle,
}

/// Picture of the final state of an example.
pub(crate) struct Picture {
    name: &'static str,
    kinds: Vec<String>,
    bodies: Vec<Drawn>,
    view: [i32; 2],
}

impl Picture {
    /// Starts an empty picture for the example of this name.
    pub(crate) fn new(name: &'static str) -> Picture {
        Picture {
            name,
            kinds: Vec::new(),
            bodies: Vec::new(),
            view: [-60, 25],
        }
    }

    /// Sets the view direction: azimuth and elevation in degrees.
    pub(crate) fn seen_from(self, azimuth: i32, elevation: i32) -> Picture {
        Picture {
            view: [azimuth, elevation],
            ..self
        }
    }

    /// Adds a body with this shape. Bodies of one kind share a colour.
    pub(crate) fn add(&mut self, kind: &str, shape: &FieldShape, body: RigidBodyHandle) {
        // The picture keeps the shape alive and samples its field in place.
        let field = Arc::new(OfShape(shape.clone()));
        let cell_size = shape.shape().cell_size();
        self.add_drawn(kind, field, cell_size, body);
    }

    /// Adds a plain Rapier body that is drawn as this field.
    pub(crate) fn add_field(
        &mut self,
        kind: &str,
        field: impl Field + 'static,
        body: RigidBodyHandle,
    ) {
        self.add_drawn(kind, Arc::new(field), 0.0, body);
    }

    fn add_drawn(
        &mut self,
        kind: &str,
        field: Arc<dyn Field>,
        cell_size: f32,
        body: RigidBodyHandle,
    ) {
        let known = self.kinds.iter().position(|known| known == kind);
        let kind = known.unwrap_or_else(|| {
            self.kinds.push(kind.to_owned());
            self.kinds.len() - 1
        });
        self.bodies.push(Drawn {
            kind,
            field,
            cell_size,
            body,
        });
    }

    /// Writes a picture of the bodies at their current poses.
    pub(crate) fn write(&self, world: &PhysicsWorld) -> Result<(), Box<dyn Error>> {
        let [azimuth, elevation] = self.view.map(|degrees| (degrees as f32).to_radians());
        let bodies: Vec<RenderBody<'_>> = (self.bodies.iter())
            .map(|drawn| {
                let pose = world.bodies[drawn.body].position();
                let world_from_field = touchfield::geom::Pose {
                    rotation: glam::Quat::from_array(pose.rotation.to_array()),
                    translation: glam::Vec3::from_array(pose.translation.to_array()),
                };
                RenderBody {
                    field: &*drawn.field,
                    world_from_field,
                    colour: PALETTE[drawn.kind % PALETTE.len()],
                    smoothing: drawn.cell_size,
                }
            })
            .collect();
        let settings = RenderSettings {
            width: 800,
            height: 600,
            azimuth,
            elevation,
            ..Default::default()
        };
        let path = folder()?.join(format!("{}.png", self.name));
        write_png(&render(&bodies, &[], &settings)?, &path)?;
        println!("picture: {}", path.display());
        Ok(())
    }
}

/// Field of a shape that it keeps alive.
struct OfShape(FieldShape);

impl Field for OfShape {
    fn bounds(&self) -> touchfield::geom::Aabb {
        self.0.shape().field().bounds()
    }
    fn error_bound(&self) -> f32 {
        self.0.shape().field().error_bound()
    }
    fn distance(&self, point: glam::Vec3) -> f32 {
        self.0.shape().field().distance(point)
    }
    fn sample(&self, point: glam::Vec3) -> touchfield::field::Sample {
        self.0.shape().field().sample(point)
    }
    fn interval(&self, cell: touchfield::geom::Aabb) -> touchfield::geom::Interval {
        self.0.shape().field().interval(cell)
    }
}

/// Time series of a run: total energy and deepest contact.
#[derive(Default)]
pub(crate) struct Record {
    seconds: f64,
    energy: Vec<[f64; 2]>,
    depth: Vec<[f64; 2]>,
}

impl Record {
    /// Records the state after a step and returns the penetration depth of the deepest contact
    /// \[m\].
    pub(crate) fn note(&mut self, world: &PhysicsWorld) -> Real {
        self.seconds += f64::from(world.integration_parameters.dt);
        let moving = world.bodies.iter().filter(|(_, body)| body.is_dynamic());
        let energy = moving.map(|(_, body)| {
            // Potential energy at the current position, not half a step ago.
            let high = body.gravitational_potential_energy(0.0, world.gravity);
            f64::from(body.kinetic_energy() + high)
        });
        self.energy.push([self.seconds, energy.sum()]);
        let deepest = deepest(world);
        self.depth.push([self.seconds, 1e3 * f64::from(deepest)]);
        deepest
    }

    /// Returns the greatest penetration depth over all steps \[m\].
    pub(crate) fn deepest(&self) -> Real {
        let depths = self.depth.iter().map(|[_, depth]| 1e-3 * depth);
        depths.fold(0.0, f64::max) as Real
    }

    /// Writes the chart, with additional curves on top if given.
    pub(crate) fn write(&self, name: &str, more: Vec<Chart>) -> Result<(), Box<dyn Error>> {
        let own = |title: &str, points: &Vec<[f64; 2]>| Chart {
            title: title.to_owned(),
            x: "time [s]".to_owned(),
            curves: vec![Curve {
                name: title.to_owned(),
                points: points.clone(),
            }],
        };
        let mut charts = more;
        charts.push(own("energy of all bodies [J]", &self.energy));
        charts.push(own("deepest contact [mm]", &self.depth));
        write_chart(name, &charts)
    }
}

/// Writes several charts below each other into one picture.
pub(crate) fn write_chart(name: &str, charts: &[Chart]) -> Result<(), Box<dyn Error>> {
    let path = folder()?.join(format!("{name}_chart.png"));
    write_png(&chart(charts)?, &path)?;
    println!("chart: {}", path.display());
    Ok(())
}

/// Returns a chart of curves over time.
pub(crate) fn over_time(title: &str, curves: Vec<(String, Vec<[f64; 2]>)>) -> Chart {
    let curves = curves
        .into_iter()
        .map(|(name, points)| Curve { name, points });
    Chart {
        title: title.to_owned(),
        x: "time [s]".to_owned(),
        curves: curves.collect(),
    }
}

/// Writes a table.
pub(crate) fn table(name: &str, rows: &str) -> Result<(), Box<dyn Error>> {
    let path = folder()?.join(name);
    std::fs::write(&path, rows)?;
    println!("table: {}", path.display());
    Ok(())
}
