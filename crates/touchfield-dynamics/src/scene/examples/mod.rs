//! Ready scenes: `touchfield simulate --list` names them.
//!
//! Input: none. Output: the text of a scene file, and the meshes that it names.
//! Cost: microseconds; milliseconds for those with meshes. Not for: building, see
//! [`Scene`](crate::scene::Scene).

mod degenerate;
mod mechanisms;
mod meshes;
mod simple;
mod text;

use touchfield::mesh::TriangleMesh;

/// A ready scene.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub description: &'static str,
    make: fn() -> ExampleFiles,
}

/// Files of a ready scene.
#[derive(Clone, Debug, Default)]
pub struct ExampleFiles {
    /// Text of the scene file.
    pub scene: String,
    /// Names and content of the mesh files beside it.
    pub meshes: Vec<(String, TriangleMesh)>,
}

impl Example {
    /// Returns its files.
    pub fn files(&self) -> ExampleFiles {
        (self.make)()
    }
}

/// Returns all ready scenes.
pub fn examples() -> Vec<Example> {
    let example = |name, description, make| Example {
        name,
        description,
        make,
    };
    vec![
        example("ball", "a ball bounces", simple::ball),
        example("stack", "ten boxes stand on each other", simple::stack),
        example(
            "incline",
            "a slope on which a block sticks, one slides and a ball rolls",
            simple::incline,
        ),
        example(
            "spinning-top",
            "a top leans and circles",
            simple::spinning_top,
        ),
        example("dominoes", "twelve dominoes fall", simple::dominoes),
        example("knots", "trefoil knots fall on each other", simple::knots),
        example("bowls", "thin bowls fall into each other", simple::bowls),
        example("statues", "large models fall on hills", simple::statues),
        example("pipe", "balls roll through a winding pipe", simple::pipe),
        example(
            "nut-on-bolt",
            "a nut turns down its thread",
            simple::nut_on_bolt,
        ),
        example(
            "peg-in-hole",
            "a peg slides into a hole 0.2 mm wider",
            simple::peg_in_hole,
        ),
        example("gears", "a gear drives another by its teeth", simple::gears),
        example("cliff", "a cube lands flush on a cliff", degenerate::cliff),
        example(
            "internal-edges",
            "a cube slides over flush tiles",
            degenerate::internal_edges,
        ),
        example(
            "spike-slide",
            "a spike flies 0.1 mm above a plane",
            degenerate::spike_slide,
        ),
        example(
            "wedge-slide",
            "a wedge flies 0.1 mm above a plane",
            degenerate::wedge_slide,
        ),
        example("spike-on-spike", "tip on tip", degenerate::spike_on_spike),
        example("spike-on-wedge", "tip on edge", degenerate::spike_on_wedge),
        example("wedge-on-wedge", "edge on edge", degenerate::wedge_on_wedge),
        example(
            "spike-in-hole",
            "a spike rests in a square hole",
            degenerate::spike_in_hole,
        ),
        example(
            "wedge-in-crack",
            "a wedge rests in a crack",
            degenerate::wedge_in_crack,
        ),
        example(
            "cube-between-walls",
            "a cube at 100 m/s, walls 1 mm away",
            degenerate::cube_between_walls,
        ),
        example(
            "bolt-in-nut",
            "a bolt turns down through a nut",
            mechanisms::bolt_in_nut,
        ),
        example(
            "piston",
            "a piston follows an eccentric disc",
            mechanisms::piston,
        ),
        example(
            "geneva",
            "a Geneva drive turns by quarters",
            mechanisms::geneva,
        ),
        example(
            "chain",
            "a chain hangs between two links",
            mechanisms::chain,
        ),
        example("arch", "an arch of 25 stones stands", mechanisms::arch),
        example(
            "turntable",
            "boxes on a turning table",
            mechanisms::turntable,
        ),
        example("card-house", "seven cards stand", mechanisms::card_house),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Leave, Scene};

    /// Every ready scene is read without an error or a warning.
    #[test]
    fn ready_scenes_are_read() {
        for example in examples() {
            let files = example.files();
            let folder =
                std::env::temp_dir().join(format!("touchfield-ready-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            for (name, mesh) in &files.meshes {
                assert!(!mesh.faces.is_empty(), "{}: {name}", example.name);
                touchfield::mesh::write::write_file(&folder.join(name), mesh).unwrap();
            }
            let path = folder.join("scene.toml");
            let scene = Scene::parse(&files.scene, &path, Leave::InFolder);
            let scene = scene.unwrap_or_else(|error| panic!("{}: {error}", example.name));
            assert_eq!(scene.warnings, [""; 0], "{}", example.name);
            std::fs::remove_dir_all(&folder).unwrap();
        }
    }
}
