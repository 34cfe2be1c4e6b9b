//! Which execution people mean: a whole id, or at least four characters of its beginning or end that fit one only.

use leasehold_journal::{Store, TreeHead};
use leasehold_types::{ExecutionId, PauseRef, TreeId};

use super::error::{CANDIDATES_MAX, CliError};

/// The least of an id that people may give: fewer fit something by accident.
pub(super) const CHARS_MIN: usize = 4;
/// The shortest end of an id that is shown to people.
const SHORT_CHARS: usize = 6;
/// Trees asked for with one scan.
const SCAN_TREES: usize = 1_024;
/// The longest text that can be an id with its number.
const CHARS_MAX: usize = 40;

/// Looks at the last header of every tree, oldest first.
///
/// # Errors
/// The store does not answer.
pub(super) async fn each_tree(
    store: &dyn Store,
    mut see: impl FnMut(TreeHead),
) -> Result<(), CliError> {
    let mut after = None;
    loop {
        let page = store.scan(after, SCAN_TREES).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = Some(last.header.tree);
        page.into_iter().for_each(&mut see);
    }
}

/// The execution that `text` names.
///
/// # Errors
/// None fits, more than one does, or the store does not answer.
pub(super) async fn resolve(store: &dyn Store, text: &str) -> Result<ExecutionId, CliError> {
    let text = text.trim().to_ascii_lowercase();
    if let Ok(execution) = text.parse::<ExecutionId>() {
        let known = store.tail(execution.tree()).await?.last.is_some();
        return known.then_some(execution).ok_or(CliError::IdUnknown(text));
    }
    let (part, number) = part_of(&text)?;
    let mut fits: Vec<TreeId> = Vec::new();
    each_tree(store, |head| {
        let id = head.header.tree.to_string();
        if id.starts_with(part) || id.ends_with(part) {
            fits.push(head.header.tree);
        }
    })
    .await?;
    let named = |tree: TreeId| ExecutionId::numbered(tree, number);
    match fits.as_slice() {
        [] => Err(CliError::IdUnknown(text)),
        [tree] => Ok(named(*tree)),
        [..] => Err(CliError::IdAmbiguous {
            count: fits.len(),
            candidates: fits
                .iter()
                .rev()
                .take(CANDIDATES_MAX)
                .copied()
                .map(named)
                .collect(),
            text,
        }),
    }
}

/// The part of a tree's id, and the execution's number in the tree.
fn part_of(text: &str) -> Result<(&str, u32), CliError> {
    let shown = || text.chars().take(CHARS_MAX).collect::<String>();
    let (part, number) = match text.split_once('-') {
        None => (text, 0),
        Some((part, number)) => {
            let number = number.parse().map_err(|_| CliError::IdInvalid(shown()))?;
            (part, number)
        }
    };
    let is_written =
        |letter: char| matches!(letter, '0'..='9' | 'a'..='z') && !"ilou".contains(letter);
    if text.len() > CHARS_MAX || !part.chars().all(is_written) {
        return Err(CliError::IdInvalid(shown()));
    }
    if part.len() < CHARS_MIN {
        return Err(CliError::IdTooShort {
            text: shown(),
            min: CHARS_MIN,
        });
    }
    Ok((part, number))
}

/// The pause that `text` names: `<execution>/<number>`, the execution as [`resolve`] takes it.
///
/// # Errors
/// It is not written so, or names no execution.
pub(super) async fn resolve_pause(store: &dyn Store, text: &str) -> Result<PauseRef, CliError> {
    let invalid = || CliError::ReferenceInvalid(text.chars().take(CHARS_MAX * 2).collect());
    let (execution, number) = text.trim().split_once('/').ok_or_else(invalid)?;
    let number = match number.parse::<u32>() {
        Ok(parsed) if parsed > 0 && parsed.to_string() == number => parsed,
        Ok(_) | Err(_) => return Err(invalid()),
    };
    let execution = resolve(store, execution).await?;
    Ok(PauseRef { execution, number })
}

/// The end of an id that people can say and type; it may fit another tree too, which resolving would tell.
pub(super) fn short(execution: ExecutionId) -> String {
    let tree = execution.tree().to_string();
    let end = tree
        .get(tree.len().saturating_sub(SHORT_CHARS)..)
        .unwrap_or(&tree);
    match execution.number() {
        0 => end.to_owned(),
        number => format!("{end}-{number}"),
    }
}

/// A pause's reference with the short form of its execution.
pub(super) fn short_pause(reference: PauseRef) -> String {
    format!("{}/{}", short(reference.execution), reference.number)
}
