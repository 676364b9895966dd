//! Closed forms and CSG as small programs, which a kernel runs.
//!
//! Input: a [`Recipe`].
//! Output: words: an operation, then its numbers; operands come before what joins them.
//! Cost: one pass over the recipe.
//! Not for: fields given by code, which have no recipe.
//!
//! The machine has a stack of samples, and one of points for the frames of transformed fields.
//! `shaders/program.wgsl` runs what is written here.

use glam::{Mat3, Quat, Vec3};
use touchfield::field::Recipe;
use touchfield::geom::Aabb;

use crate::layout::NoGpuForm;

/// Largest number of samples, and of points, on a stack.
pub(crate) const MOST_DEPTH: usize = 16;

/// Operations, by the numbers that the kernel knows.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Operation {
    End = 0,
    Sphere,
    Capsule,
    Cone,
    Cuboid,
    RoundedCuboid,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Torus,
    Union,
    Intersection,
    Difference,
    Offset,
    Wall,
    Enter,
    Leave,
}

/// Compiles a recipe. Returns the words, and a bit for every operation that is used.
pub(crate) fn compile(recipe: &Recipe) -> Result<(Vec<u32>, u32), NoGpuForm> {
    let depth = depth(recipe);
    if depth > MOST_DEPTH {
        return Err(NoGpuForm::TooDeep {
            depth,
            most: MOST_DEPTH,
        });
    }
    let mut words = Vec::new();
    push(recipe, &mut words)?;
    words.push(Operation::End as u32);
    Ok((words, operations(recipe)))
}

/// Returns a bit for every operation of a recipe that a kernel may leave out.
fn operations(recipe: &Recipe) -> u32 {
    let own = match recipe {
        Recipe::Sphere(_) => Operation::Sphere,
        Recipe::Capsule(_) => Operation::Capsule,
        Recipe::Cone(_) => Operation::Cone,
        Recipe::Cuboid(_) => Operation::Cuboid,
        Recipe::RoundedCuboid(..) => Operation::RoundedCuboid,
        Recipe::Cylinder(_) => Operation::Cylinder,
        Recipe::Ellipsoid(_) => Operation::Ellipsoid,
        Recipe::HalfSpace(..) => Operation::HalfSpace,
        Recipe::Torus(_) => Operation::Torus,
        Recipe::Union(both) | Recipe::Intersection(both) | Recipe::Difference(both) => {
            return operations(&both[0]) | operations(&both[1]);
        }
        Recipe::Offset(field, _) => return operations(field) | 1 << Operation::Offset as u32,
        Recipe::Wall(field, _) => return operations(field) | 1 << Operation::Wall as u32,
        Recipe::Transformed { field, .. } => return operations(field),
    };
    1 << own as u32
}

/// Returns the number of levels of a recipe: no stack ever holds more.
fn depth(recipe: &Recipe) -> usize {
    1 + match recipe {
        Recipe::Union(both) | Recipe::Intersection(both) | Recipe::Difference(both) => {
            depth(&both[0]).max(depth(&both[1]))
        }
        Recipe::Offset(field, _) | Recipe::Wall(field, _) => depth(field),
        Recipe::Transformed { field, .. } => depth(field),
        _ => 0,
    }
}

fn push(recipe: &Recipe, words: &mut Vec<u32>) -> Result<(), NoGpuForm> {
    let mut operation = |operation: Operation, numbers: &[f32]| {
        words.push(operation as u32);
        words.extend(numbers.iter().map(|number| number.to_bits()));
    };
    match recipe {
        Recipe::Sphere(radius) => operation(Operation::Sphere, &[*radius]),
        Recipe::Capsule(sizes) => operation(Operation::Capsule, sizes),
        Recipe::Cone(sizes) => operation(Operation::Cone, sizes),
        Recipe::Cuboid(sizes) => operation(Operation::Cuboid, sizes),
        Recipe::RoundedCuboid([x, y, z], radius) => {
            // As the field itself subtracts.
            let numbers = [x - radius, y - radius, z - radius, *radius];
            operation(Operation::RoundedCuboid, &numbers);
        }
        Recipe::Cylinder(sizes) => operation(Operation::Cylinder, sizes),
        Recipe::Ellipsoid(sizes) => operation(Operation::Ellipsoid, sizes),
        Recipe::HalfSpace(normal, offset) => {
            let [x, y, z] = normal.map(|number| number as f32);
            operation(Operation::HalfSpace, &[x, y, z, *offset as f32]);
        }
        Recipe::Torus(sizes) => operation(Operation::Torus, sizes),
        Recipe::Union(both) | Recipe::Intersection(both) | Recipe::Difference(both) => {
            push(&both[0], words)?;
            push(&both[1], words)?;
            words.push(match recipe {
                Recipe::Union(_) => Operation::Union,
                Recipe::Intersection(_) => Operation::Intersection,
                _ => Operation::Difference,
            } as u32);
        }
        Recipe::Offset(field, length) | Recipe::Wall(field, length) => {
            push(field, words)?;
            words.push(match recipe {
                Recipe::Offset(..) => Operation::Offset,
                _ => Operation::Wall,
            } as u32);
            words.push(length.to_bits());
            let field = field.build();
            let field = field.map_err(|error| NoGpuForm::Recipe(error.to_string()))?;
            push_box(field.bounds(), words);
        }
        Recipe::Transformed {
            field,
            rotation,
            translation,
            scale,
        } => {
            let turn = Mat3::from_quat(Quat::from_array(*rotation)).to_cols_array();
            operation(Operation::Enter, &turn);
            words.extend(Vec3::from(*translation).to_array().map(f32::to_bits));
            words.push(scale.to_bits());
            push(field, words)?;
            words.push(Operation::Leave as u32);
            words.extend(turn.map(f32::to_bits));
            words.push(scale.to_bits());
        }
    }
    Ok(())
}

/// Appends a box, infinite ends as large numbers. An empty box has its ends exchanged, by which the
/// kernel knows it.
fn push_box(bounds: Aabb, words: &mut Vec<u32>) {
    const FAR: f32 = 1e30;
    let ends = if bounds.is_empty() {
        [Vec3::ONE, Vec3::NEG_ONE]
    } else {
        [bounds.min, bounds.max].map(|end| end.clamp(Vec3::splat(-FAR), Vec3::splat(FAR)))
    };
    let numbers = ends.iter().flat_map(|end| end.to_array());
    words.extend(numbers.map(f32::to_bits));
}
