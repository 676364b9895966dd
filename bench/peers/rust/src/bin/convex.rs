//! Convex hulls by parry3d and by Touchfield in one process: `convex [--poses N] [--out FILE.csv]`.
//!
//! Input: none; hulls of random points on an ellipsoid. Output: a table of medians over the number of corners, CSV on demand. Cost: a minute or two.
//! An error if an answer of ours is off by more than a thousandth of the size from parry's, more often than one time in a hundred.
//!
//! *Cold*: a pair that was never seen. *Coherent*: a pair that turns half a degree and moves by a two-hundredth of its size a step; ours keeps its cache, parry
//! is given the direction that it ended with, which is what its interface takes.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

use cpu_time::ThreadTime;
use glam::{Quat, Vec3};
use parry3d::math::{Pose as ParryPose, Vector};
use parry3d::query::details;
use parry3d::query::gjk::{GJKResult, VoronoiSimplex};
use parry3d::shape::ConvexPolyhedron;
use touchfield::geom::Pose;
use touchfield::narrow::convex::{ConvexCache, ConvexPair, VClipOutcome, v_clip};
use touchfield::shape::convex::{Convex, ConvexHull};

const CORNERS: [usize; 4] = [10, 100, 1000, 10_000];
/// Steps of a pair in motion.
const STEPS: usize = 50;
/// Half axes of the ellipsoid that the corners lie on \[m\].
const AXES: Vec3 = Vec3::new(1.0, 0.8, 0.6);

/// How far apart the middles are, in steps of which the bodies just touch at 1.
#[derive(Clone, Copy)]
enum Place {
    Apart,
    Shallow,
    Deep,
}

struct Bodies {
    ours: Convex,
    hull: Arc<ConvexHull>,
    theirs: ConvexPolyhedron,
}

fn bodies(corners: usize) -> Result<Bodies, Box<dyn Error>> {
    let mut random = Random(corners as u64);
    let points: Vec<Vec3> = (0..corners).map(|_| AXES * random.direction()).collect();
    let hull = Arc::new(ConvexHull::new(&points)?);
    let vectors: Vec<Vector> = points.iter().map(|p| Vector::new(p.x, p.y, p.z)).collect();
    Ok(Bodies {
        ours: Convex::hull(hull.clone()),
        hull,
        theirs: ConvexPolyhedron::from_convex_hull(&vectors).ok_or("parry makes no hull")?,
    })
}

/// Paths of poses: single ones, or steps of a motion.
fn paths(bodies: &Bodies, place: Place, count: usize, steps: usize) -> Vec<Vec<Pose>> {
    let mut random = Random(7);
    let mut paths = Vec::new();
    while paths.len() < count {
        let rotation = random.rotation();
        let direction = random.direction();
        // Out until they are apart by 5; the distance then says where they touch.
        let far = Pose {
            rotation,
            translation: 5.0 * direction,
        };
        let touch = ConvexPair::new(&bodies.ours, &bodies.ours, far)
            .touch(f64::INFINITY, &mut ConvexCache::default());
        let normal = touch.normal.as_vec3();
        let touching = far.translation - touch.separation as f32 * normal;
        let translation = match place {
            Place::Apart => touching + random.between(0.05, 1.0) * normal,
            Place::Shallow => touching - random.between(0.001, 0.02) * normal,
            Place::Deep => random.between(0.05, 0.4) * direction,
        };
        let axis = random.direction();
        // Along the surface, so that apart stays apart.
        let along = normal.cross(random.direction()).normalize_or_zero();
        let path = (0..steps).map(|step| Pose {
            rotation: (Quat::from_axis_angle(axis, step as f32 * 0.5f32.to_radians()) * rotation)
                .normalize(),
            translation: translation + step as f32 * 0.005 * along,
        });
        paths.push(path.collect());
    }
    paths
}

/// Nanoseconds of a query, the least of five rounds, and all answers of the last.
fn measure<State>(
    paths: &[Vec<Pose>],
    mut start: impl FnMut() -> State,
    mut ask: impl FnMut(&mut State, Pose) -> f64,
) -> (f64, Vec<f64>) {
    let mut least = f64::INFINITY;
    let mut answers = Vec::new();
    for _ in 0..5 {
        answers.clear();
        let clock = ThreadTime::now();
        for path in paths {
            let mut state = start();
            for &pose in path {
                answers.push(black_box(ask(&mut state, black_box(pose))));
            }
        }
        least = least.min(clock.elapsed().as_nanos() as f64 / answers.len() as f64);
    }
    (least, answers)
}

fn parry_pose(pose: Pose) -> ParryPose {
    ParryPose::from_parts(pose.translation.to_array().into(), pose.rotation)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut poses, mut out) = (400, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or("convex [--poses N] [--out FILE.csv]");
        match word.as_str() {
            "--poses" => poses = next()?.parse::<usize>()?,
            "--out" => out = Some(next()?),
            _ => return Err("convex [--poses N] [--out FILE.csv]".into()),
        }
    }
    println!("nanoseconds of a query, CPU time of one thread, least of five rounds; {poses} poses, or motions of {STEPS} steps in their place\n");
    println!("| query | bodies | corners | parry cold | ours cold | parry / ours | parry coherent | ours coherent | parry / ours | answers that differ |");
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut csv = String::from("query,bodies,corners,parry cold ns,ours cold ns,parry coherent ns,ours coherent ns,answers,differ\n");
    for corners in CORNERS {
        let bodies = bodies(corners)?;
        let Bodies {
            ours,
            hull,
            theirs,
        } = &bodies;
        // Buffers of EPA are kept in both: what is forgotten is the pair.
        let mut buffers = Some(ConvexCache::default());
        let mut say = |query: &str, place: &str, theirs: [f64; 2], ours: [f64; 2], differ: [usize; 2]| {
            println!(
                "| {query} | {place} | {corners} | {:.0} | {:.0} | {:.2} | {:.0} | {:.0} | {:.2} | {} of {} |",
                theirs[0], ours[0], theirs[0] / ours[0], theirs[1], ours[1], theirs[1] / ours[1], differ[0], differ[1]
            );
            csv += &format!(
                "{query},{place},{corners},{:.1},{:.1},{:.1},{:.1},{},{}\n",
                theirs[0], ours[0], theirs[1], ours[1], differ[1], differ[0]
            );
        };
        let places = [(Place::Apart, "apart"), (Place::Shallow, "shallow"), (Place::Deep, "deep")];
        for (place, name) in places {
            let sets = [
                paths(&bodies, place, poses, 1),
                paths(&bodies, place, poses.div_ceil(STEPS), STEPS),
            ];
            // Distance or depth: the same call of both.
            let query = match place {
                Place::Apart => "distance (GJK)",
                _ => "depth (EPA)",
            };
            let mut results = Vec::new();
            for set in &sets {
                let their = measure(set, || (VoronoiSimplex::new(), None), |(simplex, last), pose| {
                    let answer = details::contact_support_map_support_map_with_params(
                        &parry_pose(pose), theirs, theirs, 1e9, simplex, *last,
                    );
                    let GJKResult::ClosestPoints(on_a, on_b, normal) = answer else {
                        return f64::NAN;
                    };
                    *last = Some(normal);
                    f64::from((on_b - on_a).dot(normal))
                });
                let mut cache = ConvexCache::default();
                let our = {
                    let cell = std::cell::RefCell::new(&mut cache);
                    measure(set, || cell.borrow_mut().clear(), |(), pose| {
                        ConvexPair::new(ours, ours, pose).touch(f64::INFINITY, &mut cell.borrow_mut()).separation
                    })
                };
                results.push((their, our));
            }
            let differ = results.iter().flat_map(|(t, o)| t.1.iter().zip(&o.1));
            let differ = differ.filter(|(t, o)| !((*t - *o).abs() <= 1e-3)).count();
            let answers = results.iter().map(|(t, _)| t.1.len()).sum();
            say(
                query, name,
                [results[0].0.0, results[1].0.0],
                [results[0].1.0, results[1].1.0],
                [differ, answers],
            );
            if differ * 100 > answers {
                eprintln!("convex: {differ} of {answers} answers differ: {query}, {name}, {corners} corners");
            }
            // Overlap.
            let mut results = Vec::new();
            for set in &sets {
                let their = measure(set, || (VoronoiSimplex::new(), None), |(simplex, last), pose| {
                    let (answer, direction) = details::intersection_test_support_map_support_map_with_params(
                        &parry_pose(pose), theirs, theirs, simplex, *last,
                    );
                    *last = Some(direction);
                    f64::from(u8::from(answer))
                });
                let cell = std::cell::RefCell::new(buffers.take().unwrap_or_default());
                let our = measure(set, || cell.borrow_mut().clear(), |(), pose| {
                    f64::from(u8::from(ConvexPair::new(ours, ours, pose).overlaps(&mut cell.borrow_mut())))
                });
                buffers = Some(cell.into_inner());
                results.push((their, our));
            }
            let differ = results.iter().flat_map(|(t, o)| t.1.iter().zip(&o.1));
            let differ = differ.filter(|(t, o)| t != o).count();
            let answers = results.iter().map(|(t, _)| t.1.len()).sum();
            say(
                "overlap (ISA-GJK)", name,
                [results[0].0.0, results[1].0.0],
                [results[0].1.0, results[1].1.0],
                [differ, answers],
            );
            if let Place::Apart = place {
                let mut results = Vec::new();
                for set in &sets {
                    let their = measure(set, || (VoronoiSimplex::new(), None), |(simplex, last), pose| {
                        f64::from(details::distance_support_map_support_map_with_params(
                            &parry_pose(pose), theirs, theirs, simplex, last.take(),
                        ))
                    });
                    let our = measure(set, || None, |features, pose| {
                        match v_clip(hull, hull, pose, features).outcome {
                            VClipOutcome::Apart { distance, .. } => distance,
                            VClipOutcome::Overlapping => 0.0,
                            VClipOutcome::GaveUp => f64::NAN,
                        }
                    });
                    results.push((their, our));
                }
                let differ = results.iter().flat_map(|(t, o)| t.1.iter().zip(&o.1));
                let differ = differ.filter(|(t, o)| !((*t - *o).abs() <= 1e-3)).count();
                let answers = results.iter().map(|(t, _)| t.1.len()).sum();
                say(
                    "distance (V-Clip; parry's GJK)", name,
                    [results[0].0.0, results[1].0.0],
                    [results[0].1.0, results[1].1.0],
                    [differ, answers],
                );
            }
        }
    }
    if let Some(out) = out {
        std::fs::write(out, csv)?;
    }
    Ok(())
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u32 << 24) as f32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    fn direction(&mut self) -> Vec3 {
        let z = self.between(-1.0, 1.0);
        let angle = self.between(0.0, std::f32::consts::TAU);
        let radius = (1.0 - z * z).sqrt();
        Vec3::new(radius * angle.cos(), radius * angle.sin(), z)
    }

    fn rotation(&mut self) -> Quat {
        Quat::from_axis_angle(self.direction(), self.between(0.0, std::f32::consts::TAU))
    }
}
