//! The part of the glTF 2.0 JSON document that describes geometry; serde skips the rest.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::super::{Cause, ReadError};

/// Extensions of an object, by name.
pub(super) type Extensions = BTreeMap<String, IgnoredAny>;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Document {
    pub(super) asset: Asset,
    /// Names of the extensions that a reader must support.
    pub(super) extensions_required: Vec<String>,
    pub(super) scene: Option<usize>,
    pub(super) scenes: Vec<Scene>,
    pub(super) nodes: Vec<Node>,
    pub(super) meshes: Vec<Mesh>,
    pub(super) accessors: Vec<Accessor>,
    pub(super) buffer_views: Vec<BufferView>,
    pub(super) buffers: Vec<Buffer>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Asset {
    pub(super) version: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Scene {
    pub(super) nodes: Vec<usize>,
}

/// A node of the scene. Rare members are boxed: a file may hold many nodes of three bytes each.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Node {
    pub(super) children: Vec<usize>,
    pub(super) mesh: Option<usize>,
    pub(super) matrix: Option<Box<[f64; 16]>>,
    pub(super) translation: Option<Box<[f64; 3]>>,
    pub(super) rotation: Option<Box<[f64; 4]>>,
    pub(super) scale: Option<Box<[f64; 3]>>,
    pub(super) extensions: Extensions,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Mesh {
    pub(super) primitives: Vec<Primitive>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Primitive {
    pub(super) attributes: Attributes,
    pub(super) indices: Option<usize>,
    pub(super) mode: Option<u64>,
    pub(super) extensions: Extensions,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Attributes {
    #[serde(rename = "POSITION")]
    pub(super) position: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub(super) buffer_view: Option<usize>,
    #[serde(default)]
    pub(super) byte_offset: usize,
    pub(super) component_type: u32,
    #[serde(default)]
    pub(super) normalized: bool,
    pub(super) count: usize,
    #[serde(rename = "type")]
    pub(super) shape: String,
    pub(super) sparse: Option<Box<Sparse>>,
}

/// Elements that replace some of the elements of an accessor.
#[derive(Deserialize)]
pub(super) struct Sparse {
    pub(super) count: usize,
    pub(super) indices: SparseIndices,
    pub(super) values: SparseValues,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub(super) buffer_view: usize,
    #[serde(default)]
    pub(super) byte_offset: usize,
    pub(super) component_type: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub(super) buffer_view: usize,
    #[serde(default)]
    pub(super) byte_offset: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: usize,
    #[serde(default)]
    pub(super) byte_offset: usize,
    pub(super) byte_length: usize,
    pub(super) byte_stride: Option<usize>,
    #[serde(default)]
    pub(super) extensions: Extensions,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub(super) uri: Option<String>,
    pub(super) byte_length: usize,
}

/// Parses the JSON text, which begins at byte `start` of the file.
pub(super) fn parse(json: &[u8], start: usize) -> Result<Document, ReadError> {
    let document: Document = serde_json::from_slice(json).map_err(|error| {
        let cause = Cause::Json(error.to_string());
        if start == 0 {
            cause.at_line(error.line().max(1))
        } else {
            cause.at_byte(start)
        }
    })?;
    if !document.asset.version.starts_with("2.") {
        let version = document.asset.version.chars().take(8).collect::<String>();
        return Err(Cause::Unsupported {
            what: format!("glTF version `{}`", version.escape_debug()),
            instead: "export as glTF 2.0",
        }
        .at_json("asset.version"));
    }
    refuse_unknown_extensions(&document.extensions_required)?;
    Ok(document)
}

/// Full names of extensions that do not affect triangles, or that the reader supports.
const HARMLESS: [&str; 8] = [
    // Integer positions: `accessor` reads them.
    "KHR_mesh_quantization",
    "KHR_lights_punctual",
    "EXT_lights_ies",
    "EXT_lights_image_based",
    "KHR_xmp",
    "KHR_xmp_json_ld",
    "KHR_animation_pointer",
    "EXT_mesh_features",
];

/// Name prefixes of extensions that only affect the appearance of a surface.
const LOOKS: [&str; 5] = [
    "KHR_materials_",
    "ADOBE_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "MSFT_texture_",
];

/// Refuses files that require unknown extensions: without them, geometry would be missing or
/// misplaced.
fn refuse_unknown_extensions(required: &[String]) -> Result<(), ReadError> {
    let is_harmless = |name: &str| {
        HARMLESS.contains(&name) || LOOKS.iter().any(|family| name.starts_with(family))
    };
    for (i, name) in required.iter().enumerate() {
        if is_harmless(name) {
            continue;
        }
        let is_compression = name.contains("compression");
        let name: String = name.chars().take(64).collect();
        return Err(Cause::Unsupported {
            what: format!(
                "a file that requires the extension `{}`",
                name.escape_debug()
            ),
            instead: if is_compression {
                WITHOUT_COMPRESSION
            } else {
                "export without it, or as OBJ, STL or PLY"
            },
        }
        .at_json(format!("extensionsRequired[{i}]")));
    }
    Ok(())
}

/// Suggested remedy for compressed geometry.
pub(super) const WITHOUT_COMPRESSION: &str =
    "export without mesh compression (as `gltf-transform copy` does), or as OBJ, STL or PLY";

/// Returns the element of an array at an index, or an error at the path `named_by` that contains
/// the index.
pub(super) fn element<'a, T>(
    array: &'a [T],
    index: usize,
    array_name: &str,
    named_by: impl Fn() -> String,
) -> Result<&'a T, ReadError> {
    array.get(index).ok_or_else(|| {
        let length = array.len();
        Cause::Gltf(format!(
            "names {array_name}[{index}], but there are {length} {array_name}"
        ))
        .at_json(named_by())
    })
}
