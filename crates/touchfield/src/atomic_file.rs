//! Files that appear under their name whole or not at all.
//!
//! Input: a path and what writes the content.
//! Output: the complete file under that path, or an error, the old file untouched and nothing left
//! beside it.
//! Cost: one more rename than writing in place.
//! Not for: keeping the owner, the permissions or the links of the file that is replaced.
//!
//! A process that is told to end calls [`abandon`] first: a draft that is still being written is
//! removed, and none is begun after that.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Writes a file beside its place under another name and renames it when complete, so that nobody
/// ever sees half of it.
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

/// Removes the drafts of all files that this process is writing, and makes every write from now on
/// fail. For a process that is about to end: nothing unfinished stays on disk.
///
/// Files that were complete before stay. May be called from any thread, and more than once.
pub fn abandon() {
    let mut drafts = drafts();
    drafts.abandoned = true;
    for path in drafts.paths.drain(..) {
        // The process ends whether or not the file goes, and nobody is left to take the error.
        let _ = fs::remove_file(path);
    }
}

/// The drafts of this process.
struct Drafts {
    /// Whether [`abandon`] was called.
    abandoned: bool,
    paths: Vec<PathBuf>,
}

static DRAFTS: Mutex<Drafts> = Mutex::new(Drafts {
    abandoned: false,
    paths: Vec::new(),
});

/// Whoever creates, renames or removes a draft holds this meanwhile, so that [`abandon`] finds
/// every draft, and no file that is complete.
fn drafts() -> MutexGuard<'static, Drafts> {
    // A list of paths is in order whatever a thread that panicked was about to do with it.
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

/// A file under a passing name; removed unless it is renamed.
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

    /// The draft is dropped in any case; once renamed there is nothing left to remove.
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
            // Nothing more can be done about a failure here, and the first error is the one to report.
            let _ = fs::remove_file(&self.path);
            drafts.forget(&self.path);
        }
    }
}
