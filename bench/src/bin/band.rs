//! Measures the cost of a narrow band over the resolution:
//! `band [--band CELLS] [--mesh FILE] NODES...`.
//!
//! Input: resolutions; the reference mesh of [`models`], or a file.
//! Output: one line of JSON per resolution on stdout: seconds, memory, bytes of the field and of
//! its file.
//! Not for: interactive use (see `touchfield bake`). `bench/peers/band` runs it beside OpenVDB.

#![expect(clippy::print_stdout, reason = "a program: its result goes there")]

use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::OnceLock;

use cpu_time::ProcessTime;
use touchfield::bake::{BakeSettings, Resolution, SparseGoal, SparseSettings, Stage, bake_sparse};
use touchfield::field::{Field, StoredField, file};
use touchfield_bench::{clock, models};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut band, mut path, mut resolutions) = (3.0, None, Vec::new());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--band" => band = value()?.parse()?,
            "--mesh" => path = Some(PathBuf::from(value()?)),
            nodes => resolutions.push(nodes.parse()?),
        }
    }
    let models::Reference { mesh, name } = models::reference(path.as_deref())?;
    let sparse = SparseSettings {
        goal: SparseGoal::Band(band),
        ..Default::default()
    };
    for nodes in resolutions {
        let settings = BakeSettings {
            resolution: Resolution::Nodes(nodes),
            ..Default::default()
        };
        let before = clock::memory().map_or(0, |memory| memory.now);
        let ((baked, prepare), spent) = clock::least(|| {
            let (start, prepared) = (ProcessTime::now(), OnceLock::new());
            let baked = bake_sparse(&mesh, &settings, &sparse, &|step| {
                if step.stage != Stage::Preparing {
                    prepared.get_or_init(|| start.elapsed().as_secs_f64());
                }
                ControlFlow::Continue(())
            });
            (baked, prepared.get().copied().unwrap_or_default())
        });
        let baked = baked?;
        let peak = clock::memory().map_or(0, |memory| memory.peak);
        let (blocks, bytes) = (baked.field.parts().blocks.len(), baked.field.bytes());
        let error = baked.field.error_bound();
        let in_blocks = (baked.field.parts().blocks.iter())
            .map(|block| block.error)
            .fold(0.0, f32::max);
        let cell_size = baked.field.finest_cell_size();
        let values = baked.field.parts().values.len();
        let field = StoredField::Sparse(baked.field);
        let (written, writing) = clock::timed(|| file::to_bytes(&field, &baked.provenance));
        println!(
            r#"{{"mesh": "{name}", "nodes": {nodes}, "cell_size": {cell_size}, "band": {band}, "wall": {:.3}, "cpu": {:.3}, "prepare_cpu": {prepare:.3}, "blocks": {blocks}, "values": {values}, "bytes": {bytes}, "file_bytes": {}, "write_cpu": {:.3}, "error_bound": {error}, "error_in_blocks": {in_blocks}, "before": {before}, "peak": {peak}}}"#,
            spent.wall,
            spent.cpu,
            written.len(),
            writing.cpu
        );
    }
    Ok(())
}
