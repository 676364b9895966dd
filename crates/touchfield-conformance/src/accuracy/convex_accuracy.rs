//! Error of distances and depths of convex bodies against the truth: the table of convex bodies in
//! docs/ACCURACY.md.
//!
//! Input: none; random hostile pairs from fixed seeds.
//! Output: Markdown.
//! Cost: seconds.
//! Not for: testing, which `tests/convex.rs` does with many more pairs.

use std::fmt::Write;
use std::sync::Arc;

use touchfield::geom::Pose;
use touchfield::narrow::convex::{ConvexCache, ConvexPair, VClipOutcome, v_clip};
use touchfield::shape::convex::{Convex, ConvexHull};

use crate::convex_random::{Hostile, KINDS, Kind, PLACEMENTS, Scale, place, posed};
use crate::convex_truth::{Core, body_pair};
use crate::random::Random;

/// Number of pairs per row.
const PAIRS: usize = 3000;

const INTRODUCTION: &str = "
## Convex pairs

Random bodies, 3,000 pairs per row: random poses, along the axes, in place, touching, nearly
touching, deep, and far apart. *Promised* is the largest allowed error, as a share of the bodies'
size or of their distance, whichever is larger. It is compared with all pairs of features in `f64`
(for rounded bodies, of their cores); if it is broken, this table cannot be generated. *Sharp*
bodies are clouds, needles, plates, flat and straight sets, boxes, prisms, triangles and slivers.
*Rounded* bodies are balls, capsules, and boxes and clouds with a radius. V-Clip gives up on at most
one pair in a thousand, and reports it. At 10⁵ m from its origin, a body's own coordinates are 4 mm
apart; the reference includes that.
";

/// Returns the library's body with the same numbers.
pub fn convex(body: &Hostile) -> Convex {
    let rounding = body.body.rounding as f32;
    let made = match (&body.body.core, body.kind) {
        (_, Kind::Ball) => Convex::sphere(rounding),
        (Core::Polytope(segment), Kind::Capsule) => {
            Convex::capsule(segment.points[1].z.abs() as f32, rounding)
        }
        (Core::Polytope(cuboid), Kind::Cuboid | Kind::RoundedCuboid) => {
            Convex::cuboid(cuboid.points[0].abs().as_vec3()).and_then(|b| b.rounded(rounding))
        }
        (Core::Polytope(_), _) => Convex::hull(Arc::new(
            ConvexHull::new(&body.points).expect("finite points"),
        ))
        .rounded(rounding),
        (
            &Core::Cylinder {
                radius,
                half_height,
            },
            _,
        ) => Convex::cylinder(half_height as f32, radius as f32),
        (
            &Core::Cone {
                radius,
                half_height,
            },
            _,
        ) => Convex::cone(half_height as f32, radius as f32),
        (Core::Ellipsoid { radii }, _) => Convex::ellipsoid(radii.as_vec3()),
    };
    made.expect("sizes are finite and positive")
}

/// Worst errors of a row.
#[derive(Debug, Default)]
struct Worst {
    distance: f64,
    depth: f64,
    v_clip: f64,
    given_up: usize,
}

/// Promised error of GJK and EPA, as a share of the bodies' size or distance: their search
/// tolerance.
const SEARCHED: f64 = 1e-6;
/// Promised error of V-Clip, which ends with features: only rounding, which includes that of
/// normals between nearly parallel edges.
const CLIPPED: f64 = 1e-8;
/// Number of pairs of a row that V-Clip may give up on.
const GIVEN_UP: usize = PAIRS / 1000;

/// Returns the section of docs/ACCURACY.md, or an error if a promise is broken.
pub fn section() -> Result<String, Box<dyn std::error::Error>> {
    let mut text = INTRODUCTION.to_owned();
    text += "\n| model | size and place | GJK distance | EPA depth | V-Clip distance |\n|---|---|---|---|---|\n";
    let is_round = |kind: Kind| {
        use Kind::{Ball, Capsule, RoundedCloud, RoundedCuboid};
        matches!(kind, Ball | Capsule | RoundedCloud | RoundedCuboid)
    };
    let all = || KINDS.into_iter().filter(|kind| kind.has_features());
    let sharp: Vec<Kind> = all().filter(|&kind| !is_round(kind)).collect();
    let rounded: Vec<Kind> = all().filter(|&kind| is_round(kind)).collect();
    for (name, kinds) in [("sharp", sharp), ("rounded", rounded)] {
        for (place, scale) in [
            ("1 m", Scale::Ordinary),
            ("1 µm", Scale::Tiny),
            ("1 m, 10⁵ m from its origin", Scale::Far),
        ] {
            let worst = measured(&kinds, scale);
            let is_kept = worst.distance <= SEARCHED
                && worst.depth <= SEARCHED
                && worst.v_clip <= CLIPPED
                && worst.given_up <= GIVEN_UP;
            if !is_kept {
                return Err(format!("{name}, {place}: a promise is broken: {worst:?}").into());
            }
            let clipped = match name {
                "sharp" => format!("{CLIPPED:e}"),
                _ => "–".to_owned(),
            };
            writeln!(
                text,
                "| {name} | {place} | {SEARCHED:e} | {SEARCHED:e} | {clipped} |"
            )?;
        }
    }
    Ok(text)
}

fn measured(kinds: &[Kind], scale: Scale) -> Worst {
    let mut random = Random::new(2611);
    let mut worst = Worst::default();
    for number in 0..PAIRS {
        let kind = |random: &mut Random| kinds[random.below(kinds.len())];
        let [a, b] = [0, 1].map(|_| Hostile::new(kind(&mut random), scale, &mut random));
        let placement = PLACEMENTS[number % PLACEMENTS.len()];
        let (rotation, translation) = place(&a, &b, placement, &mut random);
        let truth = body_pair(&a.body, &posed(&b, rotation, translation)).signed();
        let pose = Pose {
            rotation,
            translation,
        };
        let bodies = [convex(&a), convex(&b)];
        let size = a.radius + b.radius;
        // Single points have no size, but coordinates that `f32` resolves.
        let scale = truth.abs().max(size).max(1e-7 * (a.reach() + b.reach()));
        let error = |found: f64| (found - truth).abs() / scale;
        let pair = ConvexPair::new(&bodies[0], &bodies[1], pose);
        let touch = pair.touch(f64::INFINITY, &mut ConvexCache::default());
        if truth > 0.0 {
            worst.distance = worst.distance.max(error(touch.separation));
        } else {
            worst.depth = worst.depth.max(error(touch.separation));
        }
        let hulls = bodies
            .each_ref()
            .map(|body| body.as_hull().filter(|_| body.radius() == 0.0));
        if let [Some(hull_a), Some(hull_b)] = hulls {
            match v_clip(hull_a, hull_b, pose, &mut None).outcome {
                VClipOutcome::Apart { distance, .. } => {
                    worst.v_clip = worst.v_clip.max(error(distance));
                }
                VClipOutcome::Overlapping => {
                    worst.v_clip = worst.v_clip.max(truth.max(0.0) / scale)
                }
                VClipOutcome::GaveUp => worst.given_up += 1,
            }
        }
    }
    worst
}
