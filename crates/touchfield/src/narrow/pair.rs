//! Input and output of every method of the pair table: a [`Pair`], [`CollideSettings`], and
//! [`Contacts`] in frame A.

use crate::contact::{Contact, PenaltyWrench, SegmentWrench};
use crate::geom::Pose;
use crate::narrow::method::ContactMethod;
use crate::shape::Shape;
use glam::Vec3;
use std::time::Duration;

/// Two shapes and their relative pose.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The first shape; results are in its frame.
    pub a: &'a Shape,
    /// The second shape.
    pub b: &'a Shape,
    /// Pose of B in A: takes coordinates in B to coordinates in A.
    pub a_from_b: Pose,
}

/// Settings of a contact query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollideSettings {
    /// Method that finds the contacts.
    pub method: ContactMethod,
    /// Maximum separation of reported contacts \[m\]. 0 reports touching or overlapping points
    /// only.
    pub max_separation: f32,
    /// Merge radius \[m\]: shell points that fit in a ball of this radius may be reported as one
    /// contact, by one of them that is in contact. 0 reports every point.
    ///
    /// Each reported contact is as exact as without merging, and there is one if any point of the
    /// shell is in contact. The cost hardly grows with the number of points.
    ///
    /// No point is deeper than the deepest reported one by more than an eighth of `detail` plus the
    /// error of the field. A ball of which only a little is in contact may be left out if another
    /// one is reported. [`ContactMethod::BothShells`], for solvers, reports the border of a contact
    /// patch to an eighth of `detail`, and the deepest point to the error of the field.
    pub detail: f32,
    /// Time after which the method returns a coarser result instead of a late one; `None` sets no
    /// limit.
    pub budget: Option<Duration>,
    /// Settings of the penalty wrench; `None` computes none. The wrench is that of all shell
    /// points, whatever the method, `detail` and `budget`.
    pub wrench: Option<WrenchSettings>,
}

impl Default for CollideSettings {
    fn default() -> CollideSettings {
        CollideSettings {
            method: ContactMethod::Auto,
            max_separation: 0.0,
            detail: 0.0,
            budget: None,
            wrench: None,
        }
    }
}

/// Direction of the penalty force of a shell point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PenaltyNormals {
    /// The gradient of the other body's field, not normalised. The forces have a potential: they
    /// are exactly minus the gradient of the energy.
    #[default]
    Field,
    /// The inward normal of the shell point, as in \[XuCcd2014\], Eq. 3, and \[Sagardia2014\], Eq.
    /// 2. The forces have no potential.
    Point,
}

/// Settings of a penalty wrench.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrenchSettings {
    /// Stiffness \[Pa/m\]: pressure on the surface per depth.
    pub stiffness: f32,
    /// Point about which torques are taken, in frame A \[m\]. `None` selects B's centre of mass
    /// ([`Shape::center_of_mass`]), or the centre of its box if that is not known, or its origin if
    /// it is unbounded.
    pub about: Option<Vec3>,
    /// Direction of the force of a point.
    pub normals: PenaltyNormals,
    /// Radius of the spheres of the shell's tree that one point represents, with the area of all
    /// its points \[m\]. 0 samples every point. The choice does not depend on the pose, so forces
    /// are still minus the gradient of the energy.
    pub detail: f32,
}

impl Default for WrenchSettings {
    fn default() -> WrenchSettings {
        WrenchSettings {
            stiffness: 1.0,
            about: None,
            normals: PenaltyNormals::Field,
            detail: 0.0,
        }
    }
}

impl WrenchSettings {
    /// Returns an error if a number is out of range.
    pub(crate) fn check(&self) -> Result<(), CollideError> {
        let wrong = |setting, value, wanted| {
            Err(CollideError::BadSetting {
                setting,
                value,
                wanted,
            })
        };
        if !(self.stiffness >= 0.0 && self.stiffness.is_finite()) {
            return wrong("stiffness", self.stiffness, "finite and not negative");
        }
        if !(self.detail >= 0.0 && self.detail.is_finite()) {
            return wrong("detail", self.detail, "finite and not negative");
        }
        match self.about.filter(|about| !about.is_finite()) {
            Some(about) => {
                let bad = about.to_array().into_iter().find(|x| !x.is_finite());
                wrong("about", bad.unwrap_or(f32::NAN), "a finite point")
            }
            None => Ok(()),
        }
    }

    /// Returns the point about which torques are taken, in frame A \[m\].
    pub(crate) fn about_in(&self, pair: &Pair<'_>) -> Vec3 {
        let center = || {
            let solid = pair.b.solid();
            let middle = match solid.is_finite() {
                true => solid.center(),
                false => Vec3::ZERO,
            };
            pair.b.center_of_mass().unwrap_or(middle)
        };
        (self.about).unwrap_or_else(|| pair.a_from_b.transform_point(center()))
    }
}

/// Whether a method completed its search, or the limit that stopped it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// The whole search was completed.
    #[default]
    Complete,
    /// The budget ran out: the contacts are those of the levels or steps completed so far, which is
    /// a coarser copy of the surface for shell methods.
    OutOfTime {
        /// Number of levels (steps, for projection particles) that were completed.
        levels: u32,
        /// Number of levels or steps of a complete search.
        of: u32,
    },
    /// The next level of the subdivision would have too many boxes: the contact is that of larger
    /// boxes.
    TooManyBoxes {
        /// Number of levels that were searched completely.
        levels: u32,
        /// Number of levels set by the subdivision's depth.
        of: u32,
    },
}

/// The region where the bodies meet, in frame A, from methods that search space.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Centres of the remaining boxes, or positions of the particles that arrived \[m\].
    pub points: Vec<Vec3>,
    /// Number of boxes visited.
    pub boxes: u64,
    /// Proven lower bound of the separation `2 min max(φA, φB)` \[m\]. It never exceeds
    /// `max_separation`. A positive bound proves that the bodies do not touch. −∞ from methods that
    /// prove nothing.
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

/// Result of a contact query, in frame A.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    /// Contacts, deepest first if they come from [`collide`](super::collide).
    pub contacts: Vec<Contact>,
    /// Method that was used; never [`ContactMethod::Auto`].
    pub method: ContactMethod,
    /// Whether the search was completed.
    pub outcome: Outcome,
    /// Penalty force and torque on B, if [`CollideSettings::wrench`] is set and a shape has a
    /// shell.
    pub wrench: Option<PenaltyWrench>,
    /// Penalty forces of the segments that are in contact, in the order of their contacts: those of
    /// the segmented shell first, then those of the other shell, if there is one. They add up to
    /// `wrench`. Empty unless the method is [`ContactMethod::ShellSegments`].
    pub segments: Vec<SegmentWrench>,
    /// Smallest separation seen, touching or not \[m\]; infinite if nothing came near.
    pub distance: f32,
    /// Region where the bodies meet, from methods that search space.
    pub region: Region,
}

/// Reasons why contacts cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CollideError {
    /// The pose is not finite, or its rotation is not a unit quaternion.
    #[error("the pose of B in A is not rigid: translation {:?}, rotation {:?}", .0.translation.to_array(), .0.rotation.to_array())]
    BadPose(Pose),
    /// `max_separation` is NaN, infinite or negative.
    #[error("max_separation is {0:?} m; it must be finite and not negative")]
    BadSeparation(f32),
    /// The method needs a pointshell, and neither shape has one.
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
    /// A shape has no solid.
    #[error("a shape is empty: its field has no box")]
    Empty,
    /// The method needs triangles of a surface, and neither shape has any.
    #[error(
        "method `{method}` needs a surface, and neither shape has one (see bake::surface_of_mesh)"
    )]
    NoSurface {
        /// Name of the method.
        method: &'static str,
    },
    /// A setting of the method is out of range.
    #[error("{setting} is {value}; it must be {wanted}")]
    BadSetting {
        /// Name of the setting.
        setting: &'static str,
        /// Value that was given.
        value: f32,
        /// What the value must be.
        wanted: &'static str,
    },
    /// The method needs two convex bodies.
    #[error(
        "method `convex` needs two convex shapes (see Shape::convex; on the command line --convex takes the hulls of meshes)"
    )]
    NotConvex,
    /// Neither shape is bounded.
    #[error("both shapes are unbounded; there is no box to search")]
    Unbounded,
}

/// Returns an error if `max_separation` is negative or not finite.
pub(crate) fn check_max_separation(max_separation: f32) -> Result<(), CollideError> {
    if max_separation >= 0.0 && max_separation.is_finite() {
        Ok(())
    } else {
        Err(CollideError::BadSeparation(max_separation))
    }
}

/// Returns an error if `tolerance` is not positive and finite.
pub(crate) fn check_tolerance(tolerance: f32) -> Result<(), CollideError> {
    if tolerance > 0.0 && tolerance.is_finite() {
        Ok(())
    } else {
        Err(CollideError::BadTolerance(tolerance))
    }
}

/// Returns the pair with a rotation of unit length, or an error if the pose is not a rigid motion.
pub(crate) fn checked<'a>(pair: &Pair<'a>) -> Result<Pair<'a>, CollideError> {
    let Pose {
        rotation,
        translation,
    } = pair.a_from_b;
    // glam accepts a quaternion as normalised within 2e-4. A larger deviation is a mistake rather
    // than rounding.
    if !(translation.is_finite() && rotation.is_finite() && rotation.is_normalized()) {
        return Err(CollideError::BadPose(pair.a_from_b));
    }
    // A rotation that is not of unit length would scale the body. One that is off by rounding only
    // is kept as it is, so that a pose and its inverse stay each other's inverse to the bit.
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
