//! Rigid bodies of any shape that move by themselves: forces, contact, friction.
//!
//! ```
//! use touchfield::glam::{DVec3, Vec3};
//! use touchfield::shape::Convex;
//! use touchfield_dynamics::{BodySettings, Frame, Geometry, Mass, World, WorldSettings};
//!
//! let mut world = World::new(WorldSettings::default())?;
//! world.add(BodySettings::fixed(Geometry::half_space(Vec3::Z)?))?;
//! let ball = world.add(BodySettings {
//!     pose: Frame::at(DVec3::new(0.0, 0.0, 0.5)),
//!     ..BodySettings::new(Geometry::convex(Convex::sphere(0.1)?)?, Mass::ball(1.0, 0.1))
//! })?;
//! for _ in 0..1000 {
//!     world.step()?;
//! }
//! let height = world.bodies()[ball].pose().translation.z;
//! assert!((height - 0.1).abs() < 1e-4, "at rest on the ground: {height}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod checkpoint;
mod contacts;
mod depth;
mod frame;
mod integrate;
mod mass;
mod response;
#[cfg(feature = "scenes")]
pub mod scene;
mod world;

pub use body::{Body, BodySettings, Drive, Geometry, Material, Moves, State};
pub use checkpoint::{Checkpoint, CheckpointError, Kept};
pub use contacts::ContactFinder;
pub use depth::{DepthSearch, PairDepth};
pub use frame::Frame;
pub use integrate::{Integrator, Push};
pub use mass::{Locked, Mass};
pub use response::{Handle, Normals, PenaltySettings, Response, Solver};
pub use world::{Energy, StepError, World, WorldError, WorldSettings};
