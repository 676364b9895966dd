//! Random contact patches: flat, curved, and with several normals, in random poses and sizes.
//!
//! Input: a kind, a source of random numbers.
//! Output: contacts like those of a method, deepest first.
//! Not for: contacts of real bodies; these belong to no bodies.

use glam::{DQuat, DVec2, DVec3};
use touchfield::contact::{Contact, ContactId};

use crate::random::Random;

/// Shape of the surfaces where they touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One plane, over a random polygon.
    Flat,
    /// A cap, a saddle or a trough.
    Curved,
    /// A groove, a corner, or a peg in a hole.
    SeveralNormals,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::Flat, Kind::Curved, Kind::SeveralNormals];

    /// Returns the name in titles.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Flat => "flat",
            Kind::Curved => "curved",
            Kind::SeveralNormals => "several normals",
        }
    }
}

/// Returns a patch of 20 to 200 contacts.
pub fn patch(kind: Kind, random: &mut Random) -> Vec<Contact> {
    let count = 20 + random.below(181);
    let places: Vec<(DVec3, DVec3)> = match kind {
        Kind::Flat => flat(count, random),
        Kind::Curved => curved(count, random),
        Kind::SeveralNormals => several(count, random),
    };
    let (rotation, size) = (random.quaternion(), random.log_uniform(1e-3, 10.0));
    let shift = random.in_box(DVec3::splat(-3.0), DVec3::splat(3.0));
    // Deeper towards one side, as under an off-centre load, and rough.
    let tilt = 0.02 * random.unit_vector();
    let mut contacts: Vec<Contact> = places
        .iter()
        .map(|&(point, normal)| {
            let depth = 0.02 + tilt.dot(point) + random.uniform(0.0, 0.01);
            Contact {
                point: (rotation * point * size + shift).as_vec3(),
                normal: (rotation * normal).as_vec3(),
                separation: (-depth * size) as f32,
                id: ContactId(0),
            }
        })
        .collect();
    contacts.sort_by(|a, b| a.separation.total_cmp(&b.separation));
    for (index, contact) in contacts.iter_mut().enumerate() {
        contact.id = ContactId(index as u32);
    }
    contacts
}

/// Returns a point, uniform over an ellipse or a rectangle about the origin.
fn in_plane(random: &mut Random, round: bool, aspect: f64) -> DVec2 {
    loop {
        let point = DVec2::new(random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0));
        if !round || point.length() <= 1.0 {
            return point * DVec2::new(1.0, aspect);
        }
    }
}

fn flat(count: usize, random: &mut Random) -> Vec<(DVec3, DVec3)> {
    let (round, aspect) = (random.below(2) == 0, random.log_uniform(0.1, 1.0));
    (0..count)
        .map(|_| (in_plane(random, round, aspect).extend(0.0), DVec3::Z))
        .collect()
}

fn curved(count: usize, random: &mut Random) -> Vec<(DVec3, DVec3)> {
    let (round, aspect) = (random.below(2) == 0, random.log_uniform(0.2, 1.0));
    let bend = DVec2::new(random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0));
    (0..count)
        .map(|_| {
            let place = in_plane(random, round, aspect);
            let slope = 2.0 * bend * place;
            let normal = DVec3::new(-slope.x, -slope.y, 1.0).normalize();
            (place.extend(bend.dot(place * place)), normal)
        })
        .collect()
}

fn several(count: usize, random: &mut Random) -> Vec<(DVec3, DVec3)> {
    let which = random.below(3);
    let faces = match which {
        0 => 2,
        1 => 3,
        _ => 0,
    };
    let length = random.log_uniform(0.2, 3.0);
    // Groove and corner: planes through the origin, each rotated about z or into a corner.
    let opening = random.uniform(0.5, 2.6);
    (0..count)
        .map(|_| {
            if faces == 0 {
                let angle = random.uniform(0.0, std::f64::consts::TAU);
                let outward = DVec3::new(angle.cos(), angle.sin(), 0.0);
                return (
                    outward + random.uniform(-length, length) * DVec3::Z,
                    outward,
                );
            }
            let face = random.below(faces);
            let in_face = in_plane(random, false, length).extend(0.0) + DVec3::X;
            let rotation = if faces == 2 {
                DQuat::from_rotation_y(face as f64 * opening)
            } else {
                // Three faces of a cube's corner.
                let turn = face as f64 * std::f64::consts::TAU / 3.0;
                DQuat::from_axis_angle(DVec3::ONE.normalize(), turn)
            };
            (rotation * in_face, rotation * DVec3::Z)
        })
        .collect()
}
