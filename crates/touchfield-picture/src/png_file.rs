//! PNG files, written atomically: whole or not at all.
//!
//! Input: a [`Canvas`] and a path. Output: an 8-bit sRGB file.
//! Cost: one encoding into a file beside the target, which is then renamed over it.
//! Not for: reading.

use std::{
    fs::File,
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use thiserror::Error;
use touchfield::atomic_file;

use super::canvas::Canvas;

/// Why a picture could not be written. The previous file at the path is unchanged.
#[derive(Debug, Error)]
pub enum WritePngError {
    /// The path does not name a file.
    #[error("{path:?} does not name a file; give one such as out.png")]
    NotAFile {
        /// The path to write to.
        path: PathBuf,
    },
    /// The file system refused the write.
    #[error("cannot write {path:?}: {source}; check that the folder exists and may be written to")]
    Write {
        /// The path to write to.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The encoder failed.
    #[error("cannot encode {path:?} as PNG: {source}")]
    Encode {
        /// The path to write to.
        path: PathBuf,
        /// The encoder's error.
        source: png::EncodingError,
    },
}

/// Writes `picture` to `path`, replacing an existing file only once the new one is complete.
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
        // A folder is in the way: the rename fails and the draft is removed.
        let folder_in_the_way = folder.path().join("taken.png");
        fs::create_dir(&folder_in_the_way).unwrap();
        assert!(write_png(&picture(), &folder_in_the_way).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
