//! Distances computed by the caller: a promise that is kept holds for the field, and a broken one
//! is located.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests: a failed unwrap is a failed test"
)]

use glam::{DVec3, UVec3, Vec3};
use touchfield::bake::{Given, GivenError, Promise, given_grid};
use touchfield::field::{Field, GridLayout, SignMethod};
use touchfield::geom::Aabb;
use touchfield_conformance::field_suite::check_field;
use touchfield_conformance::random::Random;

fn torus(p: DVec3) -> f64 {
    let around = (p.x * p.x + p.y * p.y).sqrt() - 0.8;
    (around * around + p.z * p.z).sqrt() - 0.3
}

fn layout() -> GridLayout {
    GridLayout {
        origin: Vec3::new(-1.5, -1.4, -0.6),
        cell_size: 0.1,
        nodes: UVec3::new(31, 29, 13),
    }
}

fn node(index: usize) -> UVec3 {
    let n = layout().nodes;
    let index = index as u32;
    UVec3::new(index % n.x, index / n.x % n.y, index / n.x / n.y)
}

/// Returns the torus at the nodes, off by up to `noise`.
fn given(noise: f64, promise: Promise) -> Given {
    let mut random = Random::new(5);
    let values = (0..layout().node_count() as usize)
        .map(|index| {
            let off = random.in_box(DVec3::splat(-noise), DVec3::splat(noise)).x;
            (torus(layout().node_position(node(index))) + off) as f32
        })
        .collect();
    Given {
        layout: layout(),
        values,
        solid: None,
        promise,
        rounded: 1e-7,
    }
}

#[test]
fn what_follows_from_the_promise_holds() {
    for noise in [0.0, 0.004, 0.06] {
        let (grid, provenance) = given_grid(given(noise, Promise::NodeError(noise))).unwrap();
        let expected = noise + 0.5 * 3f64.sqrt() * 0.1;
        let bound = f64::from(grid.error_bound());
        assert!(
            (expected..expected + 1e-4).contains(&bound),
            "{bound} for {expected}"
        );
        assert_eq!(provenance.sign_method, SignMethod::Given);
        // The suite also tests outside, where the box that was found must contain the surface.
        check_field(&grid, Some(&torus), "torus", 1, 3000).unwrap();
        let solid = grid.solid();
        let truth = Aabb::from_center(Vec3::ZERO, Vec3::new(1.1, 1.1, 0.3));
        assert_eq!(solid.union(truth), solid, "{solid:?}");
        let torn = provenance
            .notes
            .iter()
            .any(|note| note.contains("exceed 1"));
        assert_eq!(torn, noise > 0.0, "{:?}", provenance.notes);
    }
    let (grid, _) = given_grid(given(0.0, Promise::ErrorBound(0.01))).unwrap();
    assert!((grid.error_bound() - 0.01).abs() < 1e-6);
    // A promise that is too good but plausible cannot be detected; it is the caller's
    // responsibility.
    check_field(&grid, Some(&torus), "torus, as promised", 1, 3000).unwrap_err();
    let (grid, _) = given_grid(given(0.0, Promise::ErrorBound(0.0875))).unwrap();
    check_field(&grid, Some(&torus), "torus, as promised", 1, 3000).unwrap();
}

#[test]
fn broken_promises_are_found_where_they_are() {
    let error = |change: &dyn Fn(&mut Given)| {
        let mut wrong = given(0.0, Promise::NodeError(0.001));
        change(&mut wrong);
        given_grid(wrong).unwrap_err()
    };
    let index = layout().node_index(UVec3::new(7, 8, 9));
    let spike = error(&|given| given.values[index] += 0.3);
    assert!(
        matches!(spike, GivenError::TooSteep { count: 3..=6, node, next, .. }
            if next == UVec3::new(7, 8, 9) && node == UVec3::new(7, 8, 8)),
        "{spike}"
    );
    let scaled = error(&|given| given.values.iter_mut().for_each(|v| *v *= 1.2));
    assert!(
        matches!(scaled, GivenError::TooSteep { count: 1000.., .. }),
        "{scaled}"
    );
    let deeper = error(&|given| given.values.iter_mut().for_each(|v| *v -= 0.35));
    assert!(
        matches!(deeper, GivenError::LeavesGrid { value, .. } if value < 0.0),
        "{deeper}"
    );
    let small = Aabb::from_center(Vec3::ZERO, Vec3::splat(0.9));
    let boxed = error(&|given| given.solid = Some(small));
    assert!(matches!(boxed, GivenError::BadSolid { .. }), "{boxed}");
    let cut = error(&|given| given.values.truncate(9));
    assert!(matches!(cut, GivenError::Grid(_)), "{cut}");
    let nan = error(&|given| given.values[index] = f32::NAN);
    assert!(matches!(nan, GivenError::Grid(_)), "{nan}");
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let none = error(&|given| given.promise = Promise::ErrorBound(bad));
        assert!(matches!(none, GivenError::BadPromise(_)), "{none}");
    }
    // No node inside: the box is that of the grid, and this is not an error.
    let mut far = given(0.0, Promise::NodeError(0.0));
    far.values.iter_mut().for_each(|v| *v += 1.0);
    let (grid, _) = given_grid(far).unwrap();
    assert_eq!(grid.solid(), grid.bounds());
}

/// A ball around the centre of a cell at the border: every node is outside, and half of the ball
/// beyond the grid.
#[test]
fn a_solid_between_the_nodes_of_the_border_is_found() {
    let layout = layout();
    let middle = layout.node_position(UVec3::new(7, 9, 0)) + DVec3::new(0.05, 0.05, 0.0);
    let values = (0..layout.node_count() as usize)
        .map(|index| (layout.node_position(node(index)).distance(middle) - 0.0705) as f32)
        .collect::<Vec<_>>();
    assert!(values.iter().all(|&value| value > 0.0));
    let ball = Given {
        values,
        ..given(0.0, Promise::NodeError(0.0))
    };
    let found = given_grid(ball);
    assert!(
        matches!(found, Err(GivenError::LeavesGrid { .. })),
        "{found:?}"
    );
}
