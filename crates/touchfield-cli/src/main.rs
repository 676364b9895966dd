//! The `touchfield` command: one subcommand per file.
//!
//! Input: arguments and files. Output: an [`Answer`] on stdout, as text or as one JSON object;
//! files, written atomically. Exit codes: 0 done, 1 the bodies touch and `--fail-on-contact` was
//! given, 2 bad input or usage, 3 a limit was hit, 4 a bench found two ways to one answer that
//! differ, 130 cancelled. Progress and remarks go to stderr.

mod args;
mod cancel;
mod commands;
mod device;
mod failure;
mod files;
mod input;
mod report;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serde_json::json;
use touchfield_picture as picture;

use crate::args::Common;
use crate::commands::field::{bake, convert, render, sample, slice};
use crate::commands::mesh::{inspect, models};
use crate::commands::motion::{cast, clearance, sweep};
use crate::commands::pair::{clash, collide, separation};
use crate::commands::scene::simulate;
use crate::commands::{bench, demo, devices};
use crate::failure::Failure;
use crate::input::load;
use crate::report::{Answer, terminal};

/// From any triangle mesh to a signed distance field you can trust.
#[derive(Parser)]
#[command(name = "touchfield", version, max_term_width = 110, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

const AFTER_HELP: &str = "\
Start here:
  touchfield demo                                    needs no file of yours
  touchfield inspect part.stl                        what is wrong with a mesh
  touchfield bake part.stl --units mm -o part.tfs    distances, signs, and a proven error
  touchfield slice part.tfs --axis z -o part.png     see them
  touchfield collide a.tfs b.tfs --b-in-a 0,0,0.02,0,0,0,1     where two bodies touch, and how deep
  touchfield cast a.tfs b.tfs --from 0,0,0.2,0,0,0,1 --to 0,0,0,0,0,0,1     when one first touches the other
  touchfield simulate --example stack                bodies that move by themselves

Meshes are read from .obj, .stl, .ply, .off, .gltf and .glb; baked fields are .tfs. Lengths are metres.
Exit codes: 0 done, 1 contact where --fail-on-contact is given, 2 bad input or usage, 3 a limit was hit,
4 a bench found two ways to one answer that differ, 130 cancelled (Ctrl-C; no unfinished file stays).";

#[derive(Subcommand)]
enum Command {
    Demo(demo::Arguments),
    Models(models::Arguments),
    Inspect(inspect::Arguments),
    Bake(bake::Arguments),
    Convert(convert::Arguments),
    Sample(sample::Arguments),
    Slice(slice::Arguments),
    Render(render::Arguments),
    Collide(collide::Arguments),
    Clash(clash::Arguments),
    Separation(separation::Arguments),
    Cast(cast::Arguments),
    Clearance(clearance::Arguments),
    Sweep(sweep::Arguments),
    Simulate(simulate::Arguments),
    Devices(devices::Arguments),
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    let Cli { command, common } = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
    if let Err(error) = cancel::listen(common.json) {
        // Without the handler, signals end the process as they do by default.
        load::note(&format!("Ctrl-C may leave unfinished files: {error}"));
    }
    let answered = run(&command, &common);
    cancel::before_answering(common.json);
    match answered.and_then(|answer| print(&answer, common.json)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Contact(answer)) => match print(&answer, common.json) {
            Ok(()) => ExitCode::from(Failure::Contact(answer).exit_code()),
            Err(failure) => ExitCode::from(failure.exit_code()),
        },
        Err(failure) => {
            // If stderr is closed too, the error cannot be reported.
            let message = terminal::line(failure.message());
            let _ = writeln!(io::stderr(), "error: {message}");
            if common.json {
                let _ = print(&error_answer(failure.message(), failure.exit_code()), true);
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Prints help, the version, or an error in the arguments, and exits. With `--json`, an error is
/// also printed as a JSON object.
fn refuse(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit();
    }
    let message = error.to_string();
    if std::env::args_os().any(|argument| argument == "--json") {
        let _ = print(
            &error_answer(message.trim_start_matches("error: ").trim_end(), 2),
            true,
        );
    }
    let harmless = terminal::lines(&message);
    if harmless == message {
        error.exit();
    }
    // The message quotes an argument that the terminal would obey, so print it escaped and without
    // colours.
    let _ = write!(io::stderr(), "{harmless}");
    std::process::exit(2)
}

fn error_answer(message: &str, exit_code: u8) -> Answer {
    Answer {
        text: String::new(),
        json: json!({ "error": message, "exit_code": exit_code }),
    }
}

fn run(command: &Command, common: &Common) -> Result<Answer, Failure> {
    if let Some(threads) = common.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().map_err(|error| {
            Failure::Limit(format!(
                "{threads} threads cannot be started: {error}; lower --threads"
            ))
        })?;
    }
    match command {
        Command::Demo(arguments) => demo::run(arguments, common),
        Command::Models(arguments) => models::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments, common),
        Command::Bake(arguments) => bake::run(arguments, common),
        Command::Convert(arguments) => convert::run(arguments, common),
        Command::Sample(arguments) => sample::run(arguments, common),
        Command::Slice(arguments) => slice::run(arguments, common),
        Command::Render(arguments) => render::run(arguments, common),
        Command::Collide(arguments) => collide::run(arguments, common),
        Command::Clash(arguments) => clash::run(arguments, common),
        Command::Separation(arguments) => separation::run(arguments, common),
        Command::Cast(arguments) => cast::run(arguments, common),
        Command::Clearance(arguments) => clearance::run(arguments, common),
        Command::Sweep(arguments) => sweep::run(arguments, common),
        Command::Simulate(arguments) => simulate::run(arguments, common),
        Command::Devices(arguments) => Ok(devices::run(arguments)),
        Command::Bench(arguments) => bench::run(arguments, common),
    }
}

fn print(answer: &Answer, as_json: bool) -> Result<(), Failure> {
    answer
        .print(as_json)
        .map_err(|error| Failure::BadInput(format!("stdout cannot be written: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
