//! `touchfield bake`: a mesh into a distance field.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use touchfield::bake::FieldKind;
use touchfield::bake::pointshell::{ShellDensity, ShellSettings, shell_of_mesh};
use touchfield::bake::{
    BakeSettings, DistanceMethod, OffsetWidth, Resolution, SignChoice, SparseGoal, SparseSettings,
    VoxmapSettings, changed_box,
};
use touchfield::field::{SignMethod, StoredField};
use touchfield::geom::DAabb;
use touchfield::mesh::{RepairReport, RepairSettings, TriangleMesh, repair, validate};
use touchfield::open::ShellChoice;
use touchfield::shape::Surface;
use touchfield::shape::file::{self as shape_file, StoredShape};

use crate::args::{self, Common, Length, Units};
use crate::device::{DeviceChoice, Ran};
use crate::failure::Failure;
use crate::files::output;
use crate::input::load::{self, BakedField, OldField, Parts, Storage, Update};
use crate::input::storage::{Kind, ValueBits, VoxelNumbers};
use crate::report::{self, Answer, Facts, terminal};

/// Bake a mesh into a signed distance field with a proven error
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield bake bunny.obj -o bunny.tfs                               sensible defaults
  touchfield bake part.stl --units mm --cell-size 0.2mm -o part.tfs    cells of that size
  touchfield bake bolt.stl --units mm --tolerance 0.05mm -o bolt.tfs   as fine as that needs
  touchfield bake scan.ply --repair --resolution 256 -o scan.tfs       mend first, then bake finely
  touchfield bake bunny.obj --device gpu -o bunny.tfs                  the search for nearest faces on a GPU
  touchfield bake soup.stl --sign offset --offset-width 2mm -o soup.tfs   the outermost surface, gaps up to 4 mm closed

  touchfield bake new.stl --update old.tfs --before old.stl -o new.tfs      after a local change, at a part of the cost

Any mesh is taken, holes and flipped faces included; the summary says what was wrong and how signs were found.
Then look at it: touchfield slice scan.tfs --axis z --doubtful -o scan.png")]
pub(crate) struct Arguments {
    /// The mesh: .obj, .stl, .ply, .off, .gltf or .glb
    mesh: PathBuf,
    /// Output file; it appears only when complete
    #[arg(short, long, value_name = "FILE.tfs")]
    output: PathBuf,
    /// Number of nodes along the longest side, padding included
    #[arg(long, value_name = "N", default_value_t = default_nodes(), conflicts_with_all = ["cell_size", "tolerance"])]
    resolution: u32,
    /// Distance between nodes, such as 0.2mm; metres if no unit is given
    #[arg(
        long,
        value_name = "S",
        allow_hyphen_values = true,
        conflicts_with = "tolerance"
    )]
    cell_size: Option<Length>,
    /// Largest error, such as 0.05mm. Cells are as fine as that needs, and no finer; the field is
    /// stored sparse
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    tolerance: Option<Length>,
    /// How the field is stored [default: dense, or sparse with --tolerance]
    #[arg(long, value_enum)]
    field: Option<Kind>,
    /// Bits per stored value of a sparse field
    #[arg(long, value_enum, default_value_t)]
    bits: ValueBits,
    /// Distance from the surface, in cells, up to which a sparse field has fine cells
    #[arg(
        long,
        value_name = "CELLS",
        default_value_t = 3.0,
        allow_hyphen_values = true,
        conflicts_with = "tolerance"
    )]
    band: f64,
    /// Number format of a voxmap
    #[arg(long, value_enum, default_value_t)]
    voxels: VoxelNumbers,
    /// Lower every value of a sparse field by its error bound, so that the solid encloses the mesh.
    /// A --tolerance still holds. Without one the error doubles; beyond the band it grows to
    /// several cells
    #[arg(long)]
    conservative: bool,
    /// How to distinguish inside from outside
    #[arg(long, value_enum, default_value_t)]
    sign: Sign,
    /// With --sign offset: gaps up to twice this width are closed, such as 0.5mm [default: one
    /// cell]
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    offset_width: Option<Length>,
    /// How to compute distances. All methods are exact within three cells of the surface; the
    /// printed error bound holds for each
    #[arg(long, value_enum, default_value_t)]
    method: MethodName,
    /// Number of empty cells between the mesh and the border of the grid
    #[arg(long, value_name = "CELLS", default_value_t = BakeSettings::default().padding)]
    padding: u32,
    /// Length unit of the numbers in the mesh; the field is always in metres
    #[arg(long, value_enum, default_value_t)]
    units: Units,
    /// Update OLD.tfs, a dense field or a sparse field with a band, that was baked from an earlier
    /// version of the mesh. The grid stays the same, only values that the change can affect are
    /// recomputed, and the result equals a new bake. Needs --before or --changed, and the same
    /// --sign and --band as the earlier bake
    #[arg(long, value_name = "OLD.tfs", conflicts_with_all = ["resolution", "cell_size", "tolerance", "padding", "field", "bits", "conservative"])]
    update: Option<PathBuf>,
    /// With --update: the earlier version of the mesh, to find what changed. It is trusted without
    /// a check if OLD.tfs was baked with --field-only
    #[arg(
        long,
        value_name = "MESH",
        requires = "update",
        conflicts_with = "changed"
    )]
    before: Option<PathBuf>,
    /// With --update: a box, in metres, that entirely contains every face that was added, removed
    /// or moved. It is trusted without a check
    #[arg(
        long,
        value_name = "X,Y,Z,X,Y,Z",
        requires = "update",
        allow_hyphen_values = true,
        value_parser = args::parse_box
    )]
    changed: Option<DAabb>,
    /// Store only the field. By default the file also contains points on the surface and the faces,
    /// so that contact queries need not compute them again
    #[arg(long)]
    field_only: bool,
    /// Repair the mesh first: weld vertices, drop broken faces, orient faces, fill small holes
    #[arg(long)]
    repair: bool,
    #[command(flatten)]
    device: DeviceChoice,
}

fn default_nodes() -> u32 {
    match BakeSettings::default().resolution {
        Resolution::Nodes(nodes) => nodes,
        Resolution::CellSize(_) => 128,
    }
}

/// Sign methods.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Sign {
    /// chosen by the defects of the mesh, and cross-checked
    #[default]
    Auto,
    /// pseudonormal of the nearest feature; for closed, clean meshes
    Pseudonormal,
    /// generalised winding number; for meshes with holes and overlaps
    Winding,
    /// parity of ray crossings; for triangle soups of random orientation
    Parity,
    /// everything that a ball from outside cannot reach is inside; for soups with gaps, where only
    /// the outermost surface counts
    Offset,
}

/// Distance methods.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum MethodName {
    /// bounding volume hierarchy, on all cores: the recommended method
    #[default]
    Exact,
    /// every triangle for every node; exact but slow, to check the others
    BruteForce,
    /// boxes of nodes against clusters of triangles; exact, slower than `exact`
    BoundTree,
    /// faces, edges and vertices scan-converted near the surface, `vector` beyond
    Scan,
    /// chamfer distance: sums of steps to neighbours; off by at most 2.5 % of the distance and a
    /// quarter of a cell
    Chamfer,
    /// vector distance transform: surface points passed from node to node; never too small, mostly
    /// almost exact
    Vector,
    /// fast marching: the eikonal equation solved from the surface outward; smooth, first order
    FastMarching,
}

impl MethodName {
    fn method(self) -> DistanceMethod {
        match self {
            MethodName::Exact => DistanceMethod::Exact,
            MethodName::BruteForce => DistanceMethod::BruteForce,
            MethodName::BoundTree => DistanceMethod::BoundTree,
            MethodName::Scan => DistanceMethod::ScanConversion,
            MethodName::Chamfer => DistanceMethod::Chamfer,
            MethodName::Vector => DistanceMethod::VectorDistance,
            MethodName::FastMarching => DistanceMethod::FastMarching,
        }
    }
}

impl Arguments {
    fn settings(&self, common: &Common) -> BakeSettings {
        BakeSettings {
            resolution: match self.cell_size {
                Some(Length(size)) => Resolution::CellSize(size),
                None => Resolution::Nodes(self.resolution),
            },
            padding: self.padding,
            sign: match self.sign {
                Sign::Auto => SignChoice::Auto,
                Sign::Pseudonormal => SignChoice::Always(SignMethod::Pseudonormal),
                Sign::Winding => SignChoice::Always(SignMethod::Winding),
                Sign::Parity => SignChoice::Always(SignMethod::Parity),
                Sign::Offset => SignChoice::Offset(match self.offset_width {
                    Some(Length(width)) => OffsetWidth::Length(width),
                    None => OffsetWidth::default(),
                }),
            },
            method: self.method.method(),
            max_memory: common.max_memory.0,
        }
    }

    /// Loads the earlier field, and the earlier mesh or the box of changes.
    fn update(
        &self,
        old: &Path,
        mesh: &TriangleMesh,
        common: &Common,
    ) -> Result<Box<Update>, Failure> {
        if self.repair {
            return Err(Failure::BadInput(
                "--update compares meshes as they are; it does not go with --repair".to_owned(),
            ));
        }
        // Load the earlier field and mesh.
        let StoredShape {
            stored, surface, ..
        } = load::baked_shape(old, common.max_memory.0)?;
        let field = match stored.field {
            StoredField::Dense(grid) => OldField::Dense(grid),
            StoredField::Sparse(field) => {
                self.expect_exact("a sparse field")?;
                OldField::Sparse {
                    field,
                    band: self.band,
                }
            }
            _ => {
                return Err(Failure::in_file(
                    old,
                    "is neither a dense field nor a sparse one, and only those can be updated; bake the mesh anew",
                ));
            }
        };
        let before = match &self.before {
            Some(path) => Some(load::mesh(path, self.units, common.max_memory.0)?),
            None => None,
        };
        // Check that the field was baked from that mesh, if the file holds its faces.
        if let (Some(surface), Some(before), Some(path)) = (&surface, &before, &self.before) {
            let mut before = before.clone();
            before.move_to_frame_at(stored.provenance.origin);
            let given = load::kept_faces(path, &before, &stored.provenance)?;
            let is_same = |given: &Surface| {
                given.vertices() == surface.vertices() && given.triangles() == surface.triangles()
            };
            if !given.as_ref().is_some_and(is_same) {
                return Err(Failure::in_file(
                    old,
                    format!(
                        "was not baked from {}; give --before the mesh that it was baked from, in the same --units",
                        path.display()
                    ),
                ));
            }
        }
        // Determine where the mesh changed.
        let changed = match (&before, self.changed) {
            (Some(before), _) => changed_box(before, mesh),
            (None, Some(changed)) => changed,
            (None, None) => {
                return Err(Failure::BadInput(
                    "--update needs to know what changed: --before MESH or --changed X,Y,Z,X,Y,Z"
                        .to_owned(),
                ));
            }
        };
        Ok(Box::new(Update {
            field,
            provenance: stored.provenance,
            before,
            changed,
        }))
    }

    /// Returns how the field is to be stored.
    fn storage(&self, mesh: &TriangleMesh, common: &Common) -> Result<Storage, Failure> {
        let kind = self.field.unwrap_or(match self.tolerance {
            Some(_) => Kind::Sparse,
            None => Kind::Dense,
        });
        if kind != Kind::Sparse {
            let only_sparse = [
                (self.tolerance.is_some(), "--tolerance"),
                (self.conservative, "--conservative"),
            ];
            return match only_sparse.into_iter().find(|(given, _)| *given) {
                Some((_, option)) => Err(Failure::BadInput(format!(
                    "{option} needs a sparse field: --field sparse"
                ))),
                None if kind == Kind::Taylor => Ok(Storage::New(FieldKind::Taylor)),
                None if kind == Kind::Voxmap => self.voxmap(mesh, common),
                None => Ok(Storage::New(FieldKind::Dense)),
            };
        }
        self.expect_exact("a sparse field")?;
        Ok(Storage::New(FieldKind::Sparse(SparseSettings {
            goal: match self.tolerance {
                Some(Length(tolerance)) => SparseGoal::Tolerance(tolerance),
                None => SparseGoal::Band(self.band),
            },
            bits: self.bits.bits(),
            conservative: self.conservative,
        })))
    }

    fn voxmap(&self, mesh: &TriangleMesh, common: &Common) -> Result<Storage, Failure> {
        self.expect_exact("a voxmap")?;
        let settings = self.settings(common);
        // An invalid layout is reported by the bake.
        let largest = (settings.layout(mesh.bounds()))
            .map_or(1.0, |layout| layout.bounds().as_daabb().diagonal());
        Ok(Storage::New(FieldKind::Voxmap(VoxmapSettings {
            resolution: settings.resolution,
            padding: settings.padding,
            sign: settings.sign,
            encoding: self.voxels.encoding(largest),
            max_memory: settings.max_memory,
            ..VoxmapSettings::default()
        })))
    }

    fn expect_exact(&self, what: &str) -> Result<(), Failure> {
        match self.method {
            MethodName::Exact => Ok(()),
            _ => Err(Failure::BadInput(format!(
                "{what} is baked by --method exact only"
            ))),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Answer, Failure> {
    // Check the output before the work, which may take long.
    output::check(&arguments.output, &["tfs"])?;
    output::check_apart(&arguments.output, &arguments.mesh)?;
    if arguments.offset_width.is_some() && !matches!(arguments.sign, Sign::Offset) {
        return Err(Failure::BadInput(
            "--offset-width needs --sign offset".to_owned(),
        ));
    }
    load::check_input(&arguments.mesh)?;
    if load::is_baked(&arguments.mesh) {
        return Err(Failure::in_file(
            &arguments.mesh,
            "is a baked field already; give the mesh it came from",
        ));
    }
    // Conflicting options are reported before the mesh is read.
    arguments.storage(&TriangleMesh::default(), common)?;
    let mut mesh = load::mesh(&arguments.mesh, arguments.units, common.max_memory.0)?;
    let mut notes = Vec::new();
    if arguments.units != Units::M {
        notes.push(format!(
            "the mesh was read in {} and scaled to metres",
            arguments.units.name()
        ));
    }
    // Repair the mesh, then bake it.
    let repaired = arguments.repair.then(|| {
        let (mended, report) = repair(&mesh, &RepairSettings::default());
        let repaired = Repaired::new(&mesh, &mended, report);
        mesh = mended;
        notes.extend(repaired.notes());
        repaired
    });
    let settings = arguments.settings(common);
    let storage = match &arguments.update {
        Some(old) => Storage::Update(arguments.update(old, &mesh, common)?),
        None => arguments.storage(&mesh, common)?,
    };
    let ran = arguments.device.run(|gpu| match storage {
        Storage::New(_) => {
            load::bake_mesh_on(&arguments.mesh, &mesh, &settings, &storage, Some(gpu))
        }
        Storage::Update(_) => Err(Failure::BadInput(
            "--update runs on the CPU; leave out --device".to_owned(),
        )),
    })?;
    let (mut baked, device) = match ran {
        Ran::OnGpu(baked, name) => (baked, Some(name)),
        Ran::LeftToCpu(why) => {
            if let Some(why) = why {
                load::note(&format!("baked on the CPU: {why}"));
            }
            let baked = load::bake_mesh(&arguments.mesh, &mesh, &settings, &storage)?;
            (baked, None)
        }
    };
    baked.provenance.notes.splice(0..0, notes);
    // Points and faces for contact queries are stored in the frame of the field.
    mesh.move_to_frame_at(baked.provenance.origin);
    let parts = match arguments.field_only {
        true => Parts::default(),
        false => parts(arguments, &mesh, &mut baked)?,
    };
    let bytes = shape_file::write_file(
        &arguments.output,
        &baked.field,
        &baked.provenance,
        parts.shell.as_deref(),
        parts.surface.as_deref(),
    )
    .map_err(|error| Failure::of_baked_file(&error))?;
    Ok(Answer {
        text: summary(arguments, &mesh, &baked, bytes),
        json: report::merged(
            json(&mesh, &baked, bytes, repaired.as_ref(), arguments),
            json!({ "device": device.as_deref().unwrap_or("cpu") }),
        ),
    })
}

/// Returns what contact queries need beside the field: the faces, and points on them about one cell
/// apart. If these are too many to keep, the points are farther apart or left out, which is noted.
fn parts(
    arguments: &Arguments,
    mesh: &TriangleMesh,
    baked: &mut BakedField,
) -> Result<Parts, Failure> {
    /// A shell of this many points takes about 10 MB; a larger one would outgrow the field.
    const MOST_POINTS: u32 = 1 << 18;
    let surface = load::kept_faces(&arguments.mesh, mesh, &baked.provenance)?;
    let field = &baked.field;
    let a_cell_apart = ShellChoice::OneCell.settings(field, Some(mesh));
    let settings = ShellSettings {
        max_points: MOST_POINTS,
        ..a_cell_apart.unwrap_or_default()
    };
    let shell = match shell_of_mesh(mesh, field, &settings) {
        Ok(shell) => Ok((shell, None)),
        Err(error) if error.is_limit() => {
            // Thin and sharp parts get more points than requested.
            let fewer = ShellSettings {
                density: ShellDensity::Points(MOST_POINTS / 2),
                ..settings
            };
            shell_of_mesh(mesh, field, &fewer).map(|shell| {
                let note = format!(
                    "points of the surface that are stored for contact are farther apart than a cell, every place within {} of one: a cell apart there would be more than {}",
                    report::length(shell.covering_radius()),
                    report::count_of(MOST_POINTS as usize)
                );
                (shell, Some(note))
            })
        }
        Err(error) => Err(error),
    };
    // This is not a fault of the mesh: without a shell, contact queries build their own or report
    // why they cannot.
    let (shell, note) = match shell {
        Ok((shell, note)) => (Some(shell), note),
        Err(error) => {
            let note = format!(
                "no points of the surface are stored, contact queries make their own: {error}"
            );
            (None, Some(note))
        }
    };
    if let Some(note) = note {
        load::note(&format!("{}: {note}", arguments.mesh.display()));
        baked.provenance.notes.push(note);
    }
    Ok(Parts {
        shell: shell.map(Arc::new),
        surface: surface.map(Arc::new),
    })
}

/// Returns the number of stored values per second of a bake.
pub(crate) fn voxels_per_second(baked: &BakedField) -> f64 {
    // A clock may be too coarse for a grid of eight nodes.
    baked.field.value_count() as f64 / baked.report.time.as_secs_f64().max(1e-9)
}

fn summary(arguments: &Arguments, mesh: &TriangleMesh, baked: &BakedField, bytes: u64) -> String {
    let (grid, provenance, bake) = (&baked.field, &baked.provenance, &baked.report);
    let mut facts = Facts::default();
    facts.add(
        "mesh",
        format!(
            "{}, {}",
            report::plural(mesh.faces.len(), "triangle", "triangles"),
            report::size(mesh.bounds())
        ),
    );
    report::field_facts(&mut facts, grid, provenance);
    if bake.cross_checked > 0 {
        facts.add(
            "cross-check",
            format!(
                "{} of {} nodes near the surface get another sign from a second method",
                report::count_of(bake.disagreements),
                report::count_of(bake.cross_checked)
            ),
        );
    }
    if let Some(recomputed) = baked.recomputed {
        facts.add(
            "updated",
            format!(
                "{} of {} values were computed again",
                report::count_of(recomputed),
                report::count_of(baked.field.value_count())
            ),
        );
    }
    let time = bake.time.as_secs_f64();
    facts.add(
        "time",
        format!(
            "{}, {} voxels/s, {}",
            report::seconds(time),
            report::rounded(voxels_per_second(baked)),
            report::plural(rayon::current_num_threads(), "thread", "threads")
        ),
    );
    facts.add("file", report::bytes(bytes));
    let wrong = match provenance.notes.is_empty() {
        true => "  nothing was wrong with the mesh\n".to_owned(),
        false => report::list("notes", &provenance.notes),
    };
    format!(
        "{} → {}\n{}{wrong}",
        terminal::path(&arguments.mesh),
        terminal::path(&arguments.output),
        facts.text()
    )
}

fn json(
    mesh: &TriangleMesh,
    baked: &BakedField,
    bytes: u64,
    repaired: Option<&Repaired>,
    arguments: &Arguments,
) -> Value {
    let bake = &baked.report;
    let more = json!({
        "file": arguments.output.to_string_lossy(),
        "mesh": arguments.mesh.to_string_lossy(),
        "triangles": mesh.faces.len(),
        "seconds": bake.time.as_secs_f64(),
        "voxels_per_second": voxels_per_second(baked),
        "threads": rayon::current_num_threads(),
        "cross_checked": bake.cross_checked,
        "disagreements": bake.disagreements,
        "recomputed": baked.recomputed,
        "repair": repaired.map(Repaired::json),
    });
    report::merged(
        report::field_json(&baked.field, &baked.provenance, bytes),
        more,
    )
}

/// Returns what a repair did, as named counts.
fn repair_counts(report: &RepairReport) -> [(&'static str, usize); 8] {
    [
        ("invalid_faces_dropped", report.dropped_invalid.len()),
        ("degenerate_faces_dropped", report.dropped_degenerate.len()),
        ("copies_dropped", report.dropped_copies.len()),
        ("opposite_pairs_dropped", report.dropped_cancelled.len()),
        ("faces_flipped", report.flipped.len()),
        ("holes_filled", report.filled.len()),
        ("holes_left", report.left_open.len()),
        ("vertices_removed", report.removed_vertices.len()),
    ]
}

/// Defects that make signs doubtful or the proven error wide.
const SIGN_DEFECTS: [&str; 5] = [
    "open_edge",
    "non_manifold_edge",
    "bow_tie_vertex",
    "inconsistent_orientation",
    "self_intersection",
];

/// The result of a repair, and whether it helped: a filled hole may cross other faces.
struct Repaired {
    report: RepairReport,
    /// For each of [`SIGN_DEFECTS`], its name and its number before and after the repair.
    defects: Vec<(&'static str, usize, usize)>,
}

impl Repaired {
    fn new(before: &TriangleMesh, after: &TriangleMesh, report: RepairReport) -> Repaired {
        let (before, after) = (validate(before), validate(after));
        let count = |kind| (kind, before.count(kind), after.count(kind));
        Repaired {
            report,
            defects: SIGN_DEFECTS.into_iter().map(count).collect(),
        }
    }

    /// Returns the defects that are more frequent after the repair.
    fn worse(&self) -> impl Iterator<Item = (&'static str, usize, usize)> {
        let defects = self.defects.iter().copied();
        defects.filter(|(_, before, after)| after > before)
    }

    fn notes(&self) -> Vec<String> {
        let worse: Vec<String> = self
            .worse()
            .map(|(kind, before, after)| {
                format!(
                    "{} {} → {}",
                    kind.replace('_', " "),
                    report::count_of(before),
                    report::count_of(after)
                )
            })
            .collect();
        let mut notes = vec![repair_note(&self.report)];
        if !worse.is_empty() {
            notes.push(format!(
                "repair also made defects: {}; bake without --repair as well, and keep what has fewer doubtful cells",
                worse.join(", ")
            ));
        }
        notes
    }

    fn json(&self) -> Value {
        let counts = repair_counts(&self.report)
            .into_iter()
            .map(|(name, count)| (name.to_owned(), json!(count)))
            .collect::<serde_json::Map<_, _>>();
        let defects = self
            .defects
            .iter()
            .map(|&(kind, before, after)| {
                (kind.to_owned(), json!({ "before": before, "after": after }))
            })
            .collect::<serde_json::Map<_, _>>();
        let worse: Vec<&str> = self.worse().map(|(kind, ..)| kind).collect();
        report::merged(counts.into(), json!({ "defects": defects, "worse": worse }))
    }
}

fn repair_note(report: &RepairReport) -> String {
    let done: Vec<String> = repair_counts(report)
        .into_iter()
        .filter(|&(_, count)| count > 0)
        .map(|(name, count)| format!("{} {}", name.replace('_', " "), report::count_of(count)))
        .collect();
    match done.is_empty() {
        true => "repair found nothing to mend".to_owned(),
        false => format!("repaired before baking: {}", done.join(", ")),
    }
}
