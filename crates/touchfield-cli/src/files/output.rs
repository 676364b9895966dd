//! Output files: checked before the work starts, and written atomically.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

use touchfield::atomic_file;

use crate::failure::Failure;

/// Checks, before any work, that `path` has one of the extensions and that its folder is writable.
pub(crate) fn check(path: &Path, extensions: &[&str]) -> Result<(), Failure> {
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    if !extensions
        .iter()
        .any(|known| known.eq_ignore_ascii_case(extension))
    {
        let known: Vec<String> = extensions.iter().map(|known| format!(".{known}")).collect();
        return Err(Failure::in_file(
            path,
            format!(
                "the output is written as {}; give it that extension",
                known.join(" or ")
            ),
        ));
    }
    if path.is_dir() {
        return Err(Failure::in_file(path, "is a folder; name a file in it"));
    }
    atomic_file::check(path).map_err(|error| cannot_write(path, &error))
}

/// Refuses to overwrite an input file.
pub(crate) fn check_apart(output: &Path, input: &Path) -> Result<(), Failure> {
    // A file that does not exist yet has no canonical path, and is not an input.
    match (output.canonicalize(), input.canonicalize()) {
        (Ok(output_file), Ok(input_file)) if output_file == input_file => Err(Failure::in_file(
            output,
            "is read, so it cannot be written as well; name another file",
        )),
        _ => Ok(()),
    }
}

/// Creates a folder and its parents if needed, and checks that it is writable.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    let cannot = |what: &str, error: io::Error| {
        Failure::in_file(path, format!("{what}: {error}; choose another with --out"))
    };
    fs::create_dir_all(path).map_err(|error| cannot("cannot make this folder", error))?;
    atomic_file::check(&path.join("file"))
        .map_err(|error| cannot("cannot write to this folder", error))
}

/// Writes a file through `write`; it appears under its name only when complete.
pub(crate) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Failure> {
    atomic_file::write(path, write).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::in_file(
        path,
        format!("cannot be written: {error}; check that its folder exists and may be written to"),
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_check_leaves_nothing_behind_and_finds_what_would_fail_later() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| folder.path().join(name);
        check(&inside("a.tfs"), &["tfs"]).unwrap();
        check(&inside("a.CSV"), &["npy", "csv"]).unwrap();
        assert!(check(&inside("a.obj"), &["tfs"]).is_err());
        assert!(check(&inside("no/such/a.tfs"), &["tfs"]).is_err());
        assert_eq!(names_in(folder.path()), Vec::<String>::new());
        fs::create_dir(inside("b.tfs")).unwrap();
        assert!(check(&inside("b.tfs"), &["tfs"]).is_err());
    }

    #[test]
    fn a_folder_that_takes_no_file_is_found_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        make_folder(&folder.path().join("new/deep")).unwrap();
        assert_eq!(names_in(folder.path()), ["new"]);
        assert_eq!(
            names_in(&folder.path().join("new/deep")),
            Vec::<String>::new()
        );
        // A system folder in which no user can create files.
        #[cfg(target_os = "linux")]
        {
            let failure = make_folder(Path::new("/proc/self")).unwrap_err();
            assert!(failure.message().contains("cannot write"), "{failure:?}");
        }
    }

    #[test]
    fn a_write_that_fails_keeps_the_old_file_and_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        write_whole(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write_whole(&path, |out| {
            out.write_all(b"new, but")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failed.unwrap_err().message().contains("the disk is full"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names_in(folder.path()), ["a.csv"]);
    }
}
