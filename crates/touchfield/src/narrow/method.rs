//! The methods that find contacts, and the settings of each.

/// Method that finds contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ContactMethod {
    /// Chosen from the kind and size of the two shapes.
    #[default]
    Auto,
    /// Every point of a shell against the field of the other shape: the baseline \[Lecture06\].
    PointSamples,
    /// The sphere tree of a shell against the field of the other shape \[Sagardia2014\].
    ShellTraversal,
    /// The deepest point of each segment of a shell, of which there are about this many
    /// \[Sagardia2014\].
    ShellSegments(u32),
    /// The sphere trees of both shells, each against the field of the other shape: for solvers,
    /// which must not miss a corner.
    BothShells,
    /// The single contact at the minimum of the separation, as `separation` finds it.
    ///
    /// [`ContactMethod::Auto`] also reports this method for two exact surfaces whose triangles
    /// cross between the points of their shells. That contact is as deep as the crossing triangles
    /// go.
    Separation,
    /// Recursive subdivision of boxes that both bodies may share \[Adelman\].
    OctreeSubdivision(Subdivision),
    /// Particles projected onto the surface of the intersection \[Krayer2020\].
    ProjectionParticles(Particles),
    /// The deepest point of every edge or face, by descent \[Macklin2020\].
    FaceDescent(FaceDescent),
    /// The corners of the region where two convex bodies touch \[Lecture06\].
    Convex,
}

impl ContactMethod {
    /// Returns the name used on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ContactMethod::Auto => "auto",
            ContactMethod::PointSamples => "point-samples",
            ContactMethod::ShellTraversal => "shell-traversal",
            ContactMethod::ShellSegments(_) => "shell-segments",
            ContactMethod::BothShells => "both-shells",
            ContactMethod::Separation => "separation",
            ContactMethod::OctreeSubdivision(_) => "octree-subdivision",
            ContactMethod::ProjectionParticles(_) => "projection-particles",
            ContactMethod::FaceDescent(_) => "face-descent",
            ContactMethod::Convex => "convex",
        }
    }

    /// Returns whether the contacts are at shell points, as
    /// [`settle`](crate::narrow::contacts::settle) and
    /// [`sharpen`](crate::narrow::contacts::sharpen) require.
    pub fn is_by_shell(self) -> bool {
        matches!(
            self,
            ContactMethod::PointSamples | ContactMethod::ShellTraversal | ContactMethod::BothShells
        )
    }
}

/// Settings of projection particles: where they start, how they move, and which are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particles {
    /// Start positions.
    pub starts: Starts,
    /// Resolution N: about N³ starts. With [`Starts::Seeded`], N sets the cell width to that of N³
    /// starts.
    pub resolution: u32,
    /// Maximum number of projections per particle.
    pub max_steps: u32,
    /// Factor by which strides outside both bodies exceed the distance: from 1 to less than 2.
    pub relaxation: f32,
    /// Whether a projection onto one body that would leave the other goes to the intersection of
    /// their tangent planes instead. Without it, as in Alg. 2, particles go back and forth between
    /// sides that are nearly parallel, and most do not arrive.
    pub both_at_once: bool,
    /// Whether to keep only the deepest contact per cell.
    pub one_per_cell: bool,
    /// Maximum number of contacts to keep, the deepest first; `None` keeps all.
    pub deepest: Option<u32>,
    /// Whether Alg. 1 and 2 run as the paper writes them, in frame A, without any addition of ours
    /// ([`Particles::literal`]). A contact is then where its particle arrived, with the gradient of
    /// B, of unit length and reversed, as its normal, and `min(φA, φB)` as its separation.
    pub literal: bool,
    /// Iso value ε of [`Self::literal`] \[m\]: a particle has arrived where `max(φA, φB) < ε`.
    /// `None` takes the residual at which our own projections stop.
    pub epsilon: Option<f32>,
}

/// Start positions of particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// The centre of every cell of the common box.
    Uniform,
    /// The same number of points as [`Starts::Uniform`], spread by an additive recurrence
    /// \[Roberts2018\], so that no row of starts lines up with the bodies.
    QuasiRandom,
    /// The cells that may hold a piece of the intersection's surface, found by subdivision.
    Seeded,
}

impl Particles {
    /// Maximum [`Self::resolution`].
    pub const FINEST: u32 = 256;

    /// Returns the settings of the paper's Alg. 1 and 2, with nothing added.
    pub fn literal(resolution: u32) -> Particles {
        Particles {
            starts: Starts::Uniform,
            resolution,
            both_at_once: false,
            literal: true,
            ..Default::default()
        }
    }
}

impl Default for Particles {
    fn default() -> Particles {
        Particles {
            starts: Starts::Seeded,
            resolution: 10,
            max_steps: 16,
            relaxation: 1.0,
            both_at_once: true,
            one_per_cell: false,
            deepest: None,
            literal: false,
            epsilon: None,
        }
    }
}

/// Settings of the face descent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaceDescent {
    /// Features to search: edges or faces.
    pub features: Features,
    /// Maximum number of Frank–Wolfe steps.
    pub max_steps: u32,
}

/// Features of a surface that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// The deepest point of every edge.
    Edges,
    /// The deepest point of every face. A point on an edge or corner is reported once for all faces
    /// there.
    Faces,
}

impl Default for FaceDescent {
    fn default() -> FaceDescent {
        FaceDescent {
            features: Features::Faces,
            max_steps: 24,
        }
    }
}

/// Settings of the box subdivision: which boxes are followed, and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subdivision {
    /// Which boxes of a level are followed.
    pub descent: Descent,
    /// Number of times the longest side is halved.
    pub depth: u32,
    /// Maximum number of boxes per level. A level with more boxes is not begun; the level before it
    /// gives the result.
    pub max_boxes: u32,
}

/// Rule for the boxes of a level that are followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Descent {
    /// All boxes that may hold a common point. The contact is their mean.
    Slow,
    /// Only the best box of each level. The contact is its centre, which may fall anywhere in a
    /// contact region.
    Fast,
    /// The best box of each level and all boxes close to it. The contact is their mean.
    Hybrid {
        /// How much larger than the best a value may be, in multiples of a box's longest side. At 0
        /// only boxes of equal value are followed; from √3 on, every box that may hold the best
        /// point.
        tolerance: f32,
    },
}

impl Subdivision {
    /// Maximum [`Self::depth`]: `f32` cannot resolve smaller boxes.
    pub const DEEPEST: u32 = 20;
    /// Hybrid descent with a tolerance tuned on faces that meet at a slant. At 0 the contact sticks
    /// to one end of the region; at 1 as many boxes are followed as by [`Descent::Slow`].
    pub const HYBRID: Descent = Descent::Hybrid { tolerance: 0.5 };
}

impl Default for Subdivision {
    fn default() -> Subdivision {
        Subdivision {
            descent: Subdivision::HYBRID,
            depth: 6,
            max_boxes: 1 << 20,
        }
    }
}
