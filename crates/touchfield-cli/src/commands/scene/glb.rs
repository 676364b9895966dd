//! The animation of a simulation as binary glTF 2.0, which any viewer plays.
//!
//! Input: a world and its rows.
//! Output: `scene.glb`: one node per body with its mesh and colour; translations and rotations of
//! the bodies that move, linear between rows. glTF has y up, so one node above all turns z up.
//! Cost: 28 bytes per body that moves and row, thinned to [`MOST_BYTES`].
//! Not for: exact states, see `trajectory.npz`: numbers here are `f32`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use serde_json::{Value, json};
use touchfield::geom::DAabb;
use touchfield::mesh::TriangleMesh;
use touchfield_dynamics::Moves;
use touchfield_dynamics::scene::{Built, Drawn};

use crate::commands::scene::strip;
use crate::commands::scene::trajectory::{Trajectory, world_box};
use crate::failure::Failure;
use crate::files::output;
use crate::picture::Rgb;

/// Size of the animation beyond which rows are left out [bytes].
const MOST_BYTES: usize = 64 << 20;

/// Cosine of the angle between faces up to which their common edge is drawn round.
const SMOOTH: f64 = 0.8;

const FLOAT: u32 = 5126;

/// The parts of a file while it is made.
#[derive(Default)]
struct Parts {
    binary: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    materials: Vec<Value>,
    nodes: Vec<Value>,
}

impl Parts {
    /// Adds numbers as an accessor with `width` of them per element; with their range if `ranged`.
    fn add(&mut self, numbers: &[f32], width: usize, ranged: bool, target: Option<u32>) -> usize {
        let offset = self.binary.len();
        self.binary
            .extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        let mut view = json!({
            "buffer": 0,
            "byteOffset": offset,
            "byteLength": 4 * numbers.len(),
        });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.views.push(view);
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][width - 1];
        let mut accessor = json!({
            "bufferView": self.views.len() - 1,
            "componentType": FLOAT,
            "count": numbers.len() / width,
            "type": kind,
        });
        if ranged {
            let end = |fold: fn(f32, f32) -> f32, start: f32| {
                let mut ends = vec![start; width];
                for element in numbers.chunks_exact(width) {
                    for (end, &number) in ends.iter_mut().zip(element) {
                        *end = fold(*end, number);
                    }
                }
                ends
            };
            accessor["min"] = json!(end(f32::min, f32::INFINITY));
            accessor["max"] = json!(end(f32::max, f32::NEG_INFINITY));
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn add_material(&mut self, colour: Rgb) -> usize {
        let linear = colour.map(|channel| (f64::from(channel) / 255.0).powf(2.2));
        let [r, g, b] = linear;
        let material = json!({
            "pbrMetallicRoughness": {
                "baseColorFactor": [r, g, b, 1.0],
                "metallicFactor": 0.0,
                "roughnessFactor": 0.6,
            },
            "doubleSided": true,
        });
        let place = self.materials.iter().position(|known| *known == material);
        place.unwrap_or_else(|| {
            self.materials.push(material);
            self.materials.len() - 1
        })
    }

    fn add_mesh(&mut self, corners: &[f32], normals: &[f32], material: usize) -> usize {
        const ARRAY_BUFFER: u32 = 34962;
        let position = self.add(corners, 3, true, Some(ARRAY_BUFFER));
        let normal = self.add(normals, 3, false, Some(ARRAY_BUFFER));
        self.meshes.push(json!({
            "primitives": [{
                "attributes": { "POSITION": position, "NORMAL": normal },
                "material": material,
                "mode": 4,
            }],
        }));
        self.meshes.len() - 1
    }
}

pub(super) fn write(path: &Path, built: &Built, rows: &Trajectory) -> Result<(), Failure> {
    let (json, binary) = parts(built, rows);
    let mut text = serde_json::to_vec(&json).map_err(|error| Failure::in_file(path, error))?;
    // Chunks end at multiples of four bytes: text with spaces, numbers with zeros.
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut binary = binary;
    binary.resize(binary.len().next_multiple_of(4), 0);
    let length = 12 + 8 + text.len() + 8 + binary.len();
    let too_large = || {
        let why = "the animation is larger than the 4 GiB that binary glTF holds";
        Failure::in_file(path, why)
    };
    let length = u32::try_from(length).map_err(|_| too_large())?;
    output::write_whole(path, |out| {
        out.write_all(b"glTF")?;
        out.write_all(&2_u32.to_le_bytes())?;
        out.write_all(&length.to_le_bytes())?;
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &binary)] {
            out.write_all(&(chunk.len() as u32).to_le_bytes())?;
            out.write_all(kind)?;
            out.write_all(chunk)?;
        }
        Ok(())
    })
}

fn parts(built: &Built, rows: &Trajectory) -> (Value, Vec<u8>) {
    let mut parts = Parts::default();
    let bodies = built.world.bodies();
    let moving: Vec<usize> = (0..bodies.len())
        .filter(|&body| bodies[body].settings().moves != Moves::Never)
        .collect();
    // Rows that are kept: all, or every so many and the last.
    let stride = (28 * moving.len() * rows.rows())
        .div_ceil(MOST_BYTES)
        .max(1);
    let mut kept: Vec<usize> = (0..rows.rows()).step_by(stride).collect();
    if let Some(last) = rows
        .rows()
        .checked_sub(1)
        .filter(|last| kept.last() != Some(last))
    {
        kept.push(last);
    }
    // One mesh for each shape in each colour.
    let mut meshes = BTreeMap::new();
    for (body, name) in built.names.iter().enumerate() {
        let material = parts.add_material(strip::colour(built, body));
        let mesh = match &built.drawn[body] {
            Some(drawn) => {
                let key = (Arc::as_ptr(drawn) as usize, material);
                *meshes.entry(key).or_insert_with(|| {
                    let (corners, normals) = triangles(drawn, built.origins[body]);
                    parts.add_mesh(&corners, &normals, material)
                })
            }
            None => {
                let (corners, normals) = plane(built, rows, body);
                parts.add_mesh(&corners, &normals, material)
            }
        };
        let pose = rows.pose(0, body);
        parts.nodes.push(json!({
            "name": name,
            "mesh": mesh,
            "translation": pose.translation.as_vec3().to_array(),
            "rotation": pose.rotation.as_quat().to_array(),
        }));
    }
    let root = parts.nodes.len();
    let up = std::f32::consts::FRAC_1_SQRT_2;
    parts.nodes.push(json!({
        "name": "z up",
        "rotation": [-up, 0.0, 0.0, up],
        "children": (0..root).collect::<Vec<_>>(),
    }));
    let mut animations = Vec::new();
    if !moving.is_empty() && kept.len() > 1 {
        animations.push(animation(&mut parts, rows, &moving, &kept));
    }
    let Parts {
        binary,
        views,
        accessors,
        meshes,
        materials,
        nodes,
    } = parts;
    let mut json = json!({
        "asset": { "version": "2.0", "generator": concat!("touchfield ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "nodes": [root] }],
        "nodes": nodes,
        "meshes": meshes,
        "materials": materials,
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{ "byteLength": binary.len() }],
    });
    if !animations.is_empty() {
        json["animations"] = animations.into();
    }
    (json, binary)
}

/// Returns the animation of the bodies that move.
fn animation(parts: &mut Parts, rows: &Trajectory, moving: &[usize], kept: &[usize]) -> Value {
    let times: Vec<f32> = kept.iter().map(|&row| rows.time[row] as f32).collect();
    let input = parts.add(&times, 1, true, None);
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for &body in moving {
        let (mut places, mut turns) = (Vec::new(), Vec::new());
        let mut last = DQuat::IDENTITY;
        for &row in kept {
            let pose = rows.pose(row, body);
            places.extend(pose.translation.as_vec3().to_array());
            // Of the two quaternions of a rotation the one nearer to the last: the shorter way.
            let turn = match pose.rotation.dot(last) < 0.0 {
                true => -pose.rotation,
                false => pose.rotation,
            };
            turns.extend(turn.as_quat().normalize().to_array());
            last = turn;
        }
        for (path, numbers, width) in [("translation", places, 3), ("rotation", turns, 4)] {
            let output = parts.add(&numbers, width, false, None);
            channels.push(json!({
                "sampler": samplers.len(),
                "target": { "node": body, "path": path },
            }));
            samplers.push(json!({
                "input": input,
                "output": output,
                "interpolation": "LINEAR",
            }));
        }
    }
    json!({ "name": "simulation", "samplers": samplers, "channels": channels })
}

/// Returns corners and normals of all faces, in the frame of the shape. Where faces meet at a small
/// angle the normal is that of all of them, so that curved surfaces look smooth and edges sharp.
fn triangles(drawn: &Drawn, origin: DVec3) -> (Vec<f32>, Vec<f32>) {
    let mesh: &TriangleMesh = &drawn.mesh;
    let areas: Vec<DVec3> = mesh.triangles().map(|face| face.area_vector()).collect();
    let mut around = vec![Vec::new(); mesh.vertices.len()];
    for (face, corners) in mesh.faces.iter().enumerate() {
        for &corner in corners {
            around[corner as usize].push(face);
        }
    }
    let (mut positions, mut normals) = (Vec::new(), Vec::new());
    for (face, corners) in mesh.faces.iter().enumerate() {
        // A face without an area is invisible.
        let Some(flat) = areas[face].try_normalize() else {
            continue;
        };
        for &corner in corners {
            let alike = around[corner as usize].iter().map(|&other| areas[other]);
            let alike = alike.filter(|area| area.dot(flat) > SMOOTH * area.length());
            let normal = alike.sum::<DVec3>().try_normalize().unwrap_or(flat);
            let place = mesh.vertices[corner as usize] + origin;
            positions.extend(place.as_vec3().to_array());
            normals.extend(normal.as_vec3().to_array());
        }
    }
    (positions, normals)
}

/// Returns corners and normals of a square in the plane of a half-space, large beside all bodies,
/// in its own frame.
fn plane(built: &Built, rows: &Trajectory, body: usize) -> (Vec<f32>, Vec<f32>) {
    let normal = built.world.bodies()[body].geometry().as_half_space();
    let normal = normal.map_or(DVec3::Z, |normal| normal.as_dvec3().normalize());
    let ends = [0, rows.rows().saturating_sub(1)];
    let mut shown = DAabb::EMPTY;
    for row in ends {
        let boxes = (0..built.names.len())
            .filter_map(|other| world_box(built, other, &rows.pose(row, other)));
        shown = boxes.fold(shown, DAabb::union);
    }
    let (center, half) = match shown.is_empty() {
        true => (DVec3::ZERO, 1.0),
        false => (shown.center(), 2.0 * shown.diagonal()),
    };
    let middle = rows.pose(0, body).to_inner(center);
    let middle = middle - middle.dot(normal) * normal;
    let (x, y) = normal.any_orthonormal_pair();
    // `any_orthonormal_pair` leaves open which way x × y goes.
    let y = if x.cross(y).dot(normal) < 0.0 { -y } else { y };
    let corner = |u: f64, v: f64| middle + half * (u * x + v * y);
    let corners = [
        corner(-1.0, -1.0),
        corner(1.0, -1.0),
        corner(1.0, 1.0),
        corner(-1.0, -1.0),
        corner(1.0, 1.0),
        corner(-1.0, 1.0),
    ];
    let positions = corners.iter().flat_map(|c| c.as_vec3().to_array());
    let normals = corners.iter().flat_map(|_| normal.as_vec3().to_array());
    (positions.collect(), normals.collect())
}
