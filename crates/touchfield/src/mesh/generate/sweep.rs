//! Tubes along curves: torus, torus knot, chain link, winding pipe.
//!
//! Input: the dimensions of a curve \[m\], the radius of the tube, counts of segments.
//! Output: a closed mesh; rings are perpendicular to the curve, their vertices on the true tube.
//! Cost: linear in the faces, plus a quadratic check over at most [`THICKNESS_SAMPLES`] points of
//! the curve.
//! Not for: tubes that touch themselves; they are refused.
//!
//! A tube is free of self-intersections as long as its radius is less than the curve's thickness:
//! the radius of the smallest circle that touches the curve at one point and passes through another
//! \[Gonzalez1999\]. This one number covers both tight bends and strands that pass close by. We
//! compute it over samples and allow for what they miss.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};

use super::GenerateError;
use super::surface::{Check, Surface, angle};
use crate::mesh::TriangleMesh;

/// Number of sample points for the thickness of a curve.
const THICKNESS_SAMPLES: usize = 1024;

/// Fraction of a curve's thickness that a tube may fill: leaves a small gap between strands and
/// inside bends.
const THICKNESS_MARGIN: f64 = 0.95;

/// A point of a curve with two axes perpendicular to it; `across`, `above` and the direction of
/// travel are right-handed.
#[derive(Clone, Copy)]
struct Station {
    center: DVec3,
    across: DVec3,
    above: DVec3,
}

impl Station {
    /// Creates a station from a direction of travel of any length and an axis that is not parallel
    /// to it.
    fn new(center: DVec3, travel: DVec3, across: DVec3) -> Station {
        let travel = travel.normalize_or_zero();
        let across = across.reject_from_normalized(travel).normalize_or_zero();
        Station {
            center,
            across,
            above: travel.cross(across),
        }
    }

    fn travel(self) -> DVec3 {
        self.across.cross(self.above)
    }

    fn circle(self, radius: f64, sides: u32) -> impl Iterator<Item = DVec3> {
        (0..sides).map(move |i| {
            let (sin, cos) = angle(i, sides).sin_cos();
            self.center + radius * (cos * self.across + sin * self.above)
        })
    }
}

/// Returns an error if a tube would intersect itself. `curve` returns the position and direction of
/// travel at a fraction 0 to 1 of the way.
///
/// The thickness is the minimum of `|x − y|² / (2 |(x − y) × t|)` over samples x and y, with t the
/// unit tangent at y. Where two strands pass, samples a step h apart can miss the nearest points by
/// h/2 on each, so that the squared distance d² is too large by up to h²/2. A mesh of segments of
/// length s also cuts bends short, by up to s² / (8 · thickness).
fn check_thickness(
    check: Check,
    (parameter, radius): (&'static str, f64),
    curve: impl Fn(f64) -> (DVec3, DVec3),
    stations: &[Station],
) -> Result<(), GenerateError> {
    let samples: Vec<(DVec3, DVec3)> = (0..=THICKNESS_SAMPLES)
        .map(|i| curve(i as f64 / THICKNESS_SAMPLES as f64))
        .map(|(center, travel)| (center, travel.normalize_or_zero()))
        .collect();
    // The end of a closed curve is its start, up to rounding; pairs of coincident samples are
    // skipped.
    let steps = samples.windows(2).map(|pair| pair[0].0.distance(pair[1].0));
    let longest = steps.fold(0.0, f64::max);
    let mut thickness = f64::INFINITY;
    for &(x, _) in &samples {
        for &(y, tangent) in &samples {
            let chord = x - y;
            if chord.length_squared() > 1e-12 * longest * longest {
                // Along a straight line the lever is zero and the circle infinite.
                let lever = chord.cross(tangent).length();
                thickness = thickness.min(chord.length_squared() / (2.0 * lever));
            }
        }
    }
    let segment = stations
        .windows(2)
        .map(|pair| pair[0].center.distance(pair[1].center))
        .fold(0.0, f64::max);
    let missed = longest * longest / 8.0;
    let safe = (thickness * thickness - missed).max(0.0).sqrt();
    let limit = THICKNESS_MARGIN * safe - segment * segment / (8.0 * thickness);
    check.below(
        parameter,
        radius,
        limit,
        "else the tube would cut itself: make it thinner, the curve wider, or raise `segments`",
    )
}

/// Returns the number of faces of a closed tube of `steps` rings, so that it can be checked before
/// the rings are computed.
fn tube_faces(steps: u64, sides: u32) -> u64 {
    steps.saturating_mul(2 * u64::from(sides))
}

/// Generates a tube around a closed curve.
fn closed_tube(
    model: &'static str,
    stations: &[Station],
    radius: f64,
    sides: u32,
) -> Result<TriangleMesh, GenerateError> {
    let mut surface = Surface::new(model, tube_faces(stations.len() as u64, sides))?;
    let rings: Vec<_> = stations
        .iter()
        .map(|station| surface.ring(station.circle(radius, sides)))
        .collect();
    surface.loft_closed(&rings);
    surface.finish()
}

/// Parameters of a torus about the z axis, see [`torus`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torus {
    /// Radius of the circle that the tube follows \[m\].
    pub major_radius: f64,
    /// Radius of the tube \[m\].
    pub minor_radius: f64,
    /// Segments around the z axis.
    pub major_segments: u32,
    /// Segments around the tube.
    pub minor_segments: u32,
}

impl Default for Torus {
    fn default() -> Torus {
        Torus {
            major_radius: 0.04,
            minor_radius: 0.015,
            major_segments: 96,
            minor_segments: 48,
        }
    }
}

/// Generates a torus.
pub fn torus(parameters: Torus) -> Result<TriangleMesh, GenerateError> {
    let Torus {
        major_radius,
        minor_radius,
        major_segments,
        minor_segments,
    } = parameters;
    let check = Check("torus");
    check.length("major_radius", major_radius)?;
    check.length("minor_radius", minor_radius)?;
    check.below("minor_radius", minor_radius, major_radius, "`major_radius`")?;
    check.count("major_segments", major_segments, 3)?;
    check.count("minor_segments", minor_segments, 3)?;
    check.faces(tube_faces(major_segments.into(), minor_segments))?;
    let stations: Vec<_> = (0..major_segments)
        .map(|i| {
            let outward = DVec2::from_angle(angle(i, major_segments)).extend(0.0);
            Station::new(major_radius * outward, DVec3::Z.cross(outward), outward)
        })
        .collect();
    closed_tube("torus", &stations, minor_radius, minor_segments)
}

/// Parameters of a tube knotted around a torus about the z axis, see [`torus_knot`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TorusKnot {
    /// Turns around the z axis; coprime to `q`.
    pub p: u32,
    /// Turns around the tube of the torus.
    pub q: u32,
    /// Major radius of the torus that the knot lies on \[m\].
    pub radius: f64,
    /// Minor radius of the torus that the knot lies on \[m\].
    pub winding_radius: f64,
    /// Radius of the knotted tube \[m\].
    pub tube_radius: f64,
    /// Segments along the knot.
    pub segments: u32,
    /// Segments around the tube.
    pub sides: u32,
}

impl Default for TorusKnot {
    fn default() -> TorusKnot {
        TorusKnot {
            p: 2,
            q: 3,
            radius: 0.05,
            winding_radius: 0.022,
            tube_radius: 0.01,
            segments: 320,
            sides: 32,
        }
    }
}

/// Generates a (p, q) torus knot. The frame along it follows the normal of the torus, which closes
/// by itself.
pub fn torus_knot(parameters: TorusKnot) -> Result<TriangleMesh, GenerateError> {
    let TorusKnot {
        p,
        q,
        radius,
        winding_radius,
        tube_radius,
        segments,
        sides,
    } = parameters;
    let check = Check("torus_knot");
    check.length("radius", radius)?;
    check.length("winding_radius", winding_radius)?;
    check.below("winding_radius", winding_radius, radius, "`radius`")?;
    check.length("tube_radius", tube_radius)?;
    for (name, turns) in [("p", p), ("q", q)] {
        let few = (1..=32).contains(&turns);
        check.require(few, name, turns.into(), "it must lie between 1 and 32")?;
    }
    check.require(
        greatest_common_divisor(p, q) == 1,
        "q",
        q.into(),
        format!("it must share no divisor with `p` ({p}), else the knot falls apart into loops"),
    )?;
    check.count("segments", segments, 16 * p.max(q))?;
    check.count("sides", sides, 3)?;
    check.faces(tube_faces(segments.into(), sides))?;
    let (p, q) = (f64::from(p), f64::from(q));
    let frame = |t: f64| {
        let (sin_u, cos_u) = (p * TAU * t).sin_cos();
        let (sin_v, cos_v) = (q * TAU * t).sin_cos();
        let outward = DVec3::new(cos_u, sin_u, 0.0);
        let around = DVec3::new(-sin_u, cos_u, 0.0);
        let normal = cos_v * outward + sin_v * DVec3::Z;
        let up = -sin_v * outward + cos_v * DVec3::Z;
        let travel = p * (radius + winding_radius * cos_v) * around + q * winding_radius * up;
        (radius * outward + winding_radius * normal, travel, normal)
    };
    let stations: Vec<_> = (0..segments)
        .map(|i| {
            let (center, travel, normal) = frame(f64::from(i) / f64::from(segments));
            Station::new(center, travel, normal)
        })
        .collect();
    let curve = |t: f64| {
        let (center, travel, _) = frame(t);
        (center, travel)
    };
    check_thickness(check, ("tube_radius", tube_radius), curve, &stations)?;
    closed_tube("torus_knot", &stations, tube_radius, sides)
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

/// Parameters of a chain link in the xy plane, long along x, see [`chain_link`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainLink {
    /// Length of each straight side \[m\]; 0 for a round ring.
    pub straight_length: f64,
    /// Radius of the bends, to the centre line of the wire \[m\].
    pub bend_radius: f64,
    /// Radius of the wire \[m\].
    pub wire_radius: f64,
    /// Segments along each bend.
    pub bend_segments: u32,
    /// Segments along each straight side.
    pub straight_segments: u32,
    /// Segments around the wire.
    pub sides: u32,
}

impl Default for ChainLink {
    fn default() -> ChainLink {
        ChainLink {
            straight_length: 0.02,
            bend_radius: 0.01,
            wire_radius: 0.004,
            bend_segments: 32,
            straight_segments: 12,
            sides: 32,
        }
    }
}

/// Generates a chain link: a wire along a stadium.
pub fn chain_link(parameters: ChainLink) -> Result<TriangleMesh, GenerateError> {
    let ChainLink {
        straight_length,
        bend_radius,
        wire_radius,
        bend_segments,
        straight_segments,
        sides,
    } = parameters;
    let check = Check("chain_link");
    if straight_length != 0.0 {
        check.length("straight_length", straight_length)?;
    }
    check.length("bend_radius", bend_radius)?;
    check.length("wire_radius", wire_radius)?;
    check.below("wire_radius", wire_radius, bend_radius, "`bend_radius`")?;
    check.count("bend_segments", bend_segments, 2)?;
    check.count("straight_segments", straight_segments, 1)?;
    check.count("sides", sides, 3)?;
    let steps = 2 * (u64::from(bend_segments) + u64::from(straight_segments));
    check.faces(tube_faces(steps, sides))?;
    let mut stations = Vec::with_capacity(steps as usize);
    for side in [1.0, -1.0] {
        // The bend at +x, then the straight side at +y; then both again, rotated by half a turn.
        let half = 0.5 * straight_length * DVec3::X;
        let mut station = |center: DVec3, outward: DVec3| {
            let outward = side * outward;
            stations.push(Station::new(
                side * center,
                DVec3::Z.cross(outward),
                outward,
            ));
        };
        for i in 0..bend_segments {
            let turn = PI * (f64::from(i) / f64::from(bend_segments) - 0.5);
            let outward = DVec2::from_angle(turn).extend(0.0);
            station(half + bend_radius * outward, outward);
        }
        let (straight_from, straight_to) = (half, -half);
        // A round ring has no straight sides.
        let steps = if straight_length == 0.0 {
            0
        } else {
            straight_segments
        };
        for i in 0..steps {
            let t = f64::from(i) / f64::from(steps);
            let center = straight_from.lerp(straight_to, t) + bend_radius * DVec3::Y;
            station(center, DVec3::Y);
        }
    }
    closed_tube("chain_link", &stations, wire_radius, sides)
}

/// Parameters of a hollow pipe that winds along x, see [`winding_pipe`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindingPipe {
    /// Distance between the ends \[m\].
    pub length: f64,
    /// Amplitude of the centre line to each side \[m\].
    pub amplitude: f64,
    /// Number of full oscillations over the length.
    pub windings: f64,
    /// Outer radius \[m\].
    pub radius: f64,
    /// Thickness of the wall \[m\].
    pub wall: f64,
    /// Segments along the pipe.
    pub segments: u32,
    /// Segments around the pipe.
    pub sides: u32,
}

impl Default for WindingPipe {
    fn default() -> WindingPipe {
        WindingPipe {
            length: 0.6,
            amplitude: 0.06,
            windings: 1.5,
            radius: 0.03,
            wall: 0.003,
            segments: 160,
            sides: 40,
        }
    }
}

/// Generates a pipe with open ends and a closed wall along `(l (t − ½), a sin φ, ½ a sin 2φ)`, φ =
/// 2π · windings · t.
///
/// The frame is propagated by double reflection \[Wang2008\], so the rings do not twist against one
/// another.
pub fn winding_pipe(parameters: WindingPipe) -> Result<TriangleMesh, GenerateError> {
    let WindingPipe {
        length,
        amplitude,
        windings,
        radius,
        wall,
        segments,
        sides,
    } = parameters;
    let check = Check("winding_pipe");
    check.length("length", length)?;
    let swings = (0.0..=1e9).contains(&amplitude);
    check.require(
        swings,
        "amplitude",
        amplitude,
        "it must lie between 0 and 1e9 metres",
    )?;
    let turns = (0.0..=64.0).contains(&windings);
    check.require(turns, "windings", windings, "it must lie between 0 and 64")?;
    check.length("radius", radius)?;
    check.length("wall", wall)?;
    check.below("wall", wall, radius, "`radius`, or the pipe has no hole")?;
    check.count("segments", segments, (16.0 * windings).ceil() as u32 + 1)?;
    check.count("sides", sides, 3)?;
    let steps = 2 * (u64::from(segments) + 1);
    check.faces(tube_faces(steps, sides))?;

    let rate = TAU * windings;
    let curve = |t: f64| {
        let (sin, cos) = (rate * t).sin_cos();
        let (sin_twice, cos_twice) = (2.0 * rate * t).sin_cos();
        (
            DVec3::new(
                length * (t - 0.5),
                amplitude * sin,
                0.5 * amplitude * sin_twice,
            ),
            DVec3::new(length, amplitude * rate * cos, amplitude * rate * cos_twice),
        )
    };
    let mut stations: Vec<Station> = Vec::with_capacity(segments as usize + 1);
    for i in 0..=segments {
        let (center, travel) = curve(f64::from(i) / f64::from(segments));
        let across = match stations.last() {
            None => DVec3::Z,
            Some(last) => reflect_twice(*last, center, travel.normalize_or_zero()),
        };
        stations.push(Station::new(center, travel, across));
    }
    check_thickness(check, ("radius", radius), curve, &stations)?;

    let mut surface = Surface::new("winding_pipe", tube_faces(steps, sides))?;
    let mut rings = |radius: f64| -> Vec<Vec<u32>> {
        let ring = |station: &Station| surface.ring(station.circle(radius, sides));
        stations.iter().map(ring).collect()
    };
    let (outside, inside) = (rings(radius), rings(radius - wall));
    surface.loft(&outside);
    // The quads of a winding pipe are not flat. They are split alike outside and inside, so that
    // even a thin wall has positive thickness.
    for pair in inside.windows(2) {
        surface.inner_band(&pair[0], &pair[1]);
    }
    surface.band(&inside[0], &outside[0]);
    let end = segments as usize;
    surface.band(&outside[end], &inside[end]);
    surface.finish()
}

/// Propagates the axis `last.across` to the next point: reflects it in the plane halfway between
/// the two points, then in the plane that maps the reflected direction of travel to the true one.
fn reflect_twice(last: Station, center: DVec3, travel: DVec3) -> DVec3 {
    let reflect = |v: DVec3, across: DVec3| match across.try_normalize() {
        Some(normal) => v - 2.0 * normal.dot(v) * normal,
        None => v,
    };
    let chord = center - last.center;
    let reflected_travel = reflect(last.travel(), chord);
    reflect(reflect(last.across, chord), travel - reflected_travel)
}
