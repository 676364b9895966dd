//! Convex bodies without a grid: separation and penetration depth of hulls and analytic shapes, the
//! contact region, V-Clip, and a hull against a baked field.
//!
//! Input: convex shapes and their relative pose `a_from_b`.
//! Output: separation with bounds \[m\], contacts of the touching region, nearest features.
//!
//! `cargo run -p touchfield --example 06_convex`
#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::sync::Arc;

use glam::{Quat, Vec3};
use touchfield::bake::{BakeSettings, Resolution, bake, hull_of_mesh};
use touchfield::geom::Pose;
use touchfield::mesh::generate::{Bowl, Nut, bowl, nut};
use touchfield::narrow::convex::{
    ConvexCache, ConvexPair, RegionScratch, VClipOutcome, contact_region, v_clip,
};
use touchfield::narrow::{Pair, SeparationScratch, SeparationSettings, separation};
use touchfield::shape::{Convex, Shape};

fn main() -> Result<(), Box<dyn Error>> {
    // The convex hull of the nut's vertices, which fills its hole.
    let hull = Arc::new(hull_of_mesh(&nut(Nut::default())?)?);
    let nut = Convex::hull(hull.clone());
    println!(
        "the nut's hull has {} corners and {} faces",
        hull.vertices().len(),
        hull.faces().len()
    );

    // The nut descends onto a rounded plate. A cache kept per pair warm-starts the next query.
    let plate = Convex::cuboid(Vec3::new(0.05, 0.05, 0.001))?.rounded(0.001)?;
    let mut cache = ConvexCache::default();
    for height in [0.03f32, 0.02, 0.0105, 0.005] {
        let a_from_b = Pose {
            rotation: Quat::from_rotation_z(0.3),
            translation: Vec3::new(0.0, 0.0, height),
        };
        let pair = ConvexPair::new(&plate, &nut, a_from_b);
        let touch = pair.touch(f64::INFINITY, &mut cache);
        println!(
            "at {height} m: separation {:.6} m, between {:.6} and {:.6}, {} support points",
            touch.separation, touch.lower_bound, touch.upper_bound, touch.steps
        );
        assert!(touch.lower_bound <= touch.separation && touch.separation <= touch.upper_bound);
        assert_eq!(pair.overlaps(&mut cache), touch.separation < 0.0);

        // The contact region: the corners of the nut's face that lies on the plate.
        let mut contacts = Vec::new();
        contact_region(
            &pair,
            &touch,
            0.0,
            &mut RegionScratch::default(),
            &mut contacts,
        );
        if touch.separation < 0.0 {
            println!(
                "  {} contacts; {:.4} m up parts them",
                contacts.len(),
                -touch.separation
            );
            assert!(contacts.len() >= 6);
        }
    }

    // V-Clip returns the nearest features of two hulls.
    let mut features = None;
    let beside = Pose::from_translation(Vec3::new(0.05, 0.01, 0.002));
    let found = v_clip(&hull, &hull, beside, &mut features);
    if let (VClipOutcome::Apart { distance, .. }, Some(nearest)) = (found.outcome, features) {
        println!(
            "two nuts are {distance:.6} m apart, by {:?} and {:?}, after {} pairs of features",
            nearest.on_a, nearest.on_b, found.steps
        );
    }

    // Against a concave body the hull is used as a field, like any other shape.
    let bowl = bowl(Bowl::default())?;
    let settings = BakeSettings {
        resolution: Resolution::Nodes(64),
        ..Default::default()
    };
    let grid = bake(&bowl, &settings)?.field;
    let (bowl, nut) = (Shape::stored(Arc::new(grid.into())), Shape::convex(nut)?);
    let pair = Pair {
        a: &bowl,
        b: &nut,
        a_from_b: Pose::IDENTITY,
    };
    let found = separation(
        &pair,
        &SeparationSettings::to_within(1e-4),
        &mut SeparationScratch::default(),
    )?;
    println!(
        "a nut in the middle of a bowl: {:.4} m, proven between {:.4} and {:.4}",
        found.separation, found.lower_bound, found.upper_bound
    );
    Ok(())
}
