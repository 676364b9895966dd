//! What the Rapier examples share: a world whose z points up, how deep its bodies are in each other, and a picture of its end.
//!
//! `--out FOLDER` leaves the meshes there, tables if there are any, and a script that draws the last state with `touchfield render`.
#![allow(clippy::print_stdout, reason = "an example talks")]
#![allow(dead_code, reason = "no example needs all of it")]

use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;

use touchfield::mesh::{TriangleMesh, write};
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldDispatcher, install, steps_per_second};

/// Where `--out` wants files, if it was given.
pub(crate) fn out_folder() -> Option<PathBuf> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--out");
    arguments.next()?;
    arguments.next().map(PathBuf::from)
}

/// A world for bodies of about `size` \[m\], z up as in our models, at the steps a second that suit them.
pub(crate) fn world(size: Real) -> (PhysicsWorld, FieldDispatcher) {
    let mut world = PhysicsWorld::new();
    let fields = install(&mut world, size);
    world.gravity = Vector::new(0.0, 0.0, -9.81);
    world.integration_parameters.dt = 1.0 / steps_per_second(size);
    (world, fields)
}

/// How many steps take that long.
pub(crate) fn steps(world: &PhysicsWorld, seconds: Real) -> usize {
    (seconds / world.integration_parameters.dt).round() as usize
}

/// How deep two bodies are in each other at most, as the solver was told \[m\].
pub(crate) fn deepest(world: &PhysicsWorld) -> Real {
    let contacts = world
        .contact_pairs()
        .filter_map(|pair| pair.find_deepest_contact());
    contacts
        .map(|(_, contact)| -contact.dist)
        .fold(0.0, Real::max)
}

/// A body that is drawn.
struct Drawn {
    mesh: usize,
    body: RigidBodyHandle,
}

/// What the picture of an example shows.
pub(crate) struct Picture {
    name: &'static str,
    meshes: Vec<(String, TriangleMesh)>,
    bodies: Vec<Drawn>,
    view: [i32; 2],
}

impl Picture {
    /// Of the example of this name.
    pub(crate) fn new(name: &'static str) -> Picture {
        let (meshes, bodies) = (Vec::new(), Vec::new());
        Picture {
            name,
            meshes,
            bodies,
            view: [-60, 25],
        }
    }

    /// Seen from elsewhere: azimuth and elevation in degrees.
    pub(crate) fn seen_from(self, azimuth: i32, elevation: i32) -> Picture {
        Picture {
            view: [azimuth, elevation],
            ..self
        }
    }

    /// A body that looks like this; meshes of one name are one.
    pub(crate) fn add(&mut self, name: &str, mesh: &TriangleMesh, body: RigidBodyHandle) {
        let known = self.meshes.iter().position(|(known, _)| known == name);
        let mesh = known.unwrap_or_else(|| {
            self.meshes.push((name.to_owned(), mesh.clone()));
            self.meshes.len() - 1
        });
        self.bodies.push(Drawn { mesh, body });
    }

    /// Leaves the meshes, and the script that draws them where the bodies are now.
    pub(crate) fn write(&self, world: &PhysicsWorld) -> Result<(), Box<dyn Error>> {
        let Some(folder) = out_folder() else {
            return Ok(());
        };
        std::fs::create_dir_all(&folder)?;
        for (name, mesh) in &self.meshes {
            write::write_file(&folder.join(format!("{}_{name}.ply", self.name)), mesh)?;
        }
        let [azimuth, elevation] = self.view;
        let mut script = "#!/bin/sh\nset -e\ncd \"$(dirname \"$0\")\"\n".to_owned();
        script.push_str("touchfield=\"${TOUCHFIELD:-touchfield}\"\n");
        for (name, _) in &self.meshes {
            let file = format!("{}_{name}", self.name);
            writeln!(
                script,
                "\"$touchfield\" bake {file}.ply -o {file}.tfs --resolution 256"
            )?;
        }
        write!(
            script,
            "\"$touchfield\" render -o {}.png --azimuth={azimuth} --elevation={elevation}",
            self.name
        )?;
        for drawn in &self.bodies {
            let pose = world.bodies[drawn.body].position();
            let ([x, y, z], [i, j, k, w]) = (pose.translation.to_array(), pose.rotation.to_array());
            let mesh = &self.meshes[drawn.mesh].0;
            write!(
                script,
                " \\\n  {}_{mesh}.tfs@{x},{y},{z},{i},{j},{k},{w}",
                self.name
            )?;
        }
        script.push('\n');
        let path = folder.join(format!("{}.sh", self.name));
        std::fs::write(&path, script)?;
        println!(
            "picture: TOUCHFIELD=/path/to/touchfield sh {}",
            path.display()
        );
        Ok(())
    }
}

/// Leaves a table, where `--out` wants one.
pub(crate) fn table(name: &str, rows: &str) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = out_folder() {
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(name);
        std::fs::write(&path, rows)?;
        println!("table: {}", path.display());
    }
    Ok(())
}
