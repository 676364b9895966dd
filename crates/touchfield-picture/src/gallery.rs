//! Sample pictures for visual inspection: `TOUCHFIELD_PICTURES=folder cargo test gallery` writes
//! them.

use std::{path::Path, time::Instant};

use glam::{Quat, Vec2, Vec3};
use touchfield::geom::{Aabb, Pose};

use super::{
    canvas::{Anchor, TextStyle},
    render::ContactMark,
    test_fields::{TestField, box_distance, grid_of, sphere, torus_distance},
    *,
};

fn write(picture: &Canvas, folder: &Path, name: &str) {
    write_png(picture, &folder.join(name)).unwrap();
}

/// Distance of a block with a hole and a bowl-shaped hollow.
fn drilled_block(p: Vec3) -> f32 {
    let block = box_distance(p, Vec3::new(1.0, 0.7, 0.5), 0.08);
    let hole = 0.3 - Vec2::new(p.x + 0.5, p.y).length();
    let bowl = 0.55 - (p - Vec3::new(0.4, 0.0, 0.6)).length();
    block.max(hole).max(bowl)
}

#[test]
fn gallery() {
    let Some(folder) = std::env::var_os("TOUCHFIELD_PICTURES") else {
        return;
    };
    let folder = Path::new(&folder);
    let torus = TestField {
        bounds: Aabb::from_center(Vec3::ZERO, Vec3::new(0.062, 0.062, 0.022)),
        distance: |p: Vec3| torus_distance(p, 0.04, 0.016),
    };
    let block = TestField {
        bounds: Aabb::from_center(Vec3::ZERO, Vec3::new(0.03, 0.02, 0.02)),
        distance: |p: Vec3| box_distance(p, Vec3::new(0.028, 0.018, 0.018), 0.003),
    };
    let ball = sphere(Vec3::ZERO, 0.02, 0.1);
    renders(folder, [&torus, &block, &ball]);
    grids(folder);
    slices(folder, &torus, &block);
    corner_cases(folder);
    letters(folder);
}

fn renders(folder: &Path, [torus, block, ball]: [&dyn touchfield::field::Field; 3]) {
    let body = |field, translation, turn, colour: usize| RenderBody {
        field,
        world_from_field: Pose {
            rotation: Quat::from_rotation_z(turn),
            translation,
        },
        colour: PALETTE[colour],
        smoothing: 0.0,
    };
    let bodies = [
        body(torus, Vec3::new(0.0, 0.0, 0.016), 0.0, 0),
        body(block, Vec3::new(0.085, -0.02, 0.018), 0.5, 1),
        body(ball, Vec3::new(0.0, 0.0, 0.0275), 0.0, 3),
    ];
    let contacts = [0.0, 2.1, 4.2].map(|angle: f32| {
        let radial = Vec3::new(angle.cos(), angle.sin(), 0.0);
        ContactMark {
            point: 0.0205 * radial + Vec3::Z * 0.021,
            normal: (Vec3::Z - radial).normalize(),
        }
    });
    let start = Instant::now();
    let scene = render(&bodies, &[], &RenderSettings::default()).unwrap();
    println!("render: {:?}", start.elapsed());
    write(&scene, folder, "scene.png");
    let scene = render(&bodies[..1], &[], &RenderSettings::default()).unwrap();
    write(&scene, folder, "torus.png");
    let scene = render(&bodies, &contacts, &RenderSettings::default()).unwrap();
    write(&scene, folder, "contacts.png");

    let small = RenderSettings {
        width: 480,
        height: 360,
        ..Default::default()
    };
    let singles = bodies.map(|body| render(&[body], &[], &small).unwrap());
    let names = ["torus · 64³ · ±12 µm", "block · 128³ · ±3 µm", "ball"];
    let entries: Vec<(&Canvas, &str)> = singles.iter().zip(names).collect();
    write(&sheet(&entries, 3).unwrap(), folder, "sheet.png");
}

fn grids(folder: &Path) {
    let bounds = Aabb::from_center(Vec3::ZERO, Vec3::new(1.1, 0.8, 0.6));
    let grid = grid_of(bounds, 64, drilled_block);
    let body = RenderBody {
        field: &grid,
        world_from_field: Pose::IDENTITY,
        colour: PALETTE[2],
        smoothing: 0.0,
    };
    let settings = RenderSettings {
        width: 800,
        height: 600,
        ..Default::default()
    };
    let rough = render(&[body], &[], &settings).unwrap();
    let cell = 2.2 / 64.0;
    let smooth = render(
        &[RenderBody {
            smoothing: cell,
            ..body
        }],
        &[],
        &settings,
    )
    .unwrap();
    let pair = sheet(
        &[
            (&rough, "normals over a pixel"),
            (&smooth, "normals over a cell"),
        ],
        2,
    )
    .unwrap();
    write(&pair, folder, "grid.png");
    let settings = SliceSettings {
        title: "drilled-block.tfs".to_owned(),
        caption: "dense 64 × 47 × 35, cell 34.4 mm, error at most 9.1 mm".to_owned(),
        axis: Axis::Y,
        ..Default::default()
    };
    write(&slice(&grid, &settings).unwrap(), folder, "slice_grid.png");
}

fn slices(
    folder: &Path,
    torus: &dyn touchfield::field::Field,
    block: &dyn touchfield::field::Field,
) {
    let doubtful: Vec<Aabb> = (0..6)
        .map(|i| {
            let centre = Vec3::new(0.05 + 0.002 * (i % 2) as f32, 0.002 * i as f32, 0.0);
            Aabb::from_center(centre, Vec3::splat(0.001))
        })
        .collect();
    let settings = SliceSettings {
        title: "torus.tfs".to_owned(),
        caption: "dense 64 × 64 × 24, cell 1.94 mm, error at most 0.21 mm; sign: pseudonormal"
            .to_owned(),
        doubtful: &doubtful,
        ..Default::default()
    };
    let start = Instant::now();
    let picture = slice(torus, &settings).unwrap();
    println!("slice: {:?}", start.elapsed());
    write(&picture, folder, "slice_z.png");
    let settings = SliceSettings {
        axis: Axis::Y,
        at: Some(0.01),
        width: 1600,
        ..settings
    };
    write(&slice(torus, &settings).unwrap(), folder, "slice_y.png");
    let settings = SliceSettings {
        axis: Axis::X,
        at: None,
        width: 400,
        ..settings
    };
    write(&slice(block, &settings).unwrap(), folder, "slice_small.png");
}

/// Writes slices of fields whose labels are prone to collide: far from the origin, thin, tiny, and
/// large and flat.
fn corner_cases(folder: &Path) {
    let far = Vec3::new(1234.5, -987.25, 3.0);
    let boxed = |center: Vec3, half: Vec3| TestField {
        bounds: Aabb::from_center(center, 1.1 * half),
        distance: move |p: Vec3| box_distance(p - center, half, 0.3 * half.min_element()),
    };
    let fields = [
        ("far", boxed(far, Vec3::new(0.2, 0.15, 0.1))),
        ("needle", boxed(Vec3::ZERO, Vec3::new(1e-7, 1e-7, 2e-6))),
        ("plate", boxed(Vec3::ZERO, Vec3::new(4e4, 3e4, 2e2))),
    ];
    for (name, field) in fields {
        let settings = SliceSettings {
            title: format!("{name} with a title that is much too long for the room it has beside the plane.stl"),
            caption: "sparse 256 × 256 × 4, cell 312 m, error at most 12 m; sign: winding number, 17 doubtful cells".to_owned(),
            axis: if name == "far" { Axis::Z } else { Axis::Y },
            width: 640,
            ..Default::default()
        };
        write(
            &slice(&field, &settings).unwrap(),
            folder,
            &format!("slice_{name}.png"),
        );
        let body = RenderBody {
            field: &field,
            world_from_field: Pose::IDENTITY,
            colour: PALETTE[4],
            smoothing: 0.0,
        };
        let settings = RenderSettings {
            width: 640,
            height: 480,
            ..Default::default()
        };
        write(
            &render(&[body], &[], &settings).unwrap(),
            folder,
            &format!("render_{name}.png"),
        );
    }
}

fn letters(folder: &Path) {
    let mut canvas = Canvas::new(900, 200, [255; 3]).unwrap();
    let lines = [
        (18.0, "ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789"),
        (18.0, "abcdefghijklmnopqrstuvwxyz µ±−×°²³≤≥→←↑↓·…φ"),
        (18.0, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
        (
            9.0,
            "The quick brown fox jumps over the lazy dog. 0123456789 (cell 1.94 mm, error ±0.21 µm)",
        ),
    ];
    for (row, (size, text)) in lines.into_iter().enumerate() {
        let at = Vec2::new(20.0, 40.0 + 48.0 * row as f32);
        canvas.text(at, Anchor::Start, TextStyle::new(size, [20; 3]), text);
    }
    write(&canvas, folder, "font.png");
}
