//! `sweep`: one row for each pose.

use crate::folder::{Folder, with_cubes};
use serde_json::Value;

const HEADING: &str = "separation,nx,ny,nz,px,py,pz,contacts";

/// Returns poses of B along x: 0.06 m deep in A at the first pose, then 0.01 m farther out at each.
fn poses(count: usize) -> Vec<[f64; 7]> {
    let pose = |i: usize| [0.54 + 0.01 * i as f64, 0.05, -0.1, 0.0, 0.0, 0.0, 1.0];
    (0..count).map(pose).collect()
}

fn separation_at(i: usize) -> f64 {
    -0.06 + 0.01 * i as f64
}

fn csv(rows: &[[f64; 7]]) -> String {
    let line = |row: &[f64; 7]| row.map(|x| x.to_string()).join(",") + "\n";
    rows.iter().map(line).collect()
}

/// Returns an `.npy` file of rows, as `f4` or `f8`.
fn npy(rows: &[[f64; 7]], single: bool) -> Vec<u8> {
    let kind = if single { "<f4" } else { "<f8" };
    let header = format!(
        "{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}, 7), }}\n",
        rows.len()
    );
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for &x in rows.as_flattened() {
        match single {
            true => bytes.extend((x as f32).to_le_bytes()),
            false => bytes.extend(x.to_le_bytes()),
        }
    }
    bytes
}

fn sweep(folder: &Folder, poses: &str, output: &str, more: &[&str]) -> Value {
    let arguments = ["sweep", "a.tfs", "b.tfs", "--poses", poses, "-o", output];
    folder.json(&[&arguments, more].concat())
}

/// Reads the rows of a CSV file, without its heading.
fn rows_of_csv(folder: &Folder, name: &str) -> Vec<Vec<f32>> {
    let text = String::from_utf8(folder.read(name)).unwrap_or_default();
    assert_eq!(text.lines().next(), Some(HEADING));
    let row = |line: &str| {
        line.split(',')
            .map(|x| x.parse().unwrap_or(f32::NAN))
            .collect()
    };
    text.lines().skip(1).map(row).collect()
}

/// Reads the rows of an `f4` array of shape `(count, 8)`.
fn rows_of_npy(folder: &Folder, name: &str, count: usize) -> Vec<Vec<f32>> {
    let bytes = folder.read(name);
    let values = bytes.len() - 32 * count;
    let header = String::from_utf8_lossy(&bytes[..values]).into_owned();
    assert!(
        header.contains(&format!("({count}, 8)")) && header.contains("<f4"),
        "{header}"
    );
    let numbers: Vec<f32> = (bytes[values..].as_chunks().0.iter())
        .map(|&four| f32::from_le_bytes(four))
        .collect();
    numbers.chunks_exact(8).map(<[f32]>::to_vec).collect()
}

/// Reads the rows of a Parquet file of eight plain columns with one page each.
fn rows_of_parquet(folder: &Folder, name: &str, count: usize) -> Vec<Vec<f32>> {
    let bytes = folder.read(name);
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let tail = bytes.len() - 8;
    let footer = u32::from_le_bytes(std::array::from_fn(|i| bytes[tail + i])) as usize;
    for column in HEADING.split(',') {
        let named = bytes[tail - footer..tail]
            .windows(column.len())
            .any(|text| text == column.as_bytes());
        assert!(named, "no column {column}");
    }
    let pages = &bytes[4..tail - footer];
    let page = pages.len() / 8;
    let number = |column: usize, row: usize| {
        let at = (column + 1) * page - 4 * (count - row);
        f32::from_le_bytes(std::array::from_fn(|i| pages[at + i]))
    };
    (0..count)
        .map(|row| (0..8).map(|column| number(column, row)).collect())
        .collect()
}

#[test]
fn rows_tell_separation_normal_point_and_contacts() {
    let folder = with_cubes();
    folder.write(
        "p.csv",
        "tx,ty,tz,qx,qy,qz,qw\n".to_owned() + &csv(&poses(10)),
    );
    let answer = sweep(&folder, "p.csv", "r.csv", &[]);
    assert_eq!(answer["poses"], 10);
    let seconds = answer["seconds"].as_f64().unwrap_or(-1.0);
    assert!(seconds > 0.0, "{answer}");
    let rate = answer["poses_per_second"].as_f64().unwrap_or(-1.0);
    assert!((rate * seconds - 10.0).abs() < 1e-6, "{answer}");
    let rows = rows_of_csv(&folder, "r.csv");
    assert_eq!(rows.len(), 10);
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(row.len(), 8, "{row:?}");
        let truth = separation_at(i);
        // The estimate is as accurate as the fields: 0.1 m.
        assert!((f64::from(row[0]) - truth).abs() < 0.1, "{truth}: {row:?}");
        assert!(row[1] > 0.9, "from A to B: {row:?}");
        assert!(
            (f64::from(row[4]) - (0.5 + 0.5 * truth)).abs() < 0.1,
            "midway: {row:?}"
        );
        // At the pose that just touches, rounding decides.
        if i != 6 {
            assert_eq!(row[7] > 0.0, truth < 0.0, "{row:?}");
        }
        assert_eq!(row[7].fract(), 0.0, "{row:?}");
    }
    let touching = rows.iter().filter(|row| row[7] > 0.0).count();
    assert_eq!(answer["touching"], touching);
}

#[test]
fn a_sweep_says_what_the_single_commands_say() {
    let folder = with_cubes();
    let pose = "0.52,0.03,0.1,0,0,0.3826834,0.9238795";
    folder.write("p.csv", pose);
    sweep(&folder, "p.csv", "r.csv", &[]);
    let row = &rows_of_csv(&folder, "r.csv")[0];
    let pair = |command| folder.json(&[command, "a.tfs", "b.tfs", "--b-in-a", pose]);
    let (separation, collide) = (pair("separation"), pair("collide"));
    let same = |key: &str, at: usize| {
        for (i, number) in crate::folder::numbers(&separation[key])
            .into_iter()
            .enumerate()
        {
            assert_eq!(row[at + i], number as f32, "{key}");
        }
    };
    assert_eq!(
        Some(f64::from(row[0]) as f32),
        separation["separation"].as_f64().map(|x| x as f32)
    );
    same("normal", 1);
    same("point", 4);
    let contacts = collide["contacts"].as_array().map_or(0, Vec::len);
    assert_eq!(row[7], contacts as f32);
    assert!(contacts > 0);
}

#[test]
fn tables_and_arrays_hold_the_same_rows() {
    let folder = with_cubes();
    let poses = poses(10);
    folder.write("p.csv", csv(&poses));
    folder.write("p8.npy", npy(&poses, false));
    folder.write("p4.npy", npy(&poses, true));
    sweep(&folder, "p.csv", "r.csv", &[]);
    let expected = rows_of_csv(&folder, "r.csv");
    for input in ["p.csv", "p8.npy", "p4.npy"] {
        assert_eq!(sweep(&folder, input, "r.npy", &[])["poses"], 10);
        assert_eq!(rows_of_npy(&folder, "r.npy", 10), expected, "{input}");
    }
    assert_eq!(sweep(&folder, "p.csv", "r.parquet", &[])["poses"], 10);
    assert_eq!(rows_of_parquet(&folder, "r.parquet", 10), expected);
    sweep(&folder, "p8.npy", "again.csv", &[]);
    assert_eq!(folder.read("again.csv"), folder.read("r.csv"));
}

#[test]
fn many_poses_have_the_same_bits_on_any_number_of_threads() {
    let folder = with_cubes();
    // More than a thread takes at a time, and not a multiple of it.
    let some = poses(15);
    let many: Vec<[f64; 7]> = some.iter().copied().cycle().take(200).collect();
    folder.write("p.npy", npy(&many, false));
    let answer = sweep(&folder, "p.npy", "one.npy", &["--threads", "1"]);
    assert_eq!(answer["poses"], 200);
    sweep(&folder, "p.npy", "four.npy", &["--threads", "4"]);
    assert_eq!(folder.read("one.npy"), folder.read("four.npy"));
    let rows = rows_of_npy(&folder, "one.npy", 200);
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(row, &rows[i % 15], "row {i}: in the order of the poses");
    }
}

#[test]
fn no_poses_are_no_error() {
    let folder = with_cubes();
    for none in ["", "tx,ty,tz,qx,qy,qz,qw\n", "# nothing\n\n"] {
        folder.write("p.csv", none);
        let answer = sweep(&folder, "p.csv", "r.csv", &["--fail-on-contact"]);
        assert_eq!(
            (&answer["poses"], &answer["touching"]),
            (&0.into(), &0.into())
        );
        assert_eq!(answer["least_separation"], Value::Null);
        assert_eq!(folder.read("r.csv"), format!("{HEADING}\n").as_bytes());
    }
    folder.write("p.npy", npy(&[], false));
    sweep(&folder, "p.npy", "r.npy", &[]);
    assert!(rows_of_npy(&folder, "r.npy", 0).is_empty());
}

#[test]
fn a_touch_anywhere_is_exit_code_1_and_the_rows_are_written() {
    let folder = with_cubes();
    folder.write("some.csv", csv(&poses(10)));
    folder.write("none.csv", csv(&poses(12)[8..]));
    let run = |poses: &str, more: &[&str]| {
        let arguments = ["sweep", "a.tfs", "b.tfs", "--poses", poses, "-o", "r.csv"];
        folder.run(&[&arguments, more].concat())
    };
    assert_eq!(run("some.csv", &[]).code, 0);
    assert_eq!(run("none.csv", &["--fail-on-contact"]).code, 0);
    assert_eq!(rows_of_csv(&folder, "r.csv").len(), 4);
    let touching = run("some.csv", &["--fail-on-contact"]);
    assert_eq!((touching.code, touching.stderr.as_str()), (1, ""));
    assert!(touching.stdout.contains("touching"), "{}", touching.stdout);
    assert_eq!(rows_of_csv(&folder, "r.csv").len(), 10);
    // With `--max-separation`, nearby bodies count as contacts.
    let near = run(
        "none.csv",
        &["--fail-on-contact", "--max-separation", "3cm"],
    );
    assert_eq!(near.code, 1);
}

#[test]
fn bad_rows_are_named_by_line_or_row() {
    let folder = with_cubes();
    let good = "0,0,2,0,0,0,1";
    let fails = |name: &str, words: &[&str]| {
        let arguments = ["sweep", "a.tfs", "b.tfs", "--poses", name, "-o", "r.csv"];
        folder.fails(&arguments, 2, &[&[name], words].concat());
    };
    for (bad, words) in [
        ("0,0,0,0,0,0,0", "zero quaternion"),
        ("0,0,0,0,0,1", "6 columns instead of 7"),
        ("0,0,0,0,0,0,1,1", "8 columns instead of 7"),
        ("0,0,nan,0,0,0,1", "NaN"),
        ("0,0,0,nan,0,0,1", "NaN"),
        ("0,0,0,0,0,0,nan", "NaN"),
        ("inf,0,0,0,0,0,1", "f32"),
        ("0,0,0,0,inf,0,1", "f32"),
        ("1e39,0,0,0,0,0,1", "f32"),
        ("0,0,zero,0,0,0,1", "column 3"),
    ] {
        folder.write("p.csv", format!("{good}\n# a remark\n{bad}\n{good}\n"));
        fails("p.csv", &["line 3", words]);
    }
    let mut rows = [[0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0]; 4];
    rows[2][3] = f64::NAN;
    folder.write("p.npy", npy(&rows, false));
    fails("p.npy", &["row 2", "NaN"]);
    rows[2] = [0.0; 7];
    folder.write("p.npy", npy(&rows, true));
    fails("p.npy", &["row 2", "zero quaternion"]);
    let whole = npy(&rows, false);
    folder.write("p.npy", &whole[..whole.len() - 9]);
    fails("p.npy", &[]);
    // Points are not poses.
    let at = whole
        .windows(4)
        .position(|word| word == b"4, 7")
        .unwrap_or(0);
    let mut points = whole[..whole.len() - 8 * 4 * 4].to_vec();
    points[at + 3] = b'3';
    folder.write("p.npy", points);
    fails("p.npy", &["(4, 3)", "7"]);
    folder.write("p.npy", b"\x93NUMPY");
    fails("p.npy", &[]);
    folder.write("p.csv", b"\xff\xfe\x00");
    fails("p.csv", &["line 1", "not text"]);
    fails("missing.csv", &["cannot be read"]);
    fails(".", &["is a folder"]);
}

#[test]
fn inputs_are_not_written_over() {
    let folder = with_cubes();
    folder.write("p.csv", csv(&poses(2)));
    // A field is recognised by its content, whatever its name.
    folder.write("field.csv", folder.read("a.tfs"));
    let before = (folder.read("p.csv"), folder.read("field.csv"));
    let sweep = |a: &str, b: &str, output: &str, words: &[&str]| {
        folder.fails(&["sweep", a, b, "--poses", "p.csv", "-o", output], 2, words);
    };
    sweep("a.tfs", "b.tfs", "p.csv", &["p.csv", "is read"]);
    sweep("a.tfs", "b.tfs", "./p.csv", &["p.csv", "is read"]);
    sweep("field.csv", "b.tfs", "field.csv", &["field.csv", "is read"]);
    sweep("b.tfs", "field.csv", "field.csv", &["field.csv", "is read"]);
    assert_eq!((folder.read("p.csv"), folder.read("field.csv")), before);
    sweep("a.tfs", "b.tfs", "r.txt", &[".npy", ".csv"]);
    sweep("a.tfs", "b.tfs", "no/such/r.csv", &["cannot be written"]);
    sweep("none.tfs", "b.tfs", "r.csv", &["none.tfs"]);
    sweep("a.tfs", "none.tfs", "r.csv", &["none.tfs"]);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let folder = with_cubes();
    folder.write("p.csv", csv(&poses(2)));
    let fails = |more: &[&str], words: &[&str]| {
        let arguments = ["sweep", "a.tfs", "b.tfs", "--poses", "p.csv", "-o", "r.csv"];
        folder.fails(&[&arguments, more].concat(), 2, words);
    };
    fails(&["--max-separation", "-1"], &["not negative"]);
    fails(&["--tolerance", "-1"], &["more than 0"]);
    fails(&["--tolerance", "0"], &["more than 0"]);
    fails(&["--method", "guess"], &["auto", "separation"]);
    // Rows hold the number of contacts, not the contacts: there is nothing to keep.
    fails(&["--keep", "4"], &["--keep"]);
    let nothing = ["sweep", "a.tfs", "b.tfs", "-o", "r.csv"];
    folder.fails(&nothing, 2, &["--poses"]);
    let nowhere = ["sweep", "a.tfs", "b.tfs", "--poses", "p.csv"];
    folder.fails(&nowhere, 2, &["--output"]);
    let small = [
        "sweep",
        "a.tfs",
        "b.tfs",
        "--poses",
        "p.csv",
        "-o",
        "r.csv",
        "--max-memory",
        "100",
    ];
    folder.fails(&small, 3, &["p.csv", "--max-memory"]);
}
