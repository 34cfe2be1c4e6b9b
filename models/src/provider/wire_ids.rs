//! The ids under which calls and their results go back to a provider.
//!
//! - WIRE-ID-1: within one request each call has an id of its own, and its result the same, whatever the provider sent: missing, empty, doubled or unusable ids.

use std::collections::BTreeSet;

use leasehold_types::Digest;

use crate::{Message, PastCall};

/// The longest id that every provider takes back, in bytes: OpenAI's own limit.
const BYTES_MAX: usize = 40;

/// The id of each call of the conversation, in the order of the calls; results come in the same order.
///
/// The same conversation gives the same ids, and a longer one does not change the ids of the calls before.
pub(crate) fn of(messages: &[Message]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut ids = Vec::new();
    for message in messages {
        if let Message::Assistant { calls, .. } = message {
            for call in calls.iter() {
                let id = own_id(call, &seen).unwrap_or_else(|| made_id(call, ids.len()));
                seen.insert(id.clone());
                ids.push(id);
            }
        }
    }
    ids
}

fn own_id(call: &PastCall, seen: &BTreeSet<String>) -> Option<String> {
    let id = call.provider_id.as_deref()?;
    let usable = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let fits = !id.is_empty() && id.len() <= BYTES_MAX && id.bytes().all(usable);
    (fits && !seen.contains(id)).then(|| id.to_owned())
}

fn made_id(call: &PastCall, position: usize) -> String {
    let position = (position as u64).to_be_bytes();
    let digest = Digest::of_parts(&[call.call_id.as_bytes(), &position]).to_string();
    format!("call_{}", digest.get(..24).unwrap_or(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(ids: &[Option<&str>]) -> Message {
        let call = |id: &Option<&str>| PastCall {
            call_id: "same".into(),
            provider_id: id.map(Into::into),
            name: "a-tool".into(),
            arguments: "{}".into(),
        };
        Message::Assistant {
            text: "".into(),
            calls: ids.iter().map(call).collect(),
            echo: None,
        }
    }

    // CASE 99
    #[test]
    fn every_call_gets_one_id_of_its_own() {
        let long = "x".repeat(41);
        let first = [Some("call_0"), Some("call_0"), None, Some("")];
        let history = [
            turn(&first),
            turn(&[Some("call_0"), Some("a:b"), Some(&long), Some("fine")]),
        ];
        let ids = of(&history);
        assert_eq!(
            ids.iter().collect::<BTreeSet<_>>().len(),
            8,
            "WIRE-ID-1: {ids:?}"
        );
        assert_eq!((&*ids[0], &*ids[7]), ("call_0", "fine"));
        assert!(ids.iter().all(|id| id.len() <= BYTES_MAX));
        assert_eq!(
            of(&history[..1]),
            ids[..4],
            "a longer conversation keeps them"
        );
    }
}
