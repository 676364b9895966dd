//! Ready scenes of simple shapes and of built-in models.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};
use touchfield::mesh::generate::{WindingPipe, winding_pipe};

use crate::scene::examples::ExampleFiles;
use crate::scene::examples::meshes::{hull, tube};
use crate::scene::examples::text::{SceneText, at, pose};

pub(super) fn ball() -> ExampleFiles {
    SceneText::new(
        "A ball falls to the ground and bounces.\nTry `response = \"penalty\"` below, with a `stiffness` in a [material.rubber].",
        "seconds = 2.0",
    )
    .material("rubber", "restitution = 0.8")
    .floor()
    .body(
        "ball",
        "{ sphere = 0.1 }",
        &format!("material = \"rubber\"\n{}", at(0.0, 0.0, 1.0)),
    )
    .files()
}

pub(super) fn stack() -> ExampleFiles {
    let half = 0.05;
    let mut text = SceneText::new("Ten boxes stand on each other.", "seconds = 3.0").floor();
    for number in 0..10 {
        let height = half * f64::from(2 * number + 1);
        text = text.body(
            &format!("box-{}", number + 1),
            &format!("{{ box = [{half}, {half}, {half}] }}"),
            &at(0.0, 0.0, height),
        );
    }
    text.files()
}

pub(super) fn incline() -> ExampleFiles {
    // tan of the slope is 0.5.
    let slope = 0.5_f64.atan();
    let turn = DQuat::from_rotation_y(slope);
    let up = turn * DVec3::Z;
    let place =
        |along: f64, aside: f64, high: f64| pose(turn * DVec3::new(along, aside, high), turn);
    SceneText::new(
        "A slope of tan 0.5: one block sticks at a friction of 0.5, one slides at 0.4,\nand a ball rolls at 5/7 g sin.",
        "seconds = 1.0",
    )
    .material("rough", "friction = 0.5")
    .material("smooth", "friction = 0.3")
    .body(
        "slope",
        &format!("{{ half_space = [{}, {}, {}] }}", up.x, up.y, up.z),
        "fixed = true\nmaterial = \"rough\"",
    )
    .body(
        "sticks",
        "{ box = [0.1, 0.1, 0.05] }",
        &format!("material = \"rough\"\n{}", place(0.0, -0.3, 0.05)),
    )
    .body(
        "slides",
        "{ box = [0.1, 0.1, 0.05] }",
        &format!("material = \"smooth\"\n{}", place(0.0, 0.0, 0.05)),
    )
    .body(
        "rolls",
        "{ sphere = 0.1 }",
        &format!("material = \"rough\"\n{}", place(0.0, 0.3, 0.1)),
    )
    .files()
}

pub(super) fn spinning_top() -> ExampleFiles {
    let mut points = vec![DVec3::ZERO, 0.08 * DVec3::Z];
    for side in 0..32 {
        let (sin, cos) = (PI * f64::from(side) / 16.0).sin_cos();
        points.push(DVec3::new(0.03 * cos, 0.03 * sin, 0.04));
        points.push(DVec3::new(0.03 * cos, 0.03 * sin, 0.05));
    }
    let lean = DQuat::from_rotation_y(0.2);
    let spin = lean * DVec3::new(0.0, 0.0, 200.0);
    SceneText::new(
        "A top spins on its tip, leans and circles.",
        "seconds = 3.0\nstep = 0.0005",
    )
    .material("wood", "friction = 0.3")
    .body(
        "floor",
        "{ half_space = [0, 0, 1] }",
        "fixed = true\nmaterial = \"wood\"",
    )
    .mesh("top.obj", hull(&points))
    .body(
        "top",
        "{ file = \"top.obj\" }",
        &format!(
            "material = \"wood\"\ndensity = 700.0\n{}\nangular_velocity = [{:.3}, 0, {:.3}]",
            pose(DVec3::ZERO, lean),
            spin.x,
            spin.z
        ),
    )
    .files()
}

pub(super) fn knots() -> ExampleFiles {
    let mut text = SceneText::new(
        "Trefoil knots fall on each other. Any mesh may take their place, such as\n{ file = \"bunny.obj\", scale = 0.1 }: it is baked once for all of them.",
        "seconds = 1.5",
    )
    .floor();
    for number in 0..5_u32 {
        let turn = DQuat::from_rotation_x(0.4 + 0.9 * f64::from(number))
            * DQuat::from_rotation_z(0.7 * f64::from(number));
        let place = DVec3::new(
            0.02 * f64::from(number % 2),
            0.015 * f64::from(number % 3),
            0.12 + 0.17 * f64::from(number),
        );
        text = text.body(
            &format!("knot-{}", number + 1),
            "{ model = \"torus_knot\" }",
            &pose(place, turn),
        );
    }
    text.files()
}

pub(super) fn bowls() -> ExampleFiles {
    let mut text = SceneText::new("China bowls fall into each other.", "seconds = 1.5")
        .material("china", "friction = 0.2\nrestitution = 0.1")
        .floor();
    for number in 0..5_u32 {
        let lean = 0.05 * (f64::from(number) - 2.0);
        let place = DVec3::new(
            0.004 * f64::from(number % 2),
            0.0,
            0.085 + 0.05 * f64::from(number),
        );
        text = text.body(
            &format!("bowl-{}", number + 1),
            "{ model = \"bowl\" }",
            &format!(
                "material = \"china\"\ndensity = 2400.0\n{}",
                pose(place, DQuat::from_rotation_y(lean))
            ),
        );
    }
    text.files()
}

pub(super) fn statues() -> ExampleFiles {
    let mut text = SceneText::new(
        "Mugs, knots and bowls, as large as a man, fall on hills.",
        "seconds = 2.0",
    )
    .body(
        "terrain",
        "{ model = \"terrain\", resolution = 160 }",
        "fixed = true",
    );
    for (number, (model, scale)) in [
        ("mug", 12.0),
        ("torus_knot", 8.0),
        ("bowl", 7.0),
        ("chain_link", 25.0),
        ("mug", 10.0),
        ("torus_knot", 6.0),
    ]
    .into_iter()
    .enumerate()
    {
        let along = number as f64;
        let place = DVec3::new(
            1.9 * (along % 3.0 - 1.0),
            2.0 * (along / 3.0).floor() - 1.0,
            2.2,
        );
        text = text.body(
            &format!("{model}-{}", number + 1),
            &format!("{{ model = \"{model}\", scale = {scale:.1} }}"),
            &pose(place, DQuat::from_rotation_x(0.5 * along)),
        );
    }
    text.files()
}

pub(super) fn pipe() -> ExampleFiles {
    let pipe = winding_pipe(WindingPipe {
        windings: 1.0,
        ..WindingPipe::default()
    });
    let mesh = pipe.unwrap_or_default();
    // The middle line near the upper end, from the middle of what lies there.
    let middle = |x: f64| {
        let near = mesh.vertices.iter().filter(|v| (v.x - x).abs() < 0.004);
        let (sum, count) = near.fold((DVec3::ZERO, 0.0), |(sum, count), v| {
            (sum + *v, count + 1.0)
        });
        sum / f64::max(count, 1.0)
    };
    // Tilted so far, the pipe descends everywhere.
    let turn = DQuat::from_rotation_y(PI / 3.0);
    let up = DVec3::new(0.0, 0.0, 0.6);
    let balls: Vec<DVec3> = (0..6)
        .map(|ball| turn * middle(-0.285 + 0.034 * f64::from(ball)) + up)
        .collect();
    let mut text = SceneText::new("Balls roll down through a winding pipe.", "seconds = 1.5")
        .material("glass", "friction = 0.2\nrestitution = 0.3")
        .floor()
        .mesh("pipe.obj", mesh)
        .body(
            "pipe",
            "{ file = \"pipe.obj\", resolution = 220 }",
            &format!("fixed = true\nmaterial = \"glass\"\n{}", pose(up, turn)),
        );
    for (number, place) in balls.iter().enumerate() {
        text = text.body(
            &format!("ball-{}", number + 1),
            "{ sphere = 0.015 }",
            &format!(
                "material = \"glass\"\ndensity = 2500.0\n{}",
                at(place.x, place.y, place.z)
            ),
        );
    }
    text.files()
}

pub(super) fn nut_on_bolt() -> ExampleFiles {
    // The nut fits at multiples of the pitch, 2 mm.
    SceneText::new(
        "A nut turns down the thread of a bolt by its weight. Above a friction of 0.04,\nabout the tangent of the lead angle, it locks.",
        "seconds = 2.0",
    )
    .material("oiled", "friction = 0.0")
    .body(
        "bolt",
        "{ model = \"bolt_m16\", field = \"sparse\", resolution = 400 }",
        "fixed = true\nmaterial = \"oiled\"",
    )
    .body(
        "nut",
        "{ model = \"nut_m16\", field = \"sparse\", resolution = 160 }",
        &format!("material = \"oiled\"\ndensity = 7800.0\n{}", at(0.0, 0.0, 0.052)),
    )
    .files()
}

pub(super) fn peg_in_hole() -> ExampleFiles {
    SceneText::new(
        "A peg slides into a hole that is 0.2 mm wider.",
        "seconds = 1.0",
    )
    .material("steel", "friction = 0.1")
    .floor()
    .mesh("block.obj", tube(0.01, 0.02, 0.02, 192))
    .body(
        "block",
        "{ file = \"block.obj\" }",
        &format!("fixed = true\nmaterial = \"steel\"\n{}", at(0.0, 0.0, 0.02)),
    )
    .body(
        "peg",
        "{ cylinder = [0.0099, 0.02] }",
        &format!(
            "material = \"steel\"\ndensity = 7800.0\n{}",
            pose(DVec3::new(5e-5, 0.0, 0.055), DQuat::from_rotation_y(0.003))
        ),
    )
    .files()
}

pub(super) fn gears() -> ExampleFiles {
    // Pitch circles of 48 mm touch; a gap faces a tooth.
    let turn = DQuat::from_rotation_z(PI / 24.0);
    SceneText::new(
        "One gear is driven, the other follows by its teeth alone.",
        "seconds = 2.0\ngravity = [0, 0, 0]",
    )
    .material("steel", "friction = 0.1")
    .body(
        "driver",
        "{ model = \"gear\", resolution = 160 }",
        "material = \"steel\"\ndriven = { angular_velocity = [0, 0, 3.14159265] }",
    )
    .body(
        "follower",
        "{ model = \"gear\", resolution = 160 }",
        &format!(
            "material = \"steel\"\ndensity = 7800.0\n{}\nlocked = [\"tx\", \"ty\", \"tz\", \"rx\", \"ry\"]",
            pose(DVec3::new(0.048, 0.0, 0.0), turn)
        ),
    )
    .files()
}

pub(super) fn dominoes() -> ExampleFiles {
    let mut text = SceneText::new("Dominoes fall, one by the other.", "seconds = 2.0").floor();
    for number in 0..12_u32 {
        let half = [0.004, 0.012, 0.024];
        let lean = if number == 0 { 0.25 } else { 0.0 };
        let turn = DQuat::from_rotation_y(lean);
        let rise = half[2] * lean.cos() + half[0] * lean.sin();
        let place = DVec3::new(0.02 * f64::from(number), 0.0, rise);
        text = text.body(
            &format!("domino-{}", number + 1),
            "{ box = [0.004, 0.012, 0.024] }",
            &pose(place, turn),
        );
    }
    text.files()
}
