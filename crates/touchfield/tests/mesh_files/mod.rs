//! The same tetrahedron in every format, in files of at most a few hundred bytes; and how tests
//! read them.

use touchfield::mesh::TriangleMesh;
use touchfield::mesh::read::{Format, Limits, ReadError, read_bytes};

pub(crate) const CORNERS: [[f32; 3]; 4] = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]];
pub(crate) const FACES: [[u8; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];

pub(crate) fn obj() -> Vec<u8> {
    b"# tetrahedron\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
        .to_vec()
}

pub(crate) fn off() -> Vec<u8> {
    b"OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n".to_vec()
}

pub(crate) fn stl_text() -> Vec<u8> {
    let mut text = String::from("solid t\n");
    for face in FACES {
        text += "facet normal 0 0 0\nouter loop\n";
        for v in face {
            let [x, y, z] = CORNERS[v as usize];
            text += &format!("vertex {x} {y} {z}\n");
        }
        text += "endloop\nendfacet\n";
    }
    (text + "endsolid t\n").into_bytes()
}

pub(crate) fn stl_binary() -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend((FACES.len() as u32).to_le_bytes());
    for face in FACES {
        bytes.extend([0; 12]);
        for v in face {
            bytes.extend(CORNERS[v as usize].iter().flat_map(|x| x.to_le_bytes()));
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn ply_header(format: &str) -> Vec<u8> {
    format!(
        "ply\nformat {format} 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
         element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    )
    .into_bytes()
}

pub(crate) fn ply_text() -> Vec<u8> {
    let mut bytes = ply_header("ascii");
    bytes.extend(b"0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n");
    bytes
}

pub(crate) fn ply_little_endian() -> Vec<u8> {
    let mut bytes = ply_header("binary_little_endian");
    bytes.extend(CORNERS.iter().flatten().flat_map(|x| x.to_le_bytes()));
    for face in FACES {
        bytes.push(3);
        bytes.extend(face.iter().flat_map(|&v| i32::from(v).to_le_bytes()));
    }
    bytes
}

pub(crate) fn ply_big_endian() -> Vec<u8> {
    let mut bytes = ply_header("binary_big_endian");
    bytes.extend(CORNERS.iter().flatten().flat_map(|x| x.to_be_bytes()));
    for face in FACES {
        bytes.push(3);
        bytes.extend(face.iter().flat_map(|&v| i32::from(v).to_be_bytes()));
    }
    bytes
}

/// Returns positions, then indices as bytes.
pub(crate) fn gltf_buffer() -> Vec<u8> {
    let positions = CORNERS.iter().flatten().flat_map(|x| x.to_le_bytes());
    positions.chain(FACES.into_iter().flatten()).collect()
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .fold(0u32, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - group.len()));
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i)) as usize & 63];
            text.push(if i <= group.len() { digit as char } else { '=' });
        }
    }
    text
}

/// Returns a glTF document around the tetrahedron. `scene` is JSON with the nodes, `buffer` the
/// members of the buffer.
pub(crate) fn gltf_json(scene: &str, buffer: &str) -> String {
    let length = gltf_buffer().len();
    format!(
        r#"{{"asset":{{"version":"2.0"}},{scene},
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},
{{"bufferView":1,"componentType":5121,"count":12,"type":"SCALAR"}}],
"bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":12}}],
"buffers":[{{{buffer}"byteLength":{length}}}]}}"#
    )
}

pub(crate) const ONE_NODE: &str = r#""nodes":[{"mesh":0}]"#;

pub(crate) fn gltf_with(scene: &str) -> Vec<u8> {
    let uri = format!(
        r#""uri":"data:application/octet-stream;base64,{}","#,
        base64(&gltf_buffer())
    );
    gltf_json(scene, &uri).into_bytes()
}

pub(crate) fn gltf() -> Vec<u8> {
    gltf_with(ONE_NODE)
}

pub(crate) fn glb_around(json: &str, binary: &[u8]) -> Vec<u8> {
    let mut json = json.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut binary = binary.to_vec();
    binary.resize(binary.len().next_multiple_of(4), 0);
    let mut bytes = b"glTF".to_vec();
    let length = 12 + 8 + json.len() + 8 + binary.len();
    for number in [2, length as u32, json.len() as u32, 0x4E4F_534A] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(&json);
    for number in [binary.len() as u32, 0x004E_4942] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(&binary);
    bytes
}

pub(crate) fn glb() -> Vec<u8> {
    glb_around(&gltf_json(ONE_NODE, ""), &gltf_buffer())
}

/// Returns one file of each kind, with a name for messages.
pub(crate) fn all() -> Vec<(&'static str, Format, Vec<u8>)> {
    vec![
        ("obj", Format::Obj, obj()),
        ("off", Format::Off, off()),
        ("text stl", Format::Stl, stl_text()),
        ("binary stl", Format::Stl, stl_binary()),
        ("text ply", Format::Ply, ply_text()),
        ("little-endian ply", Format::Ply, ply_little_endian()),
        ("big-endian ply", Format::Ply, ply_big_endian()),
        ("gltf", Format::Gltf, gltf()),
        ("glb", Format::Glb, glb()),
    ]
}

pub(crate) fn read(format: Format, bytes: impl AsRef<[u8]>) -> Result<TriangleMesh, ReadError> {
    read_bytes(bytes.as_ref(), format, &Limits::default())
}

#[track_caller]
pub(crate) fn message(format: Format, bytes: impl AsRef<[u8]>) -> String {
    read(format, bytes)
        .expect_err("should be refused")
        .to_string()
}

#[track_caller]
pub(crate) fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}
