//! What commands do on a GPU.

use glam::Vec3;
use touchfield::Sample;
use touchfield::shape::Shape;
use touchfield_gpu::{self as gpu, FARTHEST, GpuError, GpuSettings, Shapes, View, ViewBody};

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
