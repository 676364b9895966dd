//! Every kernel is valid WGSL, whether or not there is an adapter.

use naga::front::wgsl;
use naga::valid::{Capabilities, ValidationFlags, Validator};

#[test]
fn every_kernel_is_valid_for_every_layout_of_the_fields() {
    let sources = touchfield_gpu::kernel_sources();
    assert!(sources.len() > 40, "{} kernels", sources.len());
    for (name, source) in sources {
        let module = wgsl::parse_str(&source)
            .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&source)));
        Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&source)));
    }
}

#[test]
fn kernels_keep_to_the_floor_of_webgpu() {
    for (name, source) in touchfield_gpu::kernel_sources() {
        let module = wgsl::parse_str(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
        let storage = module
            .global_variables
            .iter()
            .filter(|(_, variable)| matches!(variable.space, naga::AddressSpace::Storage { .. }));
        let of_groups: u32 = (module.global_variables.iter())
            .filter(|(_, variable)| variable.space == naga::AddressSpace::WorkGroup)
            .map(|(_, variable)| module.types[variable.ty].inner.size(module.to_ctx()))
            .sum();
        assert!(
            of_groups <= 16_384,
            "{name}: {of_groups} bytes of a workgroup"
        );
        assert!(storage.count() <= 12, "{name}");
        for entry in &module.entry_points {
            assert_eq!(entry.workgroup_size, [64, 1, 1], "{name}");
        }
        assert!(!source.contains("subgroup"), "{name}");
    }
}
