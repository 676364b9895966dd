//! Progress bars on stderr, shown only on a terminal.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use touchfield::bake::{Stage, Step};

use crate::cancel;
use crate::failure::Failure;
use crate::report::terminal;

/// The progress bar of one bake; removed when dropped.
pub(crate) struct BakeProgress {
    bar: ProgressBar,
    /// The stage that the bar shows, and whether its parts are counted.
    shown: Mutex<Option<(Stage, bool)>>,
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
            shown: Mutex::new(None),
        }
    }

    /// Shows the progress of a bake; cancels the bake if termination was requested.
    pub(crate) fn show(&self, step: Step) -> ControlFlow<()> {
        if !self.bar.is_hidden() {
            self.begin(step.stage, step.total > 1);
            self.bar.set_length(step.total);
            self.bar.set_position(step.done);
        }
        match cancel::is_wanted() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Switches the bar to another stage. The time left is estimated for stages whose parts are
    /// counted; the others only show that they go on.
    fn begin(&self, stage: Stage, is_counted: bool) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown == Some((stage, is_counted)) {
            return;
        }
        *shown = Some((stage, is_counted));
        let style = ProgressStyle::with_template(match is_counted {
            true => {
                "{prefix} {msg:22} {wide_bar:.cyan/dim} {percent:>3} % {elapsed:>4}, {eta} left"
            }
            false => "{prefix} {msg:22} {spinner} {elapsed}",
        });
        self.bar
            .set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.set_message(match stage {
            Stage::Preparing => "looking for defects",
            Stage::Distances => "distances",
            Stage::Signs => "inside or outside",
            Stage::Checking => "checking",
        });
        self.bar.reset_eta();
    }
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
