//! The codes of this crate and the entries of `docs/errors/execution.md` are the same.

use std::collections::BTreeSet;
use std::path::Path;

/// `[area.what-is-wrong]` wherever it stands in a text.
fn codes(text: &str) -> BTreeSet<String> {
    let inside = |part: &str| {
        let code = part.split_once(']')?.0;
        let (area, what) = code.split_once('.')?;
        let is_word = |word: &str| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|byte| byte == b'-' || byte.is_ascii_lowercase())
        };
        (is_word(area) && is_word(what)).then(|| code.to_owned())
    };
    text.split('[').skip(1).filter_map(inside).collect()
}

fn sources(folder: &Path, found: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            *found += &std::fs::read_to_string(path).unwrap();
        }
    }
}

#[test]
fn every_code_has_its_entry_and_every_entry_its_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    sources(&root.join("src"), &mut text);
    let entries = std::fs::read_to_string(root.join("../docs/errors/execution.md")).unwrap();
    let entries = entries.lines().filter(|line| line.starts_with("### "));
    let entries: String = entries.collect();
    assert_eq!(codes(&text), codes(&entries));
}
