//! Reads a scene file.
//!
//! Input: TOML with the keys of `docs/DYNAMICS.md`.
//! Output: a [`Scene`], or the first problem with its line and key.
//! Cost: one pass. Not for: reading meshes, which `build` does; here files need only be there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use glam::{BVec3, DVec3};
use toml::de::DeTable;
use touchfield::bounded_file;
use touchfield::mesh::{Units, generate};

use crate::body::{Drive, Material, Moves};
use crate::contacts::ContactFinder;
use crate::frame::Frame;
use crate::integrate::Integrator;
use crate::mass::Locked;
use crate::response::{Handle, Normals, Response, Solver};
use crate::scene::error::{Problem, SceneError, hint};
use crate::scene::settings::{BodyShape, FieldName, MeshShape, Scene, SceneBody, Source};
use crate::scene::table::{self, Table, Value};
use crate::world::WorldSettings;

/// Which mesh files a scene may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leave {
    /// Those in the folder of the scene file and below it.
    #[default]
    InFolder,
    /// All.
    Anywhere,
}

const NOT_NEGATIVE: &str = "a finite number, 0 or more";
const POSITIVE: &str = "a finite number above 0";

fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}

fn is_not_negative(number: f64) -> bool {
    number >= 0.0 && number.is_finite()
}

impl Scene {
    /// Reads a scene file.
    pub fn open(path: &Path, leave: Leave) -> Result<Scene, SceneError> {
        let fails = |problem| SceneError {
            file: path.to_owned(),
            line: 0,
            key: String::new(),
            problem: Box::new(problem),
        };
        let bytes = bounded_file::read(path, Scene::MOST_BYTES)
            .map_err(|error| fails(Problem::Unreadable(error.to_string())))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            fails(Problem::Unreadable(format!("byte {at} is not UTF-8")))
        })?;
        Scene::parse(&text, path, leave)
    }

    /// Reads the text of a scene file. Mesh files are looked for in the folder of `file`.
    pub fn parse(text: &str, file: &Path, leave: Leave) -> Result<Scene, SceneError> {
        let source = table::Source { text, file };
        let parsed = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            source.error(at, "", Problem::Syntax(error.message().to_owned()))
        })?;
        let root = Table::new(source, "", 0, parsed.get_ref());
        let mut scene = Scene {
            file: file.to_owned(),
            world: WorldSettings::default(),
            seconds: Scene::SECONDS,
            record_every: Scene::RECORD_EVERY,
            measure_depth: true,
            bodies: Vec::new(),
            warnings: Vec::new(),
        };
        if let Some(value) = root.get("world") {
            read_world(&value.table("a table, [world]")?, &mut scene)?;
        }
        scene.record_every = scene.record_every.max(scene.world.step);
        let materials = read_materials(&root)?;
        if root.get("haptics").is_some() {
            let text = "[haptics] is for `touchfield haptics`, and has no effect here";
            scene.warnings.push(text.to_owned());
        }
        let bodies = root.get("body");
        root.finish()?;
        let Some(bodies) = bodies else {
            let wanted = "a scene has at least one [[body]]".to_owned();
            return Err(source.error(0, "body", Problem::Missing { wanted }));
        };
        let list = bodies.list("a list of tables, [[body]]")?;
        if list.is_empty() {
            return Err(bodies.is_not("at least one body"));
        }
        if list.len() > Scene::MOST_BODIES {
            return Err(bodies.fails(Problem::TooMany {
                what: "bodies",
                count: list.len() as u64,
                most: Scene::MOST_BODIES as u64,
            }));
        }
        let reader = BodyReader {
            materials: &materials,
            folder: scene.folder().to_owned(),
            leave,
        };
        let mut names = BTreeMap::new();
        for (index, value) in list.iter().enumerate() {
            let table = value.table("a table, [[body]]")?;
            let body = reader.read(table, index, &mut scene.warnings)?;
            if let Some(line) = names.insert(body.name.clone(), body.line) {
                let name = body.name;
                return Err(value.fails(Problem::Duplicate { name, line }));
            }
            scene.bodies.push(body);
        }
        Ok(scene)
    }
}

fn read_world(table: &Table<'_>, scene: &mut Scene) -> Result<(), SceneError> {
    let defaults = WorldSettings::default();
    let world = &mut scene.world;
    world.gravity = table.vector("gravity", defaults.gravity)?;
    world.step = table.number("step", defaults.step, POSITIVE, is_positive)?;
    scene.seconds = table.number("seconds", Scene::SECONDS, POSITIVE, is_positive)?;
    if world.step > scene.seconds {
        let text = format!(
            "a step of {} s is longer than the simulation, {} s (`seconds`)",
            world.step, scene.seconds
        );
        return Err(table.error("step", Problem::Conflict(text)));
    }
    if scene.seconds / world.step > Scene::MOST_STEPS {
        return Err(table.error(
            "step",
            Problem::TooMany {
                what: "steps (seconds / step)",
                count: (scene.seconds / world.step) as u64,
                most: Scene::MOST_STEPS as u64,
            },
        ));
    }
    let integrators = Integrator::ALL.map(|one| (one.name(), Some(one)));
    world.integrator = table.choice("integrator", None, &integrators)?;
    let responses = Response::ALL.map(|one| (one.name(), one));
    world.response = table.choice("response", defaults.response, &responses)?;
    let integrator = world.integrator();
    if world.response == Response::ContinuousPenalty && integrator != Integrator::SymplecticEuler {
        let text = format!(
            "continuous-penalty applies its forces in a step of symplectic-euler, not of {}; leave `integrator` out",
            integrator.name()
        );
        return Err(table.error("integrator", Problem::Conflict(text)));
    }
    let default = Scene::RECORD_EVERY.max(world.step);
    scene.record_every = table.number("record_every", default, POSITIVE, is_positive)?;
    let methods = ContactFinder::ALL.map(|one| (one.name(), one));
    world.contacts = table.choice("contacts", defaults.contacts, &methods)?;
    let is_swept = matches!(
        world.contacts,
        ContactFinder::SweptLinear | ContactFinder::SweptTree
    );
    if is_swept && world.response != Response::ContinuousPenalty {
        let text = format!(
            "{} finds spans of time, which only `response = \"continuous-penalty\"` uses",
            world.contacts.name()
        );
        return Err(table.error("contacts", Problem::Conflict(text)));
    }
    if let Some(value) = table.get("substeps") {
        world.substeps = value.whole(1..=1024)?;
    }
    world.sleeping = table.flag("sleeping", defaults.sleeping)?;
    let solvers = [Solver::Sequential, Solver::Pivoting].map(|one| (one.name(), one));
    world.solver = table.choice("solver", defaults.solver, &solvers)?;
    const HANDLES: [(&str, Handle); 2] = [("linear", Handle::Linear), ("euler", Handle::Euler)];
    const NORMALS: [(&str, Normals); 2] = [("field", Normals::Field), ("point", Normals::Point)];
    let forces = &mut world.penalty;
    forces.handle = table.choice("handle", forces.handle, &HANDLES)?;
    if let Some(value) = table.get("midpoints") {
        forces.midpoints = value.whole(1..=10_000)?;
    }
    forces.normals = table.choice("normals", forces.normals, &NORMALS)?;
    forces.damping_as_written = table.flag("damping_as_written", false)?;
    scene.measure_depth = table.flag("measure_depth", true)?;
    table.finish()
}

fn read_materials<'t>(root: &Table<'t>) -> Result<BTreeMap<&'t str, Material>, SceneError> {
    let mut materials = BTreeMap::from([("default", Material::default())]);
    let Some(value) = root.get("material") else {
        return Ok(materials);
    };
    let tables = value.table("tables, [material.NAME]")?;
    for (name, value) in tables.all() {
        let table = value.table("a table, [material.NAME]")?;
        let defaults = Material::default();
        let at_least_0 = |key, default| table.number(key, default, NOT_NEGATIVE, is_not_negative);
        let material = Material {
            friction: at_least_0("friction", defaults.friction)?,
            restitution: table.number(
                "restitution",
                defaults.restitution,
                "a number from 0 to 1",
                |number| (0.0..=1.0).contains(&number),
            )?,
            stiffness: at_least_0("stiffness", defaults.stiffness)?,
            damping: at_least_0("damping", defaults.damping)?,
            slip: table.number("slip", defaults.slip, POSITIVE, is_positive)?,
        };
        table.finish()?;
        materials.insert(name, material);
    }
    Ok(materials)
}

struct BodyReader<'m> {
    materials: &'m BTreeMap<&'m str, Material>,
    folder: PathBuf,
    leave: Leave,
}

impl BodyReader<'_> {
    fn read(
        &self,
        mut table: Table<'_>,
        index: usize,
        warnings: &mut Vec<String>,
    ) -> Result<SceneBody, SceneError> {
        let line = table.source.line(table.at);
        let name = match table.get("name") {
            Some(value) => {
                let name = value.word("a name")?;
                if name.trim().is_empty() {
                    return Err(value.is_not("a name with letters"));
                }
                // Keys of this body are named by it from here on.
                table.key = format!("body.{name}");
                name.to_owned()
            }
            None => format!("body-{}", index + 1),
        };
        let shape = match table.get("shape") {
            Some(value) => self.shape(&value)?,
            None => {
                let wanted = "a body has one, such as `shape = { sphere = 0.1 }`".to_owned();
                return Err(table.error("shape", Problem::Missing { wanted }));
            }
        };
        let fixed = table.flag("fixed", false)?;
        let material = match table.get("material") {
            Some(value) => self.material(&value)?,
            None => self.materials["default"],
        };
        let density = table.number("density", Scene::DENSITY, POSITIVE, is_positive)?;
        let mass = table.get("mass");
        if mass.is_some() && table.get("density").is_some() {
            let text = "give `density` or `mass`, not both".to_owned();
            return Err(table.error("mass", Problem::Conflict(text)));
        }
        let mass = mass.map(|value| value.number(POSITIVE, is_positive));
        let mass = mass.transpose()?;
        let mut read_pose = |value: &Value<'_>| {
            let (pose, off) = value.pose()?;
            if off > 1e-3 {
                warnings.push(format!(
                    "line {}: the quaternion of `{name}` was normalised; its length was off 1 by {off:.2e}",
                    value.line()
                ));
            }
            Ok::<Frame, SceneError>(pose)
        };
        let pose = match table.get("pose") {
            Some(value) => read_pose(&value)?,
            None => Frame::IDENTITY,
        };
        let driven = table.get("driven");
        let moves = match (driven, fixed) {
            (Some(_), true) => {
                let text = "a fixed body does not move; leave `fixed` out".to_owned();
                return Err(table.error("driven", Problem::Conflict(text)));
            }
            (Some(value), false) => Moves::Driven(read_drive(&value, &mut read_pose)?),
            (None, true) => Moves::Never,
            (None, false) => Moves::Freely,
        };
        let body = SceneBody {
            velocity: table.vector("velocity", DVec3::ZERO)?,
            angular_velocity: table.vector("angular_velocity", DVec3::ZERO)?,
            force: table.vector("force", DVec3::ZERO)?,
            torque: table.vector("torque", DVec3::ZERO)?,
            locked: table
                .get("locked")
                .map_or(Ok(Locked::default()), |v| read_locked(&v))?,
            name,
            line,
            shape,
            material,
            density,
            mass,
            moves,
            pose,
        };
        table.finish()?;
        if matches!(body.shape, BodyShape::HalfSpace { .. }) && body.moves == Moves::Freely {
            let text = "a half-space has no end, so forces cannot move it; add `fixed = true`";
            return Err(table.error("shape", Problem::Conflict(text.to_owned())));
        }
        if body.moves != Moves::Freely {
            let idle = ["velocity", "angular_velocity", "force", "torque", "locked"];
            let idle = idle.into_iter().filter(|key| table.get(key).is_some());
            warnings.extend(idle.map(|key| {
                format!(
                    "line {line}: `{key}` has no effect on `{}`, which forces do not move",
                    body.name
                )
            }));
        }
        Ok(body)
    }

    fn material(&self, value: &Value<'_>) -> Result<Material, SceneError> {
        let name = value.word("the name of a material")?;
        let found = self.materials.get(name).copied();
        found.ok_or_else(|| {
            value.fails(Problem::UnknownName {
                kind: "material",
                name: name.to_owned(),
                hint: hint(name, self.materials.keys().copied()),
            })
        })
    }

    fn shape(&self, value: &Value<'_>) -> Result<BodyShape, SceneError> {
        const WANTED: &str = "a table such as { sphere = 0.1 }";
        let table = value.table(WANTED)?;
        let kinds: Vec<&'static str> = KINDS
            .into_iter()
            .filter(|kind| table.get(kind).is_some())
            .collect();
        let &[kind] = kinds.as_slice() else {
            let text = match kinds.as_slice() {
                [] => {
                    table.finish()?;
                    format!("names no shape; give one of {}", KINDS.join(", "))
                }
                several => format!("has {}; give one of them", several.join(" and ")),
            };
            return Err(value.fails(Problem::Conflict(text)));
        };
        // The key is there: its name was found in the table.
        let Some(given) = table.get(kind) else {
            return Err(value.is_not(WANTED));
        };
        // Beyond this, squares of lengths leave `f32`.
        let is_length = |number: f64| number > 1e-15 && number < 1e15;
        let length = |given: &Value<'_>| given.number("a length above 0 [m]", is_length);
        let two = |wanted: &str| {
            let [a, b] = given.numbers::<2>(wanted)?;
            match is_length(a) && is_length(b) {
                true => Ok([a, b]),
                false => Err(given.is_not(wanted)),
            }
        };
        let shape = match kind {
            "sphere" => BodyShape::Sphere {
                radius: length(&given)?,
            },
            "box" => {
                let wanted = "three half extents above 0 [m]";
                let half = given.vector(wanted)?;
                if !half.to_array().into_iter().all(is_length) {
                    return Err(given.is_not(wanted));
                }
                BodyShape::Box { half }
            }
            "capsule" => {
                let [radius, half_length] = two("[radius, half length], both above 0 [m]")?;
                BodyShape::Capsule {
                    radius,
                    half_length,
                }
            }
            "cylinder" => {
                let [radius, half_height] = two("[radius, half height], both above 0 [m]")?;
                BodyShape::Cylinder {
                    radius,
                    half_height,
                }
            }
            "torus" => {
                let wanted = "[R, r], the radius of the ring above that of its tube, above 0 [m]";
                let [major, minor] = two(wanted)?;
                if minor >= major {
                    return Err(given.is_not(wanted));
                }
                BodyShape::Torus { major, minor }
            }
            "half_space" => {
                let wanted = "a normal, three finite numbers that are not all 0";
                let normal = given.vector(wanted)?.try_normalize();
                BodyShape::HalfSpace {
                    normal: normal.ok_or_else(|| given.is_not(wanted))?,
                }
            }
            "file" => self.mesh_shape(&table, self.file(&given)?)?,
            _ => self.mesh_shape(&table, read_model(&given)?)?,
        };
        table.finish()?;
        Ok(shape)
    }

    /// Returns the path of a mesh file that is there and may be read.
    fn file(&self, value: &Value<'_>) -> Result<Source, SceneError> {
        let name = value.word("the name of a file")?;
        let path = self.folder.join(name);
        let unreadable = |error: std::io::Error| {
            let problem = format!("`{}` cannot be read: {error}", path.display());
            value.fails(Problem::Unreadable(problem))
        };
        let found = path.canonicalize();
        if self.leave == Leave::InFolder {
            let outside = || {
                let file = name.to_owned();
                value.fails(Problem::Outside { file })
            };
            let folder = self.folder.canonicalize().map_err(unreadable)?;
            // A name that climbs out is refused whether or not it leads to a file.
            let climbs = Path::new(name).components().any(|part| {
                !matches!(
                    part,
                    std::path::Component::Normal(_) | std::path::Component::CurDir
                )
            });
            let is_inside = found
                .as_ref()
                .map_or(!climbs, |file| file.starts_with(folder));
            if !is_inside {
                return Err(outside());
            }
        }
        let found = found.map_err(unreadable)?;
        match found.is_dir() {
            true => Err(value.is_not("a file, and this is a folder")),
            false => Ok(Source::File(path)),
        }
    }

    fn mesh_shape(&self, table: &Table<'_>, source: Source) -> Result<BodyShape, SceneError> {
        const UNITS: [(&str, Units); 4] = [
            ("m", Units::Metres),
            ("cm", Units::Centimetres),
            ("mm", Units::Millimetres),
            ("in", Units::Inches),
        ];
        let units = table.choice("units", Units::Metres, &UNITS)?;
        let scale = match table.get("scale") {
            None => DVec3::ONE,
            Some(value) => {
                let wanted = "a factor above 0, or one per axis";
                let is_factor = |number: f64| number > 1e-15 && number < 1e15;
                let scale = match value.is_list() {
                    true => value.vector(wanted)?,
                    false => DVec3::splat(value.number(wanted, is_factor)?),
                };
                match scale.to_array().into_iter().all(is_factor) {
                    true => scale,
                    false => return Err(value.is_not(wanted)),
                }
            }
        };
        if let Some(value) = table.get("surface") {
            let surfaces = ["auto", "solid", "sheet", "ground"].map(|name| (name, name));
            let surface = value.choice(&surfaces)?;
            if surface == "sheet" || surface == "ground" {
                return Err(value.is_not(
                    "`auto` or `solid`: bodies without an inside are not built yet; give the sheet a thickness, or close the ground from below",
                ));
            }
        }
        if let Some(value) = table.get("thickness") {
            value.number(
                "0: sheets are not built yet; give the mesh itself a thickness",
                |number| number == 0.0,
            )?;
        }
        let field = table
            .get("field")
            .map(|value| value.choice(&FieldName::ALL));
        let field = field.transpose()?;
        let resolution = table.get("resolution").map(|value| value.whole(8..=16_384));
        let tolerance = table.get("tolerance");
        if let (Some(value), Some(kind)) = (&tolerance, field)
            && kind != FieldName::Sparse
        {
            let text = "a tolerance takes a sparse field; leave `field` out".to_owned();
            return Err(value.fails(Problem::Conflict(text)));
        }
        let tolerance = tolerance.map(|value| value.number(POSITIVE, is_positive));
        Ok(BodyShape::Mesh(MeshShape {
            source,
            units,
            scale,
            field,
            resolution: resolution.transpose()?,
            tolerance: tolerance.transpose()?,
        }))
    }
}

const KINDS: [&str; 8] = [
    "sphere",
    "box",
    "capsule",
    "cylinder",
    "torus",
    "half_space",
    "file",
    "model",
];

fn read_model(value: &Value<'_>) -> Result<Source, SceneError> {
    let name = value.word("the name of a built-in model")?;
    let catalogue = generate::catalogue();
    match catalogue.iter().any(|model| model.name == name) {
        true => Ok(Source::Model(name.to_owned())),
        false => Err(value.fails(Problem::UnknownName {
            kind: "model",
            name: name.to_owned(),
            hint: hint(name, catalogue.iter().map(|model| model.name)),
        })),
    }
}

fn read_locked(value: &Value<'_>) -> Result<Locked, SceneError> {
    const AXES: [(&str, usize); 6] = [
        ("tx", 0),
        ("ty", 1),
        ("tz", 2),
        ("rx", 3),
        ("ry", 4),
        ("rz", 5),
    ];
    let mut held = [false; 6];
    for entry in value.list("a list of tx, ty, tz, rx, ry, rz")? {
        held[entry.choice(&AXES)?] = true;
    }
    Ok(Locked {
        translation: BVec3::new(held[0], held[1], held[2]),
        rotation: BVec3::new(held[3], held[4], held[5]),
    })
}

fn read_drive(
    value: &Value<'_>,
    read_pose: &mut impl FnMut(&Value<'_>) -> Result<Frame, SceneError>,
) -> Result<Drive, SceneError> {
    let table = value.table("a table of velocities, or of times and poses")?;
    let (times, poses) = (table.get("times"), table.get("poses"));
    if times.is_none() && poses.is_none() {
        let drive = Drive::Steady {
            velocity: table.vector("velocity", DVec3::ZERO)?,
            angular_velocity: table.vector("angular_velocity", DVec3::ZERO)?,
            about: table.vector("about", DVec3::ZERO)?,
        };
        table.finish()?;
        return Ok(drive);
    }
    table.finish()?;
    let missing = |key| {
        let wanted = "a path has `times` and `poses`".to_owned();
        table.error(key, Problem::Missing { wanted })
    };
    let times = times.ok_or_else(|| missing("times"))?;
    let poses = poses.ok_or_else(|| missing("poses"))?;
    let list = times.list("a list of times [s]")?;
    let numbers: Result<Vec<f64>, SceneError> = (list.iter())
        .map(|entry| entry.number("a finite number", f64::is_finite))
        .collect();
    let numbers = numbers?;
    if let Some(at) = numbers.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(list[at + 1].is_not(format!("above the time before it, {}", numbers[at])));
    }
    let given = poses.list("a list of poses")?;
    if given.len() != numbers.len() || given.is_empty() {
        return Err(poses.is_not(format!(
            "a list of as many poses as `times` has entries, {}, and at least one; it has {}",
            numbers.len(),
            given.len()
        )));
    }
    let poses: Result<Vec<Frame>, SceneError> = given.iter().map(read_pose).collect();
    Ok(Drive::Path {
        times: numbers,
        poses: poses?,
    })
}
