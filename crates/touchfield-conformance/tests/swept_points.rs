//! Points that move against fields: the spans found are those of the same interpolant, followed in
//! small steps in `f64`.
//!
//! `TOUCHFIELD_LONG=1` tests 100,000 segments per field; with `TOUCHFIELD_FIELD=WORD` only fields
//! whose name contains the word.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use glam::{DVec3, UVec3, Vec3};
use touchfield::field::primitive::{Cuboid, HalfSpace, Sphere};
use touchfield::field::{Field, FieldOctree, StoredField};
use touchfield::narrow::swept_points::{
    Roots, SegmentSettings, SegmentSpans, Span, SweptError, SweptField, Wanted, cross_segment,
    cross_segments,
};
use touchfield_conformance::interpolants::interpolate;
use touchfield_conformance::meshes::*;
use touchfield_conformance::random::Random;
use touchfield_conformance::random_fields::{random_dense, random_sparse};
use touchfield_conformance::representations::ALL;

/// Returns the number of segments per field, each tested with and without an octree.
fn segments() -> usize {
    match is_long() {
        true => 100_000,
        false => 1_500,
    }
}

/// Returns every kind of stored field: with random values, and of meshes.
fn fields() -> Vec<(String, StoredField)> {
    let mut fields = vec![
        (
            "random dense".to_owned(),
            StoredField::Dense(random_dense(1, UVec3::new(9, 8, 7))),
        ),
        (
            "random cell".to_owned(),
            StoredField::Dense(random_dense(2, UVec3::ONE)),
        ),
        (
            // Larger than a tile of blocks.
            "random large".to_owned(),
            StoredField::Dense(random_dense(4, UVec3::new(40, 37, 6))),
        ),
    ];
    for seed in 0..6 {
        let sparse = random_sparse(seed, UVec3::new(7, 5, 6));
        fields.push((format!("random sparse {seed}"), StoredField::Sparse(sparse)));
    }
    let mesh = model("torus_knot");
    for representation in ALL {
        let field = representation.bake(&mesh, 24).unwrap();
        fields.push((representation.name(), field));
    }
    if let Ok(word) = std::env::var("TOUCHFIELD_FIELD") {
        fields.retain(|(name, _)| name.contains(&word));
    }
    fields
}

/// Returns a segment with ends anywhere in and around the box, on nodes, on planes of nodes, equal
/// along axes, or equal.
fn random_segment(random: &mut Random, field: &StoredField) -> [Vec3; 2] {
    let bounds = field.bounds();
    let around = bounds.grown(0.2 * bounds.diagonal());
    let layout = field.layout();
    let mut point = || {
        let free = random
            .in_box(around.min.as_dvec3(), around.max.as_dvec3())
            .as_vec3();
        let node =
            UVec3::from([0, 1, 2].map(|axis| random.below(layout.nodes[axis] as usize) as u32));
        let on_node = layout.node_position(node).as_vec3();
        match random.below(4) {
            0 => on_node,
            1 => {
                let axis = random.below(3);
                let mut point = free;
                point[axis] = on_node[axis];
                point
            }
            _ => free,
        }
    };
    let (from, mut to) = (point(), point());
    match random.below(6) {
        0 => {
            let axis = random.below(3);
            to[axis] = from[axis];
        }
        1 => {
            let axis = random.below(3);
            let along = to[axis];
            to = from;
            to[axis] = along;
        }
        2 => to = from + 0.01 * (to - from),
        3 if random.below(10) == 0 => to = from,
        _ => {}
    }
    [from, to]
}

struct Checked {
    /// Whether values outside are compared. Bounds made of discontinuous values are discontinuous.
    outside: bool,
    crossings: usize,
    doubles: usize,
    worst: f64,
}

/// Follows the interpolant in small steps and compares the spans with it.
fn check(
    field: &StoredField,
    [from, to]: [Vec3; 2],
    level: f32,
    spans: &[Span],
    checked: &mut Checked,
) {
    let (from, to) = (from.as_dvec3(), to.as_dvec3());
    let at = |time: f64| from + time * (to - from);
    let level = f64::from(level);
    let bounds = field.bounds();
    let (low, high) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
    let is_inside = |point: DVec3| point.cmpge(low).all() && point.cmple(high).all();
    // Positive above the level; `None` if too near to the level to decide, or too near to the side
    // of a cell.
    let compares_outside = checked.outside;
    let above = |time: f64| -> Option<f64> {
        let point = at(time);
        if is_inside(point) {
            let here = interpolate(field, point);
            let scale = here.cell_size + here.value.abs();
            let value = here.value - level;
            (here.to_side > 1e-9 && value.abs() > 1e-6 * scale).then_some(value)
        } else {
            let value = f64::from(field.distance(point.as_vec3())) - level;
            // Outside there are only bounds, no more accurate than the field's own error.
            let unsure = field.error_bound().max(1e-4 * field.bounds().diagonal());
            (compares_outside && value.abs() > f64::from(unsure)).then_some(value)
        }
    };
    for pair in spans.windows(2) {
        assert!(pair[0].leave < pair[1].enter, "spans overlap: {spans:?}");
    }
    let in_contact = |time: f64| {
        spans
            .iter()
            .any(|span| span.enter <= time && time <= span.leave)
    };
    let finest = f64::from(field.finest_cell_size());
    let cells = (to - from).length() / finest;
    let steps = (8.0 * cells).ceil().clamp(8.0, 2000.0) as usize;
    let ends: Vec<f64> = spans
        .iter()
        .flat_map(|span| [span.enter, span.leave])
        .collect();
    let mut last: Option<(f64, f64)> = None;
    for k in 0..=steps {
        // Offset, so that steps do not fall on sides of cells.
        let time = ((k as f64 + 0.37) / (steps as f64 + 0.5)).min(1.0);
        let Some(value) = above(time) else {
            last = None;
            continue;
        };
        assert_eq!(
            in_contact(time),
            value <= 0.0,
            "at {time} of {from} to {to} the field is {value} above the level {level}; spans {spans:?}"
        );
        // A change of sign is a crossing at a known place.
        if let Some((before, value_before)) = last
            && (value_before <= 0.0) != (value <= 0.0)
        {
            let (mut a, mut b) = (before, time);
            for _ in 0..60 {
                let middle = 0.5 * (a + b);
                let inside = is_inside(at(middle));
                let value = if inside {
                    interpolate(field, at(middle)).value - level
                } else {
                    f64::from(field.distance(at(middle).as_vec3())) - level
                };
                if (value <= 0.0) == (value_before <= 0.0) {
                    a = middle;
                } else {
                    b = middle;
                }
            }
            if is_inside(at(a)) && is_inside(at(b)) {
                let nearest = ends
                    .iter()
                    .map(|end| (end - a).abs())
                    .fold(f64::INFINITY, f64::min);
                let off = nearest * cells;
                checked.worst = checked.worst.max(off);
                checked.crossings += 1;
                // The truth reads the nodes of a Taylor grid in `f32`: where the field is nearly
                // flat, that moves a crossing.
                let rounded = matches!(field, StoredField::Taylor(_)) && off < 1e-3;
                assert!(
                    off < 1e-5 || rounded,
                    "crossing at {a} is {off} cells off; spans {spans:?}"
                );
            }
        }
        last = Some((time, value));
    }
    // Every end is a place where the field is at the level, or a side where it is discontinuous.
    for (index, span) in spans.iter().enumerate() {
        for end in [span.enter, span.leave] {
            let point = at(end);
            if end == 0.0 || end == 1.0 || !is_inside(point) {
                continue;
            }
            let here = interpolate(field, point);
            let slope = 1e-5 * 4.0 * (here.cell_size + here.value.abs());
            assert!(
                (here.value - level).abs() < slope || here.to_side < 1e-9,
                "span {index} of {spans:?} ends at {}, not at {level}",
                here.value
            );
        }
        let one_cell = (span.leave - span.enter) * cells < 0.1;
        checked.doubles += usize::from(one_cell && span.enter > 0.0 && span.leave < 1.0);
    }
}

/// Returns the spans without those spans and gaps that rounding can create or lose, at corners
/// where cells meet.
fn without_specks(spans: &[Span]) -> Vec<Span> {
    let mut kept: Vec<Span> = Vec::new();
    for &span in spans.iter().filter(|span| span.leave - span.enter > 1e-7) {
        match kept.last_mut() {
            Some(last) if span.enter - last.leave < 1e-7 => last.leave = span.leave,
            _ => kept.push(span),
        }
    }
    kept
}

#[test]
fn spans_are_those_of_the_interpolant_for_every_kind_of_field() {
    for (name, field) in fields() {
        let octree = FieldOctree::build(&field);
        let targets = [
            SweptField::stored(&field, None),
            SweptField::stored(&field, Some(&octree)),
        ];
        let random = &mut Random::new(17);
        let mut checked = Checked {
            outside: !name.starts_with("random sparse"),
            crossings: 0,
            doubles: 0,
            worst: 0.0,
        };
        let inner = field.bounds().diagonal();
        for _ in 0..segments() {
            let mut segment = random_segment(random, &field);
            if name.starts_with("random") {
                // Outside, the true spans are unknown.
                let bounds = field.bounds();
                segment = segment.map(|end| end.clamp(bounds.min, bounds.max));
            }
            let level = match random.below(3) {
                0 => 0.0,
                1 => random.uniform(-0.05, 0.1) as f32 * inner,
                _ => random.uniform(-0.01, 0.01) as f32 * inner,
            };
            let settings = SegmentSettings {
                level,
                ..SegmentSettings::default()
            };
            let [from, to] = segment;
            let found = [0, 1].map(|which| {
                let target = &targets[which];
                let mut spans = Vec::new();
                cross_segment(target, from, to, &settings, &mut spans).unwrap();
                check(&field, segment, level, &spans, &mut checked);
                // Queries for less return the same.
                for wanted in [Wanted::First, Wanted::Onset, Wanted::Whether] {
                    let settings = SegmentSettings { wanted, ..settings };
                    let mut few = Vec::new();
                    cross_segment(target, from, to, &settings, &mut few).unwrap();
                    assert_eq!(few.len(), spans.len().min(1), "{name} {wanted:?}");
                    for (few, first) in few.iter().zip(&spans) {
                        let is_whole = wanted != Wanted::First || few.leave == first.leave;
                        assert!(few.enter == first.enter && few.leave <= first.leave && is_whole);
                    }
                }
                without_specks(&spans)
            });
            // Skipped blocks change nothing but the rounding of times. Outside, times are no more
            // accurate than the field's error.
            let is_inside = segment.iter().all(|&end| field.bounds().contains(end));
            let [cells, blocks] = &found;
            let is_same = cells.len() == blocks.len()
                && cells.iter().zip(blocks).all(|(a, b)| {
                    (a.enter - b.enter).abs() < 1e-7 && (a.leave - b.leave).abs() < 1e-7
                });
            assert!(
                is_same || !is_inside,
                "{name}: {cells:?} cell by cell, {blocks:?} by blocks, level {level}, {segment:?}"
            );
        }
        println!(
            "{name}: {} crossings, {} short spans, worst {:.1e} cells",
            checked.crossings, checked.doubles, checked.worst
        );
        assert!(checked.crossings > segments() / 20);
    }
}

/// Several segments at a time, for a field of every kind and for one larger than a tile of blocks:
/// the same bits as one by one, for every query.
#[test]
fn many_segments_are_what_single_ones_are() {
    let large = StoredField::Dense(random_dense(3, UVec3::new(70, 9, 41)));
    let mut out = SegmentSpans::default();
    for (name, field) in fields().into_iter().chain([("large".to_owned(), large)]) {
        let octree = FieldOctree::build(&field);
        let mut random = Random::new(77);
        for target in [
            SweptField::stored(&field, None),
            SweptField::stored(&field, Some(&octree)),
        ] {
            for wanted in [Wanted::All, Wanted::First, Wanted::Onset] {
                let settings = SegmentSettings {
                    level: 0.1 * field.finest_cell_size(),
                    wanted,
                    ..Default::default()
                };
                let segments: Vec<[Vec3; 2]> = (0..123)
                    .map(|_| random_segment(&mut random, &field))
                    .collect();
                cross_segments(&target, &segments, &settings, &mut out).unwrap();
                assert_eq!(out.len(), segments.len());
                let mut spans = Vec::new();
                for (index, &[from, to]) in segments.iter().enumerate() {
                    cross_segment(&target, from, to, &settings, &mut spans).unwrap();
                    assert_eq!(out.of(index), spans, "{name} {index} {wanted:?}");
                }
                assert!(out.of(segments.len()).is_empty());
            }
        }
        let bad = [[Vec3::ZERO, Vec3::ONE], [Vec3::NAN, Vec3::ONE]];
        let target = SweptField::stored(&field, Some(&octree));
        let refused = cross_segments(&target, &bad, &SegmentSettings::default(), &mut out);
        assert!(matches!(refused, Err(SweptError::BadSegment { .. })) && out.is_empty());
    }
}

#[test]
fn a_double_crossing_in_one_cell_is_found_and_lost_by_the_documents_way() {
    let field = StoredField::Dense(random_dense(1, UVec3::new(9, 8, 7)));
    let target = SweptField::stored(&field, None);
    let random = &mut Random::new(5);
    let (mut more, mut same) = (0, 0);
    let (mut exact, mut signs) = (Vec::new(), Vec::new());
    for _ in 0..2000 {
        let [from, to] = random_segment(random, &field);
        let settings = SegmentSettings::default();
        cross_segment(&target, from, to, &settings, &mut exact).unwrap();
        let settings = SegmentSettings {
            roots: Roots::FalsePosition { iterations: 5 },
            ..settings
        };
        cross_segment(&target, from, to, &settings, &mut signs).unwrap();
        assert!(signs.len() <= exact.len());
        more += usize::from(signs.len() < exact.len());
        if signs.len() == exact.len() {
            for (a, b) in exact.iter().zip(&signs) {
                // In the same cell, or next to it.
                let cells = f64::from(from.distance(to)) / 0.75;
                assert!((a.enter - b.enter).abs() * cells < 1.8);
            }
            same += 1;
        }
    }
    assert!(more > 20 && same > 1000, "{more} lost, {same} the same");
}

#[test]
fn closed_forms_have_exact_times() {
    let random = &mut Random::new(3);
    let mut spans = Vec::new();
    let plane = HalfSpace::new(Vec3::Z, 0.1).unwrap();
    let ball = Sphere::new(0.5).unwrap();
    let cuboid = Cuboid::new(Vec3::new(0.3, 0.4, 0.5)).unwrap();
    for _ in 0..5_000 {
        let [from, to] = [0, 1].map(|_| {
            random
                .in_box(DVec3::splat(-2.0), DVec3::splat(2.0))
                .as_vec3()
        });
        let way = (to - from).as_dvec3();
        let origin = from.as_dvec3();
        let level = random.uniform(0.0, 0.2) as f32;
        let settings = SegmentSettings {
            level,
            ..SegmentSettings::default()
        };
        let mut check = |field: &dyn Field, expected: Option<[f64; 2]>, doubtful: bool| {
            cross_segment(&SweptField::new(field), from, to, &settings, &mut spans).unwrap();
            let expected = expected
                .map(|[a, b]| [a.max(0.0), b.min(1.0)])
                .filter(|[a, b]| a <= b);
            match (expected, spans.as_slice()) {
                (None, []) => {}
                (Some([enter, leave]), [span]) => {
                    assert!((span.enter - enter).abs() < 1e-5, "{span:?} {expected:?}");
                    assert!((span.leave - leave).abs() < 1e-5, "{span:?} {expected:?}");
                }
                _ => assert!(doubtful, "{expected:?} but {spans:?}"),
            }
        };
        let (height, falls) = (origin.z - 0.1 - f64::from(level), way.z);
        let at = -height / falls;
        let span = if falls < 0.0 {
            [at, f64::INFINITY]
        } else {
            [f64::NEG_INFINITY, at]
        };
        check(&plane, Some(span), (at - 1.0).abs().min(at.abs()) < 1e-4);
        // |o + t w|² = r²
        let radius = 0.5 + f64::from(level);
        let (a, b, c) = (
            way.length_squared(),
            origin.dot(way),
            origin.length_squared() - radius * radius,
        );
        let root = b * b - a * c;
        let span = (root >= 0.0).then(|| [(-b - root.sqrt()) / a, (-b + root.sqrt()) / a]);
        let grazes = root.abs() < 1e-3;
        let ends = span.is_some_and(|span| {
            span.iter()
                .any(|t| t.abs() < 1e-4 || (t - 1.0).abs() < 1e-4)
        });
        if !grazes {
            check(&ball, span, ends);
        }
        if level < 0.1 {
            continue;
        }
        // A box: by slabs, at level 0.
        let half = DVec3::new(f64::from(0.3f32), f64::from(0.4f32), 0.5);
        let (mut enter, mut leave) = (f64::NEG_INFINITY, f64::INFINITY);
        for axis in 0..3 {
            let ends = [-half[axis], half[axis]].map(|side| (side - origin[axis]) / way[axis]);
            enter = enter.max(ends[0].min(ends[1]));
            leave = leave.min(ends[0].max(ends[1]));
        }
        let settings = SegmentSettings::default();
        cross_segment(&SweptField::new(&cuboid), from, to, &settings, &mut spans).unwrap();
        let (first, last) = (enter.max(0.0), leave.min(1.0));
        if last - first > 1e-3 {
            assert_eq!(spans.len(), 1);
            assert!((spans[0].enter - first).abs() < 2e-5 && (spans[0].leave - last).abs() < 2e-5);
        } else if last - first < -1e-3 {
            assert!(spans.is_empty());
        }
    }
}

#[test]
fn touching_counts_and_no_motion_is_a_motion() {
    let mut spans = Vec::new();
    let settings = SegmentSettings::default();
    let ball = Sphere::new(0.5).unwrap();
    let target = SweptField::new(&ball);
    let inside = Vec3::new(0.1, 0.2, 0.0);
    cross_segment(&target, inside, inside, &settings, &mut spans).unwrap();
    assert_eq!(
        spans,
        [Span {
            enter: 0.0,
            leave: 1.0
        }]
    );
    cross_segment(&target, Vec3::ONE, Vec3::ONE, &settings, &mut spans).unwrap();
    assert!(spans.is_empty());
    // A plane of nodes at exactly zero: a segment that ends on it touches.
    let layout = touchfield::field::GridLayout {
        origin: Vec3::ZERO,
        cell_size: 1.0,
        nodes: UVec3::splat(5),
    };
    let values = (0..125).map(|node| (node / 25) as f32 - 2.0).collect();
    let field = touchfield::field::DenseGrid::new(layout, values, layout.bounds(), 0.0).unwrap();
    let field = StoredField::Dense(field);
    let octree = FieldOctree::build(&field);
    for target in [
        SweptField::stored(&field, None),
        SweptField::stored(&field, Some(&octree)),
    ] {
        let (above, on) = (Vec3::new(1.5, 1.5, 4.0), Vec3::new(1.5, 1.5, 2.0));
        cross_segment(&target, above, on, &settings, &mut spans).unwrap();
        assert!(spans.len() == 1 && spans[0].enter > 1.0 - 1e-12 && spans[0].leave == 1.0);
        cross_segment(&target, on, above, &settings, &mut spans).unwrap();
        assert!(spans.len() == 1 && spans[0].enter == 0.0 && spans[0].leave < 1e-12);
        let along = Vec3::new(3.5, 0.5, 2.0);
        cross_segment(&target, on, along, &settings, &mut spans).unwrap();
        assert_eq!(
            spans,
            [Span {
                enter: 0.0,
                leave: 1.0
            }]
        );
    }
}

#[test]
fn what_is_no_segment_is_refused() {
    let ball = Sphere::new(0.5).unwrap();
    let target = SweptField::new(&ball);
    let mut spans = Vec::new();
    for bad in [Vec3::splat(f32::NAN), Vec3::new(f32::INFINITY, 0.0, 0.0)] {
        let refused = cross_segment(
            &target,
            Vec3::ZERO,
            bad,
            &SegmentSettings::default(),
            &mut spans,
        );
        assert!(matches!(refused, Err(SweptError::BadSegment { .. })));
    }
    let settings = SegmentSettings {
        level: f32::NAN,
        ..SegmentSettings::default()
    };
    let refused = cross_segment(&target, Vec3::ZERO, Vec3::ONE, &settings, &mut spans);
    assert!(matches!(refused, Err(SweptError::BadLevel(_))));
    // Ends near the limit of f32 are accepted.
    let far = Vec3::splat(3e38);
    cross_segment(&target, -far, far, &SegmentSettings::default(), &mut spans).unwrap();
}
