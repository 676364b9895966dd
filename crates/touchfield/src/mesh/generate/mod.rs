//! Procedural models: from a box to a nut that screws onto its bolt.
//!
//! Input: one small parameter struct per model, with defaults of a realistic size.
//! Output: a [`TriangleMesh`] that is closed, manifold, oriented outward, and free of flat,
//! duplicate and crossing faces.
//! Cost: linear in the faces; more than [`MAX_FACES`] are refused before memory is taken.
//! Not for: modelling; shapes are given by a few numbers each.
//!
//! ```
//! use touchfield::mesh::generate::{Torus, torus};
//! let ring = torus(Torus { minor_radius: 0.01, ..Default::default() })?;
//! assert!(ring.signed_volume() > 0.0);
//! # Ok::<(), touchfield::mesh::generate::GenerateError>(())
//! ```

mod broken;
mod fastener;
mod gear;
mod revolve;
mod solids;
mod surface;
mod sweep;
mod terrain;
#[cfg(test)]
mod tests;
mod thread;

pub use broken::broken;
pub use fastener::{Bolt, Nut, bolt, nut};
pub use gear::{Gear, gear};
pub use revolve::{Bowl, Mug, bowl, mug};
pub use solids::{
    Capsule, Cuboid, Cylinder, Icosphere, ThinPlate, capsule, cuboid, cylinder, icosphere,
    thin_plate,
};
pub use surface::{LENGTH_RANGE, MAX_FACES};
pub use sweep::{
    ChainLink, Torus, TorusKnot, WindingPipe, chain_link, torus, torus_knot, winding_pipe,
};
pub use terrain::{Terrain, terrain};
pub use thread::MetricSize;

use super::TriangleMesh;

/// Reason why a model cannot be generated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GenerateError {
    /// A parameter is out of range, alone or in combination with the others.
    #[error("{model}: `{parameter}` is {value}; {wanted}")]
    OutOfRange {
        /// Name of the model.
        model: &'static str,
        /// Field of its parameter struct.
        parameter: &'static str,
        /// Value of the parameter.
        value: f64,
        /// Description of the valid range.
        wanted: String,
    },
    /// The segment counts give more faces than the limit.
    #[error(
        "{model}: {faces} faces requested, the limit is {limit}; lower its segments, subdivisions or level"
    )]
    TooManyFaces {
        /// Name of the model.
        model: &'static str,
        /// Number of faces the model would have.
        faces: u64,
        /// The limit, [`MAX_FACES`].
        limit: u64,
    },
    /// A face has no area because of rounding.
    #[error(
        "{model}: face {face} has no area, because sizes differ by more than `f64` resolves; bring them closer together or lower the counts"
    )]
    FlatFace {
        /// Name of the model.
        model: &'static str,
        /// The first such face.
        face: usize,
    },
}

/// An entry of the [`catalogue`].
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Name in snake_case; also the stem of its file.
    pub name: &'static str,
    /// Description in one line.
    pub description: &'static str,
    make: fn() -> Result<TriangleMesh, GenerateError>,
}

impl Model {
    /// Generates the model with its default parameters.
    pub fn mesh(&self) -> Result<TriangleMesh, GenerateError> {
        (self.make)()
    }
}

/// Returns every model with its default parameters.
pub fn catalogue() -> Vec<Model> {
    let model = |name, description, make| Model {
        name,
        description,
        make,
    };
    vec![
        model("box", "a box, 12 triangles", || cuboid(Cuboid::default())),
        model("icosphere", "a sphere of nearly equal triangles", || {
            icosphere(Icosphere::default())
        }),
        model("torus", "a ring", || torus(Torus::default())),
        model("torus_knot", "a trefoil knot", || {
            torus_knot(TorusKnot::default())
        }),
        model("capsule", "a cylinder with round ends", || {
            capsule(Capsule::default())
        }),
        model("cylinder", "a cylinder", || cylinder(Cylinder::default())),
        model("bowl", "an open half shell with a thin wall", || {
            bowl(Bowl::default())
        }),
        model("mug", "a mug with a handle, one closed surface", || {
            mug(Mug::default())
        }),
        model("gear", "an involute spur gear with a bore", || {
            gear(Gear::default())
        }),
        model("nut_m8", "an ISO M8 nut with its thread", || {
            nut(Nut::of_size(MetricSize::M8))
        }),
        model("bolt_m8", "an ISO M8 bolt with its thread", || {
            bolt(Bolt::of_size(MetricSize::M8))
        }),
        model("nut_m16", "an ISO M16 nut with its thread", || {
            nut(Nut::of_size(MetricSize::M16))
        }),
        model("bolt_m16", "an ISO M16 bolt with its thread", || {
            bolt(Bolt::of_size(MetricSize::M16))
        }),
        model("chain_link", "a link of a chain", || {
            chain_link(ChainLink::default())
        }),
        model("terrain", "hills over a flat bottom", || {
            terrain(Terrain::default())
        }),
        model("winding_pipe", "a hollow pipe with open ends", || {
            winding_pipe(WindingPipe::default())
        }),
        model("thin_plate", "a plate half a millimetre thin", || {
            thin_plate(ThinPlate::default())
        }),
    ]
}
