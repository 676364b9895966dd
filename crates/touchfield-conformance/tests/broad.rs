//! Broad phases compared with all pairs of boxes: the same pairs in the same order, whatever
//! happened before.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: a failed unwrap is a failed test"
)]

use glam::{DVec3, Vec3};
use touchfield::broad::{AabbTree, BoxId, BroadError, BroadPhase, SweepAndPrune};
use touchfield::geom::Aabb;
use touchfield_conformance::random::Random;

/// Tests every box against every other, coordinate by coordinate in `f64`.
fn all_pairs(boxes: &[Option<Aabb>]) -> Vec<[BoxId; 2]> {
    let mut pairs = Vec::new();
    for (first, a) in boxes.iter().enumerate() {
        for (second, b) in boxes.iter().enumerate().skip(first + 1) {
            let (Some(a), Some(b)) = (a, b) else {
                continue;
            };
            let shared = (0..3).all(|axis| {
                let low = f64::from(a.min[axis]).max(f64::from(b.min[axis]));
                let high = f64::from(a.max[axis]).min(f64::from(b.max[axis]));
                low <= high
            });
            if shared {
                pairs.push([BoxId(first as u32), BoxId(second as u32)]);
            }
        }
    }
    pairs
}

/// A broad phase, and the boxes that it should hold.
struct Checked {
    name: String,
    broad: Box<dyn BroadPhase>,
    boxes: Vec<Option<Aabb>>,
    out: Vec<[BoxId; 2]>,
}

impl Checked {
    fn all() -> Vec<Checked> {
        let checked = |name: String, broad: Box<dyn BroadPhase>| Checked {
            name,
            broad,
            boxes: Vec::new(),
            out: Vec::new(),
        };
        let mut all = vec![checked("sweep".into(), Box::new(SweepAndPrune::new()))];
        for margin in [0.0, 0.1, 5.0] {
            let tree = AabbTree::new(margin).unwrap();
            all.push(checked(format!("tree, margin {margin}"), Box::new(tree)));
        }
        all
    }

    fn insert(&mut self, bounds: Aabb) -> BoxId {
        let id = self.broad.insert(bounds).unwrap();
        let place = id.0 as usize;
        self.boxes.resize(self.boxes.len().max(place + 1), None);
        assert!(self.boxes[place].is_none(), "{}: an id twice", self.name);
        self.boxes[place] = Some(bounds);
        id
    }

    fn update(&mut self, place: usize, bounds: Aabb) {
        self.broad.update(BoxId(place as u32), bounds).unwrap();
        self.boxes[place] = Some(bounds);
    }

    fn remove(&mut self, place: usize) {
        self.broad.remove(BoxId(place as u32)).unwrap();
        self.boxes[place] = None;
    }

    fn check(&mut self, when: &str) {
        self.broad.pairs(&mut self.out);
        let expected = all_pairs(&self.boxes);
        assert!(
            self.out == expected,
            "{}, {when}: {} pairs, expected {}",
            self.name,
            self.out.len(),
            expected.len()
        );
    }
}

/// Returns a random box of any size; sometimes flat, a point, or unbounded along an axis or
/// everywhere.
fn random_box(random: &mut Random) -> Aabb {
    let center = random
        .in_box(DVec3::splat(-10.0), DVec3::splat(10.0))
        .as_vec3();
    let mut half =
        random.in_box(DVec3::ZERO, DVec3::ONE).as_vec3() * random.log_uniform(0.1, 3.0) as f32;
    let odd = random.below(30);
    if odd < 3 {
        half[odd] = 0.0;
    }
    if odd == 3 {
        half = Vec3::ZERO;
    }
    let mut bounds = Aabb::from_center(center, half);
    match random.below(60) {
        0 => bounds.min.z = f32::NEG_INFINITY,
        1 => bounds.max.x = f32::INFINITY,
        2 => bounds = Aabb::EVERYTHING,
        _ => {}
    }
    bounds
}

#[test]
fn any_history_gives_all_pairs() {
    for mut checked in Checked::all() {
        let mut random = Random::new(61);
        for round in 0..3000 {
            let there: Vec<usize> = (0..checked.boxes.len())
                .filter(|&place| checked.boxes[place].is_some())
                .collect();
            let some = (!there.is_empty()).then(|| there[random.below(there.len().max(1))]);
            match (random.below(10), some) {
                (0..=1, Some(place)) => checked.remove(place),
                (2..=3, Some(place)) => checked.update(place, random_box(&mut random)),
                (4..=6, Some(place)) => {
                    // Most boxes move a little.
                    let before = checked.boxes[place].unwrap();
                    let step = 0.1 * random.unit_vector().as_vec3();
                    let moved = Aabb::new(before.min + step, before.max + step);
                    checked.update(place, moved);
                }
                _ => {
                    checked.insert(random_box(&mut random));
                }
            }
            if random.below(8) == 0 {
                checked.check(&format!("round {round}"));
            }
        }
    }
}

#[test]
fn a_moving_crowd_gives_all_pairs_at_every_step() {
    for mut checked in Checked::all() {
        let mut random = Random::new(62);
        let mut places: Vec<DVec3> = Vec::new();
        let mut speeds = Vec::new();
        let floor = Aabb::new(
            Vec3::NEG_INFINITY,
            Vec3::new(f32::INFINITY, f32::INFINITY, 0.5),
        );
        checked.insert(floor);
        for _ in 0..400 {
            places.push(random.in_box(DVec3::ZERO, DVec3::splat(12.0)));
            speeds.push(0.05 * random.unit_vector());
            checked.insert(Aabb::from_center(
                places[places.len() - 1].as_vec3(),
                Vec3::splat(0.5),
            ));
        }
        for step in 0..60 {
            for (index, (place, speed)) in places.iter_mut().zip(&speeds).enumerate() {
                *place += *speed;
                checked.update(
                    index + 1,
                    Aabb::from_center(place.as_vec3(), Vec3::splat(0.5)),
                );
            }
            checked.check(&format!("step {step}"));
        }
        // The world is tilted, so that another axis is the widest.
        for (index, place) in places.iter().enumerate() {
            let center = DVec3::new(0.01 * place.x, 100.0 * place.y, place.z);
            checked.update(
                index + 1,
                Aabb::from_center(center.as_vec3(), Vec3::splat(0.5)),
            );
        }
        checked.check("on its side");
    }
}

#[test]
fn degenerate_worlds() {
    for mut checked in Checked::all() {
        checked.check("nothing");
        // All in one place; then a row of boxes that touch; then points on their corners.
        for _ in 0..40 {
            checked.insert(Aabb::from_center(Vec3::ONE, Vec3::ONE));
        }
        checked.check("one place");
        for i in 0..40 {
            let min = Vec3::new(i as f32, 0.0, 0.0);
            checked.insert(Aabb::new(min, min + Vec3::ONE));
            checked.insert(Aabb::new(min, min));
        }
        checked.check("a row");
        for size in [1e-40, 1e30, f32::MAX] {
            checked.insert(Aabb::from_center(Vec3::ZERO, Vec3::splat(size)));
            checked.insert(Aabb::new(Vec3::splat(size), Vec3::splat(size)));
        }
        checked.check("the ends of f32");
        for place in 0..checked.boxes.len() {
            checked.remove(place);
        }
        checked.check("nothing again");
        assert!(checked.out.is_empty());
    }
}

#[test]
fn what_is_no_box_is_refused_and_changes_nothing() {
    let unit = Aabb::from_center(Vec3::ZERO, Vec3::ONE);
    for mut checked in Checked::all() {
        let id = checked.insert(unit);
        checked.insert(unit);
        for bad in [
            Aabb::EMPTY,
            Aabb::new(Vec3::NAN, Vec3::ONE),
            Aabb::new(Vec3::ZERO, Vec3::new(1.0, f32::NAN, 1.0)),
            Aabb::new(Vec3::ONE, Vec3::ZERO),
        ] {
            let refused = checked.broad.insert(bad).unwrap_err();
            assert!(matches!(refused, BroadError::NotABox(_)), "{refused}");
            assert!(checked.broad.update(id, bad).is_err());
            checked.check("after a refusal");
        }
        for unknown in [2, 77, u32::MAX].map(BoxId) {
            let error = BroadError::Unknown(unknown);
            assert_eq!(checked.broad.update(unknown, unit), Err(error));
            assert_eq!(checked.broad.remove(unknown), Err(error));
        }
        checked.remove(0);
        assert_eq!(checked.broad.remove(id), Err(BroadError::Unknown(id)));
        checked.check("after a removal");
    }
    for margin in [f32::NAN, -1.0, f32::INFINITY] {
        assert!(matches!(
            AabbTree::new(margin),
            Err(BroadError::BadMargin(_))
        ));
    }
}

#[test]
fn the_tree_stays_low_when_boxes_come_sorted() {
    let mut tree = AabbTree::new(0.1).unwrap();
    let count = 20_000;
    let at = |i: u32| Aabb::from_center(Vec3::X * i as f32, Vec3::splat(0.1));
    for i in 0..count {
        tree.insert(at(i)).unwrap();
    }
    // A balanced binary tree of 20,000 leaves has 15 levels.
    assert!(tree.height() <= 30, "{}", tree.height());
    // The same after all but the last moved to the other end.
    for i in 0..count {
        tree.update(BoxId(i), at(2 * count - i)).unwrap();
    }
    assert!(tree.height() <= 30, "{}", tree.height());
}
