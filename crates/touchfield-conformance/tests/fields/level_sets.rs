//! Offsets and shells: level sets of another field's values.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::{DVec2, DVec3};
use touchfield::field::primitive::{Cylinder, Sphere, Torus};
use touchfield::field::{Field, Intersection, Meaning, Offset, Union, Wall};
use touchfield_conformance::closed_forms::{self, Piece};

use crate::balls::{Pair, arc, unit_balls};
use crate::{passes, polygon};

/// Operands that are only bounds: the solid is the level set of the operand's *values*.
#[test]
fn level_sets_of_unions_and_intersections() {
    let (first, second) = unit_balls(0.5);
    let both = Union { first, second };
    let lens = Intersection { first, second };
    let balls = |radius| Pair { c: 0.5, radius };
    for by in [0.25f32, -0.25] {
        let radius = f64::from(1.0 + by);
        let field = Offset::new(both, by).unwrap();
        passes(&field, &balls(radius).union(), "offset of a union");
        let field = Offset::new(lens, by).unwrap();
        passes(&field, &balls(radius).lens(), "offset of an intersection");
    }
    let (inner, outer) = (balls(0.875), balls(1.125));
    let wall = |pieces: [Vec<Piece>; 2], inside: fn(Pair, DVec2) -> bool| {
        closed_forms::revolved(pieces.concat(), move |p| {
            inside(outer, p) && !inside(inner, p)
        })
    };
    let truth = wall([inner.union_arcs(), outer.union_arcs()], |pair, p| {
        pair.in_upper(p) || pair.in_lower(p)
    });
    passes(&Wall::new(both, 0.25).unwrap(), &truth, "shell of a union");
    let truth = wall([inner.lens_arcs(), outer.lens_arcs()], |pair, p| {
        pair.in_upper(p) && pair.in_lower(p)
    });
    passes(
        &Wall::new(lens, 0.25).unwrap(),
        &truth,
        "shell of an intersection",
    );
}

#[test]
fn offsets_of_convex_and_of_hollow_solids() {
    let (h, r) = (1.0f32, 0.5f32);
    let cylinder = Cylinder::new(h, r).unwrap();
    let g = 0.25;
    let grown = closed_forms::revolved(
        vec![
            Piece::Segment(DVec2::new(0.0, -1.25), DVec2::new(0.5, -1.25)),
            arc(0.5, -1.0, g, -FRAC_PI_2, 0.0),
            Piece::Segment(DVec2::new(0.75, -1.0), DVec2::new(0.75, 1.0)),
            arc(0.5, 1.0, g, 0.0, FRAC_PI_2),
            Piece::Segment(DVec2::new(0.0, 1.25), DVec2::new(0.5, 1.25)),
        ],
        |p| p.distance(DVec2::new(p.x.min(0.5), p.y.clamp(-1.0, 1.0))) < 0.25,
    );
    let field = Offset::new(cylinder, 0.25).unwrap();
    passes(&field, &grown, "grown cylinder");
    let shrunk = closed_forms::revolved_polygon(polygon(&[
        (0.0, -0.75),
        (0.25, -0.75),
        (0.25, 0.75),
        (0.0, 0.75),
    ]));
    let field = Offset::new(cylinder, -0.25).unwrap();
    passes(&field, &shrunk, "shrunk cylinder");
    let gone = Offset::new(cylinder, -0.75).unwrap();
    passes(&gone, &|_| f64::INFINITY, "shrunk to nothing");

    // A torus whose hole is filled: deeper in the middle than the formula gives.
    let truth = closed_forms::revolved(
        vec![
            arc(1.0, 0.0, 1.25, -FRAC_PI_2, FRAC_PI_2),
            arc(1.0, 0.0, 1.25, FRAC_PI_2, PI - 0.8f64.acos()),
            arc(1.0, 0.0, 1.25, PI + 0.8f64.acos(), PI + FRAC_PI_2),
        ],
        |p| p.distance(DVec2::X) < 1.25,
    );
    let ring = Torus::new(1.0, 0.25).unwrap();
    let field = Offset::new(ring, 1.0).unwrap();
    let report = passes(&field, &truth, "filled ring");
    assert!(report.worst_shortfall > 0.1, "{report}");
    assert_eq!(Offset::new(ring, 0.0).unwrap().meaning(), Meaning::Distance);
}

#[test]
fn shells_of_balls_thin_and_filled() {
    for (radius, thickness) in [(1.0f32, 0.25f32), (1.0, 0.0), (0.5, 2.0)] {
        let field = Wall::new(Sphere::new(radius).unwrap(), thickness).unwrap();
        let (inner, outer) = (
            f64::from(radius - 0.5 * thickness),
            f64::from(radius + 0.5 * thickness),
        );
        let truth = move |p: DVec3| {
            let r = p.length();
            if inner <= 0.0 {
                return r - outer;
            }
            let nearest = (r - inner).abs().min((r - outer).abs());
            if inner < r && r < outer {
                -nearest
            } else {
                nearest
            }
        };
        passes(&field, &truth, "shell");
    }
}
