//! Thousands of copies of a small scene in one launch: a nut on a bolt, a peg in a hole.
//!
//! Input: shapes, which of them the bodies of a world have, and which bodies may meet; then, step
//! after step, the poses of all bodies of all worlds.
//! Output: the contacts and the least distance of every pair of every world.
//! Cost: that of [`ShellQuery`]; shapes are uploaded once, poses and results at each step.
//! Not for: worlds that differ in their bodies; a broad phase, as all given pairs are tested.
//!
//! What is computed for a pair does not depend on the others, so a batch of worlds gives the same
//! bits as the worlds one by one.

use touchfield::Contact;
use touchfield::geom::Pose;
use touchfield::pipeline::relative_pose;
use touchfield::shape::Shape;

use crate::device::Gpu;
use crate::error::GpuError;
use crate::pairs::DevicePair;
use crate::shells::{Gap, ShellContacts, ShellQuery, ShellSettings};
use crate::upload::Shapes;

/// Many worlds of the same bodies.
#[derive(Debug)]
pub struct Worlds {
    shapes: Shapes,
    /// Shape of each body.
    bodies: Vec<usize>,
    pairs: Vec<[usize; 2]>,
    query: ShellQuery,
    asked: Vec<DevicePair>,
}

/// Contacts and least distances of all pairs of all worlds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldAnswers {
    /// Contacts of all pairs, world after world, in the order in which the pairs were given.
    pub contacts: ShellContacts,
    /// Least distance of each pair, in the same order.
    pub gaps: Vec<Gap>,
    pairs_per_world: usize,
}

impl Worlds {
    /// Uploads shapes. A world has one body for each number in `bodies`, of the shape of that
    /// number; `pairs` are the pairs of bodies that may meet.
    pub fn new(
        gpu: &Gpu,
        shapes: &[&Shape],
        bodies: &[usize],
        pairs: &[[usize; 2]],
    ) -> Result<Worlds, GpuError> {
        let shapes = Shapes::upload(gpu, shapes)?;
        for &shape in bodies {
            shapes.check_shape(shape)?;
        }
        for &body in pairs.iter().flatten() {
            if body >= bodies.len() {
                return Err(GpuError::BadSetting {
                    setting: "a body of a pair",
                    value: body.to_string(),
                    wanted: "the index of a body",
                });
            }
        }
        Ok(Worlds {
            shapes,
            bodies: bodies.to_vec(),
            pairs: pairs.to_vec(),
            query: ShellQuery::default(),
            asked: Vec::new(),
        })
    }

    /// Returns the number of bodies of a world.
    pub fn bodies_per_world(&self) -> usize {
        self.bodies.len()
    }

    /// Finds the contacts and least distances of all worlds. `world_from_body` holds the poses of
    /// all bodies, world after world.
    pub fn step(
        &mut self,
        world_from_body: &[Pose],
        settings: &ShellSettings,
    ) -> Result<WorldAnswers, GpuError> {
        let contacts = self.contacts(world_from_body, settings)?;
        let gaps = self.query.gaps(&self.shapes, &self.asked)?;
        Ok(WorldAnswers {
            contacts,
            gaps,
            pairs_per_world: self.pairs.len(),
        })
    }

    /// Finds the contacts alone.
    pub fn contacts(
        &mut self,
        world_from_body: &[Pose],
        settings: &ShellSettings,
    ) -> Result<ShellContacts, GpuError> {
        let per_world = self.bodies.len().max(1);
        if !world_from_body.len().is_multiple_of(per_world) {
            return Err(GpuError::BadSetting {
                setting: "the number of poses",
                value: world_from_body.len().to_string(),
                wanted: "a multiple of the number of bodies",
            });
        }
        self.asked.clear();
        for poses in world_from_body.chunks(per_world) {
            self.asked
                .extend(self.pairs.iter().map(|&[a, b]| DevicePair {
                    a: self.bodies[a],
                    b: self.bodies[b],
                    a_from_b: relative_pose(poses[a], poses[b]),
                }));
        }
        self.query.contacts(&self.shapes, &self.asked, settings)
    }
}

impl WorldAnswers {
    /// Returns the contacts of a pair of a world, in the frame of its first body.
    pub fn contacts_of(&self, world: usize, pair: usize) -> &[Contact] {
        self.contacts.found.of(world * self.pairs_per_world + pair)
    }

    /// Returns the least distance of a pair of a world.
    pub fn gap_of(&self, world: usize, pair: usize) -> &Gap {
        &self.gaps[world * self.pairs_per_world + pair]
    }
}
