//! Continuous penalty forces: the impulse of the time that each shell point spends inside the other
//! body within a step, applied in the next one.
//!
//! Input: two bodies before and after a step.
//! Output: the mean push on each over the step.
//! Cost: that of sweeping both shells, and of the midpoints of each span; no allocation once the
//! buffers have grown.
//! Not for: points that turn far within a step; they move in straight lines here.
//!
//! \[XuCcd2014\], Eq. 4 to 11. Both bodies take both roles, each counting half where both have
//! shells. The mean force F* and torque τ* act one step late: a contact that lasts gains energy
//! unless it is damped, and angular momentum is kept to first order in the step only. How much is
//! in docs/DYNAMICS.md. The paper has no friction. Ours is that of the pressures of F*, solved for
//! the end of the step in which they act.

use glam::{DMat3, DVec3};
use touchfield::Shape;
use touchfield::narrow::swept_points::{
    PointSpan, ShellPath, SweepScratch, SweepSettings, SweepWanted, SweptField, sweep_shell,
};

use crate::body::{Body, Material, State};
use crate::frame::rotation_by;
use crate::integrate::Push;
use crate::response::friction::{self, Rub};
use crate::response::penalty::{Handle, Inside, Moving, Normals, PairPush, PenaltySettings};

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct SweptBuffers {
    sweep: SweepScratch,
    spans: Vec<PointSpan>,
}

/// A body over a step.
#[derive(Clone, Copy)]
pub(crate) struct Swept<'a> {
    pub(crate) body: &'a Body,
    pub(crate) from: &'a State,
    pub(crate) to: &'a State,
    /// External and late pushes that acted during the step.
    pub(crate) push: Push,
}

/// A body at a moment within a step.
struct Moment {
    /// Axes of the body's frame in the world; not quite orthogonal between two ends.
    axes: DMat3,
    moving: Moving,
    /// Offset from the centre of mass to the origin of the body's frame.
    origin: DVec3,
}

impl Moment {
    /// Returns a direction of the body's frame in the world.
    fn direction(&self, inner: DVec3) -> DVec3 {
        self.axes * inner
    }

    /// Returns a point of the body's frame in the world.
    fn point(&self, inner: DVec3) -> DVec3 {
        self.moving.center + self.axes * (inner + self.origin)
    }
}

/// How a body goes through a step.
struct Way<'a> {
    swept: Swept<'a>,
    step: f64,
    handle: Handle,
    axes: [DMat3; 2],
    /// Constant velocities that lead from one end to the other.
    velocity: DVec3,
    spin: DVec3,
}

impl<'a> Way<'a> {
    fn new(swept: Swept<'a>, step: f64, handle: Handle) -> Way<'a> {
        let (from, to) = (swept.from, swept.to);
        let turn = to.orientation * from.orientation.conjugate();
        let turn = if turn.w < 0.0 { -turn } else { turn };
        Way {
            swept,
            step,
            // A driven body has no equation of motion to make a step of.
            handle: if swept.body.is_free() {
                handle
            } else {
                Handle::Linear
            },
            axes: [from, to].map(|state| DMat3::from_quat(state.orientation)),
            velocity: (to.position - from.position) / step,
            spin: turn.normalize().to_scaled_axis() / step,
        }
    }

    /// Returns the body at the share `time` of the step.
    fn at(&self, time: f64) -> Moment {
        let Swept {
            body,
            from,
            to,
            push,
        } = self.swept;
        let origin = -body.settings.mass.center;
        if self.handle == Handle::Linear {
            return Moment {
                axes: self.axes[0] * (1.0 - time) + self.axes[1] * time,
                moving: Moving {
                    center: from.position.lerp(to.position, time),
                    velocity: self.velocity,
                    spin: self.spin,
                },
                origin,
            };
        }
        let ahead = time * self.step;
        let push = body.allowed(push);
        let mut state = State {
            momentum: from.momentum + ahead * push.force,
            angular_momentum: from.angular_momentum + ahead * push.torque,
            ..*from
        };
        let (velocity, spin) = (body.velocity_of(&state), body.spin_of(&state));
        state.position += ahead * velocity;
        state.orientation = (rotation_by(ahead * spin) * state.orientation).normalize();
        Moment {
            axes: DMat3::from_quat(state.orientation),
            moving: Moving::of(body, &state),
            origin,
        }
    }
}

/// Computes the mean push of a pair over a step, without friction, and replaces `rubs` by the
/// places where friction acts at the end of the step.
pub(crate) fn push(
    pair: [Swept<'_>; 2],
    step: f64,
    by_spheres: bool,
    settings: &PenaltySettings,
    buffers: &mut SweptBuffers,
    rubs: &mut Vec<Rub>,
) -> Result<PairPush, String> {
    rubs.clear();
    let materials = pair.map(|swept| &swept.body.settings.material);
    let material = Material::between(materials[0], materials[1]);
    let has_shell = pair.map(|swept| swept.body.geometry().shape().shell().is_some());
    let share = match has_shell {
        [true, true] => 0.5,
        [false, false] => {
            return Err("neither body has points on its surface, which penalties need".to_owned());
        }
        _ => 1.0,
    };
    let mut total = PairPush::default();
    let ways = pair.map(|swept| Way::new(swept, step, settings.handle));
    for role in [1, 0] {
        let (shell_of, field_of) = (pair[role], pair[1 - role]);
        let shape = shell_of.body.geometry().shape();
        let Some(shell) = shape.shell() else {
            continue;
        };
        let field_shape: &Shape = field_of.body.geometry().shape();
        let field_ends = [field_of.from, field_of.to].map(|state| field_of.body.pose_of(state));
        let shell_ends = [shell_of.from, shell_of.to].map(|state| shell_of.body.pose_of(state));
        let [from, to] = [0, 1].map(|end| field_ends[end].from_other(&shell_ends[end]));
        let shell_pose = shell_ends[1];
        let path = ShellPath::Straight { from, to };
        let wanted = SweepSettings {
            level: 0.0,
            wanted: SweepWanted::All,
            tolerance: 1.0,
            by_spheres,
        };
        let target = SweptField::of(field_shape);
        sweep_shell(
            shell,
            &path,
            &target,
            &wanted,
            &mut buffers.sweep,
            &mut buffers.spans,
        )
        .map_err(|error| error.to_string())?;
        // The force on B is along the gradient of A's field, or against that of its own.
        let sign = if role == 1 { 1.0 } else { -1.0 };
        for &PointSpan { point, span } in &buffers.spans {
            let (place, normal) = (
                shell.points()[point as usize],
                shell.normals()[point as usize],
            );
            let ends = [from.transform_point(place), to.transform_point(place)];
            let area = share * f64::from(shell.areas()[point as usize]);
            let length = (span.leave - span.enter) / f64::from(settings.midpoints);
            // Sum of the pressures on this point over the span.
            let mut pressed = DVec3::ZERO;
            for moment in 0..settings.midpoints {
                let time = span.enter + (f64::from(moment) + 0.5) * length;
                let in_field = ends[0].lerp(ends[1], time as f32);
                let sample = field_shape.field().sample(in_field);
                if sample.distance >= 0.0 {
                    continue;
                }
                let field_now = ways[1 - role].at(time);
                let shell_now = ways[role].at(time);
                let outward = match settings.normals {
                    Normals::Field => field_now.direction(sample.gradient.as_dvec3()),
                    // The point's own normal points out of the body that it is on.
                    Normals::Point => -shell_now.direction(normal.as_dvec3()),
                };
                let moving = match role {
                    1 => [field_now.moving, shell_now.moving],
                    _ => [shell_now.moving, field_now.moving],
                };
                let inside = Inside {
                    point: shell_now.point(place.as_dvec3()),
                    depth: f64::from(-sample.distance),
                    area,
                    along: sign * outward,
                };
                let [pressure, damped] = inside.force(&moving, &material, settings);
                // The share of the step that this moment stands for.
                total.add(&inside, &moving, length * (pressure + damped));
                pressed += length * pressure;
            }
            // Friction acts in the next step, on the point where it is then.
            let pressing = Inside {
                point: shell_pose.point(place.as_dvec3()),
                depth: 0.0,
                area,
                along: pressed,
            };
            rubs.extend(pressing.rub(pressed, &material));
        }
    }
    friction::thin(rubs);
    Ok(total)
}
