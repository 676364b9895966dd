//! Properties of every bake: exact nodes, right signs, an error bound that holds.
//!
//! Input: a mesh, settings, a seed, and how much work to spend on the truth.
//! Output: measurements, or the first broken property with the numbers to reproduce it.
//! Cost: as chosen; [`MeshTruth`] costs some 60 ns per face and point.
//! Not for: measuring speed, or deciding what a broken mesh should mean; tests pass the truth in.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "written so that NaN fails"
)]

use std::fmt;

use glam::{DVec3, UVec3, Vec3};
use touchfield::bake::{BakeError, BakeSettings, Baked, ExactDistance, SignChoice, bake};
use touchfield::field::{DenseGrid, Field, GridLayout, Provenance};
use touchfield::geom::{Aabb, DAabb};
use touchfield::mesh::TriangleMesh;

use crate::mesh_truth::{MeshTruth, in_parallel};
use crate::random::Random;

/// Tolerance of node values, and distance from the surface below which signs do not count, in
/// diagonals of the mesh's box.
pub const NODE_TOLERANCE: f64 = 1e-6;

/// Bakes without progress reports.
pub fn bake_quietly(mesh: &TriangleMesh, settings: &BakeSettings) -> Result<Baked, BakeError> {
    bake(mesh, settings)
}

/// Returns the position of a node from its index in the values.
pub fn node_of_index(layout: &GridLayout, index: usize) -> UVec3 {
    let [nx, ny, _] = layout.nodes.to_array().map(|n| n as usize);
    UVec3::new(
        (index % nx) as u32,
        (index / nx % ny) as u32,
        (index / nx / ny) as u32,
    )
}

/// Measurements of a comparison of node values with the truth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExactReport {
    /// Number of nodes or points compared.
    pub compared: usize,
    /// Number of those whose sign counted.
    pub signs: usize,
    /// Number of those inside.
    pub inside: usize,
    /// Worst error in diagonals of the mesh's box.
    pub worst: f64,
}

/// Compares node values with brute force: all of them, or as many as `pairs` of node and face
/// allow, half of them near the surface.
///
/// The mesh must be closed: its winding number is the truth about signs.
pub fn check_exact(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    pairs: usize,
    seed: u64,
) -> Result<ExactReport, String> {
    let baked = bake_quietly(mesh, settings).map_err(|error| format!("not baked: {error}"))?;
    // A mesh far from the origin is baked in a frame of its own. The truth is computed there.
    let mut mesh = mesh.clone();
    mesh.move_to_frame_at(baked.provenance.origin);
    let truth = MeshTruth::of(&mesh);
    let (layout, values) = (baked.field.layout(), baked.field.values());
    let mut random = Random::new(seed);
    let nodes = choose_nodes(layout, values, (pairs / truth.faces()).max(64), &mut random);
    let points: Vec<DVec3> = nodes
        .iter()
        .map(|&i| layout.node_position(node_of_index(layout, i)))
        .collect();
    let found: Vec<f64> = nodes.iter().map(|&i| f64::from(values[i])).collect();
    compare(
        &truth,
        mesh.bounds().diagonal(),
        &points,
        &found,
        &mut random,
    )
}

fn choose_nodes(
    layout: &GridLayout,
    values: &[f32],
    most: usize,
    random: &mut Random,
) -> Vec<usize> {
    if values.len() <= most {
        return (0..values.len()).collect();
    }
    let near: Vec<usize> = (0..values.len())
        .filter(|&i| values[i].abs() < 1.5 * layout.cell_size)
        .collect();
    (0..most)
        .map(|turn| match turn % 2 {
            0 if !near.is_empty() => near[random.below(near.len())],
            _ => random.below(values.len()),
        })
        .collect()
}

/// Compares signed distances with the truth; signs by the winding number, and for some points by
/// the parity of a random ray.
fn compare(
    truth: &MeshTruth,
    diagonal: f64,
    points: &[DVec3],
    found: &[f64],
    random: &mut Random,
) -> Result<ExactReport, String> {
    let tolerance = NODE_TOLERANCE * diagonal;
    let seeds: Vec<u64> = points.iter().map(|_| random.bits()).collect();
    let jobs: Vec<(DVec3, u64)> = points.iter().copied().zip(seeds).collect();
    let truths = in_parallel(&jobs, |&(point, seed)| {
        let parity = seed
            .is_multiple_of(8)
            .then(|| truth.is_odd(point, &mut Random::new(seed)))
            .flatten();
        (truth.distance(point), truth.winding(point), parity)
    });
    let mut report = ExactReport::default();
    for ((&point, &found), &(distance, winding, parity)) in points.iter().zip(found).zip(&truths) {
        let error = (found.abs() - distance).abs();
        // Far away, `f64` itself is coarser than the tolerance.
        let allowed = tolerance + 8.0 * f64::EPSILON * point.abs().max_element();
        if !(error <= allowed) {
            return Err(format!(
                "{found:e} at {point:?}, but the distance is {distance:e} (error {:e} of the diagonal)",
                error / diagonal
            ));
        }
        report.compared += 1;
        report.worst = report.worst.max(error / diagonal);
        if distance <= allowed {
            continue;
        }
        if (winding - winding.round()).abs() > 1e-3 {
            return Err(format!(
                "the truth is no truth: winding number {winding} at {point:?}"
            ));
        }
        if parity.is_some_and(|odd| odd != (winding.round() as i64 % 2 != 0)) {
            return Err(format!(
                "the truth is no truth: winding number {winding}, parity {parity:?} at {point:?}"
            ));
        }
        let inside = winding > 0.5;
        if inside != (found < 0.0) {
            return Err(format!(
                "wrong sign: {found:e} at {point:?}, {:e} diagonals from the surface, where the winding number is {winding}",
                distance / diagonal
            ));
        }
        report.signs += 1;
        report.inside += usize::from(inside);
    }
    Ok(report)
}

/// Compares [`ExactDistance`], one by one and in batches, with brute force: anywhere, far away, and
/// on vertices, edges and faces.
pub fn check_queries(mesh: &TriangleMesh, pairs: usize, seed: u64) -> Result<ExactReport, String> {
    let exact =
        ExactDistance::new(mesh, SignChoice::Auto).map_err(|error| format!("refused: {error}"))?;
    let truth = MeshTruth::of(mesh);
    let bounds = mesh.bounds();
    let mut random = Random::new(seed);
    let count = (pairs / truth.faces()).clamp(64, 20_000);
    let points: Vec<DVec3> = (0..count)
        .map(|turn| query_point(mesh, bounds, turn, &mut random))
        .collect();
    let found = exact.distance_many(&points);
    for (&point, &found) in points.iter().zip(&found) {
        let single = exact.distance(point);
        // Tied faces may differ in the last bits.
        if (single - found).abs() > 1e-12 * (bounds.diagonal() + found.abs()) {
            return Err(format!(
                "one by one {single:e}, in a batch {found:e} at {point:?}"
            ));
        }
    }
    if !exact.distance_many(&[]).is_empty() {
        return Err("no points, but distances".to_owned());
    }
    compare(&truth, bounds.diagonal(), &points, &found, &mut random)
}

fn query_point(mesh: &TriangleMesh, bounds: DAabb, turn: usize, random: &mut Random) -> DVec3 {
    let triangle = mesh.triangle(random.below(mesh.faces.len()));
    let around = bounds.grown(0.5 * bounds.diagonal());
    match turn % 8 {
        0 => random.in_box(bounds.min, bounds.max),
        1 => random.in_box(around.min, around.max),
        2 => {
            bounds.center()
                + random.log_uniform(1.0, 1000.0) * bounds.diagonal() * random.unit_vector()
        }
        3 => triangle.a,
        4 => 0.5 * (triangle.b + triangle.c),
        5 => triangle.centroid(),
        // Exactly above a corner or an edge, or along the normal of a face, where features tie.
        6 => {
            triangle.a
                + random.log_uniform(1e-5, 0.1)
                    * bounds.diagonal()
                    * triangle.normal().unwrap_or(DVec3::Z)
        }
        _ => {
            triangle.centroid()
                + random.log_uniform(1e-5, 0.1) * bounds.diagonal() * random.unit_vector()
        }
    }
}

/// Comparison of the signs of a bake of a broken mesh with those of the original mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct SignReport {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of nodes that are truly inside.
    pub inside: usize,
    /// Number of nodes with the wrong sign.
    pub wrong: usize,
    /// Greatest distance of a wrong node from the true surface, in extents of the mesh.
    pub farthest: f64,
    /// Number of nodes with the wrong sign beyond [`SignReport::TOLERATED`].
    pub wrong_far: usize,
    /// Provenance of the bake.
    pub provenance: Provenance,
}

impl SignReport {
    /// Distance from the surface within which holes may change signs, in extents.
    pub const TOLERATED: f64 = 0.05;
}

impl fmt::Display for SignReport {
    /// Formats one line of figures.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>12} {} of {} nodes wrong ({:.3} %), the farthest {:.2} % of the extent off, {} beyond {} %, {} inside, {} doubtful cells",
            self.provenance.sign_method.name(),
            self.wrong,
            self.nodes,
            100.0 * self.wrong as f64 / self.nodes as f64,
            100.0 * self.farthest,
            self.wrong_far,
            100.0 * SignReport::TOLERATED,
            self.inside,
            self.provenance.doubtful_cells.len(),
        )
    }
}

/// Bakes a broken mesh and compares the signs of all nodes with `truth`, the signed distance to the
/// original mesh.
pub fn compare_signs(
    broken: &TriangleMesh,
    settings: &BakeSettings,
    truth: &dyn Fn(&[DVec3]) -> Vec<f64>,
) -> Result<SignReport, String> {
    let baked = bake_quietly(broken, settings).map_err(|error| format!("not baked: {error}"))?;
    let layout = baked.field.layout();
    let values = baked.field.values();
    let points: Vec<DVec3> = (0..values.len())
        .map(|i| layout.node_position(node_of_index(layout, i)))
        .collect();
    let extent = broken.bounds().extents().max_element();
    let mut report = SignReport {
        nodes: values.len(),
        inside: 0,
        wrong: 0,
        farthest: 0.0,
        wrong_far: 0,
        provenance: baked.provenance,
    };
    for (&value, truth) in values.iter().zip(truth(&points)) {
        report.inside += usize::from(truth < 0.0);
        let off = truth.abs() / extent;
        if (value < 0.0) != (truth < 0.0) && off > NODE_TOLERANCE {
            report.wrong += 1;
            report.farthest = report.farthest.max(off);
            report.wrong_far += usize::from(off > SignReport::TOLERATED);
        }
    }
    Ok(report)
}

/// Measurements of a comparison with an error bound that held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundReport {
    /// Number of points inside the grid.
    pub inside: usize,
    /// Number of points outside it.
    pub outside: usize,
    /// Number of cells.
    pub cells: usize,
    /// Worst error inside, as a share of the promised bound.
    pub worst: f64,
}

/// Checks that values inside the grid are within its bound of the truth, that those outside are at
/// most the truth, and that intervals contain it.
///
/// `truth` returns true signed distances at many points.
pub fn check_bound(
    grid: &DenseGrid,
    truth: &dyn Fn(&[DVec3]) -> Vec<f64>,
    points: usize,
    seed: u64,
) -> Result<BoundReport, String> {
    let mut random = Random::new(seed);
    let bounds = grid.bounds();
    let cell_size = f64::from(grid.layout().cell_size);
    let promised = f64::from(grid.error_bound());
    let solid = grid.solid().as_daabb();
    let mut report = BoundReport::default();
    let mut drawn: Vec<Vec3> = Vec::with_capacity(points);
    let box_around = bounds.as_daabb();
    // Draw points of all kinds.
    for turn in 0..points {
        let point = match turn % 8 {
            // Centres of cells, edges and faces: where interpolation is worst.
            0 => {
                let half = random
                    .in_box(DVec3::ZERO, 2.0 * grid.layout().cells().as_dvec3())
                    .floor();
                box_around.min + 0.5 * cell_size * half
            }
            1 => random.in_box(solid.min, solid.max),
            // Outside: close to the border, a little off, and far away.
            2 => {
                let around =
                    box_around.grown(random.log_uniform(1e-6, 10.0) * box_around.diagonal());
                random.in_box(around.min, around.max)
            }
            3 => {
                let mut point = random.in_box(box_around.min, box_around.max);
                let axis = random.below(3);
                let off = random.log_uniform(1e-7, 1.0) * cell_size;
                point[axis] = if random.below(2) == 0 {
                    box_around.min[axis] - off
                } else {
                    box_around.max[axis] + off
                };
                point
            }
            _ => random.in_box(box_around.min, box_around.max),
        };
        drawn.push(point.as_vec3());
    }
    // Compare with the truth: within the bound inside, never more than the truth outside.
    let exact = truth(&drawn.iter().map(|p| p.as_dvec3()).collect::<Vec<_>>());
    for (&point, &exact) in drawn.iter().zip(&exact) {
        let value = f64::from(grid.distance(point));
        if bounds.contains(point) {
            let error = (value - exact).abs();
            if !(error <= promised) {
                return Err(format!(
                    "error {error:e} of {promised:e} promised: value {value:e}, truth {exact:e} at {point:?} (cell size {cell_size:e})"
                ));
            }
            report.inside += 1;
            report.worst = report.worst.max(error / promised);
        } else {
            if !(value <= exact) {
                return Err(format!(
                    "outside the grid: value {value:e} exceeds the truth {exact:e} by {:e} cells at {point:?}",
                    (value - exact) / cell_size
                ));
            }
            report.outside += 1;
        }
    }
    check_intervals(grid, truth, points / 32, &mut random)?;
    report.cells = points / 32;
    Ok(report)
}

fn check_intervals(
    grid: &DenseGrid,
    truth: &dyn Fn(&[DVec3]) -> Vec<f64>,
    cells: usize,
    random: &mut Random,
) -> Result<(), String> {
    const POINTS: usize = 8;
    let around = grid
        .bounds()
        .as_daabb()
        .grown(2.0 * f64::from(grid.layout().cell_size));
    let (mut boxes, mut points) = (
        Vec::with_capacity(cells),
        Vec::with_capacity(POINTS * cells),
    );
    for _ in 0..cells {
        let center = random.in_box(around.min, around.max);
        let size = random.log_uniform(1e-3, 8.0) * f64::from(grid.layout().cell_size);
        let half = size * random.in_box(DVec3::splat(0.05), DVec3::ONE);
        let cell = Aabb::new((center - half).as_vec3(), (center + half).as_vec3());
        boxes.push(cell);
        let DAabb { min, max } = cell.as_daabb();
        points.extend((0..POINTS).map(|_| random.in_box(min, max)));
    }
    let exact = truth(&points);
    for (index, &cell) in boxes.iter().enumerate() {
        let interval = grid.interval(cell);
        for at in POINTS * index..POINTS * (index + 1) {
            if !(f64::from(interval.lower) <= exact[at] && exact[at] <= f64::from(interval.upper)) {
                return Err(format!(
                    "interval {interval:?} over {cell:?} misses {:e} at {:?}",
                    exact[at], points[at]
                ));
            }
        }
    }
    Ok(())
}
