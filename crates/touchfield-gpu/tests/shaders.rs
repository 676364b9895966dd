//! Every kernel is valid WGSL within the floor of WebGPU, whether or not there is an adapter.
#![allow(
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a panic is a failed test; figures are printed for people"
)]

use std::collections::BTreeSet;

use naga::front::wgsl;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use touchfield_gpu::{Present, source_with_fields};

/// A file of `src/shaders`.
macro_rules! file {
    ($name:literal) => {
        (
            concat!($name, ".wgsl"),
            include_str!(concat!("../src/shaders/", $name, ".wgsl")),
        )
    };
}

type File = (&'static str, &'static str);

/// The files of every kernel that reads fields, besides those of the fields themselves.
fn with_fields() -> Vec<Vec<File>> {
    let (shell, ranges) = (file!("shell"), file!("ranges"));
    let (points, least) = (file!("shell_points"), file!("shell_least"));
    let (tree, sweep) = (file!("shell_tree"), file!("shell_sweep"));
    let tasks = file!("particle_tasks");
    vec![
        vec![file!("sample")],
        vec![file!("render")],
        vec![tasks, file!("particles")],
        vec![tasks, file!("particle_cells")],
        vec![shell, ranges, points, file!("shell_test")],
        vec![shell, ranges, points, file!("shell_fill")],
        vec![shell, ranges, least, file!("shell_least_blocks")],
        vec![shell, least, file!("shell_least_pairs")],
        vec![shell, tree, file!("shell_visit")],
        vec![shell, tree, file!("shell_descend")],
        vec![shell, tree, file!("shell_measure")],
        vec![shell, tree, file!("shell_ranges")],
        vec![shell, ranges, sweep, file!("shell_sweep_blocks")],
    ]
}

/// The files of every kernel without fields, besides the index of a thread.
fn without_fields() -> Vec<Vec<File>> {
    let tasks = file!("particle_tasks");
    vec![
        vec![file!("scan")],
        vec![file!("shell_points"), file!("shell_firsts")],
        vec![file!("shell_sweep"), file!("shell_sweep_pairs")],
        vec![file!("shell_reduce")],
        vec![tasks, file!("particle_begin")],
        vec![tasks, file!("particle_split")],
        vec![tasks, file!("particle_thin")],
        vec![file!("particle_gather")],
    ]
}

/// Returns every kernel: a name, and complete WGSL.
fn kernels() -> Vec<(String, String)> {
    let text = |files: &[File]| files.iter().map(|(_, text)| *text).collect::<String>();
    let name = |files: &[File]| files.last().map_or("", |(name, _)| *name).to_owned();
    let index = file!("index").1;
    let mut kernels = Vec::new();
    for files in with_fields() {
        let name = name(&files);
        let constants = match name.as_str() {
            "particles.wgsl" => &[
                "const COUNTS_BAND: bool = true;\n",
                "const COUNTS_BAND: bool = false;\n",
            ][..],
            _ => &[""],
        };
        for constants in constants {
            let text = format!("{constants}{}", text(&files));
            // Every combination of kinds, and one to four chunks.
            for kinds in 1..16 {
                // All operations, and none but spheres.
                let operations = if kinds % 2 == 0 { u32::MAX } else { 2 };
                let source = source_with_fields(1, 25, Present { kinds, operations }, &text);
                kernels.push((format!("{name}, kinds {kinds:#b}"), source));
            }
            for chunks in 2..=4 {
                let present = Present {
                    kinds: 0b1111,
                    operations: u32::MAX,
                };
                let source = source_with_fields(chunks, 14, present, &text);
                kernels.push((format!("{name}, {chunks} chunks"), source));
            }
        }
    }
    for files in without_fields() {
        kernels.push((name(&files), format!("{index}{}", text(&files))));
    }
    kernels.push((
        "particle_deepest.wgsl".to_owned(),
        file!("particle_deepest").1.to_owned(),
    ));
    kernels
}

#[test]
fn every_kernel_is_valid_for_every_layout_of_the_fields() {
    let kernels = kernels();
    assert!(kernels.len() > 200, "{} kernels", kernels.len());
    for (name, source) in kernels {
        let module = wgsl::parse_str(&source)
            .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&source)));
        Validator::new(
            ValidationFlags::all(),
            Capabilities::SHADER_FLOAT16_IN_FLOAT32,
        )
        .validate(&module)
        .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&source)));
    }
}

#[test]
fn kernels_keep_to_the_floor_of_webgpu() {
    for (name, source) in kernels() {
        let module = wgsl::parse_str(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
        let variables = || module.global_variables.iter().map(|(_, variable)| variable);
        let of_groups: u32 = variables()
            .filter(|variable| variable.space == naga::AddressSpace::WorkGroup)
            .map(|variable| module.types[variable.ty].inner.size(module.to_ctx()))
            .sum();
        assert!(
            of_groups <= 16_384,
            "{name}: {of_groups} bytes of a workgroup"
        );
        // A module may hold several entry points; each binding is used by one of them at least.
        let storage = variables()
            .filter(|variable| matches!(variable.space, naga::AddressSpace::Storage { .. }));
        let most = if module.entry_points.len() == 1 {
            8
        } else {
            12
        };
        assert!(storage.count() <= most, "{name}");
        for entry in &module.entry_points {
            assert_eq!(entry.workgroup_size, [64, 1, 1], "{name}");
        }
        assert!(!source.contains("subgroup"), "{name}");
    }
}

#[test]
fn every_file_of_the_folder_is_tested() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/shaders");
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{error}"));
    let present: BTreeSet<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let all = [with_fields(), without_fields()].concat().concat();
    let mut tested: BTreeSet<String> = all.iter().map(|(name, _)| (*name).to_owned()).collect();
    // Unit tests of the library check the kernels of bakes and of filtered textures.
    let others = [
        "index",
        "fields",
        "program",
        "particle_deepest",
        "nearest",
        "seed",
        "propose",
        "filtered",
        "ray_crossings",
        "ray_flood",
        "ray_nodes",
        "ray_sort",
        "ray_surface",
    ];
    tested.extend(others.map(|name| format!("{name}.wgsl")));
    assert_eq!(present, tested);
}
