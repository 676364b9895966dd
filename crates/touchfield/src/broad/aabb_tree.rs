//! A balanced dynamic AABB tree with a margin around every box.
//!
//! Input and output: see [`BroadPhase`]; also a margin by which boxes may move before the tree
//! changes.
//! Cost: O(log n) for a box that left its margin, nothing for a box that stays within it, and
//! O(pairs) per step.
//! Not for: many unbounded boxes, each of which is compared with all others.
//!
//! After \[Catto2019\]: leaves are boxes grown by the margin, a new leaf goes where it adds the
//! least surface area, and rotations keep the tree balanced. We differ in the pairs: pairs of grown
//! boxes are stored between steps, only boxes that left their margin search the tree, and the
//! output is filtered by the boxes themselves. So the result depends neither on the margin nor on
//! the history of the tree.

use glam::Vec3;

use super::pairs::{BoxId, Boxes, BroadError, BroadPhase, endless_pairs, overlap, sorted};
use crate::geom::Aabb;

/// A broad phase on a dynamic AABB tree whose leaves have margins.
#[derive(Clone, Debug)]
pub struct AabbTree {
    boxes: Boxes,
    margin: f32,
    nodes: Vec<Node>,
    free: Vec<u32>,
    root: u32,
    /// Leaf of each id; `NONE` for removed and for unbounded boxes.
    leaves: Vec<u32>,
    endless: Vec<BoxId>,
    /// Ids whose leaf was added, moved or removed since the last step; each once, marked in
    /// `is_stale`.
    stale: Vec<BoxId>,
    is_stale: Vec<bool>,
    /// Pairs of leaves that overlap, sorted.
    near: Vec<[BoxId; 2]>,
    fresh: Vec<[BoxId; 2]>,
    merged: Vec<[BoxId; 2]>,
    stack: Vec<u32>,
}

/// A leaf, or an inner node with two children.
#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Aabb,
    parent: u32,
    /// Children of an inner node; for a leaf, its id and `NONE`.
    children: [u32; 2],
    /// Height of the subtree; 0 for a leaf.
    height: u32,
}

const NONE: u32 = u32::MAX;

impl AabbTree {
    /// Creates an empty tree. A box may move by `margin` \[m\] before the tree changes; a good
    /// margin is about the distance that a body moves in a few steps.
    pub fn new(margin: f32) -> Result<AabbTree, BroadError> {
        if !(margin >= 0.0 && margin.is_finite()) {
            return Err(BroadError::BadMargin(margin));
        }
        Ok(AabbTree {
            boxes: Boxes::default(),
            margin,
            nodes: Vec::new(),
            free: Vec::new(),
            root: NONE,
            leaves: Vec::new(),
            endless: Vec::new(),
            stale: Vec::new(),
            is_stale: Vec::new(),
            near: Vec::new(),
            fresh: Vec::new(),
            merged: Vec::new(),
            stack: Vec::new(),
        })
    }

    /// Returns the length of the longest path from the root to a leaf.
    pub fn height(&self) -> u32 {
        self.nodes
            .get(self.root as usize)
            .map_or(0, |root| root.height)
    }

    /// Adds a leaf for the box, or lists it as unbounded, and marks the id as stale.
    fn file(&mut self, id: BoxId, bounds: Aabb) {
        let count = self.boxes.id_count();
        self.leaves.resize(count, NONE);
        self.is_stale.resize(count, false);
        if !std::mem::replace(&mut self.is_stale[id.0 as usize], true) {
            self.stale.push(id);
        }
        if bounds.is_finite() {
            // Near the limits of `f32` there is no room for a margin.
            let everywhere = Aabb::new(Vec3::MIN, Vec3::MAX);
            let grown = bounds.grown(self.margin).intersection(everywhere);
            let leaf = self.new_node(Node {
                bounds: grown,
                parent: NONE,
                children: [id.0, NONE],
                height: 0,
            });
            self.leaves[id.0 as usize] = leaf;
            self.insert_leaf(leaf);
        } else {
            self.endless.push(id);
        }
    }

    /// Removes the box's leaf, or its entry in the list of unbounded boxes, and marks the id as
    /// stale.
    fn unfile(&mut self, id: BoxId) {
        if !std::mem::replace(&mut self.is_stale[id.0 as usize], true) {
            self.stale.push(id);
        }
        let leaf = std::mem::replace(&mut self.leaves[id.0 as usize], NONE);
        if leaf == NONE {
            self.endless.retain(|&endless| endless != id);
        } else {
            self.remove_leaf(leaf);
            self.free.push(leaf);
        }
    }

    fn new_node(&mut self, node: Node) -> u32 {
        if let Some(free) = self.free.pop() {
            self.nodes[free as usize] = node;
            return free;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// Joins the leaf with the best sibling under a new parent.
    fn insert_leaf(&mut self, leaf: u32) {
        if self.root == NONE {
            self.root = leaf;
            return;
        }
        let bounds = self.node(leaf).bounds;
        let sibling = self.best_sibling(bounds);
        let parent = self.node(sibling).parent;
        let joint = self.new_node(Node {
            bounds: bounds.union(self.node(sibling).bounds),
            parent,
            children: [sibling, leaf],
            height: self.node(sibling).height + 1,
        });
        self.replace_child(parent, sibling, joint);
        self.nodes[sibling as usize].parent = joint;
        self.nodes[leaf as usize].parent = joint;
        self.refit_from(parent);
    }

    /// Descends from the root, always to the child whose cost is lower, until joining here is
    /// cheapest.
    fn best_sibling(&self, bounds: Aabb) -> u32 {
        let mut at = self.root;
        loop {
            let node = self.node(at);
            if node.height == 0 {
                return at;
            }
            let joined = surface(node.bounds.union(bounds));
            let here = 2.0 * joined;
            // Growth of this node, which every choice further down causes.
            let inherited = 2.0 * (joined - surface(node.bounds));
            let below = node.children.map(|child| {
                let child = self.node(child);
                let joined = surface(child.bounds.union(bounds));
                let grown = if child.height == 0 {
                    joined
                } else {
                    joined - surface(child.bounds)
                };
                grown + inherited
            });
            if here < below[0] && here < below[1] {
                return at;
            }
            at = node.children[usize::from(below[1] < below[0])];
        }
    }

    /// Removes the leaf and its parent; the sibling takes the parent's place.
    fn remove_leaf(&mut self, leaf: u32) {
        let parent = self.node(leaf).parent;
        if parent == NONE {
            self.root = NONE;
            return;
        }
        let joint = *self.node(parent);
        let sibling = joint.children[usize::from(joint.children[0] == leaf)];
        self.nodes[sibling as usize].parent = joint.parent;
        self.replace_child(joint.parent, parent, sibling);
        self.free.push(parent);
        self.refit_from(joint.parent);
    }

    fn replace_child(&mut self, parent: u32, old: u32, new: u32) {
        if parent == NONE {
            self.root = new;
            return;
        }
        let children = &mut self.nodes[parent as usize].children;
        children[usize::from(children[1] == old)] = new;
    }

    /// Updates bounds, height and balance of the node and all its ancestors.
    fn refit_from(&mut self, mut at: u32) {
        while at != NONE {
            at = self.balance(at);
            self.refit(at);
            at = self.node(at).parent;
        }
    }

    fn refit(&mut self, at: u32) {
        let [left, right] = self.node(at).children.map(|child| *self.node(child));
        let node = &mut self.nodes[at as usize];
        node.bounds = left.bounds.union(right.bounds);
        node.height = 1 + left.height.max(right.height);
    }

    /// Rotates the taller child into the place of its parent if it is taller by two or more levels.
    /// Returns the top node afterwards.
    fn balance(&mut self, at: u32) -> u32 {
        let children = self.node(at).children;
        let heights = children.map(|child| self.node(child).height);
        let higher = usize::from(heights[1] > heights[0]);
        if heights[higher] < heights[1 - higher] + 2 {
            return at;
        }
        let up = children[higher];
        let grandchildren = self.node(up).children;
        let grand_heights = grandchildren.map(|child| self.node(child).height);
        // The taller grandchild stays with the child that moves up; the other one changes parents.
        let over = grandchildren[usize::from(grand_heights[1] <= grand_heights[0])];
        let parent = self.node(at).parent;
        self.nodes[up as usize].parent = parent;
        self.replace_child(parent, at, up);
        self.replace_child(up, over, at);
        self.nodes[at as usize].parent = up;
        self.replace_child(at, up, over);
        self.nodes[over as usize].parent = at;
        self.refit(at);
        up
    }

    /// Brings `near` up to date: drops the pairs of stale boxes and searches the tree for their new
    /// ones.
    fn search(&mut self) {
        let AabbTree {
            is_stale,
            near,
            fresh,
            merged,
            stack,
            nodes,
            ..
        } = self;
        if self.stale.is_empty() {
            return;
        }
        // Pairs of stale boxes are no longer valid.
        near.retain(|pair| pair.iter().all(|id| !is_stale[id.0 as usize]));
        // Find all pairs of stale boxes anew.
        fresh.clear();
        for &id in &self.stale {
            let leaf = self.leaves[id.0 as usize];
            if leaf == NONE {
                continue;
            }
            let bounds = nodes[leaf as usize].bounds;
            stack.clear();
            stack.push(self.root);
            while let Some(at) = stack.pop() {
                let node = &nodes[at as usize];
                if !overlap(bounds, node.bounds) {
                    continue;
                }
                if node.height > 0 {
                    stack.extend(node.children);
                    continue;
                }
                let other = BoxId(node.children[0]);
                // Two stale boxes find each other twice.
                let by_other = is_stale[other.0 as usize] && other <= id;
                if !by_other {
                    fresh.push(sorted(id, other));
                }
            }
        }
        fresh.sort_unstable();
        merge(near, fresh, merged);
        std::mem::swap(near, merged);
        for id in self.stale.drain(..) {
            is_stale[id.0 as usize] = false;
        }
    }
}

/// Returns half the surface area, in `f64` because squares of `f32` may overflow.
fn surface(bounds: Aabb) -> f64 {
    let sides = bounds.max.as_dvec3() - bounds.min.as_dvec3();
    sides.x * sides.y + sides.y * sides.z + sides.z * sides.x
}

/// Merges two sorted lists into one.
fn merge(a: &[[BoxId; 2]], b: &[[BoxId; 2]], out: &mut Vec<[BoxId; 2]>) {
    out.clear();
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(&first), Some(&second)) = (a.peek(), b.peek()) {
        let next = if first <= second { a.next() } else { b.next() };
        out.extend(next);
    }
    out.extend(a);
    out.extend(b);
}

impl BroadPhase for AabbTree {
    fn insert(&mut self, bounds: Aabb) -> Result<BoxId, BroadError> {
        let id = self.boxes.insert(bounds)?;
        self.file(id, bounds);
        Ok(id)
    }

    fn update(&mut self, id: BoxId, bounds: Aabb) -> Result<(), BroadError> {
        self.boxes.update(id, bounds)?;
        let leaf = self.leaves[id.0 as usize];
        let within =
            |leaf: &Node| leaf.bounds.contains(bounds.min) && leaf.bounds.contains(bounds.max);
        let stays = match self.nodes.get(leaf as usize) {
            // A box that shrank keeps its leaf until the leaf is far too large.
            Some(leaf) => {
                within(leaf) && surface(leaf.bounds) <= 8.0 * surface(bounds.grown(self.margin))
            }
            None => !bounds.is_finite(),
        };
        if !stays {
            self.unfile(id);
            self.file(id, bounds);
        }
        Ok(())
    }

    fn remove(&mut self, id: BoxId) -> Result<(), BroadError> {
        self.boxes.remove(id)?;
        self.unfile(id);
        Ok(())
    }

    fn pairs(&mut self, out: &mut Vec<[BoxId; 2]>) {
        self.search();
        out.clear();
        let boxes = &self.boxes;
        let overlap_now = |pair: &&[BoxId; 2]| match pair.map(|id| boxes.get(id)) {
            [Some(a), Some(b)] => overlap(a, b),
            _ => false,
        };
        out.extend(self.near.iter().filter(overlap_now));
        if !self.endless.is_empty() {
            self.fresh.clear();
            endless_pairs(boxes, &self.endless, &mut self.fresh);
            self.fresh.sort_unstable();
            merge(out, &self.fresh, &mut self.merged);
            std::mem::swap(out, &mut self.merged);
        }
    }
}
