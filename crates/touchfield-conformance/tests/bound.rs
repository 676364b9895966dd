//! The error bound of baked grids at random points, inside and outside, for closed and broken
//! meshes.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failed unwrap is a failed test, and the rows are for the reader"
)]

use glam::DVec3;
use touchfield::bake::{BakeSettings, ExactDistance, Resolution, SignChoice};
use touchfield::field::{Field, SignMethod};
use touchfield::mesh::TriangleMesh;
use touchfield_conformance::bake_suite::{BoundReport, bake_quietly, check_bound};
use touchfield_conformance::mesh_truth::{MeshTruth, in_parallel};
use touchfield_conformance::meshes::{self, Named};

fn points() -> usize {
    if meshes::is_long() { 200_000 } else { 12_000 }
}

fn settings(nodes: u32, padding: u32) -> BakeSettings {
    BakeSettings {
        resolution: Resolution::Nodes(nodes),
        padding,
        ..BakeSettings::default()
    }
}

fn bound_of(
    mesh: &TriangleMesh,
    settings: &BakeSettings,
    seed: u64,
) -> Result<BoundReport, String> {
    let baked = bake_quietly(mesh, settings).map_err(|error| format!("not baked: {error}"))?;
    if baked.provenance.measured_error > baked.field.error_bound() {
        return Err(format!(
            "measured {} above the bound {}",
            baked.provenance.measured_error,
            baked.field.error_bound()
        ));
    }
    // A mesh far from the origin is baked in a frame of its own. The truth is computed there.
    let mut mesh = mesh.clone();
    mesh.move_to_frame_at(baked.provenance.origin);
    let mesh = &mesh;
    // Brute force where the truth is the winding number and there are few faces; else the exact
    // distance, which exact_bake.rs tests.
    if mesh.faces.len() <= 40 && meshes::is_closed(mesh) && mesh.signed_volume() > 0.0 {
        let truth = MeshTruth::of(mesh);
        return check_bound(
            &baked.field,
            &|points| in_parallel(points, |&p| truth.signed_distance(p)),
            points(),
            seed,
        );
    }
    let exact =
        ExactDistance::new(mesh, settings.sign).map_err(|error| format!("refused: {error}"))?;
    check_bound(
        &baked.field,
        &|points| exact.distance_many(points),
        points(),
        seed,
    )
}

#[derive(Default)]
struct Tally {
    failures: Vec<String>,
    models: usize,
    sum: BoundReport,
}

impl Tally {
    fn check(&mut self, named: &Named, settings: &BakeSettings) {
        self.models += 1;
        match bound_of(&named.mesh, settings, self.models as u64) {
            Ok(report) => {
                println!(
                    "{:<40} {:?} padding {}: {report:?}",
                    named.name, settings.resolution, settings.padding
                );
                self.sum.inside += report.inside;
                self.sum.outside += report.outside;
                self.sum.cells += report.cells;
                self.sum.worst = self.sum.worst.max(report.worst);
            }
            Err(broken) => self.failures.push(format!(
                "{} {:?} padding {}: {broken}",
                named.name, settings.resolution, settings.padding
            )),
        }
    }

    #[track_caller]
    fn finish(self) {
        println!("{} models: {:?}", self.models, self.sum);
        assert!(
            self.failures.is_empty(),
            "{} of {}:\n{}",
            self.failures.len(),
            self.models,
            self.failures.join("\n")
        );
    }
}

#[test]
fn the_bound_holds_on_closed_meshes() {
    let mut tally = Tally::default();
    for named in meshes::closed() {
        tally.check(&named, &settings(20, 2));
        tally.check(&named, &settings(45, 1));
    }
    tally.finish();
}

#[test]
fn the_bound_holds_without_padding() {
    let mut tally = Tally::default();
    for named in meshes::closed() {
        tally.check(&named, &settings(13, 0));
        let odd = Named {
            name: format!("{}, off the origin", named.name),
            mesh: meshes::moved(
                named.mesh.clone(),
                named.mesh.bounds().diagonal() * DVec3::new(1.7, -23.3, 100.1),
            ),
        };
        tally.check(&odd, &settings(13, 0));
    }
    tally.finish();
}

fn broken() -> Vec<Named> {
    let named = |name: &str, mesh: TriangleMesh| Named {
        name: name.to_owned(),
        mesh,
    };
    let ball = meshes::icosphere(1.0, 3);
    let mut open = ball.clone();
    open.faces
        .retain(|face| face.iter().any(|&v| ball.vertices[v as usize].z < 0.0));
    let layers = (0..4).fold(TriangleMesh::default(), |all, layer| {
        meshes::joined(
            all,
            &meshes::squeezed(open.clone(), DVec3::splat(1.0 - 0.03 * f64::from(layer))),
        )
    });
    let sheet = TriangleMesh {
        vertices: vec![DVec3::ZERO, DVec3::X, DVec3::X + DVec3::Y, DVec3::Y],
        faces: vec![[0, 1, 2], [0, 2, 3]],
    };
    let stack = (0..5).fold(TriangleMesh::default(), |all, layer| {
        meshes::joined(
            all,
            &meshes::moved(sheet.clone(), 0.02 * f64::from(layer) * DVec3::Z),
        )
    });
    vec![
        named("half ball", open.clone()),
        named("four half balls, one in the other", layers),
        named("sheet", sheet.clone()),
        named("five sheets", stack.clone()),
        named("five sheets the other way", meshes::flipped(stack)),
        named("ball, 0.05 missing", meshes::with_holes(&ball, 0.05, 1)),
        named("ball, 0.2 missing", meshes::with_holes(&ball, 0.2, 2)),
        named("ball, 0.6 missing", meshes::with_holes(&ball, 0.6, 3)),
        named(
            "mug, 0.2 missing",
            meshes::with_holes(&meshes::model("mug"), 0.2, 4),
        ),
        named(
            "gear, 0.3 flipped",
            meshes::with_flips(&meshes::model("gear"), 0.3, 5),
        ),
        named(
            "gear, cracks, 0.3 flipped",
            meshes::with_flips(&meshes::cracked(&meshes::model("gear"), 1e-3, 6), 0.3, 7),
        ),
        named(
            "knot, cracks",
            meshes::cracked(&meshes::model("torus_knot"), 1e-3, 8),
        ),
        named(
            "star, cracks, half flipped",
            meshes::with_flips(&meshes::cracked(&meshes::random_star(9), 1e-3, 9), 0.5, 10),
        ),
        named(
            "two balls that overlap",
            meshes::joined(
                ball.clone(),
                &meshes::moved(ball.clone(), DVec3::new(0.7, 0.2, 0.1)),
            ),
        ),
        named("spindle torus", meshes::spindle_torus()),
        named("soup of 12", meshes::random_soup(12, 11)),
        named("soup of 60", meshes::random_soup(60, 12)),
        named("soup of 400", meshes::random_soup(400, 13)),
        named("soup of 3000", meshes::random_soup(3000, 14)),
        named(
            "a triangle",
            TriangleMesh {
                vertices: vec![DVec3::X, DVec3::Y, DVec3::Z],
                faces: vec![[0, 1, 2]],
            },
        ),
    ]
}

const METHODS: [SignChoice; 3] = [
    SignChoice::Auto,
    SignChoice::Always(SignMethod::Winding),
    SignChoice::Always(SignMethod::Parity),
];

fn check_broken(wanted: impl Fn(&str, SignChoice) -> bool) {
    let mut tally = Tally::default();
    for named in broken() {
        for sign in METHODS {
            if wanted(&named.name, sign) {
                let named = Named {
                    name: format!("{} by {sign:?}", named.name),
                    ..named.clone()
                };
                tally.check(
                    &named,
                    &BakeSettings {
                        sign,
                        ..settings(16, 2)
                    },
                );
                if sign == SignChoice::Auto {
                    tally.check(&named, &settings(40, 1));
                }
            }
        }
    }
    tally.finish();
}

/// Returns whether a mesh is an open sheet that winds around points outside its own box, or stands
/// in the way of all rays from them.
fn reaches_out_of_its_box(name: &str, sign: SignChoice) -> bool {
    name.contains("sheet")
        || name.contains("half ball")
        || name == "a triangle" && sign != SignChoice::Auto
}

#[test]
fn the_bound_holds_on_broken_meshes() {
    check_broken(|name, sign| {
        !reaches_out_of_its_box(name, sign) && !tears_between_nodes(name, sign)
    });
}

/// Returns whether a mesh is a soup whose sign, by a method not meant for it, changes back and
/// forth within a cell.
fn tears_between_nodes(name: &str, sign: SignChoice) -> bool {
    (name.contains("soup") || name.contains("half flipped")) && sign != SignChoice::Auto
}

#[test]
fn the_bound_holds_where_the_sign_tears_between_nodes() {
    check_broken(tears_between_nodes);
}

#[test]
fn nothing_is_inside_beyond_the_box_of_an_open_mesh() {
    check_broken(reaches_out_of_its_box);
}

#[test]
fn the_bound_holds_on_real_models() {
    let mut tally = Tally::default();
    for named in meshes::real() {
        tally.check(&named, &settings(40, 2));
    }
    tally.finish();
}
