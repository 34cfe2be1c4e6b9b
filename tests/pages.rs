//! Documents lead to each other: no dead link, no decision that the index leaves out.

use std::path::Path;

use leasehold_tests::{documents, sources};

#[test]
fn links_of_documents_lead_to_files() {
    let mut dead = Vec::new();
    for file in sources::all().unwrap() {
        let is_document = Path::new(&file.path)
            .extension()
            .is_some_and(|ending| ending == "md");
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in documents::local_links(&file.text) {
            if is_document && !sources::root().join(folder).join(&link).exists() {
                dead.push(format!("{}: {link}", file.path));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn a_document_that_is_named_in_a_file_is_there() {
    let mut missing = Vec::new();
    for file in sources::all().unwrap() {
        for (at, _) in file.text.match_indices("docs/") {
            let is_path = |sign: char| sign.is_ascii_alphanumeric() || "/-_.".contains(sign);
            let end = file.text[at..].find(|sign| !is_path(sign));
            let named = &file.text[at..end.map_or(file.text.len(), |end| at + end)];
            let named = named.trim_end_matches('.');
            if named.contains(".md") && !sources::root().join(named).exists() {
                missing.push(format!("{}: {named}", file.path));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn the_index_of_decisions_lists_every_page() {
    let document = sources::one("docs/decisions/README.md").unwrap();
    let index = documents::decisions(&sources::all().unwrap());
    assert!(
        document == documents::with_derived(&document, &format!("\n{index}")),
        "docs/decisions/README.md is stale: cargo run -p leasehold-tests --bin rows"
    );
}

#[test]
fn every_folder_has_a_paragraph_that_says_what_is_absent_there() {
    let document = sources::one("docs/architecture.md").unwrap();
    let folders: Vec<&str> = document.split("\n### ").skip(1).collect();
    let manifest = sources::one("Cargo.toml").unwrap();
    let (_, members) = manifest.split_once("members = [").unwrap();
    let (members, _) = members.split_once(']').unwrap();
    for member in members.split('"').skip(1).step_by(2) {
        let folder = member.split('/').next().unwrap();
        let said = folders.iter().any(|text| {
            let heading = text.lines().next().unwrap_or_default();
            heading.contains(&format!("`{folder}`")) && text.contains("**Invariant:**")
        });
        assert!(said, "docs/architecture.md says nothing of {folder}");
    }
}
