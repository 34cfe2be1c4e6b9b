//! Error codes: where the sources write them, and where the catalogue explains them.
//!
//! A code is `[area.what-is-wrong]`; in sources it is found where it heads a text, behind the quote that opens it.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::Source;

/// The codes that shipped sources write, each with the files it stands in.
#[must_use]
pub fn written(sources: &[Source]) -> BTreeMap<String, Vec<String>> {
    let mut codes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let of_tests = modules_of_tests(sources);
    let shipped = |source: &&Source| source.is_shipped() && !of_tests.contains(&source.path);
    for source in sources.iter().filter(shipped) {
        for code in heading_texts(source.without_unit_tests()) {
            let files = codes.entry(code).or_default();
            if files.last() != Some(&source.path) {
                files.push(source.path.clone());
            }
        }
    }
    codes
}

/// The codes that the pages of the catalogue explain, each with its pages.
#[must_use]
pub fn explained(sources: &[Source]) -> BTreeMap<String, Vec<String>> {
    let mut codes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for page in sources
        .iter()
        .filter(|file| file.path.starts_with("docs/errors/"))
    {
        for heading in page
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("### "))
        {
            if let Some(code) = code_at(heading) {
                codes.entry(code).or_default().push(page.path.clone());
            }
        }
    }
    codes
}

/// The catalogue's index: one line for each code, by area, with a link to the entry.
#[must_use]
pub fn index(explained: &BTreeMap<String, Vec<String>>) -> String {
    let mut text = String::new();
    let mut area = "";
    for (code, pages) in explained {
        let this = code.split_once('.').map_or("", |(area, _)| area);
        if this != area {
            area = this;
            text.push_str(&format!("\n## {area}\n\n"));
        }
        for page in pages {
            let link = page.strip_prefix("docs/").unwrap_or(page);
            let anchor: String = code.chars().filter(|sign| *sign != '.').collect();
            text.push_str(&format!("- [`[{code}]`]({link}#{anchor})\n"));
        }
    }
    text
}

/// Paths of the modules that are declared for tests only.
fn modules_of_tests(sources: &[Source]) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let beside = ["/mod.rs", "/lib.rs", "/main.rs"]
            .iter()
            .find_map(|root| source.path.strip_suffix(root));
        let folder = beside.or_else(|| source.path.strip_suffix(".rs"));
        let declarations = source.text.split("#[cfg(test)]\nmod ").skip(1);
        for name in declarations.filter_map(|text| text.split_once(';')) {
            let folder = folder.unwrap_or_default();
            paths.insert(format!("{folder}/{}.rs", name.0));
        }
    }
    paths
}

/// The codes of texts in `code`, in order, repeats included.
fn heading_texts(code: &str) -> impl Iterator<Item = String> {
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.match_indices('"').map(move |(at, _)| &line[at + 1..]))
        .filter_map(code_at)
}

/// The code that `text` begins with, without its brackets.
fn code_at(text: &str) -> Option<String> {
    let (code, _) = text.strip_prefix('[')?.split_once(']')?;
    let (area, what) = code.split_once('.')?;
    let is_word = |word: &str| {
        word.starts_with(|sign: char| sign.is_ascii_lowercase())
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    (is_word(area) && is_word(what)).then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::heading_texts;

    #[track_caller]
    fn check(code: &str, expected: &[&str]) {
        assert_eq!(
            heading_texts(code).collect::<Vec<_>>(),
            expected,
            "in {code}"
        );
    }

    #[test]
    fn a_code_is_found_where_it_heads_a_text() {
        check(r#"#[error("[lease.lost] it is lost")]"#, &["lease.lost"]);
        check(r#"text.push("[a.b-1] ").push("[c.d]")"#, &["a.b-1", "c.d"]);
        check(r#"let other = "see [a.b]";"#, &[]);
        check(r#"    // "[a.b]" was said"#, &[]);
        check(r#"indices["[0.1]"]"#, &[]);
    }
}
