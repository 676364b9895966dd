//! Several moments of a simulation beside each other.
//!
//! Input: a world and its rows. Output: `strip.png`.
//! Cost: one render per moment. Not for: motion between the moments, see `scene.glb`.

use std::path::Path;

use glam::{DQuat, DVec3, Vec3};
use touchfield::field::primitive::Cuboid;
use touchfield::geom::DAabb;
use touchfield_dynamics::Frame;
use touchfield_dynamics::scene::Built;

use crate::commands::scene::trajectory::{Trajectory, world_box};
use crate::failure::Failure;
use crate::picture::{self, Canvas, PALETTE, RenderBody, RenderSettings, Rgb, sheet, write_png};

/// Moments, and how many of them are in a row.
const MOMENTS: usize = 6;
const COLUMNS: usize = 3;

/// Columns and rows of each moment.
const SIZE: (u32, u32) = (560, 420);

/// Colour of half-spaces.
pub(super) const GROUND: Rgb = [206, 208, 212];
/// Colour of bodies that forces do not move.
pub(super) const FIXED: Rgb = [150, 156, 164];

/// Returns the colour of a body.
pub(super) fn colour(built: &Built, body: usize) -> Rgb {
    let body_settings = &built.world.bodies()[body];
    if body_settings.geometry().as_half_space().is_some() {
        return GROUND;
    }
    match body_settings.settings().moves {
        touchfield_dynamics::Moves::Never => FIXED,
        // The last colour of the palette is that of fixed bodies.
        _ => PALETTE[body % (PALETTE.len() - 1)],
    }
}

pub(super) fn write(path: &Path, built: &Built, rows: &Trajectory) -> Result<(), Failure> {
    let last = rows.rows().saturating_sub(1);
    let mut moments: Vec<usize> = (0..MOMENTS)
        .map(|place| place * last / (MOMENTS - 1))
        .collect();
    moments.dedup();
    let shown = shown_box(built, rows, &moments);
    let center = shown.center();
    let ground = Cuboid::new(Vec3::new(1.0, 1.0, 0.02) * shown.diagonal() as f32)
        .map_err(|error| Failure::BadInput(error.to_string()))?;
    let settings = RenderSettings {
        width: SIZE.0,
        height: SIZE.1,
        elevation: 0.3,
        ground: false,
        frame: Some(touchfield::geom::Aabb::new(
            (shown.min - center).as_vec3(),
            (shown.max - center).as_vec3(),
        )),
        ..RenderSettings::default()
    };
    let mut pictures = Vec::new();
    for &row in &moments {
        let mut bodies = Vec::new();
        for (index, body) in built.world.bodies().iter().enumerate() {
            let pose = rows.pose(row, index);
            let shape = body.geometry().shape();
            let (field, pose) = match body.geometry().as_half_space() {
                Some(normal) => (
                    &ground as &dyn touchfield::Field,
                    under(&pose, normal.as_dvec3(), center, 0.02 * shown.diagonal()),
                ),
                None => (
                    shape.field(),
                    Frame {
                        rotation: pose.rotation,
                        translation: pose.point(built.origins[index]),
                    },
                ),
            };
            // What is far outside makes the picture of the rest no better.
            let near = shown.grown(4.0 * shown.diagonal());
            if !near.contains(pose.translation) {
                continue;
            }
            bodies.push(RenderBody {
                field,
                world_from_field: Frame {
                    translation: pose.translation - center,
                    ..pose
                }
                .to_pose(),
                colour: colour(built, index),
                smoothing: match shape.as_stored() {
                    Some(_) => shape.cell_size(),
                    None => 0.0,
                },
            });
        }
        pictures.push(picture::render(&bodies, &[], &settings)?);
    }
    let captions: Vec<String> = (moments.iter())
        .map(|&row| format!("{:.3} s", rows.time[row]))
        .collect();
    let captioned: Vec<(&Canvas, &str)> = (pictures.iter())
        .zip(captions.iter().map(String::as_str))
        .collect();
    write_png(&sheet(&captioned, COLUMNS)?, path)?;
    Ok(())
}

/// Returns a box that holds the bodies that move, at the given rows; a body that falls for ever is
/// held as far as its start.
fn shown_box(built: &Built, rows: &Trajectory, moments: &[usize]) -> DAabb {
    let bodies = built.world.bodies();
    let of = |row: usize| {
        let boxes =
            (0..bodies.len()).filter_map(|body| world_box(built, body, &rows.pose(row, body)));
        boxes.fold(DAabb::EMPTY, DAabb::union)
    };
    let start = moments.first().map_or(DAabb::EMPTY, |&row| of(row));
    let all = moments.iter().map(|&row| of(row)).fold(start, DAabb::union);
    let near = start.grown(1.5 * start.diagonal());
    match start.is_empty() {
        true => DAabb::new(DVec3::NEG_ONE, DVec3::ONE),
        false => all.intersection(near),
    }
}

/// Returns the pose of a slab, this thick by half, whose top lies in the plane of a half-space
/// under `over`.
fn under(half_space: &Frame, normal: DVec3, over: DVec3, half: f64) -> Frame {
    let local = half_space.to_inner(over);
    let on_plane = local - local.dot(normal) * normal;
    Frame {
        rotation: half_space.rotation * DQuat::from_rotation_arc(DVec3::Z, normal),
        translation: half_space.point(on_plane - half * normal),
    }
}
