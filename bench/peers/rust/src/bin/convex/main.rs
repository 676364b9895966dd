//! Compares convex hulls in parry3d and in Touchfield in one process:
//! `convex [--poses N] [--out FILE.csv]`.
//!
//! Input: none; hulls of random points on an ellipsoid.
//! Output: a table over the number of corners, CSV on demand.
//! Cost: some minutes.
//!
//! It is an error if our V-Clip and GJK differ by more than 1e-5, or if one of our depths is not
//! the minimum translation over all faces and pairs of edges. Differences from parry of more than a
//! thousandth of the size are counted, and for depths the output says which library is right.
//!
//! *Cold*: a pair that was never queried before. *Coherent*: a pair that turns by half a degree and
//! moves by a two-hundredth of its size per step; ours keeps its cache, parry gets the direction of
//! its last result, which is what its interface takes. *Fine*: steps of a tenth of that. The first
//! pose of a motion is a cold pair and is not counted. Shallow pairs are moved back to their depth
//! in every pose; otherwise hulls of few corners would separate on the way and make the queries
//! cheaper.

mod judge;

use std::cell::RefCell;
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

use cpu_time::ThreadTime;
use glam::{DVec3, Quat, Vec3};
use judge::{Answer, Judge, Verdict};
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

/// How far apart the two bodies are.
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
    let mut random = Random(touchfield::geom::Random::new(corners as u64));
    let points: Vec<Vec3> = (0..corners).map(|_| AXES * random.direction()).collect();
    let hull = Arc::new(ConvexHull::new(&points)?);
    let vectors: Vec<Vector> = points.iter().map(|p| Vector::new(p.x, p.y, p.z)).collect();
    Ok(Bodies {
        ours: Convex::hull(hull.clone()),
        hull,
        theirs: ConvexPolyhedron::from_convex_hull(&vectors).ok_or("parry makes no hull")?,
    })
}

/// Returns paths of poses: single ones, or steps of a motion.
fn paths(bodies: &Bodies, place: Place, count: usize, steps: usize, pace: f32) -> Vec<Vec<Pose>> {
    let mut random = Random(touchfield::geom::Random::new(7));
    let mut paths = Vec::new();
    while paths.len() < count {
        let rotation = random.rotation();
        let direction = random.direction();
        // Start 5 apart; the separation there gives the touching pose.
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
            Place::Shallow => touching,
            Place::Deep => random.between(0.05, 0.4) * direction,
        };
        let axis = random.direction();
        // Move along the surface, so that separated bodies stay separated.
        let along = normal.cross(random.direction()).normalize_or_zero();
        let depth = random.between(0.001, 0.02);
        let path = (0..steps).map(|step| {
            let mut pose = Pose {
                rotation: (Quat::from_axis_angle(axis, step as f32 * pace * 0.5f32.to_radians())
                    * rotation)
                    .normalize(),
                translation: translation + step as f32 * pace * 0.005 * along,
            };
            if let Place::Shallow = place {
                // Twice, because the way out changes with the pose.
                for _ in 0..2 {
                    let touch = ConvexPair::new(&bodies.ours, &bodies.ours, pose)
                        .touch(f64::INFINITY, &mut ConvexCache::default());
                    pose.translation -= (touch.separation as f32 + depth) * touch.normal.as_vec3();
                }
            }
            pose
        });
        paths.push(path.collect());
    }
    paths
}

/// Returns the time per query, the least of five rounds \[ns\], and all answers of the last round.
/// The first pose of a path with several poses is not counted.
fn measure<State>(
    paths: &[Vec<Pose>],
    mut start: impl FnMut() -> State,
    mut ask: impl FnMut(&mut State, Pose) -> Answer,
) -> (f64, Vec<Answer>) {
    let mut least = f64::INFINITY;
    let mut answers = Vec::new();
    for _ in 0..5 {
        answers.clear();
        let (mut clock, mut nanoseconds, mut counted) = (ThreadTime::now(), 0.0, 0);
        for path in paths {
            let mut state = start();
            let mut rest = path.as_slice();
            if let [first, others @ ..] = rest
                && !others.is_empty()
            {
                answers.push(black_box(ask(&mut state, black_box(*first))));
                rest = others;
                clock = ThreadTime::now();
            }
            for &pose in rest {
                answers.push(black_box(ask(&mut state, black_box(pose))));
            }
            counted += rest.len();
            if path.len() > 1 {
                nanoseconds += clock.elapsed().as_nanos() as f64;
            }
        }
        // Cold queries are too short to read the clock for each.
        if nanoseconds == 0.0 {
            nanoseconds = clock.elapsed().as_nanos() as f64;
        }
        least = least.min(nanoseconds / counted as f64);
    }
    (least, answers)
}

fn parry_pose(pose: Pose) -> ParryPose {
    ParryPose::from_parts(pose.translation.to_array().into(), pose.rotation)
}

/// Result of one query: time \[ns\] and answers, cold, coherent and fine.
type Runs = [(f64, Vec<Answer>); 3];

/// Returns an answer without a direction.
fn number(separation: f64) -> Answer {
    Answer {
        separation,
        normal: DVec3::ZERO,
    }
}

fn is_off(ours: &Answer, theirs: &Answer, within: f64) -> bool {
    // NaN counts as a difference.
    !((ours.separation - theirs.separation).abs() <= within)
}

struct Table {
    corners: usize,
    csv: String,
}

impl Table {
    /// Prints a row, and reports answers that differ by more than `within`.
    fn row(&mut self, query: &str, place: &str, theirs: &Runs, ours: &Runs, within: f64) {
        let corners = self.corners;
        let pairs = theirs
            .iter()
            .zip(ours)
            .flat_map(|(t, o)| t.1.iter().zip(&o.1));
        let differ = pairs.clone().filter(|(t, o)| is_off(o, t, within)).count();
        let answers = pairs.count();
        let mut line = format!("| {query} | {place} | {corners} |");
        self.csv += &format!("\"{query}\",{place},{corners}");
        for (t, o) in theirs.iter().zip(ours) {
            line += &format!(" {:.0} | {:.0} | {:.2} |", t.0, o.0, t.0 / o.0);
            self.csv += &format!(",{:.1},{:.1}", t.0, o.0);
        }
        println!("{line} {differ} of {answers} |");
        self.csv += &format!(",{differ},{answers}\n");
    }
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
    println!(
        "nanoseconds of a query, CPU time of one thread, least of five rounds; {poses} poses, or as many in motions of {STEPS} steps\n"
    );
    println!(
        "| query | bodies | corners | parry cold | ours | ratio | parry coherent | ours | ratio | parry fine | ours | ratio | answers that differ |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut table = Table {
        corners: 0,
        csv: String::from(
            "query,bodies,corners,parry cold ns,ours cold ns,parry coherent ns,ours coherent ns,parry fine ns,ours fine ns,differ,answers\n",
        ),
    };
    let mut judged = String::new();
    for corners in CORNERS {
        table.corners = corners;
        let bodies = bodies(corners)?;
        let Bodies { ours, hull, theirs } = &bodies;
        for (place, name) in [
            (Place::Apart, "apart"),
            (Place::Shallow, "shallow"),
            (Place::Deep, "deep"),
        ] {
            // Cold, coherent and fine poses.
            let few = poses.div_ceil(STEPS);
            let sets = [
                paths(&bodies, place, poses, 1, 0.0),
                paths(&bodies, place, few, STEPS, 1.0),
                paths(&bodies, place, few, STEPS, 0.1),
            ];
            // Buffers are kept; only the state of the pair is cleared.
            let cache = RefCell::new(ConvexCache::default());
            let forget = || cache.borrow_mut().clear();
            // Separation or depth, by both libraries.
            let touches = sets.each_ref().map(|set| {
                measure(set, forget, |(), pose| {
                    let pair = ConvexPair::new(ours, ours, pose);
                    let touch = pair.touch(f64::INFINITY, &mut cache.borrow_mut());
                    Answer {
                        separation: touch.separation,
                        normal: touch.normal,
                    }
                })
            });
            let contacts = sets.each_ref().map(|set| {
                measure(set, start, |(simplex, last), pose| {
                    let answer = details::contact_support_map_support_map_with_params(
                        &parry_pose(pose),
                        theirs,
                        theirs,
                        1e9,
                        simplex,
                        *last,
                    );
                    let GJKResult::ClosestPoints(on_a, on_b, normal) = answer else {
                        return number(f64::NAN);
                    };
                    *last = Some(normal);
                    Answer {
                        separation: f64::from((on_b - on_a).dot(normal)),
                        normal: DVec3::from_array(normal.to_array().map(f64::from)),
                    }
                })
            });
            let query = match place {
                Place::Apart => "distance, GJK",
                _ => "depth, GJK and EPA",
            };
            table.row(query, name, &contacts, &touches, 1e-3);
            // Apart, V-Clip as well; in overlap, judge the depths.
            if let Place::Apart = place {
                let clips = sets.each_ref().map(|set| {
                    measure(
                        set,
                        || None,
                        |features, pose| match v_clip(hull, hull, pose, features).outcome {
                            VClipOutcome::Apart { distance, .. } => number(distance),
                            VClipOutcome::Overlapping => number(0.0),
                            VClipOutcome::GaveUp => number(f64::NAN),
                        },
                    )
                });
                table.row(
                    "distance, our V-Clip and their GJK",
                    name,
                    &contacts,
                    &clips,
                    1e-3,
                );
                // Our two methods share no code.
                for (clip, touch) in clips.iter().zip(&touches) {
                    let off = |(c, t): (&Answer, &Answer)| is_off(c, t, 1e-5 * t.separation);
                    if clip.1.iter().zip(&touch.1).any(off) {
                        return Err("V-Clip and GJK differ".into());
                    }
                }
            } else {
                judged += &judge_depths(hull, name, &sets, &touches, &contacts)?;
            }
            // Overlap tests, by both libraries.
            let ours_overlap = sets.each_ref().map(|set| {
                measure(set, forget, |(), pose| {
                    let pair = ConvexPair::new(ours, ours, pose);
                    number(f64::from(u8::from(pair.overlaps(&mut cache.borrow_mut()))))
                })
            });
            let their_overlap = sets.each_ref().map(|set| {
                measure(set, start, |(simplex, last), pose| {
                    let (answer, direction) =
                        details::intersection_test_support_map_support_map_with_params(
                            &parry_pose(pose),
                            theirs,
                            theirs,
                            simplex,
                            *last,
                        );
                    *last = Some(direction);
                    number(f64::from(u8::from(answer)))
                })
            });
            table.row("overlap, ISA-GJK", name, &their_overlap, &ours_overlap, 0.0);
        }
    }
    println!("\n{judged}");
    if let Some(out) = out {
        std::fs::write(out, table.csv)?;
    }
    Ok(())
}

/// Decides who is right where depths differ, and compares ours with the minimum translation by
/// brute force: for all poses of small hulls, for some of large ones.
fn judge_depths(
    hull: &ConvexHull,
    place: &str,
    sets: &[Vec<Vec<Pose>>; 3],
    ours: &Runs,
    theirs: &Runs,
) -> Result<String, Box<dyn Error>> {
    let corners = hull.vertices().len();
    // Pairs of edges are examined one by one.
    let every = match corners {
        0..200 => 1,
        200..2000 => 60,
        _ => 600,
    };
    let poses = sets.iter().flatten().flatten();
    let answers = |runs: &Runs| -> Vec<Answer> {
        runs.iter().flat_map(|run| run.1.iter().copied()).collect()
    };
    let (mut verdicts, mut tried, mut most) = (Vec::new(), 0, 0f64);
    for (index, ((pose, own), other)) in poses.zip(answers(ours)).zip(answers(theirs)).enumerate() {
        let judge = Judge::new(hull, *pose);
        let depth = -own.separation;
        if is_off(&own, &other, 1e-3) {
            verdicts.push(judge.verdict(own, other, 1e-3));
        }
        if index % every == 0 && depth > 0.0 {
            let off = (judge.least_translation() - depth).abs() / depth;
            (tried, most) = (tried + 1, most.max(off));
        }
    }
    let count = |verdict| verdicts.iter().filter(|v| **v == verdict).count();
    let wrong = count(Verdict::OursIsWrong);
    let line = format!(
        "{corners} corners, {place}: of {} depths that differ parry's is longer than a way out in {}, does not part the bodies in {}, and ours is wrong in {wrong}; \
         of {tried} of ours held against all faces and pairs of edges none is off by more than {most:.1e} of it\n",
        verdicts.len(),
        count(Verdict::TheirsIsLonger),
        count(Verdict::TheirsDoesNotPart),
    );
    match wrong > 0 || most > 1e-5 {
        true => Err(line.into()),
        false => Ok(line),
    }
}

/// Returns parry's state of a pair: a buffer, and the direction of its last result.
fn start() -> (VoronoiSimplex, Option<Vector>) {
    (VoronoiSimplex::new(), None)
}

/// Random directions and rotations in `f32`.
struct Random(touchfield::geom::Random);

impl Random {
    fn unit(&mut self) -> f32 {
        (self.0.bits() >> 40) as f32 / (1u32 << 24) as f32
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
