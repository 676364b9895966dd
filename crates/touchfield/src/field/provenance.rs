//! Where a baked field comes from and how far it can be trusted.

use glam::DVec3;

/// The method that separated inside from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SignMethod {
    /// Angle-weighted pseudonormals of the nearest feature \[Baerentzen2005\]; for closed, clean
    /// meshes.
    Pseudonormal = 1,
    /// Generalised winding number above one half \[Jacobson2013, Barill2018\]; for holes, overlaps,
    /// soups.
    Winding = 2,
    /// Odd number of ray crossings, by majority of several rays; for soups of random orientation.
    Parity = 3,
    /// Region that a ball coming from outside cannot reach \[Xu2014\]: a closed, shrunk offset
    /// surface without its inner shells. For soups with gaps, where only the outer hull counts.
    Offset = 4,
    /// Signs that came with the values, such as those of an imported grid. Not a method of baking.
    Given = 255,
}

impl SignMethod {
    /// Every method, in the order of their file codes.
    pub const ALL: [SignMethod; 5] = [
        SignMethod::Pseudonormal,
        SignMethod::Winding,
        SignMethod::Parity,
        SignMethod::Offset,
        SignMethod::Given,
    ];

    /// Returns the word used on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            SignMethod::Pseudonormal => "pseudonormal",
            SignMethod::Winding => "winding",
            SignMethod::Parity => "parity",
            SignMethod::Offset => "offset",
            SignMethod::Given => "given",
        }
    }
}

/// Metadata of a field that is stored beside its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// Method that separated inside from outside.
    pub sign_method: SignMethod,
    /// Largest |interpolated − exact| over random samples \[m\]; at most the field's error bound.
    pub measured_error: f32,
    /// Whether the field's solid encloses the surface it was made from, so that no point of that
    /// surface is reported as outside.
    pub conservative: bool,
    /// Origin of the field's frame, in the frame of the mesh \[m\]. Zero unless the mesh lies so
    /// far out that `f32` could not resolve the grid there. A point at `x` of the mesh is at
    /// `x − origin` of the field; subtract in `f64`, then round.
    pub origin: DVec3,
    /// Cells whose sign is doubtful, by index (x fastest, cells not nodes), ascending.
    pub doubtful_cells: Vec<u32>,
    /// Defects of the mesh and how they were handled, one sentence each.
    pub notes: Vec<String>,
}
