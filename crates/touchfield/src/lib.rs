//! Touchfield: from any triangle mesh to a signed distance field you can trust.
//!
//! # Nouns
//!
//! - A [`TriangleMesh`](mesh::TriangleMesh) is what a file holds, faults included. [`mesh::read`] brings it in,
//!   [`mesh::validate`] names every defect with its place, [`mesh::repair`] mends it and says what it did,
//!   [`mesh::generate`] makes models from a few numbers.
//! - A [`Field`](field::Field) gives the signed distance to a solid: closed forms ([`field::primitive`]), solids from solids
//!   ([`field::csg`], [`field::level_set`]), a formula of yours ([`field::Closure`]), or a grid
//!   ([`field::DenseGrid`]).
//! - [`bake`](bake::bake) turns the first into the second. [`ExactDistance`](bake::ExactDistance) asks the mesh directly.
//!   [`isosurface`](bake::isosurface) goes back: the surface of any field, at any level, as a closed mesh.
//!   [`convert`](bake::convert()) stores a baked field another way, [`given_grid`](bake::given_grid) makes one of your own distances.
//! - [`geom`] is the vocabulary of all: poses, boxes, triangles, intervals.
//! - [`MassProperties`](mass::MassProperties) are volume, centre and inertia, of a field or of a closed surface.
//! - A [`Shape`](shape::Shape) is what contact queries know of a body: its field, and a [`PointShell`](pointshell::PointShell) for
//!   those that want points on its surface. [`narrow`] takes two and a pose; [`contact`] holds the types of its answers.
//!   Two [`Convex`](shape::Convex) bodies are answered exactly ([`narrow::convex`]): hulls, boxes, balls and the like.
//!   Of two that move, [`cast`](narrow::cast()) finds the first touch and [`clearance`](narrow::clearance()) how near they come.
//! - A [`Pipeline`](pipeline::Pipeline) holds many bodies: [`broad`] finds the pairs that may touch, [`narrow`] their contacts, and a
//!   [`Manifold`](manifold::Manifold) keeps a few of them and knows them again.
//!
//! # Conventions
//!
//! Metres, radians. Distance is negative inside; the gradient points outward. A pose is named by the frames it joins:
//! `a_from_b` takes coordinates in B to coordinates in A. Faces are counter-clockwise seen from outside. `f64` for meshes and
//! baking, `f32` at query time.
//!
//! Every field says how far to trust it: inside its [`bounds`](field::Field::bounds) the value is off by at most
//! [`error_bound`](field::Field::error_bound), outside it is never more than the true distance, and
//! [`meaning`](field::Field::meaning) tells a distance from a mere bound.
//!
//! # From a mesh to a field
//!
//! ```
//! # #[cfg(feature = "bake")] {
//! use std::ops::ControlFlow;
//! use glam::Vec3;
//! use touchfield::bake::{BakeSettings, Resolution, bake};
//! use touchfield::field::{Field, SignMethod};
//! use touchfield::mesh::read::{Format, Limits, read_bytes};
//! use touchfield::mesh::validate;
//!
//! let file = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
//! let mesh = read_bytes(file, Format::Obj, &Limits::default())?;
//! assert!(validate(&mesh).watertight);
//!
//! let settings = BakeSettings { resolution: Resolution::Nodes(32), ..Default::default() };
//! let baked = bake(&mesh, &settings, &|_step| ControlFlow::Continue(()))?;
//! assert_eq!(baked.provenance.sign_method, SignMethod::Pseudonormal);
//!
//! let sample = baked.grid.sample(Vec3::new(0.1, 0.3, 0.3));
//! assert!((sample.distance - -0.1).abs() <= baked.grid.error_bound());
//! assert!(sample.gradient.x < -0.9, "the way out is the face x = 0");
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
//! # From two shapes to contacts
//!
//! ```
//! use glam::Vec3;
//! use touchfield::field::primitive::{Cuboid, Sphere};
//! use touchfield::geom::Pose;
//! use touchfield::narrow::{CollideSettings, Contacts, Pair, Scratch, collide};
//! use touchfield::narrow::{SeparationScratch, SeparationSettings, separation};
//! use touchfield::shape::Shape;
//!
//! let floor = Shape::new(Cuboid::new(Vec3::new(2.0, 2.0, 0.5))?);
//! let ball = Shape::new(Sphere::new(0.25)?);
//! let a_from_b = Pose::from_translation(Vec3::new(0.0, 0.0, 0.7));
//! let pair = Pair { a: &floor, b: &ball, a_from_b };
//!
//! // Everything is in the frame of A; normals go from A to B; overlap is negative.
//! let (mut scratch, mut found) = (Scratch::default(), Contacts::default());
//! collide(&pair, &CollideSettings::default(), &mut scratch, &mut found)?;
//! assert!(found.contacts[0].normal.z > 0.9 && found.contacts[0].separation < 0.0);
//!
//! // The ball is 0.05 m deep, and that is proven.
//! let settings = SeparationSettings::to_within(1e-3);
//! let depth = separation(&pair, &settings, &mut SeparationScratch::default())?;
//! assert!(depth.lower_bound <= -0.05 && -0.05 <= depth.upper_bound);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Meshes are baked first, and a [`PointShell`](pointshell::PointShell) gives [`collide`](narrow::collide) points to start from: `examples/04_contact.rs`.
//! Moving bodies: `examples/05_cast.rs`. Convex bodies: `examples/06_convex.rs`.
//!
//! The numbered programs in `examples/` go on from here. How it works is in `docs/METHODS.md`, how exact it is in
//! `docs/ACCURACY.md`, and which module may use which in `ARCHITECTURE.md`.
//!
//! # Features
//!
//! - `bake` (default): [`mesh`] and [`bake`](mod@bake), the offline half.
//! - `parallel` (default): all cores while baking. The result has the same bits without it.

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

mod threads;

/// Compiles and runs what the README shows.
#[cfg(all(doctest, feature = "bake"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
