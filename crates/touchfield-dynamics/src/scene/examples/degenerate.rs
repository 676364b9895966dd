//! Scenes whose contacts are degenerate: corners on corners, edges on edges, faces flush with faces
//! \[Erleben2018\].

use glam::{DQuat, DVec3};

use crate::scene::examples::ExampleFiles;
use crate::scene::examples::meshes::{spike, wedge};
use crate::scene::examples::text::{SceneText, at, pose};

pub(super) fn cliff() -> ExampleFiles {
    SceneText::new(
        "A cube lands on a cliff of its own width, edges flush, and rests.",
        "seconds = 2.0",
    )
    .floor()
    .body(
        "cliff",
        "{ box = [0.5, 0.5, 0.5] }",
        &format!("fixed = true\n{}", at(0.0, 0.0, 0.5)),
    )
    .body("cube", "{ box = [0.5, 0.5, 0.5] }", &at(0.0, 0.0, 1.6))
    .files()
}

pub(super) fn internal_edges() -> ExampleFiles {
    let mut text = SceneText::new(
        "A cube slides over tiles that lie flush. No edge between them may kick it.",
        "seconds = 2.0",
    )
    .material("ice", "friction = 0.0");
    for column in 0..16 {
        for row in 0..3 {
            let (x, y) = (0.5 * f64::from(column), 0.5 * f64::from(row - 1));
            text = text.body(
                &format!("tile-{column}-{row}"),
                "{ box = [0.25, 0.25, 0.1] }",
                &format!("fixed = true\nmaterial = \"ice\"\n{}", at(x, y, -0.1)),
            );
        }
    }
    text.body(
        "cube",
        "{ box = [0.3, 0.3, 0.3] }",
        &format!(
            "material = \"ice\"\nvelocity = [3, 0, 0]\n{}",
            at(0.3, 0.07, 0.3)
        ),
    )
    .files()
}

const SPIKE: &str = "{ file = \"spike.obj\" }";
const WEDGE: &str = "{ file = \"wedge.obj\" }";
const DOWN: f64 = 1e-4;

fn spike_mesh() -> touchfield::mesh::TriangleMesh {
    spike(0.25, 1.0)
}

fn wedge_mesh() -> touchfield::mesh::TriangleMesh {
    wedge(0.25, 0.5, 1.0)
}

pub(super) fn spike_slide() -> ExampleFiles {
    SceneText::new(
        "A spike flies at 10 m/s, its tip 0.1 mm above a plane. Its speed must not change.",
        "seconds = 1.0\ngravity = [0, 0, 0]",
    )
    .floor()
    .mesh("spike.obj", spike_mesh())
    .body(
        "spike",
        SPIKE,
        &format!("velocity = [10, 0, 0]\n{}", at(0.0, 0.0, DOWN)),
    )
    .files()
}

pub(super) fn wedge_slide() -> ExampleFiles {
    SceneText::new(
        "A wedge flies at 10 m/s, its edge 0.1 mm above a plane. Its speed must not change.",
        "seconds = 1.0\ngravity = [0, 0, 0]",
    )
    .floor()
    .mesh("wedge.obj", wedge_mesh())
    .body(
        "wedge",
        WEDGE,
        &format!("velocity = [10, 0, 0]\n{}", at(0.0, 0.0, DOWN)),
    )
    .files()
}

/// Returns a spike or wedge that points up, fixed, its tip at the origin.
fn upside_down() -> String {
    format!(
        "fixed = true\n{}",
        pose(DVec3::ZERO, DQuat::from_rotation_x(std::f64::consts::PI))
    )
}

pub(super) fn spike_on_spike() -> ExampleFiles {
    SceneText::new(
        "A spike falls 0.1 mm, tip on tip. It must not tunnel nor jump, and energy never grows.",
        "seconds = 1.0",
    )
    .mesh("spike.obj", spike_mesh())
    .body("below", SPIKE, &upside_down())
    .body("above", SPIKE, &at(0.0, 0.0, DOWN))
    .files()
}

pub(super) fn spike_on_wedge() -> ExampleFiles {
    SceneText::new(
        "A spike falls 0.1 mm onto the edge of a wedge.",
        "seconds = 1.0",
    )
    .mesh("spike.obj", spike_mesh())
    .mesh("wedge.obj", wedge_mesh())
    .body("below", WEDGE, &upside_down())
    .body("above", SPIKE, &at(0.0, 0.0, DOWN))
    .files()
}

pub(super) fn wedge_on_wedge() -> ExampleFiles {
    SceneText::new("A wedge falls 0.1 mm, edge on edge.", "seconds = 1.0")
        .mesh("wedge.obj", wedge_mesh())
        .body("below", WEDGE, &upside_down())
        .body("above", WEDGE, &at(0.0, 0.0, DOWN))
        .files()
}

pub(super) fn spike_in_hole() -> ExampleFiles {
    let mut text = SceneText::new(
        "A spike falls into a square hole and rests on its four edges.",
        "seconds = 2.0",
    )
    .mesh("spike.obj", spike_mesh());
    // The hole is as wide as the spike at half its height.
    for (name, x, y, half) in [
        ("left", -0.375, 0.0, [0.25, 0.625, 0.25]),
        ("right", 0.375, 0.0, [0.25, 0.625, 0.25]),
        ("front", 0.0, -0.375, [0.125, 0.25, 0.25]),
        ("back", 0.0, 0.375, [0.125, 0.25, 0.25]),
    ] {
        let [hx, hy, hz] = half;
        text = text.body(
            name,
            &format!("{{ box = [{hx}, {hy}, {hz}] }}"),
            &format!("fixed = true\n{}", at(x, y, -0.25)),
        );
    }
    text.body("spike", SPIKE, &at(0.0, 0.0, 0.0)).files()
}

pub(super) fn wedge_in_crack() -> ExampleFiles {
    let mut text = SceneText::new(
        "A wedge falls into a crack and rests between both walls.",
        "seconds = 2.0",
    )
    .mesh("wedge.obj", wedge_mesh());
    for (name, x) in [("left", -0.625), ("right", 0.625)] {
        text = text.body(
            name,
            "{ box = [0.5, 1.0, 0.5] }",
            &format!("fixed = true\n{}", at(x, 0.0, -0.5)),
        );
    }
    text.body("wedge", WEDGE, &at(0.0, 0.0, 0.0)).files()
}

pub(super) fn cube_between_walls() -> ExampleFiles {
    SceneText::new(
        "A cube flies at 100 m/s between two walls, each 1 mm away.",
        "seconds = 0.5\ngravity = [0, 0, 0]",
    )
    .body(
        "left",
        "{ box = [0.5, 2.0, 2.0] }",
        &format!("fixed = true\n{}", at(-1.001, 0.0, 0.0)),
    )
    .body(
        "right",
        "{ box = [0.5, 2.0, 2.0] }",
        &format!("fixed = true\n{}", at(1.001, 0.0, 0.0)),
    )
    .body(
        "cube",
        "{ box = [0.5, 0.5, 0.5] }",
        &format!("velocity = [100, 0, 0]\n{}", at(0.0, 0.0, 0.0)),
    )
    .files()
}
