// Tests shell points of many pairs at once: which are contacts, where those of each pair begin, and
// the contacts themselves.

struct Parameters {
    // Number of probes.
    probes: u32,
    // Most points for which there is room.
    points: u32,
    // Blocks of 64 points for which there is room.
    blocks: u32,
    // First contact that is wanted, and for how many there is room.
    first: u32,
    room: u32,
    max_separation: f32,
    spare_1: u32,
    spare_2: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
// The first holds the number of ranges and of points. The others are ranges of points: probe, first
// point of the shell, number of points in the ranges before, own number.
@group(1) @binding(1) var<storage, read> ranges: array<vec4u>;
// Two words a block, a bit for each point; then the number of contacts before each block.
@group(1) @binding(2) var<storage, read_write> marks: array<u32>;

// The number of contacts before a point.
fn rank(index: u32) -> u32 {
    let block = min(index / 64u, parameters.blocks);
    let before = marks[2u * parameters.blocks + block];
    if block == parameters.blocks {
        return before;
    }
    let bit = index & 63u;
    let low = marks[2u * block];
    let high = marks[2u * block + 1u];
    if bit < 32u {
        return before + countOneBits(low & ((1u << bit) - 1u));
    }
    return before + countOneBits(low) + countOneBits(high & ((1u << (bit - 32u)) - 1u));
}
