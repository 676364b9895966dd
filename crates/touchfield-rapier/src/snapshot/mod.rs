//! Saving and restoring worlds with fields: a restored world continues to the same bits.
//!
//! Input: a world and its dispatcher, or what was saved of them. Output: a [`Snapshot`], its bytes,
//! and the world again.
//! Cost: a copy of the world's state; each field and each shell once, however many colliders share
//! them.
//! Not for: untrusted bytes. Lengths, checksum and every shape are checked, but Rapier trusts its
//! own state.
//!
//! Rapier serialises all of its state by `serde` except shapes that are not its own. These are
//! therefore replaced by balls in a copy of the world ([`swap`]) and put back on restoring.
//! Programs with their own files write a [`Snapshot`] in any `serde` format; [`Snapshot::to_bytes`]
//! writes Touchfield's own format.

mod shapes;
mod swap;

use rapier::geometry::{ColliderHandle, SharedShape};
use rapier::math::Real;
use rapier::pipeline::PhysicsWorld;
use serde::{Deserialize, Serialize};

use crate::dispatcher::{DispatcherSettings, FieldDispatcher};
use crate::shape::{FieldShape, FieldShapeError};
use shapes::{Placed, SavedShapes};

/// The saved state of a world with fields.
#[derive(Serialize, Deserialize)]
pub struct Snapshot {
    settings: DispatcherSettings,
    shapes: SavedShapes,
    /// Saved shapes of the colliders that contain fields.
    placed: Vec<(ColliderHandle, Placed)>,
    /// Everything else; balls replace the shapes of `placed`.
    world: PhysicsWorld,
}

/// Why a world cannot be saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The field is code, or made of code, and has no name.
    #[error(
        "the shape of collider {collider} is {what}, which has no numbers to write down: name it (`FieldShape::named`) before it goes into the world, \
         and hand the same shape back to `restore_with`"
    )]
    Nameless {
        /// Index of the collider's handle.
        collider: u32,
        /// Description of the shape.
        what: &'static str,
    },
    /// Two different shapes have the same name.
    #[error("two different shapes are named {0:?}; of a name there is one shape")]
    NameTaken(String),
    /// A compound has a child that is neither a field nor a shape that Rapier can write.
    #[error(
        "collider {collider} is a compound with a part that is neither a field nor a shape of Rapier's that it can write"
    )]
    ForeignShape {
        /// Index of the collider's handle.
        collider: u32,
    },
    /// Rapier's own state could not be written.
    #[error("Rapier's state cannot be written: {0}")]
    Encode(String),
}

/// Why a world cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The bytes do not begin like a saved world.
    #[error("these are no saved world: they begin with {0:02x?}, not with `TFWORLD`")]
    NotAWorld(Vec<u8>),
    /// The world was saved in another version of the format.
    #[error(
        "the world was saved in version {0} of the format; this library reads version {VERSION}"
    )]
    Version(u8),
    /// The world was saved by the crate for the other precision.
    #[error(
        "the world was saved with numbers of {saved} bytes, and this is the crate for {own}: use touchfield-rapier for 4 and touchfield-rapier-f64 for 8"
    )]
    Precision {
        /// Bytes per number in the saved world.
        saved: u8,
        /// Bytes per number in this crate.
        own: u8,
    },
    /// Bytes are missing, or there are more than declared.
    #[error(
        "the world takes {declared} bytes, but there are {found}: the file was cut off or something was appended"
    )]
    Length {
        /// Number of bytes that the header declares.
        declared: u64,
        /// Number of bytes found.
        found: u64,
    },
    /// Bytes have changed since the world was saved.
    #[error(
        "the checksum is {found:08x} and should be {declared:08x}: bytes have changed since it was saved"
    )]
    Checksum {
        /// Checksum in the header.
        declared: u32,
        /// Checksum of the bytes found.
        found: u32,
    },
    /// The state is not what Rapier writes.
    #[error("the state of the world cannot be read: {0}")]
    Decode(String),
    /// An index in the saved world refers to nothing, or its parts do not fit together.
    #[error("{what} {index} of the saved world is not valid: {why}")]
    Invalid {
        /// The kind of object.
        what: &'static str,
        /// Its index.
        index: usize,
        /// The reason.
        why: String,
    },
    /// A shape cannot be rebuilt.
    #[error("shape {index} of the saved world cannot be made: {error}")]
    Shape {
        /// Index of the shape.
        index: usize,
        /// The error of the shape.
        error: FieldShapeError,
    },
    /// No shape was given for a name.
    #[error(
        "the world has a shape named {0:?}, which only its author can make: hand it to `restore_with`"
    )]
    UnknownName(String),
    /// The shape given for a name is not the one that was saved.
    #[error(
        "the shape handed back as {0:?} is not the one that was saved: its points, mass or thickness differ"
    )]
    OtherShape(String),
}

/// The first bytes of a saved world; the version follows.
const SIGNATURE: [u8; 7] = *b"TFWORLD";
const VERSION: u8 = 1;
/// Length of the header: signature, version, bytes per number, three unused bytes, checksum,
/// length.
const HEAD: usize = 24;

/// Saves a world with fields to bytes. `fields` is the dispatcher that [`install`](crate::install)
/// returned.
pub fn save(world: &PhysicsWorld, fields: &FieldDispatcher) -> Result<Vec<u8>, SaveError> {
    Snapshot::of(world, fields)?.to_bytes()
}

/// Restores a world from bytes, together with its dispatcher. The dispatcher's counts begin at 0.
/// ```
/// use touchfield::mesh::generate;
/// use touchfield_rapier::rapier::prelude::*;
/// use touchfield_rapier::{FieldShape, Settings, install, restore, save};
///
/// let mut world = PhysicsWorld::new();
/// let fields = install(&mut world, 0.1);
/// let bowl = generate::bowl(generate::Bowl::default())?;
/// let bowl = FieldShape::from_mesh(&bowl, Settings { resolution: 32, ..Default::default() })?;
/// world.insert(
///     RigidBodyBuilder::fixed(),
///     ColliderBuilder::new(SharedShape::halfspace(Vector::Y)),
/// );
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

/// Restores a world with named shapes from bytes, together with its dispatcher. `named` returns the
/// shape of a name.
pub fn restore_with(
    bytes: &[u8],
    named: impl Fn(&str) -> Option<FieldShape>,
) -> Result<(PhysicsWorld, FieldDispatcher), RestoreError> {
    Snapshot::from_bytes(bytes)?.restore(named)
}

impl Snapshot {
    /// Takes a snapshot of a world and its dispatcher.
    ///
    /// The contact memory of pairs is not saved. The world itself forgets it too
    /// ([`FieldDispatcher::forget`]), so that both continue to the same bits.
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

    /// Rebuilds the world and its dispatcher. `named` returns the shape of a name.
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

    /// Serialises the snapshot as a file: a header with a checksum, then the state in CBOR (RFC
    /// 8949).
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

    /// Reads a snapshot from bytes that [`to_bytes`](Snapshot::to_bytes) wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Snapshot, RestoreError> {
        // Check the signature.
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
        // Check version and precision.
        if head[7] != VERSION {
            return Err(RestoreError::Version(head[7]));
        }
        if head[8] != NUMBER_BYTES {
            return Err(RestoreError::Precision {
                saved: head[8],
                own: NUMBER_BYTES,
            });
        }
        // Check length and checksum.
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

/// Bytes per number in this build of Rapier.
const NUMBER_BYTES: u8 = size_of::<Real>() as u8;

/// Radius of the balls that replace fields \[m\]: so small that they touch nothing while change
/// flags are cleared.
const STAND_IN_RADIUS: Real = 1e-6;
