//! Signs of nodes whose nearest feature does not tell: from their neighbours, or by the winding number.
//!
//! Input: a box of nodes with exact distances, which of them have no sign yet, what a point's sign is. Output: the signs.
//! Cost: a look at six neighbours a node; one question for each pocket of nodes, which costs a hundred times as much. Not for: open surfaces, where signs change anywhere.
//!
//! Off a closed surface the sign does not change. Two nodes have the same if they are nearer to each other than one of them is to the surface: nothing comes between them.

use glam::UVec3;

use super::blocks::Piece;
use super::marks::Marks;
use crate::threads;

/// Gives `unclear` nodes of a piece their signs. Distances are off by no more than `error` \[m\]. Asks about one node of each pocket that no other node tells about; returns those with the answers.
pub(super) fn settle_signs<S: Send>(
    piece: &mut Piece<'_>,
    unclear: &[UVec3],
    error: f64,
    ask: impl Fn(UVec3) -> S + Sync + Send,
    is_inside: impl Fn(&S) -> bool,
) -> Vec<(UVec3, S)> {
    // With room for rounding a distance to `f32`.
    let step = (f64::from(piece.layout.cell_size) * (1.0 + 1e-6) + error) as f32;
    let reaches = |a: f32, b: f32| a.abs().max(b.abs()) > step;
    // Those without a sign, and of them those that are in no pocket yet.
    let mut unsigned = Marks::new(piece.values.len());
    let mut open = Marks::new(piece.values.len());
    for &node in unclear {
        unsigned.set(piece.slot(node));
        open.set(piece.slot(node));
    }
    let mut asked = Vec::new();
    let mut pockets = Vec::new();
    for &node in unclear {
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
                // Nodes that are left open are no numbers.
                if !(piece.values[slot].is_finite() && reaches(value, piece.values[slot])) {
                    continue;
                }
                if open.clear(slot) {
                    pocket.push(other);
                } else if !unsigned.has(slot) {
                    inside = Some(piece.values[slot] < 0.0);
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
            None => {
                asked.push(node);
                pockets.push(pocket);
            }
        }
    }
    let answers = threads::map(asked.len(), |i| ask(asked[i]));
    for (pocket, answer) in pockets.iter().zip(&answers) {
        sign(piece, pocket, is_inside(answer));
    }
    asked.into_iter().zip(answers).collect()
}

fn sign(piece: &mut Piece<'_>, nodes: &[UVec3], inside: bool) {
    for &node in nodes {
        let slot = piece.slot(node);
        let distance = piece.values[slot].abs();
        piece.values[slot] = if inside { -distance } else { distance };
    }
}

/// Those of six that the piece has.
fn neighbours(piece: &Piece<'_>, node: UVec3) -> impl Iterator<Item = UVec3> + use<> {
    let (first, end) = (piece.first, piece.first + piece.size);
    UVec3::AXES.into_iter().flat_map(move |axis| {
        let before = (node - first).dot(axis) > 0;
        let after = (node + axis).cmplt(end).all();
        let before = before.then(|| node - axis);
        before.into_iter().chain(after.then(|| node + axis))
    })
}
