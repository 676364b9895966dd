//! `devices` and `--device`, in a binary with GPUs and in one without.

#![expect(clippy::panic, reason = "a panic is a failed test")]

use crate::folder::{Folder, png_size, with_cubes};
use serde_json::Value;

/// Returns the devices that the binary lists.
fn devices(folder: &Folder) -> Vec<Value> {
    let run = folder.run(&["devices", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    match serde_json::from_str(&run.stdout) {
        Ok(Value::Array(devices)) => devices,
        other => panic!("{other:?}: {}", run.stdout),
    }
}

/// Returns whether GPU work can be tested; where it must be possible, it is.
fn has_gpu(folder: &Folder) -> bool {
    let found = devices(folder);
    let required = std::env::var_os("TOUCHFIELD_GPU").is_some_and(|value| value == "required");
    if cfg!(feature = "gpu") && required {
        assert!(
            !found.is_empty(),
            "TOUCHFIELD_GPU=required, but there is no adapter"
        );
    }
    !found.is_empty()
}

#[test]
fn devices_are_listed_with_what_they_can() {
    let folder = Folder::new();
    for device in devices(&folder) {
        for key in ["name", "backend", "kind"] {
            assert!(device[key].is_string(), "{device}");
        }
        for key in ["f16", "timestamps"] {
            assert!(device[key].is_boolean(), "{device}");
        }
        assert!(
            device["max_binding_bytes"].as_u64() >= Some(1 << 20),
            "{device}"
        );
    }
}

#[test]
fn without_gpus_the_error_names_the_feature() {
    if cfg!(feature = "gpu") {
        return;
    }
    let folder = with_cubes();
    assert_eq!(devices(&folder), Vec::<Value>::new());
    let text = folder.run(&["devices"]);
    assert!(text.stdout.contains("--features gpu"), "{}", text.stdout);
    folder.write("p.csv", "0,0,0\n");
    folder.write("poses.csv", "1,0,0,0,0,0,1\n");
    let words = ["--features gpu"];
    let gpu = ["--device", "gpu"];
    for command in [
        &["sample", "a.tfs", "--points", "p.csv"][..],
        &[
            "sweep",
            "a.tfs",
            "b.tfs",
            "--poses",
            "poses.csv",
            "-o",
            "r.csv",
        ],
        &["render", "a.tfs", "-o", "a.png"],
        &["bake", "a.obj", "-o", "c.tfs"],
        &["bench", "krayer-table1"],
    ] {
        folder.fails(&[command, &gpu].concat(), 2, &words);
    }
    // Where there is none, `auto` is the CPU.
    let answer = folder.json(&["sample", "a.tfs", "--points", "p.csv", "--device", "auto"]);
    assert_eq!(answer["device"], "cpu");
}

#[test]
fn samples_of_a_gpu_are_those_of_the_cpu() {
    let folder = with_cubes();
    if !has_gpu(&folder) {
        return;
    }
    folder.write("p.csv", "0,0,0\n0.1,0.2,0.3\n2,0,0\n0,-0.5,0.5\n1e20,0,0\n");
    let rows = |device: &str, name: &str| -> Vec<f32> {
        let sample = ["sample", "a.tfs", "--points", "p.csv", "-o", name];
        folder.json(&[&sample[..], &["--device", device]].concat());
        let text = String::from_utf8(folder.read(name)).unwrap_or_default();
        let numbers = text.lines().skip(1).flat_map(|line| line.split(','));
        numbers
            .map(|word| word.parse().unwrap_or(f32::NAN))
            .collect()
    };
    let (cpu, gpu) = (rows("cpu", "cpu.csv"), rows("gpu", "gpu.csv"));
    assert_eq!(cpu.len(), 20);
    for (cpu, gpu) in cpu.iter().zip(&gpu) {
        assert!(
            (cpu - gpu).abs() <= 2e-6 * cpu.abs().max(1.0),
            "{cpu} {gpu}"
        );
    }
}

#[test]
fn a_picture_of_a_gpu_is_that_of_the_cpu() {
    let folder = with_cubes();
    if !has_gpu(&folder) {
        return;
    }
    let picture = |device: &str, name: &str| {
        let render = ["render", "a.tfs", "b.tfs@0.6,0,0,0,0,0,1", "-o", name];
        folder.json(&[&render[..], &["--size", "64x48", "--device", device]].concat());
        folder.read(name)
    };
    let (cpu, gpu) = (picture("cpu", "cpu.png"), picture("gpu", "gpu.png"));
    assert_eq!((png_size(&cpu), png_size(&gpu)), ((64, 48), (64, 48)));
    let (cpu, gpu) = (pixels(&cpu), pixels(&gpu));
    let far = cpu
        .iter()
        .zip(&gpu)
        .filter(|(a, b)| a.abs_diff(**b) > 8)
        .count();
    assert!(far * 100 <= cpu.len(), "{far} of {} differ", cpu.len());
    let dark = cpu.iter().filter(|&&value| value < 150).count();
    assert!(dark > 100, "the picture shows no body");
}

/// Returns the bytes of all pixels.
fn pixels(file: &[u8]) -> Vec<u8> {
    let reader = png::Decoder::new(std::io::Cursor::new(file)).read_info();
    let mut reader = reader.unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = vec![0; reader.output_buffer_size().unwrap_or(0)];
    reader
        .next_frame(&mut bytes)
        .unwrap_or_else(|error| panic!("{error}"));
    bytes
}

#[test]
fn unknown_adapters_are_errors_that_name_those_there_are() {
    let folder = with_cubes();
    if !has_gpu(&folder) {
        return;
    }
    folder.write("p.csv", "0,0,0\n");
    let sample = ["sample", "a.tfs", "--points", "p.csv"];
    let unknown = ["--device", "gpu", "--adapter", "no such card"];
    folder.fails(
        &[&sample[..], &unknown].concat(),
        2,
        &["no such card", "there are"],
    );
    folder.fails(
        &[&sample[..], &["--adapter", "x"]].concat(),
        2,
        &["--device"],
    );
}
