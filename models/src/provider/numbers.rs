//! Reading a provider's numbers without believing them.
//!
//! - PRICE-3: what is missing, negative, fractional, a text or larger than any call can use is no number; usage that cannot be true is no usage.

use leasehold_types::{Money, TokenUsage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// More tokens than any model takes or gives in one call, a hundredfold.
const TOKENS_MAX: u64 = 100_000_000;
/// More than any call costs: 10,000 dollars.
const COST_MICROS_MAX: u64 = 10_000_000_000;

/// A number as it was written, whatever it is.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Told(Option<Box<RawValue>>);

impl Told {
    fn text(&self) -> Option<&str> {
        let text = self.0.as_deref().map(RawValue::get)?;
        (text != "null").then_some(text)
    }

    /// A count of tokens. `Some(0)` where nothing was told, `None` where what was told cannot be true.
    fn count(&self) -> Option<u64> {
        let Some(text) = self.text() else {
            return Some(0);
        };
        text.parse().ok().filter(|count| *count <= TOKENS_MAX)
    }

    /// An amount of dollars, rounded up to a micro-unit; `None` where it is missing or cannot be true.
    pub(crate) fn dollars(&self) -> Option<Money> {
        let micros = micros_rounded_up(self.text()?)?;
        (micros <= COST_MICROS_MAX).then(|| Money::from_micros(micros))
    }
}

/// Reads a part that must not spoil the answer it stands in: of another form, it counts as missing.
pub(crate) fn lenient<T: DeserializeOwned>(raw: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Token counts by kind. Sums what a provider tells apart.
#[derive(Debug)]
pub(crate) struct Counts<'a> {
    /// All input: without the cached part where `cached` is told apart from it.
    pub(crate) input: &'a [&'a Told],
    pub(crate) cached: &'a Told,
    pub(crate) output: &'a [&'a Told],
}

impl Counts<'_> {
    /// The usage, where it can be true: some input, no more of it cached than sent, and some output if the answer `has_output`.
    pub(crate) fn usage(&self, has_output: bool) -> Option<TokenUsage> {
        let usage = TokenUsage {
            input: sum(self.input)?,
            output: sum(self.output)?,
            cached: self.cached.count()?,
        };
        let believable =
            usage.input > 0 && usage.cached <= usage.input && (usage.output > 0 || !has_output);
        believable.then_some(usage)
    }
}

fn sum(parts: &[&Told]) -> Option<u64> {
    parts
        .iter()
        .try_fold(0_u64, |sum, part| sum.checked_add(part.count()?))
}

/// Reads a JSON number digit by digit: `0.00123`, `1.2e-5`. No float is involved, so nothing is rounded down.
fn micros_rounded_up(text: &str) -> Option<u64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    if digits == 0 {
        return Some(0);
    }
    let scale = exponent
        .checked_add(6)?
        .checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10_u128.checked_pow(scale.unsigned_abs());
    let micros = if scale >= 0 {
        digits.checked_mul(power?)?
    } else {
        power.map_or(1, |power| digits.div_ceil(power))
    };
    u64::try_from(micros).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Told {
        serde_json::from_str(text).unwrap()
    }

    #[track_caller]
    fn check(input: &str, cached: &str, output: &str, expected: Option<(u64, u64, u64)>) {
        let (input, cached, output) = (told(input), told(cached), told(output));
        let counts = Counts {
            input: &[&input],
            cached: &cached,
            output: &[&output],
        };
        let usage = counts.usage(true);
        let found = usage.map(|usage| (usage.input, usage.cached, usage.output));
        assert_eq!(found, expected, "{counts:?}");
    }

    // BAD INPUT 21
    #[test]
    fn usage_that_cannot_be_true_is_no_usage() {
        check("10", "4", "2", Some((10, 4, 2)));
        check("10", "null", "2", Some((10, 0, 2)));
        for wrong in [
            "-1",
            "0",
            "\"10\"",
            "10.5",
            "1e3",
            "null",
            "[]",
            "18446744073709551616",
            "100000001",
        ] {
            check(wrong, "0", "2", None);
            check("10", "0", wrong, None);
        }
        check("10", "11", "2", None);
        check("10", "-1", "2", None);
    }

    // CONTRACT S1, S3
    #[test]
    fn a_cost_is_rounded_up_and_an_absurd_one_is_none() {
        let micros = |text| told(text).dollars().map(Money::micros);
        for (text, expected) in [
            ("0.00123", 1_230),
            ("0", 0),
            ("0.0", 0),
            ("1.2e-5", 12),
            ("1.4e-7", 1),
            ("0.0000011", 2),
            ("3", 3_000_000),
            ("1E+1", 10_000_000),
            ("1e-999", 1),
        ] {
            assert_eq!(micros(text), Some(expected), "{text}");
        }
        for text in [
            "null",
            "-0.1",
            "\"0.1\"",
            "1e9",
            "10001",
            "1e999",
            "1e-99999999999",
            "true",
        ] {
            assert_eq!(micros(text), None, "{text}");
        }
    }
}
