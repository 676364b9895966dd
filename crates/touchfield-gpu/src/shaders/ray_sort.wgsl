// Sorts the crossings of each ray by their coordinate, equal ones by triangle: one thread per ray.

struct Parameters {
    rays: u32,
    spare_1: u32,
    spare_2: u32,
    spare_3: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
@group(1) @binding(1) var<storage, read> offsets: array<u32>;
@group(1) @binding(2) var<storage, read_write> crossings: array<vec2u>;

fn is_before(a: vec2u, b: vec2u) -> bool {
    let x = bitcast<f32>(a.x);
    let y = bitcast<f32>(b.x);
    return x < y || (x == y && a.y < b.y);
}

@compute @workgroup_size(64)
fn sort_crossings(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let ray = thread_index(group, groups, local);
    if ray >= parameters.rays {
        return;
    }
    let first = offsets[ray];
    let end = offsets[ray + 1u];
    for (var i = first + 1u; i < end; i++) {
        let crossing = crossings[i];
        var place = i;
        while place > first && is_before(crossing, crossings[place - 1u]) {
            crossings[place] = crossings[place - 1u];
            place -= 1u;
        }
        crossings[place] = crossing;
    }
}
