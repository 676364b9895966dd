//! `cast --method swept-points`, `sweep --segments`, and `separation --method v-clip`.

use crate::folder::{Folder, numbers, with_cubes};

/// B moves through A along x: sides meet after 0.9 m and separate after 2.1 m.
const THROUGH: [&str; 4] = [
    "--from",
    "1.5,0.05,-0.1,0,0,0,1",
    "--to",
    "-1.5,0.05,-0.1,0,0,0,1",
];

#[test]
fn swept_points_say_when_a_cube_enters_and_leaves_another() {
    let folder = with_cubes();
    let arguments = [
        &["cast", "a.tfs", "b.tfs", "--method", "swept-points"],
        &THROUGH[..],
    ]
    .concat();
    let answer = folder.json(&arguments);
    assert_eq!(answer["hit"], true, "{answer}");
    assert_eq!(answer["proven"], false, "{answer}");
    let spans = answer["spans"].as_array().unwrap();
    let (first, last) = (numbers(&spans[0]), numbers(spans.last().unwrap()));
    assert!((first[0] - 0.3).abs() < 2e-3, "{answer}");
    assert!((last[1] - 0.7).abs() < 2e-3, "{answer}");
    // Never earlier than the proven bound.
    let proof = folder.json(&[&["cast", "a.tfs", "b.tfs"], &THROUGH[..]].concat());
    let [time, lower] = [&answer["time"], &proof["lower_bound"]].map(|v| v.as_f64().unwrap());
    assert!(time >= lower, "{answer} {proof}");
    let beside = ["--from", "1.5,2,0,0,0,0,1", "--to", "-1.5,2,0,0,0,0,1"];
    let arguments = [
        &["cast", "a.tfs", "b.tfs", "--method", "swept-points"],
        &beside[..],
    ]
    .concat();
    let answer = folder.json(&arguments);
    assert_eq!(answer["hit"], false, "{answer}");
    assert!(folder.run(&arguments).stdout.contains("not proven"));
    let failing = [&arguments[..], &["--fail-on-contact"]].concat();
    folder.fails(&failing, 2, &["proves nothing"]);
}

#[test]
fn segments_cross_a_cube_where_they_should() {
    let folder = with_cubes();
    folder.write(
        "ways.csv",
        "-2,0.1,0.1,2,0.1,0.1\n-2,3,0,2,3,0\n0,0,0,2,0.1,0.05\n",
    );
    fn sweep<'a>(more: &[&'a str]) -> Vec<&'a str> {
        let arguments = ["sweep", "a.tfs", "--segments", "ways.csv", "-o", "rows.csv"];
        [&arguments, more].concat()
    }
    let answer = folder.json(&sweep(&[]));
    assert_eq!(answer["segments"], 3);
    assert_eq!(answer["touching"], 2);
    assert_eq!(answer["earliest"], 0.0);
    let rows = String::from_utf8(folder.read("rows.csv")).unwrap();
    let rows: Vec<Vec<f64>> = (rows.lines().skip(1))
        .map(|row| {
            row.split(',')
                .map(|word| word.trim().parse().unwrap())
                .collect()
        })
        .collect();
    for (row, expected) in rows.iter().zip([
        [0.375, 0.625, 1.0, 0.25],
        [-1.0, -1.0, 0.0, 0.0],
        [0.0, 0.25, 1.0, 0.25],
    ]) {
        let is_same = row.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(row.len() == 4 && is_same, "{row:?} {expected:?}");
    }
    assert_eq!(folder.run(&sweep(&["--fail-on-contact"])).code, 1);
    // All around the cube, up to 0.4 m away.
    let around = folder.json(&sweep(&["--target", "0.4"]));
    assert_eq!(around["touching"], 2, "{around}");
}

#[test]
fn segments_that_are_none_are_refused() {
    let folder = with_cubes();
    let refused = |content: &str, words: &[&str]| {
        folder.write("ways.csv", content);
        let arguments = ["sweep", "a.tfs", "--segments", "ways.csv", "-o", "rows.csv"];
        folder.fails(&arguments, 2, words);
    };
    refused("0,0,0,1,NaN,0\n", &["line 1", "NaN"]);
    refused("0,0,0,1,1e99,0\n", &["line 1", "finite"]);
    refused("0,0,0,1,0\n", &["line 1"]);
    refused("0,0,0,1,0,0,1\n", &["line 1"]);
    folder.write("ways.npy", "\u{93}NUMPY");
    let npy = ["sweep", "a.tfs", "--segments", "ways.npy", "-o", "rows.csv"];
    folder.fails(&npy, 2, &["ways.npy"]);
    let both = [
        "sweep",
        "a.tfs",
        "b.tfs",
        "--segments",
        "ways.csv",
        "-o",
        "rows.csv",
    ];
    folder.fails(&both, 2, &["cannot be used with"]);
    let neither = ["sweep", "a.tfs", "--poses", "ways.csv", "-o", "rows.csv"];
    folder.fails(&neither, 2, &["required"]);
    // An empty file of segments is not an error.
    folder.write("ways.csv", "");
    let empty = folder.json(&["sweep", "a.tfs", "--segments", "ways.csv", "-o", "rows.csv"]);
    assert_eq!(
        (&empty["segments"], &empty["touching"]),
        (&0.into(), &0.into())
    );
    assert!(empty["earliest"].is_null(), "{empty}");
}

#[test]
fn v_clip_names_the_nearest_features_and_agrees_with_gjk() {
    let folder = with_cubes();
    let at = |pose: &str, more: &[&str]| {
        let arguments = [
            "separation",
            "a.obj",
            "b.obj",
            "--b-in-a",
            pose,
            "--method",
            "v-clip",
        ];
        folder.json(&[&arguments, more].concat())
    };
    let apart = at("0.9,0.2,0.1,0,0,0,1", &["--convex"]);
    let distance = apart["v_clip"]["distance"].as_f64().unwrap();
    assert!((distance - 0.3).abs() < 1e-6, "{apart}");
    assert!(
        apart["v_clip"]["features"]
            .as_str()
            .unwrap()
            .contains("of A"),
        "{apart}"
    );
    let inside = at("0,0,0,0,0,0,1", &["--convex"]);
    assert_eq!(inside["v_clip"]["distance"], 0.0, "{inside}");
    let without = [
        "separation",
        "a.obj",
        "b.obj",
        "--b-in-a",
        "1,0,0,0,0,0,1",
        "--method",
        "v-clip",
    ];
    folder.fails(&without, 2, &["--convex"]);
    let empty = Folder::new();
    empty.write("a.obj", "");
    let nothing = [
        "separation",
        "a.obj",
        "a.obj",
        "--b-in-a",
        "1,0,0,0,0,0,1",
        "--method",
        "v-clip",
        "--convex",
    ];
    empty.fails(&nothing, 2, &["a.obj"]);
}
