//! Checks the layout of the code: every import in `src/` must be allowed by the table in
//! ARCHITECTURE.md, files must not use each other in cycles, folders must stay small, and comments
//! must be wrapped.
//!
//! Imports are found in the tokens, not the text. Comments and strings do not count; `use` trees,
//! inline paths and chains of `super` do, also inside inline modules. Test code counts like any
//! other, except in the search for cycles.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: a failed unwrap is a failed test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What one module may use.
#[derive(Debug, Default, PartialEq)]
struct Row {
    modules: Vec<String>,
    crates: Vec<String>,
}

/// The table: one row per module of the crate.
type Table = BTreeMap<String, Row>;

/// Returns the rows between the two marks in ARCHITECTURE.md:
/// `| module | modules it may use | crates it may use | … |`.
fn parse_table(document: &str) -> Table {
    let (_, rest) = document
        .split_once("<!-- arrows: begin -->")
        .expect("ARCHITECTURE.md marks where its table begins");
    let (table, _) = rest
        .split_once("<!-- arrows: end -->")
        .expect("ARCHITECTURE.md marks where its table ends");
    let words = |cell: &str| -> Vec<String> {
        // Names are in backticks; the rest of a cell is prose.
        let quoted = cell.split('`').skip(1).step_by(2);
        quoted.map(str::to_owned).collect()
    };
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let cells: Vec<Vec<String>> = line.split('|').skip(1).map(words).collect();
        let row = Row {
            modules: cells[1].clone(),
            crates: cells[2].clone(),
        };
        (cells[0][0].clone(), row)
    })
    .collect()
}

/// A token: a word, `::`, or a single character; with its line, from 1.
#[derive(Clone, Debug, PartialEq)]
struct Token {
    text: String,
    line: usize,
}

/// Returns the tokens of a source file without comments, strings, characters and lifetimes.
fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let mut found = Vec::new();
    let (mut i, mut line) = (0, 1);
    while i < chars.len() {
        let start = i;
        match (at(i), at(i + 1)) {
            ('/', '/') => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            ('/', '*') => {
                let mut depth = 0;
                loop {
                    match (at(i), at(i + 1)) {
                        ('/', '*') => (depth, i) = (depth + 1, i + 2),
                        ('*', '/') => (depth, i) = (depth - 1, i + 2),
                        _ => i += 1,
                    }
                    if depth == 0 || i >= chars.len() {
                        break;
                    }
                }
            }
            ('"', _) => {
                i += 1;
                while i < chars.len() && at(i) != '"' {
                    i += if at(i) == '\\' { 2 } else { 1 };
                }
                i += 1;
            }
            ('\'', next) => {
                // 'a' and '\n' are characters; 'a without a closing quote is a lifetime.
                if next == '\\' {
                    i += 3;
                    while i < chars.len() && at(i) != '\'' {
                        i += 1;
                    }
                    i += 1;
                } else if at(i + 2) == '\'' {
                    i += 3;
                } else {
                    i += 1;
                    while is_word(at(i)) {
                        i += 1;
                    }
                }
            }
            (c, _) if is_word(c) => {
                while is_word(at(i)) {
                    i += 1;
                }
                let word: String = chars[start..i].iter().collect();
                let hashes = chars[i..].iter().take_while(|&&c| c == '#').count();
                if matches!(word.as_str(), "r" | "br") && at(i + hashes) == '"' {
                    // A raw string ends at a quote with the same number of hashes.
                    i += hashes + 1;
                    while i < chars.len()
                        && !(at(i) == '"' && (1..=hashes).all(|k| at(i + k) == '#'))
                    {
                        i += 1;
                    }
                    i += 1 + hashes;
                } else {
                    found.push(Token { text: word, line });
                }
            }
            (':', ':') => {
                i += 2;
                let text = "::".to_owned();
                found.push(Token { text, line });
            }
            (c, _) => {
                i += 1;
                if !c.is_whitespace() {
                    let text = c.to_string();
                    found.push(Token { text, line });
                }
            }
        }
        let end = i.min(chars.len());
        line += chars[start..end].iter().filter(|&&c| c == '\n').count();
    }
    found
}

/// Returns the module path of a file: `mesh/read/mod.rs` is `mesh::read`, `geom/pose.rs` is
/// `geom::pose`, `lib.rs` is the root.
fn module_of(file: &Path) -> Vec<String> {
    let mut path: Vec<String> = file
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if matches!(path.last().map(String::as_str), Some("mod" | "lib")) {
        path.pop();
    }
    path
}

/// An item of this crate that a file names, as a path from the root; empty for the root itself.
#[derive(Debug, PartialEq)]
struct Arrow {
    to: Vec<String>,
    line: usize,
    /// Whether the path is inside an inline module `tests`.
    in_tests: bool,
}

/// Returns the names of the modules that a file declares in files of their own: `mod name;`.
fn children(tokens: &[Token]) -> Vec<&str> {
    let declared = tokens
        .windows(3)
        .filter(|three| three[0].text == "mod" && three[2].text == ";");
    declared.map(|three| three[1].text.as_str()).collect()
}

/// Returns whether the `use` at token `i` is a re-export: `pub use` or `pub(…) use`.
fn is_public(tokens: &[Token], i: usize) -> bool {
    match tokens[i - 1].text.as_str() {
        "pub" => true,
        ")" => tokens[..i]
            .iter()
            .rposition(|token| token.text == "(")
            .is_some_and(|open| open > 0 && tokens[open - 1].text == "pub"),
        _ => false,
    }
}

fn mark_tests(found: &mut [Arrow], here: &[String]) {
    let in_tests = here.iter().any(|module| module == "tests");
    for arrow in found {
        arrow.in_tests = in_tests;
    }
}

/// Returns every path in the tokens that starts at `crate`, the crate's own name or `super`, as a
/// path from the root.
fn arrows(file: &Path, tokens: &[Token]) -> Vec<Arrow> {
    let children = children(tokens);
    let mut found = Vec::new();
    let mut here = module_of(file);
    // Open inline modules, each with the depth of its brace.
    let mut open: Vec<usize> = Vec::new();
    let mut depth = 0;
    let text = |i: usize| tokens.get(i).map_or("", |token| token.text.as_str());
    let mut i = 0;
    while i < tokens.len() {
        let starts_path = i == 0 || text(i - 1) != "::";
        match text(i) {
            "mod" if text(i + 2) == "{" => {
                here.push(text(i + 1).to_owned());
                depth += 1;
                open.push(depth);
                i += 3;
                continue;
            }
            "{" => depth += 1,
            "}" => {
                if open.last() == Some(&depth) {
                    open.pop();
                    here.pop();
                }
                depth -= 1;
            }
            // `pub(crate)` and `pub(super)` name no path.
            "crate" | "super" if text(i + 1) == ")" => {}
            // Nor does `pub(in crate::field)`.
            "crate" | "super" if i > 0 && text(i - 1) == "in" => {}
            "crate" | "touchfield"
                if starts_path && (text(i) == "crate" || text(i + 1) == "::") =>
            {
                let first = found.len();
                paths(&[], tokens, i + 1, &mut found);
                mark_tests(&mut found[first..], &here);
            }
            "super" if starts_path => {
                let mut base = here.clone();
                base.pop();
                while text(i + 1) == "::" && text(i + 2) == "super" {
                    base.pop();
                    i += 2;
                }
                let first = found.len();
                paths(&base, tokens, i + 1, &mut found);
                mark_tests(&mut found[first..], &here);
            }
            // A child by its bare name, in a `use` or before `::`. A `pub use` is a re-export, not
            // a use.
            word if starts_path
                && children.contains(&word)
                && (text(i + 1) == "::"
                    || (i > 0 && text(i - 1) == "use" && text(i + 1) == ";"))
                && !(i > 1 && text(i - 1) == "use" && is_public(tokens, i - 1)) =>
            {
                let base = [module_of(file), vec![word.to_owned()]].concat();
                let first = found.len();
                paths(&base, tokens, i + 1, &mut found);
                mark_tests(&mut found[first..], &here);
            }
            _ => {}
        }
        i += 1;
    }
    found
}

/// Adds the paths that continue `base` at token `i`, one for each branch of a `use` tree. Returns
/// the index of the token after the path.
fn paths(base: &[String], tokens: &[Token], i: usize, found: &mut Vec<Arrow>) -> usize {
    let text = |i: usize| tokens.get(i).map_or("", |token| token.text.as_str());
    let is_word = |i: usize| {
        let word = text(i);
        word.starts_with(|c: char| c == '_' || c.is_alphabetic()) && word != "self"
    };
    let line = tokens[i - 1].line;
    if text(i) != "::" {
        // A glob, or an alias for the root, would hide what is used: it counts as a use of the
        // module that holds it.
        let to = base.to_vec();
        found.push(Arrow {
            to,
            line,
            in_tests: false,
        });
        return i;
    }
    if text(i + 1) == "{" {
        let mut j = i + 2;
        while j < tokens.len() && text(j) != "}" {
            j = match (text(j), is_word(j)) {
                (",", _) => j + 1,
                (word, true) => {
                    let deeper = [base, &[word.to_owned()]].concat();
                    let end = paths(&deeper, tokens, j + 1, found);
                    // An alias does not matter.
                    if text(end) == "as" { end + 2 } else { end }
                }
                _ => {
                    let (to, line) = (base.to_vec(), tokens[j].line);
                    found.push(Arrow {
                        to,
                        line,
                        in_tests: false,
                    });
                    j += 1;
                    if text(j) == "as" { j + 2 } else { j }
                }
            };
        }
        return j + 1;
    }
    if is_word(i + 1) {
        let deeper = [base, &[text(i + 1).to_owned()]].concat();
        return paths(&deeper, tokens, i + 2, found);
    }
    let to = base.to_vec();
    found.push(Arrow {
        to,
        line,
        in_tests: false,
    });
    i + 2
}

/// Returns the row of the table that a path falls under: that of its longest prefix with a row,
/// else its first word.
fn row_of(table: &Table, path: &[String]) -> String {
    let beginnings = (1..=path.len()).rev().map(|count| path[..count].join("::"));
    let known = beginnings.into_iter().find(|name| table.contains_key(name));
    known.unwrap_or_else(|| path.first().cloned().unwrap_or_default())
}

/// Returns one sentence for each use in a file that the table does not allow. `dependencies` are
/// the names of other crates.
fn violations(table: &Table, dependencies: &[String], file: &Path, source: &str) -> Vec<String> {
    let module = module_of(file);
    if module.is_empty() {
        return Vec::new(); // The root joins everything.
    }
    let from = row_of(table, &module);
    let Some(row) = table.get(&from) else {
        return vec![format!(
            "{}: module `{from}` has no row in the table of ARCHITECTURE.md",
            file.display()
        )];
    };
    let tokens = tokens(source);
    let mut broken = Vec::new();
    for Arrow { to, line, .. } in arrows(file, &tokens) {
        let to = row_of(table, &to);
        if to != from && !row.modules.contains(&to) {
            let to = if to.is_empty() {
                "the crate's root"
            } else {
                &to
            };
            broken.push(format!(
                "{}:{line}: `{from}` may not use `{to}`",
                file.display()
            ));
        }
    }
    for (i, token) in tokens.iter().enumerate() {
        let is_path = tokens.get(i + 1).is_some_and(|next| next.text == "::")
            && (i == 0 || tokens[i - 1].text != "::");
        if is_path && dependencies.contains(&token.text) && !row.crates.contains(&token.text) {
            broken.push(format!(
                "{}:{}: `{from}` may not use the crate `{}`",
                file.display(),
                token.line,
                token.text
            ));
        }
    }
    // A tree may name several items of one module.
    broken.dedup();
    broken
}

/// Returns the names under `[dependencies]`, as Rust spells them.
fn dependencies(manifest: &str) -> Vec<String> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['.', '=', ' ']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .map(|name| name.replace('-', "_"))
        .collect()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_import_is_allowed_by_the_table() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(crate_folder.join("../../ARCHITECTURE.md")).unwrap();
    let manifest = fs::read_to_string(crate_folder.join("Cargo.toml")).unwrap();
    let (table, dependencies) = (parse_table(&document), dependencies(&manifest));
    assert!(
        dependencies.contains(&"glam".to_owned()),
        "{dependencies:?}"
    );
    let source_folder = crate_folder.join("src");
    let mut files = Vec::new();
    rust_files(&source_folder, &mut files);
    files.sort();
    let (mut broken, mut seen) = (Vec::new(), 0);
    for path in &files {
        let source = fs::read_to_string(path).unwrap();
        let file = path.strip_prefix(&source_folder).unwrap();
        seen += arrows(file, &tokens(&source)).len();
        broken.extend(violations(&table, &dependencies, file, &source));
    }
    // A reader that sees nothing would report nothing.
    assert!(
        files.len() > 50 && seen > 200,
        "{} files, {seen} paths",
        files.len()
    );
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn the_table_itself_has_no_cycle() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let mut table = parse_table(&fs::read_to_string(document).unwrap());
    // Repeatedly remove modules that use no remaining module; a cycle is never removed.
    while !table.is_empty() {
        let names: Vec<String> = table.keys().cloned().collect();
        let before = table.len();
        table.retain(|_, row| row.modules.iter().any(|used| names.contains(used)));
        assert!(table.len() < before, "these use each other: {names:?}");
    }
}

/// Two modules that may use `geom`; one of them may also use `rayon`.
const EXAMPLE: &str = "
<!-- arrows: begin -->
| module | ours | others' | holds |
|---|---|---|---|
| `geom` | – | `glam` | words |
| `field` | `geom` | `glam` | `mesh` in a remark allows nothing |
| `mesh` | `geom` | `glam`, `rayon` | – |
| `field::pure` | `geom` | `glam` | the rest of its module is closed to it |
<!-- arrows: end -->
| `field` | `mesh` | – | behind the end |
";

#[track_caller]
fn found(file: &str, source: &str) -> Vec<String> {
    let names = ["glam", "rayon"].map(str::to_owned);
    violations(&parse_table(EXAMPLE), &names, Path::new(file), source)
}

#[test]
fn a_made_up_violation_is_found_however_it_is_written() {
    for source in [
        "use crate::mesh::TriangleMesh;",
        "use crate::{geom::Aabb, mesh};",
        "use crate::{geom::{Aabb, DAabb}, mesh::{Bvh, self}};",
        "use super::mesh::Bvh;",
        "pub(crate) fn f(m: &crate::mesh::TriangleMesh) {}",
        "fn f() { let _ = touchfield::mesh::weld; }",
        "/* use crate::geom; */ use crate :: mesh ;",
        "#[cfg(test)] mod tests { use super::super::mesh::Bvh; }",
        "mod a { mod b {} } use super::mesh::Bvh;",
        "fn f<'a>(c: char) -> bool { c == '\"' } use crate::mesh::Bvh; // '\"'",
        "const S: &str = r#\"a \" b\"#; use crate::mesh::Bvh;",
    ] {
        let broken = found("field/mod.rs", source);
        assert_eq!(
            broken,
            ["field/mod.rs:1: `field` may not use `mesh`"],
            "{source}"
        );
    }
    let deep = "\n\nuse super::super::super::mesh::Bvh;";
    let broken = found("field/primitive/cone.rs", deep);
    assert_eq!(
        broken,
        ["field/primitive/cone.rs:3: `field` may not use `mesh`"]
    );
    let hidden = [
        "use crate::*;",
        "use crate as root;",
        "use crate::{self as root};",
    ];
    for source in hidden {
        let broken = found("field/mod.rs", source);
        assert_eq!(
            broken,
            ["field/mod.rs:1: `field` may not use `the crate's root`"],
            "{source}"
        );
    }
    let broken = found("field/mod.rs", "use rayon::prelude::*;");
    assert_eq!(
        broken,
        ["field/mod.rs:1: `field` may not use the crate `rayon`"]
    );
    for source in [
        "use super::Field;",
        "use super::super::field::Field;",
        "use crate::field::{pure::Own, Field};",
        "use super::*;",
    ] {
        let broken = found("field/pure.rs", source);
        let expected = "field/pure.rs:1: `field::pure` may not use `field`";
        assert_eq!(broken, [expected], "{source}");
        let broken = found("field/csg.rs", "use super::pure::Own;");
        let expected = "field/csg.rs:1: `field` may not use `field::pure`";
        assert_eq!(broken, [expected]);
    }
    let broken = found("narrow.rs", "");
    assert_eq!(
        broken,
        ["narrow.rs: module `narrow` has no row in the table of ARCHITECTURE.md"]
    );
}

#[test]
fn what_is_allowed_or_only_mentioned_is_not_a_violation() {
    for source in [
        "use crate::geom::{Aabb, Interval};\nuse super::Field;\nuse glam::Vec3;",
        "use crate::field::primitive::Sphere;",
        "//! See [`crate::mesh`].\n/* use crate::mesh::Bvh; */",
        "const S: &str = \"use crate::mesh::Bvh; \\\" crate::mesh\";",
        "#[cfg(test)] mod tests { use super::*; use super::super::geom::Pose; }",
        "pub(crate) fn f() {} pub(super) fn g() {}",
        "fn f(rayon: u32) -> u32 { rayon + self::g::rayon::h() }",
    ] {
        assert_eq!(found("field/csg.rs", source), [""; 0], "{source}");
    }
    let own = "use super::{Own, part::Part}; use crate::field::pure::Own as Other; use crate::{geom::{Aabb as Box, Pose}};";
    assert_eq!(found("field/pure/inner.rs", own), [""; 0]);
    assert_eq!(found("mesh/bvh.rs", "use rayon::prelude::*;"), [""; 0]);
    assert_eq!(found("lib.rs", "pub use crate::mesh::Bvh;"), [""; 0]);
}

/// Returns the modules that each file uses. A re-exported name counts as the file that defines it.
/// Test code does not count.
fn file_graph(files: &[(PathBuf, String)]) -> BTreeMap<Vec<String>, Vec<Vec<String>>> {
    let modules: Vec<Vec<String>> = files.iter().map(|(file, _)| module_of(file)).collect();
    // Re-exported names, and where they come from.
    let mut handed_on: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for (file, source) in files {
        let (here, tokens) = (module_of(file), tokens(source));
        for i in 1..tokens.len() {
            if tokens[i].text != "use" || !is_public(&tokens, i) {
                continue;
            }
            let mut found = Vec::new();
            let first = tokens[i + 1].text.clone();
            let base = match first.as_str() {
                "crate" => Vec::new(),
                "self" => here.clone(),
                "super" => here[..here.len() - 1].to_vec(),
                _ => [here.clone(), vec![first]].concat(),
            };
            paths(&base, &tokens, i + 2, &mut found);
            for Arrow { to, .. } in found {
                let name = to.last().cloned().unwrap_or_default();
                let handed = [here.clone(), vec![name]].concat();
                if handed != to {
                    handed_on.insert(handed, to);
                }
            }
        }
    }
    // The file that a path leads to.
    let resolve = |path: &[String]| -> Vec<String> {
        let mut path = path.to_vec();
        // More steps than any chain of re-exports has.
        for _ in 0..10 {
            let module = (0..=path.len())
                .rev()
                .find(|&k| modules.contains(&path[..k].to_vec()));
            let module = module.unwrap_or(0);
            let next = path.get(..=module).and_then(|name| handed_on.get(name));
            match next {
                Some(next) => path = [next.clone(), path[module + 1..].to_vec()].concat(),
                None => return path[..module].to_vec(),
            }
        }
        path
    };
    let is_test = |module: &Vec<String>| {
        let words = ["tests", "test_meshes", "model_tests", "witness_tests"];
        module.iter().any(|name| words.contains(&name.as_str()))
    };
    let mut graph = BTreeMap::new();
    for (file, source) in files {
        let here = module_of(file);
        // The root joins everything.
        if here.is_empty() || is_test(&here) {
            continue;
        }
        let used = arrows(file, &tokens(source));
        let used = used.iter().filter(|arrow| !arrow.in_tests);
        let mut used: Vec<Vec<String>> = used.map(|arrow| resolve(&arrow.to)).collect();
        used.sort();
        used.dedup();
        used.retain(|module| *module != here && !module.is_empty() && !is_test(module));
        graph.insert(here, used);
    }
    graph
}

/// Returns the modules that lie on cycles or between them: modules that use none, or are used by
/// none, are removed until none is left to remove.
fn on_cycles(mut graph: BTreeMap<Vec<String>, Vec<Vec<String>>>) -> Vec<String> {
    loop {
        let before = graph.len();
        let names: Vec<Vec<String>> = graph.keys().cloned().collect();
        graph.retain(|_, used| used.iter().any(|module| names.contains(module)));
        let used: Vec<Vec<String>> = graph.values().flatten().cloned().collect();
        graph.retain(|name, _| used.contains(name));
        if graph.len() == before {
            return graph.keys().map(|name| name.join("::")).collect();
        }
    }
}

/// Returns every Rust file below a folder, relative to it, with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    rust_files(folder, &mut files);
    files.sort();
    let read = |path: &PathBuf| {
        let source = fs::read_to_string(path).unwrap();
        (path.strip_prefix(folder).unwrap().to_owned(), source)
    };
    files.iter().map(read).collect()
}

#[test]
fn no_file_uses_itself_by_way_of_others() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let graph = file_graph(&sources(&folder));
    let arrows: usize = graph.values().map(Vec::len).sum();
    assert!(
        graph.len() > 150 && arrows > 400,
        "{} files, {arrows} arrows",
        graph.len()
    );
    let cycles = on_cycles(graph);
    assert!(cycles.is_empty(), "these use each other: {cycles:#?}");
}

#[test]
fn a_made_up_cycle_is_found() {
    let graph = |sources: &[(&str, &str)]| {
        let files: Vec<_> = sources
            .iter()
            .map(|&(file, source)| (PathBuf::from(file), source.to_owned()))
            .collect();
        on_cycles(file_graph(&files))
    };
    let direct = [
        ("bake/a.rs", "use super::b::B;"),
        ("bake/b.rs", "use crate::bake::a::A;"),
    ];
    assert_eq!(graph(&direct), ["bake::a", "bake::b"]);
    let handed_on = [
        ("bake/mod.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
        ("bake/a.rs", "use super::B;"),
        ("bake/b.rs", "fn f() { crate::bake::A::new(); }"),
        ("bake/c.rs", "use super::{A, B};"),
    ];
    assert_eq!(graph(&handed_on), ["bake::a", "bake::b"]);
    let with_parent = [
        ("bake/mod.rs", "mod a; use a::A; pub struct B;"),
        ("bake/a.rs", "use super::B;"),
    ];
    assert_eq!(graph(&with_parent), ["bake", "bake::a"]);
    let none = [
        ("bake/mod.rs", "mod a; mod b; pub use a::A;"),
        ("bake/a.rs", "use super::b::B;"),
        (
            "bake/b.rs",
            "#[cfg(test)] mod tests { use crate::bake::A; }",
        ),
    ];
    assert_eq!(graph(&none), [""; 0]);
}

/// Most Rust files per folder: few enough to see at a glance.
const MOST_FILES: usize = 15;

/// Finds folders below `folder` with more Rust files than [`MOST_FILES`].
fn crowded(folder: &Path, found: &mut Vec<String>) {
    let entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let is_rust = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    let count = entries.iter().filter(is_rust).count();
    if count > MOST_FILES {
        found.push(format!("{}: {count} files", folder.display()));
    }
    for path in entries.iter().filter(|path| path.is_dir()) {
        crowded(path, found);
    }
}

#[test]
fn no_folder_of_sources_is_crowded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = fs::read_dir(root.join("crates")).unwrap();
    let mut folders: Vec<PathBuf> = crates
        .map(|entry| entry.unwrap().path().join("src"))
        .collect();
    folders.push(root.join("bench/src"));
    folders.retain(|folder| folder.is_dir());
    assert!(folders.len() > 4, "{folders:?}");
    let mut found = Vec::new();
    for folder in &folders {
        crowded(folder, &mut found);
    }
    assert!(
        found.is_empty(),
        "more than {MOST_FILES}:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_crowded_folder_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let room = folder.path().join("room");
    fs::create_dir(&room).unwrap();
    for index in 0..=MOST_FILES {
        fs::write(room.join(format!("file_{index}.rs")), "").unwrap();
    }
    let mut found = Vec::new();
    crowded(folder.path(), &mut found);
    assert_eq!(found.len(), 1, "{found:?}");
    fs::remove_file(room.join("file_0.rs")).unwrap();
    found.clear();
    crowded(folder.path(), &mut found);
    assert_eq!(found, [""; 0]);
}

/// Most characters of a line of comment, indentation included: fits beside a second window.
const MOST_COLUMNS: usize = 100;

/// Returns the lines of a source, from 1, that start with a comment and are wider than
/// [`MOST_COLUMNS`].
fn long_comments(source: &str) -> Vec<usize> {
    let is_long =
        |line: &str| line.trim_start().starts_with("//") && line.chars().count() > MOST_COLUMNS;
    (1..)
        .zip(source.lines())
        .filter(|(_, line)| is_long(line))
        .map(|(number, _)| number)
        .collect()
}

/// Finds the Rust files below a folder, in no `target` folder and behind no symbolic link.
fn own_rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        // The type of the entry itself: a link is neither a folder nor a file.
        let (kind, path) = (entry.file_type().unwrap(), entry.path());
        if kind.is_dir() && entry.file_name() != "target" {
            own_rust_files(&path, found);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_comment_line_is_over_100_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates", "bench", "examples", "fuzz"] {
        own_rust_files(&root.join(folder), &mut files);
    }
    files.sort();
    assert!(files.len() > 300, "only {} files were seen", files.len());
    let mut found = Vec::new();
    for path in &files {
        let source = fs::read_to_string(path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display();
        found.extend((long_comments(&source).iter()).map(|line| format!("{name}:{line}")));
    }
    assert!(
        found.is_empty(),
        "{} comment lines over {MOST_COLUMNS} columns:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn a_long_comment_line_is_found() {
    let (fits, long) = ("é".repeat(MOST_COLUMNS - 7), "é".repeat(MOST_COLUMNS));
    let source = format!(
        "//! {long}\nlet code = \"// {long}\";\n    // {fits}\n    /// {fits}\n\t// {fits}x\n"
    );
    assert_eq!(long_comments(&source), [1, 4]);
    assert!(long_comments(&format!("// {fits}\r\nlet x = 1; // {long}\n")).is_empty());
}
