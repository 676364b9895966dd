//! The three scenes of Table 1 of \[Krayer2020\], built from generated models: the placed bodies,
//! and the pairs that may touch.
//!
//! Input: numbers of bodies.
//! Output: bodies at rest, pushed slightly into each other like contacts in a solver, and the pairs
//! whose AABBs overlap.
//! Cost: bakes of a few models, and one drop per body.
//! Not for: simulation; bodies are set down one after the other.

use std::f32::consts::TAU;
use std::sync::Arc;

use glam::{DVec2, DVec3, Mat3, Quat, Vec3};
use touchfield::bake::{BakeSettings, Resolution, bake_with};
use touchfield::field::primitive::Sphere;
use touchfield::geom::{Aabb, Pose, turned_half_extents};
use touchfield::mesh::{TriangleMesh, generate};
use touchfield::narrow::{
    CollideSettings, ContactMethod, Contacts, Pair, Scratch, Subdivision, collide,
};
use touchfield::shape::Shape;

use crate::host::Stop;

/// A shape and its pose.
#[derive(Clone)]
pub(crate) struct Body {
    pub(crate) shape: Shape,
    pub(crate) world_from_body: Pose,
    bounds: Aabb,
}

/// Bodies, and the pairs whose AABBs overlap.
pub(crate) struct Scene {
    pub(crate) bodies: Vec<Body>,
    pub(crate) pairs: Vec<[u32; 2]>,
    /// Number of bodies that never move: those before all others.
    standing: usize,
}

/// How far a body sways about its place, as a share of its size, and how far it turns \[rad\].
const SWAY: f32 = 0.1;
const TURN: f32 = 0.3;

/// Nodes along the longest side of a model, and of the terrain.
pub(crate) const MODEL_NODES: u32 = 64;
pub(crate) const GROUND_NODES: u32 = 256;
/// How deep a body is pushed into what it lies on, as a share of its size.
const PUSH: f32 = 0.02;

fn bad(error: impl std::fmt::Display) -> Stop {
    Stop::BadInput(error.to_string())
}

fn baked(mesh: &TriangleMesh, nodes: u32) -> Result<Shape, Stop> {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..Default::default()
    };
    let go_on = |_| std::ops::ControlFlow::Continue(());
    let baked = bake_with(mesh, &settings, &go_on).map_err(bad)?;
    Ok(Shape::stored(Arc::new(baked.field.into())))
}

/// Returns the parameters of hills of this width \[m\].
pub(crate) fn terrain(side: f64) -> generate::Terrain {
    generate::Terrain {
        size: DVec2::splat(side),
        height: 0.08 * side,
        hill_size: 0.3 * side,
        base: 0.05 * side,
        ..Default::default()
    }
}

fn ground(side: f64) -> Result<Body, Stop> {
    let shape = baked(
        &generate::terrain(terrain(side)).map_err(bad)?,
        GROUND_NODES,
    )?;
    // Centre the model in the world, whatever its own frame.
    let middle = shape.solid().center();
    Ok(Body::new(
        shape,
        Pose::from_translation(Vec3::new(-middle.x, -middle.y, 0.0)),
    ))
}

/// Returns two models beside each other on hills, as close as their boxes allow.
pub(crate) fn two_models() -> Result<Scene, Stop> {
    let knot = baked(
        &generate::torus_knot(Default::default()).map_err(bad)?,
        MODEL_NODES,
    )?;
    let mug = baked(
        &generate::mug(Default::default()).map_err(bad)?,
        MODEL_NODES,
    )?;
    let mut scene = Scene::with(ground(0.6)?);
    scene.set_down(&knot, Quat::IDENTITY, Vec3::new(0.0, 0.0, 0.3))?;
    scene.set_down(&mug, Quat::from_rotation_x(0.4), Vec3::new(0.11, 0.05, 0.4))?;
    scene.find_pairs();
    Ok(scene)
}

/// Returns the five kinds of models that make the heap.
pub(crate) fn heap_meshes() -> [Result<TriangleMesh, generate::GenerateError>; 5] {
    [
        generate::torus(Default::default()),
        generate::torus_knot(Default::default()),
        generate::mug(Default::default()),
        generate::gear(generate::Gear {
            module: 0.004,
            width: 0.02,
            ..Default::default()
        }),
        generate::chain_link(generate::ChainLink {
            straight_length: 0.04,
            bend_radius: 0.025,
            wire_radius: 0.01,
            ..Default::default()
        }),
    ]
}

/// Returns many models of five kinds in a heap on hills.
pub(crate) fn many_objects(count: u32) -> Result<Scene, Stop> {
    let mut shapes = Vec::new();
    for mesh in heap_meshes() {
        shapes.push(baked(&mesh.map_err(bad)?, MODEL_NODES)?);
    }
    let mut scene = Scene::with(ground(1.3)?);
    let mut random = Sequence::default();
    for index in 0..count as usize {
        let rotation = Quat::from_scaled_axis(3.0 * (2.0 * random.point() - 1.0));
        let place = random.point();
        let start = Vec3::new(place.x - 0.5, place.y - 0.5, 1.2);
        scene.set_down(&shapes[index % shapes.len()], rotation, start)?;
    }
    scene.find_pairs();
    Ok(scene)
}

/// Returns balls in a winding pipe and in the bowl below its end.
pub(crate) fn pipe_with_balls(count: u32) -> Result<Scene, Stop> {
    let radius = 0.012;
    let ball = Shape::new(Sphere::new(radius).map_err(bad)?);
    let form = generate::WindingPipe::default();
    let pipe = baked(&generate::winding_pipe(form).map_err(bad)?, 2 * MODEL_NODES)?;
    let bowl = generate::Bowl {
        radius: 0.14,
        wall: 0.008,
        ..Default::default()
    };
    let bowl = baked(&generate::bowl(bowl).map_err(bad)?, 2 * MODEL_NODES)?;
    let mut scene = Scene::with(Body::new(pipe, Pose::IDENTITY));
    let below = Vec3::new(0.4, 0.0, -0.1);
    scene.stand(Body::new(bowl, Pose::from_translation(below)));
    let mut random = Sequence::default();
    for index in 0..count {
        let place = random.point();
        let start = if index % 4 == 0 {
            // On the axis of the pipe, parametrised as in `generate::winding_pipe`.
            let t = f64::from(0.02 + 0.96 * place.x);
            let angle = std::f64::consts::TAU * form.windings * t;
            let [x, y] = [form.length * (t - 0.5), form.amplitude * angle.sin()];
            DVec3::new(x, y, 0.5 * form.amplitude * (2.0 * angle).sin()).as_vec3()
        } else {
            below + Vec3::new(0.16 * (place.x - 0.5), 0.16 * (place.y - 0.5), 0.2)
        };
        scene.set_down(&ball, Quat::IDENTITY, start)?;
    }
    scene.find_pairs();
    Ok(scene)
}

impl Body {
    fn new(shape: Shape, world_from_body: Pose) -> Body {
        let bounds = bounds_at(&shape, world_from_body);
        Body {
            shape,
            world_from_body,
            bounds,
        }
    }
}

fn bounds_at(shape: &Shape, world_from_body: Pose) -> Aabb {
    let solid = shape.solid();
    let turn = Mat3::from_quat(world_from_body.rotation);
    let half = turned_half_extents(turn, solid.half_extents());
    Aabb::from_center(world_from_body.transform_point(solid.center()), half)
}

impl Scene {
    fn with(body: Body) -> Scene {
        Scene {
            bodies: vec![body],
            pairs: Vec::new(),
            standing: 1,
        }
    }

    fn add(&mut self, body: Body) {
        self.bodies.push(body);
    }

    /// Adds a body that never moves.
    fn stand(&mut self, body: Body) {
        self.add(body);
        self.standing = self.bodies.len();
    }

    /// Returns the scene at a moment between 0 and 1 of its motion: every body sways and turns
    /// about its place, one, two or three times, along and about axes of its own. At 0 it is at
    /// rest.
    pub(crate) fn at(&self, moment: f32) -> Scene {
        let mut random = Sequence::default();
        let mut bodies = self.bodies.clone();
        for (index, body) in bodies.iter_mut().enumerate().skip(self.standing) {
            let times = (1 + index % 3) as f32;
            let wave = (TAU * times * moment).sin();
            let along = 2.0 * random.point() - 1.0;
            let about = 2.0 * random.point() - 1.0;
            let size = body.shape.solid().diagonal();
            let pose = body.world_from_body;
            let moved = Pose {
                rotation: Quat::from_scaled_axis(TURN * wave * about) * pose.rotation,
                translation: pose.translation + SWAY * wave * size * along,
            };
            *body = Body::new(body.shape.clone(), moved);
        }
        let mut scene = Scene {
            bodies,
            pairs: Vec::new(),
            standing: self.standing,
        };
        scene.find_pairs();
        scene
    }

    /// Returns the same bodies with the first pairs only.
    pub(crate) fn with_pairs(&self, count: usize) -> Scene {
        Scene {
            bodies: self.bodies.clone(),
            pairs: self.pairs[..count.min(self.pairs.len())].to_vec(),
            standing: self.standing,
        }
    }

    /// Returns a pair of bodies, with the pose of the second in the frame of the first.
    pub(crate) fn pair(&self, [a, b]: [u32; 2]) -> Pair<'_> {
        let (a, b) = (&self.bodies[a as usize], &self.bodies[b as usize]);
        Pair {
            a: &a.shape,
            b: &b.shape,
            a_from_b: a.world_from_body.inverse() * b.world_from_body,
        }
    }

    fn find_pairs(&mut self) {
        for b in 0..self.bodies.len() {
            for a in 0..b {
                let common = (self.bodies[a].bounds).intersection(self.bodies[b].bounds);
                if !common.is_empty() {
                    self.pairs.push([a as u32, b as u32]);
                }
            }
        }
    }

    /// Lowers a body from `start` until it is pushed into another by [`PUSH`] of its size. A body
    /// that falls over the edge is left out.
    fn set_down(&mut self, shape: &Shape, rotation: Quat, start: Vec3) -> Result<(), Stop> {
        let size = shape.solid().diagonal();
        let settings = CollideSettings {
            method: ContactMethod::OctreeSubdivision(Subdivision {
                depth: 5,
                ..Default::default()
            }),
            max_separation: 0.25 * size,
            ..Default::default()
        };
        let (mut scratch, mut out) = (Scratch::default(), Contacts::default());
        let mut pose = Pose {
            rotation,
            translation: start,
        };
        let floor = self
            .bodies
            .iter()
            .map(|body| body.bounds.min.z)
            .fold(f32::INFINITY, f32::min);
        while pose.translation.z > floor {
            let mut body = Body::new(shape.clone(), pose);
            body.bounds = body.bounds.grown(settings.max_separation);
            let mut least = settings.max_separation;
            for other in &self.bodies {
                if other.bounds.intersection(body.bounds).is_empty() {
                    continue;
                }
                let pair = Pair {
                    a: &other.shape,
                    b: &body.shape,
                    a_from_b: other.world_from_body.inverse() * pose,
                };
                collide(&pair, &settings, &mut scratch, &mut out).map_err(bad)?;
                least = least.min(out.distance);
            }
            let gap = least + PUSH * size;
            if gap <= 0.1 * PUSH * size {
                self.add(Body::new(shape.clone(), pose));
                return Ok(());
            }
            pose.translation.z -= gap.max(0.1 * PUSH * size);
        }
        Ok(())
    }
}

/// Points that fill the unit cube evenly: an additive recurrence \[Roberts2018\].
#[derive(Default)]
pub(crate) struct Sequence(u32);

impl Sequence {
    pub(crate) fn point(&mut self) -> Vec3 {
        self.0 += 1;
        let fraction = |step: f64| (0.5 + f64::from(self.0) * step).fract();
        DVec3::new(
            fraction(0.819_172_513_396_164_4),
            fraction(0.671_043_606_703_789_2),
            fraction(0.549_700_477_901_970_4),
        )
        .as_vec3()
    }
}
