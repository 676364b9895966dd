//! How thin a body is, told by its field.
//!
//! Input: a field and points on its surface. Output: the thickness of its thinner parts, and how deep its inside goes.
//! Cost: some field values for each of a few hundred points. Not for: proofs.
//!
//! From a point of the surface inward, the field falls as fast as one goes until the other side is as near: there the body is twice as thick as one has gone.

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

/// Share of the way inward that depth grows by at least until the other side is nearer: at the edge of a right angle it is 0.7, on the crest of a thread 0.5.
const STILL_DEEPER: f32 = 0.4;

/// Points that are asked.
const MOST_POINTS: usize = 512;

/// Share of the points at which the body may be thinner: a body is thin at all of its edges.
const THINNER_SHARE: f32 = 0.25;

/// Thickness at points spread over the surface.
pub(crate) fn of_shell(field: &dyn Field, shell: &PointShell) -> Thickness {
    let count = shell.points().len();
    let stride = count.div_ceil(MOST_POINTS);
    let size = field.bounds().diagonal();
    let mut depths: Vec<f32> = (0..count)
        .step_by(stride)
        .map(|index| {
            let (from, outward) = (shell.points()[index], shell.normals()[index]);
            depth_below(|gone| -field.distance(from - gone * outward), size)
        })
        .collect();
    depths.sort_unstable_by(f32::total_cmp);
    let thin = depths[(THINNER_SHARE * depths.len() as f32) as usize];
    let depth = depths[depths.len() - 1];
    // Never nothing: a body that is swept at every step costs time, one of no thickness never stops.
    let least = 1e-4 * size;
    Thickness {
        thin: (2.0 * thin).max(least),
        depth: depth.max(0.5 * least),
    }
}

/// How far one goes inward until the depth no longer grows as fast.
fn depth_below(depth_at: impl Fn(f32) -> f32, size: f32) -> f32 {
    let mut gone = 0.002 * size;
    let mut deepest = 0.0f32;
    for _ in 0..32 {
        let depth = depth_at(gone);
        if depth < STILL_DEEPER * gone {
            break;
        }
        deepest = deepest.max(depth);
        gone *= 1.25;
        if gone > size {
            break;
        }
    }
    deepest
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
                (0.5 * truth..=1.05 * truth).contains(&thin),
                "{thin} for {truth}"
            );
        }
    }
}
