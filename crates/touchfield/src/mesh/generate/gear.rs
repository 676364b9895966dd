//! Involute spur gear.
//!
//! Input: module, number of teeth, pressure angle, width and bore.
//! Output: a closed mesh about the z axis, a tooth centred on +x.
//! Cost: linear in the faces.
//! Not for: profile shift, helical teeth, or the true trochoid of a hobbed root.
//!
//! After ISO 53 (addendum 1 · m, dedendum 1.25 · m) and ISO 21771: at radius ρ a tooth extends
//! `ψ(ρ) = π/(2 z) + inv α − inv α_ρ` to either side of its middle, with `cos α_ρ = r_b / ρ` and
//! `inv x = tan x − x`. Below the base circle, where there is no involute, a short curve widens the
//! foot down to the root circle.

use std::f64::consts::{PI, TAU};

use glam::DVec2;

use super::GenerateError;
use super::surface::{Check, Surface};
use crate::mesh::TriangleMesh;

/// Parameters of a spur gear, see [`gear`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gear {
    /// Pitch diameter per tooth \[m\].
    pub module: f64,
    /// Number of teeth.
    pub teeth: u32,
    /// Pressure angle \[rad\].
    pub pressure_angle: f64,
    /// Difference between half the pitch and the thickness of a tooth, along the pitch circle
    /// \[m\].
    pub backlash: f64,
    /// Width along the axis \[m\].
    pub width: f64,
    /// Radius of the bore \[m\].
    pub bore_radius: f64,
    /// Segments along each flank, tip and root.
    pub segments: u32,
}

impl Default for Gear {
    fn default() -> Gear {
        Gear {
            module: 0.002,
            teeth: 24,
            pressure_angle: 20.0 * PI / 180.0,
            backlash: 0.0001,
            width: 0.01,
            bore_radius: 0.005,
            segments: 8,
        }
    }
}

/// Computes `inv α = tan α − α`, the angle that an involute has turned at pressure angle α \[rad\].
fn involute(pressure_angle: f64) -> f64 {
    pressure_angle.tan() - pressure_angle
}

/// Generates an involute spur gear with a bore.
pub fn gear(parameters: Gear) -> Result<TriangleMesh, GenerateError> {
    let outline = outline(parameters)?;
    let Gear {
        width, bore_radius, ..
    } = parameters;
    let mut surface = Surface::new("gear", 8 * outline.len() as u64)?;
    // Bore and outline share their angles, so the faces are cut into radial strips that cannot
    // cross.
    let half = 0.5 * width;
    let mut ring = |on_bore: bool, z: f64| {
        surface.ring(outline.iter().map(|point| {
            let scale = if on_bore {
                bore_radius / point.length()
            } else {
                1.0
            };
            (*point * scale).extend(z)
        }))
    };
    let rings = [
        ring(true, -half),
        ring(false, -half),
        ring(false, half),
        ring(true, half),
    ];
    surface.loft_closed(&rings);
    surface.finish()
}

/// Returns the outline of all teeth, counter-clockwise, each point at a greater angle than the one
/// before.
fn outline(gear: Gear) -> Result<Vec<DVec2>, GenerateError> {
    let check = Check("gear");
    check.length("module", gear.module)?;
    check.length("width", gear.width)?;
    check.length("bore_radius", gear.bore_radius)?;
    check.count("teeth", gear.teeth, 6)?;
    check.count("segments", gear.segments, 2)?;
    let angled = (0.1..=0.6).contains(&gear.pressure_angle);
    check.require(
        angled,
        "pressure_angle",
        gear.pressure_angle,
        "it must lie between 0.1 and 0.6 radians (20° is 0.349)",
    )?;
    let most_backlash = 0.5 * gear.module;
    check.require(
        (0.0..=most_backlash).contains(&gear.backlash),
        "backlash",
        gear.backlash,
        format!("it must lie between 0 and half the module ({most_backlash})"),
    )?;
    let faces = u64::from(gear.teeth).saturating_mul(8 * 5 * u64::from(gear.segments));
    check.faces(faces)?;

    // Radii of the circles, and checks that the teeth have a tip and a gap between them.
    let pitch_radius = 0.5 * gear.module * f64::from(gear.teeth);
    let base_radius = pitch_radius * gear.pressure_angle.cos();
    let tip_radius = pitch_radius + gear.module;
    let root_radius = pitch_radius - 1.25 * gear.module;
    check.below(
        "bore_radius",
        gear.bore_radius,
        0.95 * root_radius,
        "the root circle less 5 %",
    )?;
    let half_pitch = PI / f64::from(gear.teeth);
    let half_tooth = |radius: f64| {
        let at_radius = f64::min(base_radius / radius, 1.0).acos();
        0.5 * (half_pitch - gear.backlash / pitch_radius) + involute(gear.pressure_angle)
            - involute(at_radius)
    };
    let flank_foot = root_radius.max(base_radius);
    check.require(
        half_tooth(tip_radius) > 0.02 * half_pitch,
        "pressure_angle",
        gear.pressure_angle,
        "the teeth would be pointed: lower it, or use more teeth",
    )?;
    let gap = half_pitch - half_tooth(flank_foot);
    check.require(
        gap > 0.02 * half_pitch,
        "teeth",
        gear.teeth.into(),
        "the feet of the teeth would meet: use more teeth or more backlash",
    )?;

    // Half a tooth, from the middle of its tip to the middle of the gap, as (angle, radius).
    let steps = |count: u32| (1..=count).map(move |i| f64::from(i) / f64::from(count));
    let mut half: Vec<(f64, f64)> = Vec::new();
    let tip = half_tooth(tip_radius);
    half.extend(steps(gear.segments.div_ceil(2)).map(|t| (t * tip, tip_radius)));
    half.extend(steps(gear.segments).map(|t| {
        let radius = tip_radius + t * (flank_foot - tip_radius);
        (half_tooth(radius), radius)
    }));
    let mut foot = half_tooth(flank_foot);
    if root_radius < base_radius {
        let widening = f64::min(0.3 * gear.module / root_radius, 0.4 * gap);
        let depth = flank_foot - root_radius;
        half.extend(
            steps(gear.segments.div_ceil(2))
                .map(|t| (foot + widening * t * t, flank_foot - depth * t)),
        );
        foot += widening;
    }
    // The middle of the gap belongs to the next tooth.
    let root = gear.segments.div_ceil(2);
    half.extend(steps(root).map(|t| (foot + t * (half_pitch - foot), root_radius)));

    // Mirror the half tooth, and repeat the tooth around the gear.
    let mut outline = Vec::with_capacity(gear.teeth as usize * (2 * half.len() + 1));
    for tooth in 0..gear.teeth {
        let middle = TAU * f64::from(tooth) / f64::from(gear.teeth);
        let mut point = |angle: f64, radius: f64| {
            outline.push(radius * DVec2::from_angle(middle + angle));
        };
        for &(angle, radius) in half.iter().rev() {
            point(-angle, radius);
        }
        point(0.0, tip_radius);
        for &(angle, radius) in &half[..half.len() - 1] {
            point(angle, radius);
        }
    }
    Ok(outline)
}
