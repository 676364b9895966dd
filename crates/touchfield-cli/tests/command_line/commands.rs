//! The happy path of every command: files, JSON keys and their types, numbers against closed forms.

use crate::folder::{CUBE, Folder, names_in, numbers, png_size};
use serde_json::{Value, json};

/// Returns the distance to the cube of [`CUBE`].
fn cube_distance(p: [f64; 3]) -> f64 {
    let q = p.map(|x| x.abs() - 0.5);
    let outside = q
        .map(|x| x.max(0.0))
        .into_iter()
        .map(|x| x * x)
        .sum::<f64>()
        .sqrt();
    outside + q.into_iter().fold(f64::NEG_INFINITY, f64::max).min(0.0)
}

fn with_cube() -> Folder {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    folder
}

/// Returns a folder with the mesh and a field of 20³ nodes.
fn with_field() -> Folder {
    let folder = with_cube();
    folder.json(&["bake", "cube.obj", "--resolution", "20", "-o", "cube.tfs"]);
    folder
}

#[test]
fn inspect_names_facts_and_defects_of_a_mesh() {
    let folder = with_cube();
    let json = folder.json(&["inspect", "cube.obj"]);
    assert_eq!((&json["vertices"], &json["faces"]), (&8.into(), &12.into()));
    assert_eq!(
        (&json["watertight"], &json["manifold"]),
        (&true.into(), &true.into())
    );
    assert!((json["volume"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert!((json["area"].as_f64().unwrap() - 6.0).abs() < 1e-12);
    assert_eq!(numbers(&json["bounds"]["min"]), [-0.5; 3]);
    assert_eq!(numbers(&json["bounds"]["max"]), [0.5; 3]);
    assert_eq!(json["defects"], Value::Array(vec![]));

    // Without its last side: four open edges.
    let open = CUBE.rsplit_once("f ").unwrap().0;
    folder.write("open.obj", open);
    let json = folder.json(&["inspect", "open.obj"]);
    assert_eq!(json["watertight"], false);
    let defect = &json["defects"][0];
    assert_eq!(
        (&defect["kind"], &defect["count"]),
        (&"open_edge".into(), &4.into())
    );
    assert!(!defect["first"].as_array().unwrap().is_empty());
    let text = folder.run(&["inspect", "open.obj"]).stdout;
    assert!(
        text.contains("open_edge") && text.contains("watertight  no"),
        "{text}"
    );
}

#[test]
fn inspect_says_when_the_search_for_crossing_faces_was_given_up() {
    // Parallel tilted faces, so that all their boxes overlap.
    let layer = |i: u32| {
        let height = 1e-4 * f64::from(i);
        let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        corners.map(|[x, y]| format!("v {x} {y} {}\n", height + x + 0.5 * y))
    };
    let vertices: String = (0..10_000).flat_map(layer).collect();
    let faces: String = (0..10_000)
        .map(|i| format!("f {} {} {}\n", 3 * i + 1, 3 * i + 2, 3 * i + 3))
        .collect();
    let folder = Folder::new();
    folder.write("stack.obj", vertices + &faces);
    let json = folder.json(&["inspect", "stack.obj"]);
    let defects = json["defects"].as_array().unwrap();
    let crossing = defects.iter().find(|d| d["kind"] == "self_intersection");
    let crossing = crossing.unwrap_or_else(|| panic!("{json}"));
    assert_eq!(
        (&crossing["count"], &crossing["complete"]),
        (&0.into(), &false.into())
    );
    let text = folder.run(&["inspect", "stack.obj"]).stdout;
    assert!(text.contains("the search was given up"), "{text}");
}

#[test]
fn inspect_writes_null_where_there_is_no_number() {
    let folder = Folder::new();
    folder.write("nan.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let json = folder.json(&["inspect", "nan.obj"]);
    assert_eq!(json["bounds"]["min"][0], Value::Null);
    assert_eq!(json["defects"][0]["kind"], "non_finite");
}

#[test]
fn units_scale_what_is_read() {
    let folder = with_cube();
    let json = folder.json(&["inspect", "cube.obj", "--units", "mm"]);
    assert!((json["volume"].as_f64().unwrap() / 1e-9 - 1.0).abs() < 1e-9);
    let json = folder.json(&[
        "bake",
        "cube.obj",
        "--units",
        "mm",
        "--cell-size",
        "0.05mm",
        "-o",
        "cube.tfs",
    ]);
    assert!(
        (json["cell_size"].as_f64().unwrap() / 5e-5 - 1.0).abs() < 1e-6,
        "{json}"
    );
    // 20 cells and two of padding on both sides, plus one more where rounding requires it.
    for nodes in numbers(&json["resolution"]) {
        assert!((25.0..=26.0).contains(&nodes), "{json}");
    }
}

#[test]
fn bake_tells_what_it_made_and_inspect_reads_the_same() {
    let folder = with_cube();
    let baked = folder.json(&[
        "bake",
        "cube.obj",
        "--resolution",
        "20",
        "-o",
        "cube.tfs",
        "--threads",
        "2",
    ]);
    assert_eq!(folder.names(), ["cube.obj", "cube.tfs"]);
    for key in [
        "seconds",
        "voxels_per_second",
        "error_bound",
        "measured_error",
        "cell_size",
    ] {
        assert!(baked[key].as_f64().unwrap() > 0.0, "{key} of {baked}");
    }
    assert_eq!(baked["threads"], 2);
    assert_eq!(baked["kind"], "dense");
    assert_eq!(baked["sign_method"], "pseudonormal");
    assert_eq!(baked["doubtful_cells"], 0);
    assert_eq!(numbers(&baked["resolution"]), [20.0; 3]);
    assert_eq!(baked["bytes"], folder.read("cube.tfs").len());
    assert!(baked["measured_error"].as_f64() <= baked["error_bound"].as_f64());

    let found = folder.json(&["inspect", "cube.tfs"]);
    for key in [
        "kind",
        "resolution",
        "cell_size",
        "bounds",
        "error_bound",
        "measured_error",
        "bytes",
        "sign_method",
        "doubtful_cells",
        "notes",
    ] {
        assert_eq!(found[key], baked[key], "{key}");
    }
    let text = folder.run(&["inspect", "cube.tfs"]).stdout;
    assert!(
        text.contains("20 × 20 × 20") && text.contains("pseudonormal"),
        "{text}"
    );
}

#[test]
fn every_kind_of_field_is_used_alike_and_a_tolerance_is_kept() {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    folder.write("points.csv", "0,0,0\n0.7,0,0\n0.1,0.2,0.49\n");
    for (more, kind, bits) in [
        (&["--tolerance", "20mm"][..], "sparse", json!(16)),
        (&["--field", "sparse", "--bits", "8"], "sparse", json!(8)),
        (&["--field", "taylor"], "taylor", json!(null)),
    ] {
        let baked = folder.json(&[&["bake", "cube.obj", "-o", "cube.tfs"], more].concat());
        assert_eq!((&baked["kind"], &baked["bits"]), (&json!(kind), &bits));
        if bits == 16 {
            assert!(baked["error_bound"].as_f64().unwrap() <= 0.02, "{baked}");
        }
        let inspected = folder.json(&["inspect", "cube.tfs"]);
        for key in [
            "kind",
            "resolution",
            "cell_size",
            "error_bound",
            "blocks",
            "levels",
            "bytes",
        ] {
            assert_eq!(inspected[key], baked[key], "{key}");
        }
        folder.json(&[
            "sample",
            "cube.tfs",
            "--points",
            "points.csv",
            "-o",
            "samples.csv",
        ]);
        let rows = String::from_utf8(folder.read("samples.csv")).unwrap();
        let distances: Vec<f64> = rows
            .lines()
            .filter_map(|row| row.split(',').next()?.parse().ok())
            .collect();
        let within = inspected["error_bound"].as_f64().unwrap();
        for (found, exact) in distances.iter().zip([-0.5, 0.2, -0.01]) {
            assert!((found - exact).abs() <= within, "{rows}");
        }
        assert_eq!(distances.len(), 3);
        folder.json(&["slice", "cube.tfs", "--axis", "z", "-o", "s.png"]);
        folder.json(&["render", "cube.tfs", "--size", "120x90", "-o", "r.png"]);
    }
}

#[test]
fn a_baked_file_is_known_by_its_content_too() {
    let folder = with_field();
    std::fs::copy(folder.path("cube.tfs"), folder.path("cube.obj")).unwrap();
    assert_eq!(folder.json(&["inspect", "cube.obj"])["kind"], "dense");
}

#[test]
fn bake_copes_with_bad_meshes_and_repair_mends_them() {
    let folder = with_cube();
    let lidless = CUBE.rsplit_once("f ").unwrap().0;
    folder.write("open.obj", lidless);
    let json = folder.json(&["bake", "open.obj", "--resolution", "20", "-o", "open.tfs"]);
    assert_eq!(json["sign_method"], "winding");
    assert!(json["doubtful_cells"].as_u64().unwrap() > 0);
    assert!(
        json["notes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|note| note.as_str().unwrap().contains("open_edge"))
    );
    let json = folder.json(&[
        "bake",
        "open.obj",
        "--resolution",
        "20",
        "--repair",
        "-o",
        "mended.tfs",
    ]);
    assert_eq!(json["repair"]["holes_filled"], 1);
    assert_eq!(
        (&json["sign_method"], &json["doubtful_cells"]),
        (&"pseudonormal".into(), &0.into())
    );

    folder.write("nan.obj", format!("{CUBE}v nan 0 0\nf 1 2 9\n"));
    folder.fails(
        &["bake", "nan.obj", "-o", "nan.tfs"],
        2,
        &["nan.obj", "face 12", "vertex 8", "--repair"],
    );
    folder.json(&[
        "bake",
        "nan.obj",
        "--resolution",
        "20",
        "--repair",
        "-o",
        "nan.tfs",
    ]);
}

#[test]
fn every_sign_and_method_gives_the_same_cube() {
    let folder = with_cube();
    folder.write("p.csv", "0,0,0\n0.1,0.2,-0.3\n0.52,0,0\n");
    for more in [
        ["--sign", "auto"],
        ["--sign", "pseudonormal"],
        ["--sign", "winding"],
        ["--sign", "parity"],
        ["--sign", "offset"],
        ["--method", "exact"],
        ["--method", "brute-force"],
        ["--method", "bound-tree"],
        ["--method", "scan"],
        ["--method", "chamfer"],
        ["--method", "vector"],
        ["--method", "fast-marching"],
    ] {
        folder.json(
            &[
                &["bake", "cube.obj", "--resolution", "12", "-o", "cube.tfs"],
                &more[..],
            ]
            .concat(),
        );
        let json = folder.json(&["sample", "cube.tfs", "--points", "p.csv"]);
        assert_eq!(
            (&json["points"], &json["inside"]),
            (&3.into(), &2.into()),
            "{more:?}"
        );
    }
}

#[test]
fn samples_are_distances_and_gradients() {
    let folder = with_field();
    let points = [
        [0.0, 0.0, 0.0],
        [0.1, -0.05, 0.3],
        [0.55, 0.0, 0.1],
        [-3.0, 0.2, 0.0],
    ];
    let rows: Vec<String> = points
        .iter()
        .map(|[x, y, z]| format!("{x},{y},{z}"))
        .collect();
    folder.write("p.csv", format!("x,y,z\n{}\n", rows.join("\n")));
    let bound = folder.json(&["inspect", "cube.tfs"])["error_bound"]
        .as_f64()
        .unwrap();

    let stdout = folder
        .run(&["sample", "cube.tfs", "--points", "p.csv"])
        .stdout;
    let mut lines = stdout.lines();
    assert_eq!(lines.next(), Some("distance,gx,gy,gz"));
    for (line, point) in lines.by_ref().zip(points) {
        let row: Vec<f64> = line.split(',').map(|word| word.parse().unwrap()).collect();
        let truth = cube_distance(point);
        assert_eq!(row.len(), 4);
        if point[0].abs() < 1.0 {
            assert!(
                (row[0] - truth).abs() <= bound,
                "{row:?} at {point:?}, {truth}"
            );
        } else {
            assert!(
                row[0] <= truth && row[0] > 0.0,
                "{row:?} at {point:?}, {truth}"
            );
            assert!(row[1] < -0.9, "{row:?}");
        }
    }
    assert_eq!(lines.next(), None);

    // The same rows in files.
    let json = folder.json(&["sample", "cube.tfs", "--points", "p.csv", "-o", "d.csv"]);
    assert_eq!(String::from_utf8(folder.read("d.csv")).unwrap(), stdout);
    assert_eq!(
        (&json["points"], &json["inside"], &json["outside_grid"]),
        (&4.into(), &2.into(), &1.into())
    );
    assert!(json["min_distance"].as_f64() < json["max_distance"].as_f64());
    assert!(json["seconds"].as_f64().unwrap() >= 0.0);

    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 3), }\n";
    npy.extend((header.len() as u16).to_le_bytes());
    npy.extend(header.as_bytes());
    npy.extend(
        points
            .as_flattened()
            .iter()
            .flat_map(|x: &f64| x.to_le_bytes()),
    );
    folder.write("p.npy", &npy);
    folder.json(&["sample", "cube.tfs", "--points", "p.npy", "-o", "d.npy"]);
    let bytes = folder.read("d.npy");
    assert!(String::from_utf8_lossy(&bytes).contains("'shape': (4, 4)"));
    let values: Vec<f32> = bytes[bytes.len() - 64..]
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    let expected: Vec<f32> = stdout
        .lines()
        .skip(1)
        .flat_map(|line| line.split(','))
        .map(|word| word.parse().unwrap())
        .collect();
    assert_eq!(values, expected);
}

#[test]
fn no_points_are_no_error() {
    let folder = with_field();
    folder.write("none.csv", "x,y,z\n");
    let json = folder.json(&["sample", "cube.tfs", "--points", "none.csv"]);
    assert_eq!(
        (&json["points"], &json["min_distance"]),
        (&0.into(), &Value::Null)
    );
}

#[test]
fn slices_and_renders_are_pictures_of_the_size_asked_for() {
    let folder = with_field();
    for axis in ["x", "y", "z"] {
        let json = folder.json(&[
            "slice",
            "cube.tfs",
            "--axis",
            axis,
            "--width",
            "320",
            "--doubtful",
            "-o",
            "s.png",
        ]);
        let (width, height) = png_size(&folder.read("s.png"));
        assert_eq!(
            (&json["width"], &json["height"]),
            (&width.into(), &height.into())
        );
        assert_eq!(width, 320);
    }
    let json = folder.json(&[
        "slice", "cube.tfs", "--axis", "z", "--at", "-20cm", "-o", "s.png",
    ]);
    assert_eq!(json["at"], -0.2);
    let pose = "cube.tfs@-1.5,0,0.25,0,0,-1,1";
    folder.json(&[
        "render",
        "cube.tfs",
        pose,
        "--size",
        "96x64",
        "--azimuth",
        "-30",
        "--elevation",
        "20",
        "-o",
        "r.png",
    ]);
    assert_eq!(png_size(&folder.read("r.png")), (96, 64));
    assert_eq!(folder.names(), ["cube.obj", "cube.tfs", "r.png", "s.png"]);
}

#[test]
fn a_mesh_where_a_field_is_wanted_is_baked_on_the_way() {
    let folder = with_cube();
    let run = folder.run(&[
        "slice", "cube.obj", "--axis", "x", "--width", "320", "-o", "s.png", "--json",
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        serde_json::from_str::<Value>(&run.stdout)
            .unwrap()
            .is_object()
    );
    assert!(run.stderr.contains("baked in memory"), "{}", run.stderr);
}

#[test]
fn models_are_written_in_every_format_and_read_back_sound() {
    let folder = Folder::new();
    for format in ["obj", "stl", "ply"] {
        let json = folder.json(&["models", "--out", format, "--format", format]);
        let models = json["models"].as_array().unwrap();
        assert!(models.len() >= 15);
        assert_eq!(names_in(&folder.path(format)).len(), models.len());
        for model in models.iter().take(3) {
            let json = folder.json(&["inspect", model["file"].as_str().unwrap()]);
            assert_eq!(
                (&json["faces"], &json["watertight"]),
                (&model["faces"], &true.into()),
                "{model}"
            );
        }
    }
}

#[test]
fn the_demo_leaves_pictures_and_fields_and_says_what_is_next() {
    let folder = Folder::new();
    let run = folder.run(&["demo", "--resolution", "24"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains("torus_knot") && run.stdout.contains("touchfield bake"),
        "{}",
        run.stdout
    );
    let names = names_in(&folder.path("touchfield-demo"));
    assert_eq!(
        names.iter().filter(|name| name.ends_with(".tfs")).count(),
        3
    );
    assert_eq!(
        names.iter().filter(|name| name.ends_with(".png")).count(),
        7
    );
    let json = folder.json(&["demo", "--resolution", "24", "--out", "again"]);
    assert_eq!(json["models"].as_array().unwrap().len(), 3);
    let scene = ["trajectory.npz", "scene.glb", "strip.png", "energy.svg"];
    let scene = scene.map(|name| format!("dominoes/{name}"));
    let files = names.into_iter().filter(|name| name != "dominoes");
    for name in files.chain(scene) {
        let first = folder.read(&format!("touchfield-demo/{name}"));
        assert!(
            first == folder.read(&format!("again/{name}")),
            "{name} differs between runs"
        );
    }
}

#[test]
fn the_baked_file_is_the_same_on_any_number_of_threads() {
    let folder = Folder::new();
    folder.json(&["models", "--out", "."]);
    for model in ["torus_knot.obj", "mug.obj"] {
        let bake = |threads: &str| {
            folder.json(&[
                "bake",
                model,
                "--resolution",
                "40",
                "--threads",
                threads,
                "-o",
                "f.tfs",
            ]);
            folder.read("f.tfs")
        };
        let one = bake("1");
        for threads in ["2", "3", "8"] {
            assert!(one == bake(threads), "{model} on {threads} threads");
        }
    }
}

/// A picture of a plate thinner than a cell is empty; a note must say so.
#[test]
fn a_body_without_an_inside_is_said_to_be_so() {
    let folder = Folder::new();
    // The last number of a vertex is its height.
    let flat = |line: &str| match line.strip_suffix("0.5") {
        Some(start) => format!("{start}0.0001\n"),
        None => format!("{line}\n"),
    };
    folder.write("plate.obj", CUBE.lines().map(flat).collect::<String>());
    folder.write("cube.obj", CUBE);
    for name in ["plate", "cube"] {
        let (mesh, field) = (format!("{name}.obj"), format!("{name}.tfs"));
        folder.json(&["bake", &mesh, "--resolution", "12", "-o", &field]);
    }
    let slice = |field| ["slice", field, "--axis", "x", "-o", "s.png"];
    let render = |field| {
        [
            "render", "cube.tfs", field, "--size", "40x30", "-o", "r.png",
        ]
    };
    for arguments in [&slice("plate.tfs")[..], &render("plate.tfs")] {
        let run = folder.run(arguments);
        assert_eq!(run.code, 0);
        assert!(
            run.stderr.contains("plate.tfs: no node is inside"),
            "{}",
            run.stderr
        );
        let notes = folder.json(arguments)["notes"].clone();
        let notes = notes.as_array().unwrap();
        // Its contacts are still drawn, because its file holds its surface points.
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(
            (notes.iter()).all(|note| note.as_str().unwrap().contains("plate.tfs")),
            "{notes:?}"
        );
    }
    for arguments in [&slice("cube.tfs")[..], &render("cube.tfs")] {
        assert_eq!(folder.json(arguments)["notes"], json!([]));
        assert_eq!(folder.run(arguments).stderr, "");
    }
}

/// Quoted numbers in the first row are a point; a quoted heading is not.
#[test]
fn quoted_tables_lose_no_row() {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    folder.json(&["bake", "cube.obj", "--resolution", "12", "-o", "cube.tfs"]);
    for (table, points) in [
        ("\"1\",\"2\",\"3\"\n0,0,0\n", 2),
        ("\"x\",\"y\",\"z\"\n0,0,0\n", 1),
    ] {
        folder.write("p.csv", table);
        let answer = folder.json(&["sample", "cube.tfs", "--points", "p.csv"]);
        assert_eq!(answer["points"], points, "{table}");
    }
}

/// Filling a hole cuts through a spike behind it: the answer of the repair reports the new defects.
#[test]
fn repair_says_when_it_makes_crossings() {
    let folder = Folder::new();
    // A cube without its top, and a closed tetrahedron that stands in the opening.
    let open = CUBE.replace("f 5 6 7 8\n", "");
    let spike = "v 0.1 0.1 0.2\nv -0.1 0.1 0.2\nv 0 -0.1 0.2\nv 0 0.03 0.9
f 9 11 10\nf 9 10 12\nf 10 11 12\nf 11 9 12\n";
    folder.write("spiked.obj", format!("{open}{spike}"));
    folder.write("open.obj", &open);
    let bake = |mesh| {
        [
            "bake",
            mesh,
            "--repair",
            "--resolution",
            "12",
            "-o",
            "f.tfs",
        ]
    };
    let repair = folder.json(&bake("spiked.obj"))["repair"].clone();
    assert_eq!(repair["holes_filled"], 1, "{repair}");
    assert_eq!(repair["worse"], json!(["self_intersection"]), "{repair}");
    assert_eq!(
        repair["defects"]["open_edge"],
        json!({ "before": 4, "after": 0 })
    );
    assert!(
        folder
            .run(&bake("spiked.obj"))
            .stdout
            .contains("repair also made defects: self intersection 0 →")
    );
    let repair = folder.json(&bake("open.obj"))["repair"].clone();
    assert_eq!(repair["worse"], json!([]), "{repair}");
}

/// Returns a cube whose sides are cut at `height` and bent inwards there by `by`.
fn waisted(height: f64, by: f64) -> String {
    let ring = |half: f64, z: f64| {
        format!(
            "v -{half} -{half} {z}\nv {half} -{half} {z}\nv {half} {half} {z}\nv -{half} {half} {z}\n"
        )
    };
    let mut text = ring(0.5, -0.5) + &ring(0.5, 0.3) + &ring(0.5 - by, height) + &ring(0.5, 0.5);
    for below in [0, 4, 8] {
        for side in 0..4 {
            let next = (side + 1) % 4;
            let [a, b] = [below + side + 1, below + next + 1];
            text += &format!("f {a} {b} {} {}\n", b + 4, a + 4);
        }
    }
    text + "f 1 4 3 2\nf 13 14 15 16\n"
}

#[test]
fn an_update_writes_the_file_that_a_new_bake_writes() {
    let folder = Folder::new();
    folder.write("old.obj", waisted(0.4, 0.0));
    folder.write("new.obj", waisted(0.4, 0.05));
    let bake = |mesh: &str, out: &str, more: &[&str]| {
        folder.json(&[&["bake", mesh, "-o", out], more].concat())
    };
    for (kind, most_recomputed) in [
        (&["--resolution", "40"][..], 40_000),
        (&["--resolution", "128", "--field", "sparse"][..], 900_000),
    ] {
        bake("old.obj", "old.tfs", kind);
        let anew = bake("new.obj", "anew.tfs", kind);
        assert!(anew["recomputed"].is_null());
        for (name, more) in [
            ("compared.tfs", ["--before", "old.obj"]),
            ("told.tfs", ["--changed", "-0.5,-0.5,0.3,0.5,0.5,0.5"]),
        ] {
            let json = bake(
                "new.obj",
                name,
                &[&["--update", "old.tfs"], &more[..]].concat(),
            );
            let recomputed = json["recomputed"].as_u64().unwrap();
            assert!((1..most_recomputed).contains(&recomputed), "{recomputed}");
            assert_eq!(folder.read(name), folder.read("anew.tfs"), "{name}");
        }
        assert_ne!(folder.read("old.tfs"), folder.read("anew.tfs"));
    }
    // The file holds its own faces.
    folder.fails(
        &[
            "bake", "new.obj", "-o", "new.tfs", "--update", "old.tfs", "--before", "new.obj",
        ],
        2,
        &["old.tfs", "was not baked from", "new.obj"],
    );
    bake("old.obj", "fine.tfs", &["--tolerance", "20mm"]);
    let update = ["bake", "new.obj", "-o", "new.tfs", "--before", "old.obj"];
    folder.fails(
        &[&update[..], &["--update", "fine.tfs"]].concat(),
        2,
        &["tolerance", "bake anew"],
    );
    bake("old.obj", "taylor.tfs", &["--field", "taylor"]);
    folder.fails(
        &[&update[..], &["--update", "taylor.tfs"]].concat(),
        2,
        &["neither a dense field nor a sparse one"],
    );
}

/// A shell with points one cell apart would be larger than a file keeps. A coarser one is kept, and
/// the faces, which make separations exact.
#[test]
fn a_fine_bake_keeps_its_faces_and_a_coarser_shell() {
    let folder = Folder::new();
    folder.write("cube.obj", waisted(0.4, 0.0));
    let fine = ["--field", "sparse", "--resolution", "300"];
    let bake = ["bake", "cube.obj", "-o", "cube.tfs"];
    let baked = folder.json(&[&bake[..], &fine].concat());
    let notes = baked["notes"].to_string();
    assert!(notes.contains("farther apart than a cell"), "{notes}");
    let apart = [
        "separation",
        "cube.tfs",
        "cube.tfs",
        "--b-in-a",
        "1.5,0,0,0,0,0,1",
    ];
    let found = folder.json(&apart);
    let [lower, upper] = ["lower_bound", "upper_bound"].map(|key| found[key].as_f64().unwrap());
    assert!(
        lower <= 0.5 && 0.5 <= upper && upper - lower < 2e-3,
        "{found}"
    );
    let deep = [
        "collide",
        "cube.tfs",
        "cube.tfs",
        "--b-in-a",
        "0.97,0.1,0.05,0,0,0,1",
    ];
    let contacts = folder.json(&deep);
    let deepest = contacts["contacts"][0]["separation"].as_f64().unwrap();
    assert!((deepest + 0.03).abs() < 0.01, "{deepest}");
}
