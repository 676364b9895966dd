//! Unions, intersections and differences, whose values are bounds.

use std::f64::consts::FRAC_PI_2;

use glam::{DVec2, DVec3, Quat, Vec3};
use touchfield::field::primitive::{Cuboid, HalfSpace, Sphere};
use touchfield::field::{Difference, Field, Intersection, Transformed, Union};
use touchfield::geom::Pose;
use touchfield_conformance::closed_forms::{self, Piece};

use crate::balls::{Pair, arc, moved, unit_balls};
use crate::{passes, polygon};

#[test]
fn unions_of_balls_overlapping_and_apart() {
    for c in [0.25f32, 0.75, 1.5] {
        let (first, second) = unit_balls(c);
        let truth = Pair {
            c: c.into(),
            radius: 1.0,
        }
        .union();
        passes(&Union { first, second }, &truth, "union of balls");
    }
}

#[test]
fn intersections_and_differences_of_balls() {
    let (first, second) = unit_balls(0.6);
    let pair = Pair {
        c: 0.6f32.into(),
        radius: 1.0,
    };
    let lens = Intersection { first, second };
    passes(&lens, &pair.lens(), "intersection of balls");
    let bitten =
        closed_forms::revolved(vec![pair.union_arcs()[0], pair.lens_arcs()[1]], move |p| {
            pair.in_upper(p) && !pair.in_lower(p)
        });
    let field = Difference { first, second };
    passes(&field, &bitten, "difference of balls");
    let (first, second) = unit_balls(1.5);
    let nothing = Intersection { first, second };
    passes(&nothing, &|_| f64::INFINITY, "nothing");
}

#[test]
fn trees_of_operations_in_one_box() {
    // (ball ∪ ball) ∩ below, turned upside down and scaled by two, behind a pointer.
    let (first, second) = unit_balls(0.5);
    let tree = Intersection {
        first: Union { first, second },
        second: HalfSpace::new(Vec3::Z, 0.0).unwrap(),
    };
    let upside_down = Pose {
        rotation: Quat::from_xyzw(1.0, 0.0, 0.0, 0.0),
        translation: Vec3::new(1.0, 2.0, 3.0),
    };
    let field: Box<dyn Field> = Box::new(Transformed::new(tree, upside_down, 2.0).unwrap());
    let pair = Pair {
        c: 0.5,
        radius: 1.0,
    };
    let waist = 0.75f64.sqrt();
    let own = closed_forms::revolved(
        vec![
            pair.union_arcs()[1],
            Piece::Segment(DVec2::ZERO, DVec2::new(waist, 0.0)),
        ],
        move |p| p.y < 0.0 && pair.in_lower(p),
    );
    let truth = move |p: DVec3| {
        let moved = (p - DVec3::new(1.0, 2.0, 3.0)) * DVec3::new(1.0, -1.0, -1.0);
        2.0 * own(moved / 2.0)
    };
    passes(&field, &truth, "tree");
}

#[test]
fn boxes_joined_to_an_l_and_cut_to_one() {
    let slab = |x: f32, y: f32| Cuboid::new(Vec3::new(x, y, 0.5)).unwrap();
    let l = [
        (0.0, 0.0),
        (3.0, 0.0),
        (3.0, 1.0),
        (1.0, 1.0),
        (1.0, 2.0),
        (0.0, 2.0),
    ];
    let truth = closed_forms::extruded_polygon(polygon(&l), 0.5);
    let joined = Union {
        first: moved(slab(1.5, 0.5), 1.5, 0.5, 0.0),
        second: moved(slab(0.5, 1.0), 0.5, 1.0, 0.0),
    };
    passes(&joined, &truth, "L of two boxes");
    let cut = Difference {
        first: moved(slab(1.5, 1.0), 1.5, 1.0, 0.0),
        second: moved(
            Cuboid::new(Vec3::new(1.0, 0.5, 2.0)).unwrap(),
            2.0,
            1.5,
            0.0,
        ),
    };
    // The cut shares two faces with the box, where its value is the rounding of both.
    passes(&cut, &truth, "L cut from a box");
}

#[test]
fn balls_cut_by_planes() {
    let hemisphere = Intersection {
        first: Sphere::new(1.0).unwrap(),
        second: HalfSpace::new(Vec3::Z, 0.0).unwrap(),
    };
    let truth = closed_forms::revolved(
        vec![
            arc(0.0, 0.0, 1.0, -FRAC_PI_2, 0.0),
            Piece::Segment(DVec2::ZERO, DVec2::X),
        ],
        |p| p.length() < 1.0 && p.y < 0.0,
    );
    passes(&hemisphere, &truth, "hemisphere");
    let same = Difference {
        first: Sphere::new(1.0).unwrap(),
        second: HalfSpace::new(-Vec3::Z, 0.0).unwrap(),
    };
    passes(&same, &truth, "ball without its upper half");
    let floor_with_ball = Union {
        first: Sphere::new(1.0).unwrap(),
        second: HalfSpace::new(Vec3::Z, 0.0).unwrap(),
    };
    let truth = closed_forms::revolved(
        vec![
            arc(0.0, 0.0, 1.0, 0.0, FRAC_PI_2),
            Piece::Segment(DVec2::X, DVec2::X * 1e32),
        ],
        |p| p.length() < 1.0 || p.y < 0.0,
    );
    passes(&floor_with_ball, &truth, "ball in a floor");
}
