//! Accessors: typed views of buffers, read element by element without copying.

use std::borrow::Cow;

use glam::DVec3;

use super::super::{Cause, ReadError};
use super::document::{Accessor, Document, Sparse, WITHOUT_COMPRESSION, element};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ComponentType {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl ComponentType {
    fn from_code(code: u32) -> Option<ComponentType> {
        Some(match code {
            5120 => ComponentType::I8,
            5121 => ComponentType::U8,
            5122 => ComponentType::I16,
            5123 => ComponentType::U16,
            5125 => ComponentType::U32,
            5126 => ComponentType::F32,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            ComponentType::I8 | ComponentType::U8 => 1,
            ComponentType::I16 | ComponentType::U16 => 2,
            ComponentType::U32 | ComponentType::F32 => 4,
        }
    }

    fn is_index(self) -> bool {
        matches!(
            self,
            ComponentType::U8 | ComponentType::U16 | ComponentType::U32
        )
    }

    /// Reads the component at the beginning of `bytes`; zero when there are too few, which
    /// [`Strided`] rules out.
    fn read(self, bytes: &[u8]) -> f64 {
        fn raw<const N: usize>(bytes: &[u8]) -> [u8; N] {
            bytes.first_chunk().copied().unwrap_or([0; N])
        }
        match self {
            ComponentType::I8 => f64::from(i8::from_le_bytes(raw(bytes))),
            ComponentType::U8 => f64::from(u8::from_le_bytes(raw(bytes))),
            ComponentType::I16 => f64::from(i16::from_le_bytes(raw(bytes))),
            ComponentType::U16 => f64::from(u16::from_le_bytes(raw(bytes))),
            ComponentType::U32 => f64::from(u32::from_le_bytes(raw(bytes))),
            ComponentType::F32 => f64::from(f32::from_le_bytes(raw(bytes))),
        }
    }

    /// Returns the factor for `normalized` integers.
    fn normalization(self) -> f64 {
        match self {
            ComponentType::I8 => 1.0 / 127.0,
            ComponentType::U8 => 1.0 / 255.0,
            ComponentType::I16 => 1.0 / 32767.0,
            ComponentType::U16 => 1.0 / 65535.0,
            ComponentType::U32 | ComponentType::F32 => 1.0,
        }
    }
}

/// Elements with a fixed stride, all within the bytes.
struct Strided<'a> {
    bytes: &'a [u8],
    stride: usize,
    component: ComponentType,
}

impl Strided<'_> {
    fn component(&self, element: usize, component: usize) -> f64 {
        let at = element * self.stride + component * self.component.size();
        self.component
            .read(self.bytes.get(at..).unwrap_or_default())
    }
}

/// Elements of an accessor, some of them replaced by sparse values.
struct Elements<'a> {
    count: usize,
    /// Elements in a buffer; all zeros if `None`.
    base: Option<Strided<'a>>,
    /// Indices of replaced elements, increasing, and their new values.
    sparse: Option<(Vec<usize>, Strided<'a>)>,
}

impl Elements<'_> {
    fn component(&self, element: usize, component: usize) -> f64 {
        if let Some((replaced, values)) = &self.sparse
            && let Ok(at) = replaced.binary_search(&element)
        {
            return values.component(at, component);
        }
        match &self.base {
            Some(base) => base.component(element, component),
            None => 0.0,
        }
    }
}

/// Vertex positions in the frame of their mesh \[m\].
pub(super) struct Positions<'a> {
    elements: Elements<'a>,
    scale: f64,
    is_normalized: bool,
}

impl Positions<'_> {
    pub(super) fn count(&self) -> usize {
        self.elements.count
    }

    pub(super) fn position(&self, vertex: usize) -> DVec3 {
        let component = |axis| {
            let value = self.elements.component(vertex, axis) * self.scale;
            // The most negative integer maps to slightly less than −1.
            if self.is_normalized {
                value.max(-1.0)
            } else {
                value
            }
        };
        DVec3::new(component(0), component(1), component(2))
    }
}

/// Vertex indices of a primitive.
pub(super) struct Indices<'a>(Elements<'a>);

impl Indices<'_> {
    pub(super) fn count(&self) -> usize {
        self.0.count
    }

    pub(super) fn index(&self, at: usize) -> usize {
        self.0.component(at, 0) as usize
    }
}

/// The document and its buffers.
pub(super) struct Source<'a> {
    pub(super) document: &'a Document,
    pub(super) buffers: &'a [Cow<'a, [u8]>],
}

impl<'a> Source<'a> {
    pub(super) fn positions(
        &self,
        number: usize,
        named_by: impl Fn() -> String,
    ) -> Result<Positions<'a>, ReadError> {
        let accessor = element(&self.document.accessors, number, "accessors", named_by)?;
        let path = format!("accessors[{number}]");
        let component = self.component_type(accessor, &path)?;
        let is_normalized = accessor.normalized && component != ComponentType::F32;
        Ok(Positions {
            elements: self.elements(accessor, component, Shape::Position, &path)?,
            scale: if is_normalized {
                component.normalization()
            } else {
                1.0
            },
            is_normalized,
        })
    }

    pub(super) fn indices(
        &self,
        number: usize,
        named_by: impl Fn() -> String,
    ) -> Result<Indices<'a>, ReadError> {
        let accessor = element(&self.document.accessors, number, "accessors", named_by)?;
        let path = format!("accessors[{number}]");
        let component = self.component_type(accessor, &path)?;
        if !component.is_index() {
            return Err(index_type(accessor.component_type).at_json(path + ".componentType"));
        }
        self.elements(accessor, component, Shape::Index, &path)
            .map(Indices)
    }

    fn component_type(&self, accessor: &Accessor, path: &str) -> Result<ComponentType, ReadError> {
        let code = accessor.component_type;
        ComponentType::from_code(code).ok_or_else(|| {
            Cause::Gltf(format!("{code} is no component type"))
                .at_json(format!("{path}.componentType"))
        })
    }

    fn elements(
        &self,
        accessor: &Accessor,
        component: ComponentType,
        shape: Shape,
        path: &str,
    ) -> Result<Elements<'a>, ReadError> {
        let (name, expected, components) = match shape {
            Shape::Position => ("VEC3", "positions of type `VEC3`", 3),
            Shape::Index => ("SCALAR", "indices of type `SCALAR`", 1),
        };
        if accessor.shape != name {
            let cause = Cause::expected(expected, accessor.shape.as_bytes());
            return Err(cause.at_json(format!("{path}.type")));
        }
        let base = match accessor.buffer_view {
            Some(view) => {
                let at = Slot {
                    view,
                    offset: accessor.byte_offset,
                    count: accessor.count,
                    components,
                };
                Some(self.strided(at, component, path)?)
            }
            None => None,
        };
        let sparse = match &accessor.sparse {
            Some(sparse) => Some(self.sparse(accessor, sparse, component, components, path)?),
            None => None,
        };
        if base.is_none() {
            self.check_zeros(accessor, path)?;
        }
        Ok(Elements {
            count: accessor.count,
            base,
            sparse,
        })
    }

    /// Limits the number of implicit zeros to the size of the buffers, because they occupy no bytes
    /// in the file.
    fn check_zeros(&self, accessor: &Accessor, path: &str) -> Result<(), ReadError> {
        let bytes: usize = self.buffers.iter().map(|buffer| buffer.len()).sum();
        if accessor.sparse.is_none() {
            let problem = "it has no `bufferView`, so its elements are nowhere";
            return Err(Cause::Gltf(problem.to_owned()).at_json(path));
        }
        if accessor.count > bytes {
            return Err(Cause::CountTooLarge {
                what: "elements",
                declared: accessor.count as u64,
                bytes_left: bytes,
            }
            .at_json(format!("{path}.count")));
        }
        Ok(())
    }

    fn sparse(
        &self,
        accessor: &Accessor,
        sparse: &Sparse,
        component: ComponentType,
        components: usize,
        path: &str,
    ) -> Result<(Vec<usize>, Strided<'a>), ReadError> {
        let indices_path = format!("{path}.sparse.indices");
        let code = sparse.indices.component_type;
        let index_component = ComponentType::from_code(code)
            .filter(|component| component.is_index())
            .ok_or_else(|| index_type(code).at_json(indices_path.as_str()))?;
        let at = Slot {
            view: sparse.indices.buffer_view,
            offset: sparse.indices.byte_offset,
            count: sparse.count,
            components: 1,
        };
        let indices = self.strided(at, index_component, &indices_path)?;
        let at = Slot {
            view: sparse.values.buffer_view,
            offset: sparse.values.byte_offset,
            count: sparse.count,
            components,
        };
        let values = self.strided(at, component, &format!("{path}.sparse.values"))?;
        let replaced: Vec<usize> = (0..sparse.count)
            .map(|i| indices.component(i, 0) as usize)
            .collect();
        let is_increasing = replaced.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_increasing || replaced.last().is_some_and(|&last| last >= accessor.count) {
            let count = accessor.count;
            let problem = format!("indices must increase and stay below the count of {count}");
            return Err(Cause::Gltf(problem).at_json(indices_path));
        }
        Ok((replaced, values))
    }

    /// Returns the bytes of some elements, after checking that all of them exist.
    fn strided(
        &self,
        slot: Slot,
        component: ComponentType,
        path: &str,
    ) -> Result<Strided<'a>, ReadError> {
        let views = &self.document.buffer_views;
        let number = slot.view;
        let view = element(views, number, "bufferViews", || path.to_owned())?;
        let view_path = format!("bufferViews[{number}]");
        if let Some(name) = view.extensions.keys().find(|name| name.contains("meshopt")) {
            return Err(compressed(name).at_json(view_path));
        }
        let buffer = element(self.buffers, view.buffer, "buffers", || view_path.clone())?;
        let end = view.byte_offset.checked_add(view.byte_length);
        let bytes = end.and_then(|end| buffer.get(view.byte_offset..end));
        let Some(bytes) = bytes else {
            let (offset, length, there) = (view.byte_offset, view.byte_length, buffer.len());
            let problem =
                format!("{length} bytes from byte {offset} on, but the buffer has {there} bytes");
            return Err(Cause::Gltf(problem).at_json(view_path));
        };
        let size = component.size() * slot.components;
        let stride = view.byte_stride.unwrap_or(size);
        if stride < size {
            let problem = format!("a stride of {stride} bytes for elements of {size}");
            return Err(Cause::Gltf(problem).at_json(view_path + ".byteStride"));
        }
        // `(count − 1)` strides and one element.
        let needed = match slot.count.checked_sub(1) {
            Some(last) => last.checked_mul(stride).and_then(|n| n.checked_add(size)),
            None => Some(0),
        };
        let available = bytes.get(slot.offset..);
        match (needed, available) {
            (Some(needed), Some(available)) if needed <= available.len() => Ok(Strided {
                bytes: available,
                stride,
                component,
            }),
            _ => {
                let (count, offset, there) = (slot.count, slot.offset, bytes.len());
                let problem = format!(
                    "{count} elements from byte {offset} on pass the end of {view_path}, which has {there} bytes"
                );
                Err(Cause::Gltf(problem).at_json(path))
            }
        }
    }
}

/// Kind of element.
#[derive(Clone, Copy)]
enum Shape {
    Position,
    Index,
}

/// Location of elements in a buffer view.
struct Slot {
    view: usize,
    offset: usize,
    count: usize,
    components: usize,
}

fn index_type(code: u32) -> Cause {
    Cause::Gltf(format!("{code} is no component type of indices"))
}

/// Builds the error for a primitive or buffer that is compressed with an extension.
pub(super) fn compressed(extension: &str) -> Cause {
    let name: String = extension.chars().take(64).collect();
    Cause::Unsupported {
        what: format!("geometry compressed with {}", name.escape_debug()),
        instead: WITHOUT_COMPRESSION,
    }
}
