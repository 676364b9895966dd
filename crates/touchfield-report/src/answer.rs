//! The answer of a command: text for people, one JSON object for scripts.

use std::io::{self, Write};

use serde_json::Value;

use crate::terminal;

/// What a command found out or did, said twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// For people; lines that end in a line break.
    pub text: String,
    /// For scripts; an object.
    pub json: Value,
}

impl Answer {
    /// Prints one of the two on stdout. A reader that has closed its end has heard enough: no
    /// error.
    pub fn print(&self, as_json: bool) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let printed = if as_json {
            writeln!(out, "{}", terminal::json(&self.json.to_string()))
        } else {
            out.write_all(terminal::lines(&self.text).as_bytes())
        };
        match printed.and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }
}

/// Returns one object with the keys of both; those of `more` win.
pub fn merged(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}
