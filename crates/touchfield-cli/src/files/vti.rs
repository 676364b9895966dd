//! VTK's image data, `.vti`: a grid of distances for ParaView and PyVista.
//!
//! Input: a [`DenseGrid`]. Output: one XML file with raw values appended: point data `distance`,
//! field data `error_bound`.
//! Cost: one pass, four bytes per node. Not for: reading back; write `.npz` for that.
//!
//! Format: "VTK XML Formats" of the VTK documentation, appended raw data with 64-bit lengths. x
//! varies fastest there too.

use std::io::{self, Write};
use std::path::Path;

use glam::DVec3;
use touchfield::field::{DenseGrid, Field};

use crate::failure::Failure;
use crate::files::output;

/// Writes a grid in the frame of its mesh, in which the origin of its own frame is at `origin`;
/// returns the size of the file \[bytes\].
pub(crate) fn write(path: &Path, grid: &DenseGrid, origin: DVec3) -> Result<u64, Failure> {
    output::write_whole(path, |out| write_to(out, grid, origin))?;
    let written = path
        .metadata()
        .map_err(|error| Failure::in_file(path, error))?;
    Ok(written.len())
}

fn write_to(out: &mut impl Write, grid: &DenseGrid, origin: DVec3) -> io::Result<()> {
    let layout = grid.layout();
    let [x, y, z] = layout.cells().to_array();
    let extent = format!("0 {x} 0 {y} 0 {z}");
    // As `f64`, because readers would parse the shortest digits of an `f32` as another number.
    let [ox, oy, oz] = (layout.origin.as_dvec3() + origin).to_array();
    let size = f64::from(layout.cell_size);
    let error_bound = f64::from(grid.error_bound());
    write!(
        out,
        r#"<?xml version="1.0"?>
<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">
  <ImageData WholeExtent="{extent}" Origin="{ox} {oy} {oz}" Spacing="{size} {size} {size}">
    <FieldData>
      <DataArray type="Float64" Name="error_bound" NumberOfTuples="1" format="ascii">{error_bound}</DataArray>
    </FieldData>
    <Piece Extent="{extent}">
      <PointData Scalars="distance">
        <DataArray type="Float32" Name="distance" format="appended" offset="0"/>
      </PointData>
    </Piece>
  </ImageData>
  <AppendedData encoding="raw">
_"#
    )?;
    let bytes = size_of_val(grid.values()) as u64;
    out.write_all(&bytes.to_le_bytes())?;
    for value in grid.values() {
        out.write_all(&value.to_le_bytes())?;
    }
    write!(out, "\n  </AppendedData>\n</VTKFile>\n")
}
