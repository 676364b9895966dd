//! The rows of a simulation.
//!
//! Input: a world at the times of the rows.
//! Output: `trajectory.npz`: `time (T,)`, `pose (T, B, 7)`, `velocity` and `angular_velocity
//! (T, B, 3)`, `energy (T, 3)`, `contacts (T,)`, `depth (T,)`.
//! Cost: 13 numbers per body and row, kept in memory until the end.
//! Not for: what happens between rows, but for the greatest depth.

use glam::DVec3;
use touchfield::geom::DAabb;
use touchfield_dynamics::Frame;
use touchfield_dynamics::scene::Built;

use crate::failure::Failure;
use crate::files::arrays::{Archive, Array};

/// Numbers of a body in a row: pose, velocity, angular velocity.
const PER_BODY: u64 = 7 + 3 + 3;
/// Numbers of a row that belong to no body.
const PER_ROW: u64 = 1 + 3 + 1 + 1;

/// Rows so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Trajectory {
    bodies: usize,
    pub(super) time: Vec<f64>,
    pose: Vec<f64>,
    velocity: Vec<f64>,
    angular_velocity: Vec<f64>,
    energy: Vec<f64>,
    pub(super) contacts: Vec<i64>,
    pub(super) depth: Vec<f64>,
}

impl Trajectory {
    pub(super) fn new(bodies: usize) -> Trajectory {
        Trajectory {
            bodies,
            ..Trajectory::default()
        }
    }

    /// Returns the memory that this many rows take \[bytes\].
    pub(super) fn bytes(bodies: usize, rows: u64) -> u64 {
        let row = PER_ROW + PER_BODY * bodies as u64;
        rows.saturating_mul(8 * row)
    }

    pub(super) fn rows(&self) -> usize {
        self.time.len()
    }

    /// Adds the state of the world as a row.
    pub(super) fn push(&mut self, built: &Built, depth: f64) {
        let world = &built.world;
        self.time.push(world.time());
        for (index, body) in world.bodies().iter().enumerate() {
            let Frame {
                rotation,
                translation,
            } = built.pose(index);
            self.pose.extend(translation.to_array());
            self.pose.extend(rotation.to_array());
            self.velocity.extend(body.velocity().to_array());
            self.angular_velocity
                .extend(body.angular_velocity().to_array());
        }
        let energy = world.energy();
        self.energy
            .extend([energy.kinetic, energy.gravitational, energy.total()]);
        self.contacts.push(world.contact_count() as i64);
        self.depth.push(depth);
    }

    /// Returns kinetic, gravitational and total energy of a row \[J\].
    pub(super) fn energy(&self, row: usize) -> [f64; 3] {
        [0, 1, 2].map(|at| self.energy[3 * row + at])
    }

    /// Returns `world_from_shape` of a body in a row.
    pub(super) fn pose(&self, row: usize, body: usize) -> Frame {
        let at = 7 * (row * self.bodies + body);
        let [tx, ty, tz, qx, qy, qz, qw] = std::array::from_fn(|place| self.pose[at + place]);
        Frame {
            rotation: glam::DQuat::from_xyzw(qx, qy, qz, qw),
            translation: DVec3::new(tx, ty, tz),
        }
    }

    /// Returns the greatest depth of all rows \[m\].
    pub(super) fn deepest(&self) -> f64 {
        self.depth.iter().fold(0.0, |most, &depth| most.max(depth))
    }

    pub(super) fn arrays(&self) -> Vec<Array<'_>> {
        let (rows, bodies) = (self.rows(), self.bodies);
        vec![
            Array::floats("time", &[rows], &self.time),
            Array::floats("pose", &[rows, bodies, 7], &self.pose),
            Array::floats("velocity", &[rows, bodies, 3], &self.velocity),
            Array::floats(
                "angular_velocity",
                &[rows, bodies, 3],
                &self.angular_velocity,
            ),
            Array::floats("energy", &[rows, 3], &self.energy),
            Array::whole("contacts", &[rows], &self.contacts),
            Array::floats("depth", &[rows], &self.depth),
        ]
    }

    /// Reads the rows of `bodies` bodies.
    pub(super) fn read(archive: &mut Archive<'_>, bodies: usize) -> Result<Trajectory, Failure> {
        let time = archive.read("time", &[None])?;
        let rows = Some(time.len());
        let per_body = |width| [rows, Some(bodies), Some(width)];
        let contacts = archive.read("contacts", &[rows])?;
        Ok(Trajectory {
            bodies,
            pose: archive.read("pose", &per_body(7))?,
            velocity: archive.read("velocity", &per_body(3))?,
            angular_velocity: archive.read("angular_velocity", &per_body(3))?,
            energy: archive.read("energy", &[rows, Some(3)])?,
            contacts: contacts.iter().map(|&count| count as i64).collect(),
            depth: archive.read("depth", &[rows])?,
            time,
        })
    }
}

/// Returns a box around a body with an end, in the world; `None` for half-spaces.
pub(super) fn world_box(built: &Built, body: usize, pose: &Frame) -> Option<DAabb> {
    let solid = built.world.bodies()[body].geometry().shape().solid();
    let origin = built.origins[body];
    let corners = solid.corners();
    solid
        .is_finite()
        .then(|| DAabb::of_points(corners.map(|corner| pose.point(corner.as_dvec3() + origin))))
}
