//! CPU time of this thread, which other load on the machine changes little.
//!
//! Input: work, as a closure.
//! Output: its CPU time \[s\].
//! Cost: one system call per measurement.
//! Not for: work on several threads.

use cpu_time::ThreadTime;

use crate::host::Stop;

/// CPU time after which no further run is needed \[s\].
const ENOUGH: f64 = 10.0;

/// Runs the work up to three times, fewer when it is long, and returns the least time: other load
/// only ever adds \[s\].
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

/// The part of some work that was done before its time limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) done: usize,
    /// CPU time of the part that was done \[s\].
    pub(crate) seconds: f64,
}

impl Part {
    /// Returns the estimated time for all of the work, if the rest costs as much per piece as what
    /// was done \[s\].
    pub(crate) fn of_all(self, count: usize) -> f64 {
        self.seconds * count as f64 / self.done as f64
    }
}

/// Does `count` pieces of work in batches of `run`. Stops after the batch in which `limit` \[s\] is
/// exceeded; the first batch is always done.
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
