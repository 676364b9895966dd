//! Pictures by sphere tracing on the device: the light through positions of a picture.
//!
//! Input: shapes, a [`View`] of them, positions on the picture.
//! Output: linear light, and the body that it comes from.
//! Cost: one thread per position, each with some fifty samples.
//! Not for: what a picture is framed and coloured like, which the picture crate decides.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3, Vec4};
use touchfield::Pose;

use crate::error::GpuError;
use crate::kernel::Recorder;
use crate::memory::{Room, uniform};
use crate::upload::Shapes;

/// A camera, a light and a ground, in the frame of the scene \[m\].
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Position of the camera.
    pub origin: Vec3,
    /// Unit vector to the right of the picture.
    pub right: Vec3,
    /// Unit vector to its top.
    pub up: Vec3,
    /// Unit vector into it.
    pub forward: Vec3,
    /// Width of a pixel at distance 1.
    pub pixel: f32,
    /// Centre of the picture \[px\].
    pub center: Vec2,
    /// Height of the picture \[px\].
    pub height: f32,
    /// Unit vector to the light.
    pub to_light: Vec3,
    /// Diagonal of the box around all bodies \[m\].
    pub size: f32,
    /// Position of the world's origin.
    pub scene_from_world: Vec3,
    /// Distance between the lines on the ground \[m\].
    pub grid_step: f32,
    /// Height of the ground, if there is one \[m\].
    pub ground: Option<f32>,
    /// The bodies; the body of each index is the shape of that number.
    pub bodies: Vec<ViewBody>,
}

/// A body of a [`View`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewBody {
    /// Ends of the box of its field \[m\].
    pub low: Vec3,
    /// The other end of the box \[m\].
    pub high: Vec3,
    /// Error bound of its field \[m\].
    pub error: f32,
    /// Pose of the scene in the frame of its field.
    pub field_from_scene: Pose,
    /// Reflected share of linear light.
    pub albedo: Vec3,
    /// Minimum length over which normals are computed \[m\].
    pub smoothing: f32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ViewWords {
    origin: Vec4,
    right: Vec4,
    up: Vec4,
    forward: Vec4,
    to_light: Vec4,
    scene_from_world: Vec4,
    ground: Vec2,
    bodies: u32,
    places: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct BodyWords {
    low: Vec3,
    smoothing: f32,
    high: Vec3,
    error: f32,
    albedo: Vec3,
    shape: u32,
    rotation: [f32; 4],
    translation: Vec3,
    spare: u32,
}

/// Positions per submission: a driver may stop work that takes too long.
const BATCH: usize = 1 << 16;

impl Shapes {
    /// Computes the light through positions of a picture \[px\], and the index of the body that it
    /// comes from; 65,535 for the backdrop.
    pub fn shade(&self, view: &View, places: &[Vec2]) -> Result<Vec<(Vec3, u16)>, GpuError> {
        if view.bodies.len() != self.len() {
            return Err(GpuError::NoSuchShape {
                index: view.bodies.len(),
                count: self.len(),
            });
        }
        let gpu = self.gpu();
        let (name, source) = self.source("shade", include_str!("shaders/render.wgsl"));
        let kernel = gpu.kernel(&name, "shade", || source)?;
        let bodies: Vec<BodyWords> = (view.bodies.iter().enumerate())
            .map(|(index, body)| BodyWords {
                low: body.low,
                smoothing: body.smoothing,
                high: body.high,
                error: body.error,
                albedo: body.albedo,
                shape: index as u32,
                rotation: body.field_from_scene.rotation.to_array(),
                translation: body.field_from_scene.translation,
                spare: 0,
            })
            .collect();
        let (mut body_room, mut place_room) = (Room::new("bodies"), Room::new("positions"));
        let mut lit_room = Room::new("light");
        let bodies = body_room.fill(gpu, &bodies)?;
        let mut lit = Vec::with_capacity(places.len());
        for places in places.chunks(BATCH) {
            let words = ViewWords {
                origin: view.origin.extend(view.pixel),
                right: view.right.extend(view.center.x),
                up: view.up.extend(view.center.y),
                forward: view.forward.extend(view.height),
                to_light: view.to_light.extend(view.size),
                scene_from_world: view.scene_from_world.extend(view.grid_step),
                ground: Vec2::new(
                    view.ground.unwrap_or(0.0),
                    if view.ground.is_some() { 1.0 } else { 0.0 },
                ),
                bodies: view.bodies.len() as u32,
                places: places.len() as u32,
            };
            let words = uniform(gpu, &words)?;
            let given = place_room.fill(gpu, places)?;
            let found = lit_room.reserve(gpu, 16 * places.len() as u64)?;
            let mut recorder = Recorder::new(gpu)?;
            let buffers = [&words, bodies, given, found];
            recorder.run(&kernel, Some(self), &buffers, places.len() as u64);
            recorder.read::<[f32; 4]>(found, places.len() as u64)?;
            let found: Vec<[f32; 4]> = recorder.submit()?.next()?;
            lit.extend(
                found
                    .iter()
                    .map(|&[r, g, b, body]| (Vec3::new(r, g, b), body.to_bits() as u16)),
            );
        }
        Ok(lit)
    }
}
