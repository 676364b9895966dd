//! docs/ACCURACY.md agrees with what the code measures.

use std::fs;
use std::path::Path;

/// Allowed difference of a measured figure from the one in the document, as a share. On another
/// platform `sin` may move the random points by a last place, which changes the worst error, and
/// the blocks that are needed, which changes the bytes.
const MEASURED: f64 = 0.5;

/// Returns whether two cells of a table agree.
fn same(header: &str, written: &str, found: &str) -> bool {
    let number = |cell: &str| cell.parse::<f64>().ok();
    match (number(written), number(found)) {
        (Some(written), Some(found))
            if ["error", "shortfall", "bytes"]
                .iter()
                .any(|measured| header.contains(measured)) =>
        {
            (written - found).abs() <= MEASURED * written.max(found)
        }
        _ => written == found,
    }
}

fn cells(line: &str) -> Vec<&str> {
    line.split('|').map(str::trim).collect()
}

#[test]
fn the_document_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ACCURACY.md");
    let written = fs::read_to_string(path).unwrap();
    // The last section belongs to the tests of touchfield-gpu.
    let written = written
        .split("<!-- gpu: begin -->")
        .next()
        .unwrap_or_default();
    let found = touchfield_conformance::accuracy::document().unwrap();
    let again =
        "run `cargo run --release -p touchfield-conformance --example accuracy > docs/ACCURACY.md`";
    assert_eq!(written.lines().count(), found.lines().count(), "{again}");
    let mut header = "";
    for (written, found) in written.lines().zip(found.lines()) {
        if written.starts_with("| field |") || written.starts_with("| model |") {
            header = written;
        }
        let agree = if written.starts_with('|') {
            let (columns, written, found) = (cells(header), cells(written), cells(found));
            written.len() == found.len()
                && (0..written.len()).all(|i| same(columns[i], written[i], found[i]))
        } else {
            written == found
        };
        assert!(
            agree,
            "docs/ACCURACY.md says\n{written}\nbut it is\n{found}\n{again}"
        );
    }
}
