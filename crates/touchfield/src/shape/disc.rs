//! Thick discs that bound pieces of a surface: all points within a radius of a centre and within
//! half a thickness of a plane.
//!
//! Input: triangles.
//! Output: a [`Disc`] that encloses them; eight discs in a [`DiscBlock`]; lower bounds on the
//! distance between discs.
//! Cost: two passes over the corners; 320 bytes per block; some twenty nanoseconds for eight pairs.
//! Not for: exact distances, which need triangles.
//!
//! A smooth patch of surface of size s deviates from a plane by only about s². For two patches that
//! face each other, bounding spheres underestimate the distance by about s, discs by about s². So a
//! search over pairs of discs opens about the same number of pairs at every level, where one over
//! spheres opens twice as many at each.

use glam::{DVec3, Vec3};

use crate::geom::lanes::{self, Aligned, LANES, Lanes, Stored, Stored3, Work};

/// A thick disc: the points within `radius` of `center` and at most `half_thickness` from the plane
/// through it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Disc {
    /// Centre \[m\].
    pub(crate) center: Vec3,
    /// Radius \[m\].
    pub(crate) radius: f32,
    /// Unit normal of the plane.
    pub(crate) normal: Vec3,
    /// Half the thickness \[m\], at most the radius.
    pub(crate) half_thickness: f32,
}

impl Disc {
    /// Computes a disc around all corners of some triangles, oriented along their mean normal.
    pub(super) fn around(triangles: impl Iterator<Item = [Vec3; 3]> + Clone) -> Disc {
        let corners = triangles.clone().flatten().map(Vec3::as_dvec3);
        let mut area = DVec3::ZERO;
        let (mut least, mut most) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for triangle in triangles {
            let [a, b, c] = triangle.map(Vec3::as_dvec3);
            area += (b - a).cross(c - a);
            least = least.min(a).min(b).min(c);
            most = most.max(a).max(b).max(c);
        }
        // A closed surface has no mean normal; its disc is close to a sphere in any direction.
        let normal = area.try_normalize().unwrap_or(DVec3::Z).as_vec3();
        let along = normal.as_dvec3();
        let middle = 0.5 * least + 0.5 * most;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for corner in corners.clone() {
            let height = along.dot(corner - middle);
            low = low.min(height);
            high = high.max(height);
        }
        let center = (middle + 0.5 * (low + high) * along).as_vec3();
        // Measured from the centre as stored, rounded to `f32`.
        let from = center.as_dvec3();
        let (mut radius_squared, mut half_thickness) = (0.0_f64, 0.0_f64);
        for corner in corners {
            radius_squared = radius_squared.max(corner.distance_squared(from));
            half_thickness = half_thickness.max(along.dot(corner - from).abs());
        }
        // Rounded up, because conversion to `f32` may round down.
        let radius = (radius_squared.sqrt() as f32).next_up();
        Disc {
            center,
            radius,
            normal,
            half_thickness: (half_thickness as f32).next_up().min(radius),
        }
    }
}

/// Content of one disc of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    /// The discs of another block.
    Block(u32),
    /// One triangle.
    Triangle(u32),
}

/// Up to eight discs side by side, and the content of each.
#[derive(Clone, Debug)]
pub(crate) struct DiscBlock {
    center: Stored3,
    normal: Stored3,
    radius: Stored,
    half_thickness: Stored,
    below: [Below; LANES],
    count: usize,
}

impl DiscBlock {
    /// Creates a block of one to eight discs. Unused lanes repeat the last disc and are not
    /// counted.
    pub(super) fn of(discs: &[(Disc, Below)]) -> DiscBlock {
        let at = |lane: usize| discs[lane.min(discs.len() - 1)];
        let stored = |number: fn(&Disc) -> f32| -> Stored {
            Aligned(std::array::from_fn(|lane| number(&at(lane).0)))
        };
        DiscBlock {
            center: [
                stored(|disc| disc.center.x),
                stored(|disc| disc.center.y),
                stored(|disc| disc.center.z),
            ],
            normal: [
                stored(|disc| disc.normal.x),
                stored(|disc| disc.normal.y),
                stored(|disc| disc.normal.z),
            ],
            radius: stored(|disc| disc.radius),
            half_thickness: stored(|disc| disc.half_thickness),
            below: std::array::from_fn(|lane| at(lane).1),
            count: discs.len().min(LANES),
        }
    }

    /// Returns the number of discs.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the disc in a lane.
    pub(crate) fn disc(&self, lane: usize) -> Disc {
        let vector = |[x, y, z]: &Stored3| Vec3::new(x.0[lane], y.0[lane], z.0[lane]);
        Disc {
            center: vector(&self.center),
            radius: self.radius.0[lane],
            normal: vector(&self.normal),
            half_thickness: self.half_thickness.0[lane],
        }
    }

    /// Returns the content of the disc in a lane.
    pub(crate) fn below(&self, lane: usize) -> Below {
        self.below[lane]
    }

    pub(super) fn set_below(&mut self, lane: usize, below: Below) {
        self.below[lane] = below;
    }

    /// Returns, for each lane, a lower bound on the distance between that disc and `other` \[m\],
    /// up to rounding by a few units in the last place of the distance and the radii. It is the
    /// widest gap along the line between the centres and along both normals.
    #[inline]
    pub(crate) fn at_least_apart(&self, other: &Disc) -> [f32; LANES] {
        lanes::run(Apart { block: self, other })
    }

    /// Returns, for each lane, a lower bound on the distance from that disc to `point` \[m\], up to
    /// rounding.
    #[inline]
    pub(crate) fn at_least_away(&self, point: Vec3) -> [f32; LANES] {
        lanes::run(Away { block: self, point })
    }
}

struct Apart<'a> {
    block: &'a DiscBlock,
    other: &'a Disc,
}

/// One side of eight pairs of discs.
#[derive(Clone, Copy)]
struct Side<L> {
    radius: L,
    half_thickness: L,
    /// Squared radius of the two flat faces \[m²\].
    face_squared: L,
}

impl<L: Lanes> Side<L> {
    #[inline(always)]
    fn new(radius: L, half_thickness: L) -> Side<L> {
        Side {
            radius,
            half_thickness,
            face_squared: radius.sub(half_thickness).mul(radius.add(half_thickness)),
        }
    }

    /// Returns how far the discs extend from their centres along unit vectors, given the cosine
    /// (not negative) and the squared sine of the angle to the discs' normals.
    #[inline(always)]
    fn reach(self, cosine: L, sine_squared: L) -> L {
        let to_rim =
            (self.half_thickness.mul(cosine)).add(self.face_squared.mul(sine_squared).sqrt());
        // Towards the spherical rim the disc extends as far as a ball; otherwise to the edge of a
        // flat face.
        let beyond = self.radius.mul(cosine).sub(self.half_thickness);
        beyond.select_positive(to_rim, self.radius)
    }
}

#[inline(always)]
fn cross_squared<L: Lanes>(a: [L; 3], b: [L; 3]) -> L {
    let x = a[1].mul(b[2]).sub(a[2].mul(b[1]));
    let y = a[2].mul(b[0]).sub(a[0].mul(b[2]));
    let z = a[0].mul(b[1]).sub(a[1].mul(b[0]));
    lanes::dot3([x, y, z], [x, y, z])
}

impl Work for Apart<'_> {
    type Output = [f32; LANES];

    #[inline(always)]
    fn run<L: Lanes>(self) -> [f32; LANES] {
        let Apart { block, other } = self;
        let normal: [L; 3] = lanes::load3(&block.normal);
        let other_normal: [L; 3] = lanes::splat3(other.normal);
        let own = Side::new(L::load(&block.radius), L::load(&block.half_thickness));
        let others = Side::new(L::splat(other.radius), L::splat(other.half_thickness));
        let between: [L; 3] = lanes::sub3(lanes::splat3(other.center), lanes::load3(&block.center));
        let distance = lanes::dot3(between, between).sqrt();
        // Coincident centres define no line, and there is no gap either.
        let inverse = L::splat(1.0).div(distance.max(L::splat(f32::MIN_POSITIVE)));
        let line = [
            between[0].mul(inverse),
            between[1].mul(inverse),
            between[2].mul(inverse),
        ];
        // Sines from cross products: 1 − cosine² would lose half the digits of small sines.
        let (cosine, bend) = (
            lanes::dot3(normal, other_normal).abs(),
            cross_squared(normal, other_normal),
        );
        let by_own = (lanes::dot3(normal, between).abs())
            .sub(own.half_thickness)
            .sub(others.reach(cosine, bend));
        let by_other = (lanes::dot3(other_normal, between).abs())
            .sub(others.half_thickness)
            .sub(own.reach(cosine, bend));
        let own_reach = own.reach(lanes::dot3(normal, line).abs(), cross_squared(normal, line));
        let other_cosine = lanes::dot3(other_normal, line).abs();
        let other_reach = others.reach(other_cosine, cross_squared(other_normal, line));
        let by_line = distance.sub(own_reach).sub(other_reach);
        by_own.max(by_other).max(by_line).store().0
    }
}

struct Away<'a> {
    block: &'a DiscBlock,
    point: Vec3,
}

impl Work for Away<'_> {
    type Output = [f32; LANES];

    #[inline(always)]
    fn run<L: Lanes>(self) -> [f32; LANES] {
        let Away { block, point } = self;
        let between: [L; 3] = lanes::sub3(lanes::splat3(point), lanes::load3(&block.center));
        let height = lanes::dot3(between, lanes::load3(&block.normal)).abs();
        let aside = lanes::dot3(between, between).sub(height.mul(height));
        let zero = L::splat(0.0);
        let over = height.sub(L::load(&block.half_thickness)).max(zero);
        let beside = aside.max(zero).sqrt().sub(L::load(&block.radius)).max(zero);
        over.mul(over).add(beside.mul(beside)).sqrt().store().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Mat3;
    use proptest::prelude::*;

    fn triangle() -> impl Strategy<Value = [Vec3; 3]> {
        let point = || prop::array::uniform3(-1.0f32..1.0).prop_map(Vec3::from);
        (point(), point(), point(), 0.0f32..1.0).prop_map(|(a, b, c, flat)| {
            // Includes flat triangles.
            let squash = Mat3::from_diagonal(Vec3::new(1.0, 1.0, flat * flat));
            [a, b, c].map(|corner| squash * corner)
        })
    }

    proptest! {
        #[test]
        fn discs_hold_their_triangles_and_are_no_farther_apart_than_those(
            a in prop::collection::vec(triangle(), 1..4),
            b in prop::collection::vec(triangle(), 1..4),
            offset in prop::array::uniform3(-4.0f32..4.0),
            weights in prop::collection::vec(prop::array::uniform3(0.0f32..1.0), 20),
        ) {
            let b: Vec<_> = b.iter().map(|t| t.map(|corner| corner + Vec3::from(offset))).collect();
            let (disc_a, disc_b) = (Disc::around(a.iter().copied()), Disc::around(b.iter().copied()));
            for (disc, triangles) in [(disc_a, &a), (disc_b, &b)] {
                for &corner in triangles.iter().flatten() {
                    prop_assert!(corner.distance(disc.center) <= disc.radius * 1.000_001);
                    prop_assert!(disc.normal.dot(corner - disc.center).abs() <= disc.half_thickness + 1e-6);
                }
            }
            let block = DiscBlock::of(&[(disc_a, Below::Triangle(0))]);
            let lower = block.at_least_apart(&disc_b)[0];
            let at = |[a, b, c]: [Vec3; 3], w: [f32; 3]| (w[0] * a + w[1] * b + w[2] * c) / (w[0] + w[1] + w[2]).max(1e-3);
            let mut nearest = f32::INFINITY;
            for (i, w) in weights.iter().enumerate() {
                for v in &weights {
                    let (p, q) = (at(a[i % a.len()], *w), at(b[i % b.len()], *v));
                    nearest = nearest.min(p.distance(q));
                }
            }
            prop_assert!(lower <= nearest + 1e-5, "{lower} where points are {nearest} apart");
            // The bound is never worse than that of spheres.
            let spheres = disc_a.center.distance(disc_b.center) - disc_a.radius - disc_b.radius;
            prop_assert!(lower >= spheres - 1e-5);
            for (i, w) in weights.iter().enumerate() {
                let point = at(b[i % b.len()], *w);
                let away = block.at_least_away(point)[0];
                let nearest = weights.iter().map(|v| at(a[i % a.len()], *v).distance(point));
                let nearest = nearest.fold(f32::INFINITY, f32::min);
                prop_assert!(away <= nearest + 2e-3, "{away} where a point is {nearest} away");
            }
        }
    }
}
