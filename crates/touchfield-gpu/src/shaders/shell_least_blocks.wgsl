// Least distance of each block, and the index of its point.
@group(1) @binding(3) var<storage, read_write> partials: array<vec2u>;

var<workgroup> least: array<f32, 64>;
var<workgroup> least_at: array<u32, 64>;

@compute @workgroup_size(64)
fn least_of_blocks(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let block = group.y * groups.x + group.x;
    if block >= parameters.blocks {
        return;
    }
    let own = range_of(block);
    let probe = probes[own.x];
    let first = 1024u * (block - own.z);
    var nearest = 3.4e38;
    var nearest_at = 0xffffffffu;
    for (var i = 0u; i < 16u; i++) {
        let index = first + 64u * i + local;
        if index < probe.points {
            let point = placed(probe.field_from_shell, shell_point(probe.shell, index));
            let distance = sample_shape(probe.field, point).distance;
            if distance < nearest {
                nearest = distance;
                nearest_at = index;
            }
        }
    }
    least[local] = nearest;
    least_at[local] = nearest_at;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half /= 2u) {
        if local < half {
            let other = least[local + half];
            let at = least_at[local + half];
            if other < least[local] || (other == least[local] && at < least_at[local]) {
                least[local] = other;
                least_at[local] = at;
            }
        }
        workgroupBarrier();
    }
    if local == 0u {
        partials[block] = vec2u(bitcast<u32>(least[0]), least_at[0]);
    }
}
