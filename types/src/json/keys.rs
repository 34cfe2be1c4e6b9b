//! When two keys of an object are the same, and which characters no key may hold.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The NFC forms of an object's keys, kept only once one of them is not ASCII.
#[derive(Default)]
pub(super) struct KeyForms(BTreeSet<String>);

impl KeyForms {
    pub(super) fn is_new(&mut self, key: &str, entries: &Map<String, Value>) -> bool {
        if entries.contains_key(key) || self.0.contains(key) {
            return false;
        }
        if key.is_ascii() {
            return true;
        }
        // A few characters outside ASCII have an ASCII form, such as the kelvin sign.
        let form: String = match is_nfc(key) {
            true => key.to_owned(),
            false => key.nfc().collect(),
        };
        !entries.contains_key(&form) && self.0.insert(form)
    }
}

/// Control characters and those without width: two keys that differ in one look the same.
pub(super) fn is_unseen(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_control();
    }
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
