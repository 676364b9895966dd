//! Narrow phase: Alg. 1 and 2 of \[Krayer2020\] as they are written, for comparison.
//!
//! Input: a bounded [`Pair`] and [`Particles::literal`].
//! Output: a contact for every particle that arrives, in the order of the steps.
//! Cost: two samples per particle and step.
//! Not for: finding contacts well; `projection_particles` finds more with less work.
//!
//! The search frame is that of A, because a pair has no world frame: the common box is the box of A
//! and the axis-aligned box of B's corners in A. What remains of line 10 of Alg. 2: the point, the
//! gradient of B as the normal, and `min(φA, φB)` (Eq. 15 and 16). The normal is reversed, because
//! ours goes from A to B, and scaled to unit length, because a grid's gradient is not. The maximum
//! is below ε, and is not kept.

use std::time::Instant;

use glam::Vec3;

use crate::narrow::method::Particles;
use crate::narrow::pair::{CollideError, CollideSettings, Contacts, Outcome, Pair};
use crate::narrow::scratch::Scratch;
use crate::narrow::search::overlap::Overlap;
use crate::narrow::search::particle_region::resolution;

/// Appends a contact for every particle that arrives, and adds its place to the region.
pub(crate) fn collide(
    pair: &Pair<'_>,
    settings: &CollideSettings,
    particles: &Particles,
    scratch: &mut Scratch,
    out: &mut Contacts,
) -> Result<(), CollideError> {
    check(settings, particles)?;
    let Some(overlap) = Overlap::in_frame_of_a(pair)? else {
        return Ok(());
    };
    let start = Instant::now();
    let epsilon = particles.epsilon.unwrap_or(overlap.residual);
    // Alg. 1: one particle at the centre of every cell.
    let counts = resolution(overlap.bounds, particles.resolution);
    let cell = overlap.bounds.extents() / counts.as_vec3();
    let under_way = &mut scratch.particles;
    under_way.places.clear();
    for z in 0..counts.z {
        for y in 0..counts.y {
            for x in 0..counts.x {
                let place = Vec3::new(x as f32, y as f32, z as f32) + 0.5;
                under_way.places.push(overlap.bounds.min + place * cell);
            }
        }
    }
    under_way.ids.clear();
    under_way.ids.extend(0..under_way.places.len() as u32);
    // Alg. 2, lines 2 to 12, one step of all particles at a time.
    for step in 0..particles.max_steps {
        if under_way.places.is_empty() {
            break;
        }
        let (levels, of) = (step, particles.max_steps);
        if settings
            .budget
            .is_some_and(|budget| start.elapsed() > budget)
        {
            out.outcome = Outcome::OutOfTime { levels, of };
            break;
        }
        let buffers = &mut scratch.overlap;
        overlap.sample_many(&under_way.places, buffers);
        let mut kept = 0;
        for index in 0..under_way.places.len() {
            let (place, id) = (under_way.places[index], under_way.ids[index]);
            let both = overlap.both(index, buffers);
            let (a, b) = (both.first.distance, both.second.distance);
            let gradient = if a >= b {
                both.first.gradient
            } else {
                both.second.gradient
            };
            out.distance = out.distance.min(2.0 * a.max(b));
            if a.max(b) < epsilon {
                let normal = (-both.second.gradient).try_normalize();
                let normal = normal.unwrap_or_else(|| overlap.apart());
                out.contacts
                    .push(overlap.contact(id, place, normal, a.min(b)));
                out.region.points.push(place);
                continue;
            }
            under_way.places[kept] = place - a.max(b) * gradient;
            under_way.ids[kept] = id;
            kept += 1;
        }
        under_way.places.truncate(kept);
        under_way.ids.truncate(kept);
    }
    Ok(())
}

fn check(settings: &CollideSettings, particles: &Particles) -> Result<(), CollideError> {
    let wrong = |setting, value, wanted| {
        Err(CollideError::BadSetting {
            setting,
            value,
            wanted,
        })
    };
    if !(1..=Particles::FINEST).contains(&particles.resolution) {
        let wanted = "from 1 to Particles::FINEST";
        return wrong(
            "resolution of particles",
            particles.resolution as f32,
            wanted,
        );
    }
    if let Some(epsilon) = particles.epsilon.filter(|epsilon| !epsilon.is_finite()) {
        return wrong("epsilon of particles", epsilon, "finite");
    }
    if settings.max_separation != 0.0 {
        let wanted = "0 with Particles::literal, which has epsilon instead";
        return wrong("max_separation", settings.max_separation, wanted);
    }
    let plain = Particles {
        max_steps: particles.max_steps,
        epsilon: particles.epsilon,
        ..Particles::literal(particles.resolution)
    };
    if *particles != plain {
        let wanted = "alone: Particles::literal with no other setting but max_steps and epsilon";
        return wrong("literal of particles", 1.0, wanted);
    }
    Ok(())
}
