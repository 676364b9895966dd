//! Small versions of the three scenes of \[Krayer2020\], for tests of particles.
//!
//! Input: nothing.
//! Output: shapes, and pairs of them whose boxes meet; bodies are pushed slightly into each other.
//! Cost: bakes of a few coarse grids, and one drop per body.
//! Not for: times, which `bench krayer-table1` measures in larger scenes.
#![allow(
    clippy::panic,
    reason = "a scene of tests that cannot be made is a fault of the test"
)]

use std::sync::Arc;

use glam::{DVec2, Mat3, Quat, Vec3};
use touchfield::bake::{BakeSettings, Resolution, bake_with};
use touchfield::field::primitive::Sphere;
use touchfield::geom::{Aabb, Pose, turned_half_extents};
use touchfield::mesh::{TriangleMesh, generate};
use touchfield::narrow::{Pair, SeparationScratch, SeparationSettings, separation};
use touchfield::shape::Shape;

use crate::krayer_truth::PlainPair;
use crate::random::Random;

/// Shapes, bodies made of them, and pairs of bodies.
pub struct KrayerScene {
    /// Name of the scene.
    pub name: &'static str,
    /// Shapes that bodies share.
    pub shapes: Vec<Shape>,
    /// Shape and pose of every body.
    pub bodies: Vec<(usize, Pose)>,
    /// Pairs of bodies whose boxes meet.
    pub pairs: Vec<[usize; 2]>,
}

/// Nodes along the longest side of a model, and of the terrain.
const MODEL_NODES: u32 = 32;
const GROUND_NODES: u32 = 96;
/// How deep a body is pushed into what it lies on, as a share of its size.
const PUSH: f32 = 0.02;

/// Returns all three scenes.
pub fn krayer_scenes() -> Vec<KrayerScene> {
    vec![two_models(), many_objects(24), pipe_with_balls(20)]
}

fn baked(mesh: Result<TriangleMesh, generate::GenerateError>, nodes: u32) -> Shape {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..Default::default()
    };
    let mesh = mesh.unwrap_or_else(|error| panic!("a model cannot be generated: {error}"));
    let go_on = |_| std::ops::ControlFlow::Continue(());
    let baked = bake_with(&mesh, &settings, &go_on);
    let baked = baked.unwrap_or_else(|error| panic!("a model cannot be baked: {error}"));
    Shape::stored(Arc::new(baked.field.into()))
}

fn terrain(side: f64) -> Shape {
    let hills = generate::Terrain {
        size: DVec2::splat(side),
        height: 0.08 * side,
        hill_size: 0.3 * side,
        base: 0.05 * side,
        ..Default::default()
    };
    baked(generate::terrain(hills), GROUND_NODES)
}

/// Two models on hills.
fn two_models() -> KrayerScene {
    let shapes = vec![
        terrain(0.6),
        baked(generate::torus_knot(Default::default()), MODEL_NODES),
        baked(generate::mug(Default::default()), MODEL_NODES),
    ];
    let mut scene = KrayerScene::new("two models on terrain", shapes);
    scene.stand(0);
    scene.set_down(1, Quat::IDENTITY, Vec3::new(0.0, 0.0, 0.3));
    scene.set_down(2, Quat::from_rotation_x(0.4), Vec3::new(0.11, 0.05, 0.4));
    scene.find_pairs();
    scene
}

/// A heap of models of four kinds on hills.
fn many_objects(count: usize) -> KrayerScene {
    let gear = generate::Gear {
        module: 0.004,
        width: 0.02,
        ..Default::default()
    };
    let shapes = vec![
        terrain(0.4),
        baked(generate::torus(Default::default()), MODEL_NODES),
        baked(generate::torus_knot(Default::default()), MODEL_NODES),
        baked(generate::mug(Default::default()), MODEL_NODES),
        baked(generate::gear(gear), MODEL_NODES),
    ];
    let mut scene = KrayerScene::new("terrain with many objects", shapes);
    scene.stand(0);
    let mut random = Random::new(12);
    let mut unit = || random.unit() as f32 - 0.5;
    for index in 0..count {
        let rotation = Quat::from_scaled_axis(6.0 * Vec3::new(unit(), unit(), unit()));
        let start = Vec3::new(0.25 * unit(), 0.25 * unit(), 0.8);
        scene.set_down(1 + index % 4, rotation, start);
    }
    scene.find_pairs();
    scene
}

/// Balls of a closed form, in a pipe and in the bowl below its end.
fn pipe_with_balls(count: usize) -> KrayerScene {
    let bowl = generate::Bowl {
        radius: 0.14,
        wall: 0.012,
        ..Default::default()
    };
    let ball = Sphere::new(0.02).unwrap_or_else(|error| panic!("{error}"));
    let shapes = vec![
        baked(generate::winding_pipe(Default::default()), 2 * MODEL_NODES),
        baked(generate::bowl(bowl), 2 * MODEL_NODES),
        Shape::new(ball),
    ];
    let mut scene = KrayerScene::new("pipe with balls and bowl", shapes);
    scene.bodies.push((0, Pose::IDENTITY));
    let below = Vec3::new(0.4, 0.0, -0.1);
    scene.bodies.push((1, Pose::from_translation(below)));
    let mut random = Random::new(3);
    let mut unit = || random.unit() as f32 - 0.5;
    for index in 0..count {
        let start = if index % 4 == 0 {
            Vec3::new(0.8 * unit(), 0.2 * unit(), 0.3)
        } else {
            below + Vec3::new(0.14 * unit(), 0.14 * unit(), 0.2)
        };
        scene.set_down(2, Quat::IDENTITY, start);
    }
    scene.find_pairs();
    scene
}

impl KrayerScene {
    fn new(name: &'static str, shapes: Vec<Shape>) -> KrayerScene {
        KrayerScene {
            name,
            shapes,
            bodies: Vec::new(),
            pairs: Vec::new(),
        }
    }

    /// Returns a pair of bodies by their shapes, with the pose of the second in the first.
    pub fn plain(&self, [a, b]: [usize; 2]) -> PlainPair {
        let ((a, world_from_a), (b, world_from_b)) = (self.bodies[a], self.bodies[b]);
        PlainPair {
            a,
            b,
            a_from_b: world_from_a.inverse() * world_from_b,
        }
    }

    /// Returns all pairs.
    pub fn plain_pairs(&self) -> Vec<PlainPair> {
        self.pairs.iter().map(|&pair| self.plain(pair)).collect()
    }

    /// Returns a pair as the library takes it.
    pub fn pair(&self, plain: PlainPair) -> Pair<'_> {
        Pair {
            a: &self.shapes[plain.a],
            b: &self.shapes[plain.b],
            a_from_b: plain.a_from_b,
        }
    }

    /// Adds a body centred in the world, whatever its own frame.
    fn stand(&mut self, shape: usize) {
        let middle = self.shapes[shape].solid().center();
        let pose = Pose::from_translation(Vec3::new(-middle.x, -middle.y, 0.0));
        self.bodies.push((shape, pose));
    }

    fn bounds(&self, (shape, pose): (usize, Pose)) -> Aabb {
        let solid = self.shapes[shape].solid();
        let half = turned_half_extents(Mat3::from_quat(pose.rotation), solid.half_extents());
        Aabb::from_center(pose.transform_point(solid.center()), half)
    }

    fn find_pairs(&mut self) {
        for b in 0..self.bodies.len() {
            for a in 0..b {
                let bounds = [a, b].map(|body| self.bounds(self.bodies[body]));
                if !bounds[0].intersection(bounds[1]).is_empty() {
                    self.pairs.push([a, b]);
                }
            }
        }
    }

    /// Lowers a body from `start` until it is pushed into another by [`PUSH`] of its size. A body
    /// that falls over the edge is left out.
    fn set_down(&mut self, shape: usize, rotation: Quat, start: Vec3) {
        let size = self.shapes[shape].solid().diagonal();
        let settings = SeparationSettings::to_within(0.1 * PUSH * size);
        let mut scratch = SeparationScratch::default();
        let mut pose = Pose {
            rotation,
            translation: start,
        };
        while pose.translation.z > -0.5 {
            let mut least = size;
            for &(other, world_from_other) in &self.bodies {
                let pair = Pair {
                    a: &self.shapes[other],
                    b: &self.shapes[shape],
                    a_from_b: world_from_other.inverse() * pose,
                };
                let found = separation(&pair, &settings, &mut scratch);
                let found = found.unwrap_or_else(|error| panic!("no separation: {error}"));
                least = least.min(found.separation);
            }
            let gap = least + PUSH * size;
            if gap <= 0.2 * PUSH * size {
                self.bodies.push((shape, pose));
                return;
            }
            pose.translation.z -= gap.max(0.2 * PUSH * size);
        }
    }
}
