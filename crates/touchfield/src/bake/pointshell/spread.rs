//! A growing set of points with a minimum distance, and a search for points within reach of a
//! position.
//!
//! Input: points one by one.
//! Output: whether a position is within reach of a point.
//! Cost: a lookup in at most eight cells of a hashed grid.
//! Not for: points far denser than the reach; points that are present from the start are searched
//! by a tree instead.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use glam::{DVec3, IVec3, Vec3};

use crate::bake::pointshell::nearest::PointTree;
use crate::bake::pointshell::settings::ShellBakeError;
use crate::geom::mixed;

/// Cosine of the angle between normals beyond which two faces are sides of something thin, so that
/// a point of one does not cover the other. Beyond a right angle, so that edges of boxes are not
/// crowded; short of a half turn, so that blades count as thin.
const OTHER_SIDE: f32 = -0.5;

/// A point of a surface, with the normal of its face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SurfacePoint {
    /// Position \[m\].
    pub(super) at: Vec3,
    /// Normal of its face; zero where it is not known, and then the point covers every side.
    pub(super) normal: Vec3,
}

/// Points, and a grid of cells over them.
pub(super) struct Spread {
    points: Vec<SurfacePoint>,
    /// Points that were present from the start, searched by a tree.
    fixed: PointTree,
    reach: f64,
    origin: DVec3,
    /// Newest point of each cell.
    cells: HashMap<u64, u32, BuildHasherDefault<MixedKey>>,
    /// Per point added later, the previous one in its cell.
    before: Vec<u32>,
    fixed_count: usize,
    max_points: usize,
}

const NONE: u32 = u32::MAX;

impl Spread {
    /// Creates the set with its first points. `origin` lies below all points, by less than 2²⁰
    /// reaches along each axis.
    pub(super) fn new(
        points: Vec<SurfacePoint>,
        reach: f64,
        origin: DVec3,
        max_points: usize,
    ) -> Spread {
        let places: Vec<Vec3> = points.iter().map(|point| point.at).collect();
        Spread {
            fixed: PointTree::new(&places),
            fixed_count: points.len(),
            points,
            reach,
            origin,
            cells: HashMap::default(),
            before: Vec::new(),
            max_points,
        }
    }

    /// Returns the distance within which a point covers a position \[m\].
    pub(super) fn reach(&self) -> f64 {
        self.reach
    }

    /// Returns the largest number of points allowed.
    pub(super) fn max_points(&self) -> usize {
        self.max_points
    }

    /// Returns the number of points so far.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns all points, in the order in which they were added.
    pub(super) fn into_points(self) -> Vec<SurfacePoint> {
        self.points
    }

    /// Adds a point.
    pub(super) fn add(&mut self, point: SurfacePoint) -> Result<(), ShellBakeError> {
        if self.points.len() >= self.max_points {
            return Err(ShellBakeError::TooManyPoints {
                limit: self.max_points,
            });
        }
        let key = key(self.cell(point.at.as_dvec3()));
        let before = self.cells.insert(key, self.points.len() as u32);
        self.before.push(before.unwrap_or(NONE));
        self.points.push(point);
        Ok(())
    }

    /// Adds a point unless one that covers it is nearer than the reach.
    pub(super) fn offer(&mut self, point: SurfacePoint) -> Result<(), ShellBakeError> {
        if self.covers(point.at.as_dvec3(), point.normal) {
            return Ok(());
        }
        self.add(point)
    }

    /// Returns whether some point covers a position of a face with this normal.
    pub(super) fn covers(&self, place: DVec3, normal: Vec3) -> bool {
        let limit = self.reach * self.reach;
        self.any(place, |point| {
            point.at.as_dvec3().distance_squared(place) < limit && same_side(point.normal, normal)
        })
    }

    /// Returns whether one point covers all the positions, which lie within the reach of `middle`.
    pub(super) fn covers_all(&self, middle: DVec3, places: &[DVec3], normal: Vec3) -> bool {
        let limit = self.reach * self.reach;
        self.any(middle, |point| {
            let at = point.at.as_dvec3();
            (places.iter()).all(|place| at.distance_squared(*place) <= limit)
                && same_side(point.normal, normal)
        })
    }

    /// Returns whether any point within the reach of a position passes a test. Points beyond it may
    /// be tested too.
    fn any(&self, place: DVec3, test: impl Fn(&SurfacePoint) -> bool) -> bool {
        let (low, high) = (self.cell(place - self.reach), self.cell(place + self.reach));
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                for x in low.x..=high.x {
                    let Some(&newest) = self.cells.get(&key(IVec3::new(x, y, z))) else {
                        continue;
                    };
                    let mut index = newest;
                    while index != NONE {
                        if test(&self.points[index as usize]) {
                            return true;
                        }
                        index = self.before[index as usize - self.fixed_count];
                    }
                }
            }
        }
        let mut found = false;
        // Once one is found, no other point is near enough.
        let mut bound = self.reach * self.reach;
        self.fixed
            .visit(place, &mut bound, &|_| false, &mut |candidate, bound| {
                let index = self.fixed.index(candidate.slot) as usize;
                if !found && test(&self.points[index]) {
                    found = true;
                    *bound = -1.0;
                }
            });
        found
    }

    fn cell(&self, place: DVec3) -> IVec3 {
        ((place - self.origin) / (2.0 * self.reach))
            .floor()
            .as_ivec3()
    }
}

/// Returns whether a point of a face with the one normal can cover a face with the other.
fn same_side(a: Vec3, b: Vec3) -> bool {
    a.dot(b) >= OTHER_SIDE
}

/// Returns the key of a cell. Cells below the origin, by at most one, wrap around to keys that no
/// other cell has.
fn key(cell: IVec3) -> u64 {
    let [x, y, z] = cell.to_array().map(|c| c as u64 & 0x1F_FFFF);
    x | y << 21 | z << 42
}

/// Hasher that spreads keys over the table: the multiplication of \[Steele2014\]'s mixer. The order
/// of the table is never used.
#[derive(Default)]
struct MixedKey(u64);

impl Hasher for MixedKey {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = mixed(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn covered_is_what_a_search_of_all_finds(
            places in prop::collection::vec(prop::array::uniform3(0.0f32..4.0), 1..120),
            fixed in 0usize..60,
            at in prop::array::uniform3(-1.0f64..5.0)
        ) {
            let points: Vec<SurfacePoint> = (places.iter().enumerate())
                .map(|(i, &p)| SurfacePoint {
                    at: p.into(),
                    normal: [Vec3::X, -Vec3::X, Vec3::ZERO][i % 3],
                })
                .collect();
            let fixed = fixed.min(points.len());
            let mut spread = Spread::new(points[..fixed].to_vec(), 0.5, DVec3::ZERO, 1000);
            for &point in &points[fixed..] {
                spread.add(point).unwrap();
            }
            let at = DVec3::from(at);
            for normal in [Vec3::X, -Vec3::X, Vec3::Y, Vec3::ZERO] {
                let truth = points.iter().any(|point| {
                    point.at.as_dvec3().distance(at) < 0.5 && point.normal.dot(normal) > -0.5
                });
                prop_assert_eq!(spread.covers(at, normal), truth);
            }
            let corners = [at, at + 0.1 * DVec3::X, at - 0.1 * DVec3::Y];
            let truth = points.iter().any(|point| {
                corners.iter().all(|c| point.at.as_dvec3().distance(*c) <= 0.5)
            });
            prop_assert_eq!(spread.covers_all(at, &corners, Vec3::ZERO), truth);
        }
    }

    #[test]
    fn a_limit_ends_it() {
        let mut spread = Spread::new(Vec::new(), 1.0, DVec3::ZERO, 2);
        let point = |x| SurfacePoint {
            at: Vec3::X * x,
            normal: Vec3::Z,
        };
        assert!(spread.offer(point(0.0)).is_ok() && spread.offer(point(0.5)).is_ok());
        assert_eq!(spread.len(), 1);
        assert!(spread.offer(point(2.0)).is_ok());
        assert_eq!(
            spread.offer(point(4.0)),
            Err(ShellBakeError::TooManyPoints { limit: 2 })
        );
    }
}
