//! Makes a field of distances computed elsewhere, so that any grid can be a solid to collide with.
//!
//! Input: values at the nodes of a grid, and a [`Promise`] of how exact they are.
//! Output: a [`DenseGrid`] whose error bound follows from the promise, and its [`Provenance`]; or
//! the places where the values break the promise.
//! Cost: two passes over the values.
//! Not for: proving the promise; only contradictions to it are found.
//!
//! A distance changes by at most the length of a step. So neighbours whose values differ by more
//! than their distance h and both errors, |φ − φ′| > h + 2 e, are not distances of that exactness,
//! and are refused. A node on the border that is inside is refused as well: nothing is known of the
//! solid beyond the border, and a field promises that there is none.

use glam::UVec3;

use crate::bake::check;
use crate::field::{DenseGrid, GridError, GridLayout, Provenance, SignMethod};
use crate::geom::{Aabb, DAabb, places};

/// Promised exactness of given distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Promise {
    /// Largest error of the values interpolated between nodes in `f32` \[m\].
    ErrorBound(f64),
    /// Largest error at the nodes \[m\]. Between them, half the diagonal of a cell and rounding are
    /// added.
    NodeError(f64),
}

/// Distances computed elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// Grid of the nodes.
    pub layout: GridLayout,
    /// Signed distances, x fastest, negative inside \[m\].
    pub values: Vec<f32>,
    /// AABB that holds the surface \[m\]; found from the values if `None`.
    pub solid: Option<Aabb>,
    /// Promised exactness of the values.
    pub promise: Promise,
    /// Error from rounding nodes and values to `f32`, which is added to the promised error \[m\].
    pub rounded: f64,
}

/// Why given distances cannot be made into a field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GivenError {
    /// Layout and values do not form a grid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The promised error is negative or not finite.
    #[error("an error of {0} m promises nothing; it must be finite and not negative")]
    BadPromise(f64),
    /// Neighbours differ by more than distances can.
    #[error(
        "{count} pairs of neighbouring nodes differ by more than the {most:e} m that distances of this exactness can; the first: {low:e} m at node \
         {} and {high:e} m at node {}. Are the values distances in the unit of the cell size? If they are only that rough, promise less", at(*node), at(*next)
    )]
    TooSteep {
        /// Number of such pairs.
        count: u64,
        /// First node of the first pair.
        node: UVec3,
        /// Its neighbour.
        next: UVec3,
        /// Value at the node \[m\].
        low: f32,
        /// Value at the neighbour \[m\].
        high: f32,
        /// Largest allowed difference \[m\].
        most: f32,
    },
    /// The solid reaches beyond the border.
    #[error(
        "{count} nodes of the border are inside the solid or, by the error that is promised, may be, the deepest with {value:e} m at node {}; beyond the \
         border nothing would be known of it. Give a grid that holds all of the solid, with a cell or two to spare, or a box that holds it (`solid`)", at(*node)
    )]
    LeavesGrid {
        /// Number of such nodes.
        count: u64,
        /// Deepest such node.
        node: UVec3,
        /// Distance at that node \[m\].
        value: f32,
    },
    /// The given box does not hold the surface.
    #[error(
        "node {} is inside ({value:e} m), but lies outside the box that should hold the surface; leave the box out, or give the right one", at(*node)
    )]
    BadSolid {
        /// First node inside the solid but outside the box.
        node: UVec3,
        /// Value at that node \[m\].
        value: f32,
    },
}

fn at(node: UVec3) -> String {
    format!("({}, {}, {})", node.x, node.y, node.z)
}

/// Makes a field of given distances.
pub fn given_grid(given: Given) -> Result<(DenseGrid, Provenance), GivenError> {
    let Given {
        layout,
        values,
        solid,
        promise,
        rounded,
    } = given;
    let (Promise::ErrorBound(promised) | Promise::NodeError(promised)) = promise;
    if !(promised >= 0.0 && promised.is_finite() && rounded >= 0.0 && rounded.is_finite()) {
        return Err(GivenError::BadPromise(promised));
    }
    // Checks layout and values before anything is made of them.
    let grid = DenseGrid::new(layout, values, Aabb::EMPTY, 0.0)?;
    let values = grid.values();
    let node_error = promised + rounded;
    let half_diagonal = check::half_diagonal(&layout);
    let largest = values.iter().fold(0.0f32, |most, v| most.max(v.abs()));
    let error_bound = match promise {
        Promise::ErrorBound(_) => node_error,
        Promise::NodeError(_) => {
            node_error + half_diagonal + check::rounding(&layout, largest.into())
        }
    };
    // A bound that is exact in `f32` stays as it is.
    let error_bound = match error_bound as f32 {
        bound if f64::from(bound) < error_bound => bound.next_up(),
        bound => bound,
    };
    // Check the values against the promise, the border and the box.
    let slack = (2.0 * node_error) as f32;
    let torn = check_steps(&layout, values, largest, slack)?;
    // Without a box around the surface, only the values can show that it stays within the grid.
    let border = solid.map_or(error_bound, |_| 0.0);
    check_border(&layout, values, border)?;
    let solid = match solid {
        Some(solid) => check_solid(&layout, values, node_error as f32, solid)?,
        None => surface_box(&layout, values, error_bound),
    };
    let mut notes = vec![
        "the distances were given, not baked: error and signs are as they were promised, and nothing was measured".to_owned(),
    ];
    if torn > 0 {
        notes.push(format!(
            "{torn} pairs of neighbouring nodes differ by more than their distance, by no more than their error: slopes there exceed 1"
        ));
    }
    let (layout, values) = (*grid.layout(), grid.into_values());
    let grid = DenseGrid::new(layout, values, solid, error_bound)?;
    Ok((
        grid,
        Provenance {
            sign_method: SignMethod::Given,
            measured_error: error_bound,
            conservative: false,
            origin: glam::DVec3::ZERO,
            doubtful_cells: Vec::new(),
            notes,
        },
    ))
}

/// Refuses neighbours that differ by more than their distance and `slack`. Returns the number of
/// pairs that differ by more than their distance.
fn check_steps(
    layout: &GridLayout,
    values: &[f32],
    largest: f32,
    slack: f32,
) -> Result<u64, GivenError> {
    // Includes the rounding of the values and of their difference.
    let own = layout.cell_size + 1e-5 * layout.cell_size + 4.0 * f32::EPSILON * largest;
    let most = own + slack * (1.0 + 1e-6);
    let (mut torn, mut broken) = (0, 0);
    let mut first = None;
    for node in places(UVec3::ZERO, layout.cells()) {
        let low = values[layout.node_index(node)];
        for step in [UVec3::X, UVec3::Y, UVec3::Z] {
            let next = node + step;
            if next.cmpge(layout.nodes).any() {
                continue;
            }
            let high = values[layout.node_index(next)];
            let difference = (high - low).abs();
            torn += u64::from(difference > own);
            if difference > most {
                broken += 1;
                first.get_or_insert((node, next, low, high));
            }
        }
    }
    match first {
        None => Ok(torn),
        Some((node, next, low, high)) => Err(GivenError::TooSteep {
            count: broken,
            node,
            next,
            low,
            high,
            most,
        }),
    }
}

/// Refuses negative values at the border, and values of at most `least` if that is positive.
fn check_border(layout: &GridLayout, values: &[f32], least: f32) -> Result<(), GivenError> {
    let last = layout.cells();
    let is_border = |node: &UVec3| node.cmpeq(UVec3::ZERO).any() || node.cmpeq(last).any();
    let mut deepest: Option<(UVec3, f32)> = None;
    let mut count = 0;
    for node in places(UVec3::ZERO, last).filter(is_border) {
        let value = values[layout.node_index(node)];
        if value < 0.0 || (least > 0.0 && value <= least) {
            count += 1;
            if deepest.is_none_or(|(_, known)| value < known) {
                deepest = Some((node, value));
            }
        }
    }
    match deepest {
        None => Ok(()),
        Some((node, value)) => Err(GivenError::LeavesGrid { count, node, value }),
    }
}

fn check_solid(
    layout: &GridLayout,
    values: &[f32],
    node_error: f32,
    solid: Aabb,
) -> Result<Aabb, GivenError> {
    let is_outside = |node: &UVec3| {
        let is_inside = values[layout.node_index(*node)] < -node_error;
        is_inside && !solid.contains(layout.node_position(*node).as_vec3())
    };
    match places(UVec3::ZERO, layout.cells()).find(is_outside) {
        None => Ok(solid),
        Some(node) => Err(GivenError::BadSolid {
            node,
            value: values[layout.node_index(node)],
        }),
    }
}

/// Returns a box around all cells that the surface can pass. In such a cell the interpolated value
/// is at most the error somewhere, and so is that of a corner.
fn surface_box(layout: &GridLayout, values: &[f32], error_bound: f32) -> Aabb {
    let near = |node: &UVec3| values[layout.node_index(*node)] <= error_bound;
    let (first, last) = places(UVec3::ZERO, layout.cells())
        .filter(near)
        .fold((UVec3::MAX, UVec3::ZERO), |(first, last), node| {
            (first.min(node), last.max(node))
        });
    if first == UVec3::MAX {
        return layout.bounds();
    }
    let first = first.saturating_sub(UVec3::ONE);
    let last = (last + 1).min(layout.cells());
    check::solid(DAabb::new(
        layout.node_position(first),
        layout.node_position(last),
    ))
}
