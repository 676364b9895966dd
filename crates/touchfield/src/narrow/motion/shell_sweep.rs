//! Finds when a point of a moving shell first gets below a level of a field.
//!
//! Input: a field, a shell, the motion of the shell as seen from the field, levels.
//! Output: a time before which no point of the shell is below its level; none if that never
//! happens.
//! Cost: one field value for each sphere and interval of time that come near; some microseconds
//! where little does.
//! Not for: what lies between the points of a shell, unless the level is raised by its covering
//! radius.
//!
//! Intervals of time are halved, and spheres opened, until nothing is left that may get below its
//! level. Within half an interval a point goes no farther than its speed in the middle and the
//! curvature of its path allow. A rolling body has fast points far from the ground and slow ones
//! near it; neither kind needs a second look.

use crate::field::{Field, Sample};
use crate::geom::{PairMotion, Pose};
use crate::pointshell::PointShell;
use glam::{Mat3, Vec3};

/// Maximum number of halvings of the time.
const MOST_HALVINGS: u32 = 16;

/// Maximum number of spheres and points visited: some milliseconds.
const MOST_LOOKS: u32 = 1 << 16;

/// Level of a field that points of a shell must not get below.
#[derive(Clone, Copy, Debug)]
pub enum Level {
    /// The same level for all points \[m\].
    Same(f32),
    /// A depth of a quarter of the given thickness of the body \[m\]. Points that start deeper may
    /// hardly go any deeper.
    Within(f32),
    /// A depth of a quarter of the given thickness of the body \[m\]. Points that start deeper may
    /// go another quarter of it deeper.
    Further(f32),
}

/// Permitted depth, as a fraction of the thickness: a quarter, which is half of the way to where
/// the other side is equally near.
const DEEPER: f32 = 0.25;

/// Further depth permitted to a point that starts deeper, as a fraction of the thickness. No point
/// is stopped just for where it starts: it could not come out either.
const HARDLY: f32 = 0.02;

impl Level {
    /// Returns an upper bound of the levels of all points \[m\].
    fn highest(self) -> f32 {
        match self {
            Level::Same(level) => level,
            Level::Within(thickness) | Level::Further(thickness) => -DEEPER * thickness,
        }
    }

    /// Returns the error that is subtracted from the values of a field \[m\]. It is 0 where bodies
    /// touch: their contacts are computed from the same values, and the error may exceed the
    /// thickness of thin walls.
    fn error(self, field: &dyn Field) -> f32 {
        match self {
            Level::Same(_) => field.error_bound(),
            Level::Within(_) | Level::Further(_) => 0.0,
        }
    }

    /// Returns the level of a point from the field's value where it starts \[m\].
    fn of(self, at_start: impl FnOnce() -> f32) -> f32 {
        match self {
            Level::Same(level) => level,
            Level::Within(thickness) => self.highest().min(at_start() - HARDLY * thickness),
            Level::Further(thickness) => self.highest().min(at_start() - DEEPER * thickness),
        }
    }
}

/// The part of a motion that is searched, and the limit of the work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// First and last time, as fractions of the motion from 0 to 1.
    pub(crate) times: [f32; 2],
    /// Maximum number of spheres and points visited. Beyond it the search ends with what it has
    /// proven.
    pub(crate) max_looks: u32,
}

impl Part {
    const WHOLE: Part = Part {
        times: [0.0, 1.0],
        max_looks: MOST_LOOKS,
    };
}

/// A shell that moves against a field.
#[derive(Clone, Copy)]
pub struct MovingShell<'a> {
    /// Field that the shell moves against.
    pub field: &'a dyn Field,
    /// Points that move.
    pub shell: &'a PointShell,
    /// Motion of the shell as seen from the field.
    pub motion: &'a PairMotion,
}

/// The first point that gets below its level.
#[derive(Clone, Copy, Debug)]
pub struct Below {
    /// Time before which no point is below its level, as a fraction of the motion.
    pub time: f32,
    /// Position of the point soon after `time`, in the frame of the field \[m\].
    pub point: Vec3,
    /// Sample of the field at `point`.
    pub sample: Sample,
    /// Whether the search was completed. If not, `time` is how far it got.
    pub is_found: bool,
}

/// Scratch buffers of a shell sweep, reused from call to call.
#[derive(Debug, Default)]
pub struct ShellSweepScratch {
    items: Vec<Item>,
    open: Vec<Item>,
    spheres: Vec<u32>,
}

/// A sphere of the tree, or a point with its level.
#[derive(Clone, Copy, Debug)]
struct Item {
    index: u32,
    /// Level of a point, or the highest level of all points for a sphere \[m\].
    level: f32,
    is_point: bool,
}

impl MovingShell<'_> {
    /// Returns whether a point of the shell starts within `near` \[m\] of the body with the field.
    pub fn begins_within(&self, near: f32, scratch: &mut ShellSweepScratch) -> bool {
        let start = self.motion.at(0.0);
        let distance = |point: Vec3| self.field.distance(start.transform_point(point));
        let error = self.field.error_bound();
        let nodes = self.shell.tree().nodes();
        let open = &mut scratch.spheres;
        open.clear();
        open.push(0);
        while let Some(index) = open.pop() {
            let node = &nodes[index as usize];
            if distance(node.center) - node.radius - error > near {
                continue;
            }
            if node.child_count > 0 {
                open.extend(node.children());
                continue;
            }
            let mut points = node
                .points()
                .map(|point| self.shell.points()[point as usize]);
            if points.any(|point| distance(point) <= near) {
                return true;
            }
        }
        false
    }

    /// Finds the first point that gets below its level, to within a path of `tolerance` \[m\].
    pub fn first_below(
        &self,
        level: Level,
        tolerance: f32,
        scratch: &mut ShellSweepScratch,
    ) -> Option<Below> {
        self.first_below_during(level, tolerance, &Part::WHOLE, scratch)
    }

    /// Finds the first point that gets below its level during a part of the motion, to within a
    /// path of `tolerance` \[m\].
    pub(crate) fn first_below_during(
        &self,
        level: Level,
        tolerance: f32,
        part: &Part,
        scratch: &mut ShellSweepScratch,
    ) -> Option<Below> {
        let root = &self.shell.tree().nodes()[0];
        scratch.items.clear();
        scratch.items.push(Item {
            index: 0,
            level: level.highest(),
            is_point: false,
        });
        let start = self.motion.at(0.0);
        // Points near the other body matter, and have the least curved paths.
        let about = start.inverse().transform_point(middle_of(self.field));
        let mut search = Search {
            moving: self,
            level,
            tolerance,
            part: *part,
            about,
            bend: self.motion.bend_bound(about, [0.0, 1.0]),
            turns: self.motion.turns(),
            start,
            error: level.error(self.field),
            fastest: self
                .motion
                .speed_bound(root.center, root.radius, [0.0, 1.0]),
            looks: 0,
        };
        search.look([0.0, 1.0], 0, 0, scratch)
    }
}

/// Returns the centre of a field's box, or the origin if the box is unbounded.
fn middle_of(field: &dyn Field) -> Vec3 {
    let bounds = field.bounds();
    if bounds.is_finite() {
        bounds.center()
    } else {
        Vec3::ZERO
    }
}

/// Returns whether a ball carried by a body is proven, within a limited number of steps, to stay
/// farther from the field's body than `target` \[m\] during the whole motion.
pub fn ball_stays_beyond(
    field: &dyn Field,
    motion: &PairMotion,
    (center, radius): (Vec3, f32),
    target: f32,
) -> bool {
    /// Maximum number of steps, and the path length at which they end, as a fraction of the radius:
    /// guesses, not tuned.
    const LOOKS: u32 = 32;
    const FINEST: f32 = 0.01;
    let least = target + radius + field.error_bound();
    let mut open = vec![[0.0f32, 1.0]];
    let mut looks = 0;
    while let Some(times) = open.pop() {
        looks += 1;
        let half = 0.5 * (times[1] - times[0]);
        let middle = times[0] + half;
        let place = motion.at(middle).transform_point(center);
        let above = field.distance(place) - least;
        let path = half * motion.speed_bound(center, 0.0, times);
        if above > path {
            continue;
        }
        if above <= 0.0 || path <= FINEST * radius || looks >= LOOKS {
            return false;
        }
        open.push([middle, times[1]]);
        open.push([times[0], middle]);
    }
    true
}

/// State of one search.
struct Search<'a> {
    moving: &'a MovingShell<'a>,
    level: Level,
    tolerance: f32,
    part: Part,
    /// Pose of the shell in the frame of the field at the start.
    start: Pose,
    /// Reference point in the shell's frame.
    about: Vec3,
    /// Maximum curvature of the reference point's path \[m per whole motion²\].
    bend: f32,
    /// Bound of the turns of both bodies \[rad per whole motion\].
    turns: f32,
    error: f32,
    /// Bound of the speed of all points \[m per whole motion\].
    fastest: f32,
    looks: u32,
}

impl Search<'_> {
    /// Searches an interval of time for the items from `first` on.
    fn look(
        &mut self,
        times: [f32; 2],
        first: usize,
        halvings: u32,
        scratch: &mut ShellSweepScratch,
    ) -> Option<Below> {
        if times[1] <= self.part.times[0] || times[0] >= self.part.times[1] {
            return None;
        }
        let half = 0.5 * (times[1] - times[0]);
        let middle = times[0] + half;
        let pose = self.moving.motion.at(middle);
        let velocities = Velocities::at(self.moving.motion, middle);
        let shell = self.moving.shell;
        let nodes = shell.tree().nodes();
        // Keep the items that may get below their level within the interval; open the larger
        // spheres.
        let kept = scratch.items.len();
        scratch.open.clear();
        scratch.open.extend_from_slice(&scratch.items[first..]);
        let mut longest = 0.0f32;
        let mut lowest: Option<(f32, Vec3)> = None;
        while let Some(item) = scratch.open.pop() {
            let (center, radius) = if item.is_point {
                (shell.points()[item.index as usize], 0.0)
            } else {
                let node = &nodes[item.index as usize];
                (node.center, node.radius)
            };
            self.looks += 1;
            let place = pose.transform_point(center);
            let distance = self.moving.field.distance(place);
            let above = distance - self.error - radius - item.level;
            if above > self.fastest * half {
                continue;
            }
            let path = half
                * self
                    .fastest
                    .min(self.speed(center, velocities.of(place), radius, half));
            if above > path {
                continue;
            }
            if item.is_point || radius <= path {
                scratch.items.push(item);
                longest = longest.max(path);
                if lowest.is_none_or(|(least, _)| distance < least) {
                    lowest = Some((distance, place));
                }
                continue;
            }
            let node = &nodes[item.index as usize];
            let children = node.children().map(|index| Item { index, ..item });
            scratch.open.extend(children);
            if node.child_count == 0 {
                for index in node.points() {
                    let at_start = self.start.transform_point(shell.points()[index as usize]);
                    let level = self.level.of(|| self.moving.field.distance(at_start));
                    scratch.open.push(Item {
                        index,
                        level,
                        is_point: true,
                    });
                }
            }
        }
        // Halve the interval until paths are within tolerance or a limit is reached.
        let (_, place) = lowest?;
        let is_late = self.looks > self.part.max_looks || halvings >= MOST_HALVINGS;
        let below = if longest <= self.tolerance || is_late {
            Some(Below {
                time: times[0].max(self.part.times[0]),
                point: place,
                sample: self.moving.field.sample(place),
                is_found: !is_late,
            })
        } else {
            let halves = [[times[0], middle], [middle, times[1]]];
            let mut halves = halves.into_iter();
            halves.find_map(|times| self.look(times, kept, halvings + 1, scratch))
        };
        scratch.items.truncate(kept);
        below
    }

    /// Returns a bound of the speed of the points of a ball within `half` an interval, from the
    /// velocity `now` of its centre in the middle of it \[m per whole motion\].
    ///
    /// The second derivatives of two paths differ by no more than three times the square of the
    /// turns per metre between the points.
    fn speed(&self, center: Vec3, now: Vec3, radius: f32, half: f32) -> f32 {
        let farther = center.distance(self.about) + radius;
        let bend = self.bend + 3.0 * self.turns * self.turns * farther;
        now.length() + self.turns * radius + 0.5 * half * bend
    }
}

/// Velocity field of a body at one moment: a point at x has `shift + change · x` \[m per whole
/// motion\].
struct Velocities {
    shift: Vec3,
    change: Mat3,
}

impl Velocities {
    fn at(motion: &PairMotion, time: f32) -> Velocities {
        let shift = motion.velocity(time, Vec3::ZERO);
        let columns = Mat3::IDENTITY.to_cols_array_2d().map(Vec3::from);
        let [x, y, z] = columns.map(|axis| motion.velocity(time, axis) - shift);
        Velocities {
            shift,
            change: Mat3::from_cols(x, y, z),
        }
    }

    fn of(&self, place: Vec3) -> Vec3 {
        self.shift + self.change * place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_that_is_deep_already_may_hardly_go_deeper() {
        let plate = Level::Within(0.1);
        assert_eq!(plate.of(|| 0.0), -0.025);
        assert_eq!(plate.of(|| -0.02), -0.025);
        assert!((plate.of(|| -0.04) + 0.042).abs() < 1e-6);
        let further = Level::Further(0.1);
        assert_eq!(further.of(|| 0.0), -0.025);
        assert!((further.of(|| -0.04) + 0.065).abs() < 1e-6);
    }
}
