//! Terrain: a height field over a rectangle, closed by walls and a flat bottom.
//!
//! Input: size \[m\], cells, height and width of the hills, a seed.
//! Output: a closed mesh about the z axis; the hills lie between −`height` and +`height`.
//! Cost: linear in the faces times the octaves.
//! Not for: erosion, caves or real maps.
//!
//! Gradient noise after \[Perlin2002\]: the gradients come from an integer hash of lattice node and
//! seed, so that the same seed gives the same hills on every platform.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use super::GenerateError;
use super::solids::slab;
use super::surface::Check;
use crate::mesh::TriangleMesh;

/// Parameters of a rectangle of hills, see [`terrain`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terrain {
    /// Side lengths along x and y \[m\].
    pub size: DVec2,
    /// Cells along x and y.
    pub subdivisions: [u32; 2],
    /// Largest height of the hills above and depth of the valleys below z = 0 \[m\].
    pub height: f64,
    /// Width of the largest hills \[m\].
    pub hill_size: f64,
    /// Number of layers of noise, each half as wide and half as high as the one before.
    pub octaves: u32,
    /// Thickness of the ground below the deepest possible valley \[m\].
    pub base: f64,
    /// Seed of the noise.
    pub seed: u32,
}

impl Default for Terrain {
    fn default() -> Terrain {
        Terrain {
            size: DVec2::splat(10.0),
            subdivisions: [96, 96],
            height: 1.5,
            hill_size: 3.0,
            octaves: 4,
            base: 0.5,
            seed: 1,
        }
    }
}

/// Generates a block of terrain.
pub fn terrain(parameters: Terrain) -> Result<TriangleMesh, GenerateError> {
    let Terrain {
        size,
        subdivisions: [nx, ny],
        height,
        hill_size,
        octaves,
        base,
        seed,
    } = parameters;
    let check = Check("terrain");
    check.length("size", size.x)?;
    check.length("size", size.y)?;
    check.length("height", height)?;
    check.length("hill_size", hill_size)?;
    check.length("base", base)?;
    let layers = (1..=16).contains(&octaves);
    check.require(
        layers,
        "octaves",
        octaves.into(),
        "it must lie between 1 and 16",
    )?;
    // Lattice nodes are numbered in 32 bits.
    let least_hill = size.max_element() / 1e4;
    check.require(
        hill_size >= least_hill,
        "hill_size",
        hill_size,
        format!("it must be at least {least_hill}, a ten-thousandth of `size`"),
    )?;
    slab("terrain", [nx, ny, 1], |i, j, k| {
        let at = DVec2::new(
            f64::from(i) / f64::from(nx) - 0.5,
            f64::from(j) / f64::from(ny) - 0.5,
        ) * size;
        let z = match k {
            0 => -height - base,
            _ => height * layered_noise(at / hill_size, octaves, seed),
        };
        DVec3::new(at.x, at.y, z)
    })
}

/// Sums octaves of [`gradient_noise`], scaled so that the sum stays within −1 to 1.
fn layered_noise(at: DVec2, octaves: u32, seed: u32) -> f64 {
    let (mut sum, mut limit) = (0.0, 0.0);
    for octave in 0..octaves {
        let scale = f64::from(1u32 << octave);
        // Each octave has its own gradients; otherwise all would vanish together at the nodes of
        // the first.
        sum += gradient_noise(at * scale, hash(seed, octave)) / scale;
        limit += 1.0 / scale;
    }
    sum / limit
}

/// Computes smooth noise within −1 to 1 with one hill or valley per unit; 0 at integer coordinates.
fn gradient_noise(at: DVec2, seed: u32) -> f64 {
    let node = at.floor();
    let inside = at - node;
    // Quintic fade: slope and curvature vanish at the nodes.
    let fade = inside * inside * inside * (inside * (6.0 * inside - 15.0) + 10.0);
    let corner = |dx: i32, dy: i32| {
        let (i, j) = (node.x as i32 + dx, node.y as i32 + dy);
        let bits = hash(hash(seed, i as u32), j as u32);
        let gradient = DVec2::from_angle(TAU * f64::from(bits) / 4_294_967_296.0);
        gradient.dot(inside - DVec2::new(dx.into(), dy.into()))
    };
    let mix = |a: f64, b: f64, t: f64| a + t * (b - a);
    let below = mix(corner(0, 0), corner(1, 0), fade.x);
    let above = mix(corner(0, 1), corner(1, 1), fade.x);
    // With unit gradients the noise reaches ±√½ in the middle of a cell.
    mix(below, above, fade.y) * std::f64::consts::SQRT_2
}

/// Hashes two numbers into 32 evenly distributed bits (the finaliser of MurmurHash3).
fn hash(a: u32, b: u32) -> u32 {
    let mut bits = a.rotate_left(15).wrapping_mul(0x9E37_79B9) ^ b.wrapping_add(0x85EB_CA6B);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85EB_CA6B);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xC2B2_AE35);
    bits ^ (bits >> 16)
}
