//! The error of building a closed-form field from invalid numbers.

use glam::Vec3;

/// Largest size or coordinate of a shape \[m\].
///
/// Squares of lengths up to this stay far from the largest `f32`, so no primitive overflows inside
/// its bounds.
pub(crate) const LARGEST_SIZE: f32 = 1e15;

/// A parameter that does not make a valid shape.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{parameter} is {value}; it must be {requirement}")]
pub struct ParameterError {
    /// Name of the parameter.
    pub parameter: &'static str,
    /// Its value.
    pub value: f32,
    /// What the value has to be instead.
    pub requirement: &'static str,
}

/// Returns `value` if it is a valid size \[m\]. 0 is valid: a ball of radius 0 is a point.
pub(crate) fn size(parameter: &'static str, value: f32) -> Result<f32, ParameterError> {
    require(
        (0.0..=LARGEST_SIZE).contains(&value),
        parameter,
        value,
        "a length from 0 to 1e15 m",
    )
}

/// Returns half sides or semi-axes if each is a valid [`size`] \[m\].
pub(crate) fn half_extents(value: Vec3) -> Result<Vec3, ParameterError> {
    size("half_extents.x", value.x)?;
    size("half_extents.y", value.y)?;
    size("half_extents.z", value.z)?;
    Ok(value)
}

/// Returns `value` if it is a valid coordinate \[m\].
pub(crate) fn coordinate(parameter: &'static str, value: f32) -> Result<f32, ParameterError> {
    require(
        value.abs() <= LARGEST_SIZE,
        parameter,
        value,
        "a coordinate within 1e15 m of 0",
    )
}

/// Returns `value` if `holds`. Write `holds` so that it is false for NaN.
pub(crate) fn require(
    holds: bool,
    parameter: &'static str,
    value: f32,
    requirement: &'static str,
) -> Result<f32, ParameterError> {
    if holds {
        Ok(value)
    } else {
        Err(ParameterError {
            parameter,
            value,
            requirement,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_finite_and_not_negative() {
        for bad in [f32::NAN, f32::INFINITY, -1e-30, 2e15] {
            assert!(size("radius", bad).is_err(), "{bad}");
        }
        assert_eq!(size("radius", 0.0), Ok(0.0));
        assert!(coordinate("x", f32::NAN).is_err());
        let error = size("radius", -1.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "radius is -1; it must be a length from 0 to 1e15 m"
        );
    }
}
