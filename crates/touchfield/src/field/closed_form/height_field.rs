//! Terrain: a block of ground whose top is a grid of heights.
//!
//! Input: heights on a regular grid over x and y, the spacing, the height of the flat base \[m\].
//! Output: the exact distance to the closed block (top, four walls, base) inside its box; a lower
//! bound beyond.
//! Cost: the cells within the distance found so far, each skipped if its box is farther; one to
//! nine near the surface, many for points high above steep ground.
//! Not for: overhangs, or millions of samples far from the ground (bake it).
//!
//! Every cell is two triangles, split from its corner of least x and y to the opposite one.
//! Distances to triangles are computed in `f64` by the same routine as in baking
//! ([`Triangle::closest_point`]), so the error is the rounding of the result.
//!
//! Above the ground and within the footprint, the path to the nearest point of the block stays
//! within the footprint and so arrives from above: only the top counts. Inside, the walls and the
//! base count by their planes: if the path to a wall's plane passes above that wall, it has left
//! through the top, which is then nearer.

use glam::{DVec2, DVec3, Vec2, Vec3};

use crate::field::bounds::outside::sample_beyond;
use crate::field::bounds::rounding;
use crate::field::bounds::rounding::CellBall;
use crate::field::closed_form::parameter::LARGEST_SIZE;
use crate::field::field::{Field, Sample};
use crate::geom::{Aabb, DAabb, Interval, Triangle};

/// Why a grid of heights does not make a terrain.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum HeightFieldError {
    /// There are fewer than two heights along an axis, so there is no cell.
    #[error("{columns} × {rows} heights make no cell; at least 2 × 2 are needed")]
    TooFew {
        /// Heights along x.
        columns: usize,
        /// Heights along y.
        rows: usize,
    },
    /// The list and the grid differ in size.
    #[error("{given} heights given for a grid of {columns} × {rows}")]
    WrongCount {
        /// Length of the list.
        given: usize,
        /// Heights along x.
        columns: usize,
        /// Heights along y.
        rows: usize,
    },
    /// The spacing is not a positive length, or the footprint is too large.
    #[error("spacing {x} × {y} m; both must be positive and the footprint at most 1e15 m")]
    Spacing {
        /// Spacing along x \[m\].
        x: f32,
        /// Spacing along y \[m\].
        y: f32,
    },
    /// A height lies below the base or out of range.
    #[error(
        "height {height} m at column {column}, row {row} over a base at {base} m; \
         heights must lie from the base to 1e15 m (lower the base)"
    )]
    Height {
        /// Index along x.
        column: usize,
        /// Index along y.
        row: usize,
        /// The height \[m\].
        height: f32,
        /// The base \[m\].
        base: f32,
    },
}

/// A block of terrain: footprint from the origin along +x and +y, flat base below, heights above,
/// vertical walls.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightField {
    heights: Vec<f32>,
    columns: usize,
    rows: usize,
    spacing: Vec2,
    /// The bounding box of the block, exact.
    block: DAabb,
}

/// The surface point nearest to a query point, and the surface normal there for the case that they
/// coincide.
struct Nearest {
    point: DVec3,
    distance: f64,
    normal: DVec3,
}

impl HeightField {
    /// Builds a terrain from heights row by row (x fastest) \[m\], their number along x, their
    /// spacing along x and y \[m\], and the height of the base \[m\].
    pub fn new(
        heights: Vec<f32>,
        columns: usize,
        spacing: Vec2,
        base: f32,
    ) -> Result<HeightField, HeightFieldError> {
        let rows = heights.len().checked_div(columns).unwrap_or(0);
        if columns < 2 || rows < 2 {
            return Err(HeightFieldError::TooFew { columns, rows });
        }
        if rows * columns != heights.len() {
            return Err(HeightFieldError::WrongCount {
                given: heights.len(),
                columns,
                rows,
            });
        }
        let footprint = spacing.as_dvec2() * DVec2::new((columns - 1) as f64, (rows - 1) as f64);
        if !(spacing.cmpgt(Vec2::ZERO).all() && footprint.max_element() <= f64::from(LARGEST_SIZE))
        {
            let Vec2 { x, y } = spacing;
            return Err(HeightFieldError::Spacing { x, y });
        }
        let allowed = base..=LARGEST_SIZE;
        let refused = heights
            .iter()
            .position(|height| !(allowed.contains(height) && base >= -LARGEST_SIZE));
        if let Some(index) = refused {
            return Err(HeightFieldError::Height {
                column: index % columns,
                row: index / columns,
                height: heights[index],
                base,
            });
        }
        let top = heights.iter().copied().fold(base, f32::max);
        Ok(HeightField {
            heights,
            columns,
            rows,
            spacing,
            block: DAabb::new(
                DVec3::new(0.0, 0.0, f64::from(base)),
                footprint.extend(f64::from(top)),
            ),
        })
    }

    /// Returns the heights row by row, x fastest \[m\].
    pub fn heights(&self) -> &[f32] {
        &self.heights
    }

    /// Returns the number of heights along x and along y.
    pub fn resolution(&self) -> [usize; 2] {
        [self.columns, self.rows]
    }

    /// Returns the distance between neighbouring heights along x and along y \[m\].
    pub fn spacing(&self) -> Vec2 {
        self.spacing
    }

    fn node(&self, column: usize, row: usize) -> DVec3 {
        DVec3::new(
            column as f64 * f64::from(self.spacing.x),
            row as f64 * f64::from(self.spacing.y),
            f64::from(self.heights[row * self.columns + column]),
        )
    }

    /// Returns the two triangles of a cell: first the one towards +x, then the one towards +y.
    fn triangles(&self, column: usize, row: usize) -> [Triangle; 2] {
        let [a, b, c, d] = [
            self.node(column, row),
            self.node(column + 1, row),
            self.node(column + 1, row + 1),
            self.node(column, row + 1),
        ];
        [Triangle { a, b, c }, Triangle { a, b: c, c: d }]
    }

    /// Returns the index of the cell below a point of the footprint.
    fn cell_below(&self, point: DVec3) -> [usize; 2] {
        let cell = point.truncate() / self.spacing.as_dvec2();
        [
            (cell.x as usize).min(self.columns - 2),
            (cell.y as usize).min(self.rows - 2),
        ]
    }

    /// Returns the point of the ground straight above or below, as a first guess of the nearest.
    fn plumb(&self, point: DVec3, [column, row]: [usize; 2]) -> Nearest {
        let [towards_x, towards_y] = self.triangles(column, row);
        let DVec2 { x, y } = (point - towards_x.a).truncate() / self.spacing.as_dvec2();
        let triangle = if x >= y { towards_x } else { towards_y };
        let height = if x >= y {
            triangle.a.z + x * (triangle.b.z - triangle.a.z) + y * (triangle.c.z - triangle.b.z)
        } else {
            triangle.a.z + y * (triangle.c.z - triangle.a.z) + x * (triangle.b.z - triangle.c.z)
        };
        Nearest {
            point: point.with_z(height),
            distance: (point.z - height).abs(),
            normal: triangle.normal().unwrap_or(DVec3::Z),
        }
    }

    /// Finds the nearest point of the ground, and whether `point` is above the ground. Visits rings
    /// of cells around the cell below, until a ring is farther away than the nearest point found.
    fn nearest_ground(&self, point: DVec3) -> (Nearest, bool) {
        let below = self.cell_below(point);
        let mut nearest = self.plumb(point, below);
        let above = point.z > nearest.point.z;
        let [column, row] = below.map(|index| index as isize);
        let last = [self.columns as isize - 2, self.rows as isize - 2];
        let step = f64::from(self.spacing.min_element());
        let rings = last[0].max(last[1]);
        for ring in 0..=rings {
            // The point lies over or under ring 0, so at least `ring − 1` whole cells lie between.
            if (ring - 1) as f64 * step > nearest.distance {
                break;
            }
            for r in (row - ring).max(0)..=(row + ring).min(last[1]) {
                let inner = (r - row).abs() < ring;
                let stride = if inner { (2 * ring).max(1) } else { 1 };
                for c in (column - ring..=column + ring).step_by(stride as usize) {
                    if (0..=last[0]).contains(&c) {
                        self.improve(point, c as usize, r as usize, &mut nearest);
                    }
                }
            }
        }
        (nearest, above)
    }

    /// Tests the triangles of one cell, unless its box is too far to matter.
    fn improve(&self, point: DVec3, column: usize, row: usize, nearest: &mut Nearest) {
        let triangles = self.triangles(column, row);
        let corners = [
            triangles[0].a,
            triangles[0].b,
            triangles[0].c,
            triangles[1].c,
        ];
        if DAabb::of_points(corners).distance(point) > nearest.distance {
            return;
        }
        for triangle in triangles {
            let found = triangle.closest_point(point).point;
            let distance = found.distance(point);
            if distance < nearest.distance {
                *nearest = Nearest {
                    point: found,
                    distance,
                    normal: triangle.normal().unwrap_or(DVec3::Z),
                };
            }
        }
    }

    /// Returns distance and gradient at a point of the block's box.
    fn sample_within(&self, point: DVec3) -> (f64, DVec3) {
        let (nearest, above) = self.nearest_ground(point);
        let mut depth = nearest.distance;
        let away = point - nearest.point;
        // Closer than this, the difference of the points is mostly rounding; it tends to the
        // normal.
        let noise = 1e-9 * self.block.max.abs().max(self.block.min.abs()).max_element();
        let outward = if depth > noise {
            away / if above { depth } else { -depth }
        } else {
            nearest.normal
        };
        if above {
            return (depth, outward);
        }
        let mut outward = outward;
        let (from_min, from_max) = (point - self.block.min, self.block.max - point);
        for (distance, normal) in [
            (from_min.x, DVec3::NEG_X),
            (from_max.x, DVec3::X),
            (from_min.y, DVec3::NEG_Y),
            (from_max.y, DVec3::Y),
            (from_min.z, DVec3::NEG_Z),
        ] {
            if distance < depth {
                depth = distance;
                outward = normal;
            }
        }
        (-depth, outward)
    }

    fn sample_in_f64(&self, point: DVec3) -> (f64, DVec3) {
        let border = self.block.closest_point(point);
        let (distance, gradient) = self.sample_within(border);
        if border == point {
            (distance, gradient)
        } else {
            let (bound, slope) = sample_beyond(point - border, distance, gradient);
            (bound, slope.try_normalize().unwrap_or(gradient))
        }
    }
}

fn to_f32(distance: f64) -> f32 {
    (distance as f32).clamp(f32::MIN, f32::MAX)
}

impl Field for HeightField {
    fn bounds(&self) -> Aabb {
        // Base and top are exact `f32`; the footprint's far side is rounded, and one step up
        // contains it.
        let max = self.block.max.as_vec3();
        Aabb::new(
            self.block.min.as_vec3(),
            Vec3::new(max.x.next_up(), max.y.next_up(), max.z),
        )
    }

    fn error_bound(&self) -> f32 {
        rounding::error_of(rounding::largest_coordinate(self.bounds()))
    }

    fn distance(&self, point: Vec3) -> f32 {
        to_f32(self.sample_in_f64(point.as_dvec3()).0)
    }

    /// Samples the terrain. On the ground itself the gradient is the normal of a triangle there.
    /// Where ground, walls and base are equally near, the gradient belongs to the first in that
    /// order.
    fn sample(&self, point: Vec3) -> Sample {
        let (distance, gradient) = self.sample_in_f64(point.as_dvec3());
        Sample {
            distance: to_f32(distance),
            gradient: gradient.as_vec3(),
        }
    }

    /// Returns the value at the centre of the cell ± the half-diagonal. Outside the box the upper
    /// end is the distance to the box's border plus the value there.
    fn interval(&self, cell: Aabb) -> Interval {
        let Some(ball) = CellBall::of(cell) else {
            return Interval::EVERYTHING;
        };
        let margin = rounding::slack(ball.magnitude + rounding::largest_coordinate(self.bounds()));
        let center = ball.center.as_dvec3();
        let border = self.block.closest_point(center);
        let (at_border, gradient) = self.sample_within(border);
        if border == center {
            return ball.values(to_f32(at_border), margin);
        }
        let way_out = center - border;
        let (bound, _) = sample_beyond(way_out, at_border, gradient);
        Interval::new(
            ball.values(to_f32(bound), margin).lower,
            ball.values(to_f32(at_border.max(0.0) + way_out.length()), margin)
                .upper,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_field_is_a_box() -> Result<(), HeightFieldError> {
        let field = HeightField::new(vec![2.0; 12], 4, Vec2::new(1.0, 2.0), 0.0)?;
        assert_eq!(field.resolution(), [4, 3]);
        for (point, expected) in [
            (Vec3::new(1.5, 2.0, 1.0), -1.0),
            (Vec3::new(0.25, 2.0, 1.0), -0.25),
            (Vec3::new(1.5, 3.9, 1.0), -0.1),
            (Vec3::new(1.5, 2.0, 5.0), 3.0),
            (Vec3::new(-3.0, -4.0, 1.0), 5.0),
        ] {
            let distance = field.distance(point);
            assert!((distance - expected).abs() < 1e-6, "{point}: {distance}");
        }
        Ok(())
    }

    #[test]
    fn bad_grids_are_refused_with_their_numbers() {
        let make = |heights: &[f32], columns, spacing: f32| {
            HeightField::new(heights.to_vec(), columns, Vec2::splat(spacing), 0.0)
        };
        assert_eq!(
            make(&[1.0, 2.0], 2, 1.0),
            Err(HeightFieldError::TooFew {
                columns: 2,
                rows: 1
            })
        );
        assert!(matches!(
            make(&[], 0, 1.0),
            Err(HeightFieldError::TooFew { .. })
        ));
        assert!(matches!(
            make(&[1.0; 5], 2, 1.0),
            Err(HeightFieldError::WrongCount { given: 5, .. })
        ));
        for spacing in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(make(&[1.0; 4], 2, spacing).is_err());
        }
        for height in [-0.1, f32::NAN, f32::INFINITY] {
            let error = make(&[1.0, 1.0, 1.0, height], 2, 1.0);
            assert!(
                matches!(
                    error,
                    Err(HeightFieldError::Height {
                        column: 1,
                        row: 1,
                        ..
                    })
                ),
                "{error:?}"
            );
        }
    }
}
