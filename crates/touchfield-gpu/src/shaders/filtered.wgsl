// Samples of a Taylor field through the texture units. [Krayer2020], Eq. 10 to 12: a texel holds
// half the gradient and the constant term, and the value is the dot product of the filtered texel
// with (x, 1).

struct Parameters {
    origin: vec3f,
    cell_size: f32,
    cells: vec3u,
    count: u32,
    // Texels of the texture along each axis.
    size: vec3f,
    spare: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
// Three numbers a point.
@group(1) @binding(1) var<storage, read> points: array<f32>;
// Distance and gradient.
@group(1) @binding(2) var<storage, read_write> samples: array<vec4f>;
@group(1) @binding(3) var texels: texture_3d<f32>;
@group(1) @binding(4) var filtering: sampler;

@compute @workgroup_size(64)
fn sample_filtered(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index >= parameters.count {
        return;
    }
    let first = 3u * index;
    let point = vec3f(points[first], points[first + 1u], points[first + 2u]);
    let last = vec3f(parameters.cells);
    let scaled = clamp((point - parameters.origin) / parameters.cell_size, vec3f(0.0), last);
    let block = min(vec3u(scaled), parameters.cells - 1u) / BLOCK;
    // In cells from the first node of the block, whose texels are its own.
    let in_block = scaled - vec3f(block * BLOCK);
    let texel = vec3f(block * (BLOCK + 1u)) + in_block + 0.5;
    let v = textureSampleLevel(texels, filtering, texel / parameters.size, 0.0);
    let from_middle = in_block - 0.5 * f32(BLOCK);
    let value = dot(vec4f(from_middle, 1.0), v);
    samples[index] = vec4f(value * parameters.cell_size, 2.0 * v.xyz);
}
