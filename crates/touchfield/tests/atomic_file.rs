//! A process that ends in the middle of a write leaves nothing behind. A separate test binary,
//! because abandoning writes is permanent for the process.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use touchfield::atomic_file;

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn what_is_being_written_is_removed_and_what_was_complete_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tfs");
    atomic_file::write(&path, |out| out.write_all(b"old")).unwrap();
    atomic_file::check(&folder.path().join("b.tfs")).unwrap();
    assert_eq!(names_in(folder.path()), ["a.tfs"]);

    let written = atomic_file::write(&path, |out| -> io::Result<()> {
        out.write_all(b"new")?;
        assert_eq!(names_in(folder.path()).len(), 2, "a draft is there");
        atomic_file::abandon();
        assert_eq!(
            names_in(folder.path()),
            ["a.tfs"],
            "the draft is gone at once"
        );
        // The writer does not notice, and continues.
        out.write_all(&[0; 1 << 20])
    });
    assert_eq!(written.unwrap_err().to_string(), "cancelled");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names_in(folder.path()), ["a.tfs"]);

    // No further write is started, and `abandon` may be called twice.
    assert!(atomic_file::check(&path).is_err());
    atomic_file::abandon();
    assert!(atomic_file::write(&path, |out| out.write_all(b"late")).is_err());
    assert_eq!(names_in(folder.path()), ["a.tfs"]);
}
