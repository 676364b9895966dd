//! Bakes a closed mesh into a layered voxmap: surface voxels, layers around them, closest points,
//! stored values.
//!
//! Input: a mesh whose surface is closed.
//! Output: a [`LayeredVoxmap`] with a proven error bound, and its provenance.
//! Cost: one sweep each way over the voxels for the layers, one for the signs; one search per
//! surface voxel, or per voxel.
//! Not for: open surfaces, which have no inside to fill; they are refused.
//!
//! After \[Sagardia2014\], section 2.1.1 (docs/BIBLIOGRAPHY.md). The n-th layer holds the voxels n
//! steps from the nearest surface voxel, where a step goes to any of 26 neighbours: the distance is
//! the largest of |Δi|, |Δj|, |Δk|. With s the side of a voxel, C its centre and d the distance of
//! C from the surface, a voxel in layer n ≥ 1 has
//!
//! ```text
//! (n − ½) s ≤ d ≤ √3 (n + ½) s
//! ```
//!
//! because the nearest surface point lies in a surface voxel n or more steps away, and some surface
//! voxel n steps away holds one. Two neighbours that are not surface voxels lie on the same side:
//! the line between their centres stays in the two, and the surface in neither. So one sweep fills
//! the signs, and computes a distance to the mesh only where it meets a new region.

use crate::geom::place_index;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use glam::{DVec3, IVec3, UVec3};

use crate::bake::baked::{BakeReport, Baked};
use crate::bake::check;
use crate::bake::dense::estimated_memory;
use crate::bake::error::{BakeError, MemoryError};
use crate::bake::exact_distance::ExactDistance;
use crate::bake::intake::Intake;
use crate::bake::progress::{Progress, Stage, tell};
use crate::bake::settings::SignChoice;
use crate::bake::settings::{BakeSettings, Resolution};
use crate::bake::voxel::voxelise::surface_voxels;
use crate::field::{
    Encoding, GridLayout, LayeredVoxmap, Provenance, Sampling, VoxelValues, VoxmapError,
    error_everywhere, turned, voxel_center,
};
use crate::mesh::TriangleMesh;
use crate::threads;

/// Method that finds the surface point closest to a voxel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosestPoints {
    /// The nearest point, by a search per voxel. Exact.
    Exact,
    /// The closest point of the first surface voxel along the gradient of the layers, as in
    /// \[Sagardia2014\]. Too far by up to `((√3 − 1) n + (√3 + 1) / 2) s` in layer n; never too
    /// near.
    AlongLayers,
}

/// Settings of a voxmap bake. Written as `VoxmapSettings { resolution: …, ..Default::default() }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxmapSettings {
    /// Resolution of the grid; nodes are the corners of voxels.
    pub resolution: Resolution,
    /// Empty voxels around the mesh; at least one.
    pub padding: u32,
    /// Choice of the sign method.
    pub sign: SignChoice,
    /// Method that finds closest points. [`Encoding::Layers`] needs none.
    pub closest: ClosestPoints,
    /// Encoding of the stored values.
    pub encoding: Encoding,
    /// Sampling between centres.
    pub sampling: Sampling,
    /// Memory limit \[bytes\]. A bake that would take more is refused before it starts.
    pub max_memory: u64,
}

impl Default for VoxmapSettings {
    fn default() -> VoxmapSettings {
        let BakeSettings {
            resolution,
            padding,
            sign,
            max_memory,
            ..
        } = BakeSettings::default();
        VoxmapSettings {
            resolution,
            padding,
            sign,
            closest: ClosestPoints::Exact,
            encoding: Encoding::Support,
            sampling: Sampling::Interpolated,
            max_memory,
        }
    }
}

/// Why a mesh cannot be baked into a voxmap.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VoxmapBakeError {
    /// The mesh, the grid or its memory is the cause.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// The values do not fit the encoding.
    #[error(transparent)]
    Voxmap(#[from] VoxmapError),
    /// The surface is open, so it has no inside.
    #[error(
        "the surface is open, so it has no inside to fill with layers; fill its holes with `repair`, or bake a dense grid"
    )]
    OpenSurface,
    /// There is no padding, so the surface would touch the border.
    #[error("a voxmap needs at least one empty voxel around the mesh; use a padding of 1 or more")]
    NoPadding,
}

impl VoxmapBakeError {
    /// Returns whether a limit was hit, rather than the input being bad.
    pub fn is_limit(&self) -> bool {
        matches!(self, VoxmapBakeError::Bake(error) if error.is_limit())
    }
}

/// Bakes a closed mesh into a voxmap. `progress` is called from any thread and may cancel.
pub fn bake_voxmap(
    mesh: &TriangleMesh,
    settings: &VoxmapSettings,
    progress: Progress<'_>,
) -> Result<Baked<LayeredVoxmap>, VoxmapBakeError> {
    crate::bake::exact_distance::check_faces(mesh)?;
    let grid = settings.grid();
    let intake = Intake::of(mesh, grid.cell_size(mesh.bounds()));
    let mut baked = bake_near(&intake.mesh, settings, progress)?;
    intake.note(&mut baked.provenance);
    Ok(baked)
}

impl VoxmapSettings {
    /// Returns the bake settings of the grid whose cells are the voxels.
    fn grid(&self) -> BakeSettings {
        BakeSettings {
            resolution: self.resolution,
            padding: self.padding,
            ..BakeSettings::default()
        }
    }
}

/// Bakes a mesh of valid faces in the frame it is given in; see [`bake_voxmap`].
fn bake_near(
    mesh: &TriangleMesh,
    settings: &VoxmapSettings,
    progress: Progress<'_>,
) -> Result<Baked<LayeredVoxmap>, VoxmapBakeError> {
    let start = Instant::now();
    if settings.padding == 0 {
        return Err(VoxmapBakeError::NoPadding);
    }
    let layout = settings.grid().layout(mesh.bounds())?;
    check_memory(&layout, mesh.faces.len(), settings)?;
    tell(progress, Stage::Preparing, 0, 1)?;
    let exact = ExactDistance::new(mesh, settings.sign)?;
    if !exact.is_closed() {
        return Err(VoxmapBakeError::OpenSurface);
    }
    let surface = surface_voxels(mesh, &layout)?;
    tell(progress, Stage::Signs, 0, 1)?;
    // Layers with signs, then the stored values: layer numbers, or penetrations.
    let layers = Layers::fill(&layout, &surface, &exact)?;
    let rows = Rows::new(&layout, progress);
    let size = f64::from(layout.cell_size);
    let deepest = layers.deepest();
    let (values, largest, at_centers) = if settings.encoding == Encoding::Layers {
        let values = VoxelValues::Layers(layers.numbers);
        (values, deepest * size, layer_error(deepest) * size)
    } else {
        let (penetrations, error) = match settings.closest {
            ClosestPoints::Exact => (layers.exact_penetrations(&exact, &rows)?, 0.0),
            ClosestPoints::AlongLayers => layers.penetrations_along(&surface, &exact, &rows)?,
        };
        let largest = penetrations
            .iter()
            .fold(0.0f64, |most, p| most.max(p.abs()));
        let values = VoxelValues::encode(settings.encoding, layout.cell_size, penetrations)?;
        let at_centers = error + settings.encoding.error(layout.cell_size);
        (values, largest, at_centers)
    };
    // Bound and measure the error.
    let error_bound = error_everywhere(&layout, largest, at_centers);
    let solid = check::solid(mesh.bounds());
    let field = LayeredVoxmap::new(layout, values, settings.sampling, solid, error_bound)?;
    tell(progress, Stage::Checking, 0, 1)?;
    let measured_error = check::measured_error(
        &field,
        layout.cell_size,
        |points| exact.distance_many(points),
        mesh,
    );
    Ok(Baked {
        field,
        provenance: Provenance {
            sign_method: exact.sign_method(),
            measured_error,
            conservative: false,
            origin: DVec3::ZERO,
            doubtful_cells: Vec::new(),
            notes: exact.notes().to_vec(),
        },
        report: BakeReport {
            time: start.elapsed(),
            cross_checked: 0,
            disagreements: 0,
        },
    })
}

/// Progress of the rows of voxels whose distances are computed.
struct Rows<'a> {
    progress: Progress<'a>,
    done: AtomicU64,
    total: u64,
}

impl Rows<'_> {
    fn new<'a>(layout: &GridLayout, progress: Progress<'a>) -> Rows<'a> {
        let cells = layout.cells();
        Rows {
            progress,
            done: AtomicU64::new(0),
            total: u64::from(cells.y) * u64::from(cells.z),
        }
    }

    /// Reports one more finished row; fails when cancelled.
    fn step(&self) -> Result<(), BakeError> {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        // Once cancelled, the remaining rows are skipped.
        let told = tell(
            self.progress,
            Stage::Distances,
            done.min(self.total),
            self.total,
        );
        if told.is_err() {
            self.done.fetch_add(self.total, Ordering::Relaxed);
        }
        told
    }

    fn is_cancelled(&self) -> bool {
        self.done.load(Ordering::Relaxed) > self.total
    }
}

/// Refuses a bake whose layers, distances in `f64`, stored values and mesh take too much memory.
fn check_memory(
    layout: &GridLayout,
    faces: usize,
    settings: &VoxmapSettings,
) -> Result<(), BakeError> {
    let a_voxel = match settings.encoding {
        Encoding::Layers => 2,
        encoding => 2 + 8 + encoding.bytes(),
    };
    let voxels = layout.node_count().saturating_mul(a_voxel);
    let needed = voxels.saturating_add(estimated_memory(layout, faces, &BakeSettings::default()));
    if needed <= settings.max_memory {
        return Ok(());
    }
    let shrink = (settings.max_memory as f64 / needed as f64).cbrt();
    Err(MemoryError::TooMuchMemory {
        nodes: layout.nodes,
        needed,
        allowed: settings.max_memory,
        fitting: (shrink * f64::from(layout.nodes.max_element())) as u32,
    }
    .into())
}

/// Returns the error of `n` voxels as the distance of a voxel in layer n \[voxels\]: √3
/// (n + ½) − n.
fn layer_error(deepest: f64) -> f64 {
    3f64.sqrt() * (deepest + 0.5) - deepest
}

/// Layer of every voxel: 0 at the surface, positive inside, negative outside.
struct Layers {
    layout: GridLayout,
    numbers: Vec<i16>,
}

/// A surface voxel with the surface point nearest to its centre.
#[derive(Clone, Copy)]
struct Anchor {
    voxel: usize,
    closest: DVec3,
    penetration: f64,
}

impl Layers {
    fn fill(
        layout: &GridLayout,
        surface: &[usize],
        exact: &ExactDistance,
    ) -> Result<Layers, VoxmapBakeError> {
        let size = layout.cells();
        let mut numbers = steps_to(size, surface);
        if numbers.contains(&i16::MAX) {
            let layers = f64::from(size.max_element());
            return Err(VoxmapError::TooManyLayers { layers }.into());
        }
        for index in 0..numbers.len() {
            if numbers[index] == 0 {
                continue;
            }
            let voxel = place(size, index);
            let known = earlier(size, voxel).find(|&before| numbers[before] != 0);
            let inside = match known {
                Some(before) => numbers[before] > 0,
                None => exact.distance(voxel_center(layout, voxel)) < 0.0,
            };
            if !inside {
                numbers[index] = -numbers[index];
            }
        }
        Ok(Layers {
            layout: *layout,
            numbers,
        })
    }

    fn deepest(&self) -> f64 {
        let most = self.numbers.iter().map(|n| n.unsigned_abs()).max();
        f64::from(most.unwrap_or(0))
    }

    /// Returns the number of steps to the nearest surface voxel.
    fn steps(&self, voxel: UVec3) -> u16 {
        self.numbers[place_index(self.layout.cells(), voxel)].unsigned_abs()
    }

    fn center(&self, index: usize) -> DVec3 {
        voxel_center(&self.layout, place(self.layout.cells(), index))
    }

    /// Computes penetrations by one search per voxel \[m\].
    fn exact_penetrations(
        &self,
        exact: &ExactDistance,
        rows: &Rows<'_>,
    ) -> Result<Vec<f64>, BakeError> {
        let mut penetrations = vec![0.0; self.numbers.len()];
        let row = self.layout.cells().x as usize;
        let steps = threads::map_pieces(&mut penetrations, row, |piece, values| {
            if rows.is_cancelled() {
                return Err(BakeError::Cancelled);
            }
            let mut hint = 0;
            for (x, value) in values.iter_mut().enumerate() {
                let index = piece * row + x;
                let center = self.center(index);
                let nearest = exact.nearest(center, hint);
                hint = nearest.face;
                let inside = match self.numbers[index] {
                    0 => exact.plan().at(center, &nearest).inside,
                    layer => layer > 0,
                };
                *value = signed(nearest.distance_squared.sqrt(), inside);
            }
            rows.step()
        });
        steps.into_iter().collect::<Result<(), BakeError>>()?;
        Ok(penetrations)
    }

    /// Computes penetrations from the closest points of surface voxels, found along the layers.
    /// Also returns their largest error \[m\].
    fn penetrations_along(
        &self,
        surface: &[usize],
        exact: &ExactDistance,
        rows: &Rows<'_>,
    ) -> Result<(Vec<f64>, f64), BakeError> {
        let anchors = self.anchors(surface, exact);
        let size = f64::from(self.layout.cell_size);
        let mut penetrations = vec![0.0; self.numbers.len()];
        let row = self.layout.cells().x as usize;
        let errors = threads::map_pieces(&mut penetrations, row, |piece, values| {
            if rows.is_cancelled() {
                return Err(BakeError::Cancelled);
            }
            let mut worst = 0.0f64;
            for (x, value) in values.iter_mut().enumerate() {
                let index = piece * row + x;
                let layer = self.numbers[index];
                if layer == 0 {
                    *value = anchor_of(&anchors, index).penetration;
                    continue;
                }
                let distance = self.distance_along(index, &anchors);
                let least = (f64::from(layer.unsigned_abs()) - 0.5) * size;
                worst = worst.max(distance - least);
                *value = signed(distance, layer > 0);
            }
            rows.step().map(|()| worst)
        });
        let errors = errors
            .into_iter()
            .collect::<Result<Vec<f64>, BakeError>>()?;
        Ok((penetrations, errors.into_iter().fold(0.0, f64::max)))
    }

    fn anchors(&self, surface: &[usize], exact: &ExactDistance) -> Vec<Anchor> {
        let mut anchors: Vec<Anchor> = surface
            .iter()
            .map(|&voxel| Anchor {
                voxel,
                closest: DVec3::ZERO,
                penetration: 0.0,
            })
            .collect();
        /// Long enough to share hints, short enough to spread over all cores.
        const PIECE: usize = 256;
        threads::map_pieces(&mut anchors, PIECE, |_, piece| {
            let mut hint = 0;
            for anchor in piece {
                let center = self.center(anchor.voxel);
                let nearest = exact.nearest(center, hint);
                hint = nearest.face;
                let inside = exact.plan().at(center, &nearest).inside;
                anchor.closest = nearest.closest.point;
                anchor.penetration = signed(nearest.distance_squared.sqrt(), inside);
            }
        });
        anchors
    }

    /// Returns the distance to the closest point of the surface voxel that the layers lead to
    /// \[m\].
    fn distance_along(&self, index: usize, anchors: &[Anchor]) -> f64 {
        let center = self.center(index);
        let voxel = place(self.layout.cells(), index);
        let to = |index: usize| anchor_of(anchors, index).closest.distance(center);
        // The distance that stepping down the layers is sure to reach. A straight line that misses
        // the surface nearby can do worse.
        let most =
            3f64.sqrt() * (f64::from(self.steps(voxel)) + 0.5) * f64::from(self.layout.cell_size);
        match self.along_gradient(voxel).map(to) {
            Some(distance) if distance <= most => distance,
            _ => to(self.down_the_layers(voxel)),
        }
    }

    /// Returns the first surface voxel along the gradient of the layers at `start`; `None` when the
    /// gradient is zero, or when the line leaves the grid.
    fn along_gradient(&self, start: UVec3) -> Option<usize> {
        let size = self.layout.cells();
        let fall = |axis: usize| {
            let (mut ahead, mut behind) = (start, start);
            ahead[axis] = (start[axis] + 1).min(size[axis] - 1);
            behind[axis] = start[axis].saturating_sub(1);
            f64::from(self.steps(behind)) - f64::from(self.steps(ahead))
        };
        let direction = DVec3::new(fall(0), fall(1), fall(2));
        if direction == DVec3::ZERO {
            return None;
        }
        // Traverse voxel by voxel. Per axis: where the line next leaves a voxel, and the step from
        // there to the following one.
        let between = direction.abs().recip();
        let mut next = 0.5 * between;
        let mut voxel = start;
        while self.steps(voxel) != 0 {
            let axis = (0..3).fold(
                0,
                |best, axis| if next[axis] < next[best] { axis } else { best },
            );
            let moved = if direction[axis] > 0.0 {
                voxel[axis].checked_add(1)
            } else {
                voxel[axis].checked_sub(1)
            };
            voxel[axis] = moved.filter(|&along| along < size[axis])?;
            next[axis] += between[axis];
        }
        Some(place_index(size, voxel))
    }

    /// Returns a surface voxel as many steps away as the layer number: each step goes one layer
    /// down.
    fn down_the_layers(&self, start: UVec3) -> usize {
        let size = self.layout.cells();
        let mut voxel = start;
        while self.steps(voxel) != 0 {
            let below = self.steps(voxel) - 1;
            // The straightest step: to a face before an edge before a corner.
            let next = neighbours(size, voxel)
                .filter(|&other| self.steps(other) == below)
                .min_by_key(|other| other.as_ivec3().distance_squared(voxel.as_ivec3()));
            match next {
                Some(next) => voxel = next,
                None => break,
            }
        }
        place_index(size, voxel)
    }
}

fn signed(distance: f64, inside: bool) -> f64 {
    turned(if inside { -distance } else { distance })
}

fn anchor_of(anchors: &[Anchor], voxel: usize) -> Anchor {
    let place = anchors.partition_point(|anchor| anchor.voxel < voxel);
    anchors[place.min(anchors.len() - 1)]
}

/// Returns the steps from every voxel to the nearest of `surface`, each to one of 26 neighbours;
/// `i16::MAX` when there are too many.
///
/// One sweep propagates from earlier voxels, one back from later ones. In this metric that is
/// exact: a shortest path can be walked in an order in which no step turns from one kind to the
/// other more than once.
fn steps_to(size: UVec3, surface: &[usize]) -> Vec<i16> {
    let count = size.to_array().map(|n| n as usize).into_iter().product();
    let mut steps = vec![i16::MAX; count];
    for &voxel in surface {
        steps[voxel] = 0;
    }
    for index in 0..count {
        let voxel = place(size, index);
        let least = earlier(size, voxel).map(|before| steps[before]).min();
        let through = least.unwrap_or(i16::MAX).saturating_add(1);
        steps[index] = steps[index].min(through);
    }
    for index in (0..count).rev() {
        let voxel = place(size, index);
        let least = later(size, voxel).map(|after| steps[after]).min();
        let through = least.unwrap_or(i16::MAX).saturating_add(1);
        steps[index] = steps[index].min(through);
    }
    steps
}

fn place(size: UVec3, index: usize) -> UVec3 {
    let [nx, ny, _] = size.to_array().map(|n| n as usize);
    UVec3::new(
        (index % nx) as u32,
        (index / nx % ny) as u32,
        (index / nx / ny) as u32,
    )
}

/// Returns the neighbour at index `code` of the 3 × 3 × 3 cube around a voxel; 13 is the voxel
/// itself.
fn neighbour(size: UVec3, voxel: UVec3, code: i32) -> Option<UVec3> {
    let offset = IVec3::new(code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1);
    let other = voxel.checked_add_signed(offset)?;
    other.cmplt(size).all().then_some(other)
}

fn neighbours(size: UVec3, voxel: UVec3) -> impl Iterator<Item = UVec3> {
    (0..27)
        .filter(|&code| code != 13)
        .filter_map(move |code| neighbour(size, voxel, code))
}

/// Returns the neighbours before a voxel in the order of indices, the nearest in that order first.
fn earlier(size: UVec3, voxel: UVec3) -> impl Iterator<Item = usize> {
    (0..13)
        .rev()
        .filter_map(move |code| neighbour(size, voxel, code))
        .map(move |other| place_index(size, other))
}

/// Returns the neighbours after a voxel in the order of indices.
fn later(size: UVec3, voxel: UVec3) -> impl Iterator<Item = usize> {
    (14..27)
        .filter_map(move |code| neighbour(size, voxel, code))
        .map(move |other| place_index(size, other))
}
