//! One input, one output, and the table of methods.
//!
//! Input: a [`Pair`], [`CollideSettings`]. Output: [`Contacts`] in frame A, deepest first.
//! Cost: the method's; no allocation once `scratch` and `out` have grown. Not for: worlds of many bodies (see `pipeline`).

use std::time::Duration;

use glam::Vec3;

use crate::contact::{Contact, Wrench};
use crate::field::Sample;
use crate::geom::Pose;
use crate::narrow::auto;
use crate::narrow::contacts::face_descent;
use crate::narrow::contacts::face_descent::{FaceBuffers, FaceDescent};
use crate::narrow::contacts::octree_subdivision;
use crate::narrow::contacts::octree_subdivision::Subdivision;
use crate::narrow::contacts::projection_particles;
use crate::narrow::contacts::projection_particles::{ParticleBuffers, Particles};
use crate::narrow::contacts::shell_walk::Ahead;
use crate::narrow::contacts::{both_shells, point_samples, shell_segments, shell_traversal};
use crate::narrow::search::boxes::Boxes;
use crate::narrow::search::overlap::OverlapBuffers;
use crate::narrow::separation::by_convex;
use crate::narrow::separation::by_convex::{ConvexBuffers, PairMemory};
use crate::narrow::separation::search;
use crate::narrow::separation::search::SeparationScratch;
use crate::shape::Shape;

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

/// Ways to find contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Method {
    /// Picked by kind and size of the two shapes.
    #[default]
    Auto,
    /// Every point of a shell against the field of the other: the baseline (document 004).
    PointSamples,
    /// The sphere tree of a shell against the field of the other (document 003).
    ShellTraversal,
    /// The deepest point of each of about so many segments of a shell (document 003).
    ShellSegments(u32),
    /// The sphere tree of either shell against the field of the other: for solvers, which must not miss a corner.
    BothShells,
    /// The one contact where the separation is, as `separation` finds it. [`Method::Auto`] also says this of the contact of two exact surfaces whose triangles cross between
    /// the points of their shells: it is as deep as the crossing triangles go.
    Separation,
    /// Boxes halved where both bodies may be (document 001).
    OctreeSubdivision(Subdivision),
    /// Particles projected onto the surface of the intersection (document 000).
    ProjectionParticles(Particles),
    /// The deepest point of every edge or face, by descent \[Macklin2020\].
    FaceDescent(FaceDescent),
    /// The corners of the region where two convex bodies touch (document 004).
    Convex,
}

impl Method {
    /// The word used on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::PointSamples => "point-samples",
            Method::ShellTraversal => "shell-traversal",
            Method::ShellSegments(_) => "shell-segments",
            Method::BothShells => "both-shells",
            Method::Separation => "separation",
            Method::OctreeSubdivision(_) => "octree-subdivision",
            Method::ProjectionParticles(_) => "projection-particles",
            Method::FaceDescent(_) => "face-descent",
            Method::Convex => "convex",
        }
    }

    /// Whether its contacts are those of shell points, which [`settle`](crate::narrow::contacts::settle) and [`sharpen`](crate::narrow::contacts::sharpen) ask for.
    pub fn is_by_shell(self) -> bool {
        matches!(
            self,
            Method::PointSamples | Method::ShellTraversal | Method::BothShells
        )
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
    fn clear(&mut self) {
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

/// Buffers that are reused from call to call.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) points: Vec<Vec3>,
    pub(crate) distances: Vec<f32>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) pieces: Vec<point_samples::Piece>,
    /// Spheres of a level, and of the next.
    pub(crate) front: Vec<u32>,
    pub(crate) next_front: Vec<u32>,
    /// Points of leaves that come near, and points that stand for spheres.
    pub(crate) near_points: Vec<u32>,
    pub(crate) standing: Vec<u32>,
    /// Spheres whose points one stands for, with the least that their points may have.
    pub(crate) covered: Vec<(f32, u32)>,
    /// Spheres at the border of a patch of contact, likewise.
    pub(crate) rims: Vec<(f32, u32)>,
    /// Spheres below one of them.
    pub(crate) below: Vec<(f32, u32)>,
    /// Children of a sphere with their distances.
    pub(crate) children: Vec<(f32, u32)>,
    /// Contacts of the shell that was walked first.
    pub(crate) contacts: Vec<Contact>,
    pub(crate) separation: SeparationScratch,
    pub(crate) overlap: OverlapBuffers,
    pub(crate) boxes: Boxes,
    pub(crate) particles: ParticleBuffers,
    pub(crate) faces: FaceBuffers,
    pub(crate) convex: ConvexBuffers,
}

/// Finds the contacts of a pair, deepest first.
pub fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    find(pair, settings, None, scratch, out)?;
    sort(&mut out.contacts);
    Ok(())
}

/// [`collide`] of a pair that was asked before, or will be again: `memory` is its own, and lets convex bodies begin where they ended. Contacts are as exact as without.
pub fn collide_again(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    memory: &mut PairMemory,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    find(pair, settings, Some(memory), scratch, out)?;
    sort(&mut out.contacts);
    Ok(())
}

/// Deepest first. Ids break ties, so that the order is the same on every run.
fn sort(contacts: &mut [Contact]) {
    contacts.sort_unstable_by(|a, b| (a.separation.total_cmp(&b.separation)).then(a.id.cmp(&b.id)));
}

/// Finds the contacts of a pair in no particular order, though the same on every run: for those who reduce them anyway.
pub fn find_contacts(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    find(pair, settings, None, scratch, out)
}

/// [`find_contacts`] by [`Method::BothShells`] of a pair in motion: points that move fast are told from farther away than `max_separation`, those that hardly move are not.
/// A body that tumbles is not looked at all over for the sake of its fastest corner.
pub fn find_contacts_ahead(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    ahead: &Ahead,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    let pair = &checked(pair)?;
    let before = Pair {
        a_from_b: ahead.a_from_b_before,
        ..*pair
    };
    let ahead = Ahead {
        a_from_b_before: checked(&before)?.a_from_b,
        ..*ahead
    };
    check_max_separation(ahead.farthest)?;
    begin(settings, Method::BothShells, out)?;
    both_shells::collide(pair, settings, Some(&ahead), scratch, out)
}

/// Checks the settings, and empties the answer.
fn begin(
    settings: &CollideSettings,
    method: Method,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    check_max_separation(settings.max_separation)?;
    if !(settings.detail >= 0.0 && settings.detail.is_finite()) {
        return Err(CollideError::BadSetting {
            setting: "detail",
            value: settings.detail,
            wanted: "finite and not negative",
        });
    }
    out.contacts.clear();
    out.method = method;
    out.outcome = Outcome::Complete;
    out.wrench = None;
    out.distance = f32::INFINITY;
    out.region.clear();
    Ok(())
}

fn find(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    memory: Option<&mut PairMemory>,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    let pair = &checked(pair)?;
    begin(settings, settings.method, out)?;
    match settings.method {
        Method::Auto => auto::collide(pair, settings, memory, scratch, out)?,
        Method::Separation => {
            search::collide(pair, settings.max_separation, &mut scratch.separation, out)?;
        }
        Method::PointSamples => point_samples::collide(pair, settings, scratch, out)?,
        Method::ShellTraversal => {
            shell_traversal::collide(pair, settings, scratch, out)?;
        }
        Method::ShellSegments(segments) => {
            shell_segments::collide(pair, segments, settings, scratch, out)?;
        }
        Method::BothShells => both_shells::collide(pair, settings, None, scratch, out)?,
        Method::OctreeSubdivision(subdivision) => {
            octree_subdivision::collide(pair, settings, &subdivision, scratch, out)?;
        }
        Method::ProjectionParticles(particles) => {
            projection_particles::collide(pair, settings, &particles, scratch, out)?;
        }
        Method::FaceDescent(descent) => {
            face_descent::collide(pair, settings, &descent, scratch, out)?;
        }
        Method::Convex => by_convex::collide(pair, settings, memory, scratch, out)?,
    }
    Ok(())
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
