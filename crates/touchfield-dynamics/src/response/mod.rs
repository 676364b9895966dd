//! What contacts do to momenta: impulses, or forces that grow with penetration.

pub(crate) mod continuous;
pub(crate) mod friction;
pub(crate) mod impulse;
pub(crate) mod penalty;
pub(crate) mod pivoting;

pub use impulse::Solver;
pub use penalty::{Handle, Normals, PenaltySettings};

/// How bodies respond to contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Response {
    /// Impulses that keep bodies from entering each other \[Baraff1997\].
    #[default]
    Impulse,
    /// Forces that grow with penetration \[Sagardia2014\].
    Penalty,
    /// Forces from the time that each point spends inside within a step \[XuCcd2014\].
    ContinuousPenalty,
}

impl Response {
    /// All responses.
    pub const ALL: [Response; 3] = [
        Response::Impulse,
        Response::Penalty,
        Response::ContinuousPenalty,
    ];

    /// Returns the name used in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Response::Impulse => "impulse",
            Response::Penalty => "penalty",
            Response::ContinuousPenalty => "continuous-penalty",
        }
    }
}
