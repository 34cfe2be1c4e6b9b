//! What the process has used so far, read from the operating system.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of all threads of this process.
pub(crate) fn cpu() -> Duration {
    of(ClockId::ProcessCPUTime)
}

/// Time that only goes forward.
pub(crate) fn monotonic() -> Duration {
    of(ClockId::Monotonic)
}

fn of(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Resident memory of this process, in bytes.
pub(crate) fn resident() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kilobytes: u64 = kilobytes.unwrap_or("0").trim().parse()?;
    Ok(kilobytes * 1_024)
}
