// Shells in fields: what all kernels over shell points share. `shells/probe.rs` writes the probes
// that are read here.
//
// Every formula is that of `narrow/search/probe.rs` of the library, in the same order of
// operations.

// The shell of one shape in the field of another.
struct Probe {
    shell: u32,
    field: u32,
    // 1 if the shell is that of A.
    side: u32,
    // Points of the shell.
    points: u32,
    // Columns of rotations; the fourth numbers are the translation.
    field_from_shell: array<vec4f, 3>,
    a_from_field: array<vec4f, 3>,
    // Half the width of the rounding band; how far a position may be off; most that values change
    // across a border of cells or of the grid; slack of spheres. All in metres.
    rounding: vec4f,
}

fn rotated(columns: array<vec4f, 3>, v: vec3f) -> vec3f {
    return columns[0].xyz * v.x + columns[1].xyz * v.y + columns[2].xyz * v.z;
}

fn placed(columns: array<vec4f, 3>, point: vec3f) -> vec3f {
    return rotated(columns, point) + vec3f(columns[0].w, columns[1].w, columns[2].w);
}

fn shell_point(shell: u32, index: u32) -> vec3f {
    return vector(word(shell * HEADER + SHELL_POINTS) + 6u * index);
}

fn shell_normal(shell: u32, index: u32) -> vec3f {
    return vector(word(shell * HEADER + SHELL_POINTS) + 6u * index + 3u);
}

// A direction of unit length, or `otherwise` for a vector that is too short to have one.
fn unit_or(v: vec3f, otherwise: vec3f) -> vec3f {
    let squared = dot(v, v);
    if squared > 1e-37 {
        return v / sqrt(squared);
    }
    return otherwise;
}

// A contact in eight words: the bits of point and separation; those of the normal, and the
// identity. Words, because a device may change numbers that are no normal floats.
struct ShellContact {
    point: vec4u,
    normal: vec4u,
}

// The contact of a shell point. As `Probe::contact` builds it, the way out of a gradient that mixes
// several directions included.
fn contact_of(probe: Probe, index: u32) -> ShellContact {
    const STRAIGHT: f32 = 0.98;
    let point = placed(probe.field_from_shell, shell_point(probe.shell, index));
    var distance = 0.0;
    var outward = vec3f(0.0);
    var at = point;
    // One call of the field in a loop, so that its code is in the kernel only once.
    for (var step = 0u; step < 3u; step++) {
        let found = sample_shape(probe.field, at);
        if step == 0u {
            distance = found.distance;
            let normal = shell_normal(probe.shell, index);
            outward = unit_or(found.gradient, -rotated(probe.field_from_shell, normal));
            if dot(found.gradient, found.gradient) >= STRAIGHT * STRAIGHT {
                break;
            }
            at = point - 0.5 * distance * outward;
        } else {
            at -= found.distance * unit_or(found.gradient, vec3f(0.0));
        }
        if step == 2u {
            let way = (point - at) * select(-1.0, 1.0, distance >= 0.0);
            outward = unit_or(way, outward);
        }
    }
    let outward_in_a = rotated(probe.a_from_field, outward);
    let of_a = probe.side == 1u;
    let middle = point - 0.5 * distance * outward;
    let identity = select(index, index | 0x80000000u, of_a);
    let normal = select(outward_in_a, -outward_in_a, of_a);
    return ShellContact(
        vec4u(bitcast<vec3u>(placed(probe.a_from_field, middle)), bitcast<u32>(distance)),
        vec4u(bitcast<vec3u>(normal), identity),
    );
}
