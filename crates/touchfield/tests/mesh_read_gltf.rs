//! The glTF reader on well-formed, odd and forbidden files.

#[allow(dead_code)]
mod mesh_files;

use glam::DVec3;
use mesh_files::{assert_says, message, read};
use touchfield::mesh::TriangleMesh;
use touchfield::mesh::read::{Cause, Format, Limits, Place, ReadError, read_bytes, read_file};

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
    // Normalised i16 with a stride of 8 bytes; then vertex 2 replaced by (0, 1, 0).
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
fn gltf_that_requires_what_the_reader_lacks_is_refused() {
    let requiring = |names: &str| {
        gltf(&format!(
            r#""extensionsUsed":[{names}],"extensionsRequired":[{names}],"nodes":[{{"mesh":0}}]"#
        ))
    };
    for (name, way_out) in [
        ("KHR_draco_mesh_compression", "without mesh compression"),
        ("EXT_meshopt_compression", "without mesh compression"),
        ("EXT_mesh_gpu_instancing", "OBJ, STL or PLY"),
        ("KHR_gaussian_splatting", "OBJ, STL or PLY"),
        ("khr_materials_unlit", "OBJ, STL or PLY"),
        ("", "OBJ, STL or PLY"),
    ] {
        let error = requiring(&format!(r#""KHR_materials_unlit","{name}""#)).unwrap_err();
        let quoted = format!("`{name}`");
        assert_says(
            &error.to_string(),
            &["extensionsRequired[1]", &quoted, way_out],
        );
    }
    let long = requiring(&format!(r#""{}\u0007""#, "x".repeat(100_000))).unwrap_err();
    assert!(long.to_string().len() < 400, "{long}");

    let harmless = r#""KHR_materials_clearcoat","KHR_texture_transform","KHR_mesh_quantization""#;
    assert_eq!(requiring(harmless).unwrap().faces.len(), 4);
    assert_eq!(requiring("").unwrap().faces.len(), 4);
    // Used, but not required: the file itself says that it can be read without.
    let used = r#""extensionsUsed":["KHR_draco_mesh_compression"],"nodes":[{"mesh":0}]"#;
    assert_eq!(gltf(used).unwrap().faces.len(), 4);
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
    // Points have no faces, yet take time.
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
    // Bytes only: there is no folder to look in.
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
    let (found, limit) = ((size + 60).to_string(), (size + 59).to_string());
    assert_says(&error.to_string(), &["buffers[0].uri", &found, &limit]);
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
