//! How a closed form is made: what a file needs to make it again.
//!
//! Input: a field that knows its own measures ([`Field::recipe`]), or what a file holds. Output: the tree of its parts; a field of the same bits.
//! Cost: one number for each measure. Not for: closures, which are code, and stored fields, which have files of their own.

/// The measures of a closed form \[m\], or how it is made of others.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Recipe {
    /// [`Sphere`]: its radius.
    Sphere(f32),
    /// [`Capsule`]: half its length, its radius.
    Capsule([f32; 2]),
    /// [`Cone`]: half its height, the radii below and above.
    Cone([f32; 3]),
    /// [`Cuboid`]: half its sides.
    Cuboid([f32; 3]),
    /// [`RoundedCuboid`]: half its outer sides, the radius of its edges.
    RoundedCuboid([f32; 3], f32),
    /// [`Cylinder`]: half its height, its radius.
    Cylinder([f32; 2]),
    /// [`Ellipsoid`]: half its axes.
    Ellipsoid([f32; 3]),
    /// [`HalfSpace`]: its unit normal, how far the plane is along it.
    HalfSpace([f64; 3], f64),
    /// [`Torus`]: the radii of circle and tube.
    Torus([f32; 2]),
    /// [`Union`] of two.
    Union(Box<[Recipe; 2]>),
    /// [`Intersection`] of two.
    Intersection(Box<[Recipe; 2]>),
    /// [`Difference`]: the second is cut from the first.
    Difference(Box<[Recipe; 2]>),
    /// [`Offset`] by a radius.
    Offset(Box<Recipe>, f32),
    /// [`Shell`] of a thickness.
    Shell(Box<Recipe>, f32),
    /// [`Transformed`]: what is moved.
    Transformed {
        /// In its own frame.
        field: Box<Recipe>,
        /// Of its frame, a unit quaternion, w last.
        rotation: [f32; 4],
        /// Of its frame.
        translation: [f32; 3],
        /// By how much it is enlarged.
        scale: f32,
    },
}
