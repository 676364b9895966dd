//! Progress bars on stderr, shown only on a terminal. Elsewhere a long bake prints one line that
//! estimates the time left.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use touchfield::bake::{Stage, Step};

use crate::cancel;
use crate::failure::Failure;
use crate::report::terminal;

/// Time after which a stage that is counted may be judged: its first parts are a fair sample.
const JUDGED_AFTER: Duration = Duration::from_secs(3);

/// Estimated time left from which on a line about it is printed where no bar is shown.
const LONG: Duration = Duration::from_secs(10);

/// The progress bar of one bake; removed when dropped.
pub(crate) struct BakeProgress {
    bar: ProgressBar,
    name: String,
    /// The stage that is shown, whether its parts are counted, and when it began.
    shown: Mutex<Option<(Stage, bool, Instant)>>,
    /// Whether the time left was printed.
    is_estimated: AtomicBool,
}

impl BakeProgress {
    /// Creates a bar with `name` in front.
    pub(crate) fn new(name: &str) -> BakeProgress {
        // Drawn to stderr; hidden automatically if that is not a terminal.
        let bar = ProgressBar::new(1);
        if !bar.is_hidden() {
            bar.set_prefix(terminal::line(name).into_owned());
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        BakeProgress {
            bar,
            name: name.to_owned(),
            shown: Mutex::new(None),
            is_estimated: AtomicBool::new(false),
        }
    }

    /// Shows the progress of a bake; cancels the bake if termination was requested.
    pub(crate) fn show(&self, step: Step) -> ControlFlow<()> {
        let began = self.begin(step.stage, step.total > 1);
        if self.bar.is_hidden() {
            self.estimate(step, began.elapsed());
        } else {
            self.bar.set_length(step.total);
            self.bar.set_position(step.done);
        }
        match cancel::is_wanted() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Switches the bar to another stage. The time left is estimated for stages whose parts are
    /// counted; the others only show that they go on. Returns when the stage began.
    fn begin(&self, stage: Stage, is_counted: bool) -> Instant {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, was_counted, began)) = *shown
            && (known, was_counted) == (stage, is_counted)
        {
            return began;
        }
        let now = Instant::now();
        *shown = Some((stage, is_counted, now));
        let style = ProgressStyle::with_template(match is_counted {
            true => {
                "{prefix} {msg:22} {wide_bar:.cyan/dim} {percent:>3} % {elapsed:>4}, {eta} left"
            }
            false => "{prefix} {msg:22} {spinner} {elapsed}",
        });
        self.bar
            .set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.set_message(words(stage));
        self.bar.reset_eta();
        now
    }

    /// Prints, once per bake, how long a counted stage will take if that is long.
    fn estimate(&self, step: Step, spent: Duration) {
        if spent < JUDGED_AFTER || self.is_estimated.load(Ordering::Relaxed) {
            return;
        }
        let Some(left) = time_left(step, spent).filter(|left| *left >= LONG) else {
            return;
        };
        if !self.is_estimated.swap(true, Ordering::Relaxed) {
            // An error is ignored: stderr may be closed.
            let _ = writeln!(
                io::stderr(),
                "note: {}: {}, about {} left",
                terminal::line(&self.name),
                words(step.stage),
                indicatif::HumanDuration(left)
            );
        }
    }
}

/// Returns the name of a stage for a person.
fn words(stage: Stage) -> &'static str {
    match stage {
        Stage::Preparing => "looking for defects",
        Stage::Distances => "distances",
        Stage::Signs => "inside or outside",
        Stage::Checking => "checking",
    }
}

/// Returns the time left for a stage if the rest goes on as it began; `None` if nothing is done.
fn time_left(step: Step, spent: Duration) -> Option<Duration> {
    let is_known = step.done > 0 && step.total > 1;
    let rest = step.total.saturating_sub(step.done) as f64 / step.done as f64;
    is_known.then(|| Duration::try_from_secs_f64(spent.as_secs_f64() * rest).ok())?
}

impl Drop for BakeProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A progress bar that counts; removed when dropped.
pub(crate) struct CountProgress {
    bar: ProgressBar,
}

impl CountProgress {
    /// Creates a bar. `name` is what is counted.
    pub(crate) fn new(name: &'static str, total: u64) -> CountProgress {
        let bar = ProgressBar::new(total);
        if !bar.is_hidden() {
            let style = ProgressStyle::with_template(
                "{prefix} {human_pos} of {human_len} {wide_bar:.cyan/dim} {per_sec}, {eta} left",
            );
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_prefix(name);
        }
        CountProgress { bar }
    }

    /// Counts `count` more as done; fails if termination was requested.
    pub(crate) fn add(&self, count: u64) -> Result<(), Failure> {
        self.bar.inc(count);
        cancel::check()
    }
}

impl Drop for CountProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A progress bar of simulated time; removed when dropped.
pub(crate) struct TimeProgress {
    bar: ProgressBar,
}

impl TimeProgress {
    /// Parts of the bar: the time is a real number, and bars count.
    const PARTS: u64 = 100_000;

    /// Creates a bar with `name` in front.
    pub(crate) fn new(name: &str) -> TimeProgress {
        let bar = ProgressBar::new(TimeProgress::PARTS);
        if !bar.is_hidden() {
            let style = ProgressStyle::with_template(
                "{prefix} {msg} {wide_bar:.cyan/dim} {percent:>3} % {elapsed:>4}, {eta} left",
            );
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_prefix(terminal::line(name).into_owned());
        }
        TimeProgress { bar }
    }

    /// Shows that `time` of `seconds` are simulated \[s\].
    pub(crate) fn show(&self, time: f64, seconds: f64) {
        if !self.bar.is_hidden() {
            let share = (time / seconds).clamp(0.0, 1.0);
            self.bar
                .set_position((share * TimeProgress::PARTS as f64) as u64);
            self.bar
                .set_message(format!("{time:.3} of {seconds} s simulated"));
        }
    }
}

impl Drop for TimeProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_that_of_the_parts_that_are_left() {
        let at = |done, total| {
            let stage = Stage::Distances;
            time_left(Step { stage, done, total }, Duration::from_secs(4))
        };
        assert_eq!(at(10, 100), Some(Duration::from_secs(36)));
        assert_eq!(at(100, 100), Some(Duration::ZERO));
        assert_eq!((at(0, 100), at(1, 1)), (None, None));
        assert!(at(1, 1 << 60).is_some_and(|left| left > Duration::from_secs(1 << 61)));
    }
}
