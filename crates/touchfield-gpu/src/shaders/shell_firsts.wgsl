// Where the contacts of each probe begin, and the totals that the host wants.

@group(1) @binding(3) var<storage, read> totals: array<u32>;
// First contact of each probe, and the number of all; points in the band of each probe; points.
@group(1) @binding(4) var<storage, read_write> firsts: array<u32>;

@compute @workgroup_size(64)
fn find_firsts(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let probe = thread_index(group, groups, local);
    if probe > parameters.probes {
        return;
    }
    // The first range of this probe or of a later one.
    var low = 1u;
    var high = ranges[0].x + 1u;
    while low < high {
        let middle = (low + high) / 2u;
        if ranges[middle].x < probe {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    var start = ranges[0].y;
    if low <= ranges[0].x {
        start = ranges[low].z;
    }
    firsts[probe] = rank(start);
    if probe < parameters.probes {
        firsts[parameters.probes + 1u + probe] = totals[parameters.blocks + probe];
    } else {
        firsts[2u * parameters.probes + 1u] = ranges[0].y;
    }
}
