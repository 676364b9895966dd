//! A running world allocates nothing. A separate test binary that counts every allocation of the
//! process, because nothing else may run beside it.
#![allow(
    unsafe_code,
    clippy::unwrap_used,
    reason = "an allocator is unsafe by its trait; a failed unwrap is a failed test"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use glam::{DVec3, Quat, Vec3};
use touchfield::broad::{AabbTree, BroadPhase, SweepAndPrune};
use touchfield::field::primitive::{HalfSpace, Sphere};
use touchfield::geom::{Aabb, Pose};
use touchfield::narrow::{CollideSettings, ContactMethod};
use touchfield::pipeline::{Body, BodyId, Pipeline, PipelineSettings};
use touchfield::shape::Shape;
use touchfield::shape::convex::{Convex, ConvexHull};
use touchfield_conformance::random::Random;
use touchfield_conformance::shells;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of the system's allocator.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    work();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// Balls that swing about their places over a floor, repeating every period.
struct Swing {
    pipeline: Pipeline,
    places: Vec<DVec3>,
}

const PERIOD: u32 = 16;

impl Swing {
    fn new(ball: &Shape, method: ContactMethod) -> Swing {
        let settings = PipelineSettings {
            collide: CollideSettings {
                method,
                max_separation: 0.01,
                ..Default::default()
            },
            ..Default::default()
        };
        let mut pipeline = Pipeline::new(settings).unwrap();
        // A field where the balls lie on it; otherwise convex like the balls.
        let floor = match ball.as_convex() {
            None => Shape::new(HalfSpace::new(Vec3::Z, 0.0).unwrap()),
            Some(_) => Shape::convex(Convex::cuboid(Vec3::new(9.0, 9.0, 0.1)).unwrap()).unwrap(),
        };
        let mut insert = |shape: &Shape, fixed: bool| {
            let body = Body {
                shape: shape.clone(),
                world_from_body: Pose::IDENTITY,
                fixed,
            };
            pipeline.insert(body).unwrap()
        };
        insert(&floor, true);
        let mut random = Random::new(81);
        let mut places = Vec::new();
        for _ in 0..60 {
            insert(ball, false);
            places.push(random.in_box(DVec3::ZERO, DVec3::splat(3.0)));
        }
        Swing { pipeline, places }
    }

    fn step(&mut self, step: u32) {
        let angle = std::f64::consts::TAU * f64::from(step % PERIOD) / f64::from(PERIOD);
        for (index, place) in self.places.iter().enumerate() {
            let swing = 0.2 * (angle + index as f64).sin();
            let pose = Pose {
                rotation: Quat::from_rotation_x(angle as f32),
                translation: (*place + swing * DVec3::ONE).as_vec3(),
            };
            let id = BodyId(index as u32 + 1);
            self.pipeline.set_pose(id, pose).unwrap();
        }
        self.pipeline.step();
    }
}

#[test]
fn nothing_is_allocated_once_the_buffers_have_grown() {
    // The counter must count, or the test would prove nothing.
    assert!(allocations(|| drop(std::hint::black_box(vec![1u8; 100]))) > 0);

    let shelled =
        Shape::new(Sphere::new(0.3).unwrap()).with_shell(Arc::new(shells::sphere(0.3, 500)));
    let mut random = Random::new(83);
    let corners: Vec<Vec3> = (0..200)
        .map(|_| 0.3 * random.unit_vector().as_vec3())
        .collect();
    let hull = Convex::hull(Arc::new(ConvexHull::new(&corners).unwrap()));
    let hull = Shape::convex(hull).unwrap();
    let swings = [
        (1, &shelled, ContactMethod::PointSamples, 1000),
        (2, &shelled, ContactMethod::PointSamples, 1000),
        (1, &hull, ContactMethod::Auto, 50),
        (2, &hull, ContactMethod::Auto, 50),
    ];
    for (threads, ball, method, least) in swings {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        // Inside the pool, because handing work to it from outside may allocate.
        pool.unwrap().install(|| {
            let mut swing = Swing::new(ball, method);
            // Manifolds move between pairs, and which lane takes which pair is random: it takes
            // some periods until all buffers have grown.
            (0..40 * PERIOD).for_each(|step| swing.step(step));
            assert!(swing.pipeline.contacts().len() > least);
            let pairs = swing.pipeline.timings().pairs;
            let counted = allocations(|| (0..4 * PERIOD).for_each(|step| swing.step(step)));
            // With one thread nothing is random.
            let allowed = if threads == 1 { 0 } else { 8 };
            assert!(
                counted <= allowed,
                "{counted} on {threads} threads, {pairs} pairs, {method:?}"
            );
        });
    }

    // Broad phases alone, with boxes that leave their margins.
    let phases: [Box<dyn BroadPhase>; 2] = [
        Box::new(SweepAndPrune::new()),
        Box::new(AabbTree::new(0.05).unwrap()),
    ];
    for mut broad in phases {
        let mut random = Random::new(82);
        let places: Vec<DVec3> = (0..300)
            .map(|_| random.in_box(DVec3::ZERO, DVec3::splat(6.0)))
            .collect();
        let bounds = |place: DVec3, step: u32| {
            let swing = f64::from(step % PERIOD) / f64::from(PERIOD);
            Aabb::from_center((place + swing * DVec3::X).as_vec3(), Vec3::splat(0.4))
        };
        let ids: Vec<_> = places
            .iter()
            .map(|&place| broad.insert(bounds(place, 0)).unwrap())
            .collect();
        let mut out = Vec::new();
        let mut run = |periods: u32| {
            for step in 0..periods * PERIOD {
                for (&id, &place) in ids.iter().zip(&places) {
                    broad.update(id, bounds(place, step)).unwrap();
                }
                broad.pairs(&mut out);
            }
        };
        // The tree takes another form in every period, until all forms have occurred.
        run(30);
        assert_eq!(allocations(|| run(4)), 0);
    }
}
