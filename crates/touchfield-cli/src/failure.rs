//! Why a command failed, and its exit code.

use std::fmt::Display;
use std::path::Path;

use touchfield::bake::pointshell::ShellBakeError;
use touchfield::bake::{
    BakeError, BakeSettings, ConvertError, FieldBakeError, IsosurfaceError, LayoutError,
    MemoryError, MeshError, Resolution, SparseBakeError, UpdateError, VoxmapBakeError,
};
use touchfield::field::GridError;
use touchfield::field::file::{Cause as FileCause, FileError};
use touchfield::mesh::read::{Cause, ReadError};
use touchfield::open::ShapeError;

use crate::picture::{RenderError, SheetError, SliceError, WritePngError};
use crate::report::{self, Answer};

/// The failure of a command. The message names file, place, cause and way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The input or its use is at fault: exit code 2.
    BadInput(String),
    /// A limit was hit: exit code 3.
    Limit(String),
    /// There is contact, and `--fail-on-contact` makes that a failure: exit code 1. The answer is
    /// still printed.
    Contact(Box<Answer>),
    /// Two methods gave different answers, which is a fault of Touchfield: exit code 4.
    Disagreement(String),
    /// Termination was requested: exit code 130.
    Cancelled,
}

impl Failure {
    /// Creates the failure of a file.
    pub(crate) fn in_file(path: &Path, cause: impl Display) -> Failure {
        Failure::BadInput(format!("{}: {cause}", path.display()))
    }

    /// Returns the exit code of the process.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Contact(_) => 1,
            Failure::BadInput(_) => 2,
            Failure::Limit(_) => 3,
            Failure::Disagreement(_) => 4,
            // The exit code of a shell after SIGINT.
            Failure::Cancelled => 130,
        }
    }

    /// Returns the message for the user.
    pub(crate) fn message(&self) -> &str {
        match self {
            Failure::BadInput(message)
            | Failure::Limit(message)
            | Failure::Disagreement(message) => message,
            Failure::Contact(_) => "the bodies touch",
            Failure::Cancelled => "cancelled",
        }
    }

    fn new(is_limit: bool, message: String) -> Failure {
        if is_limit {
            Failure::Limit(message)
        } else {
            Failure::BadInput(message)
        }
    }

    /// Creates the failure of a bake of the mesh in `path`, with the option that helps.
    pub(crate) fn of_bake(path: &Path, error: &FieldBakeError, settings: &BakeSettings) -> Failure {
        let cause = match error {
            FieldBakeError::Bake(BakeError::Cancelled) => return Failure::Cancelled,
            FieldBakeError::Bake(error) => bake_cause(error, settings),
            FieldBakeError::Sparse(error) => sparse_cause(error),
            FieldBakeError::Voxmap(error) => voxmap_cause(error),
            FieldBakeError::Taylor(error) => error.to_string(),
        };
        Failure::new(error.is_limit(), format!("{}: {cause}", path.display()))
    }

    /// Creates the failure of an update of a field to the mesh in `path`.
    pub(crate) fn of_update(path: &Path, error: UpdateError, settings: &BakeSettings) -> Failure {
        match error {
            UpdateError::Bake(error) => Failure::of_bake(path, &error.into(), settings),
            UpdateError::Sparse(error) => Failure::of_bake(path, &error.into(), settings),
            error => Failure::in_file(path, error.to_string()),
        }
    }

    /// Adjusts the failure of a command that bakes a mesh with default settings and lacks the
    /// options that the message names.
    pub(crate) fn of_default_bake(self) -> Failure {
        let told = |message: String| match message.contains("--") {
            true => format!(
                "{message} (options that this command lacks are those of `touchfield bake`; give it the baked file)"
            ),
            false => message,
        };
        match self {
            Failure::BadInput(message) => Failure::BadInput(told(message)),
            Failure::Limit(message) => Failure::Limit(told(message)),
            failure => failure,
        }
    }

    /// Creates the failure of placing points on the body in `path`.
    pub(crate) fn of_shell(path: &Path, error: &ShellBakeError) -> Failure {
        let message = match error {
            ShellBakeError::Isosurface(IsosurfaceError::Empty { .. }) => format!(
                "{}: no node of its field lies inside the solid, which is thinner than a cell; bake it finer (`touchfield bake` has \
                 --cell-size and --tolerance for that), or give the mesh itself",
                path.display()
            ),
            error => format!("{}: its pointshell cannot be made: {error}", path.display()),
        };
        Failure::new(error.is_limit(), message)
    }

    /// Creates the failure of a mesh or field in `path` that does not become a shape.
    pub(crate) fn of_shape(path: &Path, error: &ShapeError) -> Failure {
        match error {
            ShapeError::Shell(error) => Failure::of_shell(path, error),
            error => Failure::new(error.is_limit(), format!("{}: {error}", path.display())),
        }
    }

    /// Creates the failure of a conversion of the field in `path`, with the option that helps.
    pub(crate) fn of_convert(path: &Path, error: &ConvertError) -> Failure {
        let message = match *error {
            ConvertError::Cancelled => return Failure::Cancelled,
            ConvertError::TooMuchMemory {
                kind,
                nodes,
                needed,
                allowed,
                fitting,
            } => format!(
                "stored {kind} it has {} × {} × {} nodes and takes {} on the way, more than the {} allowed; use --cell-size {fitting:.2e} \
                 or larger, or raise --max-memory",
                nodes.x,
                nodes.y,
                nodes.z,
                report::bytes(needed),
                report::bytes(allowed)
            ),
            ConvertError::TooManyBlocks { needed, allowed } => format!(
                "the blocks take {} so far, more than the {} allowed; use a smaller --band or a larger --tolerance, fewer --bits, a larger \
                 --cell-size, or raise --max-memory",
                report::bytes(needed),
                report::bytes(allowed)
            ),
            ConvertError::BadCellSize(_) | ConvertError::TooManyNodes { .. } => {
                format!("{error} (--cell-size)")
            }
            ConvertError::BadBand(_) => format!("{error} (--band)"),
            ConvertError::BadTolerance(_) => format!("{error} (--tolerance)"),
            ConvertError::Voxmap(_) => format!("{error} (--voxels, --cell-size)"),
            _ => error.to_string(),
        };
        Failure::new(error.is_limit(), format!("{}: {message}", path.display()))
    }

    /// Creates the failure of reading a mesh. If the format is unknown, the message names baked
    /// files too.
    pub(crate) fn of_reading(error: &ReadError) -> Failure {
        let more = match *error.cause {
            Cause::UnknownFormat => " for a mesh, or .tfs for a baked field",
            Cause::Limit { .. } => " (--max-memory)",
            _ => "",
        };
        Failure::new(error.is_limit(), format!("{error}{more}"))
    }

    /// Creates the failure of reading or writing a baked file.
    pub(crate) fn of_baked_file(error: &FileError) -> Failure {
        let more = match *error.cause {
            FileCause::Limit { .. } | FileCause::OutOfMemory { .. } => " (--max-memory)",
            _ => "",
        };
        Failure::new(error.is_limit(), format!("{error}{more}"))
    }
}

/// Describes why a bake failed, in terms of the command line.
fn bake_cause(error: &BakeError, settings: &BakeSettings) -> String {
    let padding = settings.padding;
    match *error {
        BakeError::Mesh(MeshError::MissingVertex { .. }) => {
            format!("{error} (`touchfield bake --repair`)")
        }
        BakeError::Mesh(MeshError::NonFiniteVertex {
            face,
            vertex,
            position,
        }) => format!(
            "face {face} uses vertex {vertex} at {:?}; `touchfield bake --repair` drops such faces",
            position.to_array()
        ),
        BakeError::Mesh(MeshError::NoExtent { extents }) => format!(
            "the mesh measures {:?} m; a grid needs a finite, positive size (--units says what the numbers are)",
            extents.to_array()
        ),
        BakeError::Layout(LayoutError::BadCellSize { cell_size }) => format!(
            "a cell size of {cell_size:?} m is not usable; it must be positive and finite (--cell-size, --resolution)"
        ),
        BakeError::Layout(LayoutError::TooCoarse { nodes, padding }) => format!(
            "--resolution {nodes} leaves no cell for the mesh after --padding {padding} on both sides; {}",
            coarse_way_out(nodes, padding)
        ),
        BakeError::Layout(LayoutError::Grid(GridError::BadGeometry { origin, cell_size })) => {
            format!(
                "a grid of cells of {cell_size:?} m from {:?} on is not usable: {}",
                origin.to_array(),
                geometry_way_out(cell_size, settings)
            )
        }
        BakeError::Layout(LayoutError::TooManyNodes { cells })
            if f64::from(padding) > 0.25 * cells =>
        {
            format!(
                "--padding {padding} makes {cells:.3e} cells along one side, too many to count; lower it"
            )
        }
        BakeError::Layout(LayoutError::TooManyNodes { cells }) => format!(
            "{cells:.3e} cells along one side are too many to count; use a larger --cell-size"
        ),
        BakeError::Layout(LayoutError::TooManyCells { .. }) => {
            format!("{error} (--resolution, --cell-size or --padding)")
        }
        BakeError::Memory(MemoryError::TooMuchMemory {
            nodes,
            needed,
            allowed,
            fitting,
        }) => format!(
            "a grid of {} × {} × {} nodes takes {} with the mesh, more than the {} allowed; {}",
            nodes.x,
            nodes.y,
            nodes.z,
            report::bytes(needed),
            report::bytes(allowed),
            memory_way_out(fitting, nodes.max_element(), padding)
        ),
        _ => error.to_string(),
    }
}

/// Describes why a sparse bake failed, in terms of the command line.
fn sparse_cause(error: &SparseBakeError) -> String {
    match error {
        SparseBakeError::NeedsClosed => {
            "the surface is not closed, and beside a hole the field is no distance; a sparse field needs a closed one \
             (--repair fills small holes, --field dense takes any mesh)"
                .to_owned()
        }
        &SparseBakeError::TooMuchMemory { needed, allowed } => format!(
            "the blocks would take about {}, more than the {} allowed; use a larger --tolerance or --cell-size, fewer --bits, \
             or raise --max-memory",
            report::bytes(needed),
            report::bytes(allowed)
        ),
        error => error.to_string(),
    }
}

/// Describes why a voxmap failed for a reason that other bakes do not have.
fn voxmap_cause(error: &VoxmapBakeError) -> String {
    match error {
        VoxmapBakeError::OpenSurface => {
            "the surface is open, so it has no inside to fill with layers (--repair fills small holes, --field dense takes any mesh)"
                .to_owned()
        }
        VoxmapBakeError::NoPadding => {
            "a voxmap needs at least one empty voxel around the mesh: --padding 1 or more".to_owned()
        }
        error => format!("{error} (--voxels, --cell-size)"),
    }
}

/// Suggests a way out when padding takes all `nodes`.
fn coarse_way_out(nodes: u32, padding: u32) -> String {
    /// Largest number of nodes along a side that is worth suggesting.
    const SENSIBLE: u64 = 10_000;
    let least = 2 * u64::from(padding) + 2;
    match (least <= SENSIBLE, nodes >= 2) {
        (true, true) => format!(
            "use a resolution of at least {least}, or a padding of at most {}",
            (nodes - 2) / 2
        ),
        (false, true) => format!("use a padding of at most {}", (nodes - 2) / 2),
        (_, false) => format!("use a resolution of at least {least}"),
    }
}

/// Suggests a way out when `f32` cannot hold or distinguish the nodes of a grid.
fn geometry_way_out(cell_size: f32, settings: &BakeSettings) -> &'static str {
    // Nothing that is built is as large as this in metres.
    if cell_size.is_nan() || cell_size >= 1e15 {
        return "it goes beyond all measure; use a smaller --cell-size, or say what the numbers of the mesh are with --units";
    }
    match settings.resolution {
        Resolution::Nodes(_) => {
            "f32 cannot distinguish its nodes; lower --resolution, or move the mesh towards the origin"
        }
        Resolution::CellSize(_) => {
            "f32 cannot distinguish its nodes; use a larger --cell-size or a smaller --padding, or move the mesh towards the origin"
        }
    }
}

/// Suggests a way out when `nodes` along the longest side are too many, and `fitting` would fit.
fn memory_way_out(fitting: u32, nodes: u32, padding: u32) -> String {
    // Padding of more than half of the grid is not intended.
    if padding > nodes / 4 {
        return format!("lower --padding {padding}, or raise --max-memory");
    }
    // The nodes left after padding must hold the mesh.
    if u64::from(fitting) < 2 * u64::from(padding) + 2 {
        return "raise --max-memory: no grid fits beside the mesh".to_owned();
    }
    format!(
        "use --resolution {fitting} or less (or as much larger a --cell-size), or raise --max-memory"
    )
}

impl From<SliceError> for Failure {
    fn from(error: SliceError) -> Failure {
        let is_limit = matches!(&error, SliceError::Size(size) if size.is_limit());
        Failure::new(is_limit, error.to_string())
    }
}

impl From<RenderError> for Failure {
    fn from(error: RenderError) -> Failure {
        let is_limit = matches!(&error, RenderError::Size(size) if size.is_limit());
        Failure::new(is_limit, error.to_string())
    }
}

impl From<SheetError> for Failure {
    fn from(error: SheetError) -> Failure {
        let is_limit = matches!(&error, SheetError::Size(size) if size.is_limit());
        Failure::new(is_limit, error.to_string())
    }
}

impl From<WritePngError> for Failure {
    fn from(error: WritePngError) -> Failure {
        Failure::BadInput(error.to_string())
    }
}
