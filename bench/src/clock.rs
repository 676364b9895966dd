//! Seconds and bytes of this process.
//!
//! Input: the work, as a closure. Output: its result, its wall time and its CPU time; or what `/proc` says of memory.
//! Not for: parts of a microsecond (criterion does those).

use std::time::Instant;

use cpu_time::ProcessTime;

/// What a piece of work took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    /// From start to end \[s\].
    pub wall: f64,
    /// User and system time of all threads together \[s\].
    pub cpu: f64,
}

/// Runs `work` and says what it took.
pub fn timed<R>(work: impl FnOnce() -> R) -> (R, Spent) {
    let (start, cpu_start) = (Instant::now(), ProcessTime::now());
    let result = work();
    let spent = Spent {
        wall: start.elapsed().as_secs_f64(),
        cpu: cpu_start.elapsed().as_secs_f64(),
    };
    (result, spent)
}

/// Runs `work` up to three times, fewer when it is long, and keeps the run that took the least CPU time: what else runs
/// on the machine only ever adds.
pub fn least<R>(mut work: impl FnMut() -> R) -> (R, Spent) {
    /// Enough to be measured well; also in `bench/peers`, which treats peers alike \[s\].
    const ENOUGH: f64 = 20.0;
    let mut best = timed(&mut work);
    let mut total = best.1.cpu;
    for _ in 1..3 {
        if total > ENOUGH {
            break;
        }
        let next = timed(&mut work);
        total += next.1.cpu;
        if next.1.cpu < best.1.cpu {
            best = next;
        }
    }
    best
}

/// Memory of this process that is in RAM now, and the most there ever was \[bytes\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// `VmRSS`.
    pub now: u64,
    /// `VmHWM`.
    pub peak: u64,
}

/// `None` where there is no `/proc`.
pub fn memory() -> Option<Memory> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kibibytes = |key: &str| -> Option<u64> {
        let line = status.lines().find(|line| line.starts_with(key))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    Some(Memory {
        now: 1024 * kibibytes("VmRSS:")?,
        peak: 1024 * kibibytes("VmHWM:")?,
    })
}
