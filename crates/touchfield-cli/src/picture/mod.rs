//! Pictures of fields: labelled slices, lit renders, sheets of both, and PNG files.
//!
//! Input: `&dyn Field`s, a settings struct per kind of picture.
//! Output: a [`Canvas`] of 8-bit sRGB pixels; [`write_png`] puts it on disk whole or not at all.
//! Cost: a slice takes one distance a pixel; a render some fifty a pixel that a body covers. All cores.
//! Not for: looking at meshes (bake first), or pictures above [`MAX_PIXELS`].
//!
//! Every picture is a pure function of its arguments: the same bytes on every run and thread count.

mod canvas;
mod colormap;
mod font;
mod png_file;
mod render;
mod sheet;
mod slice;
mod slice_labels;
#[cfg(test)]
mod test_fields;
mod ticks;
mod trace;

#[expect(unused_imports, reason = "the commands will use them")]
pub(crate) use self::{
    canvas::{Anchor, Canvas, MAX_PIXELS, Rgb, SizeError},
    png_file::{WritePngError, write_png},
    render::{ContactMark, PALETTE, RenderBody, RenderError, RenderSettings, render},
    sheet::{SheetError, sheet},
    slice::{Axis, SliceError, SliceSettings, slice},
};

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Instant};

    use glam::{Quat, Vec3};
    use touchfield::geom::{Aabb, Pose};

    use super::test_fields::{TestField, box_distance, sphere, torus_distance};
    use super::*;

    /// Writes sample pictures into the folder `TOUCHFIELD_PICTURES`, to be looked at; nothing to do without it.
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
            body(&torus, Vec3::new(0.0, 0.0, 0.016), 0.0, 0),
            body(&block, Vec3::new(0.085, -0.02, 0.018), 0.5, 1),
            body(&ball, Vec3::new(0.0, 0.0, 0.0275), 0.0, 3),
        ];
        let contacts = [0.0, 2.1, 4.2].map(|a: f32| {
            let radial = Vec3::new(a.cos(), a.sin(), 0.0);
            ContactMark {
                point: 0.0205 * radial + Vec3::Z * 0.021,
                normal: (0.7 * Vec3::Z - radial * 0.7).normalize(),
            }
        });
        let start = Instant::now();
        let scene = render(&bodies, &[], &RenderSettings::default()).unwrap();
        println!("render: {:?}", start.elapsed());
        write_png(&scene, &folder.join("scene.png")).unwrap();
        let scene = render(
            &bodies,
            &contacts,
            &RenderSettings {
                zoom: 1.3,
                ..Default::default()
            },
        )
        .unwrap();
        write_png(&scene, &folder.join("contacts.png")).unwrap();
        let singles: Vec<Canvas> = bodies
            .iter()
            .map(|&b| {
                render(
                    &[b],
                    &[],
                    &RenderSettings {
                        width: 480,
                        height: 360,
                        ..Default::default()
                    },
                )
                .unwrap()
            })
            .collect();
        let names = ["torus · 64³ · ±12 µm", "block · 128³ · ±3 µm", "ball"];
        let entries: Vec<(&Canvas, &str)> = singles.iter().zip(names).collect();
        write_png(&sheet(&entries, 3).unwrap(), &folder.join("sheet.png")).unwrap();

        let doubtful: Vec<Aabb> = (0..6)
            .map(|i| {
                Aabb::from_center(
                    Vec3::new(0.05 + 0.002 * (i % 2) as f32, 0.002 * i as f32, 0.0),
                    Vec3::splat(0.001),
                )
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
        write_png(
            &slice(&torus, &settings).unwrap(),
            &folder.join("slice_z.png"),
        )
        .unwrap();
        println!("slice: {:?}", start.elapsed());
        let settings = SliceSettings {
            axis: Axis::Y,
            at: Some(0.01),
            width: 1600,
            ..settings
        };
        write_png(
            &slice(&torus, &settings).unwrap(),
            &folder.join("slice_y.png"),
        )
        .unwrap();
        let settings = SliceSettings {
            axis: Axis::X,
            at: None,
            width: 400,
            ..settings
        };
        write_png(
            &slice(&block, &settings).unwrap(),
            &folder.join("slice_small.png"),
        )
        .unwrap();
        let mut letters = Canvas::new(900, 200, [255; 3]).unwrap();
        for (row, text) in [
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789",
            "abcdefghijklmnopqrstuvwxyz µ±−×°²³≤≥→←↑↓·…φ",
            "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
        ]
        .into_iter()
        .enumerate()
        {
            for (size, x) in [(18.0, 20.0)] {
                letters.text(
                    glam::Vec2::new(x, 40.0 + 50.0 * row as f32),
                    Anchor::Start,
                    canvas::TextStyle::new(size, [20; 3]),
                    text,
                );
            }
        }
        letters.text(glam::Vec2::new(20.0, 185.0), Anchor::Start, canvas::TextStyle::new(9.0, [20; 3]), "The quick brown fox jumps over the lazy dog. 0123456789 (cell 1.94 mm, error ±0.21 µm)");
        write_png(&letters, &folder.join("font.png")).unwrap();
    }
}
