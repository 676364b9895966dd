//! Vertices, rings and the bands between them: the building blocks of every model.
//!
//! Input: rings of vertices, counter-clockwise seen from the direction in which they follow one
//! another.
//! Output: a [`TriangleMesh`] whose faces point outward; [`GenerateError`] when a parameter is
//! invalid.
//! Cost: linear in the faces, which are counted and limited *before* memory is allocated.
//! Not for: meshes that come from files; those go through `validate` and `repair`.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use super::GenerateError;
use crate::mesh::TriangleMesh;

/// Largest number of faces of a model: about 600 MB of mesh, far beyond what a model needs.
pub const MAX_FACES: u64 = 1 << 24;

/// Range of valid lengths \[m\]: keeps areas and volumes well inside the range of `f64`.
pub const LENGTH_RANGE: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// Smallest height of a face as a fraction of the largest coordinate: some fifty ulps of it.
const FLATNESS: f64 = 1e-14;

/// A mesh under construction.
pub(super) struct Surface {
    model: &'static str,
    mesh: TriangleMesh,
}

impl Surface {
    /// Creates a surface with memory for `faces`, or returns an error when there are too many.
    pub(super) fn new(model: &'static str, faces: u64) -> Result<Surface, GenerateError> {
        Check(model).faces(faces)?;
        let mesh = TriangleMesh {
            vertices: Vec::with_capacity(faces as usize / 2 + 2),
            faces: Vec::with_capacity(faces as usize),
        };
        Ok(Surface { model, mesh })
    }

    pub(super) fn vertex(&mut self, position: DVec3) -> u32 {
        self.mesh.vertices.push(position);
        (self.mesh.vertices.len() - 1) as u32
    }

    pub(super) fn position(&self, vertex: u32) -> DVec3 {
        self.mesh.vertices[vertex as usize]
    }

    /// Adds vertices, and returns their indices in order.
    pub(super) fn ring(&mut self, positions: impl IntoIterator<Item = DVec3>) -> Vec<u32> {
        positions.into_iter().map(|p| self.vertex(p)).collect()
    }

    /// Adds a circle about the z axis with its first vertex at angle 0.
    pub(super) fn circle(&mut self, radius: f64, z: f64, segments: u32) -> Vec<u32> {
        self.ring((0..segments).map(|i| polar(radius, angle(i, segments), z)))
    }

    pub(super) fn triangle(&mut self, a: u32, b: u32, c: u32) {
        self.mesh.faces.push([a, b, c]);
    }

    /// Adds two triangles; the corners are counter-clockwise seen from outside.
    pub(super) fn quad(&mut self, a: u32, b: u32, c: u32, d: u32) {
        self.triangle(a, b, c);
        self.triangle(a, c, d);
    }

    /// Joins two rings of equal length; the faces point outward when the rings turn
    /// counter-clockwise seen from `upper`.
    pub(super) fn band(&mut self, lower: &[u32], upper: &[u32]) {
        let count = lower.len();
        for i in 0..count {
            let next = (i + 1) % count;
            self.quad(lower[i], lower[next], upper[next], upper[i]);
        }
    }

    /// Joins two rings as [`Self::band`] does, with the same diagonals but reversed faces: the
    /// inside of a thin wall.
    pub(super) fn inner_band(&mut self, lower: &[u32], upper: &[u32]) {
        let count = lower.len();
        for i in 0..count {
            let next = (i + 1) % count;
            self.quad(upper[next], lower[next], lower[i], upper[i]);
        }
    }

    /// Closes the surface below its first ring with a fan.
    pub(super) fn bottom_fan(&mut self, pole: u32, ring: &[u32]) {
        for i in 0..ring.len() {
            self.triangle(pole, ring[(i + 1) % ring.len()], ring[i]);
        }
    }

    /// Closes the surface above its last ring with a fan.
    pub(super) fn top_fan(&mut self, ring: &[u32], pole: u32) {
        for i in 0..ring.len() {
            self.triangle(ring[i], ring[(i + 1) % ring.len()], pole);
        }
    }

    /// Joins each ring of a sequence to the next.
    pub(super) fn loft(&mut self, rings: &[Vec<u32>]) {
        for pair in rings.windows(2) {
            self.band(&pair[0], &pair[1]);
        }
    }

    /// Joins each ring of a sequence to the next, and the last to the first.
    pub(super) fn loft_closed(&mut self, rings: &[Vec<u32>]) {
        self.loft(rings);
        if let (Some(first), Some(last)) = (rings.first(), rings.last()) {
            self.band(last, first);
        }
    }

    /// Revolves a profile of (radius, z) about the z axis. The profile starts and ends on the axis
    /// (radius 0) and has the solid on its left: up along the outside, back down along the inside
    /// of a hollow.
    pub(super) fn revolve(&mut self, profile: &[DVec2], segments: u32) {
        let [first, between @ .., last] = profile else {
            return;
        };
        let rings: Vec<_> = between
            .iter()
            .map(|point| self.circle(point.x, point.y, segments))
            .collect();
        let (bottom, top) = (
            self.vertex(DVec3::Z * first.y),
            self.vertex(DVec3::Z * last.y),
        );
        self.loft(&rings);
        if let (Some(lowest), Some(highest)) = (rings.first(), rings.last()) {
            self.bottom_fan(bottom, lowest);
            self.top_fan(highest, top);
        }
    }

    /// Returns the mesh, or an error if a face is so flat that rounding decides its orientation.
    pub(super) fn finish(self) -> Result<TriangleMesh, GenerateError> {
        let bounds = self.mesh.bounds();
        let reach = bounds.min.abs().max(bounds.max.abs()).max_element();
        let flat = self.mesh.triangles().position(|t| {
            let longest =
                t.a.distance(t.b)
                    .max(t.b.distance(t.c))
                    .max(t.c.distance(t.a));
            let height = 2.0 * t.area() / longest;
            // Also true for NaN, when all corners coincide.
            !height.is_finite() || height <= FLATNESS * reach
        });
        match flat {
            Some(face) => Err(GenerateError::FlatFace {
                model: self.model,
                face,
            }),
            None => Ok(self.mesh),
        }
    }
}

/// Returns the number of faces of a revolved profile of `points` (radius, z).
pub(super) fn revolved_faces(points: u64, segments: u32) -> u64 {
    u64::from(segments).saturating_mul(2 * points.saturating_sub(2))
}

/// Returns the angle of step `i` of `count` around a circle \[rad\].
pub(super) fn angle(i: u32, count: u32) -> f64 {
    TAU * f64::from(i) / f64::from(count)
}

/// Converts cylindrical coordinates to Cartesian ones.
pub(super) fn polar(radius: f64, angle: f64, z: f64) -> DVec3 {
    let (sin, cos) = angle.sin_cos();
    DVec3::new(radius * cos, radius * sin, z)
}

/// Checks the parameters of one model, given by name.
#[derive(Clone, Copy)]
pub(super) struct Check(pub(super) &'static str);

impl Check {
    /// Returns an error unless `holds`. `wanted` describes the valid range, and so the remedy.
    pub(super) fn require(
        self,
        holds: bool,
        parameter: &'static str,
        value: f64,
        wanted: impl Into<String>,
    ) -> Result<(), GenerateError> {
        if holds {
            return Ok(());
        }
        Err(GenerateError::OutOfRange {
            model: self.0,
            parameter,
            value,
            wanted: wanted.into(),
        })
    }

    /// Requires a length \[m\] in [`LENGTH_RANGE`].
    pub(super) fn length(self, parameter: &'static str, value: f64) -> Result<(), GenerateError> {
        let (least, most) = (LENGTH_RANGE.start(), LENGTH_RANGE.end());
        self.require(
            LENGTH_RANGE.contains(&value),
            parameter,
            value,
            format!("it must lie between {least:e} and {most:e} metres"),
        )
    }

    /// Requires a value below a strict limit that another parameter sets.
    pub(super) fn below(
        self,
        parameter: &'static str,
        value: f64,
        limit: f64,
        what: &str,
    ) -> Result<(), GenerateError> {
        self.require(
            value < limit,
            parameter,
            value,
            format!("it must be below {limit} ({what})"),
        )
    }

    /// Requires at most [`MAX_FACES`] faces.
    pub(super) fn faces(self, faces: u64) -> Result<(), GenerateError> {
        if faces <= MAX_FACES {
            return Ok(());
        }
        Err(GenerateError::TooManyFaces {
            model: self.0,
            faces,
            limit: MAX_FACES,
        })
    }

    /// Requires a count of at least `least`; the upper limit is [`MAX_FACES`].
    pub(super) fn count(
        self,
        parameter: &'static str,
        value: u32,
        least: u32,
    ) -> Result<(), GenerateError> {
        self.require(
            value >= least,
            parameter,
            f64::from(value),
            format!("it must be at least {least}"),
        )
    }
}
