//! Makes a world of a scene.
//!
//! Input: a [`Scene`]. Output: [`Built`].
//! Cost: one shape per distinct geometry, however many bodies have it; a search for overlaps.
//! Not for: stepping.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::DVec3;
use touchfield::bake::Progress;

use crate::body::{BodySettings, Drive, Moves};
use crate::depth::DepthSearch;
use crate::frame::Frame;
use crate::mass::Mass;
use crate::response::Response;
use crate::scene::error::{Problem, SceneError};
use crate::scene::settings::{Scene, SceneBody};
use crate::scene::shapes::{Drawn, Made, make};
use crate::world::World;

/// A world made from a scene.
#[derive(Debug)]
pub struct Built {
    /// The world, at time 0.
    pub world: World,
    /// Names of the bodies, in their order.
    pub names: Vec<String>,
    /// Meshes to draw, in the frames of the bodies in [`Built::world`]; `None` for half-spaces.
    /// Bodies of one shape share one.
    pub drawn: Vec<Option<Arc<Drawn>>>,
    /// Origin of each body's frame in the frame of its shape \[m\]; zero unless a mesh lies far
    /// from the origin of its coordinates.
    pub origins: Vec<DVec3>,
    /// Remarks on the scene.
    pub warnings: Vec<String>,
}

impl Built {
    /// Returns `world_from_shape` of a body: the pose of the frame in which its shape is given.
    pub fn pose(&self, body: usize) -> Frame {
        let pose = self.world.bodies()[body].pose();
        Frame {
            rotation: pose.rotation,
            translation: pose.point(-self.origins[body]),
        }
    }
}

impl Scene {
    /// Makes the world. `progress` sees the bakes, and may cancel them.
    pub fn build(&self, progress: Progress<'_>) -> Result<Built, SceneError> {
        let fails = |body: Option<&SceneBody>, key: &str, problem| SceneError {
            file: self.file.clone(),
            line: body.map_or(0, |body| body.line),
            key: body.map_or(key.to_owned(), |body| format!("body.{}.{key}", body.name)),
            problem: Box::new(problem),
        };
        let fault = |message: String| Problem::Shape {
            message,
            is_limit: false,
        };
        let world = World::new(self.world);
        let world = world.map_err(|e| fails(None, "world", fault(e.to_string())))?;
        let mut built = Built {
            world,
            names: Vec::new(),
            drawn: Vec::new(),
            origins: Vec::new(),
            warnings: self.warnings.clone(),
        };
        let with_shell = self.world.response != Response::Impulse;
        let mut shapes: BTreeMap<String, Made> = BTreeMap::new();
        for body in &self.bodies {
            // Numbers are printed with all digits, so equal texts are equal shapes.
            let key = format!("{:?}", body.shape);
            let made = match shapes.entry(key) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    let made = make(&body.shape, with_shell, progress);
                    entry.insert(made.map_err(|problem| fails(Some(body), "shape", problem))?)
                }
            };
            let settings = body_settings(body, made)
                .map_err(|message| fails(Some(body), "shape", fault(message)))?;
            (built.world.add(settings))
                .map_err(|error| fails(Some(body), "", fault(error.to_string())))?;
            built.names.push(body.name.clone());
            built.drawn.push(made.drawn.clone());
            built.origins.push(made.origin);
        }
        built.warn_of_overlaps();
        Ok(built)
    }
}

fn body_settings(body: &SceneBody, made: &Made) -> Result<BodySettings, String> {
    let mass = match &made.mass {
        Some(properties) => {
            let mass = Mass::of(properties, body.density);
            body.mass
                .map_or(mass, |kilograms| mass.with_mass(kilograms))
        }
        // Forces do not move it, so any mass will do.
        None if body.moves != Moves::Freely => Mass::ball(1.0, 1.0),
        None => {
            return Err(format!(
                "the body has no volume, so no mass: {}; close the mesh, or fix the body",
                made.massless
            ));
        }
    };
    // Poses are those of the shape's frame; the geometry has a frame at `origin` in it.
    let moved = |pose: &Frame| Frame {
        rotation: pose.rotation,
        translation: pose.point(made.origin),
    };
    let moves = match &body.moves {
        Moves::Driven(Drive::Steady {
            velocity,
            angular_velocity,
            about,
        }) => Moves::Driven(Drive::Steady {
            velocity: *velocity,
            angular_velocity: *angular_velocity,
            about: *about - made.origin,
        }),
        Moves::Driven(Drive::Path { times, poses }) => Moves::Driven(Drive::Path {
            times: times.clone(),
            poses: poses.iter().map(moved).collect(),
        }),
        moves => moves.clone(),
    };
    Ok(BodySettings {
        material: body.material,
        moves,
        pose: moved(&body.pose),
        velocity: body.velocity,
        angular_velocity: body.angular_velocity,
        force: body.force,
        torque: body.torque,
        locked: body.locked,
        ..BodySettings::new(made.geometry.clone(), mass)
    })
}

impl Built {
    /// Notes pairs that overlap at the start.
    fn warn_of_overlaps(&mut self) {
        /// Most pairs that are named.
        const SHOWN: usize = 10;
        let mut found = DepthSearch::default().all(&self.world);
        let size = |body: usize| {
            self.world.bodies()[body]
                .geometry()
                .shape()
                .solid()
                .diagonal()
        };
        // Below the width of the search's bracket, bodies that touch look as if they overlapped.
        found.retain(|pair| {
            let smaller = pair
                .bodies
                .map(size)
                .into_iter()
                .fold(f32::INFINITY, f32::min);
            pair.depth > 2e-3 * f64::from(smaller)
        });
        found.sort_by(|a, b| b.depth.total_cmp(&a.depth));
        for pair in found.iter().take(SHOWN) {
            let [a, b] = pair.bodies.map(|body| &self.names[body]);
            self.warnings.push(format!(
                "`{a}` and `{b}` overlap by {:.3e} m at the start",
                pair.depth
            ));
        }
        if let Some(more) = found.len().checked_sub(SHOWN).filter(|&more| more > 0) {
            self.warnings
                .push(format!("{more} more pairs overlap at the start"));
        }
    }
}
