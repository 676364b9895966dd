//! The GPU of a binary that was built without the feature `gpu`: there is none.

use std::path::Path;

use glam::Vec3;
use touchfield::bake::{BakeSettings, Baked, FieldKind, Progress};
use touchfield::field::StoredField;
use touchfield::mesh::TriangleMesh;
use touchfield::shape::Shape;
use touchfield::{Pose, Sample};

use super::Listed;
use crate::failure::Failure;
use crate::picture::{Canvas, ContactMark, RenderBody, RenderSettings};

/// No value of this type exists.
pub(crate) enum Gpu {}

impl Gpu {
    pub(crate) const WHY_NONE: &'static str = "this binary was built without GPUs; build it with `cargo build --release -p touchfield-cli --features gpu`";

    pub(crate) fn open(_: Option<&str>) -> Result<Gpu, Failure> {
        Err(Failure::BadInput(Gpu::WHY_NONE.to_owned()))
    }

    pub(crate) fn name(&self) -> String {
        match *self {}
    }

    pub(crate) fn sample(&self, _: &Shape, _: &[Vec3]) -> Result<Vec<Sample>, Failure> {
        match *self {}
    }

    pub(crate) fn count_contacts(
        &self,
        _: [&Shape; 2],
        _: &[Pose],
        _: f32,
    ) -> Result<Vec<u32>, Failure> {
        match *self {}
    }

    pub(crate) fn bake(
        &self,
        _: &Path,
        _: &TriangleMesh,
        _: &BakeSettings,
        _: &FieldKind,
        _: Progress<'_>,
    ) -> Result<Baked<StoredField>, Failure> {
        match *self {}
    }

    pub(crate) fn render(
        &self,
        _: &[RenderBody],
        _: &[Shape],
        _: &[ContactMark],
        _: &RenderSettings,
    ) -> Result<Canvas, Failure> {
        match *self {}
    }
}

pub(crate) fn list() -> Vec<Listed> {
    Vec::new()
}
