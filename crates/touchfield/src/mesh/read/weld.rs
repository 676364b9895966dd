//! Merges vertices at bit-identical positions, in the order of their first appearance.
//!
//! An open-addressing table of vertex numbers; the positions themselves stay in the mesh. The hash
//! is seeded per run so that no file can be crafted to cause collisions; vertex numbers do not
//! depend on it.

use std::hash::{BuildHasher, RandomState};

use glam::DVec3;

use super::Cause;
use super::builder::MeshBuilder;

const FREE: u32 = u32::MAX;

/// Finds vertices by position among those added through it.
pub(super) struct Welder {
    /// Vertex numbers, [`FREE`] in empty slots; the length is a power of two, and at most half the
    /// slots are used.
    slots: Vec<u32>,
    used: usize,
    seed: u64,
}

impl Welder {
    /// Creates a table for about `expected` vertices, a number that must be bounded by the size of
    /// the input.
    pub(super) fn new(expected: usize) -> Welder {
        Welder {
            slots: vec![FREE; (2 * expected).next_power_of_two().max(64)],
            used: 0,
            seed: RandomState::new().hash_one(0u64),
        }
    }

    /// Removes all vertices from the table: later vertices are not merged with earlier ones.
    pub(super) fn clear(&mut self) {
        if self.used > 0 {
            self.slots.truncate(64);
            self.slots.fill(FREE);
            self.used = 0;
        }
    }

    /// Returns the vertex at `position`: an earlier one, or a new one. −0 equals 0; NaN equals
    /// nothing.
    pub(super) fn vertex(
        &mut self,
        builder: &mut MeshBuilder,
        position: DVec3,
    ) -> Result<u32, Cause> {
        let number = builder.vertices().len() as u32;
        if position.is_nan() {
            builder.push_vertex(position)?;
            return Ok(number);
        }
        if 2 * self.used >= self.slots.len() {
            self.grow(builder.vertices());
        }
        let mask = self.slots.len() - 1;
        let mut slot = self.hash(position) as usize & mask;
        loop {
            match self.slots[slot] {
                FREE => break,
                // `==` on floats is right here: −0 == 0, and there is no NaN.
                other if builder.vertices()[other as usize] == position => return Ok(other),
                _ => slot = (slot + 1) & mask,
            }
        }
        builder.push_vertex(position)?;
        self.slots[slot] = number;
        self.used += 1;
        Ok(number)
    }

    /// Reads the slots of positions that are looked up next. The table is far larger than the
    /// caches, so a lookup waits for memory; these reads are independent, so the waits overlap.
    pub(super) fn prefetch(&self, positions: &[DVec3]) {
        let mask = self.slots.len() - 1;
        let read = positions.iter().fold(0, |read, &position| {
            read ^ self.slots[self.hash(position) as usize & mask]
        });
        std::hint::black_box(read);
    }

    fn grow(&mut self, vertices: &[DVec3]) {
        let mask = 2 * self.slots.len() - 1;
        let old = std::mem::replace(&mut self.slots, vec![FREE; mask + 1]);
        for number in old.into_iter().filter(|&number| number != FREE) {
            let mut slot = self.hash(vertices[number as usize]) as usize & mask;
            while self.slots[slot] != FREE {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = number;
        }
    }

    fn hash(&self, position: DVec3) -> u64 {
        // Adding zero turns −0 into 0.
        let [x, y, z] = (position + DVec3::ZERO).to_array().map(f64::to_bits);
        fold(fold(x ^ self.seed, y ^ ODD), z ^ self.seed.rotate_left(32))
    }
}

/// Digits of π, odd.
const ODD: u64 = 0x243F_6A88_85A3_08D3;

/// Combines both halves of a 128-bit product, so that every input bit affects every output bit.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ ODD) * u128::from(b ^ ODD.rotate_left(17));
    (product as u64) ^ ((product >> 64) as u64)
}
