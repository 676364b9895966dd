//! Two bodies and the pose of the second: what the contact commands share.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::Args;
use touchfield::narrow::{CollideSettings, ContactMethod, Pair};
use touchfield::shape::Shape;

use crate::args::{Common, Length, parse_pose};
use crate::failure::Failure;
use crate::input::frames::{Frames, MeshPose};
use crate::input::load::{self, LoadedShape};
use crate::report;

/// The files of two bodies.
#[derive(Args, Clone, Debug)]
pub(crate) struct Bodies {
    /// Body A: a baked field (.tfs), or a mesh, which is baked in memory first
    pub(crate) a: PathBuf,
    /// Body B: a baked field (.tfs) or a mesh, like body A
    pub(crate) b: PathBuf,
    /// Replace both meshes by their convex hulls: exact answers, in microseconds, for bodies
    /// without hollows
    #[arg(long)]
    pub(crate) convex: bool,
}

/// The pose of B.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// Pose of B in the frame of A: translation [m] and quaternion, which is normalised
    #[arg(long, value_name = "TX,TY,TZ,QX,QY,QZ,QW", allow_hyphen_values = true, value_parser = parse_pose)]
    pub(crate) b_in_a: MeshPose,
}

/// Two shapes and their files.
pub(crate) struct Shapes {
    pub(crate) a: Shape,
    pub(crate) b: Shape,
    /// Origins of the frames of their fields.
    pub(crate) frames: Frames,
    files: [PathBuf; 2],
}

impl Bodies {
    /// Refuses a method for convex bodies if the bodies are not convex, before they are baked in
    /// vain.
    pub(crate) fn check(&self, settings: &CollideSettings) -> Result<(), Failure> {
        match settings.method == ContactMethod::Convex && !self.convex {
            true => Err(Failure::BadInput(
                "--method convex is for convex bodies; --convex takes both meshes as their hulls"
                    .to_owned(),
            )),
            false => Ok(()),
        }
    }

    /// Reads or bakes both bodies. A file named twice is read once.
    pub(crate) fn load(&self, common: &Common) -> Result<Shapes, Failure> {
        let most = common.max_memory.0;
        let load = match self.convex {
            true => load::hull,
            false => load::shape,
        };
        let a = load(&self.a, most)?;
        let b = match self.a == self.b {
            true => a.clone(),
            false => {
                let left = most.saturating_sub(a.bytes);
                load(&self.b, left).map_err(|failure| match failure {
                    Failure::Limit(message) => Failure::Limit(format!(
                        "{message}; {} before it takes {} of the {} allowed",
                        self.a.display(),
                        report::bytes(a.bytes),
                        report::bytes(most)
                    )),
                    failure => failure,
                })?
            }
        };
        Ok(Shapes::new([(&self.a, a), (&self.b, b)]))
    }
}

impl Shapes {
    /// Combines the shapes of two files.
    pub(crate) fn new([(a_file, a), (b_file, b)]: [(&Path, LoadedShape); 2]) -> Shapes {
        let files = [a_file.to_path_buf(), b_file.to_path_buf()];
        let frames = Frames {
            a: a.origin,
            b: b.origin,
        };
        let (a, b) = (a.shape, b.shape);
        Shapes {
            a,
            b,
            frames,
            files,
        }
    }

    /// Returns the pair at a pose of B, given between the frames of the meshes.
    pub(crate) fn at(&self, a_from_b: &MeshPose) -> Pair<'_> {
        let a_from_b = self.frames.own_pose(a_from_b);
        Pair {
            a: &self.a,
            b: &self.b,
            a_from_b,
        }
    }

    /// Creates the failure of a query on these two bodies.
    pub(crate) fn failure(&self, error: &impl Display) -> Failure {
        let [a, b] = &self.files;
        Failure::BadInput(format!("{} and {}: {error}", a.display(), b.display()))
    }

    /// Returns the diagonal of the smaller body \[m\].
    pub(crate) fn smaller_diagonal(&self) -> f32 {
        self.a.solid().diagonal().min(self.b.solid().diagonal())
    }

    /// Returns the given length, or a thousandth of the smaller body's diagonal \[m\].
    pub(crate) fn tolerance(&self, asked: Option<Length>) -> f32 {
        asked.map_or(1e-3 * self.smaller_diagonal(), |length| length.0 as f32)
    }
}
