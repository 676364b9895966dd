//! Chords through triangles: exact, independent of any grid.
//!
//! Input: a closed surface.
//! Output: chords, and places spread over the surface.
//! Cost: a traversal of the tree of boxes per ray.
//! Not for: surfaces with borders, which have no inside.

use glam::DVec3;

use super::{Chord, Chords, Place};
use crate::geom::Random;
use crate::shape::Surface;

/// Minimum number of places, distributed by area; in meshes with fewer triangles every triangle
/// gets one more.
const PLACES: usize = 4096;

/// Fraction of the size within which a ray still hits the face that it starts on: far above the
/// rounding of `f64`, far below [`LEAST`].
const AT_START: f64 = 1e-9;

/// Fraction of the size that is the minimum thickness of a wall. Coordinates are `f32`: less is
/// rounding error, more misses foils.
const LEAST: f64 = 1e-5;

/// A closed surface in which chords are measured.
pub(in crate::shape) struct SurfaceChords<'a> {
    surface: &'a Surface,
    /// 1, or −1 if the triangles face inward.
    turned: f64,
    at_start: f64,
}

impl<'a> SurfaceChords<'a> {
    /// Creates the measurement; `None` if the surface has a border or encloses no volume.
    pub(in crate::shape) fn new(surface: &'a Surface) -> Option<SurfaceChords<'a>> {
        surface.closed_parts()?;
        let volume: f64 = (0..surface.triangles().len() as u32)
            .map(|triangle| {
                let [a, b, c] = surface.corners(triangle).map(|corner| corner.as_dvec3());
                a.dot(b.cross(c))
            })
            .sum();
        let size = f64::from(surface.nodes().first()?.bounds.diagonal());
        (volume != 0.0).then_some(SurfaceChords {
            surface,
            turned: volume.signum(),
            at_start: AT_START * size,
        })
    }

    /// Returns places all over the surface, distributed by area; the same on every run.
    pub(in crate::shape) fn places(&self) -> Vec<Place> {
        let surface = self.surface;
        let count = surface.triangles().len() as u32;
        let double_area = |triangle: u32| self.area_vector(triangle).length();
        let whole: f64 = (0..count).map(double_area).sum();
        let mut random = Random::new(0);
        let mut places = Vec::with_capacity(PLACES + surface.triangles().len().min(PLACES));
        let mut passed = 0.0;
        for triangle in 0..count {
            let before = (passed / whole * PLACES as f64) as usize;
            passed += double_area(triangle);
            let mut number = (passed / whole * PLACES as f64) as usize - before;
            if (count as usize) < PLACES {
                number += 1;
            }
            for _ in 0..number {
                places.extend(self.place_on(triangle, random.unit(), random.unit()));
            }
        }
        places
    }

    fn place_on(&self, triangle: u32, u: f64, v: f64) -> Option<Place> {
        let [a, b, c] = (self.surface.corners(triangle)).map(|corner| corner.as_dvec3());
        let (u, v) = if u + v > 1.0 {
            (1.0 - u, 1.0 - v)
        } else {
            (u, v)
        };
        Some(Place {
            at: a + u * (b - a) + v * (c - a),
            outward: self.outward(triangle)?,
        })
    }

    fn area_vector(&self, triangle: u32) -> DVec3 {
        let [a, b, c] = (self.surface.corners(triangle)).map(|corner| corner.as_dvec3());
        (b - a).cross(c - a)
    }

    fn outward(&self, triangle: u32) -> Option<DVec3> {
        Some(self.turned * self.area_vector(triangle).try_normalize()?)
    }

    /// Returns the triangles hit by a ray from a place, in order: distance and index.
    fn met(&self, from: DVec3, along: DVec3) -> Vec<(f64, u32)> {
        let mut met = Vec::new();
        self.surface
            .each_crossing(from, along, |distance, triangle| {
                if distance > self.at_start {
                    met.push((distance, triangle));
                }
            });
        met.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        met
    }
}

impl Chords for SurfaceChords<'_> {
    fn chord(&self, Place { at, outward }: Place) -> Option<Chord> {
        // A face inside another overlapping part of the solid is not on its surface: outside,
        // nothing may enclose the place.
        let leaves = |triangle: u32, along: DVec3| -> i32 {
            let out = self.turned * self.area_vector(triangle).dot(along);
            if out > 0.0 { 1 } else { -1 }
        };
        let around: i32 = (self.met(at, outward).iter())
            .map(|&(_, triangle)| leaves(triangle, outward))
            .sum();
        if around != 0 {
            return None;
        }
        // Number of parts that enclose the place, updated from face to face.
        let mut inside = 1;
        for (length, triangle) in self.met(at, -outward) {
            inside -= leaves(triangle, -outward);
            if inside <= 0 {
                return Some(Chord {
                    length,
                    opposite: -self.outward(triangle)?.dot(outward),
                    is_resolved: true,
                });
            }
        }
        None
    }

    fn nearest(&self, point: DVec3) -> Option<Place> {
        let (triangle, at) = self.surface.nearest_triangle(point)?;
        Some(Place {
            at,
            outward: self.outward(triangle)?,
        })
    }

    fn least(&self) -> f64 {
        LEAST / AT_START * self.at_start
    }

    fn blind_reach(&self) -> f64 {
        0.0
    }

    fn unresolved(&self) -> f64 {
        0.0
    }
}
