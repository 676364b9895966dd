//! Ctrl-C: the process ends with exit code 130 and leaves no unfinished file.
//!
//! Input: the signals that request termination. Output: a flag that long-running work checks, and
//! the end of the process.
//! Cost: one thread that sleeps.
//!
//! The first signal removes the files that are being written and sets the flag. Bakes and sweeps
//! stop by themselves within [`GRACE`]; a simulation writes a checkpoint first, see [`save_first`].
//! Whatever has not stopped by then is ended, as it is by a
//! second signal.

use std::io::{self, IsTerminal, Write};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use touchfield::atomic_file;

use crate::failure::Failure;
use crate::report::Answer;

/// Time that the work has to stop by itself. It is short enough that a user does not yet press the
/// keys again, and the steps of a bake take less.
const GRACE: Duration = Duration::from_millis(500);

/// Time that a command has to save what it has, if it said that it does. It saves in a fraction of
/// it, but a step of a large simulation must end first.
const SAVING: Duration = Duration::from_secs(10);

/// Whether the command saves what it has before it ends.
static SAVES: AtomicBool = AtomicBool::new(false);

/// Whether termination was requested.
static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// Whether the answer is being printed; then nothing else may be written to stdout.
static IS_ANSWERING: AtomicBool = AtomicBool::new(false);

/// Held by whoever reports the cancellation, to the end of the process, so that it is reported
/// once.
static LAST_WORD: Mutex<()> = Mutex::new(());

/// Returns whether termination was requested. Long-running work checks this now and then.
pub(crate) fn is_wanted() -> bool {
    IS_WANTED.load(Ordering::Relaxed)
}

/// Returns an error if termination was requested.
pub(crate) fn check() -> Result<(), Failure> {
    match is_wanted() {
        true => Err(Failure::Cancelled),
        false => Ok(()),
    }
}

/// Lets the command write files after termination was requested, to save what it has, until it
/// returns.
pub(crate) fn save_first(saves: bool) {
    SAVES.store(saves, Ordering::Relaxed);
}

/// Ends the process if termination was requested. Called before the answer is printed.
pub(crate) fn before_answering(as_json: bool) {
    if is_wanted() {
        end(as_json);
    }
    IS_ANSWERING.store(true, Ordering::Relaxed);
}

/// Starts listening for signals. With `as_json` a cancellation is also reported as JSON.
pub(crate) fn listen(as_json: bool) -> io::Result<()> {
    let mut signals = signals()?;
    let listener = move || {
        // The first signal requests a stop, the second ends the process.
        if signals.next_signal() {
            ask();
            let _ = thread::Builder::new().spawn(move || {
                thread::sleep(match SAVES.load(Ordering::Relaxed) {
                    true => SAVING,
                    false => GRACE,
                });
                end(as_json)
            });
        }
        if signals.next_signal() {
            end(as_json);
        }
    };
    thread::Builder::new().spawn(listener).map(drop)
}

/// Requests the work to stop, and removes unfinished files at once, because the work may take a
/// while; unless the command saves what it has first.
fn ask() {
    IS_WANTED.store(true, Ordering::Relaxed);
    if !SAVES.load(Ordering::Relaxed) {
        atomic_file::abandon();
    }
}

/// Reports that the command was cancelled, and ends the process.
fn end(as_json: bool) -> ! {
    atomic_file::abandon();
    let exit_code = Failure::Cancelled.exit_code();
    let _word = LAST_WORD.lock().unwrap_or_else(PoisonError::into_inner);
    // Errors are ignored: stderr may be closed. On a terminal, clear a progress bar first.
    let clear = if io::stderr().is_terminal() {
        "\r\x1b[K"
    } else {
        ""
    };
    let _ = writeln!(io::stderr(), "{clear}cancelled");
    if as_json && !IS_ANSWERING.load(Ordering::Relaxed) {
        let json = serde_json::json!({ "error": "cancelled", "exit_code": exit_code });
        let text = String::new();
        let _ = Answer { text, json }.print(true);
    }
    process::exit(exit_code.into())
}

/// Receives the signals that request termination.
#[cfg(unix)]
struct Signals(signal_hook::iterator::Signals);

#[cfg(unix)]
impl Signals {
    /// Waits for the next signal; returns `false` if none will come.
    fn next_signal(&mut self) -> bool {
        self.0.forever().next().is_some()
    }
}

#[cfg(unix)]
fn signals() -> io::Result<Signals> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // A process that was started to outlive its terminal (`nohup`) ignores SIGHUP; keep it that
    // way.
    let outlives = ignored_signals() >> (SIGHUP - 1) & 1 == 1;
    let wanted = match outlives {
        true => &[SIGINT, SIGTERM][..],
        false => &[SIGINT, SIGTERM, SIGHUP],
    };
    signal_hook::iterator::Signals::new(wanted).map(Signals)
}

/// Returns one bit per signal that this process was started to ignore, the lowest for signal 1; 0
/// where the system does not report them.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// Polls for the signals that request termination: outside Unix nothing waits for them.
#[cfg(not(unix))]
struct Signals(std::sync::Arc<AtomicBool>);

#[cfg(not(unix))]
impl Signals {
    /// Waits for the next signal.
    fn next_signal(&mut self) -> bool {
        while !self.0.swap(false, Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(50));
        }
        true
    }
}

#[cfg(not(unix))]
fn signals() -> io::Result<Signals> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let came = std::sync::Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, std::sync::Arc::clone(&came))?;
    }
    Ok(Signals(came))
}
