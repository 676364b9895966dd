//! Concave moving bodies in Rapier: a collider shape backed by a signed distance field.
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
//! world.insert(
//!     RigidBodyBuilder::fixed(),
//!     ColliderBuilder::new(SharedShape::halfspace(Vector::Y)),
//! );
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
//! - [`FieldShape`] is the collider shape. It is built from a mesh, a baked file, a closed form,
//!   CSG or a closure.
//! - [`FieldDispatcher`] answers Rapier's queries about pairs that contain a field, and passes all
//!   other pairs on to Rapier.
//! - [`install`] adds the dispatcher to a world and sets the parameters that small parts need.
//! - [`Counts`] reports what could not be handled: no failure is silent.
//!
//! Which settings suit which scale, and what is not supported: `docs/RAPIER.md`.

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
pub use tuning::world::MOST_CUTS;
pub use world::{activation, configure, install, step, step_with_events, steps_per_second};

/// Compiles what `docs/RAPIER.md` shows.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/RAPIER.md")]
struct Page;
