//! The same scene has the same bits over runs and over numbers of threads, under every response.
#![cfg(all(feature = "scenes", feature = "parallel"))]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::ops::ControlFlow;
use std::path::Path;

use touchfield_dynamics::scene::{Leave, Scene};
use touchfield_dynamics::{Response, State};

/// Knots and rings that fall on each other and on the ground: more pairs than threads.
fn heap(response: Response) -> String {
    let mut text = format!(
        "[world]\nresponse = \"{}\"\nstep = 5e-4\n\
         [material.default]\nstiffness = 1e8\ndamping = 1e4\n\
         [[body]]\nshape = {{ half_space = [0, 0, 1] }}\nfixed = true\n",
        response.name()
    );
    for number in 0..8 {
        let (x, z) = (
            0.03 * f64::from(number % 3),
            0.05 + 0.05 * f64::from(number),
        );
        let shape = match number % 4 {
            0 => "torus = [0.05, 0.015]",
            1 => "box = [0.04, 0.03, 0.02]",
            2 => "model = \"torus_knot\", resolution = 40",
            _ => "sphere = 0.03",
        };
        text += &format!(
            "[[body]]\nshape = {{ {shape} }}\npose = [{x}, 0, {z}, 0.1, 0.2, 0.3, 0.9273618495495704]\n"
        );
    }
    text
}

fn states(text: &str, threads: usize) -> Vec<State> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(|| {
        let scene = Scene::parse(text, Path::new("heap.toml"), Leave::InFolder).unwrap();
        let mut built = scene.build(&|_| ControlFlow::Continue(())).unwrap();
        let mut touched = 0;
        for _ in 0..500 {
            built.world.step().unwrap();
            touched = touched.max(built.world.contact_count());
        }
        assert!(touched > 4, "{touched}");
        built
            .world
            .bodies()
            .iter()
            .map(|body| *body.state())
            .collect()
    })
}

#[test]
fn a_heap_has_the_same_bits_over_runs_and_threads() {
    for response in Response::ALL {
        let text = heap(response);
        let first = states(&text, 1);
        for threads in [1, 2, 5] {
            // Equal numbers could still differ in the sign of a zero; the text shows it.
            let other = states(&text, threads);
            assert_eq!(
                format!("{first:?}"),
                format!("{other:?}"),
                "{} on {threads} threads",
                response.name()
            );
        }
    }
}
