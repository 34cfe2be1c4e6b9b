//! The grammar: values, arrays and objects, each refused at the first byte past a limit.

use serde_json::{Map, Value};

use super::keys::{KeyForms, is_unseen};
use super::{JsonError, JsonLimits, NulRule};

/// A text, and how far it is read.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) nodes: usize,
    pub(super) limits: &'a JsonLimits,
}

impl Reader<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn invalid<T>(&self) -> Result<T, JsonError> {
        Err(JsonError::Invalid { at: self.at })
    }

    pub(super) fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    pub(super) fn take(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.peek() != Some(byte) {
            return self.invalid();
        }
        self.at += 1;
        Ok(())
    }

    pub(super) fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.skip_space();
        self.nodes += 1;
        if self.nodes > self.limits.nodes_max {
            let (at, max) = (self.at, self.limits.nodes_max);
            return Err(JsonError::TooManyValues { at, max });
        }
        match self.peek() {
            Some(b'{') => self.object(self.deeper(depth)?),
            Some(b'[') => self.array(self.deeper(depth)?),
            Some(b'"') => self.string_value(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.invalid(),
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize, JsonError> {
        if depth >= self.limits.depth_max {
            let (at, max) = (self.at, self.limits.depth_max);
            return Err(JsonError::TooDeep { at, max });
        }
        Ok(depth + 1)
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, JsonError> {
        for byte in word.bytes() {
            self.take(byte)?;
        }
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.take(b'[')?;
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.ends(b']')? {
                return Ok(Value::Array(items));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.take(b'{')?;
        let mut entries = Map::new();
        let mut forms = KeyForms::default();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(entries));
        }
        loop {
            self.skip_space();
            let at = self.at;
            let key = self.key()?;
            if entries.len() >= self.limits.keys_max {
                let max = self.limits.keys_max;
                return Err(JsonError::TooManyKeys { at, max });
            }
            if !forms.is_new(&key, &entries) {
                return Err(JsonError::DuplicateKey { at });
            }
            self.skip_space();
            self.take(b':')?;
            let value = self.value(depth)?;
            entries.insert(key, value);
            if self.ends(b'}')? {
                return Ok(Value::Object(entries));
            }
        }
    }

    /// After an item: whether the collection ends here; a comma must stand here otherwise.
    fn ends(&mut self, close: u8) -> Result<bool, JsonError> {
        self.skip_space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(true)
            }
            _ => self.invalid(),
        }
    }

    fn key(&mut self) -> Result<String, JsonError> {
        let at = self.at;
        let key = self.string()?;
        if key.chars().any(is_unseen) {
            return Err(JsonError::KeyInvalid { at });
        }
        Ok(key)
    }

    fn string_value(&mut self) -> Result<Value, JsonError> {
        let at = self.at;
        let text = self.string()?;
        if self.limits.nul == NulRule::Refuse && text.contains('\0') {
            return Err(JsonError::Nul { at });
        }
        Ok(Value::String(text))
    }
}
