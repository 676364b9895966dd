//! The `touchfield` binary as its users meet it, run in folders of its own.

mod bench;
mod cancelled;
mod cast;
mod clash;
mod clearance;
mod commands;
mod contact;
mod convert;
mod convex;
mod devices;
mod far_out;
mod folder;
mod pages;
mod refusals;
mod simulate;
mod sweep;
mod swept_points;
