//! What is asked of two shapes, and what comes back.
//!
//! Input and output of every method of the pair table: a [`Pair`], [`CollideSettings`], [`Contacts`] in frame A.

use crate::contact::{Contact, Wrench};
use crate::geom::Pose;
use crate::narrow::method::Method;
use crate::shape::Shape;
use glam::Vec3;
use std::time::Duration;

/// Two shapes, and where B is.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The first shape; results are in its frame.
    pub a: &'a Shape,
    /// The second shape.
    pub b: &'a Shape,
    /// Takes coordinates in B to coordinates in A.
    pub a_from_b: Pose,
}

/// What to look for, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollideSettings {
    /// How contacts are found.
    pub method: Method,
    /// Contacts up to this far apart are reported too \[m\]; 0: touching or overlapping only.
    pub max_separation: f32,
    /// Points of a shell that are within a ball of this radius may be stood for by one of them that is in contact \[m\]; 0: every point is told. Each contact is as exact as
    /// ever, and there is one if any point of the shell is in contact. What it costs hardly grows with the number of points.
    ///
    /// No point is deeper than the deepest that is told by more than an eighth of `detail` and the error of the field. A ball of which only a little is in contact may be left
    /// out, if another is told, and a penalty wrench sums fewer. [`Method::BothShells`], for solvers, tells the border of a patch to an eighth of `detail`, and the deepest point to the error of the field.
    pub detail: f32,
    /// Time after which a coarser answer is wanted rather than a late one; `None`: take what it takes.
    pub budget: Option<Duration>,
}

impl Default for CollideSettings {
    fn default() -> CollideSettings {
        CollideSettings {
            method: Method::Auto,
            max_separation: 0.0,
            detail: 0.0,
            budget: None,
        }
    }
}

/// How far a method got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was looked at.
    #[default]
    Complete,
    /// The budget ran out: contacts are those of a coarser copy of the surface.
    OutOfTime {
        /// Levels of the sphere tree that were looked at whole.
        levels: u32,
        /// Levels that it has.
        of: u32,
    },
    /// A further level of boxes would have been too many: the contact is that of larger boxes.
    TooManyBoxes {
        /// Levels that were looked at whole.
        levels: u32,
        /// Levels that were asked for.
        of: u32,
    },
}

/// Where the bodies meet, as methods that search space see it, in frame A.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Centres of the boxes that were left, or the particles that arrived \[m\].
    pub points: Vec<Vec3>,
    /// Boxes that were looked at.
    pub boxes: u64,
    /// Proven: the separation, `2 min max(φA, φB)`, is at least this, or `max_separation` where this is the same \[m\]. Positive: the bodies do not
    /// touch. −∞ from methods that prove nothing.
    pub lower_bound: f32,
}

impl Default for Region {
    fn default() -> Region {
        Region {
            points: Vec::new(),
            boxes: 0,
            lower_bound: f32::NEG_INFINITY,
        }
    }
}

impl Region {
    pub(crate) fn clear(&mut self) {
        self.points.clear();
        self.boxes = 0;
        self.lower_bound = f32::NEG_INFINITY;
    }
}

/// What a method found, in frame A.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    /// Deepest first, from [`collide`].
    pub contacts: Vec<Contact>,
    /// The method that was used; never [`Method::Auto`].
    pub method: Method,
    /// Whether it looked at everything.
    pub outcome: Outcome,
    /// Penalty force and torque on B per unit of stiffness, for methods that sum them (document 003).
    pub wrench: Option<Wrench>,
    /// Smallest separation that was seen, touching or not \[m\]; infinite if nothing came near.
    pub distance: f32,
    /// Where the bodies meet, from methods that search space.
    pub region: Region,
}

/// Why contacts cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CollideError {
    /// The pose is not finite, or its rotation is not a unit quaternion.
    #[error("the pose of B in A is not rigid: translation {:?}, rotation {:?}", .0.translation.to_array(), .0.rotation.to_array())]
    BadPose(Pose),
    /// `max_separation` is NaN, infinite or negative.
    #[error("max_separation is {0:?} m; it must be finite and not negative")]
    BadSeparation(f32),
    /// The method needs points on a surface, and the shape has none.
    #[error(
        "method `{method}` needs a pointshell, and neither shape has one (see bake::pointshell)"
    )]
    NoShell {
        /// Name of the method.
        method: &'static str,
    },
    /// The tolerance is NaN, infinite, zero or negative.
    #[error("a tolerance of {0:?} m cannot be reached; it must be finite and more than 0")]
    BadTolerance(f32),
    /// A shape without a solid.
    #[error("a shape is empty: its field has no box")]
    Empty,
    /// The method needs triangles of a surface, and the shapes have none.
    #[error(
        "method `{method}` needs a surface, and neither shape has one (see bake::surface_of_mesh)"
    )]
    NoSurface {
        /// Name of the method.
        method: &'static str,
    },
    /// A setting of the method makes no sense.
    #[error("{setting} is {value}; it must be {wanted}")]
    BadSetting {
        /// Which one.
        setting: &'static str,
        /// What was given.
        value: f32,
        /// What it must be.
        wanted: &'static str,
    },
    /// The method is for convex bodies.
    #[error(
        "method `convex` needs two convex shapes (see Shape::convex; on the command line --convex takes the hulls of meshes)"
    )]
    NotConvex,
    /// Neither shape has an end.
    #[error("both shapes are unbounded; there is no box to search")]
    Unbounded,
}

/// Refuses a reach that is none.
pub(crate) fn check_max_separation(max_separation: f32) -> Result<(), CollideError> {
    if max_separation >= 0.0 && max_separation.is_finite() {
        Ok(())
    } else {
        Err(CollideError::BadSeparation(max_separation))
    }
}

/// Refuses a tolerance that no search can meet.
pub(crate) fn check_tolerance(tolerance: f32) -> Result<(), CollideError> {
    if tolerance > 0.0 && tolerance.is_finite() {
        Ok(())
    } else {
        Err(CollideError::BadTolerance(tolerance))
    }
}

/// The pair with a rotation of unit length; refuses a pose that is no rigid motion.
pub(crate) fn checked<'a>(pair: &Pair<'a>) -> Result<Pair<'a>, CollideError> {
    let Pose {
        rotation,
        translation,
    } = pair.a_from_b;
    // glam calls a quaternion normalised within 2e-4. What is farther off is a mistake rather than rounding.
    if !(translation.is_finite() && rotation.is_finite() && rotation.is_normalized()) {
        return Err(CollideError::BadPose(pair.a_from_b));
    }
    // Else the body would be scaled by as much as the length is off. What is off by rounding only stays as it is, so that a pose and its
    // inverse stay each other's to the bit.
    let is_off = (rotation.length_squared() - 1.0).abs() > 8.0 * f32::EPSILON;
    let a_from_b = Pose {
        rotation: if is_off {
            rotation.normalize()
        } else {
            rotation
        },
        translation,
    };
    Ok(Pair { a_from_b, ..*pair })
}
