//! Shells: the components of a mesh as surfaces, which of them enclose a volume, and which lie inside others.
//!
//! Input: faces over welded vertices, their topology, and which faces to take the other way round.
//! Output: one [`Shell`] a component, with volume, nesting, and whether it is inside out.
//! Cost: one pass over the faces; with several closed shells also a box tree and one ray a shell.
//! Not for: shells that cross each other; one probe decides, and the crossing is named by `self_intersection`.
//!
//! A probe's winding number is the signed count of crossings along a ray, exact because the ray is moved
//! aside symbolically where it would hit an edge ([Edelsbrunner1990]).

use std::ops::ControlFlow;

use glam::DVec3;

use super::{
    Components, Topology,
    box_tree::BoxTree,
    predicates::{side_of_line, side_of_plane, without_axis},
};
use crate::geom::DAabb;

/// A component of the mesh, connected through edges where two faces meet.
#[derive(Clone, Debug)]
pub(super) struct Shell {
    pub(super) first_face: u32,
    pub(super) bounds: DAabb,
    /// Area \[m²\].
    pub(super) area: f64,
    /// Whether every edge is run along as often in one direction as in the other: a closed, consistent surface.
    pub(super) closed: bool,
    /// Volume \[m³\], negative when the normals point inward; means nothing unless `closed`.
    pub(super) volume: f64,
    /// The smallest closed shell around this one.
    pub(super) parent: Option<u32>,
    /// A closed shell that makes the space inside it less solid than outside though there was nothing to take away,
    /// or that closes a hole in nothing: its orientation must be wrong.
    pub(super) inside_out: bool,
}

impl Shell {
    /// 1 for a closed shell with normals outward, −1 inward, 0 for one that is open or encloses nothing.
    pub(super) fn orientation(&self) -> i32 {
        // Rounding of a sum over the surface; the thinnest plate in use (1e-4 of its width) is far above.
        let rounding = 1e-12 * self.area * self.bounds.diagonal();
        if !self.closed || self.volume.abs() <= rounding {
            0
        } else if self.volume > 0.0 {
            1
        } else {
            -1
        }
    }
}

/// Vertices tried for a shell until one lies on no other shell.
const PROBES: usize = 8;

/// The shells of a mesh, one a component of [`Topology::components_by_edges`].
///
/// `flipped` faces are taken the other way round. `crossing` holds pairs of components, sorted, that are known to run
/// into each other and so are not nested.
pub(super) fn shells(
    vertices: &[DVec3],
    topology: &Topology,
    components: &Components,
    flipped: &[bool],
    crossing: &[[u32; 2]],
) -> Vec<Shell> {
    let mut shells = measure(vertices, topology, components, flipped);
    find_unbalanced(topology, components, flipped, &mut shells);
    let enclosing = nesting(vertices, topology, components, flipped, crossing, &shells);
    for (index, around) in enclosing.iter().enumerate() {
        // The innermost one is itself inside most others.
        let parent = around
            .iter()
            .copied()
            .max_by_key(|&outer| (enclosing[outer as usize].len(), std::cmp::Reverse(outer)));
        let winding_outside: i32 = around
            .iter()
            .map(|&outer| shells[outer as usize].orientation())
            .sum();
        let shell = &mut shells[index];
        shell.parent = parent;
        shell.inside_out = match shell.orientation() {
            -1 => winding_outside <= 0,
            1 => winding_outside < 0,
            _ => false,
        };
    }
    shells
}

fn measure(
    vertices: &[DVec3],
    topology: &Topology,
    components: &Components,
    flipped: &[bool],
) -> Vec<Shell> {
    let empty = Shell {
        first_face: u32::MAX,
        bounds: DAabb::EMPTY,
        area: 0.0,
        closed: true,
        volume: 0.0,
        parent: None,
        inside_out: false,
    };
    let mut shells = vec![empty; components.count];
    let used = || {
        let numbered = topology.faces().iter().zip(&components.of_face).enumerate();
        numbered.filter(|&(_, (_, &component))| component != Components::NONE)
    };
    for (face, (corners, &component)) in used() {
        let shell = &mut shells[component as usize];
        shell.first_face = shell.first_face.min(face as u32);
        let corners = corners.map(|v| vertices[v as usize]);
        shell.bounds = shell.bounds.union(DAabb::of_points(corners));
    }
    for (face, (corners, &component)) in used() {
        let shell = &mut shells[component as usize];
        // About the middle of the shell, so that one far from the origin does not cancel.
        let [a, b, c] = corners.map(|v| vertices[v as usize] - shell.bounds.center());
        let volume = a.dot(b.cross(c)) / 6.0;
        shell.volume += if flipped[face] { -volume } else { volume };
        shell.area += 0.5 * (b - a).cross(c - a).length();
    }
    shells
}

/// Marks as open the shells with an edge that does not cancel.
fn find_unbalanced(
    topology: &Topology,
    components: &Components,
    flipped: &[bool],
    shells: &mut [Shell],
) {
    let mut directions: Vec<(u32, i32)> = Vec::new();
    for edge in topology.edges() {
        directions.clear();
        directions.extend(edge.uses.iter().map(|half_edge| {
            let face = half_edge.face as usize;
            let forward = half_edge.forward != flipped[face];
            (components.of_face[face], if forward { 1 } else { -1 })
        }));
        directions.sort_unstable();
        for of_shell in directions.chunk_by(|a, b| a.0 == b.0) {
            if of_shell
                .iter()
                .map(|&(_, direction)| direction)
                .sum::<i32>()
                != 0
            {
                shells[of_shell[0].0 as usize].closed = false;
            }
        }
    }
}

/// For every shell the closed ones around it, in order.
fn nesting(
    vertices: &[DVec3],
    topology: &Topology,
    components: &Components,
    flipped: &[bool],
    crossing: &[[u32; 2]],
    shells: &[Shell],
) -> Vec<Vec<u32>> {
    let solid: Vec<bool> = shells
        .iter()
        .map(|shell| shell.orientation() != 0)
        .collect();
    let mut enclosing = vec![Vec::new(); shells.len()];
    if solid.iter().filter(|&&solid| solid).count() < 2 {
        return enclosing;
    }
    let corners = |face: usize| topology.faces()[face].map(|v| vertices[v as usize]);
    let is_solid = |face: usize| {
        solid
            .get(components.of_face[face] as usize)
            .copied()
            .unwrap_or(false)
    };
    let tree = BoxTree::new(
        (0..topology.faces().len())
            .filter(|&face| is_solid(face))
            .map(|face| (face as u32, DAabb::of_points(corners(face)))),
    );
    let mut probes = vec![Vec::new(); shells.len()];
    for face in (0..topology.faces().len()).filter(|&face| is_solid(face)) {
        let of_shell: &mut Vec<DVec3> = &mut probes[components.of_face[face] as usize];
        if of_shell.len() < PROBES {
            of_shell.push(corners(face)[0]);
        }
    }

    // `(shell, ±1)` a crossing; `None` when the probe lies on another shell.
    let crossings = |own: u32, probe: DVec3| {
        let mut crossings: Vec<(u32, i32)> = Vec::new();
        let mut on_surface = false;
        let ahead = |other: &DAabb| {
            other.max.x >= probe.x
                && other.min.y <= probe.y
                && probe.y <= other.max.y
                && other.min.z <= probe.z
                && probe.z <= other.max.z
        };
        tree.visit(0, ahead, |position| {
            let face = tree.items[position] as usize;
            let shell = components.of_face[face];
            if shell != own {
                match ray_crossing(probe, corners(face)) {
                    Some(direction) => {
                        let direction = if flipped[face] { -direction } else { direction };
                        crossings.push((shell, direction));
                    }
                    None => on_surface = true,
                }
            }
            if on_surface {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        (!on_surface).then_some(crossings)
    };
    for own in (0..shells.len() as u32).filter(|&own| solid[own as usize]) {
        let found = probes[own as usize]
            .iter()
            .find_map(|&probe| crossings(own, probe));
        let mut found = found.unwrap_or_default();
        found.sort_unstable();
        let bounds = shells[own as usize].bounds;
        enclosing[own as usize] = found
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|of_shell| {
                of_shell
                    .iter()
                    .map(|&(_, direction)| direction)
                    .sum::<i32>()
                    != 0
            })
            .map(|of_shell| of_shell[0].0)
            .filter(|&outer| {
                let around = shells[outer as usize].bounds;
                let fits = around.contains(bounds.min) && around.contains(bounds.max);
                fits && crossing
                    .binary_search(&[own.min(outer), own.max(outer)])
                    .is_err()
            })
            .collect();
    }
    enclosing
}

/// How the ray from `point` along x passes a triangle: 1 out through its front, −1 in through its back, 0 past it;
/// `None` when the point lies in the triangle itself.
fn ray_crossing(point: DVec3, t: [DVec3; 3]) -> Option<i32> {
    let flat_point = without_axis(point, 0);
    let flat = t.map(|p| without_axis(p, 0));
    let mut sides = [0i8; 3];
    let mut on_line = [false; 3];
    for i in 0..3 {
        let (a, b) = (flat[i], flat[(i + 1) % 3]);
        sides[i] = side_of_line(a, b, flat_point);
        if sides[i] == 0 {
            on_line[i] = true;
            // The point is moved by (ε, ε²); to first order the side changes by −(b − a).y ε, then (b − a).x ε².
            sides[i] = if a.y != b.y {
                if b.y < a.y { 1 } else { -1 }
            } else {
                i8::from(b.x > a.x) - i8::from(b.x < a.x)
            };
        }
    }
    let height = side_of_plane(t[0], t[1], t[2], point);
    if height == 0 {
        // In the plane, which may stand upright: inside or on the border in some view means on the triangle.
        let bounds = DAabb::of_points(t);
        let near = sides[0] == sides[1] && sides[1] == sides[2] || on_line.contains(&true);
        return if near && bounds.contains(point) {
            None
        } else {
            Some(0)
        };
    }
    let through = sides[0] == sides[1] && sides[1] == sides[2] && sides[0] != 0;
    // Seen along the ray, a front that turns left has its normal ahead; the point must lie behind it.
    let ahead = height == -sides[0];
    Some(if through && ahead {
        i32::from(sides[0])
    } else {
        0
    })
}
