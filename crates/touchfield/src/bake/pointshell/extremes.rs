//! Finds the outermost points of a body from its field: its corners and rims, which touch first.
//!
//! Input: a field and points on its surface.
//! Output: points that lie farthest along many directions, no two alike.
//! Cost: some dozens of samples per direction, once.
//! Not for: corners in hollows, which are not extreme along any direction.

use crate::field::{Field, Sample};
use crate::geom::fibonacci_directions;
use crate::pointshell::PointShell;
use glam::Vec3;

/// Number of directions. A box has eight corners; some dozens of points are enough for a rim.
const DIRECTIONS: usize = 256;

/// Number of steps uphill; the last are a millionth of the first.
const STEPS: u32 = 64;

/// Distance within which two points count as one, as a share of the size.
const ALIKE: f32 = 1e-3;

/// Returns points of the surface that are farthest along some direction, with outward normals: its
/// corners and rims, which a shell with few points leaves out.
pub fn extreme_points(field: &dyn Field, shell: &PointShell) -> (Vec<Vec3>, Vec<Vec3>) {
    let size = field.bounds().diagonal();
    let (mut points, mut normals): (Vec<Vec3>, Vec<Vec3>) = (Vec::new(), Vec::new());
    for direction in fibonacci_directions(DIRECTIONS) {
        let along = |point: &&Vec3| point.dot(direction);
        let start = (shell.points().iter()).max_by(|a, b| along(a).total_cmp(&along(b)));
        let Some(&start) = start else { continue };
        let point = climb(field, start, direction, shell.covering_radius());
        let is_new = (points.iter()).all(|other| other.distance(point) > ALIKE * size);
        if is_new && field.distance(point).abs() < ALIKE * size {
            points.push(point);
            normals.push(direction);
        }
    }
    (points, normals)
}

/// Climbs the surface along a direction, by steps that shrink where they no longer lead higher.
fn climb(field: &dyn Field, from: Vec3, direction: Vec3, reach: f32) -> Vec3 {
    let mut at = from;
    let mut step = reach;
    for _ in 0..STEPS {
        let normal = field.sample(at).gradient.normalize_or_zero();
        let uphill = direction.reject_from_normalized(normal).normalize_or_zero();
        let next = onto(field, at + step * uphill);
        if next.dot(direction) > at.dot(direction) {
            at = next;
        } else {
            step *= 0.6;
        }
    }
    at
}

/// Projects a point back onto the surface; twice, for edges.
fn onto(field: &dyn Field, mut point: Vec3) -> Vec3 {
    for _ in 0..2 {
        let Sample { distance, gradient } = field.sample(point);
        point -= distance * gradient.normalize_or_zero();
    }
    point
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::pointshell::{ShellDensity, ShellSettings, shell_of_field};
    use crate::field::primitive::Cuboid;

    #[test]
    fn the_corners_of_a_box_are_found() {
        let half = Vec3::new(0.5, 0.3, 0.4);
        let field = Cuboid::new(half).expect("a box");
        let settings = ShellSettings {
            density: ShellDensity::Points(2000),
            ..Default::default()
        };
        let shell = shell_of_field(&field, 0.02, &settings).expect("a shell");
        let (points, _) = extreme_points(&field, &shell);
        for corner in 0..8 {
            let sign = |bit: u32| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let corner = half * Vec3::new(sign(0), sign(1), sign(2));
            let nearest = points.iter().map(|point| point.distance(corner));
            let nearest = nearest.fold(f32::INFINITY, f32::min);
            assert!(
                nearest < 2e-3,
                "{corner} is {nearest} from the nearest of {}",
                points.len()
            );
        }
    }
}
