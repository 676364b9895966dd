//! Narrow phase: the penalty forces of all shell points that are inside the other body.
//!
//! Input: a [`Pair`], at least one of whose shapes has a shell; a stiffness \[Pa/m\].
//! Output: force and torque on B, and the energy stored in the overlap; or every point inside, for
//! callers that add damping and friction.
//! Cost: one field value for each sphere near the other body, one sample for each point near it; no
//! allocation once the buffers have grown.
//! Not for: overlaps deeper than the body is thick, where the field leads out on the wrong side.
//!
//! A point of area a at distance φ < 0 stores the energy `½ k a φ²`. Its force is minus the
//! gradient of that, `k a |φ| ∇φ`: the pressure `k |φ|` on the area that the point represents,
//! along the gradient of the other body's field. The gradient is that of the stored interpolant,
//! not normalised, so that the sum of forces has a potential. Where both bodies have shells, each
//! surface counts half.
//!
//! After \[Sagardia2014\], Eq. 2 and 3, and \[XuCcd2014\], Eq. 3, whose forces act along the normal
//! of the shell point ([`PenaltyNormals::Point`]) and grow with the number of points.
//!
//! [`PenaltyNormals::Point`]: crate::narrow::PenaltyNormals::Point

use glam::Vec3;

use crate::contact::PenaltyWrench;
use crate::field::Sample;
use crate::narrow::pair::{CollideError, Pair, WrenchSettings, checked};
use crate::narrow::scratch::{PenaltyBuffers, Scratch};
use crate::narrow::search::penalty_point::{PenaltyPoint, PenaltySum};
use crate::narrow::search::probe::{Probe, Side};

/// Number of spheres, and of points, that are sampled in one batch.
const PIECE: usize = 256;

/// Computes the penalty force and torque on B from all shell points inside the other body.
///
/// Fails if neither shape has a shell. Bodies that do not touch have a wrench of zero.
///
/// ```
/// # #[cfg(feature = "bake")] {
/// use std::sync::Arc;
/// use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_field};
/// use touchfield::field::primitive::{HalfSpace, Sphere};
/// use touchfield::narrow::{Pair, Scratch, WrenchSettings, penalty_wrench};
/// use touchfield::{Pose, Shape, glam::Vec3};
///
/// let floor = Shape::new(HalfSpace::new(Vec3::Z, 0.0)?);
/// let ball = Sphere::new(0.1)?;
/// let settings = ShellSettings { density: ShellDensity::Points(5000), ..Default::default() };
/// let shell = shell_of_field(&ball, 0.01, &settings)?;
/// let ball = Shape::new(ball).with_shell(Arc::new(shell));
/// let pair = Pair {
///     a: &floor,
///     b: &ball,
///     a_from_b: Pose::from_translation(Vec3::new(0.0, 0.0, 0.08)),
/// };
/// let settings = WrenchSettings { stiffness: 1e6, ..Default::default() };
/// let found = penalty_wrench(&pair, &settings, &mut Scratch::default())?;
/// // A ball of radius R pressed into a half-space by d: π R k d².
/// let exact = std::f32::consts::PI * 0.1 * 1e6 * 0.02 * 0.02;
/// assert!((found.wrench.force.z / exact - 1.0).abs() < 0.02);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn penalty_wrench(
    pair: &Pair<'_>,
    settings: &WrenchSettings,
    scratch: &mut Scratch,
) -> Result<PenaltyWrench, CollideError> {
    let pair = &checked(pair)?;
    settings.check()?;
    wrench(pair, settings, &mut scratch.penalty).ok_or(CollideError::NoShell {
        method: "penalty_wrench",
    })
}

/// Calls `each` with every shell point that is inside the other body, for callers that compute the
/// force of a point themselves: with damping, friction or materials.
///
/// `detail` is [`WrenchSettings::detail`]. The points of B's shell come first; the order is the
/// same on every run. Fails if neither shape has a shell.
pub fn penalty_points(
    pair: &Pair<'_>,
    detail: f32,
    scratch: &mut Scratch,
    each: impl FnMut(&PenaltyPoint),
) -> Result<(), CollideError> {
    let pair = &checked(pair)?;
    WrenchSettings {
        detail,
        ..WrenchSettings::default()
    }
    .check()?;
    match points_inside(pair, detail, &mut scratch.penalty, each) {
        true => Ok(()),
        false => Err(CollideError::NoShell {
            method: "penalty_points",
        }),
    }
}

/// Returns the penalty wrench of a checked pair; `None` if neither shape has a shell.
pub(crate) fn wrench(
    pair: &Pair<'_>,
    settings: &WrenchSettings,
    buffers: &mut PenaltyBuffers,
) -> Option<PenaltyWrench> {
    let mut sum = PenaltySum::about(settings.about_in(pair));
    let has_shell = points_inside(pair, settings.detail, buffers, |point| {
        sum.add(point, settings);
    });
    has_shell.then(|| sum.total())
}

/// Calls `each` with every shell point inside the other body. Returns whether there is a shell.
pub(crate) fn points_inside(
    pair: &Pair<'_>,
    detail: f32,
    buffers: &mut PenaltyBuffers,
    mut each: impl FnMut(&PenaltyPoint),
) -> bool {
    let probes = [Side::B, Side::A].map(|side| Probe::of(pair, side));
    let share = match probes.iter().flatten().count() {
        2 => 0.5,
        _ => 1.0,
    };
    for probe in probes.iter().flatten() {
        points_of(probe, share, detail, buffers, &mut each);
    }
    probes.iter().flatten().next().is_some()
}

/// Calls `each` with every point of one shell inside the other body.
fn points_of(
    probe: &Probe<'_>,
    share: f32,
    detail: f32,
    buffers: &mut PenaltyBuffers,
    each: &mut impl FnMut(&PenaltyPoint),
) {
    let shell = probe.shell;
    let nodes = shell.tree().nodes();
    // A value is off by the error of the field, at the centre of a sphere and at a point.
    let error = 2.0 * probe.field.error_bound();
    buffers.front.clear();
    buffers.next_front.clear();
    // The two are exchanged at every level, so both need the capacity of the larger.
    let most = buffers.front.capacity().max(buffers.next_front.capacity());
    buffers.front.reserve_exact(most);
    buffers.next_front.reserve_exact(most);
    buffers.front.push(0);
    buffers.near.clear();
    while !buffers.front.is_empty() {
        // Most spheres are outside the other body's box, so test that first.
        (buffers.front).retain(|&index| probe.box_distance(&nodes[index as usize]) <= error);
        buffers.next_front.clear();
        for start in (0..buffers.front.len()).step_by(PIECE) {
            let end = (start + PIECE).min(buffers.front.len());
            buffers.places.clear();
            for &index in &buffers.front[start..end] {
                buffers
                    .places
                    .push(probe.to_field(nodes[index as usize].center));
            }
            (probe.field).distance_many(&buffers.places, &mut buffers.distances);
            for at in start..end {
                let index = buffers.front[at];
                let node = &nodes[index as usize];
                if buffers.distances[at - start] - node.radius > error {
                    // No point is inside.
                    continue;
                }
                if node.radius <= detail {
                    let area = shell.node_areas()[index as usize];
                    buffers.near.push((node.representative, share * area));
                } else if node.child_count == 0 {
                    let areas = shell.areas();
                    let own = node.points();
                    (buffers.near).extend(own.map(|at| (at, share * areas[at as usize])));
                } else {
                    buffers.next_front.extend(node.children());
                }
            }
            if buffers.near.len() >= PIECE {
                sample_near(probe, buffers, each);
            }
        }
        std::mem::swap(&mut buffers.front, &mut buffers.next_front);
    }
    sample_near(probe, buffers, each);
}

/// Samples the points that were noted, and calls `each` with those inside.
fn sample_near(
    probe: &Probe<'_>,
    buffers: &mut PenaltyBuffers,
    each: &mut impl FnMut(&PenaltyPoint),
) {
    let points = probe.shell.points();
    buffers.places.clear();
    let near = buffers.near.iter();
    (buffers.places).extend(near.map(|&(index, _)| probe.to_field(points[index as usize])));
    (probe.field).sample_many(&buffers.places, &mut buffers.samples);
    let found = buffers
        .near
        .iter()
        .zip(&buffers.places)
        .zip(&buffers.samples);
    for ((&(index, area), &place), sample) in found {
        let Sample { distance, gradient } = *sample;
        if distance < 0.0 {
            each(&probe.penalty_point(index, place, distance, gradient, area));
        }
    }
    buffers.near.clear();
}

impl Probe<'_> {
    fn penalty_point(
        &self,
        index: u32,
        place: Vec3,
        distance: f32,
        gradient: Vec3,
        area: f32,
    ) -> PenaltyPoint {
        let (gradient, inward) = (self.vector_to_a(gradient), self.inward_in_a(index));
        // The gradient points out of the body with the field, the inward normal into the body with
        // the shell: from A to B if the shell is B's.
        let (point, to_b) = match self.side {
            Side::B => (place, 1.0),
            Side::A => (self.shell.points()[index as usize], -1.0),
        };
        PenaltyPoint {
            point,
            distance,
            gradient: to_b * gradient,
            normal: to_b * inward,
            area,
            side: self.side,
            index,
        }
    }
}
