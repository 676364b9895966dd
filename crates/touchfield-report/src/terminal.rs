//! Escapes text from files and file names so that it is harmless on a terminal.
//!
//! Input: any text. Output: the same text, with control characters and changes of writing direction
//! escaped as `\u{1b}`.
//! Cost: one pass; a copy only where something is escaped.
//! Not for: quoting arguments for a shell.
//!
//! A note in a baked file, or a path, may contain escape sequences that recolour, retitle or forge
//! a terminal's content.

use std::borrow::Cow;
use std::path::Path;

/// Returns whether a terminal may obey a character rather than show it: control characters, and
/// marks that reorder the text around them.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn write_out(text: &str, is_bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_bad) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_bad(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// Returns the text as one line: line breaks are escaped too.
pub fn line(text: &str) -> Cow<'_, str> {
    write_out(text, is_obeyed)
}

/// Returns the text with its line breaks kept, for lines that the program itself composed.
pub fn lines(text: &str) -> Cow<'_, str> {
    write_out(text, |c| c != '\n' && is_obeyed(c))
}

/// Returns a path as one line.
pub fn path(path: &Path) -> String {
    line(&path.to_string_lossy()).into_owned()
}

/// Returns equivalent JSON in which characters that a terminal may obey are escaped as `\u009b` and
/// the like.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_obeyed(c) {
            // All of these are below 2¹⁶, so one group of four digits is enough.
            true => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => shown.push(c),
        }
    }
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        let nasty = "a\u{1b}[31m\u{9b}2J\r\n\u{202e}b\u{7f}";
        assert_eq!(line(nasty), "a\\u{1b}[31m\\u{9b}2J\\r\\n\\u{202e}b\\u{7f}");
        assert_eq!(lines("one\ntwo\u{7}\n"), "one\ntwo\\u{7}\n");
        assert_eq!(line("Größe ½ m → 3"), "Größe ½ m → 3");
    }

    #[test]
    fn json_keeps_its_meaning() {
        let value = serde_json::json!({ "note": "\u{1b}[0m \u{9b}31m \u{7f} \u{202e} ü" });
        let text = value.to_string();
        let shown = json(&text);
        assert!(!shown.contains(is_obeyed), "{shown:?}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
            value
        );
    }
}
