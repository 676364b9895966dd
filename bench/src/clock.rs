//! Measures time and memory of this process.
//!
//! Input: the work, as a closure.
//! Output: its result, its wall time and its CPU time; or the memory figures of `/proc`.
//! Not for: fractions of a microsecond (criterion measures those).

use std::time::Instant;

use cpu_time::ProcessTime;

/// Time that a piece of work took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    /// Wall time \[s\].
    pub wall: f64,
    /// User and system time of all threads together \[s\].
    pub cpu: f64,
}

/// Runs `work` and returns its result and the time it took.
pub fn timed<R>(work: impl FnOnce() -> R) -> (R, Spent) {
    let (start, cpu_start) = (Instant::now(), ProcessTime::now());
    let result = work();
    let spent = Spent {
        wall: start.elapsed().as_secs_f64(),
        cpu: cpu_start.elapsed().as_secs_f64(),
    };
    (result, spent)
}

/// Runs `work` up to three times, fewer when it is long, and keeps the run with the least CPU time:
/// other load on the machine only ever adds time.
pub fn least<R>(mut work: impl FnMut() -> R) -> (R, Spent) {
    /// CPU time after which no further run is needed \[s\]. `bench/peers` uses the same value for
    /// the peers.
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

/// Memory of this process in RAM, now and at its peak \[bytes\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Current resident size (`VmRSS`).
    pub now: u64,
    /// Peak resident size (`VmHWM`).
    pub peak: u64,
}

/// Returns the memory of this process, or `None` where there is no `/proc`.
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
