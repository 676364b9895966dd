use touchfield::field::primitive;
use touchfield_rapier::rapier::prelude::*;
use touchfield_rapier::{FieldShape, Settings, install};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let scale: f32 = args[1].parse().unwrap();
    let s = scale;
    let mut world = PhysicsWorld::new();
    let f = install(&mut world, s);
    let floor = match args[2].as_str() {
        "half" => SharedShape::halfspace(Vector::Y),
        _ => {
            let corner = |x: Real, z: Real| Vector::new(x * s, 0.0, z * s);
            let vertices = vec![corner(-4.0, -4.0), corner(-4.0, 4.0), corner(4.0, 4.0), corner(4.0, -4.0)];
            SharedShape::trimesh(vertices, vec![[0, 1, 2], [0, 2, 3]]).unwrap()
        }
    };
    let own = args[3] == "own";
    world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::new(floor));
    let boxy = args.len() > 5;
    let shape = if boxy { if own { SharedShape::cuboid(0.5*s,0.3*s,0.4*s) } else { FieldShape::from_field(
                primitive::Cuboid::new(glam::Vec3::new(0.5, 0.3, 0.4) * scale).unwrap(), Settings::default()).unwrap().shared() } } else if own { SharedShape::ball(0.5 * s) } else {
        FieldShape::from_field(primitive::Sphere::new(0.5 * scale).unwrap(), Settings::default()).unwrap().shared() };
    let (body, _) = world.insert(
        RigidBodyBuilder::dynamic().translation(Vector::new(0.11 * s, if args.len() > 5 {0.35} else {0.55} * s, 0.07 * s)),
        ColliderBuilder::new(shape).density(1000.0),
    );
    let n: usize = args[4].parse().unwrap();
    for i in 0..n {
        world.step();
        let b = &world.bodies[body];
        println!("step {i} pos {:?} vel {:?} ang {:?}", b.translation() / s, b.linvel() / s, b.angvel());
        for pair in world.narrow_phase.contact_pairs() {
            for m in pair.manifolds() {
                println!("   n {:?}", m.local_n1);
                for p in &m.points { println!("     p1 {:?} dist {} imp {}", p.local_p1 / s, p.dist / s, p.data.impulse); }
            }
        }
    }
    println!("{:?}", f.take_counts());
}
