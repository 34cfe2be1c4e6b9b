//! Parts of documents that tests compare with the repository: derived sections, rows not tested yet, code blocks.

use std::collections::{BTreeMap, BTreeSet};

use crate::rows::List;
use crate::sources::Source;
use crate::tags::Tags;

/// Heads the part of a document that the program `rows` writes; the part ends at the next comment or at the end.
const DERIVED: &str =
    "<!-- From here on written by `cargo run -p leasehold-tests --bin rows`. -->\n";

/// The document's text up to its derived part.
#[must_use]
pub fn written_by_hand(document: &str) -> &str {
    document
        .find(DERIVED)
        .map_or(document, |at| &document[..at])
}

/// The document with its derived part replaced.
#[must_use]
pub fn with_derived(document: &str, derived: &str) -> String {
    format!("{}{DERIVED}{derived}", written_by_hand(document))
}

/// The table of rows that tests prove, list by list.
#[must_use]
pub fn proven_rows(tags: &Tags) -> String {
    let mut text = String::new();
    for list in List::ALL {
        text.push_str(&format!("\n### {}\n\n", title(list)));
        text.push_str("| Row | Proven by tests in |\n| --- | --- |\n");
        for id in list.ids() {
            if let Some(folders) = tags.proven.get(&(list, id.clone())) {
                let folders: Vec<String> = folders.iter().map(|name| format!("`{name}`")).collect();
                text.push_str(&format!("| {id} | {} |\n", folders.join(", ")));
            }
        }
    }
    text
}

/// The rows that the document says are not tested, each with the reason.
///
/// They stand in tables below `### <list>: not tested yet`, as `| rows | reason |`; rows are ids or ranges, with commas.
#[must_use]
pub fn not_tested(document: &str) -> BTreeMap<(List, String), String> {
    let mut rows = BTreeMap::new();
    let mut under = None;
    for line in written_by_hand(document).lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            under = List::ALL
                .into_iter()
                .find(|list| heading == format!("{}: not tested yet", title(*list)));
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if let (Some(list), [ids, reason]) = (under, cells.as_slice())
            && !["Row", "---"].contains(ids)
        {
            for id in ids.split(", ").flat_map(|ids| list.expand(ids)) {
                rows.insert((list, id), (*reason).to_owned());
            }
        }
    }
    rows
}

/// How a list is called in documents.
#[must_use]
pub const fn title(list: List) -> &'static str {
    match list {
        List::Contract => "Contract",
        List::Case => "Cases",
        List::Reliability => "Faults",
        List::BadInput => "Bad inputs",
    }
}

/// The list of decisions, by number, each called by its page's heading.
#[must_use]
pub fn decisions(sources: &[Source]) -> String {
    sources
        .iter()
        .filter_map(|file| {
            let name = file.path.strip_prefix("docs/decisions/")?;
            let heading = file.text.lines().next()?.strip_prefix("# ")?;
            let is_page = name.starts_with(|sign: char| sign.is_ascii_digit());
            is_page.then(|| format!("- [{heading}]({name})\n"))
        })
        .collect()
}

/// The lines of the first code block below a heading of that text.
#[must_use]
pub fn first_block_under<'text>(document: &'text str, heading: &str) -> Vec<&'text str> {
    document
        .lines()
        .skip_while(|line| line.trim_start_matches('#').trim() != heading)
        .skip_while(|line| !line.starts_with("```"))
        .skip(1)
        .take_while(|line| !line.starts_with("```"))
        .collect()
}

/// The Rust blocks of a document, each with the file named by the comment above it: `<!-- In: path -->`.
#[must_use]
pub fn rust_blocks(document: &str) -> Vec<(Option<String>, String)> {
    let mut blocks = Vec::new();
    let mut file = None;
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```rust") {
            let block: Vec<&str> = lines
                .by_ref()
                .take_while(|line| !line.starts_with("```"))
                .collect();
            blocks.push((file.take(), block.join("\n")));
        } else if !line.is_empty() {
            file = line
                .strip_prefix("<!-- In: ")
                .and_then(|rest| rest.strip_suffix(" -->"))
                .map(str::to_owned);
        }
    }
    blocks
}

/// Targets of links to files of the repository, without their anchors.
#[must_use]
pub fn local_links(document: &str) -> BTreeSet<String> {
    document
        .match_indices("](")
        .filter_map(|(at, _)| document[at + 2..].split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{List, first_block_under, not_tested, rust_blocks};

    #[test]
    fn rows_not_tested_are_read_with_their_ranges_and_reasons() {
        let document = "### Faults: not tested yet\n\n| Row | Why |\n| --- | --- |\n| C2, ES6–ES7 | no disk |\n\n### More\n| C3 | x |\n";
        let rows = not_tested(document);
        let ids: Vec<&str> = rows.keys().map(|(_, id)| id.as_str()).collect();
        assert_eq!(ids, ["C2", "ES6", "ES7"]);
        assert_eq!(rows[&(List::Reliability, "ES6".to_owned())], "no disk");
    }

    #[test]
    fn blocks_are_read_with_the_file_they_are_in() {
        let document =
            "## Start\n\n```text\na\nb\n```\n\n<!-- In: x/main.rs -->\n```rust\nfn a() {}\n```\n";
        assert_eq!(first_block_under(document, "Start"), ["a", "b"]);
        let expected = (Some("x/main.rs".to_owned()), "fn a() {}".to_owned());
        assert_eq!(rust_blocks(document), [expected]);
    }
}
