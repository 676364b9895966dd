//! Counts the boxes visited by slow, hybrid and fast subdivision, over the depth.
//!
//! Input: nothing.
//! Output: counts for a few scenes, and docs/images/subdivision.svg.
//! Cost: seconds.

use glam::{Quat, Vec3};
use touchfield::field::primitive::{Cuboid, Sphere};
use touchfield::geom::Pose;
use touchfield::narrow::{
    CollideSettings, ContactMethod, Contacts, Descent, Pair, Scratch, Subdivision, collide,
};
use touchfield::shape::Shape;

use crate::plot::{self, Panel, Series};

/// Counts of one scene.
pub struct Scene {
    /// Name of the scene.
    pub name: &'static str,
    /// Counts of slow, hybrid and fast subdivision; each over depths from 0.
    pub boxes: [Vec<u64>; 3],
}

const DEPTHS: u32 = 8;

/// Measures deep overlap, faces that meet, and balls that touch.
pub fn measured() -> Result<Vec<Scene>, Box<dyn std::error::Error>> {
    let cube = Shape::new(Cuboid::new(Vec3::ONE)?);
    let ball = Shape::new(Sphere::new(1.0)?);
    let tilted = Quat::from_rotation_x(0.3) * Quat::from_rotation_y(0.2);
    let scenes = [
        (
            "balls, deep in each other",
            &ball,
            &ball,
            Pose::from_translation(Vec3::new(0.5, 0.2, 0.1)),
        ),
        (
            "cubes, face to face",
            &cube,
            &cube,
            Pose::from_translation(Vec3::new(0.3, 0.2, 1.99)),
        ),
        (
            "cubes, a corner in a face",
            &cube,
            &cube,
            Pose {
                rotation: tilted,
                translation: Vec3::new(0.1, 0.2, 2.4),
            },
        ),
    ];
    let mut scratch = Scratch::default();
    let mut out = Contacts::default();
    let mut measured = Vec::new();
    for (name, a, b, a_from_b) in scenes {
        let mut boxes = [const { Vec::new() }; 3];
        for (descent, boxes) in [Descent::Slow, Subdivision::HYBRID, Descent::Fast]
            .into_iter()
            .zip(&mut boxes)
        {
            for depth in 0..DEPTHS {
                let settings = CollideSettings {
                    method: ContactMethod::OctreeSubdivision(Subdivision {
                        descent,
                        depth,
                        max_boxes: u32::MAX,
                    }),
                    ..Default::default()
                };
                collide(&Pair { a, b, a_from_b }, &settings, &mut scratch, &mut out)?;
                boxes.push(out.region.boxes);
            }
        }
        measured.push(Scene { name, boxes });
    }
    Ok(measured)
}

/// Draws the picture.
pub fn picture() -> Result<String, Box<dyn std::error::Error>> {
    let panels = measured()?.into_iter().map(|scene| {
        let curve = |name: &str, counts: &[u64]| Series {
            name: name.to_owned(),
            // The x axis is boxes per side, so that on logarithmic axes 8ᵏ is a line of slope 3.
            points: (counts.iter().enumerate())
                .map(|(depth, &count)| [f64::from(1u32 << depth), count as f64])
                .collect(),
        };
        let [slow, hybrid, fast] = &scene.boxes;
        Panel {
            title: scene.name.to_owned(),
            x: "boxes along a side, 2 to the depth".to_owned(),
            y: "boxes looked at".to_owned(),
            series: vec![
                curve("slow", slow),
                curve("hybrid", hybrid),
                curve("fast", fast),
            ],
            slope: Some(3.0),
        }
    });
    Ok(plot::svg(&[panels.collect()]))
}
