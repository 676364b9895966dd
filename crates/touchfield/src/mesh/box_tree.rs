//! A small AABB tree over faces, for the checks in this folder.
//!
//! Input: face numbers and their boxes.
//! Output: visits of the faces whose box may matter.
//! Cost: median split, O(n log² n) to build, linear over faces that are in order; depth at most 32.
//! Not for: distances; `bvh` is built for those.

use std::ops::ControlFlow;

use crate::geom::DAabb;

/// Faces per leaf. Tuned: from 2 to 8 there is no measurable difference.
const LEAF_SIZE: usize = 4;

pub(super) struct BoxTree {
    nodes: Vec<Node>,
    /// Faces in the order of the leaves.
    pub(super) items: Vec<u32>,
    /// Boxes of `items`, in the same order.
    pub(super) boxes: Vec<DAabb>,
}

struct Node {
    bounds: DAabb,
    /// First and end position of the node's items.
    start: u32,
    end: u32,
    /// Index of the second child; the first child follows the node directly. 0 for a leaf.
    second: u32,
}

impl BoxTree {
    pub(super) fn new(faces: impl Iterator<Item = (u32, DAabb)>) -> BoxTree {
        let mut entries: Vec<(u32, DAabb)> = faces.collect();
        sort(&mut entries);
        BoxTree::in_order(entries.into_iter())
    }

    /// Builds a tree over faces that are already ordered so that neighbours in space follow each
    /// other.
    pub(super) fn in_order(faces: impl Iterator<Item = (u32, DAabb)>) -> BoxTree {
        let (items, boxes): (Vec<u32>, Vec<DAabb>) = faces.unzip();
        let mut nodes = Vec::with_capacity(boxes.len() + 1);
        if !boxes.is_empty() {
            add_node(&boxes, 0, &mut nodes);
        }
        BoxTree {
            nodes,
            items,
            boxes,
        }
    }

    /// Visits, in order, the positions from `first` on for which `wanted` holds for their own box
    /// and all enclosing boxes.
    #[inline]
    pub(super) fn visit(
        &self,
        first: usize,
        wanted: impl Fn(&DAabb) -> bool,
        visitor: impl FnMut(usize) -> ControlFlow<()>,
    ) {
        self.visit_outside(first, |_| false, wanted, visitor);
    }

    /// Visits positions as [`Self::visit`] does, but skips the subtrees of nodes for whose index
    /// `left_out` holds.
    #[inline]
    pub(super) fn visit_outside(
        &self,
        first: usize,
        left_out: impl Fn(usize) -> bool,
        wanted: impl Fn(&DAabb) -> bool,
        mut visitor: impl FnMut(usize) -> ControlFlow<()>,
    ) {
        let mut stack = [0u32; 64];
        let mut depth = usize::from(!self.nodes.is_empty());
        while depth > 0 {
            depth -= 1;
            let index = stack[depth];
            let node = &self.nodes[index as usize];
            if node.end as usize <= first || !wanted(&node.bounds) || left_out(index as usize) {
                continue;
            }
            if node.second != 0 {
                stack[depth] = node.second;
                stack[depth + 1] = index + 1;
                depth += 2;
                continue;
            }
            for position in (node.start as usize).max(first)..node.end as usize {
                if wanted(&self.boxes[position]) && visitor(position).is_break() {
                    return;
                }
            }
        }
    }

    /// Computes one value per node by reducing the values of the positions below it.
    pub(super) fn summed_up<T: Copy>(
        &self,
        of_position: impl Fn(usize) -> T,
        joined: impl Fn(T, T) -> T,
    ) -> Vec<T> {
        let mut sums: Vec<Option<T>> = vec![None; self.nodes.len()];
        // Children come after their parent.
        for (index, node) in self.nodes.iter().enumerate().rev() {
            sums[index] = if node.second == 0 {
                (node.start as usize..node.end as usize)
                    .map(&of_position)
                    .reduce(&joined)
            } else {
                [sums[index + 1], sums[node.second as usize]]
                    .into_iter()
                    .flatten()
                    .reduce(&joined)
            };
        }
        sums.into_iter().flatten().collect()
    }
}

/// Adds the node over `boxes`, which start at position `start`, and the nodes below it; returns its
/// box.
fn add_node(boxes: &[DAabb], start: usize, nodes: &mut Vec<Node>) -> DAabb {
    let index = nodes.len();
    nodes.push(Node {
        bounds: DAabb::EMPTY,
        start: start as u32,
        end: (start + boxes.len()) as u32,
        second: 0,
    });
    let bounds = if boxes.len() <= LEAF_SIZE {
        (boxes.iter()).fold(DAabb::EMPTY, |bounds, item| bounds.union(*item))
    } else {
        let middle = boxes.len() / 2;
        let low = add_node(&boxes[..middle], start, nodes);
        nodes[index].second = nodes.len() as u32;
        low.union(add_node(&boxes[middle..], start + middle, nodes))
    };
    nodes[index].bounds = bounds;
    bounds
}

/// Moves the lower half along the longest axis of the centres to the front, and recurses into both
/// halves.
fn sort(entries: &mut [(u32, DAabb)]) {
    if entries.len() <= LEAF_SIZE {
        return;
    }
    let centers = DAabb::of_points(entries.iter().map(|(_, item)| item.center()));
    let axis = centers.half_extents().max_position();
    let middle = entries.len() / 2;
    // Ties are broken by face number, so the tree is the same on every run.
    entries.select_nth_unstable_by(middle, |(a, box_a), (b, box_b)| {
        let (x, y) = (box_a.center()[axis], box_b.center()[axis]);
        x.total_cmp(&y).then(a.cmp(b))
    });
    let (low, high) = entries.split_at_mut(middle);
    sort(low);
    sort(high);
}
