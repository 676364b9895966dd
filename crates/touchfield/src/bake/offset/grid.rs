//! Signs for any soup of triangles: inside is the region that a ball coming from outside cannot
//! reach.
//!
//! Input: unsigned distances at all nodes of a grid; the radius σ of the ball.
//! Output: φ(x) = max over the nodes n outside of d(n) − |x − n|, at all nodes: positive where a
//! ball reaches, negative within.
//! Cost: some microseconds per node that is not outside; ten bytes per node beside the values.
//! Not for: walls of cavities and solids within solids, which are inside here; grooves narrower
//! than 2σ, which are filled.
//!
//! After \[Xu2014\]: unsigned field, σ-isosurface, inner shells dropped, signed distance to the
//! rest, σ subtracted again. We differ in making no mesh of the isosurface. Outside are the nodes
//! that can be reached from the border of the grid at a distance of more than σ, so inner shells
//! never come up. The signed distance to the offset surface, less σ, is the maximum of d − |x − ·|
//! over the whole outside, and we take it over the nodes there. The consequences are proven in
//! docs/METHODS.md: the solid encloses the mesh, φ is the distance to the mesh itself at every node
//! outside, and it is 1-Lipschitz whatever the mesh, so that no hole tears it.

use crate::bake::settings::OffsetWidth;
use std::time::Instant;

use glam::{DVec3, UVec3};

use crate::bake::baked::assemble;
use crate::bake::baked::{Baked, Outcome};
use crate::bake::blocks::for_each_layer;
use crate::bake::check;
use crate::bake::check::Certainty;
use crate::bake::distance::fill::Distances;
use crate::bake::distance::fill::allocate;
use crate::bake::distance::marks::Marks;
use crate::bake::error::{BakeError, LayoutError, SignError};
use crate::bake::offset::sites::{Best, Sites};
use crate::bake::progress::{Progress, Stage, tell};
use crate::bake::settings::{BakeSettings, DistanceMethod};
use crate::bake::sign::plan as sign;
use crate::field::{GridLayout, SignMethod};
use crate::geom::{DAabb, places};
use crate::mesh::TriangleMesh;
use crate::threads;

/// Memory per node beside its value \[bytes\]: the radius of its ball, its entry in the queue of
/// the flood, and two marks.
pub(crate) const BYTES_PER_NODE: u64 = 10;

/// Distance from the maximum at which the search for the best ball may stop \[cells\]. Small beside
/// half a diagonal, the error of interpolation, and large beside rounding, so that not all tied
/// balls are examined. Eight times as much saves nothing on the armadillo at 128 nodes.
const SLACK: f64 = 1.0 / 256.0;

/// Difference between the radius up to which a gap is surely closed and that from which on a ball
/// surely passes: ½ + (√3 + √2)/2 \[cells\].
const UNSURE: f64 = 2.0732;

/// Bakes a mesh whose faces do not determine signs.
pub(crate) fn bake(
    mesh: &TriangleMesh,
    layout: GridLayout,
    width: OffsetWidth,
    settings: &BakeSettings,
    progress: Progress<'_>,
) -> Result<Baked, BakeError> {
    let start = Instant::now();
    // Refuse what cannot be baked.
    if settings.method == DistanceMethod::BruteForce {
        return Err(SignError::BruteForceSign(SignMethod::Offset.name()).into());
    }
    let nodes = layout.node_count();
    if nodes > u64::from(u32::MAX) {
        return Err(LayoutError::TooManyToNumber { nodes }.into());
    }
    let width = width.checked()?.in_cells(&layout);
    // Unsigned distances of all nodes.
    tell(progress, Stage::Preparing, 0, 1)?;
    let (bvh, mut notes) = sign::without_plan(mesh, layout.bounds().as_daabb());
    let mut values = allocate(layout.node_count() as usize, 0.0)?;
    tell(progress, Stage::Distances, 0, 1)?;
    let distances = Distances {
        bvh: &bvh,
        patches: None,
        layout: &layout,
        bounds: mesh.bounds(),
        progress,
    };
    let node_error = distances.fill(settings.method, &mut values, |_, _| ())?;
    tell(progress, Stage::Signs, 0, 1)?;
    // Signs by the ball.
    let ball = Ball {
        layout: &layout,
        bounds: mesh.bounds(),
        width,
        node_error: node_error / f64::from(layout.cell_size),
    };
    let signed = ball.sign(&mut values, progress)?;
    notes.push(ball.note());
    // Beside a sheet the balls leave bumps of a small part of a cell.
    if values.iter().all(|&value| value >= -0.5 * layout.cell_size) {
        notes.push(
            "no node is deeper inside than half a cell: the surface is that thin, encloses nothing, or has a gap through which the \
             outside comes in (a larger offset width may close it)"
                .to_owned(),
        );
    }
    tell(progress, Stage::Checking, 0, 1)?;
    let error_bound = check::error_bound(
        &layout,
        &values,
        &[],
        &Certainty::Everywhere,
        node_error + signed.node_error,
    );
    let outcome = Outcome {
        values,
        error_bound,
        sign_method: SignMethod::Offset,
        doubtful_nodes: signed.doubtful,
        torn: Vec::new(),
        notes,
        cross_checked: 0,
        disagreements: 0,
    };
    let exact = |points: &[DVec3]| ball.distance_many(&signed.sites, points);
    assemble(mesh, layout, outcome, exact, start)
}

/// A ball that rolls through a grid of distances.
struct Ball<'a> {
    layout: &'a GridLayout,
    /// AABB of the mesh \[m\].
    bounds: DAabb,
    /// σ \[cells\].
    width: f64,
    /// Largest error of the distances \[cells\].
    node_error: f64,
}

/// Data left after signs are computed.
struct Signed {
    sites: Sites,
    /// Largest amount by which values may be below φ \[m\].
    node_error: f64,
    /// Nodes that a ball of half the radius reaches.
    doubtful: Vec<UVec3>,
}

impl Ball<'_> {
    fn cell_size(&self) -> f64 {
        f64::from(self.layout.cell_size)
    }

    fn note(&self) -> String {
        let metres = |cells: f64| cells * self.cell_size();
        format!(
            "inside is what a ball of radius {:.3e} m from outside cannot reach: gaps up to {:.3e} m wide are closed, and grooves filled; \
             those wider than {:.3e} m are open",
            metres(self.width),
            metres(2.0 * self.width),
            metres(2.0 * (self.width + UNSURE)),
        )
    }

    /// Turns unsigned distances into φ.
    fn sign(&self, values: &mut [f32], progress: Progress<'_>) -> Result<Signed, BakeError> {
        // The nodes that the ball reaches, and those that one of half its radius reaches.
        let outside = self.flood(values, self.width, progress)?;
        let narrower = self.flood(values, 0.5 * self.width, progress)?;
        let mut radii = allocate(self.layout.node_count() as usize, f32::NEG_INFINITY)?;
        for (index, radius) in radii.iter_mut().enumerate() {
            if outside.has(index) {
                *radius = (f64::from(values[index]) / self.cell_size()) as f32;
            }
        }
        let largest = radii.iter().copied().fold(0.0, f32::max);
        let sites = Sites::new(self.layout, radii);
        // φ at all other nodes.
        for_each_layer(self.layout, values, Stage::Signs, progress, |layer| {
            let mut hint = None;
            let mut stack = Vec::new();
            for node in layer.blocks().flat_map(|block| block.nodes()) {
                if sites.has(node) {
                    continue;
                }
                let start = self.start(node.as_dvec3(), hint, &sites);
                let best = sites.best(node.as_dvec3(), start, SLACK, &mut stack);
                hint = best.node.or(hint);
                let value = &mut layer.values[layer.slot(node)];
                // Never above the distance, also when rounded.
                *value = value.min((best.value * self.cell_size()) as f32);
            }
        })
        .ok_or(BakeError::Cancelled)?;
        lift(self.layout, &sites, values);
        let deep = |node: &UVec3| {
            let index = self.layout.node_index(*node);
            values[index] < -self.layout.cell_size && narrower.has(index)
        };
        let all = places(UVec3::ZERO, self.layout.nodes - UVec3::ONE);
        Ok(Signed {
            doubtful: all.filter(deep).collect(),
            // Radii are rounded once more than the values.
            node_error: (SLACK + f64::from(f32::EPSILON) * f64::from(largest)) * self.cell_size(),
            sites,
        })
    }

    /// Returns a lower bound of φ to start a search: the half-spaces beside the AABB of the mesh
    /// are outside; and `hint` may be a good node nearby.
    fn start(&self, point: DVec3, hint: Option<UVec3>, sites: &Sites) -> Best {
        let position = self.layout.origin.as_dvec3() + self.cell_size() * point;
        let beside = (self.bounds.min - position).max(position - self.bounds.max);
        let half_space = Best {
            value: beside.max_element() / self.cell_size(),
            node: None,
        };
        match hint.map(|node| sites.about(node, point)) {
            Some(best) if best.value > half_space.value => best,
            _ => half_space,
        }
    }

    /// Computes φ at many points, exactly \[m\].
    fn distance_many(&self, sites: &Sites, points: &[DVec3]) -> Vec<f64> {
        threads::map(points.len(), |index| {
            let place = (points[index] - self.layout.origin.as_dvec3()) / self.cell_size();
            let start = self.start(place, None, sites);
            sites.best(place, start, 0.0, &mut Vec::new()).value * self.cell_size()
        })
    }

    /// Marks the nodes that a ball of this radius \[cells\] can be moved to from outside, along
    /// edges of the grid.
    ///
    /// Along an edge between nodes a and b the distance is nowhere below (d(a) + d(b) − 1)/2. If
    /// that exceeds the radius, the ball passes.
    fn flood(
        &self,
        values: &[f32],
        width: f64,
        progress: Progress<'_>,
    ) -> Result<Marks, BakeError> {
        /// Number of nodes between two progress reports.
        const BREATH: usize = 1 << 20;
        let nodes = self.layout.nodes;
        let sure = |value: f32| {
            let cells = f64::from(value) / self.cell_size();
            cells * (1.0 - 2.0 * f64::from(f32::EPSILON)) - self.node_error
        };
        let mut marks = Marks::new(values.len());
        // Start from nodes outside the AABB, or on the border of the grid.
        let mut queue: Vec<u32> = Vec::new();
        for node in places(UVec3::ZERO, nodes - UVec3::ONE) {
            let index = self.layout.node_index(node);
            let last = nodes - UVec3::ONE;
            let at_border = node.cmpeq(UVec3::ZERO).any() || node.cmpeq(last).any();
            let is_beside = at_border || !self.bounds.contains(self.layout.node_position(node));
            // Straight away from the AABB of the mesh, the distance only grows.
            if is_beside && sure(values[index]) > width && marks.set(index) {
                queue.push(index as u32);
            }
        }
        // Breadth-first flood along the edges that the ball passes.
        let [nx, ny, nz] = nodes.to_array().map(|n| n as usize);
        let mut asked = 0;
        while !queue.is_empty() {
            if queue.len() + asked > BREATH {
                tell(progress, Stage::Signs, 0, 1)?;
                asked = 0;
            }
            asked += queue.len();
            let mut next = Vec::new();
            for &index in &queue {
                let index = index as usize;
                let here = sure(values[index]);
                let (x, y, z) = (index % nx, index / nx % ny, index / nx / ny);
                let mut go = |to: usize| {
                    if here + sure(values[to]) > 2.0 * width + 1.0 && marks.set(to) {
                        next.push(to as u32);
                    }
                };
                let plane = nx * ny;
                for (place, count, stride) in [(x, nx, 1), (y, ny, nx), (z, nz, plane)] {
                    if place > 0 {
                        go(index - stride);
                    }
                    if place + 1 < count {
                        go(index + stride);
                    }
                }
            }
            queue = next;
        }
        Ok(marks)
    }
}

/// Raises values of nodes that are not outside to what their neighbours allow: φ falls by at most
/// one cell from one to the next, and the slack of a search must not tear that. Two passes suffice,
/// because the steps of a shortest path along edges can be put in order.
fn lift(layout: &GridLayout, sites: &Sites, values: &mut [f32]) {
    let [nx, ny, _] = layout.nodes.to_array().map(|n| n as usize);
    let strides = [1, nx, nx * ny];
    let last = layout.nodes - UVec3::ONE;
    let mut raise = |node: UVec3, forward: bool| {
        if sites.has(node) {
            return;
        }
        let index = layout.node_index(node);
        for (axis, stride) in strides.into_iter().enumerate() {
            let neighbour = match forward {
                true if node[axis] > 0 => index - stride,
                false if node[axis] < last[axis] => index + stride,
                _ => continue,
            };
            let allowed = values[neighbour] - layout.cell_size;
            values[index] = values[index].max(allowed);
        }
    };
    for node in places(UVec3::ZERO, last) {
        raise(node, true);
    }
    for node in places(UVec3::ZERO, last) {
        raise(last - node, false);
    }
}
