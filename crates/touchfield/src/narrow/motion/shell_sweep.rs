//! When a point of a moving shell first gets below a level of a field.
//!
//! Input: a field, a shell, how the shell moves as seen from the field, levels. Output: a time before which no point of the shell is below its level; none if
//! that is never. Cost: a field value for each sphere and interval of time that come near; some microseconds where little does. Not for: what lies between the points
//! of a shell, unless the level is raised by its covering radius.
//!
//! Intervals of time are halved, and spheres opened, until nothing is left that may get there: within half an interval a point goes no farther than its speed
//! in the middle and the bend of its path allow. A body that rolls has fast points far from what it rolls on, and slow ones near: neither is looked at twice.

use crate::field::{Field, Sample};
use crate::geom::{PairMotion, Pose};
use crate::pointshell::PointShell;
use glam::{Mat3, Vec3};

/// Halvings of the time, at most.
const MOST_HALVINGS: u32 = 16;

/// Spheres and points that are looked at, at most: some milliseconds.
const MOST_LOOKS: u32 = 1 << 16;

/// Where points of a shell must not get.
#[derive(Clone, Copy, Debug)]
pub enum Level {
    /// Below this, whoever they are \[m\].
    Same(f32),
    /// Deeper than a quarter of a body this thick; points that begin deeper, hardly deeper than that \[m\].
    Within(f32),
    /// The same, but points that begin deeper may go another quarter deeper \[m\].
    Further(f32),
}

/// Share of the thickness by which a point may be deep: a quarter, half of the way to where the other side is as near.
const DEEPER: f32 = 0.25;

/// Share by which a point that is deeper already may still go. None is stopped for where it begins: it could not come out either.
const HARDLY: f32 = 0.02;

impl Level {
    /// No point has a higher one.
    fn highest(self) -> f32 {
        match self {
            Level::Same(level) => level,
            Level::Within(thickness) | Level::Further(thickness) => -DEEPER * thickness,
        }
    }

    /// What is taken off the values of a field. Where bodies touch, its values are what their contacts are told by, and what is beyond its error is thicker than thin walls.
    fn error(self, field: &dyn Field) -> f32 {
        match self {
            Level::Same(_) => field.error_bound(),
            Level::Within(_) | Level::Further(_) => 0.0,
        }
    }

    /// That of a point, by where it begins.
    fn of(self, at_start: impl FnOnce() -> f32) -> f32 {
        match self {
            Level::Same(level) => level,
            Level::Within(thickness) => self.highest().min(at_start() - HARDLY * thickness),
            Level::Further(thickness) => self.highest().min(at_start() - DEEPER * thickness),
        }
    }
}

/// Which part of a motion is searched, and how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// From 0 to 1.
    pub(crate) times: [f32; 2],
    /// Spheres and points after which the search ends with what it has proven.
    pub(crate) max_looks: u32,
}

impl Part {
    const WHOLE: Part = Part {
        times: [0.0, 1.0],
        max_looks: MOST_LOOKS,
    };
}

/// A moving shell.
#[derive(Clone, Copy)]
pub struct MovingShell<'a> {
    /// What it moves against.
    pub field: &'a dyn Field,
    /// The points that move.
    pub shell: &'a PointShell,
    /// Of the shell as seen from the field.
    pub motion: &'a PairMotion,
}

/// A point that gets below its level.
#[derive(Clone, Copy, Debug)]
pub struct Below {
    /// Before it, none does.
    pub time: f32,
    /// Where the point is soon after, in the frame of the field.
    pub point: Vec3,
    /// What the field gives there.
    pub sample: Sample,
    /// Whether it was looked for to the end; if not, the time is how far that came.
    pub is_found: bool,
}

/// Buffers that are reused.
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
    /// Of a point; that of all for a sphere.
    level: f32,
    is_point: bool,
}

impl MovingShell<'_> {
    /// Whether a point of the shell begins no farther from the field's body than this \[m\].
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

    /// The first point that gets below its level, to within a path of `tolerance` \[m\].
    pub fn first_below(
        &self,
        level: Level,
        tolerance: f32,
        scratch: &mut ShellSweepScratch,
    ) -> Option<Below> {
        self.first_below_during(level, tolerance, &Part::WHOLE, scratch)
    }

    /// The first point that gets below its level during a part of the motion, to within a path of
    /// `tolerance` \[m\].
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
        // Points about the other body matter, and bend least.
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

/// The middle of a field's box; of one without end, its origin.
fn middle_of(field: &dyn Field) -> Vec3 {
    let bounds = field.bounds();
    if bounds.is_finite() {
        bounds.center()
    } else {
        Vec3::ZERO
    }
}

/// Whether a ball that a body carries along stays farther from the field's body than `target` all the time, as far as a few looks can tell \[m\].
pub fn ball_stays_beyond(
    field: &dyn Field,
    motion: &PairMotion,
    (center, radius): (Vec3, f32),
    target: f32,
) -> bool {
    /// Looks, at most, and the share of the radius to which they are worth it: guesses, not tuned.
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

/// One search.
struct Search<'a> {
    moving: &'a MovingShell<'a>,
    level: Level,
    tolerance: f32,
    part: Part,
    /// Field from shell at the beginning.
    start: Pose,
    /// A point of the shell's frame, and how its path bends at most \[m per whole motion²\].
    about: Vec3,
    bend: f32,
    /// How far both bodies turn \[rad per whole motion\].
    turns: f32,
    error: f32,
    /// No point is faster \[m per whole motion\].
    fastest: f32,
    looks: u32,
}

impl Search<'_> {
    /// Looks at an interval of time for the items from `first` on.
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

    /// How fast points about one are within `half` an interval, from how fast it is in its middle \[m per whole motion\].
    ///
    /// The bends of two paths differ by no more than three times the square of the turns for each metre between the points.
    fn speed(&self, center: Vec3, now: Vec3, radius: f32, half: f32) -> f32 {
        let farther = center.distance(self.about) + radius;
        let bend = self.bend + 3.0 * self.turns * self.turns * farther;
        now.length() + self.turns * radius + 0.5 * half * bend
    }
}

/// How fast the points of a body are at a moment, by where they are: `shift + change · x` \[m per whole motion\].
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
