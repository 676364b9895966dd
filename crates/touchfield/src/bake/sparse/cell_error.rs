//! Proven bounds of the interpolation error in a cell, far tighter than Lipschitz where the surface
//! is smooth.
//!
//! Input: a closed surface, a cell, the exact distances of its corners and the faces nearest to
//! them.
//! Output: a bound of |interpolated − true| over the whole cell \[m\].
//! Cost: from a few dozen products to one search of the faces near the cell and an examination of
//! parts of it.
//! Not for: surfaces with holes, beside which the field is not a distance; and rounding, which the
//! caller adds.
//!
//! With h the side of the cell, xᵢ its corners, dᵢ the distances there, wᵢ the weights of the
//! interpolation and I = Σ wᵢ dᵢ:
//!
//! 1. *Lipschitz.* Always: half a diagonal, √3/2 h (see `check.rs`).
//! 2. *Far.* Let no corner be nearer than m > √3/2 h, so that the cell is all on one side. The
//!    squared distance to any set less |x|² is concave, so d² ≥ Σ wᵢ dᵢ² − Σ wᵢ |x − xᵢ|² ≥ I² − ¾
//!    h²; hence I − d ≤ m − √(m² − ¾ h²). And the distance to a point y or a face is convex:
//!    d ≤ |x − y| ≤ Σ wᵢ |xᵢ − y|; hence d − I ≤ maxᵢ (|xᵢ − y| − dᵢ), for whatever y is best. With
//!    two of them, y and z, the smaller is at most any mean: d − I ≤ maxᵢ (λ |xᵢ − y| + (1 − λ)
//!    |xᵢ − z| − dᵢ). That halves the error of a cell between two walls.
//! 3. *By parts.* The faces that can be nearest somewhere in the cell are few, and fewer in a part
//!    of it. I is trilinear in a part too, and so differs from anything linear most at the corners
//!    xₖ of the part. Let d_T be the distance to the face T, which is convex. The cases are listed
//!    below.
//!
//! Cases of the third bound:
//!
//! - Off the surface the distance is d = min d_T. Every d_T lies above its tangent t_T at the
//!   middle of the part: hence I − d ≤ max_T maxₖ (Iₖ − t_T(xₖ)), over the faces that can win. And
//!   d is at most d_T, or any mean of several: hence d − I ≤ maxₖ (d_T(xₖ) − Iₖ), for the nearest
//!   face or, between walls, for a mean of two or three.
//! - On the surface let y, on T, be nearest to x. Let the normals of all faces around y be within
//!   α < 45° of that of T, so that the segment to x runs in front of all of them or behind. Then
//!   x − y makes an angle of at most α with that normal: otherwise one of those faces would be
//!   nearer. So the height of x over the plane of T, which is linear, differs from the signed
//!   distance by at most (1 − cos α) d; and I differs from that height most at a corner. The points
//!   of T nearest to two points are no farther apart than these two, so only those edges of T count
//!   that are near the point nearest to the middle.
//! - Where faces cross or lie upon each other, none of them determines the side. The same bound
//!   then holds without signs: |height| differs from the distance by no more than that. Orient all
//!   planes alike. The points above all planes form one convex piece of the part, so they have one
//!   sign, and so do those below all planes. All others are no higher over any plane than w, the
//!   largest distance between two planes; and if no corner is above all planes, no point is higher
//!   than that. One corner above all planes and one below all determine the two signs. If they
//!   differ, heights serve as signed distances, to within 2 w. If not, the distance is a crease,
//!   |height| with that sign, which is convex.
//! - Anywhere, such as around a sharp edge: d changes by no more than the distance from the middle,
//!   and I by no more than its largest slope times that.
//!
//! T cannot win in a part if its tangent lies above the distance to the nearest face at all
//! corners, because that distance is convex. And a single place where I is off by more than the
//! allowed error ends the search: the middles of parts are tried, and places where two walls are
//! equally far.

use std::sync::OnceLock;

use glam::{DVec3, UVec3};

use crate::bake::sign::patches::Patches;
use crate::bake::sparse::flatness::{Flatness, flatness_of_faces};
use crate::geom::{ClosestPoint, Triangle, corner};
use crate::mesh::{Bvh, Nearest};

/// Number of times a cell is halved into parts.
const CLOSER: u32 = 3;

/// Prover of interpolation errors in cells over one closed surface.
pub(crate) struct CellProver<'a> {
    pub(crate) bvh: &'a Bvh,
    pub(crate) patches: &'a Patches,
    /// Largest coordinate of the surface, which determines the rounding error \[m\].
    reach: f64,
    /// Built at first use: bands do without.
    flatness: OnceLock<Vec<Flatness>>,
}

/// Error bound of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Proof {
    /// Bound of |interpolated − true| \[m\].
    pub(crate) error: f64,
    /// Whether some point is known to be off by more than was enough, so that no other proof can
    /// succeed.
    pub(crate) refuted: bool,
}

/// A cube to interpolate in. Corners count x in bit 0, y in bit 1, z in bit 2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    /// Lowest corner \[m\].
    pub(crate) low: DVec3,
    /// Side \[m\].
    pub(crate) size: f64,
    /// Signed distances of the corners \[m\].
    pub(crate) values: [f64; 8],
    /// Face nearest to each corner.
    pub(crate) faces: [u32; 8],
}

impl Cell {
    fn corner(&self, i: usize) -> DVec3 {
        self.low + self.size * corner(UVec3::ZERO, i).as_dvec3()
    }

    fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|i| self.corner(i))
    }

    /// Returns the interpolant at local coordinates from 0 to 1 along each side \[m\].
    pub(crate) fn interpolated(&self, place: DVec3) -> f64 {
        let along = |a: f64, b: f64, t: f64| a + t * (b - a);
        let v = &self.values;
        let row = |i: usize| along(v[i], v[i + 1], place.x);
        let plane = |i: usize| along(row(i), row(i + 2), place.y);
        along(plane(0), plane(4), place.z)
    }

    /// Returns the smallest distance of a corner from the surface \[m\].
    pub(crate) fn nearest(&self) -> f64 {
        (self.values.iter()).fold(f64::INFINITY, |nearest, value| nearest.min(value.abs()))
    }

    /// Returns the largest distance of a corner from the surface \[m\].
    pub(crate) fn farthest(&self) -> f64 {
        (self.values.iter()).fold(0.0, |farthest, value| value.abs().max(farthest))
    }

    /// Returns the distance from the middle to a corner \[m\].
    fn half_diagonal(&self) -> f64 {
        0.5 * 3f64.sqrt() * self.size
    }
}

impl<'a> CellProver<'a> {
    pub(crate) fn new(bvh: &'a Bvh, patches: &'a Patches) -> CellProver<'a> {
        let reach = (bvh.triangles().iter())
            .flat_map(|triangle| [triangle.a, triangle.b, triangle.c])
            .map(|corner| corner.abs().max_element())
            .fold(0.0, f64::max);
        CellProver {
            bvh,
            patches,
            reach,
            flatness: OnceLock::new(),
        }
    }

    fn flatness(&self) -> &[Flatness] {
        let normal = |face| self.patches.face_normal(face);
        (self.flatness).get_or_init(|| flatness_of_faces(self.bvh.triangles(), normal))
    }

    /// Returns a bound of the error in a cell. Stops improving it once it is at most `enough`, and
    /// examines parts of the cell to get there.
    pub(crate) fn prove(&self, cell: &Cell, enough: f64) -> Proof {
        self.prove_by(cell, enough, CLOSER)
    }

    /// Returns a bound of the error in a cell as a whole: the best one, or any that is at most
    /// `enough`.
    ///
    /// So the maximum over many cells does not depend on their order, if each is given the maximum
    /// so far as `enough`. (The bound of [`Self::prove`] varies where parts fall short.)
    pub(crate) fn prove_whole(&self, cell: &Cell, enough: f64) -> f64 {
        self.prove_by(cell, enough, 0).error
    }

    /// Bounds the error by parts that come from halving the cell `closer` times.
    fn prove_by(&self, cell: &Cell, enough: f64, closer: u32) -> Proof {
        let lipschitz = cell.half_diagonal();
        let mut proof = Proof {
            error: lipschitz,
            refuted: false,
        };
        if lipschitz <= enough {
            return proof;
        }
        let nearest = cell.nearest();
        if nearest > lipschitz {
            proof.error = lipschitz.min(self.far(cell, nearest, enough));
        }
        if proof.error > enough
            && let Some(by_parts) = self.by_parts(cell, enough, closer)
        {
            proof.error = proof.error.min(by_parts.error);
            proof.refuted = by_parts.refuted;
        }
        proof
    }

    /// Returns the second bound. No corner is nearer than `nearest`, which exceeds half a diagonal.
    fn far(&self, cell: &Cell, nearest: f64, enough: f64) -> f64 {
        let above = nearest - (nearest * nearest - 0.75 * cell.size * cell.size).sqrt();
        if above > cell.half_diagonal() {
            return above;
        }
        let enough = enough.max(above);
        let corners = cell.corners();
        let triangles = self.bvh.triangles();
        // Corners mostly share their nearest faces.
        let is_first = |i: &usize| !cell.faces[..*i].contains(&cell.faces[*i]);
        let excess = |distance: &dyn Fn(DVec3) -> f64| -> [f64; 8] {
            std::array::from_fn(|i| distance(corners[i]) - cell.values[i].abs())
        };
        // Distances to points are faster to compute; distances to faces give smaller bounds.
        let by_points = (0..8).filter(is_first).map(|i| {
            let point = triangles[cell.faces[i] as usize]
                .closest_point(corners[i])
                .point;
            excess(&|x| x.distance(point))
        });
        let mut best = least_excess(by_points, enough);
        if best > enough {
            let by_faces = (0..8).filter(is_first).map(|i| {
                let triangle = triangles[cell.faces[i] as usize];
                excess(&|x| triangle.closest_point(x).point.distance(x))
            });
            best = best.min(least_excess(by_faces, enough));
        }
        above.max(best)
    }

    /// Returns the third bound; `None` where too many faces can be nearest.
    fn by_parts(&self, cell: &Cell, enough: f64, closer: u32) -> Option<Proof> {
        /// Largest number of faces; with more, examining halves of the cell is faster. Tuned on the
        /// 69,666-triangle bunny.
        const MOST_FACES: usize = 96;
        let center = cell.low + DVec3::splat(0.5 * cell.size);
        let radius = cell.half_diagonal();
        let mut faces = Vec::with_capacity(MOST_FACES);
        (self.bvh)
            .faces_that_win(center, radius, cell.faces[0], MOST_FACES, &mut faces)
            .then(|| self.part(cell, &Part::WHOLE, &faces, enough, closer))
    }

    /// Bounds the error in a part of a cell. `faces` are those that can be nearest to a point of
    /// the part.
    fn part(&self, cell: &Cell, part: &Part, faces: &[u32], enough: f64, closer: u32) -> Proof {
        let middle = part.first + DVec3::splat(0.5 * part.share);
        let center = cell.low + cell.size * middle;
        let radius = part.share * cell.half_diagonal();
        let triangles = self.bvh.triangles();
        // The faces as seen from the middle, and the nearest of them.
        let mut near: Vec<Near> = faces
            .iter()
            .map(|&face| Near::of(face, triangles, center))
            .collect();
        let Some(&first) = near.iter().min_by(|a, b| a.distance.total_cmp(&b.distance)) else {
            return Proof::NONE;
        };
        let side = self.side(cell, center, &first);
        // Smallest and largest possible error at the middle: where the side is not known, it is one
        // of two.
        let interpolated = cell.interpolated(middle);
        let [on_one, on_other] =
            [1.0, -1.0].map(|side| (side * first.distance - interpolated).abs());
        let (least_off, most_off) = match side {
            Some(side) if side > 0.0 => (on_one, on_one),
            Some(_) => (on_other, on_other),
            None => (on_one.min(on_other), on_one.max(on_other)),
        };
        let mut refuted = least_off > enough;
        if refuted && part.share < 1.0 {
            return Proof::REFUTED;
        }
        // Drop the faces that cannot win at any corner of the part.
        let places: [DVec3; 8] = std::array::from_fn(|i| part.place(i));
        let corners = places.map(|place| cell.low + cell.size * place);
        let values = places.map(|place| cell.interpolated(place));
        let rival = distances(&triangles[first.face as usize], &corners);
        let farthest = largest(&rival);
        // More than `f64` rounds in computing the distance to a face.
        let rounding = 1e-12 * (farthest + radius + self.reach);
        near.retain(|other| {
            other.face == first.face
                || other.distance <= farthest + radius + rounding
                    && (0..8).any(|i| other.tangent(corners[i] - center) <= rival[i] + rounding)
        });
        let seen = Seen {
            center,
            corners: &corners,
            near: &near,
        };
        // Bound the error by the case that applies: off the surface, on it, or where walls meet.
        let mut error = match side {
            Some(side) if first.distance > radius => {
                let unsigned = values.map(|value| side * value);
                let above = std::array::from_fn(|i| rival[i] - unsigned[i]);
                let (error, doubt) = self.off_surface(&seen, &unsigned, above, enough);
                if let Some(place) = doubt {
                    let off = side * self.distance(&near, part.point(cell, place))
                        - cell.interpolated(part.first + part.share * place);
                    refuted |= off.abs() > enough;
                }
                error
            }
            None if first.distance > radius => f64::INFINITY,
            _ if near.iter().all(|near| self.patches.is_plain(near.face)) => {
                self.off_planes(&seen, &values, farthest, radius + rounding)
            }
            _ => self.off_walls(cell, &seen, &values, farthest, radius, rounding),
        };
        // The case that holds anywhere: from the middle, by the largest slope.
        let slope = rise(&values) / (part.share * cell.size);
        error = error.min(most_off + (1.0 + slope) * radius);
        if refuted && part.share < 1.0 {
            return Proof::REFUTED;
        }
        let proof = Proof { error, refuted };
        if error <= enough || refuted || closer == 0 {
            return proof;
        }
        // Not enough yet: examine the halves.
        let faces: Vec<u32> = near.into_iter().map(|near| near.face).collect();
        let mut worst: f64 = 0.0;
        for i in 0..8 {
            let half = self.part(cell, &part.half(i), &faces, enough, closer - 1);
            if half.error > enough {
                return Proof {
                    error,
                    refuted: half.refuted,
                };
            }
            worst = worst.max(half.error);
        }
        Proof {
            error: worst,
            refuted: false,
        }
    }

    /// Returns −1 for a point inside and 1 for one outside, given the face nearest to it; `None` if
    /// that is not known. The sign comes from the face or, where others cross it, from a corner of
    /// the cell with no face between.
    fn side(&self, cell: &Cell, point: DVec3, nearest: &Near) -> Option<f64> {
        if let Some(inside) = self.patches.inside(point, &nearest.nearest()) {
            return Some(if inside { -1.0 } else { 1.0 });
        }
        self.side_by_corners(cell, point, nearest.distance)
    }

    /// Returns the sign of a point at least `distance` from the surface, taken from a corner of the
    /// cell; `None` if that is not known. See [`Self::side`].
    fn side_by_corners(&self, cell: &Cell, point: DVec3, distance: f64) -> Option<f64> {
        /// Larger than the relative rounding of values.
        const MARGIN: f64 = 1.0 + 1e-6;
        if !self.patches.change_at_surface() {
            return None;
        }
        let reaches = |&i: &usize| {
            let farther = distance.max(cell.values[i].abs());
            MARGIN * point.distance(cell.corner(i)) < farther
        };
        // The sign of a corner on the surface may be that of its other side.
        let is_off = |i: &usize| cell.values[*i].abs() > 1e-6 * cell.size;
        let is_clear = |i: &usize| is_off(i) && self.bvh.is_clear(point, cell.corner(*i));
        // The nearest corners first.
        let middle = cell.low + DVec3::splat(0.5 * cell.size);
        let nearest_corner = point.cmpgt(middle).bitmask() as usize;
        let by_nearness = [0, 1, 2, 4, 3, 5, 6, 7].map(|across| nearest_corner ^ across);
        let corner = (by_nearness.into_iter().find(reaches))
            .or_else(|| by_nearness.into_iter().find(is_clear));
        corner.map(|i| cell.values[i].signum())
    }

    /// Bounds the error of interpolated unsigned distances in a part that the surface does not
    /// reach.
    ///
    /// `above` is the excess of the distance to the nearest face over the interpolated values at
    /// the corners. If the bound is more than `enough`, also returns the place in the part, from 0
    /// to 1 along each side, where the error is likely largest.
    fn off_surface(
        &self,
        seen: &Seen<'_>,
        unsigned: &[f64; 8],
        mut above: [f64; 8],
        enough: f64,
    ) -> (f64, Option<DVec3>) {
        /// Three walls meet in a corner.
        const OTHERS: usize = 2;
        let below = (seen.near.iter())
            .flat_map(|near| {
                (0..8).map(|i| unsigned[i] - near.tangent(seen.corners[i] - seen.center))
            })
            .fold(0.0, f64::max);
        // Lower the other bound by means with the faces that look nearest at its worst corner.
        let mut doubt = None;
        for _ in 0..OTHERS {
            let worst = highest(&above);
            if above[worst] <= enough.max(below) {
                break;
            }
            // The face that looks nearest where the others are far off.
            let way = seen.corners[worst] - seen.center;
            let Some(next) =
                (seen.near.iter()).min_by(|a, b| a.tangent(way).total_cmp(&b.tangent(way)))
            else {
                break;
            };
            let triangle = &self.bvh.triangles()[next.face as usize];
            let distances = distances(triangle, seen.corners);
            let other = std::array::from_fn(|i| distances[i] - unsigned[i]);
            doubt.get_or_insert_with(|| {
                let across = highest(&other);
                let share = above[worst] / (above[worst] + other[across].max(0.0));
                let place = |i: usize| corner(UVec3::ZERO, i).as_dvec3();
                place(worst).lerp(place(across), share)
            });
            let both = mean(&above, &other);
            if largest(&both) >= largest(&above) {
                break;
            }
            above = both;
        }
        let error = below.max(largest(&above));
        (error, doubt.filter(|_| error > enough))
    }

    /// Returns the distance of a point from the nearest of some faces \[m\].
    fn distance(&self, near: &[Near], point: DVec3) -> f64 {
        let triangles = self.bvh.triangles();
        (near.iter())
            .map(|near| triangles[near.face as usize].closest_point(point).point)
            .map(|nearest| nearest.distance(point))
            .fold(f64::INFINITY, f64::min)
    }

    /// Bounds the difference between interpolated values and heights over the planes of the faces,
    /// plus the difference between these heights and the signed distance.
    fn off_planes(&self, seen: &Seen<'_>, values: &[f64; 8], farthest: f64, radius: f64) -> f64 {
        let flatness = self.flatness();
        let mut worst: f64 = 0.0;
        for near in seen.near {
            let flatness = &flatness[near.face as usize];
            let triangle = &self.bvh.triangles()[near.face as usize];
            let off = (seen.corners.iter().zip(values))
                .map(|(&corner, value)| (flatness.normal.dot(corner - triangle.a) - value).abs())
                .fold(0.0, f64::max);
            // The nearest points of two points are no farther apart than these two.
            let bend = flatness.bend(triangle, near.closest.point, radius);
            worst = worst.max(off + bend * farthest);
        }
        worst
    }

    /// Bounds the error where faces cross or lie upon each other: points above all of their planes
    /// have one sign, and so do those below all of them.
    fn off_walls(
        &self,
        cell: &Cell,
        seen: &Seen<'_>,
        values: &[f64; 8],
        farthest: f64,
        radius: f64,
        rounding: f64,
    ) -> f64 {
        let flatness = self.flatness();
        let triangles = self.bvh.triangles();
        // Orient all planes alike.
        let up = flatness[seen.near[0].face as usize].normal;
        // Heights of the corners over each plane, and the bend of the face.
        let walls: Vec<([f64; 8], f64)> = (seen.near.iter())
            .map(|near| {
                let flatness = &flatness[near.face as usize];
                let triangle = &triangles[near.face as usize];
                let normal = flatness.normal * flatness.normal.dot(up).signum();
                let heights = seen.corners.map(|corner| normal.dot(corner - triangle.a));
                let bend = flatness.bend(triangle, near.closest.point, radius + rounding);
                (heights, bend)
            })
            .collect();
        if walls.iter().any(|(_, bend)| bend.is_infinite()) {
            return f64::INFINITY;
        }
        let lowest: [f64; 8] = std::array::from_fn(|i| {
            (walls.iter()).fold(f64::INFINITY, |lowest, (heights, _)| lowest.min(heights[i]))
        });
        let highest_of: [f64; 8] = std::array::from_fn(|i| {
            (walls.iter()).fold(f64::NEG_INFINITY, |highest, (heights, _)| {
                highest.max(heights[i])
            })
        });
        let apart = largest(&std::array::from_fn(|i| highest_of[i] - lowest[i])) + rounding;
        // A corner above all planes and one below; where there is none, no point on that side is
        // farther from the planes than they are apart.
        let over = highest(&lowest);
        let below = highest(&highest_of.map(|height| -height));
        let over = (lowest[over] > rounding).then_some(over);
        let below = (highest_of[below] < -rounding).then_some(below);
        let side = |corner: Option<usize>| {
            corner.map(|i| self.side_by_corners(cell, seen.corners[i], 0.0))
        };
        let (over, below) = match (side(over), side(below)) {
            (Some(None), _) | (_, Some(None)) => return f64::INFINITY,
            (Some(Some(over)), Some(Some(below))) => (over, below),
            (Some(Some(over)), None) => (over, -over),
            (None, Some(Some(below))) => (-below, below),
            (None, None) => (1.0, -1.0),
        };
        // Compare the values with the heights, as signed distances or as a crease.
        let values = values.map(|value| over * value);
        let off = |heights: &[f64; 8]| -> f64 {
            let above_by = |value_of: &dyn Fn(usize) -> f64| {
                (0..8).map(value_of).fold(f64::NEG_INFINITY, f64::max)
            };
            if over != below {
                return above_by(&|i| (values[i] - heights[i]).abs());
            }
            let over_one = above_by(&|i| values[i] - heights[i]);
            let over_other = above_by(&|i| values[i] + heights[i]);
            over_one
                .min(over_other)
                .max(above_by(&|i| heights[i].abs() - values[i]))
        };
        let worst = (walls.iter())
            .map(|(heights, bend)| off(heights) + bend * farthest)
            .fold(0.0, f64::max);
        worst + 2.0 * apart
    }
}

impl Proof {
    /// No bound.
    const NONE: Proof = Proof {
        error: f64::INFINITY,
        refuted: false,
    };

    /// Refuted bound of a part, whose error is never used.
    const REFUTED: Proof = Proof {
        error: f64::INFINITY,
        refuted: true,
    };
}

/// A cube in a cell, in units of the side of the cell.
#[derive(Clone, Copy)]
struct Part {
    first: DVec3,
    share: f64,
}

impl Part {
    const WHOLE: Part = Part {
        first: DVec3::ZERO,
        share: 1.0,
    };

    fn place(&self, i: usize) -> DVec3 {
        self.first + self.share * corner(UVec3::ZERO, i).as_dvec3()
    }

    /// Returns the point at local coordinates from 0 to 1 along each side of the part.
    fn point(&self, cell: &Cell, place: DVec3) -> DVec3 {
        cell.low + cell.size * (self.first + self.share * place)
    }

    fn half(&self, i: usize) -> Part {
        let share = 0.5 * self.share;
        Part {
            first: self.first + share * corner(UVec3::ZERO, i).as_dvec3(),
            share,
        }
    }
}

/// Geometry of a part and the faces near it.
struct Seen<'a> {
    /// Middle of the part.
    center: DVec3,
    corners: &'a [DVec3; 8],
    /// Faces that can be nearest.
    near: &'a [Near],
}

/// A face as seen from the middle of a part.
#[derive(Clone, Copy)]
struct Near {
    face: u32,
    closest: ClosestPoint,
    distance: f64,
    /// Unit vector from the nearest point to the middle; 0 where the middle lies on the face.
    away: DVec3,
}

impl Near {
    fn of(face: u32, triangles: &[Triangle], center: DVec3) -> Near {
        let closest = triangles[face as usize].closest_point(center);
        let way = center - closest.point;
        let distance = way.length();
        Near {
            face,
            closest,
            distance,
            away: if distance > 0.0 {
                way / distance
            } else {
                DVec3::ZERO
            },
        }
    }

    /// Returns the tangent of the distance to the face, at offset `way` from the middle: never more
    /// than the distance there.
    fn tangent(&self, way: DVec3) -> f64 {
        self.distance + self.away.dot(way)
    }

    fn nearest(&self) -> Nearest {
        Nearest {
            distance_squared: self.distance * self.distance,
            face: self.face,
            closest: self.closest,
        }
    }
}

/// Returns the smallest bound of d − I that follows from nearby points or faces, from one of them
/// or from a mean of two. Each is given by how much farther it is from each corner than the
/// surface. Stops at the first bound that is at most `enough`.
fn least_excess(near: impl Iterator<Item = [f64; 8]>, enough: f64) -> f64 {
    let mut best = f64::INFINITY;
    let mut seen: [[f64; 8]; 8] = [[0.0; 8]; 8];
    for (count, excess) in near.enumerate().take(8) {
        best = best.min(largest(&excess));
        for other in &seen[..count] {
            best = best.min(largest(&mean(&excess, other)));
        }
        if best <= enough {
            break;
        }
        seen[count] = excess;
    }
    best
}

fn distances(triangle: &Triangle, points: &[DVec3; 8]) -> [f64; 8] {
    std::array::from_fn(|i| triangle.closest_point(points[i]).point.distance(points[i]))
}

fn highest(values: &[f64; 8]) -> usize {
    let by_value = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
    (0..8).max_by(by_value).unwrap_or(0)
}

/// Returns the largest value, at least 0.
fn largest(values: &[f64; 8]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Returns a weighted mean of both. Where at every corner one of the two is 0, this share makes
/// both ends equal.
fn mean(a: &[f64; 8], b: &[f64; 8]) -> [f64; 8] {
    let (top, other) = (largest(a), largest(b));
    let share = if top + other > 0.0 {
        other / (top + other)
    } else {
        0.5
    };
    std::array::from_fn(|i| share * a[i] + (1.0 - share) * b[i])
}

/// Returns a bound of the slope of an interpolant, times the side of its cube: along each axis the
/// slope is largest on an edge.
fn rise(values: &[f64; 8]) -> f64 {
    let along = |axis: usize| {
        (0..8)
            .filter(|i| i >> axis & 1 == 0)
            .map(|i| (values[i | 1 << axis] - values[i]).abs())
            .fold(0.0, f64::max)
    };
    DVec3::new(along(0), along(1), along(2)).length()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::exact_distance::ExactDistance;
    use crate::bake::settings::SignChoice;
    use crate::bake::sign::plan::Signs;
    use crate::mesh::TriangleMesh;
    use crate::mesh::generate;
    use crate::mesh::generate::{Bowl, Cuboid, Gear, Icosphere, TorusKnot};

    /// Returns points that fill a cube evenly: multiples of powers of the root of x⁴ = x + 1.
    fn spread(index: usize, seed: f64) -> DVec3 {
        let root: f64 = 1.220_744_084_605_759_6;
        let along = |power: i32| (seed + index as f64 * root.powi(-power)).fract();
        DVec3::new(along(1), along(2), along(3))
    }

    /// Builds a cell whose corners take their values and faces from the exact distance.
    fn cell_of(exact: &ExactDistance, low: DVec3, size: f64) -> Cell {
        let mut cell = Cell {
            low,
            size,
            values: [0.0; 8],
            faces: [0; 8],
        };
        for i in 0..8 {
            cell.values[i] = exact.distance(cell.corner(i));
            cell.faces[i] = exact.nearest(cell.corner(i), 0).face;
        }
        cell
    }

    /// Joins two meshes that may cross each other, the second one moved.
    fn joined(mut first: TriangleMesh, second: &TriangleMesh, by: DVec3) -> TriangleMesh {
        let count = first.vertices.len() as u32;
        first
            .vertices
            .extend(second.vertices.iter().map(|vertex| vertex + by));
        let faces = second.faces.iter();
        first
            .faces
            .extend(faces.map(|face| face.map(|vertex| count + vertex)));
        first
    }

    fn boxes(by: DVec3) -> TriangleMesh {
        let one = generate::cuboid(Cuboid::default()).unwrap();
        joined(one.clone(), &one, by)
    }

    fn patches_of(exact: &ExactDistance) -> &Patches {
        match &exact.plan().signs {
            Signs::Pseudonormal(patches) | Signs::ClosedWinding(patches) => patches,
            _ => panic!("a closed mesh"),
        }
    }

    /// A cube of side 1 around 0: closed forms of the interpolation error.
    #[test]
    fn a_wall_is_exact_and_a_crease_is_off_by_a_quarter() {
        let mesh = generate::cuboid(Cuboid {
            half_extents: DVec3::splat(0.5),
            ..Cuboid::default()
        });
        let exact = ExactDistance::new(&mesh.unwrap(), SignChoice::Auto).unwrap();
        let prover = CellProver::new(&exact.plan().bvh, patches_of(&exact));
        let size = 0.1;
        let around = |middle: DVec3| cell_of(&exact, middle - DVec3::splat(0.5 * size), size);
        // Across a wall, over the edge that its two triangles share; sharp edges are far.
        let on_wall = prover.prove_whole(&around(DVec3::new(0.51, 0.02, 0.03)), 0.0);
        assert!(on_wall < 1e-12, "{on_wall}");
        // Where two walls are equally far, on the diagonal of the cell from t = 0 to 1, the
        // distance is t (1 − t) h more than the interpolant.
        let crease = around(DVec3::new(0.2, 0.2, 0.02));
        let proven = prover.prove(&crease, 0.3 * size);
        assert!((0.025 - 1e-12..=0.03).contains(&proven.error), "{proven:?}");
        // The mean of both walls is half a side above the corners beside the diagonal.
        let whole = prover.prove_whole(&crease, 0.0);
        assert!((whole - 0.05).abs() < 1e-12, "{whole}");
        assert!(prover.prove(&crease, 0.024).refuted);
        // Nearer to one corner: the middle is off by 0.15 sides only, the crease by 0.294.
        let beside = around(DVec3::new(0.24, 0.2, 0.02));
        assert!(prover.prove_by(&beside, 0.25 * size, 0).refuted);
        assert!(!prover.prove_by(&beside, 0.3 * size, 0).refuted);
        // A sharp edge.
        let edge = around(DVec3::new(0.5, 0.5, 0.02));
        let lipschitz = edge.half_diagonal();
        let proven = prover.prove(&edge, 0.6 * lipschitz);
        assert!(proven.error < 0.6 * lipschitz, "{proven:?} of {lipschitz}");
    }

    /// Two such cubes, one upon the other: all around where they touch, no face determines the
    /// side.
    #[test]
    fn walls_upon_walls_are_exact_outside_and_a_crease_inside() {
        let one = generate::cuboid(Cuboid {
            half_extents: DVec3::splat(0.5),
            ..Cuboid::default()
        })
        .unwrap();
        let mesh = joined(one.clone(), &one, DVec3::new(0.3, 0.2, 1.0));
        let exact = ExactDistance::new(&mesh, SignChoice::Auto).unwrap();
        let patches = patches_of(&exact);
        let prover = CellProver::new(&exact.plan().bvh, patches);
        let size = 0.1;
        let around = |middle: DVec3| cell_of(&exact, middle - DVec3::splat(0.5 * size), size);
        // On the top of the lower one, beside the upper one.
        let outside = around(DVec3::new(-0.35, 0.02, 0.51));
        assert!(outside.faces.iter().all(|&face| !patches.is_plain(face)));
        let proven = prover.prove_whole(&outside, 0.0);
        assert!(proven < 1e-11, "{proven}");
        // Where they touch: half a side too deep.
        let crease = around(DVec3::new(0.11, 0.12, 0.5));
        let proven = prover.prove(&crease, 0.6 * size);
        assert!((0.05..=0.06).contains(&proven.error), "{proven:?}");
        assert!(prover.prove(&crease, 0.049).refuted);
        // A quarter of a side off it, the crease is off by 0.375 sides.
        let beside = around(DVec3::new(0.11, 0.12, 0.525));
        let proven = prover.prove(&beside, 0.45 * size);
        assert!((0.0375..=0.045).contains(&proven.error), "{proven:?}");
    }

    /// A turned box with an edge through the origin, and cells a millionth of its size, whose own
    /// coordinates do not show how its faces are rounded.
    #[test]
    fn the_nearest_face_is_never_lost_to_rounding() {
        let mut mesh = generate::cuboid(Cuboid {
            half_extents: DVec3::splat(0.5),
            ..Cuboid::default()
        })
        .unwrap();
        let turn = glam::DQuat::from_euler(glam::EulerRot::XYZ, 0.3, 0.5, 0.7);
        for vertex in &mut mesh.vertices {
            *vertex = turn * (*vertex - DVec3::new(0.5, 0.5, 0.1));
        }
        let exact = ExactDistance::new(&mesh, SignChoice::Auto).unwrap();
        let prover = CellProver::new(&exact.plan().bvh, patches_of(&exact));
        let size = 1e-6;
        for index in 0..200 {
            let low = 2.0 * size * (spread(index, 0.2) - DVec3::splat(0.75));
            let cell = cell_of(&exact, low, size);
            for share in [0.3, 0.1, 0.03] {
                let proof = prover.prove(&cell, share * size);
                for i in 0..200 {
                    let place = spread(i, 0.6);
                    let off = cell.interpolated(place) - exact.distance(low + size * place);
                    assert!(off.abs() <= proof.error + 1e-15, "cell {index}: {proof:?}");
                }
            }
        }
    }

    /// Compares with the exact distance at points of the cell: every returned bound must hold
    /// there, for every value of `enough`.
    #[test]
    fn no_cell_is_off_by_more_than_is_proven() {
        let ball_of = |radius, level| generate::icosphere(Icosphere { radius, level }).unwrap();
        let ball = |level| ball_of(0.05, level);
        let mut hollow = ball_of(0.03, 2);
        hollow.flip();
        let meshes = [
            generate::cuboid(Cuboid::default()).unwrap(),
            generate::gear(Gear::default()).unwrap(),
            generate::bowl(Bowl::default()).unwrap(),
            generate::torus_knot(TorusKnot::default()).unwrap(),
            boxes(DVec3::new(0.03, 0.02, 0.01)),
            // One stands on the other: two walls in one plane.
            boxes(DVec3::new(0.02, 0.01, 0.06)),
            // Nearly the same: walls just beside each other; and half in each other, with sides in
            // common planes.
            boxes(DVec3::new(1e-4, 2e-5, -3e-5)),
            boxes(DVec3::new(0.0, 0.0, 0.03)),
            // Like a pin in its hole: walls that cross each other all over.
            joined(ball(2), &ball(3), DVec3::splat(1e-4)),
            // A hollow ball, and a ball inside that crosses its wall.
            joined(
                joined(ball(3), &hollow, DVec3::ZERO),
                &ball(2),
                DVec3::splat(0.02),
            ),
        ];
        let (mut proven, mut refuted) = (0, 0);
        for mesh in &meshes {
            let exact = ExactDistance::new(mesh, SignChoice::Auto).unwrap();
            let prover = CellProver::new(&exact.plan().bvh, patches_of(&exact));
            let bounds = mesh.bounds();
            let diagonal = bounds.diagonal();
            for index in 0..300 {
                let size = diagonal * 0.1 * 0.5f64.powi(index as i32 % 6);
                // Most of them around corners of the mesh, some anywhere.
                let corner_of_mesh = mesh.vertices[index * 7919 % mesh.vertices.len()];
                let low = match index % 4 {
                    0 => bounds.min + bounds.extents() * spread(index, 0.3),
                    near => corner_of_mesh - size * spread(index, 0.7) * f64::from(near as u32),
                };
                let cell = cell_of(&exact, low, size);
                let off = |place: DVec3| {
                    (cell.interpolated(place) - exact.distance(low + size * place)).abs()
                };
                let truth = (0..200).map(|i| off(spread(i, 0.1))).fold(0.0, f64::max);
                let whole = prover.prove_whole(&cell, 0.0);
                for enough in [0.3, 0.1, 0.03, 0.01].map(|share| share * size) {
                    let by_then = prover.prove_whole(&cell, enough);
                    assert!(truth <= by_then + 1e-12 * diagonal, "cell {index}");
                    assert!(
                        by_then == whole || by_then <= enough && whole <= enough,
                        "{by_then}, not {whole}"
                    );
                    let proof = prover.prove(&cell, enough);
                    let slack = 1e-12 * diagonal;
                    assert!(
                        truth <= proof.error + slack,
                        "cell {index} at {low}, side {size}: off by {truth}, proven {proof:?}"
                    );
                    proven += usize::from(proof.error <= enough);
                    refuted += usize::from(proof.refuted);
                    assert!(!(proof.refuted && proof.error <= enough), "{proof:?}");
                }
            }
        }
        // Both outcomes occur often.
        assert!(proven > 800 && refuted > 800, "{proven} {refuted}");
    }

    /// Boxes that stand in each other, on each other and almost on each other, as parts of an
    /// assembly do: at random, on a raster, and turned by very small angles.
    #[test]
    fn no_cell_of_an_assembly_is_off_by_more_than_is_proven() {
        let long = std::env::var_os("TOUCHFIELD_LONG").is_some();
        let assemblies = if long { 3000 } else { 60 };
        let one = generate::cuboid(Cuboid::default()).unwrap();
        let mut proven = 0;
        for assembly in 0..assemblies {
            let random = |i: usize| spread(97 * assembly + i, 0.4);
            let mut mesh = TriangleMesh::default();
            for part in 0..2 + assembly % 3 {
                let sides = (4.0 * random(8 * part)).floor() * 0.25 + DVec3::splat(0.25);
                let place = (4.0 * random(8 * part + 1)).floor() * 0.01;
                let angle = [0.0, 1e-9, 1e-5, 1e-3, 0.03, 1.0][(assembly + part) % 6];
                let turn = glam::DQuat::from_scaled_axis(angle * random(8 * part + 2));
                let mut box_of = one.clone();
                for vertex in &mut box_of.vertices {
                    *vertex = turn * (*vertex * sides) + place;
                }
                mesh = joined(mesh, &box_of, DVec3::ZERO);
            }
            let exact = ExactDistance::new(&mesh, SignChoice::Auto).unwrap();
            let prover = CellProver::new(&exact.plan().bvh, patches_of(&exact));
            let bounds = mesh.bounds();
            let slack = 1e-12 * bounds.diagonal();
            for index in 0..60 {
                let size = bounds.diagonal() * 0.1 * 0.5f64.powi(index as i32 % 6);
                let low = bounds.min + bounds.extents() * random(100 + index);
                // On the surface, or where it was found.
                let nearest = exact.nearest(low, 0).closest.point;
                let low = if index % 3 == 0 { low } else { nearest };
                let cell = cell_of(&exact, low - size * random(200 + index), size);
                let truth = (0..64)
                    .map(|i| spread(i, 0.1))
                    .map(|place| {
                        let point = cell.low + size * place;
                        (cell.interpolated(place) - exact.distance(point)).abs()
                    })
                    .fold(0.0, f64::max);
                for enough in [0.3, 0.03, 1e-9].map(|share| share * size) {
                    let proof = prover.prove(&cell, enough);
                    assert!(
                        truth <= proof.error + slack,
                        "assembly {assembly}, cell {index}: off by {truth}, proven {proof:?}"
                    );
                    proven += usize::from(proof.error <= enough);
                }
            }
        }
        assert!(proven > 20 * assemblies, "{proven}");
    }
}
