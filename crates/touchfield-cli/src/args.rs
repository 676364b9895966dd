//! The flags that all commands share, and values with units: memory, lengths, poses, picture sizes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use glam::{DQuat, DVec3, Vec3};
use touchfield::bake::BakeSettings;
use touchfield::geom::{DAabb, Pose};
pub(crate) use touchfield_report::Units;

use crate::input::frames::MeshPose;

/// Flags of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Common {
    /// Print one JSON object on stdout, and nothing else there
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Number of threads to use [default: one per core]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Refuse work that would need more memory than this, such as 512M or 4G
    #[arg(long, global = true, value_name = "SIZE", default_value_t = MemorySize(BakeSettings::default().max_memory))]
    pub(crate) max_memory: MemorySize,
}

/// A number of bytes, written as `512M` or `4G`: powers of 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemorySize(pub(crate) u64);

const MEMORY_UNITS: [(&str, u64); 4] = [
    ("T", 1 << 40),
    ("G", 1 << 30),
    ("M", 1 << 20),
    ("K", 1 << 10),
];

impl FromStr for MemorySize {
    type Err = String;

    fn from_str(text: &str) -> Result<MemorySize, String> {
        let wrong = || {
            format!("`{text}` is not an amount of memory; write bytes, or 512M, 1.5G and the like")
        };
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor = match text[digits.len()..].to_ascii_uppercase().as_str() {
            "" | "B" => 1,
            suffix => MEMORY_UNITS
                .into_iter()
                .find(|(unit, _)| {
                    [unit.to_string(), format!("{unit}B"), format!("{unit}IB")]
                        .iter()
                        .any(|u| u == suffix)
                })
                .map(|(_, factor)| factor)
                .ok_or_else(wrong)?,
        };
        let number: f64 = digits.trim_end().parse().map_err(|_| wrong())?;
        let bytes = number * factor as f64;
        // No machine has 2⁶³ bytes, and `f64` counts exactly enough below that.
        if !(1.0..9e18).contains(&bytes) {
            return Err(wrong());
        }
        Ok(MemorySize(bytes as u64))
    }
}

impl fmt::Display for MemorySize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match MEMORY_UNITS
            .into_iter()
            .find(|(_, factor)| self.0.is_multiple_of(*factor))
        {
            Some((unit, factor)) => write!(f, "{}{unit}", self.0 / factor),
            None => write!(f, "{}", self.0),
        }
    }
}

/// A length \[m\], written with its unit: `0.05mm`; metres without one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Length(pub(crate) f64);

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Length, String> {
        /// `m` comes last, because the others end in it.
        const UNITS: [(&str, f64); 7] = [
            ("mm", 1e-3),
            ("cm", 1e-2),
            ("um", 1e-6),
            ("µm", 1e-6),
            ("nm", 1e-9),
            ("in", 0.0254),
            ("m", 1.0),
        ];
        let trimmed = text.trim();
        let (digits, factor) = UNITS
            .into_iter()
            .find_map(|(unit, factor)| Some((trimmed.strip_suffix(unit)?, factor)))
            .unwrap_or((trimmed, 1.0));
        match digits.trim_end().parse::<f64>() {
            Ok(number) if (number * factor).is_finite() => Ok(Length(number * factor)),
            _ => Err(format!(
                "`{text}` is not a length; write metres, or a number with m, cm, mm, um, nm or in, such as 0.05mm"
            )),
        }
    }
}

/// Parses N finite numbers separated by commas.
fn parse_numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let numbers = text
        .split(',')
        .map(|word| match word.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(format!("`{word}` is not a finite number")),
        })
        .collect::<Result<Vec<f64>, String>>()?;
    let found = numbers.len();
    (numbers.try_into()).map_err(|_| format!("it has {found} numbers instead of {N}"))
}

/// Builds a pose from `TX,TY,TZ,QX,QY,QZ,QW`; the quaternion is normalised.
pub(crate) fn pose_of([tx, ty, tz, qx, qy, qz, qw]: [f64; 7]) -> Result<MeshPose, String> {
    let quaternion = [qx, qy, qz, qw];
    // `max` skips NaN, so NaN is checked separately.
    let largest = quaternion.into_iter().fold(0.0, |m: f64, q| m.max(q.abs()));
    if quaternion.into_iter().any(f64::is_nan) || [tx, ty, tz].into_iter().any(f64::is_nan) {
        return Err("it holds NaN".to_owned());
    }
    if largest == 0.0 {
        return Err("a zero quaternion has no direction, and no rotation is 0,0,0,1".to_owned());
    }
    let translation = DVec3::new(tx, ty, tz).as_vec3();
    // Above this limit, squares and sums of lengths overflow `f32`, as they do for grids.
    if !(translation.abs().max_element() <= 1e37 && largest.is_finite()) {
        return Err("it is beyond what f32 can measure; lengths go up to 1e37 m".to_owned());
    }
    // Divide first: squares of huge numbers would overflow.
    let rotation = DQuat::from_array(quaternion.map(|q| q / largest)).normalize();
    Ok(MeshPose {
        pose: Pose {
            rotation: rotation.as_quat(),
            translation,
        },
        translation: DVec3::new(tx, ty, tz),
        rotation,
    })
}

/// Parses `TX,TY,TZ,QX,QY,QZ,QW`; the quaternion is normalised.
pub(crate) fn parse_pose(text: &str) -> Result<MeshPose, String> {
    parse_numbers(text).and_then(pose_of).map_err(|why| {
        format!(
            "`{text}` is not a pose: {why}; write TX,TY,TZ,QX,QY,QZ,QW, such as 0,0,0.1,0,0,0,1"
        )
    })
}

/// Parses `X,Y,Z`.
pub(crate) fn parse_vector(text: &str) -> Result<Vec3, String> {
    let vector = parse_numbers(text).map(|[x, y, z]| DVec3::new(x, y, z).as_vec3());
    let finite = vector.and_then(|vector| match vector.is_finite() {
        true => Ok(vector),
        false => Err("it is beyond what f32 holds".to_owned()),
    });
    finite.map_err(|why| format!("`{text}` is not a vector: {why}; write X,Y,Z, such as 0,0,6.28"))
}

/// Parses `X,Y,Z` in `f64`.
pub(crate) fn parse_wide_vector(text: &str) -> Result<DVec3, String> {
    let numbers = parse_numbers(text).map(|[x, y, z]| DVec3::new(x, y, z));
    // A coordinate that `f32` cannot hold near the origin cannot be held elsewhere either.
    parse_vector(text).and(numbers)
}

/// Parses a box given by its smallest and its largest corner, `X,Y,Z,X,Y,Z` \[m\].
pub(crate) fn parse_box(text: &str) -> Result<DAabb, String> {
    let corners = parse_numbers(text)
        .map(|[ax, ay, az, bx, by, bz]| DAabb::new(DVec3::new(ax, ay, az), DVec3::new(bx, by, bz)));
    let ordered = corners.and_then(|corners| match corners.is_empty() {
        true => Err("the second corner is below the first".to_owned()),
        false => Ok(corners),
    });
    ordered.map_err(|why| {
        format!(
            "`{text}` is not a box: {why}; write its corners as X,Y,Z,X,Y,Z, the smallest first"
        )
    })
}

/// A file and the pose of its body: `FILE` or `FILE@POSE`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlacedFile {
    pub(crate) path: PathBuf,
    /// Pose of the mesh's frame in the world.
    pub(crate) world_from_field: MeshPose,
}

/// Parses `FILE` or `FILE@POSE`. If a file with an `@` in its name exists, the whole argument is
/// its name.
pub(crate) fn parse_placed_file(argument: &OsStr) -> Result<PlacedFile, String> {
    let as_file = || PlacedFile {
        path: argument.into(),
        world_from_field: MeshPose::IDENTITY,
    };
    if Path::new(argument).exists() {
        return Ok(as_file());
    }
    match argument.to_str().and_then(|text| text.rsplit_once('@')) {
        // A folder's name may contain an `@` too.
        Some((path, pose)) if !pose.contains(std::path::is_separator) => Ok(PlacedFile {
            path: path.into(),
            world_from_field: parse_pose(pose)?,
        }),
        _ => Ok(as_file()),
    }
}

/// Returns [`parse_placed_file`] as a parser for clap.
pub(crate) fn placed_file_parser() -> impl clap::builder::TypedValueParser<Value = PlacedFile> {
    use clap::builder::TypedValueParser;
    clap::builder::OsStringValueParser::new()
        .try_map(|argument: OsString| parse_placed_file(&argument))
}

/// Columns and rows of a picture, written `1200x900`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PictureSize {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl FromStr for PictureSize {
    type Err = String;

    fn from_str(text: &str) -> Result<PictureSize, String> {
        let sides = text.split_once(['x', 'X', '×']);
        // A number too large for `u32` becomes the largest size, which is refused as too large
        // rather than as not a number.
        let side = |text: &str| {
            let digits = text.trim();
            let is_count = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            is_count.then(|| digits.parse().unwrap_or(u32::MAX))
        };
        let sides = sides.and_then(|(w, h)| Some((side(w)?, side(h)?)));
        match sides {
            Some((width, height)) if width > 0 && height > 0 => Ok(PictureSize { width, height }),
            _ => Err(format!(
                "`{text}` is not a size of a picture; write WIDTHxHEIGHT in pixels, such as 1200x900"
            )),
        }
    }
}

impl fmt::Display for PictureSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_with_and_without_units_and_printed_shortest() {
        for (text, bytes) in [
            ("512M", 512 << 20),
            ("4G", 4 << 30),
            ("1.5K", 1536),
            ("2GiB", 2 << 30),
            ("3kb", 3072),
            ("77", 77),
            ("1T", 1 << 40),
        ] {
            assert_eq!(text.parse(), Ok(MemorySize(bytes)), "{text}");
        }
        for text in [
            "", "G", "-1G", "0", "1X", "1e30G", "nan", "4 apples", "1GG", "µ",
        ] {
            assert!(text.parse::<MemorySize>().is_err(), "{text}");
        }
        assert_eq!(MemorySize(8 << 30).to_string(), "8G");
        assert_eq!(MemorySize(1000).to_string(), "1000");
    }

    #[test]
    fn lengths_are_metres_unless_said_otherwise() {
        for (text, metres) in [
            ("0.05mm", 5e-5),
            ("-2cm", -0.02),
            ("1in", 0.0254),
            ("3 um", 3e-6),
            ("3µm", 3e-6),
            ("2m", 2.0),
            ("1e-3", 1e-3),
        ] {
            let found = text.parse::<Length>().unwrap().0;
            assert!((found - metres).abs() <= 1e-15, "{text}: {found}");
        }
        for text in ["", "mm", "1km", "one", "inf", "nanm", "1e400", "in"] {
            assert!(text.parse::<Length>().is_err(), "{text}");
        }
    }

    #[test]
    fn poses_are_normalised_and_nonsense_is_refused() {
        let pose = parse_pose("-1,2,-3e-2,0,0,-2,2").unwrap().pose;
        assert_eq!(pose.translation, glam::Vec3::new(-1.0, 2.0, -0.03));
        let expected = glam::Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2);
        assert!(pose.rotation.dot(expected).abs() > 0.999_999, "{pose:?}");
        assert!((pose.rotation.length() - 1.0).abs() < 1e-6);
        assert!(
            parse_pose("0,0,0,0,0,0,1e-300")
                .unwrap()
                .pose
                .rotation
                .is_normalized()
        );
        for text in [
            "",
            "1,2,3",
            "0,0,0,0,0,0,0",
            "0,0,0,0,0,0,nan",
            "0,0,0,0,0,0,1,1",
            "1e39,0,0,0,0,0,1",
            "a,b,c,d,e,f,g",
        ] {
            assert!(parse_pose(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_pose_follows_the_last_at_sign() {
        let placed = parse_placed_file(OsStr::new("no/such@home.obj@1,0,0,0,0,0,1")).unwrap();
        assert_eq!(placed.path, Path::new("no/such@home.obj"));
        assert_eq!(placed.world_from_field.pose.translation, glam::Vec3::X);
        let placed = parse_placed_file(OsStr::new("plain.obj")).unwrap();
        assert_eq!(placed.world_from_field, MeshPose::IDENTITY);
        assert!(parse_placed_file(OsStr::new("plain.obj@here")).is_err());
        let placed = parse_placed_file(OsStr::new("me@home/plain.obj")).unwrap();
        assert_eq!(placed.path, Path::new("me@home/plain.obj"));
    }

    #[test]
    fn picture_sizes_are_two_positive_numbers() {
        assert_eq!(
            "640x480".parse(),
            Ok(PictureSize {
                width: 640,
                height: 480
            })
        );
        for text in ["640", "0x10", "10x", "-1x5", "axb"] {
            assert!(text.parse::<PictureSize>().is_err(), "{text}");
        }
    }
}
