//! Files appear whole or not at all: a folder that shows what a failed write leaves behind.
#![allow(
    clippy::unwrap_used,
    reason = "a helper of tests: a failed unwrap is a failed test"
)]

use std::path::{Path, PathBuf};

/// A temporary folder with one file that must survive, and a subfolder that occupies another name.
pub(crate) struct Survivor {
    folder: tempfile::TempDir,
    path: PathBuf,
    before: Vec<u8>,
    taken: PathBuf,
}

impl Survivor {
    /// Writes the file with the writer under test. `taken` becomes a folder, so that no file can
    /// have this name.
    pub(crate) fn new(name: &str, taken: &str, write: impl FnOnce(&Path)) -> Survivor {
        let folder = tempfile::tempdir().unwrap();
        let [path, taken] = [name, taken].map(|name| folder.path().join(name));
        write(&path);
        std::fs::create_dir(&taken).unwrap();
        Survivor {
            before: std::fs::read(&path).unwrap(),
            folder,
            path,
            taken,
        }
    }

    /// Returns the path of the file that must survive.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the original bytes of the file.
    pub(crate) fn before(&self) -> &[u8] {
        &self.before
    }

    /// Returns another path in the folder.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Asserts, after failed writes, that the file is unchanged and nothing else has appeared.
    #[track_caller]
    pub(crate) fn assert_untouched(&self) {
        assert_eq!(std::fs::read(&self.path).unwrap(), self.before);
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        found.sort();
        let mut expected = [self.path.clone(), self.taken.clone()];
        expected.sort();
        assert_eq!(found, expected);
    }
}
