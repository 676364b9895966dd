//! Runs Rust peers on the tasks written by `ours prepare`: `touchfield-peers FOLDER PEER TASK`.
//!
//! Input: `vertices.f64`, `faces.u32` and the points of the task.
//! Output: the signed distances as `TASK.PEER.out`, and one line of JSON with CPU seconds of
//! preparation and queries.

use std::error::Error;
use std::fs;
use std::path::Path;

use cpu_time::ProcessTime;

struct Work {
    vertices: Vec<[f64; 3]>,
    faces: Vec<[u32; 3]>,
    points: Vec<[f64; 3]>,
    /// Origin, nodes and cell size along each axis, when the task is a whole grid.
    layout: Option<Vec<[f64; 3]>>,
}

struct Answer {
    version: &'static str,
    prepare: f64,
    query: f64,
    distances: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, peer, task] = &arguments[..] else {
        return Err(
            "touchfield-peers FOLDER parry-f32|parry-f64|mesh_to_sdf points|grid128|…".into(),
        );
    };
    let folder = Path::new(folder);
    let work = Work {
        vertices: read_triples(&folder.join("vertices.f64"), f64::from_le_bytes)?,
        faces: read_triples(&folder.join("faces.u32"), u32::from_le_bytes)?,
        points: read_triples(&folder.join(format!("{task}.f64")), f64::from_le_bytes)?,
        layout: read_triples(&folder.join(format!("{task}.layout")), f64::from_le_bytes).ok(),
    };
    let Answer {
        version,
        prepare,
        query,
        distances,
    } = match peer.as_str() {
        "parry-f32" => parry_f32(&work)?,
        "parry-f64" => parry_f64(&work)?,
        "mesh_to_sdf" => mesh_to_sdf(&work),
        other => return Err(format!("no peer named {other}").into()),
    };
    let bytes: Vec<u8> = distances
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    fs::write(folder.join(format!("{task}.{peer}.out")), bytes)?;
    let count = distances.len();
    println!(
        r#"{{"peer": "{peer}", "task": "{task}", "version": "{version}", "prepare": {prepare}, "query": {query}, "count": {count}}}"#
    );
    Ok(())
}

/// Answers by parry's oriented `TriMesh`: pseudonormals give the sign.
macro_rules! parry {
    ($name:ident, $parry:ident, $real:ty) => {
        fn $name(work: &Work) -> Result<Answer, Box<dyn Error>> {
            use $parry::math::Vector;
            use $parry::query::PointQuery;
            use $parry::shape::{TriMesh, TriMeshFlags};
            let vector = |p: &[f64; 3]| Vector::new(p[0] as $real, p[1] as $real, p[2] as $real);
            let vertices: Vec<Vector> = work.vertices.iter().map(vector).collect();
            let points: Vec<Vector> = work.points.iter().map(vector).collect();
            let build = || {
                TriMesh::with_flags(vertices.clone(), work.faces.clone(), TriMeshFlags::ORIENTED)
            };
            let (mesh, prepare) = least(build);
            let mesh = mesh?;
            let (distances, query) = least(|| {
                let distance = |&point: &Vector| {
                    let projection = mesh.project_local_point(point, false);
                    let distance = (projection.point - point).length();
                    f64::from(if projection.is_inside {
                        -distance
                    } else {
                        distance
                    })
                };
                points.iter().map(distance).collect()
            });
            Ok(Answer {
                version: "0.31",
                prepare,
                query,
                distances,
            })
        }
    };
}
parry!(parry_f32, parry3d, f32);
parry!(parry_f64, parry3d_f64, f64);

/// Answers by mesh_to_sdf: exact search for points, and its own approximate propagation for whole
/// grids.
fn mesh_to_sdf(work: &Work) -> Answer {
    use mesh_to_sdf::{
        AccelerationMethod, Grid, SignMethod, Topology, generate_grid_sdf, generate_sdf,
    };
    let single = |p: &[f64; 3]| p.map(|x| x as f32);
    let vertices: Vec<[f32; 3]> = work.vertices.iter().map(single).collect();
    let indices: Vec<u32> = work.faces.concat();
    let topology = || Topology::TriangleList(Some(&indices[..]));
    // It rebuilds its search structures in every call.
    let (distances, query) = match &work.layout {
        None => {
            let points: Vec<[f32; 3]> = work.points.iter().map(single).collect();
            least(|| generate_sdf(&vertices, topology(), &points, AccelerationMethod::RtreeBvh))
        }
        Some(layout) => {
            let [nx, ny, nz] = layout[1].map(|n| n as usize);
            let grid = Grid::new(single(&layout[0]), single(&layout[2]), [nx, ny, nz]);
            let (z_fastest, query) =
                least(|| generate_grid_sdf(&vertices, topology(), &grid, SignMethod::Raycast));
            let value =
                |i: usize| z_fastest[grid.get_cell_idx(&[i % nx, i / nx % ny, i / nx / ny])];
            ((0..nx * ny * nz).map(value).collect(), query)
        }
    };
    let distances = distances.into_iter().map(f64::from).collect();
    Answer {
        version: "0.4",
        prepare: 0.0,
        query,
        distances,
    }
}

/// Runs the work up to three times, fewer when it is long, and returns the result and CPU time of
/// the fastest run \[s\].
fn least<R>(mut work: impl FnMut() -> R) -> (R, f64) {
    let mut timed = || {
        let start = ProcessTime::now();
        let result = work();
        (result, start.elapsed().as_secs_f64())
    };
    let mut best = timed();
    let mut total = best.1;
    for _ in 1..3 {
        if total > 20.0 {
            break;
        }
        let next = timed();
        total += next.1;
        if next.1 < best.1 {
            best = next;
        }
    }
    best
}

fn read_triples<const BYTES: usize, T: Copy>(
    path: &Path,
    number: fn([u8; BYTES]) -> T,
) -> Result<Vec<[T; 3]>, std::io::Error> {
    let bytes = fs::read(path)?;
    let (numbers, _) = bytes.as_chunks::<BYTES>();
    let numbers: Vec<T> = numbers.iter().map(|&bytes| number(bytes)).collect();
    let (triples, _) = numbers.as_chunks::<3>();
    Ok(triples.to_vec())
}
