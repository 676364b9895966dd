//! Nodes and leaves of the hierarchy: oriented boxes, and triangles in their own planes, eight at a
//! time.

use crate::geom::lanes::{
    Aligned, LANES, Lanes, Stored, Stored3, fused_dot3, load3, splat_lane, splat_lane3,
};
use glam::{DVec3, Vec3};

/// Upper bound of every rounding error of an `f32` distance, as a fraction of `1 + |p|`, with the
/// mesh scaled into the unit ball. Coordinates, unit vectors and offsets are each off by half an
/// ulp (6e-8), and no chain below adds up more than two dozen of the 33 ulp halves that this
/// allows. Fused multiply-adds round less often.
pub(crate) const ROUNDING: f32 = 2e-6;

/// Flag bit of a child index that is a leaf.
pub(crate) const LEAF_FLAG: u32 = 1 << 31;
/// Child index of an empty lane; its bounds are never near.
pub(crate) const NO_CHILD: u32 = u32::MAX;
/// Entries of a traversal stack: each level adds at most [`LANES`] − 1, and [`build`](super::build)
/// keeps the depth below [`MAX_DEPTH`].
pub(crate) const STACK: usize = (LANES - 1) * MAX_DEPTH + LANES;

/// Oriented boxes of [`LANES`] children, in local coordinates.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// Orthonormal axes; the last is the mean normal.
    pub(crate) axes: [Stored3; 3],
    /// Minus the centre, along each axis.
    pub(crate) shift: Stored3,
    /// Half extents along each axis.
    pub(crate) half: Stored3,
}

pub(crate) struct Node {
    pub(crate) bounds: Bounds,
    pub(crate) children: [u32; LANES],
}

/// [`LANES`] triangles in local coordinates, each in a frame of its own: the longest edge along x
/// from the origin, the third corner above it in the x–y plane. The search is then two-dimensional
/// and needs no division.
pub(crate) struct Leaf {
    pub(crate) axes: [Stored3; 3],
    /// Minus the frame's origin, along each axis.
    pub(crate) shift: Stored3,
    /// Length of the longest edge.
    pub(crate) length: Stored,
    /// Third corner.
    pub(crate) apex: [Stored; 2],
    /// 1 / |edge|² of the edges from the apex to the origin and to the end of the longest edge; 0
    /// for an edge without length.
    pub(crate) inverse_length_squared: [Stored; 2],
    /// Centre of a ball around the triangle.
    pub(crate) center: Stored3,
    pub(crate) radius: Stored,
    pub(crate) faces: [u32; LANES],
}

/// Oriented box of one child.
#[derive(Clone, Copy)]
pub(crate) struct BoundsLane {
    pub(crate) axes: [Vec3; 3],
    pub(crate) offset: Vec3,
    pub(crate) half: Vec3,
}

impl Bounds {
    /// Empty bounds, farther than any threshold, so that an empty lane is never visited.
    pub(crate) const NOWHERE: Bounds = {
        let zero = Aligned([0.0; LANES]);
        let never = Aligned([f32::NEG_INFINITY; LANES]);
        Bounds {
            axes: [[zero; 3]; 3],
            shift: [zero; 3],
            half: [never; 3],
        }
    };

    /// Computes a lower bound of the distance² from a point to the contents of each child.
    #[inline(always)]
    pub(crate) fn distance_squared<L: Lanes>(&self, point: [L; 3]) -> L {
        let zero = L::splat(0.0);
        let mut sum = zero;
        for axis in 0..3 {
            let off = fused_dot3(load3(&self.axes[axis]), point, L::load(&self.shift[axis]));
            let outside = off.abs().sub(L::load(&self.half[axis])).max(zero);
            sum = outside.fused(outside, sum);
        }
        sum
    }

    /// Computes the lower bound of [`Self::distance_squared`] for one child and eight points.
    #[inline(always)]
    pub(crate) fn lane_distance_squared<L: Lanes>(&self, lane: usize, points: [L; 3]) -> L {
        let zero = L::splat(0.0);
        let mut sum = zero;
        for axis in 0..3 {
            let off = fused_dot3(
                splat_lane3(&self.axes[axis], lane),
                points,
                splat_lane(&self.shift[axis], lane),
            );
            let outside = off.abs().sub(splat_lane(&self.half[axis], lane)).max(zero);
            sum = outside.fused(outside, sum);
        }
        sum
    }

    /// Computes an upper bound of the distance² from a point to the contents of each child.
    #[inline(always)]
    pub(crate) fn farthest_squared<L: Lanes>(&self, point: [L; 3]) -> L {
        let mut sum = L::splat(0.0);
        for axis in 0..3 {
            let off = fused_dot3(load3(&self.axes[axis]), point, L::load(&self.shift[axis]));
            let farthest = off.abs().add(L::load(&self.half[axis]));
            sum = farthest.fused(farthest, sum);
        }
        sum
    }

    pub(crate) fn lane(&self, i: usize) -> BoundsLane {
        let at = |v: &Stored3| Vec3::new(v[0].0[i], v[1].0[i], v[2].0[i]);
        BoundsLane {
            axes: [at(&self.axes[0]), at(&self.axes[1]), at(&self.axes[2])],
            offset: -at(&self.shift),
            half: at(&self.half),
        }
    }

    #[inline(always)]
    pub(crate) fn copy_lane(&mut self, lane: usize, other: &Bounds, from: usize) {
        for i in 0..3 {
            for j in 0..3 {
                self.axes[i][j].0[lane] = other.axes[i][j].0[from];
            }
            self.shift[i].0[lane] = other.shift[i].0[from];
            self.half[i].0[lane] = other.half[i].0[from];
        }
    }

    #[inline(always)]
    pub(crate) fn set_lane(&mut self, i: usize, lane: BoundsLane) {
        let put = |v: &mut Stored3, value: Vec3| {
            v[0].0[i] = value.x;
            v[1].0[i] = value.y;
            v[2].0[i] = value.z;
        };
        put(&mut self.axes[0], lane.axes[0]);
        put(&mut self.axes[1], lane.axes[1]);
        put(&mut self.axes[2], lane.axes[2]);
        put(&mut self.shift, -lane.offset);
        put(&mut self.half, lane.half);
    }
}

impl Leaf {
    /// Empty leaf, far from everything: the mesh is in the unit ball, and the square still fits an
    /// `f32`.
    pub(crate) const NOWHERE: Leaf = {
        let far = Aligned([1e18; LANES]);
        let zero = Aligned([0.0; LANES]);
        Leaf {
            axes: [[zero; 3]; 3],
            shift: [far; 3],
            length: zero,
            apex: [zero; 2],
            inverse_length_squared: [zero; 2],
            center: [far; 3],
            radius: zero,
            faces: [NO_CHILD; LANES],
        }
    };

    pub(crate) fn set_lane(&mut self, lane: usize, face: u32, corners: [Vec3; 3]) {
        // In f64: in f32 a sliver's normal would have no correct digit. Corners are sorted so that
        // both orientations of a face give the same bits.
        let mut corners = corners.map(|corner| corner.as_dvec3());
        corners.sort_unstable_by(|a, b| {
            let in_order = a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y));
            in_order.then(a.z.total_cmp(&b.z))
        });
        // Frame: the longest edge gives x and the origin, the normal z.
        let edge = |i: usize| corners[(i + 1) % 3] - corners[i];
        let longest = (0..3)
            .max_by(|&i, &j| {
                edge(i)
                    .length_squared()
                    .total_cmp(&edge(j).length_squared())
            })
            .unwrap_or(0);
        let origin = corners[longest];
        let to_apex = corners[(longest + 2) % 3] - origin;
        let x = edge(longest).try_normalize().unwrap_or(DVec3::X);
        // A sliver's cross product may be all rounding error and not perpendicular to x.
        let normal = edge(longest)
            .cross(to_apex)
            .reject_from_normalized(x)
            .try_normalize();
        let z = normal.unwrap_or_else(|| x.any_orthonormal_vector());
        let y = z.cross(x);
        let (length, apex) = (edge(longest).length(), [to_apex.dot(x), to_apex.dot(y)]);
        let put = |v: &mut Stored3, value: DVec3| {
            for (slot, value) in v.iter_mut().zip(value.to_array()) {
                slot.0[lane] = value as f32;
            }
        };
        for (slot, axis) in self.axes.iter_mut().zip([x, y, z]) {
            put(slot, axis);
        }
        put(
            &mut self.shift,
            -DVec3::new(origin.dot(x), origin.dot(y), origin.dot(z)),
        );
        self.length.0[lane] = length as f32;
        let inverse = |squared: f64| if squared > 0.0 { 1.0 / squared } else { 0.0 };
        // Squared lengths of the two edges at the apex.
        let beyond = apex[0] - length;
        let squares = [
            apex[0] * apex[0] + apex[1] * apex[1],
            beyond * beyond + apex[1] * apex[1],
        ];
        for i in 0..2 {
            self.apex[i].0[lane] = apex[i] as f32;
            self.inverse_length_squared[i].0[lane] = inverse(squares[i]) as f32;
        }
        // The midpoint of the longest edge is within √3/2 of its length of every corner, and
        // usually much nearer.
        let center = origin + 0.5 * edge(longest);
        let radius = corners
            .map(|corner| corner.distance(center))
            .into_iter()
            .fold(0.0, f64::max);
        put(&mut self.center, center);
        self.radius.0[lane] = radius as f32;
        self.faces[lane] = face;
    }

    /// Computes the distance² to each triangle, with an error of at most [`ROUNDING`].
    #[inline(always)]
    pub(crate) fn distance_squared<L: Lanes>(&self, point: [L; 3]) -> L {
        let height = self.along(2, point);
        let in_plane = plane_distance_squared::<L, Fused>(
            [self.along(0, point), self.along(1, point)],
            L::load(&self.length),
            [L::load(&self.apex[0]), L::load(&self.apex[1])],
            [
                L::load(&self.inverse_length_squared[0]),
                L::load(&self.inverse_length_squared[1]),
            ],
        );
        height.fused(height, in_plane)
    }

    /// Computes the offset of a point from each triangle.
    #[inline(always)]
    pub(crate) fn off<L: Lanes>(&self, point: [L; 3]) -> Off<L> {
        let height = self.along(2, point);
        let [x, y, in_plane] = plane_off::<L, Fused>(
            [self.along(0, point), self.along(1, point)],
            L::load(&self.length),
            [L::load(&self.apex[0]), L::load(&self.apex[1])],
            [
                L::load(&self.inverse_length_squared[0]),
                L::load(&self.inverse_length_squared[1]),
            ],
        );
        let [along_x, along_y, along_z] = [&self.axes[0], &self.axes[1], &self.axes[2]];
        let mut way = [x; 3];
        for (i, way) in way.iter_mut().enumerate() {
            let in_plane = x.fused(L::load(&along_x[i]), y.mul(L::load(&along_y[i])));
            *way = height.fused(L::load(&along_z[i]), in_plane);
        }
        Off {
            way,
            distance_squared: height.fused(height, in_plane),
        }
    }

    /// Computes one coordinate of a point in the frame of each triangle.
    #[inline(always)]
    pub(crate) fn along<L: Lanes>(&self, axis: usize, point: [L; 3]) -> L {
        fused_dot3(load3(&self.axes[axis]), point, L::load(&self.shift[axis]))
    }

    /// Computes the distance² of eight points from the plane of one triangle.
    #[inline(always)]
    pub(crate) fn lane_height_squared<L: Lanes, S: Sums>(&self, lane: usize, points: [L; 3]) -> L {
        let height = self.lane_along::<L, S>(2, lane, points);
        height.mul(height)
    }

    /// Computes the in-plane part of the distance² of eight points to one triangle;
    /// [`Self::lane_height_squared`] is the rest.
    #[inline(always)]
    pub(crate) fn lane_plane_distance_squared<L: Lanes, S: Sums>(
        &self,
        lane: usize,
        points: [L; 3],
    ) -> L {
        plane_distance_squared::<L, S>(
            [
                self.lane_along::<L, S>(0, lane, points),
                self.lane_along::<L, S>(1, lane, points),
            ],
            splat_lane(&self.length, lane),
            [
                splat_lane(&self.apex[0], lane),
                splat_lane(&self.apex[1], lane),
            ],
            [
                splat_lane(&self.inverse_length_squared[0], lane),
                splat_lane(&self.inverse_length_squared[1], lane),
            ],
        )
    }

    /// Computes one coordinate of eight points in the frame of one triangle.
    #[inline(always)]
    pub(crate) fn lane_along<L: Lanes, S: Sums>(
        &self,
        axis: usize,
        lane: usize,
        points: [L; 3],
    ) -> L {
        let [x, y, z] = splat_lane3(&self.axes[axis], lane);
        let sum = S::sum(x, points[0], splat_lane(&self.shift[axis], lane));
        S::sum(z, points[2], S::sum(y, points[1], sum))
    }

    /// Returns the centre and radius of a ball around one triangle.
    #[inline(always)]
    pub(crate) fn ball(&self, lane: usize) -> (Vec3, f32) {
        let [x, y, z] = &self.center;
        (
            Vec3::new(x.0[lane], y.0[lane], z.0[lane]),
            self.radius.0[lane],
        )
    }
}

/// Multiply-add, fused or not.
pub(crate) trait Sums {
    /// Computes `a · b + c`.
    fn sum<L: Lanes>(a: L, b: L, c: L) -> L;
    /// Computes `c − a · b`.
    fn rest<L: Lanes>(a: L, b: L, c: L) -> L;
}

/// The CPU's fastest multiply-add: for tests that only reject.
pub(crate) struct Fused;

impl Sums for Fused {
    #[inline(always)]
    fn sum<L: Lanes>(a: L, b: L, c: L) -> L {
        a.fused(b, c)
    }
    #[inline(always)]
    fn rest<L: Lanes>(a: L, b: L, c: L) -> L {
        a.fused_from(b, c)
    }
}

/// Separate multiplication and addition, with the same bits on every CPU: for values that are
/// returned.
pub(crate) struct Same;

impl Sums for Same {
    #[inline(always)]
    fn sum<L: Lanes>(a: L, b: L, c: L) -> L {
        a.mul(b).add(c)
    }
    #[inline(always)]
    fn rest<L: Lanes>(a: L, b: L, c: L) -> L {
        c.sub(a.mul(b))
    }
}

/// Offset of a point from each of [`LANES`] triangles. Local units.
#[derive(Clone, Copy)]
pub(crate) struct Off<L> {
    /// Vector from the nearest point of the triangle.
    pub(crate) way: [L; 3],
    pub(crate) distance_squared: L,
}

/// Computes the offset of (x, y) from the triangle (0, 0), (length, 0), apex in its plane, and the
/// square of that offset: 0 inside all three edges, else from the nearest edge.
#[inline(always)]
pub(crate) fn plane_off<L: Lanes, S: Sums>(
    point: [L; 2],
    length: L,
    apex: [L; 2],
    inverse_length_squared: [L; 2],
) -> [L; 3] {
    let ([base, left, right], inside) =
        plane_edges::<L, S>(point, length, apex, inverse_length_squared);
    let nearest = nearer(nearer(base, left), right);
    let zero = L::splat(0.0);
    [
        inside.select_positive(zero, nearest[0]),
        inside.select_positive(zero, nearest[1]),
        inside.select_positive(zero, nearest[2]),
    ]
}

/// Returns the offset with the smaller square.
#[inline(always)]
pub(crate) fn nearer<L: Lanes>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    let excess = a[2].sub(b[2]);
    [
        excess.select_positive(b[0], a[0]),
        excess.select_positive(b[1], a[1]),
        excess.select_positive(b[2], a[2]),
    ]
}

/// Computes only the square of [`plane_off`], which takes fewer instructions.
#[inline(always)]
pub(crate) fn plane_distance_squared<L: Lanes, S: Sums>(
    point: [L; 2],
    length: L,
    apex: [L; 2],
    inverse_length_squared: [L; 2],
) -> L {
    let ([[_, _, to_base], [_, _, to_left], [_, _, to_right]], inside) =
        plane_edges::<L, S>(point, length, apex, inverse_length_squared);
    inside.select_positive(L::splat(0.0), to_base.min(to_left).min(to_right))
}

/// Computes the offset of (x, y) from each edge of such a triangle with its square, and a number
/// that is positive inside all three edges.
#[inline(always)]
pub(crate) fn plane_edges<L: Lanes, S: Sums>(
    [x, y]: [L; 2],
    length: L,
    apex: [L; 2],
    inverse_length_squared: [L; 2],
) -> ([[L; 3]; 3], L) {
    let zero = L::splat(0.0);
    let beyond = x.sub(x.max(zero).min(length));
    let base = [beyond, y, S::sum(beyond, beyond, y.mul(y))];
    let (left, left_of) = plane_edge::<L, S>([x, y], apex, inverse_length_squared[0]);
    let (right, right_of) = plane_edge::<L, S>(
        [x.sub(length), y],
        [apex[0].sub(length), apex[1]],
        inverse_length_squared[1],
    );
    ([base, left, right], y.min(right_of).min(zero.sub(left_of)))
}

/// Computes the offset of a point from the edge from the origin to `end` with its square, and a
/// number that is positive to the left of the edge.
#[inline(always)]
pub(crate) fn plane_edge<L: Lanes, S: Sums>(
    point: [L; 2],
    end: [L; 2],
    inverse_length_squared: L,
) -> ([L; 3], L) {
    let along = S::sum(point[0], end[0], point[1].mul(end[1]));
    let share = along.mul(inverse_length_squared);
    let share = share.max(L::splat(0.0)).min(L::splat(1.0));
    let x = S::rest(share, end[0], point[0]);
    let y = S::rest(share, end[1], point[1]);
    let left = S::rest(end[1], point[0], end[0].mul(point[1]));
    ([x, y, S::sum(x, x, y.mul(y))], left)
}

/// Largest possible depth: surface-area splits to [`AREA_DEPTH`], then halving of at most 2³²
/// triangles.
pub(crate) const MAX_DEPTH: usize = AREA_DEPTH + 32;

/// Depth at which the build changes to median splits. Good trees of a billion triangles are
/// shallower; deeper ones come from chains of nested triangles.
pub(crate) const AREA_DEPTH: usize = 32;
