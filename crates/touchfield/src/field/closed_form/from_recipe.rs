//! Building closed forms from their recipes.

use crate::field::closed_form::csg::{Difference, Intersection, Union};
use crate::field::closed_form::level_set::{Offset, Wall};
use crate::field::closed_form::parameter::ParameterError;
use crate::field::closed_form::primitive::Capsule;
use crate::field::closed_form::primitive::Cone;
use crate::field::closed_form::primitive::Cylinder;
use crate::field::closed_form::primitive::Ellipsoid;
use crate::field::closed_form::primitive::HalfSpace;
use crate::field::closed_form::primitive::Sphere;
use crate::field::closed_form::primitive::Torus;
use crate::field::closed_form::primitive::{Cuboid, RoundedCuboid};
use crate::field::closed_form::transform::Transformed;
use crate::field::field::Field;
use crate::field::recipe::Recipe;
use crate::geom::Pose;
use glam::{DVec3, Quat, Vec3};
use std::sync::Arc;

impl Recipe {
    /// Builds the field. It equals the field that returned the recipe to the bit.
    pub fn build(&self) -> Result<Arc<dyn Field>, ParameterError> {
        let two = |parts: &[Recipe; 2]| Ok((parts[0].build()?, parts[1].build()?));
        Ok(match self {
            &Recipe::Sphere(radius) => Arc::new(Sphere::new(radius)?),
            &Recipe::Capsule([half_length, radius]) => Arc::new(Capsule::new(half_length, radius)?),
            &Recipe::Cone([half_height, base, top]) => {
                Arc::new(Cone::frustum(half_height, base, top)?)
            }
            &Recipe::Cuboid(half) => Arc::new(Cuboid::new(Vec3::from_array(half))?),
            &Recipe::RoundedCuboid(half, radius) => {
                Arc::new(RoundedCuboid::new(Vec3::from_array(half), radius)?)
            }
            &Recipe::Cylinder([half_height, radius]) => {
                Arc::new(Cylinder::new(half_height, radius)?)
            }
            &Recipe::Ellipsoid(half) => Arc::new(Ellipsoid::new(Vec3::from_array(half))?),
            &Recipe::HalfSpace(normal, offset) => {
                Arc::new(HalfSpace::again(DVec3::from_array(normal), offset)?)
            }
            &Recipe::Torus([major, minor]) => Arc::new(Torus::new(major, minor)?),
            Recipe::Union(parts) => {
                let (first, second) = two(parts)?;
                Arc::new(Union { first, second })
            }
            Recipe::Intersection(parts) => {
                let (first, second) = two(parts)?;
                Arc::new(Intersection { first, second })
            }
            Recipe::Difference(parts) => {
                let (first, second) = two(parts)?;
                Arc::new(Difference { first, second })
            }
            Recipe::Offset(field, radius) => Arc::new(Offset::new(field.build()?, *radius)?),
            Recipe::Wall(field, thickness) => Arc::new(Wall::new(field.build()?, *thickness)?),
            Recipe::Transformed {
                field,
                rotation,
                translation,
                scale,
            } => {
                let pose = Pose {
                    rotation: Quat::from_array(*rotation),
                    translation: Vec3::from_array(*translation),
                };
                Arc::new(Transformed::again(field.build()?, pose, *scale)?)
            }
        })
    }

    /// Returns the recipes of two fields, if both have one.
    pub(crate) fn of_two(first: &impl Field, second: &impl Field) -> Option<Box<[Recipe; 2]>> {
        Some(Box::new([first.recipe()?, second.recipe()?]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::closed_form::closure::{Closure, Declared};
    use crate::field::field::Meaning;
    use crate::geom::Aabb;

    /// Iterates over points around the origin (Halton sequence).
    fn points() -> impl Iterator<Item = Vec3> {
        let radical = |mut index: u32, base: u32| {
            let (mut value, mut share) = (0.0, 1.0);
            while index > 0 {
                share /= base as f32;
                value += share * (index % base) as f32;
                index /= base;
            }
            4.0 * value - 2.0
        };
        (1..500).map(move |i| Vec3::new(radical(i, 2), radical(i, 3), radical(i, 5)))
    }

    fn is_made_again(field: &dyn Field) {
        let recipe = field.recipe().expect("a closed form has a recipe");
        let again = recipe.build().expect("what was a field is one");
        assert_eq!(again.recipe(), Some(recipe));
        assert_eq!(again.bounds(), field.bounds());
        assert_eq!(again.error_bound().to_bits(), field.error_bound().to_bits());
        for point in points() {
            let [was, is] = [field.sample(point), again.sample(point)];
            assert_eq!(was, is, "{:?} at {point}", field.recipe());
            let cell = Aabb::from_center(point, Vec3::splat(0.05));
            assert_eq!(field.interval(cell), again.interval(cell));
        }
    }

    #[test]
    fn closed_forms_and_what_is_made_of_them_come_back_to_the_bit() -> Result<(), ParameterError> {
        let half = Vec3::new(0.3, 0.4, 0.55);
        // A rotation whose length is off by rounding: normalising it a second time would change it.
        let turn = Quat::from_euler(glam::EulerRot::XYZ, 0.3, 1.1, -2.0);
        let pose = Pose {
            rotation: turn,
            translation: Vec3::new(0.1, -0.2, 0.3),
        };
        let plane = HalfSpace::new(Vec3::new(0.3, -0.7, 0.2), 0.1)?;
        let ring = Transformed::new(Torus::new(0.7, 0.2)?, pose, 1.3)?;
        let cut = Difference {
            first: RoundedCuboid::new(half, 0.1)?,
            second: Union {
                first: ring,
                second: plane,
            },
        };
        let walls = Wall::new(Offset::new(Cone::frustum(0.6, 0.4, 0.1)?, 0.05)?, 0.1)?;
        let fields: [&dyn Field; 11] = [
            &Sphere::new(0.7)?,
            &Capsule::new(0.4, 0.2)?,
            &Cone::frustum(0.6, 0.4, 0.1)?,
            &Cuboid::new(half)?,
            &Cylinder::new(0.4, 0.3)?,
            &Ellipsoid::new(half)?,
            &plane,
            &ring,
            &cut,
            &walls,
            &Intersection {
                first: &cut,
                second: &walls,
            },
        ];
        fields.iter().for_each(|field| is_made_again(field));
        Ok(())
    }

    #[test]
    fn code_has_no_recipe_nor_what_is_made_of_it() -> Result<(), ParameterError> {
        let declared = Declared {
            bounds: Aabb::from_center(Vec3::ZERO, Vec3::ONE),
            lipschitz: 1.0,
            meaning: Meaning::Distance,
            error_bound: 1e-6,
        };
        let code = Closure::new(|point: Vec3| point.length() - 1.0, declared)?;
        assert_eq!(code.recipe(), None);
        let union = Union {
            first: Sphere::new(1.0)?,
            second: &code,
        };
        assert_eq!(union.recipe(), None);
        Ok(())
    }

    #[test]
    fn measures_that_make_no_solid_are_refused() {
        assert!(Recipe::Sphere(f32::NAN).build().is_err());
        assert!(Recipe::HalfSpace([2.0, 0.0, 0.0], 0.0).build().is_err());
        let turned = Recipe::Transformed {
            field: Box::new(Recipe::Sphere(1.0)),
            rotation: [0.0; 4],
            translation: [0.0; 3],
            scale: 1.0,
        };
        assert!(turned.build().is_err());
    }
}
