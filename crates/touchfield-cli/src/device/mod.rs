//! `--device`: where a command computes.
//!
//! All that commands do on a GPU goes through [`Gpu`]. A binary without the feature `gpu` has the
//! same option and the same calls; there no [`Gpu`] can ever be opened, and the error names the
//! feature.

#[cfg(not(feature = "gpu"))]
mod absent;
#[cfg(feature = "gpu")]
mod present;

use clap::{Args, ValueEnum};
use serde_json::json;

#[cfg(not(feature = "gpu"))]
pub(crate) use absent::{Gpu, list};
#[cfg(feature = "gpu")]
pub(crate) use present::{Gpu, list};

use crate::failure::Failure;
use crate::report::{self, Answer};

/// Where a command computes.
#[derive(Args, Clone, Debug)]
pub(crate) struct DeviceChoice {
    /// Where to compute: on the CPU, on a GPU, or on a GPU if there is one that is not a program on
    /// the CPU (`touchfield devices` lists them)
    #[arg(long, value_enum, default_value_t, value_name = "DEVICE")]
    device: DeviceName,
    /// Part of the GPU's name, if there are several
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum DeviceName {
    /// the CPU, on all cores: the reference
    #[default]
    Cpu,
    /// a GPU; an error if there is none
    Gpu,
    /// a GPU if there is one, else the CPU
    Auto,
}

/// The result of work that may run on a GPU.
pub(crate) enum Ran<T> {
    /// Computed on the GPU of this name.
    OnGpu(T, String),
    /// Left to the CPU; with the reason, if a GPU was to be used.
    LeftToCpu(Option<String>),
}

impl DeviceChoice {
    /// Runs work on the chosen GPU. With `--device auto` whatever a GPU cannot do is left to the
    /// CPU, with a note; with `--device gpu` it is a failure.
    pub(crate) fn run<T>(
        &self,
        work: impl FnOnce(&Gpu) -> Result<T, Failure>,
    ) -> Result<Ran<T>, Failure> {
        let gpu = match self.device {
            DeviceName::Cpu => {
                return match &self.adapter {
                    None => Ok(Ran::LeftToCpu(None)),
                    Some(name) => Err(Failure::BadInput(format!(
                        "--adapter {name} needs --device gpu or --device auto"
                    ))),
                };
            }
            DeviceName::Gpu => Gpu::open(self.adapter.as_deref())?,
            DeviceName::Auto => {
                let best = list().into_iter().next();
                let is_real = best.is_some_and(|best| best.kind != "software");
                if !is_real && self.adapter.is_none() {
                    return Ok(Ran::LeftToCpu(None));
                }
                Gpu::open(self.adapter.as_deref())?
            }
        };
        match work(&gpu) {
            Ok(done) => Ok(Ran::OnGpu(done, gpu.name())),
            Err(Failure::Cancelled) => Err(Failure::Cancelled),
            Err(failure) if self.device == DeviceName::Auto => {
                Ok(Ran::LeftToCpu(Some(failure.message().to_owned())))
            }
            Err(failure) => Err(failure),
        }
    }
}

/// A GPU, as `touchfield devices` prints it.
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) backend: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) f16: bool,
    pub(crate) timestamps: bool,
    pub(crate) max_binding_bytes: u64,
}

/// Returns the answer of `touchfield devices`.
pub(crate) fn answer() -> Answer {
    let found = list();
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let rows: Vec<Vec<String>> = (found.iter())
        .map(|gpu| {
            vec![
                gpu.name.clone(),
                gpu.backend.to_owned(),
                gpu.kind.to_owned(),
                yes(gpu.f16),
                yes(gpu.timestamps),
                report::bytes(gpu.max_binding_bytes),
            ]
        })
        .collect();
    let heading = [
        "name",
        "backend",
        "kind",
        "f16",
        "timestamps",
        ">largest buffer",
    ];
    let text = match rows.is_empty() {
        true => format!("{}\n", Gpu::WHY_NONE),
        false => report::table(&heading, &rows),
    };
    let json = (found.iter())
        .map(|gpu| {
            json!({
                "name": gpu.name,
                "backend": gpu.backend,
                "kind": gpu.kind,
                "f16": gpu.f16,
                "timestamps": gpu.timestamps,
                "max_binding_bytes": gpu.max_binding_bytes,
            })
        })
        .collect();
    Answer { text, json }
}
