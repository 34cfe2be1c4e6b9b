//! The limits a tool may set for itself, evaluated by the compiler where they are written in code.

use std::time::Duration;

use leasehold_types::{Effect, Size};

use crate::const_text::ConstText;

/// The timeout where a tool sets none.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest timeout: 24 hours. What takes longer is a pause, not a call.
pub const TIMEOUT_MAX: Duration = Duration::from_secs(86_400);
/// The longest time a key can be said to be remembered: 3,650 days.
pub const RETENTION_MAX: Duration = Duration::from_secs(3_650 * 86_400);

/// Why a tool's limit was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LimitError(String);

/// Checks the limits of the tool called `tool`.
#[must_use]
pub(crate) fn limit_errors(
    tool: &str,
    timeout: Duration,
    bound: Option<Size>,
    effect: Effect,
) -> Vec<LimitError> {
    let bound = bound.and_then(|bound| bound_refusal(tool, bound));
    let refusals = [
        timeout_refusal(tool, timeout),
        bound,
        effect_refusal(tool, effect),
    ];
    let said = |text: ConstText| LimitError(text.as_str().to_owned());
    refusals.into_iter().flatten().map(said).collect()
}

/// Refuses a wrong timeout at compile time.
///
/// # Panics
/// The timeout is zero or longer than [`TIMEOUT_MAX`].
pub const fn require_timeout(tool: &str, timeout: Duration) -> Duration {
    refuse(timeout_refusal(tool, timeout));
    timeout
}

/// Refuses a wrong result bound at compile time.
///
/// # Panics
/// The bound is zero.
pub const fn require_bound(tool: &str, bound: Size) -> Size {
    refuse(bound_refusal(tool, bound));
    bound
}

/// Refuses a wrong retention at compile time.
///
/// # Panics
/// An idempotent effect whose key is remembered for less than a second or longer than [`RETENTION_MAX`].
pub const fn require_effect(tool: &str, effect: Effect) -> Effect {
    refuse(effect_refusal(tool, effect));
    effect
}

#[expect(clippy::panic, reason = "in a const, a panic is the compiler's error")]
const fn refuse(refusal: Option<ConstText>) {
    if let Some(message) = refusal {
        panic!("{}", message.as_str());
    }
}

const fn timeout_refusal(tool: &str, timeout: Duration) -> Option<ConstText> {
    if !timeout.is_zero() && timeout.as_secs() <= TIMEOUT_MAX.as_secs() {
        return None;
    }
    let text = ConstText::EMPTY.push("[tool.timeout-invalid] ").push(tool);
    Some(text.push(": a timeout is longer than 0 and at most 24 hours"))
}

const fn bound_refusal(tool: &str, bound: Size) -> Option<ConstText> {
    if bound.as_bytes() > 0 {
        return None;
    }
    let text = ConstText::EMPTY
        .push("[tools.max-result-size-invalid] ")
        .push(tool);
    Some(text.push(": a result bound is at least 1 byte"))
}

const fn effect_refusal(tool: &str, effect: Effect) -> Option<ConstText> {
    let Effect::Idempotent { retention_s } = effect else {
        return None;
    };
    if retention_s > 0 && retention_s <= RETENTION_MAX.as_secs() {
        return None;
    }
    let text = ConstText::EMPTY
        .push("[tool.retention-invalid] ")
        .push(tool);
    Some(
        text.push(
            ": an idempotency key is remembered for at least 1 second and at most 3,650 days",
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasehold_types::{kilobytes, seconds};

    #[track_caller]
    fn check(timeout: Duration, bound: Option<Size>, effect: Effect, codes: &[&str]) {
        let errors = limit_errors("x-tool", timeout, bound, effect);
        let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), codes.len(), "{told:?}");
        for (text, code) in told.iter().zip(codes) {
            assert!(text.starts_with(code), "{text}");
        }
    }

    // CONTRACT T9, T10
    // BAD INPUT 33
    #[test]
    fn a_limit_of_nothing_or_without_end_is_refused() {
        check(seconds(10), Some(kilobytes(1)), Effect::Read, &[]);
        check(TIMEOUT_MAX, None, Effect::Read, &[]);
        check(
            Duration::ZERO,
            None,
            Effect::Read,
            &["[tool.timeout-invalid] x-tool: "],
        );
        check(
            seconds(1_000_000_000),
            None,
            Effect::Read,
            &["[tool.timeout-invalid]"],
        );
        check(
            seconds(86_401),
            None,
            Effect::Read,
            &["[tool.timeout-invalid]"],
        );
        let bound = "[tools.max-result-size-invalid] x-tool: a result bound is at least 1 byte";
        check(seconds(1), Some(kilobytes(0)), Effect::Read, &[bound]);
        for retention in [Duration::ZERO, Duration::MAX, Duration::from_millis(999)] {
            let effect = Effect::idempotent(retention);
            check(seconds(1), None, effect, &["[tool.retention-invalid]"]);
        }
    }
}
