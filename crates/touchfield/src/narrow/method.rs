//! The ways to find contacts, and the settings of each.

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

/// Where particles start, how they move, and which are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particles {
    /// Where they start.
    pub starts: Starts,
    /// N: about N³ starts, or, seeded, cells as wide as those of N³ starts.
    pub resolution: u32,
    /// Projections of a particle at most.
    pub max_steps: u32,
    /// Strides outside both bodies are this much longer than the distance: from 1 to less than 2.
    pub relaxation: f32,
    /// Where a projection onto one body would leave the other, go to where their tangent planes meet. Without it, as in Alg. 2, particles
    /// go back and forth between sides that are nearly parallel, and most do not arrive.
    pub both_at_once: bool,
    /// Keep only the deepest contact of each cell.
    pub one_per_cell: bool,
    /// Keep only so many, the deepest; `None`: all.
    pub deepest: Option<u32>,
}

/// Where particles start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// In the middle of every cell of the common box.
    Uniform,
    /// As many, spread by an additive recurrence \[Roberts2018\]: nothing lines up with the bodies.
    QuasiRandom,
    /// In the cells that may hold a piece of the intersection's surface, found by subdivision.
    Seeded,
}

impl Particles {
    /// Largest [`Self::resolution`].
    pub const FINEST: u32 = 256;
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
        }
    }
}

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaceDescent {
    /// Edges or faces.
    pub features: Features,
    /// Steps of Frank–Wolfe at most.
    pub max_steps: u32,
}

/// Edges or faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// The deepest point of every edge.
    Edges,
    /// The deepest point of every face; on an edge or corner once for all faces there.
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

/// How boxes are followed, and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subdivision {
    /// Which parts of a box are followed.
    pub descent: Descent,
    /// How often the longest side is halved.
    pub depth: u32,
    /// A level that would have more boxes is not begun; the level before it is the answer.
    pub max_boxes: u32,
}

/// Which parts of a box are followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Descent {
    /// All that may hold a common point; the contact is their middle.
    Slow,
    /// The best of each level alone; the contact is its centre, wherever in a contact region that falls.
    Fast,
    /// The best of each level and all that are close to it; the contact is their middle.
    Hybrid {
        /// How much larger than the best a value may be, in longest sides of a box. At 0, only equals are followed; from √3 on,
        /// every box that may hold the best point.
        tolerance: f32,
    },
}

impl Subdivision {
    /// Largest [`Self::depth`]: `f32` tells no more boxes apart.
    pub const DEEPEST: u32 = 20;
    /// Tuned on faces that meet at a slant: at 0 the contact sticks to one end of the region, at 1 as many boxes are followed as by slow.
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
