//! Why points make no shell.

/// Why points make no shell.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShellError {
    /// There are no points.
    #[error("a shell needs at least one point")]
    Empty,
    /// Points and normals are not as many.
    #[error("{points} points, but {normals} normals")]
    WrongCount {
        /// Points given.
        points: usize,
        /// Normals given.
        normals: usize,
    },
    /// A number is NaN or infinite.
    #[error("point {index} or its normal is not finite")]
    NotFinite {
        /// Which point.
        index: usize,
    },
    /// The covering radius is NaN, infinite or negative.
    #[error("a covering radius of {0:?} m covers nothing; it must be finite and not negative")]
    BadRadius(f32),
    /// The tree does not hold the points it speaks of.
    #[error("node {node} of the sphere tree is not valid: {why}")]
    BadTree {
        /// Which node.
        node: usize,
        /// What is wrong.
        why: &'static str,
    },
}
