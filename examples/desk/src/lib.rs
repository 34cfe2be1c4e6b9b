//! A support desk over CSV and JSON files.
