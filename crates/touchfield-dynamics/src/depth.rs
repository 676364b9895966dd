//! How deep bodies of a world lie in each other, without believing the solver's contacts.
//!
//! Input: a [`World`].
//! Output: depths of pairs with at least one body that forces move and whose boxes meet.
//! Cost: a tree of boxes; for a pair microseconds where both are convex, up to a tenth of a
//! second for fields.
//! Not for: contacts of a solver, see `contacts`.
//!
//! The depth of a pair is −`separation`, the diameter of the largest ball within the overlap, by
//! the search with proven bounds. Beside a half-space it is how far the lowest corner of a convex
//! body or of an exact surface lies below the plane: exact, and never less.

use glam::DVec3;
use touchfield::narrow::{Pair, SeparationScratch, SeparationSettings, separation};
use touchfield::shape::convex::Support;

use crate::body::Body;
use crate::contacts::Candidates;
use crate::world::World;

/// The depth of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairDepth {
    /// Indices of the bodies, the smaller one first.
    pub bodies: [usize; 2],
    /// Depth \[m\]; more than 0.
    pub depth: f64,
    /// Width of the bracket of a search; 0 where the depth is exact \[m\].
    pub bracket: f64,
}

/// Share of the smaller body's diagonal that the bracket of a search may be wide.
const BRACKET_SHARE: f32 = 1e-3;

/// Buffers of the search, reused from call to call.
#[derive(Debug, Default)]
pub struct DepthSearch {
    pairs: Vec<[u32; 2]>,
}

impl DepthSearch {
    /// Returns the greatest depth of any pair; `None` where all are apart.
    pub fn deepest(&mut self, world: &World) -> Option<PairDepth> {
        self.deepest_beyond(world, 0.0)
    }

    /// Returns the greatest depth of any pair that is deeper than `known` \[m\]; `None` where none
    /// is. Takes less time than the depth itself where little is deeper.
    pub fn deepest_beyond(&mut self, world: &World, known: f64) -> Option<PairDepth> {
        let all = self.all_beyond(world, known).into_iter();
        // The first of equal depths, so that the answer does not depend on anything else.
        all.reduce(|best, pair| if pair.depth > best.depth { pair } else { best })
    }

    /// Returns all pairs that overlap.
    pub fn all(&mut self, world: &World) -> Vec<PairDepth> {
        self.all_beyond(world, 0.0)
    }

    fn all_beyond(&mut self, world: &World, known: f64) -> Vec<PairDepth> {
        self.find_pairs(world);
        let bodies = world.bodies();
        let depth_of = |scratch: &mut SeparationScratch, pair: &[u32; 2]| {
            let [a, b] = pair.map(|body| body as usize);
            let (depth, bracket) = depth_of(&bodies[a], &bodies[b], known, scratch)?;
            (depth > known).then_some(PairDepth {
                bodies: [a, b],
                depth,
                bracket,
            })
        };
        #[cfg(feature = "parallel")]
        {
            use rayon::prelude::*;
            let found = self.pairs.par_iter();
            let found = found.map_init(SeparationScratch::default, depth_of);
            found.collect::<Vec<_>>().into_iter().flatten().collect()
        }
        #[cfg(not(feature = "parallel"))]
        {
            let mut scratch = SeparationScratch::default();
            let found = self.pairs.iter();
            found
                .filter_map(|pair| depth_of(&mut scratch, pair))
                .collect()
        }
    }

    /// Fills `pairs` with those whose boxes meet and of which one moves freely.
    fn find_pairs(&mut self, world: &World) {
        let bodies = world.bodies();
        self.pairs.clear();
        let Ok(mut candidates) = Candidates::new() else {
            return;
        };
        // A body whose state is not finite has no box, and the step that lost it has said so.
        if bodies.iter().all(|body| candidates.add(body).is_ok()) {
            candidates.pairs(bodies, &mut self.pairs);
        }
    }
}

/// Returns depth and bracket of a pair, or a depth of 0 if it is not deeper than `known`; `None`
/// where the search fails.
fn depth_of(a: &Body, b: &Body, known: f64, scratch: &mut SeparationScratch) -> Option<(f64, f64)> {
    let (ground_a, ground_b) = (ground(a), ground(b));
    let exact = match (ground_a, ground_b) {
        (Some((normal, level)), _) => lowest(b, normal).map(|low| level - low),
        (_, Some((normal, level))) => lowest(a, normal).map(|low| level - low),
        (None, None) => None,
    };
    if let Some(depth) = exact {
        return Some((depth, 0.0));
    }
    let (shape_a, shape_b) = (a.geometry().shape(), b.geometry().shape());
    let pair = Pair {
        a: shape_a,
        b: shape_b,
        a_from_b: a.pose().from_other(&b.pose()),
    };
    let size = shape_a.solid().diagonal().min(shape_b.solid().diagonal());
    // The faces decide where they are kept; first whether there is anything to measure.
    let settings = SeparationSettings::to_within(BRACKET_SHARE * size).exactly();
    let beyond = SeparationSettings {
        threshold: Some(-known as f32),
        ..settings
    };
    let found = separation(&pair, &beyond, scratch).ok()?;
    if f64::from(found.lower_bound) >= -known {
        return Some((0.0, 0.0));
    }
    let found = separation(&pair, &settings, scratch).ok()?;
    let bracket = f64::from(found.upper_bound) - f64::from(found.lower_bound);
    Some((f64::from(-found.separation), bracket))
}

/// Returns normal and level of the plane of a half-space, in the world.
fn ground(body: &Body) -> Option<(DVec3, f64)> {
    let normal = body
        .geometry()
        .as_half_space()?
        .as_dvec3()
        .try_normalize()?;
    let pose = body.pose();
    let normal = pose.rotation * normal;
    Some((normal, normal.dot(pose.translation)))
}

/// Returns the least coordinate of a body along a direction of the world, if it is convex or has an
/// exact surface.
fn lowest(body: &Body, direction: DVec3) -> Option<f64> {
    let (pose, shape) = (body.pose(), body.geometry().shape());
    let inner = pose.rotation.conjugate() * direction;
    let low = match shape.as_convex() {
        Some(convex) => {
            let point = convex.support(-inner, &mut Default::default());
            // Supports are those of the core, without its rounding.
            inner.dot(point) - f64::from(convex.radius())
        }
        None => {
            let surface = shape.exact_surface()?;
            let along = (surface.vertices().iter()).map(|corner| inner.dot(corner.as_dvec3()));
            along.fold(f64::INFINITY, f64::min)
        }
    };
    Some(low + direction.dot(pose.translation))
}
