//! Vessels: the open bowl, and the mug with its handle.
//!
//! Input: outer sizes \[m\], wall thickness, counts of segments.
//! Output: a closed mesh, the axis along z, open towards +z.
//! Cost: linear in the faces.
//! Not for: glazing; walls have one thickness throughout.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, PI};

use glam::{DVec2, DVec3};

use super::GenerateError;
use super::surface::{Check, Surface, polar, revolved_faces};
use crate::mesh::TriangleMesh;

/// Parameters of a bowl, a part of a spherical shell, see [`bowl`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bowl {
    /// Outer radius \[m\].
    pub radius: f64,
    /// Thickness of the wall \[m\].
    pub wall: f64,
    /// Angle between the downward axis and the rim, seen from the centre \[rad\]; a quarter turn is
    /// a hemisphere.
    pub opening: f64,
    /// Segments around the axis.
    pub segments: u32,
    /// Rows from the bottom to the rim.
    pub rows: u32,
}

impl Default for Bowl {
    fn default() -> Bowl {
        Bowl {
            radius: 0.08,
            wall: 0.004,
            opening: FRAC_PI_2,
            segments: 96,
            rows: 24,
        }
    }
}

/// Generates an open bowl. The origin is the centre of its spheres, and the rim is part of a cone
/// with its apex there. Inner and outer facets are parallel, so the wall may be arbitrarily thin.
pub fn bowl(parameters: Bowl) -> Result<TriangleMesh, GenerateError> {
    let Bowl {
        radius,
        wall,
        opening,
        segments,
        rows,
    } = parameters;
    let check = Check("bowl");
    check.length("radius", radius)?;
    check.length("wall", wall)?;
    check.below("wall", wall, radius, "`radius`, or the bowl is full")?;
    let open = (0.01..=PI - 0.01).contains(&opening);
    check.require(
        open,
        "opening",
        opening,
        "it must lie between 0.01 and π − 0.01 radians",
    )?;
    check.count("segments", segments, 3)?;
    check.count("rows", rows, 1)?;
    let faces = revolved_faces(2 * u64::from(rows) + 2, segments);
    let mut surface = Surface::new("bowl", faces)?;
    let at = |radius: f64, row: u32| {
        let (sin, cos) = (opening * f64::from(row) / f64::from(rows)).sin_cos();
        radius * DVec2::new(sin, -cos)
    };
    let outside = (0..=rows).map(|row| at(radius, row));
    let inside = (0..=rows).rev().map(|row| at(radius - wall, row));
    surface.revolve(&outside.chain(inside).collect::<Vec<_>>(), segments);
    surface.finish()
}

/// Parameters of a cylindrical mug with a handle towards +x, see [`mug`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mug {
    /// Outer radius \[m\].
    pub radius: f64,
    /// Height \[m\]; the mug stands on z = 0.
    pub height: f64,
    /// Thickness of wall and bottom \[m\].
    pub wall: f64,
    /// Radius of the handle's tube \[m\].
    pub handle_radius: f64,
    /// Distance of the tube's centre line from the wall \[m\].
    pub handle_reach: f64,
    /// Distance between the centres of the handle's two joints \[m\].
    pub handle_height: f64,
    /// Segments around the axis.
    pub segments: u32,
    /// Segments along the handle.
    pub handle_segments: u32,
}

impl Default for Mug {
    fn default() -> Mug {
        Mug {
            radius: 0.04,
            height: 0.095,
            wall: 0.0035,
            handle_radius: 0.005,
            handle_reach: 0.03,
            handle_height: 0.055,
            segments: 96,
            handle_segments: 48,
        }
    }
}

/// Relative widening of the handle where it meets the wall: a hint of a fillet.
const FLARE: f64 = 0.4;

/// Segments of the round rim.
const RIM_ROWS: u32 = 8;

/// Generates a mug: one closed surface of body and handle.
///
/// The outer wall is a grid with two round openings; the tube of the handle starts at the border of
/// one and ends at the border of the other, so nothing overlaps and nothing needs to be cut.
pub fn mug(parameters: Mug) -> Result<TriangleMesh, GenerateError> {
    let plan = MugPlan::new(parameters)?;
    let Mug {
        radius,
        height,
        wall,
        segments,
        ..
    } = parameters;
    let mut surface = Surface::new("mug", plan.faces())?;

    // Outer wall: a grid without the two openings.
    let columns = segments as usize;
    let grid: Vec<Vec<Option<u32>>> = (0..plan.levels.len())
        .map(|row| {
            (0..columns)
                .map(|column| {
                    let position = plan.wall_position(row, column)?;
                    Some(surface.vertex(position))
                })
                .collect()
        })
        .collect();
    for (below, above) in grid.iter().zip(&grid[1..]) {
        for column in 0..columns {
            let next = (column + 1) % columns;
            let corners = (below[column], below[next], above[next], above[column]);
            // Every cell of an opening has a missing corner inside the opening.
            if let (Some(a), Some(b), Some(c), Some(d)) = corners {
                surface.quad(a, b, c, d);
            }
        }
    }
    let wall_ring = |row: usize| -> Vec<u32> { grid[row].iter().copied().flatten().collect() };
    let turned = |surface: &mut Surface, radius: f64, z: f64| {
        surface.ring((0..columns).map(|column| polar(radius, plan.angle(column), z)))
    };

    // Foot: the underside, up to the first ring of the wall.
    let foot = turned(&mut surface, radius - plan.foot, 0.0);
    let bottom = surface.vertex(DVec3::ZERO);
    surface.bottom_fan(bottom, &foot);
    surface.band(&foot, &wall_ring(0));

    // Rim, inner wall and inner bottom.
    let half = 0.5 * wall;
    let mut rings = vec![wall_ring(plan.levels.len() - 1)];
    for row in 1..=RIM_ROWS {
        let (sin, cos) = (PI * f64::from(row) / f64::from(RIM_ROWS)).sin_cos();
        rings.push(turned(
            &mut surface,
            radius - half + half * cos,
            height - half + half * sin,
        ));
    }
    let depth = height - half - wall - plan.foot;
    for row in 1..=plan.inner_rows {
        let z = height - half - depth * f64::from(row) / f64::from(plan.inner_rows);
        rings.push(turned(&mut surface, radius - wall, z));
    }
    let inner_foot = turned(&mut surface, radius - wall - plan.foot, wall);
    let inner_bottom = surface.vertex(wall * DVec3::Z);
    surface.top_fan(&inner_foot, inner_bottom);
    rings.push(inner_foot);
    surface.loft(&rings);

    // Handle: from the border of the lower opening to that of the upper one.
    let border = |row: usize, mirrored: bool| -> Vec<u32> {
        let cells = 2 * plan.half_cells;
        let place = |(column, up): (usize, usize)| {
            let up = if mirrored { cells - up } else { up };
            grid[row + up][column]
        };
        square_border(cells).into_iter().filter_map(place).collect()
    };
    let mut rings = vec![border(plan.opening_rows[0], false)];
    for step in 1..parameters.handle_segments {
        rings.push(surface.ring(plan.handle_ring(step)));
    }
    rings.push(border(plan.opening_rows[1], true));
    surface.loft(&rings);
    surface.finish()
}

/// Returns the nodes on the border of a square of `cells` × `cells`, counter-clockwise.
fn square_border(cells: usize) -> Vec<(usize, usize)> {
    let bottom = (0..cells).map(|i| (i, 0));
    let right = (0..cells).map(|i| (cells, i));
    let top = (0..cells).map(|i| (cells - i, cells));
    let left = (0..cells).map(|i| (0, cells - i));
    bottom.chain(right).chain(top).chain(left).collect()
}

/// Layout of the outer wall's rows and the two openings.
struct MugPlan {
    mug: Mug,
    /// Height and inset of the slanted foot \[m\].
    foot: f64,
    /// Heights of the rows of the outer wall \[m\].
    levels: Vec<f64>,
    /// First row of the lower and the upper opening.
    opening_rows: [usize; 2],
    /// Heights of the centres of the two openings \[m\].
    opening_heights: [f64; 2],
    /// Half the height of an opening \[m\].
    opening_radius: f64,
    /// Half the width and height of an opening, in cells.
    half_cells: usize,
    inner_rows: u32,
}

impl MugPlan {
    fn new(mug: Mug) -> Result<MugPlan, GenerateError> {
        let check = Check("mug");
        check.length("radius", mug.radius)?;
        check.length("height", mug.height)?;
        check.length("wall", mug.wall)?;
        check.length("handle_radius", mug.handle_radius)?;
        check.length("handle_reach", mug.handle_reach)?;
        check.length("handle_height", mug.handle_height)?;
        check.count("segments", mug.segments, 12)?;
        check.count("handle_segments", mug.handle_segments, 8)?;
        let room = 0.25 * mug.radius.min(mug.height);
        check.below("wall", mug.wall, room, "a quarter of `radius` and `height`")?;

        // Near an opening the outer facets span up to two columns, and must not reach the inner
        // wall.
        let step = 2.0 * PI / f64::from(mug.segments);
        let facet_depth = mug.radius * (1.0 - step.cos());
        check.require(
            mug.wall > facet_depth,
            "wall",
            mug.wall,
            format!("the facets are {facet_depth} deep: make it thicker or raise `segments`"),
        )?;

        // The handle bends along half an ellipse; its sharpest bends are at the joints and at its
        // farthest point.
        let (reach, half) = (mug.handle_reach, 0.5 * mug.handle_height);
        let opening_radius = (1.0 + FLARE) * mug.handle_radius;
        let sharpest = (reach * reach / half).min(half * half / reach);
        check.below(
            "handle_radius",
            mug.handle_radius,
            sharpest / (1.1 * (1.0 + FLARE)),
            "else the handle would cut itself: more `handle_reach` or `handle_height`",
        )?;
        let middle = 0.5 * mug.height;
        let foot = 0.5 * mug.wall;
        let opening_heights = [middle - half, middle + half];
        let lowest = opening_heights[0] - opening_radius;
        let least_strip = 0.1 * mug.handle_radius;
        check.require(
            lowest > foot + least_strip,
            "handle_height",
            mug.handle_height,
            format!(
                "it must be below {} to fit on the wall",
                2.0 * (middle - opening_radius - foot - least_strip)
            ),
        )?;

        // Openings are a whole number of cells wide; the cells of a coarse wall may be too large.
        let half_cells = (opening_radius / (mug.radius * step)).round().max(1.0);
        let half_angle = half_cells * step;
        check.require(
            half_angle < FRAC_PI_3 && mug.radius * half_angle < 2.0 * opening_radius,
            "segments",
            mug.segments.into(),
            "the handle must be about as wide as a cell of the wall, and thin beside the body: raise it, or change `handle_radius`",
        )?;

        // Roughly square cells between the openings.
        let cell = (mug.radius * step).max(mug.height / f64::from(mug.segments));
        let rows = mug.height / cell;
        check.faces((4.0 * rows * f64::from(mug.segments)) as u64)?;
        let mut levels = vec![foot];
        let mut opening_rows = [0; 2];
        let cells = 2 * half_cells as usize;
        for (opening, &height) in opening_heights.iter().enumerate() {
            rise(&mut levels, height - opening_radius, cell);
            opening_rows[opening] = levels.len() - 1;
            for row in 1..=cells {
                let up = 2.0 * row as f64 / cells as f64 - 1.0;
                levels.push(height + up * opening_radius);
            }
        }
        rise(&mut levels, mug.height - 0.5 * mug.wall, cell);
        let plan = MugPlan {
            mug,
            foot,
            levels,
            opening_rows,
            opening_heights,
            opening_radius,
            half_cells: half_cells as usize,
            inner_rows: (mug.height / cell).ceil() as u32,
        };
        Ok(plan)
    }

    fn faces(&self) -> u64 {
        let rows = self.levels.len() as u64 + u64::from(self.inner_rows + RIM_ROWS) + 4;
        let handle =
            u64::from(self.mug.handle_segments).saturating_mul(16 * self.half_cells as u64);
        rows.saturating_mul(2 * u64::from(self.mug.segments))
            .saturating_add(handle)
    }

    /// Returns the angle of a column of the wall \[rad\]; the openings span columns 0 to
    /// `2 · half_cells`, about angle 0.
    fn angle(&self, column: usize) -> f64 {
        2.0 * PI * (column as f64 - self.half_cells as f64) / f64::from(self.mug.segments)
    }

    /// Returns the position of a node of the outer wall. Nodes on the border of an opening move
    /// onto its ellipse; for those inside it, returns `None`.
    fn wall_position(&self, row: usize, column: usize) -> Option<DVec3> {
        let half = self.half_cells;
        for (first, height) in self.opening_rows.iter().zip(self.opening_heights) {
            let up = row.wrapping_sub(*first);
            if up <= 2 * half && column <= 2 * half {
                let inside = (1..2 * half).contains(&up) && (1..2 * half).contains(&column);
                if inside {
                    return None;
                }
                let on_circle = self.border_direction(column, up);
                let angle = on_circle.x * self.angle(2 * half);
                let z = height + on_circle.y * self.opening_radius;
                return Some(polar(self.mug.radius, angle, z));
            }
        }
        Some(polar(self.mug.radius, self.angle(column), self.levels[row]))
    }

    /// Projects a node on the border of an opening's square onto the unit circle.
    fn border_direction(&self, column: usize, up: usize) -> DVec2 {
        let half = self.half_cells as f64;
        DVec2::new(column as f64 - half, up as f64 - half).normalize_or_zero()
    }

    /// Returns the ring of the handle at a step along it.
    fn handle_ring(&self, step: u32) -> impl Iterator<Item = DVec3> {
        let Mug {
            radius,
            height,
            handle_radius,
            handle_reach,
            handle_height,
            handle_segments,
            ..
        } = self.mug;
        let turn = PI * f64::from(step) / f64::from(handle_segments);
        let (sin, cos) = turn.sin_cos();
        let half = 0.5 * handle_height;
        let center = DVec3::new(radius + handle_reach * sin, 0.0, 0.5 * height - half * cos);
        let travel = DVec3::new(handle_reach * cos, 0.0, half * sin).normalize_or_zero();
        let above = travel.cross(DVec3::Y);
        // The flare fades within a quarter of the way from each joint.
        let near_joint = (1.0 - turn.min(PI - turn) / (0.25 * PI)).max(0.0);
        let tube = handle_radius * (1.0 + FLARE * near_joint * near_joint);
        square_border(2 * self.half_cells)
            .into_iter()
            .map(move |(column, up)| {
                let direction = self.border_direction(column, up);
                center + tube * (direction.x * DVec3::Y + direction.y * above)
            })
    }
}

/// Appends rows up to and including `top`, at most `cell` apart.
fn rise(levels: &mut Vec<f64>, top: f64, cell: f64) {
    let bottom = levels.last().copied().unwrap_or(0.0);
    let steps = ((top - bottom) / cell).ceil().max(1.0);
    for row in 1..=steps as usize {
        levels.push(bottom + (top - bottom) * row as f64 / steps);
    }
}
