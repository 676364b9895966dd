//! No tunnelling: thin and concave bodies at up to 1,000 m/s and 100 turns per second with a step
//! of 1/60 s, both bodies moving.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed unwrap is a failed test, and the counts are for the reader"
)]

use glam::{DVec3, Vec3};
use touchfield::ShapeSettings;
use touchfield::bake::{BakeSettings, ExactDistance, Resolution, SignChoice};
use touchfield::geom::{DAabb, Motion, PairMotion, Pose};
use touchfield::mesh::TriangleMesh;
use touchfield::narrow::{
    Cast, CastOutcome, CastScratch, CastSettings, ClearanceOutcome, ClearanceScratch,
    ClearanceSettings, cast, clearance,
};
use touchfield::shape::Shape;
use touchfield_conformance::cast_truth::Path;
use touchfield_conformance::contact_truth::Solid;
use touchfield_conformance::mesh_truth::in_parallel;
use touchfield_conformance::meshes::{self, is_long};
use touchfield_conformance::random::Random;

/// Duration of a motion \[s\].
const STEP: f64 = 1.0 / 60.0;
const FASTEST: f64 = 1000.0;
const MOST_TURNS: f64 = 100.0;

/// A mesh as a shape of the library, and the truth about it.
struct Body {
    shape: Shape,
    exact: ExactDistance,
    vertices: Vec<DVec3>,
    diagonal: f64,
}

impl Body {
    fn new(mesh: &TriangleMesh, resolution: Resolution) -> Body {
        let settings = ShapeSettings {
            bake: BakeSettings {
                resolution,
                ..Default::default()
            },
            faces: false,
            ..ShapeSettings::default()
        };
        Body {
            shape: Shape::from_mesh(mesh, &settings).unwrap(),
            exact: ExactDistance::new(mesh, SignChoice::Auto).unwrap(),
            vertices: mesh.vertices.clone(),
            diagonal: DAabb::of_points(mesh.vertices.iter().copied()).diagonal(),
        }
    }

    /// Returns the error bound of the field \[m\].
    fn error(&self) -> f64 {
        f64::from(self.shape.field().error_bound())
    }
}

/// Returns two motions of a step in which B flies at A, or past it, and both turn and drift.
fn fly(size_a: f64, size_b: f64, random: &mut Random) -> [Motion; 2] {
    let speed = random.log_uniform(1.0, FASTEST) * STEP;
    let direction = random.unit_vector();
    let aim = 0.5 * (size_a + size_b) * random.uniform(0.0, 1.0) * random.unit_vector();
    // Start outside, and so far that the path leads at least to the centre.
    let back = (size_a + size_b) * random.uniform(0.6, 1.0) + speed * random.uniform(0.0, 0.5);
    let drift = random.unit_vector() * random.uniform(0.0, 0.2) * speed;
    let path = speed.max(1.5 * back) * direction;
    let mut turn = || {
        let turns = random.log_uniform(0.1, MOST_TURNS) * STEP;
        (turns * std::f64::consts::TAU * random.unit_vector()).as_vec3()
    };
    let (turn_a, turn_b) = (turn(), turn());
    let mut start = |translation: DVec3| Pose {
        rotation: random.quaternion().as_quat().normalize(),
        translation: translation.as_vec3(),
    };
    [
        Motion {
            start: start(DVec3::ZERO),
            center: Vec3::ZERO,
            translation: drift.as_vec3(),
            turn: turn_a,
        },
        Motion {
            start: start(aim - back * direction),
            center: Vec3::ZERO,
            translation: (path + drift).as_vec3(),
            turn: turn_b,
        },
    ]
}

/// A ball that flies at a body, which is given by its `distance` in the frame of A.
struct Flight<'a> {
    distance: &'a (dyn Fn(DVec3) -> f64 + Sync),
    paths: [Path; 2],
    radius: f64,
    speed: f64,
}

impl Flight<'_> {
    fn gap(&self, time: f64) -> f64 {
        let [(rotation, origin), (_, ball)] = self.paths.map(|path| path.at(time));
        (self.distance)(rotation.transpose() * (ball - origin)) - self.radius
    }

    /// Returns the first time at which the gap is at most `most`, by bisection down to half-widths
    /// of 1e-9.
    fn first(&self, most: f64, [from, to]: [f64; 2]) -> Option<f64> {
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        let above = self.gap(middle) - most;
        if above > self.speed * half {
            return None;
        }
        if half < 1e-9 {
            return (above <= 0.0).then_some(middle);
        }
        let before = self.first(most, [from, middle]);
        before.or_else(|| self.first(most, [middle, to]))
    }
}

/// Casts balls at a body. `error` is the error bound of the field of A \[m\].
fn balls_at(
    name: &str,
    shape: &Shape,
    distance: &(dyn Fn(DVec3) -> f64 + Sync),
    error: f64,
    seed: u64,
) {
    let motions = if is_long() { 10_000 } else { 240 };
    let size = f64::from(shape.solid().diagonal());
    let pieces: Vec<u64> = (0..8).collect();
    let counts = in_parallel(&pieces, |&piece| {
        let mut random = Random::new(seed + piece);
        let mut scratch = CastScratch::default();
        let (mut hits, mut misses) = (0, 0);
        for _ in 0..motions / 8 {
            let radius = f64::from((size * random.log_uniform(0.01, 0.2)) as f32);
            let ball = Solid::Ball { radius }.shape();
            let [a, b] = fly(size, 2.0 * radius, &mut random);
            let tolerance = size * random.log_uniform(1e-4, 1e-2);
            let settings = CastSettings::to_within(tolerance as f32);
            let found = cast(
                shape,
                &ball,
                &PairMotion::new(a, b),
                &settings,
                &mut scratch,
            )
            .unwrap();
            // A ball looks the same from every side, so its own rotation does not count; that of A
            // does, as far out as the ball is.
            let far = (b.start.translation.length() + b.translation.length()) as f64;
            let speed = (f64::from((b.translation - a.translation).length())
                + f64::from(a.turn.length()) * (far + f64::from(a.translation.length())))
                * 1.01;
            let flight = Flight {
                distance,
                paths: [Path::of(&a), Path::of(&b)],
                radius,
                speed,
            };
            // Twice the error, and the rounding of `f32` over a path this long.
            let slack = 2.0 * error + 1e-5 * (far + size);
            check(name, &found, &flight, tolerance, slack);
            hits += usize::from(found.is_hit());
            misses += usize::from(found.outcome == CastOutcome::Free);
        }
        (hits, misses)
    });
    let hits: usize = counts.iter().map(|counts| counts.0).sum();
    let misses: usize = counts.iter().map(|counts| counts.1).sum();
    assert!(
        hits > motions / 10 && misses > motions / 20,
        "{name}: {hits}, {misses}"
    );
}

fn check(name: &str, found: &Cast, flight: &Flight<'_>, tolerance: f64, slack: f64) {
    let (time, lower) = (
        f64::from(found.impact.time),
        f64::from(found.impact.lower_bound),
    );
    let first = flight.first(0.0, [0.0, 1.0]);
    let context = format!("{name}: first {first:?}, slack {slack}, {found:?}");
    if found.start.is_some() {
        // The motion began in the body, or nearer than its field can resolve: tunnelling is not
        // possible.
        assert!(flight.gap(0.0) <= tolerance + slack, "{context}");
        return;
    }
    if let Some(first) = first {
        assert!(lower <= first + 2e-9, "proven too much: {context}");
    }
    // Deeper than the error of the field: must be a hit, and no later.
    let deep = flight.first(-slack, [0.0, 1.0]);
    if let Some(deep) = deep {
        assert!(found.is_hit(), "missed at {deep}: {context}");
        assert!(time <= deep + 2e-9, "late, deep at {deep}: {context}");
    }
    assert_ne!(found.outcome, CastOutcome::GaveUp, "{context}");
    match found.outcome {
        CastOutcome::Hit => {
            let resolved = 4.0 * f64::from(f32::EPSILON) * flight.speed;
            let gap = flight.gap(time);
            assert!(
                gap <= tolerance.max(resolved) + slack,
                "early, {gap}: {context}"
            );
        }
        CastOutcome::Free => assert!(first.is_none() && lower == 1.0, "{context}"),
        CastOutcome::Unproven => {}
        CastOutcome::GaveUp => {}
    }
}

#[test]
fn a_plate_of_a_millimetre() {
    let plate = Solid::Box {
        half: DVec3::new(0.25, 0.125, 0.0005f32.into()),
    };
    balls_at(
        "plate of 1 mm",
        &plate.shape(),
        &|point| plate.distance(point),
        0.0,
        100,
    );
}

#[test]
fn a_plate_of_one_cell() {
    // As thick as the cells of its grid, wherever the nodes are.
    let cell = 1.0 / 64.0;
    for shift in [0.0, 0.3, 0.5] {
        let half = DVec3::new(0.5, 0.375, 0.5 * cell);
        let mesh = meshes::moved(
            meshes::squeezed(meshes::cube(1), half),
            shift * cell * DVec3::Z,
        );
        let body = Body::new(&mesh, Resolution::CellSize(cell));
        let bounds = DAabb::of_points(mesh.vertices.iter().copied());
        let plate = Solid::Box {
            half: bounds.half_extents(),
        };
        let distance = |point: DVec3| plate.distance(point - bounds.center());
        assert!((bounds.extents().z - cell).abs() < 1e-6, "{bounds:?}");
        balls_at(
            &format!("plate of one cell, {shift}"),
            &body.shape,
            &distance,
            body.error(),
            200,
        );
    }
}

#[test]
fn the_wall_of_a_bowl() {
    let body = Body::new(&meshes::model("bowl"), Resolution::Nodes(48));
    let distance = |point: DVec3| body.exact.distance(point);
    balls_at("bowl", &body.shape, &distance, body.error(), 300);
}

/// Balls past a bowl: the bracket holds the least gap over the motion.
#[test]
fn clearance_past_a_bowl() {
    let body = Body::new(&meshes::model("bowl"), Resolution::Nodes(48));
    let size = f64::from(body.shape.solid().diagonal());
    let numbers: Vec<u64> = (0..if is_long() { 1000 } else { 60 }).collect();
    let apart = in_parallel(&numbers, |&number| {
        let mut random = Random::new(500 + number);
        random.bits();
        let radius = f64::from((size * random.uniform(0.05, 0.2)) as f32);
        let [a, mut b] = fly(size, 2.0 * radius, &mut random);
        // Start nearby and move a short way: most end near the bowl, or pass it.
        for way in [&mut b.start.translation, &mut b.translation] {
            *way *= (1.2 * size / f64::from(way.length())).min(1.0) as f32;
        }
        let ball = Solid::Ball { radius }.shape();
        let tolerance = 1e-2 * size;
        let settings = ClearanceSettings::to_within(tolerance as f32);
        let mut scratch = ClearanceScratch::default();
        let pair = PairMotion::new(a, b);
        let found = clearance(&body.shape, &ball, &pair, &settings, &mut scratch).unwrap();
        let distance = |point: DVec3| body.exact.distance(point);
        let flight = Flight {
            distance: &distance,
            paths: [Path::of(&a), Path::of(&b)],
            radius,
            speed: 0.0,
        };
        let gaps = (0..=400).map(|k| flight.gap(f64::from(k) / 400.0));
        let least = gaps.fold(f64::INFINITY, f64::min);
        let context = format!("{number}: {least} {found:?}");
        // The sampled minimum is not below the true one. Below zero it does not count, because the
        // depth in a thin wall is limited by its thickness.
        assert!(f64::from(found.lower_bound) <= least.max(0.0), "{context}");
        if found.outcome == ClearanceOutcome::BelowFloor {
            assert!(flight.gap(found.time.into()) <= 1e-6 * size, "{context}");
            return false;
        }
        // A wall thinner than the error of the field has the same depth all the way through, so no
        // interval can be excluded.
        let converged = found.outcome == ClearanceOutcome::Converged;
        assert!(converged || least <= 0.0, "{context}");
        let then = flight.gap(found.time.into());
        let most = f64::from(found.upper_bound) + 1e-6 * size;
        assert!(then <= most, "{then} {context}");
        let width = f64::from(found.upper_bound - found.lower_bound);
        // Outside its box a field returns only bounds.
        let is_near = then <= f64::from(body.shape.cell_size());
        let most = 1.5 * tolerance + 5.0 * body.error();
        assert!(
            !(is_near && converged) || width <= most,
            "{width} {context}"
        );
        least > 0.0
    });
    let apart = apart.iter().filter(|&&apart| apart).count();
    let most = numbers.len() * 9 / 10;
    assert!((numbers.len() / 10..most).contains(&apart), "{apart}");
}

/// Points of a body in a tree of bounding spheres.
struct Ball {
    center: DVec3,
    radius: f64,
    halves: Option<Box<[Ball; 2]>>,
}

impl Ball {
    /// Builds the tree by splitting at the median along the longest axis, down to single points.
    fn around(points: &mut [DVec3]) -> Ball {
        let bounds = DAabb::of_points(points.iter().copied());
        let center = bounds.center();
        let radius =
            (points.iter()).fold(0.0, |most: f64, point| most.max(center.distance(*point)));
        let axis = bounds.extents().to_array();
        let axis = (0..3).fold(0, |best, i| if axis[i] > axis[best] { i } else { best });
        let halves = (points.len() > 1).then(|| {
            let middle = points.len() / 2;
            points.select_nth_unstable_by(middle, |a, b| a[axis].total_cmp(&b[axis]));
            let (first, second) = points.split_at_mut(middle);
            Box::new([Ball::around(first), Ball::around(second)])
        });
        Ball {
            center,
            radius,
            halves,
        }
    }
}

/// Points of one moving body against the surface of another: the truth for all times, not only for
/// sampled ones.
struct Sweep<'a> {
    exact: &'a ExactDistance,
    /// Motion of the body with the surface, then of the body with the points.
    motions: [&'a Motion; 2],
    paths: [Path; 2],
}

impl Sweep<'_> {
    /// Returns a time at which a point is at most `most` from the surface, if there is one. Bisects
    /// points and time until distances exclude them.
    fn nearer(&self, ball: &Ball, most: f64, [from, to]: [f64; 2]) -> Option<f64> {
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        let [(rotation, origin), (other, other_origin)] = self.paths.map(|path| path.at(middle));
        let place = other * ball.center + other_origin;
        let above = self.exact.distance(rotation.transpose() * (place - origin)) - most;
        // Bound on the way of the centre as seen from the surface, at the greatest distance that it
        // can reach within the interval.
        let [surface, points] = self.motions;
        let arm = ball.center.distance(points.center.as_dvec3());
        let straight = f64::from((points.translation - surface.translation).length())
            + f64::from(points.turn.length()) * arm;
        let around = surface.center.as_dvec3();
        let far = place.distance(rotation * around + origin) + straight * half;
        let moves = (straight + f64::from(surface.turn.length()) * far) * half * 1.000_001;
        if above > moves + ball.radius {
            return None;
        }
        match &ball.halves {
            Some(halves) if ball.radius > moves => halves
                .iter()
                .find_map(|ball| self.nearer(ball, most, [from, to])),
            _ if half > 1e-9 => {
                let first = self.nearer(ball, most, [from, middle]);
                first.or_else(|| self.nearer(ball, most, [middle, to]))
            }
            Some(halves) => halves
                .iter()
                .find_map(|ball| self.nearer(ball, most, [from, to])),
            None => (above <= 0.0).then_some(middle),
        }
    }
}

/// Returns the least distance of a vertex of each body from the other \[m\].
fn points_apart(bodies: &[Body; 2], paths: &[Path; 2], time: f64) -> f64 {
    let places = paths.map(|path| path.at(time));
    let mut least = f64::INFINITY;
    for (of, other) in [(0, 1), (1, 0)] {
        let (rotation, origin) = places[of];
        let (other_rotation, other_origin) = places[other];
        for &vertex in &bodies[of].vertices {
            let point = other_rotation.transpose() * (rotation * vertex + origin - other_origin);
            least = least.min(bodies[other].exact.distance(point));
        }
    }
    least
}

#[test]
fn a_nut_over_the_thread_of_a_bolt() {
    let motions: usize = if is_long() { 10_000 } else { 64 };
    let bodies =
        ["bolt_m8", "nut_m8"].map(|name| Body::new(&meshes::model(name), Resolution::Nodes(64)));
    let [bolt, nut] = &bodies;
    let error = 2.0 * bolt.error().max(nut.error());
    let balls = bodies
        .each_ref()
        .map(|body| Ball::around(&mut body.vertices.clone()));
    let numbers: Vec<u64> = (0..motions as u64).collect();
    let found = in_parallel(&numbers, |&number| {
        let mut random = Random::new(400 + number);
        random.bits();
        // Every other nut goes onto the thread along its axis, turning; the rest fly at it from
        // anywhere.
        let [a, b] = if number % 2 == 0 {
            let off = 2e-4 * random.unit_vector();
            let [min, max] = [bolt.shape.solid().min, bolt.shape.solid().max];
            let way = f64::from(max.z - min.z) + nut.diagonal;
            let start = DVec3::new(off.x, off.y, f64::from(max.z) + nut.diagonal);
            let turns = random.log_uniform(0.1, MOST_TURNS) * STEP;
            let b = Motion {
                start: Pose::from_translation(start.as_vec3()),
                center: Vec3::ZERO,
                translation: (-way * random.uniform(0.3, 1.0) * DVec3::Z).as_vec3(),
                turn: (turns * std::f64::consts::TAU * DVec3::Z).as_vec3(),
            };
            [Motion::still(Pose::IDENTITY), b]
        } else {
            fly(bolt.diagonal, nut.diagonal, &mut random)
        };
        let tolerance = 1e-3 * nut.diagonal;
        let settings = CastSettings::to_within(tolerance as f32);
        let pair = PairMotion::new(a, b);
        let found = cast(
            &bolt.shape,
            &nut.shape,
            &pair,
            &settings,
            &mut CastScratch::default(),
        )
        .unwrap();
        let paths = [Path::of(&a), Path::of(&b)];
        let context = format!("motion {number}, errors {error}: {found:?}");
        let (time, lower) = (
            f64::from(found.impact.time),
            f64::from(found.impact.lower_bound),
        );
        // Before the time of impact nothing is deeper than the error of the fields; before the
        // lower bound nothing touches. Tested for the vertices of both, at all times.
        for (surface, points) in [(0, 1), (1, 0)] {
            let motions = [&a, &b];
            let sweep = Sweep {
                exact: &bodies[surface].exact,
                motions: [motions[surface], motions[points]],
                paths: [paths[surface], paths[points]],
            };
            let ball = &balls[points];
            let touches = sweep.nearer(ball, 0.0, [0.0, lower]);
            assert!(touches.is_none(), "touch at {touches:?}: {context}");
            let deep = sweep.nearer(ball, -error, [0.0, time]);
            assert!(deep.is_none(), "deep at {deep:?}: {context}");
        }
        assert_ne!(found.outcome, CastOutcome::GaveUp, "{context}");
        if found.is_hit() && number < 64 {
            // Vertices are as near as the surfaces are, up to the size of a face.
            let apart = points_apart(&bodies, &paths, time);
            assert!(
                apart <= tolerance + error + 0.2 * nut.diagonal,
                "{apart}: {context}"
            );
        }
        (found.is_hit(), found.steps)
    });
    let hits = found.iter().filter(|(hit, _)| *hit).count();
    let states: u32 = found.iter().map(|(_, steps)| steps).sum();
    println!("{hits} of {motions} motions touch; {states} states");
    assert!(hits > motions / 4, "{hits} of {motions}");
}

/// The oracle itself: it finds a nut that is pushed into the bolt, and none that passes.
#[test]
fn the_sweep_of_points_finds_touches_and_no_others() {
    let body = Body::new(
        &meshes::squeezed(meshes::cube(1), DVec3::splat(0.5)),
        Resolution::Nodes(12),
    );
    let ball = Ball::around(&mut body.vertices.clone());
    let still = Motion::still(Pose::IDENTITY);
    for (aside, touches) in [(0.1, true), (0.999, true), (1.001, false)] {
        let flies = Motion {
            translation: -4.0 * Vec3::X,
            ..Motion::still(Pose::from_translation(Vec3::new(2.0, aside, 0.1)))
        };
        let sweep = Sweep {
            exact: &body.exact,
            motions: [&still, &flies],
            paths: [Path::of(&still), Path::of(&flies)],
        };
        let found = sweep.nearer(&ball, 0.0, [0.0, 1.0]);
        assert_eq!(found.is_some(), touches, "{aside}: {found:?}");
        // The sides meet after one metre of four.
        assert!(sweep.nearer(&ball, 0.0, [0.0, 0.2499]).is_none(), "{aside}");
        assert!(
            found.is_none_or(|time| (0.2499..0.76).contains(&time)),
            "{found:?}"
        );
    }
}
