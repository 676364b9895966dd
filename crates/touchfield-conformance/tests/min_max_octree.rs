//! The min/max octree compared with a test of every cell.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: a failed unwrap is a failed test"
)]

use std::collections::BTreeSet;

use glam::{DVec3, UVec3, Vec3};
use touchfield::bake::{BakeSettings, Resolution};
use touchfield::field::{CellRanges, Cells, DenseGrid, Field, GridLayout, LeafSide, MinMaxOctree};
use touchfield::geom::{Aabb, Interval};
use touchfield_conformance::bake_suite::bake_quietly;
use touchfield_conformance::meshes::*;
use touchfield_conformance::random::Random;

const SIDES: [LeafSide; 2] = [LeafSide::Four, LeafSide::Eight];

/// Numbers of nodes: two, powers of two, one more and one less, and very unequal ones.
const SIZES: [[u32; 3]; 9] = [
    [2, 2, 2],
    [2, 2, 40],
    [2, 9, 2],
    [5, 5, 5],
    [8, 9, 10],
    [9, 9, 9],
    [17, 16, 18],
    [33, 7, 12],
    [70, 2, 3],
];

fn grid(nodes: [u32; 3], mut value: impl FnMut() -> f32) -> DenseGrid {
    let layout = GridLayout {
        origin: Vec3::new(-0.3, 1.0, 0.7),
        cell_size: 0.1,
        nodes: nodes.into(),
    };
    let values = (0..layout.node_count()).map(|_| value()).collect();
    DenseGrid::new(layout, values, Aabb::EMPTY, 1e37).unwrap()
}

/// Returns a random grid: few distinct values, so that levels are often met exactly; huge values;
/// or any.
fn random_grid(nodes: [u32; 3], kind: usize, random: &mut Random) -> DenseGrid {
    let pick: Vec<f32> = vec![-1e36, -1.0, -0.0, 0.0, f32::MIN_POSITIVE, 1e-42, 1.0, 1e36];
    grid(nodes, || match kind {
        0 => random.below(4) as f32 - 1.0,
        1 => pick[random.below(pick.len())],
        _ => random.uniform(-1.0, 1.0) as f32,
    })
}

fn cells_of(grid: &DenseGrid) -> Vec<UVec3> {
    let last = grid.layout().cells() - UVec3::ONE;
    let first = UVec3::ZERO;
    Cells { first, last }.iter().collect()
}

/// Returns the range of the eight corners, looked up one by one.
fn corner_range(grid: &DenseGrid, cell: UVec3) -> (f32, f32) {
    let values: Vec<f32> = (0..8u32)
        .map(|i| cell + UVec3::new(i & 1, i >> 1 & 1, i >> 2))
        .map(|node| grid.values()[grid.layout().node_index(node)])
        .collect();
    let least = values.iter().copied().fold(f32::INFINITY, f32::min);
    (least, values.into_iter().fold(f32::NEG_INFINITY, f32::max))
}

fn all_grids() -> Vec<DenseGrid> {
    let mut random = Random::new(1);
    let grids = SIZES
        .into_iter()
        .flat_map(|size| [0, 1, 2].map(|kind| (size, kind)));
    grids
        .map(|(size, kind)| random_grid(size, kind, &mut random))
        .collect()
}

#[test]
fn exactly_the_cells_that_hold_a_level_are_visited_once_each() {
    for grid in all_grids() {
        for side in SIDES {
            let tree = MinMaxOctree::build(&grid, side);
            for level in [-1e36, -1.0, -0.5, 0.0, 0.3, 1.0, 2.0, 1e36, 2e36, f32::NAN] {
                let mut visited = Vec::new();
                tree.visit_level(&grid, level, |cell| visited.push(cell.to_array()));
                let found: BTreeSet<_> = visited.iter().copied().collect();
                assert_eq!(visited.len(), found.len(), "a cell was visited twice");
                let holds = |&cell: &UVec3| {
                    let (least, largest) = corner_range(&grid, cell);
                    least <= level && level <= largest
                };
                let cells = cells_of(&grid).into_iter().filter(holds);
                let expected: BTreeSet<_> = cells.map(|cell| cell.to_array()).collect();
                assert_eq!(found, expected, "{level} in {:?}", grid.layout());
            }
        }
    }
}

/// The test σ ≤ φmin of \[XuCcd2014\] would skip such a cell, and lose a surface that touches.
#[test]
fn a_level_that_only_touches_a_cell_is_found() {
    let layout = GridLayout {
        origin: Vec3::ZERO,
        cell_size: 1.0,
        nodes: UVec3::new(20, 3, 3),
    };
    let values: Vec<f32> = (0..180).map(|i| (i % 20) as f32).collect();
    let grid = DenseGrid::new(layout, values, Aabb::EMPTY, 0.1).unwrap();
    let tree = MinMaxOctree::build(&grid, LeafSide::Four);
    let columns = |level: f32| {
        let mut columns = BTreeSet::new();
        tree.visit_level(&grid, level, |cell| {
            columns.insert(cell.x);
        });
        columns.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(columns(0.0), [0]);
    assert_eq!(columns(19.0), [18]);
    assert_eq!(columns(8.0), [7, 8], "a leaf ends at node 8");
    assert_eq!(columns(8.5), [8]);
    assert_eq!(tree.largest_without(UVec3::new(7, 0, 0), 8.0), None);
    assert_eq!(
        tree.largest_without(UVec3::new(3, 0, 0), 8.0).unwrap().last,
        UVec3::new(3, 1, 1)
    );
}

#[test]
fn skipped_blocks_hold_the_cell_and_not_the_level_and_could_not_be_larger() {
    let mut random = Random::new(2);
    for grid in all_grids() {
        let cells = cells_of(&grid);
        for side in SIDES {
            let tree = MinMaxOctree::build(&grid, side);
            for _ in 0..200 {
                let cell = cells[random.below(cells.len())];
                let level = random.below(5) as f32 - 1.5;
                let crossed = |block: Cells| {
                    block.iter().any(|cell| {
                        let (least, largest) = corner_range(&grid, cell);
                        least <= level && level <= largest
                    })
                };
                // A block whose cells all miss the level, some above and some below, still contains
                // it.
                let range = |block: Cells| {
                    let ranges = block.iter().map(|cell| corner_range(&grid, cell));
                    ranges.fold((f32::INFINITY, f32::NEG_INFINITY), |a, b| {
                        (a.0.min(b.0), a.1.max(b.1))
                    })
                };
                let leaf = if side == LeafSide::Four { 4 } else { 8 };
                let mut expected = None;
                let mut size = leaf;
                loop {
                    let first = cell / size * size;
                    let last = (first + size).min(grid.layout().cells()) - UVec3::ONE;
                    let (least, largest) = range(Cells { first, last });
                    if level < least || level > largest {
                        expected = Some(Cells { first, last });
                    }
                    if first == UVec3::ZERO && last + UVec3::ONE == grid.layout().cells() {
                        break;
                    }
                    size *= 2;
                }
                let found = tree.largest_without(cell, level);
                assert_eq!(found, expected);
                assert!(found.is_none_or(|block| block.contains(cell) && !crossed(block)));
            }
            assert_eq!(tree.largest_without(grid.layout().cells(), 9e36), None);
        }
    }
}

#[test]
fn ranges_over_boxes_hold_every_sample_and_are_tight_to_whole_leaves() {
    let mut random = Random::new(3);
    for grid in all_grids() {
        let bounds = grid.layout().bounds().as_daabb();
        for side in SIDES {
            let tree = MinMaxOctree::build(&grid, side);
            for _ in 0..100 {
                let center = random.in_box(bounds.min - 0.1, bounds.max + 0.1);
                let half = random.log_uniform(1e-6, 3.0) * random.in_box(DVec3::ZERO, DVec3::ONE);
                let region = Aabb::from_center(center.as_vec3(), half.as_vec3());
                let inside = region.intersection(grid.layout().bounds());
                let Some(range) = tree.range(region) else {
                    assert!(inside.is_empty());
                    continue;
                };
                for i in 0..40 {
                    let point = if i < 8 {
                        inside.corners()[i]
                    } else {
                        let inside = inside.as_daabb();
                        random.in_box(inside.min, inside.max).as_vec3()
                    };
                    if !inside.contains(point) {
                        continue;
                    }
                    let value = grid.distance(point);
                    assert!(range.contains(value), "{value} not in {range:?} at {point}");
                }
                assert!(tree.whole().lower <= range.upper && range.lower <= tree.whole().upper);
            }
            // No wider than the leaves around it, up to rounding.
            let cell = UVec3::ZERO;
            let middle = grid.layout().node_position(cell) + 0.05;
            let range = tree
                .range(Aabb::from_center(middle.as_vec3(), Vec3::splat(1e-3)))
                .unwrap();
            let leaf = if side == LeafSide::Four { 4 } else { 8 };
            let last = UVec3::splat(leaf).min(grid.layout().cells()) - UVec3::ONE;
            let own = grid.range(Cells { first: cell, last });
            let rounding = 1e-6 * own.lower.abs().max(own.upper.abs()) + 1e-30;
            assert!(range.lower >= own.lower - rounding && range.upper <= own.upper + rounding);
        }
    }
}

#[test]
fn boxes_without_points_of_the_grid_have_no_range() {
    let grid = grid([5, 6, 7], || 1.0);
    let tree = MinMaxOctree::build(&grid, LeafSide::Four);
    let far = Aabb::from_center(Vec3::splat(9.0), Vec3::ONE);
    let nan = Aabb::new(Vec3::NAN, Vec3::ONE);
    for region in [Aabb::EMPTY, far, nan] {
        assert_eq!(tree.range(region), None);
    }
    assert!(tree.range(Aabb::EVERYTHING).unwrap().contains(1.0));
    let corner = grid.layout().bounds().max;
    assert!(tree.range(Aabb::new(corner, corner)).is_some());
}

/// A source in which some ranges are NaN.
struct Broken(GridLayout);

impl CellRanges for Broken {
    fn layout(&self) -> &GridLayout {
        &self.0
    }

    fn range(&self, cells: Cells) -> Interval {
        match cells.first.x / 8 {
            0 => Interval::new(f32::NAN, 1.0),
            1 => Interval::new(5.0, 4.0),
            _ => Interval::new(1.0, 2.0),
        }
    }
}

#[test]
fn a_range_that_is_no_number_is_never_skipped() {
    let layout = *grid([25, 5, 5], || 0.0).layout();
    let source = Broken(layout);
    let tree = MinMaxOctree::build(&source, LeafSide::Four);
    for x in [0, 9] {
        assert_eq!(tree.largest_without(UVec3::new(x, 0, 0), 7.0), None);
    }
    assert!(tree.largest_without(UVec3::new(17, 0, 0), 7.0).is_some());
    let mut first_columns = 0;
    tree.visit_level(&source, 7.0, |cell| first_columns += u32::from(cell.x < 8));
    assert_eq!(first_columns, 8 * 4 * 4);
}

#[test]
fn the_tree_takes_less_than_a_tenth_of_a_baked_grid() {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(64),
        ..BakeSettings::default()
    };
    let grid = bake_quietly(&model("mug"), &settings).unwrap().field;
    let share = |side| MinMaxOctree::build(&grid, side).bytes() as f64 / grid.bytes() as f64;
    let (four, eight) = (share(LeafSide::Four), share(LeafSide::Eight));
    println!("{:.2} % and {:.2} %", 100.0 * four, 100.0 * eight);
    assert!(four < 0.05 && eight < 0.01, "{four} {eight}");
}
