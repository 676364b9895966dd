//! The tree of boxes over triangles and faces: a binary tree, split at the median.
//!
//! Input: boxes, each with a key that identifies it.
//! Output: their order, and the nodes over it.
//! Cost: O(n log² n) to order, O(n) to build the nodes; depth at most 32 for 2³² boxes and one in a
//! leaf.
//! Not for: exact distances, see `mesh::bvh`; boxes that move, see [`crate::broad`].

use glam::{DVec3, Vec3};

use crate::geom::{Aabb, DAabb};

/// A node of a tree of boxes. The nodes are in an array, the root first; children follow their
/// parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxNode<B> {
    /// Box around the node's items \[m\].
    pub bounds: B,
    /// Index of the first item.
    pub first: u32,
    /// Number of items.
    pub count: u32,
    /// Index of the second child; the first child is the next node. 0 for a leaf.
    pub second: u32,
}

/// A box of a tree, in `f32` or `f64`.
pub(crate) trait TreeBox: Copy {
    /// A box of the centres of boxes.
    const EMPTY: Self;
    /// Returns the smallest box around both.
    fn joined(self, other: Self) -> Self;
    /// Returns the axis along which the centres of boxes spread most.
    fn widest_axis(boxes: impl Iterator<Item = Self>) -> usize;
    /// Compares two boxes by their centres along an axis.
    fn compare(&self, other: &Self, axis: usize) -> std::cmp::Ordering;
}

macro_rules! tree_box {
    ($name:ident, $vector:ident) => {
        impl TreeBox for $name {
            const EMPTY: $name = $name::EMPTY;

            fn joined(self, other: $name) -> $name {
                self.union(other)
            }

            fn widest_axis(boxes: impl Iterator<Item = $name>) -> usize {
                let half: $vector = $name::of_points(boxes.map($name::center)).half_extents();
                half.max_position()
            }

            fn compare(&self, other: &$name, axis: usize) -> std::cmp::Ordering {
                self.center()[axis].total_cmp(&other.center()[axis])
            }
        }
    };
}
tree_box!(Aabb, Vec3);
tree_box!(DAabb, DVec3);

/// Orders boxes for [`nodes_in_order`]: moves the lower half along the longest axis of the centres
/// to the front, and recurses into both halves down to `leaf_size`. Ties are broken by the keys, so
/// the order is the same on every run.
pub(crate) fn sort<K: Ord, B: TreeBox>(entries: &mut [(K, B)], leaf_size: usize) {
    if entries.len() <= leaf_size {
        return;
    }
    let axis = B::widest_axis(entries.iter().map(|(_, own)| *own));
    let middle = entries.len() / 2;
    entries.select_nth_unstable_by(middle, |(a, box_a), (b, box_b)| {
        box_a.compare(box_b, axis).then_with(|| a.cmp(b))
    });
    let (low, high) = entries.split_at_mut(middle);
    sort(low, leaf_size);
    sort(high, leaf_size);
}

/// Builds the nodes over boxes that are already ordered so that neighbours in space follow each
/// other. Each node is halved until at most `leaf_size` boxes are left.
pub(crate) fn nodes_in_order<B: TreeBox>(boxes: &[B], leaf_size: usize) -> Vec<BoxNode<B>> {
    let mut nodes = Vec::with_capacity(boxes.len() + 1);
    if !boxes.is_empty() {
        add_node(boxes, 0, leaf_size, &mut nodes);
    }
    nodes
}

/// Adds the node over `boxes`, the first of which has the index `first`, and all nodes below it;
/// returns its box.
fn add_node<B: TreeBox>(
    boxes: &[B],
    first: u32,
    leaf_size: usize,
    nodes: &mut Vec<BoxNode<B>>,
) -> B {
    let index = nodes.len();
    nodes.push(BoxNode {
        bounds: B::EMPTY,
        first,
        count: boxes.len() as u32,
        second: 0,
    });
    let bounds = if boxes.len() <= leaf_size {
        (boxes.iter()).fold(B::EMPTY, |bounds, own| bounds.joined(*own))
    } else {
        let middle = boxes.len() / 2;
        let low = add_node(&boxes[..middle], first, leaf_size, nodes);
        nodes[index].second = nodes.len() as u32;
        low.joined(add_node(
            &boxes[middle..],
            first + middle as u32,
            leaf_size,
            nodes,
        ))
    };
    nodes[index].bounds = bounds;
    bounds
}
