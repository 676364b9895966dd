//! Atomic files, which appear under their name complete or not at all.
//!
//! Input: a path, and a function that writes the content.
//! Output: the complete file under that path; or an error, with the old file unchanged and nothing
//! left beside it.
//! Cost: one more rename than writing in place.
//! Not for: keeping the owner, the permissions or the links of the file that is replaced.
//!
//! A process that is about to end calls [`abandon`] first, which removes every draft that is still
//! being written and prevents new ones.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Writes a file under a temporary name in the same folder and renames it when complete, so that a
/// partial file is never visible under `path`.
pub fn write<T, E: From<io::Error>>(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    let (file, draft) = Draft::create_beside(path)?;
    let mut out = BufWriter::new(file);
    let result = content(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    drop(file);
    draft.rename_to(path)?;
    Ok(result)
}

/// Checks that a file can be written at `path`, by creating a draft beside it and removing it.
pub fn check(path: &Path) -> io::Result<()> {
    Draft::create_beside(path).map(drop)
}

/// Removes the drafts of all files that this process is writing, and makes every later write fail.
/// For a process that is about to end, so that nothing unfinished stays on disk.
///
/// Files that are already complete stay. May be called from any thread, and more than once.
pub fn abandon() {
    let mut drafts = drafts();
    drafts.abandoned = true;
    for path in drafts.paths.drain(..) {
        // The process ends whether or not the removal succeeds, and nobody can handle an error.
        let _ = fs::remove_file(path);
    }
}

/// Drafts of this process.
struct Drafts {
    /// Whether [`abandon`] was called.
    abandoned: bool,
    paths: Vec<PathBuf>,
}

static DRAFTS: Mutex<Drafts> = Mutex::new(Drafts {
    abandoned: false,
    paths: Vec::new(),
});

/// Locks the list of drafts. Every thread that creates, renames or removes a draft holds this lock,
/// so that [`abandon`] finds every draft, and no file that is complete.
fn drafts() -> MutexGuard<'static, Drafts> {
    // The list of paths is valid even if a thread panicked while it held the lock.
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drafts {
    fn expect_going_on(&self) -> io::Result<()> {
        match self.abandoned {
            true => Err(io::Error::other("cancelled")),
            false => Ok(()),
        }
    }

    fn forget(&mut self, path: &Path) {
        self.paths.retain(|draft| draft != path);
    }
}

/// A file under a temporary name, removed when dropped unless it was renamed.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn create_beside(path: &Path) -> io::Result<(File, Draft)> {
        let process = std::process::id();
        let mut attempt = 0;
        loop {
            let mut name = OsString::from(".");
            name.push(path.file_name().unwrap_or_default());
            name.push(format!(".{process}-{attempt}.tmp"));
            let draft = path.with_file_name(name);
            let mut drafts = drafts();
            drafts.expect_going_on()?;
            match File::create_new(&draft) {
                Ok(file) => {
                    drafts.paths.push(draft.clone());
                    return Ok((file, Draft { path: draft }));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Renames the draft to its final name. Consumes the draft; after renaming, nothing is left to
    /// remove.
    fn rename_to(self, path: &Path) -> io::Result<()> {
        let mut drafts = drafts();
        drafts.expect_going_on()?;
        fs::rename(&self.path, path)?;
        drafts.forget(&self.path);
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let mut drafts = drafts();
        if drafts.paths.contains(&self.path) {
            // Nothing more can be done about a failure here, and the first error is the one to
            // report.
            let _ = fs::remove_file(&self.path);
            drafts.forget(&self.path);
        }
    }
}
