// Samples one shape at many points.

struct Parameters {
    shape: u32,
    count: u32,
    spare_1: u32,
    spare_2: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
// Three numbers a point.
@group(1) @binding(1) var<storage, read> points: array<f32>;
// Distance and gradient.
@group(1) @binding(2) var<storage, read_write> samples: array<vec4f>;

@compute @workgroup_size(64)
fn sample_points(
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
    let found = sample_shape(parameters.shape, point);
    samples[index] = vec4f(found.distance, found.gradient);
}
