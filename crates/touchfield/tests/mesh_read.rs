//! What each reader makes of well-formed and of odd files.

#[allow(dead_code)]
mod mesh_files;

use glam::DVec3;
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::read::{
    Cause, Format, LimitKind, Limits, Place, ReadError, read_bytes, read_file,
};

fn read(format: Format, bytes: impl AsRef<[u8]>) -> Result<TriangleMesh, ReadError> {
    read_bytes(bytes.as_ref(), format, &Limits::default())
}

#[track_caller]
fn message(format: Format, bytes: impl AsRef<[u8]>) -> String {
    read(format, bytes)
        .expect_err("should be refused")
        .to_string()
}

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

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
        // Without the comment the first line is one that counts.
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
        // The first data byte must not be taken for a part of a line end.
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

// glTF

fn gltf(scene: &str) -> Result<TriangleMesh, ReadError> {
    read(Format::Gltf, mesh_files::gltf_with(scene))
}

#[test]
fn gltf_applies_transforms_down_the_tree_and_turns_mirrored_faces() {
    let scene = r#""scene":1,"scenes":[{},{"nodes":[1]}],"nodes":[{"mesh":0,"scale":[1,1,-2]},
        {"translation":[10,0,0],"rotation":[0,0,0.7071067811865476,0.7071067811865476],"children":[0,2]},
        {"matrix":[2,0,0,0, 0,2,0,0, 0,0,2,0, 0,0,5,1],"mesh":0},{"mesh":0,"translation":[99,99,99]}]"#;
    let mesh = gltf(scene).unwrap();
    assert_eq!((mesh.vertices.len(), mesh.faces.len()), (8, 8));
    // A quarter turn about z takes (1,0,0) to (0,1,0); then ten along x.
    let near = |a: DVec3, b: DVec3| assert!(a.distance(b) < 1e-12, "{a} is not {b}");
    let tip = |of: usize| {
        mesh.vertices[of..of + 4]
            .iter()
            .fold(DVec3::MIN, |a, &b| a.max(b))
    };
    near(tip(0), DVec3::new(10.0, 1.0, 0.0));
    near(tip(4), DVec3::new(10.0, 2.0, 7.0));
    assert!(
        (mesh.signed_volume() - (2.0 + 8.0) / 6.0).abs() < 1e-12,
        "{}",
        mesh.signed_volume()
    );
}

#[test]
fn gltf_without_scene_shows_all_roots_and_without_nodes_all_meshes() {
    assert_eq!(
        gltf(r#""nodes":[{"mesh":0},{"children":[0]},{"mesh":0}]"#)
            .unwrap()
            .faces
            .len(),
        8
    );
    assert_eq!(gltf(r#""extras":1"#).unwrap().faces.len(), 4);
}

fn glb_of(
    primitive: &str,
    accessors: &str,
    views: &str,
    buffer: &[u8],
) -> Result<TriangleMesh, ReadError> {
    let length = buffer.len();
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{{"mesh":0}}],"meshes":[{{"primitives":[{primitive}]}}],
        "accessors":[{accessors}],"bufferViews":[{views}],"buffers":[{{"byteLength":{length}}}]}}"#
    );
    read(Format::Glb, mesh_files::glb_around(&json, buffer))
}

#[test]
fn gltf_strips_and_fans_without_indices() {
    let square: Vec<u8> = [[0f32, 0., 0.], [1., 0., 0.], [0., 1., 0.], [1., 1., 0.]]
        .iter()
        .flatten()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let accessor = r#"{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}"#;
    let view = r#"{"buffer":0,"byteLength":48}"#;
    let mode = |mode: u32| {
        glb_of(
            &format!(r#"{{"attributes":{{"POSITION":0}},"mode":{mode}}}"#),
            accessor,
            view,
            &square,
        )
    };
    assert_eq!(mode(5).unwrap().signed_area_z(), 1.0);
    assert_eq!(mode(5).unwrap().faces.len(), 2);
    assert_eq!(mode(6).unwrap().faces.len(), 2);
    assert_says(&mode(0).unwrap_err().to_string(), &["no faces"]);
    assert_says(
        &mode(4).unwrap_err().to_string(),
        &["meshes[0].primitives[0]", "4 corners"],
    );
    assert_says(
        &mode(7).unwrap_err().to_string(),
        &["meshes[0].primitives[0].mode", "7"],
    );
}

trait SignedArea {
    fn signed_area_z(&self) -> f64;
}

impl SignedArea for TriangleMesh {
    fn signed_area_z(&self) -> f64 {
        self.triangles().map(|t| 0.5 * t.area_vector().z).sum()
    }
}

#[test]
fn gltf_reads_quantized_strided_and_sparse_positions() {
    // Normalised i16 in steps of 8 bytes; then vertex 2 replaced by (0, 1, 0).
    let mut buffer: Vec<u8> = [[0i16, 0, 0, 7], [32767, 0, 0, 7], [-32768, -32768, 0, 7]]
        .iter()
        .flatten()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    buffer.extend([2, 0, 0, 0]);
    buffer.extend([0i16, 32767, 0, 0].iter().flat_map(|x| x.to_le_bytes()));
    let views = r#"{"buffer":0,"byteLength":24,"byteStride":8},{"buffer":0,"byteOffset":24,"byteLength":1},
        {"buffer":0,"byteOffset":28,"byteLength":6}"#;
    let primitive = r#"{"attributes":{"POSITION":0}}"#;
    let plain =
        r#"{"bufferView":0,"componentType":5122,"normalized":true,"count":3,"type":"VEC3"}"#;
    let mesh = glb_of(primitive, plain, views, &buffer).unwrap();
    assert_eq!(
        mesh.vertices,
        [DVec3::ZERO, DVec3::X, DVec3::new(-1.0, -1.0, 0.0)]
    );
    let sparse = plain.replace(
        "\"type\"",
        r#""sparse":{"count":1,"indices":{"bufferView":1,"componentType":5121},"values":{"bufferView":2}},"type""#,
    );
    let mesh = glb_of(primitive, &sparse, views, &buffer).unwrap();
    assert_eq!(mesh.vertices, [DVec3::ZERO, DVec3::X, DVec3::Y]);
    let zeros = sparse.replace(
        r#""bufferView":0,"componentType":5122"#,
        r#""componentType":5122"#,
    );
    let mesh = glb_of(primitive, &zeros, views, &buffer).unwrap();
    assert_eq!(mesh.vertices, [DVec3::ZERO, DVec3::Y]);
    let bomb = zeros.replace(r#""count":3"#, r#""count":150000000"#);
    let error = glb_of(primitive, &bomb, views, &buffer).unwrap_err();
    assert_says(
        &error.to_string(),
        &["accessors[0].count", "150000000 elements"],
    );
}

#[test]
fn gltf_refuses_graphs_that_are_no_trees() {
    let says =
        |scene: &str, parts: &[&str]| assert_says(&gltf(scene).unwrap_err().to_string(), parts);
    says(
        r#""nodes":[{"mesh":0,"children":[0]}]"#,
        &["nodes[0]", "its own ancestor"],
    );
    says(
        r#""nodes":[{"mesh":0},{"children":[2]},{"children":[1]}]"#,
        &["nodes[1]", "its own ancestor"],
    );
    says(
        r#""nodes":[{"children":[1,1]},{"mesh":0}]"#,
        &["nodes[0].children", "nodes[1]", "one parent"],
    );
    says(
        r#""nodes":[{"children":[2]},{"children":[2]},{"mesh":0}]"#,
        &["nodes[1].children", "nodes[2]", "nodes[0]"],
    );
    says(
        r#""scenes":[{"nodes":[0,0]}],"nodes":[{"mesh":0}]"#,
        &["scenes[0].nodes", "twice"],
    );
    says(
        r#""nodes":[{"children":[7]}]"#,
        &["nodes[0].children", "nodes[7]", "1 nodes"],
    );
    says(r#""nodes":[{"mesh":7}]"#, &["nodes[0].mesh", "meshes[7]"]);
    says(r#""scene":3,"nodes":[{"mesh":0}]"#, &["scene", "scenes[3]"]);
    says(
        r#""nodes":[{"mesh":0,"rotation":[0,0,0,0]}]"#,
        &["nodes[0].rotation"],
    );
    says(
        r#""nodes":[{"mesh":0,"matrix":[1,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1]}]"#,
        &["nodes[0].matrix"],
    );
    says(
        r#""nodes":[{"mesh":0,"extensions":{"EXT_mesh_gpu_instancing":{}}}]"#,
        &["nodes[0]", "instanc"],
    );
}

#[test]
fn gltf_walks_a_chain_of_a_hundred_thousand_nodes() {
    let count = 100_000;
    let mut nodes: Vec<String> = (1..count)
        .map(|child| format!(r#"{{"children":[{child}],"translation":[1,0,0]}}"#))
        .collect();
    nodes.push(r#"{"mesh":0}"#.to_owned());
    let mesh = gltf(&format!(r#""nodes":[{}]"#, nodes.join(","))).unwrap();
    assert_eq!(mesh.bounds().min.x, f64::from(count - 1));
}

#[test]
fn gltf_instances_count_towards_the_limit() {
    let nodes = vec![r#"{"mesh":0}"#; 1000].join(",");
    let bytes = mesh_files::gltf_with(&format!(r#""nodes":[{nodes}]"#));
    let limits = Limits {
        faces: 3999,
        ..Limits::default()
    };
    let error = read_bytes(&bytes, Format::Gltf, &limits).unwrap_err();
    assert!(error.is_limit(), "{error}");
    assert!(
        read_bytes(
            &bytes,
            Format::Gltf,
            &Limits {
                faces: 4000,
                ..limits
            }
        )
        .is_ok()
    );
    // Points show no faces, yet take time.
    let text = String::from_utf8(bytes)
        .unwrap()
        .replace(r#""indices":1"#, r#""mode":0"#);
    let error = read_bytes(
        text.as_bytes(),
        Format::Gltf,
        &Limits {
            faces: 999,
            ..limits
        },
    )
    .unwrap_err();
    assert!(error.is_limit(), "{error}");
}

#[test]
fn gltf_errors_name_the_path_in_the_document() {
    let text = String::from_utf8(mesh_files::gltf()).unwrap();
    let says = |from: &str, to: &str, parts: &[&str]| {
        assert!(text.contains(from), "{from}");
        assert_says(&message(Format::Gltf, text.replacen(from, to, 1)), parts);
    };
    says(
        r#""count":4"#,
        r#""count":5"#,
        &["accessors[0]", "5 elements", "bufferViews[0]", "48 bytes"],
    );
    says(
        r#""count":4"#,
        r#""count":18446744073709551615"#,
        &["accessors[0]", "pass the end"],
    );
    says(
        r#""count":4"#,
        r#""byteOffset":18446744073709551615,"count":4"#,
        &["accessors[0]", "pass the end"],
    );
    says(
        r#""count":4"#,
        r#""count":3"#,
        &["meshes[0].primitives[0]", "index 3", "3 vertices"],
    );
    says(
        r#""byteOffset":48"#,
        r#""byteOffset":18446744073709551615"#,
        &["bufferViews[1]", "60 bytes"],
    );
    says(
        r#""byteLength":48"#,
        r#""byteLength":48,"byteStride":3"#,
        &["bufferViews[0].byteStride", "3 bytes"],
    );
    says(
        r#""byteLength":60"#,
        r#""byteLength":61"#,
        &["buffers[0].byteLength", "61", "60"],
    );
    says(
        r#""bufferView":1"#,
        r#""bufferView":9"#,
        &["accessors[1]", "bufferViews[9]"],
    );
    says(
        r#""buffer":0"#,
        r#""buffer":9"#,
        &["bufferViews[0]", "buffers[9]"],
    );
    says("5121", "5126", &["accessors[1].componentType", "5126"]);
    says("5126", "1", &["accessors[0].componentType", "1 is no"]);
    says("VEC3", "VEC2", &["accessors[0].type", "`VEC2`"]);
    says(
        "\"indices\":1",
        "\"indices\":7",
        &["meshes[0].primitives[0].indices", "accessors[7]"],
    );
    says(";base64,", ";base64,!", &["buffers[0].uri", "base64"]);
    says(";base64,", ",", &["buffers[0].uri", "data URI"]);
    says("\"2.0\"", "\"1.0\"", &["asset.version", "1.0", "glTF 2.0"]);
    says(
        "\"count\":4",
        "\"count\":4.5",
        &["line 3", "JSON", "glTF 2.0"],
    );
    says(r#""bufferView":0,"#, "", &["accessors[0]", "bufferView"]);
    says(
        r#""byteLength":48"#,
        r#""byteLength":48,"extensions":{"EXT_meshopt_compression":{}}"#,
        &["bufferViews[0]", "EXT_meshopt", "without mesh compression"],
    );
    let draco = text.replacen(r#""bufferView":0,"#, "", 1).replacen(
        r#""indices":1"#,
        r#""indices":1,"extensions":{"KHR_draco_mesh_compression":{}}"#,
        1,
    );
    assert_says(
        &message(Format::Gltf, draco),
        &[
            "meshes[0].primitives[0]",
            "KHR_draco",
            "without mesh compression",
        ],
    );
    let glb = mesh_files::glb();
    assert_says(
        &message(Format::Glb, &glb[..glb.len() - 1]),
        &["byte 8", "container"],
    );
}

#[test]
fn gltf_buffers_lie_in_the_folder_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("model");
    std::fs::create_dir_all(inner.join("a b")).unwrap();
    for name in ["outside.bin", "model/inside.bin", "model/a b/deep.bin"] {
        std::fs::write(folder.path().join(name), mesh_files::gltf_buffer()).unwrap();
    }
    let file = inner.join("model.gltf");
    let read_with = |uri: &str| {
        std::fs::write(
            &file,
            mesh_files::gltf_json(mesh_files::ONE_NODE, &format!(r#""uri":"{uri}","#)),
        )
        .unwrap();
        read_file(&file, &Limits::default())
    };
    for uri in [
        "inside.bin",
        "./inside.bin",
        "a%20b/deep.bin",
        "a b/deep.bin",
        "%69nside.bin",
    ] {
        assert_eq!(
            read_with(uri)
                .unwrap_or_else(|error| panic!("{error}"))
                .faces
                .len(),
            4
        );
    }
    let outside = folder.path().join("outside.bin");
    let absolute = outside.to_str().unwrap().replace('\\', "/");
    for uri in [
        "../outside.bin",
        "%2e%2e/outside.bin",
        "..%2foutside.bin",
        "a b/../../outside.bin",
        "..\\\\outside.bin",
        &absolute,
        "file:///etc/passwd",
        "http://example.org/x.bin",
        "C:/x.bin",
        "inside.bin%00",
        "",
        "%ff",
    ] {
        let error = read_with(uri).unwrap_err();
        assert!(
            matches!(*error.cause, Cause::LeavesFolder { .. }),
            "{uri}: {error}"
        );
        assert!(
            matches!(&error.place, Place::Json { path } if path == "buffers[0].uri"),
            "{uri}: {error}"
        );
        assert_says(
            &error.to_string(),
            &["model.gltf", "buffers[0].uri", "leads out of the folder"],
        );
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, inner.join("link.bin")).unwrap();
        let error = read_with("link.bin").unwrap_err();
        assert!(
            matches!(*error.cause, Cause::LeavesFolder { .. }),
            "{error}"
        );
        std::os::unix::fs::symlink(inner.join("inside.bin"), inner.join("near.bin")).unwrap();
        assert!(read_with("near.bin").is_ok());
    }
    assert_says(
        &read_with("missing.bin").unwrap_err().to_string(),
        &["buffers[0].uri", "cannot be read"],
    );
    assert_says(
        &read_with("a b").unwrap_err().to_string(),
        &["buffers[0].uri", "regular file"],
    );
    // Only bytes: nowhere to look.
    let json = mesh_files::gltf_json(mesh_files::ONE_NODE, r#""uri":"inside.bin","#);
    assert_says(
        &message(Format::Gltf, json),
        &["buffers[0].uri", "another file", "GLB"],
    );
    // The buffer counts towards the limit.
    read_with("inside.bin").unwrap();
    let size = std::fs::metadata(&file).unwrap().len();
    let error = read_file(
        &file,
        &Limits {
            bytes: size + 59,
            ..Limits::default()
        },
    )
    .unwrap_err();
    assert!(error.is_limit(), "{error}");
    assert!(
        read_file(
            &file,
            &Limits {
                bytes: size + 60,
                ..Limits::default()
            }
        )
        .is_ok()
    );
}
