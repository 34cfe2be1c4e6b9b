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
fn the_index_of_decisions_lists_every_page() {
    let document = sources::one("docs/decisions/README.md").unwrap();
    let index = documents::decisions(&sources::all().unwrap());
    assert!(
        document == documents::with_derived(&document, &format!("\n{index}")),
        "docs/decisions/README.md is stale: cargo run -p leasehold-tests --bin rows"
    );
}
