//! Simple solids: box, thin plate, icosphere, capsule, cylinder and cone frustum.
//!
//! Input: dimensions \[m\] and counts of segments.
//! Output: a closed mesh centred on the origin, its axis along z.
//! Cost: linear in the faces.
//! Not for: exact shapes at query time; the analytic fields need no mesh.

use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, PI};

use glam::{DVec2, DVec3};

use super::GenerateError;
use super::surface::{Check, Surface, revolved_faces};
use crate::mesh::TriangleMesh;

/// Parameters of a box about the origin, see [`cuboid`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    /// Half extents \[m\].
    pub half_extents: DVec3,
    /// Cells along x, y and z.
    pub subdivisions: [u32; 3],
}

impl Default for Cuboid {
    fn default() -> Cuboid {
        Cuboid {
            half_extents: DVec3::new(0.05, 0.04, 0.03),
            subdivisions: [1; 3],
        }
    }
}

/// Generates a box.
pub fn cuboid(parameters: Cuboid) -> Result<TriangleMesh, GenerateError> {
    let Cuboid {
        half_extents,
        subdivisions,
    } = parameters;
    let check = Check("box");
    for side in half_extents.to_array() {
        check.length("half_extents", side)?;
    }
    let cells = DVec3::from(subdivisions.map(f64::from));
    slab("box", subdivisions, |i, j, k| {
        let step = DVec3::new(i.into(), j.into(), k.into());
        // Symmetric in exact arithmetic: both ends are ±half_extents to the bit.
        half_extents * ((2.0 * step - cells) / cells)
    })
}

/// Parameters of a thin rectangular plate about the origin, see [`thin_plate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThinPlate {
    /// Side lengths along x and y \[m\].
    pub size: DVec2,
    /// Thickness along z \[m\].
    pub thickness: f64,
    /// Cells along x and y.
    pub subdivisions: [u32; 2],
}

impl Default for ThinPlate {
    fn default() -> ThinPlate {
        ThinPlate {
            size: DVec2::new(0.2, 0.15),
            thickness: 0.0005,
            subdivisions: [8, 6],
        }
    }
}

/// Generates a thin plate: two large faces closer together than most grid cells.
pub fn thin_plate(parameters: ThinPlate) -> Result<TriangleMesh, GenerateError> {
    let ThinPlate {
        size,
        thickness,
        subdivisions: [nx, ny],
    } = parameters;
    let check = Check("thin_plate");
    check.length("size", size.x)?;
    check.length("size", size.y)?;
    check.length("thickness", thickness)?;
    slab("thin_plate", [nx, ny, 1], |i, j, k| {
        let along = |step: u32, count: u32| f64::from(step) / f64::from(count) - 0.5;
        DVec3::new(
            size.x * along(i, nx),
            size.y * along(j, ny),
            thickness * along(k, 1),
        )
    })
}

/// Generates the boundary of a lattice of `cells` whose node (i, j, k) lies at `position`; used for
/// box, plate and terrain.
///
/// The walls are rings around the lattice, one per layer k; bottom and top are grids that share the
/// first and last ring.
pub(super) fn slab(
    model: &'static str,
    cells: [u32; 3],
    position: impl Fn(u32, u32, u32) -> DVec3,
) -> Result<TriangleMesh, GenerateError> {
    let check = Check(model);
    for count in cells {
        check.count("subdivisions", count, 1)?;
    }
    let [nx, ny, nz] = cells;
    let [wx, wy, wz] = cells.map(u128::from);
    let faces = 4 * (wx * wy + wy * wz + wz * wx);
    let mut surface = Surface::new(model, u64::try_from(faces).unwrap_or(u64::MAX))?;

    // Border nodes, counter-clockwise seen from +z.
    let border: Vec<(u32, u32)> = (0..nx)
        .map(|i| (i, 0))
        .chain((0..ny).map(|j| (nx, j)))
        .chain((0..nx).map(|i| (nx - i, ny)))
        .chain((0..ny).map(|j| (0, ny - j)))
        .collect();
    let rings: Vec<_> = (0..=nz)
        .map(|k| surface.ring(border.iter().map(|&(i, j)| position(i, j, k))))
        .collect();
    surface.loft(&rings);

    for (k, ring) in [(0, &rings[0]), (nz, &rings[nz as usize])] {
        // Bottom and top: inner nodes are new, border nodes are those of the ring.
        let inner: Vec<u32> = (1..ny)
            .flat_map(|j| (1..nx).map(move |i| (i, j)))
            .map(|(i, j)| surface.vertex(position(i, j, k)))
            .collect();
        let node = |i: u32, j: u32| -> u32 {
            if j == 0 {
                ring[i as usize]
            } else if i == nx {
                ring[(nx + j) as usize]
            } else if j == ny {
                ring[(nx + ny + (nx - i)) as usize]
            } else if i == 0 {
                ring[(2 * nx + ny + (ny - j)) as usize]
            } else {
                inner[(j - 1) as usize * (nx - 1) as usize + (i - 1) as usize]
            }
        };
        for j in 0..ny {
            for i in 0..nx {
                let corners = [
                    node(i, j),
                    node(i + 1, j),
                    node(i + 1, j + 1),
                    node(i, j + 1),
                ];
                let [a, b, c, d] = corners;
                if k == 0 {
                    surface.quad(a, d, c, b);
                } else {
                    surface.quad(a, b, c, d);
                }
            }
        }
    }
    surface.finish()
}

/// Parameters of a sphere of nearly equal triangles, see [`icosphere`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Icosphere {
    /// Radius \[m\]; the vertices lie on it.
    pub radius: f64,
    /// Number of times each triangle of the icosahedron is split into four.
    pub level: u32,
}

impl Default for Icosphere {
    fn default() -> Icosphere {
        Icosphere {
            radius: 0.05,
            level: 4,
        }
    }
}

/// Generates an icosphere: an icosahedron, subdivided and projected onto its sphere.
pub fn icosphere(parameters: Icosphere) -> Result<TriangleMesh, GenerateError> {
    let Icosphere { radius, level } = parameters;
    Check("icosphere").length("radius", radius)?;
    let faces = 4u64.saturating_pow(level).saturating_mul(20);
    let mut surface = Surface::new("icosphere", faces)?;

    // Two poles and two rings of five, at latitude ±atan(1/2).
    let (high, wide) = (0.2f64.sqrt(), 0.8f64.sqrt());
    let ring = |z: f64, turn: f64| {
        (0..5).map(move |i| {
            let (sin, cos) = (PI * (2.0 * f64::from(i) + turn) / 5.0).sin_cos();
            radius * DVec3::new(wide * cos, wide * sin, z)
        })
    };
    let bottom = surface.vertex(DVec3::NEG_Z * radius);
    surface.ring(ring(-high, 0.0));
    surface.ring(ring(high, 1.0));
    let top = surface.vertex(DVec3::Z * radius);
    let mut corners: Vec<[u32; 3]> = Vec::with_capacity(20);
    for i in 0..5 {
        let next = (i + 1) % 5;
        let (low, low_next) = (1 + i, 1 + next);
        let (up, up_next) = (6 + i, 6 + next);
        corners.push([bottom, low_next, low]);
        corners.push([low, low_next, up]);
        corners.push([low_next, up_next, up]);
        corners.push([up, up_next, top]);
    }

    for _ in 0..level {
        let mut middles: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut middle = |surface: &mut Surface, a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                let sum = surface.position(a) + surface.position(b);
                // Never zero: the two ends of an edge are less than a right angle apart.
                surface.vertex(radius * sum.normalize_or_zero())
            })
        };
        corners = corners
            .iter()
            .flat_map(|&[a, b, c]| {
                let ab = middle(&mut surface, a, b);
                let bc = middle(&mut surface, b, c);
                let ca = middle(&mut surface, c, a);
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    for [a, b, c] in corners {
        surface.triangle(a, b, c);
    }
    surface.finish()
}

/// Parameters of a cylinder with round ends along z, see [`capsule`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// Radius \[m\].
    pub radius: f64,
    /// Length of the straight part \[m\].
    pub length: f64,
    /// Segments around the axis.
    pub segments: u32,
    /// Rows of each round end, from the pole to the equator.
    pub cap_rows: u32,
}

impl Default for Capsule {
    fn default() -> Capsule {
        Capsule {
            radius: 0.02,
            length: 0.06,
            segments: 48,
            cap_rows: 12,
        }
    }
}

/// Generates a capsule.
pub fn capsule(parameters: Capsule) -> Result<TriangleMesh, GenerateError> {
    let Capsule {
        radius,
        length,
        segments,
        cap_rows,
    } = parameters;
    let check = Check("capsule");
    check.length("radius", radius)?;
    check.length("length", length)?;
    check.count("segments", segments, 3)?;
    check.count("cap_rows", cap_rows, 1)?;
    let faces = revolved_faces(2 * u64::from(cap_rows) + 2, segments);
    let mut surface = Surface::new("capsule", faces)?;
    let arc = |row: u32| DVec2::from_angle(FRAC_PI_2 * f64::from(row) / f64::from(cap_rows));
    let middle = DVec2::new(0.0, 0.5 * length);
    let upper: Vec<DVec2> = (0..=cap_rows).map(|k| middle + radius * arc(k)).collect();
    let lower = upper.iter().rev().map(|p| DVec2::new(p.x, -p.y));
    let profile: Vec<DVec2> = lower.chain(upper.iter().copied()).collect();
    surface.revolve(&profile, segments);
    surface.finish()
}

/// Parameters of a cylinder, frustum or cone along z, see [`cylinder`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    /// Radius at the bottom \[m\].
    pub bottom_radius: f64,
    /// Radius at the top \[m\]; 0 for a cone.
    pub top_radius: f64,
    /// Height \[m\].
    pub height: f64,
    /// Segments around the axis.
    pub segments: u32,
    /// Rows along the height.
    pub rows: u32,
}

impl Default for Cylinder {
    fn default() -> Cylinder {
        Cylinder {
            bottom_radius: 0.03,
            top_radius: 0.03,
            height: 0.08,
            segments: 64,
            rows: 8,
        }
    }
}

/// Generates a cylinder, frustum or cone.
pub fn cylinder(parameters: Cylinder) -> Result<TriangleMesh, GenerateError> {
    let Cylinder {
        bottom_radius,
        top_radius,
        height,
        segments,
        rows,
    } = parameters;
    let check = Check("cylinder");
    check.length("bottom_radius", bottom_radius)?;
    if top_radius != 0.0 {
        check.length("top_radius", top_radius)?;
    }
    check.length("height", height)?;
    check.count("segments", segments, 3)?;
    check.count("rows", rows, 1)?;
    let faces = revolved_faces(u64::from(rows) + 3, segments);
    let mut surface = Surface::new("cylinder", faces)?;
    let bottom = DVec2::new(bottom_radius, -0.5 * height);
    let top = DVec2::new(top_radius, 0.5 * height);
    let mut profile = vec![DVec2::new(0.0, bottom.y)];
    profile.extend((0..rows).map(|row| bottom.lerp(top, f64::from(row) / f64::from(rows))));
    profile.push(top);
    if top_radius != 0.0 {
        profile.push(DVec2::new(0.0, top.y));
    }
    surface.revolve(&profile, segments);
    surface.finish()
}
