//! Whether the clocks can be counted on: leases count `CLOCK_BOOTTIME`, people read `CLOCK_REALTIME`.

use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::Finding;
use crate::cli::when::{When, span};
use leasehold_types::Timestamp;

/// The earliest time that a wall clock can tell truly: 2025-01-01, before this program was written.
const EARLIEST: i64 = 1_735_689_600_000_000;
/// A wall clock past 2100 is wrong.
const LATEST: i64 = 4_102_444_800_000_000;
/// How much faster or slower one clock may run than the other, in thousandths, and how much of the measure is noise.
const DRIFT_PER_MILLE: u64 = 4;
const NOISE: Duration = Duration::from_millis(20);
/// Where Linux tells which hardware it reads the time from.
const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Three clocks at one moment, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Clocks {
    boot: i64,
    monotonic: i64,
    real: i64,
}

impl Clocks {
    /// Reads all three.
    pub(in crate::cli) fn read() -> Self {
        let micros = |id| {
            let time = clock_gettime(id);
            time.tv_sec
                .saturating_mul(1_000_000)
                .saturating_add(time.tv_nsec / 1_000)
        };
        Self {
            monotonic: micros(ClockId::Monotonic),
            boot: micros(ClockId::Boottime),
            real: micros(ClockId::Realtime),
        }
    }
}

/// Judges two readings that are some time apart.
pub(in crate::cli) fn clocks(before: Clocks, after: Clocks) -> Vec<Finding> {
    let mut findings = vec![wall(after), rates(before, after)];
    findings.extend(suspended(after));
    let source = std::fs::read_to_string(Path::new(SOURCE));
    findings.extend(source.ok().map(|name| hardware(name.trim())));
    findings
}

fn wall(now: Clocks) -> Finding {
    let shown = When(Timestamp::from_micros(now.real)).full();
    if (EARLIEST..LATEST).contains(&now.real) {
        return Finding::ok("clock", format!("the wall clock says {shown}"));
    }
    Finding::error(
        "clock",
        "[doctor.clock-wrong]",
        format!("the wall clock says {shown}"),
        "set it, and run a time service: timers and expiries are points on it",
    )
}

fn rates(before: Clocks, after: Clocks) -> Finding {
    let passed = |from: i64, to: i64| Duration::from_micros(to.saturating_sub(from).unsigned_abs());
    let boot = passed(before.boot, after.boot);
    let monotonic = passed(before.monotonic, after.monotonic);
    let real = passed(before.real, after.real);
    let allowed = NOISE + monotonic / 1_000 * u32::try_from(DRIFT_PER_MILLE).unwrap_or(4);
    if after.boot < before.boot || boot.abs_diff(monotonic) > allowed {
        return Finding::error(
            "clock",
            "[doctor.clock-unstable]",
            format!(
                "while {} passed, CLOCK_BOOTTIME counted {}",
                span(monotonic),
                span(boot)
            ),
            "leases cannot be counted on this machine: look at its clock source, or move to another",
        );
    }
    if after.real < before.real || real.abs_diff(monotonic) > allowed {
        return Finding::warning(
            "clock",
            "[doctor.clock-steps]",
            format!(
                "while {} passed, the wall clock moved by {}",
                span(monotonic),
                span(real)
            ),
            "the time service sets the clock in steps: timers may be early or late by as much",
        );
    }
    Finding::ok(
        "clock",
        format!("the clocks ran alike for {}", span(monotonic)),
    )
}

fn suspended(now: Clocks) -> Option<Finding> {
    let asleep = now.boot.saturating_sub(now.monotonic);
    let asleep = Duration::from_micros(u64::try_from(asleep).ok()?);
    (asleep > Duration::from_secs(1)).then(|| {
        Finding::warning(
            "clock",
            "[doctor.machine-suspends]",
            format!(
                "this machine has been suspended for {} since it started",
                span(asleep)
            ),
            "leases notice it and nothing is lost, but nothing runs meanwhile",
        )
    })
}

fn hardware(name: &str) -> Finding {
    match name {
        "jiffies" | "refined-jiffies" | "pit" => Finding::warning(
            "clock",
            "[doctor.clock-source]",
            format!("the kernel counts time by {name}"),
            "it is coarse and drifts: choose another clock source",
        ),
        name => Finding::ok("clock", format!("the kernel counts time by {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_796_095_315_000_000;

    fn at(boot_ms: i64, monotonic_ms: i64, real_ms: i64) -> Clocks {
        Clocks {
            boot: boot_ms * 1_000,
            monotonic: monotonic_ms * 1_000,
            real: NOW + real_ms * 1_000,
        }
    }

    #[test]
    fn clocks_that_do_not_run_alike_are_told() {
        let before = at(0, 0, 0);
        let cases = [
            ("alike", at(1_000, 1_000, 1_000), None),
            ("noise", at(1_015, 1_000, 990), None),
            (
                "slow boot time",
                at(900, 1_000, 1_000),
                Some("[doctor.clock-unstable]"),
            ),
            (
                "boot time goes back",
                at(-5, 1_000, 1_000),
                Some("[doctor.clock-unstable]"),
            ),
            (
                "wall clock steps",
                at(1_000, 1_000, 5_000),
                Some("[doctor.clock-steps]"),
            ),
            (
                "wall clock goes back",
                at(1_000, 1_000, -1),
                Some("[doctor.clock-steps]"),
            ),
        ];
        for (name, after, code) in cases {
            assert_eq!(rates(before, after).code, code, "{name}");
        }
    }

    #[test]
    fn a_wall_clock_that_was_never_set_is_told() {
        assert_eq!(wall(at(0, 0, 0)).code, None);
        let unset = Clocks {
            real: 1_000,
            ..at(0, 0, 0)
        };
        assert_eq!(wall(unset).code, Some("[doctor.clock-wrong]"));
        let far = Clocks {
            real: LATEST,
            ..unset
        };
        assert_eq!(wall(far).code, Some("[doctor.clock-wrong]"));
    }

    #[test]
    fn time_that_was_slept_through_is_told() {
        assert_eq!(suspended(at(10_000, 10_000, 0)), None);
        let told = suspended(at(10_000, 1_000, 0)).map(|finding| finding.code);
        assert_eq!(told, Some(Some("[doctor.machine-suspends]")));
        assert_eq!(hardware("tsc").code, None);
        assert_eq!(hardware("jiffies").code, Some("[doctor.clock-source]"));
        let real = Clocks::read();
        assert!(real.boot >= real.monotonic && real.monotonic > 0);
    }
}
