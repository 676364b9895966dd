//! Inside or outside: choosing a method from the defects of the mesh, and asking it.
//!
//! Input: a mesh of valid faces.
//! Output: a [`Signs`] that answers for any point, with the reasons for the choice in words.
//! Cost: validation of the mesh (about as long as its hierarchy takes to build), then see each method.
//! Not for: distances; they come from all faces, also those left out here.

use std::sync::Arc;

use glam::DVec3;

use super::bake::BakeError;
use super::patches::{Patches, is_balanced, is_even};
use crate::field::SignMethod;
use crate::geom::DAabb;
use crate::mesh::{
    Bvh, Defect, Nearest, Parity, SelfIntersectionCheck, SelfIntersections, Topology, TriangleMesh,
    ValidateSettings, Validation, WindingNumber, drop_duplicates, orient, self_intersections,
    validate_with, weld, winding_number_brute_force,
};

/// Beyond this many crossing pairs the list is not worth its time: winding numbers tell every sign.
const MOST_CROSSINGS: usize = 200_000;

/// How to tell inside from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignChoice {
    /// By the defects of the mesh: pseudonormals for clean ones, else winding numbers, else parity; cross-checked.
    Auto,
    /// This one, or an error when the mesh does not allow it.
    Always(SignMethod),
}

/// Tells inside from outside.
pub(super) enum Signs {
    /// A clean, closed surface.
    Pseudonormal(Patches),
    /// The winding number, whole everywhere, so that the nearest feature mostly tells it.
    ClosedWinding(Patches, WindingNumber),
    /// The winding number of a surface with holes.
    OpenWinding(WindingNumber),
    Parity(Parity),
}

/// A sign, and whether it is to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sign {
    pub(super) inside: bool,
    pub(super) doubtful: bool,
}

impl Sign {
    fn sure(inside: bool) -> Sign {
        Sign {
            inside,
            doubtful: false,
        }
    }
}

impl Signs {
    pub(super) fn method(&self) -> SignMethod {
        match self {
            Signs::Pseudonormal(_) => SignMethod::Pseudonormal,
            Signs::ClosedWinding(..) | Signs::OpenWinding(_) => SignMethod::Winding,
            Signs::Parity(_) => SignMethod::Parity,
        }
    }
}

impl SignPlan {
    /// The sign at a point whose nearest point on the mesh is known.
    pub(super) fn at(&self, point: DVec3, nearest: &Nearest) -> Sign {
        // From far enough both sides of a plate look equally near; but beyond the box of the mesh there is no inside.
        if !self.bounds.contains(point) {
            return Sign::sure(false);
        }
        match &self.signs {
            Signs::Pseudonormal(patches) => match patches.inside(point, nearest) {
                Some(inside) => Sign::sure(inside),
                // A knife edge seen from its side: too rare to keep moments for.
                None => by_winding(winding_number_brute_force(
                    self.sign_bvh.triangles().iter().copied(),
                    point,
                )),
            },
            Signs::ClosedWinding(patches, winding) => match patches.inside(point, nearest) {
                Some(inside) => Sign::sure(inside),
                None => by_winding(winding.at(point)),
            },
            Signs::OpenWinding(winding) => self.by_winding(winding, point),
            Signs::Parity(parity) => self.by_parity(parity, point),
        }
    }

    /// By the winding number of a surface with holes. Beyond the box of the mesh there is no inside, whatever the holes let
    /// through.
    pub(super) fn by_winding(&self, winding: &WindingNumber, point: DVec3) -> Sign {
        if !self.bounds.contains(point) {
            return Sign::sure(false);
        }
        by_winding(winding.at(point))
    }

    /// By rays; beyond the box of the mesh there is no inside.
    pub(super) fn by_parity(&self, parity: &Parity, point: DVec3) -> Sign {
        if !self.bounds.contains(point) {
            return Sign::sure(false);
        }
        let votes = parity.votes(point);
        Sign {
            inside: votes.says_inside(),
            doubtful: votes.is_split(),
        }
    }
}

/// Inside above one half; doubtful when nearer to one half than to a whole number.
pub(super) fn by_winding(number: f64) -> Sign {
    Sign {
        inside: number > 0.5,
        doubtful: (number - number.round()).abs() > 0.25,
    }
}

/// What was chosen, and why.
pub(super) struct SignPlan {
    pub(super) signs: Signs,
    /// Over the faces that distances are measured to.
    pub(super) bvh: Arc<Bvh>,
    /// Over the faces that count for the sign.
    pub(super) sign_bvh: Arc<Bvh>,
    pub(super) notes: Vec<String>,
    /// Around all faces.
    pub(super) bounds: DAabb,
    /// Whether the sign changes only across the surface, in truth.
    pub(super) closed: bool,
    /// Whether an even number of faces meets at every edge: then parity changes only across the surface.
    even: bool,
}

/// Chooses a method for a mesh of valid faces and builds what it needs.
pub(super) fn plan(mesh: &TriangleMesh, choice: SignChoice) -> Result<SignPlan, BakeError> {
    // Self-intersections are looked for below, in the mended mesh.
    let validation = validate_with(
        mesh,
        &ValidateSettings {
            self_intersections: SelfIntersectionCheck::Skip,
            ..ValidateSettings::default()
        },
    );
    let mut notes = describe(&validation);
    let (mut mended, cancelled) = mend(mesh, &validation, &mut notes);
    let topology = Topology::new(mended.vertices.len(), &mended.faces);
    let closed = is_balanced(&topology);
    let crossings = || match choice {
        SignChoice::Always(SignMethod::Parity) => SelfIntersections::default(),
        SignChoice::Always(_) if !closed => SelfIntersections::default(),
        _ => self_intersections(&mended, Some(MOST_CROSSINGS)),
    };
    let (mut sign_bvh, crossing) = both(|| Arc::new(Bvh::build(&mended)), crossings);
    if let Some([a, b]) = crossing.pairs.first() {
        notes.push(format!(
            "self_intersection × {}{}, the first: faces {a} and {b} run into each other",
            crossing.pairs.len(),
            if crossing.complete { "" } else { " and more" },
        ));
        // Shells that cross are not nested, whatever a probe said.
        notes.retain(|note| !note.starts_with("nested_shells"));
    }
    let clean = closed && crossing.pairs.is_empty() && is_clean(&validation);
    let method = match choice {
        SignChoice::Always(method) => method,
        SignChoice::Auto if clean => SignMethod::Pseudonormal,
        SignChoice::Auto => SignMethod::Winding,
    };
    if method == SignMethod::Pseudonormal {
        let open_edges = validation.count("open_edge");
        if open_edges > 0 {
            return Err(BakeError::OpenSurface { open_edges });
        }
        if cancelled > 0 {
            return Err(BakeError::OppositePairs { faces: cancelled });
        }
    }
    if !closed && method == SignMethod::Winding && is_inside_out(&mended, &sign_bvh) {
        mended.flip();
        sign_bvh = Arc::new(Bvh::build(&mended));
        notes.push(
            "inside_out: the open surface faces inward; for the sign, all faces were turned around"
                .to_owned(),
        );
    }
    // Turning a face around or leaving out a copy moves no distance; leaving out both of an opposite pair does.
    let bvh = if cancelled == 0 {
        Arc::clone(&sign_bvh)
    } else {
        Arc::new(Bvh::build(mesh))
    };
    let signs = match method {
        SignMethod::Pseudonormal => Signs::Pseudonormal(Patches::of_clean(&mended)),
        SignMethod::Winding => {
            let winding = WindingNumber::of(Arc::clone(&sign_bvh));
            // Patches refer to the faces that distances refer to, and need every crossing.
            if closed && cancelled == 0 && crossing.complete {
                let crossing = crossing.pairs.into_iter().flatten();
                let patches = Patches::of(&mended, &topology, crossing, &bvh, &winding);
                Signs::ClosedWinding(patches, winding)
            } else {
                Signs::OpenWinding(winding)
            }
        }
        SignMethod::Parity => Signs::Parity(Parity::of(Arc::clone(&sign_bvh))),
    };
    Ok(SignPlan {
        signs,
        bvh,
        sign_bvh,
        notes,
        bounds: mesh.bounds(),
        closed: match method {
            // On a surface that crosses or contains itself they also flip halfway between two sheets.
            SignMethod::Pseudonormal => clean,
            SignMethod::Winding => closed,
            SignMethod::Parity => is_even(&topology),
        },
        even: is_even(&topology),
    })
}

/// Two independent pieces of work, on two cores where there are two.
fn both<A: Send, B: Send>(
    left: impl FnOnce() -> A + Send,
    right: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "parallel")]
    return rayon::join(left, right);
    #[cfg(not(feature = "parallel"))]
    (left(), right())
}

/// A copy with shared vertices, one orientation and no face counted twice; and how many faces of opposite pairs it lost.
fn mend(
    mesh: &TriangleMesh,
    validation: &Validation,
    notes: &mut Vec<String>,
) -> (TriangleMesh, usize) {
    let mut mended = mesh.clone();
    weld(&mut mended, 0.0);
    let mut cancelled = 0;
    if validation.count("duplicate") > 0 {
        let report = drop_duplicates(&mut mended);
        cancelled = report.cancelled.len();
        notes.push(format!(
            "for the sign, {} faces that repeat others and {cancelled} faces of opposite pairs were left out",
            report.copies.len(),
        ));
    }
    if validation.count("inconsistent_orientation") + validation.count("inside_out") > 0 {
        let report = orient(&mut mended);
        if !report.flipped_faces.is_empty() {
            notes.push(format!(
                "for the sign, {} of {} faces were turned around (parts inside out: {})",
                report.flipped_faces.len(),
                mended.faces.len(),
                report.inside_out_components
            ));
        }
    }
    (mended, cancelled)
}

/// Whether an open surface wraps around more of its surroundings the wrong way round than the right way.
fn is_inside_out(mesh: &TriangleMesh, bvh: &Arc<Bvh>) -> bool {
    let winding = WindingNumber::of(Arc::clone(bvh));
    let numbers = probes(mesh).into_iter().map(|point| winding.at(point));
    let (mut right, mut wrong) = (0, 0);
    for number in numbers {
        right += usize::from(number > 0.5);
        wrong += usize::from(number < -0.5);
    }
    wrong > right
}

/// Points on both sides of faces all over the mesh, a hundredth of its size away.
pub(super) fn probes(mesh: &TriangleMesh) -> Vec<DVec3> {
    /// Enough to tell 10 % from 5 %.
    const PROBES: usize = 256;
    let off = 0.01 * mesh.bounds().diagonal();
    let stride = mesh.faces.len().div_ceil(PROBES);
    (0..mesh.faces.len())
        .step_by(stride)
        .filter_map(|face| {
            let triangle = mesh.triangle(face);
            Some((triangle.centroid(), triangle.normal()?))
        })
        .flat_map(|(center, normal)| [center + off * normal, center - off * normal])
        .collect()
}

/// Whether pseudonormals are right everywhere, crossings aside: closed, one fan at each vertex, no solid in a solid.
fn is_clean(validation: &Validation) -> bool {
    let spoils = [
        "degenerate",
        "duplicate",
        "non_manifold_edge",
        "bow_tie_vertex",
    ];
    validation.watertight
        && validation.manifold
        && spoils.iter().all(|kind| validation.count(kind) == 0)
        && !validation.defects.iter().any(|defect| {
            matches!(
                defect,
                Defect::NestedShells {
                    same_orientation: true,
                    ..
                }
            )
        })
}

/// One sentence a kind of defect.
fn describe(validation: &Validation) -> Vec<String> {
    validation
        .by_kind()
        .into_iter()
        .map(|(kind, count, first)| match count {
            1 => format!("{kind}: {first}"),
            _ => format!("{kind} × {count}, the first: {first}"),
        })
        .collect()
}

/// Looks whether winding numbers tell the two sides of faces apart, given as pairs of points, and turns to parity where that
/// is much clearer: faces of random orientation add up to winding numbers of nearly nothing.
pub(super) fn reconsider(plan: &mut SignPlan, points: &[DVec3]) {
    let Signs::OpenWinding(winding) = &plan.signs else {
        return;
    };
    /// Share of doubtful points from which on another method is tried.
    const SUSPICIOUS: f64 = 0.1;
    // Share of faces whose two sides come out doubtful or both outside.
    let unclear = |sign: &dyn Fn(DVec3) -> Sign| {
        let fails = |pair: &&[DVec3]| {
            let (front, back) = (sign(pair[0]), sign(pair[1]));
            // Both inside is right for a face within another shell; both outside is right for none.
            front.doubtful || back.doubtful || !(front.inside || back.inside)
        };
        points.chunks_exact(2).filter(fails).count() as f64 / (points.len() / 2).max(1) as f64
    };
    let by_winding = unclear(&|point| plan.by_winding(winding, point));
    if by_winding < SUSPICIOUS {
        return;
    }
    let parity = Parity::of(Arc::clone(&plan.sign_bvh));
    let by_parity = unclear(&|point| plan.by_parity(&parity, point));
    // A method that fails for most faces is worth nothing, and one that fails for a few less is better.
    let much_clearer = by_parity < if by_winding > 0.5 { 0.9 } else { 0.5 } * by_winding;
    if much_clearer {
        plan.closed = plan.even;
        plan.notes.push(format!(
            "winding numbers do not tell the sides of {:.0} % of the faces looked at, ray parity of {:.0} %: signs by parity",
            100.0 * by_winding,
            100.0 * by_parity
        ));
        plan.signs = Signs::Parity(parity);
    }
}
