//! Finds the least distance between the triangles of two surfaces by pairs of bounding discs.
//!
//! Input: two [`Surface`]s, the pose of the second, and stopping criteria.
//! Output: the nearest points, and a lower bound of the distance.
//! Cost: best-first over pairs of discs, eight at a time, some thousand for meshes of any size; no
//! allocation once the heap has grown.
//! Not for: bodies that overlap, because surfaces carry no information about inside and outside.
//!
//! Discs in `f32` reject what is surely farther than the best by more than the tolerance; the rest
//! is measured in `f64`, triangle by triangle. The first guess descends straight down both trees,
//! then alternates between the nearest places of the two surfaces. It starts the search with a
//! distance that is nearly the least, so that pairs farther away never enter the heap.

use glam::{DMat3, DVec3, Mat3, Vec3};

use crate::geom::{Triangle, rotation_matrix};
use crate::narrow::pair::Pair;
use crate::narrow::search::least_first::{LeastFirst, Open};
use crate::shape::{Below, Disc, DiscBlock, Surface};

/// Body sizes for which squared lengths stay within the range of `f32` \[m\].
const SIZES: std::ops::Range<f32> = 1e-12..1e15;

/// A disc of A and a disc of B, each indexed by eight times its block number plus its lane.
type DiscPair = [u32; 2];

/// Heap of pairs of discs whose triangles may be nearest.
pub(crate) type OpenDiscs = LeastFirst<DiscPair>;

/// Stopping criteria of a search; it stops at the first one that is met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    /// Absolute tolerance of the distance \[m\].
    pub(crate) tolerance: f32,
    /// Relative tolerance of the distance: a fraction of its excess over `level`.
    pub(crate) share: f32,
    /// Distance at which the relative tolerance is 0 \[m\].
    pub(crate) level: f32,
    /// Threshold \[m\]: the search stops once the distance is proven to be above or below it.
    pub(crate) threshold: Option<f32>,
    /// Distance at or below which no closer pair is needed \[m\].
    pub(crate) enough: f32,
    /// Maximum number of pairs of discs visited.
    pub(crate) max_pairs: u32,
}

/// The two nearest points, one of each surface, in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NearestOfSurfaces {
    pub(crate) on_a: Vec3,
    pub(crate) on_b: Vec3,
    /// Distance between the two points \[m\]; 0 if triangles cross.
    pub(crate) distance: f32,
    /// Proven lower bound of the distance between the surfaces \[m\].
    pub(crate) lower_bound: f32,
    /// Number of pairs of discs visited.
    pub(crate) pairs: u32,
    /// Whether the search stopped at the maximum number of pairs.
    pub(crate) gave_up: bool,
}

/// Finds the nearest points of two surfaces.
///
/// `rounding` is the `f32` rounding error of coordinates, both of vertices and of points taken from
/// B to A \[m\]. Returns `None` if a shape has no exact surface, or if one is of a size at which
/// `f32` fails.
pub(crate) fn nearest_points(
    pair: &Pair<'_>,
    until: &Until,
    rounding: f32,
    heap: &mut OpenDiscs,
) -> Option<NearestOfSurfaces> {
    let search = Search::of(pair)?;
    let mut best = search.first_guess(heap);
    heap.clear();
    heap.push(open(f32::NEG_INFINITY, [0, 0]));
    let mut least_left = f32::INFINITY;
    let mut pairs = 0;
    let mut gave_up = false;
    while let Some(next) = heap.pop() {
        // Stop once the best is proven to be good enough, or the limit of pairs is reached.
        let enough = best.low_enough(until);
        let lower = next.lower.min(least_left);
        let is_decided = until.threshold.is_some_and(|threshold| {
            lower > threshold || (lower > 0.0 && best.distance <= f64::from(threshold))
        });
        let is_enough = lower > 0.0 && best.distance <= f64::from(until.enough);
        gave_up = pairs >= until.max_pairs;
        if next.lower >= enough || is_decided || is_enough || gave_up || best.distance == 0.0 {
            least_left = least_left.min(next.lower);
            break;
        }
        // Measure two triangles exactly, or open the larger disc.
        let opening = match search.open(next.piece) {
            Opened::Triangles(triangles) => {
                search.measure(triangles, &mut best);
                continue;
            }
            Opened::Block(opening) => opening,
        };
        // Queue the pairs that may hold something nearer.
        let lowers = opening.block.at_least_apart(&opening.other);
        pairs += opening.block.count() as u32;
        for (lane, lower) in lowers.into_iter().take(opening.block.count()).enumerate() {
            let lower = (lower - rounding).max(next.lower);
            if lower >= enough {
                least_left = least_left.min(lower);
            } else {
                heap.push(open(lower, opening.piece(lane)));
            }
        }
    }
    let distance = best.distance as f32;
    Some(NearestOfSurfaces {
        on_a: best.on_a.as_vec3(),
        on_b: best.on_b.as_vec3(),
        distance,
        // Measured distances have a rounding error, too.
        lower_bound: (distance - rounding).min(least_left),
        pairs,
        gave_up,
    })
}

/// The place where two surfaces meet, in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Meeting {
    /// Indices of the triangle of A and the triangle of B.
    pub(crate) triangles: [u32; 2],
    pub(crate) on_a: Vec3,
    pub(crate) on_b: Vec3,
    /// Distance between the triangles \[m\]; 0 if they cross.
    pub(crate) distance: f32,
}

/// Finds two triangles that cross or, if none do, the two that are nearest, to within `tolerance`
/// \[m\].
///
/// Only triangles at most `within` \[m\] apart count. `rounding` is the `f32` rounding error of
/// coordinates \[m\]. Only pairs of discs that may be that close are opened, the nearest first, so
/// that surfaces farther apart cost little.
pub(crate) fn meeting(
    pair: &Pair<'_>,
    within: f32,
    tolerance: f32,
    rounding: f32,
    heap: &mut OpenDiscs,
) -> Option<Meeting> {
    let search = Search::of(pair)?;
    let mut best: Option<Meeting> = None;
    heap.clear();
    heap.push(open(f32::NEG_INFINITY, [0, 0]));
    while let Some(next) = heap.pop() {
        let low_enough = best.map_or(within, |best| best.distance - tolerance);
        if next.lower > low_enough {
            break;
        }
        let opening = match search.open(next.piece) {
            Opened::Block(opening) => opening,
            Opened::Triangles([a, b]) => {
                let (first, second) = (search.triangle_of_a(a), search.triangle_of_b(b));
                let found = first.nearest_points(second);
                let distance = found.distance_squared.sqrt();
                let is_nearer = match best {
                    Some(best) => distance < f64::from(best.distance),
                    None => distance <= f64::from(within),
                };
                if is_nearer {
                    best = Some(Meeting {
                        triangles: [a, b],
                        on_a: found.on_a.as_vec3(),
                        on_b: found.on_b.as_vec3(),
                        distance: distance as f32,
                    });
                }
                if distance == 0.0 {
                    break;
                }
                continue;
            }
        };
        let lowers = opening.block.at_least_apart(&opening.other);
        for (lane, lower) in lowers.into_iter().take(opening.block.count()).enumerate() {
            let lower = (lower - rounding).max(next.lower);
            if lower <= low_enough {
                heap.push(open(lower, opening.piece(lane)));
            }
        }
    }
    best
}

fn open(lower: f32, [a, b]: DiscPair) -> Open<DiscPair> {
    Open {
        lower,
        number: u64::from(a) << 32 | u64::from(b),
        piece: [a, b],
    }
}

/// The nearest points found so far.
struct Best {
    distance: f64,
    on_a: DVec3,
    on_b: DVec3,
}

impl Best {
    /// Returns the lower bound from which a pair is not worth opening \[m\].
    fn low_enough(&self, until: &Until) -> f32 {
        let distance = self.distance as f32;
        let tolerance = (until.tolerance).max(until.share * (distance - until.level));
        match distance.is_finite() {
            // A wider tolerance would leave open whether the surfaces are apart.
            true => distance - tolerance.min(0.5 * distance),
            false => f32::INFINITY,
        }
    }
}

struct Search<'a> {
    a: &'a Surface,
    b: &'a Surface,
    /// Pose of B in A, for discs.
    rotation: Mat3,
    translation: Vec3,
    /// Pose of B in A in `f64`, for triangles.
    exact_rotation: DMat3,
    exact_translation: DVec3,
}

/// Contents of a pair of discs.
enum Opened<'a> {
    /// One triangle of A and one of B.
    Triangles([u32; 2]),
    Block(Opening<'a>),
}

/// The discs inside one disc of a pair, and the other disc in their frame.
struct Opening<'a> {
    block: &'a DiscBlock,
    number: u32,
    other: Disc,
    /// Pair that was opened.
    pair: DiscPair,
    opens_a: bool,
}

impl Opening<'_> {
    /// Returns the pair in which the disc at `lane` replaces the opened disc.
    fn piece(&self, lane: usize) -> DiscPair {
        let disc = 8 * self.number + lane as u32;
        match self.opens_a {
            true => [disc, self.pair[1]],
            false => [self.pair[0], disc],
        }
    }
}

impl<'a> Search<'a> {
    fn of(pair: &Pair<'a>) -> Option<Search<'a>> {
        let (a, b) = (pair.a.exact_surface()?, pair.b.exact_surface()?);
        let sizes = [a, b].map(|surface| surface.nodes()[0].bounds.diagonal());
        let translation = pair.a_from_b.translation;
        let fits = sizes.iter().all(|size| SIZES.contains(size))
            && translation.abs().max_element() < SIZES.end;
        let exact_rotation = rotation_matrix(pair.a_from_b.rotation);
        fits.then(|| Search {
            a,
            b,
            rotation: exact_rotation.as_mat3(),
            translation,
            exact_rotation,
            exact_translation: translation.as_dvec3(),
        })
    }

    /// Transforms a disc of B to frame A.
    fn to_a(&self, disc: Disc) -> Disc {
        Disc {
            center: self.rotation * disc.center + self.translation,
            normal: self.rotation * disc.normal,
            ..disc
        }
    }

    /// Transforms a disc of A to frame B.
    fn to_b(&self, disc: Disc) -> Disc {
        let back = self.rotation.transpose();
        Disc {
            center: back * (disc.center - self.translation),
            normal: back * disc.normal,
            ..disc
        }
    }

    /// Opens the larger disc of a pair that can be opened, or returns the two triangles if neither
    /// can.
    fn open(&self, pair: DiscPair) -> Opened<'a> {
        let place = |disc: u32| ((disc / 8) as usize, (disc % 8) as usize);
        let ((block_a, lane_a), (block_b, lane_b)) = (place(pair[0]), place(pair[1]));
        let (blocks_a, blocks_b) = (self.a.blocks(), self.b.blocks());
        let (block_a, block_b) = (&blocks_a[block_a], &blocks_b[block_b]);
        let (disc_a, disc_b) = (block_a.disc(lane_a), block_b.disc(lane_b));
        let a_is_larger = disc_a.radius >= disc_b.radius;
        let opening_a = |number: u32| Opening {
            block: &blocks_a[number as usize],
            number,
            other: self.to_a(disc_b),
            pair,
            opens_a: true,
        };
        let opening_b = |number: u32| Opening {
            block: &blocks_b[number as usize],
            number,
            other: self.to_b(disc_a),
            pair,
            opens_a: false,
        };
        match (block_a.below(lane_a), block_b.below(lane_b)) {
            (Below::Triangle(a), Below::Triangle(b)) => Opened::Triangles([a, b]),
            (Below::Block(a), Below::Block(_)) if a_is_larger => Opened::Block(opening_a(a)),
            (Below::Block(a), Below::Triangle(_)) => Opened::Block(opening_a(a)),
            (_, Below::Block(b)) => Opened::Block(opening_b(b)),
        }
    }

    /// Returns two points, one of each surface, that are likely near each other.
    ///
    /// The search descends straight down both trees to two triangles. It then goes from a point of
    /// A to the nearest place of B, and back.
    fn first_guess(&self, heap: &mut OpenDiscs) -> Best {
        /// Tuned: at 1 the search visits a tenth more pairs, at 4 hardly fewer.
        const TURNS: usize = 2;
        let mut pair = [0, 0];
        let [a, b] = loop {
            match self.open(pair) {
                Opened::Triangles(triangles) => break triangles,
                Opened::Block(opening) => {
                    let lowers = opening.block.at_least_apart(&opening.other);
                    let least = (0..opening.block.count())
                        .min_by(|&i, &j| lowers[i].total_cmp(&lowers[j]))
                        .unwrap_or(0);
                    pair = opening.piece(least);
                }
            }
        };
        let found = self.triangle_of_a(a).nearest_points(self.triangle_of_b(b));
        let mut best = Best {
            distance: found.distance_squared.sqrt(),
            on_a: found.on_a,
            on_b: found.on_b,
        };
        let back = self.exact_rotation.transpose();
        for _ in 0..TURNS {
            let in_b = back * (best.on_a - self.exact_translation);
            let Some((distance, on_b)) = nearest_of(self.b, in_b, best.distance, heap) else {
                break;
            };
            best.distance = distance;
            best.on_b = self.exact_rotation * on_b + self.exact_translation;
            let Some((distance, on_a)) = nearest_of(self.a, best.on_b, best.distance, heap) else {
                break;
            };
            best.distance = distance;
            best.on_a = on_a;
        }
        best
    }

    fn triangle_of_a(&self, index: u32) -> Triangle {
        triangle(self.a.corners(index).map(Vec3::as_dvec3))
    }

    fn triangle_of_b(&self, index: u32) -> Triangle {
        let to_a = |corner: Vec3| self.exact_rotation * corner.as_dvec3() + self.exact_translation;
        triangle(self.b.corners(index).map(to_a))
    }

    /// Measures a triangle of A and one of B, and updates `best` if they are nearer.
    fn measure(&self, [a, b]: [u32; 2], best: &mut Best) {
        let found = self.triangle_of_a(a).nearest_points(self.triangle_of_b(b));
        if found.distance_squared < best.distance * best.distance {
            *best = Best {
                distance: found.distance_squared.sqrt(),
                on_a: found.on_a,
                on_b: found.on_b,
            };
        }
    }
}

/// Returns the distance and the place of a surface nearest to a point, if the distance is less than
/// `most` \[m\]. The choice of the triangle is exact up to the `f32` rounding of disc bounds.
fn nearest_of(
    surface: &Surface,
    point: DVec3,
    most: f64,
    heap: &mut OpenDiscs,
) -> Option<(f64, DVec3)> {
    let blocks = surface.blocks();
    let mut best = (most, None);
    heap.clear();
    heap.push(open(0.0, [0, 0]));
    while let Some(next) = heap.pop() {
        if f64::from(next.lower) >= best.0 {
            break;
        }
        let disc = next.piece[0];
        match blocks[(disc / 8) as usize].below((disc % 8) as usize) {
            Below::Triangle(index) => {
                let corners = surface.corners(index).map(Vec3::as_dvec3);
                let place = triangle(corners).closest_point(point).point;
                let distance = place.distance(point);
                if distance < best.0 {
                    best = (distance, Some(place));
                }
            }
            Below::Block(number) => {
                let block = &blocks[number as usize];
                let lowers = block.at_least_away(point.as_vec3());
                for (lane, lower) in lowers.into_iter().take(block.count()).enumerate() {
                    if f64::from(lower) < best.0 {
                        heap.push(open(lower, [8 * number + lane as u32, 0]));
                    }
                }
            }
        }
    }
    best.1.map(|place| (best.0, place))
}

fn triangle([a, b, c]: [DVec3; 3]) -> Triangle {
    Triangle { a, b, c }
}
