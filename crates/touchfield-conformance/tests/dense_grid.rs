//! The dense grid as a field: the suite of all fields on baked and hand-made grids, and its own
//! gradient.
#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use glam::{DVec3, UVec3, Vec3};
use touchfield::bake::{BakeSettings, Resolution};
use touchfield::field::{DenseGrid, Field, GridError, GridLayout};
use touchfield::geom::Aabb;
use touchfield::mesh::{TriangleMesh, generate};
use touchfield_conformance::bake_suite::bake_quietly;
use touchfield_conformance::closed_forms;
use touchfield_conformance::field_suite::{check_field, worst_slope_in_cells};
use touchfield_conformance::meshes::*;
use touchfield_conformance::random::Random;

fn baked(mesh: &TriangleMesh, nodes: u32) -> DenseGrid {
    let settings = BakeSettings {
        resolution: Resolution::Nodes(nodes),
        ..BakeSettings::default()
    };
    bake_quietly(mesh, &settings).unwrap().field
}

/// Returns the grid with a bound that also covers the deviation of the mesh from the shape it
/// represents.
fn for_shape(grid: &DenseGrid, deviation: f32) -> DenseGrid {
    let solid = grid.solid().grown(deviation);
    DenseGrid::new(
        *grid.layout(),
        grid.values().to_vec(),
        solid,
        grid.error_bound() + deviation,
    )
    .unwrap()
}

#[track_caller]
fn passes(grid: &DenseGrid, truth: &dyn Fn(DVec3) -> f64, name: &str) {
    for seed in 1..=2 {
        match check_field(grid, Some(truth), name, seed, 2000) {
            Ok(report) => println!("{report}"),
            Err(broken) => panic!("{broken}"),
        }
    }
}

#[test]
fn baked_boxes_pass_the_suite() {
    for scale in [1e-6, 0.01, 1.0, 300.0] {
        let mesh = squeezed(cube(2), scale * DVec3::new(1.0, 0.4, 0.7));
        passes(
            &baked(&mesh, 24),
            &closed_forms::cuboid(scale * DVec3::new(1.0, 0.4, 0.7)),
            "box",
        );
    }
}

#[test]
fn baked_balls_and_rings_pass_the_suite() {
    let ball = icosphere(1.0, 4);
    let sagitta = ball
        .triangles()
        .map(|t| 1.0 - t.centroid().length())
        .fold(0.0, f64::max);
    let grid = for_shape(&baked(&ball, 30), sagitta as f32 + 1e-6);
    passes(&grid, &|p| p.length() - 1.0, "ball");
    let ring = generate::torus(generate::Torus {
        major_radius: 1.0,
        minor_radius: 0.3,
        major_segments: 96,
        minor_segments: 48,
    })
    .unwrap();
    let truth = |p: DVec3| (p.truncate().length() - 1.0).hypot(p.z) - 0.3;
    let deviation = ring
        .triangles()
        .map(|t| truth(t.centroid()).abs())
        .fold(0.0, f64::max);
    // Midpoints of long edges deviate as well, by no more than twice the centroid.
    passes(
        &for_shape(&baked(&ring, 30), 2.0 * deviation as f32 + 1e-6),
        &truth,
        "ring",
    );
}

#[test]
fn a_grid_of_whole_numbers_by_hand() {
    // Distance to the plane x = 1, over 4 × 3 × 2 nodes: the interpolant is exact.
    let layout = GridLayout {
        origin: Vec3::new(-1.0, 0.0, 0.0),
        cell_size: 1.0,
        nodes: UVec3::new(4, 3, 2),
    };
    let values: Vec<f32> = (0..24).map(|i| (i % 4) as f32 - 2.0).collect();
    let grid = DenseGrid::new(layout, values, Aabb::EMPTY, 1e-6).unwrap();
    assert_eq!(grid.distance(Vec3::new(0.25, 1.5, 0.5)), -0.75);
    assert_eq!(grid.sample(Vec3::new(2.0, 2.0, 1.0)).gradient, Vec3::X);
    let interval = grid.interval(Aabb::new(
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(1.0, 1.0, 1.0),
    ));
    assert!(
        interval.lower <= -1.0 && interval.upper >= 0.0 && interval.width() < 1.1,
        "{interval:?}"
    );
}

/// Differences along one axis within a cell are exact for a trilinear function, up to rounding.
#[test]
fn the_gradient_is_that_of_the_interpolant_in_its_cell() {
    let grid = baked(&random_star(1), 20);
    let worst = worst_slope_in_cells(&grid, grid.layout(), 2);
    assert!(worst < 2e-4, "{worst}");
}

#[test]
fn points_that_are_no_number_give_an_answer_and_infinite_ones_are_far() {
    let grid = baked(&cube(1), 12);
    let odd = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        0.0,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
    ];
    for x in odd {
        for y in odd {
            for z in odd {
                let point = Vec3::new(x, y, z);
                let sample = grid.sample(point);
                assert_eq!(sample.distance.to_bits(), grid.distance(point).to_bits());
                let interval = grid.interval(Aabb::new(point, point));
                if point.is_nan() {
                    // A NaN point is nowhere, and never reported as touching.
                    assert!(!(sample.distance <= 0.0), "{sample:?} at {point}");
                } else {
                    assert!(
                        !sample.distance.is_nan() && !sample.gradient.is_nan(),
                        "{sample:?} at {point}"
                    );
                    assert!(interval.lower <= interval.upper, "{interval:?} at {point}");
                    if !point.is_finite() {
                        assert_eq!(sample.distance, f32::INFINITY, "at {point}");
                    }
                }
            }
        }
    }
}

/// Grids of numbers so large that their squares, and nearly their sums, overflow `f32`.
#[test]
fn the_largest_grids_give_finite_values_at_every_finite_point() {
    for cell_size in [1e-30f32, 0.5, 1e30] {
        let layout = GridLayout {
            origin: Vec3::ZERO,
            cell_size,
            nodes: UVec3::splat(2),
        };
        let most = 1e37 * cell_size.min(1.0);
        let values = (0..8).map(|node| if node % 3 == 0 { -most } else { most });
        for corner in [0.0, 1e37] {
            let solid = Aabb::new(
                Vec3::splat(-corner),
                layout.bounds().max.max(Vec3::splat(corner)),
            );
            let grid = DenseGrid::new(layout, values.clone().collect(), solid, 1e37).unwrap();
            let inside = [0.0, 0.3, 0.5, 1.0].map(|cells| cells * cell_size);
            let outside = [f32::MIN, -1e37, -1e20, 1e20, 1e37, f32::MAX];
            let along: Vec<f32> = inside.into_iter().chain(outside).collect();
            for i in 0..along.len().pow(3) {
                let at = |i: usize| along[i % along.len()];
                let point = Vec3::new(at(i), at(i / along.len()), at(i / along.len().pow(2)));
                let sample = grid.sample(point);
                assert!(
                    sample.distance.is_finite() && sample.gradient.is_finite(),
                    "{sample:?} at {point:?} in cells of {cell_size:e}, box to {corner:e}"
                );
                assert_eq!(sample.distance.to_bits(), grid.distance(point).to_bits());
            }
        }
    }
}

/// Far out a body is a point: the gradient is the direction from it, although the squares of the
/// coordinates overflow.
#[test]
fn far_gradients_point_away_from_the_body() {
    let grid = baked(&cube(1), 12);
    let mut random = Random::new(8);
    for _ in 0..5000 {
        let way = random.in_box(-DVec3::ONE, DVec3::ONE);
        let point = (random.log_uniform(1e9, 3e38) * way.normalize()).as_vec3();
        let expected = point.as_dvec3().normalize().as_vec3();
        let found = grid.sample(point).gradient;
        assert!(
            found.distance(expected) < 1e-6,
            "{found} instead of {expected} at {point:?}"
        );
    }
}

#[test]
fn boxes_turned_inside_out_do_not_panic() {
    let grid = baked(&cube(1), 12);
    let mut random = Random::new(3);
    for _ in 0..2000 {
        let low = random.in_box(-1.5 * DVec3::ONE, 1.5 * DVec3::ONE).as_vec3();
        let high = random.in_box(-1.5 * DVec3::ONE, 1.5 * DVec3::ONE).as_vec3();
        let _ = grid.interval(Aabb::new(low, high));
    }
}

/// If the sign is discontinuous in a hole, the centre of a cell does not determine the sign
/// elsewhere in it.
#[test]
fn intervals_over_a_torn_sign_hold_both_sides() {
    let mut half = icosphere(1.0, 3);
    let ball = half.clone();
    half.faces
        .retain(|face| face.iter().any(|&v| ball.vertices[v as usize].z < 0.0));
    let grid = baked(&half, 16);
    let exact =
        touchfield::bake::ExactDistance::new(&half, touchfield::bake::SignChoice::Auto).unwrap();
    let mut random = Random::new(4);
    for _ in 0..3000 {
        let center = random.in_box(-DVec3::ONE, DVec3::ONE);
        let reach = random.log_uniform(1e-2, 1.0) * random.in_box(DVec3::splat(0.1), DVec3::ONE);
        let cell = Aabb::new((center - reach).as_vec3(), (center + reach).as_vec3());
        let interval = grid.interval(cell);
        let point = random.in_box(cell.as_daabb().min, cell.as_daabb().max);
        let truth = exact.distance(point);
        assert!(
            f64::from(interval.lower) <= truth && truth <= f64::from(interval.upper),
            "{interval:?} over {cell:?} misses {truth} at {point}"
        );
    }
}

#[test]
fn grids_that_make_no_sense_are_refused() {
    let layout = GridLayout {
        origin: Vec3::ZERO,
        cell_size: 1.0,
        nodes: UVec3::splat(2),
    };
    let new = |layout, values, bound| DenseGrid::new(layout, values, Aabb::EMPTY, bound);
    assert!(new(layout, vec![1.0; 8], 0.5).is_ok());
    assert!(matches!(
        new(layout, vec![1.0; 7], 0.5),
        Err(GridError::WrongCount { .. })
    ));
    assert!(matches!(
        new(layout, vec![f32::NAN; 8], 0.5),
        Err(GridError::BadValue { .. })
    ));
    for bound in [f32::NAN, -1.0, f32::INFINITY, f32::MAX] {
        assert!(matches!(
            new(layout, vec![1.0; 8], bound),
            Err(GridError::BadErrorBound(_))
        ));
    }
    for value in [f32::MAX, -1.1e37] {
        assert!(matches!(
            new(layout, vec![value; 8], 0.5),
            Err(GridError::BadValue { .. })
        ));
    }
    for corner in [Vec3::INFINITY, Vec3::MAX] {
        for solid in [Aabb::new(Vec3::ZERO, corner), Aabb::new(-corner, Vec3::ONE)] {
            assert!(matches!(
                DenseGrid::new(layout, vec![1.0; 8], solid, 0.5),
                Err(GridError::BadSolid(_))
            ));
        }
    }
    for cell_size in [0.0, -1.0, f32::NAN, f32::INFINITY, f32::MAX] {
        let layout = GridLayout {
            cell_size,
            ..layout
        };
        assert!(
            matches!(
                new(layout, vec![1.0; 8], 0.5),
                Err(GridError::BadGeometry { .. })
            ),
            "{cell_size}"
        );
    }
    for nodes in [UVec3::ZERO, UVec3::new(1, 2, 2), UVec3::MAX] {
        assert!(new(GridLayout { nodes, ..layout }, vec![1.0; 8], 0.5).is_err());
    }
}
