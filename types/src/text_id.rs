//! How 128-bit ids are written: 26 characters of Crockford's base 32, lower case.
//!
//! Source: <https://www.crockford.com/base32.html>. The order of the text is the order of the number.

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Characters of one encoded id: `ceil(128 / 5)`.
pub(crate) const CHARS: usize = 26;

pub(crate) fn encode(value: u128) -> [u8; CHARS] {
    let mut out = [b'0'; CHARS];
    let mut rest = value;
    for slot in out.iter_mut().rev() {
        let digit = usize::try_from(rest & 31).unwrap_or(0);
        *slot = ALPHABET.get(digit).copied().unwrap_or(b'0');
        rest >>= 5;
    }
    out
}

/// Reads exactly what [`encode`] writes: no other case, no look-alikes, no overflow.
pub(crate) fn decode(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    if bytes.len() != CHARS || bytes.first().is_none_or(|first| *first > b'7') {
        return None;
    }
    bytes.iter().try_fold(0_u128, |value, byte| {
        let digit = ALPHABET.iter().position(|letter| letter == byte)?;
        Some((value << 5) | u128::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_written() {
        for value in [0, 1, 31, 32, u128::MAX, u128::MAX / 3] {
            let text = encode(value);
            let text = std::str::from_utf8(&text).unwrap();
            assert_eq!(decode(text), Some(value), "{text}");
        }
    }

    #[test]
    fn text_that_no_id_is_written_as_is_refused() {
        let upper = "0".repeat(25) + "A";
        let long = "0".repeat(27);
        let overflow = "8".to_owned() + &"0".repeat(25);
        for text in ["", "abc", &upper, &long, &overflow] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
