//! Axis-aligned boxes: [`Aabb`] in `f32` for queries, [`DAabb`] in `f64` for meshes and baking.

use glam::{DVec3, Mat3, Vec3};

macro_rules! axis_aligned_box {
    ($name:ident, $vector:ident, $scalar:ident, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            /// Smallest corner \[m\].
            pub min: $vector,
            /// Largest corner \[m\].
            pub max: $vector,
        }

        impl $name {
            /// The box that contains no point; the neutral element of [`Self::union`].
            pub const EMPTY: $name = $name {
                min: $vector::INFINITY,
                max: $vector::NEG_INFINITY,
            };

            /// The box that contains every point.
            pub const EVERYTHING: $name = $name {
                min: $vector::NEG_INFINITY,
                max: $vector::INFINITY,
            };

            /// Returns the box with these two corners.
            pub fn new(min: $vector, max: $vector) -> $name {
                $name { min, max }
            }

            /// Returns the box with this centre and these half extents \[m\].
            pub fn from_center(center: $vector, half_extents: $vector) -> $name {
                $name {
                    min: center - half_extents,
                    max: center + half_extents,
                }
            }

            /// Returns the smallest box that contains all points, or [`Self::EMPTY`] if there are
            /// none.
            pub fn of_points(points: impl IntoIterator<Item = $vector>) -> $name {
                points
                    .into_iter()
                    .fold($name::EMPTY, |bounds, point| $name {
                        min: bounds.min.min(point),
                        max: bounds.max.max(point),
                    })
            }

            /// Returns whether the box contains no point.
            pub fn is_empty(self) -> bool {
                !self.min.cmple(self.max).all()
            }

            /// Returns whether all six bounds are finite.
            pub fn is_finite(self) -> bool {
                self.min.is_finite() && self.max.is_finite()
            }

            /// Returns the centre \[m\].
            pub fn center(self) -> $vector {
                // Halves first: the sum of two huge corners would overflow.
                0.5 * self.min + 0.5 * self.max
            }

            /// Returns the edge lengths \[m\].
            pub fn extents(self) -> $vector {
                self.max - self.min
            }

            /// Returns half of the edge lengths \[m\].
            pub fn half_extents(self) -> $vector {
                0.5 * self.max - 0.5 * self.min
            }

            /// Returns the length of the diagonal \[m\].
            pub fn diagonal(self) -> $scalar {
                self.extents().length()
            }

            /// Returns the smallest box that contains both boxes.
            pub fn union(self, other: $name) -> $name {
                $name {
                    min: self.min.min(other.min),
                    max: self.max.max(other.max),
                }
            }

            /// Returns the box of all points that lie in both boxes; it is empty if they do not
            /// overlap.
            pub fn intersection(self, other: $name) -> $name {
                $name {
                    min: self.min.max(other.min),
                    max: self.max.min(other.max),
                }
            }

            /// Returns the box with every face moved outward by `margin` \[m\].
            pub fn grown(self, margin: $scalar) -> $name {
                $name {
                    min: self.min - $vector::splat(margin),
                    max: self.max + $vector::splat(margin),
                }
            }

            /// Returns whether `point` lies inside or on the border.
            pub fn contains(self, point: $vector) -> bool {
                self.min.cmple(point).all() && point.cmple(self.max).all()
            }

            /// Returns the point of the box nearest to `point`.
            pub fn closest_point(self, point: $vector) -> $vector {
                point.max(self.min).min(self.max)
            }

            /// Returns the distance from `point` to the box \[m\]; 0 inside.
            pub fn distance(self, point: $vector) -> $scalar {
                self.distance_squared(point).sqrt()
            }

            /// Returns the square of [`Self::distance`] \[m²\].
            pub fn distance_squared(self, point: $vector) -> $scalar {
                (self.min - point)
                    .max(point - self.max)
                    .max($vector::ZERO)
                    .length_squared()
            }

            /// Returns the eight corners; bit 0 of the index selects x, bit 1 y, bit 2 z.
            pub fn corners(self) -> [$vector; 8] {
                std::array::from_fn(|i| {
                    $vector::new(
                        if i & 1 == 0 { self.min.x } else { self.max.x },
                        if i & 2 == 0 { self.min.y } else { self.max.y },
                        if i & 4 == 0 { self.min.z } else { self.max.z },
                    )
                })
            }
        }
    };
}

axis_aligned_box!(
    Aabb,
    Vec3,
    f32,
    "An axis-aligned box in `f32`, for queries."
);
axis_aligned_box!(
    DAabb,
    DVec3,
    f64,
    "An axis-aligned box in `f64`, for meshes and baking."
);

/// Returns the half extents \[m\] of the axis-aligned box around a rotated box.
pub fn turned_half_extents(rotation: Mat3, half_extents: Vec3) -> Vec3 {
    rotation.x_axis.abs() * half_extents.x
        + rotation.y_axis.abs() * half_extents.y
        + rotation.z_axis.abs() * half_extents.z
}

impl Aabb {
    /// Returns the same box in `f64`.
    pub fn as_daabb(self) -> DAabb {
        DAabb::new(self.min.as_dvec3(), self.max.as_dvec3())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_is_to_the_nearest_face_edge_or_corner() {
        let unit = Aabb::from_center(Vec3::ZERO, Vec3::ONE);
        assert_eq!(unit.distance(Vec3::new(3.0, 0.0, 0.0)), 2.0);
        assert_eq!(unit.distance(Vec3::new(4.0, 5.0, 0.5)), 5.0);
        assert_eq!(unit.distance(Vec3::new(2.0, 3.0, 3.0)), 3.0);
        assert_eq!(unit.distance(Vec3::new(0.5, -0.5, 1.0)), 0.0);
    }

    #[test]
    fn empty_is_neutral_for_union_and_detected() {
        let unit = Aabb::from_center(Vec3::ZERO, Vec3::ONE);
        assert!(Aabb::EMPTY.is_empty() && !unit.is_empty());
        assert_eq!(Aabb::EMPTY.union(unit), unit);
        let far = Aabb::from_center(Vec3::splat(9.0), Vec3::ONE);
        assert!(unit.intersection(far).is_empty());
        let nan = Aabb::new(Vec3::NAN, Vec3::ONE);
        assert!(nan.is_empty());
    }

    #[test]
    fn corners_are_numbered_by_bits() {
        let corners = DAabb::new(DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0)).corners();
        assert_eq!(corners[0], DVec3::ZERO);
        assert_eq!(corners[5], DVec3::new(1.0, 0.0, 3.0));
        assert_eq!(corners[7], DVec3::new(1.0, 2.0, 3.0));
    }
}
