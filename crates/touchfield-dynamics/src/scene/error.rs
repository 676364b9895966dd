//! Why a scene file is refused, and where.
//!
//! Input: a place in the file and what is wrong there.
//! Output: [`SceneError`], printed as `file:line: key: problem`.
//! Cost: none.
//! Not for: faults during the simulation, see [`StepError`](crate::StepError).

use std::path::PathBuf;

/// What is wrong at a place of a scene file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The text is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// No key has this name.
    #[error("there is no such key; {hint}")]
    UnknownKey {
        /// Nearest known key, or all of them.
        hint: String,
    },
    /// The key is required.
    #[error("is missing; {wanted}")]
    Missing {
        /// What it must be.
        wanted: String,
    },
    /// The value is of another type or out of range.
    #[error("is {found}; it must be {wanted}")]
    Value {
        /// Value in the file, shortened.
        found: String,
        /// What it must be.
        wanted: String,
    },
    /// A name refers to nothing.
    #[error("there is no {kind} `{name}`; {hint}")]
    UnknownName {
        /// Kind of thing.
        kind: &'static str,
        /// Name in the file.
        name: String,
        /// Nearest known name, or all of them.
        hint: String,
    },
    /// Two bodies have one name.
    #[error("`{name}` is also the name of the body at line {line}; names must differ")]
    Duplicate {
        /// The name.
        name: String,
        /// Line of the first body.
        line: usize,
    },
    /// Two keys exclude each other.
    #[error("{0}")]
    Conflict(String),
    /// Too many of something.
    #[error("{count} {what}; the most is {most}")]
    TooMany {
        /// What is counted.
        what: &'static str,
        /// Number in the file.
        count: u64,
        /// Largest number.
        most: u64,
    },
    /// A file lies outside the folder of the scene.
    #[error(
        "`{file}` lies outside the folder of the scene; move it there, or allow it (--allow-outside)"
    )]
    Outside {
        /// Path in the scene file.
        file: String,
    },
    /// A shape cannot be made.
    #[error("{message}")]
    Shape {
        /// Cause and way out.
        message: String,
        /// Whether a limit was hit, rather than the input being bad.
        is_limit: bool,
    },
    /// The caller cancelled the bake of a mesh.
    #[error("cancelled")]
    Cancelled,
}

/// A problem in a scene file and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneError {
    /// Path of the scene file.
    pub file: PathBuf,
    /// Line, counted from 1; 0 for the file as a whole.
    pub line: usize,
    /// Key with the tables around it, such as `body.ball.density`; empty for the file as a whole.
    pub key: String,
    /// What is wrong. Boxed, because errors are rare and large.
    pub problem: Box<Problem>,
}

impl SceneError {
    /// Returns whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        matches!(
            *self.problem,
            Problem::TooMany { .. } | Problem::Shape { is_limit: true, .. }
        )
    }

    /// Returns whether the caller cancelled.
    pub fn is_cancelled(&self) -> bool {
        *self.problem == Problem::Cancelled
    }
}

impl std::fmt::Display for SceneError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        match self.key.as_str() {
            "" => write!(f, ": {}", self.problem),
            key => write!(f, ": {key}: {}", self.problem),
        }
    }
}

impl std::error::Error for SceneError {}

/// Returns a hint at the known name nearest to `name`, or at all of them if none is near.
pub(super) fn hint<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    let nearest = (known.iter())
        .map(|other| (edits(name, other), *other))
        .min_by_key(|&(edits, _)| edits);
    match nearest {
        // A third of the letters may be wrong before a name is another one.
        Some((edits, other)) if edits <= 1 + name.chars().count() / 3 => {
            format!("did you mean `{other}`?")
        }
        Some(_) => format!("known: {}", known.join(", ")),
        None => "none is known".to_owned(),
    }
}

/// Returns how many letters must be inserted, removed or replaced to turn one word into the other
/// (Levenshtein's distance).
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(!a.eq_ignore_ascii_case(&b));
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_the_nearest_name_or_all() {
        assert_eq!(
            hint("densty", ["mass", "density"]),
            "did you mean `density`?"
        );
        assert_eq!(hint("colour", ["mass", "density"]), "known: density, mass");
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
