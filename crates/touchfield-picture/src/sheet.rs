//! A sheet of several pictures of one size, each with a caption below.
//!
//! Input: pictures and captions, in reading order. Output: one [`Canvas`].
//! Cost: one copy of every pixel. Not for: pictures of different sizes.

use glam::Vec2;
use thiserror::Error;

use super::canvas::{Anchor, Canvas, Rgb, SizeError, TextStyle};

const PAPER: Rgb = [255, 255, 255];
const INK: Rgb = [58, 64, 74];

/// Why a sheet cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SheetError {
    /// There are no pictures or no columns.
    #[error("a sheet needs at least one picture and one column")]
    Empty,
    /// The size of one picture differs from that of the first.
    #[error(
        "picture {index} has {found:?} pixels and the first has {expected:?}; a sheet holds pictures of one size"
    )]
    DifferentSize {
        /// Index of the picture.
        index: usize,
        /// Its columns and rows.
        found: (u32, u32),
        /// Columns and rows of the first picture.
        expected: (u32, u32),
    },
    /// The size of the whole sheet is not supported.
    #[error(transparent)]
    Size(#[from] SizeError),
}

/// Places `pictures` beside each other, `columns` per row. If all captions are empty, no room is
/// left for captions.
pub fn sheet(pictures: &[(&Canvas, &str)], columns: usize) -> Result<Canvas, SheetError> {
    let Some((first, _)) = pictures.first() else {
        return Err(SheetError::Empty);
    };
    if columns == 0 {
        return Err(SheetError::Empty);
    }
    let expected = (first.width(), first.height());
    for (index, (picture, _)) in pictures.iter().enumerate() {
        let found = (picture.width(), picture.height());
        if found != expected {
            return Err(SheetError::DifferentSize {
                index,
                found,
                expected,
            });
        }
    }

    let columns = columns.min(pictures.len());
    let rows = pictures.len().div_ceil(columns);
    let gap = (expected.0 / 40).max(2);
    let size = (expected.0 as f32 / 44.0).clamp(6.0, 40.0).round();
    let has_captions = pictures.iter().any(|(_, caption)| !caption.is_empty());
    let caption_height = if has_captions { (3.2 * size) as u32 } else { 0 };
    let cell = (
        u64::from(expected.0) + u64::from(gap),
        u64::from(expected.1) + u64::from(gap) + u64::from(caption_height),
    );
    let side = |cell: u64, count: usize| {
        let pixels = cell
            .saturating_mul(count as u64)
            .saturating_add(u64::from(gap));
        u32::try_from(pixels).unwrap_or(u32::MAX)
    };
    let mut sheet = Canvas::new(side(cell.0, columns), side(cell.1, rows), PAPER)?;

    let style = TextStyle::new(size, INK);
    for (index, (picture, caption)) in pictures.iter().enumerate() {
        // This fits u32 because the size of the sheet does.
        let x = gap + (index % columns) as u32 * cell.0 as u32;
        let y = gap + (index / columns) as u32 * cell.1 as u32;
        sheet.draw(picture, x, y);
        let caption = fitted(caption, style, expected.0 as f32);
        let middle = Vec2::new(
            x as f32 + 0.5 * expected.0 as f32,
            (y + expected.1) as f32 + 2.1 * size,
        );
        sheet.text(middle, Anchor::Middle, style, &caption);
    }
    Ok(sheet)
}

/// Returns `text`, cut and ended with `…` if it is wider than `width` \[px\].
pub(super) fn fitted(text: &str, style: TextStyle, width: f32) -> String {
    if style.width(text) <= width {
        return text.to_owned();
    }
    let mut short = text.to_owned();
    while short.pop().is_some() {
        let candidate = format!("{}…", short.trim_end());
        if style.width(&candidate) <= width {
            return candidate;
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_picture_is_found_again_on_the_sheet() {
        let pictures: Vec<Canvas> = (0..5u8)
            .map(|i| Canvas::new(80, 60, [50 * i, 10, 20]).unwrap())
            .collect();
        let entries: Vec<(&Canvas, &str)> = pictures.iter().map(|p| (p, "caption")).collect();
        let whole = sheet(&entries, 3).unwrap();
        for i in 0..5u8 {
            let count = whole
                .pixels()
                .iter()
                .filter(|&&p| p == [50 * i, 10, 20])
                .count();
            assert_eq!(count, 80 * 60, "picture {i}");
        }
    }

    #[test]
    fn empty_or_mixed_sheets_are_refused() {
        let small = Canvas::new(8, 6, PAPER).unwrap();
        let large = Canvas::new(9, 6, PAPER).unwrap();
        assert_eq!(sheet(&[], 2), Err(SheetError::Empty));
        assert_eq!(sheet(&[(&small, "")], 0), Err(SheetError::Empty));
        let mixed = sheet(&[(&small, "a"), (&large, "b")], 2);
        let expected = SheetError::DifferentSize {
            index: 1,
            found: (9, 6),
            expected: (8, 6),
        };
        assert_eq!(mixed, Err(expected));
    }

    #[test]
    fn long_captions_are_cut_to_the_width() {
        let style = TextStyle::new(10.0, INK);
        let cut = fitted(
            "a caption that is much too long for its picture",
            style,
            120.0,
        );
        assert!(cut.ends_with('…') && style.width(&cut) <= 120.0, "{cut}");
        assert_eq!(fitted("short", style, 120.0), "short");
        assert_eq!(fitted("anything", style, 0.0), "");
    }
}
