//! Fills small holes.
//!
//! Input: a mesh, consistently oriented (see [`super::orient`]).
//! Output: new faces behind the old ones, and a report of every border loop, filled or not.
//! Cost: O(n³) in the edges of a loop up to [`SMALL_LOOP`], linear beyond.
//! Not for: reconstructing a shape. A filled hole is a patch of least area, or a cone for long
//! loops; it may cross other faces.
//!
//! Least-area triangulation by dynamic programming after \[Barequet1995\], with a small penalty on
//! long edges so that collinear points do not end up as faces without area.

use std::collections::HashSet;

use glam::DVec3;

use super::{
    super::{Components, Topology, TriangleMesh, weld::welded_faces},
    drop::split_flat_faces,
};
use crate::geom::Triangle;

/// Number of edges up to which a loop gets a least-area patch; longer ones get a cone over their
/// centroid. Tuned: 64³ steps take a millisecond. A much larger value would be slow, a much smaller
/// one would give patches of ordinary holes the shape of tents.
const SMALL_LOOP: usize = 64;

/// Limits on the holes to fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoleSettings {
    /// Largest number of edges of a loop that is filled.
    pub max_edges: usize,
    /// Largest area that a loop may span, as a fraction of its component's area. The outline of a
    /// flat sheet spans at least 1, the rim of a hemisphere 0.5, so sheets stay sheets.
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

/// A border loop that was filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilledHole {
    /// A vertex on its rim.
    pub vertex: u32,
    /// Number of edges of the rim.
    pub edges: u32,
    /// First of the new faces; they are consecutive.
    pub first_face: u32,
    /// Number of new faces.
    pub faces: u32,
    /// New vertex in the middle, if one was needed.
    pub new_vertex: Option<u32>,
}

/// Reason why a border was left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOpen {
    /// The loop has more edges than [`HoleSettings::max_edges`].
    TooLong,
    /// The loop spans more than [`HoleSettings::max_area_share`]: probably the outline of a sheet.
    TooWide,
    /// The border does not form a loop: faces around it disagree in orientation.
    NotALoop,
}

/// Changes made by [`fill_holes`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HoleReport {
    /// Filled holes, in the order of their new faces.
    pub filled: Vec<FilledHole>,
    /// Borders left open: a vertex, the number of edges, and the reason.
    pub left_open: Vec<(u32, u32, LeftOpen)>,
    /// `[face, neighbour]` pairs: new faces along a crack of zero width. Each became the second
    /// half of the neighbour on its long side, which was cut where the other border of the crack
    /// has a vertex.
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
        // A border along a single shell may be its outline; one along several is a gap between
        // them.
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
        // Decide whether this border is filled.
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
        // Fill it with a least-area patch if there is one, else with a cone over the centroid.
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

/// Returns the area of every component \[m²\].
fn areas(mesh: &TriangleMesh, components: &Components) -> Vec<f64> {
    let mut areas = vec![0.0; components.count];
    for (face, &component) in components.of_face.iter().enumerate() {
        if component != Components::NONE {
            areas[component as usize] += mesh.triangle(face).area();
        }
    }
    areas
}

/// A run of open edges, in the direction that a patch must have.
struct Border {
    vertices: Vec<u32>,
    /// Faces beside the border, one per edge.
    faces: Vec<u32>,
    closed: bool,
}

impl Border {
    /// Returns whether filling the border would only cover the back of one face.
    fn is_a_single_face(&self) -> bool {
        self.faces.len() == 3 && self.faces.iter().all(|&face| face == self.faces[0])
    }
}

/// An open edge, directed against the face beside it, as a patch runs along it.
#[derive(Clone, Copy)]
struct Step {
    from: u32,
    to: u32,
    face: u32,
    /// Fans of faces that the edge borders at its ends.
    fan_at_from: u32,
    fan_at_to: u32,
}

/// Splits the open edges into loops that visit no vertex twice; runs that do not close are returned
/// as open borders.
fn borders(vertices: &[DVec3], topology: &Topology) -> Vec<Border> {
    let mut steps = steps(topology);
    // Unused steps from vertex v: next[v]..end[v].
    let mut next = vec![0usize; vertices.len()];
    let mut end = vec![0usize; vertices.len()];
    for (index, step) in steps.iter().enumerate() {
        if end[step.from as usize] == 0 {
            next[step.from as usize] = index;
        }
        end[step.from as usize] = index + 1;
    }

    // Walk along unused steps; whenever the path returns to one of its vertices, cut off a loop.
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

/// Returns the step with which the border continues. Where fans of faces touch in a vertex, a hole
/// lies between two of them: continue along a fan other than that of the last step, with the
/// sharpest turn if there are several.
fn best_turn(vertices: &[DVec3], last: &Step, ahead: &[Step]) -> usize {
    // A vertex with more fans is noise; comparing them all would be quadratic.
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

/// Returns triangles over the rim of least total price, as indices into it. `None` for long rims,
/// or where every patch would reuse an edge that is `taken`.
fn least_area(rim: &[DVec3], taken: impl Fn(usize, usize) -> bool) -> Option<Vec<[usize; 3]>> {
    let n = rim.len();
    if n > SMALL_LOOP {
        return None;
    }
    // cost[i][j]: cost of the best patch between the chord i–j and the rim from i to j.
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
    // Follow the best splits back from the whole rim.
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
    // A flatter triangle is a needle that rounding may flip: used only where nothing else fits, as
    // in a crack of zero width.
    if area <= 1e-9 * longest_squared {
        return 1e3 * longest_squared;
    }
    // Tuned: among patches of equal area (a flat hole) the compact one wins; a larger weight would
    // prefer compact faces to small area and bulge over creases.
    area + 0.01 * longest_squared
}
