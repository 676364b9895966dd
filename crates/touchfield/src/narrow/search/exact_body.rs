//! Exact signed distances of one body of a pair, at points of frame A in `f64`.
//!
//! Input: a shape that keeps its faces, or whose field is a closed form, and its pose in frame A.
//! Output: signed distances; concave functions below the signed distance that touch it.
//! Cost: a microsecond or two per distance.
//! Not for: fields with cells, whose error is that of their cells.
//!
//! The *distance* of a body with faces is that to its nearest triangle. The *side* comes from its
//! field where that is farther from 0 than its error, else from a ray through the faces.
//!
//! Two kinds of [`Minorant`] bound the signed distance φ from below, everywhere:
//!
//! - the distance to a triangle, negated: a point inside is no deeper than its distance to any part
//!   of the surface, and outside φ is not negative;
//! - `φ(y) − |x − y|`, as φ is 1-Lipschitz. With y outside and the ball of radius φ(y) as large as
//!   it fits, this is nearly a plane that touches the surface from outside.
//!
//! Both are concave. The balls are the maximal ones that touch a surface at a given point, found by
//! shrinking as in \[Ma2012\] (docs/BIBLIOGRAPHY.md), stopped where a smaller one would gain less
//! than it bends more.

use glam::{DMat3, DVec3};

use crate::field::{Field, Meaning};
use crate::geom::{Aabb, Pose, Triangle, rotation_matrix};
use crate::shape::{Shape, Surface};

/// A concave function that is nowhere above the signed distance of a body, up to rounding.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Minorant {
    /// `value − |x − center|`.
    Ball { center: DVec3, value: f64 },
    /// The distance to a triangle, negated.
    Triangle(Triangle),
}

impl Minorant {
    /// Returns the value at a point \[m\].
    #[inline]
    pub(crate) fn at(&self, point: DVec3) -> f64 {
        match self {
            Minorant::Ball { center, value } => value - center.distance(point),
            Minorant::Triangle(triangle) => -triangle.closest_point(point).point.distance(point),
        }
    }
}

/// Minorants of both bodies, numbered in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Minorants {
    all: Vec<Minorant>,
    /// A ball that is nowhere below each: centre and value.
    bounds: Vec<(DVec3, f64)>,
}

impl Minorants {
    /// Removes all, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.bounds.clear();
    }

    /// Returns the number of minorants.
    pub(crate) fn count(&self) -> u32 {
        self.all.len() as u32
    }

    /// Adds a minorant.
    pub(crate) fn push(&mut self, minorant: Minorant) {
        self.bounds.push(match minorant {
            Minorant::Ball { center, value } => (center, value),
            Minorant::Triangle(triangle) => {
                let center = triangle.centroid();
                let corners = triangle.corners().into_iter();
                let radius = corners
                    .map(|corner| corner.distance(center))
                    .fold(0.0, f64::max);
                (center, radius)
            }
        });
        self.all.push(minorant);
    }

    /// Returns the value of a minorant at a point \[m\].
    #[inline]
    pub(crate) fn at(&self, number: u32, point: DVec3) -> f64 {
        self.all[number as usize].at(point)
    }

    /// Returns the number of the minorant that is highest at a point, if it is above `least`
    /// \[m\] there.
    pub(crate) fn highest(&self, point: DVec3, mut least: f64) -> Option<u32> {
        let mut highest = None;
        for (number, (center, value)) in self.bounds.iter().enumerate() {
            // The bound `value − |x − center|`, compared without a square root.
            let above = value - least;
            if above <= 0.0 || above * above <= center.distance_squared(point) {
                continue;
            }
            let value = self.all[number].at(point);
            if value > least {
                (highest, least) = (Some(number as u32), value);
            }
        }
        highest
    }
}

/// Signed distance of a body at a point, in frame A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact {
    /// Signed distance \[m\]; without the sign if the side is not known.
    pub(crate) distance: f64,
    /// Nearest point of the surface \[m\].
    pub(crate) nearest: DVec3,
    /// Outward unit normal there.
    pub(crate) outward: DVec3,
    /// Nearest triangle; 0 if there are none.
    triangle: u32,
    /// Whether the sign is certain.
    pub(crate) is_signed: bool,
    /// Whether the signed distance is at most `distance`, which is so unless the point is beyond
    /// the box of a field.
    pub(crate) is_upper: bool,
}

/// A body whose distances are exact.
pub(crate) struct ExactBody<'a> {
    field: &'a dyn Field,
    surface: Option<&'a Surface>,
    rotation: DMat3,
    translation: DVec3,
    /// Largest radius of a ball \[m\].
    most_radius: f64,
    /// Nearest triangle of the last point.
    last: u32,
    /// Bound on the error of distances \[m\].
    pub(crate) error: f64,
}

impl<'a> ExactBody<'a> {
    /// Returns the body of a shape at a pose in frame A, or `None` if it has neither closed faces
    /// nor a field without cells. `size` is that of the smaller body \[m\].
    pub(crate) fn of(shape: &'a Shape, a_from_body: Pose, size: f64) -> Option<ExactBody<'a>> {
        /// Ball radius over the size of the smaller body. Within a part of that body, a larger ball
        /// could not be told from a plane at the finest tolerance.
        const FLAT: f64 = 1e3;
        let surface = shape.exact_surface();
        let field = shape.field();
        let reach = |solid: Aabb| {
            let farthest = solid.min.abs().max(solid.max.abs()).as_dvec3();
            farthest.length()
        };
        let error = match surface {
            // Vertices in f32 are off by half a unit in the last place.
            Some(surface) => {
                0.5 * f64::from(f32::EPSILON) * reach(surface.nodes()[0].bounds)
                    + 1e-14 * f64::from(a_from_body.translation.length())
            }
            None if shape.cell_size() == 0.0 && field.meaning() == Meaning::Distance => {
                // Intervals have the error of the field in them.
                0.0
            }
            None => return None,
        };
        Some(ExactBody {
            field,
            surface,
            rotation: rotation_matrix(a_from_body.rotation),
            translation: a_from_body.translation.as_dvec3(),
            most_radius: FLAT * size,
            last: 0,
            error,
        })
    }

    fn to_body(&self, point: DVec3) -> DVec3 {
        self.rotation.transpose() * (point - self.translation)
    }

    fn to_a(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// Returns the signed distance at a point.
    pub(crate) fn exact(&mut self, point: DVec3) -> Exact {
        self.exact_to_within(point, 0.0)
    }

    /// Returns the signed distance at a point, whose magnitude may be too large by `slack` \[m\].
    fn exact_to_within(&mut self, point: DVec3, slack: f64) -> Exact {
        let in_body = self.to_body(point);
        let Some(surface) = self.surface else {
            return self.of_field(point, in_body);
        };
        let place = surface.nearly_nearest_place(in_body, self.last, slack);
        self.last = place.triangle;
        let inside = is_inside(self.field, surface, in_body, place.distance);
        let distance = match inside {
            Some(true) => -place.distance,
            _ => place.distance,
        };
        // On the surface the direction to it is rounding noise.
        let off = (in_body - place.point).try_normalize();
        let is_clear = place.distance > 1e-9 * f64::from(surface.nodes()[0].bounds.diagonal());
        let outward = match off.filter(|_| is_clear) {
            Some(off) => off * distance.signum(),
            None => (surface.triangle(place.triangle).normal()).unwrap_or(DVec3::Z),
        };
        Exact {
            distance,
            nearest: self.to_a(place.point),
            outward: self.rotation * outward,
            triangle: place.triangle,
            is_signed: inside.is_some(),
            is_upper: true,
        }
    }

    fn of_field(&self, point: DVec3, in_body: DVec3) -> Exact {
        let in_body = in_body.as_vec3();
        let sample = self.field.sample(in_body);
        let outward = self.rotation * sample.gradient.as_dvec3().normalize_or_zero();
        // The point rounded to f32 is a little off.
        let off = self.to_a(in_body.as_dvec3()).distance(point);
        let upper = self.field.interval(Aabb::new(in_body, in_body)).upper;
        Exact {
            distance: f64::from(upper) + off,
            nearest: point - f64::from(sample.distance) * outward,
            outward,
            triangle: 0,
            is_signed: true,
            // Beyond its box the field is a lower bound only.
            is_upper: self.field.bounds().contains(in_body),
        }
    }

    /// Returns the minorant that touches the field of a closed form at a point.
    fn ball_of_field(&self, point: DVec3) -> Minorant {
        let in_body = self.to_body(point).as_vec3();
        let lower = self.field.interval(Aabb::new(in_body, in_body)).lower;
        Minorant::Ball {
            center: self.to_a(in_body.as_dvec3()),
            value: f64::from(lower),
        }
    }

    /// Returns the minorant that equals the signed distance at a point inside, given that distance.
    pub(crate) fn triangle_minorant(&self, at: &Exact) -> Minorant {
        let Some(surface) = self.surface else {
            return self.ball_of_field(at.nearest);
        };
        let corners = surface.triangle(at.triangle).corners();
        let [a, b, c] = corners.map(|corner| self.to_a(corner));
        Minorant::Triangle(Triangle { a, b, c })
    }

    /// Returns the minorant of a ball outside the body, on the outward side of the surface at the
    /// point nearest to the given one, and how far it may be below the signed distance within
    /// `reach` \[m\] of the given point. `None` if no ball has a certain side.
    ///
    /// A larger ball bends less, but other parts of the surface reach farther into it. The ball
    /// with the least sum of both losses is sought, until it is at most `enough` \[m\].
    pub(crate) fn ball_minorant(
        &mut self,
        at: &Exact,
        reach: f64,
        enough: f64,
    ) -> Option<(Minorant, f64)> {
        /// Two or three steps find the ball where faces are many.
        const STEPS: usize = 6;
        let (touching, outward) = (at.nearest, at.outward);
        if outward == DVec3::ZERO {
            return None;
        }
        let depth = (-at.distance).max(0.0);
        // The smallest ball that bends little enough: it needs the fewest steps.
        let mut radius = (reach * reach / enough).min(self.most_radius);
        let mut best: Option<(Minorant, f64)> = None;
        for _ in 0..STEPS {
            let bend = 0.5 * reach * reach / (radius + depth);
            if best.is_some_and(|(_, loss)| bend >= loss) {
                break;
            }
            let center = touching + radius * outward;
            let slack = 0.1 * enough;
            let exact = self.exact_to_within(center, slack);
            let (is_outside, minorant) = match self.surface {
                Some(_) => (
                    exact.is_signed,
                    Minorant::Ball {
                        center,
                        value: exact.distance - slack,
                    },
                ),
                None => (true, self.ball_of_field(center)),
            };
            let gap = radius - exact.distance + slack;
            if is_outside && exact.distance > 0.0 && best.is_none_or(|(_, loss)| gap + bend < loss)
            {
                best = Some((minorant, gap + bend));
            }
            if gap + bend <= enough || gap <= 0.1 * bend {
                break;
            }
            // The ball through the nearest point instead: |q − p|² = 2 R n·(q − p).
            let across = exact.nearest - touching;
            let along = outward.dot(across);
            let through = across.length_squared() / (2.0 * along);
            // Halving makes progress where rounding, or a reflex edge, would not.
            radius = match along > 0.0 && through > 0.0 {
                true => through.clamp(1e-3 * radius, 0.5 * radius),
                false => 0.5 * radius,
            };
        }
        best
    }
}

/// Returns whether a point at a known distance from the surface is inside; `None` if that is not
/// certain.
fn is_inside(field: &dyn Field, surface: &Surface, point: DVec3, distance: f64) -> Option<bool> {
    let near = point.as_vec3();
    let error = field.error_bound();
    // A point rounded to f32 may be on the other side of a surface closer than that.
    let rounding = 4.0 * f32::EPSILON * near.abs().max_element();
    if distance > f64::from(rounding) {
        let value = field.distance(near);
        if value > error || value < -error {
            return Some(value < 0.0);
        }
    }
    surface.winding_number(point).map(|winding| winding != 0)
}
