//! The octree over sparse fields compared with a test of every cell.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use glam::{DVec3, UVec3, Vec3};
use touchfield::bake::{BakeSettings, Bits, Resolution, SparseGoal, SparseSettings, bake_sparse};
use touchfield::field::{Field, PLAIN, SparseBlocks, SparseOctree, SparseValues};
use touchfield::geom::{Aabb, DAabb, Interval};
use touchfield::mesh::TriangleMesh;
use touchfield_conformance::meshes::*;
use touchfield_conformance::random::Random;
use touchfield_conformance::random_fields::random_sparse;

const BITS: [Bits; 3] = [Bits::Eight, Bits::Sixteen, Bits::ThirtyTwo];

fn baked(mesh: &TriangleMesh, nodes: u32, goal: SparseGoal, bits: Bits) -> SparseBlocks {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..BakeSettings::default()
    };
    let sparse = SparseSettings {
        goal,
        bits,
        conservative: false,
    };
    let quiet = |_| ControlFlow::Continue(());
    bake_sparse(mesh, &settings, &sparse, &quiet).unwrap().field
}

/// A finest cell, and the range of its corners.
struct Finest {
    region: DAabb,
    range: Interval,
}

/// Returns all finest cells, by walking the parts.
fn finest_cells(field: &SparseBlocks) -> Vec<Finest> {
    let (layout, parts) = (field.layout(), field.parts());
    let size = f64::from(layout.cell_size);
    let mut found = Vec::new();
    let cells = layout.cells();
    for (index, &reference) in parts.cells.iter().enumerate() {
        let index = index as u32;
        let cell = UVec3::new(
            index % cells.x,
            index / cells.x % cells.y,
            index / cells.x / cells.y,
        );
        let origin = layout.origin.as_dvec3() + size * cell.as_dvec3();
        if reference == PLAIN {
            let values = corners(cell).map(|node| parts.nodes[layout.node_index(node)]);
            found.push(Finest {
                region: cube(origin, size),
                range: range_of(values),
            });
        } else {
            add_finest(field, reference, origin, size, &mut found);
        }
    }
    found
}

fn add_finest(field: &SparseBlocks, block: u32, origin: DVec3, size: f64, found: &mut Vec<Finest>) {
    let parts = field.parts();
    let block = &parts.blocks[block as usize];
    let side = block.side();
    let own = size / f64::from(side);
    for index in 0..side.pow(3) {
        let cell = UVec3::new(index % side, index / side % side, index / side / side);
        let origin = origin + own * cell.as_dvec3();
        let child = match block.children {
            PLAIN => PLAIN,
            first => parts.children[(first + index) as usize],
        };
        if child != PLAIN {
            add_finest(field, child, origin, own, found);
            continue;
        }
        let value = |node: UVec3| {
            let row = side + 1;
            let at = block.first_value + ((node.z * row + node.y) * row + node.x) as usize;
            match &parts.values {
                SparseValues::Bits8(values) => block.lowest + block.step * f32::from(values[at]),
                SparseValues::Bits16(values) => block.lowest + block.step * f32::from(values[at]),
                SparseValues::Bits32(values) => values[at],
            }
        };
        found.push(Finest {
            region: cube(origin, own),
            range: range_of(corners(cell).map(value)),
        });
    }
}

fn corners(cell: UVec3) -> [UVec3; 8] {
    [0, 1, 2, 3, 4, 5, 6, 7].map(|i: u32| cell + UVec3::new(i & 1, i >> 1 & 1, i >> 2))
}

fn cube(min: DVec3, size: f64) -> DAabb {
    DAabb {
        min,
        max: min + size,
    }
}

fn range_of(values: [f32; 8]) -> Interval {
    let least = values.into_iter().fold(f32::INFINITY, f32::min);
    let largest = values.into_iter().fold(f32::NEG_INFINITY, f32::max);
    Interval::new(least, largest)
}

/// Returns random fields, and baked ones with every number of bits, in a band and to a tolerance,
/// in a random pose.
fn fields() -> Vec<SparseBlocks> {
    let sizes = [
        UVec3::ONE,
        UVec3::new(1, 2, 5),
        UVec3::new(3, 4, 2),
        UVec3::new(9, 1, 1),
        UVec3::new(5, 4, 6),
    ];
    let mut fields: Vec<SparseBlocks> = (0..15)
        .map(|seed| random_sparse(seed, sizes[seed as usize % 5]))
        .collect();
    let mut random = Random::new(4);
    let rotation = random.quaternion();
    let mut mesh = model("mug");
    for vertex in &mut mesh.vertices {
        *vertex = rotation * *vertex + DVec3::new(3.0, -1.0, 0.5);
    }
    let tolerance = SparseGoal::Tolerance(1e-2 * mesh.bounds().diagonal());
    for bits in BITS {
        fields.push(baked(&mesh, 40, SparseGoal::Band(2.0), bits));
        fields.push(baked(&mesh, 16, tolerance, bits));
    }
    fields
}

/// Returns whether two boxes share more than a border, up to rounding.
fn overlap(a: DAabb, b: DAabb) -> bool {
    let little = 1e-3 * (a.max - a.min).min(b.max - b.min);
    (a.min + little).cmplt(b.max).all() && (b.min + little).cmplt(a.max).all()
}

/// Checks the property itself for every node, and that the stored steps lose no more than allowed.
#[test]
fn every_node_holds_its_cells_and_little_more() {
    for field in fields() {
        let tree = SparseOctree::build(&field);
        let cells = finest_cells(&field);
        let whole = f64::from(tree.whole().width());
        let mut finest = 0;
        let mut nodes = Vec::new();
        tree.descend(&field, |node| {
            finest += usize::from(node.is_finest);
            nodes.push(node);
            true
        });
        assert_eq!(finest, cells.len(), "each finest cell once");
        let mut random = Random::new(1);
        // All nodes of a small tree; the large nodes and some of the others of a large one.
        let share = 4e7 / (nodes.len() as f64 * cells.len() as f64);
        for (index, node) in nodes.iter().enumerate() {
            if index > 40 && random.uniform(0.0, 1.0) > share {
                continue;
            }
            let region = node.region.as_daabb();
            let within = cells.iter().filter(|cell| overlap(cell.region, region));
            let mut hull = Interval::new(f32::INFINITY, f32::NEG_INFINITY);
            for cell in within {
                hull.lower = hull.lower.min(cell.range.lower);
                hull.upper = hull.upper.max(cell.range.upper);
            }
            let (kept, own) = (node.range, hull);
            assert!(
                kept.lower <= own.lower && own.upper <= kept.upper,
                "{kept:?} does not hold {own:?} in {region:?}"
            );
            // Values below a block count too, so the range is exact only for fields with a single
            // level.
            if field.levels() < 2 {
                let step = whole / 65_535.0;
                let wider = f64::from(kept.width()) - f64::from(own.width());
                let block = f64::from(field.layout().cell_size);
                let most = 2.0 * step + 2.0 / 255.0 * block.max(whole);
                assert!(wider <= most + 1e-6, "{kept:?} for {own:?}");
                if node.is_finest {
                    assert_eq!(kept, own);
                }
            }
        }
    }
}

#[test]
fn exactly_the_cells_that_hold_a_level_are_visited_once_each() {
    for field in fields() {
        let tree = SparseOctree::build(&field);
        let cells = finest_cells(&field);
        let smallest = 0.25 * f64::from(field.finest_cell_size());
        let key = |region: DAabb| {
            let place = (region.center() - field.bounds().as_daabb().min) / smallest;
            place.round().as_i64vec3().to_array()
        };
        let at_a_corner = cells[cells.len() / 2].range.lower;
        for level in [-2.0, 0.0, 0.3, 1.0, at_a_corner, 7.0, f32::NAN] {
            let mut visited = Vec::new();
            tree.visit_level(&field, level, |region| {
                visited.push(key(region.as_daabb()));
            });
            let found: BTreeSet<_> = visited.iter().copied().collect();
            assert_eq!(found.len(), visited.len(), "a cell was visited twice");
            let holding = cells.iter().filter(|cell| cell.range.contains(level));
            let expected: BTreeSet<_> = holding.map(|cell| key(cell.region)).collect();
            assert_eq!(found, expected, "{level}");
        }
    }
}

#[test]
fn skipped_boxes_hold_the_point_and_no_cell_with_the_level() {
    let mut random = Random::new(2);
    for field in fields() {
        let tree = SparseOctree::build(&field);
        let cells = finest_cells(&field);
        let bounds = field.bounds().as_daabb();
        let mut skipped = 0;
        for _ in 0..300 {
            let point = random.in_box(bounds.min, bounds.max).as_vec3();
            let level = match random.below(3) {
                0 => 0.0,
                1 => cells[random.below(cells.len())].range.upper,
                _ => random.uniform(-1.0, 1.0) as f32,
            };
            let around = |cell: &&Finest| cell.region.contains(point.as_dvec3());
            match tree.largest_without(&field, point, level) {
                Some(region) => {
                    skipped += 1;
                    let region = region.as_daabb();
                    let little = 1e-5 * bounds.diagonal();
                    assert!(region.grown(little).contains(point.as_dvec3()));
                    let within = cells.iter().filter(|cell| overlap(cell.region, region));
                    for cell in within {
                        assert!(
                            !cell.range.contains(level),
                            "{level} is in {:?}",
                            cell.region
                        );
                    }
                }
                // Between two cells, rounding decides which one is used.
                None => {
                    let mut own = cells.iter().filter(around);
                    assert!(own.any(|cell| cell.range.contains(level)));
                }
            }
        }
        let outside = (bounds.max + 1.0).as_vec3();
        for level in [0.0, 1e30] {
            assert_eq!(tree.largest_without(&field, outside, level), None);
        }
        let middle = bounds.center().as_vec3();
        let all = tree.largest_without(&field, middle, 1e30).unwrap();
        assert_eq!(all, field.bounds());
        println!("{skipped} of 300 skipped");
    }
}

/// The purpose of skipping: far from the surface boxes are large, and near it they are smaller than
/// a block.
#[test]
fn the_size_of_skipped_boxes_follows_the_distance() {
    let field = baked(
        &icosphere(1.0, 4),
        200,
        SparseGoal::Band(3.0),
        Bits::Sixteen,
    );
    let tree = SparseOctree::build(&field);
    let coarse = field.layout().cell_size;
    let side = |x: f32| {
        let point = x * Vec3::new(0.6, 0.64, 0.48);
        let region = tree.largest_without(&field, point, 0.0);
        region.map_or(0.0, |region| region.extents().max_element() / coarse)
    };
    assert!(side(0.0) >= 4.0, "{}", side(0.0));
    assert!(side(1.0) <= 0.5, "{}", side(1.0));
    let near: Vec<f32> = (0..9).map(|i| side(1.0 + 0.004 * i as f32)).collect();
    assert!(
        near.iter().any(|&side| (0.2..0.8).contains(&side)),
        "{near:?}"
    );
}

#[test]
fn ranges_over_boxes_hold_every_sample_and_are_tight_to_whole_cells() {
    let mut random = Random::new(3);
    for field in fields() {
        let tree = SparseOctree::build(&field);
        let cells = finest_cells(&field);
        let bounds = field.bounds().as_daabb();
        for _ in 0..60 {
            let center = random.in_box(bounds.min - 0.1, bounds.max + 0.1);
            let half = random.log_uniform(1e-6, 3.0) * random.in_box(DVec3::ZERO, DVec3::ONE);
            let region = Aabb::from_center(center.as_vec3(), half.as_vec3());
            let inside = region.intersection(field.bounds());
            let Some(range) = tree.range(&field, region) else {
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
                if inside.contains(point) {
                    let value = field.distance(point);
                    assert!(range.contains(value), "{value} not in {range:?} at {point}");
                }
            }
            let around = inside.as_daabb().grown(1e-4);
            let near = cells.iter().filter(|cell| {
                cell.region.min.cmple(around.max).all() && around.min.cmple(cell.region.max).all()
            });
            let (least, largest) = near.fold((f32::INFINITY, f32::NEG_INFINITY), |ends, cell| {
                (ends.0.min(cell.range.lower), ends.1.max(cell.range.upper))
            });
            let step = 0.02 * tree.whole().width();
            if field.levels() < 2 {
                assert!(range.lower >= least - step && range.upper <= largest + step);
            }
        }
        let far = Aabb::from_center(Vec3::splat(99.0), Vec3::ONE);
        for region in [Aabb::EMPTY, far, Aabb::new(Vec3::NAN, Vec3::ONE)] {
            assert_eq!(tree.range(&field, region), None);
        }
    }
}

#[test]
fn the_tree_takes_less_than_a_tenth_of_any_field() {
    let mesh = model("gear");
    let tolerance = SparseGoal::Tolerance(2e-3 * mesh.bounds().diagonal());
    for bits in BITS {
        for (nodes, goal) in [(128, SparseGoal::Band(3.0)), (16, tolerance)] {
            let field = baked(&mesh, nodes, goal, bits);
            let tree = SparseOctree::build(&field);
            let share = tree.bytes() as f64 / field.bytes() as f64;
            println!("{bits:?}, {goal:?}: {:.2} %", 100.0 * share);
            assert!(share < 0.1, "{share}");
        }
    }
}

#[test]
fn the_same_tree_over_thread_counts() {
    let field = random_sparse(4, UVec3::new(7, 8, 9));
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| SparseOctree::build(&field))
    };
    let one = with(1);
    for threads in [2, 5] {
        assert!(with(threads) == one, "{threads} threads");
    }
}

#[test]
#[should_panic(expected = "another field")]
fn another_field_is_refused() {
    let tree = SparseOctree::build(&random_sparse(1, UVec3::ONE));
    let other = random_sparse(2, UVec3::new(2, 2, 2));
    let _ = tree.range(&other, other.bounds());
}
