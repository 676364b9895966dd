//! Facts, tables and lists as aligned lines of text.

use crate::terminal;

/// Named facts, one per line, with aligned values.
#[derive(Default)]
pub struct Facts(Vec<(&'static str, String)>);

impl Facts {
    /// Adds a fact below the others.
    pub fn add(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.push((name, value.into()));
    }

    /// Returns the facts as lines of text.
    pub fn text(&self) -> String {
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        self.0
            .iter()
            .map(|(name, value)| format!("  {name:width$}  {value}\n"))
            .collect()
    }
}

/// Returns rows below headings, in aligned columns. Columns whose heading begins with `>` are
/// right-aligned.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let titles: Vec<&str> = headings
        .iter()
        .map(|heading| heading.trim_start_matches('>'))
        .collect();
    let width = |column: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count());
        cells
            .chain([titles[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> = cells
            .zip(headings)
            .zip(&widths)
            .map(|((cell, heading), &width)| match heading.starts_with('>') {
                true => format!("{cell:>width$}"),
                false => format!("{cell:width$}"),
            })
            .collect();
        format!("  {}\n", padded.join("  ").trim_end())
    };
    let mut text = line(&mut titles.iter().copied());
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// Returns a list with a dash before every entry, below its heading; an empty string for an empty
/// list.
pub fn list(heading: &str, entries: &[String]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let lines: String = entries
        .iter()
        .map(|entry| format!("    - {}\n", terminal::line(entry)))
        .collect();
    format!("  {heading}\n{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_align_and_end_no_line_in_spaces() {
        let rows = [
            vec!["a".to_owned(), "1".to_owned()],
            vec!["long".to_owned(), "234".to_owned()],
        ];
        assert_eq!(
            table(&["name", ">n"], &rows),
            "  name    n\n  a       1\n  long  234\n"
        );
        let rows = [vec!["µ".to_owned(), "x".to_owned()]];
        assert_eq!(table(&["u", "v"], &rows), "  u  v\n  µ  x\n");
    }
}
