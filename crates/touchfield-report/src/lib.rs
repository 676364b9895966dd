//! Answers of commands as text and JSON: aligned tables, numbers with units, text that is safe to
//! print on a terminal.
//!
//! Shared by the command `touchfield` and by the experiments it can run. The library `touchfield`
//! does not use it: it prints nothing.

mod answer;
mod numbers;
mod table;
pub mod terminal;
mod units;

pub use answer::{Answer, merged};
pub use numbers::{
    bytes, count, count_of, digits, length, length_in_cells, length_unit, measure, plural, rounded,
    seconds, significant,
};
pub use table::{Facts, list, table};
pub use units::Units;
