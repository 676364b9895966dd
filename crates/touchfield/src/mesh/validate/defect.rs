//! Defects of a mesh, as values with their location.

use std::fmt;

/// A defect or oddity of a mesh. All indices are those of the input mesh.
#[derive(Clone, Debug, PartialEq)]
pub enum Defect {
    /// A vertex with a NaN or infinite coordinate. Its faces are left out of all further checks.
    NonFinite {
        /// The vertex.
        vertex: u32,
    },
    /// A face with an index out of range. It is left out of all further checks.
    IndexOutOfRange {
        /// The face.
        face: u32,
        /// The index that is out of range.
        index: u32,
    },
    /// A face without area: two corners coincide, or all three are collinear up to rounding.
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
        /// End vertices, in the direction of the face.
        vertices: [u32; 2],
        /// The only face at the edge.
        face: u32,
    },
    /// An edge where more than two faces meet.
    NonManifoldEdge {
        /// End vertices, in the direction of the first face.
        vertices: [u32; 2],
        /// The faces at the edge, in order.
        faces: Vec<u32>,
    },
    /// A vertex where parts of the surface touch only in this point.
    BowTieVertex {
        /// The first vertex at that position.
        vertex: u32,
    },
    /// Two neighbours with opposite orientation: both run along their edge in the same direction.
    InconsistentOrientation {
        /// End vertices of the edge, in the direction of both faces.
        vertices: [u32; 2],
        /// The two faces, in order.
        faces: [u32; 2],
    },
    /// A closed component whose normals point into its solid.
    InsideOut {
        /// The component.
        component: u32,
        /// The first face of the component.
        face: u32,
    },
    /// Two faces that intersect anywhere but in shared vertices and edges.
    SelfIntersection {
        /// The faces, in order.
        faces: [u32; 2],
    },
    /// A closed component inside another.
    NestedShells {
        /// The innermost component around it.
        outer: u32,
        /// The component inside.
        inner: u32,
        /// First faces of the two.
        faces: [u32; 2],
        /// `true` for a solid within a solid, which is suspicious; `false` for a cavity, which is
        /// legitimate.
        same_orientation: bool,
    },
    /// The mesh consists of several bodies. Shells inside others do not count: those are cavities
    /// or nested.
    DisconnectedParts {
        /// Number of bodies.
        components: u32,
    },
    /// The size of the mesh suggests units other than metres.
    SuspiciousUnits {
        /// Diagonal of the mesh's AABB \[m\].
        diagonal: f64,
        /// Probable unit of the coordinates.
        guess: UnitGuess,
    },
}

/// Probable unit of the coordinates of a mesh of implausible size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitGuess {
    /// Millimetres: the mesh is too large for metres.
    Millimetres,
    /// Metres divided by 1000 once too often: the mesh is too small.
    ScaledTwice,
}

impl UnitGuess {
    /// Diagonal above which millimetres are suspected \[m\]: the size of a part of this many
    /// millimetres, read as metres. Bodies in contact are seldom larger (a truck is 18 m long);
    /// landscapes are, and may ignore the warning.
    pub const LARGE: f64 = 20.0;
    /// Diagonal below which a surplus conversion is suspected \[m\]: thinner than parts that are
    /// handled, and the size of a 100 mm part converted twice.
    pub const SMALL: f64 = 1e-4;

    /// Guesses the unit from the diagonal of a mesh \[m\]; `None` when metres are plausible.
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
    /// Names that [`Self::kind`] can return, in the order of the checks.
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

    /// Returns the kind of defect as a word for files and scripts; the words are stable.
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

    /// Returns the index of the defect's location: a vertex for defects of vertices, else a face;
    /// `None` for defects of the whole mesh.
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
