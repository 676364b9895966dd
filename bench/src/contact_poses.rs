//! The poses in which contact is measured, the same for every library, and the ground truth of
//! each.
//!
//! Input: a mesh, which meets a copy of itself; a [`Regime`].
//! Output: poses of B in A, with a [`Truth`] each; as CSV.
//! Cost: one or two minutes per thousand poses of a mesh of 70 thousand triangles.
//! Not for: other pairs, although only [`Scene`] assumes that A and B are alike.
//!
//! The truth is computed in `f64` and without any grid: crossings and distances by `mesh_pair`,
//! depths by `ExactDistance`, which the suites compare with brute force.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use glam::{DQuat, DVec3, IVec3};
use touchfield::bake::{BakeError, ExactDistance, SignChoice};
use touchfield::mesh::TriangleMesh;
use touchfield_conformance::random::Random;

use crate::mesh_pair::{ExactPose, Surface, surface_distance, surfaces_cross};

/// How deep two bodies are in each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// As in a simulation: B approaches from outside in a random direction, centre to centre, to
    /// first touch, and then moves on by [`PUSH`] in the same direction.
    Shallow,
    /// Any overlap: centres differ by up to [`REACH`] of the box along each axis. Most poses touch.
    Deep,
    /// Apart: from first touch back out by up to [`GAP`] of the diagonal.
    Apart,
}

impl Regime {
    /// All regimes, in the order of the tables.
    pub const ALL: [Regime; 3] = [Regime::Shallow, Regime::Deep, Regime::Apart];

    /// Returns the name used in file names.
    pub fn name(self) -> &'static str {
        match self {
            Regime::Shallow => "shallow",
            Regime::Deep => "deep",
            Regime::Apart => "apart",
        }
    }
}

/// Depth of shallow poses, as a share of the diagonal: about a cell of a grid of 128 nodes per
/// side.
pub const PUSH: f64 = 0.005;
/// Greatest offset of deep poses, as a share of the extents of the box of A. Tuned on the bunny so
/// that 91 % of the poses touch; at 0.6 it is 93 %, at 0.7 it is 83 %.
pub const REACH: f64 = 0.62;
/// Greatest gap of poses apart, as a share of the diagonal.
pub const GAP: f64 = 0.5;

/// A mesh and its copy, with the search structures for queries.
pub struct Scene {
    surface: Surface,
    exact: ExactDistance,
    /// Vertices and face centroids, at which depths are measured.
    samples: Vec<DVec3>,
    center: DVec3,
    extents: DVec3,
    diagonal: f64,
}

/// Ground truth of one pose.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// Whether the solids have a point in common.
    pub touching: bool,
    /// Distance between the solids \[m\]; 0 when they touch.
    pub distance: f64,
    /// Depth of the deepest sample of B in A \[m\]; 0 if none is inside.
    pub depth_of_b: f64,
    /// Depth of the deepest sample of A in B \[m\]; 0 if none is inside.
    pub depth_of_a: f64,
    /// Samples of each body that are inside the other: the deepest sample per box of 1/64 of the
    /// diagonal.
    pub inside: Vec<Inside>,
}

/// A point of one surface inside the other solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inside {
    /// Whether the point belongs to B; otherwise it belongs to A.
    pub of_b: bool,
    /// Position in frame A \[m\].
    pub point: DVec3,
    /// Distance to the other surface \[m\].
    pub depth: f64,
}

impl Scene {
    /// Builds the scene of a mesh and a copy of itself.
    pub fn new(mesh: &TriangleMesh) -> Result<Scene, BakeError> {
        let middle = |face: &[u32; 3]| {
            let corners = face.map(|vertex| mesh.vertices[vertex as usize]);
            corners.iter().sum::<DVec3>() / 3.0
        };
        let bounds = mesh.bounds();
        let exact = ExactDistance::new(mesh, SignChoice::Auto)?;
        let samples = (mesh.vertices.iter().copied()).chain(mesh.faces.iter().map(middle));
        Ok(Scene {
            surface: Surface::of(mesh),
            exact,
            samples: samples.collect(),
            center: bounds.center(),
            extents: bounds.extents(),
            diagonal: bounds.diagonal(),
        })
    }

    /// Returns the exact distances to the mesh.
    pub fn exact(&self) -> &ExactDistance {
        &self.exact
    }

    /// Returns pose number `index` of a regime. It is the same on every machine up to the last
    /// digits.
    pub fn pose(&self, regime: Regime, index: usize) -> ExactPose {
        let mut random = Random::new(1_000_000 * (regime as u64 + 1) + index as u64);
        // Neighbouring seeds have similar first values.
        random.bits();
        let rotation = random.quaternion();
        match regime {
            Regime::Deep => {
                let reach = REACH * self.extents;
                self.at(rotation, random.in_box(-reach, reach))
            }
            Regime::Shallow => {
                let direction = random.unit_vector();
                let gap = self.first_touch(rotation, direction);
                self.at(rotation, (gap - PUSH * self.diagonal) * direction)
            }
            Regime::Apart => {
                let direction = random.unit_vector();
                let gap = self.first_touch(rotation, direction);
                let back = random.uniform(0.0, GAP) * self.diagonal;
                self.at(rotation, (gap + back) * direction)
            }
        }
    }

    /// Returns the pose of B turned about the centre of its box, which lies `offset` from that of
    /// A.
    fn at(&self, rotation: DQuat, offset: DVec3) -> ExactPose {
        ExactPose {
            rotation,
            translation: self.center + offset - rotation * self.center,
        }
    }

    /// Returns the distance from the centre of A, in `direction`, at which B first touches on its
    /// way in \[m\].
    fn first_touch(&self, rotation: DQuat, direction: DVec3) -> f64 {
        /// Gap that counts as touching, as a share of the diagonal: a thousandth of [`PUSH`].
        const CLOSE: f64 = 5e-6;
        // Solids lie within half a diagonal of their centres.
        let mut offset = self.diagonal;
        let mut hint = (0, 0);
        while offset > 0.0 {
            let placed = self.surface.placed(self.at(rotation, offset * direction));
            let nearest = surface_distance(&self.surface, &placed, hint);
            if nearest.distance < CLOSE * self.diagonal {
                break;
            }
            // Advance by the distance: nothing can touch on a shorter way.
            offset -= nearest.distance;
            hint = nearest.pair;
        }
        offset
    }

    /// Computes the ground truth of a pose.
    pub fn truth(&self, pose: ExactPose) -> Truth {
        let placed = self.surface.placed(pose);
        let b_from_a = pose.inverse();
        let crossing = surfaces_cross(&self.surface, &placed);
        let holds = |frame: ExactPose| {
            // Surfaces that do not cross are on one side: a single point decides which.
            let point = self.surface.any_point().map(|p| frame.transform_point(p));
            point.is_some_and(|point| self.exact.distance(point) <= 0.0)
        };
        let touching = crossing || holds(pose) || holds(b_from_a);
        if !touching {
            return Truth {
                touching,
                distance: surface_distance(&self.surface, &placed, (0, 0)).distance,
                depth_of_b: 0.0,
                depth_of_a: 0.0,
                inside: Vec::new(),
            };
        }
        let of_b = self.samples_inside(pose);
        let of_a = self.samples_inside(b_from_a);
        let deepest = |found: &[(DVec3, f64)]| found.iter().map(|s| s.1).fold(0.0, f64::max);
        let (depth_of_b, depth_of_a) = (deepest(&of_b), deepest(&of_a));
        let mut inside = Vec::new();
        for (of_b, found) in [(true, of_b), (false, of_a)] {
            inside.extend(found.into_iter().map(|(point, depth)| Inside {
                of_b,
                point: if of_b {
                    point
                } else {
                    pose.transform_point(point)
                },
                depth,
            }));
        }
        Truth {
            touching,
            distance: 0.0,
            depth_of_b,
            depth_of_a,
            inside,
        }
    }

    /// Takes the samples to another frame by `pose` and returns those inside the solid there, with
    /// their depths: the deepest of every box.
    fn samples_inside(&self, pose: ExactPose) -> Vec<(DVec3, f64)> {
        let half = 0.5 * self.extents;
        let moved: Vec<DVec3> = (self.samples.iter())
            .map(|&sample| pose.transform_point(sample))
            .filter(|&point| (point - self.center).abs().cmple(half).all())
            .collect();
        let distances = self.exact.distance_many(&moved);
        let side = self.diagonal / 64.0;
        let mut deepest: BTreeMap<[i32; 3], (DVec3, f64)> = BTreeMap::new();
        for (point, distance) in moved.into_iter().zip(distances) {
            if distance < 0.0 {
                let place: IVec3 = (point / side).floor().as_ivec3();
                let best = deepest.entry(place.to_array()).or_insert((point, 0.0));
                if -distance > best.1 {
                    *best = (point, -distance);
                }
            }
        }
        deepest.into_values().collect()
    }
}

/// Returns rows `TX,TY,TZ,QX,QY,QZ,QW`, B in A, without a header line.
pub fn poses_to_csv(poses: &[ExactPose]) -> String {
    let mut text = String::new();
    for ExactPose {
        rotation: q,
        translation: t,
    } in poses
    {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{}",
            t.x, t.y, t.z, q.x, q.y, q.z, q.w
        );
    }
    text
}

/// Parses the poses written by [`poses_to_csv`].
pub fn poses_from_csv(text: &str) -> Result<Vec<ExactPose>, String> {
    let pose = |(index, line): (usize, &str)| {
        let numbers: Result<Vec<f64>, _> = line.split(',').map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[x, y, z, qx, qy, qz, qw]) => Ok(ExactPose {
                rotation: DQuat::from_xyzw(qx, qy, qz, qw),
                translation: DVec3::new(x, y, z),
            }),
            _ => Err(format!(
                "line {} is not TX,TY,TZ,QX,QY,QZ,QW: {line}",
                index + 1
            )),
        }
    };
    text.lines().enumerate().map(pose).collect()
}

#[cfg(test)]
mod tests {
    use touchfield::mesh::generate::{Icosphere, icosphere};

    use super::*;

    #[test]
    fn spheres_meet_as_their_centres_tell() {
        let mesh = icosphere(Icosphere {
            level: 4,
            ..Default::default()
        })
        .unwrap();
        let radius = mesh.vertices[0].length();
        let scene = Scene::new(&mesh).unwrap();
        // How far flat faces lie inside the ball, as a share of its radius.
        let sagitta = 0.003 * radius;
        for regime in Regime::ALL {
            for index in 0..20 {
                let pose = scene.pose(regime, index);
                let truth = scene.truth(pose);
                let overlap = 2.0 * radius - pose.translation.length();
                match regime {
                    Regime::Shallow => {
                        let push = PUSH * scene.diagonal;
                        assert!(
                            (overlap - push).abs() < 2.0 * sagitta,
                            "{overlap} for {push}"
                        );
                    }
                    Regime::Apart => {
                        assert!(!truth.touching);
                        assert!((truth.distance + overlap).abs() < 2.0 * sagitta);
                    }
                    Regime::Deep => {}
                }
                if overlap > 2.0 * sagitta {
                    assert!(truth.touching, "{pose:?}");
                    // The surface of a ball comes nearest to the centre of the other where it
                    // crosses the line of centres.
                    let depth = overlap.min(pose.translation.length());
                    for found in [truth.depth_of_a, truth.depth_of_b] {
                        assert!((found - depth).abs() < 0.03 * radius, "{found} for {depth}");
                    }
                }
                for inside in truth.inside {
                    let to = if inside.of_b {
                        DVec3::ZERO
                    } else {
                        pose.translation
                    };
                    let depth = radius - (inside.point - to).length();
                    assert!((inside.depth - depth).abs() < sagitta);
                }
            }
        }
    }

    #[test]
    fn a_small_body_inside_a_hollow_one_is_apart_and_inside_a_solid_one_touches() {
        let ball = icosphere(Icosphere {
            level: 3,
            ..Default::default()
        })
        .unwrap();
        let scaled = |scale: f64, flip: bool| {
            let mut part = ball.clone();
            part.vertices.iter_mut().for_each(|vertex| *vertex *= scale);
            if flip {
                part.faces.iter_mut().for_each(|face| face.swap(1, 2));
            }
            part
        };
        // A hollow ball, and beside it a ball that fits into the cavity.
        let radius = ball.vertices[0].length();
        let mut mesh = ball.clone();
        for (part, at) in [(scaled(0.9, true), 0.0), (scaled(0.2, false), 4.0)] {
            let first = mesh.vertices.len() as u32;
            mesh.vertices
                .extend(part.vertices.iter().map(|&p| p + DVec3::X * at * radius));
            mesh.faces.extend(
                part.faces
                    .iter()
                    .map(|face| face.map(|vertex| first + vertex)),
            );
        }
        let scene = Scene::new(&mesh).unwrap();
        let moved = |x: f64| ExactPose {
            rotation: DQuat::IDENTITY,
            translation: DVec3::X * x * radius,
        };
        let hollow = scene.truth(moved(-4.0));
        assert!(!hollow.touching);
        assert!(
            (hollow.distance - 0.7 * radius).abs() < 0.02 * radius,
            "{}",
            hollow.distance
        );
        assert!(scene.truth(moved(-4.75)).touching);
    }

    #[test]
    fn poses_survive_their_file() {
        let poses = [ExactPose {
            rotation: DQuat::from_xyzw(0.1, -0.7, 0.1, 0.7).normalize(),
            translation: DVec3::new(1.0 / 3.0, -2e-9, 5.0),
        }];
        assert_eq!(poses_from_csv(&poses_to_csv(&poses)), Ok(poses.to_vec()));
        assert!(poses_from_csv("1,2,3").is_err());
    }
}
