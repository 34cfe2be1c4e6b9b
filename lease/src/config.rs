//! The lease's times: one plain configuration, checked once into times that fit together.
//!
//! It reads no file and no environment; `cluster` fills it in and checks it at start.
//!
//! Source of the bounds: an etcd server with its default election timeout grants no less than 2 s and counts whole
//! seconds; clocks are taken to run within 1/500 of each other, so two of them drift TTL/250 apart at most.

use std::time::Duration;

use leasehold_types::seconds;

use crate::LeaseConfigError;

/// The lease's times and limits, as written by an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseConfig {
    /// How long a session lives without a renewal: whole seconds, 2 s to 1 h. Default 15 s.
    pub ttl: Duration,
    /// How often a session is renewed: less than half the TTL. Default a third of it, 5 s.
    pub renew_every: Duration,
    /// How long one attempt to renew may take: a sixth of the TTL at most. Default 2.5 s.
    pub attempt_timeout: Duration,
    /// How long before the TTL's end work stops: covers clock drift, scheduling, and the way to the wire. Default 1 s.
    pub margin: Duration,
    /// How often owned keys are compared with the store's list. Default 30 s.
    pub sweep_every: Duration,
    /// The most owner keys on one session, 1 to 1,000. Default 1,000.
    pub keys_per_session_max: usize,
}

impl Default for LeaseConfig {
    fn default() -> Self {
        Self::with_ttl(seconds(15))
    }
}

impl LeaseConfig {
    /// The shortest TTL: what a store grants at least.
    pub const TTL_MIN: Duration = seconds(2);
    /// The longest TTL: an instance that died would keep its trees for so long.
    pub const TTL_MAX: Duration = seconds(3_600);
    /// From this TTL on, the margin is at least [`Self::MARGIN_MIN`].
    pub const LONG_TTL: Duration = seconds(15);
    /// The least margin for a TTL of [`Self::LONG_TTL`] or more.
    pub const MARGIN_MIN: Duration = seconds(1);
    /// What a margin holds beside drift: scheduling, and the time from a check to bytes on the wire.
    pub const SCHEDULING: Duration = Duration::from_millis(200);
    /// The most keys on one session: a store revokes about 1,000 a second and stalls on very many.
    pub const KEYS_PER_SESSION_LIMIT: usize = 1_000;

    /// The usual times for a TTL: renewed each third, a sixth for an attempt, the least margin.
    #[must_use]
    pub fn with_ttl(ttl: Duration) -> Self {
        Self {
            ttl,
            renew_every: ttl / 3,
            attempt_timeout: ttl / 6,
            margin: Self::least_margin(ttl),
            sweep_every: seconds(30),
            keys_per_session_max: Self::KEYS_PER_SESSION_LIMIT,
        }
    }

    /// The least margin for a TTL.
    #[must_use]
    pub fn least_margin(ttl: Duration) -> Duration {
        let drift = ttl / 250 + Self::SCHEDULING;
        if ttl >= Self::LONG_TTL {
            return drift.max(Self::MARGIN_MIN);
        }
        drift
    }

    /// Checks that the times fit together.
    ///
    /// # Errors
    /// Every violation, together.
    pub fn check(self) -> Result<LeaseTimes, Vec<LeaseConfigError>> {
        let errors: Vec<_> = self
            .ttl_errors()
            .chain(self.interval_errors())
            .chain(self.margin_error())
            .collect();
        if errors.is_empty() {
            return Ok(LeaseTimes(self));
        }
        Err(errors)
    }

    fn ttl_errors(self) -> impl Iterator<Item = LeaseConfigError> {
        let out_of_range = !(Self::TTL_MIN..=Self::TTL_MAX).contains(&self.ttl);
        let broken = self.ttl.subsec_nanos() != 0;
        [
            out_of_range.then_some(LeaseConfigError::TtlOutOfRange(self.ttl)),
            broken.then_some(LeaseConfigError::TtlNotWholeSeconds(self.ttl)),
        ]
        .into_iter()
        .flatten()
    }

    fn interval_errors(self) -> impl Iterator<Item = LeaseConfigError> {
        let Self {
            ttl,
            renew_every,
            attempt_timeout,
            keys_per_session_max,
            ..
        } = self;
        let zero = renew_every.is_zero() || attempt_timeout.is_zero() || self.sweep_every.is_zero();
        let keys = 1..=Self::KEYS_PER_SESSION_LIMIT;
        [
            zero.then_some(LeaseConfigError::ZeroInterval),
            (ttl <= renew_every.saturating_mul(2))
                .then_some(LeaseConfigError::RenewTooSlow { ttl, renew_every }),
            (attempt_timeout > ttl / 6).then_some(LeaseConfigError::AttemptTooLong {
                ttl,
                attempt_timeout,
            }),
            (!keys.contains(&keys_per_session_max))
                .then_some(LeaseConfigError::KeysOutOfRange(keys_per_session_max)),
        ]
        .into_iter()
        .flatten()
    }

    fn margin_error(self) -> Option<LeaseConfigError> {
        let Self { ttl, margin, .. } = self;
        let least = Self::least_margin(ttl);
        if margin < least {
            return Some(LeaseConfigError::MarginTooSmall { ttl, margin, least });
        }
        (margin > ttl / 2).then_some(LeaseConfigError::MarginTooLarge { ttl, margin })
    }
}

/// Times that fit together; only [`LeaseConfig::check`] makes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTimes(LeaseConfig);

impl LeaseTimes {
    /// The configuration behind them.
    #[must_use]
    pub const fn config(&self) -> &LeaseConfig {
        &self.0
    }

    /// How long a confirmed renewal lets work go on, from the time it was sent: TTL less margin.
    #[must_use]
    pub const fn usable(&self) -> Duration {
        self.0.ttl.saturating_sub(self.0.margin)
    }

    /// A wake that comes later than this was preceded by a gap: the process or the machine stood still.
    #[must_use]
    pub fn gap(&self) -> Duration {
        self.0.margin / 2
    }

    /// The least time between the starts of two attempts, so that an endpoint that fails at once is not asked in a loop.
    #[must_use]
    pub fn retry_pause(&self) -> Duration {
        self.0.attempt_timeout / 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasehold_types::milliseconds;

    fn codes(config: LeaseConfig) -> Vec<String> {
        let errors = config.check().err().unwrap_or_default();
        let code = |error: &LeaseConfigError| {
            let text = error.to_string();
            text[..=text.find(']').unwrap()].to_owned()
        };
        errors.iter().map(code).collect()
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut LeaseConfig), expected: &[&str]) {
        let mut config = LeaseConfig::default();
        change(&mut config);
        assert_eq!(codes(config), expected, "{config:?}");
    }

    #[test]
    fn the_defaults_are_those_of_the_design_and_fit() {
        let config = LeaseConfig::default();
        assert_eq!(
            (config.ttl, config.renew_every, config.margin),
            (seconds(15), seconds(5), seconds(1))
        );
        assert_eq!(config.attempt_timeout, milliseconds(2_500));
        assert_eq!(config.check().unwrap().usable(), seconds(14));
        for ttl in [2, 5, 14, 30, 3_600] {
            assert!(
                codes(LeaseConfig::with_ttl(seconds(ttl))).is_empty(),
                "{ttl} s"
            );
        }
    }

    // BAD INPUT 35
    #[test]
    fn times_that_do_not_fit_together_are_refused_at_the_limit() {
        check(|c| c.renew_every = milliseconds(7_499), &[]);
        check(
            |c| c.renew_every = milliseconds(7_500),
            &["[lease.renew-too-slow]"],
        );
        check(
            |c| c.attempt_timeout = milliseconds(2_501),
            &["[lease.attempt-too-long]"],
        );
        check(
            |c| c.margin = milliseconds(999),
            &["[lease.margin-too-small]"],
        );
        check(|c| c.margin = milliseconds(7_500), &[]);
        check(
            |c| c.margin = milliseconds(7_501),
            &["[lease.margin-too-large]"],
        );
        check(
            |c| c.sweep_every = Duration::ZERO,
            &["[lease.interval-zero]"],
        );
        check(
            |c| c.keys_per_session_max = 0,
            &["[lease.keys-out-of-range]"],
        );
        check(
            |c| c.keys_per_session_max = 1_001,
            &["[lease.keys-out-of-range]"],
        );
        let with = LeaseConfig::with_ttl;
        assert_eq!(codes(with(seconds(1))), ["[lease.ttl-out-of-range]"]);
        assert_eq!(codes(with(seconds(3_601))), ["[lease.ttl-out-of-range]"]);
        assert_eq!(
            codes(with(milliseconds(2_500))),
            ["[lease.ttl-not-whole-seconds]"]
        );
        assert_eq!(LeaseConfig::least_margin(seconds(300)), milliseconds(1_400));
    }

    #[test]
    fn every_violation_is_reported_together() {
        check(
            |c| {
                c.ttl = milliseconds(1_500);
                c.keys_per_session_max = 0;
            },
            &[
                "[lease.ttl-out-of-range]",
                "[lease.ttl-not-whole-seconds]",
                "[lease.renew-too-slow]",
                "[lease.attempt-too-long]",
                "[lease.keys-out-of-range]",
                "[lease.margin-too-large]",
            ],
        );
    }
}
