//! How one part of a subject is written: whatever an id holds, its part is one word of `[A-Za-z0-9_-]` and `%XX`.
//!
//! - PART-1: two texts never share a written part, and a written part reads back as its text.
//! - PART-2: a written part holds no `.`, `*`, `>`, white space or control character.
//!
//! Source: RFC 3986, section 2.1, with a smaller set of plain characters.

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Writes a text as one part, after those already in `out`.
pub(crate) fn encode_into(out: &mut String, text: &str) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if is_plain(byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

/// Reads exactly what [`encode_into`] writes: no plain character escaped, no lower-case digit.
pub(crate) fn decode(part: &str) -> Option<String> {
    let mut bytes = part.bytes();
    let mut text = vec![];
    while let Some(byte) = bytes.next() {
        if is_plain(byte) {
            text.push(byte);
            continue;
        }
        if byte != b'%' {
            return None;
        }
        let escaped = (digit(bytes.next()?)? << 4) | digit(bytes.next()?)?;
        if is_plain(escaped) {
            return None;
        }
        text.push(escaped);
    }
    String::from_utf8(text).ok()
}

const fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}
