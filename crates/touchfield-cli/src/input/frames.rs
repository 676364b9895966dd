//! Frames of bodies: the frame of the mesh, in which users give poses and read points, and the
//! field's own frame.
//!
//! Input: poses between the frames of two meshes, and the origin of each field's frame. Output: the
//! pose between the fields' own frames; points back in the frame of the mesh.
//! Cost: a few operations in `f64`. Not for: bodies near their origin, whose two frames are the
//! same: nothing is computed there.
//!
//! A mesh too far out for `f32` is baked in a frame of its own, in which a point x of the mesh is
//! at x − origin ([`Provenance::origin`]). With such frames for both bodies, `own a_from_b =
//! shift(−origin A) · a_from_b · shift(origin B)`. This is a difference of large numbers, so it is
//! computed in `f64`, and rounded once the result is small.
//!
//! [`Provenance::origin`]: touchfield::field::Provenance::origin

use glam::{DQuat, DVec3, Vec3};
use serde_json::{Value, json};
use touchfield::geom::{Motion, Pose};

use crate::input::load;
use crate::report::{self, Answer};

/// A pose between the frames of two meshes, as given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeshPose {
    /// The pose rounded to `f32`.
    pub(crate) pose: Pose,
    pub(crate) translation: DVec3,
    /// Unit quaternion.
    pub(crate) rotation: DQuat,
}

impl MeshPose {
    pub(crate) const IDENTITY: MeshPose = MeshPose {
        pose: Pose::IDENTITY,
        translation: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
    };

    /// Transforms a point in `f64`.
    pub(crate) fn transform_point(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }
}

/// The motion of B from one pose to another: the same as [`Motion`], but between the frames of
/// meshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeshMotion {
    pub(crate) from: MeshPose,
    pub(crate) to: MeshPose,
    /// Axis times angle [rad]; `None` for the shorter rotation from one pose to the other.
    pub(crate) turn: Option<Vec3>,
    /// The point of B that moves in a straight line, in the frame of its mesh [m]; `None` for its
    /// origin.
    pub(crate) center: Option<DVec3>,
}

/// Origins of the fields of A and B, each in the frame of its mesh [m].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Frames {
    pub(crate) a: DVec3,
    pub(crate) b: DVec3,
}

impl Frames {
    /// Returns whether the frames of the fields are those of the meshes.
    pub(crate) fn are_of_meshes(&self) -> bool {
        *self == Frames::default()
    }

    /// Returns the pose of B's field in the frame of A's field.
    pub(crate) fn own_pose(&self, a_from_b: &MeshPose) -> Pose {
        if self.are_of_meshes() {
            return a_from_b.pose;
        }
        Pose {
            rotation: a_from_b.pose.rotation,
            translation: (a_from_b.transform_point(self.b) - self.a).as_vec3(),
        }
    }

    /// Returns the motion of B's field in the frame of A's field. If B is in a frame of its own and
    /// no centre is given, the origin of that frame moves in a straight line: the origin of the
    /// mesh is so far away that any turn about it would fling the body away.
    pub(crate) fn own_motion(&self, motion: &MeshMotion) -> Motion {
        let (from, to) = (self.own_pose(&motion.from), self.own_pose(&motion.to));
        let between = Motion::between(from, to);
        let center = motion.center.unwrap_or(self.b);
        let own_center = (center - self.b).as_vec3();
        // Translation of the centre. Without a given turn, the two poses determine it; with one, it
        // is the translation of the origin between the poses.
        let translation = match (motion.turn, self.are_of_meshes()) {
            (None, true) => to.transform_point(own_center) - from.transform_point(own_center),
            (Some(_), true) => between.translation,
            (None, false) => {
                (motion.to.transform_point(center) - motion.from.transform_point(center)).as_vec3()
            }
            (Some(_), false) => (motion.to.translation - motion.from.translation).as_vec3(),
        };
        Motion {
            center: own_center,
            translation,
            turn: motion.turn.unwrap_or(between.turn),
            ..between
        }
    }

    /// Returns a point of an answer in the frame of A's mesh, as JSON.
    pub(crate) fn point_json(&self, point: Vec3) -> Value {
        report::point_json(point, self.a)
    }

    /// Formats a point of an answer in the frame of A's mesh, for people.
    pub(crate) fn point(&self, point: Vec3) -> String {
        match self.a == DVec3::ZERO {
            true => report::point(point),
            false => {
                let [x, y, z] = (point.as_dvec3() + self.a).to_array();
                format!("({x:.9}, {y:.9}, {z:.9})")
            }
        }
    }

    /// Adds the origins of the fields' frames to an answer, if they are not those of the meshes.
    pub(crate) fn add_to(&self, json: &mut Value) {
        if !self.are_of_meshes() {
            json["origin_a"] = json!(self.a.to_array());
            json["origin_b"] = json!(self.b.to_array());
        }
    }

    /// Adds the origins of the fields' frames to an answer. Prints a note if the points of its
    /// rows, which are `f32`, are in the own frame of A's field.
    pub(crate) fn note_rows(&self, answer: &mut Answer) {
        self.add_to(&mut answer.json);
        if self.a != DVec3::ZERO {
            load::note(&format!(
                "points in the rows are f32, and so in a frame near A: add {:?} m for the frame of the mesh",
                self.a.to_array()
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::parse_pose;

    #[test]
    fn the_pose_between_own_frames_takes_a_point_where_the_pose_between_meshes_does() {
        let frames = Frames {
            a: DVec3::new(1e6, -2e5, 0.0),
            b: DVec3::new(0.0, 3e6, 4e6),
        };
        // B's mesh is turned by a quarter about z, and lies beside A's.
        let text = "4000000.25,-199999.5,-3999999.75,0,0,0.7071067811865476,0.7071067811865476";
        let a_from_b = parse_pose(text).unwrap();
        let own = frames.own_pose(&a_from_b);
        for own_point in [Vec3::ZERO, Vec3::new(0.5, -0.25, 0.125)] {
            let in_mesh_b = own_point.as_dvec3() + frames.b;
            // By hand: a quarter turn about z takes (x, y, z) to (−y, x, z).
            let turned = DVec3::new(-in_mesh_b.y, in_mesh_b.x, in_mesh_b.z);
            let expected = turned + DVec3::new(4000000.25, -199999.5, -3999999.75) - frames.a;
            let found = own.transform_point(own_point).as_dvec3();
            assert!((found - expected).length() < 1e-6, "{found} for {expected}");
        }
    }

    #[test]
    fn near_the_origin_nothing_is_computed() {
        let pose = parse_pose("0.1,0.2,0.3,0.1,0.2,0.3,0.9").unwrap();
        assert_eq!(Frames::default().own_pose(&pose), pose.pose);
        let point = Vec3::new(0.1, 0.2, 0.3);
        assert_eq!(Frames::default().point_json(point), report::numbers(point));
    }

    #[test]
    fn a_motion_ends_where_its_last_pose_does() {
        let frames = Frames {
            a: DVec3::splat(1e6),
            b: DVec3::new(-3e6, 0.0, 7e5),
        };
        let to = parse_pose("4000000,1000000.5,1700000,0,0,0.6,0.8").unwrap();
        let from = parse_pose("4000001,1000000,300000.25,0,0,0,1").unwrap();
        let motion = frames.own_motion(&MeshMotion {
            from,
            to,
            turn: None,
            center: None,
        });
        let (start, end) = (frames.own_pose(&from), frames.own_pose(&to));
        assert_eq!(motion.at(0.0), start);
        let found = motion.at(1.0);
        let off = found.translation.distance(end.translation);
        assert!(
            off <= 1e-6 * end.translation.length().max(1.0),
            "{found:?} is not {end:?}"
        );
    }
}
