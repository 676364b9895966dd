// Fields: value and gradient at a point, of every kind that the device knows. `layout.rs` writes
// the words that are read here, and says where they lie.
//
// Every formula is that of the CPU, in the same order of operations.

struct Sample {
    distance: f32,
    gradient: vec3f,
}

const HEADER: u32 = 48u;
const KIND: u32 = 0u;
const ORIGIN: u32 = 1u;
const CELL_SIZE: u32 = 4u;
const NODES: u32 = 5u;
const BOUNDS: u32 = 8u;
const SOLID: u32 = 14u;
const ERROR_BOUND: u32 = 20u;
const LISTS: u32 = 21u;
const BITS: u32 = 26u;
const FINEST: u32 = 27u;
const SHELL_POINTS: u32 = 28u;
const SHELL_COUNT: u32 = 29u;
const SHELL_TREE: u32 = 30u;
const SHELL_LEVELS: u32 = 31u;
const COVERING_RADIUS: u32 = 32u;
const SHELL_REACH: u32 = 33u;
const STEEPEST: u32 = 34u;

const DENSE: u32 = 0u;
const TAYLOR: u32 = 1u;
const SPARSE: u32 = 2u;

// A cell that no block replaces.
const PLAIN: u32 = 0xffffffffu;

fn number(index: u32) -> f32 {
    return bitcast<f32>(word(index));
}

fn vector(index: u32) -> vec3f {
    return vec3f(number(index), number(index + 1u), number(index + 2u));
}

fn counts(index: u32) -> vec3u {
    return vec3u(word(index), word(index + 1u), word(index + 2u));
}

// Where among the cells a point lies.
struct Place {
    cell: vec3u,
    fraction: vec3f,
}

fn place_among(cells: vec3u, scaled: vec3f) -> Place {
    let inside = max(scaled, vec3f(0.0));
    let cell = min(vec3u(inside), cells - 1u);
    return Place(cell, min(inside - vec3f(cell), vec3f(1.0)));
}

fn mix_ends(a: f32, b: f32, t: f32) -> f32 {
    return a + (b - a) * t;
}

// Value and slope per cell of the trilinear interpolant; bit 0 of a corner's index is x.
fn trilinear(c: array<f32, 8>, t: vec3f) -> vec4f {
    let y0z0 = mix_ends(c[0], c[1], t.x);
    let y1z0 = mix_ends(c[2], c[3], t.x);
    let y0z1 = mix_ends(c[4], c[5], t.x);
    let y1z1 = mix_ends(c[6], c[7], t.x);
    let z0 = mix_ends(y0z0, y1z0, t.y);
    let z1 = mix_ends(y0z1, y1z1, t.y);
    let dx_z0 = mix_ends(c[1] - c[0], c[3] - c[2], t.y);
    let dx_z1 = mix_ends(c[5] - c[4], c[7] - c[6], t.y);
    return vec4f(
        mix_ends(z0, z1, t.z),
        mix_ends(dx_z0, dx_z1, t.z),
        mix_ends(y1z0 - y0z0, y1z1 - y0z1, t.z),
        z1 - z0,
    );
}

// The numbers at the corners of a cell, from a list in rows along x.
fn corners_at(first: u32, row: u32, plane: u32) -> array<f32, 8> {
    return array<f32, 8>(
        number(first), number(first + 1u),
        number(first + row), number(first + row + 1u),
        number(first + plane), number(first + plane + 1u),
        number(first + plane + row), number(first + plane + row + 1u),
    );
}

fn index_among(along: vec3u, at: vec3u) -> u32 {
    return (at.z * along.y + at.y) * along.x + at.x;
}

fn sample_dense(header: u32, place: Place, nodes: vec3u, cell_size: f32) -> Sample {
    let first = word(header + LISTS) + index_among(nodes, place.cell);
    let mixed = trilinear(corners_at(first, nodes.x, nodes.x * nodes.y), place.fraction);
    return Sample(mixed.x, mixed.yzw / cell_size);
}

// A stored value of a sparse field, as a number of steps; in 32 bits the distance itself.
fn stored(values: u32, bits: u32, index: u32) -> f32 {
    if bits == 8u {
        return f32((word(values + (index >> 2u)) >> (8u * (index & 3u))) & 0xffu);
    }
    if bits == 16u {
        return f32((word(values + (index >> 1u)) >> (16u * (index & 1u))) & 0xffffu);
    }
    return number(values + index);
}

fn sample_sparse(header: u32, start: Place, nodes: vec3u, coarse_size: f32) -> Sample {
    let cells = nodes - 1u;
    var next = word(word(header + LISTS + 1u) + index_among(cells, start.cell));
    if next == PLAIN {
        return sample_dense(header, start, nodes, coarse_size);
    }
    let blocks = word(header + LISTS + 2u);
    let children = word(header + LISTS + 3u);
    let values = word(header + LISTS + 4u);
    let bits = word(header + BITS);
    var size = coarse_size;
    var fraction = start.fraction;
    // At most eight levels, as `sparse_blocks.rs` checks.
    for (var level = 0u; level < 8u; level++) {
        let block = blocks + 5u * next;
        let side = 1u << word(block);
        size /= f32(side);
        let place = place_among(vec3u(side), fraction * f32(side));
        fraction = place.fraction;
        next = PLAIN;
        let own_children = word(block + 1u);
        if own_children != PLAIN {
            next = word(children + own_children + index_among(vec3u(side), place.cell));
        }
        if next == PLAIN {
            let row = side + 1u;
            let first = word(block + 2u) + index_among(vec3u(row), place.cell);
            let lowest = number(block + 3u);
            let step = number(block + 4u);
            var corners: array<f32, 8>;
            for (var i = 0u; i < 8u; i++) {
                let node = first + (i & 1u) + ((i >> 1u) & 1u) * row + (i >> 2u) * row * row;
                let value = stored(values, bits, node);
                corners[i] = select(lowest + step * value, value, bits == 32u);
            }
            let mixed = trilinear(corners, fraction);
            return Sample(mixed.x, mixed.yzw / size);
        }
    }
    return Sample(0.0, vec3f(0.0));
}

// Four numbers of a Taylor node: half the gradient, and the distance in cells.
fn residual(first: u32, node: u32) -> vec4f {
    let at = first + 2u * node;
    return vec4f(unpack2x16float(word(at)), unpack2x16float(word(at + 1u)));
}

fn coarse_node(first: u32, node: u32) -> vec4f {
    let at = first + 4u * node;
    return vec4f(vector(at), number(at + 3u));
}

// Eight nodes at the corners of a cell or block.
struct Eight {
    at: array<vec4f, 8>,
}

fn distances(eight: Eight) -> array<f32, 8> {
    return array<f32, 8>(
        eight.at[0].w, eight.at[1].w, eight.at[2].w, eight.at[3].w,
        eight.at[4].w, eight.at[5].w, eight.at[6].w, eight.at[7].w,
    );
}

// The change of half the gradient's component along an axis over the edges along that axis,
// interpolated across them at (p, q): value, and slopes along p and q.
fn bend(low: vec4f, high: vec4f, p: f32, q: f32) -> vec3f {
    let d = high - low;
    let low_row = mix_ends(d.x, d.y, p);
    let high_row = mix_ends(d.z, d.w, p);
    return vec3f(
        mix_ends(low_row, high_row, q),
        mix_ends(d.y - d.x, d.w - d.z, q),
        high_row - low_row,
    );
}

// The bends of all three axes: columns are x, y, z; each has value and the slopes across.
fn bends(e: Eight, t: vec3f) -> mat3x3f {
    let x = bend(
        vec4f(e.at[0].x, e.at[2].x, e.at[4].x, e.at[6].x),
        vec4f(e.at[1].x, e.at[3].x, e.at[5].x, e.at[7].x), t.y, t.z);
    let y = bend(
        vec4f(e.at[0].y, e.at[1].y, e.at[4].y, e.at[5].y),
        vec4f(e.at[2].y, e.at[3].y, e.at[6].y, e.at[7].y), t.x, t.z);
    let z = bend(
        vec4f(e.at[0].z, e.at[1].z, e.at[2].z, e.at[3].z),
        vec4f(e.at[4].z, e.at[5].z, e.at[6].z, e.at[7].z), t.x, t.y);
    return mat3x3f(x, y, z);
}

// [Krayer2020], §3.2, with the coarse nodes and residuals of `taylor_grid.rs`:
//   f     = mean of distances − Σ_c t_c (1 − t_c) ∂_c a_c
//   ∂_d f = its slope − (1 − 2 t_d) ∂_d a_d − Σ_{c≠d} t_c (1 − t_c) ∂_d ∂_c a_c
fn sample_taylor(header: u32, place: Place, nodes: vec3u, cell_size: f32) -> Sample {
    const BLOCK: u32 = 4u;
    let coarse_count = (nodes - 1u + BLOCK - 1u) / BLOCK + 1u;
    let block = place.cell / BLOCK;
    let in_block = (vec3f(place.cell % BLOCK) + place.fraction) / f32(BLOCK);
    let fine_list = word(header + LISTS);
    let coarse_list = word(header + LISTS + 1u);
    var fine: Eight;
    var coarse: Eight;
    for (var i = 0u; i < 8u; i++) {
        let corner = vec3u(i & 1u, (i >> 1u) & 1u, i >> 2u);
        fine.at[i] = residual(fine_list, index_among(nodes, place.cell + corner));
        coarse.at[i] = coarse_node(coarse_list, index_among(coarse_count, block + corner));
    }
    let t = place.fraction;
    let fine_mean = trilinear(distances(fine), t);
    let coarse_mean = trilinear(distances(coarse), in_block);
    let value = fine_mean.x + coarse_mean.x;
    let slope = fine_mean.yzw + coarse_mean.yzw / f32(BLOCK);
    // Coarse slopes change over a block, so per cell by a fourth, and across by a sixteenth.
    let fine_bends = bends(fine, t);
    let coarse_bends = bends(coarse, in_block);
    let per_cell = vec3f(0.25, 0.0625, 0.0625);
    let x = fine_bends[0] + per_cell * coarse_bends[0];
    let y = fine_bends[1] + per_cell * coarse_bends[1];
    let z = fine_bends[2] + per_cell * coarse_bends[2];
    let bump = t * (1.0 - t);
    let lean = 1.0 - 2.0 * t;
    let distance = value - bump.x * x.x - bump.y * y.x - bump.z * z.x;
    let gradient = slope - vec3f(
        lean.x * x.x + bump.y * y.y + bump.z * z.y,
        lean.y * y.x + bump.x * x.y + bump.z * z.z,
        lean.z * z.x + bump.x * x.z + bump.y * y.z,
    );
    return Sample(distance * cell_size, gradient);
}

fn sample_grid(header: u32, kind: u32, point: vec3f) -> Sample {
    let nodes = counts(header + NODES);
    let cell_size = number(header + CELL_SIZE);
    let place = place_among(nodes - 1u, (point - vector(header + ORIGIN)) / cell_size);
    if HAS_SPARSE && (!HAS_DENSE && !HAS_TAYLOR || kind == SPARSE) {
        return sample_sparse(header, place, nodes, cell_size);
    }
    if HAS_TAYLOR && (!HAS_DENSE || kind == TAYLOR) {
        return sample_taylor(header, place, nodes, cell_size);
    }
    return sample_dense(header, place, nodes, cell_size);
}

// Distance and gradient of a stored field. Outside its grid a lower bound of the distance, after
// `field/bounds/outside.rs`, rounded down by a few units in the last place, so that it stays one in
// `f32`.
fn sample_stored(header: u32, kind: u32, point: vec3f) -> Sample {
    let low = vector(header + BOUNDS);
    let high = vector(header + BOUNDS + 3u);
    let solid_low = vector(header + SOLID);
    let solid_high = vector(header + SOLID + 3u);
    let border = clamp(point, min(low, solid_low), max(high, solid_high));
    let in_grid = clamp(border, low, high);
    let inside = sample_grid(header, kind, in_grid);
    if all(in_grid == point) {
        return inside;
    }
    let at_border = inside.distance - number(header + ERROR_BOUND) - length(border - in_grid);
    let way_out = point - border;
    if all(way_out == vec3f(0.0)) {
        return Sample(min(at_border, 0.0), inside.gradient);
    }
    const DOWN: f32 = 1.0 - 8.0 / 16777216.0;
    let from_solid = point - clamp(point, solid_low, solid_high);
    let to_solid = length(from_solid);
    let away = max(at_border, 0.0);
    let by_border = sqrt(dot(way_out, way_out) + away * away);
    if to_solid < by_border {
        let still = select(vec3f(0.0), inside.gradient, way_out == vec3f(0.0));
        return Sample(by_border * DOWN, (way_out + away * still) / by_border);
    }
    return Sample(to_solid * DOWN, select(inside.gradient, from_solid / to_solid, to_solid > 0.0));
}

// Distance and gradient of a shape at a point of its own frame. The constants say which kinds of
// fields there are at all: what is not there need not be compiled.
fn sample_shape(shape: u32, point: vec3f) -> Sample {
    let header = shape * HEADER;
    let kind = word(header + KIND);
    if HAS_PROGRAM && (!HAS_STORED || kind > SPARSE) {
        return run_program(word(header + LISTS), point);
    }
    return sample_stored(header, kind, point);
}
