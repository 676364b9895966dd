//! The parts that a sparse field refuses, and its values at odd points.

mod sparse_parts;

use glam::Vec3;
use sparse_parts::parts;
use touchfield::field::{Field, PLAIN, SparseBlocks, SparseError, SparseParts, SparseValues};
use touchfield::geom::Aabb;

#[test]
fn parts_that_do_not_fit_are_refused() {
    let (layout, good) = parts();
    assert_eq!(SparseBlocks::new(layout, good.clone()).unwrap().levels(), 2);
    let refused = |change: &dyn Fn(&mut SparseParts)| {
        let mut bad = good.clone();
        change(&mut bad);
        SparseBlocks::new(layout, bad).unwrap_err()
    };
    let counts: [&dyn Fn(&mut SparseParts); 5] = [
        &|p| p.nodes.truncate(3),
        &|p| p.cells.push(PLAIN),
        &|p| p.children.truncate(7),
        &|p| p.children.push(PLAIN),
        &|p| p.values = SparseValues::Bits16(vec![0; 53]),
    ];
    for change in counts {
        assert!(matches!(refused(change), SparseError::WrongCount { .. }));
    }
    let references: [&dyn Fn(&mut SparseParts); 4] = [
        &|p| p.cells[1] = 0,
        &|p| p.cells[1] = 7,
        &|p| p.children[0] = 0,
        &|p| p.children[3] = 1,
    ];
    for change in references {
        assert!(matches!(refused(change), SparseError::BadReference { .. }));
    }
    let blocks: [&dyn Fn(&mut SparseParts); 9] = [
        &|p| p.blocks[0].cells_log2 = 0,
        &|p| p.blocks[0].cells_log2 = 200,
        &|p| p.blocks[1].first_value = usize::MAX,
        &|p| p.blocks[0].children = 5,
        &|p| p.blocks[0].lowest = f32::NAN,
        &|p| p.blocks[0].step = f32::INFINITY,
        &|p| p.blocks[0].step = -1.0,
        &|p| p.blocks[0].error = f32::NAN,
        &|p| p.children[0] = PLAIN,
    ];
    for change in blocks {
        assert!(matches!(refused(change), SparseError::BadBlock { .. }));
    }
    let grids: [&dyn Fn(&mut SparseParts); 4] = [
        &|p| p.nodes[4] = f32::NAN,
        &|p| p.plain_error = -1.0,
        &|p| p.solid = Aabb::new(Vec3::ZERO, Vec3::splat(f32::INFINITY)),
        &|p| p.values = SparseValues::Bits32(vec![f32::NAN; 54]),
    ];
    for change in grids {
        assert!(matches!(refused(change), SparseError::Grid(_)));
    }
}

#[test]
fn odd_points_get_an_answer() {
    let (layout, parts) = parts();
    let field = SparseBlocks::new(layout, parts).unwrap();
    for point in [
        Vec3::NAN,
        Vec3::INFINITY,
        Vec3::splat(1e38),
        Vec3::new(2.0, 1.0, 1.0),
        Vec3::new(1.0, 0.0, 1.0),
    ] {
        let sample = field.sample(point);
        assert!(!point.is_finite() || sample.distance.is_finite() && sample.gradient.is_finite());
    }
}
