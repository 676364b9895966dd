//! A triangle mesh in device memory, for searches of nearest triangles.
//!
//! Input: the [`Surface`] of a bake.
//! Output: [`DeviceSurface`]: boxes, triangles in frames of their own, and normals that determine
//! sides, in the units of the hierarchy, in which the mesh fills the unit ball.
//! Cost: one pass over the faces; 192 bytes per face and about 20 per face for boxes.
//! Not for: choosing how signs are determined, which is done before.
//!
//! `shaders/nearest.wgsl` reads what is written here.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use touchfield::bake::Surface;
use touchfield::field::GridLayout;
use touchfield::geom::Triangle;
use touchfield::mesh::FlatBvh;

use crate::device::Gpu;
use crate::error::GpuError;
use crate::kernel::INDEX;
use crate::memory::Room;

/// Largest rounding error of a distance on the device, as a fraction of `1 + |p|` \[local units\]:
/// half as much again as on the CPU. The same sums of products are rounded as there, each operation
/// correctly, which WGSL demands of additions and multiplications; a driver may fuse two of them
/// into one rounding less. What comes on top is the square root, which WGSL allows to be off by
/// five units in the last place, and the position of the node, three roundings.
pub(crate) const ROUNDING: f32 = 1.5 * FlatBvh::ROUNDING;

/// Bits of a content word: the first box or face, their number less one, and whether it is a leaf.
const FIRST_BITS: u32 = 28;
const LEAF: u32 = 1 << 31;

/// Marks faces that do not determine sides.
const NO_SIDES: u32 = 1 << 31;

type Row = [u32; 4];

/// A mesh in device memory.
#[derive(Debug)]
pub(crate) struct DeviceSurface {
    pub(crate) boxes: wgpu::Buffer,
    pub(crate) triangles: wgpu::Buffer,
    pub(crate) normals: wgpu::Buffer,
    /// Content word of the root.
    root: u32,
    has_sides: bool,
    wants_points: bool,
    /// Entries of the stack of a search.
    stack: u32,
    center: DVec3,
    pub(crate) scale: f64,
    /// Largest distance of a node from the centre \[local units\].
    reach: f64,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Parameters {
    origin: [f32; 3],
    step: f32,
    root: u32,
    bricks: u32,
    has_sides: u32,
    wants_points: u32,
}

impl DeviceSurface {
    pub(crate) fn upload(gpu: &Gpu, surface: &Surface<'_>) -> Result<DeviceSurface, GpuError> {
        let flat = surface.bvh().flat();
        let most = 1u64 << FIRST_BITS;
        let entries = flat.boxes.len().max(flat.faces.len()) as u64;
        if entries > most {
            return Err(GpuError::TooLarge {
                what: "the hierarchy of a mesh",
                bytes: 80 * entries,
                limit: 80 * most,
            });
        }
        let mut boxes: Vec<Row> = Vec::with_capacity(4 * flat.boxes.len());
        for part in &flat.boxes {
            for (axis, offset) in part.axes.iter().zip(part.offset.to_array()) {
                boxes.push(axis.extend(offset).to_array().map(f32::to_bits));
            }
            let [x, y, z] = part.half.to_array().map(f32::to_bits);
            let leaf = if part.is_leaf { LEAF } else { 0 };
            boxes.push([x, y, z, content(part.first, part.count) | leaf]);
        }
        let mut triangles: Vec<Row> = Vec::with_capacity(5 * flat.faces.len());
        let mut normals: Vec<[f32; 4]> = Vec::with_capacity(7 * flat.faces.len());
        for &face in &flat.faces {
            let triangle = &surface.triangles()[face as usize];
            push_triangle(&flat, surface, triangle, face, &mut triangles, &mut normals);
        }
        let around = surface.around();
        let farthest = (around.max - flat.center).max(flat.center - around.min);
        let stored = |what, words: &[u8]| -> Result<wgpu::Buffer, GpuError> {
            Room::new(what).fill(gpu, words).cloned()
        };
        Ok(DeviceSurface {
            boxes: stored("boxes of a mesh", bytemuck::cast_slice(&boxes))?,
            triangles: stored("triangles of a mesh", bytemuck::cast_slice(&triangles))?,
            normals: stored("normals of a mesh", bytemuck::cast_slice(&normals))?,
            root: content(0, flat.root),
            has_sides: surface.has_sides(),
            wants_points: surface.wants_points(),
            // Each level leaves all children but one on the stack; two entries begin it.
            stack: ((FlatBvh::MOST as u32 - 1) * flat.depth + FlatBvh::MOST as u32 + 2)
                .next_multiple_of(16),
            center: flat.center,
            scale: flat.scale,
            reach: farthest.length() * flat.scale,
        })
    }

    /// Returns how much farther a proposed face may be than the nearest one \[m\].
    pub(crate) fn error(&self) -> f64 {
        2.0 * f64::from(ROUNDING) * (1.0 + self.reach) / self.scale
    }

    pub(crate) fn parameters(&self, layout: &GridLayout, bricks: usize) -> Parameters {
        let origin = (layout.origin.as_dvec3() - self.center) * self.scale;
        Parameters {
            origin: origin.as_vec3().to_array(),
            step: (f64::from(layout.cell_size) * self.scale) as f32,
            root: self.root,
            bricks: bricks as u32,
            has_sides: u32::from(self.has_sides),
            wants_points: u32::from(self.wants_points),
        }
    }

    /// Returns complete WGSL for a kernel that searches this mesh, and a name for it.
    pub(crate) fn source(&self, name: &str, kernel: &str) -> (String, String) {
        (
            format!("{name} (stack of {})", self.stack),
            source(self.stack, kernel),
        )
    }
}

/// Returns complete WGSL for a kernel that searches with a stack of so many entries.
pub(crate) fn source(stack: u32, kernel: &str) -> String {
    let constants = format!(
        "const ROUNDING: f32 = {ROUNDING:e};\nconst STACK: u32 = {stack}u;\nconst LEAF: u32 = {LEAF}u;\n\
         const FIRST: u32 = {}u;\nconst COUNT_SHIFT: u32 = {FIRST_BITS}u;\n",
        (1 << FIRST_BITS) - 1
    );
    let nearest = include_str!("../shaders/nearest.wgsl");
    format!("{INDEX}{constants}{nearest}{kernel}")
}

fn content(first: u32, count: u32) -> u32 {
    first | count.saturating_sub(1) << FIRST_BITS
}

/// Appends a triangle in a frame of its own: its longest edge along x from the origin, the third
/// corner above it in the x–y plane. Computed in `f64`: in `f32` the normal of a sliver would have
/// no correct digit.
fn push_triangle(
    flat: &FlatBvh,
    surface: &Surface<'_>,
    triangle: &Triangle,
    face: u32,
    triangles: &mut Vec<Row>,
    normals: &mut Vec<[f32; 4]>,
) {
    let corners = triangle
        .corners()
        .map(|corner| (corner - flat.center) * flat.scale);
    let edge = |i: usize| corners[(i + 1) % 3] - corners[i];
    let longest = (0..3)
        .max_by(|&i, &j| {
            edge(i)
                .length_squared()
                .total_cmp(&edge(j).length_squared())
        })
        .unwrap_or(0);
    let origin = corners[longest];
    let to_apex = corners[(longest + 2) % 3] - origin;
    let x = edge(longest).try_normalize().unwrap_or(DVec3::X);
    // A sliver's cross product may be all rounding error and not perpendicular to x.
    let normal = edge(longest).cross(to_apex).reject_from_normalized(x);
    let z = normal
        .try_normalize()
        .unwrap_or_else(|| x.any_orthonormal_vector());
    let y = z.cross(x);
    let (length, apex) = (edge(longest).length(), [to_apex.dot(x), to_apex.dot(y)]);
    for axis in [x, y, z] {
        let row = axis.extend(-origin.dot(axis)).as_vec4();
        triangles.push(row.to_array().map(f32::to_bits));
    }
    let bits = |number: f64| (number as f32).to_bits();
    triangles.push([bits(length), bits(apex[0]), bits(apex[1]), face]);
    let inverse = |squared: f64| bits(if squared > 0.0 { 1.0 / squared } else { 0.0 });
    let beyond = apex[0] - length;
    let above = apex[1] * apex[1];
    let sides = surface.sides(face);
    triangles.push([
        inverse(apex[0] * apex[0] + above),
        inverse(beyond * beyond + above),
        sides.map_or(NO_SIDES, |sides| i32::from(sides.outside) as u32),
        0,
    ]);
    let turned = |normals: [DVec3; 3]| [0, 1, 2].map(|i| normals[(longest + i) % 3]);
    let of_features = sides.map_or([DVec3::ZERO; 7], |sides| {
        let ([e0, e1, e2], [c0, c1, c2]) = (turned(sides.edges), turned(sides.corners));
        [sides.face, e0, e1, e2, c0, c1, c2]
    });
    normals.extend(of_features.map(|normal| {
        let unit = normal.normalize_or_zero();
        let local = DVec3::new(unit.dot(x), unit.dot(y), unit.dot(z));
        local.extend(0.0).as_vec4().to_array()
    }));
}
