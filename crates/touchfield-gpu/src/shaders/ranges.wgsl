// Finds the range that an index is in, among ranges in order. A kernel declares `ranges`: the first
// element holds the number of ranges, the third number of the others is where they begin.

// The last range that begins at the index or before.
fn range_of(index: u32) -> vec4u {
    var low = 1u;
    var high = ranges[0].x + 1u;
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if ranges[middle].z <= index {
            low = middle;
        } else {
            high = middle;
        }
    }
    return ranges[low];
}
