//! Nodes and leaves of the hierarchy: boxes along axes of their own, triangles in planes, eight at a time.

use crate::geom::lanes::{
    Aligned, LANES, Lanes, Stored, Stored3, fused_dot3, load3, splat_lane, splat_lane3,
};
use glam::{DVec3, Vec3};

/// Upper bound of every rounding error of an `f32` distance, as a share of `1 + |p|`, with the mesh scaled into
/// the unit ball: coordinates, unit vectors and offsets are each off by half an ulp (6e-8), and no chain below
/// adds up more than two dozen of the 33 that this is. Where products and sums are fused there are fewer.
pub(crate) const ROUNDING: f32 = 2e-6;

/// A child index with this bit set is a leaf.
pub(crate) const LEAF_FLAG: u32 = 1 << 31;
/// Of a lane without a child; its bounds are never near.
pub(crate) const NO_CHILD: u32 = u32::MAX;
/// Entries of a traversal stack: each level adds at most [`LANES`] − 1, and [`build`](super::build) keeps below that depth.
pub(crate) const STACK: usize = (LANES - 1) * MAX_DEPTH + LANES;

/// Bounds of [`LANES`] children: boxes along their own axes, in local coordinates.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// Unit and orthogonal; the last is the mean normal.
    pub(crate) axes: [Stored3; 3],
    /// Minus the centre, along each axis.
    pub(crate) shift: Stored3,
    /// Half the sides, along each axis.
    pub(crate) half: Stored3,
}

pub(crate) struct Node {
    pub(crate) bounds: Bounds,
    pub(crate) children: [u32; LANES],
}

/// [`LANES`] triangles in local coordinates, each in a frame of its own: the longest edge along x from the origin, the
/// third corner above it in the x–y plane. Two dimensions less to search in, and no division.
pub(crate) struct Leaf {
    pub(crate) axes: [Stored3; 3],
    /// Minus the frame's origin, along each axis.
    pub(crate) shift: Stored3,
    /// Of the longest edge.
    pub(crate) length: Stored,
    /// The third corner.
    pub(crate) apex: [Stored; 2],
    /// 1 / |edge|² of the edges from the apex to the origin and to the end of the longest edge; 0 for one without length.
    pub(crate) inverse_length_squared: [Stored; 2],
    /// A ball around the triangle.
    pub(crate) center: Stored3,
    pub(crate) radius: Stored,
    pub(crate) faces: [u32; LANES],
}

/// One lane of [`Bounds`].
#[derive(Clone, Copy)]
pub(crate) struct BoundsLane {
    pub(crate) axes: [Vec3; 3],
    pub(crate) offset: Vec3,
    pub(crate) half: Vec3,
}

impl Bounds {
    /// Farther than any threshold, so that an empty lane is never visited.
    pub(crate) const NOWHERE: Bounds = {
        let zero = Aligned([0.0; LANES]);
        let never = Aligned([f32::NEG_INFINITY; LANES]);
        Bounds {
            axes: [[zero; 3]; 3],
            shift: [zero; 3],
            half: [never; 3],
        }
    };

    /// Lower bound of the distance² to whatever lies in each child.
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

    /// As [`Self::distance_squared`], of one child to eight points.
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

    /// Upper bound of the distance² to whatever lies in each child.
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
    /// Far from everything; the unit ball holds the mesh, and the square still fits an `f32`.
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
        // In f64: of a sliver, f32 would keep no digit of the normal. In one order, whichever way the face is turned, for the same bits.
        let mut corners = corners.map(|corner| corner.as_dvec3());
        corners.sort_unstable_by(|a, b| {
            let in_order = a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y));
            in_order.then(a.z.total_cmp(&b.z))
        });
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
        // What rounding leaves of a sliver's cross product need not be perpendicular.
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
        let beyond = apex[0] - length;
        let squares = [
            apex[0] * apex[0] + apex[1] * apex[1],
            beyond * beyond + apex[1] * apex[1],
        ];
        for i in 0..2 {
            self.apex[i].0[lane] = apex[i] as f32;
            self.inverse_length_squared[i].0[lane] = inverse(squares[i]) as f32;
        }
        // The middle of the longest edge is within √3/2 of its length of every corner, and usually much nearer.
        let center = origin + 0.5 * edge(longest);
        let radius = corners
            .map(|corner| corner.distance(center))
            .into_iter()
            .fold(0.0, f64::max);
        put(&mut self.center, center);
        self.radius.0[lane] = radius as f32;
        self.faces[lane] = face;
    }

    /// Distance² to each triangle, within [`ROUNDING`] of the truth.
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

    /// How a point is off each triangle.
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

    /// A coordinate of a point in the frame of each triangle.
    #[inline(always)]
    pub(crate) fn along<L: Lanes>(&self, axis: usize, point: [L; 3]) -> L {
        fused_dot3(load3(&self.axes[axis]), point, L::load(&self.shift[axis]))
    }

    /// Square of the distance of eight points to the plane of one triangle.
    #[inline(always)]
    pub(crate) fn lane_height_squared<L: Lanes, S: Sums>(&self, lane: usize, points: [L; 3]) -> L {
        let height = self.lane_along::<L, S>(2, lane, points);
        height.mul(height)
    }

    /// As [`Self::distance_squared`], of one triangle to eight points, less their [`Self::lane_height_squared`].
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

    /// A coordinate of eight points in the frame of one triangle.
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

    /// A ball around one triangle.
    #[inline(always)]
    pub(crate) fn ball(&self, lane: usize) -> (Vec3, f32) {
        let [x, y, z] = &self.center;
        (
            Vec3::new(x.0[lane], y.0[lane], z.0[lane]),
            self.radius.0[lane],
        )
    }
}

/// How products are added up.
pub(crate) trait Sums {
    /// `a · b + c`.
    fn sum<L: Lanes>(a: L, b: L, c: L) -> L;
    /// `c − a · b`.
    fn rest<L: Lanes>(a: L, b: L, c: L) -> L;
}

/// As fast as the CPU can: for what only rejects.
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

/// The same bits on every CPU: for what is kept.
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

/// How a point is off each of [`LANES`] triangles. Local units.
#[derive(Clone, Copy)]
pub(crate) struct Off<L> {
    /// From the nearest point of the triangle.
    pub(crate) way: [L; 3],
    pub(crate) distance_squared: L,
}

/// In the plane of a triangle (0, 0), (length, 0), apex: how (x, y) is off it, and the square of that. 0 inside all three edges, else from the nearest edge.
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

/// What has the smaller square.
#[inline(always)]
pub(crate) fn nearer<L: Lanes>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    let excess = a[2].sub(b[2]);
    [
        excess.select_positive(b[0], a[0]),
        excess.select_positive(b[1], a[1]),
        excess.select_positive(b[2], a[2]),
    ]
}

/// The square alone of [`plane_off`], which takes fewer instructions.
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

/// How (x, y) is off each edge of such a triangle, with the square of that, and a number that is positive inside all three.
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

/// How a point is off the edge from the origin to `end`, the square of that, and a number that is positive to the left of the edge.
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

/// Levels that can occur: surface-area splits to [`AREA_DEPTH`], then halving of at most 2³² triangles.
pub(crate) const MAX_DEPTH: usize = AREA_DEPTH + 32;

/// Good trees of a billion triangles end above this depth; deeper ones come from chains of nested triangles.
pub(crate) const AREA_DEPTH: usize = 32;
