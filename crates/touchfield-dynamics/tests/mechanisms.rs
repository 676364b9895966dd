//! Mechanisms and structures that hold by contact alone: what the ready scenes must show.
#![cfg(feature = "scenes")]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(clippy::print_stdout, reason = "the rows are for the reader")]

use std::f64::consts::TAU;
use std::ops::ControlFlow;

use touchfield::glam::{DQuat, DVec3};
use touchfield::mesh::write::write_file;
use touchfield_dynamics::World;
use touchfield_dynamics::scene::{Built, Leave, Scene, examples};

/// Builds a ready scene; `change` may edit its text, and `scale` the size of its meshes.
fn built(name: &str, scale: f64, change: impl Fn(String) -> String) -> Built {
    let example = examples().into_iter().find(|one| one.name == name).unwrap();
    let mut files = example.files();
    let folder = std::env::temp_dir().join(format!(
        "touchfield-mechanism-{name}-{scale}-{}",
        std::process::id()
    ));
    std::fs::create_dir_all(&folder).unwrap();
    for (file, mesh) in &mut files.meshes {
        for vertex in &mut mesh.vertices {
            *vertex *= scale;
        }
        write_file(&folder.join(&file), mesh).unwrap();
    }
    let path = folder.join("scene.toml");
    let scene = Scene::parse(&change(files.scene), &path, Leave::InFolder).unwrap();
    let built = scene.build(&|_| ControlFlow::Continue(())).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    built
}

fn same(text: String) -> String {
    text
}

/// Runs a world and returns the greatest depth that its contacts had \[m\].
fn run(world: &mut World, seconds: f64) -> f64 {
    let mut deepest = 0.0_f64;
    while world.time() < seconds {
        world.step().unwrap();
        deepest = deepest.max(world.take_deepest());
    }
    deepest
}

fn turn_about_z(rotation: DQuat) -> f64 {
    (2.0 * rotation.z.atan2(rotation.w)).to_degrees()
}

fn named(built: &Built, name: &str) -> usize {
    built.names.iter().position(|one| one == name).unwrap()
}

/// Multiplies the translations of all poses in a scene's text.
fn grown(text: &str, scale: f64) -> String {
    let grow = |line: &str| {
        let Some(rest) = line.strip_prefix("pose = [") else {
            return line.to_owned();
        };
        let numbers = rest.trim_end_matches(']').split(',').enumerate();
        let numbers = numbers.map(|(place, number)| {
            let number: f64 = number.trim().parse().unwrap();
            (if place < 3 { scale * number } else { number }).to_string()
        });
        format!("pose = [{}]", numbers.collect::<Vec<_>>().join(", "))
    };
    text.lines().map(grow).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_arch_of_25_stones_stands_at_any_size() {
    // Spans of 0.3, 2 and 30 m.
    for scale in [0.15, 1.0, 15.0] {
        let mut built = built("arch", scale, |text| grown(&text, scale));
        let start = places(&built.world);
        let deepest = run(&mut built.world, 2.0);
        let moved = places(&built.world).into_iter().zip(start);
        let most = moved
            .map(|(end, start)| (end - start).length())
            .fold(0.0, f64::max);
        let span = 2.0 * scale;
        assert!(
            most < 1e-3 * span,
            "a stone of a span of {span} m moved by {most} m"
        );
        assert!(deepest < 1e-5 * span, "{span} m: {deepest} m deep");
    }
}

fn places(world: &World) -> Vec<DVec3> {
    world
        .bodies()
        .iter()
        .map(|body| body.pose().translation)
        .collect()
}

#[test]
fn a_house_of_cards_stands() {
    let mut built = built("card-house", 1.0, same);
    let start = places(&built.world);
    let deepest = run(&mut built.world, 3.0);
    for (end, start) in places(&built.world).into_iter().zip(start) {
        assert!(
            (end - start).length() < 5e-4,
            "a card moved by {}",
            (end - start).length()
        );
    }
    assert!(deepest < 1e-5, "{deepest}");
}

#[test]
fn a_geneva_drive_turns_by_quarters_and_rests_between() {
    let mut built = built("geneva", 1.0, same);
    let wheel = named(&built, "wheel");
    let mut angles = Vec::new();
    let mut deepest = 0.0_f64;
    for moment in [0.7, 1.0, 1.4, 2.0, 2.6, 3.4, 3.9] {
        deepest = deepest.max(run(&mut built.world, moment));
        angles.push(turn_about_z(built.world.bodies()[wheel].pose().rotation));
    }
    let expected = [0.0, -45.0, -90.0, -90.0, -90.0, -180.0, -180.0];
    for (angle, expected) in angles.iter().zip(expected) {
        let off = (angle - expected).rem_euclid(360.0);
        assert!(off.min(360.0 - off) < 1.5, "{angles:?}");
    }
    // A hundredth of the pin.
    assert!(deepest < 4e-5, "{deepest}");
}

#[test]
fn what_lies_on_a_turntable_turns_with_it_near_the_axis_and_leaves_beyond() {
    let mut built = built("turntable", 1.0, same);
    // Boxes that begin at rest slip until they turn with the table.
    run(&mut built.world, 1.0);
    let start = places(&built.world);
    run(&mut built.world, 3.0);
    // μ g / ω² is 0.31 m.
    let free = built
        .world
        .bodies()
        .iter()
        .enumerate()
        .filter(|(_, body)| body.is_free());
    let (mut stayed, mut left) = (0, 0);
    for (index, body) in free {
        let out = |place: DVec3| place.truncate().length();
        let (before, after) = (out(start[index]), out(body.pose().translation));
        if before < 0.3 {
            assert!(
                (after - before).abs() < 5e-4,
                "{}: {before} to {after}",
                built.names[index]
            );
            stayed += 1;
        } else {
            assert!(after > 0.6, "{}: {before} to {after}", built.names[index]);
            left += 1;
        }
    }
    assert!(stayed > 0 && left > 0, "{stayed} stayed, {left} left");
}

#[test]
fn a_piston_follows_its_crank() {
    let mut built = built("piston", 1.0, same);
    let piston = named(&built, "piston");
    let mut deepest = 0.0_f64;
    // It falls onto the disc first.
    run(&mut built.world, 0.2);
    while built.world.time() < 2.2 {
        let next = built.world.time() + 0.0105;
        deepest = deepest.max(run(&mut built.world, next));
        // The flat end of the piston lies on a disc whose centre goes round by 20 mm.
        let angle = TAU * built.world.time();
        let expected = 0.1 + 0.02 * angle.sin();
        let pose = built.world.bodies()[piston].pose();
        let off = pose.translation.z - expected;
        // It may tilt by its play between the walls, half a millimetre over a width of 40 mm.
        assert!(off.abs() < 6e-4, "{off} m off at {angle} rad");
    }
    assert!(deepest < 1e-4, "{deepest}");
}

#[test]
fn a_chain_hangs() {
    let mut built = built("chain", 1.0, same);
    let deepest = run(&mut built.world, 3.0);
    // Half a link is 16 mm from its middle to where another one pulls.
    let places = places(&built.world);
    for pair in places.windows(2) {
        let apart = pair[0].distance(pair[1]);
        assert!((0.020..0.03201).contains(&apart), "{apart} m apart");
    }
    // The catenary of a rope of that length, to within half a link: the chain may still swing.
    let [first, last] = [places[0], places[places.len() - 1]];
    let (span, length) = (first.distance(last), 0.032 * (places.len() - 1) as f64);
    let (mut low, mut high) = (0.05 * span, 10.0 * span);
    for _ in 0..60 {
        let a = 0.5 * (low + high);
        if 2.0 * a * (0.5 * span / a).sinh() > length {
            low = a;
        } else {
            high = a;
        }
    }
    let sag = low * ((0.5 * span / low).cosh() - 1.0);
    let lowest = places
        .iter()
        .map(|place| place.z)
        .fold(f64::INFINITY, f64::min);
    let hangs = first.z - lowest;
    assert!((hangs - sag).abs() < 0.016, "{hangs} m, not {sag}");
    // A twentieth of the wire.
    assert!(deepest < 1e-4, "{deepest}");
}

/// A screw without friction falls at g / (1 + (2π/p)² I/m): its turning takes most of the energy.
#[test]
fn a_nut_and_a_bolt_turn_down_their_thread_by_the_pitch() {
    const PITCH: f64 = 0.002;
    // The bolt has play to tilt in its nut and rattles, which costs a fifth of its fall. Its field
    // takes long to bake, so it waits for the long runs.
    let mut cases = vec![("nut-on-bolt", "nut", 0.15)];
    if std::env::var_os("TOUCHFIELD_LONG").is_some() {
        cases.push(("bolt-in-nut", "bolt", 0.25));
    }
    for (name, moving, tolerance) in cases {
        let mut built = built(name, 1.0, same);
        let index = named(&built, moving);
        let body = &built.world.bodies()[index];
        let mass = body.settings().mass;
        let along = mass.inertia.z_axis.z / mass.mass;
        let fall = 9.81 / (1.0 + (TAU / PITCH).powi(2) * along);
        let start = body.pose().translation.z;
        let (mut turned, mut deepest) = (0.0, 0.0_f64);
        // The play of the thread first.
        run(&mut built.world, 0.1);
        let [early, since] = [
            built.world.bodies()[index].pose().translation.z,
            built.world.time(),
        ];
        let speed = built.world.bodies()[index].velocity().z;
        while built.world.time() < 0.5 {
            let next = built.world.time() + 0.0005;
            deepest = deepest.max(run(&mut built.world, next));
            let body = &built.world.bodies()[index];
            turned += body.angular_velocity().z * built.world.settings().step;
        }
        let body = &built.world.bodies()[index];
        let fell = early - body.pose().translation.z;
        let time = built.world.time() - since;
        // By the pitch for every turn, to within the play.
        let by_turns = PITCH * turned.abs() / TAU;
        println!("{name}: {fell} m, {by_turns} m by turns, {deepest} m deep, from {start}");
        assert!((fell - by_turns).abs() < 0.1 * PITCH, "{fell} {by_turns}");
        let expected = -speed * time + 0.5 * fall * time * time;
        assert!(
            (fell / expected - 1.0).abs() < tolerance,
            "{name}: fell by {fell} m, not by {expected}"
        );
        assert!(deepest < 1e-4, "{name}: {deepest}");
    }
}
