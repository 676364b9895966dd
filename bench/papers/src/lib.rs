//! Tables and figures of the papers that Touchfield follows, measured here and printed beside the
//! published numbers: one file per table.
//!
//! Input: [`Arguments`] of `touchfield bench`, and a [`Host`] that reads, bakes and writes for
//! them.
//! Output: an [`Answer`] with the paper's row beside ours.
//! Cost: seconds to minutes.
//! Not for: parameter sweeps and other libraries, which are in `touchfield-bench`.

mod adelman;
mod clock;
mod host;
mod krayer;
mod model;
mod random;
mod sagardia;
mod xu;

pub use host::{BakedField, Host, Stop};

use clap::{Args, Subcommand};
use serde_json::json;

use self::krayer::table1 as krayer_table1;
use self::xu::{
    fig6 as xu_fig6, table1 as xu_table1, table2 as xu_table2, table3 as xu_table3,
    table4 as xu_table4,
};
use touchfield_report::{self as report, Answer};

/// Reproduce a table or figure of a paper, and print it beside the published numbers
#[derive(Args)]
#[command(after_help = "\
Examples:
  touchfield bench list
  touchfield bench xu-table1 --model bunny.obj --resolution 128,256 --out table.csv

Times are from start to end on all threads unless a bench says otherwise: leave the machine alone meanwhile.")]
pub struct Arguments {
    #[command(subcommand)]
    name: Name,
}

#[derive(Subcommand)]
enum Name {
    /// List the benches
    List,
    Adelman(adelman::Arguments),
    KrayerTable1(krayer_table1::Arguments),
    SagardiaTable1(sagardia::Table1),
    SagardiaFig8(sagardia::Fig8),
    SagardiaTable2(sagardia::Table2),
    SagardiaFig10(sagardia::Fig10),
    SagardiaStack(sagardia::Stack),
    XuTable1(xu_table1::Arguments),
    XuTable2(xu_table2::Arguments),
    XuTable3(xu_table3::Arguments),
    XuTable4(xu_table4::Arguments),
    XuFig6(xu_fig6::Arguments),
}

/// Output of `list`: every other subcommand with its description.
const BENCHES: [(&str, &str); 12] = [
    (adelman::NAME, adelman::DESCRIPTION),
    (krayer_table1::NAME, krayer_table1::DESCRIPTION),
    (sagardia::TABLE1, sagardia::TABLE1_DESCRIPTION),
    (sagardia::FIG8, sagardia::FIG8_DESCRIPTION),
    (sagardia::TABLE2, sagardia::TABLE2_DESCRIPTION),
    (sagardia::FIG10, sagardia::FIG10_DESCRIPTION),
    (sagardia::STACK, sagardia::STACK_DESCRIPTION),
    (xu_table1::NAME, xu_table1::DESCRIPTION),
    (xu_table2::NAME, xu_table2::DESCRIPTION),
    (xu_table3::NAME, xu_table3::DESCRIPTION),
    (xu_table4::NAME, xu_table4::DESCRIPTION),
    (xu_fig6::NAME, xu_fig6::DESCRIPTION),
];

/// Runs the experiment named by the arguments.
pub fn run(arguments: &Arguments, host: &dyn Host) -> Result<Answer, Stop> {
    match &arguments.name {
        Name::List => Ok(list()),
        Name::Adelman(arguments) => adelman::run(arguments, host),
        Name::KrayerTable1(arguments) => krayer_table1::run(arguments, host),
        Name::SagardiaTable1(arguments) => sagardia::table1(arguments, host),
        Name::SagardiaFig8(arguments) => sagardia::fig8(arguments, host),
        Name::SagardiaTable2(arguments) => sagardia::table2(arguments, host),
        Name::SagardiaFig10(arguments) => sagardia::fig10(arguments, host),
        Name::SagardiaStack(arguments) => sagardia::stack(arguments, host),
        Name::XuTable1(arguments) => xu_table1::run(arguments, host),
        Name::XuTable2(arguments) => xu_table2::run(arguments, host),
        Name::XuTable3(arguments) => xu_table3::run(arguments, host),
        Name::XuTable4(arguments) => xu_table4::run(arguments, host),
        Name::XuFig6(arguments) => xu_fig6::run(arguments, host),
    }
}

fn list() -> Answer {
    let rows = BENCHES.map(|(name, what)| vec![name.to_owned(), what.to_owned()]);
    let benches = BENCHES.map(|(name, what)| json!({ "name": name, "description": what }));
    Answer {
        text: report::table(&["bench", "what it prints"], &rows),
        json: json!({ "benches": benches }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_every_bench() {
        let command = Name::augment_subcommands(clap::Command::new("bench"));
        let mut known: Vec<&str> = command.get_subcommands().map(|c| c.get_name()).collect();
        known.retain(|&name| name != "list");
        assert_eq!(known, BENCHES.map(|(name, _)| name));
    }
}
