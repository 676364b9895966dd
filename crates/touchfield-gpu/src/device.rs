//! Adapters, and the device that is opened on one.
//!
//! Input: [`GpuSettings`].
//! Output: a [`Gpu`], with limits no larger than asked for.
//! Cost: tens of milliseconds; kernels are compiled when they are first used, and kept.
//! Not for: drawing.
//!
//! Every error of the driver is caught: nothing is printed, and nothing panics. A device that is
//! lost reports it at the next call; [`Gpu::open`] opens a new one.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::error::GpuError;
use crate::kernel::Kernel;

/// What kind of device an adapter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdapterKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the memory of the CPU.
    Integrated,
    /// A GPU of a virtual machine.
    Virtual,
    /// The CPU, running the same programs: the adapter of tests.
    Software,
    /// Unknown.
    Other,
}

impl AdapterKind {
    /// Returns the word used on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            AdapterKind::Discrete => "discrete",
            AdapterKind::Integrated => "integrated",
            AdapterKind::Virtual => "virtual",
            AdapterKind::Software => "software",
            AdapterKind::Other => "other",
        }
    }
}

/// What an adapter offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Adapter {
    /// Name, as the driver gives it.
    pub name: String,
    /// Interface of the driver: `vulkan`, `metal`, `dx12` or `webgpu`.
    pub backend: &'static str,
    /// Kind of device.
    pub kind: AdapterKind,
    /// Whether kernels may use half floats.
    pub f16: bool,
    /// Whether textures of half floats can be filtered.
    pub filters_half_floats: bool,
    /// Whether the device measures the time of its own work.
    pub timestamps: bool,
    /// Most bytes of one buffer that a kernel can read.
    pub max_binding_bytes: u64,
}

/// Which adapter to open, and what to use of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GpuSettings {
    /// Part of the adapter's name, in any case; `None` takes the most capable one.
    pub adapter: Option<String>,
    /// Binds no more bytes at once than this, even if the adapter could.
    pub max_binding_bytes: Option<u64>,
    /// Uses no timestamps, even if the adapter has them.
    pub no_timestamps: bool,
    /// Uses no half floats in kernels, even if the adapter has them.
    pub no_f16: bool,
}

/// An open device. Cheap to clone; all clones are the same device.
#[derive(Clone, Debug)]
pub struct Gpu {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) adapter: Adapter,
    /// Nanoseconds per tick of a timestamp.
    pub(crate) tick: f32,
    /// Kernels by name, compiled on first use.
    kernels: Mutex<BTreeMap<String, Arc<Kernel>>>,
    state: Arc<Mutex<State>>,
}

/// What the driver reported since the device was opened.
#[derive(Debug, Default)]
struct State {
    lost: Option<String>,
    error: Option<String>,
}

/// Least bytes that a device must bind: those of the smallest grids with room for results.
const LEAST_BINDING: u64 = 4096;

/// Returns the adapters of this machine, the most capable first.
pub fn adapters() -> Vec<Adapter> {
    let found = sorted_adapters(&instance());
    found.iter().map(description).collect()
}

fn instance() -> wgpu::Instance {
    let mut settings = wgpu::InstanceDescriptor::new_without_display_handle();
    // The layers that check a driver's input print to the terminal where they are not installed.
    settings.flags = wgpu::InstanceFlags::empty();
    settings.backends = wgpu::Backends::PRIMARY;
    wgpu::Instance::new(settings)
}

/// Discrete before integrated before software; otherwise in the order of the driver.
fn sorted_adapters(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    let mut found = wait(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    found.sort_by_key(|adapter| match kind(adapter) {
        AdapterKind::Discrete => 0,
        AdapterKind::Integrated => 1,
        AdapterKind::Virtual => 2,
        AdapterKind::Other => 3,
        AdapterKind::Software => 4,
    });
    found
}

fn kind(adapter: &wgpu::Adapter) -> AdapterKind {
    match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
        wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
        wgpu::DeviceType::VirtualGpu => AdapterKind::Virtual,
        wgpu::DeviceType::Cpu => AdapterKind::Software,
        wgpu::DeviceType::Other => AdapterKind::Other,
    }
}

fn description(adapter: &wgpu::Adapter) -> Adapter {
    let info = adapter.get_info();
    let features = adapter.features();
    Adapter {
        name: info.name,
        backend: match info.backend {
            wgpu::Backend::Vulkan => "vulkan",
            wgpu::Backend::Metal => "metal",
            wgpu::Backend::Dx12 => "dx12",
            wgpu::Backend::BrowserWebGpu => "webgpu",
            _ => "other",
        },
        kind: kind(adapter),
        f16: features.contains(wgpu::Features::SHADER_F16),
        filters_half_floats: (adapter
            .get_texture_format_features(wgpu::TextureFormat::Rgba16Float))
        .flags
        .contains(wgpu::TextureFormatFeatureFlags::FILTERABLE),
        timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
        max_binding_bytes: binding_bytes(&adapter.limits()),
    }
}

fn binding_bytes(limits: &wgpu::Limits) -> u64 {
    let limit = limits.max_storage_buffer_binding_size;
    limit.min(limits.max_buffer_size)
}

impl Gpu {
    /// Opens a device.
    pub fn open(settings: &GpuSettings) -> Result<Gpu, GpuError> {
        if let Some(bytes) = settings.max_binding_bytes.filter(|&b| b < LEAST_BINDING) {
            return Err(GpuError::BadSetting {
                setting: "max_binding_bytes",
                value: bytes.to_string(),
                wanted: "at least 4096",
            });
        }
        let found = sorted_adapters(&instance());
        let name = |adapter: &wgpu::Adapter| adapter.get_info().name;
        let chosen = match &settings.adapter {
            None => found.first().ok_or(GpuError::NoAdapter)?,
            Some(wanted) => {
                let is_wanted = |adapter: &&wgpu::Adapter| {
                    let name = name(adapter).to_lowercase();
                    name.contains(&wanted.to_lowercase())
                };
                let present = || found.iter().map(name).collect();
                found
                    .iter()
                    .find(is_wanted)
                    .ok_or_else(|| match found.is_empty() {
                        true => GpuError::NoAdapter,
                        false => GpuError::NoSuchAdapter {
                            wanted: wanted.clone(),
                            present: present(),
                        },
                    })?
            }
        };
        Gpu::on(chosen, settings)
    }

    fn on(chosen: &wgpu::Adapter, settings: &GpuSettings) -> Result<Gpu, GpuError> {
        let mut adapter = description(chosen);
        adapter.f16 &= !settings.no_f16;
        adapter.timestamps &= !settings.no_timestamps;
        if let Some(bytes) = settings.max_binding_bytes {
            adapter.max_binding_bytes = adapter.max_binding_bytes.min(bytes);
        }
        let mut features = wgpu::Features::empty();
        features.set(wgpu::Features::SHADER_F16, adapter.f16);
        features.set(wgpu::Features::TIMESTAMP_QUERY, adapter.timestamps);
        // The floor of WebGPU, but for the size of buffers, which the adapter decides.
        let limits = wgpu::Limits {
            max_storage_buffer_binding_size: binding_bytes(&chosen.limits()),
            max_buffer_size: chosen.limits().max_buffer_size,
            ..wgpu::Limits::defaults()
        };
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("touchfield"),
            required_features: features,
            required_limits: limits,
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let opened = wait(chosen.request_device(&descriptor));
        let (device, queue) = opened.map_err(|error| GpuError::Refused {
            adapter: adapter.name.clone(),
            why: error.to_string(),
        })?;
        let state = Arc::new(Mutex::new(State::default()));
        let on_loss = state.clone();
        device.set_device_lost_callback(move |reason, message| {
            let mut state = on_loss.lock().unwrap_or_else(PoisonError::into_inner);
            state.lost.get_or_insert(format!("{reason:?}: {message}"));
        });
        let on_error = state.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let mut state = on_error.lock().unwrap_or_else(PoisonError::into_inner);
            state.error.get_or_insert(error.to_string());
        }));
        Ok(Gpu {
            inner: Arc::new(Inner {
                tick: queue.get_timestamp_period(),
                device,
                queue,
                adapter,
                kernels: Mutex::new(BTreeMap::new()),
                state,
            }),
        })
    }

    /// Returns what the device offers, as opened.
    pub fn adapter(&self) -> &Adapter {
        &self.inner.adapter
    }

    /// Gives the device up. Whatever is called on it from now on returns [`GpuError::Lost`], as it
    /// does after the driver has reset the device.
    pub fn destroy(&self) {
        self.inner.device.destroy();
        let mut state = self.state();
        state.lost.get_or_insert("it was destroyed".to_owned());
    }

    /// Returns whether the device was lost.
    pub fn is_lost(&self) -> bool {
        self.state().lost.is_some()
    }

    /// Returns an error if the device was lost or the driver has reported one.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        let mut state = self.state();
        if let Some(why) = &state.lost {
            return Err(GpuError::Lost(why.clone()));
        }
        match state.error.take() {
            Some(error) => Err(GpuError::Driver(error)),
            None => Ok(()),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.inner
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a kernel by name, compiling it on first use. `source` returns complete WGSL.
    pub(crate) fn kernel(
        &self,
        name: &str,
        entry: &str,
        source: impl FnOnce() -> String,
    ) -> Result<Arc<Kernel>, GpuError> {
        let kernels = &self.inner.kernels;
        let mut kernels = kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(name) {
            return Ok(kernel.clone());
        }
        let kernel = Arc::new(Kernel::compile(self, name, entry, &source())?);
        kernels.insert(name.to_owned(), kernel.clone());
        Ok(kernel)
    }
}

/// Waits for a future of wgpu. On native back ends they are ready at once or after a few polls.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::yield_now();
    }
}
