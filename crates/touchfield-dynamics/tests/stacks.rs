//! Stacks at rest do not creep: boxes, bowls that lie in each other, balls in a cup. Nothing
//! sleeps, so that rest is the solver's. `TOUCHFIELD_LONG=1` watches them for a minute.
#![cfg(feature = "scenes")]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(clippy::print_stdout, reason = "the rows are for the reader")]

use std::f64::consts::TAU;
use std::ops::ControlFlow;
use std::path::Path;

use touchfield::glam::DVec3;
use touchfield_dynamics::scene::{Built, Leave, Scene};

const HEAD: &str = "[world]\nsleeping = false\n\
    [[body]]\nname = \"floor\"\nshape = { half_space = [0, 0, 1] }\nfixed = true\n";

fn boxes() -> String {
    (0..10).fold(HEAD.to_owned(), |text, number| {
        let height = 0.05 * f64::from(2 * number + 1);
        text + &format!(
            "[[body]]\nshape = {{ box = [0.05, 0.05, 0.05] }}\npose = [0, 0, {height}, 0, 0, 0, 1]\n"
        )
    })
}

/// Bowls upside down, each on the one below: its inner edge on the outer sphere.
fn bowls() -> String {
    let (outer, inner) = (0.08_f64, 0.076_f64);
    let apart = (outer * outer - inner * inner).sqrt();
    (0..10).fold(HEAD.to_owned(), |text, number| {
        let height = (apart + 2e-4) * f64::from(number) + 2e-4;
        text + &format!(
            "[[body]]\nshape = {{ model = \"bowl\" }}\ndensity = 2400\n\
             pose = [0, 0, {height}, 1, 0, 0, 0]\n"
        )
    })
}

/// Twenty balls in a mug, in layers of five.
fn cup() -> String {
    let mug = "[[body]]\nshape = { model = \"mug\" }\nfixed = true\n";
    (0..20).fold(format!("{HEAD}{mug}"), |text, number| {
        let (layer, place) = (f64::from(number / 5), f64::from(number % 5));
        let (sin, cos) = (TAU * (place + 0.5 * (layer % 2.0)) / 5.0).sin_cos();
        let (x, y, z) = (0.022 * cos, 0.022 * sin, 0.0145 + 0.021 * layer);
        text + &format!(
            "[[body]]\nshape = {{ sphere = 0.01 }}\npose = [{x}, {y}, {z}, 0, 0, 0, 1]\n"
        )
    })
}

fn places(built: &Built) -> Vec<DVec3> {
    let bodies = built.world.bodies().iter();
    bodies.map(|body| body.pose().translation).collect()
}

fn creeps_less_than_a_millimetre(name: &str, text: &str, settle: f64) {
    let seconds = match std::env::var_os("TOUCHFIELD_LONG") {
        Some(_) => 60.0,
        None => 2.0,
    };
    let scene = Scene::parse(text, Path::new("stack.toml"), Leave::InFolder).unwrap();
    let mut built = scene.build(&|_| ControlFlow::Continue(())).unwrap();
    let run = |built: &mut Built, until: f64| {
        while built.world.time() < until {
            built.world.step().unwrap();
        }
    };
    run(&mut built, settle);
    let start = places(&built);
    built.world.take_deepest();
    run(&mut built, settle + seconds);
    let moved = places(&built).into_iter().zip(&start);
    let most = moved.fold(0.0, |most, (end, start)| {
        f64::max(most, end.distance(*start))
    });
    let deepest = built.world.take_deepest();
    println!("{name}: {most:.2e} m of creep in {seconds} s, {deepest:.2e} m deep");
    assert!(most < 1e-3, "{name}: {most} m in {seconds} s");
    assert!(built.world.bodies().iter().all(|body| !body.is_asleep()));
}

#[test]
fn ten_boxes_rest() {
    creeps_less_than_a_millimetre("ten boxes", &boxes(), 1.0);
}

#[test]
fn ten_bowls_rest() {
    creeps_less_than_a_millimetre("ten bowls", &bowls(), 2.0);
}

#[test]
fn twenty_balls_in_a_cup_rest() {
    creeps_less_than_a_millimetre("twenty balls", &cup(), 3.0);
}
