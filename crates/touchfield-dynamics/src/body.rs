//! Bodies: geometry, mass, material, motion and state.
//!
//! Input: [`BodySettings`].
//! Output: [`Body`], whose [`State`] is that of \[Baraff1997\]: position, orientation, linear and
//! angular momentum.
//! Cost: none beyond its parts.
//! Not for: contacts between bodies, see `contacts`.

use glam::{DMat3, DQuat, DVec3, Vec3};
use touchfield::Shape;
use touchfield::field::ParameterError;
use touchfield::field::primitive::HalfSpace;
use touchfield::shape::Convex;

use crate::frame::{Frame, rotation_by, turned};
use crate::mass::{Locked, Mass};

/// The geometry of a body: a shape, or a half-space as ground.
#[derive(Clone, Debug)]
pub struct Geometry {
    shape: Shape,
    /// Outward normal of a half-space through the origin.
    half_space: Option<Vec3>,
}

impl Geometry {
    /// Returns the half-space below a plane through the origin of the body's frame.
    pub fn half_space(normal: Vec3) -> Result<Geometry, ParameterError> {
        let field = HalfSpace::new(normal, 0.0)?;
        Ok(Geometry {
            half_space: Some(field.normal()),
            shape: Shape::new(field),
        })
    }

    /// Returns a convex body.
    pub fn convex(convex: Convex) -> Result<Geometry, ParameterError> {
        Ok(Geometry::from(Shape::convex(convex)?))
    }

    /// Returns the shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the outward normal, if the geometry is a half-space.
    pub fn as_half_space(&self) -> Option<Vec3> {
        self.half_space
    }
}

impl From<Shape> for Geometry {
    fn from(shape: Shape) -> Geometry {
        Geometry {
            shape,
            half_space: None,
        }
    }
}

/// How a surface responds to contact. A pair of bodies has the mean of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Coefficient of Coulomb friction.
    pub friction: f64,
    /// Share of the approach speed with which bodies part, from 0 to 1. Impulses only.
    pub restitution: f64,
    /// Pressure per depth of penetration \[Pa/m\]. Penalty responses only.
    pub stiffness: f64,
    /// Pressure per normal approach speed \[Pa·s/m\]. Penalty responses only.
    pub damping: f64,
    /// Sliding speed below which Coulomb friction falls to zero linearly \[m/s\]. Penalty responses
    /// only.
    pub slip: f64,
}

impl Default for Material {
    fn default() -> Material {
        Material {
            friction: 0.3,
            restitution: 0.0,
            stiffness: 1e9,
            damping: 0.0,
            slip: 1e-3,
        }
    }
}

impl Material {
    /// Returns the material of a pair: the mean of both.
    pub fn between(a: &Material, b: &Material) -> Material {
        let mean = |a: f64, b: f64| 0.5 * (a + b);
        Material {
            friction: mean(a.friction, b.friction),
            restitution: mean(a.restitution, b.restitution),
            stiffness: mean(a.stiffness, b.stiffness),
            damping: mean(a.damping, b.damping),
            slip: mean(a.slip, b.slip),
        }
    }

    /// Returns the name and value of the first number that is out of range, with the range.
    pub fn fault(&self) -> Option<(&'static str, f64, &'static str)> {
        let not_negative = "finite and not negative";
        let at_least_zero = |value: f64| value >= 0.0 && value.is_finite();
        let faults = [
            (
                "friction",
                self.friction,
                at_least_zero(self.friction),
                not_negative,
            ),
            (
                "restitution",
                self.restitution,
                (0.0..=1.0).contains(&self.restitution),
                "from 0 to 1",
            ),
            (
                "stiffness",
                self.stiffness,
                at_least_zero(self.stiffness),
                not_negative,
            ),
            (
                "damping",
                self.damping,
                at_least_zero(self.damping),
                not_negative,
            ),
            (
                "slip",
                self.slip,
                self.slip > 0.0 && self.slip.is_finite(),
                "finite and more than 0",
            ),
        ];
        let fault = faults.into_iter().find(|fault| !fault.2);
        fault.map(|(name, value, _, wanted)| (name, value, wanted))
    }
}

/// A prescribed motion.
#[derive(Clone, Debug, PartialEq)]
pub enum Drive {
    /// Constant velocity of a point of the body, and constant angular velocity.
    Steady {
        /// Velocity of the point `about` in the world \[m/s\].
        velocity: DVec3,
        /// Angular velocity in the world \[rad/s\].
        angular_velocity: DVec3,
        /// Point of the body's frame that moves in a straight line \[m\].
        about: DVec3,
    },
    /// Poses at given times, linear and spherical-linear between them; at rest before the first and
    /// after the last.
    Path {
        /// Times \[s\], increasing.
        times: Vec<f64>,
        /// `world_from_body` at these times.
        poses: Vec<Frame>,
    },
}

impl Drive {
    /// Returns `world_from_body` at `time`, for a body that starts at `start` at time 0.
    pub fn at(&self, start: &Frame, time: f64) -> Frame {
        match self {
            Drive::Steady {
                velocity,
                angular_velocity,
                about,
            } => {
                let rotation = (rotation_by(*angular_velocity * time) * start.rotation).normalize();
                let place = start.point(*about) + *velocity * time;
                Frame {
                    rotation,
                    translation: place - rotation * *about,
                }
            }
            Drive::Path { times, poses } => {
                let next = times.partition_point(|&at| at <= time);
                let (Some(last), Some(first)) = (poses.last(), poses.first()) else {
                    return *start;
                };
                if next == 0 {
                    return *first;
                }
                let Some(&to) = poses.get(next) else {
                    return *last;
                };
                let from = poses[next - 1];
                let share = (time - times[next - 1]) / (times[next] - times[next - 1]);
                Frame {
                    rotation: from.rotation.slerp(to.rotation, share).normalize(),
                    translation: from.translation.lerp(to.translation, share),
                }
            }
        }
    }
}

/// What makes a body move.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Moves {
    /// Forces.
    #[default]
    Freely,
    /// Nothing.
    Never,
    /// A prescribed motion, which no force changes.
    Driven(Drive),
}

/// Everything that defines a body at the start.
#[derive(Clone, Debug)]
pub struct BodySettings {
    /// Geometry, in the body's frame.
    pub geometry: Geometry,
    /// Mass; of no effect on bodies that are fixed or driven.
    pub mass: Mass,
    /// Material of the surface.
    pub material: Material,
    /// What makes the body move.
    pub moves: Moves,
    /// `world_from_body` at the start.
    pub pose: Frame,
    /// Velocity of the centre of mass \[m/s\].
    pub velocity: DVec3,
    /// Angular velocity in the world \[rad/s\].
    pub angular_velocity: DVec3,
    /// Constant external force in the world \[N\].
    pub force: DVec3,
    /// Constant external torque about the centre of mass, in the world \[N·m\].
    pub torque: DVec3,
    /// Directions in which the body is held.
    pub locked: Locked,
}

impl BodySettings {
    /// Returns a body that moves freely, at rest at the world's origin.
    pub fn new(geometry: Geometry, mass: Mass) -> BodySettings {
        BodySettings {
            geometry,
            mass,
            material: Material::default(),
            moves: Moves::Freely,
            pose: Frame::IDENTITY,
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
            force: DVec3::ZERO,
            torque: DVec3::ZERO,
            locked: Locked::default(),
        }
    }

    /// Returns a body that never moves.
    pub fn fixed(geometry: Geometry) -> BodySettings {
        BodySettings {
            moves: Moves::Never,
            ..BodySettings::new(geometry, Mass::ball(1.0, 1.0))
        }
    }
}

/// State of a body \[Baraff1997\]: its four quantities change by velocity, angular velocity, force
/// and torque.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Centre of mass in the world \[m\].
    pub position: DVec3,
    /// `world_from_body` rotation, a unit quaternion.
    pub orientation: DQuat,
    /// Linear momentum \[kg·m/s\].
    pub momentum: DVec3,
    /// Angular momentum about the centre of mass, in the world \[kg·m²/s\]. Of a body with locked
    /// rotations: the components about free axes.
    pub angular_momentum: DVec3,
}

/// What the equations of motion need of a body, besides its state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inertia {
    /// 1 / mass along free axes, 0 along held ones \[1/kg\].
    pub(crate) inverse_mass: DVec3,
    /// Inertia about the centre of mass, body axes \[kg·m²\].
    body: DMat3,
    body_inverse: DMat3,
    locked: Locked,
    /// Whether forces move the body at all.
    is_free: bool,
}

impl Inertia {
    fn new(mass: &Mass, locked: Locked, is_free: bool) -> Inertia {
        Inertia {
            inverse_mass: match is_free {
                true => locked.free_translation() / mass.mass,
                false => DVec3::ZERO,
            },
            body: mass.inertia,
            body_inverse: mass.inertia.inverse(),
            locked,
            is_free,
        }
    }

    /// Returns the matrix that takes angular momentum to angular velocity, in the world
    /// \[1/(kg·m²)\].
    pub(crate) fn world_inverse(&self, orientation: DQuat) -> DMat3 {
        if !self.is_free {
            return DMat3::ZERO;
        }
        if self.locked.rotation == glam::BVec3::FALSE {
            return turned(orientation, self.body_inverse);
        }
        (self.locked).inverse_inertia(turned(orientation, self.body))
    }

    /// Returns the angular momentum of a body that turns like this.
    pub(crate) fn angular_momentum(&self, orientation: DQuat, spin: DVec3) -> DVec3 {
        let free = self.locked.free_rotation();
        free * (turned(orientation, self.body) * (free * spin))
    }
}

/// A body in a world.
#[derive(Clone, Debug)]
pub struct Body {
    pub(crate) settings: BodySettings,
    pub(crate) inertia: Inertia,
    pub(crate) state: State,
    /// Velocities of a driven body, which has no momentum.
    pub(crate) drive_velocity: DVec3,
    pub(crate) drive_spin: DVec3,
    /// Time for which the body has hardly moved \[s\].
    pub(crate) still_for: f64,
    pub(crate) is_asleep: bool,
    /// Radius of a ball about the centre of mass that holds the body; 0 if it has no end \[m\].
    pub(crate) radius: f64,
}

impl Body {
    pub(crate) fn new(settings: BodySettings) -> Body {
        let is_free = settings.moves == Moves::Freely;
        let inertia = Inertia::new(&settings.mass, settings.locked, is_free);
        let orientation = settings.pose.rotation.normalize();
        let pose = Frame {
            rotation: orientation,
            ..settings.pose
        };
        let velocity = settings.locked.free_translation() * settings.velocity;
        let solid = settings.geometry.shape().solid();
        let radius = match solid.is_finite() {
            true => (solid.corners().into_iter())
                .map(|corner| corner.as_dvec3().distance(settings.mass.center))
                .fold(0.0, f64::max),
            false => 0.0,
        };
        let (momentum, angular_momentum) = match is_free {
            true => (
                settings.mass.mass * velocity,
                inertia.angular_momentum(orientation, settings.angular_velocity),
            ),
            false => (DVec3::ZERO, DVec3::ZERO),
        };
        let mut body = Body {
            state: State {
                position: pose.point(settings.mass.center),
                orientation,
                momentum,
                angular_momentum,
            },
            inertia,
            settings,
            drive_velocity: DVec3::ZERO,
            drive_spin: DVec3::ZERO,
            still_for: 0.0,
            is_asleep: false,
            radius,
        };
        if matches!(body.settings.moves, Moves::Driven(_)) {
            body.drive_to(0.0, 1e-6);
            body.place_driven(0.0);
        }
        body
    }

    /// Returns the settings that the body was made from.
    pub fn settings(&self) -> &BodySettings {
        &self.settings
    }

    /// Returns the geometry, in the body's frame.
    pub fn geometry(&self) -> &Geometry {
        &self.settings.geometry
    }

    /// Returns the state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns `world_from_body`.
    pub fn pose(&self) -> Frame {
        self.pose_of(&self.state)
    }

    pub(crate) fn pose_of(&self, state: &State) -> Frame {
        Frame {
            rotation: state.orientation,
            translation: state.position - state.orientation * self.settings.mass.center,
        }
    }

    /// Returns the velocity of the centre of mass \[m/s\].
    pub fn velocity(&self) -> DVec3 {
        self.velocity_of(&self.state)
    }

    pub(crate) fn velocity_of(&self, state: &State) -> DVec3 {
        self.drive_velocity + self.inertia.inverse_mass * state.momentum
    }

    /// Returns the angular velocity in the world \[rad/s\].
    pub fn angular_velocity(&self) -> DVec3 {
        self.spin_of(&self.state)
    }

    pub(crate) fn spin_of(&self, state: &State) -> DVec3 {
        self.drive_spin + self.inertia.world_inverse(state.orientation) * state.angular_momentum
    }

    /// Returns whether forces move the body.
    pub fn is_free(&self) -> bool {
        self.settings.moves == Moves::Freely
    }

    /// Returns whether a body that forces move lies still and is left out of the steps until
    /// something wakes it.
    pub fn is_asleep(&self) -> bool {
        self.is_asleep
    }

    /// Returns the kinetic energy \[J\]; 0 for bodies that forces do not move.
    pub fn kinetic_energy(&self) -> f64 {
        if !self.is_free() {
            return 0.0;
        }
        let State {
            momentum,
            angular_momentum,
            ..
        } = self.state;
        0.5 * (momentum.dot(self.velocity()) + angular_momentum.dot(self.angular_velocity()))
    }

    /// Returns `world_from_body` after `time` \[s\], if nothing changes the velocities.
    pub(crate) fn predicted(&self, time: f64) -> Frame {
        let state = State {
            position: self.state.position + time * self.velocity(),
            orientation: (rotation_by(time * self.angular_velocity()) * self.state.orientation)
                .normalize(),
            ..self.state
        };
        self.pose_of(&state)
    }

    /// Sets the velocities of a driven body to those that bring it to its pose at `time + step`.
    pub(crate) fn drive_to(&mut self, time: f64, step: f64) {
        let Moves::Driven(drive) = &self.settings.moves else {
            return;
        };
        let start = &self.settings.pose;
        let center = self.settings.mass.center;
        let (from, to) = (drive.at(start, time), drive.at(start, time + step));
        let mut turn = to.rotation * from.rotation.conjugate();
        if turn.w < 0.0 {
            turn = -turn;
        }
        self.drive_velocity = (to.point(center) - from.point(center)) / step;
        self.drive_spin = turn.normalize().to_scaled_axis() / step;
    }

    /// Puts a driven body where it is at `time`.
    pub(crate) fn place_driven(&mut self, time: f64) {
        if let Moves::Driven(drive) = &self.settings.moves {
            let pose = drive.at(&self.settings.pose, time);
            self.state.orientation = pose.rotation;
            self.state.position = pose.point(self.settings.mass.center);
        }
    }
}
