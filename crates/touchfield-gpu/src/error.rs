//! Why work on a device fails.

use crate::layout::NoGpuForm;

/// Why a device cannot be opened, or did not answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GpuError {
    /// No adapter was found.
    #[error(
        "no GPU adapter was found (install a Vulkan driver; Debian's mesa-vulkan-drivers has one that needs no GPU)"
    )]
    NoAdapter,
    /// No adapter has the requested name.
    #[error("no GPU adapter has {wanted:?} in its name; there are: {}", .present.join(", "))]
    NoSuchAdapter {
        /// The requested part of a name.
        wanted: String,
        /// Names of the adapters that were found.
        present: Vec<String>,
    },
    /// The adapter refuses to open a device.
    #[error("the adapter {adapter} cannot be used: {why}")]
    Refused {
        /// Name of the adapter.
        adapter: String,
        /// Its own words.
        why: String,
    },
    /// The device is gone: reset, unplugged, or destroyed.
    #[error("the GPU device was lost: {0} (open it again and upload again)")]
    Lost(String),
    /// Something needs more memory than the device binds at once.
    #[error(
        "{what}: {bytes} bytes needed, but the device binds {limit} at most (use a coarser or sparse field, smaller \
         batches, or the CPU)"
    )]
    TooLarge {
        /// What the memory is for.
        what: &'static str,
        /// Bytes needed.
        bytes: u64,
        /// Bytes that can be bound.
        limit: u64,
    },
    /// The device has no memory left.
    #[error("the GPU has no memory left for {what} ({bytes} bytes)")]
    OutOfMemory {
        /// What the memory is for.
        what: &'static str,
        /// Bytes needed.
        bytes: u64,
    },
    /// A field cannot be evaluated on a device.
    #[error("shape {shape}: {why}")]
    NoForm {
        /// Index of the shape in the list that was given.
        shape: usize,
        /// What the device lacks.
        why: NoGpuForm,
    },
    /// A point or a pose is not finite or too far away.
    #[error("{what} {index} is not finite, or farther than {limit:e} m from the origin")]
    NotFinite {
        /// The kind of input.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Largest coordinate that is accepted \[m\].
        limit: f32,
    },
    /// A relative pose is not a finite rotation and translation.
    #[error(
        "the pose of pair {pair} is not rigid: its rotation must be a unit quaternion, its translation finite and \
         within 1e15 m"
    )]
    BadPose {
        /// Index of the pair.
        pair: usize,
    },
    /// A pair cannot be handled by the method, on any device.
    #[error("pair {pair}: {why}")]
    Pair {
        /// Index of the pair.
        pair: usize,
        /// The reason, as the CPU gives it.
        why: touchfield::narrow::CollideError,
    },
    /// The list of shapes is not the one that was uploaded.
    #[error("{given} shapes were given, but {uploaded} were uploaded; pass the same list")]
    OtherShapes {
        /// Number of shapes given.
        given: usize,
        /// Number of shapes uploaded.
        uploaded: usize,
    },
    /// Neither shape of a pair has a point shell.
    #[error("neither shape of pair {pair} has a pointshell (see touchfield::bake::pointshell)")]
    NoShell {
        /// Index of the pair.
        pair: usize,
    },
    /// A setting is out of range.
    #[error("{setting} is {value}; it must be {wanted}")]
    BadSetting {
        /// Name of the setting.
        setting: &'static str,
        /// The value given.
        value: String,
        /// The range allowed.
        wanted: &'static str,
    },
    /// A shape index is out of range.
    #[error("there is no shape {index}; {count} were uploaded")]
    NoSuchShape {
        /// The index given.
        index: usize,
        /// Number of shapes.
        count: usize,
    },
    /// The adapter cannot filter textures of half floats.
    #[error(
        "the adapter does not filter rgba16float textures (use `Shapes`, which interpolates in the kernel)"
    )]
    NoFilter,
    /// A field needs a larger texture than the adapter has.
    #[error(
        "the field needs a texture of {} × {} × {} texels, but the adapter has {limit} along a side at most \
         (use `Shapes`, or a coarser grid)", texels[0], texels[1], texels[2]
    )]
    TextureTooLarge {
        /// Texels along x, y and z.
        texels: [u64; 3],
        /// Most texels along a side.
        limit: u32,
    },
    /// The driver reported an error that the library did not expect.
    #[error("the GPU driver reports: {0}")]
    Driver(String),
}

/// Largest coordinate of points and poses that a device accepts \[m\]: squares of it stay finite in
/// `f32`.
pub const FARTHEST: f32 = 1e15;
