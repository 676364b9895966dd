//! The numbers that define a closed form, as a file needs them to rebuild it.
//!
//! Input: a field that can list its own measures ([`Field::recipe`](crate::Field::recipe)), or what
//! a file holds.
//! Output: the tree of its parts; a field with the same bits.
//! Cost: one number for each measure.
//! Not for: closures, which are code, and stored fields, which have files of their own.

/// The measures of a closed form \[m\], or its composition from others.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Recipe {
    /// [`Sphere`](crate::field::primitive::Sphere): its radius.
    Sphere(f32),
    /// [`Capsule`](crate::field::primitive::Capsule): half its length, its radius.
    Capsule([f32; 2]),
    /// [`Cone`](crate::field::primitive::Cone): half its height, its lower and upper radius.
    Cone([f32; 3]),
    /// [`Cuboid`](crate::field::primitive::Cuboid): half its sides.
    Cuboid([f32; 3]),
    /// [`RoundedCuboid`](crate::field::primitive::RoundedCuboid): half its outer sides, the radius
    /// of its edges.
    RoundedCuboid([f32; 3], f32),
    /// [`Cylinder`](crate::field::primitive::Cylinder): half its height, its radius.
    Cylinder([f32; 2]),
    /// [`Ellipsoid`](crate::field::primitive::Ellipsoid): its semi-axes.
    Ellipsoid([f32; 3]),
    /// [`HalfSpace`](crate::field::primitive::HalfSpace): its unit normal, the offset of the plane
    /// along it.
    HalfSpace([f64; 3], f64),
    /// [`Torus`](crate::field::primitive::Torus): the radii of circle and tube.
    Torus([f32; 2]),
    /// [`Union`](crate::field::Union) of two fields.
    Union(Box<[Recipe; 2]>),
    /// [`Intersection`](crate::field::Intersection) of two fields.
    Intersection(Box<[Recipe; 2]>),
    /// [`Difference`](crate::field::Difference): the second field is cut from the first.
    Difference(Box<[Recipe; 2]>),
    /// [`Offset`](crate::field::Offset) of a field by a radius.
    Offset(Box<Recipe>, f32),
    /// [`Wall`](crate::field::Wall) of a field with a thickness.
    #[cfg_attr(feature = "serde", serde(alias = "Shell"))]
    Wall(Box<Recipe>, f32),
    /// [`Transformed`](crate::field::Transformed): a field that is rotated, moved and scaled.
    Transformed {
        /// The field in its own frame.
        field: Box<Recipe>,
        /// Rotation of its frame: a unit quaternion, w last.
        rotation: [f32; 4],
        /// Translation of its frame \[m\].
        translation: [f32; 3],
        /// Scale factor.
        scale: f32,
    },
}
