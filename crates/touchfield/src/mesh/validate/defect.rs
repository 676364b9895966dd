//! Every defect a mesh can have, as a value with its place.

use std::fmt;

/// One thing that is wrong, or at least odd, with a mesh. All indices are those of the mesh that was given.
#[derive(Clone, Debug, PartialEq)]
pub enum Defect {
    /// A vertex with a NaN or infinite coordinate. Its faces are left out of all further checks.
    NonFinite {
        /// The vertex.
        vertex: u32,
    },
    /// A face that names a vertex there is not. It is left out of all further checks.
    IndexOutOfRange {
        /// The face.
        face: u32,
        /// The index it names.
        index: u32,
    },
    /// A face without area: two corners at one place, or all three in a line up to rounding.
    Degenerate {
        /// The face.
        face: u32,
    },
    /// A face with the same three corners as an earlier one.
    Duplicate {
        /// The later face.
        face: u32,
        /// The first face over these corners.
        of: u32,
        /// Whether it faces the other way.
        reversed: bool,
    },
    /// A vertex that no face uses.
    Unreferenced {
        /// The vertex.
        vertex: u32,
    },
    /// An edge with a face on one side only: the border of a hole or of an open surface.
    OpenEdge {
        /// Its ends, as the face runs along it.
        vertices: [u32; 2],
        /// The only face at it.
        face: u32,
    },
    /// An edge where more than two faces meet.
    NonManifoldEdge {
        /// Its ends, as the first face runs along it.
        vertices: [u32; 2],
        /// The faces at it, in order.
        faces: Vec<u32>,
    },
    /// A vertex where parts of the surface touch only in this point.
    BowTieVertex {
        /// The first vertex at that place.
        vertex: u32,
    },
    /// Two neighbours that face opposite ways: both run along their edge in the same direction.
    InconsistentOrientation {
        /// Ends of the edge, as both run along it.
        vertices: [u32; 2],
        /// The two faces, in order.
        faces: [u32; 2],
    },
    /// A closed component whose normals point into its solid.
    InsideOut {
        /// The component.
        component: u32,
        /// Its first face.
        face: u32,
    },
    /// Two faces that meet elsewhere than in shared vertices and edges.
    SelfIntersection {
        /// The faces, in order.
        faces: [u32; 2],
    },
    /// A closed component inside another.
    NestedShells {
        /// The smallest component around it.
        outer: u32,
        /// The component inside.
        inner: u32,
        /// First faces of the two.
        faces: [u32; 2],
        /// `true`: a solid within a solid, which is suspicious. `false`: a cavity, which is legitimate.
        same_orientation: bool,
    },
    /// The mesh is more than one body. Shells inside others do not count: those are cavities or nested.
    DisconnectedParts {
        /// How many bodies.
        components: u32,
    },
    /// The size makes other units than metres likely.
    SuspiciousUnits {
        /// Diagonal of the box around the mesh \[m\].
        diagonal: f64,
        /// What the numbers probably are.
        guess: UnitGuess,
    },
}

/// What the numbers in a mesh of unlikely size probably are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitGuess {
    /// Millimetres: the mesh is too large for metres.
    Millimetres,
    /// Metres divided by 1000 once more than needed: the mesh is too small.
    ScaledTwice,
}

impl UnitGuess {
    /// Larger than this \[m\] suggests millimetres: parts of 20 mm and more, read as metres. Bodies in contact are seldom
    /// larger (a truck is 18 m long); landscapes are, and may ignore it.
    pub const LARGE: f64 = 20.0;
    /// Smaller than this \[m\] suggests a conversion too many: a tenth of a millimetre, thinner than parts that are
    /// handled, while 100 mm converted twice has just this size.
    pub const SMALL: f64 = 1e-4;

    /// A guess for a mesh with the given diagonal \[m\]; `None` when metres are plausible.
    pub fn from_diagonal(diagonal: f64) -> Option<UnitGuess> {
        if diagonal > UnitGuess::LARGE {
            Some(UnitGuess::Millimetres)
        } else if diagonal > 0.0 && diagonal < UnitGuess::SMALL {
            Some(UnitGuess::ScaledTwice)
        } else {
            None
        }
    }
}

impl Defect {
    /// Every name [`Self::kind`] can return, in the order of the checks.
    pub const KINDS: [&'static str; 14] = [
        "non_finite",
        "index_out_of_range",
        "degenerate",
        "duplicate",
        "unreferenced",
        "open_edge",
        "non_manifold_edge",
        "bow_tie_vertex",
        "inconsistent_orientation",
        "inside_out",
        "self_intersection",
        "nested_shells",
        "disconnected_parts",
        "suspicious_units",
    ];

    /// The kind of defect as a word for files and scripts; stable.
    pub fn kind(&self) -> &'static str {
        match self {
            Defect::NonFinite { .. } => "non_finite",
            Defect::IndexOutOfRange { .. } => "index_out_of_range",
            Defect::Degenerate { .. } => "degenerate",
            Defect::Duplicate { .. } => "duplicate",
            Defect::Unreferenced { .. } => "unreferenced",
            Defect::OpenEdge { .. } => "open_edge",
            Defect::NonManifoldEdge { .. } => "non_manifold_edge",
            Defect::BowTieVertex { .. } => "bow_tie_vertex",
            Defect::InconsistentOrientation { .. } => "inconsistent_orientation",
            Defect::InsideOut { .. } => "inside_out",
            Defect::SelfIntersection { .. } => "self_intersection",
            Defect::NestedShells { .. } => "nested_shells",
            Defect::DisconnectedParts { .. } => "disconnected_parts",
            Defect::SuspiciousUnits { .. } => "suspicious_units",
        }
    }

    /// Where to look first: a vertex for defects of vertices, else a face; `None` for those of the whole mesh.
    pub fn first_index(&self) -> Option<u32> {
        match self {
            Defect::NonFinite { vertex }
            | Defect::Unreferenced { vertex }
            | Defect::BowTieVertex { vertex } => Some(*vertex),
            Defect::IndexOutOfRange { face, .. }
            | Defect::Degenerate { face }
            | Defect::Duplicate { face, .. }
            | Defect::OpenEdge { face, .. }
            | Defect::InsideOut { face, .. } => Some(*face),
            Defect::NonManifoldEdge { faces, .. } => faces.first().copied(),
            Defect::InconsistentOrientation { faces, .. } | Defect::SelfIntersection { faces } => {
                Some(faces[0])
            }
            Defect::NestedShells { faces, .. } => Some(faces[1]),
            Defect::DisconnectedParts { .. } | Defect::SuspiciousUnits { .. } => None,
        }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Defect::NonFinite { vertex } => {
                write!(
                    f,
                    "vertex {vertex} has a coordinate that is not a finite number"
                )
            }
            Defect::IndexOutOfRange { face, index } => {
                write!(f, "face {face} names vertex {index}, which does not exist")
            }
            Defect::Degenerate { face } => write!(f, "face {face} has no area"),
            Defect::Duplicate { face, of, reversed } => {
                let how = if *reversed {
                    "a reversed copy"
                } else {
                    "a copy"
                };
                write!(f, "face {face} is {how} of face {of}")
            }
            Defect::Unreferenced { vertex } => write!(f, "vertex {vertex} belongs to no face"),
            Defect::OpenEdge {
                vertices: [a, b],
                face,
            } => {
                write!(
                    f,
                    "the edge between vertices {a} and {b} has only face {face}"
                )
            }
            Defect::NonManifoldEdge {
                vertices: [a, b],
                faces,
            } => {
                let (count, first) = (faces.len(), &faces[..faces.len().min(4)]);
                write!(
                    f,
                    "{count} faces meet at the edge between vertices {a} and {b}, the first are {first:?}"
                )
            }
            Defect::BowTieVertex { vertex } => {
                write!(
                    f,
                    "at vertex {vertex} parts of the surface touch in a single point"
                )
            }
            Defect::InconsistentOrientation {
                vertices: [a, b],
                faces: [x, y],
            } => {
                write!(
                    f,
                    "faces {x} and {y} face opposite ways at the edge between vertices {a} and {b}"
                )
            }
            Defect::InsideOut { component, face } => {
                write!(
                    f,
                    "component {component}, which holds face {face}, is inside out"
                )
            }
            Defect::SelfIntersection { faces: [a, b] } => {
                write!(f, "faces {a} and {b} run into each other")
            }
            Defect::NestedShells {
                outer,
                inner,
                faces: [_, face],
                same_orientation,
            } => {
                let how = if *same_orientation {
                    "a solid within the solid of"
                } else {
                    "a cavity in"
                };
                write!(
                    f,
                    "component {inner}, which holds face {face}, is {how} component {outer}"
                )
            }
            Defect::DisconnectedParts { components } => {
                write!(f, "the mesh is {components} separate bodies")
            }
            Defect::SuspiciousUnits { diagonal, guess } => {
                let why = match guess {
                    UnitGuess::Millimetres => "large: are the numbers millimetres?",
                    UnitGuess::ScaledTwice => "small: were the units converted twice?",
                };
                // Three digits are enough to see it by.
                let digits = (2.0 - diagonal.log10().floor()).clamp(0.0, 12.0) as usize;
                write!(
                    f,
                    "a diagonal of {diagonal:.digits$} m is suspiciously {why}"
                )
            }
        }
    }
}
