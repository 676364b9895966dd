//! How thin a body is, told by its field.
//!
//! Input: a field and points on its surface. Output: the thickness of its thinner parts, and how deep its inside goes.
//! Cost: some field values for each of a few hundred points. Not for: proofs.
//!
//! From a point of the surface straight inward: the length until the surface is met again is how thick the body is there.

use touchfield::field::Field;
use touchfield::pointshell::PointShell;

/// Lengths of a body \[m\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thickness {
    /// Of the thinner parts.
    pub(crate) thin: f32,
    /// Deepest inside that was met.
    pub(crate) depth: f32,
}

/// Share of the size by which a chord goes on at least, and steps that it has at most.
const LEAST_STEP: f32 = 2e-3;
const MOST_STEPS: u32 = 128;

/// Points that are asked.
const MOST_POINTS: usize = 512;

/// Share of the points at which the body may be thinner: a body is thin at all of its edges.
const THINNER_SHARE: f32 = 0.1;

/// Thickness at points spread over the surface.
pub(crate) fn of_shell(field: &dyn Field, shell: &PointShell) -> Thickness {
    let count = shell.points().len();
    let stride = count.div_ceil(MOST_POINTS);
    let size = field.bounds().diagonal();
    let mut chords: Vec<f32> = Vec::new();
    let mut depth = 0.0f32;
    for index in (0..count).step_by(stride) {
        let (from, outward) = (shell.points()[index], shell.normals()[index]);
        let [length, deepest] = chord(|gone| -field.distance(from - gone * outward), size);
        chords.push(length);
        depth = depth.max(deepest);
    }
    chords.sort_unstable_by(f32::total_cmp);
    let thin = chords[(THINNER_SHARE * chords.len() as f32) as usize];
    // Never nothing: a body that is swept at every step costs time, one of no thickness never stops.
    let least = 1e-4 * size;
    Thickness {
        thin: thin.max(least),
        depth: depth.max(0.5 * least),
    }
}

/// How far one goes inward until the surface is met again, and how deep inside that leads \[m\].
fn chord(depth_at: impl Fn(f32) -> f32, size: f32) -> [f32; 2] {
    let least = LEAST_STEP * size;
    let mut gone = least;
    let mut deepest = 0.0f32;
    for _ in 0..MOST_STEPS {
        let depth = depth_at(gone);
        if depth <= 0.25 * least || gone > size {
            break;
        }
        deepest = deepest.max(depth);
        gone += depth.max(least);
    }
    [gone, deepest]
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_field};
    use touchfield::field::primitive::{Cuboid, Torus};

    fn thin(field: &dyn Field) -> f32 {
        let settings = ShellSettings {
            density: ShellDensity::Points(1000),
            ..Default::default()
        };
        let shell = shell_of_field(field, 0.02, &settings).expect("a shell");
        of_shell(field, &shell).thin
    }

    /// To within the steps by which it is looked for.
    #[test]
    fn plates_and_rings_are_as_thick_as_they_are() {
        let plate = Cuboid::new(Vec3::new(0.5, 0.5, 0.05)).expect("a plate");
        let ring = Torus::new(0.5, 0.1).expect("a ring");
        let cube = Cuboid::new(Vec3::splat(0.5)).expect("a cube");
        for (field, truth) in [(&plate as &dyn Field, 0.1), (&ring, 0.2), (&cube, 1.0)] {
            let thin = thin(field);
            assert!(
                (0.9 * truth..=1.1 * truth).contains(&thin),
                "{thin} for {truth}"
            );
        }
    }
}
