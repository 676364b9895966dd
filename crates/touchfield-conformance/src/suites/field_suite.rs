//! Properties of every [`Field`]: values, signs, gradients, batches, Lipschitz continuity,
//! intervals, no NaN.
//!
//! Input: a field, its true signed distance in `f64` if known, a seed and a number of points.
//! Output: the worst error measured, or the first broken property with the numbers to reproduce it.
//! Cost: about twenty values per point and a dozen truths.
//! Not for: proofs. A bound that holds at every tested point may still be wrong; one that fails is
//! wrong.

use std::fmt;

use glam::{DVec3, Vec3};
use touchfield::field::{Field, GridLayout, Meaning, Sample};
use touchfield::geom::{Aabb, DAabb};

use crate::random::Random;

/// Measurements of a field that passed.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldReport {
    /// Name of the field.
    pub name: String,
    /// Whether the field declares itself a distance or a bound.
    pub meaning: Meaning,
    /// Promised error \[m\].
    pub error_bound: f32,
    /// Worst error found inside its bounds \[m\]: |value − truth| for a distance, |value| − |truth|
    /// for a bound.
    pub worst_error: f64,
    /// Greatest shortfall of the value against the truth inside its bounds \[m\]; infinite for an
    /// empty solid.
    pub worst_shortfall: f64,
    /// Worst excess over the true distance outside its bounds, in [`f32::EPSILON`] of the largest
    /// coordinate there.
    pub worst_excess_outside: f64,
    /// Mean width of the finite intervals of cells at and around the solid, in diagonals of their
    /// cells. The Lipschitz constant alone gives 2; 1 or less is tight.
    pub mean_interval_width: f64,
    /// Share of the intervals with an infinite end.
    pub endless_intervals: f64,
    /// Number of points tested.
    pub points: usize,
    /// Number of cells tested.
    pub cells: usize,
}

impl fmt::Display for FieldReport {
    /// Formats one row of a Markdown table; see [`FieldReport::HEADER`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "| {} | {:?} | {:.1e} | {:.1e} | {:.1e} | {:.1} | {:.2} | {:.0} % | {} |",
            self.name,
            self.meaning,
            self.error_bound,
            self.worst_error,
            self.worst_shortfall,
            self.worst_excess_outside,
            self.mean_interval_width,
            100.0 * self.endless_intervals,
            self.points,
        )
    }
}

impl FieldReport {
    /// Head of the table whose rows are reports.
    pub const HEADER: &'static str = "| field | meaning | promised [m] | worst error [m] | shortfall [m] | excess outside [ε] | interval / diagonal | endless | points |\n|---|---|---|---|---|---|---|---|---|";
}

/// Half side of the tested part of an unbounded field \[m\].
const PROBE: f32 = 10.0;
/// Units in the last place allowed for rounding outside the bounds, where no error is promised.
const OUTSIDE_ULPS: f64 = 32.0;
/// Random points tested in each cell, in addition to its corners and centre.
const POINTS_A_CELL: usize = 6;
/// Promised error, as a share of the size, below which a field counts as a closed form: its
/// gradients must be unit vectors.
const CLOSED_FORM_ERROR: f64 = 1e-5;
/// Allowed deviation of a gradient from the central difference: the differences' own error, as
/// accepted in [`Suite::slope`].
const GRADIENT_TOLERANCE: f64 = 0.02;

/// Checks all properties of `field` on `points` random points, a quarter as many cells, and extreme
/// values.
///
/// `truth` is the true signed distance in `f64`; without it values are only compared with each
/// other. The error names the property, the place and the numbers.
pub fn check_field(
    field: &dyn Field,
    truth: Option<&dyn Fn(DVec3) -> f64>,
    name: &str,
    seed: u64,
    points: usize,
) -> Result<FieldReport, String> {
    let mut suite = Suite::new(field, truth, name, seed, points);
    suite
        .run(points)
        .map_err(|broken| format!("{name} (seed {seed}): {broken}"))?;
    Ok(suite.report)
}

struct Suite<'a> {
    field: &'a dyn Field,
    truth: Option<&'a dyn Fn(DVec3) -> f64>,
    bounds: Aabb,
    /// Finite part of the bounds from which points are drawn.
    probe: DAabb,
    /// Half diagonal of `probe`, or 1 for a point \[m\].
    size: f64,
    /// Largest coordinate of `probe` \[m\].
    magnitude: f64,
    error: f64,
    random: Random,
    report: FieldReport,
}

impl<'a> Suite<'a> {
    fn new(
        field: &'a dyn Field,
        truth: Option<&'a dyn Fn(DVec3) -> f64>,
        name: &str,
        seed: u64,
        points: usize,
    ) -> Suite<'a> {
        let bounds = field.bounds();
        let around = |near: Vec3, far: Vec3, side: f32| {
            // An unbounded side is tested up to PROBE beyond the other side, or the origin.
            Vec3::select(
                near.is_finite_mask(),
                near,
                Vec3::select(far.is_finite_mask(), far, Vec3::ZERO) + side * PROBE,
            )
        };
        let probe = if bounds.is_empty() {
            Aabb::from_center(Vec3::ZERO, Vec3::ONE)
        } else {
            Aabb::new(
                around(bounds.min, bounds.max, -1.0),
                around(bounds.max, bounds.min, 1.0),
            )
        }
        .as_daabb();
        let half_diagonal = 0.5 * probe.diagonal();
        Suite {
            field,
            truth,
            bounds,
            probe,
            size: if half_diagonal > 0.0 {
                half_diagonal
            } else {
                1.0
            },
            magnitude: probe.min.abs().max(probe.max.abs()).max_element(),
            error: f64::from(field.error_bound()),
            random: Random::new(seed),
            report: FieldReport {
                name: name.to_owned(),
                meaning: field.meaning(),
                error_bound: field.error_bound(),
                worst_error: 0.0,
                worst_shortfall: 0.0,
                worst_excess_outside: 0.0,
                mean_interval_width: 0.0,
                endless_intervals: 0.0,
                points,
                cells: points / 4,
            },
        }
    }

    fn run(&mut self, points: usize) -> Result<(), String> {
        if !(self.error > 0.0 && self.error.is_finite()) {
            return Err(format!("error bound {} is no error", self.error));
        }
        let mut tried = self.special_points();
        for _ in 0..points {
            let point = self.any_point();
            tried.push(point);
        }
        let mut samples = Vec::with_capacity(tried.len());
        for &point in &tried {
            samples.push(self.value(point)?);
        }
        for (&point, &sample) in tried.iter().zip(&samples) {
            self.gradient(point, sample)?;
            self.continuity(point, sample)?;
        }
        self.batches(&tried)?;
        self.extreme_points()?;
        self.cells(self.report.cells)
    }

    /// Returns points where closed forms have kinks: centre, corners, centres of edges and faces,
    /// with zeros of both signs.
    fn special_points(&self) -> Vec<Vec3> {
        let mut points = vec![Vec3::ZERO, -Vec3::ZERO];
        for share in [0.0, 0.5, 1.0, 1.5] {
            for code in 0..27 {
                let side = DVec3::new(
                    f64::from(code % 3 - 1),
                    f64::from(code / 3 % 3 - 1),
                    f64::from(code / 9 - 1),
                );
                let point = self.probe.center() + share * side * self.probe.half_extents();
                points.push(point.as_vec3());
            }
        }
        points
    }

    /// Returns a random point inside, near the surface, around, or far away.
    fn any_point(&mut self) -> Vec3 {
        let within = self.random.in_box(self.probe.min, self.probe.max);
        match self.random.below(10) {
            0..4 => within.as_vec3(),
            4..8 => {
                let surface = self.towards_surface(within);
                let off = self.random.log_uniform(1e-7, 0.1) * self.size;
                (surface + off * self.random.unit_vector()).as_vec3()
            }
            8 => {
                let around = self.probe.grown(self.size);
                self.random.in_box(around.min, around.max).as_vec3()
            }
            _ => {
                let far = self.random.log_uniform(1.0, 1e5) * self.size;
                (self.probe.center() + far * self.random.unit_vector()).as_vec3()
            }
        }
    }

    /// Moves a point a few steps along the gradient. It need not reach the surface.
    fn towards_surface(&self, mut point: DVec3) -> DVec3 {
        for _ in 0..4 {
            let sample = self.field.sample(point.as_vec3());
            let step = f64::from(sample.distance) * sample.gradient.as_dvec3();
            if step.is_finite() {
                point -= step;
            }
        }
        point
    }

    /// Returns the rounding error allowed at `point` where no error is promised \[m\].
    fn rounding(&self, point: DVec3) -> f64 {
        OUTSIDE_ULPS * f64::from(f32::EPSILON) * (point.abs().max_element() + self.magnitude)
            + f64::from(f32::MIN_POSITIVE)
    }

    /// Returns the error allowed at `point` \[m\]: the promised error, plus rounding outside and
    /// far out in unbounded fields.
    fn allowed(&self, point: Vec3) -> f64 {
        let endless = !(self.bounds.min.is_finite() && self.bounds.max.is_finite());
        if self.bounds.contains(point) && !endless {
            self.error
        } else {
            self.error + self.rounding(point.as_dvec3())
        }
    }

    fn value(&mut self, point: Vec3) -> Result<Sample, String> {
        let distance = self.field.distance(point);
        let sample = self.field.sample(point);
        if sample.distance.to_bits() != distance.to_bits() {
            return Err(format!(
                "sample {} and distance {distance} differ at {point}",
                sample.distance
            ));
        }
        if !distance.is_finite() || !sample.gradient.is_finite() {
            return Err(format!("{sample:?} at {point} is not finite"));
        }
        let Some(truth) = self.truth else {
            return Ok(sample);
        };
        let (value, truth) = (f64::from(distance), truth(point.as_dvec3()));
        let numbers = || format!("value {value:e}, truth {truth:e} at {point}");
        if !self.bounds.contains(point) {
            let excess = value - truth;
            if excess > self.rounding(point.as_dvec3()) {
                return Err(format!(
                    "more than the distance outside the bounds: {}",
                    numbers()
                ));
            }
            if value < -self.allowed(point) {
                return Err(format!("inside, outside the bounds: {}", numbers()));
            }
            let last_places = OUTSIDE_ULPS * excess / self.rounding(point.as_dvec3());
            self.report.worst_excess_outside = self.report.worst_excess_outside.max(last_places);
            return Ok(sample);
        }
        let allowed = self.allowed(point);
        let shortfall = truth.abs() - value.abs();
        let error = match self.field.meaning() {
            Meaning::Distance => (value - truth).abs(),
            Meaning::Bound => {
                // A value beyond zero by more than the allowed error has the wrong sign.
                if value * truth < 0.0 {
                    value.abs().min(truth.abs())
                } else {
                    -shortfall
                }
            }
        };
        if error > allowed {
            return Err(format!("error {error:e} of {allowed:e}: {}", numbers()));
        }
        // Far out in unbounded fields the error is that of the number itself, and means nothing.
        if self.probe.grown(self.size).contains(point.as_dvec3()) {
            self.report.worst_error = self.report.worst_error.max(error);
            self.report.worst_shortfall = self.report.worst_shortfall.max(shortfall);
        }
        Ok(sample)
    }

    /// Compares the gradient with central differences where those are reliable, and with unit
    /// length if the field is a closed form.
    fn gradient(&mut self, point: Vec3, sample: Sample) -> Result<(), String> {
        let gradient = sample.gradient.as_dvec3();
        let within = self.bounds.contains(point);
        let closed_form = self.field.meaning() == Meaning::Distance
            && self.error <= CLOSED_FORM_ERROR * self.size;
        if closed_form && (gradient.length() - 1.0).abs() > 1e-3 {
            return Err(format!(
                "gradient {gradient} at {point} is not of unit length"
            ));
        }
        let Some(slope) = self.slope(point, sample) else {
            return Ok(());
        };
        let agree = if within {
            slope.distance(gradient) <= GRADIENT_TOLERANCE
        } else {
            // Outside the bounds a gradient need only point the right way.
            slope.length() < 0.1 || slope.angle_between(gradient) <= 2.0 * GRADIENT_TOLERANCE
        };
        if agree {
            Ok(())
        } else {
            Err(format!(
                "gradient {gradient} at {point}, but differences give {slope}"
            ))
        }
    }

    /// Returns central differences. `None` at a kink (differences ahead and behind disagree, or two
    /// steps do), across the border of the bounds, and where rounding swallows the step.
    fn slope(&self, point: Vec3, sample: Sample) -> Option<DVec3> {
        let step = self.size / 512.0;
        let accepted = 0.25 * GRADIENT_TOLERANCE;
        if f64::from(f32::EPSILON) * 4.0 * point.as_dvec3().abs().max_element().max(self.magnitude)
            > accepted * 0.5 * step
        {
            return None;
        }
        let within = self.bounds.contains(point);
        let mut slope = DVec3::ZERO;
        for axis in 0..3 {
            let ends = [step, 0.5 * step].map(|step| {
                let mut ahead = point;
                let mut behind = point;
                ahead[axis] += step as f32;
                behind[axis] -= step as f32;
                if self.bounds.contains(ahead) != within || self.bounds.contains(behind) != within {
                    return None;
                }
                let rise = |to: Vec3, from: Vec3, a: f32, b: f32| {
                    (f64::from(a) - f64::from(b)) / (f64::from(to[axis]) - f64::from(from[axis]))
                };
                let (front, back) = (self.field.distance(ahead), self.field.distance(behind));
                let bend = rise(ahead, point, front, sample.distance)
                    - rise(point, behind, sample.distance, back);
                // The difference is off by half a bend along each axis: √3/2 of it must stay below
                // the tolerance.
                (bend.abs() <= 4.0 * accepted).then(|| rise(ahead, behind, front, back))
            });
            let [Some(wide), Some(narrow)] = ends else {
                return None;
            };
            if (wide - narrow).abs() > accepted {
                return None;
            }
            slope[axis] = narrow;
        }
        Some(slope)
    }

    fn continuity(&mut self, point: Vec3, sample: Sample) -> Result<(), String> {
        let step = self.random.log_uniform(1e-5, 10.0) * self.size * self.random.unit_vector();
        let other = (point.as_dvec3() + step).as_vec3();
        let spacing = point.as_dvec3().distance(other.as_dvec3());
        let rise = (f64::from(self.field.distance(other)) - f64::from(sample.distance)).abs();
        let allowed = spacing * (1.0 + 1e-6) + self.allowed(point) + self.allowed(other);
        if rise <= allowed {
            Ok(())
        } else {
            Err(format!(
                "not 1-Lipschitz: {rise:e} between {point} and {other}, {spacing:e} apart"
            ))
        }
    }

    fn batches(&self, points: &[Vec3]) -> Result<(), String> {
        // Odd lengths and leftovers in the buffers reveal errors in batches of eight, and stale
        // values.
        for count in [0, 1, 7, points.len()] {
            let points = &points[..count.min(points.len())];
            let mut distances = vec![f32::NAN; 3];
            let mut samples = vec![Sample::default(); 3];
            self.field.distance_many(points, &mut distances);
            self.field.sample_many(points, &mut samples);
            if distances.len() != points.len() || samples.len() != points.len() {
                return Err(format!(
                    "{} points gave {} distances and {} samples",
                    points.len(),
                    distances.len(),
                    samples.len()
                ));
            }
            for (i, &point) in points.iter().enumerate() {
                let single = self.field.sample(point);
                if distances[i].to_bits() != single.distance.to_bits() || samples[i] != single {
                    return Err(format!(
                        "batch {} and {:?}, single {single:?} at {point}",
                        distances[i], samples[i]
                    ));
                }
            }
        }
        Ok(())
    }

    /// Checks huge, tiny and subnormal coordinates: values are finite, and still never exceed the
    /// distance outside.
    fn extreme_points(&mut self) -> Result<(), String> {
        let coordinates = [
            0.0,
            -0.0,
            1e30,
            -1e30,
            1e19,
            -1e19,
            1e-30,
            -1e-40,
            f32::MIN_POSITIVE,
        ];
        for x in coordinates {
            for y in coordinates {
                for z in coordinates {
                    self.value(Vec3::new(x, y, z))?;
                }
            }
        }
        Ok(())
    }

    fn cells(&mut self, count: usize) -> Result<(), String> {
        for cell in [Aabb::EVERYTHING, Aabb::EMPTY] {
            let interval = self.field.interval(cell);
            if interval.lower.is_nan() || interval.upper.is_nan() {
                return Err(format!("{interval:?} over {cell:?}"));
            }
        }
        let (mut widths, mut finite) = (0.0, 0usize);
        for _ in 0..count {
            let cell = self.any_cell();
            let interval = self.field.interval(cell);
            self.cell(cell)?;
            let width = f64::from(interval.width());
            let diagonal = cell.as_daabb().diagonal();
            let near = self
                .probe
                .grown(self.size)
                .contains(cell.as_daabb().center());
            if width.is_finite() && diagonal > 1e-4 * self.size && near {
                widths += width / diagonal;
                finite += 1;
            }
            if !width.is_finite() {
                self.report.endless_intervals += 1.0 / count as f64;
            }
        }
        self.report.mean_interval_width = widths / finite.max(1) as f64;
        Ok(())
    }

    /// Returns a random cell, from tiny to huge, flat or not, anywhere; now and then a single
    /// point.
    fn any_cell(&mut self) -> Aabb {
        let center = self.any_point().as_dvec3();
        let scale = self.random.log_uniform(1e-6, 1e3) * self.size;
        let half = match self.random.below(8) {
            0 => DVec3::ZERO,
            1 => DVec3::new(scale, 0.0, 0.01 * scale),
            _ => scale * self.random.in_box(DVec3::splat(0.1), DVec3::ONE),
        };
        Aabb::new((center - half).as_vec3(), (center + half).as_vec3())
    }

    fn cell(&mut self, cell: Aabb) -> Result<(), String> {
        let interval = self.field.interval(cell);
        let (lower, upper) = (f64::from(interval.lower), f64::from(interval.upper));
        let plane = self.field.lower_plane(cell);
        let below = |point: DVec3| {
            let plane = plane?;
            let from_center = point - cell.center().as_dvec3();
            Some(f64::from(plane.value) + plane.gradient.as_dvec3().dot(from_center))
        };
        let DAabb { min, max } = cell.as_daabb();
        let mut points = vec![cell.as_daabb().center()];
        points.extend(cell.as_daabb().corners());
        for _ in 0..POINTS_A_CELL {
            points.push(self.random.in_box(min, max));
        }
        // The ends of an interval are most often wrong near the surface.
        let surface = self.towards_surface(points[0]);
        points.push(surface.clamp(min, max));
        for point in points {
            let (least, most) = match (self.truth, self.field.meaning()) {
                (Some(truth), _) => (truth(point), truth(point)),
                (None, Meaning::Distance) if self.bounds.as_daabb().contains(point) => {
                    let value = f64::from(self.field.distance(point.as_vec3()));
                    let unsure = self.error + self.rounding(point);
                    (value + unsure, value - unsure)
                }
                _ => continue,
            };
            // Written so that NaN fails.
            if !(lower <= least && most <= upper) {
                return Err(format!(
                    "interval [{lower:e}, {upper:e}] over {cell:?} misses {least:e} at {point}"
                ));
            }
            // A plane with a NaN value counts as above everything.
            let below =
                below(point).map(|below| if below.is_nan() { f64::INFINITY } else { below });
            if let Some(below) = below.filter(|&below| below > least) {
                return Err(format!(
                    "plane {plane:?} over {cell:?} is {below:e} at {point}, above {least:e}"
                ));
            }
        }
        Ok(())
    }
}

/// Compares the gradient of a grid with differences along one axis within a cell, which are exact
/// up to rounding for what is of first or second degree there. Returns the worst deviation.
pub fn worst_slope_in_cells(grid: &impl Field, layout: &GridLayout, seed: u64) -> f32 {
    let mut random = Random::new(seed);
    let mut worst = 0.0f32;
    for _ in 0..20_000 {
        let cell = (random.in_box(DVec3::ZERO, layout.cells().as_dvec3())).floor();
        let place = random.in_box(DVec3::splat(0.3), DVec3::splat(0.7));
        let at = |place: DVec3| {
            (layout.origin.as_dvec3() + f64::from(layout.cell_size) * (cell + place)).as_vec3()
        };
        let gradient = grid.sample(at(place)).gradient;
        for axis in 0..3 {
            let (mut ahead, mut behind) = (place, place);
            ahead[axis] += 0.25;
            behind[axis] -= 0.25;
            let (ahead, behind) = (at(ahead), at(behind));
            let rise = grid.distance(ahead) - grid.distance(behind);
            let slope = rise / (ahead[axis] - behind[axis]);
            let off = (slope - gradient[axis]).abs();
            if off.is_nan() {
                return off;
            }
            worst = worst.max(off);
        }
    }
    worst
}
