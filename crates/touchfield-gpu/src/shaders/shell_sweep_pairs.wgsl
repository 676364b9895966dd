// First contact of each pair, from those of its blocks.
@group(1) @binding(2) var<storage, read> partials: array<vec4u>;
@group(1) @binding(3) var<storage, read_write> results: array<vec4u>;

@compute @workgroup_size(64)
fn sweep_pairs(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let pair = thread_index(group, groups, local);
    if pair >= parameters.pairs {
        return;
    }
    let own = ranges[pair + 1u];
    var clear = 2.0;
    var touch = 2.0;
    var touch_at = 0xffffffffu;
    for (var block = own.z; block < own.z + own.w; block++) {
        let partial = partials[block];
        clear = min(clear, bitcast<f32>(partial.x));
        let time = bitcast<f32>(partial.y);
        if time < touch {
            touch = time;
            touch_at = partial.z;
        }
    }
    results[pair] = vec4u(bitcast<u32>(clear), bitcast<u32>(touch), touch_at, 0u);
}
