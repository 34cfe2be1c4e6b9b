//! Named points at which a write goes wrong on purpose; without the feature `fault-points` they are nothing.

#[cfg(feature = "fault-points")]
pub(super) use planned::Faults;
#[cfg(feature = "fault-points")]
pub use planned::{FaultAction, FaultPlan};

/// A moment in the life of a write.
#[cfg_attr(
    not(feature = "fault-points"),
    expect(unreachable_pub, reason = "it is given out with the feature")
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultPoint {
    /// The frame is about to be written.
    BeforeWrite,
    /// It is written, not yet synced.
    AfterWrite,
    /// It is synced, not yet acked.
    AfterFsync,
    /// Its `done` has been called.
    AfterAck,
    /// A new segment is about to be prepared.
    BeforeGrowth,
}

/// No faults.
#[cfg(not(feature = "fault-points"))]
#[derive(Debug, Default)]
pub(super) struct Faults;

#[cfg(not(feature = "fault-points"))]
impl Faults {
    pub(super) const fn of(_config: &super::EmbeddedConfig) -> Self {
        Self
    }

    #[expect(clippy::unnecessary_wraps, reason = "with the feature it can fail")]
    pub(super) const fn hit(&mut self, _point: FaultPoint, _times: usize) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(feature = "fault-points")]
mod planned {
    use std::io;

    use rustix::process::{Signal, getpid, kill_process};

    use super::FaultPoint;
    use crate::embedded::EmbeddedConfig;

    /// What happens at a point.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FaultAction {
        /// The process is killed with SIGKILL.
        Kill,
        /// The system call that comes next reports this error, by its number, and is not made. After the last one: nothing.
        Error(i32),
    }

    /// What happens when a point is reached for the `nth` time, counted from 1 over all appends of this opening.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct FaultPlan {
        /// Where.
        pub point: FaultPoint,
        /// When.
        pub nth: u64,
        /// What.
        pub action: FaultAction,
    }

    /// The plans, and how often each point was reached.
    #[derive(Debug)]
    pub(in crate::embedded) struct Faults {
        plans: Vec<FaultPlan>,
        reached: [u64; 5],
    }

    impl Faults {
        pub(in crate::embedded) fn of(config: &EmbeddedConfig) -> Self {
            Self {
                plans: config.faults.clone(),
                reached: [0; 5],
            }
        }

        /// Says that a point is reached by `times` appends at once.
        pub(in crate::embedded) fn hit(
            &mut self,
            point: FaultPoint,
            times: usize,
        ) -> io::Result<()> {
            let reached = &mut self.reached[point as usize];
            let before = *reached;
            *reached += times as u64;
            let due = before + 1..=*reached;
            let plan = self
                .plans
                .iter()
                .find(|plan| plan.point == point && due.contains(&plan.nth));
            match plan.map(|plan| plan.action) {
                None => Ok(()),
                Some(FaultAction::Error(number)) => Err(io::Error::from_raw_os_error(number)),
                Some(FaultAction::Kill) => die(),
            }
        }
    }

    fn die() -> ! {
        loop {
            // It cannot fail for a process's own id; if it did, it is tried for ever and the test that planned it says so.
            if kill_process(getpid(), Signal::KILL).is_ok() {
                std::thread::park();
            }
        }
    }
}
