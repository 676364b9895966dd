//! Concave moving bodies in Rapier: a collider made of a signed distance field.
//!
//! ```
//! use touchfield::mesh::generate;
//! use touchfield_rapier::rapier::prelude::*;
//! use touchfield_rapier::{FieldShape, Settings, install};
//!
//! let mut world = PhysicsWorld::new();
//! let fields = install(&mut world, 0.1); // bodies of about ten centimetres
//!
//! let bowl = generate::bowl(generate::Bowl::default())?;
//! let bowl = FieldShape::from_mesh(&bowl, Settings { resolution: 48, ..Default::default() })?;
//! world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::new(SharedShape::halfspace(Vector::Y)));
//! world.insert(
//!     RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.3, 0.0)),
//!     ColliderBuilder::new(bowl.shared()).density(2400.0),
//! );
//! for _ in 0..10 {
//!     world.step();
//! }
//! assert!(fields.take_counts().is_clean());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`FieldShape`] is the shape: from a mesh, a baked file, a closed form, CSG or a closure.
//! - [`FieldDispatcher`] answers Rapier's questions about pairs with a field in them, and hands all others to Rapier.
//! - [`install`] puts it into a world, and sets what small parts need.
//! - [`Counts`] tell what could not be handled: nothing is lost silently.
//!
//! What to set at which scale, and what is not supported: `docs/RAPIER.md`.

mod convert;
mod counts;
mod dispatcher;
mod manifolds;
mod meet;
mod memory;
mod parry_shape;
mod partner;
mod query;
mod shape;
#[cfg(feature = "serde")]
mod snapshot;
mod sweep;
mod tuning;
mod world;

pub use counts::Counts;
pub use dispatcher::{DispatcherSettings, FieldDispatcher};
pub use rapier;
pub use shape::{FieldShape, FieldShapeError, Settings};
#[cfg(feature = "serde")]
pub use snapshot::{RestoreError, SaveError, Snapshot, restore, restore_with, save};
pub use world::{
    MOST_CUTS, activation, configure, install, step, step_with_events, steps_per_second,
};
