//! Implementation of Parry's `Shape` trait for [`FieldShape`]: boxes, mass, rays and nearest
//! points.
//!
//! Input: queries in the frame of the shape. Output: answers computed from its field. Cost: a few
//! dozen field samples per ray or point.
//! Not for: pairs of shapes, which the dispatcher handles.

use glam::Vec3;
use rapier::math::{Pose as RapierPose, Real, Vector};
use rapier::parry::bounding_volume::{Aabb, BoundingSphere, BoundingVolume};
use rapier::parry::mass_properties::MassProperties;
use rapier::parry::query::{PointProjection, PointQuery, Ray, RayCast, RayIntersection};
use rapier::parry::shape::{FeatureId, Shape, ShapeType, TypedShape};
use touchfield::field::Sample;

use crate::convert;
use crate::shape::FieldShape;
use crate::tuning::parry_shape::{MOST_STEPS, ON_SURFACE, ROOM, THIN};

impl Shape for FieldShape {
    fn compute_local_aabb(&self) -> Aabb {
        convert::rapier_aabb(self.shape().solid())
    }

    /// Adds a margin to the box of thin bodies. Rapier requests the contacts of a pair once the
    /// boxes meet, and walls thinner than what a body moves in a step would have passed each other
    /// before that.
    fn compute_aabb(&self, position: &RapierPose) -> Aabb {
        let tight = self.compute_local_aabb().transform_by(position);
        tight.loosened(convert::real(self.room()))
    }

    fn compute_local_bounding_sphere(&self) -> BoundingSphere {
        self.compute_local_aabb().bounding_sphere()
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }

    fn scale_dyn(&self, scale: Vector, _subdivisions: u32) -> Option<Box<dyn Shape>> {
        let scale = convert::vec3(scale);
        // A non-uniform scale does not preserve distances.
        let is_uniform =
            scale.max_element() - scale.min_element() <= 1e-6 * scale.abs().max_element();
        if !is_uniform {
            tracing::warn!(
                ?scale,
                "a field cannot be scaled by different factors along different axes"
            );
            return None;
        }
        let scaled = self
            .scaled(scale.x)
            .inspect_err(|error| tracing::warn!(%error, "a field was not scaled"));
        scaled.ok().map(|scaled| Box::new(scaled) as Box<dyn Shape>)
    }

    fn mass_properties(&self, density: Real) -> MassProperties {
        let mass = self.mass();
        let density = convert::double(density);
        MassProperties::with_inertia_matrix(
            convert::vector_of_double(mass.center),
            convert::real_of_double(density * mass.volume),
            convert::matrix(density * mass.inertia),
        )
    }

    fn shape_type(&self) -> ShapeType {
        ShapeType::Custom
    }

    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::Custom(self)
    }

    fn ccd_thickness(&self) -> Real {
        convert::real(self.thickness())
    }

    fn ccd_angular_thickness(&self) -> Real {
        // A body with edges meets others at another place after less than an eighth of a turn.
        convert::real(std::f32::consts::FRAC_PI_4)
    }
}

impl FieldShape {
    /// Returns the margin of the world-space box \[m\].
    fn room(&self) -> f32 {
        if self.thickness() < THIN * self.size() {
            ROOM * self.size()
        } else {
            0.0
        }
    }

    fn size(&self) -> f32 {
        self.shape().solid().diagonal()
    }

    /// Returns the nearest point of the surface, as far as the field leads there, and whether
    /// `point` is inside.
    fn nearest(&self, point: Vec3) -> (Vec3, bool) {
        let field = self.shape().field();
        let enough = ON_SURFACE * self.size();
        // Outside its box a field gives lower bounds only, so step to the box first and continue
        // from there.
        let mut at = point;
        let mut sample = field.sample(at);
        let is_inside = sample.distance <= 0.0;
        for _ in 0..MOST_STEPS {
            let Sample { distance, gradient } = sample;
            let Some(outward) = gradient.try_normalize() else {
                break;
            };
            if distance.abs() <= enough {
                break;
            }
            at -= distance * outward;
            sample = field.sample(at);
        }
        (at, is_inside)
    }

    /// Returns the distance along a unit direction to the surface \[m\], by sphere tracing.
    fn trace(&self, from: Vec3, along: Vec3, farthest: f32) -> Option<f32> {
        let field = self.shape().field();
        let enough = ON_SURFACE * self.size();
        let start = field.distance(from);
        let side = if start <= 0.0 { -1.0 } else { 1.0 };
        let mut gone = 0.0;
        for _ in 0..MOST_STEPS {
            let distance = side * field.distance(from + gone * along);
            if distance <= enough {
                return Some(gone);
            }
            gone += distance;
            if gone > farthest {
                return None;
            }
        }
        // Hundreds of steps along the surface: return where the ray has come to.
        Some(gone)
    }
}

impl PointQuery for FieldShape {
    fn project_local_point(&self, pt: Vector, solid: bool) -> PointProjection {
        let point = convert::vec3(pt);
        let (nearest, is_inside) = self.nearest(point);
        if is_inside && solid {
            return PointProjection::new(true, pt);
        }
        PointProjection::new(is_inside, convert::vector(nearest))
    }

    fn project_local_point_and_get_feature(&self, pt: Vector) -> (PointProjection, FeatureId) {
        (self.project_local_point(pt, false), FeatureId::Unknown)
    }

    fn contains_local_point(&self, pt: Vector) -> bool {
        self.shape().field().distance(convert::vec3(pt)) <= 0.0
    }
}

impl RayCast for FieldShape {
    fn cast_local_ray_and_get_normal(
        &self,
        ray: &Ray,
        max_time_of_impact: Real,
        solid: bool,
    ) -> Option<RayIntersection> {
        let speed = convert::float(ray.dir.length());
        let from = convert::vec3(ray.origin);
        let along = convert::vec3(ray.dir).try_normalize()?;
        if solid && self.shape().field().distance(from) <= 0.0 {
            return Some(RayIntersection::new(0.0, Vector::ZERO, FeatureId::Unknown));
        }
        // Nothing lies beyond the far side of the box.
        let beyond = from.distance(self.shape().solid().center()) + self.size();
        let farthest = (convert::float(max_time_of_impact) * speed).min(beyond);
        let gone = self.trace(from, along, farthest)?;
        let gradient = self.shape().field().sample(from + gone * along).gradient;
        let outward = gradient.normalize_or(-along);
        // The normal points to the side that the ray comes from.
        let normal = if outward.dot(along) > 0.0 {
            -outward
        } else {
            outward
        };
        Some(RayIntersection::new(
            convert::real(gone / speed),
            convert::vector(normal),
            FeatureId::Unknown,
        ))
    }
}
