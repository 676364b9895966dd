//! Small meshes with known defects, for the tests of this folder.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use glam::DVec3;

use super::TriangleMesh;

pub(super) fn mesh(vertices: &[[f64; 3]], faces: &[[u32; 3]]) -> TriangleMesh {
    TriangleMesh {
        vertices: vertices.iter().copied().map(DVec3::from).collect(),
        faces: faces.to_vec(),
    }
}

/// Right-angled corner of the unit cube; volume 1/6.
pub(super) fn tetrahedron() -> TriangleMesh {
    mesh(
        &[
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
        ],
        &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
    )
}

/// Cube from `min` to `min + size`. In a vertex number, bit 0 is x, bit 1 y and bit 2 z.
pub(super) fn cube(min: [f64; 3], size: f64) -> TriangleMesh {
    let vertices = (0..8)
        .map(|i| {
            DVec3::from(min)
                + size * DVec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64)
        })
        .collect();
    let quads = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let faces = quads
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .collect();
    TriangleMesh { vertices, faces }
}

pub(super) fn merged(parts: &[TriangleMesh]) -> TriangleMesh {
    parts.iter().fold(TriangleMesh::default(), |mut all, part| {
        all.append(part);
        all
    })
}

pub(super) fn inverted(mut mesh: TriangleMesh) -> TriangleMesh {
    mesh.flip();
    mesh
}

/// Returns a refined icosahedron of 20·4ⁿ faces.
pub(super) fn icosphere(levels: usize, radius: f64) -> TriangleMesh {
    let g = (1.0 + 5.0f64.sqrt()) / 2.0;
    let mut sphere = mesh(
        &[
            [-1.0, g, 0.0],
            [1.0, g, 0.0],
            [-1.0, -g, 0.0],
            [1.0, -g, 0.0],
            [0.0, -1.0, g],
            [0.0, 1.0, g],
            [0.0, -1.0, -g],
            [0.0, 1.0, -g],
            [g, 0.0, -1.0],
            [g, 0.0, 1.0],
            [-g, 0.0, -1.0],
            [-g, 0.0, 1.0],
        ],
        &[
            [0, 11, 5],
            [0, 5, 1],
            [0, 1, 7],
            [0, 7, 10],
            [0, 10, 11],
            [1, 5, 9],
            [5, 11, 4],
            [11, 10, 2],
            [10, 7, 6],
            [7, 1, 8],
            [3, 9, 4],
            [3, 4, 2],
            [3, 2, 6],
            [3, 6, 8],
            [3, 8, 9],
            [4, 9, 5],
            [2, 4, 11],
            [6, 2, 10],
            [8, 6, 7],
            [9, 8, 1],
        ],
    );
    for _ in 0..levels {
        let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
        let mut faces = Vec::new();
        for &[a, b, c] in &sphere.faces {
            let mut middle = |i: u32, j: u32| {
                *middles.entry([i.min(j), i.max(j)]).or_insert_with(|| {
                    let sum = sphere.vertices[i as usize] + sphere.vertices[j as usize];
                    sphere.vertices.push(0.5 * sum);
                    sphere.vertices.len() as u32 - 1
                })
            };
            let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
            faces.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        sphere.faces = faces;
        for v in &mut sphere.vertices {
            *v = v.normalize();
        }
    }
    for v in &mut sphere.vertices {
        *v = radius * v.normalize();
    }
    sphere
}

pub(super) fn moved(mut mesh: TriangleMesh, by: [f64; 3]) -> TriangleMesh {
    for v in &mut mesh.vertices {
        *v += DVec3::from(by);
    }
    mesh
}

/// Returns a copy in which every face has its own three vertices.
pub(super) fn soup(mesh: &TriangleMesh) -> TriangleMesh {
    TriangleMesh {
        vertices: mesh.triangles().flat_map(|t| t.corners()).collect(),
        faces: (0..mesh.faces.len() as u32)
            .map(|f| [3 * f, 3 * f + 1, 3 * f + 2])
            .collect(),
    }
}

/// Returns a strip of `n` quads closed with a half turn.
pub(super) fn moebius(n: u32) -> TriangleMesh {
    let vertices = (0..n)
        .flat_map(|i| {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(n);
            [-0.3, 0.3].map(|w| {
                let r = 1.0 + w * (0.5 * angle).cos();
                DVec3::new(r * angle.cos(), r * angle.sin(), w * (0.5 * angle).sin())
            })
        })
        .collect();
    let faces = (0..n)
        .flat_map(|i| {
            let (a, b) = (2 * i, 2 * i + 1);
            // After the last quad the two borders swap.
            let (c, d) = if i + 1 < n { (a + 2, b + 2) } else { (1, 0) };
            [[a, c, b], [b, c, d]]
        })
        .collect();
    TriangleMesh { vertices, faces }
}

/// A small deterministic pseudo-random number generator.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    /// Returns a number from −1 to 1.
    pub(super) fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 29) - 1.0
    }

    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

/// Reads the `v` and `f` lines of an OBJ file. Polygons become fans; indices are not checked.
pub(super) fn read_obj(path: &Path) -> TriangleMesh {
    let text = std::fs::read_to_string(path).unwrap();
    let mut mesh = TriangleMesh::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let x: Vec<f64> = words
                    .take(3)
                    .map(|w| w.parse().unwrap_or(f64::NAN))
                    .collect();
                mesh.vertices.push(DVec3::new(x[0], x[1], x[2]));
            }
            Some("f") => {
                let count = mesh.vertices.len() as i64;
                let number = |w: &str| w.split('/').next().unwrap().parse::<i64>().unwrap();
                let corners: Vec<u32> = words
                    .map(|w| match number(w) {
                        i if i < 0 => (count + i) as u32,
                        i => (i - 1) as u32,
                    })
                    .collect();
                mesh.faces
                    .extend((2..corners.len()).map(|i| [corners[0], corners[i - 1], corners[i]]));
            }
            _ => {}
        }
    }
    mesh
}

/// Returns the folder of larger models, if one is set.
pub(super) fn models() -> Option<PathBuf> {
    std::env::var_os("TOUCHFIELD_MESHES").map(PathBuf::from)
}
