//! Mesh readers on well-formed and odd files. For glTF see `mesh_read_gltf.rs`.

#[allow(dead_code)]
mod mesh_files;

use glam::DVec3;
use mesh_files::{assert_says, message, read};
use touchfield::mesh::read::{Cause, Format, LimitKind, Limits, read_bytes, read_file};

#[test]
fn every_format_gives_the_same_tetrahedron() {
    for (name, format, bytes) in mesh_files::all() {
        let mesh = read(format, &bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(mesh.vertices.len(), 4, "{name}");
        assert_eq!(mesh.faces.len(), 4, "{name}");
        assert!(
            (mesh.signed_volume() - 1.0 / 6.0).abs() < 1e-15,
            "{name}: {}",
            mesh.signed_volume()
        );
        assert_eq!(Format::from_content(&bytes), Some(format), "{name}");
    }
}

#[test]
fn extension_tells_the_format_in_any_case_and_content_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("A.STL", mesh_files::stl_binary()),
        ("b.Glb", mesh_files::glb()),
        ("c.dat", mesh_files::off()),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(
            read_file(&path, &Limits::default()).unwrap().faces.len(),
            4,
            "{name}"
        );
    }
    let path = folder.path().join("d.dat");
    std::fs::write(&path, "hello").unwrap();
    let error = read_file(&path, &Limits::default()).unwrap_err();
    assert_says(
        &error.to_string(),
        &["d.dat", "neither extension nor content", ".obj"],
    );
    let missing = read_file(&folder.path().join("missing.obj"), &Limits::default()).unwrap_err();
    assert_says(&missing.to_string(), &["missing.obj", "cannot be read"]);
    assert!(!missing.is_limit());
}

#[test]
fn limits_are_named_and_told_apart() {
    for (name, format, bytes) in mesh_files::all() {
        let cases = [
            (
                LimitKind::Vertices,
                Limits {
                    vertices: 3,
                    ..Limits::default()
                },
            ),
            (
                LimitKind::Faces,
                Limits {
                    faces: 3,
                    ..Limits::default()
                },
            ),
            (
                LimitKind::Bytes,
                Limits {
                    bytes: 20,
                    ..Limits::default()
                },
            ),
        ];
        for (expected, limits) in cases {
            let error = read_bytes(&bytes, format, &limits).unwrap_err();
            assert!(error.is_limit(), "{name}: {error}");
            assert!(
                matches!(*error.cause, Cause::Limit { kind, .. } if kind == expected),
                "{name}: {error}"
            );
        }
        let exact = Limits {
            vertices: 4,
            faces: 4,
            bytes: bytes.len() as u64,
        };
        assert!(read_bytes(&bytes, format, &exact).is_ok(), "{name}");
    }
}

#[test]
fn a_byte_order_mark_hides_no_line() {
    for (name, format, bytes) in mesh_files::all() {
        if name.contains("binary") || name.contains("endian") || name == "glb" {
            continue;
        }
        let text = String::from_utf8(bytes).unwrap();
        // Without the comment, the first line is a data line.
        let text = format!("\u{feff}{}", text.trim_start_matches("# tetrahedron\n"));
        let mesh = read(format, text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((mesh.vertices.len(), mesh.faces.len()), (4, 4), "{name}");
    }
}

// OBJ

#[test]
fn obj_reads_all_ways_of_writing_a_face() {
    let vertices = "v 0 0 0 1\r\nv 1 0 0 0.5 0.5 0.5\r\n  v\t1 1 0\r\nv 0 1 \\\r\n 0\r\nvt 0 0\r\nvn 0 0 1\r\n";
    for face in [
        "f 1 2 3",
        "f 1/1 2/1 3/1",
        "f 1//1 2//1 3//1",
        "f 1/1/1 2/1/1 3/1/1",
        "f -4 -3 -2",
        "f 1 2 \\\n 3",
        "f 1 2 3 # quad",
        "f 1 2 3#quad",
        "f 1 2 3\\\n",
        "l 1 2\np 1\ng a\ns off\nusemtl x\\\nf 1 2 3",
        "# c\\\nf 1 2 3",
    ] {
        for end in ["", "\n", "\r\n", "\r"] {
            let text = format!("{vertices}{face}{end}");
            let mesh = read(Format::Obj, &text).unwrap_or_else(|error| panic!("{face}: {error}"));
            assert_eq!(mesh.faces, [[0, 1, 2]], "{face}");
            assert_eq!(mesh.vertices[3], DVec3::Y, "{face}");
        }
    }
}

#[test]
fn obj_faces_may_precede_their_vertices_and_count_back_from_where_they_stand() {
    let mesh = read(
        Format::Obj,
        "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -3\nv 0 0 1\nf -1 -2 -3",
    )
    .unwrap();
    assert_eq!(mesh.faces, [[0, 1, 2], [2, 1, 0], [3, 2, 1]]);
}

#[test]
fn obj_accepts_lone_carriage_returns() {
    let text = String::from_utf8(mesh_files::obj())
        .unwrap()
        .replace('\n', "\r");
    assert_eq!(read(Format::Obj, text).unwrap().faces.len(), 4);
}

#[test]
fn obj_accepts_nan_and_infinity_in_every_spelling() {
    let text = "v nan inf -Infinity\nv -nan(ind) 1.#INF -1.#INF\nv NaN +inf -1.#IND\nf 1 2 3";
    let mesh = read(Format::Obj, text).unwrap();
    for v in &mesh.vertices {
        assert!(v.x.is_nan() && v.y == f64::INFINITY, "{v}");
    }
    assert_eq!(
        [mesh.vertices[0].z, mesh.vertices[1].z],
        [f64::NEG_INFINITY; 2]
    );
    assert!(mesh.vertices[2].z.is_nan());
}

#[test]
fn obj_errors_name_line_and_index() {
    let three = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    let says = |face: &str, parts: &[&str]| {
        assert_says(&message(Format::Obj, format!("{three}{face}")), parts)
    };
    says("f 0 1 2", &["line 4", "index 0", "counts from 1"]);
    says("\nf 1 2 9", &["line 5", "index 9", "3 vertices"]);
    says("f 1 2 -4", &["line 4", "index -4", "3 vertices"]);
    says(
        "f 1 2 99999999999999999999",
        &["line 4", "a vertex index", "99999999999"],
    );
    says("f 1 2 x", &["line 4", "a vertex index", "`x`"]);
    says("f 1 2 /3", &["line 4", "a vertex index", "nothing"]);
    says("f 1 2", &["line 4", "2 corners"]);
    says("v 0 0", &["line 4", "a coordinate", "nothing"]);
    says("v 0 0 zero", &["line 4", "a coordinate", "`zero`"]);
    says("", &["no faces", "3 points only"]);
    assert_says(&message(Format::Obj, ""), &["no faces", "0 points"]);
}

// STL

#[test]
fn stl_binary_that_begins_with_solid_is_told_by_its_size() {
    let mut bytes = mesh_files::stl_binary();
    bytes[..12].copy_from_slice(b"solid facet ");
    bytes[12..80].fill(b' ');
    assert_eq!(read(Format::Stl, &bytes).unwrap().faces.len(), 4);
}

#[test]
fn stl_text_may_be_lax() {
    let mut text = String::from_utf8(mesh_files::stl_text()).unwrap();
    text = text.replace("solid t", "solid facet of a vertex");
    let two = format!("{text}\n\n{}", text.to_uppercase().replace('\n', "\r\n\t "));
    let mesh = read(Format::Stl, &two).unwrap();
    assert_eq!((mesh.vertices.len(), mesh.faces.len()), (4, 8));
    let one_line = text.replace('\n', "  ");
    assert_eq!(read(Format::Stl, &one_line).unwrap().faces.len(), 4);
    let bad_normals = text.replace("normal 0 0 0", "normal nan oops");
    assert_eq!(read(Format::Stl, &bad_normals).unwrap().faces.len(), 4);
}

#[test]
fn stl_welds_negative_zero_but_never_nan() {
    let facet = |a: &str, b: &str, c: &str| {
        format!("facet normal 0 0 0 outer loop vertex {a} vertex {b} vertex {c} endloop endfacet\n")
    };
    let text = format!(
        "solid\n{}{}endsolid",
        facet("0 0 0", "1 0 0", "nan 0 0"),
        facet("-0 0 -0.0", "1 0 0", "nan 0 0")
    );
    let mesh = read(Format::Stl, text).unwrap();
    assert_eq!(mesh.faces, [[0, 1, 2], [0, 1, 3]]);
}

#[test]
fn stl_errors_name_the_facet() {
    let text = String::from_utf8(mesh_files::stl_text()).unwrap();
    let cut = text.find("endsolid").unwrap();
    assert_says(
        &message(Format::Stl, &text[..cut]),
        &["facet 4", "`endsolid`", "cut short"],
    );
    let odd = text.replacen("vertex 1 0 0", "vertex 1 0 oops", 1);
    assert_says(&message(Format::Stl, odd), &["line 6", "facet 0", "`oops`"]);
    let binary = mesh_files::stl_binary();
    assert_says(
        &message(Format::Stl, &binary[..150]),
        &["byte 150", "facet 1", "4 facets", "66 bytes follow"],
    );
    let mut few = binary.clone();
    few[80] = 2;
    assert_says(
        &message(Format::Stl, &few),
        &["byte 80", "2 facets", "184 bytes", "has 284"],
    );
    let mut padded = binary;
    padded.extend([0; 7]);
    assert_eq!(read(Format::Stl, &padded).unwrap().faces.len(), 4);
}

// PLY

#[test]
fn ply_skips_what_it_does_not_need_in_every_encoding() {
    let header = "property uchar red\nproperty double z\nproperty list ushort short weights\nproperty short x\nproperty float y\n";
    let rest = "element face 1\nproperty list uint float uv\nproperty list uchar ushort vertex_index\nproperty int flags\nend_header\n";
    let text = format!(
        "ply\nformat ascii 1.0\ncomment c\nobj_info i\nelement edge 1\nproperty list char int e\nelement nothing 1000000000000000000\n\
         element vertex 3\n{header}{rest}2 7 8\n9 3 0 1 2\n9 3 1 5 4 5\n9 6 2 1 1 7 8\n2 0.5 0.5 3 2 1 0 -1\n"
    );
    let mesh = read(Format::Ply, &text).unwrap();
    let expected = [
        DVec3::new(1., 2., 3.),
        DVec3::new(4., 5., 3.),
        DVec3::new(7., 8., 6.),
    ];
    assert_eq!(
        (&mesh.vertices[..], &mesh.faces[..]),
        (&expected[..], &[[2, 1, 0]][..])
    );

    let mut bytes = text.replace("ascii", "binary_big_endian").into_bytes();
    let end = text.find("end_header\n").unwrap() + "binary_big_endian".len() - "ascii".len() + 11;
    bytes.truncate(end);
    bytes.push(2);
    bytes.extend([7i32, 8].iter().flat_map(|x| x.to_be_bytes()));
    for (v, weights) in expected.iter().zip([&[][..], &[5i16], &[1, 1]]) {
        bytes.push(9);
        bytes.extend(v.z.to_be_bytes());
        bytes.extend((weights.len() as u16).to_be_bytes());
        bytes.extend(weights.iter().flat_map(|w| w.to_be_bytes()));
        bytes.extend((v.x as i16).to_be_bytes());
        bytes.extend((v.y as f32).to_be_bytes());
    }
    bytes.extend(2u32.to_be_bytes());
    bytes.extend([0.5f32; 2].iter().flat_map(|x| x.to_be_bytes()));
    bytes.push(3);
    bytes.extend([2u16, 1, 0].iter().flat_map(|x| x.to_be_bytes()));
    bytes.extend((-1i32).to_be_bytes());
    let from_binary = read(Format::Ply, &bytes).unwrap();
    assert_eq!(from_binary, mesh);
}

#[test]
fn ply_faces_may_come_before_vertices_and_strips_are_cut() {
    let text = "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_indices\nelement vertex 4\n\
        property float x\nproperty float y\nproperty float z\nelement tristrips 1\nproperty list int int vertex_indices\n\
        end_header\n3 0 1 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n8 0 1 2 3 -1 3 1 2\n";
    let mesh = read(Format::Ply, text).unwrap();
    assert_eq!(mesh.faces, [[0, 1, 2], [0, 1, 2], [2, 1, 3], [3, 1, 2]]);
}

#[test]
fn ply_header_may_end_its_lines_any_way() {
    for end in ["\r\n", "\r"] {
        let bytes = mesh_files::ply_little_endian();
        let start = bytes
            .windows(11)
            .position(|w| w == b"end_header\n")
            .unwrap()
            + 11;
        let header = String::from_utf8(bytes[..start].to_vec()).unwrap();
        let mut changed = header.replace('\n', end).into_bytes();
        changed.extend(&bytes[start..]);
        // The first data byte must not be read as part of a line end.
        changed[header.replace('\n', end).len()] = b'\n';
        let mesh = read(Format::Ply, &changed).unwrap();
        assert_eq!(mesh.faces.len(), 4);
        assert_eq!(
            mesh.vertices[0].x,
            f64::from(f32::from_le_bytes([b'\n', 0, 0, 0]))
        );
    }
}

#[test]
fn ply_errors_name_place_and_element() {
    let text = String::from_utf8(mesh_files::ply_text()).unwrap();
    let says = |from: &str, to: &str, parts: &[&str]| {
        assert!(text.contains(from));
        assert_says(&message(Format::Ply, text.replace(from, to)), parts);
    };
    says(
        "3 1 2 3",
        "3 1 2 4",
        &["line 16", "face 2", "index 4", "4 vertices"],
    );
    says("3 1 2 3", "3 1 2 -1", &["line 16", "face 2", "index -1"]);
    says("3 1 2 3", "2 1 2", &["line 16", "face 2", "2 corners"]);
    says("0 1 0\n", "0 one 0\n", &["line 12", "vertex 2", "`one`"]);
    says("property float z\n", "", &["line 3", "`x`, `y` and `z`"]);
    says("vertex_indices", "corners", &["line 7", "`vertex_indices`"]);
    says("float y", "flout y", &["line 5", "a type", "`flout`"]);
    says("ascii", "ebcdic", &["line 2", "`ebcdic`"]);
    says("vertex 4", "vertex -4", &["line 3", "a count", "-4"]);
    says(
        "vertex 4",
        "vertex 1000000000000000000",
        &["line 3", "1000000000000000000 vertices"],
    );
    says(
        "element face 4\nproperty list uchar int vertex_indices\n",
        "",
        &["no faces", "4 points"],
    );
    let binary = mesh_files::ply_little_endian();
    assert_says(
        &message(Format::Ply, &binary[..binary.len() - 14]),
        &["face 2", "ends where a vertex index"],
    );
    let mut huge = binary.clone();
    huge[binary.len() - 13] = 200;
    assert_says(
        &message(Format::Ply, huge),
        &["byte", "face 3", "200 list items"],
    );
}

// OFF

#[test]
fn off_reads_every_header_and_skips_colours() {
    let body = "\n# comment\n0 0 0 9 9 9\n\n1 0 0 9 9 9 # more\n1 1 0 9 9 9\n0 1 0 9 9 9\n4 0 1 2 3 255 0 0\n";
    for header in [
        "OFF\n4 1 0",
        "OFF 4 1 0",
        "COFF\n4 1 4",
        "NOFF # n\n4 1 0",
        "STOFF\n\n4 1",
        "STCNOFF\n4 1 0",
        "4 1 0",
        "#c\nOFF\n4 1 0",
    ] {
        let mesh = read(Format::Off, format!("{header}{body}"))
            .unwrap_or_else(|error| panic!("{header}: {error}"));
        assert_eq!((mesh.vertices.len(), mesh.faces.len()), (4, 2), "{header}");
        assert_eq!(mesh.area(), 1.0, "{header}");
    }
}

#[test]
fn off_errors_name_line_and_face() {
    let text = String::from_utf8(mesh_files::off()).unwrap();
    let says = |from: &str, to: &str, parts: &[&str]| {
        assert_says(&message(Format::Off, text.replacen(from, to, 1)), parts);
    };
    says(
        "3 1 2 3",
        "3 1 2 4",
        &["line 9", "face 2", "index 4", "4 vertices"],
    );
    says(
        "3 1 2 3",
        "9999 1 2 3",
        &["line 9", "face 2", "9999 corners"],
    );
    says(
        "4 4 6",
        "1000000000000000000 4 6",
        &["line 2", "1000000000000000000 vertices"],
    );
    says(
        "4 4 6",
        "4 1000000000000000000 6",
        &["line 2", "1000000000000000000 faces"],
    );
    says("OFF", "4OFF", &["line 1", "three dimensions", "export"]);
    says("OFF", "OFF BINARY", &["line 1", "binary OFF", "export"]);
    says("OFF", "MOFF", &["line 1", "`MOFF`"]);
}
