//! Erleben's degenerate scenes: sharp bodies at sharp places, where contact normals jump.
//!
//! At a step of a millisecond with impulses nothing goes deeper than 1 % of the smallest body, no
//! energy appears, and nothing is kicked. Depth is that of the solver's contacts at every step, and
//! of the search with proven bounds, which does not use them, every 10 ms.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;

use touchfield::geom::Triangle;
use touchfield::glam::{DVec3, Vec3};
use touchfield::mass::MassProperties;
use touchfield::narrow::{Pair, SeparationScratch, SeparationSettings, separation};
use touchfield::shape::{Convex, ConvexHull};
use touchfield_dynamics::{
    BodySettings, DepthSearch, Frame, Geometry, Mass, Material, Moves, World, WorldSettings,
};

const DENSITY: f64 = 1000.0;

fn hull(points: &[[f32; 3]]) -> BodySettings {
    let points: Vec<Vec3> = points.iter().copied().map(Vec3::from).collect();
    let hull = Arc::new(ConvexHull::new(&points).unwrap());
    let corners = hull.triangles().into_iter().map(|face| {
        let [a, b, c] = face.map(|vertex| hull.vertex(vertex));
        Triangle { a, b, c }
    });
    let properties = MassProperties::of_triangles(corners).unwrap();
    let geometry = Geometry::convex(Convex::hull(hull)).unwrap();
    BodySettings::new(geometry, Mass::of(&properties, DENSITY))
}

fn cube() -> BodySettings {
    let geometry = Geometry::convex(Convex::cuboid(Vec3::splat(0.5)).unwrap()).unwrap();
    BodySettings::new(geometry, Mass::cuboid(DENSITY, DVec3::splat(0.5)))
}

/// A slender pyramid with its tip at the origin, pointing down.
fn spike() -> BodySettings {
    hull(&[
        [0.0, 0.0, 0.0],
        [-0.1, -0.1, 1.0],
        [0.1, -0.1, 1.0],
        [0.1, 0.1, 1.0],
        [-0.1, 0.1, 1.0],
    ])
}

/// A slender prism with its edge along y through the origin, pointing down.
fn wedge() -> BodySettings {
    hull(&[
        [0.0, -0.5, 0.0],
        [0.0, 0.5, 0.0],
        [-0.1, -0.5, 1.0],
        [0.1, -0.5, 1.0],
        [-0.1, 0.5, 1.0],
        [0.1, 0.5, 1.0],
    ])
}

fn upside_down(body: BodySettings) -> BodySettings {
    BodySettings {
        pose: Frame {
            rotation: touchfield::glam::DQuat::from_rotation_x(std::f64::consts::PI),
            translation: DVec3::ZERO,
        },
        ..body
    }
}

fn fixed(body: BodySettings) -> BodySettings {
    BodySettings {
        moves: Moves::Never,
        ..body
    }
}

fn at(body: BodySettings, place: [f64; 3]) -> BodySettings {
    BodySettings {
        pose: Frame {
            translation: place.into(),
            ..body.pose
        },
        ..body
    }
}

fn ground() -> BodySettings {
    BodySettings::fixed(Geometry::half_space(Vec3::Z).unwrap())
}

fn world(bodies: Vec<BodySettings>) -> World {
    let mut world = World::new(WorldSettings::default()).unwrap();
    for body in bodies {
        world.add(body).unwrap();
    }
    world
}

/// Runs a world, and checks at every step that nothing is deeper than `deepest` \[m\] and that no
/// energy appears.
fn run(name: &str, world: &mut World, seconds: f64, deepest: f64) {
    let start = world.energy().total();
    let mut fastest = world.energy().kinetic;
    let mut search = DepthSearch::default();
    while world.time() < seconds {
        world.step().unwrap();
        let energy = world.energy();
        fastest = fastest.max(energy.kinetic);
        let mut depth = world.take_deepest();
        if world.steps().is_multiple_of(10) {
            let found = search.deepest(world);
            depth = found.map_or(depth, |pair| depth.max(pair.depth));
        }
        assert!(
            depth <= deepest,
            "{name}: {depth} m deep at {} s",
            world.time()
        );
        let gained = energy.total() - start;
        assert!(
            gained <= 0.01 * fastest + 1e-9,
            "{name}: {gained} J more at {} s, of {fastest} J at most in motion",
            world.time()
        );
    }
}

#[test]
fn a_cube_lands_flush_on_a_cliff_of_its_width_and_rests() {
    let mut world = world(vec![fixed(cube()), at(cube(), [0.0, 0.0, 1.1])]);
    run("cliff", &mut world, 2.0, 0.01);
    let body = &world.bodies()[1];
    let off = body.pose().translation - DVec3::new(0.0, 0.0, 1.0);
    assert!(off.length() < 1e-3, "{off}");
    assert!(body.is_asleep());
}

#[test]
fn a_cube_on_a_floor_of_many_blocks_is_kicked_by_none_of_their_edges() {
    let mut bodies = Vec::new();
    for x in -4..5 {
        for y in -2..3 {
            bodies.push(at(fixed(cube()), [f64::from(x), f64::from(y), -0.5]));
        }
    }
    let smooth = Material {
        friction: 0.0,
        ..Material::default()
    };
    for body in &mut bodies {
        body.material = smooth;
    }
    bodies.push(BodySettings {
        material: smooth,
        velocity: DVec3::new(3.0, 0.4, 0.0),
        ..at(cube(), [-3.3, -0.7, 0.5])
    });
    let slider = bodies.len() - 1;
    let mut world = world(bodies);
    run("edges", &mut world, 1.5, 0.01);
    let body = &world.bodies()[slider];
    let kick = body.velocity() - DVec3::new(3.0, 0.4, 0.0);
    assert!(kick.length() < 1e-3, "{kick}");
    assert!(
        body.angular_velocity().length() < 1e-3,
        "{}",
        body.angular_velocity()
    );
}

#[test]
fn sharp_bodies_slide_just_above_a_plane_as_if_it_were_not_there() {
    for (name, body) in [("spike", spike()), ("wedge", wedge())] {
        let mut world = World::new(WorldSettings {
            gravity: DVec3::ZERO,
            ..WorldSettings::default()
        })
        .unwrap();
        world.add(ground()).unwrap();
        let velocity = DVec3::new(10.0, 0.0, 0.0);
        world
            .add(BodySettings {
                velocity,
                ..at(body, [0.0, 0.0, 1e-4])
            })
            .unwrap();
        run(name, &mut world, 1.0, 1e-3);
        let off = world.bodies()[1].velocity() - velocity;
        assert!(off.length() < 1e-6, "{name}: {off}");
    }
}

#[test]
fn sharp_bodies_fall_on_sharp_bodies_without_a_jump() {
    for (name, below, above) in [
        ("spike on wedge", wedge(), spike()),
        ("spike on spike", spike(), spike()),
        ("wedge on wedge", wedge(), wedge()),
        ("wedge on spike", spike(), wedge()),
    ] {
        let below = fixed(upside_down(below));
        let mut world = world(vec![
            below,
            at(above, [0.0, 0.0, 1e-4]),
            at(ground(), [0.0, 0.0, -1.0]),
        ]);
        let start = above_of(&world);
        run(name, &mut world, 2.0, 0.002);
        // It fell off on one side, or stands on the tip; it did not jump up.
        let end = above_of(&world);
        assert!(end <= start + 1e-3, "{name}: from {start} to {end}");
    }
}

/// Returns the height of the centre of mass of the falling body.
fn above_of(world: &World) -> f64 {
    world.bodies()[1].state().position.z
}

#[test]
fn a_wedge_slides_into_a_crack_and_rests_between_its_walls() {
    // Two fixed prisms that leave a gap of 20 mm at the bottom and 220 mm at the top.
    let wall = |side: f32| {
        hull(&[
            [side * 0.01, -1.0, 0.0],
            [side * 0.01, 1.0, 0.0],
            [side * 0.11, -1.0, 1.0],
            [side * 0.11, 1.0, 1.0],
            [side * 1.0, -1.0, 0.0],
            [side * 1.0, 1.0, 0.0],
            [side * 1.0, -1.0, 1.0],
            [side * 1.0, 1.0, 1.0],
        ])
    };
    let smooth = |body: BodySettings| BodySettings {
        material: Material {
            friction: 0.1,
            ..Material::default()
        },
        ..body
    };
    let mut world = world(vec![
        smooth(fixed(wall(-1.0))),
        smooth(fixed(wall(1.0))),
        smooth(at(wedge(), [0.0, 0.0, 0.5])),
    ]);
    run("wedge in crack", &mut world, 3.0, 0.01);
    // Its sides are as steep as the walls, and flush with them where its edge is a tenth of a metre
    // below the bottom of the walls.
    let body = &world.bodies()[2];
    let off = body.pose().translation - DVec3::new(0.0, 0.0, -0.1);
    assert!(off.length() < 2e-3, "{off}");
    assert!(body.velocity().length() < 1e-2, "{}", body.velocity());
    touches_all(&world, 2, &[0, 1]);
}

/// Checks that a body touches each of the others to within a millimetre, by the search.
fn touches_all(world: &World, body: usize, others: &[usize]) {
    for &other in others {
        let [a, b] = [other, body].map(|index| &world.bodies()[index]);
        let pair = Pair {
            a: a.geometry().shape(),
            b: b.geometry().shape(),
            a_from_b: a.pose().from_other(&b.pose()),
        };
        let settings = SeparationSettings::to_within(1e-4);
        let found = separation(&pair, &settings, &mut SeparationScratch::default()).unwrap();
        assert!(
            found.separation.abs() < 1e-3,
            "{other}: {} m apart",
            found.separation
        );
    }
}

#[test]
fn a_spike_slides_into_a_hole_and_rests_on_its_four_edges() {
    // A square hole of 100 mm, in which the spike is as wide as the hole half way up.
    let block = |x: f64, y: f64, half: [f32; 3]| {
        let geometry = Geometry::convex(Convex::cuboid(half.into()).unwrap()).unwrap();
        let body = BodySettings::new(geometry, Mass::ball(1.0, 1.0));
        at(fixed(body), [x, y, -0.5])
    };
    for lean in [0.0, 0.05] {
        let mut spike = at(spike(), [0.0, 0.0, 0.05]);
        spike.pose.rotation = touchfield::glam::DQuat::from_rotation_x(lean);
        let mut world = world(vec![
            block(-0.3, 0.0, [0.25, 0.55, 0.5]),
            block(0.3, 0.0, [0.25, 0.55, 0.5]),
            block(0.0, -0.3, [0.05, 0.25, 0.5]),
            block(0.0, 0.3, [0.05, 0.25, 0.5]),
            spike,
        ]);
        run("spike in hole", &mut world, 3.0, 0.002);
        let body = &world.bodies()[4];
        let off = body.pose().translation - DVec3::new(0.0, 0.0, -0.5);
        assert!(body.velocity().length() < 1e-2, "{}", body.velocity());
        // Friction may hold one that leans a little askew.
        assert!(off.length() < 2e-3 + 0.1 * lean, "{lean}: {off}");
        if lean == 0.0 {
            touches_all(&world, 4, &[0, 1, 2, 3]);
        }
    }
}

#[test]
fn a_dropped_cube_tumbles_to_rest_in_any_pose() {
    let mut random = touchfield::geom::Random::new(7);
    for trial in 0..20 {
        let rotation = random.quaternion();
        let dropped = BodySettings {
            pose: Frame {
                rotation,
                translation: DVec3::new(0.0, 0.0, 1.5),
            },
            angular_velocity: random.unit_vector() * 3.0,
            ..cube()
        };
        let mut world = world(vec![ground(), dropped]);
        run(&format!("cube {trial}"), &mut world, 4.0, 0.01);
        let body = &world.bodies()[1];
        assert!(
            (body.pose().translation.z - 0.5).abs() < 2e-3,
            "{trial}: {:?}",
            body.pose()
        );
        assert!(
            body.is_asleep(),
            "{trial}: {} {}",
            body.velocity(),
            body.angular_velocity()
        );
    }
}
