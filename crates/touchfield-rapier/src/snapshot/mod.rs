//! Worlds with fields, saved and restored: from there on the same bits as if nothing had happened.
//!
//! Input: a world and its dispatcher; or what was saved of them. Output: a [`Snapshot`], its bytes, and the world again.
//! Cost: a copy of the world's state; each field and each shell once, however many colliders share them. Not for: bytes that nobody vouches for: lengths, checksum and
//! every shape are checked, but Rapier believes what it reads of its own state.
//!
//! Rapier writes all of its state by `serde` but for shapes that are not its own. So these are taken out of a copy of the world ([`swap`]), balls stand in their place, and they are put
//! back on restoring. Whoever has files of his own writes a [`Snapshot`] in any format of `serde`; [`Snapshot::to_bytes`] is ours.

mod shapes;
mod swap;

use rapier::geometry::{ColliderHandle, SharedShape};
use rapier::math::Real;
use rapier::pipeline::PhysicsWorld;
use serde::{Deserialize, Serialize};

use crate::dispatcher::{DispatcherSettings, FieldDispatcher};
use crate::shape::{FieldShape, FieldShapeError};
use shapes::{Placed, SavedShapes};

/// A world with fields, as it was.
#[derive(Serialize, Deserialize)]
pub struct Snapshot {
    settings: DispatcherSettings,
    shapes: SavedShapes,
    /// What the colliders with fields are made of.
    placed: Vec<(ColliderHandle, Placed)>,
    /// All else; balls stand for fields.
    world: PhysicsWorld,
}

/// Why a world cannot be saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// A field that is code, or made of it.
    #[error(
        "the shape of collider {collider} is {what}, which has no numbers to write down: name it (`FieldShape::named`) before it goes into the world, \
         and hand the same shape back to `restore_with`"
    )]
    Nameless {
        /// Index of its handle.
        collider: u32,
        /// What it is.
        what: &'static str,
    },
    /// Two different shapes of one name.
    #[error("two different shapes are named {0:?}; of a name there is one shape")]
    NameTaken(String),
    /// A compound in a compound.
    #[error(
        "collider {collider} is a compound with a part that is neither a field nor a shape of Rapier's that it can write"
    )]
    ForeignShape {
        /// Index of its handle.
        collider: u32,
    },
    /// Rapier's own state could not be written.
    #[error("Rapier's state cannot be written: {0}")]
    Encode(String),
}

/// Why a world cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// Not our bytes at all.
    #[error("these are no saved world: they begin with {0:02x?}, not with `TFWORLD`")]
    NotAWorld(Vec<u8>),
    /// A later version.
    #[error(
        "the world was saved in version {0} of the format; this library reads version {VERSION}"
    )]
    Version(u8),
    /// Saved by the other crate.
    #[error(
        "the world was saved with numbers of {saved} bytes, and this is the crate for {own}: use touchfield-rapier for 4 and touchfield-rapier-f64 for 8"
    )]
    Precision {
        /// Bytes of a number there.
        saved: u8,
        /// And here.
        own: u8,
    },
    /// Bytes are missing, or there are more than there should be.
    #[error(
        "the world takes {declared} bytes, but there are {found}: the file was cut off or something was appended"
    )]
    Length {
        /// What the head says.
        declared: u64,
        /// What is there.
        found: u64,
    },
    /// Bytes have changed.
    #[error(
        "the checksum is {found:08x} and should be {declared:08x}: bytes have changed since it was saved"
    )]
    Checksum {
        /// What the head says.
        declared: u32,
        /// What the bytes give.
        found: u32,
    },
    /// The state is not what Rapier writes.
    #[error("the state of the world cannot be read: {0}")]
    Decode(String),
    /// A number of a shape that is not there, or what does not fit together.
    #[error("{what} {index} of the saved world is not valid: {why}")]
    Invalid {
        /// What.
        what: &'static str,
        /// Which of them.
        index: usize,
        /// Why.
        why: String,
    },
    /// A shape that cannot be made again.
    #[error("shape {index} of the saved world cannot be made: {error}")]
    Shape {
        /// Which.
        index: usize,
        /// Why.
        error: FieldShapeError,
    },
    /// A name that nobody knows.
    #[error(
        "the world has a shape named {0:?}, which only its author can make: hand it to `restore_with`"
    )]
    UnknownName(String),
    /// Another shape of that name.
    #[error(
        "the shape handed back as {0:?} is not the one that was saved: its points, mass or thickness differ"
    )]
    OtherShape(String),
}

/// How saved worlds begin, their version next.
const SIGNATURE: [u8; 7] = *b"TFWORLD";
const VERSION: u8 = 1;
/// Signature, version, bytes of a number, three of nothing, checksum, length.
const HEAD: usize = 24;

/// The bytes of a world with fields. `fields` is what [`install`](crate::install) returned.
pub fn save(world: &PhysicsWorld, fields: &FieldDispatcher) -> Result<Vec<u8>, SaveError> {
    Snapshot::of(world, fields)?.to_bytes()
}

/// The world of these bytes, and the dispatcher that it asks; its counts begin anew.
///
/// ```
/// use touchfield::mesh::generate;
/// use touchfield_rapier::rapier::prelude::*;
/// use touchfield_rapier::{FieldShape, Settings, install, restore, save};
///
/// let mut world = PhysicsWorld::new();
/// let fields = install(&mut world, 0.1);
/// let bowl = generate::bowl(generate::Bowl::default())?;
/// let bowl = FieldShape::from_mesh(&bowl, Settings { resolution: 32, ..Default::default() })?;
/// world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::new(SharedShape::halfspace(Vector::Y)));
/// let above = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.1, 0.0));
/// let (body, _) = world.insert(above, ColliderBuilder::new(bowl.shared()));
/// world.step();
///
/// let bytes = save(&world, &fields)?;
/// let (mut again, _) = restore(&bytes)?;
/// for _ in 0..20 {
///     world.step();
///     again.step();
/// }
/// assert_eq!(world.bodies[body].position(), again.bodies[body].position());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn restore(bytes: &[u8]) -> Result<(PhysicsWorld, FieldDispatcher), RestoreError> {
    restore_with(bytes, |_| None)
}

/// The same for worlds with named shapes: `named` gives back the shape of a name.
pub fn restore_with(
    bytes: &[u8],
    named: impl Fn(&str) -> Option<FieldShape>,
) -> Result<(PhysicsWorld, FieldDispatcher), RestoreError> {
    Snapshot::from_bytes(bytes)?.restore(named)
}

impl Snapshot {
    /// Of a world and the dispatcher that it asks.
    ///
    /// What pairs remember of their contacts is not saved; the world looks for them anew, too, so that both go on with the same bits.
    pub fn of(world: &PhysicsWorld, fields: &FieldDispatcher) -> Result<Snapshot, SaveError> {
        fields.forget();
        let mut shapes = SavedShapes::default();
        let mut placed = Vec::new();
        for (handle, collider) in world.colliders.iter() {
            if let Some(made_of) = shapes.place(handle, collider.shape())? {
                placed.push((handle, made_of));
            }
        }
        let stand_in = SharedShape::ball(STAND_IN_RADIUS);
        let stand_ins = placed.iter().map(|(handle, _)| (*handle, stand_in.clone()));
        let colliders = swap::with_shapes(&world.colliders, &world.bodies, stand_ins);
        let saved = PhysicsWorld {
            gravity: world.gravity,
            integration_parameters: world.integration_parameters,
            islands: world.islands.clone(),
            broad_phase: world.broad_phase.clone(),
            narrow_phase: world.narrow_phase.clone(),
            bodies: world.bodies.clone(),
            colliders,
            impulse_joints: world.impulse_joints.clone(),
            multibody_joints: world.multibody_joints.clone(),
            soft_bodies: world.soft_bodies.clone(),
            ..Default::default()
        };
        Ok(Snapshot {
            settings: fields.settings(),
            shapes,
            placed,
            world: saved,
        })
    }

    /// The world as it was, and the dispatcher that it asks. `named` gives back the shape of a name.
    pub fn restore(
        self,
        named: impl Fn(&str) -> Option<FieldShape>,
    ) -> Result<(PhysicsWorld, FieldDispatcher), RestoreError> {
        let shapes = self.shapes.restore(&named)?;
        let mut world = self.world;
        let mut real = Vec::with_capacity(self.placed.len());
        for (index, (handle, placed)) in self.placed.into_iter().enumerate() {
            if !world.colliders.contains(handle) {
                return Err(RestoreError::Invalid {
                    what: "collider",
                    index,
                    why: "the world has no collider of that handle".to_owned(),
                });
            }
            real.push((handle, placed.shape(&shapes, index)?));
        }
        world.colliders = swap::with_shapes(&world.colliders, &world.bodies, real);
        let fields = FieldDispatcher::new(self.settings);
        world.narrow_phase.set_query_dispatcher(fields.clone());
        Ok((world, fields))
    }

    /// As a file: a head with a checksum, then the state in CBOR (RFC 8949).
    pub fn to_bytes(&self) -> Result<Vec<u8>, SaveError> {
        let mut state = Vec::new();
        ciborium::into_writer(self, &mut state)
            .map_err(|error| SaveError::Encode(error.to_string()))?;
        let mut bytes = Vec::with_capacity(HEAD + state.len());
        bytes.extend(SIGNATURE);
        bytes.extend([VERSION, NUMBER_BYTES, 0, 0, 0]);
        bytes.extend(crc32fast::hash(&state).to_le_bytes());
        bytes.extend((state.len() as u64).to_le_bytes());
        bytes.extend(state);
        Ok(bytes)
    }

    /// From such bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Snapshot, RestoreError> {
        let begin = &bytes[..bytes.len().min(SIGNATURE.len())];
        if begin != SIGNATURE {
            return Err(RestoreError::NotAWorld(begin.to_vec()));
        }
        let Some((head, state)) = bytes.split_first_chunk::<HEAD>() else {
            return Err(RestoreError::Length {
                declared: HEAD as u64,
                found: bytes.len() as u64,
            });
        };
        if head[7] != VERSION {
            return Err(RestoreError::Version(head[7]));
        }
        if head[8] != NUMBER_BYTES {
            return Err(RestoreError::Precision {
                saved: head[8],
                own: NUMBER_BYTES,
            });
        }
        let [_, _, _, c0, c1, c2, c3, length @ ..] = head[9..].try_into().unwrap_or([0; 15]);
        let declared = u64::from_le_bytes(length);
        let found = state.len() as u64;
        if declared != found {
            return Err(RestoreError::Length { declared, found });
        }
        let declared = u32::from_le_bytes([c0, c1, c2, c3]);
        let found = crc32fast::hash(state);
        if declared != found {
            return Err(RestoreError::Checksum { declared, found });
        }
        ciborium::from_reader(state).map_err(|error| RestoreError::Decode(error.to_string()))
    }
}

/// Bytes of one of Rapier's numbers.
const NUMBER_BYTES: u8 = size_of::<Real>() as u8;

/// Of the balls that stand for fields \[m\]: so small that they meet nothing while marks are cleared.
const STAND_IN_RADIUS: Real = 1e-6;
