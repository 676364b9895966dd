//! Measures trees over shells: the cost of building them, how tight their spheres are, and how many
//! are visited in a contact query. Markdown to stdout.
//!
//! `shell [--mesh FILE] [--points N] [--poses N] [--large N]`
//!
//! Input: a closed mesh, by default the bunny of `TOUCHFIELD_MESHES`, or without it a knot of as
//! many faces.
//! Output: a row for each builder and cluster size; the levels of both at the default size; and the
//! quality of each sampling.
//! Cost: minutes, most of it to find touching poses.
//! Not for: the time of a query, which the benches of the methods measure.
//!
//! Shell and field come from the same mesh. Poses are random; one body is then moved along a random
//! direction until its deepest shell point is one cell deep in the field of the other. A sphere is
//! visited when its parent reaches the surface of the field; all points of a leaf that reaches it
//! are visited.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;
use std::path::PathBuf;

use glam::Vec3;
use rayon::prelude::*;
use touchfield::bake::pointshell::{
    ShellDensity, ShellSampling, ShellSettings, TreeBuilder, shell_of_mesh,
};
use touchfield::bake::{BakeSettings, Resolution, bake};
use touchfield::field::{DenseGrid, Field};
use touchfield::geom::Pose;
use touchfield::mesh::TriangleMesh;
use touchfield::pointshell::PointShell;
use touchfield_bench::{clock, models};
use touchfield_conformance::random::Random;

struct Options {
    mesh: Option<PathBuf>,
    points: u32,
    poses: usize,
    large: u32,
}

impl Options {
    fn read() -> Result<Options, Box<dyn Error>> {
        let mut options = Options {
            mesh: None,
            points: 35_000,
            poses: 100,
            large: 1_000_000,
        };
        let mut words = std::env::args().skip(1);
        while let Some(option) = words.next() {
            let value = words.next().ok_or(format!("{option} needs a value"))?;
            match option.as_str() {
                "--mesh" => options.mesh = Some(value.into()),
                "--points" => options.points = value.parse()?,
                "--poses" => options.poses = value.parse()?,
                "--large" => options.large = value.parse()?,
                _ => return Err(format!("unknown option {option}").into()),
            }
        }
        Ok(options)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let reference = models::reference(options.mesh.as_deref())?;
    let mesh = &reference.mesh;
    println!("{}, {} faces.\n", reference.name, mesh.faces.len());
    let settings = BakeSettings {
        resolution: Resolution::Nodes(128),
        ..Default::default()
    };
    let field = bake(mesh, &settings)?.field;
    samplings(mesh, &field, &options)?;
    trees(mesh, &field, &options)
}

/// Prints the cost and the quality of each sampling method.
fn samplings(
    mesh: &TriangleMesh,
    field: &DenseGrid,
    options: &Options,
) -> Result<(), Box<dyn Error>> {
    println!(
        "| sampling | points | CPU [s] | covering radius / spacing of a square grid | bytes a point |\n|---|--:|--:|--:|--:|"
    );
    let voxels = ShellSampling::Voxels {
        alpha: std::f32::consts::SQRT_2,
    };
    let rows = [
        (
            "Poisson disk",
            ShellSampling::PoissonDisk,
            true,
            options.points,
        ),
        ("voxels", voxels, false, options.points),
        ("voxels, gaps filled", voxels, true, options.points),
        ("vertices", ShellSampling::Vertices, false, options.points),
        (
            "vertices, gaps filled",
            ShellSampling::Vertices,
            true,
            options.points,
        ),
        (
            "Poisson disk",
            ShellSampling::PoissonDisk,
            true,
            options.large,
        ),
    ];
    for (name, sampling, fill_gaps, points) in rows {
        if points == 0 {
            continue;
        }
        let settings = ShellSettings {
            sampling,
            fill_gaps,
            density: ShellDensity::Points(points),
            ..Default::default()
        };
        let (shell, spent) = clock::timed(|| shell_of_mesh(mesh, field, &settings));
        let shell = shell?;
        let count = shell.points().len();
        let square = (mesh.area() / count as f64).sqrt();
        println!(
            "| {name} | {count} | {:.2} | {:.3} | {:.0} |",
            spent.cpu,
            f64::from(shell.covering_radius()) / square,
            shell.bytes() as f64 / count as f64
        );
    }
    Ok(())
}

fn trees(mesh: &TriangleMesh, field: &DenseGrid, options: &Options) -> Result<(), Box<dyn Error>> {
    let built = |tree, cluster_size| {
        let settings = ShellSettings {
            tree,
            cluster_size,
            density: ShellDensity::Points(options.points),
            ..Default::default()
        };
        clock::timed(|| shell_of_mesh(mesh, field, &settings))
    };
    // The same poses for all trees.
    let first = built(TreeBuilder::Spatial, 4).0?;
    let poses = touching_poses(&first, field, options.poses);
    println!(
        "\n| tree | cluster size | shell and tree, CPU [s] | nodes | sum of radii, leaves [m] | sum of radii, all [m] | sum of volumes, all [m³] | spheres looked at | points looked at | both |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    );
    let builders = [
        ("chain", TreeBuilder::Chain),
        ("spatial", TreeBuilder::Spatial),
    ];
    // One row per builder and cluster size.
    for (name, tree) in builders {
        for cluster_size in [2, 3, 4, 6, 8, 16] {
            let (shell, spent) = built(tree, cluster_size);
            let shell = shell?;
            let nodes = shell.tree().nodes();
            let leaves = nodes.iter().filter(|node| node.child_count == 0);
            let radius = |node: &touchfield::pointshell::SphereNode| f64::from(node.radius);
            let volume = |radius: f64| 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
            let looks: Vec<(usize, usize)> = (poses.par_iter())
                .map(|pose| looked_at(&shell, field, pose))
                .collect();
            let share = |sum: usize| sum as f64 / looks.len().max(1) as f64;
            let spheres = share(looks.iter().map(|look| look.0).sum());
            let points = share(looks.iter().map(|look| look.1).sum());
            println!(
                "| {name} | {cluster_size} | {:.2} | {} | {:.1} | {:.1} | {:.4} | {spheres:.0} | {points:.0} | {:.0} |",
                spent.cpu,
                nodes.len(),
                leaves.map(radius).sum::<f64>(),
                nodes.iter().map(radius).sum::<f64>(),
                nodes.iter().map(|node| volume(radius(node))).sum::<f64>(),
                spheres + points
            );
        }
    }
    println!(
        "\n| tree, clusters of 4 | level | nodes | mean radius | largest radius | covered within |\n|---|--:|--:|--:|--:|--:|"
    );
    // The levels of both trees at the default cluster size.
    for (name, tree) in builders {
        let shell = built(tree, 4).0?;
        let root = shell.tree().nodes()[0].radius;
        for level in 0..shell.tree().level_count() {
            let nodes = shell.tree().level(level);
            let radii = nodes.iter().map(|node| node.radius / root);
            println!(
                "| {name} | {level} | {} | {:.4} | {:.4} | {:.4} |",
                nodes.len(),
                radii.clone().sum::<f32>() / nodes.len() as f32,
                radii.fold(0.0, f32::max),
                shell.level_radius(level).unwrap_or(f32::NAN) / root
            );
        }
    }
    Ok(())
}

/// Returns poses of the shell in the frame of the field in which its deepest point is one cell
/// deep.
fn touching_poses(shell: &PointShell, field: &DenseGrid, count: usize) -> Vec<Pose> {
    let depth = field.layout().cell_size;
    let far = 2.0 * field.bounds().diagonal();
    let root = shell.tree().nodes()[0];
    let pose = |index: usize| {
        let mut random = Random::new(index as u64);
        let rotation = random.quaternion().as_quat().normalize();
        let direction = random.unit_vector().as_vec3();
        let at = |distance: f32| Pose {
            rotation,
            translation: field.bounds().center() + distance * direction - rotation * root.center,
        };
        let deepest = |pose: Pose| {
            let distance = |&point: &Vec3| field.distance(pose.transform_point(point));
            shell
                .points()
                .iter()
                .map(distance)
                .fold(f32::INFINITY, f32::min)
        };
        let (mut deep, mut free) = (0.0, far);
        for _ in 0..20 {
            let middle = 0.5 * (deep + free);
            if deepest(at(middle)) < -depth {
                deep = middle;
            } else {
                free = middle;
            }
        }
        at(deep)
    };
    (0..count).into_par_iter().map(pose).collect()
}

/// Returns the numbers of spheres and points that a search for all points inside the field visits.
fn looked_at(shell: &PointShell, field: &DenseGrid, pose: &Pose) -> (usize, usize) {
    let nodes = shell.tree().nodes();
    let (mut spheres, mut points) = (0, 0);
    let mut open = vec![0];
    while let Some(index) = open.pop() {
        let node = &nodes[index as usize];
        spheres += 1;
        if field.distance(pose.transform_point(node.center)) > node.radius + field.error_bound() {
            continue;
        }
        if node.child_count == 0 {
            points += node.point_count as usize;
        }
        open.extend(node.first_child..node.first_child + node.child_count);
    }
    (spheres, points)
}
