// First contact of moving shell points: each moves on a straight line from its place at the start
// to its place at the end.

struct Parameters {
    pairs: u32,
    // Blocks of 64 points.
    blocks: u32,
    most_steps: u32,
    level: f32,
    tolerance: f32,
    spare_1: u32,
    spare_2: u32,
    spare_3: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
// Number of ranges; then, for each pair: pair, 0, first block, number of blocks.
@group(1) @binding(1) var<storage, read> ranges: array<vec4u>;
