//! Penalty forces: pressure that grows with depth, on the area of every shell point inside the
//! other body.
//!
//! Input: two bodies in given states.
//! Output: the push on each, the energy stored, the greatest depth.
//! Cost: one field value for each sphere of the shells near the other body, one sample for each
//! point; no allocation once the buffers have grown.
//! Not for: bodies that go through each other within a step, see `continuous`.
//!
//! By default a point of area a at distance φ < 0 pushes with `k a |φ| ∇φ`, which is minus the
//! gradient of `½ k a φ²`: pushed in and let out, it gives back what it took, to rounding. The
//! gradient is that of the stored interpolant and is not normalised. Damping adds `c` times the
//! normal approach speed to the pressure, which never becomes negative. Friction is Coulomb's,
//! regularised: below the slip speed it falls to zero in proportion. It is solved for once all
//! pressures are known, see `friction`.
//!
//! \[Sagardia2014\], Eq. 2 and 3, and \[XuCcd2014\], Eq. 3, have the normal of the shell point
//! instead ([`Normals::Point`]): that force has no potential. Eq. 10 and 11 damp the whole relative
//! velocity ([`PenaltySettings::damping_as_written`]): a block on a slope then creeps.

use glam::DVec3;
use touchfield::narrow::{Pair, Scratch, penalty_points};

use crate::body::{Body, Material, State};
use crate::frame::Frame;
use crate::integrate::Push;
use crate::response::friction::{self, Rub};

/// Direction of a point's penalty force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normals {
    /// Along the gradient of the other body's field: a force with a potential.
    #[default]
    Field,
    /// Along the normal of the shell point, as in \[XuCcd2014\] and \[Sagardia2014\].
    Point,
}

/// How a body moves within a step of the continuous penalty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handle {
    /// Normals and arms go linearly from their values at the start to those at the end.
    #[default]
    Linear,
    /// Bodies make an Euler step to each moment.
    Euler,
}

/// Settings of the penalty responses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltySettings {
    /// Direction of forces.
    pub normals: Normals,
    /// Whether damping acts on the whole relative velocity, as \[XuCcd2014\], Eq. 10, has it.
    pub damping_as_written: bool,
    /// How bodies move within a step of the continuous penalty.
    pub handle: Handle,
    /// Number of moments at which the force of a span of contact is evaluated.
    pub midpoints: u32,
}

impl Default for PenaltySettings {
    fn default() -> PenaltySettings {
        PenaltySettings {
            normals: Normals::Field,
            damping_as_written: false,
            handle: Handle::Linear,
            midpoints: 20,
        }
    }
}

/// What the penalty of a pair amounts to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairPush {
    /// Push on A and on B.
    pub(crate) pushes: [Push; 2],
    /// Energy stored in the overlap \[J\].
    pub(crate) energy: f64,
    /// Depth of the deepest point \[m\].
    pub(crate) depth: f64,
    /// Number of points inside.
    pub(crate) points: u32,
}

/// How a body moves at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moving {
    pub(crate) center: DVec3,
    pub(crate) velocity: DVec3,
    pub(crate) spin: DVec3,
}

impl Moving {
    pub(crate) fn of(body: &Body, state: &State) -> Moving {
        Moving {
            center: state.position,
            velocity: body.velocity_of(state),
            spin: body.spin_of(state),
        }
    }

    fn at(&self, point: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(point - self.center)
    }
}

/// A point inside the other body at a moment, in world axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inside {
    pub(crate) point: DVec3,
    pub(crate) depth: f64,
    pub(crate) area: f64,
    /// Direction of the force on B, of the length that it has.
    pub(crate) along: DVec3,
}

impl Inside {
    /// Returns the force on B, without friction: the pressure, and the damping as it is written.
    pub(crate) fn force(
        &self,
        [a, b]: &[Moving; 2],
        material: &Material,
        settings: &PenaltySettings,
    ) -> [DVec3; 2] {
        let relative = b.at(self.point) - a.at(self.point);
        let normal = self.along.normalize_or_zero();
        let apart = relative.dot(normal);
        let spring = material.stiffness * self.depth;
        let (pressure, damped) = match settings.damping_as_written {
            true => (spring, -self.area * material.damping * relative),
            false => ((spring - material.damping * apart).max(0.0), DVec3::ZERO),
        };
        [self.area * pressure * self.along, damped]
    }

    /// Returns where and how much friction this point may have, for the force of its pressure.
    pub(crate) fn rub(&self, pressure: DVec3, material: &Material) -> Option<Rub> {
        let most = material.friction * pressure.length();
        let normal = self.along.try_normalize()?;
        (most > 0.0).then_some(Rub {
            point: self.point,
            normal,
            most,
        })
    }
}

/// Computes the push of a pair of bodies in the given states, without friction, and replaces `rubs`
/// by the places where friction acts.
pub(crate) fn push(
    [a, b]: [&Body; 2],
    [state_a, state_b]: [&State; 2],
    settings: &PenaltySettings,
    scratch: &mut Scratch,
    rubs: &mut Vec<Rub>,
) -> Result<PairPush, String> {
    rubs.clear();
    let (frame_a, frame_b): (Frame, Frame) = (a.pose_of(state_a), b.pose_of(state_b));
    let pair = Pair {
        a: a.geometry().shape(),
        b: b.geometry().shape(),
        a_from_b: frame_a.from_other(&frame_b),
    };
    let material = Material::between(&a.settings.material, &b.settings.material);
    let moving = [Moving::of(a, state_a), Moving::of(b, state_b)];
    let mut total = PairPush::default();
    let found = penalty_points(&pair, 0.0, scratch, |point| {
        let along = match settings.normals {
            Normals::Field => point.gradient,
            Normals::Point => point.normal,
        };
        let inside = Inside {
            point: frame_a.point(point.point.as_dvec3()),
            depth: f64::from(point.depth()),
            area: f64::from(point.area),
            along: frame_a.rotation * along.as_dvec3(),
        };
        let [pressure, damped] = inside.force(&moving, &material, settings);
        total.add(&inside, &moving, pressure + damped);
        rubs.extend(inside.rub(pressure, &material));
        total.energy += 0.5 * material.stiffness * inside.area * inside.depth * inside.depth;
    });
    found.map_err(|error| error.to_string())?;
    friction::thin(rubs);
    Ok(total)
}

impl PairPush {
    /// Adds friction to the pushes.
    pub(crate) fn rubbed(&mut self, friction: [Push; 2]) {
        for (push, friction) in self.pushes.iter_mut().zip(friction) {
            push.force += friction.force;
            push.torque += friction.torque;
        }
    }

    /// Adds the force of a point on B, and its opposite on A.
    pub(crate) fn add(&mut self, inside: &Inside, moving: &[Moving; 2], force: DVec3) {
        self.pushes[0].add_at(inside.point - moving[0].center, -force);
        self.pushes[1].add_at(inside.point - moving[1].center, force);
        self.depth = self.depth.max(inside.depth);
        self.points += 1;
    }
}
