//! Meshes to bake: closed ones of every awkward kind, real ones if available, and closed ones
//! broken on purpose.
//!
//! Input: nothing, a seed, or the folder named by [`MODELS`].
//! Output: a name and a mesh each; the same on every run.
//! Cost: milliseconds each; the largest has some ten thousand faces.
//! Not for: malformed files, which the tests of the readers cover.

use std::path::{Path, PathBuf};

use glam::DVec3;
use touchfield::mesh::generate::{self, catalogue};
use touchfield::mesh::{TriangleMesh, read};

use crate::random::Random;

/// Environment variable that names a folder of real models.
pub const MODELS: &str = "TOUCHFIELD_MESHES";
/// Environment variable that enables the long version of a test.
pub const LONG: &str = "TOUCHFIELD_LONG";

/// A mesh and its name.
#[derive(Clone, Debug)]
pub struct Named {
    /// Name for messages.
    pub name: String,
    /// The mesh.
    pub mesh: TriangleMesh,
}

fn named(name: impl Into<String>, mesh: TriangleMesh) -> Named {
    Named {
        name: name.into(),
        mesh,
    }
}

/// Returns whether the long version of tests is enabled.
pub fn is_long() -> bool {
    std::env::var_os(LONG).is_some_and(|value| value != "0")
}

/// Returns every mesh of this file that is closed, consistently oriented and free of crossings.
pub fn closed() -> Vec<Named> {
    let mut meshes = models();
    meshes.extend(degenerate());
    meshes
}

/// Returns the library's catalogue of models, with default parameters.
pub fn models() -> Vec<Named> {
    catalogue()
        .iter()
        .filter_map(|model| Some(named(model.name, model.mesh().ok()?)))
        .collect()
}

/// Returns one model of the catalogue.
pub fn model(name: &str) -> TriangleMesh {
    models()
        .into_iter()
        .find(|model| model.name == name)
        .map(|model| model.mesh)
        .unwrap_or_default()
}

/// Returns closed meshes where nearest features are tied, sharp, tiny, many, far away or exactly on
/// the nodes of a grid.
pub fn degenerate() -> Vec<Named> {
    let ball = || icosphere(1.0, 2);
    // The search for crossings among faces that share a vertex is quadratic in their number.
    let rim = if is_long() { 6000 } else { 1200 };
    let mut meshes = vec![
        named("tetrahedron", tetrahedron()),
        named(
            "flat tetrahedron",
            squeezed(tetrahedron(), DVec3::new(1.0, 1.0, 1e-5)),
        ),
        named("cube", cube(1)),
        named("cube of 6 × 8² faces on grid planes", cube(8)),
        named("cross of cubes on grid planes", plus()),
        named("spike", spike(1000.0)),
        named("sharper spike", spike(1e6)),
        named("needle star", star(0.02)),
        named("random star", random_star(7)),
        named("fan", fan(rim, 0.0)),
        named("flat fan", fan(rim, -0.999)),
        named("wavy fan", crown(400)),
        named("slivers", slivers(500)),
        named("knife", knife(1e-3)),
        named("sharper knife", knife(1e-7)),
        named(
            "plate of 1/10000",
            squeezed(cube(4), DVec3::new(1.0, 1.0, 1e-4)),
        ),
        named(
            "plate of 1/10000000",
            squeezed(cube(4), DVec3::new(1.0, 1.0, 1e-7)),
        ),
        named("wire", squeezed(cube(2), DVec3::new(1.0, 1e-3, 1e-3))),
        named(
            "two balls",
            joined(ball(), &moved(ball(), 2.5 * DVec3::ONE)),
        ),
        named(
            "two balls a hair apart",
            joined(ball(), &moved(ball(), DVec3::new(2.0 + 1e-6, 0.0, 0.0))),
        ),
        named(
            "ball with a cavity",
            joined(ball(), &flipped(icosphere(0.7, 2))),
        ),
        named(
            "ball in a ball in a ball",
            joined(
                joined(ball(), &flipped(icosphere(0.8, 2))),
                &icosphere(0.5, 1),
            ),
        ),
        named("ball at 1e5", moved(icosphere(10.0, 3), DVec3::splat(1e5))),
        named("ball of 1e-6", icosphere(1e-6, 3)),
        named("ball of 1e5", icosphere(1e5, 3)),
    ];
    for size in [1e-15, 1e12] {
        meshes.push(named(
            format!("star of {size:e}"),
            squeezed(random_star(8), DVec3::splat(size)),
        ));
    }
    meshes
}

/// Returns a ball of triangles about the origin.
pub fn icosphere(radius: f64, level: u32) -> TriangleMesh {
    generate::icosphere(generate::Icosphere { radius, level }).unwrap_or_default()
}

/// Returns a tetrahedron: the origin and the ends of three edges of a unit cube.
pub fn tetrahedron() -> TriangleMesh {
    TriangleMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
        faces: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    }
}

/// Returns the cube from −1 to 1, each face cut into `n × n` squares.
pub fn cube(n: u32) -> TriangleMesh {
    generate::cuboid(generate::Cuboid {
        half_extents: DVec3::ONE,
        subdivisions: [n; 3],
    })
    .unwrap_or_default()
}

/// Returns seven unit cubes in the shape of a jack: reflex edges and corners, all on integer
/// coordinates.
pub fn plus() -> TriangleMesh {
    let cells: Vec<[i32; 3]> = vec![
        [0, 0, 0],
        [1, 0, 0],
        [-1, 0, 0],
        [0, 1, 0],
        [0, -1, 0],
        [0, 0, 1],
        [0, 0, -1],
    ];
    let mut mesh = TriangleMesh::default();
    let vertex = |mesh: &mut TriangleMesh, p: [i32; 3]| {
        let at = DVec3::from(p.map(f64::from));
        let found = mesh.vertices.iter().position(|&v| v == at);
        found.unwrap_or_else(|| {
            mesh.vertices.push(at);
            mesh.vertices.len() - 1
        }) as u32
    };
    for &cell in &cells {
        for axis in 0..3 {
            for side in [0, 1] {
                let mut beside = cell;
                beside[axis] += 2 * side - 1;
                if cells.contains(&beside) {
                    continue;
                }
                let corner = |u: i32, v: i32| {
                    let mut p = cell;
                    p[axis] += side;
                    p[(axis + 1) % 3] += u;
                    p[(axis + 2) % 3] += v;
                    p
                };
                let mut quad = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]
                    .map(|p| vertex(&mut mesh, p));
                if side == 0 {
                    quad.reverse();
                }
                mesh.faces.push([quad[0], quad[1], quad[2]]);
                mesh.faces.push([quad[0], quad[2], quad[3]]);
            }
        }
    }
    mesh
}

/// Returns a tall, thin pyramid of the given height over a unit square.
pub fn spike(height: f64) -> TriangleMesh {
    let corner = |x, y| DVec3::new(x, y, 0.0);
    TriangleMesh {
        vertices: vec![
            corner(-0.5, -0.5),
            corner(0.5, -0.5),
            corner(0.5, 0.5),
            corner(-0.5, 0.5),
            DVec3::new(0.1, 0.2, height),
        ],
        faces: vec![
            [0, 2, 1],
            [0, 3, 2],
            [0, 1, 4],
            [1, 2, 4],
            [2, 3, 4],
            [3, 0, 4],
        ],
    }
}

/// Returns a ball whose vertices are moved inwards to `inner`, by the parity of their index.
pub fn star(inner: f64) -> TriangleMesh {
    let mut mesh = icosphere(1.0, 2);
    for (index, vertex) in mesh.vertices.iter_mut().enumerate() {
        if index % 3 == 0 {
            *vertex *= inner;
        }
    }
    mesh
}

/// Returns a ball whose vertices are moved along their radius at random: spikes and pits, but no
/// crossings.
pub fn random_star(seed: u64) -> TriangleMesh {
    let mut random = Random::new(seed);
    let mut mesh = icosphere(1.0, 3);
    for vertex in &mut mesh.vertices {
        *vertex *= random.uniform(0.2, 1.0);
    }
    mesh
}

/// Returns two cones base to base, with `count` faces meeting in each tip; `dent` moves the lower
/// tip up.
pub fn fan(count: u32, dent: f64) -> TriangleMesh {
    let rim = (0..count).map(|i| {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(count);
        DVec3::new(angle.cos(), angle.sin(), 0.0)
    });
    let (top, bottom) = (count, count + 1);
    TriangleMesh {
        vertices: rim
            .chain([DVec3::Z, DVec3::new(0.0, 0.0, -1.0 - dent)])
            .collect(),
        faces: (0..count)
            .flat_map(|i| {
                let next = (i + 1) % count;
                [[i, next, top], [next, i, bottom]]
            })
            .collect(),
    }
}

/// Returns a fan whose rim goes up and down and in and out: the faces at its tips point every way.
pub fn crown(count: u32) -> TriangleMesh {
    let mut mesh = fan(count, 0.0);
    for (index, vertex) in mesh.vertices.iter_mut().enumerate().take(count as usize) {
        let (reach, lift) = [(1.0, 0.3), (0.05, 0.0), (0.9, -0.3), (0.03, 0.01)][index % 4];
        *vertex = DVec3::new(reach * vertex.x, reach * vertex.y, lift);
    }
    mesh
}

/// Returns a cube whose faces are cut into strips, a thousand times as long as wide.
pub fn slivers(strips: u32) -> TriangleMesh {
    generate::cuboid(generate::Cuboid {
        half_extents: DVec3::ONE,
        subdivisions: [strips, 1, 1],
    })
    .unwrap_or_default()
}

/// Returns a wedge with an edge of this angle \[rad\].
pub fn knife(angle: f64) -> TriangleMesh {
    let half = 0.5 * angle;
    let at = |x, y, z| DVec3::new(x, y, z);
    TriangleMesh {
        vertices: vec![
            at(0.0, 0.0, 0.0),
            at(0.0, 1.0, 0.0),
            at(1.0, 0.0, -half),
            at(1.0, 1.0, -half),
            at(1.0, 0.0, half),
            at(1.0, 1.0, half),
        ],
        faces: vec![
            [0, 1, 3],
            [0, 3, 2],
            [0, 4, 5],
            [0, 5, 1],
            [2, 3, 5],
            [2, 5, 4],
            [0, 2, 4],
            [1, 5, 3],
        ],
    }
}

/// Returns the mesh scaled by one factor per axis.
pub fn squeezed(mut mesh: TriangleMesh, factor: DVec3) -> TriangleMesh {
    for vertex in &mut mesh.vertices {
        *vertex *= factor;
    }
    mesh
}

/// Returns the mesh moved by a vector.
pub fn moved(mut mesh: TriangleMesh, by: DVec3) -> TriangleMesh {
    for vertex in &mut mesh.vertices {
        *vertex += by;
    }
    mesh
}

/// Returns the mesh turned inside out.
pub fn flipped(mut mesh: TriangleMesh) -> TriangleMesh {
    mesh.flip();
    mesh
}

/// Returns both meshes in one.
pub fn joined(mut mesh: TriangleMesh, other: &TriangleMesh) -> TriangleMesh {
    mesh.append(other);
    mesh
}

/// Returns the mesh with a share of the faces removed at random.
pub fn with_holes(mesh: &TriangleMesh, share: f64, seed: u64) -> TriangleMesh {
    let mut random = Random::new(seed);
    let mut broken = mesh.clone();
    broken.faces.retain(|_| random.uniform(0.0, 1.0) >= share);
    broken
}

/// Returns the mesh with a share of the faces flipped at random.
pub fn with_flips(mesh: &TriangleMesh, share: f64, seed: u64) -> TriangleMesh {
    let mut random = Random::new(seed);
    let mut broken = mesh.clone();
    for face in &mut broken.faces {
        if random.uniform(0.0, 1.0) < share {
            face.swap(1, 2);
        }
    }
    broken
}

/// Returns the mesh with a share of the faces duplicated; the copies are flipped if `reversed`.
pub fn with_copies(mesh: &TriangleMesh, share: f64, reversed: bool, seed: u64) -> TriangleMesh {
    let mut random = Random::new(seed);
    let mut broken = mesh.clone();
    for &[a, b, c] in &mesh.faces {
        if random.uniform(0.0, 1.0) < share {
            broken
                .faces
                .push(if reversed { [a, c, b] } else { [b, c, a] });
        }
    }
    broken
}

/// Returns the mesh with separate vertices for every face, each moved by up to `jitter` of the size
/// of the mesh.
pub fn cracked(mesh: &TriangleMesh, jitter: f64, seed: u64) -> TriangleMesh {
    let mut random = Random::new(seed);
    let most = jitter * mesh.bounds().extents().max_element();
    let mut soup = TriangleMesh::default();
    for face in &mesh.faces {
        let first = soup.vertices.len() as u32;
        for &vertex in face {
            let off = random.in_box(DVec3::splat(-most), DVec3::splat(most));
            soup.vertices.push(mesh.vertices[vertex as usize] + off);
        }
        soup.faces.push([first, first + 1, first + 2]);
    }
    soup
}

/// Returns a torus whose tube is wider than its ring: it crosses itself, and its core is counted
/// twice.
pub fn spindle_torus() -> TriangleMesh {
    let (around, across) = (48u32, 24u32);
    let mut mesh = TriangleMesh::default();
    for i in 0..around {
        let turn = std::f64::consts::TAU * f64::from(i) / f64::from(around);
        for j in 0..across {
            let angle = std::f64::consts::TAU * (f64::from(j) + 0.31) / f64::from(across);
            let radius = 0.6 + angle.cos();
            mesh.vertices.push(DVec3::new(
                radius * turn.cos(),
                radius * turn.sin(),
                angle.sin(),
            ));
            let at = |i: u32, j: u32| (i % around) * across + j % across;
            mesh.faces.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            mesh.faces.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    mesh
}

/// Returns triangles without any order.
pub fn random_soup(count: usize, seed: u64) -> TriangleMesh {
    let mut random = Random::new(seed);
    let mut soup = TriangleMesh::default();
    for _ in 0..count {
        let first = soup.vertices.len() as u32;
        let center = random.in_box(-DVec3::ONE, DVec3::ONE);
        let size = random.log_uniform(0.02, 1.0);
        for _ in 0..3 {
            soup.vertices.push(center + size * random.unit_vector());
        }
        soup.faces.push([first, first + 1, first + 2]);
    }
    soup
}

/// Returns the same mesh with its faces and vertices in another order.
pub fn shuffled(mesh: &TriangleMesh, seed: u64) -> TriangleMesh {
    let mut random = Random::new(seed);
    let mut order = |count: usize| {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, random.below(last + 1));
        }
        order
    };
    let (vertices, faces) = (order(mesh.vertices.len()), order(mesh.faces.len()));
    let mut new_index = vec![0u32; vertices.len()];
    for (new, &old) in vertices.iter().enumerate() {
        new_index[old] = new as u32;
    }
    TriangleMesh {
        vertices: vertices.iter().map(|&old| mesh.vertices[old]).collect(),
        faces: faces
            .iter()
            .map(|&old| mesh.faces[old].map(|v| new_index[v as usize]))
            .collect(),
    }
}

/// Returns all models under the folder named by [`MODELS`] that can be read and have faces; none
/// without it.
pub fn real() -> Vec<Named> {
    let Some(root) = std::env::var_os(MODELS) else {
        return Vec::new();
    };
    let mut paths = Vec::new();
    collect_files(Path::new(&root), &mut paths);
    paths.sort();
    paths
        .into_iter()
        .filter_map(|path| {
            let mesh = read::read_file(&path, &read::Limits::default()).ok()?;
            let name = path.file_name()?.to_string_lossy().into_owned();
            (!mesh.faces.is_empty() && mesh.first_invalid_face().is_none())
                .then(|| named(name, mesh))
        })
        .collect()
}

/// Returns the bunny of 69,666 faces in the folder named by [`MODELS`], if it is there.
pub fn bunny() -> Option<TriangleMesh> {
    let root = std::env::var_os(MODELS)?;
    let path = Path::new(&root).join("classic/glmark2_bunny.obj");
    read::read_file(&path, &read::Limits::default()).ok()
}

fn collect_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect_files(&path, out);
        } else if path.extension().is_some_and(|e| {
            ["obj", "stl", "ply", "off", "glb", "gltf"]
                .iter()
                .any(|&known| e == known)
        }) {
            out.push(path);
        }
    }
}

/// Returns whether every edge has equally many faces in both directions, by position; zero-area
/// faces and duplicates are allowed.
pub fn is_closed(mesh: &TriangleMesh) -> bool {
    let mut edges: Vec<([[u64; 3]; 2], i32)> = Vec::with_capacity(3 * mesh.faces.len());
    let key = |vertex: u32| {
        (mesh.vertices[vertex as usize] + DVec3::ZERO)
            .to_array()
            .map(f64::to_bits)
    };
    for &[a, b, c] in &mesh.faces {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let (from, to) = (key(from), key(to));
            edges.push(if from < to {
                ([from, to], 1)
            } else {
                ([to, from], -1)
            });
        }
    }
    edges.sort_unstable();
    edges.chunk_by(|a, b| a.0 == b.0).all(|same| {
        same[0].0[0] == same[0].0[1] || same.iter().map(|edge| edge.1).sum::<i32>() == 0
    })
}
