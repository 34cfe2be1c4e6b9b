//! What the repository's own tests read: its sources, error codes, tags and documents.
//!
//! It reads files and compares texts; it never changes one. The program `rows` writes what can be derived.

pub mod codes;
pub mod documents;
pub mod rows;
pub mod sources;
pub mod tags;
