//! Broken meshes on purpose: one of the models per kind of fault that real files have.
//!
//! Input: nothing. Output: meshes whose faults `validate` reports, for practice and for tests.
//! Cost: linear in the faces. Not for: bodies; [`super::catalogue`] has sound ones.

use glam::DVec3;

use super::{
    Cuboid, Gear, GenerateError, Icosphere, MetricSize, Model, Mug, Nut, Torus, cuboid, gear,
    icosphere, mug, nut, torus,
};
use crate::mesh::TriangleMesh;

/// Returns one model per kind of fault.
pub fn broken() -> Vec<Model> {
    let model = |name, description, make| Model {
        name,
        description,
        make,
    };
    vec![
        model("holes", "a mug with holes in its wall", holes),
        model("crack", "a gear in two halves, 5 µm apart", crack),
        model("inside_out", "a mug whose faces look inward", || {
            let mut mesh = mug(Mug::default())?;
            mesh.flip();
            Ok(mesh)
        }),
        model(
            "flipped_faces",
            "a ring with every seventh face reversed",
            || {
                let mut mesh = torus(Torus::default())?;
                for face in mesh.faces.iter_mut().step_by(7) {
                    face.swap(1, 2);
                }
                Ok(mesh)
            },
        ),
        model("millimetres", "a nut drawn in millimetres", || {
            let mut mesh = nut(Nut::of_size(MetricSize::M8))?;
            for vertex in &mut mesh.vertices {
                *vertex *= 1000.0;
            }
            Ok(mesh)
        }),
        model("crossing", "two balls that cross each other", || {
            let mut mesh = icosphere(Icosphere::default())?;
            let mut other = mesh.clone();
            other.move_to_frame_at(DVec3::new(-0.06, 0.0, 0.0));
            mesh.append(&other);
            Ok(mesh)
        }),
        model(
            "doubled",
            "a box with copies of faces and a flat one",
            || {
                let mut mesh = cuboid(Cuboid::default())?;
                let first = mesh.faces[0];
                mesh.faces.extend_from_within(..3);
                mesh.faces.push([first[0], first[1], first[0]]);
                Ok(mesh)
            },
        ),
        model("sheet", "a curved sheet without thickness", sheet),
    ]
}

/// Faces left out around two places of the wall.
fn holes() -> Result<TriangleMesh, GenerateError> {
    let mesh = mug(Mug::default())?;
    let bounds = mesh.bounds();
    let middle = bounds.center();
    let places = [
        DVec3::new(middle.x, bounds.min.y, middle.z),
        DVec3::new(middle.x, bounds.max.y, middle.z),
    ];
    let radius = 0.08 * bounds.diagonal();
    let near = |mesh: &TriangleMesh, face: usize| {
        let triangle = mesh.triangle(face);
        let center = (triangle.a + triangle.b + triangle.c) / 3.0;
        places.iter().any(|place| center.distance(*place) < radius)
    };
    Ok(part(&mesh, |face| !near(&mesh, face)))
}

/// Two halves with vertices of their own, the second one 5 µm away.
fn crack() -> Result<TriangleMesh, GenerateError> {
    let whole = gear(Gear::default())?;
    let is_second = |face: usize| {
        let triangle = whole.triangle(face);
        triangle.a.x + triangle.b.x + triangle.c.x > 0.0
    };
    let mut mesh = part(&whole, |face| !is_second(face));
    let mut other = part(&whole, is_second);
    other.move_to_frame_at(DVec3::new(-5e-6, 0.0, 0.0));
    mesh.append(&other);
    Ok(mesh)
}

/// The upper part of a ball.
fn sheet() -> Result<TriangleMesh, GenerateError> {
    let ball = icosphere(Icosphere::default())?;
    let limit = 0.5 * ball.bounds().max.z;
    Ok(part(&ball, |face| {
        let triangle = ball.triangle(face);
        triangle.a.z.min(triangle.b.z).min(triangle.c.z) > limit
    }))
}

/// Returns the faces of a mesh that are kept, with the vertices that they use.
fn part(mesh: &TriangleMesh, is_kept: impl Fn(usize) -> bool) -> TriangleMesh {
    let mut part = TriangleMesh::default();
    let mut new_index = vec![None; mesh.vertices.len()];
    for (_, face) in (mesh.faces.iter().enumerate()).filter(|(index, _)| is_kept(*index)) {
        part.faces.push(face.map(|vertex| {
            *new_index[vertex as usize].get_or_insert_with(|| {
                part.vertices.push(mesh.vertices[vertex as usize]);
                part.vertices.len() as u32 - 1
            })
        }));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Defect, validate};

    /// Names of the kinds of defects that a model has.
    fn kinds(name: &str) -> Vec<&'static str> {
        let model = broken().into_iter().find(|model| model.name == name);
        let mesh = model.expect("a name of the list").mesh().expect("defaults");
        let report = validate(&mesh);
        report.defects.iter().map(Defect::kind).collect()
    }

    #[test]
    fn every_model_has_the_fault_that_it_is_named_for() {
        for (name, kind) in [
            ("holes", "open_edge"),
            ("crack", "open_edge"),
            ("inside_out", "inside_out"),
            ("flipped_faces", "inconsistent_orientation"),
            ("millimetres", "suspicious_units"),
            ("crossing", "self_intersection"),
            ("doubled", "duplicate"),
            ("sheet", "open_edge"),
        ] {
            assert!(kinds(name).contains(&kind), "{name}: {:?}", kinds(name));
        }
    }
}
