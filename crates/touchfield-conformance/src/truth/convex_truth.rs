//! True distances and minimum translations of convex bodies of any kind in `f64`.
//!
//! Input: a polytope or a smooth kind with its support function, rounded or not; poses of both
//! bodies.
//! Output: a bracket of the distance with its two points; the depth, and the direction of the
//! shortest way out.
//! Cost: all pairs of features for polytopes, else some hundred support evaluations.
//! Not for: anything fast.
//!
//! No method of the library is used. Polytopes are measured by `polytope_truth`; smooth bodies are
//! bracketed by their points from one side and by supporting planes from the other.

use glam::{DMat3, DVec3};

use crate::polytope_truth::{PairTruth, Polytope, above, polytope_pair, scaled_unit};

/// A convex body of any kind, in the frame of a pair.
#[derive(Clone, Debug)]
pub struct Body {
    /// Shape before rounding, in its own frame.
    pub core: Core,
    /// Radius of the ball swept over the core \[m\].
    pub rounding: f64,
    /// Rotation to the frame of the pair.
    pub rotation: DMat3,
    /// Origin in the frame of the pair \[m\].
    pub translation: DVec3,
}

/// Kinds of convex bodies; a ball is a rounded point, a capsule a rounded segment.
#[derive(Clone, Debug)]
pub enum Core {
    /// Polytope, by its corners in its own frame.
    Polytope(Polytope),
    /// Cylinder about the origin, around z.
    Cylinder {
        /// Radius \[m\].
        radius: f64,
        /// Half the height \[m\].
        half_height: f64,
    },
    /// Cone around z, with the base at `-half_height` and the tip at `half_height`.
    Cone {
        /// Radius of the base \[m\].
        radius: f64,
        /// Half the height \[m\].
        half_height: f64,
    },
    /// Axis-aligned ellipsoid about the origin.
    Ellipsoid {
        /// Half axes \[m\].
        radii: DVec3,
    },
}

impl Body {
    /// Returns a core without rounding, at the identity pose.
    pub fn new(core: Core) -> Body {
        Body {
            core,
            rounding: 0.0,
            rotation: DMat3::IDENTITY,
            translation: DVec3::ZERO,
        }
    }

    /// Returns the farthest point of the core along a direction of any non-zero length, in the
    /// frame of the pair.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        let local = self.rotation.transpose() * direction;
        let around = local.truncate().normalize_or_zero();
        let point = match &self.core {
            Core::Polytope(body) => body.support(local),
            Core::Cylinder {
                radius,
                half_height,
            } => (*radius * around).extend(half_height.copysign(local.z)),
            Core::Cone {
                radius,
                half_height,
            } => {
                let rim = (*radius * around).extend(-half_height);
                let tip = DVec3::Z * half_height;
                if local.dot(rim) > local.dot(tip) {
                    rim
                } else {
                    tip
                }
            }
            Core::Ellipsoid { radii } => {
                let stretched = *radii * local;
                *radii * scaled_unit(stretched)
            }
        };
        self.rotation * point + self.translation
    }

    /// Returns the same body in a frame about `origin`, with its own frame about its first corner.
    fn near_origin(&self, origin: DVec3) -> Body {
        let mut body = self.clone();
        if let Core::Polytope(polytope) = &mut body.core {
            let first = polytope.points[0];
            for point in &mut polytope.points {
                *point -= first;
            }
            body.translation += self.rotation * first;
        }
        body.translation -= origin;
        body
    }

    /// Returns the body as a polytope in the frame of the pair, if it is one.
    pub fn polytope(&self) -> Option<Polytope> {
        match &self.core {
            Core::Polytope(body) => Some(body.posed(self.rotation, self.translation)),
            _ => None,
        }
    }
}

/// Computes the distance or minimum translation of two bodies: by features if both are polytopes,
/// else by support functions.
pub fn body_pair(a: &Body, b: &Body) -> PairTruth {
    // Far from the origin rounding would deform the bodies; about a corner of A it only moves them,
    // and by no more.
    let origin = a.near_origin(DVec3::ZERO).translation;
    let (a, b) = (a.near_origin(origin), b.near_origin(origin));
    let cores = match (a.polytope(), b.polytope()) {
        (Some(a), Some(b)) => polytope_pair(&a, &b),
        _ => support_pair(&a, &b),
    };
    let truth = cores.rounded(a.rounding, b.rounding);
    PairTruth {
        on_a: truth.on_a + origin,
        on_b: truth.on_b + origin,
        ..truth
    }
}

/// Computes the distance or minimum translation of two cores, by support functions alone.
pub fn support_pair(a: &Body, b: &Body) -> PairTruth {
    let apart = nearest_by_supports(a, b);
    if apart.lower > 0.0 {
        return apart;
    }
    let [_, depth] = depth_by_supports(a, b, 1000);
    PairTruth {
        lower: 0.0,
        // A distance that no plane proves does not count, unless there is no depth either.
        upper: if depth.1 > 0.0 { 0.0 } else { apart.upper },
        depth: depth.1.max(0.0),
        direction: depth.0,
        ..apart
    }
}

/// Brackets the distance of two cores: from above by two of their points, from below by a plane
/// between them.
///
/// Finds the nearest point to the origin of a simplex of A ⊖ B, and repeatedly adds the support
/// point in the direction of the origin. The corners to keep are found by trying all subsets.
fn nearest_by_supports(a: &Body, b: &Body) -> PairTruth {
    let first = b.translation - a.translation;
    let mut direction = scaled_unit(first);
    let mut simplex: Vec<[DVec3; 2]> = Vec::new();
    let mut best = PairTruth {
        lower: 0.0,
        upper: f64::INFINITY,
        depth: 0.0,
        direction,
        on_a: a.translation,
        on_b: b.translation,
    };
    for _ in 0..500 {
        let corner = [a.support(direction), b.support(-direction)];
        let lower = (corner[1] - corner[0]).dot(direction);
        if lower > best.lower {
            best.lower = lower;
            best.direction = direction;
        }
        if best.upper * (1.0 - 1e-13) <= best.lower || simplex.contains(&corner) {
            break;
        }
        simplex.push(corner);
        let [on_a, on_b] = nearest_of_simplex(&mut simplex);
        let distance = on_a.distance(on_b);
        if distance < best.upper {
            best.upper = distance;
            (best.on_a, best.on_b) = (on_a, on_b);
        } else {
            // No further progress is possible in `f64`.
            break;
        }
        if distance == 0.0 {
            break;
        }
        direction = across(&simplex, on_b - on_a);
    }
    best.lower = best.lower.min(best.upper);
    best
}

/// Returns the unit direction to the nearest point of a simplex, made perpendicular to the simplex:
/// where bodies almost touch, the difference of two points is mostly rounding.
fn across(simplex: &[[DVec3; 2]], nearest: DVec3) -> DVec3 {
    let at = |k: usize| simplex[k][1] - simplex[k][0];
    let direction = match simplex.len() {
        2 => {
            let along = scaled_unit(at(1) - at(0));
            nearest - nearest.dot(along) * along
        }
        3 => {
            let normal = (at(1) - at(0)).cross(at(2) - at(0));
            normal * normal.dot(nearest).signum()
        }
        _ => nearest,
    };
    scaled_unit(if direction == DVec3::ZERO {
        nearest
    } else {
        direction
    })
}

/// Returns the nearest pair of the hull of up to five pairs, and keeps only the corners it needs.
fn nearest_of_simplex(simplex: &mut Vec<[DVec3; 2]>) -> [DVec3; 2] {
    let mut best: (f64, usize, [DVec3; 2]) = (f64::INFINITY, 0, simplex[0]);
    for subset in 1usize..1 << simplex.len() {
        if subset.count_ones() > 4 {
            continue;
        }
        let corners: Vec<[DVec3; 2]> = (0..simplex.len())
            .filter(|k| subset >> k & 1 == 1)
            .map(|k| simplex[k])
            .collect();
        let Some(shares) = affine_shares(&corners) else {
            continue;
        };
        let total: f64 = shares.iter().sum();
        let mix = |side: usize| -> DVec3 {
            let sum: DVec3 = corners.iter().zip(&shares).map(|(c, s)| c[side] * *s).sum();
            sum / total
        };
        let pair = [mix(0), mix(1)];
        let distance = pair[0].distance(pair[1]);
        if distance < best.0 {
            best = (distance, subset, pair);
        }
    }
    let mut k = 0;
    simplex.retain(|_| {
        k += 1;
        best.1 >> (k - 1) & 1 == 1
    });
    best.2
}

/// Returns the barycentric coordinates of the point of an affine hull nearest to the origin, if
/// none is negative.
fn affine_shares(corners: &[[DVec3; 2]]) -> Option<Vec<f64>> {
    let origin = corners[0][1] - corners[0][0];
    let sides: Vec<DVec3> = corners[1..].iter().map(|c| c[1] - c[0] - origin).collect();
    let rest = match sides[..] {
        [] => vec![],
        [u] => vec![-origin.dot(u) / u.length_squared()],
        [u, v] => {
            let normal = u.cross(v);
            let area = normal.length_squared();
            vec![
                -origin.cross(v).dot(normal) / area,
                -u.cross(origin).dot(normal) / area,
            ]
        }
        [u, v, w] => {
            let volume = u.dot(v.cross(w));
            vec![
                -origin.dot(v.cross(w)) / volume,
                -u.dot(origin.cross(w)) / volume,
                -u.dot(v.cross(origin)) / volume,
            ]
        }
        _ => return None,
    };
    let mut shares = vec![1.0 - rest.iter().sum::<f64>()];
    shares.extend(rest);
    shares
        .iter()
        .all(|s| s.is_finite() && *s >= 0.0)
        .then_some(shares)
}

/// Brackets the minimum translation of two cores: a direction and a depth from below, and one from
/// above.
///
/// Corners of A ⊖ B span a polytope within it. The face nearest to the origin is expanded until a
/// supporting plane of A ⊖ B with the face's normal is no farther. The distance of the origin from
/// the faces is a lower bound, and from every plane an upper bound. Negative depths mean that the
/// origin is outside.
pub fn depth_by_supports(a: &Body, b: &Body, corners: usize) -> [(DVec3, f64); 2] {
    let corner = |direction: DVec3| a.support(direction) - b.support(-direction);
    let mut upper = (DVec3::X, f64::INFINITY);
    let mut points: Vec<DVec3> = Vec::new();
    // Start with the hull of the support points in 26 directions.
    let starts = (0..27)
        .filter(|&k| k != 13)
        .map(|k| DVec3::new((k % 3) as f64, (k / 3 % 3) as f64, (k / 9) as f64) - DVec3::ONE);
    for direction in starts {
        let direction = direction.normalize();
        let point = corner(direction);
        if direction.dot(point) < upper.1 {
            upper = (direction, direction.dot(point));
        }
        if !points.contains(&point) {
            points.push(point);
        }
    }
    let mut faces = Polytope::hull(&points);
    if faces.faces.len() < 4 {
        return [(upper.0, 0.0), upper];
    }
    let points = &mut faces.points;
    // Triangles with their normal and the depth of the origin below them.
    let mut triangles: Vec<([usize; 3], DVec3, f64)> = faces
        .faces
        .iter()
        .flat_map(|face| (2..face.len()).map(|k| [face[0], face[k - 1], face[k]]))
        .map(|t| triangle(points, t))
        .collect();
    let mut lower = upper;
    // Expand the face nearest to the origin until the bracket closes or no new corner is found.
    for _ in 0..corners {
        let Some(&(_, normal, depth)) = triangles.iter().min_by(|s, t| s.2.total_cmp(&t.2)) else {
            break;
        };
        if depth == f64::INFINITY {
            break;
        }
        lower = (normal, depth);
        let point = corner(normal);
        let reach = normal.dot(point);
        if reach < upper.1 {
            upper = (normal, reach);
        }
        if upper.1 - depth <= 1e-12 * reach.abs() || reach <= depth || points.contains(&point) {
            break;
        }
        // Replace all triangles visible from the new corner by a fan over their horizon.
        points.push(point);
        let new = points.len() - 1;
        let mut horizon: Vec<[usize; 2]> = Vec::new();
        triangles.retain(|&([i, j, k], _, _)| {
            let visible = above(points[i], points[j], points[k], point) > 0.0;
            if visible {
                horizon.extend([[i, j], [j, k], [k, i]]);
            }
            !visible
        });
        for &[i, j] in &horizon {
            if !horizon.contains(&[j, i]) {
                triangles.push(triangle(points, [i, j, new]));
            }
        }
    }
    [lower, upper]
}

/// Returns a triangle with its normal and depth. A triangle too thin to have a normal is kept, but
/// never as the nearest: without it the surface would have a gap, and the region visible through
/// the gap would grow without end.
fn triangle(points: &[DVec3], corners: [usize; 3]) -> ([usize; 3], DVec3, f64) {
    let [p, q, r] = corners.map(|c| points[c]);
    let area = (q - p).cross(r - p);
    match (area / area.abs().max_element()).try_normalize() {
        Some(normal) => (corners, normal, normal.dot(p)),
        None => (corners, DVec3::X, f64::INFINITY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polytope_truth::nearest_on_segment;
    use crate::random::Random;

    fn close(actual: f64, expected: f64, size: f64) {
        assert!(
            (actual - expected).abs() <= 1e-12 * size,
            "{actual:e}, expected {expected:e}"
        );
    }

    fn random_rotation(random: &mut Random) -> DMat3 {
        DMat3::from_quat(random.quaternion())
    }

    #[test]
    fn rounding_makes_balls_and_capsules() {
        let mut random = Random::new(5);
        for _ in 0..200 {
            let ends = [0; 4].map(|_| random.in_box(DVec3::NEG_ONE, DVec3::ONE));
            let radii = [0; 2].map(|_| random.uniform(0.0, 1.0));
            let ball = |k: usize| Body {
                rounding: radii[k],
                ..Body::new(Core::Polytope(Polytope::hull(&[ends[k]])))
            };
            let truth = body_pair(&ball(0), &ball(1));
            close(
                truth.signed(),
                ends[0].distance(ends[1]) - radii[0] - radii[1],
                4.0,
            );
            // Segments: no pair of sampled points is nearer, and one is nearly as near.
            let (p, q) = (Polytope::hull(&ends[..2]), Polytope::hull(&ends[2..]));
            let truth = polytope_pair(&p, &q);
            let mut least = f64::INFINITY;
            for i in 0..=200 {
                let point = ends[0].lerp(ends[1], f64::from(i) / 200.0);
                least = least.min(nearest_on_segment(ends[2], ends[3], point).distance(point));
            }
            assert!(truth.upper <= least + 1e-14 && least <= truth.upper + 0.02);
        }
    }

    #[test]
    fn supports_agree_with_features() {
        let mut random = Random::new(7);
        for _ in 0..300 {
            let [a, b] = [0, 1].map(|_| {
                let count = 4 + random.below(12);
                let points: Vec<DVec3> = (0..count)
                    .map(|_| random.unit_vector().as_vec3().as_dvec3())
                    .collect();
                Body {
                    rotation: random_rotation(&mut random),
                    translation: 1.3 * random.unit_vector(),
                    ..Body::new(Core::Polytope(Polytope::hull(&points)))
                }
            });
            let (features, supports) = (body_pair(&a, &b), support_pair(&a, &b));
            close(supports.upper, features.upper, 1e2);
            close(supports.lower, features.lower, 1e2);
            close(supports.depth, features.depth, 1e2);
            if features.depth > 0.0 {
                let [lower, _] = depth_by_supports(&a, &b, 1000);
                close(lower.1, features.depth, 1e2);
            }
        }
    }

    #[test]
    fn smooth_bodies_against_closed_forms() {
        let mut random = Random::new(8);
        for _ in 0..100 {
            let rotation = random_rotation(&mut random);
            let offset = random.in_box(DVec3::splat(-3.0), DVec3::splat(3.0));
            let at = |core: Core, offset: DVec3| Body {
                rotation,
                translation: rotation * offset,
                ..Body::new(core)
            };
            let cylinder = |radius: f64, half_height: f64| Core::Cylinder {
                radius,
                half_height,
            };
            let (a, b) = (
                at(cylinder(1.0, 0.5), DVec3::ZERO),
                at(cylinder(0.5, 0.25), offset),
            );
            let truth = body_pair(&a, &b);
            let around = offset.truncate().length() - 1.5;
            let along = offset.z.abs() - 0.75;
            let expected = if around.max(along) < 0.0 {
                around.max(along)
            } else {
                around.max(0.0).hypot(along.max(0.0))
            };
            assert!(
                (truth.signed() - expected).abs() < 1e-6,
                "{truth:?} {expected}"
            );
            assert!(truth.upper - truth.lower < 1e-7, "{truth:?}");
            // A point from a cone: along its profile.
            let cone = at(
                Core::Cone {
                    radius: 1.0,
                    half_height: 1.0,
                },
                DVec3::ZERO,
            );
            let point = at(Core::Polytope(Polytope::hull(&[DVec3::ZERO])), offset);
            let truth = body_pair(&cone, &point);
            let profile = DVec3::new(offset.truncate().length(), 0.0, offset.z);
            let outline = Polytope::hull(&[
                DVec3::new(1.0, 0.0, -1.0),
                DVec3::new(-1.0, 0.0, -1.0),
                DVec3::Z,
            ]);
            let expected = polytope_pair(&outline, &Polytope::hull(&[profile])).upper;
            assert!(
                (truth.upper - expected).abs() < 1e-7,
                "{truth:?} {expected}"
            );
            // A point from an ellipsoid with equal half axes.
            let ball = at(
                Core::Ellipsoid {
                    radii: DVec3::splat(0.5),
                },
                DVec3::ZERO,
            );
            let truth = body_pair(&ball, &point);
            let expected = offset.length() - 0.5;
            assert!(
                (truth.signed() - expected).abs() < 1e-7,
                "{truth:?} {expected}"
            );
        }
    }
}
