//! Tests whether any point of a shell touches the other body, and stops at the first one.
//!
//! Input: a [`Probe`].
//! Output: yes or no.
//! Cost: a walk down the sphere tree until a point is found.
//! Not for: which points touch (see the contact methods beside it).

use crate::narrow::scratch::Scratch;
use crate::narrow::search::probe::Probe;

/// Returns whether any shell point is within `max_separation` \[m\] of the body with the field.
pub(crate) fn touches(probe: &Probe<'_>, max_separation: f32, scratch: &mut Scratch) -> bool {
    let nodes = probe.shell.tree().nodes();
    let points = probe.shell.points();
    let reach = max_separation + probe.field.error_bound();
    let is_touching =
        |index: u32| probe.field.distance(probe.to_field(points[index as usize])) <= max_separation;
    scratch.front.clear();
    scratch.front.push(0);
    // Depth first, the nearest child first: where bodies overlap, the path to a touching point is
    // short.
    while let Some(index) = scratch.front.pop() {
        let node = &nodes[index as usize];
        if node.child_count == 0 {
            if node.points().any(is_touching) {
                return true;
            }
            continue;
        }
        probe.child_distances(node, &mut scratch.points, &mut scratch.distances);
        scratch.children.clear();
        for (child, &distance) in node.children().zip(&scratch.distances) {
            let radius = nodes[child as usize].radius;
            if distance - radius <= reach {
                // The centre is so deep that all points of the sphere touch.
                if distance + radius + probe.field.error_bound() <= max_separation {
                    return true;
                }
                scratch.children.push((distance, child));
            }
        }
        (scratch.children).sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scratch
            .front
            .extend(scratch.children.iter().map(|&(_, child)| child));
    }
    false
}
