//! Files that appear under their name whole or not at all.
//!
//! Input: a path and what writes the content.
//! Output: the complete file under that path, or an error, the old file untouched and nothing left beside it.
//! Cost: one more rename than writing in place.
//! Not for: keeping the owner, the permissions or the links of the file that is replaced.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Writes a file beside its place under another name and renames it when complete, so that nobody ever sees half of it.
pub(crate) fn write<T, E: From<io::Error>>(
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

/// A file under a passing name; removed unless it is renamed.
struct Draft {
    path: Option<PathBuf>,
}

impl Draft {
    fn create_beside(path: &Path) -> io::Result<(File, Draft)> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let process = std::process::id();
        let mut attempt = 0;
        loop {
            let draft = path.with_file_name(format!(".{name}.{process}-{attempt}.tmp"));
            match File::create_new(&draft) {
                Ok(file) => return Ok((file, Draft { path: Some(draft) })),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn rename_to(mut self, path: &Path) -> io::Result<()> {
        if let Some(draft) = &self.path {
            fs::rename(draft, path)?;
        }
        self.path = None;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(draft) = &self.path {
            // Nothing more can be done about a failure here, and the first error is the one to report.
            let _ = fs::remove_file(draft);
        }
    }
}
