//! Writes the parts of documents that can be derived: the indexes of error codes and decisions, the table of rows that tests prove.
//!
//! The tests of this package compare the same parts and fail where they are stale; they never write.

use std::error::Error;
use std::fs;

use leasehold_tests::{codes, documents, sources, tags};

fn main() -> Result<(), Box<dyn Error>> {
    let sources = sources::all()?;
    let index = codes::index(&codes::explained(&sources));
    write("docs/errors.md", &index)?;
    write(
        "docs/decisions/README.md",
        &format!("\n{}", documents::decisions(&sources)),
    )?;
    write(
        "docs/reliability.md",
        &documents::proven_rows(&tags::read(&sources)),
    )
}

fn write(path: &str, derived: &str) -> Result<(), Box<dyn Error>> {
    let document = sources::one(path)?;
    let text = documents::with_derived(&document, derived);
    fs::write(sources::root().join(path), text)?;
    Ok(())
}
