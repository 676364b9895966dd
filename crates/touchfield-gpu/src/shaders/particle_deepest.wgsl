// The k deepest contacts of each pair: one workgroup per pair halves the range of depths, then that
// of the particles of equal depth. Ties go to the particle of lower number.

struct Parameters {
    count: u32,
    pairs: u32,
    capacity: u32,
    wanted: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
@group(1) @binding(1) var<storage, read> contacts: array<vec4f>;
// First contact of each pair, and the end of the last.
@group(1) @binding(2) var<storage, read> first: array<u32>;
@group(1) @binding(3) var<storage, read_write> keep: array<u32>;

var<workgroup> sums: array<u32, 64>;
var<workgroup> ends: vec2u;

// A whole number that is less for deeper contacts.
fn key_of(index: u32) -> u32 {
    let bits = bitcast<u32>(contacts[2u * index].w);
    return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}

fn particle_of(index: u32) -> u32 {
    return bitcast<u32>(contacts[2u * index + 1u].w);
}

// Number of contacts of the workgroup's pair whose key is at most `key`, or, of those of exactly
// this key, whose particle is at most `particle`.
fn count_up_to(
    local: u32,
    begin: u32,
    end: u32,
    key: u32,
    particle: u32,
    by_particle: bool,
) -> u32 {
    var own = 0u;
    for (var i = begin + local; i < end; i += 64u) {
        let k = key_of(i);
        if by_particle {
            own += u32(k == key && particle_of(i) <= particle);
        } else {
            own += u32(k <= key);
        }
    }
    sums[local] = own;
    workgroupBarrier();
    for (var reach = 32u; reach > 0u; reach /= 2u) {
        if local < reach {
            sums[local] += sums[local + reach];
        }
        workgroupBarrier();
    }
    let sum = workgroupUniformLoad(&sums[0]);
    workgroupBarrier();
    return sum;
}

@compute @workgroup_size(64)
fn keep_deepest(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let pair = group.y * groups.x + group.x;
    if pair >= parameters.pairs {
        return;
    }
    if local == 0u {
        ends = vec2u(first[pair], first[pair + 1u]);
    }
    let range = workgroupUniformLoad(&ends);
    let wanted = parameters.wanted;
    if range.y - range.x <= wanted || wanted == 0u {
        for (var i = range.x + local; i < range.y; i += 64u) {
            keep[i] = u32(wanted > 0u);
        }
        return;
    }
    // The least key up to which there are enough contacts.
    var low = 0u;
    var high = 0xffffffffu;
    while low < high {
        let middle = low + (high - low) / 2u;
        if count_up_to(local, range.x, range.y, middle, 0u, false) >= wanted {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    let key = low;
    var before = 0u;
    if key > 0u {
        before = count_up_to(local, range.x, range.y, key - 1u, 0u, false);
    }
    let of_equals = wanted - before;
    low = 0u;
    high = 0xffffffffu;
    while low < high {
        let middle = low + (high - low) / 2u;
        if count_up_to(local, range.x, range.y, key, middle, true) >= of_equals {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    for (var i = range.x + local; i < range.y; i += 64u) {
        let k = key_of(i);
        keep[i] = u32(k < key || (k == key && particle_of(i) <= low));
    }
}
