//! Visits of the faces of a mesh by their boxes, for the checks in this folder.
//!
//! Input: face numbers and their boxes.
//! Output: visits of the faces whose box may matter.
//! Cost: that of the tree, see `geom::box_tree`; linear to build over faces that are in order.
//! Not for: distances; `bvh` is built for those.

use std::ops::ControlFlow;

use crate::geom::DAabb;
use crate::geom::box_tree::{self, BoxNode};

/// Faces per leaf. Tuned: from 2 to 8 there is no measurable difference.
const LEAF_SIZE: usize = 4;

pub(super) struct BoxTree {
    nodes: Vec<BoxNode<DAabb>>,
    /// Faces in the order of the leaves.
    pub(super) items: Vec<u32>,
    /// Boxes of `items`, in the same order.
    pub(super) boxes: Vec<DAabb>,
}

impl BoxTree {
    pub(super) fn new(faces: impl Iterator<Item = (u32, DAabb)>) -> BoxTree {
        let mut entries: Vec<(u32, DAabb)> = faces.collect();
        box_tree::sort(&mut entries, LEAF_SIZE);
        BoxTree::in_order(entries.into_iter())
    }

    /// Builds a tree over faces that are already ordered so that neighbours in space follow each
    /// other.
    pub(super) fn in_order(faces: impl Iterator<Item = (u32, DAabb)>) -> BoxTree {
        let (items, boxes): (Vec<u32>, Vec<DAabb>) = faces.unzip();
        BoxTree {
            nodes: box_tree::nodes_in_order(&boxes, LEAF_SIZE),
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
            let end = (node.first + node.count) as usize;
            if end <= first || !wanted(&node.bounds) || left_out(index as usize) {
                continue;
            }
            if node.second != 0 {
                stack[depth] = node.second;
                stack[depth + 1] = index + 1;
                depth += 2;
                continue;
            }
            for position in (node.first as usize).max(first)..end {
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
                (node.first as usize..(node.first + node.count) as usize)
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
