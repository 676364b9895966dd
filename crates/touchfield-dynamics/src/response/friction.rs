//! Regularised Coulomb friction of a pair under penalty forces, solved for the end of the step.
//!
//! Input: the places where a pair presses, with the most friction that each can bear; how the
//! bodies will move at the end of the step without friction of this pair.
//! Output: the friction on both bodies.
//! Cost: linear in the places, of which at most [`MOST_RUBS`] are kept, times a few rounds of a
//! system of six equations; no allocation.
//! Not for: impulses, whose solver has friction of its own.
//!
//! A place that bears at most `m` and slides at `s` has the friction `−m s / max(|s|, slip)`: below
//! the slip speed it is a damper of strength `m / slip`. Taken at the start of a step, such a
//! damper is stable only while h m / slip is below twice the mass, which a block under its weight
//! leaves at `h > 2 slip / (μ g)`: at a slip of 1 mm/s and μ = 0.5 beyond 0.4 ms. It then rattles
//! and creeps several times as fast as `slip`. Here `s` is the speed at the end of the step, so
//! that friction never turns a sliding around, whatever the step.
//!
//! The relative motion of the bodies is a velocity and an angular velocity about a point x₀ among
//! the places, together ξ. With the strengths cᵢ = m / max(|sᵢ|, slip), friction is −K ξ; a force
//! changes ξ at the rate Y; so ξ = (1 + h Y K)⁻¹ ξ₀, where ξ₀ is the motion without friction. The
//! strengths depend on ξ: a few rounds find both.
//!
//! A body that rubs against n others shares its mass among them: each pair sees 1/n of it. All
//! together then slow it down as one would, and do not stop it n times.

use glam::{DMat3, DVec3};

use crate::body::{Body, State};
use crate::integrate::Push;

/// A place where two bodies press on each other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rub {
    /// Place in the world \[m\].
    pub(crate) point: DVec3,
    /// Unit normal.
    pub(crate) normal: DVec3,
    /// Coefficient of friction times the normal force \[N\].
    pub(crate) most: f64,
}

/// Places of a pair beyond which neighbours are merged.
pub(crate) const MOST_RUBS: usize = 64;

/// Rounds at most, and the change of the sliding speeds, as a share of the slip speed or of
/// themselves, at which they end.
const MOST_ROUNDS: u32 = 12;
const CONVERGED: f64 = 1e-4;

/// A body as friction sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rubbing {
    center: DVec3,
    velocity: DVec3,
    spin: DVec3,
    /// Change of the velocity by a force, and of the angular velocity by a torque, for this pair's
    /// share of the mass.
    inverse_mass: DVec3,
    inverse_inertia: DMat3,
}

impl Rubbing {
    /// Returns a body that is in this state, is pushed like this for `step`, and rubs in `pairs`
    /// pairs.
    pub(crate) fn new(body: &Body, state: &State, push: Push, step: f64, pairs: u32) -> Rubbing {
        let inverse_inertia = body.inertia.world_inverse(state.orientation);
        let push = body.allowed(push);
        let share = f64::from(pairs.max(1));
        Rubbing {
            center: state.position,
            velocity: body.velocity_of(state) + step * body.inertia.inverse_mass * push.force,
            spin: body.spin_of(state) + step * (inverse_inertia * push.torque),
            inverse_mass: share * body.inertia.inverse_mass,
            inverse_inertia: inverse_inertia * share,
        }
    }

    /// Returns the velocity at a point of the world, and the angular velocity.
    fn twist(&self, about: DVec3) -> Twist {
        Twist {
            velocity: self.velocity + self.spin.cross(about - self.center),
            spin: self.spin,
        }
    }

    /// Returns how fast a wrench about a point changes the twist about that point.
    fn response(&self, about: DVec3, wrench: &Wrench) -> Twist {
        let arm = about - self.center;
        let spin = self.inverse_inertia * (wrench.torque + arm.cross(wrench.force));
        Twist {
            velocity: self.inverse_mass * wrench.force + spin.cross(arm),
            spin,
        }
    }
}

/// Relative motion of two bodies about a point.
#[derive(Clone, Copy, Debug, Default)]
struct Twist {
    velocity: DVec3,
    spin: DVec3,
}

/// Force, and torque about the same point.
#[derive(Clone, Copy, Debug, Default)]
struct Wrench {
    force: DVec3,
    torque: DVec3,
}

type Matrix = [[f64; 6]; 6];
type Column = [f64; 6];

impl Twist {
    fn column(&self) -> Column {
        joined(self.velocity, self.spin)
    }

    fn of(column: &Column) -> Twist {
        let [velocity, spin] = parted(column);
        Twist { velocity, spin }
    }

    /// Returns the velocity at a place beside the point, along the plane across `normal`.
    fn slide(&self, rub: &Rub, about: DVec3) -> DVec3 {
        let speed = self.velocity + self.spin.cross(rub.point - about);
        speed - speed.dot(rub.normal) * rub.normal
    }
}

fn joined(first: DVec3, second: DVec3) -> Column {
    let ([a, b, c], [d, e, f]) = (first.to_array(), second.to_array());
    [a, b, c, d, e, f]
}

fn parted([a, b, c, d, e, f]: &Column) -> [DVec3; 2] {
    [DVec3::new(*a, *b, *c), DVec3::new(*d, *e, *f)]
}

/// Merges runs of neighbours until few are left. Shells are sorted so that neighbours in the list
/// are neighbours on the surface. The most friction stays the same in sum.
pub(crate) fn thin(rubs: &mut Vec<Rub>) {
    if rubs.len() <= MOST_RUBS {
        return;
    }
    let run = rubs.len().div_ceil(MOST_RUBS);
    let mut kept = 0;
    for start in (0..rubs.len()).step_by(run) {
        let end = (start + run).min(rubs.len());
        let (mut point, mut normal, mut most) = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for rub in &rubs[start..end] {
            point += rub.most * rub.point;
            normal += rub.most * rub.normal;
            most += rub.most;
        }
        // Places without a load bear nothing; normals that cancel leave no plane to slide in.
        if let (true, Some(normal)) = (most > 0.0, normal.try_normalize()) {
            rubs[kept] = Rub {
                point: point / most,
                normal,
                most,
            };
            kept += 1;
        }
    }
    rubs.truncate(kept);
}

/// Computes the friction on A and on B over the next `step`.
pub(crate) fn friction(bodies: [&Rubbing; 2], rubs: &[Rub], slip: f64, step: f64) -> [Push; 2] {
    let total: f64 = rubs.iter().map(|rub| rub.most).sum();
    if total <= 0.0 {
        return [Push::default(); 2];
    }
    let about = rubs.iter().map(|rub| rub.most * rub.point).sum::<DVec3>() / total;
    let [a, b] = bodies;
    let (of_a, of_b) = (a.twist(about), b.twist(about));
    let free = Twist {
        velocity: of_b.velocity - of_a.velocity,
        spin: of_b.spin - of_a.spin,
    };
    let response = response_matrix(bodies, about, step);
    // The first guess is that of a body that slides without turning.
    let slowed = step * total * (a.inverse_mass + b.inverse_mass).max_element();
    let speed_of = |rub: &Rub, twist: Option<&Twist>| match twist {
        Some(twist) => twist.slide(rub, about).length(),
        None => free.slide(rub, about).length() - slowed,
    };
    let mut found: Option<Twist> = None;
    let mut wrench = Wrench::default();
    for _ in 0..MOST_ROUNDS {
        let strength = |rub: &Rub| rub.most / speed_of(rub, found.as_ref()).max(slip);
        let damping = damping_matrix(rubs, about, strength);
        let Some(solved) = solve(&response, &damping, &free.column()) else {
            break;
        };
        let twist = Twist::of(&solved);
        let against = times(&damping, &solved);
        let [force, torque] = parted(&against);
        wrench = Wrench {
            force: -force,
            torque: -torque,
        };
        let change = rubs.iter().map(|rub| {
            let [before, now] = [found.as_ref(), Some(&twist)].map(|twist| speed_of(rub, twist));
            let [before, now] = [before.max(slip), now.max(slip)];
            (now - before).abs() / now
        });
        let change = change.fold(0.0, f64::max);
        found = Some(twist);
        if change <= CONVERGED {
            break;
        }
    }
    let push_on = |body: &Rubbing, sign: f64| Push {
        force: sign * wrench.force,
        torque: sign * (wrench.torque + (about - body.center).cross(wrench.force)),
    };
    [push_on(a, -1.0), push_on(b, 1.0)]
}

/// Returns h Y: the change of the relative motion by a unit wrench over the step.
fn response_matrix(bodies: [&Rubbing; 2], about: DVec3, step: f64) -> Matrix {
    let mut matrix = [[0.0; 6]; 6];
    for column in 0..6 {
        let mut unit = [0.0; 6];
        unit[column] = step;
        let [force, torque] = parted(&unit);
        let wrench = Wrench { force, torque };
        // On A acts the opposite, and its motion counts with the opposite sign.
        for body in bodies {
            let change = body.response(about, &wrench).column();
            for (row, change) in matrix.iter_mut().zip(change) {
                row[column] += change;
            }
        }
    }
    matrix
}

/// Returns K: friction is −K times the relative motion.
fn damping_matrix(rubs: &[Rub], about: DVec3, mut strength: impl FnMut(&Rub) -> f64) -> Matrix {
    // Blocks [A, Bᵀ; B, D] of c T, c d × T and c d × T × dᵀ, with T across the normal.
    let (mut linear, mut mixed, mut angular) = (DMat3::ZERO, DMat3::ZERO, DMat3::ZERO);
    for rub in rubs {
        let n = rub.normal;
        let across = DMat3::IDENTITY - DMat3::from_cols(n.x * n, n.y * n, n.z * n);
        let part = across * strength(rub);
        let d = rub.point - about;
        let cross = DMat3::from_cols(
            DVec3::new(0.0, d.z, -d.y),
            DVec3::new(-d.z, 0.0, d.x),
            DVec3::new(d.y, -d.x, 0.0),
        );
        linear += part;
        mixed += cross * part;
        angular += cross * part * cross.transpose();
    }
    let mut matrix = [[0.0; 6]; 6];
    for row in 0..3 {
        for column in 0..3 {
            matrix[row][column] = linear.col(column)[row];
            matrix[row + 3][column] = mixed.col(column)[row];
            matrix[row][column + 3] = mixed.col(row)[column];
            matrix[row + 3][column + 3] = angular.col(column)[row];
        }
    }
    matrix
}

fn times(matrix: &Matrix, column: &Column) -> Column {
    matrix.map(|row| row.iter().zip(column).map(|(a, b)| a * b).sum())
}

/// Solves `(1 + Y K) ξ = ξ₀` by elimination with pivots; `None` where that is not possible.
fn solve(response: &Matrix, damping: &Matrix, free: &Column) -> Option<Column> {
    let mut rows = [[0.0; 7]; 6];
    for (place, row) in rows.iter_mut().enumerate() {
        for (column, value) in row[..6].iter_mut().enumerate() {
            let products = (0..6).map(|inner| response[place][inner] * damping[inner][column]);
            *value = products.sum::<f64>() + f64::from(u8::from(place == column));
        }
        row[6] = free[place];
    }
    for step in 0..6 {
        let pivot =
            (step..6).max_by(|&i, &j| rows[i][step].abs().total_cmp(&rows[j][step].abs()))?;
        rows.swap(step, pivot);
        let lead = rows[step];
        if !(lead[step].abs() > 0.0 && lead[step].is_finite()) {
            return None;
        }
        for row in &mut rows[step + 1..] {
            let share = row[step] / lead[step];
            for (value, lead) in row.iter_mut().zip(lead).skip(step) {
                *value -= share * lead;
            }
        }
    }
    let mut found = [0.0; 6];
    for step in (0..6).rev() {
        let known: f64 = (step + 1..6).map(|at| rows[step][at] * found[at]).sum();
        found[step] = (rows[step][6] - known) / rows[step][step];
    }
    found.iter().all(|value| value.is_finite()).then_some(found)
}
