//! Tags: the lines above tests that name the rows the tests prove.
//!
//! A tag stands directly above a test, above a `pub async fn` of a contract suite, or where a backend's tests call a whole suite.
//! It names each row by itself, so that a search for a row finds its tests.

use std::collections::{BTreeMap, BTreeSet};

use crate::rows::List;
use crate::sources::Source;

/// Where tests prove rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags {
    /// For each row, the top-level folders in which a test proves it.
    pub proven: BTreeMap<(List, String), BTreeSet<String>>,
    /// What is wrong with tags: file, line and why.
    pub wrong: Vec<String>,
}

/// Reads the tags of all Rust files.
#[must_use]
pub fn read(sources: &[Source]) -> Tags {
    let mut tags = Tags::default();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
        for (at, line) in lines.iter().enumerate() {
            if let Some(list) = list_of(line) {
                tags.add(source, at + 1, list, line, &lines[at + 1..]);
            }
        }
    }
    tags
}

impl Tags {
    fn add(&mut self, source: &Source, number: usize, list: List, line: &str, below: &[&str]) {
        let place = format!("{}:{number}", source.path);
        if !stands_above_a_test(below) {
            let why = "no test stands directly below";
            self.wrong.push(format!("{place}: {why}: {line}"));
        }
        let Some(ids) = line.strip_prefix(&format!("// {} ", list.word())) else {
            let why = "write `// WORD id, id`";
            self.wrong.push(format!("{place}: {why}: {line}"));
            return;
        };
        for id in ids.split(", ") {
            if list.has(id) {
                let folders = self.proven.entry((list, id.to_owned())).or_default();
                folders.insert(source.folder().to_owned());
            } else {
                let word = list.word();
                self.wrong
                    .push(format!("{place}: {word} has no row {id:?}"));
            }
        }
    }
}

/// The list whose word a comment begins with, however the comment is written.
fn list_of(line: &str) -> Option<List> {
    let comment = line.strip_prefix("//")?.trim_start_matches(['/', '!', ' ']);
    List::ALL.into_iter().find(|list| {
        let rest = comment.strip_prefix(list.word());
        rest.is_some_and(|rest| !rest.starts_with(|sign: char| sign.is_alphanumeric()))
    })
}

fn stands_above_a_test(below: &[&str]) -> bool {
    let next = below.iter().find(|line| list_of(line).is_none());
    next.is_some_and(|line| {
        let attribute = line.split(['(', ']']).next().unwrap_or_default();
        (attribute.starts_with("#[") && attribute.ends_with("test"))
            || line.starts_with("pub async fn ")
            || line.contains("_contract!(")
    })
}

#[cfg(test)]
mod tests {
    use super::{List, read};
    use crate::sources::Source;

    #[track_caller]
    fn check(text: &str, rows: &[(List, &str)], wrong: usize) {
        let source = Source {
            path: "lease/src/x.rs".to_owned(),
            text: text.to_owned(),
        };
        let tags = read(&[source]);
        let proven: Vec<(List, &str)> = tags
            .proven
            .keys()
            .map(|(list, id)| (*list, id.as_str()))
            .collect();
        assert_eq!(proven, rows, "in {text}");
        assert_eq!(tags.wrong.len(), wrong, "{:?}", tags.wrong);
    }

    #[test]
    fn a_tag_names_its_rows_above_a_test() {
        let two = [(List::Contract, "T6"), (List::Contract, "T7")];
        check("// CONTRACT T6, T7\n#[test]\nfn a() {}", &two, 0);
        let both = [(List::Case, "44"), (List::Reliability, "L1")];
        let stacked = "  // CASE 44\n  // RELIABILITY L1\n  #[tokio::test(start_paused = true)]";
        check(stacked, &both, 0);
        check(
            "// BAD INPUT 5\npub async fn a() {}",
            &[(List::BadInput, "5")],
            0,
        );
    }

    #[test]
    fn a_tag_that_proves_nothing_is_wrong() {
        let row = [(List::Contract, "T6")];
        check("// CONTRACT T6\nfn a() {}", &row, 1);
        check("// CONTRACT T6\n\n#[test]", &row, 1);
        check("/// CONTRACT T6\n#[test]", &[], 1);
        check("// CONTRACT: T6\n#[test]", &[], 1);
        check("// CONTRACT T6,T7\n#[test]", &[], 1);
        check("// CASE 6\n#[test]", &[], 1);
        check("// CONTRACTOR T6\nfn a() {}", &[], 0);
    }
}
