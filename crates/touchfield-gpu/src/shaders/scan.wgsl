// Prefix sums: a workgroup of 64 threads scans a block of 1024 counts, 16 a thread.

struct Parameters {
    count: u32,
    spare_1: u32,
    spare_2: u32,
    spare_3: u32,
}

@group(1) @binding(0) var<uniform> parameters: Parameters;
@group(1) @binding(1) var<storage, read> counts: array<u32>;
// Sums of blocks, or offsets.
@group(1) @binding(2) var<storage, read_write> results: array<u32>;
// Sum of all counts before each block.
@group(1) @binding(3) var<storage, read> before: array<u32>;

const OWN: u32 = 16u;

var<workgroup> sums: array<u32, 64>;

fn count_at(index: u32) -> u32 {
    return select(0u, counts[min(index, parameters.count - 1u)], index < parameters.count);
}

fn own_sum(first: u32) -> u32 {
    var sum = 0u;
    for (var i = 0u; i < OWN; i++) {
        sum += count_at(first + i);
    }
    return sum;
}

// Sum over the threads before this one; `sums[63]` is then the sum up to the last.
fn sum_before(local: u32, own: u32) -> u32 {
    sums[local] = own;
    workgroupBarrier();
    for (var reach = 1u; reach < 64u; reach *= 2u) {
        var other = 0u;
        if local >= reach {
            other = sums[local - reach];
        }
        workgroupBarrier();
        sums[local] += other;
        workgroupBarrier();
    }
    return sums[local] - own;
}

fn scan(block: u32, local: u32, start: u32) {
    let first = (block * 64u + local) * OWN;
    var sum = start + sum_before(local, own_sum(first));
    for (var i = 0u; i < OWN; i++) {
        let index = first + i;
        if index >= parameters.count {
            break;
        }
        results[index] = sum;
        sum += counts[index];
        if index + 1u == parameters.count {
            results[index + 1u] = sum;
        }
    }
}

@compute @workgroup_size(64)
fn add_blocks(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let block = group.y * groups.x + group.x;
    let before_own = sum_before(local, own_sum((block * 64u + local) * OWN));
    if local == 63u && block * 1024u < parameters.count {
        results[block] = sums[63];
    }
}

@compute @workgroup_size(64)
fn scan_blocks(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let block = group.y * groups.x + group.x;
    scan(block, local, before[min(block, arrayLength(&before) - 1u)]);
}

@compute @workgroup_size(64)
fn scan_one_block(@builtin(local_invocation_index) local: u32) {
    if parameters.count == 0u {
        if local == 0u {
            results[0] = 0u;
        }
        return;
    }
    scan(0u, local, 0u);
}
