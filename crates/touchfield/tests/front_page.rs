//! The program on the front page is the one that the crate's documentation runs.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs;
use std::path::Path;

/// Returns the lines of the first block of Rust code.
fn first_block(text: &str) -> Vec<&str> {
    let lines = text.lines().skip_while(|line| !line.starts_with("```"));
    let code = lines.skip(1).take_while(|line| !line.starts_with("```"));
    code.collect()
}

/// Returns the statements of a program: without `main` around them, indentation, empty lines and
/// the lines that documentation hides.
fn statements<'a>(code: &[&'a str]) -> Vec<&'a str> {
    let around = ["}", "Ok(())", ""];
    let lines = code.iter().map(|line| line.trim());
    lines
        .filter(|line| !line.starts_with("# ") && !line.starts_with("fn main"))
        .filter(|line| !around.contains(line))
        .collect()
}

#[test]
fn the_readme_and_the_documentation_show_one_program() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(crate_folder.join("../../README.md")).unwrap();
    let (_, in_rust) = readme.split_once("## In Rust").unwrap();
    // The documentation makes its own files.
    let in_rust = in_rust
        .replace("\"bolt_m8.obj\"", "bolt")
        .replace("\"nut_m8.obj\"", "nut");
    let root = fs::read_to_string(crate_folder.join("src/lib.rs")).unwrap();
    let documented: Vec<&str> = root
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let shown = first_block(&in_rust);
    let (shown, documented) = (
        statements(&shown),
        first_block(&documented.join("\n")).join("\n"),
    );
    let documented: Vec<&str> = documented.lines().collect();
    assert_eq!(shown, statements(&documented));
    // Comments and the line of imports aside, a program of ten lines.
    let lines = shown.iter().filter(|line| !line.starts_with("//"));
    assert!((8..=11).contains(&lines.count()), "{shown:#?}");
}
