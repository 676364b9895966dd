//! SIMD over eight `f32`, prefetches and large pages. The only module with `unsafe` code, which
//! uses AVX2, FMA and F16C where the CPU has them.
//!
//! An algorithm is written once, generic over [`Lanes`], as a [`Work`]; [`run`] picks the
//! instruction set at run time. Values that end up in results are computed with basic arithmetic
//! only, which IEEE 754 defines to the bit, so every instruction set gives the same bits.
//! [`Lanes::fused`] is used only for bounds, which skip work that an exact computation would
//! discard as well.
//!
//! The environment variable `TOUCHFIELD_LANES=portable`, read once per process, turns the vector
//! instructions off: the results are the same bits, several times slower. Tests run that way too.
//!
//! Vector instructions are written out because the compiler does not reliably vectorise: one
//! closure that was not inlined made baking the 69,666-triangle bunny at 128³ take 4.9 CPU seconds
//! instead of 1.2.

use std::collections::TryReserveError;
use std::mem::MaybeUninit;

use glam::Vec3;

/// Number of lanes: how many numbers one vector operation processes.
pub(crate) const LANES: usize = 8;

/// [`LANES`] numbers in memory.
pub(crate) type Stored = Aligned<[f32; LANES]>;
/// Three coordinates of [`LANES`] points in memory.
pub(crate) type Stored3 = [Stored; 3];

/// A value aligned to 32 bytes, the width of an AVX register.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Aligned<T>(pub(crate) T);

/// One `f32`, or [`LANES`] of them. Code generic over this trait gives the same bits for one number
/// and for many.
pub(crate) trait Number: Copy {
    fn splat(value: f32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
}

impl Number for f32 {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        value
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self - other
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self * other
    }
}

/// [`LANES`] numbers in registers.
pub(crate) trait Lanes: Number {
    fn load(stored: &Stored) -> Self;
    /// Loads from memory of any alignment.
    fn load_plain(values: &[f32; LANES]) -> Self;
    /// Converts eight half floats, given as bits, to `f32`, exactly.
    fn load_halves(bits: &[u16; LANES]) -> Self;
    /// Converts eight half floats, four from each of two places, to `f32`, exactly.
    fn load_two_halves(low: &[u16; LANES / 2], high: &[u16; LANES / 2]) -> Self;
    /// Converts eight `i16` to `f32`, exactly.
    fn load_shorts(shorts: &[i16; LANES]) -> Self;
    /// Converts eight `u16` to `f32`, exactly.
    fn load_words(words: &[u16; LANES]) -> Self;
    /// Converts eight `u16`, two from each of four places, to `f32`, exactly. The pairs go straight
    /// into registers: assembling them in memory first would stall the load on the stores.
    fn load_word_pairs(pairs: [[u16; 2]; LANES / 2]) -> Self;
    fn store(self) -> Stored;
    /// Transposes an 8×8 block: lane `i` of result `k` is lane `k` of row `i`.
    fn transpose(rows: [Self; LANES]) -> [Self; LANES];
    /// Returns the integer part of every lane.
    fn truncate(self) -> Self;
    /// Converts to integers. Every lane must hold a whole number from 0 to below 2³¹.
    fn to_whole(self) -> [u32; LANES];
    /// Computes `self · factor + term`, rounded once or twice depending on the CPU, so that the
    /// bits differ between CPUs.
    fn fused(self, factor: Self, term: Self) -> Self;
    /// Computes `from − self · factor`, rounded like [`Self::fused`].
    fn fused_from(self, factor: Self, from: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn abs(self) -> Self;
    /// Selects `a` where `self > 0`, else `b`.
    fn select_positive(self, a: Self, b: Self) -> Self;
    /// Returns a mask with bit `i` set where lane `i` is at most lane `i` of `limit`.
    fn mask_at_most(self, limit: Self) -> u32;
}

/// A computation that is compiled once per instruction set.
///
/// `run` must be `#[inline(always)]`, and so must everything in it that handles lanes. Closures are
/// not inlined reliably and then cost a call through memory.
pub(crate) trait Work {
    type Output;
    fn run<L: Lanes>(self) -> Self::Output;
}

/// Prefetches the cache line at `place`. It affects only time, never results.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn prefetch<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint and valid for any address; every x86-64 CPU has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}

/// Reserves room for exactly `count` elements, in large pages if it is big enough.
///
/// With random reads in a field of gigabytes, address translation for small pages takes longer than
/// the read itself: 300,000 segments against the bunny at 1024³ took 1.3 to 1.4 times as long.
pub(crate) fn room_for<T>(count: usize) -> Result<Vec<T>, TryReserveError> {
    let mut room = Vec::new();
    room.try_reserve_exact(count)?;
    prefer_large_pages(room.spare_capacity_mut());
    Ok(room)
}

/// Advises the system to back memory that is not written yet with large pages. It affects only
/// time, whether or not the system follows the advice.
#[allow(unsafe_code)]
pub(crate) fn prefer_large_pages<T>(room: &mut [MaybeUninit<T>]) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        /// Size of a large page \[bytes\]; also a multiple of every small page size.
        const LARGE: usize = 1 << 21;
        let bytes = size_of_val(room);
        let to_first = room.as_ptr().cast::<u8>().align_offset(LARGE);
        let whole = bytes.saturating_sub(to_first) / LARGE * LARGE;
        if whole > 0 {
            let first = room.as_mut_ptr().cast::<u8>().wrapping_add(to_first);
            // SAFETY: the range lies within memory lent exclusively to us, and this advice never
            // changes its contents.
            unsafe { libc::madvise(first.cast(), whole, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = room;
}

/// Runs `work` with the widest instructions that the CPU has.
#[inline]
#[allow(unsafe_code)]
pub(crate) fn run<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if choice::has_vectors() {
        // SAFETY: needs a CPU with AVX2, FMA and F16C, and `has_vectors` is true only on one.
        return unsafe { avx2::run(work) };
    }
    work.run::<Portable>()
}

/// Choice of the instruction set, made at the first call and kept for the life of the process.
#[cfg(target_arch = "x86_64")]
mod choice {
    use std::sync::atomic::{AtomicU8, Ordering};

    /// The environment variable that turns vector instructions off if its value is
    /// [`PORTABLE_WORD`].
    pub(super) const VARIABLE: &str = "TOUCHFIELD_LANES";
    pub(super) const PORTABLE_WORD: &str = "portable";

    const NOT_CHOSEN: u8 = 0;
    const PORTABLE: u8 = 1;
    const VECTORS: u8 = 2;

    static CHOICE: AtomicU8 = AtomicU8::new(NOT_CHOSEN);

    /// Returns whether to use AVX2, FMA and F16C; if true, the CPU has all three. Costs one relaxed
    /// load, as does the standard library's own check of a single feature.
    #[inline]
    pub(super) fn has_vectors() -> bool {
        match CHOICE.load(Ordering::Relaxed) {
            NOT_CHOSEN => choose(),
            choice => choice == VECTORS,
        }
    }

    /// Detects the CPU's features and stores the choice. Threads that race here choose the same.
    #[cold]
    fn choose() -> bool {
        let is_turned_off = std::env::var_os(VARIABLE).is_some_and(|word| word == PORTABLE_WORD);
        let has_vectors = !is_turned_off
            && std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("f16c");
        let choice = if has_vectors { VECTORS } else { PORTABLE };
        CHOICE.store(choice, Ordering::Relaxed);
        has_vectors
    }
}

#[inline(always)]
pub(crate) fn splat3<L: Lanes>(v: Vec3) -> [L; 3] {
    [L::splat(v.x), L::splat(v.y), L::splat(v.z)]
}

#[inline(always)]
pub(crate) fn load3<L: Lanes>(v: &Stored3) -> [L; 3] {
    [L::load(&v[0]), L::load(&v[1]), L::load(&v[2])]
}

/// Broadcasts one lane of stored numbers to all lanes.
#[inline(always)]
pub(crate) fn splat_lane<L: Lanes>(stored: &Stored, lane: usize) -> L {
    L::splat(stored.0[lane])
}

#[inline(always)]
pub(crate) fn splat_lane3<L: Lanes>(stored: &Stored3, lane: usize) -> [L; 3] {
    let [x, y, z] = stored;
    [
        splat_lane(x, lane),
        splat_lane(y, lane),
        splat_lane(z, lane),
    ]
}

#[inline(always)]
pub(crate) fn sub3<L: Lanes>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    [a[0].sub(b[0]), a[1].sub(b[1]), a[2].sub(b[2])]
}

#[inline(always)]
pub(crate) fn dot3<L: Lanes>(a: [L; 3], b: [L; 3]) -> L {
    a[0].mul(b[0]).add(a[1].mul(b[1])).add(a[2].mul(b[2]))
}

/// Computes [`dot3`] plus `term`, rounded like [`Lanes::fused`].
#[inline(always)]
pub(crate) fn fused_dot3<L: Lanes>(a: [L; 3], b: [L; 3], term: L) -> L {
    a[2].fused(b[2], a[1].fused(b[1], a[0].fused(b[0], term)))
}

/// Iterates over the indices of the set bits of a mask, lowest first.
#[inline(always)]
pub(crate) fn set_lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(
        #[inline(always)]
        move || {
            if mask == 0 {
                return None;
            }
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            Some(lane)
        },
    )
}

/// Lanes as a plain array, for any CPU.
#[derive(Clone, Copy)]
struct Portable([f32; LANES]);

impl Portable {
    #[inline(always)]
    fn zip(self, other: Portable, operation: impl Fn(f32, f32) -> f32) -> Portable {
        Portable(std::array::from_fn(|i| operation(self.0[i], other.0[i])))
    }
}

impl Number for Portable {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Portable([value; LANES])
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl Lanes for Portable {
    #[inline(always)]
    fn load(stored: &Stored) -> Self {
        Portable(stored.0)
    }
    #[inline(always)]
    fn load_plain(values: &[f32; LANES]) -> Self {
        Portable(*values)
    }
    #[inline(always)]
    fn load_halves(bits: &[u16; LANES]) -> Self {
        Portable(bits.map(|bits| half::f16::from_bits(bits).to_f32()))
    }
    #[inline(always)]
    fn load_two_halves(low: &[u16; LANES / 2], high: &[u16; LANES / 2]) -> Self {
        let bits = |i: usize| {
            if i < LANES / 2 {
                low[i]
            } else {
                high[i - LANES / 2]
            }
        };
        Self::load_halves(&std::array::from_fn(bits))
    }
    #[inline(always)]
    fn load_shorts(shorts: &[i16; LANES]) -> Self {
        Portable(shorts.map(f32::from))
    }
    #[inline(always)]
    fn load_words(words: &[u16; LANES]) -> Self {
        Portable(words.map(f32::from))
    }
    #[inline(always)]
    fn load_word_pairs(pairs: [[u16; 2]; LANES / 2]) -> Self {
        Self::load_words(&std::array::from_fn(|i| pairs[i / 2][i % 2]))
    }
    #[inline(always)]
    fn transpose(rows: [Self; LANES]) -> [Self; LANES] {
        std::array::from_fn(|k| Portable(std::array::from_fn(|i| rows[i].0[k])))
    }
    #[inline(always)]
    fn truncate(self) -> Self {
        Portable(self.0.map(f32::trunc))
    }
    #[inline(always)]
    fn to_whole(self) -> [u32; LANES] {
        self.0.map(|x| x as u32)
    }
    #[inline(always)]
    fn store(self) -> Stored {
        Aligned(self.0)
    }
    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        self.mul(factor).add(term)
    }
    #[inline(always)]
    fn fused_from(self, factor: Self, from: Self) -> Self {
        from.sub(self.mul(factor))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Portable(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Portable(self.0.map(f32::abs))
    }
    #[inline(always)]
    fn select_positive(self, a: Self, b: Self) -> Self {
        Portable(std::array::from_fn(|i| {
            if self.0[i] > 0.0 { a.0[i] } else { b.0[i] }
        }))
    }
    #[inline(always)]
    fn mask_at_most(self, limit: Self) -> u32 {
        (0..LANES).fold(0, |mask, i| mask | u32::from(self.0[i] <= limit.0[i]) << i)
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{Aligned, Lanes, Number, Stored, Work};

    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) fn run<W: Work>(work: W) -> W::Output {
        work.run::<Avx2>()
    }

    /// One AVX register. Private to this module and created only inside [`run`], so wherever a
    /// value exists, the CPU has AVX2, FMA and F16C.
    #[derive(Clone, Copy)]
    struct Avx2(__m256);

    /// Calls one intrinsic. Every use below is sound for the same reason.
    macro_rules! instruction {
        ($call:expr) => {
            // SAFETY: needs a CPU with AVX2, FMA and F16C; `Avx2` values exist only inside `run`,
            // which demands one.
            unsafe { $call }
        };
    }

    /// Interleaves the lanes of `a` and `b` within each 128-bit half: first the lower two lanes of
    /// the half, then the upper two.
    #[inline(always)]
    fn interleaved(a: Avx2, b: Avx2) -> [__m256; 2] {
        [
            instruction!(_mm256_unpacklo_ps(a.0, b.0)),
            instruction!(_mm256_unpackhi_ps(a.0, b.0)),
        ]
    }

    /// Combines pairs of lanes within each 128-bit half: result `k` holds pair `k` of `a`, then
    /// pair `k` of `b`.
    #[inline(always)]
    fn by_twos(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 4] {
        [
            instruction!(_mm256_shuffle_ps::<0x44>(a[0], b[0])),
            instruction!(_mm256_shuffle_ps::<0xee>(a[0], b[0])),
            instruction!(_mm256_shuffle_ps::<0x44>(a[1], b[1])),
            instruction!(_mm256_shuffle_ps::<0xee>(a[1], b[1])),
        ]
    }

    impl Number for Avx2 {
        #[inline(always)]
        fn splat(value: f32) -> Self {
            Avx2(instruction!(_mm256_set1_ps(value)))
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Avx2(instruction!(_mm256_add_ps(self.0, other.0)))
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Avx2(instruction!(_mm256_sub_ps(self.0, other.0)))
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Avx2(instruction!(_mm256_mul_ps(self.0, other.0)))
        }
    }

    impl Lanes for Avx2 {
        #[inline(always)]
        fn load(stored: &Stored) -> Self {
            // SAFETY: AVX2 as above; `Stored` is eight `f32`, aligned to 32 bytes by its type.
            Avx2(unsafe { _mm256_load_ps(stored.0.as_ptr()) })
        }
        #[inline(always)]
        fn load_plain(values: &[f32; super::LANES]) -> Self {
            // SAFETY: AVX2 as above; eight `f32`, no alignment required.
            Avx2(unsafe { _mm256_loadu_ps(values.as_ptr()) })
        }
        #[inline(always)]
        fn load_halves(bits: &[u16; super::LANES]) -> Self {
            // SAFETY: F16C as above; sixteen bytes, no alignment required.
            Avx2(unsafe { _mm256_cvtph_ps(_mm_loadu_si128(bits.as_ptr().cast())) })
        }
        #[inline(always)]
        fn load_two_halves(low: &[u16; super::LANES / 2], high: &[u16; super::LANES / 2]) -> Self {
            // SAFETY: F16C as above; eight bytes from each, no alignment required.
            Avx2(unsafe {
                let low = _mm_loadl_epi64(low.as_ptr().cast());
                let high = _mm_loadl_epi64(high.as_ptr().cast());
                _mm256_cvtph_ps(_mm_unpacklo_epi64(low, high))
            })
        }
        #[inline(always)]
        fn load_shorts(shorts: &[i16; super::LANES]) -> Self {
            // SAFETY: AVX2 as above; sixteen bytes, no alignment required.
            Avx2(unsafe {
                let shorts = _mm_loadu_si128(shorts.as_ptr().cast());
                _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(shorts))
            })
        }
        #[inline(always)]
        fn load_words(words: &[u16; super::LANES]) -> Self {
            // SAFETY: AVX2 as above; sixteen bytes, no alignment required.
            Avx2(unsafe {
                let words = _mm_loadu_si128(words.as_ptr().cast());
                _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(words))
            })
        }
        #[inline(always)]
        fn load_word_pairs(pairs: [[u16; 2]; super::LANES / 2]) -> Self {
            let [a, b, c, d] =
                pairs.map(|[low, high]| (u32::from(low) | u32::from(high) << 16) as i32);
            Avx2(instruction!({
                let words = _mm_setr_epi32(a, b, c, d);
                _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(words))
            }))
        }
        #[inline(always)]
        fn transpose(rows: [Self; super::LANES]) -> [Self; super::LANES] {
            let [a, b, c, d, e, f, g, h] = rows;
            // Interleave single lanes, then pairs of lanes, then the 128-bit halves.
            let (ab, cd) = (interleaved(a, b), interleaved(c, d));
            let (ef, gh) = (interleaved(e, f), interleaved(g, h));
            let (abcd, efgh) = (by_twos(ab, cd), by_twos(ef, gh));
            let mut columns = [a; super::LANES];
            for k in 0..4 {
                let (abcd, efgh) = (abcd[k], efgh[k]);
                columns[k] = Avx2(instruction!(_mm256_permute2f128_ps::<0x20>(abcd, efgh)));
                columns[k + 4] = Avx2(instruction!(_mm256_permute2f128_ps::<0x31>(abcd, efgh)));
            }
            columns
        }
        #[inline(always)]
        fn truncate(self) -> Self {
            const HOW: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
            Avx2(instruction!(_mm256_round_ps::<HOW>(self.0)))
        }
        #[inline(always)]
        fn to_whole(self) -> [u32; super::LANES] {
            let mut out = Aligned([0; super::LANES]);
            // SAFETY: AVX2 as above; `out` is eight `u32`, aligned to 32 bytes by its type.
            unsafe {
                _mm256_store_si256(out.0.as_mut_ptr().cast(), _mm256_cvttps_epi32(self.0));
            }
            out.0
        }
        #[inline(always)]
        fn store(self) -> Stored {
            let mut out = Aligned([0.0; super::LANES]);
            // SAFETY: AVX2 as above; `out` is eight `f32`, aligned to 32 bytes by its type.
            unsafe { _mm256_store_ps(out.0.as_mut_ptr(), self.0) };
            out
        }
        #[inline(always)]
        fn fused(self, factor: Self, term: Self) -> Self {
            Avx2(instruction!(_mm256_fmadd_ps(self.0, factor.0, term.0)))
        }
        #[inline(always)]
        fn fused_from(self, factor: Self, from: Self) -> Self {
            Avx2(instruction!(_mm256_fnmadd_ps(self.0, factor.0, from.0)))
        }
        #[inline(always)]
        fn div(self, other: Self) -> Self {
            Avx2(instruction!(_mm256_div_ps(self.0, other.0)))
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            Avx2(instruction!(_mm256_sqrt_ps(self.0)))
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            Avx2(instruction!(_mm256_max_ps(self.0, other.0)))
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            Avx2(instruction!(_mm256_min_ps(self.0, other.0)))
        }
        #[inline(always)]
        fn abs(self) -> Self {
            Avx2(instruction!(_mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0)))
        }
        #[inline(always)]
        fn select_positive(self, a: Self, b: Self) -> Self {
            Avx2(instruction!(_mm256_blendv_ps(
                b.0,
                a.0,
                _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, _mm256_setzero_ps())
            )))
        }
        #[inline(always)]
        fn mask_at_most(self, limit: Self) -> u32 {
            instruction!(_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(
                self.0, limit.0
            ))) as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct EveryOperation {
        a: Stored,
        b: Stored,
    }

    impl Work for EveryOperation {
        type Output = (Vec<[f32; LANES]>, u32);

        fn run<L: Lanes>(self) -> Self::Output {
            let (a, b) = (L::load(&self.a), L::load(&self.b));
            let results = [
                a.add(b),
                a.sub(b),
                a.mul(b),
                a.div(b),
                a.abs().sqrt(),
                a.max(b),
                a.min(b),
                a.abs(),
                a.select_positive(L::splat(3.0), b),
                L::load_plain(&self.b.0),
                a.truncate(),
            ];
            let rows = std::array::from_fn(|i| a.add(b.mul(L::splat(i as f32))));
            let results = [results.to_vec(), L::transpose(rows).to_vec()].concat();
            (
                results.iter().map(|lanes| lanes.store().0).collect(),
                a.mask_at_most(b),
            )
        }
    }

    struct Name;

    impl Work for Name {
        type Output = &'static str;

        fn run<L: Lanes>(self) -> &'static str {
            std::any::type_name::<L>()
        }
    }

    /// Runs the same way in a normal run and with `TOUCHFIELD_LANES=portable`.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_environment_turns_vector_instructions_off() {
        let is_turned_off =
            std::env::var(choice::VARIABLE).is_ok_and(|word| word == choice::PORTABLE_WORD);
        let has_all = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("f16c");
        let expected = match has_all && !is_turned_off {
            true => "Avx2",
            false => "Portable",
        };
        let used = run(Name);
        assert!(used.ends_with(expected), "{used} instead of {expected}");
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let special = [0.0, -0.0, 1.5, -2.5, f32::INFINITY, 1e-40, 3e38, -1.0];
        for shift in 0..LANES {
            let a = Aligned(special);
            let b = Aligned(std::array::from_fn(|i| special[(i + shift) % LANES]));
            let widest = run(EveryOperation { a, b });
            let portable = EveryOperation { a, b }.run::<Portable>();
            assert_eq!(widest.1, portable.1);
            for (w, p) in widest.0.iter().zip(&portable.0) {
                // NaN (from ∞ − ∞) may differ in its payload.
                let bits = |v: &[f32; LANES]| v.map(|x| if x.is_nan() { 0 } else { x.to_bits() });
                assert_eq!(bits(w), bits(p), "{w:?} {p:?}");
            }
        }
    }

    struct Sums {
        a: Stored,
        b: Stored,
        c: Stored,
    }

    impl Work for Sums {
        type Output = [[f32; LANES]; 2];

        fn run<L: Lanes>(self) -> Self::Output {
            let [a, b, c] = [&self.a, &self.b, &self.c].map(|stored| L::load(stored));
            [a.fused(b, c), a.fused_from(b, c)].map(|lanes| lanes.store().0)
        }
    }

    #[test]
    fn fused_sums_are_off_by_no_more_than_two_roundings() {
        let [a, b, c] = [0.7, 1.3, -0.9].map(|start: f32| {
            Aligned(std::array::from_fn(|i| {
                start * (1.0 + 0.37 * i as f32) + 0.1
            }))
        });
        for [sums, rests] in [run(Sums { a, b, c }), Sums { a, b, c }.run::<Portable>()] {
            for (i, (&sum, &rest)) in sums.iter().zip(&rests).enumerate() {
                let (x, y, z) = (f64::from(a.0[i]), f64::from(b.0[i]), f64::from(c.0[i]));
                let allowed = f64::from(f32::EPSILON) * ((x * y).abs() + z.abs());
                assert!((f64::from(sum) - (x * y + z)).abs() <= allowed);
                assert!((f64::from(rest) - (z - x * y)).abs() <= allowed);
            }
        }
    }

    struct Turn;

    impl Work for Turn {
        type Output = [[f32; LANES]; LANES];

        fn run<L: Lanes>(self) -> Self::Output {
            let row = |i: usize| std::array::from_fn(|k| (10 * i + k) as f32);
            let rows = std::array::from_fn(|i| L::load_plain(&row(i)));
            L::transpose(rows).map(|column| column.store().0)
        }
    }

    #[test]
    fn rows_turn_to_columns() {
        let expected = std::array::from_fn(|k| std::array::from_fn(|i| (10 * i + k) as f32));
        assert_eq!(run(Turn), expected);
        assert_eq!(Turn.run::<Portable>(), expected);
    }

    struct Whole([u16; LANES]);

    impl Work for Whole {
        type Output = ([f32; LANES], [u32; LANES]);

        fn run<L: Lanes>(self) -> Self::Output {
            let words = L::load_words(&self.0);
            let [a, b, c, d, e, f, g, h] = self.0;
            let by_pairs = L::load_word_pairs([[a, b], [c, d], [e, f], [g, h]]);
            assert_eq!(words.store().0, by_pairs.store().0);
            (words.store().0, words.to_whole())
        }
    }

    #[test]
    fn words_are_whole_numbers() {
        let words = [0, 1, 2, 255, 256, 32_767, 32_768, 65_535];
        for found in [run(Whole(words)), Whole(words).run::<Portable>()] {
            assert_eq!(found, (words.map(f32::from), words.map(u32::from)));
        }
    }

    struct Shorts([i16; LANES]);

    impl Work for Shorts {
        type Output = [f32; LANES];

        fn run<L: Lanes>(self) -> [f32; LANES] {
            L::load_shorts(&self.0).store().0
        }
    }

    #[test]
    fn shorts_are_whole_numbers() {
        let shorts = [0, 1, -1, 127, -255, i16::MIN, i16::MAX, -64];
        for found in [run(Shorts(shorts)), Shorts(shorts).run::<Portable>()] {
            assert_eq!(found, shorts.map(f32::from));
        }
    }

    struct Halves([u16; LANES]);

    impl Work for Halves {
        type Output = [f32; LANES];

        fn run<L: Lanes>(self) -> [f32; LANES] {
            let all = L::load_halves(&self.0).store().0;
            let [a, b, c, d, e, f, g, h] = self.0;
            let by_fours = L::load_two_halves(&[a, b, c, d], &[e, f, g, h]).store().0;
            // Which NaN comes out is unspecified; Miri makes use of that.
            let bits = |x: f32| if x.is_nan() { 0 } else { x.to_bits() };
            assert_eq!(all.map(bits), by_fours.map(bits));
            all
        }
    }

    #[test]
    fn every_half_float_is_read_alike() {
        // Miri takes a minute for a thousand values.
        let step = if cfg!(miri) { 129 * LANES } else { LANES };
        for start in (0..=u16::MAX - LANES as u16)
            .step_by(step)
            .chain([u16::MAX - 7])
        {
            let bits = std::array::from_fn(|i| start + i as u16);
            let (widest, portable) = (run(Halves(bits)), Halves(bits).run::<Portable>());
            for (w, p) in widest.into_iter().zip(portable) {
                assert!(
                    w.to_bits() == p.to_bits() || (w.is_nan() && p.is_nan()),
                    "{w} {p}"
                );
            }
        }
        // 1, the smallest subnormal, the largest finite value, −0 and −2.
        let known = run(Halves([0x3c00, 1, 0x7bff, 0x8000, 0xc000, 0, 0, 0]));
        assert_eq!(known[..5], [1.0, 1.0 / 16_777_216.0, 65504.0, -0.0, -2.0]);
    }

    #[test]
    fn set_lanes_come_lowest_first() {
        assert_eq!(set_lanes(0b1010_0010).collect::<Vec<_>>(), [1, 5, 7]);
        assert_eq!(set_lanes(0).count(), 0);
    }
}
