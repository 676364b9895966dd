// The least distance of the shell points of each pair in the field of the other shape. Minima are
// taken in a fixed tree; of equal distances the first point's counts.

struct Parameters {
    pairs: u32,
    // Blocks of 1024 points.
    blocks: u32,
    spare_1: u32,
    spare_2: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
// Number of ranges. Then, for both shells of each pair: probe, 0, first block, number of blocks.
@group(1) @binding(1) var<storage, read> ranges: array<vec4u>;
@group(1) @binding(2) var<storage, read> probes: array<Probe>;
