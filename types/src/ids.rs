//! Ids: newtypes, never bare strings, each with one way to write it.
//!
//! - ID-1: an id's text holds only `[a-z0-9-]`, so it can stand in a bus subject, a file name and a URL as it is.
//! - ID-2: a secret id ([`PauseId`]) never shows in `Debug` output.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text_id;
use crate::{Digest, Random, Timestamp};

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("[id.invalid] {text:?} is not {kind}: it is written as {form}")]
pub struct ParseIdError {
    text: String,
    kind: &'static str,
    form: &'static str,
}

impl ParseIdError {
    fn new(text: &str, kind: &'static str, form: &'static str) -> Self {
        let text = text.chars().take(64).collect();
        Self { text, kind, form }
    }
}

/// Gives a newtype over a 128-bit number its text form, serde and parsing.
macro_rules! text_id {
    ($name:ident, $kind:literal) => {
        impl $name {
            /// The id with this number.
            #[must_use]
            pub const fn from_u128(value: u128) -> Self {
                Self(value)
            }
            /// The number behind the text.
            #[must_use]
            pub const fn as_u128(self) -> u128 {
                self.0
            }
        }
        impl FromStr for $name {
            type Err = ParseIdError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text_id::decode(text)
                    .map(Self)
                    .ok_or_else(|| ParseIdError::new(text, $kind, "26 characters of 0-9 and a-z"))
            }
        }
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let text = text_id::encode(self.0);
                serializer.serialize_str(std::str::from_utf8(&text).unwrap_or_default())
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserialize_from_str(deserializer)
            }
        }
    };
}

macro_rules! shown_id {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let text = text_id::encode(self.0);
                f.write_str(std::str::from_utf8(&text).unwrap_or_default())
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

fn deserialize_from_str<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: FromStr<Err = ParseIdError>,
{
    let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

/// Where a tree's journal lives: a generation of streams and one stream of it. Never changes for a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Home {
    /// The generation, counted from 0; the embedded store has only generation 0.
    pub generation: u16,
    /// The stream within the generation, 0 to 15.
    pub stream: u8,
}

/// Names one execution tree: 48 bits of milliseconds, 20 bits of [`Home`], 60 random bits.
///
/// Ids made later sort later, to the millisecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId(u128);

text_id!(TreeId, "a tree id");
shown_id!(TreeId);

impl TreeId {
    /// Makes a new id for a tree that starts at `now` and lives at `home`.
    #[must_use]
    pub fn new(now: Timestamp, home: Home, random: &dyn Random) -> Self {
        let millis = u128::from(now.as_millis().unsigned_abs() & ((1 << 48) - 1));
        let chance = u128::from(random.next_u64() >> 4);
        let home = (u128::from(home.generation) << 4) | u128::from(home.stream & 0xf);
        Self((millis << 80) | (home << 60) | chance)
    }

    /// Where the tree's journal lives.
    #[must_use]
    pub const fn home(self) -> Home {
        Home {
            generation: ((self.0 >> 64) & 0xffff) as u16,
            stream: ((self.0 >> 60) & 0xf) as u8,
        }
    }

    /// When the tree started, to the millisecond.
    #[must_use]
    pub fn started_at(self) -> Timestamp {
        let millis = i64::try_from(self.0 >> 80).unwrap_or(i64::MAX);
        Timestamp::from_millis(millis)
    }
}

/// Names one execution: a tree, and the number of the execution in it (0 is the root).
///
/// Written as the tree's id, with `-<number>` for a child.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutionId {
    tree: TreeId,
    number: u32,
}

impl ExecutionId {
    /// The execution the tree was started for.
    #[must_use]
    pub const fn root(tree: TreeId) -> Self {
        Self { tree, number: 0 }
    }

    /// The `number`-th execution of the tree.
    #[must_use]
    pub const fn numbered(tree: TreeId, number: u32) -> Self {
        Self { tree, number }
    }

    /// The tree it belongs to.
    #[must_use]
    pub const fn tree(self) -> TreeId {
        self.tree
    }

    /// Its number in the tree; 0 is the root.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }
}

impl fmt::Display for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => self.tree.fmt(f),
            number => write!(f, "{}-{number}", self.tree),
        }
    }
}

impl fmt::Debug for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ExecutionId {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || ParseIdError::new(text, "an execution id", "<tree> or <tree>-<number>");
        let Some((tree, number)) = text.split_once('-') else {
            return text.parse().map(Self::root).map_err(|_| refused());
        };
        let tree = tree.parse().map_err(|_| refused())?;
        match number.parse::<u32>() {
            Ok(parsed) if parsed > 0 && parsed.to_string() == number => {
                Ok(Self::numbered(tree, parsed))
            }
            Ok(_) | Err(_) => Err(refused()),
        }
    }
}

impl Serialize for ExecutionId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ExecutionId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_from_str(deserializer)
    }
}

/// The secret name of one pause: 128 random bits, made once, journaled before the first send.
///
/// It goes to the pause's channel alone: whoever knows it may try to answer. `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PauseId(u128);

text_id!(PauseId, "a pause id");

impl PauseId {
    /// Makes a new secret.
    #[must_use]
    pub fn new(random: &dyn Random) -> Self {
        Self((u128::from(random.next_u64()) << 64) | u128::from(random.next_u64()))
    }

    /// The text to hand to the channel. Named so that a reader sees a secret leave.
    #[must_use]
    pub fn reveal(self) -> String {
        String::from_utf8_lossy(&text_id::encode(self.0)).into_owned()
    }
}

impl fmt::Debug for PauseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PauseId(…)")
    }
}

/// The public reference of a pause, `<execution>/<n>`: fit for lists, opens nothing without a principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PauseRef {
    /// The execution that waits.
    pub execution: ExecutionId,
    /// The pause's number in the execution, from 1.
    pub number: u32,
}

impl fmt::Display for PauseRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.execution, self.number)
    }
}

impl FromStr for PauseRef {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || ParseIdError::new(text, "a pause reference", "<execution>/<number>");
        let (execution, number) = text.split_once('/').ok_or_else(refused)?;
        let execution = execution.parse().map_err(|_| refused())?;
        match number.parse::<u32>() {
            Ok(parsed) if parsed > 0 && parsed.to_string() == number => Ok(Self {
                execution,
                number: parsed,
            }),
            Ok(_) | Err(_) => Err(refused()),
        }
    }
}

impl Serialize for PauseRef {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PauseRef {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_from_str(deserializer)
    }
}

/// Names one call within its execution; the same when an interrupted call runs again.
///
/// Made from the provider's id where there is one (see `execution`), so it holds only `[A-Za-z0-9_.%:-]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(String);

impl CallId {
    /// Takes a text that the caller has made unique within the execution.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names one intended effect, `<execution>:<node>:<visit>[:<item>]:<call>`: the same key gives the stored result, not a second effect.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Joins the parts. The call id comes last and the others hold no `:`, so no two calls share a key.
    #[must_use]
    pub fn new(
        execution: ExecutionId,
        node: &str,
        visit: u32,
        item: Option<u32>,
        call: &CallId,
    ) -> Self {
        Self(match item {
            Some(item) => format!("{execution}:{node}:{visit}:{item}:{call}"),
            None => format!("{execution}:{node}:{visit}:{call}"),
        })
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names an instance as people configured it: a pod or host name. Two starts of one instance differ in [`BootId`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InstanceId(String);

impl InstanceId {
    /// Takes a configured name.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names one start of a process: 128 random bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BootId(u128);

text_id!(BootId, "a boot id");
shown_id!(BootId);

impl BootId {
    /// Makes the id of this start.
    #[must_use]
    pub fn new(random: &dyn Random) -> Self {
        Self((u128::from(random.next_u64()) << 64) | u128::from(random.next_u64()))
    }
}

/// Names one frame of a journal, so that a writer recognises its own after an unknown outcome.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(u128);

text_id!(FrameId, "a frame id");
shown_id!(FrameId);

impl FrameId {
    /// Derives the id of the frame at `index` under a writer's own random `salt`.
    #[must_use]
    pub fn derived(salt: Digest, index: u64) -> Self {
        Self(salt.first_u128() ^ (u128::from(index) << 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Fixed(u64);
    impl Random for Fixed {
        fn next_u64(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn a_tree_id_keeps_its_start_and_its_home() {
        let home = Home {
            generation: 513,
            stream: 7,
        };
        let now = Timestamp::from_millis(1_790_000_000_123);
        let id = TreeId::new(now, home, &Fixed(u64::MAX));
        assert_eq!(id.home(), home);
        assert_eq!(id.started_at(), now);
        assert_eq!(id.to_string().parse::<TreeId>().unwrap(), id);
    }

    #[test]
    fn ids_read_back_as_written_and_nothing_else_does() {
        let tree = TreeId::from_u128(42);
        let child = ExecutionId::numbered(tree, 3);
        assert_eq!(child.to_string().parse::<ExecutionId>().unwrap(), child);
        let pause = PauseRef {
            execution: child,
            number: 2,
        };
        assert_eq!(pause.to_string().parse::<PauseRef>().unwrap(), pause);
        for text in [
            "",
            "x",
            &format!("{tree}-0"),
            &format!("{tree}-01"),
            &format!("{tree}-+1"),
        ] {
            assert!(text.parse::<ExecutionId>().is_err(), "{text}");
        }
        for text in [
            format!("{tree}"),
            format!("{tree}/0"),
            format!("{tree}/1/2"),
        ] {
            assert!(text.parse::<PauseRef>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_pause_id_does_not_show_in_debug_output() {
        let id = PauseId::new(&Fixed(77));
        assert!(!format!("{id:?}").contains(&id.reveal()));
    }
}
