//! glTF 2.0 and GLB files: the triangles of all nodes of the default scene, in world coordinates.
//!
//! Input: the bytes, and the folder that may contain buffers.
//! Output: one mesh. Within one node, vertices at bit-identical positions are merged, because glTF
//! splits vertices wherever normals or texture coordinates differ. Faces of nodes that mirror are
//! reversed.
//! Cost: one lookup per corner of each face; the buffers are not copied.
//! Not for: skins, morph targets and animation (the mesh is read in its rest state), compressed or
//! instanced meshes (refused).

mod accessor;
mod buffer;
mod document;

use std::path::Path;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::builder::MeshBuilder;
use super::weld::Welder;
use crate::mesh::TriangleMesh;
use crate::mesh::read::error::{Cause, LimitKind, ReadError};
use crate::mesh::read::limits::Limits;
use accessor::{Indices, Positions, Source, compressed};
use document::{Document, Node, Primitive, element};

pub(super) use buffer::GLB_MAGIC;

const DRACO: &str = "KHR_draco_mesh_compression";
const GPU_INSTANCING: &str = "EXT_mesh_gpu_instancing";

pub(super) fn read(
    bytes: &[u8],
    folder: Option<&Path>,
    limits: &Limits,
) -> Result<TriangleMesh, ReadError> {
    let chunks = buffer::split(bytes)?;
    let document = document::parse(chunks.json, chunks.json_start)?;
    let roots = roots(&document)?;
    let buffers = buffer::load(&document, chunks.binary, bytes.len() as u64, folder, limits)?;
    let mut reader = SceneReader {
        source: Source {
            document: &document,
            buffers: &buffers,
        },
        builder: MeshBuilder::new(limits),
        welder: Welder::new(0),
        primitives_left: limits.faces,
        max_faces: limits.faces,
    };
    if document.nodes.is_empty() {
        for mesh in 0..document.meshes.len() {
            reader.add_mesh(mesh, DAffine3::IDENTITY, "meshes")?;
        }
    }
    reader.add_nodes(roots)?;
    Ok(reader.builder.finish())
}

/// Returns the root nodes, after checking that the nodes form trees.
fn roots(document: &Document) -> Result<Vec<usize>, ReadError> {
    let parents = parents(document)?;
    let scene = document.scene.unwrap_or(0);
    if document.scene.is_some() || !document.scenes.is_empty() {
        let scene_nodes = &element(&document.scenes, scene, "scenes", || "scene".to_owned())?.nodes;
        let mut is_listed = vec![false; document.nodes.len()];
        for &node in scene_nodes {
            let path = || format!("scenes[{scene}].nodes");
            element(&document.nodes, node, "nodes", path)?;
            if parents[node].is_some() || is_listed[node] {
                let problem = format!("nodes[{node}] is listed twice or is the child of a node");
                return Err(Cause::Gltf(problem).at_json(path()));
            }
            is_listed[node] = true;
        }
        return Ok(scene_nodes.clone());
    }
    let is_root = |&node: &usize| parents[node].is_none();
    Ok((0..document.nodes.len()).filter(is_root).collect())
}

/// Returns the parent of each node. Refuses nodes with two parents, and nodes that are their own
/// ancestors.
fn parents(document: &Document) -> Result<Vec<Option<usize>>, ReadError> {
    let mut parents = vec![None; document.nodes.len()];
    for (number, node) in document.nodes.iter().enumerate() {
        for &child in &node.children {
            let path = || format!("nodes[{number}].children");
            element(&document.nodes, child, "nodes", path)?;
            if let Some(other) = parents[child].replace(number) {
                let problem = format!(
                    "nodes[{child}] is a child of nodes[{other}] already, and a node has one parent"
                );
                return Err(Cause::Gltf(problem).at_json(path()));
            }
        }
    }
    // With one parent each, a node that cannot be reached from a root is on a cycle or below one.
    let mut is_reached: Vec<bool> = parents.iter().map(Option::is_none).collect();
    let mut stack: Vec<usize> = (0..parents.len())
        .filter(|&node| is_reached[node])
        .collect();
    while let Some(node) = stack.pop() {
        for &child in &document.nodes[node].children {
            is_reached[child] = true;
            stack.push(child);
        }
    }
    match is_reached.iter().position(|reached| !reached) {
        None => Ok(parents),
        Some(node) => {
            let problem = "the node is its own ancestor, or hangs below one that is";
            Err(Cause::Gltf(problem.to_owned()).at_json(format!("nodes[{node}]")))
        }
    }
}

fn parent_from_node(node: &Node, number: usize) -> Result<DAffine3, ReadError> {
    if let Some(matrix) = &node.matrix {
        // Column by column; the last row of an affine matrix is 0 0 0 1.
        let column = |i: usize| DVec3::new(matrix[4 * i], matrix[4 * i + 1], matrix[4 * i + 2]);
        if [matrix[3], matrix[7], matrix[11], matrix[15]] != [0.0, 0.0, 0.0, 1.0] {
            let problem = "the last row of the matrix is not 0 0 0 1";
            return Err(Cause::Gltf(problem.to_owned()).at_json(format!("nodes[{number}].matrix")));
        }
        return Ok(DAffine3 {
            matrix3: DMat3::from_cols(column(0), column(1), column(2)),
            translation: column(3),
        });
    }
    let rotation = match &node.rotation {
        None => DMat3::IDENTITY,
        Some(quaternion) => {
            let length = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
            if !(length > 0.0 && length.is_finite()) {
                let problem = "the rotation is no quaternion of length 1";
                return Err(
                    Cause::Gltf(problem.to_owned()).at_json(format!("nodes[{number}].rotation"))
                );
            }
            DMat3::from_quat(DQuat::from_array(quaternion.map(|x| x / length)))
        }
    };
    let scale = node
        .scale
        .as_deref()
        .map_or(DVec3::ONE, |&s| DVec3::from(s));
    let translation = node
        .translation
        .as_deref()
        .map_or(DVec3::ZERO, |&t| DVec3::from(t));
    Ok(DAffine3 {
        matrix3: rotation * DMat3::from_diagonal(scale),
        translation,
    })
}

struct SceneReader<'a> {
    source: Source<'a>,
    builder: MeshBuilder,
    welder: Welder,
    /// Number of primitives that may still be drawn. A small file can instance an empty mesh very
    /// many times, so each instance of a primitive counts as a face.
    primitives_left: usize,
    max_faces: usize,
}

impl SceneReader<'_> {
    /// Adds the meshes of all nodes below the roots, in the order of the file, without recursion:
    /// chains of nodes may be long.
    fn add_nodes(&mut self, roots: Vec<usize>) -> Result<(), ReadError> {
        let document = self.source.document;
        let mut stack: Vec<_> = roots
            .into_iter()
            .rev()
            .map(|root| (root, DAffine3::IDENTITY))
            .collect();
        while let Some((number, world_from_parent)) = stack.pop() {
            let node = &document.nodes[number];
            let world_from_node = world_from_parent * parent_from_node(node, number)?;
            if let Some(mesh) = node.mesh {
                let path = format!("nodes[{number}]");
                if node.extensions.contains_key(GPU_INSTANCING) {
                    return Err(Cause::Unsupported {
                        what: format!("a mesh instanced with {GPU_INSTANCING}"),
                        instead: "export each instance as a node of its own",
                    }
                    .at_json(path));
                }
                self.add_mesh(mesh, world_from_node, &path)?;
            }
            let children = node.children.iter().rev();
            stack.extend(children.map(|&child| (child, world_from_node)));
        }
        Ok(())
    }

    fn add_mesh(
        &mut self,
        number: usize,
        world_from_mesh: DAffine3,
        named_by: &str,
    ) -> Result<(), ReadError> {
        let meshes = &self.source.document.meshes;
        let mesh = element(meshes, number, "meshes", || format!("{named_by}.mesh"))?;
        self.welder.clear();
        let first_vertex = self.builder.vertices().len();
        let first_face = self.builder.face_count();
        for (i, primitive) in mesh.primitives.iter().enumerate() {
            let path = || format!("meshes[{number}].primitives[{i}]");
            let Some(left) = self.primitives_left.checked_sub(1) else {
                return Err(Cause::Limit {
                    kind: LimitKind::Faces,
                    found: self.max_faces as u64 + 1,
                    limit: self.max_faces as u64,
                }
                .at_json(path()));
            };
            self.primitives_left = left;
            self.add_primitive(primitive, path)?;
        }
        self.builder
            .transform(first_vertex, first_face, world_from_mesh);
        Ok(())
    }

    fn add_primitive(
        &mut self,
        primitive: &Primitive,
        path: impl Fn() -> String,
    ) -> Result<(), ReadError> {
        let mode = match primitive.mode {
            Some(0..=3) => return Ok(()), // points and lines
            None | Some(4) => Mode::Triangles,
            Some(5) => Mode::Strip,
            Some(6) => Mode::Fan,
            Some(mode) => {
                let problem = format!("{mode} is no mode of drawing");
                return Err(Cause::Gltf(problem).at_json(path() + ".mode"));
            }
        };
        let Some(accessor) = primitive.attributes.position else {
            return Ok(()); // allowed; shows nothing
        };
        let accessors = &self.source.document.accessors;
        let is_compressed = primitive.extensions.contains_key(DRACO)
            && accessors
                .get(accessor)
                .is_some_and(|accessor| accessor.buffer_view.is_none());
        if is_compressed {
            return Err(compressed(DRACO).at_json(path()));
        }
        let positions = self
            .source
            .positions(accessor, || path() + ".attributes.POSITION")?;
        let indices = match primitive.indices {
            Some(accessor) => Some(self.source.indices(accessor, || path() + ".indices")?),
            None => None,
        };
        let corners = Corners {
            count: indices.as_ref().map_or(positions.count(), Indices::count),
            positions,
            indices,
        };
        self.add_triangles(mode, &corners)
            .map_err(|cause| cause.at_json(path()))
    }

    fn add_triangles(&mut self, mode: Mode, corners: &Corners) -> Result<(), Cause> {
        let faces = match mode {
            Mode::Triangles => corners.count / 3,
            Mode::Strip | Mode::Fan => corners.count.saturating_sub(2),
        };
        if mode == Mode::Triangles && !corners.count.is_multiple_of(3) {
            let count = corners.count;
            return Err(Cause::Gltf(format!(
                "{count} corners do not make triangles"
            )));
        }
        self.builder.reserve_faces(faces)?;
        for face in 0..faces {
            let corner_numbers = match mode {
                Mode::Triangles => [3 * face, 3 * face + 1, 3 * face + 2],
                // From the specification: (i, i + (1 + i%2), i + (2 − i%2)).
                Mode::Strip => [face, face + 1 + face % 2, face + 2 - face % 2],
                Mode::Fan => [face + 1, face + 2, 0],
            };
            let mut triangle = [0; 3];
            for (vertex, corner) in triangle.iter_mut().zip(corner_numbers) {
                let position = corners.position(corner)?;
                *vertex = self.welder.vertex(&mut self.builder, position)?;
            }
            self.builder.push_polygon(&triangle)?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Triangles,
    Strip,
    Fan,
}

/// Corners of a primitive's triangles, in drawing order.
struct Corners<'a> {
    count: usize,
    positions: Positions<'a>,
    indices: Option<Indices<'a>>,
}

impl Corners<'_> {
    fn position(&self, corner: usize) -> Result<DVec3, Cause> {
        let vertex = match &self.indices {
            Some(indices) => indices.index(corner),
            None => corner,
        };
        let vertices = self.positions.count();
        if vertex >= vertices {
            return Err(Cause::IndexOutOfRange {
                index: vertex as i64,
                vertices,
            });
        }
        Ok(self.positions.position(vertex))
    }
}
