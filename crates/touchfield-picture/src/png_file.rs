//! PNG files, written whole or not at all.
//!
//! Input: a [`Canvas`] and a path. Output: a file of 8-bit sRGB.
//! Cost: one encoding into a file beside the target, which then takes its place in one step.
//! Not for: reading.

use std::{
    fs::File,
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use thiserror::Error;
use touchfield::atomic_file;

use super::canvas::Canvas;

/// Why a picture is not on disk. What stood at the path before still stands there.
#[derive(Debug, Error)]
pub enum WritePngError {
    /// The path names no file.
    #[error("{path:?} does not name a file; give one such as out.png")]
    NotAFile {
        /// Where it was to go.
        path: PathBuf,
    },
    /// The folder or the disk refused.
    #[error("cannot write {path:?}: {source}; check that the folder exists and may be written to")]
    Write {
        /// Where it was to go.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The encoder refused.
    #[error("cannot encode {path:?} as PNG: {source}")]
    Encode {
        /// Where it was to go.
        path: PathBuf,
        /// What the encoder says.
        source: png::EncodingError,
    },
}

/// Writes `picture` to `path`, replacing what is there only once the new file is complete.
pub fn write_png(picture: &Canvas, path: &Path) -> Result<(), WritePngError> {
    if path.file_name().is_none() {
        return Err(WritePngError::NotAFile { path: path.into() });
    }
    atomic_file::write(path, |out| encode(picture, out)).map_err(|error| match error {
        png::EncodingError::IoError(source) => WritePngError::Write {
            path: path.into(),
            source,
        },
        source => WritePngError::Encode {
            path: path.into(),
            source,
        },
    })
}

fn encode(picture: &Canvas, out: &mut BufWriter<File>) -> Result<(), png::EncodingError> {
    let mut encoder = png::Encoder::new(out, picture.width(), picture.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(picture.pixels().as_flattened())?;
    writer.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use glam::Vec2;

    fn picture() -> Canvas {
        let mut canvas = Canvas::new(31, 17, [250, 240, 230]).unwrap();
        canvas.disc(Vec2::new(10.0, 9.0), 6.0, [20, 90, 160], 1.0);
        canvas
    }

    #[test]
    fn what_is_written_reads_back_and_no_draft_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picture.png");
        fs::write(&path, "old").unwrap();
        write_png(&picture(), &path).unwrap();

        let decoder = png::Decoder::new(io::BufReader::new(File::open(&path).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!((info.width, info.height), (31, 17));
        assert_eq!(bytes, picture().pixels().as_flattened());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_path_that_cannot_be_written_says_so_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/such/folder.png");
        let error = write_png(&picture(), &missing).unwrap_err();
        assert!(matches!(error, WritePngError::Write { .. }), "{error}");
        let error = write_png(&picture(), Path::new("/")).unwrap_err();
        assert!(matches!(error, WritePngError::NotAFile { .. }), "{error}");
        // A folder in the way: the rename fails and the draft goes.
        let folder_in_the_way = folder.path().join("taken.png");
        fs::create_dir(&folder_in_the_way).unwrap();
        assert!(write_png(&picture(), &folder_in_the_way).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
