//! The answer of a command: text for people, one JSON object for scripts.

use std::io::{self, Write};

use serde_json::Value;

use crate::terminal;

/// The result of a command, as text and as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Text for people: lines that each end in a line break.
    pub text: String,
    /// JSON object for scripts.
    pub json: Value,
}

impl Answer {
    /// Prints the text or the JSON on stdout. A reader that has closed its end of a pipe is not an
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

/// Returns one object with the keys of both. Where both have a key, the value of `more` is used.
pub fn merged(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}
