//! Where the methods put the contact of two cubes, beside the true centre of their contact region.
//!
//! Input: the number of poses of each case.
//! Output: a row for each case and method.
//! Cost: milliseconds for each pose.
//! Not for: motion, see `drop`.
//!
//! Torque is that of the contact's force about the region's centre, as a share of the force times
//! half an edge. Where a method returns several contacts, their mean counts: with equal forces it
//! is where they push.

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use touchfield::glam::{Quat, Vec2, Vec3};
use touchfield::narrow::{CollideSettings, ContactMethod, Contacts, Pair, Scratch, collide};
use touchfield::shape::Convex;
use touchfield::{Pose, Shape};

use super::{FINDERS, bad, method};
use crate::host::Stop;
use crate::random::Random;

/// Half an edge \[m\].
const HALF: f32 = 0.05;
/// Overlap of the cubes \[m\].
const OVERLAP: f32 = 1e-4;
/// Largest shift of the upper cube, as a share of an edge.
const SHIFT: f32 = 0.4;
/// Repetitions of each search that is timed.
const REPEATS: u32 = 10;

pub(super) struct Row {
    case: &'static str,
    contacts: &'static str,
    poses: u32,
    /// Contacts per pose.
    count: f64,
    /// Distance from the region's centre \[mm\].
    offset_mean: f64,
    offset_max: f64,
    /// Torque about the region's centre \[% of force times half an edge\].
    torque_mean: f64,
    torque_max: f64,
    /// Largest angle between the normal and the vertical \[degrees\].
    normal_max: f64,
    /// CPU time of a search \[µs\].
    micros: f64,
}

/// A pose of the upper cube, with the centre of the contact region.
struct Case {
    a_from_b: Pose,
    center: Vec3,
}

pub(super) fn table(poses: u32) -> Result<Vec<Row>, Stop> {
    let cube = Shape::convex(Convex::cuboid(Vec3::splat(HALF)).map_err(|error| bad(&error))?)
        .map_err(|error| bad(&error))?;
    let mut random = Random::new(1);
    let mut any = |most: f64| (most * (2.0 * random.unit() - 1.0)) as f32;
    let straight = vec![on_face(0.0, Vec2::ZERO)];
    let shifted = (0..poses).map(|_| {
        let most = f64::from(2.0 * HALF * SHIFT);
        on_face(0.0, Vec2::new(any(most), any(most)))
    });
    let shifted: Vec<Case> = shifted.collect();
    let turned = (0..poses).map(|_| {
        let most = f64::from(2.0 * HALF * SHIFT);
        on_face(any(3.0), Vec2::new(any(most), any(most)))
    });
    let turned: Vec<Case> = turned.collect();
    let edges: Vec<Case> = (0..poses).map(|_| on_edge(any(3.0))).collect();
    let cases = [
        ("face on face, straight", straight),
        ("face on face, shifted", shifted),
        ("face on face, shifted and turned", turned),
        ("edge on face, turned", edges),
    ];
    let mut rows = Vec::new();
    for (case, poses) in &cases {
        for finder in FINDERS {
            let method = method(finder, ContactMethod::Convex);
            rows.push(Row {
                case,
                contacts: finder.name(),
                ..row(&cube, poses, method)?
            });
        }
    }
    Ok(rows)
}

/// Returns the upper cube on a face of the lower one.
fn on_face(angle: f32, shift: Vec2) -> Case {
    let height = 2.0 * HALF - OVERLAP;
    let (sin, cos) = angle.sin_cos();
    let corner = |x: f32, y: f32| shift + HALF * Vec2::new(cos * x - sin * y, sin * x + cos * y);
    let square = [
        corner(-1.0, -1.0),
        corner(1.0, -1.0),
        corner(1.0, 1.0),
        corner(-1.0, 1.0),
    ];
    let center = centroid(&clipped(&square));
    Case {
        a_from_b: Pose {
            rotation: Quat::from_rotation_z(angle),
            translation: shift.extend(height),
        },
        center: center.extend(HALF - 0.5 * OVERLAP),
    }
}

/// Returns the upper cube on one of its edges, above the middle of the lower one.
fn on_edge(angle: f32) -> Case {
    let height = HALF + std::f32::consts::SQRT_2 * HALF - OVERLAP;
    let turn = Quat::from_rotation_z(angle) * Quat::from_rotation_y(std::f32::consts::FRAC_PI_4);
    Case {
        a_from_b: Pose {
            rotation: turn,
            translation: Vec3::new(0.0, 0.0, height),
        },
        center: Vec3::new(0.0, 0.0, HALF - 0.5 * OVERLAP),
    }
}

/// Returns a polygon cut to the upper face of the lower cube.
fn clipped(polygon: &[Vec2]) -> Vec<Vec2> {
    let mut polygon = polygon.to_vec();
    for side in [Vec2::X, Vec2::NEG_X, Vec2::Y, Vec2::NEG_Y] {
        let mut kept = Vec::with_capacity(polygon.len() + 1);
        for (index, &to) in polygon.iter().enumerate() {
            let from = polygon[(index + polygon.len() - 1) % polygon.len()];
            let (before, after) = (HALF - from.dot(side), HALF - to.dot(side));
            if (before < 0.0) != (after < 0.0) {
                kept.push(from + before / (before - after) * (to - from));
            }
            if after >= 0.0 {
                kept.push(to);
            }
        }
        polygon = kept;
    }
    polygon
}

/// Returns the centroid of the area of a convex polygon.
fn centroid(polygon: &[Vec2]) -> Vec2 {
    let first = polygon[0];
    let (mut area, mut moment) = (0.0, Vec2::ZERO);
    for corners in polygon.windows(2) {
        let twice = (corners[0] - first).perp_dot(corners[1] - first);
        area += twice;
        moment += twice / 3.0 * (first + corners[0] + corners[1]);
    }
    moment / area
}

fn row(cube: &Shape, cases: &[Case], method: ContactMethod) -> Result<Row, Stop> {
    let settings = CollideSettings {
        method,
        ..CollideSettings::default()
    };
    let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
    let mut row = Row {
        case: "",
        contacts: "",
        poses: cases.len() as u32,
        count: 0.0,
        offset_mean: 0.0,
        offset_max: 0.0,
        torque_mean: 0.0,
        torque_max: 0.0,
        normal_max: 0.0,
        micros: 0.0,
    };
    let each = 1.0 / cases.len() as f64;
    for case in cases {
        let pair = Pair {
            a: cube,
            b: cube,
            a_from_b: case.a_from_b,
        };
        let start = ThreadTime::now();
        for _ in 0..REPEATS {
            collide(&pair, &settings, &mut scratch, &mut out).map_err(|error| bad(&error))?;
        }
        row.micros += each * 1e6 * start.elapsed().as_secs_f64() / f64::from(REPEATS);
        let count = out.contacts.len();
        if count == 0 {
            return Err(Stop::Disagreement(format!(
                "{} found no contact between cubes that overlap",
                method.name()
            )));
        }
        row.count += each * count as f64;
        let points: Vec3 = out.contacts.iter().map(|contact| contact.point).sum();
        let normals: Vec3 = out.contacts.iter().map(|contact| contact.normal).sum();
        let arm = points / count as f32 - case.center;
        let normal = normals.normalize_or_zero();
        let offset = 1e3 * f64::from(arm.length());
        let torque = 1e2 * f64::from(arm.cross(normal).length() / HALF);
        row.offset_mean += each * offset;
        row.offset_max = row.offset_max.max(offset);
        row.torque_mean += each * torque;
        row.torque_max = row.torque_max.max(torque);
        let angle = f64::from(normal.angle_between(Vec3::Z)).to_degrees();
        row.normal_max = row.normal_max.max(angle);
    }
    Ok(row)
}

pub(super) const HEADINGS: [&str; 10] = [
    "case",
    "contacts",
    ">poses",
    ">a pose",
    ">off [mm]",
    ">at most [mm]",
    ">torque [%]",
    ">at most [%]",
    ">normal [°]",
    ">search [µs]",
];

pub(super) fn cells(rows: &[Row]) -> Vec<Vec<String>> {
    let cells = |row: &Row| {
        vec![
            row.case.to_owned(),
            row.contacts.to_owned(),
            row.poses.to_string(),
            format!("{:.1}", row.count),
            format!("{:.2}", row.offset_mean),
            format!("{:.2}", row.offset_max),
            format!("{:.1}", row.torque_mean),
            format!("{:.1}", row.torque_max),
            format!("{:.2}", row.normal_max),
            format!("{:.1}", row.micros),
        ]
    };
    rows.iter().map(cells).collect()
}

pub(super) fn csv(rows: &[Row]) -> String {
    super::csv(
        "case,contacts,poses,contacts_per_pose,offset_mm,offset_most_mm,torque_pct,torque_most_pct,normal_most_deg,search_us",
        &cells(rows),
    )
}

pub(super) fn json(rows: &[Row]) -> Vec<Value> {
    let object = |row: &Row| {
        json!({
            "case": row.case,
            "contacts": row.contacts,
            "poses": row.poses,
            "contacts_per_pose": row.count,
            "offset_mm": row.offset_mean,
            "offset_most_mm": row.offset_max,
            "torque_percent": row.torque_mean,
            "torque_most_percent": row.torque_max,
            "normal_most_degrees": row.normal_max,
            "search_us": row.micros,
        })
    };
    rows.iter().map(object).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_centre_of_a_shifted_square_is_that_of_the_common_rectangle() {
        let case = on_face(0.0, Vec2::new(0.02, -0.04));
        assert!((case.center.x - 0.01).abs() < 1e-7, "{}", case.center);
        assert!((case.center.y + 0.02).abs() < 1e-7, "{}", case.center);
        let turned = on_face(std::f32::consts::FRAC_PI_4, Vec2::ZERO);
        assert!(turned.center.truncate().length() < 1e-7);
    }
}
