//! NumPy's `.npz` files as grids of distances, out and in: any grid can become a field.
//!
//! Input: a [`DenseGrid`]; or a file with `distance`, `origin` and `cell_size`, and a promised
//! error bound.
//! Output: a file that `numpy.load` reads; or a field, or what is wrong with the file and where.
//! Cost: one pass; in C order a second copy. Memory is checked against the limit before it is
//! allocated, whatever a file declares.
//! Not for: arrays of several solids, cells that are not cubes.
//!
//! `distance[i, j, k]` is the distance at `origin + cell_size · (i, j, k)`, negative inside. It is
//! written in Fortran order, because x varies fastest in Touchfield's grids; either order can be
//! read.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::Path;

use glam::{DVec3, UVec3};
use touchfield::bake::{Given, GivenError, Promise, given_grid};
use touchfield::field::{DenseGrid, Field, GridLayout, Provenance};
use touchfield::geom::Aabb;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::failure::Failure;
use crate::files::npy::{self, Header, NpyError};
use crate::files::output;
use crate::report;

/// The first bytes of a zip archive.
const SIGNATURE: [u8; 4] = *b"PK\x03\x04";

/// Returns whether a file is an archive of arrays, or at least has the extension of one.
pub(crate) fn is_npz(path: &Path) -> bool {
    let mut start = [0; SIGNATURE.len()];
    let magic = match path.is_file() {
        true => File::open(path).and_then(|mut file| file.read_exact(&mut start)),
        false => Err(io::ErrorKind::Unsupported.into()),
    };
    (magic.is_ok() && start == SIGNATURE)
        || path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("npz"))
}

/// Writes a grid in the frame of its mesh, in which the origin of its own frame is at `origin`;
/// returns the size of the file \[bytes\].
pub(crate) fn write(path: &Path, grid: &DenseGrid, origin: DVec3) -> Result<u64, Failure> {
    let layout = grid.layout();
    let solid = grid.solid();
    let solid: Vec<f64> = [solid.min, solid.max]
        .into_iter()
        .flat_map(|corner| (corner.as_dvec3() + origin).to_array())
        .collect();
    let shape = layout.nodes.to_array().map(u64::from);
    // No time stamp: the same field gives the same bytes.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::DEFAULT)
        .large_file(4 * layout.node_count() > u64::from(u32::MAX) / 2);
    output::write_whole(path, |out| {
        let mut archive = ZipWriter::new(out);
        let mut numbers = |name: &str, shape: &[u64], values: &[f64]| {
            archive.start_file(name, options)?;
            npy::write_f64(&mut archive, shape, values)
        };
        numbers(
            "origin.npy",
            &[3],
            &(layout.origin.as_dvec3() + origin).to_array(),
        )?;
        numbers("cell_size.npy", &[], &[layout.cell_size.into()])?;
        numbers("error_bound.npy", &[], &[grid.error_bound().into()])?;
        numbers("solid.npy", &[2, 3], &solid)?;
        archive.start_file("distance.npy", options)?;
        // The archive updates a checksum for every write; large writes are cheaper.
        let mut buffer = BufWriter::with_capacity(1 << 16, &mut archive);
        npy::write_f32(&mut buffer, &shape, true, grid.values())?;
        buffer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        archive.finish()?;
        Ok(())
    })?;
    let written = path
        .metadata()
        .map_err(|error| Failure::in_file(path, error))?;
    Ok(written.len())
}

/// Reads a grid. `promise` overrides what the file says about its error.
pub(crate) fn read(
    path: &Path,
    promise: Option<Promise>,
    max_memory: u64,
) -> Result<(DenseGrid, Provenance), Failure> {
    let file = File::open(path).map_err(|error| Failure::in_file(path, error))?;
    let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| {
        Failure::in_file(
            path,
            format!("is no .npz archive: {error}; write one with numpy.savez"),
        )
    })?;
    let mut arrays = Arrays {
        path,
        archive,
        max_memory,
    };
    let origin = arrays.expect("origin", &[3])?;
    let origin = DVec3::new(origin[0], origin[1], origin[2]);
    let cell_sizes = arrays.cell_sizes()?;
    let promise = arrays.promise(promise)?;
    let solid = arrays.small("solid", &[6])?.map(|corners| {
        let corner = |at: usize| DVec3::new(corners[at], corners[at + 1], corners[at + 2]);
        let (min, max) = (corner(0), corner(3));
        // Round outwards: the box must contain the surface.
        let outward = |exact: DVec3, way: fn(f32) -> f32, is_inward: fn(f64, f64) -> bool| {
            let rounded = exact.to_array().map(|exact| {
                let rounded = exact as f32;
                if is_inward(f64::from(rounded), exact) {
                    way(rounded)
                } else {
                    rounded
                }
            });
            glam::Vec3::from(rounded)
        };
        Aabb::new(
            outward(min, f32::next_down, |rounded, exact| rounded > exact),
            outward(max, f32::next_up, |rounded, exact| rounded < exact),
        )
    });
    let (nodes, values, value_rounded) = arrays.distances()?;
    let layout = GridLayout {
        origin: origin.as_vec3(),
        cell_size: cell_sizes.x as f32,
        nodes,
    };
    // Moving a node by rounding changes its distance by at most as much.
    let moved = (layout.origin.as_dvec3() - origin).length()
        + ((f64::from(layout.cell_size) - cell_sizes) * nodes.as_dvec3()).length();
    let given = Given {
        layout,
        values,
        solid,
        promise,
        rounded: moved + value_rounded,
    };
    given_grid(given).map_err(|error| Failure::in_file(path, with_options(&error)))
}

/// Describes an error in terms of the command line.
fn with_options(error: &GivenError) -> String {
    match error {
        GivenError::TooSteep { .. } => format!("{error} (--node-error, --error-bound)"),
        error => error.to_string(),
    }
}

fn fails(path: &Path, array: &str, why: impl std::fmt::Display) -> Failure {
    Failure::in_file(path, format!("array `{array}`: {why}"))
}

fn missing(path: &Path, array: &str) -> Failure {
    fails(
        path,
        array,
        "is missing; a grid needs three: numpy.savez(file, distance=…, origin=…, cell_size=…)",
    )
}

struct Arrays<'a> {
    path: &'a Path,
    archive: ZipArchive<BufReader<File>>,
    max_memory: u64,
}

impl Arrays<'_> {
    /// Returns the header of an array and the data after it; `None` if there is no such array.
    fn open(&mut self, array: &str) -> Result<Option<(Header, impl Read)>, Failure> {
        let path = self.path;
        let mut entry = match self.archive.by_name(&format!("{array}.npy")) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => {
                let why = format!("cannot be unpacked: {error}; save it again with numpy.savez");
                return Err(fails(path, array, why));
            }
        };
        let header = Header::read(&mut entry).map_err(|error| fails(path, array, error))?;
        Ok(Some((header, entry)))
    }

    /// Reads a small array whose length is one of `counts`; `None` if there is no such array.
    fn small(&mut self, array: &str, counts: &[u64]) -> Result<Option<Vec<f64>>, Failure> {
        let mut numbers = Vec::new();
        let read = match self.open(array)? {
            None => return Ok(None),
            Some((header, mut data)) => {
                let found = header.count();
                match counts.contains(&found) {
                    true => header
                        .numbers(&mut data, |number| numbers.push(number))
                        .map_err(|error| error.to_string()),
                    false => Err(format!(
                        "has shape ({}) and {found} numbers instead of {}",
                        header.shape_text(),
                        counts
                            .iter()
                            .map(u64::to_string)
                            .collect::<Vec<_>>()
                            .join(" or ")
                    )),
                }
            }
        };
        read.map_err(|why| fails(self.path, array, why))?;
        match numbers.iter().find(|number| !number.is_finite()) {
            Some(number) => Err(fails(
                self.path,
                array,
                format!("holds {number}, which is no finite number"),
            )),
            None => Ok(Some(numbers)),
        }
    }

    /// Reads a small array that must exist.
    fn expect(&mut self, array: &str, counts: &[u64]) -> Result<Vec<f64>, Failure> {
        let path = self.path;
        self.small(array, counts)?
            .ok_or_else(|| missing(path, array))
    }

    /// Reads `cell_size`, or `spacing` as other programs call it.
    fn cell_sizes(&mut self) -> Result<DVec3, Failure> {
        let name = match self.archive.index_for_name("cell_size.npy") {
            None if self.archive.index_for_name("spacing.npy").is_some() => "spacing",
            _ => "cell_size",
        };
        let sizes = self.expect(name, &[1, 3])?;
        let (least, most) = (
            sizes.iter().copied().fold(f64::INFINITY, f64::min),
            sizes.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        // Three sides that differ only by rounding count as equal.
        if most - least > 1e-6 * most.abs() {
            let why = format!("{sizes:?} are no sides of a cube; resample the grid to cubic cells");
            return Err(fails(self.path, name, why));
        }
        Ok(match sizes[..] {
            [x, y, z] => DVec3::new(x, y, z),
            _ => DVec3::splat(most),
        })
    }

    fn promise(&mut self, given: Option<Promise>) -> Result<Promise, Failure> {
        if let Some(promise) = given {
            return Ok(promise);
        }
        if let Some(bound) = self.small("error_bound", &[1])? {
            return Ok(Promise::ErrorBound(bound[0]));
        }
        if let Some(error) = self.small("node_error", &[1])? {
            return Ok(Promise::NodeError(error[0]));
        }
        Err(Failure::in_file(
            self.path,
            "says nothing of how exact its distances are, and a field must: --node-error E if the values are off by at most E metres (0: exact but for \
             rounding; what lies between nodes is then proven), or --error-bound E if you know that of all that is interpolated; or save it as `node_error` \
             or `error_bound`",
        ))
    }

    /// Reads the number of nodes, the values with x fastest, and the largest change of a value by
    /// rounding to `f32`.
    fn distances(&mut self) -> Result<(UVec3, Vec<f32>, f64), Failure> {
        let (array, path, max_memory) = ("distance", self.path, self.max_memory);
        let Some((header, mut data)) = self.open(array)? else {
            return Err(missing(path, array));
        };
        read_distances(&header, &mut data, max_memory).map_err(|failure| match failure {
            Failure::BadInput(why) => fails(path, array, why),
            Failure::Limit(why) => {
                Failure::Limit(format!("{}: array `{array}`: {why}", path.display()))
            }
            contact => contact,
        })
    }
}

fn read_distances(
    header: &Header,
    data: &mut impl Read,
    max_memory: u64,
) -> Result<(UVec3, Vec<f32>, f64), Failure> {
    let bad = |why: String| Failure::BadInput(why);
    let sides: Option<[u32; 3]> = match header.shape.as_slice() {
        &[x, y, z] => [x, y, z]
            .iter()
            .map(|&side| u32::try_from(side).ok())
            .collect::<Option<Vec<u32>>>()
            .and_then(|sides| sides.try_into().ok()),
        _ => None,
    };
    let Some(nodes) = sides.map(UVec3::from) else {
        return Err(bad(format!(
            "has shape ({}); it must be three-dimensional: distance[i, j, k] at origin + cell_size · (i, j, k)",
            header.shape_text()
        )));
    };
    if !header.is_float() {
        return Err(bad(
            "holds whole numbers; save distance.astype('f4')".to_owned()
        ));
    }
    // In C order the numbers must be reordered, which takes a second copy.
    let copies = if header.fortran_order { 1 } else { 2 };
    let needed = header.count().saturating_mul(4 * copies);
    if needed > max_memory {
        return Err(Failure::Limit(format!(
            "({}) takes {}, more than the {} allowed; raise --max-memory, or save a coarser grid",
            header.shape_text(),
            report::bytes(needed),
            report::bytes(max_memory)
        )));
    }
    let count = header.count() as usize;
    let mut values: Vec<f32> = Vec::new();
    let mut rounded = 0.0f64;
    let read = header.numbers(data, |number| {
        let value = number as f32;
        if number.is_finite() {
            rounded = rounded.max((f64::from(value) - number).abs());
        }
        // Memory grows with the data that arrives, and never exceeds what is needed.
        if values.len() == values.capacity() {
            let more = values.len().max(1 << 16).min(count - values.len());
            values.reserve_exact(more);
        }
        values.push(value);
    });
    read.map_err(|error: NpyError| bad(error.to_string()))?;
    let [nx, ny, nz] = nodes.to_array().map(|n| n as usize);
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        let [i, j, k] = match header.fortran_order {
            true => [at % nx, at / nx % ny, at / nx / ny],
            false => [at / nz / ny, at / nz % ny, at % nz],
        };
        return Err(bad(format!(
            "distance[{i}, {j}, {k}] is {}, no finite distance in f32; fill such places, or cut them off",
            values[at]
        )));
    }
    if !header.fortran_order {
        let from = |at: usize| ((at % nx) * ny + at / nx % ny) * nz + at / nx / ny;
        values = (0..count).map(|at| values[from(at)]).collect();
    }
    Ok((nodes, values, rounded))
}
