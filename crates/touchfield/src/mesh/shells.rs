//! Shells: the components of a mesh as surfaces, which of them enclose a volume, and which lie
//! inside others.
//!
//! Input: faces over welded vertices, their topology, and which faces to treat as flipped.
//! Output: one [`Shell`] per component, with volume, nesting, and whether it is inside out.
//! Cost: one pass over the faces. With several closed shells also a box tree for each, and one ray
//! per shell whose box encloses it, up to the first shell that encloses it.
//! Not for: shells that cross each other. One probe decides, and `self_intersection` reports the
//! crossing.
//!
//! A probe's winding number is the signed count of crossings along a ray. It is exact, because the
//! ray is displaced symbolically where it would hit an edge (\[Edelsbrunner1990\]).

use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use glam::DVec3;

use super::{Components, Topology, box_tree::BoxTree};
use crate::geom::DAabb;
use crate::geom::predicates::{side_of_line, side_of_plane, without_axis};

/// A component of the mesh, connected through edges where two faces meet.
#[derive(Clone, Debug)]
pub(super) struct Shell {
    pub(super) first_face: u32,
    pub(super) bounds: DAabb,
    /// Area \[m²\].
    pub(super) area: f64,
    /// Whether every edge is used equally often in both directions: a closed, consistently oriented
    /// surface.
    pub(super) closed: bool,
    /// Volume \[m³\], negative when the normals point inward; meaningless unless `closed`.
    pub(super) volume: f64,
    /// Innermost closed shell around this one.
    pub(super) parent: Option<u32>,
    /// Whether the orientation must be wrong: an inward shell where there is no solid to remove
    /// (the surrounding winding is not positive), or an outward shell where the surrounding winding
    /// is negative.
    pub(super) inside_out: bool,
}

impl Shell {
    /// Returns 1 for a closed shell with normals outward, −1 inward, 0 for one that is open or
    /// encloses no volume.
    pub(super) fn orientation(&self) -> i32 {
        // Rounding of the sum over the surface; the thinnest plate in use (1e-4 of its width) is
        // far above it.
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

/// Largest number of vertices tried to find one that does not lie on the other shell.
const PROBES: usize = 8;

/// Computes the shells of a mesh, one per component of [`Topology::components_by_edges`].
///
/// Faces in `flipped` are treated as reversed. `crossing` holds pairs of components, sorted, that
/// are known to intersect and so are not nested.
pub(super) fn shells(
    vertices: &[DVec3],
    topology: &Topology,
    components: &Components,
    flipped: &[bool],
    crossing: &[[u32; 2]],
) -> Vec<Shell> {
    let mut shells = measure(vertices, topology, components, flipped);
    find_unbalanced(topology, components, flipped, &mut shells);
    let surroundings = nesting(vertices, topology, components, flipped, crossing, &shells);
    for (shell, around) in shells.iter_mut().zip(surroundings) {
        shell.parent = around.parent;
        shell.inside_out = match shell.orientation() {
            -1 => around.winding <= 0,
            1 => around.winding < 0,
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
        // Relative to the centre of the shell, to avoid cancellation far from the origin.
        let [a, b, c] = corners.map(|v| vertices[v as usize] - shell.bounds.center());
        let volume = a.dot(b.cross(c)) / 6.0;
        shell.volume += if flipped[face] { -volume } else { volume };
        shell.area += 0.5 * (b - a).cross(c - a).length();
    }
    shells
}

/// Marks as open the shells with an edge whose uses do not cancel.
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

/// The closed shells around a shell.
#[derive(Clone, Copy, Default)]
struct Surroundings {
    /// Number of closed shells.
    depth: u32,
    /// Innermost of them.
    parent: Option<u32>,
    /// Sum of their orientations.
    winding: i32,
}

/// Computes what lies around every shell, from the widest to the narrowest, so that a shell's
/// surroundings are known before those of the shells inside it.
fn nesting(
    vertices: &[DVec3],
    topology: &Topology,
    components: &Components,
    flipped: &[bool],
    crossing: &[[u32; 2]],
    shells: &[Shell],
) -> Vec<Surroundings> {
    let mut surroundings = vec![Surroundings::default(); shells.len()];
    let mut by_width: Vec<u32> = (0..shells.len() as u32)
        .filter(|&shell| shells[shell as usize].orientation() != 0)
        .collect();
    if by_width.len() < 2 {
        return surroundings;
    }
    let width = |shell: u32| shells[shell as usize].bounds.extents().element_sum();
    by_width.sort_by(|&a, &b| width(b).total_cmp(&width(a)).then(a.cmp(&b)));
    let solids = Solids::new(vertices, topology, components, flipped, shells);
    let boxes = BoxTree::new(
        (0u32..)
            .zip(&by_width)
            .map(|(place, &shell)| (place, shells[shell as usize].bounds)),
    );
    let mut crosses = vec![false; shells.len()];
    for &shell in crossing.iter().flatten() {
        if let Some(crosses) = crosses.get_mut(shell as usize) {
            *crosses = true;
        }
    }

    // For each shell, collect the wider shells whose box encloses its box.
    let mut wider: Vec<u32> = Vec::new();
    for (place, &own) in (0u32..).zip(&by_width) {
        let bounds = shells[own as usize].bounds;
        let fits_in = |around: &DAabb| around.contains(bounds.min) && around.contains(bounds.max);
        wider.clear();
        boxes.visit(0, fits_in, |position| {
            let other = boxes.items[position];
            if other < place {
                wider.push(other);
            }
            ControlFlow::Continue(())
        });
        // Test these for enclosure, the narrowest first.
        let mut narrowest_first = BinaryHeap::from(std::mem::take(&mut wider));
        let mut around = Surroundings::default();
        let mut depth_of_parent = 0;
        while let Some(other) = narrowest_first.pop() {
            let outer = by_width[other as usize];
            let pair = [own.min(outer), own.max(outer)];
            if crossing.binary_search(&pair).is_ok() || !solids.encloses(outer, own) {
                continue;
            }
            let beyond = surroundings[outer as usize];
            let winding = shells[outer as usize].orientation();
            if around.depth == 0 && !crosses[outer as usize] {
                // No shell crosses it, so whatever else is around this shell is around that one.
                around = Surroundings {
                    depth: 1 + beyond.depth,
                    parent: Some(outer),
                    winding: winding + beyond.winding,
                };
                break;
            }
            around.depth += 1;
            around.winding += winding;
            if around.parent.is_none() || beyond.depth > depth_of_parent {
                around.parent = Some(outer);
                depth_of_parent = beyond.depth;
            }
        }
        surroundings[own as usize] = around;
        wider = narrowest_first.into_vec();
    }
    surroundings
}

/// Faces of every closed shell, for ray casts.
struct Solids<'a> {
    vertices: &'a [DVec3],
    faces: &'a [[u32; 3]],
    flipped: &'a [bool],
    /// One tree per shell; empty for shells that are not closed.
    trees: Vec<BoxTree>,
    probes: Vec<Vec<DVec3>>,
}

impl<'a> Solids<'a> {
    fn new(
        vertices: &'a [DVec3],
        topology: &'a Topology,
        components: &Components,
        flipped: &'a [bool],
        shells: &[Shell],
    ) -> Solids<'a> {
        let mut boxes: Vec<Vec<(u32, DAabb)>> = vec![Vec::new(); shells.len()];
        let mut probes: Vec<Vec<DVec3>> = vec![Vec::new(); shells.len()];
        for (face, &component) in components.of_face.iter().enumerate() {
            let component = component as usize;
            if shells
                .get(component)
                .is_none_or(|shell| shell.orientation() == 0)
            {
                continue;
            }
            let corners = topology.faces()[face].map(|v| vertices[v as usize]);
            boxes[component].push((face as u32, DAabb::of_points(corners)));
            if probes[component].len() < PROBES && !probes[component].contains(&corners[0]) {
                probes[component].push(corners[0]);
            }
        }
        Solids {
            vertices,
            faces: topology.faces(),
            flipped,
            trees: boxes
                .into_iter()
                .map(|boxes| BoxTree::new(boxes.into_iter()))
                .collect(),
            probes,
        }
    }

    /// Returns whether the inner shell is inside the outer one, by the first of its probes that
    /// does not lie on it.
    fn encloses(&self, outer: u32, inner: u32) -> bool {
        let probes = &self.probes[inner as usize];
        let winding = probes.iter().find_map(|&probe| self.winding(outer, probe));
        winding.is_some_and(|winding| winding != 0)
    }

    /// Returns how often the shell winds around the point; `None` on its surface.
    fn winding(&self, shell: u32, point: DVec3) -> Option<i32> {
        let tree = &self.trees[shell as usize];
        let ahead = |other: &DAabb| {
            other.max.x >= point.x
                && other.min.y <= point.y
                && point.y <= other.max.y
                && other.min.z <= point.z
                && point.z <= other.max.z
        };
        let mut winding = Some(0);
        tree.visit(0, ahead, |position| {
            let face = tree.items[position] as usize;
            let corners = self.faces[face].map(|v| self.vertices[v as usize]);
            let direction = ray_crossing(point, corners);
            let sign = if self.flipped[face] { -1 } else { 1 };
            winding = winding
                .zip(direction)
                .map(|(winding, direction)| winding + sign * direction);
            match winding {
                Some(_) => ControlFlow::Continue(()),
                None => ControlFlow::Break(()),
            }
        });
        winding
    }
}

/// Returns how the ray from `point` along x crosses a triangle: 1 out through its front, −1 in
/// through its back, 0 if it misses; `None` when the point lies in the triangle itself.
fn ray_crossing(point: DVec3, t: [DVec3; 3]) -> Option<i32> {
    // Shells that touch in a vertex are common, and the exact predicates would be slow to find that
    // out.
    if t.contains(&point) {
        return None;
    }
    let flat_point = without_axis(point, 0);
    let flat = t.map(|p| without_axis(p, 0));
    let mut sides = [0i8; 3];
    let mut on_line = [false; 3];
    for i in 0..3 {
        let (a, b) = (flat[i], flat[(i + 1) % 3]);
        sides[i] = side_of_line(a, b, flat_point);
        if sides[i] == 0 {
            on_line[i] = true;
            // The point is displaced by (ε, ε²); to first order the side changes by −(b − a).y ε,
            // then (b − a).x ε².
            sides[i] = if a.y != b.y {
                if b.y < a.y { 1 } else { -1 }
            } else {
                i8::from(b.x > a.x) - i8::from(b.x < a.x)
            };
        }
    }
    let height = side_of_plane(t[0], t[1], t[2], point);
    if height == 0 {
        // In the plane, which may be parallel to the ray: inside or on the border in projection
        // means on the triangle.
        let bounds = DAabb::of_points(t);
        let near = sides[0] == sides[1] && sides[1] == sides[2] || on_line.contains(&true);
        return if near && bounds.contains(point) {
            None
        } else {
            Some(0)
        };
    }
    let through = sides[0] == sides[1] && sides[1] == sides[2] && sides[0] != 0;
    // Seen along the ray, a counter-clockwise front has its normal ahead; the point must lie behind
    // it.
    let ahead = height == -sides[0];
    Some(if through && ahead {
        i32::from(sides[0])
    } else {
        0
    })
}
