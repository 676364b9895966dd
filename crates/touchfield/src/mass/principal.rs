//! Principal axes: the frame in which the inertia is diagonal.
//!
//! Input: a symmetric inertia.
//! Output: its eigenvalues and an orthonormal, right-handed frame of eigenvectors.
//! Cost: a few sweeps of Jacobi rotations, which converge for every symmetric matrix.
//! Not for: nonsymmetric matrices.

use glam::{DMat3, DQuat, DVec3};

use super::MassProperties;

/// The frame at the centre of mass in which the inertia is diagonal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrincipalAxes {
    /// Moments of inertia about the three axes, per density, in ascending order \[m⁵\].
    pub moments: DVec3,
    /// Rotation from the principal axes to the frame of the solid.
    pub solid_from_principal: DQuat,
}

impl MassProperties {
    /// Computes the principal moments and axes. Equal moments leave their axes undetermined; some
    /// orthonormal frame is returned.
    pub fn principal_axes(&self) -> PrincipalAxes {
        let (moments, axes) = diagonalize(self.inertia);
        let mut order = [0, 1, 2];
        order.sort_by(|&i, &j| f64::total_cmp(&moments[i], &moments[j]));
        let [x, y, _] = order.map(|i| axes.col(i));
        PrincipalAxes {
            moments: DVec3::from_array(order.map(|i| moments[i])),
            solid_from_principal: DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize(),
        }
    }
}

/// Returns the eigenvalues, and the eigenvectors as columns.
fn diagonalize(symmetric: DMat3) -> (DVec3, DMat3) {
    // Each sweep squares the remainder off the diagonal; ten sweeps are twice what any 3 × 3 matrix
    // needs in `f64`.
    const SWEEPS: usize = 10;
    let (mut matrix, mut axes) = (symmetric, DMat3::IDENTITY);
    for _ in 0..SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let turn = rotation_that_clears(matrix, p, q);
            matrix = turn.transpose() * matrix * turn;
            axes *= turn;
        }
    }
    let diagonal = DVec3::new(matrix.x_axis.x, matrix.y_axis.y, matrix.z_axis.z);
    (diagonal, axes)
}

/// Returns the rotation in the plane of axes `p` and `q` that makes their off-diagonal entry zero.
fn rotation_that_clears(matrix: DMat3, p: usize, q: usize) -> DMat3 {
    let off = matrix.col(p)[q];
    // tan 2θ = 2 off / (m_qq − m_pp); of its two solutions take the smaller angle, with which the
    // sweeps converge.
    let angle = if off == 0.0 {
        0.0
    } else {
        let (m_pp, m_qq) = (matrix.col(p)[p], matrix.col(q)[q]);
        let slope = (m_qq - m_pp) / (2.0 * off);
        // An infinite slope gives 0: nothing left to clear.
        let tangent = slope.signum() / (slope.abs() + slope.hypot(1.0));
        tangent.atan()
    };
    let (sine, cosine) = angle.sin_cos();
    let mut turn = DMat3::IDENTITY;
    turn.col_mut(p)[p] = cosine;
    turn.col_mut(q)[q] = cosine;
    turn.col_mut(q)[p] = sine;
    turn.col_mut(p)[q] = -sine;
    turn
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn axes_and_moments_make_the_inertia_again(
            diagonal in prop::array::uniform3(0.1f64..9.0),
            turn in prop::array::uniform4(-1.0f64..1.0),
            equal in prop::bool::ANY,
        ) {
            let turn = DQuat::from_array(turn);
            prop_assume!(turn.length() > 0.1);
            let mut diagonal = DVec3::from(diagonal);
            if equal {
                diagonal.y = diagonal.x;
            }
            let rotation = DMat3::from_quat(turn.normalize());
            let inertia = rotation * DMat3::from_diagonal(diagonal) * rotation.transpose();
            let found = MassProperties { volume: 1.0, center: DVec3::ZERO, inertia }.principal_axes();
            let mut sorted = diagonal.to_array();
            sorted.sort_by(f64::total_cmp);
            prop_assert!((found.moments - DVec3::from(sorted)).length() < 1e-12, "{} {diagonal}", found.moments);
            let axes = DMat3::from_quat(found.solid_from_principal);
            let again = axes * DMat3::from_diagonal(found.moments) * axes.transpose();
            prop_assert!((again - inertia).abs().to_cols_array().iter().all(|&off| off < 1e-11), "{again} {inertia}");
        }
    }
}
