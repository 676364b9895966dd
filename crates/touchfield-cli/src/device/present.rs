//! What commands do on a GPU.

use std::path::Path;

use glam::Vec3;
use touchfield::bake::{BakeSettings, Baked, FieldKind, Progress};
use touchfield::field::StoredField;
use touchfield::mesh::TriangleMesh;
use touchfield::shape::Shape;
use touchfield::{Pose, Sample};
use touchfield_gpu::{
    self as gpu, DevicePair, FARTHEST, GpuBakeError, GpuError, GpuSettings, Shapes, ShellQuery,
    ShellSettings, View, ViewBody,
};

use super::Listed;
use crate::failure::Failure;
use crate::picture::{self, Canvas, ContactMark, RenderBody, RenderSettings, SceneView};

/// An open GPU.
pub(crate) struct Gpu(gpu::Gpu);

impl Gpu {
    pub(crate) const WHY_NONE: &'static str =
        "no GPU was found; the CPU does everything (is a driver for Vulkan missing?)";

    pub(crate) fn open(adapter: Option<&str>) -> Result<Gpu, Failure> {
        let settings = GpuSettings {
            adapter: adapter.map(str::to_owned),
            ..GpuSettings::default()
        };
        Ok(Gpu(gpu::Gpu::open(&settings)?))
    }

    pub(crate) fn name(&self) -> String {
        self.0.adapter().name.clone()
    }

    /// Samples the field of a shape at points of its frame. The CPU computes those that are not
    /// finite or too far away for a device.
    pub(crate) fn sample(&self, shape: &Shape, points: &[Vec3]) -> Result<Vec<Sample>, Failure> {
        let is_near = |point: Vec3| point.is_finite() && point.abs().max_element() <= FARTHEST;
        let near: Vec<Vec3> = (points.iter())
            .map(|&point| if is_near(point) { point } else { Vec3::ZERO })
            .collect();
        let mut samples = Shapes::upload(&self.0, &[shape])?.sample(0, &near)?;
        for (sample, &point) in samples.iter_mut().zip(points) {
            if !is_near(point) {
                *sample = shape.field().sample(point);
            }
        }
        Ok(samples)
    }

    /// Counts the contacts of two shapes at many poses: the shell points of the finer one within
    /// `max_separation` \[m\] of the other body.
    pub(crate) fn count_contacts(
        &self,
        [a, b]: [&Shape; 2],
        a_from_b: &[Pose],
        max_separation: f32,
    ) -> Result<Vec<u32>, Failure> {
        let shapes = Shapes::upload(&self.0, &[a, b])?;
        let pairs: Vec<DevicePair> = (a_from_b.iter())
            .map(|&a_from_b| DevicePair {
                a: 0,
                b: 1,
                a_from_b,
            })
            .collect();
        let settings = ShellSettings {
            max_separation,
            ..ShellSettings::default()
        };
        let found = ShellQuery::default().contacts(&shapes, &pairs, &settings)?;
        let first = &found.found.first;
        Ok(first.windows(2).map(|ends| ends[1] - ends[0]).collect())
    }

    /// Bakes a mesh, the nearest faces searched on the device.
    pub(crate) fn bake(
        &self,
        path: &Path,
        mesh: &TriangleMesh,
        settings: &BakeSettings,
        kind: &FieldKind,
        progress: Progress<'_>,
    ) -> Result<Baked<StoredField>, Failure> {
        match gpu::bake(&self.0, mesh, settings, kind, progress) {
            Ok((baked, _)) => Ok(baked),
            Err(GpuBakeError::Gpu(error)) => Err(error.into()),
            Err(GpuBakeError::Bake(error)) => Err(Failure::of_bake(path, &error, settings)),
            Err(error @ GpuBakeError::InvalidFace { .. }) => Err(Failure::in_file(path, error)),
            Err(error @ GpuBakeError::OnlyOnCpu) => Err(Failure::BadInput(format!(
                "{error}; leave out --device gpu"
            ))),
        }
    }

    /// Draws bodies, the light computed on the device; the shapes are those of the bodies.
    pub(crate) fn render(
        &self,
        bodies: &[RenderBody],
        shapes: &[Shape],
        contacts: &[ContactMark],
        settings: &RenderSettings,
    ) -> Result<Canvas, Failure> {
        let shapes: Vec<&Shape> = shapes.iter().collect();
        let uploaded = Shapes::upload(&self.0, &shapes)?;
        picture::render_with(bodies, contacts, settings, |view, places| {
            Ok(uploaded.shade(&device_view(view), places)?)
        })
    }
}

fn device_view(view: &SceneView) -> View {
    let [right, up, forward] = view.axes;
    let bodies = view.bodies.iter().map(|body| ViewBody {
        low: body.field.bounds().min,
        high: body.field.bounds().max,
        error: body.field.error_bound(),
        field_from_scene: body.field_from_scene,
        albedo: body.albedo,
        smoothing: body.smoothing,
    });
    View {
        bodies: bodies.collect(),
        origin: view.origin,
        right,
        up,
        forward,
        pixel: view.pixel,
        center: view.center,
        height: view.height,
        to_light: view.to_light,
        size: view.size,
        scene_from_world: view.scene_from_world,
        grid_step: view.grid_step,
        ground: view.ground,
    }
}

impl From<GpuError> for Failure {
    fn from(error: GpuError) -> Failure {
        let message = error.to_string();
        match error {
            GpuError::TooLarge { .. } | GpuError::OutOfMemory { .. } => Failure::Limit(message),
            _ => Failure::BadInput(message),
        }
    }
}

pub(crate) fn list() -> Vec<Listed> {
    let found = gpu::adapters().into_iter();
    found
        .map(|adapter| Listed {
            name: adapter.name,
            backend: adapter.backend,
            kind: adapter.kind.name(),
            f16: adapter.f16,
            timestamps: adapter.timestamps,
            max_binding_bytes: adapter.max_binding_bytes,
        })
        .collect()
}
