//! NumPy's `.npz` files with arrays of any shape, out and in.
//!
//! Input: named arrays of `f8` or `i8`; or a file with arrays of numbers.
//! Output: a file that `numpy.load` reads; or the arrays as `f64`.
//! Cost: one pass. Memory follows the bytes that are there, never a number they declare.
//! Not for: grids of distances, see `npz`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::failure::Failure;
use crate::files::npy::{self, Header, NpyError};
use crate::files::output;

/// Numbers of an array to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Numbers<'n> {
    /// `<f8`.
    Floats(&'n [f64]),
    /// `<i8`.
    Whole(&'n [i64]),
}

/// An array to be written.
#[derive(Clone, Debug)]
pub(crate) struct Array<'n> {
    pub(crate) name: &'static str,
    pub(crate) shape: Vec<u64>,
    pub(crate) numbers: Numbers<'n>,
}

impl<'n> Array<'n> {
    pub(crate) fn floats(name: &'static str, shape: &[usize], numbers: &'n [f64]) -> Array<'n> {
        Array {
            name,
            shape: shape.iter().map(|&side| side as u64).collect(),
            numbers: Numbers::Floats(numbers),
        }
    }

    pub(crate) fn whole(name: &'static str, shape: &[usize], numbers: &'n [i64]) -> Array<'n> {
        Array {
            name,
            shape: shape.iter().map(|&side| side as u64).collect(),
            numbers: Numbers::Whole(numbers),
        }
    }
}

/// Writes arrays to a file, which appears under its name only when complete.
pub(crate) fn write(path: &Path, arrays: &[Array<'_>]) -> Result<(), Failure> {
    let bytes: u64 = (arrays.iter())
        .map(|array| 8 * array.shape.iter().product::<u64>())
        .sum();
    // No time stamp: the same numbers give the same bytes.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::DEFAULT)
        .large_file(bytes > u64::from(u32::MAX) / 2);
    output::write_whole(path, |out| {
        let mut archive = ZipWriter::new(out);
        for array in arrays {
            archive.start_file(format!("{}.npy", array.name), options)?;
            // The archive updates a checksum for every write; large writes are cheaper.
            let mut buffer = BufWriter::with_capacity(1 << 16, &mut archive);
            match array.numbers {
                Numbers::Floats(numbers) => npy::write_f64(&mut buffer, &array.shape, numbers)?,
                Numbers::Whole(numbers) => npy::write_i64(&mut buffer, &array.shape, numbers)?,
            }
            buffer
                .into_inner()
                .map_err(io::IntoInnerError::into_error)?;
        }
        archive.finish()?;
        Ok(())
    })
}

/// A file of arrays that is open for reading.
pub(crate) struct Archive<'p> {
    path: &'p Path,
    archive: ZipArchive<BufReader<File>>,
}

impl<'p> Archive<'p> {
    pub(crate) fn open(path: &'p Path) -> Result<Archive<'p>, Failure> {
        let file = File::open(path).map_err(|error| Failure::in_file(path, error))?;
        let archive = ZipArchive::new(BufReader::new(file))
            .map_err(|error| Failure::in_file(path, format!("is no .npz archive: {error}")))?;
        Ok(Archive { path, archive })
    }

    /// Returns the numbers of an array in C order. In `shape`, `None` stands for any length.
    pub(crate) fn read(
        &mut self,
        name: &str,
        shape: &[Option<usize>],
    ) -> Result<Vec<f64>, Failure> {
        let bad = |why: String| Failure::in_file(self.path, format!("array `{name}`: {why}"));
        let mut file = (self.archive.by_name(&format!("{name}.npy")))
            .map_err(|error| bad(error.to_string()))?;
        let header = Header::read(&mut file).map_err(|error| bad(error.to_string()))?;
        let fits = header.shape.len() == shape.len()
            && (header.shape.iter().zip(shape))
                .all(|(&found, wanted)| wanted.is_none_or(|wanted| wanted as u64 == found));
        if !fits || header.fortran_order {
            let found = header.shape_text();
            return Err(bad(format!("its shape is ({found}), which does not fit")));
        }
        let mut numbers = Vec::new();
        let read: Result<(), NpyError> = header.numbers(&mut file, |number| numbers.push(number));
        read.map_err(|error| bad(error.to_string()))?;
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let floats = [1.0, -0.1, f64::MIN_POSITIVE, 1e300, 0.3, 7.0];
        let arrays = [
            Array::floats("floats", &[3, 2], &floats),
            Array::whole("whole", &[2], &[3, -4]),
            Array::floats("none", &[0, 7], &[]),
        ];
        write(&path, &arrays).unwrap();
        let mut archive = Archive::open(&path).unwrap();
        assert_eq!(archive.read("floats", &[None, Some(2)]).unwrap(), floats);
        assert_eq!(archive.read("whole", &[None]).unwrap(), [3.0, -4.0]);
        assert!(archive.read("none", &[None, Some(7)]).unwrap().is_empty());
        for (name, shape) in [("floats", vec![None]), ("other", vec![None])] {
            let message = archive.read(name, &shape).unwrap_err();
            assert!(message.message().contains(name), "{message:?}");
        }
    }
}
