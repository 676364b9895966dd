//! Filling small holes.
//!
//! Input: a mesh, consistently oriented (see [`super::orient`]).
//! Output: new faces behind the old ones, and an account of every border loop, filled or not.
//! Cost: O(n³) in the edges of a loop up to [`SMALL_LOOP`], linear beyond.
//! Not for: guessing a shape. A filled hole is a patch of least area, or a cone for long loops; it may cross other faces.
//!
//! Least-area triangulation by dynamic programming after [Barequet1995], with a small price on long edges so that
//! points in a line do not end up as faces without area.

use std::collections::HashSet;

use glam::DVec3;

use super::{
    super::{Components, Topology, TriangleMesh, weld::welded_faces},
    drop::split_flat_faces,
};
use crate::geom::Triangle;

/// Loops up to this many edges get a least-area patch, longer ones a cone over their middle. Tuned: 64³ steps
/// take a millisecond; far above it would be felt, far below it patches of ordinary holes would look like tents.
const SMALL_LOOP: usize = 64;

/// Which holes to fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoleSettings {
    /// Loops with more edges stay open.
    pub max_edges: usize,
    /// Loops that could span more than this share of their component's area stay open. The outline of a flat sheet spans at
    /// least 1, the rim of a hemisphere 0.5: so sheets stay sheets.
    pub max_area_share: f64,
}

impl Default for HoleSettings {
    fn default() -> HoleSettings {
        HoleSettings {
            max_edges: 64,
            max_area_share: 0.75,
        }
    }
}

/// A loop that was filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilledHole {
    /// A vertex on its rim.
    pub vertex: u32,
    /// Edges of the rim.
    pub edges: u32,
    /// The first of the new faces; they follow each other.
    pub first_face: u32,
    /// Number of new faces.
    pub faces: u32,
    /// The new vertex in the middle, if one was needed.
    pub new_vertex: Option<u32>,
}

/// Why a border was left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOpen {
    /// More edges than [`HoleSettings::max_edges`].
    TooLong,
    /// Wider than [`HoleSettings::max_area_share`]: probably the outline of a sheet.
    TooWide,
    /// The border does not close: faces around it disagree.
    NotALoop,
}

/// What [`fill_holes`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HoleReport {
    /// Filled holes, in the order of their new faces.
    pub filled: Vec<FilledHole>,
    /// Borders left open: a vertex, the number of edges, and why.
    pub left_open: Vec<(u32, u32, LeftOpen)>,
    /// `[face, neighbour]`: new faces along a crack without width, which became the second half of the neighbour on their long
    /// side: the neighbour was cut where the other border of the crack has a vertex.
    pub split: Vec<[u32; 2]>,
}

/// Fills the holes that the settings allow, and reports the others.
pub fn fill_holes(mesh: &mut TriangleMesh, settings: &HoleSettings) -> HoleReport {
    let topology = Topology::new(mesh.vertices.len(), &welded_faces(mesh));
    let (shells, parts) = (
        topology.components_by_edges(),
        topology.components_by_vertices(),
    );
    let [shell_area, part_area] = [&shells, &parts].map(|components| areas(mesh, components));
    let mut report = HoleReport::default();
    let old_faces = mesh.faces.len();
    let mut new_edges = HashSet::new();
    for border in borders(&mesh.vertices, &topology) {
        let rim: Vec<DVec3> = border
            .vertices
            .iter()
            .map(|&v| mesh.vertices[v as usize])
            .collect();
        let perimeter: f64 = (0..rim.len())
            .map(|i| rim[i].distance(rim[(i + 1) % rim.len()]))
            .sum();
        // No loop of this length spans a larger flat area (isoperimetric inequality).
        let span = perimeter * perimeter / (4.0 * std::f64::consts::PI);
        // A border along a single shell may be its outline; one along several is a gap between them.
        let shell_of = |face: &u32| shells.of_face[*face as usize] as usize;
        let first = border.faces[0];
        let area = if border
            .faces
            .iter()
            .all(|face| shell_of(face) == shell_of(&first))
        {
            shell_area[shell_of(&first)]
        } else {
            part_area[parts.of_face[first as usize] as usize]
        };
        let left_open = if !border.closed || rim.len() < 3 {
            Some(LeftOpen::NotALoop)
        } else if rim.len() > settings.max_edges {
            Some(LeftOpen::TooLong)
        } else if span > settings.max_area_share * area || border.is_a_single_face() {
            Some(LeftOpen::TooWide)
        } else {
            None
        };
        let (vertex, edges) = (border.vertices[0], border.vertices.len() as u32);
        if let Some(why) = left_open {
            report.left_open.push((vertex, edges, why));
            continue;
        }
        let taken = |a: usize, b: usize| {
            let (a, b) = (border.vertices[a], border.vertices[b]);
            topology.edge_between(a, b).is_some() || new_edges.contains(&[a.min(b), a.max(b)])
        };
        let first_face = mesh.faces.len() as u32;
        let mut new_vertex = None;
        match least_area(&rim, taken) {
            Some(patch) => {
                let named = patch
                    .into_iter()
                    .map(|face| face.map(|i| border.vertices[i]));
                mesh.faces.extend(named);
            }
            None => {
                let middle = mesh.vertices.len() as u32;
                new_vertex = Some(middle);
                mesh.vertices
                    .push(rim.iter().sum::<DVec3>() / rim.len() as f64);
                let n = border.vertices.len();
                mesh.faces.extend(
                    (0..n).map(|i| [border.vertices[i], border.vertices[(i + 1) % n], middle]),
                );
            }
        }
        for &[a, b, c] in &mesh.faces[first_face as usize..] {
            new_edges.extend([
                [a.min(b), a.max(b)],
                [b.min(c), b.max(c)],
                [c.min(a), c.max(a)],
            ]);
        }
        report.filled.push(FilledHole {
            vertex,
            edges,
            first_face,
            faces: mesh.faces.len() as u32 - first_face,
            new_vertex,
        });
    }
    report.split = split_flat_faces(mesh, old_faces);
    report
}

/// Area of every component \[m²\].
fn areas(mesh: &TriangleMesh, components: &Components) -> Vec<f64> {
    let mut areas = vec![0.0; components.count];
    for (face, &component) in components.of_face.iter().enumerate() {
        if component != Components::NONE {
            areas[component as usize] += mesh.triangle(face).area();
        }
    }
    areas
}

/// A run of open edges, in the direction a patch must have.
struct Border {
    vertices: Vec<u32>,
    /// The faces beside it, one an edge.
    faces: Vec<u32>,
    closed: bool,
}

impl Border {
    /// Whether filling it would only cover the back of one face.
    fn is_a_single_face(&self) -> bool {
        self.faces.len() == 3 && self.faces.iter().all(|&face| face == self.faces[0])
    }
}

/// An open edge, against the direction of the face beside it: as a patch runs along it.
#[derive(Clone, Copy)]
struct Step {
    from: u32,
    to: u32,
    face: u32,
    /// The fans of faces around its ends that it borders.
    fan_at_from: u32,
    fan_at_to: u32,
}

/// Splits the open edges into loops that visit no vertex twice; what does not close is reported as such.
fn borders(vertices: &[DVec3], topology: &Topology) -> Vec<Border> {
    let mut steps = steps(topology);
    // Steps not taken yet from vertex v: next[v]..end[v].
    let mut next = vec![0usize; vertices.len()];
    let mut end = vec![0usize; vertices.len()];
    for (index, step) in steps.iter().enumerate() {
        if end[step.from as usize] == 0 {
            next[step.from as usize] = index;
        }
        end[step.from as usize] = index + 1;
    }

    let mut borders = Vec::new();
    let mut place_on_path = vec![usize::MAX; vertices.len()];
    let mut path: Vec<Step> = Vec::new();
    for start in 0..vertices.len() {
        let mut at = start;
        loop {
            if next[at] == end[at] {
                if !path.is_empty() {
                    borders.push(Border {
                        vertices: path
                            .iter()
                            .map(|step| step.from)
                            .chain([at as u32])
                            .collect(),
                        faces: path.iter().map(|step| step.face).collect(),
                        closed: false,
                    });
                }
                for step in path.drain(..) {
                    place_on_path[step.from as usize] = usize::MAX;
                }
                break;
            }
            let ahead = &mut steps[next[at]..end[at]];
            let best = path
                .last()
                .map_or(0, |last| best_turn(vertices, last, ahead));
            ahead.swap(0, best);
            let step = ahead[0];
            next[at] += 1;
            place_on_path[at] = path.len();
            path.push(step);
            at = step.to as usize;
            if place_on_path[at] != usize::MAX {
                let round: Vec<Step> = path.drain(place_on_path[at]..).collect();
                for step in &round {
                    place_on_path[step.from as usize] = usize::MAX;
                }
                borders.push(Border {
                    vertices: round.iter().map(|step| step.from).collect(),
                    faces: round.iter().map(|step| step.face).collect(),
                    closed: true,
                });
            }
        }
    }
    borders
}

fn steps(topology: &Topology) -> Vec<Step> {
    let mut fans = topology.fans();
    let mut steps: Vec<Step> = topology
        .edges()
        .filter_map(|edge| match edge.uses {
            [only] => Some(*only),
            _ => None,
        })
        .map(|only| {
            let corners = topology.faces()[only.face as usize];
            let [start, end] = [only.corner, (only.corner + 1) % 3];
            let mut fan_at = |corner: u8| fans.root(3 * only.face + u32::from(corner));
            Step {
                from: corners[end as usize],
                to: corners[start as usize],
                face: only.face,
                fan_at_from: fan_at(end),
                fan_at_to: fan_at(start),
            }
        })
        .collect();
    steps.sort_unstable_by_key(|step| (step.from, step.to, step.face));
    steps
}

/// Where fans of faces touch in a vertex, a hole lies between two of them: go on along another fan than the one we came along,
/// and the one with the sharpest turn if there are several.
fn best_turn(vertices: &[DVec3], last: &Step, ahead: &[Step]) -> usize {
    // A vertex with more fans is noise; looking at them all would take time with the square of their number.
    const LOOK_AT: usize = 64;
    let at = vertices[last.to as usize];
    let back = (vertices[last.from as usize] - at).normalize_or_zero();
    let cosine = |step: &Step| back.dot((vertices[step.to as usize] - at).normalize_or_zero());
    let rank = |step: &Step| {
        let same_fan = step.fan_at_from == last.fan_at_to;
        if same_fan { -2.0 } else { cosine(step) }
    };
    let candidates = &ahead[..ahead.len().min(LOOK_AT)];
    (1..candidates.len()).fold(0, |best, i| {
        if rank(&candidates[i]) > rank(&candidates[best]) {
            i
        } else {
            best
        }
    })
}

/// Triangles over the rim, by place on it, of least area; `None` for long rims, or where every patch would reuse an edge that is `taken`.
fn least_area(rim: &[DVec3], taken: impl Fn(usize, usize) -> bool) -> Option<Vec<[usize; 3]>> {
    let n = rim.len();
    if n > SMALL_LOOP {
        return None;
    }
    // cost[i][j]: of the best patch between the chord i–j and the rim from i to j.
    let mut cost = vec![vec![0.0f64; n]; n];
    let mut split = vec![vec![0usize; n]; n];
    for gap in 2..n {
        for i in 0..n - gap {
            let j = i + gap;
            cost[i][j] = f64::INFINITY;
            // The last chord is an edge of the rim itself.
            if gap < n - 1 && taken(i, j) {
                continue;
            }
            for k in i + 1..j {
                let candidate = cost[i][k] + cost[k][j] + price([rim[i], rim[k], rim[j]]);
                if candidate < cost[i][j] {
                    cost[i][j] = candidate;
                    split[i][j] = k;
                }
            }
        }
    }
    if !cost[0][n - 1].is_finite() {
        return None;
    }
    let mut patch = Vec::with_capacity(n - 2);
    let mut chords = vec![(0, n - 1)];
    while let Some((i, j)) = chords.pop() {
        if j - i >= 2 {
            let k = split[i][j];
            patch.push([i, k, j]);
            chords.extend([(i, k), (k, j)]);
        }
    }
    Some(patch)
}

fn price([a, b, c]: [DVec3; 3]) -> f64 {
    let area = Triangle { a, b, c }.area();
    let longest_squared = a
        .distance_squared(b)
        .max(b.distance_squared(c))
        .max(c.distance_squared(a));
    // Flatter than this is a needle that rounding may turn over: only where nothing else fits, as in a crack of no width.
    if area <= 1e-9 * longest_squared {
        return 1e3 * longest_squared;
    }
    // Tuned: among patches of equal area (a flat hole) the compact one wins; a larger share would prefer compact faces
    // to small area and bulge over creases.
    area + 0.01 * longest_squared
}
