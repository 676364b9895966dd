//! Every key that the code cites is in docs/BIBLIOGRAPHY.md, once.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: a failed unwrap is a failed test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the keys in square brackets, also several in one pair: `[Jacobson2013, Barill2018]` and,
/// escaped for rustdoc, `\[Hart1996\]`.
fn keys(text: &str) -> Vec<&str> {
    let is_key = |word: &str| {
        let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.len() == name.len() + 4
            && name.len() > 2
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_alphabetic())
    };
    text.split('[')
        .skip(1)
        .filter_map(|rest| rest.split(']').next())
        .flat_map(|inside| inside.trim_end_matches('\\').split(','))
        .map(str::trim)
        .filter(|word| is_key(word))
        .collect()
}

fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            source_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_cited_key_has_one_reference() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bibliography = fs::read_to_string(root.join("docs/BIBLIOGRAPHY.md")).unwrap();
    let mut references: BTreeMap<&str, usize> = BTreeMap::new();
    for line in bibliography
        .lines()
        .filter(|line| line.starts_with("- **["))
    {
        for key in keys(line) {
            *references.entry(key).or_default() += 1;
        }
    }
    for (key, count) in &references {
        assert_eq!(*count, 1, "[{key}] stands twice in docs/BIBLIOGRAPHY.md");
    }
    let mut files = Vec::new();
    for folder in ["crates", "fuzz", "examples", "bench"] {
        source_files(&root.join(folder), &mut files);
    }
    // This file contains keys only as test data.
    files.retain(|path| !path.ends_with(Path::new(file!()).file_name().unwrap()));
    let mut cited = 0;
    let mut missing = Vec::new();
    for path in files {
        let source = fs::read_to_string(&path).unwrap();
        for key in keys(&source) {
            cited += 1;
            if !references.contains_key(key) {
                missing.push(format!("{}: [{key}]", path.display()));
            }
        }
    }
    assert!(cited > 10, "only {cited} citations were seen");
    assert!(
        missing.is_empty(),
        "not in docs/BIBLIOGRAPHY.md:\n{}",
        missing.join("\n")
    );
}

#[test]
fn keys_are_told_from_other_brackets() {
    let text = "after [Hart1996] and \\[Perlin2002\\], [A2013, Wang2008], `[f32; 8]`, [`Bvh`], [Barill2018] Eq. 3, x[2024]";
    assert_eq!(
        keys(text),
        ["Hart1996", "Perlin2002", "Wang2008", "Barill2018"]
    );
}
