//! Batches of samples, eight points at a time in SIMD lanes.
//!
//! Input: a grid that interpolates at eight places at once; points anywhere.
//! Output: the same results as one by one, to the bit.
//! Cost: that of the grid, without branches on the points; points outside the grid are sampled one
//! by one.
//! Not for: single points, which would waste seven lanes.

use glam::{UVec3, Vec3};

use crate::field::field::Sample;
use crate::field::grid::frame::GridFrame;
use crate::geom::lanes;
use crate::geom::lanes::{Aligned, LANES, Lanes, Work};

/// The places of eight points among the cells: [`crate::field::grid::frame::Place`], lane by lane.
#[derive(Clone, Copy)]
pub(crate) struct Places<L> {
    /// Index of the cell along x, y and z, a whole number.
    pub(crate) cell: [L; 3],
    /// Position in the cell, from 0 to 1 along each axis.
    pub(crate) fraction: [L; 3],
}

impl<L: Lanes> Places<L> {
    /// Splits positions counted in cells into cell and fraction. `last` is the index of the last
    /// cell along each axis; see [`crate::field::grid::frame::Place::among`].
    #[inline(always)]
    pub(crate) fn among(last: [L; 3], scaled: [L; 3]) -> Places<L> {
        let mut places = Places {
            cell: scaled,
            fraction: scaled,
        };
        for axis in 0..3 {
            let at_least_zero = scaled[axis].select_positive(scaled[axis], L::splat(0.0));
            let cell = at_least_zero.min(last[axis]).truncate();
            places.cell[axis] = cell;
            places.fraction[axis] = at_least_zero.sub(cell).min(L::splat(1.0));
        }
        places
    }

    /// Returns the indices of the cells, axis by axis.
    #[inline(always)]
    pub(crate) fn whole_cells(&self) -> [[u32; LANES]; 3] {
        [
            self.cell[0].to_whole(),
            self.cell[1].to_whole(),
            self.cell[2].to_whole(),
        ]
    }

    /// Returns the cells, point by point.
    #[inline(always)]
    pub(crate) fn cells(&self) -> [UVec3; LANES] {
        let [x, y, z] = self.whole_cells();
        let mut cells = [UVec3::ZERO; LANES];
        for (i, cell) in cells.iter_mut().enumerate() {
            *cell = UVec3::new(x[i], y[i], z[i]);
        }
        cells
    }
}

/// A grid that interpolates at eight places at once. Results must equal those of single samples to
/// the bit.
pub(crate) trait Packets {
    fn frame(&self) -> &GridFrame;
    /// Returns distances and gradients at places of the grid.
    fn interpolate_eight<L: Lanes>(&self, places: &Places<L>) -> (L, [L; 3]);
    /// Samples a point outside the bounds.
    fn sample_beyond(&self, point: Vec3) -> Sample;
    /// Returns only the distance of [`Self::sample_beyond`].
    fn distance_beyond(&self, point: Vec3) -> f32 {
        self.sample_beyond(point).distance
    }
}

/// Implements [`crate::field::field::Field::distance_many`].
pub(crate) fn distance_many(grid: &impl Packets, points: &[Vec3], out: &mut Vec<f32>) {
    out.clear();
    out.resize(points.len(), 0.0);
    lanes::run(DistanceMany { grid, points, out });
}

/// Implements [`crate::field::field::Field::sample_many`].
pub(crate) fn sample_many(grid: &impl Packets, points: &[Vec3], out: &mut Vec<Sample>) {
    const NOTHING: Sample = Sample {
        distance: 0.0,
        gradient: Vec3::ZERO,
    };
    out.clear();
    out.resize(points.len(), NOTHING);
    lanes::run(SampleMany { grid, points, out });
}

/// The places of up to eight points, and which of them lie outside the grid.
struct Located<L> {
    places: Places<L>,
    /// Bit `i` is set if point `i` lies outside.
    beyond: u32,
}

/// Locates up to eight points. Unused lanes repeat the first point.
#[inline(always)]
fn locate<L: Lanes>(frame: &GridFrame, points: &[Vec3]) -> Located<L> {
    let mut coordinates = [Aligned([0.0; LANES]); 3];
    for i in 0..LANES {
        let point = points.get(i).unwrap_or(&points[0]);
        coordinates[0].0[i] = point.x;
        coordinates[1].0[i] = point.y;
        coordinates[2].0[i] = point.z;
    }
    let point = lanes::load3::<L>(&coordinates);
    let [min, max] = [
        lanes::splat3::<L>(frame.bounds.min),
        lanes::splat3::<L>(frame.bounds.max),
    ];
    let mut held = (1 << points.len()) - 1;
    for axis in 0..3 {
        held &= min[axis].mask_at_most(point[axis]) & point[axis].mask_at_most(max[axis]);
    }
    let mut scaled = lanes::sub3(point, lanes::splat3::<L>(frame.layout.origin));
    let cell_size = L::splat(frame.layout.cell_size);
    for along in &mut scaled {
        *along = along.div(cell_size);
    }
    let last = (frame.layout.cells() - UVec3::ONE).as_vec3();
    Located {
        places: Places::among(lanes::splat3(last), scaled),
        beyond: !held & ((1 << points.len()) - 1),
    }
}

struct DistanceMany<'a, G> {
    grid: &'a G,
    points: &'a [Vec3],
    /// One per point.
    out: &'a mut [f32],
}

impl<G: Packets> Work for DistanceMany<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (points, out) in self.points.chunks(LANES).zip(self.out.chunks_mut(LANES)) {
            let located = locate::<L>(self.grid.frame(), points);
            let (distance, _) = self.grid.interpolate_eight(&located.places);
            out.copy_from_slice(&distance.store().0[..points.len()]);
            for i in lanes::set_lanes(located.beyond) {
                out[i] = self.grid.distance_beyond(points[i]);
            }
        }
    }
}

struct SampleMany<'a, G> {
    grid: &'a G,
    points: &'a [Vec3],
    /// One per point.
    out: &'a mut [Sample],
}

impl<G: Packets> Work for SampleMany<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (points, out) in self.points.chunks(LANES).zip(self.out.chunks_mut(LANES)) {
            let located = locate::<L>(self.grid.frame(), points);
            let (distance, [x, y, z]) = self.grid.interpolate_eight(&located.places);
            let (distance, x, y, z) = (distance.store().0, x.store().0, y.store().0, z.store().0);
            for (i, out) in out.iter_mut().enumerate() {
                *out = Sample {
                    distance: distance[i],
                    gradient: Vec3::new(x[i], y[i], z[i]),
                };
            }
            for i in lanes::set_lanes(located.beyond) {
                out[i] = self.grid.sample_beyond(points[i]);
            }
        }
    }
}
