//! The order of accuracy of stored fields, and the accuracy that memory buys.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use touchfield::bake::Bits;
use touchfield_conformance::convergence::*;
use touchfield_conformance::meshes;
use touchfield_conformance::representations::Representation;

#[test]
fn all_but_eight_bits_are_of_second_order_away_from_the_medial_axis() {
    for shape in SHAPES {
        for Curve { kind, measured } in of_shape(shape, &[16, 32, 64, 128]).unwrap() {
            for pair in measured.windows(2) {
                let slopes = [
                    slope(&pair[0], &pair[1], |found| found.largest_error),
                    slope(&pair[0], &pair[1], |found| found.mean_error),
                ];
                println!("{}, {}: {slopes:.2?}", shape.name, kind.name());
                let least = match kind {
                    // Rounding dominates; it shrinks with the cell.
                    Representation::Band(Bits::Eight) => 0.8,
                    _ => 1.8,
                };
                for slope in slopes {
                    assert!(slope > least, "{}, {kind:?}: {slope}", shape.name);
                }
            }
        }
    }
}

#[test]
fn taylor_grids_beat_dense_ones_of_the_same_memory() {
    for shape in SHAPES {
        for cells in [24, 32, 48, 64] {
            let [taylor, dense] = at_equal_memory(shape, cells).unwrap();
            println!("{}, {cells}: {taylor:?} {dense:?}", shape.name);
            assert!(dense.bytes >= taylor.bytes);
            assert!(taylor.largest_error < dense.largest_error);
            assert!(taylor.mean_error < dense.mean_error);
        }
    }
}

/// The edges of the bunny's facets are kinks, so the gain is smaller.
#[test]
fn taylor_grids_beat_dense_ones_of_the_same_memory_on_the_bunny() {
    let Some(bunny) = meshes::bunny() else {
        return;
    };
    for nodes in [48, 96] {
        let taylor = of_mesh_as(&bunny, Representation::Taylor, nodes).unwrap();
        // The first dense grid with as many bytes: some 2.3 times as many nodes, and what bricks
        // waste at the border.
        let mut finer = (nodes * 13 / 10..2 * nodes)
            .map(|finer| of_mesh_as(&bunny, Representation::Dense, finer).unwrap());
        let dense = finer.find(|dense| dense.bytes >= taylor.bytes);
        let dense = dense.expect("a dense grid of eight times the nodes has more bytes");
        println!("{nodes}: {taylor:?} {dense:?}");
        assert!(dense.bytes >= taylor.bytes);
        assert!(taylor.mean_error < dense.mean_error);
    }
}
