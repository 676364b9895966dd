//! ISO metric bolt and nut with real threads.
//!
//! Input: a [`MetricSize`], lengths \[m\], the radial play between the two.
//! Output: closed meshes that screw into one another without overlap.
//! Cost: linear in the faces, most of them in the thread.
//! Not for: strength or tolerance classes; the play is one number.
//!
//! Both axes are z. The bolt's head lies below z = 0 and its tip points to +z; the nut is centred
//! on the origin. **Phase:** a nut rotated by φ about +z fits the bolt at `z = P · (φ/2π + k)` with
//! integer k; without rotation, that is any multiple of the pitch. Rotating it by a positive angle
//! moves it towards the tip (right-handed, lead = pitch). In these poses the radial gap between the
//! flanks is `clearance` if both are made with the same one (each gives half). Measured
//! perpendicular to a flank it is half of that, and the nut can shift along the axis by
//! ±`clearance · tan 30°`.

use std::f64::consts::{FRAC_PI_3, FRAC_PI_6};

use super::GenerateError;
use super::surface::{Check, Surface, angle, polar};
use super::thread::{MetricSize, Profile, Side, helical_band};
use crate::mesh::TriangleMesh;

/// Default play as a fraction of the pitch. For an M8 thread the result is within the 0.014 to
/// 0.153 mm (half the difference of the pitch diameters) that tolerance classes 6H/6g of ISO 965
/// leave.
const CLEARANCE_PER_PITCH: f64 = 0.08;

/// Largest play as a fraction of the pitch; beyond it the ridges barely engage.
const MAX_CLEARANCE_PER_PITCH: f64 = 0.25;

/// Diameter of the circle that the chamfer leaves on a hexagon's face, as a fraction of its width
/// across flats (ISO: d_w).
const FACE_CIRCLE: f64 = 0.95;

/// Parameters of a hexagon bolt, see [`bolt`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bolt {
    /// Size of thread and head.
    pub size: MetricSize,
    /// Length from under the head to the tip \[m\].
    pub length: f64,
    /// Length of the threaded part, from the tip \[m\].
    pub thread_length: f64,
    /// Radial play between this bolt and a nut of the same clearance \[m\].
    pub clearance: f64,
    /// Segments around the axis; a multiple of 6.
    pub segments: u32,
}

impl Bolt {
    /// Returns the parameters of a bolt about four diameters long, threaded over `2 d + 6 mm` as in
    /// ISO 4014.
    pub fn of_size(size: MetricSize) -> Bolt {
        // Rounded to whole 5 mm, like commercial lengths.
        let length = (4.0 * size.diameter() / 0.005).round() * 0.005;
        Bolt {
            size,
            length,
            thread_length: f64::min(2.0 * size.diameter() + 0.006, length),
            clearance: CLEARANCE_PER_PITCH * size.pitch(),
            segments: 96,
        }
    }
}

impl Default for Bolt {
    fn default() -> Bolt {
        Bolt::of_size(MetricSize::M8)
    }
}

/// Parameters of a hexagon nut, see [`nut`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nut {
    /// Size of thread and hexagon.
    pub size: MetricSize,
    /// Radial play between this nut and a bolt of the same clearance \[m\].
    pub clearance: f64,
    /// Segments around the axis; a multiple of 6.
    pub segments: u32,
}

impl Nut {
    /// Returns the parameters of a nut as in ISO 4032.
    pub fn of_size(size: MetricSize) -> Nut {
        Nut {
            size,
            clearance: CLEARANCE_PER_PITCH * size.pitch(),
            segments: 96,
        }
    }
}

impl Default for Nut {
    fn default() -> Nut {
        Nut::of_size(MetricSize::M8)
    }
}

/// Generates a bolt: chamfered hexagon head, plain shank, thread, chamfered tip.
pub fn bolt(parameters: Bolt) -> Result<TriangleMesh, GenerateError> {
    let Bolt {
        size,
        length,
        thread_length,
        clearance,
        segments,
    } = parameters;
    let check = Check("bolt");
    check_common(check, size, clearance, segments)?;
    let pitch = size.pitch();
    check.length("length", length)?;
    check.require(
        (3.0 * pitch..=length).contains(&thread_length),
        "thread_length",
        thread_length,
        format!(
            "it must lie between three pitches ({}) and `length` ({length})",
            3.0 * pitch
        ),
    )?;
    let most = 1000.0 * pitch;
    check.require(
        length <= most,
        "length",
        length,
        format!("it must be at most {most}, a thousand pitches"),
    )?;

    let profile = Profile::external(size.diameter(), pitch, 0.5 * clearance);
    // A difference that is only rounding does not count as a shank.
    let plain = length - thread_length;
    let shank = if plain > 1e-9 * length { plain } else { 0.0 };
    let shank_rows = (shank / (2.0 * pitch)).ceil() as u32;
    let rows = u64::from(shank_rows) + 6;
    let faces =
        rows.saturating_mul(2 * u64::from(segments)) + profile.faces(thread_length, segments);
    let mut surface = Surface::new("bolt", faces)?;

    // Head and shank, from the top of the head (at the bottom) upwards.
    let across_flats = size.across_flats();
    let head = -size.head_height();
    let mut rings = vec![
        surface.circle(0.5 * FACE_CIRCLE * across_flats, head, segments),
        hexagon(&mut surface, across_flats, segments, |chamfer| {
            head + chamfer
        }),
        hexagon(&mut surface, across_flats, segments, |_| 0.0),
        surface.circle(profile.major_radius, 0.0, segments),
    ];
    for row in 1..=shank_rows {
        let z = shank * f64::from(row) / f64::from(shank_rows);
        rings.push(surface.circle(profile.major_radius, z, segments));
    }
    surface.loft(&rings);
    let pole = surface.vertex(head * glam::DVec3::Z);
    surface.bottom_fan(pole, &rings[0]);

    // The thread fades into the shank within a pitch, and its ridge into the core on a 45° cone at
    // the tip.
    let chamfer = profile.depth();
    let flat_tip = 0.2 * chamfer;
    let thread_end = length - flat_tip;
    let root_ring = surface.circle(profile.minor_radius, thread_end, segments);
    let shank_ring = &rings[rings.len() - 1];
    helical_band(
        &mut surface,
        &profile,
        [shank_ring, &root_ring],
        Side::External,
        |z, radius| {
            let at_shank = f64::min((z - shank) / pitch, 1.0);
            let at_tip = f64::min((thread_end - z) / chamfer, 1.0);
            let cut = at_shank * (profile.major_radius - radius);
            let ridge = profile.depth() - cut;
            profile.minor_radius + at_tip * ridge
        },
    );
    let tip_ring = surface.circle(profile.minor_radius - flat_tip, length, segments);
    surface.band(&root_ring, &tip_ring);
    let tip = surface.vertex(length * glam::DVec3::Z);
    surface.top_fan(&tip_ring, tip);
    surface.finish()
}

/// Generates a nut: chamfered hexagon, threaded hole, countersunk at both faces.
pub fn nut(parameters: Nut) -> Result<TriangleMesh, GenerateError> {
    let Nut {
        size,
        clearance,
        segments,
    } = parameters;
    check_common(Check("nut"), size, clearance, segments)?;
    let profile = Profile::internal(size.diameter(), size.pitch(), 0.5 * clearance);
    let half = 0.5 * size.nut_height();
    let across_flats = size.across_flats();
    let faces = 14 * u64::from(segments) + profile.faces(2.0 * half, segments);
    let mut surface = Surface::new("nut", faces)?;

    // The countersink has an opening angle of 120°: its radius grows by √3 per unit of depth.
    let sink_depth = 0.1 * size.pitch();
    let sink_radius = profile.major_radius + 3.0f64.sqrt() * sink_depth;
    let face_radius = 0.5 * FACE_CIRCLE * across_flats;
    let thread_half = half - sink_depth;
    let rings = [
        surface.circle(profile.major_radius, -thread_half, segments),
        surface.circle(sink_radius, -half, segments),
        surface.circle(face_radius, -half, segments),
        hexagon(&mut surface, across_flats, segments, |chamfer| {
            -half + chamfer
        }),
        hexagon(&mut surface, across_flats, segments, |chamfer| {
            half - chamfer
        }),
        surface.circle(face_radius, half, segments),
        surface.circle(sink_radius, half, segments),
        surface.circle(profile.major_radius, thread_half, segments),
    ];
    surface.loft(&rings);

    // The same cone continues through the ridges until they have their full height.
    let fade = profile.depth() / 3.0f64.sqrt();
    helical_band(
        &mut surface,
        &profile,
        [&rings[0], &rings[7]],
        Side::Internal,
        |z, radius| {
            let grown = f64::min((thread_half - z.abs()) / fade, 1.0);
            profile.major_radius - grown * (profile.major_radius - radius)
        },
    );
    surface.finish()
}

fn check_common(
    check: Check,
    size: MetricSize,
    clearance: f64,
    segments: u32,
) -> Result<(), GenerateError> {
    let most = MAX_CLEARANCE_PER_PITCH * size.pitch();
    check.require(
        (0.0..=most).contains(&clearance),
        "clearance",
        clearance,
        format!("it must lie between 0 and {most}, a quarter of the pitch"),
    )?;
    check.require(
        segments >= 24 && segments.is_multiple_of(6),
        "segments",
        segments.into(),
        "it must be a multiple of 6, at least 24, so that corners of the hexagon are vertices",
    )
}

/// Adds a ring around a hexagon with a corner at angle 0. `z` maps the depth of its 30° chamfer at
/// a vertex to the height of that vertex \[m\].
fn hexagon(
    surface: &mut Surface,
    across_flats: f64,
    segments: u32,
    z: impl Fn(f64) -> f64,
) -> Vec<u32> {
    surface.ring((0..segments).map(|i| {
        let theta = angle(i, segments);
        let from_flat = angle(i % (segments / 6), segments) - 0.5 * FRAC_PI_3;
        let radius = 0.5 * across_flats / from_flat.cos();
        let chamfer = (radius - 0.5 * FACE_CIRCLE * across_flats) * FRAC_PI_6.tan();
        polar(radius, theta, z(chamfer))
    }))
}
