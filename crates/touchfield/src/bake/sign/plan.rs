//! Chooses a sign method from the defects of the mesh, and computes signs by it.
//!
//! Input: a mesh of valid faces.
//! Output: a [`SignPlan`] that returns the sign at any point, with the reasons for the choice in
//! words.
//! Cost: validation of the mesh (about as long as building its hierarchy), then see each method.
//! Not for: distances; they come from all faces, also those left out here.

use crate::bake::settings::SignChoice;
use std::sync::{Arc, OnceLock};

use glam::DVec3;

use crate::bake::error::{BakeError, SignError};
use crate::bake::sign::mend::mend;
use crate::bake::sign::patches::{Patches, is_even};
use crate::field::SignMethod;
use crate::geom::DAabb;
use crate::mesh::{
    BorderEdge, Bvh, Defect, Examination, Nearest, Parity, SelfIntersectionCheck,
    SelfIntersections, TriangleMesh, ValidateSettings, Validation, Winding, WindingNumber, border,
    crossing_faces, examine,
};
use crate::threads;

/// Number of crossing pairs beyond which listing them is not worth its time; then winding numbers
/// determine every sign.
const MOST_CROSSINGS: usize = 200_000;

/// Sign method with its data.
pub(crate) enum Signs {
    /// Pseudonormals of a clean, closed surface.
    Pseudonormal(Patches),
    /// The winding number of a closed surface. It is an integer everywhere, so the nearest feature
    /// mostly determines it.
    ClosedWinding(Patches),
    /// The winding number of a surface with holes.
    OpenWinding,
    Parity(Parity),
    /// Neither winding numbers nor rays determine signs, and evaluating them would take too long:
    /// all points count as outside, and as doubtful.
    Unknown,
}

/// A sign, and whether it is doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sign {
    pub(crate) inside: bool,
    pub(crate) doubtful: bool,
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
    pub(crate) fn method(&self) -> SignMethod {
        match self {
            Signs::Pseudonormal(_) => SignMethod::Pseudonormal,
            Signs::ClosedWinding(_) | Signs::OpenWinding | Signs::Unknown => SignMethod::Winding,
            Signs::Parity(_) => SignMethod::Parity,
        }
    }
}

impl SignPlan {
    /// Returns the sign at a point whose nearest point on the mesh is known.
    pub(crate) fn at(&self, point: DVec3, nearest: &Nearest) -> Sign {
        // From far enough away, both sides of a plate look equally near; but beyond the AABB of the
        // mesh everything is outside.
        if !self.bounds.contains(point) {
            return Sign::sure(false);
        }
        match &self.signs {
            Signs::Pseudonormal(patches) | Signs::ClosedWinding(patches) => {
                match patches.inside(point, nearest) {
                    Some(inside) => Sign::sure(inside),
                    None => self.by_winding(point),
                }
            }
            Signs::OpenWinding => self.by_winding(point),
            Signs::Parity(parity) => self.by_parity(parity, point),
            Signs::Unknown => Sign {
                inside: false,
                doubtful: true,
            },
        }
    }

    /// Returns the patches that determine the sign from the nearest feature, if the surface is
    /// closed.
    pub(crate) fn patches(&self) -> Option<&Patches> {
        match &self.signs {
            Signs::Pseudonormal(patches) | Signs::ClosedWinding(patches) => Some(patches),
            Signs::OpenWinding | Signs::Parity(_) | Signs::Unknown => None,
        }
    }

    /// Returns the winding number of the faces that count for the sign.
    pub(crate) fn winding(&self) -> &WindingNumber {
        self.sign_faces.winding()
    }

    /// Returns the sign by the winding number. Beyond the AABB of the mesh everything is outside,
    /// whatever holes let through.
    pub(crate) fn by_winding(&self, point: DVec3) -> Sign {
        if !self.bounds.contains(point) {
            return Sign::sure(false);
        }
        by_winding(self.winding().at(point))
    }

    /// Returns the sign of a whole ball by the winding number, if all of the ball has one sign.
    pub(crate) fn by_winding_within(&self, center: DVec3, radius: f64) -> Option<Sign> {
        let within = self.winding().within(center, radius);
        let margin = within.change + 2.0 * WindingNumber::ACCURACY;
        let is_one =
            (within.number - 0.5).abs() > margin && self.ends_at_box(center, radius, &within);
        is_one.then(|| by_winding(within.number))
    }

    /// Returns the sign at the centre by the winding number, and whether the sign changes only
    /// across the surface within `radius`.
    pub(crate) fn by_winding_around(&self, center: DVec3, radius: f64) -> (Sign, bool) {
        let within = self.winding().within(center, radius);
        let sign = if self.bounds.contains(center) {
            by_winding(within.number)
        } else {
            Sign::sure(false)
        };
        // Largest distance from an integer that the number can reach; at one half it would change
        // sides.
        let off = (within.number - within.number.round()).abs() + within.drift;
        let follows = off + 2.0 * WindingNumber::ACCURACY < 0.5;
        (sign, follows && self.ends_at_box(center, radius, &within))
    }

    /// Returns whether the winding number is below one half wherever the ball reaches beyond the
    /// AABB of the mesh, so that no inside region is cut off there. Assumes that within the ball
    /// the number passes one half only across the surface.
    fn ends_at_box(&self, center: DVec3, radius: f64, within: &Winding) -> bool {
        let sides = DVec3::AXES.map(|axis| [axis, -axis]);
        sides.as_flattened().iter().all(|&outward| {
            let face = if outward.element_sum() > 0.0 {
                self.bounds.max
            } else {
                self.bounds.min
            };
            let beyond = (center - face).dot(outward);
            // The region beyond one side is connected and holds no face, so one point decides for
            // all of it.
            if beyond + radius <= 0.0 {
                true
            } else if beyond > 0.0 || within.change.is_finite() {
                within.number < 0.5
            } else {
                self.winding().at(center + radius * outward) < 0.5
            }
        })
    }

    /// Returns the sign by ray parity; beyond the AABB of the mesh everything is outside.
    pub(crate) fn by_parity(&self, parity: &Parity, point: DVec3) -> Sign {
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

/// Returns the sign for a winding number: inside above one half; doubtful when nearer to one half
/// than to an integer.
pub(crate) fn by_winding(number: f64) -> Sign {
    Sign {
        inside: number > 0.5,
        doubtful: (number - number.round()).abs() > 0.25,
    }
}

/// The chosen sign method, its data, and the reasons for it.
pub(crate) struct SignPlan {
    pub(crate) signs: Signs,
    /// Hierarchy over the faces that distances are measured to.
    pub(crate) bvh: Arc<Bvh>,
    /// Faces that count for the sign.
    pub(crate) sign_faces: SignFaces,
    pub(crate) notes: Vec<String>,
    /// AABB of all faces \[m\].
    pub(crate) bounds: DAabb,
    /// Whether the true sign changes only across the surface.
    pub(crate) closed: bool,
    /// Whether an even number of faces meets at every edge; then parity changes only across the
    /// surface.
    even: bool,
    /// Whether all faces count for the sign as given: none was flipped or removed.
    pub(crate) as_given: bool,
}

/// Faces that signs are computed from.
pub(crate) struct SignFaces {
    pub(crate) bvh: Arc<Bvh>,
    border: Vec<BorderEdge>,
    /// Built at first use: clean meshes never need it.
    winding: OnceLock<WindingNumber>,
}

impl SignFaces {
    fn new(bvh: Arc<Bvh>, border: Vec<BorderEdge>) -> SignFaces {
        SignFaces {
            bvh,
            border,
            winding: OnceLock::new(),
        }
    }

    fn winding(&self) -> &WindingNumber {
        self.winding
            .get_or_init(|| WindingNumber::of(Arc::clone(&self.bvh), self.border.clone()))
    }
}

/// Returns settings that skip self-intersections. Those are searched in the mended mesh, and only
/// by methods that need them.
fn without_crossings() -> ValidateSettings {
    ValidateSettings {
        self_intersections: SelfIntersectionCheck::Skip,
        ..ValidateSettings::default()
    }
}

/// Examines a mesh of valid faces, crossings aside, and builds the hierarchy over all of them.
fn look_at(mesh: &TriangleMesh, around: DAabb) -> (Examination, Arc<Bvh>) {
    threads::both(
        || examine(mesh, &without_crossings()),
        || Arc::new(Bvh::build_in(mesh, around)),
    )
}

/// Returns the hierarchy over a mesh whose faces do not determine signs, and its defects, one
/// sentence each.
pub(crate) fn without_plan(mesh: &TriangleMesh, around: DAabb) -> (Arc<Bvh>, Vec<String>) {
    let (examination, bvh) = look_at(mesh, around);
    (bvh, describe(&examination.validation))
}

/// Chooses a method for a mesh of valid faces within a box, and builds its data.
pub(crate) fn plan(
    mesh: &TriangleMesh,
    choice: SignChoice,
    around: DAabb,
) -> Result<SignPlan, BakeError> {
    if choice.offset().is_some() {
        return Err(SignError::OffsetNeedsDense.into());
    }
    if choice == SignChoice::Always(SignMethod::Given) {
        return Err(SignError::GivenSigns.into());
    }
    // Examine the mesh, and mend a copy of it for the sign.
    let (examination, bvh) = look_at(mesh, around);
    let mut notes = describe(&examination.validation);
    let (mut mended, validation) = mend(mesh, examination, &mut notes);
    let cancelled = mended.cancelled;
    let bvh_for_sign = if mended.changed {
        Arc::new(Bvh::build_in(&mended.mesh, around))
    } else {
        Arc::clone(&bvh)
    };
    // Determine whether the mended mesh is closed, and which faces cross each other.
    let mut sign_faces = SignFaces::new(bvh_for_sign, border(&mended.mesh, &mended.topology));
    let closed = sign_faces.border.is_empty();
    let even = is_even(&mended.topology);
    let look_for_crossings = match choice {
        SignChoice::Always(SignMethod::Parity) => false,
        SignChoice::Always(_) | SignChoice::Offset(_) => closed,
        SignChoice::Auto => true,
    };
    let crossing = if look_for_crossings {
        crossing_faces(
            &mended.mesh,
            &mended.mesh.faces,
            &mended.with_area,
            Some(&sign_faces.bvh.face_order()),
            Some(MOST_CROSSINGS),
        )
    } else {
        SelfIntersections::default()
    };
    if let Some([a, b]) = crossing.pairs.first() {
        notes.push(format!(
            "self_intersection × {}{}, the first: faces {a} and {b} run into each other",
            crossing.pairs.len(),
            if crossing.complete { "" } else { " and more" },
        ));
        // Shells that cross are not nested, whatever a probe found.
        notes.retain(|note| !note.starts_with("nested_shells"));
    } else if look_for_crossings && !crossing.complete {
        notes.push(
            "self_intersection: none found so far; the search was given up, because too many faces lie close together"
                .to_owned(),
        );
    }
    // Choose the method, and refuse pseudonormals on a surface without two sides.
    let clean = closed && crossing.complete && crossing.pairs.is_empty() && is_clean(&validation);
    let method = match choice {
        SignChoice::Always(method) => method,
        SignChoice::Offset(_) => SignMethod::Offset,
        SignChoice::Auto if clean => SignMethod::Pseudonormal,
        SignChoice::Auto => SignMethod::Winding,
    };
    if method == SignMethod::Pseudonormal {
        let open_edges = validation.count("open_edge");
        if open_edges > 0 {
            return Err(SignError::OpenSurface { open_edges }.into());
        }
        if cancelled > 0 {
            return Err(SignError::OppositePairs { faces: cancelled }.into());
        }
    }
    // Flip an open surface that faces inward.
    if !closed && method == SignMethod::Winding && is_inside_out(&mended.mesh, sign_faces.winding())
    {
        mended.mesh.flip();
        // The border of a flipped surface stays where it is.
        let bvh = Arc::new(Bvh::build_in(&mended.mesh, around));
        sign_faces = SignFaces::new(bvh, sign_faces.border);
        notes.push(
            "inside_out: the open surface faces inward; for the sign, all faces were turned around"
                .to_owned(),
        );
    }
    // Flipping a face or removing a copy changes no distance; removing both of an opposite pair
    // does.
    let bvh = if cancelled == 0 {
        Arc::clone(&sign_faces.bvh)
    } else {
        bvh
    };
    // Build the data of the method.
    let signs = match method {
        SignMethod::Pseudonormal => Signs::Pseudonormal(Patches::of_clean(&mended, clean)),
        // Patches refer to the faces that distances refer to, and need every crossing.
        SignMethod::Winding if closed && cancelled == 0 && crossing.complete => {
            let crossing = crossing.pairs.into_iter().flatten();
            let winding = sign_faces.winding();
            Signs::ClosedWinding(Patches::of(&mended, crossing, &bvh, winding))
        }
        SignMethod::Winding | SignMethod::Given => Signs::OpenWinding,
        SignMethod::Parity => Signs::Parity(Parity::of(Arc::clone(&sign_faces.bvh))),
        // Refused above: faces alone do not determine it.
        SignMethod::Offset => return Err(SignError::OffsetNeedsDense.into()),
    };
    let closed = match &signs {
        // On a surface that crosses or contains itself, they also flip halfway between two sheets.
        Signs::Pseudonormal(_) => clean,
        Signs::ClosedWinding(_) | Signs::OpenWinding => closed,
        Signs::Parity(_) => even,
        Signs::Unknown => false,
    };
    Ok(SignPlan {
        signs,
        bvh,
        sign_faces,
        notes,
        bounds: mesh.bounds(),
        closed,
        even,
        as_given: !mended.changed,
    })
}

/// Returns whether a mesh of valid faces is closed as given, with no face flipped or removed for
/// the sign.
pub(crate) fn closes_as_given(mesh: &TriangleMesh) -> bool {
    let (mended, _) = mend(mesh, examine(mesh, &without_crossings()), &mut Vec::new());
    !mended.changed && border(&mended.mesh, &mended.topology).is_empty()
}

/// Returns whether an open surface encloses more of its surroundings with negative than with
/// positive winding number.
fn is_inside_out(mesh: &TriangleMesh, winding: &WindingNumber) -> bool {
    let points = probes(mesh);
    let numbers = threads::map(points.len(), |point| winding.at(points[point]));
    let (mut right, mut wrong) = (0, 0);
    for number in numbers {
        right += usize::from(number > 0.5);
        wrong += usize::from(number < -0.5);
    }
    wrong > right
}

/// Returns points on both sides of faces all over the mesh, a hundredth of its diagonal away.
pub(crate) fn probes(mesh: &TriangleMesh) -> Vec<DVec3> {
    /// Enough to distinguish 10 % from 5 %.
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

/// Returns whether pseudonormals are right everywhere, crossings aside: closed, one fan at each
/// vertex, no solid in a solid.
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

/// Returns one sentence per kind of defect.
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

/// Share of doubtful points from which on another method is tried.
const SUSPICIOUS: f64 = 0.1;

/// Most triangles that a winding number may add up one by one where its result is unclear. Tuned:
/// scans and designed parts take a few hundred, and 24³ nodes of a random soup of this many take a
/// second of one core. Beyond, the time only grows.
const MOST_TRIANGLES_FOR_NOTHING: u64 = 1024;

/// Number of faces whose two sides are tested by rays where that is costly: enough to distinguish
/// most from few.
const FEW_PAIRS: usize = 16;

/// Checks whether winding numbers distinguish the two sides of faces, given as pairs of points, and
/// switches to parity where that is much clearer: the winding numbers of faces of random
/// orientation nearly cancel. Where neither is clear, and a winding number takes long, signs are
/// given up.
pub(crate) fn reconsider(plan: &mut SignPlan, points: &[DVec3]) {
    if !matches!(plan.signs, Signs::OpenWinding) {
        return;
    }
    let pairs: Vec<&[DVec3]> = points.chunks_exact(2).collect();
    let share = |fails: usize| fails as f64 / pairs.len().max(1) as f64;
    let by_winding = share(unclear(&pairs, &|point| plan.by_winding(point), &|_| false));
    if by_winding < SUSPICIOUS {
        return;
    }
    let parity = Parity::of(Arc::clone(&plan.sign_faces.bvh));
    let triangles = mean_triangles(plan.winding(), points);
    let is_costly = triangles > MOST_TRIANGLES_FOR_NOTHING;
    // Rays take as long as winding numbers there, so fewer tests have to do.
    let looks = if is_costly { FEW_PAIRS } else { pairs.len() };
    let pairs: Vec<&[DVec3]> = (pairs.iter().copied())
        .step_by(pairs.len().div_ceil(looks).max(1))
        .collect();
    let share = |fails: usize| fails as f64 / pairs.len().max(1) as f64;
    // A method that fails for most faces is worthless, and one that fails for slightly fewer is
    // better.
    let enough = if by_winding > 0.5 { 0.9 } else { 0.5 } * by_winding;
    let is_worse = |fails| share(fails) >= enough;
    let fails = unclear(&pairs, &|point| plan.by_parity(&parity, point), &is_worse);
    if !is_worse(fails) {
        plan.closed = plan.even;
        plan.notes.push(format!(
            "winding numbers do not decide the sides of {:.0} % of the sampled faces, ray parity not of {:.0} %: signs by parity",
            100.0 * by_winding,
            100.0 * share(fails)
        ));
        plan.signs = Signs::Parity(parity);
        return;
    }
    if is_costly {
        plan.closed = false;
        plan.notes.push(format!(
            "inside and outside cannot be separated: winding numbers do not decide the sides of {:.0} % of the sampled faces, nor does \
             ray parity, and each would add up {triangles} triangles; all of the field counts as outside, and every cell around the mesh as doubtful",
            100.0 * by_winding,
        ));
        plan.signs = Signs::Unknown;
    }
}

/// Counts the pairs, points on the two sides of a face, that come out doubtful or both outside.
/// Stops early when the count `is_enough`.
fn unclear(
    pairs: &[&[DVec3]],
    sign: &(dyn Fn(DVec3) -> Sign + Sync),
    is_enough: &dyn Fn(usize) -> bool,
) -> usize {
    /// Pairs between two checks of whether the count is enough; the same for any number of threads.
    const ROUND: usize = 32;
    let fails = |pair: &[DVec3]| {
        let (front, back) = (sign(pair[0]), sign(pair[1]));
        // Both inside is right for a face within another shell; both outside is right for none.
        front.doubtful || back.doubtful || !(front.inside || back.inside)
    };
    let mut count = 0;
    for round in pairs.chunks(ROUND) {
        let failed = threads::map(round.len(), |pair| fails(round[pair]));
        count += failed.into_iter().filter(|&failed| failed).count();
        if is_enough(count) {
            break;
        }
    }
    count
}

/// Returns the number of triangles that a winding number adds up one by one, averaged over a few of
/// the points.
fn mean_triangles(winding: &WindingNumber, points: &[DVec3]) -> u64 {
    const LOOKS: usize = 32;
    let looks = points.iter().step_by(points.len().div_ceil(LOOKS).max(1));
    let counts: Vec<u64> = looks.map(|&point| winding.triangles_at(point)).collect();
    counts.iter().sum::<u64>() / counts.len().max(1) as u64
}
