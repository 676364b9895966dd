//! The three methods of \[Adelman\] at its own task: contacts that drive a simulation of rigid
//! bodies.
//!
//! Input: nothing.
//! Output: where each method puts its contact and what torque that costs (`contact`), and what
//! becomes of bodies whose contacts it finds (`drop`).
//! Cost: seconds.
//! Not for: the paper's times. It has no table and no figure; its findings are in words: the fast
//! method's contact may lie near the edge of a contact region and turn cubes that should not turn.

mod contact;
mod drop;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use touchfield::narrow::{ContactMethod, Descent, Subdivision};
use touchfield_dynamics::ContactFinder;
use touchfield_report::{self as report, Answer};

use crate::host::{Host, Stop};

pub(crate) const NAME: &str = "adelman";
pub(crate) const DESCRIPTION: &str =
    "[Adelman]: slow, fast and hybrid octree contacts, at rest and driving a simulation";

/// Adelman: slow, fast and hybrid octree contacts, at rest and driving a simulation
#[derive(Args)]
#[command(after_help = "\
Example:
  touchfield bench adelman --threads 1 --out adelman.csv --out-contacts adelman_contacts.csv")]
pub(crate) struct Arguments {
    /// Poses of each case in which the contact of two cubes is compared with the true centre
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    poses: u32,
    /// Simulated time \[s\]
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    seconds: f64,
    /// Steps per second
    #[arg(long, value_name = "COUNT", default_value_t = 200, value_parser = clap::value_parser!(u32).range(20..=10_000))]
    rate: u32,
    /// Write the table of simulations to this file
    #[arg(long, value_name = "OUT.csv")]
    out: Option<PathBuf>,
    /// Write the table of contacts to this file
    #[arg(long, value_name = "OUT.csv")]
    out_contacts: Option<PathBuf>,
}

/// Contact finders that are compared, with the method that each applies to two boxes.
const FINDERS: [ContactFinder; 4] = [
    ContactFinder::OctreeSlow,
    ContactFinder::OctreeFast,
    ContactFinder::OctreeHybrid,
    ContactFinder::Auto,
];

/// Returns the method that a finder applies; `auto` is the method of `ContactFinder::Auto`.
fn method(finder: ContactFinder, auto: ContactMethod) -> ContactMethod {
    let octree = |descent| {
        ContactMethod::OctreeSubdivision(Subdivision {
            descent,
            ..Subdivision::default()
        })
    };
    match finder {
        ContactFinder::OctreeSlow => octree(Descent::Slow),
        ContactFinder::OctreeFast => octree(Descent::Fast),
        ContactFinder::OctreeHybrid => octree(Subdivision::HYBRID),
        _ => auto,
    }
}

fn bad(error: &dyn std::fmt::Display) -> Stop {
    Stop::BadInput(error.to_string())
}

pub(crate) fn run(arguments: &Arguments, host: &dyn Host) -> Result<Answer, Stop> {
    if !(arguments.seconds > 0.0 && arguments.seconds <= 60.0) {
        let seconds = arguments.seconds;
        return Err(Stop::BadInput(format!(
            "--seconds is {seconds}; it must be more than 0 and at most 60"
        )));
    }
    for out in [&arguments.out, &arguments.out_contacts]
        .into_iter()
        .flatten()
    {
        host.check_text(out, "csv", &[])?;
    }
    let contacts = contact::table(arguments.poses)?;
    let drops = drop::table(arguments.seconds, 1.0 / f64::from(arguments.rate))?;
    if let Some(out) = &arguments.out {
        host.write_text(out, &drop::csv(&drops))?;
    }
    if let Some(out) = &arguments.out_contacts {
        host.write_text(out, &contact::csv(&contacts))?;
    }
    Ok(Answer {
        text: format!(
            "Cubes of 100 mm that overlap by 0.1 mm: where the contact is [mm from the centre of the contact region], torque about that centre [% of force times half an edge]\n{}\nSimulations of {}, {} steps a second\n{}",
            report::table(&contact::HEADINGS, &contact::cells(&contacts)),
            report::seconds(arguments.seconds),
            arguments.rate,
            report::table(&drop::HEADINGS, &drop::cells(&drops)),
        ),
        json: json!({
            "bench": NAME,
            "contacts": contact::json(&contacts),
            "rows": drop::json(&drops),
        }),
    })
}

/// Returns a table as CSV. The first cell of each row is text that may hold commas.
fn csv(columns: &str, rows: &[Vec<String>]) -> String {
    let row = |row: &Vec<String>| format!("\"{}\",{}\n", row[0], row[1..].join(","));
    format!("{columns}\n{}", rows.iter().map(row).collect::<String>())
}
