//! Damaged and hostile mesh files give a mesh or a located error, in little memory and time, and
//! never a panic.
//!
//! One test, so that the memory of the process is that of the readers.

#[allow(dead_code)]
mod mesh_files;

use std::time::{Duration, Instant};

use touchfield::mesh::read::{Cause, Format, Limits, Place, read_bytes};

/// Time limit for a file of at most [`SMALL`] bytes.
const TIME: Duration = Duration::from_millis(100);
const MEMORY: u64 = 64 << 20;
const SMALL: usize = 200;

fn attempt(name: &str, format: Format, bytes: &[u8]) {
    let start = Instant::now();
    let result = read_bytes(bytes, format, &Limits::default());
    let mut elapsed = start.elapsed();
    if elapsed > TIME {
        // Another process may have had the core; a file that is slow will be slow again.
        let start = Instant::now();
        let _ = read_bytes(bytes, format, &Limits::default());
        elapsed = elapsed.min(start.elapsed());
    }
    assert!(elapsed < TIME, "{name}: {elapsed:?}");
    match result {
        Ok(mesh) => {
            let vertices = mesh.vertices.len();
            assert!(
                mesh.faces
                    .iter()
                    .flatten()
                    .all(|&v| (v as usize) < vertices),
                "{name}"
            );
        }
        Err(error) => {
            let is_about_all = matches!(*error.cause, Cause::NoFaces { .. });
            assert!(
                is_about_all || error.place != Place::WholeFile,
                "{name}: no place: {error}"
            );
            assert!(!error.is_limit(), "{name}: {error}");
            assert!(error.to_string().len() < 400, "{name}: {error}");
        }
    }
}

/// Returns the peak memory of this process \[bytes\]; `None` where the system does not report it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

#[test]
fn hostile_files_give_a_mesh_or_a_located_error() {
    let before = peak_memory();
    for (name, format, bytes) in mesh_files::all() {
        for length in 0..bytes.len() {
            attempt(&format!("{name} cut at {length}"), format, &bytes[..length]);
        }
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            attempt(&format!("{name} with bit {bit} flipped"), format, &flipped);
        }
        for at in 0..bytes.len() {
            for value in [0, b'9', b'-', 0xFF] {
                let mut changed = bytes.clone();
                changed[at] = value;
                attempt(
                    &format!("{name} with byte {at} = {value}"),
                    format,
                    &changed,
                );
            }
        }
    }
    for (name, format, text) in [
        ("off", Format::Off, mesh_files::off()),
        ("text ply", Format::Ply, mesh_files::ply_text()),
        ("gltf", Format::Gltf, mesh_files::gltf_with(TREE)),
    ] {
        let text = String::from_utf8(text).unwrap();
        for (change, changed) in with_other_numbers(&text) {
            attempt(&format!("{name} with {change}"), format, changed.as_bytes());
        }
    }
    for (name, format, bytes) in crafted() {
        assert!(
            bytes.len() <= SMALL || name.starts_with("long"),
            "{name}: {}",
            bytes.len()
        );
        attempt(name, format, &bytes);
    }
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        assert!(after - before < MEMORY, "{} MiB", (after - before) >> 20);
    }
}

const TREE: &str = r#""scene":0,"scenes":[{"nodes":[0,3]}],"nodes":[{"children":[1,2],"scale":[1,2,3]},{"mesh":0},
    {"mesh":0,"rotation":[0,0,0,1]},{"mesh":0,"translation":[4,5,6]}]"#;

/// Returns copies of the text with each number, or two neighbouring numbers, replaced by revealing
/// ones.
fn with_other_numbers(text: &str) -> Vec<(String, String)> {
    let is_digit = |at: usize| text.as_bytes()[at].is_ascii_digit();
    let starts: Vec<usize> = (0..text.len())
        .filter(|&at| is_digit(at) && (at == 0 || !is_digit(at - 1)))
        .collect();
    let end = |start: usize| {
        (start..text.len())
            .find(|&at| !is_digit(at))
            .unwrap_or(text.len())
    };
    let mut changed = Vec::new();
    for (i, &start) in starts.iter().enumerate() {
        for number in [
            "0",
            "1",
            "2",
            "3",
            "5",
            "12",
            "255",
            "5125",
            "4294967295",
            "9223372036854775807",
            "18446744073709551615",
            "-1",
            "1e308",
            "1e400",
            "0.5",
            "nan",
            "",
        ] {
            let before = &text[..start];
            let after = &text[end(start)..];
            changed.push((
                format!("{number} at {start}"),
                format!("{before}{number}{after}"),
            ));
            if let Some(&next) = starts.get(i + 1) {
                let between = &text[end(start)..next];
                let after = &text[end(next)..];
                let both = format!("{before}{number}{between}{number}{after}");
                changed.push((format!("{number} at {start} and {next}"), both));
            }
        }
    }
    changed
}

fn crafted() -> Vec<(&'static str, Format, Vec<u8>)> {
    let mut files: Vec<(&'static str, Format, Vec<u8>)> = Vec::new();
    let mut add = |name, format, bytes: &[u8]| files.push((name, format, bytes.to_vec()));
    add(
        "10^18 vertices",
        Format::Off,
        b"OFF\n1000000000000000000 1 0",
    );
    add(
        "10^18 faces",
        Format::Off,
        b"OFF\n0 1000000000000000000 0\n",
    );
    add(
        "10^30 vertices",
        Format::Off,
        b"OFF\n1000000000000000000000000000000 1 0",
    );
    add(
        "200 million corners",
        Format::Off,
        b"OFF\n3 1 0\n0 0 0\n0 0 0\n0 0 0\n200000000 0 1 2\n",
    );
    for (name, element) in [
        (
            "10^18 ply vertices",
            "element vertex 1000000000000000000\nproperty char x\nproperty char y\nproperty char z",
        ),
        (
            "10^18 empty elements",
            "element nothing 1000000000000000000",
        ),
        (
            "10^18 empty lists",
            "element a 1000000000000000000\nproperty list uchar char b",
        ),
        (
            "10^18 faces without properties",
            "element face 1000000000000000000",
        ),
        (
            "9·10^18 vertices",
            "element vertex 9223372036854775807\nproperty double x",
        ),
    ] {
        for encoding in ["ascii", "binary_little_endian"] {
            add(
                name,
                Format::Ply,
                format!("ply\nformat {encoding} 1.0\n{element}\nend_header\n0000").as_bytes(),
            );
        }
    }
    let list = "ply\nformat binary_little_endian 1.0\nelement e 1\nproperty list uint double l\nend_header\n";
    add(
        "2^32 list items",
        Format::Ply,
        &[list.as_bytes(), &[0xFF; 20]].concat(),
    );
    let list = list.replace("uint", "double");
    add(
        "an infinite list",
        Format::Ply,
        &[list.as_bytes(), &f64::INFINITY.to_le_bytes()].concat(),
    );
    add(
        "a list of NaN items",
        Format::Ply,
        &[list.as_bytes(), &f64::NAN.to_le_bytes()].concat(),
    );
    add(
        "a list of 1e300 items",
        Format::Ply,
        &[list.as_bytes(), &1e300f64.to_le_bytes()].concat(),
    );
    add(
        "2^32 facets",
        Format::Stl,
        &[[b' '; 80].as_slice(), &[0xFF; 4], &[0; 100]].concat(),
    );
    add(
        "2^32 facets and no more",
        Format::Stl,
        &[[b' '; 80].as_slice(), &[0xFF; 4]].concat(),
    );
    add("no facets", Format::Stl, &[0; 84]);
    add(
        "NaN facets",
        Format::Stl,
        &[[b' '; 80].as_slice(), &1u32.to_le_bytes(), &[0xFF; 50]].concat(),
    );
    add(
        "a polygon of one point",
        Format::Obj,
        format!("v 0 0 0\nf{}", " 1".repeat(95)).as_bytes(),
    );
    add(
        "index at the edge of i64",
        Format::Obj,
        b"v 0 0 0\nf -9223372036854775807 9223372036854775807 1",
    );
    add(
        "lines joined for ever",
        Format::Obj,
        "\\\n".repeat(100).as_bytes(),
    );
    add(
        "huge exponents",
        Format::Obj,
        b"v 1e999999999 -1e999999999 1e-999999999\nv 1 1 1\nf 1 2 1 2 1",
    );
    add("nested arrays", Format::Gltf, "[".repeat(200).as_bytes());
    add(
        "nested nodes",
        Format::Gltf,
        format!(r#"{{"nodes":{}"#, "[".repeat(180)).as_bytes(),
    );
    add(
        "long nested extras",
        Format::Gltf,
        format!(r#"{{"extras":{}"#, "[".repeat(100_000)).as_bytes(),
    );
    add(
        "long nested objects",
        Format::Gltf,
        r#"{"a":"#.repeat(50_000).as_bytes(),
    );
    let version = r#"{"asset":{"version":"2.0"},"#;
    for (name, rest) in [
        ("cycle", r#""nodes":[{"children":[1]},{"children":[0]}]}"#),
        (
            "scene of nothing",
            r#""scene":18446744073709551615,"scenes":[]}"#,
        ),
        (
            "two parents",
            r#""nodes":[{"children":[1,1,1,1,1]},{"children":[2,2,2,2]},{"children":[3,3,3]},{"mesh":0}]}"#,
        ),
        (
            "zeros",
            r#""meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"accessors":[{"componentType":5126,"count":199999998,"type":"VEC3"}]}"#,
        ),
        (
            "declared buffer",
            r#""buffers":[{"byteLength":1000000000000000000,"uri":"data:;base64,AA"}]}"#,
        ),
        (
            "way out",
            r#""buffers":[{"byteLength":1,"uri":"../../../../etc/passwd"}]}"#,
        ),
    ] {
        add(name, Format::Gltf, format!("{version}{rest}").as_bytes());
    }
    add(
        "glb without chunks",
        Format::Glb,
        b"glTF\x02\0\0\0\x0C\0\0\0",
    );
    add(
        "glb with a chunk of 2^32",
        Format::Glb,
        b"glTF\x02\0\0\0\x14\0\0\0\xFF\xFF\xFF\xFFJSON",
    );
    add(
        "glb with an empty chunk",
        Format::Glb,
        b"glTF\x02\0\0\0\x14\0\0\0\0\0\0\0JSON",
    );
    files
}
