//! What the pages for users show is what the commands do.
//!
//! Every line `$ touchfield …` in a `console` block of a page is run, in order, in one folder. The
//! lines below it must be among those that the command prints, in that order. `…` and blank lines
//! are skipped, and `(exit code N)` names the code where it is not 0.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::path::Path;

use crate::folder::Folder;

/// A command of a page and the lines that are shown below it.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    arguments: Vec<String>,
    lines: Vec<String>,
    code: i32,
}

/// Reads the `console` blocks of a page.
fn shown(page: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut in_block = false;
    for line in page.lines() {
        if line.starts_with("```") {
            in_block = line == "```console";
        } else if let (true, Some(command)) = (in_block, line.strip_prefix("$ touchfield ")) {
            found.push(Shown {
                arguments: command.split_whitespace().map(str::to_owned).collect(),
                ..Shown::default()
            });
        } else if in_block && !matches!(line.trim(), "" | "…") {
            let last = found.last_mut().unwrap();
            match line.strip_prefix("(exit code ") {
                Some(code) => last.code = code.trim_end_matches(')').parse().unwrap(),
                None => last.lines.push(line.trim().to_owned()),
            }
        }
    }
    found
}

/// Returns the first shown line that the output does not have, after those before it.
fn missing<'a>(lines: &'a [String], output: &str) -> Option<&'a str> {
    let mut printed = output.lines().map(str::trim);
    lines
        .iter()
        .find(|line| !printed.any(|one| one == line.as_str()))
        .map(String::as_str)
}

fn check(page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(page);
    let folder = Folder::new();
    let commands = shown(&std::fs::read_to_string(path).unwrap());
    assert!(commands.len() > 2, "{page} shows commands");
    for command in commands {
        let arguments: Vec<&str> = command.arguments.iter().map(String::as_str).collect();
        let run = folder.run(&arguments);
        assert_eq!(
            run.code, command.code,
            "{page}: {arguments:?}: {}",
            run.stderr
        );
        let absent = missing(&command.lines, &run.stdout);
        assert_eq!(absent, None, "{page}: {arguments:?} prints\n{}", run.stdout);
    }
}

#[test]
fn the_guide_shows_what_commands_print() {
    check("docs/GUIDE.md");
}

#[test]
fn the_readme_shows_what_commands_print() {
    check("README.md");
}

#[test]
fn a_line_that_is_not_printed_is_found() {
    let page =
        "```console\n$ touchfield bake a b\n  one\n…\n  two\n(exit code 3)\n```\n$ touchfield no\n";
    let found = shown(page);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].arguments, ["bake", "a", "b"]);
    assert_eq!((found[0].code, found[0].lines.len()), (3, 2));
    assert_eq!(missing(&found[0].lines, "one\nother\ntwo\n"), None);
    assert_eq!(missing(&found[0].lines, "two\none\n"), Some("two"));
}
