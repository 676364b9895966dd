//! Bodies that are dropped in a world with a ground, for Table 4 and Figure 6 of \[XuCcd2014\].
//!
//! Input: a model with its field and its vertices.
//! Output: its geometry and mass for `touchfield-dynamics`, and the scales of its contacts.
//! Cost: none beyond the world's.
//! Not for: bodies without volume.
//!
//! Up is y, as in the paper. Lengths are in sides of the body, and gravity is that of a body 10 cm
//! long.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use touchfield::Shape;
use touchfield::mass::MassProperties;
use touchfield_dynamics::{
    BodySettings, Frame, Geometry, Mass, Material, World, WorldError, WorldSettings,
};

use super::swept_shell::Body;
use crate::host::Stop;

/// Gravity, in sides of the body per second squared: 9.81 m/s² for 10 cm.
pub(crate) const GRAVITY: f64 = 98.1;
/// Density \[kg/m³\]. It cancels, because stiffness and damping are in proportion.
const DENSITY: f64 = 1000.0;
/// Cells along the longest side from which the mass of an open mesh is found.
const MASS_CELLS: u32 = 128;
/// Share of the surface that carries the weight of a body at the reference depth. Tuned: softer, a
/// fall by a side ends as deep as thin parts are thick; stiffer, a frame of a millisecond is too
/// long for what rests on a flat side.
const CARRYING: f64 = 0.01;
/// Depth at which that share carries the weight, in sides of the body.
const DEPTH: f64 = 0.0005;

/// A body that can be dropped.
pub(crate) struct Dropped {
    geometry: Geometry,
    mass: Mass,
    /// Longest side \[m\].
    pub(crate) side: f64,
    /// Lowest and highest corner of the body's box \[m\].
    pub(crate) solid: [DVec3; 2],
}

impl Dropped {
    pub(crate) fn new(body: &Body) -> Result<Dropped, Stop> {
        let solid = body.field.solid();
        // Scans are often open somewhere; their field is closed.
        let mass = body
            .mass
            .or_else(|_| MassProperties::of_field(&*body.field, MASS_CELLS))
            .map_err(|error| Stop::BadInput(format!("the body has no mass: {error}")))?;
        let shape = Shape::stored(Arc::clone(&body.field))
            .with_octree(Arc::clone(&body.octree))
            .with_shell(Arc::clone(&body.shell));
        Ok(Dropped {
            geometry: Geometry::from(shape),
            mass: Mass::of(&mass, DENSITY),
            side: f64::from(solid.extents().max_element()),
            solid: [solid.min, solid.max].map(|corner| corner.as_dvec3()),
        })
    }

    /// Returns the acceleration of free fall \[m/s²\].
    pub(crate) fn gravity(&self) -> f64 {
        GRAVITY * self.side
    }

    /// Returns the weight \[N\].
    pub(crate) fn weight(&self) -> f64 {
        self.mass.mass * self.gravity()
    }

    /// Returns the stiffness at which a hundredth of the surface carries the weight at the
    /// reference depth \[Pa/m\].
    pub(crate) fn stiffness(&self) -> f64 {
        let shell = self.geometry.shape().shell();
        let area = shell.map_or(0.0, |shell| {
            shell.areas().iter().map(|&area| f64::from(area)).sum()
        });
        self.weight() / (CARRYING * area * DEPTH * self.side)
    }

    /// Returns the frequency of a body that rests at the reference depth \[rad/s\].
    pub(crate) fn reference_frequency() -> f64 {
        (GRAVITY / DEPTH).sqrt()
    }

    /// Returns a pose with this rotation whose centre of mass is at `place`.
    pub(crate) fn pose(&self, rotation: DQuat, place: DVec3) -> Frame {
        Frame {
            rotation,
            translation: place - rotation * self.mass.center,
        }
    }

    /// Returns how far the lowest vertex lies below the centre of mass \[m\].
    pub(crate) fn foot(&self, rotation: DQuat) -> f64 {
        -self.lowest(&self.pose(rotation, DVec3::ZERO))
    }

    /// Returns the height of the lowest vertex \[m\].
    pub(crate) fn lowest(&self, pose: &Frame) -> f64 {
        let up = pose.rotation.conjugate() * DVec3::Y;
        let shell = self.geometry.shape().shell();
        let points = shell.map_or(&[][..], |shell| shell.points());
        let heights = points.iter().map(|point| up.dot(point.as_dvec3()));
        pose.translation.y + heights.fold(f64::INFINITY, f64::min)
    }

    /// Returns the body in a pose.
    pub(crate) fn free(&self, material: Material, pose: Frame) -> BodySettings {
        BodySettings {
            material,
            pose,
            ..BodySettings::new(self.geometry.clone(), self.mass)
        }
    }

    /// Returns a copy that never moves, in the frame of the model.
    pub(crate) fn fixed(&self, material: Material) -> BodySettings {
        BodySettings {
            material,
            ..BodySettings::fixed(self.geometry.clone())
        }
    }
}

/// Returns the ground at a height.
pub(crate) fn ground(material: Material, height: f64) -> Result<BodySettings, Stop> {
    let geometry = Geometry::half_space(Vec3::Y);
    let geometry = geometry.map_err(|error| Stop::BadInput(error.to_string()))?;
    Ok(BodySettings {
        material,
        pose: Frame::at(DVec3::new(0.0, height, 0.0)),
        ..BodySettings::fixed(geometry)
    })
}

/// Returns a world with these bodies.
pub(crate) fn world(
    settings: WorldSettings,
    bodies: impl IntoIterator<Item = BodySettings>,
) -> Result<World, Stop> {
    let fails = |error: WorldError| Stop::BadInput(error.to_string());
    let mut world = World::new(settings).map_err(fails)?;
    for body in bodies {
        world.add(body).map_err(fails)?;
    }
    Ok(world)
}
