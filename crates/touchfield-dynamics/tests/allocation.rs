//! Steps allocate nothing in steady state. A test binary of its own that counts every allocation
//! of the process, because nothing else may run beside it.
#![cfg(all(feature = "scenes", feature = "parallel"))]
#![allow(
    unsafe_code,
    clippy::unwrap_used,
    reason = "an allocator is unsafe by its trait; a failed unwrap is a failed test"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use touchfield_dynamics::scene::{Leave, Scene};

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

/// Bodies of all kinds of geometry on the ground and on each other. `sleeping = false`: a body that
/// sleeps would allocate nothing anyway.
const BODIES: &str = "
[material.default]
stiffness = 1e8
damping = 1e5

[[body]]
shape = { half_space = [0, 0, 1] }
fixed = true

[[body]]
shape = { box = [0.05, 0.05, 0.05] }
pose = [0, 0, 0.05, 0, 0, 0, 1]

[[body]]
shape = { box = [0.05, 0.05, 0.05] }
pose = [0, 0, 0.15, 0, 0, 0, 1]

[[body]]
shape = { torus = [0.05, 0.015] }
pose = [0.3, 0, 0.015, 0, 0, 0, 1]

[[body]]
shape = { torus = [0.05, 0.015] }
pose = [0.3, 0, 0.045, 0, 0, 0, 1]

[[body]]
shape = { cylinder = [0.2, 0.02] }
pose = [-1, 0, 0.02, 0, 0, 0, 1]
driven = { angular_velocity = [0, 0, 1] }

[[body]]
shape = { sphere = 0.03 }
pose = [-1, 0.05, 0.07, 0, 0, 0, 1]
";

#[test]
fn steps_allocate_nothing_in_steady_state() {
    // The counter must count, or the test would prove nothing.
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    drop(std::hint::black_box(vec![1_u8; 100]));
    assert!(ALLOCATIONS.load(Ordering::Relaxed) > before);
    // Threads of a pool allocate for the work that they pass on; one thread passes none on.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.unwrap().install(|| {
        for world in [
            "response = \"impulse\"",
            "response = \"impulse\"\ncontacts = \"shell\"",
            "response = \"impulse\"\nintegrator = \"rk4\"",
            "response = \"penalty\"",
            "response = \"penalty\"\nintegrator = \"rk4\"",
            "response = \"continuous-penalty\"",
        ] {
            let text = format!("[world]\nstep = 5e-4\nsleeping = false\n{world}\n{BODIES}");
            let scene = Scene::parse(&text, Path::new("rest.toml"), Leave::InFolder).unwrap();
            let mut built = scene.build(&|_| ControlFlow::Continue(())).unwrap();
            for _ in 0..1000 {
                built.world.step().unwrap();
            }
            assert!(built.world.contact_count() > 0, "{world}");
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            for _ in 0..300 {
                built.world.step().unwrap();
            }
            let count = ALLOCATIONS.load(Ordering::Relaxed) - before;
            assert_eq!(count, 0, "{world}: {count} allocations in 300 steps");
        }
    });
}
