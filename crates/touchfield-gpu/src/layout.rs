//! How a shape lies in device memory: a header, and the words that its kind of field needs.
//!
//! Input: a [`Shape`].
//! Output: a [`Packed`] shape whose offsets count from its own first word.
//! Cost: one pass over the stored values; Taylor grids grow by a tenth, the rest keep their size.
//! Not for: fields without a form on the device, which are errors.
//!
//! All numbers are words of 32 bits: whole numbers, or the bits of an `f32`. `shaders/fields.wgsl`
//! reads what is written here, by the same names.

use glam::{UVec3, Vec3};
use touchfield::field::{DenseGrid, Field, SparseBlocks, SparseValues, StoredField, TaylorGrid};
use touchfield::geom::Aabb;
use touchfield::pointshell::PointShell;
use touchfield::shape::Shape;

use crate::program;

/// Words of a header.
pub(crate) const HEADER: usize = 48;

/// Places of the header's words.
pub(crate) mod place {
    pub(crate) const KIND: usize = 0;
    pub(crate) const ORIGIN: usize = 1;
    pub(crate) const CELL_SIZE: usize = 4;
    pub(crate) const NODES: usize = 5;
    pub(crate) const BOUNDS: usize = 8;
    pub(crate) const SOLID: usize = 14;
    pub(crate) const ERROR_BOUND: usize = 20;
    /// Offsets of up to five lists. They count from the first word of the shape until the shape is
    /// uploaded, and from the first of all words afterwards.
    pub(crate) const LISTS: usize = 21;
    /// Number of [`LISTS`].
    pub(crate) const LIST_COUNT: usize = 5;
    pub(crate) const BITS: usize = 26;
    /// Side of the smallest cells \[m\]; 0 for closed forms.
    pub(crate) const FINEST: usize = 27;
    /// Offset of the shell's points, six words each: point and normal. Shifted like [`LISTS`].
    pub(crate) const SHELL_POINTS: usize = 28;
    /// Number of points of the shell; 0 if there is none.
    pub(crate) const SHELL_COUNT: usize = 29;
    /// Offset of the shell's spheres, eight words each. Shifted like [`LISTS`].
    pub(crate) const SHELL_TREE: usize = 30;
    /// Number of levels of the spheres.
    pub(crate) const SHELL_LEVELS: usize = 31;
    /// Covering radius of the shell \[m\].
    pub(crate) const COVERING_RADIUS: usize = 32;
    /// Largest distance of a point of the shell from the origin of its frame \[m\].
    pub(crate) const SHELL_REACH: usize = 33;
    /// Slope that the values of the field nowhere exceed between two points of its box; 0 if no
    /// such slope is known.
    pub(crate) const STEEPEST: usize = 34;

    /// Places of all words that are offsets.
    pub(crate) fn offsets() -> impl Iterator<Item = usize> {
        (LISTS..LISTS + LIST_COUNT).chain([SHELL_POINTS, SHELL_TREE])
    }
}

/// Kinds of fields, as the header names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    Dense = 0,
    Taylor = 1,
    Sparse = 2,
    Program = 3,
}

/// Why a field cannot be evaluated on a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoGpuForm {
    /// A field that is code of its own, or has no recipe.
    #[error("the field is given by code; bake it to evaluate it on the GPU")]
    Code,
    /// A voxmap.
    #[error("voxmaps have no form on the GPU; use a dense, Taylor or sparse field")]
    Voxmap,
    /// A composition that is nested too deeply.
    #[error("the composition is {depth} levels deep; a GPU evaluates at most {most}; bake it")]
    TooDeep {
        /// Levels of the composition.
        depth: usize,
        /// Most levels.
        most: usize,
    },
    /// A recipe with measures that no field accepts.
    #[error("the recipe of the field is invalid: {0}")]
    Recipe(String),
    /// More words than an offset can count.
    #[error("the field has more values than 32 bits can count")]
    TooManyValues,
}

/// A shape as words.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    pub(crate) header: [u32; HEADER],
    pub(crate) words: Vec<u32>,
    /// Operations of its program, a bit for each.
    pub(crate) operations: u32,
}

impl Packed {
    pub(crate) fn new(shape: &Shape) -> Result<Packed, NoGpuForm> {
        let mut packed = match shape.as_stored() {
            Some(StoredField::Dense(grid)) => dense(grid),
            Some(StoredField::Taylor(grid)) => taylor(grid),
            Some(StoredField::Sparse(blocks)) => sparse(blocks)?,
            Some(StoredField::Voxmap(_)) => return Err(NoGpuForm::Voxmap),
            None => closed_form(shape)?,
        };
        if let Some(shell) = shape.shell() {
            packed.add_shell(shell)?;
        }
        Ok(packed)
    }

    /// Appends the points of a shell and their spheres. The representatives of spheres stay on the
    /// CPU: no kernel replaces points by fewer.
    fn add_shell(&mut self, shell: &PointShell) -> Result<(), NoGpuForm> {
        let (points, nodes) = (shell.points(), shell.tree().nodes());
        let more = 6 * points.len() as u64 + 8 * nodes.len() as u64;
        if self.words.len() as u64 + more > u64::from(u32::MAX) {
            return Err(NoGpuForm::TooManyValues);
        }
        self.header[place::SHELL_POINTS] = self.words.len() as u32;
        self.header[place::SHELL_COUNT] = points.len() as u32;
        self.header[place::SHELL_LEVELS] = shell.tree().level_count() as u32;
        self.header[place::COVERING_RADIUS] = shell.covering_radius().to_bits();
        let reach = points.iter().map(|point| point.length());
        self.header[place::SHELL_REACH] = reach.fold(0.0, f32::max).to_bits();
        for (point, normal) in points.iter().zip(shell.normals()) {
            self.push_floats(point.to_array());
            self.push_floats(normal.to_array());
        }
        self.header[place::SHELL_TREE] = self.words.len() as u32;
        for node in nodes {
            self.push_floats(node.center.to_array());
            self.push_floats([node.radius]);
            let counts = [node.first_point, node.point_count, node.first_child];
            self.words.extend(counts);
            self.words.push(node.child_count);
        }
        Ok(())
    }

    fn empty(kind: Kind, bounds: Aabb, solid: Aabb, error_bound: f32) -> Packed {
        let mut packed = Packed {
            header: [0; HEADER],
            words: Vec::new(),
            operations: 0,
        };
        packed.header[place::KIND] = kind as u32;
        packed.set_vector(place::BOUNDS, bounds.min);
        packed.set_vector(place::BOUNDS + 3, bounds.max);
        packed.set_vector(place::SOLID, solid.min);
        packed.set_vector(place::SOLID + 3, solid.max);
        packed.header[place::ERROR_BOUND] = error_bound.to_bits();
        packed
    }

    fn set_vector(&mut self, at: usize, vector: Vec3) {
        for (word, number) in self.header[at..at + 3].iter_mut().zip(vector.to_array()) {
            *word = number.to_bits();
        }
    }

    fn set_grid(&mut self, origin: Vec3, cell_size: f32, nodes: UVec3) {
        self.set_vector(place::ORIGIN, origin);
        self.header[place::CELL_SIZE] = cell_size.to_bits();
        self.header[place::NODES..place::NODES + 3].copy_from_slice(&nodes.to_array());
        self.header[place::FINEST] = cell_size.to_bits();
    }

    /// Begins a list: its offset is that of the next word.
    fn begin_list(&mut self, list: usize) {
        self.header[place::LISTS + list] = self.words.len() as u32;
    }

    fn push_floats(&mut self, values: impl IntoIterator<Item = f32>) {
        self.words.extend(values.into_iter().map(f32::to_bits));
    }
}

fn dense(grid: &DenseGrid) -> Packed {
    let layout = grid.layout();
    let mut packed = Packed::empty(Kind::Dense, grid.bounds(), grid.solid(), grid.error_bound());
    packed.set_grid(layout.origin, layout.cell_size, layout.nodes);
    packed.push_floats(grid.values().iter().copied());
    packed.header[place::STEEPEST] = steepest(grid).to_bits();
    packed
}

/// Returns a bound of the slope of a grid's interpolant. Inside a cell each component of the
/// gradient is a mean of the slopes of four edges, so its square is at most that of the steepest.
fn steepest(grid: &DenseGrid) -> f32 {
    let layout = grid.layout();
    let [x, y, z] = layout.nodes.to_array().map(|count| count as usize);
    let values = grid.values();
    let mut most = 0.0f32;
    for k in 0..z.saturating_sub(1) {
        for j in 0..y.saturating_sub(1) {
            let first = (k * y + j) * x;
            for i in first..first + x.saturating_sub(1) {
                // The four edges of the cell along an axis begin at these nodes.
                let along = |step: usize, p: usize, q: usize| {
                    [i, i + p, i + q, i + p + q]
                        .map(|at| (values[at + step] - values[at]).powi(2))
                        .into_iter()
                        .fold(0.0, f32::max)
                };
                let (row, plane) = (x, x * y);
                let squared = along(1, row, plane) + along(row, 1, plane) + along(plane, 1, row);
                most = most.max(squared);
            }
        }
    }
    // Rounded up: some operations are off by half a unit in the last place each, and so is the
    // interpolation on the device.
    most.sqrt() / layout.cell_size * (1.0 + 32.0 * f32::EPSILON)
}

/// Lists: residuals, two words per node; coarse nodes, four words each.
fn taylor(grid: &TaylorGrid) -> Packed {
    let layout = grid.layout();
    let mut packed = Packed::empty(
        Kind::Taylor,
        grid.bounds(),
        grid.solid(),
        grid.error_bound(),
    );
    packed.set_grid(layout.origin, layout.cell_size, layout.nodes);
    let pair = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
    packed.words.reserve(2 * layout.node_count() as usize);
    for [x, y, z, distance] in grid.nodes() {
        packed.words.push(pair(x, y));
        packed.words.push(pair(z, distance));
    }
    packed.begin_list(1);
    packed.push_floats(grid.coarse().iter().flatten().copied());
    packed
}

/// Words of a block in its list.
const BLOCK_WORDS: usize = 5;

/// Lists: coarse nodes; the block of each coarse cell; blocks; blocks of blocks; values.
fn sparse(blocks: &SparseBlocks) -> Result<Packed, NoGpuForm> {
    let (layout, parts) = (blocks.layout(), blocks.parts());
    let mut packed = Packed::empty(
        Kind::Sparse,
        blocks.bounds(),
        blocks.solid(),
        blocks.error_bound(),
    );
    packed.set_grid(layout.origin, layout.cell_size, layout.nodes);
    packed.header[place::FINEST] = blocks.finest_cell_size().to_bits();
    packed.header[place::BITS] = parts.values.bits();
    let count = parts.nodes.len()
        + parts.cells.len()
        + BLOCK_WORDS * parts.blocks.len()
        + parts.children.len();
    if count as u64 + parts.values.len() as u64 > u64::from(u32::MAX) {
        return Err(NoGpuForm::TooManyValues);
    }
    packed.push_floats(parts.nodes.iter().copied());
    packed.begin_list(1);
    packed.words.extend_from_slice(&parts.cells);
    packed.begin_list(2);
    for block in &parts.blocks {
        packed.words.extend([
            u32::from(block.cells_log2),
            block.children,
            block.first_value as u32,
            block.lowest.to_bits(),
            block.step.to_bits(),
        ]);
    }
    packed.begin_list(3);
    packed.words.extend_from_slice(&parts.children);
    packed.begin_list(4);
    match &parts.values {
        SparseValues::Bits32(values) => packed.push_floats(values.iter().copied()),
        SparseValues::Bits16(values) => {
            let pairs = values.chunks(2);
            (packed.words).extend(pairs.map(|pair| {
                u32::from(pair[0]) | u32::from(pair.get(1).copied().unwrap_or(0)) << 16
            }));
        }
        SparseValues::Bits8(values) => {
            let fours = values.chunks(4);
            packed.words.extend(fours.map(|four| {
                let bytes = std::array::from_fn(|i| four.get(i).copied().unwrap_or(0));
                u32::from_le_bytes(bytes)
            }));
        }
    }
    Ok(packed)
}

/// Lists: the program.
fn closed_form(shape: &Shape) -> Result<Packed, NoGpuForm> {
    let field = shape.field();
    let recipe = field.recipe().ok_or(NoGpuForm::Code)?;
    let mut packed = Packed::empty(
        Kind::Program,
        field.bounds(),
        shape.solid(),
        field.error_bound(),
    );
    (packed.words, packed.operations) = program::compile(&recipe)?;
    // Distances of closed forms change no faster than points move.
    packed.header[place::STEEPEST] = (1.0 + 32.0 * f32::EPSILON).to_bits();
    Ok(packed)
}
