//! CPU seconds of this thread: what else runs on the machine changes them little.
//!
//! Input: work, as a closure. Output: its seconds. Cost: a call to the system each time. Not for:
//! work on several threads.

use cpu_time::ThreadTime;

use crate::host::Stop;

/// Enough to be measured well \[s\].
const ENOUGH: f64 = 10.0;

/// The least of up to three runs, fewer when they are long: what else runs only ever adds \[s\].
pub(crate) fn least(mut work: impl FnMut() -> Result<(), Stop>) -> Result<f64, Stop> {
    let (mut least, mut total) = (f64::INFINITY, 0.0);
    for _ in 0..3 {
        let start = ThreadTime::now();
        work()?;
        let seconds = start.elapsed().as_secs_f64();
        total += seconds;
        least = least.min(seconds);
        if total > ENOUGH {
            break;
        }
    }
    Ok(least)
}

/// What was done of some work before its time was up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) done: usize,
    /// For what was done \[s\].
    pub(crate) seconds: f64,
}

impl Part {
    /// For all, if what is left costs what was done does \[s\].
    pub(crate) fn of_all(self, count: usize) -> f64 {
        self.seconds * count as f64 / self.done as f64
    }
}

/// Does `count` pieces of work, a run of `run` at a time; once `limit` seconds are over, no more of
/// them, but always the first run.
pub(crate) fn up_to(
    limit: f64,
    count: usize,
    run: usize,
    mut work: impl FnMut(usize) -> Result<(), Stop>,
) -> Result<Part, Stop> {
    let start = ThreadTime::now();
    let mut part = Part {
        done: 0,
        seconds: 0.0,
    };
    while part.done < count && (part.done == 0 || part.seconds < limit) {
        let end = count.min(part.done + run);
        for index in part.done..end {
            work(index)?;
        }
        part = Part {
            done: end,
            seconds: start.elapsed().as_secs_f64(),
        };
    }
    Ok(part)
}
