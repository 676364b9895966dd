//! `touchfield bench` at sizes that run quickly.

use super::folder::{CUBE, Folder};

#[test]
fn the_list_names_what_can_be_run() {
    let folder = Folder::new();
    let json = folder.json(&["bench", "list"]);
    assert_eq!(json["benches"][0]["name"], "adelman");
    assert_eq!(json["benches"][1]["name"], "krayer-table1");
    assert_eq!(json["benches"][2]["name"], "sagardia-table1");
    assert_eq!(json["benches"][7]["name"], "xu-table1");
    let text = folder.run(&["bench", "list"]).stdout;
    assert!(text.contains("xu-table1"), "{text}");
    let refused = folder.run(&["bench", "no-such"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("no-such"), "{}", refused.stderr);
}

#[test]
fn the_table_of_xu_is_printed_beside_ours() {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    let arguments = [
        "bench",
        "xu-table1",
        "--model",
        "cube.obj",
        "--resolution",
        "32,128",
        "--out",
        "table.csv",
    ];
    let json = folder.json(&arguments);
    assert_eq!(json["triangles"], 12);
    let rows = json["rows"].as_array().unwrap();
    let shown: Vec<_> = rows
        .iter()
        .map(|row| (row["resolution"].as_u64().unwrap(), row["kind"].clone()))
        .collect();
    let expected = [
        (32, "dense"),
        (32, "sparse"),
        (128, "dense"),
        (128, "sparse"),
    ];
    assert_eq!(shown, expected.map(|(n, kind)| (n, kind.into())));
    for row in rows {
        for key in [
            "field_seconds",
            "octree_seconds",
            "field_bytes",
            "octree_bytes",
        ] {
            assert!(row[key].as_f64().unwrap() > 0.0, "{key} of {row}");
        }
        assert!(row["left_out"].is_null());
    }
    // A cube is as wide as the box of [XuCcd2014]: 129 nodes per side, in 32 bits.
    assert_eq!(rows[2]["field_bytes"], 129u64.pow(3) * 4);
    let share =
        rows[3]["octree_bytes"].as_f64().unwrap() / rows[3]["field_bytes"].as_f64().unwrap();
    assert!(share < 0.1, "{share}");
    assert!(rows[0]["document"].is_null());
    assert_eq!(rows[2]["document"]["field_seconds"], 1.9);
    assert_eq!(rows[2]["document"]["octree_megabytes"], 34.2);

    let table = String::from_utf8(folder.read("table.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 6, "{table}");
    assert_eq!(lines[3], "128,paper,1.9,8200000,0.01,34200000");
    for line in &lines {
        assert_eq!(line.matches(',').count(), 5, "{line}");
    }
    let text = folder
        .run(&["bench", "xu-table1", "--resolution", "8"])
        .stdout;
    assert!(
        text.contains("torus_knot") && text.contains("dense"),
        "{text}"
    );
}

#[test]
fn segments_cell_by_cell_and_by_octree_are_printed_beside_xu() {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    let arguments = [
        "bench",
        "xu-table2",
        "--model",
        "cube.obj",
        "--resolution",
        "16,128",
        "--segments",
        "2000",
        "--out",
        "table.csv",
    ];
    let json = folder.json(&arguments);
    assert_eq!(json["segments"], 2000);
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        let crossings = row["crossings"].as_array().unwrap();
        // Four radii, each with all spans and with the first only.
        assert_eq!(crossings.len(), 8);
        for pair in crossings.chunks(2) {
            assert_eq!(pair[0]["radius"], pair[1]["radius"]);
            assert_eq!(pair[0]["in_contact"], pair[1]["in_contact"], "{row}");
        }
        for found in crossings {
            // A point in the box of a cube is seldom outside the cube: only within the two cells of
            // padding.
            let share = found["in_contact"].as_f64().unwrap() / 2000.0;
            assert!(share > 0.7 && share <= 1.0, "{found}");
            for key in ["cell_by_cell_seconds", "octree_seconds"] {
                assert!(found[key].as_f64().unwrap() > 0.0, "{key} of {found}");
            }
        }
        // Larger balls are in contact at least as often.
        let of = |i: usize| crossings[i]["in_contact"].as_u64().unwrap();
        assert!(of(0) <= of(2) && of(2) <= of(4) && of(4) <= of(6), "{row}");
    }
    assert!(rows[0]["document"].is_null());
    assert_eq!(rows[2]["document"]["octree_seconds"], 12.0);
    let table = String::from_utf8(folder.read("table.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + 4 * 8 + 1, "{table}");
    assert!(lines.iter().all(|line| line.matches(',').count() == 8));
    assert!(lines.contains(&"128,paper,all,0,1000000,12.7,1000000,12,"));

    let small = ["--resolution", "16", "--segments", "100"];
    let text = folder
        .run(&[&["bench", "xu-table2"], &small[..]].concat())
        .stdout;
    for word in ["torus_knot", "cell by cell", "Balls against 16³", "sparse"] {
        assert!(text.contains(word), "{word} in {text}");
    }
    let limited = ["--resolution", "1024", "--max-memory", "24M"];
    let run = folder.run(&[&["bench", "xu-table2"], &limited[..]].concat());
    assert_eq!(run.code, 3, "{}", run.stderr);
}

#[test]
fn shells_point_by_point_and_by_spheres_are_printed_beside_xu() {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    let measured = |bench, extra: &[&str]| {
        let common = ["--resolution", "48", "--out", "table.csv"];
        let json = folder.json(&[&["bench", bench], extra, &common[..]].concat());
        let table = String::from_utf8(folder.read("table.csv")).unwrap();
        let document = json["document"].as_array().unwrap();
        assert_eq!(document[2]["points"], 437_645);
        let rows = json["rows"].as_array().unwrap().clone();
        assert_eq!(table.lines().count(), 1 + 3 + rows.len(), "{table}");
        assert!(table.lines().all(|line| line.matches(',').count() == 11));
        for pair in rows.chunks(2) {
            // All spans, then the first of each motion.
            assert_eq!(pair[0]["in_contact"], pair[1]["in_contact"], "{pair:?}");
            assert!(pair[0]["spans"].as_u64() >= pair[1]["spans"].as_u64());
        }
        for row in &rows {
            for key in ["linear_seconds", "hierarchy_seconds", "in_contact", "ratio"] {
                assert!(row[key].as_f64().unwrap() > 0.0, "{key} of {row}");
            }
        }
        rows
    };
    let cube_and_motions = ["--model", "cube.obj", "--motions", "200"];
    let rows = measured("xu-table3", &cube_and_motions);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["points"], 8);
    assert_eq!(rows[0]["motions"], 200);
    assert_eq!(rows[1]["spans"], rows[1]["in_contact"], "{rows:?}");
    // Boxes of three times the size: some motions miss.
    assert!(rows[0]["in_contact"].as_u64().unwrap() < 200);

    let rows = measured("xu-table4", &["--frames", "400", "--field", "dense"]);
    assert_eq!(rows[0]["motions"], 400);
    assert_eq!(rows[0]["points"], 780);
    // Point by point and by spheres, the states of every frame have the same bits.
    assert_eq!(rows[0]["states_compared"], 400);
    // One span a frame for each role.
    assert!(rows[1]["spans"].as_u64().unwrap() <= 2 * rows[1]["in_contact"].as_u64().unwrap());
    // The body falls for a while, touches, and does not sink in: otherwise points would be in
    // contact in every later frame.
    let touching = rows[0]["in_contact"].as_u64().unwrap();
    assert!(touching > 0 && touching < 300, "{touching}");
    let spans = rows[0]["spans"].as_u64().unwrap();
    assert!(spans < 20 * touching, "{spans} spans in {touching} frames");
}

#[test]
fn stable_steps_are_printed_beside_xu() {
    let folder = Folder::new();
    let json = folder.json(&[
        "bench", "xu-fig6", "--quick", "--out", "f.csv", "--plot", "f.svg",
    ]);
    let rows = json["rows"].as_array().unwrap();
    let forms: Vec<_> = rows.iter().map(|row| row["form"].clone()).collect();
    assert_eq!(forms, ["as written", "ours"]);
    for row in rows {
        for method in ["discrete", "continuous"] {
            // No greater than the linear limit allows, whichever contacts a drop makes.
            let step = row["step"][method].as_f64().unwrap();
            let linear = row["linear_step"][method].as_f64().unwrap();
            assert!(step > 0.05 && step < 1.1 * linear, "{method}: {row}");
        }
        for ratio in row["ratios"].as_array().unwrap() {
            assert!(ratio.as_f64().unwrap() > 0.1, "{row}");
        }
    }
    let table = String::from_utf8(folder.read("f.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 1 + 2, "{table}");
    assert!(
        table.lines().all(|line| line.matches(',').count() == 17),
        "{table}"
    );
    let plot = String::from_utf8(folder.read("f.svg")).unwrap();
    assert_eq!(plot.matches("hω = ").count(), 4, "{plot}");
    for refused in [["--plot", "f.png"], ["--damping", "0"]] {
        let run = folder.run(&[&["bench", "xu-fig6"][..], &refused].concat());
        assert_eq!(run.code, 2, "{}", run.stderr);
    }
}

#[test]
fn the_table_of_krayer_is_printed_beside_ours() {
    let folder = Folder::new();
    let arguments = [
        "bench",
        "krayer-table1",
        "--resolution",
        "4,10",
        "--bodies",
        "12",
        "--repeats",
        "1",
        "--samples",
        "2",
        "--out",
        "table.csv",
        "--model",
        "model.csv",
        "--by-pairs",
        "pairs.csv",
        "--plot",
        "pairs.svg",
    ];
    let json = folder.json(&arguments);
    let rows = json["rows"].as_array().unwrap();
    // Three scenes, two resolutions, three methods.
    assert_eq!(rows.len(), 18);
    for row in rows {
        for key in ["collisions", "pairs", "touching", "milliseconds"] {
            assert!(row[key].as_f64().unwrap() > 0.0, "{key} of {row}");
        }
        assert_eq!(row["document"].is_null(), row["resolution"] == 4);
        if row["starts"] == "seeded" {
            // Nothing is missed down to the cell size.
            assert_eq!(row["pairs_found"], 1.0, "{row}");
            assert!(row["covered"].as_f64().unwrap() > 0.99, "{row}");
        }
    }
    assert_eq!(rows[3]["document"]["milliseconds"], 0.31);
    let table = String::from_utf8(folder.read("table.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 18 + 3, "{table}");
    assert!(
        table.lines().all(|line| line.matches(',').count() == 12),
        "{table}"
    );
    // Two layouts and two cards for each scene and resolution; a nut.
    let model = String::from_utf8(folder.read("model.csv")).unwrap();
    assert_eq!(model.lines().count(), 1 + 3 * 2 * 4 + 1, "{model}");
    let pairs = String::from_utf8(folder.read("pairs.csv")).unwrap();
    assert!(pairs.lines().count() > 6, "{pairs}");
    let plot = String::from_utf8(folder.read("pairs.svg")).unwrap();
    assert!(plot.starts_with("<svg"), "{plot}");
    let refused = folder.run(&["bench", "krayer-table1", "--resolution", "65"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

/// On a face the mean of all boxes is the centre, the best box is near a corner; in a simulation
/// the cube with the first stays upright and the other does not.
#[test]
fn the_fast_method_of_adelman_turns_a_cube_that_the_slow_one_does_not() {
    let folder = Folder::new();
    let quick = ["--poses", "3", "--seconds", "0.5", "--rate", "100"];
    let files = ["--out", "drops.csv", "--out-contacts", "contacts.csv"];
    let json = folder.json(&[&["bench", "adelman"], &quick[..], &files[..]].concat());
    let of = |rows: &str, key: &str, name: &str, contacts: &str| {
        let rows = json[rows].as_array().unwrap().clone();
        let found = |row: &serde_json::Value| row[key] == name && row["contacts"] == contacts;
        rows.into_iter().find(found).unwrap()
    };
    for (contacts, least, most) in [
        ("octree-slow", 0.0, 1.0),
        ("octree-fast", 50.0, 142.0),
        ("octree-hybrid", 0.0, 1.0),
    ] {
        let row = of("contacts", "case", "face on face, straight", contacts);
        let torque = row["torque_percent"].as_f64().unwrap();
        assert!((least..=most).contains(&torque), "{row}");
        let row = of("rows", "scene", "cube on cube", contacts);
        let tilt = row["tilt_degrees"].as_f64().unwrap();
        assert_eq!(tilt < 0.1, contacts != "octree-fast", "{row}");
        assert_eq!(row["failed_steps"], 0, "{row}");
    }
    let lines = |file: &str| {
        std::fs::read_to_string(folder.path(file))
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!(lines("drops.csv"), 17);
    assert_eq!(lines("contacts.csv"), 17);
    let refused = folder.run(&["bench", "adelman", "--seconds", "nan"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

/// Three balls lie as deep in the ground as the area of their shells says.
#[test]
fn a_stack_of_balls_rests_where_the_stiffness_says() {
    let folder = Folder::new();
    let quick = ["--points", "2700", "--seconds", "0.5"];
    let json = folder.json(&[&["bench", "sagardia-stack"], &quick[..]].concat());
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in &rows[..3] {
        let [depth, closed] = ["depth_mm", "closed_form_mm"].map(|key| row[key].as_f64().unwrap());
        assert!((depth / closed - 1.0).abs() < 0.02, "{row}");
    }
}

/// Impulses at the deepest points of segments hold a body up at ten steps a second.
#[test]
fn segments_hold_a_falling_body_at_every_rate() {
    let folder = Folder::new();
    let quick = ["--seconds", "0.5", "--out-curves", "curves.csv"];
    let json = folder.json(&[&["bench", "sagardia-fig10"], &quick[..]].concat());
    assert_eq!(json["rows"].as_array().unwrap().len(), 12);
    let rates = json["rates"].as_array().unwrap();
    assert_eq!(rates.len(), 4 * 4 * 8);
    for row in rates {
        let by_segments = row["contact"].as_str().unwrap().contains("segments");
        assert!(row["held"] == "yes" || !by_segments, "{row}");
    }
    let curves = std::fs::read_to_string(folder.path("curves.csv")).unwrap();
    assert_eq!(curves.lines().count(), 1 + 12 * 100);
}

/// Rapier is not built in by default; the error message names the feature that includes it.
#[cfg(not(feature = "physics"))]
#[test]
fn without_physics_the_way_to_it_is_told() {
    let folder = Folder::new();
    for bench in ["sagardia-table1", "sagardia-fig8", "sagardia-table2"] {
        let run = folder.run(&["bench", bench]);
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("--features physics"), "{}", run.stderr);
    }
}

/// Without the feature `physics`, the falling scenes of \[Krayer2020\] are refused.
#[cfg(not(feature = "physics"))]
#[test]
fn without_physics_the_scenes_of_krayer_do_not_fall() {
    let run = Folder::new().run(&["bench", "krayer-table1", "--physics"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("--features physics"), "{}", run.stderr);
}

/// A few bodies for a few steps: they touch the ground, and none is left out.
#[cfg(feature = "physics")]
#[test]
fn the_scenes_of_krayer_fall_in_rapier() {
    let arguments = [
        "bench",
        "krayer-table1",
        "--physics",
        "--bodies",
        "12",
        "--steps",
        "60",
    ];
    let json = Folder::new().json(&arguments);
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0]["bodies"], 2);
    for row in rows {
        assert!(row["pairs"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["contacts"].as_f64().unwrap() > 0.0, "{row}");
        assert!(
            row["step_cpu_milliseconds"].as_f64().unwrap() > 0.0,
            "{row}"
        );
        assert_eq!(row["is_handled"], true, "{row}");
        assert_eq!(row["gone"], 0, "{row}");
    }
}

/// The ball stays above the depths that \[Sagardia2014\] reports for its method and for Bullet, at
/// every restitution.
#[cfg(feature = "physics")]
#[test]
fn a_bouncing_ball_gets_less_deep_than_sagardia_says() {
    let json = Folder::new().json(&["bench", "sagardia-table1"]);
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        for ball in ["low", "high"] {
            let ours = row["ours_mm"][ball].as_f64().unwrap();
            let theirs = row["document_mm"][ball].as_f64().unwrap();
            assert!(
                ours < theirs,
                "{ball}: {ours} mm, [Sagardia2014]: {theirs} mm"
            );
        }
    }
}

#[test]
fn what_does_not_fit_is_left_out_and_said() {
    let folder = Folder::new();
    let limited = |resolution| {
        [
            "bench",
            "xu-table1",
            "--resolution",
            resolution,
            "--max-memory",
            "24M",
        ]
    };
    let json = folder.json(&limited("16,1024"));
    let rows = json["rows"].as_array().unwrap();
    assert!(rows[0]["field_bytes"].is_u64());
    let why = rows[2]["left_out"].as_str().unwrap();
    assert!(why.contains("more than the 25.2 MB allowed"), "{why}");
    assert!(rows[2]["field_bytes"].is_null());
    let text = folder.run(&limited("16,1024")).stdout;
    assert!(
        text.contains("left out") && text.contains("4.1 GB"),
        "{text}"
    );
    let run = folder.run(&limited("1024"));
    assert_eq!(run.code, 3, "{}", run.stderr);
}

#[test]
fn what_cannot_be_measured_is_refused_before_the_work() {
    let folder = Folder::new();
    folder.write("cube.obj", CUBE);
    for (arguments, cause) in [
        (&["--out", "table.txt"][..], ".csv"),
        (&["--model", "none.obj"], "none.obj"),
        (&["--resolution", "7"], "7"),
        (&["--resolution", "fine"], "fine"),
    ] {
        for bench in ["xu-table1", "xu-table2", "xu-table3", "xu-table4"] {
            let run = folder.run(&[&["bench", bench], arguments].concat());
            assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
            assert!(run.stderr.contains(cause), "{}", run.stderr);
        }
    }
    assert_eq!(folder.names(), ["cube.obj"]);
}
