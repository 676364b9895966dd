//! Touchfield answers contact questions about bodies of any shape: touching or not, where, how
//! deep, how far apart, when. A triangle mesh is baked into a signed distance field with an error
//! bound.
//!
//! ```
//! # #[cfg(feature = "bake")] {
//! # use touchfield::mesh::{generate, write::write_file};
//! # let folder = std::env::temp_dir().join("touchfield-doc");
//! # std::fs::create_dir_all(&folder)?;
//! # let (bolt, nut) = (folder.join("bolt_m8.obj"), folder.join("nut_m8.obj"));
//! # write_file(&bolt, &generate::bolt(generate::Bolt::default())?)?;
//! # write_file(&nut, &generate::nut(generate::Nut::default())?)?;
//! use touchfield::{Motion, Pose, Query, Shape, glam::Vec3};
//!
//! // Any mesh file in metres, or a .tfs.
//! let (bolt, nut) = (Shape::open(bolt)?, Shape::open(nut)?);
//! let start = Pose::from_translation(Vec3::new(0.0, 0.0, 0.2)); // where the nut is: a_from_b
//! let mut query = Query::default(); // buffers and the memory of pairs; one per thread
//! let touching = query.touching(&bolt, &nut, start)?;
//! let deepest = query.contacts(&bolt, &nut, start)?.first().copied(); // point, normal, depth
//! let gap = query.separation(&bolt, &nut, start)?; // with proven bounds; negative: overlap
//! let fall = Motion::straight(start, Vec3::new(0.0, 0.0, -0.2));
//! let hit = query.cast(&bolt, &nut, fall)?; // first touch, and how far no touch is proven
//! println!("{touching}, {deepest:?}, {} m apart, touch at {}", gap.separation, hit.impact.time);
//! # let fallen = 0.2 * hit.impact.time; // onto the thread at the tip of the bolt
//! # assert!(!touching && deepest.is_none() && (gap.separation - fallen).abs() < 2e-3, "{gap:?}");
//! # assert!((hit.impact.time - 0.838).abs() < 2e-3, "{hit:?}");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything is in the frame of the first body, in metres. Normals point from A to B, distances
//! are negative inside.
//!
//! # How far to trust a field
//!
//! Every field states its error: inside its [`bounds`](Field::bounds) a value is off by at most
//! [`error_bound`](Field::error_bound), outside it is never more than the true distance, and
//! [`meaning`](Field::meaning) distinguishes a distance from a mere bound. [`bake()`] takes broken
//! meshes too: it chooses how to decide inside from outside, and reports what it found.
//!
//! ```
//! # #[cfg(feature = "bake")] {
//! use touchfield::bake::{BakeSettings, Resolution};
//! use touchfield::mesh::generate::{Mug, mug};
//! use touchfield::{Field, bake, glam::Vec3};
//!
//! let mesh = mug(Mug::default())?; // or `mesh::read::read_file(path, &Limits::default())?`
//! let settings = BakeSettings { resolution: Resolution::Nodes(48), ..Default::default() };
//! let baked = bake(&mesh, &settings)?;
//! let sample = baked.field.sample(Vec3::new(0.0, 0.0, 1.0));
//! println!("{} m to go, along {}", sample.distance, -sample.gradient);
//! assert!(baked.provenance.measured_error <= baked.field.error_bound());
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Without a mesh
//!
//! ```
//! use glam::Vec3;
//! use touchfield::field::primitive::{Cuboid, Sphere};
//! use touchfield::field::{Difference, Field, Meaning};
//!
//! let block = Cuboid::new(Vec3::ONE)?;
//! let dented = Difference { first: block, second: Sphere::new(0.5)? };
//! assert_eq!(block.distance(Vec3::new(3.0, 0.0, 0.0)), 2.0);
//! assert!(dented.distance(Vec3::ZERO) > 0.0, "the middle was cut away");
//! assert_eq!(dented.meaning(), Meaning::Bound);
//! # Ok::<(), touchfield::field::ParameterError>(())
//! ```
//!
//! # The modules
//!
//! | module | contents |
//! |---|---|
//! | [`query`], [`open`](mod@open) | queries of pairs; bodies from files and meshes |
//! | [`mesh`] | reading, writing, [defects], [repair], [models] |
//! | [`bake`](mod@bake) | fields and point shells from meshes; field and mesh conversions |
//! | [`field`] | closed forms, CSG, dense, Taylor and sparse grids, voxmaps, `.tfs` files |
//! | [`shape`] | geometry of a body: field, points, triangles, or a [convex](shape::Convex) body |
//! | [`narrow`] | contacts, separation, casts, clearance of one pair; every method by name |
//! | [`pipeline`] | many bodies: [broad phase](broad), narrow phase, [manifolds](manifold) |
//! | [`geom`], [`contact`], [`mass`], [`pointshell`] | vocabulary; results; mass; point shells |
//!
//! [defects]: mesh::validate
//! [repair]: mesh::repair
//! [models]: mesh::generate
//!
//! Conventions: metres and radians; a pose is named by the frames it relates: `a_from_b` transforms
//! coordinates in B to coordinates in A; faces are counter-clockwise seen from outside; `f64` for
//! meshes and baking, `f32` for queries.
//!
//! The numbered programs in `examples/` continue from here. `docs/GUIDE.md` helps to choose a field
//! and a method, `docs/METHODS.md` explains how everything works, `docs/ACCURACY.md` how accurate
//! it is.
//!
//! # Features
//!
//! - `bake` (default): [`mesh`], [`bake`](mod@bake) and [`open`](mod@open), the offline half.
//! - `parallel` (default): uses all cores, with the same bits as on one.
//! - `serde`: recipes of closed forms can be written and read.

pub mod atomic_file;
pub mod bounded_file;
pub mod broad;
pub mod contact;
pub mod field;
pub mod geom;
pub mod manifold;
pub mod mass;
pub mod narrow;
pub mod pipeline;
pub mod pointshell;
pub mod shape;

#[cfg(feature = "bake")]
pub mod mesh;

#[cfg(feature = "bake")]
pub mod bake;

#[cfg(feature = "bake")]
pub mod open;
pub mod query;
mod threads;

pub use glam;

#[cfg(feature = "bake")]
pub use bake::{BakeSettings, bake};
pub use contact::Contact;
pub use field::{Field, Sample};
pub use geom::{Motion, Pose};
#[cfg(feature = "bake")]
pub use mesh::TriangleMesh;
pub use narrow::{Cast, Clearance, Separation};
#[cfg(feature = "bake")]
pub use open::ShapeSettings;
pub use query::Query;
pub use shape::Shape;

/// Compiles and runs the code in the README.
#[cfg(all(doctest, feature = "bake"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// Compiles and runs what the guide shows.
#[cfg(all(doctest, feature = "bake"))]
#[doc = include_str!("../../../docs/GUIDE.md")]
struct Guide;
