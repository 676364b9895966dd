//! Contact queries allocate nothing once their buffers have grown. A separate test binary that
//! counts every allocation of the process, because nothing else may run beside it.
#![allow(
    unsafe_code,
    clippy::unwrap_used,
    reason = "an allocator is unsafe by its trait; a failed unwrap is a failed test"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_mesh};
use touchfield::bake::{BakeSettings, Resolution, bake, surface_of_mesh};
use touchfield::field::{FieldOctree, StoredField};
use touchfield::geom::{Motion, PairMotion, Pose};
use touchfield::mesh::generate::{Torus, torus};
use touchfield::narrow::swept_points::{
    ShellPath, SweepScratch, SweepSettings, SweepWanted, SweptField, sweep_shell,
};
use touchfield::narrow::{
    CastScratch, CastSettings, ClearanceScratch, ClearanceSettings, CollideSettings, ContactMethod,
    Contacts, FaceDescent, Pair, Particles, Scratch, Subdivision, WrenchSettings, cast, clearance,
    collide,
};
use touchfield::shape::{Convex, Shape};
use touchfield::{Query, ShapeSettings, glam};
use touchfield_conformance::random::Random;

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

/// Returns a ring as a dense grid, with points and faces.
fn ring() -> Shape {
    let mesh = torus(Torus::default()).unwrap();
    let settings = BakeSettings {
        resolution: Resolution::Nodes(40),
        ..Default::default()
    };
    let grid = bake(&mesh, &settings).unwrap().field;
    let settings = ShellSettings {
        density: ShellDensity::Points(3000),
        ..Default::default()
    };
    let shell = shell_of_mesh(&mesh, &grid, &settings).unwrap();
    let field = Arc::new(StoredField::from(grid));
    let octree = FieldOctree::build(&field);
    Shape::stored(field)
        .with_octree(Arc::new(octree))
        .with_shell(Arc::new(shell))
        .with_surface(Arc::new(surface_of_mesh(&mesh).unwrap()))
}

#[test]
fn no_query_allocates_once_its_buffers_have_grown() {
    // The counter must count, or the test would prove nothing.
    assert!(allocations(|| drop(std::hint::black_box(vec![1u8; 100]))) > 0);

    let ring = ring();
    let size = ring.solid().diagonal();
    let mut random = Random::new(83);
    let poses: Vec<Pose> = (0..40)
        .map(|_| Pose {
            rotation: random.quaternion().as_quat().normalize(),
            translation: (f64::from(size) * random.uniform(0.0, 0.6) * random.unit_vector())
                .as_vec3(),
        })
        .collect();
    let methods = [
        ContactMethod::Auto,
        ContactMethod::PointSamples,
        ContactMethod::ShellTraversal,
        ContactMethod::ShellSegments(16),
        ContactMethod::Separation,
        ContactMethod::OctreeSubdivision(Subdivision::default()),
        ContactMethod::ProjectionParticles(Particles::default()),
        ContactMethod::FaceDescent(FaceDescent::default()),
    ];
    let budgets = [None, Some(Duration::from_secs(1000))];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.unwrap().install(|| {
        for (method, budget) in methods
            .into_iter()
            .flat_map(|method| budgets.map(|budget| (method, budget)))
        {
            let settings = CollideSettings {
                method,
                max_separation: 0.01 * size,
                budget,
                wrench: Some(WrenchSettings::default()),
                ..Default::default()
            };
            let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
            let mut found = 0;
            let mut run = || {
                for &a_from_b in &poses {
                    let pair = Pair {
                        a: &ring,
                        b: &ring,
                        a_from_b,
                    };
                    collide(&pair, &settings, &mut scratch, &mut out).unwrap();
                    found += out.contacts.len();
                }
            };
            let first = allocations(&mut run);
            let later = allocations(|| (0..2).for_each(|_| run()));
            let name = method.name();
            assert!(found > 0 && first > 0, "{name}: {found} {first}");
            assert_eq!(later, 0, "{name}, budget {budget:?}: {first} at first");
        }
        // Rings that fly at each other, turning.
        let motions: Vec<PairMotion> = (poses.iter())
            .map(|&pose| {
                let turn = 3.0 * pose.translation / size;
                let start = Pose {
                    translation: 2.5 * pose.translation,
                    ..pose
                };
                let motion = Motion::straight(start, -2.0 * pose.translation);
                PairMotion::of_b(Motion { turn, ..motion })
            })
            .collect();
        let tolerance = 1e-3 * size;
        let (mut scratch, mut hits) = (CastScratch::default(), 0);
        let mut run = || {
            for motion in &motions {
                let settings = CastSettings::to_within(tolerance);
                let found = cast(&ring, &ring, motion, &settings, &mut scratch).unwrap();
                hits += usize::from(found.is_hit());
            }
        };
        let first = allocations(&mut run);
        assert_eq!(allocations(|| (0..2).for_each(|_| run())), 0, "cast");
        assert!(first > 0 && hits > 0, "{first} {hits}");
        let mut scratch = ClearanceScratch::default();
        let mut run = || {
            for motion in &motions {
                let settings = ClearanceSettings::to_within(5.0 * tolerance);
                clearance(&ring, &ring, motion, &settings, &mut scratch).unwrap();
            }
        };
        let first = allocations(&mut run);
        assert_eq!(allocations(|| (0..2).for_each(|_| run())), 0, "clearance");
        assert!(first > 0);
        let (shell, field) = (ring.shell().unwrap(), SweptField::of(&ring));
        for wanted in [SweepWanted::All, SweepWanted::First] {
            let settings = SweepSettings {
                wanted,
                ..SweepSettings::to_within(tolerance)
            };
            let (mut scratch, mut out) = (SweepScratch::default(), Vec::new());
            let mut touching = 0;
            let mut run = || {
                for &motion in &motions {
                    let path = ShellPath::Rigid(motion);
                    sweep_shell(shell, &path, &field, &settings, &mut scratch, &mut out).unwrap();
                    touching += usize::from(!out.is_empty());
                }
            };
            let first = allocations(&mut run);
            assert_eq!(allocations(|| (0..2).for_each(|_| run())), 0, "{wanted:?}");
            assert!(first > 0 && touching > 0, "{first} {touching}");
        }
    });
    a_query_allocates_nothing_after_the_first_round();
}

/// Runs one query; returns whether the bodies meet.
type Ask = fn(&mut Query, &Shape, &Shape, Pose) -> bool;

/// The front door: every query of a [`Query`], about shapes as `Shape::from_mesh` makes them, with
/// their triangles, and about convex bodies, whose pairs are remembered.
fn a_query_allocates_nothing_after_the_first_round() {
    let settings = ShapeSettings::with_nodes(40);
    let ring = Shape::from_mesh(&torus(Torus::default()).unwrap(), &settings).unwrap();
    let block = Shape::convex(Convex::cuboid(glam::Vec3::splat(0.02)).unwrap()).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.unwrap();
    for (name, a, b) in [
        ("rings", &ring, &ring),
        ("ring and block", &ring, &block),
        ("blocks", &block, &block),
    ] {
        let reach = f64::from(a.solid().diagonal().max(b.solid().diagonal()));
        let mut random = Random::new(84);
        let poses: Vec<Pose> = (0..40)
            .map(|_| Pose {
                rotation: random.quaternion().as_quat().normalize(),
                translation: (reach * random.uniform(0.0, 0.9) * random.unit_vector()).as_vec3(),
            })
            .collect();
        let queries: [(&str, Ask); 6] = [
            ("contacts", |query, a, b, pose| {
                !query.contacts(a, b, pose).unwrap().is_empty()
            }),
            ("manifold", |query, a, b, pose| {
                !query.manifold(a, b, pose).unwrap().kept().is_empty()
            }),
            ("touching", |query, a, b, pose| {
                query.touching(a, b, pose).unwrap()
            }),
            ("separation", |query, a, b, pose| {
                query.separation(a, b, pose).unwrap().separation < 0.0
            }),
            ("cast", |query, a, b, pose| {
                let motion = Motion::straight(pose, -2.0 * pose.translation);
                query.cast(a, b, motion).unwrap().is_hit()
            }),
            ("clearance", |query, a, b, pose| {
                let motion = Motion::straight(pose, -0.5 * pose.translation);
                query.clearance(a, b, motion).unwrap().separation < 0.0
            }),
        ];
        for (query_name, ask) in queries {
            let mut query = Query::default();
            let mut met = 0;
            let mut run = || {
                pool.install(|| {
                    for &pose in &poses {
                        met += usize::from(ask(&mut query, a, b, pose));
                    }
                });
            };
            run();
            // The pool itself allocates when work is handed over.
            let handed_over = allocations(|| pool.install(|| ()));
            let later = allocations(&mut run);
            assert!(met > 0, "{query_name} of {name} never meets");
            assert!(
                later <= handed_over,
                "{query_name} of {name}: {later} allocations in the second round"
            );
        }
    }
}
