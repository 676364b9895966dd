//! ISO metric screw threads: sizes, profile, and the helical surface between two rings.
//!
//! Input: a [`MetricSize`] or a pitch and a nominal diameter, and the play between the two parts.
//! Output: a grid whose rows run along the helix, so that crests, flanks and roots stay sharp.
//! Cost: linear in turns × rows of the profile × segments.
//! Not for: tapered pipe threads, or left-handed ones.
//!
//! After ISO 68-1 (profile), ISO 261/262 (coarse pitches), ISO 4014 and ISO 4032 (heads and nuts);
//! table values are the nominal or largest ones. With `H = √3/2 · P` the height of the sharp
//! triangle, the profile is cut at `H/8` at the major diameter and `H/4` at the minor diameter,
//! `D₁ = D − 2 · 5/8 · H = D − 1.0825 · P`; the root of the external thread is round with radius
//! `H/6`, down to `d₃ = d − 2 · 17/24 · H`.
//!
//! Phase: external crests and internal grooves both lie at `z = P · (θ/2π + k)`, right-handed about
//! +z.

use std::f64::consts::{FRAC_PI_3, FRAC_PI_6, TAU};

use glam::DVec2;

use super::surface::{Surface, angle, polar};

/// A coarse metric thread size, with the matching hexagon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the sizes")]
pub enum MetricSize {
    M3,
    M4,
    M5,
    M6,
    M8,
    M10,
    M12,
    M16,
}

impl MetricSize {
    /// All sizes, in ascending order.
    pub const ALL: [MetricSize; 8] = [
        MetricSize::M3,
        MetricSize::M4,
        MetricSize::M5,
        MetricSize::M6,
        MetricSize::M8,
        MetricSize::M10,
        MetricSize::M12,
        MetricSize::M16,
    ];

    /// Returns diameter, pitch, width across flats, height of the head, height of the nut \[mm\].
    fn row(self) -> [f64; 5] {
        match self {
            MetricSize::M3 => [3.0, 0.5, 5.5, 2.0, 2.4],
            MetricSize::M4 => [4.0, 0.7, 7.0, 2.8, 3.2],
            MetricSize::M5 => [5.0, 0.8, 8.0, 3.5, 4.7],
            MetricSize::M6 => [6.0, 1.0, 10.0, 4.0, 5.2],
            MetricSize::M8 => [8.0, 1.25, 13.0, 5.3, 6.8],
            MetricSize::M10 => [10.0, 1.5, 16.0, 6.4, 8.4],
            MetricSize::M12 => [12.0, 1.75, 18.0, 7.5, 10.8],
            MetricSize::M16 => [16.0, 2.0, 24.0, 10.0, 14.8],
        }
    }

    /// Returns the nominal (major) diameter \[m\].
    pub fn diameter(self) -> f64 {
        self.row()[0] * 1e-3
    }

    /// Returns the distance between neighbouring crests, which is the advance per turn \[m\].
    pub fn pitch(self) -> f64 {
        self.row()[1] * 1e-3
    }

    /// Returns the distance between opposite flats of head and nut \[m\].
    pub fn across_flats(self) -> f64 {
        self.row()[2] * 1e-3
    }

    /// Returns the height of the bolt's head \[m\], ISO 4014.
    pub fn head_height(self) -> f64 {
        self.row()[3] * 1e-3
    }

    /// Returns the height of the nut \[m\], ISO 4032.
    pub fn nut_height(self) -> f64 {
        self.row()[4] * 1e-3
    }
}

/// One turn of a thread as corners (z, radius) \[m\], ordered by z within half a pitch of 0; z is
/// measured from the middle of the crest or groove at the major diameter.
pub(super) struct Profile {
    pub(super) pitch: f64,
    pub(super) major_radius: f64,
    pub(super) minor_radius: f64,
    corners: Vec<DVec2>,
}

impl Profile {
    /// Builds the profile of a bolt, everywhere `inset` \[m\] nearer to the axis than the basic
    /// profile.
    pub(super) fn external(diameter: f64, pitch: f64, inset: f64) -> Profile {
        let sharp_height = 0.75f64.sqrt() * pitch;
        let major_radius = 0.5 * diameter - inset;
        let basic_minor = major_radius - 0.625 * sharp_height;
        let root_radius = sharp_height / 6.0;
        // The root arc is tangent to the flanks at the basic minor diameter, 60° to each side of
        // its lowest point.
        let arc_middle = basic_minor + 0.5 * root_radius;
        let root = |turn: f64| {
            DVec2::new(
                0.5 * pitch - root_radius * turn.sin(),
                arc_middle - root_radius * turn.cos(),
            )
        };
        let minor_radius = root(0.0).y;
        // From the crest down to the root, whose lowest point occurs once per turn.
        let crest = DVec2::new(pitch / 16.0, major_radius);
        let flank_end = root(FRAC_PI_3);
        let upper = vec![
            crest,
            crest.lerp(flank_end, 0.5),
            flank_end,
            root(FRAC_PI_6),
        ];
        let mut profile = Profile::symmetric(pitch, upper, major_radius, minor_radius);
        profile
            .corners
            .insert(0, DVec2::new(-0.5 * pitch, minor_radius));
        profile
    }

    /// Builds the profile of a nut, everywhere `offset` \[m\] farther from the axis than the basic
    /// profile.
    pub(super) fn internal(diameter: f64, pitch: f64, offset: f64) -> Profile {
        let sharp_height = 0.75f64.sqrt() * pitch;
        let major_radius = 0.5 * diameter + offset;
        let minor_radius = major_radius - 0.625 * sharp_height;
        let groove = DVec2::new(pitch / 16.0, major_radius);
        let crest = DVec2::new(0.375 * pitch, minor_radius);
        let upper = vec![groove, groove.lerp(crest, 0.5), crest];
        Profile::symmetric(pitch, upper, major_radius, minor_radius)
    }

    fn symmetric(pitch: f64, upper: Vec<DVec2>, major_radius: f64, minor_radius: f64) -> Profile {
        let lower = upper
            .iter()
            .rev()
            .map(|corner| DVec2::new(-corner.x, corner.y));
        Profile {
            pitch,
            major_radius,
            minor_radius,
            corners: lower.chain(upper.iter().copied()).collect(),
        }
    }

    /// Returns the radial height of the ridge \[m\].
    pub(super) fn depth(&self) -> f64 {
        self.major_radius - self.minor_radius
    }

    /// Returns an upper bound of the number of faces of a thread of the given length.
    pub(super) fn faces(&self, length: f64, segments: u32) -> u64 {
        // Two surplus turns: one for the shear, one for the end rings.
        let turns = (length / self.pitch).ceil() + 2.0;
        let rows = turns * self.corners.len() as f64;
        (2.0 * rows * f64::from(segments)) as u64
    }
}

/// Side of the threaded surface that is solid.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    /// Bolt: faces point away from the axis.
    External,
    /// Nut: faces point towards the axis.
    Internal,
}

/// A vertex of one column: its row of the helix, and its index.
type ColumnVertex = (i64, u32);

/// Joins two horizontal rings by a threaded surface.
///
/// `shape(z, radius)` fades the profile's radius out near the rings. Each column of the grid (one
/// angle) holds the profile's corners at their own heights. Corner `k` of turn `t` is row
/// `t · corners + k` in every column, so neighbours share all rows except a few that the rings cut
/// off; those become single triangles.
pub(super) fn helical_band(
    surface: &mut Surface,
    profile: &Profile,
    [bottom, top]: [&[u32]; 2],
    side: Side,
    shape: impl Fn(f64, f64) -> f64,
) {
    let (Some(&first_below), Some(&first_above)) = (bottom.first(), top.first()) else {
        return;
    };
    let (lowest, highest) = (
        surface.position(first_below).z,
        surface.position(first_above).z,
    );
    // Corners nearer to a ring than this would create slivers; there the profile has faded out
    // anyway.
    let margin = profile.pitch / 64.0;
    let rows = profile.corners.len() as i64;
    let segments = bottom.len() as u32;

    // Vertices of one column: the bottom ring, the corners between the rings, the top ring.
    let column = |surface: &mut Surface, i: u32| -> Vec<ColumnVertex> {
        let theta = angle(i, segments);
        let lift = profile.pitch * theta / TAU;
        let first_turn = ((lowest - lift) / profile.pitch).floor() as i64 - 1;
        let last_turn = ((highest - lift) / profile.pitch).ceil() as i64 + 1;
        let mut vertices = vec![(i64::MIN, bottom[i as usize])];
        for turn in first_turn..=last_turn {
            for (k, corner) in profile.corners.iter().enumerate() {
                let z = profile.pitch * turn as f64 + lift + corner.x;
                if lowest + margin < z && z < highest - margin {
                    let vertex = surface.vertex(polar(shape(z, corner.y), theta, z));
                    vertices.push((turn * rows + k as i64, vertex));
                }
            }
        }
        vertices.push((i64::MAX, top[i as usize]));
        vertices
    };
    let mut columns: Vec<Vec<ColumnVertex>> = (0..segments).map(|i| column(surface, i)).collect();
    // After one revolution the helix has climbed one turn: turn t of column 0 is turn t − 1 here.
    let wrapped = columns[0].iter().map(|&(row, vertex)| match row {
        i64::MIN | i64::MAX => (row, vertex),
        _ => (row - rows, vertex),
    });
    columns.push(wrapped.collect());

    // Join neighbouring columns by merging their rows: a shared row gives two triangles, any other
    // row one.
    let mut face = |a: u32, b: u32, c: u32| match side {
        Side::External => surface.triangle(a, b, c),
        Side::Internal => surface.triangle(a, c, b),
    };
    for pair in columns.windows(2) {
        let (left, right) = (&pair[0], &pair[1]);
        let (mut l, mut r) = (0, 0);
        while l + 1 < left.len() || r + 1 < right.len() {
            let up_left = left.get(l + 1).map_or(i64::MAX, |v| v.0);
            let up_right = right.get(r + 1).map_or(i64::MAX, |v| v.0);
            if up_left <= up_right && l + 1 < left.len() {
                face(left[l].1, right[r].1, left[l + 1].1);
                l += 1;
                if up_left < up_right {
                    continue;
                }
            }
            if r + 1 < right.len() {
                face(left[l].1, right[r].1, right[r + 1].1);
                r += 1;
            }
        }
    }
}
