//! Mechanisms that hold by contact alone, without a joint \[Ferguson2021\].

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DQuat, DVec2, DVec3};

use crate::scene::examples::ExampleFiles;
use crate::scene::examples::meshes::{extrude, voussoir};
use crate::scene::examples::text::{SceneText, at, pose, vector};

pub(super) fn bolt_in_nut() -> ExampleFiles {
    let over = DQuat::from_rotation_x(PI);
    SceneText::new(
        "A bolt turns down through a fixed nut by its weight: 2 mm for each turn.",
        "seconds = 1.0",
    )
    .material("oiled", "friction = 0.0")
    .body(
        "nut",
        "{ model = \"nut_m16\", field = \"sparse\", resolution = 160 }",
        &format!(
            "fixed = true\nmaterial = \"oiled\"\n{}",
            pose(DVec3::ZERO, over)
        ),
    )
    .body(
        "bolt",
        "{ model = \"bolt_m16\", field = \"sparse\", resolution = 400 }",
        &format!(
            "material = \"oiled\"\ndensity = 7800.0\n{}",
            pose(DVec3::new(0.0, 0.0, 0.052), over)
        ),
    )
    .files()
}

pub(super) fn piston() -> ExampleFiles {
    let mut text = SceneText::new(
        "An eccentric disc turns below a piston, which follows it up and down between four walls.",
        "seconds = 2.0",
    )
    .material("oiled", "friction = 0.05")
    .body(
        "crank",
        "{ cylinder = [0.05, 0.02] }",
        &format!(
            "material = \"oiled\"\n{}\ndriven = {{ angular_velocity = [0, 6.2831853, 0], about = [0.02, 0, 0] }}",
            // The axis of the disc is along y.
            pose(DVec3::new(-0.02, 0.0, 0.0), DQuat::from_rotation_x(-FRAC_PI_2))
        ),
    );
    let (inside, thick) = (0.0205, 0.01);
    for (name, x, y, half) in [
        ("left", -1.0, 0.0, [thick, 0.04, 0.06]),
        ("right", 1.0, 0.0, [thick, 0.04, 0.06]),
        ("front", 0.0, -1.0, [inside, thick, 0.06]),
        ("back", 0.0, 1.0, [inside, thick, 0.06]),
    ] {
        let [hx, hy, hz] = half;
        let away = inside + thick;
        text = text.body(
            name,
            &format!("{{ box = [{hx}, {hy}, {hz}] }}"),
            &format!(
                "fixed = true\nmaterial = \"oiled\"\n{}",
                at(x * away, y * away, 0.145)
            ),
        );
    }
    // Over the disc's top at the start, with its lower end below the walls.
    text.body(
        "piston",
        "{ box = [0.02, 0.02, 0.05] }",
        &format!(
            "material = \"oiled\"\ndensity = 7800.0\n{}",
            at(0.0, 0.0, 0.102)
        ),
    )
    .files()
}

/// Sizes of the Geneva drive \[m\].
mod geneva_sizes {
    /// Radius of the pin's circle.
    pub(super) const CRANK: f64 = 0.05;
    pub(super) const PIN: f64 = 0.004;
    /// Room between pin and slot, on each side.
    pub(super) const PLAY: f64 = 0.0002;
    /// Radius of the locking disc.
    pub(super) const LOCK: f64 = 0.036;
}

/// Returns the outline of the wheel with four slots, its centre at the origin; in its rest position
/// the driver's centre is at (−√2, 0) crank radii.
fn geneva_wheel() -> Vec<DVec2> {
    use geneva_sizes::{CRANK, LOCK, PIN, PLAY};
    let between = CRANK * 2.0_f64.sqrt();
    // For four slots, the wheel is as large as the crank.
    let radius = CRANK;
    let half_slot = PIN + PLAY;
    let bottom = between - CRANK - PIN - PLAY;
    let mut outline = Vec::new();
    for quarter in 0..4 {
        let turn = DVec2::from_angle(f64::from(quarter) * FRAC_PI_2 + 0.25 * PI);
        // A slot along this direction: in along one side, around its bottom, out along the other.
        let mouth = (radius * radius - half_slot * half_slot).sqrt();
        outline.push(DVec2::new(mouth, -half_slot).rotate(turn));
        for step in 0..=12 {
            let angle = -FRAC_PI_2 - PI * f64::from(step) / 12.0;
            let round = DVec2::new(bottom + half_slot, 0.0) + half_slot * DVec2::from_angle(angle);
            outline.push(round.rotate(turn));
        }
        outline.push(DVec2::new(mouth, half_slot).rotate(turn));
        // The hollow for the locking disc, between this slot and the next.
        let next = DVec2::from_angle((f64::from(quarter) + 1.0) * FRAC_PI_2);
        let lock = LOCK + PLAY;
        let center = DVec2::new(between, 0.0);
        // Where the circle of the disc meets the rim of the wheel.
        let x = (radius * radius - lock * lock + between * between) / (2.0 * between);
        let y = (radius * radius - x * x).sqrt();
        let to_rim = DVec2::new(x, y) - center;
        let half = PI - to_rim.to_angle();
        // The hollow goes from the lower end, counter-clockwise around the wheel.
        for step in 0..=24 {
            let angle = PI + half - 2.0 * half * f64::from(step) / 24.0;
            outline.push((center + lock * DVec2::from_angle(angle)).rotate(next));
        }
    }
    outline
}

/// Returns the outline of the locking disc, with the hollow that the wheel's arms need; its pin is
/// along +x.
fn geneva_lock(wheel: &[DVec2]) -> Vec<DVec2> {
    use geneva_sizes::{CRANK, LOCK, PLAY};
    let between = CRANK * 2.0_f64.sqrt();
    // The wheel in the frame of the disc, for all angles of the crank while the pin is in a slot.
    let mut wheels = Vec::new();
    for step in -60..=60 {
        let crank = 0.25 * PI * f64::from(step) / 60.0;
        let pin = CRANK * DVec2::from_angle(crank) - DVec2::new(between, 0.0);
        // The slot that holds the pin points at it, as far as the play between them lets it: near
        // the wheel's centre that is half a millimetre at the rim.
        for side in [-1.0, 0.0, 1.0] {
            let loose = side * 2.5 * PLAY / pin.length();
            let turn = pin.to_angle() - 0.75 * PI + loose;
            let (wheel_turn, back) = (DVec2::from_angle(turn), DVec2::from_angle(-crank));
            let placed = wheel
                .iter()
                .map(|corner| (corner.rotate(wheel_turn) + DVec2::new(between, 0.0)).rotate(back));
            wheels.push(placed.collect::<Vec<DVec2>>());
        }
    }
    let is_free = |point: DVec2| !wheels.iter().any(|wheel| is_within(wheel, point));
    (0..180)
        .map(|step| {
            let direction = DVec2::from_angle(TAU * f64::from(step) / 180.0);
            let radii = (0..=60).map(|part| LOCK * (0.3 + 0.7 * f64::from(part) / 60.0));
            // As far out as all is free, less the play.
            let mut reach = 0.3 * LOCK;
            for radius in radii {
                if !is_free(direction * (radius + 4.0 * PLAY)) && direction.x > 0.0 {
                    break;
                }
                reach = radius;
            }
            direction * reach
        })
        .collect()
}

/// Returns whether a point lies within a polygon, by the parity of crossings.
fn is_within(polygon: &[DVec2], point: DVec2) -> bool {
    let mut is_within = false;
    for (index, a) in polygon.iter().enumerate() {
        let b = polygon[(index + 1) % polygon.len()];
        if (a.y > point.y) != (b.y > point.y) {
            let x = a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x);
            is_within ^= point.x < x;
        }
    }
    is_within
}

pub(super) fn geneva() -> ExampleFiles {
    use geneva_sizes::{CRANK, PIN};
    let between = CRANK * 2.0_f64.sqrt();
    let wheel = geneva_wheel();
    let lock = geneva_lock(&wheel);
    // The pin starts opposite the wheel. One turn takes two seconds.
    let start = PI;
    let about = DVec3::new(-CRANK, 0.0, 0.0);
    let driven = |about: DVec3| {
        format!(
            "driven = {{ angular_velocity = [0, 0, 3.14159265], about = {} }}",
            vector(about)
        )
    };
    let turn = DQuat::from_rotation_z(start);
    SceneText::new(
        "A Geneva drive: the pin turns the wheel by a quarter, and the disc holds it between.",
        "seconds = 4.0",
    )
    .material("steel", "friction = 0.1")
    .body(
        "floor",
        "{ half_space = [0, 0, 1] }",
        "fixed = true\nmaterial = \"steel\"",
    )
    .mesh("wheel.obj", extrude(&wheel, 0.0, 0.01))
    .mesh("lock.obj", extrude(&lock, 0.001, 0.009))
    .body(
        "pin",
        &format!("{{ cylinder = [{PIN}, 0.006] }}"),
        &format!(
            "material = \"steel\"\n{}\n{}",
            pose(DVec3::new(-CRANK, 0.0, 0.007), turn),
            driven(about)
        ),
    )
    .body(
        "disc",
        "{ file = \"lock.obj\", resolution = 160 }",
        &format!(
            "material = \"steel\"\n{}\n{}",
            pose(DVec3::ZERO, turn),
            driven(DVec3::ZERO)
        ),
    )
    .body(
        "wheel",
        "{ file = \"wheel.obj\", resolution = 200 }",
        &format!(
            "material = \"steel\"\ndensity = 7800.0\n{}\nlocked = [\"tx\", \"ty\", \"rx\", \"ry\"]",
            at(between, 0.0, 0.0)
        ),
    )
    .files()
}

pub(super) fn chain() -> ExampleFiles {
    const LINKS: usize = 15;
    // Inner length of a link of the built-in model: where two links touch.
    let pitch = 0.032 - 0.001;
    let length = pitch * (LINKS - 1) as f64;
    let span = 0.7 * length;
    // Solve 2 a sinh(span / 2a) = length for a, by bisection.
    let (mut low, mut high) = (0.05 * span, 10.0 * span);
    for _ in 0..60 {
        let a = 0.5 * (low + high);
        if 2.0 * a * (0.5 * span / a).sinh() > length {
            low = a;
        } else {
            high = a;
        }
    }
    let a = 0.5 * (low + high);
    let mut text = SceneText::new("A chain hangs between two fixed links.", "seconds = 2.0")
        .material("steel", "friction = 0.2");
    for index in 0..LINKS {
        let along = pitch * index as f64 - 0.5 * length;
        let x = a * (along / a).asinh();
        let slope = (x / a).sinh().atan();
        // Every other link is turned by a quarter about the chain.
        let turn =
            DQuat::from_rotation_y(-slope) * DQuat::from_rotation_x(FRAC_PI_2 * (index % 2) as f64);
        let place = DVec3::new(x, 0.0, a * (x / a).cosh() - a);
        let fixed = match index == 0 || index == LINKS - 1 {
            true => "fixed = true\n",
            false => "density = 7800.0\n",
        };
        text = text.body(
            &format!("link-{}", index + 1),
            "{ model = \"chain_link\" }",
            &format!("material = \"steel\"\n{fixed}{}", pose(place, turn)),
        );
    }
    text.files()
}

pub(super) fn arch() -> ExampleFiles {
    const STONES: u32 = 25;
    let (radius, thickness) = (1.0, 0.2);
    let mut text = SceneText::new(
        "An arch of 25 stones stands by its weight and friction. Change `scale` and the poses alike\nfor one of 30 m: the answer is the same.",
        "seconds = 3.0",
    )
    .material("stone", "friction = 0.6")
    .body(
        "floor",
        "{ half_space = [0, 0, 1] }",
        "fixed = true\nmaterial = \"stone\"",
    )
    .mesh("stone.obj", voussoir(radius, thickness, 0.1, STONES));
    for stone in 0..STONES {
        let angle = PI * (f64::from(stone) + 0.5) / f64::from(STONES) - FRAC_PI_2;
        let turn = DQuat::from_rotation_y(angle);
        let place = radius * (turn * DVec3::Z);
        text = text.body(
            &format!("stone-{}", stone + 1),
            "{ file = \"stone.obj\" }",
            &format!(
                "material = \"stone\"\ndensity = 2600.0\n{}",
                pose(place, turn)
            ),
        );
    }
    text.files()
}

pub(super) fn turntable() -> ExampleFiles {
    // μ g / ω² is 0.31 m.
    let spin = 4.0;
    let mut text = SceneText::new(
        "Boxes lie on a turning table. Within 0.31 m of its axis friction holds them, beyond they leave.",
        "seconds = 3.0",
    )
    .material("rough", "friction = 0.5")
    .body(
        "floor",
        "{ half_space = [0, 0, 1] }",
        &format!("fixed = true\nmaterial = \"rough\"\n{}", at(0.0, 0.0, -0.1)),
    )
    .body(
        "table",
        "{ cylinder = [0.6, 0.05] }",
        &format!(
            "material = \"rough\"\n{}\ndriven = {{ angular_velocity = [0, 0, {spin:.1}] }}",
            at(0.0, 0.0, -0.05)
        ),
    );
    for (number, distance) in [0.0, 0.12, 0.24, 0.36, 0.48].into_iter().enumerate() {
        let turn = DQuat::from_rotation_z(1.3 * number as f64);
        let place = turn * DVec3::new(distance, 0.0, 0.02);
        let velocity = DVec3::new(0.0, 0.0, spin).cross(place);
        text = text.body(
            &format!("box-{}", number + 1),
            "{ box = [0.03, 0.03, 0.02] }",
            &format!(
                "material = \"rough\"\n{}\nvelocity = {}\nangular_velocity = [0, 0, {spin:.1}]",
                pose(place, turn),
                vector(velocity)
            ),
        );
    }
    text.files()
}

pub(super) fn card_house() -> ExampleFiles {
    let (half_height, half_width, half_thick) = (0.045, 0.03, 0.0005);
    let lean: f64 = 0.42;
    let (sin, cos) = lean.sin_cos();
    // Half of the height and of the width that a leaning card takes.
    let rise = half_height * cos + half_thick * sin;
    let reach = half_height * sin + half_thick * cos;
    let card = format!("{{ box = [{half_thick}, {half_width}, {half_height}] }}");
    let mut text = SceneText::new(
        "A house of seven cards stands by friction.",
        "seconds = 3.0",
    )
    .material("card", "friction = 0.8")
    .body(
        "floor",
        "{ half_space = [0, 0, 1] }",
        "fixed = true\nmaterial = \"card\"",
    );
    let mut number = 0;
    let mut add = |text: SceneText, place: DVec3, turn: DQuat| {
        number += 1;
        let lines = format!(
            "material = \"card\"\ndensity = 900.0\n{}",
            pose(place, turn)
        );
        text.body(&format!("card-{number}"), &card, &lines)
    };
    let apart = 0.084;
    for (middle, floor) in [
        (0.0, 0.0),
        (apart, 0.0),
        (0.5 * apart, 2.0 * rise + 2.0 * half_thick),
    ] {
        for side in [-1.0, 1.0] {
            let place = DVec3::new(middle + side * reach, 0.0, floor + rise);
            text = add(text, place, DQuat::from_rotation_y(-side * lean));
        }
    }
    let lying = DVec3::new(0.5 * apart, 0.0, 2.0 * rise + half_thick);
    text = add(text, lying, DQuat::from_rotation_y(FRAC_PI_2));
    text.files()
}
