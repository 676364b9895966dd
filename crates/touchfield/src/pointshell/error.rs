//! Errors of point shells.

/// Why points cannot form a shell.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShellError {
    /// There are no points.
    #[error("a shell needs at least one point")]
    Empty,
    /// The numbers of points and normals differ.
    #[error("{points} points, but {normals} normals")]
    WrongCount {
        /// Number of points given.
        points: usize,
        /// Number of normals given.
        normals: usize,
    },
    /// A number is NaN or infinite.
    #[error("point {index} or its normal is not finite")]
    NotFinite {
        /// Index of the point.
        index: usize,
    },
    /// The covering radius is NaN, infinite or negative.
    #[error("a covering radius of {0:?} m covers nothing; it must be finite and not negative")]
    BadRadius(f32),
    /// The numbers of points and areas differ.
    #[error("{points} points, but {areas} areas")]
    WrongAreaCount {
        /// Number of points of the shell.
        points: usize,
        /// Number of areas given.
        areas: usize,
    },
    /// An area is NaN, infinite or negative.
    #[error("point {index} has an area of {area:?} m²; it must be finite and not negative")]
    BadArea {
        /// Index of the point.
        index: usize,
        /// Area that was given \[m²\].
        area: f32,
    },
    /// The tree does not match the points.
    #[error("node {node} of the sphere tree is not valid: {why}")]
    BadTree {
        /// Index of the node.
        node: usize,
        /// Description of the defect.
        why: &'static str,
    },
}
