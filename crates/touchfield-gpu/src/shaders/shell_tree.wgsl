// Walks the sphere trees of many shells at once, level by level. The list of a level holds pairs of
// probe and sphere, in the order of probes and points; its first element holds their number.

const LEAF: u32 = 0x80000000u;

struct Parameters {
    probes: u32,
    // Spheres for which the list has room, and the list of the next level.
    room: u32,
    next_room: u32,
    max_separation: f32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
@group(1) @binding(1) var<storage, read> probes: array<Probe>;
@group(1) @binding(2) var<storage, read> spheres: array<vec2u>;

fn sphere_words(probe: u32, sphere: u32) -> u32 {
    return word(probes[probe].shell * HEADER + SHELL_TREE) + 8u * (sphere & ~LEAF);
}

fn present() -> u32 {
    return min(spheres[0].x, parameters.room);
}
