//! A body dropped on a fixed copy of itself and on the ground, with the continuous penalties of
//! \[XuCcd2014\]: the simulation whose collision detection Table 4 times.
//!
//! Input: a field and its shell.
//! Output: from each frame's relative pose to the pose at its end, each body in both roles.
//! Cost: a frame by spheres, and one point by point for as long as is allowed.
//! Not for: forces as written, see `fig6`.
//!
//! The ground is the plane under the fixed copy. The body is dropped once, aside of the middle so
//! that it tumbles, and comes to rest on what there is.

use cpu_time::ThreadTime;
use glam::{DQuat, DVec3, Vec3};
use touchfield::geom::Aabb;
use touchfield_dynamics::{ContactFinder, Frame, Material, Response, State, World, WorldSettings};

use super::dropped::{self, Dropped};
use super::swept_shell::{Body, Motions, Run};
use crate::host::Stop;
use crate::random::Random;

/// Duration of a frame \[s\].
const STEP: f64 = 5e-4;
/// Damping at the reference depth, as a share of the critical. The late force needs some, and too
/// much of it is as unstable as too little where more of the surface touches.
const DAMPING: f64 = 0.2;
/// Coefficient of friction.
const FRICTION: f64 = 0.3;
/// Height of the lowest point above the top of the copy at the start, in sides of the body.
const DROP: f64 = 0.25;
/// Greatest distance from the middle of the copy at the start, as a share of its extents.
const ASIDE: f32 = 0.1;

/// Indices of the bodies in the world.
const GROUND: usize = 0;
const FIXED: usize = 1;
const MOVING: usize = 2;

/// Simulates `frames` frames by spheres, and as many of them point by point as `limit` \[s\] of CPU
/// time allows. Both must have the same states, to the bit.
pub(crate) fn simulate(body: &Body, frames: usize, limit: f64) -> Result<Motions, Stop> {
    let dropped = Dropped::new(body)?;
    let world = |contacts| world_of(body, &dropped, contacts);
    let mut by_spheres = world(ContactFinder::SweptTree)?;
    let mut one_by_one = world(ContactFinder::SweptLinear)?;
    let mut all = Vec::with_capacity(2 * frames);
    let mut run = Run {
        compared: 0,
        on_ground: 0,
        depth: 0.0,
    };
    let mut spent = 0.0;
    for frame in 0..frames {
        let from = poses(&by_spheres);
        step(&mut by_spheres)?;
        let to = poses(&by_spheres);
        // The body's points in the field of the copy, then the copy's points in the body's field.
        all.push([from, to].map(|[fixed, moving]| fixed.from_other(&moving)));
        all.push([from, to].map(|[fixed, moving]| moving.from_other(&fixed)));
        let floor = by_spheres.bodies()[GROUND].pose().translation.y;
        run.on_ground += usize::from(dropped.lowest(&to[1]) < floor);
        if spent < limit {
            let start = ThreadTime::now();
            step(&mut one_by_one)?;
            spent += start.elapsed().as_secs_f64();
            let states = [&by_spheres, &one_by_one].map(|world| *world.bodies()[MOVING].state());
            if bits(&states[0]) != bits(&states[1]) {
                return Err(Stop::Disagreement(format!(
                    "frame {frame}: by spheres {:?}, point by point {:?}",
                    states[0], states[1]
                )));
            }
            run.compared = frame + 1;
        }
    }
    run.depth = by_spheres.take_deepest() / dropped.side;
    Ok(Motions {
        all,
        per_frame: 2,
        run: Some(run),
    })
}

fn world_of(body: &Body, dropped: &Dropped, contacts: ContactFinder) -> Result<World, Stop> {
    let solid = body.field.solid();
    let stiffness = dropped.stiffness();
    let material = Material {
        friction: FRICTION,
        stiffness,
        damping: 2.0 * DAMPING * stiffness / Dropped::reference_frequency(),
        // A hundredth of the speed of a fall by a side.
        slip: 0.01 * (2.0 * dropped.gravity() * dropped.side).sqrt(),
        ..Material::default()
    };
    let mut random = Random::new(4);
    let unit = Aabb::new(Vec3::NEG_ONE, Vec3::ONE);
    let aside = ASIDE * random.point(unit) * solid.extents();
    let rotation = random.rotation().as_dquat().normalize();
    let height = f64::from(solid.max.y) + dropped.foot(rotation) + DROP * dropped.side;
    let place = (solid.center() + aside).as_dvec3().with_y(height);
    dropped::world(
        WorldSettings {
            gravity: DVec3::new(0.0, -dropped.gravity(), 0.0),
            step: STEP,
            response: Response::ContinuousPenalty,
            contacts,
            ..WorldSettings::default()
        },
        [
            dropped::ground(material, f64::from(solid.min.y))?,
            dropped.fixed(material),
            dropped.free(material, dropped.pose(rotation, place)),
        ],
    )
}

fn step(world: &mut World) -> Result<(), Stop> {
    let stepped = world.step().map_err(|error| error.to_string());
    stepped.map_err(Stop::BadInput)?;
    match world.faults().next() {
        Some((_, fault)) => Err(Stop::BadInput(fault.to_owned())),
        None => Ok(()),
    }
}

/// Returns the poses of the copy and of the body.
fn poses(world: &World) -> [Frame; 2] {
    [FIXED, MOVING].map(|body| world.bodies()[body].pose())
}

fn bits(state: &State) -> [u64; 13] {
    let DQuat { x, y, z, w } = state.orientation;
    let [a, b, c] = [state.position, state.momentum, state.angular_momentum];
    [a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, x, y, z, w].map(f64::to_bits)
}
