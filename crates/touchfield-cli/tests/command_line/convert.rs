//! `touchfield convert`: every kind into every other, arrays out and in, images and meshes; and
//! every fault of arrays.

#![expect(clippy::unwrap_used, reason = "a failed `unwrap` is a failed test")]

use std::io::{Cursor, Write};
use std::process::Command;

use crate::folder::{CUBE, Folder, Run, numbers};
use serde_json::Value;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const KINDS: [&str; 4] = ["dense", "taylor", "sparse", "voxmap"];

/// Returns the distance to the cube of [`CUBE`].
fn cube_distance(p: [f64; 3]) -> f64 {
    let q = p.map(|x| x.abs() - 0.5);
    let outside = q
        .map(|x| x.max(0.0) * x.max(0.0))
        .iter()
        .sum::<f64>()
        .sqrt();
    outside + q.into_iter().fold(f64::NEG_INFINITY, f64::max).min(0.0)
}

/// Returns a folder with the cube baked to every kind.
fn with_fields() -> Folder {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    for kind in KINDS {
        let file = format!("{kind}.tfs");
        let more = [
            "--field",
            kind,
            "--resolution",
            "27",
            "--field-only",
            "-o",
            &file,
        ];
        let baked = folder.json(&[&["bake", "cube.obj"], more.as_slice()].concat());
        assert_eq!(baked["kind"], kind);
    }
    folder
}

/// Writes a file of points all over the cube and around it.
fn write_points(folder: &Folder) -> Vec<[f64; 3]> {
    let mut state = 1u64;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((state >> 40) as f64 / f64::from(1 << 24) - 0.5) * 1.15
    };
    let points: Vec<[f64; 3]> = (0..500).map(|_| [next(), next(), next()]).collect();
    let text: String = points
        .iter()
        .map(|[x, y, z]| format!("{x},{y},{z}\n"))
        .collect();
    folder.write("p.csv", text);
    points
}

/// Asserts that a field keeps its error bound against the cube.
fn assert_is_cube(folder: &Folder, file: &str, points: &[[f64; 3]]) {
    let bound = folder.json(&["inspect", file])["error_bound"]
        .as_f64()
        .unwrap();
    let rows = folder.run(&["sample", file, "--points", "p.csv"]);
    assert_eq!(rows.code, 0, "{}", rows.stderr);
    let rows: Vec<f64> = (rows.stdout.lines().skip(1))
        .map(|row| row.split(',').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(rows.len(), points.len());
    for (row, &point) in rows.iter().zip(points) {
        let off = (row - cube_distance(point)).abs();
        assert!(off <= bound, "{file}: {row} at {point:?}, {off} > {bound}");
    }
}

#[test]
fn every_kind_becomes_every_other_and_keeps_its_promise() {
    let folder = with_fields();
    let points = write_points(&folder);
    for from in KINDS {
        let input = format!("{from}.tfs");
        assert_is_cube(&folder, &input, &points);
        for to in KINDS {
            let json = folder.json(&["convert", &input, "--field", to, "-o", "out.tfs"]);
            assert_eq!(
                (&json["kind"], &json["from_kind"]),
                (&to.into(), &from.into())
            );
            let inspected = folder.json(&["inspect", "out.tfs"]);
            for key in [
                "kind",
                "resolution",
                "error_bound",
                "measured_error",
                "bytes",
            ] {
                assert_eq!(json[key], inspected[key], "{key}");
            }
            if from == to {
                assert_eq!(folder.read(&input), folder.read("out.tfs"), "{from}");
                assert_eq!(json["error_bound"], json["from_error_bound"]);
            }
            assert_is_cube(&folder, "out.tfs", &points);
        }
    }
    // A kind that is not named stays the same; a mesh is baked first.
    assert_eq!(
        folder.json(&["convert", "sparse.tfs", "--bits", "8", "-o", "o.tfs"])["bits"],
        8
    );
    let coarse = folder.json(&["convert", "taylor.tfs", "--cell-size", "0.1", "-o", "o.tfs"]);
    assert_eq!(
        (&coarse["kind"], &coarse["cell_size"]),
        (&"taylor".into(), &0.1.into())
    );
    assert_is_cube(&folder, "o.tfs", &points);
    let tolerance = ["--field", "sparse", "--tolerance", "0.2", "--bits", "32"];
    let dropped = [
        &["convert", "dense.tfs", "-o", "o.tfs"],
        tolerance.as_slice(),
    ]
    .concat();
    assert!(folder.json(&dropped)["blocks"].as_u64().unwrap() < 64);
    let baked = folder.json(&[
        "convert", "cube.obj", "--field", "voxmap", "--voxels", "scaled", "-o", "o.tfs",
    ]);
    assert_eq!(
        (&baked["voxels"], &baked["bits"]),
        (&"scaled".into(), &32.into())
    );
    assert_is_cube(&folder, "o.tfs", &points);
    // The text reports this too.
    let text = folder
        .run(&["convert", "dense.tfs", "--field", "sparse", "-o", "o.tfs"])
        .stdout;
    assert!(
        text.contains("from") && text.contains("error bound"),
        "{text}"
    );
}

#[test]
fn every_voxel_number_bakes_slices_and_renders() {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    let points = write_points(&folder);
    for (voxels, bits) in [("layers", 16), ("scaled", 32), ("full", 64)] {
        let more = [
            "--field",
            "voxmap",
            "--voxels",
            voxels,
            "--resolution",
            "24",
            "-o",
            "v.tfs",
        ];
        let baked = folder.json(&[&["bake", "cube.obj"], more.as_slice()].concat());
        assert_eq!(
            (&baked["voxels"], &baked["bits"]),
            (&voxels.into(), &bits.into())
        );
        assert_is_cube(&folder, "v.tfs", &points);
        folder.json(&["slice", "v.tfs", "--axis", "z", "-o", "v.png"]);
        folder.json(&["render", "v.tfs", "--size", "120x90", "-o", "r.png"]);
        let text = folder.run(&["inspect", "v.tfs"]).stdout;
        assert!(text.contains("23 × 23 × 23 voxels"), "{text}");
    }
    let bake = ["bake", "cube.obj", "--field", "voxmap", "-o", "out.tfs"];
    folder.fails(
        &[&bake[..], &["--padding", "0"]].concat(),
        2,
        &["--padding 1"],
    );
    folder.fails(
        &[&bake[..], &["--method", "chamfer"]].concat(),
        2,
        &["--method exact"],
    );
    folder.fails(
        &[&bake[..], &["--max-memory", "1M"]].concat(),
        3,
        &["--max-memory"],
    );
    folder.write("open.obj", CUBE.rsplit_once("f ").unwrap().0);
    let open = ["bake", "open.obj", "--field", "voxmap", "-o", "out.tfs"];
    folder.fails(&open, 2, &["open.obj", "--repair", "--field dense"]);
}

#[test]
fn levels_become_closed_meshes() {
    let folder = with_fields();
    for kind in KINDS {
        for (level, side) in [("0", 1.0), ("-100mm", 0.8), ("0.05", 1.1)] {
            let input = format!("{kind}.tfs");
            let out = ["out.obj", "out.stl", "out.ply"][KINDS.len() % 3];
            let json = folder.json(&["convert", &input, "--level", level, "-o", out]);
            assert_eq!(json["kind"], "mesh");
            let mesh = folder.json(&["inspect", out]);
            assert_eq!(mesh["watertight"], true, "{kind} at {level}");
            assert_eq!(mesh["faces"], json["faces"]);
            // As exact as the field and the cells of 45 mm from which the mesh is extracted.
            let sizes = numbers(&mesh["bounds"]["max"]);
            for size in sizes {
                assert!((2.0 * size - side).abs() < 0.1, "{kind} at {level}: {size}");
            }
        }
    }
    folder.fails(
        &["convert", "dense.tfs", "--level", "-9", "-o", "o.stl"],
        2,
        &["--level"],
    );
    folder.fails(
        &["convert", "dense.tfs", "--cells", "2", "-o", "o.stl"],
        2,
        &["4 to 4096"],
    );
    let tight = [
        "convert",
        "dense.tfs",
        "--max-memory",
        "100K",
        "-o",
        "o.stl",
    ];
    folder.fails(&tight, 3, &["--max-memory"]);
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let folder = with_fields();
    let to = |out: &'static str, more: &[&'static str]| {
        [&["convert", "dense.tfs", "-o", out], more].concat()
    };
    folder.fails(
        &to("o.npz", &["--field", "sparse"]),
        2,
        &["--field", ".tfs"],
    );
    folder.fails(&to("o.vti", &["--bits", "8"]), 2, &["--bits", ".tfs"]);
    folder.fails(&to("o.tfs", &["--level", "0"]), 2, &["--level", ".stl"]);
    folder.fails(
        &to("o.stl", &["--cell-size", "1mm"]),
        2,
        &["--cell-size", "--cells"],
    );
    folder.fails(&to("o.tfs", &["--bits", "8"]), 2, &["--field sparse"]);
    folder.fails(&to("o.tfs", &["--voxels", "full"]), 2, &["--field voxmap"]);
    folder.fails(
        &to("o.tfs", &["--node-error", "0"]),
        2,
        &["--node-error", ".npz"],
    );
    folder.fails(
        &to("o.tfs", &["--cell-size", "-1"]),
        2,
        &["--cell-size", "positive"],
    );
    folder.fails(
        &to("o.tfs", &["--cell-size", "1um"]),
        3,
        &["dense.tfs", "--cell-size"],
    );
    folder.fails(
        &to("o.tfs", &["--cell-size", "1mm", "--max-memory", "4M"]),
        3,
        &["--cell-size 1", "4.19 MB"],
    );
    let sparse =
        |more: &[&'static str]| [to("o.tfs", &["--field", "sparse"]), more.to_vec()].concat();
    folder.fails(&sparse(&["--band", "0"]), 2, &["--band"]);
    folder.fails(&sparse(&["--tolerance=-1mm"]), 2, &["--tolerance"]);
    folder.fails(
        &sparse(&["--tolerance", "1mm", "--band", "2"]),
        2,
        &["cannot be used with"],
    );
    folder.fails(
        &to("o.png", &[]),
        2,
        &[".tfs or .npz or .vti or .obj or .stl or .ply"],
    );
    folder.fails(&to("dense.tfs", &[]), 2, &["is read"]);
    folder.fails(&["convert", "none.tfs", "-o", "o.tfs"], 2, &["none.tfs"]);
    folder.fails(&["convert", "none.npz", "-o", "o.tfs"], 2, &["none.npz"]);
    // A doubtful sign cannot be stored in a sparse field.
    folder.write("open.obj", CUBE.rsplit_once("f ").unwrap().0);
    folder.json(&["bake", "open.obj", "--resolution", "20", "-o", "open.tfs"]);
    folder.fails(
        &["convert", "open.tfs", "--field", "sparse", "-o", "o.tfs"],
        2,
        &["open.tfs", "hole", "closed mesh"],
    );
    folder.json(&["convert", "open.tfs", "--field", "taylor", "-o", "o.tfs"]);
}

/// Returns a file of NumPy's, written after its description and independently of the code under
/// test.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [
        b"\x93NUMPY\x01\0".as_slice(),
        &length,
        header.as_bytes(),
        data,
    ]
    .concat()
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn archive(arrays: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in arrays {
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

const NODES: [usize; 3] = [23, 21, 22];

/// Returns distances to the cube at nodes 0.07 m apart, changed by `change`, in C order.
fn cube_values(change: impl Fn([usize; 3], f64) -> f64) -> Vec<f64> {
    let mut values = Vec::new();
    for i in 0..NODES[0] {
        for j in 0..NODES[1] {
            for k in 0..NODES[2] {
                let at = [i, j, k].map(|n| n as f64 * 0.07);
                let distance = cube_distance([at[0] - 0.75, at[1] - 0.7, at[2] - 0.73]);
                values.push(change([i, j, k], distance));
            }
        }
    }
    values
}

/// Returns the arrays of the cube; `more` replaces those of the same name, and an empty one removes
/// them.
fn cube_arrays(values: &[f64], more: &[(&'static str, Vec<u8>)]) -> Vec<(&'static str, Vec<u8>)> {
    let shape = "(23, 21, 22)";
    let mut arrays = vec![
        ("distance", npy("<f8", false, shape, &doubles(values))),
        (
            "origin",
            npy("<f8", false, "(3,)", &doubles(&[-0.75, -0.7, -0.73])),
        ),
        ("cell_size", npy("<f8", false, "()", &doubles(&[0.07]))),
        ("node_error", npy("<f8", false, "()", &doubles(&[0.0]))),
    ];
    arrays.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
    arrays.extend(more.iter().filter(|(_, bytes)| !bytes.is_empty()).cloned());
    arrays
}

#[test]
fn any_grid_becomes_a_field() {
    let folder = Folder::new();
    let points = write_points(&folder);
    let values = cube_values(|_, d| d);
    let convert = ["convert", "g.npz", "-o", "g.tfs"];
    let stored = CompressionMethod::Stored;
    folder.write(
        "g.npz",
        archive(&cube_arrays(&values, &[]), CompressionMethod::Deflated),
    );
    let json = folder.json(&convert);
    assert_eq!(
        (&json["sign_method"], &json["measured_error"]),
        (&"given".into(), &Value::Null)
    );
    // Exact nodes have a proven bound of half a cell diagonal.
    let bound = json["error_bound"].as_f64().unwrap();
    assert!((bound / 0.07 - 3f64.sqrt() / 2.0).abs() < 1e-3, "{bound}");
    assert_is_cube(&folder, "g.tfs", &points);
    let first = folder.read("g.tfs");
    // Fortran order, single precision, the other byte order and other names give the same.
    let [nx, ny, nz] = NODES;
    let fortran: Vec<u8> = (0..nx * ny * nz)
        .map(|at| values[(at % nx * ny + at / nx % ny) * nz + at / nx / ny])
        .flat_map(f64::to_be_bytes)
        .collect();
    let more = [
        ("distance", npy(">f8", true, "(23, 21, 22)", &fortran)),
        ("cell_size", Vec::new()),
        ("spacing", npy("<f8", false, "(3,)", &doubles(&[0.07; 3]))),
    ];
    folder.write("g.npz", archive(&cube_arrays(&values, &more), stored));
    folder.json(&convert);
    assert_eq!(folder.read("g.tfs"), first);
    // Integers are accepted too: a cube of 2 m in cells of 1 m, with distances known by hand.
    let mut cells = Vec::new();
    for at in 0..125 {
        let p: [i32; 3] = [at / 25 - 2, at / 5 % 5 - 2, at % 5 - 2];
        let q = p.map(|x| f64::from(x.abs() - 1));
        let outside = q
            .map(|x| x.max(0.0) * x.max(0.0))
            .iter()
            .sum::<f64>()
            .sqrt();
        cells.extend((outside + q.into_iter().fold(-9.0, f64::max).min(0.0)).to_le_bytes());
    }
    let whole = |numbers: &[i64]| {
        numbers
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let arrays = [
        ("distance", npy("<f8", false, "(5, 5, 5)", &cells)),
        ("origin", npy("<i8", false, "(3,)", &whole(&[-2, -2, -2]))),
        ("cell_size", npy("<i8", false, "()", &whole(&[1]))),
    ];
    folder.write("w.npz", archive(&arrays, stored));
    let json = folder.json(&["convert", "w.npz", "--error-bound", "0.875", "-o", "w.tfs"]);
    // The bound is half of a diagonal rounded to f32.
    let bound = json["error_bound"].as_f64().unwrap();
    assert!((0.875..0.875001).contains(&bound), "{bound}");
    assert_eq!(numbers(&json["bounds"]["max"]), [2.0; 3]);
    // Converted directly to another kind.
    let json = folder.json(&["convert", "g.npz", "--field", "taylor", "-o", "t.tfs"]);
    assert_eq!(json["kind"], "taylor");
    assert_is_cube(&folder, "t.tfs", &points);
    let text = folder.run(&["inspect", "g.tfs"]).stdout;
    assert!(
        text.contains("as promised") && !text.contains("proven"),
        "{text}"
    );
}

#[test]
fn arrays_out_and_in_again_are_the_same_field() {
    let folder = with_fields();
    for kind in KINDS {
        let input = format!("{kind}.tfs");
        let json = folder.json(&["convert", &input, "-o", "a.npz"]);
        assert_eq!(json["kind"], "dense");
        folder.json(&["convert", "a.npz", "-o", "b.tfs"]);
        folder.json(&["convert", "b.tfs", "-o", "c.npz"]);
        assert_eq!(folder.read("a.npz"), folder.read("c.npz"), "{kind}");
    }
    let mut archive = ZipArchive::new(Cursor::new(folder.read("a.npz"))).unwrap();
    let mut names: Vec<String> = archive
        .file_names()
        .map(|name| name.unwrap().into_owned())
        .collect();
    names.sort();
    let expected = ["cell_size", "distance", "error_bound", "origin", "solid"];
    assert_eq!(names, expected.map(|name| format!("{name}.npy")));
    let distance = archive.by_name("distance.npy").unwrap();
    assert_eq!(distance.compression(), CompressionMethod::Stored);
}

#[test]
fn grids_that_break_their_promise_are_refused_with_the_place() {
    let folder = Folder::new();
    let values = cube_values(|_, d| d);
    let refused = |values: &[f64],
                   more: &[(&'static str, Vec<u8>)],
                   option: &[&str],
                   code: i32,
                   words: &[&str]| {
        folder.write(
            "g.npz",
            archive(&cube_arrays(values, more), CompressionMethod::Stored),
        );
        let convert = [&["convert", "g.npz", "-o", "g.tfs"], option].concat();
        folder.fails(&convert, code, &[words, &["g.npz"]].concat());
    };
    let one = |number: f64| npy("<f8", false, "()", &doubles(&[number]));
    let none: &[(&'static str, Vec<u8>)] = &[];
    refused(
        &values,
        &[("node_error", Vec::new())],
        &[],
        2,
        &["how exact", "--node-error", "--error-bound"],
    );
    refused(
        &values,
        &[("distance", Vec::new())],
        &[],
        2,
        &["`distance`", "is missing", "numpy.savez"],
    );
    refused(
        &values,
        &[("origin", Vec::new())],
        &[],
        2,
        &["`origin`", "is missing"],
    );
    refused(
        &values,
        &[("cell_size", Vec::new())],
        &[],
        2,
        &["`cell_size`", "is missing"],
    );
    let spacing = npy("<f8", false, "(3,)", &doubles(&[0.07, 0.07, 0.08]));
    refused(
        &values,
        &[("cell_size", Vec::new()), ("spacing", spacing)],
        &[],
        2,
        &["cube"],
    );
    refused(
        &values,
        &[("cell_size", one(f64::NAN))],
        &[],
        2,
        &["cell_size", "NaN"],
    );
    refused(&values, &[("cell_size", one(-1.0))], &[], 2, &["positive"]);
    refused(
        &values,
        &[("node_error", one(-1.0))],
        &[],
        2,
        &["promises nothing"],
    );
    refused(
        &values,
        none,
        &["--node-error", "-1"],
        2,
        &["promises nothing"],
    );
    refused(
        &values,
        &[("origin", npy("<f8", false, "(2,)", &doubles(&[0.0; 2])))],
        &[],
        2,
        &["2 numbers instead of 3"],
    );
    let flat = npy("<f8", false, "(483, 22)", &doubles(&values));
    refused(
        &values,
        &[("distance", flat)],
        &[],
        2,
        &["(483, 22)", "three-dimensional"],
    );
    let whole = npy("<i8", false, "(23, 21, 22)", &doubles(&values));
    refused(&values, &[("distance", whole)], &[], 2, &["astype"]);
    let thin = npy("<f8", false, "(1, 483, 22)", &doubles(&values));
    refused(&values, &[("distance", thin)], &[], 2, &["at least 2"]);
    let objects = npy("|O", false, "(23, 21, 22)", &doubles(&values));
    refused(&values, &[("distance", objects)], &[], 2, &["`|O`"]);
    // Values that are not distances: steeper than 1, by far or at one node only.
    let steep = cube_values(|_, d| 1.5 * d);
    refused(
        &steep,
        none,
        &[],
        2,
        &["pairs of neighbouring nodes", "unit of the cell size"],
    );
    let spike = cube_values(|at, d| if at == [4, 5, 6] { d + 0.2 } else { d });
    refused(&spike, none, &[], 2, &["(4, 5, 6)", "--node-error"]);
    let hole = cube_values(|at, d| if at == [4, 5, 6] { f64::NAN } else { d });
    refused(&hole, none, &[], 2, &["distance[4, 5, 6] is NaN"]);
    let far = cube_values(|at, d| if at == [22, 20, 21] { 1e300 } else { d });
    refused(&far, none, &[], 2, &["distance[22, 20, 21] is inf"]);
    // Inside at the border.
    let cut = cube_values(|_, d| d - 0.4);
    refused(&cut, none, &[], 2, &["border", "deepest", "node ("]);
    let away = npy(
        "<f8",
        false,
        "(2, 3)",
        &doubles(&[5.0, 5.0, 5.0, 6.0, 6.0, 6.0]),
    );
    refused(&values, &[("solid", away)], &[], 2, &["outside the box"]);
    // Rough values with an honest error bound are accepted, with a note. Judged by the values alone
    // the surface may leave the grid, so the solid's box is given.
    let rough = ["--node-error", "0.2"];
    refused(&spike, none, &rough, 2, &["border", "may be", "`solid`"]);
    let holds = npy(
        "<f8",
        false,
        "(2, 3)",
        &doubles(&[-0.5, -0.5, -0.5, 0.5, 0.5, 0.5]),
    );
    let arrays = cube_arrays(&spike, &[("solid", holds)]);
    folder.write("g.npz", archive(&arrays, CompressionMethod::Stored));
    let json = folder.json(&["convert", "g.npz", "--node-error", "0.2", "-o", "g.tfs"]);
    let notes = json["notes"].to_string();
    assert!(notes.contains("slopes there exceed 1"), "{notes}");
}

#[test]
fn hostile_archives_are_refused_without_memory() {
    let folder = Folder::new();
    let values = cube_values(|_, d| d);
    let fails = |bytes: Vec<u8>, code: i32, words: &[&str]| {
        folder.write("h.npz", bytes);
        let convert = ["convert", "h.npz", "--max-memory", "64M", "-o", "h.tfs"];
        folder.fails(&convert, code, &[words, &["h.npz"]].concat());
    };
    let with = |distance: Vec<u8>, method| {
        archive(&cube_arrays(&values, &[("distance", distance)]), method)
    };
    let stored = CompressionMethod::Stored;
    let deflated = CompressionMethod::Deflated;
    fails(
        b"PK\x03\x04 and no archive".to_vec(),
        2,
        &["no .npz archive", "numpy.savez"],
    );
    // Shapes that need more bytes than there are.
    let some = doubles(&values);
    fails(
        with(npy("<f8", false, "(230, 21, 22)", &some), stored),
        2,
        &["cut short"],
    );
    fails(
        with(npy("<f4", true, "(3000, 3000, 3000)", &some), stored),
        3,
        &["108 GB", "--max-memory"],
    );
    fails(
        with(
            npy("<f4", true, "(4294967295, 4294967295, 4294967295)", &some),
            stored,
        ),
        3,
        &["--max-memory"],
    );
    fails(
        with(npy("<f4", true, "(99999999999, 2, 2)", &some), stored),
        2,
        &["three-dimensional"],
    );
    fails(
        with(
            npy("<f4", true, "(99999999999999999999999, 2, 2)", &some),
            stored,
        ),
        2,
        &["shape"],
    );
    // A zip bomb: 256 MiB of zeros in 260 kB. Above the limit it is not unpacked; below it there
    // are too few nodes.
    let zeros = vec![0; 256 << 20];
    fails(
        with(npy("<f4", true, "(256, 512, 512)", &zeros), deflated),
        3,
        &["268 MB"],
    );
    let header = [
        b"\x93NUMPY\x02\0".as_slice(),
        &(200u32 << 20).to_le_bytes(),
        &zeros[..200 << 20],
    ]
    .concat();
    fails(with(header, deflated), 2, &["array `distance`", "header"]);
    drop(zeros);
    // Cut anywhere, and with bits flipped: the result is an error or a field, never a panic.
    let whole = archive(&cube_arrays(&values, &[]), deflated);
    let outcome = |bytes: &[u8]| -> Run {
        folder.write("h.npz", bytes);
        let run = folder.run(&["convert", "h.npz", "--max-memory", "64M", "-o", "h.tfs"]);
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        run
    };
    for length in (1..whole.len()).step_by(whole.len() / 40) {
        assert_eq!(outcome(&whole[..length]).code, 2, "cut at {length}");
    }
    for at in (0..whole.len()).step_by(whole.len() / 80) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        let run = outcome(&flipped);
        assert!([0, 2, 3].contains(&run.code), "{at}: {}", run.stderr);
    }
}

/// Returns the text between two words.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    text.split_once(before)
        .unwrap()
        .1
        .split_once(after)
        .unwrap()
        .0
}

/// Reads the image after the description of the format. If `TOUCHFIELD_PYTHON` names a Python with
/// PyVista, also reads it with that.
#[test]
fn images_hold_the_values_in_their_places() {
    let folder = with_fields();
    let input = "dense.tfs";
    folder.json(&["convert", input, "-o", "d.vti"]);
    folder.json(&["convert", input, "-o", "d.npz"]);
    let bytes = folder.read("d.vti");
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let at = bytes.windows(mark.len()).position(|w| w == mark).unwrap();
    let head = String::from_utf8(bytes[..at].to_vec()).unwrap();
    let data = &bytes[at + mark.len()..];
    let extent: Vec<usize> = between(&head, "WholeExtent=\"", "\"")
        .split(' ')
        .map(|n| n.parse().unwrap())
        .collect();
    let floats = |text: &str| -> Vec<f64> { text.split(' ').map(|n| n.parse().unwrap()).collect() };
    let origin = floats(between(&head, "Origin=\"", "\""));
    let spacing = floats(between(&head, "Spacing=\"", "\""));
    let bound: f64 = between(&head, "format=\"ascii\">", "<").parse().unwrap();
    let nodes = [extent[1] + 1, extent[3] + 1, extent[5] + 1];
    let count: usize = nodes.iter().product();
    assert_eq!(
        u64::from_le_bytes(data[..8].try_into().unwrap()),
        4 * count as u64
    );
    for index in 0..count {
        let place = [
            index % nodes[0],
            index / nodes[0] % nodes[1],
            index / nodes[0] / nodes[1],
        ];
        let point = std::array::from_fn(|axis| origin[axis] + spacing[axis] * place[axis] as f64);
        let raw = data[8 + 4 * index..12 + 4 * index].try_into().unwrap();
        let off = (f64::from(f32::from_le_bytes(raw)) - cube_distance(point)).abs();
        assert!(off < 1e-6, "{off} at {point:?}");
    }
    let found = folder.json(&["inspect", input])["error_bound"]
        .as_f64()
        .unwrap();
    assert!((found - bound).abs() < 1e-6 * found);
    let Some(python) = std::env::var_os("TOUCHFIELD_PYTHON") else {
        // scripts/test sets the variable; a manual test run may not.
        return;
    };
    write_points(&folder);
    folder.json(&["sample", input, "--points", "p.csv", "-o", "s.csv"]);
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/command_line/read_exports.py"
    );
    let run = Command::new(python)
        .arg(script)
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    let (out, errors) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert!(
        run.status.success() && out.contains("values and gradients agree"),
        "{out}{errors}"
    );
}

/// The data for contact queries in a file survives a conversion to another kind.
#[test]
fn points_and_faces_for_contact_stay() {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    folder.json(&["bake", "cube.obj", "--resolution", "27", "-o", "dense.tfs"]);
    let shape =
        |name: &str| touchfield::shape::file::read_file(&folder.path(name), u64::MAX).unwrap();
    let before = shape("dense.tfs");
    assert!(before.shell.is_some() && before.surface.is_some());
    for kind in ["taylor", "sparse"] {
        let file = format!("{kind}.tfs");
        folder.json(&["convert", "dense.tfs", "--field", kind, "-o", &file]);
        let after = shape(&file);
        assert_eq!(after.stored.field.kind(), kind);
        assert_eq!(after.shell, before.shell, "{kind}");
        assert_eq!(after.surface, before.surface, "{kind}");
    }
}
