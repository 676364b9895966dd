//! Height fields compared with the triangles of their surface.

use glam::Vec2;
use touchfield::field::HeightField;
use touchfield_conformance::closed_forms;
use touchfield_conformance::random::Random;

use crate::passes;

#[test]
fn terrain() {
    let mut random = Random::new(11);
    for (columns, rows, spacing, relief) in [
        (9usize, 7usize, Vec2::new(0.5, 0.8), 0.6),
        (6, 6, Vec2::ONE, 6.0),
        (2, 2, Vec2::new(3.0, 1.0), 1.0),
    ] {
        let heights: Vec<f32> = (0..columns * rows)
            .map(|_| random.uniform(0.2, 0.2 + relief) as f32)
            .collect();
        let base = -0.5;
        let field = HeightField::new(heights.clone(), columns, spacing, base).unwrap();
        let truth = closed_forms::terrain(
            |c, r| heights[r * columns + c].into(),
            columns,
            rows,
            spacing.as_dvec2(),
            base.into(),
        );
        passes(&field, &truth, "height field");
    }
}
