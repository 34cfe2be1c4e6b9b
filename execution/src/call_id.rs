//! Call ids: one for each call, unique in the execution, the same in every replay.
//!
//! - CALL-1: no two calls of an execution share an id, whatever the provider sent.
//! - CALL-2: an id depends only on the execution's past and the answer, so that a replay gives the same one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use leasehold_types::{CallId, Digest};

use crate::record::Place;

/// The longest provider id that is kept as it is, in bytes; a longer one is hashed.
const PROVIDER_ID_BYTES_MAX: usize = 64;

/// Gives each call of one answer its id.
///
/// A call without a provider's id gets one from node, visit, item, turn and position. An id that repeats in the answer gets its
/// position (`call_0:0`, `call_0:1`); one that an earlier turn used gets its turn (`call_0:t2`).
#[must_use]
pub fn assign(
    place: &Place,
    turn: u32,
    provider_ids: &[Option<String>],
    used: &BTreeSet<CallId>,
) -> Vec<CallId> {
    let encoded: Vec<Option<String>> = provider_ids
        .iter()
        .map(|id| id.as_deref().and_then(encode))
        .collect();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for id in encoded.iter().flatten() {
        *times.entry(id).or_default() += 1;
    }
    let mut taken = used.clone();
    let mut assigned = Vec::with_capacity(encoded.len());
    for (position, id) in encoded.iter().enumerate() {
        let base = match id {
            None => derived(place, turn, position),
            Some(id) if times.get(id.as_str()).is_some_and(|times| *times > 1) => {
                format!("{id}:{position}")
            }
            Some(id) => id.clone(),
        };
        let call_id = unused(base, turn, &taken);
        taken.insert(call_id.clone());
        assigned.push(call_id);
    }
    assigned
}

fn derived(place: &Place, turn: u32, position: usize) -> String {
    let Place { node, visit, item } = place;
    match item {
        Some(item) => format!("{node}.{visit}.{item}.t{turn}:{position}"),
        None => format!("{node}.{visit}.t{turn}:{position}"),
    }
}

fn unused(base: String, turn: u32, taken: &BTreeSet<CallId>) -> CallId {
    let plain = CallId::new(base.clone());
    if !taken.contains(&plain) {
        return plain;
    }
    let of_turn = |suffix: u32| match suffix {
        0 => CallId::new(format!("{base}:t{turn}")),
        more => CallId::new(format!("{base}:t{turn}:{more}")),
    };
    (0..=u32::MAX)
        .map(of_turn)
        .find(|id| !taken.contains(id))
        .unwrap_or(plain)
}

/// Encodes a provider's id so that it holds only `[A-Za-z0-9_.-]` and `%`; `None` for an empty one.
///
/// A long id becomes `%h` and a hash: `%h` begins no percent-encoding, so no encoded id is equal to it.
fn encode(id: &str) -> Option<String> {
    if id.is_empty() {
        return None;
    }
    if id.len() > PROVIDER_ID_BYTES_MAX {
        let hash: String = Digest::of(id.as_bytes())
            .to_string()
            .chars()
            .take(32)
            .collect();
        return Some(format!("%h{hash}"));
    }
    let mut out = String::with_capacity(id.len());
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-') {
            out.push(char::from(byte));
        } else if write!(out, "%{byte:02X}").is_err() {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasehold_types::{ExecutionId, IdempotencyKey, TreeId};
    use proptest::prelude::*;

    fn place() -> Place {
        Place {
            node: "support".to_owned(),
            visit: 1,
            item: None,
        }
    }

    fn ids(turn: u32, given: &[&str], used: &[CallId]) -> Vec<String> {
        let given: Vec<Option<String>> = given
            .iter()
            .map(|id| (*id != "-").then(|| (*id).to_owned()))
            .collect();
        let used = used.iter().cloned().collect();
        assign(&place(), turn, &given, &used)
            .iter()
            .map(CallId::to_string)
            .collect()
    }

    // CONTRACT A4
    // CASE 99
    // BAD INPUT 15
    #[test]
    fn missing_repeated_and_reused_ids_become_unique() {
        assert_eq!(ids(1, &["call_0", "call_1"], &[]), ["call_0", "call_1"]);
        assert_eq!(ids(1, &["call_0", "call_0"], &[]), ["call_0:0", "call_0:1"]);
        assert_eq!(ids(2, &["call_0"], &[CallId::new("call_0")]), ["call_0:t2"]);
        assert_eq!(
            ids(3, &["-", "", "a b:c\n"], &[]),
            ["support.1.t3:0", "support.1.t3:1", "a%20b%3Ac%0A"]
        );
        let long = "x".repeat(10_000);
        let hashed = ids(1, &[&long], &[]);
        assert!(
            hashed[0].starts_with("%h") && hashed[0].len() == 34,
            "{hashed:?}"
        );
    }

    // CONTRACT A4
    // BAD INPUT 16
    #[test]
    fn keys_of_calls_whose_joined_parts_look_alike_differ() {
        let execution = ExecutionId::root(TreeId::from_u128(1));
        let key = |node: &str, call: &str| {
            let call = &assign(&place(), 1, &[Some(call.to_owned())], &BTreeSet::new())[0];
            IdempotencyKey::new(execution, node, 1, None, call)
        };
        assert_ne!(key("a", "1:c"), key("a:1", "c"));
        assert_ne!(key("n", "x:1"), key("n", "x%3A1"));
    }

    proptest! {
        // CONTRACT A4
        #[test]
        fn no_two_calls_of_an_execution_share_an_id(
            answers in prop::collection::vec(prop::collection::vec(prop::option::of("[ab:%t.]{0,3}"), 1..6), 1..6)
        ) {
            let mut used = BTreeSet::new();
            for (turn, given) in (1_u32..).zip(answers) {
                let assigned = assign(&place(), turn, &given, &used);
                prop_assert_eq!(&assigned, &assign(&place(), turn, &given, &used), "CALL-2");
                for id in assigned {
                    prop_assert!(used.insert(id), "CALL-1");
                }
            }
        }
    }
}
