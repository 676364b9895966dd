//! The `touchfield` command.

#[cfg_attr(
    not(test),
    expect(
        dead_code,
        reason = "`slice`, `render` and `demo` will call it; remove with the first of them"
    )
)]
mod picture;

fn main() {}
