//! Signs of nodes whose nearest feature does not determine them: from their neighbours, or by the
//! winding number.
//!
//! Input: a box of nodes with exact distances, the nodes without a sign, and a function that
//! returns the sign at a node.
//! Output: the signs.
//! Cost: six neighbours per node, and near the surface the faces between; one call of the function
//! per pocket of nodes, which costs a hundred times as much.
//! Not for: open surfaces, where signs change anywhere.
//!
//! Off a closed surface the sign does not change. Two nodes have the same sign if they are nearer
//! to each other than one of them is to the surface, because then no face lies between them. Nearer
//! to the surface, the hierarchy is searched for faces between them.

use glam::UVec3;

use crate::bake::blocks::Piece;
use crate::bake::distance::marks::Marks;
use crate::bake::distance::nodes::signed;
use crate::mesh::Bvh;
use crate::threads;

/// Sets the signs of the `unclear` nodes of a piece. Distances, to the faces of `bvh`, are off by
/// no more than `error` \[m\]. Calls `ask` for one node of each pocket that no other node
/// determines; returns these nodes with the results.
pub(crate) fn settle_signs<S: Send>(
    piece: &mut Piece<'_>,
    unclear: &[UVec3],
    error: f64,
    bvh: &Bvh,
    ask: impl Fn(UVec3) -> S + Sync + Send,
    is_inside: impl Fn(&S) -> bool,
) -> Vec<(UVec3, S)> {
    // Includes a margin for rounding a distance to `f32`.
    let step = (f64::from(piece.layout.cell_size) * (1.0 + 1e-6) + error) as f32;
    let reaches = |_, a: f32, _, b: f32| a.abs().max(b.abs()) > step;
    let left = sign_by_neighbours(piece, unclear, reaches).concat();
    // Second pass for the nodes left over: slower, because it searches for faces between
    // neighbours.
    let layout = piece.layout;
    let pockets = sign_by_neighbours(piece, &left, |node, a, other, b| {
        let [from, to] = [node, other].map(|node| layout.node_position(node));
        reaches(node, a, other, b) || bvh.is_clear(from, to)
    });
    // The farther from the surface, the more reliable the sign.
    let farthest = |pocket: &Vec<UVec3>| {
        let distance = |node: &UVec3| piece.values[piece.slot(*node)].abs();
        pocket[1..].iter().fold(pocket[0], |best, &node| {
            if distance(&node) > distance(&best) {
                node
            } else {
                best
            }
        })
    };
    let asked: Vec<UVec3> = pockets.iter().map(farthest).collect();
    let answers = threads::map(asked.len(), |i| ask(asked[i]));
    for (pocket, answer) in pockets.iter().zip(&answers) {
        sign(piece, pocket, is_inside(answer));
    }
    asked.into_iter().zip(answers).collect()
}

/// Sets the signs of nodes from neighbours that have one. `are_alike` receives two neighbours with
/// their values, and returns whether they have the same sign. Returns the pockets of nodes that are
/// left; all nodes of a pocket have one sign.
fn sign_by_neighbours(
    piece: &mut Piece<'_>,
    nodes: &[UVec3],
    are_alike: impl Fn(UVec3, f32, UVec3, f32) -> bool,
) -> Vec<Vec<UVec3>> {
    // The sign stored at a node on the surface may be that of its other side, so it is not used.
    let least = 1e-6 * piece.layout.cell_size;
    // Nodes without a sign, and those of them that are in no pocket yet.
    let mut unsigned = Marks::new(piece.values.len());
    let mut open = Marks::new(piece.values.len());
    for &node in nodes {
        unsigned.set(piece.slot(node));
        open.set(piece.slot(node));
    }
    // Grow a pocket of alike nodes from each open one; the first neighbour with a sign gives it.
    let mut pockets = Vec::new();
    for &node in nodes {
        if !open.clear(piece.slot(node)) {
            continue;
        }
        let mut pocket = vec![node];
        let mut inside = None;
        let mut next = 0;
        while let Some(&node) = pocket.get(next) {
            next += 1;
            let value = piece.values[piece.slot(node)];
            for other in neighbours(piece, node) {
                let slot = piece.slot(other);
                let is_open = open.has(slot);
                let other_value = piece.values[slot];
                let has_sign = !unsigned.has(slot) && other_value.abs() > least;
                let tells = inside.is_none() && has_sign;
                // Nodes that are left open are NaN.
                let is_news = (is_open || tells) && other_value.is_finite();
                if !(is_news && are_alike(node, value, other, other_value)) {
                    continue;
                }
                if is_open {
                    open.clear(slot);
                    pocket.push(other);
                } else if tells {
                    inside = Some(other_value < 0.0);
                }
            }
        }
        match inside {
            Some(inside) => {
                sign(piece, &pocket, inside);
                for &node in &pocket {
                    unsigned.clear(piece.slot(node));
                }
            }
            None => pockets.push(pocket),
        }
    }
    pockets
}

fn sign(piece: &mut Piece<'_>, nodes: &[UVec3], inside: bool) {
    for &node in nodes {
        let slot = piece.slot(node);
        piece.values[slot] = signed(piece.values[slot].abs(), inside);
    }
}

/// Returns those of the six neighbours that lie in the piece.
fn neighbours(piece: &Piece<'_>, node: UVec3) -> impl Iterator<Item = UVec3> + use<> {
    let (first, end) = (piece.first, piece.first + piece.size);
    UVec3::AXES.into_iter().flat_map(move |axis| {
        let before = (node - first).dot(axis) > 0;
        let after = (node + axis).cmplt(end).all();
        let before = before.then(|| node - axis);
        before.into_iter().chain(after.then(|| node + axis))
    })
}
