// First pass: one thread tests one point.

@group(1) @binding(3) var<storage, read> probes: array<Probe>;
// Contacts of each block; then, of each probe, the points in the rounding band.
@group(1) @binding(4) var<storage, read_write> totals: array<atomic<u32>>;

var<workgroup> flags: array<atomic<u32>, 2>;

@compute @workgroup_size(64)
fn test_points(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = thread_index(group, groups, local);
    if index < min(ranges[0].y, parameters.points) {
        let own = range_of(index);
        let probe = probes[own.x];
        let at = shell_point(probe.shell, own.y + index - own.z);
        let point = placed(probe.field_from_shell, at);
        var is_contact = false;
        var in_band = false;
        // The point itself, then the eight corners of the box within which rounding may move it:
        // values may jump where blocks of cells meet, and at the border of a grid.
        for (var i = 0u; i < 9u; i++) {
            var beside = point;
            if i > 0u {
                let corner = vec3u(i - 1u, (i - 1u) >> 1u, (i - 1u) >> 2u) & vec3u(1u);
                beside += probe.rounding.y * (2.0 * vec3f(corner) - 1.0);
            }
            let above = sample_shape(probe.field, beside).distance - parameters.max_separation;
            if i == 0u {
                is_contact = above <= 0.0;
                in_band = abs(above) <= probe.rounding.x;
                if in_band || abs(above) > probe.rounding.x + probe.rounding.z {
                    break;
                }
            } else if (above <= 0.0) != is_contact {
                in_band = true;
                break;
            }
        }
        if is_contact {
            atomicOr(&flags[local >> 5u], 1u << (local & 31u));
        }
        if in_band {
            atomicAdd(&totals[parameters.blocks + own.x], 1u);
        }
    }
    workgroupBarrier();
    let block = index / 64u;
    if local == 0u && block < parameters.blocks {
        let low = atomicLoad(&flags[0]);
        let high = atomicLoad(&flags[1]);
        marks[2u * block] = low;
        marks[2u * block + 1u] = high;
        atomicStore(&totals[block], countOneBits(low) + countOneBits(high));
    }
}
